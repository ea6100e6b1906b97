// SPDX-License-Identifier: BSD-2-Clause
// The blocks of a mesh: shapes, nodes at the corners, which elements are of each kind. Called when a geometry
// is created.
#include <math.h>
#include <ritz/basis.h>

#include "geometry/geometry.h"

static const RitzGeometryShape shapes[] = {
    {CEED_TOPOLOGY_LINE, "lines", true, true, {0, 1}},
    {CEED_TOPOLOGY_TRIANGLE, "triangles", false, true, {0, 1, 2}},
    {CEED_TOPOLOGY_QUAD, "quadrilaterals", true, false, {0, 1, 2}},
    {CEED_TOPOLOGY_TET, "tetrahedra", false, true, {0, 1, 2, 3}},
    {CEED_TOPOLOGY_PYRAMID, "pyramids", false, false, {0, 1, 2, 4}},
    {CEED_TOPOLOGY_PRISM, "prisms", false, false, {0, 1, 2, 3}},
    {CEED_TOPOLOGY_HEX, "hexahedra", true, false, {0, 1, 2, 4}},
};

const RitzGeometryShape *ritz_geometry_shape(CeedElemTopology topology) {
  const RitzGeometryShape *shape = shapes;

  while (shape->topology != topology) shape++;
  return shape;
}

// The node at the point.
static CeedInt find_node(CeedInt dim, CeedInt num_nodes, const double *nodes, const double *point) {
  double least = INFINITY;
  CeedInt nearest = 0;

  for (CeedInt i = 0; i < num_nodes; i++) {
    double square = 0;

    for (CeedInt d = 0; d < dim; d++) {
      const double gap = nodes[i * dim + d] - point[d];
      square += gap * gap;
    }
    if (square < least) {
      least = square;
      nearest = i;
    }
  }
  return nearest;
}

static int find_corners(RitzGeometry geometry, RitzGeometryBlock *block) {
  Ceed ceed = RitzMeshReturnCeed(geometry->mesh);
  const CeedElemTopology topology = block->shape->topology;
  const CeedInt dim = geometry->dim;
  double *nodes = NULL, *corners = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(RitzLagrangeNodes(ceed, topology, geometry->order, &block->num_nodes, NULL));
  RITZ_TRY_CLEANUP(RitzLagrangeNodes(ceed, topology, 1, &block->num_corners, NULL));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)block->num_nodes * (size_t)dim, &nodes));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)block->num_corners * (size_t)dim, &corners));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)block->num_corners, &block->corner_node));
  RITZ_TRY_CLEANUP(RitzLagrangeNodes(ceed, topology, geometry->order, NULL, nodes));
  RITZ_TRY_CLEANUP(RitzLagrangeNodes(ceed, topology, 1, NULL, corners));
  for (CeedInt k = 0; k < block->num_corners; k++)
    block->corner_node[k] = find_node(dim, block->num_nodes, nodes, corners + k * dim);
cleanup:
  RITZ_FREE(&nodes);
  RITZ_FREE(&corners);
  return ierr;
}

// The elements of a kind ascend, so those of the block are neighbours; *next: behind those of blocks before.
static void find_kinds(RitzGeometry geometry, int64_t end, CeedInt next[RITZ_NUM_KINDS],
                       RitzGeometryBlock *block) {
  for (int k = 0; k < RITZ_NUM_KINDS; k++) {
    block->begin[k] = next[k];
    while (next[k] < geometry->first[k + 1] && geometry->elements[next[k]] < end) next[k]++;
    block->end[k] = next[k];
  }
}

int ritz_geometry_blocks_create(RitzGeometry geometry) {
  CeedInt next[RITZ_NUM_KINDS];

  RITZ_TRY(RitzMeshGetNumBlocks(geometry->mesh, &geometry->num_blocks));
  RITZ_TRY(RITZ_CALLOC(RitzMeshReturnCeed(geometry->mesh), (size_t)geometry->num_blocks, &geometry->blocks));
  for (int k = 0; k < RITZ_NUM_KINDS; k++) next[k] = geometry->first[k];
  for (CeedInt b = 0; b < geometry->num_blocks; b++) {
    RitzGeometryBlock *block = &geometry->blocks[b];
    CeedElemTopology topology;
    int64_t first = 0, num_elem = 0;

    RITZ_TRY(RitzMeshGetBlock(geometry->mesh, b, &topology, &first, &num_elem, NULL, NULL));
    block->shape = ritz_geometry_shape(topology);
    block->index = b;
    block->first = (CeedInt)first;
    find_kinds(geometry, first + num_elem, next, block);
    RITZ_TRY(find_corners(geometry, block));
  }
  return CEED_ERROR_SUCCESS;
}

void ritz_geometry_blocks_clear(RitzGeometry geometry) {
  for (CeedInt b = 0; b < geometry->num_blocks && geometry->blocks; b++)
    RITZ_FREE(&geometry->blocks[b].corner_node);
  RITZ_FREE(&geometry->blocks);
}
