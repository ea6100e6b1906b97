// SPDX-License-Identifier: BSD-2-Clause
// Tables that come from other tables of a basis: projections between bases, derivatives at the points,
// Chebyshev coefficients; and the contraction of one index. Each is exact on polynomials. Evaluation at
// arbitrary points is tested elsewhere.
#include "tests/tap.h"

#include "tests/reference.h"
#include <ceed/backend.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 512, MAX_TABLE = 3 * MAX_POINTS * MAX_POINTS };

static double *allocate(size_t n) { return calloc(n, sizeof(double)); }

// The largest difference of n numbers; NaN stays.
static double distance(CeedSize n, const double *a, const CeedScalar *b) {
  double worst = 0.0;

  for (CeedSize i = 0; i < n; i++) {
    double error = fabs(a[i] - (double)b[i]);
    if (error > worst || isnan(error)) worst = error;
  }
  return worst;
}

// ---- Projections of tensor bases ----

typedef struct {
  int dim, P_from, P_to, Q;
} Pair;

// The definition: Lagrange polynomials of the coarse nodes and their derivatives at the fine nodes.
static void reference_projection(const Pair *pair, double *interp, double *grad) {
  double nodes[REFERENCE_MAX_1D];

  reference_quadrature(CEED_GAUSS_LOBATTO, pair->P_to, nodes, NULL);
  reference_lagrange(pair->P_from, pair->P_to, nodes, interp, grad);
}

static int create_pair(Ceed ceed, const Pair *pair, CeedInt num_comp_to, CeedBasis *from, CeedBasis *to) {
  int ierr = CeedBasisCreateTensorH1Lagrange(ceed, pair->dim, 2, pair->P_from, pair->Q, CEED_GAUSS, from);

  return ierr ? ierr
              : CeedBasisCreateTensorH1Lagrange(ceed, pair->dim, num_comp_to, pair->P_to, pair->Q, CEED_GAUSS,
                                                to);
}

static void check_tensor_projection(Ceed ceed, const Pair *pair) {
  CeedBasis from = NULL, to = NULL, projection = NULL;
  const CeedScalar *interp, *grad;
  CeedInt P = 0, Q = 0, num_comp = 0, dim = 0;
  bool is_tensor = false;
  double *wanted = allocate(2 * REFERENCE_MAX_1D * REFERENCE_MAX_1D);

  CHECK_OK(create_pair(ceed, pair, 1, &from, &to));
  CHECK_OK(CeedBasisCreateProjection(from, to, &projection));
  CHECK_OK(CeedBasisIsTensor(projection, &is_tensor));
  CHECK_OK(CeedBasisGetNumNodes1D(projection, &P));
  CHECK_OK(CeedBasisGetNumQuadraturePoints1D(projection, &Q));
  CHECK_OK(CeedBasisGetNumComponents(projection, &num_comp));
  CHECK_OK(CeedBasisGetDimension(projection, &dim));
  CHECK(is_tensor && P == pair->P_from && Q == pair->P_to && num_comp == 2 && dim == pair->dim,
        "%d x %d, %d components, dim %d", (int)Q, (int)P, (int)num_comp, (int)dim);

  // The pseudo-inverse costs a few rounding errors of the conditioning of the Lagrange basis, below 10 here;
  // derivatives have size P^2.
  reference_projection(pair, wanted, wanted + P * Q);
  CHECK_OK(CeedBasisGetInterp1D(projection, &interp));
  CHECK_OK(CeedBasisGetGrad1D(projection, &grad));
  CHECK_NEAR(distance(P * Q, wanted, interp), 0, 100 * eps * pair->Q, "values");
  CHECK_NEAR(distance(P * Q, wanted + P * Q, grad), 0, 100 * eps * pair->Q * P * P, "derivatives");
  CeedBasisDestroy(&from);
  CeedBasisDestroy(&to);
  CeedBasisDestroy(&projection);
  free(wanted);
}

// Coarse polynomials are fine ones: the projection is evaluation at the fine nodes.
TEST_EACH_BACKEND(projection_to_more_nodes_is_interpolation) {
  for (int n = 0; n < 3 * 5 * 4; n++) {
    Pair pair = {.dim = 1 + n % 3, .P_from = 2 + n / 3 % 5};
    pair.P_to = pair.P_from + n / 15;
    pair.Q = pair.P_to + n % 2;
    check_tensor_projection(ceed, &pair);
    if (tap_failed()) tap_note("dim %d, P %d -> %d, Q %d", pair.dim, pair.P_from, pair.P_to, pair.Q);
    if (tap_failed()) return;
  }
}

// One element of one component: w = projection u, by the library.
static int apply(CeedBasis basis, CeedTransposeMode t_mode, CeedEvalMode mode, CeedSize n_u, const double *u,
                 CeedSize n_v, double *v) {
  Ceed ceed = CeedBasisReturnCeed(basis);
  CeedVector from = reference_vector(ceed, n_u, u), to = NULL;
  int ierr = CeedVectorCreate(ceed, n_v, &to);

  if (!ierr) ierr = CeedBasisApply(basis, 1, t_mode, mode, from, to);
  if (!ierr) reference_values(to, v);
  CeedVectorDestroy(&from);
  CeedVectorDestroy(&to);
  return ierr;
}

// Fewer nodes: least squares, which is exact on what the coarse space holds. So down after up is nothing.
TEST_EACH_BACKEND(projection_to_fewer_nodes_undoes_prolongation) {
  uint64_t seed = 3;

  for (int dim = 1; dim <= 3; dim++) {
    const Pair pair = {dim, 3, 5, 6};
    CeedBasis coarse = NULL, fine = NULL, up = NULL, down = NULL;
    CeedInt n_coarse = 2 * CeedIntPow(3, dim), n_fine = 2 * CeedIntPow(5, dim);
    double u[MAX_POINTS], v[MAX_POINTS], w[MAX_POINTS];

    reference_fill_random((size_t)n_coarse, u, &seed);
    CHECK_OK(create_pair(ceed, &pair, 2, &coarse, &fine));
    CHECK_OK(CeedBasisCreateProjection(coarse, fine, &up));
    CHECK_OK(CeedBasisCreateProjection(fine, coarse, &down));
    CHECK_OK(apply(up, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, n_coarse, u, n_fine, v));
    CHECK_OK(apply(down, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, n_fine, v, n_coarse, w));
    for (CeedInt i = 0; i < n_coarse; i++) CHECK_NEAR(w[i], u[i], 500 * dim * eps, "dim %d, node %d", dim, i);
    CeedBasisDestroy(&coarse);
    CeedBasisDestroy(&fine);
    CeedBasisDestroy(&up);
    CeedBasisDestroy(&down);
  }
}

TEST_EACH_BACKEND(projection_and_its_transpose_are_adjoint) {
  const Pair pair = {3, 3, 4, 5};
  CeedBasis from = NULL, to = NULL, up = NULL;
  uint64_t seed = 4;
  CeedInt n_from = 2 * 27, n_to = 2 * 64;
  double u[MAX_POINTS], v[MAX_POINTS], Pu[MAX_POINTS], Ptv[MAX_POINTS], left = 0, right = 0;

  reference_fill_random((size_t)n_from, u, &seed);
  reference_fill_random((size_t)n_to, v, &seed);
  CHECK_OK(create_pair(ceed, &pair, 2, &from, &to));
  CHECK_OK(CeedBasisCreateProjection(from, to, &up));
  CHECK_OK(apply(up, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, n_from, u, n_to, Pu));
  CHECK_OK(apply(up, CEED_TRANSPOSE, CEED_EVAL_INTERP, n_to, v, n_from, Ptv));
  for (CeedInt i = 0; i < n_to; i++) left += v[i] * Pu[i];
  for (CeedInt i = 0; i < n_from; i++) right += Ptv[i] * u[i];
  CHECK_NEAR(left, right, 10 * eps * n_to, "u^T P^T v");
  CeedBasisDestroy(&from);
  CeedBasisDestroy(&to);
  CeedBasisDestroy(&up);
}

// ---- Projections of dense bases ----

// Points of a triangle in a lattice of side 4: enough to determine quadratic polynomials.
enum { NUM_LATTICE = 15 };

static void lattice_point(int q, double x[2]) {
  int row = 0;

  while (q >= 5 - row) q -= 5 - row++;
  x[0] = q / 4.0, x[1] = row / 4.0;
}

// Quadratic (6 nodes) or linear (3 nodes) Lagrange polynomials of the triangle (0,0), (1,0), (0,1); nodes
// are the corners, then the midpoints of (0,1), (1,2), (2,0).
static void triangle_values(int P, const double x[2], double *values, double *d0, double *d1) {
  const double l[3] = {1 - x[0] - x[1], x[0], x[1]}, dl[2][3] = {{-1, 1, 0}, {-1, 0, 1}};
  double *derivatives[2] = {d0, d1};

  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3;

    values[i] = P == 3 ? l[i] : l[i] * (2 * l[i] - 1);
    if (P == 6) values[3 + i] = 4 * l[i] * l[j];
    for (int d = 0; d < 2; d++) {
      derivatives[d][i] = P == 3 ? dl[d][i] : dl[d][i] * (4 * l[i] - 1);
      if (P == 6) derivatives[d][3 + i] = 4 * (dl[d][i] * l[j] + l[i] * dl[d][j]);
    }
  }
}

static int create_triangle(Ceed ceed, CeedInt num_comp, int P, CeedBasis *basis) {
  CeedScalar interp[NUM_LATTICE * 6], grad[2 * NUM_LATTICE * 6];

  for (int q = 0; q < NUM_LATTICE; q++) {
    double x[2], values[6], d0[6], d1[6];

    lattice_point(q, x);
    triangle_values(P, x, values, d0, d1);
    for (int p = 0; p < P; p++) {
      interp[q * P + p] = (CeedScalar)values[p];
      grad[q * P + p] = (CeedScalar)d0[p];
      grad[(NUM_LATTICE + q) * P + p] = (CeedScalar)d1[p];
    }
  }
  return CeedBasisCreateH1(ceed, CEED_TOPOLOGY_TRIANGLE, num_comp, P, NUM_LATTICE, interp, grad, NULL, NULL,
                           basis);
}

TEST_EACH_BACKEND(projection_between_triangles_is_interpolation) {
  const double nodes[6][2] = {{0, 0}, {1, 0}, {0, 1}, {0.5, 0}, {0.5, 0.5}, {0, 0.5}};
  CeedBasis linear = NULL, quadratic = NULL, up = NULL;
  CeedElemTopology topology = CEED_TOPOLOGY_LINE;
  const CeedScalar *interp, *grad, *q_ref, *q_weight;
  CeedInt num_comp = 0;

  CHECK_OK(create_triangle(ceed, 3, 3, &linear));
  CHECK_OK(create_triangle(ceed, 1, 6, &quadratic));
  CHECK_OK(CeedBasisCreateProjection(linear, quadratic, &up));
  CHECK_OK(CeedBasisGetTopology(up, &topology));
  CHECK_OK(CeedBasisGetNumComponents(up, &num_comp));
  CHECK(topology == CEED_TOPOLOGY_TRIANGLE && num_comp == 3, "%s", CeedElemTopologies[topology]);
  CHECK_OK(CeedBasisGetInterp(up, &interp));
  CHECK_OK(CeedBasisGetGrad(up, &grad));
  CHECK_OK(CeedBasisGetQRef(up, &q_ref));
  CHECK_OK(CeedBasisGetQWeights(up, &q_weight));
  for (int n = 0; n < 6; n++) {
    double values[6], d0[6], d1[6];

    triangle_values(3, nodes[n], values, d0, d1);
    CHECK_NEAR(distance(3, values, interp + 3 * n), 0, 100 * eps, "node %d", n);
    CHECK_NEAR(distance(3, d0, grad + 3 * n), 0, 100 * eps, "derivative 0, node %d", n);
    CHECK_NEAR(distance(3, d1, grad + 3 * (6 + n)), 0, 100 * eps, "derivative 1, node %d", n);
    CHECK(q_ref[n] == 0 && q_ref[6 + n] == 0 && q_weight[n] == 0, "points and weights are zeros");
  }
  CeedBasisDestroy(&linear);
  CeedBasisDestroy(&quadratic);
  CeedBasisDestroy(&up);
}

// The same functions as a dense basis.
static int create_dense_copy(CeedBasis tensor, CeedElemTopology topology, CeedBasis *dense) {
  CeedInt num_comp = 0, P = 0, Q = 0;
  const CeedScalar *interp, *grad;
  int ierr = CeedBasisGetNumComponents(tensor, &num_comp);

  if (!ierr) ierr = CeedBasisGetNumNodes(tensor, &P);
  if (!ierr) ierr = CeedBasisGetNumQuadraturePoints(tensor, &Q);
  if (!ierr) ierr = CeedBasisGetInterp(tensor, &interp);
  if (!ierr) ierr = CeedBasisGetGrad(tensor, &grad);
  if (ierr) return ierr;
  return CeedBasisCreateH1(CeedBasisReturnCeed(tensor), topology, num_comp, P, Q, interp, grad, NULL, NULL,
                           dense);
}

// A tensor basis contributes its full matrices: whichever of the two is dense, the result is the same.
TEST_EACH_BACKEND(projection_of_mixed_kinds_agrees_with_tensor_bases) {
  const Pair pair = {2, 3, 4, 5};
  CeedBasis from[2] = {NULL}, to[2] = {NULL};
  double *wanted = allocate(MAX_TABLE), interp[12], grad[12];

  CHECK_OK(create_pair(ceed, &pair, 1, &from[0], &to[0]));
  CHECK_OK(create_dense_copy(from[0], CEED_TOPOLOGY_QUAD, &from[1]));
  CHECK_OK(create_dense_copy(to[0], CEED_TOPOLOGY_QUAD, &to[1]));
  reference_projection(&pair, interp, grad);
  for (int m = 0; m < 3; m++) reference_tensor(2, 3, 4, interp, grad, m - 1, wanted + m * 9 * 16);
  for (int kind = 1; kind < 4; kind++) {
    CeedBasis projection = NULL;
    const CeedScalar *values, *derivatives;
    bool is_tensor = true;

    CHECK_OK(CeedBasisCreateProjection(from[kind % 2], to[kind / 2], &projection));
    CHECK_OK(CeedBasisIsTensor(projection, &is_tensor));
    CHECK_OK(CeedBasisGetInterp(projection, &values));
    CHECK_OK(CeedBasisGetGrad(projection, &derivatives));
    CHECK(!is_tensor, "kind %d", kind);
    CHECK_NEAR(distance(9 * 16, wanted, values), 0, 200 * eps, "kind %d, values", kind);
    CHECK_NEAR(distance(2 * 9 * 16, wanted + 9 * 16, derivatives), 0, 2000 * eps, "kind %d, gradient", kind);
    CeedBasisDestroy(&projection);
  }
  for (int i = 0; i < 2; i++) CeedBasisDestroy(&from[i]);
  for (int i = 0; i < 2; i++) CeedBasisDestroy(&to[i]);
  free(wanted);
}

// Values of a quadrilateral's functions at points of its left edge, projected to a basis of that edge: only
// the nodes on the edge count, with their own values. Dimensions differ; the topology is that of the cell.
TEST_EACH_BACKEND(projection_from_a_cell_to_its_face_is_the_trace) {
  enum { P = 4, Q = 5 };
  CeedBasis cell = NULL, face = NULL, trace = NULL;
  CeedElemTopology topology = CEED_TOPOLOGY_LINE;
  double x[Q], left = -1.0, across[P], slope[P], along[Q * P], unused[Q * P], nodes[P], at_nodes[P * P];
  CeedScalar interp[Q * P * P], grad[2 * Q * P * P];
  const CeedScalar *values, *derivatives;

  reference_quadrature(CEED_GAUSS, Q, x, NULL);
  reference_quadrature(CEED_GAUSS_LOBATTO, P, nodes, NULL);
  reference_lagrange(P, 1, &left, across, slope);
  reference_lagrange(P, Q, x, along, unused);
  reference_lagrange(P, P, nodes, at_nodes, unused);
  for (int q = 0; q < Q; q++) {
    for (int p = 0; p < P * P; p++) {
      interp[q * P * P + p] = (CeedScalar)(across[p % P] * along[q * P + p / P]);
      grad[q * P * P + p] = (CeedScalar)(slope[p % P] * along[q * P + p / P]);
      grad[(Q + q) * P * P + p] = 0;
    }
  }
  CHECK_OK(CeedBasisCreateH1(ceed, CEED_TOPOLOGY_QUAD, 1, P * P, Q, interp, grad, NULL, NULL, &cell));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, P, Q, CEED_GAUSS, &face));
  CHECK_OK(CeedBasisCreateProjection(cell, face, &trace));
  CHECK_OK(CeedBasisGetTopology(trace, &topology));
  CHECK(topology == CEED_TOPOLOGY_QUAD, "%s", CeedElemTopologies[topology]);
  CHECK_OK(CeedBasisGetInterp(trace, &values));
  CHECK_OK(CeedBasisGetGrad(trace, &derivatives));
  for (int n = 0; n < P; n++) {
    for (int p = 0; p < P * P; p++) {
      double is_node = p / P == n ? 1.0 : 0.0;

      CHECK_NEAR(values[n * P * P + p], p % P == 0 ? is_node : 0.0, 100 * eps, "node %d of %d", p, n);
      CHECK_NEAR(derivatives[n * P * P + p], is_node * slope[p % P], 100 * P * P * eps, "slope %d of %d", p,
                 n);
    }
  }
  CeedBasisDestroy(&cell);
  CeedBasisDestroy(&face);
  CeedBasisDestroy(&trace);
}

// H(div) and H(curl): values have dim parts; the result is a basis of scalar values without derivatives.
TEST_EACH_BACKEND(projection_of_vector_bases_uses_all_parts_of_the_values) {
  enum { P = 5, Q = 3, ROWS = 2 * Q };
  double random[ROWS * P + ROWS * P], u[P], v[2 * P];
  CeedScalar interp[ROWS * P], derivative[ROWS * P];
  CeedFESpace space = CEED_FE_SPACE_HDIV;
  uint64_t seed = 8;

  reference_fill_random(2 * ROWS * P, random, &seed);
  for (int i = 0; i < ROWS * P; i++) interp[i] = (CeedScalar)random[i];
  for (int i = 0; i < ROWS * P; i++) derivative[i] = (CeedScalar)random[ROWS * P + i];
  for (int is_curl = 0; is_curl < 2; is_curl++) {
    CeedBasis basis = NULL, same = NULL;

    CHECK_OK((is_curl ? CeedBasisCreateHcurl : CeedBasisCreateHdiv)(ceed, CEED_TOPOLOGY_TRIANGLE, 1, P, Q,
                                                                    interp, derivative, NULL, NULL, &basis));
    CHECK_OK(CeedBasisCreateProjection(basis, basis, &same));
    CHECK_OK(CeedBasisGetFESpace(same, &space));
    CHECK(space == CEED_FE_SPACE_H1, "%s", CeedFESpaces[space]);
    reference_fill_random(P, u, &seed);
    CHECK_OK(apply(same, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, P, u, P, v));
    // Random matrices of this size have a conditioning of about 30.
    for (int p = 0; p < P; p++) CHECK_NEAR(v[p], u[p], 1000 * eps, "node %d", p);
    CHECK_OK(apply(same, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, P, u, 2 * P, v));
    for (int p = 0; p < 2 * P; p++) CHECK(v[p] == 0, "derivative %d is %g", p, v[p]);
    CeedBasisDestroy(&basis);
    CeedBasisDestroy(&same);
  }
}

// Against the identity the projection is the table itself, cut off below 10 CEED_EPSILON.
TEST_EACH_BACKEND(entries_of_projections_below_ten_epsilon_are_zero) {
  const CeedScalar identity[4] = {1, 0, 0, 1}, small = 9 * CEED_EPSILON, large = 11 * CEED_EPSILON;
  const CeedScalar from_interp[4] = {1, small, -small, large}, from_grad[4] = {-large, 2, small, -small};
  const CeedScalar wanted_interp[4] = {1, 0, 0, large}, wanted_grad[4] = {-large, 2, 0, 0};

  for (int is_dense = 0; is_dense < 2; is_dense++) {
    CeedBasis from = NULL, to = NULL, projection = NULL;
    const CeedScalar *interp, *grad;

    if (is_dense) {
      CHECK_OK(
          CeedBasisCreateH1(ceed, CEED_TOPOLOGY_LINE, 1, 2, 2, from_interp, from_grad, NULL, NULL, &from));
      CHECK_OK(CeedBasisCreateH1(ceed, CEED_TOPOLOGY_LINE, 1, 2, 2, identity, identity, NULL, NULL, &to));
    } else {
      CHECK_OK(CeedBasisCreateTensorH1(ceed, 1, 1, 2, 2, from_interp, from_grad, NULL, NULL, &from));
      CHECK_OK(CeedBasisCreateTensorH1(ceed, 1, 1, 2, 2, identity, identity, NULL, NULL, &to));
    }
    CHECK_OK(CeedBasisCreateProjection(from, to, &projection));
    CHECK_OK(CeedBasisGetInterp(projection, &interp));
    CHECK_OK(CeedBasisGetGrad(projection, &grad));
    for (int i = 0; i < 4; i++) {
      CHECK_NEAR(interp[i], wanted_interp[i], 0, "value %d", i);
      CHECK_NEAR(grad[i], wanted_grad[i], 0, "derivative %d", i);
    }
    CeedBasisDestroy(&from);
    CeedBasisDestroy(&to);
    CeedBasisDestroy(&projection);
  }
}

TEST_EACH_BACKEND(projections_belong_to_the_context_of_their_target) {
  size_t num_backends;
  Ceed other = tap_ceed(tap_backends(&num_backends)[0]);
  CeedBasis from = NULL, to = NULL, projection = NULL;

  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 3, CEED_GAUSS, &from));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(other, 1, 1, 3, 3, CEED_GAUSS, &to));
  CHECK_OK(CeedBasisCreateProjection(from, to, &projection));
  CHECK(CeedBasisReturnCeed(projection) == other, "context");
  CeedBasisDestroy(&from);
  CeedBasisDestroy(&to);
  CeedBasisDestroy(&projection);
  CeedDestroy(&other);
}

TEST_EACH_BACKEND(projections_that_cannot_be_are_refused) {
  const CeedScalar ones[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  CeedBasis b23 = NULL, b33 = NULL, b43 = NULL, b22 = NULL, square = NULL, hdiv = NULL, hdiv_3d = NULL;
  CeedBasis h1 = NULL, flat = NULL, result = NULL;

  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 3, CEED_GAUSS, &b23));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 3, 3, CEED_GAUSS, &b33));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 4, 3, CEED_GAUSS, &b43));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 4, CEED_GAUSS, &b22));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, 2, 2, CEED_GAUSS, &square));
  CHECK_OK(CeedBasisCreateHdiv(ceed, CEED_TOPOLOGY_TRIANGLE, 1, 2, 3, ones, ones, NULL, NULL, &hdiv));
  CHECK_OK(CeedBasisCreateHdiv(ceed, CEED_TOPOLOGY_TET, 1, 1, 3, ones, ones, NULL, NULL, &hdiv_3d));
  CHECK_OK(CeedBasisCreateH1(ceed, CEED_TOPOLOGY_TRIANGLE, 1, 2, 3, ones, ones, NULL, NULL, &h1));
  CHECK_OK(CeedBasisCreateTensorH1(ceed, 1, 1, 2, 3, ones, ones, NULL, NULL, &flat));

  CHECK_ERROR(ceed, CeedBasisCreateProjection(b23, b22, &result), CEED_ERROR_DIMENSION, "3 and 4 quadrature");
  CHECK_ERROR(ceed, CeedBasisCreateProjection(b22, square, &result), CEED_ERROR_DIMENSION, "1 and 2 dim");
  CHECK_ERROR(ceed, CeedBasisCreateProjection(hdiv, hdiv_3d, &result), CEED_ERROR_DIMENSION, "6 and 9 val");
  CHECK_ERROR(ceed, CeedBasisCreateProjection(hdiv, h1, &result), CEED_ERROR_MINOR, "H(div)");
  CHECK_ERROR(ceed, CeedBasisCreateProjection(b23, b43, &result), CEED_ERROR_UNSUPPORTED, "3 values");
  CHECK_ERROR(ceed, CeedBasisCreateProjection(b33, flat, &result), CEED_ERROR_MAJOR, "depends");
  CHECK_ERROR(ceed, CeedBasisCreateProjection(CEED_BASIS_NONE, b23, &result), CEED_ERROR_INCOMPATIBLE,
              "NONE");
  CHECK_ERROR(ceed, CeedBasisCreateProjection(b23, CEED_BASIS_NONE, &result), CEED_ERROR_INCOMPATIBLE,
              "NONE");
  CHECK_ERROR(NULL, CeedBasisCreateProjection(NULL, b23, &result), CEED_ERROR_INCOMPATIBLE, "NULL");
  CHECK_ERROR(NULL, CeedBasisCreateProjection(b23, NULL, &result), CEED_ERROR_INCOMPATIBLE, "NULL");
  CHECK(!result, "nothing was made");

  CeedBasis *const all[] = {&b23, &b33, &b43, &b22, &square, &hdiv, &hdiv_3d, &h1, &flat};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) CeedBasisDestroy(all[i]);
}

// ---- Collocated gradient ----

// With at least as many points as nodes, G takes the values of u at the points to its derivatives there.
TEST_EACH_BACKEND(collocated_gradient_differentiates_values_at_the_points) {
  for (int n = 0; n < 6 * 4 * 2; n++) {
    CeedInt P = 2 + n % 6, Q = P + n / 6 % 4;
    CeedBasis basis = NULL;
    const CeedScalar *interp, *grad;
    CeedScalar G[REFERENCE_MAX_1D * REFERENCE_MAX_1D];

    CHECK_OK(
        CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, P, Q, n < 24 ? CEED_GAUSS : CEED_GAUSS_LOBATTO, &basis));
    CHECK_OK(CeedBasisGetInterp1D(basis, &interp));
    CHECK_OK(CeedBasisGetGrad1D(basis, &grad));
    CHECK_OK(CeedBasisGetCollocatedGrad(basis, G));
    for (CeedInt q = 0; q < Q; q++) {
      for (CeedInt p = 0; p < P; p++) {
        double sum = 0;

        for (CeedInt k = 0; k < Q; k++) sum += (double)G[q * Q + k] * (double)interp[k * P + p];
        // Sums of Q terms of the size of derivatives, P^2.
        CHECK_NEAR(sum, grad[q * P + p], 20 * eps * Q * P * P, "P %d, Q %d: (%d, %d)", P, Q, q, p);
      }
    }
    CeedBasisDestroy(&basis);
  }
}

TEST_EACH_BACKEND(collocated_gradient_of_a_collocated_basis_is_its_gradient) {
  CeedBasis basis = NULL;
  const CeedScalar *grad;
  CeedScalar G[25];

  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 3, 1, 5, 5, CEED_GAUSS_LOBATTO, &basis));
  CHECK_OK(CeedBasisGetGrad1D(basis, &grad));
  CHECK_OK(CeedBasisGetCollocatedGrad(basis, G));
  for (int i = 0; i < 25; i++) CHECK_NEAR(G[i], grad[i], 100 * eps, "entry %d", i);
  CeedBasisDestroy(&basis);
}

// A polynomial of the full degree Q - 1, known by its values at the points, needs P = Q.
TEST_EACH_BACKEND(collocated_gradient_is_exact_on_polynomials) {
  enum { N = 5 };
  CeedBasis basis = NULL;
  CeedScalar G[N * N];
  double x[N];

  reference_quadrature(CEED_GAUSS, N, x, NULL);
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, N, N, CEED_GAUSS, &basis));
  CHECK_OK(CeedBasisGetCollocatedGrad(basis, G));
  for (int q = 0; q < N; q++) {
    double sum = 0;

    for (int k = 0; k < N; k++) sum += (double)G[q * N + k] * (pow(x[k], 4) - 2 * pow(x[k], 3) + x[k]);
    CHECK_NEAR(sum, 4 * pow(x[q], 3) - 6 * pow(x[q], 2) + 1, 500 * eps, "point %d", q);
  }
  CeedBasisDestroy(&basis);
}

TEST_EACH_BACKEND(collocated_gradient_needs_enough_points_of_a_tensor_basis) {
  const CeedScalar ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  CeedBasis few = NULL, flat = NULL, dense = NULL;
  CeedScalar G[9];

  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 4, 3, CEED_GAUSS, &few));
  CHECK_OK(CeedBasisCreateTensorH1(ceed, 1, 1, 3, 3, ones, ones, NULL, NULL, &flat));
  CHECK_OK(CeedBasisCreateH1(ceed, CEED_TOPOLOGY_LINE, 1, 3, 3, ones, ones, NULL, NULL, &dense));
  CHECK_ERROR(ceed, CeedBasisGetCollocatedGrad(few, G), CEED_ERROR_UNSUPPORTED, "3 points");
  CHECK_ERROR(ceed, CeedBasisGetCollocatedGrad(flat, G), CEED_ERROR_MAJOR, "depends");
  CHECK_ERROR(ceed, CeedBasisGetCollocatedGrad(dense, G), CEED_ERROR_MINOR, "tensor");
  CHECK_ERROR(ceed, CeedBasisGetChebyshevInterp1D(dense, G), CEED_ERROR_MINOR, "tensor");
  CHECK_ERROR(ceed, CeedBasisGetChebyshevInterp1D(flat, G), CEED_ERROR_MAJOR, "singular"); // all points are 0
  CeedBasisDestroy(&few);
  CeedBasisDestroy(&flat);
  CeedBasisDestroy(&dense);
}

// ---- Chebyshev coefficients ----

// T_k(cos t) = cos k t
static double chebyshev(int k, double x) { return cos(k * acos(x)); }

// Value at x of the polynomial of degree Q - 1 through the values of Lagrange polynomial p at the Q points.
static double interpolant(int P, int Q, const double *points, int p, double x) {
  double interp[REFERENCE_MAX_1D * REFERENCE_MAX_1D], unused[REFERENCE_MAX_1D * REFERENCE_MAX_1D], sum = 0;

  reference_lagrange(P, Q, points, interp, unused);
  for (int q = 0; q < Q; q++) {
    double product = 1;

    for (int k = 0; k < Q; k++) product *= k == q ? 1 : (x - points[k]) / (points[q] - points[k]);
    sum += interp[q * P + p] * product;
  }
  return sum;
}

// Also with fewer points than nodes, where the polynomial is not the nodal one.
TEST_EACH_BACKEND(chebyshev_coefficients_give_the_polynomial_through_the_points) {
  const double where[] = {-1, -0.9, -0.3, 0, 0.55, 1};

  for (int n = 0; n < 4 * 5; n++) {
    int P = 2 + n % 4, Q = 1 + n / 4;
    CeedBasis basis = NULL;
    CeedScalar C[REFERENCE_MAX_1D * REFERENCE_MAX_1D];
    double points[REFERENCE_MAX_1D];

    reference_quadrature(CEED_GAUSS, Q, points, NULL);
    CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, P, Q, CEED_GAUSS, &basis));
    for (int repeat = 0; repeat < 2; repeat++) CHECK_OK(CeedBasisGetChebyshevInterp1D(basis, C));
    for (int p = 0; p < P; p++) {
      for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
        double sum = 0;

        for (int k = 0; k < Q; k++) sum += (double)C[k * P + p] * chebyshev(k, where[i]);
        CHECK_NEAR(sum, interpolant(P, Q, points, p, where[i]), 100 * Q * eps, "P %d, Q %d at %g", P, Q,
                   where[i]);
      }
    }
    CeedBasisDestroy(&basis);
  }
}

// ---- Contraction ----

// v[a][j][c] += sum_b t[j][b] u[a][b][c]; no context, so no backend.
TEST(tensor_contraction_is_its_definition_in_both_modes) {
  enum { A = 3, B = 4, C = 5, J = 2 };
  double random[J * B + A * B * C + A * J * C];
  CeedScalar t[J * B], t_transposed[B * J], u[A * B * C], start[A * J * C], v[A * J * C];
  uint64_t seed = 11;

  reference_fill_random(sizeof(random) / sizeof(random[0]), random, &seed);
  for (int i = 0; i < J * B; i++) t_transposed[i % B * J + i / B] = t[i] = (CeedScalar)random[i];
  for (int i = 0; i < A * B * C; i++) u[i] = (CeedScalar)random[J * B + i];
  for (int i = 0; i < A * J * C; i++) start[i] = (CeedScalar)random[J * B + A * B * C + i];
  for (int mode = 0; mode < 4; mode++) {
    bool transposes = mode % 2, adds = mode / 2;

    memcpy(v, start, sizeof(v));
    CHECK_OK(CeedTensorContractApply(NULL, A, B, C, J, transposes ? t_transposed : t,
                                     transposes ? CEED_TRANSPOSE : CEED_NOTRANSPOSE, adds, u, v));
    for (int i = 0; i < A * J * C; i++) {
      int a = i / (J * C), j = i / C % J, c = i % C;
      double sum = adds ? (double)start[i] : 0;

      for (int b = 0; b < B; b++) sum += (double)t[j * B + b] * (double)u[(a * B + b) * C + c];
      CHECK_NEAR(v[i], sum, 4 * (B + 1) * eps, "mode %d, entry %d", mode, i);
    }
  }
}

TEST(tensor_contraction_over_nothing_is_zero_and_negative_sizes_are_refused) {
  CeedScalar v[6] = {1, 2, 3, 4, 5, 6};

  CHECK_OK(CeedTensorContractApply(NULL, 0, 2, 3, 2, NULL, CEED_NOTRANSPOSE, 0, NULL, v));
  CHECK_OK(CeedTensorContractApply(NULL, 1, 0, 3, 2, NULL, CEED_NOTRANSPOSE, 1, NULL, v));
  CHECK(v[0] == 1 && v[5] == 6, "an empty sum was added");
  CHECK_OK(CeedTensorContractApply(NULL, 1, 0, 3, 2, NULL, CEED_NOTRANSPOSE, 0, NULL, v));
  for (int i = 0; i < 6; i++) CHECK(v[i] == 0, "entry %d", i);
  CHECK_ERROR(NULL, CeedTensorContractApply(NULL, 1, -1, 3, 2, NULL, CEED_NOTRANSPOSE, 0, NULL, v),
              CEED_ERROR_DIMENSION, "negative");
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(projection_to_more_nodes_is_interpolation, projection_to_fewer_nodes_undoes_prolongation,
            projection_and_its_transpose_are_adjoint, projection_between_triangles_is_interpolation,
            projection_of_mixed_kinds_agrees_with_tensor_bases,
            projection_from_a_cell_to_its_face_is_the_trace,
            projection_of_vector_bases_uses_all_parts_of_the_values,
            entries_of_projections_below_ten_epsilon_are_zero,
            projections_belong_to_the_context_of_their_target, projections_that_cannot_be_are_refused,
            collocated_gradient_differentiates_values_at_the_points,
            collocated_gradient_of_a_collocated_basis_is_its_gradient,
            collocated_gradient_is_exact_on_polynomials,
            collocated_gradient_needs_enough_points_of_a_tensor_basis,
            chebyshev_coefficients_give_the_polynomial_through_the_points,
            tensor_contraction_is_its_definition_in_both_modes,
            tensor_contraction_over_nothing_is_zero_and_negative_sizes_are_refused));
}
