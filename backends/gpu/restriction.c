// SPDX-License-Identifier: BSD-2-Clause
// Restrictions on the device: the restriction slots of the GPU backends, called for CeedElemRestrictionApply
// and by operator.c. E-vectors are [num_comp][num_elem][elem_size], at points padded to the longest element,
// one element alone is not padded (doc/ceed-api.md, Element restrictions). Kernels:
// kernels/gpu/restriction.h.
#include <limits.h>

#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"

// The nodes of a range of elements, sorted by where they are in the L-vector: L-node k is at nodes[k] and
// gets the nodes entries[starts[k]] .. entries[starts[k + 1] - 1] of the range, in their order. Arrays in
// device memory, 12 bytes an L-node and 4 bytes a node of the E-vector.
typedef struct {
  CeedInt first_elem, num_elem; // num_elem == 0: not made yet
  CeedInt num_nodes;            // L-nodes that occur
  bool is_separate;             // no entry of the L-vector belongs to two of them
  void *nodes, *starts, *entries;
} Map;

// Device copy of the first offsets of rows of one length. Freed with the restriction, not before: kernels
// keep the address.
typedef struct Rows {
  struct Rows *next; // rows of another length
  CeedInt length;
  bool has_rows;
  void *firsts; // device copy of the first offset of each row, made on first use
} Rows;

// Device data of a restriction (rstr->data of the original), shared by its unsigned and unoriented copies.
typedef struct {
  void *orients; // device copy of orients or curl_orients, made on first use; NULL: there are none
  Rows *rows;    // owned, of the lengths that were asked for
  Map all, part; // of all elements; of the range of elements that was asked for last
  Map list;      // of all elements' points without padding
  CeedElemRestriction blocks; // owned: of point blocks; NULL: not asked for yet
} Data;

static CeedElemRestriction owner(CeedElemRestriction r) { return r->base ? r->base : r; }

static int get_data(CeedElemRestriction r, Data **data) {
  CeedElemRestriction o = owner(r);
  if (!o->data) {
    Data *fresh = NULL;
    RITZ_TRY(RITZ_CALLOC(o->obj.ceed, 1, &fresh));
    o->data = fresh;
  }
  *data = o->data;
  return CEED_ERROR_SUCCESS;
}

static void free_map(Ceed ceed, Map *map) {
  ritz_gpu_free(ceed, &map->nodes);
  ritz_gpu_free(ceed, &map->starts);
  ritz_gpu_free(ceed, &map->entries);
  *map = (Map){0};
}

static void free_rows(Ceed ceed, Rows **rows) {
  while (*rows) {
    Rows *next = (*rows)->next;
    ritz_gpu_free(ceed, &(*rows)->firsts);
    RITZ_FREE(rows);
    *rows = next;
  }
}

int ritz_gpu_restriction_destroy(CeedElemRestriction rstr) {
  Data *data = rstr->data;
  Ceed ceed = rstr->obj.ceed;
  if (!data) return CEED_ERROR_SUCCESS;
  ritz_gpu_free(ceed, &data->orients);
  free_rows(ceed, &data->rows);
  free_map(ceed, &data->all);
  free_map(ceed, &data->part);
  free_map(ceed, &data->list);
  const int ierr = CeedElemRestrictionDestroy(&data->blocks);
  RITZ_FREE(&rstr->data);
  return ierr;
}

// At points elem_size is not known yet: elements have max_points places.
int ritz_gpu_restriction_layout(CeedElemRestriction rstr, CeedInt layout[3]) {
  bool is_points = rstr->type == CEED_RESTRICTION_POINTS;
  CeedSize size = is_points ? rstr->max_points : rstr->elem_size;
  RITZ_REQUIRE(rstr->block_size == 1, rstr->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "blocked restrictions: Backend does not implement them");
  RITZ_REQUIRE(size * rstr->num_elem <= INT_MAX, rstr->obj.ceed, CEED_ERROR_DIMENSION,
               "%" CeedInt_FMT " elements of %" CeedSize_FMT
               " nodes exceed the 32-bit layout of an E-vector on the device",
               rstr->num_elem, size);
  layout[0] = 1;
  layout[1] = (CeedInt)(size * rstr->num_elem);
  layout[2] = (CeedInt)size;
  return CEED_ERROR_SUCCESS;
}

// ---- The elements of an action ----

typedef struct {
  CeedElemRestriction rstr;
  CeedInt first_elem, num_elem;
  CeedInt size;  // places of an element in the E-vector
  CeedInt n;     // places of a component
  CeedInt first; // node of all elements' nodes that is the first of the range; 0 at points
  CeedInt comp_stride, strides[3];
  bool
      is_list; // at points, without padding: n points in a row, `first` is the place in the list of the first
  bool has_orients, is_curl, is_signed;
  RitzGpuKernel *kernel; // for the precision of the vectors; set where kernels run
} Range;

static Range range_of(CeedElemRestriction r, const RitzRestrictionAction *action) {
  Range g = {
      .rstr = r, .first_elem = action->first_block, .num_elem = action->num_blocks, .size = r->elem_size};
  g.comp_stride = r->comp_stride;
  if (r->type == CEED_RESTRICTION_POINTS) {
    g.size = g.num_elem == r->num_elem ? r->max_points : ritz_restriction_points_in(r, g.first_elem);
  } else {
    g.first = g.first_elem * g.size;
  }
  if (r->type == CEED_RESTRICTION_STRIDED) {
    ritz_restriction_l_strides(r, g.strides);
    g.comp_stride = g.strides[1];
  }
  g.n = g.num_elem * g.size;
  g.is_signed = action->use_signs;
  g.is_curl = r->type == CEED_RESTRICTION_CURL_ORIENTED && action->use_orients;
  g.has_orients =
      g.is_curl || (r->type == CEED_RESTRICTION_ORIENTED && action->use_orients && action->use_signs);
  return g;
}

// The points of a range of elements without padding.
static Range list_of(CeedElemRestriction r, CeedInt first_elem, CeedInt num_elem) {
  const RitzRestrictionAction action = {.first_block = first_elem, .num_blocks = num_elem};
  Range g = range_of(r, &action);
  g.is_list = true;
  g.first = r->offsets[first_elem];
  g.n = r->offsets[first_elem + num_elem] - g.first;
  return g;
}

// *orients: in device memory; NULL where the action has no use for them.
static int get_orients(const Range *g, const void **orients) {
  CeedElemRestriction r = g->rstr;
  Data *data;
  *orients = NULL;
  if (!g->has_orients) return CEED_ERROR_SUCCESS;
  RITZ_TRY(get_data(r, &data));
  if (!data->orients) {
    size_t num_bytes = ritz_restriction_num_offsets(r) * (g->is_curl ? 3 * sizeof(CeedInt8) : sizeof(bool));
    const void *host = g->is_curl ? (const void *)r->curl_orients : r->orients;
    RITZ_TRY(ritz_gpu_upload(r->obj.ceed, num_bytes, host, &data->orients));
  }
  *orients = data->orients;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_restriction_orients(CeedElemRestriction rstr, const void **orients) {
  const RitzRestrictionAction action = {CEED_NOTRANSPOSE, 0, rstr->num_elem, rstr->use_signs,
                                        rstr->use_orients};
  const Range g = range_of(rstr, &action);
  return get_orients(&g, orients);
}

// ---- Rows ----

static int find_rows(CeedElemRestriction rstr, CeedInt row_length, Rows **rows) {
  Data *data;
  RITZ_TRY(get_data(rstr, &data));
  for (*rows = data->rows; *rows && (*rows)->length != row_length;) *rows = (*rows)->next;
  if (*rows) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(rstr->obj.ceed, 1, rows));
  **rows = (Rows){.next = data->rows,
                  .length = row_length,
                  .has_rows =
                      rstr->type == CEED_RESTRICTION_STANDARD && ritz_restriction_has_rows(rstr, row_length)};
  data->rows = *rows;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_restriction_has_rows(CeedElemRestriction rstr, CeedInt row_length, bool *has_rows) {
  Rows *rows;
  RITZ_TRY(find_rows(rstr, row_length, &rows));
  *has_rows = rows->has_rows;
  return CEED_ERROR_SUCCESS;
}

typedef struct {
  const CeedInt *offsets;
  CeedInt row_length;
  CeedInt *firsts;
} FirstNodes;

static void copy_first_nodes(void *data, int slot, int64_t first, int64_t count) {
  const FirstNodes *f = data;
  (void)slot;
  for (int64_t i = first; i < first + count; i++) f->firsts[i] = f->offsets[i * f->row_length];
}

static int upload_rows(CeedElemRestriction r, CeedInt row_length, void **rows) {
  const size_t num = (size_t)r->num_elem * (size_t)(r->elem_size / row_length);
  CeedInt *firsts = NULL;
  RITZ_TRY(RITZ_MALLOC(r->obj.ceed, num, &firsts));
  FirstNodes first_nodes = {r->offsets, row_length, firsts};
  int ierr = ritz_run_ranges(r->obj.ceed, (int64_t)num, copy_first_nodes, &first_nodes);
  if (!ierr) ierr = ritz_gpu_upload(r->obj.ceed, num * sizeof(*firsts), firsts, rows);
  RITZ_FREE(&firsts);
  return ierr;
}

int ritz_gpu_restriction_rows(CeedElemRestriction rstr, CeedInt row_length, const void **firsts) {
  Rows *rows;
  RITZ_TRY(find_rows(rstr, row_length, &rows));
  if (rows->has_rows && !rows->firsts) RITZ_TRY(upload_rows(rstr, row_length, &rows->firsts));
  *firsts = rows->firsts;
  return CEED_ERROR_SUCCESS;
}

// ---- Point blocks ----

// Nodes are numbered by their first components: offset / num_comp when components are interlaced, else the
// offsets themselves.
static int make_blocks(CeedElemRestriction r, CeedElemRestriction *blocks) {
  const CeedInt nc = r->num_comp;
  const CeedSize num = (CeedSize)r->num_elem * r->elem_size, length = r->l_size * nc;
  CeedInt *offsets = NULL;
  RITZ_REQUIRE(length <= INT_MAX, r->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "point blocks: %" CeedSize_FMT " entries of all blocks exceed the 32-bit offsets of a "
               "restriction on the device",
               length);
  RITZ_TRY(RITZ_MALLOC(r->obj.ceed, (size_t)num, &offsets));
  for (CeedSize k = 0; k < num; k++) {
    const CeedInt offset =
        (CeedInt)ritz_restriction_l_index(r, (CeedInt)(k / r->elem_size), (CeedInt)(k % r->elem_size), 0);
    offsets[k] = (r->comp_stride == 1 ? offset / nc : offset) * nc * nc;
  }
  const int ierr = CeedElemRestrictionCreate(r->obj.ceed, r->num_elem, r->elem_size, nc * nc, 1, length,
                                             CEED_MEM_HOST, CEED_COPY_VALUES, offsets, blocks);
  RITZ_FREE(&offsets);
  return ierr;
}

int ritz_gpu_restriction_blocks(CeedElemRestriction rstr, CeedElemRestriction *blocks) {
  Data *data;
  RITZ_TRY(get_data(rstr, &data));
  if (!data->blocks) RITZ_TRY(make_blocks(owner(rstr), &data->blocks));
  *blocks = data->blocks;
  return CEED_ERROR_SUCCESS;
}

// Whether strides lead every node, component and element to an entry of its own: taken from the smallest
// stride on, each leads beyond everything that the ones before it reach.
static bool is_disjoint(const Range *g) {
  const CeedInt lengths[3] = {g->rstr->elem_size, g->rstr->num_comp, g->rstr->num_elem};
  CeedSize reach = 0;
  bool is_done[3];
  for (int d = 0; d < 3; d++) is_done[d] = lengths[d] <= 1;
  while (true) {
    int next = -1;
    for (int d = 0; d < 3; d++) {
      if (!is_done[d] && (next < 0 || g->strides[d] < g->strides[next])) next = d;
    }
    if (next < 0) return true;
    if (g->strides[next] <= reach) return false;
    reach += (CeedSize)(lengths[next] - 1) * g->strides[next];
    is_done[next] = true;
  }
}

// ---- Gather and atomic additions: one kernel for each kind ----

#define RUN(g, entry, num_items, ...)                                                                        \
  RITZ_GPU_RUN((g)->rstr->obj.ceed, (g)->kernel, entry, RITZ_GPU_BLOCKS(num_items), RITZ_GPU_BLOCK,          \
               __VA_ARGS__)

static int run_strided(const Range *g, bool sums, const void *u, void *v) {
  const CeedInt *s = g->strides;
  if (!sums) {
    return RUN(g, "restriction_gather_strided", g->n, RITZ_INT(g->n), RITZ_INT(g->rstr->num_comp),
               RITZ_INT(g->first_elem), RITZ_INT(g->size), RITZ_INT(s[0]), RITZ_INT(s[1]), RITZ_INT(s[2]),
               RITZ_POINTER(u), RITZ_POINTER(v));
  }
  return RUN(g, "restriction_add_strided", g->n, RITZ_INT(g->n), RITZ_INT(g->rstr->num_comp),
             RITZ_INT(g->first_elem), RITZ_INT(g->size), RITZ_INT(s[0]), RITZ_INT(s[1]), RITZ_INT(s[2]),
             RITZ_INT(is_disjoint(g)), RITZ_POINTER(u), RITZ_POINTER(v));
}

static int run_list(const Range *g, bool sums, const CeedInt *list, const void *u, void *v) {
  bool is_distinct = true;
  if (!sums) {
    return RUN(g, "restriction_gather_list", g->n, RITZ_INT(g->n), RITZ_INT(g->rstr->num_comp),
               RITZ_INT(g->first), RITZ_POINTER(list), RITZ_POINTER(u), RITZ_POINTER(v));
  }
  RITZ_TRY(ritz_restriction_is_distinct(g->rstr, &is_distinct));
  return RUN(g, "restriction_add_list", g->n, RITZ_INT(g->n), RITZ_INT(g->rstr->num_comp), RITZ_INT(g->first),
             RITZ_INT(is_distinct), RITZ_POINTER(list), RITZ_POINTER(u), RITZ_POINTER(v));
}

static int run_offsets(const Range *g, bool sums, const CeedInt *offsets, const void *u, void *v) {
  const void *orients;
  if (g->is_list) return run_list(g, sums, offsets, u, v);
  RITZ_TRY(get_orients(g, &orients));
  if (g->rstr->type == CEED_RESTRICTION_POINTS) {
    return RUN(g, sums ? "restriction_add_points" : "restriction_gather_points", g->n, RITZ_INT(g->n),
               RITZ_INT(g->rstr->num_comp), RITZ_INT(g->first_elem), RITZ_INT(g->size), RITZ_POINTER(offsets),
               RITZ_POINTER(u), RITZ_POINTER(v));
  }
  if (g->is_curl) {
    return RUN(g, sums ? "restriction_add_curl" : "restriction_gather_curl", g->n, RITZ_INT(g->n),
               RITZ_INT(g->rstr->num_comp), RITZ_INT(g->first), RITZ_INT(g->comp_stride), RITZ_INT(g->size),
               RITZ_INT(g->is_signed), RITZ_POINTER(offsets), RITZ_POINTER(orients), RITZ_POINTER(u),
               RITZ_POINTER(v));
  }
  if (sums && g->comp_stride == 1 && g->rstr->num_comp > 1) {
    return RUN(g, "restriction_add_interlaced", (int64_t)g->n * g->rstr->num_comp, RITZ_INT(g->n),
               RITZ_INT(g->rstr->num_comp), RITZ_INT(g->first), RITZ_POINTER(offsets), RITZ_POINTER(orients),
               RITZ_POINTER(u), RITZ_POINTER(v));
  }
  return RUN(g, sums ? "restriction_add" : "restriction_gather", g->n, RITZ_INT(g->n),
             RITZ_INT(g->rstr->num_comp), RITZ_INT(g->first), RITZ_INT(g->comp_stride), RITZ_POINTER(offsets),
             RITZ_POINTER(orients), RITZ_POINTER(u), RITZ_POINTER(v));
}

static int run_direct(const Range *g, bool sums, const void *u, void *v) {
  if (g->rstr->type == CEED_RESTRICTION_STRIDED) return run_strided(g, sums, u, v);
  const CeedInt *offsets;
  RITZ_TRY(CeedElemRestrictionGetOffsets(g->rstr, CEED_MEM_DEVICE, &offsets));
  int ierr = run_offsets(g, sums, offsets, u, v);
  int restored = CeedElemRestrictionRestoreOffsets(g->rstr, &offsets);
  return ierr ? ierr : restored;
}

// ---- The map ----

// Where node t of the range is in the L-vector (component 0); -1: nowhere, a place beyond an element's last
// point.
static CeedSize l_node(const Range *g, CeedInt t) {
  if (g->is_list) return (CeedSize)g->rstr->offsets[g->first + t] * g->rstr->num_comp;
  CeedInt elem = g->first_elem + t / g->size, i = t % g->size;
  bool is_padding =
      g->rstr->type == CEED_RESTRICTION_POINTS && i >= ritz_restriction_points_in(g->rstr, elem);
  return is_padding ? -1 : ritz_restriction_l_index(g->rstr, elem, i, 0);
}

// Arrays of a map on the host, owned. counts: for each L-index from `low` on, first how often it occurs, then
// where its next entry goes.
typedef struct {
  CeedSize low, span; // smallest L-index, number of them up to the largest
  CeedInt num_entries;
  CeedInt *counts, *starts, *entries;
  int64_t *nodes;
} HostMap;

static void free_host_map(HostMap *h) {
  RITZ_FREE(&h->counts);
  RITZ_FREE(&h->starts);
  RITZ_FREE(&h->entries);
  RITZ_FREE(&h->nodes);
}

static int count_nodes(const Range *g, HostMap *h, Map *map) {
  CeedSize high = -1;
  h->low = g->rstr->l_size;
  for (CeedInt t = 0; t < g->n; t++) {
    CeedSize node = l_node(g, t);
    if (node < 0) continue;
    h->num_entries++;
    if (node < h->low) h->low = node;
    if (node > high) high = node;
  }
  if (h->num_entries == 0) return CEED_ERROR_SUCCESS;
  h->span = high - h->low + 1;
  RITZ_TRY(RITZ_CALLOC(g->rstr->obj.ceed, (size_t)h->span, &h->counts));
  for (CeedInt t = 0; t < g->n; t++) {
    CeedSize node = l_node(g, t);
    if (node >= 0 && h->counts[node - h->low]++ == 0) map->num_nodes++;
  }
  return CEED_ERROR_SUCCESS;
}

// Sorting by counting: the nodes of the E-vector come to their L-nodes in order.
static int sort_nodes(const Range *g, HostMap *h, const Map *map) {
  Ceed ceed = g->rstr->obj.ceed;
  CeedInt k = 0, end = 0;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)map->num_nodes, &h->nodes));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)map->num_nodes + 1, &h->starts));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)h->num_entries, &h->entries));
  for (CeedSize l = 0; l < h->span; l++) {
    CeedInt count = h->counts[l];
    if (count == 0) continue;
    h->nodes[k] = h->low + l;
    h->starts[k++] = h->counts[l] = end;
    end += count;
  }
  h->starts[k] = end;
  for (CeedInt t = 0; t < g->n; t++) {
    CeedSize node = l_node(g, t);
    if (node >= 0) h->entries[h->counts[node - h->low]++] = t;
  }
  return CEED_ERROR_SUCCESS;
}

// Whether the components of different L-nodes are different entries, which they are where all nodes lie in
// the first places of blocks of num_comp * comp_stride entries: in all usual layouts.
static bool is_separate(const Range *g, const HostMap *h, const Map *map) {
  CeedSize block = (CeedSize)g->rstr->num_comp * g->comp_stride;
  if (g->rstr->num_comp == 1) return true;
  for (CeedInt k = 0; k < map->num_nodes; k++) {
    if (block <= 0 || h->nodes[k] % block >= g->comp_stride) return false;
  }
  return true;
}

static int upload_map(const Range *g, const HostMap *h, Map *map) {
  Ceed ceed = g->rstr->obj.ceed;
  size_t num_nodes = (size_t)map->num_nodes;
  map->is_separate = is_separate(g, h, map);
  RITZ_TRY(ritz_gpu_upload(ceed, num_nodes * sizeof(*h->nodes), h->nodes, &map->nodes));
  RITZ_TRY(ritz_gpu_upload(ceed, (num_nodes + 1) * sizeof(*h->starts), h->starts, &map->starts));
  return ritz_gpu_upload(ceed, (size_t)h->num_entries * sizeof(*h->entries), h->entries, &map->entries);
}

static int make_map(const Range *g, Map *map) {
  HostMap h = {0};
  int ierr = count_nodes(g, &h, map);
  if (!ierr) ierr = sort_nodes(g, &h, map);
  if (!ierr) ierr = upload_map(g, &h, map);
  free_host_map(&h);
  if (ierr) {
    free_map(g->rstr->obj.ceed, map);
    return ierr;
  }
  map->first_elem = g->first_elem;
  map->num_elem = g->num_elem;
  return CEED_ERROR_SUCCESS;
}

static int get_map(const Range *g, const Map **found) {
  Data *data;
  RITZ_TRY(get_data(g->rstr, &data));
  Map *map = g->num_elem == g->rstr->num_elem ? &data->all : &data->part;
  if (g->is_list) map = &data->list;
  if (map->first_elem != g->first_elem || map->num_elem != g->num_elem) {
    free_map(g->rstr->obj.ceed, map);
    RITZ_TRY(make_map(g, map));
  }
  *found = map;
  return CEED_ERROR_SUCCESS;
}

static int sum_components(const Range *g, const Map *map, CeedInt first_comp, CeedInt end_comp,
                          const void *orients, const void *u, void *v) {
  if (g->is_curl) {
    return RUN(g, "restriction_sum_curl", map->num_nodes, RITZ_INT(map->num_nodes), RITZ_INT(first_comp),
               RITZ_INT(end_comp), RITZ_INT(g->n), RITZ_INT(g->first), RITZ_INT(g->comp_stride),
               RITZ_INT(g->size), RITZ_INT(g->is_signed), RITZ_POINTER(map->nodes), RITZ_POINTER(map->starts),
               RITZ_POINTER(map->entries), RITZ_POINTER(orients), RITZ_POINTER(u), RITZ_POINTER(v));
  }
  return RUN(g, "restriction_sum", map->num_nodes, RITZ_INT(map->num_nodes), RITZ_INT(first_comp),
             RITZ_INT(end_comp), RITZ_INT(g->n), RITZ_INT(g->first), RITZ_INT(g->comp_stride),
             RITZ_POINTER(map->nodes), RITZ_POINTER(map->starts), RITZ_POINTER(map->entries),
             RITZ_POINTER(orients), RITZ_POINTER(u), RITZ_POINTER(v));
}

// Sums by maps. Components are added one after the other where those of different nodes share an entry.
static int run_by_map(const Range *g, const void *u, void *v) {
  CeedInt num_comp = g->rstr->num_comp;
  const Map *map;
  const void *orients;
  RITZ_TRY(get_map(g, &map));
  RITZ_TRY(get_orients(g, &orients));
  if (map->is_separate) return sum_components(g, map, 0, num_comp, orients, u, v);
  for (CeedInt c = 0; c < num_comp; c++) RITZ_TRY(sum_components(g, map, c, c + 1, orients, u, v));
  return CEED_ERROR_SUCCESS;
}

// ---- Action ----

static bool has_own_entries(const Range *g) {
  return g->rstr->type == CEED_RESTRICTION_STRIDED && is_disjoint(g);
}

static bool needs_map(const Range *g) {
  return !has_own_entries(g) && ritz_gpu(g->rstr->obj.ceed)->is_deterministic;
}

bool ritz_gpu_restriction_needs_map(CeedElemRestriction rstr) {
  const RitzRestrictionAction action = {.num_blocks = rstr->num_elem};
  const Range g = range_of(rstr, &action);
  return needs_map(&g);
}

static int run_restriction(const Range *g, bool sums, const void *u, void *v) {
  return sums && needs_map(g) ? run_by_map(g, u, v) : run_direct(g, sums, u, v);
}

static int find_kernel(Ceed ceed, CeedScalarType precision, RitzGpuKernel **kernel) {
  const bool is_in_scalars = precision == CEED_SCALAR_TYPE;
  return ritz_gpu_base(ceed, is_in_scalars ? RITZ_BASE_RESTRICTIONS : RITZ_BASE_FLOAT_RESTRICTIONS, kernel);
}

int ritz_gpu_restriction_apply(CeedElemRestriction rstr, const RitzRestrictionAction *action,
                               CeedScalarType precision, const void *u, void *v) {
  Range g = range_of(rstr, action);
  RITZ_TRY(find_kernel(rstr->obj.ceed, precision, &g.kernel));
  return run_restriction(&g, action->t_mode == CEED_TRANSPOSE, u, v);
}

int ritz_gpu_restriction_apply_list(CeedElemRestriction rstr, CeedTransposeMode t_mode, CeedInt first_elem,
                                    CeedInt num_elem, const CeedScalar *u, CeedScalar *v) {
  Range g = list_of(rstr, first_elem, num_elem);
  const bool sums = t_mode == CEED_TRANSPOSE;
  bool needs_sums;
  RITZ_TRY(ritz_gpu_base(rstr->obj.ceed, RITZ_BASE_RESTRICTIONS, &g.kernel));
  RITZ_TRY(ritz_gpu_restriction_list_needs_map(rstr, &needs_sums));
  return sums && needs_sums ? run_by_map(&g, u, v) : run_direct(&g, sums, u, v);
}

int ritz_gpu_restriction_list_needs_map(CeedElemRestriction rstr, bool *needs_map) {
  bool is_distinct = true;
  const bool is_ordered = ritz_gpu(rstr->obj.ceed)->is_deterministic;
  if (is_ordered) RITZ_TRY(ritz_restriction_is_distinct(rstr, &is_distinct));
  *needs_map = is_ordered && !is_distinct;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_restriction_sum(CeedElemRestriction rstr, bool has_orients, CeedScalarType precision,
                             const void *u, void *v) {
  const RitzRestrictionAction action = {CEED_TRANSPOSE, 0, rstr->num_elem, has_orients, has_orients};
  return ritz_gpu_restriction_apply(rstr, &action, precision, u, v);
}
