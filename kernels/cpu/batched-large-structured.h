// SPDX-License-Identifier: BSD-2-Clause
// Products with symmetric and triangular large matrices by the product of large ones: the triangle that is
// there is copied, with its mirror image or zeros.
#ifndef RITZ_KERNELS_CPU_BATCHED_LARGE_STRUCTURED_H
#define RITZ_KERNELS_CPU_BATCHED_LARGE_STRUCTURED_H

#include "kernels/cpu/batched-large-product.h"

enum { RITZ_UPDATE_COLUMNS = 96 };

RITZ_INLINE int64_t ritz_structured_entries(int64_t order, int64_t columns) {
  const int64_t panel = order < columns ? columns : order;

  return ritz_apart(order) * (order + panel) + ritz_product_entries(panel, panel) + 2 * (order + RITZ_BLOCK);
}

// to(i, j), columns ritz_apart(n) apart, from the lower triangle L; above it its mirror image or zeros.
static RitzPlane ritz_structured_take(RitzPlane L, int64_t n, bool is_symmetric, bool is_unit, RitzReal *to) {
  const int64_t ld = ritz_apart(n);

  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < n; i++) {
      const RitzPlane from = i < j ? ritz_plane_transposed(L) : L;
      const bool is_read = is_symmetric || i > j || (i == j && !is_unit);

      to[i + j * ld] = is_read ? from.p[i * from.rs + j * from.cs] : i == j;
    }
  }
  return (RitzPlane){to, 1, ld};
}

// C = alpha A B + beta C of a symmetric A of this order; L: its lower triangle.
static void ritz_large_symmetric(RitzPlane L, RitzPlane B, int64_t order, int64_t columns, RitzLargeFactors f,
                                 RitzPlane C, RitzReal *scratch) {
  RitzReal *rest = scratch + ritz_apart(order) * order;
  RitzPlane A = {scratch, 1, ritz_apart(order)};

  if (f.alpha != 0) A = ritz_structured_take(L, order, true, false, scratch);
  if (columns == 1)
    ritz_large_column(A, B, order, order, f, C, rest);
  else
    ritz_large_product(A, B, order, columns, order, f, C, rest);
}

// X := alpha L X; is_turned: of the upper triangle L^T.
static void ritz_large_triangular(RitzPlane L, bool is_turned, bool is_unit, int64_t order, int64_t columns,
                                  RitzReal alpha, RitzPlane X, RitzReal *scratch) {
  const int64_t ld = ritz_apart(order);
  const RitzPlane copy = {scratch + ld * order, 1, ld};
  RitzPlane A = {scratch, 1, ld};

  if (alpha != 0) {
    A = ritz_structured_take(L, order, false, is_unit, scratch);
    ritz_take(ritz_plane_transposed(X), columns, order, copy.p, ld);
  }
  ritz_large_product(is_turned ? ritz_plane_transposed(A) : A, copy, order, columns, order,
                     (RitzLargeFactors){alpha, 0}, X, copy.p + ld * columns);
}

// The lower triangle of C = alpha A A^T + beta C, A n x k: columns in blocks, from the diagonal on.
static void ritz_large_update(RitzPlane A, int64_t n, int64_t k, RitzLargeFactors f, RitzPlane C,
                              RitzReal *scratch) {
  const int64_t ld = ritz_apart(n);

  for (int64_t j0 = 0; j0 < n; j0 += RITZ_UPDATE_COLUMNS) {
    const int64_t own = ritz_least(RITZ_UPDATE_COLUMNS, n - j0);
    const RitzPlane rows = ritz_plane_from(A, j0, 0), panel = {scratch, 1, ld};

    ritz_large_product(rows, ritz_plane_transposed(rows), n - j0, own, k, (RitzLargeFactors){f.alpha, 0},
                       panel, scratch + ld * own);
    for (int64_t j = 0; j < own; j++) {
      for (int64_t i = j; i < n - j0; i++) {
        RitzReal *to = C.p + (j0 + i) * C.rs + (j0 + j) * C.cs;
        RitzReal result = scratch[i + j * ld];

        if (f.beta != 0) result += f.beta * *to;
        *to = result;
      }
    }
  }
}

#endif
