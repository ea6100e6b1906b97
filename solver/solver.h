// SPDX-License-Identifier: BSD-2-Clause
// Inside of solvers: what a solver remembers between calls, what the methods share. Used by solver/ only.
#ifndef RITZ_SOLVER_SOLVER_H
#define RITZ_SOLVER_SOLVER_H

#include <ritz/solver.h>

#include "solver/parts.h"
#include "solver/preconditioner.h"
#include "solver/system.h"
#include "solver/workspace.h"

struct RitzSolver_private {
  const RitzClass *class;
  Ceed ceed; // counted
  RitzSolverType type;
  CeedOperator op;           // counted, NULL when `apply` is used
  RitzApplyFunction apply;   // NULL when `op` is used
  void *apply_ctx;           // borrowed
  RitzPartMethods parts;     // beside `apply`; zeros: none
  CeedVector diagonal;       // counted: Jacobi by RitzSolverSetJacobi; or NULL
  RitzPreconditioner jacobi; // owned: what solves made of `diagonal`; NULL: nothing yet
  uint64_t diagonal_state;   // that it was made of
  RitzPreconditioner pc;     // counted, NULL: none, or Jacobi
  RitzIndices constraints;   // counted, NULL: none
  CeedInt num_null;
  CeedVector *null; // owned, [num_null]: copies of the basis, orthonormal
  double rtol, atol;
  CeedInt max_it, restart;
  double damping;
  RitzChebyshevOptions chebyshev;
  RitzCGVariant variant;               // as asked for
  RitzMonitorFunction monitor;         // NULL: none
  void *monitor_ctx;                   // borrowed
  RitzReduceFunction reduce;           // over the parts of a larger problem; NULL: this is all of it
  RitzReduceFunction reduce_in_memory; // NULL: by way of the host
  void *reduce_ctx;                    // borrowed
  CeedSize num_owned;                  // entries that sums count; -1: all
  RitzWorkspace work;                  // of the last solve, for the next one
  // How the last solve ended.
  RitzSolverReason reason;
  CeedInt iterations;
  double initial_residual, final_residual;
  // State of the solve that runs (solver/rounding.c).
  bool is_resumed;     // the method goes on from an x of its own
  double run_residual; // that this run of the method began with
  double floor;        // residuals below are rounding; 0: not looked at
  double trust;        // residuals below are computed anew at the end
  RitzCGVariant used;
  const char *used_reason; // static: why not the merged variant, though it would have been taken; NULL
};

// A solve: what RitzSolverSolve has checked and prepared for a method. b and x are vectors of system->ceed in
// the library's own precision, with values; x is the first guess, and the last iterate when the method ends,
// also with an error. Constrained entries of b count for nothing, those of x stay.
//
// A method calls ritz_solve_start and ritz_solver_judge_start before the first iteration and
// ritz_solver_judge after each, and ends when
// *reason is not RITZ_ITERATING: it sets solver->reason then. It may run more than once in a solve, from its
// own x then, and counts iterations on.
typedef struct {
  RitzSystem system;     // owned
  RitzWorkspace *work;   // the solver's
  CeedVector b, x;       // counted
  RitzPreconditioner pc; // counted, NULL: none. Where it is Jacobi: ritz_jacobi_inverse
  bool is_bad_diagonal;  // RitzSolverSetJacobi's has an entry that is of no use: the solve ends with
                         // RITZ_DIVERGED_PRECONDITIONER, unless nothing is to be done (pc is NULL)
} RitzSolve;

// Conjugate gradients, all variants, flexible ones, too (solver/cg*.c).
int ritz_cg_solve(RitzSolver solver, const RitzSolve *solve);
int ritz_minres_solve(RitzSolver solver, const RitzSolve *solve); // solver/minres.c
int ritz_gmres_solve(RitzSolver solver, const RitzSolve *solve);  // GMRES, FGMRES: solver/gmres.c
int ritz_stationary_solve(RitzSolver solver,
                          const RitzSolve *solve); // Chebyshev, Richardson: solver/stationary.c

// Notes the norm of the residual after `iteration` iterations, calls the monitor, and decides.
int ritz_solver_judge(RitzSolver solver, CeedInt iteration, double norm, RitzSolverReason *reason);
// Judges before the first iteration, too, whether the diagonal is of use.
int ritz_solver_judge_start(RitzSolver solver, const RitzSolve *solve, double norm, RitzSolverReason *reason);
// The norm that ends a solve.
double ritz_solver_tolerance(const struct RitzSolver_private *solver);

// How sums over vectors of n entries are made while the solver runs; is_in_memory: in the context that
// computes.
RitzSums ritz_solver_sums(RitzSolver solver, bool is_in_memory, CeedSize n);
// Zeros at entries of other parts, where the function that was applied may have left values.
int ritz_solver_clear_others(RitzSolver solver, CeedVector x);

// Makes the passes of a method and those that all share: first residual, projections, and applications of
// `pc` (NULL: there are none) to vectors of `precision`; on devices side by side, before the first iteration.
int ritz_solve_prepare_passes(const RitzSolve *solve, RitzPreconditioner pc, CeedScalarType precision,
                              RitzPassForms *forms);

// r := (b - A x) / *scale with a power of two near its largest entry; *norm: of b - A x.
int ritz_solve_start(RitzSolver solver, const RitzSolve *solve, CeedVector r, double *scale, double *norm);
// As ritz_solve_start, for callers that are no method. *largest_b: entry of b; NULL: not asked for.
int ritz_solve_first_residual(const RitzSolve *solve, CeedVector r, double *scale, double *norm,
                              double *largest_b);
// z := P r, without its part in the nullspace; r itself where there is no preconditioner.
int ritz_solve_precondition(const RitzSolve *solve, CeedVector r, CeedVector z);
// r := (b - A x) / scale; *norm: of b - A x.
int ritz_solve_residual(const RitzSolve *solve, CeedVector r, double scale, double *norm);
// solver/rounding.c. Looks at a guess with the residual scale r, whose norm is `norm`, before the method
// runs.
int ritz_solve_expect_rounding(RitzSolver solver, const RitzSolve *solve, CeedVector r, double scale,
                               double norm, double largest_b);
// Looks at the residual that the method has ended with: final_residual and reason become those of x.
// *goes_on: the method has to run once more.
int ritz_solve_verify(RitzSolver solver, const RitzSolve *solve, bool *goes_on);
// A vector like x, of zeros. The same for num of them, where NULL stands for none to be made; on failure
// those made are still to be destroyed.
int ritz_solve_create_vector(const RitzSolve *solve, CeedVector *v);
int ritz_solve_create_vectors(const RitzSolve *solve, int num, CeedVector *const v[]);
int ritz_solve_destroy_vectors(int num, CeedVector *const v[]);

#endif
