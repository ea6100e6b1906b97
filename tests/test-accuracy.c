// SPDX-License-Identifier: BSD-2-Clause
// What is left of a result where much of it cancels: derivatives of constant and linear fields on strongly
// graded meshes, on all backends; symmetry and sums of tables; even-odd bases beside the same tables as they
// were given.
#include <ceed/backend.h>
#include <math.h>
#include <ritz/basis.h>
#include <ritz/operator.h>
#include <stdlib.h>
#include <string.h>

#include "fe/fe.h"
#include "tests/accuracy-qfunctions.h"
#include "tests/gen-kit.h"
#include "tests/reference.h"

static const bool is_single = sizeof(CeedScalar) == sizeof(float);

// ---- Meshes: products of lines whose elements shrink towards 1 ----

typedef struct {
  CeedInt dim, degree, num_points; // points a direction
  CeedInt num_elem;                // a direction
  double tail;                     // the last elements lie this near to 1
} Grid;

// All handles are owned. x: [dim][num_nodes].
typedef struct {
  const Grid *grid;
  CeedInt num_elem, num_nodes, num_points;
  double least; // size of an element
  CeedElemRestriction rstr_x, rstr_u, rstr_g, rstr_K;
  CeedBasis basis_x, basis_u;
  CeedVector x, u, g, K;
} Mesh;

static CeedInt line_length(const Grid *g) { return g->num_elem * g->degree + 1; }

// Nodes of a line, and the size of its least element.
static double fill_line(const Grid *g, double *line) {
  double points[REFERENCE_MAX_1D], least = 1, left = 0;

  reference_quadrature(CEED_GAUSS_LOBATTO, g->degree + 1, points, NULL);
  for (CeedInt e = 0; e < g->num_elem; e++) {
    const double right = e + 1 < g->num_elem ? 1 - pow(g->tail, (e + 1.0) / g->num_elem) : 1;

    for (CeedInt k = 0; k <= g->degree; k++)
      line[e * g->degree + k] = k < g->degree ? left + (points[k] + 1) / 2 * (right - left) : right;
    least = fmin(least, right - left);
    left = right;
  }
  return least;
}

static int create_restrictions(Ceed ceed, Mesh *m) {
  const Grid *g = m->grid;
  const CeedInt P = CeedIntPow(g->degree + 1, g->dim), length = line_length(g);
  const CeedInt strides[3] = {1, m->num_elem * m->num_points, m->num_points};
  const CeedSize size = (CeedSize)m->num_elem * m->num_points;
  CeedInt *offsets = calloc((size_t)m->num_elem * (size_t)P, sizeof(*offsets));

  for (CeedInt e = 0; e < m->num_elem; e++) {
    for (CeedInt k = 0; k < P; k++) {
      CeedInt stride = 1, elem = e, node = k, *offset = &offsets[e * P + k];

      for (CeedInt d = 0; d < g->dim; d++, stride *= length) {
        *offset += (elem % g->num_elem * g->degree + node % (g->degree + 1)) * stride;
        elem /= g->num_elem;
        node /= g->degree + 1;
      }
    }
  }
  int ierr = CeedElemRestrictionCreate(ceed, m->num_elem, P, 1, 1, m->num_nodes, CEED_MEM_HOST,
                                       CEED_COPY_VALUES, offsets, &m->rstr_u);
  if (!ierr)
    ierr =
        CeedElemRestrictionCreate(ceed, m->num_elem, P, g->dim, m->num_nodes, (CeedSize)g->dim * m->num_nodes,
                                  CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &m->rstr_x);
  free(offsets);
  if (ierr) return ierr;
  CeedCall(CeedElemRestrictionCreateStrided(ceed, m->num_elem, m->num_points, g->dim, size * g->dim, strides,
                                            &m->rstr_g));
  return CeedElemRestrictionCreateStrided(ceed, m->num_elem, m->num_points, g->dim * g->dim,
                                          size * g->dim * g->dim, strides, &m->rstr_K);
}

static int create_vectors(Ceed ceed, Mesh *m) {
  const Grid *g = m->grid;
  const CeedInt length = line_length(g);
  const CeedSize size = (CeedSize)m->num_elem * m->num_points;
  double *line = reference_new(length), *x = reference_new((CeedSize)g->dim * m->num_nodes);

  m->least = fill_line(g, line);
  for (CeedInt i = 0, stride = 1, d = 0; d < g->dim; d++, stride *= length) {
    for (CeedInt n = 0; n < m->num_nodes; n++) x[i++] = line[n / stride % length];
  }
  m->x = reference_vector(ceed, (CeedSize)g->dim * m->num_nodes, x);
  free(line);
  free(x);
  if (!m->x) return CEED_ERROR_MAJOR;
  CeedCall(CeedVectorCreate(ceed, m->num_nodes, &m->u));
  CeedCall(CeedVectorCreate(ceed, size * g->dim, &m->g));
  return CeedVectorCreate(ceed, size * g->dim * g->dim, &m->K);
}

// In one dimension coordinates and fields share a basis.
static int create_bases(Ceed ceed, Mesh *m) {
  const Grid *g = m->grid;

  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, g->dim, 1, g->degree + 1, g->num_points, CEED_GAUSS,
                                           &m->basis_u));
  if (g->dim == 1) return CeedBasisReferenceCopy(m->basis_u, &m->basis_x);
  return CeedBasisCreateTensorH1Lagrange(ceed, g->dim, g->dim, g->degree + 1, g->num_points, CEED_GAUSS,
                                         &m->basis_x);
}

// To be destroyed in any case.
static int mesh_create(Ceed ceed, const Grid *g, Mesh *m) {
  *m = (Mesh){.grid = g,
              .num_elem = CeedIntPow(g->num_elem, g->dim),
              .num_nodes = CeedIntPow(line_length(g), g->dim),
              .num_points = CeedIntPow(g->num_points, g->dim)};
  CeedCall(create_restrictions(ceed, m));
  CeedCall(create_vectors(ceed, m));
  return create_bases(ceed, m);
}

static void mesh_destroy(Mesh *m) {
  CeedElemRestrictionDestroy(&m->rstr_x);
  CeedElemRestrictionDestroy(&m->rstr_u);
  CeedElemRestrictionDestroy(&m->rstr_g);
  CeedElemRestrictionDestroy(&m->rstr_K);
  CeedBasisDestroy(&m->basis_x);
  CeedBasisDestroy(&m->basis_u);
  CeedVectorDestroy(&m->x);
  CeedVectorDestroy(&m->u);
  CeedVectorDestroy(&m->g);
  CeedVectorDestroy(&m->K);
}

// ---- Operators ----

typedef enum { INVERSE, GRADIENT, DERIVATIVES } Function;

static int create_function(Ceed ceed, Function f, CeedInt dim, CeedQFunction *qf) {
  static const struct {
    CeedQFunctionUser call;
    const char *source;
  } functions[3][3] = {{{AccuracyInverse1, AccuracyInverse1_loc},
                        {AccuracyInverse2, AccuracyInverse2_loc},
                        {AccuracyInverse3, AccuracyInverse3_loc}},
                       {{AccuracyGradient1, AccuracyGradient1_loc},
                        {AccuracyGradient2, AccuracyGradient2_loc},
                        {AccuracyGradient3, AccuracyGradient3_loc}},
                       {{AccuracyDerivatives1, AccuracyDerivatives1_loc},
                        {AccuracyDerivatives2, AccuracyDerivatives2_loc},
                        {AccuracyDerivatives3, AccuracyDerivatives3_loc}}};
  const CeedInt in = f == INVERSE ? dim * dim : dim;

  CeedCall(
      CeedQFunctionCreateInterior(ceed, 1, functions[f][dim - 1].call, functions[f][dim - 1].source, qf));
  CeedCall(CeedQFunctionAddInput(*qf, "derivatives", in, CEED_EVAL_GRAD));
  if (f == GRADIENT) CeedCall(CeedQFunctionAddInput(*qf, "inverse", dim * dim, CEED_EVAL_NONE));
  return CeedQFunctionAddOutput(*qf, "result", in, CEED_EVAL_NONE);
}

static int set_fields(CeedOperator op, const Mesh *m, Function f) {
  const bool is_inverse = f == INVERSE;

  CeedCall(CeedOperatorSetField(op, "derivatives", is_inverse ? m->rstr_x : m->rstr_u,
                                is_inverse ? m->basis_x : m->basis_u, CEED_VECTOR_ACTIVE));
  if (f == GRADIENT) CeedCall(CeedOperatorSetField(op, "inverse", m->rstr_K, CEED_BASIS_NONE, m->K));
  return CeedOperatorSetField(op, "result", is_inverse ? m->rstr_K : m->rstr_g, CEED_BASIS_NONE,
                              CEED_VECTOR_ACTIVE);
}

static int apply(Ceed ceed, const Mesh *m, Function f) {
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  int ierr = create_function(ceed, f, m->grid->dim, &qf);

  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &op);
  if (!ierr) ierr = set_fields(op, m, f);
  if (!ierr)
    ierr =
        CeedOperatorApply(op, f == INVERSE ? m->x : m->u, f == INVERSE ? m->K : m->g, CEED_REQUEST_IMMEDIATE);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  return ierr;
}

// u = a + b x, x the first coordinate.
static int set_linear(const Mesh *m, double a, double b) {
  double *x = reference_new_values(m->x);
  CeedScalar *u = NULL;
  int ierr = CeedVectorGetArrayWrite(m->u, CEED_MEM_HOST, &u);

  for (CeedInt n = 0; !ierr && n < m->num_nodes; n++) u[n] = (CeedScalar)a + (CeedScalar)b * (CeedScalar)x[n];
  if (!ierr) ierr = CeedVectorRestoreArray(m->u, &u);
  free(x);
  return ierr;
}

// How far the result is from (first, 0, 0) anywhere.
static double distance_from(const Mesh *m, double first) {
  const CeedSize size = (CeedSize)m->num_elem * m->num_points;
  double *g = reference_new_values(m->g), largest = 0;

  for (CeedSize i = 0; i < size * m->grid->dim; i++) {
    const double error = fabs(g[i] - (i < size ? first : 0));
    if (!(error <= largest)) largest = error;
  }
  free(g);
  return largest;
}

// ---- Bounds ----

static double largest_row(CeedInt rows, CeedInt cols, const CeedScalar *table) {
  double largest = 0;

  for (CeedInt i = 0; i < rows; i++) {
    double sum = 0;
    for (CeedInt j = 0; j < cols; j++) sum += fabs((double)table[i * cols + j]);
    largest = fmax(largest, sum);
  }
  return largest;
}

// What a derivative of a field of size 1 on the reference element is a sum of, at most.
static int find_terms(const Mesh *m, double *terms) {
  const CeedScalar *interp = NULL, *grad = NULL;
  const CeedInt P = m->grid->degree + 1, Q = m->grid->num_points;

  CeedCall(CeedBasisGetInterp1D(m->basis_u, &interp));
  CeedCall(CeedBasisGetGrad1D(m->basis_u, &grad));
  *terms = largest_row(Q, P, grad) * pow(largest_row(Q, P, interp), m->grid->dim - 1);
  return CEED_ERROR_SUCCESS;
}

// ---- Fields on one grid ----

// Round-offs of a derivative's terms: of the sums, in any order and by any route. And of the inverse and the
// product with it, where all else is the same in the operator that stores the Jacobian and in the other.
enum { ROUNDOFFS = 16, SAME_ROUNDOFFS = 8 };

static void check_constant(Ceed ceed, const Mesh *m, double terms) {
  CHECK_OK(CeedVectorSetValue(m->u, 1));
  CHECK_OK(apply(ceed, m, DERIVATIVES));
  const double error = distance_from(m, 0);
  CHECK(error <= ROUNDOFFS * eps * terms, "derivative of 1: %g, allowed %g", error, ROUNDOFFS * eps * terms);
}

// The derivative on the reference element is off by round-offs of its terms; the inverse of the Jacobian,
// which has the same error, multiplies that by two over the size of an element. For u = x itself both errors
// are the same number, and cancel.
static void check_linear(Ceed ceed, const Mesh *m, double terms) {
  const double bound = 2 * ROUNDOFFS * eps * terms / (m->least / 2);

  CHECK_OK(apply(ceed, m, INVERSE));
  CHECK_OK(set_linear(m, 2, 3));
  CHECK_OK(apply(ceed, m, GRADIENT));
  const double error = distance_from(m, 3);
  CHECK(error <= 5 * bound, "gradient of 2 + 3 x: off by %g, allowed %g", error, 5 * bound);
  CHECK_OK(set_linear(m, 0, 1));
  CHECK_OK(apply(ceed, m, GRADIENT));
  const double same = distance_from(m, 1);
  CHECK(same <= SAME_ROUNDOFFS * eps, "gradient of x: off by %g, allowed %g", same, SAME_ROUNDOFFS * eps);
}

static void check_grid(Ceed ceed, const Grid *g) {
  Mesh m;
  double terms = 0;
  int ierr = mesh_create(ceed, g, &m);

  if (!ierr) ierr = find_terms(&m, &terms);
  tap_check_ok(ierr, __FILE__, __LINE__, "mesh");
  if (!tap_failed()) check_constant(ceed, &m, terms);
  if (!tap_failed()) check_linear(ceed, &m, terms);
  mesh_destroy(&m);
  if (tap_failed()) tap_note("%dD, degree %d, %d points", (int)g->dim, (int)g->degree, (int)g->num_points);
}

// At level quick some degrees, with and without simple inputs (1), few and many nodes a direction; fewer
// still where kernels compile slowly.
static bool wants_degree(Ceed ceed, CeedInt dim, CeedInt degree) {
  if (tap_level() > TAP_QUICK) return true;
  if (tap_compiles_slowly(ceed)) return dim == 1 ? degree == 7 : degree == 2 || degree == 4;
  return degree == 1 || degree == 2 || degree == 4 || degree == 7;
}

TEST_EACH_BACKEND(derivatives_of_constant_and_linear_fields_are_off_by_roundoffs_alone) {
  static const CeedInt num_elem[] = {9, 4, 3}, most[] = {8, 6, 6};

  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt degree = 1; degree <= most[dim - 1] && !tap_failed(); degree++) {
      const Grid g = {dim, degree, degree + 2, num_elem[dim - 1], is_single ? 1e-2 : 1e-6};
      if (wants_degree(ceed, dim, degree)) check_grid(ceed, &g);
    }
  }
}

// 262145 nodes; fewer in single precision, where elements would be no larger than the distance of numbers.
TEST_EACH_BACKEND(gradient_of_the_coordinate_is_one_on_a_line_of_very_small_elements) {
  const Grid g = {1, 4, 6, is_single ? 1024 : 65536, is_single ? 0.05 : 1e-7};

  check_grid(ceed, &g);
}

// ---- Tables on all shapes ----

typedef struct {
  CeedElemTopology topology;
  int dim, degree, P, Q;
  double *nodes,
      *points; // owned: [P][dim], [2 Q][dim], the second half with the first two coordinates exchanged
  double *values, *gradients; // owned: [2 Q][P], [dim][2 Q][P]
} ShapeTables;

// Points of a simplex, which lies in all shapes of its dimension.
static void draw_points(ShapeTables *t) {
  uint64_t seed = 7;

  for (int q = 0; q < t->Q; q++) {
    double *x = t->points + q * t->dim, *y = t->points + (t->Q + q) * t->dim, rest = 1;

    for (int d = 0; d < t->dim; d++) {
      const double part = rest * (tap_uniform(&seed) + 1) / 2;
      x[d] = 2 * part - 1;
      rest -= part;
    }
    memcpy(y, x, (size_t)t->dim * sizeof(*y));
    y[0] = x[1];
    y[1] = x[0];
  }
}

static int fill_tables(CeedElemTopology topology, int dim, int degree, ShapeTables *t) {
  enum { NUM_POINTS = 20 };

  *t = (ShapeTables){topology, dim,  degree, ritz_fe_shape_num_nodes(topology, degree), NUM_POINTS, NULL,
                     NULL,     NULL, NULL};
  t->nodes = reference_new((CeedSize)t->P * dim);
  t->points = reference_new(2 * (CeedSize)t->Q * dim);
  t->values = reference_new(2 * (CeedSize)t->Q * t->P);
  t->gradients = reference_new(2 * (CeedSize)t->Q * t->P * dim);
  draw_points(t);
  const int ierr = ritz_fe_shape_nodes(NULL, topology, degree, t->nodes);
  return ierr ? ierr
              : ritz_fe_shape_lagrange(NULL, topology, degree, 2 * t->Q, t->points, t->values, t->gradients);
}

static int exchanged_node(const ShapeTables *t, int p) {
  int image = 0;
  double least = INFINITY;

  for (int i = 0; i < t->P; i++) {
    const double *x = t->nodes + p * t->dim, *y = t->nodes + i * t->dim;
    double distance = fabs(x[0] - y[1]) + fabs(x[1] - y[0]) + (t->dim == 3 ? fabs(x[2] - y[2]) : 0);
    if (distance < least) least = distance, image = i;
  }
  return image;
}

static void check_exchange(const ShapeTables *t) {
  for (int p = 0; p < t->P; p++) {
    const int image = exchanged_node(t, p);

    for (int q = 0; q < t->Q; q++) {
      CHECK(t->values[q * t->P + p] == t->values[(t->Q + q) * t->P + image], "values of nodes %d and %d", p,
            image);
      for (int d = 0; d < t->dim; d++) {
        const int e = d == 0 ? 1 : d == 1 ? 0 : d;
        CHECK(t->gradients[(2 * d * t->Q + q) * t->P + p] ==
                  t->gradients[((2 * e + 1) * t->Q + q) * t->P + image],
              "derivatives %d and %d of nodes %d and %d", d, e, p, image);
      }
    }
  }
}

// The sum over the nodes, which has as many roundings, for each row.
static void check_sums(const ShapeTables *t, int num_rows, const double *table, double wanted) {
  for (int row = 0; row < num_rows; row++) {
    long double sum = 0, terms = 0;
    for (int p = 0; p < t->P; p++) {
      sum += (long double)table[row * t->P + p];
      terms += fabsl((long double)table[row * t->P + p]);
    }
    CHECK(fabsl(sum - (long double)wanted) <= 8 * (long double)DBL_EPSILON * terms, "row %d: %Lg, terms %Lg",
          row, sum, terms);
  }
}

TEST(tables_on_all_shapes_are_symmetric_to_the_last_bit_and_rows_have_their_sums) {
  static const struct {
    CeedElemTopology topology;
    int dim;
  } shapes[] = {{CEED_TOPOLOGY_TRIANGLE, 2}, {CEED_TOPOLOGY_QUAD, 2},  {CEED_TOPOLOGY_TET, 3},
                {CEED_TOPOLOGY_PYRAMID, 3},  {CEED_TOPOLOGY_PRISM, 3}, {CEED_TOPOLOGY_HEX, 3}};

  for (int s = 0; s < 6; s++) {
    for (int degree = 1; degree <= 8 && !tap_failed(); degree++) {
      ShapeTables t;
      const int ierr = fill_tables(shapes[s].topology, shapes[s].dim, degree, &t);

      tap_check_ok(ierr, __FILE__, __LINE__, "tables");
      if (!tap_failed()) check_exchange(&t);
      if (!tap_failed()) check_sums(&t, 2 * t.Q, t.values, 1);
      if (!tap_failed()) check_sums(&t, 2 * t.Q * t.dim, t.gradients, 0);
      free(t.nodes), free(t.points), free(t.values), free(t.gradients);
      if (tap_failed()) tap_note("topology %d, degree %d", (int)shapes[s].topology, degree);
    }
  }
}

// ---- Even-odd bases ----

// Tables as a program may give them, and what an operator of them is by definition.
enum { MAX_DIM = 3, MAX_Q_COMP = 6 };
typedef struct {
  CeedElemTopology topology;
  CeedInt dim, P, Q, num_q;  // scalars of the symmetric factor at a point
  CeedScalar *interp, *grad; // owned: [Q][P], [dim][Q][P]
  double *u, *factor;        // owned: [P], [num_q][Q]
  double *wanted, *terms;    // owned, [P]: the result, and the sum of the magnitudes of its terms
} Simplex;

// Voigt's order: 00, 11, 01 and 00, 11, 22, 12, 02, 01.
static CeedInt factor_of(CeedInt dim, CeedInt a, CeedInt b) { return a == b ? a : dim == 2 ? 2 : 6 - a - b; }

// Rows of every other point are off by some round-offs: as they would be in tables whose symmetry is that of
// the solution of a system.
static void disturb(Simplex *s, double roundoffs) {
  const CeedScalar factor = (CeedScalar)(1 + roundoffs * eps);

  for (CeedInt q = 0; q < s->Q; q += 2) {
    for (CeedInt p = 0; p < s->P; p++) {
      s->interp[q * s->P + p] *= factor;
      for (CeedInt d = 0; d < s->dim; d++) s->grad[(d * s->Q + q) * s->P + p] *= factor;
    }
  }
}

// D^T K D u and its terms.
static void find_wanted(Simplex *s) {
  for (CeedInt q = 0; q < s->Q; q++) {
    long double du[MAX_DIM] = {0}, du_terms[MAX_DIM] = {0};

    for (CeedInt d = 0; d < s->dim; d++) {
      for (CeedInt p = 0; p < s->P; p++) {
        const long double term = (long double)s->grad[(d * s->Q + q) * s->P + p] * (long double)s->u[p];
        du[d] += term;
        du_terms[d] += fabsl(term);
      }
    }
    for (CeedInt d = 0; d < s->dim; d++) {
      long double dv = 0, dv_terms = 0;
      for (CeedInt e = 0; e < s->dim; e++) {
        const long double k = (long double)s->factor[factor_of(s->dim, d, e) * s->Q + q];
        dv += k * du[e];
        dv_terms += fabsl(k) * du_terms[e];
      }
      for (CeedInt p = 0; p < s->P; p++) {
        const long double entry = (long double)s->grad[(d * s->Q + q) * s->P + p];
        s->wanted[p] += (double)(entry * dv);
        s->terms[p] += (double)(fabsl(entry) * dv_terms);
      }
    }
  }
}

// To be freed in any case.
static int simplex_create(Ceed ceed, CeedElemTopology topology, CeedInt degree, double roundoffs,
                          Simplex *s) {
  const CeedScalar *interp = NULL, *grad = NULL;
  CeedBasis basis = NULL;
  uint64_t seed = 1;

  *s = (Simplex){.topology = topology};
  CeedCall(RitzBasisCreateLagrange(ceed, topology, 1, degree, 2 * degree, &basis));
  int ierr = CeedBasisGetDimension(basis, &s->dim);
  if (!ierr) ierr = CeedBasisGetNumNodes(basis, &s->P);
  if (!ierr) ierr = CeedBasisGetNumQuadraturePoints(basis, &s->Q);
  if (!ierr) ierr = CeedBasisGetInterp(basis, &interp);
  if (!ierr) ierr = CeedBasisGetGrad(basis, &grad);
  if (!ierr) {
    const size_t size = (size_t)s->P * (size_t)s->Q;
    s->num_q = s->dim * (s->dim + 1) / 2;
    s->interp = memcpy(malloc(size * sizeof(*interp)), interp, size * sizeof(*interp));
    s->grad =
        memcpy(malloc((size_t)s->dim * size * sizeof(*grad)), grad, (size_t)s->dim * size * sizeof(*grad));
    s->u = reference_new_random(s->P, &seed);
    s->factor = reference_new_random((CeedSize)s->num_q * s->Q, &seed);
    s->wanted = reference_new(s->P);
    s->terms = reference_new(s->P);
    disturb(s, roundoffs);
    find_wanted(s);
  }
  CeedBasisDestroy(&basis);
  return ierr;
}

static void simplex_free(Simplex *s) {
  free(s->interp), free(s->grad), free(s->u), free(s->factor), free(s->wanted), free(s->terms);
}

static int set_simplex(Ceed ceed, const Simplex *s, CeedBasis basis, CeedVector factor, CeedOperator op) {
  const CeedInt strides_u[3] = {1, s->P, s->P}, strides_q[3] = {1, s->Q, s->Q * s->num_q};
  CeedElemRestriction rstr_u = NULL, rstr_q = NULL;
  int ierr = CeedElemRestrictionCreateStrided(ceed, 1, s->P, 1, s->P, strides_u, &rstr_u);

  if (!ierr)
    ierr = CeedElemRestrictionCreateStrided(ceed, 1, s->Q, s->num_q, (CeedSize)s->num_q * s->Q, strides_q,
                                            &rstr_q);
  if (!ierr) ierr = CeedOperatorSetField(op, "du", rstr_u, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(op, "qdata", rstr_q, CEED_BASIS_NONE, factor);
  if (!ierr) ierr = CeedOperatorSetField(op, "dv", rstr_u, basis, CEED_VECTOR_ACTIVE);
  CeedElemRestrictionDestroy(&rstr_u);
  CeedElemRestrictionDestroy(&rstr_q);
  return ierr;
}

// The largest error in round-offs of the terms; *is_even_odd: as the operator is explained. NaN on failure.
static double apply_simplex(Ceed ceed, const Simplex *s, bool *is_even_odd) {
  char *text = NULL;
  size_t size;
  double error = NAN;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector u = reference_vector(ceed, s->P, s->u), v = NULL;
  CeedVector factor = reference_vector(ceed, (CeedSize)s->num_q * s->Q, s->factor);
  FILE *stream = open_memstream(&text, &size);
  int ierr = CeedBasisCreateH1(ceed, s->topology, 1, s->P, s->Q, s->interp, s->grad, NULL, NULL, &basis);

  if (!ierr)
    ierr = CeedQFunctionCreateInteriorByName(ceed, s->dim == 2 ? "Poisson2DApply" : "Poisson3DApply", &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &op);
  if (!ierr) ierr = set_simplex(ceed, s, basis, factor, op);
  if (!ierr) ierr = CeedVectorCreate(ceed, s->P, &v);
  if (!ierr) ierr = CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = RitzOperatorExplain(op, stream);
  fclose(stream);
  *is_even_odd = strstr(text, "even-odd");
  if (!ierr) {
    double *found = reference_new_values(v);
    error = 0;
    for (CeedInt p = 0; p < s->P; p++)
      error = tap_larger(error, fabs(found[p] - s->wanted[p]) / (eps * s->terms[p]));
    free(found);
  }
  free(text);
  CeedVectorDestroy(&u), CeedVectorDestroy(&v), CeedVectorDestroy(&factor);
  CeedBasisDestroy(&basis), CeedQFunctionDestroy(&qf), CeedOperatorDestroy(&op);
  return error;
}

// With RITZ_EVEN_ODD = even_odd; NULL: as it is.
static void check_split(Ceed ceed, const Simplex *s, const char *even_odd, bool wanted, double most) {
  bool is_even_odd;

  if (even_odd) setenv("RITZ_EVEN_ODD", even_odd, 1);
  const double error = apply_simplex(ceed, s, &is_even_odd);
  unsetenv("RITZ_EVEN_ODD");
  CHECK(is_even_odd == wanted, "%d nodes, RITZ_EVEN_ODD=%s: even-odd %d", (int)s->P, even_odd ? even_odd : "",
        is_even_odd);
  CHECK(error <= most, "%d nodes, RITZ_EVEN_ODD=%s: off by %g round-offs of the terms", (int)s->P,
        even_odd ? even_odd : "", error);
}

enum { SUM_ROUNDOFFS = 2 };

// Bounds in round-offs of the terms, whose signs are random: of the sums up and down, with what the split may
// leave out; RITZ_EVEN_ODD=near leaves out as much as the tables are off.
static void check_splits(Ceed ceed, CeedElemTopology topology, CeedInt degree, double roundoffs) {
  const bool is_symmetric = roundoffs <= 4;
  Simplex s;
  int ierr = simplex_create(ceed, topology, degree, roundoffs, &s);

  tap_check_ok(ierr, __FILE__, __LINE__, "basis");
  if (!tap_failed()) check_split(ceed, &s, "off", false, SUM_ROUNDOFFS);
  if (!tap_failed()) check_split(ceed, &s, NULL, is_symmetric, SUM_ROUNDOFFS);
  if (!tap_failed() && !is_single) check_split(ceed, &s, "near", true, SUM_ROUNDOFFS + roundoffs);
  simplex_free(&s);
  if (tap_failed()) tap_note("degree %d, tables off by %g round-offs", (int)degree, roundoffs);
}

TEST(even_odd_costs_no_digits_whatever_the_tables_symmetry) {
  // Symmetric points are told by their tables, which in single precision say less.
  const double roundoffs[] = {0, is_single ? 0 : 2, 30, 400};

  GEN_NEEDS_COMPILER();
  Ceed ceed = tap_ceed("/cpu/self/gen");
  for (int i = 0; i < 4 && !tap_failed(); i++) {
    check_splits(ceed, CEED_TOPOLOGY_TRIANGLE, 6, roundoffs[i]);
    if (!tap_failed()) check_splits(ceed, CEED_TOPOLOGY_TET, 4, roundoffs[i]);
  }
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(derivatives_of_constant_and_linear_fields_are_off_by_roundoffs_alone,
                        gradient_of_the_coordinate_is_one_on_a_line_of_very_small_elements,
                        tables_on_all_shapes_are_symmetric_to_the_last_bit_and_rows_have_their_sums,
                        even_odd_costs_no_digits_whatever_the_tables_symmetry));
}
