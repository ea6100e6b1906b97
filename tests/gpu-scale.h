// SPDX-License-Identifier: BSD-2-Clause
// A QFunction that multiplies by a number of its context. Compiled into tests/test-gpu-*.c and, at run time,
// for devices; valid as C, CUDA C++ and OpenCL C.
#ifndef RITZ_TESTS_GPU_SCALE_H
#define RITZ_TESTS_GPU_SCALE_H

#include "gpu-context.h"
#include <ceed/types.h>

// v = factor[0] u; leaves the context alone.
CEED_QFUNCTION(GpuScale)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const GpuContext *const c = (const GpuContext *)ctx;

  for (CeedInt i = 0; i < 3 * Q; i++) out[0][i] = (CeedScalar)c->factor[0] * in[0][i];
  return CEED_ERROR_SUCCESS;
}

#endif
