// SPDX-License-Identifier: BSD-2-Clause
// Cholesky factorization A = L L^T of a small dense matrix (Golub & Van Loan, Matrix Computations, 4.2), and
// the solution with it. Called through the table of solver/direct.h.
#include <math.h>
#include <stdio.h>

#include "solver/direct.h"

enum { PANEL = 32 }; // columns that are factorized before they are subtracted from those right of them

static const char *why_not(void) { return NULL; }

// Lower triangle by columns, L[j * n + i] for i >= j.
static void fill_lower(const RitzMatrix *a, double *L) {
  for (int64_t i = 0; i < a->n; i++) {
    for (int64_t k = a->starts[i]; k < a->starts[i + 1] && a->cols[k] <= i; k++) {
      L[a->cols[k] * a->n + i] = a->values[k];
    }
  }
}

// column[i] -= sum over the columns p = first .. end - 1 of L[i][p] L[j][p], i = j .. n - 1; four at once.
static void subtract_columns(int64_t n, const double *L, int64_t first, int64_t end, int64_t j,
                             double *restrict column) {
  int64_t p = first;
  for (; p + 4 <= end; p += 4) {
    const double *const a = L + p * n, *const b = a + n, *const c = b + n, *const d = c + n;
    const double fa = a[j], fb = b[j], fc = c[j], fd = d[j];
    for (int64_t i = j; i < n; i++) column[i] -= (fa * a[i] + fb * b[i]) + (fc * c[i] + fd * d[i]);
  }
  for (; p < end; p++) {
    const double *const a = L + p * n, fa = a[j];
    for (int64_t i = j; i < n; i++) column[i] -= fa * a[i];
  }
}

// The first column whose pivot is not positive; n: all are.
static int64_t factorize_lower(int64_t n, double *L) {
  for (int64_t first = 0; first < n; first += PANEL) {
    const int64_t end = first + PANEL < n ? first + PANEL : n;
    for (int64_t j = first; j < end; j++) {
      double *column = L + j * n;
      const double before = column[j];
      subtract_columns(n, L, first, j, j, column);
      // A singular matrix leaves rounding errors of either sign as its pivot.
      if (!(column[j] > 4 * 0x1p-52 * fabs(before))) return j;
      const double root = sqrt(column[j]);
      column[j] = root;
      for (int64_t i = j + 1; i < n; i++) column[i] /= root;
    }
    for (int64_t j = end; j < n; j++) subtract_columns(n, L, first, end, j, L + j * n);
  }
  return n;
}

static int factorize_direct_dense(RitzFactorization *f) {
  const int64_t n = f->matrix->n;
  double *L = NULL;
  RITZ_REQUIRE(n < INT64_C(1) << 31, f->matrix->ceed, CEED_ERROR_UNSUPPORTED,
               RITZ_DIRECT_CALL ": %lld unknowns are too many for a dense matrix", (long long)n);
  RITZ_TRY(RITZ_CALLOC(f->matrix->ceed, (size_t)n * (size_t)n, &L));
  f->data = L;
  f->num_bytes = n * n * (int64_t)sizeof(*L);
  f->num_nonzeros = 0.5 * (double)n * (double)(n + 1);
  fill_lower(f->matrix, L);
  const int64_t bad = factorize_lower(n, L);
  if (bad < n)
    ritz_direct_refuse_pivot(f, bad);
  else
    (void)snprintf(f->words, sizeof(f->words), "dense Cholesky factorization");
  return CEED_ERROR_SUCCESS;
}

// Four sums, so that additions do not wait for each other.
static double product(int64_t n, const double *a, const double *b) {
  double sum[4] = {0};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
  }
  for (; i < n; i++) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static int solve_direct_dense(RitzFactorization *f, const double *b, double *restrict x) {
  const int64_t n = f->matrix->n;
  const double *L = f->data;
  for (int64_t i = 0; i < n; i++) x[i] = b[i];
  for (int64_t j = 0; j < n; j++) {
    const double *column = L + j * n, value = x[j] / column[j];
    x[j] = value;
    for (int64_t i = j + 1; i < n; i++) x[i] -= value * column[i];
  }
  for (int64_t j = n - 1; j >= 0; j--) {
    const double *column = L + j * n;
    x[j] = (x[j] - product(n - 1 - j, column + j + 1, x + j + 1)) / column[j];
  }
  return CEED_ERROR_SUCCESS;
}

static void destroy_direct_dense(RitzFactorization *f) { RITZ_FREE(&f->data); }

const RitzDirectMethods ritz_direct_dense = {.kind = RITZ_DIRECT_DENSE,
                                             .is_symmetric = true,
                                             .why_not = why_not,
                                             .factorize = factorize_direct_dense,
                                             .solve = solve_direct_dense,
                                             .destroy = destroy_direct_dense};
