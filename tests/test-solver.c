// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients against their theory, on small dense matrices with known eigenvalues: finite
// termination, Chebyshev's bound, what Jacobi and constraints mean, every reason to stop, every misuse.
#include <math.h>
#include <ritz/solver.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "solver/solver.h"
#include "tests/tap.h"

static const double eps = sizeof(CeedScalar) == 4 ? 0x1p-23 : 0x1p-52;

// ---- Dense systems ----

enum { MAX_N = 40, MAX_STEPS = 200 };

typedef struct {
  int n;
  double A[MAX_N][MAX_N];
  double x[MAX_N], b[MAX_N]; // A x = b
} System;

// A = H diag(eigenvalues) H with the reflection H = I - 2 v v^T / v^T v: eigenvalues are known, nothing else
// about A is special. The solution is random, its entries are in [-1,1).
static void make_system(System *s, int n, const double *eigenvalues, uint64_t seed) {
  double v[MAX_N], vv = 0;

  s->n = n;
  for (int i = 0; i < n; i++) {
    v[i] = tap_uniform(&seed);
    s->x[i] = tap_uniform(&seed);
    vv += v[i] * v[i];
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      s->A[i][j] = 0;
      for (int k = 0; k < n; k++) {
        double h_ik = (i == k) - 2 * v[i] * v[k] / vv, h_kj = (k == j) - 2 * v[k] * v[j] / vv;
        s->A[i][j] += h_ik * eigenvalues[k] * h_kj;
      }
    }
  }
  for (int i = 0; i < n; i++) {
    s->b[i] = 0;
    for (int j = 0; j < n; j++) s->b[i] += s->A[i][j] * s->x[j];
  }
}

// Eigenvalues evenly spread over [1, condition].
static void make_spread_system(System *s, int n, double condition, uint64_t seed) {
  double eigenvalues[MAX_N];

  for (int i = 0; i < n; i++) eigenvalues[i] = 1 + (condition - 1) * i / (n - 1);
  make_system(s, n, eigenvalues, seed);
}

static int apply_system(void *ctx, CeedVector x, CeedVector y) {
  const System *s = ctx;
  const CeedScalar *x_array = NULL;
  CeedScalar *y_array = NULL;
  int ierr = CeedVectorGetArrayRead(x, CEED_MEM_HOST, &x_array);

  if (ierr) return ierr;
  ierr = CeedVectorGetArrayWrite(y, CEED_MEM_HOST, &y_array);
  if (!ierr) {
    for (int i = 0; i < s->n; i++) {
      double sum = 0;
      for (int j = 0; j < s->n; j++) sum += s->A[i][j] * x_array[j];
      y_array[i] = (CeedScalar)sum;
    }
    ierr = CeedVectorRestoreArray(y, &y_array);
  }
  CeedVectorRestoreArrayRead(x, &x_array);
  return ierr;
}

static CeedVector make_vector(Ceed ceed, int n, const double *values) {
  CeedVector v = NULL;
  CeedScalar *array = NULL;

  if (CeedVectorCreate(ceed, n, &v) || CeedVectorGetArrayWrite(v, CEED_MEM_HOST, &array)) return NULL;
  for (int i = 0; i < n; i++) array[i] = values ? (CeedScalar)values[i] : 0;
  CeedVectorRestoreArray(v, &array);
  return v;
}

static void get_values(CeedVector v, int n, double *values) {
  const CeedScalar *array = NULL;

  if (CeedVectorGetArrayRead(v, CEED_MEM_HOST, &array)) return;
  for (int i = 0; i < n; i++) values[i] = array[i];
  CeedVectorRestoreArrayRead(v, &array);
}

// ---- Norms ----

static double norm(int n, const double *v) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += v[i] * v[i];
  return sqrt(sum);
}

// sqrt(e^T A e) for e = x - s->x
static double energy_error(const System *s, const double *x) {
  double sum = 0;

  for (int i = 0; i < s->n; i++) {
    for (int j = 0; j < s->n; j++) sum += (x[i] - s->x[i]) * s->A[i][j] * (x[j] - s->x[j]);
  }
  return sqrt(fmax(0, sum));
}

static double largest_error(const System *s, const double *x) {
  double largest = 0;
  for (int i = 0; i < s->n; i++) largest = tap_larger(largest, fabs(x[i] - s->x[i]));
  return largest;
}

// ---- A solver with everything around it ----

typedef struct {
  Ceed ceed;
  RitzSolver solver;
  CeedVector b, x;
  // What the monitor saw and does.
  int calls, stop_at; // stop_at < 0: never
  double residuals[MAX_STEPS];
} Bench;

static int record(void *ctx, CeedInt iteration, double residual, bool *stop) {
  Bench *bench = ctx;

  if (iteration != bench->calls || *stop) return CEED_ERROR_MAJOR; // called once per iteration, in order
  if (bench->calls < MAX_STEPS) bench->residuals[bench->calls] = residual;
  bench->calls++;
  *stop = iteration == bench->stop_at;
  return 0;
}

// x starts from zero. The tolerances are strict: as good as none.
static int open_bench(Bench *bench, System *s) {
  *bench = (Bench){.ceed = tap_ceed("/cpu/self/ref"), .stop_at = -1};
  bench->b = make_vector(bench->ceed, s->n, s->b);
  bench->x = make_vector(bench->ceed, s->n, NULL);
  int ierr = RitzSolverCreateCG(bench->ceed, &bench->solver);
  if (!ierr) ierr = RitzSolverSetApply(bench->solver, apply_system, s);
  if (!ierr) ierr = RitzSolverSetMonitor(bench->solver, record, bench);
  return ierr;
}

static void close_bench(Bench *bench) {
  RitzSolverDestroy(&bench->solver);
  CeedVectorDestroy(&bench->b);
  CeedVectorDestroy(&bench->x);
  CeedDestroy(&bench->ceed);
}

// Solves from x = 0 with the given limits; returns the reason, or 99 on an error.
static int solve_from_zero(Bench *bench, double rtol, double atol, int max_it, double *x, int n) {
  RitzSolverReason reason = RITZ_ITERATING;

  bench->calls = 0;
  if (CeedVectorSetValue(bench->x, 0) || RitzSolverSetTolerances(bench->solver, rtol, atol, max_it))
    return 99;
  if (RitzSolverSolve(bench->solver, bench->b, bench->x)) return 99;
  if (RitzSolverGetReason(bench->solver, &reason)) return 99;
  get_values(bench->x, n, x);
  return reason;
}

// ---- Convergence ----

TEST(solution_is_exact_after_as_many_iterations_as_unknowns) {
  for (int n = 1; n <= 12; n++) {
    System s;
    Bench bench;
    double x[MAX_N], eigenvalues[MAX_N];
    for (int i = 0; i < n; i++) eigenvalues[i] = 1 + i;
    make_system(&s, n, eigenvalues, (uint64_t)n);
    CHECK_OK(open_bench(&bench, &s));

    int reason = solve_from_zero(&bench, 0, 0, n, x, n);

    CHECK(reason == RITZ_DIVERGED_MAX_IT || reason == RITZ_CONVERGED_ATOL, "n = %d: reason %d", n, reason);
    // Rounding is amplified by the condition number, n, in each of n iterations.
    CHECK_NEAR(largest_error(&s, x), 0, 100 * n * n * eps, "n = %d", n);
    close_bench(&bench);
  }
}

TEST(k_distinct_eigenvalues_need_k_iterations) {
  const int n = 30;

  for (int k = 1; k <= 6; k++) {
    System s;
    Bench bench;
    double x[MAX_N], eigenvalues[MAX_N];
    for (int i = 0; i < n; i++) eigenvalues[i] = 1 + 3 * (i % k);
    make_system(&s, n, eigenvalues, 7);
    CHECK_OK(open_bench(&bench, &s));

    solve_from_zero(&bench, 0, 0, k, x, n);
    CHECK_NEAR(largest_error(&s, x), 0, 1000 * k * k * eps, "k = %d", k);
    if (k > 1) {
      solve_from_zero(&bench, 0, 0, k - 1, x, n);
      CHECK(largest_error(&s, x) > 1e-4, "k = %d: exact one iteration too early", k);
    }
    close_bench(&bench);
  }
}

TEST(energy_error_decreases_and_obeys_the_chebyshev_bound) {
  const int n = 40;
  const double conditions[] = {4, 50, 1000};

  for (int c = 0; c < 3; c++) {
    System s;
    Bench bench;
    double x[MAX_N] = {0}, before, first, rate = (sqrt(conditions[c]) - 1) / (sqrt(conditions[c]) + 1);
    make_spread_system(&s, n, conditions[c], 3);
    CHECK_OK(open_bench(&bench, &s));

    first = before = energy_error(&s, x);
    for (int k = 1; k <= 25; k++) {
      solve_from_zero(&bench, 0, 0, k, x, n);
      double error = energy_error(&s, x), dust = 100 * conditions[c] * eps * first;
      CHECK(error <= 2 * pow(rate, k) * first + dust, "condition %g, iteration %d: %g", conditions[c], k,
            error);
      CHECK(error <= before + dust, "condition %g, iteration %d: error grows", conditions[c], k);
      before = error;
    }
    close_bench(&bench);
  }
}

TEST(monitor_sees_the_true_residual_once_per_iteration) {
  const int n = 20;
  System s;
  Bench bench;
  double x[MAX_N], r[MAX_N];
  make_spread_system(&s, n, 30, 5);
  CHECK_OK(open_bench(&bench, &s));

  for (int k = 0; k <= 10; k++) {
    solve_from_zero(&bench, 0, 0, k, x, n);
    for (int i = 0; i < n; i++) {
      r[i] = s.b[i];
      for (int j = 0; j < n; j++) r[i] -= s.A[i][j] * x[j];
    }
    CHECK(bench.calls == k + 1, "%d calls in %d iterations", bench.calls, k);
    CHECK_NEAR(bench.residuals[k], norm(n, r), 1000 * eps * norm(n, s.b), "iteration %d", k);
  }
  close_bench(&bench);
}

static int copy_vector(void *ctx, CeedVector x, CeedVector y) {
  (void)ctx;
  return CeedVectorCopy(x, y);
}

TEST(long_sums_are_accurate) {
  // Adding n equal terms one by one drifts by up to n eps, since all roundings have the same sign.
  const CeedSize n = 1000003;
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedVector b = NULL, x = NULL;
  RitzSolver solver = NULL;
  double initial = 0;
  CHECK_OK(CeedVectorCreate(ceed, n, &b));
  CHECK_OK(CeedVectorCreate(ceed, n, &x));
  CHECK_OK(CeedVectorSetValue(b, (CeedScalar)0.3));
  CHECK_OK(CeedVectorSetValue(x, 0));
  CHECK_OK(RitzSolverCreateCG(ceed, &solver));
  CHECK_OK(RitzSolverSetApply(solver, copy_vector, NULL));

  CHECK_OK(RitzSolverSolve(solver, b, x));
  CHECK_OK(RitzSolverGetResidual(solver, &initial, NULL));

  CHECK_NEAR(initial / (sqrt((double)n) * (CeedScalar)0.3), 1, 20 * 0x1p-52, "norm of %d equal entries",
             (int)n);
  RitzSolverDestroy(&solver);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  CeedDestroy(&ceed);
}

TEST(scale_of_the_right_hand_side_does_not_matter) {
  const int n = 20, exponent = sizeof(CeedScalar) == 4 ? 100 : 900;
  System s;
  Bench bench;
  double x[MAX_N], scaled[MAX_N];
  make_spread_system(&s, n, 30, 11);
  CHECK_OK(open_bench(&bench, &s));
  CHECK(solve_from_zero(&bench, 1e-5, 0, 100, x, n) == RITZ_CONVERGED_RTOL, "not converged");
  int calls = bench.calls;

  for (int sign = -1; sign <= 1; sign += 2) {
    CeedScalar *array = NULL;
    CHECK_OK(CeedVectorGetArray(bench.b, CEED_MEM_HOST, &array));
    for (int i = 0; i < n; i++) array[i] = (CeedScalar)ldexp((CeedScalar)s.b[i], sign * exponent);
    CHECK_OK(CeedVectorRestoreArray(bench.b, &array));
    CHECK(solve_from_zero(&bench, 1e-5, 0, 100, scaled, n) == RITZ_CONVERGED_RTOL, "scaled: not converged");
    CHECK(bench.calls == calls, "%d monitor calls, %d without scale", bench.calls, calls);
    // Powers of two: every operation rounds as before.
    for (int i = 0; i < n; i++) CHECK(scaled[i] == ldexp(x[i], sign * exponent), "entry %d", i);
  }
  close_bench(&bench);
}

// ---- Jacobi ----

TEST(jacobi_iterates_are_those_of_the_scaled_system) {
  const int n = 16;
  System s, scaled;
  Bench bench, other;
  CeedVector diagonal = NULL;
  double x[MAX_N], y[MAX_N], d[MAX_N];
  make_spread_system(&s, n, 20, 13);
  // Rows and columns of very different size, which Jacobi undoes.
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) s.A[i][j] *= ldexp(1, (i % 5) + (j % 5));
  }
  scaled = s;
  for (int i = 0; i < n; i++) d[i] = s.A[i][i];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) scaled.A[i][j] /= sqrt(d[i]) * sqrt(d[j]);
    scaled.b[i] /= sqrt(d[i]);
  }
  CHECK_OK(open_bench(&bench, &s));
  CHECK_OK(open_bench(&other, &scaled));
  diagonal = make_vector(bench.ceed, n, d);
  CHECK_OK(RitzSolverSetJacobi(bench.solver, diagonal));
  CHECK_OK(CeedVectorDestroy(&diagonal)); // the solver holds a reference

  for (int k = 1; k <= 8; k++) {
    solve_from_zero(&bench, 0, 0, k, x, n);
    solve_from_zero(&other, 0, 0, k, y, n);
    // x = D^-1/2 y; rounding grows with the condition number of A, about 20 * 2^8.
    for (int i = 0; i < n; i++)
      CHECK_NEAR(x[i] * sqrt(d[i]), y[i], 1e5 * eps * norm(n, y), "iteration %d, entry %d", k, i);
  }
  close_bench(&bench);
  close_bench(&other);
}

static void set_entries(CeedVector v, int n, const double *values) {
  CeedScalar *array = NULL;

  CHECK_OK(CeedVectorGetArrayWrite(v, CEED_MEM_HOST, &array));
  for (int i = 0; i < n; i++) array[i] = (CeedScalar)values[i];
  CHECK_OK(CeedVectorRestoreArray(v, &array));
}

// What one solve has made of a diagonal serves the next where diagonal and constraints are the same.
TEST(jacobi_is_that_of_the_diagonal_when_a_solve_begins) {
  const int n = 12;
  const int64_t first = 0;
  System s = {.n = n};
  Bench bench;
  double x[MAX_N], d[MAX_N], ones[MAX_N];

  for (int i = 0; i < n; i++) {
    s.A[i][i] = d[i] = ldexp(1, i);
    s.x[i] = 1 + i;
    s.b[i] = d[i] * s.x[i];
    ones[i] = 1;
  }
  CHECK_OK(open_bench(&bench, &s));
  CeedVector diagonal = make_vector(bench.ceed, n, d);

  CHECK_OK(RitzSolverSetJacobi(bench.solver, diagonal));
  for (int k = 0; k < 4; k++) {
    if (k > 0) set_entries(diagonal, n, k == 2 ? ones : d);
    for (int repeat = 0; repeat < 2; repeat++) {
      solve_from_zero(&bench, 0, 0, 1, x, n);
      const double error = largest_error(&s, x);
      CHECK(k == 2 ? error > 1e-3 : error <= 10 * n * eps, "diagonal %d: %g after an iteration", k, error);
    }
  }
  CHECK_OK(RitzSolverSetConstraints(bench.solver, 1, &first));
  solve_from_zero(&bench, 0, 0, 1, x, n);
  CHECK(x[0] == 0, "a constrained entry becomes %g", x[0]);
  CHECK_NEAR(x[1], s.x[1], 10 * n * eps, "a free entry");
  CHECK_OK(RitzSolverSetConstraints(bench.solver, 0, NULL));
  solve_from_zero(&bench, 0, 0, 1, x, n);
  CHECK_NEAR(largest_error(&s, x), 0, 10 * n * eps, "without constraints");
  CeedVectorDestroy(&diagonal);
  close_bench(&bench);
}

TEST(jacobi_solves_a_diagonal_system_in_one_iteration_and_can_be_removed) {
  const int n = 12;
  System s = {.n = n};
  Bench bench;
  double x[MAX_N], d[MAX_N];
  for (int i = 0; i < n; i++) {
    s.A[i][i] = d[i] = ldexp(1, i);
    s.x[i] = 1 + i;
    s.b[i] = d[i] * s.x[i];
  }
  CHECK_OK(open_bench(&bench, &s));
  CeedVector diagonal = make_vector(bench.ceed, n, d);
  CHECK_OK(RitzSolverSetJacobi(bench.solver, diagonal));

  solve_from_zero(&bench, 0, 0, 1, x, n);
  CHECK_NEAR(largest_error(&s, x), 0, 10 * n * eps, "with Jacobi");
  CHECK_OK(RitzSolverSetJacobi(bench.solver, NULL));
  solve_from_zero(&bench, 0, 0, 1, x, n);
  CHECK(largest_error(&s, x) > 1e-3, "without Jacobi one iteration is not enough");
  CeedVectorDestroy(&diagonal);
  close_bench(&bench);
}

// ---- Constraints ----

TEST(constrained_entries_keep_their_values_and_the_others_solve_their_equations) {
  const int n = 15, held[] = {14, 0, 7, 3, 7};
  const int64_t entries[] = {14, 0, 7, 3, 7}; // in any order, one of them twice
  System s;
  Bench bench;
  double x[MAX_N], start[MAX_N];
  CeedScalar *array = NULL;
  make_spread_system(&s, n, 40, 17);
  CHECK_OK(open_bench(&bench, &s));
  CHECK_OK(RitzSolverSetConstraints(bench.solver, 5, entries));
  CHECK_OK(RitzSolverSetTolerances(bench.solver, 100 * eps, 0, 200));
  CHECK_OK(CeedVectorGetArray(bench.x, CEED_MEM_HOST, &array));
  for (int i = 0; i < n; i++) array[i] = (CeedScalar)(start[i] = (CeedScalar)(0.1 * i - 0.7));
  CHECK_OK(CeedVectorRestoreArray(bench.x, &array));

  CHECK_OK(RitzSolverSolve(bench.solver, bench.b, bench.x));
  get_values(bench.x, n, x);

  for (int k = 0; k < 5; k++) CHECK(x[held[k]] == start[held[k]], "entry %d changed", held[k]);
  for (int i = 0; i < n; i++) {
    double r = s.b[i];
    if (i == 14 || i == 0 || i == 7 || i == 3) continue;
    for (int j = 0; j < n; j++) r -= s.A[i][j] * x[j];
    CHECK_NEAR(r, 0, 2000 * eps * norm(n, s.b), "equation %d", i);
  }
  close_bench(&bench);
}

TEST(nothing_is_done_when_all_entries_are_constrained) {
  const int64_t entries[] = {0, 1, 2};
  System s;
  Bench bench;
  double x[MAX_N];
  make_spread_system(&s, 3, 2, 1);
  CHECK_OK(open_bench(&bench, &s));
  CHECK_OK(RitzSolverSetConstraints(bench.solver, 3, entries));

  CHECK(solve_from_zero(&bench, 1e-8, 0, 100, x, 3) == RITZ_CONVERGED_ATOL, "there is nothing to do");
  CHECK(bench.calls == 1, "%d monitor calls", bench.calls);
  CHECK(x[0] == 0 && x[1] == 0 && x[2] == 0, "x changed");
  CHECK_OK(RitzSolverSetConstraints(bench.solver, 0, NULL));
  CHECK(solve_from_zero(&bench, 1e-4, 0, 100, x, 3) == RITZ_CONVERGED_RTOL, "without constraints there is");
  close_bench(&bench);
}

TEST(values_of_the_operator_on_constrained_entries_are_ignored) {
  // The row of the constrained entry is of no use: not finite, and zero on the diagonal.
  const int n = 6;
  const int64_t entry = 2;
  System s;
  Bench bench;
  double x[MAX_N], d[MAX_N];
  make_spread_system(&s, n, 5, 19);
  for (int j = 0; j < n; j++) s.A[2][j] = NAN;
  for (int i = 0; i < n; i++) d[i] = i == 2 ? 0 : s.A[i][i];
  CHECK_OK(open_bench(&bench, &s));
  CeedVector diagonal = make_vector(bench.ceed, n, d);
  CHECK_OK(RitzSolverSetJacobi(bench.solver, diagonal));
  CHECK_OK(RitzSolverSetConstraints(bench.solver, 1, &entry));

  CHECK(solve_from_zero(&bench, 1e-5, 0, 100, x, n) == RITZ_CONVERGED_RTOL, "did not converge");
  CeedVectorDestroy(&diagonal);
  close_bench(&bench);
}

// ---- Reasons ----

TEST(relative_tolerance_is_reached_at_the_first_small_residual) {
  System s;
  Bench bench;
  double x[MAX_N], initial = 0, final = 0;
  CeedInt iterations = 0;
  make_spread_system(&s, 30, 100, 23);
  CHECK_OK(open_bench(&bench, &s));

  CHECK(solve_from_zero(&bench, 1e-3, 0, 200, x, 30) == RITZ_CONVERGED_RTOL, "wrong reason");

  CHECK_OK(RitzSolverGetIterations(bench.solver, &iterations));
  CHECK_OK(RitzSolverGetResidual(bench.solver, &initial, &final));
  CHECK(iterations == bench.calls - 1, "%d iterations, %d monitor calls", (int)iterations, bench.calls);
  CHECK(initial == bench.residuals[0] && final == bench.residuals[iterations],
        "residuals are not the monitor's");
  for (int k = 0; k < iterations; k++)
    CHECK(bench.residuals[k] > 1e-3 * initial, "iteration %d was enough", k);
  CHECK(final <= 1e-3 * initial, "final residual %g of %g", final, initial);
  close_bench(&bench);
}

TEST(absolute_tolerance_is_reached_at_the_first_small_residual) {
  System s;
  Bench bench;
  double x[MAX_N];
  make_spread_system(&s, 30, 100, 29);
  CHECK_OK(open_bench(&bench, &s));
  double atol = 1e-3 * norm(30, s.b);

  CHECK(solve_from_zero(&bench, 0, atol, 200, x, 30) == RITZ_CONVERGED_ATOL, "wrong reason");

  for (int k = 0; k + 1 < bench.calls; k++) CHECK(bench.residuals[k] > atol, "iteration %d was enough", k);
  CHECK(bench.residuals[bench.calls - 1] <= atol, "final residual %g", bench.residuals[bench.calls - 1]);
  close_bench(&bench);
}

TEST(zero_right_hand_side_is_solved_by_zero_iterations) {
  System s;
  Bench bench;
  double x[MAX_N];
  make_spread_system(&s, 5, 3, 31);
  CHECK_OK(open_bench(&bench, &s));
  CHECK_OK(CeedVectorSetValue(bench.b, 0));

  CHECK(solve_from_zero(&bench, 1e-8, 0, 100, x, 5) == RITZ_CONVERGED_ATOL, "wrong reason");
  CHECK(bench.calls == 1 && norm(5, x) == 0, "%d monitor calls, |x| = %g", bench.calls, norm(5, x));
  close_bench(&bench);
}

TEST(residual_that_vanishes_counts_as_converged_even_without_tolerances) {
  // The recurrence goes on to shrink the residual until nothing is left of it.
  System s;
  Bench bench;
  double x[MAX_N];
  make_spread_system(&s, 10, 3, 37);
  CHECK_OK(open_bench(&bench, &s));

  CHECK(solve_from_zero(&bench, 0, 0, 100000, x, 10) == RITZ_CONVERGED_ATOL, "wrong reason");
  CHECK_NEAR(largest_error(&s, x), 0, 1000 * eps, "solution");
  close_bench(&bench);
}

TEST(iteration_limit_ends_the_solve) {
  System s;
  Bench bench;
  double x[MAX_N];
  CeedInt iterations = -1;
  make_spread_system(&s, 30, 100, 41);
  CHECK_OK(open_bench(&bench, &s));

  for (int limit = 0; limit <= 3; limit++) {
    CHECK(solve_from_zero(&bench, 1e-12, 0, limit, x, 30) == RITZ_DIVERGED_MAX_IT, "limit %d", limit);
    CHECK_OK(RitzSolverGetIterations(bench.solver, &iterations));
    CHECK(iterations == limit, "%d iterations, limit %d", (int)iterations, limit);
    CHECK((norm(30, x) == 0) == (limit == 0), "limit %d: |x| = %g", limit, norm(30, x));
  }
  close_bench(&bench);
}

TEST(indefinite_operator_is_noticed) {
  System s;
  Bench bench;
  double x[MAX_N];
  const double eigenvalues[] = {-1, 2, 3, 4}, zeros[] = {0, 0, 0, 0};

  make_system(&s, 4, eigenvalues, 43);
  CHECK_OK(open_bench(&bench, &s));
  CHECK(solve_from_zero(&bench, 1e-12, 0, 100, x, 4) == RITZ_DIVERGED_INDEFINITE, "one negative eigenvalue");
  make_system(&s, 4, zeros, 43); // b, set before, is not in the range
  CHECK(solve_from_zero(&bench, 1e-12, 0, 100, x, 4) == RITZ_DIVERGED_INDEFINITE, "zero operator");
  CHECK(norm(4, x) == 0, "x changed along a direction without a minimum");
  close_bench(&bench);
}

// Multiplies by two and gives NaN in one entry from the given call on.
typedef struct {
  int calls, bad_call, code;
} Spoiler;

static int spoiled_apply(void *ctx, CeedVector x, CeedVector y) {
  Spoiler *spoiler = ctx;
  CeedScalar *array = NULL;
  int ierr = CeedVectorCopy(x, y);

  if (!ierr) ierr = CeedVectorGetArray(y, CEED_MEM_HOST, &array);
  if (ierr) return ierr;
  CeedSize n = 0;
  CeedVectorGetLength(y, &n);
  for (CeedSize i = 0; i < n; i++) array[i] *= (CeedScalar)(1 + i);
  if (spoiler->calls++ >= spoiler->bad_call) {
    if (spoiler->code == 0) array[1] = NAN;
    ierr = spoiler->code;
  }
  int restore = CeedVectorRestoreArray(y, &array);
  return ierr ? ierr : restore;
}

TEST(nan_is_noticed_and_never_reaches_x) {
  const double ones[] = {1, 1, 1, 1, 1};
  System s;
  Bench bench;
  double x[MAX_N];
  make_spread_system(&s, 5, 2, 1);
  CHECK_OK(open_bench(&bench, &s));
  CeedVectorDestroy(&bench.b);
  bench.b = make_vector(bench.ceed, 5, ones);

  for (int bad = 0; bad < 4; bad++) {
    Spoiler spoiler = {.bad_call = bad};
    CHECK_OK(RitzSolverSetApply(bench.solver, spoiled_apply, &spoiler));
    CHECK(solve_from_zero(&bench, 1e-12, 0, 100, x, 5) == RITZ_DIVERGED_NAN, "NaN in call %d", bad);
    CHECK(isfinite(norm(5, x)), "NaN in call %d: x is spoiled", bad);
    // The first call makes the residual, every other one is an iteration, of which the last did not count.
    CHECK(bench.calls == (bad ? bad : 1), "NaN in call %d: %d monitor calls", bad, bench.calls);
  }
  close_bench(&bench);
}

TEST(infinite_right_hand_side_is_noticed) {
  System s;
  Bench bench;
  double x[MAX_N];
  make_spread_system(&s, 5, 2, 1);
  s.b[3] = INFINITY;
  CHECK_OK(open_bench(&bench, &s));

  CHECK(solve_from_zero(&bench, 1e-8, 0, 100, x, 5) == RITZ_DIVERGED_NAN, "wrong reason");
  CHECK(norm(5, x) == 0, "x changed");
  close_bench(&bench);
}

TEST(monitor_can_stop_the_solve) {
  System s;
  Bench bench;
  double x[MAX_N];
  CeedInt iterations = 0;
  make_spread_system(&s, 30, 100, 47);
  CHECK_OK(open_bench(&bench, &s));
  bench.stop_at = 3;

  CHECK(solve_from_zero(&bench, 1e-12, 0, 100, x, 30) == RITZ_DIVERGED_MONITOR, "wrong reason");
  CHECK_OK(RitzSolverGetIterations(bench.solver, &iterations));
  CHECK(iterations == 3 && bench.calls == 4, "%d iterations, %d calls", (int)iterations, bench.calls);
  CHECK_OK(RitzSolverSetMonitor(bench.solver, NULL, NULL));
  CHECK(solve_from_zero(&bench, 1e-4, 0, 200, x, 30) == RITZ_CONVERGED_RTOL, "without monitor");
  close_bench(&bench);
}

TEST(monitor_does_not_undo_convergence) {
  System s;
  Bench bench;
  double x[MAX_N];
  make_spread_system(&s, 5, 2, 1);
  CHECK_OK(open_bench(&bench, &s));
  CHECK_OK(CeedVectorSetValue(bench.b, 0));
  bench.stop_at = 0;

  CHECK(solve_from_zero(&bench, 1e-8, 0, 100, x, 5) == RITZ_CONVERGED_ATOL, "wrong reason");
  close_bench(&bench);
}

TEST(bad_diagonal_is_noticed) {
  const double bad_values[] = {0, -1, NAN, INFINITY};
  System s;
  Bench bench;
  double x[MAX_N], d[MAX_N];
  make_spread_system(&s, 6, 5, 53);
  CHECK_OK(open_bench(&bench, &s));

  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < 6; i++) d[i] = i == 4 ? bad_values[k] : 1;
    CeedVector diagonal = make_vector(bench.ceed, 6, d);
    CHECK_OK(RitzSolverSetJacobi(bench.solver, diagonal));
    CHECK(solve_from_zero(&bench, 1e-8, 0, 100, x, 6) == RITZ_DIVERGED_PRECONDITIONER, "entry %g",
          bad_values[k]);
    CHECK(norm(6, x) == 0, "entry %g: x changed", bad_values[k]);
    CeedVectorDestroy(&diagonal);
  }
  close_bench(&bench);
}

TEST(every_reason_has_a_name_of_its_own) {
  for (int a = RITZ_DIVERGED_GROWTH; a <= RITZ_CONVERGED_ROUNDING; a++) {
    const char *name = RitzSolverReasonName((RitzSolverReason)a);
    CHECK(name && *name, "reason %d", a);
    for (int b = a + 1; b <= RITZ_CONVERGED_ROUNDING; b++) {
      CHECK(strcmp(name, RitzSolverReasonName((RitzSolverReason)b)) != 0, "reasons %d and %d", a, b);
    }
  }
  CHECK(RitzSolverReasonName((RitzSolverReason)99) != NULL, "unknown reason");
}

// ---- Misuse ----

TEST(misuse_is_refused_and_the_solver_stays_usable) {
  const int64_t negative = -1, beyond[] = {0, 5};
  System s;
  Bench bench;
  double x[MAX_N];
  CeedVector shorter = NULL, no_data = NULL;
  RitzSolver bare = NULL;
  make_spread_system(&s, 5, 2, 59);
  CHECK_OK(open_bench(&bench, &s));
  shorter = make_vector(bench.ceed, 4, NULL);
  CHECK_OK(CeedVectorCreate(bench.ceed, 5, &no_data));
  Ceed ceed = bench.ceed;
  RitzSolver solver = bench.solver;

  CHECK_OK(RitzSolverCreateCG(ceed, &bare));
  CHECK_ERROR(ceed, RitzSolverSolve(bare, bench.b, bench.x), CEED_ERROR_INCOMPLETE, "no operator");
  CHECK_OK(RitzSolverDestroy(&bare));
  CHECK(bare == NULL, "destroyed handle");
  CHECK_OK(RitzSolverDestroy(&bare));
  CHECK_OK(RitzSolverDestroy(NULL));

  CHECK_ERROR(ceed, RitzSolverSolve(solver, NULL, bench.x), CEED_ERROR_INCOMPATIBLE, "'b' is NULL");
  CHECK_ERROR(ceed, RitzSolverSolve(solver, bench.b, NULL), CEED_ERROR_INCOMPATIBLE, "'x' is NULL");
  CHECK_ERROR(ceed, RitzSolverSolve(solver, bench.b, bench.b), CEED_ERROR_INCOMPATIBLE, "same vector");
  CHECK_ERROR(ceed, RitzSolverSolve(solver, shorter, bench.x), CEED_ERROR_DIMENSION,
              "b has 4 entries, x has 5");
  CHECK(RitzSolverSolve(solver, no_data, bench.x) != 0, "b without values");
  CHECK(RitzSolverSolve(solver, bench.b, no_data) != 0, "x without values");

  CHECK_ERROR(ceed, RitzSolverSetTolerances(solver, -1, 0, 1), CEED_ERROR_INCOMPATIBLE, "rtol -1");
  CHECK_ERROR(ceed, RitzSolverSetTolerances(solver, 0, -1, 1), CEED_ERROR_INCOMPATIBLE, "atol -1");
  CHECK_ERROR(ceed, RitzSolverSetTolerances(solver, 0, 0, -1), CEED_ERROR_INCOMPATIBLE, "max_it -1");
  CHECK_ERROR(ceed, RitzSolverSetTolerances(solver, NAN, 0, 1), CEED_ERROR_INCOMPATIBLE, "rtol nan");
  CHECK_ERROR(ceed, RitzSolverSetApply(solver, NULL, NULL), CEED_ERROR_INCOMPATIBLE, "'apply' is NULL");
  CHECK_ERROR(ceed, RitzSolverSetOperator(solver, NULL), CEED_ERROR_INCOMPATIBLE, "'op' is NULL");
  CHECK_ERROR(ceed, RitzSolverSetConstraints(solver, -1, &negative), CEED_ERROR_DIMENSION,
              "number of entries is -1");
  CHECK_ERROR(ceed, RitzSolverSetConstraints(solver, 1, &negative), CEED_ERROR_DIMENSION, "entries[0] is -1");
  CHECK_ERROR(ceed, RitzSolverSetConstraints(solver, 1, NULL), CEED_ERROR_INCOMPATIBLE, "'entries' is NULL");
  CHECK_ERROR(ceed, RitzSolverSetNullspace(solver, 1 << 30, &bench.x), CEED_ERROR_DIMENSION, "0 to 64");
  CHECK_ERROR(ceed, RitzSolverGetReason(solver, NULL), CEED_ERROR_INCOMPATIBLE, "'reason' is NULL");
  CHECK_ERROR(ceed, RitzSolverGetIterations(solver, NULL), CEED_ERROR_INCOMPATIBLE, "'iterations' is NULL");

  CHECK_OK(RitzSolverSetConstraints(solver, 2, beyond));
  CHECK_ERROR(ceed, RitzSolverSolve(solver, bench.b, bench.x), CEED_ERROR_DIMENSION,
              "entry 5 is constrained, b and x have 5");
  CHECK_OK(RitzSolverSetConstraints(solver, 0, NULL));
  CHECK_OK(RitzSolverSetJacobi(solver, shorter));
  CHECK_ERROR(ceed, RitzSolverSolve(solver, bench.b, bench.x), CEED_ERROR_DIMENSION,
              "diagonal has 4 entries");
  CHECK_OK(RitzSolverSetJacobi(solver, NULL));

  CHECK_ERROR(NULL, RitzSolverSolve(NULL, bench.b, bench.x), CEED_ERROR_INCOMPATIBLE, "solver is NULL");
  CHECK_ERROR(NULL, RitzSolverSetApply(NULL, apply_system, NULL), CEED_ERROR_INCOMPATIBLE, "solver is NULL");
  CHECK_ERROR(ceed, RitzSolverCreateCG(ceed, NULL), CEED_ERROR_INCOMPATIBLE, "'solver' is NULL");

  CHECK(solve_from_zero(&bench, 1e-5, 0, 100, x, 5) == RITZ_CONVERGED_RTOL, "still usable");
  CeedVectorDestroy(&shorter);
  CeedVectorDestroy(&no_data);
  close_bench(&bench);
}

static int failing_monitor(void *ctx, CeedInt iteration, double residual, bool *stop) {
  (void)residual, (void)stop;
  return iteration == 1 ? *(int *)ctx : 0;
}

TEST(errors_of_callbacks_are_passed_on) {
  const double ones[] = {1, 1, 1, 1, 1};
  System s;
  Bench bench;
  double x[MAX_N];
  RitzSolverReason reason = RITZ_CONVERGED_RTOL;
  int code = CEED_ERROR_MINOR;
  make_spread_system(&s, 5, 2, 1);
  CHECK_OK(open_bench(&bench, &s));
  CeedVectorDestroy(&bench.b);
  bench.b = make_vector(bench.ceed, 5, ones);

  for (int bad = 0; bad < 3; bad++) {
    Spoiler spoiler = {.bad_call = bad, .code = CEED_ERROR_ACCESS};
    CHECK_OK(RitzSolverSetApply(bench.solver, spoiled_apply, &spoiler));
    CHECK_OK(CeedVectorSetValue(bench.x, 0));
    bench.calls = 0;
    CHECK(RitzSolverSolve(bench.solver, bench.b, bench.x) == CEED_ERROR_ACCESS, "error in call %d", bad);
    CHECK_OK(RitzSolverGetReason(bench.solver, &reason));
    CHECK(reason == RITZ_ITERATING, "reason %d after an error", (int)reason);
  }
  CHECK_OK(RitzSolverSetApply(bench.solver, apply_system, &s));
  CHECK_OK(RitzSolverSetMonitor(bench.solver, failing_monitor, &code));
  CHECK(RitzSolverSolve(bench.solver, bench.b, bench.x) == CEED_ERROR_MINOR, "error of the monitor");
  CHECK_OK(RitzSolverSetMonitor(bench.solver, record, &bench));
  CHECK(solve_from_zero(&bench, 1e-5, 0, 100, x, 5) == RITZ_CONVERGED_RTOL, "still usable");
  close_bench(&bench);
}

// Copies, and in one call forgets to give an array back.
typedef struct {
  int calls, bad_call;
  bool lock_output;
  CeedVector locked; // a reference
} Locker;

static int locking_apply(void *ctx, CeedVector x, CeedVector y) {
  Locker *locker = ctx;
  CeedScalar *array = NULL;
  int ierr = CeedVectorCopy(x, y);

  if (ierr || locker->calls++ != locker->bad_call) return ierr;
  ierr = CeedVectorReferenceCopy(locker->lock_output ? y : x, &locker->locked);
  return ierr ? ierr : CeedVectorGetArray(locker->locked, CEED_MEM_HOST, &array);
}

TEST(vector_that_a_callback_keeps_locked_is_an_error) {
  System s;
  Bench bench;
  make_spread_system(&s, 5, 2, 1);
  CHECK_OK(open_bench(&bench, &s));

  for (int k = 0; k < 4; k++) {
    Locker locker = {.bad_call = k / 2, .lock_output = k % 2};
    CeedScalar *array = NULL;
    CHECK_OK(RitzSolverSetApply(bench.solver, locking_apply, &locker));
    CHECK_OK(CeedVectorSetValue(bench.x, 0));
    bench.calls = 0;

    CHECK(RitzSolverSolve(bench.solver, bench.b, bench.x) != 0, "call %d, output %d", k / 2, k % 2);

    CHECK(locker.locked != NULL, "nothing was locked");
    CHECK_OK(CeedVectorRestoreArray(locker.locked, &array));
    CHECK_OK(CeedVectorDestroy(&locker.locked));
  }
  close_bench(&bench);
}

TEST(every_failing_allocation_is_reported_and_leaves_nothing_behind) {
  System s;
  Bench bench;
  double x[MAX_N];
  int failures = 0;
  make_spread_system(&s, 8, 4, 61);
  CHECK_OK(open_bench(&bench, &s));
  CeedVector diagonal = make_vector(bench.ceed, 8, (const double[]){1, 2, 1, 2, 1, 2, 1, 2});
  const int64_t entry = 3;
  CHECK_OK(RitzSolverSetJacobi(bench.solver, diagonal));
  CHECK_OK(RitzSolverSetConstraints(bench.solver, 1, &entry));
  CHECK(solve_from_zero(&bench, 1e-5, 0, 100, x, 8) == RITZ_CONVERGED_RTOL, "without failures");
  CHECK_OK(ritz_workspace_clear(&bench.solver->work));
  int64_t live = ritz_memory_live();

  for (int n = 1; n < 100; n++) {
    CHECK_OK(CeedVectorSetValue(bench.x, 0));
    bench.calls = 0;
    ritz_memory_fail_at(n);
    int ierr = RitzSolverSolve(bench.solver, bench.b, bench.x);
    ritz_memory_fail_at(0);
    CHECK_OK(ritz_workspace_clear(&bench.solver->work)); // what a solver keeps for the next solve
    CHECK(ritz_memory_live() == live, "allocation %d: %d more are left", n, (int)(ritz_memory_live() - live));
    if (!ierr) break;
    failures++;
  }
  CHECK(failures >= 4, "%d allocations failed: r, p, q and the inverse diagonal are needed", failures);
  CeedVectorDestroy(&diagonal);
  close_bench(&bench);
}

// ---- With an operator ----

// Mass matrix of n linear elements on a line of length n: tridiagonal, rows (1/6, 4/6, 1/6) but for the ends.
static int create_mass_operator(Ceed ceed, CeedInt n, CeedOperator *op) {
  CeedElemRestriction rstr = NULL, rstr_q = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedVector qdata = NULL;
  CeedInt offsets[2 * MAX_N];
  int ierr;

  for (CeedInt e = 0; e < n; e++) offsets[2 * e] = e, offsets[2 * e + 1] = e + 1;
  ierr = CeedElemRestrictionCreate(ceed, n, 2, 1, 1, n + 1, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &rstr);
  if (!ierr) ierr = CeedElemRestrictionCreateStrided(ceed, n, 2, 1, 2 * n, CEED_STRIDES_BACKEND, &rstr_q);
  if (!ierr) ierr = CeedElemRestrictionCreateVector(rstr_q, &qdata, NULL);
  if (!ierr) ierr = CeedVectorSetValue(qdata, 0.5); // weight 1 times Jacobian 1/2
  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 2, CEED_GAUSS, &basis);
  if (!ierr) ierr = CeedQFunctionCreateInteriorByName(ceed, "MassApply", &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "u", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "qdata", rstr_q, CEED_BASIS_NONE, qdata);
  if (!ierr) ierr = CeedOperatorSetField(*op, "v", rstr, basis, CEED_VECTOR_ACTIVE);
  CeedVectorDestroy(&qdata);
  CeedQFunctionDestroy(&qf);
  CeedBasisDestroy(&basis);
  CeedElemRestrictionDestroy(&rstr);
  CeedElemRestrictionDestroy(&rstr_q);
  return ierr;
}

TEST_EACH_BACKEND(mass_operator_is_inverted) {
  const CeedInt n = 20;
  CeedOperator op = NULL;
  RitzSolver solver = NULL;
  CeedVector exact = NULL, b = NULL, x = NULL, wrong = NULL;
  RitzSolverReason reason = RITZ_ITERATING;
  double values[MAX_N], found[MAX_N];
  uint64_t seed = 3;
  for (int i = 0; i <= n; i++) values[i] = tap_uniform(&seed);
  exact = make_vector(ceed, n + 1, values);
  b = make_vector(ceed, n + 1, NULL);
  x = make_vector(ceed, n + 1, NULL);
  wrong = make_vector(ceed, n, NULL);
  CHECK_OK(create_mass_operator(ceed, n, &op));
  CHECK_OK(CeedOperatorApply(op, exact, b, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(RitzSolverCreateCG(ceed, &solver));
  CHECK_OK(RitzSolverSetOperator(solver, op));
  CHECK_OK(RitzSolverSetTolerances(solver, 10 * eps, 0, 200));

  CHECK_OK(RitzSolverSolve(solver, b, x));
  CHECK_OK(RitzSolverGetReason(solver, &reason));
  CHECK(reason == RITZ_CONVERGED_RTOL, "reason %d", (int)reason);
  get_values(x, n + 1, found);
  // The condition number is about 4: 10 eps of |b| in the residual.
  for (int i = 0; i <= n; i++) CHECK_NEAR(found[i], (CeedScalar)values[i], 1000 * eps, "entry %d", i);
  CHECK_ERROR(ceed, RitzSolverSolve(solver, wrong, wrong), CEED_ERROR_INCOMPATIBLE, "same vector");
  CHECK_OK(CeedVectorDestroy(&b));
  b = make_vector(ceed, n, NULL);
  CHECK_ERROR(ceed, RitzSolverSolve(solver, b, wrong), CEED_ERROR_DIMENSION,
              "maps 21 to 21 entries, b and x have 20");

  RitzSolverDestroy(&solver);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&exact);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&wrong);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(solution_is_exact_after_as_many_iterations_as_unknowns, k_distinct_eigenvalues_need_k_iterations,
            energy_error_decreases_and_obeys_the_chebyshev_bound,
            monitor_sees_the_true_residual_once_per_iteration, long_sums_are_accurate,
            scale_of_the_right_hand_side_does_not_matter, jacobi_iterates_are_those_of_the_scaled_system,
            jacobi_is_that_of_the_diagonal_when_a_solve_begins,
            jacobi_solves_a_diagonal_system_in_one_iteration_and_can_be_removed,
            constrained_entries_keep_their_values_and_the_others_solve_their_equations,
            nothing_is_done_when_all_entries_are_constrained,
            values_of_the_operator_on_constrained_entries_are_ignored,
            relative_tolerance_is_reached_at_the_first_small_residual,
            absolute_tolerance_is_reached_at_the_first_small_residual,
            zero_right_hand_side_is_solved_by_zero_iterations,
            residual_that_vanishes_counts_as_converged_even_without_tolerances,
            iteration_limit_ends_the_solve, indefinite_operator_is_noticed,
            nan_is_noticed_and_never_reaches_x, infinite_right_hand_side_is_noticed,
            monitor_can_stop_the_solve, monitor_does_not_undo_convergence, bad_diagonal_is_noticed,
            every_reason_has_a_name_of_its_own, misuse_is_refused_and_the_solver_stays_usable,
            errors_of_callbacks_are_passed_on, vector_that_a_callback_keeps_locked_is_an_error,
            every_failing_allocation_is_reported_and_leaves_nothing_behind, mass_operator_is_inverted));
}
