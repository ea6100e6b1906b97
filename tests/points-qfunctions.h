// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of test-points-rules.c. A source that devices compile at run time, so it is C and C++ and needs
// no system header.
#ifndef RITZ_TESTS_POINTS_QFUNCTIONS_H
#define RITZ_TESTS_POINTS_QFUNCTIONS_H

#include <ceed/types.h>

// in: [0] u [Q]   [1] q [Q]      out: [0] q u [Q]
CEED_QFUNCTION(PointsScale)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[1][i] * in[0][i];
  return CEED_ERROR_SUCCESS;
}

// in: [0] u [2][Q]   [1] q [Q]      out: [0] q M u [2][Q], M = (11, 12; 21, 22)
CEED_QFUNCTION(PointsMix)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    out[0][i] = in[1][i] * (11 * in[0][i] + 12 * in[0][Q + i]);
    out[0][Q + i] = in[1][i] * (21 * in[0][i] + 22 * in[0][Q + i]);
  }
  return CEED_ERROR_SUCCESS;
}

#endif
