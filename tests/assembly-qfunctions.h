// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of test-assembly-rules.c. A source that devices compile at run time, so it is C and C++ and
// needs no system header.
#ifndef RITZ_TESTS_ASSEMBLY_QFUNCTIONS_H
#define RITZ_TESTS_ASSEMBLY_QFUNCTIONS_H

#include <ceed/types.h>

// dv0 = 11 du0 + 12 du1 + 13 u, dv1 = 21 ..., v = 31 ..., all times qdata.
// in: [0] du [2][Q]   [1] qdata [Q]   [2] u [Q]      out: [0] v [Q]   [1] dv [2][Q]
CEED_QFUNCTION(Combine)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar x[3] = {in[0][i], in[0][Q + i], in[2][i]};
    CeedScalar y[3];

    for (int k = 0; k < 3; k++)
      y[k] = in[1][i] * ((10 * k + 11) * x[0] + (10 * k + 12) * x[1] + (10 * k + 13) * x[2]);
    out[0][i] = y[2];
    out[1][i] = y[0];
    out[1][Q + i] = y[1];
  }
  return CEED_ERROR_SUCCESS;
}

// Both outputs are in[0].
CEED_QFUNCTION(GiveTwice)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    out[0][i] = in[0][i];
    out[1][i] = in[0][i];
  }
  return CEED_ERROR_SUCCESS;
}

// in: [0] du [Q]   [1] p [Q]   [2] w [Q]      out: [0] against dv [Q]   [1] against q [Q]
CEED_QFUNCTION(SaddlePoint)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    out[0][i] = in[2][i] * (in[0][i] - in[1][i]);
    out[1][i] = -in[2][i] * in[0][i];
  }
  return CEED_ERROR_SUCCESS;
}

#endif
