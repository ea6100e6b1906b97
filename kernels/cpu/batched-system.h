// SPDX-License-Identifier: BSD-2-Clause
// Systems A X = B of matrices of vectors: A is factorized and B solved with the factors while they are
// packed. B of matrices whose factorization fails is left as it is.
#ifndef RITZ_KERNELS_CPU_BATCHED_SYSTEM_H
#define RITZ_KERNELS_CPU_BATCHED_SYSTEM_H

#include "kernels/cpu/batched-solve.h"
#if RITZ_IS_LU_SYSTEM
#include "kernels/cpu/batched-lu.h"
#else
#include "kernels/cpu/batched-cholesky.h"
#endif

typedef struct {
  RitzVec a[RITZ_SCRATCH_LD(RITZ_ORDER) * RITZ_ORDER];
  RitzVec b[RITZ_SCRATCH_LD(RITZ_ORDER) * RITZ_COLUMNS];
} RitzBatchedWork;

// Factors in place of A; info by lane.
RITZ_INLINE RitzMask ritz_system_factorize(const RitzGroup *group, RitzSizes s, RitzView A) {
  const RitzBatchedArgs *args = group->args;
#if RITZ_IS_LU_SYSTEM
  RitzLu lu = {.size = s, .A = A, .has_pivots = args->has_pivots};

  ritz_lu(&lu);
  ritz_unpack(group, &args->operand[0], s.n, s.n, RITZ_ALL, A);
  if (lu.has_pivots) ritz_lu_store_pivots(group, &lu);
  return lu.info;
#else
  const RitzMask info = ritz_cholesky(s, args->is_upper ? ritz_view_transposed(A) : A);

  ritz_unpack(group, &args->operand[0], s.n, s.n, args->is_upper ? RITZ_UPPER : RITZ_LOWER, A);
  return info;
#endif
}

RITZ_INLINE void ritz_batched_group(RitzGroup *group, RitzBatchedWork *work) {
  const RitzBatchedArgs *args = group->args;
  const RitzSizes s = ritz_sizes(group);
  const RitzView A = ritz_pack(group, &args->operand[0], s.order, s.order, true, true, work->a);
  const RitzMask info = ritz_system_factorize(group, s, A);
  const RitzView X = ritz_pack(group, &args->operand[1], s.order, s.columns, false, true, work->b);

  for (int l = 0; l < group->num; l++) {
    if (group->is_left_alone[l]) continue;
    group->info[l] = (int32_t)info[l];
    group->is_left_alone[l] = info[l] != 0;
  }
  if (args->has_pivots) ritz_solve_permute(group, s, false, X);
  for (int t = 0; t < args->num_triangles; t++) ritz_solve_triangle(s, &args->triangle[t], A, X);
  ritz_unpack(group, &args->operand[1], s.order, s.columns, RITZ_ALL, X);
}

#endif
