// SPDX-License-Identifier: BSD-2-Clause
// A QFunction that multiplies its first input by all scalars of the others, as coefficients and geometry do.
// Compiled into tests/test-gpu-simple-inputs.c and, at run time, for devices; valid as C, CUDA C++ and OpenCL
// C.
#ifndef RITZ_TESTS_GPU_SIMPLE_INPUTS_H
#define RITZ_TESTS_GPU_SIMPLE_INPUTS_H

#include <ceed/types.h>

#define GPU_SIMPLE_MAX 5

// Scalars of each input, and of the output.
typedef struct {
  CeedInt num_in, in_size[GPU_SIMPLE_MAX], out_size;
} GpuSimpleSizes;

// Each pair of a scalar of the output and one of the first input has another sum.
CEED_QFUNCTION(GpuSimpleInputs)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const GpuSimpleSizes *const c = (const GpuSimpleSizes *)ctx;

  for (CeedInt q = 0; q < Q; q++) {
    for (CeedInt o = 0; o < c->out_size; o++) {
      CeedScalar total = 0;

      for (CeedInt i = 0; i < c->in_size[0]; i++) {
        CeedScalar sum = 0;

        for (CeedInt f = 1, k = 0; f < c->num_in; f++) {
          for (CeedInt s = 0; s < c->in_size[f]; s++, k++)
            sum += (CeedScalar)((3 * o + 7 * i + 5 * k + o * k) % 11 - 5) * in[f][s * Q + q];
        }
        total += sum * in[0][i * Q + q];
      }
      out[0][o * Q + q] = total;
    }
  }
  return CEED_ERROR_SUCCESS;
}

#endif
