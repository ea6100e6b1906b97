// SPDX-License-Identifier: BSD-2-Clause
// Polynomials in Chebyshev form at points, RITZ_LANES points at a time. Coefficients of a component are
// [last][middle][first], n a direction, of RITZ_LANES elements; the points of a vector belong to one element
// each (owner -1), or all to that of the lane `owner`.
//
// Evaluation: sums over the first direction, then over those, with the polynomials of the point in registers.
// Deposit, its adjoint: row by row of the coefficients, which stay in registers while all points add to them.
#ifndef RITZ_KERNELS_CPU_AT_POINTS_H
#define RITZ_KERNELS_CPU_AT_POINTS_H

#include "kernels/cpu/vector.h"

enum { RITZ_MAX_POLYNOMIALS = 10 }; // of a row, in registers

// T_0 .. T_{n-1} at x.
RITZ_INLINE void ritz_chebyshev(int n, RitzVec x, RitzVec *t) {
  t[0] = ritz_splat(1);
  if (n > 1) t[1] = x;
  for (int k = 2; k < n; k++) t[k] = 2 * x * t[k - 1] - t[k - 2];
}

// Their derivatives k U_{k-1}.
RITZ_INLINE void ritz_chebyshev_slopes(int n, RitzVec x, RitzVec *d) {
  RitzVec last = ritz_splat(0), u = ritz_splat(1);
  d[0] = last;
  for (int k = 1; k < n; k++) {
    const RitzVec next = 2 * x * u - last;
    d[k] = (RitzReal)k * u;
    last = u;
    u = next;
  }
}

// The polynomials of a point, [3][n] each; beyond the dimension one polynomial, 1.
typedef struct {
  const RitzVec *values, *slopes;
} RitzPolynomials;

// Coefficient k of the element that lanes belong to.
RITZ_INLINE RitzVec ritz_coefficient(const RitzVec *c, int k, int owner) {
  return owner < 0 ? c[k] : ritz_splat(((const RitzReal *)(c + k))[owner]);
}

// sum += coefficients of a row times polynomials x [n]. Where the compiler knows n it is straight
// code.
RITZ_INLINE void ritz_sum_row(int n, const RitzVec *x, const RitzVec *c, int owner, RitzVec *sum) {
  if (n > RITZ_MAX_POLYNOMIALS) {
    RITZ_ROLLED for (int i = 0; i < n; i++) *sum += x[i] * ritz_coefficient(c, i, owner);
    return;
  }
  RITZ_UNROLL for (int i = 0; i < RITZ_MAX_POLYNOMIALS; i++) {
    if (i < n) *sum += x[i] * ritz_coefficient(c, i, owner);
  }
}

// row += x [cols] factor, cols <= RITZ_MAX_POLYNOMIALS.
RITZ_INLINE void ritz_add_multiple(int cols, const RitzVec *x, const RitzVec *factor, RitzVec *row) {
  RITZ_UNROLL for (int i = 0; i < RITZ_MAX_POLYNOMIALS; i++) {
    if (i < cols) row[i] += x[i] * *factor;
  }
}

// The value at a vector of points; size [3]: coefficients of each direction, size[0] = n.
RITZ_INLINE RitzVec ritz_value_at(int n, const int *size, RitzPolynomials p, const RitzVec *c, int owner) {
  const RitzVec *x = p.values, *y = x + n, *z = y + n;
  RitzVec value = ritz_splat(0);
  RITZ_ROLLED for (int k = 0; k < size[2]; k++) {
    RitzVec plane = ritz_splat(0);
    RITZ_ROLLED for (int j = 0; j < size[1]; j++, c += n) {
      RitzVec row = ritz_splat(0);
      ritz_sum_row(n, x, c, owner, &row);
      plane += y[j] * row;
    }
    value += z[k] * plane;
  }
  return value;
}

// gradient [3]: undefined beyond the dimension.
RITZ_INLINE void ritz_gradient_at(int n, const int *size, RitzPolynomials p, const RitzVec *c, int owner,
                                  RitzVec *gradient) {
  const RitzVec *x = p.values, *y = x + n, *z = y + n, *dx = p.slopes, *dy = dx + n, *dz = dy + n;
  RitzVec g0 = ritz_splat(0), g1 = g0, g2 = g0;
  RITZ_ROLLED for (int k = 0; k < size[2]; k++) {
    RitzVec plane = ritz_splat(0), plane0 = plane, plane1 = plane;
    RITZ_ROLLED for (int j = 0; j < size[1]; j++, c += n) {
      RitzVec row = ritz_splat(0), row0 = row;
      ritz_sum_row(n, x, c, owner, &row);
      ritz_sum_row(n, dx, c, owner, &row0);
      plane += y[j] * row;
      plane0 += y[j] * row0;
      plane1 += dy[j] * row;
    }
    g0 += z[k] * plane0;
    g1 += z[k] * plane1;
    g2 += dz[k] * plane;
  }
  gradient[0] = g0;
  gradient[1] = g1;
  gradient[2] = g2;
}

RITZ_INLINE RitzReal ritz_sum_of_lanes(RitzVec a) {
  RitzReal sum = 0;
  for (int l = 0; l < RITZ_LANES; l++) sum += a[l];
  return sum;
}

// Adds a row of sums to coefficients; points of one element: their sum to its lane.
RITZ_INLINE void ritz_add_row(int n, const RitzVec *row, int owner, RitzVec *c) {
  RITZ_UNROLL for (int i = 0; i < RITZ_MAX_POLYNOMIALS; i++) {
    if (i < n && owner < 0) c[i] += row[i];
    if (i < n && owner >= 0) ((RitzReal *)(c + i))[owner] += ritz_sum_of_lanes(row[i]);
  }
}

// Columns first .. first + cols - 1 <= RITZ_MAX_POLYNOMIALS of the rows of coefficients: to them values u
// [num] at `num` vectors of points, whose polynomials are p [num][3][n], all with this owner.
RITZ_INLINE void ritz_deposit_values(int n, int first, int cols, const int *size, int num, RitzPolynomials p,
                                     const RitzVec *u, int owner, RitzVec *c) {
  RITZ_ROLLED for (int k = 0; k < size[2]; k++) {
    RITZ_ROLLED for (int j = 0; j < size[1]; j++, c += n) {
      RitzVec row[RITZ_MAX_POLYNOMIALS];
      RITZ_UNROLL for (int i = 0; i < RITZ_MAX_POLYNOMIALS; i++) row[i] = ritz_splat(0);
      RITZ_ROLLED for (int q = 0; q < num; q++) {
        const RitzVec *x = p.values + 3 * n * q;
        const RitzVec factor = x[n + j] * x[2 * n + k] * u[q];
        ritz_add_multiple(cols, x + first, &factor, row);
      }
      ritz_add_row(cols, row, owner, c + first);
    }
  }
}

// The same for gradients g [dim], each [num] and `stride` vectors apart.
RITZ_INLINE void ritz_deposit_gradients(int n, int first, int cols, const int *size, int dim, int num,
                                        RitzPolynomials p, const RitzVec *g, int stride, int owner,
                                        RitzVec *c) {
  RITZ_ROLLED for (int k = 0; k < size[2]; k++) {
    RITZ_ROLLED for (int j = 0; j < size[1]; j++, c += n) {
      RitzVec row[RITZ_MAX_POLYNOMIALS];
      RITZ_UNROLL for (int i = 0; i < RITZ_MAX_POLYNOMIALS; i++) row[i] = ritz_splat(0);
      RITZ_ROLLED for (int q = 0; q < num; q++) {
        const RitzVec *x = p.values + 3 * n * q, *dx = p.slopes + 3 * n * q;
        const RitzVec y = x[n + j], z = x[2 * n + k], slope = y * z * g[q];
        RitzVec factor = ritz_splat(0);
        if (dim > 1) factor += dx[n + j] * z * g[stride + q];
        if (dim > 2) factor += y * dx[2 * n + k] * g[2 * stride + q];
        ritz_add_multiple(cols, x + first, &factor, row);
        ritz_add_multiple(cols, dx + first, &slope, row);
      }
      ritz_add_row(cols, row, owner, c + first);
    }
  }
}

#endif
