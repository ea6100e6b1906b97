// SPDX-License-Identifier: BSD-2-Clause
// The consumer's own QFunction, v = 2 u, which a run-time compiler reads together with the headers of
// the library that it names. Included by consumer.c and by run-time compilers.
#ifndef CONSUMER_FUNCTION_H
#define CONSUMER_FUNCTION_H

#include <ceed/types.h>
#include <ritz/point-function.h>

CEED_QFUNCTION_HELPER void consumer_twice(const void *ctx, const CeedScalar u[1],
                                          const CeedScalar grad_u[1][3], CeedScalar v[1],
                                          CeedScalar grad_v[1][3]) {
  (void)ctx;
  (void)grad_u;
  v[0] = 2 * u[0];
  for (int x = 0; x < 3; x++) grad_v[0][x] = 0;
}
RITZ_POINT_FUNCTION(Twice, 3, 1, consumer_twice)

#endif
