// SPDX-License-Identifier: BSD-2-Clause
// Nonlinear problems of `ritz solve`: Newton's method in load steps. The Jacobian is the derivative of the
// problem's operator at the state; its preconditioner, with the state on all levels of multigrid, gets new
// values when the Jacobian has changed.
#include <math.h>
#include <ritz/derivative.h>
#include <ritz/newton.h>
#include <stdlib.h>

#include "cli/solve.h"

typedef struct {
  Solve *s;
  SolveNewton newton;
  CeedVector full_loads, full_values; // owned: at load 1
  CeedInt num_solves;
  double start; // seconds of the clock
} LoadSteps;

// ---- Levels ----

void solve_destroy_levels(Solve *s) {
  for (CeedInt i = 0; i < s->num_levels; i++) {
    CeedVectorDestroy(&s->levels[i].state);
    CeedOperatorDestroy(&s->levels[i].interpolate);
  }
  free(s->levels);
  s->levels = NULL;
  s->num_levels = 0;
}

static int create_level(const Solve *s, RitzHierarchy hierarchy, CeedInt number, SolveLevel *level) {
  RitzSpace space = NULL, finer = NULL;
  CeedSize size = 0;

  if (number == s->num_levels - 1) return CeedVectorReferenceCopy(s->state, &level->state);
  CLI_TRY(RitzHierarchyGetSpace(hierarchy, number, &space));
  CLI_TRY(RitzHierarchyGetSpace(hierarchy, number + 1, &finer));
  CLI_TRY(RitzSpaceGetSize(space, &size));
  CLI_TRY(CeedVectorCreate(s->ceed, size, &level->state));
  if (size == 0) return CEED_ERROR_SUCCESS;
  return RitzSpaceCreateInterpolation(space, finer, s->ceed, CEED_SCALAR_TYPE, &level->interpolate);
}

int solve_create_levels(Solve *s, RitzHierarchy hierarchy) {
  CeedInt num = 0;

  solve_destroy_levels(s);
  CLI_TRY(RitzHierarchyGetNumLevels(hierarchy, &num));
  CLI_TRY(cli_allocate(s->ceed, (size_t)num, sizeof(*s->levels), &s->levels));
  s->num_levels = num;
  for (CeedInt i = 0; i < num; i++) CLI_TRY(create_level(s, hierarchy, i, &s->levels[i]));
  return solve_set_levels(s);
}

int solve_set_levels(Solve *s) {
  for (CeedInt i = s->num_levels - 2; i >= 0; i--) {
    const SolveLevel *level = &s->levels[i];

    if (level->interpolate)
      CLI_TRY(CeedOperatorApply(level->interpolate, s->levels[i + 1].state, level->state,
                                CEED_REQUEST_IMMEDIATE));
  }
  return CEED_ERROR_SUCCESS;
}

// Bodies: the Jacobian of the stress, without that of pressures. A conductivity makes it unsymmetric: the
// operator whose k does not move.
int solve_create_level_linear(Solve *s, CeedInt level, RitzSpace space, CeedOperator *op) {
  CeedVector state = s->levels[level].state;
  CeedOperator residual = NULL;

  if (s->conductivity) return problem_create_picard(&s->problem, space, state, op);
  CLI_TRY(problem_create_level(&s->problem, space, &residual));
  const int ierr = RitzOperatorCreateDerivative(residual, state, op);
  CeedOperatorDestroy(&residual);
  return ierr;
}

// The same of a part: elements without ghosts, and the others.
int solve_create_part_level_linear(Solve *s, CeedInt level, RitzSpace space, CeedOperator *inside,
                                   CeedOperator *seam) {
  CeedVector state = s->levels[level].state;
  CeedOperator residuals[2] = {NULL, NULL}, *const pieces[2] = {inside, seam};
  int ierr;

  if (s->conductivity) return problem_create_part_picard(&s->problem, space, state, inside, seam);
  ierr = problem_create_part_level(&s->problem, space, &residuals[0], &residuals[1]);
  for (int i = 0; i < 2; i++) {
    if (!ierr && residuals[i]) ierr = RitzOperatorCreateDerivative(residuals[i], state, pieces[i]);
    CeedOperatorDestroy(&residuals[i]);
  }
  return ierr;
}

// Pressures of hyperelasticity; their value at a load.
static int set_pressures(const Solve *s, double load) {
  static const double zeros[EXPR_NUM_VARIABLES] = {0};

  for (size_t i = 0; s->followers && i < s->num_formulas; i++) {
    if (s->followers[i])
      CLI_TRY(problem_set_pressure(s->followers[i], load * expr_value(s->formulas[i].expr[0], zeros)));
  }
  return CEED_ERROR_SUCCESS;
}

static int add_pressures(Solve *s) {
  if (!solve_has_role(s, ROLE_PRESSURE)) return CEED_ERROR_SUCCESS;
  CLI_TRY(cli_allocate(s->ceed, s->num_formulas, sizeof(*s->followers), &s->followers));
  for (size_t i = 0; i < s->num_formulas; i++) {
    if (s->formulas[i].role == ROLE_PRESSURE) CLI_TRY(CeedQFunctionContextCreate(s->ceed, &s->followers[i]));
  }
  CLI_TRY(set_pressures(s, 0));
  for (size_t i = 0; i < s->num_formulas; i++) {
    if (s->followers[i]) CLI_TRY(problem_add_follower(&s->problem, s->formulas[i].name, s->followers[i]));
  }
  CeedOperator op = s->transport ? s->problem.op.pieces[1] : s->problem.op.whole;

  return op ? RitzOperatorSetUse(op, RITZ_USE_NO_WAIT) : CEED_ERROR_SUCCESS;
}

static int set_first_state(Solve *s) {
  if (s->options.problem == PROBLEM_HEAT) return CeedVectorCopy(s->u, s->state);
  return s->start.words ? solve_get_start(s, 0, s->state) : CeedVectorSetValue(s->state, 0);
}

int solve_create_jacobian(Solve *s) {
  CLI_TRY(add_pressures(s));
  CLI_TRY(CeedVectorCreate(s->ceed, s->size, &s->state));
  CLI_TRY(set_first_state(s));
  CLI_TRY(CeedVectorCreate(s->ceed, s->size, &s->pc_state));
  CLI_TRY(CeedVectorCopy(s->state, s->pc_state));
  return problem_linearize(&s->problem, &s->problem.op, s->state, &s->jacobian);
}

// ---- Newton's method ----

// Since the last mark.
static void add_time(SolveNewton *n, double *seconds) {
  const double now = cli_seconds();

  *seconds += now - n->mark;
  n->mark = now;
}

// A RitzNewtonUpdateFunction.
static int update(void *ctx, CeedVector u) {
  const double most_change = 0.3; // iterations stay as they are with new values in each step
  SolveNewton *n = ctx;

  (void)u;
  n->mark = cli_seconds();
  if (!(n->change <= most_change)) {
    CLI_TRY(solve_update_preconditioner(n->solve));
    n->change = 0;
    n->num_updates++;
  }
  add_time(n, &n->updates);
  return CEED_ERROR_SUCCESS;
}

// A RitzMonitorFunction of linear solves.
static int look_at_clock(void *ctx, CeedInt it, double residual, bool *stop) {
  SolveNewton *n = ctx;

  (void)it;
  (void)residual;
  (void)stop;
  add_time(n, &n->solves);
  return CEED_ERROR_SUCCESS;
}

// A RitzMonitorFunction. With a Jacobian that does not change a step du ends at the residual of the linear
// solve; else (J(u + du) - J(u)) du / 2 is left. So the ratio of two residuals bounds the change where it
// counts.
static int look_at_step(void *ctx, CeedInt step, double residual, bool *stop) {
  SolveNewton *n = ctx;

  (void)stop;
  if (step > 0) n->change += residual / n->norm;
  n->norm = residual;
  if (cli_is_quiet() || !n->name) return CEED_ERROR_SUCCESS;
  fprintf(stderr, "  %s %-8.4g step %3" CeedInt_FMT "  |F| %9.3e\n", n->name, n->at, step, residual);
  return CEED_ERROR_SUCCESS;
}

int solve_create_newton(Solve *s, SolveNewton *n) {
  n->solve = s;
  CLI_TRY(CeedVectorCreate(s->ceed, s->size, &n->values));
  CLI_TRY(CeedVectorSetValue(n->values, 0));
  CLI_TRY(RitzNewtonCreate(s->ceed, &n->newton));
  CLI_TRY(s->transport ? RitzNewtonSetResidualFunction(n->newton, RitzPartOperatorApply, s->problem.op.parts)
                       : RitzNewtonSetResidual(n->newton, s->problem.op.whole));
  CLI_TRY(RitzNewtonSetLinearSolver(n->newton, s->solver));
  CLI_TRY(RitzNewtonSetState(n->newton, s->state));
  CLI_TRY(RitzNewtonSetUpdate(n->newton, update, n));
  CLI_TRY(RitzSolverSetMonitor(s->solver, look_at_clock, n));
  CLI_TRY(RitzNewtonSetBoundaryValues(n->newton, n->values));
  return RitzNewtonSetMonitor(n->newton, look_at_step, n);
}

void solve_destroy_newton(SolveNewton *n) {
  if (n->newton) RitzSolverSetMonitor(n->solve->solver, NULL, NULL);
  RitzNewtonDestroy(&n->newton);
  CeedVectorDestroy(&n->values);
}

int solve_set_newton_tolerance(SolveNewton *n, double atol) {
  const SolveOptions *o = &n->solve->options;

  return RitzNewtonSetTolerances(n->newton, o->tol, atol, o->newton_it ? o->newton_it : 30);
}

void solve_newton_jumps(SolveNewton *n) { n->change = INFINITY; }

// ---- Load steps ----

// A RitzLoadFunction.
static int set_load(void *ctx, double load) {
  LoadSteps *steps = ctx;
  SolveNewton *n = &steps->newton;

  if (load <= n->at) solve_newton_jumps(n); // u has gone back
  n->at = load;
  steps->num_solves++;
  CLI_TRY(set_pressures(n->solve, load));
  CLI_TRY(RitzVectorSum(n->solve->rhs, load, steps->full_loads, 0, CEED_VECTOR_NONE));
  return RitzVectorSum(n->values, load, steps->full_values, 0, CEED_VECTOR_NONE);
}

static int create_vectors(const Solve *s, LoadSteps *steps) {
  CLI_TRY(CeedVectorCreate(s->ceed, s->size, &steps->full_loads));
  CLI_TRY(CeedVectorCreate(s->ceed, s->size, &steps->full_values));
  CLI_TRY(CeedVectorCopy(s->rhs, steps->full_loads));
  CLI_TRY(CeedVectorCopy(s->u, steps->full_values));
  return CeedVectorCopy(s->state, s->u);
}

// From a good guess the residual has not far to fall: it is small beside all forces, those of parts with
// given values among them.
static int get_tolerance(const Solve *s, double *atol) {
  CeedVector forces = NULL;
  double square = 0;
  int ierr;

  *atol = 0;
  if (!s->start.words) return CEED_ERROR_SUCCESS;
  CLI_TRY(CeedVectorCreate(s->ceed, s->size, &forces));
  CLI_TRY_CLEANUP(set_pressures(s, 1));
  CLI_TRY_CLEANUP(CeedOperatorApply(s->problem.op.whole, s->u, forces, CEED_REQUEST_IMMEDIATE));
  ierr = RitzVectorDot(forces, forces, &square);
  *atol = s->options.tol * sqrt(square);
cleanup:
  CeedVectorDestroy(&forces);
  return ierr;
}

static int show_result(LoadSteps *steps, double reached, bool *converged) {
  const SolveNewton *n = &steps->newton;
  RitzNewtonReason reason = RITZ_NEWTON_ITERATING;
  CeedInt num_steps = 0, linear = 0;
  double first = 0, last = 0;

  CLI_TRY(RitzNewtonGetReason(n->newton, &reason));
  CLI_TRY(RitzNewtonGetIterations(n->newton, &num_steps, &linear));
  CLI_TRY(RitzNewtonGetResidual(n->newton, &first, &last));
  const CeedInt num_solves = steps->num_solves;

  *converged = reason > 0 && reached >= 1;
  cli_fact("result", "%s", RitzNewtonReasonName(reason));
  if (!*converged) CLI_TRY(set_load(steps, reached)); // the loads of u
  if (!*converged) cli_fact("load", "%.6g of the loads is reached, u is the solution there", reached);
  cli_fact("iterations",
           "%" CeedInt_FMT " in %" CeedInt_FMT " steps of Newton's method, %" CeedInt_FMT
           " load steps, residual %.3e to %.3e",
           linear, num_steps, num_solves, first, last);
  cli_fact("time",
           "%.3f s, %.3f of it linear solves, %.3f new values of the preconditioner, %" CeedInt_FMT " times",
           cli_seconds() - steps->start, n->solves, n->updates, n->num_updates);
  CLI_TRY(problem_share(&n->solve->problem, n->solve->u));
  return CeedVectorCopy(n->solve->u, n->solve->state);
}

static int run(Solve *s, LoadSteps *steps, bool *converged) {
  const SolveOptions *o = &s->options;
  SolveNewton *n = &steps->newton;
  double reached = 0, atol = 0;

  CLI_TRY(create_vectors(s, steps));
  CLI_TRY(get_tolerance(s, &atol));
  CLI_TRY(solve_create_newton(s, n));
  CLI_TRY(solve_set_newton_tolerance(n, atol));
  cli_fact("set-up", "%.3f s", cli_seconds() - s->setup_start);
  steps->start = cli_seconds();
  CLI_TRY(RitzNewtonSolveByLoads(n->newton, o->load_steps ? o->load_steps : 1, set_load, steps, s->rhs, s->u,
                                 &reached));
  return show_result(steps, reached, converged);
}

int solve_by_newton(Solve *s, bool *converged) {
  LoadSteps steps = {.newton = {.name = "load"}};
  const int ierr = run(s, &steps, converged);

  solve_destroy_newton(&steps.newton);
  CeedVectorDestroy(&steps.full_loads);
  CeedVectorDestroy(&steps.full_values);
  return ierr;
}
