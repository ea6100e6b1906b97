// SPDX-License-Identifier: BSD-2-Clause
// Operators between nested spaces and products of them, made of ordinary objects: a basis that takes coarse
// nodes to fine ones, or fine ones to coarse ones, and a QFunction that divides by the number of coarse
// elements that have the node.
#include <ritz/multigrid.h>
#include <ritz/precision.h>
#include <stdatomic.h>

#include "mesh/nested.h"
#include "mesh/product.h"

// A pair of spaces.
typedef struct {
  Ceed ceed; // borrowed, as all but `nested`
  const char *call;
  CeedScalarType precision;
  const RitzMember *coarse, *fine;
  CeedInt num_comp;
  RitzNested nested; // owned
} Transfer;

typedef struct {
  CeedInt num;
  Transfer *pairs;    // owned, [num]
  int num_parts;      // of all pairs
  CeedVector weights; // owned, of the L-vector that has the fine values; interpolation: the coarse ones
} Transfers;

// ---- Weights ----

typedef struct {
  const Transfer *t;
  int64_t num_nodes;
  int64_t size[3], period[3]; // boxes: nodes a direction, and of one coarse element
  _Atomic int32_t *counts;    // owned, else: coarse elements with the node
  CeedScalar *weights;        // [num_nodes][num_comp] of the space; NULL: in float
  float *singles;
} Weights;

static void set_weight(const Weights *w, int64_t node, int64_t count) {
  const double weight = 1 / (double)count;

  for (CeedInt c = 0; c < w->t->num_comp; c++) {
    if (w->weights)
      w->weights[node * w->t->num_comp + c] = (CeedScalar)weight;
    else
      w->singles[node * w->t->num_comp + c] = (float)weight;
  }
}

// In a box nodes between two coarse elements in a direction belong to both.
static int64_t factor_at(const Weights *w, int d, int64_t at) {
  return at > 0 && at < w->size[d] - 1 && at % w->period[d] == 0 ? 2 : 1;
}

static void weigh_grid_nodes(void *data, int slot, int64_t first, int64_t count) {
  const Weights *w = data;

  (void)slot;
  for (int64_t node = first; node < first + count;) {
    const int64_t row = node / w->size[0], end = (row + 1) * w->size[0];
    const int64_t num = factor_at(w, 1, row % w->size[1]) * factor_at(w, 2, row / w->size[1]);

    for (; node < end && node < first + count; node++)
      set_weight(w, node, num * factor_at(w, 0, node - row * w->size[0]));
  }
}

static void weigh_counted_nodes(void *data, int slot, int64_t first, int64_t count) {
  const Weights *w = data;

  (void)slot;
  for (int64_t node = first; node < first + count; node++) set_weight(w, node, w->counts[node]);
}

typedef struct {
  const RitzNestedPart *part;
  _Atomic int32_t *counts; // of nodes; sums of integers do not depend on their order
  int64_t *scratch;        // owned, [num_slots][num_fine]
} Counting;

static void count_range(void *data, int slot, int64_t first, int64_t count) {
  const Counting *c = data;

  for (int64_t k = first; k < first + count; k++) {
    const int64_t *nodes = ritz_nested_nodes(c->part, k, c->scratch + slot * c->part->num_fine);

    for (int64_t m = 0; m < c->part->num_fine; m++)
      atomic_fetch_add_explicit(&c->counts[nodes[m]], 1, memory_order_relaxed);
  }
}

static int count_elements(const Transfer *t, Weights *w) {
  int num_slots = 1;

  RITZ_TRY(ritz_run_ranges_slots(t->ceed, &num_slots));
  RITZ_TRY(RITZ_CALLOC(t->ceed, (size_t)w->num_nodes, &w->counts));
  for (int i = 0; i < t->nested.num; i++) {
    Counting c = {.part = &t->nested.parts[i], .counts = w->counts};

    RITZ_TRY(RITZ_MALLOC(t->ceed, (size_t)num_slots * (size_t)c.part->num_fine, &c.scratch));
    const int ierr = ritz_run_elements(t->ceed, c.part->num_elem, count_range, &c);
    RITZ_FREE(&c.scratch);
    RITZ_TRY(ierr);
  }
  return CEED_ERROR_SUCCESS;
}

// 1 / number of coarse elements with the node, for each component; in one of the arrays, the other is NULL.
static int fill_weights_of(const Transfer *t, CeedScalar *weights, float *singles) {
  const RitzNestedPart *part = &t->nested.parts[0];
  const RitzMesh coarse = part->coarse;
  const int64_t first = ritz_member_place(t->fine).first;
  Weights w = {
      .t = t, .weights = weights ? weights + first : NULL, .singles = singles ? singles + first : NULL};
  CeedInt degree = part->lattice_degree;

  RITZ_TRY(RitzSpaceGetNumNodes(t->fine->space, &w.num_nodes));

  if (coarse->grid[0] && part->is_same) RITZ_TRY(RitzSpaceGetDegree(t->fine->space, &degree));
  for (int d = 0; d < 3; d++) {
    w.size[d] = d < coarse->dim ? coarse->grid[d] * degree + 1 : 1;
    w.period[d] = degree;
  }
  if (coarse->grid[0] && degree > 0) return ritz_run_ranges(t->ceed, w.num_nodes, weigh_grid_nodes, &w);
  int ierr = count_elements(t, &w);

  if (!ierr) ierr = ritz_run_ranges(t->ceed, w.num_nodes, weigh_counted_nodes, &w);
  RITZ_FREE(&w.counts);
  return ierr;
}

static int fill_weights(const Transfers *t, CeedScalar *weights, float *singles) {
  for (CeedInt i = 0; i < t->num; i++) RITZ_TRY(fill_weights_of(&t->pairs[i], weights, singles));
  return CEED_ERROR_SUCCESS;
}

static int create_own_weights(const Transfers *t, Ceed ceed, CeedSize length, CeedVector *weights) {
  CeedScalar *values = NULL;

  RITZ_TRY(CeedVectorCreate(ceed, length, weights));
  RITZ_TRY(CeedVectorGetArrayWrite(*weights, CEED_MEM_HOST, &values));
  const int ierr = fill_weights(t, values, NULL);
  return ritz_first_error(ierr, CeedVectorRestoreArray(*weights, &values));
}

static int create_float_weights(const Transfers *t, Ceed ceed, CeedSize length, CeedVector *weights) {
  float *values = NULL;

  RITZ_TRY(RitzVectorCreate(ceed, length, CEED_SCALAR_FP32, weights));
  RITZ_TRY(RitzVectorGetArrayWriteF32(*weights, CEED_MEM_HOST, &values));
  const int ierr = fill_weights(t, NULL, values);
  return ritz_first_error(ierr, RitzVectorRestoreArrayF32(*weights, &values));
}

static int create_weights(Transfers *t) {
  const Ceed ceed = t->pairs[0].ceed;
  const CeedScalarType precision = t->pairs[0].precision;
  const CeedSize length = (CeedSize)ritz_member_place(t->pairs[0].fine).length;
  CeedVector own = NULL;

  if (precision == CEED_SCALAR_TYPE) return create_own_weights(t, ceed, length, &t->weights);
  if (precision == CEED_SCALAR_FP32) return create_float_weights(t, ceed, length, &t->weights);
  int ierr = create_own_weights(t, ceed, length, &own);

  if (!ierr) ierr = RitzVectorCreate(ceed, length, precision, &t->weights);
  if (!ierr) ierr = RitzVectorConvert(own, t->weights);
  CeedVectorDestroy(&own);
  return ierr;
}

// ---- Restrictions and basis of a part ----

typedef struct {
  RitzSpace space;
  const RitzNestedPart *part;
} CoarseNodes;

static const int64_t *selected_nodes(const void *ctx, int64_t k, int64_t *scratch) {
  const CoarseNodes *c = ctx;

  return ritz_space_nodes(c->space, c->part->block, c->part->elements[k], scratch);
}

// Where a part is a whole block, the space or product has its restriction already.
static int create_coarse_restriction(const Transfer *t, const RitzNestedPart *part,
                                     CeedElemRestriction *rstr) {
  const CoarseNodes selected = {t->coarse->space, part};

  if (!part->elements) return ritz_member_restriction(t->coarse, part->block, t->ceed, rstr);
  return ritz_space_create_restriction(t->coarse->space, t->ceed, t->call, ritz_member_place(t->coarse),
                                       part->num_elem, part->num_coarse, selected_nodes, &selected, rstr);
}

static int create_fine_restriction(const Transfer *t, const RitzNestedPart *part, CeedElemRestriction *rstr) {
  if (part->is_same) return ritz_member_restriction(t->fine, part->block, t->ceed, rstr);
  return ritz_space_create_restriction(t->fine->space, t->ceed, t->call, ritz_member_place(t->fine),
                                       part->num_elem, part->num_fine, ritz_nested_nodes, part, rstr);
}

// From P nodes to Q points (tensor shapes: in a direction), by a table [Q][P].
static int create_basis(const Transfer *t, const RitzNestedPart *part, int64_t P, int64_t Q,
                        const double *numbers, CeedBasis *basis) {
  const RitzMeshShape *shape = ritz_mesh_shape(part->topology);
  CeedScalar *table = NULL;

  RITZ_TRY(RITZ_MALLOC(t->ceed, (size_t)(P * Q), &table));
  for (int64_t i = 0; i < P * Q; i++) table[i] = (CeedScalar)numbers[i];
  int ierr = shape->is_tensor ? CeedBasisCreateTensorH1(t->ceed, shape->dim, t->num_comp, (CeedInt)P,
                                                        (CeedInt)Q, table, NULL, NULL, NULL, basis)
                              : CeedBasisCreateH1(t->ceed, part->topology, t->num_comp, (CeedInt)P,
                                                  (CeedInt)Q, table, NULL, NULL, NULL, basis);

  RITZ_FREE(&table);
  return ierr;
}

// From coarse nodes to fine ones.
static int create_fine_basis(const Transfer *t, const RitzNestedPart *part, CeedBasis *basis) {
  const bool is_tensor = ritz_mesh_shape(part->topology)->is_tensor;

  return create_basis(t, part, is_tensor ? part->P : part->num_coarse, is_tensor ? part->Q : part->num_fine,
                      part->table, basis);
}

// From fine nodes to coarse ones.
static int create_coarse_basis(const Transfer *t, const RitzNestedPart *part, CeedBasis *basis) {
  const bool is_tensor = ritz_mesh_shape(part->topology)->is_tensor;
  CeedInt coarse = 0, fine = 0;
  double *table = NULL;

  RITZ_TRY(RitzSpaceGetDegree(t->coarse->space, &coarse));
  RITZ_TRY(RitzSpaceGetDegree(t->fine->space, &fine));
  RITZ_TRY(ritz_nested_values(t->ceed, part, coarse, fine, &table));
  const int ierr = create_basis(t, part, is_tensor ? part->Q : part->num_fine,
                                is_tensor ? part->P : part->num_coarse, table, basis);
  RITZ_FREE(&table);
  return ierr;
}

// ---- Operators ----

static int create_qfunction(const Transfer *t, CeedEvalMode in, CeedEvalMode out, CeedQFunction *qf) {
  CeedQFunctionContext ctx = NULL;
  CeedInt num_comp = t->num_comp;

  RITZ_TRY(CeedQFunctionCreateInteriorByName(t->ceed, "Scale", qf));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "input", num_comp, in));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "scale", num_comp, CEED_EVAL_NONE));
  RITZ_TRY(CeedQFunctionAddOutput(*qf, "output", num_comp, out));
  RITZ_TRY(CeedQFunctionSetUserFlopsEstimate(*qf, num_comp));
  RITZ_TRY(CeedQFunctionContextCreate(t->ceed, &ctx));
  int ierr = CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(num_comp), &num_comp);

  if (!ierr) ierr = CeedQFunctionSetContext(*qf, ctx);
  CeedQFunctionContextDestroy(&ctx);
  return ierr ? ierr : CeedQFunctionSetContextWritable(*qf, false);
}

// Values at nodes of one space from those of the other.
static int create_values(const Transfer *t, CeedVector weights, CeedElemRestriction from,
                         CeedElemRestriction to, CeedBasis basis, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr = create_qfunction(t, CEED_EVAL_INTERP, CEED_EVAL_NONE, &qf);

  if (!ierr) ierr = CeedOperatorCreate(t->ceed, qf, NULL, NULL, op);
  CeedQFunctionDestroy(&qf);
  RITZ_TRY(ierr);
  RITZ_TRY(RitzOperatorSetPrecision(*op, t->precision));
  RITZ_TRY(CeedOperatorSetField(*op, "input", from, basis, CEED_VECTOR_ACTIVE));
  RITZ_TRY(CeedOperatorSetField(*op, "scale", to, CEED_BASIS_NONE, weights));
  RITZ_TRY(CeedOperatorSetField(*op, "output", to, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  return CeedOperatorCheckReady(*op);
}

static int create_restriction(const Transfer *t, CeedVector weights, CeedElemRestriction coarse,
                              CeedElemRestriction fine, CeedBasis basis, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr = create_qfunction(t, CEED_EVAL_NONE, CEED_EVAL_INTERP, &qf);

  if (!ierr) ierr = CeedOperatorCreate(t->ceed, qf, NULL, NULL, op);
  CeedQFunctionDestroy(&qf);
  RITZ_TRY(ierr);
  RITZ_TRY(RitzOperatorSetPrecision(*op, t->precision));
  RITZ_TRY(CeedOperatorSetField(*op, "input", fine, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  RITZ_TRY(CeedOperatorSetField(*op, "scale", fine, CEED_BASIS_NONE, weights));
  RITZ_TRY(CeedOperatorSetField(*op, "output", coarse, basis, CEED_VECTOR_ACTIVE));
  return CeedOperatorCheckReady(*op);
}

// The operators of one part that are wanted, in ops[0] (prolongation) and ops[1].
static int create_part(const Transfer *t, const RitzNestedPart *part, CeedVector weights,
                       const bool is_wanted[2], CeedOperator ops[2]) {
  CeedElemRestriction coarse = NULL, fine = NULL;
  CeedBasis basis = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(create_coarse_restriction(t, part, &coarse));
  RITZ_TRY_CLEANUP(create_fine_restriction(t, part, &fine));
  RITZ_TRY_CLEANUP(create_fine_basis(t, part, &basis));
  if (is_wanted[0]) RITZ_TRY_CLEANUP(create_values(t, weights, coarse, fine, basis, &ops[0]));
  if (is_wanted[1]) ierr = create_restriction(t, weights, coarse, fine, basis, &ops[1]);

cleanup:
  CeedElemRestrictionDestroy(&coarse);
  CeedElemRestrictionDestroy(&fine);
  CeedBasisDestroy(&basis);
  return ierr;
}

// Adds the operator of a part, which is the whole where there is only one.
static int add_part(Ceed ceed, int num_parts, CeedOperator op, CeedOperator *whole) {
  if (!op) return CEED_ERROR_SUCCESS;
  if (num_parts == 1) return CeedOperatorReferenceCopy(op, whole);
  if (!*whole) RITZ_TRY(CeedOperatorCreateComposite(ceed, whole));
  return CeedOperatorCompositeAddSub(*whole, op);
}

static int add_pair(const Transfers *t, const Transfer *pair, const bool is_wanted[2],
                    CeedOperator whole[2]) {
  for (int i = 0; i < pair->nested.num; i++) {
    CeedOperator ops[2] = {NULL, NULL};
    int ierr = create_part(pair, &pair->nested.parts[i], t->weights, is_wanted, ops);

    for (int k = 0; k < 2; k++) {
      if (!ierr) ierr = add_part(pair->ceed, t->num_parts, ops[k], &whole[k]);
      CeedOperatorDestroy(&ops[k]);
    }
    RITZ_TRY(ierr);
  }
  return CEED_ERROR_SUCCESS;
}

static int create_operators(Transfers *t, const bool is_wanted[2], CeedOperator whole[2]) {
  RITZ_TRY(create_weights(t));
  for (CeedInt i = 0; i < t->num; i++) RITZ_TRY(add_pair(t, &t->pairs[i], is_wanted, whole));
  if (whole[0]) RITZ_TRY(CeedOperatorSetName(whole[0], "prolongation"));
  return whole[1] ? CeedOperatorSetName(whole[1], "restriction") : CEED_ERROR_SUCCESS;
}

// ---- Pairs of spaces ----

static int append_pair(Transfers *t, const Transfer *given) {
  Transfer *pair = &t->pairs[t->num];

  *pair = *given;
  RITZ_TRY(RitzSpaceGetNumComponents(pair->fine->space, &pair->num_comp));
  RITZ_TRY(ritz_nested_create(pair->coarse->space, pair->fine->space, pair->call, &pair->nested));
  t->num++;
  t->num_parts += pair->nested.num;
  return CEED_ERROR_SUCCESS;
}

int ritz_transfer_create(Ceed ceed, const char *call, CeedScalarType precision, CeedInt num,
                         const RitzMember coarse[], const RitzMember fine[], CeedOperator *prolong,
                         CeedOperator *restriction) {
  const bool is_wanted[2] = {prolong != NULL, restriction != NULL};
  CeedOperator whole[2] = {NULL, NULL};
  Transfers t = {.num = 0};
  int ierr;

  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, &t.pairs));
  for (CeedInt i = 0; i < num; i++) {
    const Transfer pair = {
        .ceed = ceed, .call = call, .precision = precision, .coarse = &coarse[i], .fine = &fine[i]};

    RITZ_TRY_CLEANUP(append_pair(&t, &pair));
  }
  ierr = create_operators(&t, is_wanted, whole);

cleanup:
  CeedVectorDestroy(&t.weights);
  for (CeedInt i = 0; i < t.num; i++) ritz_nested_clear(&t.pairs[i].nested);
  RITZ_FREE(&t.pairs);
  for (int k = 0; ierr && k < 2; k++) CeedOperatorDestroy(&whole[k]);
  if (prolong) *prolong = whole[0];
  if (restriction) *restriction = whole[1];
  return ierr;
}

int RitzSpaceCreateTransfer(RitzSpace coarse, RitzSpace fine, Ceed ceed, CeedScalarType precision,
                            CeedOperator *prolong, CeedOperator *restriction) {
  RITZ_HANDLE(coarse, fine, ceed);
  RITZ_ARGUMENT(coarse, fine);
  RITZ_ARGUMENT(coarse, ceed);
  const RitzMember from = {.space = coarse}, to = {.space = fine};

  if (prolong) *prolong = NULL;
  if (restriction) *restriction = NULL;
  return ritz_transfer_create(ceed, __func__, precision, 1, &from, &to, prolong, restriction);
}

// ---- Interpolation ----

// Adds to sums [nodes of the coarse space] how often elements have them.
static int count_nodes(CeedElemRestriction coarse, CeedVector sums) {
  CeedVector counts = NULL;

  RITZ_TRY(CeedElemRestrictionCreateVector(coarse, &counts, NULL));
  int ierr = CeedElemRestrictionGetMultiplicity(coarse, counts);
  if (!ierr) ierr = CeedVectorAXPY(sums, 1, counts);
  return ritz_first_error(ierr, CeedVectorDestroy(&counts));
}

static int interpolate_part(const Transfers *t, const RitzNestedPart *part, CeedVector sums,
                            CeedOperator *whole) {
  const Transfer *pair = &t->pairs[0];
  CeedElemRestriction coarse = NULL, fine = NULL;
  CeedBasis basis = NULL;
  CeedOperator op = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(create_coarse_restriction(pair, part, &coarse));
  RITZ_TRY_CLEANUP(create_fine_restriction(pair, part, &fine));
  RITZ_TRY_CLEANUP(create_coarse_basis(pair, part, &basis));
  RITZ_TRY_CLEANUP(count_nodes(coarse, sums));
  RITZ_TRY_CLEANUP(create_values(pair, t->weights, fine, coarse, basis, &op));
  ierr = add_part(pair->ceed, t->num_parts, op, whole);

cleanup:
  CeedOperatorDestroy(&op);
  CeedElemRestrictionDestroy(&coarse);
  CeedElemRestrictionDestroy(&fine);
  CeedBasisDestroy(&basis);
  return ierr;
}

// The weights come last: they need the restrictions of all parts.
static int create_interpolation(Transfers *t, CeedOperator *whole) {
  const Transfer *pair = &t->pairs[0];
  CeedSize size = 0;
  CeedVector sums = NULL;
  int ierr;

  RITZ_TRY(RitzSpaceGetSize(pair->coarse->space, &size));
  RITZ_TRY_CLEANUP(CeedVectorCreate(pair->ceed, size, &sums));
  RITZ_TRY_CLEANUP(CeedVectorSetValue(sums, 0));
  RITZ_TRY_CLEANUP(RitzVectorCreate(pair->ceed, size, pair->precision, &t->weights));
  for (int i = 0; i < pair->nested.num; i++)
    RITZ_TRY_CLEANUP(interpolate_part(t, &pair->nested.parts[i], sums, whole));
  RITZ_TRY_CLEANUP(CeedVectorReciprocal(sums));
  RITZ_TRY_CLEANUP(RitzVectorConvert(sums, t->weights));
  if (*whole) ierr = CeedOperatorSetName(*whole, "interpolation");

cleanup:
  CeedVectorDestroy(&sums);
  return ierr;
}

int RitzSpaceCreateInterpolation(RitzSpace coarse, RitzSpace fine, Ceed ceed, CeedScalarType precision,
                                 CeedOperator *interpolation) {
  RITZ_HANDLE(coarse, fine, ceed);
  RITZ_ARGUMENT(coarse, fine);
  RITZ_ARGUMENT(coarse, ceed);
  RITZ_ARGUMENT(ceed, interpolation);
  const RitzMember from = {.space = coarse}, to = {.space = fine};
  const Transfer given = {
      .ceed = ceed, .call = __func__, .precision = precision, .coarse = &from, .fine = &to};
  Transfer pair;
  Transfers t = {.pairs = &pair};
  CeedOperator whole = NULL;

  RITZ_TRY(append_pair(&t, &given));
  const int ierr = create_interpolation(&t, &whole);
  CeedVectorDestroy(&t.weights);
  ritz_nested_clear(&pair.nested);
  if (ierr)
    CeedOperatorDestroy(&whole);
  else
    *interpolation = whole;
  return ierr;
}
