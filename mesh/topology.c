// SPDX-License-Identifier: BSD-2-Clause
// Edges and faces: which corners they have in the reference element, and one number for each of them in a
// mesh. Called by the node numbering and by ritz_mesh_build; leaves orientation to the numbering.
#include "mesh/mesh.h"

// The corner at the upper end of those directions whose bit in `pattern` is set.
static int spread_bits(int num, const int *directions, int pattern) {
  int corner = 0;

  for (int i = 0; i < num; i++) corner |= ((pattern >> i) & 1) << directions[i];
  return corner;
}

// The directions 0 .. dim-1 but d, ascending. Returns their number.
static int other_directions(int dim, int d, int *others) {
  int num = 0;

  for (int i = 0; i < dim; i++) {
    if (i != d) others[num++] = i;
  }
  return num;
}

RitzMeshEntities ritz_mesh_local_edges(int dim) {
  int others[3], num_parallel = 1 << (dim - 1);
  RitzMeshEntities edges = {.num = dim * num_parallel, .num_corners = 2};

  for (int d = 0; d < dim; d++) {
    int num_others = other_directions(dim, d, others);

    for (int k = 0; k < num_parallel; k++) {
      int corner = spread_bits(num_others, others, k);

      edges.corner[d * num_parallel + k][0] = (int8_t)corner;
      edges.corner[d * num_parallel + k][1] = (int8_t)(corner | 1 << d);
    }
  }
  return edges;
}

RitzMeshEntities ritz_mesh_local_facets(int dim) {
  int others[3];
  RitzMeshEntities facets = {.num = 2 * dim, .num_corners = 1 << (dim - 1)};

  for (int f = 0; f < 2 * dim; f++) {
    int num_others = other_directions(dim, f / 2, others);

    for (int k = 0; k < facets.num_corners; k++) {
      facets.corner[f][k] = (int8_t)(spread_bits(num_others, others, k) | (f % 2) << (f / 2));
    }
  }
  return facets;
}

int ritz_mesh_number_entities(Ceed ceed, const RitzMeshEntities *entities, int num_elem_corners,
                              int64_t num_elem, const int64_t *elem_vertices, RitzMeshTable *table,
                              int64_t *numbers) {
  // In a regular mesh an entity of codimension c belongs to 2^c elements, fewer at the boundary.
  int64_t expected = num_elem * entities->num * entities->num_corners / num_elem_corners;

  RITZ_TRY(ritz_mesh_table_create(ceed, entities->num_corners, expected + expected / 8, table));
  for (int64_t e = 0; e < num_elem; e++) {
    const int64_t *vertices = elem_vertices + e * num_elem_corners;

    for (int i = 0; i < entities->num; i++) {
      int64_t key[4];

      for (int k = 0; k < entities->num_corners; k++) key[k] = vertices[entities->corner[i][k]];
      ritz_mesh_sort_vertices(entities->num_corners, key);
      RITZ_TRY(ritz_mesh_table_insert(ceed, table, key, numbers + e * entities->num + i));
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int number_in_mesh(RitzMesh mesh, RitzMeshEntities entities, int64_t *num, int64_t **numbers) {
  RitzMeshTable table = {0};
  int ierr = RITZ_MALLOC(mesh->ceed, (size_t)mesh->num_elem * (size_t)entities.num, numbers);

  if (!ierr) {
    ierr = ritz_mesh_number_entities(mesh->ceed, &entities, 1 << mesh->dim, mesh->num_elem,
                                     mesh->elem_vertices, &table, *numbers);
  }
  *num = table.num_keys;
  ritz_mesh_table_clear(&table);
  return ierr;
}

int ritz_mesh_topology_create(RitzMesh mesh, RitzMeshTopology *topology) {
  int ierr = CEED_ERROR_SUCCESS;

  *topology = (RitzMeshTopology){0};
  if (mesh->dim >= 2) {
    ierr =
        number_in_mesh(mesh, ritz_mesh_local_edges(mesh->dim), &topology->num_edges, &topology->elem_edges);
  }
  if (!ierr && mesh->dim == 3) {
    ierr = number_in_mesh(mesh, ritz_mesh_local_facets(3), &topology->num_faces, &topology->elem_faces);
  }
  if (ierr) ritz_mesh_topology_clear(topology);
  return ierr;
}

void ritz_mesh_topology_clear(RitzMeshTopology *topology) {
  RITZ_FREE(&topology->elem_edges);
  RITZ_FREE(&topology->elem_faces);
  *topology = (RitzMeshTopology){0};
}
