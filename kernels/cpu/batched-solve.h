// SPDX-License-Identifier: BSD-2-Clause
// Triangular systems with `order` unknowns and `columns` columns, in matrices of vectors: every form of
// TRSM, TRSV, POTRS and GETRS is L X = B of a view, transposed or turned end for end.
#ifndef RITZ_KERNELS_CPU_BATCHED_SOLVE_H
#define RITZ_KERNELS_CPU_BATCHED_SOLVE_H

#include "kernels/cpu/batched-tiles.h"

RITZ_INLINE void ritz_solve_columns(RitzSizes s, int cols, RitzView L, const RitzDivisor *divisors,
                                    RitzView X) {
  int i = 0;

  for (; i + RITZ_TILE <= s.order; i += RITZ_TILE) ritz_tile_solve(RITZ_TILE, cols, i, L, divisors, X);
  if (RITZ_ORDER % RITZ_TILE) ritz_tile_solve(RITZ_ORDER % RITZ_TILE, cols, i, L, divisors, X);
}

RITZ_INLINE void ritz_solve_lower(RitzSizes s, RitzView L, const RitzDivisor *divisors, RitzView X) {
  int j = 0;

  for (; j + RITZ_TILE <= s.columns; j += RITZ_TILE)
    ritz_solve_columns(s, RITZ_TILE, L, divisors, ritz_view_from(X, 0, j));
  if (RITZ_COLUMNS % RITZ_TILE)
    ritz_solve_columns(s, RITZ_COLUMNS % RITZ_TILE, L, divisors, ritz_view_from(X, 0, j));
}

// The system of a triangle of A as it is stored, X over B.
RITZ_INLINE void ritz_solve_triangle(RitzSizes s, const RitzBatchedTriangle *t, RitzView A, RitzView X) {
  RitzDivisor divisors[RITZ_ORDER];
  RitzView L = t->is_transposed ? ritz_view_transposed(A) : A;

  if (t->is_lower == t->is_transposed) ritz_turn_system(s, &L, &X);
  if (t->is_unit) {
    ritz_solve_lower(s, L, NULL, X);
    return;
  }
  for (int i = 0; i < s.order; i++) divisors[i] = ritz_divisor(RITZ_AT(L, i, i));
  ritz_solve_lower(s, L, divisors, X);
}

// Swaps of LU on the rows of X, or back; those that are none of the matrix's rows are left out.
RITZ_INLINE void ritz_solve_permute(const RitzGroup *group, RitzSizes s, bool is_back, RitzView X) {
  const RitzBatchedArgs *args = group->args;

  for (int l = 0; l < group->num && args->ipiv; l++) {
    const int32_t *ipiv = args->ipiv + ritz_matrix(group, l) * args->ipiv_stride;
    const int n = ritz_own_size(group, 1, l);

    for (int step = 0; step < n && !group->is_left_alone[l]; step++) {
      const int i = is_back ? n - 1 - step : step;
      const int64_t row = (int64_t)ipiv[i] - 1;

      for (int c = 0; c < s.columns && row >= 0 && row < n; c++) {
        RitzReal *x = (RitzReal *)&RITZ_AT(X, i, c) + l, *y = (RitzReal *)&RITZ_AT(X, row, c) + l;
        const RitzReal kept = *x;
        *x = *y;
        *y = kept;
      }
    }
  }
}

#if RITZ_IS_SOLVE
typedef struct {
  RitzVec a[RITZ_SCRATCH_LD(RITZ_ORDER) * RITZ_ORDER];
  RitzVec b[(RITZ_SCRATCH_LD(RITZ_ORDER) + 1) * (RITZ_COLUMNS + 1) +
            (RITZ_SCRATCH_LD(RITZ_COLUMNS) + 1) * (RITZ_ORDER + 1)];
} RitzBatchedWork;

static void ritz_solve_scale(RitzSizes s, RitzReal alpha, RitzView X) {
  for (int c = 0; c < s.columns && alpha != 1; c++) {
    for (int r = 0; r < s.order; r++) {
      if (alpha == 0)
        RITZ_AT(X, r, c) = ritz_splat(0);
      else
        RITZ_AT(X, r, c) *= alpha;
    }
  }
}

RITZ_INLINE void ritz_batched_group(RitzGroup *group, RitzBatchedWork *work) {
  const RitzBatchedArgs *args = group->args;
  const RitzReal alpha = (RitzReal)args->alpha;
  const bool is_right = args->is_right;
  const RitzSizes s = ritz_sizes(group);
  const int rows = is_right ? s.columns : s.order, cols = is_right ? s.order : s.columns;
  const RitzView A = ritz_pack(group, &args->operand[0], s.order, s.order, true, alpha != 0, work->a);
  const RitzView B = ritz_pack(group, &args->operand[1], rows, cols, false, alpha != 0, work->b);
  const RitzView X = is_right ? ritz_view_transposed(B) : B;

  ritz_solve_scale(s, alpha, X);
  if (args->has_pivots && !args->permutes_after) ritz_solve_permute(group, s, false, X);
  for (int t = 0; t < args->num_triangles && alpha != 0; t++)
    ritz_solve_triangle(s, &args->triangle[t], A, X);
  if (args->has_pivots && args->permutes_after) ritz_solve_permute(group, s, true, X);
  ritz_unpack(group, &args->operand[1], rows, cols, RITZ_ALL, B);
}
#endif

#endif
