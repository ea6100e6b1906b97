// SPDX-License-Identifier: BSD-2-Clause
// Orthonormal bases on all shapes: Legendre polynomials on lines, the polynomials of Koornwinder (1975) and
// Dubiner (1991) on triangles and tetrahedra, the rational functions of Bergot, Cohen and Durufle (2010) on
// pyramids. Called by fe/shape.c for its Vandermonde matrices.
#include "fe/shape.h"

#include "base/memory.h"
#include <math.h>

// ---- Numbers with their gradients ----

typedef struct {
  double v, d[3];
} Jet;

static Jet constant(double v) { return (Jet){v, {0.0, 0.0, 0.0}}; }

// c0 + c . x
static Jet linear(const double *x, double c0, double c1, double c2, double c3) {
  return (Jet){c0 + c1 * x[0] + c2 * x[1] + c3 * x[2], {c1, c2, c3}};
}

// a * x + b * y
static Jet combine(double a, Jet x, double b, Jet y) {
  return (Jet){a * x.v + b * y.v,
               {a * x.d[0] + b * y.d[0], a * x.d[1] + b * y.d[1], a * x.d[2] + b * y.d[2]}};
}

static Jet product(Jet x, Jet y) {
  return (Jet){x.v * y.v,
               {x.d[0] * y.v + x.v * y.d[0], x.d[1] * y.v + x.v * y.d[1], x.d[2] * y.v + x.v * y.d[2]}};
}

static Jet quotient(Jet x, Jet y) {
  double q = x.v / y.v;

  return (Jet){q, {(x.d[0] - q * y.d[0]) / y.v, (x.d[1] - q * y.d[1]) / y.v, (x.d[2] - q * y.d[2]) / y.v}};
}

// w^n P_n(x/w) for n = 0 .. num - 1, P_n the Jacobi polynomials with exponents (alpha, 0): polynomials in x
// and w, so that the collapsed corners w = 0 are points like any other. Three-term recurrence (Szego, 4.5.1).
static void jacobi(int num, double alpha, Jet x, Jet w, Jet *value) {
  Jet last = constant(0.0), square = product(w, w);

  value[0] = constant(1.0);
  for (int n = 0; n < num - 1; n++) {
    double m = 2.0 * n + alpha, scale = 2.0 * (n + 1.0) * (n + 1.0 + alpha);
    double a = (m + 1.0) * (m + 2.0) / scale;
    double b = n == 0 ? 0.5 * alpha : alpha * alpha * (m + 1.0) / (scale * m);
    double c = n == 0 ? 0.0 : 2.0 * n * (n + alpha) * (m + 2.0) / (scale * m);
    Jet next = combine(1.0, product(combine(a, x, b, w), value[n]), -c, product(square, last));

    last = value[n];
    value[n + 1] = next;
  }
}

// ---- The shapes, at one point ----
// work: 3 (p + 1) entries. Modes are written one after the other in any order; mode 0 is constant.

static Jet scaled(double square, Jet x) { return combine(sqrt(square), x, 0.0, x); }

static void line_modes(int p, const double *x, Jet *work, Jet *mode) {
  jacobi(p + 1, 0.0, linear(x, 0.0, 1.0, 0.0, 0.0), constant(1.0), work);
  for (int i = 0; i <= p; i++) *mode++ = scaled(i + 0.5, work[i]);
}

static void triangle_modes(int p, const double *x, Jet *work, Jet *mode) {
  Jet *first = work, *second = work + p + 1;

  jacobi(p + 1, 0.0, linear(x, 0.5, 1.0, 0.5, 0.0), linear(x, 0.5, 0.0, -0.5, 0.0), first);
  for (int i = 0; i <= p; i++) {
    jacobi(p - i + 1, 2.0 * i + 1.0, linear(x, 0.0, 0.0, 1.0, 0.0), constant(1.0), second);
    for (int j = 0; j <= p - i; j++)
      *mode++ = scaled((i + 0.5) * (i + j + 1.0), product(first[i], second[j]));
  }
}

static void tet_modes(int p, const double *x, Jet *work, Jet *mode) {
  Jet *first = work, *second = first + p + 1, *third = second + p + 1;

  jacobi(p + 1, 0.0, linear(x, 1.0, 1.0, 0.5, 0.5), linear(x, 0.0, 0.0, -0.5, -0.5), first);
  for (int i = 0; i <= p; i++) {
    jacobi(p - i + 1, 2.0 * i + 1.0, linear(x, 0.5, 0.0, 1.0, 0.5), linear(x, 0.5, 0.0, 0.0, -0.5), second);
    for (int j = 0; j <= p - i; j++) {
      Jet face = scaled((i + 0.5) * (i + j + 1.0), product(first[i], second[j]));

      jacobi(p - i - j + 1, 2.0 * (i + j) + 2.0, linear(x, 0.0, 0.0, 0.0, 1.0), constant(1.0), third);
      for (int k = 0; k <= p - i - j; k++) *mode++ = scaled(i + j + k + 1.5, product(face, third[k]));
    }
  }
}

// x/w and y/w have gradients that grow like 1/w towards the apex w = 0, and no bound at points that rounding
// put outside of the element there: such points are taken to lie on its side.
static const double near_apex = 1e-14;

static Jet collapsed(Jet x, Jet w) {
  if (fabs(w.v) < near_apex) x.v = fmin(fmax(x.v, -w.v), w.v);
  return quotient(x, w);
}

// P_i(x/w) P_j(y/w) w^m P_k(t), m = max(i,j), P_k with exponent 2m + 2. The quotients' growth is taken back
// by w^m.
static void pyramid_modes(int p, const double *x, Jet *work, Jet *mode) {
  const double least = 1e-150; // stands for w = 0: nothing overflows, and all but the limit vanishes
  Jet *first = work, *second = first + p + 1, *third = second + p + 1;
  Jet w = linear(x, 0.5, 0.0, 0.0, -0.5), power = constant(1.0);

  if (fabs(w.v) < near_apex) w.v = fmax(w.v, least);
  jacobi(p + 1, 0.0, collapsed(linear(x, 0.0, 1.0, 0.0, 0.0), w), constant(1.0), first);
  jacobi(p + 1, 0.0, collapsed(linear(x, 0.0, 0.0, 1.0, 0.0), w), constant(1.0), second);
  for (int m = 0; m <= p; m++) {
    jacobi(p - m + 1, 2.0 * m + 2.0, linear(x, 0.0, 0.0, 0.0, 1.0), constant(1.0), third);
    for (int n = 0; n < 2 * m + 1; n++) { // (0,m) .. (m,m) .. (m,0)
      int i = n <= m ? n : m, j = n <= m ? m : 2 * m - n;
      Jet base = scaled((i + 0.5) * (j + 0.5), product(product(first[i], power), second[j]));

      for (int k = 0; k <= p - m; k++) *mode++ = scaled(m + k + 1.5, product(base, third[k]));
    }
    power = product(power, w);
  }
}

// Products of the modes of the triangle, the fast ones, and of the line. work: (p + 1) (p + 2) / 2 more.
static void prism_modes(int p, const double *x, Jet *work, Jet *mode) {
  const int num_fast = (p + 1) * (p + 2) / 2;
  Jet *along = work, *across = along + p + 1;

  triangle_modes(p, x, across + num_fast, across);
  jacobi(p + 1, 0.0, linear(x, 0.0, 0.0, 0.0, 1.0), constant(1.0), along);
  for (int k = 0; k <= p; k++) {
    for (int i = 0; i < num_fast; i++) *mode++ = scaled(k + 0.5, product(along[k], across[i]));
  }
}

static void modes_at(CeedElemTopology topology, int p, const double *x, Jet *work, Jet *mode) {
  switch (topology) {
  case CEED_TOPOLOGY_LINE: line_modes(p, x, work, mode); break;
  case CEED_TOPOLOGY_TRIANGLE: triangle_modes(p, x, work, mode); break;
  case CEED_TOPOLOGY_TET: tet_modes(p, x, work, mode); break;
  case CEED_TOPOLOGY_PRISM: prism_modes(p, x, work, mode); break;
  default: pyramid_modes(p, x, work, mode); break;
  }
}

// ---- One point ----

// Doubles of a jet, and jets beyond those of the modes.
enum { JET = sizeof(Jet) / sizeof(double) };

static int num_scratch(int degree) { return (degree + 1) * (degree + 2) / 2 + 3 * (degree + 1); }

int64_t ritz_fe_shape_modes_work(CeedElemTopology topology, int degree) {
  return (int64_t)JET * (ritz_fe_shape_num_nodes(topology, degree) + num_scratch(degree));
}

void ritz_fe_shape_modes_at(CeedElemTopology topology, int degree, const double *x, double *value,
                            double *gradient, double *work) {
  const int num = ritz_fe_shape_num_nodes(topology, degree), dim = ritz_fe_shape_dim(topology);
  const double point[3] = {x[0], dim > 1 ? x[1] : 0.0, dim > 2 ? x[2] : 0.0};
  Jet *mode = (Jet *)(void *)work;

  modes_at(topology, degree, point, mode + num, mode);
  for (int i = 0; i < num; i++) {
    value[i] = mode[i].v;
    for (int d = 0; gradient && d < dim; d++) gradient[d * num + i] = mode[i].d[d];
  }
}

// ---- Tables ----

int ritz_fe_shape_modes(Ceed ceed, CeedElemTopology topology, int degree, int num_points,
                        const double *points, double *values, double *gradients) {
  CeedElemTopology fast;
  Jet *work = NULL; // owned: modes at a point, scratch

  RITZ_TRY(ritz_fe_shape_check(ceed, topology, degree));
  if (ritz_fe_shape_is_product(topology, &fast))
    return ritz_fe_shape_product(ceed, topology, degree, num_points, points, values, gradients,
                                 ritz_fe_shape_modes);
  size_t P = (size_t)ritz_fe_shape_num_nodes(topology, degree), Q = (size_t)num_points;
  int dim = ritz_fe_shape_dim(topology);

  RITZ_TRY(RITZ_MALLOC(ceed, P + 3 * ((size_t)degree + 1), &work));
  for (size_t q = 0; q < Q; q++) {
    double x[3] = {0.0, 0.0, 0.0};

    for (int d = 0; d < dim; d++) x[d] = points[q * dim + d];
    modes_at(topology, degree, x, work + P, work);
    for (size_t i = 0; values && i < P; i++) values[q * P + i] = work[i].v;
    for (int d = 0; gradients && d < dim; d++) {
      for (size_t i = 0; i < P; i++) gradients[(d * Q + q) * P + i] = work[i].d[d];
    }
  }
  RITZ_FREE(&work);
  return CEED_ERROR_SUCCESS;
}
