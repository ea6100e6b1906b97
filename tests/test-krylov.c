// SPDX-License-Identifier: BSD-2-Clause
// The Krylov methods and stationary iterations against dense factorizations and against each other, on small
// matrices with known eigenvalues: solutions, histories of residuals, nullspaces, constraints.
#include <ritz/jit.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "tests/dense-system.h"

enum { MAX_STEPS = 400, ALL = 7 };
static const RitzSolverType symmetric_methods[] = {RITZ_SOLVER_CG,        RITZ_SOLVER_FLEXIBLE_CG,
                                                   RITZ_SOLVER_MINRES,    RITZ_SOLVER_GMRES,
                                                   RITZ_SOLVER_FGMRES,    RITZ_SOLVER_CHEBYSHEV,
                                                   RITZ_SOLVER_RICHARDSON};

// ---- A solve with its history ----

typedef struct {
  RitzSolver solver;
  CeedVector b, x;
  int n, calls, stop_at; // stop_at < 0: never
  double residuals[MAX_STEPS];
  RitzSolverReason reason;
  CeedInt iterations;
  double found[DENSE_MAX];
} Run;

static int record(void *ctx, CeedInt iteration, double residual, bool *stop) {
  Run *run = ctx;

  if (iteration != run->calls) return CEED_ERROR_MAJOR; // once an iteration, in order
  if (run->calls < MAX_STEPS) run->residuals[run->calls] = residual;
  *stop = run->calls++ == run->stop_at;
  return 0;
}

static int open_run(Run *run, Ceed ceed, RitzSolverType type, Dense *a, const double *b) {
  *run = (Run){.n = a->n, .stop_at = -1};
  run->b = dense_vector(ceed, a->n, b);
  run->x = dense_vector(ceed, a->n, NULL);
  int ierr = RitzSolverCreate(ceed, type, &run->solver);
  if (!ierr) ierr = RitzSolverSetApply(run->solver, dense_apply, a);
  if (!ierr) ierr = RitzSolverSetMonitor(run->solver, record, run);
  return ierr;
}

static int solve(Run *run, double rtol, CeedInt max_it) {
  run->calls = 0;
  int ierr = RitzSolverSetTolerances(run->solver, rtol, 0, max_it);
  if (!ierr) ierr = RitzSolverSolve(run->solver, run->b, run->x);
  if (!ierr) ierr = RitzSolverGetReason(run->solver, &run->reason);
  if (!ierr) ierr = RitzSolverGetIterations(run->solver, &run->iterations);
  return ierr ? ierr : dense_get(run->x, run->n, run->found);
}

static void close_run(Run *run) {
  RitzSolverDestroy(&run->solver);
  CeedVectorDestroy(&run->b);
  CeedVectorDestroy(&run->x);
}

static void random_values(int n, uint64_t seed, double *values) {
  for (int i = 0; i < n; i++) values[i] = tap_uniform(&seed);
}

// |b - A x|
static double true_residual(const Dense *a, const double *b, const double *x) {
  double y[DENSE_MAX];

  dense_multiply(a, x, y);
  return dense_distance(a->n, b, y);
}

// ---- Solutions ----

TEST(every_method_finds_the_solution_of_a_dense_factorization) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const double rtol = 1000 * dense_eps;
  Dense spd, indefinite, skewed;
  double eigenvalues[DENSE_MAX], b[DENSE_MAX], x[DENSE_MAX];
  const int n = 23;
  dense_spread(&spd, n, 1, 3, 1);
  for (int i = 0; i < n; i++) eigenvalues[i] = i % 2 ? -1 - 0.1 * i : 1 + 0.1 * i;
  dense_symmetric(&indefinite, n, eigenvalues, 2);
  skewed = spd; // field of values right of zero: H + S with S skew
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) skewed.a[i][j] += 0.05, skewed.a[j][i] -= 0.05;
  }
  random_values(n, 3, b);

  for (int k = 0; k < ALL; k++) {
    const RitzSolverType type = symmetric_methods[k];
    Dense *const systems[] = {&spd,
                              type >= RITZ_SOLVER_MINRES && type <= RITZ_SOLVER_FGMRES ? &indefinite : NULL,
                              type == RITZ_SOLVER_GMRES || type >= RITZ_SOLVER_FGMRES ? &skewed : NULL};
    for (int i = 0; i < 3; i++) {
      if (!systems[i] || (i == 2 && type == RITZ_SOLVER_CHEBYSHEV)) continue;
      Run run;
      CHECK_OK(open_run(&run, ceed, type, systems[i], b));
      CHECK_OK(RitzSolverSetDamping(run.solver, 0.4));
      CHECK_OK(solve(&run, rtol, 1000));
      CHECK(run.reason == RITZ_CONVERGED_RTOL, "%s, system %d: %s", RitzSolverTypeName(type), i,
            RitzSolverReasonName(run.reason));
      CHECK(dense_solve(systems[i], b, x), "singular");
      // All eigenvalues are at least one in size, so the error is at most the residual.
      CHECK_NEAR(dense_distance(n, x, run.found), 0, 2 * rtol * dense_norm(n, b), "%s, system %d",
                 RitzSolverTypeName(type), i);
      close_run(&run);
    }
  }
  CeedDestroy(&ceed);
}

TEST(full_gmres_ends_after_as_many_steps_as_unknowns) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Dense a = {.n = 12};
  double b[DENSE_MAX] = {1};
  for (int i = 0; i < a.n; i++) a.a[(i + 1) % a.n][i] = 1; // a cyclic shift: no progress before the last step

  for (int flexible = 0; flexible < 2; flexible++) {
    Run run;
    CHECK_OK(open_run(&run, ceed, flexible ? RITZ_SOLVER_FGMRES : RITZ_SOLVER_GMRES, &a, b));
    CHECK_OK(solve(&run, 1e-5, 100));
    CHECK(run.reason > 0 && run.iterations == 12, "%s after %d steps", RitzSolverReasonName(run.reason),
          (int)run.iterations);
    for (int i = 0; i < 12; i++) CHECK_NEAR(run.residuals[i], 1, 100 * dense_eps, "step %d", i);
    CHECK_NEAR(run.found[11], 1, 100 * dense_eps, "last entry");
    // With a restart before the last step no cycle gets anywhere, which ends the solve.
    CHECK_OK(CeedVectorSetValue(run.x, 0));
    CHECK_OK(RitzSolverSetRestart(run.solver, 11));
    CHECK_OK(solve(&run, 1e-5, 1000));
    CHECK(run.reason == RITZ_DIVERGED_BREAKDOWN && run.iterations == 11, "restarted: %s after %d steps",
          RitzSolverReasonName(run.reason), (int)run.iterations);
    close_run(&run);
  }
  CeedDestroy(&ceed);
}

TEST(k_distinct_eigenvalues_need_k_steps) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const RitzSolverType types[] = {RITZ_SOLVER_FLEXIBLE_CG, RITZ_SOLVER_MINRES, RITZ_SOLVER_GMRES,
                                  RITZ_SOLVER_FGMRES};
  double b[DENSE_MAX];
  random_values(30, 5, b);

  for (int k = 1; k <= 5; k++) {
    for (int t = 0; t < 4; t++) {
      double eigenvalues[DENSE_MAX];
      Dense a;
      Run run;
      for (int i = 0; i < 30; i++) eigenvalues[i] = t == 0 || i % k < 3 ? 1 + i % k : -1.5 * (i % k);
      dense_symmetric(&a, 30, eigenvalues, 6);
      CHECK_OK(open_run(&run, ceed, types[t], &a, b));
      CHECK_OK(solve(&run, 1e4 * dense_eps, 100));
      CHECK(run.reason > 0 && run.iterations == k, "%s: %s after %d steps, needed %d",
            RitzSolverTypeName(types[t]), RitzSolverReasonName(run.reason), (int)run.iterations, k);
      close_run(&run);
    }
  }
  CeedDestroy(&ceed);
}

// ---- Histories ----

TEST(minres_and_gmres_minimize_the_same_norm_of_a_symmetric_system) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  double eigenvalues[DENSE_MAX], b[DENSE_MAX];
  Run minres, gmres, fgmres;
  const int n = 20;
  Dense a;
  for (int i = 0; i < n; i++) eigenvalues[i] = i < 5 ? -3 + 0.4 * i : 0.5 + 0.3 * i;
  dense_symmetric(&a, n, eigenvalues, 7);
  random_values(n, 8, b);
  CHECK_OK(open_run(&minres, ceed, RITZ_SOLVER_MINRES, &a, b));
  CHECK_OK(open_run(&gmres, ceed, RITZ_SOLVER_GMRES, &a, b));
  CHECK_OK(open_run(&fgmres, ceed, RITZ_SOLVER_FGMRES, &a, b));

  CHECK_OK(solve(&minres, 0, 12));
  CHECK_OK(solve(&gmres, 0, 12));
  CHECK_OK(solve(&fgmres, 0, 12));

  for (int i = 0; i <= 12; i++) {
    // Three terms lose orthogonality slowly: rounding grows with steps and condition, 12 each.
    const double tolerance = 1e4 * dense_eps * gmres.residuals[0];
    CHECK_NEAR(minres.residuals[i], gmres.residuals[i], tolerance, "step %d", i);
    CHECK_NEAR(fgmres.residuals[i], gmres.residuals[i], tolerance, "step %d", i);
    if (i > 0) CHECK(minres.residuals[i] <= minres.residuals[i - 1] * (1 + 10 * dense_eps), "step %d", i);
  }
  CHECK_NEAR(true_residual(&a, b, minres.found), minres.residuals[12], 1e4 * dense_eps * minres.residuals[0],
             "MINRES");
  CHECK_NEAR(true_residual(&a, b, gmres.found), gmres.residuals[12], 1e3 * dense_eps * gmres.residuals[0],
             "GMRES");
  close_run(&minres);
  close_run(&gmres);
  close_run(&fgmres);
  CeedDestroy(&ceed);
}

// With a preconditioner the norm that MINRES minimizes is that of P: it falls; the monitor sees the true one.
TEST(preconditioned_minres_sees_true_residuals_and_minimizes_those_of_the_preconditioner) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  double eigenvalues[DENSE_MAX], b[DENSE_MAX], before = INFINITY;
  RitzPreconditioner pc = NULL;
  const int n = 16;
  Dense a, p;
  for (int i = 0; i < n; i++) eigenvalues[i] = i % 3 ? 1 + i : -1 - i;
  dense_symmetric(&a, n, eigenvalues, 9);
  dense_spread(&p, n, 0.5, 2, 10);
  random_values(n, 11, b);
  CHECK_OK(RitzPreconditionerCreate(ceed, n, CEED_SCALAR_TYPE, dense_apply, &p, NULL, true, &pc));

  for (int steps = 0; steps <= 10; steps++) {
    double r[DENSE_MAX], pr[DENSE_MAX], square = 0;
    Run run;
    CHECK_OK(open_run(&run, ceed, RITZ_SOLVER_MINRES, &a, b));
    CHECK_OK(RitzSolverSetPreconditioner(run.solver, pc));
    CHECK_OK(solve(&run, 0, steps));
    dense_multiply(&a, run.found, r);
    for (int i = 0; i < n; i++) r[i] = b[i] - r[i];
    dense_multiply(&p, r, pr);
    for (int i = 0; i < n; i++) square += r[i] * pr[i];
    CHECK(sqrt(square) <= before * (1 + 100 * dense_eps), "%d steps: %g after %g", steps, sqrt(square),
          before);
    CHECK_NEAR(run.residuals[steps], dense_norm(n, r), 1e4 * dense_eps * run.residuals[0], "%d steps", steps);
    before = sqrt(square);
    close_run(&run);
  }
  RitzPreconditionerDestroy(&pc);
  CeedDestroy(&ceed);
}

TEST(restarted_gmres_never_grows_and_reports_the_true_residual) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  double b[DENSE_MAX], last = 0;
  RitzPreconditioner pc = NULL;
  const int n = 24;
  Dense a, p;
  dense_spread(&a, n, 1, 40, 12);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) a.a[i][j] += 0.2, a.a[j][i] -= 0.2;
  }
  dense_spread(&p, n, 1, 2, 13);
  random_values(n, 14, b);
  CHECK_OK(RitzPreconditionerCreate(ceed, n, CEED_SCALAR_TYPE, dense_apply, &p, NULL, false, &pc));

  for (int flexible = 0; flexible < 2; flexible++) {
    Run run;
    CHECK_OK(open_run(&run, ceed, flexible ? RITZ_SOLVER_FGMRES : RITZ_SOLVER_GMRES, &a, b));
    CHECK_OK(RitzSolverSetPreconditioner(run.solver, pc));
    CHECK_OK(RitzSolverSetRestart(run.solver, 5));
    CHECK_OK(solve(&run, 1e-4, 300));
    CHECK(run.reason == RITZ_CONVERGED_RTOL && run.iterations > 10, "%s after %d",
          RitzSolverReasonName(run.reason), (int)run.iterations);
    for (int i = 1; i < run.calls; i++) {
      CHECK(run.residuals[i] <= run.residuals[i - 1] * (1 + 1000 * dense_eps), "step %d", i);
    }
    CHECK_OK(RitzSolverGetResidual(run.solver, NULL, &last));
    CHECK_NEAR(last, true_residual(&a, b, run.found), 1000 * dense_eps * run.residuals[0], "last residual");
    close_run(&run);
  }
  RitzPreconditionerDestroy(&pc);
  CeedDestroy(&ceed);
}

// A preconditioner that is another matrix each time: flexible methods do not mind.
static int apply_varying(void *ctx, CeedVector r, CeedVector z) {
  Dense *p = ctx;
  for (int i = 0; i < p->n; i++) p->a[i][i] = 1 + 0.5 * fmod(p->a[i][i] * 7.3 + 0.1 * i, 1);
  return dense_apply(ctx, r, z);
}

TEST(flexible_methods_take_preconditioners_that_change) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const RitzSolverType types[] = {RITZ_SOLVER_FLEXIBLE_CG, RITZ_SOLVER_FGMRES};
  RitzPreconditioner pc = NULL;
  double b[DENSE_MAX], x[DENSE_MAX];
  const int n = 20;
  Dense a, p = {.n = 20};
  dense_spread(&a, n, 1, 20, 15);
  random_values(n, 16, b);
  for (int i = 0; i < n; i++) p.a[i][i] = 1;
  CHECK(dense_solve(&a, b, x), "singular");
  CHECK_OK(RitzPreconditionerCreate(ceed, n, CEED_SCALAR_TYPE, apply_varying, &p, NULL, false, &pc));

  for (int t = 0; t < 2; t++) {
    Run run;
    CHECK_OK(open_run(&run, ceed, types[t], &a, b));
    CHECK_OK(RitzSolverSetPreconditioner(run.solver, pc));
    CHECK_OK(solve(&run, 1e4 * dense_eps, 200));
    CHECK(run.reason == RITZ_CONVERGED_RTOL, "%s: %s", RitzSolverTypeName(types[t]),
          RitzSolverReasonName(run.reason));
    CHECK_NEAR(dense_distance(n, x, run.found), 0, 2e4 * dense_eps * dense_norm(n, b), "%s",
               RitzSolverTypeName(types[t]));
    close_run(&run);
  }
  RitzPreconditionerDestroy(&pc);
  CeedDestroy(&ceed);
}

// ---- Chebyshev polynomials ----

// T_k(x), any x
static double chebyshev_first(int k, double x) {
  return fabs(x) <= 1 ? cos(k * acos(x)) : (x < 0 && k % 2 ? -1 : 1) * cosh(k * acosh(fabs(x)));
}

TEST(chebyshev_iteration_multiplies_errors_by_its_polynomial) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const double low = 0.5, high = 6, pi = acos(-1.0);
  double b[DENSE_MAX];
  const int n = 15;
  Dense a = {.n = n};
  for (int i = 0; i < n; i++) a.a[i][i] = 0.2 + 0.4 * i; // 0.2: also below the bounds of the first kind
  random_values(n, 17, b);

  for (int kind = 0; kind < 2; kind++) {
    for (int k = 1; k <= 6; k++) {
      const RitzChebyshevOptions options = {.kind = kind ? RITZ_CHEBYSHEV_FIRST : RITZ_CHEBYSHEV_FOURTH,
                                            .largest = high,
                                            .lower_fraction = low / high};
      Run run;
      CHECK_OK(open_run(&run, ceed, RITZ_SOLVER_CHEBYSHEV, &a, b));
      CHECK_OK(RitzSolverSetChebyshev(run.solver, &options));
      CHECK_OK(solve(&run, 0, k));
      for (int i = 0; i < n; i++) {
        const double t = (high + low) / 2, h = (high - low) / 2, lambda = a.a[i][i];
        const double theta = acos(1 - 2 * lambda / high);
        // Fourth kind: W_k(cos theta) / W_k(1) = sin((k + 1/2) theta) / (sin(theta / 2) (2 k + 1))
        const double factor = kind         ? chebyshev_first(k, (t - lambda) / h) / chebyshev_first(k, t / h)
                              : theta < pi ? sin((k + 0.5) * theta) / (sin(theta / 2) * (2 * k + 1))
                                           : 0;
        CHECK_NEAR(run.found[i], (1 - factor) * b[i] / lambda, 1000 * dense_eps,
                   "kind %d, %d steps, entry %d", kind, k, i);
      }
      close_run(&run);
    }
  }
  CeedDestroy(&ceed);
}

TEST(chebyshev_iteration_with_estimates_converges_at_the_rate_of_its_bounds) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  double b[DENSE_MAX];
  Dense a;
  Run run;
  dense_spread(&a, 40, 1, 10, 18);
  random_values(40, 19, b);
  CHECK_OK(open_run(&run, ceed, RITZ_SOLVER_CHEBYSHEV, &a, b));
  CHECK_OK(RitzSolverSetChebyshev(run.solver, &(RitzChebyshevOptions){.kind = RITZ_CHEBYSHEV_FIRST}));

  CHECK_OK(solve(&run, 1e-5, 200));

  // On [1, 11] the error falls by (sqrt(11) - 1) / (sqrt(11) + 1) = 0.54 a step: 20 steps and what the two
  // ends of the estimate cost.
  CHECK(run.reason == RITZ_CONVERGED_RTOL && run.iterations <= 40, "%s after %d",
        RitzSolverReasonName(run.reason), (int)run.iterations);
  close_run(&run);
  CeedDestroy(&ceed);
}

// ---- Nullspaces and constraints ----

// A path's Laplacian plus another nullspace vector removed: A = L - ..., num null vectors, made dense.
static void make_singular(Dense *a, int n, int num_null, double null[3][DENSE_MAX]) {
  double eigenvalues[DENSE_MAX];
  uint64_t seed = 21;

  // Projection of a definite matrix off the span, twice: Q A Q with Q = 1 - N N^T.
  for (int i = 0; i < n; i++) eigenvalues[i] = 1 + 2.0 * i / n;
  dense_symmetric(a, n, eigenvalues, 20);
  for (int k = 0; k < num_null; k++) {
    for (int i = 0; i < n; i++) null[k][i] = k == 0 ? 1 : tap_uniform(&seed);
    for (int j = 0; j < k; j++) {
      double dot = 0;
      for (int i = 0; i < n; i++) dot += null[k][i] * null[j][i];
      for (int i = 0; i < n; i++) null[k][i] -= dot * null[j][i];
    }
    const double norm = dense_norm(n, null[k]);
    for (int i = 0; i < n; i++) null[k][i] /= norm;
    Dense q = *a;
    for (int side = 0; side < 2; side++) {
      for (int i = 0; i < n; i++) {
        double dot = 0;
        for (int j = 0; j < n; j++) dot += (side ? q.a[i][j] : q.a[j][i]) * null[k][j];
        for (int j = 0; j < n; j++) *(side ? &q.a[i][j] : &q.a[j][i]) -= dot * null[k][j];
      }
    }
    *a = q;
  }
}

TEST(nullspaces_are_kept_out_of_the_solution_by_every_method) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const int n = 21;

  for (int num_null = 1; num_null <= 3; num_null++) {
    double null[3][DENSE_MAX], b[DENSE_MAX], x[DENSE_MAX], guess[DENSE_MAX];
    CeedVector basis[3] = {NULL};
    RitzPreconditioner pc = NULL;
    Dense a, p, regular;
    make_singular(&a, n, num_null, null);
    random_values(n, 22, b); // not in the range
    random_values(n, 23, guess);
    dense_spread(&p, n, 1, 2, 24); // does not know of the nullspace
    for (int k = 0; k < num_null; k++) basis[k] = dense_vector(ceed, n, null[k]);
    // (A + N N^T) x = b - N N^T b + N N^T guess
    regular = a;
    double right[DENSE_MAX];
    memcpy(right, b, sizeof(right));
    for (int k = 0; k < num_null; k++) {
      double part = 0;
      for (int i = 0; i < n; i++) part += null[k][i] * (guess[i] - b[i]);
      for (int i = 0; i < n; i++) right[i] += part * null[k][i];
      for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) regular.a[i][j] += null[k][i] * null[k][j];
      }
    }
    CHECK(dense_solve(&regular, right, x), "singular");
    CHECK_OK(RitzPreconditionerCreate(ceed, n, CEED_SCALAR_TYPE, dense_apply, &p, NULL, true, &pc));

    for (int t = 0; t < 2 * ALL; t++) {
      const RitzSolverType type = symmetric_methods[t / 2];
      Run run;
      CHECK_OK(open_run(&run, ceed, type, &a, b));
      CHECK_OK(dense_set(run.x, n, guess));
      CHECK_OK(RitzSolverSetNullspace(run.solver, num_null, basis));
      CHECK_OK(RitzSolverSetPreconditioner(run.solver, t % 2 ? pc : NULL));
      CHECK_OK(RitzSolverSetDamping(run.solver, 0.3));
      CHECK_OK(solve(&run, 1e4 * dense_eps, 300));
      CHECK(run.reason == RITZ_CONVERGED_RTOL, "%s, %d null vectors: %s", RitzSolverTypeName(type), num_null,
            RitzSolverReasonName(run.reason));
      CHECK_NEAR(dense_distance(n, x, run.found), 0, 1e5 * dense_eps * dense_norm(n, b),
                 "%s, %d null vectors", RitzSolverTypeName(type), num_null);
      close_run(&run);
    }
    RitzPreconditionerDestroy(&pc);
    for (int k = 0; k < num_null; k++) CeedVectorDestroy(&basis[k]);
  }
  CeedDestroy(&ceed);
}

TEST(constraints_are_eliminated_rows_and_columns_for_every_method) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const int64_t entries[] = {17, 3, 8, 3};
  const int n = 18;
  bool is_constrained[DENSE_MAX] = {false};
  double b[DENSE_MAX], x[DENSE_MAX], guess[DENSE_MAX], right[DENSE_MAX], ag[DENSE_MAX];
  Dense a, reduced;
  dense_spread(&a, n, 1, 3, 25);
  random_values(n, 26, b);
  random_values(n, 27, guess);
  for (int k = 0; k < 4; k++) is_constrained[entries[k]] = true;
  // A (x - g) = b - A g on the free entries, x = g on the others.
  reduced = a;
  dense_eliminate(&reduced, is_constrained);
  double fixed[DENSE_MAX];
  for (int i = 0; i < n; i++) fixed[i] = is_constrained[i] ? guess[i] : 0;
  dense_multiply(&a, fixed, ag);
  for (int i = 0; i < n; i++) right[i] = is_constrained[i] ? guess[i] : b[i] - ag[i];
  CHECK(dense_solve(&reduced, right, x), "singular");

  for (int t = 0; t < ALL; t++) {
    RitzIndices indices = NULL;
    Run run;
    CHECK_OK(open_run(&run, ceed, symmetric_methods[t], &a, b));
    CHECK_OK(dense_set(run.x, n, guess));
    if (t % 2) {
      CHECK_OK(RitzSolverSetConstraints(run.solver, 4, entries));
    } else {
      CHECK_OK(RitzIndicesCreate(ceed, 4, entries, &indices));
      CHECK_OK(RitzSolverSetConstraintIndices(run.solver, indices));
      CHECK_OK(RitzIndicesDestroy(&indices));
    }
    CHECK_OK(RitzSolverSetDamping(run.solver, 0.4));
    CHECK_OK(solve(&run, 1e3 * dense_eps, 400));
    CHECK(run.reason == RITZ_CONVERGED_RTOL, "%s: %s", RitzSolverTypeName(symmetric_methods[t]),
          RitzSolverReasonName(run.reason));
    for (int i = 0; i < n; i++) {
      CHECK_NEAR(run.found[i], x[i], is_constrained[i] ? dense_eps : 1e4 * dense_eps * dense_norm(n, b),
                 "%s, entry %d", RitzSolverTypeName(symmetric_methods[t]), i);
    }
    close_run(&run);
  }
  CeedDestroy(&ceed);
}

// ---- Scale ----

TEST(scale_of_the_right_hand_side_does_not_matter_to_any_method) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const double scales[] = {1, ldexp(1, sizeof(CeedScalar) == 4 ? 100 : 900),
                           ldexp(1, sizeof(CeedScalar) == 4 ? -90 : -900)};
  const int n = 12;
  double b[DENSE_MAX];
  Dense a;
  dense_spread(&a, n, 1, 3, 28);
  random_values(n, 29, b);

  for (int t = 0; t < ALL; t++) {
    double first[DENSE_MAX] = {0};
    for (int k = 0; k < 3; k++) {
      double scaled[DENSE_MAX];
      Run run;
      for (int i = 0; i < n; i++) scaled[i] = scales[k] * b[i];
      CHECK_OK(open_run(&run, ceed, symmetric_methods[t], &a, scaled));
      CHECK_OK(RitzSolverSetDamping(run.solver, 0.4));
      CHECK_OK(solve(&run, 1e-4, 300));
      CHECK(run.reason == RITZ_CONVERGED_RTOL, "%s: %s", RitzSolverTypeName(symmetric_methods[t]),
            RitzSolverReasonName(run.reason));
      for (int i = 0; i < n; i++) {
        if (k == 0) first[i] = run.found[i];
        CHECK_NEAR(run.found[i] / scales[k], first[i], 10 * dense_eps, "%s, scale %g",
                   RitzSolverTypeName(symmetric_methods[t]), scales[k]);
      }
      close_run(&run);
    }
  }
  CeedDestroy(&ceed);
}

// A double method over a float preconditioner: as good as a double one, whatever the size of the numbers.
TEST(float_preconditioners_serve_double_methods) {
  if (sizeof(CeedScalar) == 4) NOT_HERE("there is one precision");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const double scales[] = {1, 1e200, 1e-200};
  RitzPreconditioner pc[2] = {NULL, NULL};
  const int n = 20;
  double b[DENSE_MAX];
  Dense a, p = {.n = n};
  dense_spread(&a, n, 1, 3, 30);
  for (int i = 0; i < n; i++) {
    p.a[i][i] = 1 / a.a[i][i]; // A gets a bad diagonal, which p mends
  }
  random_values(n, 31, b);
  CHECK_OK(RitzPreconditionerCreate(ceed, n, CEED_SCALAR_FP64, dense_apply, &p, NULL, true, &pc[0]));
  CHECK_OK(RitzPreconditionerCreate(ceed, n, CEED_SCALAR_FP32, dense_apply_f32, &p, NULL, true, &pc[1]));

  for (int t = 0; t < ALL - 1; t++) {
    for (int k = 0; k < 3; k++) {
      CeedInt iterations[2];
      for (int f = 0; f < 2; f++) {
        double scaled[DENSE_MAX];
        Run run;
        for (int i = 0; i < n; i++) scaled[i] = scales[k] * b[i];
        CHECK_OK(open_run(&run, ceed, symmetric_methods[t], &a, scaled));
        CHECK_OK(RitzSolverSetPreconditioner(run.solver, pc[f]));
        CHECK_OK(solve(&run, 1e-12, 300));
        CHECK(run.reason == RITZ_CONVERGED_RTOL, "%s, scale %g: %s", RitzSolverTypeName(symmetric_methods[t]),
              scales[k], RitzSolverReasonName(run.reason));
        CHECK(true_residual(&a, scaled, run.found) <= 2e-12 * dense_norm(n, scaled), "%s, scale %g",
              RitzSolverTypeName(symmetric_methods[t]), scales[k]);
        iterations[f] = run.iterations;
        close_run(&run);
      }
      // Float rounding of P makes it slightly unsymmetric and is felt by short recurrences alone.
      CHECK(abs(iterations[1] - iterations[0]) <= 3, "%s: %d steps in double, %d in float",
            RitzSolverTypeName(symmetric_methods[t]), (int)iterations[0], (int)iterations[1]);
    }
  }
  RitzPreconditionerDestroy(&pc[0]);
  RitzPreconditionerDestroy(&pc[1]);
  CeedDestroy(&ceed);
}

// ---- Directions that turn out to be none ----

// One eigenvalue of P is negative: its part of r . P r is small at first. x stays at the last good iterate.
TEST(conjugate_gradients_leave_x_where_the_last_residual_is_its_own) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  enum { N = 12 };
  double b[DENSE_MAX], eigenvalues[DENSE_MAX];
  Dense a, p;

  dense_spread(&a, N, 1, 3, 34);
  for (int i = 0; i < N; i++) eigenvalues[i] = i == 4 ? -0.5 : 1;
  dense_symmetric(&p, N, eigenvalues, 35);
  random_values(N, 36, b);
  for (int t = 0; t < 2; t++) {
    const RitzSolverType type = t ? RITZ_SOLVER_FLEXIBLE_CG : RITZ_SOLVER_CG;
    RitzPreconditioner pc = NULL;
    double last = 0;
    Run run;
    CHECK_OK(RitzPreconditionerCreate(ceed, N, CEED_SCALAR_TYPE, dense_apply, &p, NULL, true, &pc));
    CHECK_OK(open_run(&run, ceed, type, &a, b));
    CHECK_OK(RitzSolverSetPreconditioner(run.solver, pc));
    CHECK_OK(solve(&run, 1e3 * dense_eps, 100));
    CHECK_OK(RitzSolverGetResidual(run.solver, NULL, &last));
    CHECK(run.reason == RITZ_DIVERGED_PRECONDITIONER && run.iterations > 0, "%s: %s after %d",
          RitzSolverTypeName(type), RitzSolverReasonName(run.reason), (int)run.iterations);
    CHECK_NEAR(true_residual(&a, b, run.found), last, 1e3 * dense_eps * dense_norm(N, b), "%s",
               RitzSolverTypeName(type));
    close_run(&run);
    RitzPreconditionerDestroy(&pc);
  }
  CeedDestroy(&ceed);
}

// ---- Kernels of passes, on devices ----

typedef struct {
  int64_t first, last; // programs that were asked for: at iteration 0, and at the last one
} Programs;

static int count_programs(void *ctx, CeedInt iteration, double residual, bool *stop) {
  Programs *programs = ctx;
  RitzJitCounters c;

  (void)residual, (void)stop;
  ritz_tasks_wait(); // programs that were asked for ahead are counted when they are made
  if (RitzJitGetCounters(&c)) return CEED_ERROR_MAJOR;
  programs->last = c.memory_hits + c.disk_hits + c.compilations;
  if (iteration == 0) programs->first = programs->last;
  return CEED_ERROR_SUCCESS;
}

// Every context has its own list of passes that are made.
TEST_EACH_BACKEND(passes_of_every_method_are_made_before_its_first_iteration) {
  static const char *const variants[] = {"no preconditioner", "Jacobi", "Jacobi beside a nullspace"};
  enum { N = 12, RESTART = 5, NUM_VARIANTS = 3 };
  const char *resource = NULL;
  double b[DENSE_MAX], ones[DENSE_MAX], diagonal[DENSE_MAX];
  Dense a;

  CHECK_OK(CeedGetResource(ceed, &resource));
  dense_spread(&a, N, 1, 3, 32);
  random_values(N, 33, b);
  for (int i = 0; i < N; i++) diagonal[i] = a.a[i][i], ones[i] = 1;
  for (int t = 0; t < NUM_VARIANTS * ALL; t++) {
    const RitzSolverType type = symmetric_methods[t / NUM_VARIANTS];
    const int variant = t % NUM_VARIANTS;
    Ceed own = tap_ceed(resource);
    CeedVector basis = dense_vector(own, N, ones), d = dense_vector(own, N, diagonal);
    RitzPreconditioner jacobi = NULL;
    Programs programs = {0};
    Run run;

    CHECK_OK(RitzPreconditionerCreateJacobi(own, d, NULL, &jacobi));
    CHECK_OK(open_run(&run, own, type, &a, b));
    CHECK_OK(RitzSolverSetPreconditioner(run.solver, variant ? jacobi : NULL));
    if (variant == 2) CHECK_OK(RitzSolverSetNullspace(run.solver, 1, &basis));
    CHECK_OK(RitzSolverSetDamping(run.solver, 0.4));
    CHECK_OK(RitzSolverSetRestart(run.solver, RESTART));
    CHECK_OK(RitzSolverSetMonitor(run.solver, count_programs, &programs));
    CHECK_OK(RitzSolverSetTolerances(run.solver, 1e-5, 0, 300));
    CHECK_OK(RitzSolverSolve(run.solver, run.b, run.x));
    CHECK_OK(RitzSolverGetIterations(run.solver, &run.iterations));
    CHECK(run.iterations > 2, "%d iterations", (int)run.iterations);
    CHECK(programs.last == programs.first, "%s, %s: %d programs after the first iteration has begun",
          RitzSolverTypeName(type), variants[variant], (int)(programs.last - programs.first));
    close_run(&run);
    RitzPreconditionerDestroy(&jacobi);
    CeedVectorDestroy(&basis);
    CeedVectorDestroy(&d);
    CeedDestroy(&own);
  }
}

// ---- Memory ----

// Vectors, numbers of devices and arrays stay with the solver, whichever method and size it has had before.
TEST_EACH_BACKEND(a_second_solve_allocates_nothing) {
  enum { N = 12 };
  // Estimates are made anew in each solve, with vectors of their own.
  const RitzChebyshevOptions bounds = {.kind = RITZ_CHEBYSHEV_FIRST, .largest = 5, .lower_fraction = 0.1};
  double b[DENSE_MAX], diagonal[DENSE_MAX];
  Dense a;

  dense_spread(&a, N, 1, 3, 32);
  random_values(N, 33, b);
  for (int i = 0; i < N; i++) diagonal[i] = a.a[i][i];
  if (tap_checks_calls(ceed)) NOT_FOR_THIS_BACKEND("it notes every call");
  for (int t = 0; t < 2 * ALL; t++) {
    CeedVector d = dense_vector(ceed, N, diagonal);
    Run run;

    CHECK_OK(open_run(&run, ceed, symmetric_methods[t / 2], &a, b));
    CHECK_OK(RitzSolverSetJacobi(run.solver, t % 2 ? d : NULL));
    CHECK_OK(RitzSolverSetDamping(run.solver, 0.4));
    CHECK_OK(RitzSolverSetRestart(run.solver, 5));
    CHECK_OK(RitzSolverSetChebyshev(run.solver, &bounds));
    CHECK_OK(solve(&run, 1e-5, 300));
    const CeedInt iterations = run.iterations;
    CHECK_OK(CeedVectorSetValue(run.x, 0));
    run.calls = 0;
    const int64_t live = ritz_memory_live();
    ritz_memory_fail_at(1); // whatever is allocated fails
    const int ierr = RitzSolverSolve(run.solver, run.b, run.x);
    ritz_memory_fail_at(0);
    tap_note("%s, %s", RitzSolverTypeName(symmetric_methods[t / 2]), t % 2 ? "Jacobi" : "no preconditioner");
    CHECK_OK(ierr);
    CHECK(ritz_memory_live() == live, "memory is kept");
    CHECK_OK(RitzSolverGetIterations(run.solver, &run.iterations));
    CHECK(run.iterations == iterations, "%d iterations, then %d", (int)iterations, (int)run.iterations);
    close_run(&run);
    CeedVectorDestroy(&d);
  }
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(every_method_finds_the_solution_of_a_dense_factorization,
                        full_gmres_ends_after_as_many_steps_as_unknowns, k_distinct_eigenvalues_need_k_steps,
                        minres_and_gmres_minimize_the_same_norm_of_a_symmetric_system,
                        preconditioned_minres_sees_true_residuals_and_minimizes_those_of_the_preconditioner,
                        restarted_gmres_never_grows_and_reports_the_true_residual,
                        flexible_methods_take_preconditioners_that_change,
                        chebyshev_iteration_multiplies_errors_by_its_polynomial,
                        chebyshev_iteration_with_estimates_converges_at_the_rate_of_its_bounds,
                        nullspaces_are_kept_out_of_the_solution_by_every_method,
                        constraints_are_eliminated_rows_and_columns_for_every_method,
                        scale_of_the_right_hand_side_does_not_matter_to_any_method,
                        float_preconditioners_serve_double_methods,
                        conjugate_gradients_leave_x_where_the_last_residual_is_its_own,
                        passes_of_every_method_are_made_before_its_first_iteration,
                        a_second_solve_allocates_nothing));
}
