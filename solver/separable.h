// SPDX-License-Identifier: BSD-2-Clause
// Separable matrices that stand for an operator on every element of a space: what element-wise Schwarz
// methods need of them, set up once on the host. Called by solver/schwarz.c.
//
// On the (p+1)^dim nodes of element K, all directions alike but for numbers, here for dim = 3:
//
//     B_K = c_0 M x M x A + c_1 M x A x M + c_2 A x M x M + c_3 M x M x M      (first direction: last factor)
//
// A and M are the stiffness and mass matrices of [-1,1] whose end rows contain the share of a neighbour that
// is alike: their corner entries are doubled, so A is definite. With A X = M X diag(lambda), X^T M X = I the
// inverse is (X x X x X) diag(1 / (c_0 lambda_i + c_1 lambda_j + c_2 lambda_k + c_3)) (X x X x X)^T.
//
// The factors c of an element count up to a common multiple, which cancels in the method (schwarz.c): they
// are kept with sum one.
#ifndef RITZ_SOLVER_SEPARABLE_H
#define RITZ_SOLVER_SEPARABLE_H

#include <ritz/space.h>

#include "core/core.h"

typedef struct {
  CeedInt dim, P;              // P: nodes in one direction
  CeedInt num_elem, num_nodes; // num_nodes: of an element
  CeedInt num_comp;
  CeedElemRestriction rstr;              // counted, of the space: its nodes are the offsets over num_comp
  double *X, *lambda, *stiffness, *mass; // owned: [P][P] with eigenvectors as columns, [P], diagonals [P]
  double *terms;                         // owned, [num_nodes][dim + 1]: of c_d in the diagonal at a node
  double *factors;                       // owned, [num_elem][dim + 1]
  double anisotropy;                     // largest ratio of two directions' factors in one element
} RitzSeparable;

// factors [num_elem][dim + 1]: means over the reference element of mu G_dd for each direction d and of lambda
// det (see ritz/geometry.h); NULL: those of the mesh for mu = 1, lambda = 0. Errors: CEED_ERROR_UNSUPPORTED
// (elements that are no lines, quadrilaterals, hexahedra), CEED_ERROR_INCOMPATIBLE (factors that are not
// positive), CEED_ERROR_MAJOR (inverted elements). Clear afterwards, also after a failure.
int ritz_separable_create(Ceed ceed, const char *call, RitzSpace space, const double *factors,
                          RitzSeparable *separable);
void ritz_separable_clear(RitzSeparable *separable);

// diagonal[node of the space]: sum of the diagonals of B_K over all elements K with the node; count[node]:
// how many there are.
int ritz_separable_sum_diagonals(Ceed ceed, const RitzSeparable *separable, double *diagonal, int32_t *count);

#endif
