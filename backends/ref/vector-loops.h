// SPDX-License-Identifier: BSD-2-Clause
// Loops over the entries of vectors. Included by backends/ref/vector.c once for each precision, with
// RITZ_ENTRY, the type of entries, and RITZ_LOOP(name), the name of its loop. Numbers have the type of
// entries.

static void RITZ_LOOP(fill)(CeedSize start, CeedSize stop, CeedSize step, RITZ_ENTRY value, RITZ_ENTRY *x) {
  for (CeedSize i = start; i < stop; i += step) x[i] = value;
}

static void RITZ_LOOP(copy)(CeedSize start, CeedSize stop, CeedSize step, const RITZ_ENTRY *x,
                            RITZ_ENTRY *y) {
  for (CeedSize i = start; i < stop; i += step) y[i] = x[i];
}

// *sum of |x|, and the *largest.
static void RITZ_LOOP(measure)(CeedSize n, const RITZ_ENTRY *x, double *sum, double *largest) {
  for (CeedSize i = 0; i < n; i++) {
    *sum += fabs((double)x[i]);
    if (fabs((double)x[i]) > *largest) *largest = fabs((double)x[i]);
  }
}

static double RITZ_LOOP(sum_squares)(CeedSize n, const RITZ_ENTRY *x, double scale) {
  double sum = 0;
  for (CeedSize i = 0; i < n; i++) sum += ((double)x[i] / scale) * ((double)x[i] / scale);
  return sum;
}

static void RITZ_LOOP(scale)(CeedSize n, RITZ_ENTRY alpha, RITZ_ENTRY *x) {
  for (CeedSize i = 0; i < n; i++) x[i] *= alpha;
}

static void RITZ_LOOP(filter)(CeedSize n, CeedScalar threshold, RITZ_ENTRY *x) {
  for (CeedSize i = 0; i < n; i++) {
    if (fabs((double)x[i]) <= (double)threshold) x[i] = 0;
  }
}

static void RITZ_LOOP(axpby)(CeedSize n, RITZ_ENTRY alpha, RITZ_ENTRY beta, const RITZ_ENTRY *x,
                             RITZ_ENTRY *y) {
  for (CeedSize i = 0; i < n; i++) y[i] = alpha * x[i] + beta * y[i];
}

static void RITZ_LOOP(multiply)(CeedSize n, const RITZ_ENTRY *x, const RITZ_ENTRY *y, RITZ_ENTRY *w) {
  for (CeedSize i = 0; i < n; i++) w[i] = x[i] * y[i];
}

static void RITZ_LOOP(invert)(CeedSize n, RITZ_ENTRY *x) {
  for (CeedSize i = 0; i < n; i++) {
    if (fabs((double)x[i]) > CEED_EPSILON) x[i] = 1 / x[i];
  }
}
