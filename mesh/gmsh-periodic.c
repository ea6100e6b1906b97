// SPDX-License-Identifier: BSD-2-Clause
// $Periodic of Gmsh MSH 2.2 (always text) and 4.1: pairs of nodes, slave and master, that are one vertex.
// Pairs chain, as at corners that several periods have. Called by mesh/gmsh.c and mesh/gmsh-draft.c.
#include <stdlib.h>

#include "mesh/gmsh.h"

// ---- The section ----

static int read_pairs(RitzGmshFile *file) {
  RitzMeshText *text = file->text;
  int64_t num;

  RITZ_TRY(ritz_text_size(text, "the number of pairs of periodic nodes", &num));
  RITZ_TRY(ritz_text_check_count(text, "the number of pairs of periodic nodes", num, 0, 2, 0));
  RITZ_TRY(ritz_mesh_reserve(text->ceed, 2 * (file->num_pairs + num), sizeof(*file->pairs),
                             &file->pairs_capacity, (void **)&file->pairs));
  for (int64_t i = 0; i < num; i++, file->num_pairs++) {
    RITZ_TRY(ritz_text_size(text, "a periodic node", &file->pairs[2 * file->num_pairs]));
    RITZ_TRY(ritz_text_size(text, "the master of a periodic node", &file->pairs[2 * file->num_pairs + 1]));
  }
  return CEED_ERROR_SUCCESS;
}

// The affine map between the two sides says nothing that the pairs do not.
static int skip_map(RitzGmshFile *file) {
  RitzMeshText *text = file->text;
  double value;
  int64_t num = 0;

  if (file->version == 4) {
    RITZ_TRY(ritz_text_size(text, "the size of a periodic map", &num));
    RITZ_TRY(ritz_text_check_count(text, "the size of a periodic map", num, 0, 0, 1));
  } else if (ritz_text_accept(text, "Affine")) {
    num = 16;
  }
  for (int64_t i = 0; i < num; i++) RITZ_TRY(ritz_text_double(text, "a number of a periodic map", &value));
  return CEED_ERROR_SUCCESS;
}

int ritz_gmsh_read_periodic(RitzGmshFile *file) {
  RitzMeshText *text = file->text;
  const bool is_raw = file->is_binary && file->version == 4;
  int64_t num_links, number;

  if (is_raw) ritz_text_skip_line(text);
  text->is_raw = is_raw;
  RITZ_TRY(ritz_text_size(text, "the number of periodic links", &num_links));
  RITZ_TRY(ritz_text_check_count(text, "the number of periodic links", num_links, 3, 1, 0));
  for (int64_t i = 0; i < num_links; i++) {
    RITZ_TRY(ritz_text_int(text, "the dimension of a periodic link", 0, 3, &number));
    RITZ_TRY(ritz_text_int(text, "the entity of a periodic link", INT32_MIN, INT32_MAX, &number));
    RITZ_TRY(ritz_text_int(text, "the master of a periodic link", INT32_MIN, INT32_MAX, &number));
    RITZ_TRY(skip_map(file));
    RITZ_TRY(read_pairs(file));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Sets of things that are one ----

// The first of the set that i belongs to; the first is its own parent.
static int64_t find_first(int64_t *parents, int64_t i) {
  while (parents[i] != i) i = parents[i] = parents[parents[i]];
  return i;
}

static void join(int64_t *parents, int64_t i, int64_t j) {
  i = find_first(parents, i);
  j = find_first(parents, j);
  parents[i > j ? i : j] = i > j ? j : i;
}

static int start_sets(Ceed ceed, int64_t num, int64_t **parents) {
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num, parents));
  for (int64_t i = 0; i < num; i++) (*parents)[i] = i;
  return CEED_ERROR_SUCCESS;
}

// ---- Periods ----

typedef struct {
  int64_t slave, master; // indices of nodes
} Pair;

typedef struct {
  const RitzGmshFile *file; // borrowed
  RitzMeshDraft *draft;     // borrowed
  RitzMeshTable tags;       // owned: nodes, then tags in pairs that are no nodes
  int64_t num_pairs;
  Pair *pairs;             // owned, sorted
  int64_t *nodes;          // owned, [tags.num_keys]: sets of nodes
  RitzMeshTable edges;     // owned: edges of elements, by nodes
  RitzMeshNumbers numbers; // owned: of the edges
  int64_t *edge_sets;      // owned, [edges.num_keys]
  RitzMeshTable joined;    // owned: edges by vertices
  int64_t *first_edge;     // owned, [edges.num_keys]: an edge of each
} Periods;

static void clear_periods(Periods *p) {
  ritz_mesh_table_clear(&p->tags);
  RITZ_FREE(&p->pairs);
  RITZ_FREE(&p->nodes);
  ritz_mesh_table_clear(&p->edges);
  RITZ_FREE(&p->numbers.numbers);
  RITZ_FREE(&p->edge_sets);
  ritz_mesh_table_clear(&p->joined);
  RITZ_FREE(&p->first_edge);
}

static int compare_pairs(const void *pa, const void *pb) {
  const Pair *a = pa, *b = pb;

  if (a->slave != b->slave) return a->slave < b->slave ? -1 : 1;
  return (a->master > b->master) - (a->master < b->master);
}

// A node of a box has 7 masters at most; many more are no mesh, and would take long to look at.
static int check_masters(const Periods *p) {
  enum { MOST = 64 };

  for (int64_t i = MOST; i < p->num_pairs; i++) {
    const int64_t slave = p->pairs[i].slave;

    if (p->pairs[i - MOST].slave == slave)
      return ritz_text_fail(p->file->text, CEED_ERROR_MAJOR, "$Periodic gives node %lld more than %d masters",
                            (long long)p->tags.keys[slave], MOST);
  }
  return CEED_ERROR_SUCCESS;
}

// Nodes that are not there may still join others.
static int join_nodes(Periods *p) {
  const RitzGmshFile *file = p->file;
  const Ceed ceed = file->text->ceed;

  RITZ_TRY(ritz_gmsh_enter_tags(file, &p->tags));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)file->num_pairs, &p->pairs));
  for (int64_t i = 0; i < file->num_pairs; i++) {
    RITZ_TRY(ritz_mesh_table_insert(ceed, &p->tags, &file->pairs[2 * i], &p->pairs[i].slave));
    RITZ_TRY(ritz_mesh_table_insert(ceed, &p->tags, &file->pairs[2 * i + 1], &p->pairs[i].master));
  }
  qsort(p->pairs, (size_t)file->num_pairs, sizeof(*p->pairs), compare_pairs);
  for (int64_t i = 0; i < file->num_pairs; i++) {
    if (i == 0 || compare_pairs(&p->pairs[p->num_pairs - 1], &p->pairs[i]))
      p->pairs[p->num_pairs++] = p->pairs[i];
  }
  RITZ_TRY(start_sets(ceed, p->tags.num_keys, &p->nodes));
  for (int64_t i = 0; i < p->num_pairs; i++) join(p->nodes, p->pairs[i].slave, p->pairs[i].master);
  return check_masters(p);
}

// The first pair of a slave; *end behind its last one.
static int64_t find_pairs(const Periods *p, int64_t slave, int64_t *end) {
  int64_t low = 0, high = p->num_pairs;

  while (low < high) {
    const int64_t middle = low + (high - low) / 2;

    if (p->pairs[middle].slave < slave)
      low = middle + 1;
    else
      high = middle;
  }
  for (*end = low; *end < p->num_pairs && p->pairs[*end].slave == slave;) ++*end;
  return low;
}

// An edge between slaves is that between their masters, where there is one.
static void join_edge(Periods *p, int64_t edge) {
  const int64_t *ends = p->edges.keys + 2 * edge;
  int64_t end[2];
  const int64_t begin[2] = {find_pairs(p, ends[0], &end[0]), find_pairs(p, ends[1], &end[1])};

  for (int64_t i = begin[0]; i < end[0]; i++) {
    for (int64_t j = begin[1]; j < end[1]; j++) {
      int64_t key[2] = {p->pairs[i].master, p->pairs[j].master};

      ritz_mesh_sort_vertices(2, key);
      const int64_t other = ritz_mesh_table_find(&p->edges, key);

      if (other >= 0) join(p->edge_sets, edge, other);
    }
  }
}

// Edges are told apart by their vertices, so that two of them may not get the same ones, as they do where a
// period has two elements.
static int check_edges(Periods *p) {
  const RitzMeshDraft *draft = p->draft;
  const Ceed ceed = p->file->text->ceed;

  const RitzMeshCells cells = ritz_mesh_draft_cells(ceed, draft);

  RITZ_TRY(ritz_mesh_number_entities(&cells, RITZ_MESH_EDGES, &p->numbers));
  RITZ_TRY(ritz_mesh_table_entities(&cells, RITZ_MESH_EDGES, &p->numbers, &p->edges));
  RITZ_TRY(start_sets(ceed, p->edges.num_keys, &p->edge_sets));
  for (int64_t i = 0; i < p->edges.num_keys; i++) join_edge(p, i);
  RITZ_TRY(ritz_mesh_table_create(ceed, 2, p->edges.num_keys, &p->joined));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)p->edges.num_keys, &p->first_edge));
  for (int64_t i = 0; i < p->edges.num_keys; i++) {
    const int64_t *ends = p->edges.keys + 2 * i;
    int64_t key[2] = {find_first(p->nodes, ends[0]), find_first(p->nodes, ends[1])}, number;
    const int64_t num_known = p->joined.num_keys;

    ritz_mesh_sort_vertices(2, key);
    RITZ_TRY(ritz_mesh_table_insert(ceed, &p->joined, key, &number));
    if (number == num_known) p->first_edge[number] = find_first(p->edge_sets, i);
    if (p->first_edge[number] != find_first(p->edge_sets, i))
      return ritz_text_fail(
          p->file->text, CEED_ERROR_MAJOR,
          "$Periodic joins both ends of an edge, nodes %lld and %lld, to those of another one "
          "(a periodic direction needs at least 3 elements)",
          (long long)p->file->nodes[ends[0]].tag, (long long)p->file->nodes[ends[1]].tag);
  }
  return CEED_ERROR_SUCCESS;
}

static int close_periods(Periods *p) {
  RITZ_TRY(join_nodes(p));
  if (p->draft->dim > 1) RITZ_TRY(check_edges(p));
  for (int64_t i = 0; i < p->tags.num_keys; i++) p->nodes[i] = find_first(p->nodes, i);
  ritz_reader_renumber(p->nodes, p->draft);
  return CEED_ERROR_SUCCESS;
}

int ritz_gmsh_close_periods(const RitzGmshFile *file, RitzMeshDraft *draft) {
  Periods p = {.file = file, .draft = draft};
  const int ierr = close_periods(&p);

  clear_periods(&p);
  return ierr;
}
