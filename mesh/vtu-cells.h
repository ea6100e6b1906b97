// SPDX-License-Identifier: BSD-2-Clause
// The cells of a VTK file that stand for one element, and the order of their nodes. Used by mesh/vtu.c.
#ifndef RITZ_MESH_VTU_CELLS_H
#define RITZ_MESH_VTU_CELLS_H

#include "mesh/mesh.h"

// An element of degree p has the points of its lattice, in their order, and either one Lagrange cell, or (a
// pyramid) linear pyramids and tetrahedra between neighbouring points.
typedef struct {
  int64_t num_points, num_cells, num_ids;
  uint8_t *types; // owned, [num_cells]: VTK's codes
  int64_t *ends;  // owned, [num_cells]: where the ids of each cell end
  int64_t *ids;   // owned, [num_ids]: points
} RitzVtuCells;

int ritz_vtu_cells_create(Ceed ceed, CeedElemTopology topology, int64_t p, RitzVtuCells *cells);
void ritz_vtu_cells_destroy(RitzVtuCells *cells);

#endif
