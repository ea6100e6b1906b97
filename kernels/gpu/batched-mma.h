// SPDX-License-Identifier: BSD-2-Clause
// Batched products of matrices of up to 64 x 64 doubles by tensor cores: C = alpha A B + beta C. The text in
// front defines:
//
//   RITZ_THREADS, RITZ_RESIDENT  of a block; blocks of a multiprocessor
//   RITZ_M, RITZ_N, RITZ_K       sizes: C m x n with k products
//   RITZ_TILES                   of 16 rows of C that a warp takes
//   RITZ_WARPS                   of a matrix
//   RITZ_SHARES                  they have B in shared memory: a block is a matrix
//   RITZ_TRANSPOSED_A, _B        op(A), op(B) are transposes
//   RITZ_MASK_A, _B, RITZ_KEEPS_LOWER, _UPPER: as in batched.h. C may be B, or A: a warp has its rows of A,
//   and B is in registers or shared memory, before any of C is written
//   RITZ_UNIFORM                 all matrices have these sizes; else they are bounds
//
// A warp keeps its rows of A in registers and takes 8 columns of B and C at a time. Thread 4 g + t has
//
//     A   rows 2g, 2g + 1 of each tile, products 2t, 2t + 1 of each 8
//     B   products 2t, 2t + 1, column g
//     C   rows 2g, 2g + 1, columns 2t, 2t + 1
//
// so that it reads and writes 16 bytes, and the threads with one t or g together whole sectors of memory;
// nothing is staged. The cores count rows 2g as g and 2g + 1 as g + 8, products 2t as t and 2t + 1 as t + 4.
// Rows, columns and products that matrices do not have are zeros. The order of each sum depends on nothing
// but the number of products.
#ifndef RITZ_KERNELS_GPU_BATCHED_MMA_H
#define RITZ_KERNELS_GPU_BATCHED_MMA_H

#include "kernels/gpu/batched.h"
#include "kernels/gpu/mma-f64.h"

#define RITZ_PARTS  ((RITZ_K + 7) / 8)     // of a sum
#define RITZ_PANELS ((RITZ_N + 7) / 8)     // of C
#define RITZ_LENGTH (8 * (RITZ_PARTS | 1)) // of columns of B in shared memory: two columns are in other banks
#define RITZ_LANE   (RITZ_THREAD % 32)
#ifdef RITZ_PLAYED // by threads of a host: tests/test-mma-kernels.c
#define RITZ_UNROLL_PANELS
#elif RITZ_N <= 32
#define RITZ_UNROLL_PANELS _Pragma("unroll 4")
#else
#define RITZ_UNROLL_PANELS _Pragma("unroll 2")
#endif

// Whether no pair of entries is half outside.
#ifdef RITZ_UNIFORM
#define RITZ_IS_EVEN(size) ((size) % 2 == 0)
#else
#define RITZ_IS_EVEN(size) 0
#endif

typedef struct RITZ_ALIGN16 {
  double v[2];
} RitzPair;

// Whether pairs of entries along columns are 16 bytes at a multiple of 16; of a matrix as it is stored.
RITZ_INLINE int ritz_has_pairs(RITZ_GLOBAL const double *p, RitzLong ld) {
  return ld % 2 == 0 && ((size_t)p & 15) == 0;
}

// The first `num` of two entries, then zeros.
RITZ_INLINE RitzPair ritz_read_pair(RITZ_GLOBAL const double *p, RitzLong step, int num, int is_pair,
                                    int is_even) {
  RitzPair pair;
  pair.v[0] = pair.v[1] = 0;
  if (is_pair && num > !is_even) {
    pair = *(RITZ_GLOBAL const RitzPair *)p;
  } else if (!(is_pair && is_even)) {
    if (num > 0) pair.v[0] = p[0];
    if (num > 1) pair.v[1] = p[step];
  }
  return pair;
}

// The first `num` of two entries of a column := x.
RITZ_INLINE void ritz_write_pair(RITZ_GLOBAL double *p, int num, int is_pair, int is_even, RitzPair x) {
  if (is_pair && num > !is_even) {
    *(RITZ_GLOBAL RitzPair *)p = x;
  } else if (!(is_pair && is_even)) {
    if (num > 0) p[0] = x.v[0];
    if (num > 1) p[1] = x.v[1];
  }
}

// The thread's part of 8 products of a tile.
RITZ_INLINE void ritz_read_A(RitzMatrix A, int row, int k, int m, int num, int is_pair, double *a) {
#ifdef RITZ_MASK_A
  (void)is_pair;
  RITZ_UNROLL
  for (int e = 0; e < 4; e++)
    a[e] = row + e % 2 < m && k + e / 2 < num ? RITZ_READ_A(A, row + e % 2, k + e / 2) : 0;
#elif defined(RITZ_TRANSPOSED_A)
  RITZ_UNROLL
  for (int r = 0; r < 2; r++) {
    const RitzPair pair = ritz_read_pair(A.p + (row + r) * A.rs + k, 1, row + r < m ? num - k : 0, is_pair,
                                         RITZ_IS_EVEN(RITZ_K));
    a[r] = pair.v[0];
    a[2 + r] = pair.v[1];
  }
#else
  RITZ_UNROLL
  for (int q = 0; q < 2; q++) {
    const RitzPair pair = ritz_read_pair(A.p + row + (k + q) * A.cs, 1, k + q < num ? m - row : 0, is_pair,
                                         RITZ_IS_EVEN(RITZ_M));
    a[2 * q] = pair.v[0];
    a[2 * q + 1] = pair.v[1];
  }
#endif
}

// And of 8 columns of B.
RITZ_INLINE RitzPair ritz_read_B(RitzMatrix B, int k, int column, int n, int num, int is_pair) {
#ifdef RITZ_MASK_B
  RitzPair pair;
  (void)is_pair;
  pair.v[0] = column < n && k < num ? RITZ_READ_B(B, k, column) : 0;
  pair.v[1] = column < n && k + 1 < num ? RITZ_READ_B(B, k + 1, column) : 0;
  return pair;
#elif defined(RITZ_TRANSPOSED_B)
  return ritz_read_pair(B.p + k * B.rs + column, B.rs, column < n ? num - k : 0, 0, 0);
#else
  return ritz_read_pair(B.p + k + column * B.cs, 1, column < n ? num - k : 0, is_pair, RITZ_IS_EVEN(RITZ_K));
#endif
}

#ifdef RITZ_SHARES

// All of B -> columns, by the threads of the block; zeros behind the last product.
RITZ_INLINE void ritz_share_B(RitzMatrix B, int n, int num, RITZ_SHARED double *columns) {
#ifdef RITZ_MASK_B
  for (int e = RITZ_THREAD; e < 8 * RITZ_PARTS * n; e += RITZ_THREADS) {
    const int k = e % (8 * RITZ_PARTS), c = e / (8 * RITZ_PARTS);
    columns[c * RITZ_LENGTH + k] = k < num ? RITZ_READ_B(B, k, c) : 0;
  }
#elif defined(RITZ_TRANSPOSED_B)
  for (int e = RITZ_THREAD; e < 8 * RITZ_PARTS * RITZ_N; e += RITZ_THREADS) {
    const int k = e / RITZ_N, c = e % RITZ_N;
    if (c < n) ritz_copy_one(columns + c * RITZ_LENGTH + k, k < num ? B.p + k * B.rs + c : B.p, k < num);
  }
#else
  const int is_pair = ritz_has_pairs(B.p, B.cs);
  for (int e = RITZ_THREAD; e < 4 * RITZ_PARTS * n && is_pair; e += RITZ_THREADS) {
    const int k = 2 * (e % (4 * RITZ_PARTS)), c = e / (4 * RITZ_PARTS);
    const int here = num - k < 0 ? 0 : num - k > 2 ? 2 : num - k;
    ritz_copy_two(columns + c * RITZ_LENGTH + k, here ? B.p + k + c * B.cs : B.p, here);
  }
  for (int e = RITZ_THREAD; e < 8 * RITZ_PARTS * n && !is_pair; e += RITZ_THREADS) {
    const int k = e % (8 * RITZ_PARTS), c = e / (8 * RITZ_PARTS);
    ritz_copy_one(columns + c * RITZ_LENGTH + k, k < num ? B.p + k + c * B.cs : B.p, k < num);
  }
#endif
}

#endif

// Stores entries of C: those of the triangle that is kept.
RITZ_INLINE void ritz_keep_pair(RITZ_GLOBAL double *p, int row, int column, int num, int is_pair, int is_even,
                                RitzPair x) {
#if defined(RITZ_KEEPS_LOWER) || defined(RITZ_KEEPS_UPPER)
  const int keeps_one = RITZ_KEEPS(row, column), keeps_two = RITZ_KEEPS(row + 1, column);
  if (keeps_one && keeps_two) {
    ritz_write_pair(p, num, is_pair, is_even, x);
  } else {
    if (keeps_one && num > 0) p[0] = x.v[0];
    if (keeps_two && num > 1) p[1] = x.v[1];
  }
#else
  (void)row, (void)column;
  ritz_write_pair(p, num, is_pair, is_even, x);
#endif
}

// The thread's parts of a panel of C, whose products are d.
RITZ_INLINE void ritz_write_C(RitzMatrix C, int row, int column, int m, int n, int is_pair, double alpha,
                              double beta, double (*d)[4]) {
  RITZ_UNROLL
  for (int i = 0; i < RITZ_TILES; i++) {
    RITZ_UNROLL
    for (int q = 0; q < 2; q++) {
      const int num = column + q < n ? m - row - 16 * i : 0;
      RITZ_GLOBAL double *p = C.p + row + 16 * i + (column + q) * C.cs;
      RitzPair pair;
      pair.v[0] = alpha == 0 ? 0 : alpha * d[i][q];
      pair.v[1] = alpha == 0 ? 0 : alpha * d[i][2 + q];
      if (beta != 0) {
        const RitzPair old = ritz_read_pair(p, 1, num, is_pair, RITZ_IS_EVEN(RITZ_M));
        pair.v[0] += beta * old.v[0];
        pair.v[1] += beta * old.v[1];
      }
      ritz_keep_pair(p, row + 16 * i, column + q, num, is_pair, RITZ_IS_EVEN(RITZ_M), pair);
    }
  }
}

// Panels of which the warp writes anything. A bound known by the compiler where C is all written.
#if defined(RITZ_KEEPS_LOWER)
#define RITZ_FIRST_PANEL(top) 0
#define RITZ_END_PANEL(top)                                                                                  \
  (((top) + 16 * RITZ_TILES + 7) / 8 < RITZ_PANELS ? ((top) + 16 * RITZ_TILES + 7) / 8 : RITZ_PANELS)
#elif defined(RITZ_KEEPS_UPPER)
#define RITZ_FIRST_PANEL(top) ((top) / 8)
#define RITZ_END_PANEL(top)   RITZ_PANELS
#else
#define RITZ_FIRST_PANEL(top) 0
#define RITZ_END_PANEL(top)   RITZ_PANELS
#endif

// 8 columns of C.
RITZ_INLINE void ritz_multiply_panel(double (*a)[RITZ_PARTS][4], RitzMatrix B, RitzMatrix C, int row,
                                     int panel, int m, int n, int num, double alpha, double beta,
                                     RITZ_SHARED const double *columns, int is_pair) {
  const int g = RITZ_LANE / 4, t = RITZ_LANE % 4;
  RitzPair b[RITZ_PARTS];
  double d[RITZ_TILES][4];
  RITZ_UNROLL
  for (int part = 0; part < RITZ_PARTS; part++) {
    const int k = 8 * part + 2 * t, column = 8 * panel + g;
#ifdef RITZ_SHARES
    b[part] = *(RITZ_SHARED const RitzPair *)(columns + column * RITZ_LENGTH + k);
#else
    b[part] = ritz_read_B(B, k, column, n, num, is_pair);
#endif
  }
  RITZ_UNROLL
  for (int i = 0; i < RITZ_TILES; i++) d[i][0] = d[i][1] = d[i][2] = d[i][3] = 0;
  RITZ_UNROLL
  for (int part = 0; part < RITZ_PARTS; part++) {
    RITZ_UNROLL
    for (int i = 0; i < RITZ_TILES; i++) ritz_mma_f64(a[i][part], b[part].v[0], b[part].v[1], d[i]);
  }
  ritz_write_C(C, row, 8 * panel + 2 * t, m, n, is_pair, alpha, beta, d);
}

// Tiles from row `top` on, of the threads of a warp. num: products. is_pair: all matrices have pairs.
RITZ_INLINE void ritz_multiply(RitzMatrix A, RitzMatrix B, RitzMatrix C, int top, int m, int n, int num,
                               double alpha, double beta, RITZ_SHARED const double *columns, int is_pair) {
  const int row = top + 2 * (RITZ_LANE / 4);
  double a[RITZ_TILES][RITZ_PARTS][4];
  RITZ_UNROLL
  for (int i = 0; i < RITZ_TILES; i++) {
    RITZ_UNROLL
    for (int part = 0; part < RITZ_PARTS; part++)
      ritz_read_A(A, row + 16 * i, 8 * part + 2 * (RITZ_LANE % 4), m, num, is_pair, a[i][part]);
  }
#ifdef RITZ_SHARES
  ritz_copies_wait();
  RITZ_BARRIER();
#endif
  if (is_pair) {
    RITZ_UNROLL_PANELS
    for (int panel = RITZ_FIRST_PANEL(top); panel < RITZ_END_PANEL(top); panel++)
      ritz_multiply_panel(a, B, C, row, panel, m, n, num, alpha, beta, columns, 1);
  } else {
    RITZ_ROLL
    for (int panel = RITZ_FIRST_PANEL(top); panel < RITZ_END_PANEL(top); panel++)
      ritz_multiply_panel(a, B, C, row, panel, m, n, num, alpha, beta, columns, 0);
  }
}

RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  const double alpha = RITZ_DOUBLE(alpha_bits), beta = RITZ_DOUBLE(beta_bits);
#ifdef RITZ_SHARES
  RITZ_SHARED_ARRAY RitzPair pairs[8 * RITZ_PANELS * RITZ_LENGTH / 2];
  RITZ_SHARED double *const columns = pairs[0].v;
#else
  double *const columns = 0;
#endif
  // Warps one by one; in blocks that share, those of a block take the same matrix.
  for (RitzLong warp = RITZ_BLOCK * (RITZ_THREADS / 32) + RITZ_THREAD / 32;
       warp < RITZ_NUM_TURNS * RITZ_WARPS; warp += RITZ_NUM_BLOCKS * (RITZ_THREADS / 32)) {
    const RitzLong i = RITZ_MEMBER(warp / RITZ_WARPS);
    const int top = (int)(warp % RITZ_WARPS) * 16 * RITZ_TILES;
    RITZ_KNOW_SIZES(i);
    const RitzMatrix A = RITZ_MATRIX(A, i, m, num), B = RITZ_MATRIX(B, i, num, n),
                     C = RITZ_MATRIX(C, i, m, n);
#ifdef RITZ_TRANSPOSED_A
    int is_pair = ritz_has_pairs(A.p, A.rs) && ritz_has_pairs(C.p, C.cs);
#else
    int is_pair = ritz_has_pairs(A.p, A.cs) && ritz_has_pairs(C.p, C.cs);
#endif
#ifdef RITZ_SHARES
    if (alpha != 0) ritz_share_B(B, n, num, columns);
#elif !defined(RITZ_TRANSPOSED_B)
    is_pair = is_pair && ritz_has_pairs(B.p, B.cs);
#endif
    if (is_pair && alpha != 0)
      ritz_multiply(A, B, C, top, m, n, num, alpha, beta, columns, 1);
    else
      ritz_multiply(A, B, C, top, m, n, alpha != 0 ? num : 0, alpha, beta, columns, 0);
#ifdef RITZ_SHARES
    RITZ_BARRIER();
#endif
  }
}

#endif
