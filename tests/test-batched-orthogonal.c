// SPDX-License-Identifier: BSD-2-Clause
// Batched QR factors, least squares, eigenvalues and singular values: residuals and orthogonality in every
// layout and precision, and what each leaves alone. u is the roundoff of the precision.
#include "tests/batched-checks.h"

#define DIMS(...)  ((const int[][2]){__VA_ARGS__})
#define PARTS(...) ((const BatchPart[]){__VA_ARGS__})

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// Matrices of all kinds that are special, one of each in a batch.
typedef enum { ZERO, ONES, DIAGONAL, GRADED, HILBERT, HUGE_ENTRIES, TINY_ENTRIES, UNEQUAL, NUM_KINDS } Kind;

static double special_entry(Kind kind, CeedScalarType precision, int64_t r, int64_t c, uint64_t *state) {
  const double exponent = precision == CEED_SCALAR_FP32 ? 110 : 1000, random = tap_uniform(state);

  switch (kind) {
  case ZERO: return 0;
  case ONES: return 1;
  case DIAGONAL: return r == c ? (double)(r * 5 % 7) - 2 : 0;
  case GRADED: return random * exp2(-(double)(r + c));
  case HILBERT: return 1 / (double)(r + c + 1);
  // Squares are out of the range of numbers.
  case HUGE_ENTRIES: return random * exp2(exponent);
  case TINY_ENTRIES: return random * exp2(-exponent);
  // Quotients of columns' lengths are at the end of the range.
  default: return random * exp2((c % 2 ? -1 : 1) * (precision == CEED_SCALAR_FP32 ? 63 : 511));
  }
}

static void fill_special(BatchCase *c, const Batch *A) {
  for (int64_t i = 0; i < NUM_KINDS; i++) {
    for (int64_t col = 0; col < batch_n(A, i); col++) {
      for (int64_t r = 0; r < batch_m(A, i); r++)
        batch_set(A, i, r, col, special_entry((Kind)i, c->precision, r, col, &c->state));
    }
  }
}

// The test on batches of these in two layouts and both precisions.
static void for_special(Ceed ceed, void (*test)(BatchCase *c)) {
  for (int form = 0; form < 4 && !tap_failed(); form++) {
    const CeedScalarType precision = form & 1 ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64;
    BatchCase c = {.ceed = ceed,
                   .precision = precision,
                   .u = batch_roundoff(precision),
                   .form = form & 2 ? BATCH_WIDE8 : BATCH_PADDED,
                   .n = 12,
                   .count = NUM_KINDS,
                   .state = 77};
    test(&c);
  }
}

// ---- QR ----

// Q = H_1 ... H_k of order m, in double, from reflectors as GEQRF stores them; owned by the caller.
static double *make_q(const Batch *A, const Batch *tau, int64_t i, int64_t m, int64_t k) {
  double *Q = calloc((size_t)(m * m + 1), sizeof(*Q));

  if (!Q) abort();
  for (int64_t j = 0; j < m; j++) Q[j + j * m] = 1;
  for (int64_t j = k - 1; j >= 0; j--) {
    for (int64_t c = 0; c < m; c++) {
      long double sum = Q[j + c * m];

      for (int64_t r = j + 1; r < m; r++) sum += (long double)batch_get(A, i, r, j) * Q[r + c * m];
      sum *= batch_get(tau, i, j, 0);
      Q[j + c * m] -= (double)sum;
      for (int64_t r = j + 1; r < m; r++) Q[r + c * m] -= (double)(batch_get(A, i, r, j) * sum);
    }
  }
  return Q;
}

// |A - Q R|_1 <= 10 max(m, n) u |A|_1, |I - Q^T Q|_1 <= 10 max(m, n) u.
static void check_qr(const Trial *t, int64_t i) {
  const int64_t m = batch_m(&t->now[0], i), n = batch_n(&t->now[0], i), k = m < n ? m : n;
  double *a = batch_matrix(&t->before[0], i), *r = batch_matrix(&t->now[0], i);
  double *q = make_q(&t->now[0], &t->now[1], i, m, k);

  dense_keep_triangle(r, m, n, false, false);
  double *product = dense_product(q, m, false, r, m, false, m, n, m);
  const double residual = dense_distance(product, a, m, n), size = dense_norm(a, m, n);
  const double loss = dense_loss_of_orthogonality(q, m, m), bound = 10 * (double)larger(m, n) * t->c->u;
  free(a), free(r), free(q), free(product);
  CHECK(residual <= bound * size, "matrix %d: residual %g, size %g", (int)i, residual, size);
  CHECK(loss <= bound, "matrix %d: |I - Q^T Q| = %g, bound %g", (int)i, loss, bound);
}

static void factorize(BatchCase *c, CeedInt m, CeedInt n, bool is_special) {
  Trial t;

  batch_draw_sizes(c, m, n, 0);
  trial_make(c, RITZ_BATCHED_GEQRF, (RitzBatchedOptions){.num_pivots = 0}, 2,
             DIMS({BATCH_M, BATCH_N}, {BATCH_LEAST, BATCH_ONE}), &t);
  if (is_special)
    fill_special(c, &t.before[0]);
  else
    batch_fill_random(&t.before[0], 1, &c->state);
  if (trial_succeeds(&t, PARTS(BATCH_ALL, BATCH_ALL))) {
    for (int64_t i = 0; i < c->count && !tap_failed(); i++) check_qr(&t, i);
  }
  trial_free(&t);
}
// Costs grow with n^3 and by sweeps: of the larger sizes every eighth, unless all are asked for.
static bool is_left_out(const BatchCase *c) {
  return tap_level() < TAP_EXHAUSTIVE && c->n > 24 && c->n % 8 != 1;
}

static void geqrf_case(BatchCase *c) {
  if (is_left_out(c)) return;
  factorize(c, c->n, c->n, false);
  if (!tap_failed()) factorize(c, 2 * c->n + 1, c->n, false);
  if (!tap_failed()) factorize(c, c->n, c->n + 3, false);
}
static void special_qr(BatchCase *c) {
  factorize(c, 17, 12, true);
  if (!tap_failed()) factorize(c, 12, 17, true);
}
TEST_EACH_BACKEND(qr_factors_multiply_to_the_matrix_and_q_is_orthogonal) {
  SERVED(RITZ_BATCHED_GEQRF);
  batch_for_cases(ceed, geqrf_case);
  CHECK(true, "all cases");
}
TEST_EACH_BACKEND(qr_factors_of_special_matrices_are_as_good) {
  SERVED(RITZ_BATCHED_GEQRF);
  for_special(ceed, special_qr);
  CHECK(true, "all cases");
}

// ---- Q ----

// Random vectors of reflectors below the diagonal, factors that make them orthogonal; above: random.
static void fill_reflectors(BatchCase *c, const Batch *A, const Batch *tau) {
  batch_fill_random(A, 1, &c->state);
  for (int64_t i = 0; i < c->count; i++) {
    for (int64_t j = 0; j < batch_m(tau, i); j++) {
      double sum = 1;

      for (int64_t r = j + 1; r < batch_m(A, i) && j < batch_n(A, i); r++)
        sum += batch_get(A, i, r, j) * batch_get(A, i, r, j);
      batch_set(tau, i, j, 0, 2 / sum);
    }
  }
}

// |C - op(Q) C0|_1 <= 10 order u |Q|_1 |C0|_1, or of C0 op(Q).
static void apply_q(BatchCase *c, bool is_left, bool is_transposed, CeedInt k) {
  const RitzBatchedOptions options = {.side = is_left ? RITZ_SIDE_LEFT : RITZ_SIDE_RIGHT,
                                      .trans_a = is_transposed ? CEED_TRANSPOSE : CEED_NOTRANSPOSE};
  const int order = is_left ? BATCH_M : BATCH_N;
  Trial t;

  batch_draw_sizes(c, is_left ? c->n : c->n / 2 + 1, is_left ? c->n / 2 + 1 : c->n, k);
  batch_limit_sizes(c, BATCH_K, order);
  trial_make(c, RITZ_BATCHED_ORMQR, options, 3,
             DIMS({order, BATCH_K}, {BATCH_K, BATCH_ONE}, {BATCH_M, BATCH_N}), &t);
  fill_reflectors(c, &t.before[0], &t.before[1]);
  batch_fill_random(&t.before[2], 1, &c->state);
  if (trial_succeeds(&t, PARTS(BATCH_NOTHING, BATCH_NOTHING, BATCH_ALL))) {
    for (int64_t i = 0; i < c->count && !tap_failed(); i++) {
      const int64_t m = batch_m(&t.now[2], i), n = batch_n(&t.now[2], i), q_order = is_left ? m : n;
      double *q = make_q(&t.before[0], &t.before[1], i, q_order, batch_m(&t.before[1], i));
      double *before = batch_matrix(&t.before[2], i), *now = batch_matrix(&t.now[2], i);
      double *wanted = is_left ? dense_product(q, m, is_transposed, before, m, false, m, n, m)
                               : dense_product(before, m, false, q, n, is_transposed, m, n, n);
      const double error = dense_distance(now, wanted, m, n);
      const double bound =
          10 * (double)q_order * t.c->u * dense_norm(q, q_order, q_order) * dense_norm(before, m, n);

      free(q), free(before), free(now), free(wanted);
      tap_check(error <= bound, __FILE__, __LINE__, "product", "matrix %d, %s%s: error %g, bound %g", (int)i,
                is_left ? "left" : "right", is_transposed ? ", transposed" : "", error, bound);
    }
  }
  trial_free(&t);
}
static void ormqr_case(BatchCase *c) {
  if (is_left_out(c)) return;
  for (int form = 0; form < 4 && !tap_failed(); form++)
    apply_q(c, form & 1, form & 2, form < 2 ? c->n : c->n / 2);
}
TEST_EACH_BACKEND(products_with_q_are_those_of_its_reflectors) {
  SERVED(RITZ_BATCHED_ORMQR);
  batch_for_cases(ceed, ormqr_case);
  CHECK(true, "all cases");
}

// |A - Q (:, 1:n)|_1 <= 10 m u, |I - A^T A|_1 <= 10 m u.
static void make_columns(BatchCase *c, CeedInt m, CeedInt n, CeedInt k) {
  Trial t;

  batch_draw_sizes(c, m, n, k);
  batch_limit_sizes(c, BATCH_N, BATCH_M);
  batch_limit_sizes(c, BATCH_K, BATCH_N);
  trial_make(c, RITZ_BATCHED_ORGQR, (RitzBatchedOptions){.num_pivots = 0}, 2,
             DIMS({BATCH_M, BATCH_N}, {BATCH_K, BATCH_ONE}), &t);
  fill_reflectors(c, &t.before[0], &t.before[1]);
  if (trial_succeeds(&t, PARTS(BATCH_ALL, BATCH_NOTHING))) {
    for (int64_t i = 0; i < c->count && !tap_failed(); i++) {
      const int64_t rows = batch_m(&t.now[0], i), cols = batch_n(&t.now[0], i);
      double *q = make_q(&t.before[0], &t.before[1], i, rows, batch_m(&t.before[1], i));
      double *a = batch_matrix(&t.now[0], i);
      const double error = dense_distance(a, q, rows, cols),
                   loss = dense_loss_of_orthogonality(a, rows, cols);
      const double bound = 10 * (double)rows * c->u;

      free(q), free(a);
      tap_check(error <= bound && loss <= bound, __FILE__, __LINE__, "columns",
                "matrix %d: error %g, |I - Q^T Q| = %g, bound %g", (int)i, error, loss, bound);
    }
  }
  trial_free(&t);
}
static void orgqr_case(BatchCase *c) {
  if (is_left_out(c)) return;
  make_columns(c, c->n, c->n, c->n);
  if (!tap_failed()) make_columns(c, c->n + 5, c->n, c->n / 2);
}
TEST_EACH_BACKEND(columns_of_q_are_those_of_its_reflectors) {
  SERVED(RITZ_BATCHED_ORGQR);
  batch_for_cases(ceed, orgqr_case);
  CHECK(true, "all cases");
}

// ---- Least squares ----

// T = op(A), rows x cols. Full rank: random entries below 1 / (rows + cols) but for ones on the diagonal, so
// that T has a condition below 10.
static void fill_full_rank(BatchCase *c, const Batch *A) {
  batch_fill_random(A, 1, &c->state);
  for (int64_t i = 0; i < c->count; i++) {
    const int64_t m = batch_m(A, i), n = batch_n(A, i);

    for (int64_t col = 0; col < n; col++) {
      for (int64_t row = 0; row < m; row++)
        batch_set(A, i, row, col, batch_get(A, i, row, col) / (double)(m + n) + (row == col));
    }
  }
}

// Least squares: |T^T (T X - B)|_1 <= 20 rows u |T^T|_1 (|T|_1 |X|_1 + |B|_1), and the entries behind X have
// the residual's norm, column by column.
static void check_least_squares(const BatchCase *c, int64_t i, const double *T, int64_t rows, int64_t cols,
                                const Batch *X, const Batch *B) {
  const int64_t k = batch_n(X, i);
  double *x = batch_matrix(X, i), *b = batch_matrix(B, i), *transposed = dense_transpose(T, rows, cols);
  double *r = dense_product(T, rows, false, x, rows, false, rows, k, cols);
  const double u = 20 * (double)(rows + 1) * c->u;
  const double size = dense_norm(T, rows, cols) * dense_norm(x, rows, k) + dense_norm(b, rows, k);
  bool holds = true;

  for (int64_t j = 0; j < rows * k; j++) r[j] -= b[j];
  double *normal = dense_product(T, rows, true, r, rows, false, cols, k, rows);
  const double error = dense_norm(normal, cols, k), bound = u * dense_norm(transposed, cols, rows) * size;
  for (int64_t j = 0; j < k; j++) {
    double squares = 0, rest = 0;

    for (int64_t row = 0; row < rows; row++) squares += r[row + j * rows] * r[row + j * rows];
    for (int64_t row = cols; row < rows; row++) rest += x[row + j * rows] * x[row + j * rows];
    // Without columns all of B becomes zero.
    holds = holds && (cols == 0 ? rest == 0 : fabs(sqrt(squares) - sqrt(rest)) <= u * size);
  }
  free(x), free(b), free(transposed), free(r), free(normal);
  CHECK(error <= bound, "matrix %d: |T^T (T X - B)| = %g, bound %g", (int)i, error, bound);
  CHECK(holds, "matrix %d: what is behind X has another norm than the residual", (int)i);
}

// The solution of least norm is in the range of T^T: B is made from such an X, which comes back.
// |X - X0|_1 <= 100 cols u |X0|_1 where the condition is below 10.
static void make_consistent(BatchCase *c, int64_t i, const double *T, int64_t rows, int64_t cols,
                            const Batch *B, double **solution) {
  const int64_t k = batch_n(B, i);
  double *y = malloc((size_t)(rows * k + 1) * sizeof(*y));

  if (!y) abort();
  for (int64_t j = 0; j < rows * k; j++) y[j] = tap_uniform(&c->state);
  *solution = dense_product(T, rows, true, y, rows, false, cols, k, rows);
  double *b = dense_product(T, rows, false, *solution, cols, false, rows, k, cols);
  for (int64_t j = 0; j < k; j++) {
    for (int64_t r = 0; r < rows; r++) batch_set(B, i, r, j, b[r + j * rows]);
  }
  free(y), free(b);
}

static void check_least_norm(const BatchCase *c, int64_t i, int64_t cols, const Batch *X,
                             const double *solution) {
  const int64_t k = batch_n(X, i);
  double *x = batch_matrix(X, i);
  const double error = dense_distance(x, solution, cols, k);
  const double bound = 100 * (double)cols * c->u * dense_norm(solution, cols, k);

  free(x);
  CHECK(error <= bound, "matrix %d: the solution of least norm is missed by %g, bound %g", (int)i, error,
        bound);
}

static void solve_least_squares(BatchCase *c, CeedInt m, CeedInt n, bool ta) {
  const RitzBatchedOptions options = {.trans_a = ta ? CEED_TRANSPOSE : CEED_NOTRANSPOSE};
  double *T[BATCH_MAX_COUNT], *solution[BATCH_MAX_COUNT] = {NULL};
  Trial t;

  batch_draw_sizes(c, m, n, c->n % 3 + 1);
  trial_make(c, RITZ_BATCHED_GELS, options, 2, DIMS({BATCH_M, BATCH_N}, {BATCH_LARGEST, BATCH_K}), &t);
  fill_full_rank(c, &t.before[0]);
  batch_fill_random(&t.before[1], 1, &c->state);
  for (int64_t i = 0; i < c->count; i++) {
    const int64_t rows = c->size[ta ? BATCH_N : BATCH_M][i], cols = c->size[ta ? BATCH_M : BATCH_N][i];
    double *a = batch_matrix(&t.before[0], i);

    T[i] = ta ? dense_transpose(a, cols, rows) : batch_matrix(&t.before[0], i);
    free(a);
    if (rows < cols) make_consistent(c, i, T[i], rows, cols, &t.before[1], &solution[i]);
  }
  if (trial_succeeds(&t, PARTS(BATCH_ALL, BATCH_ALL))) {
    for (int64_t i = 0; i < c->count && !tap_failed(); i++) {
      const int64_t rows = c->size[ta ? BATCH_N : BATCH_M][i], cols = c->size[ta ? BATCH_M : BATCH_N][i];

      if (solution[i])
        check_least_norm(c, i, cols, &t.now[1], solution[i]);
      else
        check_least_squares(c, i, T[i], rows, cols, &t.now[1], &t.before[1]);
    }
  }
  for (int64_t i = 0; i < c->count; i++) free(T[i]), free(solution[i]);
  trial_free(&t);
}
static void gels_case(BatchCase *c) {
  if (is_left_out(c)) return;
  for (int ta = 0; ta < 2; ta++) {
    if (!tap_failed()) solve_least_squares(c, c->n + 4, c->n, ta);
    if (!tap_failed()) solve_least_squares(c, c->n, c->n + 3, ta);
    if (!tap_failed()) solve_least_squares(c, c->n, c->n, ta);
  }
}
TEST_EACH_BACKEND(least_squares_fulfil_their_normal_equations_and_least_norms_are_found) {
  SERVED(RITZ_BATCHED_GELS);
  batch_for_cases(ceed, gels_case);
  CHECK(true, "all cases");
}

// ---- Eigenvalues ----

// |A V - V diag(w)|_1 <= 10 n u |A|_1, |I - V^T V|_1 <= 10 n u, w ascending.
static void check_eigenvectors(const Trial *t, int64_t i, bool is_lower) {
  const int64_t n = batch_m(&t->now[0], i);
  double *a = symmetric(&t->before[0], i, is_lower), *v = batch_matrix(&t->now[0], i);
  double *product = dense_product(a, n, false, v, n, false, n, n, n);
  bool is_ascending = true;

  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < n; r++) product[r + c * n] -= v[r + c * n] * batch_get(&t->now[1], i, c, 0);
    is_ascending =
        is_ascending && (c == 0 || batch_get(&t->now[1], i, c - 1, 0) <= batch_get(&t->now[1], i, c, 0));
  }
  const double residual = dense_norm(product, n, n), size = dense_norm(a, n, n);
  const double loss = dense_loss_of_orthogonality(v, n, n), bound = 10 * (double)n * t->c->u;
  free(a), free(v), free(product);
  CHECK(residual <= bound * size, "matrix %d: residual %g, size %g", (int)i, residual, size);
  CHECK(loss <= bound, "matrix %d: |I - V^T V| = %g, bound %g", (int)i, loss, bound);
  CHECK(is_ascending, "matrix %d: eigenvalues do not ascend", (int)i);
}

// Values without vectors are those with them, within 10 n u |A|_1 both.
static void check_values(const Trial *all, const Trial *values) {
  for (int64_t i = 0; i < all->c->count; i++) {
    const int64_t n = batch_m(&all->now[1], i), m = batch_m(&all->now[0], i);
    double *a = batch_matrix(&all->before[0], i), *w = batch_matrix(&all->now[1], i);
    double *w_alone = batch_matrix(&values->now[1], i), size = 0, error = 0;

    for (int64_t j = 0; j < m * n; j++) size += isnan(a[j]) ? 0 : fabs(a[j]);
    for (int64_t j = 0; j < n; j++)
      error = fabs(w[j] - w_alone[j]) <= error ? error : fabs(w[j] - w_alone[j]);
    free(a), free(w), free(w_alone);
    CHECK(error <= 20 * (double)n * all->c->u * size, "matrix %d: values without vectors differ by %g",
          (int)i, error);
  }
}

static void find_eigenvalues(BatchCase *c, bool is_lower, bool is_special) {
  const RitzTriangle uplo = is_lower ? RITZ_TRIANGLE_LOWER : RITZ_TRIANGLE_UPPER;
  Trial all, values;

  batch_draw_sizes(c, 0, c->n, 0);
  trial_make(c, RITZ_BATCHED_SYEVJ, (RitzBatchedOptions){.uplo = uplo}, 2,
             DIMS({BATCH_N, BATCH_N}, {BATCH_N, BATCH_ONE}), &all);
  trial_make(c, RITZ_BATCHED_SYEVJ, (RitzBatchedOptions){.uplo = uplo, .vectors = RITZ_VECTORS_NONE}, 2,
             DIMS({BATCH_N, BATCH_N}, {BATCH_N, BATCH_ONE}), &values);
  if (is_special)
    fill_special(c, &all.before[0]);
  else
    fill_one_triangle(&all.before[0], is_lower, &c->state);
  batch_copy(&values.before[0], &all.before[0]);
  if (trial_succeeds(&all, PARTS(BATCH_ALL, BATCH_ALL)) &&
      trial_succeeds(&values, PARTS(is_lower ? BATCH_LOWER : BATCH_UPPER, BATCH_ALL))) {
    for (int64_t i = 0; i < c->count && !tap_failed(); i++) check_eigenvectors(&all, i, is_lower);
    check_values(&all, &values);
    for (int64_t j = 0; j < c->bound[BATCH_N] && is_special; j++) {
      // 0, 5, 10, ... 55 modulo 7, less 2, in order.
      static const double wanted[] = {-2, -2, -1, -1, 0, 1, 1, 2, 3, 3, 4, 4};
      const double found = batch_get(&all.now[1], DIAGONAL, j, 0);

      tap_check(found == wanted[j], __FILE__, __LINE__, "diagonal", "eigenvalue %d is %g", (int)j, found);
    }
  }
  trial_free(&all), trial_free(&values);
}
static void syevj_case(BatchCase *c) {
  if (is_left_out(c)) return;
  find_eigenvalues(c, true, false);
  if (!tap_failed()) find_eigenvalues(c, false, false);
}
static void special_eigenvalues(BatchCase *c) { find_eigenvalues(c, true, true); }
TEST_EACH_BACKEND(eigenvectors_are_orthonormal_and_have_small_residuals) {
  SERVED(RITZ_BATCHED_SYEVJ);
  batch_for_cases(ceed, syevj_case);
  CHECK(true, "all cases");
}
TEST_EACH_BACKEND(eigenvalues_of_special_matrices_are_found) {
  SERVED(RITZ_BATCHED_SYEVJ);
  for_special(ceed, special_eigenvalues);
  CHECK(true, "all cases");
}

// ---- Singular values ----

// |A - U diag(s) V^T|_1 <= 10 m u |A|_1, |I - U^T U|_1 and |I - V^T V|_1 <= 10 m u, s descending from above
// 0.
static void check_singular_vectors(const Trial *t, int64_t i) {
  const int64_t m = batch_m(&t->now[0], i), n = batch_n(&t->now[0], i);
  double *a = batch_matrix(&t->before[0], i), *u = batch_matrix(&t->now[0], i),
         *v = batch_matrix(&t->now[2], i);
  const double loss_u = dense_loss_of_orthogonality(u, m, n), loss_v = dense_loss_of_orthogonality(v, n, n);
  const double bound = 10 * (double)m * t->c->u;
  bool is_descending = true;

  for (int64_t c = 0; c < n; c++) {
    const double s = batch_get(&t->now[1], i, c, 0);

    is_descending = is_descending && s >= 0 && (c == 0 || s <= batch_get(&t->now[1], i, c - 1, 0));
    for (int64_t r = 0; r < m; r++) u[r + c * m] *= s;
  }
  double *product = dense_product(u, m, false, v, n, true, m, n, n);
  const double residual = dense_distance(product, a, m, n), size = dense_norm(a, m, n);
  free(a), free(u), free(v), free(product);
  CHECK(residual <= bound * size, "matrix %d: residual %g, size %g", (int)i, residual, size);
  CHECK(loss_u <= bound && loss_v <= bound, "matrix %d: |I - U^T U| = %g, |I - V^T V| = %g, bound %g", (int)i,
        loss_u, loss_v, bound);
  CHECK(is_descending, "matrix %d: singular values do not descend to 0", (int)i);
}

static void find_singular_values(BatchCase *c, CeedInt m, CeedInt n, bool is_special) {
  Trial all, values;

  batch_draw_sizes(c, m, n, 0);
  batch_limit_sizes(c, BATCH_N, BATCH_M);
  trial_make(c, RITZ_BATCHED_GESVDJ, (RitzBatchedOptions){.vectors = RITZ_VECTORS_ALL}, 3,
             DIMS({BATCH_M, BATCH_N}, {BATCH_N, BATCH_ONE}, {BATCH_N, BATCH_N}), &all);
  trial_make(c, RITZ_BATCHED_GESVDJ, (RitzBatchedOptions){.vectors = RITZ_VECTORS_NONE}, 2,
             DIMS({BATCH_M, BATCH_N}, {BATCH_N, BATCH_ONE}), &values);
  if (is_special)
    fill_special(c, &all.before[0]);
  else
    batch_fill_random(&all.before[0], 1, &c->state);
  batch_copy(&values.before[0], &all.before[0]);
  if (trial_succeeds(&all, PARTS(BATCH_ALL, BATCH_ALL, BATCH_ALL)) &&
      trial_succeeds(&values, PARTS(BATCH_ALL, BATCH_ALL))) {
    for (int64_t i = 0; i < c->count && !tap_failed(); i++) check_singular_vectors(&all, i);
    check_values(&all, &values);
  }
  trial_free(&all), trial_free(&values);
}
static void gesvdj_case(BatchCase *c) {
  if (is_left_out(c)) return;
  find_singular_values(c, c->n, c->n, false);
  if (!tap_failed()) find_singular_values(c, c->n + 6, c->n, false);
}
static void special_singular_values(BatchCase *c) { find_singular_values(c, 15, 12, true); }
TEST_EACH_BACKEND(singular_vectors_are_orthonormal_and_multiply_to_the_matrix) {
  SERVED(RITZ_BATCHED_GESVDJ);
  batch_for_cases(ceed, gesvdj_case);
  CHECK(true, "all cases");
}
TEST_EACH_BACKEND(singular_vectors_are_orthonormal_where_values_are_zero) {
  SERVED(RITZ_BATCHED_GESVDJ);
  for_special(ceed, special_singular_values);
  CHECK(true, "all cases");
}

// Columns e_1, 2^-60 (1/2, 1/2, 1), 2^-e (2^-12, 0, 0, 1), e such that quotients of their lengths over the
// cosine are out of the range of numbers: values 1, 2^-60 sqrt(5/4), 2^-e but for terms below roundoff. A
// criterion that does not look at lengths leaves the second column, wrong by a tenth; one that squares
// lengths loses the third; rotations by tangents of (a / b - b / a) / (2 g) do not end.
static void unequal_columns(BatchCase *c) {
  const int e = c->precision == CEED_SCALAR_FP32 ? 119 : 1015;
  const double entries[5][3] = {
      {1, exp2(-61), exp2(-e - 12)}, {0, exp2(-61), 0}, {0, exp2(-60), 0}, {0, 0, exp2(-e)}};
  const double values[3] = {1, exp2(-60) * sqrt(1.25), exp2(-e)};
  Trial t;

  batch_draw_sizes(c, 5, 3, 0);
  trial_make(c, RITZ_BATCHED_GESVDJ, (RitzBatchedOptions){.vectors = RITZ_VECTORS_ALL}, 3,
             DIMS({BATCH_M, BATCH_N}, {BATCH_N, BATCH_ONE}, {BATCH_N, BATCH_N}), &t);
  for (int64_t i = 0; i < c->count; i++) {
    for (int64_t r = 0; r < 5; r++) {
      for (int64_t j = 0; j < 3; j++) batch_set(&t.before[0], i, r, (j + i) % 3, entries[r][j]);
    }
  }
  const bool is_done = trial_succeeds(&t, PARTS(BATCH_ALL, BATCH_ALL, BATCH_ALL));
  for (int64_t i = 0; i < c->count && is_done; i++) {
    for (int64_t j = 0; j < 3; j++) {
      const double found = batch_get(&t.now[1], i, j, 0);
      CHECK(fabs(found / values[j] - 1) <= 20 * c->u, "matrix %d: value %d is %.17g, not %.17g", (int)i,
            (int)j, found, values[j]);
    }
  }
  trial_free(&t);
}
TEST_EACH_BACKEND(small_singular_values_of_unequal_columns_are_accurate) {
  SERVED(RITZ_BATCHED_GESVDJ);
  for_special(ceed, unequal_columns);
  CHECK(true, "all cases");
}

// ---- Places ----

// Devices work on matrices in shared memory where they fit, those that are played in global memory: here it
// is the other way round.
TEST_EACH_BACKEND(matrices_in_the_other_memory_of_a_device_are_as_good) {
  BatchCase c = {.ceed = ceed,
                 .precision = CEED_SCALAR_FP64,
                 .u = batch_roundoff(CEED_SCALAR_FP64),
                 .form = BATCH_PACKED,
                 .is_ragged = true,
                 .n = 9,
                 .count = 5,
                 .state = 91};

  if (!batch_is_on_gpu(ceed)) NOT_FOR_THIS_BACKEND("has one memory");
  setenv("RITZ_BATCHED_KERNEL", tap_compiles_slowly(ceed) ? "held" : "any", 1);
  factorize(&c, 11, 9, false);
  apply_q(&c, false, true, 9);
  make_columns(&c, 11, 9, 5);
  solve_least_squares(&c, 9, 12, true);
  find_eigenvalues(&c, false, false);
  find_singular_values(&c, 11, 9, false);
  setenv("RITZ_BATCHED_KERNEL", "sizes", 1); // columns in registers
  if (tap_compiles_slowly(ceed)) factorize(&c, 11, 9, false);
  c.count = NUM_KINDS;
  if (tap_compiles_slowly(ceed)) factorize(&c, 9, 11, true);
  unsetenv("RITZ_BATCHED_KERNEL");
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(qr_factors_multiply_to_the_matrix_and_q_is_orthogonal, qr_factors_of_special_matrices_are_as_good,
            products_with_q_are_those_of_its_reflectors, columns_of_q_are_those_of_its_reflectors,
            least_squares_fulfil_their_normal_equations_and_least_norms_are_found,
            eigenvectors_are_orthonormal_and_have_small_residuals, eigenvalues_of_special_matrices_are_found,
            singular_vectors_are_orthonormal_and_multiply_to_the_matrix,
            singular_vectors_are_orthonormal_where_values_are_zero,
            small_singular_values_of_unequal_columns_are_accurate,
            matrices_in_the_other_memory_of_a_device_are_as_good));
}
