// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of test-qfunction.c. A source that devices compile at run time, so it is C and C++ and needs no
// system header.
#ifndef RITZ_TESTS_PLAIN_QFUNCTIONS_H
#define RITZ_TESTS_PLAIN_QFUNCTIONS_H

#include <ceed/types.h>

// in: [0] a [2][Q]   [1] b [Q]      out: [0] a b [2][Q]
CEED_QFUNCTION(PlainMultiply)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar(*a)[CEED_Q_VLA] = (const CeedScalar(*)[CEED_Q_VLA])in[0];
  CeedScalar(*v)[CEED_Q_VLA] = (CeedScalar(*)[CEED_Q_VLA])out[0];

  (void)ctx;
  for (int c = 0; c < 2; c++) {
    CeedPragmaSIMD
    for (CeedInt i = 0; i < Q; i++) v[c][i] = a[c][i] * in[1][i];
  }
  return CEED_ERROR_SUCCESS;
}

CEED_QFUNCTION_HELPER CeedScalar square(CeedScalar x) { return x * x; }

// in: [0] u [Q]      out: [0] u^2 [Q]
CEED_QFUNCTION(PlainSquares)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = square(in[0][i]);
  return CEED_ERROR_SUCCESS;
}

// The context is the factor.
// in: [0] u [2][Q]      out: [0] factor u [2][Q]
CEED_QFUNCTION(PlainScale)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar factor = (CeedScalar)(*(const CeedInt *)ctx);

  for (CeedInt i = 0; i < 2 * Q; i++) out[0][i] = factor * in[0][i];
  return CEED_ERROR_SUCCESS;
}

// The context holds the factor and a place for the mark, 7.
// in: [0] u [Q]      out: [0] factor u [Q]
CEED_QFUNCTION(PlainMark)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  CeedInt *const numbers = (CeedInt *)ctx;

  for (CeedInt i = 0; i < Q; i++) out[0][i] = (CeedScalar)numbers[0] * in[0][i];
  numbers[1] = 7;
  return CEED_ERROR_SUCCESS;
}

#endif
