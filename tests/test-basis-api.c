// SPDX-License-Identifier: BSD-2-Clause
// CeedBasis: creation, queries, views, flops, misuse of its actions and what is left after it. What bases
// evaluate is tested in tests/test-basis.c.
#include "tests/api.h"
#include "tests/reference.h"
#include <ritz/basis.h>
#include <ritz/mesh.h>

#include "tests/tap.h"

#include <ceed/backend.h>

// ---- Small bases ----

enum { P1 = 2, Q1 = 3 }; // per direction of the tensor basis below

// Any integers serve as tables: bases do not ask what they mean.
static const CeedScalar line_interp[Q1 * P1] = {1, 2, -1, 3, 0, 5}, line_grad[Q1 * P1] = {2, 0, 1, 1, -3, 4},
                                         line_points[Q1] = {-1, 0, 1}, line_weights[Q1] = {2, 3, 5};

static CeedBasis tensor(Ceed ceed, CeedInt dim, CeedInt num_comp) {
  CeedBasis basis = NULL;
  CeedBasisCreateTensorH1(ceed, dim, num_comp, P1, Q1, line_interp, line_grad, line_points, line_weights,
                          &basis);
  return basis;
}

enum { MAX_TABLE = 3 * 4 * 4 };

// numbers[i] = i - 20: tables that are all different.
static const CeedScalar *numbers(void) {
  static CeedScalar values[MAX_TABLE];
  for (int i = 0; i < MAX_TABLE; i++) values[i] = (CeedScalar)(i - 20);
  return values;
}

// Dense basis in a space, with P = 4 nodes, Q = 3 points and tables numbers().
static CeedBasis dense(Ceed ceed, CeedFESpace space, CeedElemTopology topology, CeedInt num_comp) {
  CeedBasis basis = NULL;
  const CeedScalar *t = numbers();

  if (space == CEED_FE_SPACE_H1)
    CeedBasisCreateH1(ceed, topology, num_comp, 4, 3, t, t + 1, t, t + 22, &basis);
  if (space == CEED_FE_SPACE_HDIV)
    CeedBasisCreateHdiv(ceed, topology, num_comp, 4, 3, t, t + 1, t, t + 22, &basis);
  if (space == CEED_FE_SPACE_HCURL)
    CeedBasisCreateHcurl(ceed, topology, num_comp, 4, 3, t, t + 1, t, t + 22, &basis);
  return basis;
}

// ---- Creation ----

TEST_EACH_BACKEND(sizes_that_are_not_positive_are_refused) {
  CeedBasis b = NULL;
  const CeedInt bad[] = {0, -1};
  const CeedScalar *t = numbers();

#define REFUSED(call, function) CHECK_ERROR(ceed, call, CEED_ERROR_DIMENSION, function)
  for (int i = 0; i < 2; i++) {
    const CeedInt n = bad[i];
    REFUSED(CeedBasisCreateTensorH1Lagrange(ceed, n, 1, 2, 2, CEED_GAUSS, &b), "CreateTensorH1Lagrange");
    REFUSED(CeedBasisCreateTensorH1Lagrange(ceed, 1, n, 2, 2, CEED_GAUSS, &b), "CreateTensorH1Lagrange");
    REFUSED(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, n, 2, CEED_GAUSS, &b), "CreateTensorH1Lagrange");
    REFUSED(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, n, CEED_GAUSS, &b), "CreateTensorH1Lagrange");
    REFUSED(CeedBasisCreateTensorH1(ceed, n, 1, 1, 1, t, t, t, t, &b), "CeedBasisCreateTensorH1:");
    REFUSED(CeedBasisCreateTensorH1(ceed, 1, n, 1, 1, t, t, t, t, &b), "CeedBasisCreateTensorH1:");
    REFUSED(CeedBasisCreateTensorH1(ceed, 1, 1, n, 1, t, t, t, t, &b), "CeedBasisCreateTensorH1:");
    REFUSED(CeedBasisCreateTensorH1(ceed, 1, 1, 1, n, t, t, t, t, &b), "CeedBasisCreateTensorH1:");
    REFUSED(CeedBasisCreateH1(ceed, CEED_TOPOLOGY_QUAD, n, 1, 1, t, t, t, t, &b), "CeedBasisCreateH1:");
    REFUSED(CeedBasisCreateH1(ceed, CEED_TOPOLOGY_QUAD, 1, n, 1, t, t, t, t, &b), "CeedBasisCreateH1:");
    REFUSED(CeedBasisCreateH1(ceed, CEED_TOPOLOGY_QUAD, 1, 1, n, t, t, t, t, &b), "CeedBasisCreateH1:");
    REFUSED(CeedBasisCreateHdiv(ceed, CEED_TOPOLOGY_QUAD, n, 1, 1, t, t, t, t, &b), "CeedBasisCreateHdiv:");
    REFUSED(CeedBasisCreateHdiv(ceed, CEED_TOPOLOGY_QUAD, 1, n, 1, t, t, t, t, &b), "CeedBasisCreateHdiv:");
    REFUSED(CeedBasisCreateHdiv(ceed, CEED_TOPOLOGY_QUAD, 1, 1, n, t, t, t, t, &b), "CeedBasisCreateHdiv:");
    REFUSED(CeedBasisCreateHcurl(ceed, CEED_TOPOLOGY_TET, n, 1, 1, t, t, t, t, &b), "CeedBasisCreateHcurl:");
    REFUSED(CeedBasisCreateHcurl(ceed, CEED_TOPOLOGY_TET, 1, n, 1, t, t, t, t, &b), "CeedBasisCreateHcurl:");
    REFUSED(CeedBasisCreateHcurl(ceed, CEED_TOPOLOGY_TET, 1, 1, n, t, t, t, t, &b), "CeedBasisCreateHcurl:");
  }
  REFUSED(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 1, 2, CEED_GAUSS, &b), "CreateTensorH1Lagrange");
  REFUSED(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 1, CEED_GAUSS_LOBATTO, &b),
          "CreateTensorH1Lagrange");
  REFUSED(CeedBasisCreateTensorH1(ceed, 40, 1, 2, 2, t, t, t, t, &b), "CeedBasisCreateTensorH1:");
#undef REFUSED
  CHECK_ERROR(ceed, CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 2, (CeedQuadMode)5, &b),
              CEED_ERROR_INCOMPATIBLE, "quadrature mode");
  CHECK(b == NULL, "a handle is made");
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 1, CEED_GAUSS, &b)); // one Gauss point is enough
  CHECK_OK(CeedBasisDestroy(&b));
}

// A topology is more than its dimension: its name is printed by views.
// By arithmetic: nothing is computed or allocated, 46341^2 being the first square beyond 32 bits.
TEST(sizes_beyond_32_bits_are_refused_at_once) {
  static const CeedInt absurd[] = {46341, 2147483647};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedScalar x[1], w[1];
  CeedBasis b = NULL;
  RitzMesh mesh = NULL;

  for (int i = 0; i < 2; i++) {
    const CeedInt N = absurd[i];

    for (CeedInt dim = 1; dim <= 3; dim++) {
      for (int mode = 0; mode < 2; mode++) {
        const CeedQuadMode rule = mode ? CEED_GAUSS : CEED_GAUSS_LOBATTO;
        CHECK_ERROR(ceed, CeedBasisCreateTensorH1Lagrange(ceed, dim, 1, N, 2, rule, &b), CEED_ERROR_DIMENSION,
                    "exceeds 32-bit sizes");
        CHECK_ERROR(ceed, CeedBasisCreateTensorH1Lagrange(ceed, dim, 1, 2, N, rule, &b), CEED_ERROR_DIMENSION,
                    "exceeds 32-bit sizes");
      }
      CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, dim, (CeedInt[]){1, 1, 1}, NULL, NULL, N, NULL, NULL, &mesh),
                  CEED_ERROR_DIMENSION, "geometry order");
    }
    CHECK_ERROR(NULL, CeedGaussQuadrature(N, x, w), CEED_ERROR_DIMENSION, "too many");
    CHECK_ERROR(NULL, CeedLobattoQuadrature(N, x, w), CEED_ERROR_DIMENSION, "too many");
    CHECK_ERROR(ceed, RitzBasisCreateLagrange(ceed, CEED_TOPOLOGY_HEX, 1, N, 2, &b), CEED_ERROR_DIMENSION,
                "2^31");
    CHECK_ERROR(ceed, RitzBasisCreateLagrange(ceed, CEED_TOPOLOGY_TET, 1, 2, N, &b), CEED_ERROR_DIMENSION,
                "2^31");
  }
  CHECK_ERROR(ceed, CeedBasisCreateTensorH1Lagrange(ceed, 3, 1, 1291, 2, CEED_GAUSS, &b),
              CEED_ERROR_DIMENSION, "1291^3 nodes or points exceed 32-bit sizes");
  CHECK_ERROR(ceed, RitzBasisCreateLagrange(ceed, CEED_TOPOLOGY_TET, 1, 2000, 2000, &b), CEED_ERROR_DIMENSION,
              "exceed what can be addressed");
  CeedDestroy(&ceed);
}

TEST_EACH_BACKEND(topologies_that_do_not_exist_are_refused) {
  const int bad[] = {0,           1,           -1,          1 << 16 | 1,      2 << 16,
                     2 << 16 | 7, 3 << 16 | 2, 3 << 16 | 7, 3 << 16 | 0xffff, 4 << 16,
                     -65536};
  CeedBasis b = NULL;
  const CeedScalar *t = numbers();

  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    CHECK_ERROR(ceed, CeedBasisCreateH1(ceed, (CeedElemTopology)bad[i], 1, 1, 1, t, t, t, t, &b),
                CEED_ERROR_DIMENSION, "topology");
    CHECK_ERROR(ceed, CeedBasisCreateHdiv(ceed, (CeedElemTopology)bad[i], 1, 1, 1, t, t, t, t, &b),
                CEED_ERROR_DIMENSION, "topology");
  }
  CHECK(b == NULL, "a handle is made");
}

TEST_EACH_BACKEND(tables_are_copied_and_null_stands_for_zeros) {
  CeedScalar mine[Q1 * P1] = {1, 2, 3, 4, 5, 6};
  const CeedScalar *found = NULL;
  CeedBasis b = NULL;

  CHECK_OK(CeedBasisCreateTensorH1(ceed, 2, 1, P1, Q1, mine, NULL, NULL, NULL, &b));
  mine[0] = 9;
  CHECK_OK(CeedBasisGetInterp1D(b, &found));
  CHECK(found[0] == 1 && found[5] == 6, "not copied");
  CHECK_OK(CeedBasisGetGrad1D(b, &found));
  for (int i = 0; i < Q1 * P1; i++) CHECK(found[i] == 0, "grad_1d");
  CHECK_OK(CeedBasisGetQRef(b, &found));
  for (int i = 0; i < Q1; i++) CHECK(found[i] == 0, "q_ref_1d");
  CHECK_OK(CeedBasisGetQWeights(b, &found));
  for (int i = 0; i < Q1; i++) CHECK(found[i] == 0, "q_weight_1d");
  CHECK_OK(CeedBasisDestroy(&b));
  CHECK_OK(CeedBasisCreateHcurl(ceed, CEED_TOPOLOGY_TET, 1, 2, 1, NULL, NULL, NULL, NULL, &b));
  CHECK_OK(CeedBasisGetInterp(b, &found));
  for (int i = 0; i < 3 * 2; i++) CHECK(found[i] == 0, "interp");
  CHECK_OK(CeedBasisGetCurl(b, &found));
  for (int i = 0; i < 3 * 2; i++) CHECK(found[i] == 0, "curl");
  CHECK_OK(CeedBasisDestroy(&b));
}

TEST_EACH_BACKEND(references_are_counted) {
  CeedBasis a = tensor(ceed, 1, 1), b = tensor(ceed, 2, 1), first = a;
  Ceed found = NULL;
  CeedInt dim = 0;

  CHECK_OK(CeedBasisReferenceCopy(a, &b)); // over a live handle, which goes
  CHECK_OK(CeedBasisReferenceCopy(a, &a)); // onto itself
  CHECK(a == first && b == first, "other handles");
  CHECK_OK(CeedBasisDestroy(&a));
  CHECK_OK(CeedBasisDestroy(&a)); // a second time
  CHECK_OK(CeedBasisGetDimension(b, &dim));
  CHECK(dim == 1, "%d", dim);
  CHECK_OK(CeedBasisGetCeed(b, &found));
  CHECK(found == ceed && CeedBasisReturnCeed(b) == ceed, "another context");
  CHECK_OK(CeedDestroy(&found));
  CHECK_OK(CeedBasisDestroy(&b));
}

// ---- Queries ----

TEST_EACH_BACKEND(tensor_bases_answer_queries) {
  const CeedElemTopology topologies[] = {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_QUAD, CEED_TOPOLOGY_HEX,
                                         CEED_TOPOLOGY_HEX};
  for (CeedInt dim = 1; dim <= 4; dim++) {
    CeedBasis b = tensor(ceed, dim, 2);
    CeedInt n = 0;
    CeedElemTopology topology;
    CeedFESpace space;
    bool is_tensor = false;
    const CeedScalar *table = NULL;
    CHECK_OK(CeedBasisGetDimension(b, &n));
    CHECK(n == dim, "dimension %d", n);
    CHECK_OK(CeedBasisGetTopology(b, &topology));
    CHECK(topology == topologies[dim - 1], "topology %d", (int)topology);
    CHECK_OK(CeedBasisGetNumComponents(b, &n));
    CHECK(n == 2, "components %d", n);
    CHECK_OK(CeedBasisGetNumNodes(b, &n));
    CHECK(n == CeedIntPow(P1, dim), "nodes %d", n);
    CHECK_OK(CeedBasisGetNumNodes1D(b, &n));
    CHECK(n == P1, "nodes %d", n);
    CHECK_OK(CeedBasisGetNumQuadraturePoints(b, &n));
    CHECK(n == CeedIntPow(Q1, dim), "points %d", n);
    CHECK_OK(CeedBasisGetNumQuadraturePoints1D(b, &n));
    CHECK(n == Q1, "points %d", n);
    CHECK_OK(CeedBasisGetFESpace(b, &space));
    CHECK_OK(CeedBasisIsTensor(b, &is_tensor));
    CHECK(space == CEED_FE_SPACE_H1 && is_tensor, "space %d", (int)space);
    CHECK_OK(CeedBasisGetQRef(b, &table));
    CHECK(!memcmp(table, line_points, sizeof(line_points)), "points of one direction");
    CHECK_OK(CeedBasisGetQWeights(b, &table));
    CHECK(!memcmp(table, line_weights, sizeof(line_weights)), "weights of one direction");
    CHECK_OK(CeedBasisGetInterp1D(b, &table));
    CHECK(!memcmp(table, line_interp, sizeof(line_interp)), "interp_1d");
    CHECK_OK(CeedBasisGetGrad1D(b, &table));
    CHECK(!memcmp(table, line_grad, sizeof(line_grad)), "grad_1d");
    CHECK_OK(CeedBasisGetDiv(b, &table));
    CHECK(table == NULL, "a divergence");
    CHECK_OK(CeedBasisGetCurl(b, &table));
    CHECK(table == NULL, "a curl");
    CHECK_OK(CeedBasisDestroy(&b));
  }
}

// Entry (q, p) is the product over directions; the same array at every request.
TEST_EACH_BACKEND(full_tables_of_tensor_bases_are_products) {
  enum { DIM = 2, P = P1 * P1, Q = Q1 * Q1 };
  CeedBasis b = tensor(ceed, DIM, 1);
  const CeedScalar *interp = NULL, *grad = NULL, *again = NULL;

  CHECK_OK(CeedBasisGetInterp(b, &interp));
  CHECK_OK(CeedBasisGetGrad(b, &grad));
  for (int q = 0; q < Q; q++) {
    for (int p = 0; p < P; p++) {
      int x = q % Q1 * P1 + p % P1, y = q / Q1 * P1 + p / P1; // first direction fastest
      CHECK(interp[q * P + p] == line_interp[x] * line_interp[y], "interp (%d, %d)", q, p);
      CHECK(grad[q * P + p] == line_grad[x] * line_interp[y], "d/dx (%d, %d)", q, p);
      CHECK(grad[(Q + q) * P + p] == line_interp[x] * line_grad[y], "d/dy (%d, %d)", q, p);
    }
  }
  CHECK_OK(CeedBasisGetInterp(b, &again));
  CHECK(again == interp, "another array");
  CHECK_OK(CeedBasisGetGrad(b, &again));
  CHECK(again == grad, "another array");
  CHECK_OK(CeedBasisDestroy(&b));
}

// Tables a space has, and numbers of quadrature components: doc/ceed-api.md, Bases.
static void check_dense(Ceed ceed, CeedFESpace space, CeedElemTopology topology) {
  static const CeedEvalMode modes[] = {CEED_EVAL_NONE, CEED_EVAL_INTERP, CEED_EVAL_GRAD,
                                       CEED_EVAL_DIV,  CEED_EVAL_CURL,   CEED_EVAL_WEIGHT};
  CeedBasis b = dense(ceed, space, topology, 3);
  CeedInt dim = topology >> 16, n = 0, curl = dim < 3 ? 1 : dim;
  const CeedInt wanted[] = {1, space == CEED_FE_SPACE_H1 ? 1 : dim, dim, 1, curl, 1};
  CeedElemTopology found;
  CeedFESpace found_space;
  bool is_tensor = true, is_collocated = true;
  const CeedScalar *interp = NULL, *grad = NULL, *div = NULL, *curl_table = NULL, *q_ref = NULL, *w = NULL;

  for (int m = 0; m < 6; m++) {
    CHECK_OK(CeedBasisGetNumQuadratureComponents(b, modes[m], &n));
    CHECK(n == wanted[m], "mode %s: %d", CeedEvalModes[modes[m]], n);
  }
  CHECK_OK(CeedBasisGetDimension(b, &n));
  CHECK(n == dim, "dimension %d", n);
  CHECK_OK(CeedBasisGetNumComponents(b, &n));
  CHECK(n == 3, "components %d", n);
  CHECK_OK(CeedBasisGetNumNodes(b, &n));
  CHECK(n == 4, "nodes %d", n);
  CHECK_OK(CeedBasisGetNumQuadraturePoints(b, &n));
  CHECK(n == 3, "points %d", n);
  CHECK_OK(CeedBasisGetTopology(b, &found));
  CHECK_OK(CeedBasisGetFESpace(b, &found_space));
  CHECK_OK(CeedBasisIsTensor(b, &is_tensor));
  CHECK_OK(CeedBasisIsCollocated(b, &is_collocated));
  CHECK(found == topology && found_space == space && !is_tensor && !is_collocated, "kind");
  CHECK_OK(CeedBasisGetInterp(b, &interp));
  CHECK_OK(CeedBasisGetGrad(b, &grad));
  CHECK_OK(CeedBasisGetDiv(b, &div));
  CHECK_OK(CeedBasisGetCurl(b, &curl_table));
  CHECK_OK(CeedBasisGetQRef(b, &q_ref));
  CHECK_OK(CeedBasisGetQWeights(b, &w));
  CHECK((grad != NULL) == (space == CEED_FE_SPACE_H1) && (div != NULL) == (space == CEED_FE_SPACE_HDIV) &&
            (curl_table != NULL) == (space == CEED_FE_SPACE_HCURL),
        "derivatives");
  CHECK(!memcmp(interp, numbers(), (size_t)wanted[1] * 12 * sizeof(CeedScalar)), "interp");
  const CeedScalar *derivative = grad ? grad : div ? div : curl_table;
  CeedInt rows = grad ? dim : div ? 1 : curl;
  CHECK(!memcmp(derivative, numbers() + 1, (size_t)rows * 12 * sizeof(CeedScalar)), "derivative");
  CHECK(!memcmp(q_ref, numbers(), (size_t)dim * 3 * sizeof(CeedScalar)), "points");
  CHECK(!memcmp(w, numbers() + 22, 3 * sizeof(CeedScalar)), "weights");
#define REFUSED(call) CHECK_ERROR(ceed, call, CEED_ERROR_MINOR, "tensor")
  REFUSED(CeedBasisGetNumNodes1D(b, &n));
  REFUSED(CeedBasisGetNumQuadraturePoints1D(b, &n));
  REFUSED(CeedBasisGetInterp1D(b, &interp));
  REFUSED(CeedBasisGetGrad1D(b, &interp));
  CeedScalar table[16];
  REFUSED(CeedBasisGetCollocatedGrad(b, table));
  REFUSED(CeedBasisGetChebyshevInterp1D(b, table));
#undef REFUSED
  CHECK_OK(CeedBasisDestroy(&b));
}

TEST_EACH_BACKEND(dense_bases_answer_queries) {
  const CeedFESpace spaces[] = {CEED_FE_SPACE_H1, CEED_FE_SPACE_HDIV, CEED_FE_SPACE_HCURL};
  const CeedElemTopology topologies[] = {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_TRIANGLE, CEED_TOPOLOGY_QUAD,
                                         CEED_TOPOLOGY_TET,  CEED_TOPOLOGY_PYRAMID,  CEED_TOPOLOGY_PRISM,
                                         CEED_TOPOLOGY_HEX};

  for (int s = 0; s < 3; s++) {
    for (int t = 0; t < 7; t++) {
      check_dense(ceed, spaces[s], topologies[t]);
      if (tap_failed()) {
        tap_note("%s, %s", CeedFESpaces[spaces[s]], CeedElemTopologies[topologies[t]]);
        return;
      }
    }
  }
}

TEST_EACH_BACKEND(bases_are_collocated_when_points_are_nodes) {
  const CeedScalar eps = (CeedScalar)CEED_EPSILON, nearly[4] = {1, 9 * eps, -9 * eps, 1},
                   not_quite[4] = {1, 20 * eps, 0, 1};
  const struct {
    CeedInt P, Q;
    CeedQuadMode mode;
    bool is_collocated;
  } rows[] = {{3, 3, CEED_GAUSS_LOBATTO, true}, {3, 4, CEED_GAUSS_LOBATTO, false}, {3, 3, CEED_GAUSS, false}};
  CeedBasis b = NULL;
  bool is_collocated = false;

  for (int i = 0; i < 3; i++) {
    CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, rows[i].P, rows[i].Q, rows[i].mode, &b));
    CHECK_OK(CeedBasisIsCollocated(b, &is_collocated));
    CHECK(is_collocated == rows[i].is_collocated, "row %d", i);
    CHECK_OK(CeedBasisDestroy(&b));
  }
  CHECK_OK(CeedBasisCreateTensorH1(ceed, 1, 1, 2, 2, nearly, nearly, NULL, NULL, &b));
  CHECK_OK(CeedBasisIsCollocated(b, &is_collocated));
  CHECK(is_collocated, "10 epsilon are allowed");
  CHECK_OK(CeedBasisDestroy(&b));
  CHECK_OK(CeedBasisCreateTensorH1(ceed, 1, 1, 2, 2, not_quite, nearly, NULL, NULL, &b));
  CHECK_OK(CeedBasisIsCollocated(b, &is_collocated));
  CHECK(!is_collocated, "20 epsilon are not");
  CHECK_OK(CeedBasisDestroy(&b));
}

// ---- Actions: what they overwrite, what they refuse ----

TEST_EACH_BACKEND(transposes_clear_the_whole_vector_and_sums_keep_it) {
  CeedBasis b = tensor(ceed, 1, 1);
  CeedVector u = vector_of(ceed, Q1, (const CeedScalar[]){1, 10, 100}),
             v = vector_of(ceed, P1 + 2, (const CeedScalar[]){7, 7, 7, 7}), empty = vector_of(ceed, P1, NULL);

  // interp^T u = (1 - 10, 2 + 30 + 500)
  CHECK_OK(CeedBasisApply(b, 1, CEED_TRANSPOSE, CEED_EVAL_INTERP, u, v));
  CHECK_HOLDS(v, -9, 532, 0, 0);
  CHECK_OK(CeedBasisApplyAdd(b, 1, CEED_TRANSPOSE, CEED_EVAL_INTERP, u, v));
  CHECK_HOLDS(v, -18, 1064, 0, 0);
  CHECK_OK(CeedVectorSetValue(v, 1));
  CHECK_OK(CeedBasisApplyAdd(b, 1, CEED_TRANSPOSE, CEED_EVAL_GRAD, u, v)); // grad^T u = (-288, 410)
  CHECK_HOLDS(v, -287, 411, 1, 1);
  CHECK_OK(CeedBasisApply(b, 1, CEED_TRANSPOSE, CEED_EVAL_INTERP, u, empty)); // needs no values before
  CHECK_HOLDS(empty, -9, 532);
  CHECK_OK(CeedBasisApply(b, 0, CEED_TRANSPOSE, CEED_EVAL_INTERP, u, v)); // no elements
  CHECK_HOLDS(v, 0, 0, 0, 0);
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(CeedVectorDestroy(&empty));
  CHECK_OK(CeedBasisDestroy(&b));
}

// A basis whose points are its nodes is no exception.
TEST_EACH_BACKEND(collocated_bases_add_in_apply_add) {
  const CeedScalar identity[4] = {1, 0, 0, 1};
  CeedBasis b = NULL;
  CeedVector u = vector_of(ceed, 4, (const CeedScalar[]){1, 2, 3, 4}),
             v = vector_of(ceed, 4, (const CeedScalar[]){10, 20, 30, 40});

  CHECK_OK(CeedBasisCreateTensorH1(ceed, 2, 1, 2, 2, identity, identity, NULL, NULL, &b));
  CHECK_OK(CeedBasisApplyAdd(b, 1, CEED_TRANSPOSE, CEED_EVAL_INTERP, u, v));
  CHECK_HOLDS(v, 11, 22, 33, 44);
  CHECK_OK(CeedBasisApply(b, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v));
  CHECK_HOLDS(v, 1, 2, 3, 4);
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(CeedBasisDestroy(&b));
}

TEST_EACH_BACKEND(weights_are_products_and_need_no_input) {
  CeedBasis b = tensor(ceed, 2, 3), without = NULL;
  CeedVector v = vector_of(ceed, Q1 * Q1, NULL);

  CHECK_OK(CeedBasisApply(b, 1, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, v));
  CHECK_HOLDS(v, 4, 6, 10, 6, 9, 15, 10, 15, 25); // no components
  CHECK_OK(CeedBasisCreateTensorH1(ceed, 2, 1, P1, Q1, line_interp, line_grad, line_points, NULL, &without));
  if (!has_device_memory(ceed)) {
    CHECK_OK(CeedBasisApply(without, 1, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, v));
    CHECK_HOLDS(v, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  }
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(CeedBasisDestroy(&b));
  CHECK_OK(CeedBasisDestroy(&without));
}

// Nodal and quadrature vectors of every mode, each one entry short.
static void check_short_vectors(Ceed ceed, CeedBasis b, CeedEvalMode mode, CeedSize nodes, CeedSize points) {
  CeedVector n = vector_of(ceed, nodes, NULL), q = vector_of(ceed, points, NULL),
             short_n = vector_of(ceed, nodes - 1, NULL), short_q = vector_of(ceed, points - 1, NULL);
  CeedVector *all[] = {&n, &q, &short_n, &short_q};

  for (int i = 0; i < 4; i++) CHECK_OK(CeedVectorSetValue(*all[i], 1));
#define REFUSED(apply, t_mode, u, v)                                                                         \
  CHECK_ERROR(ceed, apply(b, 2, t_mode, mode, u, v), CEED_ERROR_DIMENSION,                                   \
              "Input/output vectors too short for basis and evaluation mode")
  REFUSED(CeedBasisApply, CEED_NOTRANSPOSE, short_n, q);
  REFUSED(CeedBasisApply, CEED_NOTRANSPOSE, n, short_q);
  REFUSED(CeedBasisApply, CEED_TRANSPOSE, short_q, n);
  REFUSED(CeedBasisApply, CEED_TRANSPOSE, q, short_n);
  REFUSED(CeedBasisApplyAdd, CEED_TRANSPOSE, short_q, n);
  REFUSED(CeedBasisApplyAdd, CEED_TRANSPOSE, q, short_n);
#undef REFUSED
  CHECK_ERROR(ceed, CeedBasisApply(b, 2, CEED_NOTRANSPOSE, mode, CEED_VECTOR_NONE, q),
              CEED_ERROR_INCOMPATIBLE,
              "CeedBasisApply: argument 'u' is CEED_VECTOR_NONE, needed a CeedVector");
  CHECK_ERROR(ceed, CeedBasisApply(b, 2, CEED_NOTRANSPOSE, mode, n, CEED_VECTOR_NONE),
              CEED_ERROR_INCOMPATIBLE,
              "CeedBasisApply: argument 'v' is CEED_VECTOR_NONE, needed a CeedVector");
  CHECK_OK(CeedBasisApply(b, 2, CEED_NOTRANSPOSE, mode, n, q)); // long enough, and nobody holds them
  CHECK_OK(CeedBasisApply(b, 2, CEED_TRANSPOSE, mode, q, n));
  for (int i = 0; i < 4; i++) CHECK_OK(CeedVectorDestroy(all[i]));
}

TEST_EACH_BACKEND(vectors_that_are_too_short_are_refused) {
  CeedBasis b = tensor(ceed, 2, 3);
  CeedVector weights = vector_of(ceed, 2 * Q1 * Q1 - 1, NULL);

  check_short_vectors(ceed, b, CEED_EVAL_INTERP, 2 * 3 * P1 * P1, 2 * 3 * Q1 * Q1);
  if (tap_failed()) return;
  check_short_vectors(ceed, b, CEED_EVAL_GRAD, 2 * 3 * P1 * P1, 2 * 2 * 3 * Q1 * Q1);
  if (tap_failed()) return;
  CHECK_ERROR(ceed, CeedBasisApply(b, 2, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, weights),
              CEED_ERROR_DIMENSION, "too short");
  CHECK_ERROR(ceed, CeedBasisApply(b, 1 << 30, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, weights),
              CEED_ERROR_DIMENSION, "needed 9663676416"); // 9 points in each element
  CHECK_OK(CeedBasisDestroy(&b));
  b = dense(ceed, CEED_FE_SPACE_HCURL, CEED_TOPOLOGY_TET, 1);
  check_short_vectors(ceed, b, CEED_EVAL_INTERP, 2 * 4, 2 * 3 * 3);
  if (tap_failed()) return;
  check_short_vectors(ceed, b, CEED_EVAL_CURL, 2 * 4, 2 * 3 * 3);
  if (tap_failed()) return;
  CHECK_OK(CeedBasisDestroy(&b));
  b = dense(ceed, CEED_FE_SPACE_HDIV, CEED_TOPOLOGY_TRIANGLE, 2);
  check_short_vectors(ceed, b, CEED_EVAL_INTERP, 2 * 2 * 4, 2 * 2 * 2 * 3);
  if (tap_failed()) return;
  check_short_vectors(ceed, b, CEED_EVAL_DIV, 2 * 2 * 4, 2 * 2 * 3);
  if (tap_failed()) return;
  CHECK_OK(CeedBasisDestroy(&b));
  CHECK_OK(CeedVectorDestroy(&weights));
}

TEST_EACH_BACKEND(actions_a_basis_does_not_have_are_refused) {
  CeedBasis t = tensor(ceed, 2, 1), h1 = dense(ceed, CEED_FE_SPACE_H1, CEED_TOPOLOGY_TRIANGLE, 1),
            hdiv = dense(ceed, CEED_FE_SPACE_HDIV, CEED_TOPOLOGY_TRIANGLE, 1),
            hcurl = dense(ceed, CEED_FE_SPACE_HCURL, CEED_TOPOLOGY_TRIANGLE, 1);
  CeedVector u = vector_of(ceed, 50, NULL), v = vector_of(ceed, 50, NULL), empty = vector_of(ceed, 50, NULL);
  const CeedScalar *read = NULL;
  CeedScalar *array = NULL;

  CHECK_OK(CeedVectorSetValue(u, 1));
  CHECK_OK(CeedVectorSetValue(v, 1));
#define REFUSED(code, call) CHECK_ERROR(ceed, call, code, "CeedBasisApply")
  REFUSED(CEED_ERROR_UNSUPPORTED, CeedBasisApplyAdd(t, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v));
  REFUSED(CEED_ERROR_BACKEND, CeedBasisApply(t, 1, CEED_TRANSPOSE, CEED_EVAL_WEIGHT, u, v));
  REFUSED(CEED_ERROR_INCOMPATIBLE, CeedBasisApply(t, 1, (CeedTransposeMode)2, CEED_EVAL_INTERP, u, v));
  REFUSED(CEED_ERROR_BACKEND, CeedBasisApplyAdd(t, 1, CEED_TRANSPOSE, CEED_EVAL_WEIGHT, u, v));
  REFUSED(CEED_ERROR_BACKEND, CeedBasisApply(h1, 1, CEED_TRANSPOSE, CEED_EVAL_WEIGHT, u, v));
  REFUSED(CEED_ERROR_BACKEND, CeedBasisApply(t, 1, CEED_NOTRANSPOSE, CEED_EVAL_DIV, u, v));
  REFUSED(CEED_ERROR_BACKEND, CeedBasisApply(t, 1, CEED_TRANSPOSE, CEED_EVAL_CURL, u, v));
  if (!has_device_memory(ceed)) {
    REFUSED(CEED_ERROR_BACKEND, CeedBasisApply(t, 1, CEED_NOTRANSPOSE, CEED_EVAL_NONE, u, v));
    REFUSED(CEED_ERROR_BACKEND, CeedBasisApply(h1, 1, CEED_NOTRANSPOSE, CEED_EVAL_NONE, u, v));
  }
  REFUSED(CEED_ERROR_UNSUPPORTED, CeedBasisApply(h1, 1, CEED_NOTRANSPOSE, CEED_EVAL_DIV, u, v));
  REFUSED(CEED_ERROR_UNSUPPORTED, CeedBasisApply(h1, 1, CEED_NOTRANSPOSE, CEED_EVAL_CURL, u, v));
  REFUSED(CEED_ERROR_UNSUPPORTED, CeedBasisApply(hdiv, 1, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, v));
  REFUSED(CEED_ERROR_UNSUPPORTED, CeedBasisApply(hdiv, 1, CEED_TRANSPOSE, CEED_EVAL_CURL, u, v));
  REFUSED(CEED_ERROR_UNSUPPORTED, CeedBasisApply(hcurl, 1, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, v));
  REFUSED(CEED_ERROR_UNSUPPORTED, CeedBasisApply(hcurl, 1, CEED_TRANSPOSE, CEED_EVAL_DIV, u, v));
  REFUSED(CEED_ERROR_UNSUPPORTED, CeedBasisApply(t, 1, CEED_NOTRANSPOSE, (CeedEvalMode)3, u, v));
  REFUSED(CEED_ERROR_DIMENSION, CeedBasisApply(t, -1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v));
  REFUSED(CEED_ERROR_INCOMPATIBLE, CeedBasisApply(t, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, u));
#undef REFUSED
  CHECK_ERROR(ceed, CeedBasisApply(t, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, empty, v), CEED_ERROR_BACKEND,
              "no valid data");
  CHECK_ERROR(ceed, CeedBasisApplyAdd(t, 1, CEED_TRANSPOSE, CEED_EVAL_INTERP, u, empty), CEED_ERROR_BACKEND,
              "no valid data");
  CHECK_OK(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &read));
  CHECK_ERROR(ceed, CeedBasisApply(t, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v), CEED_ERROR_ACCESS,
              "Cannot grant CeedVector array access");
  CHECK_OK(CeedVectorRestoreArrayRead(v, &read));
  CHECK_OK(CeedVectorGetArray(u, CEED_MEM_HOST, &array));
  CHECK_ERROR(ceed, CeedBasisApply(t, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v), CEED_ERROR_ACCESS,
              "read-only array access");
  CHECK_OK(CeedVectorRestoreArray(u, &array));
  CHECK_OK(CeedBasisApply(t, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v)); // nobody holds anything
  CHECK_HOLDS(v, 9, 6, 15);                                                 // row sums 3, 2, 5
  CeedVector *vectors[] = {&u, &v, &empty};
  CeedBasis *bases[] = {&t, &h1, &hdiv, &hcurl};
  for (int i = 0; i < 3; i++) CHECK_OK(CeedVectorDestroy(vectors[i]));
  for (int i = 0; i < 4; i++) CHECK_OK(CeedBasisDestroy(bases[i]));
}

// A refusal with a positive code leaves vectors as they were.
TEST_EACH_BACKEND(a_transpose_whose_input_is_lent_keeps_its_output) {
  CeedBasis b = tensor(ceed, 1, 1);
  CeedVector u = vector_of(ceed, Q1, (const CeedScalar[]){1, 10, 100}),
             v = vector_of(ceed, P1, (const CeedScalar[]){7, 8});
  CeedScalar *array = NULL;

  CHECK_OK(CeedVectorGetArray(u, CEED_MEM_HOST, &array));
  CHECK_ERROR(ceed, CeedBasisApply(b, 1, CEED_TRANSPOSE, CEED_EVAL_INTERP, u, v), CEED_ERROR_ACCESS, "lock");
  CHECK_OK(CeedVectorRestoreArray(u, &array));
  CHECK_HOLDS(v, 7, 8);
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(CeedBasisDestroy(&b));
}

// ---- At points ----

TEST_EACH_BACKEND(actions_at_points_that_do_not_exist_are_refused) {
  CeedBasis t = NULL, h1 = dense(ceed, CEED_FE_SPACE_H1, CEED_TOPOLOGY_QUAD, 1);
  CeedVector x = vector_of(ceed, 4, (const CeedScalar[]){0, 1, -1, 0}), u = vector_of(ceed, 4, NULL),
             v = vector_of(ceed, 2, NULL), longer = vector_of(ceed, 4, NULL),
             shorter = vector_of(ceed, 3, NULL), eight = vector_of(ceed, 8, NULL);
  const CeedInt two[1] = {2}, below[1] = {-1}, ones[2] = {1, 1};

  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, 2, 2, CEED_GAUSS, &t));
  CHECK_OK(CeedVectorSetValue(u, 1));
  CHECK_OK(CeedVectorSetValue(v, 1));
  CHECK_OK(CeedVectorSetValue(longer, 1));
  CHECK_OK(CeedVectorSetValue(shorter, 1));
  CHECK_OK(CeedVectorSetValue(eight, 1));
#define REFUSED(code, call)                 CHECK_ERROR(ceed, call, code, "AtPoints")
#define APPLY(basis, t_mode, mode, x, u, v) CeedBasisApplyAtPoints(basis, 1, two, t_mode, mode, x, u, v)
  int code = APPLY(h1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, x, u, v);
  CHECK(code == CEED_ERROR_MINOR || code == CEED_ERROR_UNSUPPORTED, "dense basis: %d", code);
  REFUSED(CEED_ERROR_UNSUPPORTED, APPLY(t, CEED_NOTRANSPOSE, CEED_EVAL_NONE, x, u, v));
  REFUSED(CEED_ERROR_UNSUPPORTED, APPLY(t, CEED_NOTRANSPOSE, CEED_EVAL_DIV, x, u, v));
  REFUSED(CEED_ERROR_UNSUPPORTED, APPLY(t, CEED_NOTRANSPOSE, CEED_EVAL_CURL, x, u, v));
  REFUSED(CEED_ERROR_UNSUPPORTED, APPLY(t, CEED_TRANSPOSE, CEED_EVAL_WEIGHT, x, v, u));
  REFUSED(CEED_ERROR_DIMENSION, APPLY(t, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, shorter, u, v));
  REFUSED(CEED_ERROR_INCOMPATIBLE, APPLY(t, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, CEED_VECTOR_NONE, u, v));
  REFUSED(CEED_ERROR_DIMENSION, APPLY(t, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, x, shorter, v));
  REFUSED(CEED_ERROR_DIMENSION, APPLY(t, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, x, u, shorter));
  REFUSED(CEED_ERROR_DIMENSION, APPLY(t, CEED_TRANSPOSE, CEED_EVAL_INTERP, x, v, shorter));
  REFUSED(CEED_ERROR_DIMENSION, APPLY(t, CEED_TRANSPOSE, CEED_EVAL_GRAD, x, shorter, u));
  REFUSED(CEED_ERROR_DIMENSION,
          CeedBasisApplyAtPoints(t, 1, below, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, x, u, v));
  REFUSED(CEED_ERROR_UNSUPPORTED,
          CeedBasisApplyAddAtPoints(t, 1, two, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, x, u, v));
  REFUSED(CEED_ERROR_INCOMPATIBLE, APPLY(t, (CeedTransposeMode)7, CEED_EVAL_INTERP, x, u, v));
  REFUSED(CEED_ERROR_INCOMPATIBLE, APPLY(t, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, x, u, x));
  if (!reference_is_device(ceed)) { // one element at a time; the transpose has not cleared its vector yet
    REFUSED(CEED_ERROR_UNSUPPORTED,
            CeedBasisApplyAtPoints(t, 2, ones, CEED_TRANSPOSE, CEED_EVAL_INTERP, x, v, eight));
    CHECK_HOLDS(eight, 1, 1, 1, 1, 1, 1, 1, 1);
  }
#undef REFUSED
  CHECK_OK(APPLY(t, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, CEED_VECTOR_NONE, v));
  CHECK_HOLDS(v, 1, 1);
  CHECK_OK(APPLY(t, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, x, u, longer)); // nobody holds anything
#undef APPLY
  CeedVector *vectors[] = {&x, &u, &v, &longer, &shorter, &eight};
  for (int i = 0; i < 6; i++) CHECK_OK(CeedVectorDestroy(vectors[i]));
  CHECK_OK(CeedBasisDestroy(&t));
  CHECK_OK(CeedBasisDestroy(&h1));
}

TEST_EACH_BACKEND(transposes_at_points_clear_the_whole_vector_and_sums_keep_it) {
  CeedBasis b = NULL;
  CeedVector x = vector_of(ceed, 1, (const CeedScalar[]){0}), u = vector_of(ceed, 1, (const CeedScalar[]){4}),
             v = vector_of(ceed, 3, (const CeedScalar[]){9, 9, 9});
  const CeedInt one[1] = {1}, none[1] = {0};
  const CeedScalar *array = NULL;
  const double tol = 100 * CEED_EPSILON; // a handful of operations on numbers up to 10

  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 2, CEED_GAUSS, &b));
  CHECK_OK(CeedBasisApplyAtPoints(b, 1, one, CEED_TRANSPOSE, CEED_EVAL_INTERP, x, u, v));
  for (int i = 0; i < 2; i++) { // at the centre both nodes have the value 1/2
    CHECK_OK(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &array));
    CHECK_NEAR(array[0], 2 + 2 * i, tol, "first node");
    CHECK_NEAR(array[1], 2 + 2 * i, tol, "second node");
    CHECK(array[2] == 0, "beyond the nodes: %g", (double)array[2]);
    CHECK_OK(CeedVectorRestoreArrayRead(v, &array));
    CHECK_OK(CeedBasisApplyAddAtPoints(b, 1, one, CEED_TRANSPOSE, CEED_EVAL_INTERP, x, u, v));
  }
  CHECK_OK(CeedBasisApplyAtPoints(b, 1, none, CEED_TRANSPOSE, CEED_EVAL_INTERP, x, u, v)); // no points
  CHECK_HOLDS(v, 0, 0, 0);
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(CeedBasisDestroy(&b));
}

// ---- Tables made from others ----

TEST_EACH_BACKEND(projections_between_bases_that_do_not_match_are_refused) {
  CeedBasis p = NULL, a = NULL, fine = NULL, coarse = NULL,
            h1 = dense(ceed, CEED_FE_SPACE_H1, CEED_TOPOLOGY_TRIANGLE, 1),
            hdiv = dense(ceed, CEED_FE_SPACE_HDIV, CEED_TOPOLOGY_TRIANGLE, 1);

  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 2, 3, 4, CEED_GAUSS, &a));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 5, 4, CEED_GAUSS, &fine));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 3, CEED_GAUSS, &coarse));
  CHECK_ERROR(ceed, CeedBasisCreateProjection(a, coarse, &p), CEED_ERROR_DIMENSION,
              "CeedBasisCreateProjection");
  CHECK_ERROR(ceed, CeedBasisCreateProjection(h1, hdiv, &p), CEED_ERROR_MINOR, "CeedBasisCreateProjection");
  CHECK_ERROR(ceed, CeedBasisCreateProjection(a, fine, &p), CEED_ERROR_UNSUPPORTED,
              "CeedBasisCreateProjection"); // 4 points, 5 nodes
  CHECK(p == NULL, "a handle is made");
  CHECK_OK(CeedBasisCreateProjection(fine, a, &p));
  CeedInt nodes = 0, points = 0, num_comp = 0;
  CHECK_OK(CeedBasisGetNumNodes(p, &nodes));
  CHECK_OK(CeedBasisGetNumQuadraturePoints(p, &points));
  CHECK_OK(CeedBasisGetNumComponents(p, &num_comp));
  CHECK(nodes == 5 && points == 3 && num_comp == 1, "%d nodes, %d points, %d components", nodes, points,
        num_comp);
  CeedBasis *all[] = {&p, &a, &fine, &coarse, &h1, &hdiv};
  for (int i = 0; i < 6; i++) CHECK_OK(CeedBasisDestroy(all[i]));
}

TEST_EACH_BACKEND(derivatives_at_the_points_need_as_many_points_as_nodes) {
  CeedBasis b = NULL;
  CeedScalar table[16];

  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 4, 3, CEED_GAUSS, &b));
  CHECK_ERROR(ceed, CeedBasisGetCollocatedGrad(b, table), CEED_ERROR_UNSUPPORTED,
              "CeedBasisGetCollocatedGrad");
  CHECK_OK(CeedBasisGetChebyshevInterp1D(b, table)); // fewer points than nodes are no obstacle
  CHECK_OK(CeedBasisDestroy(&b));
}

TEST_EACH_BACKEND(dense_algebra_refuses_sizes_it_cannot_treat) {
  CeedScalar a[4] = {2, 0, 0, 3}, b[4] = {1, 0, 0, 1}, x[4], t[4];

  CHECK_ERROR(ceed, CeedQRFactorization(ceed, a, t, 1, 2), CEED_ERROR_UNSUPPORTED, "CeedQRFactorization");
  CHECK_ERROR(ceed, CeedMatrixPseudoinverse(ceed, a, 1, 2, x), CEED_ERROR_UNSUPPORTED,
              "CeedMatrixPseudoinverse");
  CHECK_ERROR(ceed, CeedSymmetricSchurDecomposition(ceed, a, t, 1), CEED_ERROR_UNSUPPORTED,
              "CeedSymmetricSchurDecomposition");
  CHECK_ERROR(ceed, CeedSimultaneousDiagonalization(ceed, a, b, x, t, 1), CEED_ERROR_UNSUPPORTED,
              "CeedSimultaneousDiagonalization");
  CHECK(a[0] == 2 && a[3] == 3, "a refused matrix changes");
  CHECK_OK(CeedSimultaneousDiagonalization(ceed, a, b, x, t, 2));
  CHECK(a[0] == 2 && a[1] == 0 && a[3] == 3 && b[0] == 1 && b[3] == 1, "the matrices change");
}

TEST(quadratures_refuse_too_few_points) {
  CeedScalar x[2] = {5, 5}, w[2] = {5, 5};

  for (CeedInt Q = -1; Q < 2; Q++) {
    CHECK_ERROR(NULL, CeedLobattoQuadrature(Q, x, w), CEED_ERROR_DIMENSION, "two points");
    if (Q < 1) CHECK_ERROR(NULL, CeedGaussQuadrature(Q, x, w), CEED_ERROR_DIMENSION, "one point");
  }
  CHECK(x[0] == 5 && w[0] == 5, "arrays are written");
  CHECK_OK(CeedLobattoQuadrature(2, x, NULL));
  CHECK(x[0] == -1 && x[1] == 1, "%g, %g", (double)x[0], (double)x[1]);
}

// ---- Views ----

TEST_EACH_BACKEND(a_view_shows_the_tables_of_one_direction) {
  CeedBasis b = NULL;

  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 2, CEED_GAUSS_LOBATTO, &b));
#define VIEW(tab)                                                                                            \
  tab "CeedBasis in a H^1 space on a line element\n" tab "  P: 2\n" tab "  Q: 2\n" tab                       \
      "  dimension: 1\n" tab "  field components: 1\n" tab "  qref1d:   \t -1.00000000\t  1.00000000\n" tab  \
      "  qweight1d:\t  1.00000000\t  1.00000000\n" tab "  interp1d:\n" tab                                   \
      "    [0]\t  1.00000000\t  0.00000000\n" tab "    [1]\t  0.00000000\t  1.00000000\n" tab                \
      "  grad1d:\n" tab "    [0]\t -0.50000000\t  0.50000000\n" tab "    [1]\t -0.50000000\t  0.50000000\n"
  CHECK_PRINTS(VIEW(""), CeedBasisView(b, stream));
  CHECK_OK(CeedBasisSetNumViewTabs(b, 1));
  CHECK_PRINTS(VIEW("  "), CeedObjectView((CeedObject)b, stream));
#undef VIEW
  CHECK_ERROR(ceed, CeedBasisSetNumViewTabs(b, -1), CEED_ERROR_MINOR, "view tabs");
  CeedInt tabs = 0;
  CHECK_OK(CeedBasisGetNumViewTabs(b, &tabs));
  CHECK(tabs == 1, "%d", tabs);
  CHECK_OK(CeedBasisDestroy(&b));
}

// One row has no number; what is no more than 1e-14 is shown as 0, without a sign.
TEST_EACH_BACKEND(a_view_of_one_point_has_tables_of_one_row) {
  const CeedScalar interp[2] = {(CeedScalar)-1e-15, (CeedScalar)0.5}, grad[2] = {-2, (CeedScalar)1234567.5},
                   point = (CeedScalar)-0.0, weight = (CeedScalar)1e-15;
  CeedBasis b = NULL;

  CHECK_OK(CeedBasisCreateTensorH1(ceed, 3, 2, 2, 1, interp, grad, &point, &weight, &b));
  CHECK_PRINTS("CeedBasis in a H^1 space on a hexahedron element\n  P: 2\n  Q: 1\n  dimension: 3\n"
               "  field components: 2\n"
               "  qref1d:   \t  0.00000000\n"
               "  qweight1d:\t  0.00000000\n"
               "  interp1d: \t  0.00000000\t  0.50000000\n"
               "  grad1d:   \t -2.00000000\t 1234567.50000000\n",
               CeedBasisView(b, stream));
  CHECK_OK(CeedBasisDestroy(&b));
}

TEST_EACH_BACKEND(a_view_of_a_dense_basis_shows_the_tables_it_has) {
  const CeedScalar t[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  CeedBasis b = NULL;

#define V(n) "\t  " #n ".00000000"
#define HEAD(space, topology, Q, dim)                                                                        \
  "CeedBasis in a " space " space on a " topology " element\n  P: 1\n  Q: " Q "\n  dimension: " dim          \
  "\n  field components: 1\n"
  CHECK_OK(CeedBasisCreateH1(ceed, CEED_TOPOLOGY_TRIANGLE, 1, 1, 2, t, t, t, t, &b));
  CHECK_PRINTS(HEAD("H^1", "triangle", "2", "2") "  qref:     " V(1) V(2) V(3) V(4) "\n  qweight:  " V(1)
                   V(2) "\n  interp:\n    [0]" V(1) "\n    [1]" V(2) "\n  grad:\n    [0]" V(1) "\n    [1]" V(
                       2) "\n    [2]" V(3) "\n    [3]" V(4) "\n",
               CeedBasisView(b, stream));
  CHECK_OK(CeedBasisDestroy(&b));
  CHECK_OK(CeedBasisCreateHdiv(ceed, CEED_TOPOLOGY_QUAD, 1, 1, 1, t, t, t, t, &b));
  CHECK_PRINTS(HEAD("H(div)", "quadrilateral", "1", "2") "  qref:     " V(1) V(2) "\n  qweight:  " V(
                   1) "\n  interp:\n    [0]" V(1) "\n    [1]" V(2) "\n  div:      " V(1) "\n",
               CeedBasisView(b, stream));
  CHECK_OK(CeedBasisDestroy(&b));
  CHECK_OK(CeedBasisCreateHcurl(ceed, CEED_TOPOLOGY_QUAD, 1, 1, 1, t, t, t, t, &b));
  CHECK_PRINTS(HEAD("H(curl)", "quadrilateral", "1", "2") "  qref:     " V(1) V(2) "\n  qweight:  " V(
                   1) "\n  interp:\n    [0]" V(1) "\n    [1]" V(2) "\n  curl:     " V(1) "\n",
               CeedBasisView(b, stream));
  CHECK_OK(CeedBasisDestroy(&b));
  CHECK_OK(CeedBasisCreateHcurl(ceed, CEED_TOPOLOGY_PRISM, 1, 1, 1, t, t, t, t, &b));
  CHECK_PRINTS(HEAD("H(curl)", "prism", "1", "3") "  qref:     " V(1) V(2)
                   V(3) "\n  qweight:  " V(1) "\n  interp:\n    [0]" V(1) "\n    [1]" V(2) "\n    [2]" V(
                       3) "\n  curl:\n    [0]" V(1) "\n    [1]" V(2) "\n    [2]" V(3) "\n",
               CeedBasisView(b, stream));
  CHECK_OK(CeedBasisDestroy(&b));
#undef V
#undef HEAD
}

// ---- Flops: doc/ceed-api.md, Views and estimates ----

static CeedSize flops_of(CeedBasis b, CeedTransposeMode t_mode, CeedEvalMode mode, bool at_points,
                         CeedInt n) {
  CeedSize flops = -1;
  return CeedBasisGetFlopsEstimate(b, t_mode, mode, at_points, n, &flops) ? -2 : flops;
}

TEST_EACH_BACKEND(flops_of_bases_are_those_of_the_standard) {
  CeedBasis t = tensor(ceed, 2, 3), hdiv = dense(ceed, CEED_FE_SPACE_HDIV, CEED_TOPOLOGY_TRIANGLE, 2),
            hcurl = dense(ceed, CEED_FE_SPACE_HCURL, CEED_TOPOLOGY_TET, 2);
  const CeedTransposeMode N = CEED_NOTRANSPOSE, T = CEED_TRANSPOSE;
  CeedSize flops;

  // Tensor, forward: 2*3*(2^2*3 + 2*3^2) = 180; transposed with 3 in place of 2: 2*3*(27 + 27) = 324.
  CHECK(flops_of(t, N, CEED_EVAL_INTERP, false, 0) == 180, "interpolation");
  CHECK(flops_of(t, T, CEED_EVAL_INTERP, false, 0) == 324, "interpolation transposed");
  CHECK(flops_of(t, N, CEED_EVAL_GRAD, false, 0) == 360, "gradient");
  CHECK(flops_of(t, T, CEED_EVAL_GRAD, false, 0) == 648, "gradient transposed");
  CHECK(flops_of(t, N, CEED_EVAL_WEIGHT, false, 0) == 18 && flops_of(t, N, CEED_EVAL_NONE, false, 0) == 0,
        "weights, nothing");
  // Dense: P Q C q_comp.
  CHECK(flops_of(hdiv, N, CEED_EVAL_INTERP, false, 0) == 4 * 3 * 2 * 2, "H(div) values");
  CHECK(flops_of(hdiv, T, CEED_EVAL_DIV, false, 0) == 4 * 3 * 2, "divergence");
  CHECK(flops_of(hcurl, N, CEED_EVAL_CURL, false, 0) == 4 * 3 * 2 * 3, "curl");
  CHECK(flops_of(hcurl, N, CEED_EVAL_WEIGHT, false, 0) == 0, "weights");
#define REFUSED(basis, mode, at_points)                                                                      \
  CHECK_ERROR(ceed, CeedBasisGetFlopsEstimate(basis, N, mode, at_points, 4, &flops),                         \
              CEED_ERROR_INCOMPATIBLE, "CeedBasisGetFlopsEstimate")
  REFUSED(t, CEED_EVAL_DIV, false);
  REFUSED(t, CEED_EVAL_CURL, false);
  REFUSED(t, CEED_EVAL_DIV, true);
  REFUSED(hdiv, CEED_EVAL_INTERP, true);
#undef REFUSED
  CHECK_OK(CeedBasisDestroy(&t));
  CHECK_OK(CeedBasisDestroy(&hdiv));
  CHECK_OK(CeedBasisDestroy(&hcurl));
}

// The standard's check value for a mass operator at points: 9 elements in 2D, P = 3, Q = 5, 4 points each, 1
// flop a point; the 81 are the restriction's transpose.
TEST_EACH_BACKEND(flops_at_points_give_the_check_value_of_the_standard) {
  CeedBasis b = NULL;

  if (has_device_memory(ceed)) NOT_FOR_THIS_BACKEND("the value is that of hosts");
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, 3, 5, CEED_GAUSS, &b));
  CeedSize forward = flops_of(b, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, true, 4),
           backward = flops_of(b, CEED_TRANSPOSE, CEED_EVAL_INTERP, true, 4);
  CHECK(9 * (forward + backward) + 81 + 9 * 4 == 16317, "%td, %td", forward, backward);
  CHECK(flops_of(b, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, true, 4) == 4, "weights");
  CHECK(flops_of(b, CEED_NOTRANSPOSE, CEED_EVAL_NONE, true, 4) == 0, "nothing");
  // cheb = 3(5-2)+1 = 10 and dcheb = 8(5-2)+1 = 25: a gradient adds 4*2*(25 + 10) where values add 4*2*10.
  CeedSize gradient = flops_of(b, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, true, 4);
  CHECK(gradient - forward == 4 * 2 * 25, "%td", gradient);
  CHECK_OK(CeedBasisDestroy(&b));
}

// Two nodes and three points a direction, two components, five points: cheb = 4, dcheb = 9. In 2D
// contractions of tables take 4 (4 3 + 2 9) = 120 flops, a point 2 (2 9 + 2 1 3 3) = 72, transposed 4 (27 +
// 27) = 216 and 2 (36 + 9) = 90: 480 and 666 in all. In 3D 456 + 5 2 234 = 2796 and 972 + 5 2 (162 + 27) =
// 2862. Polynomials come on top: on hosts once, on devices for each component, and in 3D direction by
// direction.
TEST_EACH_BACKEND(flops_at_points_are_those_of_the_standard_for_hosts_and_devices) {
  static const struct {
    CeedInt dim;
    CeedTransposeMode t_mode;
    CeedEvalMode mode;
    CeedSize host, device;
  } cases[] = {
      {2, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, 480 + 5 * 2 * 4, 480 + 5 * 2 * 2 * 4},
      {2, CEED_TRANSPOSE, CEED_EVAL_INTERP, 666 + 5 * 2 * 4, 666 + 5 * 2 * 2 * 4},
      {2, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, 480 + 5 * 2 * (9 + 4), 480 + 5 * 2 * 2 * (9 + 4)},
      {2, CEED_TRANSPOSE, CEED_EVAL_GRAD, 666 + 5 * 2 * (9 + 4), 666 + 5 * 2 * 2 * (9 + 4)},
      {3, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, 2796 + 5 * 3 * 4, 2796 + 15 * (4 + 2 * (8 + 18 + 9))},
      {3, CEED_TRANSPOSE, CEED_EVAL_INTERP, 2862 + 5 * 3 * 4, 2862 + 15 * (4 + 2 * (8 + 18 + 7))},
      {3, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, 2796 + 5 * 3 * (9 + 8), 2796 + 15 * (13 + 2 * (3 * 27 + 2 * 17))},
      {3, CEED_TRANSPOSE, CEED_EVAL_GRAD, 2862 + 5 * 3 * (9 + 8),
       2862 + 15 * (13 + 2 * (3 * 24 + 2 * 17 + 1))},
      {3, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, 5, 5},
      {3, CEED_TRANSPOSE, CEED_EVAL_NONE, 0, 0},
  };

  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    const CeedSize wanted = has_device_memory(ceed) ? cases[i].device : cases[i].host;
    CeedBasis b = NULL;

    CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, cases[i].dim, 2, 2, 3, CEED_GAUSS, &b));
    const CeedSize flops = flops_of(b, cases[i].t_mode, cases[i].mode, true, 5);
    CHECK_OK(CeedBasisDestroy(&b));
    CHECK(flops == wanted, "case %zu: %td, not %td", i, flops, wanted);
  }
}

// ---- NULL ----

TEST(null_bases_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref"), found = NULL;
  CeedBasis b = NULL, live = tensor(ceed, 1, 1);
  CeedVector vec = vector_of(ceed, 9, NULL);
  CeedInt n;
  const CeedInt one[1] = {1};
  const CeedScalar *table = NULL;
  CeedScalar values[9];
  CeedElemTopology topology;
  CeedFESpace space;
  CeedSize size;
  bool flag;
  const CeedTransposeMode N = CEED_NOTRANSPOSE;

#define REFUSED(expr) CHECK_ERROR(NULL, expr, CEED_ERROR_INCOMPATIBLE, "NULL")
  REFUSED(CeedBasisCreateTensorH1Lagrange(NULL, 1, 1, 2, 2, CEED_GAUSS, &b));
  REFUSED(CeedBasisCreateTensorH1(NULL, 1, 1, 2, 2, values, values, values, values, &b));
  REFUSED(CeedBasisCreateH1(NULL, CEED_TOPOLOGY_LINE, 1, 1, 1, values, values, values, values, &b));
  REFUSED(CeedBasisCreateHdiv(NULL, CEED_TOPOLOGY_LINE, 1, 1, 1, values, values, values, values, &b));
  REFUSED(CeedBasisCreateHcurl(NULL, CEED_TOPOLOGY_LINE, 1, 1, 1, values, values, values, values, &b));
  REFUSED(CeedBasisCreateProjection(NULL, live, &b));
  REFUSED(CeedBasisCreateProjection(live, NULL, &b));
  REFUSED(CeedBasisReferenceCopy(NULL, &b));
  REFUSED(CeedBasisApply(NULL, 1, N, CEED_EVAL_INTERP, vec, vec));
  REFUSED(CeedBasisApply(live, 1, N, CEED_EVAL_INTERP, NULL, vec));
  REFUSED(CeedBasisApply(live, 1, N, CEED_EVAL_INTERP, vec, NULL));
  REFUSED(CeedBasisApplyAdd(NULL, 1, CEED_TRANSPOSE, CEED_EVAL_INTERP, vec, vec));
  REFUSED(CeedBasisApplyAtPoints(NULL, 1, one, N, CEED_EVAL_INTERP, vec, vec, vec));
  REFUSED(CeedBasisApplyAtPoints(live, 1, one, N, CEED_EVAL_INTERP, NULL, vec, vec));
  REFUSED(CeedBasisApplyAtPoints(live, 1, one, N, CEED_EVAL_INTERP, vec, NULL, vec));
  REFUSED(CeedBasisApplyAtPoints(live, 1, one, N, CEED_EVAL_INTERP, vec, vec, NULL));
  REFUSED(CeedBasisApplyAddAtPoints(NULL, 1, one, CEED_TRANSPOSE, CEED_EVAL_INTERP, vec, vec, vec));
  REFUSED(CeedBasisGetCeed(NULL, &found));
  REFUSED(CeedBasisGetDimension(NULL, &n));
  REFUSED(CeedBasisGetTopology(NULL, &topology));
  REFUSED(CeedBasisGetNumComponents(NULL, &n));
  REFUSED(CeedBasisGetNumNodes(NULL, &n));
  REFUSED(CeedBasisGetNumNodes1D(NULL, &n));
  REFUSED(CeedBasisGetNumQuadraturePoints(NULL, &n));
  REFUSED(CeedBasisGetNumQuadraturePoints1D(NULL, &n));
  REFUSED(CeedBasisGetQRef(NULL, &table));
  REFUSED(CeedBasisGetQWeights(NULL, &table));
  REFUSED(CeedBasisGetInterp(NULL, &table));
  REFUSED(CeedBasisGetInterp1D(NULL, &table));
  REFUSED(CeedBasisGetGrad(NULL, &table));
  REFUSED(CeedBasisGetGrad1D(NULL, &table));
  REFUSED(CeedBasisGetDiv(NULL, &table));
  REFUSED(CeedBasisGetCurl(NULL, &table));
  REFUSED(CeedBasisSetNumViewTabs(NULL, 1));
  REFUSED(CeedBasisGetNumViewTabs(NULL, &n));
  REFUSED(CeedBasisView(NULL, stderr));
  REFUSED(CeedBasisIsTensor(NULL, &flag));
  REFUSED(CeedBasisIsCollocated(NULL, &flag));
  REFUSED(CeedBasisGetNumQuadratureComponents(NULL, CEED_EVAL_INTERP, &n));
  REFUSED(CeedBasisGetFESpace(NULL, &space));
  REFUSED(CeedBasisGetCollocatedGrad(NULL, values));
  REFUSED(CeedBasisGetChebyshevInterp1D(NULL, values));
  REFUSED(CeedBasisGetFlopsEstimate(NULL, N, CEED_EVAL_INTERP, false, 0, &size));
#undef REFUSED
  CHECK(CeedBasisReturnCeed(NULL) == NULL && b == NULL, "something comes of nothing");
  CHECK_OK(CeedBasisDestroy(&b));
  CHECK_OK(CeedBasisDestroy(&live));
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(sizes_that_are_not_positive_are_refused, sizes_beyond_32_bits_are_refused_at_once,
            topologies_that_do_not_exist_are_refused, tables_are_copied_and_null_stands_for_zeros,
            references_are_counted, tensor_bases_answer_queries, full_tables_of_tensor_bases_are_products,
            dense_bases_answer_queries, bases_are_collocated_when_points_are_nodes,
            transposes_clear_the_whole_vector_and_sums_keep_it, collocated_bases_add_in_apply_add,
            weights_are_products_and_need_no_input, vectors_that_are_too_short_are_refused,
            actions_a_basis_does_not_have_are_refused, a_transpose_whose_input_is_lent_keeps_its_output,
            actions_at_points_that_do_not_exist_are_refused,
            transposes_at_points_clear_the_whole_vector_and_sums_keep_it,
            projections_between_bases_that_do_not_match_are_refused,
            derivatives_at_the_points_need_as_many_points_as_nodes,
            dense_algebra_refuses_sizes_it_cannot_treat, quadratures_refuse_too_few_points,
            a_view_shows_the_tables_of_one_direction, a_view_of_one_point_has_tables_of_one_row,
            a_view_of_a_dense_basis_shows_the_tables_it_has, flops_of_bases_are_those_of_the_standard,
            flops_at_points_give_the_check_value_of_the_standard,
            flops_at_points_are_those_of_the_standard_for_hosts_and_devices, null_bases_are_refused));
}
