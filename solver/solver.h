// SPDX-License-Identifier: BSD-2-Clause
// Inside of solvers: what a solver remembers between calls. Used by solver/ only.
#ifndef RITZ_SOLVER_SOLVER_H
#define RITZ_SOLVER_SOLVER_H

#include <ritz/solver.h>

#include "core/error.h"
#include "core/memory.h"

struct RitzSolver_private {
  Ceed ceed;               // counted
  CeedOperator op;         // counted, NULL when `apply` is used
  RitzApplyFunction apply; // NULL when `op` is used
  void *apply_ctx;         // borrowed
  CeedVector diagonal;     // counted, NULL without preconditioner
  int64_t num_constraints;
  int64_t *constraints; // owned
  double rtol, atol;
  CeedInt max_it;
  RitzMonitorFunction monitor; // NULL: none
  void *monitor_ctx;           // borrowed
  // How the last solve ended.
  RitzSolverReason reason;
  CeedInt iterations;
  double initial_residual, final_residual;
};

// The method itself; RitzSolverSolve has checked all arguments. n is the length of b and x.
int ritz_cg_solve(RitzSolver solver, CeedSize n, CeedVector b, CeedVector x);

#endif
