// SPDX-License-Identifier: BSD-2-Clause
// Classes of non-uniform batches on devices: which sizes make them, and their bounds.
#include "plan/gpu-batched.h"

static const CeedInt bounds[RITZ_BATCH_MAX_CLASSES - 1] = {4,  8,   12,  16,  24,   32,   48,  64,
                                                           96, 128, 256, 512, 1024, 2048, 4096};

int ritz_gpu_batched_class_dims(const RitzBatched b, RitzBatchDim dims[2]) {
  const bool is_left = b->options.side == RITZ_SIDE_LEFT;
  dims[0] = dims[1] = RITZ_DIM_N;
  switch (b->operation) {
  case RITZ_BATCHED_GEMM: dims[0] = RITZ_DIM_M, dims[1] = RITZ_DIM_K; return 2;
  case RITZ_BATCHED_SYRK: dims[1] = RITZ_DIM_K; return 2;
  case RITZ_BATCHED_GEMV:
  case RITZ_BATCHED_SYMM:
  case RITZ_BATCHED_TRMM:
  case RITZ_BATCHED_GETRF: dims[0] = RITZ_DIM_M; return 2;
  case RITZ_BATCHED_TRSM: dims[0] = dims[1] = is_left ? RITZ_DIM_M : RITZ_DIM_N; return 1;
  default: return 1;
  }
}

static CeedInt largest_bound(const RitzBatched b) {
  RitzBatchDim dims[2];
  (void)ritz_gpu_batched_class_dims(b, dims);
  const CeedInt one = b->size[dims[0]], two = b->size[dims[1]];
  return one > two ? one : two;
}

int ritz_gpu_batched_class_of(const RitzBatched b, CeedInt size) {
  const CeedInt largest = largest_bound(b);
  int c = 0;
  while (c < RITZ_BATCH_MAX_CLASSES - 1 && bounds[c] < size && bounds[c] < largest) c++;
  return c;
}

int ritz_gpu_batched_num_classes(const RitzBatched b) {
  return ritz_gpu_batched_class_of(b, largest_bound(b)) + 1;
}

RitzGpuBatched ritz_plan_gpu_batched_class(const RitzBatched b, const RitzGpuBatchMachine *machine,
                                           int number) {
  struct RitzBatched_private part = *b;
  RitzBatchDim dims[2];
  const int num = ritz_gpu_batched_class_dims(b, dims);
  for (int d = 0; d < num && number < RITZ_BATCH_MAX_CLASSES - 1; d++) {
    if (part.size[dims[d]] > bounds[number]) part.size[dims[d]] = bounds[number];
  }
  return ritz_plan_gpu_batched(&part, machine, false);
}
