// SPDX-License-Identifier: BSD-2-Clause
// Meshes cut into parts for the tests of ritz/partition.h and ritz/exchange.h: meshes of all shapes, ways to
// cut them, nodes found by position. Included by test-parts.c, test-exchange.c.
#ifndef RITZ_TESTS_PARTS_KIT_H
#define RITZ_TESTS_PARTS_KIT_H

#include <ritz.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mixed-tools.h"

// ---- Meshes ----

enum { NUM_MESHES = 8 };
static const char *const mesh_names[NUM_MESHES] = {"a line",     "a square", "a box",    "triangles",
                                                   "tetrahedra", "prisms",   "pyramids", "all shapes turned"};

static inline int make_mesh(Ceed ceed, int which, RitzMesh *mesh) {
  static const CeedElemTopology into[NUM_MESHES] = {[3] = CEED_TOPOLOGY_TRIANGLE,
                                                    [4] = CEED_TOPOLOGY_TET,
                                                    [5] = CEED_TOPOLOGY_PRISM,
                                                    [6] = CEED_TOPOLOGY_PYRAMID};
  uint64_t state = 11;
  RitzMesh box = NULL;

  if (which == 7) {
    RitzMeshDraft draft = draft_of_mixed(1, identity_map);

    turn_at_random(&draft, &state);
    return ritz_mesh_build(ceed, mesh_names[which], &draft, mesh);
  }
  RITZ_TRY(make_box(ceed, which < 2 ? which + 1 : which == 3 ? 2 : 3, 1, NULL, NULL, &box));
  if (which < 3) {
    *mesh = box;
    return CEED_ERROR_SUCCESS;
  }
  const int ierr = RitzMeshSplit(box, into[which], mesh);

  return ritz_first_error(ierr, RitzMeshDestroy(&box));
}

// ---- Cuts ----

enum { CUT_AUTO, CUT_HILBERT, CUT_RANDOM, CUT_ONE_ELEMENT, NUM_CUTS };
static const char *const cut_names[NUM_CUTS] = {"automatic", "Hilbert", "random",
                                                "one element a part but the last"};

// Parts of all elements, to be freed by the caller.
static inline int cut_mesh(RitzMesh mesh, int how, CeedInt num_parts, int32_t **parts) {
  uint64_t state = 5;

  *parts = malloc((size_t)mesh->num_elem * sizeof(**parts));
  if (how == CUT_AUTO) return RitzMeshPartition(mesh, RITZ_PARTITION_AUTO, num_parts, NULL, *parts);
  if (how == CUT_HILBERT) return RitzMeshPartition(mesh, RITZ_PARTITION_HILBERT, num_parts, NULL, *parts);
  for (int64_t e = 0; e < mesh->num_elem; e++) {
    if (how == CUT_RANDOM)
      (*parts)[e] = (int32_t)tap_integer(&state, num_parts);
    else
      (*parts)[e] = (int32_t)(e < num_parts - 1 ? e : num_parts - 1);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Nodes by position ----

// Positions of the whole mesh's nodes, sorted; at most 1e-9 apart means the same.
typedef struct {
  double x[3];
  int64_t node;
} PlacedNode;
typedef struct {
  int64_t num;
  PlacedNode *nodes; // owned
} PlacedNodes;

static inline int compare_placed(const void *pa, const void *pb) {
  const double *a = ((const PlacedNode *)pa)->x, *b = ((const PlacedNode *)pb)->x;

  for (int d = 0; d < 3; d++) {
    if (fabs(a[d] - b[d]) > 1e-9) return a[d] < b[d] ? -1 : 1;
  }
  return 0;
}

static inline int place_all(RitzSpace space, PlacedNodes *placed) {
  CeedInt dim = 0;
  RitzMesh mesh = NULL;

  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(RitzMeshGetDimensions(mesh, NULL, &dim));
  RITZ_TRY(RitzSpaceGetNumNodes(space, &placed->num));
  double *x = malloc((size_t)(placed->num * dim + 1) * sizeof(*x));

  placed->nodes = calloc((size_t)placed->num + 1, sizeof(*placed->nodes));
  const int ierr = RitzSpaceGetNodeCoordinates(space, x);

  for (int64_t i = 0; i < placed->num; i++) {
    placed->nodes[i].node = i;
    for (CeedInt d = 0; d < dim; d++) placed->nodes[i].x[d] = x[i * dim + d];
  }
  free(x);
  return ierr;
}

static inline void sort_placed(PlacedNodes *placed) {
  qsort(placed->nodes, (size_t)placed->num, sizeof(*placed->nodes), compare_placed);
}

// The node of the whole mesh at the position of another one; -1: none.
static inline int64_t find_placed(const PlacedNodes *placed, const PlacedNode *node) {
  const PlacedNode *found =
      bsearch(node, placed->nodes, (size_t)placed->num, sizeof(*placed->nodes), compare_placed);

  return found ? found->node : -1;
}

#endif
