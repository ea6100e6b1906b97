// SPDX-License-Identifier: BSD-2-Clause
// Krylov solvers on L-vectors. Which method serves when, with examples: doc/solvers.md.
//
// Constrained (Dirichlet) entries: x keeps the values it has there on entry, the residual is zero there. So
// inhomogeneous conditions are imposed by writing them into x before the solve; the operator is applied
// without boundary conditions. Whatever a preconditioner or a nullspace has there is ignored.
//
// Memory of a solve, kept for the next one, in vectors of CeedScalar beside b and x, P standing for a
// preconditioner that is not a diagonal, m for the steps between restarts:
//
//                 without P   with P   bytes an unknown, with P
//     cg          3           4        32    with a diagonal 4, too: its inverse
//     fcg         4           4        32
//     minres      6           8        64
//     gmres       m + 2       m + 2    8 m + 16    as steps need them; with P of another precision as fgmres
//     fgmres      2 m + 1     2 m + 1  16 m + 8
//     chebyshev   3           4        32
//     richardson  3           4        32
//
// and one for each vector of a nullspace, 8 bytes per constrained entry, as much again on devices; with the
// merged variant on the host 9 bytes more per 64 entries (1 without constraints).
//
// The merged variant of conjugate gradients does the vector arithmetic inside the kernels of the operator,
// chunk by chunk before the first and after the last touch, so that r, p and A p come from memory once an
// iteration; on devices in few passes beside them. It is the same method with the same iterates, but for
// rounding. On devices all operators can be merged; on the host those that run as one kernel, or as a
// composite of these, with the same restriction for active input and output and without passive outputs. In
// parts of a larger problem (RitzSolverSetReduction) merged means one reduction an iteration and two passes,
// for any operator, without preconditioner or with RitzSolverSetJacobi. On hosts, whose passes take 0.2 to
// 0.4 ns an unknown longer for its sums, it is for parts so small that a reduction takes more. On devices
// whose reductions stay there (RitzSolverSetPartOperator, NCCL) it is what it is in one part.
//
// Vector arithmetic is done where the operator runs: on the threads of its context, or on its device; b, x
// and the diagonal are copied where they belong to another context. Sums are compensated: their relative
// error does not grow with the length. Results do not depend on the scale of b: the residual is kept relative
// to its first size, and counts as zero below 2^-500 of it (2^-80 when CeedScalar is float).
//
// Residuals that methods carry along say nothing below the rounding of b - A x. So a guess whose residual is
// small beside b is compared with that rounding (one more apply), and a solve whose residual has become that
// small (4e-10 of b, with float 7e-5) computes it once more from x at its end; where it is not what was
// asked for, the method goes on from there, or has reached rounding (RITZ_CONVERGED_ROUNDING). With both
// tolerances 0 nothing of that is done: such solves are for a number of iterations.
#ifndef RITZ_SOLVER_H
#define RITZ_SOLVER_H

#include <ceed.h>
#include <ritz/preconditioner.h>
#include <stdint.h>

typedef struct RitzSolver_private *RitzSolver;

// Positive: converged; negative: not. RitzSolverReasonName gives a sentence.
typedef enum {
  RITZ_CONVERGED_RTOL = 1,     // |r| <= rtol * |r_0|
  RITZ_CONVERGED_ATOL = 2,     // |r| <= atol (also: nothing to do); looked at before rtol
  RITZ_CONVERGED_ROUNDING = 3, // |r| is of the size of rounding in b - A x, about 16 eps (|A| |x| + |b|)
  RITZ_ITERATING = 0,          // no solve has ended: none was tried, or the last one failed with an error
  // Iteration limit reached. Do: take a better preconditioner (multigrid), raise the limit, or ask for less.
  RITZ_DIVERGED_MAX_IT = -1,
  // p . A p <= 0: the operator is not positive definite on the free entries (cg, fcg, and the estimate of
  // chebyshev). Do: constrain the boundary or name the nullspace; of symmetric indefinite operators MINRES,
  // of others GMRES.
  RITZ_DIVERGED_INDEFINITE = -2,
  // A norm or product is not a finite number; x is the last iterate. Do: look for NaN in b, x, the
  // coefficients and the coordinates; /cpu/self/check finds outputs that a QFunction leaves out.
  RITZ_DIVERGED_NAN = -3,
  RITZ_DIVERGED_MONITOR = -4, // the monitor asked to stop
  // A free entry of the diagonal is not a positive finite number; r . M r <= 0: conjugate gradients see that
  // behind the step and take it back, so that x is the last iterate up to rounding. Do: GMRES, or a symmetric
  // definite preconditioner; look at the signs of coefficients and of the mesh's Jacobians.
  RITZ_DIVERGED_PRECONDITIONER = -5,
  // The method cannot go on: no new direction, though the residual is not small. MINRES and GMRES: A is
  // singular and b not in its range, x then has the least residual there is (MINRES in the norm of P, up to
  // |A r| <= sqrt(eps) |A| |r|; not the shortest such x); GMRES with restarts: a cycle without progress. All:
  // the method has carried a small residual along, b - A x is not small, and another run does not help. Do:
  // name the nullspace, make b orthogonal to it, or ask for less than rounding allows.
  RITZ_DIVERGED_BREAKDOWN = -6,
  // The residual has grown beyond 1e10 times the first one. Do: lessen the damping of richardson, widen the
  // bounds of chebyshev, or take cg or gmres.
  RITZ_DIVERGED_GROWTH = -7,
} RitzSolverReason;

typedef enum {
  RITZ_CG_AUTO,     // merged where the operator can be; in parts of a larger problem on devices alone
  RITZ_CG_STANDARD, // the reference: vector work in passes of its own, three of them beside an apply
  RITZ_CG_MERGED,
} RitzCGVariant;

// y := A x; called instead of an operator. x and y are L-vectors of the system's length. Any other result
// than 0 ends the solve, which returns it.
typedef int (*RitzApplyFunction)(void *ctx, CeedVector x, CeedVector y);
// Called before the first and after every iteration with the norm of the true (not preconditioned) residual
// r = b - A x (2-norm over free entries, updated by recurrence; GMRES and FGMRES: computed anew at restarts
// and at the end). Setting *stop ends the solve, unless it has
// just converged. Any other result than 0 ends the solve, which returns it. x is the iterate after the solve
// only.
typedef int (*RitzMonitorFunction)(void *ctx, CeedInt iteration, double residual, bool *stop);

// Methods. M: the preconditioner.
typedef enum {
  RITZ_SOLVER_CG,          // A and M symmetric positive definite (a nullspace of A apart)
  RITZ_SOLVER_FLEXIBLE_CG, // M may change from step to step (Polak-Ribiere); one more product
  RITZ_SOLVER_MINRES, // A symmetric, indefinite or singular; M symmetric positive definite (Paige & Saunders
                      // 1975)
  RITZ_SOLVER_GMRES,  // any A; M on the right, fixed (Saad & Schultz 1986)
  RITZ_SOLVER_FGMRES, // any A; M on the right, may change (Saad 1993); twice the vectors
  RITZ_SOLVER_CHEBYSHEV, // A and M symmetric positive definite, bounds of the spectrum estimated; no products
                         // but the norm
  RITZ_SOLVER_RICHARDSON, // x += damping M r
} RitzSolverType;
CEED_EXTERN const char *RitzSolverTypeName(
    RitzSolverType type); // "cg", "fcg", "minres", ...; NULL past the end

// A solver of a method, without an operator.
CEED_EXTERN int RitzSolverCreate(Ceed ceed, RitzSolverType type, RitzSolver *solver);
CEED_EXTERN int RitzSolverCreateCG(Ceed ceed, RitzSolver *solver); // RITZ_SOLVER_CG
CEED_EXTERN int RitzSolverDestroy(RitzSolver *solver);
// The later of the two calls decides what is applied.
CEED_EXTERN int RitzSolverSetOperator(RitzSolver solver, CeedOperator op); // counted reference
CEED_EXTERN int RitzSolverSetApply(RitzSolver solver, RitzApplyFunction apply, void *ctx);
// Jacobi: z = r / diagonal. NULL removes it. The vector is referenced, not copied: a solve sees what it holds
// then. The inverses (8 bytes an entry) are kept for the next solve, and made anew where the vector has been
// written to since, constraints have been set or the operator's context is another one.
CEED_EXTERN int RitzSolverSetJacobi(RitzSolver solver, CeedVector diagonal);
// Any preconditioner (counted; NULL: none) instead of Jacobi; the later of the two calls decides. CG and
// MINRES need a symmetric one: others are CEED_ERROR_INCOMPATIBLE in RitzSolverSolve, the message says which
// method serves.
CEED_EXTERN int RitzSolverSetPreconditioner(RitzSolver solver, RitzPreconditioner pc);
// A basis of the nullspace of A (constants of a Neumann problem, rigid body motions): num <= 64 vectors,
// copied and orthonormalized; b and all residuals are projected, x gets no part of it beyond that of its
// first guess. num = 0 removes it. Linearly dependent ones: CEED_ERROR_INCOMPATIBLE. In a part of a larger
// problem (RitzSolverSetPartOperator comes first): the part's entries of vectors of the whole, which solves
// make orthonormal and look at; values at ghosts count for nothing.
CEED_EXTERN int RitzSolverSetNullspace(RitzSolver solver, CeedInt num, const CeedVector basis[]);
// GMRES, FGMRES: steps before a restart, which is how many vectors are kept (twice as many by FGMRES);
// default 30.
CEED_EXTERN int RitzSolverSetRestart(RitzSolver solver, CeedInt restart);
// Richardson: factor of a step, default 1.
CEED_EXTERN int RitzSolverSetDamping(RitzSolver solver, double damping);
// Chebyshev: kind, bounds and their estimate (degree is not looked at). Default: the first kind between the
// extreme Ritz values of 12 steps. lower_fraction 0: the smallest Ritz value, where the spectrum is
// estimated; eigenvalues below converge slowly, so give a fraction where the condition number is known. When
// the residual has grown a hundredfold, an estimate is made once more with four times the steps.
CEED_EXTERN int RitzSolverSetChebyshev(RitzSolver solver, const RitzChebyshevOptions *options);
// Entries of the L-vector that keep their values, in any order; copied. num = 0 removes them. Negative
// entries are CEED_ERROR_DIMENSION here, entries beyond the end of the vectors in RitzSolverSolve.
CEED_EXTERN int RitzSolverSetConstraints(RitzSolver solver, int64_t num, const int64_t *entries);
CEED_EXTERN int RitzSolverSetConstraintIndices(RitzSolver solver, RitzIndices entries); // counted; NULL: none
// When a solve ends: |r| <= rtol |r_0| or |r| <= atol, or after max_it iterations. Defaults: rtol 1e-8, atol
// 0, max_it 10000. Negative values and NaN are CEED_ERROR_INCOMPATIBLE.
CEED_EXTERN int RitzSolverSetTolerances(RitzSolver solver, double rtol, double atol, CeedInt max_it);
// How conjugate gradients do their vector work; default RITZ_CG_AUTO.
CEED_EXTERN int RitzSolverSetVariant(RitzSolver solver, RitzCGVariant variant);
// The vectors are parts of those of a larger problem: products and norms are reduced over all parts by this
// function (NULL: none), which all parts call alike. Entries that belong to other parts have to be
// constrained. With RitzSolverSetApply; an operator that is applied by itself sees this part alone.
// RitzSolverSetPartOperator (ritz/exchange.h) sets all that. While the solver runs, products that functions
// of the program take in its context (monitors, preconditioners) are those of all parts, too: all take them,
// or none. Errors of RitzSolverSolve: CEED_ERROR_INCOMPATIBLE (with RitzSolverSetOperator).
CEED_EXTERN int RitzSolverSetReduction(RitzSolver solver, RitzReduceFunction reduce, void *ctx);
// Optional, after that: the same function, with the same ctx, for numbers in the memory where the solver's
// context computes, in the order of its work. Sums of devices that are only used there (RitzScalars) need no
// way to the host and back then. NULL: by way of the host. Errors: CEED_ERROR_INCOMPATIBLE (no reduction is
// set).
CEED_EXTERN int RitzSolverSetReductionInMemory(RitzSolver solver, RitzReduceFunction reduce);
// Optional, after RitzSolverSetReduction: the first num_owned entries of vectors are those of this part; sums
// count them alone, so that the function that is applied may write to the others in its input, too, and need
// not clear them. They are constrained as before, and zero in x after the solve. -1: all entries count.
// Errors: CEED_ERROR_DIMENSION (below -1; beyond the end of the vectors in RitzSolverSolve),
// CEED_ERROR_INCOMPATIBLE (no reduction is set).
CEED_EXTERN int RitzSolverSetNumOwned(RitzSolver solver, CeedSize num_owned);
// A function that sees each residual.
CEED_EXTERN int RitzSolverSetMonitor(RitzSolver solver, RitzMonitorFunction monitor, void *ctx); // NULL: none
// Begins to make the kernels of the operator and of the method's own steps with a preconditioner of this
// precision, beside what the program does next: makes the preconditioner, for one. Solves begin with it, so
// that it is never needed. As RitzOperatorsPrepare in the background. Errors: those of
// CeedOperatorCheckReady; CEED_ERROR_INCOMPATIBLE (no such precision).
CEED_EXTERN int RitzSolverPrepare(RitzSolver solver, CeedScalarType precision);
// Solves A x = b from the initial guess in x. Not converging is not an error: ask for the reason. Errors:
// CEED_ERROR_INCOMPLETE without an operator, CEED_ERROR_INCOMPATIBLE when b and x are the same vector or the
// operator has no active vectors, CEED_ERROR_DIMENSION when b, x, the operator, the diagonal and the
// constraints do not fit together, CEED_ERROR_UNSUPPORTED when the merged variant is asked for an operator
// that cannot be merged; errors of the operator are passed on, x then holds the last iterate or the one
// before. Work vectors stay with the solver until it is destroyed or solves another size: the next solve
// allocates nothing (but for a nullspace and Chebyshev's estimate of bounds, which are made anew).
CEED_EXTERN int RitzSolverSolve(RitzSolver solver, CeedVector b, CeedVector x);
// How the last solve ended; the sentence for a reason.
CEED_EXTERN int RitzSolverGetReason(RitzSolver solver, RitzSolverReason *reason);
CEED_EXTERN const char *RitzSolverReasonName(RitzSolverReason reason); // never NULL
// Iterations of the last solve.
CEED_EXTERN int RitzSolverGetIterations(RitzSolver solver, CeedInt *iterations);
// Variant of the last solve: RITZ_CG_AUTO before it; *reason (static string): why an operator was
// not merged, NULL where it was or was not asked to be. Each pointer may be NULL.
CEED_EXTERN int RitzSolverGetVariantUsed(RitzSolver solver, RitzCGVariant *used, const char **reason);
// Norms of the first and the last residual; each pointer may be NULL. The last one is that of b - A x as
// computed from x where rounding could matter (above), else as carried along.
CEED_EXTERN int RitzSolverGetResidual(RitzSolver solver, double *initial, double *final);

#endif
