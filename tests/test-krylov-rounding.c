// SPDX-License-Identifier: BSD-2-Clause
// What solves say where rounding decides: guesses that are exact to it, tolerances below it, guesses far
// away, systems without a solution. The residual told is that of x.
#include <stdlib.h>

#include "tests/dense-system.h"

enum { NUM_METHODS = 7 };
static const RitzSolverType methods[NUM_METHODS] = {RITZ_SOLVER_CG,        RITZ_SOLVER_FLEXIBLE_CG,
                                                    RITZ_SOLVER_MINRES,    RITZ_SOLVER_GMRES,
                                                    RITZ_SOLVER_FGMRES,    RITZ_SOLVER_CHEBYSHEV,
                                                    RITZ_SOLVER_RICHARDSON};

// ---- A solve ----

typedef struct {
  Dense a, p;
  bool has_preconditioner;
  double rtol, atol;
  CeedInt max_it;
  double b[DENSE_MAX], guess[DENSE_MAX];
} Problem;

typedef struct {
  RitzSolverReason reason;
  CeedInt iterations;
  int applies;
  double x[DENSE_MAX], last, exact; // the residual told, |b - A x|
} Outcome;

typedef struct {
  Dense *a;
  int num;
} Counted;

static int counted_apply(void *ctx, CeedVector x, CeedVector y) {
  Counted *c = ctx;
  c->num++;
  return dense_apply(c->a, x, y);
}

static double true_residual(const Problem *p, const double *x) {
  double y[DENSE_MAX];

  dense_multiply(&p->a, x, y);
  return dense_distance(p->a.n, p->b, y);
}

static int run(Ceed ceed, RitzSolverType type, Problem *p, Outcome *o) {
  CeedVector b = dense_vector(ceed, p->a.n, p->b), x = dense_vector(ceed, p->a.n, p->guess);
  Counted counted = {.a = &p->a};
  RitzPreconditioner pc = NULL;
  RitzSolver solver = NULL;
  int ierr = RitzSolverCreate(ceed, type, &solver);

  if (!ierr) ierr = RitzSolverSetApply(solver, counted_apply, &counted);
  if (!ierr && p->has_preconditioner)
    ierr = RitzPreconditionerCreate(ceed, p->a.n, CEED_SCALAR_TYPE, dense_apply, &p->p, NULL, true, &pc);
  if (!ierr) ierr = RitzSolverSetPreconditioner(solver, pc);
  if (!ierr) ierr = RitzSolverSetDamping(solver, 0.4);
  if (!ierr) ierr = RitzSolverSetTolerances(solver, p->rtol, p->atol, p->max_it);
  if (!ierr) ierr = RitzSolverSolve(solver, b, x);
  if (!ierr) ierr = RitzSolverGetReason(solver, &o->reason);
  if (!ierr) ierr = RitzSolverGetIterations(solver, &o->iterations);
  if (!ierr) ierr = RitzSolverGetResidual(solver, NULL, &o->last);
  if (!ierr) ierr = dense_get(x, p->a.n, o->x);
  o->applies = counted.num;
  o->exact = true_residual(p, o->x);
  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&pc);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  return ierr;
}

// Eigenvalues between 1 and 3, so that all methods solve it.
static Problem good_problem(int n) {
  Problem p = {.rtol = 1e-8, .max_it = 2000};
  uint64_t seed = 7;

  dense_spread(&p.a, n, 1, 3, 2);
  for (int i = 0; i < n; i++) p.b[i] = tap_uniform(&seed);
  return p;
}

// Rounding of sums of n products, and of a vector that is kept as CeedScalar.
static double rounding(const Problem *p, const double *x) {
  return 16 * dense_eps * (3 * dense_norm(p->a.n, x) + dense_norm(p->a.n, p->b));
}

// ---- Guesses that are exact to rounding ----

TEST_EACH_BACKEND(a_guess_exact_to_rounding_is_the_solution) {
  for (int has_preconditioner = 0; has_preconditioner < 2; has_preconditioner++) {
    Problem p = good_problem(20);
    p.has_preconditioner = has_preconditioner;
    dense_spread(&p.p, 20, 1, 2, 4);
    CHECK(dense_solve(&p.a, p.b, p.guess), "singular");
    for (int t = 0; t < NUM_METHODS; t++) {
      Outcome o;
      CHECK_OK(run(ceed, methods[t], &p, &o));
      CHECK(o.reason == RITZ_CONVERGED_ROUNDING && o.iterations == 0 && o.applies <= 2,
            "%s: %s after %d iterations, %d applies", RitzSolverTypeName(methods[t]),
            RitzSolverReasonName(o.reason), (int)o.iterations, o.applies);
      CHECK(o.last <= rounding(&p, o.x) && o.last > 0, "%s: residual %g", RitzSolverTypeName(methods[t]),
            o.last);
    }
  }
}

// The Laplacian of a path: |A| |x| is 2000 times |b|, and so is the rounding of b - A x. Near it methods
// that have said that no direction is left have reached it.
TEST(guesses_near_rounding_of_a_large_condition_number_converge) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem p = {.rtol = 1e-8, .max_it = 2000, .a.n = DENSE_MAX};
  double exact[DENSE_MAX];

  for (int i = 0; i < DENSE_MAX; i++) {
    for (int j = 0; j < DENSE_MAX; j++) p.a.a[i][j] = i == j ? 2 : -(abs(i - j) == 1);
    p.b[i] = 1;
  }
  CHECK(dense_solve(&p.a, p.b, exact), "singular");
  for (int k = 0; k < 5; k++) {
    for (int i = 0; i < DENSE_MAX; i++) p.guess[i] = exact[i] * (1 + pow(4, k) * dense_eps * (i % 3 - 1));
    for (int t = 0; t < 5; t++) {
      Outcome o;
      CHECK_OK(run(ceed, methods[t], &p, &o));
      CHECK(o.reason > 0 && o.exact <= 64 * dense_eps * (4 * dense_norm(DENSE_MAX, o.x)),
            "%s, guess %d: %s, residual %g", RitzSolverTypeName(methods[t]), k,
            RitzSolverReasonName(o.reason), o.exact);
    }
  }
  CeedDestroy(&ceed);
}

// ---- Tolerances ----

TEST_EACH_BACKEND(residuals_told_are_those_of_x_however_small_the_tolerance) {
  for (int t = 0; t < NUM_METHODS; t++) {
    for (int exponent = -4; exponent >= -30; exponent -= 2) {
      Problem p = good_problem(20);
      Outcome o;
      p.rtol = pow(10, exponent);
      CHECK_OK(run(ceed, methods[t], &p, &o));
      CHECK(o.reason == RITZ_CONVERGED_RTOL || o.reason == RITZ_CONVERGED_ROUNDING, "%s, 1e%d: %s",
            RitzSolverTypeName(methods[t]), exponent, RitzSolverReasonName(o.reason));
      CHECK(o.exact <= fmax(p.rtol * dense_norm(20, p.b), rounding(&p, o.x)), "%s, 1e%d: %g left",
            RitzSolverTypeName(methods[t]), exponent, o.exact);
      CHECK(fabs(o.last - o.exact) <= fmax(1e-5 * o.exact, rounding(&p, o.x) / 4),
            "%s, 1e%d: residual %g told, %g found", RitzSolverTypeName(methods[t]), exponent, o.last,
            o.exact);
      CHECK(o.reason != RITZ_CONVERGED_RTOL || o.last <= p.rtol * dense_norm(20, p.b),
            "%s, 1e%d: %g is not what was asked for", RitzSolverTypeName(methods[t]), exponent, o.last);
    }
  }
}

// x begins 1e20 times too large: what the first residual has cost in digits is won back.
TEST(a_guess_far_away_costs_no_accuracy) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const double far = dense_eps < 1e-10 ? 1e20 : 1e8;

  for (int t = 0; t < 5; t++) {
    Problem p = good_problem(20);
    Outcome o;
    p.rtol = 0;
    p.atol = 1000 * dense_eps;
    for (int i = 0; i < 20; i++) p.guess[i] = i % 2 ? far : -far / 3;
    CHECK_OK(run(ceed, methods[t], &p, &o));
    CHECK(o.reason == RITZ_CONVERGED_ATOL && o.exact <= 1.01 * p.atol, "%s: %s, %g left",
          RitzSolverTypeName(methods[t]), RitzSolverReasonName(o.reason), o.exact);
  }
  CeedDestroy(&ceed);
}

// The first residual, one an iteration; one more where the residual is so small that rounding could matter.
TEST(applies_are_as_few_as_can_be) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const double tolerances[] = {1e-2, 2e-4, 0};

  for (int t = 0; t < 3; t++) {
    for (int k = 0; k < 3; k++) {
      Problem p = good_problem(20);
      Outcome o;
      p.rtol = tolerances[k];
      p.max_it = k == 2 ? 15 : 2000;
      CHECK_OK(run(ceed, methods[t], &p, &o));
      CHECK(o.applies == o.iterations + 1 && (k < 2 || o.iterations == 15), "%s, %g: %d applies in %d",
            RitzSolverTypeName(methods[t]), p.rtol, o.applies, (int)o.iterations);
    }
    Problem p = good_problem(20);
    Outcome o;
    p.rtol = 100 * dense_eps;
    CHECK_OK(run(ceed, methods[t], &p, &o));
    CHECK(o.applies == o.iterations + 2 && o.reason == RITZ_CONVERGED_RTOL, "%s: %d applies in %d, %s",
          RitzSolverTypeName(methods[t]), o.applies, (int)o.iterations, RitzSolverReasonName(o.reason));
  }
  CeedDestroy(&ceed);
}

// ---- Singular systems without a solution ----

// Eigenvalues 0 .. n - 1, or those between -1/2 and 1/2 with one zero; along the axes, b = 1 then, or not.
static Problem singular_problem(int n, bool is_diagonal, bool is_indefinite) {
  Problem p = {.rtol = 1e-8, .max_it = 500, .a.n = n};
  double eigenvalues[DENSE_MAX];
  uint64_t seed = 11;

  for (int i = 0; i < n; i++) eigenvalues[i] = is_indefinite ? (i - n / 2) / (double)n : i;
  if (!is_diagonal) dense_symmetric(&p.a, n, eigenvalues, 5);
  for (int i = 0; i < n; i++) {
    if (is_diagonal) p.a.a[i][i] = eigenvalues[i];
    p.b[i] = is_diagonal ? 1 : tap_uniform(&seed);
  }
  return p;
}

// Of b - A x in the norm of P the least there is: A P r = 0.
static void check_least(Ceed ceed, RitzSolverType type, Problem *p) {
  const int n = p->a.n;
  double r[DENSE_MAX], z[DENSE_MAX], image[DENSE_MAX];
  Outcome o;

  CHECK_OK(run(ceed, type, p, &o));
  CHECK(o.reason == RITZ_DIVERGED_BREAKDOWN && o.iterations <= 10 * n, "%s, n = %d: %s after %d",
        RitzSolverTypeName(type), n, RitzSolverReasonName(o.reason), (int)o.iterations);
  CHECK_NEAR(o.last, o.exact, 1000 * dense_eps * dense_norm(n, p->b), "%s, n = %d: residual told",
             RitzSolverTypeName(type), n);
  CHECK(dense_norm(n, o.x) <= 1000 * dense_norm(n, p->b), "%s, n = %d: |x| = %g", RitzSolverTypeName(type), n,
        dense_norm(n, o.x));
  dense_multiply(&p->a, o.x, r);
  for (int i = 0; i < n; i++) r[i] = p->b[i] - r[i];
  if (p->has_preconditioner)
    dense_multiply(&p->p, r, z);
  else
    memcpy(z, r, sizeof(z));
  dense_multiply(&p->a, z, image);
  CHECK(dense_norm(n, image) <= 100 * sqrt(dense_eps) * n * dense_norm(n, z),
        "%s, n = %d: |A r| = %g, |r| = %g", RitzSolverTypeName(type), n, dense_norm(n, image),
        dense_norm(n, z));
}

TEST_EACH_BACKEND(minres_of_singular_inconsistent_systems_has_the_least_residual) {
  for (int n = 10; n <= 40; n++) {
    for (int kind = 0; kind < 8 && !tap_failed(); kind++) {
      Problem p = singular_problem(n, kind & 1, kind & 2);
      p.has_preconditioner = kind & 4;
      dense_spread(&p.p, n, 1, 2, 4);
      check_least(ceed, RITZ_SOLVER_MINRES, &p);
    }
  }
}

// The residual along the smallest eigenvalue of an ill-conditioned system is not given up.
TEST(minres_goes_on_to_small_eigenvalues_that_are_not_zero) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int k = 1; k <= 5; k++) {
    Problem p = {.rtol = 1e-2, .max_it = 500};
    double eigenvalues[DENSE_MAX];
    Outcome o;
    for (int i = 0; i < 30; i++) eigenvalues[i] = i ? 0.5 + i / 60.0 : pow(dense_eps, k / 8.0);
    dense_symmetric(&p.a, 30, eigenvalues, 5);
    for (int i = 0; i < 30; i++) p.b[i] = 1;
    CHECK_OK(run(ceed, RITZ_SOLVER_MINRES, &p, &o));
    CHECK(o.reason > 0 && o.exact <= 1.1 * p.rtol * dense_norm(30, p.b), "eigenvalue %g: %s, %g left",
          eigenvalues[0], RitzSolverReasonName(o.reason), o.exact);
  }
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(a_guess_exact_to_rounding_is_the_solution,
                        guesses_near_rounding_of_a_large_condition_number_converge,
                        residuals_told_are_those_of_x_however_small_the_tolerance,
                        a_guess_far_away_costs_no_accuracy, applies_are_as_few_as_can_be,
                        minres_of_singular_inconsistent_systems_has_the_least_residual,
                        minres_goes_on_to_small_eigenvalues_that_are_not_zero));
}
