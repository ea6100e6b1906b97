// SPDX-License-Identifier: BSD-2-Clause
// The point function of test-schwarz-dense.c: linear elasticity with a reaction, components coupled.
#ifndef RITZ_TESTS_SCHWARZ_DENSE_QFUNCTIONS_H
#define RITZ_TESTS_SCHWARZ_DENSE_QFUNCTIONS_H

#include <ritz/point-function.h>

// u . v + sym grad u : grad v + div u div v
CEED_QFUNCTION_HELPER void coupled(const void *ctx, const CeedScalar u[3], const CeedScalar grad_u[3][3],
                                   CeedScalar v[3], CeedScalar grad_v[3][3]) {
  const CeedScalar divergence = grad_u[0][0] + grad_u[1][1] + grad_u[2][2];

  (void)ctx;
  for (int c = 0; c < 3; c++) {
    v[c] = u[c];
    for (int d = 0; d < 3; d++) grad_v[c][d] = grad_u[c][d] + grad_u[d][c] + (c == d ? divergence : 0);
  }
}
RITZ_POINT_FUNCTION(coupled_at_point, 3, 3, coupled)

#endif
