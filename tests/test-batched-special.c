// SPDX-License-Identifier: BSD-2-Clause
// Batched operations beyond LU, Cholesky and plain products (test-batched-cases.c) on matrices that are
// special: NaN and Inf stay in their matrix, results have the same bits in all places, counts and layouts,
// systems that cannot be solved are named and left alone.
#include "tests/batched-checks.h"

enum { M = 7, N = 6, K = 3, COUNT = BATCH_MAX_COUNT, BAD = 4 };

static const CeedScalarType both[] = {CEED_SCALAR_FP64, CEED_SCALAR_FP32};

// One of each operation: m x n = 7 x 6, k = 3.
typedef struct {
  RitzBatchedOperation operation;
  RitzBatchedOptions options;
  int num_operands, dims[3][2];
  BatchPart parts[3];
} Row;

static const Row rows[] = {
    {RITZ_BATCHED_SYRK,
     {.trans_a = CEED_TRANSPOSE},
     2,
     {{BATCH_K, BATCH_N}, {BATCH_N, BATCH_N}},
     {0, BATCH_LOWER}},
    {RITZ_BATCHED_SYMM,
     {.side = RITZ_SIDE_RIGHT},
     3,
     {{BATCH_N, BATCH_N}, {BATCH_M, BATCH_N}, {BATCH_M, BATCH_N}},
     {0, 0, BATCH_ALL}},
    {RITZ_BATCHED_SYMV,
     {.uplo = RITZ_TRIANGLE_UPPER},
     3,
     {{BATCH_N, BATCH_N}, {BATCH_N, BATCH_ONE}, {BATCH_N, BATCH_ONE}},
     {0, 0, BATCH_ALL}},
    {RITZ_BATCHED_TRMM,
     {.trans_a = CEED_TRANSPOSE, .side = RITZ_SIDE_RIGHT},
     2,
     {{BATCH_N, BATCH_N}, {BATCH_M, BATCH_N}},
     {0, BATCH_ALL}},
    {RITZ_BATCHED_GESV, {0}, 2, {{BATCH_N, BATCH_N}, {BATCH_N, BATCH_K}}, {BATCH_ALL, BATCH_ALL}},
    {RITZ_BATCHED_POSV, {0}, 2, {{BATCH_N, BATCH_N}, {BATCH_N, BATCH_K}}, {BATCH_LOWER, BATCH_ALL}},
    {RITZ_BATCHED_LASWP, {0}, 1, {{BATCH_M, BATCH_N}}, {BATCH_ALL}},
    {RITZ_BATCHED_GEQRF, {0}, 2, {{BATCH_M, BATCH_N}, {BATCH_LEAST, BATCH_ONE}}, {BATCH_ALL, BATCH_ALL}},
    {RITZ_BATCHED_ORMQR,
     {.trans_a = CEED_TRANSPOSE},
     3,
     {{BATCH_M, BATCH_K}, {BATCH_K, BATCH_ONE}, {BATCH_M, BATCH_N}},
     {0, 0, BATCH_ALL}},
    {RITZ_BATCHED_ORGQR, {0}, 2, {{BATCH_M, BATCH_N}, {BATCH_K, BATCH_ONE}}, {BATCH_ALL, 0}},
    {RITZ_BATCHED_GELS, {0}, 2, {{BATCH_M, BATCH_N}, {BATCH_LARGEST, BATCH_K}}, {BATCH_ALL, BATCH_ALL}},
    {RITZ_BATCHED_GELS,
     {.trans_a = CEED_TRANSPOSE},
     2,
     {{BATCH_M, BATCH_N}, {BATCH_LARGEST, BATCH_K}},
     {BATCH_ALL, BATCH_ALL}},
    {RITZ_BATCHED_COPY,
     {.trans_a = CEED_TRANSPOSE},
     2,
     {{BATCH_M, BATCH_N}, {BATCH_N, BATCH_M}},
     {0, BATCH_ALL}},
    {RITZ_BATCHED_GEAM,
     {.trans_b = CEED_TRANSPOSE},
     3,
     {{BATCH_M, BATCH_N}, {BATCH_N, BATCH_M}, {BATCH_M, BATCH_N}},
     {0, 0, BATCH_ALL}},
    {RITZ_BATCHED_LASET, {0}, 1, {{BATCH_M, BATCH_N}}, {BATCH_ALL}},
    {RITZ_BATCHED_SYEVJ, {0}, 2, {{BATCH_N, BATCH_N}, {BATCH_N, BATCH_ONE}}, {BATCH_ALL, BATCH_ALL}},
    {RITZ_BATCHED_GESVDJ,
     {0},
     3,
     {{BATCH_M, BATCH_N}, {BATCH_N, BATCH_ONE}, {BATCH_N, BATCH_N}},
     {BATCH_ALL, BATCH_ALL, BATCH_ALL}},
};
enum { NUM_ROWS = sizeof(rows) / sizeof(rows[0]) };

// Sizes are all the same, said by arrays where is_ragged.
static BatchCase make_case(Ceed ceed, CeedScalarType precision, BatchForm form, bool is_ragged) {
  BatchCase c = {.ceed = ceed,
                 .precision = precision,
                 .u = batch_roundoff(precision),
                 .form = form,
                 .count = COUNT,
                 .state = 71};

  batch_draw_sizes(&c, M, N, K);
  c.is_ragged = is_ragged;
  return c;
}

static void make_row(BatchCase *c, const Row *row, Trial *t) {
  trial_make(c, row->operation, row->options, row->num_operands, row->dims, t);
  t->run.alpha = row->operation == RITZ_BATCHED_LASWP ? 1 : 0.5;
  t->run.beta = row->operation == RITZ_BATCHED_LASWP ? M : 2;
  for (int64_t i = 0; i < t->run.num_ipiv; i++) t->ipiv[i] = (int32_t)(i % M + 1 + (i % M < M - 2));
}

// Random, but for a diagonal of A that dominates it.
static void fill_row(Trial *t, uint64_t *state) {
  for (int o = 0; o < t->num_operands; o++) batch_fill_random(&t->before[o], 1, state);
  for (int64_t i = 0; i < COUNT; i++) {
    for (int64_t j = 0; j < batch_m(&t->before[0], i) && j < batch_n(&t->before[0], i); j++)
      batch_set(&t->before[0], i, j, j, 8 + (double)j);
  }
}

// Matrix i of one trial and matrix j of another one: same results, infos, pivots.
static bool is_same(const Row *row, const Trial *a, int64_t i, const Trial *b, int64_t j) {
  const int64_t num_ipiv = a->run.num_ipiv / COUNT;

  for (int o = 0; o < row->num_operands; o++) {
    if (row->parts[o] != BATCH_NOTHING && !batch_same_bits(&a->now[o], i, &b->now[o], j)) return false;
  }
  return (!trial_has_info(a) || a->info[i] == b->info[j]) &&
         !memcmp(a->ipiv + i * num_ipiv, b->ipiv + j * num_ipiv, (size_t)num_ipiv * sizeof(*a->ipiv));
}

// ---- NaN and Inf ----

static void check_company(Ceed ceed, const Row *row, BatchForm form, double value) {
  BatchCase c = make_case(ceed, both[form == BATCH_WIDE8], form, false);
  uint64_t state = 3;
  Trial good, bad;

  make_row(&c, row, &good), make_row(&c, row, &bad);
  fill_row(&good, &state);
  for (int o = 0; o < row->num_operands; o++) batch_copy(&bad.before[o], &good.before[o]);
  batch_set(&bad.before[0], BAD, 2, 2, value);
  if (trial_succeeds(&good, row->parts) && trial_run(&bad, row->parts)) {
    for (int64_t i = 0; i < COUNT; i++)
      tap_check(i == BAD || is_same(row, &good, i, &bad, i), __FILE__, __LINE__, "company",
                "operation %d: %g in matrix %d changes matrix %d", (int)row->operation, value, BAD, (int)i);
    const int32_t info = bad.info[BAD];
    const bool is_told = row->operation == RITZ_BATCHED_POSV ? info == 3 || !isnan(value)
                         : row->operation == RITZ_BATCHED_SYEVJ || row->operation == RITZ_BATCHED_GESVDJ
                             ? info > 0
                             : true;
    tap_check(is_told, __FILE__, __LINE__, "info", "operation %d: %g gives info %d", (int)row->operation,
              value, (int)info);
  }
  trial_free(&good), trial_free(&bad);
}
TEST_EACH_BACKEND(nan_and_inf_stay_in_their_matrix_in_all_operations) {
  const double values[] = {NAN, INFINITY, -INFINITY};
  int num_served = 0;

  for (int r = 0; r < NUM_ROWS; r++) {
    if (!batch_serves(ceed, rows[r].operation)) continue;
    num_served++;
    for (int v = 0; v < 3 && !tap_failed(); v++) {
      check_company(ceed, &rows[r], BATCH_PACKED, values[v]);
      if (!tap_failed()) check_company(ceed, &rows[r], BATCH_WIDE8, values[v]);
    }
  }
  if (num_served == 0) NOT_FOR_THIS_BACKEND("no kernels for these batched operations");
  CHECK(true, "all cases");
}

// ---- Same bits ----

// The matrices of `first` once more, in this layout, order and number.
static void check_bits(const Row *row, const Trial *first, BatchForm form, bool is_ragged, bool is_reversed,
                       int64_t count) {
  BatchCase c = make_case(first->c->ceed, first->c->precision, form, is_ragged);
  Trial t;

  make_row(&c, row, &t);
  for (int o = 0; o < row->num_operands; o++) {
    for (int64_t i = 0; i < COUNT; i++) {
      const int64_t from = is_reversed ? COUNT - 1 - i : i;

      for (int64_t col = 0; col < batch_n(&t.now[o], i); col++) {
        for (int64_t r = 0; r < batch_m(&t.now[o], i); r++)
          batch_set(&t.now[o], i, r, col, batch_get(&first->before[o], from, r, col));
      }
    }
  }
  const int64_t num_ipiv = t.run.num_ipiv / COUNT;
  for (int64_t i = 0; i < COUNT; i++)
    memcpy(t.ipiv + i * num_ipiv, first->ipiv + (is_reversed ? COUNT - 1 - i : i) * num_ipiv,
           (size_t)num_ipiv * sizeof(*t.ipiv));
  const bool is_run = tap_check_ok(batch_run_some(c.ceed, &t.run, count), __FILE__, __LINE__, "the call");
  for (int64_t i = 0; i < count && is_run; i++)
    tap_check(is_same(row, &t, i, first, is_reversed ? COUNT - 1 - i : i), __FILE__, __LINE__, "bits",
              "operation %d, %s%s%s, %d matrices: matrix %d has other bits", (int)row->operation,
              is_ragged ? "non-uniform " : "", batch_form_names[form], is_reversed ? " reversed" : "",
              (int)count, (int)i);
  trial_free(&t);
}

TEST_EACH_BACKEND(results_have_the_same_bits_in_every_place_count_and_layout) {
  static const BatchForm forms[] = {BATCH_PADDED, BATCH_SUB, BATCH_OFFSETS, BATCH_POINTERS};
  int num_served = 0;

  for (int r = 0; r < NUM_ROWS; r++) {
    const Row *row = &rows[r];

    if (!batch_serves(ceed, row->operation)) continue;
    num_served++;
    for (int p = 0; p < 2 && !tap_failed(); p++) {
      BatchCase c = make_case(ceed, both[p], BATCH_PACKED, false);
      uint64_t state = 5;
      Trial first;

      make_row(&c, row, &first);
      fill_row(&first, &state);
      if (trial_succeeds(&first, row->parts)) {
        for (int f = 0; f < 4; f++) {
          if (batch_has_form(ceed, forms[f])) check_bits(row, &first, forms[f], false, false, COUNT);
        }
        check_bits(row, &first, BATCH_PACKED, true, false, COUNT);
        check_bits(row, &first, BATCH_PACKED, false, true, COUNT);
        check_bits(row, &first, BATCH_PACKED, false, false, 3);
      }
      trial_free(&first);
    }
  }
  if (num_served == 0) NOT_FOR_THIS_BACKEND("no kernels for these batched operations");
  CHECK(true, "all cases");
}

// ---- Systems that cannot be solved ----

// Matrix i of 6: step i + 1 fails; matrix 6 is regular. What fails leaves B as it is, and the others solve.
static void check_unsolvable(Ceed ceed, const Row *row, BatchForm form) {
  BatchCase c = make_case(ceed, both[form == BATCH_WIDE8], form, false);
  uint64_t state = 7;
  Trial t;

  make_row(&c, row, &t);
  batch_fill_random(&t.before[1], 1, &state);
  for (int64_t i = 0; i < COUNT; i++) {
    for (int64_t col = 0; col < N; col++) {
      for (int64_t r = 0; r < batch_m(&t.before[0], i); r++)
        batch_set(&t.before[0], i, r, col,
                  r == col ? (col == i ? (row->operation == RITZ_BATCHED_POSV ? -1 : 0) : 2)
                  : row->operation == RITZ_BATCHED_POSV ? 0
                  : r < col                             ? (double)tap_integer(&state, 3) - 1
                                                        : 0);
    }
  }
  if (trial_run(&t, row->parts)) {
    for (int64_t i = 0; i < COUNT; i++) {
      const bool is_kept = batch_same_bits(&t.now[1], i, &t.before[1], i);

      tap_check(t.info[i] == (i < N ? (int32_t)(i + 1) : 0), __FILE__, __LINE__, "info",
                "operation %d, matrix %d: info %d", (int)row->operation, (int)i, (int)t.info[i]);
      tap_check(row->operation == RITZ_BATCHED_GELS || is_kept == (i < N), __FILE__, __LINE__, "B",
                "operation %d, matrix %d: B is %s", (int)row->operation, (int)i,
                is_kept ? "kept" : "changed");
    }
  }
  trial_free(&t);
}
TEST_EACH_BACKEND(systems_without_a_solution_are_named_and_keep_their_right_side) {
  int num_served = 0;

  for (int r = 0; r < NUM_ROWS; r++) {
    const RitzBatchedOperation operation = rows[r].operation;

    if (operation != RITZ_BATCHED_GESV && operation != RITZ_BATCHED_POSV && operation != RITZ_BATCHED_GELS)
      continue;
    if (!batch_serves(ceed, operation)) continue;
    num_served++;
    if (!tap_failed()) check_unsolvable(ceed, &rows[r], BATCH_PACKED);
    if (!tap_failed()) check_unsolvable(ceed, &rows[r], BATCH_WIDE8);
  }
  if (num_served == 0) NOT_FOR_THIS_BACKEND("no kernels for these batched operations");
  CHECK(true, "all cases");
}

// ---- Sizes ----

// Matrix 1 has a negative m, 2 one that is too large; of orthonormal columns matrix 3 is wide. They are left
// alone. Infos: of the first size that is wrong.
TEST_EACH_BACKEND(matrices_of_wrong_sizes_are_left_alone_by_the_new_operations) {
  const char *resource = "";
  int num_served = 0;

  CeedGetResource(ceed, &resource);
  if (strstr(resource, "/check")) NOT_FOR_THIS_BACKEND("refuses the call");
  for (int r = 0; r < NUM_ROWS && !tap_failed(); r++) {
    const Row *row = &rows[r];
    BatchCase c = make_case(ceed, CEED_SCALAR_FP64, BATCH_OFFSETS, true);
    const bool is_tall = row->operation == RITZ_BATCHED_ORGQR || row->operation == RITZ_BATCHED_GESVDJ;
    uint64_t state = 9;
    Trial t;

    if (!batch_serves(ceed, row->operation)) continue;
    num_served++;
    make_row(&c, row, &t);
    fill_row(&t, &state);
    for (int o = 0; o < row->num_operands; o++) batch_copy(&t.now[o], &t.before[o]);
    for (int o = 0; o < row->num_operands; o++) {
      for (int side = 0; side < 2; side++) {
        int32_t *sizes = side ? t.now[o].cols : t.now[o].rows;
        const int dim = row->dims[o][side];

        if (dim == BATCH_N || dim == BATCH_LEAST) sizes[1] = -1, sizes[2] = N + 1;
        if (is_tall && dim == BATCH_M) sizes[3] = N - 1;
      }
    }
    const int ierr = batch_run(ceed, &t.run);
    bool is_kept = true;
    for (int o = 0; o < row->num_operands; o++) {
      t.now[o].rows[1] = t.now[o].cols ? (t.now[o].cols[1] = 0) : 0;
      t.now[o].rows[3] = is_tall ? 0 : t.now[o].rows[3];
      is_kept = is_kept && batch_changed_only(&t.now[o], row->parts[o]);
    }
    if (tap_check_ok(ierr, __FILE__, __LINE__, "the call")) {
      tap_check(is_kept, __FILE__, __LINE__, "matrices", "operation %d changes a matrix of wrong size",
                (int)row->operation);
      tap_check(!trial_has_info(&t) || (t.info[0] == 0 && t.info[1] == -1002 && t.info[2] == -1002 &&
                                        t.info[3] == (is_tall ? -1002 : 0)),
                __FILE__, __LINE__, "info", "operation %d: %d %d %d %d", (int)row->operation, (int)t.info[0],
                (int)t.info[1], (int)t.info[2], (int)t.info[3]);
    }
    trial_free(&t);
  }
  if (num_served == 0) NOT_FOR_THIS_BACKEND("no kernels for these batched operations");
  CHECK(true, "all cases");
}

// ---- Pivots ----

// Factors of the identity, whose pivots are numbers of no row.
static void check_useless_pivots(Ceed ceed, int n, RitzBatchedOperation operation) {
  enum { NUM = 3 };
  const int32_t useless[] = {INT32_MIN, -1, 0, n + 1, INT32_MAX, INT32_MIN + 1};
  const CeedInt num_cols = operation == RITZ_BATCHED_GETRS ? 1 : n;
  int32_t ipiv[NUM * 70], info[NUM];
  uint64_t state = 11;
  Batch A, B, B0;
  const BatchRun run = {operation, {0}, 1, 0, {&A, &B}, ipiv, info, NUM * n};

  for (int j = 0; j < NUM * n; j++) ipiv[j] = useless[j % 6];
  batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, NUM, n, n, NULL, NULL, &A);
  batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, NUM, n, num_cols, NULL, NULL, &B);
  batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, NUM, n, num_cols, NULL, NULL, &B0);
  for (int i = 0; i < NUM; i++) {
    for (int r = 0; r < n; r++) {
      for (int c = 0; c < n; c++) batch_set(&A, i, r, c, r == c);
    }
  }
  batch_fill_random(&B, 1, &state);
  const Batch *result = operation == RITZ_BATCHED_GETRS ? &B : &A;
  batch_copy(&B0, result);
  const int ierr = batch_run(ceed, &run);
  for (int i = 0; i < NUM && !ierr && !tap_failed(); i++) {
    for (int r = 0; r < n; r++) {
      for (int c = 0; c < num_cols; c++)
        tap_check(batch_get(result, i, r, c) == batch_get(&B0, i, r, c), __FILE__, __LINE__, "same",
                  "operation %d of size %d: entry (%d,%d) of matrix %d", (int)operation, n, r, c, i);
    }
  }
  batch_free(&A), batch_free(&B), batch_free(&B0);
  tap_check_ok(ierr, __FILE__, __LINE__, "run");
}

TEST_EACH_BACKEND(pivots_of_no_row_are_left_out) {
  SERVED(RITZ_BATCHED_GETRS);
  SERVED(RITZ_BATCHED_GETRI);
  const int sizes[] = {5, 70};

  for (int i = 0; i < (tap_compiles_slowly(ceed) ? 1 : 2) && !tap_failed(); i++) {
    check_useless_pivots(ceed, sizes[i], RITZ_BATCHED_GETRS);
    check_useless_pivots(ceed, sizes[i], RITZ_BATCHED_GETRI);
  }
  CHECK(true, "all sizes");
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(nan_and_inf_stay_in_their_matrix_in_all_operations,
                        results_have_the_same_bits_in_every_place_count_and_layout,
                        systems_without_a_solution_are_named_and_keep_their_right_side,
                        matrices_of_wrong_sizes_are_left_alone_by_the_new_operations,
                        pivots_of_no_row_are_left_out));
}
