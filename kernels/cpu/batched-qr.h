// SPDX-License-Identifier: BSD-2-Clause
// QR factorization of matrices of vectors, products with Q, its columns, least squares. Rows and columns that
// a matrix does not have are zeros, whose reflectors are the identity.
#ifndef RITZ_KERNELS_CPU_BATCHED_QR_H
#define RITZ_KERNELS_CPU_BATCHED_QR_H

#include "kernels/cpu/batched-reflectors.h"
#if RITZ_IS_LEAST_SQUARES
#include "kernels/cpu/batched-solve.h"
#endif

typedef struct {
  RitzVec a[RITZ_SCRATCH_LD(RITZ_LARGER(RITZ_M, RITZ_ORDER)) * RITZ_LARGER(RITZ_N, RITZ_K)];
#if RITZ_IS_FORM_Q
  RitzVec c[RITZ_SCRATCH_LD(RITZ_M) * RITZ_N];
#elif RITZ_IS_APPLY_Q
  RitzVec c[(RITZ_SCRATCH_LD(RITZ_ORDER) + 1) * (RITZ_COLUMNS + 1) +
            (RITZ_SCRATCH_LD(RITZ_COLUMNS) + 1) * (RITZ_ORDER + 1)];
#elif RITZ_IS_LEAST_SQUARES
  RitzVec c[RITZ_SCRATCH_LD(RITZ_MOST_ROWS) * RITZ_COLUMNS];
#endif
  RitzVec tau[RITZ_LARGER(RITZ_MOST_ROWS, RITZ_K)];
  RitzReflectors reflectors;
} RitzBatchedWork;

// ---- Factors ----

#if RITZ_IS_QR
RITZ_INLINE void ritz_batched_group(RitzGroup *group, RitzBatchedWork *work) {
  const RitzBatchedArgs *args = group->args;
  const RitzSizes s = ritz_sizes(group);
  const int steps = s.m < s.n ? s.m : s.n;
  const RitzView A = ritz_pack(group, &args->operand[0], s.m, s.n, false, true, work->a);

  ritz_qr(A, s.m, s.n, RITZ_N % RITZ_TILE, work->tau, &work->reflectors);
  ritz_unpack(group, &args->operand[0], s.m, s.n, RITZ_ALL, A);
  ritz_unpack(group, &args->operand[1], steps, 1, RITZ_ALL, (RitzView){(RitzEntryVec *)work->tau, 1, steps});
}
#endif

// ---- Q ----

#if RITZ_IS_APPLY_Q || RITZ_IS_FORM_Q
// tau of operand 1, k entries; zeros from the matrix's size in dimension `most` on.
RITZ_INLINE void ritz_take_factors(const RitzGroup *group, int k, int most, RitzVec *tau) {
  const RitzView given = ritz_pack(group, &group->args->operand[1], k, 1, false, true, tau);

  for (int j = 0; j < k && given.p != (RitzEntryVec *)tau; j++) tau[j] = RITZ_AT(given, j, 0);
  for (int l = 0; l < group->num && !group->args->is_uniform; l++) {
    for (int j = ritz_own_size(group, most, l); j < k; j++) ((RitzReal *)(RitzEntryVec *)&tau[j])[l] = 0;
  }
}
#endif

#if RITZ_IS_APPLY_Q
RITZ_INLINE void ritz_batched_group(RitzGroup *group, RitzBatchedWork *work) {
  const RitzBatchedArgs *args = group->args;
  const bool is_right = args->is_right;
  const RitzSizes s = ritz_sizes(group);
  const int steps = s.k < s.order ? s.k : s.order, rest = RITZ_COLUMNS % RITZ_TILE;
  const int rows = is_right ? s.columns : s.order, cols = is_right ? s.order : s.columns;
  const RitzView A = ritz_pack(group, &args->operand[0], s.order, s.k, false, true, work->a);
  const RitzView C = ritz_pack(group, &args->operand[2], rows, cols, false, true, work->c);
  const RitzView X = is_right ? ritz_view_transposed(C) : C;

  ritz_take_factors(group, s.k, args->operand[0].rows, work->tau);
  if (args->is_back)
    ritz_apply_q(true, rest, A, s.order, steps, work->tau, X, s.columns, &work->reflectors);
  else
    ritz_apply_q(false, rest, A, s.order, steps, work->tau, X, s.columns, &work->reflectors);
  ritz_unpack(group, &args->operand[2], rows, cols, RITZ_ALL, C);
}
#endif

#if RITZ_IS_FORM_Q
RITZ_INLINE void ritz_batched_group(RitzGroup *group, RitzBatchedWork *work) {
  const RitzBatchedArgs *args = group->args;
  const RitzSizes s = ritz_sizes(group);
  const int steps = s.k < s.n ? s.k : s.n, last = (steps - 1) / RITZ_TILE * RITZ_TILE;
  const RitzView A = ritz_pack(group, &args->operand[0], s.m, s.n, false, true, work->a);
  const RitzView Q = {(RitzEntryVec *)work->c, 1, RITZ_SCRATCH_LD(s.m)};

  ritz_take_factors(group, s.k, args->operand[0].cols, work->tau);
  for (int c = 0; c < s.n; c++) {
    for (int r = 0; r < s.m; r++) RITZ_AT(Q, r, c) = ritz_splat(r == c);
  }
  // Columns before those of a panel's reflectors are still columns of the identity that it leaves alone.
  for (int first = last; first >= 0; first -= RITZ_TILE) {
    const int num = steps - first < RITZ_TILE ? steps - first : RITZ_TILE;

    ritz_reflectors_take(A, s.m, first, num, work->tau, &work->reflectors);
    ritz_reflectors_apply(true, RITZ_N % RITZ_TILE, &work->reflectors, Q, first, s.n);
  }
  ritz_unpack(group, &args->operand[0], s.m, s.n, RITZ_ALL, Q);
}
#endif

// ---- Least squares ----

#if RITZ_IS_LEAST_SQUARES
// The first zero of R's diagonal, from 1, of each matrix; ones on the diagonal that matrices do not have.
RITZ_INLINE void ritz_least_find_zeros(RitzGroup *group, int steps, RitzView T) {
  for (int l = 0; l < group->num; l++) {
    const int own = ritz_own_size(group, 4, l);

    for (int k = steps - 1; k >= 0 && !group->is_left_alone[l]; k--) {
      RitzReal *d = (RitzReal *)&RITZ_AT(T, k, k) + l;

      if (k >= own)
        *d = 1;
      else if (*d == 0)
        group->info[l] = k + 1;
    }
  }
}

// Clears the rows of X behind the unknowns of each matrix; without is_all only of matrices that have no
// unknowns.
RITZ_INLINE void ritz_least_clear(const RitzGroup *group, bool is_all, int rows, int columns, RitzView X) {
  for (int l = 0; l < group->num; l++) {
    const int own = ritz_own_size(group, 4, l);

    for (int c = 0; c < columns && (is_all || own == 0); c++) {
      for (int r = own; r < rows; r++) ((RitzReal *)&RITZ_AT(X, r, c))[l] = 0;
    }
  }
}

// Matrices that are wide, or those that are tall; the compiler knows which. T = Q R is A or A^T, whichever is
// tall: T X = B by R X = Q^T B, T^T X = B by X = Q R^-T B.
RITZ_INLINE void ritz_least_squares(bool is_wide, RitzGroup *group, RitzBatchedWork *work) {
  const RitzBatchedArgs *args = group->args;
  RitzSizes s = ritz_sizes(group);
  const int rows = is_wide ? s.n : s.m, columns = is_wide ? s.m : s.n,
            steps = rows < columns ? rows : columns;
  const int most = RITZ_LARGER(s.m, s.n), rest = (is_wide ? RITZ_M : RITZ_N) % RITZ_TILE;
  const RitzView A = ritz_pack(group, &args->operand[0], s.m, s.n, false, true, work->a);
  const RitzView T = is_wide ? ritz_view_transposed(A) : A;
  const RitzBatchedTriangle R = {.is_lower = is_wide, .is_transposed = args->trans_a};

  s.order = steps;
  ritz_qr(T, rows, columns, rest, work->tau, &work->reflectors);
  ritz_unpack(group, &args->operand[0], s.m, s.n, RITZ_ALL, A);
  ritz_least_find_zeros(group, steps, T);
  const RitzView X = ritz_pack(group, &args->operand[1], most, s.columns, false, true, work->c);
  if (is_wide == args->trans_a) {
    ritz_apply_q(false, RITZ_COLUMNS % RITZ_TILE, T, rows, steps, work->tau, X, s.columns, &work->reflectors);
    ritz_solve_triangle(s, &R, A, X);
    ritz_least_clear(group, false, most, s.columns, X);
  } else {
    ritz_solve_triangle(s, &R, A, X);
    ritz_least_clear(group, true, most, s.columns, X);
    ritz_apply_q(true, RITZ_COLUMNS % RITZ_TILE, T, rows, steps, work->tau, X, s.columns, &work->reflectors);
  }
  ritz_unpack(group, &args->operand[1], most, s.columns, RITZ_ALL, X);
}

static void ritz_least_wide(RitzGroup *group, RitzBatchedWork *work) {
  ritz_least_squares(true, group, work);
}
static void ritz_least_tall(RitzGroup *group, RitzBatchedWork *work) {
  ritz_least_squares(false, group, work);
}

RITZ_INLINE void ritz_batched_group(RitzGroup *group, RitzBatchedWork *work) {
  RitzGroup part = *group;

  if (!RITZ_IS_ANY_SIZE && RITZ_M < RITZ_N) ritz_least_wide(group, work);
  if (!RITZ_IS_ANY_SIZE && RITZ_M >= RITZ_N) ritz_least_tall(group, work);
  for (int wide = 0; wide < 2 && RITZ_IS_ANY_SIZE; wide++) {
    int num = 0;

    for (int l = 0; l < group->num; l++) {
      const bool is_wide = ritz_own_size(group, 0, l) < ritz_own_size(group, 1, l);

      part.is_left_alone[l] = group->is_left_alone[l] || is_wide != wide;
      num += !part.is_left_alone[l];
    }
    if (num > 0 && wide) ritz_least_wide(&part, work);
    if (num > 0 && !wide) ritz_least_tall(&part, work);
  }
  for (int l = 0; l < group->num && RITZ_IS_ANY_SIZE; l++) group->info[l] = part.info[l];
}
#endif

#endif
