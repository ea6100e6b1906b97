// SPDX-License-Identifier: BSD-2-Clause
// Triangular systems of large matrices: panels of RITZ_BROAD right-hand sides lie in scratch row after row,
// strips of the triangle beside each other; unknowns are found strip by strip, each with all that are known.
#ifndef RITZ_KERNELS_CPU_BATCHED_LARGE_SOLVE_H
#define RITZ_KERNELS_CPU_BATCHED_LARGE_SOLVE_H

#include "kernels/cpu/batched-strips.h"

// A triangle of order `all`, a multiple of RITZ_STRIP: entry (i0 + r, k) of strip i0 at t[i0 all + k
// RITZ_STRIP + r].
typedef struct {
  RitzReal *t;
  RitzScalarDivisor *divisors; // [all]; NULL: ones
  int64_t all;
  bool is_upper;
} RitzLargeTriangle;

// Numbers of scratch that triangles of this order take.
RITZ_INLINE int64_t ritz_triangle_entries(int64_t n) {
  const int64_t all = ritz_round_up(n, RITZ_STRIP);
  return all * all;
}

// The triangle of op(A), n x n; beyond it the identity.
static void ritz_triangle_take(RitzPlane A, int64_t n, RitzLargeTriangle *T) {
  for (int64_t i0 = 0; i0 < T->all; i0 += RITZ_STRIP) {
    const int64_t first = T->is_upper ? i0 : 0, end = T->is_upper ? T->all : i0 + RITZ_STRIP;
    const int64_t rows = ritz_least(RITZ_STRIP, n - i0);
    RitzReal *t = T->t + i0 * T->all + first * RITZ_STRIP;

    ritz_take_padded(ritz_plane_transposed(ritz_plane_from(A, i0, first)), ritz_least(end, n) - first, rows,
                     end - first, RITZ_STRIP, t, RITZ_STRIP);
    for (int64_t r = 0; r < RITZ_STRIP && T->divisors; r++)
      T->divisors[i0 + r] = ritz_scalar_divisor(r < rows ? t[(i0 - first + r) * RITZ_STRIP + r] : 1);
  }
}

// The strip from row i0 on, of `vectors` vectors; of lower ones the unknowns before `first` are zeros.
RITZ_INLINE void ritz_large_solve_strip(int vectors, const RitzLargeTriangle *T, int64_t i0, int64_t first,
                                        RitzReal *X) {
  const RitzReal *t = T->t + i0 * T->all;
  const RitzScalarDivisor *divisors = T->divisors ? T->divisors + i0 : NULL;
  const int64_t ld = vectors * RITZ_LANES, begin = T->is_upper ? i0 + RITZ_STRIP : first;
  const int64_t end = T->is_upper ? T->all : i0;
  RitzStrip c;

  ritz_strip_load(vectors, X + i0 * ld, ld, c);
  ritz_strip_subtract(vectors, end - begin, X + begin * ld, ld, t + begin * RITZ_STRIP, RITZ_STRIP, c);
  if (T->is_upper)
    ritz_strip_solve(vectors, true, t + i0 * RITZ_STRIP, RITZ_STRIP, divisors, c);
  else
    ritz_strip_solve(vectors, false, t + i0 * RITZ_STRIP, RITZ_STRIP, divisors, c);
  ritz_strip_store(vectors, c, X + i0 * ld, ld);
}

RITZ_INLINE void ritz_large_solve_rows(int vectors, const RitzLargeTriangle *T, int64_t first, RitzReal *X) {
  for (int64_t i0 = first; i0 < T->all && !T->is_upper; i0 += RITZ_STRIP)
    ritz_large_solve_strip(vectors, T, i0, first, X);
  for (int64_t i0 = T->all - RITZ_STRIP; i0 >= 0 && T->is_upper; i0 -= RITZ_STRIP)
    ritz_large_solve_strip(vectors, T, i0, first, X);
}

// X [all][vectors]: right-hand sides, which become unknowns. first, a multiple of RITZ_STRIP: rows before are
// zeros.
static void ritz_large_solve(int64_t vectors, const RitzLargeTriangle *T, int64_t first, RitzReal *X) {
  if (vectors == 1) ritz_large_solve_rows(1, T, first, X);
  if (vectors == 2) ritz_large_solve_rows(2, T, first, X);
  if (vectors == 3) ritz_large_solve_rows(3, T, first, X);
}

// Triangles of a call in scratch, which they move on.
static int ritz_large_triangles(const RitzBatchedArgs *args, RitzPlane A, int64_t n, RitzReal **scratch,
                                RitzLargeTriangle *T) {
  for (int i = 0; i < args->num_triangles; i++) {
    const RitzBatchedTriangle *t = &args->triangle[i];

    T[i].all = ritz_round_up(n, RITZ_STRIP);
    T[i].is_upper = t->is_lower == t->is_transposed;
    T[i].t = *scratch;
    *scratch += ritz_triangle_entries(n);
    T[i].divisors = t->is_unit ? NULL : (RitzScalarDivisor *)(void *)*scratch;
    *scratch += t->is_unit ? 0 : T[i].all * (int64_t)(sizeof(RitzScalarDivisor) / sizeof(RitzReal));
    ritz_triangle_take(t->is_transposed ? ritz_plane_transposed(A) : A, n, &T[i]);
  }
  return args->num_triangles;
}

// Swaps of LU on rows of X, or back; those that are none of the matrix's rows are left out.
static void ritz_large_permute(const int32_t *ipiv, int64_t n, bool is_back, RitzReal *X, int64_t ld) {
  for (int64_t step = 0; step < n; step++) {
    const int64_t i = is_back ? n - 1 - step : step, row = ipiv[i] - 1;

    for (int64_t j = 0; j < ld && row >= 0 && row < n && row != i; j += RITZ_LANES) {
      RitzEntryVec *x = (RitzEntryVec *)(X + i * ld + j), *y = (RitzEntryVec *)(X + row * ld + j);
      const RitzVec kept = *x;

      *x = *y;
      *y = kept;
    }
  }
}

static void ritz_large_scale(RitzReal alpha, int64_t num, RitzReal *X) {
  for (int64_t j = 0; j < num && alpha != 1; j += RITZ_LANES) *(RitzEntryVec *)(X + j) *= alpha;
}

// op(A) X = alpha B with the triangles of the call, n unknowns, `cols` right-hand sides; B: unknowns are
// rows.
static void ritz_large_systems(const RitzBatchedArgs *args, const int32_t *ipiv, RitzPlane A, RitzPlane B,
                               int64_t n, int64_t cols, RitzReal *scratch) {
  const RitzReal alpha = (RitzReal)args->alpha;
  RitzLargeTriangle T[2];

  for (int64_t i = 0; i < n && alpha == 0; i++) {
    for (int64_t j = 0; j < cols; j++) B.p[i * B.rs + j * B.cs] = 0;
  }
  if (alpha == 0 || n == 0 || cols == 0) return;
  const int num = ritz_large_triangles(args, A, n, &scratch, T);
  for (int64_t j0 = 0; j0 < cols; j0 += RITZ_BROAD) {
    const int64_t own = ritz_least(RITZ_BROAD, cols - j0), vectors = (own + RITZ_LANES - 1) / RITZ_LANES;
    const int64_t ld = vectors * RITZ_LANES;

    ritz_take_padded(ritz_plane_from(B, 0, j0), n, own, T[0].all, ld, scratch, ld);
    ritz_large_scale(alpha, n * ld, scratch);
    if (ipiv && !args->permutes_after) ritz_large_permute(ipiv, n, false, scratch, ld);
    for (int t = 0; t < num; t++) ritz_large_solve(vectors, &T[t], 0, scratch);
    if (ipiv && args->permutes_after) ritz_large_permute(ipiv, n, true, scratch, ld);
    ritz_give(scratch, ld, n, own, ritz_plane_from(B, 0, j0));
  }
}

// Numbers of scratch of ritz_large_systems.
RITZ_INLINE int64_t ritz_systems_entries(int64_t n) {
  const int64_t all = ritz_round_up(n, RITZ_STRIP);
  const int64_t divisor = sizeof(RitzScalarDivisor) / sizeof(RitzReal);

  return 2 * (ritz_triangle_entries(n) + all * divisor) + all * RITZ_BROAD;
}

#endif
