// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra beyond the sizes of one kernel a matrix, n > 64: residuals of every operation; and of
// non-uniform batches, whose matrices are computed in classes of sizes: results do not depend on the company.
// u is the roundoff of the precision; bounds are those of backward stable methods.
#include "tests/batched-kit.h"

#define SERVED(operation)                                                                                    \
  do {                                                                                                       \
    if (!batch_serves(ceed, operation)) NOT_FOR_THIS_BACKEND("no kernels for this batched operation");       \
  } while (0)

enum { MAX_COUNT = 40 };
typedef struct {
  Ceed ceed;
  CeedScalarType precision;
  double u;
  BatchForm form;
  CeedInt n, k; // bounds
  int64_t count;
  const int32_t *rows, *cols; // sizes n and k; NULL: the bounds
  uint64_t state;
} Case;

// One of the sizes below and around those of blocks, in both precisions and some layouts; where kernels are
// compiled for seconds, the first one in double; on devices, which have a kernel for each, floats of the
// first.
static void for_sizes(Ceed ceed, void (*test)(Case *c)) {
  static const CeedInt sizes[] = {65, 96, 129, 200};
  static const int32_t rows[] = {200, 0, 70}, cols[] = {9, 3, 1};
  const bool is_slow = tap_compiles_slowly(ceed) && tap_level() < TAP_EXHAUSTIVE;
  const bool is_few = batch_is_on_gpu(ceed) && tap_level() == TAP_QUICK;

  for (int s = 0; s < (is_slow ? 1 : 4); s++) {
    for (int single = 0; single < (is_slow || (s > 0 && is_few) ? 1 : 2); single++) {
      Case c = {.ceed = ceed,
                .precision = single ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64,
                .form = s == 0   ? BATCH_PADDED
                        : s == 1 ? BATCH_WIDE4
                        : s == 2 ? BATCH_SUB
                                 : BATCH_OFFSETS,
                .n = sizes[s],
                .k = s == 1 ? 27 : 9,
                .count = 3,
                .state = (uint64_t)(10 * s + single + 1)};

      c.u = batch_roundoff(c.precision);
      if (s == 3) c.rows = rows, c.cols = cols;
      test(&c);
      if (tap_failed()) tap_note("n = %d, %s", (int)c.n, single ? "FP32" : "FP64");
      if (tap_failed()) return;
    }
  }
  CHECK(true, "all sizes");
}

static void make_square(const Case *c, Batch *b) {
  batch_make(c->ceed, c->precision, c->form, c->count, c->n, c->n, c->rows, c->rows, b);
}
static void make_columns(const Case *c, Batch *b) {
  batch_make(c->ceed, c->precision, c->form, c->count, c->n, c->k, c->rows, c->cols, b);
}

// Random; is_positive: symmetric, with a diagonal that dominates.
static void fill(Case *c, const Batch *b, bool is_positive) {
  batch_fill_random(b, 1, &c->state);
  for (int64_t i = 0; i < b->count && is_positive; i++) {
    for (int64_t col = 0; col < batch_n(b, i); col++) {
      for (int64_t row = 0; row < col; row++) batch_set(b, i, row, col, batch_get(b, i, col, row));
      batch_set(b, i, col, col, (double)batch_n(b, i) + batch_get(b, i, col, col));
    }
  }
}

static void check_run(const Case *c, const BatchRun *run, const char *name) {
  for (int64_t i = 0; i < c->count && run->info; i++) run->info[i] = -1;
  CHECK_OK(batch_run(c->ceed, run));
  for (int64_t i = 0; i < c->count && run->info; i++)
    CHECK(run->info[i] == 0, "%s: info of matrix %d is %d", name, (int)i, (int)run->info[i]);
}
// The run succeeds for all matrices, or the function is left.
#define EXPECT_RUN(c, run, name)                                                                             \
  do {                                                                                                       \
    check_run(c, run, name);                                                                                 \
    if (tap_failed()) return;                                                                                \
  } while (0)

// |B0 - op(A) X|_1 <= 10 n u (|A|_1 |X|_1 + |B0|_1); is_right: X op(A).
static void check_system(const Case *c, const Batch *A, bool ta, bool is_right, const Batch *X,
                         const Batch *B0) {
  for (int64_t i = 0; i < c->count; i++) {
    const int64_t m = batch_m(X, i), k = batch_n(X, i), n = batch_n(A, i);
    double *a = batch_matrix(A, i), *x = batch_matrix(X, i), *b = batch_matrix(B0, i), *t = NULL, *product;

    // |A^T|_1 bounds as well as |A|_1 up to a factor n: the larger one of both.
    t = malloc((size_t)(n * n + 1) * sizeof(*t));
    for (int64_t e = 0; e < n * n; e++) t[e] = a[e / n + e % n * n];
    product = is_right ? dense_product(x, m, false, a, n, ta, m, k, k)
                       : dense_product(a, n, ta, x, m, false, m, k, m);
    const double residual = dense_distance(product, b, m, k);
    const double size =
        fmax(dense_norm(a, n, n), dense_norm(t, n, n)) * dense_norm(x, m, k) + dense_norm(b, m, k);
    free(a), free(x), free(b), free(t), free(product);
    CHECK(residual <= 10 * (double)n * c->u * size, "matrix %d: residual %g, sizes %g", (int)i, residual,
          size);
  }
}

// ---- Factorizations and solves ----

static void factorize_and_solve(Case *c, bool is_positive, bool is_second, RitzPivot pivot) {
  const RitzBatchedOptions options = {.uplo = is_second ? RITZ_TRIANGLE_UPPER : RITZ_TRIANGLE_LOWER,
                                      .pivot = pivot,
                                      .trans_a =
                                          is_second && !is_positive ? CEED_TRANSPOSE : CEED_NOTRANSPOSE};
  int32_t info[MAX_COUNT], *ipiv = calloc((size_t)(c->count * c->n), sizeof(*ipiv));
  Batch A, A0, B, B0;
  BatchRun run = {.operation = is_positive ? RITZ_BATCHED_POTRF : RITZ_BATCHED_GETRF,
                  .options = options,
                  .operand = {&A},
                  .info = info};

  if (!is_positive && pivot == RITZ_PIVOT_ROWS) run.ipiv = ipiv, run.num_ipiv = c->count * c->n;
  make_square(c, &A), make_square(c, &A0), make_columns(c, &B), make_columns(c, &B0);
  fill(c, &A0, is_positive || pivot == RITZ_PIVOT_NONE);
  fill(c, &B0, false);
  batch_copy(&A, &A0), batch_copy(&B, &B0);
  EXPECT_RUN(c, &run, "factorization");
  CHECK(batch_changed_only(&A, !is_positive ? BATCH_ALL
                               : is_second  ? BATCH_UPPER
                                            : BATCH_LOWER),
        "the factorization has changed something beside its entries");
  run.operation = is_positive ? RITZ_BATCHED_POTRS : RITZ_BATCHED_GETRS;
  run.operand[1] = &B;
  EXPECT_RUN(c, &run, "solve");
  CHECK(batch_changed_only(&A, BATCH_NOTHING) && batch_changed_only(&B, BATCH_ALL),
        "the solve has changed something beside the solution");
  check_system(c, &A0, options.trans_a == CEED_TRANSPOSE, false, &B, &B0);
  batch_free(&A), batch_free(&A0), batch_free(&B), batch_free(&B0);
  free(ipiv);
}

static void cholesky_case(Case *c) {
  factorize_and_solve(c, true, false, RITZ_PIVOT_ROWS);
  if (!tap_failed()) factorize_and_solve(c, true, true, RITZ_PIVOT_ROWS);
}
TEST_EACH_BACKEND(large_positive_systems_have_small_residuals) {
  SERVED(RITZ_BATCHED_POTRF);
  SERVED(RITZ_BATCHED_POTRS);
  for_sizes(ceed, cholesky_case);
}

static void lu_case(Case *c) {
  factorize_and_solve(c, false, false, RITZ_PIVOT_ROWS);
  if (!tap_failed()) factorize_and_solve(c, false, true, RITZ_PIVOT_ROWS);
  if (!tap_failed()) factorize_and_solve(c, false, false, RITZ_PIVOT_NONE);
}
TEST_EACH_BACKEND(large_systems_by_lu_have_small_residuals) {
  SERVED(RITZ_BATCHED_GETRF);
  SERVED(RITZ_BATCHED_GETRS);
  for_sizes(ceed, lu_case);
}

// P A = L U of matrices that are not square: |P A - L U|_1 <= 10 n u |A|_1, |l| <= 1.
static void factorize_rectangle(Case *c, CeedInt m, CeedInt n) {
  const int64_t k = m < n ? m : n;
  int32_t info[MAX_COUNT], *ipiv = calloc((size_t)(c->count * k), sizeof(*ipiv));
  Batch A, A0;
  const BatchRun run = {
      .operation = RITZ_BATCHED_GETRF, .operand = {&A}, .ipiv = ipiv, .info = info, .num_ipiv = c->count * k};

  batch_make(c->ceed, c->precision, c->form, c->count, m, n, NULL, NULL, &A);
  batch_make(c->ceed, c->precision, c->form, c->count, m, n, NULL, NULL, &A0);
  batch_fill_random(&A0, 1, &c->state);
  batch_copy(&A, &A0);
  EXPECT_RUN(c, &run, "GETRF");
  for (int64_t i = 0; i < c->count; i++) {
    double *a = batch_matrix(&A0, i), *l = batch_matrix(&A, i), *u = batch_matrix(&A, i), largest = 0;

    for (int64_t step = 0; step < k; step++) {
      const int64_t row = ipiv[i * k + step] - 1;

      CHECK(row >= step && row < m, "matrix %d: pivot %d is row %d", (int)i, (int)step, (int)row);
      for (int64_t col = 0; col < n && row >= step && row < m; col++) {
        const double kept = a[step + col * m];
        a[step + col * m] = a[row + col * m];
        a[row + col * m] = kept;
      }
    }
    dense_keep_triangle(l, m, k, true, true);
    dense_keep_triangle(u, m, n, false, false);
    for (int64_t e = 0; e < m * k; e++) largest = fmax(largest, fabs(l[e]));
    double *product = dense_product(l, m, false, u, m, false, m, n, k);
    const double residual = dense_distance(product, a, m, n), size = dense_norm(a, m, n);
    free(a), free(l), free(u), free(product);
    CHECK(largest <= 1, "matrix %d: an entry of L is %.17g", (int)i, largest);
    CHECK(residual <= 10 * (double)(m + n) * c->u * size, "matrix %d: residual %g, size %g", (int)i, residual,
          size);
  }
  batch_free(&A), batch_free(&A0);
  free(ipiv);
}
static void rectangle_case(Case *c) {
  factorize_rectangle(c, c->n, c->n / 2 + 1);
  if (!tap_failed()) factorize_rectangle(c, c->n / 2 + 1, c->n);
}
TEST_EACH_BACKEND(large_rectangles_are_products_of_their_factors) {
  SERVED(RITZ_BATCHED_GETRF);
  for_sizes(ceed, rectangle_case);
}

// ---- Triangles ----

static void triangle_case(Case *c) {
  const int step = tap_compiles_slowly(c->ceed)                           ? 15
                   : batch_is_on_gpu(c->ceed) && tap_level() == TAP_QUICK ? 5
                                                                          : 1;

  for (int form = 0; form < 16 && !tap_failed(); form += step) {
    const bool is_right = form & 8, is_upper = form & 4, ta = form & 2, is_unit = form & 1;
    const RitzBatchedOptions options = {.side = is_right ? RITZ_SIDE_RIGHT : RITZ_SIDE_LEFT,
                                        .uplo = is_upper ? RITZ_TRIANGLE_UPPER : RITZ_TRIANGLE_LOWER,
                                        .trans_a = ta ? CEED_TRANSPOSE : CEED_NOTRANSPOSE,
                                        .diag = is_unit ? RITZ_DIAGONAL_UNIT : RITZ_DIAGONAL_STORED};
    Batch A, T, B, B0;
    const BatchRun run = {
        .operation = RITZ_BATCHED_TRSM, .options = options, .alpha = 1, .operand = {&A, &B}};

    make_square(c, &A), make_square(c, &T);
    for (int k = 0; k < 2; k++)
      batch_make(c->ceed, c->precision, c->form, c->count, is_right ? c->k : c->n, is_right ? c->n : c->k,
                 is_right ? c->cols : c->rows, is_right ? c->rows : c->cols, k ? &B0 : &B);
    batch_fill_random(&T, 1. / c->n, &c->state); // unit triangles are well-conditioned
    fill(c, &B0, false);
    for (int64_t i = 0; i < c->count; i++) {
      for (int64_t col = 0; col < batch_n(&T, i); col++) {
        for (int64_t row = 0; row < batch_n(&T, i); row++) {
          const bool is_outside = is_upper ? row > col : row < col;
          const double value =
              row == col ? 1 + (is_unit ? 0 : 0.5 * batch_get(&T, i, row, col)) : batch_get(&T, i, row, col);

          batch_set(&A, i, row, col, is_outside || (row == col && is_unit) ? (double)NAN : value);
          batch_set(&T, i, row, col, is_outside ? 0 : value);
          if (!is_outside && !(row == col && is_unit)) batch_set(&T, i, row, col, batch_get(&A, i, row, col));
        }
      }
    }
    batch_copy(&B, &B0);
    EXPECT_RUN(c, &run, "TRSM");
    check_system(c, &T, ta, is_right, &B, &B0);
    if (tap_failed()) tap_note("side %d, uplo %d, trans %d, unit %d", is_right, is_upper, ta, is_unit);
    batch_free(&A), batch_free(&T), batch_free(&B), batch_free(&B0);
  }
}
TEST_EACH_BACKEND(large_triangular_systems_have_small_residuals_in_sixteen_forms) {
  SERVED(RITZ_BATCHED_TRSM);
  for_sizes(ceed, triangle_case);
}

// ---- Inverses and products ----

// |I - A X|_1 <= 10 n u |A|_1 |X|_1
static void check_inverse(const Case *c, const Batch *A, const Batch *X) {
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

static void inverse_case(Case *c) {
  int32_t info[MAX_COUNT], *ipiv = calloc((size_t)(c->count * c->n), sizeof(*ipiv));
  Batch A, X;
  BatchRun run = {.operation = RITZ_BATCHED_INV, .operand = {&A, &X}, .info = info};

  make_square(c, &A), make_square(c, &X);
  fill(c, &A, false);
  EXPECT_RUN(c, &run, "INV");
  CHECK(batch_changed_only(&A, BATCH_NOTHING) && batch_changed_only(&X, BATCH_ALL),
        "something beside the inverse has changed");
  check_inverse(c, &A, &X);
  batch_copy(&X, &A);
  run = (BatchRun){.operation = RITZ_BATCHED_GETRF,
                   .operand = {&X},
                   .ipiv = ipiv,
                   .info = info,
                   .num_ipiv = c->count * c->n};
  EXPECT_RUN(c, &run, "GETRF");
  run.operation = RITZ_BATCHED_GETRI;
  EXPECT_RUN(c, &run, "GETRI");
  check_inverse(c, &A, &X);
  batch_free(&A), batch_free(&X);
  free(ipiv);
}
TEST_EACH_BACKEND(large_inverses_times_the_matrix_are_the_identity) {
  SERVED(RITZ_BATCHED_INV);
  SERVED(RITZ_BATCHED_GETRI);
  for_sizes(ceed, inverse_case);
}

// |C - alpha op(A) op(B) - beta C0| <= 2 (n + 3) u (|op(A)| |op(B)| + |C0|) in the norm of rows: all entries
// are at most 1, n products an entry.
static void multiply(Case *c, bool ta, bool tb, CeedInt columns, double beta) {
  const RitzBatchedOptions options = {.trans_a = ta ? CEED_TRANSPOSE : CEED_NOTRANSPOSE,
                                      .trans_b = tb ? CEED_TRANSPOSE : CEED_NOTRANSPOSE};
  Batch A, B, C, C0;
  const BatchRun run = {.operation = columns == 1 ? RITZ_BATCHED_GEMV : RITZ_BATCHED_GEMM,
                        .options = options,
                        .alpha = -0.5,
                        .beta = beta,
                        .operand = {&A, &B, &C}};

  make_square(c, &A);
  batch_make(c->ceed, c->precision, c->form, c->count, tb ? columns : c->n, tb ? c->n : columns, NULL, NULL,
             &B);
  batch_make(c->ceed, c->precision, c->form, c->count, c->n, columns, NULL, NULL, &C);
  batch_make(c->ceed, c->precision, c->form, c->count, c->n, columns, NULL, NULL, &C0);
  fill(c, &A, false), fill(c, &B, false), fill(c, &C0, false);
  if (beta != 0) batch_copy(&C, &C0);
  EXPECT_RUN(c, &run, "product");
  CHECK(batch_changed_only(&C, BATCH_ALL), "something beside the product has changed");
  for (int64_t i = 0; i < c->count && !tap_failed(); i++) {
    double *a = batch_matrix(&A, i), *b = batch_matrix(&B, i);
    double *product = dense_product(a, c->n, ta, b, tb ? columns : c->n, tb, c->n, columns, c->n);

    for (int64_t e = 0; e < (int64_t)c->n * columns; e++) {
      const int64_t row = e % c->n, col = e / c->n;
      const double found = batch_get(&C, i, row, col);
      const double expected = -0.5 * product[e] + (beta != 0 ? beta * batch_get(&C0, i, row, col) : 0);

      if (fabs(found - expected) <= 2 * (double)(c->n + 3) * c->u * c->n) continue;
      tap_check(false, __FILE__, __LINE__, "entry", "(%d, %d) of matrix %d is %g, not %g", (int)row, (int)col,
                (int)i, found, expected);
      break;
    }
    free(a), free(b), free(product);
  }
  batch_free(&A), batch_free(&B), batch_free(&C), batch_free(&C0);
}
static void product_case(Case *c) {
  c->rows = c->cols = NULL;
  multiply(c, false, false, c->k, 0);
  if (!tap_failed()) multiply(c, true, c->n % 2, c->k, 0.25);
  if (!tap_failed()) multiply(c, false, true, c->k + 64, 1);
  if (!tap_failed()) multiply(c, c->n % 2, false, 1, 0.5);
}
TEST_EACH_BACKEND(large_products_are_sums_of_products) {
  SERVED(RITZ_BATCHED_GEMM);
  SERVED(RITZ_BATCHED_GEMV);
  for_sizes(ceed, product_case);
}

// ---- Classes of sizes ----

// Matrix i of a batch has the bits of matrix place[i] of another one that had other company.
static void check_company(Ceed ceed, CeedScalarType precision, RitzBatchedOperation operation, CeedInt n) {
  int32_t rows[MAX_COUNT], some_rows[MAX_COUNT], info[MAX_COUNT], some_info[MAX_COUNT];
  int32_t *ipiv = calloc((size_t)(MAX_COUNT * n), sizeof(*ipiv)),
          *some_ipiv = calloc((size_t)(MAX_COUNT * n), sizeof(*ipiv));
  const bool has_pivots = operation == RITZ_BATCHED_GETRF;
  const int64_t count = MAX_COUNT, some = 7;
  uint64_t state = 5;
  Case c = {.ceed = ceed,
            .precision = precision,
            .u = batch_roundoff(precision),
            .n = n,
            .count = count,
            .rows = rows,
            .state = 3};
  Batch all, few;
  BatchRun run = {.operation = operation,
                  .operand = {&all, operation == RITZ_BATCHED_INV ? &all : NULL},
                  .ipiv = has_pivots ? ipiv : NULL,
                  .info = info,
                  .num_ipiv = has_pivots ? count * n : 0};

  for (int64_t i = 0; i < count; i++) rows[i] = i % 8 == 3 ? n : (int32_t)tap_integer(&state, n + 1);
  for (int64_t i = 0; i < some; i++) some_rows[i] = rows[(17 * i + 3) % count];
  make_square(&c, &all);
  fill(&c, &all, true);
  c.form = BATCH_OFFSETS, c.count = some, c.rows = some_rows;
  make_square(&c, &few);
  for (int64_t i = 0; i < some; i++) {
    for (int64_t col = 0; col < some_rows[i]; col++) {
      for (int64_t row = 0; row < some_rows[i]; row++)
        batch_set(&few, i, row, col, batch_get(&all, (17 * i + 3) % count, row, col));
    }
  }
  check_run(&(Case){.ceed = ceed, .count = count}, &run, "all");
  if (tap_failed()) return;
  CHECK(batch_changed_only(&all, operation == RITZ_BATCHED_POTRF ? BATCH_LOWER : BATCH_ALL),
        "something beside the results has changed");
  run.operand[0] = &few, run.info = some_info;
  if (run.operand[1]) run.operand[1] = &few;
  if (has_pivots) run.ipiv = some_ipiv, run.num_ipiv = some * n;
  EXPECT_RUN(&c, &run, "some");
  for (int64_t i = 0; i < some; i++) {
    const int64_t j = (17 * i + 3) % count;

    CHECK(batch_same_bits(&few, i, &all, j), "a matrix of %d rows has other bits in other company",
          (int)some_rows[i]);
    CHECK(!memcmp(some_ipiv + i * n, ipiv + j * n, (size_t)some_rows[i] * sizeof(*ipiv)),
          "a matrix of %d rows has other pivots in other company", (int)some_rows[i]);
  }
  batch_free(&all), batch_free(&few);
  free(ipiv), free(some_ipiv);
}

TEST_EACH_BACKEND(results_do_not_depend_on_the_sizes_of_other_matrices) {
  static const RitzBatchedOperation operations[] = {RITZ_BATCHED_GETRF, RITZ_BATCHED_POTRF, RITZ_BATCHED_INV};
  const int num = tap_compiles_slowly(ceed) ? 1 : 3;

  for (int o = 0; o < num; o++) {
    SERVED(operations[o]);
    if (!tap_failed()) check_company(ceed, o % 2 ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64, operations[o], 100);
  }
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(large_positive_systems_have_small_residuals, large_systems_by_lu_have_small_residuals,
                        large_rectangles_are_products_of_their_factors,
                        large_triangular_systems_have_small_residuals_in_sixteen_forms,
                        large_inverses_times_the_matrix_are_the_identity, large_products_are_sums_of_products,
                        results_do_not_depend_on_the_sizes_of_other_matrices));
}
