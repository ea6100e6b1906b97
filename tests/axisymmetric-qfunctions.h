// SPDX-License-Identifier: BSD-2-Clause
// The function of the position of test-axisymmetric.c. A source that devices compile at run time, so it needs
// no system header.
#ifndef RITZ_TESTS_AXISYMMETRIC_QFUNCTIONS_H
#define RITZ_TESTS_AXISYMMETRIC_QFUNCTIONS_H

#include <ritz/point-function.h>

// Stretched circles, and gradients times a function of the position; the context is a number.
CEED_QFUNCTION_HELPER void axisymmetric_rings_at(const void *ctx, const CeedScalar x[2],
                                                 const CeedScalar u[2], const CeedScalar grad_u[2][2],
                                                 CeedScalar v[2], CeedScalar grad_v[2][2]) {
  const CeedScalar hoop = u[0] / x[0], factor = *(const CeedScalar *)ctx;

  v[0] = factor * (hoop + grad_u[1][1]) / x[0];
  v[1] = x[1] * u[0];
  for (int c = 0; c < 2; c++) {
    for (int d = 0; d < 2; d++) grad_v[c][d] = (1 + x[1]) * grad_u[d][c] + (c == d ? hoop : 0);
  }
}

RITZ_POSITION_FUNCTION(axisymmetric_rings, 2, 2, axisymmetric_rings_at)

#endif
