// SPDX-License-Identifier: BSD-2-Clause
// Edges and faces: one number for each of them in a mesh, found by threads. Called by the node numbering, by
// ritz_mesh_build and whoever looks for neighbours; leaves orientation to the numbering.
//
// An edge or face is looked for at the smallest of its vertices, among those that elements have there, which
// are few and near in memory; numbers follow first appearance, whatever the number of threads.
#include "mesh/mesh.h"

#include <string.h>

static const RitzMeshEntities *entities_of(CeedElemTopology topology, RitzMeshEntityKind kind) {
  const RitzMeshShape *shape = ritz_mesh_shape(topology);

  return kind == RITZ_MESH_EDGES ? &shape->edges : &shape->facets;
}

RitzMeshCells ritz_mesh_cells(RitzMesh mesh) {
  return (RitzMeshCells){mesh->ceed, mesh->num_vertices, mesh->num_blocks, mesh->blocks, mesh->elem_vertices};
}

RitzMeshCells ritz_mesh_draft_cells(Ceed ceed, const RitzMeshDraft *draft) {
  return (RitzMeshCells){ceed, draft->num_vertices, draft->num_blocks, draft->blocks, draft->elem_vertices};
}

// ---- Elements around vertices ----

// Those of vertex v are corners[starts[v]] .. corners[starts[v + 1] - 1], ascending, each 8 element + corner.
typedef struct {
  const RitzMeshCells *cells; // borrowed
  const RitzMeshBlock *block; // borrowed: whose elements are entered
  int64_t *first;             // owned, [num_vertices]: the first of them; -1: none
  int64_t *starts;            // owned, [num_vertices + 2]: in the end one more than is used
  int64_t *corners;           // owned
} Around;

// The vertices of element e of the block and of those behind it.
static const int64_t *vertices_from(const Around *a, int64_t e) {
  return a->cells->elem_vertices + a->block->corner_base + e * a->block->num_corners;
}

static void find_bounds(const void *data, int64_t first, int64_t count, int64_t *low, int64_t *high) {
  const Around *a = data;
  const int64_t num = a->block->num_corners;
  const int64_t *vertices = vertices_from(a, first);

  *low = *high = vertices[0];
  for (int64_t i = 1; i < count * num; i++) {
    if (vertices[i] < *low) *low = vertices[i];
    if (vertices[i] > *high) *high = vertices[i];
  }
}

static void clear_first(const void *data, int64_t first, int64_t count) {
  const Around *a = data;

  for (int64_t v = first; v < first + count; v++) a->first[v] = -1;
}

static void enter_first(const void *data, int slot, int64_t first_elem, int64_t num_elem, int64_t first,
                        int64_t count) {
  const Around *a = data;
  const int64_t num = a->block->num_corners;
  const int64_t *vertices = vertices_from(a, first_elem);

  (void)slot;
  for (int64_t e = a->block->first + first_elem; num_elem > 0; e++, num_elem--, vertices += num) {
    for (int64_t k = 0; k < num; k++) {
      if (vertices[k] >= first && vertices[k] < first + count && a->first[vertices[k]] < 0)
        a->first[vertices[k]] = e * RITZ_MESH_MAX_CORNERS + k;
    }
  }
}

static void clear_counts(const void *data, int64_t first, int64_t count) {
  const Around *a = data;

  memset(a->starts + first + 2, 0, (size_t)count * sizeof(*a->starts));
}

static void count_corners(const void *data, int slot, int64_t first_elem, int64_t num_elem, int64_t first,
                          int64_t count) {
  const Around *a = data;
  const int64_t num = a->block->num_corners;
  const int64_t *vertices = vertices_from(a, first_elem);

  (void)slot;
  for (int64_t i = 0; i < num_elem * num; i++) {
    if (vertices[i] >= first && vertices[i] < first + count) a->starts[vertices[i] + 2]++;
  }
}

static void enter_corners(const void *data, int slot, int64_t first_elem, int64_t num_elem, int64_t first,
                          int64_t count) {
  const Around *a = data;
  const int64_t num = a->block->num_corners;
  const int64_t *vertices = vertices_from(a, first_elem);

  (void)slot;
  for (int64_t e = first_elem; e < first_elem + num_elem; e++, vertices += num) {
    for (int64_t k = 0; k < num; k++) {
      if (vertices[k] >= first && vertices[k] < first + count)
        a->corners[a->starts[vertices[k] + 1]++] = (a->block->first + e) * RITZ_MESH_MAX_CORNERS + k;
    }
  }
}

static int run_corners(Around *a, RitzNodeSum sum) {
  for (int b = 0; b < a->cells->num_blocks; b++) {
    a->block = &a->cells->blocks[b];
    sum.num_elem = a->block->num_elem;
    RITZ_TRY(ritz_run_node_sum(a->cells->ceed, &sum));
    sum.clear = NULL;
  }
  return CEED_ERROR_SUCCESS;
}

static int find_first_corners(Around *a) {
  const RitzNodeSum sum = {.num_nodes = a->cells->num_vertices,
                           .bounds = find_bounds,
                           .clear = clear_first,
                           .add = enter_first,
                           .data = a};

  RITZ_TRY(RITZ_MALLOC(a->cells->ceed, (size_t)a->cells->num_vertices, &a->first));
  return run_corners(a, sum);
}

static int list_corners(Around *a) {
  const RitzMeshCells *cells = a->cells;
  RitzNodeSum sum = {.num_nodes = cells->num_vertices,
                     .bounds = find_bounds,
                     .clear = clear_counts,
                     .add = count_corners,
                     .data = a};

  RITZ_TRY(RITZ_MALLOC(cells->ceed, (size_t)cells->num_vertices + 2, &a->starts));
  a->starts[0] = a->starts[1] = 0;
  RITZ_TRY(run_corners(a, sum));
  // Two places up, so that entering corners leaves the starts right.
  for (int64_t v = 0; v < cells->num_vertices; v++) a->starts[v + 2] += a->starts[v + 1];
  RITZ_TRY(RITZ_MALLOC(cells->ceed, (size_t)a->starts[cells->num_vertices + 1], &a->corners));
  sum.clear = NULL;
  sum.add = enter_corners;
  return run_corners(a, sum);
}

static void around_clear(Around *a) {
  RITZ_FREE(&a->first);
  RITZ_FREE(&a->starts);
  RITZ_FREE(&a->corners);
}

// ---- Equal entities at a vertex ----

// The entities of one kind at the corners of a shape.
enum { MOST_AT_CORNER = 4 };
typedef struct {
  int num[RITZ_MESH_MAX_CORNERS];
  int8_t entity[RITZ_MESH_MAX_CORNERS][MOST_AT_CORNER];
} AtCorners;

// One of an element: its vertices beyond the smallest one, ascending, then -1, and its place in the numbers.
typedef struct {
  int64_t key[3], place;
} Item;

typedef struct {
  const Around *around; // borrowed
  RitzMeshEntityKind kind;
  AtCorners at[RITZ_MESH_MAX_BLOCKS];
  RitzMeshNumbers *numbers; // borrowed: found[place] is the first place that has the same entity
  int64_t *begin;           // owned, [num_slots + 1]: where the items of a thread begin
  Item *items;              // owned: of one vertex of each thread
} Matching;

static void list_at_corners(const RitzMeshEntities *entities, AtCorners *at) {
  *at = (AtCorners){.num = {0}};
  for (int8_t i = 0; i < entities->num; i++) {
    for (int k = 0; k < ritz_mesh_entity_size(entities, i); k++) {
      const int8_t corner = entities->corner[i][k];

      at->entity[corner][at->num[corner]++] = i;
    }
  }
}

// False: the entity is looked for at another corner, with a smaller vertex, or the same one at an earlier
// corner.
static bool make_key(const int8_t *corners, int num, int corner, const int64_t *vertices, int64_t key[3]) {
  int num_found = 0;

  key[0] = key[1] = key[2] = -1;
  for (int k = 0; k < num && corners[k] >= 0; k++) {
    const int64_t vertex = vertices[corners[k]];
    int i = num_found;

    if (corners[k] == corner) continue;
    if (vertex < vertices[corner] || (vertex == vertices[corner] && corners[k] < corner)) return false;
    for (; i > 0 && key[i - 1] > vertex; i--) key[i] = key[i - 1];
    key[i] = vertex;
    num_found++;
  }
  return true;
}

static int64_t list_items(const Matching *m, int64_t v, Item *items) {
  const Around *a = m->around;
  int64_t num = 0;
  int b = 0;

  for (int64_t i = a->starts[v]; i < a->starts[v + 1]; i++) {
    const int64_t e = a->corners[i] / RITZ_MESH_MAX_CORNERS;
    const int corner = (int)(a->corners[i] % RITZ_MESH_MAX_CORNERS);

    while (e >= a->cells->blocks[b].first + a->cells->blocks[b].num_elem) b++;
    const RitzMeshBlock *block = &a->cells->blocks[b];
    const RitzMeshEntities *entities = entities_of(block->topology, m->kind);
    const int64_t *vertices =
        a->cells->elem_vertices + block->corner_base + (e - block->first) * block->num_corners;

    for (int k = 0; k < m->at[b].num[corner]; k++) {
      const int entity = m->at[b].entity[corner][k];

      if (!make_key(entities->corner[entity], entities->num_corners, corner, vertices, items[num].key))
        continue;
      items[num++].place = m->numbers->base[b] + (e - block->first) * entities->num + entity;
    }
  }
  return num;
}

static bool have_equal_keys(const Item *a, const Item *b) {
  return a->key[0] == b->key[0] && a->key[1] == b->key[1] && a->key[2] == b->key[2];
}

static bool is_before(const Item *a, const Item *b) {
  for (int k = 0; k < 3; k++) {
    if (a->key[k] != b->key[k]) return a->key[k] < b->key[k];
  }
  return a->place < b->place;
}

// Shell's method with Knuth's gaps: insertion for the few items of most vertices, n^1.5 at worst.
static void sort_items(int64_t num, Item *items) {
  int64_t gap = 1;

  while (gap < num / 9) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    for (int64_t i = gap; i < num; i++) {
      const Item item = items[i];
      int64_t j = i;

      for (; j >= gap && is_before(&item, &items[j - gap]); j -= gap) items[j] = items[j - gap];
      items[j] = item;
    }
  }
}

static void match_range(void *data, int slot, int64_t first, int64_t count) {
  const Matching *m = data;
  Item *items = m->items + m->begin[slot];

  for (int64_t v = first; v < first + count; v++) {
    const int64_t num = list_items(m, v, items);

    sort_items(num, items);
    for (int64_t i = 0, equal = 0; i < num; i++) {
      if (!have_equal_keys(&items[equal], &items[i])) equal = i;
      m->numbers->numbers[items[i].place] = items[equal].place;
    }
  }
}

static void find_most_items(void *data, int slot, int64_t first, int64_t count) {
  const Matching *m = data;
  const int64_t *starts = m->around->starts;

  for (int64_t v = first; v < first + count; v++) {
    const int64_t num = MOST_AT_CORNER * (starts[v + 1] - starts[v]);

    if (num > m->begin[slot + 1]) m->begin[slot + 1] = num;
  }
}

static int match_entities(const Around *around, RitzMeshEntityKind kind, RitzMeshNumbers *numbers) {
  const RitzMeshCells *cells = around->cells;
  Matching m = {.around = around, .kind = kind, .numbers = numbers};
  int num_slots = 1, ierr;

  for (int b = 0; b < cells->num_blocks; b++)
    list_at_corners(entities_of(cells->blocks[b].topology, kind), &m.at[b]);
  RITZ_TRY(ritz_run_ranges_slots(cells->ceed, &num_slots));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(cells->ceed, (size_t)num_slots + 1, &m.begin));
  RITZ_TRY_CLEANUP(ritz_run_elements(cells->ceed, cells->num_vertices, find_most_items, &m));
  for (int slot = 0; slot < num_slots; slot++) m.begin[slot + 1] += m.begin[slot];
  RITZ_TRY_CLEANUP(RITZ_MALLOC(cells->ceed, (size_t)m.begin[num_slots], &m.items));
  RITZ_TRY_CLEANUP(ritz_run_elements(cells->ceed, cells->num_vertices, match_range, &m));
cleanup:
  RITZ_FREE(&m.begin);
  RITZ_FREE(&m.items);
  return ierr;
}

// ---- Numbers in the order of first appearance ----

typedef struct {
  int64_t *numbers; // first places, then those of first places inverted, then numbers
  int64_t *next;    // owned, [num_slots]: how many first places a thread has, then its next number
  int num, bit;     // entities of an element of the present block, the bit of the first one
  int64_t base;     // where the numbers of the block begin
  uint32_t *is_new; // of the elements of the block; NULL: nobody asks
} Counting;

static void count_first(void *data, int slot, int64_t first, int64_t count) {
  const Counting *c = data;
  int64_t num = 0;

  for (int64_t i = first; i < first + count; i++) num += c->numbers[i] == i;
  c->next[slot] = num;
}

static void number_first(void *data, int slot, int64_t first, int64_t count) {
  const Counting *c = data;
  int64_t next = c->next[slot];

  for (int64_t i = first; i < first + count; i++) {
    if (c->numbers[i] == i) c->numbers[i] = ~next++;
  }
}

static void number_others(void *data, int slot, int64_t first, int64_t count) {
  const Counting *c = data;

  (void)slot;
  for (int64_t i = first; i < first + count; i++) {
    if (c->numbers[i] >= 0) c->numbers[i] = ~c->numbers[c->numbers[i]];
  }
}

static void finish_elements(void *data, int slot, int64_t first, int64_t count) {
  const Counting *c = data;

  (void)slot;
  for (int64_t e = first; e < first + count; e++) {
    int64_t *numbers = c->numbers + c->base + e * c->num;

    for (int i = 0; i < c->num; i++) {
      if (numbers[i] >= 0) continue;
      numbers[i] = ~numbers[i];
      if (c->is_new) c->is_new[e] |= UINT32_C(1) << (c->bit + i);
    }
  }
}

static int count_entities(const RitzMeshCells *cells, RitzMeshEntityKind kind, int64_t num_places,
                          RitzMeshNumbers *numbers, int bit, uint32_t *is_new) {
  const Ceed ceed = cells->ceed;
  Counting c = {.numbers = numbers->numbers, .bit = bit};
  int num_slots = 1, ierr;

  RITZ_TRY(ritz_run_ranges_slots(ceed, &num_slots));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_slots, &c.next));
  RITZ_TRY_CLEANUP(ritz_run_ranges(ceed, num_places, count_first, &c));
  numbers->num = ritz_mesh_count_slots(num_slots, 0, c.next);
  RITZ_TRY_CLEANUP(ritz_run_ranges(ceed, num_places, number_first, &c));
  RITZ_TRY_CLEANUP(ritz_run_ranges(ceed, num_places, number_others, &c));
  for (int b = 0; b < cells->num_blocks; b++) {
    c.num = entities_of(cells->blocks[b].topology, kind)->num;
    c.base = numbers->base[b];
    c.is_new = is_new ? is_new + cells->blocks[b].first : NULL;
    RITZ_TRY_CLEANUP(ritz_run_elements(ceed, cells->blocks[b].num_elem, finish_elements, &c));
  }
cleanup:
  RITZ_FREE(&c.next);
  return ierr;
}

static int number_entities(const Around *around, RitzMeshEntityKind kind, RitzMeshNumbers *numbers, int bit,
                           uint32_t *is_new) {
  const RitzMeshCells *cells = around->cells;
  int64_t num_places = 0;

  for (int b = 0; b < cells->num_blocks; b++) {
    numbers->base[b] = num_places;
    num_places += cells->blocks[b].num_elem * entities_of(cells->blocks[b].topology, kind)->num;
  }
  RITZ_TRY(RITZ_MALLOC(cells->ceed, (size_t)num_places, &numbers->numbers));
  RITZ_TRY(match_entities(around, kind, numbers));
  return count_entities(cells, kind, num_places, numbers, bit, is_new);
}

int64_t ritz_mesh_count_slots(int num_slots, int64_t first, int64_t *next) {
  for (int slot = 0; slot < num_slots; slot++) {
    const int64_t count = next[slot];

    next[slot] = first;
    first += count;
  }
  return first;
}

int ritz_mesh_number_entities(const RitzMeshCells *cells, RitzMeshEntityKind kind, RitzMeshNumbers *numbers) {
  Around around = {.cells = cells};
  int ierr = list_corners(&around);

  if (!ierr) ierr = number_entities(&around, kind, numbers, 0, NULL);
  around_clear(&around);
  return ierr;
}

int ritz_mesh_table_entities(const RitzMeshCells *cells, RitzMeshEntityKind kind,
                             const RitzMeshNumbers *numbers, RitzMeshTable *table) {
  const int width = entities_of(cells->blocks[0].topology, kind)->num_corners;
  const int64_t *number = numbers->numbers;

  RITZ_TRY(ritz_mesh_table_create(cells->ceed, width, numbers->num, table));
  for (int b = 0; b < cells->num_blocks; b++) {
    const RitzMeshBlock *block = &cells->blocks[b];
    const RitzMeshEntities *entities = entities_of(block->topology, kind);

    for (int64_t i = 0; i < block->num_elem * entities->num; i++) {
      const int64_t *vertices =
          cells->elem_vertices + block->corner_base + i / entities->num * block->num_corners;
      int64_t key[4], same;

      if (*number++ < table->num_keys) continue;
      ritz_mesh_entity_key(entities, (int)(i % entities->num), vertices, key);
      RITZ_TRY(ritz_mesh_table_insert(cells->ceed, table, key, &same));
    }
  }
  return CEED_ERROR_SUCCESS;
}

// ---- The topology of a mesh ----

typedef struct {
  const Around *around;
  const RitzMeshBlock *block;
  uint32_t *is_new; // of the elements of the block
} NewVertices;

static void mark_new_vertices(void *data, int slot, int64_t first, int64_t count) {
  const NewVertices *n = data;
  const int num = n->block->num_corners;

  (void)slot;
  for (int64_t e = first; e < first + count; e++) {
    const int64_t *vertices = n->around->cells->elem_vertices + n->block->corner_base + e * num;
    const int64_t place = (n->block->first + e) * RITZ_MESH_MAX_CORNERS;
    uint32_t is_new = 0;

    for (int k = 0; k < num; k++) is_new |= (uint32_t)(n->around->first[vertices[k]] == place + k) << k;
    n->is_new[e] = is_new;
  }
}

static int fill_topology(Around *around, RitzMesh mesh, RitzMeshTopology *t) {
  if (mesh->num_elem == 0) return CEED_ERROR_SUCCESS; // a part without any
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)mesh->num_elem, &t->is_new));
  RITZ_TRY(find_first_corners(around));
  for (int b = 0; b < mesh->num_blocks; b++) {
    NewVertices vertices = {around, &mesh->blocks[b], t->is_new + mesh->blocks[b].first};

    RITZ_TRY(ritz_run_elements(mesh->ceed, mesh->blocks[b].num_elem, mark_new_vertices, &vertices));
  }
  if (t->max_dim == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(list_corners(around));
  RITZ_TRY(number_entities(around, RITZ_MESH_EDGES, &t->edges, RITZ_MESH_EDGE_BIT, t->is_new));
  if (t->max_dim == 1) return CEED_ERROR_SUCCESS;
  return number_entities(around, RITZ_MESH_FACETS, &t->faces, RITZ_MESH_FACE_BIT, t->is_new);
}

int ritz_mesh_topology_create(RitzMesh mesh, int max_dim, RitzMeshTopology *topology) {
  const RitzMeshCells cells = ritz_mesh_cells(mesh);
  Around around = {.cells = &cells};

  *topology = (RitzMeshTopology){.max_dim = max_dim < mesh->dim ? max_dim : mesh->dim - 1};
  const int ierr = fill_topology(&around, mesh, topology);

  around_clear(&around);
  if (ierr) ritz_mesh_topology_clear(topology);
  return ierr;
}

void ritz_mesh_topology_clear(RitzMeshTopology *topology) {
  RITZ_FREE(&topology->edges.numbers);
  RITZ_FREE(&topology->faces.numbers);
  RITZ_FREE(&topology->is_new);
  *topology = (RitzMeshTopology){0};
}

int ritz_mesh_require_topology(RitzMesh mesh, int max_dim) {
  RitzMeshTopology topology;

  if (mesh->topology.is_new && mesh->topology.max_dim >= max_dim) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_mesh_topology_create(mesh, max_dim, &topology));
  ritz_mesh_topology_clear(&mesh->topology);
  mesh->topology = topology;
  return CEED_ERROR_SUCCESS;
}
