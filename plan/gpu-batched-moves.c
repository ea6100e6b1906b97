// SPDX-License-Identifier: BSD-2-Clause
// Copies, sums, constants and swaps of batched matrices on devices (kernels/gpu/batched-move.h): which tiles
// blocks take, and in which order threads take their entries.
#include "plan/gpu-batched.h"

// Entries of a tile: eight a thread, whose reads are all under way together. Lines of transposes are as long
// as those of memory's sectors are worth.
enum { THREADS = 256, ENTRIES = 2048, SIDE = 32 };

static int least(int64_t a, int64_t b) { return (int)(a < b ? a : b); }
static int64_t up(int64_t num, int64_t part) { return (num + part - 1) / part; }

static int order_of(int form) {
  return (form & RITZ_BATCH_IS_TRANSPOSED ? RITZ_BATCH_COLUMNS_FIRST : 0) |
         (form & RITZ_BATCH_WIDTH_BITS ? RITZ_BATCH_MATRICES_FIRST : 0);
}

// Whole matrices side by side where they are small, else parts of one or of a group of interleaved ones.
static void choose_tile(RitzGpuBatched *p, int width, bool turns) {
  const CeedInt m = p->size[RITZ_DIM_M], n = p->size[RITZ_DIM_N];
  const int64_t entries = (int64_t)m * n;
  const int room = ENTRIES / width;
  if (entries <= room) {
    p->tile[0] = m;
    p->tile[1] = n;
  } else {
    p->tile[0] = least(m, turns ? SIDE : THREADS);
    if (p->tile[0] > room) p->tile[0] = room;
    p->tile[1] = least(n, room / p->tile[0]);
  }
  const int64_t part = (int64_t)p->tile[0] * p->tile[1] * width;
  p->tile[2] = width * (part < ENTRIES && p->tile[1] == n && p->tile[0] == m ? (int)(ENTRIES / part) : 1);
}

// Neighbours in memory take neighbours of C, whatever the layouts are.
static void plan_plain(RitzGpuBatched *p) {
  enum { ROWS = 32, COLS = 8 };
  p->tile[0] = ROWS;
  p->tile[1] = COLS;
  p->tile[2] = 1;
  p->is_uniform = false;
  p->is_in_memory = p->kind == RITZ_BATCH_LASWP;
}

void ritz_plan_gpu_batched_move(RitzGpuBatched *p, int max_threads, bool is_plain) {
  bool turns = false;
  int width = 1;
  if (!ritz_gpu_batched_moves(p->kind)) return;
  p->num_threads = least(THREADS, max_threads);
  p->has_tiles = true;
  if (is_plain || p->size[RITZ_DIM_M] < 1 || p->size[RITZ_DIM_N] < 1) {
    plan_plain(p);
    return;
  }
  for (int i = 0; i < RITZ_BATCHED_MAX_OPERANDS; i++) {
    const int own = 1 << (p->form[i] & RITZ_BATCH_WIDTH_BITS);
    if (own > width) width = own;
    p->order[i] = order_of(p->form[i]);
    turns = turns || order_of(p->form[i]) != order_of(p->form[2]);
  }
  // Swaps in shared memory where two matrices, or groups of them, fit in; else threads take columns where
  // they are.
  p->is_in_memory =
      p->kind == RITZ_BATCH_LASWP && 2 * (int64_t)p->size[RITZ_DIM_M] * p->size[RITZ_DIM_N] * width > ENTRIES;
  choose_tile(p, width, turns);
}

int64_t ritz_gpu_batched_tiles(const RitzGpuBatched *p, int64_t count) {
  const CeedInt m = p->size[RITZ_DIM_M], n = p->size[RITZ_DIM_N];
  if (m < 1 || n < 1) return 0;
  if (p->is_in_memory) return up(count * n, p->num_threads);
  return up(count, p->tile[2]) * up(m, p->tile[0]) * up(n, p->tile[1]);
}
