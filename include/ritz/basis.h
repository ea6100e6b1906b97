// SPDX-License-Identifier: BSD-2-Clause
// Lagrange bases of any degree on all shapes of elements: tensor bases on lines, quadrilaterals and
// hexahedra, H1 bases with tables on triangles, tetrahedra, prisms and pyramids. H(div) and H(curl) bases on
// quadrilaterals and hexahedra.
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

// ---- H(div) and H(curl) on quadrilaterals and hexahedra ----
//
// Raviart-Thomas and Nedelec spaces of the first kind, order k >= 1 (order 1 is the lowest, which some texts
// call RT_0 and ND_0). P_k: polynomials of degree k in one direction. On the reference element, dim 2 or 3:
//
//     Hdiv    component c is in P_k along direction c and in P_{k-1} along the others:
//             dim (k+1) k^(dim-1) nodes
//     Hcurl   component c is in P_{k-1} along direction c and in P_k along the others:
//             dim k (k+1)^(dim-1) nodes
//
// Each component is a tensor product of 1D functions over the k + 1 Gauss-Lobatto nodes x_0 .. x_k: along P_k
// the Lagrange polynomials of the nodes, along P_{k-1} the k edge functions e_i, whose integral over the cell
// [x_j, x_{j+1}] is 1 for j = i and else 0 (M. Gerritsma, Edge functions for spectral element methods, in
// Spectral and High Order Methods for PDEs, LNCSE 76, 2011). So a node of
//
//     Hdiv    is the flux through a cell [x_i, x_{i+1}] (in 3D times [x_j, x_{j+1}]) at x_n in direction c,
//     Hcurl   is the integral of the tangential component along a cell of direction c, at nodes of the
//     others.
//
// Normal traces (Hdiv) and tangential traces (Hcurl) on a face are determined by the nodes with x_n = -1 or 1
// on that face alone. With these functionals interpolation commutes with grad, curl and div, and the nodes of
// a derivative are sums and differences of nodes: the grad of a Lagrange basis
// (CeedBasisCreateTensorH1Lagrange with P = k + 1) has the Hcurl nodes u(x_{i+1}) - u(x_i), a curl the Hdiv
// nodes of circulations, a div as its integral over a cell the sum of six fluxes.
//
// Nodes are numbered block by block, those of component 0 first; in a block the first direction runs fastest.
// Order 2, dim 2 (Hdiv: fluxes to the right and upwards; Hcurl: along the lines to the right and upwards):
//
//     Hdiv    +--10-+--11-+        Hcurl   +--4--+--5--+
//             3     4     5                9    10    11
//             +--8--+--9--+                +--2--+--3--+
//             0     1     2                6     7     8
//             +--6--+--7--+                +--0--+--1--+
//
// Neighbours share the nodes on a common face, with a sign where the directions of cell or normal differ
// (CeedElemRestrictionCreateOriented). To the Ceed API such a basis is no tensor basis: INTERP, DIV or CURL
// and WEIGHT work on every backend, and matrices of CeedBasisGetInterp, Div and Curl are made when they are
// asked for; but it is evaluated by 1D tables. Values at the points are those of the reference element; the
// Piola map is the QFunction's.

// Q >= 1 Gauss points a direction, or Q >= 2 Gauss-Lobatto points. num_comp: vectors, usually 1. Errors:
// CEED_ERROR_DIMENSION for sizes, CEED_ERROR_INCOMPATIBLE for what is no quadrature mode.
CEED_EXTERN int RitzBasisCreateTensorHdiv(Ceed ceed, CeedInt dim, CeedInt num_comp, CeedInt order, CeedInt Q,
                                          CeedQuadMode quad_mode, CeedBasis *basis);
CEED_EXTERN int RitzBasisCreateTensorHcurl(Ceed ceed, CeedInt dim, CeedInt num_comp, CeedInt order, CeedInt Q,
                                           CeedQuadMode quad_mode, CeedBasis *basis);

// A vector basis of tensor products of any 1D tables: component c is a tensor product of its own, over a
// block of nodes numbered as above, with the tables of entries c * dim + d along direction d: P_1d[] nodes,
// interp_1d[] and grad_1d[] [Q_1d][P_1d]. derivative: CEED_EVAL_DIV (space H(div)) or CEED_EVAL_CURL
// (H(curl)). Of grad_1d[] those that it takes are needed, c == d for DIV and c != d for CURL; others may be
// NULL. q_ref_1d, q_weight_1d [Q_1d]: NULL stands for zeros. Tables are copied. Errors: CEED_ERROR_DIMENSION
// for sizes, CEED_ERROR_INCOMPATIBLE for another derivative and for missing tables.
CEED_EXTERN int RitzBasisCreateTensorVector(Ceed ceed, CeedInt dim, CeedInt num_comp, CeedEvalMode derivative,
                                            const CeedInt *P_1d, CeedInt Q_1d,
                                            const CeedScalar *const *interp_1d,
                                            const CeedScalar *const *grad_1d, const CeedScalar *q_ref_1d,
                                            const CeedScalar *q_weight_1d, CeedBasis *basis);

#endif
