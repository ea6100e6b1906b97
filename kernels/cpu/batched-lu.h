// SPDX-License-Identifier: BSD-2-Clause
// LU of RITZ_M x RITZ_N matrices of vectors, left-looking in panels of RITZ_TILE columns: a panel takes what
// the columns before it do to it, is factorized with row swaps within it, and other columns are swapped after
// it. Swaps differ from lane to lane and are scalar.
#ifndef RITZ_KERNELS_CPU_BATCHED_LU_H
#define RITZ_KERNELS_CPU_BATCHED_LU_H

#include "kernels/cpu/batched-tiles.h"

enum { RITZ_STEPS = RITZ_M < RITZ_N ? RITZ_M : RITZ_N };

typedef struct {
  RitzView A; // rs = 1
  bool has_pivots;
  RitzMask info;
  int32_t ipiv[RITZ_STEPS][RITZ_LANES]; // from 0
} RitzLu;

// Rows of the largest entries of column k from row k on, the first ones of equal ones: rows k, k + 2, ... and
// k + 1, k + 3, ... in two chains.
RITZ_INLINE RitzMask ritz_lu_find(RitzView A, int k) {
  const RitzEntryVec *a = &RITZ_AT(A, 0, k);
  RitzVec best = ritz_magnitude(a[k]), best2 = ritz_splat(-1);
  RitzMask row = (RitzMask){0} + k, row2 = row, at = row + 1;
  int i = k + 1;

  for (; i + 1 < RITZ_M; i += 2, at += 2) {
    const RitzVec x = ritz_magnitude(a[i]), y = ritz_magnitude(a[i + 1]);
    const RitzMask larger2 = (RitzMask)(x > best2), larger = (RitzMask)(y > best);

    best2 = ritz_select(larger2, x, best2);
    row2 = ritz_select_mask(larger2, at, row2);
    best = ritz_select(larger, y, best);
    row = ritz_select_mask(larger, at + 1, row);
  }
  if (i < RITZ_M) {
    const RitzVec x = ritz_magnitude(a[i]);
    const RitzMask larger2 = (RitzMask)(x > best2);

    best2 = ritz_select(larger2, x, best2);
    row2 = ritz_select_mask(larger2, at, row2);
  }
  const RitzMask second = (RitzMask)(best2 > best) | ((RitzMask)(best2 == best) & (RitzMask)(row2 < row));
  return ritz_select_mask(second, row2, row);
}

// Rows `row` and rows[lane] of columns begin .. end - 1.
RITZ_INLINE void ritz_lu_swap(RitzView A, int row, const int32_t *rows, int begin, int end) {
  for (int j = begin; j < end; j++) {
    RitzReal *column = (RitzReal *)&RITZ_AT(A, 0, j);

    RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) {
      RitzReal *x = column + row * RITZ_LANES + l, *y = column + rows[l] * RITZ_LANES + l;
      const RitzReal kept = *x;
      *x = *y;
      *y = kept;
    }
  }
}

// Step k of the panel of `cols` columns from column `first` on.
RITZ_INLINE void ritz_lu_step(RitzLu *lu, int k, int first, int cols) {
  const RitzView A = lu->A;

  if (lu->has_pivots) {
    const RitzMask rows = ritz_lu_find(A, k);

    RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) lu->ipiv[k][l] = (int32_t)rows[l];
    ritz_lu_swap(A, k, lu->ipiv[k], first, first + cols);
  }
  const RitzVec pivot = RITZ_AT(A, k, k);
  const RitzMask is_zero = (RitzMask)(pivot == ritz_splat(0));
  lu->info = ritz_select_mask(is_zero & (RitzMask)(lu->info == (RitzMask){0}), (RitzMask){0} + (k + 1), lu->info);
  const RitzDivisor divisor = ritz_divisor(ritz_select(is_zero, ritz_splat(1), pivot));
  RitzVec u[RITZ_TILE];
  RITZ_UNROLL for (int j = 0; j < cols; j++) u[j] = RITZ_AT(A, k, first + j);
  for (int i = k + 1; i < RITZ_M; i++) {
    const RitzVec l = ritz_quotient(RITZ_AT(A, i, k), &divisor);

    RITZ_AT(A, i, k) = l;
    RITZ_UNROLL for (int j = 0; j < cols; j++) {
      if (first + j > k) RITZ_AT(A, i, first + j) -= l * u[j];
    }
  }
}

// Columns outside of a panel, column after column: all swaps of its steps.
RITZ_INLINE void ritz_lu_swap_others(RitzLu *lu, int first, int cols) {
  const int end = first + cols < RITZ_STEPS ? first + cols : RITZ_STEPS;

  for (int j = 0; j < RITZ_N && lu->has_pivots; j++) {
    if (j >= first && j < first + cols) continue;
    for (int k = first; k < end; k++) ritz_lu_swap(lu->A, k, lu->ipiv[k], j, j + 1);
  }
}

// The panel of `cols` columns, which the compiler knows, from column `first` on.
RITZ_INLINE void ritz_lu_panel(RitzLu *lu, int first, int cols) {
  const RitzView A = lu->A, panel = ritz_view_from(A, 0, first);
  const int above = first < RITZ_M ? first : RITZ_M;
  int i = 0;

  for (; i + RITZ_TILE <= above; i += RITZ_TILE) ritz_tile_solve(RITZ_TILE, cols, i, A, NULL, panel);
  if (first >= RITZ_M) {
    if (RITZ_M % RITZ_TILE) ritz_tile_solve(RITZ_M % RITZ_TILE, cols, i, A, NULL, panel);
    return;
  }
  for (; i + RITZ_TILE <= RITZ_M && first > 0; i += RITZ_TILE)
    ritz_tile_subtract(RITZ_TILE, cols, first, ritz_view_from(A, i, 0), panel, ritz_view_from(panel, i, 0));
  if (RITZ_M % RITZ_TILE && first > 0)
    ritz_tile_subtract(RITZ_M % RITZ_TILE, cols, first, ritz_view_from(A, i, 0), panel,
                       ritz_view_from(panel, i, 0));
  RITZ_UNROLL for (int k = 0; k < cols; k++) {
    if (first + k < RITZ_STEPS) ritz_lu_step(lu, first + k, first, cols);
  }
  ritz_lu_swap_others(lu, first, cols);
}

// P A = L U
static void ritz_lu(RitzLu *lu) {
  int first = 0;

  lu->info = (RitzMask){0};
  for (; first + RITZ_TILE <= RITZ_N; first += RITZ_TILE) ritz_lu_panel(lu, first, RITZ_TILE);
  if (RITZ_N % RITZ_TILE) ritz_lu_panel(lu, first, RITZ_N % RITZ_TILE);
}

// Swaps of the steps that matrices have, counted from 1.
RITZ_INLINE void ritz_lu_store_pivots(const RitzGroup *group, const RitzLu *lu) {
  const RitzBatchedArgs *args = group->args;

  for (int l = 0; l < group->num && args->ipiv; l++) {
    int32_t *to = args->ipiv + (group->first + l) * args->ipiv_stride;
    const int m = ritz_own_size(group, 0, l), n = ritz_own_size(group, 1, l);

    if (group->is_left_alone[l]) continue;
    for (int k = 0; k < m && k < n; k++) to[k] = lu->ipiv[k][l] + 1;
  }
}

#if RITZ_IS_LU
typedef struct {
  RitzVec a[RITZ_SCRATCH_LD(RITZ_M) * RITZ_N];
} RitzBatchedWork;

RITZ_INLINE void ritz_batched_group(RitzGroup *group, RitzBatchedWork *work) {
  const RitzBatchedArgs *args = group->args;
  RitzLu lu = {.has_pivots = args->has_pivots};

  lu.A = ritz_pack(group, &args->operand[0], RITZ_M, RITZ_N, true, true, work->a);
  ritz_lu(&lu);
  ritz_unpack(group, &args->operand[0], RITZ_M, RITZ_N, RITZ_ALL, lu.A);
  if (lu.has_pivots) ritz_lu_store_pivots(group, &lu);
  for (int l = 0; l < group->num; l++) {
    const int m = ritz_own_size(group, 0, l), n = ritz_own_size(group, 1, l);
    if (!group->is_left_alone[l] && lu.info[l] <= m && lu.info[l] <= n) group->info[l] = (int32_t)lu.info[l];
  }
}
#endif

#endif
