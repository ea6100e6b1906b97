// SPDX-License-Identifier: BSD-2-Clause
// What the parts of the MFEM reader share: the sections of a file as they are found. Used by mesh/mfem*.c.
#ifndef RITZ_MESH_MFEM_H
#define RITZ_MESH_MFEM_H

#include "mesh/reader.h"

// The section `elements` or `boundary`. Vertices stand as listed, one record after the other; when all have
// one shape this is [num][corners].
typedef struct {
  int64_t num;
  int64_t num_vertices, capacity; // of the list
  int64_t *vertices;              // owned
  int32_t *attributes;            // owned
  int64_t *places;                // owned: line of each record
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
  RitzShape shape;
  int64_t num_vertices;
  RitzMfemRecords elements, boundary;
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
  int64_t *vertex_dofs;  // owned, [num_vertices]
  int64_t *edges;        // owned, [num_elem][4 or 12] edge numbers
  int64_t *faces;        // owned, [num_elem][6] face numbers; NULL unless 3D
  int64_t *face_records; // owned, [number of faces]: where it is met first (6 * element + local face)
  int64_t first_edge, first_face, first_interior; // dofs
} RitzMfemDofs;

int ritz_mfem_dofs_create(const RitzMfemFile *file, RitzMfemLayout layout, RitzMfemDofs *dofs);
void ritz_mfem_dofs_destroy(RitzMfemDofs *dofs);
// list[(degree + 1)^dim], lexicographic.
int ritz_mfem_dofs_of_element(const RitzMfemDofs *dofs, int64_t e, int64_t *list);

#endif
