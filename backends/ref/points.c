// SPDX-License-Identifier: BSD-2-Clause
// Evaluation of a tensor basis at arbitrary points: nodes -> coefficients of Chebyshev polynomials of the
// first kind (exactly the polynomial through the basis' values at its quadrature points), then one weight per
// coefficient and point.
#include "backends/ref/points.h"

#include "backends/ref/ref.h"
#include "fe/fe.h"

int ritz_ref_points_open(CeedBasis basis, RitzRefPoints *p) {
  Ceed ceed = basis->obj.ceed;
  *p = (RitzRefPoints){.basis = basis};
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)basis->Q_1d * (size_t)basis->P_1d, &p->to_chebyshev));
  RITZ_TRY(CeedBasisGetChebyshevInterp1D(basis, p->to_chebyshev));
  RITZ_TRY(RITZ_MALLOC(ceed, 2 * (size_t)basis->Q_1d * (size_t)basis->dim, &p->values));
  p->derivatives = p->values + (CeedSize)basis->Q_1d * basis->dim;
  CeedSize num_coefficients = (CeedSize)basis->num_comp * basis->Q;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(num_coefficients + basis->Q + ritz_ref_basis_work_size(basis)),
                       &p->coefficients));
  p->weights = p->coefficients + num_coefficients;
  p->work = p->weights + basis->Q;
  return CEED_ERROR_SUCCESS;
}

void ritz_ref_points_close(RitzRefPoints *p) {
  RITZ_FREE(&p->to_chebyshev);
  RITZ_FREE(&p->values);
  RITZ_FREE(&p->coefficients);
}

// Chebyshev polynomials and their derivatives at point i of n; x [dim][n].
static void tabulate(RitzRefPoints *p, CeedInt n, const CeedScalar *x, CeedInt i) {
  CeedInt Q_1d = p->basis->Q_1d;
  for (CeedInt d = 0; d < p->basis->dim; d++) {
    ritz_fe_chebyshev(Q_1d, (double)x[(CeedSize)d * n + i], p->values + d * Q_1d, p->derivatives + d * Q_1d);
  }
}

// weights[k] = product of the polynomials of coefficient k, the one in direction `differentiated` (-1: none)
// differentiated.
static void set_weights(RitzRefPoints *p, CeedInt differentiated) {
  CeedInt Q_1d = p->basis->Q_1d;
  for (CeedInt k = 0; k < p->basis->Q; k++) {
    double product = 1;
    for (CeedInt d = 0, rest = k; d < p->basis->dim; d++, rest /= Q_1d) {
      product *= (d == differentiated ? p->derivatives : p->values)[d * Q_1d + rest % Q_1d];
    }
    p->weights[k] = (CeedScalar)product;
  }
}

// One component of the field at one point, forward or transposed.
static void evaluate_at_point(RitzRefPoints *p, bool transposes, CeedScalar *coefficients,
                              const CeedScalar *u, CeedScalar *v) {
  CeedScalar sum = 0;
  for (CeedInt k = 0; k < p->basis->Q; k++) {
    if (transposes)
      coefficients[k] += p->weights[k] * *u;
    else
      sum += p->weights[k] * coefficients[k];
  }
  if (!transposes) *v = sum;
}

void ritz_ref_points_element(RitzRefPoints *p, CeedTransposeMode t_mode, CeedEvalMode mode, CeedInt n,
                             const CeedScalar *x, const CeedScalar *u, CeedScalar *v) {
  CeedBasis basis = p->basis;
  bool transposes = t_mode == CEED_TRANSPOSE;
  CeedInt nc = basis->num_comp, Q = basis->Q, num_directions = mode == CEED_EVAL_GRAD ? basis->dim : 1;
  const RitzRefTables tables = {p->to_chebyshev, NULL, -1, -1};
  if (!transposes) ritz_ref_tensor_evaluate(basis, nc, false, &tables, u, p->coefficients, p->work);
  for (CeedSize k = 0; transposes && k < (CeedSize)nc * Q; k++) p->coefficients[k] = 0;
  for (CeedInt i = 0; i < n; i++) {
    tabulate(p, n, x, i);
    for (CeedInt d = 0; d < num_directions; d++) {
      set_weights(p, mode == CEED_EVAL_GRAD ? d : -1);
      for (CeedInt c = 0; c < nc; c++) {
        CeedSize at = ((CeedSize)d * nc + c) * n + i;
        evaluate_at_point(p, transposes, p->coefficients + (CeedSize)c * Q, u + (transposes ? at : 0),
                          v + (transposes ? 0 : at));
      }
    }
  }
  if (transposes) ritz_ref_tensor_evaluate(basis, nc, true, &tables, p->coefficients, v, p->work);
}

int ritz_ref_basis_apply_at_points(CeedBasis basis, const RitzBasisAction *action, const CeedInt *num_points,
                                   const CeedScalar *x, const CeedScalar *u, CeedScalar *v) {
  CeedInt n = num_points[0];
  if (action->eval_mode == CEED_EVAL_WEIGHT) {
    for (CeedInt i = 0; i < n; i++) v[i] = 1;
    return CEED_ERROR_SUCCESS;
  }
  RitzRefPoints p;
  int ierr = ritz_ref_points_open(basis, &p);
  if (!ierr) ritz_ref_points_element(&p, action->t_mode, action->eval_mode, n, x, u, v);
  ritz_ref_points_close(&p);
  return ierr;
}
