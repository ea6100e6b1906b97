// SPDX-License-Identifier: BSD-2-Clause
// -div grad u = f on a mesh with the values of a known u on the whole boundary, solved through the public
// interface, on elements of one shape or several. Called by test-convergence*.c, which ask how the error
// falls.
#ifndef RITZ_TESTS_POISSON_H
#define RITZ_TESTS_POISSON_H

#include <ritz.h>

// u(x) = prod_d sin(wave x_d + shift_d), or with power >= 1 the polynomial (wave sum_d shift_d x_d)^power
typedef struct {
  CeedInt power;
  double wave, shift[3];
} PoissonSolution;

typedef struct {
  CeedSize num_dofs;
  CeedInt iterations;
  double l2, h1;           // norm of u_h - u and of its gradient, integrated with degree + 3 Gauss points per
                           // direction, or on other shapes a rule of degree 2 degree + 4
  double norm;             // of u
  double interpolation_h1; // as h1, of the function with the values of u at the nodes
} PoissonResult;

// Solves with elements of the given degree. Returns a code of the library; CEED_ERROR_MAJOR if the solver
// does not converge. The context gets the messages.
int poisson_solve(Ceed ceed, RitzMesh mesh, CeedInt degree, const PoissonSolution *solution,
                  PoissonResult *result);
// The operator of the left-hand side, without boundary conditions; to be destroyed by the caller.
int poisson_create_laplacian(Ceed ceed, RitzMesh mesh, CeedInt degree, CeedOperator *laplacian);

#endif
