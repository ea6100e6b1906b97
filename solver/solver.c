// SPDX-License-Identifier: BSD-2-Clause
// Solver objects: life cycle, settings, results: the public functions of ritz/solver.h but RitzSolverSolve,
// which is solver/solve.c.
#include "solver/solver.h"

#include <math.h>

const RitzClass ritz_solver_class = {.name = "RitzSolver"};

// ---- Life cycle ----

static const char *const type_names[] = {
    [RITZ_SOLVER_CG] = "cg",
    [RITZ_SOLVER_FLEXIBLE_CG] = "fcg",
    [RITZ_SOLVER_MINRES] = "minres",
    [RITZ_SOLVER_GMRES] = "gmres",
    [RITZ_SOLVER_FGMRES] = "fgmres",
    [RITZ_SOLVER_CHEBYSHEV] = "chebyshev",
    [RITZ_SOLVER_RICHARDSON] = "richardson",
};
enum { NUM_TYPES = sizeof(type_names) / sizeof(type_names[0]) };

const char *RitzSolverTypeName(RitzSolverType type) {
  return (int)type >= 0 && (int)type < NUM_TYPES ? type_names[type] : NULL;
}

static int create_solver(Ceed ceed, const char *call, RitzSolverType type, RitzSolver *solver) {
  RitzSolver created = NULL;

  RITZ_REQUIRE(solver != NULL, ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'solver' is NULL", call);
  RITZ_REQUIRE(RitzSolverTypeName(type) != NULL, ceed, CEED_ERROR_INCOMPATIBLE, "%s: there is no type %d",
               call, (int)type);
  *solver = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &created));
  int ierr = CeedReferenceCopy(ceed, &created->ceed);
  if (ierr) {
    RITZ_FREE(&created);
    return ierr;
  }
  created->class = &ritz_solver_class;
  created->type = type;
  created->rtol = 1e-8;
  created->max_it = 10000;
  created->restart = 30;
  created->damping = 1;
  created->num_owned = -1;
  created->chebyshev.kind = RITZ_CHEBYSHEV_FIRST;
  *solver = created;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverCreate(Ceed ceed, RitzSolverType type, RitzSolver *solver) {
  RITZ_HANDLE(ceed);
  return create_solver(ceed, "RitzSolverCreate", type, solver);
}

int RitzSolverCreateCG(Ceed ceed, RitzSolver *solver) {
  RITZ_HANDLE(ceed);
  return create_solver(ceed, "RitzSolverCreateCG", RITZ_SOLVER_CG, solver);
}

static int drop_nullspace(RitzSolver solver) {
  RitzSystem holder = {.num_null = solver->num_null, .null = solver->null};

  solver->num_null = 0;
  solver->null = NULL;
  return ritz_system_destroy(&holder);
}

int RitzSolverDestroy(RitzSolver *solver) {
  if (!solver || !*solver) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "solver", *solver, &ritz_solver_class));
  RITZ_TRY(CeedOperatorDestroy(&(*solver)->op));
  RITZ_TRY(CeedVectorDestroy(&(*solver)->diagonal));
  RITZ_TRY(RitzPreconditionerDestroy(&(*solver)->jacobi));
  RITZ_TRY(RitzPreconditionerDestroy(&(*solver)->pc));
  RITZ_TRY(RitzIndicesDestroy(&(*solver)->constraints));
  RITZ_TRY(drop_nullspace(*solver));
  RITZ_TRY(ritz_workspace_clear(&(*solver)->work));

  Ceed ceed = (*solver)->ceed;
  RITZ_FREE(solver);
  return CeedDestroy(&ceed);
}

// ---- Settings ----

int RitzSolverSetOperator(RitzSolver solver, CeedOperator op) {
  RITZ_HANDLE(solver, op);
  RITZ_ARGUMENT(solver, op);
  RITZ_TRY(CeedOperatorReferenceCopy(op, &solver->op));
  solver->apply = NULL;
  solver->apply_ctx = NULL;
  solver->parts = (RitzPartMethods){0};
  return CEED_ERROR_SUCCESS;
}

int RitzSolverSetApply(RitzSolver solver, RitzApplyFunction apply, void *ctx) {
  RITZ_HANDLE(solver);
  RITZ_REQUIRE(apply != NULL, solver->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzSolverSetApply: argument 'apply' is NULL");
  RITZ_TRY(CeedOperatorDestroy(&solver->op));
  solver->apply = apply;
  solver->apply_ctx = ctx;
  solver->parts = (RitzPartMethods){0};
  return CEED_ERROR_SUCCESS;
}

int ritz_solver_set_parts(RitzSolver solver, const RitzPartMethods *methods) {
  solver->parts = *methods;
  return CEED_ERROR_SUCCESS;
}

// The later of the two calls decides.
int RitzSolverSetJacobi(RitzSolver solver, CeedVector diagonal) {
  RITZ_HANDLE(solver, diagonal);
  RITZ_OPTIONAL(solver->ceed, diagonal);
  RITZ_TRY(RitzPreconditionerDestroy(&solver->pc));
  RITZ_TRY(RitzPreconditionerDestroy(&solver->jacobi));
  return diagonal ? CeedVectorReferenceCopy(diagonal, &solver->diagonal)
                  : CeedVectorDestroy(&solver->diagonal);
}

int RitzSolverSetPreconditioner(RitzSolver solver, RitzPreconditioner pc) {
  RITZ_HANDLE(solver, pc);
  RITZ_OPTIONAL(solver->ceed, pc);
  RITZ_TRY(CeedVectorDestroy(&solver->diagonal));
  RITZ_TRY(RitzPreconditionerDestroy(&solver->jacobi));
  return pc ? RitzPreconditionerReferenceCopy(pc, &solver->pc) : RitzPreconditionerDestroy(&solver->pc);
}

int RitzSolverSetNullspace(RitzSolver solver, CeedInt num, const CeedVector basis[]) {
  const char *call = "RitzSolverSetNullspace";
  RitzSystem holder = {0};

  RITZ_HANDLE(solver);
  RITZ_REQUIRE(num >= 0 && num <= RITZ_SYSTEM_MAX_NULL, solver->ceed, CEED_ERROR_DIMENSION,
               "%s: number of vectors is %" CeedInt_FMT ", needs to be 0 to %d", call, num,
               RITZ_SYSTEM_MAX_NULL);
  if (num == 0) return drop_nullspace(solver);
  RITZ_ARGUMENT(solver, basis);
  for (CeedInt i = 0; i < num; i++) {
    RITZ_TRY(ritz_check_handle(solver->ceed, call, "basis[i]", basis[i], &ritz_vector_class));
    RITZ_REQUIRE(basis[i]->length == basis[0]->length, solver->ceed, CEED_ERROR_DIMENSION,
                 "%s: basis[%" CeedInt_FMT "] has %" CeedSize_FMT " entries, basis[0] has %" CeedSize_FMT,
                 call, i, basis[i]->length, basis[0]->length);
  }
  holder.ceed = solver->op ? solver->op->obj.ceed : solver->ceed;
  // in a part of a larger problem solves look at them, together
  RITZ_TRY(solver->reduce ? ritz_system_copy_nullspace(&holder, call, CEED_SCALAR_TYPE, num, basis)
                          : ritz_system_set_nullspace(&holder, call, CEED_SCALAR_TYPE, num, basis));
  const int ierr = drop_nullspace(solver);
  solver->num_null = holder.num_null;
  solver->null = holder.null;
  return ierr;
}

int RitzSolverSetConstraints(RitzSolver solver, int64_t num, const int64_t *entries) {
  RitzIndices constraints = NULL;

  RITZ_HANDLE(solver);
  RITZ_REQUIRE(num >= 0, solver->ceed, CEED_ERROR_DIMENSION,
               "RitzSolverSetConstraints: number of entries is %lld, needs to be >= 0", (long long)num);
  RITZ_TRY(RitzPreconditionerDestroy(&solver->jacobi));
  if (num == 0) return RitzIndicesDestroy(&solver->constraints);
  RITZ_ARGUMENT(solver, entries);
  for (int64_t i = 0; i < num; i++) {
    RITZ_REQUIRE(entries[i] >= 0, solver->ceed, CEED_ERROR_DIMENSION,
                 "RitzSolverSetConstraints: entries[%lld] is %lld, needs to be >= 0", (long long)i,
                 (long long)entries[i]);
  }
  RITZ_TRY(RitzIndicesCreate(solver->ceed, num, entries, &constraints));
  const int ierr = RitzIndicesDestroy(&solver->constraints);
  solver->constraints = constraints;
  return ierr;
}

int RitzSolverSetConstraintIndices(RitzSolver solver, RitzIndices entries) {
  RITZ_HANDLE(solver, entries);
  RITZ_OPTIONAL(solver->ceed, entries);
  RITZ_TRY(RitzPreconditionerDestroy(&solver->jacobi));
  return entries ? RitzIndicesReferenceCopy(entries, &solver->constraints)
                 : RitzIndicesDestroy(&solver->constraints);
}

int RitzSolverSetRestart(RitzSolver solver, CeedInt restart) {
  RITZ_HANDLE(solver);
  RITZ_REQUIRE(restart >= 1, solver->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzSolverSetRestart: %" CeedInt_FMT " steps, at least 1 is needed", restart);
  solver->restart = restart;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverSetDamping(RitzSolver solver, double damping) {
  RITZ_HANDLE(solver);
  RITZ_REQUIRE(isfinite(damping) && damping != 0, solver->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzSolverSetDamping: %g, needed a finite number that is not zero", damping);
  solver->damping = damping;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverSetChebyshev(RitzSolver solver, const RitzChebyshevOptions *options) {
  RITZ_HANDLE(solver);
  RITZ_ARGUMENT(solver, options);
  RITZ_TRY(ritz_chebyshev_check(solver->ceed, "RitzSolverSetChebyshev", options));
  solver->chebyshev = *options;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverSetTolerances(RitzSolver solver, double rtol, double atol, CeedInt max_it) {
  RITZ_HANDLE(solver);
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
  RITZ_HANDLE(solver);
  solver->monitor = monitor;
  solver->monitor_ctx = ctx;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverSetReduction(RitzSolver solver, RitzReduceFunction reduce, void *ctx) {
  RITZ_HANDLE(solver);
  solver->reduce = reduce;
  solver->reduce_in_memory = NULL;
  solver->reduce_ctx = ctx;
  solver->num_owned = -1;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverSetReductionInMemory(RitzSolver solver, RitzReduceFunction reduce) {
  RITZ_HANDLE(solver);
  RITZ_REQUIRE(
      !reduce || solver->reduce, solver->ceed, CEED_ERROR_INCOMPATIBLE,
      "RitzSolverSetReductionInMemory: the solver has no reduction, needed RitzSolverSetReduction first");
  solver->reduce_in_memory = reduce;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverSetNumOwned(RitzSolver solver, CeedSize num_owned) {
  RITZ_HANDLE(solver);
  RITZ_REQUIRE(num_owned >= -1, solver->ceed, CEED_ERROR_DIMENSION,
               "RitzSolverSetNumOwned: %" CeedSize_FMT " entries, needed at least 0, or -1 for all",
               num_owned);
  RITZ_REQUIRE(num_owned < 0 || solver->reduce, solver->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzSolverSetNumOwned: the solver has no reduction, needed RitzSolverSetReduction first");
  solver->num_owned = num_owned;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverSetVariant(RitzSolver solver, RitzCGVariant variant) {
  RITZ_HANDLE(solver);
  RITZ_REQUIRE(variant == RITZ_CG_AUTO || variant == RITZ_CG_STANDARD || variant == RITZ_CG_MERGED,
               solver->ceed, CEED_ERROR_INCOMPATIBLE, "RitzSolverSetVariant: there is no variant %d",
               (int)variant);
  solver->variant = variant;
  return CEED_ERROR_SUCCESS;
}

// ---- Results ----

int RitzSolverGetReason(RitzSolver solver, RitzSolverReason *reason) {
  RITZ_HANDLE(solver);
  RITZ_ARGUMENT(solver, reason);
  *reason = solver->reason;
  return CEED_ERROR_SUCCESS;
}

const char *RitzSolverReasonName(RitzSolverReason reason) {
  switch (reason) {
  case RITZ_CONVERGED_RTOL: return "converged: the residual fell below the relative tolerance";
  case RITZ_CONVERGED_ATOL: return "converged: the residual fell below the absolute tolerance";
  case RITZ_CONVERGED_ROUNDING: return "converged: the residual is as small as rounding allows";
  case RITZ_ITERATING: return "no solve has ended";
  case RITZ_DIVERGED_MAX_IT: return "not converged: the iteration limit was reached";
  case RITZ_DIVERGED_INDEFINITE: return "not converged: the operator is not positive definite";
  case RITZ_DIVERGED_NAN: return "not converged: a norm or product is not a finite number";
  case RITZ_DIVERGED_MONITOR: return "not converged: stopped by the monitor";
  case RITZ_DIVERGED_PRECONDITIONER:
    return "not converged: the preconditioner is not positive definite, or its diagonal not finite";
  case RITZ_DIVERGED_BREAKDOWN: return "not converged: there is no new direction, the system may be singular";
  case RITZ_DIVERGED_GROWTH: return "not converged: the residual has grown";
  }
  return "unknown reason";
}

int RitzSolverGetIterations(RitzSolver solver, CeedInt *iterations) {
  RITZ_HANDLE(solver);
  RITZ_ARGUMENT(solver, iterations);
  *iterations = solver->iterations;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverGetResidual(RitzSolver solver, double *initial, double *final) {
  RITZ_HANDLE(solver);
  if (initial) *initial = solver->initial_residual;
  if (final) *final = solver->final_residual;
  return CEED_ERROR_SUCCESS;
}

int RitzSolverGetVariantUsed(RitzSolver solver, RitzCGVariant *used, const char **reason) {
  RITZ_HANDLE(solver);
  if (used) *used = solver->used;
  if (reason) *reason = solver->used_reason;
  return CEED_ERROR_SUCCESS;
}
