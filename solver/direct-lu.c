// SPDX-License-Identifier: BSD-2-Clause
// Dense LU factorization with row exchanges, P A = L U (Golub & Van Loan, Matrix Computations, 3.4), for
// matrices that are not symmetric: Jacobians of convection and of coefficients that depend on the unknown.
// Called through the table of solver/direct.h.
#include <math.h>
#include <stdio.h>

#include "solver/direct.h"

typedef struct {
  double *columns; // owned, [n][n]: U above and on the diagonal, L without its ones below, by columns
  int64_t *rows;   // owned, [n]: the row that step k exchanged with row k
} LU;

static const char *why_not(void) { return NULL; }

// y[i] -= f x[i], first <= i < n
static void subtract(int64_t first, int64_t n, double f, const double *x, double *restrict y) {
  if (f == 0) return;
  for (int64_t i = first; i < n; i++) y[i] -= f * x[i];
}

static void exchange(double *x, int64_t i, int64_t k) {
  const double kept = x[i];
  x[i] = x[k];
  x[k] = kept;
}

// Column by column, each from all before it. The first column without a pivot; n: all have one.
static int64_t factorize_columns(int64_t n, const LU *lu) {
  for (int64_t j = 0; j < n; j++) {
    double *column = lu->columns + j * n, largest = 0;
    int64_t pivot = j;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(column[i]));
    for (int64_t k = 0; k < j; k++) exchange(column, k, lu->rows[k]);
    for (int64_t k = 0; k < j; k++) subtract(k + 1, n, column[k], lu->columns + k * n, column);
    for (int64_t i = j + 1; i < n; i++) {
      if (fabs(column[i]) > fabs(column[pivot])) pivot = i;
    }
    // A singular matrix leaves rounding errors.
    if (!(fabs(column[pivot]) > 4 * 0x1p-52 * largest)) return j;
    lu->rows[j] = pivot;
    for (int64_t k = 0; k <= j; k++) exchange(lu->columns + k * n, j, pivot);
    for (int64_t i = j + 1; i < n; i++) column[i] /= column[j];
  }
  return n;
}

static int factorize_direct_lu(RitzFactorization *f) {
  const RitzMatrix *a = f->matrix;
  const int64_t n = a->n;
  LU *lu = NULL;
  RITZ_REQUIRE(n < INT64_C(1) << 31, a->ceed, CEED_ERROR_UNSUPPORTED,
               RITZ_DIRECT_CALL ": %lld unknowns are too many for a dense matrix", (long long)n);
  RITZ_TRY(RITZ_CALLOC(a->ceed, 1, &lu));
  f->data = lu;
  RITZ_TRY(RITZ_CALLOC(a->ceed, (size_t)n * (size_t)n, &lu->columns));
  RITZ_TRY(RITZ_CALLOC(a->ceed, (size_t)n, &lu->rows));
  f->num_bytes = n * (n + 1) * (int64_t)sizeof(double);
  f->num_nonzeros = (double)n * (double)n;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++) lu->columns[a->cols[k] * n + i] = a->values[k];
  }
  const int64_t bad = factorize_columns(n, lu);
  if (bad == n) {
    (void)snprintf(f->words, sizeof(f->words), "dense LU factorization");
    return CEED_ERROR_SUCCESS;
  }
  f->refusal = RITZ_REFUSED_MATRIX;
  (void)snprintf(f->words, sizeof(f->words), "the matrix is singular (column %lld)",
                 (long long)a->entries[bad]);
  return CEED_ERROR_SUCCESS;
}

static int solve_direct_lu(RitzFactorization *f, const double *b, double *restrict x) {
  const int64_t n = f->matrix->n;
  const LU *lu = f->data;
  for (int64_t i = 0; i < n; i++) x[i] = b[i];
  for (int64_t k = 0; k < n; k++) exchange(x, k, lu->rows[k]);
  for (int64_t k = 0; k < n; k++) subtract(k + 1, n, x[k], lu->columns + k * n, x);
  for (int64_t k = n - 1; k >= 0; k--) {
    const double *column = lu->columns + k * n;
    x[k] /= column[k];
    for (int64_t i = 0; i < k; i++) x[i] -= x[k] * column[i];
  }
  return CEED_ERROR_SUCCESS;
}

static void destroy_direct_lu(RitzFactorization *f) {
  LU *lu = f->data;
  if (!lu) return;
  RITZ_FREE(&lu->columns);
  RITZ_FREE(&lu->rows);
  RITZ_FREE(&f->data);
}

const RitzDirectMethods ritz_direct_lu = {.kind = RITZ_DIRECT_LU,
                                          .why_not = why_not,
                                          .factorize = factorize_direct_lu,
                                          .solve = solve_direct_lu,
                                          .destroy = destroy_direct_lu};
