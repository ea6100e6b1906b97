// SPDX-License-Identifier: BSD-2-Clause
// Which nodes of a reference element lie on which of its vertices, edges, faces, and inside (contract in
// mesh/mesh.h). Called by the node numbering and where nodes of facets are looked for.
#include "mesh/mesh.h"

// Lists under construction: the next free place in element->nodes, nodes that are in a list already.
typedef struct {
  const RitzMeshShape *shape;
  int64_t degree;
  RitzMeshElementNodes *element;
  int64_t *next;
  bool *is_taken; // owned, [nodes of the element]
} Builder;

static void add_node(Builder *b, RitzMeshEntityNodes *entity, const int64_t *shares) {
  int64_t at[3];

  ritz_mesh_lattice_point(b->shape, b->degree, entity->corner,
                          entity->num_corners < 3 ? entity->num_corners : 3, shares, at);
  int64_t node = ritz_mesh_lattice_index(b->shape->topology, b->degree, at);

  b->is_taken[node] = true;
  *b->next++ = node;
  entity->num_nodes++;
}

// Inner nodes (i, j) of an entity, as shares of its corners 1 and 2.
static void add_nodes(Builder *b, RitzMeshEntityNodes *entity) {
  const int64_t p = b->degree;
  int64_t shares[3] = {0, 0, 0};

  if (entity->dim == 0) add_node(b, entity, shares);
  for (shares[2] = entity->dim == 2; entity->dim > 0 && shares[2] < (entity->dim == 2 ? p : 1); shares[2]++) {
    int64_t end = entity->num_corners == 3 ? p - shares[2] : p;

    for (shares[1] = 1; shares[1] < end; shares[1]++) add_node(b, entity, shares);
  }
}

static void add_entity(Builder *b, int dim, int number, int num_corners, const int8_t *corners) {
  RitzMeshEntityNodes *entity = &b->element->entities[b->element->num];

  *entity = (RitzMeshEntityNodes){.dim = dim, .number = number, .num_corners = num_corners, .nodes = b->next};
  for (int k = 0; k < num_corners; k++) entity->corner[k] = corners[k];
  add_nodes(b, entity);
  if (entity->num_nodes > 0) b->element->num++;
}

static void add_entities(Builder *b, int dim, const RitzMeshEntities *entities) {
  for (int i = 0; i < entities->num; i++) {
    add_entity(b, dim, i, ritz_mesh_entity_size(entities, i), entities->corner[i]);
  }
}

// All nodes that are left, ascending.
static void add_interior(Builder *b) {
  RitzMeshEntityNodes *entity = &b->element->entities[b->element->num];

  *entity =
      (RitzMeshEntityNodes){.dim = b->shape->dim, .num_corners = b->shape->num_corners, .nodes = b->next};
  for (int k = 0; k < entity->num_corners; k++) entity->corner[k] = (int8_t)k;
  for (int64_t i = 0; i < b->element->num_nodes; i++) {
    if (b->is_taken[i]) continue;
    *b->next++ = i;
    entity->num_nodes++;
  }
  if (entity->num_nodes > 0) b->element->num++;
}

static void sort_entities(RitzMeshElementNodes *element) {
  for (int i = 1; i < element->num; i++) {
    RitzMeshEntityNodes entity = element->entities[i];
    int j = i;

    for (; j > 0 && element->entities[j - 1].nodes[0] > entity.nodes[0]; j--)
      element->entities[j] = element->entities[j - 1];
    element->entities[j] = entity;
  }
}

int ritz_mesh_element_nodes_create(Ceed ceed, CeedElemTopology topology, CeedInt degree,
                                   RitzMeshElementNodes *element) {
  Builder b = {.shape = ritz_mesh_shape(topology), .degree = degree, .element = element};
  int ierr = CEED_ERROR_SUCCESS;

  *element = (RitzMeshElementNodes){.num_nodes = ritz_mesh_num_nodes(topology, degree)};
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)element->num_nodes, &element->nodes));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)element->num_nodes, &b.is_taken));
  b.next = element->nodes;
  for (int8_t k = 0; k < b.shape->num_corners; k++) add_entity(&b, 0, k, 1, &k);
  if (b.shape->dim >= 2) add_entities(&b, 1, &b.shape->edges);
  if (b.shape->dim == 3) add_entities(&b, 2, &b.shape->facets);
  add_interior(&b);
  sort_entities(element);

cleanup:
  RITZ_FREE(&b.is_taken);
  if (ierr) ritz_mesh_element_nodes_clear(element);
  return ierr;
}

void ritz_mesh_element_nodes_clear(RitzMeshElementNodes *element) {
  RITZ_FREE(&element->nodes);
  *element = (RitzMeshElementNodes){0};
}

bool ritz_mesh_entity_lies_on(const RitzMeshEntityNodes *entity, const int8_t facet[4]) {
  for (int k = 0; k < entity->num_corners; k++) {
    const int8_t corner = entity->corner[k];

    if (facet[0] != corner && facet[1] != corner && facet[2] != corner && facet[3] != corner) return false;
  }
  return true;
}
