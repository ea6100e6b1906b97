// SPDX-License-Identifier: BSD-2-Clause
// RitzOperatorReduce: integrals of polynomials on all shapes, the sums of the values that an apply gives at
// the same points, at points of particles, what changes between two calls; refusals.
#include <ceed/backend.h>
#include <math.h>
#include <ritz/basis.h>
#include <ritz/function.h>
#include <ritz/operator.h>
#include <ritz/precision.h>
#include <ritz/qfunction.h>

#include "tests/points-problem.h"
#include "tests/reduce-qfunctions.h"
#include "tests/shapes-kit.h"

enum { NUM_SUMS = 3, MAX_BLOCKS = 8 };
static const int shapes[] = {
    CEED_TOPOLOGY_LINE,  CEED_TOPOLOGY_TRIANGLE, CEED_TOPOLOGY_QUAD, CEED_TOPOLOGY_TET, CEED_TOPOLOGY_HEX,
    CEED_TOPOLOGY_PRISM, CEED_TOPOLOGY_PYRAMID,  MIXED_PLANE,        MIXED_SOLID};
enum { NUM_SHAPES_HERE = sizeof(shapes) / sizeof(shapes[0]) };

typedef struct {
  CeedInt dim;
  RitzMesh mesh;
  RitzSpace space;
  CeedVector u, x;
  CeedQFunctionContext ctx;
  CeedQFunction qf;
  CeedOperator op;                      // composite, a part for each block
  CeedVector at_points[2 * MAX_BLOCKS]; // passive outputs, two of each block
} Integral;

// ---- The operator: integrands of 1, s u, (s u)^2 on a mesh of the unit box ----

static int create_context(Ceed ceed, Integral *p) {
  const IntegrandContext data = {p->dim, 1};

  RITZ_TRY(CeedQFunctionContextCreate(ceed, &p->ctx));
  RITZ_TRY(CeedQFunctionContextSetData(p->ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), (void *)&data));
  return CeedQFunctionContextRegisterDouble(p->ctx, "scale", offsetof(IntegrandContext, scale), 1, "of u");
}

static int create_function(Ceed ceed, Integral *p) {
  RITZ_TRY(create_context(ceed, p));
  RITZ_TRY(CeedQFunctionCreateInterior(ceed, 1, Integrands, Integrands_loc, &p->qf));
  RITZ_TRY(CeedQFunctionAddInput(p->qf, "u", 1, CEED_EVAL_INTERP));
  RITZ_TRY(CeedQFunctionAddInput(p->qf, "dx", p->dim * p->dim, CEED_EVAL_GRAD));
  RITZ_TRY(CeedQFunctionAddInput(p->qf, "weights", 1, CEED_EVAL_WEIGHT));
  RITZ_TRY(CeedQFunctionAddOutput(p->qf, "first", 2, CEED_EVAL_NONE));
  RITZ_TRY(CeedQFunctionAddOutput(p->qf, "second", 1, CEED_EVAL_NONE));
  return CeedQFunctionSetContext(p->qf, p->ctx);
}

static int create_strided(Ceed ceed, CeedInt num_elem, CeedInt Q, CeedInt num_comp,
                          CeedElemRestriction *rstr) {
  return CeedElemRestrictionCreateStrided(ceed, num_elem, Q, num_comp, (CeedSize)num_elem * Q * num_comp,
                                          (CeedInt[]){1, Q, Q * num_comp}, rstr);
}

static int add_block(Ceed ceed, Integral *p, CeedInt b, CeedElemRestriction rstr_x) {
  static const char *const names[] = {"first", "second"};
  CeedElemRestriction rstr_u = NULL, rstr = NULL;
  CeedBasis basis_u = NULL, basis_x = NULL;
  CeedOperator op = NULL;
  CeedInt num_elem = 0, Q = 0;

  RITZ_TRY(RitzSpaceCreateBlockRestriction(p->space, b, ceed, &rstr_u));
  RITZ_TRY(RitzSpaceCreateBlockBasis(p->space, b, ceed, 6, &basis_u));
  RITZ_TRY(RitzMeshCreateBlockBasis(p->mesh, b, ceed, 6, &basis_x));
  RITZ_TRY(CeedElemRestrictionGetNumElements(rstr_u, &num_elem));
  RITZ_TRY(CeedBasisGetNumQuadraturePoints(basis_u, &Q));
  RITZ_TRY(CeedOperatorCreate(ceed, p->qf, NULL, NULL, &op));
  RITZ_TRY(CeedOperatorSetField(op, "u", rstr_u, basis_u, CEED_VECTOR_ACTIVE));
  RITZ_TRY(CeedOperatorSetField(op, "dx", rstr_x, basis_x, p->x));
  RITZ_TRY(CeedOperatorSetField(op, "weights", CEED_ELEMRESTRICTION_NONE, basis_x, CEED_VECTOR_NONE));
  for (int i = 0; i < 2; i++) {
    CeedVector *values = &p->at_points[2 * b + i];
    RITZ_TRY(create_strided(ceed, num_elem, Q, 2 - i, &rstr));
    RITZ_TRY(CeedElemRestrictionCreateVector(rstr, values, NULL));
    RITZ_TRY(CeedOperatorSetField(op, names[i], rstr, CEED_BASIS_NONE, *values));
    CeedElemRestrictionDestroy(&rstr);
  }
  RITZ_TRY(CeedOperatorCompositeAddSub(p->op, op));
  CeedElemRestrictionDestroy(&rstr_u);
  CeedBasisDestroy(&basis_u);
  CeedBasisDestroy(&basis_x);
  return CeedOperatorDestroy(&op);
}

static int square(void *ctx, const double *x, double *values) {
  (void)ctx;
  values[0] = x[0] * x[0];
  return 0;
}

static int create_integral(Ceed ceed, int shape, Integral *p) {
  CeedElemRestriction rstr_x[MAX_BLOCKS] = {NULL};
  CeedInt num_blocks = 0;
  CeedSize size = 0;
  RitzMeshDraft draft;

  *p = (Integral){.dim = dim_of(shape)};
  RITZ_TRY(flat_draft(ceed, shape, 1, &draft));
  RITZ_TRY(ritz_mesh_build(ceed, "unit box", &draft, &p->mesh));
  RITZ_TRY(RitzSpaceCreate(p->mesh, 2, 1, &p->space));
  RITZ_TRY(RitzSpaceGetSize(p->space, &size));
  RITZ_TRY(CeedVectorCreate(ceed, size, &p->u));
  RITZ_TRY(RitzSpaceInterpolate(p->space, square, NULL, p->u));
  RITZ_TRY(create_function(ceed, p));
  RITZ_TRY(CeedOperatorCreateComposite(ceed, &p->op));
  RITZ_TRY(RitzMeshGetNumBlocks(p->mesh, &num_blocks));
  RITZ_TRY(RitzMeshCreateBlockCoordinates(p->mesh, ceed, rstr_x, &p->x));
  for (CeedInt b = 0; b < num_blocks; b++) {
    RITZ_TRY(add_block(ceed, p, b, rstr_x[b]));
    CeedElemRestrictionDestroy(&rstr_x[b]);
  }
  return CEED_ERROR_SUCCESS;
}

static void destroy_integral(Integral *p) {
  for (int i = 0; i < 2 * MAX_BLOCKS; i++) CeedVectorDestroy(&p->at_points[i]);
  CeedOperatorDestroy(&p->op);
  CeedQFunctionDestroy(&p->qf);
  CeedQFunctionContextDestroy(&p->ctx);
  CeedVectorDestroy(&p->u);
  CeedVectorDestroy(&p->x);
  RitzSpaceDestroy(&p->space);
  RitzMeshDestroy(&p->mesh);
}

// Some hundred products of numbers below one, and rules with weights of 16 digits.
#define TOLERANCE (200 * eps)

static void check_sums(const Integral *p, double scale, const double *sums) {
  CHECK_NEAR(sums[0], 1, TOLERANCE, "volume, %d dimensions", (int)p->dim);
  CHECK_NEAR(sums[1], scale / 3, TOLERANCE * fabs(scale), "integral of x^2");
  CHECK_NEAR(sums[2], scale * scale / 5, TOLERANCE * scale * scale, "integral of x^4");
}

TEST_EACH_BACKEND(integrals_of_polynomials_are_exact_on_all_shapes) {
  for (int i = 0; i < NUM_SHAPES_HERE && !tap_failed(); i++) {
    double sums[NUM_SUMS] = {NAN, NAN, NAN};
    Integral p;

    CHECK_OK(create_integral(ceed, shapes[i], &p));
    CHECK_OK(RitzOperatorReduce(p.op, p.u, NUM_SUMS, sums));
    check_sums(&p, 1, sums);
    if (tap_failed()) tap_note("shape %d", shapes[i]);
    destroy_integral(&p);
  }
}

// ---- Against applies ----

static void add_components(CeedVector vec, CeedInt num_comp, CeedInt Q, double *sums) {
  CeedSize length = 0;

  CeedVectorGetLength(vec, &length);
  double *values = reference_new_values(vec);
  for (CeedSize i = 0; i < length; i++) sums[i / Q % num_comp] += values[i];
  free(values);
}

TEST_EACH_BACKEND(sums_are_those_of_the_values_at_points) {
  for (int i = 0; i < 2; i++) {
    const double untouched = 77;
    double sums[NUM_SUMS], wanted[NUM_SUMS] = {0};
    CeedInt num_parts = 0, Q = 0;
    CeedOperator *parts = NULL;
    Integral p;

    CHECK_OK(create_integral(ceed, i ? MIXED_SOLID : CEED_TOPOLOGY_HEX, &p));
    CHECK_OK(CeedOperatorCompositeGetNumSub(p.op, &num_parts));
    CHECK_OK(CeedOperatorCompositeGetSubList(p.op, &parts));
    for (CeedInt b = 0; b < 2 * num_parts; b++) CHECK_OK(CeedVectorSetValue(p.at_points[b], untouched));
    CHECK_OK(RitzOperatorReduce(p.op, p.u, NUM_SUMS, sums));
    for (CeedInt b = 0; b < 2 * num_parts; b++) {
      double *values = reference_new_values(p.at_points[b]);
      CHECK(values[0] == untouched, "a passive output was written");
      free(values);
    }
    CHECK_OK(CeedOperatorApply(p.op, p.u, CEED_VECTOR_NONE, CEED_REQUEST_IMMEDIATE));
    for (CeedInt b = 0; b < num_parts; b++) {
      CHECK_OK(CeedOperatorGetNumQuadraturePoints(parts[b], &Q));
      add_components(p.at_points[2 * b], 2, Q, wanted);
      add_components(p.at_points[2 * b + 1], 1, Q, wanted + 2);
    }
    for (int k = 0; k < NUM_SUMS; k++) CHECK_NEAR(sums[k], wanted[k], TOLERANCE, "sum %d", k);
    destroy_integral(&p);
  }
}

// Points that no list has, one, hundreds in an element; every point twice. An output of three components.
TEST_EACH_BACKEND(points_of_particles_are_summed) {
  for (int repeats = 0; repeats < 2; repeats++) {
    const PointsShape shape = {
        .n = 2, .degree = 2, .num_comp = 3, .repeats = repeats, .mode = CEED_EVAL_INTERP};
    double sums[3], wanted[3] = {0}, sizes = 0;
    CeedSize length = 0;
    PointsProblem p = {0};

    CHECK_OK(points_problem_create(ceed, &shape, POINTS_INTERPOLATE, &p));
    CHECK_OK(points_problem_fill(&p));
    CHECK_OK(RitzOperatorReduce(p.op, p.u, 3, sums));
    CHECK_OK(CeedOperatorApply(p.op, p.u, p.v, CEED_REQUEST_IMMEDIATE));
    CHECK_OK(CeedVectorGetLength(p.v, &length));
    double *values = reference_new_values(p.v);
    for (CeedSize i = 0; i < length; i++) {
      wanted[i % 3] += values[i];
      sizes += fabs(values[i]);
    }
    // Some hundred numbers, each from sums of 27 products.
    for (int k = 0; k < 3; k++) CHECK_NEAR(sums[k], wanted[k], 50 * eps * sizes, "component %d", k);
    free(values);
    points_problem_destroy(&p);
  }
}

// ---- One element kind each: what an operator keeps, other inputs ----

// Q numbers an element through a QFunction of the gallery; without a basis, or with one of these.
typedef enum { NO_BASIS, DENSE, HDIV, NUM_INPUTS } Input;
enum { COPY_ELEM = 5, COPY_Q_1D = 3, COPY_Q = 9 };

static int create_input_basis(Ceed ceed, Input input, CeedBasis *basis) {
  CeedScalar interp[COPY_Q * 2], zeros[2 * COPY_Q * 2] = {0};

  *basis = CEED_BASIS_NONE;
  if (input == HDIV) return RitzBasisCreateTensorHdiv(ceed, 2, 1, 1, COPY_Q_1D, CEED_GAUSS, basis);
  if (input == NO_BASIS) return CEED_ERROR_SUCCESS;
  for (int q = 0; q < COPY_Q; q++) { // two nodes, any weights
    interp[2 * q] = (CeedScalar)(1 - q) / 8;
    interp[2 * q + 1] = (CeedScalar)q / 16;
  }
  return CeedBasisCreateH1(ceed, CEED_TOPOLOGY_TRIANGLE, 1, 2, COPY_Q, interp, zeros, zeros, zeros, basis);
}

// The output is the input at the points. *size: numbers of it at a point.
static int create_copy(Ceed ceed, Input input, CeedInt num_elem, CeedInt *size, CeedSize *length,
                       CeedOperator *op) {
  CeedElemRestriction nodes = NULL, points = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedInt P = COPY_Q;

  *size = input == HDIV ? 2 : 1;
  RITZ_TRY(create_input_basis(ceed, input, &basis));
  if (input != NO_BASIS) RITZ_TRY(CeedBasisGetNumNodes(basis, &P));
  *length = (CeedSize)num_elem * P;
  RITZ_TRY(create_strided(ceed, num_elem, P, 1, &nodes));
  RITZ_TRY(create_strided(ceed, num_elem, COPY_Q, *size, &points));
  RITZ_TRY(CeedQFunctionCreateIdentity(ceed, *size, input == NO_BASIS ? CEED_EVAL_NONE : CEED_EVAL_INTERP,
                                       CEED_EVAL_NONE, &qf));
  RITZ_TRY(CeedOperatorCreate(ceed, qf, NULL, NULL, op));
  RITZ_TRY(CeedOperatorSetField(*op, "input", nodes, basis, CEED_VECTOR_ACTIVE));
  RITZ_TRY(CeedOperatorSetField(*op, "output", points, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CeedElemRestrictionDestroy(&nodes);
  CeedElemRestrictionDestroy(&points);
  if (basis != CEED_BASIS_NONE) CeedBasisDestroy(&basis);
  return CeedQFunctionDestroy(&qf);
}

static void check_copy(Ceed ceed, Input input, CeedScalarType precision) {
  const double unit = precision == CEED_SCALAR_FP32 ? (double)FLT_EPSILON : eps;
  double sums[2], wanted[2] = {0};
  uint64_t seed = 3 + (uint64_t)input;
  CeedInt size = 0;
  CeedSize length = 0;
  CeedOperator op = NULL;
  CeedVector v = NULL;

  CHECK_OK(create_copy(ceed, input, COPY_ELEM, &size, &length, &op));
  CHECK_OK(RitzOperatorSetPrecision(op, precision));
  double *values = reference_new_random(length, &seed);
  CeedVector u = reference_vector(ceed, length, values);
  CHECK_OK(CeedVectorCreate(ceed, (CeedSize)COPY_ELEM * COPY_Q * size, &v));
  CHECK_OK(RitzOperatorReduce(op, u, size, sums));
  CHECK_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  add_components(v, size, COPY_Q, wanted);
  // 45 numbers of size 1 or less, each of some products.
  for (CeedInt k = 0; k < size; k++) CHECK_NEAR(sums[k], wanted[k], 450 * unit, "input %d", (int)input);
  free(values);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedOperatorDestroy(&op);
}

TEST_EACH_BACKEND(inputs_have_any_basis_or_none) {
  for (int i = 0; i < NUM_INPUTS && !tap_failed(); i++) check_copy(ceed, (Input)i, CEED_SCALAR_TYPE);
}

TEST_EACH_BACKEND(operators_in_float_are_summed) {
  for (int i = 0; i < NUM_INPUTS && !tap_failed(); i++) check_copy(ceed, (Input)i, CEED_SCALAR_FP32);
}

TEST_EACH_BACKEND(no_elements_sum_to_zero) {
  double sums[2] = {7, 7};
  CeedInt size = 0;
  CeedSize length = 0;
  CeedOperator op = NULL;
  CeedVector u = NULL;

  CHECK_OK(create_copy(ceed, HDIV, 0, &size, &length, &op));
  CHECK_OK(CeedVectorCreate(ceed, 0, &u));
  CHECK_OK(RitzOperatorReduce(op, u, 2, sums));
  CHECK(sums[0] == 0 && sums[1] == 0, "found %g, %g", sums[0], sums[1]);
  CeedVectorDestroy(&u);
  CeedOperatorDestroy(&op);
}

TEST_EACH_BACKEND(changes_between_calls_count) {
  double scale = -2;
  double sums[NUM_SUMS];
  CeedContextFieldLabel label = NULL;
  CeedQFunctionContext other = NULL;
  Integral p;

  CHECK_OK(create_integral(ceed, CEED_TOPOLOGY_QUAD, &p));
  CHECK_OK(RitzOperatorReduce(p.op, p.u, NUM_SUMS, sums));
  CHECK_OK(CeedOperatorGetContextFieldLabel(p.op, "scale", &label));
  CHECK_OK(CeedOperatorSetContextDouble(p.op, label, &scale));
  CHECK_OK(RitzOperatorReduce(p.op, p.u, NUM_SUMS, sums));
  check_sums(&p, scale, sums);
  CHECK_OK(CeedVectorScale(p.u, 3));
  CHECK_OK(RitzOperatorReduce(p.op, p.u, NUM_SUMS, sums));
  check_sums(&p, 3 * scale, sums);
  const IntegrandContext data = {p.dim, 1};
  CHECK_OK(CeedQFunctionContextCreate(ceed, &other));
  CHECK_OK(CeedQFunctionContextSetData(other, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), (void *)&data));
  CHECK_OK(CeedQFunctionSetContext(p.qf, other));
  CHECK_OK(RitzOperatorReduce(p.op, p.u, NUM_SUMS, sums));
  check_sums(&p, 3, sums);
  CHECK_OK(CeedQFunctionContextDestroy(&other));
  destroy_integral(&p);
}

// A text alone, whose function the library makes.
static const char halves[] =
    "#include <ceed/types.h>\n"
    "CEED_QFUNCTION(Halves)(void *ctx, const CeedInt Q, const CeedScalar *const *in,\n"
    "                       CeedScalar *const *out) {\n"
    "  for (CeedInt q = 0; q < Q; q++) out[0][q] = in[0][q] / 2;\n"
    "  return 0;\n"
    "}\n";

TEST_EACH_BACKEND(texts_in_memory_are_summed) {
  double sum = 0;
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector u = NULL;

  CHECK_OK(create_strided(ceed, COPY_ELEM, COPY_Q, 1, &rstr));
  CHECK_OK(CeedElemRestrictionCreateVector(rstr, &u, NULL));
  CHECK_OK(CeedVectorSetValue(u, 3));
  CHECK_OK(RitzQFunctionCreateFromText(ceed, 1, halves, "Halves", &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "input", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionAddOutput(qf, "output", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "input", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "output", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(RitzOperatorReduce(op, u, 1, &sum));
  CHECK_NEAR(sum, 1.5 * COPY_ELEM * COPY_Q, 0, "halves"); // small numbers of halves: exact
  CeedOperatorDestroy(&op);
  CeedElemRestrictionDestroy(&rstr);
  CeedVectorDestroy(&u);
}

// ---- Refusals ----

TEST_EACH_BACKEND(what_is_no_functional_is_refused) {
  const PointsShape shape = {.n = 1, .degree = 1, .num_comp = 1, .mode = CEED_EVAL_INTERP};
  double sums[NUM_SUMS] = {7, 7, 7};
  PointsProblem points = {0};
  CeedVector empty = NULL;
  CeedSize size = 0;
  Integral p;

  CHECK_OK(create_integral(ceed, CEED_TOPOLOGY_QUAD, &p));
  CHECK_OK(CeedVectorGetLength(p.u, &size));
  CHECK_OK(CeedVectorCreate(ceed, size, &empty));
  CHECK_OK(points_problem_create(ceed, &shape, POINTS_BOTH, &points));
  CHECK_OK(points_problem_fill(&points));
  CHECK_ERROR(ceed, RitzOperatorReduce(p.op, p.u, 2, sums), CEED_ERROR_DIMENSION, "have 3 components");
  CHECK_ERROR(ceed, RitzOperatorReduce(p.op, p.u, -1, sums), CEED_ERROR_DIMENSION,
              "the number of sums is -1");
  CHECK_ERROR(ceed, RitzOperatorReduce(p.op, p.u, 3, NULL), CEED_ERROR_INCOMPATIBLE, "'sums' is NULL");
  CHECK_ERROR(ceed, RitzOperatorReduce(p.op, CEED_VECTOR_NONE, 3, sums), CEED_ERROR_INCOMPATIBLE,
              "field 'u' needs a vector");
  CHECK_ERROR(ceed, RitzOperatorReduce(p.op, empty, 3, sums), CEED_ERROR_BACKEND, "field 'u' of operator");
  CHECK_ERROR(ceed, RitzOperatorReduce(points.op, points.u, 1, sums), CEED_ERROR_INCOMPATIBLE,
              "output 'output' of operator '");
  for (int k = 0; k < NUM_SUMS; k++) CHECK(sums[k] == 7, "sum %d was changed to %g", k, sums[k]);
  CHECK_OK(RitzOperatorReduce(p.op, p.u, 3, sums));
  check_sums(&p, 1, sums);
  points_problem_destroy(&points);
  CeedVectorDestroy(&empty);
  destroy_integral(&p);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(integrals_of_polynomials_are_exact_on_all_shapes,
                        sums_are_those_of_the_values_at_points, points_of_particles_are_summed,
                        inputs_have_any_basis_or_none, operators_in_float_are_summed, no_elements_sum_to_zero,
                        changes_between_calls_count, texts_in_memory_are_summed,
                        what_is_no_functional_is_refused));
}
