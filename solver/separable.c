// SPDX-License-Identifier: BSD-2-Clause
// Separable matrices of elements: eigenvectors of one direction, factors from the geometry, diagonals (see
// separable.h).
#include "solver/separable.h"

#include <math.h>

#include "core/ranges.h"
#include "fe/fe.h"

// ---- One direction ----

// K [P][P] and M [P][P] of [-1,1], integrated exactly; corner entries doubled.
static int fill_line(Ceed ceed, CeedInt P, double *K, double *M) {
  double *work = NULL;
  int ierr;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(3 * P + 2 * P * P), &work));
  double *nodes = work, *points = nodes + P, *weights = points + P, *values = weights + P,
         *derivatives = values + P * P;
  ritz_fe_gauss_lobatto(P, nodes, NULL);
  ritz_fe_gauss(P, points, weights);
  RITZ_TRY_CLEANUP(ritz_fe_lagrange(ceed, P, nodes, P, points, values, derivatives));
  for (CeedInt i = 0; i < P * P; i++) K[i] = M[i] = 0;
  for (CeedInt q = 0; q < P; q++) {
    for (CeedInt i = 0; i < P * P; i++) {
      K[i] += weights[q] * derivatives[q * P + i / P] * derivatives[q * P + i % P];
      M[i] += weights[q] * values[q * P + i / P] * values[q * P + i % P];
    }
  }
  for (CeedInt i = 0; i < P * P; i += P * P - 1) {
    K[i] *= 2;
    M[i] *= 2;
  }
cleanup:
  RITZ_FREE(&work);
  return ierr;
}

static int diagonalize(Ceed ceed, RitzSeparable *s) {
  const CeedInt P = s->P;
  double *K = NULL;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(2 * P * P), &K));
  double *M = K + P * P;
  int ierr = fill_line(ceed, P, K, M);

  for (CeedInt i = 0; i < P && !ierr; i++) {
    s->stiffness[i] = K[i * P + i];
    s->mass[i] = M[i * P + i];
  }
  if (!ierr) ierr = ritz_fe_simultaneous_diagonalization(ceed, K, M, s->X, s->lambda, P);
  RITZ_FREE(&K);
  return ierr;
}

// ---- Factors of the geometry ----

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

static int factors_of_mesh(Ceed ceed, RitzMesh mesh, RitzSeparable *s) {
  Map map = {.dim = s->dim, .factors = s->factors};

  RITZ_TRY(RitzMeshGetDimensions(mesh, NULL, &map.space_dim));
  int ierr = create_map(ceed, mesh, &map);
  if (!ierr) ierr = ritz_run_ranges(ceed, s->num_elem, average_metrics, &map);
  clear_map(&map);
  return ierr;
}

// Sums become one; the first element whose numbers make no sense is named.
static int normalize_factors(Ceed ceed, const char *call, bool are_given, RitzSeparable *s) {
  s->anisotropy = 1;
  for (CeedInt e = 0; e < s->num_elem; e++) {
    double *c = s->factors + (CeedSize)e * (s->dim + 1), sum = c[s->dim], least = INFINITY, most = 0;

    for (CeedInt d = 0; d < s->dim; d++) {
      sum += c[d];
      least = fmin(least, c[d]);
      most = fmax(most, c[d]);
    }
    RITZ_REQUIRE(least > 0 && c[s->dim] >= 0 && isfinite(sum), ceed,
                 are_given ? CEED_ERROR_INCOMPATIBLE : CEED_ERROR_MAJOR,
                 "%s: the factors of element %" CeedInt_FMT
                 " are %g, %g, %g, of its mass %g; needed: positive "
                 "finite numbers, of the mass not negative",
                 call, e, c[0], s->dim > 1 ? c[1] : 1, s->dim > 2 ? c[2] : 1, c[s->dim]);
    s->anisotropy = fmax(s->anisotropy, most / least);
    for (CeedInt d = 0; d <= s->dim; d++) c[d] /= sum;
  }
  return CEED_ERROR_SUCCESS;
}

// ---- All of it ----

static int check_mesh(Ceed ceed, const char *call, RitzMesh mesh) {
  CeedInt num_blocks = 0;

  RITZ_TRY(RitzMeshGetNumBlocks(mesh, &num_blocks));
  for (CeedInt b = 0; b < num_blocks; b++) {
    CeedElemTopology topology = CEED_TOPOLOGY_LINE;

    RITZ_TRY(RitzMeshGetBlock(mesh, b, &topology, NULL, NULL, NULL, NULL));
    RITZ_REQUIRE(topology == CEED_TOPOLOGY_LINE || topology == CEED_TOPOLOGY_QUAD ||
                     topology == CEED_TOPOLOGY_HEX,
                 ceed, CEED_ERROR_UNSUPPORTED,
                 "%s: the mesh has elements of the shape '%s'; fast diagonalization needs lines, "
                 "quadrilaterals or hexahedra alone (use Jacobi)",
                 call, CeedElemTopologies[topology]);
  }
  return CEED_ERROR_SUCCESS;
}

// The term of c_d is the product of the masses of the node's line positions, with the stiffness in direction
// d in place of the mass there; that of c_dim has masses alone.
static void fill_terms(RitzSeparable *s) {
  for (CeedInt n = 0; n < s->num_nodes; n++) {
    double *terms = s->terms + n * (s->dim + 1);

    for (CeedInt t = 0; t <= s->dim; t++) {
      CeedInt node = n;

      terms[t] = 1;
      for (CeedInt d = 0; d < s->dim; d++, node /= s->P)
        terms[t] *= (d == t ? s->stiffness : s->mass)[node % s->P];
    }
  }
}

static int allocate(Ceed ceed, RitzSeparable *s) {
  const size_t P = (size_t)s->P;

  RITZ_TRY(RITZ_MALLOC(ceed, P * P + 3 * P, &s->X));
  s->lambda = s->X + P * P;
  s->stiffness = s->lambda + P;
  s->mass = s->stiffness + P;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)s->num_nodes * (size_t)(s->dim + 1), &s->terms));
  return RITZ_MALLOC(ceed, (size_t)s->num_elem * (size_t)(s->dim + 1), &s->factors);
}

int ritz_separable_create(Ceed ceed, const char *call, RitzSpace space, const double *factors,
                          RitzSeparable *s) {
  RitzMesh mesh = NULL;
  CeedInt degree = 0;
  int64_t num_elem = 0;

  *s = (RitzSeparable){0};
  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(check_mesh(ceed, call, mesh));
  RITZ_TRY(RitzSpaceGetDegree(space, &degree));
  RITZ_TRY(RitzMeshGetDimensions(mesh, &s->dim, NULL));
  RITZ_TRY(RitzMeshGetNumElements(mesh, &num_elem));
  RITZ_REQUIRE(num_elem <= INT32_MAX, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %lld elements exceed the 32-bit counts of a restriction", call, (long long)num_elem);
  RITZ_TRY(RitzSpaceGetNumComponents(space, &s->num_comp));
  RITZ_TRY(RitzSpaceCreateRestriction(space, ceed, &s->rstr));
  s->P = degree + 1;
  s->num_elem = (CeedInt)num_elem;
  s->num_nodes = CeedIntPow(s->P, s->dim);
  RITZ_TRY(allocate(ceed, s));
  RITZ_TRY(diagonalize(ceed, s));
  fill_terms(s);
  const size_t num_factors = (size_t)num_elem * (size_t)(s->dim + 1);
  for (size_t i = 0; i < num_factors && factors; i++) s->factors[i] = factors[i];
  if (!factors) RITZ_TRY(factors_of_mesh(ceed, mesh, s));
  return normalize_factors(ceed, call, factors != NULL, s);
}

void ritz_separable_clear(RitzSeparable *s) {
  RITZ_FREE(&s->X);
  RITZ_FREE(&s->terms);
  RITZ_FREE(&s->factors);
  CeedElemRestrictionDestroy(&s->rstr);
  *s = (RitzSeparable){0};
}

// ---- Diagonals ----

static double diagonal_entry(const RitzSeparable *s, const double *c, CeedInt node) {
  const double *terms = s->terms + node * (s->dim + 1);
  double sum = 0;

  for (CeedInt d = 0; d <= s->dim; d++) sum += c[d] * terms[d];
  return sum;
}

typedef struct {
  const RitzSeparable *s;
  double *diagonal;
  int32_t *count;
} Diagonals;

static void find_bounds(const void *data, int64_t first, int64_t count, int64_t *low, int64_t *high) {
  const RitzSeparable *s = ((const Diagonals *)data)->s;
  const CeedInt *offsets = s->rstr->offsets + first * s->num_nodes;
  CeedInt least = offsets[0], most = offsets[0];

  for (int64_t i = 0; i < count * s->num_nodes; i++) {
    least = CeedIntMin(least, offsets[i]);
    most = CeedIntMax(most, offsets[i]);
  }
  *low = least / s->num_comp;
  *high = most / s->num_comp;
}

static void clear_range(const void *data, int64_t first, int64_t count) {
  const Diagonals *d = data;

  for (int64_t i = first; i < first + count; i++) {
    d->diagonal[i] = 0;
    d->count[i] = 0;
  }
}

static void add_elements(const void *data, int slot, int64_t first_elem, int64_t num_elem, int64_t first,
                         int64_t count) {
  const Diagonals *d = data;
  const RitzSeparable *s = d->s;

  (void)slot;
  for (int64_t e = first_elem; e < first_elem + num_elem; e++) {
    const CeedInt *offsets = s->rstr->offsets + e * s->num_nodes;
    const double *factors = s->factors + e * (s->dim + 1);

    for (CeedInt n = 0; n < s->num_nodes; n++) {
      const int64_t node = s->num_comp == 1 ? offsets[n] : offsets[n] / s->num_comp;

      if (node < first || node >= first + count) continue;
      d->diagonal[node] += diagonal_entry(s, factors, n);
      d->count[node]++;
    }
  }
}

int ritz_separable_sum_diagonals(Ceed ceed, const RitzSeparable *s, double *diagonal, int32_t *count) {
  const Diagonals diagonals = {s, diagonal, count};
  const RitzNodeSum sum = {.num_nodes = s->rstr->l_size / s->num_comp,
                           .num_elem = s->num_elem,
                           .bounds = find_bounds,
                           .clear = clear_range,
                           .add = add_elements,
                           .data = &diagonals};

  return ritz_run_node_sum(ceed, &sum);
}
