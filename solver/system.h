// SPDX-License-Identifier: BSD-2-Clause
// A linear system as solvers, smoothers and multigrid levels see it: an operator or a function, without its
// constrained entries. Constraints are handled here and nowhere else. Used by solver/ only.
#ifndef RITZ_SOLVER_SYSTEM_H
#define RITZ_SOLVER_SYSTEM_H

#include <ritz/solver.h>
#include <ritz/vector.h>

typedef struct {
  Ceed ceed;               // borrowed
  CeedOperator op;         // counted, NULL when `apply` is used
  RitzApplyFunction apply; // NULL when `op` is used
  void *ctx;               // borrowed
  RitzIndices constraints; // counted, NULL: none
  CeedInt num_null;
  CeedVector *null; // owned, [num_null]: an orthonormal basis of the nullspace, zero on constrained entries
} RitzSystem;

int ritz_system_destroy(RitzSystem *system);
// y := A x, zero on constrained entries.
int ritz_system_apply(const RitzSystem *system, CeedVector x, CeedVector y);
// r := b - A x, zero on constrained entries, orthogonal to the nullspace.
int ritz_system_residual(const RitzSystem *system, CeedVector b, CeedVector x, CeedVector r);
// r -= its part in the nullspace. Nothing without one.
int ritz_system_project(const RitzSystem *system, CeedVector r);
int ritz_system_zero_constrained(const RitzSystem *system, CeedVector x);

#endif
