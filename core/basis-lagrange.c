// SPDX-License-Identifier: BSD-2-Clause
// Lagrange bases on all shapes (ritz/basis.h): the tables of fe/ handed to the standard's constructors.
#include <ritz/basis.h>

#include "core/core.h"
#include "fe/fe.h"

static bool is_tensor(CeedElemTopology topology) {
  return topology == CEED_TOPOLOGY_LINE || topology == CEED_TOPOLOGY_QUAD || topology == CEED_TOPOLOGY_HEX;
}

// Reports what has no nodes.
static int check_shape(Ceed ceed, const char *call, CeedElemTopology topology, CeedInt degree) {
  RITZ_REQUIRE(ritz_fe_shape_num_nodes(topology, 1) > 0, ceed, CEED_ERROR_DIMENSION,
               "%s: %d is no element topology", call, (int)topology);
  RITZ_REQUIRE(ritz_fe_shape_num_nodes(topology, degree) > 0, ceed, CEED_ERROR_DIMENSION,
               "%s: degree must be at least 1, with fewer than 2^31 nodes, found %" CeedInt_FMT, call,
               degree);
  return CEED_ERROR_SUCCESS;
}

// Interp [Q][P], grad [dim][Q][P], points [dim][Q], weights [Q], and the points once more, [Q][dim].
static int fill_lagrange_tables(Ceed ceed, CeedElemTopology topology, int degree, int quad_degree, size_t dim,
                                size_t P, int Q, double *tables) {
  size_t size = Q * P;
  double *points = tables + (dim + 1) * size, *weights = points + dim * Q, *by_point = weights + Q;
  RITZ_TRY(ritz_fe_shape_quadrature(ceed, topology, quad_degree, &Q, by_point, weights));
  for (size_t d = 0; d < dim; d++) {
    for (size_t q = 0; q < (size_t)Q; q++) points[d * Q + q] = by_point[q * dim + d];
  }
  return ritz_fe_shape_lagrange(ceed, topology, degree, Q, by_point, tables, tables + size);
}

static int create_dense_lagrange(Ceed ceed, CeedElemTopology topology, CeedInt num_comp, CeedInt degree,
                                 CeedInt quad_degree, CeedBasis *basis) {
  CeedInt dim, P = ritz_fe_shape_num_nodes(topology, degree), Q;
  double *tables = NULL;
  CeedScalar *rounded = NULL;
  int ierr;
  RITZ_TRY(CeedBasisGetTopologyDimension(topology, &dim));
  RITZ_TRY(ritz_fe_shape_quadrature(ceed, topology, quad_degree, &Q, NULL, NULL));
  // Factors below 2^31 each, four of dimensions: what follows counts bytes in 64 bits.
  RITZ_REQUIRE((int64_t)Q * P <= INT64_MAX / 64, ceed, CEED_ERROR_DIMENSION,
               "RitzBasisCreateLagrange: tables of %" CeedInt_FMT " points and %" CeedInt_FMT
               " nodes exceed what can be addressed",
               Q, P);
  size_t size = (size_t)Q * P, n = (dim + 1) * (size + Q);
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, n + (size_t)dim * Q, &tables));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, n, &rounded));
  RITZ_TRY_CLEANUP(fill_lagrange_tables(ceed, topology, degree, quad_degree, dim, P, Q, tables));
  ritz_narrow((CeedSize)n, tables, rounded);
  const CeedScalar *points = rounded + (dim + 1) * size;
  ierr = CeedBasisCreateH1(ceed, topology, num_comp, P, Q, rounded, rounded + size, points,
                           points + (size_t)dim * Q, basis);
cleanup:
  RITZ_FREE(&rounded);
  RITZ_FREE(&tables);
  return ierr;
}

int RitzBasisCreateLagrange(Ceed ceed, CeedElemTopology topology, CeedInt num_comp, CeedInt degree,
                            CeedInt quad_degree, CeedBasis *basis) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, basis);
  RITZ_TRY(check_shape(ceed, __func__, topology, degree));
  RITZ_REQUIRE(num_comp >= 1, ceed, CEED_ERROR_DIMENSION,
               "%s: number of components must be at least 1, found %" CeedInt_FMT, __func__, num_comp);
  RITZ_REQUIRE(quad_degree >= 0, ceed, CEED_ERROR_DIMENSION,
               "%s: degree of quadrature must be at least 0, found %" CeedInt_FMT, __func__, quad_degree);
  if (!is_tensor(topology))
    return create_dense_lagrange(ceed, topology, num_comp, degree, quad_degree, basis);
  CeedInt dim;
  RITZ_TRY(CeedBasisGetTopologyDimension(topology, &dim));
  return CeedBasisCreateTensorH1Lagrange(ceed, dim, num_comp, degree + 1, quad_degree / 2 + 1, CEED_GAUSS,
                                         basis);
}

int RitzLagrangeNodes(Ceed ceed, CeedElemTopology topology, CeedInt degree, CeedInt *num_nodes, double *x) {
  RITZ_HANDLE(ceed);
  RITZ_TRY(check_shape(ceed, __func__, topology, degree));
  if (num_nodes) *num_nodes = ritz_fe_shape_num_nodes(topology, degree);
  return x ? ritz_fe_shape_nodes(ceed, topology, degree, x) : CEED_ERROR_SUCCESS;
}
