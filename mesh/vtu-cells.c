// SPDX-License-Identifier: BSD-2-Clause
// Cells of a VTK file and the order of their nodes (contract in mesh/vtu-cells.h). In a Lagrange cell corners
// come first, then edges, faces, the interior.
#include "mesh/vtu-cells.h"

#include <stdbool.h>

#include "mesh/lattice.h"

// ---- Curve, quadrilateral, hexahedron: the place of a node ----
// Inner nodes of all edges run in the direction of increasing i, j, k; a = p - 1 is their number.

static bool is_inner(int64_t p, int64_t i) { return i > 0 && i < p; }

static int64_t curve_place(int64_t p, int64_t i) { return is_inner(p, i) ? i + 1 : i / p; }

// Corners go round: 00, 10, 11, 01; edges: j = 0, i = p, j = p, i = 0.
static int64_t quad_place(int64_t p, int64_t i, int64_t j) {
  int64_t a = p - 1;

  if (is_inner(p, i) && is_inner(p, j)) return 4 + 4 * a + (i - 1) + a * (j - 1);
  if (is_inner(p, i)) return 4 + (i - 1) + (j > 0 ? 2 * a : 0);
  if (is_inner(p, j)) return 4 + (j - 1) + (i > 0 ? a : 3 * a);
  return j > 0 ? (i > 0 ? 2 : 3) : (i > 0 ? 1 : 0);
}

// Corners and edges of the bottom, of the top, vertical edges round from corner 0, faces i = 0, i = p, j = 0,
// j = p, k = 0, k = p, interior.
static int64_t hex_place(int64_t p, int64_t i, int64_t j, int64_t k) {
  bool inner_i = is_inner(p, i), inner_j = is_inner(p, j), inner_k = is_inner(p, k);
  int64_t a = p - 1, faces = 8 + 12 * a;

  if (inner_i && inner_j && inner_k) return faces + 6 * a * a + (i - 1) + a * ((j - 1) + a * (k - 1));
  if (inner_j && inner_k) return faces + (j - 1) + a * (k - 1) + (i > 0 ? a * a : 0);
  if (inner_i && inner_k) return faces + (i - 1) + a * (k - 1) + (j > 0 ? 3 : 2) * a * a;
  if (inner_i && inner_j) return faces + (i - 1) + a * (j - 1) + (k > 0 ? 5 : 4) * a * a;
  if (inner_k) return 8 + 8 * a + (k - 1) + a * quad_place(p, i, j);
  int64_t place = quad_place(p, i, j); // in the bottom or top
  if (inner_i || inner_j) return place + 4 + (k > 0 ? 4 * a : 0);
  return place + (k > 0 ? 4 : 0);
}

static void fill_tensor(CeedElemTopology topology, int64_t p, int64_t *ids) {
  int64_t at[3] = {0, 0, 0}, number = 0;

  do {
    int64_t place = topology == CEED_TOPOLOGY_LINE   ? curve_place(p, at[0])
                    : topology == CEED_TOPOLOGY_QUAD ? quad_place(p, at[0], at[1])
                                                     : hex_place(p, at[0], at[1], at[2]);

    ids[place] = number++;
  } while (ritz_lattice_next(topology, p, at));
}

// ---- Triangle, tetrahedron, wedge: node after node ----

typedef RitzLatticePoint Point;

static const char triangle_edges[] = "01 12 20", triangle_faces[] = "012";
static const char tet_edges[] = "01 12 20 03 13 23", tet_faces[] = "013 231 032 021";
static const char wedge_edges[] = "01 12 20 34 45 53 03 14 25", wedge_sides[] = "014 125 203";

static void walk_corners_and_edges(RitzLatticeWalk *walk, int num, const Point *corners, const char *edges,
                                   int64_t p) {
  for (int c = 0; c < num; c++) ritz_lattice_walk_point(walk, corners[c]);
  for (const char *c = edges; *c; c += 2, c += *c == ' ')
    ritz_lattice_walk_edge(walk, corners[c[0] - '0'], corners[c[1] - '0'], p);
}

// A triangle, or a tetrahedron with all that is inside: another tetrahedron.
static void walk_simplex(RitzLatticeWalk *walk, Point origin, int64_t p) {
  const RitzMeshShape *shape = ritz_mesh_shape(walk->topology);
  bool is_tet = walk->topology == CEED_TOPOLOGY_TET;
  Point corners[4];

  if (p == 0) ritz_lattice_walk_point(walk, origin);
  if (p <= 0) return;
  for (int c = 0; c < shape->num_corners; c++) {
    for (int d = 0; d < 3; d++) corners[c].at[d] = origin.at[d] + p * shape->corner_at[c][d];
  }
  walk_corners_and_edges(walk, shape->num_corners, corners, is_tet ? tet_edges : triangle_edges, p);
  for (const char *c = is_tet ? tet_faces : triangle_faces; *c; c += 3, c += *c == ' ') {
    const Point face[3] = {corners[c[0] - '0'], corners[c[1] - '0'], corners[c[2] - '0']};

    ritz_lattice_walk_face(walk, 3, face, p);
  }
  for (int d = 0; d < 3; d++) origin.at[d]++;
  if (is_tet) walk_simplex(walk, origin, p - 4);
}

// The inner nodes of a triangle of layer k, lexicographic.
static void walk_layer(RitzLatticeWalk *walk, int64_t k) {
  for (int64_t j = 1; j < walk->p; j++) {
    for (int64_t i = 1; i + j < walk->p; i++) ritz_lattice_walk_point(walk, (Point){{i, j, k}});
  }
}

// Inner nodes of the side over the edge from a to b, upwards row by row.
static void walk_side(RitzLatticeWalk *walk, Point a, Point b) {
  for (int64_t k = 1; k < walk->p; k++) {
    a.at[2] = b.at[2] = k;
    ritz_lattice_walk_edge(walk, a, b, walk->p);
  }
}

static void walk_wedge(RitzLatticeWalk *walk) {
  const RitzMeshShape *shape = ritz_mesh_shape(walk->topology);
  int64_t p = walk->p;
  Point corners[6];

  for (int c = 0; c < 6; c++) {
    for (int d = 0; d < 3; d++) corners[c].at[d] = p * shape->corner_at[c][d];
  }
  walk_corners_and_edges(walk, 6, corners, wedge_edges, p);
  walk_layer(walk, 0);
  walk_layer(walk, p);
  for (const char *c = wedge_sides; *c; c += 3, c += *c == ' ')
    walk_side(walk, corners[c[0] - '0'], corners[c[1] - '0']);
  for (int64_t k = 1; k < p; k++) walk_layer(walk, k);
}

// ---- Pyramid: linear cells ----
// A square of layer k has a point of layer k + 1 above its middle, and a square of layer k + 1 a point of
// layer k below its middle: pyramids that stand and that hang. Between them are tetrahedra with an edge of
// layer k and a crossing edge of layer k + 1.

enum { vtk_tetra = 10, vtk_pyramid = 14 };

typedef struct {
  RitzVtuCells *cells;
  int64_t p;
} Cutting;

static void add_cell(Cutting *cutting, uint8_t type, int num, const Point *points) {
  RitzVtuCells *cells = cutting->cells;

  for (int i = 0; i < num; i++)
    cells->ids[cells->num_ids++] = ritz_mesh_lattice_index(CEED_TOPOLOGY_PYRAMID, cutting->p, points[i].at);
  cells->types[cells->num_cells] = type;
  cells->ends[cells->num_cells++] = cells->num_ids;
}

static void cut_square(Cutting *cutting, int64_t i, int64_t j, int64_t k) {
  int64_t n = cutting->p - k; // degree of layer k
  const Point standing[5] = {
      {{i, j, k}}, {{i + 1, j, k}}, {{i + 1, j + 1, k}}, {{i, j + 1, k}}, {{i, j, k + 1}}};
  const Point hanging[5] = {{{i, j, k + 1}},
                            {{i, j + 1, k + 1}},
                            {{i + 1, j + 1, k + 1}},
                            {{i + 1, j, k + 1}},
                            {{i + 1, j + 1, k}}};
  const Point along_x[4] = {{{i + 1, j, k}}, {{i + 1, j + 1, k}}, {{i, j, k + 1}}, {{i + 1, j, k + 1}}};
  const Point along_y[4] = {{{i, j + 1, k}}, {{i + 1, j + 1, k}}, {{i, j + 1, k + 1}}, {{i, j, k + 1}}};

  add_cell(cutting, vtk_pyramid, 5, standing);
  if (i + 1 < n && j + 1 < n) add_cell(cutting, vtk_pyramid, 5, hanging);
  if (i + 1 < n) add_cell(cutting, vtk_tetra, 4, along_x);
  if (j + 1 < n) add_cell(cutting, vtk_tetra, 4, along_y);
}

// ---- All shapes ----

static uint8_t lagrange_type(CeedElemTopology topology) {
  switch (topology) {
  case CEED_TOPOLOGY_LINE: return 68;
  case CEED_TOPOLOGY_TRIANGLE: return 69;
  case CEED_TOPOLOGY_QUAD: return 70;
  case CEED_TOPOLOGY_TET: return 71;
  case CEED_TOPOLOGY_HEX: return 72;
  default: return 73; // prism
  }
}

static void fill_lagrange(CeedElemTopology topology, int64_t p, RitzVtuCells *cells) {
  RitzLatticeWalk walk = {topology, p, cells->ids};

  if (ritz_mesh_shape(topology)->is_tensor)
    fill_tensor(topology, p, cells->ids);
  else if (topology == CEED_TOPOLOGY_PRISM)
    walk_wedge(&walk);
  else
    walk_simplex(&walk, (Point){{0, 0, 0}}, p);
  cells->types[0] = lagrange_type(topology);
  cells->ends[0] = cells->num_ids;
}

static void fill_pyramid(int64_t p, RitzVtuCells *cells) {
  Cutting cutting = {cells, p};

  cells->num_cells = cells->num_ids = 0;
  for (int64_t k = 0; k < p; k++) {
    for (int64_t j = 0; j < p - k; j++) {
      for (int64_t i = 0; i < p - k; i++) cut_square(&cutting, i, j, k);
    }
  }
}

int ritz_vtu_cells_create(Ceed ceed, CeedElemTopology topology, int64_t p, RitzVtuCells *cells) {
  int ierr = CEED_ERROR_SUCCESS;
  bool is_pyramid = topology == CEED_TOPOLOGY_PYRAMID;
  int64_t num_squares = p * (p + 1) * (2 * p + 1) / 6; // of a pyramid; up to four cells begin at each

  *cells = (RitzVtuCells){.num_points = ritz_mesh_num_nodes(topology, p)};
  cells->num_cells = is_pyramid ? 4 * num_squares : 1;
  cells->num_ids = is_pyramid ? 18 * num_squares : cells->num_points;
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)cells->num_cells, &cells->types));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)cells->num_cells, &cells->ends));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)cells->num_ids, &cells->ids));
  if (is_pyramid)
    fill_pyramid(p, cells);
  else
    fill_lagrange(topology, p, cells);
cleanup:
  if (ierr) ritz_vtu_cells_destroy(cells);
  return ierr;
}

void ritz_vtu_cells_destroy(RitzVtuCells *cells) {
  RITZ_FREE(&cells->types);
  RITZ_FREE(&cells->ends);
  RITZ_FREE(&cells->ids);
}
