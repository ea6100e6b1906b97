// SPDX-License-Identifier: BSD-2-Clause
// Pieces of a mesh: elements that hang together by common vertices, as the unknowns of a continuous space do.
// Found by joining the vertices of each element in trees (union and find, with halving of the paths).
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/problem.h"

static int64_t find_root(int64_t *parent, int64_t v) {
  while (parent[v] != v) {
    parent[v] = parent[parent[v]];
    v = parent[v];
  }
  return v;
}

static int get_block(RitzMesh mesh, CeedInt block, int64_t *num_elem, CeedInt *num_corners,
                     const int64_t **vertices) {
  static const CeedInt corners[] = {
      [CEED_TOPOLOGY_LINE] = 2, [CEED_TOPOLOGY_TRIANGLE] = 3, [CEED_TOPOLOGY_QUAD] = 4,
      [CEED_TOPOLOGY_TET] = 4,  [CEED_TOPOLOGY_PYRAMID] = 5,  [CEED_TOPOLOGY_PRISM] = 6,
      [CEED_TOPOLOGY_HEX] = 8};
  CeedElemTopology topology = CEED_TOPOLOGY_LINE;

  CLI_TRY(RitzMeshGetBlock(mesh, block, &topology, NULL, num_elem, vertices, NULL));
  *num_corners = corners[topology];
  return CEED_ERROR_SUCCESS;
}

// The smaller root stays, so that trees are rooted in the smallest vertex of their piece.
static int join_block(RitzMesh mesh, CeedInt block, int64_t *parent) {
  int64_t num_elem = 0;
  CeedInt num_corners = 0;
  const int64_t *vertices = NULL;

  CLI_TRY(get_block(mesh, block, &num_elem, &num_corners, &vertices));
  for (int64_t e = 0; e < num_elem; e++, vertices += num_corners) {
    int64_t root = find_root(parent, vertices[0]);

    for (CeedInt i = 1; i < num_corners; i++) {
      const int64_t other = find_root(parent, vertices[i]);
      const int64_t smaller = other < root ? other : root;
      parent[root] = parent[other] = smaller;
      root = smaller;
    }
  }
  return CEED_ERROR_SUCCESS;
}

// Numbers pieces as their first elements are met; number [num_vertices]: 1 + that of the piece of a root.
static int number_block(RitzMesh mesh, CeedInt block, int64_t *parent, int64_t *number, int64_t *num_pieces,
                        int64_t **piece_of_elem) {
  int64_t num_elem = 0;
  CeedInt num_corners = 0;
  const int64_t *vertices = NULL;

  CLI_TRY(get_block(mesh, block, &num_elem, &num_corners, &vertices));
  for (int64_t e = 0; e < num_elem; e++, vertices += num_corners) {
    int64_t *piece = &number[find_root(parent, vertices[0])];

    if (!*piece) *piece = ++*num_pieces;
    *(*piece_of_elem)++ = *piece - 1;
  }
  return CEED_ERROR_SUCCESS;
}

int problem_find_pieces(Ceed ceed, RitzMesh mesh, int64_t *num_pieces, int64_t **piece_of_elem) {
  int64_t num_vertices = 0, num_elem = 0, *parent = NULL, *number = NULL, *next;
  CeedInt num_blocks = 0;
  int ierr;

  *num_pieces = 0;
  *piece_of_elem = NULL;
  CLI_TRY(RitzMeshGetNumVertices(mesh, &num_vertices));
  CLI_TRY(RitzMeshGetNumElements(mesh, &num_elem));
  CLI_TRY(RitzMeshGetNumBlocks(mesh, &num_blocks));
  CLI_TRY_CLEANUP(cli_allocate(ceed, (size_t)num_vertices, sizeof(*parent), &parent));
  CLI_TRY_CLEANUP(cli_allocate(ceed, (size_t)num_vertices, sizeof(*number), &number));
  CLI_TRY_CLEANUP(cli_allocate(ceed, (size_t)num_elem, sizeof(**piece_of_elem), piece_of_elem));
  for (int64_t v = 0; v < num_vertices; v++) parent[v] = v;
  for (CeedInt b = 0; b < num_blocks; b++) CLI_TRY_CLEANUP(join_block(mesh, b, parent));
  next = *piece_of_elem;
  for (CeedInt b = 0; b < num_blocks; b++)
    CLI_TRY_CLEANUP(number_block(mesh, b, parent, number, num_pieces, &next));
cleanup:
  free(parent);
  free(number);
  if (ierr) {
    free(*piece_of_elem);
    *piece_of_elem = NULL;
  }
  return ierr;
}
