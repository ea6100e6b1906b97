// SPDX-License-Identifier: BSD-2-Clause
// How functions of a coarse space are functions of a finer one: elements of the coarse mesh, each with all
// nodes of the fine space in it, and tables that take one to the other, there and back. Used by
// mesh/transfer.c.
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
  bool is_same;                 // coarse elements are elements of the fine space's mesh
  CeedInt lattice_degree; // of the fine nodes, lexicographic, in a box of the coarse elements; 0: no box
  // Otherwise the fine nodes of an element are those of its children: which one, and which of its nodes.
  RitzMesh coarse, fine; // borrowed, as the space
  RitzSpace fine_space;
  int way; // of cutting it, where shapes are no tensor products (ritz_mesh_refinement)
  int num_children;
  CeedElemTopology shapes[10]; // of the children
  int8_t *child;               // owned, [num_fine]
  int64_t *node;               // owned, [num_fine]
} RitzNestedPart;

enum { RITZ_NESTED_MAX_PARTS = 6 }; // three kinds of tetrahedra, pyramids, prisms, hexahedra
typedef struct {
  int num;
  RitzNestedPart parts[RITZ_NESTED_MAX_PARTS];
} RitzNested;

// CEED_ERROR_INCOMPATIBLE unless the spaces are nested as ritz/multigrid.h says. `call` begins messages.
int ritz_nested_create(RitzSpace coarse, RitzSpace fine, const char *call, RitzNested *nested);
void ritz_nested_clear(RitzNested *nested);
// A RitzNodesFunction: the nodes [num_fine] of the fine space in element k of a RitzNestedPart.
const int64_t *ritz_nested_nodes(const void *part, int64_t k, int64_t *scratch);

// Values at the coarse nodes of an element of the function with these values at the fine ones, a new table
// [num_coarse][num_fine]; tensor shapes: [P][Q]. The degrees are those of the spaces. (mesh/nested-values.c)
int ritz_nested_values(Ceed ceed, const RitzNestedPart *part, CeedInt coarse_degree, CeedInt fine_degree,
                       double **table);

#endif
