// SPDX-License-Identifier: BSD-2-Clause
// Kernels of batched dense algebra for others than its objects: what batched.c has of them. Called by gemm.c.
#ifndef RITZ_BACKENDS_GPU_BATCHED_KERNELS_H
#define RITZ_BACKENDS_GPU_BATCHED_KERNELS_H

#include "backends/gpu/context.h"
#include "plan/gpu-batched.h"

// Whether a device, with RITZ_BATCHED_KERNEL, has kernels of blocks beyond rows in registers; what these hold
// in shared memory.
bool ritz_gpu_batched_has_blocks(const RitzDeviceInfo *info, RitzBatchHolding *holding);

enum {
  RITZ_GPU_BATCH_COMMON_ARGS = 16,
  RITZ_GPU_BATCH_OPERAND_ARGS = 10,
  RITZ_GPU_BATCH_ARGS = RITZ_GPU_BATCH_COMMON_ARGS + RITZ_BATCHED_MAX_OPERANDS * RITZ_GPU_BATCH_OPERAND_ARGS
};
// Arguments of a kernel of products whose sizes are m, n, k, and whose operands A, B, C have these forms.
void ritz_gpu_batched_product_args(const RitzBatchedCall *call, const CeedInt size[RITZ_NUM_DIMS],
                                   const int *form, RitzDeviceArg args[RITZ_GPU_BATCH_ARGS]);

#endif
