// SPDX-License-Identifier: BSD-2-Clause
// Quadrature on all shapes: symmetric rules on triangles and tetrahedra (fe/shape-rules.c) as far as the
// table goes, collapsed Gauss-Jacobi rules beyond and on pyramids, products on the others. Called by core/
// and mesh/ through fe/fe.h.
#include "fe/shape.h"

#include "base/memory.h"
#include <limits.h>
#include <math.h>

// ---- Gauss-Jacobi quadrature ----

static const double pi = 3.14159265358979323846;
enum { MAX_STEPS = 100 };

typedef struct {
  double value, slope;
} Jacobi;

// P_n with exponents (alpha, 0) and its derivative (Szego 4.5.1).
static Jacobi jacobi(int n, double alpha, double x) {
  Jacobi p = {1.0, 0.0}, last = {0.0, 0.0};

  for (int k = 0; k < n; k++) {
    double m = 2.0 * k + alpha, scale = 2.0 * (k + 1.0) * (k + 1.0 + alpha);
    double a = (m + 1.0) * (m + 2.0) / scale;
    double b = k == 0 ? 0.5 * alpha : alpha * alpha * (m + 1.0) / (scale * m);
    double c = k == 0 ? 0.0 : 2.0 * k * (k + alpha) * (m + 2.0) / (scale * m);
    Jacobi next = {(a * x + b) * p.value - c * last.value,
                   a * p.value + (a * x + b) * p.slope - c * last.slope};

    last = p;
    p = next;
  }
  return p;
}

// Points and weights for the integral of f(x) (1 - x)^alpha over [-1,1], alpha >= 1, exact to degree 2n - 1.
// Newton's method, in which the roots found so far are divided out; weights 2^(alpha+1) / ((1 - x^2) P_n'^2).
static void gauss_jacobi(int n, int alpha, double *x, double *w) {
  for (int i = 0; i < n; i++) {
    double root = -cos(pi * (i + 0.5) / n), step = 1.0;

    if (i > 0) root = 0.5 * (root + x[i - 1]);
    for (int k = 0; k < MAX_STEPS && fabs(step) > 1e-15; k++) {
      Jacobi p = jacobi(n, alpha, root);
      double others = 0.0;

      for (int j = 0; j < i; j++) others += 1.0 / (root - x[j]);
      step = p.value / (p.slope - others * p.value);
      root -= step;
    }
    double slope = jacobi(n, alpha, root).slope;

    x[i] = root;
    w[i] = ldexp(1.0, alpha + 1) / ((1.0 - root) * (1.0 + root) * slope * slope);
  }
}

// ---- Collapsed rules ----
// Lines of Gauss points in the first direction (on pyramids the first two), shrunk towards the apex by the
// later ones, whose weight functions are the powers of (1 - x) that the collapse leaves behind (Stroud,
// Approximate Calculation of Multiple Integrals, 1971).

static void collapse(CeedElemTopology topology, int n, const double *line, double *points, double *weights) {
  int dim = ritz_fe_shape_dim(topology);
  const double *a = line, *wa = line + n, *b = line + 2 * (size_t)n, *wb = line + 3 * (size_t)n;
  const double *c = line + 4 * (size_t)n, *wc = line + 5 * (size_t)n;

  if (topology == CEED_TOPOLOGY_PYRAMID) b = a, wb = wa;
  for (int k = 0; k < (dim == 3 ? n : 1); k++) {
    for (int j = 0; j < n; j++) {
      for (int i = 0; i < n; i++, points += dim, weights++) {
        double shrink = dim == 3 ? 0.5 * (1.0 - c[k]) : 1.0;

        if (topology == CEED_TOPOLOGY_PYRAMID) {
          points[0] = a[i] * shrink;
          points[1] = b[j] * shrink;
          *weights = wa[i] * wb[j] * wc[k] / 4.0;
        } else {
          points[0] = 0.5 * (1.0 + a[i]) * (1.0 - b[j]) * shrink - 1.0;
          points[1] = (1.0 + b[j]) * shrink - 1.0;
          *weights = wa[i] * wb[j] * (dim == 3 ? wc[k] / 8.0 : 0.5);
        }
        if (dim == 3) points[2] = c[k];
      }
    }
  }
}

static int collapsed_rule(Ceed ceed, CeedElemTopology topology, int n, double *points, double *weights) {
  double *line = NULL; // owned: points and weights for the exponents 0, 1, 2

  RITZ_TRY(RITZ_MALLOC(ceed, 6 * (size_t)n, &line));
  ritz_fe_gauss(n, line, line + n);
  for (int alpha = 1; alpha <= 2; alpha++) {
    double *x = line + 2 * (size_t)n * alpha;

    gauss_jacobi(n, alpha, x, x + n);
  }
  collapse(topology, n, line, points, weights);
  RITZ_FREE(&line);
  return CEED_ERROR_SUCCESS;
}

// ---- All shapes ----

static int64_t num_points(CeedElemTopology topology, int degree) {
  CeedElemTopology fast;
  int64_t n = degree / 2 + 1;

  if (ritz_fe_shape_is_product(topology, &fast)) {
    int64_t num = num_points(fast, degree);
    return num > INT_MAX ? num : num * n;
  }
  if (topology == CEED_TOPOLOGY_LINE) return n;
  if (ritz_fe_shape_rule_size(topology, degree)) return ritz_fe_shape_rule_size(topology, degree);
  int64_t num = n * n;
  return num > INT_MAX || topology == CEED_TOPOLOGY_TRIANGLE ? num : num * n;
}

static int fill_rule(Ceed ceed, CeedElemTopology topology, int degree, double *points, double *weights);

static int product_rule(Ceed ceed, CeedElemTopology fast, int degree, double *points, double *weights) {
  int n = degree / 2 + 1, num_fast = (int)num_points(fast, degree), dim = ritz_fe_shape_dim(fast);
  double *work = NULL; // owned: points and weights of the fast shape, of the line
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_fast * (dim + 1) + 2 * (size_t)n, &work));
  double *fast_weights = work + (size_t)num_fast * dim, *x = fast_weights + num_fast, *w = x + n;

  RITZ_TRY_CLEANUP(fill_rule(ceed, fast, degree, work, fast_weights));
  ritz_fe_gauss(n, x, w);
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < num_fast; i++) {
      for (int d = 0; d < dim; d++) *points++ = work[(size_t)i * dim + d];
      *points++ = x[k];
      *weights++ = fast_weights[i] * w[k];
    }
  }

cleanup:
  RITZ_FREE(&work);
  return ierr;
}

static int fill_rule(Ceed ceed, CeedElemTopology topology, int degree, double *points, double *weights) {
  CeedElemTopology fast;

  if (ritz_fe_shape_is_product(topology, &fast)) return product_rule(ceed, fast, degree, points, weights);
  if (topology == CEED_TOPOLOGY_LINE)
    ritz_fe_gauss(degree / 2 + 1, points, weights);
  else if (ritz_fe_shape_rule_size(topology, degree))
    ritz_fe_shape_rule(topology, degree, points, weights);
  else
    return collapsed_rule(ceed, topology, degree / 2 + 1, points, weights);
  return CEED_ERROR_SUCCESS;
}

int ritz_fe_shape_quadrature(Ceed ceed, CeedElemTopology topology, int degree, int *num, double *points,
                             double *weights) {
  RITZ_TRY(ritz_fe_shape_check(ceed, topology, 1));
  RITZ_REQUIRE(degree >= 0, ceed, CEED_ERROR_DIMENSION, "Quadrature: degree is %d, at least 0 needed",
               degree);
  int64_t size = num_points(topology, degree);

  RITZ_REQUIRE(size <= INT_MAX, ceed, CEED_ERROR_DIMENSION,
               "Quadrature: a rule of degree %d has more than 2^31 points", degree);
  *num = (int)size;
  return points ? fill_rule(ceed, topology, degree, points, weights) : CEED_ERROR_SUCCESS;
}
