// SPDX-License-Identifier: BSD-2-Clause
// Rounding of residuals. The residual that a method carries along goes to zero whatever x does; b - A x
// cannot be computed better than to eps (|A| |x| + |b|). Called by solver/solve.c: before a method runs, for
// guesses that are that good already, and when it has ended with a residual that is not to be trusted.
// Nothing is done in an iteration, and nothing at all where both tolerances are zero.
#include <math.h>

#include "solver/solver.h"

// Round-off of the precision that A computes in.
static double eps_of(const RitzSolve *solve) {
  const CeedOperator op = solve->system.op;

  return CEED_SCALAR_TYPE == CEED_SCALAR_FP32 || (op && ritz_operator_has_precision(op, CEED_SCALAR_FP32))
             ? 0x1p-23
             : 0x1p-52;
}

static bool has_tolerance(const struct RitzSolver_private *solver) {
  return solver->rtol > 0 || solver->atol > 0;
}

// ---- The size of rounding ----

// v := from / its scale, without constrained entries where `is_free`; *norm: of that times the scale.
static int scaled_copy(const RitzSolve *solve, CeedVector from, bool is_free, CeedVector v, double *norm) {
  double scale = 1, square = 0;

  RITZ_TRY(RitzVectorSum(v, 1, from, 0, CEED_VECTOR_NONE));
  if (is_free) RITZ_TRY(ritz_system_zero_constrained(&solve->system, v));
  RITZ_TRY(ritz_vector_scale(v, &scale));
  RITZ_TRY(RitzVectorSum(v, 1 / scale, v, 0, CEED_VECTOR_NONE));
  RITZ_TRY(RitzVectorDot(v, v, &square));
  *norm = scale * sqrt(square);
  return CEED_ERROR_SUCCESS;
}

// 16 eps (|A| |x| + |b|). A residual that is rounding is rough: |A r| / |r| is near |A|.
static int measure(const RitzSolve *solve, CeedVector r, CeedVector v, CeedVector w, double *floor) {
  double b = 0, x = 0, of_r = 0, of_image = 0;

  RITZ_TRY(scaled_copy(solve, solve->b, true, v, &b));
  RITZ_TRY(scaled_copy(solve, solve->x, false, v, &x));
  RITZ_TRY(scaled_copy(solve, r, true, v, &of_r));
  RITZ_TRY(RitzVectorDot(v, v, &of_r));
  RITZ_TRY(ritz_system_apply(&solve->system, v, w));
  RITZ_TRY(RitzVectorDot(w, w, &of_image));
  *floor = 16 * eps_of(solve) * (sqrt(of_image / of_r) * x + b);
  return CEED_ERROR_SUCCESS;
}

// r: any multiple of the residual, not zero.
static int find_floor(const RitzSolve *solve, CeedVector r, double *floor) {
  CeedVector v = NULL, w = NULL;
  CeedVector *const vectors[] = {&v, &w};
  int ierr = ritz_solve_create_vectors(solve, 2, vectors);

  if (!ierr) ierr = measure(solve, r, v, w, floor);
  return ritz_first_error(ierr, ritz_solve_destroy_vectors(2, vectors));
}

// ---- Before the method runs ----

// The largest entry of b stands for its norm as that of r does.
int ritz_solve_expect_rounding(RitzSolver solver, const RitzSolve *solve, CeedVector r, double scale,
                               double norm, double largest_b) {
  const double eps = eps_of(solve), trusted = pow(eps, 0.6);
  double floor = 0;

  solver->floor = solver->trust = 0;
  if (!has_tolerance(solver) || !(norm > solver->atol) || !isfinite(norm)) return CEED_ERROR_SUCCESS;
  solver->floor = eps * norm;
  solver->trust = trusted * norm * fmax(1, isfinite(largest_b) ? largest_b / scale : 1);
  if (norm > solver->trust) return CEED_ERROR_SUCCESS;
  RITZ_TRY(find_floor(solve, r, &floor));
  if (isfinite(floor)) solver->floor = fmax(solver->floor, floor);
  return CEED_ERROR_SUCCESS;
}

// ---- When it has ended ----

static bool is_doubtful(const struct RitzSolver_private *solver) {
  const bool is_computed = solver->type == RITZ_SOLVER_GMRES || solver->type == RITZ_SOLVER_FGMRES;

  if (!has_tolerance(solver) || solver->iterations == 0 || solver->reason == RITZ_DIVERGED_NAN) return false;
  if (is_computed && (solver->reason == RITZ_CONVERGED_RTOL || solver->reason == RITZ_CONVERGED_ATOL))
    return false;
  return solver->final_residual <= solver->trust ||
         (solver->reason == RITZ_DIVERGED_BREAKDOWN && !is_computed);
}

// Where b - A x is more than was asked for: whether that is rounding, and whether another run would help.
static int judge_rounding(RitzSolver solver, const RitzSolve *solve, CeedVector r, bool *goes_on) {
  const bool has_converged = solver->reason > 0;         // so says the method
  const double norm = solver->final_residual, most = 64; // times the floor, which is an estimate
  const bool is_progress = norm < 0.5 * solver->run_residual;
  double floor = 0;

  RITZ_TRY(find_floor(solve, r, &floor));
  if (norm <= (has_converged ? most : 1) * floor)
    solver->reason = RITZ_CONVERGED_ROUNDING;
  else if (has_converged && !is_progress)
    solver->reason = RITZ_DIVERGED_BREAKDOWN;
  else if (has_converged && solver->iterations >= solver->max_it)
    solver->reason = RITZ_DIVERGED_MAX_IT;
  else
    *goes_on = has_converged;
  solver->floor = fmax(floor, eps_of(solve) * norm);
  return CEED_ERROR_SUCCESS;
}

static int look(RitzSolver solver, const RitzSolve *solve, CeedVector r, bool *goes_on) {
  double scale = 1, norm = 0;

  RITZ_TRY(ritz_solve_first_residual(solve, r, &scale, &norm, NULL));
  if (!isfinite(norm)) return CEED_ERROR_SUCCESS;
  solver->final_residual = norm;
  switch (solver->reason) {
  case RITZ_CONVERGED_RTOL:
  case RITZ_CONVERGED_ATOL:
  case RITZ_CONVERGED_ROUNDING:
    if (norm > fmax(solver->atol, solver->rtol * solver->initial_residual)) break;
    solver->reason = norm <= solver->atol ? RITZ_CONVERGED_ATOL : RITZ_CONVERGED_RTOL;
    return CEED_ERROR_SUCCESS;
  case RITZ_DIVERGED_INDEFINITE:
  case RITZ_DIVERGED_PRECONDITIONER:
  case RITZ_DIVERGED_BREAKDOWN:
    if (norm > 0 && norm <= solver->trust) break;
    return CEED_ERROR_SUCCESS;
  default: return CEED_ERROR_SUCCESS;
  }
  return judge_rounding(solver, solve, r, goes_on);
}

int ritz_solve_verify(RitzSolver solver, const RitzSolve *solve, bool *goes_on) {
  CeedVector r = NULL;

  *goes_on = false;
  if (!is_doubtful(solver)) return CEED_ERROR_SUCCESS;
  int ierr = ritz_solve_create_vector(solve, &r);
  if (!ierr) ierr = look(solver, solve, r, goes_on);
  return ritz_first_error(ierr, CeedVectorDestroy(&r));
}
