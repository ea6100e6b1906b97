// SPDX-License-Identifier: BSD-2-Clause
// Element-wise Schwarz method as a preconditioner: additive, the elements are the subdomains, solved by fast
// diagonalization of separable matrices B_K (separable.h). Called by programs and by multigrid.
//
//     z = W sum_K E_K^T D B_K^-1 D E_K W r,   W = 1 / sqrt(n), n: elements of a node,
//     D = sqrt(mean over the elements of a node of diag(B_K) / diag(A))
//
// W and D make one vector s, zero on constrained entries, which may be multiplied before and after the
// elements are taken apart: z = s (sum_K E_K^T B_K^-1 E_K (s r)) is two passes over vectors and one operator,
// a fused kernel as any other. It has the eigenvectors as basis: its points are modes, where coefficients
// are divided by sums of eigenvalues. These are a field of degree one in lambda, with 2^dim numbers an
// element.
//
// D makes the method indifferent to coefficients that vary between elements: it does not change when a B_K is
// multiplied by a number. With D of every element by itself, sqrt(diag(B_K) / diag(A)), nodes would have a
// number for each of their elements; the mean serves as well (within an iteration of multigrid on the meshes
// of the design's tables). Constrained nodes stay in B_K: removing their rows would take tables of an
// element's own, and gains nothing.
#include "core/qfunction-clones.h"

#include <math.h>
#include <ritz/jit-source/geometry/separable.h>
#include <ritz/operator.h>
#include <string.h>

#include "core/ranges.h"
#include "core/vector-pass.h"
#include "solver/preconditioner.h"
#include "solver/separable.h"

typedef struct {
  CeedOperator inverse;    // owned: sum_K E_K^T B_K^-1 E_K
  CeedVector scale, work;  // owned: s; s r
  RitzIndices constraints; // counted
  CeedInt degree, num_elem, num_factors;
  double anisotropy;
} Schwarz;

// ---- Vectors of either precision ----

static int fill_vector(CeedVector vec, const double *values) {
  void *array = NULL;

  RITZ_TRY(ritz_vector_lock(vec, RITZ_ACCESS_WRITE, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < vec->length; i++) {
    if (vec->precision == CEED_SCALAR_FP32)
      ((float *)array)[i] = (float)values[i];
    else
      ((double *)array)[i] = values[i];
  }
  return ritz_vector_unlock(vec, RITZ_ACCESS_WRITE, &array, CEED_ERROR_SUCCESS);
}

static int create_vector(Ceed ceed, CeedSize length, CeedScalarType precision, const double *values,
                         CeedVector *vec) {
  RITZ_TRY(RitzVectorCreate(ceed, length, precision, vec));
  return fill_vector(*vec, values);
}

// ---- The operator: inverses of all elements ----

// Values at the modes: sum_i X[i][mode] u_i.
static int create_mode_basis(Ceed ceed, const RitzSeparable *s, CeedInt num_comp, CeedBasis *basis) {
  CeedScalar *table = NULL;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)s->P * (size_t)s->P, &table));
  for (CeedInt m = 0; m < s->P; m++) {
    for (CeedInt i = 0; i < s->P; i++) table[m * s->P + i] = (CeedScalar)s->X[i * s->P + m];
  }
  const int ierr =
      CeedBasisCreateTensorH1(ceed, s->dim, num_comp, s->P, s->P, table, NULL, NULL, NULL, basis);
  RITZ_FREE(&table);
  return ierr;
}

// 1 and lambda at the modes.
static int create_sum_basis(Ceed ceed, const RitzSeparable *s, CeedBasis *basis) {
  CeedScalar *table = NULL;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(2 * s->P), &table));
  for (CeedInt m = 0; m < s->P; m++) {
    table[2 * m] = 1;
    table[2 * m + 1] = (CeedScalar)s->lambda[m];
  }
  const int ierr = CeedBasisCreateTensorH1(ceed, s->dim, 1, 2, s->P, table, NULL, NULL, NULL, basis);
  RITZ_FREE(&table);
  return ierr;
}

// Coefficients [num_elem][2^dim] of 1, lambda_0, lambda_1, lambda_0 lambda_1 and so on: the last are zero.
static int create_sums(Ceed ceed, const RitzSeparable *s, CeedScalarType precision, CeedElemRestriction *rstr,
                       CeedVector *sums) {
  const CeedInt size = 1 << s->dim, strides[3] = {1, size, size};
  const CeedSize length = (CeedSize)s->num_elem * size;
  double *values = NULL;

  RITZ_TRY(CeedElemRestrictionCreateStrided(ceed, s->num_elem, size, 1, length, strides, rstr));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)length, &values));
  for (CeedInt e = 0; e < s->num_elem; e++) {
    const double *c = s->factors + (CeedSize)e * (s->dim + 1);

    values[(CeedSize)e * size] = c[s->dim];
    for (CeedInt d = 0; d < s->dim; d++) values[(CeedSize)e * size + (1 << d)] = c[d];
  }
  const int ierr = create_vector(ceed, length, precision, values, sums);
  RITZ_FREE(&values);
  return ierr;
}

static int set_context(CeedQFunction qf, CeedInt num_comp) {
  RitzGeometryContext data = {.num_comp = num_comp};
  CeedQFunctionContext ctx = NULL;

  RITZ_TRY(CeedQFunctionContextCreate(qf->obj.ceed, &ctx));
  int ierr = CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), &data);
  if (!ierr) ierr = CeedQFunctionSetContext(qf, ctx);
  if (!ierr) ierr = CeedQFunctionSetContextWritable(qf, false);
  CeedQFunctionContextDestroy(&ctx);
  return ierr;
}

static int create_qfunction(Ceed ceed, CeedInt num_comp, CeedQFunction *qf) {
  CeedQFunctionUser function = num_comp == 1   ? ritz_separable_1
                               : num_comp == 3 ? ritz_separable_3
                                               : ritz_separable_any;
  const char *source = num_comp == 1   ? ritz_separable_1_loc
                       : num_comp == 3 ? ritz_separable_3_loc
                                       : ritz_separable_any_loc;

  // Run-time compilers look the path up below the roots of the context: the build tree may be gone.
  RITZ_TRY(CeedQFunctionCreateInterior(ceed, 1, function, strstr(source, "ritz/jit-source"), qf));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "r", num_comp, CEED_EVAL_INTERP));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "sum", 1, CEED_EVAL_INTERP));
  RITZ_TRY(CeedQFunctionAddOutput(*qf, "z", num_comp, CEED_EVAL_INTERP));
  RITZ_TRY(CeedQFunctionSetUserFlopsEstimate(*qf, num_comp + 1));
  return set_context(*qf, num_comp);
}

// What the fields of the operator are made of, owned.
typedef struct {
  CeedQFunction qf;
  CeedElemRestriction rstr, rstr_sums;
  CeedBasis basis, basis_sums;
  CeedVector sums;
} Parts;

static void destroy_parts(Parts *p) {
  CeedQFunctionDestroy(&p->qf);
  CeedElemRestrictionDestroy(&p->rstr);
  CeedElemRestrictionDestroy(&p->rstr_sums);
  CeedBasisDestroy(&p->basis);
  CeedBasisDestroy(&p->basis_sums);
  CeedVectorDestroy(&p->sums);
}

static int create_parts(Ceed ceed, RitzSpace space, const RitzSeparable *s, CeedScalarType precision,
                        Parts *p) {
  CeedInt num_comp = 0;

  RITZ_TRY(RitzSpaceGetNumComponents(space, &num_comp));
  RITZ_TRY(create_qfunction(ceed, num_comp, &p->qf));
  RITZ_TRY(RitzSpaceCreateRestriction(space, ceed, &p->rstr));
  RITZ_TRY(create_mode_basis(ceed, s, num_comp, &p->basis));
  RITZ_TRY(create_sum_basis(ceed, s, &p->basis_sums));
  return create_sums(ceed, s, precision, &p->rstr_sums, &p->sums);
}

static int create_inverse(Ceed ceed, RitzSpace space, const RitzSeparable *s, CeedScalarType precision,
                          RitzOperatorUse use, CeedOperator *op) {
  Parts p = {.qf = NULL};
  int ierr;

  RITZ_TRY_CLEANUP(create_parts(ceed, space, s, precision, &p));
  RITZ_TRY_CLEANUP(CeedOperatorCreate(ceed, p.qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  RITZ_TRY_CLEANUP(CeedOperatorSetName(*op, "element-wise Schwarz"));
  RITZ_TRY_CLEANUP(RitzOperatorSetPrecision(*op, precision));
  RITZ_TRY_CLEANUP(RitzOperatorSetUse(*op, use));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(*op, "r", p.rstr, p.basis, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(*op, "sum", p.rstr_sums, p.basis_sums, p.sums));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(*op, "z", p.rstr, p.basis, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorCheckReady(*op));
cleanup:
  destroy_parts(&p);
  return ierr;
}

// ---- The scale s ----

// s^2 = (sum of diag(B_K) / n) / (n diag(A)), n the elements of the node.
typedef struct {
  CeedInt num_comp;
  CeedScalarType precision;
  double *sum;    // owned, [num_nodes]
  int32_t *count; // owned, [num_nodes]
  void *diagonal; // [num_nodes * num_comp] of the precision
  void *scale;    // likewise
  int64_t *bad;   // owned, [num_slots]: the first entry of a thread that makes no sense, or -1
} Scale;

static double diagonal_at(const Scale *s, int64_t i) {
  return s->precision == CEED_SCALAR_FP32 ? (double)((const float *)s->diagonal)[i]
                                          : ((const double *)s->diagonal)[i];
}

static void scale_range(void *data, int slot, int64_t first, int64_t count) {
  const Scale *s = data;

  for (int64_t i = first; i < first + count; i++) {
    const double value = diagonal_at(s, i);
    const double scale = sqrt(s->sum[i / s->num_comp] / value) / s->count[i / s->num_comp];
    const double kept = s->precision == CEED_SCALAR_FP32 ? (double)(float)scale : scale;

    if (!(value > 0 && kept > 0 && isfinite(kept)) && s->bad[slot] < 0) s->bad[slot] = i;
    if (s->precision == CEED_SCALAR_FP32)
      ((float *)s->scale)[i] = (float)scale;
    else
      ((double *)s->scale)[i] = scale;
  }
}

// CEED_ERROR_MAJOR names an entry of the diagonal that is no positive number, or too small or large for the
// precision.
static int fill_scale(CeedVector diagonal, const char *call, int num_slots, Scale *s) {
  CeedSize bad = -1;

  for (int slot = 0; slot < num_slots; slot++) s->bad[slot] = -1;
  RITZ_TRY(ritz_vector_lock(diagonal, RITZ_ACCESS_READ, CEED_MEM_HOST, &s->diagonal));
  const int ierr = ritz_run_ranges(diagonal->obj.ceed, diagonal->length, scale_range, s);
  for (int slot = 0; slot < num_slots && bad < 0; slot++) bad = s->bad[slot];
  const double value = bad < 0 ? 0 : diagonal_at(s, bad);
  RITZ_TRY(ritz_vector_unlock(diagonal, RITZ_ACCESS_READ, &s->diagonal, ierr));
  RITZ_REQUIRE(bad < 0, diagonal->obj.ceed, CEED_ERROR_MAJOR,
               "%s: entry %" CeedSize_FMT
               " of the operator's diagonal is %g, needs to be a positive finite number (constrain it, or "
               "use another preconditioner)",
               call, bad, value);
  return CEED_ERROR_SUCCESS;
}

// In the precision of the operator: its diagonal in another one would take a variant of it, with kernels.
// Constrained entries may be anything.
static int assemble_diagonal(CeedOperator op, RitzIndices constraints, CeedScalarType precision,
                             CeedVector *diagonal) {
  CeedSize n = 0;

  RITZ_TRY(CeedOperatorGetActiveVectorLengths(op, NULL, &n));
  RITZ_TRY(RitzVectorCreate(op->obj.ceed, n, precision, diagonal));
  RITZ_TRY(CeedOperatorLinearAssembleDiagonal(op, *diagonal, CEED_REQUEST_IMMEDIATE));
  return RitzVectorSetEntries(*diagonal, constraints, 1);
}

static int create_scale(CeedOperator op, const char *call, const RitzSeparable *separable,
                        CeedScalarType precision, Schwarz *schwarz) {
  Ceed ceed = op->obj.ceed;
  const CeedSize n = separable->rstr->l_size;
  const size_t num_nodes = (size_t)(n / separable->num_comp);
  Scale s = {.num_comp = separable->num_comp, .precision = precision};
  CeedVector diagonal = NULL;
  int num_slots = 1, ierr;

  RITZ_TRY(ritz_run_ranges_slots(ceed, &num_slots));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)num_slots, &s.bad));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, num_nodes, &s.sum));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, num_nodes, &s.count));
  RITZ_TRY_CLEANUP(ritz_separable_sum_diagonals(ceed, separable, s.sum, s.count));
  RITZ_TRY_CLEANUP(assemble_diagonal(op, schwarz->constraints, precision, &diagonal));
  RITZ_TRY_CLEANUP(RitzVectorCreate(ceed, n, precision, &schwarz->scale));
  RITZ_TRY_CLEANUP(ritz_vector_lock(schwarz->scale, RITZ_ACCESS_WRITE, CEED_MEM_HOST, &s.scale));
  ierr = fill_scale(diagonal, call, num_slots, &s);
  RITZ_TRY_CLEANUP(ritz_vector_unlock(schwarz->scale, RITZ_ACCESS_WRITE, &s.scale, ierr));
  RITZ_TRY_CLEANUP(RitzVectorSetEntries(schwarz->scale, schwarz->constraints, 0));
  RITZ_TRY_CLEANUP(RitzVectorCreate(ceed, n, precision, &schwarz->work));
cleanup:
  CeedVectorDestroy(&diagonal);
  RITZ_FREE(&s.sum);
  RITZ_FREE(&s.count);
  RITZ_FREE(&s.bad);
  return ierr;
}

// ---- The preconditioner ----

// w = s r
static const RitzPass scale_into = {
    .name = "schwarz_scale",
    .num_vectors = 3,
    .num_lines = 1,
    .line = {{.to = 2, .num_terms = 1, .term = {{.factor = RITZ_PASS_NONE, .x = 0, .y = 1}}}},
};
// z = s z
static const RitzPass scale_in_place = {
    .name = "schwarz_scale_in_place",
    .num_vectors = 2,
    .num_lines = 1,
    .line = {{.to = 1, .num_terms = 1, .term = {{.factor = RITZ_PASS_NONE, .x = 0, .y = 1}}}},
};

static int prepare_passes(Ceed ceed, CeedScalarType precision) {
  const RitzPassForm forms[] = {ritz_pass_form(&scale_into, precision),
                                ritz_pass_form(&scale_in_place, precision)};
  return ritz_passes_prepare(ceed, 2, forms);
}

// Constrained entries of r may be anything, even not a number.
static int apply_schwarz(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const Schwarz *s = pc->data;

  RITZ_TRY(ritz_pass_run(&scale_into, (CeedVector[]){s->scale, r, s->work}, NULL, NULL));
  RITZ_TRY(RitzVectorSetEntries(s->work, s->constraints, 0));
  RITZ_TRY(CeedOperatorApply(s->inverse, s->work, z, CEED_REQUEST_IMMEDIATE));
  return ritz_pass_run(&scale_in_place, (CeedVector[]){s->scale, z}, NULL, NULL);
}

static int view_schwarz(RitzPreconditioner pc, FILE *stream, int indent) {
  const Schwarz *s = pc->data;

  fprintf(stream,
          "%*selement-wise Schwarz by fast diagonalization: degree %" CeedInt_FMT ", %" CeedInt_FMT
          " elements, directions differ by up to %.3g\n",
          indent, "", s->degree, s->num_elem, s->anisotropy);
  return CEED_ERROR_SUCCESS;
}

static int64_t schwarz_bytes(RitzPreconditioner pc) {
  const Schwarz *s = pc->data;
  const int64_t num_sums = (int64_t)s->num_elem * s->num_factors;

  return (2 * (int64_t)pc->n + num_sums) * (int64_t)ritz_scalar_bytes(pc->precision);
}

static int schwarz_work(RitzPreconditioner pc, RitzSmoothingWork *work) {
  const Schwarz *s = pc->data;
  CeedSize flops = 0;

  RITZ_TRY(CeedOperatorGetFlopsEstimate(s->inverse, &flops));
  work->flops = (double)flops;
  return CEED_ERROR_SUCCESS;
}

static int free_schwarz(Schwarz *s) {
  int ierr = CeedOperatorDestroy(&s->inverse);

  ierr = ritz_first_error(ierr, CeedVectorDestroy(&s->scale));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&s->work));
  ierr = ritz_first_error(ierr, RitzIndicesDestroy(&s->constraints));
  RITZ_FREE(&s);
  return ierr;
}

static int destroy_schwarz(RitzPreconditioner pc) { return free_schwarz(pc->data); }

static const RitzPreconditionerMethods schwarz_methods = {.name = "element-wise Schwarz",
                                                          .apply = apply_schwarz,
                                                          .view = view_schwarz,
                                                          .bytes = schwarz_bytes,
                                                          .work = schwarz_work,
                                                          .destroy = destroy_schwarz};

static int check_length(CeedOperator op, const char *call, RitzSpace space, RitzIndices constraints) {
  CeedSize n = 0, l_size = 0;

  RITZ_TRY(ritz_operator_square_length(op, call, &n));
  RITZ_TRY(RitzSpaceGetSize(space, &l_size));
  RITZ_REQUIRE(n == l_size, op->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: the operator has vectors of %" CeedSize_FMT " entries, the space has %" CeedSize_FMT,
               call, n, l_size);
  return ritz_check_constraints(op->obj.ceed, call, constraints, n);
}

static int fill_schwarz(CeedOperator op, const char *call, RitzSpace space, const double *factors,
                        CeedScalarType precision, Schwarz *schwarz) {
  RitzOperatorUse use;
  RitzSeparable separable;
  int ierr;

  RITZ_TRY_CLEANUP(ritz_separable_create(op->obj.ceed, call, space, factors, &separable));
  schwarz->degree = separable.P - 1;
  schwarz->num_elem = separable.num_elem;
  schwarz->num_factors = 1 << separable.dim;
  schwarz->anisotropy = separable.anisotropy;
  RITZ_TRY_CLEANUP(RitzOperatorGetUse(op, &use));
  RITZ_TRY_CLEANUP(create_inverse(op->obj.ceed, space, &separable, precision, use, &schwarz->inverse));
  RITZ_TRY_CLEANUP(RitzOperatorsPrepare(1, &schwarz->inverse, NULL, true)); // while the rest is made
  RITZ_TRY_CLEANUP(create_scale(op, call, &separable, precision, schwarz));
cleanup:
  ritz_separable_clear(&separable);
  return ierr;
}

int RitzPreconditionerCreateElementSchwarz(CeedOperator op, RitzSpace space, const double *factors,
                                           RitzIndices constraints, RitzPreconditioner *pc) {
  const char *call = "RitzPreconditionerCreateElementSchwarz";
  CeedScalarType precision = CEED_SCALAR_TYPE;
  Schwarz *schwarz = NULL;
  int ierr;

  RITZ_HANDLE(op);
  Ceed ceed = op->obj.ceed;
  RITZ_ARGUMENT(ceed, space);
  RITZ_OPTIONAL(ceed, constraints);
  RITZ_REQUIRE(pc != NULL, ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'pc' is NULL", call);
  RITZ_TRY(check_length(op, call, space, constraints));
  RITZ_TRY(RitzOperatorGetPrecision(op, &precision));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &schwarz));
  if (constraints) RITZ_TRY_CLEANUP(RitzIndicesReferenceCopy(constraints, &schwarz->constraints));
  RITZ_TRY_CLEANUP(fill_schwarz(op, call, space, factors, precision, schwarz));
  RITZ_TRY_CLEANUP(prepare_passes(ceed, precision));
  RITZ_TRY_CLEANUP(ritz_preconditioner_create(ceed, call, schwarz->scale->length, precision, &schwarz_methods,
                                              schwarz, true, pc));
cleanup:
  return ierr ? ritz_first_error(ierr, free_schwarz(schwarz)) : CEED_ERROR_SUCCESS;
}
