// SPDX-License-Identifier: BSD-2-Clause
// What is left of a result where much of it cancels: derivatives of constant and linear fields on strongly
// graded meshes, on all backends; folded bases beside the same tables as they were given.
#include <ceed/backend.h>
#include <math.h>
#include <ritz/basis.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy-qfunctions.h"
#include "tests/reference.h"

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

static const bool is_single = sizeof(CeedScalar) == sizeof(float);

// At level quick some degrees, with and without forms (1), few and many nodes a direction; fewer still where
// kernels compile slowly.
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

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(derivatives_of_constant_and_linear_fields_are_off_by_roundoffs_alone,
                        gradient_of_the_coordinate_is_one_on_a_line_of_very_small_elements));
}
