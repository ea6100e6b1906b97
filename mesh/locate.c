// SPDX-License-Identifier: BSD-2-Clause
// Locators: the elements of points. Public functions (contract in ritz/locate.h). Boxes, trees and inverse
// maps are in the files that mesh/locate.h names.
#include <math.h>

#include "mesh/locate.h"

struct RitzLocator_private {
  const RitzClass *class;
  Ceed ceed; // borrowed: lives in mesh
  int ref_count;
  RitzMesh mesh; // counted
  double tolerance;
  RitzBoxTree tree;
  RitzMeshInverse inverse[RITZ_MESH_MAX_BLOCKS]; // of the mesh's blocks
};
const RitzClass ritz_locator_class = {.name = "RitzLocator"};

static const double default_tolerance = 1e-10, largest_tolerance = 0.01;

// ---- Boxes ----

typedef struct {
  const RitzMeshBlock *block;
  const double *x; // of the block
  RitzMeshHull *hulls;
  double tolerance;
  double *boxes; // of the block
} Boxing;

static void box_range(void *data, int slot, int64_t first, int64_t count) {
  const Boxing *b = data;
  RitzMeshHull *hull = &b->hulls[slot];

  for (int64_t e = first; e < first + count; e++)
    ritz_mesh_hull_take(hull, b->x + e * b->block->num_nodes * hull->space_dim, b->tolerance,
                        b->boxes + e * 2 * hull->space_dim);
}

static int fill_block_boxes(RitzMesh mesh, const RitzMeshBlock *block, double tolerance, double *boxes) {
  if (block->num_elem == 0) return CEED_ERROR_SUCCESS;
  Boxing b = {.block = block,
              .x = mesh->coords + block->node_base * mesh->space_dim,
              .tolerance = tolerance,
              .boxes = boxes + block->first * 2 * mesh->space_dim};
  int num_slots = 1, ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(ritz_run_ranges_slots(mesh->ceed, &num_slots));
  RITZ_TRY(RITZ_CALLOC(mesh->ceed, (size_t)num_slots, &b.hulls));
  for (int i = 0; i < num_slots && !ierr; i++)
    ierr = ritz_mesh_hull_create(mesh->ceed, block->topology, mesh->space_dim, mesh->order, &b.hulls[i]);
  if (!ierr) ierr = ritz_run_elements(mesh->ceed, block->num_elem, box_range, &b);
  for (int i = 0; i < num_slots; i++) ritz_mesh_hull_clear(&b.hulls[i]);
  RITZ_FREE(&b.hulls);
  return ierr;
}

static int create_tree(RitzMesh mesh, double tolerance, RitzBoxTree *tree) {
  double *boxes = NULL; // [num_elem][2][space_dim]
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(mesh->ceed, 2 * (size_t)mesh->num_elem * (size_t)mesh->space_dim, &boxes));
  for (int b = 0; b < mesh->num_blocks && !ierr; b++)
    ierr = fill_block_boxes(mesh, &mesh->blocks[b], tolerance, boxes);
  if (!ierr) ierr = ritz_box_tree_create(mesh->ceed, mesh->space_dim, mesh->num_elem, boxes, tree);
  RITZ_FREE(&boxes);
  return ierr;
}

// ---- Life ----

static int fill_locator(RitzMesh mesh, RitzLocator l) {
  RITZ_TRY(RitzMeshReferenceCopy(mesh, &l->mesh));
  for (int b = 0; b < mesh->num_blocks; b++)
    RITZ_TRY(ritz_mesh_inverse_create(mesh->ceed, mesh->blocks[b].topology, mesh->space_dim, mesh->order,
                                      &l->inverse[b]));
  return create_tree(mesh, l->tolerance, &l->tree);
}

int RitzLocatorCreate(RitzMesh mesh, double tolerance, RitzLocator *locator) {
  RitzLocator l = NULL;

  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh->ceed, locator);
  RITZ_REQUIRE(tolerance <= largest_tolerance, mesh->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the tolerance is %g, needed at most %g (negative: the default)", __func__, tolerance,
               largest_tolerance);
  RITZ_REQUIRE(mesh->order <= RITZ_HULL_MAX_ORDER, mesh->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the geometry is of degree %" CeedInt_FMT ", supported are degrees up to %d", __func__,
               mesh->order, RITZ_HULL_MAX_ORDER);
  RITZ_TRY(RITZ_CALLOC(mesh->ceed, 1, &l));
  l->class = &ritz_locator_class;
  l->ceed = mesh->ceed;
  l->ref_count = 1;
  l->tolerance = tolerance < 0.0 ? default_tolerance : tolerance;
  const int ierr = fill_locator(mesh, l);

  if (ierr) (void)RitzLocatorDestroy(&l);
  *locator = l;
  return ierr;
}

int RitzLocatorDestroy(RitzLocator *locator) {
  if (!locator || !*locator) return CEED_ERROR_SUCCESS;
  RitzLocator l = *locator;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "locator", l, &ritz_locator_class));

  *locator = NULL;
  if (--l->ref_count > 0) return CEED_ERROR_SUCCESS;
  for (int b = 0; b < RITZ_MESH_MAX_BLOCKS; b++) ritz_mesh_inverse_clear(&l->inverse[b]);
  ritz_box_tree_clear(&l->tree);
  RitzMesh mesh = l->mesh;

  RITZ_FREE(&l);
  return RitzMeshDestroy(&mesh);
}

int RitzLocatorReferenceCopy(RitzLocator locator, RitzLocator *copy) {
  RITZ_HANDLE(locator);
  RITZ_ARGUMENT(locator, copy);
  RITZ_OPTIONAL(locator, *copy);
  locator->ref_count++;
  const int ierr = RitzLocatorDestroy(copy);

  if (ierr) {
    locator->ref_count--;
    return ierr;
  }
  *copy = locator;
  return CEED_ERROR_SUCCESS;
}

int RitzLocatorGetMesh(RitzLocator locator, RitzMesh *mesh) {
  RITZ_HANDLE(locator);
  RITZ_ARGUMENT(locator, mesh);
  *mesh = locator->mesh;
  return CEED_ERROR_SUCCESS;
}

// ---- One point ----

enum { NUM_STARTS = 8 }; // of Newton's method in an element, beyond the centre

typedef struct {
  RitzLocator locator; // borrowed
  double *work;        // of one thread
  int64_t elem;        // the best element so far; -1: none
  int64_t hint;        // has been tried already; -1: none
  double xi[3];
  bool is_inside; // so far inside that no other element can have the point
} Search;

// Takes element e where it has the point and no element of lower number is known to have it.
static bool note_element(Search *s, int64_t e, const RitzMeshPreimage *found) {
  const double tolerance = s->locator->tolerance;

  if (!(found->depth >= -(tolerance + found->rounding))) return false;
  if (s->elem < 0 || e < s->elem) {
    s->elem = e;
    for (int d = 0; d < 3; d++) s->xi[d] = found->xi[d];
  }
  s->is_inside = found->depth > sqrt(tolerance) + 100.0 * found->rounding;
  return true;
}

static RitzMeshElementMap open_element(const Search *s, int64_t e) {
  const RitzMesh mesh = s->locator->mesh;
  const int b = ritz_mesh_find_block(mesh->num_blocks, mesh->blocks, e);
  const RitzMeshBlock *block = &mesh->blocks[b];
  const int64_t node = block->node_base + (e - block->first) * block->num_nodes;

  return ritz_mesh_element_open(&s->locator->inverse[b], mesh->coords + node * mesh->space_dim, s->work);
}

static void try_centre(Search *s, int64_t e, const double *x) {
  const RitzMeshElementMap map = open_element(s, e);
  RitzMeshPreimage found;

  if (ritz_mesh_element_invert(&map, x, s->locator->tolerance, -1, &found)) (void)note_element(s, e, &found);
}

static void try_nodes(Search *s, int64_t e, const double *x) {
  const RitzMeshElementMap map = open_element(s, e);
  int64_t nodes[NUM_STARTS];

  if (ritz_mesh_inverse_is_affine(map.inverse)) return;
  const int num = ritz_mesh_element_nearest(&map, x, NUM_STARTS, nodes);

  for (int i = 0; i < num; i++) {
    RitzMeshPreimage found;

    if (ritz_mesh_element_invert(&map, x, s->locator->tolerance, nodes[i], &found) &&
        note_element(s, e, &found))
      return;
  }
}

// Tries the elements whose boxes have the point.
static void try_boxes(Search *s, const double *x, void (*try)(Search *s, int64_t e, const double *x)) {
  RitzBoxWalk walk = ritz_box_tree_walk(&s->locator->tree, x);

  for (int64_t e = ritz_box_walk_next(&walk); e >= 0 && !s->is_inside; e = ritz_box_walk_next(&walk)) {
    if (e != s->hint && (s->elem < 0 || e < s->elem)) try(s, e, x);
  }
}

static void find_point(Search *s, const double *x, int64_t hint) {
  if (hint >= 0) try_centre(s, hint, x);
  s->hint = hint;
  if (!s->is_inside) try_boxes(s, x, try_centre);
  s->hint = -1;
  if (s->elem < 0) try_boxes(s, x, try_nodes);
}

// ---- All points ----

typedef struct {
  RitzLocator locator;
  const double *x;
  const int64_t *hints; // or NULL
  int64_t *elements;
  double *xi; // or NULL
  int64_t work_size;
  double *work; // [num_slots][work_size]
} Finding;

static bool is_finite_point(CeedInt n, const double *x) {
  bool is_finite = true;

  for (CeedInt c = 0; c < n; c++) is_finite = is_finite && isfinite(x[c]);
  return is_finite;
}

static void find_range(void *data, int slot, int64_t first, int64_t count) {
  const Finding *f = data;
  const CeedInt dim = f->locator->mesh->dim, space_dim = f->locator->mesh->space_dim;
  Search s = {.locator = f->locator, .work = f->work + slot * f->work_size};

  for (int64_t i = first; i < first + count; i++) {
    const double *x = f->x + i * space_dim;

    s.elem = -1;
    s.is_inside = false;
    s.xi[0] = s.xi[1] = s.xi[2] = 0.0;
    if (is_finite_point(space_dim, x)) find_point(&s, x, f->hints ? f->hints[i] : -1);
    f->elements[i] = s.elem;
    for (CeedInt d = 0; f->xi && d < dim; d++) f->xi[i * dim + d] = s.xi[d];
  }
}

static int check_hints(RitzMesh mesh, int64_t num_points, const int64_t *hints) {
  for (int64_t i = 0; hints && i < num_points; i++) {
    RITZ_REQUIRE(hints[i] >= -1 && hints[i] < mesh->num_elem, mesh->ceed, CEED_ERROR_DIMENSION,
                 "RitzLocatorFind: the hint of point %lld is element %lld, needed -1 .. %lld", (long long)i,
                 (long long)hints[i], (long long)mesh->num_elem - 1);
  }
  return CEED_ERROR_SUCCESS;
}

int RitzLocatorFind(RitzLocator locator, int64_t num_points, const double *x, const int64_t *hints,
                    int64_t *elements, double *xi) {
  RITZ_HANDLE(locator);
  const RitzMesh mesh = locator->mesh;
  Finding f = {.locator = locator, .x = x, .hints = hints, .elements = elements, .xi = xi};
  int num_slots = 1;

  RITZ_REQUIRE(num_points >= 0, mesh->ceed, CEED_ERROR_DIMENSION, "%s: %lld points", __func__,
               (long long)num_points);
  if (num_points == 0) return CEED_ERROR_SUCCESS;
  RITZ_ARGUMENT(mesh->ceed, x);
  RITZ_ARGUMENT(mesh->ceed, elements);
  RITZ_TRY(check_hints(mesh, num_points, hints));
  RITZ_TRY(ritz_run_ranges_slots(mesh->ceed, &num_slots));
  for (int b = 0; b < mesh->num_blocks; b++) {
    const int64_t size = ritz_mesh_inverse_work_size(&locator->inverse[b]);

    if (size > f.work_size) f.work_size = size;
  }
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)(f.work_size * num_slots), &f.work));
  const int ierr = ritz_run_elements(mesh->ceed, num_points, find_range, &f);
  RITZ_FREE(&f.work);
  return ierr;
}
