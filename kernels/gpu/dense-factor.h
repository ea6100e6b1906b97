// SPDX-License-Identifier: BSD-2-Clause
// Dense solver on devices: LU and Cholesky of panels, swaps of rows, small triangular solves, products in
// tiles, inverses of diagonal blocks. The text in front defines RITZ_ENTRY_F32 where factors are floats,
// RITZ_THREADS of a panel's block, and RITZ_ROWS of a diagonal block that is inverted.
#ifndef RITZ_KERNELS_GPU_DENSE_FACTOR_H
#define RITZ_KERNELS_GPU_DENSE_FACTOR_H

#include "kernels/gpu/dense-solver.h"

// F = R A C, zeros around.
RITZ_KERNEL(256)
ritz_load(int n, RitzLong ld, RitzLong num, RITZ_GLOBAL const double *A, RitzLong lda,
          RITZ_GLOBAL const double *row_scale, RITZ_GLOBAL const double *col_scale,
          RITZ_GLOBAL RitzEntry *F) {
  for (RitzLong e = RITZ_ITEM; e < num; e += RITZ_NUM_ITEMS) {
    const RitzLong i = e % ld, j = e / ld;
    F[e] = i < n && j < n ? (RitzEntry)(A[i + j * lda] * row_scale[i] * col_scale[j]) : 0;
  }
}

// ---- LU ----

// Combines the swaps of a panel's rows: row rows[e] gets what row from[e] had, e < count; at most 2
// RITZ_PANEL rows. By one thread.
RITZ_INLINE void ritz_note_moves(int first, int num, RITZ_GLOBAL const int *pivots, RITZ_GLOBAL int *moves,
                                 RITZ_SHARED int *rows, RITZ_SHARED int *content) {
  int count = num;
  for (int k = 0; k < num; k++) rows[k] = first + k;
  for (int k = 0; k < num; k++) {
    const int pivot = pivots[first + k];
    int at = 0;
    while (at < count && rows[at] != pivot) at++;
    if (at == count) rows[count++] = pivot;
  }
  for (int e = 0; e < count; e++) content[e] = e;
  for (int k = 0; k < num; k++) {
    int at = 0;
    while (rows[at] != pivots[first + k]) at++;
    const int kept = content[k];
    content[k] = content[at];
    content[at] = kept;
  }
  moves[0] = count;
  for (int e = 0; e < count; e++) {
    moves[1 + e] = rows[e];
    moves[1 + RITZ_MOVES + e] = rows[content[e]];
  }
}

// Columns first .. first + num - 1, rows from `first` on, by one block. Among equal pivots the first row.
RITZ_KERNEL(RITZ_THREADS)
ritz_panel(int n, RitzLong ld, RITZ_GLOBAL RitzEntry *F, int first, int num, RITZ_GLOBAL int *pivots,
           RITZ_GLOBAL int *moves, RITZ_GLOBAL int *bad) {
  RITZ_SHARED_ARRAY RitzEntry size[RITZ_THREADS], row[RITZ_PANEL];
  RITZ_SHARED_ARRAY int at[RITZ_THREADS], rows[RITZ_MOVES], content[RITZ_MOVES];
  RITZ_GLOBAL RitzEntry *P = F + first * ld;
  moves += (RitzLong)(first / RITZ_PANEL) * RITZ_MOVES_STRIDE;
  for (int k = 0; k < num; k++) {
    const int d = first + k;
    RitzEntry most = -1;
    int place = d;
    for (int i = d + RITZ_THREAD; i < n; i += RITZ_THREADS) {
      const RitzEntry value = RITZ_SIZE(P[i + k * ld]);
      if (value > most) {
        most = value;
        place = i;
      }
    }
    size[RITZ_THREAD] = most;
    at[RITZ_THREAD] = place;
    RITZ_STEP();
    for (int span = RITZ_THREADS / 2; span > 0; span /= 2) {
      if (RITZ_THREAD < span) {
        const RitzEntry other = size[RITZ_THREAD + span];
        const int row_of = at[RITZ_THREAD + span];
        if (other > size[RITZ_THREAD] || (other == size[RITZ_THREAD] && row_of < at[RITZ_THREAD])) {
          size[RITZ_THREAD] = other;
          at[RITZ_THREAD] = row_of;
        }
      }
      RITZ_STEP();
    }
    const int pivot = at[0];
    if (RITZ_THREAD < num) {
      const RitzEntry kept = P[d + RITZ_THREAD * ld], value = P[pivot + RITZ_THREAD * ld];
      P[pivot + RITZ_THREAD * ld] = kept;
      P[d + RITZ_THREAD * ld] = value;
      row[RITZ_THREAD] = value;
    }
    RITZ_STEP();
    const RitzEntry value = row[k];
    if (RITZ_THREAD == 0) {
      pivots[d] = pivot;
      if (!(value != 0 && RITZ_FINITE(value)) && *bad == 0) *bad = d + 1;
    }
    for (int i = d + 1 + RITZ_THREAD; i < n && value != 0; i += RITZ_THREADS) {
      const RitzEntry factor = P[i + k * ld] / value;
      P[i + k * ld] = factor;
      for (int j = k + 1; j < num; j++) P[i + j * ld] -= factor * row[j];
    }
    RITZ_STEP();
  }
  if (RITZ_THREAD == 0) ritz_note_moves(first, num, pivots, moves, rows, content);
}

// The swaps of num panels, from that of row `first` on, one after the other, in columns col .. col + num_cols
// - 1; 4 columns a block.
RITZ_KERNEL(256)
ritz_swap(RitzLong ld, RITZ_GLOBAL RitzEntry *F, int first, int num, int col, int num_cols,
          RITZ_GLOBAL const int *moves) {
  const int e = RITZ_THREAD % RITZ_MOVES, c = (int)RITZ_BLOCK * 4 + RITZ_THREAD / RITZ_MOVES;
  RITZ_GLOBAL RitzEntry *column = F + (RitzLong)(col + c) * ld;
  for (int panel = 0; panel < num; panel++) {
    RITZ_GLOBAL const int *m = moves + (RitzLong)(first / RITZ_PANEL + panel) * RITZ_MOVES_STRIDE;
    const int moves_here = c < num_cols && e < m[0];
    RitzEntry value = 0;
    if (moves_here) value = column[m[1 + RITZ_MOVES + e]];
    RITZ_STEP();
    if (moves_here) column[m[1 + e]] = value;
    RITZ_STEP();
  }
}

// A block's diagonal triangle, row by row, the identity beyond num.
RITZ_INLINE void ritz_read_triangle(RITZ_GLOBAL const RitzEntry *D, RitzLong ld, int num, int num_threads,
                                    RITZ_SHARED RitzEntry *L) {
  for (int e = RITZ_THREAD; e < RITZ_PANEL * RITZ_PANEL; e += num_threads) {
    const int r = e % RITZ_PANEL, c = e / RITZ_PANEL;
    L[r * (RITZ_PANEL + 1) + c] = r < num && c < num ? D[r + c * ld] : r == c ? 1 : 0;
  }
}

// X := L^-1 X, L a unit triangle: a thread a column, the first RITZ_PANEL threads.
RITZ_INLINE void ritz_solve_triangle(RITZ_SHARED const RitzEntry *L, RITZ_SHARED RitzEntry *X) {
  RitzEntry x[RITZ_PANEL];
  if (RITZ_THREAD >= RITZ_PANEL) return;
  RITZ_UNROLL
  for (int r = 0; r < RITZ_PANEL; r++) x[r] = X[r * (RITZ_PANEL + 1) + RITZ_THREAD];
  RITZ_UNROLL
  for (int k = 0; k < RITZ_PANEL; k++) {
    RITZ_UNROLL
    for (int r = k + 1; r < RITZ_PANEL; r++) x[r] -= L[r * (RITZ_PANEL + 1) + k] * x[k];
  }
  RITZ_UNROLL
  for (int r = 0; r < RITZ_PANEL; r++) X[r * (RITZ_PANEL + 1) + RITZ_THREAD] = x[r];
}

// Rows `row` .. row + RITZ_PANEL - 1 of X lose what the solved ones at x take from them: a thread a row, and
// 4 of 32 columns. L: of these rows and of the columns of x; num: rows that are there.
RITZ_INLINE void ritz_take_solved(RITZ_GLOBAL const RitzEntry *L, RitzLong ld, int num,
                                  RITZ_SHARED const RitzEntry *x, RITZ_SHARED RitzEntry *X) {
  const int r = RITZ_THREAD % RITZ_PANEL, c = RITZ_THREAD / RITZ_PANEL * 4;
  RitzEntry sum[4] = {0, 0, 0, 0};
  RITZ_UNROLL
  for (int k = 0; k < RITZ_PANEL; k++) {
    const RitzEntry factor = r < num ? L[r + k * ld] : 0;
    RITZ_UNROLL
    for (int i = 0; i < 4; i++) sum[i] += factor * x[k * (RITZ_PANEL + 1) + c + i];
  }
  RITZ_UNROLL
  for (int i = 0; i < 4; i++) X[r * (RITZ_PANEL + 1) + c + i] -= sum[i];
}

// L^-1 from the left, num <= RITZ_SOLVED: 32 columns a block.
RITZ_KERNEL(256)
ritz_solve_rows(RitzLong ld, RITZ_GLOBAL RitzEntry *F, int first, int num, int col, int num_cols) {
  RITZ_SHARED_ARRAY RitzEntry L[RITZ_PANEL * (RITZ_PANEL + 1)], X[RITZ_SOLVED * (RITZ_PANEL + 1)];
  const int start = (int)RITZ_BLOCK * RITZ_PANEL, pitch = RITZ_PANEL + 1;
  const int here = num_cols - start < RITZ_PANEL ? num_cols - start : RITZ_PANEL;
  RITZ_GLOBAL RitzEntry *B = F + first + (RitzLong)(col + start) * ld;
  for (int e = RITZ_THREAD; e < RITZ_SOLVED * RITZ_PANEL; e += 256) {
    const int r = e % RITZ_SOLVED, c = e / RITZ_SOLVED;
    X[r * pitch + c] = r < num && c < here ? B[r + c * ld] : 0;
  }
  for (int q = 0; q < num; q += RITZ_PANEL) {
    RITZ_GLOBAL const RitzEntry *column = F + first + (first + q) * ld;
    ritz_read_triangle(column + q, ld, num - q, 256, L);
    RITZ_BARRIER();
    ritz_solve_triangle(L, X + q * pitch);
    RITZ_BARRIER();
    for (int p = q + RITZ_PANEL; p < num; p += RITZ_PANEL)
      ritz_take_solved(column + p, ld, num - p, X + q * pitch, X + p * pitch);
  }
  for (int e = RITZ_THREAD; e < RITZ_SOLVED * RITZ_PANEL; e += 256) {
    const int r = e % RITZ_SOLVED, c = e / RITZ_SOLVED;
    if (r < num && c < here) B[r + c * ld] = X[r * pitch + c];
  }
}

// ---- Cholesky ----

RITZ_KERNEL(64)
ritz_cholesky(RitzLong ld, RITZ_GLOBAL RitzEntry *F, int first, int num, RITZ_GLOBAL int *bad) {
  RITZ_SHARED_ARRAY RitzEntry L[RITZ_PANEL * (RITZ_PANEL + 1)];
  const int stride = RITZ_PANEL + 1;
  RITZ_GLOBAL RitzEntry *D = F + first + first * ld;
  ritz_read_triangle(D, ld, num, 64, L);
  RITZ_BARRIER();
  for (int k = 0; k < num; k++) {
    const RitzEntry value = L[k * stride + k];
    const int is_good = value > 0 && RITZ_FINITE(value);
    if (!is_good && RITZ_THREAD == 0 && *bad == 0) *bad = first + k + 1;
    const RitzEntry root = is_good ? sqrt(value) : 1;
    RITZ_STEP();
    if (RITZ_THREAD == k) L[k * stride + k] = root;
    if (RITZ_THREAD > k && RITZ_THREAD < num) L[RITZ_THREAD * stride + k] /= root;
    RITZ_BARRIER();
    for (int j = k + 1; j < num; j++) {
      if (RITZ_THREAD >= j && RITZ_THREAD < num)
        L[RITZ_THREAD * stride + j] -= L[RITZ_THREAD * stride + k] * L[j * stride + k];
    }
    RITZ_BARRIER();
  }
  for (int e = RITZ_THREAD; e < RITZ_PANEL * RITZ_PANEL; e += 64) {
    const int r = e % RITZ_PANEL, c = e / RITZ_PANEL;
    if (r < num && c <= r) D[r + c * ld] = L[r * stride + c];
  }
}

// L^-T from the right: a thread a row, 64 rows a block.
RITZ_KERNEL(64)
ritz_solve_columns(RitzLong ld, RITZ_GLOBAL RitzEntry *F, int first, int num, int row, int num_rows) {
  RITZ_SHARED_ARRAY RitzEntry L[RITZ_PANEL * (RITZ_PANEL + 1)];
  const int r = (int)RITZ_BLOCK * 64 + RITZ_THREAD;
  RITZ_GLOBAL RitzEntry *X = F + row + r + first * ld;
  RitzEntry x[RITZ_PANEL];
  ritz_read_triangle(F + first + first * ld, ld, num, 64, L);
  RITZ_BARRIER();
  RITZ_UNROLL
  for (int k = 0; k < RITZ_PANEL; k++) {
    x[k] = r < num_rows && k < num ? X[k * ld] : 0;
    RITZ_UNROLL
    for (int p = 0; p < k; p++) x[k] -= x[p] * L[k * (RITZ_PANEL + 1) + p];
    x[k] /= L[k * (RITZ_PANEL + 1) + k];
  }
  RITZ_UNROLL
  for (int k = 0; k < RITZ_PANEL; k++) {
    if (r < num_rows && k < num) X[k * ld] = x[k];
  }
}

// ---- Products: C -= A B in tiles of 64 x 64, 4 x 4 entries a thread ----

#ifdef RITZ_ENTRY_F32

// To nearest, ties to even, without the last num bits.
RITZ_INLINE float ritz_keep_bits(float x, int num) {
  const unsigned bits = RITZ_BITS(x), last = (bits >> num) & 1;
  if (!RITZ_FINITE(x)) return x;
  return RITZ_OF_BITS((bits + last + (1u << (num - 1)) - 1) & ~((1u << num) - 1));
}

RITZ_INLINE float ritz_keep_half(float x) {
  const float size = RITZ_SIZE(x);
  if (size < 6.103515625e-05f) return RITZ_ROUND(x * 16777216.0f) * 5.9604644775390625e-08f;
  return size < 65520.0f ? ritz_keep_bits(x, 13) : x * 3.402823466e+38f;
}

// Part 0: what is kept of x; 1: what is kept of the rest.
RITZ_INLINE float ritz_part(int precision, int part, float x) {
  if (precision < RITZ_TF32X3) return x;
  if (precision == RITZ_BF16) return ritz_keep_bits(x, 16);
  if (precision == RITZ_F16) return ritz_keep_half(x);
  const float kept = ritz_keep_bits(x, 13);
  return part ? ritz_keep_bits(x - kept, 13) : kept;
}

#else

RITZ_INLINE double ritz_part(int precision, int part, double x) {
  (void)precision;
  (void)part;
  return x;
}

#endif

// A: entry (i, p) at F[A + i + p ld]; B: entry (p, j) at F[B + p step_p + j step_j]; C: at F[C + i + j ld].
// num_tiles: of rows.
RITZ_KERNEL(256)
ritz_update(RitzLong ld, RITZ_GLOBAL RitzEntry *F, RitzLong C, RitzLong A, RitzLong B, RitzLong step_p,
            RitzLong step_j, int num_rows, int num_cols, int k, int num_tiles, int is_lower, int precision) {
  RITZ_SHARED_ARRAY RitzEntry a[16 * 65], b[16 * 65];
  const int row = (int)(RITZ_BLOCK % num_tiles) * 64, col = (int)(RITZ_BLOCK / num_tiles) * 64;
  const int r = RITZ_THREAD % 16, c = RITZ_THREAD / 16;
  const int num_parts = precision == RITZ_TF32X3 ? 3 : 1;
  RitzEntry sum[16];
  if (is_lower && row + 64 <= col) return;
  RITZ_UNROLL
  for (int i = 0; i < 16; i++) sum[i] = 0;
  for (int part = 0; part < num_parts; part++) {
    for (int first = 0; first < k; first += 16) {
      RITZ_BARRIER();
      for (int e = RITZ_THREAD; e < 16 * 64; e += 256) {
        const int i = e % 64, p = e / 64;
        const int q = step_p == 1 ? e % 16 : p, j = step_p == 1 ? e / 16 : i;
        a[p * 65 + i] = ritz_part(precision, part == 2, F[A + row + i + (first + p) * ld]);
        b[q * 65 + j] = ritz_part(precision, part == 1, F[B + (first + q) * step_p + (col + j) * step_j]);
      }
      RITZ_BARRIER();
      for (int p = 0; p < 16; p++) {
        RITZ_UNROLL
        for (int i = 0; i < 16; i++) sum[i] += a[p * 65 + r + i % 4 * 16] * b[p * 65 + c + i / 4 * 16];
      }
    }
  }
  RITZ_UNROLL
  for (int i = 0; i < 16; i++) {
    const int at_row = row + r + i % 4 * 16, at_col = col + c + i / 4 * 16;
    if (at_row < num_rows && at_col < num_cols) F[C + at_row + at_col * ld] -= sum[i];
  }
}

// ---- Inverses of diagonal blocks ----

// Inverts the lower triangle of block b (of LU a unit one) to inverse + 2 b RITZ_ROWS^2, the upper one behind
// it; entry (r, c) at r + c RITZ_ROWS, the identity beyond n. Of the lower triangle alone: lower_only. A
// thread has a row of the inverse X, X T = I.
RITZ_KERNEL(RITZ_ROWS)
ritz_invert(int n, RitzLong ld, RITZ_GLOBAL const RitzEntry *F, int is_unit, RITZ_GLOBAL RitzEntry *inverse) {
  const int block = (int)(RITZ_BLOCK / 2), is_upper = (int)(RITZ_BLOCK % 2), first = block * RITZ_ROWS;
  const int r = RITZ_THREAD, left = n - first < RITZ_ROWS ? n - first : RITZ_ROWS;
  RITZ_GLOBAL const RitzEntry *T = F + first + first * ld;
  RITZ_GLOBAL RitzEntry *X = inverse + (RitzLong)(2 * block + is_upper) * RITZ_ROWS * RITZ_ROWS + r;
  for (int step = 0; step < RITZ_ROWS; step++) {
    const int k = is_upper ? step : RITZ_ROWS - 1 - step;
    const int from = is_upper ? 0 : k + 1, end = is_upper ? k : left;
    double sum = r == k ? 1 : 0;
    if (k < left) {
      for (int p = from; p < end; p++) sum -= (double)X[p * RITZ_ROWS] * (double)T[p + k * ld];
      if (is_upper || !is_unit) sum /= (double)T[k + k * ld];
    }
    X[k * RITZ_ROWS] = (RitzEntry)sum;
  }
}

#endif
