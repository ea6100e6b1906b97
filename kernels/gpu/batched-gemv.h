// SPDX-License-Identifier: BSD-2-Clause
// Part of kernels/gpu/batched-blocks.h: products with one column, which is in shared memory. Matrices whose
// rows are next to each other in memory: a row a thread. Else a warp takes 32 rows one after the other,
// threads parts of a row, and then a thread adds up what the others have of one row.
#ifndef RITZ_KERNELS_GPU_BATCHED_GEMV_H
#define RITZ_KERNELS_GPU_BATCHED_GEMV_H

#define RITZ_SOME 16 // entries that a thread reads at a time

RITZ_INLINE void ritz_store(RitzMatrix y, int row, RitzEntry alpha, RitzEntry sum, RitzEntry beta) {
  const RitzEntry product = alpha == 0 ? 0 : alpha * sum;
  RITZ_AT(y, row, 0) = beta == 0 ? product : product + beta * RITZ_AT(y, row, 0);
}

RITZ_INLINE RitzEntry ritz_row_product(RitzMatrix a, int row, int k, RITZ_SHARED const RitzEntry *x) {
  RitzEntry sum = 0;
  RITZ_ROLL
  for (int first = 0; first < k; first += RITZ_SOME) {
    RitzEntry values[RITZ_SOME];
    RITZ_UNROLL
    for (int j = 0; j < RITZ_SOME; j++) values[j] = first + j < k ? RITZ_READ_A(a, row, first + j) : 0;
    RITZ_UNROLL
    for (int j = 0; j < RITZ_SOME; j++) sum += values[j] * x[first + j];
  }
  return sum;
}

// The thread's parts of rows row0 .. row0 + 32: columns RITZ_LANE + 32 i.
RITZ_INLINE void ritz_part_products(RitzMatrix a, int row0, int m, int k, RITZ_SHARED const RitzEntry *x,
                                    RITZ_SHARED RitzEntry *parts) {
  enum { ROWS = 4, DEEP = RITZ_SOME / ROWS };
  RITZ_ROLL
  for (int r = 0; r < RITZ_TILE; r += ROWS) {
    RitzEntry sum[ROWS];
    RITZ_UNROLL
    for (int q = 0; q < ROWS; q++) sum[q] = 0;
    RITZ_ROLL
    for (int first = RITZ_LANE; first < k; first += 32 * DEEP) {
      RITZ_UNROLL
      for (int j = 0; j < DEEP; j++) {
        const int c = first + 32 * j;
        RITZ_UNROLL
        for (int q = 0; q < ROWS; q++)
          sum[q] += (c < k && row0 + r + q < m ? RITZ_READ_A(a, row0 + r + q, c) : 0) * (c < k ? x[c] : 0);
      }
    }
    RITZ_UNROLL
    for (int q = 0; q < ROWS; q++) parts[(r + q) * (RITZ_TILE + 1) + RITZ_LANE] = sum[q];
  }
}

// y = alpha A x + beta y
RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_MEMORY(x);
  const RitzEntry alpha = (RitzEntry)RITZ_DOUBLE(alpha_bits), beta = (RitzEntry)RITZ_DOUBLE(beta_bits);
  RITZ_SHARED RitzEntry *parts =
      x + (RITZ_K + RITZ_SOME - 1) / RITZ_SOME * RITZ_SOME + RITZ_WARP * RITZ_TILE * (RITZ_TILE + 1);
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    RITZ_KNOW_SIZES(i);
    const RitzMatrix A = RITZ_MATRIX(A, i, m, num), B = RITZ_MATRIX(B, i, num, 1),
                     C = RITZ_MATRIX(C, i, m, 1);
    const int is_read = alpha != 0;
    for (int k = RITZ_THREAD; k < (num + RITZ_SOME - 1) / RITZ_SOME * RITZ_SOME; k += RITZ_THREADS)
      x[k] = is_read && k < num ? RITZ_READ_B(B, k, 0) : 0;
    RITZ_BARRIER();
#ifdef RITZ_TURNED_A
    for (int row0 = 0; row0 < m; row0 += RITZ_THREADS) {
      const int own = row0 + 32 * RITZ_WARP;
      RitzEntry sum = 0;
      if (is_read) ritz_part_products(A, own, m, num, x, parts);
      RITZ_BARRIER();
      for (int t = 0; t < 32 && is_read; t++) sum += parts[RITZ_LANE * (RITZ_TILE + 1) + t];
      if (own + RITZ_LANE < m) ritz_store(C, own + RITZ_LANE, alpha, sum, beta);
      RITZ_BARRIER();
    }
#else
    for (int row = RITZ_THREAD; row < m; row += RITZ_THREADS)
      ritz_store(C, row, alpha, is_read ? ritz_row_product(A, row, num, x) : 0, beta);
    RITZ_BARRIER();
#endif
  }
}

#endif
