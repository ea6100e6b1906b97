// SPDX-License-Identifier: BSD-2-Clause
// Lagrange bases on all shapes: through the Vandermonde matrix of an orthonormal basis on triangles,
// tetrahedra and pyramids, as products on the others. Called by core/ and mesh/ through fe/fe.h.
#include "fe/shape.h"

#include "base/memory.h"
#include <math.h>
#include <string.h>

// ---- Products with a line ----

// Tables of both factors at the points.
typedef struct {
  size_t P, P_fast, P_line, Q;
  int dim;
  const double *fast, *fast_gradients, *line, *line_gradients;
} Factors;

// table[q][k][i] = fast[q][i] * line[q][k]
static void multiply_powers(const Factors *f, const double *fast, const double *line, double *table) {
  for (size_t q = 0; q < f->Q; q++) {
    for (size_t k = 0; k < f->P_line; k++) {
      for (size_t i = 0; i < f->P_fast; i++) *table++ = fast[q * f->P_fast + i] * line[q * f->P_line + k];
    }
  }
}

static void multiply_all(const Factors *f, double *values, double *gradients) {
  size_t size = f->Q * f->P;

  if (values) multiply_powers(f, f->fast, f->line, values);
  if (!gradients) return;
  for (int d = 0; d < f->dim - 1; d++)
    multiply_powers(f, f->fast_gradients + d * f->Q * f->P_fast, f->line, gradients + d * size);
  multiply_powers(f, f->fast, f->line_gradients, gradients + (f->dim - 1) * size);
}

int ritz_fe_shape_product(Ceed ceed, CeedElemTopology topology, int degree, int num_points,
                          const double *points, double *values, double *gradients, RitzFeShapeTables tables) {
  CeedElemTopology fast = CEED_TOPOLOGY_LINE;
  int dim = ritz_fe_shape_dim(topology), ierr = CEED_ERROR_SUCCESS;
  double *work = NULL; // owned: points of both factors, tables of both factors

  ritz_fe_shape_is_product(topology, &fast);
  size_t Q = (size_t)num_points, P_fast = (size_t)ritz_fe_shape_num_nodes(fast, degree),
         P_line = (size_t)degree + 1;
  size_t fast_size = Q * P_fast, line_size = Q * P_line;

  RITZ_TRY(RITZ_MALLOC(ceed, Q * dim + dim * fast_size + 2 * line_size, &work));
  double *fast_points = work, *line_points = work + Q * (dim - 1), *fast_values = line_points + Q;
  double *line_values = fast_values + dim * fast_size;
  const Factors factors = {.P = P_fast * P_line,
                           .P_fast = P_fast,
                           .P_line = P_line,
                           .Q = Q,
                           .dim = dim,
                           .fast = fast_values,
                           .fast_gradients = fast_values + fast_size,
                           .line = line_values,
                           .line_gradients = line_values + line_size};

  for (size_t q = 0; q < Q; q++) {
    for (int d = 0; d < dim - 1; d++) fast_points[q * (dim - 1) + d] = points[q * dim + d];
    line_points[q] = points[q * dim + dim - 1];
  }
  RITZ_TRY_CLEANUP(tables(ceed, fast, degree, num_points, fast_points, fast_values, fast_values + fast_size));
  RITZ_TRY_CLEANUP(tables(ceed, CEED_TOPOLOGY_LINE, degree, num_points, line_points, line_values,
                          line_values + line_size));
  multiply_all(&factors, values, gradients);

cleanup:
  RITZ_FREE(&work);
  return ierr;
}

// ---- Vandermonde matrices ----

// inverse [mode][node]: its columns are the coefficients of the Lagrange polynomials in the orthonormal
// basis.
static int invert_vandermonde(Ceed ceed, CeedElemTopology topology, int degree, double *inverse) {
  size_t P = (size_t)ritz_fe_shape_num_nodes(topology, degree), dim = (size_t)ritz_fe_shape_dim(topology);
  double *work = NULL; // owned: nodes [P][dim], matrix [node][mode]
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(ceed, P * dim + P * P, &work));
  double *vandermonde = work + P * dim;

  RITZ_TRY_CLEANUP(ritz_fe_shape_nodes(ceed, topology, degree, work));
  RITZ_TRY_CLEANUP(ritz_fe_shape_modes(ceed, topology, degree, (int)P, work, vandermonde, NULL));
  for (size_t i = 0; i < P * P; i++) inverse[i] = i % (P + 1) == 0;
  RITZ_TRY_CLEANUP(ritz_fe_solve(ceed, (int)P, vandermonde, (int)P, inverse));

cleanup:
  RITZ_FREE(&work);
  return ierr;
}

// Rows of `table` [num_rows][P], values of modes, become values of Lagrange polynomials.
static void change_basis(size_t num_rows, size_t P, const double *inverse, double *row, double *table) {
  for (size_t r = 0; r < num_rows; r++, table += P) {
    for (size_t j = 0; j < P; j++) row[j] = 0.0;
    for (size_t i = 0; i < P; i++) {
      for (size_t j = 0; j < P; j++) row[j] += table[i] * inverse[i * P + j];
    }
    for (size_t j = 0; j < P; j++) table[j] = row[j];
  }
}

// Values of all nodes sum to one, derivatives to zero: what they sum to instead is left by the inverse, and
// would be the derivative of a constant.
static void correct_sums(size_t num_points, size_t P, double wanted, const double *values, double *table) {
  for (size_t q = 0; q < num_points; q++, table += P, values += P) {
    double excess = -wanted;

    for (size_t i = 0; i < P; i++) excess += table[i];
    for (size_t i = 0; i < P; i++) table[i] -= excess * values[i];
  }
}

// tables [1 + dim][num_points][P]: values, then gradients.
static int lagrange_by_modes(Ceed ceed, CeedElemTopology topology, int degree, const double *inverse,
                             int num_points, const double *points, double *tables) {
  size_t P = (size_t)ritz_fe_shape_num_nodes(topology, degree), Q = (size_t)num_points;
  size_t dim = (size_t)ritz_fe_shape_dim(topology);
  double *row = NULL; // owned
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(ceed, P, &row));
  RITZ_TRY_CLEANUP(ritz_fe_shape_modes(ceed, topology, degree, num_points, points, tables, tables + Q * P));
  change_basis((1 + dim) * Q, P, inverse, row, tables);
  correct_sums(Q, P, 1.0, tables, tables);
  for (size_t d = 1; d <= dim; d++) correct_sums(Q, P, 0.0, tables, tables + d * Q * P);

cleanup:
  RITZ_FREE(&row);
  return ierr;
}

// ---- Symmetry: exchanging the first two coordinates takes triangles, tetrahedra and pyramids to themselves
// ----

static void exchange_points(int num, int dim, const double *points, double *exchanged) {
  for (int q = 0; q < num; q++, points += dim, exchanged += dim) {
    exchanged[0] = points[1];
    exchanged[1] = points[0];
    if (dim == 3) exchanged[2] = points[2];
  }
}

static double distance_to_point(int dim, const double *x, const double *y) {
  double sum = 0.0;

  for (int d = 0; d < dim; d++) sum += fabs(x[d] - y[d]);
  return sum;
}

// image[i]: the node that lies where the exchange takes node i.
static int find_images(Ceed ceed, CeedElemTopology topology, int degree, int *image) {
  int P = ritz_fe_shape_num_nodes(topology, degree), dim = ritz_fe_shape_dim(topology);
  double *nodes = NULL; // owned: nodes, exchanged nodes
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(ceed, 2 * (size_t)P * dim, &nodes));
  double *exchanged = nodes + (size_t)P * dim;

  RITZ_TRY_CLEANUP(ritz_fe_shape_nodes(ceed, topology, degree, nodes));
  exchange_points(P, dim, nodes, exchanged);
  for (int i = 0; i < P; i++) {
    const double *x = exchanged + (size_t)i * dim;

    image[i] = 0;
    for (int j = 1; j < P; j++) {
      if (distance_to_point(dim, nodes + (size_t)j * dim, x) <
          distance_to_point(dim, nodes + (size_t)image[i] * dim, x))
        image[i] = j;
    }
  }

cleanup:
  RITZ_FREE(&nodes);
  return ierr;
}

// table = the mean of itself and of what the exchanged table has for the exchanged nodes.
static void average(size_t num_points, size_t P, const int *image, const double *exchanged, double *table) {
  for (size_t q = 0; q < num_points; q++, table += P, exchanged += P) {
    for (size_t i = 0; i < P; i++) table[i] = 0.5 * (table[i] + exchanged[image[i]]);
  }
}

// Both ways to a number go through other entries of the inverse, by whose round-off they differ. Their mean
// is the same, bit for bit, at exchanged points for exchanged nodes.
static int average_exchanged(Ceed ceed, CeedElemTopology topology, int degree, const double *inverse,
                             int num_points, const double *points, double *tables) {
  size_t P = (size_t)ritz_fe_shape_num_nodes(topology, degree), size = (size_t)num_points * P;
  int dim = ritz_fe_shape_dim(topology), ierr = CEED_ERROR_SUCCESS, *image = NULL;
  double *work = NULL; // owned: exchanged points, their tables

  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, P, &image));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)num_points * (size_t)dim + (1 + (size_t)dim) * size, &work));
  double *exchanged = work + (size_t)num_points * (size_t)dim;

  RITZ_TRY_CLEANUP(find_images(ceed, topology, degree, image));
  exchange_points(num_points, dim, points, work);
  RITZ_TRY_CLEANUP(lagrange_by_modes(ceed, topology, degree, inverse, num_points, work, exchanged));
  average((size_t)num_points, P, image, exchanged, tables);
  for (int d = 0; d < dim; d++) {
    int from = d == 0 ? 1 : d == 1 ? 0 : d;

    average((size_t)num_points, P, image, exchanged + (1 + (size_t)from) * size,
            tables + (1 + (size_t)d) * size);
  }

cleanup:
  RITZ_FREE(&image);
  RITZ_FREE(&work);
  return ierr;
}

static int lagrange_symmetric(Ceed ceed, CeedElemTopology topology, int degree, int num_points,
                              const double *points, double *values, double *gradients) {
  size_t P = (size_t)ritz_fe_shape_num_nodes(topology, degree), size = (size_t)num_points * P;
  size_t dim = (size_t)ritz_fe_shape_dim(topology);
  double *work = NULL; // owned: inverse of the Vandermonde matrix, tables
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(ceed, P * P + (1 + dim) * size, &work));
  double *tables = work + P * P;

  RITZ_TRY_CLEANUP(invert_vandermonde(ceed, topology, degree, work));
  RITZ_TRY_CLEANUP(lagrange_by_modes(ceed, topology, degree, work, num_points, points, tables));
  RITZ_TRY_CLEANUP(average_exchanged(ceed, topology, degree, work, num_points, points, tables));
  if (values) memcpy(values, tables, size * sizeof(*values));
  if (gradients) memcpy(gradients, tables + size, dim * size * sizeof(*gradients));

cleanup:
  RITZ_FREE(&work);
  return ierr;
}

// ---- All shapes ----

static int lagrange_on_line(Ceed ceed, int degree, int num_points, const double *points, double *values,
                            double *gradients) {
  double *nodes = NULL; // owned
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)degree + 1, &nodes));
  ritz_fe_gauss_lobatto(degree + 1, nodes, NULL);
  ierr = ritz_fe_lagrange(ceed, degree + 1, nodes, num_points, points, values, gradients);
  RITZ_FREE(&nodes);
  return ierr;
}

int ritz_fe_shape_lagrange(Ceed ceed, CeedElemTopology topology, int degree, int num_points,
                           const double *points, double *values, double *gradients) {
  CeedElemTopology fast;

  RITZ_TRY(ritz_fe_shape_check(ceed, topology, degree));
  if (ritz_fe_shape_is_product(topology, &fast))
    return ritz_fe_shape_product(ceed, topology, degree, num_points, points, values, gradients,
                                 ritz_fe_shape_lagrange);
  if (topology == CEED_TOPOLOGY_LINE)
    return lagrange_on_line(ceed, degree, num_points, points, values, gradients);
  return lagrange_symmetric(ceed, topology, degree, num_points, points, values, gradients);
}
