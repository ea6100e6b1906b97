// SPDX-License-Identifier: BSD-2-Clause
// Batches of matrices that are copied, added, set or have their rows swapped: bound by memory, so threads
// take entries that are neighbours there. A block takes a tile: RITZ_TILE_ROWS x RITZ_TILE_COLS entries of
// each of RITZ_TILE_MATRICES matrices. The text in front defines, beside these:
//
//   RITZ_THREADS, RITZ_UNIFORM   as in batched.h
//   RITZ_M, RITZ_N               RITZ_UNIFORM: sizes, C m x n
//   RITZ_ORDER_A, _B, _C         of entries in memory: bits RITZ_COLUMNS_FIRST, RITZ_MATRICES_FIRST
//   RITZ_TARGET_F32, _F64        the precision of C, where it is not the entries'
//   RITZ_IN_MEMORY               RITZ_LASWP: without shared memory, else a tile is whole matrices
//   and one of RITZ_COPY (C = A), RITZ_GEAM (C = alpha A + beta B), RITZ_LASET (A = alpha, beta on the
//   diagonal), RITZ_LASWP (rows of A): what is done
//
// A thread reads all its entries of a tile before it writes one. Operands in another order than C turn in
// shared memory, where lines of a tile are an odd number of entries apart.
#ifndef RITZ_KERNELS_GPU_BATCHED_MOVE_H
#define RITZ_KERNELS_GPU_BATCHED_MOVE_H

#include "kernels/gpu/batched.h"

#define RITZ_COLUMNS_FIRST  1 // entries of a row are neighbours
#define RITZ_MATRICES_FIRST 2 // matrices are interleaved

#if defined(RITZ_TARGET_F32)
typedef float RitzTarget;
#elif defined(RITZ_TARGET_F64)
typedef double RitzTarget;
#else
typedef RitzEntry RitzTarget;
#endif

#define RITZ_TILE_ENTRIES (RITZ_TILE_ROWS * RITZ_TILE_COLS * RITZ_TILE_MATRICES)
#define RITZ_RUN          ((RITZ_TILE_ENTRIES + RITZ_THREADS - 1) / RITZ_THREADS) // entries of a thread
#define RITZ_COL_FAR      (RITZ_TILE_ROWS | 1)
#define RITZ_MATRIX_FAR   ((RITZ_TILE_COLS * RITZ_COL_FAR) | 1)
#define RITZ_TURN_ENTRIES (RITZ_TILE_MATRICES * RITZ_MATRIX_FAR)
#ifdef RITZ_UNIFORM
#define RITZ_BOUND_M RITZ_M
#define RITZ_BOUND_N RITZ_N
#else
#define RITZ_BOUND_M bound_m
#define RITZ_BOUND_N bound_n
#endif
#define RITZ_TILES_DOWN   ((RITZ_BOUND_M + RITZ_TILE_ROWS - 1) / RITZ_TILE_ROWS)
#define RITZ_TILES_ACROSS ((RITZ_BOUND_N + RITZ_TILE_COLS - 1) / RITZ_TILE_COLS)

// Where an entry is: in the batch, in its tile, and in shared memory. i < 0: it is no entry.
typedef struct {
  RitzLong i;
  int row, col, place;
} RitzSpot;

// A tile.
typedef struct {
  RitzLong first; // matrix
  int row0, col0;
} RitzTile;

#define RITZ_EACH_TILE(tile)                                                                                 \
  for (RitzLong tile = RITZ_BLOCK;                                                                           \
       tile < (count + RITZ_TILE_MATRICES - 1) / RITZ_TILE_MATRICES * RITZ_TILES_DOWN * RITZ_TILES_ACROSS;   \
       tile += RITZ_NUM_BLOCKS)

RITZ_INLINE RitzTile ritz_tile(RitzLong number, int down, int across) {
  RitzTile tile;
  tile.row0 = (int)(number % down) * RITZ_TILE_ROWS;
  number /= down;
  tile.col0 = (int)(number % across) * RITZ_TILE_COLS;
  tile.first = number / across * RITZ_TILE_MATRICES;
  return tile;
}

// Entry `number` of the tile in this order.
RITZ_INLINE RitzSpot ritz_spot(RitzTile tile, int number, int order, RitzLong count) {
  RitzSpot s;
  int matrix = 0, row, col;
  const int is_inside = number < RITZ_TILE_ENTRIES;
  if (order & RITZ_MATRICES_FIRST) {
    matrix = number % RITZ_TILE_MATRICES;
    number /= RITZ_TILE_MATRICES;
  }
  if (order & RITZ_COLUMNS_FIRST) {
    col = number % RITZ_TILE_COLS;
    number /= RITZ_TILE_COLS;
    row = number % RITZ_TILE_ROWS;
    number /= RITZ_TILE_ROWS;
  } else {
    row = number % RITZ_TILE_ROWS;
    number /= RITZ_TILE_ROWS;
    col = number % RITZ_TILE_COLS;
    number /= RITZ_TILE_COLS;
  }
  if (!(order & RITZ_MATRICES_FIRST)) matrix = number;
  s.place = matrix * RITZ_MATRIX_FAR + col * RITZ_COL_FAR + row;
  s.row = tile.row0 + row;
  s.col = tile.col0 + col;
  s.i = is_inside && tile.first + matrix < count ? tile.first + matrix : -1;
  return s;
}

// Whether the matrix has the entry; m, n: its sizes.
#define RITZ_HAS(s, m, n)                                                                                    \
  ((s).i >= 0 && ritz_has(s, bound_m, bound_n, bound_k, sizes_m, sizes_n, sizes_k, &(m), &(n)))
RITZ_INLINE int ritz_has(RitzSpot s, int bound_m, int bound_n, int bound_k, RITZ_GLOBAL const int *sizes_m,
                         RITZ_GLOBAL const int *sizes_n, RITZ_GLOBAL const int *sizes_k, int *m, int *n) {
  int k = 0;
  (void)ritz_sizes(s.i, bound_m, bound_n, bound_k, sizes_m, sizes_n, sizes_k, m, n, &k);
  return s.row < *m && s.col < *n;
}

// The thread's entries of an operand -> values; zeros where it has none, or is not read.
#define RITZ_READ_TILE(x, order, is_read, values)                                                            \
  RITZ_UNROLL                                                                                                \
  for (int q = 0; q < RITZ_RUN; q++) {                                                                       \
    const RitzSpot s = ritz_spot(tile, RITZ_THREAD + q * RITZ_THREADS, order, count);                        \
    int m, n;                                                                                                \
    (values)[q] = 0;                                                                                         \
    if ((is_read) && RITZ_HAS(s, m, n)) {                                                                    \
      const RitzMatrix M = RITZ_MATRIX(x, s.i, m, n);                                                        \
      (values)[q] = RITZ_AT(M, s.row, s.col);                                                                \
    }                                                                                                        \
  }

// values in one order -> shared memory; and from there in another one.
RITZ_INLINE void ritz_put_tile(RitzTile tile, int order, const RitzEntry *values,
                               RITZ_SHARED RitzEntry *turned) {
  RITZ_UNROLL
  for (int q = 0; q < RITZ_RUN; q++) {
    const int number = RITZ_THREAD + q * RITZ_THREADS;
    if (number < RITZ_TILE_ENTRIES) turned[ritz_spot(tile, number, order, 0).place] = values[q];
  }
}
RITZ_INLINE void ritz_get_tile(RitzTile tile, int order, RitzEntry *values,
                               RITZ_SHARED const RitzEntry *turned) {
  RITZ_UNROLL
  for (int q = 0; q < RITZ_RUN; q++) {
    const int number = RITZ_THREAD + q * RITZ_THREADS;
    if (number < RITZ_TILE_ENTRIES) values[q] = turned[ritz_spot(tile, number, order, 0).place];
  }
}

// values -> C.
#define RITZ_WRITE_TILE(values)                                                                              \
  RITZ_UNROLL                                                                                                \
  for (int q = 0; q < RITZ_RUN; q++) {                                                                       \
    const RitzSpot s = ritz_spot(tile, RITZ_THREAD + q * RITZ_THREADS, RITZ_ORDER_C, count);                 \
    int m, n;                                                                                                \
    if (!RITZ_HAS(s, m, n)) continue;                                                                        \
    const RitzPlace at = RITZ_PLACE_OF_C(s.i, m, n);                                                         \
    RITZ_TARGET_OF_C(s.i)[at.start + s.row * at.rs + s.col * at.cs] = (RitzTarget)(values)[q];               \
  }
#define RITZ_PLACE_OF_C(i, rows, cols)                                                                       \
  ritz_place(C_places, C_lds, C_first_rows, C_first_cols, C_row0, C_col0, C_stride, RITZ_LD_OF(C),           \
             RITZ_FORM_OF(C), i, rows, cols)
#ifdef __OPENCL_VERSION__
#define RITZ_TARGET_OF_C(i) ((RITZ_GLOBAL RitzTarget *)C_base)
#else
#define RITZ_TARGET_OF_C(i)                                                                                  \
  ((RitzTarget *)(C_form & RITZ_HAS_POINTERS ? (void *)C_places[i] : (void *)C_base))
#endif

#if defined(RITZ_COPY) || defined(RITZ_GEAM)

#if RITZ_ORDER_A != RITZ_ORDER_C || (defined(RITZ_GEAM) && RITZ_ORDER_B != RITZ_ORDER_C)
#define RITZ_TURNS
#endif

// From the order of an operand to that of C; all threads.
RITZ_INLINE void ritz_turn(RitzTile tile, int order, RitzEntry *values, RITZ_SHARED RitzEntry *turned) {
#ifdef RITZ_TURNS
  if (order == RITZ_ORDER_C) return;
  ritz_put_tile(tile, order, values, turned);
  RITZ_BARRIER();
  ritz_get_tile(tile, RITZ_ORDER_C, values, turned);
  RITZ_BARRIER();
#endif
}

RITZ_KERNEL(RITZ_THREADS) ritz_batched(RITZ_BATCH_PARAMETERS) {
#ifdef RITZ_TURNS
  RITZ_SHARED_ARRAY RitzEntry turned[RITZ_TURN_ENTRIES];
#else
  RITZ_SHARED RitzEntry *turned = 0;
#endif
  const RitzEntry alpha = (RitzEntry)RITZ_DOUBLE(alpha_bits);
  RITZ_EACH_TILE(number) {
    const RitzTile tile = ritz_tile(number, RITZ_TILES_DOWN, RITZ_TILES_ACROSS);
    RitzEntry a[RITZ_RUN];
    RITZ_READ_TILE(A, RITZ_ORDER_A, alpha != 0, a);
#ifdef RITZ_GEAM
    const RitzEntry beta = (RitzEntry)RITZ_DOUBLE(beta_bits);
    RitzEntry b[RITZ_RUN];
    RITZ_READ_TILE(B, RITZ_ORDER_B, beta != 0, b);
    ritz_turn(tile, RITZ_ORDER_B, b, turned);
#endif
    ritz_turn(tile, RITZ_ORDER_A, a, turned);
#ifdef RITZ_GEAM
    RITZ_UNROLL
    for (int q = 0; q < RITZ_RUN; q++) {
      const RitzEntry value = alpha == 0 ? 0 : alpha * a[q];
      a[q] = beta == 0 ? value : value + beta * b[q];
    }
#endif
    RITZ_WRITE_TILE(a);
  }
}

#endif

#ifdef RITZ_LASET

RITZ_KERNEL(RITZ_THREADS) ritz_batched(RITZ_BATCH_PARAMETERS) {
  const RitzEntry alpha = (RitzEntry)RITZ_DOUBLE(alpha_bits), beta = (RitzEntry)RITZ_DOUBLE(beta_bits);
  RITZ_EACH_TILE(number) {
    const RitzTile tile = ritz_tile(number, RITZ_TILES_DOWN, RITZ_TILES_ACROSS);
    RitzEntry values[RITZ_RUN];
    RITZ_UNROLL
    for (int q = 0; q < RITZ_RUN; q++) {
      const RitzSpot s = ritz_spot(tile, RITZ_THREAD + q * RITZ_THREADS, RITZ_ORDER_C, count);
      values[q] = s.row == s.col ? beta : alpha;
    }
    RITZ_WRITE_TILE(values);
  }
}

#endif

#ifdef RITZ_LASWP

// Swaps of rows k1 .. end, counted from 1, or back, in one column: row r is at column[r * step].
#define RITZ_SWAP_COLUMN(column, step, m, end, pivots)                                                       \
  for (RitzLong turn = k1; turn <= (end); turn++) {                                                          \
    const RitzLong k = options ? k1 + (end)-turn : turn, row = k <= (m) ? (pivots)[k - 1] : 0;               \
    const RitzLong other = row < 1 || row > (m) ? k : row;                                                   \
    if (other != k) {                                                                                        \
      const RitzEntry kept = (column)[(k - 1) * (step)];                                                     \
      (column)[(k - 1) * (step)] = (column)[(other - 1) * (step)];                                           \
      (column)[(other - 1) * (step)] = kept;                                                                 \
    }                                                                                                        \
  }

// options: back, from k2 to k1; these are in place of alpha and beta.
#ifdef RITZ_IN_MEMORY

RITZ_KERNEL(RITZ_THREADS) ritz_batched(RITZ_BATCH_PARAMETERS) {
  const RitzLong k1 = alpha_bits, k2 = beta_bits;
  for (RitzLong item = RITZ_ITEM; item < count * RITZ_BOUND_N; item += RITZ_NUM_ITEMS) {
    const RitzLong i = item / RITZ_BOUND_N;
    const int col = (int)(item % RITZ_BOUND_N);
    RITZ_KNOW_SIZES(i);
    if (col >= n) continue;
    const RitzMatrix A = RITZ_MATRIX(A, i, m, n);
    RITZ_GLOBAL RitzEntry *column = &RITZ_AT(A, 0, col);
    RITZ_SWAP_COLUMN(column, A.rs, m, k2, ipiv + i * ipiv_stride);
  }
}

#else

// Matrices in shared memory, a column a thread.
RITZ_KERNEL(RITZ_THREADS) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_SHARED_ARRAY RitzEntry turned[RITZ_TURN_ENTRIES];
  const RitzLong k1 = alpha_bits, k2 = beta_bits;
  RITZ_EACH_TILE(number) {
    const RitzTile tile = ritz_tile(number, RITZ_TILES_DOWN, RITZ_TILES_ACROSS);
    RitzEntry values[RITZ_RUN];
    RITZ_READ_TILE(A, RITZ_ORDER_A, 1, values);
    ritz_put_tile(tile, RITZ_ORDER_A, values, turned);
    RITZ_BARRIER();
    for (int c = RITZ_THREAD; c < RITZ_TILE_MATRICES * RITZ_TILE_COLS; c += RITZ_THREADS) {
      const int matrix = c % RITZ_TILE_MATRICES, col = c / RITZ_TILE_MATRICES;
      const RitzLong i = tile.first + matrix < count ? tile.first + matrix : tile.first;
      RITZ_KNOW_SIZES(i);
      const RitzLong end = tile.first + matrix < count && tile.col0 + col < n ? k2 : k1 - 1;
      RITZ_SHARED RitzEntry *column = turned + matrix * RITZ_MATRIX_FAR + col * RITZ_COL_FAR;
      RITZ_SWAP_COLUMN(column, 1, m, end, ipiv + i * ipiv_stride);
    }
    RITZ_BARRIER();
    ritz_get_tile(tile, RITZ_ORDER_C, values, turned);
    RITZ_WRITE_TILE(values);
    RITZ_BARRIER();
  }
}

#endif
#endif

#endif
