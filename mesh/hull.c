// SPDX-License-Identifier: BSD-2-Clause
// Boxes that hold curved elements, by Bernstein coefficients (contract in mesh/locate.h). Called when a
// locator is made. Leaves bases and contractions to fe/.
#include "mesh/locate.h"

#include <float.h>
#include <math.h>

#include "fe/fe.h"

// ---- One direction ----

// Bernstein polynomials of degree P - 1 on [-1,1] at r: value [P].
static void bernstein(CeedInt P, double r, double *value) {
  const double u = 0.5 * (1.0 + r), v = 0.5 * (1.0 - r);

  value[0] = 1.0;
  for (CeedInt n = 1; n < P; n++) {
    value[n] = u * value[n - 1];
    for (CeedInt i = n - 1; i > 0; i--) value[i] = v * value[i] + u * value[i - 1];
    value[0] *= v;
  }
}

// The inverse of the Bernstein polynomials' values at the points; its largest row sum.
static int fill_hull_line(Ceed ceed, CeedInt P, const double *points, double *line, double *norm) {
  double *values = NULL; // [P][P]

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)P * (size_t)P, &values));
  for (CeedInt q = 0; q < P; q++) {
    bernstein(P, points[q], values + q * P);
    for (CeedInt i = 0; i < P; i++) line[q * P + i] = q == i;
  }
  const int ierr = ritz_fe_solve(ceed, P, values, P, line);

  RITZ_FREE(&values);
  *norm = 0.0;
  for (CeedInt i = 0; i < P && !ierr; i++) {
    double sum = 0.0;

    for (CeedInt q = 0; q < P; q++) sum += fabs(line[i * P + q]);
    *norm = fmax(*norm, sum);
  }
  return ierr;
}

// ---- Shapes that cubes collapse to ----

// Takes a point of [-1,1]^dim to the reference element, side by side: polynomials of degree p go to
// polynomials of degree p in each direction, and so do the functions P_i(a) P_j(b) (1 - c)^m P_k(c), m =
// max(i,j), k <= p - m, of pyramids.
static void collapse(CeedElemTopology topology, const double a[3], double r[3]) {
  for (int d = 0; d < 3; d++) r[d] = a[d];
  switch (topology) {
  case CEED_TOPOLOGY_TRIANGLE:
  case CEED_TOPOLOGY_PRISM: r[0] = 0.5 * (1.0 + a[0]) * (1.0 - a[1]) - 1.0; break;
  case CEED_TOPOLOGY_TET:
    r[1] = 0.5 * (1.0 + a[1]) * (1.0 - a[2]) - 1.0;
    r[0] = 0.25 * (1.0 + a[0]) * (1.0 - a[1]) * (1.0 - a[2]) - 1.0;
    break;
  case CEED_TOPOLOGY_PYRAMID:
    r[0] = 0.5 * a[0] * (1.0 - a[2]);
    r[1] = 0.5 * a[1] * (1.0 - a[2]);
    break;
  default: break;
  }
}

// values [num_coefs][num_nodes] of the Lagrange functions at the images of the tensor points.
static int fill_collapsed(Ceed ceed, const RitzMeshHull *hull, const double *points, double *values) {
  const int dim = hull->shape->dim;
  double *x = NULL; // [num_coefs][dim]

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(hull->num_coefs * dim), &x));
  for (int64_t q = 0; q < hull->num_coefs; q++) {
    double a[3] = {0.0, 0.0, 0.0}, r[3];
    int64_t rest = q;

    for (int d = 0; d < dim; d++, rest /= hull->P) a[d] = points[rest % hull->P];
    collapse(hull->shape->topology, a, r);
    for (int d = 0; d < dim; d++) x[q * dim + d] = r[d];
  }
  const int ierr =
      ritz_fe_shape_lagrange(ceed, hull->shape->topology, hull->P - 1, (int)hull->num_coefs, x, values, NULL);
  RITZ_FREE(&x);
  return ierr;
}

// The Bernstein coefficients of all Lagrange functions.
static int fill_hull_dense(Ceed ceed, RitzMeshHull *hull, const double *points) {
  const int64_t n = hull->num_coefs, num_nodes = hull->num_nodes;
  const double *const M[3] = {hull->line, hull->line, hull->line};
  double *columns = NULL; // owned: values and coefficients [num_nodes][n], work [2][num_nodes][n]
  double lebesgue = 0.0;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(n * num_nodes), &hull->dense));
  RITZ_TRY(RITZ_MALLOC(ceed, 4 * (size_t)(n * num_nodes), &columns));
  double *coefs = columns + n * num_nodes, *work = coefs + n * num_nodes;
  const int ierr = fill_collapsed(ceed, hull, points, hull->dense);

  for (int64_t q = 0; q < n && !ierr; q++) {
    double sum = 0.0;

    for (int64_t i = 0; i < num_nodes; i++) {
      columns[i * n + q] = hull->dense[q * num_nodes + i];
      sum += fabs(columns[i * n + q]);
    }
    lebesgue = fmax(lebesgue, sum);
  }
  if (!ierr) {
    ritz_fe_tensor_apply(hull->shape->dim, (int)num_nodes, hull->P, hull->P, M, columns, coefs, work);
    for (int64_t k = 0; k < n * num_nodes; k++) hull->dense[k] = coefs[k % num_nodes * n + k / num_nodes];
    hull->norm *= lebesgue;
  }
  RITZ_FREE(&columns);
  return ierr;
}

// ---- All shapes ----

int ritz_mesh_hull_create(Ceed ceed, CeedElemTopology topology, CeedInt space_dim, CeedInt order,
                          RitzMeshHull *hull) {
  RitzMeshHull h = {.shape = ritz_mesh_shape(topology),
                    .space_dim = space_dim,
                    .P = order + 1,
                    .num_nodes = ritz_mesh_num_nodes(topology, order)};
  const size_t P = (size_t)h.P;
  double points[RITZ_HULL_MAX_ORDER + 1], norm = 0.0;
  int ierr = CEED_ERROR_SUCCESS;

  h.num_coefs = ritz_mesh_power(h.P, h.shape->dim);
  ritz_fe_gauss_lobatto(h.P, points, NULL);
  // Nodes relative to the first one, coefficients, and the work of tensor products.
  const int64_t work_size = ritz_mesh_map_work_size(h.shape->dim, space_dim, h.P, h.P);
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)(work_size + 2 * space_dim * h.num_coefs), &h.work));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, P * P, &h.line));
  RITZ_TRY_CLEANUP(fill_hull_line(ceed, h.P, points, h.line, &norm));
  h.norm = pow(norm, h.shape->dim);
  if (!h.shape->is_tensor) ierr = fill_hull_dense(ceed, &h, points);

cleanup:
  if (ierr) ritz_mesh_hull_clear(&h);
  *hull = h;
  return ierr;
}

void ritz_mesh_hull_clear(RitzMeshHull *hull) {
  RITZ_FREE(&hull->line);
  RITZ_FREE(&hull->dense);
  RITZ_FREE(&hull->work);
  *hull = (RitzMeshHull){0};
}

// A polynomial of degree g that is at most M on [-1,1] has slopes of at most g^2 M there (A. Markov, 1889),
// on a simplex of the reference elements 4 g^2 M for each direction (D. Wilhelmsen, J. Approx. Theory 11,
// 1974), and beyond the ends grows at most like the Chebyshev polynomial, cosh(g arcosh r). Coefficients have
// the rounding of sums whose weights add up to `norm`.
static double margin_of(const RitzMeshHull *hull, double tolerance, double largest, double extent,
                        double magnitude) {
  const double dim = hull->shape->dim, g = hull->P - 1;
  const double growth = pow(cosh(g * acosh(1.0 + 2.0 * tolerance)), dim);
  const double roundings = 4.0 * ((double)hull->num_nodes + hull->P * dim) * hull->norm;

  return 4.0 * dim * g * g * growth * tolerance * largest + roundings * DBL_EPSILON * extent +
         64.0 * DBL_EPSILON * magnitude;
}

void ritz_mesh_hull_take(RitzMeshHull *hull, const double *x, double tolerance, double *box) {
  const CeedInt space_dim = hull->space_dim;
  const double *const M[3] = {hull->line, hull->line, hull->line};
  double *near = hull->work, *coefs = near + space_dim * hull->num_coefs;
  double extent = 0.0, magnitude = 0.0, largest = 0.0;

  for (int64_t i = 0; i < hull->num_nodes * space_dim; i++) {
    near[i] = x[i] - x[i % space_dim];
    extent = fmax(extent, fabs(near[i]));
    magnitude = fmax(magnitude, fabs(x[i]));
  }
  if (hull->dense) {
    ritz_mesh_map_dense(space_dim, hull->num_coefs, hull->num_nodes, hull->dense, near, coefs);
  } else {
    ritz_mesh_map_points(hull->shape->dim, space_dim, hull->P, hull->P, M, near, coefs,
                         coefs + space_dim * hull->num_coefs);
  }
  for (int64_t i = 0; i < hull->num_coefs * space_dim; i++) largest = fmax(largest, fabs(coefs[i]));
  const double margin = margin_of(hull, tolerance, largest, extent, magnitude);

  ritz_mesh_bounds(space_dim, hull->num_coefs, coefs, box, box + space_dim);
  for (CeedInt c = 0; c < space_dim; c++) {
    box[c] += x[c] - margin;
    box[space_dim + c] += x[c] + margin;
  }
}
