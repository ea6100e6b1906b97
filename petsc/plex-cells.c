// SPDX-License-Identifier: BSD-2-Clause
// Cells of a DMPlex in this process: vertices in Ritz's order and by global numbers, positions of geometry
// nodes. The order of corners is found from PETSc's reference cells, which are Ritz's reference elements.
#include <math.h>
#include <ritz/basis.h>

#include "petsc/plex.h"

const RitzPlexShape ritz_plex_shapes[RITZ_PLEX_SHAPES] = {
    {DM_POLYTOPE_SEGMENT, CEED_TOPOLOGY_LINE, "line", 1, 2, 2, {{0, -1, -1, -1}, {1, -1, -1, -1}}},
    {DM_POLYTOPE_TRIANGLE,
     CEED_TOPOLOGY_TRIANGLE,
     "triangle",
     2,
     3,
     3,
     {{0, 2, -1, -1}, {0, 1, -1, -1}, {1, 2, -1, -1}}},
    {DM_POLYTOPE_QUADRILATERAL,
     CEED_TOPOLOGY_QUAD,
     "quadrilateral",
     2,
     4,
     4,
     {{0, 2, -1, -1}, {1, 3, -1, -1}, {0, 1, -1, -1}, {2, 3, -1, -1}}},
    {DM_POLYTOPE_TETRAHEDRON,
     CEED_TOPOLOGY_TET,
     "tetrahedron",
     3,
     4,
     4,
     {{0, 2, 3, -1}, {0, 1, 3, -1}, {0, 1, 2, -1}, {1, 2, 3, -1}}},
    {DM_POLYTOPE_PYRAMID,
     CEED_TOPOLOGY_PYRAMID,
     "pyramid",
     3,
     5,
     5,
     {{0, 2, 4, -1}, {1, 3, 4, -1}, {0, 1, 4, -1}, {2, 3, 4, -1}, {0, 1, 2, 3}}},
    {DM_POLYTOPE_TRI_PRISM,
     CEED_TOPOLOGY_PRISM,
     "prism",
     3,
     6,
     5,
     {{0, 2, 3, 5}, {0, 1, 3, 4}, {1, 2, 4, 5}, {0, 1, 2, -1}, {3, 4, 5, -1}}},
    {DM_POLYTOPE_HEXAHEDRON,
     CEED_TOPOLOGY_HEX,
     "hexahedron",
     3,
     8,
     6,
     {{0, 2, 4, 6}, {1, 3, 5, 7}, {0, 1, 4, 5}, {2, 3, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}}},
};

// ---- Points of the DM ----

PetscErrorCode ritz_plex_get_shape(const RitzPlex *p, PetscInt cell, int *shape) {
  DMPolytopeType type = DM_POLYTOPE_UNKNOWN;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetCellType(p->dm, cell, &type));
  for (*shape = 0; *shape < RITZ_PLEX_SHAPES; ++*shape)
    if (ritz_plex_shapes[*shape].polytope == type) PetscFunctionReturn(0);
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP,
          "RitzMeshFromDMPlex: cell %" PetscInt_FMT
          " is a %s, needed lines, triangles, quadrilaterals, tetrahedra, pyramids, prisms, hexahedra",
          cell, DMPolytopeTypes[type]);
}

static PetscErrorCode get_vertices_of(DM dm, PetscInt first, PetscInt end, PetscInt point, PetscInt *num,
                                      PetscInt vertices[]) {
  PetscInt *closure = NULL, size = 0;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetTransitiveClosure(dm, point, PETSC_TRUE, &size, &closure));
  *num = 0;
  for (PetscInt i = 0; i < size; i++)
    if (closure[2 * i] >= first && closure[2 * i] < end && *num < 8) vertices[(*num)++] = closure[2 * i];
  PetscCall(DMPlexRestoreTransitiveClosure(dm, point, PETSC_TRUE, &size, &closure));
  PetscFunctionReturn(0);
}

PetscErrorCode ritz_plex_get_vertices(const RitzPlex *p, PetscInt point, PetscInt *num, PetscInt vertices[]) {
  PetscFunctionBeginUser;
  PetscCall(get_vertices_of(p->dm, p->first_vertex, p->end_vertex, point, num, vertices));
  PetscFunctionReturn(0);
}

// ---- Numbering: points of which this process is no owner are leaves of the DM's SF ----

// is_leaf [all points]; without an SF nothing is.
static PetscErrorCode mark_leaves(const RitzPlex *p, PetscBool *is_leaf) {
  const PetscInt *leaves = NULL;
  PetscInt num_roots = 0, num_leaves = 0, first = 0;
  PetscSF sf = NULL;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetChart(p->dm, &first, NULL));
  PetscCall(DMGetPointSF(p->dm, &sf));
  PetscCall(PetscSFGetGraph(sf, &num_roots, &num_leaves, &leaves, NULL));
  if (num_roots < 0) PetscFunctionReturn(0);
  for (PetscInt i = 0; i < num_leaves; i++) is_leaf[(leaves ? leaves[i] : i) - first] = PETSC_TRUE;
  PetscFunctionReturn(0);
}

// number [all points]: of vertices that others own, too.
static PetscErrorCode share_numbers(const RitzPlex *p, PetscInt *number) {
  PetscInt num_roots = 0;
  PetscSF sf = NULL;

  PetscFunctionBeginUser;
  PetscCall(DMGetPointSF(p->dm, &sf));
  PetscCall(PetscSFGetGraph(sf, &num_roots, NULL, NULL, NULL));
  if (num_roots < 0) PetscFunctionReturn(0);
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, number, number, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, number, number, MPI_REPLACE));
  PetscFunctionReturn(0);
}

static PetscErrorCode number_vertices(RitzPlex *p, const PetscBool *is_leaf, PetscInt num_points) {
  PetscInt64 mine = 0, last = 0;
  PetscInt *number = NULL, first = 0;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetChart(p->dm, &first, NULL));
  PetscCall(PetscCalloc1(num_points, &number));
  for (PetscInt v = p->first_vertex; v < p->end_vertex; v++) mine += !is_leaf[v - first];
  PetscCallMPI(MPI_Scan(&mine, &last, 1, MPIU_INT64, MPI_SUM, p->comm));
  PetscCallMPI(MPI_Allreduce(&mine, &p->num_vertices, 1, MPIU_INT64, MPI_SUM, p->comm));
  PetscCheck(p->num_vertices <= (PetscInt64)PETSC_MAX_INT, p->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "RitzMeshFromDMPlex: %" PetscInt64_FMT " vertices, this PETSc counts up to %" PetscInt64_FMT,
             p->num_vertices, (PetscInt64)PETSC_MAX_INT);
  PetscInt next = (PetscInt)(last - mine);

  for (PetscInt v = p->first_vertex; v < p->end_vertex; v++)
    if (!is_leaf[v - first]) number[v - first] = next++;
  PetscCall(share_numbers(p, number));
  PetscCall(PetscMalloc1(p->end_vertex - p->first_vertex, &p->numbers));
  for (PetscInt v = p->first_vertex; v < p->end_vertex; v++)
    p->numbers[v - p->first_vertex] = number[v - first];
  PetscCall(PetscFree(number));
  PetscFunctionReturn(0);
}

// Own cells, counted by shape.
static PetscErrorCode count_cells(RitzPlex *p, const PetscBool *is_leaf) {
  PetscInt first = 0;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetChart(p->dm, &first, NULL));
  PetscCall(PetscMalloc1(p->end_cell - p->first_cell, &p->index));
  for (PetscInt c = p->first_cell; c < p->end_cell; c++) {
    int shape = 0;

    p->index[c - p->first_cell] = -1;
    if (is_leaf[c - first]) continue;
    PetscCall(ritz_plex_get_shape(p, c, &shape));
    p->index[c - p->first_cell] = (PetscInt)p->cells[shape].num++;
  }
  PetscFunctionReturn(0);
}

// ---- Shapes ----

// p->corner[shape]: vertices of PETSc's reference cell at the corners of Ritz's reference element.
static PetscErrorCode match_corners(RitzPlex *p, int shape) {
  const RitzPlexShape *s = &ritz_plex_shapes[shape];
  PetscInt first = 0, end = 0, num = 0, vertices[8], offset = 0;
  const PetscScalar *x = NULL;
  PetscSection section = NULL;
  double corners[24];
  Vec positions = NULL;
  DM cell = NULL;

  PetscFunctionBeginUser;
  RitzPetscCall(p->ceed, RitzLagrangeNodes(p->ceed, s->topology, 1, NULL, corners));
  PetscCall(DMPlexCreateReferenceCell(PETSC_COMM_SELF, s->polytope, &cell));
  PetscCall(DMPlexGetDepthStratum(cell, 0, &first, &end));
  PetscCall(get_vertices_of(cell, first, end, 0, &num, vertices));
  PetscCall(DMGetCoordinatesLocal(cell, &positions));
  PetscCall(DMGetCoordinateSection(cell, &section));
  PetscCall(VecGetArrayRead(positions, &x));
  for (int k = 0; k < s->num_corners; k++) {
    p->corner[shape][k] = -1;
    for (PetscInt i = 0; i < num; i++) {
      double distance = 0;

      PetscCall(PetscSectionGetOffset(section, vertices[i], &offset));
      for (int d = 0; d < s->dim; d++) distance += fabs(corners[k * s->dim + d] - x[offset + d]);
      if (distance < 1e-12) p->corner[shape][k] = (int8_t)i;
    }
    PetscCheck(p->corner[shape][k] >= 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "RitzMeshFromDMPlex: the reference %s of this PETSc has no vertex at corner %d", s->name, k);
  }
  PetscCall(VecRestoreArrayRead(positions, &x));
  PetscCall(DMDestroy(&cell));
  PetscFunctionReturn(0);
}

static PetscErrorCode prepare_shape(RitzPlex *p, int shape) {
  const RitzPlexShape *s = &ritz_plex_shapes[shape];

  PetscFunctionBeginUser;
  PetscCheck(s->dim == p->dim, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "RitzMeshFromDMPlex: a %s among cells of a mesh of dimension %" PetscInt_FMT, s->name, p->dim);
  PetscCheck(p->order == 1 || (shape != 4 && shape != 5), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "RitzMeshFromDMPlex: coordinates of degree %" PetscInt_FMT
             " on a %s, needed degree 1 on prisms and pyramids",
             p->order, s->name);
  PetscCall(match_corners(p, shape));
  RitzPetscCall(p->ceed,
                RitzLagrangeNodes(p->ceed, s->topology, (CeedInt)p->order, &p->num_nodes[shape], NULL));
  PetscCall(PetscMalloc1(p->num_nodes[shape] * s->dim, &p->nodes[shape]));
  RitzPetscCall(p->ceed, RitzLagrangeNodes(p->ceed, s->topology, (CeedInt)p->order, NULL, p->nodes[shape]));
  PetscFunctionReturn(0);
}

// ---- Positions ----

// Positions of the corners: the vertices' own, or, in periodic meshes, the cell's.
static PetscErrorCode place_corners(const RitzPlex *p, PetscInt cell, int shape, const PetscInt *vertices,
                                    double *x) {
  const int8_t *corner = p->corner[shape];
  const PetscScalar *all = NULL;
  PetscScalar *own = NULL;
  PetscBool is_own = PETSC_FALSE;
  PetscInt num = 0, offset = 0;
  PetscSection section = NULL;
  Vec positions = NULL;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetCellCoordinates(p->dm, cell, &is_own, &num, &all, &own));
  if (is_own) {
    PetscCheck(num == ritz_plex_shapes[shape].num_corners * p->space_dim, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "RitzMeshFromDMPlex: cell %" PetscInt_FMT " has %" PetscInt_FMT
               " coordinates of its own, needed those of its vertices",
               cell, num);
    for (int k = 0; k < ritz_plex_shapes[shape].num_corners; k++)
      for (PetscInt d = 0; d < p->space_dim; d++) x[k * p->space_dim + d] = own[corner[k] * p->space_dim + d];
  }
  PetscCall(DMPlexRestoreCellCoordinates(p->dm, cell, &is_own, &num, &all, &own));
  if (is_own) PetscFunctionReturn(0);
  PetscCall(DMGetCoordinatesLocal(p->dm, &positions));
  PetscCall(DMGetCoordinateSection(p->dm, &section));
  PetscCall(VecGetArrayRead(positions, &all));
  for (int k = 0; k < ritz_plex_shapes[shape].num_corners; k++) {
    PetscCall(PetscSectionGetOffset(section, vertices[corner[k]], &offset));
    for (PetscInt d = 0; d < p->space_dim; d++) x[k * p->space_dim + d] = all[offset + d];
  }
  PetscCall(VecRestoreArrayRead(positions, &all));
  PetscFunctionReturn(0);
}

// The value of "Cell Sets"; else of the first label that marks the cell (regions of Gmsh by their names).
static PetscErrorCode list_labels(RitzPlex *p) {
  PetscInt num = 0;
  DMLabel first = NULL;

  PetscFunctionBeginUser;
  PetscCall(DMGetNumLabels(p->dm, &num));
  PetscCall(PetscMalloc1(num, &p->labels));
  PetscCall(DMGetLabel(p->dm, "Cell Sets", &first));
  if (first) p->labels[p->num_labels++] = first;
  for (PetscInt i = 0; i < num; i++) {
    const char *name = NULL;
    DMLabel label = NULL;

    PetscCall(DMGetLabelName(p->dm, i, &name));
    PetscCall(DMGetLabel(p->dm, name, &label));
    if (label != first && ritz_plex_is_users(name)) p->labels[p->num_labels++] = label;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode find_region(const RitzPlex *p, PetscInt cell, PetscInt64 *region) {
  PetscInt value = -1;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < p->num_labels && value < 0; i++)
    PetscCall(DMLabelGetValue(p->labels[i], cell, &value));
  *region = value < 0 ? 1 : value;
  PetscFunctionReturn(0);
}

static PetscErrorCode collect_cell(RitzPlex *p, PetscInt cell) {
  PetscInt num = 0, vertices[8], shape_index = p->index[cell - p->first_cell];
  int shape = 0;

  PetscFunctionBeginUser;
  PetscCall(ritz_plex_get_shape(p, cell, &shape));
  const RitzPlexShape *s = &ritz_plex_shapes[shape];
  RitzPlexCells *cells = &p->cells[shape];
  double *x = cells->x + (size_t)shape_index * (size_t)p->num_nodes[shape] * (size_t)p->space_dim;

  PetscCall(ritz_plex_get_vertices(p, cell, &num, vertices));
  PetscCheck(num == s->num_corners, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "RitzMeshFromDMPlex: cell %" PetscInt_FMT ", a %s, has %" PetscInt_FMT " vertices, needed %d",
             cell, s->name, num, s->num_corners);
  for (int k = 0; k < s->num_corners; k++)
    cells->vertices[(PetscInt64)shape_index * s->num_corners + k] =
        p->numbers[vertices[p->corner[shape][k]] - p->first_vertex];
  if (p->order == 1) PetscCall(place_corners(p, cell, shape, vertices, x));
  if (p->order > 1)
    PetscCall(DMPlexReferenceToCoordinates(p->dm, cell, p->num_nodes[shape], p->nodes[shape], x));
  PetscCall(find_region(p, cell, &cells->regions[shape_index]));
  PetscFunctionReturn(0);
}

static PetscErrorCode allocate_cells(RitzPlex *p, int shape) {
  RitzPlexCells *cells = &p->cells[shape];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(cells->num * ritz_plex_shapes[shape].num_corners, &cells->vertices));
  PetscCall(PetscMalloc1(cells->num, &cells->regions));
  PetscCall(PetscMalloc1(cells->num * p->num_nodes[shape] * p->space_dim, &cells->x));
  PetscFunctionReturn(0);
}

static PetscErrorCode number_points(RitzPlex *p) {
  PetscBool *is_leaf = NULL;
  PetscInt first = 0, end = 0;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetChart(p->dm, &first, &end));
  PetscCall(PetscCalloc1(end - first, &is_leaf));
  PetscCall(mark_leaves(p, is_leaf));
  PetscCall(number_vertices(p, is_leaf, end - first));
  const PetscErrorCode code = count_cells(p, is_leaf); // fails where Ritz has no such cells

  PetscCall(PetscFree(is_leaf));
  PetscCall(code);
  PetscFunctionReturn(0);
}

PetscErrorCode ritz_plex_collect_cells(RitzPlex *p) {
  PetscFunctionBeginUser;
  PetscCall(number_points(p));
  for (int s = 0; s < RITZ_PLEX_SHAPES; s++) {
    PetscInt64 num = 0;

    PetscCallMPI(MPI_Allreduce(&p->cells[s].num, &num, 1, MPIU_INT64, MPI_SUM, p->comm));
    if (num > 0) PetscCall(prepare_shape(p, s));
    PetscCall(allocate_cells(p, s));
  }
  PetscCall(list_labels(p));
  for (PetscInt c = p->first_cell; c < p->end_cell; c++)
    if (p->index[c - p->first_cell] >= 0) PetscCall(collect_cell(p, c));
  PetscFunctionReturn(0);
}
