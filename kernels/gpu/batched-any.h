// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra of any size and layout: a block takes a matrix, in global memory. The text in front
// defines:
//
//   RITZ_THREADS  of a block
//   RITZ_WORK     inverses: at least their order
//   and one of RITZ_PRODUCT, RITZ_SOLVE, RITZ_POTRF, RITZ_GETRF, RITZ_GETRI, RITZ_INV: what is done
//
// All threads of a block see the same sizes and pivots, so that they meet at the same barriers. The sums of
// an entry go in the order of its column, whatever threads do them.
#ifndef RITZ_KERNELS_GPU_BATCHED_ANY_H
#define RITZ_KERNELS_GPU_BATCHED_ANY_H

#include "kernels/gpu/batched.h"

#define RITZ_EACH(i, first, end) for (int i = (first) + RITZ_THREAD; i < (end); i += RITZ_THREADS)

#ifdef RITZ_PRODUCT

// Products first .. end of entry (row, col). options: how operands are read.
RITZ_INLINE RitzEntry ritz_sum(RitzMatrix a, RitzMatrix b, int row, int col, int first, int end,
                               int options) {
  RitzEntry sum = 0;
  for (int j = first; j < end; j++)
    sum += ritz_read_masked(a, row, j, options) * ritz_read_masked(b, j, col, options >> RITZ_SHIFT_MASK_B);
  return sum;
}

// C := alpha A B where C is B, and A a triangle, or C is A, and B one: a column, or a row, a thread, those
// entries first of which no later one has need.
RITZ_INLINE void ritz_multiply_in_place(RitzMatrix a, RitzMatrix b, RitzMatrix c, int m, int n,
                                        RitzEntry alpha, int options) {
  const int is_left = options >> RITZ_SHIFT_PLACE == 1, num = is_left ? m : n;
  const int mask = is_left ? options : options >> RITZ_SHIFT_MASK_B;
  const int is_lower = !(mask & RITZ_MASK_LOWER) != is_left;
  RITZ_EACH(line, 0, is_left ? n : m) {
    for (int step = 0; step < num; step++) {
      const int at = is_lower ? num - 1 - step : step;
      const int first = is_lower || alpha == 0 ? 0 : at, end = alpha == 0 ? 0 : is_lower ? at + 1 : num;
      const int row = is_left ? at : line, col = is_left ? line : at;
      RITZ_AT(c, row, col) = alpha * ritz_sum(a, b, row, col, first, end, options);
    }
  }
}

// C = alpha A B + beta C
RITZ_KERNEL(RITZ_THREADS) ritz_batched(RITZ_BATCH_PARAMETERS) {
  const RitzEntry alpha = (RitzEntry)RITZ_DOUBLE(alpha_bits), beta = (RitzEntry)RITZ_DOUBLE(beta_bits);
  const int is_in_place = options >> RITZ_SHIFT_PLACE, keeps = options >> RITZ_SHIFT_KEEPS & 3;
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    int m, n, k;
    (void)RITZ_SIZES(i, m, n, k);
    const RitzMatrix a = RITZ_MATRIX(A, i, m, k), b = RITZ_MATRIX(B, i, k, n), c = RITZ_MATRIX(C, i, m, n);
    for (RitzLong e = RITZ_THREAD; e < (RitzLong)m * n && !is_in_place; e += RITZ_THREADS) {
      const int row = (int)(e % m), col = (int)(e / m);
      if (keeps == 1 ? row < col : keeps == 2 && row > col) continue;
      const RitzEntry sum = ritz_sum(a, b, row, col, 0, alpha != 0 ? k : 0, options);
      RITZ_AT(c, row, col) = beta == 0 ? alpha * sum : alpha * sum + beta * RITZ_AT(c, row, col);
    }
    if (is_in_place) ritz_multiply_in_place(a, b, c, m, n, alpha, options);
  }
}

#endif

#ifdef RITZ_SOLVE

// Parts that options leave out have no entries or no steps, so that all barriers are reached whatever options
// are: a compiler for processors that play a device repeats what follows a barrier below a condition, and
// took half a minute.

RITZ_INLINE void ritz_scale(RitzMatrix b, int n, int num, RitzEntry alpha) {
  for (RitzLong e = RITZ_THREAD; e < (RitzLong)n * num; e += RITZ_THREADS) {
    const int row = (int)(e % n), col = (int)(e / n);
    RITZ_AT(b, row, col) = alpha == 0 ? 0 : alpha * RITZ_AT(b, row, col);
  }
  RITZ_STEP();
}

// Pivots outside of the matrix are left out.
RITZ_INLINE void ritz_swap(RitzMatrix b, int n, int num, RITZ_GLOBAL const int *pivots, int is_back) {
  RITZ_EACH(col, 0, num) {
    for (int step = 0; step < n; step++) {
      const int r = is_back ? n - 1 - step : step, from_1 = pivots[r], s = from_1 > 0 ? from_1 - 1 : r;
      if (s >= n || s == r) continue;
      const RitzEntry kept = RITZ_AT(b, r, col);
      RITZ_AT(b, r, col) = RITZ_AT(b, s, col);
      RITZ_AT(b, s, col) = kept;
    }
  }
  RITZ_STEP();
}

// T X = B for the lower triangle of T, forward, or for the upper one, backward; num_steps: n or 0.
RITZ_INLINE void ritz_solve(RitzMatrix t, RitzMatrix b, int n, int num, int num_steps, int is_unit,
                            int is_back) {
  for (int step = 0; step < num_steps; step++) {
    const int k = is_back ? n - 1 - step : step, first = is_back ? 0 : k + 1, rows = n - 1 - step;
    RITZ_EACH(col, is_unit ? num : 0, num) RITZ_AT(b, k, col) /= RITZ_AT(t, k, k);
    RITZ_STEP();
    for (RitzLong e = RITZ_THREAD; e < (RitzLong)rows * num; e += RITZ_THREADS) {
      const int row = first + (int)(e % rows), col = (int)(e / rows);
      RITZ_AT(b, row, col) -= RITZ_AT(t, row, k) * RITZ_AT(b, k, col);
    }
    RITZ_STEP();
  }
}

// X over B [n][k].
RITZ_KERNEL(RITZ_THREADS) ritz_batched(RITZ_BATCH_PARAMETERS) {
  const RitzEntry alpha = (RitzEntry)RITZ_DOUBLE(alpha_bits);
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    int m, n, k;
    const int bad = RITZ_SIZES(i, m, n, k), failed = options & RITZ_FOLLOWS ? info[i] : 0;
    if (failed) k = 0;
    const RitzMatrix a = RITZ_MATRIX(A, i, n, n), b = RITZ_MATRIX(B, i, n, k);
    RitzMatrix t = a;
    if (options & RITZ_SYMMETRIC) {
      t.rs = a.cs;
      t.cs = a.rs;
    }
    ritz_scale(b, n, alpha != 1 ? k : 0, alpha);
    ritz_swap(b, n, options & RITZ_SWAPS_FIRST ? k : 0, ipiv + i * ipiv_stride, 0);
    ritz_solve(a, b, n, k, alpha != 0 ? n : 0, options & RITZ_UNIT_FIRST, 0);
    ritz_solve(t, b, n, k, options & RITZ_SOLVES_TWICE ? n : 0, options & RITZ_UNIT_SECOND, 1);
    ritz_swap(b, n, options & RITZ_SWAPS_LAST ? k : 0, ipiv + i * ipiv_stride, 1);
    if (info && RITZ_THREAD == 0) info[i] = bad ? bad : failed;
  }
}

#endif

#ifdef RITZ_POTRF

// The lower triangle of A, which is not read above the diagonal.
RITZ_INLINE int ritz_cholesky(RitzMatrix a, int n) {
  for (int k = 0; k < n; k++) {
    const RitzEntry d = RITZ_AT(a, k, k);
    if (!(d > 0)) return k + 1;
    const RitzEntry root = RITZ_SQRT(d);
    RITZ_STEP();
    if (RITZ_THREAD == 0) RITZ_AT(a, k, k) = root;
    RITZ_EACH(row, k + 1, n) RITZ_AT(a, row, k) /= root;
    RITZ_STEP();
    const int rest = n - 1 - k;
    for (RitzLong e = RITZ_THREAD; e < (RitzLong)rest * rest; e += RITZ_THREADS) {
      const int row = k + 1 + (int)(e % rest), col = k + 1 + (int)(e / rest);
      if (row >= col) RITZ_AT(a, row, col) -= RITZ_AT(a, row, k) * RITZ_AT(a, col, k);
    }
    RITZ_STEP();
  }
  return 0;
}

RITZ_KERNEL(RITZ_THREADS) ritz_batched(RITZ_BATCH_PARAMETERS) {
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    int m, n, k;
    const int bad = RITZ_SIZES(i, m, n, k);
    const int failed = ritz_cholesky(RITZ_MATRIX(A, i, n, n), n);
    if (info && RITZ_THREAD == 0) info[i] = bad ? bad : failed;
  }
}

#endif

#if defined(RITZ_GETRF) || defined(RITZ_INV)

// The row of the largest entry of column k from row k on, the first one of equal ones.
RITZ_INLINE int ritz_find_pivot(RitzMatrix a, int m, int k, RITZ_SHARED RitzEntry *largest,
                                RITZ_SHARED int *place) {
  const int num = m - k < RITZ_THREADS ? m - k : RITZ_THREADS;
  RitzEntry most = -1;
  int found = m;
  RITZ_EACH(row, k, m) {
    const RitzEntry magnitude = RITZ_ABS(RITZ_AT(a, row, k));
    if (!(magnitude > most)) continue;
    most = magnitude;
    found = row;
  }
  largest[RITZ_THREAD] = most;
  place[RITZ_THREAD] = found;
  RITZ_STEP();
  most = largest[0];
  found = place[0];
  for (int t = 1; t < num; t++) {
    if (!(largest[t] > most || (largest[t] == most && place[t] < found))) continue;
    most = largest[t];
    found = place[t];
  }
  RITZ_STEP();
  return found < m ? found : k; // k: nothing but NaN
}

// P A = L U. Pivots, counted from 1, go to `pivots`, or to `kept_pivots`, or where both are NULL there are
// none.
RITZ_INLINE int ritz_lu(RitzMatrix a, int m, int n, RITZ_GLOBAL int *pivots, RITZ_SHARED int *kept_pivots,
                        RITZ_SHARED RitzEntry *largest, RITZ_SHARED int *place) {
  int failed = 0;
  for (int k = 0; k < m && k < n; k++) {
    if (pivots || kept_pivots) {
      const int pivot = ritz_find_pivot(a, m, k, largest, place);
      RITZ_EACH(col, 0, pivot != k ? n : 0) {
        const RitzEntry kept = RITZ_AT(a, k, col);
        RITZ_AT(a, k, col) = RITZ_AT(a, pivot, col);
        RITZ_AT(a, pivot, col) = kept;
      }
      if (pivots && RITZ_THREAD == 0) pivots[k] = pivot + 1;
      if (kept_pivots && RITZ_THREAD == 0) kept_pivots[k] = pivot + 1;
      RITZ_STEP();
    }
    const RitzEntry d = RITZ_AT(a, k, k);
    if (d == 0) {
      if (!failed) failed = k + 1;
      continue;
    }
    RITZ_EACH(row, k + 1, m) RITZ_AT(a, row, k) /= d;
    RITZ_STEP();
    const int rows = m - 1 - k;
    for (RitzLong e = RITZ_THREAD; e < (RitzLong)rows * (n - 1 - k); e += RITZ_THREADS) {
      const int row = k + 1 + (int)(e % rows), col = k + 1 + (int)(e / rows);
      RITZ_AT(a, row, col) -= RITZ_AT(a, row, k) * RITZ_AT(a, k, col);
    }
    RITZ_STEP();
  }
  return failed;
}

#endif

#ifdef RITZ_GETRF

RITZ_KERNEL(RITZ_THREADS) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_SHARED_ARRAY RitzEntry largest[RITZ_THREADS];
  RITZ_SHARED_ARRAY int place[RITZ_THREADS];
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    int m, n, k;
    const int bad = RITZ_SIZES(i, m, n, k);
    const int failed =
        ritz_lu(RITZ_MATRIX(A, i, m, n), m, n, ipiv ? ipiv + i * ipiv_stride : 0, 0, largest, place);
    if (info && RITZ_THREAD == 0) info[i] = bad ? bad : failed;
  }
}

#endif

#if defined(RITZ_GETRI) || defined(RITZ_INV)

// U := U^-1: U^-1 (0:j, j) = -U^-1 (0:j, 0:j) U(0:j, j) / u_jj.
RITZ_INLINE void ritz_invert_upper(RitzMatrix a, int n, RITZ_SHARED RitzEntry *column) {
  for (int j = 0; j < n; j++) {
    RITZ_EACH(row, 0, j + 1) column[row] = RITZ_AT(a, row, j);
    RITZ_STEP();
    const RitzEntry d = 1 / column[j];
    RITZ_EACH(row, 0, j + 1) {
      RitzEntry sum = 0;
      for (int k = row; k < j; k++) sum += RITZ_AT(a, row, k) * column[k];
      RITZ_AT(a, row, j) = row < j ? -sum * d : d;
    }
    RITZ_STEP();
  }
}

// A := X with X L = U, columns from the last to the first.
RITZ_INLINE void ritz_divide_by_lower(RitzMatrix a, int n, RITZ_SHARED RitzEntry *column) {
  for (int j = n - 2; j >= 0; j--) {
    RITZ_EACH(row, j + 1, n) column[row] = RITZ_AT(a, row, j);
    RITZ_STEP();
    RITZ_EACH(row, 0, n) {
      RitzEntry sum = row <= j ? RITZ_AT(a, row, j) : 0;
      for (int k = j + 1; k < n; k++) sum -= RITZ_AT(a, row, k) * column[k];
      RITZ_AT(a, row, j) = sum;
    }
    RITZ_STEP();
  }
}

RITZ_INLINE void ritz_swap_columns(RitzMatrix a, int row, int j, int pivot, int n) {
  const int col = pivot > 0 ? pivot - 1 : j;
  if (col >= n || col == j) return;
  const RitzEntry kept = RITZ_AT(a, row, j);
  RITZ_AT(a, row, j) = RITZ_AT(a, row, col);
  RITZ_AT(a, row, col) = kept;
}

// The first zero of the diagonal, counted from 1; 0: there is none.
RITZ_INLINE int ritz_find_zero(RitzMatrix a, int n) {
  for (int k = 0; k < n; k++) {
    if (RITZ_AT(a, k, k) == 0) return k + 1;
  }
  return 0;
}

#endif

#ifdef RITZ_GETRI

RITZ_KERNEL(RITZ_THREADS) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_SHARED_ARRAY RitzEntry column[RITZ_WORK];
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    int m, n, k;
    const int bad = RITZ_SIZES(i, m, n, k);
    const RitzMatrix a = RITZ_MATRIX(A, i, n, n);
    const int failed = ritz_find_zero(a, n);
    RITZ_STEP();
    if (!failed) {
      ritz_invert_upper(a, n, column);
      ritz_divide_by_lower(a, n, column);
      RITZ_EACH(row, 0, ipiv ? n : 0) {
        for (int j = n - 1; j >= 0; j--) ritz_swap_columns(a, row, j, ipiv[i * ipiv_stride + j], n);
      }
    }
    if (info && RITZ_THREAD == 0) info[i] = bad ? bad : failed;
  }
}

#endif

#ifdef RITZ_INV

// B = A^-1; B may be A.
RITZ_KERNEL(RITZ_THREADS) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_SHARED_ARRAY RitzEntry column[RITZ_WORK];
  RITZ_SHARED_ARRAY int pivots[RITZ_WORK];
  RITZ_SHARED_ARRAY RitzEntry largest[RITZ_THREADS];
  RITZ_SHARED_ARRAY int place[RITZ_THREADS];
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    int m, n, k;
    const int bad = RITZ_SIZES(i, m, n, k);
    const RitzMatrix a = RITZ_MATRIX(A, i, n, n), b = RITZ_MATRIX(B, i, n, n);
    for (RitzLong e = RITZ_THREAD; e < (RitzLong)n * n; e += RITZ_THREADS)
      RITZ_AT(b, e % n, e / n) = RITZ_AT(a, e % n, e / n);
    RITZ_STEP();
    const int failed = ritz_lu(b, n, n, 0, pivots, largest, place);
    if (!failed) {
      ritz_invert_upper(b, n, column);
      ritz_divide_by_lower(b, n, column);
      RITZ_EACH(row, 0, n) {
        for (int j = n - 1; j >= 0; j--) ritz_swap_columns(b, row, j, pivots[j], n);
      }
    }
    RITZ_STEP();
    if (info && RITZ_THREAD == 0) info[i] = bad ? bad : failed;
  }
}

#endif

#endif
