// SPDX-License-Identifier: BSD-2-Clause
// What the parts of the MFEM reader share: the sections of a file as they are found. Used by mesh/mfem*.c.
#ifndef RITZ_MESH_MFEM_H
#define RITZ_MESH_MFEM_H

#include "mesh/reader.h"

// The section `elements` or `boundary`. Vertices stand as listed, one record after the other.
typedef struct {
  int64_t num;
  int64_t num_vertices, capacity; // of the list
  int64_t *vertices;              // owned
  int64_t *first;                 // owned, [num]: where the vertices of a record begin
  int8_t *shapes;                 // owned, [num]: RitzShape
  int32_t *attributes;            // owned, [num]
  int64_t *places;                // owned, [num]: line of each record
  int64_t counts[RITZ_NUM_SHAPES];
} RitzMfemRecords;

// A section of attribute sets: pairs (attribute, set), sorted.
typedef struct {
  int64_t attribute, set;
} RitzMfemPair;

typedef struct {
  int64_t num, capacity;
  char **names; // owned
  int64_t num_pairs, pairs_capacity;
  RitzMfemPair *pairs; // owned
} RitzMfemSets;

typedef struct {
  RitzMeshText *text; // borrowed
  bool has_sets, has_end;
  int dim;
  int64_t num_vertices;
  RitzMfemRecords elements, boundary;
  int64_t *order; // owned, [elements.num]: record of each element of the draft, which has them by shape
  RitzMfemSets element_sets, boundary_sets;
} RitzMfemFile;

// mesh/mfem-sets.c: reads a section, its keyword taken already; turns attributes and sets into parts and
// regions of the draft, whose elem_regions are set.
int ritz_mfem_read_sets(RitzMeshText *text, RitzMfemSets *sets);
void ritz_mfem_sets_clear(RitzMfemSets *sets);
int ritz_mfem_name_parts(const RitzMfemFile *file, RitzMeshDraft *draft);
int ritz_mfem_name_regions(const RitzMfemFile *file, RitzMeshDraft *draft);

// mesh/mfem-nodes.c: reads the grid function behind the keyword `nodes`; sets the order, the space dimension
// and the coordinates of the draft.
int ritz_mfem_read_nodes(const RitzMfemFile *file, RitzMeshDraft *draft);

// mesh/mfem-dofs.c: the numbers of the nodes of each element, whose vertices are distinct. Collections of
// class H1 share nodes between elements; those of class L2 do not.
typedef struct {
  int degree;
  bool is_shared;
  bool is_cubic; // the collection `Cubic`, whose interior cube nodes go around
} RitzMfemLayout;

typedef struct {
  const RitzMfemFile *file; // borrowed
  RitzMfemLayout layout;
  int64_t num_dofs;
  int64_t *first_inside; // owned, [num_elem]: first dof inside an element; not shared: of the element
  // Shared only:
  int64_t *vertex_dofs;     // owned, [num_vertices]
  int max_edges, max_faces; // of an element
  int64_t *edges, *faces;   // owned, [num_elem][max_edges], [num_elem][max_faces]: numbers
  int64_t *face_records; // owned, [number of faces]: where it is met first (max_faces * element + local face)
  int64_t *face_dofs;    // owned, [number of faces]: first dof
  int64_t first_edge;    // dof
} RitzMfemDofs;

int ritz_mfem_dofs_create(const RitzMfemFile *file, RitzMfemLayout layout, RitzMfemDofs *dofs);
void ritz_mfem_dofs_destroy(RitzMfemDofs *dofs);
// The dofs of the element of record e in the order of its lattice.
int ritz_mfem_dofs_of_element(const RitzMfemDofs *dofs, int64_t e, int64_t *list);

#endif
