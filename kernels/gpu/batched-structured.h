// SPDX-License-Identifier: BSD-2-Clause
// Batched products with triangles beyond the sizes of rows in registers, included by batched-blocks.h:
// operands are read through a mask (SYMM, TRMM), C is written in one triangle (SYRK) or over an operand
// (TRMM). A block computes a part of C, a warp a tile of 32 x 32 of it, with RITZ_PART products at a time in
// shared memory.
#ifndef RITZ_KERNELS_GPU_BATCHED_STRUCTURED_H
#define RITZ_KERNELS_GPU_BATCHED_STRUCTURED_H

#define RITZ_ROWS_HERE (32 * RITZ_TILE_ROWS)
#define RITZ_COLS_HERE (32 * RITZ_TILE_COLS)

// Where (k, row) and (k, col) of the operands' parts are: in the order of memory.
#ifdef RITZ_TURNED_A
#define RITZ_A_K    1
#define RITZ_A_ROW  (RITZ_PART + 4)
#define RITZ_A_SIZE (RITZ_ROWS_HERE * (RITZ_PART + 4))
#else
#define RITZ_A_K    (RITZ_ROWS_HERE + 4)
#define RITZ_A_ROW  1
#define RITZ_A_SIZE (RITZ_PART * (RITZ_ROWS_HERE + 4))
#endif
#ifdef RITZ_TURNED_B
#define RITZ_B_K    (RITZ_COLS_HERE + 4)
#define RITZ_B_COL  1
#define RITZ_B_SIZE (RITZ_PART * (RITZ_COLS_HERE + 4))
#else
#define RITZ_B_K    1
#define RITZ_B_COL  (RITZ_PART + 4)
#define RITZ_B_SIZE (RITZ_COLS_HERE * (RITZ_PART + 4))
#endif

// Entries as they are go behind the thread's back, others through its registers.
#ifdef RITZ_MASK_A
#define RITZ_BRING_A(to, M, r, c) (*(to) = RITZ_READ_A(M, r, c))
#else
#define RITZ_BRING_A(to, M, r, c) RITZ_BRING(to, &RITZ_AT(M, r, c))
#endif
#ifdef RITZ_MASK_B
#define RITZ_BRING_B(to, M, r, c) (*(to) = RITZ_READ_B(M, r, c))
#else
#define RITZ_BRING_B(to, M, r, c) RITZ_BRING(to, &RITZ_AT(M, r, c))
#endif

// Columns first .. first + RITZ_PART of A (row0 .., of m), zeros beyond k; rows of B likewise.
RITZ_INLINE void ritz_bring_parts(RitzMatrix A, RitzMatrix B, int row0, int col0, int first, int m, int n,
                                  int k, RITZ_SHARED RitzEntry *part) {
  for (int e = RITZ_THREAD; e < RITZ_PART * RITZ_ROWS_HERE; e += RITZ_THREADS) {
#ifdef RITZ_TURNED_A
    const int j = e % RITZ_PART, r = e / RITZ_PART;
#else
    const int j = e / RITZ_ROWS_HERE, r = e % RITZ_ROWS_HERE;
#endif
    RITZ_SHARED RitzEntry *to = part + j * RITZ_A_K + r * RITZ_A_ROW;
    if (row0 + r < m && first + j < k)
      RITZ_BRING_A(to, A, row0 + r, first + j);
    else
      *to = 0;
  }
  part += RITZ_A_SIZE;
  for (int e = RITZ_THREAD; e < RITZ_PART * RITZ_COLS_HERE; e += RITZ_THREADS) {
#ifdef RITZ_TURNED_B
    const int j = e / RITZ_COLS_HERE, c = e % RITZ_COLS_HERE;
#else
    const int j = e % RITZ_PART, c = e / RITZ_PART;
#endif
    RITZ_SHARED RitzEntry *to = part + j * RITZ_B_K + c * RITZ_B_COL;
    if (col0 + c < n && first + j < k)
      RITZ_BRING_B(to, B, first + j, col0 + c);
    else
      *to = 0;
  }
}

// sum := products begin .. k of the warp's tile.
RITZ_INLINE void ritz_sum_up(RitzMatrix A, RitzMatrix B, int row0, int col0, int m, int n, int begin, int k,
                             RITZ_SHARED RitzEntry *parts, RitzEntry *sum) {
  const int row = RITZ_WARP % RITZ_TILE_ROWS * 32, col = RITZ_WARP / RITZ_TILE_ROWS * 32;
  RITZ_TILE_EACH(e) sum[e] = 0;
  for (int s = 0; s < RITZ_STAGES - 1; s++) {
    ritz_bring_parts(A, B, row0, col0, begin + s * RITZ_PART, m, n, k,
                     parts + s * (RITZ_A_SIZE + RITZ_B_SIZE));
    RITZ_BROUGHT();
  }
  RITZ_ROLL
  for (int first = begin, stage = 0; first < k; first += RITZ_PART) {
    const int next = stage ? stage - 1 : RITZ_STAGES - 1;
    RITZ_WAIT(RITZ_STAGES - 2);
    RITZ_BARRIER();
    ritz_bring_parts(A, B, row0, col0, first + (RITZ_STAGES - 1) * RITZ_PART, m, n, k,
                     parts + next * (RITZ_A_SIZE + RITZ_B_SIZE));
    RITZ_BROUGHT();
    RITZ_SHARED const RitzEntry *part = parts + stage * (RITZ_A_SIZE + RITZ_B_SIZE);
    if (RITZ_KEEPS_ANY(row0 + row, 32, col0 + col, 32))
      ritz_tile_multiply(part + row * RITZ_A_ROW, RITZ_A_K, RITZ_A_ROW, part + RITZ_A_SIZE + col * RITZ_B_COL,
                         RITZ_B_K, RITZ_B_COL, RITZ_PART, sum);
    stage = stage + 1 < RITZ_STAGES ? stage + 1 : 0;
  }
  RITZ_WAIT(0);
  RITZ_BARRIER();
}

RITZ_INLINE void ritz_store_tile(RitzMatrix C, int row0, int col0, int m, int n, RitzEntry alpha,
                                 RitzEntry beta, const RitzEntry *sum) {
  RITZ_TILE_EACH(e) {
    const int row = row0 + RITZ_WARP % RITZ_TILE_ROWS * 32 + RITZ_TILE_ROW(e);
    const int col = col0 + RITZ_WARP / RITZ_TILE_ROWS * 32 + RITZ_TILE_COL(e);
    if (row >= m || col >= n || !RITZ_KEEPS(row, col)) continue;
    const RitzEntry product = alpha == 0 ? 0 : alpha * sum[e];
    RITZ_AT(C, row, col) = beta == 0 ? product : product + beta * RITZ_AT(C, row, col);
  }
}

#ifdef RITZ_IN_PLACE

// Columns (A is a triangle) or rows (B is one) of a part's width: its parts one after the other, those first
// of which no later one has need.
#if RITZ_IN_PLACE == 1
#define RITZ_LINES    RITZ_N
#define RITZ_WIDE     RITZ_COLS_HERE
#define RITZ_HIGH     RITZ_ROWS_HERE
#define RITZ_IS_LOWER (RITZ_MASK_A & RITZ_MASK_LOWER)
#else
#define RITZ_LINES    RITZ_M
#define RITZ_WIDE     RITZ_ROWS_HERE
#define RITZ_HIGH     RITZ_COLS_HERE
#define RITZ_IS_LOWER (!(RITZ_MASK_B & RITZ_MASK_LOWER))
#endif

RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_MEMORY(parts);
  const RitzEntry alpha = (RitzEntry)RITZ_DOUBLE(alpha_bits);
  const int lines = (RITZ_LINES + RITZ_WIDE - 1) / RITZ_WIDE;
  for (RitzLong item = RITZ_BLOCK; item < RITZ_NUM_TURNS * lines; item += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(item / lines);
    const int line0 = (int)(item % lines) * RITZ_WIDE;
    RITZ_KNOW_SIZES(i);
    const int order = RITZ_IN_PLACE == 1 ? m : n, steps = (order + RITZ_HIGH - 1) / RITZ_HIGH;
    if (line0 >= (RITZ_IN_PLACE == 1 ? n : m)) continue;
    const RitzMatrix A = RITZ_MATRIX(A, i, m, num), B = RITZ_MATRIX(B, i, num, n),
                     C = RITZ_MATRIX(C, i, m, n);
    RITZ_ROLL
    for (int step = 0; step < steps; step++) {
      const int at = (RITZ_IS_LOWER ? steps - 1 - step : step) * RITZ_HIGH;
      const int row0 = RITZ_IN_PLACE == 1 ? at : line0, col0 = RITZ_IN_PLACE == 1 ? line0 : at;
      const int begin = RITZ_IS_LOWER ? 0 : at,
                end = RITZ_IS_LOWER && at + RITZ_HIGH < num ? at + RITZ_HIGH : num;
      RitzEntry sum[RITZ_TILE_ENTRIES];
      if (alpha != 0) ritz_sum_up(A, B, row0, col0, m, n, begin, end, parts, sum);
      ritz_store_tile(C, row0, col0, m, n, alpha, 0, sum);
    }
  }
}

#else

// C = alpha A B + beta C, a part of RITZ_ROWS_HERE x RITZ_COLS_HERE a block.
RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_MEMORY(parts);
  const RitzEntry alpha = (RitzEntry)RITZ_DOUBLE(alpha_bits), beta = (RitzEntry)RITZ_DOUBLE(beta_bits);
  const int rows = (RITZ_M + RITZ_ROWS_HERE - 1) / RITZ_ROWS_HERE;
  const int cols = (RITZ_N + RITZ_COLS_HERE - 1) / RITZ_COLS_HERE;
  for (RitzLong item = RITZ_BLOCK; item < RITZ_NUM_TURNS * rows * cols; item += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(item / (rows * cols));
    const int part = (int)(item % (rows * cols));
    const int row0 = part % rows * RITZ_ROWS_HERE, col0 = part / rows * RITZ_COLS_HERE;
    RITZ_KNOW_SIZES(i);
    if (row0 >= m || col0 >= n || !RITZ_KEEPS_ANY(row0, RITZ_ROWS_HERE, col0, RITZ_COLS_HERE)) continue;
    const RitzMatrix A = RITZ_MATRIX(A, i, m, num), B = RITZ_MATRIX(B, i, num, n),
                     C = RITZ_MATRIX(C, i, m, n);
    RitzEntry sum[RITZ_TILE_ENTRIES];
    if (alpha != 0) ritz_sum_up(A, B, row0, col0, m, n, 0, num, parts, sum);
    ritz_store_tile(C, row0, col0, m, n, alpha, beta, sum);
  }
}

#endif

#endif
