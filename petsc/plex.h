// SPDX-License-Identifier: BSD-2-Clause
// A DMPlex on its way to a RitzMesh (plex.c): cells of this process (plex-cells.c), facets of its labels
// (plex-labels.c), and both of all processes (plex-gather.c).
#ifndef RITZ_PETSC_PLEX_H
#define RITZ_PETSC_PLEX_H

#include "petsc/petsc-objects.h"

#define RITZ_PLEX_SHAPES 7

// A shape of cells, by the order of blocks of a mesh.
typedef struct {
  DMPolytopeType polytope;
  CeedElemTopology topology;
  const char *name;
  int8_t dim, num_corners, num_facets;
  int8_t facets[6][4]; // [num_facets] corners of each, as in ritz/mesh.h; -1: none
} RitzPlexShape;
extern const RitzPlexShape ritz_plex_shapes[RITZ_PLEX_SHAPES];

// Cells of one shape, those of one process or of all.
typedef struct {
  PetscInt64 num;
  PetscInt64 *vertices; // [num][corners] global numbers, in Ritz's order; owned, as all arrays
  PetscInt64 *regions;  // [num]
  double *x;            // [num][nodes][space_dim]
} RitzPlexCells;

// A value of a label: facets that become a boundary part, or cells whose region gets a name.
typedef struct {
  const char *label; // borrowed
  PetscInt64 value;
  bool is_region;
} RitzPlexSet;

typedef struct {
  PetscInt64 shape, cell, facet, set; // cell: among those of the shape in its process
} RitzPlexFacet;

// The DM and the cells of this process.
typedef struct {
  DM dm; // borrowed, as ceed
  Ceed ceed;
  MPI_Comm comm;
  PetscMPIInt rank, size;
  PetscInt dim, space_dim, order;
  PetscInt first_cell, end_cell, first_vertex, end_vertex;
  PetscInt64 num_vertices;             // of all processes
  PetscInt *numbers;                   // [end_vertex - first_vertex] global, owned as all that follows
  PetscInt *index;                     // [end_cell - first_cell] among its shape, -1: of another process
  int8_t corner[RITZ_PLEX_SHAPES][8];  // Ritz's corner -> vertex of the closure
  CeedInt num_nodes[RITZ_PLEX_SHAPES]; // of the geometry
  double *nodes[RITZ_PLEX_SHAPES];     // [num_nodes][dim] reference positions; NULL: no such cells
  RitzPlexCells cells[RITZ_PLEX_SHAPES];
  PetscInt num_labels;
  DMLabel *labels; // [num_labels] that tell regions, "Cell Sets" first; the array is owned
  PetscInt64 num_sets, num_facets;
  RitzPlexSet *sets;
  RitzPlexFacet *facets;
} RitzPlex;

// The index of the shape of a cell; cells that Ritz has no shape for: PETSC_ERR_SUP.
PetscErrorCode ritz_plex_get_shape(const RitzPlex *p, PetscInt cell, int *shape);
// The vertices of a point: vertices [8], in the order of its closure.
PetscErrorCode ritz_plex_get_vertices(const RitzPlex *p, PetscInt point, PetscInt *num, PetscInt vertices[]);
// Whether a label is a user's, or PETSc's own.
bool ritz_plex_is_users(const char *label);
PetscErrorCode ritz_plex_collect_cells(RitzPlex *p);
PetscErrorCode ritz_plex_collect_labels(RitzPlex *p);

// The mesh of all processes. Arrays are owned; counts [size] of cells by process.
typedef struct {
  RitzPlexCells cells[RITZ_PLEX_SHAPES];
  PetscInt64 *counts[RITZ_PLEX_SHAPES];
  PetscInt64 num_sets, num_facets;
  char *names;           // of labels, one behind the other
  RitzPlexSet *sets;     // [num_sets] each once, by label and value
  RitzMeshFacet *facets; // [num_facets], part: index into sets
} RitzPlexWhole;

PetscErrorCode ritz_plex_gather(const RitzPlex *p, RitzPlexWhole *whole);
PetscErrorCode ritz_plex_whole_clear(RitzPlexWhole *whole);

#endif
