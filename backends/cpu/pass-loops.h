// SPDX-License-Identifier: BSD-2-Clause
// Loops of a pass over a block of entries. Included by backends/cpu/pass.c once for each precision of the
// arithmetic, with RITZ_REAL, its type, and RITZ_LOOP(name).

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

// Partial sums of the products x y (w); the last terms of a block that is not whole follow.
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

RITZ_INLINED void RITZ_LOOP(add_products)(RitzSum *sum, int64_t n, const RITZ_REAL *x, const RITZ_REAL *y,
                                          const RITZ_REAL *w) {
  for (int64_t begin = 0; begin < n; begin += RITZ_SUM_BLOCK) {
    const int64_t left = n - begin;
    const RITZ_REAL *weight = w ? w + begin : NULL;
    double part[RITZ_SUM_WIDTH] = {0};
    if (left >= RITZ_SUM_BLOCK) { // a loop of its own, whose sums stay in registers
      RITZ_LOOP(multiply)(part, RITZ_SUM_BLOCK, x + begin, y + begin, weight);
    } else {
      const int64_t whole = left - left % RITZ_SUM_WIDTH;
      RITZ_LOOP(multiply)(part, whole, x + begin, y + begin, weight);
      for (int64_t i = whole; i < left; i++)
        part[i - whole] += (double)x[begin + i] * y[begin + i] * (weight ? weight[i] : 1);
    }
    ritz_sum_add(sum, part);
  }
}
