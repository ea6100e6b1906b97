// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra: residuals of every operation in every layout and precision, and what each leaves
// alone. u is the roundoff of the precision; bounds are those of backward stable methods.
#include "tests/batched-checks.h"

// ---- Products ----

static const double factors[][2] = {{1, 0}, {-0.5, 1}, {2, 0.25}, {0, 0.5}, {0, 0}};

// |C - alpha op(A) op(B) - beta C0| <= 2 (k + 3) u (|alpha| |op(A)| |op(B)| + |beta| |C0|), entry by entry.
// beta = 0: C0 is NaN; alpha = 0: A and B are.
static void check_product(const BatchCase *c, const Batch *A, bool ta, const Batch *B, bool tb,
                          const Batch *C, const Batch *C0, const double *factor) {
  for (int64_t i = 0; i < c->count; i++) {
    const int64_t k = ta ? batch_m(A, i) : batch_n(A, i);

    for (int64_t col = 0; col < batch_n(C, i); col++) {
      for (int64_t row = 0; row < batch_m(C, i); row++) {
        long double sum = 0, size = 0;

        for (int64_t p = 0; p < k && factor[0] != 0; p++) {
          const long double a = ta ? batch_get(A, i, p, row) : batch_get(A, i, row, p);
          const long double b = tb ? batch_get(B, i, col, p) : batch_get(B, i, p, col);
          sum += a * b;
          size += fabsl(a * b);
        }
        const long double old = factor[1] != 0 ? batch_get(C0, i, row, col) : 0;
        CHECK_NEAR(batch_get(C, i, row, col), (double)(factor[0] * sum + factor[1] * old),
                   2 * (double)(k + 3) * c->u *
                       (double)(fabs(factor[0]) * size + fabs(factor[1]) * fabsl(old)),
                   "matrix %d, entry (%d, %d), alpha %g, beta %g, transposes %d %d", (int)i, (int)row,
                   (int)col, factor[0], factor[1], ta, tb);
      }
    }
  }
}

// One product with these factors; is_vector: GEMV, of which A is m x n as it is stored.
static void multiply(BatchCase *c, bool is_vector, bool ta, bool tb, const double *factor) {
  Batch A, B, C, C0;
  const BatchRun run = {.operation = is_vector ? RITZ_BATCHED_GEMV : RITZ_BATCHED_GEMM,
                        .options = {.trans_a = ta ? CEED_TRANSPOSE : CEED_NOTRANSPOSE,
                                    .trans_b = tb ? CEED_TRANSPOSE : CEED_NOTRANSPOSE},
                        .alpha = factor[0],
                        .beta = factor[1],
                        .operand = {&A, &B, &C}};

  batch_draw_sizes(c, c->n, (c->n + 3) / 2, c->n > 0 ? c->n - 1 : 2);
  if (is_vector) {
    batch_make_operand(c, BATCH_M, BATCH_N, &A);
    batch_make_operand(c, ta ? BATCH_M : BATCH_N, BATCH_ONE, &B);
    batch_make_operand(c, ta ? BATCH_N : BATCH_M, BATCH_ONE, &C);
    batch_make_operand(c, ta ? BATCH_N : BATCH_M, BATCH_ONE, &C0);
  } else {
    batch_make_operand(c, ta ? BATCH_K : BATCH_M, ta ? BATCH_M : BATCH_K, &A);
    batch_make_operand(c, tb ? BATCH_N : BATCH_K, tb ? BATCH_K : BATCH_N, &B);
    batch_make_operand(c, BATCH_M, BATCH_N, &C);
    batch_make_operand(c, BATCH_M, BATCH_N, &C0);
  }
  if (factor[0] != 0) batch_fill_random(&A, 1, &c->state);
  if (factor[0] != 0) batch_fill_random(&B, 1, &c->state);
  if (factor[1] != 0) batch_fill_random(&C0, 1, &c->state);
  batch_copy(&C, &C0);
  const int ierr = batch_run(c->ceed, &run);
  if (tap_check_ok(ierr, __FILE__, __LINE__, "the product")) {
    check_product(c, &A, ta, &B, tb, &C, &C0, factor);
    tap_check(batch_changed_only(&A, BATCH_NOTHING) && batch_changed_only(&B, BATCH_NOTHING), __FILE__,
              __LINE__, "operands", "A or B has changed");
    tap_check(batch_changed_only(&C, BATCH_ALL), __FILE__, __LINE__, "gaps",
              "something beside the entries of C has changed");
  }
  batch_free(&A), batch_free(&B), batch_free(&C), batch_free(&C0);
}

static void gemm_case(BatchCase *c) {
  for (int t = 0; t < 4 && !tap_failed(); t++)
    multiply(c, false, t & 1, t & 2, factors[(t + c->n + (int)c->form) % 5]);
}
TEST_EACH_BACKEND(entries_of_products_are_sums_of_products) {
  SERVED(RITZ_BATCHED_GEMM);
  batch_for_cases(ceed, gemm_case);
  CHECK(true, "all cases");
}

static void gemv_case(BatchCase *c) {
  for (int t = 0; t < 2 && !tap_failed(); t++)
    multiply(c, true, t & 1, false, factors[(t + c->n + (int)c->form) % 5]);
}
TEST_EACH_BACKEND(matrices_times_vectors_are_sums_of_columns) {
  SERVED(RITZ_BATCHED_GEMV);
  batch_for_cases(ceed, gemv_case);
  CHECK(true, "all cases");
}

// ---- Triangular systems ----

// Off-diagonal entries of size 1/n, so that solutions do not grow; the other triangle, and a diagonal that
// counts as ones, are NaN.
static void fill_triangle(BatchCase *c, const Batch *A, bool is_lower, bool is_unit) {
  for (int64_t i = 0; i < c->count; i++) {
    const int64_t n = batch_m(A, i);

    for (int64_t col = 0; col < n; col++) {
      for (int64_t row = 0; row < n; row++) {
        if (is_lower ? row < col : row > col) continue;
        if (row == col && is_unit) continue;
        const double value = tap_uniform(&c->state);
        batch_set(A, i, row, col, row == col ? 1.5 + value : value / (double)n);
      }
    }
  }
}

// |alpha B0 - op(A) X|_1 <= 10 n u (|A|_1 |X|_1 + |alpha B0|_1), with the transposes of all from the right.
static void check_triangular(const BatchCase *c, const RitzBatchedOptions *o, const Batch *A, const Batch *X,
                             const Batch *B0, double alpha) {
  const bool is_left = o->side == RITZ_SIDE_LEFT, ta = o->trans_a == CEED_TRANSPOSE;

  for (int64_t i = 0; i < c->count; i++) {
    const int64_t m = batch_m(X, i), n = batch_n(X, i), order = is_left ? m : n;
    double *a = batch_matrix(A, i), *x = batch_matrix(X, i), *b = batch_matrix(B0, i);

    dense_keep_triangle(a, order, order, o->uplo == RITZ_TRIANGLE_LOWER, o->diag == RITZ_DIAGONAL_UNIT);
    for (int64_t j = 0; j < m * n; j++) b[j] *= alpha;
    double *product = is_left ? dense_product(a, order, ta, x, m, false, m, n, m)
                              : dense_product(x, m, false, a, n, ta, m, n, n);
    const double residual = dense_distance(product, b, m, n);
    // The norms of a matrix and of its transpose differ by n at most; entries here by much less.
    const double bound = 10 * (double)order * c->u *
                         (4 * dense_norm(a, order, order) * dense_norm(x, m, n) + dense_norm(b, m, n));

    free(a), free(x), free(b), free(product);
    CHECK(residual <= bound, "matrix %d: residual %g, bound %g", (int)i, residual, bound);
  }
}

static void solve_triangular(BatchCase *c, bool is_vector, RitzBatchedOptions options, double alpha) {
  const bool is_left = options.side == RITZ_SIDE_LEFT;
  const int rows = is_vector ? BATCH_N : BATCH_M, order = is_left && !is_vector ? BATCH_M : BATCH_N;
  Batch A, B, B0;
  const BatchRun run = {.operation = is_vector ? RITZ_BATCHED_TRSV : RITZ_BATCHED_TRSM,
                        .options = options,
                        .alpha = alpha,
                        .operand = {&A, &B}};

  if (is_left && !is_vector)
    batch_draw_sizes(c, c->n, c->n / 2 + 1, 0);
  else
    batch_draw_sizes(c, c->n / 2 + 1, c->n, 0);
  batch_make_operand(c, order, order, &A);
  batch_make_operand(c, rows, is_vector ? BATCH_ONE : BATCH_N, &B);
  batch_make_operand(c, rows, is_vector ? BATCH_ONE : BATCH_N, &B0);
  if (alpha != 0)
    fill_triangle(c, &A, options.uplo == RITZ_TRIANGLE_LOWER, options.diag == RITZ_DIAGONAL_UNIT);
  batch_fill_random(&B0, 1, &c->state);
  if (alpha != 0) batch_copy(&B, &B0);
  const int ierr = batch_run(c->ceed, &run);
  if (tap_check_ok(ierr, __FILE__, __LINE__, "the solve")) {
    if (alpha == 0) fill_triangle(c, &A, options.uplo == RITZ_TRIANGLE_LOWER, false), batch_keep(&A);
    check_triangular(c, &options, &A, &B, &B0, alpha);
    tap_check(batch_changed_only(&A, BATCH_NOTHING) && batch_changed_only(&B, BATCH_ALL), __FILE__, __LINE__,
              "guards", "something beside the entries of the result has changed");
  }
  batch_free(&A), batch_free(&B), batch_free(&B0);
}

static RitzBatchedOptions triangular_options(int bits) {
  return (RitzBatchedOptions){.trans_a = bits & 1 ? CEED_TRANSPOSE : CEED_NOTRANSPOSE,
                              .uplo = bits & 2 ? RITZ_TRIANGLE_UPPER : RITZ_TRIANGLE_LOWER,
                              .diag = bits & 4 ? RITZ_DIAGONAL_UNIT : RITZ_DIAGONAL_STORED,
                              .side = bits & 8 ? RITZ_SIDE_RIGHT : RITZ_SIDE_LEFT};
}

static void trsm_case(BatchCase *c) {
  static const double alphas[] = {1, -2, 0};

  for (int bits = 0; bits < 16 && !tap_failed(); bits++) {
    if ((batch_is_on_gpu(c->ceed) || c->n > 70) && (bits + (int)c->form + c->n) % 5 > 0) continue;
    solve_triangular(c, false, triangular_options(bits), alphas[(bits + c->n + (int)c->form) % 3]);
    if (tap_failed()) tap_note("form %d of 16", bits);
  }
}
TEST_EACH_BACKEND(triangular_systems_have_small_residuals_in_sixteen_forms) {
  SERVED(RITZ_BATCHED_TRSM);
  batch_for_cases(ceed, trsm_case);
  CHECK(true, "all cases");
}

static void trsv_case(BatchCase *c) {
  for (int bits = 0; bits < 8 && !tap_failed(); bits++)
    solve_triangular(c, true, triangular_options(bits), 1);
}
TEST_EACH_BACKEND(triangular_systems_of_vectors_have_small_residuals) {
  SERVED(RITZ_BATCHED_TRSV);
  batch_for_cases(ceed, trsv_case);
  CHECK(true, "all cases");
}

// ---- Cholesky ----

static void factorize_and_solve_positive(BatchCase *c, bool is_lower) {
  const RitzBatchedOptions options = {.uplo = is_lower ? RITZ_TRIANGLE_LOWER : RITZ_TRIANGLE_UPPER};
  int32_t info[BATCH_MAX_COUNT];
  Batch A, A0, B, B0;
  const BatchRun factorize = {RITZ_BATCHED_POTRF, options, 1, 0, {&A}, NULL, info, 0};
  const BatchRun solve = {RITZ_BATCHED_POTRS, options, 1, 0, {&A, &B}, NULL, info, 0};

  batch_draw_sizes(c, 0, c->n, c->n % 3 + 1);
  batch_make_operand(c, BATCH_N, BATCH_N, &A);
  batch_make_operand(c, BATCH_N, BATCH_N, &A0);
  batch_make_operand(c, BATCH_N, BATCH_K, &B);
  batch_make_operand(c, BATCH_N, BATCH_K, &B0);
  fill_positive(c, &A0, is_lower);
  batch_copy(&A, &A0);
  batch_fill_random(&B0, 1, &c->state);
  batch_copy(&B, &B0);
  if (tap_check_ok(batch_run(c->ceed, &factorize), __FILE__, __LINE__, "POTRF")) {
    const int bad = first_not_zero(info, c->count);
    tap_check(bad < 0, __FILE__, __LINE__, "info", "info of matrix %d is %d", bad,
              bad < 0 ? 0 : (int)info[bad]);
    tap_check(batch_changed_only(&A, is_lower ? BATCH_LOWER : BATCH_UPPER), __FILE__, __LINE__, "guards",
              "something beside the triangle has changed");
    check_cholesky(c, &A0, &A, is_lower);
  }
  if (batch_serves(c->ceed, RITZ_BATCHED_POTRS) &&
      tap_check_ok(batch_run(c->ceed, &solve), __FILE__, __LINE__, "POTRS")) {
    for (int64_t i = 0; i < c->count; i++) {
      double *a = symmetric(&A0, i, is_lower);
      check_solution(c, i, a, false, &B, &B0);
      free(a);
    }
    tap_check(batch_changed_only(&A, BATCH_NOTHING) && batch_changed_only(&B, BATCH_ALL), __FILE__, __LINE__,
              "guards", "something beside the solution has changed");
  }
  batch_free(&A), batch_free(&A0), batch_free(&B), batch_free(&B0);
}

static void cholesky_case(BatchCase *c) {
  factorize_and_solve_positive(c, true);
  if (!tap_failed()) factorize_and_solve_positive(c, false);
}
TEST_EACH_BACKEND(cholesky_factors_multiply_to_the_matrix_and_solve) {
  SERVED(RITZ_BATCHED_POTRF);
  batch_for_cases(ceed, cholesky_case);
  CHECK(true, "all cases");
}

// ---- LU ----

static void factorize(BatchCase *c, bool pivots, CeedInt m, CeedInt n) {
  const int64_t most = m < n ? m : n;
  int32_t info[BATCH_MAX_COUNT], *ipiv = malloc((size_t)(c->count * most + 1) * sizeof(*ipiv));
  Batch A, A0;
  const BatchRun run = {
      RITZ_BATCHED_GETRF, {.pivot = pivots ? RITZ_PIVOT_ROWS : RITZ_PIVOT_NONE}, 1, 0, {&A}, ipiv, info,
      c->count * most};

  batch_draw_sizes(c, m, n, 0);
  batch_make_operand(c, BATCH_M, BATCH_N, &A);
  batch_make_operand(c, BATCH_M, BATCH_N, &A0);
  fill_for_lu(c, &A0, pivots);
  batch_copy(&A, &A0);
  for (int64_t j = 0; j < c->count * most; j++) ipiv[j] = -7;
  if (tap_check_ok(batch_run(c->ceed, &run), __FILE__, __LINE__, "GETRF")) {
    const int bad = first_not_zero(info, c->count);
    tap_check(bad < 0, __FILE__, __LINE__, "info", "info of matrix %d is %d", bad,
              bad < 0 ? 0 : (int)info[bad]);
    tap_check(batch_changed_only(&A, BATCH_ALL), __FILE__, __LINE__, "gaps",
              "something beside the entries has changed");
    for (int64_t i = 0; i < c->count; i++) {
      const int64_t k = batch_m(&A, i) < batch_n(&A, i) ? batch_m(&A, i) : batch_n(&A, i);
      int64_t num_written = 0;

      check_lu(c, i, &A0, &A, pivots ? ipiv + i * most : NULL);
      for (int64_t j = 0; j < most; j++) num_written += ipiv[i * most + j] != -7;
      tap_check(num_written == (pivots ? k : 0), __FILE__, __LINE__, "pivots",
                "matrix %d has %d pivots, needed %d", (int)i, (int)num_written, pivots ? (int)k : 0);
    }
  }
  free(ipiv);
  batch_free(&A), batch_free(&A0);
}

static void getrf_case(BatchCase *c) {
  factorize(c, true, c->n, c->n);
  if (!tap_failed()) factorize(c, true, c->n + 2, c->n);
  if (!tap_failed()) factorize(c, true, c->n, c->n + 3);
  if (!tap_failed()) factorize(c, false, c->n, c->n);
}
TEST_EACH_BACKEND(lu_factors_multiply_to_the_permuted_matrix) {
  SERVED(RITZ_BATCHED_GETRF);
  batch_for_cases(ceed, getrf_case);
  CHECK(true, "all cases");
}

// ---- Solves and inverses from LU ----

// |I - A X|_1 <= 10 n u |A|_1 |X|_1
static void check_inverse(const BatchCase *c, const Batch *A, const Batch *X) {
  for (int64_t i = 0; i < c->count; i++) {
    const int64_t n = batch_m(A, i);
    double *a = batch_matrix(A, i), *x = batch_matrix(X, i);
    double *product = dense_product(a, n, false, x, n, false, n, n, n);

    for (int64_t j = 0; j < n; j++) product[j + j * n] -= 1;
    const double residual = dense_norm(product, n, n), size = dense_norm(a, n, n) * dense_norm(x, n, n);
    free(a), free(x), free(product);
    CHECK(residual <= 10 * (double)n * c->u * size, "matrix %d: |I - A X| = %g, |A| |X| = %g", (int)i,
          residual, size);
  }
}

typedef struct {
  Batch A0, F, B, B0;
  int32_t *ipiv, info[BATCH_MAX_COUNT];
  int64_t num_ipiv;
} Factors;

static bool make_factors(BatchCase *c, bool pivots, Factors *f) {
  *f = (Factors){.num_ipiv = c->count * c->n};
  f->ipiv = calloc((size_t)f->num_ipiv + 1, sizeof(*f->ipiv));
  batch_draw_sizes(c, 0, c->n, c->n % 3 + 1);
  batch_make_operand(c, BATCH_N, BATCH_N, &f->A0);
  batch_make_operand(c, BATCH_N, BATCH_N, &f->F);
  batch_make_operand(c, BATCH_N, BATCH_K, &f->B);
  batch_make_operand(c, BATCH_N, BATCH_K, &f->B0);
  fill_for_lu(c, &f->A0, pivots);
  batch_copy(&f->F, &f->A0);
  batch_fill_random(&f->B0, 1, &c->state);
  batch_copy(&f->B, &f->B0);
  const BatchRun run = {RITZ_BATCHED_GETRF,
                        {.pivot = pivots ? RITZ_PIVOT_ROWS : RITZ_PIVOT_NONE},
                        1,
                        0,
                        {&f->F},
                        f->ipiv,
                        f->info,
                        f->num_ipiv};
  return tap_check_ok(batch_run(c->ceed, &run), __FILE__, __LINE__, "GETRF");
}

static void free_factors(Factors *f) {
  batch_free(&f->A0), batch_free(&f->F), batch_free(&f->B), batch_free(&f->B0);
  free(f->ipiv);
}

static void solve_by_lu(BatchCase *c, bool ta, bool pivots) {
  Factors f;
  const bool is_made = make_factors(c, pivots, &f);
  const BatchRun run = {RITZ_BATCHED_GETRS,
                        {.trans_a = ta ? CEED_TRANSPOSE : CEED_NOTRANSPOSE,
                         .pivot = pivots ? RITZ_PIVOT_ROWS : RITZ_PIVOT_NONE},
                        1,
                        0,
                        {&f.F, &f.B},
                        f.ipiv,
                        f.info,
                        f.num_ipiv};

  if (is_made && tap_check_ok(batch_run(c->ceed, &run), __FILE__, __LINE__, "GETRS")) {
    for (int64_t i = 0; i < c->count; i++) {
      double *a = batch_matrix(&f.A0, i);
      check_solution(c, i, a, ta, &f.B, &f.B0);
      free(a);
    }
    tap_check(batch_changed_only(&f.F, BATCH_NOTHING) && batch_changed_only(&f.B, BATCH_ALL) &&
                  first_not_zero(f.info, c->count) < 0,
              __FILE__, __LINE__, "guards", "something beside the solution has changed, or info is not 0");
  }
  free_factors(&f);
}

static void getrs_case(BatchCase *c) {
  solve_by_lu(c, false, true);
  if (!tap_failed()) solve_by_lu(c, true, true);
  if (!tap_failed()) solve_by_lu(c, c->n % 2, false);
}
TEST_EACH_BACKEND(solutions_by_lu_factors_have_small_residuals) {
  SERVED(RITZ_BATCHED_GETRF);
  SERVED(RITZ_BATCHED_GETRS);
  batch_for_cases(ceed, getrs_case);
  CHECK(true, "all cases");
}

static void getri_case(BatchCase *c) {
  const bool pivots = c->n % 4 != 3;
  Factors f;
  const bool is_made = make_factors(c, pivots, &f);
  const BatchRun run = {
      RITZ_BATCHED_GETRI, {.pivot = pivots ? RITZ_PIVOT_ROWS : RITZ_PIVOT_NONE}, 1, 0, {&f.F}, f.ipiv, f.info,
      f.num_ipiv};

  if (is_made && tap_check_ok(batch_run(c->ceed, &run), __FILE__, __LINE__, "GETRI")) {
    check_inverse(c, &f.A0, &f.F);
    tap_check(batch_changed_only(&f.F, BATCH_ALL) && first_not_zero(f.info, c->count) < 0, __FILE__, __LINE__,
              "guards", "something beside the inverse has changed, or info is not 0");
  }
  free_factors(&f);
}
TEST_EACH_BACKEND(inverses_from_factors_times_the_matrix_are_the_identity) {
  SERVED(RITZ_BATCHED_GETRF);
  SERVED(RITZ_BATCHED_GETRI);
  batch_for_cases(ceed, getri_case);
  CHECK(true, "all cases");
}

static void invert(BatchCase *c, bool in_place) {
  int32_t info[BATCH_MAX_COUNT];
  Batch A, A0, X;
  const BatchRun run = {RITZ_BATCHED_INV, {0}, 1, 0, {&A, in_place ? &A : &X}, NULL, info, 0};

  batch_draw_sizes(c, 0, c->n, 0);
  batch_make_operand(c, BATCH_N, BATCH_N, &A);
  batch_make_operand(c, BATCH_N, BATCH_N, &A0);
  batch_make_operand(c, BATCH_N, BATCH_N, &X);
  batch_fill_random(&A0, 1, &c->state);
  batch_copy(&A, &A0);
  batch_keep(&X);
  if (tap_check_ok(batch_run(c->ceed, &run), __FILE__, __LINE__, "INV")) {
    check_inverse(c, &A0, in_place ? &A : &X);
    tap_check(batch_changed_only(&A, in_place ? BATCH_ALL : BATCH_NOTHING) &&
                  batch_changed_only(&X, BATCH_ALL) && first_not_zero(info, c->count) < 0,
              __FILE__, __LINE__, "guards", "something beside the inverse has changed, or info is not 0");
  }
  batch_free(&A), batch_free(&A0), batch_free(&X);
}

static void inv_case(BatchCase *c) {
  invert(c, true);
  if (!tap_failed()) invert(c, false);
}
TEST_EACH_BACKEND(inverses_times_the_matrix_are_the_identity) {
  SERVED(RITZ_BATCHED_INV);
  batch_for_cases(ceed, inv_case);
  CHECK(true, "all cases");
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(entries_of_products_are_sums_of_products, matrices_times_vectors_are_sums_of_columns,
                        triangular_systems_have_small_residuals_in_sixteen_forms,
                        triangular_systems_of_vectors_have_small_residuals,
                        cholesky_factors_multiply_to_the_matrix_and_solve,
                        lu_factors_multiply_to_the_permuted_matrix,
                        solutions_by_lu_factors_have_small_residuals,
                        inverses_from_factors_times_the_matrix_are_the_identity,
                        inverses_times_the_matrix_are_the_identity));
}
