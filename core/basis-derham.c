// SPDX-License-Identifier: BSD-2-Clause
// Raviart-Thomas and Nedelec bases on quadrilaterals and hexahedra (ritz/basis.h): their 1D tables.
#include <ritz/basis.h>

#include "core/vector-basis.h"
#include "fe/fe.h"

// ---- 1D tables ----

// Doubles, later the same rounded: nodes [order + 1], points [Q], weights [Q], Lagrange polynomials of the
// nodes [Q][order + 1] and their derivatives, edge functions between the nodes [Q][order].
typedef struct {
  size_t nodes, points, weights, values, slopes, edges, size;
} Layout;

static Layout lay_out(CeedInt order, CeedInt Q) {
  const size_t P = (size_t)order + 1, n = (size_t)Q;
  Layout l = {.points = P};
  l.weights = l.points + n;
  l.values = l.weights + n;
  l.slopes = l.values + n * P;
  l.edges = l.slopes + n * P;
  l.size = l.edges + n * (P - 1);
  return l;
}

static int fill_tables(Ceed ceed, CeedInt order, CeedInt Q, CeedQuadMode quad_mode, const Layout *l,
                       double *t) {
  const double *nodes = t + l->nodes, *points = t + l->points;
  ritz_fe_gauss_lobatto(order + 1, t + l->nodes, NULL);
  (quad_mode == CEED_GAUSS ? ritz_fe_gauss : ritz_fe_gauss_lobatto)(Q, t + l->points, t + l->weights);
  RITZ_TRY(ritz_fe_lagrange(ceed, order + 1, nodes, Q, points, t + l->values, t + l->slopes));
  return ritz_fe_edge(ceed, order + 1, nodes, Q, points, t + l->edges);
}

// ---- Bases ----

// H(div): component c is continuous in direction c; H(curl): in all others.
static bool is_continuous(CeedFESpace space, CeedInt c, CeedInt d) {
  return (space == CEED_FE_SPACE_HDIV) == (c == d);
}

static int create_from(Ceed ceed, RitzVectorTables *t, CeedInt order, const Layout *l,
                       const CeedScalar *tables, CeedBasis *basis) {
  CeedInt P_1d[9];
  const CeedScalar *interp_1d[9], *grad_1d[9];
  for (CeedInt i = 0; i < t->dim * t->dim; i++) {
    const bool is_lagrange = is_continuous(t->space, i / t->dim, i % t->dim);
    P_1d[i] = is_lagrange ? order + 1 : order;
    interp_1d[i] = tables + (is_lagrange ? l->values : l->edges);
    grad_1d[i] = is_lagrange ? tables + l->slopes : NULL;
  }
  t->P_1d = P_1d;
  t->interp_1d = interp_1d;
  t->grad_1d = grad_1d;
  t->q_ref_1d = tables + l->points;
  t->q_weight_1d = tables + l->weights;
  return ritz_basis_create_vector(ceed, t, basis);
}

// Before tables are made that may be as large as wrong sizes are.
static int check_sizes(Ceed ceed, const RitzVectorTables *t, CeedInt order, CeedQuadMode quad_mode) {
  const CeedInt min_Q = quad_mode == CEED_GAUSS ? 1 : 2, most = t->dim == 2 ? 1 << 15 : 1 << 10;
  RITZ_TRY(ritz_basis_check_vector(ceed, t->call, t->dim, t->num_comp, t->Q_1d));
  RITZ_REQUIRE(order >= 1, ceed, CEED_ERROR_DIMENSION, "%s: order must be at least 1, found %" CeedInt_FMT,
               t->call, order);
  RITZ_REQUIRE(quad_mode == CEED_GAUSS || quad_mode == CEED_GAUSS_LOBATTO, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %d is no quadrature mode", t->call, (int)quad_mode);
  RITZ_REQUIRE(t->Q_1d >= min_Q, ceed, CEED_ERROR_DIMENSION,
               "%s: needs at least %" CeedInt_FMT " points per direction, found %" CeedInt_FMT, t->call,
               min_Q, t->Q_1d);
  RITZ_REQUIRE(order < most && t->Q_1d < most, ceed, CEED_ERROR_DIMENSION,
               "%s: order %" CeedInt_FMT " or %" CeedInt_FMT
               " points per direction exceed 32-bit sizes, needed less than %" CeedInt_FMT,
               t->call, order, t->Q_1d, most);
  return CEED_ERROR_SUCCESS;
}

static int create_derham(Ceed ceed, RitzVectorTables *t, CeedInt order, CeedQuadMode quad_mode,
                         CeedBasis *basis) {
  double *tables = NULL;
  CeedScalar *rounded = NULL;
  int ierr;
  RITZ_TRY(check_sizes(ceed, t, order, quad_mode));
  const Layout l = lay_out(order, t->Q_1d);
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, l.size, &tables));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, l.size, &rounded));
  RITZ_TRY_CLEANUP(fill_tables(ceed, order, t->Q_1d, quad_mode, &l, tables));
  ritz_narrow((CeedSize)l.size, tables, rounded);
  ierr = create_from(ceed, t, order, &l, rounded, basis);
cleanup:
  RITZ_FREE(&rounded);
  RITZ_FREE(&tables);
  return ierr;
}

// ---- Public ----

int RitzBasisCreateTensorHdiv(Ceed ceed, CeedInt dim, CeedInt num_comp, CeedInt order, CeedInt Q,
                              CeedQuadMode quad_mode, CeedBasis *basis) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, basis);
  RitzVectorTables t = {
      .call = __func__, .space = CEED_FE_SPACE_HDIV, .dim = dim, .num_comp = num_comp, .Q_1d = Q};
  return create_derham(ceed, &t, order, quad_mode, basis);
}

int RitzBasisCreateTensorHcurl(Ceed ceed, CeedInt dim, CeedInt num_comp, CeedInt order, CeedInt Q,
                               CeedQuadMode quad_mode, CeedBasis *basis) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, basis);
  RitzVectorTables t = {
      .call = __func__, .space = CEED_FE_SPACE_HCURL, .dim = dim, .num_comp = num_comp, .Q_1d = Q};
  return create_derham(ceed, &t, order, quad_mode, basis);
}
