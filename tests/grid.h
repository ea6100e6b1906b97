// SPDX-License-Identifier: BSD-2-Clause
// Mass and Laplacian on grids of straight-sided elements, through the gallery and without the library's
// meshes: what tests of multigrid and of element inverses start from.
#ifndef RITZ_TESTS_GRID_H
#define RITZ_TESTS_GRID_H

#include <ceed.h>

// The elements of an operator. Neighbours need not fit: coordinates belong to elements.
typedef struct {
  CeedInt dim, num_elem;
  const double *corners; // borrowed, [num_elem][dim][2^dim], first direction fastest
} GridElements;

// Mass or Laplacian of rstr's components (1 or 3), by Q_1d Gauss points per direction; rstr and basis are
// those of the active fields.
int grid_create_operator(Ceed ceed, const GridElements *elements, CeedInt Q_1d, bool is_laplacian,
                         CeedElemRestriction rstr, CeedBasis basis, CeedOperator *op);

// ---- The unit box in n^dim elements; elements and nodes are numbered with the first direction fastest ----

CeedInt grid_num_nodes(CeedInt dim, CeedInt n, CeedInt degree);
// Position of a node of the continuous space with Gauss-Lobatto nodes; x [dim].
void grid_node(CeedInt dim, CeedInt n, CeedInt degree, CeedInt node, double *x);
// nodes [n^dim][(degree + 1)^dim]
void grid_element_nodes(CeedInt dim, CeedInt n, CeedInt degree, CeedInt *nodes);
// corners [n^dim][dim][2^dim]; inner ones are moved by up to `shift` of an element's size.
void grid_corners(CeedInt dim, CeedInt n, double shift, double *corners);
// Restriction of all elements, components of a node together.
int grid_create_restriction(Ceed ceed, CeedInt dim, CeedInt n, CeedInt degree, CeedInt num_comp,
                            CeedElemRestriction *rstr);

#endif
