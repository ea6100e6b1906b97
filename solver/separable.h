// SPDX-License-Identifier: BSD-2-Clause
// Separable matrices that stand for an operator on every subdomain of a space: what Schwarz methods need of
// them, set up once on the host. Called by solver/schwarz*.c.
//
// On the P^dim nodes of subdomain K, all directions alike but for numbers, here for dim = 3:
//
//     B_K = c_0 M x M x A + c_1 M x A x M + c_2 A x M x M + c_3 M x M x M      (first direction: last factor)
//
// A and M are rows and columns of the stiffness and mass matrices of a line of cells [-1,1], assembled:
//
//     elements     P = p + 1    the middle one of three cells, so end rows have the neighbours' share
//     overlapped   P = p + 3    and the nodes next to it in the cells beside it;
//                  P = p + 2    on one side alone: elements at the boundary
//     patches      P = 2p - 1   the inner nodes of two cells
//
// Subdomains of one P are a set.
//
// They are definite. With A X = M X diag(lambda), X^T M X = I the inverse is (X x X x X) diag(1 / (c_0
// lambda_i + c_1 lambda_j + c_2 lambda_k + c_3)) (X x X x X)^T.
//
// The factors c of a subdomain, those of its element or their mean over the elements of its patch, count up
// to a common multiple, which cancels in the method (schwarz.c): they are kept with sum one.
#ifndef RITZ_SOLVER_SEPARABLE_H
#define RITZ_SOLVER_SEPARABLE_H

#include <ritz/preconditioner.h>
#include <ritz/space.h>

#include "core/core.h"

// The first three: layers of nodes around an element in every direction.
typedef enum { RITZ_LINE_CELL, RITZ_LINE_UPPER, RITZ_LINE_BOTH, RITZ_LINE_PATCH } RitzSeparableLine;
enum { RITZ_SEPARABLE_SETS = 3 };

static inline bool ritz_schwarz_is_coloured(RitzSchwarzKind kind) {
  return kind == RITZ_SCHWARZ_COLOURED_PATCHES || kind == RITZ_SCHWARZ_SYMMETRIC_PATCHES;
}

typedef struct {
  RitzSeparableLine line;
  CeedInt dim, degree, P;         // P: nodes in one direction
  CeedInt num_domains, num_nodes; // num_nodes: of a subdomain
  CeedInt num_comp;
  CeedInt num_colours; // coloured patches, which come colour by colour: no two of a colour share an element
  CeedInt *first;      // owned, [num_colours + 1]: first patch of a colour
  CeedElemRestriction rstr; // counted: its nodes are the offsets over num_comp; those beyond the nodes of the
                            // space stand for nodes that are missing
  double *X, *lambda, *stiffness, *mass; // owned: [P][P] with eigenvectors as columns, [P], diagonals [P]
  double *terms;                         // owned, [num_nodes][dim + 1]: of c_d in the diagonal at a node
  double *factors;                       // owned, [num_domains][dim + 1]
  double anisotropy;                     // largest ratio of two directions' factors in one subdomain
} RitzSeparable;

typedef struct {
  RitzSchwarzKind kind;
  int num; // sets, all of one L-vector
  RitzSeparable set[RITZ_SEPARABLE_SETS];
} RitzSeparables;

// factors [num_elem][dim + 1]: means over the reference element of mu G_dd for each direction d and of lambda
// det (see ritz/geometry.h); NULL: those of the mesh for mu = 1, lambda = 0. Errors: CEED_ERROR_UNSUPPORTED
// (elements that are no lines, quadrilaterals, hexahedra; overlapped elements of degree 1),
// CEED_ERROR_INCOMPATIBLE (factors that are not positive), CEED_ERROR_MAJOR (inverted elements). Clear
// afterwards, also after a failure.
int ritz_separables_create(Ceed ceed, const char *call, RitzSpace space, RitzSchwarzKind kind,
                           const double *factors, RitzSeparables *separables);
void ritz_separables_clear(RitzSeparables *separables);

// diagonal[node of the restrictions]: sum of the diagonals of B_K over all subdomains K with the node;
// count[node]: how many there are.
int ritz_separables_sum_diagonals(Ceed ceed, const RitzSeparables *separables, double *diagonal,
                                  int32_t *count);

// ---- For separable.c ----

// Factors [num_elem][dim + 1] of elements, checked (solver/separable-factors.c); sums of subdomains' factors
// become one, anisotropy is found.
int ritz_separable_element_factors(Ceed ceed, const char *call, RitzMesh mesh, CeedInt dim, int64_t num_elem,
                                   const double *given, double *factors);
void ritz_separable_normalize(RitzSeparable *s);
// Patches, their colours or one for all, restriction and means of of_elements (solver/separable-patches.c).
int ritz_separable_create_patches(Ceed ceed, RitzSpace space, RitzMesh mesh, int64_t num_elem,
                                  const double *of_elements, bool are_coloured, RitzSeparable *s);

#endif
