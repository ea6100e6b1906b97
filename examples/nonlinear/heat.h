// SPDX-License-Identifier: BSD-2-Clause
// The integrand of examples/nonlinear/heat.c, compiled with it and at run time: u v + tau k(u) grad u . grad
// v with the conductivity k = (1 + 4 u) / 20; ctx: tau.
#ifndef RITZ_EXAMPLES_NONLINEAR_HEAT_H
#define RITZ_EXAMPLES_NONLINEAR_HEAT_H

#include <ritz/point-function.h>

CEED_QFUNCTION_HELPER void heat_step(const void *ctx, const CeedScalar u[1], const CeedScalar grad_u[1][2],
                                     CeedScalar v[1], CeedScalar grad_v[1][2]) {
  const CeedScalar tau = *(const CeedScalar *)ctx, k = (1 + 4 * u[0]) / 20;

  v[0] = u[0];
  for (int d = 0; d < 2; d++) grad_v[0][d] = tau * k * grad_u[0][d];
}
RITZ_POINT_FUNCTION(heat, 2, 1, heat_step)

#endif
