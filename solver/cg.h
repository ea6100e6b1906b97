// SPDX-License-Identifier: BSD-2-Clause
// What the variants of the conjugate gradient method share. Used by solver/cg*.c.
//
//     r = b - A x, z = M r
//     repeat   p = z + beta p
//              q = A p, alpha = r . z / p . q
//              x += alpha p, r -= alpha q, z = M r
//              beta = the new r . z / the old one; flexible: (r - the old r) . z / the old r . z
//
// r is kept divided by a power of two, `scale`, near its first size, so that squares neither overflow nor
// vanish; a diagonal M is normalized to a largest entry near one for the same reason (neither changes
// alpha p).
#ifndef RITZ_SOLVER_CG_H
#define RITZ_SOLVER_CG_H

#include <math.h>

#include "core/apply-hooks.h"
#include "core/vector-pass.h"
#include "solver/solver.h"

// The variants. inverse: a diagonal M, or NULL: none.
// The operator can be applied with hooks, with num_slots slots (core/apply-hooks.h).
int ritz_cg_solve_merged(RitzSolver solver, const RitzSolve *solve, CeedVector inverse, int num_slots);
int ritz_cg_solve_on_device(RitzSolver solver, const RitzSolve *solve, CeedVector inverse);
// Conjugate gradients for a problem in parts.
int ritz_cg_solve_in_parts(RitzSolver solver, const RitzSolve *solve, CeedVector inverse);

// Adds the passes of steps with a preconditioner that is no diagonal; of_z: the precision of z = M r, which r
// is rounded to where that is float.
void ritz_cg_add_forms(RitzSolverType type, CeedScalarType of_z, RitzPassForms *forms);

// r . r without or with r . M r, of the vectors r and M.
int ritz_cg_products(CeedVector r, CeedVector inverse, double *rr, double *rz);
extern const RitzPass ritz_cg_products_pass; // of r and M

// Squares of the scaled residual that have lost all meaning next to the first one (near 1) count as zero.
static inline double ritz_cg_without_dust(double rr) {
  return rr < (sizeof(CeedScalar) == 4 ? 0x1p-160 : 0x1p-1000) ? 0 : rr;
}

// A square of the residual after the step alpha, from sums before it: without M or with it.
static inline double ritz_cg_predict(double square, double alpha, double rq, double qq) {
  return square - 2 * alpha * rq + alpha * alpha * qq;
}

// Whether predictions are good enough, and far enough from an end of the method, to go on without the sums
// themselves; norm: that they stand for. A square that has fallen more has lost too many digits.
static inline bool ritz_cg_may_predict(const struct RitzSolver_private *solver, double rr, double rr_before,
                                       double rz, double rz_before, double norm) {
  const double least = 0x1p-7, bound = 1.001 * ritz_solver_tolerance(solver);

  return rr >= least * rr_before && rz >= least * rz_before && norm > bound &&
         solver->iterations + 1 < solver->max_it;
}

// alpha = rz / pq, or the reason why there is none.
static inline double ritz_cg_alpha(double rz, double pq, double scale, RitzSolverReason *reason) {
  const double alpha = rz / pq;

  if (!isfinite(pq))
    *reason = RITZ_DIVERGED_NAN;
  else if (pq <= 0)
    *reason = RITZ_DIVERGED_INDEFINITE;
  else if (!isfinite((CeedScalar)(alpha * scale)) || !isfinite((CeedScalar)alpha))
    *reason = RITZ_DIVERGED_NAN;
  return alpha;
}

// After z = M r: the reason why there is no direction.
static inline void ritz_cg_check_rz(double rz, RitzSolverReason *reason) {
  if (!isfinite(rz))
    *reason = RITZ_DIVERGED_NAN;
  else if (rz <= 0)
    *reason = RITZ_DIVERGED_PRECONDITIONER;
}

#endif
