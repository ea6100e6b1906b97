// SPDX-License-Identifier: BSD-2-Clause
// Inverses of large matrices from LU, U^-1 L^-1 P: panels of columns of L^-1, which are zero above the
// diagonal, become columns of the result, which the swaps put in their places.
#ifndef RITZ_KERNELS_CPU_BATCHED_LARGE_INVERSE_H
#define RITZ_KERNELS_CPU_BATCHED_LARGE_INVERSE_H

#include "kernels/cpu/batched-large-lu.h"
#include "kernels/cpu/batched-large-solve.h"

RITZ_INLINE int64_t ritz_inverse_entries(int64_t n) {
  const int64_t order = ritz_round_up(n * (int64_t)sizeof(int64_t), 64) / (int64_t)sizeof(RitzReal);
  return ritz_lu_entries(n, n) + ritz_systems_entries(n) + order + RITZ_BROAD * ritz_round_up(n, RITZ_BLOCK);
}

// Columns j0 .. j0 + own - 1 of the inverse; order[j]: where column j goes. panel: scratch.
static void ritz_inverse_columns(const RitzLargeTriangle *T, int64_t n, int64_t j0, int64_t own,
                                 const int64_t *order, RitzReal *panel, RitzPlane X) {
  const int64_t vectors = (own + RITZ_LANES - 1) / RITZ_LANES, ld = vectors * RITZ_LANES;
  RitzReal *columns = panel + T[0].all * ld;
  const int64_t ldc = ritz_round_up(n, RITZ_BLOCK);

  for (int64_t i = 0; i < T[0].all * ld; i++) panel[i] = 0;
  for (int64_t j = 0; j < own; j++) panel[(j0 + j) * ld + j] = 1;
  ritz_large_solve(vectors, &T[0], j0 / RITZ_STRIP * RITZ_STRIP, panel);
  ritz_large_solve(vectors, &T[1], 0, panel);
  ritz_turn(panel, ld, own, n, columns, ldc);
  for (int64_t j = 0; j < own; j++) {
    const RitzPlane to = ritz_plane_from(X, 0, order[j0 + j]);

    ritz_give(columns + j * ldc, ldc, 1, n, ritz_plane_transposed(to));
  }
}

// X := inverse from the factors LU; order [n] is made of pivots or, where these are NULL, of ipiv (NULL: no
// swaps).
static void ritz_inverse_from(RitzPlane LU, int64_t n, const int64_t *pivots, const int32_t *ipiv,
                              RitzReal *scratch, RitzPlane X) {
  static const RitzBatchedArgs args = {
      .num_triangles = 2, .triangle = {{.is_lower = true, .is_unit = true}, {.is_lower = false}}};
  int64_t *order = (int64_t *)(void *)scratch;
  RitzLargeTriangle T[2];

  scratch += ritz_round_up(n * (int64_t)sizeof(int64_t), 64) / (int64_t)sizeof(RitzReal);
  for (int64_t k = 0; k < n; k++) order[k] = k;
  for (int64_t k = 0; k < n; k++) {
    const int64_t row = pivots ? pivots[k] : ipiv ? (int64_t)ipiv[k] - 1 : k, kept = order[k];

    if (row < 0 || row >= n) continue;
    order[k] = order[row];
    order[row] = kept;
  }
  ritz_large_triangles(&args, LU, n, &scratch, T);
  for (int64_t j0 = 0; j0 < n; j0 += RITZ_BROAD)
    ritz_inverse_columns(T, n, j0, ritz_least(RITZ_BROAD, n - j0), order, scratch, X);
}

static int32_t ritz_large_inv(RitzPlane A, int64_t n, RitzReal *scratch, RitzPlane X) {
  RitzLargeLu f;

  if (n == 0) return 0;
  ritz_lu_take(A, n, n, true, &scratch, &f);
  ritz_large_lu(&f);
  if (f.info == 0) ritz_inverse_from((RitzPlane){f.S, f.ld, 1}, n, f.pivots, NULL, scratch, X);
  return (int32_t)f.info;
}

static int32_t ritz_large_getri(RitzPlane A, int64_t n, const int32_t *ipiv, RitzReal *scratch) {
  for (int64_t k = 0; k < n; k++) {
    if (A.p[k * (A.rs + A.cs)] == 0) return (int32_t)(k + 1);
  }
  if (n > 0) ritz_inverse_from(A, n, NULL, ipiv, scratch, A);
  return 0;
}

#endif
