// SPDX-License-Identifier: BSD-2-Clause
// RitzMeshFindCracks: vertices of the boundary that lie on an element which does not have them. Only elements
// at the boundary are looked at: their boxes are put into a tree (mesh/box-tree.c), and what is near a vertex
// takes its position back by the inverse map (mesh/inverse.c).
#include <math.h>

#include "mesh/locate.h"

// How far a vertex may be off an element, in reference coordinates: files have 7 digits or more.
static const double tolerance = 1e-6;

typedef struct {
  RitzMesh mesh;               // borrowed
  int64_t num_vertices;        // on the boundary
  int64_t *places;             // owned, [num_vertices of the mesh]: where a vertex is on the
                               // boundary, element * RITZ_MESH_MAX_CORNERS + corner; -1: nowhere
  int64_t num_elem, *elements; // owned: at the boundary, ascending
  double *boxes;               // owned, of these elements
  RitzBoxTree tree;            // owned
  RitzMeshInverse inverse[RITZ_MESH_MAX_BLOCKS]; // owned, of the mesh's blocks
  double *work;                                  // owned
} Search;

static void clear_search(Search *s) {
  RITZ_FREE(&s->places);
  RITZ_FREE(&s->elements);
  RITZ_FREE(&s->boxes);
  ritz_box_tree_clear(&s->tree);
  for (int b = 0; b < RITZ_MESH_MAX_BLOCKS; b++) ritz_mesh_inverse_clear(&s->inverse[b]);
  RITZ_FREE(&s->work);
}

static const RitzMeshBlock *block_of(RitzMesh mesh, int64_t e) {
  return &mesh->blocks[ritz_mesh_find_block(mesh->num_blocks, mesh->blocks, e)];
}

static const int64_t *vertices_of(RitzMesh mesh, const RitzMeshBlock *block, int64_t e) {
  return mesh->elem_vertices + block->corner_base + (e - block->first) * block->num_corners;
}

static const double *nodes_of(RitzMesh mesh, const RitzMeshBlock *block, int64_t e) {
  return mesh->coords + (block->node_base + (e - block->first) * block->num_nodes) * mesh->space_dim;
}

static const double *corner_of(RitzMesh mesh, const RitzMeshBlock *block, int64_t e, int corner) {
  const RitzMeshShape *shape = ritz_mesh_shape(block->topology);
  int64_t at[3];

  for (int d = 0; d < 3; d++) at[d] = shape->corner_at[corner][d] * mesh->order;
  return nodes_of(mesh, block, e) +
         ritz_mesh_lattice_index(block->topology, mesh->order, at) * mesh->space_dim;
}

// ---- The boundary ----

static void mark_facet(Search *s, const RitzMeshMark *mark) {
  const RitzMesh mesh = s->mesh;
  const RitzMeshBlock *block = block_of(mesh, mark->elem);
  const RitzMeshEntities *facets = &ritz_mesh_shape(block->topology)->facets;
  const int64_t *vertices = vertices_of(mesh, block, mark->elem);

  for (int k = 0; k < ritz_mesh_entity_size(facets, mark->facet); k++) {
    const int corner = facets->corner[mark->facet][k];

    s->places[vertices[corner]] = mark->elem * RITZ_MESH_MAX_CORNERS + corner;
  }
}

// Marks are sorted by element.
static int find_boundary(Search *s) {
  const RitzMesh mesh = s->mesh;
  int64_t num_facets = 0;

  for (int64_t i = 0; i < mesh->num_marks; i++) num_facets += mesh->marks[i].part == RITZ_MESH_EXTERIOR;
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)mesh->num_vertices, &s->places));
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)num_facets, &s->elements));
  for (int64_t v = 0; v < mesh->num_vertices; v++) s->places[v] = -1;
  for (int64_t i = 0; i < mesh->num_marks; i++) {
    const int64_t e = mesh->marks[i].elem;

    if (mesh->marks[i].part != RITZ_MESH_EXTERIOR) continue;
    mark_facet(s, &mesh->marks[i]);
    if (s->num_elem == 0 || s->elements[s->num_elem - 1] != e) s->elements[s->num_elem++] = e;
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Elements at the boundary ----

static int fill_boxes_of(Search *s, const RitzMeshBlock *block) {
  const RitzMesh mesh = s->mesh;
  RitzMeshHull hull;

  RITZ_TRY(ritz_mesh_hull_create(mesh->ceed, block->topology, mesh->space_dim, mesh->order, &hull));
  for (int64_t i = 0; i < s->num_elem; i++) {
    const int64_t e = s->elements[i];

    if (e < block->first || e >= block->first + block->num_elem) continue;
    ritz_mesh_hull_take(&hull, nodes_of(mesh, block, e), tolerance, s->boxes + i * 2 * mesh->space_dim);
  }
  ritz_mesh_hull_clear(&hull);
  return CEED_ERROR_SUCCESS;
}

static int prepare_cracks(Search *s) {
  const RitzMesh mesh = s->mesh;
  int64_t work_size = 0;

  RITZ_TRY(RITZ_MALLOC(mesh->ceed, 2 * (size_t)s->num_elem * (size_t)mesh->space_dim, &s->boxes));
  for (int b = 0; b < mesh->num_blocks; b++) {
    RITZ_TRY(fill_boxes_of(s, &mesh->blocks[b]));
    RITZ_TRY(ritz_mesh_inverse_create(mesh->ceed, mesh->blocks[b].topology, mesh->space_dim, mesh->order,
                                      &s->inverse[b]));
    const int64_t size = ritz_mesh_inverse_work_size(&s->inverse[b]);

    if (size > work_size) work_size = size;
  }
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)work_size, &s->work));
  return ritz_box_tree_create(mesh->ceed, mesh->space_dim, s->num_elem, s->boxes, &s->tree);
}

// ---- Vertices ----

static bool has_vertex(const RitzMeshBlock *block, const int64_t *vertices, int64_t v) {
  for (int k = 0; k < block->num_corners; k++) {
    if (vertices[k] == v) return true;
  }
  return false;
}

static bool has_corner_at(const Search *s, const RitzMeshBlock *block, int64_t e, const double *x,
                          double extent) {
  for (int k = 0; k < block->num_corners; k++) {
    const double *corner = corner_of(s->mesh, block, e, k);
    double square = 0.0;

    for (CeedInt c = 0; c < s->mesh->space_dim; c++) square += (corner[c] - x[c]) * (corner[c] - x[c]);
    if (sqrt(square) <= 4.0 * tolerance * extent) return true;
  }
  return false;
}

typedef enum { APART, COINCIDES, HANGS } Meeting;

// How vertex v at x meets element e, which does not have it.
static Meeting find_meeting(const Search *s, int64_t e, const double *x) {
  const RitzMeshBlock *block = block_of(s->mesh, e);
  const RitzMeshElementMap map =
      ritz_mesh_element_open(&s->inverse[block - s->mesh->blocks], nodes_of(s->mesh, block, e), s->work);
  RitzMeshPreimage found;
  int64_t start = -1;

  if (has_corner_at(s, block, e, x, map.extent)) return COINCIDES;
  if (!ritz_mesh_inverse_is_affine(map.inverse)) ritz_mesh_element_nearest(&map, x, 1, &start);
  if (!ritz_mesh_element_invert(&map, x, tolerance, start, &found)) return APART;
  return found.depth >= -(tolerance + found.rounding) ? HANGS : APART;
}

static Meeting meet_all(const Search *s, int64_t v, const double *x) {
  RitzBoxWalk walk = ritz_box_tree_walk(&s->tree, x);
  Meeting worst = APART;

  for (int64_t i = ritz_box_walk_next(&walk); i >= 0 && worst != COINCIDES; i = ritz_box_walk_next(&walk)) {
    const RitzMeshBlock *block = block_of(s->mesh, s->elements[i]);

    if (has_vertex(block, vertices_of(s->mesh, block, s->elements[i]), v)) continue;
    const Meeting meeting = find_meeting(s, s->elements[i], x);

    if (meeting != APART) worst = meeting;
  }
  return worst;
}

static void count_cracks(const Search *s, RitzMeshCracks *cracks) {
  for (int64_t v = 0; v < s->mesh->num_vertices; v++) {
    if (s->places[v] < 0) continue;
    const int64_t e = s->places[v] / RITZ_MESH_MAX_CORNERS;
    const double *x =
        corner_of(s->mesh, block_of(s->mesh, e), e, (int)(s->places[v] % RITZ_MESH_MAX_CORNERS));
    const Meeting meeting = meet_all(s, v, x);
    int64_t *num = meeting == COINCIDES ? &cracks->num_coincident : &cracks->num_hanging;
    double *at = meeting == COINCIDES ? cracks->coincident_at : cracks->hanging_at;

    if (meeting == APART) continue;
    for (CeedInt c = 0; c < s->mesh->space_dim && *num == 0; c++) at[c] = x[c];
    ++*num;
  }
}

int RitzMeshFindCracks(RitzMesh mesh, RitzMeshCracks *cracks) {
  Search s = {.mesh = mesh};

  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, cracks);
  *cracks = (RitzMeshCracks){0};
  RITZ_REQUIRE(mesh->order <= RITZ_HULL_MAX_ORDER, mesh->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the geometry is of degree %" CeedInt_FMT ", supported are degrees up to %d", __func__,
               mesh->order, RITZ_HULL_MAX_ORDER);
  int ierr = find_boundary(&s);

  if (!ierr && s.num_elem > 0) {
    ierr = prepare_cracks(&s);
    if (!ierr) count_cracks(&s, cracks);
  }
  clear_search(&s);
  return ierr;
}
