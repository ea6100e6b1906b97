// SPDX-License-Identifier: BSD-2-Clause
// Linear elasticity at a point, for test-direct.c.
#ifndef RITZ_TESTS_DIRECT_QFUNCTIONS_H
#define RITZ_TESTS_DIRECT_QFUNCTIONS_H

#include <ritz/point-function.h>

// Stress 2 mu eps + lambda tr eps with mu = 1, lambda = 2.
CEED_QFUNCTION_HELPER void direct_elasticity(const void *ctx, const CeedScalar u[3],
                                             const CeedScalar grad_u[3][3], CeedScalar v[3],
                                             CeedScalar grad_v[3][3]) {
  const CeedScalar pressure = 2 * (grad_u[0][0] + grad_u[1][1] + grad_u[2][2]);

  (void)ctx;
  for (int c = 0; c < 3; c++) {
    v[c] = 0 * u[c];
    for (int d = 0; d < 3; d++) grad_v[c][d] = grad_u[c][d] + grad_u[d][c] + (c == d ? pressure : 0);
  }
}
RITZ_POINT_FUNCTION(direct_elasticity_at_point, 3, 3, direct_elasticity)

#endif
