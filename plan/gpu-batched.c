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
  if (b->operation == RITZ_BATCHED_GETRI) size[RITZ_DIM_K] = n;
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

// Bytes of a block that columns of B take in shared memory.
enum { COLUMNS_BYTES = 32 << 10 };

static int choose_columns(const RitzGpuBatched *p) {
  const CeedInt num = p->kind == RITZ_BATCH_GETRI   ? p->size[RITZ_DIM_N]
                      : p->kind == RITZ_BATCH_SOLVE ? p->size[RITZ_DIM_K]
                                                    : p->size[RITZ_DIM_N];
  const int64_t column = (int64_t)(p->size[RITZ_DIM_K] + 4) * (int64_t)ritz_scalar_bytes(p->precision) *
                         (p->num_threads / p->group);
  int columns = p->kind == RITZ_BATCH_PRODUCT ? (int)(COLUMNS_BYTES / column) : 4;
  if (columns > num) columns = (int)num;
  return columns > 0 ? columns : 1;
}

// Blocks whose threads have registers for a row, a step's right-hand sides and some numbers more.
static int choose_resident(const RitzGpuBatched *p, CeedInt length) {
  enum { REGISTERS = 65536, OTHERS = 32, MOST_THREADS = 2048, MOST_BLOCKS = 32, MOST_REGISTERS = 255 };
  const int words = p->precision == CEED_SCALAR_FP32 ? 1 : 2;
  int registers = (int)length * words + OTHERS;
  if (p->kind == RITZ_BATCH_SOLVE || p->kind == RITZ_BATCH_GETRI) registers += 2 * words * p->num_columns;
  if (p->kind == RITZ_BATCH_GETRF) registers += OTHERS / 2;
  if (p->kind == RITZ_BATCH_INV) registers += OTHERS;
  if (p->kind == RITZ_BATCH_POTRF) registers += 2 * OTHERS;
  // Addresses that are not known take registers, too.
  if (!p->is_uniform) registers += 2 * (int)length + 2 * OTHERS;
  registers = (registers + 7) / 8 * 8;
  if (registers > MOST_REGISTERS) registers = MOST_REGISTERS;
  int resident = REGISTERS / registers / p->num_threads;
  if (resident > MOST_THREADS / p->num_threads) resident = MOST_THREADS / p->num_threads;
  if (resident > MOST_BLOCKS) resident = MOST_BLOCKS;
  return resident > 0 ? resident : 1;
}

// Rows of the matrix that threads hold, and their length.
static bool plan_rows(RitzGpuBatched *p, int max_threads) {
  const bool is_product = p->kind == RITZ_BATCH_PRODUCT, is_lu = p->kind == RITZ_BATCH_GETRF;
  const CeedInt rows = is_product || is_lu ? p->size[RITZ_DIM_M] : p->size[RITZ_DIM_N];
  const CeedInt length = is_product ? p->size[RITZ_DIM_K] : p->size[RITZ_DIM_N];
  for (int d = 0; d < RITZ_NUM_DIMS; d++) {
    if (p->size[d] < 1) return false;
  }
  if (rows > RITZ_BATCH_MAX_ROWS || length > RITZ_BATCH_MAX_ROWS) return false;
  p->group = power_of_2(rows);
  p->num_threads = p->group > 32 ? p->group : 128;
  if (p->num_threads > max_threads) return false;
  p->num_columns = choose_columns(p);
  p->num_resident = choose_resident(p, length);
  p->has_rows = true;
  return true;
}

RitzGpuBatched ritz_plan_gpu_batched(const RitzBatched b, int max_threads, bool can_have_rows,
                                     bool is_uniform) {
  RitzGpuBatched p = {.kind = kind_of(b->operation),
                      .precision = b->precision,
                      .is_uniform = is_uniform,
                      .has_pivots = b->form.has_pivots,
                      .solves_twice =
                          b->operation == RITZ_BATCHED_GETRS || b->operation == RITZ_BATCHED_POTRS,
                      .is_symmetric = b->operation == RITZ_BATCHED_POTRS};
  list_sizes(b, p.size);
  for (CeedInt i = 0; i < b->form.num_operands; i++) p.ld[i] = ritz_batched_layout(&b->options, i)->ld;
  if (!can_have_rows || !plan_rows(&p, max_threads)) plan_any(&p, max_threads);
  return p;
}
