// SPDX-License-Identifier: BSD-2-Clause
// Lists of numbers (contract in mesh/mesh.h): the regions of elements, what parts of a mesh share.
#include <string.h>

#include "mesh/mesh.h"

int ritz_mesh_reserve(Ceed ceed, int64_t needed, size_t size, int64_t *capacity, void **array) {
  int64_t room = *capacity + *capacity / 2;

  if (needed <= *capacity) return CEED_ERROR_SUCCESS;
  if (room < needed) room = needed;
  RITZ_TRY(ritz_realloc(ceed, (size_t)room, size, array));
  *capacity = room;
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_lists_append(Ceed ceed, RitzMeshLists *lists, int64_t num_items, const int32_t *items) {
  const int64_t first = lists->num ? lists->starts[lists->num] : 0;

  RITZ_TRY(ritz_mesh_reserve(ceed, lists->num + 2, sizeof(*lists->starts), &lists->max_num,
                             (void **)&lists->starts));
  RITZ_TRY(ritz_mesh_reserve(ceed, first + num_items, sizeof(*lists->items), &lists->max_items,
                             (void **)&lists->items));
  if (num_items > 0) memcpy(lists->items + first, items, (size_t)num_items * sizeof(*items));
  lists->starts[lists->num] = first;
  lists->starts[++lists->num] = first + num_items;
  return CEED_ERROR_SUCCESS;
}

void ritz_mesh_lists_clear(RitzMeshLists *lists) {
  RITZ_FREE(&lists->starts);
  RITZ_FREE(&lists->items);
  *lists = (RitzMeshLists){0};
}

int ritz_mesh_lists_copy(Ceed ceed, const RitzMeshLists *lists, RitzMeshLists *copy) {
  for (int64_t i = 0; i < lists->num; i++)
    RITZ_TRY(ritz_mesh_lists_append(ceed, copy, lists->starts[i + 1] - lists->starts[i],
                                    lists->items + lists->starts[i]));
  return CEED_ERROR_SUCCESS;
}
