// SPDX-License-Identifier: BSD-2-Clause
// Contractions of one line of values with a 1D matrix: y = A u. Sizes, strides and matrices are constants
// after inlining, so that a line becomes straight code with literals.
//
// Even-odd splitting (Solomonoff 1992): where A[m-1-i][k-1-j] = s A[i][j], s = +1 (values) or -1
// (derivatives), A u is an even part applied to u_j + u_{k-1-j} and an odd part applied to u_j - u_{k-1-j}:
// half the multiplications.
#ifndef RITZ_KERNELS_CPU_LINE_H
#define RITZ_KERNELS_CPU_LINE_H

#include "kernels/cpu/vector.h"

typedef struct {
  int rows, cols;
  int parity;           // +1, -1, or 0: no symmetry, `full` is used
  const RitzReal *full; // [rows][cols], parity 0
  const RitzReal *even; // [(rows + 1)/2][(cols + 1)/2]: (A[i][j] + A[i][k-1-j]) / 2, middle column as it is
  const RitzReal *odd;  // [(rows + 1)/2][cols/2]: (A[i][j] - A[i][k-1-j]) / 2
} RitzMatrix;

// Bounds of local arrays must be constants, not arguments, or the arrays stay in memory.
enum { RITZ_LINE = RITZ_MAX_1D, RITZ_HALF = (RITZ_MAX_1D + 1) / 2 };

typedef struct {
  RitzVec e[RITZ_HALF], o[RITZ_HALF];
} RitzEvenOddLine;

RITZ_INLINE void ritz_even_odd(int n, const RitzVec *u, int su, RitzEvenOddLine *s) {
  RITZ_UNROLL for (int j = 0; j < n / 2; j++) {
    s->e[j] = u[j * su] + u[(n - 1 - j) * su];
    s->o[j] = u[j * su] - u[(n - 1 - j) * su];
  }
  if (n % 2) s->e[n / 2] = u[n / 2 * su];
}

RITZ_INLINE RitzVec ritz_dot(int n, const RitzReal *a, const RitzVec *x) {
  RitzVec s = a[0] * x[0];
  RITZ_UNROLL for (int j = 1; j < n; j++) s += a[j] * x[j];
  return s;
}

RITZ_INLINE void ritz_put(RitzVec *y, RitzVec v, bool add) { *y = add ? *y + v : v; }

// Row i and row m-1-i of A u from the split u.
RITZ_INLINE void ritz_line_even_odd(const RitzMatrix *A, const RitzEvenOddLine *u, RitzVec *y, int sy,
                                    bool add) {
  const int m = A->rows, he = (A->cols + 1) / 2, ho = A->cols / 2;
  RITZ_UNROLL for (int i = 0; i < m / 2; i++) {
    const RitzVec a = ritz_dot(he, A->even + i * he, u->e);
    const RitzVec b = ho ? ritz_dot(ho, A->odd + i * ho, u->o) : ritz_splat(0);
    ritz_put(y + i * sy, ho ? a + b : a, add);
    ritz_put(y + (m - 1 - i) * sy, A->parity > 0 ? (ho ? a - b : a) : (ho ? b - a : -a), add);
  }
  if (m % 2) {
    const int i = m / 2;
    const RitzVec even = ritz_dot(he, A->even + i * he, u->e);
    const RitzVec odd = ho ? ritz_dot(ho, A->odd + i * ho, u->o) : ritz_splat(0);
    ritz_put(y + i * sy, A->parity > 0 ? even : odd, add);
  }
}

RITZ_INLINE void ritz_line_full(const RitzMatrix *A, const RitzVec *u, int su, RitzVec *y, int sy, bool add) {
  RitzVec x[RITZ_LINE];
  RITZ_UNROLL for (int j = 0; j < A->cols; j++) x[j] = u[j * su];
  RITZ_UNROLL for (int i = 0; i < A->rows; i++)
      ritz_put(y + i * sy, ritz_dot(A->cols, A->full + i * A->cols, x), add);
}

// y = A u, or y += A u. y may be u.
RITZ_INLINE void ritz_line(const RitzMatrix *A, const RitzVec *u, int su, RitzVec *y, int sy, bool add) {
  if (!A->parity) {
    ritz_line_full(A, u, su, y, sy, add);
    return;
  }
  RitzEvenOddLine s;
  ritz_even_odd(A->cols, u, su, &s);
  ritz_line_even_odd(A, &s, y, sy, add);
}

// y = A u and z = D u: values and derivatives at once, from one split.
RITZ_INLINE void ritz_line_both(const RitzMatrix *A, const RitzMatrix *D, const RitzVec *u, int su,
                                RitzVec *y, int sy, RitzVec *z, int sz) {
  if (!A->parity || !D->parity) {
    RitzVec x[RITZ_LINE];
    RITZ_UNROLL for (int j = 0; j < A->cols; j++) x[j] = u[j * su];
    ritz_line(A, x, 1, y, sy, false);
    ritz_line(D, x, 1, z, sz, false);
    return;
  }
  RitzEvenOddLine s;
  ritz_even_odd(A->cols, u, su, &s);
  ritz_line_even_odd(A, &s, y, sy, false);
  ritz_line_even_odd(D, &s, z, sz, false);
}

// y = A u + D w for A of parity +1 and D of parity -1: the transposed of ritz_line_both.
RITZ_INLINE void ritz_line_sum(const RitzMatrix *A, const RitzMatrix *D, const RitzVec *u, int su,
                               const RitzVec *w, int sw, RitzVec *y, int sy) {
  if (A->parity != 1 || D->parity != -1) {
    RitzVec x[RITZ_LINE];
    RITZ_UNROLL for (int j = 0; j < D->cols; j++) x[j] = w[j * sw];
    ritz_line(A, u, su, y, sy, false);
    ritz_line(D, x, 1, y, sy, true);
    return;
  }
  const int m = A->rows, he = (A->cols + 1) / 2, ho = A->cols / 2;
  RitzEvenOddLine s, t;
  ritz_even_odd(A->cols, u, su, &s);
  ritz_even_odd(A->cols, w, sw, &t);
  RITZ_UNROLL for (int i = 0; i < (m + 1) / 2; i++) {
    RitzVec a = ritz_dot(he, A->even + i * he, s.e), b = ritz_dot(he, D->even + i * he, t.e);
    RITZ_UNROLL for (int j = 0; j < ho; j++) {
      a += D->odd[i * ho + j] * t.o[j];
      b += A->odd[i * ho + j] * s.o[j];
    }
    if (i == m - 1 - i) {
      y[i * sy] = a;
    } else {
      y[i * sy] = a + b;
      y[(m - 1 - i) * sy] = a - b;
    }
  }
}

#endif
