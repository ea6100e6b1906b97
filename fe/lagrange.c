// SPDX-License-Identifier: BSD-2-Clause
// One-dimensional polynomial tables: Lagrange polynomials of given nodes, Chebyshev polynomials.
// Called by core/ (bases, evaluation at points) and mesh/. Leaves the choice of nodes and points to them.
#include "fe/fe.h"

#include "base/error.h"
#include "base/memory.h"
#include <float.h>
#include <math.h>

// Sums and products over the nodes pair the k-th from the left with the k-th from the right. Mirrored input
// then gives bitwise mirrored results, which makes the tables of symmetric nodes and points exactly
// symmetric.

static double mirrored_sum(int n, const double *a) {
  double sum = n % 2 ? a[n / 2] : 0.0;

  for (int k = n / 2 - 1; k >= 0; k--) sum += a[k] + a[n - 1 - k];
  return sum;
}

static double mirrored_product(int n, const double *a) {
  double product = n % 2 ? a[n / 2] : 1.0;

  for (int k = n / 2 - 1; k >= 0; k--) product *= a[k] * a[n - 1 - k];
  return product;
}

static double largest_magnitude(int n, const double *a) {
  double largest = 0.0;

  for (int k = 0; k < n; k++) largest = fmax(largest, fabs(a[k]));
  return largest;
}

// Barycentric weights 1 / prod_{k != j} (x_j - x_k), scaled to a largest magnitude of 1: a common factor
// drops out of all formulas. Differences are taken in units of a quarter of the interval, its capacity, which
// keeps the products near 1 for any number of well placed nodes.
static int find_weights(Ceed ceed, int P, const double *nodes, double *weights, double *scratch) {
  double low = nodes[0], high = nodes[0];

  for (int j = 1; j < P; j++) low = fmin(low, nodes[j]), high = fmax(high, nodes[j]);
  for (int j = 0; j < P; j++) {
    for (int k = 0; k < P; k++) scratch[k] = k == j ? 1.0 : (nodes[j] - nodes[k]) / (0.25 * (high - low));
    weights[j] = 1.0 / mirrored_product(P, scratch);
    RITZ_REQUIRE(
        isfinite(nodes[j]) && isnormal(weights[j]), ceed, CEED_ERROR_MINOR,
        "Lagrange polynomials: node %d of %d, at %g, is not a finite number well apart from the others", j, P,
        nodes[j]);
  }
  double largest = largest_magnitude(P, weights);

  for (int j = 0; j < P; j++) weights[j] /= largest;
  return CEED_ERROR_SUCCESS;
}

// The node that equals x, or -1. Points that are closer to a node than any difference that shows in a result,
// but not equal, count as equal: their reciprocals would overflow.
static int find_node(int P, const double *nodes, double x) {
  for (int j = 0; j < P; j++) {
    if (fabs(x - nodes[j]) <= DBL_MIN / DBL_EPSILON) return j;
  }
  return -1;
}

// Second barycentric form: l_j = (w_j / (x - x_j)) / sum_k (w_k / (x - x_k)).
static void fill_values(int P, const double *nodes, const double *weights, double x, double *values) {
  for (int j = 0; j < P; j++) values[j] = weights[j] / (x - nodes[j]);
  double sum = mirrored_sum(P, values);

  for (int j = 0; j < P; j++) values[j] /= sum;
}

// l_j' = l_j sum_{k != j} 1 / (x - x_k). Close to node m the large term 1 / (x - x_m) meets only values l_j
// that are small in proportion, so that nothing is lost.
// Round-off leaves the derivative of the constant 1, their sum, which is taken out in proportion to l_j.
static void fill_derivatives(int P, const double *nodes, const double *values, double x, double *derivatives,
                             double *scratch) {
  for (int j = 0; j < P; j++) {
    for (int k = 0; k < P; k++) scratch[k] = k == j ? 0.0 : 1.0 / (x - nodes[k]);
    derivatives[j] = values[j] * mirrored_sum(P, scratch);
  }
  double sum = mirrored_sum(P, derivatives);

  for (int j = 0; j < P; j++) derivatives[j] -= sum * values[j];
}

// At node i: l_j' = (w_j / w_i) / (x_i - x_j), and l_i' is minus the sum of the others.
static void fill_derivatives_at_node(int P, const double *nodes, const double *weights, int i,
                                     double *derivatives) {
  derivatives[i] = 0.0;
  for (int j = 0; j < P; j++) {
    if (j != i) derivatives[j] = weights[j] / weights[i] / (nodes[i] - nodes[j]);
  }
  derivatives[i] = 0.0 - mirrored_sum(P, derivatives);
}

int ritz_fe_lagrange(Ceed ceed, int P, const double *nodes, int Q, const double *points, double *values,
                     double *derivatives) {
  double *work = NULL; // owned: weights [P], values at a point [P], scratch [P]
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_REQUIRE(P >= 1 && Q >= 0, ceed, CEED_ERROR_DIMENSION,
               "Lagrange polynomials: %d nodes and %d points, at least 1 and 0 needed", P, Q);
  RITZ_TRY(RITZ_MALLOC(ceed, 3 * (size_t)P, &work));
  double *weights = work, *row = work + P, *scratch = work + 2 * (size_t)P;

  RITZ_TRY_CLEANUP(find_weights(ceed, P, nodes, weights, scratch));
  for (size_t q = 0; q < (size_t)Q; q++) {
    double *value_row = values ? values + q * P : row;
    double *derivative_row = derivatives ? derivatives + q * P : NULL;
    int i = find_node(P, nodes, points[q]);

    if (i < 0) {
      fill_values(P, nodes, weights, points[q], value_row);
      if (derivative_row) fill_derivatives(P, nodes, value_row, points[q], derivative_row, scratch);
    } else {
      for (int j = 0; j < P; j++) value_row[j] = i == j;
      if (derivative_row) fill_derivatives_at_node(P, nodes, weights, i, derivative_row);
    }
  }

cleanup:
  RITZ_FREE(&work);
  return ierr;
}

// T_k' = k U_{k-1}; both kinds obey y_k = 2 x y_{k-1} - y_{k-2}, from T_0 = 1, T_1 = x and U_{-1} = 0, U_0
// = 1.
void ritz_fe_chebyshev(int n, double x, double *value, double *derivative) {
  double t = 1.0, t_next = x;   // T_k, T_{k+1}
  double u_last = 0.0, u = 1.0; // U_{k-1}, U_k

  for (int k = 0; k < n; k++) {
    double t_new = 2.0 * x * t_next - t, u_new = 2.0 * x * u - u_last;

    if (value) value[k] = t;
    if (derivative) derivative[k] = k * u_last;
    t = t_next, t_next = t_new;
    u_last = u, u = u_new;
  }
}
