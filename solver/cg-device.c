// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients on a device: the backend iterates (core/device-cg.h), this file decides when to stop,
// by the rules that hold on the host. Called by RitzSolverSolve where the operator's backend can do that and
// the vectors are of its context.
#include "core/device-cg.h"

#include "solver/cg.h"

static void set_products(RitzCg *cg, double rr, double rz) {
  cg->rr = ritz_cg_without_dust(rr);
  cg->rz = cg->solver->diagonal ? rz : cg->rr;
}

static int iterate_on_device(RitzCg *cg, RitzCgObject *object, RitzSolverReason *reason) {
  RitzSolver solver = cg->solver;
  int (*const next)(RitzCgObject *, RitzCgNumbers *) = solver->op->obj.ceed->backend.cg_iterate;
  RitzCgNumbers numbers;

  while (*reason == RITZ_ITERATING) {
    RITZ_TRY(next(object, &numbers));
    (void)ritz_cg_alpha(cg, numbers.pq, reason);
    if (*reason != RITZ_ITERATING) break;
    set_products(cg, numbers.rr, numbers.rz);
    RITZ_TRY(ritz_cg_judge(solver, solver->iterations + 1, ritz_cg_norm(cg), cg->rz, reason));
  }
  return CEED_ERROR_SUCCESS;
}

// The preconditioner has no say in what is judged before the first iteration.
static int judge_start(RitzCg *cg, const RitzCgStart *start, RitzSolverReason *reason) {
  cg->scale = start->scale;
  set_products(cg, start->rr, start->rz);
  RITZ_TRY(ritz_cg_judge(cg->solver, 0, ritz_cg_norm(cg), cg->rr, reason));
  if (*reason == RITZ_ITERATING && !start->is_positive) *reason = RITZ_DIVERGED_PRECONDITIONER;
  return CEED_ERROR_SUCCESS;
}

int ritz_cg_solve_on_device(RitzSolver solver, CeedSize n, CeedVector b, CeedVector x, bool is_merged) {
  const RitzBackend *backend = &solver->op->obj.ceed->backend;
  const int64_t *entries = NULL;
  int64_t num = 0;
  if (solver->constraints) RITZ_TRY(RitzIndicesGet(solver->constraints, &num, &entries));
  const RitzCgSetup setup = {.op = solver->op,
                             .n = n,
                             .b = b,
                             .x = x,
                             .diagonal = solver->diagonal,
                             .num_constraints = num,
                             .constraints = entries,
                             .is_merged = is_merged};
  RitzCg cg = {.solver = solver, .n = n};
  RitzCgStart start;
  RitzCgObject *object = NULL;
  RitzSolverReason reason = RITZ_ITERATING;

  RITZ_TRY(backend->cg_create(&setup, &start, &object));
  int ierr = judge_start(&cg, &start, &reason);
  if (!ierr) ierr = iterate_on_device(&cg, object, &reason);
  if (!ierr) solver->reason = reason;
  return ritz_first_error(ierr, backend->cg_destroy(&object));
}
