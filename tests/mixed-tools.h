// SPDX-License-Identifier: BSD-2-Clause
// Meshes of several shapes for the tests of mesh/: a box with hexahedra, pyramids, tetrahedra and prisms,
// elements seen from other sides, drafts of meshes with any blocks. Included by test-mixed-mesh*.c.
#ifndef RITZ_TESTS_MIXED_TOOLS_H
#define RITZ_TESTS_MIXED_TOOLS_H

#include "tests/mesh-tools.h"

// ---- Drafts ----

static inline int num_corners_of(CeedElemTopology topology) { return ritz_mesh_shape(topology)->num_corners; }

// Room for the blocks of the draft; the sizes and shapes of its blocks, dim, space_dim and order are set.
static inline void fill_out(RitzMeshDraft *draft) {
  CHECK_OK(ritz_mesh_draft_lay_out(NULL, "draft", draft));
  RITZ_CALLOC(NULL, (size_t)draft->num_places, &draft->elem_vertices);
  RITZ_CALLOC(NULL, (size_t)(draft->num_points * draft->space_dim), &draft->coords);
}

// The elements of any mesh, without labels.
static inline RitzMeshDraft draft_of_any(RitzMesh mesh) {
  RitzMeshDraft draft = {.dim = mesh->dim,
                         .space_dim = mesh->space_dim,
                         .order = mesh->order,
                         .num_vertices = mesh->num_vertices,
                         .num_blocks = mesh->num_blocks};

  for (int b = 0; b < mesh->num_blocks; b++) {
    draft.blocks[b].topology = mesh->blocks[b].topology;
    draft.blocks[b].num_elem = mesh->blocks[b].num_elem;
  }
  fill_out(&draft);
  memcpy(draft.elem_vertices, mesh->elem_vertices, (size_t)draft.num_places * 8);
  memcpy(draft.coords, mesh->coords, (size_t)(draft.num_points * draft.space_dim) * 8);
  return draft;
}

// Affine map of the reference element through its corners (parallel edges stay parallel): x from r.
static inline void affine_point(CeedElemTopology topology, int dim, const double (*corner)[3],
                                const double *r, double *x) {
  const int up = topology == CEED_TOPOLOGY_HEX ? 4 : 3;

  for (int c = 0; c < 3; c++) {
    x[c] = corner[0][c];
    if (topology == CEED_TOPOLOGY_PYRAMID) {
      double middle = 0.25 * (corner[0][c] + corner[1][c] + corner[2][c] + corner[3][c]);

      x[c] = middle + 0.5 * r[0] * (corner[1][c] - corner[0][c]) +
             0.5 * r[1] * (corner[2][c] - corner[0][c]) + 0.5 * (1.0 + r[2]) * (corner[4][c] - middle);
      continue;
    }
    for (int d = 0; d < dim; d++) {
      x[c] += 0.5 * (1.0 + r[d]) * (corner[d == 2 ? up : d + 1][c] - corner[0][c]);
    }
  }
}

// Nodes of degree p of an element with these corners: x [nodes][3].
static inline void affine_nodes(CeedElemTopology topology, int degree, const double (*corner)[3], double *x) {
  const int dim = ritz_mesh_shape(topology)->dim;
  const int64_t num = ritz_mesh_num_nodes(topology, degree);
  double *r = malloc((size_t)(num * dim) * 8);

  CHECK_OK(ritz_fe_shape_nodes(NULL, topology, degree, r));
  for (int64_t i = 0; i < num; i++) affine_point(topology, dim, corner, r + i * dim, x + 3 * i);
  free(r);
}

// Corners of element e of a block in the undeformed mesh, from the positions X of its vertices.
static inline void find_corners(int num_corners, const int64_t *vertices, const double (*X)[3],
                                double (*corner)[3]) {
  for (int k = 0; k < num_corners; k++) memcpy(corner[k], X[vertices[k]], 24);
}

// Positions of all geometry nodes from those of the vertices, X, by affine maps and then `map`.
static inline void place_nodes(RitzMeshDraft *draft, const double (*X)[3], RitzMapFunction map) {
  double *x = draft->coords, nodes[1000 * 3], corner[8][3];

  for (int b = 0; b < draft->num_blocks; b++) {
    const RitzMeshBlock *block = &draft->blocks[b];

    for (int64_t e = 0; e < block->num_elem; e++) {
      find_corners(block->num_corners, draft->elem_vertices + block->corner_base + e * block->num_corners, X,
                   corner);
      affine_nodes(block->topology, draft->order, (const double(*)[3])corner, nodes);
      for (int64_t i = 0; i < block->num_nodes; i++, x += draft->space_dim) {
        double y[3];

        map(NULL, draft->dim, nodes + 3 * i, y);
        for (int c = 0; c < draft->space_dim; c++) x[c] = y[c];
      }
    }
  }
}

static inline int identity_map(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d];
  return 0;
}

// Total degree 2, so that all shapes of order 2 follow it exactly; det J = (1 + Y/5) (1 + 3 Z/10), in the
// plane 1 + Y/5. Keeps the planes X = 0 and Z = 0, 1.15.
static inline int quadratic_map(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  x[0] = X[0] + 0.2 * X[0] * X[1];
  x[1] = X[1];
  if (dim < 3) return 0;
  x[1] += 0.1 * X[2] * X[2];
  x[2] = X[2] + 0.15 * X[2] * X[2];
  return 0;
}

// ---- A box with all shapes of solids ----

// 3 x 2 x 2 cells of the unit cube. Cells with x = 0 are hexahedra; those with x = 1 have a vertex in the
// centre and a pyramid on each inner face, two tetrahedra on each exterior one; those with x = 2 are cut into
// two prisms along z.
enum { MIXED_CELLS = 12, MIXED_GRID = 4 * 3 * 3, MIXED_VERTICES = MIXED_GRID + 4 };

static inline void mixed_vertices(double (*X)[3]) {
  for (int v = 0; v < MIXED_GRID; v++) {
    X[v][0] = v % 4 / 3.0;
    X[v][1] = v / 4 % 3 / 2.0;
    X[v][2] = v / 12 / 2.0;
  }
  for (int i = 0; i < 4; i++) {
    X[MIXED_GRID + i][0] = 0.5;
    X[MIXED_GRID + i][1] = 0.25 + i % 2 * 0.5;
    X[MIXED_GRID + i][2] = 0.25 + i / 2 * 0.5;
  }
}

// Appends an element to the lists of its shape.
static inline void mixed_add(RitzMeshDraft *draft, int b, int num_corners, const int64_t *vertices) {
  RitzMeshBlock *block = &draft->blocks[b];

  if (draft->elem_vertices) {
    memcpy(draft->elem_vertices + block->corner_base + block->num_elem * num_corners, vertices,
           (size_t)num_corners * 8);
  }
  block->num_elem++;
}

static inline void mixed_add_centre(RitzMeshDraft *draft, int cell, const int64_t *v) {
  // Corners of facets with the inside of the cell above them (seen from the first three).
  static const int inner[6][4] = {{0, 2, 4, 6}, {1, 5, 3, 7}, {0, 4, 1, 5},
                                  {2, 3, 6, 7}, {0, 1, 2, 3}, {4, 6, 5, 7}};
  const int at[3] = {cell % 3, cell / 3 % 2, cell / 6};

  for (int f = 0; f < 6; f++) {
    const int64_t q[5] = {v[inner[f][0]], v[inner[f][1]], v[inner[f][2]], v[inner[f][3]],
                          MIXED_GRID + at[1] + 2 * at[2]};
    const int64_t tets[2][4] = {{q[0], q[1], q[2], q[4]}, {q[3], q[2], q[1], q[4]}};

    if (f < 2 || at[f / 2] != f % 2) {
      mixed_add(draft, 1, 5, q);
    } else {
      for (int i = 0; i < 2; i++) mixed_add(draft, 0, 4, tets[i]);
    }
  }
}

static inline void mixed_add_cells(RitzMeshDraft *draft) {
  static const int prisms[2][6] = {{0, 1, 2, 4, 5, 6}, {3, 2, 1, 7, 6, 5}};

  for (int b = 0; b < 4; b++) draft->blocks[b].num_elem = 0;
  for (int cell = 0; cell < MIXED_CELLS; cell++) {
    int64_t v[8], prism[6];

    for (int k = 0; k < 8; k++)
      v[k] = cell % 3 + (k & 1) + 4 * (cell / 3 % 2 + (k >> 1 & 1)) + 12 * (cell / 6 + (k >> 2));
    if (cell % 3 == 0) mixed_add(draft, 3, 8, v);
    if (cell % 3 == 1) mixed_add_centre(draft, cell, v);
    for (int i = 0; cell % 3 == 2 && i < 2; i++) {
      for (int k = 0; k < 6; k++) prism[k] = v[prisms[i][k]];
      mixed_add(draft, 2, 6, prism);
    }
  }
}

static inline RitzMeshDraft draft_of_mixed(int order, RitzMapFunction map) {
  RitzMeshDraft draft = {.dim = 3,
                         .space_dim = 3,
                         .order = order,
                         .num_vertices = MIXED_VERTICES,
                         .num_blocks = 4,
                         .blocks = {{.topology = CEED_TOPOLOGY_TET},
                                    {.topology = CEED_TOPOLOGY_PYRAMID},
                                    {.topology = CEED_TOPOLOGY_PRISM},
                                    {.topology = CEED_TOPOLOGY_HEX}}};
  double X[MIXED_VERTICES][3];

  mixed_vertices(X);
  mixed_add_cells(&draft);
  fill_out(&draft);
  mixed_add_cells(&draft);
  place_nodes(&draft, (const double(*)[3])X, map);
  return draft;
}

// ---- Elements seen from other sides ----

// Turns element e of a straight draft of order 1 by a random rotation of its shape.
static inline void turn_element(RitzMeshDraft *draft, const RitzMeshBlock *block, int64_t e,
                                uint64_t *state) {
  static const int turns[7][2][8] = {
      {{0, 1}, {0, 1}},
      {{1, 2, 0}, {1, 2, 0}},
      {{1, 3, 0, 2}, {1, 3, 0, 2}},
      {{1, 2, 0, 3}, {1, 0, 3, 2}},
      {{1, 3, 0, 2, 4}, {1, 3, 0, 2, 4}},
      {{1, 2, 0, 4, 5, 3}, {3, 5, 4, 0, 2, 1}},
      {{1, 3, 0, 2, 5, 7, 4, 6}, {4, 5, 0, 1, 6, 7, 2, 3}},
  };
  int64_t *vertices = draft->elem_vertices + block->corner_base + e * block->num_corners, old[8];
  double *x = draft->coords + (block->node_base + e * block->num_corners) * draft->space_dim, old_x[24];

  for (int64_t i = tap_integer(state, 12); i > 0; i--) {
    const int *turn = turns[block->topology & 0xffff][tap_integer(state, 2)];

    memcpy(old, vertices, (size_t)block->num_corners * 8);
    memcpy(old_x, x, (size_t)(block->num_corners * draft->space_dim) * 8);
    for (int k = 0; k < block->num_corners; k++) {
      vertices[k] = old[turn[k]];
      memcpy(x + k * draft->space_dim, old_x + turn[k] * draft->space_dim, (size_t)draft->space_dim * 8);
    }
  }
}

// Random rotations of all elements and random numbers of the vertices.
static inline void turn_at_random(RitzMeshDraft *draft, uint64_t *state) {
  int64_t *number = malloc((size_t)draft->num_vertices * 8);

  for (int b = 0; b < draft->num_blocks; b++) {
    for (int64_t e = 0; e < draft->blocks[b].num_elem; e++) turn_element(draft, &draft->blocks[b], e, state);
  }
  for (int64_t i = 0; i < draft->num_vertices; i++) {
    int64_t j = tap_integer(state, i + 1);

    number[i] = number[j];
    number[j] = i;
  }
  for (int64_t i = 0; i < draft->num_places; i++) draft->elem_vertices[i] = number[draft->elem_vertices[i]];
  free(number);
}

// 2 x 2 quadrilaterals, two of which are cut.
static inline RitzMeshDraft draft_of_plane(int order, RitzMapFunction map) {
  static const int64_t triangles[4][3] = {{1, 2, 4}, {5, 4, 2}, {3, 4, 6}, {7, 6, 4}};
  static const int64_t quads[2][4] = {{0, 1, 3, 4}, {4, 5, 7, 8}};
  RitzMeshDraft draft = {.dim = 2,
                         .space_dim = 2,
                         .order = order,
                         .num_vertices = 9,
                         .num_blocks = 2,
                         .blocks = {{.topology = CEED_TOPOLOGY_TRIANGLE, .num_elem = 4},
                                    {.topology = CEED_TOPOLOGY_QUAD, .num_elem = 2}}};
  double X[9][3] = {{0.0}};

  for (int v = 0; v < 9; v++) X[v][0] = v % 3 / 2.0, X[v][1] = v / 3 / 2.0;
  fill_out(&draft);
  memcpy(draft.elem_vertices, triangles, sizeof(triangles));
  memcpy(draft.elem_vertices + 12, quads, sizeof(quads));
  place_nodes(&draft, (const double(*)[3])X, map);
  return draft;
}

#endif
