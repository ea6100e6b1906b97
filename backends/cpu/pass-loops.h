// SPDX-License-Identifier: BSD-2-Clause
// Loops of a pass over a block of entries. Included by backends/cpu/pass.c once for each precision of the
// arithmetic, with RITZ_REAL, its type, and RITZ_LOOP(name).

// to = f x + g y, where `to` may be x or y.
RITZ_INLINED void RITZ_LOOP(add_two)(int64_t n, RITZ_REAL f, const RITZ_REAL *x, RITZ_REAL g,
                                     const RITZ_REAL *y, RITZ_REAL *to) {
  RITZ_REAL *restrict w = to;
  const RITZ_REAL *restrict u = x, *restrict v = y;
  if (to == x && to == y) {
    for (int64_t i = 0; i < n; i++) w[i] = f * w[i] + g * w[i];
  } else if (to == x) {
    for (int64_t i = 0; i < n; i++) w[i] = f * w[i] + g * v[i];
  } else if (to == y) {
    for (int64_t i = 0; i < n; i++) w[i] = f * u[i] + g * w[i];
  } else {
    for (int64_t i = 0; i < n; i++) w[i] = f * u[i] + g * v[i];
  }
}

// acc = f x (y), or acc += where `adds`.
RITZ_INLINED void RITZ_LOOP(add_term)(int64_t n, bool adds, RITZ_REAL f, const RITZ_REAL *restrict x,
                                      const RITZ_REAL *restrict y, RITZ_REAL *restrict acc) {
  if (y) {
    if (adds)
      for (int64_t i = 0; i < n; i++) acc[i] += f * (x[i] * y[i]);
    else
      for (int64_t i = 0; i < n; i++) acc[i] = f * (x[i] * y[i]);
  } else {
    if (adds)
      for (int64_t i = 0; i < n; i++) acc[i] += f * x[i];
    else
      for (int64_t i = 0; i < n; i++) acc[i] = f * x[i];
  }
}

// Partial sums of the products x y (w) of n entries, a multiple of eight; w == NULL stands for ones.
RITZ_INLINED void RITZ_LOOP(multiply)(double *part, int64_t n, const RITZ_REAL *x, const RITZ_REAL *y,
                                      const RITZ_REAL *w) {
  for (int64_t i = 0; i < n; i += RITZ_SUM_WIDTH) {
    if (w) {
      for (int l = 0; l < RITZ_SUM_WIDTH; l++) part[l] += (double)x[i + l] * y[i + l] * w[i + l];
    } else {
      for (int l = 0; l < RITZ_SUM_WIDTH; l++) part[l] += (double)x[i + l] * y[i + l];
    }
  }
}

// Whole blocks have a loop of their own, in which all sums stay in registers.
RITZ_INLINED void RITZ_LOOP(add_products)(RitzSum *sum, int64_t n, const RITZ_REAL *x, const RITZ_REAL *y,
                                          const RITZ_REAL *w) {
  const int64_t whole = n - n % RITZ_SUM_BLOCK, even = n - n % RITZ_SUM_WIDTH;
  RitzSum mine = *sum;

  for (int64_t i = 0; i < whole; i += RITZ_SUM_BLOCK) {
    double part[RITZ_SUM_WIDTH] = {0};
    RITZ_LOOP(multiply)(part, RITZ_SUM_BLOCK, x + i, y + i, w ? w + i : NULL);
    ritz_sum_add(&mine, part);
  }
  if (whole < n) {
    double part[RITZ_SUM_WIDTH] = {0};
    RITZ_LOOP(multiply)(part, even - whole, x + whole, y + whole, w ? w + whole : NULL);
    for (int64_t i = even; i < n; i++) part[i - even] += (double)x[i] * y[i] * (w ? w[i] : 1);
    ritz_sum_add(&mine, part);
  }
  *sum = mine;
}
