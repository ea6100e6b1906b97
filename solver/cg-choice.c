// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients: which variant serves a solve, and the one for any preconditioner and nullspaces, from
// the vocabulary of ritz/vector.h alone. Called by solver/solve.c.
#include <math.h>

#include "core/apply-hooks.h"
#include "solver/cg.h"

// ---- Any preconditioner ----

typedef struct {
  RitzSolver solver;
  const RitzSolve *solve;
  CeedVector r, z, p, q, r_old; // owned; r_old: flexible
  double scale;
} Cg;

static int step(Cg *cg, double *rz, RitzSolverReason *reason) {
  double pq = 0, rr = 0, next = 0, old = 0;

  RITZ_TRY(ritz_system_apply(&cg->solve->system, cg->p, cg->q));
  RITZ_TRY(ritz_system_project(&cg->solve->system, cg->q));
  RITZ_TRY(RitzVectorDot(cg->p, cg->q, &pq));
  const double alpha = *rz / pq;
  if (!isfinite(pq) || pq <= 0 || !isfinite(alpha * cg->scale)) {
    *reason = isfinite(pq) && pq <= 0 ? RITZ_DIVERGED_INDEFINITE : RITZ_DIVERGED_NAN;
    return CEED_ERROR_SUCCESS;
  }
  if (cg->r_old) RITZ_TRY(CeedVectorCopy(cg->r, cg->r_old));
  RITZ_TRY(RitzVectorAXPYs(cg->solve->x, 1, (double[]){alpha * cg->scale}, &cg->p));
  RITZ_TRY(RitzVectorAXPYs(cg->r, 1, (double[]){-alpha}, &cg->q));
  RITZ_TRY(RitzVectorDot(cg->r, cg->r, &rr));
  RITZ_TRY(ritz_solver_judge(cg->solver, cg->solver->iterations + 1, cg->scale * sqrt(rr), reason));
  if (*reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_solve_precondition(cg->solve, cg->r, cg->z));
  RITZ_TRY(RitzVectorDot(cg->r, cg->z, &next));
  if (cg->r_old) RITZ_TRY(RitzVectorDot(cg->r_old, cg->z, &old));
  const double beta = (next - old) / *rz;
  *rz = next;
  if (!(next > 0)) *reason = isfinite(next) ? RITZ_DIVERGED_PRECONDITIONER : RITZ_DIVERGED_NAN;
  return RitzVectorSum(cg->p, 1, cg->z, beta, cg->p);
}

static int iterate(Cg *cg, RitzSolverReason *reason) {
  double norm = 0, rz = 0;

  RITZ_TRY(ritz_solve_first_residual(cg->solve, cg->r, &cg->scale, &norm));
  RITZ_TRY(ritz_solver_judge_start(cg->solver, cg->solve, norm, reason));
  if (*reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_solve_precondition(cg->solve, cg->r, cg->z));
  RITZ_TRY(RitzVectorDot(cg->r, cg->z, &rz));
  if (!(rz > 0)) *reason = isfinite(rz) ? RITZ_DIVERGED_PRECONDITIONER : RITZ_DIVERGED_NAN;
  RITZ_TRY(CeedVectorCopy(cg->z, cg->p));
  while (*reason == RITZ_ITERATING) RITZ_TRY(step(cg, &rz, reason));
  return CEED_ERROR_SUCCESS;
}

static int solve_in_general(RitzSolver solver, const RitzSolve *solve) {
  Cg cg = {.solver = solver, .solve = solve};
  CeedVector *const vectors[] = {&cg.r, &cg.z, &cg.p, &cg.q, &cg.r_old};
  RitzSolverReason reason = RITZ_ITERATING;
  const int num = solver->type == RITZ_SOLVER_FLEXIBLE_CG ? 5 : 4;
  int ierr = CEED_ERROR_SUCCESS;

  for (int i = 0; i < num && !ierr; i++) ierr = ritz_solve_create_vector(solve, vectors[i]);
  if (!ierr) ierr = iterate(&cg, &reason);
  solver->reason = reason;
  for (int i = 0; i < num; i++) ierr = ritz_first_error(ierr, CeedVectorDestroy(vectors[i]));
  return ierr;
}

// ---- The choice ----

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

int ritz_cg_solve(RitzSolver solver, const RitzSolve *solve) {
  const bool wants_merged = solver->variant != RITZ_CG_STANDARD;
  const CeedSize n = solve->x->length;
  int num_slots = 1;

  if (solver->type == RITZ_SOLVER_FLEXIBLE_CG || solver->pc || solver->num_null) {
    solver->used = RITZ_CG_STANDARD;
    return solve_in_general(solver, solve);
  }
  if (solver->op && solver->op->obj.ceed->backend.cg_create) {
    solver->used = wants_merged ? RITZ_CG_MERGED : RITZ_CG_STANDARD;
    return ritz_cg_solve_on_device(solver, n, solve->b, solve->x, wants_merged);
  }
  if (wants_merged) RITZ_TRY(prepare_hooks(solver, solve->x, &num_slots));
  const bool is_merged = wants_merged && !solver->used_reason;
  solver->used = is_merged ? RITZ_CG_MERGED : RITZ_CG_STANDARD;
  return is_merged ? ritz_cg_solve_merged(solver, n, solve->b, solve->x, num_slots)
                   : ritz_cg_solve_standard(solver, n, solve->b, solve->x);
}
