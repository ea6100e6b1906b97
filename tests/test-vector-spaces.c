// SPDX-License-Identifier: BSD-2-Clause
// H(div) and H(curl) bases: the lowest-order elements of Raviart & Thomas (1977) and Nedelec (1980) on the
// reference triangle, through the library's bases and oriented restrictions. Their traces, and the diagrams
// of interpolation and differentiation that commute.
#include "tests/reference.h"
#include "tests/tap.h"

#include <ceed/backend.h>
#include <math.h>

// Corners (0,0), (1,0), (0,1). Edge i lies opposite corner i and runs from corner (i+1)%3 to (i+2)%3, so that
// the triangle is on its left; the outward normal is on its right.
enum { EDGES = 3, ON_EDGE = 3, POINTS = EDGES * ON_EDGE, DIM = 2 };
static const double corner[3][DIM] = {{0, 0}, {1, 0}, {0, 1}};

static void edge_vector(int i, double t[DIM]) {
  for (int d = 0; d < DIM; d++) t[d] = corner[(i + 2) % 3][d] - corner[(i + 1) % 3][d];
}

// Point k = i * ON_EDGE + j lies on edge i, not at its ends.
static void edge_point(int i, double s, double x[DIM]) {
  double t[DIM];

  edge_vector(i, t);
  for (int d = 0; d < DIM; d++) x[d] = corner[(i + 1) % 3][d] + s * t[d];
}

static double position(int j) { return (j + 1) / (ON_EDGE + 1.0); }

// Flux 1 through edge i outwards, none through the others: x - corner i. Divergence 2.
static void face_function(int i, const double x[DIM], double value[DIM]) {
  for (int d = 0; d < DIM; d++) value[d] = x[d] - corner[i][d];
}

// Circulation 1 along edge i, none along the others: a quarter turn of the face function. Curl 2.
static void edge_function(int i, const double x[DIM], double value[DIM]) {
  value[0] = -(x[1] - corner[i][1]);
  value[1] = x[0] - corner[i][0];
}

typedef void (*Function)(int i, const double x[DIM], double value[DIM]);

// Bases with the points on the edges; both have a constant derivative of 2.
static int create_basis(Ceed ceed, bool is_hdiv, CeedBasis *basis) {
  CeedScalar interp[DIM * POINTS * EDGES], derivative[POINTS * EDGES], weights[POINTS], q_ref[DIM * POINTS];
  Function function = is_hdiv ? face_function : edge_function;

  for (int k = 0; k < POINTS; k++) {
    double x[DIM], value[DIM];

    edge_point(k / ON_EDGE, position(k % ON_EDGE), x);
    weights[k] = (CeedScalar)(0.5 / POINTS);
    for (int d = 0; d < DIM; d++) q_ref[d * POINTS + k] = (CeedScalar)x[d];
    for (int i = 0; i < EDGES; i++) {
      function(i, x, value);
      for (int d = 0; d < DIM; d++) interp[(d * POINTS + k) * EDGES + i] = (CeedScalar)value[d];
      derivative[k * EDGES + i] = 2;
    }
  }
  return (is_hdiv ? CeedBasisCreateHdiv : CeedBasisCreateHcurl)(
      ceed, CEED_TOPOLOGY_TRIANGLE, 1, EDGES, POINTS, interp, derivative, q_ref, weights, basis);
}

// Values at the points, [q_comp][POINTS], of the element with these degrees of freedom.
static int evaluate(Ceed ceed, CeedBasis basis, CeedEvalMode mode, const double dofs[EDGES], double *values) {
  CeedInt q_comp;
  CeedVector u = NULL, v = NULL;
  CeedScalar array[EDGES];
  const CeedScalar *result;

  for (int i = 0; i < EDGES; i++) array[i] = (CeedScalar)dofs[i];
  int ierr = CeedBasisGetNumQuadratureComponents(basis, mode, &q_comp);
  if (!ierr) ierr = CeedVectorCreate(ceed, EDGES, &u);
  if (!ierr) ierr = CeedVectorCreate(ceed, (CeedSize)q_comp * POINTS, &v);
  if (!ierr) ierr = CeedVectorSetArray(u, CEED_MEM_HOST, CEED_COPY_VALUES, array);
  if (!ierr) ierr = CeedBasisApply(basis, 1, CEED_NOTRANSPOSE, mode, u, v);
  if (!ierr) ierr = CeedVectorGetArrayRead(v, CEED_MEM_HOST, &result);
  for (int k = 0; !ierr && k < q_comp * POINTS; k++) values[k] = (double)result[k];
  if (!ierr) ierr = CeedVectorRestoreArrayRead(v, &result);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return ierr;
}

// Component of a field at point k along the edge (H(curl)) or across it, outwards (H(div)), times the edge's
// length.
static double trace(bool is_hdiv, int k, const double *values) {
  double t[DIM];

  edge_vector(k / ON_EDGE, t);
  return is_hdiv ? t[1] * values[k] - t[0] * values[POINTS + k]
                 : t[0] * values[k] + t[1] * values[POINTS + k];
}

// ---- Traces ----

TEST_EACH_BACKEND(traces_on_an_edge_depend_on_the_degree_of_freedom_of_that_edge_alone) {
  for (int is_hdiv = 0; is_hdiv < 2; is_hdiv++) {
    CeedBasis basis = NULL;

    CHECK_OK(create_basis(ceed, is_hdiv, &basis));
    for (int i = 0; i < EDGES; i++) {
      double dofs[EDGES] = {0}, values[DIM * POINTS];

      dofs[i] = 1;
      CHECK_OK(evaluate(ceed, basis, CEED_EVAL_INTERP, dofs, values));
      // Two products of numbers of size 1.
      for (int k = 0; k < POINTS; k++) {
        CHECK_NEAR(trace(is_hdiv, k, values), k / ON_EDGE == i, 10 * eps, "function %d at point %d", i, k);
      }
    }
    CHECK_OK(CeedBasisDestroy(&basis));
  }
}

// Two triangles with one edge in common, which each sees in its own direction: with the flag of an oriented
// restriction the traces from both sides cancel, whatever the values.
TEST_EACH_BACKEND(oriented_restrictions_join_the_traces_of_neighbours) {
  static const CeedInt offsets[2 * EDGES] = {0, 1, 2, 2, 3, 4}; // edge 2 of the first is edge 0 of the second
  static const bool orients[2 * EDGES] = {false, false, false, true, false, false};
  static const CeedScalar dofs[] = {0.3, -1.2, 0.7, 2.5, -0.4};

  for (int is_hdiv = 0; is_hdiv < 2; is_hdiv++) {
    CeedElemRestriction rstr = NULL;
    CeedBasis basis = NULL;
    CeedVector l_vec = NULL, e_vec = NULL;
    CeedInt layout[3];
    const CeedScalar *array;
    double element[2][EDGES], values[2][DIM * POINTS];

    CHECK_OK(CeedElemRestrictionCreateOriented(ceed, 2, EDGES, 1, 1, 5, CEED_MEM_HOST, CEED_COPY_VALUES,
                                               offsets, orients, &rstr));
    CHECK_OK(CeedElemRestrictionCreateVector(rstr, &l_vec, &e_vec));
    CHECK_OK(CeedVectorSetArray(l_vec, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)dofs));
    CHECK_OK(CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, l_vec, e_vec, CEED_REQUEST_IMMEDIATE));
    CHECK_OK(CeedElemRestrictionGetELayout(rstr, layout));
    CHECK_OK(CeedVectorGetArrayRead(e_vec, CEED_MEM_HOST, &array));
    for (int k = 0; k < 2 * EDGES; k++) {
      element[k / EDGES][k % EDGES] = (double)array[k % EDGES * layout[0] + k / EDGES * layout[2]];
    }
    CHECK_OK(CeedVectorRestoreArrayRead(e_vec, &array));
    CHECK_OK(create_basis(ceed, is_hdiv, &basis));
    for (int e = 0; e < 2; e++) CHECK_OK(evaluate(ceed, basis, CEED_EVAL_INTERP, element[e], values[e]));
    for (int j = 0; j < ON_EDGE; j++) {
      double first = trace(is_hdiv, 2 * ON_EDGE + j, values[0]),
             second = trace(is_hdiv, ON_EDGE - 1 - j, values[1]);

      CHECK_NEAR(first, -second, 20 * eps, "point %d of the common edge", j);
      CHECK_NEAR(first, dofs[2], 20 * eps, "point %d of the common edge", j);
    }
    CHECK_OK(CeedBasisDestroy(&basis));
    CHECK_OK(CeedVectorDestroy(&l_vec));
    CHECK_OK(CeedVectorDestroy(&e_vec));
    CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  }
}

// ---- Diagrams that commute ----

// A smooth field, its divergence and curl.
static void field(const double x[DIM], double value[DIM]) {
  value[0] = 1 + 2 * x[0] - x[1] + 3 * x[0] * x[0] + x[0] * x[1];
  value[1] = -1 + x[0] + 4 * x[1] - 2 * x[0] * x[1] + x[1] * x[1];
}
static double field_divergence(const double x[DIM]) { return 2 + 6 * x[0] + x[1] + 4 - 2 * x[0] + 2 * x[1]; }
static double field_curl(const double x[DIM]) { return 1 - 2 * x[1] - (-1 + x[0]); }

// Flux through (or circulation along) edge i: Simpson's rule is exact for quadratic fields.
static double degree_of_freedom(bool is_hdiv, int i) {
  static const double weight[3] = {1.0 / 6, 4.0 / 6, 1.0 / 6};
  double t[DIM], sum = 0;

  edge_vector(i, t);
  for (int j = 0; j < 3; j++) {
    double x[DIM], value[DIM];

    edge_point(i, 0.5 * j, x);
    field(x, value);
    sum += weight[j] * (is_hdiv ? t[1] * value[0] - t[0] * value[1] : t[0] * value[0] + t[1] * value[1]);
  }
  return sum;
}

// The mean of a linear function over the triangle is its value at the centre.
TEST_EACH_BACKEND(derivatives_of_interpolants_are_means_of_derivatives) {
  static const double centre[DIM] = {1.0 / 3, 1.0 / 3};

  for (int is_hdiv = 0; is_hdiv < 2; is_hdiv++) {
    CeedBasis basis = NULL;
    double dofs[EDGES], values[POINTS], wanted = is_hdiv ? field_divergence(centre) : field_curl(centre);

    CHECK_OK(create_basis(ceed, is_hdiv, &basis));
    for (int i = 0; i < EDGES; i++) dofs[i] = degree_of_freedom(is_hdiv, i);
    CHECK_OK(evaluate(ceed, basis, is_hdiv ? CEED_EVAL_DIV : CEED_EVAL_CURL, dofs, values));
    // Three edges, three points each, of values up to 10.
    for (int k = 0; k < POINTS; k++) CHECK_NEAR(values[k], wanted, 200 * eps, "point %d", k);
    CHECK_OK(CeedBasisDestroy(&basis));
  }
}

// The edge interpolant of a gradient is the gradient of the nodal interpolant, and has no curl.
TEST_EACH_BACKEND(interpolants_of_gradients_are_gradients_of_interpolants) {
  static const double nodal[3] = {0.3, -1.7, 2.2}; // gradient (nodal[1] - nodal[0], nodal[2] - nodal[0])
  CeedBasis basis = NULL;
  double dofs[EDGES], values[DIM * POINTS], curl[POINTS];

  for (int i = 0; i < EDGES; i++) dofs[i] = nodal[(i + 2) % 3] - nodal[(i + 1) % 3];
  CHECK_OK(create_basis(ceed, false, &basis));
  CHECK_OK(evaluate(ceed, basis, CEED_EVAL_INTERP, dofs, values));
  CHECK_OK(evaluate(ceed, basis, CEED_EVAL_CURL, dofs, curl));
  for (int k = 0; k < POINTS; k++) {
    CHECK_NEAR(values[k], nodal[1] - nodal[0], 50 * eps, "d/dx at point %d", k);
    CHECK_NEAR(values[POINTS + k], nodal[2] - nodal[0], 50 * eps, "d/dy at point %d", k);
    CHECK_NEAR(curl[k], 0, 50 * eps, "curl at point %d", k);
  }
  CHECK_OK(CeedBasisDestroy(&basis));
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(traces_on_an_edge_depend_on_the_degree_of_freedom_of_that_edge_alone,
                        oriented_restrictions_join_the_traces_of_neighbours,
                        derivatives_of_interpolants_are_means_of_derivatives,
                        interpolants_of_gradients_are_gradients_of_interpolants));
}
