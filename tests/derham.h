// SPDX-License-Identifier: BSD-2-Clause
// The spaces of the de Rham complex on a box of tensor-product elements, by definition: their nodes,
// functionals of any field, and an oriented restriction of a box whose elements look at it in axes of their
// own. Nothing is shared with the library. Called by tests/test-tensor-vector-bases.c and
// test-tensor-vector-operators.c.
#ifndef RITZ_TESTS_DERHAM_H
#define RITZ_TESTS_DERHAM_H

#include "tests/reference.h"

#include <ritz/basis.h>

typedef enum { H1, HCURL, HDIV, L2 } DerhamKind;

typedef struct {
  DerhamKind kind;
  CeedInt dim, order;
} DerhamSpace;

// A node of an element: component, and along each direction the number of a point or of a cell.
typedef struct {
  CeedInt component, index[3];
} DerhamNode;

CeedInt derham_num_components(const DerhamSpace *space);
CeedInt derham_num_nodes(const DerhamSpace *space);
// Component c has points (not cells) along direction d.
bool derham_has_points(const DerhamSpace *space, CeedInt c, CeedInt d);
DerhamNode derham_node(const DerhamSpace *space, CeedInt n);

// Component c of a field at x.
typedef double (*DerhamField)(const void *data, CeedInt c, const double x[3]);
// The functionals of a field on [-1,1]^dim: point values at points, integrals over cells, by 8 Gauss points a
// direction.
void derham_interpolate(const DerhamSpace *space, DerhamField field, const void *data, double *nodes);

// H1: Lagrange basis; L2: tensor basis of edge functions (its gradient is of no use).
int derham_create_basis(Ceed ceed, const DerhamSpace *space, CeedInt num_comp, CeedInt Q, CeedQuadMode mode,
                        CeedBasis *basis);
CeedEvalMode derham_derivative(DerhamKind kind); // GRAD, CURL, DIV; NONE

// One element: nodes [num_comp][P] -> points [q_comp][num_comp][Q], or transposed.
int derham_apply(CeedBasis basis, CeedTransposeMode t_mode, CeedEvalMode mode, const double *from,
                 double *to);

// ---- A box of elements ----

// num_1d^dim elements of size 2. Axis d of element e is axis `axis[d]` of the box, reversed if sign[d] < 0.
typedef struct {
  CeedInt corner[3]; // element number along the axes of the box
  CeedInt axis[3];
  int sign[3];
} DerhamElement;

DerhamElement derham_element(CeedInt dim, CeedInt num_1d, CeedInt elem);
// Fluxes and integrals along the axes of the box; HCURL and HDIV.
int derham_create_restriction(Ceed ceed, const DerhamSpace *space, CeedInt num_1d, CeedInt num_comp,
                              CeedElemRestriction *rstr);

#endif
