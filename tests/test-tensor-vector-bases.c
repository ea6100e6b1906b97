// SPDX-License-Identifier: BSD-2-Clause
// Raviart-Thomas and Nedelec bases on quadrilaterals and hexahedra: the polynomials they hold, traces,
// diagrams that commute, and that they do what a basis with the same matrices does. Operators:
// test-tensor-vector-operators.c.
#include "tests/derham.h"

#include <ceed/backend.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_ORDER = 4,
  MAX_Q = 6,
  MAX_POINTS = MAX_Q * MAX_Q * MAX_Q,
  MAX_NODES = 300,
  MAX_VALUES = 3 * MAX_POINTS
};

// Sums of up to 300 products of functionals up to 1 and functions up to 20, derivatives up to 100.
static const double tolerance = 2000;

static const DerhamKind vector_kinds[] = {HCURL, HDIV};

// Calls `check` for both spaces, two and three dimensions, orders 1 .. 4; backends that compile kernels for
// each basis: orders 1 and 3.
static void with_spaces(Ceed ceed, CeedQuadMode mode, CeedInt more_points,
                        void (*check)(const DerhamSpace *space, CeedBasis basis)) {
  for (int i = 0; i < 4 * MAX_ORDER; i++) {
    const DerhamSpace space = {vector_kinds[i & 1], 2 + (i >> 1 & 1), 1 + i / 4};
    CeedBasis basis = NULL;

    if (tap_compiles_bases(ceed) && space.order % 2 == 0) continue;
    CHECK_OK(derham_create_basis(ceed, &space, 1, space.order + more_points, mode, &basis));
    check(&space, basis);
    CeedBasisDestroy(&basis);
    if (tap_failed()) return;
  }
}

// Points of the basis: x [3] of point q; what is beyond dim is 0.
static void point_of(CeedBasis basis, CeedInt q, double x[3]) {
  CeedInt dim, Q;
  const CeedScalar *q_ref;

  CeedBasisGetDimension(basis, &dim);
  CeedBasisGetNumQuadraturePoints(basis, &Q);
  CeedBasisGetQRef(basis, &q_ref);
  for (CeedInt d = 0; d < 3; d++) x[d] = d < dim ? (double)q_ref[d * Q + q] : 0;
}

static CeedInt num_points(CeedBasis basis) {
  CeedInt Q;

  CeedBasisGetNumQuadraturePoints(basis, &Q);
  return Q;
}

// ---- Polynomials ----

// x^a y^b z^c in one component.
typedef struct {
  CeedInt component, exponent[3];
} Monomial;

static double power(double x, CeedInt n) {
  double result = 1;

  for (CeedInt i = 0; i < n; i++) result *= x;
  return result;
}

static double monomial(const void *data, CeedInt c, const double x[3]) {
  const Monomial *m = data;

  return c != m->component
             ? 0
             : power(x[0], m->exponent[0]) * power(x[1], m->exponent[1]) * power(x[2], m->exponent[2]);
}

static double slope(const Monomial *m, CeedInt c, CeedInt d, const double x[3]) {
  Monomial lower = *m;

  if (c != m->component || m->exponent[d] == 0) return 0;
  lower.exponent[d]--;
  return m->exponent[d] * monomial(&lower, c, x);
}

// Row `row` of DIV or CURL.
static double derivative(const DerhamSpace *space, const Monomial *m, CeedInt row, const double x[3]) {
  if (space->kind == HDIV)
    return slope(m, 0, 0, x) + slope(m, 1, 1, x) + (space->dim == 3 ? slope(m, 2, 2, x) : 0);
  if (space->dim == 2) return slope(m, 1, 0, x) - slope(m, 0, 1, x);
  return slope(m, (row + 2) % 3, (row + 1) % 3, x) - slope(m, (row + 1) % 3, (row + 2) % 3, x);
}

static void check_monomial(const DerhamSpace *space, CeedBasis basis, const Monomial *m) {
  const CeedInt Q = num_points(basis), rows = space->kind == HCURL && space->dim == 3 ? 3 : 1;
  double nodes[MAX_NODES], values[MAX_VALUES], derivatives[MAX_VALUES];

  derham_interpolate(space, monomial, m, nodes);
  CHECK_OK(derham_apply(basis, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, nodes, values));
  CHECK_OK(derham_apply(basis, CEED_NOTRANSPOSE, derham_derivative(space->kind), nodes, derivatives));
  for (CeedInt q = 0; q < Q; q++) {
    double x[3];

    point_of(basis, q, x);
    for (CeedInt c = 0; c < space->dim; c++)
      CHECK_NEAR(values[c * Q + q], monomial(m, c, x), tolerance * eps, "order %d, component %d",
                 (int)space->order, (int)c);
    for (CeedInt r = 0; r < rows; r++)
      CHECK_NEAR(derivatives[r * Q + q], derivative(space, m, r, x), 5 * tolerance * eps, "order %d, row %d",
                 (int)space->order, (int)r);
  }
}

// As many nodes as monomials, each of which is what its functionals say: the functionals determine the
// polynomials of the space, and the basis is theirs. On backends with kernels of their own a third of them.
static void check_polynomials(const DerhamSpace *space, CeedBasis basis) {
  const CeedInt P = derham_num_nodes(space), step = tap_compiles_bases(CeedBasisReturnCeed(basis)) ? 7 : 1;
  const CeedInt k = space->order;
  CeedInt found;

  CHECK_OK(CeedBasisGetNumNodes(basis, &found));
  CHECK(found == P, "%d nodes, wanted %d", (int)found, (int)P);
  CHECK(P == (space->kind == HDIV ? space->dim * (k + 1) * CeedIntPow(k, space->dim - 1)
                                  : space->dim * k * CeedIntPow(k + 1, space->dim - 1)),
        "%d nodes", (int)P);
  for (CeedInt n = 0; n < P && !tap_failed(); n += step) {
    const DerhamNode node = derham_node(space, n); // exponents run like the nodes
    const Monomial m = {node.component, {node.index[0], node.index[1], node.index[2]}};
    check_monomial(space, basis, &m);
  }
}

TEST_EACH_BACKEND(polynomials_of_the_space_are_reproduced_by_their_functionals) {
  with_spaces(ceed, CEED_GAUSS, 1, check_polynomials);
}

// ---- Traces ----

// Normal (HDIV) or tangential (HCURL) component c on the faces across direction d.
static bool is_trace(const DerhamSpace *space, CeedInt c, CeedInt d) {
  return (space->kind == HDIV) == (c == d);
}

static void check_trace_of(const DerhamSpace *space, const DerhamNode *node, CeedInt Q_1d, CeedInt Q,
                           const double *values) {
  for (CeedInt q = 0; q < Q; q++) {
    const CeedInt at[3] = {q % Q_1d, q / Q_1d % Q_1d, q / Q_1d / Q_1d};
    for (CeedInt i = 0; i < space->dim * space->dim; i++) {
      const CeedInt c = i / space->dim, d = i % space->dim;
      if (!is_trace(space, c, d) || (at[d] != 0 && at[d] != Q_1d - 1)) continue;
      const CeedInt on_face = at[d] == 0 ? 0 : space->order;
      // The nodes are the ends of the interval, where polynomials are 0 or 1 without rounding.
      if (node->component != c || node->index[d] != on_face)
        CHECK(values[c * Q + q] == 0, "component %d across direction %d at point %d: %g", (int)c, (int)d,
              (int)q, values[c * Q + q]);
    }
  }
}

static void check_traces(const DerhamSpace *space, CeedBasis basis) {
  const CeedInt P = derham_num_nodes(space), step = tap_compiles_bases(CeedBasisReturnCeed(basis)) ? 5 : 1;
  double nodes[MAX_NODES] = {0}, values[MAX_VALUES];

  for (CeedInt n = 0; n < P && !tap_failed(); n += step) {
    const DerhamNode node = derham_node(space, n);
    nodes[n] = 1;
    CHECK_OK(derham_apply(basis, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, nodes, values));
    nodes[n] = 0;
    check_trace_of(space, &node, space->order + 2, num_points(basis), values);
  }
}

TEST_EACH_BACKEND(traces_on_a_face_depend_on_the_nodes_of_that_face_alone) {
  with_spaces(ceed, CEED_GAUSS_LOBATTO, 2, check_traces);
}

// Component `axis` of the box at a point of an element whose place on the grid of all points is `at`.
typedef struct {
  CeedInt at[3];
  double value[3];
} PointValue;

static PointValue see_from_box(const DerhamElement *e, CeedInt dim, CeedInt Q_1d, CeedInt q, CeedInt Q,
                               const double *values) {
  PointValue v = {0};

  for (CeedInt d = 0, rest = q; d < dim; d++, rest /= Q_1d) {
    const CeedInt i = e->sign[d] > 0 ? rest % Q_1d : Q_1d - 1 - rest % Q_1d;
    v.at[e->axis[d]] = e->corner[e->axis[d]] * (Q_1d - 1) + i;
    v.value[e->axis[d]] = e->sign[d] * values[d * Q + q];
  }
  return v;
}

// All points that elements e and f have in common lie on faces across the directions in which their corners
// differ.
static void check_pair(const DerhamSpace *space, CeedInt num_1d, CeedInt Q_1d, CeedInt e, CeedInt f,
                       const double *of_e, const double *of_f, CeedInt *num_compared) {
  const CeedInt Q = CeedIntPow(Q_1d, space->dim);
  const DerhamElement first = derham_element(space->dim, num_1d, e),
                      second = derham_element(space->dim, num_1d, f);
  CeedInt across = -1, num = 0;

  for (CeedInt d = 0; d < space->dim; d++) {
    if (first.corner[d] == second.corner[d]) continue;
    num += first.corner[d] - second.corner[d] == 1 || first.corner[d] - second.corner[d] == -1 ? 1 : 2;
    across = d;
  }
  if (num != 1) return; // no face in common
  for (CeedInt i = 0; i < Q * Q; i++) {
    const PointValue a = see_from_box(&first, space->dim, Q_1d, i / Q, Q, of_e),
                     b = see_from_box(&second, space->dim, Q_1d, i % Q, Q, of_f);
    if (memcmp(a.at, b.at, sizeof(a.at)) != 0) continue;
    for (CeedInt c = 0; c < space->dim; c++) {
      if (!is_trace(space, c, across)) continue;
      (*num_compared)++;
      CHECK_NEAR(a.value[c], b.value[c], tolerance * eps, "elements %d and %d, component %d", (int)e, (int)f,
                 (int)c);
    }
  }
}

// Values [elem][MAX_VALUES] of random nodes of the box.
static int evaluate_box(CeedBasis basis, CeedElemRestriction rstr, CeedInt num_elem, CeedInt P,
                        double *values) {
  CeedVector l_vec = NULL, e_vec = NULL;
  CeedSize length;
  CeedInt layout[3];
  uint64_t seed = 7;
  double nodes[MAX_NODES];

  CeedCall(CeedElemRestrictionGetLVectorSize(rstr, &length));
  CeedCall(CeedElemRestrictionGetELayout(rstr, layout));
  double *random = reference_new_random(length, &seed);
  l_vec = reference_vector(CeedBasisReturnCeed(basis), length, random);
  CeedCall(CeedElemRestrictionCreateVector(rstr, NULL, &e_vec));
  CeedCall(CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, l_vec, e_vec, CEED_REQUEST_IMMEDIATE));
  double *all = reference_new_values(e_vec);
  for (CeedInt e = 0; e < num_elem; e++) {
    for (CeedInt i = 0; i < P; i++) nodes[i] = all[i * layout[0] + e * layout[2]];
    CeedCall(derham_apply(basis, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, nodes, values + (size_t)e * MAX_VALUES));
  }
  free(random);
  free(all);
  CeedVectorDestroy(&l_vec);
  CeedVectorDestroy(&e_vec);
  return CEED_ERROR_SUCCESS;
}

// Elements that look at a box along permuted and reversed axes.
static void check_box(const DerhamSpace *space, CeedBasis basis) {
  const CeedInt num_1d = 2, num_elem = CeedIntPow(num_1d, space->dim), Q_1d = space->order + 1;
  CeedElemRestriction rstr = NULL;
  CeedInt num_compared = 0;
  double *values = reference_new((CeedSize)num_elem * MAX_VALUES);

  if (space->order > 3) {
    free(values);
    return;
  }
  CHECK_OK(derham_create_restriction(CeedBasisReturnCeed(basis), space, num_1d, 1, &rstr));
  CHECK_OK(evaluate_box(basis, rstr, num_elem, derham_num_nodes(space), values));
  for (CeedInt e = 0; e < num_elem; e++) {
    for (CeedInt f = 0; f < e && !tap_failed(); f++)
      check_pair(space, num_1d, Q_1d, e, f, values + (size_t)e * MAX_VALUES, values + (size_t)f * MAX_VALUES,
                 &num_compared);
  }
  free(values);
  CeedElemRestrictionDestroy(&rstr);
  CHECK(num_compared > 0, "no face was compared");
}

TEST_EACH_BACKEND(oriented_restrictions_make_traces_continuous) {
  with_spaces(ceed, CEED_GAUSS_LOBATTO, 1, check_box);
}

// ---- Diagrams that commute ----

// A potential, a field, and their derivatives: waves a sin(k . x + f), of which no derivative is a
// polynomial.
static const double wave[4][5] = {{1, 0.7, -0.4, 0.5, 0.3},
                                  {0.8, 0.5, 0.9, -0.3, 1},
                                  {-1.2, -0.2, 0.6, 0.8, -0.5},
                                  {0.9, 0.6, 0.3, 0.4, 2}};

static double argument(const double *w, const double x[3]) {
  return w[1] * x[0] + w[2] * x[1] + w[3] * x[2] + w[4];
}
static double wave_value(const double *w, const double x[3]) { return w[0] * sin(argument(w, x)); }
static double wave_slope(const double *w, CeedInt d, const double x[3]) {
  return w[0] * w[1 + d] * cos(argument(w, x));
}

static double potential(const void *dim, CeedInt c, const double x[3]) {
  (void)dim, (void)c;
  return wave_value(wave[3], x);
}
static double potential_grad(const void *dim, CeedInt c, const double x[3]) {
  (void)dim;
  return wave_slope(wave[3], c, x);
}
static double field(const void *dim, CeedInt c, const double x[3]) {
  (void)dim;
  return wave_value(wave[c], x);
}
static double field_div(const void *dim, CeedInt c, const double x[3]) {
  double sum = 0;

  (void)c;
  for (CeedInt d = 0; d < *(const CeedInt *)dim; d++) sum += wave_slope(wave[d], d, x);
  return sum;
}
static double field_curl(const void *dim, CeedInt c, const double x[3]) {
  if (*(const CeedInt *)dim == 2) return wave_slope(wave[1], 0, x) - wave_slope(wave[0], 1, x);
  const CeedInt i = (c + 1) % 3, j = (c + 2) % 3;
  return wave_slope(wave[j], i, x) - wave_slope(wave[i], j, x);
}

// The derivative of the interpolant of f is the interpolant of its derivative df, in the next space.
static void check_commutes(Ceed ceed, const DerhamSpace *from, DerhamField f, DerhamKind to, DerhamField df) {
  const DerhamSpace next = {to, from->dim, from->order};
  CeedBasis basis = NULL, next_basis = NULL;
  double nodes[MAX_NODES], next_nodes[MAX_NODES], found[MAX_VALUES], wanted[MAX_VALUES];
  CeedInt q_comp;

  CHECK_OK(derham_create_basis(ceed, from, 1, from->order + 1, CEED_GAUSS, &basis));
  CHECK_OK(derham_create_basis(ceed, &next, 1, from->order + 1, CEED_GAUSS, &next_basis));
  derham_interpolate(from, f, &from->dim, nodes);
  derham_interpolate(&next, df, &from->dim, next_nodes);
  CHECK_OK(derham_apply(basis, CEED_NOTRANSPOSE, derham_derivative(from->kind), nodes, found));
  CHECK_OK(derham_apply(next_basis, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, next_nodes, wanted));
  CHECK_OK(CeedBasisGetNumQuadratureComponents(basis, derham_derivative(from->kind), &q_comp));
  for (CeedInt i = 0; i < q_comp * num_points(basis); i++)
    CHECK_NEAR(found[i], wanted[i], tolerance * eps, "from space %d to %d, %dD, order %d", from->kind, to,
               (int)from->dim, (int)from->order);
  CeedBasisDestroy(&basis);
  CeedBasisDestroy(&next_basis);
}

static void with_orders(Ceed ceed, void (*check)(Ceed ceed, CeedInt dim, CeedInt order)) {
  for (CeedInt i = 0; i < 2 * MAX_ORDER && !tap_failed(); i++) {
    if (!tap_compiles_bases(ceed) || i / 2 == 1) check(ceed, 2 + i % 2, 1 + i / 2);
  }
}

static void check_grad(Ceed ceed, CeedInt dim, CeedInt order) {
  const DerhamSpace space = {H1, dim, order};
  check_commutes(ceed, &space, potential, HCURL, potential_grad);
}

static void check_curl(Ceed ceed, CeedInt dim, CeedInt order) {
  const DerhamSpace space = {HCURL, dim, order};
  check_commutes(ceed, &space, field, dim == 2 ? L2 : HDIV, field_curl);
}

static void check_div(Ceed ceed, CeedInt dim, CeedInt order) {
  const DerhamSpace space = {HDIV, dim, order};
  check_commutes(ceed, &space, field, L2, field_div);
}

TEST_EACH_BACKEND(gradients_of_interpolants_are_interpolants_of_gradients) { with_orders(ceed, check_grad); }
TEST_EACH_BACKEND(curls_of_interpolants_are_interpolants_of_curls) { with_orders(ceed, check_curl); }
TEST_EACH_BACKEND(divergences_of_interpolants_are_interpolants_of_divergences) {
  with_orders(ceed, check_div);
}

// A derivative of a derivative is zero: curl I grad p, and div I curl u.
static void check_exactness(Ceed ceed, CeedInt dim, CeedInt order) {
  for (int i = 0; i < 2; i++) {
    const DerhamSpace space = {i ? HDIV : HCURL, dim, order};
    const CeedInt rows = i == 0 && dim == 3 ? 3 : 1;
    CeedBasis basis = NULL;
    double nodes[MAX_NODES], found[MAX_VALUES];

    if (i == 1 && dim == 2) return;
    CHECK_OK(derham_create_basis(ceed, &space, 1, order + 1, CEED_GAUSS, &basis));
    derham_interpolate(&space, i ? field_curl : potential_grad, &dim, nodes);
    CHECK_OK(derham_apply(basis, CEED_NOTRANSPOSE, derham_derivative(space.kind), nodes, found));
    for (CeedInt k = 0; k < rows * num_points(basis); k++)
      CHECK_NEAR(found[k], 0, tolerance * eps, "%s, %dD, order %d", i ? "div curl" : "curl grad", (int)dim,
                 (int)order);
    CeedBasisDestroy(&basis);
  }
}

TEST_EACH_BACKEND(derivatives_of_derivatives_vanish) { with_orders(ceed, check_exactness); }

// ---- The same as by matrices ----

static int create_twin(CeedBasis basis, const DerhamSpace *space, CeedInt num_comp, CeedBasis *twin) {
  Ceed ceed = CeedBasisReturnCeed(basis);
  const CeedElemTopology topology = space->dim == 2 ? CEED_TOPOLOGY_QUAD : CEED_TOPOLOGY_HEX;
  const CeedScalar *interp, *derivative, *points, *weights;

  CeedCall(CeedBasisGetInterp(basis, &interp));
  CeedCall((space->kind == HDIV ? CeedBasisGetDiv : CeedBasisGetCurl)(basis, &derivative));
  CeedCall(CeedBasisGetQRef(basis, &points));
  CeedCall(CeedBasisGetQWeights(basis, &weights));
  return (space->kind == HDIV ? CeedBasisCreateHdiv : CeedBasisCreateHcurl)(
      ceed, topology, num_comp, derham_num_nodes(space), num_points(basis), interp, derivative, points,
      weights, twin);
}

// num_elem elements in the layout of the backend, which is the same for both.
static void compare(CeedBasis basis, CeedBasis twin, CeedInt num_elem, CeedTransposeMode t_mode,
                    CeedEvalMode mode, CeedSize num_in, CeedSize num_out) {
  Ceed ceed = CeedBasisReturnCeed(basis);
  uint64_t seed = 5;
  double *input = reference_new_random(num_in * num_elem, &seed);
  CeedVector u = reference_vector(ceed, num_in * num_elem, input), v[2] = {NULL, NULL};
  double *result[2];

  for (int i = 0; i < 2; i++) {
    CHECK_OK(CeedVectorCreate(ceed, num_out * num_elem, &v[i]));
    CHECK_OK(CeedVectorSetValue(v[i], 1));
    CHECK_OK(CeedBasisApply(i ? twin : basis, num_elem, t_mode, mode, u, v[i]));
    if (t_mode == CEED_TRANSPOSE)
      CHECK_OK(CeedBasisApplyAdd(i ? twin : basis, num_elem, t_mode, mode, u, v[i]));
    result[i] = reference_new_values(v[i]);
  }
  const double size = reference_largest(num_out * num_elem, result[1]);
  CHECK(size > 0, "all zero");
  CHECK_NEAR(reference_distance(num_out * num_elem, result[0], result[1]), 0, tolerance * eps * size,
             "mode %s", CeedEvalModes[mode]);
  for (int i = 0; i < 2; i++) {
    free(result[i]);
    CeedVectorDestroy(&v[i]);
  }
  free(input);
  CeedVectorDestroy(&u);
}

static void check_twin(Ceed ceed, const DerhamSpace *space, CeedInt num_comp, CeedInt num_elem) {
  CeedBasis basis = NULL, twin = NULL;
  const CeedEvalMode modes[] = {CEED_EVAL_INTERP, derham_derivative(space->kind)};

  CHECK_OK(derham_create_basis(ceed, space, num_comp, space->order + 1, CEED_GAUSS, &basis));
  CHECK_OK(create_twin(basis, space, num_comp, &twin));
  const CeedSize nodes = (CeedSize)num_comp * derham_num_nodes(space);
  for (int m = 0; m < 2 && !tap_failed(); m++) {
    CeedInt q_comp;
    CHECK_OK(CeedBasisGetNumQuadratureComponents(basis, modes[m], &q_comp));
    const CeedSize points = (CeedSize)q_comp * num_comp * num_points(basis);
    compare(basis, twin, num_elem, CEED_NOTRANSPOSE, modes[m], nodes, points);
    if (!tap_failed()) compare(basis, twin, num_elem, CEED_TRANSPOSE, modes[m], points, nodes);
  }
  CeedBasisDestroy(&basis);
  CeedBasisDestroy(&twin);
}

// One element and 19: some that fill vectors of lanes, and a rest.
static void check_twins(Ceed ceed, CeedInt dim, CeedInt order) {
  for (int i = 0; i < 8 && !tap_failed(); i++) {
    const DerhamSpace space = {vector_kinds[i & 1], dim, order};
    check_twin(ceed, &space, i & 2 ? 2 : 1, i & 4 ? 19 : 1);
  }
}

TEST_EACH_BACKEND(tensor_bases_do_what_bases_with_their_matrices_do) { with_orders(ceed, check_twins); }

TEST_EACH_BACKEND(weights_are_those_of_the_rule) {
  for (CeedInt dim = 2; dim <= 3; dim++) {
    const DerhamSpace space = {HDIV, dim, 2};
    CeedBasis basis = NULL;
    CeedVector w = NULL;
    double rule[4], *found, sum = 0;

    CHECK_OK(derham_create_basis(ceed, &space, 1, 4, CEED_GAUSS, &basis));
    CHECK_OK(CeedVectorCreate(ceed, 5 * num_points(basis), &w));
    CHECK_OK(CeedVectorSetValue(w, 0));
    CHECK_OK(CeedBasisApply(basis, 5, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, w));
    found = reference_new_values(w);
    for (CeedInt i = 0; i < 5 * num_points(basis); i++) sum += found[i];
    CHECK_NEAR(sum, 5 * power(2, dim), 500 * eps, "volume of 5 elements");
    reference_quadrature(CEED_GAUSS, 4, found, rule);
    const CeedScalar *weights;
    CHECK_OK(CeedBasisGetQWeights(basis, &weights));
    for (CeedInt q = 0; q < num_points(basis); q++)
      CHECK_NEAR(weights[q], rule[q % 4] * rule[q / 4 % 4] * (dim == 3 ? rule[q / 16] : 1), 10 * eps,
                 "point %d", (int)q);
    free(found);
    CeedVectorDestroy(&w);
    CeedBasisDestroy(&basis);
  }
}

// ---- Adjoint ----

static void check_adjoint(const DerhamSpace *space, CeedBasis basis) {
  const CeedEvalMode modes[] = {CEED_EVAL_INTERP, derham_derivative(space->kind)};
  uint64_t seed = 3;

  for (int m = 0; m < 2; m++) {
    CeedInt q_comp;
    CHECK_OK(CeedBasisGetNumQuadratureComponents(basis, modes[m], &q_comp));
    const CeedSize P = derham_num_nodes(space), n = (CeedSize)q_comp * num_points(basis);
    double *u = reference_new_random(P, &seed), *v = reference_new_random(n, &seed);
    double *Bu = reference_new(n), *Bv = reference_new(P);
    CHECK_OK(derham_apply(basis, CEED_NOTRANSPOSE, modes[m], u, Bu));
    CHECK_OK(derham_apply(basis, CEED_TRANSPOSE, modes[m], v, Bv));
    // Both are the same sums of P n products.
    CHECK_NEAR(reference_dot(n, Bu, v), reference_dot(P, u, Bv),
               eps * (double)(n + P) * reference_largest(n, Bu) * sqrt((double)n), "mode %s",
               CeedEvalModes[modes[m]]);
    free(u), free(v), free(Bu), free(Bv);
  }
}

TEST_EACH_BACKEND(apply_transpose_is_adjoint) { with_spaces(ceed, CEED_GAUSS, 2, check_adjoint); }

// ---- Tables of the user's ----

// Sizes that all differ, random tables.
typedef struct {
  CeedInt dim, Q_1d, P_1d[9], P; // P: all nodes
  CeedScalar interp[9][4 * 5], grad[9][4 * 5];
  const CeedScalar *interp_1d[9], *grad_1d[9];
} Tables;

static Tables *new_tables(CeedInt dim) {
  static const CeedInt sizes[9] = {3, 1, 2, 4, 5, 2, 1, 3, 4};
  Tables *t = calloc(1, sizeof(*t));
  uint64_t seed = 11;

  t->dim = dim;
  t->Q_1d = 4;
  for (CeedInt i = 0; i < dim * dim; i++) {
    t->P_1d[i] = sizes[i];
    for (CeedInt k = 0; k < t->Q_1d * sizes[i]; k++) {
      t->interp[i][k] = (CeedScalar)tap_uniform(&seed);
      t->grad[i][k] = (CeedScalar)tap_uniform(&seed);
    }
    t->interp_1d[i] = t->interp[i];
    t->grad_1d[i] = t->grad[i];
  }
  for (CeedInt c = 0; c < dim; c++)
    t->P += t->P_1d[c * dim] * t->P_1d[c * dim + 1] * (dim == 3 ? t->P_1d[c * dim + 2] : 1);
  return t;
}

static int create_from(Ceed ceed, const Tables *t, CeedEvalMode derivative, CeedBasis *basis) {
  return RitzBasisCreateTensorVector(ceed, t->dim, 1, derivative, t->P_1d, t->Q_1d, t->interp_1d, t->grad_1d,
                                     NULL, NULL, basis);
}

// Component c at point q, differentiated along `direction` (-1: not), by definition.
static double evaluate_tables(const Tables *t, const double *nodes, CeedInt c, CeedInt direction, CeedInt q) {
  const CeedInt dim = t->dim, *P = &t->P_1d[c * dim], P_2 = dim == 3 ? P[2] : 1;
  double sum = 0;

  for (CeedInt i = 0; i < c; i++)
    nodes += t->P_1d[i * dim] * t->P_1d[i * dim + 1] * (dim == 3 ? t->P_1d[i * dim + 2] : 1);
  for (CeedInt n = 0; n < P[0] * P[1] * P_2; n++) {
    const CeedInt at[3] = {n % P[0], n / P[0] % P[1], n / P[0] / P[1]};
    double product = nodes[n];
    for (CeedInt d = 0, rest = q; d < dim; d++, rest /= t->Q_1d)
      product *= (double)(d == direction ? t->grad : t->interp)[c * dim + d][rest % t->Q_1d * P[d] + at[d]];
    sum += product;
  }
  return sum;
}

static double derive_tables(const Tables *t, CeedEvalMode mode, const double *nodes, CeedInt row, CeedInt q) {
  const CeedInt i = (row + 1) % 3, j = (row + 2) % 3;
  double sum = 0;

  for (CeedInt d = 0; mode == CEED_EVAL_DIV && d < t->dim; d++) sum += evaluate_tables(t, nodes, d, d, q);
  if (mode == CEED_EVAL_DIV) return sum;
  if (t->dim == 2) return evaluate_tables(t, nodes, 1, 0, q) - evaluate_tables(t, nodes, 0, 1, q);
  return evaluate_tables(t, nodes, j, i, q) - evaluate_tables(t, nodes, i, j, q);
}

static void check_tables(Ceed ceed, const Tables *t, CeedEvalMode mode) {
  const CeedInt Q = CeedIntPow(t->Q_1d, t->dim), rows = mode == CEED_EVAL_CURL && t->dim == 3 ? 3 : 1;
  CeedBasis basis = NULL;
  uint64_t seed = 13;
  double *nodes = reference_new_random(t->P, &seed), *values = reference_new(3 * Q),
         *derivatives = reference_new(3 * Q);

  CHECK_OK(create_from(ceed, t, mode, &basis));
  CHECK_OK(derham_apply(basis, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, nodes, values));
  CHECK_OK(derham_apply(basis, CEED_NOTRANSPOSE, mode, nodes, derivatives));
  for (CeedInt q = 0; q < Q; q++) { // sums of at most 40 numbers up to 1
    for (CeedInt c = 0; c < t->dim; c++)
      CHECK_NEAR(values[c * Q + q], evaluate_tables(t, nodes, c, -1, q), 500 * eps, "component %d", (int)c);
    for (CeedInt r = 0; r < rows; r++)
      CHECK_NEAR(derivatives[r * Q + q], derive_tables(t, mode, nodes, r, q), 500 * eps, "row %d", (int)r);
  }
  free(nodes), free(values), free(derivatives);
  CeedBasisDestroy(&basis);
}

TEST_EACH_BACKEND(any_tables_are_contracted_as_they_are_defined) {
  for (int i = 0; i < 4 && !tap_failed(); i++) {
    Tables *t = new_tables(2 + i % 2);
    check_tables(ceed, t, i < 2 ? CEED_EVAL_DIV : CEED_EVAL_CURL);
    free(t);
  }
}

// Tables that no derivative takes may be missing; all are copied.
TEST_EACH_BACKEND(tables_are_copied) {
  for (int i = 0; i < 2; i++) {
    const CeedEvalMode mode = i ? CEED_EVAL_DIV : CEED_EVAL_CURL;
    Tables *t = new_tables(3);
    CeedBasis basis = NULL;
    double *nodes = reference_new(t->P), *values = reference_new(3 * 64);

    for (CeedInt k = 0; k < 9; k++) {
      if ((k / 3 == k % 3) == (mode == CEED_EVAL_CURL)) t->grad_1d[k] = NULL;
    }
    CHECK_OK(create_from(ceed, t, mode, &basis));
    const double wanted = (double)(t->interp[0][0] * t->interp[1][0] * t->interp[2][0]);
    memset(t, 0, sizeof(*t));
    nodes[0] = 1;
    CHECK_OK(derham_apply(basis, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, nodes, values));
    CHECK_NEAR(values[0], wanted, 10 * eps, "first node at the first point");
    CeedBasisDestroy(&basis);
    free(nodes), free(values), free(t);
  }
}

// ---- Queries ----

TEST_EACH_BACKEND(queries_tell_a_basis_of_its_space_without_1d_tables) {
  CeedBasis basis = NULL, copy = NULL;
  CeedFESpace space;
  CeedElemTopology topology;
  CeedInt n;
  CeedSize flops;
  bool is_tensor = true, is_collocated = true;
  const CeedScalar *table;

  CHECK_OK(RitzBasisCreateTensorHdiv(ceed, 3, 2, 2, 3, CEED_GAUSS, &basis));
  CHECK_OK(CeedBasisGetFESpace(basis, &space));
  CHECK_OK(CeedBasisGetTopology(basis, &topology));
  CHECK(space == CEED_FE_SPACE_HDIV && topology == CEED_TOPOLOGY_HEX, "space %d, topology %d", space,
        topology);
  CHECK_OK(CeedBasisIsTensor(basis, &is_tensor));
  CHECK_OK(CeedBasisIsCollocated(basis, &is_collocated));
  CHECK(!is_tensor && !is_collocated, "tensor %d, collocated %d", is_tensor, is_collocated);
  CHECK_ERROR(ceed, CeedBasisGetNumNodes1D(basis, &n), CEED_ERROR_MINOR, "tensor");
  CHECK_ERROR(ceed, CeedBasisGetInterp1D(basis, &table), CEED_ERROR_MINOR, "tensor");
  CHECK_OK(CeedBasisGetNumNodes(basis, &n));
  CHECK(n == 36, "%d nodes", (int)n);
  CHECK_OK(CeedBasisGetNumComponents(basis, &n));
  CHECK(n == 2, "%d components", (int)n);
  CHECK_OK(CeedBasisGetNumQuadratureComponents(basis, CEED_EVAL_INTERP, &n));
  CHECK(n == 3, "%d components of a value", (int)n);
  CHECK_OK(CeedBasisGetFlopsEstimate(basis, CEED_NOTRANSPOSE, CEED_EVAL_DIV, false, 0, &flops));
  // Two components of blocks of 3 x 2 x 2, 2 x 3 x 2 and 2 x 2 x 3 nodes, direction by direction to 3 x 3 x 3
  // points.
  const CeedInt products =
      (3 * 12 + 2 * 18 + 2 * 27) + (2 * 18 + 3 * 18 + 2 * 27) + (2 * 18 + 2 * 27 + 3 * 27);
  CHECK(flops == 2 * 2 * products, "%td flops", flops);
  CHECK_OK(CeedBasisGetCurl(basis, &table));
  CHECK(!table, "an H(div) basis has no curl");
  CHECK_OK(CeedBasisReferenceCopy(basis, &copy));
  CHECK_OK(CeedBasisDestroy(&basis));
  CHECK_OK(CeedBasisGetDiv(copy, &table));
  CHECK(table && CeedBasisGetDiv(copy, &table) == 0, "divergence");
  CHECK_OK(CeedBasisDestroy(&copy));
}

TEST(views_show_the_1d_tables) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedBasis basis = NULL;
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);

  CHECK_OK(RitzBasisCreateTensorHcurl(ceed, 2, 1, 1, 2, CEED_GAUSS, &basis));
  CHECK_OK(CeedBasisView(basis, stream));
  fclose(stream);
  CHECK(strstr(text, "H(curl)") && strstr(text, "interp1d 1 0:") && strstr(text, "grad1d 0 1:") &&
            !strstr(text, "grad1d 0 0:"),
        "%s", text);
  free(text);
  CeedBasisDestroy(&basis);
  CeedDestroy(&ceed);
}

// ---- Misuse ----

typedef int (*Create)(Ceed, CeedInt, CeedInt, CeedInt, CeedInt, CeedQuadMode, CeedBasis *);

TEST_EACH_BACKEND(wrong_sizes_are_refused_with_the_name_of_the_call) {
  static const Create create[] = {RitzBasisCreateTensorHdiv, RitzBasisCreateTensorHcurl};
  static const char *const name[] = {"RitzBasisCreateTensorHdiv: ", "RitzBasisCreateTensorHcurl: "};
  static const struct {
    CeedInt dim, num_comp, order, Q;
    CeedQuadMode mode;
    int code;
  } wrong[] = {{1, 1, 1, 2, CEED_GAUSS, CEED_ERROR_DIMENSION},
               {4, 1, 1, 2, CEED_GAUSS, CEED_ERROR_DIMENSION},
               {2, 0, 1, 2, CEED_GAUSS, CEED_ERROR_DIMENSION},
               {2, 1, 0, 2, CEED_GAUSS, CEED_ERROR_DIMENSION},
               {2, 1, -1, 2, CEED_GAUSS, CEED_ERROR_DIMENSION},
               {2, 1, 1, 0, CEED_GAUSS, CEED_ERROR_DIMENSION},
               {2, 1, 1, 1, CEED_GAUSS_LOBATTO, CEED_ERROR_DIMENSION},
               {2, 1, 1, 2, (CeedQuadMode)7, CEED_ERROR_INCOMPATIBLE},
               {3, 1, 2000000000, 2, CEED_GAUSS, CEED_ERROR_DIMENSION},
               {3, 1, 1, 2000000000, CEED_GAUSS, CEED_ERROR_DIMENSION}};

  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
    for (int k = 0; k < 2; k++) {
      CeedBasis basis = NULL;
      CHECK_ERROR(ceed,
                  create[k](ceed, wrong[i].dim, wrong[i].num_comp, wrong[i].order, wrong[i].Q, wrong[i].mode,
                            &basis),
                  wrong[i].code, name[k]);
      CHECK(!basis, "case %d makes a basis", (int)i);
    }
  }
}

TEST_EACH_BACKEND(wrong_tables_are_refused) {
  Tables *t = new_tables(3);
  CeedBasis basis = NULL;
  const char *const call = "RitzBasisCreateTensorVector";

  CHECK_ERROR(ceed, create_from(ceed, t, CEED_EVAL_GRAD, &basis), CEED_ERROR_INCOMPATIBLE, call);
  t->P_1d[4] = 0;
  CHECK_ERROR(ceed, create_from(ceed, t, CEED_EVAL_DIV, &basis), CEED_ERROR_DIMENSION, call);
  t->P_1d[4] = 2000000000;
  t->P_1d[5] = 2000000000;
  CHECK_ERROR(ceed, create_from(ceed, t, CEED_EVAL_DIV, &basis), CEED_ERROR_DIMENSION, call);
  t->P_1d[4] = 5;
  t->P_1d[5] = 2;
  t->interp_1d[5] = NULL;
  CHECK_ERROR(ceed, create_from(ceed, t, CEED_EVAL_DIV, &basis), CEED_ERROR_INCOMPATIBLE,
              "component 1 needs a table of values in direction 2");
  t->interp_1d[5] = t->interp[5];
  t->grad_1d[4] = NULL;
  CHECK_ERROR(ceed, create_from(ceed, t, CEED_EVAL_DIV, &basis), CEED_ERROR_INCOMPATIBLE,
              "component 1 needs a table of derivatives in direction 1");
  CHECK(!basis, "a basis was made");
  CHECK_OK(create_from(ceed, t, CEED_EVAL_CURL, &basis));
  CeedBasisDestroy(&basis);
  t->Q_1d = 0;
  CHECK_ERROR(ceed, create_from(ceed, t, CEED_EVAL_CURL, &basis), CEED_ERROR_DIMENSION, call);
  free(t);
}

TEST_EACH_BACKEND(modes_of_another_space_are_refused) {
  CeedBasis basis = NULL;
  CeedVector u = NULL, v = NULL;

  CHECK_OK(RitzBasisCreateTensorHcurl(ceed, 2, 1, 1, 2, CEED_GAUSS, &basis));
  CHECK_OK(CeedVectorCreate(ceed, 4, &u));
  CHECK_OK(CeedVectorCreate(ceed, 8, &v));
  CHECK_OK(CeedVectorSetValue(u, 1));
  CHECK_ERROR(ceed, CeedBasisApply(basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_DIV, u, v), CEED_ERROR_UNSUPPORTED,
              "no mode");
  CHECK_ERROR(ceed, CeedBasisApply(basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, v), CEED_ERROR_UNSUPPORTED,
              "no mode");
  CHECK_ERROR(ceed, CeedBasisApply(basis, 2, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v), CEED_ERROR_DIMENSION,
              "too short");
  CHECK_OK(CeedBasisApply(basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_CURL, u, v));
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedBasisDestroy(&basis);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(polynomials_of_the_space_are_reproduced_by_their_functionals,
                        traces_on_a_face_depend_on_the_nodes_of_that_face_alone,
                        oriented_restrictions_make_traces_continuous,
                        gradients_of_interpolants_are_interpolants_of_gradients,
                        curls_of_interpolants_are_interpolants_of_curls,
                        divergences_of_interpolants_are_interpolants_of_divergences,
                        derivatives_of_derivatives_vanish, tensor_bases_do_what_bases_with_their_matrices_do,
                        weights_are_those_of_the_rule, apply_transpose_is_adjoint,
                        any_tables_are_contracted_as_they_are_defined, tables_are_copied,
                        queries_tell_a_basis_of_its_space_without_1d_tables, views_show_the_1d_tables,
                        wrong_sizes_are_refused_with_the_name_of_the_call, wrong_tables_are_refused,
                        modes_of_another_space_are_refused));
}
