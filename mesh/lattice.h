// SPDX-License-Identifier: BSD-2-Clause
// Walks over the lattice of an element's nodes, and equispaced and other nodes on it. Used by the readers and
// by mesh/vtu.c; how many nodes there are and which number one has is told by mesh/mesh.h.
#ifndef RITZ_MESH_LATTICE_H
#define RITZ_MESH_LATTICE_H

#include <stdbool.h>

#include "mesh/mesh.h"

// Goes from a point of the lattice of degree p >= 0 to the next one, i fastest; false behind the last one.
bool ritz_lattice_next(CeedElemTopology topology, int64_t p, int64_t at[3]);
bool ritz_lattice_is_inner(CeedElemTopology topology, int64_t p, const int64_t at[3]); // on no facet

// Positions [nodes of degree p][dim] in the reference element that follow from p + 1 points of [-1,1].
//
// On a triangle or tetrahedron the point with the indices a, b, ... (their sum is p) has barycentric
// coordinates proportional to x_a, x_b, ..., where x are the points moved to [0,1]; a prism is a triangle
// times a line. On a pyramid the points must be equispaced.
void ritz_lattice_place(CeedElemTopology topology, int p, const double *points, double *positions);

// ---- Orders of nodes in files ----
// Nodes of a lattice in another order are listed step by step: *next++ gets the number of the next one.
typedef struct {
  int64_t at[3];
} RitzLatticePoint;
typedef struct {
  CeedElemTopology topology;
  int64_t p;
  int64_t *next;
} RitzLatticeWalk;

void ritz_lattice_walk_point(RitzLatticeWalk *walk, RitzLatticePoint point);
// The inner nodes of the edge from a to b of degree n.
void ritz_lattice_walk_edge(RitzLatticeWalk *walk, RitzLatticePoint a, RitzLatticePoint b, int64_t n);
// The inner nodes of a triangle or square of degree n: a triangle of degree n - 3 or a square of degree n - 2
// that begins at the node nearest to the first corner; first its corners, then its edges around, then the
// nodes inside of it by the same rule.
void ritz_lattice_walk_face(RitzLatticeWalk *walk, int num_corners, const RitzLatticePoint *corners,
                            int64_t n);

#endif
