// SPDX-License-Identifier: BSD-2-Clause
// RitzMeshSplit: cuts elements into others of one shape. The pieces follow from the numbers of the vertices,
// so that neighbours cut a common face alike; mesh/divide.c makes the mesh.
#include "mesh/mesh.h"

// A mesh to be cut.
typedef struct {
  RitzMesh mesh; // borrowed
  CeedElemTopology into;
  const RitzMeshShape *shapes[RITZ_MESH_MAX_BLOCKS];
  int8_t corner_node[RITZ_MESH_MAX_BLOCKS][RITZ_MESH_MAX_CORNERS]; // on the lattice of degree 2
  int8_t corner_at[RITZ_MESH_MAX_BLOCKS][27];                      // the corner at a lattice point, or -1
} Split;

enum { HEX_CENTRE = 13 }; // on the lattice of degree 2

static const int64_t *vertices_of(const Split *s, int block, int64_t e) {
  const RitzMeshBlock *b = &s->mesh->blocks[block];

  return s->mesh->elem_vertices + b->corner_base + (e - b->first) * b->num_corners;
}

// The one of these corners with the smallest vertex.
static int smallest_of(int num, const int8_t *corners, const int64_t *vertices) {
  int smallest = 0;

  for (int k = 1; k < num; k++) {
    if (vertices[corners[k]] < vertices[corners[smallest]]) smallest = k;
  }
  return smallest;
}

// Appends the piece with these corners of the parent.
static void add_child(const Split *s, int block, int num_corners, const int8_t *corners,
                      RitzMeshDivision *division) {
  RitzMeshChild *child = &division->child[division->num++];

  *child = (RitzMeshChild){.topology = s->into};
  for (int k = 0; k < num_corners; k++) child->node[k] = s->corner_node[block][corners[k]];
  ritz_mesh_child_orient(s->shapes[block], child);
}

// ---- Simplices ----

static bool has_corner(const int8_t corners[4], int corner) {
  return corners[0] == corner || corners[1] == corner || corners[2] == corner || corners[3] == corner;
}

// The cones with tip `tip` over a facet, which is cut at its smallest vertex if it has four corners.
static void add_cones(const Split *s, int block, int8_t tip, int size, const int8_t *facet,
                      const int64_t *vertices, RitzMeshDivision *division) {
  const int dim = s->shapes[block]->dim;

  if (size == dim) {
    const int8_t corners[4] = {tip, facet[0], facet[1], facet[dim - 1]};

    add_child(s, block, dim + 1, corners, division);
    return;
  }
  const int m = smallest_of(4, facet, vertices);

  for (int side = 1; side <= 2; side++) {
    const int8_t corners[4] = {tip, facet[m], facet[m ^ side], facet[3 - m]};

    add_child(s, block, 4, corners, division);
  }
}

// Cones from the smallest vertex over the facets that do not have it ("pulling"). They cut the facets that
// have it there, too: every face is cut at its smallest vertex.
static void cut_into_simplices(const Split *s, int block, const int64_t *vertices,
                               RitzMeshDivision *division) {
  static const int8_t all[RITZ_MESH_MAX_CORNERS] = {0, 1, 2, 3, 4, 5, 6, 7};
  const RitzMeshShape *shape = s->shapes[block];
  const int8_t tip = (int8_t)smallest_of(shape->num_corners, all, vertices);

  for (int f = 0; f < shape->facets.num; f++) {
    if (has_corner(shape->facets.corner[f], tip)) continue;
    add_cones(s, block, tip, ritz_mesh_entity_size(&shape->facets, f), shape->facets.corner[f], vertices,
              division);
  }
}

// ---- Pyramids and prisms ----

static void cut_into_pyramids(const Split *s, int block, RitzMeshDivision *division) {
  const RitzMeshShape *shape = s->shapes[block];

  for (int f = 0; f < shape->facets.num; f++) {
    RitzMeshChild *child = &division->child[division->num++];

    *child = (RitzMeshChild){.topology = CEED_TOPOLOGY_PYRAMID};
    for (int k = 0; k < 4; k++) child->node[k] = s->corner_node[block][shape->facets.corner[f][k]];
    child->node[4] = HEX_CENTRE;
    ritz_mesh_child_orient(shape, child);
  }
}

// The diagonal of the bottom (0) or top (1): 0: corners 0 and 3, 1: corners 1 and 2.
static int diagonal_of(int side, const int64_t *vertices) {
  static const int8_t corners[4] = {0, 1, 2, 3};
  int smallest = smallest_of(4, corners, vertices + 4 * side);

  return smallest == 1 || smallest == 2;
}

static void cut_into_prisms(const Split *s, int block, const int64_t *vertices, RitzMeshDivision *division) {
  const int8_t a = (int8_t)diagonal_of(0, vertices), b = (int8_t)(3 - a);

  for (int side = 1; side <= 2; side++) {
    const int8_t c = (int8_t)(a ^ side),
                 corners[6] = {a, c, b, (int8_t)(a + 4), (int8_t)(c + 4), (int8_t)(b + 4)};

    add_child(s, block, 6, corners, division);
  }
}

// Whether a face is cut: seen from all hexahedra and prisms that have it the same.
static int check_prism_faces(const Split *s, int b, const int64_t *faces, int8_t *is_cut) {
  const RitzMeshBlock *block = &s->mesh->blocks[b];
  const RitzMeshEntities *facets = &s->shapes[b]->facets;

  for (int64_t e = block->first; e < block->first + block->num_elem; e++) {
    for (int f = 0; f < facets->num; f++) {
      int8_t *known = &is_cut[*faces++], cut = s->shapes[b]->is_tensor && f >= 4;

      RITZ_REQUIRE(*known < 0 || *known == cut, s->mesh->ceed, CEED_ERROR_UNSUPPORTED,
                   "RitzMeshSplit: facet %d of element %lld would be cut on one side only; its neighbour "
                   "has its third direction elsewhere",
                   f, (long long)e);
      *known = cut;
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int check_diagonals(const Split *s, int b) {
  const RitzMeshBlock *block = &s->mesh->blocks[b];

  if (block->topology != CEED_TOPOLOGY_HEX) return CEED_ERROR_SUCCESS;
  for (int64_t e = block->first; e < block->first + block->num_elem; e++) {
    const int64_t *vertices = vertices_of(s, b, e);

    RITZ_REQUIRE(diagonal_of(0, vertices) == diagonal_of(1, vertices), s->mesh->ceed, CEED_ERROR_UNSUPPORTED,
                 "RitzMeshSplit: the numbers of its vertices cut top and bottom of element %lld along "
                 "different diagonals",
                 (long long)e);
  }
  return CEED_ERROR_SUCCESS;
}

static int check_prisms(const Split *s) {
  const RitzMesh mesh = s->mesh;
  const RitzMeshCells cells = ritz_mesh_cells(mesh);
  RitzMeshNumbers faces = {.numbers = NULL};
  int8_t *is_cut = NULL; // by face; -1: not met
  int ierr = CEED_ERROR_SUCCESS;

  for (int b = 0; b < mesh->num_blocks; b++) RITZ_TRY(check_diagonals(s, b));
  RITZ_TRY_CLEANUP(ritz_mesh_number_entities(&cells, RITZ_MESH_FACETS, &faces));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(mesh->ceed, (size_t)faces.num, &is_cut));
  for (int64_t i = 0; i < faces.num; i++) is_cut[i] = -1;
  for (int b = 0; b < mesh->num_blocks; b++) {
    RITZ_TRY_CLEANUP(check_prism_faces(s, b, faces.numbers + faces.base[b], is_cut));
  }

cleanup:
  RITZ_FREE(&is_cut);
  RITZ_FREE(&faces.numbers);
  return ierr;
}

// ---- All shapes ----

static void split_element(const void *ctx, int block, int64_t e, RitzMeshDivision *division) {
  static const int8_t all[RITZ_MESH_MAX_CORNERS] = {0, 1, 2, 3, 4, 5, 6, 7};
  const Split *s = ctx;
  const RitzMeshShape *shape = s->shapes[block];
  const int64_t *vertices = vertices_of(s, block, e);

  division->num = 0;
  if (shape->topology == s->into) {
    add_child(s, block, shape->num_corners, all, division);
  } else if (s->into == CEED_TOPOLOGY_PYRAMID) {
    cut_into_pyramids(s, block, division);
  } else if (s->into == CEED_TOPOLOGY_PRISM) {
    cut_into_prisms(s, block, vertices, division);
  } else {
    cut_into_simplices(s, block, vertices, division);
  }
}

static int64_t vertex(const void *ctx, int block, int64_t e, int node) {
  const Split *s = ctx;
  const int corner = s->corner_at[block][node];

  if (corner < 0) return s->mesh->num_vertices + e - s->mesh->blocks[block].first;
  return vertices_of(s, block, e)[corner];
}

static bool can_cut(CeedElemTopology from, CeedElemTopology into) {
  if (from == into || into == CEED_TOPOLOGY_TET) return true;
  if (into == CEED_TOPOLOGY_TRIANGLE) return from == CEED_TOPOLOGY_QUAD;
  return (into == CEED_TOPOLOGY_PYRAMID || into == CEED_TOPOLOGY_PRISM) && from == CEED_TOPOLOGY_HEX;
}

static int prepare_cut(RitzMesh mesh, CeedElemTopology into, Split *s, RitzMeshCut *cut) {
  const RitzMeshShape *target = ritz_mesh_shape(into);

  *s = (Split){.mesh = mesh, .into = into};
  for (int b = 0; b < mesh->num_blocks; b++) {
    const RitzMeshShape *shape = s->shapes[b] = ritz_mesh_shape(mesh->blocks[b].topology);

    RITZ_REQUIRE(target && target->dim == mesh->dim && can_cut(shape->topology, into), mesh->ceed,
                 CEED_ERROR_UNSUPPORTED, "RitzMeshSplit: %s cannot be cut into %s", shape->plural,
                 target ? target->plural : "elements of an unknown shape");
    for (int i = 0; i < 27; i++) s->corner_at[b][i] = -1;
    for (int8_t k = 0; k < shape->num_corners; k++) {
      s->corner_node[b][k] = ritz_mesh_corner_node(shape, k);
      s->corner_at[b][s->corner_node[b][k]] = k;
    }
    if (into == CEED_TOPOLOGY_PYRAMID && shape->topology == CEED_TOPOLOGY_HEX) {
      cut->num_vertices += mesh->blocks[b].num_elem;
    }
  }
  return into == CEED_TOPOLOGY_PRISM ? check_prisms(s) : CEED_ERROR_SUCCESS;
}

int RitzMeshSplit(RitzMesh mesh, CeedElemTopology into, RitzMesh *split) {
  Split s;

  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, split);
  *split = NULL;
  RitzMeshCut cut = {.mesh = mesh,
                     .call = "RitzMeshSplit",
                     .num_vertices = mesh->num_vertices,
                     .ctx = &s,
                     .choose = split_element,
                     .vertex = vertex};

  if (mesh->num_blocks == 1 && mesh->blocks[0].topology == into) return RitzMeshReferenceCopy(mesh, split);
  RITZ_REQUIRE(!mesh->seam, mesh->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzMeshSplit: the mesh is part %" CeedInt_FMT " of %" CeedInt_FMT "; split the whole one",
               mesh->seam->part, mesh->seam->num_parts);
  RITZ_TRY(prepare_cut(mesh, into, &s, &cut));
  return ritz_mesh_divide(&cut, split);
}
