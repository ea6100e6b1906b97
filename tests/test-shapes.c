// SPDX-License-Identifier: BSD-2-Clause
// Finite elements on all shapes: nodes, orthonormal and Lagrange bases, quadrature (the hidden functions of
// fe/fe.h, section "Finite elements on all shapes"), and the public bases made of them (ritz/basis.h).
#include "tests/tap.h"

#include "base/memory.h"
#include "fe/fe.h"
#include <float.h>
#include <math.h>
#include <ritz/basis.h>
#include <stdlib.h>
#include <string.h>

static const double eps = DBL_EPSILON;

// Corners of faces (edges of plane shapes); four corners: lexicographic.
enum { MAX_FACES = 6 };
typedef struct {
  const char *name;
  CeedElemTopology topology;
  double volume;
  int num_faces;
  struct {
    int num_corners, corner[4];
  } face[MAX_FACES];
} Shape;

static const Shape shapes[] = {
    {"line", CEED_TOPOLOGY_LINE, 2.0, 0, {{0}}},
    {"triangle", CEED_TOPOLOGY_TRIANGLE, 2.0, 3, {{2, {0, 1}}, {2, {0, 2}}, {2, {1, 2}}}},
    {"quadrilateral", CEED_TOPOLOGY_QUAD, 4.0, 4, {{2, {0, 1}}, {2, {2, 3}}, {2, {0, 2}}, {2, {1, 3}}}},
    {"tetrahedron",
     CEED_TOPOLOGY_TET,
     4.0 / 3.0,
     4,
     {{3, {0, 1, 2}}, {3, {0, 1, 3}}, {3, {0, 2, 3}}, {3, {3, 2, 1}}}},
    {"pyramid",
     CEED_TOPOLOGY_PYRAMID,
     8.0 / 3.0,
     5,
     {{4, {0, 1, 2, 3}}, {3, {0, 1, 4}}, {3, {2, 3, 4}}, {3, {0, 2, 4}}, {3, {4, 3, 1}}}},
    {"prism",
     CEED_TOPOLOGY_PRISM,
     4.0,
     5,
     {{3, {0, 1, 2}}, {3, {5, 4, 3}}, {4, {0, 1, 3, 4}}, {4, {0, 2, 3, 5}}, {4, {1, 2, 4, 5}}}},
    {"hexahedron",
     CEED_TOPOLOGY_HEX,
     8.0,
     6,
     {{4, {0, 1, 2, 3}},
      {4, {4, 5, 6, 7}},
      {4, {0, 1, 4, 5}},
      {4, {2, 3, 6, 7}},
      {4, {0, 2, 4, 6}},
      {4, {1, 3, 5, 7}}}},
};
enum { NUM_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

// ---- Helpers ----

static int dim_of(const Shape *s) { return (int)s->topology >> 16; }

static int max_degree(void) { return tap_level() == TAP_QUICK ? 6 : 10; }

static double *new_array(size_t n) {
  double *a = calloc(n + 1, sizeof(*a));

  if (!a) exit(1);
  return a;
}

// The nodes and bases of a shape at some points.
typedef struct {
  const Shape *shape;
  int dim, degree, P, Q;
  double *nodes, *points, *values, *gradients; // [P][dim], [Q][dim], [Q][P], [dim][Q][P]
} Tables;

static Tables make_tables(const Shape *shape, int degree, int Q) {
  int dim = dim_of(shape), P = ritz_fe_shape_num_nodes(shape->topology, degree);
  Tables t = {.shape = shape, .dim = dim, .degree = degree, .P = P, .Q = Q};

  t.nodes = new_array((size_t)P * dim);
  t.points = new_array((size_t)Q * dim);
  t.values = new_array((size_t)Q * P);
  t.gradients = new_array((size_t)dim * Q * P);
  if (ritz_fe_shape_nodes(NULL, shape->topology, degree, t.nodes)) exit(1);
  return t;
}

static int fill_lagrange(Tables *t) {
  return ritz_fe_shape_lagrange(NULL, t->shape->topology, t->degree, t->Q, t->points, t->values,
                                t->gradients);
}

static void free_tables(Tables *t) {
  free(t->nodes), free(t->points), free(t->values), free(t->gradients);
  t->nodes = t->points = t->values = t->gradients = NULL;
}

// Maps a point of the cube onto the element.
static void collapse(CeedElemTopology topology, double *x) {
  switch (topology) {
  case CEED_TOPOLOGY_TRIANGLE:
  case CEED_TOPOLOGY_PRISM: x[0] = 0.5 * (1.0 + x[0]) * (1.0 - x[1]) - 1.0; break;
  case CEED_TOPOLOGY_TET:
    x[0] = 0.25 * (1.0 + x[0]) * (1.0 - x[1]) * (1.0 - x[2]) - 1.0;
    x[1] = 0.5 * (1.0 + x[1]) * (1.0 - x[2]) - 1.0;
    break;
  case CEED_TOPOLOGY_PYRAMID:
    x[0] *= 0.5 * (1.0 - x[2]);
    x[1] *= 0.5 * (1.0 - x[2]);
    break;
  default: break;
  }
}

static void random_points(Tables *t, uint64_t *seed) {
  for (int q = 0; q < t->Q; q++) {
    for (int d = 0; d < t->dim; d++) t->points[q * t->dim + d] = tap_uniform(seed);
    collapse(t->shape->topology, t->points + q * t->dim);
  }
}

// Distance to the nearest of n points, and which it is.
static double nearest(int dim, int n, const double *points, const double *x, int *which) {
  double least = INFINITY;

  for (int i = 0; i < n; i++) {
    double distance = 0.0;

    for (int d = 0; d < dim; d++) distance = tap_larger(distance, fabs(points[i * dim + d] - x[d]));
    if (distance < least) least = distance, *which = i;
  }
  return least;
}

static void for_each_shape(int lowest, int highest, void (*check)(const Shape *shape, int degree)) {
  for (int s = 0; s < NUM_SHAPES; s++) {
    for (int degree = lowest; degree <= highest && !tap_failed(); degree++) check(&shapes[s], degree);
  }
}

// Rounding of Lagrange tables: that of points and nodes, magnified by the slopes of the functions, at most
// degree^2 times the Lebesgue constant (below 32 up to degree 10), and by the condition of the Vandermonde
// matrix, which is of the same size.
static double rounding(int degree) { return 32.0 * eps * degree * degree; }
static double gradient_rounding(int degree) { return degree * degree * rounding(degree); }

// ---- Nodes ----

// Symmetries of a reference element as affine maps x -> A x + b that generate its group.
typedef struct {
  CeedElemTopology topology;
  double A[3][3], b[3];
} Symmetry;

static const Symmetry symmetries[] = {
    {CEED_TOPOLOGY_LINE, {{-1}}, {0}},
    {CEED_TOPOLOGY_TRIANGLE, {{0, 1}, {1, 0}}, {0}},
    {CEED_TOPOLOGY_TRIANGLE, {{-1, -1}, {1, 0}}, {-1, 0}},
    {CEED_TOPOLOGY_QUAD, {{0, 1}, {1, 0}}, {0}},
    {CEED_TOPOLOGY_QUAD, {{-1, 0}, {0, 1}}, {0}},
    {CEED_TOPOLOGY_TET, {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}}, {0}},
    {CEED_TOPOLOGY_TET, {{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}}, {-2, 0, 0}},
    {CEED_TOPOLOGY_PYRAMID, {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}}, {0}},
    {CEED_TOPOLOGY_PYRAMID, {{-1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0}},
    {CEED_TOPOLOGY_PRISM, {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}}, {0}},
    {CEED_TOPOLOGY_PRISM, {{-1, -1, 0}, {1, 0, 0}, {0, 0, 1}}, {-1, 0, 0}},
    {CEED_TOPOLOGY_PRISM, {{1, 0, 0}, {0, 1, 0}, {0, 0, -1}}, {0}},
    {CEED_TOPOLOGY_HEX, {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}, {0}},
    {CEED_TOPOLOGY_HEX, {{-1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0}},
};

static void apply_symmetry(const Symmetry *g, int dim, const double *x, double *y) {
  for (int i = 0; i < dim; i++) {
    y[i] = g->b[i];
    for (int j = 0; j < dim; j++) y[i] += g->A[i][j] * x[j];
  }
}

// Every symmetry maps the n points onto themselves.
static void check_symmetric(const Shape *shape, int n, const double *points, const char *what, int degree) {
  int dim = dim_of(shape), which;

  for (size_t g = 0; g < sizeof(symmetries) / sizeof(symmetries[0]); g++) {
    for (int i = 0; i < n && symmetries[g].topology == shape->topology; i++) {
      double image[3];

      apply_symmetry(&symmetries[g], dim, points + i * dim, image);
      CHECK_NEAR(nearest(dim, n, points, image, &which), 0.0, 16.0 * eps, "%s %d of a %s, degree %d", what, i,
                 shape->name, degree);
    }
  }
}

static void check_nodes(const Shape *shape, int degree) {
  Tables t = make_tables(shape, degree, 0);

  check_symmetric(shape, t.P, t.nodes, "node", degree);
  free_tables(&t);
}

TEST(symmetries_of_a_shape_map_nodes_to_nodes) { for_each_shape(1, max_degree(), check_nodes); }

// The number of each node from its lattice indices; corners have the lattice's positions to the last bit.
TEST(corners_are_at_the_corners_of_the_lattice) {
  static const double corner[NUM_SHAPES][8][3] = {
      {{-1}, {1}},
      {{-1, -1}, {1, -1}, {-1, 1}},
      {{-1, -1}, {1, -1}, {-1, 1}, {1, 1}},
      {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}},
      {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1}, {0, 0, 1}},
      {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1}},
      {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1}, {1, 1, 1}},
  };

  for (int s = 0; s < NUM_SHAPES; s++) {
    for (int p = 1; p <= 10; p++) {
      int T = (p + 1) * (p + 2) / 2, S = (p + 1) * (p + 1);
      const int index[NUM_SHAPES][8] = {
          {0, p},
          {0, p, T - 1},
          {0, p, S - p - 1, S - 1},
          {0, p, T - 1, T * (p + 3) / 3 - 1},
          {0, p, S - p - 1, S - 1, T * (2 * p + 3) / 3 - 1},
          {0, p, T - 1, p * T, p * T + p, p * T + T - 1},
          {0, p, S - p - 1, S - 1, p * S, p * S + p, p * S + S - p - 1, p * S + S - 1},
      };
      Tables t = make_tables(&shapes[s], p, 0);
      int wrong = 0;

      for (int c = 0; c < ritz_fe_shape_num_nodes(shapes[s].topology, 1); c++) {
        for (int d = 0; d < t.dim; d++) wrong += t.nodes[index[s][c] * t.dim + d] != corner[s][c][d];
      }
      free_tables(&t);
      CHECK(wrong == 0, "%d coordinates of the corners of a %s, degree %d", wrong, shapes[s].name, p);
    }
  }
}

// ---- Faces ----

static const Shape *face_shape(int num_corners) { return &shapes[num_corners - 2]; }

// The point of an element where the point r of a face is.
static void face_point(const Shape *shape, int face, const double *r, double *x) {
  int dim = dim_of(shape);
  double corners[8 * 3];

  if (ritz_fe_shape_nodes(NULL, shape->topology, 1, corners)) exit(1);
  const double *origin = corners + shape->face[face].corner[0] * dim;

  for (int d = 0; d < dim; d++) x[d] = origin[d];
  for (int k = 0; k < dim - 1; k++) {
    const double *end = corners + shape->face[face].corner[k + 1] * dim;

    for (int d = 0; d < dim; d++) x[d] += 0.5 * (1.0 + r[k]) * (end[d] - origin[d]);
  }
}

// Values at random points of a face: those of the nodes on it are the functions of the face, others vanish.
static void check_trace(const Tables *t, int face, const Tables *f, const int *node_of) {
  double *expected = new_array(t->P);

  for (int q = 0; q < t->Q; q++) {
    double worst = 0.0;

    for (int j = 0; j < t->P; j++) expected[j] = 0.0;
    for (int i = 0; i < f->P; i++) expected[node_of[i]] = f->values[q * f->P + i];
    for (int j = 0; j < t->P; j++) worst = tap_larger(worst, fabs(t->values[q * t->P + j] - expected[j]));
    if (!tap_check(worst <= rounding(t->degree), __FILE__, __LINE__, "traces agree",
                   "face %d of a %s, degree %d: off by %g", face, t->shape->name, t->degree, worst))
      break;
  }
  free(expected);
}

static void check_face(const Shape *shape, int degree, int face) {
  uint64_t seed = (uint64_t)(degree + 100 * face);
  Tables t = make_tables(shape, degree, 8);
  Tables f = make_tables(face_shape(shape->face[face].num_corners), degree, 8);
  int *node_of = calloc(f.P + 1, sizeof(*node_of));
  double worst = 0.0, x[3];

  for (int i = 0; i < f.P; i++) {
    face_point(shape, face, f.nodes + i * f.dim, x);
    worst = fmax(worst, nearest(t.dim, t.P, t.nodes, x, &node_of[i]));
  }
  random_points(&f, &seed);
  for (int q = 0; q < t.Q; q++) face_point(shape, face, f.points + q * f.dim, t.points + q * t.dim);
  if (tap_check(worst <= 16.0 * eps, __FILE__, __LINE__, "nodes agree",
                "face %d of a %s, degree %d: off by %g", face, shape->name, degree, worst) &&
      tap_check_ok(fill_lagrange(&t), __FILE__, __LINE__, "element") &&
      tap_check_ok(fill_lagrange(&f), __FILE__, __LINE__, "face"))
    check_trace(&t, face, &f, node_of);
  free(node_of);
  free_tables(&t);
  free_tables(&f);
}

static void check_faces(const Shape *shape, int degree) {
  for (int face = 0; face < shape->num_faces && !tap_failed(); face++) check_face(shape, degree, face);
}

TEST(nodes_and_traces_on_faces_do_not_depend_on_the_element) {
  for_each_shape(1, tap_level() == TAP_QUICK ? 5 : 8, check_faces);
}

// ---- Lagrange bases ----

// (c . x + 1)^n and its gradient, with |c_1| + |c_2| + |c_3| <= 1/2: values up to 1.5^n.
static double power_of_plane(int dim, int n, const double *c, const double *x, double *gradient) {
  double plane = 1.0;

  for (int d = 0; d < dim; d++) plane += c[d] * x[d];
  for (int d = 0; d < dim; d++) gradient[d] = n * c[d] * pow(plane, n - 1);
  return pow(plane, n);
}

// Interpolation at the nodes reproduces the function at all points, and its gradient.
static void check_polynomial(const Tables *t, int n, const double *c) {
  double *at_nodes = new_array(t->P), gradient[3], size = pow(1.5, n);

  for (int i = 0; i < t->P; i++) at_nodes[i] = power_of_plane(t->dim, n, c, t->nodes + i * t->dim, gradient);
  for (int q = 0; q < t->Q && !tap_failed(); q++) {
    double value = power_of_plane(t->dim, n, c, t->points + q * t->dim, gradient), error = -value;

    for (int i = 0; i < t->P; i++) error += t->values[q * t->P + i] * at_nodes[i];
    tap_check_near(error, 0.0, size * rounding(t->degree), __FILE__, __LINE__, "value", "exact",
                   "%s, degree %d of %d", t->shape->name, n, t->degree);
    for (int d = 0; d < t->dim && !tap_failed(); d++) {
      error = -gradient[d];
      for (int i = 0; i < t->P; i++) error += t->gradients[(d * t->Q + q) * t->P + i] * at_nodes[i];
      tap_check_near(error, 0.0, size * gradient_rounding(t->degree), __FILE__, __LINE__, "gradient", "exact",
                     "%s, degree %d of %d, direction %d", t->shape->name, n, t->degree, d);
    }
  }
  free(at_nodes);
}

// Powers of enough planes span all polynomials of that degree; n = 0 checks the partition of unity.
static void check_reproduction(const Shape *shape, int degree) {
  uint64_t seed = (uint64_t)degree;
  Tables t = make_tables(shape, degree, 10);

  random_points(&t, &seed);
  for (int d = 0; d < t.dim; d++) t.points[d] = t.nodes[(t.P - 1) * t.dim + d]; // apex of the pyramid
  if (tap_check_ok(fill_lagrange(&t), __FILE__, __LINE__, "tables")) {
    for (int n = 0; n <= degree && !tap_failed(); n++) {
      for (int draw = 0; draw < 10 && !tap_failed(); draw++) {
        double c[3];

        for (int d = 0; d < 3; d++) c[d] = tap_uniform(&seed) / 6.0;
        check_polynomial(&t, n, c);
      }
    }
  }
  free_tables(&t);
}

TEST(lagrange_bases_reproduce_polynomials_of_their_degree_and_the_gradients) {
  for_each_shape(1, max_degree(), check_reproduction);
}

static void check_identity(const Shape *shape, int degree) {
  Tables t = make_tables(shape, degree, ritz_fe_shape_num_nodes(shape->topology, degree));
  double worst = 0.0;

  memcpy(t.points, t.nodes, sizeof(double) * t.P * t.dim);
  if (tap_check_ok(fill_lagrange(&t), __FILE__, __LINE__, "tables")) {
    for (int q = 0; q < t.P; q++) {
      for (int i = 0; i < t.P; i++) worst = tap_larger(worst, fabs(t.values[q * t.P + i] - (i == q)));
    }
    tap_check_near(worst, 0.0, rounding(degree), __FILE__, __LINE__, "values at nodes", "identity",
                   "%s, degree %d", shape->name, degree);
  }
  free_tables(&t);
}

TEST(functions_are_one_at_their_node_and_zero_at_the_others) {
  for_each_shape(1, max_degree(), check_identity);
}

// xy / w with w = (1 - t) / 2, the first function of the pyramid that is no polynomial, with its gradient
// right above and below the apex's neighbourhood: 1e-12 off the apex nothing is lost.
TEST(pyramids_hold_their_rational_functions_up_to_the_apex) {
  for (int degree = 2; degree <= 6; degree++) {
    Tables t = make_tables(&shapes[4], degree, 12);
    double *at_nodes = new_array(t.P), worst = 0.0, worst_gradient = 0.0;

    for (int q = 0; q < t.Q; q++) {
      double w = pow(10.0, -q);
      t.points[q * 3] = 0.3 * w, t.points[q * 3 + 1] = -0.7 * w, t.points[q * 3 + 2] = 1.0 - 2.0 * w;
    }
    for (int i = 0; i < t.P; i++) {
      const double *x = t.nodes + i * 3;
      at_nodes[i] = x[2] < 1.0 ? x[0] * x[1] / (0.5 * (1.0 - x[2])) : 0.0;
    }
    int ierr = fill_lagrange(&t);

    for (int q = 0; q < t.Q; q++) {
      const double *x = t.points + q * 3;
      double w = 0.5 * (1.0 - x[2]), xi = x[0] / w, eta = x[1] / w;
      const double gradient[] = {eta, xi, 0.5 * xi * eta};
      double error = -x[0] * eta;

      for (int i = 0; i < t.P; i++) error += t.values[q * t.P + i] * at_nodes[i];
      worst = fmax(worst, fabs(error));
      for (int d = 0; d < 3; d++) {
        error = -gradient[d];
        for (int i = 0; i < t.P; i++) error += t.gradients[(d * t.Q + q) * t.P + i] * at_nodes[i];
        worst_gradient = fmax(worst_gradient, fabs(error));
      }
    }
    free(at_nodes);
    free_tables(&t);
    CHECK_OK(ierr);
    CHECK_NEAR(worst, 0.0, rounding(degree), "values, degree %d", degree);
    CHECK_NEAR(worst_gradient, 0.0, gradient_rounding(degree), "gradients, degree %d", degree);
  }
}

// Bounds that do not depend on how far rounding put a point out of the element: values of Lagrange functions
// at the apex are 0 and 1, gradients are of the size of degree^2.
TEST(rounding_at_the_apex_of_a_pyramid_does_no_harm) {
  static const double off_axis[] = {0.0, 1e-17, -1e-16, 1e-15},
                      below[] = {0.0, DBL_EPSILON / 2, -DBL_EPSILON};

  for (int degree = 1; degree <= 6; degree++) {
    Tables t = make_tables(&shapes[4], degree, 48);
    double worst = 0.0, steepest = 0.0;

    for (int q = 0; q < t.Q; q++) {
      t.points[q * 3] = off_axis[q % 4], t.points[q * 3 + 1] = off_axis[q / 4 % 4];
      t.points[q * 3 + 2] = 1.0 - below[q / 16];
    }
    int ierr = fill_lagrange(&t);

    for (int i = 0; i < t.Q * t.P; i++) worst = tap_larger(worst, fabs(t.values[i] - (i % t.P == t.P - 1)));
    for (int i = 0; i < 3 * t.Q * t.P; i++) {
      if (!(fabs(t.gradients[i]) <= steepest)) steepest = fabs(t.gradients[i]);
    }
    free_tables(&t);
    CHECK_OK(ierr);
    CHECK_NEAR(worst, 0.0, degree * degree * rounding(degree), "values, degree %d", degree);
    CHECK(steepest <= degree * degree, "degree %d: a derivative is %g", degree, steepest);
  }
}

// ---- Orthonormal bases and conditioning ----

static void check_orthonormal(const Shape *shape, int degree) {
  int dim = dim_of(shape), P = ritz_fe_shape_num_nodes(shape->topology, degree), Q;
  double worst = 0.0;

  CHECK_OK(ritz_fe_shape_quadrature(NULL, shape->topology, 2 * degree, &Q, NULL, NULL));
  double *x = new_array((size_t)Q * dim), *w = new_array(Q), *modes = new_array((size_t)Q * P);
  int ierr = ritz_fe_shape_quadrature(NULL, shape->topology, 2 * degree, &Q, x, w);

  if (!ierr) ierr = ritz_fe_shape_modes(NULL, shape->topology, degree, Q, x, modes, NULL);
  for (int i = 0; i < P && !ierr; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = -(i == j);

      for (int q = 0; q < Q; q++) sum += w[q] * modes[(size_t)q * P + i] * modes[(size_t)q * P + j];
      worst = fmax(worst, fabs(sum));
    }
  }
  free(x), free(w), free(modes);
  CHECK_OK(ierr);
  CHECK_NEAR(worst, 0.0, 64.0 * eps, "%s, degree %d", shape->name, degree); // terms of one sign add to one
}

TEST(modes_are_orthonormal) { for_each_shape(1, tap_level() == TAP_QUICK ? 4 : 7, check_orthonormal); }

// Largest singular value of A [n][n], by the power method: good to some digits.
static double two_norm(int n, const double *A) {
  double *v = new_array(n), *w = new_array(n), length = 0.0;

  for (int i = 0; i < n; i++) v[i] = 1.0 + 0.5 * sin(7.0 * i);
  for (int step = 0; step < 100; step++) {
    length = 0.0;
    for (int i = 0; i < n; i++) {
      w[i] = 0.0;
      for (int j = 0; j < n; j++) w[i] += A[(size_t)i * n + j] * v[j];
    }
    for (int j = 0; j < n; j++) v[j] = 0.0;
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) v[j] += A[(size_t)i * n + j] * w[i];
    }
    for (int i = 0; i < n; i++) length += v[i] * v[i];
    length = sqrt(length);
    for (int i = 0; i < n; i++) v[i] /= length;
  }
  free(v), free(w);
  return sqrt(length);
}

// Condition number of the matrix of all modes at all nodes.
static int find_condition(const Shape *shape, int degree, double *condition) {
  Tables t = make_tables(shape, degree, 0);
  double *matrix = new_array((size_t)t.P * t.P), *inverse = new_array((size_t)t.P * t.P);
  int ierr = ritz_fe_shape_modes(NULL, shape->topology, degree, t.P, t.nodes, matrix, NULL);

  *condition = two_norm(t.P, matrix);
  for (int i = 0; i < t.P; i++) inverse[(size_t)i * (t.P + 1)] = 1.0;
  if (!ierr) ierr = ritz_fe_solve(NULL, t.P, matrix, t.P, inverse);
  *condition *= two_norm(t.P, inverse);
  free(matrix), free(inverse);
  free_tables(&t);
  return ierr;
}

// The largest sum of the magnitudes of all functions at the images of n^dim points of a grid in the cube
// around `center`, which moves to the place of that sum.
static int search_grid(const Shape *shape, int degree, int n, double width, double *center, double *largest) {
  int dim = dim_of(shape), Q = 1, best = 0;

  for (int d = 0; d < dim; d++) Q *= n;
  Tables t = make_tables(shape, degree, Q);
  double *cube = new_array((size_t)Q * dim);

  for (int q = 0; q < Q; q++) {
    for (int d = 0, rest = q; d < dim; d++, rest /= n) {
      double y = center[d] + width * (2.0 * (rest % n) / (n - 1) - 1.0);

      cube[q * dim + d] = fmin(fmax(y, -1.0), 1.0);
      t.points[q * dim + d] = sin(asin(1.0) * cube[q * dim + d]); // dense at the boundary, as nodes are
    }
    collapse(shape->topology, t.points + q * dim);
  }
  int ierr = ritz_fe_shape_lagrange(NULL, shape->topology, degree, Q, t.points, t.values, NULL);

  *largest = 0.0;
  for (int q = 0; q < Q; q++) {
    double sum = 0.0;

    for (int i = 0; i < t.P; i++) sum += fabs(t.values[(size_t)q * t.P + i]);
    if (sum > *largest) *largest = sum, best = q;
  }
  for (int d = 0; d < dim; d++) center[d] = cube[best * dim + d];
  free(cube);
  free_tables(&t);
  return ierr;
}

// The Lebesgue constant: a grid that finds the highest hill, then finer ones that find its top.
static int find_hill(const Shape *shape, int degree, double *lebesgue) {
  double center[3] = {0.0}, width = 1.0;
  int n = (dim_of(shape) == 3 ? 3 : 8) * degree + 1,
      ierr = search_grid(shape, degree, n, width, center, lebesgue);

  for (int step = 0; step < 4 && !ierr; step++) {
    width = step ? 0.5 * width : 2.0 / (n - 1);
    ierr = search_grid(shape, degree, 7, width, center, lebesgue);
  }
  return ierr;
}

// That of a product is the product of those of its factors.
static int find_lebesgue(const Shape *shape, int degree, double *lebesgue) {
  bool is_prism = shape->topology == CEED_TOPOLOGY_PRISM;
  bool is_tensor = shape->topology == CEED_TOPOLOGY_QUAD || shape->topology == CEED_TOPOLOGY_HEX;
  double line = 1.0;

  if (!is_prism && !is_tensor) return find_hill(shape, degree, lebesgue);
  int ierr = find_hill(&shapes[0], degree, &line);

  *lebesgue = pow(line, dim_of(shape));
  if (ierr || is_tensor) return ierr;
  ierr = find_hill(&shapes[1], degree, lebesgue);
  *lebesgue *= line;
  return ierr;
}

// Bounds for degree 10 that hold for all below; equidistant nodes have Lebesgue constants beyond 100 there.
TEST(bases_are_well_conditioned) {
  static const double most_condition[] = {10, 25, 100, 150, 120, 250, 1000},
                      most_lebesgue[] = {3, 7, 6, 22, 17, 18, 15};

  for (int s = 0; s < NUM_SHAPES; s++) {
    for (int degree = 1; degree <= (tap_level() == TAP_EXHAUSTIVE ? 10
                                    : tap_level() == TAP_FULL     ? 7
                                                                  : 4);
         degree++) {
      double condition, lebesgue;

      CHECK_OK(find_condition(&shapes[s], degree, &condition));
      CHECK_OK(find_lebesgue(&shapes[s], degree, &lebesgue));
      if (tap_level() == TAP_EXHAUSTIVE)
        tap_note("%-13s degree %2d: condition %6.1f, Lebesgue constant %5.2f", shapes[s].name, degree,
                 condition, lebesgue);
      CHECK(condition <= most_condition[s], "%s, degree %d: condition %g", shapes[s].name, degree, condition);
      CHECK(lebesgue <= most_lebesgue[s], "%s, degree %d: Lebesgue constant %g", shapes[s].name, degree,
            lebesgue);
    }
  }
}

// ---- Quadrature ----

static double factorial(int n) { return tgamma(n + 1.0); }

// Integral of the product of the powers u_d^a_d of u = (1 + x) / 2; on pyramids u = (x, y, (1 - t) / 2).
static double exact_integral(CeedElemTopology topology, const int *a) {
  switch (topology) {
  case CEED_TOPOLOGY_LINE: return 2.0 / (a[0] + 1);
  case CEED_TOPOLOGY_QUAD: return 4.0 / ((a[0] + 1) * (a[1] + 1));
  case CEED_TOPOLOGY_HEX: return 8.0 / ((a[0] + 1) * (a[1] + 1) * (a[2] + 1));
  case CEED_TOPOLOGY_TRIANGLE: return 4.0 * factorial(a[0]) * factorial(a[1]) / factorial(a[0] + a[1] + 2);
  case CEED_TOPOLOGY_PRISM:
    return 8.0 * factorial(a[0]) * factorial(a[1]) / factorial(a[0] + a[1] + 2) / (a[2] + 1);
  case CEED_TOPOLOGY_TET:
    return 8.0 * factorial(a[0]) * factorial(a[1]) * factorial(a[2]) / factorial(a[0] + a[1] + a[2] + 3);
  default: // of squares [-u_2,u_2]^2
    if (a[0] % 2 || a[1] % 2) return 0.0;
    return 8.0 / ((a[0] + 1) * (a[1] + 1) * (a[0] + a[1] + a[2] + 3));
  }
}

// Whether a rule of that degree has to be exact for the exponents.
static int is_covered(CeedElemTopology topology, int degree, const int *a) {
  switch (topology) {
  case CEED_TOPOLOGY_LINE:
  case CEED_TOPOLOGY_QUAD:
  case CEED_TOPOLOGY_HEX: return a[0] <= degree && a[1] <= degree && a[2] <= degree;
  case CEED_TOPOLOGY_PRISM: return a[0] + a[1] <= degree && a[2] <= degree;
  default: return a[0] + a[1] + a[2] <= degree;
  }
}

typedef struct {
  const Shape *shape;
  int dim, degree, Q;
  double *x, *w, *powers; // [Q][dim], [Q], [dim][degree + 1][Q]
} Rule;

static int make_rule(const Shape *shape, int degree, Rule *r) {
  *r = (Rule){.shape = shape, .dim = dim_of(shape), .degree = degree};
  int ierr = ritz_fe_shape_quadrature(NULL, shape->topology, degree, &r->Q, NULL, NULL);

  if (ierr) return ierr;
  r->x = new_array((size_t)r->Q * r->dim);
  r->w = new_array(r->Q);
  r->powers = new_array((size_t)r->Q * r->dim * (degree + 1));
  return ritz_fe_shape_quadrature(NULL, shape->topology, degree, &r->Q, r->x, r->w);
}

static void free_rule(Rule *r) {
  free(r->x), free(r->w), free(r->powers);
  r->x = r->w = r->powers = NULL;
}

static void fill_powers(Rule *r) {
  for (int d = 0; d < r->dim; d++) {
    for (int q = 0; q < r->Q; q++) {
      double x = r->x[q * r->dim + d], u = 0.5 * (1.0 + x), power = 1.0;

      if (r->shape->topology == CEED_TOPOLOGY_PYRAMID) u = d < 2 ? x : 0.5 * (1.0 - x);
      for (int a = 0; a <= r->degree; a++, power *= u)
        r->powers[((size_t)d * (r->degree + 1) + a) * r->Q + q] = power;
    }
  }
}

// All terms but those of pyramids are positive and add to the integral, at most the volume.
static void check_monomial(const Rule *r, const int *a) {
  double sum = -exact_integral(r->shape->topology, a);
  const double *powers[3];

  for (int d = 0; d < r->dim; d++) powers[d] = r->powers + ((size_t)d * (r->degree + 1) + a[d]) * r->Q;
  for (int q = 0; q < r->Q; q++) {
    double term = r->w[q];

    for (int d = 0; d < r->dim; d++) term *= powers[d][q];
    sum += term;
  }
  CHECK_NEAR(sum, 0.0, 8.0 * (r->degree + 4) * eps * r->shape->volume, "%s, degree %d: exponents %d %d %d",
             r->shape->name, r->degree, a[0], a[1], a[2]);
}

static void check_monomials(Rule *r) {
  int a[3] = {0}, top[3] = {0};

  fill_powers(r);
  for (int d = 0; d < r->dim; d++) top[d] = r->degree;
  for (a[2] = 0; a[2] <= top[2]; a[2]++) {
    for (a[1] = 0; a[1] <= top[1]; a[1]++) {
      for (a[0] = 0; a[0] <= top[0] && !tap_failed(); a[0]++) {
        if (is_covered(r->shape->topology, r->degree, a)) check_monomial(r, a);
      }
    }
  }
}

// Smallest distance of a point to the boundary, in coordinates.
static double depth(CeedElemTopology topology, const double *x) {
  int dim = (int)topology >> 16;
  double least = INFINITY;

  for (int d = 0; d < dim; d++) least = fmin(least, 1.0 - fabs(x[d]));
  if (topology == CEED_TOPOLOGY_TRIANGLE || topology == CEED_TOPOLOGY_PRISM) return fmin(least, -x[0] - x[1]);
  if (topology == CEED_TOPOLOGY_TET) return fmin(least, -1.0 - x[0] - x[1] - x[2]);
  if (topology == CEED_TOPOLOGY_PYRAMID)
    return fmin(least, 0.5 * (1.0 - x[2]) - fmax(fabs(x[0]), fabs(x[1])));
  return least;
}

static void check_rule(const Shape *shape, int degree) {
  Rule r;

  if (tap_check_ok(make_rule(shape, degree, &r), __FILE__, __LINE__, "rule")) {
    int inside = 0, positive = 0;

    for (int q = 0; q < r.Q; q++) {
      inside += depth(shape->topology, r.x + q * r.dim) > 0.0;
      positive += r.w[q] > 0.0;
    }
    tap_check(inside == r.Q && positive == r.Q, __FILE__, __LINE__, "points are inside, weights positive",
              "%s, degree %d: %d and %d of %d", shape->name, degree, inside, positive, r.Q);
    if (!tap_failed()) check_monomials(&r);
  }
  free_rule(&r);
}

TEST(quadrature_is_exact_for_all_monomials_with_positive_weights_and_interior_points) {
  for_each_shape(0, tap_level() == TAP_QUICK ? 8 : 12, check_rule);
  for (int degree = 9; degree <= (tap_level() == TAP_QUICK ? 26 : 40) && !tap_failed(); degree++)
    check_rule(&shapes[1], degree);
  for (int degree = 9; degree <= (tap_level() == TAP_QUICK ? 19 : 24) && !tap_failed(); degree++)
    check_rule(&shapes[3], degree);
}

// Numbers of points of Witherden and Vincent (2015), degrees 1, 2, ...
static const int triangle_sizes[] = {1,  3,  6,  6,  7,  12, 15, 16, 19, 25,
                                     28, 33, 37, 42, 49, 55, 60, 67, 73, 79};
static const int tet_sizes[] = {1, 4, 8, 14, 14, 24, 35, 46, 59, 81};

static void show_sizes(void) {
  for (int degree = 1; degree <= 26; degree++) {
    int num[NUM_SHAPES] = {0};

    for (int s = 0; s < NUM_SHAPES; s++)
      CHECK_OK(ritz_fe_shape_quadrature(NULL, shapes[s].topology, degree, &num[s], NULL, NULL));
    tap_note("degree %2d: triangle %d, tetrahedron %d, pyramid %d, prism %d points", degree, num[1], num[3],
             num[4], num[5]);
  }
}

static void check_sizes(const Shape *shape, int num, const int *sizes) {
  for (int degree = 1; degree <= num && !tap_failed(); degree++) {
    Rule r;

    if (tap_check_ok(make_rule(shape, degree, &r), __FILE__, __LINE__, "rule") &&
        tap_check(r.Q == sizes[degree - 1], __FILE__, __LINE__, "size of the rule",
                  "%s, degree %d: %d points, wanted %d", shape->name, degree, r.Q, sizes[degree - 1]))
      check_symmetric(shape, r.Q, r.x, "point", degree);
    free_rule(&r);
  }
}

TEST(rules_on_triangles_and_tetrahedra_are_symmetric_and_as_small_as_those_known) {
  check_sizes(&shapes[1], sizeof(triangle_sizes) / sizeof(int), triangle_sizes);
  check_sizes(&shapes[3], sizeof(tet_sizes) / sizeof(int), tet_sizes);
  if (tap_level() == TAP_EXHAUSTIVE) show_sizes();
}

// ---- Faults ----

TEST(what_is_no_topology_or_degree_is_an_error) {
  double x[64];
  int n;

  CHECK(ritz_fe_shape_num_nodes(CEED_TOPOLOGY_TET, 0) == 0 &&
            ritz_fe_shape_num_nodes((CeedElemTopology)7, 2) == 0 &&
            ritz_fe_shape_num_nodes(CEED_TOPOLOGY_LINE, 46339) == 46340 &&
            ritz_fe_shape_num_nodes(CEED_TOPOLOGY_HEX, 46339) == 0,
        "numbers of nodes");
  CHECK_ERROR(NULL, ritz_fe_shape_nodes(NULL, (CeedElemTopology)7, 2, x), CEED_ERROR_DIMENSION,
              "no element topology");
  CHECK_ERROR(NULL, ritz_fe_shape_nodes(NULL, CEED_TOPOLOGY_TET, 0, x), CEED_ERROR_DIMENSION, "at least 1");
  CHECK_ERROR(NULL, ritz_fe_shape_modes(NULL, CEED_TOPOLOGY_PRISM, -1, 1, x, x, NULL), CEED_ERROR_DIMENSION,
              "at least 1");
  CHECK_ERROR(NULL, ritz_fe_shape_lagrange(NULL, CEED_TOPOLOGY_PYRAMID, 100000, 1, x, x, NULL),
              CEED_ERROR_DIMENSION, "fewer than 2^31 nodes");
  CHECK_ERROR(NULL, ritz_fe_shape_quadrature(NULL, CEED_TOPOLOGY_TRIANGLE, -1, &n, NULL, NULL),
              CEED_ERROR_DIMENSION, "at least 0");
  CHECK_ERROR(NULL, ritz_fe_shape_quadrature(NULL, CEED_TOPOLOGY_HEX, 1000000, &n, NULL, NULL),
              CEED_ERROR_DIMENSION, "more than 2^31");
}

// Makes the public basis of a shape with the n-th allocation failing; the code of the call.
static int create_with_failure(Ceed ceed, const Shape *shape, int n) {
  CeedBasis basis = NULL;

  ritz_memory_fail_at(n);
  int ierr = RitzBasisCreateLagrange(ceed, shape->topology, 1, 2, 30, &basis);

  ritz_memory_fail_at(0);
  if (!ierr) CeedBasisDestroy(&basis);
  return ierr;
}

TEST(every_failing_allocation_is_reported_and_leaves_nothing_behind) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int s = 0; s < NUM_SHAPES; s++) {
    int64_t live = ritz_memory_live();
    int n = 1;

    while (create_with_failure(ceed, &shapes[s], n) && n < 100) n++;
    CHECK(n > 4 && n < 100 && ritz_memory_live() == live, "%s: %d allocations, %d left", shapes[s].name,
          n - 1, (int)(ritz_memory_live() - live));
  }
  CeedDestroy(&ceed);
}

// ---- Public bases ----

// The basis agrees with the tables of fe/, and its gradients at work with those of a linear function.
static void check_public(Ceed ceed, const Shape *shape, int degree) {
  int dim = dim_of(shape), P = ritz_fe_shape_num_nodes(shape->topology, degree), Q;
  CeedBasis basis;
  CeedInt num_nodes, num_points, num_comp;
  CeedElemTopology topology;
  CeedVector u, v;
  const CeedScalar *array;
  double *x = new_array((size_t)P * dim), worst = 0.0;

  CHECK_OK(ritz_fe_shape_quadrature(ceed, shape->topology, 2 * degree, &Q, NULL, NULL));
  CHECK_OK(RitzBasisCreateLagrange(ceed, shape->topology, 1, degree, 2 * degree, &basis));
  CHECK_OK(CeedBasisGetNumNodes(basis, &num_nodes));
  CHECK_OK(CeedBasisGetNumQuadraturePoints(basis, &num_points));
  CHECK_OK(CeedBasisGetNumComponents(basis, &num_comp));
  CHECK_OK(CeedBasisGetTopology(basis, &topology));
  CHECK(num_nodes == P && num_points == Q && num_comp == 1 && topology == shape->topology,
        "%s: sizes %d %d %d", shape->name, (int)num_nodes, (int)num_points, (int)num_comp);
  CHECK_OK(RitzLagrangeNodes(ceed, shape->topology, degree, &num_nodes, x));
  CHECK(num_nodes == P, "%s: %d nodes", shape->name, (int)num_nodes);

  CHECK_OK(CeedVectorCreate(ceed, P, &u));
  CHECK_OK(CeedVectorCreate(ceed, (CeedSize)dim * Q, &v));
  CeedScalar *values = calloc(P, sizeof(*values));
  for (int i = 0; i < P; i++) {
    for (int d = 0; d < dim; d++) values[i] += (CeedScalar)((d + 1) * x[i * dim + d]);
  }
  CHECK_OK(CeedVectorSetArray(u, CEED_MEM_HOST, CEED_COPY_VALUES, values));
  CHECK_OK(CeedBasisApply(basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, v));
  CHECK_OK(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &array));
  for (int d = 0; d < dim; d++) {
    for (int q = 0; q < Q; q++) worst = tap_larger(worst, fabs((double)array[d * Q + q] - (d + 1)));
  }
  CHECK_OK(CeedVectorRestoreArrayRead(v, &array));
  CHECK_NEAR(worst, 0.0, 1000.0 * (double)CEED_EPSILON, "%s, degree %d: gradient", shape->name, degree);
  free(values);
  free(x);
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(CeedBasisDestroy(&basis));
}

TEST_EACH_BACKEND(public_bases_differentiate_on_all_shapes) {
  for (int s = 0; s < NUM_SHAPES && !tap_failed(); s++) {
    if (!tap_compiles_bases(ceed) || shapes[s].topology == CEED_TOPOLOGY_PYRAMID)
      check_public(ceed, &shapes[s], 2);
  }
}

// Points come by direction, as the standard wants it, and belong to the tables.
TEST(tables_of_public_bases_belong_to_their_points_and_weights) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int s = 0; s < NUM_SHAPES; s++) {
    const Shape *shape = &shapes[s];
    int dim = dim_of(shape);
    bool is_tensor =
        dim == 1 || shape->topology == CEED_TOPOLOGY_QUAD || shape->topology == CEED_TOPOLOGY_HEX;
    CeedBasis basis;
    CeedInt Q;
    const CeedScalar *points, *weights, *interp;

    if (is_tensor) continue; // test-basis.c
    CHECK_OK(RitzBasisCreateLagrange(ceed, shape->topology, 3, 1, 3, &basis));
    CHECK_OK(CeedBasisGetNumQuadraturePoints(basis, &Q));
    CHECK_OK(CeedBasisGetQRef(basis, &points));
    CHECK_OK(CeedBasisGetQWeights(basis, &weights));
    CHECK_OK(CeedBasisGetInterp(basis, &interp));
    double volume = 0.0, corners[8 * 3];
    int P = ritz_fe_shape_num_nodes(shape->topology, 1);

    CHECK_OK(RitzLagrangeNodes(ceed, shape->topology, 1, NULL, corners));
    for (CeedInt q = 0; q < Q; q++) {
      volume += (double)weights[q];
      for (int d = 0; d < dim; d++) {
        double x = 0.0;

        for (int i = 0; i < P; i++) x += (double)interp[q * P + i] * corners[i * dim + d];
        CHECK_NEAR(x, (double)points[d * Q + q], 16.0 * (double)CEED_EPSILON, "%s, point %d", shape->name,
                   (int)q);
      }
    }
    CHECK_NEAR(volume, shape->volume, 16.0 * (double)CEED_EPSILON, "%s", shape->name);
    CHECK_OK(CeedBasisDestroy(&basis));
  }
  CeedDestroy(&ceed);
}

TEST(public_functions_report_bad_arguments) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedBasis basis;
  CeedInt num;

  CHECK_ERROR(ceed, RitzBasisCreateLagrange(ceed, (CeedElemTopology)7, 1, 1, 1, &basis), CEED_ERROR_DIMENSION,
              "RitzBasisCreateLagrange: 7 is no element topology");
  CHECK_ERROR(ceed, RitzBasisCreateLagrange(ceed, CEED_TOPOLOGY_TET, 1, 0, 1, &basis), CEED_ERROR_DIMENSION,
              "degree must be at least 1");
  CHECK_ERROR(ceed, RitzBasisCreateLagrange(ceed, CEED_TOPOLOGY_HEX, 0, 1, 1, &basis), CEED_ERROR_DIMENSION,
              "number of components must be at least 1");
  CHECK_ERROR(ceed, RitzBasisCreateLagrange(ceed, CEED_TOPOLOGY_TET, 1, 1, -1, &basis), CEED_ERROR_DIMENSION,
              "degree of quadrature must be at least 0");
  CHECK_ERROR(ceed, RitzLagrangeNodes(ceed, CEED_TOPOLOGY_PRISM, -3, &num, NULL), CEED_ERROR_DIMENSION,
              "RitzLagrangeNodes: degree must be at least 1");
  CHECK_ERROR(NULL, RitzLagrangeNodes(NULL, CEED_TOPOLOGY_PRISM, 1, &num, NULL), CEED_ERROR_INCOMPATIBLE,
              "NULL");
  CHECK_ERROR(NULL, RitzBasisCreateLagrange(ceed, CEED_TOPOLOGY_TET, 1, 1, 1, NULL), CEED_ERROR_INCOMPATIBLE,
              "NULL");
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(symmetries_of_a_shape_map_nodes_to_nodes, corners_are_at_the_corners_of_the_lattice,
                        nodes_and_traces_on_faces_do_not_depend_on_the_element,
                        lagrange_bases_reproduce_polynomials_of_their_degree_and_the_gradients,
                        functions_are_one_at_their_node_and_zero_at_the_others,
                        pyramids_hold_their_rational_functions_up_to_the_apex,
                        rounding_at_the_apex_of_a_pyramid_does_no_harm, modes_are_orthonormal,
                        bases_are_well_conditioned,
                        quadrature_is_exact_for_all_monomials_with_positive_weights_and_interior_points,
                        rules_on_triangles_and_tetrahedra_are_symmetric_and_as_small_as_those_known,
                        what_is_no_topology_or_degree_is_an_error,
                        every_failing_allocation_is_reported_and_leaves_nothing_behind,
                        public_bases_differentiate_on_all_shapes,
                        tables_of_public_bases_belong_to_their_points_and_weights,
                        public_functions_report_bad_arguments));
}
