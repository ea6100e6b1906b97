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
    const int64_t i = is_back ? n - 1 - step : step, row = (int64_t)ipiv[i] - 1;

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

// ---- Few right-hand sides: the triangle is where it is ----

enum { RITZ_FEW_COLUMNS = 4, RITZ_UNKNOWNS = 4 };

// sums(r) = columns begin .. end - 1 of row r times x, for four contiguous rows.
RITZ_INLINE void ritz_few_sums(RitzPlane T, int64_t begin, int64_t end, const RitzReal *x, int num,
                               RitzReal *sums) {
  RitzVec c[RITZ_UNKNOWNS];

  RITZ_UNROLL for (int r = 0; r < RITZ_UNKNOWNS; r++) c[r] = ritz_splat(0);
  for (int64_t k = begin; k < end; k += RITZ_LANES) {
    const int left = (int)ritz_least(RITZ_LANES, end - k);
    const RitzVec b = ritz_load_some(x + k, left);

    RITZ_UNROLL for (int r = 0; r < RITZ_UNKNOWNS; r++) {
      const RitzReal *row = T.p + (r < num ? r : 0) * T.rs + k;
      c[r] += ritz_load_some(row, left) * b;
    }
  }
  for (int r = 0; r < num; r++) {
    sums[r] = 0;
    for (int l = 0; l < RITZ_LANES; l++) sums[r] += c[r][l];
  }
}

// x(begin .. end - 1) minus the product of up to four columns of T with b.
RITZ_INLINE void ritz_few_subtract(RitzPlane T, int64_t begin, int64_t end, const RitzReal *b, int num,
                                   RitzReal *x) {
  for (int64_t i = begin; i < end && T.rs == 1; i += RITZ_LANES) {
    const int left = (int)ritz_least(RITZ_LANES, end - i);
    RitzVec c = ritz_load_some(x + i, left);

    RITZ_UNROLL for (int r = 0; r < RITZ_UNKNOWNS; r++) {
      if (r < num) c -= ritz_load_some(T.p + i + r * T.cs, left) * b[r];
    }
    ritz_store_some(x + i, c, left);
  }
  for (int64_t i = begin; i < end && T.rs != 1; i++) {
    for (int r = 0; r < num; r++) x[i] -= T.p[i * T.rs + r * T.cs] * b[r];
  }
}

// T x = b, x over b [n].
static void ritz_few_solve(RitzPlane T, int64_t n, bool is_upper, bool is_unit, RitzReal *x) {
  for (int64_t done = 0; done < n; done += RITZ_UNKNOWNS) {
    const int num = (int)ritz_least(RITZ_UNKNOWNS, n - done);
    const int64_t k0 = is_upper ? n - done - num : done, end = k0 + num;
    const RitzPlane corner = ritz_plane_from(T, k0, k0);
    RitzReal sums[RITZ_UNKNOWNS] = {0}, *own = x + k0;

    if (T.cs == 1)
      ritz_few_sums(ritz_plane_from(T, k0, 0), is_upper ? end : 0, is_upper ? n : k0, x, num, sums);
    for (int r = 0; r < num; r++) own[r] -= sums[r];
    for (int step = 0; step < num; step++) {
      const int r = is_upper ? num - 1 - step : step;
      const RitzReal *column = corner.p + r * corner.cs;

      if (!is_unit) own[r] /= column[r * corner.rs];
      for (int i = is_upper ? 0 : r + 1; i < (is_upper ? r : num); i++)
        own[i] -= column[i * corner.rs] * own[r];
    }
    if (T.cs != 1)
      ritz_few_subtract(ritz_plane_from(T, 0, k0), is_upper ? 0 : end, is_upper ? k0 : n, own, num, x);
  }
}

static void ritz_few_permute(const int32_t *ipiv, int64_t n, bool is_back, RitzReal *x) {
  for (int64_t step = 0; step < n; step++) {
    const int64_t i = is_back ? n - 1 - step : step, row = (int64_t)ipiv[i] - 1;
    const RitzReal kept = x[i];

    if (row < 0 || row >= n) continue;
    x[i] = x[row];
    x[row] = kept;
  }
}

// As ritz_large_systems, column by column.
static void ritz_few_systems(const RitzBatchedArgs *args, const int32_t *ipiv, RitzPlane A, RitzPlane B,
                             int64_t n, int64_t cols, RitzReal *x) {
  const RitzReal alpha = (RitzReal)args->alpha;

  for (int64_t j = 0; j < cols; j++) {
    RitzReal *b = B.p + j * B.cs;

    for (int64_t i = 0; i < n; i++) x[i] = alpha * b[i * B.rs];
    if (ipiv && !args->permutes_after) ritz_few_permute(ipiv, n, false, x);
    for (int k = 0; k < args->num_triangles; k++) {
      const RitzBatchedTriangle *t = &args->triangle[k];
      const RitzPlane T = t->is_transposed ? ritz_plane_transposed(A) : A;

      ritz_few_solve(T, n, t->is_lower == t->is_transposed, t->is_unit, x);
    }
    if (ipiv && args->permutes_after) ritz_few_permute(ipiv, n, true, x);
    for (int64_t i = 0; i < n; i++) b[i * B.rs] = x[i];
  }
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
  if (cols <= RITZ_FEW_COLUMNS) {
    ritz_few_systems(args, ipiv, A, B, n, cols, scratch);
    return;
  }
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
