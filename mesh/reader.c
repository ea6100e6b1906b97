// SPDX-License-Identifier: BSD-2-Clause
// Small things that the readers of mesh files share: shapes, blocks of a draft (contract in mesh/reader.h).
#include "mesh/reader.h"

#include <string.h>

const RitzShapeInfo ritz_shapes[RITZ_NUM_SHAPES] = {
    [RITZ_SHAPE_POINT] = {"point", "points", 0, 1, 0},
    [RITZ_SHAPE_SEGMENT] = {"line", "lines", 1, 2, CEED_TOPOLOGY_LINE},
    [RITZ_SHAPE_TRIANGLE] = {"triangle", "triangles", 2, 3, CEED_TOPOLOGY_TRIANGLE},
    [RITZ_SHAPE_SQUARE] = {"quadrilateral", "quadrilaterals", 2, 4, CEED_TOPOLOGY_QUAD},
    [RITZ_SHAPE_TETRAHEDRON] = {"tetrahedron", "tetrahedra", 3, 4, CEED_TOPOLOGY_TET},
    [RITZ_SHAPE_CUBE] = {"hexahedron", "hexahedra", 3, 8, CEED_TOPOLOGY_HEX},
    [RITZ_SHAPE_PRISM] = {"prism", "prisms", 3, 6, CEED_TOPOLOGY_PRISM},
    [RITZ_SHAPE_PYRAMID] = {"pyramid", "pyramids", 3, 5, CEED_TOPOLOGY_PYRAMID},
};

int ritz_listed_corner(RitzShape shape, int corner) {
  static const int8_t around[8] = {0, 1, 3, 2, 4, 5, 7, 6};
  bool goes_around = shape == RITZ_SHAPE_SQUARE || shape == RITZ_SHAPE_CUBE || shape == RITZ_SHAPE_PYRAMID;

  return goes_around ? around[corner] : corner;
}

// ---- Blocks ----

int ritz_reader_lay_out(const RitzMeshText *text, const int64_t counts[RITZ_NUM_SHAPES],
                        RitzMeshDraft *draft) {
  static const RitzShape order[] = {RITZ_SHAPE_SEGMENT,     RITZ_SHAPE_TRIANGLE, RITZ_SHAPE_SQUARE,
                                    RITZ_SHAPE_TETRAHEDRON, RITZ_SHAPE_PYRAMID,  RITZ_SHAPE_PRISM,
                                    RITZ_SHAPE_CUBE};

  draft->num_blocks = 0;
  for (size_t s = 0; s < sizeof(order) / sizeof(order[0]); s++) {
    const RitzShapeInfo *info = &ritz_shapes[order[s]];

    if (info->dim != draft->dim || !counts[order[s]]) continue;
    draft->blocks[draft->num_blocks++] =
        (RitzMeshBlock){.topology = info->topology, .num_elem = counts[order[s]]};
  }
  return ritz_mesh_draft_lay_out(text->ceed, text->path, draft);
}

RitzShape ritz_reader_block_shape(const RitzMeshBlock *block) {
  int shape = RITZ_SHAPE_SEGMENT;

  while (ritz_shapes[shape].topology != block->topology) shape++;
  return (RitzShape)shape;
}

static bool has_facet(RitzShape shape, RitzShape facet) {
  switch (facet) {
  case RITZ_SHAPE_TRIANGLE: return shape != RITZ_SHAPE_CUBE;
  case RITZ_SHAPE_SQUARE: return shape != RITZ_SHAPE_TETRAHEDRON;
  default: return true;
  }
}

int ritz_reader_check_facet(const RitzMeshText *text, int64_t place, RitzShape facet,
                            const RitzMeshDraft *draft) {
  char list[80] = "";

  for (int b = 0; b < draft->num_blocks; b++) {
    RitzShape shape = ritz_reader_block_shape(&draft->blocks[b]);
    size_t length = strlen(list);

    if (has_facet(shape, facet)) return CEED_ERROR_SUCCESS;
    snprintf(list + length, sizeof(list) - length, "%s%s", length ? ", " : "", ritz_shapes[shape].plural);
  }
  return ritz_text_fail_at(text, place, CEED_ERROR_MAJOR, "a %s cannot be a facet of %s",
                           ritz_shapes[facet].name, list);
}

// ---- Vertices that become one ----

void ritz_reader_renumber(const int64_t *to, RitzMeshDraft *draft) {
  const int64_t num_label_vertices = draft->num_labels << (draft->dim - 1);

  for (int64_t i = 0; i < draft->num_places; i++) {
    int64_t *v = &draft->elem_vertices[i];

    if (to[*v] >= 0) *v = to[*v];
  }
  for (int64_t i = 0; i < num_label_vertices; i++) {
    int64_t *v = &draft->label_vertices[i];

    if (*v >= 0 && *v < draft->num_vertices && to[*v] >= 0) *v = to[*v];
  }
}
