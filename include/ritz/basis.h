// SPDX-License-Identifier: BSD-2-Clause
// Lagrange bases of any degree on all shapes of elements: tensor bases on lines, quadrilaterals and
// hexahedra, H1 bases with tables on triangles, tetrahedra, prisms and pyramids.
//
// Reference elements lie in [-1,1]^dim, directions r, s, t, corners in this order:
//
//     LINE       (-1) (1)
//     QUAD       (-1,-1) (1,-1) (-1,1) (1,1)
//     HEX        QUAD at t = -1, then at t = 1
//     TRIANGLE   (-1,-1) (1,-1) (-1,1)
//     TET        TRIANGLE at t = -1, then (-1,-1,1)
//     PRISM      TRIANGLE at t = -1, then at t = 1
//     PYRAMID    QUAD at t = -1, then the apex (0,0,1)
//
//     2-----3      2            3             3-----5             4            t
//     |     |      | \          |`\           |\   /|            /|\ `         |  s
//     |     |      |   \        |  `\  2      |  4  |           / 2-\--`3      | /
//     0-----1      0-----1      | /  `\       0- |--2          / /   \  /      |/
//     QUAD         TRIANGLE     0------1       \ | /          0-------1        +----r
//                               TET              1  PRISM     PYRAMID
//
// Nodes of degree p sit on a lattice and are numbered lexicographically, first index fastest:
//
//     LINE, QUAD, HEX   i, j, k = 0 .. p                     (p+1)^dim
//     TRIANGLE          i + j <= p                           (p+1)(p+2)/2
//     TET               i + j + k <= p                       (p+1)(p+2)(p+3)/6
//     PRISM             i + j <= p, k = 0 .. p               (p+1)^2 (p+2)/2
//     PYRAMID           k = 0 .. p, i, j = 0 .. p-k          (p+1)(p+2)(2p+3)/6
//
//     degree 3:   12 13 14 15      9           PYRAMID, from below: 16 of the base,
//                  8  9 10 11      7 8         9, 4 and the apex
//                  4  5  6  7      4 5 6
//                  0  1  2  3      0 1 2 3
//                  QUAD            TRIANGLE
//
// Edges have Gauss-Lobatto points, quadrilateral faces their tensor products, and triangular faces of all
// shapes the nodes of TRIANGLE, which its symmetries map onto themselves: neighbours of different shapes
// share the nodes, hence the traces of functions, on a common face.
//
// Functions: polynomials of degree p on LINE, TRIANGLE and TET; of degree p in each direction on QUAD and
// HEX; products of both on PRISM. On PYRAMID the polynomials of degree p and rational functions like rs / (1
// - t), which give it the traces of TRIANGLE and QUAD on its faces. doc/simplices.md tells where nodes and
// quadrature come from, and how well conditioned bases are.
#ifndef RITZ_BASIS_H
#define RITZ_BASIS_H

#include <ceed.h>

// Basis of degree >= 1 for num_comp components, with quadrature that is exact for polynomials of degree
// quad_degree >= 0: in each direction on LINE, QUAD and HEX, which get quad_degree / 2 + 1 Gauss points a
// direction; on the triangle and along the line on PRISM; total degree on TRIANGLE, TET and PYRAMID. 2 *
// degree makes mass matrices of affine elements exact, on all shapes. Weights are positive, points lie inside
// the element. Errors: CEED_ERROR_DIMENSION for what is no topology, and for sizes.
CEED_EXTERN int RitzBasisCreateLagrange(Ceed ceed, CeedElemTopology topology, CeedInt num_comp,
                                        CeedInt degree, CeedInt quad_degree, CeedBasis *basis);

// Nodes of that basis: their number, and their positions x [num_nodes][dim], an array of the caller's. Either
// may be NULL. Errors as above.
CEED_EXTERN int RitzLagrangeNodes(Ceed ceed, CeedElemTopology topology, CeedInt degree, CeedInt *num_nodes,
                                  double *x);

#endif
