// SPDX-License-Identifier: BSD-2-Clause
// Small things that the readers of mesh files share (contract in mesh/reader.h).
#include "mesh/reader.h"

#include <string.h>

const RitzShapeInfo ritz_shapes[RITZ_NUM_SHAPES] = {
    [RITZ_SHAPE_POINT] = {"point", "points", 0, 1},
    [RITZ_SHAPE_SEGMENT] = {"line", "lines", 1, 2},
    [RITZ_SHAPE_TRIANGLE] = {"triangle", "triangles", 2, 3},
    [RITZ_SHAPE_SQUARE] = {"quadrilateral", "quadrilaterals", 2, 4},
    [RITZ_SHAPE_TETRAHEDRON] = {"tetrahedron", "tetrahedra", 3, 4},
    [RITZ_SHAPE_CUBE] = {"hexahedron", "hexahedra", 3, 8},
    [RITZ_SHAPE_PRISM] = {"prism", "prisms", 3, 6},
    [RITZ_SHAPE_PYRAMID] = {"pyramid", "pyramids", 3, 5},
};

const int ritz_listed_corner[8] = {0, 1, 3, 2, 4, 5, 7, 6};

CeedElemTopology ritz_reader_topology(RitzShape shape) {
  switch (shape) {
  case RITZ_SHAPE_SEGMENT: return CEED_TOPOLOGY_LINE;
  case RITZ_SHAPE_SQUARE: return CEED_TOPOLOGY_QUAD;
  default: return CEED_TOPOLOGY_HEX;
  }
}

// "8 tetrahedra, 1 hexahedron"
static void list_shapes(const int64_t counts[RITZ_NUM_SHAPES], size_t room, char *list) {
  list[0] = '\0';
  for (int s = 0; s < RITZ_NUM_SHAPES; s++) {
    size_t length = strlen(list);

    if (!counts[s]) continue;
    snprintf(list + length, room - length, "%s%lld %s", length ? ", " : "", (long long)counts[s],
             counts[s] == 1 ? ritz_shapes[s].name : ritz_shapes[s].plural);
  }
}

int ritz_reader_check_shapes(const RitzMeshText *text, int64_t place, const int64_t counts[RITZ_NUM_SHAPES],
                             RitzShape *shape) {
  static const RitzShape tensor[] = {RITZ_SHAPE_SEGMENT, RITZ_SHAPE_SQUARE, RITZ_SHAPE_CUBE};
  int64_t num = 0;
  char list[320];

  for (int s = 0; s < RITZ_NUM_SHAPES; s++) num += counts[s];
  for (int i = 0; i < 3; i++) {
    *shape = tensor[i];
    if (num > 0 && counts[tensor[i]] == num) return CEED_ERROR_SUCCESS;
  }
  list_shapes(counts, sizeof(list), list);
  return ritz_text_fail_at(text, place, CEED_ERROR_UNSUPPORTED,
                           "the elements are %s; Ritz reads meshes of lines only, quadrilaterals only or "
                           "hexahedra only",
                           list);
}

int ritz_reader_reserve(Ceed ceed, int64_t needed, size_t size, int64_t *capacity, void **array) {
  int64_t room = *capacity + *capacity / 2;

  if (needed <= *capacity) return CEED_ERROR_SUCCESS;
  if (room < needed) room = needed;
  RITZ_TRY(ritz_realloc(ceed, (size_t)room, size, array));
  *capacity = room;
  return CEED_ERROR_SUCCESS;
}
