// SPDX-License-Identifier: BSD-2-Clause
// Box meshes with structured numbering. Fills a draft like a reader does and leaves the rest to
// ritz_mesh_build.
#include "mesh/mesh.h"

#include <math.h>
#include <string.h>

#include "fe/fe.h"

// The grid of geometry nodes: size[d] = n[d] * order + 1 positions in direction d.
typedef struct {
  Ceed ceed; // borrowed
  CeedInt dim, order;
  int64_t n[3], num_elem; // elements; n[d] = 1 beyond dim
  int64_t size[3], num_nodes;
  double *axis[3]; // owned, [size[d]]
  double *x;       // owned, [num_nodes][dim] where a map has placed them; NULL: no map
} Grid;

// ---- Arguments ----

static int check_box_arguments(Ceed ceed, CeedInt dim, const CeedInt n[], const double lower[],
                               const double upper[], CeedInt order) {
  RITZ_REQUIRE(dim >= 1 && dim <= 3, ceed, CEED_ERROR_DIMENSION,
               "RitzMeshCreateBox: dimension %" CeedInt_FMT ", needed 1, 2 or 3", dim);
  RITZ_REQUIRE(ritz_fe_shape_num_nodes(CEED_TOPOLOGY_LINE, order) > 0, ceed, CEED_ERROR_DIMENSION,
               "RitzMeshCreateBox: geometry order %" CeedInt_FMT ", needed 1 to 46339", order);
  for (CeedInt d = 0; d < dim; d++) {
    double low = lower ? lower[d] : 0.0, high = upper ? upper[d] : 1.0;

    RITZ_REQUIRE(n[d] >= 1, ceed, CEED_ERROR_DIMENSION,
                 "RitzMeshCreateBox: %" CeedInt_FMT " elements in direction %" CeedInt_FMT
                 ", needed at least 1",
                 n[d], d);
    RITZ_REQUIRE(low < high && isfinite(high - low), ceed, CEED_ERROR_DIMENSION,
                 "RitzMeshCreateBox: the box reaches from %g to %g in direction %" CeedInt_FMT, low, high, d);
  }
  return CEED_ERROR_SUCCESS;
}

// The largest array holds the coordinates of all elements, or the vertices.
static int set_sizes(Ceed ceed, CeedInt dim, const CeedInt n[], CeedInt order, Grid *grid) {
  *grid = (Grid){.ceed = ceed, .dim = dim, .order = order, .n = {1, 1, 1}, .size = {1, 1, 1}};
  for (CeedInt d = 0; d < dim; d++) {
    grid->n[d] = n[d];
    grid->size[d] = (int64_t)n[d] * order + 1;
  }
  grid->num_elem = ritz_mesh_product(3, grid->n);
  grid->num_nodes = ritz_mesh_product(3, grid->size);
  int64_t num_local = ritz_mesh_power((int64_t)order + 1, dim);
  const double largest = (double)grid->num_elem * (double)num_local * dim * sizeof(double);

  RITZ_REQUIRE(grid->num_nodes >= 0 && grid->num_elem >= 0 && num_local >= 0 && ritz_mesh_fits(largest), ceed,
               CEED_ERROR_DIMENSION,
               "RitzMeshCreateBox: %lld x %lld x %lld elements of order %" CeedInt_FMT " are too many",
               (long long)grid->n[0], (long long)grid->n[1], (long long)grid->n[2], order);
  return CEED_ERROR_SUCCESS;
}

// ---- Nodes ----

// Positions along one direction. Rounded once, from a longer format where there is one: differences between
// neighbours are then as exact as they can be far inside a long box.
static int fill_axis(Grid *grid, CeedInt d, double low, double high) {
  double *nodes = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(grid->ceed, (size_t)grid->size[d], &grid->axis[d]));
  RITZ_TRY(RITZ_MALLOC(grid->ceed, (size_t)grid->order + 1, &nodes));
  ritz_fe_gauss_lobatto(grid->order + 1, nodes, NULL);
  for (int64_t e = 0; e < grid->n[d]; e++) {
    for (CeedInt i = 0; i <= grid->order; i++) {
      long double t = ((long double)e + 0.5L * (1.0L + nodes[i])) / (long double)grid->n[d];

      grid->axis[d][e * grid->order + i] = (double)((1.0L - t) * low + t * high);
    }
  }
  RITZ_FREE(&nodes);
  return ierr;
}

static int map_node(const Grid *grid, RitzMapFunction map, void *map_ctx, const double *X, double *x) {
  int ierr = map(map_ctx, grid->dim, X, x);

  RITZ_REQUIRE(ierr == 0, grid->ceed, ierr, "RitzMeshCreateBox: the map returned %d at (%g, %g, %g)", ierr,
               X[0], X[1], X[2]);
  for (CeedInt d = 0; d < grid->dim; d++) {
    RITZ_REQUIRE(isfinite(x[d]), grid->ceed, CEED_ERROR_MAJOR,
                 "RitzMeshCreateBox: the map gave a coordinate that is not finite at (%g, %g, %g)", X[0],
                 X[1], X[2]);
  }
  return CEED_ERROR_SUCCESS;
}

static int fill_nodes(Grid *grid, RitzMapFunction map, void *map_ctx) {
  const CeedInt dim = grid->dim;

  RITZ_TRY(RITZ_MALLOC(grid->ceed, (size_t)(grid->num_nodes * dim), &grid->x));
  for (int64_t i = 0; i < grid->num_nodes; i++) {
    double X[3] = {0.0, 0.0, 0.0};
    int64_t rest = i;

    for (CeedInt d = 0; d < dim; d++, rest /= grid->size[d - 1]) X[d] = grid->axis[d][rest % grid->size[d]];
    RITZ_TRY(map_node(grid, map, map_ctx, X, grid->x + i * dim));
  }
  return CEED_ERROR_SUCCESS;
}

static void clear_box_draft(Grid *grid) {
  for (int d = 0; d < 3; d++) RITZ_FREE(&grid->axis[d]);
  RITZ_FREE(&grid->x);
}

// ---- Draft ----

int64_t ritz_mesh_grid_index(const int64_t at[3], const int64_t size[3]) {
  return at[0] + size[0] * (at[1] + size[1] * at[2]);
}

void ritz_mesh_grid_place(int64_t index, const int64_t size[3], int64_t at[3]) {
  at[0] = index % size[0];
  at[1] = index / size[0] % size[1];
  at[2] = index / size[0] / size[1];
}

// Corner of the element at `at` of the grid of elements.
static int64_t corner_vertex(const Grid *grid, const int64_t at[3], int corner) {
  const int64_t vertex_at[3] = {at[0] + (corner & 1), at[1] + (corner >> 1 & 1), at[2] + (corner >> 2)};
  const int64_t num_vertices[3] = {grid->n[0] + 1, grid->n[1] + 1, grid->n[2] + 1};

  return ritz_mesh_grid_index(vertex_at, num_vertices);
}

typedef struct {
  const Grid *grid;
  RitzMeshDraft *draft;
} Filling;

// Node `at` of the grid: as the map has placed it, or where it is without one.
static void place_node(const Grid *grid, const int64_t at[3], double *x) {
  const CeedInt dim = grid->dim;
  const double *placed = grid->x ? grid->x + ritz_mesh_grid_index(at, grid->size) * dim : NULL;

  for (CeedInt d = 0; d < dim; d++) x[d] = placed ? placed[d] : grid->axis[d][at[d]];
}

static void fill_element(const Grid *grid, int64_t e, int64_t *vertices, double *x) {
  const int64_t P = grid->order + 1, planes = grid->dim > 2 ? P : 1, rows = grid->dim > 1 ? P : 1;
  int64_t at[3], first[3], node[3];

  ritz_mesh_grid_place(e, grid->n, at);
  for (int k = 0; k < 1 << grid->dim; k++) vertices[k] = corner_vertex(grid, at, k);
  for (int d = 0; d < 3; d++) first[d] = at[d] * grid->order;
  for (int64_t k = 0; k < planes; k++) {
    for (int64_t j = 0; j < rows; j++) {
      for (int64_t i = 0; i < P; i++, x += grid->dim) {
        node[0] = first[0] + i;
        node[1] = first[1] + j;
        node[2] = first[2] + k;
        place_node(grid, node, x);
      }
    }
  }
}

static void fill_range(void *data, int slot, int64_t first, int64_t count) {
  const Filling *f = data;
  const Grid *grid = f->grid;
  const int64_t num_values = ritz_mesh_power(grid->order + 1, grid->dim) * grid->dim;

  (void)slot;
  for (int64_t e = first; e < first + count; e++)
    fill_element(grid, e, f->draft->elem_vertices + (e << grid->dim), f->draft->coords + e * num_values);
}

// The largest arrays are there, or not, before any time is spent.
static int allocate_elements(const Grid *grid, RitzMeshDraft *draft) {
  const CeedInt dim = grid->dim;
  const int64_t num_local = ritz_mesh_power(grid->order + 1, dim);

  RITZ_TRY(RITZ_MALLOC(grid->ceed, (size_t)(grid->num_elem << dim), &draft->elem_vertices));
  return RITZ_MALLOC(grid->ceed, (size_t)(grid->num_elem * num_local * dim), &draft->coords);
}

static int fill_elements(const Grid *grid, RitzMeshDraft *draft) {
  Filling filling = {grid, draft};

  return ritz_run_elements(grid->ceed, grid->num_elem, fill_range, &filling);
}

// Labels all elements on one side of the box.
static void label_side(const Grid *grid, int side, RitzMeshDraft *draft) {
  const RitzMeshEntities facets = ritz_mesh_local_facets(grid->dim);
  const int d = side / 2;
  int64_t layer[3] = {grid->n[0], grid->n[1], grid->n[2]};

  layer[d] = 1;
  for (int64_t i = 0; i < grid->num_elem / grid->n[d]; i++) {
    int64_t at[3], *vertices = draft->label_vertices + draft->num_labels * facets.num_corners;

    ritz_mesh_grid_place(i, layer, at);
    if (side % 2) at[d] = grid->n[d] - 1;
    for (int k = 0; k < facets.num_corners; k++) {
      vertices[k] = corner_vertex(grid, at, facets.corner[side][k]);
    }
    draft->label_part[draft->num_labels++] = side;
  }
}

static int fill_labels(const Grid *grid, RitzMeshDraft *draft) {
  static const char *const names[6] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};
  const CeedInt num_sides = 2 * grid->dim;
  int64_t num_labels = 0;

  for (CeedInt d = 0; d < grid->dim; d++) num_labels += 2 * (grid->num_elem / grid->n[d]);
  RITZ_TRY(RITZ_MALLOC(grid->ceed, (size_t)(num_labels << (grid->dim - 1)), &draft->label_vertices));
  RITZ_TRY(RITZ_MALLOC(grid->ceed, (size_t)num_labels, &draft->label_part));
  RITZ_TRY(RITZ_CALLOC(grid->ceed, (size_t)num_sides, &draft->parts));
  draft->num_parts = num_sides;
  for (CeedInt side = 0; side < num_sides; side++) {
    RITZ_TRY(ritz_strdup(grid->ceed, names[side], &draft->parts[side].name));
    draft->parts[side].number = side + 1;
    label_side(grid, side, draft);
  }
  return CEED_ERROR_SUCCESS;
}

static int fill_draft(const Grid *grid, RitzMeshDraft *draft) {
  static const CeedElemTopology topologies[3] = {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_QUAD, CEED_TOPOLOGY_HEX};

  draft->topology = topologies[grid->dim - 1];
  draft->dim = draft->space_dim = grid->dim;
  draft->order = grid->order;
  draft->num_elem = grid->num_elem;
  draft->num_vertices = 1;
  for (CeedInt d = 0; d < grid->dim; d++) draft->num_vertices *= grid->n[d] + 1;
  memcpy(draft->grid, grid->n, sizeof(grid->n));
  draft->is_rectangular = !grid->x && grid->order == 1;
  RITZ_TRY(fill_elements(grid, draft));
  return fill_labels(grid, draft);
}

int RitzMeshCreateBox(Ceed ceed, CeedInt dim, const CeedInt n[], const double lower[], const double upper[],
                      CeedInt order, RitzMapFunction map, void *map_ctx, RitzMesh *mesh) {
  Grid grid;
  RitzMeshDraft draft = {0};
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, n);
  RITZ_ARGUMENT(ceed, mesh);
  *mesh = NULL;
  RITZ_TRY(check_box_arguments(ceed, dim, n, lower, upper, order));
  RITZ_TRY(set_sizes(ceed, dim, n, order, &grid));
  RITZ_TRY_CLEANUP(allocate_elements(&grid, &draft));
  for (CeedInt d = 0; d < dim; d++) {
    RITZ_TRY_CLEANUP(fill_axis(&grid, d, lower ? lower[d] : 0.0, upper ? upper[d] : 1.0));
  }
  if (map) RITZ_TRY_CLEANUP(fill_nodes(&grid, map, map_ctx));
  RITZ_TRY_CLEANUP(fill_draft(&grid, &draft));
  clear_box_draft(&grid);
  RITZ_TRY_CLEANUP(ritz_mesh_build(ceed, "RitzMeshCreateBox", &draft, mesh));

cleanup:
  clear_box_draft(&grid);
  ritz_mesh_draft_clear(&draft);
  return ierr;
}
