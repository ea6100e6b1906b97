// SPDX-License-Identifier: BSD-2-Clause
// The integrand of examples/advection/advection.c, compiled with it and at run time.
#ifndef RITZ_EXAMPLES_ADVECTION_H
#define RITZ_EXAMPLES_ADVECTION_H

#include <ritz/point-function.h>

// (b . grad u) v + k grad u . grad v with the velocity b = (1, 1); ctx: k
CEED_QFUNCTION_HELPER void advection_flow(const void *ctx, const CeedScalar u[1],
                                          const CeedScalar grad_u[1][2], CeedScalar v[1],
                                          CeedScalar grad_v[1][2]) {
  const CeedScalar k = *(const CeedScalar *)ctx;

  (void)u;
  v[0] = grad_u[0][0] + grad_u[0][1];
  for (int d = 0; d < 2; d++) grad_v[0][d] = k * grad_u[0][d];
}
RITZ_POINT_FUNCTION(advection, 2, 1, advection_flow)

#endif
