// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of tests/mixed-kit.h beside that of examples/stokes: the two couplings of
// the Stokes equations by themselves, and a symmetric positive definite problem of two fields.
#ifndef RITZ_TESTS_MIXED_QFUNCTIONS_H
#define RITZ_TESTS_MIXED_QFUNCTIONS_H

#include <ritz/point-function.h>

// in: gradient of u (two components), gradient of the coordinates, weights; out: q = -div u
CEED_QFUNCTION(mixed_divergence)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar inverse[4], grad[4];
    const CeedScalar weight = in[2][i] * ritz_point_invert(2, in[1], Q, i, inverse);

    ritz_point_gradients(2, 2, inverse, in[0], Q, i, grad);
    out[0][i] = -weight * (grad[0] + grad[3]);
  }
  return CEED_ERROR_SUCCESS;
}

// Its adjoint. in: p, gradient of the coordinates, weights; out: for the gradient of v
CEED_QFUNCTION(mixed_gradient)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar inverse[4];
    const CeedScalar weight = in[2][i] * ritz_point_invert(2, in[1], Q, i, inverse);

    for (int c = 0; c < 2; c++) {
      for (int d = 0; d < 2; d++) out[0][(d * 2 + c) * Q + i] = -weight * inverse[d * 2 + c] * in[0][i];
    }
  }
  return CEED_ERROR_SUCCESS;
}

// grad u : grad v + u . v + (grad p . grad q) + 2 p q + u_0 q + p v_0: positive definite.
// in: u, gradient of u (two components), p, gradient of p, gradient of the coordinates, weights; out: v,
// gradient of v, q, gradient of q
CEED_QFUNCTION(mixed_reactions)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar inverse[4], grad_u[4], grad_p[2];
    const CeedScalar weight = in[5][i] * ritz_point_invert(2, in[4], Q, i, inverse);
    const CeedScalar u[2] = {in[0][i], in[0][Q + i]}, p[1] = {in[2][i]};
    const CeedScalar v[2] = {u[0] + p[0], u[1]}, q[1] = {2 * p[0] + u[0]};

    ritz_point_gradients(2, 2, inverse, in[1], Q, i, grad_u);
    ritz_point_gradients(2, 1, inverse, in[3], Q, i, grad_p);
    ritz_point_results(2, 2, inverse, weight, v, grad_u, Q, i, out[0], out[1]);
    ritz_point_results(2, 1, inverse, weight, q, grad_p, Q, i, out[2], out[3]);
  }
  return CEED_ERROR_SUCCESS;
}

// grad u : grad v + p u . v + (p + |u|^2) q, not linear. in: u, gradient of u, p, gradient of the
// coordinates, weights; out: v, gradient of v, q
CEED_QFUNCTION(mixed_products)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar inverse[4], grad_u[4];
    const CeedScalar weight = in[4][i] * ritz_point_invert(2, in[3], Q, i, inverse);
    const CeedScalar u[2] = {in[0][i], in[0][Q + i]}, p = in[2][i];
    const CeedScalar v[2] = {p * u[0], p * u[1]};

    ritz_point_gradients(2, 2, inverse, in[1], Q, i, grad_u);
    ritz_point_results(2, 2, inverse, weight, v, grad_u, Q, i, out[0], out[1]);
    out[2][i] = weight * (p + u[0] * u[0] + u[1] * u[1]);
  }
  return CEED_ERROR_SUCCESS;
}

#endif
