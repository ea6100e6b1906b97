// SPDX-License-Identifier: BSD-2-Clause
// Dense solver on devices: the matrix in double times vectors, its norms, and the vectors of GMRES. Sums are
// made in an order that does not depend on the device.
#ifndef RITZ_KERNELS_GPU_DENSE_REFINE_H
#define RITZ_KERNELS_GPU_DENSE_REFINE_H

#include "kernels/gpu/dense-solver.h"

// NaN where there is one.
RITZ_INLINE double ritz_larger(double a, double b) { return a >= b ? a : b == b && a != a ? a : b; }

// y = b - A x (with b) or y = R A x (without): 32 rows a block, 8 threads a row.
RITZ_KERNEL(256)
ritz_product(int n, RITZ_GLOBAL const double *A, RitzLong lda, RITZ_GLOBAL const double *row_scale,
             RITZ_GLOBAL const double *b, RITZ_GLOBAL const double *x, RITZ_GLOBAL double *y) {
  RITZ_SHARED_ARRAY double part[256];
  const int row = (int)RITZ_BLOCK * 32 + RITZ_THREAD % 32, g = RITZ_THREAD / 32;
  const int at = row < n ? row : n - 1;
  double sum[4] = {0, 0, 0, 0};
  int col = g;
  for (; col + 24 < n; col += 32) {
    RITZ_UNROLL
    for (int q = 0; q < 4; q++) {
      const int c = col + 8 * q;
      sum[q] += A[at + c * lda] * x[c];
    }
  }
  for (; col < n; col += 8) sum[0] += A[at + col * lda] * x[col];
  part[RITZ_THREAD] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  RITZ_BARRIER();
  if (g == 0 && row < n) {
    double total = 0;
    for (int p = 0; p < 8; p++) total += part[p * 32 + RITZ_THREAD];
    y[row] = b ? b[row] - total : total * row_scale[row];
  }
}

// The largest of |x| and of |y|, by one block.
RITZ_KERNEL(256)
ritz_largest(int n, RITZ_GLOBAL const double *x, RITZ_GLOBAL const double *y, RITZ_GLOBAL double *result) {
  RITZ_SHARED_ARRAY double part[512];
  double most[2] = {0, 0};
  for (int i = RITZ_THREAD; i < n; i += 256) {
    most[0] = ritz_larger(most[0], RITZ_SIZE(x[i]));
    most[1] = ritz_larger(most[1], RITZ_SIZE(y[i]));
  }
  part[RITZ_THREAD] = most[0];
  part[256 + RITZ_THREAD] = most[1];
  RITZ_BARRIER();
  for (int span = 128; span > 0; span /= 2) {
    for (int k = 0; k < 512 && RITZ_THREAD < span; k += 256)
      part[k + RITZ_THREAD] = ritz_larger(part[k + RITZ_THREAD], part[k + RITZ_THREAD + span]);
    RITZ_BARRIER();
  }
  if (RITZ_THREAD < 2) result[RITZ_THREAD] = part[256 * RITZ_THREAD];
}

// Rows: largest size, sum of sizes, the diagonal's size.
RITZ_KERNEL(256)
ritz_measure_rows(int n, RITZ_GLOBAL const double *A, RitzLong lda, RITZ_GLOBAL double *result) {
  RITZ_SHARED_ARRAY double part[512];
  const int row = (int)RITZ_BLOCK * 32 + RITZ_THREAD % 32, g = RITZ_THREAD / 32;
  const int at = row < n ? row : n - 1;
  double most = 0, sum = 0;
  for (int col = g; col < n; col += 8) {
    const double size = RITZ_SIZE(A[at + col * lda]);
    sum += size;
    most = ritz_larger(most, size);
  }
  part[RITZ_THREAD] = most;
  part[256 + RITZ_THREAD] = sum;
  RITZ_BARRIER();
  if (g == 0 && row < n) {
    for (int p = 1; p < 8; p++) {
      most = ritz_larger(most, part[p * 32 + RITZ_THREAD]);
      sum += part[256 + p * 32 + RITZ_THREAD];
    }
    result[row] = most;
    result[n + row] = sum;
    result[2 * n + row] = RITZ_SIZE(A[row + row * lda]);
  }
}

// Columns of R A: largest size, sum of sizes; a block a column.
RITZ_KERNEL(256)
ritz_measure_columns(int n, RITZ_GLOBAL const double *A, RitzLong lda, RITZ_GLOBAL const double *row_scale,
                     RITZ_GLOBAL double *result) {
  RITZ_SHARED_ARRAY double part[512];
  RITZ_GLOBAL const double *column = A + RITZ_BLOCK * lda;
  double most = 0, sum = 0;
  for (int i = RITZ_THREAD; i < n; i += 256) {
    const double size = RITZ_SIZE(column[i] * row_scale[i]);
    sum += size;
    most = ritz_larger(most, size);
  }
  part[RITZ_THREAD] = most;
  part[256 + RITZ_THREAD] = sum;
  RITZ_BARRIER();
  for (int span = 128; span > 0; span /= 2) {
    if (RITZ_THREAD < span) {
      part[RITZ_THREAD] = ritz_larger(part[RITZ_THREAD], part[RITZ_THREAD + span]);
      part[256 + RITZ_THREAD] += part[256 + RITZ_THREAD + span];
    }
    RITZ_BARRIER();
  }
  if (RITZ_THREAD == 0) {
    result[RITZ_BLOCK] = part[0];
    result[n + RITZ_BLOCK] = part[256];
  }
}

// y = R x, or y += factor[0] C x.
RITZ_KERNEL(256)
ritz_scale(int n, RITZ_GLOBAL const double *scale, RITZ_GLOBAL const double *factor,
           RITZ_GLOBAL const double *x, RITZ_GLOBAL double *y) {
  const RitzLong i = RITZ_ITEM;
  if (i < n) y[i] = factor ? y[i] + factor[0] * (scale[i] * x[i]) : scale[i] * x[i];
}

// h[i] = V_i . w; a block each.
RITZ_KERNEL(256)
ritz_dots(int n, RitzLong stride, RITZ_GLOBAL const double *V, RITZ_GLOBAL const double *w,
          RITZ_GLOBAL double *h) {
  RITZ_SHARED_ARRAY double part[256];
  RITZ_GLOBAL const double *v = V + RITZ_BLOCK * stride;
  double sum = 0;
  for (int i = RITZ_THREAD; i < n; i += 256) sum += v[i] * w[i];
  part[RITZ_THREAD] = sum;
  RITZ_BARRIER();
  for (int span = 128; span > 0; span /= 2) {
    if (RITZ_THREAD < span) part[RITZ_THREAD] += part[RITZ_THREAD + span];
    RITZ_BARRIER();
  }
  if (RITZ_THREAD == 0) h[RITZ_BLOCK] = part[0];
}

// w = beta w + sign sum of h[i] V_i; beta is h[num]; without h: beta = 1 / sqrt(square[0]).
RITZ_KERNEL(256)
ritz_combine(int n, RitzLong stride, int num, RITZ_GLOBAL const double *V, RITZ_GLOBAL const double *h,
             int is_subtracted, RITZ_GLOBAL const double *square, RITZ_GLOBAL double *w) {
  const RitzLong i = RITZ_ITEM;
  double beta = 1, sum = 0;
  if (i >= n) return;
  for (int k = 0; k < num; k++) sum += h[k] * V[i + k * stride];
  if (square) beta = square[0] > 0 ? 1 / sqrt(square[0]) : 1;
  if (!square && !is_subtracted) beta = h[num];
  w[i] = (beta == 0 ? 0 : beta * w[i]) + (is_subtracted ? -sum : sum);
}

#endif
