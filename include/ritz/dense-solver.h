// SPDX-License-Identifier: BSD-2-Clause
// Dense systems A X = B with the accuracy of double precision, from a factorization that may be of a lower
// one: LU with partial pivoting, or Cholesky, in double, float, or with products of operands that are
// rounded to fewer bits; then refinement in double.
//
//     RitzDenseSolverCreate(ceed, n, &solver);
//     RitzDenseSolverFactor(solver, A, n);
//     RitzDenseSolverSolve(solver, 1, b, x);
//     RitzDenseSolverGetReport(solver, &report); // report.is_converged, .backward_error, .precision, .reason
//
// *Arrays* are double whatever CeedScalar is, column-major, in the memory where the context computes: the
// host's with /cpu, the device's with /gpu; other memory is refused with CEED_ERROR_BACKEND as far as the
// address shows it. A stays the caller's: it is read, not copied, and has to live, unchanged, until the last
// solve: residuals are made with it, and where a precision does not do it is factorized again.
//
// *Method.* Rows and columns are scaled by powers of 2. Panels of 32 columns are factorized in float, or in
// double; in products of more the operands are rounded to the precision, and sums are in float. The factors
// are kept in float. A column of X is done when the backward error |b - A x| / (|A| |x|), in maximum norms,
// is at most the tolerance. Classical refinement adds the factors' solution for the residual;
// refinement by GMRES (30 steps before a restart) solves for the correction with the factors as
// preconditioner on the left, and converges far beyond. Where the backward error does not halve twice,
// numbers are not finite, or the iterations are used up, the next precision takes over: F16 and TF32 -> F32,
// BF16 -> TF32, F32 and TF32X3 -> F64. Reports tell it, and a line on stderr (RITZ_WARNINGS; under
// RITZ_STRICT it is an error).
//
// *Routes.* Factorizations in double and float are made by own kernels, or by a library that is looked up at
// run time, once in a process: cuSOLVER on CUDA devices, LAPACK on hosts. Nothing is linked. All the rest is
// own. LAPACK has the threads that its own variables give it, not those of the context.
// doc/dense-solver.md says where libraries are looked for.
//
// Calls wait for the context's work, and cannot be captured in graphs. Results repeat bit for bit on the same
// context and machine, by a vendor's library as far as its own do. Contexts may factorize and solve on one
// device at the same time.
//
// *Memory* beside A: 4 n^2 bytes for factors (F64: 8 n^2), on hosts 4 to 6 KiB n for blocks while they
// are made, on devices 1 KiB n (F64: 2) for inverses of diagonal blocks, and up to 50 vectors of n doubles;
// the report has num_bytes.
#ifndef RITZ_DENSE_SOLVER_H
#define RITZ_DENSE_SOLVER_H

#include <ceed.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct RitzDenseSolver_private *RitzDenseSolver;

// Of the factorization. Roundoff of operands: F64 2^-53, F32 and TF32X3 2^-24, TF32 and F16 2^-11, BF16 2^-8.
typedef enum {
  RITZ_DENSE_AUTO, // what is expected to be fastest: by n, the context and the route; Explain tells it
  RITZ_DENSE_F64,
  RITZ_DENSE_F32,
  RITZ_DENSE_TF32X3, // operands in two parts of TF32, three products
  RITZ_DENSE_TF32,   // float with 10 bits behind the point
  RITZ_DENSE_BF16,
  RITZ_DENSE_F16,
} RitzDensePrecision;

typedef enum {
  // GMRES; of factors in F32 and TF32X3 classical where their condition times roundoff is small, and GMRES
  // where that stagnates; of factors in F64 classical.
  RITZ_REFINEMENT_AUTO,
  RITZ_REFINEMENT_NONE, // the factors' solution as it is; no other precision takes over for its accuracy
  RITZ_REFINEMENT_CLASSICAL,
  RITZ_REFINEMENT_GMRES,
} RitzDenseRefinement;

// Who factorizes in F64 and F32; TF32X3 and what is rounded to less have own kernels alone.
typedef enum {
  RITZ_DENSE_ROUTE_AUTO,   // what is faster as far as it was measured; of `:deterministic` contexts own
  RITZ_DENSE_ROUTE_OWN,    // own kernels
  RITZ_DENSE_ROUTE_VENDOR, // cuSOLVER, LAPACK
} RitzDenseRoute;

// n >= 0. Errors: CEED_ERROR_DIMENSION (n < 0 or n >= 2^31), CEED_ERROR_UNSUPPORTED where the context has no
// dense solver.
CEED_EXTERN int RitzDenseSolverCreate(Ceed ceed, int64_t n, RitzDenseSolver *solver);
CEED_EXTERN int RitzDenseSolverDestroy(RitzDenseSolver *solver);

// Precision, symmetry and route count from the next Factor on, the rest from the next Solve on.
// Default RITZ_DENSE_AUTO.
CEED_EXTERN int RitzDenseSolverSetFactorPrecision(RitzDenseSolver solver, RitzDensePrecision precision);
// A is symmetric positive definite, both triangles are there: Cholesky. Default false.
CEED_EXTERN int RitzDenseSolverSetSymmetricPositive(RitzDenseSolver solver, bool is_symmetric_positive);
// Default RITZ_DENSE_ROUTE_AUTO. With RITZ_DENSE_ROUTE_VENDOR precisions are F64, F32 or AUTO; of others
// Factor is CEED_ERROR_UNSUPPORTED. Errors: CEED_ERROR_UNSUPPORTED, after which the route is that of before:
// the vendor's library is not found or cannot be used, the message says why.
CEED_EXTERN int RitzDenseSolverSetRoute(RitzDenseSolver solver, RitzDenseRoute route);
// How solutions are refined; default RITZ_REFINEMENT_AUTO.
CEED_EXTERN int RitzDenseSolverSetRefinement(RitzDenseSolver solver, RitzDenseRefinement refinement);
// Of the backward error; default 0, which means sqrt(n) 2^-53. Negative ones, infinity and NaN:
// CEED_ERROR_INCOMPATIBLE.
CEED_EXTERN int RitzDenseSolverSetTolerance(RitzDenseSolver solver, double tolerance);
// For each column and precision, steps of GMRES counted singly; default 50, at least 0.
CEED_EXTERN int RitzDenseSolverSetMaxIterations(RitzDenseSolver solver, CeedInt max_iterations);

// Factorizes A [n][ld], ld >= n. What the precision cannot (a pivot that is zero in it, or not finite) the
// next one does. Errors: CEED_ERROR_DIMENSION (ld), after which factors are those of before;
// CEED_ERROR_INCOMPATIBLE, after which there are none: A has entries that are not finite, is singular (in
// double a pivot is zero), or is not positive definite (a leading minor is not positive in double). With
// n = 0, A may be NULL.
CEED_EXTERN int RitzDenseSolverFactor(RitzDenseSolver solver, const double *A, int64_t ld);
// The same of the entries of a vector in double (counted; its values are read in each Solve as well) with at
// least ld (n - 1) + n entries.
CEED_EXTERN int RitzDenseSolverFactorVector(RitzDenseSolver solver, CeedVector A, int64_t ld);

// X := A^-1 B, both [num_columns][n] without gaps; X may be B. Not to reach the tolerance is no error: ask
// the report. Errors: CEED_ERROR_INCOMPLETE without factors; CEED_ERROR_DIMENSION (num_columns < 0);
// CEED_ERROR_INCOMPATIBLE: B has entries that are not finite, or a factorization that takes over fails.
// Columns before the one at fault are solved.
CEED_EXTERN int RitzDenseSolverSolve(RitzDenseSolver solver, int64_t num_columns, const double *B, double *X);
// The same with vectors in double of num_columns n entries. B and X may be the same. After an error another X
// of exactly that length has no values.
CEED_EXTERN int RitzDenseSolverSolveVectors(RitzDenseSolver solver, int64_t num_columns, CeedVector B,
                                            CeedVector X);

// Estimates |S|_1 |S^-1|_1 of the scaled matrix S from below, by the factors: as a rule within a factor of 3,
// but hardly beyond the reciprocal of their roundoff. Five solves and as many transposed ones, or fewer; the
// report keeps it. Errors: CEED_ERROR_INCOMPLETE without factors.
CEED_EXTERN int RitzDenseSolverEstimateCondition(RitzDenseSolver solver, double *condition);

typedef struct {
  RitzDensePrecision asked;     // at the last Factor, AUTO resolved
  RitzDensePrecision precision; // of the factors there are now; AUTO: none
  // How many precisions were given up since Factor, and why the last one was: a sentence, static; NULL: none.
  CeedInt num_given_up;
  const char *reason;
  RitzDenseRoute route; // of the factors there are now; AUTO: none, or of order 0
  const char *library;  // file of the vendor's library that has made them, static; NULL: own kernels
  double condition;     // RitzDenseSolverEstimateCondition; 0: neither called nor needed for AUTO
  // Of the last Solve; zeros before it.
  RitzDenseRefinement refinement; // of the last column; never AUTO: NONE where nothing was to be refined
  CeedInt iterations;             // the most of a column, precisions that were given up included
  double backward_error;          // the largest of a column
  bool is_converged;              // all columns reached the tolerance
  // Memory that the solver has in the context's memory, with what it gives cuSOLVER to work in.
  size_t num_bytes;
} RitzDenseReport;

// What became of the last Factor and Solve.
CEED_EXTERN int RitzDenseSolverGetReport(RitzDenseSolver solver, RitzDenseReport *report);
// "auto", "f64", "f32", "tf32x3", "tf32", "bf16", "f16"; "auto", "none", "classical", "gmres"; "auto", "own",
// "vendor". NULL past the end.
CEED_EXTERN const char *RitzDensePrecisionName(RitzDensePrecision precision);
CEED_EXTERN const char *RitzDenseRefinementName(RitzDenseRefinement refinement);
CEED_EXTERN const char *RitzDenseRouteName(RitzDenseRoute route);
// For people: sizes, what computes, the route and its library, the report.
CEED_EXTERN int RitzDenseSolverExplain(RitzDenseSolver solver, FILE *stream);

#endif
