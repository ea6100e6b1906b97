// SPDX-License-Identifier: BSD-2-Clause
// The QFunction of test-points-blocks.c. A source that devices compile at run time, so it is C and C++ and
// needs no system header.
#ifndef RITZ_TESTS_EXCHANGE_QFUNCTIONS_H
#define RITZ_TESTS_EXCHANGE_QFUNCTIONS_H

#include <ceed/types.h>

// in: [0] u [Q]   [1] du [3][Q]   [2] k [Q]   [3] q [Q]
// out: [0] v = q k u + du_0   [1] dv = k du + q u (1, 2, 3)   [2] (u, q du_2) [2][Q]
CEED_QFUNCTION(PointsExchange)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar u = in[0][i], k = in[2][i], q = in[3][i];

    out[0][i] = q * k * u + in[1][i];
    for (CeedInt d = 0; d < 3; d++) out[1][d * Q + i] = k * in[1][d * Q + i] + q * u * (CeedScalar)(d + 1);
    out[2][i] = u;
    out[2][Q + i] = q * in[1][2 * Q + i];
  }
  return CEED_ERROR_SUCCESS;
}

#endif
