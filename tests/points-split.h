// SPDX-License-Identifier: BSD-2-Clause
// QFunction of test-gpu-points.c. A source that devices compile at run time, so it is C and C++ and needs no
// system header.
#ifndef RITZ_TESTS_POINTS_SPLIT_H
#define RITZ_TESTS_POINTS_SPLIT_H

#include <ceed/types.h>

// in: [0] u [Q]      out: [0] u [Q]   [1] 2 u, 3 u [2][Q]
CEED_QFUNCTION(PointsSplit)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    out[0][i] = in[0][i];
    out[1][i] = 2 * in[0][i];
    out[1][Q + i] = 3 * in[0][i];
  }
  return CEED_ERROR_SUCCESS;
}

#endif
