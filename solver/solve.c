// SPDX-License-Identifier: BSD-2-Clause
// A solve from the outside: checks, the system without its constrained entries, vectors in the context that
// computes, the preconditioner, the choice of the method; and what all methods do alike: residuals, when to
// stop. The iterations are left to cg*.c, minres.c, gmres.c, stationary.c.
#include <math.h>

#include <ritz/operator.h>

#include "solver/cg.h"
#include "solver/solver.h"

// ---- Checks ----

static int check_operator(RitzSolver solver, CeedSize n) {
  CeedSize input = 0, output = 0;

  if (solver->apply) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(solver->op != NULL, solver->ceed, CEED_ERROR_INCOMPLETE,
               "RitzSolverSolve: no operator is set: call RitzSolverSetOperator or RitzSolverSetApply first");
  RITZ_TRY(CeedOperatorGetActiveVectorLengths(solver->op, &input, &output));
  RITZ_REQUIRE(input >= 0 && output >= 0, solver->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzSolverSolve: the operator has no active %s vector", input < 0 ? "input" : "output");
  RITZ_REQUIRE(input == n && output == n, solver->ceed, CEED_ERROR_DIMENSION,
               "RitzSolverSolve: the operator maps %" CeedSize_FMT " to %" CeedSize_FMT
               " entries, b and x have %" CeedSize_FMT,
               input, output, n);
  return CEED_ERROR_SUCCESS;
}

static bool needs_symmetric(RitzSolverType type) {
  return type == RITZ_SOLVER_CG || type == RITZ_SOLVER_MINRES || type == RITZ_SOLVER_CHEBYSHEV;
}

static int check_preconditioner(RitzSolver solver, CeedSize n) {
  const char *symmetric_form = solver->pc ? solver->pc->methods->symmetric_form : NULL;

  RITZ_REQUIRE(!solver->pc || solver->pc->n == n, solver->ceed, CEED_ERROR_DIMENSION,
               "RitzSolverSolve: the preconditioner has %" CeedSize_FMT
               " entries, b and x have %" CeedSize_FMT,
               solver->pc->n, n);
  RITZ_REQUIRE(
      !solver->pc || solver->pc->is_symmetric || !needs_symmetric(solver->type), solver->ceed,
      CEED_ERROR_INCOMPATIBLE,
      "RitzSolverSolve: %s needs a fixed symmetric preconditioner, '%s' is not: use the flexible %s%s%s",
      RitzSolverTypeName(solver->type), solver->pc->methods->name,
      solver->type == RITZ_SOLVER_CG ? "RITZ_SOLVER_FLEXIBLE_CG" : "RITZ_SOLVER_FGMRES",
      symmetric_form ? ", or " : "", symmetric_form ? symmetric_form : "");
  if (!solver->diagonal) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_vector_require_precision(solver->diagonal, "RitzSolverSolve", CEED_SCALAR_TYPE));
  RITZ_REQUIRE(solver->diagonal->length == n, solver->ceed, CEED_ERROR_DIMENSION,
               "RitzSolverSolve: the diagonal has %" CeedSize_FMT " entries, b and x have %" CeedSize_FMT,
               solver->diagonal->length, n);
  return CEED_ERROR_SUCCESS;
}

static int check_extras(RitzSolver solver, CeedSize n) {
  const int64_t *entries = NULL;
  int64_t num = 0;

  RITZ_TRY(check_preconditioner(solver, n));
  RITZ_REQUIRE(solver->num_null == 0 || solver->null[0]->length == n, solver->ceed, CEED_ERROR_DIMENSION,
               "RitzSolverSolve: vectors of the nullspace have %" CeedSize_FMT
               " entries, b and x have %" CeedSize_FMT,
               solver->null[0]->length, n);
  if (!solver->constraints) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzIndicesGet(solver->constraints, &num, &entries));
  RITZ_REQUIRE(num == 0 || entries[num - 1] < (int64_t)n, solver->ceed, CEED_ERROR_DIMENSION,
               "RitzSolverSolve: entry %lld is constrained, b and x have %" CeedSize_FMT " entries",
               (long long)entries[num - 1], n);
  return CEED_ERROR_SUCCESS;
}

// In a part of a larger problem.
static int check_reduction(RitzSolver solver, CeedSize n) {
  if (!solver->reduce) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(
      !solver->op, solver->ceed, CEED_ERROR_INCOMPATIBLE,
      "RitzSolverSolve: products are reduced over parts, but the operator is of this part alone: needed "
      "RitzSolverSetPartOperator or RitzSolverSetApply, or no reduction");
  RITZ_REQUIRE(solver->num_owned <= n, solver->ceed, CEED_ERROR_DIMENSION,
               "RitzSolverSolve: %" CeedSize_FMT " entries are of this part, b and x have %" CeedSize_FMT,
               solver->num_owned, n);
  return CEED_ERROR_SUCCESS;
}

static int check_solve(RitzSolver solver, CeedVector b, CeedVector x) {
  RITZ_ARGUMENT_OF(solver->ceed, "RitzSolverSolve", b);
  RITZ_ARGUMENT_OF(solver->ceed, "RitzSolverSolve", x);
  RITZ_REQUIRE(!ritz_vectors_meet(b, x), solver->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzSolverSolve: b and x %s, they need to be different", ritz_vectors_meet(b, x));
  RITZ_TRY(ritz_vector_require_precision(x, "RitzSolverSolve", CEED_SCALAR_TYPE));
  RITZ_TRY(ritz_vector_require_precision(b, "RitzSolverSolve", CEED_SCALAR_TYPE));
  RITZ_REQUIRE(b->length == x->length, solver->ceed, CEED_ERROR_DIMENSION,
               "RitzSolverSolve: b has %" CeedSize_FMT " entries, x has %" CeedSize_FMT, b->length,
               x->length);
  RITZ_TRY(check_reduction(solver, x->length));
  RITZ_TRY(check_operator(solver, x->length));
  return check_extras(solver, x->length);
}

// ---- Preparation ----

// *here: the vector itself where it belongs to the context that computes, else a copy.
static int bring(const RitzSolve *solve, CeedVector v, CeedVector *here) {
  if (v->obj.ceed == solve->system.ceed) return CeedVectorReferenceCopy(v, here);
  RITZ_TRY(ritz_workspace_vector(solve->work, solve->system.ceed, v->length, CEED_SCALAR_TYPE, here));
  return RitzVectorConvert(v, *here);
}

// solver->jacobi as the diagonal is now; NULL: it is of no use. Its entries pass through the host, so what an
// earlier solve has made serves again where no part's diagonal has changed.
static int update_jacobi(RitzSolver solver, Ceed ceed) {
  uint64_t state = 0;
  int64_t bad_entry = -1;

  RITZ_TRY(CeedVectorGetState(solver->diagonal, &state));
  double is_old = !solver->jacobi || solver->jacobi->ceed != ceed || solver->diagonal_state != state;
  RITZ_TRY(ritz_reduce(ceed, RITZ_REDUCTION_MAX, 1, &is_old));
  if (is_old == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzPreconditionerDestroy(&solver->jacobi));
  solver->diagonal_state = state;
  return ritz_jacobi_create(ceed, "RitzSolverSolve", CEED_SCALAR_TYPE, solver->diagonal, solver->constraints,
                            &bad_entry, &solver->jacobi);
}

static int prepare_preconditioner(RitzSolver solver, RitzSolve *solve) {
  if (solver->pc) return RitzPreconditionerReferenceCopy(solver->pc, &solve->pc);
  if (!solver->diagonal) return CEED_ERROR_SUCCESS;
  RITZ_TRY(update_jacobi(solver, solve->system.ceed));
  solve->is_bad_diagonal = !solver->jacobi;
  return solver->jacobi ? RitzPreconditionerReferenceCopy(solver->jacobi, &solve->pc) : CEED_ERROR_SUCCESS;
}

static int prepare_method(RitzSolver solver, CeedVector b, CeedVector x, RitzSolve *solve) {
  RITZ_TRY(ritz_system_create(solver->ceed, solver->op, solver->apply, solver->apply_ctx, solver->constraints,
                              &solve->system));
  RITZ_TRY(bring(solve, b, &solve->b));
  RITZ_TRY(bring(solve, x, &solve->x));
  RITZ_TRY(ritz_system_set_nullspace(&solve->system, "RitzSolverSolve", CEED_SCALAR_TYPE, solver->num_null,
                                     solver->null));
  return prepare_preconditioner(solver, solve);
}

static int run_method(RitzSolver solver, const RitzSolve *solve) {
  switch (solver->type) {
  case RITZ_SOLVER_CG:
  case RITZ_SOLVER_FLEXIBLE_CG: return ritz_cg_solve(solver, solve);
  case RITZ_SOLVER_MINRES: return ritz_minres_solve(solver, solve);
  case RITZ_SOLVER_GMRES:
  case RITZ_SOLVER_FGMRES: return ritz_gmres_solve(solver, solve);
  case RITZ_SOLVER_CHEBYSHEV:
  case RITZ_SOLVER_RICHARDSON: return ritz_stationary_solve(solver, solve);
  }
  return CEED_ERROR_MAJOR;
}

// Until the residual of x itself is what the method says, or will not be.
static int run_methods(RitzSolver solver, const RitzSolve *solve) {
  bool goes_on = true;

  for (solver->is_resumed = false; goes_on; solver->is_resumed = true) {
    RITZ_TRY(run_method(solver, solve));
    RITZ_TRY(ritz_solve_verify(solver, solve, &goes_on));
  }
  return CEED_ERROR_SUCCESS;
}

RitzSums ritz_solver_sums(RitzSolver solver, bool is_in_memory, CeedSize n) {
  return (RitzSums){.reduce = solver->reduce,
                    .reduce_in_memory = is_in_memory ? solver->reduce_in_memory : NULL,
                    .ctx = solver->reduce_ctx,
                    .length = n,
                    .num_counted = solver->num_owned >= 0 ? solver->num_owned : n};
}

// Sums of all passes in the contexts that take part are reduced while the solver runs. A solve may be part of
// another one's preconditioner, and of this part alone there: what was set before comes back.
typedef struct {
  Ceed contexts[3];
  RitzSums before[3];
} Reductions;

static Reductions begin_reductions(RitzSolver solver, Ceed computes, CeedSize n) {
  Reductions r = {.contexts = {solver->ceed, computes, solver->pc ? solver->pc->ceed : NULL}};
  const Ceed in_memory = computes ? computes : solver->ceed; // whose memory that is

  for (int i = 0; i < 3; i++) {
    if (!r.contexts[i]) continue;
    const RitzSums sums = ritz_solver_sums(solver, r.contexts[i] == in_memory, n);
    r.before[i] = ritz_sums_set(r.contexts[i], &sums);
  }
  return r;
}

static void end_reductions(const Reductions *r) {
  for (int i = 2; i >= 0; i--) {
    if (r->contexts[i]) (void)ritz_sums_set(r->contexts[i], &r->before[i]);
  }
}

int ritz_solver_clear_others(RitzSolver solver, CeedVector x) {
  if (!solver->reduce || solver->num_owned < 0 || solver->num_owned == x->length) return CEED_ERROR_SUCCESS;
  return CeedVectorSetValueStrided(x, solver->num_owned, x->length, 1, 0);
}

int RitzSolverSolve(RitzSolver solver, CeedVector b, CeedVector x) {
  RitzSolve solve = {0};

  RITZ_HANDLE_OF("RitzSolverSolve", solver, b, x);
  solve.work = &solver->work;
  solver->reason = RITZ_ITERATING;
  solver->iterations = 0;
  solver->initial_residual = solver->final_residual = 0;
  solver->used = RITZ_CG_AUTO;
  solver->used_reason = NULL;
  RITZ_TRY(check_solve(solver, b, x));

  Ceed computes = solver->op ? solver->op->obj.ceed : NULL;
  const Reductions before = begin_reductions(solver, computes, x->length);
  int ierr = prepare_method(solver, b, x, &solve);
  if (!ierr) {
    ritz_preconditioner_enter_solve(solve.pc, true);
    ierr = run_methods(solver, &solve);
    ritz_preconditioner_enter_solve(solve.pc, false);
    if (solve.x != x) ierr = ritz_first_error(ierr, RitzVectorConvert(solve.x, x));
    if (!ierr) ierr = ritz_solver_clear_others(solver, x);
  }
  end_reductions(&before);
  ierr = ritz_first_error(ierr, RitzPreconditionerDestroy(&solve.pc));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&solve.x));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&solve.b));
  ierr = ritz_first_error(ierr, ritz_system_destroy(&solve.system));
  if (ierr) solver->reason = RITZ_ITERATING;
  return ierr;
}

// ---- What methods share ----

int ritz_solver_judge(RitzSolver solver, CeedInt iteration, double norm, RitzSolverReason *reason) {
  const double growth = 1e10;
  bool stop = false;

  if (iteration == 0) solver->initial_residual = norm;
  solver->final_residual = norm;
  solver->iterations = iteration;
  if (solver->monitor) RITZ_TRY(solver->monitor(solver->monitor_ctx, iteration, norm, &stop));

  if (!isfinite(norm))
    *reason = RITZ_DIVERGED_NAN;
  else if (norm <= solver->atol)
    *reason = RITZ_CONVERGED_ATOL;
  else if (norm <= solver->rtol * solver->initial_residual)
    *reason = RITZ_CONVERGED_RTOL;
  else if (norm <= solver->floor)
    *reason = RITZ_CONVERGED_ROUNDING;
  else if (stop)
    *reason = RITZ_DIVERGED_MONITOR;
  else if (norm > growth * solver->initial_residual)
    *reason = RITZ_DIVERGED_GROWTH;
  else if (iteration >= solver->max_it)
    *reason = RITZ_DIVERGED_MAX_IT;
  return CEED_ERROR_SUCCESS;
}

double ritz_solver_tolerance(const struct RitzSolver_private *solver) {
  return fmax(solver->floor, fmax(solver->atol, solver->rtol * solver->initial_residual));
}

int ritz_solve_start(RitzSolver solver, const RitzSolve *solve, CeedVector r, double *scale, double *norm) {
  double largest_b = 0;

  RITZ_TRY(ritz_solve_first_residual(solve, r, scale, norm, solver->is_resumed ? NULL : &largest_b));
  solver->run_residual = *norm;
  if (solver->is_resumed) return CEED_ERROR_SUCCESS;
  return ritz_solve_expect_rounding(solver, solve, r, *scale, *norm, largest_b);
}

int ritz_solver_judge_start(RitzSolver solver, const RitzSolve *solve, double norm,
                            RitzSolverReason *reason) {
  if (solver->is_resumed) {
    if (!isfinite(norm)) *reason = RITZ_DIVERGED_NAN;
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(ritz_solver_judge(solver, 0, norm, reason));
  if (*reason == RITZ_ITERATING && solve->is_bad_diagonal) *reason = RITZ_DIVERGED_PRECONDITIONER;
  return CEED_ERROR_SUCCESS;
}

static void add_residual_forms(RitzPassForms *forms) {
  const RitzVectorSumKind kinds[] = {RITZ_SUM_UPDATE, RITZ_SUM_SCALING, RITZ_SUM_SQUARE};

  for (int i = 0; i < 3; i++)
    ritz_pass_forms_add(forms, ritz_pass_form(ritz_vector_sum_pass(kinds[i]), CEED_SCALAR_TYPE));
}

int ritz_solve_prepare_passes(const RitzSolve *solve, RitzPreconditioner pc, CeedScalarType precision,
                              RitzPassForms *forms) {
  const RitzSystem *system = &solve->system;

  add_residual_forms(forms);
  ritz_pass_forms_add_many(forms, system->num_null, false, CEED_SCALAR_TYPE);
  if (pc && pc->ceed == system->ceed) ritz_preconditioner_add_forms(pc, precision, forms);
  return ritz_passes_prepare(system->ceed, forms->num, forms->form);
}

int RitzSolverPrepare(RitzSolver solver, CeedScalarType precision) {
  RitzPassForms forms = {0};

  RITZ_HANDLE(solver);
  RITZ_TRY(ritz_check_precision(solver->ceed, __func__, precision));
  if (solver->op) RITZ_TRY(RitzOperatorsPrepare(1, &solver->op, NULL, true));
  add_residual_forms(&forms);
  if (solver->type == RITZ_SOLVER_CG || solver->type == RITZ_SOLVER_FLEXIBLE_CG) {
    ritz_pass_forms_add(&forms, ritz_pass_form(ritz_vector_sum_pass(RITZ_SUM_DOT), CEED_SCALAR_TYPE));
    ritz_cg_add_forms(solver->type, precision, &forms);
  }
  return ritz_passes_prepare(solver->op ? solver->op->obj.ceed : solver->ceed, forms.num, forms.form);
}

int ritz_solve_first_residual(const RitzSolve *solve, CeedVector r, double *scale, double *norm,
                              double *largest_b) {
  CeedScalar of_r = 0, of_b = 0;
  double square = 0;

  RITZ_TRY(ritz_system_residual(&solve->system, solve->b, solve->x, r));
  RITZ_TRY(CeedVectorNorm(r, CEED_NORM_MAX, &of_r));
  if (largest_b) RITZ_TRY(CeedVectorNorm(solve->b, CEED_NORM_MAX, &of_b));
  double largest[] = {(double)of_r, (double)of_b};
  RITZ_TRY(ritz_reduce(r->obj.ceed, RITZ_REDUCTION_MAX, 2, largest)); // over all parts, both at once
  *scale = ritz_power_near(largest[0], CEED_SCALAR_TYPE);
  if (largest_b) *largest_b = largest[1];
  if (*scale != 1) RITZ_TRY(RitzVectorSum(r, 1 / *scale, r, 0, CEED_VECTOR_NONE));
  RITZ_TRY(RitzVectorDot(r, r, &square));
  *norm = *scale * sqrt(square);
  return CEED_ERROR_SUCCESS;
}

int ritz_solve_residual(const RitzSolve *solve, CeedVector r, double scale, double *norm) {
  double square = 0;

  RITZ_TRY(ritz_system_residual(&solve->system, solve->b, solve->x, r));
  if (scale != 1) RITZ_TRY(RitzVectorSum(r, 1 / scale, r, 0, CEED_VECTOR_NONE));
  RITZ_TRY(RitzVectorDot(r, r, &square));
  *norm = scale * sqrt(square);
  return CEED_ERROR_SUCCESS;
}

int ritz_solve_precondition(const RitzSolve *solve, CeedVector r, CeedVector z) {
  if (solve->pc) {
    RITZ_TRY(ritz_preconditioner_apply(solve->pc, r, z));
  } else {
    RITZ_TRY(RitzVectorSum(z, 1, r, 0, CEED_VECTOR_NONE));
  }
  return ritz_system_project(&solve->system, z);
}

int ritz_solve_create_vector(const RitzSolve *solve, CeedVector *v) {
  RITZ_TRY(ritz_workspace_vector(solve->work, solve->system.ceed, solve->x->length, CEED_SCALAR_TYPE, v));
  return CeedVectorSetValue(*v, 0);
}

int ritz_solve_create_vectors(const RitzSolve *solve, int num, CeedVector *const v[]) {
  for (int i = 0; i < num; i++) {
    if (v[i]) RITZ_TRY(ritz_solve_create_vector(solve, v[i]));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_solve_destroy_vectors(int num, CeedVector *const v[]) {
  int ierr = CEED_ERROR_SUCCESS;

  for (int i = 0; i < num; i++) {
    if (v[i]) ierr = ritz_first_error(ierr, CeedVectorDestroy(v[i]));
  }
  return ierr;
}
