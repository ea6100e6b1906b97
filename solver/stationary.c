// SPDX-License-Identifier: BSD-2-Clause
// Methods whose coefficients are known beforehand: Chebyshev iteration (solver/chebyshev.c has the formulas)
// and Richardson's, both as
//
//     z = P r,  d = old d + fresh z,  x += d,  r -= A d
//
// with old = 0, fresh = damping for Richardson. The only product is that of the norm. Called by
// solver/solve.c. x gets d when the residual after it is known to be a finite number.
#include <math.h>

#include "core/vector-pass.h"
#include "solver/eigenvalues.h"
#include "solver/solver.h"

typedef struct {
  RitzSolver solver;
  const RitzSolve *solve;
  CeedVector r, d, q, z; // owned; z: unless there is no preconditioner, or Jacobi's work is done in passes
  CeedVector inverse;    // borrowed: Jacobi's; NULL: another preconditioner or none
  double scale, factor;  // of r; of inverse
  double lower, upper;   // bounds of the spectrum
  double rho;
  int step; // of the polynomial
  bool is_redone;
} Stationary;

// x = x + scale d, d = old d + fresh z
static const RitzPass step_pass = {
    .name = "stationary_step",
    .num_vectors = 3,
    .num_lines = 2,
    .line = {{.to = 2,
              .num_terms = 2,
              .term = {{.factor = RITZ_PASS_NONE, .x = 2, .y = RITZ_PASS_NONE},
                       {.factor = 0, .x = 1, .y = RITZ_PASS_NONE}}},
             {.to = 1,
              .num_terms = 2,
              .term = {{.factor = 1, .x = 1, .y = RITZ_PASS_NONE},
                       {.factor = 2, .x = 0, .y = RITZ_PASS_NONE}}}},
};
// A step with z = m r.
static const RitzPass jacobi_step_pass = {
    .name = "stationary_jacobi_step",
    .num_vectors = 4,
    .num_lines = 2,
    .line = {{.to = 2,
              .num_terms = 2,
              .term = {{.factor = RITZ_PASS_NONE, .x = 2, .y = RITZ_PASS_NONE},
                       {.factor = 0, .x = 1, .y = RITZ_PASS_NONE}}},
             {.to = 1,
              .num_terms = 2,
              .term = {{.factor = 1, .x = 1, .y = RITZ_PASS_NONE}, {.factor = 2, .x = 0, .y = 3}}}},
};
// r = r - q, and r . r
static const RitzPass residual_pass = {
    .name = "stationary_residual",
    .num_vectors = 2,
    .num_lines = 1,
    .num_sums = 1,
    .line = {{.to = 0,
              .num_terms = 2,
              .term = {{.factor = RITZ_PASS_NONE, .x = 0, .y = RITZ_PASS_NONE},
                       {.factor = 0, .x = 1, .y = RITZ_PASS_NONE}}}},
    .sum = {{.x = 0, .y = 0, .w = RITZ_PASS_NONE}},
};

// ---- Bounds ----

// The lower one of the first kind: where no fraction is given, the smallest Ritz value, which lies above the
// smallest eigenvalue; the modes below it converge, too, but slowly.
static void set_lower(Stationary *s, const RitzSpectrum *spectrum) {
  const double fraction = s->solver->chebyshev.lower_fraction;

  s->lower = fraction > 0             ? fraction * s->upper
             : spectrum->smallest > 0 ? spectrum->smallest
                                      : 0.1 * s->upper;
  if (s->lower > 0.9 * s->upper) s->lower = 0.9 * s->upper;
}

static int estimate(Stationary *s, RitzSolverReason *reason) {
  RitzSpectrum spectrum;

  RITZ_TRY(ritz_chebyshev_bounds(&s->solver->chebyshev, &s->solve->system, s->solve->pc, s->solve->x->length,
                                 CEED_SCALAR_TYPE, &spectrum, &s->upper));
  *reason = spectrum.fault;
  set_lower(s, &spectrum);
  return CEED_ERROR_SUCCESS;
}

// The residual has grown much: an eigenvalue lies above the bound. Once, a longer estimate and a new
// polynomial from here.
static int redo_estimate(Stationary *s, RitzSolverReason *reason) {
  RitzSpectrum spectrum;

  s->is_redone = true;
  RITZ_TRY(ritz_chebyshev_better_bound(&s->solver->chebyshev, &s->solve->system, s->solve->pc,
                                       s->solve->x->length, CEED_SCALAR_TYPE, &spectrum, &s->upper));
  *reason = spectrum.fault;
  set_lower(s, &spectrum);
  s->step = 0;
  return CEED_ERROR_SUCCESS;
}

// ---- Iterations ----

static RitzChebyshevStep next_coefficients(Stationary *s) {
  if (s->solver->type == RITZ_SOLVER_RICHARDSON) return (RitzChebyshevStep){.fresh = s->solver->damping};
  return ritz_chebyshev_step(s->solver->chebyshev.kind, s->lower, s->upper, s->step++, &s->rho);
}

static int next_direction(Stationary *s) {
  const RitzChebyshevStep c = next_coefficients(s);

  if (s->inverse) {
    return ritz_pass_run(&jacobi_step_pass, (CeedVector[]){s->r, s->d, s->solve->x, s->inverse},
                         (double[]){s->scale, c.old, c.fresh * s->factor}, NULL);
  }
  if (s->z) RITZ_TRY(ritz_solve_precondition(s->solve, s->r, s->z));
  return ritz_pass_run(&step_pass, (CeedVector[]){s->z ? s->z : s->r, s->d, s->solve->x},
                       (double[]){s->scale, c.old, c.fresh}, NULL);
}

static int step_stationary(Stationary *s, RitzSolverReason *reason) {
  const RitzSystem *system = &s->solve->system;
  RitzSolver solver = s->solver;
  double square = 0;

  RITZ_TRY(next_direction(s));
  RITZ_TRY(ritz_system_apply(system, s->d, s->q));
  RITZ_TRY(ritz_system_project(system, s->q));
  RITZ_TRY(ritz_pass_run(&residual_pass, (CeedVector[]){s->r, s->q}, (double[]){-1}, &square));
  RITZ_TRY(ritz_solver_judge(solver, solver->iterations + 1, s->scale * sqrt(square), reason));
  const bool has_grown = solver->final_residual > 100 * solver->initial_residual;
  if (*reason == RITZ_ITERATING && has_grown && !s->is_redone && solver->type == RITZ_SOLVER_CHEBYSHEV &&
      !(solver->chebyshev.largest > 0)) {
    RITZ_TRY(redo_estimate(s, reason));
  }
  return CEED_ERROR_SUCCESS;
}

static int prepare_passes(const Stationary *s) {
  const RitzVectorSumKind of_estimates[] = {RITZ_SUM_DOT, RITZ_SUM_MULTIPLE, RITZ_SUM_AXPY};
  const CeedScalarType full = CEED_SCALAR_TYPE;
  const bool estimates = s->solver->type == RITZ_SOLVER_CHEBYSHEV && !(s->solver->chebyshev.largest > 0);
  RitzPassForms forms = {0};
  RitzPassForm step = ritz_pass_form(s->inverse ? &jacobi_step_pass : &step_pass, full);

  if (s->inverse) step.precision[3] = s->inverse->precision;
  ritz_pass_forms_add(&forms, step);
  ritz_pass_forms_add(&forms, ritz_pass_form(&residual_pass, full));
  ritz_pass_forms_add(&forms, ritz_pass_form(ritz_vector_sum_pass(RITZ_SUM_AXPY), full));
  for (int i = 0; estimates && i < 3; i++)
    ritz_pass_forms_add(&forms, ritz_pass_form(ritz_vector_sum_pass(of_estimates[i]), full));
  return ritz_solve_prepare_passes(s->solve, estimates || !s->inverse ? s->solve->pc : NULL, full, &forms);
}

static int iterate_stationary(Stationary *s, RitzSolverReason *reason) {
  double norm = 0;

  RITZ_TRY(ritz_solve_start(s->solver, s->solve, s->r, &s->scale, &norm));
  RITZ_TRY(ritz_solver_judge_start(s->solver, s->solve, norm, reason));
  if (*reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  if (s->solver->type == RITZ_SOLVER_CHEBYSHEV) RITZ_TRY(estimate(s, reason));
  if (*reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  while (*reason == RITZ_ITERATING) RITZ_TRY(step_stationary(s, reason));
  return *reason == RITZ_DIVERGED_NAN ? CEED_ERROR_SUCCESS
                                      : RitzVectorAXPYs(s->solve->x, 1, &s->scale, &s->d);
}

int ritz_stationary_solve(RitzSolver solver, const RitzSolve *solve) {
  Stationary s = {.solver = solver, .solve = solve};
  RitzSolverReason reason = RITZ_ITERATING;

  if (solve->system.num_null == 0) s.inverse = ritz_jacobi_inverse(solve->pc, solve->system.ceed, &s.factor);
  CeedVector *const vectors[] = {&s.r, &s.d, &s.q, solve->pc && !s.inverse ? &s.z : NULL};
  int ierr = ritz_solve_create_vectors(solve, 4, vectors);
  if (!ierr) ierr = prepare_passes(&s);
  if (!ierr) ierr = iterate_stationary(&s, &reason);
  solver->reason = reason;
  return ritz_first_error(ierr, ritz_solve_destroy_vectors(4, vectors));
}
