// SPDX-License-Identifier: BSD-2-Clause
// Inverses of n x n matrices of vectors: LU, or factors that are given, and the solution of
// A X = I, whose right-hand side is permuted by the swaps.
#ifndef RITZ_KERNELS_CPU_BATCHED_INVERSE_H
#define RITZ_KERNELS_CPU_BATCHED_INVERSE_H

#include "kernels/cpu/batched-lu.h"
#include "kernels/cpu/batched-solve.h"

typedef struct {
  RitzVec a[RITZ_SCRATCH_LD(RITZ_N) * RITZ_N], x[RITZ_SCRATCH_LD(RITZ_N) * RITZ_N];
} RitzBatchedWork;

// Pivots of factors that are given, from 0; those that are none of the matrix's rows count as no swap.
RITZ_INLINE void ritz_inverse_load_pivots(const RitzGroup *group, RitzSizes s, RitzLu *lu) {
  const RitzBatchedArgs *args = group->args;

  for (int l = 0; l < RITZ_LANES; l++) {
    const bool has_own = l < group->num && args->ipiv && !group->is_left_alone[l];
    const int n = has_own ? ritz_own_size(group, 1, l) : 0;

    for (int k = 0; k < s.n; k++) {
      const int from_1 = k < n ? args->ipiv[ritz_matrix(group, l) * args->ipiv_stride + k] : k + 1;
      lu->at[k][l] = (from_1 >= 1 && from_1 <= n ? from_1 - 1 : k) * RITZ_LANES + l;
    }
  }
}

// The first zero of the diagonal, from 1.
RITZ_INLINE RitzMask ritz_inverse_find_zero(RitzSizes s, RitzView A) {
  RitzMask info = {0};

  for (int k = s.n - 1; k >= 0; k--)
    info = ritz_select_mask((RitzMask)(RITZ_AT(A, k, k) == ritz_splat(0)), (RitzMask){0} + (k + 1), info);
  return info;
}

RITZ_INLINE void ritz_inverse_set_identity(RitzSizes s, const RitzLu *lu, RitzView X) {
  for (int c = 0; c < s.n; c++) {
    for (int r = 0; r < s.n; r++) RITZ_AT(X, r, c) = ritz_splat(r == c);
  }
  for (int k = 0; k < s.n && lu->has_pivots; k++) ritz_lu_swap(X, k, lu->at[k], 0, s.n);
}

RITZ_INLINE void ritz_batched_group(RitzGroup *group, RitzBatchedWork *work) {
  const RitzBatchedArgs *args = group->args;
  const RitzBatchedPlaces *from = &args->operand[0], *to = args->is_factored ? from : &args->operand[1];
  const RitzSizes s = ritz_sizes(group);
  const RitzView A = {(RitzEntryVec *)work->a, 1, RITZ_SCRATCH_LD(s.n)};
  const RitzView X = {(RitzEntryVec *)work->x, 1, RITZ_SCRATCH_LD(s.n)};
  const RitzView given = ritz_pack(group, from, s.n, s.n, true, true, work->a);
  RitzLu lu = {.size = s, .A = A, .has_pivots = args->has_pivots};

  for (int c = 0; c < s.n && given.p != A.p; c++) {
    for (int r = 0; r < s.n; r++) RITZ_AT(A, r, c) = RITZ_AT(given, r, c);
  }
  if (args->is_factored) {
    ritz_inverse_load_pivots(group, s, &lu);
    lu.info = ritz_inverse_find_zero(s, A);
  } else {
    ritz_lu(&lu);
  }
  ritz_inverse_set_identity(s, &lu, X);
  ritz_solve_triangle(s, &(RitzBatchedTriangle){.is_lower = true, .is_unit = true}, A, X);
  ritz_solve_triangle(s, &(RitzBatchedTriangle){.is_lower = false}, A, X);
  for (int l = 0; l < group->num; l++) {
    if (group->is_left_alone[l]) continue;
    group->info[l] = (int32_t)lu.info[l];
    group->is_left_alone[l] = lu.info[l] != 0 && args->is_factored;
  }
  ritz_unpack(group, to, s.n, s.n, RITZ_ALL, X);
}

#endif
