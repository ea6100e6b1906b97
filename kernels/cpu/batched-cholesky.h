// SPDX-License-Identifier: BSD-2-Clause
// Cholesky of n x n matrices of vectors, left-looking in panels of RITZ_TILE columns. The upper
// factor is the lower one of the transposed view.
#ifndef RITZ_KERNELS_CPU_BATCHED_CHOLESKY_H
#define RITZ_KERNELS_CPU_BATCHED_CHOLESKY_H

#include "kernels/cpu/batched-tiles.h"

// The tile on the diagonal, size x size: its lower triangle without what columns before it do to it.
RITZ_INLINE void ritz_cholesky_diagonal(int size, int first, RitzView A, RitzMask *info, RitzVec *inverses) {
  const RitzView left = ritz_view_from(A, first, 0), own = ritz_view_from(A, first, first);
  RitzVec c[RITZ_TILE][RITZ_TILE];

  RITZ_UNROLL for (int i = 0; i < size; i++) {
    RITZ_UNROLL for (int j = 0; j <= i; j++) c[i][j] = RITZ_AT(own, i, j);
  }
  for (int k = 0; k < first; k++) {
    RitzVec a[RITZ_TILE];

    RITZ_UNROLL for (int i = 0; i < size; i++) a[i] = RITZ_AT(left, i, k);
    RITZ_UNROLL for (int i = 0; i < size; i++) {
      RITZ_UNROLL for (int j = 0; j <= i; j++) c[i][j] -= a[i] * a[j];
    }
  }
  RITZ_UNROLL for (int k = 0; k < size; k++) {
    const RitzMask is_bad = ~(RitzMask)(c[k][k] > ritz_splat(0)); // NaN, too
    RitzVec root = ritz_select(is_bad, ritz_splat(1), c[k][k]);

    *info =
        ritz_select_mask(is_bad & (RitzMask)(*info == (RitzMask){0}), (RitzMask){0} + (first + k + 1), *info);
    root = ritz_root(root);
    inverses[k] = 1 / root;
    c[k][k] = root;
    RITZ_UNROLL for (int i = k + 1; i < size; i++) {
      c[i][k] *= inverses[k];
      RITZ_UNROLL for (int j = k + 1; j <= i; j++) c[i][j] -= c[i][k] * c[j][k];
    }
  }
  RITZ_UNROLL for (int i = 0; i < size; i++) {
    RITZ_UNROLL for (int j = 0; j <= i; j++) RITZ_AT(own, i, j) = c[i][j];
  }
}

// The tile of rows i .. i + rows - 1 below it.
RITZ_INLINE void ritz_cholesky_below(int rows, int cols, int i0, int first, RitzView A,
                                     const RitzVec *inverses) {
  const RitzView own = ritz_view_from(A, i0, first), diagonal = ritz_view_from(A, first, first);
  RitzTile c;

  ritz_tile_load(rows, cols, own, c);
  ritz_tile_products(false, rows, cols, first, ritz_view_from(A, i0, 0),
                     ritz_view_transposed(ritz_view_from(A, first, 0)), c);
  RITZ_UNROLL for (int k = 0; k < cols; k++) {
    RITZ_UNROLL for (int i = 0; i < rows; i++) c[i][k] *= inverses[k];
    RITZ_UNROLL for (int j = k + 1; j < cols; j++) {
      const RitzVec b = RITZ_AT(diagonal, j, k);
      RITZ_UNROLL for (int i = 0; i < rows; i++) c[i][j] -= c[i][k] * b;
    }
  }
  ritz_tile_store(rows, cols, c, own);
}

RITZ_INLINE void ritz_cholesky_panel(RitzSizes s, int cols, int first, RitzView A, RitzMask *info) {
  RitzVec inverses[RITZ_TILE];
  int i = first + cols;

  ritz_cholesky_diagonal(cols, first, A, info, inverses);
  for (; i + RITZ_TILE <= s.n; i += RITZ_TILE) ritz_cholesky_below(RITZ_TILE, cols, i, first, A, inverses);
  if (RITZ_N % RITZ_TILE && i < s.n) ritz_cholesky_below(RITZ_N % RITZ_TILE, cols, i, first, A, inverses);
}

// A = L L^T in the lower triangle of the view; info by lane.
RITZ_INLINE RitzMask ritz_cholesky(RitzSizes s, RitzView A) {
  RitzMask info = {0};
  int first = 0;

  for (; first + RITZ_TILE <= s.n; first += RITZ_TILE) ritz_cholesky_panel(s, RITZ_TILE, first, A, &info);
  if (RITZ_N % RITZ_TILE) ritz_cholesky_panel(s, RITZ_N % RITZ_TILE, first, A, &info);
  return info;
}

#if RITZ_IS_CHOLESKY
typedef struct {
  RitzVec a[RITZ_SCRATCH_LD(RITZ_N) * RITZ_N];
} RitzBatchedWork;

RITZ_INLINE void ritz_batched_group(RitzGroup *group, RitzBatchedWork *work) {
  const RitzBatchedArgs *args = group->args;
  const RitzSizes s = ritz_sizes(group);
  const RitzView A = ritz_pack(group, &args->operand[0], s.n, s.n, true, true, work->a);
  const RitzMask info = ritz_cholesky(s, args->is_upper ? ritz_view_transposed(A) : A);

  ritz_unpack(group, &args->operand[0], s.n, s.n, args->is_upper ? RITZ_UPPER : RITZ_LOWER, A);
  for (int l = 0; l < group->num; l++) {
    if (!group->is_left_alone[l]) group->info[l] = (int32_t)info[l];
  }
}
#endif

#endif
