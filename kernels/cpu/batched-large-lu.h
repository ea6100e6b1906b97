// SPDX-License-Identifier: BSD-2-Clause
// LU of large matrices in scratch row after row, right-looking: a panel of columns is turned into scratch
// column after column, factorized there leaf by leaf with row swaps, and turned back; rows of the rest are
// swapped as vectors, its triangular system is solved and the product subtracted tile by tile.
#ifndef RITZ_KERNELS_CPU_BATCHED_LARGE_LU_H
#define RITZ_KERNELS_CPU_BATCHED_LARGE_LU_H

#include "kernels/cpu/batched-strips.h"

enum { RITZ_PANEL = 32, RITZ_PANEL_OF_LARGE = 64, RITZ_LARGE_ROWS = 192 };

typedef struct {
  RitzReal *S;     // [all_rows][ld]; beyond the matrix zeros
  RitzReal *P;     // [columns of a panel][ldp]: its rows from the panel's first one on
  RitzReal *X;     // [columns of a panel][RITZ_BLOCK]: rows of U above a leaf
  int64_t *pivots; // [steps], from 0
  int64_t ld, ldp, all_rows, all_cols, steps, info;
  bool has_pivots;
} RitzLargeLu;

// ---- A leaf: RITZ_BLOCK columns ----

// The row of the largest entry of column a from row k on, the first one of equal ones; rows end .. are none.
static int64_t ritz_leaf_find(const RitzReal *a, int64_t k, int64_t end) {
  const int64_t first = k / RITZ_LANES * RITZ_LANES;
  RitzMask at = {0}, row;
  RitzVec best;

  for (int l = 0; l < RITZ_LANES; l++) at[l] = (int)l;
  row = at;
  best = ritz_select((RitzMask)(at < (RitzMask){0} + (int)(k - first)), ritz_splat(-1),
                     ritz_magnitude(*(const RitzEntryVec *)(a + first)));
  // NaN in the first row is the pivot, as of IDAMAX without exceptions.
  for (int64_t i = first + RITZ_LANES; i < end; i += RITZ_LANES) {
    const RitzVec x = ritz_magnitude(*(const RitzEntryVec *)(a + i));
    const RitzMask is_larger = (RitzMask)(x > best);

    at += RITZ_LANES;
    best = ritz_select(is_larger, x, best);
    row = ritz_select_mask(is_larger, at, row);
  }
  int64_t found = k;
  RitzReal largest = a[k] < 0 ? -a[k] : a[k];
  for (int l = 0; l < RITZ_LANES; l++) {
    const int64_t own = first + row[l];

    if (!(best[l] > largest || (best[l] == largest && own < found))) continue;
    largest = best[l];
    found = own;
  }
  return found;
}

static void ritz_leaf_swap(RitzReal *P, int64_t ld, int64_t cols, int64_t i, int64_t row) {
  for (int64_t j = 0; j < cols; j++) {
    const RitzReal kept = P[i + j * ld];

    P[i + j * ld] = P[row + j * ld];
    P[row + j * ld] = kept;
  }
}

// Rows i .. of step k: column k divided, times row k subtracted from the columns after it; the compiler knows
// `right`, how many these are. is_below: of the lanes.
RITZ_INLINE void ritz_leaf_rows(int right, RitzReal *a, int64_t ld, int64_t i, const RitzScalarDivisor *d,
                                const RitzReal *u, bool is_first, RitzMask is_below) {
  RitzEntryVec *own = (RitzEntryVec *)(a + i);
  const RitzVec l = ritz_scalar_quotient(*own, d);

  *own = is_first ? ritz_select(is_below, l, *own) : l;
  RITZ_UNROLL for (int j = 0; j < right; j++) {
    RitzEntryVec *c = (RitzEntryVec *)(a + i + (j + 1) * ld);
    const RitzVec old = *c, x = old - l * u[j];

    *c = is_first ? ritz_select(is_below, x, old) : x;
  }
}

// Step k of a leaf whose columns `a` is the first of that are left.
RITZ_INLINE void ritz_leaf_step(int right, RitzReal *a, int64_t ld, int64_t k, int64_t rows,
                                RitzScalarDivisor d) {
  const int64_t first = k / RITZ_LANES * RITZ_LANES;
  RitzReal u[RITZ_BLOCK];
  RitzMask lane = {0};

  for (int l = 0; l < RITZ_LANES; l++) lane[l] = (int)l;
  RITZ_UNROLL for (int j = 0; j < right; j++) u[j] = a[k + (j + 1) * ld];
  ritz_leaf_rows(right, a, ld, first, &d, u, true, (RitzMask)(lane > (RitzMask){0} + (int)(k - first)));
  for (int64_t i = first + RITZ_LANES; i < rows; i += RITZ_LANES)
    ritz_leaf_rows(right, a, ld, i, &d, u, false, lane);
}

// Rows and columns of the leaf count from its own place P on; `base` is its first row's number in the panel,
// steps those of its own. Swaps are of the leaf's columns.
static void ritz_leaf(RitzLargeLu *f, RitzReal *P, int64_t rows, int64_t base, int64_t steps) {
  RITZ_UNROLL for (int k = 0; k < RITZ_BLOCK; k++) {
    RitzReal *a = P + k * f->ldp;
    int64_t row = k;

    if (k >= steps) return;
    if (f->has_pivots) {
      row = ritz_leaf_find(a, k, rows);
      if (row != k) ritz_leaf_swap(P, f->ldp, RITZ_BLOCK, k, row);
    }
    f->pivots[base + k] = base + row;
    if (a[k] == 0 && f->info == 0) f->info = base + k + 1;
    ritz_leaf_step(RITZ_BLOCK - 1 - k, a, f->ldp, k, rows, ritz_scalar_divisor(a[k] == 0 ? 1 : a[k]));
  }
}

// ---- A panel ----

// Rows of U of the leaf from column l0 on, above it: turned into X, solved, turned back.
static void ritz_panel_above(const RitzLargeLu *f, int64_t l0) {
  RitzReal *leaf = f->P + l0 * f->ldp;

  ritz_turn(leaf, f->ldp, l0, RITZ_BLOCK, f->X, RITZ_BLOCK);
  for (int64_t j = 0; j < RITZ_BLOCK; j += RITZ_LANES) {
    for (int64_t i0 = 0; i0 < l0; i0 += RITZ_STRIP) {
      RitzReal *own = f->X + i0 * RITZ_BLOCK + j;
      RitzStrip c;

      ritz_strip_load(1, own, RITZ_BLOCK, c);
      ritz_strip_subtract(1, i0, f->X + j, RITZ_BLOCK, f->P + i0, f->ldp, c);
      ritz_strip_solve(1, false, f->P + i0 * f->ldp + i0, f->ldp, NULL, c);
      ritz_strip_store(1, c, own, RITZ_BLOCK);
    }
  }
  ritz_turn(f->X, RITZ_BLOCK, RITZ_BLOCK, l0, leaf, f->ldp);
}

RITZ_INLINE void ritz_panel_tile(int vectors, const RitzLargeLu *f, int64_t l0, int64_t q, int64_t i) {
  RitzReal *own = f->P + (l0 + q) * f->ldp + i;
  RitzStrip c;

  ritz_strip_load(vectors, own, f->ldp, c);
  ritz_strip_subtract(vectors, l0, f->P + i, f->ldp, f->X + q, RITZ_BLOCK, c);
  ritz_strip_store(vectors, c, own, f->ldp);
}

// Updates rows l0 .. rows - 1 of the leaf from column l0 on by the leaves before it.
static void ritz_panel_below(const RitzLargeLu *f, int64_t l0, int64_t rows) {
  for (int64_t q = 0; q < RITZ_BLOCK; q += RITZ_STRIP) {
    int64_t i = l0;

    for (; i + RITZ_BROAD <= rows; i += RITZ_BROAD) ritz_panel_tile(3, f, l0, q, i);
    for (; i < rows; i += RITZ_LANES) ritz_panel_tile(1, f, l0, q, i);
  }
}

// The panel of `width` columns, a multiple of RITZ_BLOCK, from column and row j0 on.
static void ritz_panel(RitzLargeLu *f, int64_t j0, int64_t width) {
  const int64_t rows = f->all_rows - j0;
  RitzReal *S = f->S + j0 * f->ld + j0;

  ritz_turn(S, f->ld, width, rows, f->P, f->ldp);
  for (int64_t l0 = 0; l0 < width; l0 += RITZ_BLOCK) {
    const int64_t num = ritz_least(RITZ_BLOCK, f->steps - j0 - l0);

    if (l0 > 0) ritz_panel_above(f, l0);
    if (l0 > 0) ritz_panel_below(f, l0, rows);
    ritz_leaf(f, f->P + l0 * f->ldp + l0, rows - l0, j0 + l0, num);
    for (int64_t k = l0; k < l0 + num && f->has_pivots; k++) {
      const int64_t row = f->pivots[j0 + k] - j0;

      if (row == k) continue;
      ritz_leaf_swap(f->P, f->ldp, l0, k, row);
      ritz_leaf_swap(f->P + (l0 + RITZ_BLOCK) * f->ldp, f->ldp, width - l0 - RITZ_BLOCK, k, row);
    }
  }
  ritz_turn(f->P, f->ldp, rows, width, S, f->ld);
}

// ---- The rest ----

static void ritz_lu_swap_vectors(const RitzLargeLu *f, int64_t j0, int64_t width, int64_t begin,
                                 int64_t end) {
  for (int64_t k = j0; k < ritz_least(j0 + width, f->steps); k++) {
    RitzReal *x = f->S + k * f->ld, *y = f->S + f->pivots[k] * f->ld;

    for (int64_t j = begin; j < end && x != y; j += RITZ_LANES) {
      const RitzVec kept = *(RitzEntryVec *)(x + j);

      *(RitzEntryVec *)(x + j) = *(RitzEntryVec *)(y + j);
      *(RitzEntryVec *)(y + j) = kept;
    }
  }
}

// Columns j .. right of the panel: rows of U, then what is left of the matrix.
RITZ_INLINE void ritz_lu_right(int vectors, const RitzLargeLu *f, int64_t j0, int64_t width, int64_t j) {
  RitzReal *U = f->S + j0 * f->ld + j;

  for (int64_t i0 = 0; i0 < f->all_rows - j0; i0 += RITZ_STRIP) {
    RitzStrip c;

    ritz_strip_load(vectors, U + i0 * f->ld, f->ld, c);
    ritz_strip_subtract(vectors, ritz_least(i0, width), U, f->ld, f->P + i0, f->ldp, c);
    if (i0 < width) ritz_strip_solve(vectors, false, f->P + i0 * f->ldp + i0, f->ldp, NULL, c);
    ritz_strip_store(vectors, c, U + i0 * f->ld, f->ld);
  }
}

// P A = L U
static void ritz_large_lu(RitzLargeLu *f) {
  const int64_t most = f->all_rows > RITZ_LARGE_ROWS ? RITZ_PANEL_OF_LARGE : RITZ_PANEL;

  f->info = 0;
  for (int64_t j0 = 0; j0 < f->steps; j0 += most) {
    const int64_t width = ritz_round_up(ritz_least(most, f->steps - j0), RITZ_BLOCK);
    int64_t j = j0 + width;

    ritz_panel(f, j0, width);
    if (f->has_pivots) ritz_lu_swap_vectors(f, j0, width, 0, j0);
    if (f->has_pivots) ritz_lu_swap_vectors(f, j0, width, j, f->all_cols);
    for (; j + RITZ_BROAD <= f->all_cols; j += RITZ_BROAD) ritz_lu_right(3, f, j0, width, j);
    if (j + 2 * RITZ_LANES <= f->all_cols) {
      ritz_lu_right(2, f, j0, width, j);
      j += 2 * RITZ_LANES;
    }
    if (j < f->all_cols) ritz_lu_right(1, f, j0, width, j);
  }
}

// ---- Scratch ----

RITZ_INLINE int64_t ritz_lu_entries(int64_t m, int64_t n) {
  const int64_t rows = ritz_round_up(m, RITZ_BLOCK), cols = ritz_round_up(n, RITZ_BLOCK);
  const int64_t pivots = ritz_round_up(ritz_least(rows, cols) * (int64_t)sizeof(int64_t), 64);

  return rows * ritz_apart(n) + RITZ_PANEL_OF_LARGE * (ritz_apart(m) + RITZ_BLOCK) +
         pivots / (int64_t)sizeof(RitzReal) + RITZ_BLOCK;
}

// The matrix in scratch, which moves on.
static void ritz_lu_take(RitzPlane A, int64_t m, int64_t n, bool has_pivots, RitzReal **scratch,
                         RitzLargeLu *f) {
  *f = (RitzLargeLu){.has_pivots = has_pivots, .ld = ritz_apart(n), .ldp = ritz_apart(m)};
  f->all_rows = ritz_round_up(m, RITZ_BLOCK);
  f->all_cols = ritz_round_up(n, RITZ_BLOCK);
  f->steps = ritz_least(m, n);
  f->S = *scratch;
  f->P = f->S + f->all_rows * f->ld;
  f->X = f->P + RITZ_PANEL_OF_LARGE * f->ldp;
  f->pivots = (int64_t *)(void *)(f->X + RITZ_PANEL_OF_LARGE * RITZ_BLOCK);
  *scratch += ritz_lu_entries(m, n);
  ritz_take_padded(A, m, n, f->all_rows, f->all_cols, f->S, f->ld);
}

static int32_t ritz_large_getrf(RitzPlane A, int64_t m, int64_t n, bool has_pivots, int32_t *ipiv,
                                RitzReal *scratch) {
  RitzLargeLu f;

  ritz_lu_take(A, m, n, has_pivots, &scratch, &f);
  ritz_large_lu(&f);
  ritz_give(f.S, f.ld, m, n, A);
  for (int64_t k = 0; k < f.steps && has_pivots && ipiv; k++) ipiv[k] = (int32_t)(f.pivots[k] + 1);
  return (int32_t)f.info;
}

#endif
