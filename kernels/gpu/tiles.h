// SPDX-License-Identifier: BSD-2-Clause
// Dense bases in fused kernels, by tensor cores (plan/gpu-tiles.h). A warp takes 16 elements from their nodes
// to the points and back without a barrier: what one product gives is an operand of the next one where it is.
//
// Numbers of a thread come in fours, of the elements g and g + 8 of its warp, at two neighbouring columns
// (nodes or points) of eight: thread 4 g + t has
//
//     (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
//
// That is how mma.m16n8k8 leaves its results, and how it wants an operand if the sum runs over the columns in
// the order 0 2 4 6 1 3 5 7, in which the matrix is read to match.
//
// Matrices lie in memory as blocks of 8 points x 8 nodes: [tile of points][component][nodes / 8], of
// RITZ_TILE numbers each, zeros where there is no point or node (ritz_gpu_fill_tiles() of plan/gpu-tiles.h
// makes them). Threads of the block call these functions together. m is the block's memory.
#ifndef RITZ_KERNELS_GPU_TILES_H
#define RITZ_KERNELS_GPU_TILES_H

#ifdef RITZ_EXCHANGE
#define RITZ_TILE_COPY_TWO(to, from) ((to)[0] = (from)[0], (to)[1] = (from)[1])
#else
#include "kernels/gpu/mma-f64.h"
#define RITZ_TILE_COPY_TWO(to, from) ritz_copy_two(to, from, 2)
#endif

#define RITZ_TILE      64
#define RITZ_TILE_LANE (RITZ_THREAD % 32)

// Node or point i of the thread, four for each eight: its column; of its two elements, the second?
#define RITZ_TILE_COLUMN(i) ((i) / 4 * 8 + RITZ_TILE_LANE % 4 * 2 + (i) % 2)
#define RITZ_TILE_SECOND(i) ((i) / 2 % 2)

// ---- Blocks of matrices ----

// Two points side by side, pairs of a node after the other, exchanged from row to row of pairs such that half
// a warp reads numbers of a row, and a quarter pairs of points, from different banks.
#define RITZ_TILE_SHIFT(point) ((point) / 2 * 2 + (point) / 2 % 2)
RITZ_INLINE int ritz_tile_place(int point, int node) {
  return point / 2 * 16 + (node ^ RITZ_TILE_SHIFT(point)) * 2 + point % 2;
}

// Brings tiles first .. first + most - 1 of `num`, as far as there are so many, of `size` numbers each; they
// are there behind RITZ_COPIED() and a barrier.
RITZ_INLINE void ritz_tiles_bring(int size, int num, int first, int most, RITZ_GLOBAL const RitzReal *matrix,
                                  RITZ_SHARED RitzReal *to) {
  const int count = size * (first + most < num ? most : num - first);
  for (int i = 2 * RITZ_THREAD; i < count; i += 2 * RITZ_THREADS)
    RITZ_TILE_COPY_TWO(to + i, matrix + first * size + i);
}

// ---- to += from * block: sums over nodes; transposed: over points ----

#ifdef RITZ_EXCHANGE // without tensor cores: offset in m of what threads exchange, four numbers each

RITZ_INLINE void ritz_tile_multiply(int is_transposed, RITZ_SHARED RitzReal *m,
                                    RITZ_SHARED const RitzReal *block, const RitzReal *from, RitzReal *to) {
  const int lane = RITZ_TILE_LANE, column = lane % 4 * 2;
  RITZ_SHARED RitzReal *own = m + RITZ_EXCHANGE + 4 * RITZ_THREAD;
  RITZ_SHARED const RitzReal *row = own - lane % 4 * 4;
  RITZ_BARRIER();
  for (int i = 0; i < 4; i++) own[i] = from[i];
  RITZ_BARRIER();
  for (int k = 0; k < 8; k++) {
    for (int i = 0; i < 4; i++) {
      const int at = is_transposed ? ritz_tile_place(k, column + i % 2) : ritz_tile_place(column + i % 2, k);
      to[i] += row[k / 2 * 4 + i / 2 * 2 + k % 2] * block[at];
    }
  }
}

#else

typedef struct RITZ_ALIGN16 {
  RitzReal of[2];
} RitzTilePair;

RITZ_INLINE void ritz_tile_multiply(int is_transposed, RITZ_SHARED RitzReal *m,
                                    RITZ_SHARED const RitzReal *block, const RitzReal *from, RitzReal *to) {
  const int group = RITZ_TILE_LANE / 4, column = RITZ_TILE_LANE % 4 * 2;
  const RitzReal a[4] = {from[0], from[2], from[1], from[3]};
  (void)m;
  if (is_transposed) {
    const RitzTilePair pair = *(RITZ_SHARED const RitzTilePair *)(block + ritz_tile_place(column, group));
    ritz_mma_f64(a, pair.of[0], pair.of[1], to);
  } else {
    ritz_mma_f64(a, block[ritz_tile_place(group, column)], block[ritz_tile_place(group, column + 1)], to);
  }
}

#endif

RITZ_INLINE void ritz_tile_clear(int n, RitzReal *values) {
  RITZ_UNROLL
  for (int i = 0; i < n; i++) values[i] = 0;
}

// Values [q_comp][num_comp][4] at the points of a tile from the nodes [num_comp][of_row][4]; `blocks`: the
// matrix there.
RITZ_INLINE void ritz_tile_get(int q_comp, int num_comp, int of_row, RITZ_SHARED RitzReal *m,
                               RITZ_SHARED const RitzReal *blocks, const RitzReal *nodes, RitzReal *values) {
  ritz_tile_clear(q_comp * num_comp * 4, values);
  RITZ_UNROLL
  for (int j = 0; j < of_row; j++) {
    RITZ_UNROLL
    for (int d = 0; d < q_comp; d++) {
      RITZ_UNROLL
      for (int c = 0; c < num_comp; c++)
        ritz_tile_multiply(0, m, blocks + (d * of_row + j) * RITZ_TILE, nodes + (c * of_row + j) * 4,
                           values + (d * num_comp + c) * 4);
    }
  }
}

// Adds to the nodes what the values at the points of a tile give.
RITZ_INLINE void ritz_tile_add(int q_comp, int num_comp, int of_row, RITZ_SHARED RitzReal *m,
                               RITZ_SHARED const RitzReal *blocks, const RitzReal *values, RitzReal *nodes) {
  RITZ_UNROLL
  for (int d = 0; d < q_comp; d++) {
    RITZ_UNROLL
    for (int j = 0; j < of_row; j++) {
      RITZ_UNROLL
      for (int c = 0; c < num_comp; c++)
        ritz_tile_multiply(1, m, blocks + (d * of_row + j) * RITZ_TILE, values + (d * num_comp + c) * 4,
                           nodes + (c * of_row + j) * 4);
    }
  }
}

// The number itself, without the compiler knowing: what is computed from it is not kept in registers from
// before the loop over tiles, nor loaded there.
RITZ_INLINE RitzLong ritz_tile_anew(RitzLong number) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+l"(number));
#endif
  return number;
}

// ---- Between fours and a point of both elements ----

// Data at a point that the thread has copied ahead.
RITZ_INLINE void ritz_tile_read(int n, RITZ_SHARED const RitzReal *ahead, RitzReal *arg) {
  RITZ_UNROLL
  for (int c = 0; c < n; c++) arg[c] = ahead[c * RITZ_THREADS];
}

// Point i (0 or 1) of n values: [n][4] -> [n][2].
RITZ_INLINE void ritz_tile_take(int n, int i, const RitzReal *values, RitzReal *of_point) {
  RITZ_UNROLL
  for (int c = 0; c < n; c++) {
    of_point[2 * c] = values[4 * c + i];
    of_point[2 * c + 1] = values[4 * c + 2 + i];
  }
}

// Back; a point that is not there gives nothing.
RITZ_INLINE void ritz_tile_give(int n, int i, int is_there, const RitzReal *of_point, RitzReal *values) {
  RITZ_UNROLL
  for (int c = 0; c < n; c++) {
    values[4 * c + i] = is_there ? of_point[2 * c] : 0;
    values[4 * c + 2 + i] = is_there ? of_point[2 * c + 1] : 0;
  }
}

// Node i of the thread, of `size` in a component: zeros where there is none.
RITZ_INLINE void ritz_tile_keep(int num_comp, int size, int i, int is_there, const RitzReal *node,
                                RitzReal *nodes) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) nodes[c * size + i] = is_there ? node[c] : 0;
}

#endif
