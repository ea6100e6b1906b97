// SPDX-License-Identifier: BSD-2-Clause
// Pieces of a mesh: elements that hang together by common vertices, as the unknowns of a continuous space do.
// Found by joining the vertices of each element in trees (union and find, with halving of the paths). Pieces
// of parts are one where nodes are: the smallest number that reaches a piece over ghosts is its label.
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

// ---- Pieces in parts ----

// How many pieces there are in all parts.
typedef struct {
  double *num;        // owned, [num_parts]: of each
  int64_t first, all; // numbers of this part's begin at; the sum
  bool has_several;   // a part
} Counts;

static int count_pieces(const Problem *p, int64_t num, Counts *counts) {
  const RitzTransport *t = p->options.transport;

  CLI_TRY(cli_allocate(p->ceed, (size_t)t->num_parts, sizeof(*counts->num), &counts->num));
  counts->num[t->part] = (double)num;
  CLI_TRY(t->reduce(t, RITZ_REDUCTION_SUM, t->num_parts, counts->num));
  for (CeedInt i = 0; i < t->num_parts; i++) {
    if (i < t->part) counts->first += (int64_t)counts->num[i];
    counts->all += (int64_t)counts->num[i];
    counts->has_several |= counts->num[i] > 1;
  }
  return CEED_ERROR_SUCCESS;
}

// Pairs of pieces that have a node in common: this part's, and that of the node's owner.
typedef struct {
  int64_t num;
  int64_t (*pair)[2]; // owned
} Links;

// Where every part is one piece: itself and its neighbours.
static int link_parts(const Problem *p, RitzHalo halo, const Counts *counts, Links *links) {
  CeedInt num = 0;

  CLI_TRY(RitzHaloGetNumNeighbours(halo, &num));
  CLI_TRY(cli_allocate(p->ceed, (size_t)num + 1, sizeof(*links->pair), &links->pair));
  for (CeedInt i = 0; i < num; i++) {
    CeedInt part = 0;
    int64_t num_ghosts = 0;

    CLI_TRY(RitzHaloGetNeighbour(halo, i, &part, NULL, NULL, &num_ghosts, NULL));
    if (num_ghosts == 0) continue;
    links->pair[links->num][0] = counts->first;
    links->pair[links->num++][1] = 0;
    for (CeedInt j = 0; j < part; j++) links->pair[links->num - 1][1] += (int64_t)counts->num[j];
  }
  return CEED_ERROR_SUCCESS;
}

// v: numbers of the pieces at nodes, those of their owners at ghosts.
static int share_pieces(RitzExchange exchange, CeedInt num_comp, int64_t num_nodes,
                        const int64_t *piece_of_node, int64_t first, CeedVector v) {
  CeedScalar *array = NULL;

  CLI_TRY(CeedVectorGetArrayWrite(v, CEED_MEM_HOST, &array));
  for (int64_t i = 0; i < num_nodes * num_comp; i++)
    array[i] = (CeedScalar)(first + piece_of_node[i / num_comp]);
  CLI_TRY(CeedVectorRestoreArray(v, &array));
  return RitzExchangeRun(exchange, RITZ_EXCHANGE_TO_GHOSTS, v);
}

static int link_ghosts(const Problem *p, RitzSpace space, RitzHalo halo, const int64_t *piece_of_node,
                       const Counts *counts, Links *links) {
  int64_t num_owned = 0, num_ghosts = 0;
  RitzExchange exchange = NULL;
  CeedInt num_comp = 0;
  const CeedScalar *owners = NULL;
  CeedVector v = NULL;
  int ierr;

  CLI_TRY(RitzHaloGetSizes(halo, &num_owned, &num_ghosts));
  CLI_TRY(RitzSpaceGetNumComponents(space, &num_comp));
  CLI_TRY(cli_allocate(p->ceed, (size_t)num_ghosts + 1, sizeof(*links->pair), &links->pair));
  CLI_TRY_CLEANUP(RitzExchangeCreate(space, p->ceed, p->options.transport, &exchange));
  CLI_TRY_CLEANUP(CeedVectorCreate(p->ceed, (num_owned + num_ghosts) * num_comp, &v));
  CLI_TRY_CLEANUP(share_pieces(exchange, num_comp, num_owned + num_ghosts, piece_of_node, counts->first, v));
  CLI_TRY_CLEANUP(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &owners));
  for (int64_t i = num_owned; i < num_owned + num_ghosts; i++) {
    links->pair[links->num][0] = counts->first + piece_of_node[i];
    links->pair[links->num++][1] = (int64_t)owners[i * num_comp];
  }
  ierr = CeedVectorRestoreArrayRead(v, &owners);
cleanup:
  CeedVectorDestroy(&v);
  RitzExchangeDestroy(&exchange);
  return ierr;
}

// labels [all], less than zero so that the largest of all parts is wanted: of two linked pieces both get the
// nearer one to zero, until nothing changes in any part.
static int spread_labels(const Problem *p, const Links *links, int64_t all, double *labels) {
  const RitzTransport *t = p->options.transport;

  for (double changes = 1; changes > 0;) {
    changes = 0;
    for (int64_t i = 0; i < links->num; i++) {
      double *mine = &labels[links->pair[i][0]], *other = &labels[links->pair[i][1]];

      if (*mine == *other) continue;
      *mine = *other = *mine > *other ? *mine : *other;
      changes = 1;
    }
    CLI_TRY(t->reduce(t, RITZ_REDUCTION_MAX, (CeedInt)all, labels));
    CLI_TRY(t->reduce(t, RITZ_REDUCTION_MAX, 1, &changes));
  }
  return CEED_ERROR_SUCCESS;
}

// Numbers the labels, ascending: an entry that is its own label gets the next number, others that of their
// label.
static void number_labels(int64_t all, double *labels, int64_t *num_pieces) {
  *num_pieces = 0;
  for (int64_t i = 0; i < all; i++) {
    const int64_t label = -(int64_t)labels[i] - 1; // at most i, and numbered already if less

    labels[i] = label == i ? (double)(*num_pieces)++ : labels[label];
  }
}

int problem_join_pieces(const Problem *p, RitzSpace space, int64_t *num_pieces, int64_t *piece_of_node) {
  int64_t num_nodes = 0;
  Counts counts = {0};
  Links links = {0};
  RitzHalo halo = NULL;
  double *labels = NULL;
  int ierr;

  CLI_TRY(RitzSpaceGetNumNodes(space, &num_nodes));
  CLI_TRY(RitzSpaceGetHalo(space, &halo));
  CLI_TRY_CLEANUP(count_pieces(p, *num_pieces, &counts));
  CLI_TRY_CLEANUP(counts.has_several ? link_ghosts(p, space, halo, piece_of_node, &counts, &links)
                                     : link_parts(p, halo, &counts, &links));
  CLI_TRY_CLEANUP(cli_allocate(p->ceed, (size_t)counts.all, sizeof(*labels), &labels));
  for (int64_t i = 0; i < counts.all; i++) labels[i] = -(double)(i + 1);
  CLI_TRY_CLEANUP(spread_labels(p, &links, counts.all, labels));
  number_labels(counts.all, labels, num_pieces);
  if (*num_pieces > 1 || counts.has_several)
    for (int64_t i = 0; i < num_nodes; i++)
      piece_of_node[i] = (int64_t)labels[counts.first + piece_of_node[i]];
cleanup:
  free(counts.num);
  free(links.pair);
  free(labels);
  return ierr;
}
