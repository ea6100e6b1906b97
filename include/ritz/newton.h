// SPDX-License-Identifier: BSD-2-Clause
// Newton's method for F(u) = b on L-vectors: a residual operator, a linear solver for its Jacobian, a line
// search, the accuracy of linear solves by what they are worth, boundary values, load steps.
//
// In each step the linear solver solves J(u) du = b - F(u), then u += s du. The Jacobian is an operator of
// the program's whose passive fields read a vector, the state, which gets u before each linear solve; so are
// all that depend on it (preconditioners by a function that is called then).
//
// Boundary values are reached by the steps themselves: du has g - u at constrained entries, so that the first
// step carries the boundary's change into the interior by the Jacobian at a state without a jump. (Values
// that are written into u before leave a layer of elements that are stretched beyond all others; Jacobians
// are indefinite there.)
//
// Line search: s = 1, and where |F(u + s du) - b| has not fallen to (1 - 1e-4 s) of what it was, or is not
// finite, the least point of the parabola through it within 0.1 and 0.5 of s (Dennis & Schnabel, Numerical
// methods for unconstrained optimization and nonlinear equations, 1983, ch. 6.3). While boundary values are
// on their way the norm has to be finite alone. Accuracy of linear solves: |F_k / F_{k-1}|^2 times 0.9, the
// second choice of S. Eisenstat and H. Walker (SIAM J. Sci. Comput. 17, 1996) with its safeguard, at most
// `most`.
//
// Parts of a larger problem (ritz/exchange.h): the linear solver has RitzSolverSetPartOperator, the residual
// is RitzPartOperatorApply with the RitzPartOperator of F. Vectors are those of the parts, of which owned
// entries count, and norms those of all parts, so that all take the same steps. Before the state is set
// ghosts of u get the values of their owners, so that the state's have them, too; ghosts of u are zero after
// a solve. All parts make the same calls, with the same tolerances; monitors stop all of them or none.
//
// Memory: 5 vectors of CeedScalar during a solve, 40 bytes an unknown, one more with boundary values or
// loads, and those of the linear solver.
#ifndef RITZ_NEWTON_H
#define RITZ_NEWTON_H

#include <ritz/solver.h>
#include <ritz/vector.h>

typedef struct RitzNewton_private *RitzNewton;

// Positive: converged; negative: not, u is the last iterate. RitzNewtonReasonName gives a sentence.
typedef enum {
  RITZ_NEWTON_CONVERGED_RTOL = 1,     // |F - b| <= rtol times the first one with all boundary values
  RITZ_NEWTON_CONVERGED_ATOL = 2,     // |F - b| <= atol
  RITZ_NEWTON_CONVERGED_ROUNDING = 3, // no step lessens |F - b|, and the last one is rounding beside u
  RITZ_NEWTON_ITERATING = 0,          // no solve has ended
  // The limit of steps is reached. Do: load steps, a better first guess, or a higher limit.
  RITZ_NEWTON_DIVERGED_MAX_IT = -1,
  // F(u) is not finite at the first guess. Do: a first guess in the domain of the law, for example without
  // inverted elements.
  RITZ_NEWTON_DIVERGED_NAN = -2,
  // No step lessens |F - b|. Do: check the Jacobian by RitzOperatorCheckDerivative,
  // load steps, a smaller tolerance of the linear solver.
  RITZ_NEWTON_DIVERGED_LINE_SEARCH = -3,
  // The linear solver: RitzSolverGetReason says why. Its iteration limit is none of these: what it has
  // reached is taken. Do: what that reason asks for.
  RITZ_NEWTON_DIVERGED_LINEAR = -4,
  RITZ_NEWTON_DIVERGED_MONITOR = -5, // the monitor asked to stop
} RitzNewtonReason;
CEED_EXTERN const char *RitzNewtonReasonName(RitzNewtonReason reason); // never NULL

// Called before each linear solve, when the state has its values; u is the iterate. Any other result than 0
// ends the solve, which returns it.
typedef int (*RitzNewtonUpdateFunction)(void *ctx, CeedVector u);

// A method without residual and linear solver.
CEED_EXTERN int RitzNewtonCreate(Ceed ceed, RitzNewton *newton);
CEED_EXTERN int RitzNewtonDestroy(RitzNewton *newton);
// F: an operator (counted), or a function y := F(x); the later of the two calls decides.
CEED_EXTERN int RitzNewtonSetResidual(RitzNewton newton, CeedOperator op);
CEED_EXTERN int RitzNewtonSetResidualFunction(RitzNewton newton, RitzApplyFunction residual, void *ctx);
// The solver of J(u) du = r, with operator, constraints and preconditioner; borrowed: it lives as long. Its
// constraints are those of this method. Its relative tolerance is set by solves.
CEED_EXTERN int RitzNewtonSetLinearSolver(RitzNewton newton, RitzSolver solver);
// The vector that the Jacobian's passive fields read (counted; NULL: none), of the unknown's length.
CEED_EXTERN int RitzNewtonSetState(RitzNewton newton, CeedVector state);
// Called before each linear solve, to make what the Jacobian depends on. NULL: none.
CEED_EXTERN int RitzNewtonSetUpdate(RitzNewton newton, RitzNewtonUpdateFunction update,
                                    void *ctx); // NULL: none
// Values at the constrained entries (counted; NULL: those of u on entry stay). Other entries are not looked
// at.
CEED_EXTERN int RitzNewtonSetBoundaryValues(RitzNewton newton, CeedVector values);
// When a solve ends: |F - b| <= rtol times the first one or <= atol, or after max_it steps. Defaults: rtol
// 1e-8, atol 0, max_it 30.
CEED_EXTERN int RitzNewtonSetTolerances(RitzNewton newton, double rtol, double atol, CeedInt max_it);
// Relative tolerances of the linear solves: that of the first one, and the largest of any; both between 0 and
// 1, defaults 0.1. Small numbers ask for Newton's method without forcing terms.
CEED_EXTERN int RitzNewtonSetForcing(RitzNewton newton, double first, double most);
// Called before the first and after every step with |F - b|; as of RitzSolverSetMonitor. NULL: none.
CEED_EXTERN int RitzNewtonSetMonitor(RitzNewton newton, RitzMonitorFunction monitor, void *ctx);
// Solves F(u) = b (b NULL: 0) from the guess in u. Not converging is not an error: ask for the reason.
// Errors: CEED_ERROR_INCOMPLETE without residual or linear solver, CEED_ERROR_DIMENSION (lengths of b, u,
// state, values), CEED_ERROR_INCOMPATIBLE (a linear solver in parts of a larger problem, and a residual by
// RitzNewtonSetResidual, which is that of this part alone), those of operator, solver and functions.
CEED_EXTERN int RitzNewtonSolve(RitzNewton newton, CeedVector b, CeedVector u);

// Called with a load between 0 and 1 before a solve at it: sets what F and the boundary values depend on.
typedef int (*RitzLoadFunction)(void *ctx, double load);
// Solves at loads 1/num_steps, 2/num_steps, .. 1. Where a solve diverges u goes back to what it was, and the
// step is halved, down to 1/1024 of the first; after a solve that converged it is doubled again up to the
// first. *reached (may be NULL): the last load that has a solution, which is in u. Counts are sums over all
// solves, the reason is that of the last. Errors as RitzNewtonSolve; CEED_ERROR_DIMENSION: num_steps below 1.
CEED_EXTERN int RitzNewtonSolveByLoads(RitzNewton newton, CeedInt num_steps, RitzLoadFunction set_load,
                                       void *ctx, CeedVector b, CeedVector u, double *reached);

// How the last solve ended.
CEED_EXTERN int RitzNewtonGetReason(RitzNewton newton, RitzNewtonReason *reason);
// Steps, and iterations of the linear solver in them; each pointer may be NULL.
CEED_EXTERN int RitzNewtonGetIterations(RitzNewton newton, CeedInt *steps, CeedInt *linear);
// |F - b| of the first guess and the last iterate, over free entries; each pointer may be NULL.
CEED_EXTERN int RitzNewtonGetResidual(RitzNewton newton, double *initial, double *final);

#endif
