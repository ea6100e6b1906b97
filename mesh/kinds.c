// SPDX-License-Identifier: BSD-2-Clause
// Kinds of elements (affine, multilinear, curved) and the measure of a mesh. Public functions; the choice of
// geometric factors by kind is the callers'.
#include "mesh/mesh.h"

#include <float.h>
#include <math.h>

#include "fe/fe.h"

static const double default_tolerance = 1e-12;

// Coordinates are rounded, and so are the sums below, by a few units of the last place of the largest one.
static const double rounding = 8.0 * DBL_EPSILON;

// What one element is compared with. The monomial coefficients c[m] of the multilinear map through the
// corners: m is a set of directions, the bits that are set, and c[m] belongs to the product of their
// coordinates.
typedef struct {
  CeedInt dim, space_dim, P;
  int64_t num_nodes;
  const double *nodes; // borrowed: Gauss-Lobatto points [P]
  double tolerance;
  double c[8][3];
} Comparison;

// Local number of a corner among the geometry nodes.
static int64_t corner_node(const Comparison *cmp, int corner) {
  int64_t node = 0, stride = 1;

  for (CeedInt d = 0; d < cmp->dim; d++, stride *= cmp->P) node += (corner >> d & 1) * (cmp->P - 1) * stride;
  return node;
}

// Hadamard transform of the corners relative to the first one, in which positions far from 0 cancel.
static void fill_coefficients(Comparison *cmp, const double *x) {
  const int num_corners = 1 << cmp->dim;

  for (int k = 0; k < num_corners; k++) {
    const double *corner = x + corner_node(cmp, k) * cmp->space_dim;

    for (CeedInt i = 0; i < cmp->space_dim; i++) cmp->c[k][i] = corner[i] - x[i];
  }
  for (int bit = 1; bit < num_corners; bit <<= 1) {
    for (int k = 0; k < num_corners; k++) {
      if (k & bit) continue;
      for (CeedInt i = 0; i < cmp->space_dim; i++) {
        double low = cmp->c[k][i], high = cmp->c[k | bit][i];

        cmp->c[k][i] = 0.5 * (low + high);
        cmp->c[k | bit][i] = 0.5 * (high - low);
      }
    }
  }
}

// Largest distance of a geometry node from the map that keeps the coefficients with at most `max_degree`
// directions.
static double find_deviation(const Comparison *cmp, const double *x, int max_degree) {
  double largest = 0.0;

  for (int64_t node = 0; node < cmp->num_nodes; node++) {
    double r[3] = {0.0, 0.0, 0.0}, deviation[3] = {0.0, 0.0, 0.0};
    int64_t rest = node;

    for (CeedInt d = 0; d < cmp->dim; d++, rest /= cmp->P) r[d] = cmp->nodes[rest % cmp->P];
    for (CeedInt i = 0; i < cmp->space_dim; i++) deviation[i] = x[node * cmp->space_dim + i] - x[i];
    for (int m = 0; m < 1 << cmp->dim; m++) {
      double monomial = 1.0;
      int degree = 0;

      for (CeedInt d = 0; d < cmp->dim; d++) {
        if (!(m >> d & 1)) continue;
        monomial *= r[d];
        degree++;
      }
      if (degree > max_degree) continue;
      for (CeedInt i = 0; i < cmp->space_dim; i++) deviation[i] -= cmp->c[m][i] * monomial;
    }
    largest = fmax(largest, hypot(hypot(deviation[0], deviation[1]), deviation[2]));
  }
  return largest;
}

// What deviation still counts as none: relative to the diagonal of the bounding box, and rounding.
static double allowed_deviation(const Comparison *cmp, const double *x) {
  double low[3], high[3], diameter = 0.0, magnitude = 0.0;

  ritz_mesh_bounds(cmp->space_dim, cmp->num_nodes, x, low, high);
  for (CeedInt i = 0; i < cmp->space_dim; i++) {
    diameter = hypot(diameter, high[i] - low[i]);
    magnitude = fmax(magnitude, fmax(fabs(low[i]), fabs(high[i])));
  }
  return fmax(cmp->tolerance * diameter, rounding * magnitude);
}

static RitzElementKind classify(Comparison *cmp, const double *x) {
  double allowed = allowed_deviation(cmp, x);

  fill_coefficients(cmp, x);
  if (find_deviation(cmp, x, 1) <= allowed) return RITZ_ELEMENT_AFFINE;
  if (cmp->P == 2 || find_deviation(cmp, x, cmp->dim) <= allowed) return RITZ_ELEMENT_TRILINEAR;
  return RITZ_ELEMENT_CURVED;
}

int RitzMeshClassifyElements(RitzMesh mesh, double tolerance, RitzElementKind *kinds, int64_t counts[3]) {
  double *nodes = NULL;

  RITZ_NOT_NULL(mesh);
  RITZ_REQUIRE(!isnan(tolerance), mesh->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzMeshClassifyElements: the tolerance is not a number");
  Comparison cmp = {.dim = mesh->dim,
                    .space_dim = mesh->space_dim,
                    .P = mesh->order + 1,
                    .num_nodes = ritz_mesh_power(mesh->order + 1, mesh->dim),
                    .tolerance = tolerance < 0.0 ? default_tolerance : tolerance};

  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)cmp.P, &nodes));
  ritz_fe_gauss_lobatto(cmp.P, nodes, NULL);
  cmp.nodes = nodes;
  for (int i = 0; counts && i < 3; i++) counts[i] = 0;
  for (int64_t e = 0; e < mesh->num_elem; e++) {
    RitzElementKind kind = classify(&cmp, mesh->coords + e * cmp.num_nodes * cmp.space_dim);

    if (kinds) kinds[e] = kind;
    if (counts) counts[kind]++;
  }
  RITZ_FREE(&nodes);
  return CEED_ERROR_SUCCESS;
}

// sum += term; *lost collects what rounding takes away (Neumaier, ZAMM 54, 1974).
static void add_compensated(double term, double *sum, double *lost) {
  double total = *sum + term;

  *lost += fabs(*sum) >= fabs(term) ? (*sum - total) + term : (term - total) + *sum;
  *sum = total;
}

int RitzMeshGetMeasure(RitzMesh mesh, double *measure, double *min_det, double *max_det) {
  RitzMeshSampler sampler;
  double sum = 0.0, lost = 0.0, low = INFINITY, high = -INFINITY;

  RITZ_NOT_NULL(mesh);
  const int64_t num_per_elem = ritz_mesh_power(mesh->order + 1, mesh->dim) * mesh->space_dim;

  RITZ_TRY(ritz_mesh_sampler_create(mesh->ceed, mesh->dim, mesh->space_dim, mesh->order, &sampler));
  for (int64_t e = 0; e < mesh->num_elem; e++) {
    double elem_sum = 0.0;

    ritz_mesh_sampler_take(&sampler, mesh->coords + e * num_per_elem);
    for (int64_t i = 0; i < sampler.num_gauss; i++) elem_sum += sampler.weights[i] * sampler.det[i];
    for (int64_t i = 0; i < sampler.num_points; i++) {
      low = fmin(low, sampler.det[i]);
      high = fmax(high, sampler.det[i]);
    }
    add_compensated(elem_sum, &sum, &lost);
  }
  ritz_mesh_sampler_clear(&sampler);
  if (measure) *measure = sum + lost;
  if (min_det) *min_det = low;
  if (max_det) *max_det = high;
  return CEED_ERROR_SUCCESS;
}
