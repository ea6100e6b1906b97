// SPDX-License-Identifier: BSD-2-Clause
// A QFunction without outputs. A source that devices compile at run time, so it is C and C++ and needs no
// system header.
#ifndef RITZ_TESTS_NO_OUTPUT_QFUNCTIONS_H
#define RITZ_TESTS_NO_OUTPUT_QFUNCTIONS_H

#include <ceed/types.h>

CEED_QFUNCTION(NoOutput)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  (void)Q;
  (void)in;
  (void)out;
  return CEED_ERROR_SUCCESS;
}

#endif
