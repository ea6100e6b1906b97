// SPDX-License-Identifier: BSD-2-Clause
// A function at a point for tests/test-sentinels.c: v = u, grad v = grad u.
#ifndef RITZ_TESTS_SENTINELS_QFUNCTIONS_H
#define RITZ_TESTS_SENTINELS_QFUNCTIONS_H

#include <ritz/point-function.h>

CEED_QFUNCTION_HELPER void sentinels_helmholtz(const void *ctx, const CeedScalar u[1],
                                               const CeedScalar grad_u[1][2], CeedScalar v[1],
                                               CeedScalar grad_v[1][2]) {
  (void)ctx;
  v[0] = u[0];
  for (int d = 0; d < 2; d++) grad_v[0][d] = grad_u[0][d];
}
RITZ_POINT_FUNCTION(sentinels_at_point, 2, 1, sentinels_helmholtz)

CEED_QFUNCTION_HELPER void sentinels_robin(const void *ctx, const CeedScalar x[2], const CeedScalar n[2],
                                           const CeedScalar u[1], CeedScalar v[1]) {
  (void)ctx;
  v[0] = (x[0] + n[1]) * u[0];
}
RITZ_FACET_FUNCTION(sentinels_on_facet, 2, 1, sentinels_robin)

CEED_QFUNCTION_HELPER void sentinels_jump(const void *ctx, const CeedScalar x[2], const CeedScalar n[2],
                                          const CeedScalar u[2][1], CeedScalar v[2][1]) {
  (void)ctx;
  v[0][0] = (x[0] + n[1]) * (u[0][0] - u[1][0]);
  v[1][0] = -v[0][0];
}
RITZ_INTERIOR_FACET_FUNCTION(sentinels_on_both_sides, 2, 1, sentinels_jump)

#endif
