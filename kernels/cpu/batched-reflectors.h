// SPDX-License-Identifier: BSD-2-Clause
// Householder's reflectors of matrices of vectors, RITZ_TILE at a time: H_1 H_2 ... = I - V T V^T with V from
// a panel of columns, T upper (Schreiber and Van Loan). Numbers of a column are divided by its largest one
// before they are squared, so that nothing leaves the range.
#ifndef RITZ_KERNELS_CPU_BATCHED_REFLECTORS_H
#define RITZ_KERNELS_CPU_BATCHED_REFLECTORS_H

#include "kernels/cpu/batched-tiles.h"

#define RITZ_LARGER(a, b) ((int)(a) > (int)(b) ? (int)(a) : (int)(b))

enum { RITZ_MOST_ROWS = RITZ_LARGER(RITZ_LARGER(RITZ_M, RITZ_N), RITZ_ORDER) };

// Reflectors of a panel: rows of V from the panel's first one on.
typedef struct {
  RitzVec v[RITZ_LARGER(RITZ_MOST_ROWS, RITZ_TILE)][RITZ_TILE], t[RITZ_TILE][RITZ_TILE];
  int first, rows;
} RitzReflectors;

// ---- A panel ----

// The reflector of column j: its divisor, which makes v of it, and what stays of it, beta and tau.
typedef struct {
  RitzDivisor unit;
  RitzVec inverse, beta, tau;
} RitzReflector;

RITZ_INLINE RitzReflector ritz_reflector(RitzView A, int rows, int j) {
  const RitzVec first = RITZ_AT(A, j, j), zero = ritz_splat(0), one = ritz_splat(1);
  RitzVec below = zero, sum = zero;
  RitzReflector h;

  for (int r = j + 1; r < rows; r++) {
    const RitzVec x = ritz_magnitude(RITZ_AT(A, r, j));
    below = ritz_select((RitzMask)(x > below), x, below);
  }
  const RitzMask is_none = (RitzMask)(below == zero);
  const RitzVec size = ritz_magnitude(first), unit = ritz_select((RitzMask)(below > size), below, size);
  h.unit = ritz_divisor(ritz_select((RitzMask)(unit == zero), one, unit));
  for (int r = j + 1; r < rows; r++) {
    const RitzVec x = ritz_quotient(RITZ_AT(A, r, j), &h.unit);
    sum += x * x;
  }
  const RitzVec alpha = ritz_quotient(first, &h.unit), length = ritz_root(alpha * alpha + sum);
  const RitzVec beta = ritz_select((RitzMask)(alpha < zero), length, -length);
  h.inverse = 1 / ritz_select(is_none, one, alpha - beta);
  h.beta = ritz_select(is_none, first, beta * h.unit.value);
  h.tau = ritz_select(is_none, zero, (beta - alpha) / ritz_select(is_none, one, beta));
  return h;
}

// Column j of A becomes a reflector, which the `right` columns after it take; the compiler knows how many.
RITZ_INLINE void ritz_reflect_column(int right, RitzView A, int rows, int j, RitzVec *tau) {
  const RitzReflector h = ritz_reflector(A, rows, j);
  RitzVec sum[RITZ_TILE];

  RITZ_AT(A, j, j) = h.beta;
  tau[j] = h.tau;
  RITZ_UNROLL for (int c = 0; c < right; c++) sum[c] = RITZ_AT(A, j, j + 1 + c);
  for (int r = j + 1; r < rows; r++) {
    const RitzVec v = ritz_quotient(RITZ_AT(A, r, j), &h.unit) * h.inverse;

    RITZ_AT(A, r, j) = v;
    RITZ_UNROLL for (int c = 0; c < right; c++) sum[c] += v * RITZ_AT(A, r, j + 1 + c);
  }
  RITZ_UNROLL for (int c = 0; c < right; c++) {
    sum[c] *= h.tau;
    RITZ_AT(A, j, j + 1 + c) -= sum[c];
  }
  for (int r = j + 1; r < rows && right > 0; r++) {
    const RitzVec v = RITZ_AT(A, r, j);
    RITZ_UNROLL for (int c = 0; c < right; c++) RITZ_AT(A, r, j + 1 + c) -= v * sum[c];
  }
}

// T from the products of the columns of V.
RITZ_INLINE void ritz_reflectors_combine(const RitzVec *tau, RitzReflectors *p) {
  RitzVec g[RITZ_TILE][RITZ_TILE];

  RITZ_UNROLL for (int a = 0; a < RITZ_TILE; a++) {
    RITZ_UNROLL for (int b = 0; b < RITZ_TILE; b++) g[a][b] = p->t[a][b] = ritz_splat(0);
  }
  for (int r = 0; r < p->rows; r++) {
    RITZ_UNROLL for (int a = 0; a < RITZ_TILE; a++) {
      RITZ_UNROLL for (int b = a + 1; b < RITZ_TILE; b++) g[a][b] += p->v[r][a] * p->v[r][b];
    }
  }
  RITZ_UNROLL for (int b = 0; b < RITZ_TILE; b++) {
    p->t[b][b] = tau[b];
    RITZ_UNROLL for (int a = 0; a < b; a++) {
      RitzVec sum = ritz_splat(0);
      RITZ_UNROLL for (int c = a; c < b; c++) sum += p->t[a][c] * g[c][b];
      p->t[a][b] = -tau[b] * sum;
    }
  }
}

// Reflectors first .. first + num - 1, up to RITZ_TILE, of the columns of A, which has so many rows.
RITZ_INLINE void ritz_reflectors_take(RitzView A, int rows, int first, int num, const RitzVec *tau,
                                      RitzReflectors *p) {
  const RitzView own = ritz_view_from(A, first, first);
  RitzVec factors[RITZ_TILE];

  p->first = first;
  p->rows = rows - first;
  RITZ_UNROLL for (int i = 0; i < RITZ_TILE; i++) {
    factors[i] = i < num ? tau[first + i] : ritz_splat(0);
    for (int r = 0; r < p->rows; r++) {
      p->v[r][i] = ritz_splat(i < num && r == i);
      if (i < num && r > i) p->v[r][i] = RITZ_AT(own, r, i);
    }
  }
  ritz_reflectors_combine(factors, p);
}

// ---- Application ----

// C := H_1 H_2 ... C, or the transpose of that, for `cols` columns, which the compiler knows, from column j
// on.
RITZ_INLINE void ritz_reflectors_tile(int cols, bool is_back, const RitzReflectors *p, RitzView C, int j) {
  const RitzView own = ritz_view_from(C, p->first, j);
  RitzTile w, u;

  ritz_tile_clear(RITZ_TILE, cols, w);
  for (int r = 0; r < p->rows; r++) {
    RitzVec c[RITZ_TILE];

    RITZ_UNROLL for (int k = 0; k < cols; k++) {
      c[k] = RITZ_AT(own, r, k);
      RITZ_KEEP(c[k]);
    }
    RITZ_UNROLL for (int i = 0; i < RITZ_TILE; i++) {
      RitzVec v = p->v[r][i];
      RITZ_KEEP(v);
      RITZ_UNROLL for (int k = 0; k < cols; k++) w[i][k] += v * c[k];
    }
  }
  ritz_tile_clear(RITZ_TILE, cols, u);
  RITZ_UNROLL for (int i = 0; i < RITZ_TILE; i++) {
    RITZ_UNROLL for (int a = 0; a < RITZ_TILE; a++) {
      if (is_back ? a < i : a > i) continue;
      const RitzVec t = is_back ? p->t[i][a] : p->t[a][i];
      RITZ_UNROLL for (int k = 0; k < cols; k++) u[i][k] += t * w[a][k];
    }
  }
  for (int r = 0; r < p->rows; r++) {
    RITZ_UNROLL for (int k = 0; k < cols; k++) {
      RitzVec c = RITZ_AT(own, r, k);
      RITZ_KEEP(c);
      RITZ_UNROLL for (int i = 0; i < RITZ_TILE; i++) c -= p->v[r][i] * u[i][k];
      RITZ_AT(own, r, k) = c;
    }
  }
}

// Columns begin .. end - 1; the compiler knows `rest`, how many the last tile has, or 0.
RITZ_INLINE void ritz_reflectors_apply(bool is_back, int rest, const RitzReflectors *p, RitzView C, int begin,
                                       int end) {
  int j = begin;

  for (; j + RITZ_TILE <= end; j += RITZ_TILE) ritz_reflectors_tile(RITZ_TILE, is_back, p, C, j);
  if (rest && j < end) ritz_reflectors_tile(rest, is_back, p, C, j);
}

// C := Q C or Q^T C, C has `columns` columns; `steps` reflectors in A with `rows` rows.
RITZ_INLINE void ritz_apply_q(bool is_back, int rest, RitzView A, int rows, int steps, const RitzVec *tau,
                              RitzView C, int columns, RitzReflectors *p) {
  const int last = (steps - 1) / RITZ_TILE * RITZ_TILE;

  for (int done = 0; done <= last; done += RITZ_TILE) {
    const int first = is_back ? last - done : done, left = steps - first;

    ritz_reflectors_take(A, rows, first, left < RITZ_TILE ? left : RITZ_TILE, tau, p);
    ritz_reflectors_apply(is_back, rest, p, C, 0, columns);
  }
}

// ---- Factorization ----

RITZ_INLINE void ritz_qr_panel(int cols, RitzView A, int rows, int columns, int rest, int first, int num,
                               RitzVec *tau, RitzReflectors *p) {
  RITZ_UNROLL for (int c = 0; c < cols; c++) {
    if (c < num) ritz_reflect_column(cols - 1 - c, A, rows, first + c, tau);
  }
  if (first + cols >= columns) return;
  ritz_reflectors_take(A, rows, first, num, tau, p);
  ritz_reflectors_apply(false, rest, p, A, first + cols, columns);
}

// A = Q R, rows x columns; tau [steps]. The compiler knows `rest`, columns % RITZ_TILE of sizes that it
// knows.
RITZ_INLINE void ritz_qr(RitzView A, int rows, int columns, int rest, RitzVec *tau, RitzReflectors *p) {
  const int steps = rows < columns ? rows : columns;

  for (int first = 0; first < steps; first += RITZ_TILE) {
    const int num = steps - first < RITZ_TILE ? steps - first : RITZ_TILE;

    if (first + RITZ_TILE <= columns)
      ritz_qr_panel(RITZ_TILE, A, rows, columns, rest, first, num, tau, p);
    else if (rest)
      ritz_qr_panel(rest, A, rows, columns, rest, first, num, tau, p);
  }
}

#endif
