// SPDX-License-Identifier: BSD-2-Clause
// Edges and faces: one number for each of them in a mesh. Called by the node numbering and by
// ritz_mesh_build; leaves orientation to the numbering.
#include "mesh/mesh.h"

static const RitzMeshEntities *entities_of(CeedElemTopology topology, RitzMeshEntityKind kind) {
  const RitzMeshShape *shape = ritz_mesh_shape(topology);

  return kind == RITZ_MESH_EDGES ? &shape->edges : &shape->facets;
}

// How many to expect of one block. In a regular mesh an edge of a hexahedron belongs to 4 elements, a facet
// to 2 of them, fewer at the boundary.
static int64_t expected_entities(const RitzMeshBlock *block, RitzMeshEntityKind kind) {
  int64_t num = block->num_elem * entities_of(block->topology, kind)->num;
  bool is_shared_by_four = kind == RITZ_MESH_EDGES && ritz_mesh_shape(block->topology)->dim == 3;

  return num / (is_shared_by_four ? 4 : 2) * 9 / 8;
}

// Numbers of block b: numbers->numbers[base[b] + elem * num + entity].
static int number_block(Ceed ceed, RitzMeshEntityKind kind, const RitzMeshBlock *blocks, int b,
                        const int64_t *elem_vertices, RitzMeshTable *table, RitzMeshNumbers *numbers) {
  const RitzMeshBlock *block = &blocks[b];
  const RitzMeshEntities *entities = entities_of(block->topology, kind);

  for (int64_t e = 0; e < block->num_elem; e++) {
    const int64_t *vertices = elem_vertices + block->corner_base + e * block->num_corners;

    for (int i = 0; i < entities->num; i++) {
      int64_t key[4];

      ritz_mesh_entity_key(entities, i, vertices, key);
      RITZ_TRY(ritz_mesh_table_insert(ceed, table, key,
                                      &numbers->numbers[numbers->base[b] + e * entities->num + i]));
    }
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_number_entities(Ceed ceed, RitzMeshEntityKind kind, int num_blocks, const RitzMeshBlock *blocks,
                              const int64_t *elem_vertices, RitzMeshTable *table, RitzMeshNumbers *numbers) {
  const int width = entities_of(blocks[0].topology, kind)->num_corners;
  int64_t num_entries = 0, expected = 0;

  for (int b = 0; b < num_blocks; b++) {
    numbers->base[b] = num_entries;
    num_entries += blocks[b].num_elem * entities_of(blocks[b].topology, kind)->num;
    expected += expected_entities(&blocks[b], kind);
  }
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_entries, &numbers->numbers));
  RITZ_TRY(ritz_mesh_table_create(ceed, width, expected, table));
  for (int b = 0; b < num_blocks; b++) {
    RITZ_TRY(number_block(ceed, kind, blocks, b, elem_vertices, table, numbers));
  }
  return CEED_ERROR_SUCCESS;
}

static int number_in_mesh(RitzMesh mesh, RitzMeshEntityKind kind, int64_t *num, RitzMeshNumbers *numbers) {
  RitzMeshTable table = {0};
  int ierr = ritz_mesh_number_entities(mesh->ceed, kind, mesh->num_blocks, mesh->blocks, mesh->elem_vertices,
                                       &table, numbers);

  *num = table.num_keys;
  ritz_mesh_table_clear(&table);
  return ierr;
}

int ritz_mesh_topology_create(RitzMesh mesh, RitzMeshTopology *topology) {
  int ierr = CEED_ERROR_SUCCESS;

  *topology = (RitzMeshTopology){0};
  if (mesh->dim >= 2) ierr = number_in_mesh(mesh, RITZ_MESH_EDGES, &topology->num_edges, &topology->edges);
  if (!ierr && mesh->dim == 3) {
    ierr = number_in_mesh(mesh, RITZ_MESH_FACETS, &topology->num_faces, &topology->faces);
  }
  if (ierr) ritz_mesh_topology_clear(topology);
  return ierr;
}

void ritz_mesh_topology_clear(RitzMeshTopology *topology) {
  RITZ_FREE(&topology->edges.numbers);
  RITZ_FREE(&topology->faces.numbers);
  *topology = (RitzMeshTopology){0};
}
