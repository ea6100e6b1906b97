// SPDX-License-Identifier: BSD-2-Clause
// Inside of solvers: what a solver remembers between calls. Used by solver/ only.
#ifndef RITZ_SOLVER_SOLVER_H
#define RITZ_SOLVER_SOLVER_H

#include <ritz/solver.h>

#include "core/error.h"
#include "core/memory.h"

struct RitzSolver_private {
  const RitzClass *class;
  Ceed ceed;               // counted
  CeedOperator op;         // counted, NULL when `apply` is used
  RitzApplyFunction apply; // NULL when `op` is used
  void *apply_ctx;         // borrowed
  CeedVector diagonal;     // counted, NULL without preconditioner
  int64_t num_constraints;
  int64_t *constraints; // owned, ascending
  double rtol, atol;
  CeedInt max_it;
  RitzCGVariant variant;       // as asked for
  RitzMonitorFunction monitor; // NULL: none
  void *monitor_ctx;           // borrowed
  // How the last solve ended.
  RitzSolverReason reason;
  CeedInt iterations;
  double initial_residual, final_residual;
  RitzCGVariant used;
  const char *used_reason; // static: why not the merged variant, though it would have been taken; NULL
};

// The variants; RitzSolverSolve has checked all arguments. n is the length of b and x.
int ritz_cg_solve(RitzSolver solver, CeedSize n, CeedVector b, CeedVector x); // standard, on the host
// The operator can be applied with hooks, with num_slots slots (core/apply-hooks.h).
int ritz_cg_solve_merged(RitzSolver solver, CeedSize n, CeedVector b, CeedVector x, int num_slots);
// Both variants where the backend of the operator has the slots cg_create, cg_iterate, cg_destroy.
int ritz_cg_solve_on_device(RitzSolver solver, CeedSize n, CeedVector b, CeedVector x, bool is_merged);

#endif
