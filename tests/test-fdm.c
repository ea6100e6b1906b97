// SPDX-License-Identifier: BSD-2-Clause
// Element inverses by fast diagonalization: exact for mass, exact up to the stated perturbation for the
// Laplacian, otherwise one number per element away from that; misuse.
#include "tests/tap.h"

#include "base/memory.h"
#include "tests/fdm-qfunctions.h"
#include "tests/grid.h"
#include "tests/levels.h"
#include "tests/reference.h"
#include <ceed/backend.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Elements with nodes of their own ----

enum { MAX_ELEM = 3, MAX_SIZE = 3 * 125 }; // components times nodes of an element

typedef struct {
  CeedInt dim, num_elem, degree, num_comp, P; // P: nodes of an element
  CeedSize size;                              // of L-vectors
  CeedInt Q_1d;
  CeedElemRestriction rstr;
  CeedBasis basis;
  CeedOperator op, inverse;
} Torn;

// L-vectors are [element][component][node].
static int create_spaces(Ceed ceed, CeedInt dim, CeedInt num_elem, CeedInt degree, CeedInt num_comp,
                         Torn *t) {
  *t = (Torn){.dim = dim, .num_elem = num_elem, .degree = degree, .num_comp = num_comp, .Q_1d = degree + 2};
  t->P = CeedIntPow(degree + 1, dim);
  t->size = (CeedSize)num_elem * num_comp * t->P;
  const CeedInt strides[3] = {1, t->P, num_comp * t->P};
  int ierr = CeedElemRestrictionCreateStrided(ceed, num_elem, t->P, num_comp, t->size, strides, &t->rstr);

  if (ierr) return ierr;
  return CeedBasisCreateTensorH1Lagrange(ceed, dim, num_comp, degree + 1, t->Q_1d, CEED_GAUSS, &t->basis);
}

// Boxes of the given sizes [element][direction], and the inverse.
static int create_boxes(Ceed ceed, const double *sizes, bool is_laplacian, Torn *t) {
  CeedInt num_corners = CeedIntPow(2, t->dim);
  double corners[MAX_ELEM * 3 * 8];
  const GridElements elements = {t->dim, t->num_elem, corners};

  for (CeedInt i = 0; i < t->num_elem * t->dim * num_corners; i++) {
    CeedInt d = i / num_corners % t->dim, e = i / (num_corners * t->dim);

    corners[i] = (i % num_corners >> d) % 2 * sizes[e * t->dim + d];
  }
  int ierr = grid_create_operator(ceed, &elements, t->Q_1d, is_laplacian, t->rstr, t->basis, &t->op);

  return ierr ? ierr : CeedOperatorCreateFDMElementInverse(t->op, &t->inverse, CEED_REQUEST_IMMEDIATE);
}

static void destroy_torn(Torn *t) {
  CeedOperatorDestroy(&t->op);
  CeedOperatorDestroy(&t->inverse);
  CeedBasisDestroy(&t->basis);
  CeedElemRestrictionDestroy(&t->rstr);
}

// ---- Mass and Laplacian ----

// A prime step through dimensions, degrees and numbers of components, each of which has kernels of its own.
static int step_of_cases(Ceed ceed) {
  return tap_compiles_slowly(ceed) && tap_level() < TAP_EXHAUSTIVE ? 5 : 1;
}

static void check_mass_inverse(Ceed ceed, CeedInt dim, CeedInt degree, CeedInt num_comp) {
  const double sizes[9] = {0.3, 2, 0.7, 1, 1.5, 0.2, 3, 0.9, 0.4};
  uint64_t seed = 2;
  double u[MAX_ELEM * MAX_SIZE], f[MAX_ELEM * MAX_SIZE], v[MAX_ELEM * MAX_SIZE];
  Torn t;

  CHECK_OK(create_spaces(ceed, dim, MAX_ELEM, degree, num_comp, &t));
  CHECK_OK(create_boxes(ceed, sizes, false, &t));
  reference_fill_random((size_t)t.size, u, &seed);
  CHECK_OK(levels_apply(t.op, t.size, u, t.size, f));
  CHECK_OK(levels_apply(t.inverse, t.size, f, t.size, v));
  // The conditioning of a 1D mass matrix is below the square of the number of nodes.
  for (CeedSize i = 0; i < t.size; i++) {
    CHECK_NEAR(v[i], u[i], 50 * eps * pow(degree + 1, 2 * dim), "entry %td", i);
  }
  destroy_torn(&t);
}

TEST_EACH_BACKEND(inverse_of_mass_is_exact_on_boxes_of_any_size) {
  for (int n = 0; n < 3 * 4 * 2; n += step_of_cases(ceed)) {
    CeedInt dim = 1 + n % 3, degree = 1 + n / 3 % 4, num_comp = n / 12 ? 3 : 1;

    check_mass_inverse(ceed, dim, degree, num_comp);
    if (tap_failed()) tap_note("dim %d, degree %d, %d components", (int)dim, (int)degree, (int)num_comp);
    if (tap_failed()) return;
  }
}

// mass [P][P] of the reference interval.
static void fill_mass(int P, int Q, double *mass) {
  double x[REFERENCE_MAX_1D], w[REFERENCE_MAX_1D], interp[REFERENCE_MAX_1D * REFERENCE_MAX_1D],
      grad[REFERENCE_MAX_1D * REFERENCE_MAX_1D];

  reference_quadrature(CEED_GAUSS, Q, x, w);
  reference_lagrange(P, Q, x, interp, grad);
  for (int i = 0; i < P * P; i++) {
    mass[i] = 0;
    for (int q = 0; q < Q; q++) mass[i] += interp[q * P + i / P] * w[q] * interp[q * P + i % P];
  }
}

// K + shift I in place of K: y += factor * shift * sum_d (M x ... x I_d x ... x M) x for one component.
static void add_perturbation(const Torn *t, double factor, const double *x, double *y) {
  int P_1d = t->degree + 1, P = t->P;
  double shift = t->dim < 3 ? 1e-4 : 1e-6, mass[REFERENCE_MAX_1D * REFERENCE_MAX_1D],
         identity[REFERENCE_MAX_1D * REFERENCE_MAX_1D], *table = levels_allocate((CeedSize)P * P);

  fill_mass(P_1d, t->Q_1d, mass);
  for (int i = 0; i < P_1d * P_1d; i++) identity[i] = i / P_1d == i % P_1d;
  for (int d = 0; d < t->dim; d++) {
    reference_tensor(t->dim, P_1d, P_1d, mass, identity, d, table);
    for (int i = 0; i < P * P; i++) y[i / P] += factor * shift * table[i] * x[i % P];
  }
  free(table);
}

// v is the inverse of f; the perturbed operator must take it back to f. factors [element], and the operator
// is `factor` times the reference one.
static void check_residual(const Torn *t, const double *factors) {
  uint64_t seed = 3;
  double *f = levels_allocate_random(t->size, &seed), *v = levels_allocate(t->size),
         *g = levels_allocate(t->size);

  CHECK_OK(levels_apply(t->inverse, t->size, f, t->size, v));
  CHECK_OK(levels_apply(t->op, t->size, v, t->size, g));
  for (CeedInt i = 0; i < t->num_elem * t->num_comp; i++) {
    add_perturbation(t, factors[i / t->num_comp], v + i * t->P, g + i * t->P);
  }
  for (CeedSize i = 0; i < t->size; i++) {
    CeedInt e = (CeedInt)(i / (t->num_comp * t->P));
    // v is large where the operator is nearly singular; entries of the operator are below the degree squared.
    double magnitude = levels_largest(t->num_comp * t->P, v + (CeedSize)e * t->num_comp * t->P);

    CHECK_NEAR(g[i], f[i], 50 * eps * t->P * pow(t->degree, 2) * fabs(factors[e]) * magnitude, "entry %td",
               i);
  }
  free(f);
  free(v);
  free(g);
}

TEST_EACH_BACKEND(inverse_of_the_laplacian_on_cubes_is_that_of_the_perturbed_one) {
  for (int n = 0; n < 3 * 4 * 2; n += step_of_cases(ceed)) {
    CeedInt dim = 1 + n % 3, degree = 1 + n / 3 % 4, num_comp = n / 12 ? 3 : 1;
    double sizes[9], factors[3];
    Torn t;

    for (int e = 0; e < 3; e++) {
      double h = 0.5 + 1.2 * e; // gradients scale with 2/h, volumes with (h/2)^dim

      factors[e] = pow(h / 2, dim - 2);
      for (CeedInt d = 0; d < dim; d++) sizes[e * dim + d] = h;
    }
    CHECK_OK(create_spaces(ceed, dim, MAX_ELEM, degree, num_comp, &t));
    CHECK_OK(create_boxes(ceed, sizes, true, &t));
    check_residual(&t, factors);
    if (tap_failed()) tap_note("dim %d, degree %d, %d components", (int)dim, (int)degree, (int)num_comp);
    destroy_torn(&t);
    if (tap_failed()) return;
  }
}

TEST_EACH_BACKEND(inverse_of_mass_and_laplacian_together_is_that_of_the_perturbed_sum) {
  const double factor = 3;
  CeedQFunction qf = NULL;
  Torn t;

  CHECK_OK(create_spaces(ceed, 2, 1, 4, 1, &t));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, MassAndLaplacian2D, MassAndLaplacian2D_loc, &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddInput(qf, "du", 2, CEED_EVAL_GRAD));
  CHECK_OK(CeedQFunctionAddInput(qf, "weights", 1, CEED_EVAL_WEIGHT));
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "dv", 2, CEED_EVAL_GRAD));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &t.op));
  CHECK_OK(CeedOperatorSetField(t.op, "u", t.rstr, t.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(t.op, "du", t.rstr, t.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(t.op, "weights", CEED_ELEMRESTRICTION_NONE, t.basis, CEED_VECTOR_NONE));
  CHECK_OK(CeedOperatorSetField(t.op, "v", t.rstr, t.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(t.op, "dv", t.rstr, t.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorCreateFDMElementInverse(t.op, &t.inverse, CEED_REQUEST_IMMEDIATE));
  check_residual(&t, &factor);
  CeedQFunctionDestroy(&qf);
  destroy_torn(&t);
}

// ---- The scale of an element ----

// An operator of the gallery with numbers at the points: the given ones times the weights.
static int create_with_qdata(Ceed ceed, const char *function, CeedEvalMode mode, CeedInt num_q,
                             const double *values, Torn *t) {
  CeedInt Q = CeedIntPow(t->Q_1d, t->dim), num = t->num_elem * num_q * Q;
  const CeedInt strides[3] = {1, Q, num_q * Q};
  double x[REFERENCE_MAX_1D], w[REFERENCE_MAX_1D], *weighted = levels_allocate(num);
  CeedQFunction qf = NULL;
  CeedElemRestriction rstr_q = NULL;

  reference_quadrature(CEED_GAUSS, t->Q_1d, x, w);
  for (CeedInt i = 0; i < num; i++) {
    weighted[i] = values[i];
    for (CeedInt d = 0, q = i % Q; d < t->dim; d++, q /= t->Q_1d) weighted[i] *= w[q % t->Q_1d];
  }
  CeedVector qdata = reference_vector(ceed, num, weighted);
  int ierr = CeedElemRestrictionCreateStrided(ceed, t->num_elem, Q, num_q, num, strides, &rstr_q);

  if (!ierr) ierr = CeedQFunctionCreateInteriorByName(ceed, function, &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &t->op);
  bool is_mass = mode == CEED_EVAL_INTERP;

  if (!ierr) ierr = CeedOperatorSetField(t->op, is_mass ? "u" : "du", t->rstr, t->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(t->op, "qdata", rstr_q, CEED_BASIS_NONE, qdata);
  if (!ierr) ierr = CeedOperatorSetField(t->op, is_mass ? "v" : "dv", t->rstr, t->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorCreateFDMElementInverse(t->op, &t->inverse, CEED_REQUEST_IMMEDIATE);
  free(weighted);
  CeedQFunctionDestroy(&qf);
  CeedVectorDestroy(&qdata);
  CeedElemRestrictionDestroy(&rstr_q);
  return ierr;
}

// The inverses are those of `plain`, element by element divided by the scales.
static void check_scales(const Torn *t, const Torn *plain, const double *scales) {
  uint64_t seed = 4;
  double *f = levels_allocate_random(t->size, &seed), *v = levels_allocate(t->size),
         *g = levels_allocate(t->size);

  CHECK_OK(levels_apply(t->inverse, t->size, f, t->size, v));
  CHECK_OK(levels_apply(plain->inverse, t->size, f, t->size, g));
  for (CeedSize i = 0; i < t->size; i++) {
    CeedSize e = i / (t->num_comp * t->P);

    CHECK_NEAR(v[i], g[i] / scales[e], 50 * eps * levels_largest(t->size, g) / fabs(scales[e]), "entry %td",
               i);
  }
  free(f);
  free(v);
  free(g);
}

// Numbers that are zero or round-off against the largest of all elements do not count.
TEST_EACH_BACKEND(scale_of_an_element_is_the_mean_of_its_coefficients) {
  enum { Q = 4 };
  const double tiny = 1e-3 * eps, one[MAX_ELEM * Q] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const double values[MAX_ELEM * Q] = {1, 5, 2, 4, 0, 3, tiny, 6, 0, 0, -tiny, 0};
  const double scales[MAX_ELEM] = {3, 4.5, 1};
  Torn t, plain;

  CHECK_OK(create_spaces(ceed, 1, MAX_ELEM, 2, 1, &t));
  CHECK_OK(create_spaces(ceed, 1, MAX_ELEM, 2, 1, &plain));
  CHECK_OK(create_with_qdata(ceed, "MassApply", CEED_EVAL_INTERP, 1, values, &t));
  CHECK_OK(create_with_qdata(ceed, "MassApply", CEED_EVAL_INTERP, 1, one, &plain));
  check_scales(&t, &plain, scales);
  destroy_torn(&t);
  destroy_torn(&plain);
}

// Coefficients 2, 5 and -1 off the diagonal, twice: the mean of four is 5/4. Without them it is 7/2.
TEST_EACH_BACKEND(entries_off_the_diagonal_take_part_in_the_scale) {
  enum { Q = 16 };
  double full[3 * Q], diagonal[3 * Q], one[3 * Q];
  const double scale_full = 1.25, scale_diagonal = 3.5;
  Torn t_full, t_diagonal, plain;

  for (int i = 0; i < 3 * Q; i++) {
    full[i] = i < Q ? 2 : i < 2 * Q ? 5 : -1;
    diagonal[i] = i < 2 * Q ? full[i] : 0;
    one[i] = i < 2 * Q ? 1 : 0;
  }
  CHECK_OK(create_spaces(ceed, 2, 1, 2, 1, &t_full));
  CHECK_OK(create_spaces(ceed, 2, 1, 2, 1, &t_diagonal));
  CHECK_OK(create_spaces(ceed, 2, 1, 2, 1, &plain));
  CHECK_OK(create_with_qdata(ceed, "Poisson2DApply", CEED_EVAL_GRAD, 3, full, &t_full));
  CHECK_OK(create_with_qdata(ceed, "Poisson2DApply", CEED_EVAL_GRAD, 3, diagonal, &t_diagonal));
  CHECK_OK(create_with_qdata(ceed, "Poisson2DApply", CEED_EVAL_GRAD, 3, one, &plain));
  check_scales(&t_full, &plain, &scale_full);
  check_scales(&t_diagonal, &plain, &scale_diagonal);
  destroy_torn(&t_full);
  destroy_torn(&t_diagonal);
  destroy_torn(&plain);
}

// The assembled QFunction is taken from the cache while that is to be reused and counts as valid.
TEST_EACH_BACKEND(scales_come_from_the_cache_when_it_is_to_be_reused) {
  const double values[4] = {1, 1, 1, 1}, ones = 1, twos = 2;
  CeedOperatorField field = NULL;
  CeedVector qdata = NULL;
  Torn t, plain;

  CHECK_OK(create_spaces(ceed, 1, 1, 2, 1, &t));
  CHECK_OK(create_spaces(ceed, 1, 1, 2, 1, &plain));
  CHECK_OK(create_with_qdata(ceed, "MassApply", CEED_EVAL_INTERP, 1, values, &t));
  CHECK_OK(create_with_qdata(ceed, "MassApply", CEED_EVAL_INTERP, 1, values, &plain));
  CHECK_OK(CeedOperatorGetFieldByName(t.op, "qdata", &field));
  CHECK_OK(CeedOperatorFieldGetVector(field, &qdata));
  for (int step = 0; step < 3; step++) {
    if (step == 0) CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(t.op, true));
    if (step == 1) CHECK_OK(CeedVectorScale(qdata, 2));
    if (step == 2) CHECK_OK(CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(t.op, true));
    CeedOperatorDestroy(&t.inverse);
    CHECK_OK(CeedOperatorCreateFDMElementInverse(t.op, &t.inverse, CEED_REQUEST_IMMEDIATE));
    check_scales(&t, &plain, step < 2 ? &ones : &twos);
    if (tap_failed()) return;
  }
  CeedVectorDestroy(&qdata);
  destroy_torn(&t);
  destroy_torn(&plain);
}

// ---- The operator ----

// Two elements of a line that share a node: contributions add up.
TEST_EACH_BACKEND(inverses_of_elements_that_share_nodes_are_added) {
  const CeedInt offsets[6] = {0, 1, 2, 2, 3, 4};
  const double corners[4] = {0, 1, 1, 3}, sizes[2] = {1, 2};
  const GridElements elements = {1, 2, corners};
  CeedElemRestriction shared = NULL;
  CeedOperator op = NULL, inverse = NULL;
  Torn t;
  double *sum, *blocks;

  CHECK_OK(create_spaces(ceed, 1, 2, 2, 1, &t));
  CHECK_OK(create_boxes(ceed, sizes, false, &t));
  CHECK_OK(CeedElemRestrictionCreate(ceed, 2, 3, 1, 1, 5, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &shared));
  CHECK_OK(grid_create_operator(ceed, &elements, t.Q_1d, false, shared, t.basis, &op));
  CHECK_OK(CeedOperatorCreateFDMElementInverse(op, &inverse, CEED_REQUEST_IMMEDIATE));
  sum = levels_create_matrix(inverse, 5, 5);
  blocks = levels_create_matrix(t.inverse, 6, 6);
  for (int i = 0; i < 36; i++) sum[offsets[i / 6] * 5 + offsets[i % 6]] -= blocks[i];
  for (int i = 0; i < 25; i++) CHECK_NEAR(sum[i], 0, 100 * eps * levels_largest(36, blocks), "entry %d", i);
  free(sum);
  free(blocks);
  CeedOperatorDestroy(&op);
  CeedOperatorDestroy(&inverse);
  CeedElemRestrictionDestroy(&shared);
  destroy_torn(&t);
}

// Symmetric in exact arithmetic: X diag X^T.
TEST_EACH_BACKEND(inverses_are_symmetric) {
  const double sizes[3] = {1, 1, 1};
  Torn t;
  double *matrix;

  CHECK_OK(create_spaces(ceed, 3, 1, 2, 1, &t));
  CHECK_OK(create_boxes(ceed, sizes, true, &t));
  matrix = levels_create_matrix(t.inverse, 27, 27);
  for (int i = 0; i < 27 * 27; i++) {
    CHECK_NEAR(matrix[i], matrix[i % 27 * 27 + i / 27], 50 * eps * levels_largest(27 * 27, matrix),
               "entry %d", i);
  }
  free(matrix);
  destroy_torn(&t);
}

// One flop per component and node for the factors, besides two evaluations of the basis and the scatter.
TEST_EACH_BACKEND(inverse_has_no_name_and_knows_its_flops) {
  const double sizes[6] = {1, 1, 1, 1, 1, 1};
  const char *name = "";
  CeedSize flops = 0, forward = 0, backward = 0;
  CeedRequest request = NULL;
  CeedBasis basis = NULL;
  Torn t;

  CHECK_OK(create_spaces(ceed, 2, 2, 2, 3, &t));
  CHECK_OK(create_boxes(ceed, sizes, false, &t));
  CeedOperatorDestroy(&t.inverse);
  CHECK_OK(CeedOperatorSetName(t.op, "mass"));
  CHECK_OK(CeedOperatorCreateFDMElementInverse(t.op, &t.inverse, &request));
  CHECK_OK(CeedRequestWait(&request));
  CHECK_OK(CeedOperatorGetName(t.inverse, &name));
  CHECK(!strcmp(name, "Scale"), "it is called '%s'", name); // the name of its QFunction
  CHECK_OK(CeedOperatorGetActiveBasis(t.inverse, &basis));
  CHECK_OK(CeedBasisGetFlopsEstimate(basis, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, false, 0, &forward));
  CHECK_OK(CeedBasisGetFlopsEstimate(basis, CEED_TRANSPOSE, CEED_EVAL_INTERP, false, 0, &backward));
  CHECK_OK(CeedOperatorGetFlopsEstimate(t.inverse, &flops));
  CHECK(flops == 2 * (forward + backward + 3 * 9 + 3 * 9), "%td flops", flops);
  CeedBasisDestroy(&basis);
  destroy_torn(&t);
}

TEST_EACH_BACKEND(inverse_without_elements_gives_zeros) {
  double u[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, v[9];
  const GridElements elements = {2, 0, NULL};
  CeedElemRestriction none = NULL;
  Torn t;

  CHECK_OK(create_spaces(ceed, 2, 1, 2, 1, &t));
  CHECK_OK(CeedElemRestrictionCreate(ceed, 0, 9, 1, 1, 9, CEED_MEM_HOST, CEED_COPY_VALUES, NULL, &none));
  CHECK_OK(grid_create_operator(ceed, &elements, t.Q_1d, true, none, t.basis, &t.op));
  CHECK_OK(CeedOperatorCreateFDMElementInverse(t.op, &t.inverse, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(levels_apply(t.inverse, 9, u, 9, v));
  CHECK(levels_largest(9, v) == 0, "not zero");
  CeedElemRestrictionDestroy(&none);
  destroy_torn(&t);
}

// ---- Misuse ----

// u -> v of one component, with the vectors of the two fields.
static int create_identity(Ceed ceed, const Torn *t, CeedBasis basis, CeedVector in, CeedVector out,
                           CeedOperator *op) {
  CeedQFunction qf = NULL;
  CeedEvalMode mode = basis == CEED_BASIS_NONE ? CEED_EVAL_NONE : CEED_EVAL_INTERP;
  int ierr = CeedQFunctionCreateIdentity(ceed, 1, mode, mode, &qf);

  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr && in) ierr = CeedOperatorSetField(*op, "input", t->rstr, basis, in);
  if (!ierr) ierr = CeedOperatorSetField(*op, "output", t->rstr, basis, out);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static void check_refused(Ceed ceed, CeedOperator op, int code, const char *fragment) {
  CeedOperator inverse = NULL;

  CHECK_ERROR(ceed, CeedOperatorCreateFDMElementInverse(op, &inverse, CEED_REQUEST_IMMEDIATE), code,
              fragment);
  CHECK(!inverse, "an operator was made");
}

TEST_EACH_BACKEND(operators_without_such_an_inverse_are_refused) {
  const CeedScalar ones[4] = {1, 1, 1, 1};
  CeedOperator composite = NULL, incomplete = NULL, passive_in = NULL, passive_out = NULL, dense_op = NULL,
               none = NULL, flat_op = NULL;
  CeedBasis dense = NULL, flat = NULL;
  CeedVector vec = NULL;
  Torn t;

  CHECK_OK(create_spaces(ceed, 1, 1, 1, 1, &t));
  CHECK_OK(CeedVectorCreate(ceed, t.size, &vec));
  CHECK_OK(CeedVectorSetValue(vec, 1));
  CHECK_OK(CeedBasisCreateH1(ceed, CEED_TOPOLOGY_LINE, 1, 2, 2, ones, ones, NULL, NULL, &dense));
  CHECK_OK(CeedBasisCreateTensorH1(ceed, 1, 1, 2, 2, ones, ones, ones, ones, &flat)); // the mass is singular
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(create_identity(ceed, &t, t.basis, NULL, CEED_VECTOR_ACTIVE, &incomplete));
  CHECK_OK(create_identity(ceed, &t, t.basis, vec, CEED_VECTOR_ACTIVE, &passive_in));
  CHECK_OK(create_identity(ceed, &t, t.basis, CEED_VECTOR_ACTIVE, vec, &passive_out));
  CHECK_OK(create_identity(ceed, &t, dense, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, &dense_op));
  CHECK_OK(create_identity(ceed, &t, flat, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, &flat_op));
  CHECK_OK(create_identity(ceed, &t, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, &none));
  check_refused(ceed, composite, CEED_ERROR_MINOR, "composite");
  check_refused(ceed, incomplete, CEED_ERROR_INCOMPLETE, "fields are set");
  check_refused(ceed, passive_in, CEED_ERROR_BACKEND, "no active input");
  check_refused(ceed, passive_out, CEED_ERROR_BACKEND, "active output");
  check_refused(ceed, dense_op, CEED_ERROR_BACKEND, "tensor");
  check_refused(ceed, none, CEED_ERROR_BACKEND, "tensor");
  check_refused(ceed, flat_op, CEED_ERROR_MINOR, "positive definite");
  check_refused(NULL, NULL, CEED_ERROR_INCOMPATIBLE, "NULL");

  CeedOperator *const all[] = {&composite, &incomplete, &passive_in, &passive_out,
                               &dense_op,  &none,       &flat_op};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) CeedOperatorDestroy(all[i]);
  CeedBasisDestroy(&dense);
  CeedBasisDestroy(&flat);
  CeedVectorDestroy(&vec);
  destroy_torn(&t);
}

TEST_EACH_BACKEND(inverses_of_operators_at_points_are_refused) {
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  Torn t;

  CHECK_OK(create_spaces(ceed, 1, 1, 1, 1, &t));
  CHECK_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf));
  CHECK_OK(CeedOperatorCreateAtPoints(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "input", t.rstr, t.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "output", t.rstr, t.basis, CEED_VECTOR_ACTIVE));
  check_refused(ceed, op, CEED_ERROR_UNSUPPORTED, "at points");
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  destroy_torn(&t);
}

// Every allocation fails once: an error each time, nothing left over, and the operator still works.
TEST_EACH_BACKEND(inverses_survive_every_failing_allocation) {
  const double sizes[4] = {1, 1, 1, 1}, factor = 1;
  int64_t live = -1;
  Torn t;

  CHECK_OK(create_spaces(ceed, 2, 1, 2, 1, &t));
  CHECK_OK(create_boxes(ceed, sizes, true, &t));
  for (int64_t n = 1;; n++) {
    CeedOperatorDestroy(&t.inverse);
    CHECK(live == -1 || live == ritz_memory_live(), "allocation %d leaves memory behind", (int)n - 1);
    live = ritz_memory_live();
    ritz_memory_fail_at(n);
    int ierr = CeedOperatorCreateFDMElementInverse(t.op, &t.inverse, CEED_REQUEST_IMMEDIATE);

    ritz_memory_fail_at(0);
    if (!ierr) break;
    CHECK(ierr == CEED_ERROR_MAJOR && !t.inverse && n < 1000, "allocation %d: code %d", (int)n, ierr);
    CHECK_OK(CeedOperatorCreateFDMElementInverse(t.op, &t.inverse, CEED_REQUEST_IMMEDIATE));
  }
  check_residual(&t, &factor);
  destroy_torn(&t);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(inverse_of_mass_is_exact_on_boxes_of_any_size,
                        inverse_of_the_laplacian_on_cubes_is_that_of_the_perturbed_one,
                        inverse_of_mass_and_laplacian_together_is_that_of_the_perturbed_sum,
                        scale_of_an_element_is_the_mean_of_its_coefficients,
                        entries_off_the_diagonal_take_part_in_the_scale,
                        scales_come_from_the_cache_when_it_is_to_be_reused,
                        inverses_of_elements_that_share_nodes_are_added, inverses_are_symmetric,
                        inverse_has_no_name_and_knows_its_flops, inverse_without_elements_gives_zeros,
                        operators_without_such_an_inverse_are_refused,
                        inverses_of_operators_at_points_are_refused,
                        inverses_survive_every_failing_allocation));
}
