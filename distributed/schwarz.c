// SPDX-License-Identifier: BSD-2-Clause
// The element-wise Schwarz method of problems in parts (solver/schwarz.c has that of one part, and the
// formulas): elements K belong to one part each, so
//
//     z = s (sum_K E_K^T B_K^-1 E_K (s r))
//
// is what it is in one part, up to the order of additions, with s of the whole problem: diagonals of the
// operator and of the elements' matrices, and how many elements a node has, are added up over all parts when
// it is set up. An application is two passes over vectors around what is an operator of the whole problem
// (distributed/operator.c): s r goes to ghosts behind the elements that have none, what elements add to
// ghosts goes to their owners. s is zero at ghosts, so z is, too.
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/core.h"
#include "distributed/exchange.h"
#include "distributed/schwarz.h"
#include "solver/preconditioner.h"
#include "solver/schwarz.h"

static const char name[] = "element-wise Schwarz";

typedef struct {
  RitzIndices constraints;   // counted: those of the boundary
  RitzPartOperator inverses; // owned
  CeedVector scale;          // owned: s, zero on constrained entries and ghosts
  CeedVector work;           // owned: what the inverses are applied to
  RitzPartOperator op;       // borrowed: of the whole problem
  CeedVector share;          // owned: what the scale is made of beside op's diagonal
  CeedInt dim, degree;
  int64_t num_elem; // of this part
} PartSchwarz;

// Arguments of a creation, and what has been made so far.
typedef struct {
  const char *call;
  Ceed ceed;             // borrowed, as all that follows
  RitzPartOperator op;   // of the whole problem
  RitzExchange exchange; // of its space
  CeedScalarType precision;
  RitzSeparables separables; // owned; without a set where the part is empty
  double *sum;               // owned, as ritz_separables_sum_diagonals makes it: [num_nodes]
  int32_t *count;            // likewise
  PartSchwarz *schwarz;
} Setup;

// ---- Agreement ----

int ritz_part_agree(const char *call, const char *method, RitzExchange e, int ierr) {
  double codes[2] = {ierr > 0 ? ierr : 0, ierr < 0 ? -ierr : 0};
  const int code = RitzExchangeReduce(e, RITZ_REDUCTION_MAX, 2, codes);
  const int agreed = codes[1] > 0 ? -(int)codes[1] : (int)codes[0];

  if (code) return ierr ? ierr : code;
  if (ierr || agreed == CEED_ERROR_SUCCESS) return agreed;
  return CeedError(e->ceed, agreed, "%s: %s does not serve another part, needed all (that part says why)",
                   call, method);
}

// ---- The scale ----

static int fill_scale(const char *call, const PartSchwarz *s, CeedVector diagonal) {
  RITZ_TRY(RitzVectorSetEntries(diagonal, s->constraints, 1));
  return ritz_schwarz_fill_scale(call, s->share, diagonal, s->constraints, s->scale);
}

// Of the diagonal that the operator has now.
static int renew_scale(const char *call, const PartSchwarz *s) {
  const RitzExchange e = ritz_part_operator_pieces(s->op, NULL);
  CeedVector diagonal = NULL;
  int ierr = RitzVectorCreate(e->ceed, e->length, s->scale->precision, &diagonal);

  if (!ierr) ierr = RitzPartOperatorGetDiagonal(s->op, diagonal);
  if (!ierr) ierr = ritz_part_agree(call, name, e, fill_scale(call, s, diagonal));
  return ritz_first_error(ierr, CeedVectorDestroy(&diagonal));
}

static int update_part_schwarz(RitzPreconditioner pc) { return renew_scale(name, pc->data); }

// ---- The method ----

// Ghosts of the work vector get the values of their owners; constrained entries of r may be anything.
static int apply_part_schwarz(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const PartSchwarz *s = pc->data;

  RITZ_TRY(ritz_pass_run(&ritz_schwarz_scale_into, (CeedVector[]){s->scale, r, s->work}, NULL, NULL));
  RITZ_TRY(RitzVectorSetEntries(s->work, s->constraints, 0));
  RITZ_TRY(ritz_part_operator_apply_kept(s->inverses, s->work, z));
  return ritz_pass_run(&ritz_schwarz_scale_in_place, (CeedVector[]){s->scale, z}, NULL, NULL);
}

static int view(RitzPreconditioner pc, FILE *stream, int indent) {
  const PartSchwarz *s = pc->data;

  fprintf(stream, "%*s%s by fast diagonalization: degree %" CeedInt_FMT ", %lld elements in this part\n",
          indent, "", pc->methods->name, s->degree, (long long)s->num_elem);
  return CEED_ERROR_SUCCESS;
}

// Vectors and sums of eigenvalues.
static int64_t bytes(RitzPreconditioner pc) {
  const PartSchwarz *s = pc->data;

  return (2 * (int64_t)pc->n + s->share->length + (s->num_elem << s->dim)) *
         (int64_t)ritz_scalar_bytes(pc->precision);
}

static int free_schwarz(PartSchwarz *s) {
  int ierr = RitzPartOperatorDestroy(&s->inverses);

  ierr = ritz_first_error(ierr, RitzIndicesDestroy(&s->constraints));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&s->scale));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&s->work));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&s->share));
  RITZ_FREE(&s);
  return ierr;
}

static int destroy_part_schwarz(RitzPreconditioner pc) { return free_schwarz(pc->data); }

static const RitzPreconditionerMethods methods = {.name = name,
                                                  .apply = apply_part_schwarz,
                                                  .view = view,
                                                  .bytes = bytes,
                                                  .update = update_part_schwarz,
                                                  .destroy = destroy_part_schwarz};

// ---- Elements and their inverses ----

static bool has_ghosts(CeedSize num_owned, CeedInt num, const CeedInt *offsets) {
  for (CeedInt i = 0; i < num; i++) {
    if (offsets[i] >= num_owned) return true;
  }
  return false;
}

static int replace_restriction(Ceed ceed, const CeedInt *offsets, RitzSeparable *set) {
  const CeedSize l_size = set->rstr->l_size;

  RITZ_TRY(CeedElemRestrictionDestroy(&set->rstr));
  return CeedElemRestrictionCreate(ceed, set->num_domains, set->num_nodes, set->num_comp, 1, l_size,
                                   CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &set->rstr);
}

// Elements without ghosts come first, otherwise as they were: the ranges of set->first.
static int sort_elements(const Setup *s, RitzSeparable *set) {
  const CeedSize num_owned = s->exchange->num_owned;
  const size_t num = (size_t)set->num_domains, num_nodes = (size_t)set->num_nodes,
               num_factors = (size_t)set->dim + 1;
  const CeedInt *from = set->rstr->offsets;
  CeedInt *offsets = NULL, next[2] = {0, 0};
  double *factors = NULL;
  int ierr;

  RITZ_TRY(RITZ_CALLOC(s->ceed, 3, &set->first));
  for (size_t k = 0; k < num; k++) next[1] += !has_ghosts(num_owned, set->num_nodes, from + k * num_nodes);
  set->first[1] = next[1];
  set->first[2] = set->num_domains;
  RITZ_TRY_CLEANUP(RITZ_MALLOC(s->ceed, num * num_nodes, &offsets));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(s->ceed, num * num_factors, &factors));
  for (size_t k = 0; k < num; k++) {
    const CeedInt *nodes = from + k * num_nodes;
    const size_t to = (size_t)next[has_ghosts(num_owned, set->num_nodes, nodes)]++;

    memcpy(offsets + to * num_nodes, nodes, num_nodes * sizeof(*offsets));
    memcpy(factors + to * num_factors, set->factors + k * num_factors, num_factors * sizeof(*factors));
  }
  RITZ_TRY_CLEANUP(replace_restriction(s->ceed, offsets, set));
  memcpy(set->factors, factors, num * num_factors * sizeof(*factors));
cleanup:
  RITZ_FREE(&offsets);
  RITZ_FREE(&factors);
  return ierr;
}

static int find_use(const Setup *s, RitzOperatorUse *use) {
  CeedOperator pieces[2];

  *use = RITZ_USE_MANY;
  ritz_part_operator_pieces(s->op, pieces);
  for (int i = 0; i < 2; i++) {
    if (pieces[i]) return RitzOperatorGetUse(pieces[i], use);
  }
  return CEED_ERROR_SUCCESS;
}

// pieces: of elements without ghosts and of the others; NULL: there are none.
static int create_pieces(const Setup *s, RitzSeparable *set, CeedOperator pieces[2]) {
  RitzOperatorUse use;

  RITZ_TRY(find_use(s, &use));
  RITZ_TRY(sort_elements(s, set));
  const CeedInt num_inside = set->first[1];
  const bool is_split = num_inside > 0 && num_inside < set->num_domains;

  if (!is_split) RITZ_FREE(&set->first);
  RITZ_TRY(ritz_schwarz_create_inverses(s->ceed, name, set, s->precision, use, is_split ? 2 : 1,
                                        num_inside > 0 ? pieces : pieces + 1));
  for (int i = 0; i < 2; i++) {
    if (pieces[i]) RITZ_TRY(RitzOperatorsPrepare(1, &pieces[i], NULL, true)); // while the rest is made
  }
  return CEED_ERROR_SUCCESS;
}

// Subdomains, sums and diagonals of a part's own elements, which are one set of subdomains.
static int find_elements(Setup *s, CeedOperator pieces[2]) {
  const RitzSpace space = s->exchange->space;
  const size_t num_nodes = (size_t)(s->exchange->length / s->exchange->num_comp);
  RitzMesh mesh = NULL;

  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(RitzMeshGetDimensions(mesh, &s->schwarz->dim, NULL));
  RITZ_TRY(RitzMeshGetNumElements(mesh, &s->schwarz->num_elem));
  RITZ_TRY(RitzSpaceGetDegree(space, &s->schwarz->degree));
  RITZ_TRY(RITZ_MALLOC(s->ceed, num_nodes, &s->sum));
  RITZ_TRY(RITZ_MALLOC(s->ceed, num_nodes, &s->count));
  if (s->schwarz->num_elem == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_separables_create(s->ceed, s->call, space, RITZ_SCHWARZ_ELEMENTS, NULL, &s->separables));
  RITZ_TRY(create_pieces(s, &s->separables.set[0], pieces));
  return ritz_separables_sum_diagonals(s->ceed, &s->separables, s->sum, s->count);
}

// ---- What parts add up ----

static int copy_sums(const Setup *s, bool to_vector, CeedVector v) {
  CeedScalar *x = NULL;

  RITZ_TRY(CeedVectorGetArray(v, CEED_MEM_HOST, &x));
  for (CeedSize i = 0; i < v->length / 2; i++) {
    if (to_vector) {
      x[2 * i] = (CeedScalar)s->sum[i];
      x[2 * i + 1] = (CeedScalar)s->count[i];
    } else {
      s->sum[i] = (double)x[2 * i];
      s->count[i] = (int32_t)x[2 * i + 1];
    }
  }
  return CeedVectorRestoreArray(v, &x);
}

// Ghosts have no elements then.
static int exchange_sums(Setup *s) {
  const RitzExchange e = s->exchange;
  RitzExchange of_sums = NULL;
  CeedVector v = NULL;

  RITZ_TRY(ritz_exchange_create(e->space, 2, s->ceed, &e->base, CEED_SCALAR_TYPE, &of_sums));
  int ierr = CeedVectorCreate(s->ceed, of_sums->length, &v);

  if (!ierr) ierr = CeedVectorSetValue(v, 0);
  if (!ierr) ierr = copy_sums(s, true, v);
  if (!ierr) ierr = RitzExchangeRun(of_sums, RITZ_EXCHANGE_TO_OWNERS, v);
  if (!ierr) ierr = copy_sums(s, false, v);
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&v));
  return ritz_first_error(ierr, RitzExchangeDestroy(&of_sums));
}

static int create_scale(Setup *s) {
  RITZ_TRY(exchange_sums(s));
  RITZ_TRY(ritz_schwarz_create_share(s->ceed, s->precision, true, s->exchange->length / s->exchange->num_comp,
                                     s->sum, s->count, &s->schwarz->share));
  RITZ_TRY(RitzVectorCreate(s->ceed, s->exchange->length, s->precision, &s->schwarz->scale));
  return renew_scale(s->call, s->schwarz);
}

// ---- All of it ----

static int prepare_passes(const Setup *s) {
  const RitzPassForm forms[] = {ritz_pass_form(&ritz_schwarz_scale_into, s->precision),
                                ritz_pass_form(&ritz_schwarz_scale_in_place, s->precision)};

  return ritz_passes_prepare(s->ceed, 2, forms);
}

// Applies this part's operators to zero once, so that its kernels are loaded. Some drivers wait for all
// devices of the process meanwhile, so no device may wait for messages of a part that loads one.
static int load_kernels(const Setup *s, CeedOperator pieces[2], CeedVector z) {
  const PartSchwarz *schwarz = s->schwarz;

  RITZ_TRY(CeedVectorSetValue(z, 0));
  RITZ_TRY(
      ritz_pass_run(&ritz_schwarz_scale_into, (CeedVector[]){schwarz->scale, z, schwarz->work}, NULL, NULL));
  RITZ_TRY(RitzVectorSetEntries(schwarz->work, schwarz->constraints, 0));
  if (pieces[0]) RITZ_TRY(CeedOperatorApply(pieces[0], schwarz->work, z, CEED_REQUEST_IMMEDIATE));
  if (pieces[1])
    RITZ_TRY((pieces[0] ? CeedOperatorApplyAdd : CeedOperatorApply)(pieces[1], schwarz->work, z,
                                                                    CEED_REQUEST_IMMEDIATE));
  return ritz_pass_run(&ritz_schwarz_scale_in_place, (CeedVector[]){schwarz->scale, z}, NULL, NULL);
}

static int finish_part_schwarz(const Setup *s, CeedOperator pieces[2]) {
  const CeedSize length = s->exchange->length;
  CeedVector z = NULL;

  RITZ_TRY(prepare_passes(s));
  RITZ_TRY(RitzVectorCreate(s->ceed, length, s->precision, &s->schwarz->work));
  RITZ_TRY(RitzPartOperatorCreate(s->exchange, pieces[0], pieces[1], &s->schwarz->inverses));
  RITZ_TRY(RitzVectorCreate(s->ceed, length, s->precision, &z));
  const int ierr = load_kernels(s, pieces, z);

  return ritz_first_error(ierr, CeedVectorDestroy(&z));
}

static int fill_part_schwarz(Setup *s, RitzIndices constraints) {
  CeedOperator pieces[2] = {NULL, NULL};
  int ierr;

  RITZ_TRY_CLEANUP(RitzIndicesReferenceCopy(constraints, &s->schwarz->constraints));
  RITZ_TRY_CLEANUP(ritz_part_agree(s->call, name, s->exchange, find_elements(s, pieces)));
  RITZ_TRY_CLEANUP(create_scale(s));
  RITZ_TRY_CLEANUP(ritz_part_agree(s->call, name, s->exchange, finish_part_schwarz(s, pieces)));
cleanup:
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&pieces[0]));
  return ritz_first_error(ierr, CeedOperatorDestroy(&pieces[1]));
}

int ritz_part_schwarz_create(const char *call, RitzPartOperator op, RitzIndices constraints,
                             CeedScalarType precision, RitzPreconditioner *pc) {
  const RitzExchange e = ritz_part_operator_pieces(op, NULL);
  Setup s = {.call = call, .ceed = e->ceed, .op = op, .exchange = e, .precision = precision};

  RITZ_TRY(RITZ_CALLOC(s.ceed, 1, &s.schwarz));
  s.schwarz->op = op;
  int ierr = fill_part_schwarz(&s, constraints);

  if (!ierr)
    ierr = ritz_preconditioner_create(s.ceed, call, e->length, precision, &methods, s.schwarz, true, pc);
  ritz_separables_clear(&s.separables);
  RITZ_FREE(&s.sum);
  RITZ_FREE(&s.count);
  return ierr ? ritz_first_error(ierr, free_schwarz(s.schwarz)) : CEED_ERROR_SUCCESS;
}
