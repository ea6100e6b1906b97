// SPDX-License-Identifier: BSD-2-Clause
// Factors of separable matrices (see separable.h): from the geometry of the elements or given, checked, made
// comparable.
#include <math.h>

#include "base/ranges.h"
#include "fe/fe.h"
#include "solver/separable.h"

// ---- Of the geometry ----

// Derivatives of the elements' maps at some points, and what is made of them.
typedef struct {
  CeedInt dim, space_dim, num_nodes;
  int num_points;
  double *weights;     // owned, [num_points], sum one
  double *derivatives; // owned, [dim][num_points][num_nodes]
  const double *x;     // borrowed, [num_elem][num_nodes][space_dim]
  double *factors;     // borrowed, [num_elem][dim + 1]
} Map;

static void clear_map(Map *map) {
  RITZ_FREE(&map->weights);
  RITZ_FREE(&map->derivatives);
}

// Points for a mean: a rule of degree 3, of degree 5 in curved elements.
static int create_map(Ceed ceed, RitzMesh mesh, Map *map) {
  CeedElemTopology topology = CEED_TOPOLOGY_LINE;
  CeedInt order = 0;
  double *points = NULL, sum = 0;
  int ierr;

  RITZ_TRY(RitzMeshGetTopology(mesh, &topology));
  RITZ_TRY(RitzMeshGetGeometryOrder(mesh, &order));
  RITZ_TRY(RitzMeshGetElementCoordinates(mesh, &map->x));
  const int degree = order == 1 ? 3 : 5;
  map->num_nodes = ritz_fe_shape_num_nodes(topology, order);
  RITZ_TRY(ritz_fe_shape_quadrature(ceed, topology, degree, &map->num_points, NULL, NULL));
  const size_t num_points = (size_t)map->num_points;
  RITZ_TRY(RITZ_MALLOC(ceed, num_points, &map->weights));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)map->dim * num_points * (size_t)map->num_nodes, &map->derivatives));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)map->dim * num_points, &points));
  RITZ_TRY_CLEANUP(ritz_fe_shape_quadrature(ceed, topology, degree, &map->num_points, points, map->weights));
  RITZ_TRY_CLEANUP(
      ritz_fe_shape_lagrange(ceed, topology, order, map->num_points, points, NULL, map->derivatives));
  for (size_t q = 0; q < num_points; q++) sum += map->weights[q];
  for (size_t q = 0; q < num_points; q++) map->weights[q] /= sum;
cleanup:
  RITZ_FREE(&points);
  return ierr;
}

// g_ab = J_a . J_b at a point.
static void metric_at(const Map *map, const double *x, int point, double g[3][3]) {
  double J[3][3] = {{0}};

  for (CeedInt d = 0; d < map->dim; d++) {
    const double *row =
        map->derivatives + ((size_t)d * (size_t)map->num_points + (size_t)point) * (size_t)map->num_nodes;
    for (CeedInt n = 0; n < map->num_nodes; n++) {
      for (CeedInt c = 0; c < map->space_dim; c++) J[d][c] += row[n] * x[n * map->space_dim + c];
    }
  }
  for (CeedInt a = 0; a < map->dim; a++) {
    for (CeedInt b = 0; b < map->dim; b++) {
      g[a][b] = J[a][0] * J[b][0] + J[a][1] * J[b][1] + J[a][2] * J[b][2];
    }
  }
}

// The minor of g without row and column d.
static double minor_of(CeedInt dim, double g[3][3], CeedInt d) {
  if (dim == 1) return 1;
  const CeedInt a = (d + 1) % dim, b = (d + 2) % dim;
  return dim == 2 ? g[a][a] : g[a][a] * g[b][b] - g[a][b] * g[b][a];
}

// G_dd = det (g^-1)_dd = minor / det with det^2 = det g.
static void add_point(const Map *map, const double *x, int point, double *factors) {
  double g[3][3], minors[3], square = 0;

  metric_at(map, x, point, g);
  for (CeedInt d = 0; d < map->dim; d++) minors[d] = minor_of(map->dim, g, d);
  if (map->dim == 1) square = g[0][0];
  if (map->dim == 2) square = g[0][0] * g[1][1] - g[0][1] * g[1][0];
  if (map->dim == 3) {
    square = g[0][0] * minors[0] + g[0][1] * (g[1][2] * g[2][0] - g[1][0] * g[2][2]) +
             g[0][2] * (g[1][0] * g[2][1] - g[1][1] * g[2][0]);
  }
  for (CeedInt d = 0; d < map->dim; d++) factors[d] += map->weights[point] * minors[d] / sqrt(square);
}

static void average_metrics(void *data, int slot, int64_t first, int64_t count) {
  const Map *map = data;
  (void)slot;
  for (int64_t e = first; e < first + count; e++) {
    double *factors = map->factors + e * (map->dim + 1);
    const double *x = map->x + e * map->num_nodes * map->space_dim;

    for (CeedInt d = 0; d <= map->dim; d++) factors[d] = 0;
    for (int q = 0; q < map->num_points; q++) add_point(map, x, q, factors);
  }
}

static int factors_of_mesh(Ceed ceed, RitzMesh mesh, CeedInt dim, int64_t num_elem, double *factors) {
  Map map = {.dim = dim, .factors = factors};

  RITZ_TRY(RitzMeshGetDimensions(mesh, NULL, &map.space_dim));
  int ierr = create_map(ceed, mesh, &map);
  if (!ierr) ierr = ritz_run_ranges(ceed, num_elem, average_metrics, &map);
  clear_map(&map);
  return ierr;
}

// ---- Checks and sums ----

typedef struct {
  double least, most, sum; // of the directions; of all
} Range;

static Range range_of(CeedInt dim, const double *c) {
  Range range = {.least = INFINITY, .sum = c[dim]};

  for (CeedInt d = 0; d < dim; d++) {
    range.sum += c[d];
    range.least = fmin(range.least, c[d]);
    range.most = fmax(range.most, c[d]);
  }
  return range;
}

// The first element whose numbers make no sense is named.
static int check_factors(Ceed ceed, const char *call, CeedInt dim, int64_t num_elem, bool are_given,
                         const double *factors) {
  for (int64_t e = 0; e < num_elem; e++) {
    const double *c = factors + e * (dim + 1);
    const Range range = range_of(dim, c);

    RITZ_REQUIRE(range.least > 0 && c[dim] >= 0 && isfinite(range.sum), ceed,
                 are_given ? CEED_ERROR_INCOMPATIBLE : CEED_ERROR_MAJOR,
                 "%s: the factors of element %lld are %g, %g, %g, of its mass %g; needed: positive finite "
                 "numbers, of the mass not negative",
                 call, (long long)e, c[0], dim > 1 ? c[1] : 1, dim > 2 ? c[2] : 1, c[dim]);
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_separable_element_factors(Ceed ceed, const char *call, RitzMesh mesh, CeedInt dim, int64_t num_elem,
                                   const double *given, double *factors) {
  const int64_t num = num_elem * (dim + 1);

  for (int64_t i = 0; i < num && given; i++) factors[i] = given[i];
  if (!given) RITZ_TRY(factors_of_mesh(ceed, mesh, dim, num_elem, factors));
  return check_factors(ceed, call, dim, num_elem, given != NULL, factors);
}

void ritz_separable_normalize(RitzSeparable *s) {
  s->anisotropy = 1;
  for (int64_t i = 0; i < s->num_domains; i++) {
    double *c = s->factors + i * (s->dim + 1);
    const Range range = range_of(s->dim, c);

    s->anisotropy = fmax(s->anisotropy, range.most / range.least);
    for (CeedInt d = 0; d <= s->dim; d++) c[d] /= range.sum;
  }
}
