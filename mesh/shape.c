// SPDX-License-Identifier: BSD-2-Clause
// The shapes of elements: corners, edges, facets, and the lattice on which nodes sit. Called by everything in
// mesh/; nodes and bases themselves are left to fe/.
#include "mesh/mesh.h"

#define FACE(a, b, c, d)                                                                                     \
  { a, b, c, d }
#define TRIANGLE(a, b, c)                                                                                    \
  { a, b, c, -1 }
#define EDGE(a, b)                                                                                           \
  { a, b, -1, -1 }
#define POINT(a)                                                                                             \
  { a, -1, -1, -1 }

static const RitzMeshShape line = {
    .topology = CEED_TOPOLOGY_LINE,
    .plural = "lines",
    .dim = 1,
    .num_corners = 2,
    .is_tensor = true,
    .corner_at = {{0, 0, 0}, {1, 0, 0}},
    .edges = {1, 2, {EDGE(0, 1)}},
    .facets = {2, 1, {POINT(0), POINT(1)}},
};
static const RitzMeshShape triangle = {
    .topology = CEED_TOPOLOGY_TRIANGLE,
    .plural = "triangles",
    .dim = 2,
    .num_corners = 3,
    .corner_at = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}},
    .edges = {3, 2, {EDGE(0, 2), EDGE(0, 1), EDGE(1, 2)}},
    .facets = {3, 2, {EDGE(0, 2), EDGE(0, 1), EDGE(1, 2)}},
};
static const RitzMeshShape quad = {
    .topology = CEED_TOPOLOGY_QUAD,
    .plural = "quadrilaterals",
    .dim = 2,
    .num_corners = 4,
    .is_tensor = true,
    .corner_at = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}},
    .edges = {4, 2, {EDGE(0, 1), EDGE(2, 3), EDGE(0, 2), EDGE(1, 3)}},
    .facets = {4, 2, {EDGE(0, 2), EDGE(1, 3), EDGE(0, 1), EDGE(2, 3)}},
};
static const RitzMeshShape tet = {
    .topology = CEED_TOPOLOGY_TET,
    .plural = "tetrahedra",
    .dim = 3,
    .num_corners = 4,
    .corner_at = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    .edges = {6, 2, {EDGE(0, 1), EDGE(0, 2), EDGE(1, 2), EDGE(0, 3), EDGE(1, 3), EDGE(2, 3)}},
    .facets = {4, 4, {TRIANGLE(0, 2, 3), TRIANGLE(0, 1, 3), TRIANGLE(0, 1, 2), TRIANGLE(1, 2, 3)}},
};
static const RitzMeshShape pyramid = {
    .topology = CEED_TOPOLOGY_PYRAMID,
    .plural = "pyramids",
    .dim = 3,
    .num_corners = 5,
    .corner_at = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}},
    .edges = {8,
              2,
              {EDGE(0, 1), EDGE(2, 3), EDGE(0, 2), EDGE(1, 3), EDGE(0, 4), EDGE(1, 4), EDGE(2, 4),
               EDGE(3, 4)}},
    .facets = {5,
               4,
               {TRIANGLE(0, 2, 4), TRIANGLE(1, 3, 4), TRIANGLE(0, 1, 4), TRIANGLE(2, 3, 4),
                FACE(0, 1, 2, 3)}},
};
static const RitzMeshShape prism = {
    .topology = CEED_TOPOLOGY_PRISM,
    .plural = "prisms",
    .dim = 3,
    .num_corners = 6,
    .corner_at = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}},
    .edges = {9,
              2,
              {EDGE(0, 1), EDGE(0, 2), EDGE(1, 2), EDGE(3, 4), EDGE(3, 5), EDGE(4, 5), EDGE(0, 3), EDGE(1, 4),
               EDGE(2, 5)}},
    .facets = {5,
               4,
               {FACE(0, 2, 3, 5), FACE(0, 1, 3, 4), FACE(1, 2, 4, 5), TRIANGLE(0, 1, 2), TRIANGLE(3, 4, 5)}},
};
static const RitzMeshShape hex = {
    .topology = CEED_TOPOLOGY_HEX,
    .plural = "hexahedra",
    .dim = 3,
    .num_corners = 8,
    .is_tensor = true,
    .corner_at = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}},
    .edges = {12,
              2,
              {EDGE(0, 1), EDGE(2, 3), EDGE(4, 5), EDGE(6, 7), EDGE(0, 2), EDGE(1, 3), EDGE(4, 6), EDGE(5, 7),
               EDGE(0, 4), EDGE(1, 5), EDGE(2, 6), EDGE(3, 7)}},
    .facets = {6,
               4,
               {FACE(0, 2, 4, 6), FACE(1, 3, 5, 7), FACE(0, 1, 4, 5), FACE(2, 3, 6, 7), FACE(0, 1, 2, 3),
                FACE(4, 5, 6, 7)}},
};

const RitzMeshShape *ritz_mesh_shape(CeedElemTopology topology) {
  static const RitzMeshShape *const shapes[] = {&line, &triangle, &quad, &tet, &pyramid, &prism, &hex};

  for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
    if (shapes[i]->topology == topology) return shapes[i];
  }
  return NULL;
}

RitzMeshEntities ritz_mesh_local_facets(int dim) {
  const RitzMeshShape *const tensor[4] = {NULL, &line, &quad, &hex};

  return tensor[dim]->facets;
}

int ritz_mesh_entity_size(const RitzMeshEntities *entities, int i) {
  int size = 0;

  while (size < entities->num_corners && entities->corner[i][size] >= 0) size++;
  return size;
}

void ritz_mesh_entity_key(const RitzMeshEntities *entities, int i, const int64_t *vertices, int64_t *key) {
  for (int k = 0; k < entities->num_corners; k++) {
    int corner = entities->corner[i][k];

    key[k] = corner < 0 ? -1 : vertices[corner];
  }
  ritz_mesh_sort_vertices(entities->num_corners, key);
}

// ---- The lattice ----

// Points (i, j) with i + j <= n, and (i, j, k) with i + j + k <= n.
static int64_t triangle_points(int64_t n) { return (n + 1) * (n + 2) / 2; }
static int64_t tet_points(int64_t n) { return (n + 1) * (n + 2) / 2 * (n + 3) / 3; }

// Squares of 1, 2^2, ... n^2 points.
static int64_t square_sum(int64_t n) { return n * (n + 1) / 2 * (2 * n + 1) / 3; }

int64_t ritz_mesh_num_nodes(CeedElemTopology topology, int64_t p) {
  const RitzMeshShape *shape = ritz_mesh_shape(topology);

  if (shape->is_tensor) return ritz_mesh_power(p + 1, shape->dim);
  if (p >= 1 << 20) return topology == CEED_TOPOLOGY_TRIANGLE && p < 1 << 30 ? triangle_points(p) : -1;
  if (topology == CEED_TOPOLOGY_TRIANGLE) return triangle_points(p);
  if (topology == CEED_TOPOLOGY_TET) return tet_points(p);
  if (topology == CEED_TOPOLOGY_PRISM) return triangle_points(p) * (p + 1);
  return square_sum(p + 1);
}

// In a triangle of degree n: rows before row j, then i.
static int64_t triangle_index(int64_t n, int64_t i, int64_t j) { return j * (n + 1) - j * (j - 1) / 2 + i; }

int64_t ritz_mesh_lattice_index(CeedElemTopology topology, int64_t p, const int64_t at[3]) {
  const int64_t i = at[0], j = at[1], k = at[2];

  switch (topology) {
  case CEED_TOPOLOGY_TRIANGLE: return triangle_index(p, i, j);
  case CEED_TOPOLOGY_TET: return tet_points(p) - tet_points(p - k) + triangle_index(p - k, i, j);
  case CEED_TOPOLOGY_PRISM: return k * triangle_points(p) + triangle_index(p, i, j);
  case CEED_TOPOLOGY_PYRAMID: return square_sum(p + 1) - square_sum(p + 1 - k) + j * (p + 1 - k) + i;
  default: return (k * (p + 1) + j) * (p + 1) + i;
  }
}

void ritz_mesh_lattice_point(const RitzMeshShape *shape, int64_t p, const int8_t *corners, int num,
                             const int64_t *shares, int64_t at[3]) {
  int64_t rest = p;

  for (int k = 1; k < num; k++) rest -= shares[k];
  for (int d = 0; d < 3; d++) {
    at[d] = rest * shape->corner_at[corners[0]][d];
    for (int k = 1; k < num; k++) at[d] += shares[k] * shape->corner_at[corners[k]][d];
  }
}
