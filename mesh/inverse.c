// SPDX-License-Identifier: BSD-2-Clause
// The inverse of an element's map (contract in mesh/locate.h). Called by mesh/locate.c for every point and
// element in question: takes no memory, reports no errors. Modes of the shapes are those of fe/.
#include <float.h>
#include <math.h>

#include "fe/fe.h"
#include "mesh/locate.h"

// ---- Tables ----

// Weights of the Lagrange polynomials l_j(r) = w_j prod_{k != j} (r - r_k).
static void fill_line_weights(RitzMeshInverse *m) {
  ritz_fe_gauss_lobatto(m->P, m->nodes, NULL);
  for (CeedInt j = 0; j < m->P; j++) {
    double product = 1.0;

    for (CeedInt k = 0; k < m->P; k++) product *= k == j ? 1.0 : m->nodes[j] - m->nodes[k];
    m->weights[j] = 1.0 / product;
  }
}

// The inverse of the modes' values at the nodes.
static int fill_modal(Ceed ceed, RitzMeshInverse *m) {
  const CeedElemTopology topology = m->shape->topology;
  const int64_t n = m->num_nodes;
  double *values = NULL; // [n][n], work

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(n * n), &m->modal));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(n * n + ritz_fe_shape_modes_work(topology, m->P - 1)), &values));
  for (int64_t i = 0; i < n; i++) {
    ritz_fe_shape_modes_at(topology, m->P - 1, m->positions + i * m->dim, values + i * n, NULL,
                           values + n * n);
    for (int64_t k = 0; k < n; k++) m->modal[i * n + k] = i == k;
  }
  const int ierr = ritz_fe_solve(ceed, (int)n, values, (int)n, m->modal);
  RITZ_FREE(&values);
  return ierr;
}

int ritz_mesh_inverse_create(Ceed ceed, CeedElemTopology topology, CeedInt space_dim, CeedInt order,
                             RitzMeshInverse *inverse) {
  RitzMeshInverse m = {.shape = ritz_mesh_shape(topology),
                       .space_dim = space_dim,
                       .P = order + 1,
                       .num_nodes = ritz_mesh_num_nodes(topology, order)};
  int ierr = CEED_ERROR_SUCCESS;

  m.dim = m.shape->dim;
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)(m.num_nodes * m.dim), &m.positions));
  RITZ_TRY_CLEANUP(ritz_fe_shape_nodes(ceed, topology, order, m.positions));
  if (m.shape->is_tensor) {
    RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, 2 * (size_t)m.P, &m.nodes));
    m.weights = m.nodes + m.P;
    fill_line_weights(&m);
  } else {
    ierr = fill_modal(ceed, &m);
  }

cleanup:
  if (ierr) ritz_mesh_inverse_clear(&m);
  *inverse = m;
  return ierr;
}

void ritz_mesh_inverse_clear(RitzMeshInverse *inverse) {
  RITZ_FREE(&inverse->positions);
  RITZ_FREE(&inverse->nodes);
  RITZ_FREE(&inverse->modal);
  *inverse = (RitzMeshInverse){0};
}

bool ritz_mesh_inverse_is_affine(const RitzMeshInverse *inverse) {
  return inverse->P == 2 && inverse->shape->num_corners == inverse->dim + 1;
}

// ---- One element ----

// Coefficients, and: Lagrange polynomials of three directions with derivatives and products; or modes with
// gradients and what they take; nodes relative to the first one.
int64_t ritz_mesh_inverse_work_size(const RitzMeshInverse *m) {
  const int64_t coefs = m->num_nodes * m->space_dim;

  if (m->shape->is_tensor) return coefs + 7 * (int64_t)m->P;
  return 2 * coefs + 4 * m->num_nodes + ritz_fe_shape_modes_work(m->shape->topology, m->P - 1);
}

RitzMeshElementMap ritz_mesh_element_open(const RitzMeshInverse *m, const double *x, double *work) {
  const int64_t num = m->num_nodes * m->space_dim;
  RitzMeshElementMap map = {.inverse = m, .x = x, .coefs = work, .work = work + num};
  const bool has_modes = !m->shape->is_tensor && !ritz_mesh_inverse_is_affine(m);
  double *near = has_modes ? map.work : map.coefs;

  for (int64_t i = 0; i < num; i++) {
    near[i] = x[i] - x[i % m->space_dim];
    map.extent = fmax(map.extent, fabs(near[i]));
    map.magnitude = fmax(map.magnitude, fabs(x[i]));
  }
  if (has_modes) ritz_mesh_map_dense(m->space_dim, m->num_nodes, m->num_nodes, m->modal, near, map.coefs);
  return map;
}

// value, slope [P] of the Lagrange polynomials at r: products of the factors before and behind each node.
static void fill_line(const RitzMeshInverse *m, double r, double *value, double *slope, double *before) {
  double product = 1.0, derivative = 0.0;

  for (CeedInt j = 0; j < m->P; j++) {
    value[j] = product, before[j] = derivative;
    derivative = derivative * (r - m->nodes[j]) + product;
    product *= r - m->nodes[j];
  }
  product = 1.0, derivative = 0.0;
  for (CeedInt j = m->P - 1; j >= 0; j--) {
    slope[j] = m->weights[j] * (before[j] * product + value[j] * derivative);
    value[j] *= m->weights[j] * product;
    derivative = derivative * (r - m->nodes[j]) + product;
    product *= r - m->nodes[j];
  }
}

// Adds value_k times the sums of a line of nodes: sums [2][3], of the function and its derivative along it.
static void add_line(const RitzMeshInverse *m, const double *coefs, const double *value, const double *slope,
                     double sums[2][3]) {
  for (CeedInt i = 0; i < m->P; i++, coefs += m->space_dim) {
    for (CeedInt c = 0; c < m->space_dim; c++) {
      sums[0][c] += value[i] * coefs[c];
      sums[1][c] += slope[i] * coefs[c];
    }
  }
}

static void evaluate_tensor(const RitzMeshElementMap *map, const double *xi, double y[3], double J[3][3]) {
  const RitzMeshInverse *m = map->inverse;
  const CeedInt P = m->P;
  const int64_t num_lines = m->num_nodes / P;
  double *value = map->work, *slope = value + 3 * P; // [3][P]

  for (CeedInt d = 0; d < m->dim; d++) fill_line(m, xi[d], value + d * P, slope + d * P, slope + 3 * P);
  for (int64_t line = 0; line < num_lines; line++) {
    const CeedInt j = (CeedInt)(line % P), k = (CeedInt)(line / P);
    const double second = m->dim > 1 ? value[P + j] : 1.0, third = m->dim > 2 ? value[2 * P + k] : 1.0;
    double sums[2][3] = {{0.0}};

    add_line(m, map->coefs + line * P * m->space_dim, value, slope, sums);
    for (CeedInt c = 0; c < m->space_dim; c++) {
      y[c] += second * third * sums[0][c];
      J[0][c] += second * third * sums[1][c];
      if (m->dim > 1) J[1][c] += slope[P + j] * third * sums[0][c];
      if (m->dim > 2) J[2][c] += second * slope[2 * P + k] * sums[0][c];
    }
  }
}

// The corners of a straight simplex beyond the first one lie two units along the directions.
static void evaluate_affine(const RitzMeshElementMap *map, const double *xi, double y[3], double J[3][3]) {
  const RitzMeshInverse *m = map->inverse;

  for (CeedInt d = 0; d < m->dim; d++) {
    for (CeedInt c = 0; c < m->space_dim; c++) {
      J[d][c] = 0.5 * map->coefs[(d + 1) * m->space_dim + c];
      y[c] += (1.0 + xi[d]) * J[d][c];
    }
  }
}

static void evaluate_modes(const RitzMeshElementMap *map, const double *xi, double y[3], double J[3][3]) {
  const RitzMeshInverse *m = map->inverse;
  double *value = map->work, *gradient = value + m->num_nodes; // [dim][num_nodes]

  ritz_fe_shape_modes_at(m->shape->topology, m->P - 1, xi, value, gradient, gradient + 3 * m->num_nodes);
  ritz_mesh_map_dense(m->space_dim, 1, m->num_nodes, value, map->coefs, y);
  for (CeedInt d = 0; d < m->dim; d++)
    ritz_mesh_map_dense(m->space_dim, 1, m->num_nodes, gradient + d * m->num_nodes, map->coefs, J[d]);
}

// y [space_dim] and, unless NULL, J [dim][space_dim]: position relative to the first node, and derivatives.
static void evaluate_map(const RitzMeshElementMap *map, const double *xi, double y[3], double J[3][3]) {
  for (int d = 0; d < 3; d++) y[d] = J[d][0] = J[d][1] = J[d][2] = 0.0;
  if (map->inverse->shape->is_tensor) {
    evaluate_tensor(map, xi, y, J);
  } else if (ritz_mesh_inverse_is_affine(map->inverse)) {
    evaluate_affine(map, xi, y, J);
  } else {
    evaluate_modes(map, xi, y, J);
  }
}

int ritz_mesh_element_nearest(const RitzMeshElementMap *map, const double *x, int num, int64_t *nodes) {
  enum { MOST = 16 };
  const CeedInt space_dim = map->inverse->space_dim;
  double squares[MOST];
  int found = 0;

  for (int64_t i = 0; i < map->inverse->num_nodes; i++) {
    double square = 0.0;
    int at = found < num ? found : num - 1;

    for (CeedInt c = 0; c < space_dim; c++)
      square += (map->x[i * space_dim + c] - x[c]) * (map->x[i * space_dim + c] - x[c]);
    if (found == num && !(square < squares[at])) continue;
    for (; at > 0 && square < squares[at - 1]; at--) squares[at] = squares[at - 1], nodes[at] = nodes[at - 1];
    squares[at] = square;
    nodes[at] = i;
    if (found < num) found++;
  }
  return found;
}

// ---- Reference elements ----

static double least(double a, double b) { return a < b ? a : b; }

// The smallest of what the facets' conditions (ritz/mesh.h) leave, in units of reference coordinates.
static double depth_of(CeedElemTopology topology, const double *r) {
  switch (topology) {
  case CEED_TOPOLOGY_LINE: return 1.0 - fabs(r[0]);
  case CEED_TOPOLOGY_QUAD: return least(1.0 - fabs(r[0]), 1.0 - fabs(r[1]));
  case CEED_TOPOLOGY_HEX: return least(least(1.0 - fabs(r[0]), 1.0 - fabs(r[1])), 1.0 - fabs(r[2]));
  case CEED_TOPOLOGY_TRIANGLE: return least(least(1.0 + r[0], 1.0 + r[1]), -r[0] - r[1]);
  case CEED_TOPOLOGY_TET:
    return least(least(1.0 + r[0], 1.0 + r[1]), least(1.0 + r[2], -1.0 - r[0] - r[1] - r[2]));
  case CEED_TOPOLOGY_PRISM:
    return least(least(least(1.0 + r[0], 1.0 + r[1]), -r[0] - r[1]), 1.0 - fabs(r[2]));
  default: return least(1.0 + r[2], least(0.5 * (1.0 - r[2]) - fabs(r[0]), 0.5 * (1.0 - r[2]) - fabs(r[1])));
  }
}

static void centre_of(CeedElemTopology topology, double *r) {
  const double third = -1.0 / 3.0;

  r[0] = r[1] = r[2] = 0.0;
  if (topology == CEED_TOPOLOGY_TRIANGLE || topology == CEED_TOPOLOGY_PRISM) r[0] = r[1] = third;
  if (topology == CEED_TOPOLOGY_TET) r[0] = r[1] = r[2] = -0.5;
  if (topology == CEED_TOPOLOGY_PYRAMID) r[2] = -0.5;
}

// ---- Newton's method ----

static void cross(const double a[3], const double b[3], double c[3]) {
  for (int k = 0; k < 3; k++) c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// dual [dim][3]: dual_a . J_b = 1 for a = b, else 0, in the span of the tangents J [dim][3], which in the
// plane and on surfaces are completed by their normal. False: there are none.
static bool fill_dual(int dim, double J[3][3], double dual[3][3]) {
  if (dim == 2) cross(J[0], J[1], J[2]);
  for (int a = 0; a < dim && dim > 1; a++) cross(J[(a + 1) % 3], J[(a + 2) % 3], dual[a]);
  for (int c = 0; c < 3 && dim == 1; c++) dual[0][c] = J[0][c];
  const double det = dot(J[0], dual[0]);

  for (int a = 0; a < dim; a++) {
    for (int c = 0; c < 3; c++) dual[a][c] /= det;
  }
  return det != 0.0 && isfinite(1.0 / det);
}

// An iterate: how far the target, relative to the first node, is from its position.
typedef struct {
  const RitzMeshElementMap *map;
  double target[3];
  double xi[3], J[3][3], dual[3][3];
  double rest[3], square; // target - position
  double rounding;        // as in RitzMeshPreimage
} Iterate;

// xi = from + factor step; whether the map is regular there and the target nearer than before.
static bool move_iterate(Iterate *it, const double from[3], double factor, const double step[3]) {
  const double before = it->square;
  double y[3];

  for (int d = 0; d < 3; d++) it->xi[d] = from[d] + factor * step[d];
  evaluate_map(it->map, it->xi, y, it->J);
  for (int c = 0; c < 3; c++) it->rest[c] = it->target[c] - y[c];
  it->square = dot(it->rest, it->rest);
  if (it->square < before) return true;
  it->square = before;
  return false;
}

// The step of Newton (on surfaces and curves, Gauss and Newton) and its largest component; negative: none.
static double newton_step(Iterate *it, double step[3]) {
  const RitzMeshElementMap *map = it->map;
  double size = 0.0;

  if (!fill_dual(map->inverse->dim, it->J, it->dual)) return -1.0;
  it->rounding = 0.0;
  for (int d = 0; d < map->inverse->dim; d++) {
    step[d] = dot(it->dual[d], it->rest);
    size = fmax(size, fabs(step[d]));
    it->rounding = fmax(it->rounding, fabs(it->dual[d][0]) + fabs(it->dual[d][1]) + fabs(it->dual[d][2]));
  }
  it->rounding = fmin(it->rounding * 16.0 * DBL_EPSILON * (map->magnitude + map->extent), 0.01);
  return isfinite(size) ? size : -1.0;
}

// Steps until the last one is 1e-9, what is left being of second order; halved until the target comes nearer.
static bool iterate_newton(Iterate *it) {
  enum { MAX_STEPS = 40, MAX_HALVES = 8 };
  const double longest = 2.0, farthest = 4.0, last = 1e-9;

  for (int n = 0; n < MAX_STEPS; n++) {
    double step[3] = {0.0, 0.0, 0.0}, from[3], factor = 1.0;
    const double size = newton_step(it, step);

    for (int d = 0; d < 3; d++) from[d] = it->xi[d];
    if (size < 0.0) return false;
    if (size <= fmax(last, it->rounding)) {
      for (int d = 0; d < it->map->inverse->dim; d++) {
        it->xi[d] += step[d];
        for (int c = 0; c < 3; c++) it->rest[c] -= step[d] * it->J[d][c];
      }
      return true;
    }
    if (size > longest) factor = longest / size;
    int halves = 0;

    while (halves < MAX_HALVES && !move_iterate(it, from, factor, step)) factor *= 0.5, halves++;
    if (halves == MAX_HALVES) return false;
    for (int d = 0; d < 3; d++) {
      if (fabs(it->xi[d]) > farthest) return false;
    }
  }
  return false;
}

bool ritz_mesh_element_invert(const RitzMeshElementMap *map, const double *x, double tolerance, int64_t start,
                              RitzMeshPreimage *found) {
  const RitzMeshInverse *m = map->inverse;
  Iterate it = {.map = map, .square = INFINITY};
  double from[3] = {0.0, 0.0, 0.0};

  for (CeedInt c = 0; c < m->space_dim; c++) it.target[c] = x[c] - map->x[c];
  if (start < 0) centre_of(m->shape->topology, from);
  for (CeedInt d = 0; d < m->dim && start >= 0; d++) from[d] = m->positions[start * m->dim + d];
  if (!move_iterate(&it, from, 0.0, from) || !iterate_newton(&it)) return false;
  if (m->dim < m->space_dim) {
    const double allowed = tolerance * map->extent + 16.0 * DBL_EPSILON * map->magnitude;

    if (!(dot(it.rest, it.rest) <= allowed * allowed)) return false;
  }
  for (int d = 0; d < 3; d++) found->xi[d] = it.xi[d];
  found->rounding = it.rounding;
  found->depth = depth_of(m->shape->topology, it.xi);
  return true;
}
