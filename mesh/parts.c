// SPDX-License-Identifier: BSD-2-Clause
// Which nodes of a reference element lie on which of its vertices, edges, faces, and inside (contract in
// mesh/mesh.h). Called by the node numbering and where nodes of facets are looked for.
#include "mesh/mesh.h"

// Parts under construction: the next free place in parts->nodes, and what is taken already.
typedef struct {
  const RitzMeshShape *shape;
  int64_t degree;
  RitzMeshParts *parts;
  int64_t *next;
  bool *is_taken; // owned, [nodes of the element]
} Builder;

static void add_node(Builder *b, RitzMeshPart *part, const int64_t *shares) {
  int64_t at[3];

  ritz_mesh_lattice_point(b->shape, b->degree, part->corner, part->num_corners < 3 ? part->num_corners : 3,
                          shares, at);
  int64_t node = ritz_mesh_lattice_index(b->shape->topology, b->degree, at);

  b->is_taken[node] = true;
  *b->next++ = node;
  part->num_nodes++;
}

// Inner nodes (i, j) of an entity, as shares of its corners 1 and 2.
static void add_nodes(Builder *b, RitzMeshPart *part) {
  const int64_t p = b->degree;
  int64_t shares[3] = {0, 0, 0};

  if (part->dim == 0) add_node(b, part, shares);
  for (shares[2] = part->dim == 2; part->dim > 0 && shares[2] < (part->dim == 2 ? p : 1); shares[2]++) {
    int64_t end = part->num_corners == 3 ? p - shares[2] : p;

    for (shares[1] = 1; shares[1] < end; shares[1]++) add_node(b, part, shares);
  }
}

static void add_part(Builder *b, int dim, int entity, int num_corners, const int8_t *corners) {
  RitzMeshPart *part = &b->parts->parts[b->parts->num];

  *part = (RitzMeshPart){.dim = dim, .entity = entity, .num_corners = num_corners, .nodes = b->next};
  for (int k = 0; k < num_corners; k++) part->corner[k] = corners[k];
  add_nodes(b, part);
  if (part->num_nodes > 0) b->parts->num++;
}

static void add_entities(Builder *b, int dim, const RitzMeshEntities *entities) {
  for (int i = 0; i < entities->num; i++) {
    add_part(b, dim, i, ritz_mesh_entity_size(entities, i), entities->corner[i]);
  }
}

// All nodes that are left, ascending.
static void add_interior(Builder *b) {
  RitzMeshPart *part = &b->parts->parts[b->parts->num];

  *part = (RitzMeshPart){.dim = b->shape->dim, .num_corners = b->shape->num_corners, .nodes = b->next};
  for (int k = 0; k < part->num_corners; k++) part->corner[k] = (int8_t)k;
  for (int64_t i = 0; i < b->parts->num_nodes; i++) {
    if (b->is_taken[i]) continue;
    *b->next++ = i;
    part->num_nodes++;
  }
  if (part->num_nodes > 0) b->parts->num++;
}

static void sort_parts(RitzMeshParts *parts) {
  for (int i = 1; i < parts->num; i++) {
    RitzMeshPart part = parts->parts[i];
    int j = i;

    for (; j > 0 && parts->parts[j - 1].nodes[0] > part.nodes[0]; j--) parts->parts[j] = parts->parts[j - 1];
    parts->parts[j] = part;
  }
}

int ritz_mesh_parts_create(Ceed ceed, CeedElemTopology topology, CeedInt degree, RitzMeshParts *parts) {
  Builder b = {.shape = ritz_mesh_shape(topology), .degree = degree, .parts = parts};
  int ierr = CEED_ERROR_SUCCESS;

  *parts = (RitzMeshParts){.num_nodes = ritz_mesh_num_nodes(topology, degree)};
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)parts->num_nodes, &parts->nodes));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)parts->num_nodes, &b.is_taken));
  b.next = parts->nodes;
  for (int8_t k = 0; k < b.shape->num_corners; k++) add_part(&b, 0, k, 1, &k);
  if (b.shape->dim >= 2) add_entities(&b, 1, &b.shape->edges);
  if (b.shape->dim == 3) add_entities(&b, 2, &b.shape->facets);
  add_interior(&b);
  sort_parts(parts);

cleanup:
  RITZ_FREE(&b.is_taken);
  if (ierr) ritz_mesh_parts_clear(parts);
  return ierr;
}

void ritz_mesh_parts_clear(RitzMeshParts *parts) {
  RITZ_FREE(&parts->nodes);
  *parts = (RitzMeshParts){0};
}

bool ritz_mesh_part_lies_on(const RitzMeshPart *part, const int8_t facet[4]) {
  for (int k = 0; k < part->num_corners; k++) {
    const int8_t corner = part->corner[k];

    if (facet[0] != corner && facet[1] != corner && facet[2] != corner && facet[3] != corner) return false;
  }
  return true;
}
