// SPDX-License-Identifier: BSD-2-Clause
// Solver objects: life cycle, settings, results, and the checks before a solve. The public functions of
// ritz/solver.h, and the choice of the variant; the iterations are left to cg*.c.
#include "solver/solver.h"

#include <stdlib.h>
#include <string.h>

#include "core/apply-hooks.h"

// There is no context to report to without a solver.
#define REQUIRE_SOLVER(solver, call) RITZ_HANDLE_OF(call, solver)

#define REQUIRE_POINTER(pointer, solver, call) RITZ_ARGUMENT_OF((solver)->ceed, call, pointer)

const RitzClass ritz_solver_class = {.name = "RitzSolver"};

// ---- Life cycle ----

int RitzSolverCreateCG(Ceed ceed, RitzSolver *solver) {
  RITZ_HANDLE(ceed);
  RITZ_REQUIRE(solver != NULL, ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzSolverCreateCG: argument 'solver' is NULL");

  RitzSolver created = NULL;
  *solver = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &created));
  int ierr = CeedReferenceCopy(ceed, &created->ceed);
  if (ierr) {
    RITZ_FREE(&created);
    return ierr;
  }
  created->class = &ritz_solver_class;
  created->rtol = 1e-8;
  created->max_it = 10000;
  *solver = created;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverDestroy(RitzSolver *solver) {
  if (!solver || !*solver) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "solver", *solver, &ritz_solver_class));
  RITZ_TRY(CeedOperatorDestroy(&(*solver)->op));
  RITZ_TRY(CeedVectorDestroy(&(*solver)->diagonal));
  RITZ_FREE(&(*solver)->constraints);

  Ceed ceed = (*solver)->ceed;
  RITZ_FREE(solver);
  return CeedDestroy(&ceed);
}

// ---- Settings ----

int RitzSolverSetOperator(RitzSolver solver, CeedOperator op) {
  REQUIRE_SOLVER(solver, "RitzSolverSetOperator");
  REQUIRE_POINTER(op, solver, "RitzSolverSetOperator");
  RITZ_TRY(CeedOperatorReferenceCopy(op, &solver->op));
  solver->apply = NULL;
  solver->apply_ctx = NULL;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverSetApply(RitzSolver solver, RitzApplyFunction apply, void *ctx) {
  REQUIRE_SOLVER(solver, "RitzSolverSetApply");
  RITZ_REQUIRE(apply != NULL, solver->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzSolverSetApply: argument 'apply' is NULL");
  RITZ_TRY(CeedOperatorDestroy(&solver->op));
  solver->apply = apply;
  solver->apply_ctx = ctx;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverSetJacobi(RitzSolver solver, CeedVector diagonal) {
  REQUIRE_SOLVER(solver, "RitzSolverSetJacobi");
  if (!diagonal) return CeedVectorDestroy(&solver->diagonal);
  RITZ_ARGUMENT(solver->ceed, diagonal);
  return CeedVectorReferenceCopy(diagonal, &solver->diagonal);
}

static int compare_constraints(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

int RitzSolverSetConstraints(RitzSolver solver, int64_t num, const int64_t *entries) {
  REQUIRE_SOLVER(solver, "RitzSolverSetConstraints");
  RITZ_REQUIRE(num >= 0, solver->ceed, CEED_ERROR_DIMENSION,
               "RitzSolverSetConstraints: number of entries is %lld, needs to be >= 0", (long long)num);
  if (num) REQUIRE_POINTER(entries, solver, "RitzSolverSetConstraints");
  for (int64_t i = 0; i < num; i++) {
    RITZ_REQUIRE(entries[i] >= 0, solver->ceed, CEED_ERROR_DIMENSION,
                 "RitzSolverSetConstraints: entries[%lld] is %lld, needs to be >= 0", (long long)i,
                 (long long)entries[i]);
  }

  int64_t *copy = NULL;
  RITZ_TRY(RITZ_MALLOC(solver->ceed, (size_t)num, &copy));
  if (num) {
    memcpy(copy, entries, (size_t)num * sizeof(*copy));
    qsort(copy, (size_t)num, sizeof(*copy), compare_constraints);
  }
  RITZ_FREE(&solver->constraints);
  solver->constraints = copy;
  solver->num_constraints = num;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverSetTolerances(RitzSolver solver, double rtol, double atol, CeedInt max_it) {
  REQUIRE_SOLVER(solver, "RitzSolverSetTolerances");
  RITZ_REQUIRE(rtol >= 0 && atol >= 0 && max_it >= 0, solver->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzSolverSetTolerances: rtol %g, atol %g, max_it %" CeedInt_FMT
               ": all three need to be >= 0",
               rtol, atol, max_it);
  solver->rtol = rtol;
  solver->atol = atol;
  solver->max_it = max_it;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverSetMonitor(RitzSolver solver, RitzMonitorFunction monitor, void *ctx) {
  REQUIRE_SOLVER(solver, "RitzSolverSetMonitor");
  solver->monitor = monitor;
  solver->monitor_ctx = ctx;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverSetVariant(RitzSolver solver, RitzCGVariant variant) {
  REQUIRE_SOLVER(solver, "RitzSolverSetVariant");
  RITZ_REQUIRE(variant == RITZ_CG_AUTO || variant == RITZ_CG_STANDARD || variant == RITZ_CG_MERGED,
               solver->ceed, CEED_ERROR_INCOMPATIBLE, "RitzSolverSetVariant: there is no variant %d",
               (int)variant);
  solver->variant = variant;
  return CEED_ERROR_SUCCESS;
}

// ---- Solve ----

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

static int check_extras(RitzSolver solver, CeedSize n) {
  if (solver->diagonal) {
    CeedSize length = 0;
    RITZ_TRY(ritz_vector_require_precision(solver->diagonal, "RitzSolverSolve", CEED_SCALAR_TYPE));
    RITZ_TRY(CeedVectorGetLength(solver->diagonal, &length));
    RITZ_REQUIRE(length == n, solver->ceed, CEED_ERROR_DIMENSION,
                 "RitzSolverSolve: the diagonal has %" CeedSize_FMT " entries, b and x have %" CeedSize_FMT,
                 length, n);
  }
  const int64_t last = solver->num_constraints ? solver->constraints[solver->num_constraints - 1] : -1;
  RITZ_REQUIRE(last < (int64_t)n, solver->ceed, CEED_ERROR_DIMENSION,
               "RitzSolverSolve: entry %lld is constrained, b and x have %" CeedSize_FMT " entries",
               (long long)last, n);
  return CEED_ERROR_SUCCESS;
}

static bool has_passive_input(CeedOperator op, CeedVector vec) {
  for (CeedInt i = 0; i < op->num_in; i++) {
    if (op->in[i]->vec == vec) return true;
  }
  for (CeedInt i = 0; i < op->num_sub; i++) {
    if (has_passive_input(op->sub[i], vec)) return true;
  }
  return false;
}

// solver->used_reason: why there can be no hooks.
static int prepare_hooks(RitzSolver solver, CeedVector x, int *num_slots) {
  if (solver->apply) {
    solver->used_reason = "the operator is a function of the program";
  } else if (solver->op->obj.ceed->backend.cg_create) { // is_on_device says no
    solver->used_reason = "b, x or the diagonal is a vector of another context";
  } else if (has_passive_input(solver->op, x)) {
    solver->used_reason = "the operator reads the vector of the solution";
  } else {
    RITZ_TRY(ritz_operator_apply_hooked_prepare(solver->op, x, num_slots, &solver->used_reason));
  }
  RITZ_REQUIRE(!solver->used_reason || solver->variant != RITZ_CG_MERGED, solver->ceed,
               CEED_ERROR_UNSUPPORTED, "RitzSolverSolve: no merged conjugate gradients: %s",
               solver->used_reason);
  return CEED_ERROR_SUCCESS;
}

// The backend iterates by itself. Vectors of other contexts may lie anywhere else.
static bool is_on_device(RitzSolver solver, CeedVector b, CeedVector x) {
  const Ceed ceed = solver->op ? solver->op->obj.ceed : NULL;

  return ceed && ceed->backend.cg_create && b->obj.ceed == ceed && x->obj.ceed == ceed &&
         (!solver->diagonal || solver->diagonal->obj.ceed == ceed);
}

static int solve_by_variant(RitzSolver solver, CeedSize n, CeedVector b, CeedVector x) {
  const bool wants_merged = solver->variant != RITZ_CG_STANDARD;
  int num_slots = 1;

  if (is_on_device(solver, b, x)) {
    solver->used = wants_merged ? RITZ_CG_MERGED : RITZ_CG_STANDARD;
    return ritz_cg_solve_on_device(solver, n, b, x, wants_merged);
  }
  if (wants_merged) RITZ_TRY(prepare_hooks(solver, x, &num_slots));
  const bool is_merged = wants_merged && !solver->used_reason;
  solver->used = is_merged ? RITZ_CG_MERGED : RITZ_CG_STANDARD;
  return is_merged ? ritz_cg_solve_merged(solver, n, b, x, num_slots) : ritz_cg_solve(solver, n, b, x);
}

int RitzSolverSolve(RitzSolver solver, CeedVector b, CeedVector x) {
  CeedSize n = 0, length = 0;

  REQUIRE_SOLVER(solver, "RitzSolverSolve");
  solver->reason = RITZ_ITERATING;
  solver->iterations = 0;
  solver->initial_residual = solver->final_residual = 0;
  solver->used = RITZ_CG_AUTO;
  solver->used_reason = NULL;
  REQUIRE_POINTER(b, solver, "RitzSolverSolve");
  REQUIRE_POINTER(x, solver, "RitzSolverSolve");
  RITZ_REQUIRE(b != x, solver->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzSolverSolve: b and x are the same vector, they need to be different");
  RITZ_TRY(CeedVectorGetLength(x, &n));
  RITZ_TRY(CeedVectorGetLength(b, &length));
  RITZ_TRY(ritz_vector_require_precision(x, "RitzSolverSolve", CEED_SCALAR_TYPE));
  RITZ_TRY(ritz_vector_require_precision(b, "RitzSolverSolve", CEED_SCALAR_TYPE));
  RITZ_REQUIRE(length == n, solver->ceed, CEED_ERROR_DIMENSION,
               "RitzSolverSolve: b has %" CeedSize_FMT " entries, x has %" CeedSize_FMT, length, n);
  RITZ_TRY(check_operator(solver, n));
  RITZ_TRY(check_extras(solver, n));
  return solve_by_variant(solver, n, b, x);
}

// ---- Results ----

int RitzSolverGetReason(RitzSolver solver, RitzSolverReason *reason) {
  REQUIRE_SOLVER(solver, "RitzSolverGetReason");
  REQUIRE_POINTER(reason, solver, "RitzSolverGetReason");
  *reason = solver->reason;
  return CEED_ERROR_SUCCESS;
}

const char *RitzSolverReasonName(RitzSolverReason reason) {
  switch (reason) {
  case RITZ_CONVERGED_RTOL: return "converged: the residual fell below the relative tolerance";
  case RITZ_CONVERGED_ATOL: return "converged: the residual fell below the absolute tolerance";
  case RITZ_ITERATING: return "no solve has ended";
  case RITZ_DIVERGED_MAX_IT: return "not converged: the iteration limit was reached";
  case RITZ_DIVERGED_INDEFINITE: return "not converged: the operator is not positive definite";
  case RITZ_DIVERGED_NAN: return "not converged: a norm or product is not a finite number";
  case RITZ_DIVERGED_MONITOR: return "not converged: stopped by the monitor";
  case RITZ_DIVERGED_PRECONDITIONER:
    return "not converged: an entry of the diagonal is not positive and finite";
  }
  return "unknown reason";
}

int RitzSolverGetIterations(RitzSolver solver, CeedInt *iterations) {
  REQUIRE_SOLVER(solver, "RitzSolverGetIterations");
  REQUIRE_POINTER(iterations, solver, "RitzSolverGetIterations");
  *iterations = solver->iterations;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverGetResidual(RitzSolver solver, double *initial, double *final) {
  REQUIRE_SOLVER(solver, "RitzSolverGetResidual");
  if (initial) *initial = solver->initial_residual;
  if (final) *final = solver->final_residual;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverGetVariantUsed(RitzSolver solver, RitzCGVariant *used, const char **reason) {
  REQUIRE_SOLVER(solver, "RitzSolverGetVariantUsed");
  if (used) *used = solver->used;
  if (reason) *reason = solver->used_reason;
  return CEED_ERROR_SUCCESS;
}
