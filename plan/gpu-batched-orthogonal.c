// SPDX-License-Identifier: BSD-2-Clause
// Kernels of QR factors, eigenvalues and singular values on devices (kernels/gpu/batched-qr.h,
// batched-jacobi.h): threads of a block, what lies in shared memory.
#include "plan/gpu-batched.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

bool ritz_gpu_batched_is_orthogonal(RitzBatchKind kind) { return kind >= RITZ_BATCH_GEQRF; }

static bool has_rotations(const RitzGpuBatched *p) {
  return p->kind == RITZ_BATCH_SYEVJ || p->kind == RITZ_BATCH_GESVDJ;
}

// Players of a tournament: of columns, and one more where they are odd in number.
static int64_t players_of(CeedInt n) { return (int64_t)n + n % 2; }

// Distances of columns as in the kernels, RITZ_LD_HELD.
static int64_t held_entries(int64_t m, int64_t n) { return (m | 1) * n; }

static int64_t count_held(const RitzBatched b, const RitzGpuBatched *p) {
  const int64_t m = p->size[RITZ_DIM_M], n = p->size[RITZ_DIM_N], k = p->size[RITZ_DIM_K];
  const int64_t order = b->options.side == RITZ_SIDE_LEFT ? m : n, num = players_of(p->size[RITZ_DIM_N]);
  const int64_t vectors = b->options.vectors == RITZ_VECTORS_ALL ? held_entries(n, n) : 0;
  switch (p->kind) {
  case RITZ_BATCH_ORMQR: return held_entries(order, k) + held_entries(m, n);
  case RITZ_BATCH_GELS: return held_entries(m, n) + held_entries(larger(m, n), k);
  case RITZ_BATCH_SYEVJ: return held_entries(num, num) + vectors;
  case RITZ_BATCH_GESVDJ: return held_entries(m, n) + vectors;
  default: return held_entries(m, n);
  }
}

// Numbers beside the entries, and bytes of all arrays that the kernel declares.
static int64_t count_work(const RitzGpuBatched *p) {
  const CeedInt m = p->size[RITZ_DIM_M], n = p->size[RITZ_DIM_N];
  if (p->kind == RITZ_BATCH_GELS) return m < n ? m : n;
  return has_rotations(p) ? players_of(n) : 0;
}
static int64_t declared_bytes(const RitzGpuBatched *p, int64_t entry_bytes) {
  const int arrays = p->kind == RITZ_BATCH_GELS ? 1 : has_rotations(p) ? 2 : 0;
  return (p->num_threads + (int64_t)arrays * p->work) * entry_bytes;
}

// A thread an entry of the columns that are reflected; eight threads a pair of columns; some entries a thread
// of a symmetric matrix.
static int choose_threads(const RitzGpuBatched *p) {
  const int64_t n = p->size[RITZ_DIM_N];
  const int64_t largest = larger(larger(p->size[RITZ_DIM_M], n), p->size[RITZ_DIM_K]);
  const int64_t wanted = p->kind == RITZ_BATCH_GESVDJ ? 4 * n : p->kind == RITZ_BATCH_SYEVJ ? 2 * n : largest;
  int threads = 32;
  while (threads < wanted && threads < 256) threads *= 2;
  return threads;
}

// Threads have registers for their column, a reflector and some numbers more.
static bool plan_columns(RitzGpuBatched *p) {
  enum { MOST = 32, THREADS = 128, REGISTERS = 65536, OTHERS = 56, MOST_REGISTERS = 248 };
  const int m = (int)p->size[RITZ_DIM_M], n = (int)p->size[RITZ_DIM_N];
  const int registers = OTHERS + 2 * m * (p->precision == CEED_SCALAR_FP32 ? 1 : 2);
  if (p->kind != RITZ_BATCH_GEQRF || m < 1 || n < 1 || m > MOST || n > MOST) return false;
  p->design = RITZ_BATCH_COLUMNS;
  p->num_threads = THREADS;
  for (p->group = 1; p->group < n;) p->group *= 2;
  p->num_resident = REGISTERS / THREADS / (registers < MOST_REGISTERS ? registers : MOST_REGISTERS);
  return true;
}

bool ritz_gpu_batched_fits_work(const RitzGpuBatched *p) { return count_work(p) <= RITZ_BATCH_MAX_INVERSE; }

void ritz_plan_gpu_batched_orthogonal(const RitzBatched b, const RitzGpuBatchShared *shared,
                                      RitzGpuBatched *p) {
  enum { LEAST_WORK = 64 };
  if (shared->has_columns && plan_columns(p)) return;
  const int64_t entry_bytes = (int64_t)ritz_scalar_bytes(p->precision);
  p->design = has_rotations(p) ? RITZ_BATCH_JACOBI : RITZ_BATCH_QR;
  p->num_lanes = !shared->has_warps ? 1 : p->kind == RITZ_BATCH_GESVDJ ? 8 : 4;
  p->num_threads = shared->has_warps ? choose_threads(p) : 1;
  const int64_t work = count_work(p);
  for (p->work = LEAST_WORK; p->work < work;) p->work *= 2;
  const int64_t bytes = (count_held(b, p) * entry_bytes + 255) / 256 * 256;
  p->holds = shared->can_hold && bytes + declared_bytes(p, entry_bytes) <= shared->num_bytes;
  p->shared_bytes = p->holds ? bytes : 0;
  const int64_t num = players_of(p->size[RITZ_DIM_N]);
  p->room = p->kind == RITZ_BATCH_SYEVJ && !p->holds ? num * num : 0;
}
