// SPDX-License-Identifier: BSD-2-Clause
// Products C = alpha op(A) op(B) + beta C of large matrices: panels of op(A), RITZ_BROAD rows of up to
// RITZ_DEEP products, in the first cache, all of op(B) of these products in strips; vectors along columns of
// C.
#ifndef RITZ_KERNELS_CPU_BATCHED_LARGE_PRODUCT_H
#define RITZ_KERNELS_CPU_BATCHED_LARGE_PRODUCT_H

#include "kernels/cpu/batched-strips.h"

enum { RITZ_DEEP = 192 };

typedef struct {
  RitzReal alpha, beta;
} RitzLargeFactors;

// C(0:rows, 0:cols) of a strip, whose rows are columns of C; c holds minus the sums.
RITZ_INLINE void ritz_product_store(int vectors, RitzStrip c, int64_t rows, int64_t cols, RitzLargeFactors f,
                                    RitzPlane C) {
  RitzReal tile[RITZ_STRIP][RITZ_BROAD];

  if (C.rs == 1 && rows == vectors * RITZ_LANES && cols == RITZ_STRIP) {
    RITZ_UNROLL for (int r = 0; r < RITZ_STRIP; r++) {
      RITZ_UNROLL for (int v = 0; v < vectors; v++) {
        RitzEntryVec *to = (RitzEntryVec *)(C.p + r * C.cs + v * RITZ_LANES);
        RitzVec result = -f.alpha * c[r][v];

        RITZ_KEEP(result);
        if (f.beta != 0) result += f.beta * *to;
        *to = result;
      }
    }
    return;
  }
  ritz_strip_store(vectors, c, &tile[0][0], RITZ_BROAD);
  for (int64_t j = 0; j < cols; j++) {
    for (int64_t i = 0; i < rows; i++) {
      RitzReal *to = C.p + i * C.rs + j * C.cs;
      RitzVec result = -f.alpha * ritz_splat(tile[j][i]);

      RITZ_KEEP(result);
      if (f.beta != 0) result += f.beta * ritz_splat(*to);
      *to = result[0];
    }
  }
}

// The tile of `vectors` vectors against all strips of B.
RITZ_INLINE void ritz_product_rows(int vectors, const RitzReal *a, const RitzReal *b, int64_t rows, int64_t n,
                                   int64_t num, RitzLargeFactors f, RitzPlane C) {
  for (int64_t j0 = 0; j0 < n; j0 += RITZ_STRIP) {
    RitzStrip c;

    ritz_strip_clear(vectors, c);
    ritz_strip_subtract(vectors, num, a, vectors * RITZ_LANES, b + j0 * num, RITZ_STRIP, c);
    ritz_product_store(vectors, c, rows, ritz_least(RITZ_STRIP, n - j0), f, ritz_plane_from(C, 0, j0));
  }
}

// Products k .. k + num - 1 of all entries. a, b: scratch.
static void ritz_product_slice(RitzPlane A, RitzPlane B, int64_t m, int64_t n, int64_t num,
                               RitzLargeFactors f, RitzPlane C, RitzReal *a, RitzReal *b) {
  for (int64_t j0 = 0; j0 < n; j0 += RITZ_STRIP)
    ritz_take_padded(ritz_plane_from(B, 0, j0), num, ritz_least(RITZ_STRIP, n - j0), num, RITZ_STRIP,
                     b + j0 * num, RITZ_STRIP);
  for (int64_t i0 = 0; i0 < m; i0 += RITZ_BROAD) {
    const int64_t rows = ritz_least(RITZ_BROAD, m - i0), vectors = (rows + RITZ_LANES - 1) / RITZ_LANES;
    const RitzPlane own = ritz_plane_from(C, i0, 0);

    ritz_take_padded(ritz_plane_transposed(ritz_plane_from(A, i0, 0)), num, rows, num, vectors * RITZ_LANES,
                     a, vectors * RITZ_LANES);
    if (vectors == 1) ritz_product_rows(1, a, b, rows, n, num, f, own);
    if (vectors == 2) ritz_product_rows(2, a, b, rows, n, num, f, own);
    if (vectors == 3) ritz_product_rows(3, a, b, rows, n, num, f, own);
  }
}

static void ritz_large_product(RitzPlane A, RitzPlane B, int64_t m, int64_t n, int64_t k, RitzLargeFactors f,
                               RitzPlane C, RitzReal *scratch) {
  if (f.alpha == 0 || k == 0) {
    for (int64_t j = 0; j < n; j++) {
      for (int64_t i = 0; i < m; i++) {
        RitzReal *to = C.p + i * C.rs + j * C.cs;
        *to = f.beta == 0 ? 0 : f.beta * *to;
      }
    }
    return;
  }
  const int64_t slices = (k + RITZ_DEEP - 1) / RITZ_DEEP;
  for (int64_t s = 0; s < slices; s++) {
    const int64_t first = k * s / slices, num = k * (s + 1) / slices - first;

    ritz_product_slice(ritz_plane_from(A, 0, first), ritz_plane_from(B, first, 0), m, n, num, f, C, scratch,
                       scratch + RITZ_BROAD * RITZ_DEEP);
    f.beta = 1;
  }
}

RITZ_INLINE int64_t ritz_product_entries(int64_t n, int64_t k) {
  return RITZ_BROAD * RITZ_DEEP + ritz_round_up(n, RITZ_STRIP) * ritz_least(k, RITZ_DEEP);
}

// ---- A column ----

// sums(0:num) = A x, columns of A follow each other; num a multiple of RITZ_LANES.
RITZ_INLINE void ritz_column_rows(int vectors, const RitzReal *A, int64_t ld, const RitzReal *x, int64_t k,
                                  RitzReal *sums) {
  RitzVec c[4];

  RITZ_UNROLL for (int v = 0; v < vectors; v++) c[v] = ritz_splat(0);
  for (int64_t i = 0; i < k; i++) {
    RITZ_UNROLL for (int v = 0; v < vectors; v++) c[v] +=
        x[i] * *(const RitzEntryVec *)(A + i * ld + v * RITZ_LANES);
  }
  RITZ_UNROLL for (int v = 0; v < vectors; v++) * (RitzEntryVec *)(sums + v * RITZ_LANES) = c[v];
}

// The sums of A x, m x k, in scratch; x [k].
static void ritz_column_sums(RitzPlane A, const RitzReal *x, int64_t m, int64_t k, RitzReal *sums) {
  int64_t i = 0;

  if (A.rs == 1) {
    for (; i + 4 * RITZ_LANES <= m; i += 4 * RITZ_LANES) ritz_column_rows(4, A.p + i, A.cs, x, k, sums + i);
    for (; i + RITZ_LANES <= m; i += RITZ_LANES) ritz_column_rows(1, A.p + i, A.cs, x, k, sums + i);
  }
  for (; i < m; i++) {
    const RitzReal *a = A.p + i * A.rs;
    RitzVec c = ritz_splat(0);
    RitzReal sum = 0;
    int64_t j = 0;

    for (; j + RITZ_LANES <= k && A.cs == 1; j += RITZ_LANES)
      c += *(const RitzEntryVec *)(a + j) * *(const RitzEntryVec *)(x + j);
    for (; j < k; j++) sum += a[j * A.cs] * x[j];
    for (int l = 0; l < RITZ_LANES; l++) sum += c[l];
    sums[i] = sum;
  }
}

// y = alpha A x + beta y
static void ritz_large_column(RitzPlane A, RitzPlane x, int64_t m, int64_t k, RitzLargeFactors f, RitzPlane y,
                              RitzReal *scratch) {
  RitzReal *sums = scratch + ritz_round_up(k, RITZ_LANES);

  if (f.alpha != 0) {
    for (int64_t i = 0; i < k; i++) scratch[i] = x.p[i * x.rs];
    ritz_column_sums(A, scratch, m, k, sums);
  }
  for (int64_t i = 0; i < m; i++) {
    RitzVec result = f.alpha * ritz_splat(f.alpha != 0 ? sums[i] : 0);

    RITZ_KEEP(result);
    if (f.beta != 0) result += f.beta * ritz_splat(y.p[i * y.rs]);
    y.p[i * y.rs] = result[0];
  }
}

#endif
