// SPDX-License-Identifier: BSD-2-Clause
// The dense solver used wrongly: every refusal names the call, what was found and what was needed, and leaves
// the object as it was or, after a factorization, without factors.
#include "tests/dense-kit.h"

#include "base/memory.h"

static const char *const host = "/cpu/self/ref";

TEST(arguments_out_of_range_are_refused) {
  Ceed ceed = tap_ceed(host);
  RitzDenseSolver solver = NULL;
  double A[4] = {2, 0, 0, 2}, b[2] = {1, 1}, x[2];

  CHECK_ERROR(ceed, RitzDenseSolverCreate(ceed, -1, &solver), CEED_ERROR_DIMENSION, "order -1, needed 0 to");
  CHECK_ERROR(ceed, RitzDenseSolverCreate(ceed, INT64_C(1) << 31, &solver), CEED_ERROR_DIMENSION, "order");
  CHECK(!solver, "nothing is made");
  CHECK_OK(RitzDenseSolverCreate(ceed, 2, &solver));
  CHECK_ERROR(ceed, RitzDenseSolverSetFactorPrecision(solver, (RitzDensePrecision)7), CEED_ERROR_INCOMPATIBLE,
              "precision 7, needed 0 to 6");
  CHECK_ERROR(ceed, RitzDenseSolverSetRefinement(solver, (RitzDenseRefinement)4), CEED_ERROR_INCOMPATIBLE,
              "refinement 4, needed 0 to 3");
  CHECK_ERROR(ceed, RitzDenseSolverSetTolerance(solver, -1e-3), CEED_ERROR_INCOMPATIBLE, "tolerance -0.001");
  CHECK_ERROR(ceed, RitzDenseSolverSetTolerance(solver, NAN), CEED_ERROR_INCOMPATIBLE, "needed at least 0");
  CHECK_ERROR(ceed, RitzDenseSolverSetTolerance(solver, INFINITY), CEED_ERROR_INCOMPATIBLE, "and finite");
  CHECK_ERROR(ceed, RitzDenseSolverSetMaxIterations(solver, -1), CEED_ERROR_DIMENSION, "-1 iterations");
  CHECK_ERROR(ceed, RitzDenseSolverSolve(solver, 1, b, x), CEED_ERROR_INCOMPLETE, "there are no factors");
  CHECK_ERROR(ceed, RitzDenseSolverEstimateCondition(solver, x), CEED_ERROR_INCOMPLETE,
              "there are no factors");
  CHECK_ERROR(ceed, RitzDenseSolverFactor(solver, A, 1), CEED_ERROR_DIMENSION,
              "leading dimension is 1, needed at least the order 2");
  CHECK_ERROR(ceed, RitzDenseSolverFactor(solver, NULL, 2), CEED_ERROR_INCOMPATIBLE,
              "A is NULL, needed 4 doubles");
  CHECK_OK(RitzDenseSolverFactor(solver, A, 2));
  CHECK_ERROR(ceed, RitzDenseSolverFactor(solver, A, 0), CEED_ERROR_DIMENSION, "leading dimension is 0");
  CHECK_ERROR(ceed, RitzDenseSolverSolve(solver, -1, b, x), CEED_ERROR_DIMENSION, "-1 columns");
  CHECK_ERROR(ceed, RitzDenseSolverSolve(solver, 1, NULL, x), CEED_ERROR_INCOMPATIBLE, "B is NULL");
  CHECK_ERROR(ceed, RitzDenseSolverSolve(solver, 1, b, NULL), CEED_ERROR_INCOMPATIBLE, "X is NULL");
  CHECK_OK(RitzDenseSolverSolve(solver, 1, b, x));
  CHECK(x[0] == 0.5 && x[1] == 0.5, "the factors are still there");
  CHECK(!RitzDensePrecisionName((RitzDensePrecision)7) && !RitzDenseRefinementName((RitzDenseRefinement)4),
        "names end");
  CHECK_OK(RitzDenseSolverDestroy(&solver));
  CHECK_OK(RitzDenseSolverDestroy(&solver));
  CHECK_OK(CeedDestroy(&ceed));
}

static int factor_and_solve(RitzDenseSolver solver, const double *A, int64_t n) {
  double b[64] = {1}, x[64];
  const int ierr = RitzDenseSolverFactor(solver, A, n);
  return ierr ? ierr : RitzDenseSolverSolve(solver, 1, b, x);
}

TEST_EACH_BACKEND(matrices_without_an_inverse_are_refused) {
  const int64_t n = 40;
  double *A = solver_matrix(n, 1, false, 3);
  System s;
  if (system_make(ceed, n, 1, A, &s)) {
    system_free(&s);
    free(A);
    NOT_FOR_THIS_BACKEND("it has no dense solver");
  }

  for (int p = RITZ_DENSE_AUTO; p <= RITZ_DENSE_F16; p++) {
    CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, (RitzDensePrecision)p));
    double *zeros = solver_matrix(n, 1, false, 3);
    for (int64_t i = 0; i < n; i++) zeros[i + 34 * n] = 0;
    s.A = zeros;
    CHECK_ERROR(ceed, system_factor(&s), CEED_ERROR_INCOMPATIBLE, "is singular: pivot 35 is zero");
    CHECK_ERROR(ceed, RitzDenseSolverSolve(s.solver, 0, NULL, NULL), CEED_ERROR_INCOMPLETE, "no factors");
    zeros[5] = NAN;
    CHECK_ERROR(ceed, system_factor(&s), CEED_ERROR_INCOMPATIBLE, "not finite");
    zeros[5] = INFINITY;
    CHECK_ERROR(ceed, system_factor(&s), CEED_ERROR_INCOMPATIBLE, "not finite");
    s.A = A;
    CHECK_OK(system_run(&s));
    CHECK(s.report.is_converged, "%d", p);
    free(zeros);
  }
  system_free(&s);
  free(A);
}

TEST_EACH_BACKEND(indefinite_matrices_have_no_cholesky_factor) {
  const int64_t n = 70;
  double *A = solver_matrix(n, 10, true, 3);
  System s;
  if (system_make(ceed, n, 1, A, &s)) {
    system_free(&s);
    free(A);
    NOT_FOR_THIS_BACKEND("it has no dense solver");
  }
  for (int64_t i = 0; i < n; i++) A[i + 50 * n] = A[50 + i * n] = 0; // a row of its own: minor 51
  A[50 + 50 * n] = -1;

  CHECK_OK(RitzDenseSolverSetSymmetricPositive(s.solver, true));
  for (int p = RITZ_DENSE_AUTO; p <= RITZ_DENSE_F16; p++) {
    CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, (RitzDensePrecision)p));
    CHECK_ERROR(ceed, system_factor(&s), CEED_ERROR_INCOMPATIBLE,
                "is not positive definite: its leading minor 51 is not positive");
  }
  CHECK_OK(RitzDenseSolverSetSymmetricPositive(s.solver, false));
  CHECK_OK(system_run(&s));
  CHECK(s.report.is_converged, "LU");
  system_free(&s);
  free(A);
}

TEST(columns_that_are_not_finite_are_refused_behind_good_ones) {
  Ceed ceed = tap_ceed(host);
  RitzDenseSolver solver = NULL;
  const double A[4] = {4, 0, 0, 2}, B[6] = {1, 1, 1, NAN, 1, 1};
  double X[6] = {0};

  CHECK_OK(RitzDenseSolverCreate(ceed, 2, &solver));
  CHECK_OK(RitzDenseSolverFactor(solver, A, 2));
  CHECK_ERROR(ceed, RitzDenseSolverSolve(solver, 3, B, X), CEED_ERROR_INCOMPATIBLE,
              "column 1 of B has entries that are not finite");
  CHECK(X[0] == 0.25 && X[1] == 0.5 && X[4] == 0, "the first column alone is solved");
  CHECK_OK(RitzDenseSolverDestroy(&solver));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(right_hand_sides_in_vectors_survive_a_refusal) {
  Ceed ceed = tap_ceed(host);
  RitzDenseSolver solver = NULL;
  const double A[4] = {4, 0, 0, 2};
  CeedScalar B[6] = {1, 1, 1, (CeedScalar)NAN, 1, 3};
  const CeedScalar *b;
  CeedVector V;

  if (sizeof(CeedScalar) != sizeof(double)) {
    CHECK_OK(CeedDestroy(&ceed));
    NOT_HERE("vectors of the program are of float");
  }
  CHECK_OK(RitzDenseSolverCreate(ceed, 2, &solver));
  CHECK_OK(RitzDenseSolverFactor(solver, A, 2));
  CHECK_OK(CeedVectorCreate(ceed, 6, &V));
  CHECK_OK(CeedVectorSetArray(V, CEED_MEM_HOST, CEED_COPY_VALUES, B));
  CHECK_ERROR(ceed, RitzDenseSolverSolveVectors(solver, 3, V, V), CEED_ERROR_INCOMPATIBLE,
              "column 1 of B has entries that are not finite");
  CHECK_OK(CeedVectorGetArrayRead(V, CEED_MEM_HOST, &b));
  CHECK(b[0] == 0.25 && b[1] == 0.5 && b[2] == 1 && b[5] == 3, "a column is lost");
  CHECK_OK(CeedVectorRestoreArrayRead(V, &b));
  CHECK_OK(CeedVectorDestroy(&V));
  CHECK_OK(RitzDenseSolverDestroy(&solver));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(vectors_that_do_not_fit_are_refused) {
  Ceed ceed = tap_ceed(host);
  RitzDenseSolver solver = NULL;
  CeedVector floats, shorter;
  const CeedInt n = 3;

  CHECK_OK(RitzDenseSolverCreate(ceed, n, &solver));
  CHECK_OK(RitzVectorCreate(ceed, 9, CEED_SCALAR_FP32, &floats));
  CHECK_OK(CeedVectorCreate(ceed, 8, &shorter));
  CHECK_ERROR(ceed, RitzDenseSolverFactorVector(solver, floats, n), CEED_ERROR_INCOMPATIBLE, "needed double");
  const int code = sizeof(CeedScalar) == 8 ? CEED_ERROR_DIMENSION : CEED_ERROR_INCOMPATIBLE;
  CHECK_ERROR(ceed, RitzDenseSolverFactorVector(solver, shorter, n), code, "A has");
  CHECK_ERROR(ceed, RitzDenseSolverSolveVectors(solver, 1, floats, floats), CEED_ERROR_INCOMPLETE,
              "there are no factors");
  CHECK_OK(CeedVectorDestroy(&shorter));
  CHECK_OK(CeedVectorDestroy(&floats));
  CHECK_OK(RitzDenseSolverDestroy(&solver));
  CHECK_OK(CeedDestroy(&ceed));
}

// RITZ_STRICT: what takes over is an error, and leaves no factors.
TEST(strict_contexts_do_not_fall_back) {
  setenv("RITZ_STRICT", "1", 1);
  Ceed ceed = tap_ceed(host);
  unsetenv("RITZ_STRICT");
  RitzDenseSolver solver = NULL;
  const double A[4] = {1, 1, 1, 1 + 0x1p-40};

  CHECK_OK(RitzDenseSolverCreate(ceed, 2, &solver));
  CHECK_OK(RitzDenseSolverSetFactorPrecision(solver, RITZ_DENSE_F32));
  CHECK_ERROR(ceed, factor_and_solve(solver, A, 2), CEED_ERROR_BACKEND, "RITZ_STRICT is set");
  CHECK_OK(RitzDenseSolverSetFactorPrecision(solver, RITZ_DENSE_F64));
  CHECK_OK(factor_and_solve(solver, A, 2));
  CHECK_OK(RitzDenseSolverDestroy(&solver));
  CHECK_OK(CeedDestroy(&ceed));
}

// Wherever memory is short the call fails, nothing leaks, and the object can be used.
TEST(short_memory_leaves_the_solver_usable) {
  Ceed ceed = tap_ceed(host);
  const int64_t n = 60;
  double *A = solver_matrix(n, 1e7, false, 4);
  int code = CEED_ERROR_MAJOR;

  for (int64_t fail = 1; code; fail++) {
    RitzDenseSolver solver = NULL;
    CHECK(fail < 100, "allocations end");
    ritz_memory_fail_at(fail);
    code = RitzDenseSolverCreate(ceed, n, &solver);
    if (!code) code = RitzDenseSolverSetFactorPrecision(solver, RITZ_DENSE_BF16);
    if (!code) code = factor_and_solve(solver, A, n);
    ritz_memory_fail_at(0);
    CHECK(code == 0 || code == CEED_ERROR_MAJOR, "allocation %d: %d", (int)fail, code);
    if (solver) CHECK_OK(factor_and_solve(solver, A, n));
    CHECK_OK(RitzDenseSolverDestroy(&solver));
  }
  free(A);
  CHECK_OK(CeedDestroy(&ceed));
}

int main(int argc, char **argv) {
  setenv("RITZ_WARNINGS", "off", 1);
  return tap_main(argc, argv,
                  TESTS(arguments_out_of_range_are_refused, matrices_without_an_inverse_are_refused,
                        indefinite_matrices_have_no_cholesky_factor,
                        columns_that_are_not_finite_are_refused_behind_good_ones,
                        right_hand_sides_in_vectors_survive_a_refusal, vectors_that_do_not_fit_are_refused,
                        strict_contexts_do_not_fall_back, short_memory_leaves_the_solver_usable));
}
