// SPDX-License-Identifier: BSD-2-Clause
// How functions of a coarse space are functions of a finer one: elements of the coarse mesh, each with all
// nodes of the fine space in it, and tables that take one to the other. Used by mesh/transfer.c.
#ifndef RITZ_MESH_NESTED_H
#define RITZ_MESH_NESTED_H

#include "mesh/mesh.h"

// Elements of the coarse mesh with one shape and one table.
typedef struct {
  CeedElemTopology topology;
  int block;                    // of the coarse mesh
  int64_t num_elem;             // of the part
  int64_t *elements;            // owned, [num_elem] numbers in the block; NULL: all of it
  int64_t num_coarse, num_fine; // nodes of an element
  CeedInt P, Q;                 // of them in one direction, tensor shapes
  double *table;                // owned, [num_fine][num_coarse]; tensor shapes: [Q][P]
  const int64_t *nodes;         // [num_elem][num_fine] of the fine space
  int64_t *own_nodes;           // owned: these, unless they are the fine space's
} RitzNestedPart;

enum { RITZ_NESTED_MAX_PARTS = 6 }; // three kinds of tetrahedra, pyramids, prisms, hexahedra
typedef struct {
  int num;
  RitzNestedPart parts[RITZ_NESTED_MAX_PARTS];
} RitzNested;

// CEED_ERROR_INCOMPATIBLE unless the spaces are nested as ritz/multigrid.h says. `call` begins messages.
int ritz_nested_create(RitzSpace coarse, RitzSpace fine, const char *call, RitzNested *nested);
void ritz_nested_clear(RitzNested *nested);

#endif
