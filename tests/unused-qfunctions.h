// SPDX-License-Identifier: BSD-2-Clause
// The QFunction of test-unused-fields.c. A source that devices compile at run time, so it is C and C++ and
// needs no system header.
#ifndef RITZ_TESTS_UNUSED_QFUNCTIONS_H
#define RITZ_TESTS_UNUSED_QFUNCTIONS_H

#include <ceed/types.h>

// v = u qd w, among fields of size 0.
// in: [1] u [Q]   [3] qd [Q]   [4] w [Q]      out: [1] v [Q]
CEED_QFUNCTION(SmallScaleAmongUnused)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[1][i] = in[1][i] * in[3][i] * in[4][i];
  return CEED_ERROR_SUCCESS;
}

#endif
