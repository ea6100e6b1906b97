// SPDX-License-Identifier: BSD-2-Clause
// - div (1 + u^2) grad u in the plane, as a point function, for test-newton.c and test-part-newton.c.
#ifndef RITZ_TESTS_NEWTON_RESIDUAL_QFUNCTIONS_H
#define RITZ_TESTS_NEWTON_RESIDUAL_QFUNCTIONS_H

#include <ritz/point-function.h>

CEED_QFUNCTION_HELPER void newton_flux(const void *ctx, const CeedScalar u[1], const CeedScalar grad_u[1][2],
                                       CeedScalar v[1], CeedScalar grad_v[1][2]) {
  (void)ctx;
  v[0] = 0;
  for (int d = 0; d < 2; d++) grad_v[0][d] = (1 + u[0] * u[0]) * grad_u[0][d];
}
RITZ_POINT_FUNCTION(newton_residual, 2, 1, newton_flux)

#endif
