// SPDX-License-Identifier: BSD-2-Clause
// Kernels and sizes of blocks of batched dense algebra on devices.
#include "plan/gpu-batched.h"

static RitzBatchKind kind_of(RitzBatchedOperation operation) {
  switch (operation) {
  case RITZ_BATCHED_GEMM:
  case RITZ_BATCHED_GEMV: return RITZ_BATCH_PRODUCT;
  case RITZ_BATCHED_POTRF: return RITZ_BATCH_POTRF;
  case RITZ_BATCHED_GETRF: return RITZ_BATCH_GETRF;
  case RITZ_BATCHED_GETRI: return RITZ_BATCH_GETRI;
  case RITZ_BATCHED_INV: return RITZ_BATCH_INV;
  default: return RITZ_BATCH_SOLVE;
  }
}

// The operation's m, n, k -> those of its kernel.
static void list_sizes(const RitzBatched b, CeedInt size[RITZ_NUM_DIMS]) {
  const CeedInt m = b->size[RITZ_DIM_M], n = b->size[RITZ_DIM_N], k = b->size[RITZ_DIM_K];
  const bool is_transposed = b->options.trans_a == CEED_TRANSPOSE;
  size[RITZ_DIM_M] = m, size[RITZ_DIM_N] = n, size[RITZ_DIM_K] = k;
  if (b->operation == RITZ_BATCHED_GEMV) {
    size[RITZ_DIM_M] = is_transposed ? n : m;
    size[RITZ_DIM_N] = 1;
    size[RITZ_DIM_K] = is_transposed ? m : n;
  }
  if (b->operation == RITZ_BATCHED_TRSM) {
    const bool is_left = b->options.side == RITZ_SIDE_LEFT;
    size[RITZ_DIM_M] = 1;
    size[RITZ_DIM_N] = is_left ? m : n;
    size[RITZ_DIM_K] = is_left ? n : m;
  }
}

static int power_of_2(CeedInt least) {
  int power = 1;
  while (power < least) power *= 2;
  return power;
}

static void plan_any(RitzGpuBatched *p, int max_threads) {
  CeedInt largest = p->size[RITZ_DIM_M];
  if (p->size[RITZ_DIM_N] > largest) largest = p->size[RITZ_DIM_N];
  if (p->size[RITZ_DIM_K] > largest) largest = p->size[RITZ_DIM_K];
  p->num_threads = largest <= 64 ? 64 : 256;
  if (p->num_threads > max_threads) p->num_threads = max_threads;
  if (p->kind == RITZ_BATCH_GETRI || p->kind == RITZ_BATCH_INV)
    p->work = power_of_2(p->size[RITZ_DIM_N] < 64 ? 64 : p->size[RITZ_DIM_N]);
}

RitzGpuBatched ritz_plan_gpu_batched(const RitzBatched b, int max_threads, bool can_have_rows) {
  RitzGpuBatched p = {.kind = kind_of(b->operation),
                      .precision = b->precision,
                      .has_pivots = b->options.pivot == RITZ_PIVOT_ROWS,
                      .solves_twice =
                          b->operation == RITZ_BATCHED_GETRS || b->operation == RITZ_BATCHED_POTRS,
                      .is_symmetric = b->operation == RITZ_BATCHED_POTRS};
  (void)can_have_rows;
  list_sizes(b, p.size);
  plan_any(&p, max_threads);
  return p;
}
