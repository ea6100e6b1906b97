// SPDX-License-Identifier: BSD-2-Clause
// QR factors and least squares of any size and layout, by Householder's reflectors: a block takes a matrix,
// in shared memory where it fits (batched-sums.h). RITZ_PARTS threads share a column. The text in front
// defines one of RITZ_GEQRF, RITZ_ORMQR, RITZ_ORGQR, RITZ_GELS: what is done.
#ifndef RITZ_KERNELS_GPU_BATCHED_QR_H
#define RITZ_KERNELS_GPU_BATCHED_QR_H

#include "kernels/gpu/batched-sums.h"

// ---- Reflectors ----

// H = I - tau v v^T that makes column j zero below entry j; v below it in place of the zeros. Returns tau.
// Numbers are divided by the largest one, so that neither squares nor reciprocals leave the range.
RITZ_INLINE RitzEntry ritz_make_reflector(RitzView a, int m, int j, RITZ_SHARED RitzEntry *parts) {
  const RitzEntry diagonal = RITZ_AT(a, j, j), first = RITZ_ABS(diagonal);
  RitzEntry below = 0, squares = 0;
  RITZ_EACH(r, j + 1, m) below = ritz_join(0, below, RITZ_ABS(RITZ_AT(a, r, j)));
  below = RITZ_MAX_ALL(below, parts);
  const RitzEntry unit = below > first ? below : first;
  RITZ_EACH(r, j + 1, m) {
    const RitzEntry x = RITZ_AT(a, r, j) / unit;
    squares += x * x;
  }
  squares = RITZ_SUM_ALL(squares, parts);
  const RitzEntry alpha = diagonal / unit, length = RITZ_SQRT(alpha * alpha + squares);
  const RitzEntry beta = alpha < 0 ? length : -length;
  RITZ_EACH(r, j + 1, below != 0 ? m : 0) RITZ_AT(a, r, j) = RITZ_AT(a, r, j) / unit / (alpha - beta);
  if (RITZ_THREAD == 0 && below != 0) RITZ_AT(a, j, j) = beta * unit;
  RITZ_MEET();
  return below != 0 ? (beta - alpha) / beta : 0;
}

// C := H C for columns first .. end of C, H the reflector of column j of A, which has m rows.
RITZ_INLINE void ritz_reflect(RitzView a, int m, int j, RitzEntry tau, RitzView c, int first, int end,
                              RITZ_SHARED RitzEntry *parts) {
  const int part = RITZ_THREAD % RITZ_PARTS, start = j + 1 + part;
  for (int col0 = first; col0 < end; col0 += RITZ_THREADS / RITZ_PARTS) {
    const int col = col0 + RITZ_THREAD / RITZ_PARTS, is_mine = col < end && tau != 0, stop = is_mine ? m : 0;
    RitzEntry sum = is_mine && part == 0 ? RITZ_AT(c, j, col) : 0;
    for (int r = start; r < stop; r += RITZ_PARTS) sum += RITZ_AT(a, r, j) * RITZ_AT(c, r, col);
    sum = tau * RITZ_SUM_PARTS(sum, parts);
    if (is_mine && part == 0) RITZ_AT(c, j, col) -= sum;
    for (int r = start; r < stop; r += RITZ_PARTS) RITZ_AT(c, r, col) -= RITZ_AT(a, r, j) * sum;
  }
  RITZ_MEET();
}

#ifdef RITZ_GEQRF

RITZ_BLOCK_KERNEL ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_MEMORY;
  RITZ_SHARED_ARRAY RitzEntry parts[RITZ_THREADS];
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    int m, n, k;
    const int bad = RITZ_SIZES(i, m, n, k), least = m < n ? m : n;
    const RitzMatrix a = RITZ_MATRIX(A, i, m, n), tau = RITZ_MATRIX(B, i, least, 1);
    const RitzView work = RITZ_TAKE(a, 0, m, n);
    for (int j = 0; j < least; j++) {
      const RitzEntry t = ritz_make_reflector(work, m, j, parts);
      if (RITZ_THREAD == 0) RITZ_AT(tau, j, 0) = t;
      ritz_reflect(work, m, j, t, work, j + 1, n, parts);
    }
    ritz_give(a, work, m, n);
    if (info && RITZ_THREAD == 0) info[i] = bad;
  }
}

#endif

#ifdef RITZ_ORMQR

// C Q is (Q^T C^T)^T.
RITZ_BLOCK_KERNEL ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_MEMORY;
  RITZ_SHARED_ARRAY RitzEntry parts[RITZ_THREADS];
  const int is_right = options & RITZ_RIGHT_Q, is_back = !is_right != !!(options & RITZ_TRANSPOSED_Q);
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    int m, n, k;
    const int bad = RITZ_SIZES(i, m, n, k), order = is_right ? n : m, num = k < order ? k : order;
    const RitzMatrix a = RITZ_MATRIX(A, i, order, k), tau = RITZ_MATRIX(B, i, k, 1),
                     c = RITZ_MATRIX(C, i, m, n);
    const RitzView q = RITZ_TAKE(a, 0, order, num), kept = RITZ_TAKE(c, RITZ_LD_HELD(order) * num, m, n);
    for (int step = 0; step < num; step++) {
      const int j = is_back ? num - 1 - step : step;
      ritz_reflect(q, order, j, RITZ_AT(tau, j, 0), ritz_turn(kept, is_right), 0, is_right ? m : n, parts);
    }
    ritz_give(c, kept, m, n);
    if (info && RITZ_THREAD == 0) info[i] = bad;
  }
}

#endif

#ifdef RITZ_ORGQR

// Columns k .. n of the identity.
RITZ_INLINE void ritz_set_rest(RitzView a, int m, int k, int n) {
  RITZ_EACH_ENTRY(e, m, n - k) {
    const int row = (int)(e % m), col = k + (int)(e / m);
    RITZ_AT(a, row, col) = row == col;
  }
  RITZ_MEET();
}

// H e_j in place of the reflector.
RITZ_INLINE void ritz_set_column(RitzView a, int m, int j, RitzEntry tau) {
  RITZ_EACH(r, 0, m) RITZ_AT(a, r, j) = r < j ? 0 : r == j ? 1 - tau : RITZ_AT(a, r, j) * -tau;
  RITZ_MEET();
}

// The last columns first: they have no need of the reflectors, whose columns are overwritten one by one.
RITZ_BLOCK_KERNEL ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_MEMORY;
  RITZ_SHARED_ARRAY RitzEntry parts[RITZ_THREADS];
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    int m, n, k;
    const int bad = RITZ_TALL_SIZES(i, m, n, k), num = k < n ? k : n;
    const RitzMatrix a = RITZ_MATRIX(A, i, m, n), tau = RITZ_MATRIX(B, i, k, 1);
    const RitzView work = RITZ_TAKE(a, 0, m, n);
    ritz_set_rest(work, m, num, n);
    for (int j = num - 1; j >= 0; j--) {
      const RitzEntry t = RITZ_AT(tau, j, 0);
      ritz_reflect(work, m, j, t, work, j + 1, n, parts);
      ritz_set_column(work, m, j, t);
    }
    ritz_give(a, work, m, n);
    if (info && RITZ_THREAD == 0) info[i] = bad;
  }
}

#endif

#ifdef RITZ_GELS

// R X = B, or R^T X = B, over the first n rows of B; R upper in A. Rows are divided by the diagonal at the
// end.
RITZ_INLINE void ritz_solve_r(RitzView a, int n, int is_transposed, RitzView b, int num) {
  const RitzView r = ritz_turn(a, is_transposed);
  for (int step = 0; step < n; step++) {
    const int i = is_transposed ? step : n - 1 - step, rows = n - 1 - step, row0 = is_transposed ? i + 1 : 0;
    RITZ_EACH_ENTRY(e, rows, num) {
      const int row = row0 + (int)(e % rows), col = (int)(e / rows);
      RITZ_AT(b, row, col) -= RITZ_AT(r, row, i) * (RITZ_AT(b, i, col) / RITZ_AT(a, i, i));
    }
    RITZ_MEET();
  }
  RITZ_EACH_ENTRY(e, n, num) {
    const int row = (int)(e % n), col = (int)(e / n);
    RITZ_AT(b, row, col) /= RITZ_AT(a, row, row);
  }
  RITZ_MEET();
}

RITZ_INLINE void ritz_clear_rows(RitzView b, int first, int end, int num) {
  const int rows = end - first;
  RITZ_EACH_ENTRY(e, rows, num) RITZ_AT(b, first + (int)(e % rows), (int)(e / rows)) = 0;
  RITZ_MEET();
}

// The first zero of the diagonal, counted from 1; 0: there is none.
RITZ_INLINE int ritz_find_zero(RitzView a, int n) {
  int found = 0;
  for (int k = n - 1; k >= 0; k--) found = RITZ_AT(a, k, k) == 0 ? k + 1 : found;
  return found;
}

// T = Q R is A or A^T, whichever is tall. T X = B: R X = Q^T B. T^T X = B: X = Q R^-T B, without what is
// orthogonal to the columns of T.
RITZ_BLOCK_KERNEL ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_MEMORY;
  RITZ_SHARED_ARRAY RitzEntry parts[RITZ_THREADS];
  RITZ_SHARED_ARRAY RitzEntry tau[RITZ_WORK];
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    int m, n, k;
    const int bad = RITZ_SIZES(i, m, n, k), is_wide = m < n;
    const int rows = is_wide ? n : m, cols = is_wide ? m : n;
    const int is_forward = is_wide == !!(options & RITZ_TRANSPOSED_Q);
    const RitzMatrix a = RITZ_MATRIX(A, i, m, n), b = RITZ_MATRIX(B, i, rows, k);
    const RitzView work = RITZ_TAKE(a, 0, m, n), x = RITZ_TAKE(b, RITZ_LD_HELD(m) * n, rows, k);
    const RitzView t = ritz_turn(work, is_wide);
    ritz_clear_rows(x, 0, cols == 0 ? rows : 0, k);
    for (int j = 0; j < cols; j++) {
      const RitzEntry factor = ritz_make_reflector(t, rows, j, parts);
      if (RITZ_THREAD == 0) tau[j] = factor;
      ritz_reflect(t, rows, j, factor, t, j + 1, cols, parts);
      ritz_reflect(t, rows, j, factor, x, 0, is_forward ? k : 0, parts);
    }
    const int failed = ritz_find_zero(t, cols);
    ritz_solve_r(t, cols, !is_forward, x, failed ? 0 : k);
    ritz_clear_rows(x, is_forward ? rows : cols, rows, k);
    for (int j = cols - 1; j >= 0; j--)
      ritz_reflect(t, rows, j, tau[j], x, 0, is_forward || failed ? 0 : k, parts);
    ritz_give(a, work, m, n);
    ritz_give(b, x, rows, k);
    if (info && RITZ_THREAD == 0) info[i] = bad ? bad : failed;
  }
}

#endif

#endif
