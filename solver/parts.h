// SPDX-License-Identifier: BSD-2-Clause
// What solvers take from operators of problems in parts beside ritz/solver.h. Used by solver/ and
// distributed/.
#ifndef RITZ_SOLVER_PARTS_H
#define RITZ_SOLVER_PARTS_H

#include <ritz/solver.h>
#include <ritz/vector.h>
#include <stdbool.h>

// y += A x with any values on constrained entries and ghosts, where y is zero and x has zeros on constrained
// entries. *is_done: number k is what this part's elements add to x . A x; false: it was left alone. Nobody
// waits. ctx: that of RitzSolverSetApply.
typedef int (*RitzEnergyFunction)(void *ctx, CeedVector x, CeedVector y, RitzScalars scalars, CeedInt k,
                                  bool *is_done);

// For solvers on devices whose reductions stay in their memory; holds until the solver gets another operator.
// has_other_output: one product too many would be seen.
int ritz_solver_set_energy(RitzSolver solver, RitzEnergyFunction apply, bool has_other_output);

#endif
