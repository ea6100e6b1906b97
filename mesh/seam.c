// SPDX-License-Identifier: BSD-2-Clause
// What a part of a mesh shares with other parts: vertices, edges and faces, who else has them, and keys by
// which all parts tell vertices apart (contract in mesh/mesh.h). Made by mesh/submesh.c; refined here.
#include <string.h>

#include "mesh/mesh.h"
#include "mesh/reader.h"

static const int widths[3] = {1, 2, 4}; // of the keys of vertices, edges, faces

// ---- Life ----

int ritz_mesh_seam_table(Ceed ceed, int dim, RitzMeshTable *table) {
  return ritz_mesh_table_create(ceed, widths[dim], 0, table);
}

int ritz_mesh_seam_create(Ceed ceed, CeedInt dim, int64_t num_vertices, RitzMeshSeam **seam) {
  RITZ_TRY(RITZ_CALLOC(ceed, 1, seam));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_vertices, &(*seam)->keys));
  for (int d = 0; d < dim; d++) RITZ_TRY(ritz_mesh_seam_table(ceed, d, &(*seam)->shared[d].table));
  return CEED_ERROR_SUCCESS;
}

void ritz_mesh_seam_clear(RitzMeshSeam **seam) {
  if (!*seam) return;
  for (int d = 0; d < 3; d++) {
    ritz_mesh_table_clear(&(*seam)->shared[d].table);
    ritz_mesh_lists_clear(&(*seam)->shared[d].parts);
    ritz_mesh_lists_clear(&(*seam)->shared[d].marks);
  }
  RITZ_FREE(&(*seam)->keys);
  RITZ_FREE(&(*seam)->layers);
  RITZ_FREE(seam);
}

// ---- Entities ----

int ritz_mesh_seam_key(int dim, int num, const int8_t *corners, const int64_t *vertices, int64_t key[4]) {
  const int width = widths[dim];

  for (int k = 0; k < width; k++) key[k] = k < num ? vertices[corners[k]] : -1;
  ritz_mesh_sort_vertices(width, key);
  return width;
}

int64_t ritz_mesh_seam_find(const RitzMeshSeam *seam, int dim, int num, const int8_t *corners,
                            const int64_t *vertices) {
  int64_t key[4];

  ritz_mesh_seam_key(dim, num, corners, vertices, key);
  return ritz_mesh_table_find(&seam->shared[dim].table, key);
}

bool ritz_mesh_seam_touches(const RitzMeshSeam *seam, int num_corners, const int64_t *vertices) {
  for (int k = 0; k < num_corners; k++) {
    if (ritz_mesh_table_find(&seam->shared[0].table, &vertices[k]) >= 0) return true;
  }
  return false;
}

int64_t ritz_mesh_mix_keys(int num, const int64_t *keys) {
  int64_t sorted[RITZ_MESH_MAX_CORNERS];
  uint64_t hash = (uint64_t)num;

  memcpy(sorted, keys, (size_t)num * sizeof(*keys));
  ritz_mesh_sort_vertices(num, sorted);
  for (int k = 0; k < num; k++) hash = ritz_mesh_mix(hash ^ (uint64_t)sorted[k]);
  return (int64_t)hash;
}

// ---- Pieces ----

// A vertex, edge or face of a parent and the points of the lattice of degree 2 on it, as bits.
typedef struct {
  int dim, num_corners;
  int8_t corner[4];
  uint32_t points;
} Entity;

// Entities of one shape, by ascending dimension, and the nodes of its lattice.
typedef struct {
  RitzMeshElementNodes element; // owned, of degree 2
  int num;
  Entity entities[26];
} Parent;

typedef struct {
  const RitzMeshCut *cut;  // borrowed
  RitzMesh fine;           // borrowed
  Parent parent;           // of the present block
  const int64_t *vertices; // borrowed: of the present element
  int block;
  int64_t elem;
} Pieces;

static void add_entity(Parent *p, int dim, int num_corners, const int8_t *corners) {
  const int8_t ends[4] = {corners[0], num_corners > 1 ? corners[1] : -1, num_corners > 2 ? corners[2] : -1,
                          num_corners > 3 ? corners[3] : -1};
  Entity *entity = &p->entities[p->num++];

  *entity = (Entity){.dim = dim, .num_corners = num_corners};
  memcpy(entity->corner, ends, sizeof(ends));
  for (int i = 0; i < p->element.num; i++) {
    if (!ritz_mesh_entity_lies_on(&p->element.entities[i], ends)) continue;
    for (int64_t k = 0; k < p->element.entities[i].num_nodes; k++)
      entity->points |= UINT32_C(1) << p->element.entities[i].nodes[k];
  }
}

static void add_entities(Parent *p, int dim, const RitzMeshEntities *entities) {
  for (int i = 0; i < entities->num; i++)
    add_entity(p, dim, ritz_mesh_entity_size(entities, i), entities->corner[i]);
}

static int create_parent(Ceed ceed, CeedElemTopology topology, Parent *p) {
  const RitzMeshShape *shape = ritz_mesh_shape(topology);

  p->num = 0;
  RITZ_TRY(ritz_mesh_element_nodes_create(ceed, topology, 2, &p->element));
  for (int8_t k = 0; k < shape->num_corners; k++) add_entity(p, 0, 1, &k);
  if (shape->dim >= 2) add_entities(p, 1, &shape->edges);
  if (shape->dim == 3) add_entities(p, 2, &shape->facets);
  return CEED_ERROR_SUCCESS;
}

// A vertex of the lattice has the key of its parent's vertex, or one of those around it.
static void set_keys(const Pieces *p) {
  const RitzMeshSeam *coarse = p->cut->mesh->seam;

  for (int i = 0; i < p->parent.element.num; i++) {
    const RitzMeshEntityNodes *entity = &p->parent.element.entities[i];
    int64_t keys[RITZ_MESH_MAX_CORNERS];

    for (int k = 0; k < entity->num_corners; k++) keys[k] = coarse->keys[p->vertices[entity->corner[k]]];
    const int64_t key = entity->num_corners == 1 ? keys[0] : ritz_mesh_mix_keys(entity->num_corners, keys);

    for (int64_t k = 0; k < entity->num_nodes; k++)
      p->fine->seam->keys[p->cut->vertex(p->cut->ctx, p->block, p->elem, (int)entity->nodes[k])] = key;
  }
}

// The parent's entity of smallest dimension that a piece's entity with these points lies on; NULL: inside the
// parent.
static const Entity *find_entity(const Parent *parent, uint32_t points) {
  for (int i = 0; i < parent->num; i++) {
    if ((points & ~parent->entities[i].points) == 0) return &parent->entities[i];
  }
  return NULL;
}

// Appends list k of `from` to `lists`. An array without entries is NULL.
static int append_list(Ceed ceed, RitzMeshLists *lists, const RitzMeshLists *from, int64_t k) {
  const int64_t first = from->starts[k], num = from->starts[k + 1] - first;

  return ritz_mesh_lists_append(ceed, lists, num, num > 0 ? from->items + first : NULL);
}

// The piece's entity with these corners is shared where the one it lies on is.
static int inherit_entity(const Pieces *p, const RitzMeshChild *child, int dim, int num,
                          const int8_t *corners) {
  const RitzMeshSeam *coarse = p->cut->mesh->seam;
  RitzMeshShared *shared = &p->fine->seam->shared[dim];
  const Ceed ceed = p->fine->ceed;
  int64_t vertices[RITZ_MESH_MAX_CORNERS], key[4], number = 0;
  uint32_t points = 0;

  for (int k = 0; k < num; k++) points |= UINT32_C(1) << child->node[corners[k]];
  const Entity *on = find_entity(&p->parent, points);

  if (!on) return CEED_ERROR_SUCCESS;
  const RitzMeshShared *from = &coarse->shared[on->dim];
  const int64_t found = ritz_mesh_seam_find(coarse, on->dim, on->num_corners, on->corner, p->vertices);

  if (found < 0) return CEED_ERROR_SUCCESS;
  for (int k = 0; k < num; k++)
    vertices[corners[k]] = p->cut->vertex(p->cut->ctx, p->block, p->elem, child->node[corners[k]]);
  ritz_mesh_seam_key(dim, num, corners, vertices, key);
  RITZ_TRY(ritz_mesh_table_insert(ceed, &shared->table, key, &number));
  if (number < shared->parts.num) return CEED_ERROR_SUCCESS;
  RITZ_TRY(append_list(ceed, &shared->parts, &from->parts, found));
  return append_list(ceed, &shared->marks, &from->marks, found);
}

static int inherit_entities(const Pieces *p, const RitzMeshChild *child, int dim,
                            const RitzMeshEntities *entities) {
  for (int i = 0; i < entities->num; i++)
    RITZ_TRY(inherit_entity(p, child, dim, ritz_mesh_entity_size(entities, i), entities->corner[i]));
  return CEED_ERROR_SUCCESS;
}

static int divide_element(const Pieces *p) {
  RitzMeshDivision division;

  p->cut->choose(p->cut->ctx, p->block, p->elem, &division);
  for (int i = 0; i < division.num; i++) {
    const RitzMeshChild *child = &division.child[i];
    const RitzMeshShape *shape = ritz_mesh_shape(child->topology);

    for (int8_t k = 0; k < shape->num_corners; k++) RITZ_TRY(inherit_entity(p, child, 0, 1, &k));
    if (shape->dim >= 2) RITZ_TRY(inherit_entities(p, child, 1, &shape->edges));
    if (shape->dim == 3) RITZ_TRY(inherit_entities(p, child, 2, &shape->facets));
  }
  return CEED_ERROR_SUCCESS;
}

static int divide_block(Pieces *p) {
  const RitzMesh mesh = p->cut->mesh;
  const RitzMeshBlock *block = &mesh->blocks[p->block];

  for (int64_t e = 0; e < block->num_elem; e++) {
    p->elem = block->first + e;
    p->vertices = mesh->elem_vertices + block->corner_base + e * block->num_corners;
    set_keys(p);
    if (ritz_mesh_seam_touches(mesh->seam, block->num_corners, p->vertices)) RITZ_TRY(divide_element(p));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_seam_divide(const RitzMeshCut *cut, RitzMesh fine) {
  const RitzMesh mesh = cut->mesh;
  Pieces p = {.cut = cut, .fine = fine};

  RITZ_TRY(ritz_mesh_seam_create(mesh->ceed, mesh->dim, fine->num_vertices, &fine->seam));
  fine->seam->num_parts = mesh->seam->num_parts;
  fine->seam->part = mesh->seam->part;
  for (p.block = 0; p.block < mesh->num_blocks; p.block++) {
    RITZ_TRY(create_parent(mesh->ceed, mesh->blocks[p.block].topology, &p.parent));
    const int ierr = divide_block(&p);

    ritz_mesh_element_nodes_clear(&p.parent.element);
    RITZ_TRY(ierr);
  }
  return CEED_ERROR_SUCCESS;
}
