// SPDX-License-Identifier: BSD-2-Clause
// Newton's method (contract in ritz/newton.h): the object, the method, load steps.
#include <math.h>
#include <ritz/newton.h>

#include "core/vector-pass.h"
#include "solver/solver.h"

const RitzClass ritz_newton_class = {.name = "RitzNewton"};

struct RitzNewton_private {
  const RitzClass *class;
  Ceed ceed;                  // counted
  CeedOperator op;            // counted: F; NULL when `residual` is used
  RitzApplyFunction residual; // NULL when `op` is used
  void *residual_ctx;         // borrowed
  RitzSolver solver;          // borrowed
  CeedVector state, values;   // counted; NULL: none
  RitzNewtonUpdateFunction update;
  void *update_ctx; // borrowed
  double rtol, atol;
  CeedInt max_it;
  double first_forcing, most_forcing;
  RitzMonitorFunction monitor;
  void *monitor_ctx; // borrowed
  // How the last solve ended.
  RitzNewtonReason reason;
  CeedInt steps, linear;
  double initial_residual, final_residual;
};

// ---- The object ----

const char *RitzNewtonReasonName(RitzNewtonReason reason) {
  switch (reason) {
  case RITZ_NEWTON_CONVERGED_RTOL: return "converged: the residual fell below the relative tolerance";
  case RITZ_NEWTON_CONVERGED_ATOL: return "converged: the residual fell below the absolute tolerance";
  case RITZ_NEWTON_CONVERGED_ROUNDING: return "converged: the residual is of the size of rounding";
  case RITZ_NEWTON_ITERATING: return "no solve has ended";
  case RITZ_NEWTON_DIVERGED_MAX_IT: return "not converged: the limit of steps was reached";
  case RITZ_NEWTON_DIVERGED_NAN:
    return "not converged: the residual of the first guess is not a finite number";
  case RITZ_NEWTON_DIVERGED_LINE_SEARCH:
    return "not converged: no step along Newton's direction lessens the residual";
  case RITZ_NEWTON_DIVERGED_LINEAR: return "not converged: the linear solver failed";
  case RITZ_NEWTON_DIVERGED_MONITOR: return "not converged: the monitor asked to stop";
  }
  return "unknown reason";
}

int RitzNewtonCreate(Ceed ceed, RitzNewton *newton) {
  RitzNewton created = NULL;

  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, newton);
  *newton = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &created));
  const int ierr = CeedReferenceCopy(ceed, &created->ceed);
  if (ierr) {
    RITZ_FREE(&created);
    return ierr;
  }
  created->class = &ritz_newton_class;
  created->rtol = 1e-8;
  created->max_it = 30;
  created->first_forcing = created->most_forcing = 0.1;
  *newton = created;
  return CEED_ERROR_SUCCESS;
}

int RitzNewtonDestroy(RitzNewton *newton) {
  if (!newton || !*newton) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "newton", *newton, &ritz_newton_class));
  RitzNewton n = *newton;
  Ceed ceed = n->ceed;

  *newton = NULL;
  int ierr = CeedOperatorDestroy(&n->op);
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&n->state));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&n->values));
  RITZ_FREE(&n);
  return ritz_first_error(ierr, CeedDestroy(&ceed));
}

int RitzNewtonSetResidual(RitzNewton newton, CeedOperator op) {
  RITZ_HANDLE(newton, op);
  RITZ_ARGUMENT(newton, op);
  newton->residual = NULL;
  return CeedOperatorReferenceCopy(op, &newton->op);
}

int RitzNewtonSetResidualFunction(RitzNewton newton, RitzApplyFunction residual, void *ctx) {
  RITZ_HANDLE(newton);
  RITZ_REQUIRE(residual, newton->ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'residual' is NULL", __func__);
  newton->residual = residual;
  newton->residual_ctx = ctx;
  return CeedOperatorDestroy(&newton->op);
}

int RitzNewtonSetLinearSolver(RitzNewton newton, RitzSolver solver) {
  RITZ_HANDLE(newton, solver);
  RITZ_ARGUMENT(newton, solver);
  newton->solver = solver;
  return CEED_ERROR_SUCCESS;
}

static int set_vector(CeedVector vector, CeedVector *place) {
  return vector ? CeedVectorReferenceCopy(vector, place) : CeedVectorDestroy(place);
}

int RitzNewtonSetState(RitzNewton newton, CeedVector state) {
  RITZ_HANDLE(newton, state);
  RITZ_OPTIONAL(newton->ceed, state);
  return set_vector(state, &newton->state);
}

int RitzNewtonSetBoundaryValues(RitzNewton newton, CeedVector values) {
  RITZ_HANDLE(newton, values);
  RITZ_OPTIONAL(newton->ceed, values);
  return set_vector(values, &newton->values);
}

int RitzNewtonSetUpdate(RitzNewton newton, RitzNewtonUpdateFunction update, void *ctx) {
  RITZ_HANDLE(newton);
  newton->update = update;
  newton->update_ctx = ctx;
  return CEED_ERROR_SUCCESS;
}

int RitzNewtonSetTolerances(RitzNewton newton, double rtol, double atol, CeedInt max_it) {
  RITZ_HANDLE(newton);
  RITZ_REQUIRE(rtol >= 0 && atol >= 0 && max_it >= 0, newton->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: tolerances %g and %g, %" CeedInt_FMT " steps: none may be negative or not a number",
               __func__, rtol, atol, max_it);
  newton->rtol = rtol;
  newton->atol = atol;
  newton->max_it = max_it;
  return CEED_ERROR_SUCCESS;
}

int RitzNewtonSetForcing(RitzNewton newton, double first, double most) {
  RITZ_HANDLE(newton);
  RITZ_REQUIRE(first > 0 && first < 1 && most > 0 && most < 1, newton->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: accuracies %g and %g, needed numbers between 0 and 1", __func__, first, most);
  newton->first_forcing = first;
  newton->most_forcing = most;
  return CEED_ERROR_SUCCESS;
}

int RitzNewtonSetMonitor(RitzNewton newton, RitzMonitorFunction monitor, void *ctx) {
  RITZ_HANDLE(newton);
  newton->monitor = monitor;
  newton->monitor_ctx = ctx;
  return CEED_ERROR_SUCCESS;
}

int RitzNewtonGetReason(RitzNewton newton, RitzNewtonReason *reason) {
  RITZ_HANDLE(newton);
  RITZ_ARGUMENT(newton, reason);
  *reason = newton->reason;
  return CEED_ERROR_SUCCESS;
}

int RitzNewtonGetIterations(RitzNewton newton, CeedInt *steps, CeedInt *linear) {
  RITZ_HANDLE(newton);
  if (steps) *steps = newton->steps;
  if (linear) *linear = newton->linear;
  return CEED_ERROR_SUCCESS;
}

int RitzNewtonGetResidual(RitzNewton newton, double *initial, double *final) {
  RITZ_HANDLE(newton);
  if (initial) *initial = newton->initial_residual;
  if (final) *final = newton->final_residual;
  return CEED_ERROR_SUCCESS;
}

// ---- A solve ----

typedef struct {
  RitzNewton newton;
  CeedVector b, u;                        // borrowed; b NULL: 0
  CeedVector r, du, trial, trial_r, lift; // owned; lift: g - u at constrained entries, NULL without values
  double norm, reference;                 // |r|; what rtol is of, -1: not known yet
  double forcing;                         // of the next linear solve
  bool is_lifting;                        // boundary values are not there yet
} Newton;

static int create_vectors(Newton *n) {
  CeedVector *const all[] = {&n->r, &n->du, &n->trial, &n->trial_r, n->newton->values ? &n->lift : NULL};
  CeedSize length = 0;

  RITZ_TRY(CeedVectorGetLength(n->u, &length));
  for (int i = 0; i < 5; i++) {
    if (!all[i]) continue;
    RITZ_TRY(CeedVectorCreate(n->newton->ceed, length, all[i]));
    RITZ_TRY(CeedVectorSetValue(*all[i], 0));
  }
  return CEED_ERROR_SUCCESS;
}

static int destroy_vectors(Newton *n) {
  CeedVector *const all[] = {&n->r, &n->du, &n->trial, &n->trial_r, &n->lift};
  int ierr = CEED_ERROR_SUCCESS;

  for (int i = 0; i < 5; i++) ierr = ritz_first_error(ierr, CeedVectorDestroy(all[i]));
  return ierr;
}

// |v|, in parts of a larger problem that of all parts.
static int find_norm(const Newton *n, CeedVector v, double *norm) {
  const RitzSolver solver = n->newton->solver;
  Ceed ceed = v->obj.ceed;
  const RitzSums sums = ritz_solver_sums(solver, ceed == solver->ceed, v->length);
  const RitzSums before = ritz_sums_set(ceed, &sums);
  const int ierr = RitzVectorDot(v, v, norm);

  (void)ritz_sums_set(ceed, &before);
  *norm = sqrt(*norm);
  return ierr;
}

// r := F(u) - b on free entries, 0 on others; its norm.
static int evaluate(const Newton *n, CeedVector u, CeedVector r, double *norm) {
  const RitzNewton newton = n->newton;

  RITZ_TRY(newton->residual ? newton->residual(newton->residual_ctx, u, r)
                            : CeedOperatorApply(newton->op, u, r, CEED_REQUEST_IMMEDIATE));
  if (n->b) RITZ_TRY(RitzVectorSum(r, 1, r, -1, n->b));
  RITZ_TRY(RitzVectorSetEntries(r, newton->solver->constraints, 0));
  return find_norm(n, r, norm);
}

// du := g - u at constrained entries, else 0.
static int begin_step(Newton *n) {
  const RitzIndices constraints = n->newton->solver->constraints;
  double norm = 0;

  RITZ_TRY(CeedVectorSetValue(n->du, 0));
  n->is_lifting = false;
  if (!n->lift) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzVectorSum(n->lift, 1, n->newton->values, -1, n->u));
  RITZ_TRY(RitzVectorCopyEntries(n->lift, constraints, n->du));
  RITZ_TRY(find_norm(n, n->du, &norm));
  n->is_lifting = norm > 0;
  return CEED_ERROR_SUCCESS;
}

static int call_monitor(const Newton *n, bool *stop) {
  const RitzNewton newton = n->newton;

  *stop = false;
  return newton->monitor ? newton->monitor(newton->monitor_ctx, newton->steps, n->norm, stop)
                         : CEED_ERROR_SUCCESS;
}

// Sets the reason when the solve is over. begin_step has been called.
static int judge(Newton *n) {
  RitzNewton newton = n->newton;
  bool stop = false;

  newton->final_residual = n->norm;
  RITZ_TRY(call_monitor(n, &stop));
  if (!n->is_lifting && n->reference < 0) n->reference = n->norm;
  if (!isfinite(n->norm))
    newton->reason = RITZ_NEWTON_DIVERGED_NAN;
  else if (!n->is_lifting && n->norm <= newton->atol)
    newton->reason = RITZ_NEWTON_CONVERGED_ATOL;
  else if (!n->is_lifting && n->norm <= newton->rtol * n->reference)
    newton->reason = RITZ_NEWTON_CONVERGED_RTOL;
  else if (stop)
    newton->reason = RITZ_NEWTON_DIVERGED_MONITOR;
  else if (newton->steps >= newton->max_it)
    newton->reason = RITZ_NEWTON_DIVERGED_MAX_IT;
  return CEED_ERROR_SUCCESS;
}

// Does not ask for more than the solve needs.
static double accuracy(const Newton *n) {
  const double needed = fmax(n->newton->rtol * n->reference, n->newton->atol) / n->norm;
  return n->is_lifting || !(needed > 0) ? n->forcing
                                        : fmin(fmax(n->forcing, needed / 2), n->newton->most_forcing);
}

// The state, and what depends on it. In parts ghosts of u get the values of their owners.
static int set_state(Newton *n) {
  RitzNewton newton = n->newton;
  const RitzSolver solver = newton->solver;

  if ((newton->state || newton->update) && solver->parts.update_ghosts)
    RITZ_TRY(solver->parts.update_ghosts(solver->apply_ctx, n->u, NULL, 0, 0));
  if (newton->state) RITZ_TRY(CeedVectorCopy(n->u, newton->state));
  return newton->update ? newton->update(newton->update_ctx, n->u) : CEED_ERROR_SUCCESS;
}

// du: J du = -r.
static int solve_step(Newton *n) {
  RitzNewton newton = n->newton;
  RitzSolver solver = newton->solver;
  const double rtol = solver->rtol;

  RITZ_TRY(set_state(n));
  RITZ_TRY(CeedVectorScale(n->r, -1));
  solver->rtol = accuracy(n);
  const int ierr = RitzSolverSolve(solver, n->r, n->du);
  solver->rtol = rtol;
  newton->linear += solver->iterations;
  return ierr;
}

// The least point of the parabola of |F|^2 / 2 through s = 0, with the slope that Newton's direction has
// there, and s.
static double shorten(double s, double norm, double trial_norm) {
  const double least = 0.1 * s, most = 0.5 * s;
  if (!isfinite(trial_norm)) return least;
  const double before = norm * norm, after = trial_norm * trial_norm;
  const double parabola = before * s * s / (after - before + 2 * before * s);
  return fmin(fmax(parabola, least), most);
}

// u := u + s du with its residual in r; *is_found false: u and r stay (r: minus that of u).
static int search(Newton *n, bool *is_found) {
  enum { MOST = 12 };
  double s = 1, trial_norm = 0;

  *is_found = false;
  for (int i = 0; i < MOST && !*is_found; i++) {
    RITZ_TRY(RitzVectorSum(n->trial, 1, n->u, s, n->du));
    RITZ_TRY(evaluate(n, n->trial, n->trial_r, &trial_norm));
    *is_found = isfinite(trial_norm) && (n->is_lifting || trial_norm <= (1 - 1e-4 * s) * n->norm);
    if (!*is_found) s = shorten(s, n->norm, trial_norm);
  }
  if (!*is_found) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedVectorCopy(n->trial, n->u));
  RITZ_TRY(CeedVectorCopy(n->trial_r, n->r));
  const double ratio = n->norm > 0 ? trial_norm / n->norm : 0, before = 0.9 * n->forcing * n->forcing;
  n->forcing = n->is_lifting ? n->newton->first_forcing : 0.9 * ratio * ratio;
  if (before > 0.1) n->forcing = fmax(n->forcing, before);
  n->forcing = fmin(n->forcing, n->newton->most_forcing);
  n->norm = trial_norm;
  return CEED_ERROR_SUCCESS;
}

// No step was found: whether that is rounding.
static int judge_failure(Newton *n) {
  double step = 0, size = 0;

  RITZ_TRY(find_norm(n, n->du, &step));
  RITZ_TRY(find_norm(n, n->u, &size));
  n->newton->reason =
      step <= 1000 * CEED_EPSILON * size ? RITZ_NEWTON_CONVERGED_ROUNDING : RITZ_NEWTON_DIVERGED_LINE_SEARCH;
  return CEED_ERROR_SUCCESS;
}

static int iterate(Newton *n) {
  RitzNewton newton = n->newton;
  bool is_found = false;

  RITZ_TRY(evaluate(n, n->u, n->r, &n->norm));
  newton->initial_residual = n->norm;
  RITZ_TRY(begin_step(n));
  RITZ_TRY(judge(n));
  while (newton->reason == RITZ_NEWTON_ITERATING) {
    RITZ_TRY(solve_step(n));
    if (newton->solver->reason < 0 && newton->solver->reason != RITZ_DIVERGED_MAX_IT) {
      newton->reason = RITZ_NEWTON_DIVERGED_LINEAR;
      break;
    }
    RITZ_TRY(search(n, &is_found));
    if (!is_found) return judge_failure(n);
    newton->steps++;
    RITZ_TRY(begin_step(n));
    RITZ_TRY(judge(n));
  }
  return CEED_ERROR_SUCCESS;
}

static int check_newton_length(RitzNewton newton, const char *what, CeedVector vector, CeedSize needed) {
  CeedSize length = needed;

  if (vector) RITZ_TRY(CeedVectorGetLength(vector, &length));
  RITZ_REQUIRE(length == needed, newton->ceed, CEED_ERROR_DIMENSION,
               "RitzNewtonSolve: %s has %lld entries, the unknown %lld", what, (long long)length,
               (long long)needed);
  return CEED_ERROR_SUCCESS;
}

static int check_solve(RitzNewton newton, CeedVector b, CeedVector u) {
  CeedSize length = 0;

  RITZ_REQUIRE(newton->op || newton->residual, newton->ceed, CEED_ERROR_INCOMPLETE,
               "RitzNewtonSolve: no residual is set (RitzNewtonSetResidual)");
  RITZ_REQUIRE(newton->solver, newton->ceed, CEED_ERROR_INCOMPLETE,
               "RitzNewtonSolve: no linear solver is set (RitzNewtonSetLinearSolver)");
  RITZ_REQUIRE(!newton->solver->reduce || newton->residual, newton->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzNewtonSolve: the linear solver is that of a part of a larger problem, the residual an "
               "operator of this part alone: needed RitzNewtonSetResidualFunction, as with "
               "RitzPartOperatorApply");
  RITZ_TRY(CeedVectorGetLength(u, &length));
  RITZ_TRY(check_newton_length(newton, "b", b, length));
  RITZ_TRY(check_newton_length(newton, "the state", newton->state, length));
  return check_newton_length(newton, "the vector of boundary values", newton->values, length);
}

// Counts go on.
static int solve_counted(RitzNewton newton, CeedVector b, CeedVector u) {
  Newton n = {.newton = newton, .b = b, .u = u, .reference = -1, .forcing = newton->first_forcing};
  const CeedInt before = newton->steps;

  newton->reason = RITZ_NEWTON_ITERATING;
  newton->steps = 0;
  int ierr = create_vectors(&n);
  if (!ierr) ierr = iterate(&n);
  if (!ierr) ierr = ritz_solver_clear_others(newton->solver, u);
  if (ierr) newton->reason = RITZ_NEWTON_ITERATING;
  newton->steps += before;
  return ritz_first_error(ierr, destroy_vectors(&n));
}

int RitzNewtonSolve(RitzNewton newton, CeedVector b, CeedVector u) {
  RITZ_HANDLE(newton, u, b);
  RITZ_ARGUMENT(newton, u);
  RITZ_OPTIONAL(newton->ceed, b);
  RITZ_TRY(check_solve(newton, b, u));
  newton->steps = newton->linear = 0;
  return solve_counted(newton, b, u);
}

// ---- Loads ----

// From `load`, which u is the solution of, by steps of `first` at most; kept: a vector like u.
static int follow_loads(RitzNewton newton, double first, RitzLoadFunction set_load, void *ctx, CeedVector b,
                        CeedVector u, CeedVector kept, double *load) {
  double step = first;

  while (*load < 1 && step >= first / 1024) {
    const double next = *load + step > 1 - 1e-12 ? 1 : *load + step;

    RITZ_TRY(CeedVectorCopy(u, kept));
    RITZ_TRY(set_load(ctx, next));
    RITZ_TRY(solve_counted(newton, b, u));
    if (newton->reason > 0) {
      *load = next;
      step = fmin(2 * step, first);
    } else {
      RITZ_TRY(CeedVectorCopy(kept, u));
      if (newton->reason == RITZ_NEWTON_DIVERGED_MONITOR) break;
      step /= 2;
    }
  }
  return *load < 1 ? set_load(ctx, *load) : CEED_ERROR_SUCCESS;
}

int RitzNewtonSolveByLoads(RitzNewton newton, CeedInt num_steps, RitzLoadFunction set_load, void *ctx,
                           CeedVector b, CeedVector u, double *reached) {
  CeedVector kept = NULL;
  CeedSize length = 0;
  double load = 0;

  RITZ_HANDLE(newton, u, b);
  RITZ_ARGUMENT(newton, u);
  RITZ_OPTIONAL(newton->ceed, b);
  RITZ_REQUIRE(num_steps >= 1, newton->ceed, CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT " load steps, needed at least 1", __func__, num_steps);
  RITZ_REQUIRE(set_load, newton->ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'set_load' is NULL", __func__);
  RITZ_TRY(check_solve(newton, b, u));
  newton->steps = newton->linear = 0;
  RITZ_TRY(CeedVectorGetLength(u, &length));
  RITZ_TRY(CeedVectorCreate(newton->ceed, length, &kept));
  const int ierr = follow_loads(newton, 1.0 / num_steps, set_load, ctx, b, u, kept, &load);
  if (reached) *reached = load;
  return ritz_first_error(ierr, CeedVectorDestroy(&kept));
}
