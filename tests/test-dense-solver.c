// SPDX-License-Identifier: BSD-2-Clause
// The dense solver: backward errors of every precision over condition numbers, what takes over and what the
// report says of it, matrices at the ends of the ranges, Cholesky, shapes. Wrong use is in
// test-dense-solver-misuse.c.
#include "tests/dense-kit.h"

#include "base/memory.h"

// Backward errors as the test sums them up and as the library does differ by roundings of the residual, at
// most n u (|A| |x| + |b|), in practice by far less than sqrt(n) u.
static double bound(int64_t n) { return 2 * solver_tolerance(n); }

static const RitzDensePrecision precisions[] = {RITZ_DENSE_F64,  RITZ_DENSE_F32,  RITZ_DENSE_TF32X3,
                                                RITZ_DENSE_TF32, RITZ_DENSE_BF16, RITZ_DENSE_F16};
enum { NUM_PRECISIONS = sizeof(precisions) / sizeof(precisions[0]) };

static bool has_solver(Ceed ceed) {
  RitzDenseSolver solver = NULL;
  const int ierr = RitzDenseSolverCreate(ceed, 1, &solver);
  RitzDenseSolverDestroy(&solver);
  return !ierr;
}

#define NEEDS_SOLVER(ceed)                                                                                   \
  do {                                                                                                       \
    if (!has_solver(ceed)) NOT_FOR_THIS_BACKEND("it has no dense solver");                                   \
  } while (0)

static bool is_double(RitzDensePrecision precision) { return precision == RITZ_DENSE_F64; }

// ---- Accuracy ----

// Low precisions are given up where the condition is beyond what GMRES with them converges for, and not where
// it is small against 1/u.
static void check_condition(Ceed ceed, int64_t n, int digits, bool is_symmetric,
                            RitzDensePrecision precision) {
  double *A = solver_matrix(n, pow(10, digits), is_symmetric, (uint64_t)digits + 3);
  System s;

  CHECK_OK(system_make(ceed, n, 1, A, &s));
  CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, precision));
  CHECK_OK(RitzDenseSolverSetSymmetricPositive(s.solver, is_symmetric));
  CHECK_OK(system_run(&s));
  const RitzDenseReport *r = &s.report;
  const char *name = RitzDensePrecisionName(precision);
  CHECK_NEAR(system_backward_error(&s), 0, bound(n), "1e%d, %s", digits, name);
  CHECK(r->is_converged && r->backward_error <= solver_tolerance(n), "1e%d, %s: %g", digits, name,
        r->backward_error);
  CHECK_NEAR(r->backward_error, system_backward_error(&s), bound(n), "1e%d, %s", digits, name);
  CHECK((r->num_given_up > 0) == (r->precision != r->asked), "1e%d, %s", digits, name);
  CHECK((r->num_given_up > 0) == (r->reason != NULL), "1e%d, %s", digits, name);
  if (digits <= 2 || is_double(precision))
    CHECK(r->num_given_up == 0, "1e%d, %s: %s", digits, name, r->reason);
  if (digits >= 14) CHECK(is_double(r->precision), "1e%d, %s", digits, name);
  if (digits >= 14 && !is_double(precision)) CHECK(r->num_given_up > 0, "1e%d, %s", digits, name);

  system_free(&s);
  free(A);
}

static void check_conditions(Ceed ceed, bool is_symmetric) {
  const bool is_slow = tap_compiles_slowly(ceed);
  for (int digits = 0; digits <= 16; digits += is_slow ? 8 : 2) {
    for (int p = 0; p < NUM_PRECISIONS; p++) {
      check_condition(ceed, 150, digits, is_symmetric, precisions[p]);
      if (tap_failed()) return;
    }
  }
}

TEST_EACH_BACKEND(backward_error_is_small_for_every_condition_and_precision) {
  NEEDS_SOLVER(ceed);
  check_conditions(ceed, false);
}

TEST_EACH_BACKEND(cholesky_is_as_accurate) {
  NEEDS_SOLVER(ceed);
  check_conditions(ceed, true);
}

// |A - L U| of the precision shows: without refinement the error is that of the factors, above double's and
// below that of the roundoff times what sums of n terms and pivots' growth make of it.
TEST_EACH_BACKEND(without_refinement_errors_are_those_of_the_precision) {
  NEEDS_SOLVER(ceed);
  const int64_t n = 160;
  const double roundoff[] = {0x1p-53, 0x1p-24, 0x1p-24, 0x1p-11, 0x1p-8, 0x1p-11};
  double *A = solver_matrix(n, 10, false, 7);

  for (int p = 0; p < NUM_PRECISIONS; p++) {
    System s;
    CHECK_OK(system_make(ceed, n, 1, A, &s));
    CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, precisions[p]));
    CHECK_OK(RitzDenseSolverSetRefinement(s.solver, RITZ_REFINEMENT_NONE));
    CHECK_OK(system_run(&s));
    const double error = system_backward_error(&s);
    const char *name = RitzDensePrecisionName(precisions[p]);
    CHECK(error <= 10 * roundoff[p] && error >= 1e-4 * roundoff[p], "%s: %g", name, error);
    CHECK(s.report.iterations == 0 && s.report.refinement == RITZ_REFINEMENT_NONE, "%s", name);
    CHECK(s.report.is_converged == (s.report.backward_error <= solver_tolerance(n)), "%s", name);
    CHECK(s.report.num_given_up == 0 && s.report.precision == precisions[p], "%s", name);
    system_free(&s);
  }
  free(A);
}

TEST_EACH_BACKEND(gmres_converges_where_classical_refinement_gives_up) {
  NEEDS_SOLVER(ceed);
  double *A = solver_matrix(150, 1e4, false, 9);
  System s;

  CHECK_OK(system_make(ceed, 150, 1, A, &s));
  CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, RITZ_DENSE_BF16));
  CHECK_OK(RitzDenseSolverSetRefinement(s.solver, RITZ_REFINEMENT_GMRES));
  CHECK_OK(system_run(&s));
  CHECK(s.report.is_converged && s.report.num_given_up == 0, "gmres: %s", s.report.reason);
  CHECK_OK(RitzDenseSolverSetRefinement(s.solver, RITZ_REFINEMENT_CLASSICAL));
  CHECK_OK(system_run(&s));

  CHECK(s.report.is_converged && s.report.num_given_up > 0, "classical");
  CHECK_NEAR(system_backward_error(&s), 0, bound(150), "classical");
  system_free(&s);
  free(A);
}

// The estimate is a lower bound that is seldom far off; of factors in double.
TEST_EACH_BACKEND(condition_is_estimated) {
  NEEDS_SOLVER(ceed);
  const int64_t n = 48;
  double *A = solver_matrix(n, 1e3, false, 21);
  System s;

  CHECK_OK(system_make(ceed, n, 1, A, &s));
  CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, RITZ_DENSE_F32));
  CHECK_OK(system_run(&s));
  double condition = 0;
  CHECK_OK(RitzDenseSolverEstimateCondition(s.solver, &condition));
  CHECK_OK(RitzDenseSolverGetReport(s.solver, &s.report));
  CHECK(condition == s.report.condition, "the report keeps it");

  // |A|_1 |A^-1|_1 is between kappa_2 / n and n kappa_2; scaling changes it by a small factor.
  CHECK(s.report.condition >= 1e3 / (double)n && s.report.condition <= 2e3 * (double)n, "%g",
        s.report.condition);
  system_free(&s);
  free(A);
}

// ---- The ends of the ranges ----

// Any powers of two on rows and columns; entries of 1e6 would overflow in f16 if they were not scaled.
static void check_scaled(Ceed ceed, double size, int spread, double tolerance) {
  const int64_t n = 100;
  uint64_t state = 5;
  for (int p = 0; p < NUM_PRECISIONS; p++) {
    System s;
    double *A = solver_matrix(n, 10, false, 4);
    for (int64_t i = 0; i < n; i++) {
      const double row = ldexp(size, (int)(spread * tap_uniform(&state)));
      for (int64_t j = 0; j < n; j++) A[i + j * n] *= row;
    }
    CHECK_OK(system_make(ceed, n, 1, A, &s));
    for (int64_t i = 0; i < n && size < 0x1p-1000; i++) s.b[i] *= 0x1p-30; // so that x is below 2^1024
    CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, precisions[p]));
    CHECK_OK(system_run(&s));
    CHECK(s.report.is_converged && s.report.num_given_up == 0, "%s, %g: %s",
          RitzDensePrecisionName(precisions[p]), size, s.report.reason);
    CHECK_NEAR(system_backward_error(&s), 0, tolerance, "%s", RitzDensePrecisionName(precisions[p]));
    system_free(&s);
    free(A);
  }
}

TEST_EACH_BACKEND(entries_of_a_million_do_not_overflow_in_f16) {
  NEEDS_SOLVER(ceed);
  check_scaled(ceed, 1e6, 0, bound(100));
}

TEST_EACH_BACKEND(rows_of_any_size_are_scaled) {
  NEEDS_SOLVER(ceed);
  check_scaled(ceed, 1, 400, bound(100));
}

TEST_EACH_BACKEND(entries_near_overflow_and_subnormal_entries) {
  NEEDS_SOLVER(ceed);
  check_scaled(ceed, 0x1p1000, 0, bound(100));
  if (!tap_failed()) check_scaled(ceed, 0x1p-1040, 0, bound(100));
}

// 1 + 2^-40 is 1 in float: the second pivot is zero there.
TEST_EACH_BACKEND(a_matrix_that_is_singular_in_float_is_factorized_in_double) {
  NEEDS_SOLVER(ceed);
  double A[] = {1, 1, 1, 1 + 0x1p-40};

  for (int p = 1; p < NUM_PRECISIONS; p++) {
    System s;
    CHECK_OK(system_make(ceed, 2, 1, A, &s));
    CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, precisions[p]));
    CHECK_OK(system_run(&s));
    CHECK(s.report.precision == RITZ_DENSE_F64 && s.report.is_converged, "%d", p);
    CHECK(strstr(s.report.reason, "a pivot is zero"), "%s", s.report.reason);
    CHECK_NEAR(system_backward_error(&s), 0, bound(2), "%d", p);
    system_free(&s);
  }
}

// ---- Shapes ----

TEST_EACH_BACKEND(orders_from_nothing_on_and_several_columns) {
  NEEDS_SOLVER(ceed);
  static const int64_t orders[] = {0, 1, 2, 31, 32, 33, 64, 65, 97, 300};
  static const int64_t columns[] = {0, 1, 5};

  for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
    const int64_t n = orders[i], num = columns[i % 3 == 0 ? 2 : i == 5 ? 0 : 1];
    for (int p = (int)i % 2; p < NUM_PRECISIONS; p += 2) {
      for (int is_symmetric = 0; is_symmetric < 2; is_symmetric++) {
        double *A = solver_matrix(n, 50, is_symmetric, 31);
        System s;
        CHECK_OK(system_make(ceed, n, num, A, &s));
        CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, precisions[p]));
        CHECK_OK(RitzDenseSolverSetSymmetricPositive(s.solver, is_symmetric));
        CHECK_OK(system_run(&s));
        CHECK(s.report.is_converged, "n = %d, %s", (int)n, RitzDensePrecisionName(precisions[p]));
        CHECK_NEAR(system_backward_error(&s), 0, bound(n), "n = %d, %d columns", (int)n, (int)num);
        system_free(&s);
        free(A);
      }
    }
  }
}

// Pivots in an order that is known: exact results.
TEST_EACH_BACKEND(permutations_are_solved_exactly) {
  NEEDS_SOLVER(ceed);
  const int64_t n = 70;
  double *A = solver_alloc(n * n);
  memset(A, 0, (size_t)(n * n) * sizeof(*A));
  for (int64_t j = 0; j < n; j++) A[(j * 13 + 5) % n + j * n] = j % 2 ? -4 : 0.5;

  for (int p = 0; p < NUM_PRECISIONS; p++) {
    System s;
    CHECK_OK(system_make(ceed, n, 1, A, &s));
    CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, precisions[p]));
    CHECK_OK(system_run(&s));
    CHECK(s.report.backward_error == 0 && s.report.iterations == 0, "%d", p);
    for (int64_t j = 0; j < n; j++) CHECK(s.x[j] == s.b[(j * 13 + 5) % n] / (j % 2 ? -4 : 0.5), "%d", (int)j);
    system_free(&s);
  }
  free(A);
}

// Leading dimension 7 more than the order, NaN between columns; X over B.
TEST_EACH_BACKEND(gaps_are_not_read_and_the_solution_may_overwrite) {
  NEEDS_SOLVER(ceed);
  const int64_t n = 40, ld = 47;
  double *A = solver_matrix(n, 10, false, 2);
  BatchMemory matrix, columns;
  RitzDenseSolver solver = NULL;
  double b[80];
  uint64_t state = 1;
  solver_fill(2 * n, b, &state);
  batch_memory_make(ceed, (size_t)(ld * n) * sizeof(double), &matrix);
  batch_memory_make(ceed, sizeof(b), &columns);
  for (int64_t j = 0; j < n; j++)
    memcpy(matrix.host + (size_t)(j * ld) * 8, A + j * n, (size_t)n * sizeof(double));
  memcpy(columns.host, b, sizeof(b));

  CHECK_OK(RitzDenseSolverCreate(ceed, n, &solver));
  CHECK_OK(RitzDenseSolverSetFactorPrecision(solver, RITZ_DENSE_F16));
  CHECK_OK(RitzDenseSolverFactor(solver, batch_memory_lend(&matrix), ld));
  double *X = batch_memory_lend(&columns);
  CHECK_OK(RitzDenseSolverSolve(solver, 2, X, X));
  batch_memory_return(&columns);

  double x[80];
  memcpy(x, columns.host, sizeof(x));
  for (int c = 0; c < 2; c++)
    CHECK_NEAR(solver_backward_error(n, A, b + c * n, x + c * n), 0, bound(n), "column %d", c);
  batch_memory_return(&matrix);
  CHECK_OK(RitzDenseSolverDestroy(&solver));
  batch_memory_free(&matrix);
  batch_memory_free(&columns);
  free(A);
}

// The same bits from the same calls, by one object or two, and by vectors.
TEST_EACH_BACKEND(results_repeat) {
  NEEDS_SOLVER(ceed);
  const int64_t n = 130;
  double *A = solver_matrix(n, 1e3, false, 6), *first = solver_alloc(2 * n);
  System s;

  for (int run = 0; run < 2; run++) {
    CHECK_OK(system_make(ceed, n, 2, A, &s));
    CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, RITZ_DENSE_BF16));
    for (int again = 0; again < 2; again++) {
      CHECK_OK(system_run(&s));
      if (run == 0 && again == 0) memcpy(first, s.x, (size_t)(2 * n) * sizeof(*first));
      CHECK(!memcmp(first, s.x, (size_t)(2 * n) * sizeof(*first)), "run %d, %d", run, again);
    }
    system_free(&s);
  }
  free(first);
  free(A);
}

static int make_vector(Ceed ceed, int64_t num, double *values, CeedVector *vec) {
  const int ierr = CeedVectorCreate(ceed, num, vec);
  return ierr ? ierr
              : CeedVectorSetArray(*vec, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)(void *)values);
}

TEST_EACH_BACKEND(vectors_are_matrices_and_columns) {
  NEEDS_SOLVER(ceed);
  if (sizeof(CeedScalar) != sizeof(double)) NOT_HERE("vectors are float");
  const int64_t n = 20;
  double *A = solver_matrix(n, 10, false, 2), b[40];
  uint64_t state = 8;
  RitzDenseSolver solver = NULL;
  CeedVector matrix, columns;
  const CeedScalar *x;
  solver_fill(2 * n, b, &state);

  CHECK_OK(make_vector(ceed, n * n, A, &matrix));
  CHECK_OK(make_vector(ceed, 2 * n, b, &columns));
  CHECK_OK(RitzDenseSolverCreate(ceed, n, &solver));
  CHECK_OK(RitzDenseSolverFactorVector(solver, matrix, n));
  CHECK_OK(CeedVectorDestroy(&matrix)); // the solver has a reference
  CHECK_OK(RitzDenseSolverSolveVectors(solver, 2, columns, columns));
  CHECK_OK(CeedVectorGetArrayRead(columns, CEED_MEM_HOST, &x));
  for (int c = 0; c < 2; c++)
    CHECK_NEAR(solver_backward_error(n, A, b + c * n, (const double *)(const void *)x + c * n), 0, bound(n),
               "column %d", c);
  CHECK_OK(CeedVectorRestoreArrayRead(columns, &x));
  CHECK_OK(RitzDenseSolverDestroy(&solver));
  CHECK_OK(CeedVectorDestroy(&columns));
  free(A);
}

// ---- For people ----

TEST_EACH_BACKEND(explain_says_who_took_over_and_why) {
  NEEDS_SOLVER(ceed);
  double A[] = {1, 1, 1, 1 + 0x1p-40};
  char *text = NULL;
  size_t length = 0;
  System s;

  CHECK_OK(system_make(ceed, 2, 1, A, &s));
  CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, RITZ_DENSE_F32));
  CHECK_OK(system_run(&s));
  FILE *stream = open_memstream(&text, &length);
  CHECK(stream, "a stream");
  CHECK_OK(RitzDenseSolverExplain(s.solver, stream));
  fclose(stream);

  CHECK(strstr(text, "order 2") && strstr(text, "LU in f64, asked for f32: a pivot is zero"), "%s", text);
  CHECK(s.report.num_bytes >= 4 * 8, "%zu", s.report.num_bytes);
  free(text);
  system_free(&s);
}

int main(int argc, char **argv) {
  setenv("RITZ_WARNINGS", "off", 1);
  return tap_main(argc, argv,
                  TESTS(backward_error_is_small_for_every_condition_and_precision, cholesky_is_as_accurate,
                        without_refinement_errors_are_those_of_the_precision,
                        gmres_converges_where_classical_refinement_gives_up, condition_is_estimated,
                        entries_of_a_million_do_not_overflow_in_f16, rows_of_any_size_are_scaled,
                        entries_near_overflow_and_subnormal_entries,
                        a_matrix_that_is_singular_in_float_is_factorized_in_double,
                        orders_from_nothing_on_and_several_columns, permutations_are_solved_exactly,
                        gaps_are_not_read_and_the_solution_may_overwrite, results_repeat,
                        vectors_are_matrices_and_columns, explain_says_who_took_over_and_why));
}
