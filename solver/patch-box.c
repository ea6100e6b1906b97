// SPDX-License-Identifier: BSD-2-Clause
// Boxes and separable operators on them (contract in solver/patch-box.h).
#include "solver/patch-box.h"

#include <math.h>
#include <ritz/precision.h>
#include <stdlib.h>
#include <string.h>

#include "fe/fe.h"

// ---- Lengths of cells ----

typedef struct {
  CeedInt n[3];
  double *planes[3]; // owned, from malloc
  double mean[3];    // length of a cell
} Grid;

static void clear_grid(Grid *grid) {
  for (int d = 0; d < 3; d++) free(grid->planes[d]);
}

static int find_grid(Ceed ceed, const char *call, RitzMesh mesh, Grid *grid) {
  CeedElemTopology topology;
  CeedInt num_blocks = 0, dim = 0;
  int64_t elem = -1;
  bool is_box = false;

  RITZ_TRY(RitzMeshGetNumBlocks(mesh, &num_blocks));
  RITZ_TRY(RitzMeshGetBlock(mesh, 0, &topology, NULL, NULL, NULL, NULL));
  RITZ_REQUIRE(num_blocks == 1 && (topology == CEED_TOPOLOGY_QUAD || topology == CEED_TOPOLOGY_HEX), ceed,
               CEED_ERROR_UNSUPPORTED,
               "%s: the mesh has elements of the shape '%s'; vertex patches need quadrilaterals or hexahedra "
               "alone (use Jacobi-Chebyshev)",
               call, CeedElemTopologies[topology]);
  RITZ_TRY(RitzMeshGetDimensions(mesh, &dim, NULL));
  RITZ_TRY(RitzMeshGetRectangularBox(mesh, &is_box, grid->n, grid->planes, &elem));
  RITZ_REQUIRE(is_box || elem >= 0, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the mesh was not made as a box; vertex patches need a rectangular one (use overlapped "
               "elements or elements: RitzPreconditionerCreateSchwarz)",
               call);
  RITZ_REQUIRE(is_box, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: element %lld of the box is not rectangular; vertex patches need a rectangular box (use "
               "overlapped elements or elements: RitzPreconditionerCreateSchwarz)",
               call, (long long)elem);
  for (CeedInt d = 0; d < dim; d++)
    grid->mean[d] = fabs(grid->planes[d][grid->n[d]] - grid->planes[d][0]) / grid->n[d];
  return CEED_ERROR_SUCCESS;
}

// Length of cell i in units of the mean; 0: there is no such cell. Lengths that differ by rounding alone are
// equal.
static double cell_length(const Grid *grid, int d, int64_t i) {
  if (i < 0 || i >= grid->n[d]) return 0;
  const double length = fabs(grid->planes[d][i + 1] - grid->planes[d][i]) / grid->mean[d];
  return fabs(length - 1) < 1e-9 ? 1 : length;
}

static bool is_even(const Grid *grid, int d) {
  for (int64_t i = 0; i < grid->n[d]; i++) {
    if (cell_length(grid, d, i) != 1) return false;
  }
  return true;
}

// ---- Sides with values ----

// Whether an entry lies on the low (0) or high (1) side in direction d.
static bool is_on_side(const RitzPatchBox *box, int64_t entry, int d, int side) {
  int64_t at = entry / box->num_comp;

  for (int i = 0; i < d; i++) at /= box->nodes[i];
  at %= box->nodes[d];
  return at == (side ? box->nodes[d] - 1 : 0);
}

static int64_t count_nodes(const RitzPatchBox *box) { return box->nodes[0] * box->nodes[1] * box->nodes[2]; }

// A side is fixed when all its entries are constrained; then no other entry may be.
static int find_sides(Ceed ceed, const char *call, RitzIndices constraints, RitzPatchBox *box) {
  const int64_t *entries = NULL;
  int64_t num = 0, count[3][2] = {{0}}, num_free = box->num_comp;

  if (constraints) RITZ_TRY(RitzIndicesGet(constraints, &num, &entries));
  for (int64_t i = 0; i < num; i++) {
    for (int d = 0; d < box->dim; d++) {
      for (int side = 0; side < 2; side++) count[d][side] += is_on_side(box, entries[i], d, side);
    }
  }
  for (int d = 0; d < box->dim; d++) {
    for (int side = 0; side < 2; side++)
      box->is_fixed[d][side] = count[d][side] == count_nodes(box) / box->nodes[d] * box->num_comp;
    num_free *= box->nodes[d] - box->is_fixed[d][0] - box->is_fixed[d][1];
  }
  const int64_t wanted = count_nodes(box) * box->num_comp - num_free;
  RITZ_REQUIRE(num == wanted, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %lld entries are constrained, %lld of them on sides of the box that are constrained as a "
               "whole, in all components; vertex patches need no others (use elements: "
               "RitzPreconditionerCreateElementSchwarz)",
               call, (long long)num, (long long)wanted);
  return CEED_ERROR_SUCCESS;
}

// ---- Tables ----

// Vertices with patches: the free ones. A cell with values at both ends has its patch at the low vertex.
static void find_positions(RitzPatchBox *box, int d) {
  const int64_t first = box->is_fixed[d][0] ? 1 : 0, last = box->cells[d] - (box->is_fixed[d][1] ? 1 : 0);

  box->first[d] = last < first ? 0 : first;
  box->count[d] = last < first ? 1 : last - first + 1;
}

// Free interior nodes of position v: the nodes (v - 1) p + 1 + i for i = first .. first + num - 1.
static void find_free(const RitzPatchBox *box, int d, int64_t v, int *first, int *num) {
  const int64_t low = box->is_fixed[d][0] ? 1 : 0, high = box->nodes[d] - 1 - (box->is_fixed[d][1] ? 1 : 0),
                start = (v - 1) * box->degree + 1, end = start + 2 * box->degree - 2;
  const int64_t from = start > low ? start : low, to = end < high ? end : high;

  *first = (int)(from - start);
  *num = to < from ? 0 : (int)(to - from + 1);
  if (*num == 0) *first = 0;
}

static int fill_tables(Ceed ceed, const Grid *grid, int d, RitzPatchBox *box) {
  const size_t size = ritz_fe_patch_line_size(box->degree), num = box->is_uniform ? 1 : (size_t)box->count[d];

  RITZ_TRY(RITZ_MALLOC(ceed, num * size, &box->tables[d]));
  for (size_t i = 0; i < num; i++) {
    const int64_t v = box->first[d] + (int64_t)i;
    const double length[2] = {cell_length(grid, d, v - 1), cell_length(grid, d, v)};
    int first_free, num_free;

    find_free(box, d, v, &first_free, &num_free);
    RITZ_TRY(ritz_fe_patch_line(ceed, box->degree, length, first_free, num_free, box->tables[d] + i * size));
  }
  return CEED_ERROR_SUCCESS;
}

static void set_sizes(const CeedInt n[3], RitzPatchBox *box) {
  for (int d = 0; d < box->dim; d++) {
    box->cells[d] = n[d];
    box->nodes[d] = (int64_t)n[d] * box->degree + 1;
  }
}

// Positions and tables, when sides are known.
static int fill_box(Ceed ceed, const Grid *grid, RitzPatchBox *box) {
  box->is_uniform = true;
  for (int d = 0; d < box->dim; d++) {
    find_positions(box, d);
    box->is_uniform = box->is_uniform && box->is_fixed[d][0] && box->is_fixed[d][1] && box->cells[d] > 1 &&
                      is_even(grid, d);
  }
  for (int d = 0; d < (box->is_uniform ? 1 : box->dim); d++) RITZ_TRY(fill_tables(ceed, grid, d, box));
  for (int d = 1; d < 3 && box->is_uniform; d++) box->tables[d] = box->tables[0];
  return CEED_ERROR_SUCCESS;
}

static int examine_space(Ceed ceed, const char *call, RitzSpace space, RitzIndices constraints,
                         const Grid *grid, RitzPatchBox *box) {
  RITZ_TRY(RitzSpaceGetDegree(space, &box->degree));
  RITZ_TRY(RitzSpaceGetNumComponents(space, &box->num_comp));
  set_sizes(grid->n, box);
  RITZ_TRY(find_sides(ceed, call, constraints, box));
  return fill_box(ceed, grid, box);
}

int ritz_patch_box_create(Ceed ceed, const char *call, RitzSpace space, RitzIndices constraints,
                          RitzPatchBox *box) {
  RitzMesh mesh = NULL;
  Grid grid = {.n = {1, 1, 1}};

  *box = (RitzPatchBox){.nodes = {1, 1, 1}, .count = {1, 1, 1}};
  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(RitzMeshGetDimensions(mesh, &box->dim, NULL));
  int ierr = find_grid(ceed, call, mesh, &grid);
  if (!ierr) ierr = examine_space(ceed, call, space, constraints, &grid, box);
  clear_grid(&grid);
  if (ierr) ritz_patch_box_clear(box);
  return ierr;
}

int ritz_patch_box_extend(Ceed ceed, const RitzPatchBox *piece, CeedInt num_cells, double *const planes[3],
                          const bool is_fixed[2], RitzPatchBox *box) {
  const int last = piece->dim - 1;
  Grid grid = {.n = {1, 1, 1}};

  *box = (RitzPatchBox){.dim = piece->dim,
                        .degree = piece->degree,
                        .num_comp = piece->num_comp,
                        .precision = piece->precision,
                        .form = piece->form,
                        .nodes = {1, 1, 1},
                        .count = {1, 1, 1}};
  memcpy(box->is_fixed, piece->is_fixed, sizeof(box->is_fixed));
  memcpy(box->is_fixed[last], is_fixed, sizeof(box->is_fixed[last]));
  for (int d = 0; d < box->dim; d++) {
    grid.n[d] = d == last ? num_cells : (CeedInt)piece->cells[d];
    grid.planes[d] = planes[d];
    grid.mean[d] = fabs(planes[d][grid.n[d]] - planes[d][0]) / grid.n[d];
  }
  set_sizes(grid.n, box);
  const int ierr = fill_box(ceed, &grid, box);

  if (ierr) ritz_patch_box_clear(box);
  return ierr;
}

// Ends inside the box are read, never written: the first position is the one beside them.
int ritz_patch_box_cut(Ceed ceed, const RitzPatchBox *box, int64_t begin, int64_t end, RitzPatchBox *window) {
  const int last = box->dim - 1;
  const int64_t cells = box->cells[last], low = begin > 0 ? begin + 1 : 0, high = end < cells ? end - 1 : end;
  const int64_t first = box->first[last] > low ? box->first[last] : low,
                before = box->first[last] + box->count[last], until = before < high + 1 ? before : high + 1;
  const size_t size = ritz_fe_patch_line_size(box->degree);

  *window = *box;
  for (int d = 0; d < 3; d++) window->tables[d] = NULL;
  window->cells[last] = end - begin;
  window->nodes[last] = (end - begin) * box->degree + 1;
  window->last_origin = begin;
  window->first[last] = first - begin;
  window->count[last] = until - first;
  window->is_fixed[last][0] = begin == 0 && box->is_fixed[last][0];
  window->is_fixed[last][1] = end == cells && box->is_fixed[last][1];
  for (int d = 0; d < (box->is_uniform ? 1 : box->dim); d++) {
    const size_t num = (box->is_uniform ? 1 : (size_t)window->count[d]) * size;
    const int ierr = RITZ_MALLOC(ceed, num, &window->tables[d]);

    if (ierr) {
      ritz_patch_box_clear(window);
      return ierr;
    }
    memcpy(window->tables[d], ritz_patch_table(box, d, d == last ? first : box->first[d]),
           num * sizeof(double));
  }
  for (int d = 1; d < 3 && box->is_uniform; d++) window->tables[d] = window->tables[0];
  return CEED_ERROR_SUCCESS;
}

void ritz_patch_box_clear(RitzPatchBox *box) {
  for (int d = 0; d < 3; d++) {
    if (d > 0 && box->is_uniform) box->tables[d] = NULL;
    RITZ_FREE(&box->tables[d]);
  }
}

// ---- Factors ----

enum { MAX_PROBES = 4, MAX_FACTORS = 4 }; // entries of the matrix; numbers to be found

typedef struct {
  const RitzSystem *system;
  const RitzPatchShare *share;
  CeedVector x, y; // borrowed
} Probe;

// A free interior node of the patch at the middle position, the vertex or the one next to it, and in each
// direction a free neighbour, if there is one, counted from the first interior node.
typedef struct {
  int64_t corner[3];
  RitzPatchLine line[3];
  int node[3], partner[3]; // partner -2: none; node -1: nothing is free
} Middle;

// A free node beside interior node i of position v, of the interior or an end of the closure; -2: none.
static int find_partner(const RitzPatchBox *box, int d, int64_t v, int i) {
  for (int side = -1; side <= 1; side += 2) {
    const int64_t at = (v - 1) * box->degree + 1 + i + side;
    const bool is_low = at == 0 && box->is_fixed[d][0],
               is_high = at == box->nodes[d] - 1 && box->is_fixed[d][1];

    if (at >= 0 && at < box->nodes[d] && !is_low && !is_high) return i + side;
  }
  return -2;
}

static void find_middle(const RitzPatchBox *box, Middle *m) {
  for (int d = 0; d < box->dim; d++) {
    const int64_t v = box->first[d] + box->count[d] / 2;
    int first, num;

    find_free(box, d, v, &first, &num);
    m->corner[d] = (v - 1) * box->degree + 1;
    m->line[d] = ritz_patch_line(box->degree, ritz_patch_table(box, d, v));
    m->node[d] = box->degree - 1;
    if (m->node[d] < first) m->node[d] = first;
    if (m->node[d] > first + num - 1) m->node[d] = first + num - 1;
    m->partner[d] = find_partner(box, d, v, m->node[d]);
    if (num == 0) m->node[d] = -1;
  }
}

static int64_t entry_of(const RitzPatchBox *box, const Middle *m, int moved) {
  int64_t entry = 0;

  for (int d = box->dim - 1; d >= 0; d--)
    entry = entry * box->nodes[d] + m->corner[d] + (d == moved ? m->partner[d] : m->node[d]);
  return entry * box->num_comp;
}

// Entries of the operator's terms with unit factors between the node and the one moved in a direction.
static void fill_row(const RitzPatchBox *box, const Middle *m, int moved, double row[MAX_FACTORS]) {
  const int size = 2 * box->degree + 1;

  for (int t = 0; t < MAX_FACTORS; t++) {
    row[t] = t < box->dim || t == 3 ? 1 : 0;
    for (int d = 0; d < box->dim; d++) {
      const double *table = d == t ? m->line[d].A : m->line[d].M;
      row[t] *= table[m->node[d] * size + 1 + (d == moved ? m->partner[d] : m->node[d])];
    }
  }
}

// Where the entry is another part's, x is zero.
static int set_one(const Probe *p, int64_t entry, CeedVector x) {
  RitzIndices index = NULL;

  RITZ_TRY(CeedVectorSetValue(x, 0));
  entry -= p->share->first;
  if (entry < 0 || entry >= p->share->num_owned) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzIndicesCreate(p->system->ceed, 1, &entry, &index));
  const int ierr = RitzVectorSetEntries(x, index, 1);
  return ritz_first_error(ierr, RitzIndicesDestroy(&index));
}

static int measure_entries(Probe *p, const RitzPatchBox *box, const Middle *m, int *num,
                           double rows[MAX_PROBES][MAX_FACTORS], double entries[MAX_PROBES]) {
  RITZ_TRY(set_one(p, entry_of(box, m, -1), p->x));
  RITZ_TRY(ritz_system_apply(p->system, p->x, p->y));
  *num = 0;
  for (int moved = -1; moved < box->dim; moved++) {
    if (moved >= 0 && m->partner[moved] < -1) continue;
    RITZ_TRY(set_one(p, entry_of(box, m, moved), p->x));
    RITZ_TRY(RitzVectorDot(p->x, p->y, &entries[*num]));
    fill_row(box, m, moved, rows[(*num)++]);
  }
  return CEED_ERROR_SUCCESS;
}

// The smallest factors with rows * factors = entries: R^T (R R^T)^+ e, the inverse by eigenvectors. Where
// fewer numbers can be seen than there are (directions with one free node) any of them make the same patches.
static int solve_factors(Ceed ceed, int num, double rows[MAX_PROBES][MAX_FACTORS],
                         const double entries[MAX_PROBES], double factors[MAX_FACTORS]) {
  double gram[MAX_PROBES * MAX_PROBES], lambda[MAX_PROBES] = {0}, weights[MAX_PROBES] = {0}, largest = 0;

  for (int i = 0; i < num * num; i++) {
    gram[i] = 0;
    for (int t = 0; t < MAX_FACTORS; t++) gram[i] += rows[i / num][t] * rows[i % num][t];
  }
  if (num > 1) RITZ_TRY(ritz_fe_symmetric_eigen(ceed, gram, lambda, num));
  if (num == 1) {
    lambda[0] = gram[0];
    gram[0] = 1;
  }
  for (int k = 0; k < num; k++) largest = fmax(largest, lambda[k]);
  for (int k = 0; k < num; k++) {
    double part = 0;

    for (int i = 0; i < num; i++) part += gram[i * num + k] * entries[i];
    if (lambda[k] > 1e-12 * largest) {
      for (int i = 0; i < num; i++) weights[i] += gram[i * num + k] * part / lambda[k];
    }
  }
  for (int t = 0; t < MAX_FACTORS; t++) {
    factors[t] = 0;
    for (int i = 0; i < num; i++) factors[t] += rows[i][t] * weights[i];
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_patch_box_find_factors(const RitzSystem *system, const RitzPatchShare *share, RitzPatchBox *box) {
  Probe p = {.system = system, .share = share, .x = share->x, .y = share->y};
  Middle middle = {.node = {0}};
  double rows[MAX_PROBES][MAX_FACTORS], entries[MAX_PROBES];
  const double noise = box->precision == CEED_SCALAR_FP32 ? 1e-5 : 1e-12;
  int num = 0;

  find_middle(box, &middle);
  for (int d = 0; d < box->dim; d++) {
    if (middle.node[d] < 0) return CEED_ERROR_SUCCESS; // nothing is free
  }
  RITZ_TRY(measure_entries(&p, box, &middle, &num, rows, entries));
  RITZ_TRY(solve_factors(system->ceed, num, rows, entries, box->factor));
  for (int t = 0; t < MAX_FACTORS; t++) {
    if (fabs(box->factor[t] * rows[0][t]) <= noise * fabs(entries[0])) box->factor[t] = 0;
  }
  return CEED_ERROR_SUCCESS;
}
