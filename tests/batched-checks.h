// SPDX-License-Identifier: BSD-2-Clause
// Fillings of batches and checks of residuals that several tests of batched dense algebra share; u is the
// roundoff of the precision. Included by tests/test-batched*.c.
#ifndef RITZ_TESTS_BATCHED_CHECKS_H
#define RITZ_TESTS_BATCHED_CHECKS_H

#include "tests/batched-kit.h"

#define SERVED(operation)                                                                                    \
  do {                                                                                                       \
    if (!batch_serves(ceed, operation)) NOT_FOR_THIS_BACKEND("no kernels for this batched operation");       \
  } while (0)

static inline int first_not_zero(const int32_t *info, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (info[i] != 0) return (int)i;
  }
  return -1;
}

// ---- Cholesky ----

// A = R R^T / n + I for a random R, in one triangle; the other one is NaN.
static inline void fill_positive(BatchCase *c, const Batch *A, bool is_lower) {
  for (int64_t i = 0; i < c->count; i++) {
    const int64_t n = batch_m(A, i);
    double *R = malloc((size_t)(n * n + 1) * sizeof(*R));

    for (int64_t j = 0; j < n * n; j++) R[j] = tap_uniform(&c->state);
    double *product = dense_product(R, n, false, R, n, true, n, n, n);
    for (int64_t col = 0; col < n; col++) {
      for (int64_t row = 0; row < n; row++) {
        if (is_lower ? row < col : row > col) continue;
        batch_set(A, i, row, col, product[row + col * n] / (double)n + (row == col));
      }
    }
    free(R), free(product);
  }
}

// The symmetric matrix of which A has one triangle; owned by the caller.
static inline double *symmetric(const Batch *A, int64_t i, bool is_lower) {
  const int64_t n = batch_m(A, i);
  double *matrix = batch_matrix(A, i);

  for (int64_t col = 0; col < n; col++) {
    for (int64_t row = 0; row < col; row++) {
      if (is_lower)
        matrix[row + col * n] = matrix[col + row * n];
      else
        matrix[col + row * n] = matrix[row + col * n];
    }
  }
  return matrix;
}

// |A - L L^T|_1 <= 10 n u |A|_1, or U^T U.
static inline void check_cholesky(const BatchCase *c, const Batch *A0, const Batch *F, bool is_lower) {
  for (int64_t i = 0; i < c->count; i++) {
    const int64_t n = batch_m(F, i);
    double *a = symmetric(A0, i, is_lower), *f = batch_matrix(F, i);

    dense_keep_triangle(f, n, n, is_lower, false);
    double *product = dense_product(f, n, !is_lower, f, n, is_lower, n, n, n);
    const double residual = dense_distance(product, a, n, n), size = dense_norm(a, n, n);

    free(a), free(f), free(product);
    CHECK(residual <= 10 * (double)n * c->u * size, "matrix %d: residual %g, size %g", (int)i, residual,
          size);
  }
}

// |B0 - op(A) X|_1 <= 10 n u (|A|_1 |X|_1 + |B0|_1)
static inline void check_solution(const BatchCase *c, int64_t i, const double *a, bool ta, const Batch *X,
                                  const Batch *B0) {
  const int64_t n = batch_m(X, i), k = batch_n(X, i);
  double *x = batch_matrix(X, i), *b = batch_matrix(B0, i);
  double *product = dense_product(a, n, ta, x, n, false, n, k, n),
         *transposed = malloc((size_t)(n * n + 1) * 8);

  for (int64_t j = 0; j < n * n; j++) transposed[j / n + j % n * n] = a[j];
  const double residual = dense_distance(product, b, n, k);
  const double bound = 10 * (double)n * c->u *
                       (dense_norm(ta ? transposed : a, n, n) * dense_norm(x, n, k) + dense_norm(b, n, k));
  free(x), free(b), free(product), free(transposed);
  CHECK(residual <= bound, "matrix %d: residual %g, bound %g", (int)i, residual, bound);
}

// ---- LU ----

// |P A - L U|_1 <= 10 n u |A|_1 for A m x n; with pivots |l_ij| <= 1. ipiv NULL: none.
static inline void check_lu(const BatchCase *c, int64_t i, const Batch *A0, const Batch *F,
                            const int32_t *ipiv) {
  const int64_t m = batch_m(F, i), n = batch_n(F, i), k = m < n ? m : n;
  double *a = batch_matrix(A0, i), *l = batch_matrix(F, i), *u = batch_matrix(F, i), largest = 0;
  bool is_valid = true;

  for (int64_t step = 0; step < k && ipiv; step++) {
    const int64_t row = ipiv[step] - 1;

    is_valid = is_valid && row >= step && row < m;
    for (int64_t col = 0; col < n && is_valid; col++) {
      const double kept = a[step + col * m];
      a[step + col * m] = a[row + col * m];
      a[row + col * m] = kept;
    }
  }
  dense_keep_triangle(l, m, k, true, true);
  dense_keep_triangle(u, m, n, false, false);
  for (int64_t j = 0; j < m * k; j++) largest = fmax(largest, fabs(l[j]));
  double *product = dense_product(l, m, false, u, m, false, m, n, k);
  const double residual = dense_distance(product, a, m, n), size = dense_norm(a, m, n);
  free(a), free(l), free(u), free(product);
  CHECK(is_valid, "matrix %d: a pivot is not one of the rows that are left", (int)i);
  CHECK(!ipiv || largest <= 1, "matrix %d: an entry of L is %.17g", (int)i, largest);
  CHECK(residual <= 10 * (double)(m > n ? m : n) * c->u * size, "matrix %d: residual %g, size %g", (int)i,
        residual, size);
}

// Without pivots the diagonal dominates.
static inline void fill_for_lu(BatchCase *c, const Batch *A, bool pivots) {
  batch_fill_random(A, 1, &c->state);
  for (int64_t i = 0; i < c->count && !pivots; i++) {
    for (int64_t j = 0; j < batch_m(A, i) && j < batch_n(A, i); j++)
      batch_set(A, i, j, j, batch_get(A, i, j, j) + (double)(batch_m(A, i) + batch_n(A, i)));
  }
}

// ---- A call and what it was given ----

// Operands of one call: `before` has what is given, `now` what came back.
typedef struct {
  BatchCase *c;
  BatchRun run;
  Batch before[3], now[3];
  int num_operands;
  int32_t info[BATCH_MAX_COUNT], *ipiv; // owned; zeros
} Trial;

// dims [num_operands]: rows and columns of operands, as of batch_make_operand.
static inline void trial_make(BatchCase *c, RitzBatchedOperation operation, RitzBatchedOptions options,
                              int num_operands, const int (*dims)[2], Trial *t) {
  const int64_t num_ipiv = c->count * c->bound[BATCH_LARGEST];

  *t = (Trial){.c = c, .num_operands = num_operands};
  t->ipiv = calloc((size_t)num_ipiv + 1, sizeof(*t->ipiv));
  if (!t->ipiv) abort();
  t->run = (BatchRun){.operation = operation, .options = options, .alpha = 1};
  t->run.info = t->info;
  for (int o = 0; o < num_operands; o++) {
    batch_make_operand(c, dims[o][0], dims[o][1], &t->before[o]);
    batch_make_operand(c, dims[o][0], dims[o][1], &t->now[o]);
    t->run.operand[o] = &t->now[o];
  }
  if (operation == RITZ_BATCHED_GESV || operation == RITZ_BATCHED_LASWP) {
    t->run.ipiv = t->ipiv;
    t->run.num_ipiv = c->count * c->bound[operation == RITZ_BATCHED_GESV ? BATCH_N : BATCH_M];
  }
}

static inline void trial_free(Trial *t) {
  for (int o = 0; o < t->num_operands; o++) batch_free(&t->before[o]), batch_free(&t->now[o]);
  free(t->ipiv);
}

static inline bool trial_has_info(const Trial *t) {
  switch (t->run.operation) {
  case RITZ_BATCHED_GESV:
  case RITZ_BATCHED_POSV:
  case RITZ_BATCHED_GEQRF:
  case RITZ_BATCHED_ORMQR:
  case RITZ_BATCHED_ORGQR:
  case RITZ_BATCHED_GELS:
  case RITZ_BATCHED_SYEVJ:
  case RITZ_BATCHED_GESVDJ: return true;
  default: return false;
  }
}

// The call on copies of `before`: succeeds, writes these parts of operands and nothing else.
static inline bool trial_run(Trial *t, const BatchPart *parts) {
  for (int o = 0; o < t->num_operands; o++) batch_copy(&t->now[o], &t->before[o]);
  memset(t->info, 0xff, sizeof(t->info));
  const int ierr = batch_run(t->c->ceed, &t->run);
  if (!tap_check_ok(ierr, __FILE__, __LINE__, "the call")) return false;
  for (int o = 0; o < t->num_operands; o++)
    tap_check(batch_changed_only(&t->now[o], parts[o]), __FILE__, __LINE__, "guards",
              "operand %c: something has changed that is not the result", 'A' + o);
  return !tap_failed();
}

// The same, and info is 0 for all.
static inline bool trial_succeeds(Trial *t, const BatchPart *parts) {
  if (!trial_run(t, parts)) return false;
  const int bad = trial_has_info(t) ? first_not_zero(t->info, t->c->count) : -1;
  tap_check(bad < 0, __FILE__, __LINE__, "info", "info of matrix %d is %d", bad,
            bad < 0 ? 0 : (int)t->info[bad]);
  return !tap_failed();
}

// ---- Dense matrices ----

// |I - Q^T Q|_1 of m x n.
static inline double dense_loss_of_orthogonality(const double *Q, int64_t m, int64_t n) {
  double *product = dense_product(Q, m, true, Q, m, false, n, n, m);

  for (int64_t j = 0; j < n; j++) product[j + j * n] -= 1;
  const double norm = dense_norm(product, n, n);
  free(product);
  return norm;
}

static inline double *dense_transpose(const double *A, int64_t m, int64_t n) {
  double *T = malloc((size_t)(m * n + 1) * sizeof(*T));

  if (!T) abort();
  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < m; r++) T[c + r * n] = A[r + c * m];
  }
  return T;
}

// One of its triangles is random, the other one NaN.
static inline void fill_one_triangle(const Batch *A, bool is_lower, uint64_t *state) {
  for (int64_t i = 0; i < A->count; i++) {
    for (int64_t c = 0; c < batch_n(A, i); c++) {
      for (int64_t r = 0; r < batch_m(A, i); r++) {
        if (is_lower ? r >= c : r <= c) batch_set(A, i, r, c, tap_uniform(state));
      }
    }
  }
}

#endif
