// SPDX-License-Identifier: BSD-2-Clause
// The standard's names for small dense algebra (ceed/backend.h). fe/dense.c computes in
// double; here matrices of CeedScalar are converted there and back.
#include "core/core.h"
#include "fe/fe.h"

int ritz_widen(Ceed ceed, CeedSize n, const CeedScalar *from, double **to) {
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)n, to));
  for (CeedSize i = 0; from && i < n; i++) (*to)[i] = (double)from[i];
  return CEED_ERROR_SUCCESS;
}

void ritz_narrow(CeedSize n, const double *from, CeedScalar *to) {
  for (CeedSize i = 0; i < n; i++) to[i] = (CeedScalar)from[i];
}

int CeedQRFactorization(Ceed ceed, CeedScalar *mat, CeedScalar *tau, CeedInt m, CeedInt n) {
  double *a = NULL, *t = NULL;
  int ierr;
  RITZ_OPTIONAL(NULL, ceed);
  RITZ_ARGUMENT(ceed, mat);
  RITZ_ARGUMENT(ceed, tau);
  RITZ_REQUIRE(m >= 1 && n >= 1 && n <= m, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: needs at least as many rows as columns, found %" CeedInt_FMT " x %" CeedInt_FMT, __func__,
               m, n);
  RITZ_TRY_CLEANUP(ritz_widen(ceed, (CeedSize)m * n, mat, &a));
  RITZ_TRY_CLEANUP(ritz_widen(ceed, n, NULL, &t));
  RITZ_TRY_CLEANUP(ritz_fe_qr(ceed, a, t, m, n));
  ritz_narrow((CeedSize)m * n, a, mat);
  ritz_narrow(n, t, tau);
cleanup:
  RITZ_FREE(&a);
  RITZ_FREE(&t);
  return ierr;
}

// Entries of A lie at i*row + j*col; only these are read and written.
int CeedHouseholderApplyQ(CeedScalar *mat_A, const CeedScalar *mat_Q, const CeedScalar *tau,
                          CeedTransposeMode t_mode, CeedInt m, CeedInt n, CeedInt k, CeedInt row,
                          CeedInt col) {
  double *a = NULL, *q = NULL, *t = NULL;
  int ierr;
  RITZ_TRY_CLEANUP(ritz_widen(NULL, (CeedSize)m * n, NULL, &a));
  RITZ_TRY_CLEANUP(ritz_widen(NULL, (CeedSize)m * k, mat_Q, &q));
  RITZ_TRY_CLEANUP(ritz_widen(NULL, k, tau, &t));
  for (CeedInt i = 0; i < m; i++) {
    for (CeedInt j = 0; j < n; j++)
      a[(CeedSize)i * n + j] = (double)mat_A[(CeedSize)i * row + (CeedSize)j * col];
  }
  ritz_fe_householder_apply_q(a, q, t, t_mode, m, n, k, n, 1);
  for (CeedInt i = 0; i < m; i++) {
    for (CeedInt j = 0; j < n; j++)
      mat_A[(CeedSize)i * row + (CeedSize)j * col] = (CeedScalar)a[(CeedSize)i * n + j];
  }
cleanup:
  RITZ_FREE(&a);
  RITZ_FREE(&q);
  RITZ_FREE(&t);
  return ierr;
}

int CeedMatrixPseudoinverse(Ceed ceed, const CeedScalar *mat, CeedInt m, CeedInt n, CeedScalar *mat_pinv) {
  double *a = NULL, *p = NULL;
  int ierr;
  RITZ_OPTIONAL(NULL, ceed);
  RITZ_ARGUMENT(ceed, mat);
  RITZ_ARGUMENT(ceed, mat_pinv);
  RITZ_REQUIRE(m >= 1 && n >= 1 && n <= m, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: needs at least as many rows as columns, found %" CeedInt_FMT " x %" CeedInt_FMT, __func__,
               m, n);
  RITZ_TRY_CLEANUP(ritz_widen(ceed, (CeedSize)m * n, mat, &a));
  RITZ_TRY_CLEANUP(ritz_widen(ceed, (CeedSize)m * n, NULL, &p));
  RITZ_TRY_CLEANUP(ritz_fe_pseudoinverse(ceed, a, m, n, p));
  ritz_narrow((CeedSize)m * n, p, mat_pinv);
cleanup:
  RITZ_FREE(&a);
  RITZ_FREE(&p);
  return ierr;
}

int CeedSymmetricSchurDecomposition(Ceed ceed, CeedScalar *mat, CeedScalar *lambda, CeedInt n) {
  double *a = NULL, *l = NULL;
  int ierr;
  RITZ_OPTIONAL(NULL, ceed);
  RITZ_ARGUMENT(ceed, mat);
  RITZ_ARGUMENT(ceed, lambda);
  RITZ_REQUIRE(n >= 2, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: needs a matrix of at least 2 x 2, found %" CeedInt_FMT, __func__, n);
  RITZ_TRY_CLEANUP(ritz_widen(ceed, (CeedSize)n * n, mat, &a));
  RITZ_TRY_CLEANUP(ritz_widen(ceed, n, NULL, &l));
  RITZ_TRY_CLEANUP(ritz_fe_symmetric_eigen(ceed, a, l, n));
  ritz_narrow((CeedSize)n * n, a, mat);
  ritz_narrow(n, l, lambda);
cleanup:
  RITZ_FREE(&a);
  RITZ_FREE(&l);
  return ierr;
}

int CeedSimultaneousDiagonalization(Ceed ceed, CeedScalar *mat_A, CeedScalar *mat_B, CeedScalar *x,
                                    CeedScalar *lambda, CeedInt n) {
  double *a = NULL, *b = NULL, *v = NULL, *l = NULL;
  int ierr;
  RITZ_OPTIONAL(NULL, ceed);
  RITZ_ARGUMENT(ceed, mat_A);
  RITZ_ARGUMENT(ceed, mat_B);
  RITZ_ARGUMENT(ceed, x);
  RITZ_ARGUMENT(ceed, lambda);
  RITZ_REQUIRE(n >= 2, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: needs matrices of at least 2 x 2, found %" CeedInt_FMT, __func__, n);
  RITZ_TRY_CLEANUP(ritz_widen(ceed, (CeedSize)n * n, mat_A, &a));
  RITZ_TRY_CLEANUP(ritz_widen(ceed, (CeedSize)n * n, mat_B, &b));
  RITZ_TRY_CLEANUP(ritz_widen(ceed, (CeedSize)n * n, NULL, &v));
  RITZ_TRY_CLEANUP(ritz_widen(ceed, n, NULL, &l));
  RITZ_TRY_CLEANUP(ritz_fe_simultaneous_diagonalization(ceed, a, b, v, l, n));
  ritz_narrow((CeedSize)n * n, v, x);
  ritz_narrow(n, l, lambda);
cleanup:
  RITZ_FREE(&a);
  RITZ_FREE(&b);
  RITZ_FREE(&v);
  RITZ_FREE(&l);
  return ierr;
}
