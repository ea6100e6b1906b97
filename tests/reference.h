// SPDX-License-Identifier: BSD-2-Clause
// What quadrature rules and tensor product bases are by definition, for tests that compare the library with
// it: plain formulas in extended precision, nothing shared with fe/. Called by tests of bases and operators.
#ifndef RITZ_TESTS_REFERENCE_H
#define RITZ_TESTS_REFERENCE_H

#include "tests/tap.h"

#include <float.h>
#include <stdbool.h>

// Distance from 1 to the next CeedScalar: tolerances are multiples of it.
static const double eps = sizeof(CeedScalar) == sizeof(float) ? (double)FLT_EPSILON : DBL_EPSILON;

enum { REFERENCE_MAX_1D = 16 }; // nodes or points in one direction

// P_0 .. P_n at x, and their derivatives unless dp is NULL.
void reference_legendre(int n, double x, double *p, double *dp);

// Rule of n <= REFERENCE_MAX_1D points on [-1,1]; w may be NULL.
void reference_quadrature(CeedQuadMode mode, int n, double *x, double *w);

// interp, grad [Q][P]: Lagrange polynomials through the P Gauss-Lobatto points, at the points x[Q].
void reference_lagrange(int P, int Q, const double *x, double *interp, double *grad);

// Tensor product of 1D tables [Q_1d][P_1d]: table [Q_1d^dim][P_1d^dim], first direction fastest in rows and
// columns, with `grad` in direction `derivative` (-1: none) and `interp` in the others.
void reference_tensor(int dim, int P_1d, int Q_1d, const double *interp, const double *grad, int derivative,
                      double *table);

// Whether arrays of this backend lie on a device, where several elements have another layout (top of
// ceed/ceed.h).
bool reference_is_device(Ceed ceed);

// ---- Arrays ----

// Arrays of n numbers, to be freed with free(): zeros; random ones in [-1,1), rounded to CeedScalar.
double *reference_new(CeedSize n);
double *reference_new_random(CeedSize n, uint64_t *seed);
void reference_fill_random(size_t n, double *a, uint64_t *seed);

// Largest entry and largest difference by absolute value, NaN if there is one; scalar product.
double reference_largest(CeedSize n, const double *a);
double reference_distance(CeedSize n, const double *a, const double *b);
double reference_dot(CeedSize n, const double *a, const double *b);

// ---- Vectors ----

// A vector of the `length` values, and the values of a vector (into `values`, or a new array). A failure
// returns NULL, or gives NaN.
CeedVector reference_vector(Ceed ceed, CeedSize length, const double *values);
void reference_values(CeedVector vector, double *values);
double *reference_new_values(CeedVector vector);

#endif
