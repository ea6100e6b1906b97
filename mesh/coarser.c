// SPDX-License-Identifier: BSD-2-Clause
// The mesh below a mesh: the parent that refinement has kept, or the box with half as many elements in each
// direction, whose geometry is sampled.
#include <math.h>
#include <string.h>

#include "fe/fe.h"
#include "mesh/mesh.h"

// A box and the box that is made of it.
typedef struct {
  RitzMesh fine;        // borrowed
  RitzMeshDraft coarse; // owned
  int64_t n[3];         // elements of the coarse box
  int64_t num_macro;    // nodes of 2^dim fine elements together: (2g+1)^dim
  double *table;        // owned, [g+1][2g+1]: from these nodes to those of a coarse element, one direction
  int num_slots;        // threads, each with its own of the following
  int64_t work_size;
  double *macros, *works; // owned, [num_slots][num_macro][space_dim], [num_slots][work_size]
  RitzMeshSampler *samplers;
  bool *has_inverted; // owned, [num_slots]
} Coarsen;

// ---- Geometry ----

// A node in the lower half depends on the lower element alone.
static int fill_table(Ceed ceed, CeedInt order, double *table) {
  const CeedInt P = order + 1, num_macro = 2 * order + 1;
  double *nodes = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)P, &nodes));
  ritz_fe_gauss_lobatto(P, nodes, NULL);
  memset(table, 0, sizeof(*table) * (size_t)P * (size_t)num_macro);
  for (CeedInt i = 0; i < P; i++) {
    const int side = nodes[i] > 0.0;
    const double point = 2.0 * nodes[i] + (side ? -1.0 : 1.0);

    RITZ_TRY_CLEANUP(ritz_fe_lagrange(ceed, P, nodes, 1, &point, table + i * num_macro + side * order, NULL));
  }

cleanup:
  RITZ_FREE(&nodes);
  return ierr;
}

// Nodes of the 2^dim fine elements in the coarse one at `at`.
static void gather_macro(const Coarsen *c, const int64_t at[3], double *macro) {
  const RitzMesh fine = c->fine;
  const int64_t g = fine->order, P = g + 1, num_local = fine->blocks[0].num_nodes;
  int64_t size[3], point[3];

  for (int d = 0; d < 3; d++) size[d] = d < fine->dim ? 2 * g + 1 : 1;
  for (int64_t i = 0; i < c->num_macro; i++) {
    int64_t child[3], local[3];

    ritz_mesh_grid_place(i, size, point);
    for (int d = 0; d < 3; d++) {
      const int64_t side = point[d] > g;

      child[d] = d < fine->dim ? 2 * at[d] + side : 0;
      local[d] = point[d] - side * g;
    }
    const int64_t node = ritz_mesh_grid_index(child, fine->grid) * num_local +
                         ritz_mesh_grid_index(local, (const int64_t[]){P, P, P});

    memcpy(macro + i * fine->space_dim, fine->coords + node * fine->space_dim,
           sizeof(double) * (size_t)fine->space_dim);
  }
}

static bool is_valid(RitzMeshSampler *sampler, const double *x) {
  ritz_mesh_sampler_take(sampler, x);
  for (int64_t i = 0; i < sampler->num_points; i++) {
    if (!(sampler->det[i] > 0.0) || !isfinite(sampler->det[i])) return false;
  }
  return true;
}

// Corners of the coarse element at `at` of a rectangular box, which are corners of the fine one.
static void copy_corners(const RitzMesh fine, const int64_t at[3], double *x) {
  for (int k = 0; k < 1 << fine->dim; k++, x += fine->dim) {
    const int64_t child[3] = {2 * at[0] + (k & 1), fine->dim > 1 ? 2 * at[1] + (k >> 1 & 1) : 0,
                              fine->dim > 2 ? 2 * at[2] + (k >> 2) : 0};
    const int64_t corner = (ritz_mesh_grid_index(child, fine->grid) << fine->dim) + k;

    memcpy(x, fine->coords + corner * fine->dim, sizeof(*x) * (size_t)fine->dim);
  }
}

// Whether the element is not inverted.
static bool fill_element(const Coarsen *c, int slot, int64_t e) {
  const RitzMesh fine = c->fine;
  const CeedInt g = fine->order;
  const double *const M[3] = {c->table, c->table, c->table};
  const int64_t num_vertices[3] = {c->n[0] + 1, c->n[1] + 1, c->n[2] + 1};
  double *x = c->coarse.coords + e * fine->blocks[0].num_nodes * fine->space_dim;
  double *macro = c->macros + slot * c->num_macro * fine->space_dim, *work = c->works + slot * c->work_size;
  int64_t at[3];

  ritz_mesh_grid_place(e, c->n, at);
  for (int k = 0; k < 1 << fine->dim; k++) {
    const int64_t corner[3] = {at[0] + (k & 1), at[1] + (k >> 1 & 1), at[2] + (k >> 2)};

    c->coarse.elem_vertices[(e << fine->dim) + k] = ritz_mesh_grid_index(corner, num_vertices);
  }
  if (fine->is_rectangular) {
    copy_corners(fine, at, x);
    return true;
  }
  gather_macro(c, at, macro);
  ritz_mesh_map_points(fine->dim, fine->space_dim, 2 * g + 1, g + 1, M, macro, x, work);
  return is_valid(&c->samplers[slot], x);
}

// ---- The draft ----

static int allocate_coarser(Coarsen *c) {
  const RitzMesh fine = c->fine;
  const Ceed ceed = fine->ceed;
  const CeedInt P = fine->order + 1, num_macro = 2 * fine->order + 1;
  RitzMeshDraft *coarse = &c->coarse;

  RITZ_TRY(ritz_mesh_draft_lay_out(ceed, "RitzMeshGetCoarser", coarse));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)coarse->num_places, &coarse->elem_vertices));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(coarse->num_points * fine->space_dim), &coarse->coords));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)coarse->num_elem, &coarse->elem_regions));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)P * (size_t)num_macro, &c->table));
  c->work_size = ritz_mesh_map_work_size(fine->dim, fine->space_dim, num_macro, P);
  RITZ_TRY(ritz_run_ranges_slots(ceed, &c->num_slots));
  const size_t num_slots = (size_t)c->num_slots;
  RITZ_TRY(RITZ_MALLOC(ceed, num_slots * (size_t)(c->num_macro * fine->space_dim), &c->macros));
  RITZ_TRY(RITZ_MALLOC(ceed, num_slots * (size_t)c->work_size, &c->works));
  RITZ_TRY(RITZ_CALLOC(ceed, num_slots, &c->has_inverted));
  return ritz_mesh_samplers_create(ceed, coarse->topology, fine->space_dim, fine->order, c->num_slots,
                                   &c->samplers);
}

static void clear_coarsen(Coarsen *c) {
  RITZ_FREE(&c->table);
  RITZ_FREE(&c->macros);
  RITZ_FREE(&c->works);
  RITZ_FREE(&c->has_inverted);
  ritz_mesh_samplers_clear(c->num_slots, &c->samplers);
  ritz_mesh_draft_clear(&c->coarse);
}

static void fill_range(void *data, int slot, int64_t first, int64_t count) {
  Coarsen *c = data;
  const RitzMesh fine = c->fine;

  for (int64_t e = first; e < first + count && !c->has_inverted[slot]; e++) {
    int64_t at[3];

    c->has_inverted[slot] = !fill_element(c, slot, e);
    ritz_mesh_grid_place(e, c->n, at);
    for (int d = 0; d < fine->dim; d++) at[d] *= 2;
    c->coarse.elem_regions[e] = fine->elem_regions[ritz_mesh_grid_index(at, fine->grid)];
  }
}

// *is_possible false: an element would be inverted.
static int fill_elements(Coarsen *c, bool *is_possible) {
  const RitzMesh fine = c->fine;

  RITZ_TRY(fill_table(fine->ceed, fine->order, c->table));
  RITZ_TRY(ritz_run_elements(fine->ceed, c->coarse.num_elem, fill_range, c));
  *is_possible = true;
  for (int slot = 0; slot < c->num_slots; slot++) *is_possible &= !c->has_inverted[slot];
  return CEED_ERROR_SUCCESS;
}

// A coarse facet is marked as its pieces are; facets of the two meshes that lie on each other have one
// number.
static int coarsen_marks(const Coarsen *c, RitzMesh coarse) {
  const RitzMesh fine = c->fine;

  RITZ_TRY(RITZ_MALLOC(fine->ceed, (size_t)fine->num_marks, &coarse->marks));
  for (int64_t i = 0; i < fine->num_marks; i++) {
    int64_t at[3];

    coarse->marks[i] = fine->marks[i];
    ritz_mesh_grid_place(fine->marks[i].elem, fine->grid, at);
    for (int d = 0; d < fine->dim; d++) at[d] /= 2;
    coarse->marks[i].elem = ritz_mesh_grid_index(at, c->n);
  }
  coarse->num_marks = fine->num_marks;
  ritz_mesh_marks_sort(&coarse->num_marks, coarse->marks);
  return RITZ_REALLOC(fine->ceed, (size_t)coarse->num_marks, &coarse->marks);
}

static int coarsen_slab(RitzMesh fine, RitzMesh coarse) {
  const RitzMeshSeam *seam = fine->seam;
  int64_t *layers = NULL;

  RITZ_TRY(RITZ_MALLOC(fine->ceed, (size_t)seam->num_parts + 1, &layers));
  for (CeedInt i = 0; i <= seam->num_parts; i++) layers[i] = seam->layers[i] / 2;
  const int ierr = ritz_mesh_become_slab(coarse, seam->num_parts, seam->part, layers, seam->is_rectangular);

  RITZ_FREE(&layers);
  return ierr;
}

static int finish_coarser(Coarsen *c, RitzMesh *coarse) {
  const RitzMesh fine = c->fine;

  RITZ_TRY(ritz_mesh_create_from(fine->ceed, &c->coarse, coarse));
  int ierr = coarsen_marks(c, *coarse);

  if (!ierr) ierr = ritz_mesh_copy_sets(fine, *coarse);
  if (!ierr && fine->seam) ierr = coarsen_slab(fine, *coarse);
  if (ierr) RitzMeshDestroy(coarse);
  return ierr;
}

// ---- Boxes ----

// Slabs have coarser ones down to enough elements for parts to be alike, and about as many as a coarsest
// problem that every part has whole should have: levels below would be all exchanges and no work. Every part
// keeps the two layers that sweeps over vertex patches exchange.
static bool has_coarser_slabs(RitzMesh mesh) {
  const RitzMeshSeam *seam = mesh->seam;
  const int64_t num_layers = seam->layers[seam->num_parts], least = 64 * (int64_t)seam->num_parts;
  const int64_t num = (mesh->num_elem / mesh->grid[mesh->dim - 1] * num_layers) >> mesh->dim;

  for (CeedInt i = 0; i < seam->num_parts; i++) {
    if (seam->layers[i] % 2 != 0 || seam->layers[i + 1] - seam->layers[i] < 4) return false;
  }
  return seam->is_rectangular && num_layers % 2 == 0 && num >= (least > 512 ? least : 512);
}

static bool has_even_counts(RitzMesh mesh) {
  if (mesh->seam && mesh->seam->layers && !has_coarser_slabs(mesh)) return false;
  for (int d = 0; d < mesh->dim; d++) {
    if (mesh->grid[d] == 0 || mesh->grid[d] % 2 != 0) return false;
  }
  return true;
}

// *coarse stays NULL where an element would be inverted.
static int coarsen_box(RitzMesh fine, RitzMesh *coarse) {
  Coarsen c = {.fine = fine,
               .coarse = {.topology = fine->blocks[0].topology,
                          .dim = fine->dim,
                          .space_dim = fine->space_dim,
                          .order = fine->order,
                          .num_elem = fine->num_elem >> fine->dim,
                          .num_vertices = 1},
               .num_macro = ritz_mesh_power(2 * (int64_t)fine->order + 1, fine->dim)};
  bool is_possible = false;
  int ierr = CEED_ERROR_SUCCESS;

  for (int d = 0; d < 3; d++) {
    c.n[d] = d < fine->dim ? fine->grid[d] / 2 : 1;
    if (d < fine->dim) c.coarse.num_vertices *= c.n[d] + 1;
  }
  memcpy(c.coarse.grid, c.n, sizeof(c.n));
  c.coarse.is_rectangular = fine->is_rectangular;
  RITZ_TRY_CLEANUP(allocate_coarser(&c));
  RITZ_TRY_CLEANUP(fill_elements(&c, &is_possible));
  if (is_possible) ierr = finish_coarser(&c, coarse);

cleanup:
  clear_coarsen(&c);
  return ierr;
}

int RitzMeshGetCoarser(RitzMesh mesh, RitzMesh *coarse) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh->ceed, coarse);
  *coarse = NULL;
  if (!mesh->coarser && !mesh->is_coarsest) {
    if (has_even_counts(mesh)) RITZ_TRY(coarsen_box(mesh, &mesh->coarser));
    mesh->is_coarsest = !mesh->coarser;
  }
  return mesh->coarser ? RitzMeshReferenceCopy(mesh->coarser, coarse) : CEED_ERROR_SUCCESS;
}
