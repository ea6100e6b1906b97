// SPDX-License-Identifier: BSD-2-Clause
// LU of m x n matrices of vectors, left-looking in panels of RITZ_TILE columns: a panel takes what
// the columns before it do to it, is factorized with row swaps within it, and other columns are swapped after
// it. Swaps differ from lane to lane and are scalar.
#ifndef RITZ_KERNELS_CPU_BATCHED_LU_H
#define RITZ_KERNELS_CPU_BATCHED_LU_H

#include "kernels/cpu/batched-tiles.h"
#include "kernels/cpu/restrict.h"

#ifndef RITZ_LU_SMALL
#define RITZ_LU_SMALL 20
#endif

enum { RITZ_STEPS = RITZ_M < RITZ_N ? RITZ_M : RITZ_N }; // at most

typedef struct {
  RitzSizes size;
  RitzView A; // rs = 1
  bool has_pivots;
  RitzMask info;
  int64_t at[RITZ_STEPS][RITZ_LANES]; // of the pivot in a column of scalars: row RITZ_LANES + lane
} RitzLu;

RITZ_INLINE int ritz_lu_steps(const RitzLu *lu) { return lu->size.m < lu->size.n ? lu->size.m : lu->size.n; }

// Rows of the largest entries of column k from row k on, the first ones of equal ones: rows k, k + 2, ... and
// k + 1, k + 3, ... in two chains.
RITZ_INLINE RitzMask ritz_lu_find(RitzSizes s, RitzView A, int k) {
  const RitzEntryVec *a = &RITZ_AT(A, 0, k);
  RitzVec best = ritz_magnitude(a[k]), best2 = ritz_splat(-1);
  RitzMask row = (RitzMask){0} + k, row2 = row, at = row + 1;
  int i = k + 1;

  for (; i + 1 < s.m; i += 2, at += 2) {
    const RitzVec x = ritz_magnitude(a[i]), y = ritz_magnitude(a[i + 1]);
    const RitzMask larger2 = (RitzMask)(x > best2), larger = (RitzMask)(y > best);

    best2 = ritz_select(larger2, x, best2);
    row2 = ritz_select_mask(larger2, at, row2);
    best = ritz_select(larger, y, best);
    row = ritz_select_mask(larger, at + 1, row);
  }
  if (i < s.m) {
    const RitzVec x = ritz_magnitude(a[i]);
    const RitzMask larger2 = (RitzMask)(x > best2);

    best2 = ritz_select(larger2, x, best2);
    row2 = ritz_select_mask(larger2, at, row2);
  }
  const RitzMask second = (RitzMask)(best2 > best) | ((RitzMask)(best2 == best) & (RitzMask)(row2 < row));
  return ritz_select_mask(second, row2, row);
}

// Row `row` and, in each lane, the row whose entry is at at[lane] of a column, in columns begin .. end - 1.
RITZ_INLINE void ritz_lu_swap(RitzView A, int row, const int64_t *at, int begin, int end) {
  for (int j = begin; j < end; j++) {
    RitzEntryVec *column = &RITZ_AT(A, 0, j);
    const RitzEntries entries = {(char *)column, false, true};
    const RitzVec y = ritz_gather(entries, at), x = column[row];

    column[row] = y;
    RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++)((RitzReal *)column)[at[l]] = x[l];
  }
}

// The search of step k, which brings the pivot's row `u` of the panel's columns with it, rows by selection:
// no memory is written by lanes. For few rows.
RITZ_INLINE RitzMask ritz_lu_find_row(RitzSizes s, RitzView A, int k, int first, int cols, RitzVec *u) {
  RitzVec best = ritz_magnitude(RITZ_AT(A, k, k));
  RitzMask row = (RitzMask){0} + k, at = row;

  RITZ_UNROLL for (int j = 0; j < cols; j++) u[j] = RITZ_AT(A, k, first + j);
  for (int i = k + 1; i < s.m; i++) {
    const RitzVec x = ritz_magnitude(RITZ_AT(A, i, k));
    const RitzMask is_larger = (RitzMask)(x > best);

    at += 1;
    best = ritz_select(is_larger, x, best);
    row = ritz_select_mask(is_larger, at, row);
    RITZ_UNROLL for (int j = 0; j < cols; j++) u[j] = ritz_select(is_larger, RITZ_AT(A, i, first + j), u[j]);
  }
  return row;
}

// The divisor of column k. A pivot of zero goes to info and divides by one: a column of zeros, or, without
// pivoting, one that stays.
RITZ_INLINE RitzDivisor ritz_lu_divisor(RitzLu *lu, int k, RitzVec pivot) {
  const RitzMask is_zero = (RitzMask)(pivot == ritz_splat(0));
  const RitzMask is_first = (RitzMask)(lu->info == (RitzMask){0});

  lu->info = ritz_select_mask(is_zero & is_first, (RitzMask){0} + (k + 1), lu->info);
  return ritz_divisor(ritz_select(is_zero, ritz_splat(1), pivot));
}

// Step k of the panel of `cols` columns from column `first` on. Rows are swapped by selection where they are
// few, else lane by lane.
RITZ_INLINE void ritz_lu_step(bool is_small, RitzLu *lu, int k, int first, int cols) {
  const RitzSizes s = lu->size;
  const RitzView A = lu->A;
  RitzMask row = (RitzMask){0} + k, at = row;
  RitzVec u[RITZ_TILE], old[RITZ_TILE];

  if (lu->has_pivots) {
    row = is_small ? ritz_lu_find_row(s, A, k, first, cols, u) : ritz_lu_find(s, A, k);
    RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) lu->at[k][l] = (int64_t)row[l] * RITZ_LANES + l;
    if (!is_small) ritz_lu_swap(A, k, lu->at[k], first, first + cols);
  }
  RITZ_UNROLL for (int j = 0; j < cols; j++) {
    old[j] = RITZ_AT(A, k, first + j);
    if (!is_small || !lu->has_pivots) u[j] = old[j];
    if (is_small) RITZ_AT(A, k, first + j) = u[j];
  }
  const int here = k - first;
  const RitzDivisor divisor = ritz_lu_divisor(lu, k, u[here]);
  for (int i = k + 1; i < s.m; i++) {
    RitzVec a[RITZ_TILE];

    at += 1;
    RITZ_UNROLL for (int j = 0; j < cols; j++) {
      a[j] = RITZ_AT(A, i, first + j);
      if (is_small) a[j] = ritz_select((RitzMask)(row == at), old[j], a[j]);
    }
    a[here] = ritz_quotient(a[here], &divisor);
    RITZ_UNROLL for (int j = 0; j < cols; j++) {
      if (first + j > k) a[j] -= a[here] * u[j];
      if (is_small || first + j >= k) RITZ_AT(A, i, first + j) = a[j];
    }
  }
}

// The swaps of a panel's steps on other columns: which of its rows are swapped with each other, in which
// lanes.
typedef struct {
  RitzMask is_inside[RITZ_TILE][RITZ_TILE]; // step k with row t >= k of the panel
} RitzLuExchange;

RITZ_INLINE RitzLuExchange ritz_lu_exchange(const RitzLu *lu, int first, int num) {
  RitzLuExchange e;

  RITZ_UNROLL for (int k = 0; k < num; k++) {
    RitzMask at;
    RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) at[l] = lu->at[first + k][l] / RITZ_LANES;
    RITZ_UNROLL for (int t = k; t < num; t++) e.is_inside[k][t] =
        (RitzMask)(at == (RitzMask){0} + (first + t));
  }
  return e;
}

// All swaps of `num` steps on a column. The rows of the steps are in registers meanwhile: memory that was
// written by lanes is not read by vectors.
RITZ_INLINE void ritz_lu_swap_column(const RitzLu *lu, const RitzLuExchange *e, int first, int num, int j) {
  RitzEntryVec *column = &RITZ_AT(lu->A, 0, j);
  const RitzEntries entries = {(char *)column, false, true};
  RitzVec row[RITZ_TILE];

  RITZ_UNROLL for (int k = 0; k < num; k++) row[k] = column[first + k];
  RITZ_UNROLL for (int k = 0; k < num; k++) {
    const int64_t *at = lu->at[first + k];
    const RitzVec x = row[k];
    RitzVec y = ritz_gather(entries, at);

    RITZ_UNROLL for (int t = k; t < num; t++) {
      y = ritz_select(e->is_inside[k][t], row[t], y);
      row[t] = ritz_select(e->is_inside[k][t], x, row[t]);
    }
    RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++)((RitzReal *)column)[at[l]] = x[l];
    row[k] = y;
  }
  RITZ_UNROLL for (int k = 0; k < num; k++) column[first + k] = row[k];
}

// The compiler knows num.
RITZ_INLINE void ritz_lu_swap_columns(const RitzLu *lu, int first, int cols, int num) {
  const RitzLuExchange e = ritz_lu_exchange(lu, first, num);

  for (int j = 0; j < first; j++) ritz_lu_swap_column(lu, &e, first, num, j);
  for (int j = first + cols; j < lu->size.n; j++) ritz_lu_swap_column(lu, &e, first, num, j);
}

// The swaps of a panel on the columns outside of it.
RITZ_INLINE void ritz_lu_swap_others(const RitzLu *lu, int first, int cols) {
  if (first + cols <= ritz_lu_steps(lu))
    ritz_lu_swap_columns(lu, first, cols, cols);
  else if (RITZ_STEPS % RITZ_TILE)
    ritz_lu_swap_columns(lu, first, cols, RITZ_STEPS % RITZ_TILE);
}

// The panel of `cols` columns, which the compiler knows, from column `first` on.
RITZ_INLINE void ritz_lu_panel(bool is_small, RitzLu *lu, int first, int cols) {
  const RitzSizes s = lu->size;
  const RitzView A = lu->A, panel = ritz_view_from(A, 0, first);
  const int above = first < s.m ? first : s.m;
  int i = 0;

  for (; i + RITZ_TILE <= above; i += RITZ_TILE) ritz_tile_solve(RITZ_TILE, cols, i, A, NULL, panel);
  if (first >= s.m) {
    if (RITZ_M % RITZ_TILE) ritz_tile_solve(RITZ_M % RITZ_TILE, cols, i, A, NULL, panel);
    return;
  }
  for (; i + RITZ_TILE <= s.m && first > 0; i += RITZ_TILE)
    ritz_tile_subtract(RITZ_TILE, cols, first, ritz_view_from(A, i, 0), panel, ritz_view_from(panel, i, 0));
  if (RITZ_M % RITZ_TILE && first > 0)
    ritz_tile_subtract(RITZ_M % RITZ_TILE, cols, first, ritz_view_from(A, i, 0), panel,
                       ritz_view_from(panel, i, 0));
  RITZ_UNROLL for (int k = 0; k < cols; k++) {
    if (first + k < ritz_lu_steps(lu)) ritz_lu_step(is_small, lu, first + k, first, cols);
  }
  if (lu->has_pivots) ritz_lu_swap_others(lu, first, cols);
}

RITZ_INLINE void ritz_lu_panels(bool is_small, RitzLu *lu) {
  int first = 0;

  lu->info = (RitzMask){0};
  for (; first + RITZ_TILE <= lu->size.n; first += RITZ_TILE) ritz_lu_panel(is_small, lu, first, RITZ_TILE);
  if (RITZ_N % RITZ_TILE) ritz_lu_panel(is_small, lu, first, RITZ_N % RITZ_TILE);
}

// P A = L U
RITZ_INLINE void ritz_lu(RitzLu *lu) {
  if (lu->size.m <= RITZ_LU_SMALL)
    ritz_lu_panels(true, lu);
  else
    ritz_lu_panels(false, lu);
}

// Swaps of the steps that matrices have, counted from 1.
RITZ_INLINE void ritz_lu_store_pivots(const RitzGroup *group, const RitzLu *lu) {
  const RitzBatchedArgs *args = group->args;

  for (int l = 0; l < group->num && args->ipiv; l++) {
    int32_t *to = args->ipiv + ritz_matrix(group, l) * args->ipiv_stride;
    const int m = ritz_own_size(group, args->operand[0].rows, l), n = ritz_own_size(group, 1, l);

    if (group->is_left_alone[l]) continue;
    for (int k = 0; k < m && k < n; k++) to[k] = (int32_t)(lu->at[k][l] / RITZ_LANES) + 1;
  }
}

#if RITZ_IS_LU
typedef struct {
  RitzVec a[RITZ_SCRATCH_LD(RITZ_M) * RITZ_N];
} RitzBatchedWork;

RITZ_INLINE void ritz_batched_group(RitzGroup *group, RitzBatchedWork *work) {
  const RitzBatchedArgs *args = group->args;
  RitzLu lu = {.size = ritz_sizes(group), .has_pivots = args->has_pivots};
  const RitzSizes s = lu.size;

  lu.A = ritz_pack(group, &args->operand[0], s.m, s.n, true, true, work->a);
  ritz_lu(&lu);
  ritz_unpack(group, &args->operand[0], s.m, s.n, RITZ_ALL, lu.A);
  if (lu.has_pivots) ritz_lu_store_pivots(group, &lu);
  for (int l = 0; l < group->num; l++) {
    const int m = ritz_own_size(group, 0, l), n = ritz_own_size(group, 1, l);
    if (!group->is_left_alone[l] && lu.info[l] <= m && lu.info[l] <= n) group->info[l] = (int32_t)lu.info[l];
  }
}
#endif

#endif
