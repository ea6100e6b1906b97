// SPDX-License-Identifier: BSD-2-Clause
// What solvers take from operators of problems in parts beside ritz/solver.h. Used by solver/ and
// distributed/.
#ifndef RITZ_SOLVER_PARTS_H
#define RITZ_SOLVER_PARTS_H

#include <ritz/solver.h>
#include <ritz/vector.h>
#include <stdbool.h>

// Actions on a problem in parts. ctx: that of RitzSolverSetApply. On a device whose reductions stay in its
// memory nobody waits.
typedef struct {
  // Such a device's alone, else NULL.
  // y += A x, where ghosts of x have the values of their owners, constrained entries of x are zero, and y is
  // zero; any values on constrained entries and ghosts of y. *is_done: number k is x . A x; false: it was
  // left alone.
  int (*apply_energy)(void *ctx, CeedVector x, CeedVector y, RitzScalars scalars, CeedInt k, bool *is_done);
  // Ghosts of x get the values of their owners; num numbers (0, and scalars NULL: none) of this part become
  // sums over all parts, of such a device's.
  int (*update_ghosts)(void *ctx, CeedVector x, RitzScalars scalars, CeedInt first, CeedInt num);
  bool has_other_output; // one product too many would be seen
} RitzPartMethods;

// Holds until the solver gets another operator.
int ritz_solver_set_parts(RitzSolver solver, const RitzPartMethods *methods);

#endif
