// SPDX-License-Identifier: BSD-2-Clause
// Bases: what they evaluate is exact on polynomials, their transposes are adjoint, dense ones are their
// tables. Tables of Lagrange polynomials beyond CeedScalar's digits: test-fe.c. Evaluation at arbitrary
// points is not tested here.
#include "tests/tap.h"

#include "tests/reference.h"
#include <ceed/backend.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Helpers ----

// NaN stays.
static void keep_worst(double error, double *worst) {
  if (error > *worst || isnan(error)) *worst = error;
}

// A basis and its sizes.
typedef struct {
  CeedBasis basis; // owned
  CeedInt dim, num_comp, P, Q;
} Shape;

static Shape shape_of(CeedBasis basis) {
  Shape s = {.basis = basis};

  if (!basis) return s;
  CeedBasisGetDimension(basis, &s.dim);
  CeedBasisGetNumComponents(basis, &s.num_comp);
  CeedBasisGetNumNodes(basis, &s.P);
  CeedBasisGetNumQuadraturePoints(basis, &s.Q);
  return s;
}

static CeedInt num_directions(const Shape *s, CeedEvalMode mode) {
  CeedInt q_comp = 0;

  CeedBasisGetNumQuadratureComponents(s->basis, mode, &q_comp);
  return q_comp;
}

// Lengths of the vectors of one element.
static CeedSize num_nodal(const Shape *s) { return (CeedSize)s->num_comp * s->P; }
static CeedSize num_quadrature(const Shape *s, CeedEvalMode mode) {
  return (CeedSize)num_directions(s, mode) * s->num_comp * s->Q;
}

// v = B u or B^T u, by the library. Returns its code; v is left alone on failure.
static int apply(const Shape *s, CeedInt num_elem, CeedTransposeMode t_mode, CeedEvalMode mode,
                 const double *u, double *v) {
  Ceed ceed = CeedBasisReturnCeed(s->basis);
  CeedSize nodal = num_elem * num_nodal(s), quadrature = num_elem * num_quadrature(s, mode);
  bool transposes = t_mode == CEED_TRANSPOSE;
  CeedVector from = reference_vector(ceed, transposes ? quadrature : nodal, u), to = NULL;
  int ierr = CeedVectorCreate(ceed, transposes ? nodal : quadrature, &to);

  if (!ierr) ierr = CeedBasisApply(s->basis, num_elem, t_mode, mode, from, to);
  if (!ierr) reference_values(to, v);
  CeedVectorDestroy(&from);
  CeedVectorDestroy(&to);
  return ierr;
}

// w [Q]
static int apply_weights(const Shape *s, CeedInt num_elem, double *w) {
  CeedVector to = NULL;
  int ierr = CeedVectorCreate(CeedBasisReturnCeed(s->basis), (CeedSize)num_elem * s->Q, &to);

  if (!ierr)
    ierr = CeedBasisApply(s->basis, num_elem, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, to);
  if (!ierr) reference_values(to, w);
  CeedVectorDestroy(&to);
  return ierr;
}

// The bases of these tests: tensor products of 1D Lagrange bases.
typedef struct {
  CeedInt dim, num_comp, P, Q; // P, Q in one direction
  CeedQuadMode mode;
} Lagrange;

static const char *describe(const Lagrange *b) {
  static char text[128];

  snprintf(text, sizeof(text), "dim %d, %d components, P %d, Q %d, %s", (int)b->dim, (int)b->num_comp,
           (int)b->P, (int)b->Q, CeedQuadModes[b->mode]);
  return text;
}

// All combinations; a check that fails ends them. Where each costs a compilation a part: every dimension,
// number of components and size of a direction, since the steps are prime.
static void with_lagrange(Ceed ceed, CeedInt max_P, void (*check)(const Lagrange *b, const Shape *s)) {
  static const CeedInt steps[] = {31, 13, 1};
  const CeedInt step = tap_compiles_slowly(ceed) ? 61 : tap_compiles_bases(ceed) ? steps[tap_level()] : 1;

  for (CeedInt n = 0; n < 3 * 3 * (max_P - 1) * 5 * 2; n += step) {
    Lagrange b = {.dim = 1 + n % 3, .num_comp = 1 + n / 3 % 3, .P = 2 + n / 9 % (max_P - 1)};
    CeedBasis basis = NULL;

    b.mode = n / (9 * (max_P - 1)) % 2 ? CEED_GAUSS_LOBATTO : CEED_GAUSS;
    b.Q = b.P + n / (18 * (max_P - 1)) - 2;
    if (b.Q < (b.mode == CEED_GAUSS ? 1 : 2)) continue;
    CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, b.dim, b.num_comp, b.P, b.Q, b.mode, &basis));
    Shape s = shape_of(basis);

    check(&b, &s);
    if (tap_failed()) tap_note("%s", describe(&b));
    CeedBasisDestroy(&basis);
    if (tap_failed()) return;
  }
}

// A rounding error of a sum of n products per direction, for tables with entries of size 1: the sums of an
// evaluation in all directions follow each other. Derivatives of polynomials of degree P - 1 have size P^2.
static double table_tolerance(const Lagrange *b, CeedEvalMode mode) {
  double slope = mode == CEED_EVAL_GRAD ? (double)b->P * b->P : 1.0;

  return 4.0 * eps * b->dim * (b->P + b->Q) * slope;
}

// ---- Polynomials ----

// u_c(x) = prod_d f_cd(x_d), each f a sum of Legendre polynomials up to `degree`.
typedef struct {
  int degree;
  double coefficient[3][3][2 * REFERENCE_MAX_1D]; // [component][direction][degree + 1]
} Polynomial;

static Polynomial random_polynomial(int degree, uint64_t *seed) {
  Polynomial f = {.degree = degree};

  reference_fill_random(sizeof(f.coefficient) / sizeof(double), &f.coefficient[0][0][0], seed);
  return f;
}

// f_cd or its derivative at x.
static double evaluate_1d(const Polynomial *f, int c, int d, bool differentiates, double x) {
  double p[2 * REFERENCE_MAX_1D], dp[2 * REFERENCE_MAX_1D], sum = 0.0;

  reference_legendre(f->degree, x, p, dp);
  for (int k = 0; k <= f->degree; k++) sum += f->coefficient[c][d][k] * (differentiates ? dp[k] : p[k]);
  return sum;
}

// values [num_comp][n^dim] at the tensor product of the points x[n]; derivative: direction, or -1 for none.
static void evaluate(const Lagrange *b, const Polynomial *f, int n, const double *x, int derivative,
                     double *values) {
  CeedInt num = CeedIntPow(n, b->dim);

  for (CeedInt c = 0; c < b->num_comp; c++) {
    double table[3][REFERENCE_MAX_1D];

    for (int d = 0; d < b->dim; d++) {
      for (int i = 0; i < n; i++) table[d][i] = evaluate_1d(f, c, d, d == derivative, x[i]);
    }
    for (CeedInt i = 0; i < num; i++) {
      double product = 1.0;

      for (CeedInt d = 0, rest = i; d < b->dim; d++, rest /= n) product *= table[d][rest % n];
      values[(CeedSize)c * num + i] = product;
    }
  }
}

// ---- Exactness ----

// u at the nodes gives u, or its gradient, at the points. Values are as large as the sums of coefficients.
static void check_polynomials(const Lagrange *b, const Shape *s) {
  uint64_t seed = 100;
  double nodes[REFERENCE_MAX_1D], points[REFERENCE_MAX_1D];
  Polynomial f = random_polynomial(b->P - 1, &seed);
  double *u = reference_new(num_nodal(s)), *v = reference_new(num_quadrature(s, CEED_EVAL_GRAD));
  double *exact = reference_new(num_quadrature(s, CEED_EVAL_GRAD)), error[2] = {NAN, NAN}, size;
  CeedSize length = num_quadrature(s, CEED_EVAL_INTERP);

  reference_quadrature(CEED_GAUSS_LOBATTO, b->P, nodes, NULL);
  reference_quadrature(b->mode, b->Q, points, NULL);
  evaluate(b, &f, b->P, nodes, -1, u);
  evaluate(b, &f, b->Q, points, -1, exact);
  size = reference_largest(num_nodal(s), u);
  if (!apply(s, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v)) error[0] = reference_distance(length, v, exact);
  for (int d = 0; d < b->dim; d++) evaluate(b, &f, b->Q, points, d, exact + d * length);
  if (!apply(s, 1, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, v))
    error[1] = reference_distance(b->dim * length, v, exact);
  free(u);
  free(v);
  free(exact);
  CHECK(error[0] <= table_tolerance(b, CEED_EVAL_INTERP) * size, "values are off by %g of %g", error[0],
        size);
  CHECK(error[1] <= table_tolerance(b, CEED_EVAL_GRAD) * size, "gradients are off by %g of %g", error[1],
        size);
}

TEST_EACH_BACKEND(values_and_gradients_of_polynomials_are_exact) {
  with_lagrange(ceed, 8, check_polynomials);
}

// int prod_d f_d = prod_d 2 * (coefficient of the constant in f_d)
static void check_integrals(const Lagrange *b, const Shape *s) {
  uint64_t seed = 200;
  double points[REFERENCE_MAX_1D],
      *w = reference_new(s->Q), *values = reference_new(num_nodal(s) + num_quadrature(s, CEED_EVAL_INTERP));
  Polynomial f = random_polynomial(2 * b->Q - (b->mode == CEED_GAUSS ? 1 : 3), &seed);
  double exact = 1.0;
  int ierr = apply_weights(s, 1, w);

  reference_quadrature(b->mode, b->Q, points, NULL);
  evaluate(b, &f, b->Q, points, -1, values);
  for (int d = 0; d < b->dim; d++) exact *= 2.0 * f.coefficient[0][d][0];
  double integral = reference_dot(s->Q, w, values), sum = 0.0, size = reference_largest(s->Q, values);
  for (CeedInt q = 0; q < s->Q; q++) sum += w[q];
  free(w);
  free(values);
  CHECK_OK(ierr);
  // Round-off of a point changes a polynomial of degree n by n^2 eps; 2^dim is the measure.
  CHECK_NEAR(integral, exact, 8.0 * eps * b->dim * 4.0 * b->Q * b->Q * size, "integral of a polynomial");
  CHECK_NEAR(sum, pow(2.0, b->dim), 4.0 * eps * b->dim * b->Q * pow(2.0, b->dim), "sum of the weights");
}

TEST_EACH_BACKEND(weights_integrate_polynomials_exactly_to_their_degree) {
  with_lagrange(ceed, 8, check_integrals);
}

// Constants: their value is kept, their gradient vanishes.
static void check_constants(const Lagrange *b, const Shape *s) {
  double *u = reference_new(num_nodal(s)), *v = reference_new(num_quadrature(s, CEED_EVAL_GRAD)),
         value_error = NAN, slope = NAN;
  CeedSize length = num_quadrature(s, CEED_EVAL_INTERP);

  for (CeedSize i = 0; i < num_nodal(s); i++) u[i] = 1.0;
  if (!apply(s, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v)) {
    for (CeedSize i = 0; i < length; i++) v[i] -= 1.0;
    value_error = reference_largest(length, v);
  }
  if (!apply(s, 1, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, v)) slope = reference_largest(b->dim * length, v);
  free(u);
  free(v);
  CHECK(value_error <= table_tolerance(b, CEED_EVAL_INTERP), "sum of the functions is off by %g",
        value_error);
  CHECK(slope <= table_tolerance(b, CEED_EVAL_GRAD), "gradient of 1 is %g", slope);
}

TEST_EACH_BACKEND(functions_add_to_one_and_their_gradients_to_zero) {
  with_lagrange(ceed, 8, check_constants);
}

TEST_EACH_BACKEND(interpolation_to_the_nodes_themselves_is_the_identity) {
  uint64_t seed = 300;

  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt P = 2; P <= 8; P++) {
      CeedBasis basis = NULL;

      CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, dim, 2, P, P, CEED_GAUSS_LOBATTO, &basis));
      Shape s = shape_of(basis);
      double *u = reference_new_random(num_nodal(&s), &seed), *v = reference_new(num_nodal(&s));
      int ierr = apply(&s, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v);
      double error = reference_distance(num_nodal(&s), u, v);

      if (!ierr) ierr = apply(&s, 1, CEED_TRANSPOSE, CEED_EVAL_INTERP, u, v);
      double transposed_error = reference_distance(num_nodal(&s), u, v);

      free(u);
      free(v);
      CeedBasisDestroy(&basis);
      CHECK_OK(ierr);
      // Numbers below 1 and 1e-15 in double precision.
      CHECK(error <= 4.5 * eps, "dim %d, P %d: off by %g", (int)dim, (int)P, error);
      CHECK(transposed_error <= 4.5 * eps, "transposed, dim %d, P %d: off by %g", (int)dim, (int)P,
            transposed_error);
    }
  }
}

// ---- Transposes, several elements, adding: all kinds of bases ----

// Where number `i` = (d*num_comp + c)*n + q of element `elem` stands among several (top of ceed/ceed.h).
static CeedSize place(bool is_device, CeedInt num_elem, CeedInt n, CeedInt elem, CeedSize i) {
  return is_device ? (i / n * num_elem + elem) * n + i % n : i * num_elem + elem;
}

// x . B y = y . B^T x, for several elements, each of which gets what it gets alone.
static void check_mode(const Shape *s, CeedEvalMode mode, uint64_t *seed) {
  bool is_device = reference_is_device(CeedBasisReturnCeed(s->basis));
  CeedInt num_elem = 1 + (CeedInt)tap_integer(seed, 5);
  CeedSize n = num_nodal(s), m = num_quadrature(s, mode);
  double *y = reference_new_random(num_elem * n, seed), *x = reference_new_random(num_elem * m, seed);
  double *by = reference_new(num_elem * m), *btx = reference_new(num_elem * n), *alone = reference_new(n),
         *result = reference_new(m);
  double error = 0.0, size;
  int ierr = apply(s, num_elem, CEED_NOTRANSPOSE, mode, y, by);

  if (!ierr) ierr = apply(s, num_elem, CEED_TRANSPOSE, mode, x, btx);
  for (CeedInt e = 0; e < num_elem && !ierr; e++) {
    for (CeedSize i = 0; i < n; i++) alone[i] = y[place(is_device, num_elem, s->P, e, i)];
    ierr = apply(s, 1, CEED_NOTRANSPOSE, mode, alone, result);
    for (CeedSize i = 0; i < m; i++) {
      keep_worst(fabs(result[i] - by[place(is_device, num_elem, s->Q, e, i)]), &error);
    }
  }
  double xby = reference_dot(num_elem * m, x, by), ybtx = reference_dot(num_elem * n, y, btx),
         num = (double)num_elem;
  size = fmax(reference_largest(num_elem * m, by), reference_largest(num_elem * n, btx));
  double *all[] = {x, y, by, btx, alone, result};

  for (int i = 0; i < 6; i++) free(all[i]);
  CHECK_OK(ierr);
  CHECK(size > 0.0 && isfinite(size), "mode %s gives %g", CeedEvalModes[mode], size);
  CHECK(error <= eps * (s->P + s->Q) * size, "mode %s: an element alone differs by %g", CeedEvalModes[mode],
        error);
  // Sums of num (n + m) terms, each as large as `size` and off by as many round-offs as it has terms.
  CHECK_NEAR(xby, ybtx, eps * num * (double)(n + m) * sqrt((double)(n + m)) * size, "mode %s, %d elements",
             CeedEvalModes[mode], (int)num_elem);
}

// B^T u is added to what is there, or takes its place.
static void check_adding(const Shape *s, CeedEvalMode mode, uint64_t *seed) {
  Ceed ceed = CeedBasisReturnCeed(s->basis);
  CeedSize n = num_nodal(s), m = num_quadrature(s, mode);
  double *before = reference_new_random(n, seed), *u = reference_new_random(m, seed), *v = reference_new(n),
         *added = reference_new(n);
  CeedVector from = reference_vector(ceed, m, u), to = reference_vector(ceed, n, before);
  int ierr = CeedBasisApplyAdd(s->basis, 1, CEED_TRANSPOSE, mode, from, to);

  if (!ierr) reference_values(to, added);
  if (!ierr) ierr = CeedBasisApply(s->basis, 1, CEED_TRANSPOSE, mode, from, to);
  if (!ierr) reference_values(to, v);
  double size = reference_largest(n, v);
  for (CeedSize i = 0; i < n; i++) before[i] += v[i];
  double error = reference_distance(n, before, added), overwriting_error;
  if (!ierr) ierr = apply(s, 1, CEED_TRANSPOSE, mode, u, added);
  overwriting_error = reference_distance(n, v, added);
  CeedVectorDestroy(&from);
  CeedVectorDestroy(&to);
  double *all[] = {before, u, v, added};

  for (int i = 0; i < 4; i++) free(all[i]);
  CHECK_OK(ierr);
  CHECK(error <= eps * (s->P + s->Q) * (1.0 + size), "mode %s: adding is off by %g", CeedEvalModes[mode],
        error);
  CHECK(overwriting_error <= eps * (s->P + s->Q) * size, "mode %s: overwriting is off by %g",
        CeedEvalModes[mode], overwriting_error);
}

// The modes of a space, without WEIGHT.
static void check_modes(const Shape *s, uint64_t *seed) {
  CeedFESpace space = CEED_FE_SPACE_H1;

  CHECK_OK(CeedBasisGetFESpace(s->basis, &space));
  CeedEvalMode modes[] = {CEED_EVAL_INTERP, space == CEED_FE_SPACE_H1     ? CEED_EVAL_GRAD
                                            : space == CEED_FE_SPACE_HDIV ? CEED_EVAL_DIV
                                                                          : CEED_EVAL_CURL};

  for (int i = 0; i < 2 && !tap_failed(); i++) {
    check_mode(s, modes[i], seed);
    if (!tap_failed()) check_adding(s, modes[i], seed);
  }
}

static void check_lagrange_modes(const Lagrange *b, const Shape *s) {
  uint64_t seed = (uint64_t)(400 + b->P);

  check_modes(s, &seed);
}

TEST_EACH_BACKEND(transposes_of_tensor_bases_are_adjoint) { with_lagrange(ceed, 5, check_lagrange_modes); }

TEST_EACH_BACKEND(weights_are_those_of_the_rule_in_every_element) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    CeedBasis basis = NULL;
    double x[5], w[5], weights[3 * 125];

    CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, dim, 2, 3, 5, CEED_GAUSS, &basis));
    Shape s = shape_of(basis);
    bool is_device = reference_is_device(ceed);
    int ierr = apply_weights(&s, 3, weights);

    reference_quadrature(CEED_GAUSS, 5, x, w);
    CeedBasisDestroy(&basis);
    CHECK_OK(ierr);
    for (CeedInt i = 0; i < 3 * s.Q; i++) {
      double product = 1.0;

      for (CeedInt d = 0, rest = i / 3; d < dim; d++, rest /= 5) product *= w[rest % 5];
      CHECK_NEAR(weights[place(is_device, 3, s.Q, i % 3, i / 3)], product, 8.0 * eps * product,
                 "point %d, dim %d", (int)(i / 3), (int)dim);
    }
  }
}

// ---- Dense bases ----

// Tables of a random basis; interp and derivative may both have directions.
typedef struct {
  CeedFESpace space;
  CeedInt dim, num_comp, P, Q;
  CeedInt num_interp, num_derivative;
  double *interp, *derivative, *weight; // owned, [directions][Q][P], [Q]
} Tables;

static CeedScalar *to_scalars(CeedSize n, const double *a) {
  CeedScalar *rounded = calloc((size_t)n, sizeof(*rounded));

  if (!rounded) abort();
  for (CeedSize i = 0; i < n; i++) rounded[i] = (CeedScalar)a[i];
  return rounded;
}

static int create_dense(Ceed ceed, const Tables *t, CeedElemTopology topology, CeedBasis *basis) {
  CeedScalar *interp = to_scalars((CeedSize)t->num_interp * t->Q * t->P, t->interp);
  CeedScalar *derivative = to_scalars((CeedSize)t->num_derivative * t->Q * t->P, t->derivative);
  CeedScalar *weight = to_scalars(t->Q, t->weight);
  int ierr =
      (t->space == CEED_FE_SPACE_H1     ? CeedBasisCreateH1
       : t->space == CEED_FE_SPACE_HDIV ? CeedBasisCreateHdiv
                                        : CeedBasisCreateHcurl)(ceed, topology, t->num_comp, t->P, t->Q,
                                                                interp, derivative, NULL, weight, basis);

  free(interp);
  free(derivative);
  free(weight);
  return ierr;
}

static Tables draw_tables(CeedFESpace space, CeedInt dim, uint64_t *seed) {
  Tables t = {.space = space, .dim = dim, .num_comp = 1 + (CeedInt)tap_integer(seed, 3)};
  CeedSize size;

  t.P = 1 + (CeedInt)tap_integer(seed, 12);
  t.Q = 1 + (CeedInt)tap_integer(seed, 12);
  t.num_interp = space == CEED_FE_SPACE_H1 ? 1 : dim;
  t.num_derivative = space == CEED_FE_SPACE_H1 ? dim : space == CEED_FE_SPACE_HDIV || dim < 3 ? 1 : 3;
  size = (CeedSize)t.P * t.Q;
  t.interp = reference_new_random(t.num_interp * size, seed);
  t.derivative = reference_new_random(t.num_derivative * size, seed);
  t.weight = reference_new_random(t.Q, seed);
  return t;
}

// v [directions][num_comp][Q] = table [directions][Q][P] applied to u [num_comp][P]
static void apply_table(const Tables *t, CeedInt directions, const double *table, const double *u,
                        double *v) {
  for (CeedInt i = 0; i < directions * t->num_comp * t->Q; i++) {
    CeedInt q = i % t->Q, c = i / t->Q % t->num_comp, d = i / t->Q / t->num_comp;

    v[i] = reference_dot(t->P, table + ((CeedSize)d * t->Q + q) * t->P, u + (CeedSize)c * t->P);
  }
}

static void check_table(const Tables *t, const Shape *s, CeedEvalMode mode, uint64_t *seed) {
  bool is_interp = mode == CEED_EVAL_INTERP;
  CeedInt directions = is_interp ? t->num_interp : t->num_derivative;
  CeedSize m = (CeedSize)directions * t->num_comp * t->Q;
  double *u = reference_new_random(num_nodal(s), seed), *v = reference_new(m), *exact = reference_new(m);

  CHECK(num_quadrature(s, mode) == m, "%s has %d numbers, not %d", CeedEvalModes[mode],
        (int)num_quadrature(s, mode), (int)m);
  apply_table(t, directions, is_interp ? t->interp : t->derivative, u, exact);
  int ierr = apply(s, 1, CEED_NOTRANSPOSE, mode, u, v);
  double error = reference_distance(m, v, exact);

  free(u);
  free(v);
  free(exact);
  CHECK_OK(ierr);
  CHECK(error <= eps * t->P, "mode %s is off by %g", CeedEvalModes[mode], error); // P products below 1
}

static void check_dense(const Tables *t, CeedBasis basis, uint64_t *seed) {
  Shape s = shape_of(basis);
  double *w = reference_new(t->Q);
  int ierr = apply_weights(&s, 1, w);
  double error = reference_distance(t->Q, w, t->weight);

  free(w);
  CHECK_OK(ierr);
  CHECK(error == 0.0, "weights are off by %g", error);
  CHECK(s.dim == t->dim && s.P == t->P && s.Q == t->Q && s.num_comp == t->num_comp, "sizes of the basis");
  check_table(t, &s, CEED_EVAL_INTERP, seed);
  if (!tap_failed()) {
    check_table(t, &s,
                t->space == CEED_FE_SPACE_H1     ? CEED_EVAL_GRAD
                : t->space == CEED_FE_SPACE_HDIV ? CEED_EVAL_DIV
                                                 : CEED_EVAL_CURL,
                seed);
  }
  if (!tap_failed()) check_modes(&s, seed);
}

TEST_EACH_BACKEND(dense_bases_are_their_tables) {
  static const CeedElemTopology topologies[] = {CEED_TOPOLOGY_LINE,    CEED_TOPOLOGY_TRIANGLE,
                                                CEED_TOPOLOGY_QUAD,    CEED_TOPOLOGY_TET,
                                                CEED_TOPOLOGY_PYRAMID, CEED_TOPOLOGY_PRISM,
                                                CEED_TOPOLOGY_HEX};
  static const CeedFESpace spaces[] = {CEED_FE_SPACE_H1, CEED_FE_SPACE_HDIV, CEED_FE_SPACE_HCURL};
  uint64_t seed = 500;

  for (int i = 0; i < 3 * 7 * 5; i++) {
    CeedElemTopology topology = topologies[i / 3 % 7];
    Tables t = draw_tables(spaces[i % 3], (CeedInt)topology >> 16, &seed);
    CeedBasis basis = NULL;
    int ierr = create_dense(ceed, &t, topology, &basis);

    if (!ierr) check_dense(&t, basis, &seed);
    CeedBasisDestroy(&basis);
    free(t.interp);
    free(t.derivative);
    free(t.weight);
    CHECK_OK(ierr);
    if (tap_failed()) {
      tap_note("%s, %s, %d components, P %d, Q %d", CeedFESpaces[t.space], CeedElemTopologies[topology],
               (int)t.num_comp, (int)t.P, (int)t.Q);
      return;
    }
  }
}

// ---- Tables handed out ----

// Column p of a table is what unit vector p gives.
static void check_handed_out(const Shape *s, CeedEvalMode mode, const CeedScalar *table) {
  CeedInt rows = num_directions(s, mode) * s->Q;
  double *u = reference_new(num_nodal(s)), *v = reference_new(num_quadrature(s, mode)), error = 0.0,
         size = 0.0;
  int ierr = 0;

  for (CeedInt p = 0; p < s->P && !ierr; p++) {
    memset(u, 0, (size_t)num_nodal(s) * sizeof(*u));
    u[p] = 1.0; // of component 0
    ierr = apply(s, 1, CEED_NOTRANSPOSE, mode, u, v);
    for (CeedInt i = 0; i < rows; i++) {
      CeedSize from = (CeedSize)(i / s->Q * s->num_comp) * s->Q + i % s->Q;

      keep_worst(fabs(v[from] - (double)table[(CeedSize)i * s->P + p]), &error);
      size = fmax(size, fabs(v[from]));
    }
  }
  free(u);
  free(v);
  CHECK_OK(ierr);
  CHECK(error <= 8.0 * eps * s->dim * size, "%s: off by %g of %g", CeedEvalModes[mode], error, size);
}

// Sum factorisation multiplies in another order: a few round-offs for each direction.
static void check_tables(const Lagrange *b, const Shape *s) {
  const CeedScalar *interp, *grad, *div, *curl;

  if (b->dim == 3 && b->P > 4) return; // P^3 applies
  CHECK_OK(CeedBasisGetInterp(s->basis, &interp));
  CHECK_OK(CeedBasisGetGrad(s->basis, &grad));
  CHECK_OK(CeedBasisGetDiv(s->basis, &div));
  CHECK_OK(CeedBasisGetCurl(s->basis, &curl));
  CHECK(interp && grad && !div && !curl, "a tensor basis has values and gradients");
  check_handed_out(s, CEED_EVAL_INTERP, interp);
  if (!tap_failed()) check_handed_out(s, CEED_EVAL_GRAD, grad);
}

TEST_EACH_BACKEND(tables_handed_out_are_what_is_applied) { with_lagrange(ceed, 6, check_tables); }

// 1D tables and points are those of the definition.
static void check_tables_1d(const Lagrange *b, const Shape *s) {
  const CeedScalar *tables[4];
  double x[REFERENCE_MAX_1D], w[REFERENCE_MAX_1D], interp[REFERENCE_MAX_1D * REFERENCE_MAX_1D];
  double grad[REFERENCE_MAX_1D * REFERENCE_MAX_1D];

  CHECK_OK(CeedBasisGetQRef(s->basis, &tables[0]));
  CHECK_OK(CeedBasisGetQWeights(s->basis, &tables[1]));
  CHECK_OK(CeedBasisGetInterp1D(s->basis, &tables[2]));
  CHECK_OK(CeedBasisGetGrad1D(s->basis, &tables[3]));
  reference_quadrature(b->mode, b->Q, x, w);
  reference_lagrange(b->P, b->Q, x, interp, grad);
  for (CeedInt i = 0; i < b->Q; i++) {
    CHECK_NEAR(tables[0][i], x[i], 2.0 * eps, "point %d", (int)i);
    CHECK_NEAR(tables[1][i], w[i], 4.0 * eps, "weight %d", (int)i);
  }
  for (CeedInt i = 0; i < b->Q * b->P; i++) {
    CHECK_NEAR(tables[2][i], interp[i], table_tolerance(b, CEED_EVAL_INTERP), "interp %d", (int)i);
    CHECK_NEAR(tables[3][i], grad[i], table_tolerance(b, CEED_EVAL_GRAD), "grad %d", (int)i);
  }
}

TEST_EACH_BACKEND(tables_of_one_direction_are_those_of_lagrange_polynomials) {
  with_lagrange(ceed, 8, check_tables_1d);
}

// ---- Public quadrature ----

TEST(public_quadrature_rules_are_exact) {
  CeedScalar x[REFERENCE_MAX_1D], w[REFERENCE_MAX_1D];

  for (int n = 1; n <= REFERENCE_MAX_1D; n++) {
    for (int mode = CEED_GAUSS; mode <= CEED_GAUSS_LOBATTO; mode++) {
      double exact_x[REFERENCE_MAX_1D], exact_w[REFERENCE_MAX_1D], p[2 * REFERENCE_MAX_1D],
          sums[2 * REFERENCE_MAX_1D] = {0};
      int degree = 2 * n - (mode == CEED_GAUSS ? 1 : 3);

      if (mode == CEED_GAUSS_LOBATTO && n == 1) continue;
      CHECK_OK((mode == CEED_GAUSS ? CeedGaussQuadrature : CeedLobattoQuadrature)(n, x, w));
      reference_quadrature((CeedQuadMode)mode, n, exact_x, exact_w);
      for (int i = 0; i < n; i++) {
        CHECK_NEAR(x[i], exact_x[i], 2.0 * eps, "point %d of %d, %s", i, n, CeedQuadModes[mode]);
        CHECK_NEAR(w[i], exact_w[i], 4.0 * eps, "weight %d of %d, %s", i, n, CeedQuadModes[mode]);
        reference_legendre(degree, (double)x[i], p, NULL);
        for (int k = 0; k <= degree; k++) sums[k] += (double)w[i] * p[k];
      }
      // Slopes of Legendre polynomials are of the size of their degree but near the ends, where weights are
      // small.
      for (int k = 0; k <= degree; k++) {
        CHECK_NEAR(sums[k], k ? 0.0 : 2.0, 4.0 * eps * (n + k + 2), "degree %d, %d points, %s", k, n,
                   CeedQuadModes[mode]);
      }
    }
  }
}

TEST(lobatto_rules_have_at_least_two_points_and_optional_weights) {
  CeedScalar x[3];

  CHECK_OK(CeedLobattoQuadrature(3, x, NULL));
  CHECK(x[0] == -1 && x[1] == 0 && x[2] == 1, "points %g %g %g", (double)x[0], (double)x[1], (double)x[2]);
  CHECK_ERROR(NULL, CeedLobattoQuadrature(1, x, NULL), CEED_ERROR_DIMENSION, "two points");
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(values_and_gradients_of_polynomials_are_exact,
            weights_integrate_polynomials_exactly_to_their_degree,
            functions_add_to_one_and_their_gradients_to_zero,
            interpolation_to_the_nodes_themselves_is_the_identity, transposes_of_tensor_bases_are_adjoint,
            weights_are_those_of_the_rule_in_every_element, dense_bases_are_their_tables,
            tables_handed_out_are_what_is_applied, tables_of_one_direction_are_those_of_lagrange_polynomials,
            public_quadrature_rules_are_exact, lobatto_rules_have_at_least_two_points_and_optional_weights));
}
