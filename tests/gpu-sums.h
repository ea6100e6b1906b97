// SPDX-License-Identifier: BSD-2-Clause
// A QFunction that mixes all scalars of its inputs, whatever there are. Compiled into tests/test-gpu-dense.c
// and, at run time, for devices; valid as C, CUDA C++ and OpenCL C.
#ifndef RITZ_TESTS_GPU_SUMS_H
#define RITZ_TESTS_GPU_SUMS_H

#include <ceed/types.h>

#define GPU_MAX_FIELDS 5

typedef struct {
  CeedInt num_in, num_out, in_size[GPU_MAX_FIELDS], out_size[GPU_MAX_FIELDS];
} GpuSizes;

// Each scalar of the outputs is another sum of those of the inputs.
CEED_QFUNCTION(GpuSums)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const GpuSizes *const c = (const GpuSizes *)ctx;

  for (CeedInt q = 0; q < Q; q++) {
    for (CeedInt h = 0, o = 0; h < c->num_out; h++) {
      for (CeedInt t = 0; t < c->out_size[h]; t++, o++) {
        CeedScalar sum = 0;

        for (CeedInt f = 0, i = 0; f < c->num_in; f++) {
          for (CeedInt s = 0; s < c->in_size[f]; s++, i++)
            sum += (CeedScalar)((3 * o + 7 * i + o * i) % 11 - 5) * in[f][s * Q + q];
        }
        out[h][t * Q + q] = sum;
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

#endif
