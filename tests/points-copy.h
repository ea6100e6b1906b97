// SPDX-License-Identifier: BSD-2-Clause
// QFunction of points-problem.h. A source that devices compile at run time, so it is C and C++ and needs no
// system header.
#ifndef RITZ_TESTS_POINTS_COPY_H
#define RITZ_TESTS_POINTS_COPY_H

#include <ceed/types.h>

// in: [0] u [3][Q]      out: [0] u [3][Q]
CEED_QFUNCTION(PointsCopy)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < 3 * Q; i++) out[0][i] = in[0][i];
  return CEED_ERROR_SUCCESS;
}

#endif
