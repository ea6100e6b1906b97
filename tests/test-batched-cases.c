// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra on matrices that are special: singular, indefinite, not finite, scaled to the ends of
// the range, with equal pivots, exact ones; batches of all sizes; results that do not depend on place, count
// and layout; fronts; arrays of vectors.
#include "tests/batched-kit.h"

#define SERVED(operation)                                                                                    \
  do {                                                                                                       \
    if (!batch_serves(ceed, operation)) NOT_FOR_THIS_BACKEND("no kernels for this batched operation");       \
  } while (0)

static const BatchForm few_forms[] = {BATCH_PACKED, BATCH_WIDE8};
static const CeedScalarType both[] = {CEED_SCALAR_FP64, CEED_SCALAR_FP32};

// Rows of a matrix in a random order; perm [n].
static void draw_permutation(int n, int *perm, uint64_t *state) {
  for (int i = 0; i < n; i++) perm[i] = i;
  for (int i = n - 1; i > 0; i--) {
    const int j = (int)tap_integer(state, i + 1), kept = perm[i];
    perm[i] = perm[j];
    perm[j] = kept;
  }
}

// ---- Singular and indefinite matrices ----

enum { N = 11 };

// Matrix k of N + 1: an upper triangle of integers with ones on the diagonal but for entry k, which is 0,
// rows permuted. The last matrix is regular. Steps are exact until the first zero.
static void fill_singular(const Batch *A, uint64_t *state) {
  for (int i = 0; i <= N; i++) {
    int perm[N];

    draw_permutation(N, perm, state);
    for (int c = 0; c < N; c++) {
      for (int r = 0; r < N; r++)
        batch_set(A, i, perm[r], c,
                  r > c    ? 0
                  : r == c ? (double)(r != i)
                           : (double)tap_integer(state, 7) - 3);
    }
  }
}

static void check_singular(Ceed ceed, BatchForm form, CeedScalarType precision) {
  int32_t info[N + 1], ipiv[(N + 1) * N];
  uint64_t state = 5;
  Batch A, F;
  const BatchRun run = {RITZ_BATCHED_GETRF, {0}, 1, 0, {&F}, ipiv, info, (N + 1) * N};

  batch_make(ceed, precision, form, N + 1, N, N, NULL, NULL, &A);
  batch_make(ceed, precision, form, N + 1, N, N, NULL, NULL, &F);
  fill_singular(&A, &state);
  batch_copy(&F, &A);
  const int ierr = batch_run(ceed, &run);
  for (int i = 0; i <= N && !ierr && !tap_failed(); i++) {
    double *a = batch_matrix(&A, i), *l = batch_matrix(&F, i), *u = batch_matrix(&F, i);

    tap_check(info[i] == (i < N ? i + 1 : 0), __FILE__, __LINE__, "info", "matrix %d: info %d", i,
              (int)info[i]);
    for (int k = 0; k < N; k++) {
      for (int c = 0; c < N && ipiv[i * N + k] >= 1 && ipiv[i * N + k] <= N; c++) {
        const double kept = a[k + c * N];
        a[k + c * N] = a[ipiv[i * N + k] - 1 + c * N];
        a[ipiv[i * N + k] - 1 + c * N] = kept;
      }
    }
    dense_keep_triangle(l, N, N, true, true);
    dense_keep_triangle(u, N, N, false, false);
    double *product = dense_product(l, N, false, u, N, false, N, N, N);
    tap_check(dense_distance(product, a, N, N) <= 10 * N * batch_roundoff(precision) * dense_norm(a, N, N),
              __FILE__, __LINE__, "factors", "matrix %d: the factors are not complete", i);
    free(a), free(l), free(u), free(product);
  }
  tap_check_ok(ierr, __FILE__, __LINE__, "GETRF");
  batch_free(&A), batch_free(&F);
}
TEST_EACH_BACKEND(lu_of_singular_matrices_is_complete_and_names_the_first_zero_pivot) {
  SERVED(RITZ_BATCHED_GETRF);
  for (int f = 0; f < 2; f++) {
    for (int p = 0; p < 2 && !tap_failed(); p++) check_singular(ceed, few_forms[f], both[p]);
  }
  CHECK(true, "all cases");
}

TEST_EACH_BACKEND(inverses_of_singular_matrices_name_the_pivot_and_leave_others_alone) {
  SERVED(RITZ_BATCHED_INV);
  int32_t info[N + 1];
  uint64_t state = 5;
  Batch A, X;
  const BatchRun run = {RITZ_BATCHED_INV, {0}, 1, 0, {&A, &X}, NULL, info, 0};

  batch_make(ceed, CEED_SCALAR_FP64, BATCH_PADDED, N + 1, N, N, NULL, NULL, &A);
  batch_make(ceed, CEED_SCALAR_FP64, BATCH_PADDED, N + 1, N, N, NULL, NULL, &X);
  fill_singular(&A, &state);
  const int ierr = batch_run(ceed, &run);
  double *a = batch_matrix(&A, N), *x = batch_matrix(&X, N);
  double *product = dense_product(a, N, false, x, N, false, N, N, N);
  for (int j = 0; j < N; j++) product[j + j * N] -= 1;
  // Integers, the determinant is 1 or -1: exact.
  const double residual = dense_norm(product, N, N);
  const bool is_kept = batch_changed_only(&A, BATCH_NOTHING) && batch_changed_only(&X, BATCH_ALL);
  free(a), free(x), free(product);
  batch_free(&A), batch_free(&X);
  CHECK_OK(ierr);
  for (int i = 0; i <= N; i++) CHECK(info[i] == (i < N ? i + 1 : 0), "matrix %d: info %d", i, (int)info[i]);
  CHECK(residual == 0, "|I - A X| = %g", residual);
  CHECK(is_kept, "A or a gap has changed");
}

TEST_EACH_BACKEND(inverse_from_singular_factors_leaves_them_as_they_are) {
  SERVED(RITZ_BATCHED_GETRI);
  int32_t info[3], ipiv[9] = {1, 2, 3, 1, 2, 3, 1, 2, 3};
  Batch A;
  const BatchRun run = {RITZ_BATCHED_GETRI, {0}, 1, 0, {&A}, ipiv, info, 9};

  batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, 3, 3, 3, NULL, NULL, &A);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 9; j++) batch_set(&A, i, j % 3, j / 3, j % 4 == 0 ? (j / 4 != i + 1) : 2);
  }
  const int ierr = batch_run(ceed, &run);
  batch_set(&A, 2, 0, 0, NAN); // the last one is regular, and inverted
  for (int j = 0; j < 9; j++)
    memcpy(A.kept + (batch_at(&A, 2, j % 3, j / 3) - A.data.host), batch_at(&A, 2, j % 3, j / 3), 8);
  const bool is_kept = batch_changed_only(&A, BATCH_NOTHING);
  batch_free(&A);
  CHECK_OK(ierr);
  CHECK(info[0] == 2 && info[1] == 3 && info[2] == 0, "info %d %d %d", (int)info[0], (int)info[1],
        (int)info[2]);
  CHECK(is_kept, "singular factors have changed");
}

// L D L^T, L with ones and small integers, D = I but for entry k of matrix k, which is `pivot`.
static void check_indefinite(Ceed ceed, BatchForm form, bool is_lower, double pivot) {
  int32_t info[N + 1];
  uint64_t state = 3;
  Batch A;
  double L[N + 1][N][N];
  const BatchRun run = {RITZ_BATCHED_POTRF,
                        {.uplo = is_lower ? RITZ_TRIANGLE_LOWER : RITZ_TRIANGLE_UPPER},
                        1,
                        0,
                        {&A},
                        NULL,
                        info,
                        0};

  batch_make(ceed, CEED_SCALAR_FP64, form, N + 1, N, N, NULL, NULL, &A);
  for (int i = 0; i <= N; i++) {
    for (int r = 0; r < N; r++) {
      for (int c = 0; c < N; c++) L[i][r][c] = r < c ? 0 : r == c ? 1 : (double)tap_integer(&state, 5) - 2;
    }
    for (int r = 0; r < N; r++) {
      for (int c = 0; c <= r; c++) {
        double sum = 0;
        for (int k = 0; k <= c; k++) sum += L[i][r][k] * (k == i ? pivot : 1) * L[i][c][k];
        batch_set(&A, i, is_lower ? r : c, is_lower ? c : r, sum);
      }
    }
  }
  const int ierr = batch_run(ceed, &run);
  tap_check_ok(ierr, __FILE__, __LINE__, "POTRF");
  tap_check(batch_changed_only(&A, is_lower ? BATCH_LOWER : BATCH_UPPER), __FILE__, __LINE__, "guards",
            "the other triangle has changed");
  for (int i = 0; i <= N && !ierr; i++) {
    bool holds = true;

    tap_check(info[i] == (i < N ? i + 1 : 0), __FILE__, __LINE__, "info", "matrix %d: info %d", i,
              (int)info[i]);
    for (int c = 0; c < i && c < N; c++) {
      for (int r = c; r < N; r++)
        holds = holds && batch_get(&A, i, is_lower ? r : c, is_lower ? c : r) == L[i][r][c];
    }
    tap_check(holds, __FILE__, __LINE__, "factor", "matrix %d: columns before the bad one are not the factor",
              i);
  }
  batch_free(&A);
}
TEST_EACH_BACKEND(cholesky_stops_at_the_first_minor_that_is_not_positive) {
  SERVED(RITZ_BATCHED_POTRF);
  for (int f = 0; f < 2; f++) {
    for (int lower = 0; lower < 2 && !tap_failed(); lower++) {
      check_indefinite(ceed, few_forms[f], lower, -1);
      if (!tap_failed()) check_indefinite(ceed, few_forms[f], lower, 0);
      if (!tap_failed()) check_indefinite(ceed, few_forms[f], lower, NAN);
    }
  }
  CHECK(true, "all cases");
}

// ---- NaN and Inf ----

// The operation on 9 matrices, of which matrix 4 has `value` in one entry (NaN in none: 0). Results [9].
static int run_with(Ceed ceed, RitzBatchedOperation operation, BatchForm form, double value, Batch *A,
                    Batch *B, Batch *C, int32_t *info) {
  enum { COUNT = 9, SIZE = 6 };
  int32_t ipiv[COUNT * SIZE];
  uint64_t state = 17;
  const bool has_B = operation != RITZ_BATCHED_POTRF && operation != RITZ_BATCHED_GETRF;
  const BatchRun run = {
      operation, {0},  1,           1, {A, has_B ? B : NULL, operation == RITZ_BATCHED_GEMM ? C : NULL},
      ipiv,      info, COUNT * SIZE};
  Batch *const batches[] = {A, B, C};

  for (int j = 0; j < COUNT * SIZE; j++) ipiv[j] = j % SIZE + 1;
  for (int k = 0; k < 3; k++) {
    batch_make(ceed, CEED_SCALAR_FP64, form, COUNT, SIZE, SIZE, NULL, NULL, batches[k]);
    batch_fill_random(batches[k], 1, &state);
  }
  for (int i = 0; i < COUNT; i++) {
    for (int j = 0; j < SIZE; j++) batch_set(A, i, j, j, 8);
  }
  if (value != 0) batch_set(A, 4, 3, 3, value);
  return batch_run(ceed, &run);
}

static void check_company(Ceed ceed, RitzBatchedOperation operation, BatchForm form, double value) {
  const bool has_B = operation != RITZ_BATCHED_POTRF && operation != RITZ_BATCHED_GETRF;
  const bool has_info = operation != RITZ_BATCHED_GEMM && operation != RITZ_BATCHED_TRSM;
  int32_t info[2][9] = {{0}, {0}};
  Batch A[2], B[2], C[2];
  int ierr = run_with(ceed, operation, form, 0, &A[0], &B[0], &C[0], info[0]);

  if (!ierr) ierr = run_with(ceed, operation, form, value, &A[1], &B[1], &C[1], info[1]);
  tap_check_ok(ierr, __FILE__, __LINE__, "the operation");
  const Batch *result = operation == RITZ_BATCHED_GEMM ? C : has_B ? B : A;
  for (int i = 0; i < 9 && !ierr; i++) {
    if (i == 4) continue;
    const bool is_done = !has_info || (info[0][i] == 0 && info[1][i] == 0);
    tap_check(is_done && batch_same_bits(&result[0], i, &result[1], i), __FILE__, __LINE__, "company",
              "operation %d: %g in matrix 4 changes matrix %d", (int)operation, value, i);
  }
  tap_check(operation != RITZ_BATCHED_POTRF || !isnan(value) || info[1][4] == 4, __FILE__, __LINE__, "info",
            "a NaN on the diagonal of row 4 gives info %d", (int)info[1][4]);
  for (int k = 0; k < 2; k++) batch_free(&A[k]), batch_free(&B[k]), batch_free(&C[k]);
}
TEST_EACH_BACKEND(nan_and_inf_stay_in_their_matrix) {
  static const RitzBatchedOperation operations[] = {RITZ_BATCHED_GEMM,  RITZ_BATCHED_POTRF,
                                                    RITZ_BATCHED_GETRF, RITZ_BATCHED_GETRS,
                                                    RITZ_BATCHED_INV,   RITZ_BATCHED_TRSM};
  const double values[] = {NAN, INFINITY, -INFINITY};

  for (int o = 0; o < 6; o++) {
    if (!batch_serves(ceed, operations[o])) continue;
    for (int v = 0; v < 3; v++) {
      for (int f = 0; f < 2 && !tap_failed(); f++)
        check_company(ceed, operations[o], few_forms[f], values[v]);
    }
  }
  SERVED(RITZ_BATCHED_GEMM);
  CHECK(true, "all cases");
}

// Rows beyond the 32nd of matrices up to 64 are in kernels of their own.
static void check_far_value(Ceed ceed, RitzBatchedOperation operation, int n, int place, double value) {
  enum { COUNT = 3 };
  int32_t ipiv[COUNT * 64], info[2][COUNT] = {{0}, {0}};
  int num_finite = 0;
  Batch A[2];

  for (int k = 0; k < 2; k++) {
    const BatchRun run = {operation, {0}, 1, 0, {&A[k]}, ipiv, info[k], COUNT * n};
    uint64_t state = 23;
    batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, COUNT, n, n, NULL, NULL, &A[k]);
    batch_fill_random(&A[k], 1, &state);
    for (int i = 0; i < COUNT; i++) {
      for (int j = 0; j < n; j++) batch_set(&A[k], i, j, j, 2 * n);
    }
    if (k == 1) batch_set(&A[k], 1, place, place, value);
    tap_check_ok(batch_run(ceed, &run), __FILE__, __LINE__, "the operation");
  }
  for (int i = 0; i < COUNT; i += 2) {
    tap_check(info[0][i] == 0 && info[1][i] == 0 && batch_same_bits(&A[0], i, &A[1], i), __FILE__, __LINE__,
              "company", "operation %d of order %d: %g in row %d changes matrix %d", (int)operation, n, value,
              place, i);
  }
  tap_check(operation != RITZ_BATCHED_POTRF || !isnan(value) || info[1][1] == place + 1, __FILE__, __LINE__,
            "info", "a NaN on the diagonal of row %d gives info %d", place, (int)info[1][1]);
  for (int j = 0; j < n * n; j++) num_finite += isfinite(batch_get(&A[1], 1, j % n, j / n)) ? 1 : 0;
  tap_check(operation == RITZ_BATCHED_POTRF || num_finite < n * n, __FILE__, __LINE__, "result",
            "LU of order %d: %g in row %d has gone", n, value, place);
  for (int k = 0; k < 2; k++) batch_free(&A[k]);
}
TEST_EACH_BACKEND(nan_and_inf_in_late_rows_stay_in_their_matrix) {
  static const RitzBatchedOperation operations[] = {RITZ_BATCHED_GETRF, RITZ_BATCHED_POTRF};
  const double values[] = {NAN, INFINITY};

  SERVED(RITZ_BATCHED_GETRF);
  for (int o = 0; o < 2; o++) {
    for (int n = 40; n <= (tap_compiles_slowly(ceed) ? 40 : 64); n += 24) {
      for (int v = 0; v < 2 && !tap_failed(); v++) {
        check_far_value(ceed, operations[o], n, 32, values[v]);
        check_far_value(ceed, operations[o], n, n - 1, values[v]);
      }
    }
  }
  CHECK(true, "all cases");
}

// ---- Tiny and huge numbers ----

// op(T) X = B for T and B of integers times `scale`, powers of 2 on the diagonal: every step is exact, though
// reciprocals of the diagonal may not be numbers.
static void check_scaled(Ceed ceed, RitzBatchedOperation operation, CeedScalarType precision, int n, int num,
                         double scale) {
  enum { COUNT = 2 };
  const bool is_lower = n % 2 == 0;
  uint64_t state = 5;
  Batch T, B;
  const BatchRun run = {operation, {.uplo = is_lower ? RITZ_TRIANGLE_LOWER : RITZ_TRIANGLE_UPPER},
                        1,         0,
                        {&T, &B},  NULL,
                        NULL,      0};
  double *X = malloc((size_t)(COUNT * n * num) * sizeof(*X));
  int num_wrong = 0;

  batch_make(ceed, precision, BATCH_PACKED, COUNT, n, n, NULL, NULL, &T);
  batch_make(ceed, precision, BATCH_PACKED, COUNT, n, num, NULL, NULL, &B);
  for (int k = 0; k < COUNT * n * num; k++) X[k] = (double)tap_integer(&state, 7) - 3;
  for (int i = 0; i < COUNT; i++) {
    for (int r = 0; r < n; r++) {
      for (int c = 0; c < n; c++) {
        const bool is_inside = is_lower ? r > c : r < c;
        const double off = is_inside ? (double)tap_integer(&state, 3) - 1 : 0;
        batch_set(&T, i, r, c, scale * (r == c ? 1 << r % 3 : off));
      }
      for (int c = 0; c < num; c++) {
        double sum = 0;
        for (int k = 0; k < n; k++) sum += batch_get(&T, i, r, k) / scale * X[(i * num + c) * n + k];
        batch_set(&B, i, r, c, scale * sum);
      }
    }
  }
  tap_check_ok(batch_run(ceed, &run), __FILE__, __LINE__, "the solve");
  for (int k = 0; k < COUNT * n * num; k++)
    num_wrong += batch_get(&B, k / (n * num), k % n, k / n % num) != X[k];
  tap_check(num_wrong == 0, __FILE__, __LINE__, "solution",
            "operation %d, order %d, %d columns, entries of %g: %d are wrong", (int)operation, n, num, scale,
            num_wrong);
  free(X), batch_free(&T), batch_free(&B);
}
TEST_EACH_BACKEND(triangles_of_tiny_and_huge_numbers_are_solved) {
  static const struct {
    RitzBatchedOperation operation;
    int n, num;
  } cases[] = {{RITZ_BATCHED_TRSM, 7, 3},  {RITZ_BATCHED_TRSV, 70, 1},  {RITZ_BATCHED_TRSM, 71, 3},
               {RITZ_BATCHED_TRSV, 24, 1}, {RITZ_BATCHED_TRSM, 40, 40}, {RITZ_BATCHED_TRSV, 64, 1}};

  SERVED(RITZ_BATCHED_TRSM);
  for (int k = 0; k < (batch_is_on_gpu(ceed) && !tap_compiles_slowly(ceed) ? 6 : 3) && !tap_failed(); k++) {
    check_scaled(ceed, cases[k].operation, CEED_SCALAR_FP64, cases[k].n, cases[k].num, 0x1p-1070);
    check_scaled(ceed, cases[k].operation, CEED_SCALAR_FP64, cases[k].n, cases[k].num, 0x1p+1010);
    if (tap_compiles_slowly(ceed) || (k == 1 && !batch_is_on_gpu(ceed))) continue;
    check_scaled(ceed, cases[k].operation, CEED_SCALAR_FP32, cases[k].n, cases[k].num, 0x1p-140);
    check_scaled(ceed, cases[k].operation, CEED_SCALAR_FP32, cases[k].n, cases[k].num, 0x1p+115);
  }
  CHECK(true, "all cases");
}

// ---- Pivots ----

// LAPACK's rule on entries that are exact in elimination: ipiv [n] of the first largest ones.
static void expect_pivots(double *a, int n, int32_t *ipiv) {
  for (int k = 0; k < n; k++) {
    int row = k;

    for (int r = k + 1; r < n; r++) row = fabs(a[r + k * n]) > fabs(a[row + k * n]) ? r : row;
    ipiv[k] = row + 1;
    for (int c = 0; c < n; c++) {
      const double kept = a[k + c * n];
      a[k + c * n] = a[row + c * n];
      a[row + c * n] = kept;
    }
    for (int r = k + 1; r < n; r++) {
      const double l = a[r + k * n] / a[k + k * n];
      for (int c = k; c < n; c++) a[r + c * n] -= l * a[k + c * n];
    }
  }
}

// Hadamard matrices with permuted rows: all candidates of a step are equal or zero, multipliers are 1, -1, 0.
static void check_ties(Ceed ceed, BatchForm form, CeedScalarType precision, int n) {
  enum { COUNT = 5, MAX = 32 };
  int32_t ipiv[COUNT * MAX], info[COUNT], wanted[MAX];
  uint64_t state = 23;
  Batch A, A0;
  const BatchRun run = {RITZ_BATCHED_GETRF, {0}, 1, 0, {&A}, ipiv, info, COUNT * n};

  batch_make(ceed, precision, form, COUNT, n, n, NULL, NULL, &A);
  batch_make(ceed, precision, form, COUNT, n, n, NULL, NULL, &A0);
  for (int i = 0; i < COUNT; i++) {
    int perm[MAX];

    draw_permutation(n, perm, &state);
    for (int r = 0; r < n; r++) {
      for (int c = 0; c < n; c++) {
        int bits = r & c, parity = 0;
        for (; bits; bits &= bits - 1) parity ^= 1;
        batch_set(&A0, i, perm[r], c, parity ? -1 : 1);
      }
    }
  }
  batch_copy(&A, &A0);
  tap_check_ok(batch_run(ceed, &run), __FILE__, __LINE__, "GETRF");
  for (int i = 0; i < COUNT && !tap_failed(); i++) {
    double *a = batch_matrix(&A0, i);

    expect_pivots(a, n, wanted);
    free(a);
    for (int k = 0; k < n; k++)
      tap_check(ipiv[i * n + k] == wanted[k], __FILE__, __LINE__, "pivot",
                "n = %d, matrix %d, step %d: row %d, wanted %d", n, i, k, (int)ipiv[i * n + k],
                (int)wanted[k]);
  }
  batch_free(&A), batch_free(&A0);
}
TEST_EACH_BACKEND(equal_pivots_take_the_first_row) {
  SERVED(RITZ_BATCHED_GETRF);
  for (int n = 2; n <= 32; n *= 2) {
    for (int f = 0; f < 2 && !tap_failed(); f++) check_ties(ceed, few_forms[f], both[n % 3 == 1], n);
  }
  CHECK(true, "all cases");
}

// Candidates that differ in their last bits alone, once in the sign, too.
TEST_EACH_BACKEND(pivots_that_are_larger_by_one_bit_are_found) {
  SERVED(RITZ_BATCHED_GETRF);
  enum { COUNT = 24, SIZE = 24 };
  for (int p = 0; p < 2; p++) {
    const double u = 2 * batch_roundoff(both[p]);
    int32_t ipiv[COUNT * SIZE], info[COUNT];
    uint64_t state = 29;
    Batch A;
    const BatchRun run = {RITZ_BATCHED_GETRF, {0}, 1, 0, {&A}, ipiv, info, COUNT * SIZE};

    batch_make(ceed, both[p], BATCH_PACKED, COUNT, SIZE, SIZE, NULL, NULL, &A);
    batch_fill_random(&A, 1, &state);
    // Row i is the largest of matrix i; rows after it are equal to the one before.
    for (int i = 0; i < COUNT; i++) {
      for (int r = 0; r < SIZE; r++)
        batch_set(&A, i, r, 0, (r % 2 ? -1 : 1) * (1 + (r == i ? 2 : r > i) * u));
    }
    const int ierr = batch_run(ceed, &run);
    batch_free(&A);
    CHECK_OK(ierr);
    for (int i = 0; i < COUNT; i++)
      CHECK(ipiv[i * SIZE] == i + 1, "matrix %d: first pivot in row %d", i, (int)ipiv[i * SIZE]);
  }
}

// ---- Exact matrices, scaling ----

TEST_EACH_BACKEND(inverse_of_a_permutation_is_its_transpose) {
  SERVED(RITZ_BATCHED_INV);
  enum { COUNT = 5, SIZE = 19 };
  int32_t info[COUNT];
  uint64_t state = 31;
  Batch A, X;
  bool holds = true;
  const BatchRun run = {RITZ_BATCHED_INV, {0}, 1, 0, {&A, &X}, NULL, info, 0};

  batch_make(ceed, CEED_SCALAR_FP32, BATCH_WIDE4, COUNT, SIZE, SIZE, NULL, NULL, &A);
  batch_make(ceed, CEED_SCALAR_FP32, BATCH_PACKED, COUNT, SIZE, SIZE, NULL, NULL, &X);
  for (int i = 0; i < COUNT; i++) {
    int perm[SIZE];
    draw_permutation(SIZE, perm, &state);
    for (int c = 0; c < SIZE; c++) {
      for (int r = 0; r < SIZE; r++) batch_set(&A, i, r, c, perm[r] == c);
    }
  }
  const int ierr = batch_run(ceed, &run);
  for (int i = 0; i < COUNT; i++) {
    for (int j = 0; j < SIZE * SIZE; j++)
      holds = holds && batch_get(&X, i, j / SIZE, j % SIZE) == batch_get(&A, i, j % SIZE, j / SIZE);
  }
  batch_free(&A), batch_free(&X);
  CHECK_OK(ierr);
  CHECK(holds, "an entry differs");
}

// Factors of 2^e A are those of A times a power of two, bit by bit, near the ends of the range.
static void check_scaling(Ceed ceed, RitzBatchedOperation operation, CeedScalarType precision, int exponent) {
  enum { COUNT = 3, SIZE = 13 };
  const bool is_lu = operation == RITZ_BATCHED_GETRF;
  int32_t ipiv[2][COUNT * SIZE], info[COUNT];
  Batch A[2];
  bool holds = true;

  for (int k = 0; k < 2; k++) {
    const BatchRun run = {operation, {0}, 1, 0, {&A[k]}, ipiv[k], info, COUNT * SIZE};
    const double factor = k ? ldexp(1, exponent) : 1;
    uint64_t state = 37;

    batch_make(ceed, precision, BATCH_PADDED, COUNT, SIZE, SIZE, NULL, NULL, &A[k]);
    batch_fill_random(&A[k], factor, &state);
    for (int i = 0; i < COUNT; i++) {
      for (int j = 0; j < SIZE && !is_lu; j++) batch_set(&A[k], i, j, j, SIZE * factor);
    }
    tap_check_ok(batch_run(ceed, &run), __FILE__, __LINE__, "the factorization");
  }
  for (int i = 0; i < COUNT; i++) {
    for (int j = 0; j < SIZE * SIZE; j++) {
      const int r = j % SIZE, c = j / SIZE, e = !is_lu ? exponent / 2 : r > c ? 0 : exponent;

      if (is_lu || r >= c) holds = holds && batch_get(&A[1], i, r, c) == ldexp(batch_get(&A[0], i, r, c), e);
    }
  }
  tap_check(holds && (!is_lu || !memcmp(ipiv[0], ipiv[1], sizeof(ipiv[0]))), __FILE__, __LINE__, "scaling",
            "operation %d: factors of 2^%d A are not those of A", (int)operation, exponent);
  batch_free(&A[0]), batch_free(&A[1]);
}
TEST_EACH_BACKEND(factors_of_scaled_matrices_are_scaled_factors) {
  SERVED(RITZ_BATCHED_GETRF);
  SERVED(RITZ_BATCHED_POTRF);
  for (int sign = -1; sign <= 1; sign += 2) {
    check_scaling(ceed, RITZ_BATCHED_GETRF, CEED_SCALAR_FP64, sign * 900);
    check_scaling(ceed, RITZ_BATCHED_GETRF, CEED_SCALAR_FP32, sign * 90);
    check_scaling(ceed, RITZ_BATCHED_POTRF, CEED_SCALAR_FP64, sign * 900);
    check_scaling(ceed, RITZ_BATCHED_POTRF, CEED_SCALAR_FP32, sign * 90);
  }
  CHECK(true, "all cases");
}

// Hilbert's matrix and graded ones: |A - L U|_1 <= 10 n u |A|_1, though the condition is beyond 1 / u.
TEST_EACH_BACKEND(ill_conditioned_matrices_have_small_residuals) {
  SERVED(RITZ_BATCHED_GETRF);
  enum { SIZE = 15 };
  for (int p = 0; p < 2; p++) {
    int32_t ipiv[2 * SIZE], info[2];
    double residual[2], size[2];
    uint64_t state = 41;
    Batch A, F;
    const BatchRun run = {RITZ_BATCHED_GETRF, {0}, 1, 0, {&F}, ipiv, info, 2 * SIZE};

    batch_make(ceed, both[p], BATCH_PACKED, 2, SIZE, SIZE, NULL, NULL, &A);
    batch_make(ceed, both[p], BATCH_PACKED, 2, SIZE, SIZE, NULL, NULL, &F);
    for (int j = 0; j < SIZE * SIZE; j++) {
      batch_set(&A, 0, j % SIZE, j / SIZE, 1.0 / (j % SIZE + j / SIZE + 1));
      batch_set(&A, 1, j % SIZE, j / SIZE, ldexp(tap_uniform(&state), -3 * (j % SIZE) - j / SIZE));
    }
    batch_copy(&F, &A);
    const int ierr = batch_run(ceed, &run);
    for (int i = 0; i < 2 && !ierr; i++) {
      double *a = batch_matrix(&A, i), *l = batch_matrix(&F, i), *u = batch_matrix(&F, i);
      for (int k = 0; k < SIZE; k++) {
        const int row = ipiv[i * SIZE + k] - 1;
        for (int c = 0; c < SIZE; c++) {
          const double kept = a[k + c * SIZE];
          a[k + c * SIZE] = a[row + c * SIZE];
          a[row + c * SIZE] = kept;
        }
      }
      dense_keep_triangle(l, SIZE, SIZE, true, true);
      dense_keep_triangle(u, SIZE, SIZE, false, false);
      double *product = dense_product(l, SIZE, false, u, SIZE, false, SIZE, SIZE, SIZE);
      residual[i] = dense_distance(product, a, SIZE, SIZE);
      size[i] = dense_norm(a, SIZE, SIZE);
      free(a), free(l), free(u), free(product);
    }
    batch_free(&A), batch_free(&F);
    CHECK_OK(ierr);
    for (int i = 0; i < 2; i++)
      CHECK(residual[i] <= 10 * SIZE * batch_roundoff(both[p]) * size[i], "matrix %d: residual %g, size %g",
            i, residual[i], size[i]);
  }
}

// ---- Same bits ----

typedef struct {
  Ceed ceed;
  RitzBatchedOperation operation;
  Batch A, B; // what is computed from; A0, B0 of each run are copies
} Same;

// Matrix i of the batch in this form is matrix first + i of the originals; results in *A, *B, of which the
// first `count` are computed.
static bool run_same(const Same *s, BatchForm form, int64_t num, int64_t first, int64_t count, bool has_sizes,
                     Batch *A, Batch *B) {
  enum { MAX = 256 };
  const CeedInt n = s->A.layout.n, k = s->B.layout.n;
  int32_t sizes[MAX], cols[MAX], info[MAX], *ipiv = malloc((size_t)(num * n) * sizeof(*ipiv));
  const bool has_B = s->operation != RITZ_BATCHED_GETRF && s->operation != RITZ_BATCHED_POTRF;
  const BatchRun run = {s->operation, {0}, 1, 0, {A, has_B ? B : NULL}, ipiv, info, count * n};

  for (int64_t i = 0; i < num; i++) sizes[i] = n, cols[i] = k;
  for (int64_t j = 0; j < num * n; j++) ipiv[j] = (int32_t)(n - j % n / 2);
  batch_make(s->ceed, s->A.layout.precision, form, num, n, n, has_sizes ? sizes : NULL,
             has_sizes ? sizes : NULL, A);
  batch_make(s->ceed, s->A.layout.precision, form, num, n, k, has_sizes ? sizes : NULL,
             has_sizes ? cols : NULL, B);
  for (int64_t i = 0; i < num; i++) {
    for (int64_t c = 0; c < n; c++) {
      for (int64_t r = 0; r < n; r++) batch_set(A, i, r, c, batch_get(&s->A, (first + i) % s->A.count, r, c));
    }
    for (int64_t c = 0; c < k; c++) {
      for (int64_t r = 0; r < n; r++) batch_set(B, i, r, c, batch_get(&s->B, (first + i) % s->A.count, r, c));
    }
  }
  const int ierr = batch_run_some(s->ceed, &run, count);
  free(ipiv);
  return tap_check_ok(ierr, __FILE__, __LINE__, "the operation");
}

static void compare_bits(const Same *s, const Batch *wanted_A, const Batch *wanted_B, BatchForm form,
                         int64_t num, int64_t first, int64_t count, bool has_sizes) {
  Batch A, B;

  if (run_same(s, form, num, first, count, has_sizes, &A, &B)) {
    for (int64_t i = 0; i < num; i++) {
      const int64_t j = (first + i) % s->A.count;
      const bool is_done = i < count;

      tap_check(batch_same_bits(&A, i, is_done ? wanted_A : &s->A, j) &&
                    batch_same_bits(&B, i, is_done ? wanted_B : &s->B, j),
                __FILE__, __LINE__, "bits",
                "operation %d, %s%s: matrix %d at place %d of %d (%d computed) differs", (int)s->operation,
                has_sizes ? "non-uniform " : "", batch_form_names[form], (int)j, (int)i, (int)num,
                (int)count);
    }
  }
  batch_free(&A), batch_free(&B);
}

static void check_same(Ceed ceed, RitzBatchedOperation operation, CeedScalarType precision, CeedInt n) {
  Same s = {.ceed = ceed, .operation = operation};
  Batch A, B;
  uint64_t state = 43;

  batch_make(ceed, precision, BATCH_PACKED, 33, n, n, NULL, NULL, &s.A);
  batch_make(ceed, precision, BATCH_PACKED, 33, n, operation == RITZ_BATCHED_INV ? n : 3, NULL, NULL, &s.B);
  batch_fill_random(&s.A, 1, &state);
  batch_fill_random(&s.B, 1, &state);
  for (int64_t j = 0; j < 33 * n; j++) batch_set(&s.A, j / n, j % n, j % n, 2 + (double)n);
  if (run_same(&s, BATCH_PACKED, 33, 0, 33, false, &A, &B)) {
    compare_bits(&s, &A, &B, BATCH_PACKED, 33, 0, 33, false);
    compare_bits(&s, &A, &B, BATCH_PACKED, 33, 5, 33, false);
    compare_bits(&s, &A, &B, BATCH_PACKED, 1, 7, 1, false);
    compare_bits(&s, &A, &B, BATCH_PADDED, 33, 0, 10, false);
    compare_bits(&s, &A, &B, BATCH_SUB, 7, 20, 7, false);
    compare_bits(&s, &A, &B, BATCH_OFFSETS, 33, 0, 33, false);
    if (batch_has_form(ceed, BATCH_POINTERS)) compare_bits(&s, &A, &B, BATCH_POINTERS, 33, 2, 33, false);
    compare_bits(&s, &A, &B, BATCH_PACKED, 33, 0, 33, true);
    compare_bits(&s, &A, &B, BATCH_OFFSETS, 7, 3, 7, true);
  }
  batch_free(&A), batch_free(&B);
  // Interleaved: the same bits whatever place and count are, lanes behind the last matrix are kept.
  if (!tap_failed() && run_same(&s, BATCH_WIDE8, 33, 0, 33, false, &A, &B)) {
    compare_bits(&s, &A, &B, BATCH_WIDE8, 33, 3, 33, false);
    compare_bits(&s, &A, &B, BATCH_WIDE8, 7, 11, 7, false);
    compare_bits(&s, &A, &B, BATCH_WIDE8, 33, 0, 13, false);
    batch_free(&A), batch_free(&B);
  }
  batch_free(&s.A), batch_free(&s.B);
}
TEST_EACH_BACKEND(results_have_the_same_bits_in_every_place_count_and_layout) {
  static const RitzBatchedOperation operations[] = {RITZ_BATCHED_POTRF, RITZ_BATCHED_POTRS,
                                                    RITZ_BATCHED_GETRF, RITZ_BATCHED_GETRS,
                                                    RITZ_BATCHED_INV,   RITZ_BATCHED_TRSM};
  SERVED(RITZ_BATCHED_GETRF);
  for (int o = 0; o < 6; o++) {
    for (int p = 0; p < 2 && batch_serves(ceed, operations[o]) && !tap_failed(); p++)
      check_same(ceed, operations[o], both[p], 9 + 8 * (o % 2));
  }
  CHECK(true, "all cases");
}

static void check_threads(RitzBatchedOperation operation) {
  static const char *const resources[] = {"/cpu/self/gen:threads=1", "/cpu/self/gen:threads=3"};
  enum { COUNT = 200, SIZE = 9 };
  Batch A[2], B[2];
  bool holds = true;

  for (int t = 0; t < 2; t++) {
    Ceed ceed = tap_ceed(resources[t]);
    Same s = {.ceed = ceed, .operation = operation};
    uint64_t state = 67;

    batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, COUNT, SIZE, SIZE, NULL, NULL, &s.A);
    batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, COUNT, SIZE, SIZE, NULL, NULL, &s.B);
    batch_fill_random(&s.A, 1, &state);
    batch_fill_random(&s.B, 1, &state);
    run_same(&s, BATCH_PADDED, COUNT, 0, COUNT, false, &A[t], &B[t]);
    batch_free(&s.A), batch_free(&s.B);
    CeedDestroy(&ceed);
  }
  for (int i = 0; i < COUNT; i++) holds = holds && batch_same_bits(&B[0], i, &B[1], i);
  for (int t = 0; t < 2; t++) batch_free(&A[t]), batch_free(&B[t]);
  CHECK(holds, "operation %d: a result differs", (int)operation);
}
// By kernels and, of copies, by the loops of the reference backend.
TEST(results_have_the_same_bits_on_any_number_of_threads) {
  static const RitzBatchedOperation operations[] = {RITZ_BATCHED_INV, RITZ_BATCHED_TRMM, RITZ_BATCHED_COPY};

  for (int o = 0; o < 3 && !tap_failed(); o++) check_threads(operations[o]);
}

// ---- Sizes ----

// Matrices of all sizes 0 .. 33 in one batch, in a random order: solved with the solution known.
TEST_EACH_BACKEND(batches_of_all_sizes_are_solved) {
  SERVED(RITZ_BATCHED_GETRF);
  SERVED(RITZ_BATCHED_GETRS);
  enum { MOST = 33, COUNT = MOST + 1 };
  int32_t sizes[COUNT], ipiv[COUNT * MOST], info[COUNT];
  int perm[COUNT];
  uint64_t state = 47;
  double largest = 0;
  Batch A, B;
  const BatchRun factorize = {RITZ_BATCHED_GETRF, {0}, 1, 0, {&A}, ipiv, info, COUNT * MOST};
  const BatchRun solve = {RITZ_BATCHED_GETRS, {0}, 1, 0, {&A, &B}, ipiv, info, COUNT * MOST};

  draw_permutation(COUNT, perm, &state);
  for (int i = 0; i < COUNT; i++) sizes[i] = perm[i];
  batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, COUNT, MOST, MOST, sizes, sizes, &A);
  batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, COUNT, MOST, 1, sizes, NULL, &B);
  batch_fill_random(&A, 1, &state);
  for (int i = 0; i < COUNT; i++) {
    for (int r = 0; r < sizes[i]; r++) {
      double sum = 0;
      batch_set(&A, i, r, (r + 1) % sizes[i], 2.0 * MOST);
      for (int c = 0; c < sizes[i]; c++) sum += batch_get(&A, i, r, c);
      batch_set(&B, i, r, 0, sum); // of ones
    }
  }
  int ierr = batch_run(ceed, &factorize);
  if (!ierr) ierr = batch_run(ceed, &solve);
  for (int i = 0; i < COUNT; i++) {
    for (int r = 0; r < sizes[i]; r++) largest = tap_larger(largest, fabs(batch_get(&B, i, r, 0) - 1));
  }
  batch_free(&A), batch_free(&B);
  CHECK_OK(ierr);
  // The condition is below 10.
  CHECK(largest <= 10 * 10 * MOST * batch_roundoff(CEED_SCALAR_FP64), "largest error %g", largest);
}

// Two calls of an object that has analyzed the sizes, and one of another that has not.
TEST_EACH_BACKEND(analyzed_batches_have_the_same_bits) {
  SERVED(RITZ_BATCHED_POTRF);
  enum { COUNT = 40, MOST = 21 };
  int32_t sizes[COUNT], info[COUNT];
  uint64_t state = 71;
  RitzBatched batched = NULL;
  Batch A[3];
  const BatchRun run = {RITZ_BATCHED_POTRF, {0}, 1, 0, {&A[0]}, NULL, info, 0};
  int code = 0;
  bool holds = true;

  for (int i = 0; i < COUNT; i++) sizes[i] = (int32_t)tap_integer(&state, MOST + 1);
  for (int k = 0; k < 3; k++) {
    batch_make(ceed, CEED_SCALAR_FP64, BATCH_OFFSETS, COUNT, MOST, MOST, sizes, sizes, &A[k]);
    if (k == 0) batch_fill_random(&A[0], 1, &state);
    if (k > 0) batch_copy(&A[k], &A[0]);
    for (int i = 0; i < COUNT; i++) {
      for (int j = 0; j < sizes[i]; j++) batch_set(&A[k], i, j, j, MOST);
    }
  }
  const int created = batch_create(ceed, &run, &batched), first = batch_run(ceed, &run);
  // One array of sizes for both calls.
  batch_lend(&A[1]), batch_lend(&A[2]);
  A[2].array.rows = A[2].array.cols = A[1].array.cols = A[1].array.rows;
  if (!created) code = RitzBatchedAnalyze(batched, COUNT, NULL, A[1].array.rows, NULL);
  for (int k = 1; k < 3 && !created && !code; k++) code = RitzPotrfBatched(batched, COUNT, &A[k].array, NULL);
  batch_return(&A[1]), batch_return(&A[2]);
  for (int i = 0; i < COUNT; i++)
    holds = holds && batch_same_bits(&A[0], i, &A[1], i) && batch_same_bits(&A[0], i, &A[2], i);
  for (int k = 0; k < 3; k++) batch_free(&A[k]);
  CHECK_OK(created);
  CHECK_OK(first);
  CHECK_OK(code);
  CHECK_OK(RitzBatchedDestroy(&batched));
  CHECK(holds, "a factor differs");
}

TEST_EACH_BACKEND(sizes_beyond_the_bounds_are_told_and_left_alone) {
  SERVED(RITZ_BATCHED_GETRF);
  enum { COUNT = 5 };
  static const int32_t rows[COUNT] = {3, 5, 4, 2, -1}, cols[COUNT] = {3, 3, 9, -7, 3};
  static const int32_t wanted[COUNT] = {0, -1001, -1002, -1002, -1001};
  int32_t ipiv[COUNT * 4], info[COUNT] = {7, 7, 7, 7, 7};
  uint64_t state = 53;
  Batch A;
  const BatchRun run = {RITZ_BATCHED_GETRF, {0}, 1, 0, {&A}, ipiv, info, COUNT * 4};

  batch_make(ceed, CEED_SCALAR_FP64, BATCH_PADDED, COUNT, 4, 4, NULL, NULL, &A);
  batch_fill_random(&A, 1, &state);
  batch_keep(&A);
  A.rows = batch_copy_sizes(COUNT, rows);
  A.cols = batch_copy_sizes(COUNT, cols);
  batch_memory_free(&A.row_sizes);
  batch_memory_free(&A.col_sizes);
  batch_memory_make(ceed, sizeof(rows), &A.row_sizes);
  batch_memory_make(ceed, sizeof(cols), &A.col_sizes);
  tap_forget_error(ceed);
  const int ierr = batch_run(ceed, &run);
  if (tap_checks_calls(ceed)) {
    const char *message = "";
    CeedGetErrorMessage(ceed, &message);
    tap_check(ierr == CEED_ERROR_DIMENSION && strstr(message, "m of matrix 1 is 5, needed 0 to 4"), __FILE__,
              __LINE__, "refused", "code %d: %s", ierr, message);
    batch_free(&A);
    CHECK(info[0] == -1 || info[0] == 7, "something was done");
    return;
  }
  const bool is_kept = batch_changed_only(&A, BATCH_ALL);
  batch_free(&A);
  CHECK_OK(ierr);
  for (int i = 0; i < COUNT; i++)
    CHECK(info[i] == wanted[i], "matrix %d: info %d, wanted %d", i, (int)info[i], (int)wanted[i]);
  CHECK(is_kept, "a matrix with a bad size has changed");
}

TEST_EACH_BACKEND(infos_of_empty_matrices_are_zero_and_failures_are_found) {
  SERVED(RITZ_BATCHED_POTRF);
  int32_t info[3] = {5, 5, 5}, value = 3;
  int64_t index = 3;
  RitzBatched batched = NULL;
  BatchMemory memory;
  Batch A;
  const BatchRun run = {RITZ_BATCHED_POTRF, {0}, 1, 0, {&A}, NULL, info, 0};

  batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, 3, 0, 0, NULL, NULL, &A);
  const int ierr = batch_run(ceed, &run), created = batch_create(ceed, &run, &batched);
  batch_free(&A);
  CHECK_OK(ierr);
  CHECK_OK(created);
  CHECK(info[0] == 0 && info[1] == 0 && info[2] == 0, "infos %d %d %d", (int)info[0], (int)info[1],
        (int)info[2]);
  batch_memory_make(ceed, 4 * sizeof(int32_t), &memory);
  memcpy(memory.host, (int32_t[]){0, 0, 9, 4}, 4 * sizeof(int32_t));
  CHECK_OK(RitzBatchedGetFirstFailure(batched, batch_memory_lend(&memory), 4, &index, &value));
  CHECK(index == 2 && value == 9, "matrix %d, info %d", (int)index, (int)value);
  batch_memory_return(&memory);
  CHECK_OK(RitzBatchedGetFirstFailure(batched, batch_memory_lend(&memory), 2, &index, &value));
  CHECK(index == -1 && value == 0, "matrix %d, info %d", (int)index, (int)value);
  batch_memory_return(&memory);
  batch_memory_free(&memory);
  CHECK_OK(RitzBatchedDestroy(&batched));
}

// ---- Fronts ----

// The fronts of one level: order d1 + d2 each, one array, eliminated by four calls. L U = F, where U22 is the
// Schur complement that is left in F22.
TEST_EACH_BACKEND(four_calls_eliminate_fronts_of_different_sizes) {
  SERVED(RITZ_BATCHED_GETRF);
  SERVED(RITZ_BATCHED_TRSM);
  SERVED(RITZ_BATCHED_GEMM);
  enum { COUNT = 6, D1 = 9, D2 = 12, ORDER = D1 + D2 };
  static const int32_t d1[COUNT] = {9, 1, 4, 0, 7, 3}, d2[COUNT] = {12, 0, 5, 3, 8, 1};
  int32_t order[COUNT];
  uint64_t state = 59;
  BatchMemory ints[3];
  RitzBatched getrf = NULL, left = NULL, right = NULL, gemm = NULL;
  Batch F, F0;

  for (int i = 0; i < COUNT; i++) order[i] = d1[i] + d2[i];
  batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, COUNT, ORDER, ORDER, order, order, &F);
  batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, COUNT, ORDER, ORDER, order, order, &F0);
  batch_fill_random(&F0, 1, &state);
  for (int i = 0; i < COUNT; i++) {
    for (int j = 0; j < order[i]; j++) batch_set(&F0, i, j, j, ORDER);
  }
  batch_copy(&F, &F0);
  batch_keep(&F);
  const RitzBatchLayout layout = {.precision = CEED_SCALAR_FP64, .ld = ORDER, .stride = F.stride};
  RitzBatchLayout L11 = layout, L12 = layout, L21 = layout, L22 = layout;
  L11.m = L11.n = L12.m = L21.n = D1;
  L12.n = L21.m = L22.m = L22.n = D2;
  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_GETRF,
                             &(RitzBatchedOptions){.pivot = RITZ_PIVOT_NONE, .A = L11}, &getrf));
  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_TRSM,
                             &(RitzBatchedOptions){.diag = RITZ_DIAGONAL_UNIT, .A = L11, .B = L12}, &left));
  CHECK_OK(RitzBatchedCreate(
      ceed, RITZ_BATCHED_TRSM,
      &(RitzBatchedOptions){.side = RITZ_SIDE_RIGHT, .uplo = RITZ_TRIANGLE_UPPER, .A = L11, .B = L21},
      &right));
  CHECK_OK(
      RitzBatchedCreate(ceed, RITZ_BATCHED_GEMM, &(RitzBatchedOptions){.A = L21, .B = L12, .C = L22}, &gemm));

  for (int k = 0; k < 3; k++) {
    batch_memory_make(ceed, COUNT * sizeof(int32_t), &ints[k]);
    memcpy(ints[k].host, k == 0 ? d1 : k == 1 ? d2 : order, COUNT * sizeof(int32_t));
  }
  const int32_t *n1 = batch_memory_lend(&ints[0]), *n2 = batch_memory_lend(&ints[1]);
  const int32_t *lds = batch_memory_lend(&ints[2]);
  batch_lend(&F);
  const RitzBatchArray whole = {.base = F.array.base, .lds = lds};
  RitzBatchArray F11 = whole, F12 = whole, F21 = whole, F22 = whole;
  F11.rows = F11.cols = F12.rows = F21.cols = n1;
  F12.cols = F21.rows = F22.rows = F22.cols = n2;
  F21.first_rows = F22.first_rows = F12.first_cols = F22.first_cols = n1;
  CHECK_OK(RitzGetrfBatched(getrf, COUNT, &F11, NULL, NULL));
  CHECK_OK(RitzTrsmBatched(left, COUNT, 1, &F11, &F12));
  CHECK_OK(RitzTrsmBatched(right, COUNT, 1, &F11, &F21));
  CHECK_OK(RitzGemmBatched(gemm, COUNT, -1, &F21, &F12, 1, &F22));
  batch_return(&F);
  for (int k = 0; k < 3; k++) batch_memory_return(&ints[k]), batch_memory_free(&ints[k]);
  CHECK_OK(RitzBatchedDestroy(&getrf));
  CHECK_OK(RitzBatchedDestroy(&left));
  CHECK_OK(RitzBatchedDestroy(&right));
  CHECK_OK(RitzBatchedDestroy(&gemm));

  CHECK(batch_changed_only(&F, BATCH_ALL), "a gap has changed");
  for (int i = 0; i < COUNT; i++) {
    const int n = order[i];
    double *a = batch_matrix(&F0, i), *l = batch_matrix(&F, i), *u = batch_matrix(&F, i);

    // L: unit lower trapezoid of d1 columns, then the identity; U: upper one, then all of F22.
    for (int j = 0; j < n * n; j++) {
      const int r = j % n, c = j / n;
      if (r <= c || c >= d1[i]) l[j] = r == c;
      if (r > c && c < d1[i]) u[j] = 0;
    }
    double *product = dense_product(l, n, false, u, n, false, n, n, n);
    const double residual = dense_distance(product, a, n, n), size = dense_norm(a, n, n);
    free(a), free(l), free(u), free(product);
    CHECK(residual <= 10 * n * batch_roundoff(CEED_SCALAR_FP64) * size, "front %d: residual %g, size %g", i,
          residual, size);
  }
  batch_free(&F), batch_free(&F0);
}

// ---- Vectors ----

TEST_EACH_BACKEND(matrices_of_vectors_multiply_vectors) {
  SERVED(RITZ_BATCHED_GEMV);
  enum { COUNT = 3 };
  const CeedScalar entries[] = {1, 3, 2, 4, 0, 1, 1, 0, 5, 6, 7, 8}, x[] = {1, 1, 2, 3, 1, -1};
  const CeedScalar wanted[] = {3, 7, 3, 2, -2, -2};
  const RitzBatchLayout matrix = {.precision = CEED_SCALAR_TYPE, .m = 2, .n = 2};
  const RitzBatchLayout column = {.precision = CEED_SCALAR_TYPE, .m = 2, .n = 1};
  const RitzBatchedOptions options = {.A = matrix, .B = column, .C = column};
  const CeedScalar *found;
  CeedVector vec[3];
  RitzBatchArray array[3];
  RitzBatched batched = NULL;
  bool holds = true;

  for (int k = 0; k < 3; k++) {
    CHECK_OK(CeedVectorCreate(ceed, k == 0 ? 12 : 6, &vec[k]));
    if (k < 2)
      CHECK_OK(CeedVectorSetArray(vec[k], CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)(k ? x : entries)));
    CHECK_OK(RitzBatchArrayFromVector(vec[k], k < 2 ? RITZ_ACCESS_READ : RITZ_ACCESS_WRITE, &array[k]));
  }
  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_GEMV, &options, &batched));
  CHECK_OK(RitzGemvBatched(batched, COUNT, 1, &array[0], &array[1], 0, &array[2]));
  CHECK_ERROR(ceed, RitzGemvBatched(batched, COUNT + 1, 1, &array[0], &array[1], 0, &array[2]),
              CEED_ERROR_DIMENSION, "4 matrices of C end at entry 8, but the vector has 6");
  CHECK_ERROR(ceed, RitzGemvBatched(batched, COUNT, 1, &array[0], &array[2], 0, &array[1]),
              CEED_ERROR_INCOMPATIBLE, "C is written, but its vector was lent for reading");
  CHECK_ERROR(ceed, CeedVectorSetValue(vec[2], 1), CEED_ERROR_ACCESS, "");
  for (int k = 0; k < 3; k++) {
    CHECK_OK(RitzBatchArrayRestoreVector(&array[k]));
    CHECK(!array[k].base && !array[k].vector, "array %d is not empty", k);
  }
  CHECK_OK(CeedVectorGetArrayRead(vec[2], CEED_MEM_HOST, &found));
  for (int i = 0; i < 6; i++) holds = holds && found[i] == wanted[i];
  CHECK_OK(CeedVectorRestoreArrayRead(vec[2], &found));
  CHECK(holds, "a product differs");
  for (int k = 0; k < 3; k++) CHECK_OK(CeedVectorDestroy(&vec[k]));
  CHECK_OK(RitzBatchedDestroy(&batched));
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(lu_of_singular_matrices_is_complete_and_names_the_first_zero_pivot,
            inverses_of_singular_matrices_name_the_pivot_and_leave_others_alone,
            inverse_from_singular_factors_leaves_them_as_they_are,
            cholesky_stops_at_the_first_minor_that_is_not_positive, nan_and_inf_stay_in_their_matrix,
            nan_and_inf_in_late_rows_stay_in_their_matrix, triangles_of_tiny_and_huge_numbers_are_solved,
            equal_pivots_take_the_first_row, pivots_that_are_larger_by_one_bit_are_found,
            inverse_of_a_permutation_is_its_transpose, factors_of_scaled_matrices_are_scaled_factors,
            ill_conditioned_matrices_have_small_residuals,
            results_have_the_same_bits_in_every_place_count_and_layout,
            results_have_the_same_bits_on_any_number_of_threads, analyzed_batches_have_the_same_bits,
            batches_of_all_sizes_are_solved, sizes_beyond_the_bounds_are_told_and_left_alone,
            infos_of_empty_matrices_are_zero_and_failures_are_found,
            four_calls_eliminate_fronts_of_different_sizes, matrices_of_vectors_multiply_vectors));
}
