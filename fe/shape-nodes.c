// SPDX-License-Identifier: BSD-2-Clause
// Nodes of the Lagrange bases on all shapes.
// Called by fe/shape.c for its Vandermonde matrices, and through fe/fe.h by core/ and mesh/.
#include "fe/shape.h"

#include "base/memory.h"
#include <limits.h>
#include <math.h>

// ---- Sizes ----

static int64_t count_nodes(CeedElemTopology topology, int64_t p) {
  switch (topology) {
  case CEED_TOPOLOGY_LINE: return p + 1;
  case CEED_TOPOLOGY_TRIANGLE: return (p + 1) * (p + 2) / 2;
  case CEED_TOPOLOGY_QUAD: return (p + 1) * (p + 1);
  case CEED_TOPOLOGY_TET: return (p + 1) * (p + 2) * (p + 3) / 6;
  case CEED_TOPOLOGY_PYRAMID: return (p + 1) * (p + 2) * (2 * p + 3) / 6;
  case CEED_TOPOLOGY_PRISM: return (p + 1) * (p + 1) * (p + 2) / 2;
  case CEED_TOPOLOGY_HEX: return (p + 1) * (p + 1) * (p + 1);
  default: return 0;
  }
}

int ritz_fe_shape_num_nodes(CeedElemTopology topology, int degree) {
  if (degree < 1 || degree > 46339)
    return 0; // no product above overflows; (p+1)^2 does not fit an int beyond
  int64_t num = count_nodes(topology, degree);

  return num <= INT_MAX ? (int)num : 0;
}

int ritz_fe_shape_check(Ceed ceed, CeedElemTopology topology, int degree) {
  RITZ_REQUIRE(count_nodes(topology, 1) > 0, ceed, CEED_ERROR_DIMENSION,
               "Finite element: %d is no element topology", (int)topology);
  RITZ_REQUIRE(ritz_fe_shape_num_nodes(topology, degree) > 0, ceed, CEED_ERROR_DIMENSION,
               "Finite element: degree is %d, at least 1 and fewer than 2^31 nodes needed", degree);
  return CEED_ERROR_SUCCESS;
}

// ---- Simplices ----
//
// Isaac, "Recursive, parameter-free, explicitly defined interpolation nodes for simplices", SIAM Journal on
// Scientific Computing 42, 2020: a node is an average of the nodes of the facets below it (those found when
// one index is left out), weighted with the one-dimensional nodes of the remaining sums of indices. Nodes on
// facets are those of the facet, and the lattice's symmetries are kept.

// Gauss-Lobatto points of [0,1] with n intervals, n = 1 .. p, one row after the other.
static const double *line_nodes(const double *table, int n) { return table + (size_t)n * (n + 1) / 2 - 1; }

static int make_line_table(Ceed ceed, int p, double **table) {
  size_t size = (size_t)(p + 1) * (p + 2) / 2 - 1;

  RITZ_TRY(RITZ_MALLOC(ceed, size, table));
  for (int n = 1; n <= p; n++) ritz_fe_gauss_lobatto(n + 1, *table + (line_nodes(*table, n) - *table), NULL);
  for (size_t k = 0; k < size; k++) (*table)[k] = 0.5 + 0.5 * (*table)[k];
  return CEED_ERROR_SUCCESS;
}

// Barycentric coordinates of the node with the given indices, one for each of the num_corners corners.
static void simplex_node(const double *table, int num_corners, const int *index, double *lambda) {
  int n = 0;
  double sum = 0.0;

  for (int i = 0; i < num_corners; i++) n += index[i];
  if (num_corners == 1 || n == 0) {
    for (int i = 0; i < num_corners; i++) lambda[i] = 1.0 / num_corners;
    return;
  }
  const double *line = line_nodes(table, n);

  if (num_corners == 2) {
    lambda[0] = line[index[0]], lambda[1] = line[index[1]];
    return;
  }
  for (int i = 0; i < num_corners; i++) lambda[i] = 0.0;
  for (int out = 0; out < num_corners; out++) {
    int facet_index[3];
    double weight = line[n - index[out]], facet_lambda[3];

    for (int i = 0; i < num_corners - 1; i++) facet_index[i] = index[i + (i >= out)];
    simplex_node(table, num_corners - 1, facet_index, facet_lambda);
    for (int i = 0; i < num_corners - 1; i++) lambda[i + (i >= out)] += weight * facet_lambda[i];
    sum += weight;
  }
  for (int i = 0; i < num_corners; i++) lambda[i] /= sum;
}

static void triangle_nodes(const double *table, int p, double *x) {
  for (int j = 0; j <= p; j++) {
    for (int i = 0; i <= p - j; i++, x += 2) {
      const int index[] = {p - i - j, i, j};
      double lambda[3];

      simplex_node(table, 3, index, lambda);
      for (int d = 0; d < 2; d++) x[d] = 2.0 * lambda[d + 1] - 1.0;
    }
  }
}

static void tet_nodes(const double *table, int p, double *x) {
  for (int k = 0; k <= p; k++) {
    for (int j = 0; j <= p - k; j++) {
      for (int i = 0; i <= p - j - k; i++, x += 3) {
        const int index[] = {p - i - j - k, i, j, k};
        double lambda[4];

        simplex_node(table, 4, index, lambda);
        for (int d = 0; d < 3; d++) x[d] = 2.0 * lambda[d + 1] - 1.0;
      }
    }
  }
}

// ---- Pyramids ----

// Node (i, k) of a triangular face: height 0..1 above the base, and where it is on its way from one side edge
// (-1) to the other (1).
static void face_node(const double *table, int p, int i, int k, double *height, double *across) {
  const int index[] = {p - i - k, i, k};
  double lambda[3];

  simplex_node(table, 3, index, lambda);
  *height = lambda[2];
  *across = k < p ? (lambda[1] - lambda[0]) / (lambda[0] + lambda[1]) : 0.0;
}

// The two triangular faces that meet in an edge through the apex give both directions their positions in a
// layer. Of the two heights, that of the node which is further off the layer's height at the edge: so heights
// are those of the faces on all faces, and the Lebesgue constant is a third of what adding both distances
// gives (degree 10).
static void pyramid_nodes(const double *table, int p, double *x) {
  for (int k = 0; k <= p; k++) {
    for (int j = 0; j <= p - k; j++) {
      for (int i = 0; i <= p - k; i++, x += 3) {
        double height[2], across[2], edge = line_nodes(table, p)[k];

        face_node(table, p, i, k, &height[0], &across[0]);
        face_node(table, p, j, k, &height[1], &across[1]);
        bool first = fabs(height[0] - edge) >= fabs(height[1] - edge);
        double h = first ? height[0] : height[1];

        x[0] = (1.0 - h) * across[0];
        x[1] = (1.0 - h) * across[1];
        x[2] = 2.0 * h - 1.0;
      }
    }
  }
}

// ---- All shapes ----

// Nodes of the fast shape in each layer of a Gauss-Lobatto line.
static int product_nodes(Ceed ceed, CeedElemTopology fast, int p, double *x) {
  int dim = ritz_fe_shape_dim(fast), num_fast = ritz_fe_shape_num_nodes(fast, p);
  double *work = NULL; // owned: nodes of the fast shape, of the line
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_fast * dim + p + 1, &work));
  double *line = work + (size_t)num_fast * dim;

  RITZ_TRY_CLEANUP(ritz_fe_shape_nodes(ceed, fast, p, work));
  ritz_fe_gauss_lobatto(p + 1, line, NULL);
  for (int k = 0; k <= p; k++) {
    for (int i = 0; i < num_fast; i++) {
      for (int d = 0; d < dim; d++) *x++ = work[(size_t)i * dim + d];
      *x++ = line[k];
    }
  }

cleanup:
  RITZ_FREE(&work);
  return ierr;
}

int ritz_fe_shape_nodes(Ceed ceed, CeedElemTopology topology, int degree, double *nodes) {
  CeedElemTopology fast;
  double *table = NULL; // owned

  RITZ_TRY(ritz_fe_shape_check(ceed, topology, degree));
  if (ritz_fe_shape_is_product(topology, &fast)) return product_nodes(ceed, fast, degree, nodes);
  if (topology == CEED_TOPOLOGY_LINE) {
    ritz_fe_gauss_lobatto(degree + 1, nodes, NULL);
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(make_line_table(ceed, degree, &table));
  if (topology == CEED_TOPOLOGY_TRIANGLE)
    triangle_nodes(table, degree, nodes);
  else if (topology == CEED_TOPOLOGY_TET)
    tet_nodes(table, degree, nodes);
  else
    pyramid_nodes(table, degree, nodes);
  RITZ_FREE(&table);
  return CEED_ERROR_SUCCESS;
}
