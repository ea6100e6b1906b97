// SPDX-License-Identifier: BSD-2-Clause
// Checks of single elements of a draft: sizes, vertices, coordinates, duplicates, orientation. Called by
// ritz_mesh_build and refinement; what needs common facets is checked in mesh/build.c.
#include "mesh/mesh.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

int ritz_mesh_error(Ceed ceed, const char *source, const int64_t *places, int64_t index, int code,
                    const char *format, ...) {
  char text[600];
  va_list args;

  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  if (!places) return CeedError(ceed, code, "%s: %s", source, text);
  return CeedError(ceed, code, "%s:%lld: %s", source, (long long)places[index], text);
}

// ---- Sizes ----

// Everything of a block that follows from its shape and size; `base` is the block before it.
static int lay_out_block(Ceed ceed, const char *source, const RitzMeshDraft *draft, RitzMeshBlock *block,
                         const RitzMeshBlock *base) {
  const RitzMeshShape *shape = ritz_mesh_shape(block->topology);

  if (!shape || shape->dim != draft->dim || (base && base->topology >= block->topology)) {
    return ritz_mesh_error(ceed, source, NULL, 0, CEED_ERROR_MAJOR,
                           "elements of dimension %d in space of dimension %d are no mesh%s", (int)draft->dim,
                           (int)draft->space_dim,
                           shape && base ? ": their blocks must ascend by shape and have one dimension" : "");
  }
  if (block->num_elem < 1 && !draft->may_be_empty) {
    return ritz_mesh_error(ceed, source, NULL, 0, CEED_ERROR_MAJOR, "the mesh has no elements%s%s",
                           base ? " in its block of " : "", base ? shape->plural : "");
  }
  block->num_corners = shape->num_corners;
  block->num_nodes = ritz_mesh_num_nodes(block->topology, draft->order);
  block->first = base ? base->first + base->num_elem : 0;
  block->corner_base = base ? base->corner_base + base->num_elem * base->num_corners : 0;
  block->node_base = base ? base->node_base + base->num_elem * base->num_nodes : 0;
  // The largest arrays, with room for the sums over 4 blocks.
  const int64_t most = 4 * 12 * sizeof(int64_t) * 8;

  if (ritz_mesh_product(2, (const int64_t[]){block->num_elem, most}) < 0 ||
      ritz_mesh_product(3, (const int64_t[]){block->num_elem, block->num_nodes, most}) < 0) {
    return ritz_mesh_error(ceed, source, NULL, 0, CEED_ERROR_MAJOR, "%lld elements of order %d are too many",
                           (long long)block->num_elem, (int)draft->order);
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_draft_lay_out(Ceed ceed, const char *source, RitzMeshDraft *draft) {
  if (draft->order < 1 || draft->order > INT32_MAX / 2) {
    return ritz_mesh_error(ceed, source, NULL, 0, CEED_ERROR_MAJOR, "geometry of order %d, needed 1 to %d",
                           (int)draft->order, INT32_MAX / 2);
  }
  if (draft->num_blocks == 0) {
    draft->blocks[0] = (RitzMeshBlock){.topology = draft->topology, .num_elem = draft->num_elem};
    draft->num_blocks = 1;
  }
  for (int b = 0; b < draft->num_blocks; b++) {
    RITZ_TRY(lay_out_block(ceed, source, draft, &draft->blocks[b], b > 0 ? &draft->blocks[b - 1] : NULL));
  }
  const RitzMeshBlock *last = &draft->blocks[draft->num_blocks - 1];

  draft->topology = draft->blocks[0].topology;
  draft->num_elem = last->first + last->num_elem;
  draft->num_places = last->corner_base + last->num_elem * last->num_corners;
  draft->num_points = last->node_base + last->num_elem * last->num_nodes;
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_check_sizes(Ceed ceed, const char *source, RitzMeshDraft *draft) {
  const CeedInt dim = draft->dim, space_dim = draft->space_dim;

  if (dim < 1 || dim > 3 || space_dim < dim || space_dim > 3) {
    return ritz_mesh_error(ceed, source, NULL, 0, CEED_ERROR_MAJOR,
                           "elements of dimension %d in space of dimension %d are no mesh", (int)dim,
                           (int)space_dim);
  }
  return ritz_mesh_draft_lay_out(ceed, source, draft);
}

// ---- Vertices and coordinates ----

static int check_vertices_of(Ceed ceed, const char *source, const RitzMeshDraft *draft, int64_t e,
                             int num_corners, const int64_t *vertices) {
  int64_t sorted[RITZ_MESH_MAX_CORNERS];

  for (int k = 0; k < num_corners; k++) {
    sorted[k] = vertices[k];
    if (sorted[k] >= 0 && sorted[k] < draft->num_vertices) continue;
    return ritz_mesh_error(ceed, source, draft->elem_place, e, CEED_ERROR_MAJOR,
                           "element %lld has vertex %lld, there are %lld", (long long)e, (long long)sorted[k],
                           (long long)draft->num_vertices);
  }
  ritz_mesh_sort_vertices(num_corners, sorted);
  for (int k = 1; k < num_corners; k++) {
    if (sorted[k] != sorted[k - 1]) continue;
    return ritz_mesh_error(ceed, source, draft->elem_place, e, CEED_ERROR_MAJOR,
                           "element %lld has vertex %lld twice (a periodic direction needs at least 3 "
                           "elements)",
                           (long long)e, (long long)sorted[k]);
  }
  return CEED_ERROR_SUCCESS;
}

// Distinct vertices also keep the edges and facets of one element apart.
int ritz_mesh_check_vertices(Ceed ceed, const char *source, const RitzMeshDraft *draft) {
  for (int b = 0; b < draft->num_blocks; b++) {
    const RitzMeshBlock *block = &draft->blocks[b];
    const int64_t *vertices = draft->elem_vertices + block->corner_base;

    for (int64_t e = 0; e < block->num_elem; e++, vertices += block->num_corners) {
      RITZ_TRY(check_vertices_of(ceed, source, draft, block->first + e, block->num_corners, vertices));
    }
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_check_coordinates(Ceed ceed, const char *source, const RitzMeshDraft *draft) {
  for (int b = 0; b < draft->num_blocks; b++) {
    const RitzMeshBlock *block = &draft->blocks[b];
    const int64_t num_per_elem = block->num_nodes * draft->space_dim;
    const double *x = draft->coords + block->node_base * draft->space_dim;

    for (int64_t i = 0; i < block->num_elem * num_per_elem; i++) {
      if (isfinite(x[i])) continue;
      int64_t e = block->first + i / num_per_elem;

      return ritz_mesh_error(ceed, source, draft->elem_place, e, CEED_ERROR_MAJOR,
                             "element %lld has a coordinate that is not a finite number", (long long)e);
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int check_duplicates_of(Ceed ceed, const char *source, const RitzMeshDraft *draft,
                               const RitzMeshBlock *block, RitzMeshTable *table) {
  const int64_t *vertices = draft->elem_vertices + block->corner_base;

  for (int64_t e = 0; e < block->num_elem; e++, vertices += block->num_corners) {
    int64_t key[RITZ_MESH_MAX_CORNERS], number;

    for (int k = 0; k < block->num_corners; k++) key[k] = vertices[k];
    ritz_mesh_sort_vertices(block->num_corners, key);
    RITZ_TRY(ritz_mesh_table_insert(ceed, table, key, &number));
    if (number == e) continue;
    return ritz_mesh_error(ceed, source, draft->elem_place, block->first + e, CEED_ERROR_MAJOR,
                           "elements %lld and %lld have the same vertices (a periodic direction needs at "
                           "least 3 elements)",
                           (long long)(block->first + number), (long long)(block->first + e));
  }
  return CEED_ERROR_SUCCESS;
}

// Elements of different shapes have different numbers of vertices.
int ritz_mesh_check_duplicates(Ceed ceed, const char *source, const RitzMeshDraft *draft) {
  int ierr = CEED_ERROR_SUCCESS;

  for (int b = 0; b < draft->num_blocks && !ierr; b++) {
    const RitzMeshBlock *block = &draft->blocks[b];
    RitzMeshTable table = {0};

    ierr = ritz_mesh_table_create(ceed, block->num_corners, block->num_elem, &table);
    if (!ierr) ierr = check_duplicates_of(ceed, source, draft, block, &table);
    ritz_mesh_table_clear(&table);
  }
  return ierr;
}

// ---- Orientation ----

static void swap_vertices(int64_t *a, int64_t *b) {
  int64_t kept = *a;

  *a = *b;
  *b = kept;
}

static void swap_nodes(CeedInt space_dim, double *a, double *b) {
  for (CeedInt c = 0; c < space_dim; c++) {
    double kept = a[c];

    a[c] = b[c];
    b[c] = kept;
  }
}

// Mirrors the numbering of a line or quadrilateral along its first direction.
static void reverse_rows(const RitzMeshDraft *draft, const RitzMeshBlock *block, int64_t *vertices,
                         double *x) {
  const int64_t row = draft->order + 1, num_rows = block->num_nodes / row, space_dim = draft->space_dim;

  for (int k = 0; k < block->num_corners; k += 2) swap_vertices(&vertices[k], &vertices[k + 1]);
  for (int64_t j = 0; j < num_rows; j++, x += row * space_dim) {
    for (int64_t i = 0; i < row / 2; i++) {
      swap_nodes(draft->space_dim, x + i * space_dim, x + (row - 1 - i) * space_dim);
    }
  }
}

// Exchanges the directions of a triangle.
static void transpose(const RitzMeshDraft *draft, int64_t *vertices, double *x) {
  const int64_t p = draft->order, space_dim = draft->space_dim;

  swap_vertices(&vertices[1], &vertices[2]);
  for (int64_t j = 0; j <= p; j++) {
    for (int64_t i = 0; i < j && i + j <= p; i++) {
      const int64_t at[3] = {i, j, 0}, to[3] = {j, i, 0};

      swap_nodes(draft->space_dim, x + ritz_mesh_lattice_index(CEED_TOPOLOGY_TRIANGLE, p, at) * space_dim,
                 x + ritz_mesh_lattice_index(CEED_TOPOLOGY_TRIANGLE, p, to) * space_dim);
    }
  }
}

// Extremes of the determinants; NaN counts as the smallest.
static void find_extremes(const RitzMeshSampler *s, double *low, double *high) {
  *low = *high = s->det[0];
  for (int64_t i = 0; i < s->num_points; i++) {
    if (!(s->det[i] >= *low)) *low = s->det[i];
    if (s->det[i] > *high) *high = s->det[i];
    if (isnan(*low)) return;
  }
}

// Elements found to be inverted.
typedef struct {
  int64_t num, worst; // elements, the worst one
  double worst_det;
} Inverted;

static int report_inverted(Ceed ceed, const char *source, const RitzMeshDraft *draft,
                           const Inverted *inverted) {
  return ritz_mesh_error(ceed, source, draft->elem_place, inverted->worst, CEED_ERROR_MAJOR,
                         "element %lld is inverted or degenerate: its Jacobian determinant, which must be "
                         "positive and finite, is %.6g at worst; this affects %lld of %lld elements",
                         (long long)inverted->worst, inverted->worst_det, (long long)inverted->num,
                         (long long)draft->num_elem);
}

static void turn(const RitzMeshDraft *draft, const RitzMeshBlock *block, int64_t e, double *x) {
  int64_t *vertices = draft->elem_vertices + block->corner_base + e * block->num_corners;

  if (block->topology == CEED_TOPOLOGY_TRIANGLE) {
    transpose(draft, vertices, x);
  } else {
    reverse_rows(draft, block, vertices, x);
  }
}

// Takes the determinants of an element, turned if that makes them positive: whether they are then. A turned
// element is looked at once more, as its determinants are rounded in another way.
static bool take_element(const RitzMeshDraft *draft, const RitzMeshBlock *block, int64_t e, bool may_reverse,
                         RitzMeshSampler *sampler, double *low, double *high, bool *has_turned) {
  double *x = draft->coords + (block->node_base + e * block->num_nodes) * draft->space_dim;

  ritz_mesh_sampler_take(sampler, x);
  find_extremes(sampler, low, high);
  if (may_reverse && *high < 0.0 && isfinite(*low)) {
    turn(draft, block, e, x);
    *has_turned = true;
    ritz_mesh_sampler_take(sampler, x);
    find_extremes(sampler, low, high);
  }
  return *low > 0.0 && isfinite(*high);
}

// Elements of a block, and what each thread has found.
typedef struct {
  const RitzMeshDraft *draft;
  const RitzMeshBlock *block;
  bool may_reverse;
  RitzMeshSampler *samplers; // [num_slots]
  bool *has_turned, *has_bad;
  RitzMeshMeasuring *measuring;
} Orientation;

static void check_range(void *data, int slot, int64_t first, int64_t count) {
  const Orientation *o = data;
  double low, high;

  for (int64_t e = first; e < first + count; e++) {
    if (!take_element(o->draft, o->block, e, o->may_reverse, &o->samplers[slot], &low, &high,
                      &o->has_turned[slot]))
      o->has_bad[slot] = true;
    ritz_mesh_measure_element(o->measuring, slot, o->block->first + e, &o->samplers[slot]);
  }
}

// Equal determinants differ by rounding: the first element with one of the worst is named.
static void find_worst(Orientation *o, Inverted *inverted) {
  for (int64_t e = 0; e < o->block->num_elem; e++) {
    const double worst = inverted->worst_det, slack = isfinite(worst) ? 64 * DBL_EPSILON * fabs(worst) : 0;
    double low, high;

    if (take_element(o->draft, o->block, e, false, &o->samplers[0], &low, &high, &o->has_turned[0])) continue;
    const double bad_det = low > 0.0 ? high : low;
    if (inverted->num++ > 0 && !(bad_det < worst - slack)) continue;
    inverted->worst = o->block->first + e;
    inverted->worst_det = bad_det;
  }
}

static int check_orientation_of(Ceed ceed, RitzMeshDraft *draft, Orientation *o, Inverted *inverted) {
  const int num_slots = o->measuring->num_slots;
  bool has_turned = false, has_bad = false;

  for (int slot = 0; slot < num_slots; slot++) o->has_turned[slot] = o->has_bad[slot] = false;
  RITZ_TRY(ritz_mesh_samplers_create(ceed, o->block->topology, draft->space_dim, draft->order, num_slots,
                                     &o->samplers));
  const int ierr = ritz_run_elements(ceed, o->block->num_elem, check_range, o);
  for (int slot = 0; slot < num_slots; slot++) {
    has_turned |= o->has_turned[slot];
    has_bad |= o->has_bad[slot];
  }
  if (has_turned) draft->grid[0] = draft->grid[1] = draft->grid[2] = 0;
  if (has_bad) find_worst(o, inverted);
  ritz_mesh_samplers_clear(num_slots, &o->samplers);
  return ierr;
}

int ritz_mesh_check_orientation(Ceed ceed, const char *source, RitzMeshDraft *draft, bool may_reverse) {
  const bool is_flat = draft->dim == draft->space_dim && draft->dim < 3;
  RitzMeshMeasuring measuring = {0};
  Orientation o = {.draft = draft, .may_reverse = may_reverse && is_flat, .measuring = &measuring};
  Inverted inverted = {0};
  int num_slots = 1, ierr = CEED_ERROR_SUCCESS;

  if (draft->is_rectangular) draft->measure = ritz_mesh_measure_rows(draft);
  if (draft->measure.is_known) return CEED_ERROR_SUCCESS;
  draft->is_rectangular = false;
  RITZ_TRY(ritz_run_ranges_slots(ceed, &num_slots));
  RITZ_TRY(ritz_mesh_measuring_create(ceed, num_slots, draft->num_elem, &measuring));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, 2 * (size_t)num_slots, &o.has_turned));
  o.has_bad = o.has_turned + num_slots;
  for (int b = 0; b < draft->num_blocks; b++) {
    o.block = &draft->blocks[b];
    RITZ_TRY_CLEANUP(check_orientation_of(ceed, draft, &o, &inverted));
  }
  draft->measure = ritz_mesh_measuring_result(&measuring, draft->num_elem);
  if (inverted.num > 0) ierr = report_inverted(ceed, source, draft, &inverted);
cleanup:
  RITZ_FREE(&o.has_turned);
  ritz_mesh_measuring_clear(&measuring);
  return ierr;
}
