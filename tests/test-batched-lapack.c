// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra beside LAPACK: OpenBLAS, or the liblapack that the dynamic linker finds, gets the
// same matrices in the same precision. Results agree to roundoff; where arithmetic is exact they are equal,
// and so are pivots and infos.
#include "tests/batched-kit.h"

#include "bench/lapack.h"

// ---- LAPACK ----

static void *libraries[2];

#define NEEDS_LAPACK                                                                                         \
  do {                                                                                                       \
    if (!libraries[0] && !lapack_open(libraries))                                                            \
      SKIP("neither libopenblas.so.0 nor liblapack.so.3 can be loaded");                                     \
  } while (0)

static LapackRoutine find_routine(CeedScalarType precision, const char *root) {
  const LapackRoutine routine = lapack_find(libraries, precision, root);
  tap_check(routine != NULL, __FILE__, __LINE__, root, "the library has no such routine");
  return routine;
}

// ---- Matrices in LAPACK's form: without gaps, in their precision ----

static size_t size_of(CeedScalarType precision) {
  return precision == CEED_SCALAR_FP32 ? sizeof(float) : sizeof(double);
}

// Owned by the caller.
static void *to_dense(const Batch *b, int64_t i) {
  const int64_t m = batch_m(b, i), n = batch_n(b, i);
  const size_t size = batch_entry_size(b);
  char *matrix = malloc((size_t)(m * n + 1) * size);

  if (!matrix) abort();
  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < m; r++) memcpy(matrix + (size_t)(r + c * m) * size, batch_at(b, i, r, c), size);
  }
  return matrix;
}

static double entry_of(const void *matrix, int64_t e, CeedScalarType precision) {
  return precision == CEED_SCALAR_FP32 ? (double)((const float *)matrix)[e] : ((const double *)matrix)[e];
}

// Sizes for a backend: one where each has kernels, that which tests/test-batched.c has at this level, too.
static int choose_sizes(Ceed ceed, const int **sizes) {
  static const int all[] = {1, 2, 5, 17, 33, 66}, compiled[] = {5, 33};
  const bool has_time = tap_level() >= TAP_FULL && !tap_compiles_slowly(ceed);

  *sizes = !batch_compiles(ceed) ? all : has_time ? &compiled[1] : compiled;
  return batch_compiles(ceed) ? 1 : 6;
}

typedef struct {
  Ceed ceed;
  CeedScalarType precision;
  BatchForm form;
  int n;
  uint64_t state;
} Case;

enum { COUNT = 6 };

static void for_cases(Ceed ceed, void (*test)(Case *c)) {
  static const BatchForm forms[] = {BATCH_PACKED, BATCH_WIDE8, BATCH_SUB};
  const int *sizes, num = choose_sizes(ceed, &sizes);

  for (int i = 0; i < 6 * num && !tap_failed(); i++) {
    Case c = {ceed, i % 2 ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64, forms[i / 2 % 3], sizes[i / 6],
              (uint64_t)(i + 1)};

    test(&c);
    if (tap_failed()) tap_note("n = %d, %s, %s", c.n, batch_form_names[c.form], i % 2 ? "FP32" : "FP64");
  }
}

// ---- All operations ----

enum { TRANS_A = 1, TRANS_B = 2, SIDE = 4, UPLO = 8, DIAG = 16 };

static const struct {
  RitzBatchedOperation operation;
  int result; // operand
  int varies; // options
} rows[] = {
    {RITZ_BATCHED_GEMM, 2, TRANS_A | TRANS_B},
    {RITZ_BATCHED_GEMV, 2, TRANS_A},
    {RITZ_BATCHED_POTRF, 0, UPLO},
    {RITZ_BATCHED_POTRS, 1, UPLO},
    {RITZ_BATCHED_GETRF, 0, 0},
    {RITZ_BATCHED_GETRS, 1, TRANS_A},
    {RITZ_BATCHED_GETRI, 0, 0},
    {RITZ_BATCHED_INV, 1, 0},
    {RITZ_BATCHED_TRSM, 1, TRANS_A | SIDE | UPLO | DIAG},
    {RITZ_BATCHED_TRSV, 1, TRANS_A | UPLO | DIAG},
    {RITZ_BATCHED_SYRK, 1, TRANS_A | UPLO},
    {RITZ_BATCHED_SYMM, 2, SIDE | UPLO},
    {RITZ_BATCHED_SYMV, 2, UPLO},
    {RITZ_BATCHED_TRMM, 1, TRANS_A | SIDE | UPLO | DIAG},
    {RITZ_BATCHED_GESV, 1, 0},
    {RITZ_BATCHED_POSV, 1, UPLO},
    {RITZ_BATCHED_GEQRF, 0, 0},
    {RITZ_BATCHED_ORMQR, 2, SIDE | TRANS_A},
    {RITZ_BATCHED_ORGQR, 0, 0},
    {RITZ_BATCHED_GELS, 1, TRANS_A},
    {RITZ_BATCHED_SYEVJ, 1, UPLO}, // eigenvalues
    {RITZ_BATCHED_GESVDJ, 1, 0},   // singular values
};
enum { NUM_ROWS = sizeof(rows) / sizeof(rows[0]) };

// Sizes of the operands as tests/test-batched.c has them; cols 0: there is no such operand.
typedef struct {
  int m, n, k, rows[3], cols[3];
} Shape;

static Shape shape_of(RitzBatchedOperation operation, int n, int bits) {
  const bool ta = bits & TRANS_A, tb = bits & TRANS_B;
  const int some = n % 3 + 1, half = (n + 3) / 2, inner = n > 1 ? n - 1 : 1;
  Shape s = {n, n, n, {n, n, n}, {n, 0, 0}};

  switch (operation) {
  case RITZ_BATCHED_GEMM:
    return (Shape){
        n, half, inner, {ta ? inner : n, tb ? half : inner, n}, {ta ? n : inner, tb ? inner : half, half}};
  case RITZ_BATCHED_GEMV: return (Shape){n, half, 1, {n, ta ? n : half, ta ? half : n}, {half, 1, 1}};
  case RITZ_BATCHED_TRSM:
  case RITZ_BATCHED_TRMM:
  case RITZ_BATCHED_SYMM:
    s.m = bits & SIDE ? n / 2 + 1 : n;
    s.n = bits & SIDE ? n : n / 2 + 1;
    s.rows[1] = s.rows[2] = s.m, s.cols[1] = s.n;
    s.cols[2] = operation == RITZ_BATCHED_SYMM ? s.n : 0;
    break;
  case RITZ_BATCHED_SYRK:
    s.k = inner;
    s.rows[0] = ta ? inner : n, s.cols[0] = ta ? n : inner, s.cols[1] = n;
    break;
  case RITZ_BATCHED_ORMQR:
    s.m = s.rows[2] = bits & SIDE ? some : n;
    s.n = s.cols[2] = bits & SIDE ? n : some;
    s.cols[1] = 1;
    break;
  case RITZ_BATCHED_SYMV: s.cols[1] = s.cols[2] = 1; break;
  case RITZ_BATCHED_GEQRF:
  case RITZ_BATCHED_ORGQR:
  case RITZ_BATCHED_SYEVJ: s.cols[1] = 1; break;
  case RITZ_BATCHED_GESVDJ: s.cols[1] = 1, s.cols[2] = n; break;
  case RITZ_BATCHED_GESV:
  case RITZ_BATCHED_POSV:
  case RITZ_BATCHED_GELS:
  case RITZ_BATCHED_POTRS:
  case RITZ_BATCHED_GETRS: s.k = s.cols[1] = some; break;
  case RITZ_BATCHED_TRSV: s.cols[1] = 1; break;
  case RITZ_BATCHED_INV: s.cols[1] = n; break;
  default: break;
  }
  return s;
}

// One matrix of each operand.
static void call_lapack(RitzBatchedOperation operation, CeedScalarType precision, int bits, const Shape *s,
                        void *const *operand, int *ipiv, int *info) {
  static const double numbers[] = {-0.5, 1, 0.25};
  static const float numbers_f32[] = {-0.5f, 1, 0.25f};
  static const char *const roots[] = {
      [RITZ_BATCHED_GEMM] = "gemm",   [RITZ_BATCHED_GEMV] = "gemv",   [RITZ_BATCHED_POTRF] = "potrf",
      [RITZ_BATCHED_POTRS] = "potrs", [RITZ_BATCHED_GETRF] = "getrf", [RITZ_BATCHED_GETRS] = "getrs",
      [RITZ_BATCHED_GETRI] = "getri", [RITZ_BATCHED_INV] = "getri",   [RITZ_BATCHED_TRSM] = "trsm",
      [RITZ_BATCHED_TRSV] = "trsv",   [RITZ_BATCHED_SYRK] = "syrk",   [RITZ_BATCHED_SYMM] = "symm",
      [RITZ_BATCHED_SYMV] = "symv",   [RITZ_BATCHED_TRMM] = "trmm",   [RITZ_BATCHED_GESV] = "gesv",
      [RITZ_BATCHED_POSV] = "posv",   [RITZ_BATCHED_GEQRF] = "geqrf", [RITZ_BATCHED_ORMQR] = "ormqr",
      [RITZ_BATCHED_ORGQR] = "orgqr", [RITZ_BATCHED_GELS] = "gels",   [RITZ_BATCHED_SYEVJ] = "syev",
      [RITZ_BATCHED_GESVDJ] = "gesvd"};
  const bool is_single = precision == CEED_SCALAR_FP32;
  const void *alpha = is_single ? (const void *)&numbers_f32[0] : &numbers[0];
  const void *beta = is_single ? (const void *)&numbers_f32[2] : &numbers[2];
  const char *ta = bits & TRANS_A ? "T" : "N", *tb = bits & TRANS_B ? "T" : "N";
  const char *side = bits & SIDE ? "R" : "L", *uplo = bits & UPLO ? "U" : "L",
             *diag = bits & DIAG ? "U" : "N";
  const int *m = &s->m, *n = &s->n, *k = &s->k, one = 1, num_work = 4096;
  const int lda = s->rows[0] > 1 ? s->rows[0] : 1, ldb = s->rows[1] > 1 ? s->rows[1] : 1;
  void *A = operand[0], *B = operand[1], *C = operand[2];
  const LapackRoutine r = find_routine(precision, roots[operation]), getrf = find_routine(precision, "getrf");
  double work[4096];

  if (!r || !getrf) return;
  switch (operation) {
  case RITZ_BATCHED_GEMM: ((Gemm)r)(ta, tb, m, n, k, alpha, A, &lda, B, &ldb, beta, C, m); break;
  case RITZ_BATCHED_GEMV: ((Gemv)r)(ta, m, n, alpha, A, &lda, B, &one, beta, C, &one); break;
  case RITZ_BATCHED_POTRF: ((Potrf)r)(uplo, n, A, n, info); break;
  case RITZ_BATCHED_POTRS: ((Potrs)r)(uplo, n, k, A, n, B, n, info); break;
  case RITZ_BATCHED_GETRF: ((Getrf)r)(m, n, A, m, ipiv, info); break;
  case RITZ_BATCHED_GETRS: ((Getrs)r)(ta, n, k, A, n, ipiv, B, n, info); break;
  case RITZ_BATCHED_GETRI: ((Getri)r)(n, A, n, ipiv, work, &num_work, info); break;
  case RITZ_BATCHED_INV:
    memcpy(B, A, (size_t)(*n * *n) * size_of(precision));
    ((Getrf)getrf)(n, n, B, n, ipiv, info);
    ((Getri)r)(n, B, n, ipiv, work, &num_work, info);
    break;
  case RITZ_BATCHED_TRMM:
  case RITZ_BATCHED_TRSM: ((Trsm)r)(side, uplo, ta, diag, m, n, alpha, A, &lda, B, m); break;
  case RITZ_BATCHED_TRSV: ((Trsv)r)(uplo, ta, diag, n, A, n, B, &one); break;
  case RITZ_BATCHED_SYRK: ((Syrk)r)(uplo, ta, n, k, alpha, A, &lda, beta, B, n); break;
  case RITZ_BATCHED_SYMM: ((Symm)r)(side, uplo, m, n, alpha, A, &lda, B, m, beta, C, m); break;
  case RITZ_BATCHED_SYMV: ((Symv)r)(uplo, n, alpha, A, n, B, &one, beta, C, &one); break;
  case RITZ_BATCHED_GESV: ((Gesv)r)(n, k, A, n, ipiv, B, n, info); break;
  case RITZ_BATCHED_POSV: ((Posv)r)(uplo, n, k, A, n, B, n, info); break;
  case RITZ_BATCHED_GEQRF: ((Geqrf)r)(n, n, A, n, B, work, &num_work, info); break;
  case RITZ_BATCHED_ORMQR: ((Ormqr)r)(side, ta, m, n, &lda, A, &lda, B, C, m, work, &num_work, info); break;
  case RITZ_BATCHED_ORGQR: ((Orgqr)r)(n, n, n, A, n, B, work, &num_work, info); break;
  case RITZ_BATCHED_GELS: ((Gels)r)(ta, n, n, k, A, n, B, n, work, &num_work, info); break;
  case RITZ_BATCHED_SYEVJ: ((Syev)r)("N", uplo, n, A, n, B, work, &num_work, info); break;
  case RITZ_BATCHED_GESVDJ:
    ((Gesvd)r)("N", "N", n, n, A, n, B, NULL, n, NULL, n, work, &num_work, info);
    break;
  default: break;
  }
}

// 2 on the diagonal and entries below 1/n elsewhere: factors, triangles and positive definite. Where LU
// is computed, and of GELS, rows are shifted by the number of the matrix, so that pivots swap.
static void fill_operand(const Batch *b, bool is_matrix, bool is_shifted, uint64_t *state) {
  for (int64_t i = 0; i < b->count; i++) {
    const int64_t m = batch_m(b, i), shift = is_shifted ? i : 0;

    for (int64_t c = 0; c < batch_n(b, i); c++) {
      for (int64_t r = 0; r < m; r++) {
        const bool is_diagonal = is_matrix && (r + shift) % m == c;
        batch_set(b, i, r, c, tap_uniform(state) / (is_matrix ? (double)m : 1) + (is_diagonal ? 2 : 0));
      }
    }
  }
}

// |ours - theirs| <= 20 n u max |theirs|: both are backward stable, the matrices are well conditioned.
static void compare_dense(const Case *c, const Batch *ours, int64_t i, const void *theirs, const char *what) {
  const int64_t num = batch_m(ours, i) * batch_n(ours, i);
  void *found = to_dense(ours, i);
  double largest = 0;

  for (int64_t e = 0; e < num; e++) largest = fmax(largest, fabs(entry_of(theirs, e, c->precision)));
  for (int64_t e = 0; e < num && !tap_failed(); e++)
    tap_check_near(entry_of(found, e, c->precision), entry_of(theirs, e, c->precision),
                   20 * (c->n + 1) * batch_roundoff(c->precision) * largest, __FILE__, __LINE__, "ours",
                   "LAPACK's", "%s: matrix %d, entry %d", what, (int)i, (int)e);
  free(found);
}

// One operation with these options, which are bits.
static void check_operation(Case *c, int row, int bits) {
  const RitzBatchedOperation operation = rows[row].operation;
  const bool is_shifted = operation == RITZ_BATCHED_GETRF || operation == RITZ_BATCHED_INV ||
                          operation == RITZ_BATCHED_GESV || operation == RITZ_BATCHED_GELS;
  const Shape s = shape_of(operation, c->n, bits);
  int32_t ipiv[COUNT * 66], pivots[66], info[COUNT];
  Batch B[3] = {{0}};
  BatchRun run = {operation, {0}, -0.5, 0.25, {NULL}, ipiv, info, COUNT * c->n};

  run.options.trans_a = bits & TRANS_A ? CEED_TRANSPOSE : CEED_NOTRANSPOSE;
  run.options.trans_b = bits & TRANS_B ? CEED_TRANSPOSE : CEED_NOTRANSPOSE;
  run.options.side = bits & SIDE ? RITZ_SIDE_RIGHT : RITZ_SIDE_LEFT;
  run.options.uplo = bits & UPLO ? RITZ_TRIANGLE_UPPER : RITZ_TRIANGLE_LOWER;
  run.options.diag = bits & DIAG ? RITZ_DIAGONAL_UNIT : RITZ_DIAGONAL_STORED;
  for (int i = 0; i < COUNT * c->n; i++) // some row that may be swapped with
    ipiv[i] = i % c->n + 1 + (int32_t)tap_integer(&c->state, c->n - i % c->n);
  void *theirs[COUNT][3] = {{NULL}};
  for (int k = 0; k < 3 && s.cols[k] > 0; k++) {
    batch_make(c->ceed, c->precision, c->form, COUNT, s.rows[k], s.cols[k], NULL, NULL, &B[k]);
    fill_operand(&B[k], k == 0, is_shifted, &c->state);
    run.operand[k] = &B[k];
    for (int i = 0; i < COUNT; i++) theirs[i][k] = to_dense(&B[k], i);
  }
  for (int i = 0; i < COUNT && !tap_failed(); i++) {
    int theirs_info = 0;
    memcpy(pivots, ipiv + i * c->n, (size_t)c->n * sizeof(*pivots));
    call_lapack(operation, c->precision, bits, &s, theirs[i], pivots, &theirs_info);
    tap_check(theirs_info == 0, __FILE__, __LINE__, "LAPACK", "info %d", theirs_info);
  }
  const bool is_done = tap_check_ok(batch_run(c->ceed, &run), __FILE__, __LINE__, "the operation");
  for (int i = 0; i < COUNT && is_done && !tap_failed(); i++)
    compare_dense(c, &B[rows[row].result], i, theirs[i][rows[row].result], "result");
  if (tap_failed()) tap_note("row %d of the table, options %d", row, bits);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < COUNT; i++) free(theirs[i][k]);
    batch_free(&B[k]);
  }
}

// Where kernels take seconds to compile: no option, or all of an operation, in one precision.
static void operations_case(Case *c) {
  const bool is_slow = tap_compiles_slowly(c->ceed);

  if (is_slow && c->precision == CEED_SCALAR_FP32) return;
  for (int row = 0; row < NUM_ROWS; row++) {
    if (!batch_serves(c->ceed, rows[row].operation)) continue;
    for (int bits = 0; bits < 32 && !tap_failed(); bits++) {
      if (!(bits & ~rows[row].varies) && (!is_slow || bits == 0 || bits == rows[row].varies))
        check_operation(c, row, bits);
    }
  }
}
TEST_EACH_BACKEND(operations_give_what_lapack_gives) {
  NEEDS_LAPACK;
  for_cases(ceed, operations_case);
  CHECK(true, "all cases");
}

// ---- LU: pivots, and factors that are exact ----

static void make_square(const Case *c, Batch *A) {
  batch_make(c->ceed, c->precision, c->form, COUNT, c->n, c->n, NULL, NULL, A);
}

// Factorizes A on both sides. Pivots and infos are the same; is_exact: and so are the factors.
static void check_factors(Case *c, Batch *A, bool is_exact) {
  int32_t ipiv[COUNT * 66], pivots[66], info[COUNT];
  const BatchRun run = {RITZ_BATCHED_GETRF, {0}, 1, 0, {A}, ipiv, info, COUNT * c->n};
  const Getrf getrf = (Getrf)find_routine(c->precision, "getrf");
  void *theirs[COUNT];

  for (int i = 0; i < COUNT; i++) theirs[i] = to_dense(A, i);
  const bool is_done = tap_check_ok(batch_run(c->ceed, &run), __FILE__, __LINE__, "GETRF");
  for (int i = 0; i < COUNT && is_done && getrf && !tap_failed(); i++) {
    void *ours = to_dense(A, i);
    int wanted = 0;

    getrf(&c->n, &c->n, theirs[i], &c->n, pivots, &wanted);
    tap_check(info[i] == wanted, __FILE__, __LINE__, "info", "matrix %d: %d, LAPACK's is %d", i, (int)info[i],
              wanted);
    for (int k = 0; k < c->n; k++)
      tap_check(ipiv[i * c->n + k] == pivots[k], __FILE__, __LINE__, "pivots",
                "matrix %d, step %d: row %d, LAPACK's is %d", i, k, (int)ipiv[i * c->n + k], (int)pivots[k]);
    for (int e = 0; e < c->n * c->n && is_exact; e++)
      tap_check(entry_of(ours, e, c->precision) == entry_of(theirs[i], e, c->precision), __FILE__, __LINE__,
                "factors", "matrix %d, entry %d: %.17g, LAPACK's is %.17g", i, e,
                entry_of(ours, e, c->precision), entry_of(theirs[i], e, c->precision));
    free(ours);
  }
  for (int i = 0; i < COUNT; i++) free(theirs[i]);
}

// Least distance of the two largest candidates of a step, relative to the larger one; a is overwritten.
static double pivot_margin(double *a, int n) {
  double margin = 1;

  for (int k = 0; k < n; k++) {
    int best = k;
    double second = 0;

    for (int r = k; r < n; r++) {
      if (fabs(a[r + k * n]) > fabs(a[best + k * n])) best = r;
    }
    for (int r = k; r < n; r++) second = r != best ? fmax(second, fabs(a[r + k * n])) : second;
    margin = fmin(margin, 1 - second / fabs(a[best + k * n]));
    for (int c = 0; c < n; c++) {
      const double kept = a[k + c * n];
      a[k + c * n] = a[best + c * n];
      a[best + c * n] = kept;
    }
    for (int r = k + 1; r < n; r++) {
      const double l = a[r + k * n] / a[k + k * n];
      for (int c = k + 1; c < n; c++) a[r + c * n] -= l * a[k + c * n];
    }
  }
  return margin;
}

// Draws matrix i until roundoff does not decide its pivots: errors of candidates are some n u of the entries.
static void draw_decided(const Case *c, const Batch *A, int64_t i, uint64_t *state) {
  double margin = 0;

  while (!(margin > 20 * c->n * batch_roundoff(c->precision))) {
    for (int e = 0; e < c->n * c->n; e++) batch_set(A, i, e % c->n, e / c->n, tap_uniform(state));
    double *a = batch_matrix(A, i);
    margin = pivot_margin(a, c->n);
    free(a);
  }
}

static void random_case(Case *c) {
  Batch A;

  if (!batch_serves(c->ceed, RITZ_BATCHED_GETRF)) return;
  make_square(c, &A);
  for (int i = 0; i < COUNT; i++) draw_decided(c, &A, i, &c->state);
  check_factors(c, &A, false);
  batch_free(&A);
}
TEST_EACH_BACKEND(pivots_of_random_matrices_are_those_of_lapack) {
  NEEDS_LAPACK;
  for_cases(ceed, random_case);
  CHECK(true, "all cases");
}

// Rows in a random order; perm [n].
static void draw_permutation(int n, int *perm, uint64_t *state) {
  for (int i = 0; i < n; i++) perm[i] = i;
  for (int i = n - 1; i > 0; i--) {
    const int j = (int)tap_integer(state, i + 1), kept = perm[i];
    perm[i] = perm[j];
    perm[j] = kept;
  }
}

// Hadamard matrices of order 4 on the diagonal, ones behind them; columns times powers of 2, rows permuted:
// all candidates tie in most steps, and all numbers are powers of 2. Of every other matrix a column is zero.
static void tied_case(Case *c) {
  int perm[66];
  Batch A;

  if (!batch_serves(c->ceed, RITZ_BATCHED_GETRF)) return;
  make_square(c, &A);
  for (int i = 0; i < COUNT; i++) {
    const int zero = i % 2 ? (int)tap_integer(&c->state, c->n) : -1;

    draw_permutation(c->n, perm, &c->state);
    for (int col = 0; col < c->n; col++) {
      const double scale = col == zero ? 0 : ldexp(1, (int)tap_integer(&c->state, 5) - 2);

      for (int r = 0; r < c->n; r++) {
        const bool is_in_block = r / 4 == col / 4 && r / 4 < c->n / 4;
        const int common = r & col & 3; // the sign is that of its number of ones
        const double value = is_in_block ? ((common == 1 || common == 2) ? -1 : 1) : (double)(r == col);
        batch_set(&A, i, perm[r], col, scale * value);
      }
    }
  }
  check_factors(c, &A, true);
  batch_free(&A);
}
TEST_EACH_BACKEND(ties_and_zero_pivots_are_resolved_as_by_lapack) {
  NEEDS_LAPACK;
  for_cases(ceed, tied_case);
  CHECK(true, "all cases");
}

// P L U with |l| <= 1/2, in quarters, and integers in U, powers of 2 on its diagonal: every step is exact in
// either precision, and the pivots are told from the others.
static void exact_case(Case *c) {
  const int n = c->n;
  double *L = calloc((size_t)(n * n), sizeof(*L)), *U = calloc((size_t)(n * n), sizeof(*U));
  int perm[66];
  Batch A;

  if (!L || !U) abort();
  make_square(c, &A);
  for (int i = 0; i < COUNT && batch_serves(c->ceed, RITZ_BATCHED_GETRF); i++) {
    draw_permutation(n, perm, &c->state);
    for (int e = 0; e < n * n; e++) {
      const int r = e % n, col = e / n;
      L[e] = r < col ? 0 : r == col ? 1 : (double)(tap_integer(&c->state, 5) - 2) / 4;
      U[e] = r > col    ? 0
             : r == col ? ldexp(1, (int)tap_integer(&c->state, 3))
                        : (double)(tap_integer(&c->state, 7) - 3);
    }
    double *product = dense_product(L, n, false, U, n, false, n, n, n);
    for (int e = 0; e < n * n; e++) batch_set(&A, i, perm[e % n], e / n, product[e]);
    free(product);
  }
  if (batch_serves(c->ceed, RITZ_BATCHED_GETRF)) check_factors(c, &A, true);
  batch_free(&A);
  free(L), free(U);
}
TEST_EACH_BACKEND(factors_are_lapacks_where_arithmetic_is_exact) {
  NEEDS_LAPACK;
  for_cases(ceed, exact_case);
  CHECK(true, "all cases");
}

// ---- Cholesky: the first minor that is not positive ----

// L D L^T of integers, ones on the diagonal of L, D of ones but for one entry of -1 or 0, and none in the
// last matrix: exact up to there.
static void fill_indefinite(const Case *c, const Batch *A, uint64_t *state) {
  const int n = c->n;
  double *L = calloc((size_t)(n * n), sizeof(*L)), *R = calloc((size_t)(n * n), sizeof(*R));

  if (!L || !R) abort();
  for (int i = 0; i < COUNT; i++) {
    const int bad = i + 1 < COUNT ? (int)tap_integer(state, n) : n;

    for (int e = 0; e < n * n; e++) {
      const int r = e % n, col = e / n;
      L[e] = r < col ? 0 : r == col ? 1 : (double)(tap_integer(state, 5) - 2);
      R[e] = L[e] * (col == bad ? (double)-(i % 2) : 1);
    }
    double *product = dense_product(L, n, false, R, n, true, n, n, n);
    for (int e = 0; e < n * n; e++) batch_set(A, i, e % n, e / n, product[e]);
    free(product);
  }
  free(L), free(R);
}

static void check_cholesky(Case *c, bool is_upper) {
  const Potrf potrf = (Potrf)find_routine(c->precision, "potrf");
  int32_t info[COUNT];
  Batch A;
  const BatchRun run = {RITZ_BATCHED_POTRF,
                        {.uplo = is_upper ? RITZ_TRIANGLE_UPPER : RITZ_TRIANGLE_LOWER},
                        1,
                        0,
                        {&A},
                        NULL,
                        info,
                        0};
  void *theirs[COUNT];

  make_square(c, &A);
  fill_indefinite(c, &A, &c->state);
  for (int i = 0; i < COUNT; i++) theirs[i] = to_dense(&A, i);
  const bool is_done = tap_check_ok(batch_run(c->ceed, &run), __FILE__, __LINE__, "POTRF");
  for (int i = 0; i < COUNT && is_done && potrf && !tap_failed(); i++) {
    int wanted = 0;

    potrf(is_upper ? "U" : "L", &c->n, theirs[i], &c->n, &wanted);
    tap_check(info[i] == wanted, __FILE__, __LINE__, "info", "matrix %d: %d, LAPACK's is %d", i, (int)info[i],
              wanted);
    const int order = wanted ? wanted - 1 : c->n; // of the leading factor that is complete
    for (int e = 0; e < order * order; e++) {
      const int r = e % order, col = e / order;
      const double ours = batch_get(&A, i, r, col), other = entry_of(theirs[i], r + col * c->n, c->precision);
      tap_check((is_upper ? r > col : r < col) || ours == other, __FILE__, __LINE__, "factors",
                "matrix %d, entry (%d, %d): %.17g, LAPACK's is %.17g", i, r, col, ours, other);
    }
  }
  for (int i = 0; i < COUNT; i++) free(theirs[i]);
  batch_free(&A);
}

static void cholesky_case(Case *c) {
  if (!batch_serves(c->ceed, RITZ_BATCHED_POTRF)) return;
  check_cholesky(c, false);
  if (!tap_failed()) check_cholesky(c, true);
}
TEST_EACH_BACKEND(indefinite_matrices_have_the_infos_and_leading_factors_of_lapack) {
  NEEDS_LAPACK;
  for_cases(ceed, cholesky_case);
  CHECK(true, "all cases");
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(operations_give_what_lapack_gives, pivots_of_random_matrices_are_those_of_lapack,
                        ties_and_zero_pivots_are_resolved_as_by_lapack,
                        factors_are_lapacks_where_arithmetic_is_exact,
                        indefinite_matrices_have_the_infos_and_leading_factors_of_lapack));
}
