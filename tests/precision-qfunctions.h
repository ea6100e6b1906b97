// SPDX-License-Identifier: BSD-2-Clause
// A QFunction whose constants are doubles: in single precision OpenCL cannot tell which of its functions is
// called; and one with a context of the library's precision. Compiled into tests/test-precision-gpu.c and, at
// run time, for devices.
#ifndef RITZ_TESTS_PRECISION_QFUNCTIONS_H
#define RITZ_TESTS_PRECISION_QFUNCTIONS_H

#include <ceed/types.h>
#include <math.h>

// in: u, qdata
CEED_QFUNCTION(PrecisionClip)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[1][i] * fmax(in[0][i], 0.);
  return CEED_ERROR_SUCCESS;
}

typedef struct {
  CeedInt power;
  CeedScalar factor, unused;
} PrecisionContext;

// in: u, qdata
CEED_QFUNCTION(PrecisionScale)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const PrecisionContext *const c = (const PrecisionContext *)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar value = in[1][i] * in[0][i];
    for (CeedInt k = 0; k < c->power; k++) value *= c->factor;
    out[0][i] = value;
  }
  return CEED_ERROR_SUCCESS;
}

#endif
