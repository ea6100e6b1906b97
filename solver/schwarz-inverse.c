// SPDX-License-Identifier: BSD-2-Clause
// Inverses of all subdomains of Schwarz methods as operators: sum_K E_K^T B_K^-1 E_K, fused as any other.
// They have the eigenvectors as basis: points are modes, where coefficients are divided by sums of
// eigenvalues. These are a field of degree one in lambda, with 2^dim numbers a subdomain. Called by
// solver/schwarz.c.
#include "core/qfunction-clones.h"

#include <ritz/jit-source/geometry/separable.h>
#include <ritz/precision.h>
#include <string.h>

#include "solver/schwarz.h"

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

// ---- Bases and numbers ----

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

// Coefficients [num][2^dim] of 1, lambda_0, lambda_1, lambda_0 lambda_1 and so on: the last are zero.
static int create_sums(Ceed ceed, const RitzSeparable *s, CeedInt first, CeedInt num,
                       CeedScalarType precision, CeedElemRestriction *rstr, CeedVector *sums) {
  const CeedInt size = 1 << s->dim, strides[3] = {1, size, size};
  const CeedSize length = (CeedSize)num * size;
  double *values = NULL;

  RITZ_TRY(CeedElemRestrictionCreateStrided(ceed, num, size, 1, length, strides, rstr));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)length, &values));
  for (CeedInt e = 0; e < num; e++) {
    const double *c = s->factors + (CeedSize)(first + e) * (s->dim + 1);

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

// ---- Operators ----

// Objects that the operators of all colours share, owned: they have one plan, hence one kernel.
typedef struct {
  Ceed ceed; // borrowed
  const char *name;
  const RitzSeparable *s;
  CeedScalarType precision;
  RitzOperatorUse use;
  CeedQFunction qf;
  CeedBasis basis, basis_sums;
} Parts;

static int create_parts(Parts *p) {
  RITZ_TRY(create_qfunction(p->ceed, p->s->num_comp, &p->qf));
  RITZ_TRY(create_mode_basis(p->ceed, p->s, p->s->num_comp, &p->basis));
  return create_sum_basis(p->ceed, p->s, &p->basis_sums);
}

static void destroy_parts(Parts *p) {
  CeedQFunctionDestroy(&p->qf);
  CeedBasisDestroy(&p->basis);
  CeedBasisDestroy(&p->basis_sums);
}

// Restriction to all subdomains, or to some that follow each other.
static int create_restriction(const Parts *p, CeedInt first, CeedInt num, CeedElemRestriction *rstr) {
  CeedElemRestriction all = p->s->rstr;

  if (num == p->s->num_domains) return CeedElemRestrictionReferenceCopy(all, rstr);
  return CeedElemRestrictionCreate(p->ceed, num, p->s->num_nodes, p->s->num_comp, 1, all->l_size,
                                   CEED_MEM_HOST, CEED_COPY_VALUES,
                                   all->offsets + (CeedSize)first * p->s->num_nodes, rstr);
}

static int create_inverse(const Parts *p, CeedInt first, CeedInt num, CeedOperator *op) {
  CeedElemRestriction rstr = NULL, rstr_sums = NULL;
  CeedVector sums = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(create_restriction(p, first, num, &rstr));
  RITZ_TRY_CLEANUP(create_sums(p->ceed, p->s, first, num, p->precision, &rstr_sums, &sums));
  RITZ_TRY_CLEANUP(CeedOperatorCreate(p->ceed, p->qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  RITZ_TRY_CLEANUP(CeedOperatorSetName(*op, p->name));
  RITZ_TRY_CLEANUP(RitzOperatorSetPrecision(*op, p->precision));
  RITZ_TRY_CLEANUP(RitzOperatorSetUse(*op, p->use));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(*op, "r", rstr, p->basis, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(*op, "sum", rstr_sums, p->basis_sums, sums));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(*op, "z", rstr, p->basis, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorCheckReady(*op));
cleanup:
  CeedElemRestrictionDestroy(&rstr);
  CeedElemRestrictionDestroy(&rstr_sums);
  CeedVectorDestroy(&sums);
  return ierr;
}

int ritz_schwarz_create_inverses(Ceed ceed, const char *name, const RitzSeparable *s,
                                 CeedScalarType precision, RitzOperatorUse use, CeedInt num,
                                 CeedOperator *ops) {
  Parts p = {.ceed = ceed, .name = name, .s = s, .precision = precision, .use = use};
  int ierr = create_parts(&p);

  for (CeedInt i = 0; i < num && !ierr; i++) {
    const CeedInt first = s->first ? s->first[i] : 0, end = s->first ? s->first[i + 1] : s->num_domains;
    ierr = create_inverse(&p, first, end - first, &ops[i]);
  }
  destroy_parts(&p);
  return ierr;
}
