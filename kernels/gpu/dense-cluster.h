// SPDX-License-Identifier: BSD-2-Clause
// Dense solver on CUDA devices from compute capability 9.0 on: LU of a panel by a cluster of blocks, which
// the device starts together and which write into each other's shared memory. A thread has RITZ_ROWS_HELD
// rows, of RITZ_HELD columns at once, in its registers. The text in front defines RITZ_CLUSTER blocks, at
// most 16, RITZ_CLUSTER_THREADS of each, and RITZ_ROWS_HELD. tests/test-dense-cluster.c plays it on a host.
#ifndef RITZ_KERNELS_GPU_DENSE_CLUSTER_H
#define RITZ_KERNELS_GPU_DENSE_CLUSTER_H

#include "kernels/gpu/dense-solver.h"

// 64 registers of a thread for entries.
#ifdef RITZ_ENTRY_F32
enum { RITZ_HELD = RITZ_ROWS_HELD < 2 ? RITZ_PANEL : 64 / RITZ_ROWS_HELD };
#else
enum { RITZ_HELD = 32 / RITZ_ROWS_HELD };
#endif

enum { RITZ_ROW_STEP = RITZ_CLUSTER * RITZ_CLUSTER_THREADS }; // from row to row of a thread

// Rank of a row that is offered as pivot: the bits of its entry's size, and where LAPACK would have it.
typedef struct {
  unsigned high, low;
  int place;
} RitzRank;

// Shared memory of a block. Offers of steps take turns between two places, so that nobody overwrites what is
// still read.
typedef struct {
  RitzEntry best[RITZ_HELD];                                             // the block's own offer
  RitzEntry rows[2][RITZ_CLUSTER][RITZ_HELD];                            // the offers of all
  RitzEntry lower[RITZ_PANEL][RITZ_PANEL], upper[RITZ_PANEL][RITZ_HELD]; // of the panel's own rows
  RitzRank ranks[2][RITZ_CLUSTER], of_warps[RITZ_CLUSTER_THREADS / 32];
} RitzPanelMemory;

#ifdef RITZ_PLAYED

static RitzPanelMemory memory[RITZ_CLUSTER];
#define RITZ_CLUSTER_MEMORY(m) RitzPanelMemory *const m = memory + RITZ_BLOCK
RITZ_INLINE RitzPanelMemory *ritz_memory_of(RitzPanelMemory *m, int block) { return memory + block; }

#else

#define RITZ_KERNEL_CLUSTER(num_threads, num_blocks)                                                         \
  extern "C" __global__ void __launch_bounds__(num_threads, 1) __cluster_dims__(num_blocks, 1, 1)
#define RITZ_CLUSTER_MEMORY(m) __shared__ RITZ_ALIGN16 RitzPanelMemory m[1]

RITZ_INLINE unsigned ritz_most(unsigned x) { return __reduce_max_sync(0xffffffffu, x); }
RITZ_INLINE int ritz_least(int x) { return __reduce_min_sync(0xffffffffu, x); }
RITZ_INLINE unsigned ritz_high_word(RitzLong bits) { return (unsigned)(bits >> 32); }
// All that was written before, into any block's memory or the device's, is seen behind it.
RITZ_INLINE void ritz_cluster_barrier(void) {
  asm volatile("barrier.cluster.arrive.release;" : : : "memory");
  asm volatile("barrier.cluster.wait.acquire;" : : : "memory");
}
// That memory of another block.
RITZ_INLINE RitzPanelMemory *ritz_memory_of(RitzPanelMemory *m, int block) {
  RitzPanelMemory *other;
  asm("mapa.u64 %0, %1, %2;" : "=l"(other) : "l"(m), "r"(block));
  return other;
}

#endif

// NaN ranks behind all numbers.
RITZ_INLINE RitzRank ritz_rank(RitzEntry x, int place) {
  RitzRank rank = {0, 0, place};
  if (x != x) return rank;
#ifdef RITZ_ENTRY_F32
  rank.high = (unsigned)__float_as_int(x) & 0x7fffffffu;
#else
  const RitzLong bits = __double_as_longlong(x);
  rank.high = ritz_high_word(bits) & 0x7fffffffu;
  rank.low = (unsigned)bits;
#endif
  return rank;
}

RITZ_INLINE int ritz_is_before(RitzRank a, RitzRank b) {
  if (a.high != b.high) return a.high > b.high;
  return a.low != b.low ? a.low > b.low : a.place < b.place;
}

// The first rank of a warp, which all of its threads get.
RITZ_INLINE RitzRank ritz_first(RitzRank mine) {
  RitzRank first;
  first.high = ritz_most(mine.high);
  first.low = 0;
#ifndef RITZ_ENTRY_F32
  first.low = ritz_most(mine.high == first.high ? mine.low : 0);
#endif
  first.place = ritz_least(mine.high == first.high && mine.low == first.low ? mine.place : 0x7fffffff);
  return first;
}

// The pivot of column d, held as column k: its place; its row, in this block's memory. All blocks together.
RITZ_INLINE const RitzEntry *ritz_find_pivot(RitzPanelMemory *m, RitzEntry (*a)[RITZ_HELD], const int *place,
                                             int d, int k, int *pivot) {
  const int warp = RITZ_THREAD / 32, lane = RITZ_THREAD % 32, num_warps = RITZ_CLUSTER_THREADS / 32;
  const int turn = k % 2;
  const RitzRank none = {0, 0, 0x7fffffff};
  RitzRank mine = none;
  RITZ_UNROLL
  for (int r = 0; r < RITZ_ROWS_HELD; r++) {
    const RitzRank other = place[r] >= d ? ritz_rank(a[r][k], place[r]) : none;
    if (ritz_is_before(other, mine)) mine = other;
  }
  mine = ritz_first(mine);
  if (lane == 0) m->of_warps[warp] = mine;
  RITZ_BARRIER();
  mine = ritz_first(lane < num_warps ? m->of_warps[lane] : none);
  RITZ_UNROLL
  for (int r = 0; r < RITZ_ROWS_HELD; r++) {
    if (place[r] == mine.place) {
      RITZ_UNROLL
      for (int j = 0; j < RITZ_HELD; j++) m->best[j] = a[r][j];
    }
  }
  RITZ_BARRIER();
  for (int b = warp; b < RITZ_CLUSTER; b += num_warps) {
    RitzPanelMemory *other = ritz_memory_of(m, b);
    if (lane < RITZ_HELD) other->rows[turn][RITZ_BLOCK][lane] = m->best[lane];
    if (lane == 0) other->ranks[turn][RITZ_BLOCK] = mine;
  }
  ritz_cluster_barrier();
  mine = lane < RITZ_CLUSTER ? m->ranks[turn][lane] : none;
  *pivot = ritz_first(mine).place;
  return m->rows[turn][ritz_least(mine.place == *pivot ? lane : 32)];
}

RITZ_INLINE void ritz_eliminate(RitzEntry (*a)[RITZ_HELD], int *place, int d, int k, int pivot,
                                const RitzEntry *row) {
  const RitzEntry value = row[k];
  RITZ_UNROLL
  for (int r = 0; r < RITZ_ROWS_HELD; r++) {
    if (place[r] == pivot) {
      place[r] = d;
    } else if (place[r] == d) {
      place[r] = pivot;
    }
    if (place[r] > d && value != 0) {
      a[r][k] /= value;
      RITZ_UNROLL
      for (int j = k + 1; j < RITZ_HELD; j++) a[r][j] -= a[r][k] * row[j];
    }
  }
}

// The columns held take part in the `done` steps before them: rows that were pivots become those of U. All
// blocks together. own: the thread's first row of the panel's first column.
RITZ_INLINE void ritz_catch_up(RitzPanelMemory *m, const RitzEntry *own, RitzLong ld, int first, int done,
                               const int *place, RitzEntry (*a)[RITZ_HELD]) {
  RITZ_UNROLL
  for (int r = 0; r < RITZ_ROWS_HELD; r++) {
    const int q = place[r] - first;
    for (int b = 0; b < RITZ_CLUSTER && q >= 0 && q < done; b++) {
      RitzPanelMemory *other = ritz_memory_of(m, b);
      RITZ_UNROLL
      for (int j = 0; j < RITZ_HELD; j++) other->upper[q][j] = a[r][j];
      for (int p = 0; p < q; p++) other->lower[q][p] = own[r * RITZ_ROW_STEP + p * ld];
    }
  }
  ritz_cluster_barrier();
  for (int q = 1; q < done && RITZ_THREAD < RITZ_HELD; q++) {
    RitzEntry x = m->upper[q][RITZ_THREAD];
    for (int p = 0; p < q; p++) x -= m->lower[q][p] * m->upper[p][RITZ_THREAD];
    m->upper[q][RITZ_THREAD] = x;
  }
  RITZ_BARRIER();
  RITZ_UNROLL
  for (int r = 0; r < RITZ_ROWS_HELD; r++) {
    const int q = place[r] - first;
    RITZ_UNROLL
    for (int j = 0; j < RITZ_HELD; j++) a[r][j] = q >= 0 && q < done ? m->upper[q][j] : a[r][j];
    for (int p = 0; p < done && q >= done; p++) {
      const RitzEntry factor = own[r * RITZ_ROW_STEP + p * ld];
      RITZ_UNROLL
      for (int j = 0; j < RITZ_HELD; j++) a[r][j] -= factor * m->upper[p][j];
    }
  }
}

// Columns `from` .. of the panel; rows with a negative place are left out.
RITZ_INLINE void ritz_read_columns(const RitzEntry *own, RitzLong ld, int from, int num, const int *place,
                                   RitzEntry (*a)[RITZ_HELD]) {
  RITZ_UNROLL
  for (int r = 0; r < RITZ_ROWS_HELD; r++) {
    RITZ_UNROLL
    for (int j = 0; j < RITZ_HELD; j++)
      a[r][j] = place[r] >= 0 && from + j < num ? own[r * RITZ_ROW_STEP + (from + j) * ld] : 0;
  }
}

// Into the thread's own rows, the first of which is `mine`, or is_placed to their places.
RITZ_INLINE void ritz_write_columns(RitzEntry *own, RitzLong ld, int from, int num, int mine, int is_placed,
                                    const int *place, RitzEntry (*a)[RITZ_HELD]) {
  RITZ_UNROLL
  for (int r = 0; r < RITZ_ROWS_HELD; r++) {
    RitzEntry *const to = own + (is_placed ? place[r] - mine : r * RITZ_ROW_STEP);
    RITZ_UNROLL
    for (int j = 0; j < RITZ_HELD; j++) {
      if (place[r] >= 0 && from + j < num) to[(from + j) * ld] = a[r][j];
    }
  }
}

// As ritz_panel, of at most RITZ_CLUSTER RITZ_CLUSTER_THREADS RITZ_ROWS_HELD rows. Rows stay where they are,
// and remember where LAPACK's swaps would have put them; what is in the panel goes there in the end. moves:
// of this panel the first number is 0 before.
RITZ_KERNEL_CLUSTER(RITZ_CLUSTER_THREADS, RITZ_CLUSTER)
ritz_panel_cluster(int n, RitzLong ld, RitzEntry *F, int first, int num, int *pivots, int *moves, int *bad) {
  RITZ_CLUSTER_MEMORY(m);
  RitzEntry a[RITZ_ROWS_HELD][RITZ_HELD];
  int place[RITZ_ROWS_HELD];
  int *const moved = moves + (RitzLong)(first / RITZ_PANEL) * RITZ_MOVES_STRIDE;
  const int mine = first + (int)RITZ_BLOCK * RITZ_CLUSTER_THREADS + RITZ_THREAD;
  const int last = (num - 1) / RITZ_HELD * RITZ_HELD;
  RitzEntry *const own = F + mine + first * ld;
  RITZ_UNROLL
  for (int r = 0; r < RITZ_ROWS_HELD; r++)
    place[r] = mine + r * RITZ_ROW_STEP < n ? mine + r * RITZ_ROW_STEP : -1;
  ritz_cluster_barrier(); // all blocks have begun
  for (int from = 0; from <= last; from += RITZ_HELD) {
    ritz_read_columns(own, ld, from, num, place, a);
    if (from > 0) ritz_catch_up(m, own, ld, first, from, place, a);
    RITZ_UNROLL
    for (int k = 0; k < RITZ_HELD; k++) {
      if (from + k >= num) break;
      const int d = first + from + k;
      int pivot;
      const RitzEntry *const row = ritz_find_pivot(m, a, place, d, k, &pivot);
      if (RITZ_BLOCK == 0 && RITZ_THREAD == 0) {
        pivots[d] = pivot;
        if (!(row[k] != 0 && RITZ_FINITE(row[k])) && *bad == 0) *bad = d + 1;
      }
      ritz_eliminate(a, place, d, k, pivot, row);
    }
    if (from < last) ritz_write_columns(own, ld, from, num, mine, 0, place, a);
  }
  ritz_write_columns(own, ld, last, num, mine, 1, place, a);
  RITZ_UNROLL
  for (int r = 0; r < RITZ_ROWS_HELD; r++) {
    const int from = mine + r * RITZ_ROW_STEP;
    if (place[r] == from) place[r] = -1; // the others move
    if (place[r] >= 0) {
      const int e = atomicAdd(moved, 1);
      moved[1 + e] = place[r];
      moved[1 + RITZ_MOVES + e] = from;
    }
  }
  for (int from = 0; from < last; from += RITZ_HELD) {
    ritz_read_columns(own, ld, from, num, place, a);
    ritz_cluster_barrier();
    ritz_write_columns(own, ld, from, num, mine, 1, place, a);
  }
}

#endif
