// SPDX-License-Identifier: BSD-2-Clause
// Approximate inverses of element matrices by fast diagonalization (doc/ceed-api.md, Element inverses; Lynch,
// Rice, Thomas, Numerische Mathematik 6, 1964): eigenvectors X of the 1D stiffness K against the 1D mass M
// diagonalize sums of tensor products of both, and one number a_e per element scales them.
#include <limits.h>
#include <math.h>

#include "core/operator.h"
#include "fe/fe.h"

// ---- What is approximated ----

// The active inputs of the operator: basis and restriction of the first one, modes of all of them.
typedef struct {
  CeedBasis basis;          // borrowed
  CeedElemRestriction rstr; // borrowed
  bool has_interp, has_grad;
} ActiveInput;

static int find_active_input(CeedOperator op, ActiveInput *active) {
  Ceed ceed = op->obj.ceed;
  *active = (ActiveInput){.basis = NULL};
  for (CeedInt i = 0; i < op->num_in; i++) {
    CeedOperatorField f = op->in[i];
    if (f->vec != CEED_VECTOR_ACTIVE) continue;
    if (!active->basis) {
      active->basis = f->basis;
      active->rstr = f->rstr;
    }
    if (f->qf_field->eval_mode == CEED_EVAL_INTERP) active->has_interp = true;
    if (f->qf_field->eval_mode == CEED_EVAL_GRAD) active->has_grad = true;
  }
  RITZ_REQUIRE(active->basis, ceed, CEED_ERROR_BACKEND,
               "CeedOperatorCreateFDMElementInverse: the operator has no active input");
  RITZ_REQUIRE(active->basis != CEED_BASIS_NONE && active->basis->is_tensor, ceed, CEED_ERROR_BACKEND,
               "CeedOperatorCreateFDMElementInverse: needs a tensor-product basis");
  return CEED_ERROR_SUCCESS;
}

// ---- One direction ----

// sum_q a[q][i] weights[q] a[q][j] of a table a [Q][P].
static void weighted_square(CeedBasis b, const CeedScalar *a, double *square) {
  for (CeedInt i = 0; i < b->P_1d; i++) {
    for (CeedInt j = 0; j < b->P_1d; j++) {
      double sum = 0;
      for (CeedInt q = 0; q < b->Q_1d; q++) {
        sum += (double)a[(CeedSize)q * b->P_1d + i] * (double)b->q_weight[q] *
               (double)a[(CeedSize)q * b->P_1d + j];
      }
      square[(CeedSize)i * b->P_1d + j] = sum;
    }
  }
}

// X [P][P] with X^T M X = I and X^T K X = diag(lambda). K is made definite by a small multiple of I.
static int diagonalize(CeedBasis b, double *X, double *lambda) {
  Ceed ceed = b->obj.ceed;
  CeedInt P = b->P_1d;
  double shift = b->dim < 3 ? 1e-4 : 1e-6, *work = NULL;
  size_t size = (size_t)P * (size_t)P;
  RITZ_TRY(RITZ_MALLOC(ceed, 2 * size, &work));
  double *K = work, *M = work + size;
  weighted_square(b, b->grad_1d, K);
  weighted_square(b, b->interp_1d, M);
  for (CeedInt i = 0; i < P; i++) K[(CeedSize)i * P + i] += shift;
  int ierr = ritz_fe_simultaneous_diagonalization(ceed, K, M, X, lambda, P);
  RITZ_FREE(&work);
  return ierr;
}

// The basis whose interpolation is X^T: nodal values to coefficients of the eigenvectors.
static int create_basis(CeedBasis b, const double *X, CeedBasis *basis) {
  CeedInt P = b->P_1d;
  CeedScalar *table = NULL;
  RITZ_TRY(RITZ_MALLOC(b->obj.ceed, (size_t)P * (size_t)P, &table));
  for (CeedInt i = 0; i < P; i++) {
    for (CeedInt j = 0; j < P; j++) table[(CeedSize)i * P + j] = (CeedScalar)X[(CeedSize)j * P + i];
  }
  int ierr = CeedBasisCreateTensorH1(b->obj.ceed, b->dim, b->num_comp, P, P, table, NULL, NULL, NULL, basis);
  RITZ_FREE(&table);
  return ierr;
}

// ---- Scale of each element ----

// Entries of the assembled QFunction: num_comp numbers at each point of each element.
typedef struct {
  CeedVector values;        // counted
  CeedElemRestriction rstr; // counted
  CeedInt layout[3];
  double threshold; // entries up to this magnitude count as round-off
} Assembled;

static int assemble(CeedOperator op, Assembled *a) {
  CeedScalar largest;
  RITZ_TRY((op->qf_data->reuse
                ? CeedOperatorLinearAssembleQFunctionBuildOrUpdate
                : CeedOperatorLinearAssembleQFunction)(op, &a->values, &a->rstr, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY(CeedElemRestrictionGetLLayout(a->rstr, a->layout));
  RITZ_TRY(CeedVectorNorm(a->values, CEED_NORM_MAX, &largest));
  a->threshold = 100 * (double)CEED_EPSILON * (double)largest;
  return CEED_ERROR_SUCCESS;
}

static double point_weight(CeedBasis b, CeedInt q) {
  double weight = 1;
  for (CeedInt d = 0; d < b->dim; d++, q /= b->Q_1d) weight *= (double)b->q_weight[q % b->Q_1d];
  return weight;
}

// Mean over the entries of an element that are not round-off, each divided by the weight of its point; 1 if
// there is nothing to go by.
static double element_scale(const Assembled *a, const CeedScalar *values, CeedBasis b, CeedInt elem) {
  double sum = 0;
  CeedSize count = 0;
  for (CeedInt q = 0; q < b->Q; q++) {
    double weight = point_weight(b, q);
    for (CeedInt c = 0; c < a->rstr->num_comp; c++) {
      CeedSize at = (CeedSize)q * a->layout[0] + (CeedSize)c * a->layout[1] + (CeedSize)elem * a->layout[2];
      double value = (double)values[at];
      if (!(fabs(value) > a->threshold)) continue;
      sum += value / weight;
      count++;
    }
  }
  double mean = count ? sum / (double)count : 1;
  return mean != 0 ? mean : 1;
}

// ---- Factors 1 / (a_e s_n) ----

// s_n of a node, kept away from 0.
static double node_spectrum(const ActiveInput *active, const double *lambda, CeedInt node) {
  CeedBasis b = active->basis;
  double bound = b->P * (double)CEED_EPSILON, s = active->has_interp ? 1 : 0;
  for (CeedInt d = 0; d < b->dim && active->has_grad; d++, node /= b->P_1d) s += lambda[node % b->P_1d];
  return fabs(s) < bound ? bound : s;
}

// factors [num_elem][num_comp][P]
static void fill_factors(const ActiveInput *active, const double *lambda, const Assembled *a,
                         const CeedScalar *values, CeedScalar *factors) {
  CeedBasis b = active->basis;
  for (CeedInt elem = 0; elem < active->rstr->num_elem; elem++) {
    double scale = element_scale(a, values, b, elem);
    CeedScalar *factor = factors + (CeedSize)elem * b->num_comp * b->P;
    for (CeedInt n = 0; n < b->P; n++) {
      for (CeedInt c = 0; c < b->num_comp; c++) {
        factor[(CeedSize)c * b->P + n] = (CeedScalar)(1 / (scale * node_spectrum(active, lambda, n)));
      }
    }
  }
}

static int create_factors(CeedOperator op, const ActiveInput *active, const double *lambda,
                          CeedElemRestriction rstr, CeedVector *factors) {
  Assembled a = {.values = NULL};
  const CeedScalar *values = NULL;
  CeedScalar *array;
  int ierr;
  RITZ_TRY(CeedElemRestrictionCreateVector(rstr, factors, NULL));
  if (active->rstr->num_elem == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY_CLEANUP(assemble(op, &a));
  RITZ_TRY_CLEANUP(CeedVectorGetArrayRead(a.values, CEED_MEM_HOST, &values));
  RITZ_TRY_CLEANUP(CeedVectorGetArrayWrite(*factors, CEED_MEM_HOST, &array));
  fill_factors(active, lambda, &a, values, array);
  ierr = CeedVectorRestoreArray(*factors, &array);
cleanup:
  if (values) CeedVectorRestoreArrayRead(a.values, &values);
  CeedVectorDestroy(&a.values);
  CeedElemRestrictionDestroy(&a.rstr);
  return ierr;
}

static int create_factor_restriction(const ActiveInput *active, CeedElemRestriction *rstr) {
  CeedBasis b = active->basis;
  CeedInt num_elem = active->rstr->num_elem;
  CeedSize elem_length = (CeedSize)b->num_comp * b->P;
  RITZ_REQUIRE(elem_length <= INT_MAX, b->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "CeedOperatorCreateFDMElementInverse: %" CeedSize_FMT
               " factors per element exceed 32-bit strides",
               elem_length);
  const CeedInt strides[3] = {1, b->P, (CeedInt)elem_length};
  return CeedElemRestrictionCreateStrided(active->rstr->obj.ceed, num_elem, b->P, b->num_comp,
                                          num_elem * elem_length, strides, rstr);
}

// ---- The operator ----

static int create_inverse(CeedOperator op, const ActiveInput *active, const double *X, const double *lambda,
                          CeedOperator *fdm_inv) {
  CeedBasis basis = NULL;
  CeedElemRestriction rstr = NULL;
  CeedVector factors = NULL;
  int ierr;
  RITZ_TRY_CLEANUP(create_basis(active->basis, X, &basis));
  RITZ_TRY_CLEANUP(create_factor_restriction(active, &rstr));
  RITZ_TRY_CLEANUP(create_factors(op, active, lambda, rstr, &factors));
  const RitzScale scale = {active->rstr, rstr, active->rstr, basis, basis, factors, op->precision};
  ierr = ritz_operator_create_scale(op->obj.ceed, &scale, fdm_inv);
cleanup:
  CeedVectorDestroy(&factors);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  return ierr;
}

int CeedOperatorCreateFDMElementInverse(CeedOperator op, CeedOperator *fdm_inv, CeedRequest *request) {
  ActiveInput active;
  double *X = NULL;
  RITZ_TRY(ritz_operator_require_composite(op, __func__, false));
  RITZ_ARGUMENT(op, fdm_inv);
  RITZ_TRY(CeedOperatorCheckReady(op));
  RITZ_REQUIRE(!op->is_at_points, op->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: not defined for an operator at points", __func__);
  RITZ_TRY(find_active_input(op, &active));
  size_t P = (size_t)active.basis->P_1d;
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, P * P + P, &X));
  double *lambda = X + P * P;
  int ierr = diagonalize(active.basis, X, lambda);
  if (!ierr) ierr = create_inverse(op, &active, X, lambda, fdm_inv);
  RITZ_FREE(&X);
  return ierr ? ierr : ritz_request_complete(request);
}
