// SPDX-License-Identifier: BSD-2-Clause
// Products with symmetric and triangular matrices of vectors. Of A one triangle is read, as the lower one of
// a view that is transposed or turned end for end; products from the right side are those of transposed
// views.
#ifndef RITZ_KERNELS_CPU_BATCHED_STRUCTURED_H
#define RITZ_KERNELS_CPU_BATCHED_STRUCTURED_H

#include "kernels/cpu/batched-tiles.h"

// ---- Symmetric matrices ----

// Rows i0 .. of C = alpha A B + beta C: left of the tile on the diagonal of A, it, and below it, transposed.
RITZ_INLINE void ritz_symmetric_tile(int rows, int cols, int i0, int order, RitzView L, RitzView B,
                                     RitzFactors f, RitzView C) {
  const RitzView diagonal = ritz_view_from(L, i0, i0), own = ritz_view_from(B, i0, 0);
  const int after = order - i0 - rows;
  RitzTile c;

  ritz_tile_clear(rows, cols, c);
  if (f.alpha != 0) {
    ritz_tile_products(true, rows, cols, i0, ritz_view_from(L, i0, 0), B, c);
    RITZ_UNROLL for (int k = 0; k < rows; k++) {
      RITZ_UNROLL for (int i = 0; i < rows; i++) {
        const RitzVec a = i >= k ? RITZ_AT(diagonal, i, k) : RITZ_AT(diagonal, k, i);
        RITZ_UNROLL for (int j = 0; j < cols; j++) c[i][j] += a * RITZ_AT(own, k, j);
      }
    }
    ritz_tile_products(true, rows, cols, after, ritz_view_transposed(ritz_view_from(diagonal, rows, 0)),
                       ritz_view_from(own, rows, 0), c);
  }
  ritz_tile_combine(rows, cols, false, c, f, ritz_view_from(C, i0, 0));
}

RITZ_INLINE void ritz_symmetric_columns(RitzSizes s, int cols, RitzView L, RitzView B, RitzFactors f,
                                        RitzView C) {
  int i = 0;

  for (; i + RITZ_TILE <= s.order; i += RITZ_TILE)
    ritz_symmetric_tile(RITZ_TILE, cols, i, s.order, L, B, f, C);
  if (RITZ_ORDER % RITZ_TILE) ritz_symmetric_tile(RITZ_ORDER % RITZ_TILE, cols, i, s.order, L, B, f, C);
}

RITZ_INLINE void ritz_symmetric_product(RitzSizes s, RitzView L, RitzView B, RitzFactors f, RitzView C) {
  int j = 0;

  for (; j + RITZ_TILE <= s.columns; j += RITZ_TILE)
    ritz_symmetric_columns(s, RITZ_TILE, L, ritz_view_from(B, 0, j), f, ritz_view_from(C, 0, j));
  if (RITZ_COLUMNS % RITZ_TILE)
    ritz_symmetric_columns(s, RITZ_COLUMNS % RITZ_TILE, L, ritz_view_from(B, 0, j), f,
                           ritz_view_from(C, 0, j));
}

// ---- A triangle of A A^T ----

// Rows i0 .. of columns j0 ..; the tile on the diagonal of C is a triangle.
RITZ_INLINE void ritz_update_tile(int rows, int cols, int i0, int j0, int num, RitzView A, RitzFactors f,
                                  RitzView C) {
  const RitzView left = ritz_view_from(A, i0, 0), right = ritz_view_transposed(ritz_view_from(A, j0, 0));
  RitzTile c;

  ritz_tile_clear(rows, cols, c);
  ritz_tile_products(true, rows, cols, f.alpha != 0 ? num : 0, left, right, c);
  if (i0 == j0)
    ritz_tile_combine(rows, cols, true, c, f, ritz_view_from(C, i0, j0));
  else
    ritz_tile_combine(rows, cols, false, c, f, ritz_view_from(C, i0, j0));
}

RITZ_INLINE void ritz_update_columns(RitzSizes s, int cols, int j0, RitzView A, RitzFactors f, RitzView C) {
  int i = j0;

  for (; i + RITZ_TILE <= s.n; i += RITZ_TILE) ritz_update_tile(RITZ_TILE, cols, i, j0, s.k, A, f, C);
  if (RITZ_N % RITZ_TILE) ritz_update_tile(RITZ_N % RITZ_TILE, cols, i, j0, s.k, A, f, C);
}

// The lower triangle of C = alpha A A^T + beta C, A n x k.
RITZ_INLINE void ritz_rank_update(RitzSizes s, RitzView A, RitzFactors f, RitzView C) {
  int j = 0;

  for (; j + RITZ_TILE <= s.n; j += RITZ_TILE) ritz_update_columns(s, RITZ_TILE, j, A, f, C);
  if (RITZ_N % RITZ_TILE) ritz_update_columns(s, RITZ_N % RITZ_TILE, j, A, f, C);
}

// ---- Triangular matrices ----

// Rows first .. of X := alpha L X; those after them are done.
RITZ_INLINE void ritz_triangular_tile(bool is_unit, int rows, int cols, int first, RitzView L, RitzReal alpha,
                                      RitzView X) {
  const RitzView diagonal = ritz_view_from(L, first, first), own = ritz_view_from(X, first, 0);
  RitzTile c;

  ritz_tile_clear(rows, cols, c);
  ritz_tile_products(true, rows, cols, first, ritz_view_from(L, first, 0), X, c);
  RITZ_UNROLL for (int k = 0; k < rows; k++) {
    RITZ_UNROLL for (int i = k; i < rows; i++) {
      RITZ_UNROLL for (int j = 0; j < cols; j++) {
        RitzVec product = RITZ_AT(own, k, j);
        if (!is_unit || i != k) product *= RITZ_AT(diagonal, i, k);
        c[i][j] += product;
      }
    }
  }
  ritz_tile_combine(rows, cols, false, c, (RitzFactors){alpha, 0}, own);
}

RITZ_INLINE void ritz_triangular_columns(RitzSizes s, bool is_unit, int cols, RitzView L, RitzReal alpha,
                                         RitzView X) {
  int i = s.order - RITZ_ORDER % RITZ_TILE;

  if (RITZ_ORDER % RITZ_TILE) ritz_triangular_tile(is_unit, RITZ_ORDER % RITZ_TILE, cols, i, L, alpha, X);
  while (i > 0) {
    i -= RITZ_TILE;
    ritz_triangular_tile(is_unit, RITZ_TILE, cols, i, L, alpha, X);
  }
}

RITZ_INLINE void ritz_triangular_product(RitzSizes s, bool is_unit, RitzView L, RitzReal alpha, RitzView X) {
  int j = 0;

  for (; j + RITZ_TILE <= s.columns; j += RITZ_TILE)
    ritz_triangular_columns(s, is_unit, RITZ_TILE, L, alpha, ritz_view_from(X, 0, j));
  if (RITZ_COLUMNS % RITZ_TILE)
    ritz_triangular_columns(s, is_unit, RITZ_COLUMNS % RITZ_TILE, L, alpha, ritz_view_from(X, 0, j));
}

RITZ_INLINE void ritz_clear_columns(RitzSizes s, RitzView X) {
  for (int j = 0; j < s.columns; j++) {
    for (int i = 0; i < s.order; i++) RITZ_AT(X, i, j) = ritz_splat(0);
  }
}

// ---- Groups ----

// Either side of B and C.
#define RITZ_SIDE_ENTRIES                                                                                    \
  ((RITZ_SCRATCH_LD(RITZ_ORDER) + 1) * (RITZ_COLUMNS + 1) +                                                  \
   (RITZ_SCRATCH_LD(RITZ_COLUMNS) + 1) * (RITZ_ORDER + 1))

#if RITZ_IS_RANK_UPDATE
typedef struct {
  RitzVec a[(RITZ_SCRATCH_LD(RITZ_N) + 1) * (RITZ_K + 1) + (RITZ_SCRATCH_LD(RITZ_K) + 1) * (RITZ_N + 1)];
  RitzVec c[RITZ_SCRATCH_LD(RITZ_N) * RITZ_N];
} RitzBatchedWork;

RITZ_INLINE void ritz_batched_group(RitzGroup *group, RitzBatchedWork *work) {
  const RitzBatchedArgs *args = group->args;
  const RitzFactors f = {(RitzReal)args->alpha, (RitzReal)args->beta};
  const bool ta = args->trans_a, is_upper = args->is_upper;
  const RitzSizes s = ritz_sizes(group);
  const RitzView A =
      ritz_pack(group, &args->operand[0], ta ? s.k : s.n, ta ? s.n : s.k, false, f.alpha != 0, work->a);
  const RitzView C = ritz_pack(group, &args->operand[1], s.n, s.n, false, f.beta != 0, work->c);

  ritz_rank_update(s, ta ? ritz_view_transposed(A) : A, f, is_upper ? ritz_view_transposed(C) : C);
  ritz_unpack(group, &args->operand[1], s.n, s.n, is_upper ? RITZ_UPPER : RITZ_LOWER, C);
}
#else
typedef struct {
  RitzVec a[RITZ_SCRATCH_LD(RITZ_ORDER) * RITZ_ORDER], b[RITZ_SIDE_ENTRIES];
#if RITZ_IS_SYMMETRIC
  RitzVec c[RITZ_SIDE_ENTRIES];
#endif
} RitzBatchedWork;

RITZ_INLINE RitzView ritz_side(const RitzGroup *group, RitzSizes s, int operand, bool is_read,
                               RitzVec *scratch) {
  const bool is_right = group->args->is_right;

  return ritz_pack(group, &group->args->operand[operand], is_right ? s.columns : s.order,
                   is_right ? s.order : s.columns, false, is_read, scratch);
}

RITZ_INLINE void ritz_batched_group(RitzGroup *group, RitzBatchedWork *work) {
  const RitzBatchedArgs *args = group->args;
  const RitzFactors f = {(RitzReal)args->alpha, (RitzReal)args->beta};
  const bool is_right = args->is_right, is_read = f.alpha != 0;
  const RitzSizes s = ritz_sizes(group);
  const RitzView A = ritz_pack(group, &args->operand[0], s.order, s.order, false, is_read, work->a);
  const RitzView B = ritz_side(group, s, 1, is_read, work->b);
  RitzView X = is_right ? ritz_view_transposed(B) : B;
#if RITZ_IS_SYMMETRIC
  const RitzView C = ritz_side(group, s, 2, f.beta != 0, work->c);

  ritz_symmetric_product(s, args->is_upper ? ritz_view_transposed(A) : A, X, f,
                         is_right ? ritz_view_transposed(C) : C);
  ritz_unpack(group, &args->operand[2], is_right ? s.columns : s.order, is_right ? s.order : s.columns,
              RITZ_ALL, C);
#else
  const RitzBatchedTriangle *t = &args->triangle[0];
  RitzView L = t->is_transposed ? ritz_view_transposed(A) : A;

  if (t->is_lower == t->is_transposed) ritz_turn_system(s, &L, &X);
  if (!is_read)
    ritz_clear_columns(s, X);
  else if (t->is_unit)
    ritz_triangular_product(s, true, L, f.alpha, X);
  else
    ritz_triangular_product(s, false, L, f.alpha, X);
  ritz_unpack(group, &args->operand[1], is_right ? s.columns : s.order, is_right ? s.order : s.columns,
              RITZ_ALL, B);
#endif
}
#endif

#endif
