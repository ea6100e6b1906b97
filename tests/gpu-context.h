// SPDX-License-Identifier: BSD-2-Clause
// The context of the QFunctions in gpu-qfunctions.h, and helpers that they call. C, C++ and OpenCL C.
#pragma once

#include <ceed/types.h>
#ifndef CEED_RUNNING_JIT_PASS
#include <math.h>
#endif

#define GPU_NUM_TERMS 5

// Numbers of several sizes, arrays, and a struct within.
typedef struct {
  CeedInt num_terms;
  double factor[3];
  CeedScalar coefficient[GPU_NUM_TERMS];
  struct {
    bool is_on;
    CeedScalar floor;
  } limit;
  CeedScalar seen; // written by GpuSee
} GpuContext;

// Horner's rule.
CEED_QFUNCTION_HELPER CeedScalar gpu_polynomial(const GpuContext *c, CeedScalar x) {
  CeedScalar sum = 0;

  for (CeedInt k = c->num_terms - 1; k >= 0; k--) sum = sum * x + c->coefficient[k];
  return sum;
}

CEED_QFUNCTION_HELPER void gpu_cross(const CeedScalar a[3], const CeedScalar b[3], CeedScalar c[3]) {
  for (CeedInt i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}
