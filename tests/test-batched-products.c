// SPDX-License-Identifier: BSD-2-Clause
// Batched products with symmetric and triangular matrices, solves of one call, row swaps, copies, sums and
// constants, in every layout and precision: entries, residuals, and what each leaves alone.
#include "tests/batched-checks.h"

#define DIMS(...)  ((const int[][2]){__VA_ARGS__})
#define PARTS(...) ((const BatchPart[]){__VA_ARGS__})

static const double factors[][2] = {{1, 0}, {-0.5, 1}, {2, 0.25}, {0, 0.5}, {0, 0}};
static const double *choose_factors(const BatchCase *c, int form) {
  return factors[(form + c->n + (int)c->form) % 5];
}
static BatchPart triangle(bool is_lower) { return is_lower ? BATCH_LOWER : BATCH_UPPER; }
static RitzTriangle uplo(bool is_lower) { return is_lower ? RITZ_TRIANGLE_LOWER : RITZ_TRIANGLE_UPPER; }
static CeedTransposeMode trans(bool is_transposed) {
  return is_transposed ? CEED_TRANSPOSE : CEED_NOTRANSPOSE;
}

// |C - alpha P Q - beta C0| <= 2 (k + 3) u (|alpha| |P| |Q| + |beta| |C0|), entry by entry in a part of C,
// for P m x k, Q k x n. alpha = 0: P and Q may be NaN; beta = 0: C0.
static void check_entries(const Trial *t, int64_t i, const double *P, const double *Q, int64_t k,
                          const Batch *C, const Batch *C0, BatchPart part) {
  const double alpha = t->run.alpha, beta = t->run.beta;
  const int64_t m = batch_m(C, i);

  for (int64_t c = 0; c < batch_n(C, i); c++) {
    for (int64_t r = 0; r < m; r++) {
      long double sum = 0, size = 0;

      if ((part == BATCH_LOWER && r < c) || (part == BATCH_UPPER && r > c)) continue;
      for (int64_t j = 0; j < k && alpha != 0; j++) {
        const long double product = (long double)P[r + j * m] * Q[j + c * k];
        sum += product;
        size += fabsl(product);
      }
      const long double old = beta != 0 ? batch_get(C0, i, r, c) : 0;
      CHECK_NEAR(batch_get(C, i, r, c), (double)(alpha * sum + beta * old),
                 2 * (double)(k + 3) * t->c->u * (double)(fabs(alpha) * size + fabs(beta) * fabsl(old)),
                 "matrix %d, entry (%d, %d), alpha %g, beta %g", (int)i, (int)r, (int)c, alpha, beta);
    }
  }
}

// ---- Symmetric products ----

static void check_syrk(BatchCase *c, bool is_lower, bool ta) {
  const RitzBatchedOptions options = {.uplo = uplo(is_lower), .trans_a = trans(ta)};
  const double *factor = choose_factors(c, is_lower + 2 * ta);
  Trial t;

  batch_draw_sizes(c, 0, c->n, c->n > 0 ? c->n / 2 + 1 : 2);
  trial_make(c, RITZ_BATCHED_SYRK, options, 2,
             DIMS({ta ? BATCH_K : BATCH_N, ta ? BATCH_N : BATCH_K}, {BATCH_N, BATCH_N}), &t);
  t.run.alpha = factor[0], t.run.beta = factor[1];
  if (factor[0] != 0) batch_fill_random(&t.before[0], 1, &c->state);
  if (factor[1] != 0) fill_one_triangle(&t.before[1], is_lower, &c->state);
  if (trial_run(&t, PARTS(BATCH_NOTHING, triangle(is_lower)))) {
    for (int64_t i = 0; i < c->count && !tap_failed(); i++) {
      double *a = batch_matrix(&t.before[0], i),
             *b = dense_transpose(a, batch_m(&t.now[0], i), batch_n(&t.now[0], i));

      check_entries(&t, i, ta ? b : a, ta ? a : b, ta ? batch_m(&t.now[0], i) : batch_n(&t.now[0], i),
                    &t.now[1], &t.before[1], triangle(is_lower));
      free(a), free(b);
    }
  }
  trial_free(&t);
}
static void syrk_case(BatchCase *c) {
  for (int form = 0; form < 4 && !tap_failed(); form++) check_syrk(c, form & 1, form & 2);
}
TEST_EACH_BACKEND(triangles_of_symmetric_products_are_sums_of_products) {
  SERVED(RITZ_BATCHED_SYRK);
  batch_for_cases(ceed, syrk_case);
  CHECK(true, "all cases");
}

static void check_symm(BatchCase *c, RitzBatchedOperation operation, bool is_lower, bool is_left) {
  const bool is_vector = operation == RITZ_BATCHED_SYMV;
  const int order = is_left && !is_vector ? BATCH_M : BATCH_N;
  const int rows = is_vector ? BATCH_N : BATCH_M, cols = is_vector ? BATCH_ONE : BATCH_N;
  const double *factor = choose_factors(c, is_lower + 2 * is_left);
  Trial t;

  batch_draw_sizes(c, is_vector || is_left ? c->n : (c->n + 3) / 2,
                   is_left && !is_vector ? (c->n + 3) / 2 : c->n, 0);
  trial_make(c, operation,
             (RitzBatchedOptions){.uplo = uplo(is_lower), .side = is_left ? RITZ_SIDE_LEFT : RITZ_SIDE_RIGHT},
             3, DIMS({order, order}, {rows, cols}, {rows, cols}), &t);
  t.run.alpha = factor[0], t.run.beta = factor[1];
  if (factor[0] != 0) fill_one_triangle(&t.before[0], is_lower, &c->state);
  if (factor[0] != 0) batch_fill_random(&t.before[1], 1, &c->state);
  if (factor[1] != 0) batch_fill_random(&t.before[2], 1, &c->state);
  if (trial_run(&t, PARTS(BATCH_NOTHING, BATCH_NOTHING, BATCH_ALL))) {
    for (int64_t i = 0; i < c->count && !tap_failed(); i++) {
      double *a = symmetric(&t.before[0], i, is_lower), *b = batch_matrix(&t.before[1], i);

      check_entries(&t, i, is_left ? a : b, is_left ? b : a, batch_m(&t.now[0], i), &t.now[2], &t.before[2],
                    BATCH_ALL);
      free(a), free(b);
    }
  }
  trial_free(&t);
}
static void symm_case(BatchCase *c) {
  for (int form = 0; form < 4 && !tap_failed(); form++) check_symm(c, RITZ_BATCHED_SYMM, form & 1, form & 2);
}
TEST_EACH_BACKEND(products_with_symmetric_matrices_read_one_triangle) {
  SERVED(RITZ_BATCHED_SYMM);
  batch_for_cases(ceed, symm_case);
  CHECK(true, "all cases");
}

static void symv_case(BatchCase *c) {
  for (int lower = 0; lower < 2 && !tap_failed(); lower++) check_symm(c, RITZ_BATCHED_SYMV, lower, true);
}
TEST_EACH_BACKEND(symmetric_matrices_times_vectors_read_one_triangle) {
  SERVED(RITZ_BATCHED_SYMV);
  batch_for_cases(ceed, symv_case);
  CHECK(true, "all cases");
}

// ---- Triangular products ----

static void check_trmm(BatchCase *c, int form) {
  static const double alphas[] = {1, -2, 0};
  const bool is_left = form & 1, is_lower = form & 2, ta = form & 4, is_unit = form & 8;
  const int order = is_left ? BATCH_M : BATCH_N;
  const RitzBatchedOptions options = {.side = is_left ? RITZ_SIDE_LEFT : RITZ_SIDE_RIGHT,
                                      .uplo = uplo(is_lower),
                                      .trans_a = trans(ta),
                                      .diag = is_unit ? RITZ_DIAGONAL_UNIT : RITZ_DIAGONAL_STORED};
  Trial t;

  batch_draw_sizes(c, is_left ? c->n : c->n / 2 + 1, is_left ? c->n / 2 + 1 : c->n, 0);
  trial_make(c, RITZ_BATCHED_TRMM, options, 2, DIMS({order, order}, {BATCH_M, BATCH_N}), &t);
  t.run.alpha = alphas[(form + c->n + (int)c->form) % 3];
  if (t.run.alpha != 0) fill_one_triangle(&t.before[0], is_lower, &c->state);
  if (t.run.alpha != 0) batch_fill_random(&t.before[1], 1, &c->state);
  for (int64_t i = 0; i < c->count && is_unit; i++) {
    for (int64_t j = 0; j < batch_m(&t.before[0], i); j++) batch_set(&t.before[0], i, j, j, NAN);
  }
  if (trial_run(&t, PARTS(BATCH_NOTHING, BATCH_ALL))) {
    for (int64_t i = 0; i < c->count && !tap_failed(); i++) {
      const int64_t n = batch_m(&t.now[0], i);
      double *a = batch_matrix(&t.before[0], i), *b = batch_matrix(&t.before[1], i);

      dense_keep_triangle(a, n, n, is_lower, is_unit);
      double *transposed = dense_transpose(a, n, n), *op = ta ? transposed : a;
      check_entries(&t, i, is_left ? op : b, is_left ? b : op, n, &t.now[1], &t.before[1], BATCH_ALL);
      free(a), free(b), free(transposed);
    }
  }
  trial_free(&t);
}
static void trmm_case(BatchCase *c) {
  for (int form = 0; form < 16 && !tap_failed(); form++) {
    if ((tap_compiles_slowly(c->ceed) || c->n > 70) && (form + (int)c->form + c->n) % 5 > 0) continue;
    check_trmm(c, form);
    if (tap_failed()) tap_note("form %d of 16", form);
  }
}
TEST_EACH_BACKEND(triangular_products_are_sums_of_products_in_sixteen_forms) {
  SERVED(RITZ_BATCHED_TRMM);
  batch_for_cases(ceed, trmm_case);
  CHECK(true, "all cases");
}

// ---- Solves of one call ----

static void check_gesv(BatchCase *c, bool pivots) {
  const RitzBatchedOptions options = {.pivot = pivots ? RITZ_PIVOT_ROWS : RITZ_PIVOT_NONE};
  Trial t;

  batch_draw_sizes(c, 0, c->n, c->n % 3 + 1);
  trial_make(c, RITZ_BATCHED_GESV, options, 2, DIMS({BATCH_N, BATCH_N}, {BATCH_N, BATCH_K}), &t);
  fill_for_lu(c, &t.before[0], pivots);
  batch_fill_random(&t.before[1], 1, &c->state);
  if (trial_succeeds(&t, PARTS(BATCH_ALL, BATCH_ALL))) {
    for (int64_t i = 0; i < c->count && !tap_failed(); i++) {
      double *a = batch_matrix(&t.before[0], i);

      check_lu(c, i, &t.before[0], &t.now[0], pivots ? t.ipiv + i * c->n : NULL);
      check_solution(c, i, a, false, &t.now[1], &t.before[1]);
      free(a);
    }
  }
  trial_free(&t);
}
static void gesv_case(BatchCase *c) {
  check_gesv(c, true);
  if (!tap_failed()) check_gesv(c, false);
}
TEST_EACH_BACKEND(systems_solved_in_one_call_have_small_residuals_and_factors) {
  SERVED(RITZ_BATCHED_GESV);
  batch_for_cases(ceed, gesv_case);
  CHECK(true, "all cases");
}

static void posv_case(BatchCase *c) {
  for (int lower = 0; lower < 2 && !tap_failed(); lower++) {
    Trial t;

    batch_draw_sizes(c, 0, c->n, c->n % 3 + 1);
    trial_make(c, RITZ_BATCHED_POSV, (RitzBatchedOptions){.uplo = uplo(lower)}, 2,
               DIMS({BATCH_N, BATCH_N}, {BATCH_N, BATCH_K}), &t);
    fill_positive(c, &t.before[0], lower);
    batch_fill_random(&t.before[1], 1, &c->state);
    if (trial_succeeds(&t, PARTS(triangle(lower), BATCH_ALL))) {
      check_cholesky(c, &t.before[0], &t.now[0], lower);
      for (int64_t i = 0; i < c->count && !tap_failed(); i++) {
        double *a = symmetric(&t.before[0], i, lower);

        check_solution(c, i, a, false, &t.now[1], &t.before[1]);
        free(a);
      }
    }
    trial_free(&t);
  }
}
TEST_EACH_BACKEND(positive_systems_solved_in_one_call_have_small_residuals_and_factors) {
  SERVED(RITZ_BATCHED_POSV);
  batch_for_cases(ceed, posv_case);
  CHECK(true, "all cases");
}

// ---- Swaps of rows ----

// Swaps of steps first .. last, or back, as LAPACK's DLASWP has them.
static void swap_rows(double *a, int64_t m, int64_t n, const int32_t *ipiv, int64_t first, int64_t last,
                      bool is_back) {
  for (int64_t step = 0; step <= last - first; step++) {
    const int64_t k = (is_back ? last - step : first + step) - 1, row = k < m ? ipiv[k] - 1 : -1;

    for (int64_t c = 0; c < n && row >= 0 && row < m; c++) {
      const double kept = a[k + c * m];
      a[k + c * m] = a[row + c * m];
      a[row + c * m] = kept;
    }
  }
}

// Pivots as GETRF makes them; of steps that a matrix does not have 0, -3 or a row that it does not have.
static void check_laswp(BatchCase *c, int32_t k1, int32_t k2, bool is_back) {
  static const int32_t outside[] = {0, -3, 1 << 20};
  Trial t;

  batch_draw_sizes(c, c->n, c->n / 2 + 1, 0);
  trial_make(c, RITZ_BATCHED_LASWP, (RitzBatchedOptions){.num_pivots = 0}, 1, DIMS({BATCH_M, BATCH_N}), &t);
  batch_fill_random(&t.before[0], 1, &c->state);
  t.run.alpha = is_back ? -k1 : k1;
  t.run.beta = k2;
  for (int64_t i = 0; i < c->count; i++) {
    const int64_t m = batch_m(&t.before[0], i);
    for (int64_t k = 0; k < c->n; k++)
      t.ipiv[i * c->n + k] =
          k < m && (k + i) % 7 != 6 ? (int32_t)(k + 1 + tap_integer(&c->state, m - k)) : outside[k % 3];
  }
  if (trial_run(&t, PARTS(BATCH_ALL))) {
    for (int64_t i = 0; i < c->count && !tap_failed(); i++) {
      const int64_t m = batch_m(&t.now[0], i), n = batch_n(&t.now[0], i);
      double *wanted = batch_matrix(&t.before[0], i), *found = batch_matrix(&t.now[0], i);

      swap_rows(wanted, m, n, t.ipiv + i * c->n, k1, k2, is_back);
      const bool is_same = !memcmp(wanted, found, (size_t)(m * n) * sizeof(*found));
      free(wanted), free(found);
      tap_check(is_same, __FILE__, __LINE__, "rows", "matrix %d, steps %d to %d%s", (int)i, (int)k1, (int)k2,
                is_back ? ", back" : "");
    }
  }
  trial_free(&t);
}
static void laswp_case(BatchCase *c) {
  for (int back = 0; back < 2; back++) {
    if (!tap_failed()) check_laswp(c, 1, c->n, back);
    if (!tap_failed()) check_laswp(c, c->n / 3 + 1, c->n - c->n / 4, back);
  }
}
TEST_EACH_BACKEND(rows_are_swapped_in_the_order_of_the_pivots_or_back) {
  SERVED(RITZ_BATCHED_LASWP);
  batch_for_cases(ceed, laswp_case);
  CHECK(true, "all cases");
}

// ---- Copies ----

// From c's layout and precision into all layouts and both precisions, or of non-uniform ones into two. What
// is exact in float is exact in both.
static void check_copy(BatchCase *c, BatchForm form, CeedScalarType precision, bool ta) {
  BatchCase to = *c;
  Batch A, B;
  bool is_same = true;

  to.form = form;
  to.precision = precision;
  batch_make_operand(c, BATCH_M, BATCH_N, &A);
  batch_make_operand(&to, ta ? BATCH_N : BATCH_M, ta ? BATCH_M : BATCH_N, &B);
  for (int64_t i = 0; i < c->count; i++) {
    for (int64_t col = 0; col < batch_n(&A, i); col++) {
      for (int64_t row = 0; row < batch_m(&A, i); row++)
        batch_set(&A, i, row, col, (float)tap_uniform(&c->state));
    }
  }
  const BatchRun run = {
      .operation = RITZ_BATCHED_COPY, .options = {.trans_a = trans(ta)}, .operand = {&A, &B}};
  if (tap_check_ok(batch_run(c->ceed, &run), __FILE__, __LINE__, "COPY")) {
    for (int64_t i = 0; i < c->count; i++) {
      for (int64_t col = 0; col < batch_n(&A, i); col++) {
        for (int64_t row = 0; row < batch_m(&A, i); row++)
          is_same = is_same && batch_get(&A, i, row, col) == batch_get(&B, i, ta ? col : row, ta ? row : col);
      }
    }
    tap_check(is_same, __FILE__, __LINE__, "entries", "copies differ, into %s, %s%s", batch_form_names[form],
              precision == CEED_SCALAR_FP32 ? "FP32" : "FP64", ta ? ", transposed" : "");
    tap_check(batch_changed_only(&A, BATCH_NOTHING) && batch_changed_only(&B, BATCH_ALL), __FILE__, __LINE__,
              "guards", "something beside the copy has changed");
  }
  batch_free(&A), batch_free(&B);
}
static void copy_case(BatchCase *c) {
  batch_draw_sizes(c, c->n, c->n / 2 + 2, 0);
  for (int form = 0; form < NUM_BATCH_FORMS; form++) {
    if (!batch_has_form(c->ceed, (BatchForm)form) || (c->is_ragged && batch_is_wide((BatchForm)form)))
      continue;
    // Half of the pairs of layouts have each combination of precisions and transposes.
    for (int other = form % 2; other < 4 && !tap_failed(); other += 2)
      check_copy(c, (BatchForm)form, other & 2 ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64, (other + c->n) & 1);
  }
}
TEST_EACH_BACKEND(copies_between_layouts_and_precisions_are_exact) {
  SERVED(RITZ_BATCHED_COPY);
  batch_for_cases(ceed, copy_case);
  CHECK(true, "all cases");
}

// ---- Sums and constants ----

// |C - alpha op(A) - beta op(B)| <= 2 u (|alpha| |A| + |beta| |B|); what has the factor 0 is NaN.
static void check_geam(BatchCase *c, bool ta, bool tb) {
  const double *factor = choose_factors(c, ta + 2 * tb);
  Trial t;

  batch_draw_sizes(c, c->n, c->n / 2 + 1, 0);
  trial_make(c, RITZ_BATCHED_GEAM, (RitzBatchedOptions){.trans_a = trans(ta), .trans_b = trans(tb)}, 3,
             DIMS({ta ? BATCH_N : BATCH_M, ta ? BATCH_M : BATCH_N},
                  {tb ? BATCH_N : BATCH_M, tb ? BATCH_M : BATCH_N}, {BATCH_M, BATCH_N}),
             &t);
  t.run.alpha = factor[0], t.run.beta = factor[1];
  if (factor[0] != 0) batch_fill_random(&t.before[0], 1, &c->state);
  if (factor[1] != 0) batch_fill_random(&t.before[1], 1, &c->state);
  if (trial_run(&t, PARTS(BATCH_NOTHING, BATCH_NOTHING, BATCH_ALL))) {
    for (int64_t i = 0; i < c->count; i++) {
      for (int64_t col = 0; col < batch_n(&t.now[2], i); col++) {
        for (int64_t row = 0; row < batch_m(&t.now[2], i) && !tap_failed(); row++) {
          const double a = factor[0] != 0 ? batch_get(&t.before[0], i, ta ? col : row, ta ? row : col) : 0;
          const double b = factor[1] != 0 ? batch_get(&t.before[1], i, tb ? col : row, tb ? row : col) : 0;
          const double error = fabs(batch_get(&t.now[2], i, row, col) - factor[0] * a - factor[1] * b);

          tap_check(error <= 2 * c->u * (fabs(factor[0] * a) + fabs(factor[1] * b)), __FILE__, __LINE__,
                    "sum", "matrix %d, entry (%d, %d): error %g", (int)i, (int)row, (int)col, error);
        }
      }
    }
  }
  trial_free(&t);
}
static void geam_case(BatchCase *c) {
  for (int form = 0; form < 4 && !tap_failed(); form++) check_geam(c, form & 1, form & 2);
}
TEST_EACH_BACKEND(sums_of_matrices_and_transposes_are_sums_of_entries) {
  SERVED(RITZ_BATCHED_GEAM);
  batch_for_cases(ceed, geam_case);
  CHECK(true, "all cases");
}

static void laset_case(BatchCase *c) {
  bool holds = true;
  Trial t;

  batch_draw_sizes(c, c->n, c->n / 2 + 2, 0);
  trial_make(c, RITZ_BATCHED_LASET, (RitzBatchedOptions){.num_pivots = 0}, 1, DIMS({BATCH_M, BATCH_N}), &t);
  t.run.alpha = 0.5, t.run.beta = -3;
  if (trial_run(&t, PARTS(BATCH_ALL))) {
    for (int64_t i = 0; i < c->count; i++) {
      for (int64_t col = 0; col < batch_n(&t.now[0], i); col++) {
        for (int64_t row = 0; row < batch_m(&t.now[0], i); row++)
          holds = holds && batch_get(&t.now[0], i, row, col) == (row == col ? -3 : 0.5);
      }
    }
    tap_check(holds, __FILE__, __LINE__, "entries", "an entry is not what was set");
  }
  trial_free(&t);
}
TEST_EACH_BACKEND(entries_are_set_to_one_number_and_the_diagonal_to_another) {
  SERVED(RITZ_BATCHED_LASET);
  batch_for_cases(ceed, laset_case);
  CHECK(true, "all cases");
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(triangles_of_symmetric_products_are_sums_of_products,
                        products_with_symmetric_matrices_read_one_triangle,
                        symmetric_matrices_times_vectors_read_one_triangle,
                        triangular_products_are_sums_of_products_in_sixteen_forms,
                        systems_solved_in_one_call_have_small_residuals_and_factors,
                        positive_systems_solved_in_one_call_have_small_residuals_and_factors,
                        rows_are_swapped_in_the_order_of_the_pivots_or_back,
                        copies_between_layouts_and_precisions_are_exact,
                        sums_of_matrices_and_transposes_are_sums_of_entries,
                        entries_are_set_to_one_number_and_the_diagonal_to_another));
}
