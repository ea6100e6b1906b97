// SPDX-License-Identifier: BSD-2-Clause
// CeedBasis: tables that come from others by least squares or interpolation at the quadrature points
// (doc/ceed-api.md, Bases). Small matrices, computed in double.
#include <limits.h>
#include <math.h>

#include "core/core.h"
#include "fe/fe.h"

// ---- Projection ----

// Data of a projection: values and derivatives at the same points, [rows][P_from] or [rows][P_to].
typedef struct {
  CeedSize rows;
  CeedInt P_from, P_to, num_grad;            // num_grad: matrices of derivatives
  const CeedScalar *interp_from, *grad_from; // borrowed; grad_from [num_grad][rows][P_from]
  const CeedScalar *interp_to;               // borrowed
} ProjectionTables;

static int tensor_tables(CeedBasis from, CeedBasis to, ProjectionTables *t) {
  RITZ_REQUIRE(from->dim == to->dim && from->Q_1d == to->Q_1d, to->obj.ceed, CEED_ERROR_DIMENSION,
               "CeedBasisCreateProjection: tensor bases of %" CeedInt_FMT " and %" CeedInt_FMT
               " dimensions with %" CeedInt_FMT " and %" CeedInt_FMT " points per direction do not match",
               from->dim, to->dim, from->Q_1d, to->Q_1d);
  *t = (ProjectionTables){from->Q_1d, from->P_1d, to->P_1d, 1, from->interp_1d, from->grad_1d, to->interp_1d};
  return CEED_ERROR_SUCCESS;
}

// At most one of the two is a tensor basis; it contributes its full matrices.
static int dense_tables(CeedBasis from, CeedBasis to, ProjectionTables *t) {
  CeedInt topology_dim;
  CeedSize rows_from = (CeedSize)from->Q * ritz_basis_num_q_comp(from, CEED_EVAL_INTERP);
  CeedSize rows_to = (CeedSize)to->Q * ritz_basis_num_q_comp(to, CEED_EVAL_INTERP);
  RITZ_TRY(CeedBasisGetTopologyDimension(from->topology, &topology_dim));
  RITZ_REQUIRE(rows_from == rows_to && rows_to <= INT_MAX && topology_dim == from->dim, to->obj.ceed,
               CEED_ERROR_DIMENSION,
               "CeedBasisCreateProjection: bases of %" CeedInt_FMT " and %" CeedInt_FMT
               " dimensions with %" CeedSize_FMT " and %" CeedSize_FMT " values at the points do not match",
               from->dim, to->dim, rows_from, rows_to);
  bool has_grad = from->space == CEED_FE_SPACE_H1;
  *t = (ProjectionTables){.rows = rows_to, .P_from = from->P, .P_to = to->P};
  t->num_grad = has_grad ? from->dim : 0;
  RITZ_TRY(CeedBasisGetInterp(to, &t->interp_to));
  RITZ_TRY(CeedBasisGetInterp(from, &t->interp_from));
  return has_grad ? CeedBasisGetGrad(from, &t->grad_from) : CEED_ERROR_SUCCESS;
}

// C [n][k] = A [n][m] B [m][k]; what is round-off of the tables becomes 0.
static void multiply_and_clean(CeedSize n, CeedSize m, CeedSize k, const double *A, const CeedScalar *B,
                               CeedScalar *C) {
  for (CeedSize i = 0; i < n; i++) {
    for (CeedSize j = 0; j < k; j++) {
      double sum = 0;
      for (CeedSize l = 0; l < m; l++) sum += A[i * m + l] * (double)B[l * k + j];
      C[i * k + j] = fabs(sum) < 10 * CEED_EPSILON ? 0 : (CeedScalar)sum;
    }
  }
}

// projected [1 + num_grad][P_to][P_from]: values, then derivatives.
static int project(Ceed ceed, const ProjectionTables *t, CeedScalar *projected) {
  CeedSize size_to = t->rows * t->P_to, size_from = t->rows * t->P_from;
  double *to = NULL, *pinv = NULL;
  int ierr;
  RITZ_REQUIRE(t->rows >= t->P_to, ceed, CEED_ERROR_UNSUPPORTED,
               "CeedBasisCreateProjection: %" CeedSize_FMT " values at points do not determine %" CeedInt_FMT
               " nodes",
               t->rows, t->P_to);
  RITZ_TRY_CLEANUP(ritz_widen(ceed, size_to, t->interp_to, &to));
  RITZ_TRY_CLEANUP(ritz_widen(ceed, size_to, NULL, &pinv));
  RITZ_TRY_CLEANUP(ritz_fe_pseudoinverse(ceed, to, (int)t->rows, t->P_to, pinv));
  for (CeedInt m = 0; m <= t->num_grad; m++) {
    const CeedScalar *from = m == 0 ? t->interp_from : t->grad_from + (m - 1) * size_from;
    multiply_and_clean(t->P_to, t->rows, t->P_from, pinv, from,
                       projected + (CeedSize)m * t->P_to * t->P_from);
  }
cleanup:
  RITZ_FREE(&to);
  RITZ_FREE(&pinv);
  return ierr;
}

int CeedBasisCreateProjection(CeedBasis basis_from, CeedBasis basis_to, CeedBasis *basis_project) {
  RITZ_HANDLE(basis_from, basis_to);
  RITZ_ARGUMENT(basis_from, basis_to);
  RITZ_ARGUMENT(basis_from, basis_project);
  CeedBasis from = basis_from, to = basis_to;
  Ceed ceed = to->obj.ceed;
  RITZ_REQUIRE(from->Q == to->Q, ceed, CEED_ERROR_DIMENSION,
               "%s: the bases have %" CeedInt_FMT " and %" CeedInt_FMT " quadrature points, needed the same",
               __func__, from->Q, to->Q);
  RITZ_REQUIRE(from->space == to->space, ceed, CEED_ERROR_MINOR,
               "%s: the bases are in an %s and an %s, needed the same", __func__, CeedFESpaces[from->space],
               CeedFESpaces[to->space]);

  bool is_tensor = from->is_tensor && to->is_tensor;
  ProjectionTables t;
  RITZ_TRY((is_tensor ? tensor_tables : dense_tables)(from, to, &t));
  CeedScalar *projected = NULL;
  size_t size = (size_t)t.P_to * (size_t)t.P_from;
  RITZ_TRY(RITZ_MALLOC(ceed, (1 + (size_t)t.num_grad) * size, &projected));
  const CeedScalar *grad = t.num_grad ? projected + size : NULL;
  int ierr = project(ceed, &t, projected);
  if (!ierr) {
    ierr = is_tensor ? CeedBasisCreateTensorH1(ceed, to->dim, from->num_comp, t.P_from, t.P_to, projected,
                                               grad, NULL, NULL, basis_project)
                     : CeedBasisCreateH1(ceed, from->topology, from->num_comp, t.P_from, t.P_to, projected,
                                         grad, NULL, NULL, basis_project);
  }
  RITZ_FREE(&projected);
  return ierr;
}

// ---- Collocated gradient ----

static int require_tensor(CeedBasis basis, const char *call) {
  RITZ_REQUIRE(basis->is_tensor, basis->obj.ceed, CEED_ERROR_MINOR, "%s: needs a tensor-product basis", call);
  return CEED_ERROR_SUCCESS;
}

// colo_grad_1d [Q][Q] = grad_1d [Q][P] pinv [P][Q]
int CeedBasisGetCollocatedGrad(CeedBasis basis, CeedScalar *colo_grad_1d) {
  RITZ_HANDLE(basis);
  RITZ_ARGUMENT(basis, colo_grad_1d);
  RITZ_TRY(require_tensor(basis, __func__));
  Ceed ceed = basis->obj.ceed;
  CeedInt P = basis->P_1d, Q = basis->Q_1d;
  double *interp = NULL, *pinv = NULL;
  int ierr;
  RITZ_REQUIRE(Q >= P, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %" CeedInt_FMT " points per direction do not determine %" CeedInt_FMT " nodes", __func__,
               Q, P);
  RITZ_TRY_CLEANUP(ritz_widen(ceed, (CeedSize)Q * P, basis->interp_1d, &interp));
  RITZ_TRY_CLEANUP(ritz_widen(ceed, (CeedSize)Q * P, NULL, &pinv));
  RITZ_TRY_CLEANUP(ritz_fe_pseudoinverse(ceed, interp, Q, P, pinv));
  for (CeedInt q = 0; q < Q; q++) {
    for (CeedInt k = 0; k < Q; k++) {
      double sum = 0;
      for (CeedInt p = 0; p < P; p++) {
        sum += (double)basis->grad_1d[(CeedSize)q * P + p] * pinv[(CeedSize)p * Q + k];
      }
      colo_grad_1d[(CeedSize)q * Q + k] = (CeedScalar)sum;
    }
  }
cleanup:
  RITZ_FREE(&interp);
  RITZ_FREE(&pinv);
  return ierr;
}

// ---- Chebyshev coefficients ----

// Solves T C = interp_1d, T[q][k] = T_k(q_ref[q]).
static int make_chebyshev(CeedBasis basis) {
  Ceed ceed = basis->obj.ceed;
  CeedInt P = basis->P_1d, Q = basis->Q_1d;
  double *T = NULL, *C = NULL;
  CeedScalar *made = NULL;
  int ierr;
  RITZ_TRY_CLEANUP(ritz_widen(ceed, (CeedSize)Q * Q, NULL, &T));
  RITZ_TRY_CLEANUP(ritz_widen(ceed, (CeedSize)Q * P, basis->interp_1d, &C));
  for (CeedInt q = 0; q < Q; q++) ritz_fe_chebyshev(Q, (double)basis->q_ref[q], T + (CeedSize)q * Q, NULL);
  RITZ_TRY_CLEANUP(ritz_fe_solve(ceed, Q, T, P, C));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)Q * (size_t)P, &made));
  ritz_narrow((CeedSize)Q * P, C, made);
  basis->chebyshev_1d = made;
cleanup:
  RITZ_FREE(&T);
  RITZ_FREE(&C);
  return ierr;
}

int CeedBasisGetChebyshevInterp1D(CeedBasis basis, CeedScalar *chebyshev_interp_1d) {
  RITZ_HANDLE(basis);
  RITZ_ARGUMENT(basis, chebyshev_interp_1d);
  RITZ_TRY(require_tensor(basis, __func__));
  if (!basis->chebyshev_1d) RITZ_TRY(make_chebyshev(basis));
  for (CeedSize i = 0; i < (CeedSize)basis->Q_1d * basis->P_1d; i++) {
    chebyshev_interp_1d[i] = basis->chebyshev_1d[i];
  }
  return CEED_ERROR_SUCCESS;
}
