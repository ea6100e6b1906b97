// SPDX-License-Identifier: BSD-2-Clause
// Nonlinear problems of `ritz solve`: Newton's method in load steps. The Jacobian is the derivative of the
// problem's operator at the state, its preconditioner is made anew before each linear solve, with the state
// on all levels of multigrid.
#include <ritz/derivative.h>
#include <ritz/function.h>
#include <ritz/newton.h>
#include <stdlib.h>

#include "cli/solve.h"

typedef struct {
  Solve *s;
  CeedVector full_loads, full_values, values; // owned: at load 1; at the load of the step
  CeedInt num_solves;
  double load, start;
  bool is_new; // the preconditioner belongs to the state
} LoadSteps;

// ---- Levels ----

// The state on a level: its values at the level's nodes. Nodes that are found in no element, by rounding,
// have none: this is for preconditioners alone.
static int create_level_state(const Solve *s, RitzSpace space, CeedVector *state) {
  double *x = NULL;
  CeedScalar *values = NULL;
  int64_t num_nodes = 0;
  CeedSize size = 0;
  int ierr;

  CLI_TRY(RitzSpaceGetNumNodes(space, &num_nodes));
  CLI_TRY(RitzSpaceGetSize(space, &size));
  CLI_TRY(cli_allocate(s->ceed, (size_t)num_nodes * (size_t)s->space_dim, sizeof(*x), &x));
  CLI_TRY_CLEANUP(CeedVectorCreate(s->ceed, size, state));
  CLI_TRY_CLEANUP(RitzSpaceGetNodeCoordinates(space, x));
  CLI_TRY_CLEANUP(CeedVectorGetArrayWrite(*state, CEED_MEM_HOST, &values));
  ierr = RitzSpaceEvaluate(s->problem.space, s->locator, s->state, num_nodes, x, values, NULL);
  for (CeedSize i = 0; i < size && !ierr; i++) {
    if (values[i] != values[i]) values[i] = 0;
  }
  const int restored = CeedVectorRestoreArray(*state, &values);

  ierr = ierr ? ierr : restored;
cleanup:
  free(x);
  return ierr;
}

// Bodies: the Jacobian of the stress, without that of pressures. A conductivity makes it unsymmetric: the
// operator whose k does not move.
static int linearize_level(Solve *s, RitzSpace space, CeedVector state, CeedOperator *op) {
  CeedOperator residual = NULL;
  int ierr;

  if (s->conductivity) return problem_create_picard(&s->problem, space, state, op);
  CLI_TRY(problem_create_level(&s->problem, space, &residual));
  ierr = RitzOperatorCreateDerivative(residual, state, op);
  CeedOperatorDestroy(&residual);
  return ierr;
}

int solve_create_level_linear(Solve *s, RitzSpace space, CeedOperator *op) {
  CeedVector state = NULL;
  int ierr = space == s->problem.space ? CeedVectorReferenceCopy(s->state, &state)
                                       : create_level_state(s, space, &state);

  if (!ierr) ierr = linearize_level(s, space, state, op);
  CeedVectorDestroy(&state);
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
  return RitzOperatorSetUse(s->problem.op.whole, RITZ_USE_NO_WAIT);
}

int solve_create_jacobian(Solve *s) {
  CLI_TRY(add_pressures(s));
  CLI_TRY(CeedVectorCreate(s->ceed, s->size, &s->state));
  CLI_TRY(CeedVectorSetValue(s->state, 0));
  CLI_TRY(RitzLocatorCreate(s->mesh, -1, &s->locator));
  return RitzOperatorCreateDerivative(s->problem.op.whole, s->state, &s->jacobian.whole);
}

// ---- Steps ----

// A RitzNewtonUpdateFunction.
static int update(void *ctx, CeedVector u) {
  LoadSteps *steps = ctx;

  (void)u;
  if (!steps->is_new) CLI_TRY(solve_renew_preconditioner(steps->s));
  steps->is_new = false;
  return CEED_ERROR_SUCCESS;
}

// A RitzLoadFunction.
static int set_load(void *ctx, double load) {
  LoadSteps *steps = ctx;

  steps->load = load;
  steps->num_solves++;
  CLI_TRY(set_pressures(steps->s, load));
  CLI_TRY(RitzVectorSum(steps->s->rhs, load, steps->full_loads, 0, CEED_VECTOR_NONE));
  return RitzVectorSum(steps->values, load, steps->full_values, 0, CEED_VECTOR_NONE);
}

// A RitzMonitorFunction.
static int show_step(void *ctx, CeedInt step, double residual, bool *stop) {
  const LoadSteps *steps = ctx;

  (void)stop;
  fprintf(stderr, "  load %-8.4g step %3" CeedInt_FMT "  |F| %9.3e\n", steps->load, step, residual);
  return CEED_ERROR_SUCCESS;
}

static int create_vectors(LoadSteps *steps) {
  Solve *s = steps->s;
  CeedVector *const vectors[] = {&steps->full_loads, &steps->full_values, &steps->values};

  for (int i = 0; i < 3; i++) CLI_TRY(CeedVectorCreate(s->ceed, s->size, vectors[i]));
  CLI_TRY(CeedVectorCopy(s->rhs, steps->full_loads));
  CLI_TRY(CeedVectorCopy(s->u, steps->full_values));
  return CeedVectorSetValue(s->u, 0);
}

static int show_result(LoadSteps *steps, RitzNewton newton, double reached, bool *converged) {
  const Solve *s = steps->s;
  RitzNewtonReason reason = RITZ_NEWTON_ITERATING;
  CeedInt num_steps = 0, linear = 0;
  double first = 0, last = 0;

  CLI_TRY(RitzNewtonGetReason(newton, &reason));
  CLI_TRY(RitzNewtonGetIterations(newton, &num_steps, &linear));
  CLI_TRY(RitzNewtonGetResidual(newton, &first, &last));
  const CeedInt num_solves = steps->num_solves;

  *converged = reason > 0 && reached >= 1;
  cli_fact("result", "%s", RitzNewtonReasonName(reason));
  if (!*converged) CLI_TRY(set_load(steps, reached)); // the loads of u
  if (!*converged) cli_fact("load", "%.6g of the loads is reached, u is the solution there", reached);
  cli_fact("iterations",
           "%" CeedInt_FMT " in %" CeedInt_FMT " steps of Newton's method, %" CeedInt_FMT
           " load steps, residual %.3e to %.3e",
           linear, num_steps, num_solves, first, last);
  cli_fact("time", "%.3f s", cli_seconds() - steps->start);
  return CeedVectorCopy(s->u, s->state);
}

static int run(LoadSteps *steps, RitzNewton newton, bool *converged) {
  Solve *s = steps->s;
  double reached = 0;

  CLI_TRY(RitzNewtonSetResidual(newton, s->problem.op.whole));
  CLI_TRY(RitzNewtonSetLinearSolver(newton, s->solver));
  CLI_TRY(RitzNewtonSetState(newton, s->state));
  CLI_TRY(RitzNewtonSetUpdate(newton, update, steps));
  CLI_TRY(RitzNewtonSetBoundaryValues(newton, steps->values));
  CLI_TRY(
      RitzNewtonSetTolerances(newton, s->options.tol, 0, s->options.newton_it ? s->options.newton_it : 30));
  CLI_TRY(RitzNewtonSetMonitor(newton, cli_is_quiet() ? NULL : show_step, steps));
  cli_fact("set-up", "%.3f s", cli_seconds() - s->setup_start);
  steps->start = cli_seconds();
  CLI_TRY(RitzNewtonSolveByLoads(newton, s->options.load_steps ? s->options.load_steps : 1, set_load, steps,
                                 s->rhs, s->u, &reached));
  return show_result(steps, newton, reached, converged);
}

int solve_by_newton(Solve *s, bool *converged) {
  LoadSteps steps = {.s = s, .is_new = true};
  RitzNewton newton = NULL;
  int ierr;

  CLI_TRY_CLEANUP(create_vectors(&steps));
  CLI_TRY_CLEANUP(RitzNewtonCreate(s->ceed, &newton));
  ierr = run(&steps, newton, converged);
cleanup:
  RitzNewtonDestroy(&newton);
  CeedVectorDestroy(&steps.full_loads);
  CeedVectorDestroy(&steps.full_values);
  CeedVectorDestroy(&steps.values);
  return ierr;
}
