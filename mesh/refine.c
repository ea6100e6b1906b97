// SPDX-License-Identifier: BSD-2-Clause
// Uniform refinement. The vertices of the children are the nodes of degree 2 of the parent, so the node
// numbering finds them on any topology; mesh/divide.c makes the mesh.
#include <math.h>
#include <string.h>

#include "mesh/mesh.h"

// A mesh under refinement.
typedef struct {
  RitzMesh mesh;                                       // borrowed
  RitzMeshDivision divisions[RITZ_MESH_MAX_BLOCKS][3]; // of the elements of each block, by way of cutting
  int64_t base[RITZ_MESH_MAX_BLOCKS], num_local[RITZ_MESH_MAX_BLOCKS]; // of the lattice
  int64_t *lattice; // owned: vertices at the points of degree 2 of all elements
} Refine;

// ---- Children ----

static void add_child(RitzMeshDivision *division, CeedElemTopology topology, int num_corners,
                      const int8_t *nodes) {
  RitzMeshChild *child = &division->child[division->num++];

  *child = (RitzMeshChild){.topology = topology};
  memcpy(child->node, nodes, (size_t)num_corners);
}

// Child f lies at the upper end of the directions of the bits of f.
static void divide_tensor(const RitzMeshShape *shape, RitzMeshDivision *division) {
  for (int f = 0; f < shape->num_corners; f++) {
    int8_t nodes[RITZ_MESH_MAX_CORNERS];

    for (int k = 0; k < shape->num_corners; k++) {
      nodes[k] = 0;
      for (int d = 0, stride = 1; d < shape->dim; d++, stride *= 3)
        nodes[k] = (int8_t)(nodes[k] + ((f >> d & 1) + (k >> d & 1)) * stride);
    }
    add_child(division, shape->topology, shape->num_corners, nodes);
  }
}

// Lattice of a triangle: 0 1 2, 3 4, 5.
static const int8_t triangles[4][3] = {{0, 1, 3}, {1, 2, 4}, {3, 4, 5}, {4, 3, 1}};

static void divide_triangle(RitzMeshDivision *division) {
  for (int f = 0; f < 4; f++) add_child(division, CEED_TOPOLOGY_TRIANGLE, 3, triangles[f]);
}

static void divide_prism(RitzMeshDivision *division) {
  for (int f = 0; f < 8; f++) {
    int8_t nodes[6];

    for (int k = 0; k < 6; k++) nodes[k] = (int8_t)(triangles[f % 4][k % 3] + 6 * (f / 4 + k / 3));
    add_child(division, CEED_TOPOLOGY_PRISM, 6, nodes);
  }
}

// Lattice, from below: 0 1 2, 3 4 5, 6 7 8; 9 10, 11 12; 13. Pyramids at the corners and the apex, one upside
// down in the middle, and a tetrahedron at each edge of the base.
static void divide_pyramid(RitzMeshDivision *division) {
  static const int8_t pyramids[6][5] = {{0, 1, 3, 4, 9},  {1, 2, 4, 5, 10},    {3, 4, 6, 7, 11},
                                        {4, 5, 7, 8, 12}, {9, 10, 11, 12, 13}, {9, 11, 10, 12, 4}};
  static const int8_t tets[4][4] = {{3, 9, 11, 4}, {5, 10, 12, 4}, {1, 9, 10, 4}, {7, 11, 12, 4}};

  for (int f = 0; f < 6; f++) add_child(division, CEED_TOPOLOGY_PYRAMID, 5, pyramids[f]);
  for (int f = 0; f < 4; f++) {
    add_child(division, CEED_TOPOLOGY_TET, 4, tets[f]);
    ritz_mesh_child_orient(ritz_mesh_shape(CEED_TOPOLOGY_PYRAMID), &division->child[6 + f]);
  }
}

// Lattice, from below: 0 1 2, 3 4, 5; 6 7, 8; 9. The inner octahedron is cut along one of its diagonals into
// the four tetrahedra that this diagonal makes with the edges around it.
static void divide_tet(int diagonal, RitzMeshDivision *division) {
  static const int8_t corners[4][4] = {{0, 1, 3, 6}, {1, 2, 4, 7}, {3, 4, 5, 8}, {6, 7, 8, 9}};
  static const int8_t ends[3][2] = {{1, 8}, {3, 7}, {6, 4}};
  static const int8_t around[3][4] = {{3, 6, 7, 4}, {1, 6, 8, 4}, {1, 3, 8, 7}};

  for (int f = 0; f < 4; f++) add_child(division, CEED_TOPOLOGY_TET, 4, corners[f]);
  for (int f = 0; f < 4; f++) {
    const int8_t nodes[4] = {ends[diagonal][0], ends[diagonal][1], around[diagonal][f],
                             around[diagonal][(f + 1) % 4]};

    add_child(division, CEED_TOPOLOGY_TET, 4, nodes);
    ritz_mesh_child_orient(ritz_mesh_shape(CEED_TOPOLOGY_TET), &division->child[4 + f]);
  }
}

int ritz_mesh_num_refinements(CeedElemTopology topology) { return topology == CEED_TOPOLOGY_TET ? 3 : 1; }

void ritz_mesh_refinement(CeedElemTopology topology, int way, RitzMeshDivision *division) {
  const RitzMeshShape *shape = ritz_mesh_shape(topology);

  division->num = 0;
  if (shape->is_tensor) divide_tensor(shape, division);
  if (topology == CEED_TOPOLOGY_TRIANGLE) divide_triangle(division);
  if (topology == CEED_TOPOLOGY_TET) divide_tet(way, division);
  if (topology == CEED_TOPOLOGY_PRISM) divide_prism(division);
  if (topology == CEED_TOPOLOGY_PYRAMID) divide_pyramid(division);
}

// The diagonals join the middles of opposite edges: corners 0 1 and 2 3, 0 2 and 1 3, 0 3 and 1 2. Of equally
// short ones (up to rounding) the first is taken.
static int shortest_diagonal(RitzMesh mesh, const RitzMeshBlock *block, int64_t e) {
  static const int opposite[3][2] = {{2, 3}, {1, 3}, {1, 2}};
  const RitzMeshShape *shape = ritz_mesh_shape(CEED_TOPOLOGY_TET);
  const double *x = mesh->coords + (block->node_base + (e - block->first) * block->num_nodes) * 3;
  double corners[4][3], shortest = 0.0;
  int found = 0;

  for (int8_t k = 0; k < 4; k++) {
    int64_t at[3];

    ritz_mesh_lattice_point(shape, mesh->order, &k, 1, NULL, at);
    memcpy(corners[k], x + 3 * ritz_mesh_lattice_index(CEED_TOPOLOGY_TET, mesh->order, at),
           sizeof(corners[k]));
  }
  for (int i = 0; i < 3; i++) {
    double square = 0.0;

    for (int d = 0; d < 3; d++) {
      double other = corners[opposite[i][0]][d] + corners[opposite[i][1]][d];
      double all = corners[0][d] + corners[1][d] + corners[2][d] + corners[3][d];

      square += (all - 2.0 * other) * (all - 2.0 * other);
    }
    if (i > 0 && square >= shortest * (1.0 - 1e-9)) continue;
    shortest = square;
    found = i;
  }
  return found;
}

int ritz_mesh_refinement_of(RitzMesh mesh, int block, int64_t e) {
  const RitzMeshBlock *b = &mesh->blocks[block];

  return b->topology == CEED_TOPOLOGY_TET ? shortest_diagonal(mesh, b, e) : 0;
}

static void refine_element(const void *ctx, int block, int64_t e, RitzMeshDivision *division) {
  const Refine *r = ctx;

  *division = r->divisions[block][ritz_mesh_refinement_of(r->mesh, block, e)];
}

static int64_t vertex(const void *ctx, int block, int64_t e, int node) {
  const Refine *r = ctx;

  return r->lattice[r->base[block] + (e - r->mesh->blocks[block].first) * r->num_local[block] + node];
}

// ---- Levels ----

static int refine_once(RitzMesh mesh, RitzMesh *refined) {
  Refine r = {.mesh = mesh};
  RitzMeshCut cut = {
      .mesh = mesh, .call = "RitzMeshRefine", .ctx = &r, .choose = refine_element, .vertex = vertex};
  int64_t num_lattice = 0;
  int ierr = CEED_ERROR_SUCCESS;

  for (int b = 0; b < mesh->num_blocks; b++) {
    for (int way = 0; way < ritz_mesh_num_refinements(mesh->blocks[b].topology); way++) {
      ritz_mesh_refinement(mesh->blocks[b].topology, way, &r.divisions[b][way]);
    }
    r.base[b] = num_lattice;
    r.num_local[b] = ritz_mesh_num_nodes(mesh->blocks[b].topology, 2);
    num_lattice += mesh->blocks[b].num_elem * r.num_local[b];
  }
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)num_lattice, &r.lattice));
  RITZ_TRY_CLEANUP(ritz_mesh_number_nodes(mesh, 2, &cut.num_vertices, r.lattice));
  RITZ_TRY_CLEANUP(ritz_mesh_divide(&cut, refined));
  ierr = RitzMeshReferenceCopy(mesh, &(*refined)->coarser);

cleanup:
  RITZ_FREE(&r.lattice);
  return ierr;
}

// Bytes of the elements of the finest mesh.
static double count_bytes(RitzMesh mesh, CeedInt levels) {
  const double l = fmin(levels, 300), num_children = pow(2.0, mesh->dim);
  const double of_tet = (double)ritz_mesh_num_nodes(CEED_TOPOLOGY_TET, mesh->order);
  double num_bytes = 0.0;

  for (int b = 0; b < mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &mesh->blocks[b];
    const bool is_pyramid = block->topology == CEED_TOPOLOGY_PYRAMID;
    const double num_tets = is_pyramid ? 4.0 * (pow(8.0, l) - pow(6.0, l)) / 2.0 : 0.0;
    const double num_own = pow(is_pyramid ? 6.0 : num_children, l);

    num_bytes += (double)block->num_elem * sizeof(double) *
                 (num_own * ((double)block->num_nodes * mesh->space_dim + block->num_corners) +
                  num_tets * (of_tet * mesh->space_dim + 4));
  }
  return num_bytes;
}

// Checks that there can be room for the finest mesh.
static int check_levels(RitzMesh mesh, CeedInt levels) {
  RITZ_REQUIRE(levels >= 0, mesh->ceed, CEED_ERROR_DIMENSION,
               "RitzMeshRefine: %" CeedInt_FMT " levels, needed at least 0", levels);
  const double num_bytes = levels > 0 ? count_bytes(mesh, levels) : 0.0;

  RITZ_REQUIRE(ritz_mesh_fits(num_bytes), mesh->ceed, CEED_ERROR_DIMENSION,
               "RitzMeshRefine: %" CeedInt_FMT " levels of %lld elements are too many, %.3g GB", levels,
               (long long)mesh->num_elem, 1e-9 * num_bytes);
  return CEED_ERROR_SUCCESS;
}

int RitzMeshRefine(RitzMesh mesh, CeedInt levels, RitzMesh *refined) {
  RitzMesh current = NULL;

  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, refined);
  *refined = NULL;
  RITZ_TRY(check_levels(mesh, levels));
  RITZ_TRY(RitzMeshReferenceCopy(mesh, &current));
  for (CeedInt level = 0; level < levels; level++) {
    RitzMesh finer = NULL;
    int ierr = refine_once(current, &finer);

    RitzMeshDestroy(&current);
    RITZ_TRY(ierr);
    current = finer;
  }
  *refined = current;
  return CEED_ERROR_SUCCESS;
}
