// SPDX-License-Identifier: BSD-2-Clause
// The material of examples/nonlinear/beam.c, compiled with it and at run time: neo-Hookean,
// W = mu / 2 (|F|^2 - 3) - mu log J + lambda / 2 (log J)^2, F = 1 + grad u, J = det F, whose stress is
// P = dW/dF = mu (F - F^-T) + lambda log J F^-T.
#ifndef RITZ_EXAMPLES_NONLINEAR_BEAM_H
#define RITZ_EXAMPLES_NONLINEAR_BEAM_H

#include <ritz/point-function.h>

CEED_QFUNCTION_HELPER void beam_stress(const void *ctx, const CeedScalar u[3], const CeedScalar grad_u[3][3],
                                       CeedScalar v[3], CeedScalar grad_v[3][3]) {
  const CeedScalar mu = 0.4, lambda = 0.6;
  CeedScalar F[3][3], cofactor[3][3];

  (void)ctx;
  (void)u;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) F[i][j] = grad_u[i][j] + (i == j);
  }
  for (int i = 0; i < 3; i++) {
    const int k = (i + 1) % 3, l = (i + 2) % 3;
    for (int j = 0; j < 3; j++) {
      const int m = (j + 1) % 3, n = (j + 2) % 3;
      cofactor[i][j] = F[k][m] * F[l][n] - F[k][n] * F[l][m];
    }
  }
  const CeedScalar J = F[0][0] * cofactor[0][0] + F[0][1] * cofactor[0][1] + F[0][2] * cofactor[0][2];
  const CeedScalar factor = (lambda * log(J) - mu) / J;
  for (int i = 0; i < 3; i++) {
    v[i] = 0;
    for (int j = 0; j < 3; j++) grad_v[i][j] = mu * F[i][j] + factor * cofactor[i][j];
  }
}
RITZ_POINT_FUNCTION(beam, 3, 3, beam_stress)

#endif
