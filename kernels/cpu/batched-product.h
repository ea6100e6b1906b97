// SPDX-License-Identifier: BSD-2-Clause
// C = alpha op(A) op(B) + beta C: C m x n, k products an entry, in matrices of vectors.
#ifndef RITZ_KERNELS_CPU_BATCHED_PRODUCT_H
#define RITZ_KERNELS_CPU_BATCHED_PRODUCT_H

#include "kernels/cpu/batched-columns.h"
#include "kernels/cpu/batched-tiles.h"

typedef struct {
  RitzVec a[(RITZ_SCRATCH_LD(RITZ_M) + 1) * (RITZ_K + 1) + (RITZ_SCRATCH_LD(RITZ_K) + 1) * (RITZ_M + 1)];
  RitzVec b[(RITZ_SCRATCH_LD(RITZ_K) + 1) * (RITZ_N + 1) + (RITZ_SCRATCH_LD(RITZ_N) + 1) * (RITZ_K + 1)];
  RitzVec c[RITZ_SCRATCH_LD(RITZ_M) * RITZ_N];
} RitzBatchedWork;

RITZ_INLINE void ritz_product_tile(int rows, int cols, int num, RitzView A, RitzView B, RitzFactors f,
                                   RitzView C) {
  RitzTile c;

  ritz_tile_clear(rows, cols, c);
  ritz_tile_products(true, rows, cols, f.alpha != 0 ? num : 0, A, B, c);
  ritz_tile_combine(rows, cols, false, c, f, C);
}

RITZ_INLINE void ritz_product_columns(RitzSizes s, int cols, RitzView A, RitzView B, RitzFactors f,
                                      RitzView C) {
  int i = 0;

  for (; i + RITZ_TILE <= s.m; i += RITZ_TILE)
    ritz_product_tile(RITZ_TILE, cols, s.k, ritz_view_from(A, i, 0), B, f, ritz_view_from(C, i, 0));
  if (RITZ_M % RITZ_TILE)
    ritz_product_tile(RITZ_M % RITZ_TILE, cols, s.k, ritz_view_from(A, i, 0), B, f, ritz_view_from(C, i, 0));
}

RITZ_INLINE void ritz_product(RitzSizes s, RitzView A, RitzView B, RitzFactors f, RitzView C) {
  int j = 0;

  for (; j + RITZ_TILE <= s.n; j += RITZ_TILE)
    ritz_product_columns(s, RITZ_TILE, A, ritz_view_from(B, 0, j), f, ritz_view_from(C, 0, j));
  if (RITZ_N % RITZ_TILE)
    ritz_product_columns(s, RITZ_N % RITZ_TILE, A, ritz_view_from(B, 0, j), f, ritz_view_from(C, 0, j));
}

RITZ_INLINE void ritz_batched_group(RitzGroup *group, RitzBatchedWork *work) {
  const RitzBatchedArgs *args = group->args;
  const RitzFactors f = {(RitzReal)args->alpha, (RitzReal)args->beta};
  const bool ta = args->trans_a, tb = args->trans_b, is_read = f.alpha != 0;

  if (ritz_columns_serve(args)) {
    ritz_columns_group(group, f, work->a);
    return;
  }
  const RitzSizes s = ritz_sizes(group);
  const RitzView A =
      ritz_pack(group, &args->operand[0], ta ? s.k : s.m, ta ? s.m : s.k, false, is_read, work->a);
  const RitzView B =
      ritz_pack(group, &args->operand[1], tb ? s.n : s.k, tb ? s.k : s.n, false, is_read, work->b);
  const RitzView C = ritz_pack(group, &args->operand[2], s.m, s.n, false, f.beta != 0, work->c);

  ritz_product(s, ta ? ritz_view_transposed(A) : A, tb ? ritz_view_transposed(B) : B, f, C);
  ritz_unpack(group, &args->operand[2], s.m, s.n, RITZ_ALL, C);
}

#endif
