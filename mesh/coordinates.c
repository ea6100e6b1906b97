// SPDX-License-Identifier: BSD-2-Clause
// The geometry as a Ceed field: restrictions, an L-vector, bases. Public functions.
#include <float.h>
#include <math.h>
#include <ritz/basis.h>
#include <stdlib.h>

#include "mesh/mesh.h"

// Coordinates of shared nodes may differ by the rounding of the numbers in a file.
static const double relative_tolerance = 1e-12;

typedef struct {
  RitzMesh mesh; // borrowed
  Ceed ceed;     // borrowed
  int64_t num_nodes;
  int64_t *nodes;   // owned, [num_points] continuous numbering; NULL: that of a box
  int64_t *scratch; // owned, [num_slots][nodes of an element]: of boxes
  double *x;        // owned, [num_nodes][space_dim]: position in the first element, NAN before; NULL: between
                    // planes
} Field;

static void clear_sampling(Field *field) {
  RITZ_FREE(&field->nodes);
  RITZ_FREE(&field->scratch);
  RITZ_FREE(&field->x);
}

// Numbers of the nodes of an element of a block.
static const int64_t *nodes_of(const Field *field, const RitzMeshBlock *block, int slot, int64_t e) {
  if (field->nodes) return field->nodes + block->node_base + e * block->num_nodes;
  int64_t *nodes = field->scratch + slot * block->num_nodes;

  ritz_mesh_grid_nodes(field->mesh, field->mesh->order, e, nodes);
  return nodes;
}

// Distance up to which positions in one element count as equal.
static double allowed_gap(CeedInt space_dim, int64_t num_local, const double *elem_x) {
  double low[3], high[3], allowed = 0.0;

  ritz_mesh_bounds(space_dim, num_local, elem_x, low, high);
  for (CeedInt c = 0; c < space_dim; c++) {
    double rounding = 8.0 * DBL_EPSILON * fmax(fabs(low[c]), fabs(high[c]));

    allowed = fmax(allowed, fmax(rounding, relative_tolerance * (high[c] - low[c])));
  }
  return allowed;
}

// Enters the positions of those nodes of one element that are in a range. False when an earlier element
// disagrees.
static bool share_element(const Field *field, int64_t num_local, const int64_t *nodes, const double *elem_x,
                          int64_t first, int64_t count) {
  const CeedInt space_dim = field->mesh->space_dim;

  for (int64_t i = 0; i < num_local; i++) {
    double *x = field->x + nodes[i] * space_dim;

    if (nodes[i] < first || nodes[i] >= first + count) continue;
    for (CeedInt c = 0; c < space_dim; c++) {
      if (isnan(x[c])) x[c] = elem_x[i * space_dim + c];
      const double gap = fabs(x[c] - elem_x[i * space_dim + c]);

      if (gap > 0.0 && gap > allowed_gap(space_dim, num_local, elem_x)) return false;
    }
  }
  return true;
}

// Positions of one block's nodes, shared by threads.
typedef struct {
  Field *field;
  const RitzMeshBlock *block;
  bool *disagree; // owned, [num_slots]
} Sharing;

static void find_bounds(const void *data, int64_t first, int64_t count, int64_t *low, int64_t *high) {
  const Sharing *s = data;
  const RitzMesh mesh = s->field->mesh;
  const int64_t num = s->block->num_nodes, *nodes = s->field->nodes;

  *low = INT64_MAX;
  *high = -1;
  for (int64_t e = first; e < first + count; e++) {
    int64_t corners[2];

    if (!nodes) ritz_mesh_grid_range(mesh, mesh->order, e, corners);
    for (int64_t i = 0; i < (nodes ? num : 2); i++) {
      const int64_t node = nodes ? nodes[s->block->node_base + e * num + i] : corners[i];

      if (node < *low) *low = node;
      if (node > *high) *high = node;
    }
  }
}

static void share_elements(const void *data, int slot, int64_t first_elem, int64_t num_elem, int64_t first,
                           int64_t count) {
  const Sharing *s = data;
  const RitzMesh mesh = s->field->mesh;

  for (int64_t e = first_elem; e < first_elem + num_elem && !s->disagree[slot]; e++) {
    const double *x = mesh->coords + (s->block->node_base + e * s->block->num_nodes) * mesh->space_dim;

    s->disagree[slot] =
        !share_element(s->field, s->block->num_nodes, nodes_of(s->field, s->block, slot, e), x, first, count);
  }
}

static void forget_positions(void *data, int slot, int64_t first, int64_t count) {
  const Field *field = data;
  const CeedInt space_dim = field->mesh->space_dim;

  (void)slot;
  for (int64_t i = first * space_dim; i < (first + count) * space_dim; i++) field->x[i] = NAN;
}

// Collects the positions of the nodes. *agree false: two elements disagree on one.
static int share_positions(Field *field, bool *agree) {
  const RitzMesh mesh = field->mesh;
  Sharing s = {.field = field};
  int num_slots = 1, ierr;

  *agree = true;
  RITZ_TRY(ritz_run_ranges_slots(mesh->ceed, &num_slots));
  RITZ_TRY(RITZ_CALLOC(mesh->ceed, (size_t)num_slots, &s.disagree));
  RITZ_TRY_CLEANUP(ritz_run_ranges(mesh->ceed, field->num_nodes, forget_positions, field));
  for (int b = 0; b < mesh->num_blocks && *agree; b++) {
    s.block = &mesh->blocks[b];
    const RitzNodeSum sum = {.num_nodes = field->num_nodes,
                             .num_elem = s.block->num_elem,
                             .bounds = find_bounds,
                             .add = share_elements,
                             .data = &s};

    RITZ_TRY_CLEANUP(ritz_run_node_sum(mesh->ceed, &sum));
    for (int slot = 0; slot < num_slots; slot++) *agree &= !s.disagree[slot];
  }
cleanup:
  RITZ_FREE(&s.disagree);
  return ierr;
}

static int number_nodes(Field *field) {
  const RitzMesh mesh = field->mesh;
  int num_slots = 1;

  if (mesh->grid[0]) {
    field->num_nodes = ritz_mesh_grid_num_nodes(mesh, mesh->order);
    RITZ_TRY(ritz_run_ranges_slots(mesh->ceed, &num_slots));
    return RITZ_MALLOC(field->ceed, (size_t)(num_slots * mesh->blocks[0].num_nodes), &field->scratch);
  }
  RITZ_TRY(RITZ_MALLOC(field->ceed, (size_t)mesh->num_points, &field->nodes));
  return ritz_mesh_number_nodes(mesh, mesh->order, &field->num_nodes, field->nodes);
}

static int number_positions(Field *field, bool *is_shared) {
  const RitzMesh mesh = field->mesh;

  RITZ_TRY(number_nodes(field));
  *is_shared = field->num_nodes <= INT32_MAX / mesh->space_dim;
  if (mesh->is_rectangular) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(field->ceed, (size_t)(field->num_nodes * mesh->space_dim), &field->x));
  return *is_shared ? share_positions(field, is_shared) : CEED_ERROR_SUCCESS;
}

// ---- Vectors ----

// Values as they are given, [length], or nodes [size[2]][size[1]][size[0]] between planes.
typedef struct {
  const double *values;
  double *planes[3]; // owned
  CeedInt dim;
  int64_t size[3];
  CeedScalar *to;
} Filling;

static void copy_range(void *data, int slot, int64_t first, int64_t count) {
  const Filling *f = data;

  (void)slot;
  for (int64_t i = first; i < first + count; i++) f->to[i] = (CeedScalar)f->values[i];
}

static void place_range(void *data, int slot, int64_t first, int64_t count) {
  const Filling *f = data;
  CeedScalar *x = f->to + first * f->dim;
  int64_t at[3];

  (void)slot;
  ritz_mesh_grid_place(first, f->size, at);
  for (int64_t i = 0; i < count; i++, x += f->dim) {
    for (CeedInt d = 0; d < f->dim; d++) x[d] = (CeedScalar)f->planes[d][at[d]];
    for (int d = 0; d < 2 && ++at[d] == f->size[d]; d++) at[d] = 0;
    at[2] += at[0] == 0 && at[1] == 0;
  }
}

static int fill_vector(RitzMesh mesh, CeedVector x, int64_t num, RitzRangeFunction run, Filling *filling) {
  RITZ_TRY(CeedVectorGetArrayWrite(x, CEED_MEM_HOST, &filling->to));
  const int ierr = ritz_run_ranges(mesh->ceed, num, run, filling);

  return ritz_first_error(ierr, CeedVectorRestoreArray(x, &filling->to));
}

static int create_vector(const Field *field, CeedSize length, const double *values, CeedVector *x) {
  Filling filling = {.values = values};

  RITZ_TRY(CeedVectorCreate(field->ceed, length, x));
  return fill_vector(field->mesh, *x, length, copy_range, &filling);
}

// Of a rectangular box.
static int create_vector_of_planes(const Field *field, CeedVector *x) {
  const RitzMesh mesh = field->mesh;
  Filling filling = {.dim = mesh->dim, .size = {1, 1, 1}};
  CeedInt n[3];
  bool is_box = false;
  int64_t elem = -1;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY_CLEANUP(RitzMeshGetRectangularBox(mesh, &is_box, n, filling.planes, &elem));
  for (CeedInt d = 0; d < mesh->dim; d++) filling.size[d] = n[d] + 1;
  RITZ_TRY_CLEANUP(CeedVectorCreate(field->ceed, field->num_nodes * mesh->dim, x));
  ierr = fill_vector(mesh, *x, field->num_nodes, place_range, &filling);
cleanup:
  for (int d = 0; d < 3; d++) free(filling.planes[d]);
  return ierr;
}

// ---- Restrictions ----

typedef struct {
  const Field *field;
  const RitzMeshBlock *block;
  CeedInt *offsets;
} Offsets;

static void fill_offsets(void *data, int slot, int64_t first, int64_t count) {
  const Offsets *o = data;
  const int64_t num = o->block->num_nodes;
  const CeedInt space_dim = o->field->mesh->space_dim;

  for (int64_t e = first; e < first + count; e++) {
    const int64_t *nodes = nodes_of(o->field, o->block, slot, e);

    for (int64_t i = 0; i < num; i++) o->offsets[e * num + i] = (CeedInt)(nodes[i] * space_dim);
  }
}

// Restriction of a block to its nodes among num_nodes.
static int create_with_offsets(const Field *field, const RitzMeshBlock *block, int64_t num_nodes,
                               CeedElemRestriction *rstr) {
  const CeedInt space_dim = field->mesh->space_dim;
  Offsets o = {.field = field, .block = block};

  RITZ_TRY(RITZ_MALLOC(field->ceed, (size_t)(block->num_elem * block->num_nodes), &o.offsets));
  int ierr = ritz_run_elements(field->mesh->ceed, block->num_elem, fill_offsets, &o);

  ritz_memory_give(o.offsets);
  if (!ierr)
    ierr =
        CeedElemRestrictionCreate(field->ceed, (CeedInt)block->num_elem, (CeedInt)block->num_nodes, space_dim,
                                  1, num_nodes * space_dim, CEED_MEM_HOST, CEED_OWN_POINTER, o.offsets, rstr);
  if (ierr) free(o.offsets);
  return ierr;
}

static int create_strided(const Field *field, CeedElemRestriction *rstr) {
  const RitzMeshBlock *block = &field->mesh->blocks[0];
  const CeedInt space_dim = field->mesh->space_dim;
  const CeedInt strides[3] = {space_dim, 1, (CeedInt)block->num_nodes * space_dim};

  return CeedElemRestrictionCreateStrided(field->ceed, (CeedInt)block->num_elem, (CeedInt)block->num_nodes,
                                          space_dim, field->mesh->num_points * space_dim, strides, rstr);
}

// Every element has its own nodes. Strides have no offset, so several blocks need their nodes listed.
static int create_separate(Field *field, CeedElemRestriction rstr[], CeedVector *x) {
  const RitzMesh mesh = field->mesh;

  if (mesh->num_blocks == 1) {
    RITZ_TRY(create_strided(field, rstr));
    return create_vector(field, mesh->num_points * mesh->space_dim, mesh->coords, x);
  }
  RITZ_REQUIRE(mesh->num_points <= INT32_MAX / mesh->space_dim, field->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzMeshCreateBlockCoordinates: %lld nodes exceed the 32-bit offsets of a restriction",
               (long long)mesh->num_points);
  for (int64_t i = 0; i < mesh->num_points; i++) field->nodes[i] = i;
  for (int b = 0; b < mesh->num_blocks; b++) {
    RITZ_TRY(create_with_offsets(field, &mesh->blocks[b], mesh->num_points, &rstr[b]));
  }
  return create_vector(field, mesh->num_points * mesh->space_dim, mesh->coords, x);
}

static int create_shared(const Field *field, CeedElemRestriction rstr[], CeedVector *x) {
  const RitzMesh mesh = field->mesh;

  for (int b = 0; b < mesh->num_blocks; b++) {
    RITZ_TRY(create_with_offsets(field, &mesh->blocks[b], field->num_nodes, &rstr[b]));
  }
  if (!field->x) return create_vector_of_planes(field, x);
  return create_vector(field, field->num_nodes * mesh->space_dim, field->x, x);
}

static int check_counts(RitzMesh mesh, Ceed ceed, const char *call) {
  for (int b = 0; b < mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &mesh->blocks[b];

    RITZ_REQUIRE(block->num_elem <= INT32_MAX && block->num_nodes <= INT32_MAX / mesh->space_dim, ceed,
                 CEED_ERROR_UNSUPPORTED,
                 "%s: %lld elements of %lld nodes exceed the 32-bit counts of a restriction", call,
                 (long long)block->num_elem, (long long)block->num_nodes);
  }
  return CEED_ERROR_SUCCESS;
}

static int create_coordinates(RitzMesh mesh, Ceed ceed, const char *call, CeedElemRestriction rstr[],
                              CeedVector *x) {
  Field field = {.mesh = mesh, .ceed = ceed};
  bool is_shared = false;

  for (int b = 0; b < mesh->num_blocks; b++) rstr[b] = NULL;
  *x = NULL;
  RITZ_TRY(check_counts(mesh, ceed, call));
  int ierr = number_positions(&field, &is_shared);

  if (!ierr) ierr = is_shared ? create_shared(&field, rstr, x) : create_separate(&field, rstr, x);
  clear_sampling(&field);
  if (ierr) {
    for (int b = 0; b < mesh->num_blocks; b++) CeedElemRestrictionDestroy(&rstr[b]);
    CeedVectorDestroy(x);
  }
  return ierr;
}

int RitzMeshCreateCoordinates(RitzMesh mesh, Ceed ceed, CeedElemRestriction *rstr, CeedVector *x) {
  RITZ_HANDLE(mesh, ceed);
  RITZ_ARGUMENT(mesh->ceed, ceed);
  RITZ_ARGUMENT(mesh, rstr);
  RITZ_ARGUMENT(mesh, x);
  *rstr = NULL;
  *x = NULL;
  RITZ_TRY(ritz_mesh_require_one_block(mesh, "RitzMeshCreateCoordinates", "RitzMeshCreateBlockCoordinates"));
  return create_coordinates(mesh, ceed, "RitzMeshCreateCoordinates", rstr, x);
}

int RitzMeshCreateBlockCoordinates(RitzMesh mesh, Ceed ceed, CeedElemRestriction rstr[], CeedVector *x) {
  RITZ_HANDLE(mesh, ceed);
  RITZ_ARGUMENT(mesh->ceed, ceed);
  RITZ_ARGUMENT(mesh, rstr);
  RITZ_ARGUMENT(mesh, x);
  return create_coordinates(mesh, ceed, "RitzMeshCreateBlockCoordinates", rstr, x);
}

int RitzMeshCreateBlockBasis(RitzMesh mesh, CeedInt block, Ceed ceed, CeedInt quad_degree, CeedBasis *basis) {
  RITZ_HANDLE(mesh, ceed);
  RITZ_ARGUMENT(mesh->ceed, ceed);
  RITZ_ARGUMENT(mesh, basis);
  RITZ_TRY(ritz_mesh_check_block(mesh, block, "RitzMeshCreateBlockBasis"));
  return RitzBasisCreateLagrange(ceed, mesh->blocks[block].topology, mesh->space_dim, mesh->order,
                                 quad_degree, basis);
}
