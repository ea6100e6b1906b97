// SPDX-License-Identifier: BSD-2-Clause
// The rules of linear assembly: layout of assembled QFunctions, the cache and its flags, operators without
// elements, blocks that have no place, and every misuse that the standard lists. What the numbers are in
// general is in test-assembly.c.
#include "tests/api.h"
#include "tests/reference.h"
#include "tests/triples.h"

#include <ceed/backend.h>
#include <math.h>
#include <ritz/operator.h>

// ---- One operator for most of it ----

// v = factor * qdata * u on NUM_ELEM elements of 3 nodes in a row, 4 points each.
enum { NUM_ELEM = 4, NODES = 3, POINTS = 4, SIZE = NUM_ELEM * (NODES - 1) + 1 };

typedef struct {
  double factor;
} ScaleContext;

static int scale(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const ScaleContext *c = ctx;

  for (CeedInt i = 0; i < Q; i++) out[0][i] = (CeedScalar)c->factor * in[1][i] * in[0][i];
  return CEED_ERROR_SUCCESS;
}

typedef struct {
  CeedElemRestriction rstr, rstr_q; // owned
  CeedBasis basis;                  // owned
  CeedVector qdata;                 // owned, NUM_ELEM * POINTS
  CeedOperator op;                  // owned
  CeedContextFieldLabel factor;     // of op
} Fixture;

static int create_restrictions(Ceed ceed, CeedInt num_elem, Fixture *f) {
  CeedInt offsets[NUM_ELEM * NODES];
  const CeedInt strides[3] = {1, POINTS, POINTS};

  for (int k = 0; k < NUM_ELEM * NODES; k++) offsets[k] = k / NODES * (NODES - 1) + k % NODES;
  CeedCall(CeedElemRestrictionCreate(ceed, num_elem, NODES, 1, 1, SIZE, CEED_MEM_HOST, CEED_COPY_VALUES,
                                     offsets, &f->rstr));
  CeedCall(CeedElemRestrictionCreateStrided(ceed, num_elem, POINTS, 1, (CeedSize)NUM_ELEM * POINTS, strides,
                                            &f->rstr_q));
  return CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, NODES, POINTS, CEED_GAUSS, &f->basis);
}

static int create_scale(Ceed ceed, CeedQFunction *qf) {
  CeedQFunctionContext context = NULL;
  ScaleContext c = {1.0};
  int ierr = CeedQFunctionCreateInterior(ceed, 1, scale, "", qf);

  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "u", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "qdata", 1, CEED_EVAL_NONE);
  if (!ierr) ierr = CeedQFunctionAddOutput(*qf, "v", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionContextCreate(ceed, &context);
  if (!ierr) ierr = CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(c), &c);
  if (!ierr) ierr = CeedQFunctionContextRegisterDouble(context, "factor", 0, 1, NULL);
  if (!ierr) ierr = CeedQFunctionSetContext(*qf, context);
  CeedQFunctionContextDestroy(&context);
  return ierr;
}

static int fixture_create_sized(Ceed ceed, CeedInt num_elem, Fixture *f) {
  CeedQFunction qf = NULL;
  *f = (Fixture){0};
  int ierr = create_restrictions(ceed, num_elem, f);

  if (!ierr) ierr = CeedVectorCreate(ceed, (CeedSize)NUM_ELEM * POINTS, &f->qdata);
  if (!ierr) ierr = CeedVectorSetValue(f->qdata, 1);
  if (!ierr) ierr = create_scale(ceed, &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &f->op);
  if (!ierr) ierr = CeedOperatorSetField(f->op, "u", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(f->op, "qdata", f->rstr_q, CEED_BASIS_NONE, f->qdata);
  if (!ierr) ierr = CeedOperatorSetField(f->op, "v", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorGetContextFieldLabel(f->op, "factor", &f->factor);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static int fixture_create(Ceed ceed, Fixture *f) { return fixture_create_sized(ceed, NUM_ELEM, f); }

static void fixture_destroy(Fixture *f) {
  CeedElemRestrictionDestroy(&f->rstr);
  CeedElemRestrictionDestroy(&f->rstr_q);
  CeedBasisDestroy(&f->basis);
  CeedVectorDestroy(&f->qdata);
  CeedOperatorDestroy(&f->op);
}

// Entry 0 of a vector; NaN when it cannot be read.
static double first_entry(CeedVector v) {
  const CeedScalar *array;

  if (CeedVectorGetArrayRead(v, CEED_MEM_HOST, &array)) return NAN;
  double value = (double)array[0];
  CeedVectorRestoreArrayRead(v, &array);
  return value;
}

// The first entry of the matrix for scale 1: squares of the first Lagrange polynomial, added up over the
// points.
static double unit_entry(void) {
  double x[POINTS], interp[POINTS * NODES], grad[POINTS * NODES], sum = 0.0;

  reference_quadrature(CEED_GAUSS, POINTS, x, NULL);
  reference_lagrange(NODES, POINTS, x, interp, grad);
  for (int q = 0; q < POINTS; q++) sum += interp[q * NODES] * interp[q * NODES];
  return sum;
}

// What each kind of assembly says is the scale now.
static double diagonal_scale(CeedOperator op) {
  CeedVector v = NULL;

  if (CeedVectorCreate(CeedOperatorReturnCeed(op), SIZE, &v)) return NAN;
  int ierr = CeedOperatorLinearAssembleDiagonal(op, v, CEED_REQUEST_IMMEDIATE);
  double value = ierr ? NAN : first_entry(v) / unit_entry();
  CeedVectorDestroy(&v);
  return value;
}

static double triples_scale(CeedOperator op) {
  Triples t;
  int ierr = triples_assemble(op, &t);
  double value = ierr ? NAN : t.values[0] / unit_entry();

  triples_free(&t);
  return value;
}

static double csr_scale(CeedOperator op) {
  CeedSize num_rows, num_cols;
  int64_t *row_starts = NULL, *cols = NULL;
  CeedVector v = NULL;
  int ierr = RitzOperatorAssembleCSRSymbolic(op, &num_rows, &num_cols, &row_starts, &cols);

  if (!ierr) ierr = CeedVectorCreate(CeedOperatorReturnCeed(op), row_starts[num_rows], &v);
  if (!ierr) ierr = RitzOperatorAssembleCSR(op, row_starts, cols, v);
  double value = ierr ? NAN : first_entry(v) / unit_entry();
  free(row_starts);
  free(cols);
  CeedVectorDestroy(&v);
  return value;
}

static double cached_scale(CeedOperator op) {
  CeedVector v = NULL;
  CeedElemRestriction rstr = NULL;
  int ierr = CeedOperatorLinearAssembleQFunctionBuildOrUpdate(op, &v, &rstr, CEED_REQUEST_IMMEDIATE);
  double value = ierr ? NAN : first_entry(v);

  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  return value;
}

static double new_scale(CeedOperator op) {
  CeedVector v = NULL;
  CeedElemRestriction rstr = NULL;
  int ierr = CeedOperatorLinearAssembleQFunction(op, &v, &rstr, CEED_REQUEST_IMMEDIATE);
  double value = ierr ? NAN : first_entry(v);

  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  return value;
}

typedef double (*ScaleOf)(CeedOperator op);
static const ScaleOf all_kinds[] = {diagonal_scale, triples_scale, csr_scale, cached_scale};
enum { NUM_KINDS = sizeof(all_kinds) / sizeof(all_kinds[0]) };

// Sums of a few products.
static const double tolerance = 100;

#define CHECK_SCALE(op, kind, wanted)                                                                        \
  CHECK_NEAR(all_kinds[kind](op), (wanted), tolerance *eps *(wanted), "assembly of kind %d", (kind))

// ---- The cache ----

TEST_EACH_BACKEND(without_reuse_assembly_always_sees_the_present_values) {
  Fixture f;

  CHECK_OK(fixture_create(ceed, &f));
  for (int k = 0; k < 2 * NUM_KINDS; k++) {
    CHECK_OK(CeedVectorSetValue(f.qdata, (CeedScalar)(k + 2)));
    CHECK_SCALE(f.op, k % NUM_KINDS, k + 2.0);
  }
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(with_reuse_assembly_keeps_its_data_until_told) {
  for (int kind = 0; kind < NUM_KINDS; kind++) {
    Fixture f;

    CHECK_OK(fixture_create(ceed, &f));
    CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, true));
    CHECK_OK(CeedVectorSetValue(f.qdata, 2));
    CHECK_SCALE(f.op, kind, 2.0);
    CHECK_OK(CeedVectorSetValue(f.qdata, 3));
    for (int other = 0; other < NUM_KINDS; other++) CHECK_SCALE(f.op, other, 2.0);
    CHECK_OK(CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(f.op, true));
    CHECK_SCALE(f.op, kind, 3.0);
    CHECK_OK(CeedVectorSetValue(f.qdata, 4));
    CHECK_SCALE(f.op, kind, 3.0);
    CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, true));
    CHECK_SCALE(f.op, kind, 4.0);
    CHECK_OK(CeedVectorSetValue(f.qdata, 5));
    CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, false));
    CHECK_SCALE(f.op, kind, 5.0);
    CHECK_OK(CeedVectorSetValue(f.qdata, 6));
    CHECK_SCALE(f.op, kind, 6.0);
    fixture_destroy(&f);
  }
}

TEST_EACH_BACKEND(a_withdrawn_request_for_renewal_renews_nothing) {
  Fixture f;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, true));
  CHECK_SCALE(f.op, 0, 1.0);
  CHECK_OK(CeedVectorSetValue(f.qdata, 2));
  CHECK_OK(CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(f.op, true));
  CHECK_OK(CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(f.op, false));
  CHECK_SCALE(f.op, 0, 1.0);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(context_fields_set_through_the_operator_ask_for_renewal) {
  Fixture f;
  double factor = 7.0;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, true));
  CHECK_SCALE(f.op, 1, 1.0);
  CHECK_OK(CeedOperatorSetContextDouble(f.op, f.factor, &factor));
  CHECK_SCALE(f.op, 1, 7.0);
  // The same value again asks for renewal, too: a changed passive vector shows.
  CHECK_OK(CeedVectorSetValue(f.qdata, 2));
  CHECK_OK(CeedOperatorSetContextDouble(f.op, f.factor, &factor));
  CHECK_SCALE(f.op, 1, 14.0);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(stripping_drops_data_and_settings) {
  Fixture f;
  CeedVector kept = NULL;
  CeedElemRestriction rstr = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedOperatorAssemblyDataStrip(f.op)); // nothing is there yet
  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, true));
  CHECK_OK(CeedOperatorLinearAssembleQFunctionBuildOrUpdate(f.op, &kept, &rstr, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedOperatorAssemblyDataStrip(f.op));
  for (int kind = 0; kind < NUM_KINDS; kind++) {
    CHECK_OK(CeedVectorSetValue(f.qdata, (CeedScalar)(kind + 2)));
    CHECK_SCALE(f.op, kind, kind + 2.0);
  }
  CHECK_NEAR(first_entry(kept), 1.0, tolerance * eps, "what the caller holds stays as it was");
  CeedVectorDestroy(&kept);
  CeedElemRestrictionDestroy(&rstr);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(build_or_update_shares_one_pair) {
  Fixture f;
  CeedVector v = NULL, first;
  CeedElemRestriction rstr = NULL, first_rstr;
  CeedRequest request = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedOperatorLinearAssembleQFunctionBuildOrUpdate(f.op, &v, &rstr, CEED_REQUEST_IMMEDIATE));
  first = v;
  first_rstr = rstr;
  CHECK_OK(CeedVectorSetValue(f.qdata, 2));
  CHECK_OK(CeedOperatorLinearAssembleQFunctionBuildOrUpdate(f.op, &v, &rstr, &request));
  CHECK(v == first && rstr == first_rstr, "another pair");
  CHECK_NEAR(first_entry(v), 2.0, tolerance * eps, "the same vector holds the new values");

  // Handles of other objects are released and replaced.
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  CHECK_OK(CeedVectorCreate(ceed, 1, &v));
  CHECK_OK(CeedElemRestrictionReferenceCopy(f.rstr, &rstr));
  CHECK_OK(CeedOperatorLinearAssembleQFunctionBuildOrUpdate(f.op, &v, &rstr, CEED_REQUEST_ORDERED));
  CHECK(v == first && rstr == first_rstr, "another pair");
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(assembling_the_qfunction_anew_leaves_the_cache_alone) {
  Fixture f;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, true));
  CHECK_NEAR(cached_scale(f.op), 1.0, tolerance * eps, "cached");
  CHECK_OK(CeedVectorSetValue(f.qdata, 2));
  CHECK_NEAR(new_scale(f.op), 2.0, tolerance * eps, "it does not read the cache");
  CHECK_NEAR(cached_scale(f.op), 1.0, tolerance * eps, "nor does it write it");
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(composites_pass_settings_on_to_their_parts) {
  Fixture f;
  CeedOperator sum = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &sum));
  CHECK_OK(CeedOperatorCompositeAddSub(sum, f.op));
  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(sum, true));
  CHECK_SCALE(sum, 0, 1.0);
  CHECK_OK(CeedVectorSetValue(f.qdata, 2));
  CHECK_SCALE(f.op, 0, 1.0);
  for (int kind = 0; kind < 3; kind++) CHECK_SCALE(sum, kind, 1.0);
  CHECK_OK(CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(sum, true));
  CHECK_SCALE(sum, 1, 2.0);
  CHECK_OK(CeedVectorSetValue(f.qdata, 3));
  CHECK_SCALE(sum, 2, 2.0);
  CHECK_OK(CeedOperatorAssemblyDataStrip(sum));
  CHECK_SCALE(sum, 2, 3.0);
  CeedOperatorDestroy(&sum);
  fixture_destroy(&f);
}

// ---- Layout of an assembled QFunction ----

enum { LAYOUT_ELEM = 2, LAYOUT_Q = 4 };

// dv0 = 11 du0 + 12 du1 + 13 u, dv1 = 21 ..., v = 31 ..., all times qdata. Outputs are declared v, dv; inputs
// du, qdata, u: the orders of the standard's example.
static int combine(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar x[3] = {in[0][i], in[0][Q + i], in[2][i]}, y[3];

    for (int k = 0; k < 3; k++)
      y[k] = in[1][i] * ((10 * k + 11) * x[0] + (10 * k + 12) * x[1] + (10 * k + 13) * x[2]);
    out[0][i] = y[2];
    out[1][i] = y[0];
    out[1][Q + i] = y[1];
  }
  return CEED_ERROR_SUCCESS;
}

static int create_layout_operator(Ceed ceed, CeedVector qdata, CeedOperator *op) {
  const CeedInt offsets[LAYOUT_ELEM * 4] = {0, 1, 2, 3, 2, 3, 4, 5}, strides[3] = {1, LAYOUT_Q, LAYOUT_Q};
  CeedElemRestriction rstr = NULL, rstr_q = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  int ierr = CeedElemRestrictionCreate(ceed, LAYOUT_ELEM, 4, 1, 1, 6, CEED_MEM_HOST, CEED_COPY_VALUES,
                                       offsets, &rstr);

  if (!ierr)
    ierr = CeedElemRestrictionCreateStrided(ceed, LAYOUT_ELEM, LAYOUT_Q, 1, LAYOUT_ELEM * LAYOUT_Q, strides,
                                            &rstr_q);
  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, 2, 2, CEED_GAUSS, &basis);
  if (!ierr) ierr = CeedQFunctionCreateInterior(ceed, 1, combine, "", &qf);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "du", 2, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "qdata", 1, CEED_EVAL_NONE);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "dv", 2, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  const char *const names[] = {"dv", "v", "u", "du"}; // not the order of the QFunction
  for (int i = 0; !ierr && i < 4; i++)
    ierr = CeedOperatorSetField(*op, names[i], rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "qdata", rstr_q, CEED_BASIS_NONE, qdata);
  CeedQFunctionDestroy(&qf);
  CeedBasisDestroy(&basis);
  CeedElemRestrictionDestroy(&rstr);
  CeedElemRestrictionDestroy(&rstr_q);
  return ierr;
}

TEST_EACH_BACKEND(assembled_qfunctions_have_the_layout_of_the_standard) {
  // Component i*3 + o: columns are du0, du1, u; rows v, dv0, dv1.
  static const double wanted[9] = {31, 11, 21, 32, 12, 22, 33, 13, 23};
  double q[LAYOUT_ELEM * LAYOUT_Q] = {1, 2, 3, 4, 5, 6, 7, 8};
  CeedVector qdata = reference_vector(ceed, LAYOUT_ELEM * LAYOUT_Q, q), v = NULL;
  CeedOperator op = NULL;
  CeedElemRestriction rstr = NULL;
  CeedInt num_elem, elem_size, num_comp, e_layout[3], l_layout[3];
  CeedSize l_size;
  CeedRestrictionType type;

  CHECK_OK(create_layout_operator(ceed, qdata, &op));
  CHECK_OK(CeedOperatorLinearAssembleQFunction(op, &v, &rstr, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedElemRestrictionGetType(rstr, &type));
  CHECK_OK(CeedElemRestrictionGetNumElements(rstr, &num_elem));
  CHECK_OK(CeedElemRestrictionGetElementSize(rstr, &elem_size));
  CHECK_OK(CeedElemRestrictionGetNumComponents(rstr, &num_comp));
  CHECK_OK(CeedElemRestrictionGetLVectorSize(rstr, &l_size));
  CHECK_OK(CeedElemRestrictionGetELayout(rstr, e_layout));
  CHECK_OK(CeedElemRestrictionGetLLayout(rstr, l_layout));
  CHECK(type == CEED_RESTRICTION_STRIDED && num_elem == LAYOUT_ELEM && elem_size == LAYOUT_Q && num_comp == 9,
        "%d elements, %d points, %d components", num_elem, elem_size, num_comp);
  CHECK(l_size == 9 * LAYOUT_ELEM * LAYOUT_Q && vector_length(v) == l_size, "%td entries", l_size);
  CHECK(!memcmp(e_layout, l_layout, sizeof(e_layout)), "E-layout and L-layout differ");
  double *values = reference_new_values(v);
  for (int k = 0; k < 9 * LAYOUT_ELEM * LAYOUT_Q; k++) {
    int point = k % LAYOUT_Q, component = k / LAYOUT_Q % 9, elem = k / (9 * LAYOUT_Q);
    double value = values[point * e_layout[0] + component * e_layout[1] + elem * e_layout[2]];

    CHECK_NEAR(value, wanted[component] * q[elem * LAYOUT_Q + point], 4 * 33 * 8 * eps,
               "component %d of point %d of element %d", component, point, elem);
  }
  free(values);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&qdata);
  CeedElemRestrictionDestroy(&rstr);
  CeedOperatorDestroy(&op);
}

// ---- Fields in the way ----

// v = in[0], whatever the second input is.
static int take_first(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  memcpy(out[0], in[0], (size_t)Q * sizeof(CeedScalar));
  return CEED_ERROR_SUCCESS;
}

static int create_with_unused_input(Ceed ceed, const Fixture *f, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr = CeedQFunctionCreateInterior(ceed, 1, take_first, "", &qf);

  if (!ierr) ierr = CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "unused", 1, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "u", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "unused", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "v", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

TEST_EACH_BACKEND(an_active_input_that_nothing_depends_on_changes_nothing) {
  Fixture f;
  CeedOperator op = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(create_with_unused_input(ceed, &f, &op));
  for (int kind = 0; kind < 3; kind++) CHECK_SCALE(op, kind, 1.0);
  Triples with = {0}, without = {0};
  CHECK_OK(triples_assemble(op, &with));
  CHECK_OK(triples_assemble(f.op, &without));
  double *a = triples_sum(&with, SIZE, SIZE), *b = triples_sum(&without, SIZE, SIZE);
  double error = reference_distance(SIZE * SIZE, a, b);
  free(a);
  free(b);
  triples_free(&with);
  triples_free(&without);
  CHECK(error <= tolerance * eps, "off by %g", error);
  CeedOperatorDestroy(&op);
  fixture_destroy(&f);
}

// Both outputs are in[0].
static int give_twice(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (int k = 0; k < 2; k++) memcpy(out[k], in[0], (size_t)Q * sizeof(CeedScalar));
  return CEED_ERROR_SUCCESS;
}

TEST_EACH_BACKEND(passive_outputs_are_left_alone_by_assembly) {
  Fixture f;
  CeedOperator op = NULL;
  CeedQFunction qf = NULL;
  CeedVector passive = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorCreate(ceed, SIZE, &passive));
  CHECK_OK(CeedVectorSetValue(passive, 5));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, give_twice, "", &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "w", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "u", f.rstr, f.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "w", f.rstr, f.basis, passive));
  CHECK_OK(CeedOperatorSetField(op, "v", f.rstr, f.basis, CEED_VECTOR_ACTIVE));
  for (int kind = 0; kind < NUM_KINDS; kind++) CHECK_SCALE(op, kind, 1.0);
  CHECK_HOLDS(passive, 5, 5, 5, 5, 5, 5, 5, 5, 5);
  CeedVectorDestroy(&passive);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  fixture_destroy(&f);
}

// ---- Equal but different bases ----

TEST_EACH_BACKEND(bases_are_matched_by_handle_on_the_diagonal) {
  Fixture f;
  CeedBasis twin = NULL;
  CeedOperator op = NULL;
  CeedQFunction qf = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, NODES, POINTS, CEED_GAUSS, &twin));
  CHECK_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "input", f.rstr, f.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "output", f.rstr, twin, CEED_VECTOR_ACTIVE));
  CHECK_NEAR(diagonal_scale(op), 0.0, 0.0, "nothing matches");
  CHECK_NEAR(triples_scale(op), triples_scale(f.op), tolerance * eps, "the matrix does not care");
  CeedBasisDestroy(&twin);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  fixture_destroy(&f);
}

// ---- Curl-oriented diagonals ----

enum { CURL_ELEM = 2, CURL_NODES = 4, CURL_POINTS = 3, CURL_SIZE = 6 };

// Each row and column of an orientation has one entry +-1: pairs of neighbours are exchanged, or not.
static const CeedInt8 exchanges[CURL_ELEM * CURL_NODES * 3] = {0, 0, -1, 1, 0, 0, 0,  -1, 0, 0, 1,  0,
                                                               0, 1, 0,  0, 0, 1, -1, 0,  0, 0, -1, 0};

static int create_curl_oriented(Ceed ceed, CeedOperator *op) {
  const CeedInt offsets[CURL_ELEM * CURL_NODES] = {0, 1, 2, 3, 2, 3, 4, 5};
  uint64_t seed = 7;
  CeedScalar interp[2 * CURL_POINTS * CURL_NODES], curl[CURL_POINTS * CURL_NODES];
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;

  for (int k = 0; k < 2 * CURL_POINTS * CURL_NODES; k++) interp[k] = (CeedScalar)tap_uniform(&seed);
  for (int k = 0; k < CURL_POINTS * CURL_NODES; k++) curl[k] = (CeedScalar)tap_uniform(&seed);
  int ierr =
      CeedElemRestrictionCreateCurlOriented(ceed, CURL_ELEM, CURL_NODES, 1, 1, CURL_SIZE, CEED_MEM_HOST,
                                            CEED_COPY_VALUES, offsets, exchanges, &rstr);
  if (!ierr)
    ierr = CeedBasisCreateHcurl(ceed, CEED_TOPOLOGY_TRIANGLE, 1, CURL_NODES, CURL_POINTS, interp, curl, NULL,
                                NULL, &basis);
  if (!ierr) ierr = CeedQFunctionCreateIdentity(ceed, 2, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "input", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "output", rstr, basis, CEED_VECTOR_ACTIVE);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

TEST_EACH_BACKEND(diagonals_with_exchanged_nodes_are_exact) {
  CeedOperator op = NULL;
  CeedVector v = NULL;
  Triples t = {0};

  CHECK_OK(create_curl_oriented(ceed, &op));
  CHECK_OK(CeedVectorCreate(ceed, CURL_SIZE, &v));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, v, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(triples_assemble(op, &t));
  double *matrix = triples_sum(&t, CURL_SIZE, CURL_SIZE), *diagonal = reference_new_values(v), worst = 0.0;
  for (int k = 0; k < CURL_SIZE; k++) worst = fmax(worst, fabs(matrix[k * CURL_SIZE + k] - diagonal[k]));
  free(matrix);
  free(diagonal);
  triples_free(&t);
  CHECK(worst <= 2 * CURL_POINTS * CURL_ELEM * 4 * eps, "off by %g", worst);
  CeedVectorDestroy(&v);
  CeedOperatorDestroy(&op);
}

// ---- Without elements ----

TEST_EACH_BACKEND(operators_without_elements_assemble_to_nothing) {
  Fixture f;
  CeedVector v = NULL, values = NULL;
  CeedElemRestriction rstr = NULL;
  CeedSize num = -1, num_rows = -1, num_cols = -1;
  CeedInt *rows = NULL, *cols = NULL, num_elem = -1;
  int64_t *row_starts = NULL, *columns = NULL;

  CHECK_OK(fixture_create_sized(ceed, 0, &f));
  CHECK_OK(CeedOperatorLinearAssembleQFunction(f.op, &v, &rstr, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedElemRestrictionGetNumElements(rstr, &num_elem));
  CHECK(num_elem == 0 && vector_length(v) == 0, "%d elements, %td entries", num_elem, vector_length(v));
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);

  const double fives[SIZE] = {5, 5, 5, 5, 5, 5, 5, 5, 5};
  v = reference_vector(ceed, SIZE, fives);
  CHECK_OK(CeedOperatorLinearAssembleAddDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(v, 5, 5, 5, 5, 5, 5, 5, 5, 5);
  CHECK_OK(CeedOperatorLinearAssembleAddPointBlockDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(v, 5, 5, 5, 5, 5, 5, 5, 5, 5);
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(v, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  CHECK_OK(CeedVectorSetValue(v, 5));
  CHECK_OK(CeedOperatorLinearAssemblePointBlockDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(v, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  CHECK_OK(CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(f.op, &num, &rows, &cols));
  CHECK(num == SIZE && rows[SIZE - 1] == 0 && cols[0] == 0, "%td block entries", num);
  free(rows);
  free(cols);
  CHECK_OK(CeedOperatorLinearAssembleGetNumEntries(f.op, &num));
  CHECK(num == 0, "%td entries", num);
  CHECK_OK(CeedOperatorLinearAssembleSymbolic(f.op, &num, &rows, &cols));
  CHECK(num == 0, "%td entries", num);
  free(rows);
  free(cols);
  CHECK_OK(CeedVectorCreate(ceed, 0, &values));
  CHECK_OK(CeedOperatorLinearAssemble(f.op, values));

  CHECK_OK(RitzOperatorAssembleCSRSymbolic(f.op, &num_rows, &num_cols, &row_starts, &columns));
  CHECK(num_rows == SIZE && num_cols == SIZE && row_starts[SIZE] == 0, "rows of sparse storage");
  CHECK_OK(RitzOperatorAssembleCSR(f.op, row_starts, columns, values));
  free(row_starts);
  free(columns);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&values);
  fixture_destroy(&f);
}

// ---- Point blocks that have no place ----

// Mass of 2 components; offsets and component stride as given, one element of 2 nodes on a line.
static int create_blocked(Ceed ceed, const CeedInt offsets[2], CeedInt comp_stride, CeedSize l_size,
                          CeedOperator *op) {
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  int ierr = CeedElemRestrictionCreate(ceed, 1, 2, 2, comp_stride, l_size, CEED_MEM_HOST, CEED_COPY_VALUES,
                                       offsets, &rstr);

  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 1, 2, 2, 2, CEED_GAUSS, &basis);
  if (!ierr) ierr = CeedQFunctionCreateIdentity(ceed, 2, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "input", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "output", rstr, basis, CEED_VECTOR_ACTIVE);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

// Blocks begin at offset * nc * nc: those of nodes in the upper half of the L-vector would end behind it.
TEST_EACH_BACKEND(point_blocks_without_a_place_are_refused) {
  static const CeedInt high[2] = {4, 5}, odd[2] = {0, 3};
  CeedOperator op = NULL;
  CeedVector v = NULL;
  CeedSize num;
  CeedInt *rows = NULL, *cols = NULL;

  CHECK_OK(CeedVectorCreate(ceed, 16, &v));
  for (int k = 0; k < 2; k++) {
    // Components apart, behind another field; nodes that overlap in an interlaced L-vector.
    CHECK_OK(create_blocked(ceed, k ? odd : high, k ? 1 : 2, 8, &op));
    CHECK_ERROR(ceed, CeedOperatorLinearAssemblePointBlockDiagonal(op, v, CEED_REQUEST_IMMEDIATE),
                CEED_ERROR_UNSUPPORTED, "block");
    CHECK_ERROR(ceed, CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(op, &num, &rows, &cols),
                CEED_ERROR_UNSUPPORTED, "block");
    CeedOperatorDestroy(&op);
  }
  CeedVectorDestroy(&v);
}

// ---- Misuse ----

typedef struct {
  CeedOperator unset, no_input, no_output, composite, incomplete_composite, rectangular, two_restrictions,
      strided, two_outputs;
} Wrong;

static int create_identity(Ceed ceed, const Fixture *f, CeedElemRestriction rstr_out, CeedVector in,
                           CeedVector out, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr = CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf);

  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "input", f->rstr, f->basis, in);
  if (!ierr) ierr = CeedOperatorSetField(*op, "output", rstr_out, f->basis, out);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

// Rows of one element of 3 nodes.
static int create_longer_restriction(Ceed ceed, CeedSize l_size, CeedElemRestriction *rstr) {
  CeedInt offsets[NUM_ELEM * NODES] = {0};

  return CeedElemRestrictionCreate(ceed, NUM_ELEM, NODES, 1, 1, l_size, CEED_MEM_HOST, CEED_COPY_VALUES,
                                   offsets, rstr);
}

static int create_strided_identity(Ceed ceed, const Fixture *f, CeedOperator *op) {
  CeedElemRestriction rstr = NULL;
  Fixture g = *f;
  int ierr = CeedElemRestrictionCreateStrided(ceed, NUM_ELEM, NODES, 1, NUM_ELEM * NODES,
                                              CEED_STRIDES_BACKEND, &rstr);

  g.rstr = rstr;
  if (!ierr) ierr = create_identity(ceed, &g, rstr, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, op);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

static int create_two_restrictions(Ceed ceed, const Fixture *f, CeedOperator *op) {
  CeedElemRestriction other = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  int ierr = create_longer_restriction(ceed, SIZE, &other);

  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, NODES, POINTS, CEED_GAUSS, &basis);
  if (!ierr) ierr = CeedQFunctionCreateInterior(ceed, 1, take_first, "", &qf);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "u", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "w", other, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "v", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  CeedElemRestrictionDestroy(&other);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static int wrong_create(Ceed ceed, const Fixture *f, Wrong *w) {
  CeedElemRestriction longer = NULL;
  CeedVector passive = NULL;
  CeedQFunction qf = NULL;
  *w = (Wrong){0};
  int ierr = CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf);

  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &w->unset);
  if (!ierr) ierr = CeedVectorCreate(ceed, SIZE, &passive);
  if (!ierr) ierr = CeedVectorSetValue(passive, 0);
  if (!ierr) ierr = create_identity(ceed, f, f->rstr, passive, CEED_VECTOR_ACTIVE, &w->no_input);
  if (!ierr) ierr = create_identity(ceed, f, f->rstr, CEED_VECTOR_ACTIVE, passive, &w->no_output);
  if (!ierr) ierr = CeedOperatorCreateComposite(ceed, &w->composite);
  if (!ierr) ierr = CeedOperatorCompositeAddSub(w->composite, f->op);
  if (!ierr) ierr = CeedOperatorCreateComposite(ceed, &w->incomplete_composite);
  if (!ierr) ierr = CeedOperatorCompositeAddSub(w->incomplete_composite, w->unset);
  if (!ierr) ierr = create_longer_restriction(ceed, SIZE + 1, &longer);
  if (!ierr) ierr = create_identity(ceed, f, longer, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, &w->rectangular);
  CeedElemRestrictionDestroy(&longer);
  if (!ierr) ierr = create_longer_restriction(ceed, SIZE, &longer);
  if (!ierr) ierr = create_identity(ceed, f, longer, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, &w->two_outputs);
  if (!ierr) ierr = create_two_restrictions(ceed, f, &w->two_restrictions);
  if (!ierr) ierr = create_strided_identity(ceed, f, &w->strided);
  CeedElemRestrictionDestroy(&longer);
  CeedVectorDestroy(&passive);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static void wrong_destroy(Wrong *w) {
  CeedOperatorDestroy(&w->composite);
  CeedOperatorDestroy(&w->incomplete_composite);
  CeedOperatorDestroy(&w->unset);
  CeedOperatorDestroy(&w->no_input);
  CeedOperatorDestroy(&w->no_output);
  CeedOperatorDestroy(&w->rectangular);
  CeedOperatorDestroy(&w->two_restrictions);
  CeedOperatorDestroy(&w->strided);
  CeedOperatorDestroy(&w->two_outputs);
}

// Every call once, with outputs that are thrown away.
static int call_qfunction(CeedOperator op) {
  CeedVector v = NULL;
  CeedElemRestriction rstr = NULL;
  int ierr = CeedOperatorLinearAssembleQFunction(op, &v, &rstr, CEED_REQUEST_IMMEDIATE);

  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

static int call_build_or_update(CeedOperator op) {
  CeedVector v = NULL;
  CeedElemRestriction rstr = NULL;
  int ierr = CeedOperatorLinearAssembleQFunctionBuildOrUpdate(op, &v, &rstr, CEED_REQUEST_IMMEDIATE);

  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

typedef int (*IntoVector)(CeedOperator op, CeedVector v, CeedRequest *request);

static int call_into_vector(CeedOperator op, IntoVector call) {
  CeedVector v = NULL;
  int ierr = CeedVectorCreate(CeedOperatorReturnCeed(op), 2 * SIZE, &v);

  if (!ierr) ierr = CeedVectorSetValue(v, 0);
  if (!ierr) ierr = call(op, v, CEED_REQUEST_IMMEDIATE);
  CeedVectorDestroy(&v);
  return ierr;
}

static int call_diagonal(CeedOperator op) { return call_into_vector(op, CeedOperatorLinearAssembleDiagonal); }
static int call_add_diagonal(CeedOperator op) {
  return call_into_vector(op, CeedOperatorLinearAssembleAddDiagonal);
}
static int call_blocks(CeedOperator op) {
  return call_into_vector(op, CeedOperatorLinearAssemblePointBlockDiagonal);
}
static int call_add_blocks(CeedOperator op) {
  return call_into_vector(op, CeedOperatorLinearAssembleAddPointBlockDiagonal);
}

static int call_block_symbolic(CeedOperator op) {
  CeedSize num;
  CeedInt *rows = NULL, *cols = NULL;
  int ierr = CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(op, &num, &rows, &cols);

  free(rows);
  free(cols);
  return ierr;
}

static int call_count(CeedOperator op) {
  CeedSize num;

  return CeedOperatorLinearAssembleGetNumEntries(op, &num);
}

static int call_symbolic(CeedOperator op) {
  CeedSize num;
  CeedInt *rows = NULL, *cols = NULL;
  int ierr = CeedOperatorLinearAssembleSymbolic(op, &num, &rows, &cols);

  free(rows);
  free(cols);
  return ierr;
}

static int call_assemble(CeedOperator op) {
  CeedVector v = NULL;
  int ierr = CeedVectorCreate(CeedOperatorReturnCeed(op), (CeedSize)4 * NUM_ELEM * NODES * NODES, &v);

  if (!ierr) ierr = CeedOperatorLinearAssemble(op, v);
  CeedVectorDestroy(&v);
  return ierr;
}

static int call_csr_symbolic(CeedOperator op) {
  CeedSize num_rows, num_cols;
  int64_t *row_starts = NULL, *cols = NULL;
  int ierr = RitzOperatorAssembleCSRSymbolic(op, &num_rows, &num_cols, &row_starts, &cols);

  free(row_starts);
  free(cols);
  return ierr;
}

static int call_csr(CeedOperator op) {
  CeedVector v = NULL;
  int64_t row_starts[2 * SIZE] = {0}, cols[1] = {0};
  int ierr = CeedVectorCreate(CeedOperatorReturnCeed(op), 1, &v);

  if (!ierr) ierr = RitzOperatorAssembleCSR(op, row_starts, cols, v);
  CeedVectorDestroy(&v);
  return ierr;
}

typedef int (*Call)(CeedOperator op);
enum { OF_QFUNCTION, OF_DIAGONAL, OF_BLOCKS, OF_MATRIX };
static const struct {
  const char *name;
  Call call;
  int what;
} calls[] = {
    {"QFunction", call_qfunction, OF_QFUNCTION},
    {"BuildOrUpdate", call_build_or_update, OF_QFUNCTION},
    {"Diagonal", call_diagonal, OF_DIAGONAL},
    {"AddDiagonal", call_add_diagonal, OF_DIAGONAL},
    {"PointBlock", call_blocks, OF_BLOCKS},
    {"AddPointBlock", call_add_blocks, OF_BLOCKS},
    {"BlockSymbolic", call_block_symbolic, OF_BLOCKS},
    {"GetNumEntries", call_count, OF_MATRIX},
    {"Symbolic", call_symbolic, OF_MATRIX},
    {"Assemble", call_assemble, OF_MATRIX},
    {"CSRSymbolic", call_csr_symbolic, OF_MATRIX},
    {"CSR", call_csr, OF_MATRIX},
};
enum { NUM_CALLS = sizeof(calls) / sizeof(calls[0]) };

// All calls on one operator; codes by what is assembled, 0: any (another row looks).
static void check_calls(Ceed ceed, CeedOperator op, const char *name, const int codes[4], const char *text) {
  for (int k = 0; k < NUM_CALLS; k++) {
    int code = codes[calls[k].what];

    if (!code) continue;
    tap_forget_error(ceed);
    CHECK(tap_check_error(ceed, calls[k].call(op), code, text, __FILE__, __LINE__, calls[k].name),
          "of an operator that %s", name);
  }
}

TEST_EACH_BACKEND(what_cannot_be_assembled_is_refused) {
  Fixture f;
  Wrong w;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(wrong_create(ceed, &f, &w));
  const struct {
    CeedOperator op;
    const char *name;
    int codes[4];
    const char *text;
  } rows[] = {
      {w.unset,
       "is not ready",
       {CEED_ERROR_INCOMPLETE, CEED_ERROR_INCOMPLETE, CEED_ERROR_INCOMPLETE, CEED_ERROR_INCOMPLETE},
       "no field"},
      {w.incomplete_composite,
       "has a part that is not ready",
       {0, CEED_ERROR_INCOMPLETE, CEED_ERROR_INCOMPLETE, CEED_ERROR_INCOMPLETE},
       "no field"},
      {w.composite, "is a composite", {CEED_ERROR_UNSUPPORTED, 0, 0, 0}, "composite"},
      {w.incomplete_composite, "is a composite", {CEED_ERROR_UNSUPPORTED, 0, 0, 0}, "composite"},
      {w.no_input,
       "has no active input",
       {CEED_ERROR_BACKEND, CEED_ERROR_DIMENSION, CEED_ERROR_DIMENSION, CEED_ERROR_BACKEND},
       ""},
      {w.no_output,
       "has no active output",
       {CEED_ERROR_BACKEND, CEED_ERROR_DIMENSION, CEED_ERROR_DIMENSION, CEED_ERROR_BACKEND},
       ""},
      {w.rectangular, "is not square", {0, CEED_ERROR_DIMENSION, CEED_ERROR_DIMENSION, 0}, "not square"},
      {w.two_restrictions,
       "has two input restrictions",
       {0, 0, CEED_ERROR_MINOR, 0},
       "several active input restrictions"},
      {w.strided, "has a strided restriction", {0, 0, CEED_ERROR_UNSUPPORTED, 0}, "strided"},
      {w.two_outputs,
       "has another output restriction",
       {0, CEED_ERROR_UNSUPPORTED, 0, 0},
       "different restrictions"},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !tap_failed(); i++)
    check_calls(ceed, rows[i].op, rows[i].name, rows[i].codes, rows[i].text);
  wrong_destroy(&w);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(parts_with_other_components_have_no_common_blocks) {
  static const CeedInt apart[2] = {0, 1}, together[2] = {0, 2};
  Fixture f;
  CeedOperator parts[3] = {NULL}, sum = NULL;

  CHECK_OK(create_blocked(ceed, apart, 4, SIZE, &parts[0]));
  CHECK_OK(create_blocked(ceed, together, 1, SIZE, &parts[1]));
  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedOperatorReferenceCopy(f.op, &parts[2])); // one component
  for (int k = 0; k < 2; k++) {
    CHECK_OK(CeedOperatorCreateComposite(ceed, &sum));
    CHECK_OK(CeedOperatorCompositeAddSub(sum, parts[0]));
    CHECK_OK(CeedOperatorCompositeAddSub(sum, parts[k + 1]));
    CHECK_ERROR(ceed, call_block_symbolic(sum), k ? CEED_ERROR_INCOMPATIBLE : CEED_ERROR_DIMENSION,
                k ? "2 and 1 components" : "component strides 4 and 1");
    CHECK_ERROR(ceed, call_blocks(sum), k ? CEED_ERROR_INCOMPATIBLE : CEED_ERROR_DIMENSION, "component");
    CeedOperatorDestroy(&sum);
  }
  for (int k = 0; k < 3; k++) CeedOperatorDestroy(&parts[k]);
  fixture_destroy(&f);
}

// ---- Vectors and patterns that do not fit ----

TEST_EACH_BACKEND(short_vectors_are_refused_and_stay_as_they_are) {
  Fixture f;
  CeedVector v = NULL;
  CeedSize num = 0;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorCreate(ceed, SIZE - 1, &v));
  CHECK_OK(CeedVectorSetValue(v, 5));
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_DIMENSION,
              "8 entries, needed 9");
  CHECK_ERROR(ceed, CeedOperatorLinearAssemblePointBlockDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_DIMENSION, "8 entries, needed 9");
  CHECK_OK(CeedOperatorLinearAssembleGetNumEntries(f.op, &num));
  CHECK(num == NUM_ELEM * NODES * NODES, "%td entries", num);
  CHECK_ERROR(ceed, CeedOperatorLinearAssemble(f.op, v), CEED_ERROR_DIMENSION, "8 entries, needed 36");
  CHECK_HOLDS(v, 5, 5, 5, 5, 5, 5, 5, 5);
  CeedVectorDestroy(&v);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(adding_to_a_vector_without_values_is_refused) {
  Fixture f;
  CeedVector v = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorCreate(ceed, SIZE, &v));
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleAddDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_BACKEND, "no valid data");
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE));
  CeedVectorDestroy(&v);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(null_arguments_are_refused) {
  Fixture f;
  CeedVector v = NULL;
  CeedElemRestriction rstr = NULL;
  CeedSize n;
  CeedInt *rows, *cols;
  int64_t *row_starts, *columns, none[1] = {0};

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorCreate(ceed, SIZE, &v));
  for (int k = 0; k < NUM_CALLS; k++) CHECK(calls[k].what >= 0, "%s", calls[k].name);
  const int wanted = CEED_ERROR_INCOMPATIBLE;
  CHECK_ERROR(NULL, CeedOperatorLinearAssembleQFunction(NULL, &v, &rstr, NULL), wanted, "op");
  CHECK_ERROR(NULL, CeedOperatorLinearAssembleQFunctionBuildOrUpdate(NULL, &v, &rstr, NULL), wanted, "op");
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleQFunctionBuildOrUpdate(f.op, NULL, &rstr, NULL), wanted,
              "NULL");
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleQFunctionBuildOrUpdate(f.op, &v, NULL, NULL), wanted, "NULL");
  CHECK_ERROR(NULL, CeedOperatorLinearAssembleDiagonal(NULL, v, NULL), wanted, "op");
  CHECK_ERROR(NULL, CeedOperatorLinearAssembleDiagonal(f.op, NULL, NULL), wanted, "assembled");
  CHECK_ERROR(NULL, CeedOperatorLinearAssemblePointBlockDiagonal(f.op, NULL, NULL), wanted, "assembled");
  CHECK_ERROR(NULL, CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(NULL, &n, &rows, &cols), wanted, "");
  CHECK_ERROR(NULL, CeedOperatorLinearAssembleGetNumEntries(NULL, &n), wanted, "op");
  CHECK_ERROR(NULL, CeedOperatorLinearAssembleSymbolic(NULL, &n, &rows, &cols), wanted, "op");
  CHECK_ERROR(NULL, CeedOperatorLinearAssemble(NULL, v), wanted, "op");
  CHECK_ERROR(NULL, CeedOperatorLinearAssemble(f.op, NULL), wanted, "values");
  CHECK_ERROR(NULL, CeedOperatorSetQFunctionAssemblyReuse(NULL, true), wanted, "op");
  CHECK_ERROR(NULL, CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(NULL, true), wanted, "op");
  CHECK_ERROR(NULL, CeedOperatorAssemblyDataStrip(NULL), wanted, "op");
  CHECK_ERROR(NULL, RitzOperatorAssembleCSRSymbolic(NULL, &n, &n, &row_starts, &columns), wanted, "op");
  CHECK_ERROR(NULL, RitzOperatorAssembleCSR(NULL, none, none, v), wanted, "op");
  CHECK_ERROR(NULL, RitzOperatorAssembleCSR(f.op, NULL, none, v), wanted, "row_starts");
  CHECK_ERROR(NULL, RitzOperatorAssembleCSR(f.op, none, none, NULL), wanted, "values");
  CeedVectorDestroy(&v);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(patterns_of_other_operators_are_refused) {
  Fixture f;
  CeedVector v = NULL;
  // A diagonal matrix; one entry in the last row only.
  int64_t row_starts[SIZE + 1], cols[SIZE], last[SIZE + 1] = {0};

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorCreate(ceed, SIZE - 1, &v));
  for (int k = 0; k < SIZE; k++) row_starts[k] = cols[k] = k;
  row_starts[SIZE] = SIZE;
  CHECK_ERROR(ceed, RitzOperatorAssembleCSR(f.op, row_starts, cols, v), CEED_ERROR_DIMENSION,
              "8 entries, needed 9");
  CeedVectorDestroy(&v);
  CHECK_OK(CeedVectorCreate(ceed, SIZE, &v));
  CHECK_ERROR(ceed, RitzOperatorAssembleCSR(f.op, row_starts, cols, v), CEED_ERROR_INCOMPATIBLE,
              "entry (0, 1) is not in the pattern");
  last[SIZE] = 1;
  CHECK_ERROR(ceed, RitzOperatorAssembleCSR(f.op, last, cols, v), CEED_ERROR_INCOMPATIBLE,
              "entry (0, 0) is not in the pattern");
  CHECK_ERROR(ceed, RitzOperatorAssembleCSR(f.op, row_starts, NULL, v), CEED_ERROR_INCOMPATIBLE, "NULL");
  CeedVectorDestroy(&v);
  fixture_destroy(&f);
}

// ---- QFunctions that fail ----

typedef struct {
  int code;
} FailContext;

static int fail(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  memcpy(out[0], in[0], (size_t)Q * sizeof(CeedScalar));
  return ((const FailContext *)ctx)->code;
}

// Whatever fails, the operator works when its function does.
TEST_EACH_BACKEND(failures_of_the_qfunction_are_passed_on) {
  Fixture f;
  FailContext c = {0};
  CeedOperator op = NULL;
  CeedQFunction qf = NULL;
  CeedQFunctionContext context = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedQFunctionContextCreate(ceed, &context));
  CHECK_OK(CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(c), &c));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, fail, "", &qf));
  CHECK_OK(CeedQFunctionSetContext(qf, context));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "u", f.rstr, f.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "v", f.rstr, f.basis, CEED_VECTOR_ACTIVE));
  for (int k = 0; k < NUM_CALLS; k++) {
    if (calls[k].call == call_block_symbolic || calls[k].call == call_count ||
        calls[k].call == call_symbolic || calls[k].call == call_csr_symbolic || calls[k].call == call_csr)
      continue; // they call no function, or fail before
    c.code = 5;
    CHECK(calls[k].call(op) == CEED_ERROR_BACKEND, "%s of a positive code", calls[k].name);
    c.code = -77;
    CHECK(calls[k].call(op) == -77, "%s of a negative code", calls[k].name);
    c.code = 0;
    CHECK_OK(calls[k].call(op));
  }
  for (int kind = 0; kind < NUM_KINDS; kind++) CHECK_SCALE(op, kind, 1.0);
  CeedQFunctionContextDestroy(&context);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  fixture_destroy(&f);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(without_reuse_assembly_always_sees_the_present_values,
            with_reuse_assembly_keeps_its_data_until_told, a_withdrawn_request_for_renewal_renews_nothing,
            context_fields_set_through_the_operator_ask_for_renewal, stripping_drops_data_and_settings,
            build_or_update_shares_one_pair, assembling_the_qfunction_anew_leaves_the_cache_alone,
            composites_pass_settings_on_to_their_parts, assembled_qfunctions_have_the_layout_of_the_standard,
            an_active_input_that_nothing_depends_on_changes_nothing,
            passive_outputs_are_left_alone_by_assembly, bases_are_matched_by_handle_on_the_diagonal,
            diagonals_with_exchanged_nodes_are_exact, operators_without_elements_assemble_to_nothing,
            point_blocks_without_a_place_are_refused, what_cannot_be_assembled_is_refused,
            parts_with_other_components_have_no_common_blocks, short_vectors_are_refused_and_stay_as_they_are,
            adding_to_a_vector_without_values_is_refused, null_arguments_are_refused,
            patterns_of_other_operators_are_refused, failures_of_the_qfunction_are_passed_on));
}
