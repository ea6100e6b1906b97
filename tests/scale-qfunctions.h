// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of scale-operator.h. A source that devices compile at run time, so it is C and C++ and needs no
// system header.
#ifndef RITZ_TESTS_SCALE_QFUNCTIONS_H
#define RITZ_TESTS_SCALE_QFUNCTIONS_H

#include <ceed/types.h>

typedef struct {
  double factor;
} ScaleContext;

// in: [0] u [Q]   [1] qdata [Q]      out: [0] factor qdata u [Q]
CEED_QFUNCTION(ScaleByFactor)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const ScaleContext *const c = (const ScaleContext *)ctx;

  for (CeedInt i = 0; i < Q; i++) out[0][i] = (CeedScalar)c->factor * in[1][i] * in[0][i];
  return CEED_ERROR_SUCCESS;
}

// v = in[0], whatever the second input is.
CEED_QFUNCTION(TakeFirst)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[0][i];
  return CEED_ERROR_SUCCESS;
}

#endif
