// SPDX-License-Identifier: BSD-2-Clause
// The QFunction of tests/test-cg-merged.c: compiled into the program, and read as a text at run time.
#ifndef RITZ_TESTS_CG_QFUNCTIONS_H
#define RITZ_TESTS_CG_QFUNCTIONS_H

#include <ceed/types.h>

// v = factor u d w; the context is the factor, a double.
// in: [0] u [Q]   [1] d [Q]   [2] w [Q]      out: [0] v [Q]
CEED_QFUNCTION(CgScale)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar factor = (CeedScalar)(*(const double *)ctx);

  for (CeedInt i = 0; i < Q; i++) out[0][i] = factor * in[0][i] * in[1][i] * in[2][i];
  return CEED_ERROR_SUCCESS;
}

#endif
