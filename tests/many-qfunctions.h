// SPDX-License-Identifier: BSD-2-Clause
// A QFunction of 200 inputs and outputs. A source that devices compile at run time, so it is C and C++ and
// needs no system header.
#ifndef RITZ_TESTS_MANY_QFUNCTIONS_H
#define RITZ_TESTS_MANY_QFUNCTIONS_H

#include <ceed/types.h>

#define MANY_FIELDS 200

// Output k is k + 1 times input k.
CEED_QFUNCTION(SizesMany)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt k = 0; k < MANY_FIELDS; k++)
    for (CeedInt i = 0; i < Q; i++) out[k][i] = (CeedScalar)(k + 1) * in[k][i];
  return CEED_ERROR_SUCCESS;
}

#endif
