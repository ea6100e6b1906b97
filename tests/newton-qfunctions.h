// SPDX-License-Identifier: BSD-2-Clause
// The derivative of - div (1 + u^2) grad u in the plane, for test-newton.c.
#ifndef RITZ_TESTS_NEWTON_QFUNCTIONS_H
#define RITZ_TESTS_NEWTON_QFUNCTIONS_H

#include "newton-residual-qfunctions.h"

// in: state and its gradient, direction and its gradient, gradient of x, weights; out: gradient of v
CEED_QFUNCTION(newton_derivative)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar inverse[4], grad_u[2], grad_du[2];
    const CeedScalar det = ritz_point_invert(2, in[4], Q, i, inverse), u = in[0][i], du = in[2][i];
    ritz_point_gradients(2, 1, inverse, in[1], Q, i, grad_u);
    ritz_point_gradients(2, 1, inverse, in[3], Q, i, grad_du);
    for (int d = 0; d < 2; d++) grad_du[d] = (1 + u * u) * grad_du[d] + 2 * u * du * grad_u[d];
    for (int d = 0; d < 2; d++)
      out[0][d * Q + i] = in[5][i] * det * (inverse[2 * d] * grad_du[0] + inverse[2 * d + 1] * grad_du[1]);
  }
  return CEED_ERROR_SUCCESS;
}

#endif
