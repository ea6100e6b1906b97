// SPDX-License-Identifier: BSD-2-Clause
// QFunctions with what sources are made of: another header, helpers, a context, mathematical functions.
// Compiled into test-gpu-qfunction.c and, at run time, for devices; valid as C, CUDA C++ and OpenCL C.
#ifndef RITZ_TESTS_GPU_QFUNCTIONS_H
#define RITZ_TESTS_GPU_QFUNCTIONS_H

#include "gpu-context.h"
#include "gpu-scale.h"
#include <ceed/types.h>

// in: [0] u [3][Q]   out: [0] v [3][Q]
CEED_QFUNCTION(GpuMathematics)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const GpuContext *const c = (const GpuContext *)ctx;
  const CeedScalar *u = in[0];
  CeedScalar *v = out[0];

  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar a[3] = {u[i], u[i + Q], u[i + 2 * Q]};
    const CeedScalar b[3] = {(CeedScalar)c->factor[0], (CeedScalar)c->factor[1], (CeedScalar)c->factor[2]};
    CeedScalar w[3];

    gpu_cross(a, b, w);
    v[i] = sqrt(fabs(w[0])) + exp(-w[1] * w[1]);
    v[i + Q] = pow(fabs(w[1]) + (CeedScalar)0.5, (CeedScalar)1.5) + gpu_polynomial(c, w[2]);
    v[i + 2 * Q] = c->limit.is_on ? fmax(w[2], c->limit.floor) : w[2];
  }
  return CEED_ERROR_SUCCESS;
}

// v = factor[0] u. Tells in the context what the factor was, the same at every point.
// in: [0] u [3][Q]   out: [0] v [3][Q]
CEED_QFUNCTION(GpuSee)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  GpuContext *const c = (GpuContext *)ctx;

  c->seen = (CeedScalar)(2 * c->factor[0]);
  for (CeedInt i = 0; i < 3 * Q; i++) out[0][i] = (CeedScalar)c->factor[0] * in[0][i];
  return CEED_ERROR_SUCCESS;
}

#endif
