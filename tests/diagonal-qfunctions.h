// SPDX-License-Identifier: BSD-2-Clause
// A QFunction of tests/test-diagonal.c, compiled into the program and read as a text at run time.
#ifndef RITZ_TESTS_DIAGONAL_QFUNCTIONS_H
#define RITZ_TESTS_DIAGONAL_QFUNCTIONS_H

#include <ceed/types.h>

// The context is the code that it returns.
CEED_QFUNCTION(DiagonalMass)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  for (CeedInt i = 0; i < Q; i++) out[0][i] = 2 * in[0][i];
  return *(const CeedInt *)ctx;
}

#endif
