// SPDX-License-Identifier: BSD-2-Clause
// The unit box, and its image under the map of geometry-kit.h, as meshes of each shape and of several.
// Included by test-geometry-shapes.c and test-facets.c.
#ifndef RITZ_TESTS_SHAPES_KIT_H
#define RITZ_TESTS_SHAPES_KIT_H

#include "base/memory.h"
#include "tests/geometry-kit.h"
#include "tests/mixed-tools.h"

enum { MIXED_PLANE = -2, MIXED_SOLID = -3 }; // instead of a topology

static inline CeedInt dim_of(int shape) { return shape < 0 ? -shape : shape >> 16; }

// 3 x 2 cells of the unit square; those in the middle are cut into two triangles.
static inline RitzMeshDraft draft_of_rectangle(int order) {
  static const int cuts[2][3] = {{0, 1, 2}, {3, 2, 1}};
  RitzMeshDraft draft = {.dim = 2,
                         .space_dim = 2,
                         .order = order,
                         .num_vertices = 12,
                         .num_blocks = 2,
                         .blocks = {{.topology = CEED_TOPOLOGY_TRIANGLE, .num_elem = 4},
                                    {.topology = CEED_TOPOLOGY_QUAD, .num_elem = 4}}};
  double X[12][3] = {{0}};

  fill_out(&draft);
  for (int v = 0; v < 12; v++) {
    X[v][0] = v % 4 / 3.0;
    X[v][1] = v / 4 / 2.0;
  }
  int64_t *triangle = draft.elem_vertices, *quad = draft.elem_vertices + 12;

  for (int cell = 0; cell < 6; cell++) {
    const int64_t first = cell % 3 + 4 * (cell / 3), v[4] = {first, first + 1, first + 4, first + 5};

    for (int k = 0; k < 4 && cell % 3 != 1; k++) *quad++ = v[k];
    for (int k = 0; k < 6 && cell % 3 == 1; k++) *triangle++ = v[cuts[k / 3][k % 3]];
  }
  place_nodes(&draft, (const double(*)[3])X, identity_map);
  return draft;
}

// The unit box, its elements cut into those of one shape.
static inline int draft_of_shape(Ceed ceed, CeedElemTopology topology, CeedInt order, RitzMeshDraft *draft) {
  RitzMesh box = NULL, mesh = NULL;

  RITZ_TRY(RitzMeshCreateBox(ceed, dim_of((int)topology), mixed_size, NULL, NULL, order, NULL, NULL, &box));
  int ierr = RitzMeshSplit(box, topology, &mesh);

  if (!ierr) *draft = draft_of_any(mesh);
  RitzMeshDestroy(&box);
  RitzMeshDestroy(&mesh);
  return ierr;
}

static inline int flat_draft(Ceed ceed, int shape, CeedInt order, RitzMeshDraft *draft) {
  if (shape >= 0) return draft_of_shape(ceed, (CeedElemTopology)shape, order, draft);
  *draft = shape == MIXED_PLANE ? draft_of_rectangle(order) : draft_of_mixed(order, identity_map);
  return CEED_ERROR_SUCCESS;
}

// Takes the nodes of the unit box to their places, and builds the mesh.
static inline int build_mapped(Ceed ceed, RitzMeshDraft *draft, MixedMap *map, RitzMesh *mesh) {
  double *flat = draft->coords;

  draft->coords = NULL;
  draft->space_dim = map->space_dim;
  RITZ_CALLOC(NULL, (size_t)(draft->num_points * draft->space_dim), &draft->coords);
  for (int64_t i = 0; i < draft->num_points; i++)
    apply_mixed_map(map, draft->dim, flat + i * draft->dim, draft->coords + i * draft->space_dim);
  RITZ_FREE(&flat);
  return ritz_mesh_build(ceed, "shapes", draft, mesh);
}

// The values of an L-vector of a continuous space at the nodes of a discontinuous one, a new array.
static inline double *split_nodes(RitzSpace continuous, RitzSpace space, CeedInt num_comp, const double *u) {
  RitzMesh mesh = NULL;
  CeedSize size = 0;

  RitzSpaceGetMesh(space, &mesh);
  RitzSpaceGetSize(space, &size);
  double *v = reference_new(size);

  for (int b = 0; b < mesh->num_blocks; b++) {
    const int64_t *from = NULL, *to = NULL;
    CeedInt num = 0;

    if (RitzSpaceGetBlockNodes(continuous, b, &num, &from) || RitzSpaceGetBlockNodes(space, b, NULL, &to))
      break;
    for (int64_t i = 0; i < mesh->blocks[b].num_elem * num; i++) {
      for (CeedInt c = 0; c < num_comp; c++) v[to[i] * num_comp + c] = u[from[i] * num_comp + c];
    }
  }
  return v;
}

#endif
