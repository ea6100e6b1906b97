// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of tests/test-accuracy.c: the inverse of the Jacobian, kept at the points by one operator,
// and the gradient in physical coordinates, by another one from what was kept. dim is 1, 2 or 3.
//     Inverse:     in: [0] dx [dim: d][dim: c][Q]                        out: [0] K [dim: c][dim: d][Q]
//     Gradient:    in: [0] du [dim: d][Q]  [1] K [dim: c][dim: d][Q]      out: [0] g [dim: c][Q]
//     Derivatives: in: [0] du [dim: d][Q]                                 out: [0] g [dim: d][Q]
#ifndef RITZ_TESTS_ACCURACY_QFUNCTIONS_H
#define RITZ_TESTS_ACCURACY_QFUNCTIONS_H

#include <ceed/types.h>

CEED_QFUNCTION_HELPER CeedScalar accuracy_minor(const CeedScalar *J, const int row[2], const int column[2]) {
  return J[3 * row[0] + column[0]] * J[3 * row[1] + column[1]] -
         J[3 * row[0] + column[1]] * J[3 * row[1] + column[0]];
}

// K J = 1; J [d][c], both with rows of three, unit rows where dim is less.
CEED_QFUNCTION_HELPER void accuracy_invert(const CeedScalar J[9], CeedScalar K[9]) {
  CeedScalar determinant = 0;

  for (int c = 0; c < 3; c++) {
    for (int d = 0; d < 3; d++) {
      const int row[2] = {(d + 1) % 3, (d + 2) % 3}, column[2] = {(c + 1) % 3, (c + 2) % 3};
      K[3 * c + d] = accuracy_minor(J, row, column);
    }
  }
  for (int d = 0; d < 3; d++) determinant += J[3 * d] * K[d];
  for (int k = 0; k < 9; k++) K[k] /= determinant;
}

CEED_QFUNCTION_HELPER int accuracy_inverse(const int dim, const CeedInt Q, const CeedScalar *const *in,
                                           CeedScalar *const *out) {
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, K[9];

    for (int d = 0; d < dim; d++) {
      for (int c = 0; c < dim; c++) J[3 * d + c] = in[0][(d * dim + c) * Q + i];
    }
    accuracy_invert(J, K);
    for (int c = 0; c < dim; c++) {
      for (int d = 0; d < dim; d++) out[0][(c * dim + d) * Q + i] = K[3 * c + d];
    }
  }
  return CEED_ERROR_SUCCESS;
}

CEED_QFUNCTION_HELPER int accuracy_gradient(const int dim, const CeedInt Q, const CeedScalar *const *in,
                                            CeedScalar *const *out) {
  for (CeedInt i = 0; i < Q; i++) {
    for (int c = 0; c < dim; c++) {
      CeedScalar sum = 0;

      for (int d = 0; d < dim; d++) sum += in[1][(c * dim + d) * Q + i] * in[0][d * Q + i];
      out[0][c * Q + i] = sum;
    }
  }
  return CEED_ERROR_SUCCESS;
}

CEED_QFUNCTION_HELPER int accuracy_derivatives(const int dim, const CeedInt Q, const CeedScalar *const *in,
                                               CeedScalar *const *out) {
  for (CeedInt i = 0; i < dim * Q; i++) out[0][i] = in[0][i];
  return CEED_ERROR_SUCCESS;
}

CEED_QFUNCTION(AccuracyInverse1)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return accuracy_inverse(1, Q, in, out);
}
CEED_QFUNCTION(AccuracyInverse2)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return accuracy_inverse(2, Q, in, out);
}
CEED_QFUNCTION(AccuracyInverse3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return accuracy_inverse(3, Q, in, out);
}
CEED_QFUNCTION(AccuracyGradient1)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return accuracy_gradient(1, Q, in, out);
}
CEED_QFUNCTION(AccuracyGradient2)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return accuracy_gradient(2, Q, in, out);
}
CEED_QFUNCTION(AccuracyGradient3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return accuracy_gradient(3, Q, in, out);
}
CEED_QFUNCTION(AccuracyDerivatives1)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return accuracy_derivatives(1, Q, in, out);
}
CEED_QFUNCTION(AccuracyDerivatives2)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return accuracy_derivatives(2, Q, in, out);
}
CEED_QFUNCTION(AccuracyDerivatives3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return accuracy_derivatives(3, Q, in, out);
}

#endif
