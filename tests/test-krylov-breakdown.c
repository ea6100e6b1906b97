// SPDX-License-Identifier: BSD-2-Clause
// How solves end that cannot go well: every method with operators and preconditioners that are not what it
// needs ends with a reason, x stays finite; monitors, callbacks that fail, misuse, lack of memory.
#include <stdlib.h>

#include "base/memory.h"
#include "tests/dense-system.h"

enum { N = 10 };

static const RitzSolverType all_methods[] = {RITZ_SOLVER_CG,        RITZ_SOLVER_FLEXIBLE_CG,
                                             RITZ_SOLVER_MINRES,    RITZ_SOLVER_GMRES,
                                             RITZ_SOLVER_FGMRES,    RITZ_SOLVER_CHEBYSHEV,
                                             RITZ_SOLVER_RICHARDSON};
enum { NUM_METHODS = sizeof(all_methods) / sizeof(all_methods[0]) };

// ---- A solve ----

typedef struct {
  Dense a, p;
  bool has_preconditioner;
  double b[DENSE_MAX], guess[DENSE_MAX];
  CeedInt restart;
  double damping;
  RitzChebyshevOptions chebyshev;
} Problem;

typedef struct {
  RitzSolverReason reason;
  CeedInt iterations;
  double x[DENSE_MAX], last;
} Outcome;

static Problem definite_problem(void) {
  Problem problem = {.restart = 30, .damping = 0.5, .chebyshev.kind = RITZ_CHEBYSHEV_FIRST};
  uint64_t seed = 3;

  dense_spread(&problem.a, N, 1, 3, 2);
  dense_spread(&problem.p, N, 1, 2, 4);
  for (int i = 0; i < N; i++) problem.b[i] = tap_uniform(&seed);
  return problem;
}

static int run(Ceed ceed, RitzSolverType type, Problem *problem, Outcome *outcome) {
  CeedVector b = dense_vector(ceed, N, problem->b), x = dense_vector(ceed, N, problem->guess);
  RitzPreconditioner pc = NULL;
  RitzSolver solver = NULL;
  int ierr = RitzSolverCreate(ceed, type, &solver);

  if (!ierr) ierr = RitzSolverSetApply(solver, dense_apply, &problem->a);
  if (!ierr && problem->has_preconditioner) {
    ierr = RitzPreconditionerCreate(ceed, N, CEED_SCALAR_TYPE, dense_apply, &problem->p, NULL, true, &pc);
  }
  if (!ierr) ierr = RitzSolverSetPreconditioner(solver, pc);
  if (!ierr) ierr = RitzSolverSetRestart(solver, problem->restart);
  if (!ierr) ierr = RitzSolverSetDamping(solver, problem->damping);
  if (!ierr) ierr = RitzSolverSetChebyshev(solver, &problem->chebyshev);
  if (!ierr) ierr = RitzSolverSetTolerances(solver, 1e-5, 0, 500);
  if (!ierr) ierr = RitzSolverSolve(solver, b, x);
  if (!ierr) ierr = RitzSolverGetReason(solver, &outcome->reason);
  if (!ierr) ierr = RitzSolverGetIterations(solver, &outcome->iterations);
  if (!ierr) ierr = RitzSolverGetResidual(solver, NULL, &outcome->last);
  if (!ierr) ierr = dense_get(x, N, outcome->x);
  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&pc);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  return ierr;
}

static bool is_finite(const double *x) {
  for (int i = 0; i < N; i++) {
    if (!isfinite(x[i])) return false;
  }
  return true;
}

// Runs all methods; reasons in their order. RITZ_ITERATING: the method is left out.
static bool ends_as(Ceed ceed, const char *what, Problem *problem,
                    const RitzSolverReason wanted[NUM_METHODS]) {
  for (int t = 0; t < NUM_METHODS; t++) {
    Outcome outcome;
    if (wanted[t] == RITZ_ITERATING) continue;
    const int ierr = run(ceed, all_methods[t], problem, &outcome);
    if (!tap_check(!ierr && outcome.reason == wanted[t] && is_finite(outcome.x), __FILE__, __LINE__, what,
                   "%s: code %d, %s, x %s", RitzSolverTypeName(all_methods[t]), ierr,
                   RitzSolverReasonName(outcome.reason), is_finite(outcome.x) ? "finite" : "not finite")) {
      return false;
    }
  }
  return true;
}

enum {
  LEFT_OUT = RITZ_ITERATING,
  GOOD = RITZ_CONVERGED_RTOL,
  BAD_A = RITZ_DIVERGED_INDEFINITE,
  BAD_P = RITZ_DIVERGED_PRECONDITIONER,
  NOT_FINITE = RITZ_DIVERGED_NAN,
  STUCK = RITZ_DIVERGED_BREAKDOWN,
  GROWN = RITZ_DIVERGED_GROWTH,
  TIRED = RITZ_DIVERGED_MAX_IT
};

TEST(a_good_system_is_solved_by_all) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem problem = definite_problem();

  for (int k = 0; k < 2; k++) {
    problem.has_preconditioner = k == 1;
    problem.damping = 0.3;
    ends_as(ceed, "good system", &problem, (RitzSolverReason[]){GOOD, GOOD, GOOD, GOOD, GOOD, GOOD, GOOD});
  }
  CeedDestroy(&ceed);
}

TEST(indefinite_operators_are_noticed_where_they_do_harm) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem problem = definite_problem();
  double eigenvalues[N];

  for (int i = 0; i < N; i++) eigenvalues[i] = i % 2 ? 1 + i : -1 - i;
  dense_symmetric(&problem.a, N, eigenvalues, 5);
  ends_as(ceed, "indefinite", &problem, (RitzSolverReason[]){BAD_A, BAD_A, GOOD, GOOD, GOOD, BAD_A, GROWN});
  CeedDestroy(&ceed);
}

TEST(a_negative_preconditioner_is_noticed_where_it_does_harm) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem problem = definite_problem();

  problem.has_preconditioner = true;
  dense_spread(&problem.p, N, -2, -1, 6);
  ends_as(ceed, "negative preconditioner", &problem,
          (RitzSolverReason[]){BAD_P, BAD_P, BAD_P, GOOD, GOOD, BAD_P, GROWN});
  // One that is zero leaves no direction.
  memset(problem.p.a, 0, sizeof(problem.p.a));
  ends_as(ceed, "zero preconditioner", &problem,
          (RitzSolverReason[]){BAD_P, BAD_P, BAD_P, STUCK, STUCK, LEFT_OUT, TIRED});
  CeedDestroy(&ceed);
}

TEST(values_that_are_not_numbers_never_reach_x) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const double values[] = {NAN, INFINITY, -INFINITY};

  for (int k = 0; k < 3; k++) {
    Problem problem = definite_problem();
    Problem other = problem;
    // x is zero in the first residual, so that 0 times infinity appears at once; a preconditioner's later.
    problem.a.a[3][4] = values[k];
    ends_as(ceed, "operator", &problem,
            (RitzSolverReason[]){NOT_FINITE, NOT_FINITE, NOT_FINITE, NOT_FINITE, NOT_FINITE, NOT_FINITE,
                                 NOT_FINITE});
    other.has_preconditioner = true;
    other.p.a[3][4] = values[k];
    for (int t = 0; t < NUM_METHODS; t++) {
      Outcome outcome;
      CHECK_OK(run(ceed, all_methods[t], &other, &outcome));
      CHECK(outcome.reason < 0 && is_finite(outcome.x), "%s with %g in the preconditioner: %s",
            RitzSolverTypeName(all_methods[t]), values[k], RitzSolverReasonName(outcome.reason));
    }
  }
  CeedDestroy(&ceed);
}

// Without a nullspace set: b has a part that no A x can make.
TEST(inconsistent_singular_systems_end_without_progress) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem problem = definite_problem();
  Outcome outcome;

  // The Laplacian of a path, in whole numbers: constants are its nullspace without rounding.
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) problem.a.a[i][j] = i == j ? 1 + (i > 0 && i < N - 1) : -(abs(i - j) == 1);
  }
  ends_as(ceed, "inconsistent", &problem,
          (RitzSolverReason[]){LEFT_OUT, LEFT_OUT, STUCK, STUCK, STUCK, LEFT_OUT, LEFT_OUT});
  // Least squares all the same: A r = 0.
  for (int t = 2; t <= 3; t++) {
    double y[DENSE_MAX], z[DENSE_MAX];
    CHECK_OK(run(ceed, all_methods[t], &problem, &outcome));
    dense_multiply(&problem.a, outcome.x, y);
    for (int i = 0; i < N; i++) y[i] = problem.b[i] - y[i];
    dense_multiply(&problem.a, y, z);
    // An exhausted space is seen when its last vector is rounding, so A r is that, times the condition.
    CHECK_NEAR(dense_norm(N, z), 0, sqrt(dense_eps) * dense_norm(N, problem.b), "%s",
               RitzSolverTypeName(all_methods[t]));
    CHECK_NEAR(outcome.last, dense_norm(N, y), 1e4 * dense_eps * dense_norm(N, problem.b), "%s: residual",
               RitzSolverTypeName(all_methods[t]));
  }
  // Of an operator that is zero nothing can be solved.
  memset(problem.a.a, 0, sizeof(problem.a.a));
  ends_as(ceed, "zero operator", &problem,
          (RitzSolverReason[]){BAD_A, BAD_A, STUCK, STUCK, STUCK, BAD_A, TIRED});
  CeedDestroy(&ceed);
}

TEST(an_eigenvector_is_found_in_one_step) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem problem = definite_problem();

  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) problem.a.a[i][j] = i == j ? i - 3.5 : 0;
    problem.b[i] = i == 6;
  }
  for (int t = 0; t <= 4; t++) {
    Outcome outcome;
    CHECK_OK(run(ceed, all_methods[t], &problem, &outcome));
    CHECK(outcome.reason > 0 && outcome.iterations == 1, "%s: %s after %d",
          RitzSolverTypeName(all_methods[t]), RitzSolverReasonName(outcome.reason), (int)outcome.iterations);
    CHECK_NEAR(outcome.x[6], 1 / 2.5, 10 * dense_eps, "%s", RitzSolverTypeName(all_methods[t]));
  }
  CeedDestroy(&ceed);
}

TEST(growth_of_the_residual_ends_stationary_methods) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem problem = definite_problem();
  Outcome outcome;

  problem.damping = 2; // eigenvalues up to 3: factors up to 5 a step
  CHECK_OK(run(ceed, RITZ_SOLVER_RICHARDSON, &problem, &outcome));
  CHECK(outcome.reason == RITZ_DIVERGED_GROWTH && outcome.iterations < 20 && is_finite(outcome.x),
        "%s after %d", RitzSolverReasonName(outcome.reason), (int)outcome.iterations);
  // A given bound below the spectrum stays; an estimate is made once more.
  problem.chebyshev.largest = 1.5;
  CHECK_OK(run(ceed, RITZ_SOLVER_CHEBYSHEV, &problem, &outcome));
  CHECK(outcome.reason == RITZ_DIVERGED_GROWTH && is_finite(outcome.x), "%s",
        RitzSolverReasonName(outcome.reason));
  problem.chebyshev.largest = 0;
  problem.chebyshev.num_steps = 1;
  problem.chebyshev.safety = 0.7;
  CHECK_OK(run(ceed, RITZ_SOLVER_CHEBYSHEV, &problem, &outcome));
  CHECK(outcome.reason > 0, "estimate of one step: %s", RitzSolverReasonName(outcome.reason));
  CeedDestroy(&ceed);
}

// ---- Monitors and callbacks ----

typedef struct {
  int calls, stop_at, fail_at;
} Watch;

static int watch(void *ctx, CeedInt iteration, double residual, bool *stop) {
  Watch *w = ctx;
  (void)residual;
  if (iteration != w->calls) return 77;
  if (w->calls == w->fail_at) return 78;
  *stop = w->calls++ == w->stop_at;
  return 0;
}

typedef struct {
  Dense *a;
  int calls, fail_at;
} Failing;

static int apply_until(void *ctx, CeedVector x, CeedVector y) {
  Failing *f = ctx;
  return f->calls++ == f->fail_at ? 79 : dense_apply(f->a, x, y);
}

TEST(monitors_stop_every_method_and_errors_of_callbacks_pass) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem problem = definite_problem();

  for (int t = 0; t < NUM_METHODS; t++) {
    CeedVector b = dense_vector(ceed, N, problem.b), x = dense_vector(ceed, N, NULL);
    Watch w = {.stop_at = 3, .fail_at = -1};
    Failing f = {.a = &problem.a, .fail_at = -1}, g = {.a = &problem.p, .fail_at = 2};
    RitzSolverReason reason = RITZ_ITERATING;
    RitzPreconditioner pc = NULL;
    RitzSolver solver = NULL;
    CeedInt iterations = 0;
    double first = 0, last = 0, y[DENSE_MAX], values[DENSE_MAX];
    CHECK_OK(RitzSolverCreate(ceed, all_methods[t], &solver));
    CHECK_OK(RitzSolverSetApply(solver, apply_until, &f));
    CHECK_OK(RitzSolverSetDamping(solver, 0.4));
    CHECK_OK(RitzSolverSetMonitor(solver, watch, &w));

    CHECK_OK(RitzSolverSolve(solver, b, x));
    CHECK_OK(RitzSolverGetReason(solver, &reason));
    CHECK_OK(RitzSolverGetIterations(solver, &iterations));
    CHECK_OK(RitzSolverGetResidual(solver, &first, &last));
    CHECK(reason == RITZ_DIVERGED_MONITOR && iterations == 3 && w.calls == 4, "%s: %s after %d",
          RitzSolverTypeName(all_methods[t]), RitzSolverReasonName(reason), (int)iterations);
    // x belongs to the last residual.
    CHECK_OK(dense_get(x, N, values));
    dense_multiply(&problem.a, values, y);
    CHECK_NEAR(dense_distance(N, y, problem.b), last, 1e3 * dense_eps * first, "%s: residual",
               RitzSolverTypeName(all_methods[t]));

    w = (Watch){.stop_at = -1, .fail_at = 2};
    CHECK(RitzSolverSolve(solver, b, x) == 78, "%s: error of the monitor",
          RitzSolverTypeName(all_methods[t]));
    CHECK_OK(RitzSolverGetReason(solver, &reason));
    CHECK(reason == RITZ_ITERATING, "reason after an error");
    w = (Watch){.stop_at = -1, .fail_at = -1};
    f = (Failing){.a = &problem.a, .fail_at = 3};
    CHECK(RitzSolverSolve(solver, b, x) == 79, "%s: error of the operator",
          RitzSolverTypeName(all_methods[t]));
    w = (Watch){.stop_at = -1, .fail_at = -1};
    f.fail_at = -1;
    CHECK_OK(RitzPreconditionerCreate(ceed, N, CEED_SCALAR_TYPE, apply_until, &g, NULL, true, &pc));
    CHECK_OK(RitzSolverSetPreconditioner(solver, pc));
    CHECK_OK(CeedVectorSetValue(x, 0));
    CHECK(RitzSolverSolve(solver, b, x) == 79, "%s: error of the preconditioner",
          RitzSolverTypeName(all_methods[t]));
    RitzSolverDestroy(&solver);
    RitzPreconditionerDestroy(&pc);
    CeedVectorDestroy(&b);
    CeedVectorDestroy(&x);
  }
  CeedDestroy(&ceed);
}

TEST(all_entries_constrained_or_none_at_all_is_nothing_to_do) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem problem = definite_problem();
  int64_t entries[N];
  for (int i = 0; i < N; i++) entries[i] = i;

  for (int t = 0; t < NUM_METHODS; t++) {
    CeedVector b = dense_vector(ceed, N, problem.b), x = dense_vector(ceed, N, problem.b);
    RitzSolverReason reason = RITZ_ITERATING;
    RitzSolver solver = NULL;
    double values[DENSE_MAX];
    CHECK_OK(RitzSolverCreate(ceed, all_methods[t], &solver));
    CHECK_OK(RitzSolverSetApply(solver, dense_apply, &problem.a));
    CHECK_OK(RitzSolverSetConstraints(solver, N, entries));
    CHECK_OK(RitzSolverSolve(solver, b, x));
    CHECK_OK(RitzSolverGetReason(solver, &reason));
    CHECK_OK(dense_get(x, N, values));
    CHECK(reason == RITZ_CONVERGED_ATOL && dense_distance(N, values, problem.b) <= 10 * dense_eps, "%s: %s",
          RitzSolverTypeName(all_methods[t]), RitzSolverReasonName(reason));
    RitzSolverDestroy(&solver);
    CeedVectorDestroy(&b);
    CeedVectorDestroy(&x);

    Dense empty = {.n = 0};
    b = dense_vector(ceed, 0, NULL);
    x = dense_vector(ceed, 0, NULL);
    CHECK_OK(RitzSolverCreate(ceed, all_methods[t], &solver));
    CHECK_OK(RitzSolverSetApply(solver, dense_apply, &empty));
    CHECK_OK(RitzSolverSolve(solver, b, x));
    CHECK_OK(RitzSolverGetReason(solver, &reason));
    CHECK(reason == RITZ_CONVERGED_ATOL, "%s without entries: %s", RitzSolverTypeName(all_methods[t]),
          RitzSolverReasonName(reason));
    RitzSolverDestroy(&solver);
    CeedVectorDestroy(&b);
    CeedVectorDestroy(&x);
  }
  CeedDestroy(&ceed);
}

// ---- Misuse ----

TEST(misuse_of_new_settings_is_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem problem = definite_problem();
  CeedVector b = dense_vector(ceed, N, problem.b), x = dense_vector(ceed, N, NULL),
             shorter = dense_vector(ceed, N - 1, problem.b), zero = dense_vector(ceed, N, NULL);
  CeedVector dependent[] = {b, b}, lengths[] = {b, shorter};
  RitzPreconditioner changing = NULL, small = NULL;
  RitzSolver solver = NULL;

  CHECK_ERROR(ceed, RitzSolverCreate(ceed, (RitzSolverType)99, &solver), CEED_ERROR_INCOMPATIBLE,
              "no type 99");
  CHECK_ERROR(ceed, RitzSolverCreate(ceed, RITZ_SOLVER_CG, NULL), CEED_ERROR_INCOMPATIBLE,
              "'solver' is NULL");
  CHECK(RitzSolverTypeName((RitzSolverType)99) == NULL && RitzSolverTypeName((RitzSolverType)-1) == NULL,
        "name of no type");
  CHECK_OK(RitzSolverCreate(ceed, RITZ_SOLVER_CG, &solver));
  CHECK_OK(RitzSolverSetApply(solver, dense_apply, &problem.a));
  CHECK_ERROR(ceed, RitzSolverSetRestart(solver, 0), CEED_ERROR_INCOMPATIBLE, "at least 1");
  CHECK_ERROR(ceed, RitzSolverSetDamping(solver, NAN), CEED_ERROR_INCOMPATIBLE, "RitzSolverSetDamping");
  CHECK_ERROR(ceed, RitzSolverSetDamping(solver, 0), CEED_ERROR_INCOMPATIBLE, "not zero");
  CHECK_ERROR(ceed, RitzSolverSetChebyshev(solver, NULL), CEED_ERROR_INCOMPATIBLE, "'options' is NULL");
  CHECK_ERROR(ceed, RitzSolverSetChebyshev(solver, &(RitzChebyshevOptions){.safety = INFINITY}),
              CEED_ERROR_INCOMPATIBLE, "safety inf");
  CHECK_ERROR(ceed, RitzSolverSetNullspace(solver, -1, &b), CEED_ERROR_DIMENSION, "is -1");
  CHECK_ERROR(ceed, RitzSolverSetNullspace(solver, 1, NULL), CEED_ERROR_INCOMPATIBLE, "'basis' is NULL");
  CHECK_ERROR(ceed, RitzSolverSetNullspace(solver, 2, dependent), CEED_ERROR_INCOMPATIBLE, "vector 1");
  CHECK_ERROR(ceed, RitzSolverSetNullspace(solver, 2, lengths), CEED_ERROR_DIMENSION, "basis[1] has 9");
  CHECK_ERROR(ceed, RitzSolverSetNullspace(solver, 1, &zero), CEED_ERROR_INCOMPATIBLE, "vector 0");

  CHECK_OK(RitzSolverSetNullspace(solver, 1, &shorter));
  CHECK_ERROR(ceed, RitzSolverSolve(solver, b, x), CEED_ERROR_DIMENSION, "nullspace have 9");
  CHECK_OK(RitzSolverSetNullspace(solver, 0, NULL));
  CHECK_OK(
      RitzPreconditionerCreate(ceed, N, CEED_SCALAR_TYPE, dense_apply, &problem.p, NULL, false, &changing));
  CHECK_OK(
      RitzPreconditionerCreate(ceed, N - 1, CEED_SCALAR_TYPE, dense_apply, &problem.p, NULL, true, &small));
  CHECK_OK(RitzSolverSetPreconditioner(solver, changing));
  CHECK_ERROR(ceed, RitzSolverSolve(solver, b, x), CEED_ERROR_INCOMPATIBLE, "RITZ_SOLVER_FLEXIBLE_CG");
  CHECK_OK(RitzSolverSetPreconditioner(solver, small));
  CHECK_ERROR(ceed, RitzSolverSolve(solver, b, x), CEED_ERROR_DIMENSION, "preconditioner has 9");
  // The later call decides.
  CHECK_OK(RitzSolverSetJacobi(solver, b));
  CHECK_OK(RitzSolverSetPreconditioner(solver, NULL));
  CHECK_OK(RitzSolverSolve(solver, b, x));

  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&changing);
  RitzPreconditionerDestroy(&small);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&shorter);
  CeedVectorDestroy(&zero);
  CeedDestroy(&ceed);
}

TEST(every_failing_allocation_of_every_method_leaves_nothing_behind) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem problem = definite_problem();
  CeedVector b = dense_vector(ceed, N, problem.b), x = dense_vector(ceed, N, NULL);
  RitzPreconditioner pc = NULL;
  CHECK_OK(RitzPreconditionerCreate(ceed, N, CEED_SCALAR_TYPE, dense_apply, &problem.p, NULL, true, &pc));

  for (int t = 0; t < NUM_METHODS; t++) {
    RitzSolver solver = NULL;
    int failures = 0;
    CHECK_OK(RitzSolverCreate(ceed, all_methods[t], &solver));
    CHECK_OK(RitzSolverSetApply(solver, dense_apply, &problem.a));
    CHECK_OK(RitzSolverSetPreconditioner(solver, pc));
    CHECK_OK(RitzSolverSetNullspace(solver, 1, &b));
    CHECK_OK(RitzSolverSetConstraints(solver, 1, (int64_t[]){2}));
    CHECK_OK(RitzSolverSetTolerances(solver, 1e-3, 0, 5));
    CHECK_OK(RitzSolverSolve(solver, b, x));
    const int64_t live = ritz_memory_live();
    for (int n = 1; n < 300; n++) {
      CHECK_OK(CeedVectorSetValue(x, 0));
      ritz_memory_fail_at(n);
      const int ierr = RitzSolverSolve(solver, b, x);
      ritz_memory_fail_at(0);
      CHECK(ritz_memory_live() == live, "%s, allocation %d: %d more are left",
            RitzSolverTypeName(all_methods[t]), n, (int)(ritz_memory_live() - live));
      if (!ierr) break;
      failures++;
    }
    CHECK(failures >= 3, "%s: %d allocations failed", RitzSolverTypeName(all_methods[t]), failures);
    RitzSolverDestroy(&solver);
  }
  RitzPreconditionerDestroy(&pc);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(a_good_system_is_solved_by_all, indefinite_operators_are_noticed_where_they_do_harm,
            a_negative_preconditioner_is_noticed_where_it_does_harm,
            values_that_are_not_numbers_never_reach_x, inconsistent_singular_systems_end_without_progress,
            an_eigenvector_is_found_in_one_step, growth_of_the_residual_ends_stationary_methods,
            monitors_stop_every_method_and_errors_of_callbacks_pass,
            all_entries_constrained_or_none_at_all_is_nothing_to_do, misuse_of_new_settings_is_refused,
            every_failing_allocation_of_every_method_leaves_nothing_behind));
}
