// SPDX-License-Identifier: BSD-2-Clause
// Cholesky of large matrices, as A = U^T U in scratch row after row, right-looking in blocks of RITZ_DEPTH
// rows: strips of a block are updated by the rows before them in the block, then the rest of the matrix by
// the block.
#ifndef RITZ_KERNELS_CPU_BATCHED_LARGE_CHOLESKY_H
#define RITZ_KERNELS_CPU_BATCHED_LARGE_CHOLESKY_H

#include "kernels/cpu/batched-strips.h"

enum { RITZ_DEPTH = 64 };

typedef struct {
  RitzReal *S;     // [all][ld]: the upper triangle, beyond it the identity
  int64_t ld, all; // all: a multiple of RITZ_STRIP
  int64_t info;
} RitzLargeCholesky;

#define RITZ_U(f, i, j) ((f)->S + (i) * (f)->ld + (j))

// The block on the diagonal of the strip from row i0 on: columns before it are subtracted, then scalars.
static void ritz_cholesky_corner(RitzLargeCholesky *f, int64_t first, int64_t i0,
                                 RitzScalarDivisor *divisors) {
  RitzReal u[RITZ_STRIP][RITZ_STRIP + RITZ_LANES];

  for (int j = 0; j < RITZ_STRIP; j += RITZ_LANES) {
    RitzStrip c;

    ritz_strip_load(1, RITZ_U(f, i0, i0 + j), f->ld, c);
    ritz_strip_subtract(1, i0 - first, RITZ_U(f, first, i0 + j), f->ld, RITZ_U(f, first, i0), f->ld, c);
    ritz_strip_store(1, c, &u[0][j], RITZ_STRIP + RITZ_LANES);
  }
  RITZ_UNROLL for (int k = 0; k < RITZ_STRIP; k++) {
    RitzReal d = u[k][k];

    if (!(d > 0) && f->info == 0) f->info = i0 + k + 1; // NaN, too
    if (!(d > 0)) d = 1;
    d = RITZ_REAL_BYTES == 8 ? (RitzReal)__builtin_sqrt(d) : (RitzReal)__builtin_sqrtf((float)d);
    divisors[k] = (RitzScalarDivisor){d, 1 / d, false};
    u[k][k] = d;
    RITZ_UNROLL for (int j = k + 1; j < RITZ_STRIP; j++) u[k][j] *= divisors[k].inverse;
    RITZ_UNROLL for (int i = k + 1; i < RITZ_STRIP; i++) {
      RITZ_UNROLL for (int j = i; j < RITZ_STRIP; j++) u[i][j] -= u[k][i] * u[k][j];
    }
  }
  for (int i = 0; i < RITZ_STRIP; i++) {
    for (int j = i; j < RITZ_STRIP; j++) *RITZ_U(f, i0 + i, i0 + j) = u[i][j];
  }
}

// Columns j .. of the strip, right of its diagonal block.
RITZ_INLINE void ritz_cholesky_right(int vectors, const RitzLargeCholesky *f, int64_t first, int64_t i0,
                                     int64_t j, const RitzScalarDivisor *divisors) {
  RitzStrip c;

  ritz_strip_load(vectors, RITZ_U(f, i0, j), f->ld, c);
  ritz_strip_subtract(vectors, i0 - first, RITZ_U(f, first, j), f->ld, RITZ_U(f, first, i0), f->ld, c);
  ritz_strip_solve(vectors, false, RITZ_U(f, i0, i0), f->ld, divisors, c);
  ritz_strip_store(vectors, c, RITZ_U(f, i0, j), f->ld);
}

static void ritz_cholesky_strip(RitzLargeCholesky *f, int64_t first, int64_t i0) {
  RitzScalarDivisor divisors[RITZ_STRIP];
  int64_t j = i0 + RITZ_STRIP;

  ritz_cholesky_corner(f, first, i0, divisors);
  for (; j + 2 * RITZ_LANES < f->all; j += RITZ_BROAD) ritz_cholesky_right(3, f, first, i0, j, divisors);
  if (j + RITZ_LANES < f->all)
    ritz_cholesky_right(2, f, first, i0, j, divisors);
  else if (j < f->all)
    ritz_cholesky_right(1, f, first, i0, j, divisors);
}

// Columns j .. of the rows from `end` on, without what rows first .. end - 1 do to them.
RITZ_INLINE void ritz_cholesky_rest(int vectors, const RitzLargeCholesky *f, int64_t first, int64_t end,
                                    int64_t j) {
  for (int64_t i0 = end; i0 < ritz_least(f->all, j + vectors * RITZ_LANES); i0 += RITZ_STRIP) {
    RitzStrip c;

    ritz_strip_load(vectors, RITZ_U(f, i0, j), f->ld, c);
    ritz_strip_subtract(vectors, end - first, RITZ_U(f, first, j), f->ld, RITZ_U(f, first, i0), f->ld, c);
    ritz_strip_store(vectors, c, RITZ_U(f, i0, j), f->ld);
  }
}

static void ritz_large_cholesky(RitzLargeCholesky *f) {
  f->info = 0;
  for (int64_t first = 0; first < f->all; first += RITZ_DEPTH) {
    const int64_t end = ritz_least(first + RITZ_DEPTH, f->all);
    int64_t j = end;

    for (int64_t i0 = first; i0 < end; i0 += RITZ_STRIP) ritz_cholesky_strip(f, first, i0);
    for (; j + 2 * RITZ_LANES < f->all; j += RITZ_BROAD) ritz_cholesky_rest(3, f, first, end, j);
    if (j + RITZ_LANES < f->all)
      ritz_cholesky_rest(2, f, first, end, j);
    else if (j < f->all)
      ritz_cholesky_rest(1, f, first, end, j);
  }
}

// Numbers of scratch: columns of vectors may end beyond a row.
RITZ_INLINE int64_t ritz_cholesky_entries(int64_t n) {
  return (ritz_round_up(n, RITZ_STRIP) + 1) * (ritz_apart(n) + RITZ_BLOCK);
}

// A, n x n; is_upper: the triangle that is there. info of LAPACK.
static int32_t ritz_large_potrf(RitzPlane A, int64_t n, bool is_upper, RitzReal *scratch) {
  RitzLargeCholesky f = {.S = scratch, .ld = ritz_apart(n), .all = ritz_round_up(n, RITZ_STRIP)};
  const RitzPlane U = is_upper ? A : ritz_plane_transposed(A);

  for (int64_t i0 = 0; i0 < n; i0 += RITZ_STRIP)
    ritz_take(ritz_plane_from(U, i0, i0), ritz_least(RITZ_STRIP, n - i0), n - i0, RITZ_U(&f, i0, i0), f.ld);
  for (int64_t i = 0; i < f.all; i++) {
    for (int64_t j = i < n ? n : i; j < f.ld; j++) *RITZ_U(&f, i, j) = i == j;
  }
  ritz_large_cholesky(&f);
  for (int64_t i0 = 0; i0 < n; i0 += RITZ_STRIP) {
    const int64_t rows = ritz_least(RITZ_STRIP, n - i0);

    for (int64_t r = 0; r < rows; r++) {
      for (int64_t j = i0 + r; j < i0 + rows; j++) U.p[(i0 + r) * U.rs + j * U.cs] = *RITZ_U(&f, i0 + r, j);
    }
    ritz_give(RITZ_U(&f, i0, i0 + rows), f.ld, rows, n - i0 - rows, ritz_plane_from(U, i0, i0 + rows));
  }
  return (int32_t)f.info;
}

#endif
