// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients of ritz/solver.h for bake-off problems (contract in bench/solver.h).
#include "bench/solver.h"

#include <ritz/solver.h>
#include <stdlib.h>

#include "bp/problem.h"

static void destroy_solver(void **solver) {
  RitzSolver own = *solver;

  RitzSolverDestroy(&own);
  *solver = NULL;
}

static int set_fixed(Ceed ceed, CeedInt num, const CeedInt *fixed, RitzSolver solver) {
  int64_t *entries = NULL;

  BP_TRY(bp_allocate(ceed, num, sizeof(*entries), &entries));
  for (CeedInt i = 0; i < num; i++) entries[i] = fixed[i];
  const int ierr = RitzSolverSetConstraints(solver, num, entries);
  free(entries);
  return ierr;
}

static int create_solver(CeedOperator op, int variant, CeedInt num_fixed, const CeedInt *fixed,
                         void **solver) {
  Ceed ceed = NULL;
  RitzSolver own = NULL;

  BP_TRY(CeedOperatorGetCeed(op, &ceed));
  int ierr = RitzSolverCreateCG(ceed, &own);
  if (!ierr) ierr = RitzSolverSetOperator(own, op);
  if (!ierr) ierr = RitzSolverSetVariant(own, (RitzCGVariant)variant);
  if (!ierr) ierr = set_fixed(ceed, num_fixed, fixed, own);
  *solver = own;
  CeedDestroy(&ceed);
  return ierr;
}

// Both tolerances are 0: nothing but iterations.
static int solve_bench(void *solver, CeedVector b, CeedVector x, CeedInt iterations, BpSolve *result) {
  double first = 0, last = 0;
  RitzCGVariant variant;
  RitzSolverReason reason;

  BP_TRY(RitzSolverSetTolerances(solver, 0, 0, iterations));
  BP_TRY(RitzSolverSolve(solver, b, x));
  BP_TRY(RitzSolverGetIterations(solver, &result->iterations));
  BP_TRY(RitzSolverGetResidual(solver, &first, &last));
  BP_TRY(RitzSolverGetVariantUsed(solver, &variant, NULL));
  BP_TRY(RitzSolverGetReason(solver, &reason));
  result->reduction = first > 0 ? last / first : 0;
  result->merged = variant == RITZ_CG_MERGED;
  if (reason > 0 || reason == RITZ_DIVERGED_MAX_IT) return CEED_ERROR_SUCCESS;
  return CeedError(CeedVectorReturnCeed(b), CEED_ERROR_MAJOR, "conjugate gradients: %s",
                   RitzSolverReasonName(reason));
}

const BpSolver bench_solver = {create_solver, solve_bench, destroy_solver, RITZ_CG_AUTO};
