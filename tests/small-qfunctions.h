// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of small-operator.h. A source that devices compile at run time, so it is C and C++ and needs no
// system header.
#ifndef RITZ_TESTS_SMALL_QFUNCTIONS_H
#define RITZ_TESTS_SMALL_QFUNCTIONS_H

#include <ceed/types.h>

// v = factor u qd w. The context, if there is one, begins with the factor.
// in: [0] u [Q]   [1] qd [Q]   [2] w [Q]      out: [0] v [Q]
CEED_QFUNCTION(SmallScale)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar factor = ctx ? (CeedScalar)(*(const double *)ctx) : 1;

  for (CeedInt i = 0; i < Q; i++) out[0][i] = factor * in[0][i] * in[1][i] * in[2][i];
  return CEED_ERROR_SUCCESS;
}

// in: [0] u [Q]      out: [0] 2 u [Q]   [1] u [Q]
CEED_QFUNCTION(SmallTwice)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    out[0][i] = 2 * in[0][i];
    out[1][i] = in[0][i];
  }
  return CEED_ERROR_SUCCESS;
}

#endif
