// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of test-sizes.c. A source that devices compile at run time, so it is C and C++ and needs no
// system header.
#ifndef RITZ_TESTS_SIZES_QFUNCTIONS_H
#define RITZ_TESTS_SIZES_QFUNCTIONS_H

#include <ceed/types.h>

// in: [0] u [Q]   [1] w [Q]      out: [0] w u [Q]
CEED_QFUNCTION(SizesMass)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[1][i] * in[0][i];
  return CEED_ERROR_SUCCESS;
}

// The context is the dimension.
// in: [0] du [dim][Q]   [1] w [Q]      out: [0] w du [dim][Q]
CEED_QFUNCTION(SizesDiffusion)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedInt dim = *(const CeedInt *)ctx;

  for (CeedInt k = 0; k < dim * Q; k++) out[0][k] = in[1][k % Q] * in[0][k];
  return CEED_ERROR_SUCCESS;
}

// The context begins with the factor.
// in: [0] u [Q]      out: [0] factor u [Q]
CEED_QFUNCTION(SizesScale)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar factor = (CeedScalar)(*(const double *)ctx);

  for (CeedInt i = 0; i < Q; i++) out[0][i] = factor * in[0][i];
  return CEED_ERROR_SUCCESS;
}

// The sum of all bytes of the context; their number is the first two, or 1 where these are 0.
// in: [0] u [Q]      out: [0] sum u [Q]
CEED_QFUNCTION(SizesAddBytes)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const unsigned char *const bytes = (const unsigned char *)ctx;
  const int size = bytes[0] == 0 ? 1 : bytes[0] + 256 * bytes[1];
  int sum = 0;

  for (int i = 0; i < size; i++) sum += bytes[i];
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[0][i] * (CeedScalar)sum;
  return CEED_ERROR_SUCCESS;
}

#endif
