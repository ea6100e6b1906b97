// SPDX-License-Identifier: BSD-2-Clause
// Bounds of the spectrum of P A by the method of Lanczos, for Chebyshev polynomials. Used by solver/ only.
#ifndef RITZ_SOLVER_EIGENVALUES_H
#define RITZ_SOLVER_EIGENVALUES_H

#include "solver/preconditioner.h"

typedef struct {
  double smallest, largest; // Ritz values, within the spectrum but for rounding; 0, 0: nothing to iterate on
  CeedInt num_steps;        // made: fewer than asked for where the space is exhausted, or the system
  // turns out to have no solution beside a nullspace
  // RITZ_ITERATING: none. Else the values mean nothing: RITZ_DIVERGED_PRECONDITIONER (r . P r <= 0),
  // RITZ_DIVERGED_INDEFINITE (p . A p <= 0), RITZ_DIVERGED_NAN.
  RitzSolverReason fault;
} RitzSpectrum;

// v := pseudo-random numbers in [-1, 1), the same for the same seed; zero on constrained entries, orthogonal
// to the nullspace.
int ritz_system_set_random(const RitzSystem *system, CeedVector v, uint64_t seed);

// P A on the free entries, off the nullspace; pc NULL: A alone. n: length of vectors, of the precision. seed
// tells starting vectors apart.
int ritz_estimate_spectrum(const RitzSystem *system, RitzPreconditioner pc, CeedSize n,
                           CeedScalarType precision, CeedInt num_steps, uint64_t seed,
                           RitzSpectrum *spectrum);

// Bounds for Chebyshev polynomials (solver/chebyshev.c): the spectrum, estimated where options->largest is 0,
// and the upper bound, safety included. An estimate that meets a fault, which rounding can bring about, is
// made once more with twice the steps and another start.
int ritz_chebyshev_bounds(const RitzChebyshevOptions *options, const RitzSystem *system,
                          RitzPreconditioner inner, CeedSize n, CeedScalarType precision,
                          RitzSpectrum *spectrum, double *upper);
// Estimates once more with four times the steps, where a bound has turned out too small: *upper rises.
int ritz_chebyshev_better_bound(const RitzChebyshevOptions *options, const RitzSystem *system,
                                RitzPreconditioner inner, CeedSize n, CeedScalarType precision,
                                RitzSpectrum *spectrum, double *upper);
// Coefficients of step i = 0, 1, ...: d := old d + fresh z (formulas in solver/chebyshev.c). rho: a number
// kept from step to step, of the first kind.
typedef struct {
  double old, fresh;
} RitzChebyshevStep;
RitzChebyshevStep ritz_chebyshev_step(RitzChebyshevKind kind, double lower, double upper, int i, double *rho);

#endif
