// SPDX-License-Identifier: BSD-2-Clause
// Bounds of the spectrum of P A by the method of Lanczos, for Chebyshev polynomials. Used by solver/ only.
#ifndef RITZ_SOLVER_EIGENVALUES_H
#define RITZ_SOLVER_EIGENVALUES_H

#include "solver/preconditioner.h"

typedef struct {
  double smallest, largest; // Ritz values, within the spectrum but for rounding; 0, 0: nothing to iterate on
  CeedInt num_steps;        // made: fewer than asked for where the space is exhausted
  bool is_definite;         // no r . P r <= 0 and no p . A p <= 0 was met; else the values mean nothing
} RitzSpectrum;

// P A on the free entries, off the nullspace; pc NULL: A alone. n: length of vectors, of the precision. seed
// tells starting vectors apart.
int ritz_estimate_spectrum(const RitzSystem *system, RitzPreconditioner pc, CeedSize n,
                           CeedScalarType precision, CeedInt num_steps, uint64_t seed,
                           RitzSpectrum *spectrum);
// The same, a second time with twice the steps and another start where the first meets r . P r <= 0 or p . A
// p <= 0, which rounding can bring about; then CEED_ERROR_MAJOR.
int ritz_estimate_definite_spectrum(const RitzSystem *system, const char *call, RitzPreconditioner pc,
                                    CeedSize n, CeedScalarType precision, CeedInt num_steps,
                                    RitzSpectrum *spectrum);
// The smallest and the largest eigenvalue of the symmetric tridiagonal matrix with this diagonal [n] and
// these numbers beside it [n - 1], n > 0, by bisection (Givens 1954: signs of the pivots).
void ritz_tridiagonal_extremes(int n, const double *diagonal, const double *beside, double *smallest,
                               double *largest);

// What Chebyshev polynomials need (solver/chebyshev.c): the spectrum, estimated where options->largest is 0,
// and the upper bound, safety included.
int ritz_chebyshev_bounds(const RitzChebyshevOptions *options, const RitzSystem *system, const char *call,
                          RitzPreconditioner inner, CeedSize n, CeedScalarType precision,
                          RitzSpectrum *spectrum, double *upper);

#endif
