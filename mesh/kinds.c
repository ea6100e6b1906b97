// SPDX-License-Identifier: BSD-2-Clause
// Kinds of elements: affine, of degree 1, curved. A public function; the choice of geometric factors by kind
// is the callers'.
#include "mesh/mesh.h"

#include <float.h>
#include <math.h>

#include "fe/fe.h"

static const double default_tolerance = 1e-12;

// Coordinates are rounded, and so are the sums below, by a few units of the last place of the largest one.
static const double rounding = 8.0 * DBL_EPSILON;

// Maps that the elements of one shape are compared with: sums of the corners' positions.
typedef struct {
  const RitzMeshShape *shape;
  CeedInt space_dim, order;
  int64_t num_nodes;
  int64_t corner_node[RITZ_MESH_MAX_CORNERS];
  double *affine, *linear; // owned, [num_nodes][corners]: best affine map, Lagrange map of degree 1
  double tolerance;
} Comparison;

// ---- Tables ----

// Values at the nodes of the affine map with the least squares of deviations at the corners: the mean of the
// corners, and a gradient from the normal equations.
static int fill_affine(Ceed ceed, Comparison *cmp, const double *nodes, const double *corners) {
  const int dim = cmp->shape->dim, n = cmp->shape->num_corners;
  double mean[3] = {0.0, 0.0, 0.0}, normal[9] = {0.0}, gradient[3 * RITZ_MESH_MAX_CORNERS];

  for (int k = 0; k < n; k++) {
    for (int d = 0; d < dim; d++) mean[d] += corners[k * dim + d] / n;
  }
  for (int k = 0; k < n; k++) {
    for (int d = 0; d < dim; d++) {
      gradient[d * n + k] = corners[k * dim + d] - mean[d];
      for (int i = 0; i < dim; i++)
        normal[d * dim + i] += gradient[d * n + k] * (corners[k * dim + i] - mean[i]);
    }
  }
  RITZ_TRY(ritz_fe_solve(ceed, dim, normal, n, gradient));
  for (int64_t i = 0; i < cmp->num_nodes; i++) {
    for (int k = 0; k < n; k++) {
      double *weight = &cmp->affine[i * n + k];

      *weight = 1.0 / n;
      for (int d = 0; d < dim; d++) *weight += (nodes[i * dim + d] - mean[d]) * gradient[d * n + k];
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int fill_comparison_tables(Ceed ceed, Comparison *cmp) {
  const CeedElemTopology topology = cmp->shape->topology;
  const size_t dim = (size_t)cmp->shape->dim, n = (size_t)cmp->shape->num_corners;
  double *nodes = NULL, corners[3 * RITZ_MESH_MAX_CORNERS];
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)cmp->num_nodes * n, &cmp->affine));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)cmp->num_nodes * n, &cmp->linear));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)cmp->num_nodes * dim, &nodes));
  RITZ_TRY_CLEANUP(ritz_fe_shape_nodes(ceed, topology, cmp->order, nodes));
  RITZ_TRY_CLEANUP(ritz_fe_shape_nodes(ceed, topology, 1, corners));
  RITZ_TRY_CLEANUP(fill_affine(ceed, cmp, nodes, corners));
  ierr = ritz_fe_shape_lagrange(ceed, topology, 1, (int)cmp->num_nodes, nodes, cmp->linear, NULL);

cleanup:
  RITZ_FREE(&nodes);
  return ierr;
}

static void clear_comparison(Comparison *cmp) {
  RITZ_FREE(&cmp->affine);
  RITZ_FREE(&cmp->linear);
}

static int make_comparison(RitzMesh mesh, const RitzMeshBlock *block, double tolerance, Comparison *cmp) {
  *cmp = (Comparison){.shape = ritz_mesh_shape(block->topology),
                      .space_dim = mesh->space_dim,
                      .order = mesh->order,
                      .num_nodes = block->num_nodes,
                      .tolerance = tolerance};
  for (int8_t k = 0; k < block->num_corners; k++) {
    int64_t at[3];

    ritz_mesh_lattice_point(cmp->shape, mesh->order, &k, 1, NULL, at);
    cmp->corner_node[k] = ritz_mesh_lattice_index(block->topology, mesh->order, at);
  }
  int ierr = fill_comparison_tables(mesh->ceed, cmp);

  if (ierr) clear_comparison(cmp);
  return ierr;
}

// ---- Elements ----

// Whether no geometry node is farther than `allowed` from the map with these weights of the corners.
// Everything is taken relative to the first node, in which positions far from 0 cancel. (hypot takes long,
// and is not needed where the components alone are small.)
static bool is_near(const Comparison *cmp, const double *x, const double *weights, double allowed) {
  const CeedInt space_dim = cmp->space_dim;

  for (int64_t node = 0; node < cmp->num_nodes; node++, weights += cmp->shape->num_corners) {
    double deviation[3] = {0.0, 0.0, 0.0};

    for (CeedInt i = 0; i < space_dim; i++) deviation[i] = x[node * space_dim + i] - x[i];
    for (int k = 1; k < cmp->shape->num_corners; k++) {
      const double *corner = x + cmp->corner_node[k] * space_dim;

      for (CeedInt i = 0; i < space_dim; i++) deviation[i] -= weights[k] * (corner[i] - x[i]);
    }
    const double sum = fabs(deviation[0]) + fabs(deviation[1]) + fabs(deviation[2]);
    if (sum <= allowed) continue;
    if (hypot(hypot(deviation[0], deviation[1]), deviation[2]) > allowed) return false;
  }
  return true;
}

// Largest deviation that counts as none: relative to the diagonal of the bounding box, and rounding.
static double allowed_deviation(const Comparison *cmp, const double *x) {
  double low[3], high[3], diameter = 0.0, magnitude = 0.0;

  ritz_mesh_bounds(cmp->space_dim, cmp->num_nodes, x, low, high);
  for (CeedInt i = 0; i < cmp->space_dim; i++) {
    diameter = hypot(diameter, high[i] - low[i]);
    magnitude = fmax(magnitude, fmax(fabs(low[i]), fabs(high[i])));
  }
  return fmax(cmp->tolerance * diameter, rounding * magnitude);
}

static RitzElementKind classify(const Comparison *cmp, const double *x) {
  double allowed = allowed_deviation(cmp, x);

  if (is_near(cmp, x, cmp->affine, allowed)) return RITZ_ELEMENT_AFFINE;
  if (cmp->order == 1 || is_near(cmp, x, cmp->linear, allowed)) return RITZ_ELEMENT_TRILINEAR;
  return RITZ_ELEMENT_CURVED;
}

// The elements of a block, and what threads find.
typedef struct {
  const Comparison *cmp;
  const double *x; // [num_elem][num_nodes][space_dim]
  RitzElementKind *kinds;
  int64_t (*counts)[3]; // [num_slots]
} Classification;

static void classify_range(void *data, int slot, int64_t first, int64_t count) {
  const Classification *c = data;
  const int64_t stride = c->cmp->num_nodes * c->cmp->space_dim;

  for (int64_t e = first; e < first + count; e++) {
    const RitzElementKind kind = classify(c->cmp, c->x + e * stride);

    if (c->kinds) c->kinds[e] = kind;
    c->counts[slot][kind]++;
  }
}

static int classify_block(RitzMesh mesh, const RitzMeshBlock *block, double tolerance, RitzElementKind *kinds,
                          int num_slots, int64_t (*counts)[3]) {
  for (int slot = 0; slot < num_slots; slot++) counts[slot][0] = counts[slot][1] = counts[slot][2] = 0;
  if (block->num_elem == 0) return CEED_ERROR_SUCCESS;
  Comparison cmp;
  Classification c = {.cmp = &cmp,
                      .x = mesh->coords + block->node_base * mesh->space_dim,
                      .kinds = kinds ? kinds + block->first : NULL,
                      .counts = counts};

  RITZ_TRY(make_comparison(mesh, block, tolerance, &cmp));
  const int ierr = ritz_run_elements(mesh->ceed, block->num_elem, classify_range, &c);
  clear_comparison(&cmp);
  return ierr;
}

int RitzMeshClassifyElements(RitzMesh mesh, double tolerance, RitzElementKind *kinds, int64_t counts[3]) {
  int64_t(*found)[3] = NULL;
  int num_slots = 1, ierr = CEED_ERROR_SUCCESS;

  RITZ_HANDLE(mesh);
  RITZ_REQUIRE(!isnan(tolerance), mesh->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzMeshClassifyElements: the tolerance is not a number");
  if (tolerance < 0.0) tolerance = default_tolerance;
  for (int i = 0; counts && i < 3; i++) counts[i] = 0;
  if (mesh->is_rectangular) {
    for (int64_t e = 0; kinds && e < mesh->num_elem; e++) kinds[e] = RITZ_ELEMENT_AFFINE;
    if (counts) counts[RITZ_ELEMENT_AFFINE] = mesh->num_elem;
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(ritz_run_ranges_slots(mesh->ceed, &num_slots));
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)num_slots, &found));
  for (int b = 0; b < mesh->num_blocks && !ierr; b++) {
    ierr = classify_block(mesh, &mesh->blocks[b], tolerance, kinds, num_slots, found);
    for (int i = 0; i < 3 * num_slots && counts && !ierr; i++) counts[i % 3] += found[i / 3][i % 3];
  }
  RITZ_FREE(&found);
  return ierr;
}
