// SPDX-License-Identifier: BSD-2-Clause
// Residuals and Hessians from the texts of energies (RitzOperatorCreateGradient): functions by hand, Taylor
// tests, symmetry, differences of all functions, what operators do otherwise, what is refused.
#include "tests/derivative-kit.h"
#include "tests/energy-qfunctions.h"
#include "tests/nvrtc-kit.h"
#include "tests/tap.h"

#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Energies on a cube of 2 x 2 x 1 elements of degree 2, an affine map ----

enum { CELLS = 4, P = 3, Q = 4, NX = 5, NY = 5, NZ = 3, NODES = NX * NY * NZ, POINTS = Q * Q * Q };

typedef enum { ELASTIC, POWER, HYPERELASTIC, NUM_KINDS } Kind;

static const struct {
  const char *name;
  CeedInt num_comp;
  CeedQFunctionUser function[3]; // energy, residual, Hessian
  const char *source[3];
  double range; // of the state's values
} kinds[NUM_KINDS] = {
    {"linear elasticity",
     3,
     {ElasticEnergy, ElasticResidual, ElasticHessian},
     {ElasticEnergy_loc, ElasticResidual_loc, ElasticHessian_loc},
     1},
    {"p-Laplacian",
     1,
     {PowerEnergy, PowerResidual, PowerHessian},
     {PowerEnergy_loc, PowerResidual_loc, PowerHessian_loc},
     1},
    {"neo-Hookean",
     3,
     {HyperelasticEnergy, HyperelasticResidual, HyperelasticJacobian},
     {HyperelasticEnergy_loc, HyperelasticResidual_loc, HyperelasticJacobian_loc},
     0.02},
};

typedef enum { ENERGY, RESIDUAL, HESSIAN } Order;

typedef struct {
  Ceed ceed;
  Kind kind;
  CeedSize size;
  CeedElemRestriction rstr, rstr_q, rstr_e;
  CeedBasis basis;
  CeedVector qdata, state, w, x, y, e;
  CeedQFunctionContext ctx;
  CeedOperator by_hand[3], residual, hessian;
} Kit;

// Of components first .. first + num - 1 of `all` interlaced ones.
static int make_restriction(Ceed ceed, CeedInt all, CeedInt first, CeedInt num, CeedElemRestriction *rstr) {
  CeedInt offsets[CELLS * P * P * P];
  for (CeedInt e = 0, n = 0; e < CELLS; e++) {
    for (CeedInt i = 0; i < P * P * P; i++, n++) {
      const CeedInt x = 2 * (e % 2) + i % P, y = 2 * (e / 2) + i / P % P, z = i / (P * P);
      offsets[n] = all * (x + NX * (y + NY * z)) + first;
    }
  }
  return CeedElemRestrictionCreate(ceed, CELLS, P * P * P, num, 1, (CeedSize)NODES * all, CEED_MEM_HOST,
                                   CEED_COPY_VALUES, offsets, rstr);
}

static int make_points(Ceed ceed, CeedInt num, CeedElemRestriction *rstr) {
  const CeedInt strides[3] = {1, POINTS, num * POINTS};
  return CeedElemRestrictionCreateStrided(ceed, CELLS, POINTS, num, (CeedSize)CELLS * POINTS * num, strides,
                                          rstr);
}

// Weights that vary a little, an inverse Jacobian that is full.
static int make_data(Kit *k) {
  const double inverse[9] = {2, 0.1, -0.2, 0.3, 1.5, 0.1, 0, 0.2, 1.8};
  CeedScalar *q;
  CeedCall(CeedElemRestrictionCreateVector(k->rstr_q, &k->qdata, NULL));
  CeedCall(CeedVectorGetArrayWrite(k->qdata, CEED_MEM_HOST, &q));
  for (CeedInt i = 0; i < CELLS * POINTS * 10; i++) {
    const CeedInt c = i / POINTS % 10;
    q[i] = (CeedScalar)(c ? inverse[c - 1] : 0.01 * (1 + random_number()));
  }
  return CeedVectorRestoreArray(k->qdata, &q);
}

static int make_operator(Kit *k, Order order, CeedOperator *op) {
  const CeedInt nc = kinds[k->kind].num_comp;
  CeedQFunction qf = NULL;
  CeedCall(CeedQFunctionCreateInterior(k->ceed, 1, kinds[k->kind].function[order],
                                       kinds[k->kind].source[order], &qf));
  CeedCall(CeedQFunctionAddInput(qf, "du", 3 * nc, CEED_EVAL_GRAD));
  CeedCall(CeedQFunctionAddInput(qf, "qdata", 10, CEED_EVAL_NONE));
  if (order == HESSIAN) CeedCall(CeedQFunctionAddInput(qf, "dw", 3 * nc, CEED_EVAL_GRAD));
  CeedCall(order == ENERGY ? CeedQFunctionAddOutput(qf, "e", 1, CEED_EVAL_NONE)
                           : CeedQFunctionAddOutput(qf, "v", 3 * nc, CEED_EVAL_GRAD));
  CeedCall(CeedQFunctionSetContext(qf, k->ctx));
  CeedCall(CeedQFunctionSetContextWritable(qf, false));
  CeedCall(CeedOperatorCreate(k->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  CeedCall(
      CeedOperatorSetField(*op, "du", k->rstr, k->basis, order == HESSIAN ? k->state : CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(*op, "qdata", k->rstr_q, CEED_BASIS_NONE, k->qdata));
  if (order == HESSIAN) CeedCall(CeedOperatorSetField(*op, "dw", k->rstr, k->basis, CEED_VECTOR_ACTIVE));
  CeedCall(order == ENERGY ? CeedOperatorSetField(*op, "e", k->rstr_e, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE)
                           : CeedOperatorSetField(*op, "v", k->rstr, k->basis, CEED_VECTOR_ACTIVE));
  return CeedQFunctionDestroy(&qf);
}

static int kit_open_without(Ceed ceed, Kind kind, Kit *k) {
  const Material material = {7, {1.5, 2.5}, 0.9, {3, 0.7}};
  const CeedInt nc = kinds[kind].num_comp;
  *k = (Kit){.ceed = ceed, .kind = kind, .size = (CeedSize)NODES * nc};
  CeedCall(make_restriction(ceed, nc, 0, nc, &k->rstr));
  CeedCall(make_points(ceed, 10, &k->rstr_q));
  CeedCall(make_points(ceed, 1, &k->rstr_e));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, 3, nc, P, Q, CEED_GAUSS, &k->basis));
  CeedCall(make_data(k));
  CeedCall(CeedQFunctionContextCreate(ceed, &k->ctx));
  CeedCall(CeedQFunctionContextSetData(k->ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(material),
                                       (void *)&material));
  CeedVector *const vectors[] = {&k->state, &k->w, &k->x, &k->y};
  for (int i = 0; i < 4; i++) CeedCall(CeedVectorCreate(ceed, k->size, vectors[i]));
  CeedCall(CeedVectorCreate(ceed, CELLS * POINTS, &k->e));
  CeedCall(fill(k->state, 0, kinds[kind].range));
  CeedCall(fill(k->w, -1, 2));
  for (Order order = ENERGY; order <= HESSIAN; order++) CeedCall(make_operator(k, order, &k->by_hand[order]));
  return CEED_ERROR_SUCCESS;
}

static int kit_open(Ceed ceed, Kind kind, Kit *k) {
  CeedCall(kit_open_without(ceed, kind, k));
  CeedCall(RitzOperatorCreateGradient(k->by_hand[ENERGY], &k->residual));
  return RitzOperatorCreateDerivative(k->residual, k->state, &k->hessian);
}

static int kit_close(Kit *k) {
  CeedVector *const vectors[] = {&k->state, &k->w, &k->x, &k->y, &k->e, &k->qdata};
  CeedOperator *const ops[] = {&k->by_hand[0], &k->by_hand[1], &k->by_hand[2], &k->residual, &k->hessian};
  for (int i = 0; i < 6; i++) CeedCall(CeedVectorDestroy(vectors[i]));
  for (int i = 0; i < 5; i++) CeedCall(CeedOperatorDestroy(ops[i]));
  CeedCall(CeedQFunctionContextDestroy(&k->ctx));
  CeedCall(CeedElemRestrictionDestroy(&k->rstr));
  CeedCall(CeedElemRestrictionDestroy(&k->rstr_q));
  CeedCall(CeedElemRestrictionDestroy(&k->rstr_e));
  return CeedBasisDestroy(&k->basis);
}

#define NEEDS_CXX(ceed)                                                                                      \
  if (tap_compiles_c_alone(ceed)) NOT_FOR_THIS_BACKEND("OpenCL C")

// ---- Right ----

TEST_EACH_BACKEND(gradients_are_the_residuals_by_hand) {
  NEEDS_CXX(ceed);
  for (Kind kind = 0; kind < NUM_KINDS; kind++) {
    Kit k;
    CHECK_OK(kit_open(ceed, kind, &k));
    CHECK_OK(apply(k.residual, k.state, k.x));
    CHECK_OK(apply(k.by_hand[RESIDUAL], k.state, k.y));
    CHECK_NEAR(difference(k.x, k.y), 0.0, tolerance, "%s", kinds[kind].name);
    CHECK_OK(kit_close(&k));
  }
}

TEST_EACH_BACKEND(their_derivatives_are_the_Hessians_by_hand_at_every_state) {
  NEEDS_CXX(ceed);
  for (Kind kind = 0; kind < NUM_KINDS; kind++) {
    Kit k;
    CHECK_OK(kit_open(ceed, kind, &k));
    for (int state = 0; state < 2; state++) {
      CHECK_OK(apply(k.hessian, k.w, k.x));
      CHECK_OK(apply(k.by_hand[HESSIAN], k.w, k.y));
      CHECK_NEAR(difference(k.x, k.y), 0.0, tolerance, "%s, state %d", kinds[kind].name, state);
      CHECK_OK(fill(k.state, 0, kinds[kind].range)); // seen without a word
    }
    CHECK_OK(kit_close(&k));
  }
}

static int check_symmetry(CeedOperator op, CeedVector w, CeedVector x, CeedVector y, double *defect) {
  double a, b, size;
  CeedVector v = NULL;
  CeedSize n;
  CeedCall(CeedVectorGetLength(w, &n));
  CeedCall(CeedVectorCreate(CeedOperatorReturnCeed(op), n, &v));
  CeedCall(fill(v, -1, 2));
  CeedCall(apply(op, w, x));
  CeedCall(apply(op, v, y));
  CeedCall(product(v, x, &a));
  CeedCall(product(w, y, &b));
  CeedCall(product(x, x, &size));
  *defect = fabs(a - b) / sqrt(size * (double)n); // entries of v are at most 1
  return CeedVectorDestroy(&v);
}

TEST_EACH_BACKEND(Hessians_are_symmetric) {
  NEEDS_CXX(ceed);
  for (Kind kind = 0; kind < NUM_KINDS; kind++) {
    Kit k;
    double defect = 1;
    CHECK_OK(kit_open(ceed, kind, &k));
    CHECK_OK(check_symmetry(k.hessian, k.w, k.x, k.y, &defect));
    CHECK_NEAR(defect, 0.0, tolerance, "%s", kinds[kind].name);
    CHECK_OK(kit_close(&k));
  }
}

// E(u + h w) - E(u) - h E'(u) w; u is lost. The energy is the sum of what an apply gives.
static int energy_remainder(CeedOperator energy, CeedVector u, CeedVector w, double slope, double h,
                            CeedVector e, double *remainder) {
  double before, after;
  CeedCall(apply(energy, u, e));
  CeedCall(product(e, NULL, &before));
  CeedCall(CeedVectorAXPY(u, (CeedScalar)h, w));
  CeedCall(apply(energy, u, e));
  CeedCall(product(e, NULL, &after));
  CeedCall(CeedVectorAXPY(u, (CeedScalar)-h, w));
  *remainder = after - before - h * slope;
  return CEED_ERROR_SUCCESS;
}

// Steps for which h^2 is far from rounding and h^3 from h^2.
TEST_EACH_BACKEND(remainders_of_energies_and_residuals_are_of_second_order) {
  NEEDS_CXX(ceed);
  for (Kind kind = 0; kind < NUM_KINDS; kind++) {
    const double h = kinds[kind].range * (sizeof(CeedScalar) == 8 ? 0.01 : 0.2);
    Kit k;
    RitzDerivativeCheck check;
    double slope = 0, r[2] = {0, 0};
    CHECK_OK(kit_open(ceed, kind, &k));
    CHECK_OK(apply(k.residual, k.state, k.x));
    CHECK_OK(product(k.x, k.w, &slope));
    for (int i = 0; i < 2; i++)
      CHECK_OK(energy_remainder(k.by_hand[ENERGY], k.state, k.w, slope, i ? h / 4 : h, k.e, &r[i]));
    CHECK_NEAR(log(r[0] / r[1]) / log(4.0), 2.0, sizeof(CeedScalar) == 8 ? 0.05 : 0.4, "%s",
               kinds[kind].name);
    CHECK_OK(RitzOperatorCheckDerivative(k.residual, k.state, k.hessian, kind == POWER ? 0.1 : 0.02, &check));
    if (kind == ELASTIC)
      CHECK(isinf(check.order), "a linear residual has remainders of order %g", check.order);
    else
      CHECK_NEAR(check.order, 2.0, sizeof(CeedScalar) == 8 ? 0.1 : 0.4, "%s", kinds[kind].name);
    CHECK_OK(kit_close(&k));
  }
}

// ---- All functions: point k has function k alone, so that gradients are f'(u) and Hessians f''(u) ----

static const char *const functions[] = {
    "exp(x)",
    "exp2(x)",
    "expm1(x)",
    "log(x)",
    "log2(x)",
    "log10(x)",
    "log1p(x)",
    "sqrt(x)",
    "cbrt(x)",
    "fabs(-x * x)",
    "hypot(x, 2.0)",
    "hypot(x, x * x)",
    "pow(x, 2.5)",
    "pow(x, 3)",
    "pow(2.0, x)",
    "pow(x, x)",
    "pow(-x, 2.0)",
    "sin(x)",
    "cos(x)",
    "tan(x)",
    "asin(x)",
    "acos(x)",
    "atan(x)",
    "atan2(x, x * x)",
    "atan2(1.0, x)",
    "atan2(x, 3)",
    "sinh(x)",
    "cosh(x)",
    "tanh(x)",
    "asinh(x)",
    "acosh(1 + x)",
    "atanh(x)",
    "erf(x)",
    "erfc(x)",
    "lgamma(x)",
    "lgamma(-x)",
    "tgamma(x)",
    "x * floor(3 * x) + ceil(x) * trunc(x)",
    "x * x * round(2 * x) * rint(x + 1) * nearbyint(x + 2)",
    "fmin(x * x, 0.1) + fmax(x * x, 0.9 + x)",
    "fdim(x * x, -x)",
    "fmod(x * x, 0.21)",
    "fmod(2, x)",
    "remainder(x * x, 0.21)",
    "copysign(x * x, -1.0)",
    "fma(x, x * x, x)",
    "ldexp(x * x, 3)",
    "scalbn(x * x, -2)",
    "frexp(x * x, &n)",
    "modf(7 * x * x, &y)",
    "1 / (1 + x * x)",
    "x / (2 + x)",
    "2 * x / 3 - x * 4 + (1 - x) * x",
    "(y = x, y *= x, y += 1, y /= x, y -= 2, ++y, y++, --y, y--, -y + (+y))",
    "x > 0.5 ? x * x * x : sin(x)",
    "fabs(x * x) + (int)(3 * x) * x * x + lround(x) * x",
};
enum { NUM_FUNCTIONS = sizeof(functions) / sizeof(functions[0]), ABSCISSAS = 3 };

// A point of element k gives function k of u.
static int write_functions(char *text, size_t size) {
  int n = snprintf(text, size,
                   "CEED_QFUNCTION(functions)(void *ctx, const CeedInt Q, const CeedScalar *const *in, "
                   "CeedScalar *const *out) {\n"
                   "  for (CeedInt i = 0; i < Q; i++) {\n"
                   "    const CeedScalar x = in[0][i], k = in[1][i];\n"
                   "    CeedScalar y = 0, f = 0;\n    int n = 0;\n");
  for (int k = 0; k < NUM_FUNCTIONS; k++)
    n += snprintf(text + n, size - (size_t)n, "    if (k == %d) f = %s;\n", k, functions[k]);
  return n + snprintf(text + n, size - (size_t)n, "    out[0][i] = f + 0 * y * n;\n  }\n  return 0;\n}\n");
}

static int make_functions(Ceed ceed, CeedVector numbers, CeedOperator *op) {
  const CeedInt strides[3] = {1, ABSCISSAS, ABSCISSAS};
  const char *const names[3] = {"x", "number", "f"};
  char text[10000];
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL;
  if (write_functions(text, sizeof(text)) >= (int)sizeof(text)) return CEED_ERROR_MINOR;
  CeedCall(RitzQFunctionCreateFromText(ceed, 1, text, "functions", &qf));
  CeedCall(CeedQFunctionAddInput(qf, names[0], 1, CEED_EVAL_NONE));
  CeedCall(CeedQFunctionAddInput(qf, names[1], 1, CEED_EVAL_NONE));
  CeedCall(CeedQFunctionAddOutput(qf, names[2], 1, CEED_EVAL_NONE));
  CeedCall(CeedElemRestrictionCreateStrided(ceed, NUM_FUNCTIONS, ABSCISSAS, 1, NUM_FUNCTIONS * ABSCISSAS,
                                            strides, &rstr));
  CeedCall(CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  for (int i = 0; i < 3; i++)
    CeedCall(
        CeedOperatorSetField(*op, names[i], rstr, CEED_BASIS_NONE, i == 1 ? numbers : CEED_VECTOR_ACTIVE));
  CeedCall(CeedElemRestrictionDestroy(&rstr));
  return CeedQFunctionDestroy(&qf);
}

// df[.] = (f(x - 2h) - 8 f(x - h) + 8 f(x + h) - f(x + 2h)) / 12h
static int take_differences(CeedOperator op, CeedVector x, double h, CeedVector y, double *df) {
  const double weights[5] = {1, -8, 0, 8, -1};
  const CeedSize num = NUM_FUNCTIONS * ABSCISSAS;
  for (CeedSize i = 0; i < num; i++) df[i] = 0;
  for (int k = 0; k < 5; k++) {
    const CeedScalar *f;
    CeedVector moved = NULL, ones = NULL;
    CeedCall(CeedVectorCreate(CeedOperatorReturnCeed(op), num, &moved));
    CeedCall(CeedVectorCreate(CeedOperatorReturnCeed(op), num, &ones));
    CeedCall(CeedVectorSetValue(ones, 1));
    CeedCall(CeedVectorCopy(x, moved));
    CeedCall(CeedVectorAXPY(moved, (CeedScalar)((k - 2) * h), ones));
    CeedCall(apply(op, moved, y));
    CeedCall(CeedVectorGetArrayRead(y, CEED_MEM_HOST, &f));
    for (CeedSize i = 0; i < num; i++) df[i] += weights[k] * (double)f[i] / (12 * h);
    CeedCall(CeedVectorRestoreArrayRead(y, &f));
    CeedCall(CeedVectorDestroy(&moved));
    CeedCall(CeedVectorDestroy(&ones));
  }
  return CEED_ERROR_SUCCESS;
}

// Numbers of the functions; abscissas away from kinks.
static int set_functions(CeedVector x, CeedVector numbers) {
  const double places[ABSCISSAS] = {0.27, 0.62, 0.87};
  CeedScalar *a, *b;
  CeedCall(CeedVectorGetArrayWrite(x, CEED_MEM_HOST, &a));
  CeedCall(CeedVectorGetArrayWrite(numbers, CEED_MEM_HOST, &b));
  for (CeedSize i = 0; i < NUM_FUNCTIONS * ABSCISSAS; i++) {
    a[i] = (CeedScalar)places[i % ABSCISSAS];
    b[i] = (CeedScalar)(i / ABSCISSAS);
  }
  CeedCall(CeedVectorRestoreArray(x, &a));
  return CeedVectorRestoreArray(numbers, &b);
}

TEST_EACH_BACKEND(first_and_second_derivatives_of_all_functions_are_limits_of_differences) {
  const CeedSize num = NUM_FUNCTIONS * ABSCISSAS;
  CeedOperator op[3] = {NULL, NULL, NULL};
  CeedVector x = NULL, numbers = NULL, y = NULL, derivative = NULL;
  double df[NUM_FUNCTIONS * ABSCISSAS];
  NEEDS_CXX(ceed);
  if (sizeof(CeedScalar) == 4) NOT_FOR_THIS_BACKEND("no room between truncation and rounding");
  CeedVector *const vectors[] = {&x, &numbers, &y, &derivative};
  for (int i = 0; i < 4; i++) CHECK_OK(CeedVectorCreate(ceed, num, vectors[i]));
  CHECK_OK(set_functions(x, numbers));
  CHECK_OK(make_functions(ceed, numbers, &op[0]));
  CHECK_OK(RitzOperatorCreateGradient(op[0], &op[1]));
  CHECK_OK(RitzOperatorCreateDerivative(op[1], x, &op[2]));
  for (int order = 1; order <= 2; order++) {
    const CeedScalar *d;
    CHECK_OK(CeedVectorSetValue(y, 1)); // the direction
    CHECK_OK(apply(op[order], order == 1 ? x : y, derivative));
    CHECK_OK(take_differences(op[order - 1], x, 3e-4, y, df));
    CHECK_OK(CeedVectorGetArrayRead(derivative, CEED_MEM_HOST, &d));
    // h^4/30 times fifth derivatives, 5! / 0.13^6 / 2 at most, or eps/h
    for (CeedSize i = 0; i < num; i++)
      CHECK_NEAR((double)d[i], df[i], 2e-9 * (1 + fabs(df[i])), "%s of order %d at abscissa %d",
                 functions[i / ABSCISSAS], order, (int)(i % ABSCISSAS));
    CHECK_OK(CeedVectorRestoreArrayRead(derivative, &d));
  }
  for (int i = 0; i < 3; i++) CHECK_OK(CeedOperatorDestroy(&op[i]));
  for (int i = 0; i < 4; i++) CHECK_OK(CeedVectorDestroy(vectors[i]));
}

// ---- Fields and outputs of all sorts ----

typedef struct {
  CeedElemRestriction rstr_u, rstr_p, rstr_all, rstr_e;
  CeedBasis basis_u, basis_p;
  CeedVector state, w, x, y, e;
  CeedOperator energy;
} Mixed;

// u and p are components 0 .. 2 and 3 of one vector. The energy at the points goes to a passive vector or, by
// the functions of p, which sum to 1, to the output.
static int mixed_open(Ceed ceed, bool is_passive, Mixed *m) {
  CeedQFunction qf = NULL;
  *m = (Mixed){.e = NULL};
  CeedCall(make_restriction(ceed, 4, 0, 3, &m->rstr_u));
  CeedCall(make_restriction(ceed, 4, 3, 1, &m->rstr_p));
  CeedCall(make_restriction(ceed, 1, 0, 1, &m->rstr_all));
  CeedCall(make_points(ceed, 1, &m->rstr_e));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, 3, 3, P, Q, CEED_GAUSS, &m->basis_u));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, 3, 1, P, Q, CEED_GAUSS, &m->basis_p));
  CeedVector *const vectors[] = {&m->state, &m->w, &m->x, &m->y};
  for (int i = 0; i < 4; i++) {
    CeedCall(CeedVectorCreate(ceed, 4 * NODES, vectors[i]));
    CeedCall(fill(*vectors[i], -1, 2));
  }
  CeedCall(CeedVectorCreate(ceed, is_passive ? CELLS * POINTS : NODES, &m->e));
  CeedCall(CeedQFunctionCreateInterior(ceed, 1, MixedEnergy, MixedEnergy_loc, &qf));
  CeedCall(CeedQFunctionAddInput(qf, "u", 3, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddInput(qf, "du", 9, CEED_EVAL_GRAD));
  CeedCall(CeedQFunctionAddInput(qf, "weights", 1, CEED_EVAL_WEIGHT));
  CeedCall(CeedQFunctionAddInput(qf, "p", 1, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddOutput(qf, "e", 1, is_passive ? CEED_EVAL_NONE : CEED_EVAL_INTERP));
  CeedCall(CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &m->energy));
  CeedCall(CeedOperatorSetField(m->energy, "u", m->rstr_u, m->basis_u, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(m->energy, "du", m->rstr_u, m->basis_u, CEED_VECTOR_ACTIVE));
  CeedCall(
      CeedOperatorSetField(m->energy, "weights", CEED_ELEMRESTRICTION_NONE, m->basis_p, CEED_VECTOR_NONE));
  CeedCall(CeedOperatorSetField(m->energy, "p", m->rstr_p, m->basis_p, CEED_VECTOR_ACTIVE));
  CeedCall(is_passive ? CeedOperatorSetField(m->energy, "e", m->rstr_e, CEED_BASIS_NONE, m->e)
                      : CeedOperatorSetField(m->energy, "e", m->rstr_all, m->basis_p, CEED_VECTOR_ACTIVE));
  return CeedQFunctionDestroy(&qf);
}

static int mixed_close(Mixed *m) {
  CeedVector *const vectors[] = {&m->state, &m->w, &m->x, &m->y, &m->e};
  CeedElemRestriction *const rstrs[] = {&m->rstr_u, &m->rstr_p, &m->rstr_all, &m->rstr_e};
  for (int i = 0; i < 5; i++) CeedCall(CeedVectorDestroy(vectors[i]));
  for (int i = 0; i < 4; i++) CeedCall(CeedElemRestrictionDestroy(rstrs[i]));
  CeedCall(CeedBasisDestroy(&m->basis_u));
  CeedCall(CeedBasisDestroy(&m->basis_p));
  return CeedOperatorDestroy(&m->energy);
}

// Hessians of two fields have blocks that couple them.
TEST_EACH_BACKEND(energies_of_several_fields_have_gradients) {
  NEEDS_CXX(ceed);
  Mixed m;
  CeedOperator residual = NULL, hessian = NULL;
  RitzDerivativeCheck check;
  double slope, r[2], defect = 1;
  CHECK_OK(mixed_open(ceed, false, &m));
  CHECK_OK(RitzOperatorCreateGradient(m.energy, &residual));
  CHECK_OK(apply(residual, m.state, m.x));
  CHECK_OK(product(m.x, m.w, &slope));
  for (int i = 0; i < 2; i++)
    CHECK_OK(energy_remainder(m.energy, m.state, m.w, slope,
                              (sizeof(CeedScalar) == 8 ? 0.01 : 0.1) / (i ? 4 : 1), m.e, &r[i]));
  CHECK_NEAR(log(r[0] / r[1]) / log(4.0), 2.0, sizeof(CeedScalar) == 8 ? 0.05 : 0.4, "order");
  CHECK_OK(RitzOperatorCreateDerivative(residual, m.state, &hessian));
  CHECK_OK(RitzOperatorCheckDerivative(residual, m.state, hessian, 0.1, &check));
  CHECK_NEAR(check.order, 2.0, sizeof(CeedScalar) == 8 ? 0.1 : 0.4, "order");
  CHECK_OK(check_symmetry(hessian, m.w, m.x, m.y, &defect));
  CHECK_NEAR(defect, 0.0, tolerance, "symmetry");
  CHECK_OK(CeedOperatorDestroy(&residual));
  CHECK_OK(CeedOperatorDestroy(&hessian));
  CHECK_OK(mixed_close(&m));
}

TEST_EACH_BACKEND(where_the_energy_goes_does_not_matter) {
  NEEDS_CXX(ceed);
  Mixed m[2];
  CeedOperator residual[2] = {NULL, NULL};
  double sums[2] = {0, 1};
  for (int i = 0; i < 2; i++) {
    CHECK_OK(mixed_open(ceed, i, &m[i]));
    CHECK_OK(RitzVectorConvert(m[0].state, m[i].state));
    CHECK_OK(RitzOperatorCreateGradient(m[i].energy, &residual[i]));
    CHECK_OK(apply(residual[i], m[0].state, m[i].x));
    CHECK_OK(apply(m[i].energy, m[0].state, i ? CEED_VECTOR_NONE : m[i].e));
    CHECK_OK(product(m[i].e, NULL, &sums[i]));
  }
  CHECK_NEAR(difference(m[0].x, m[1].x), 0.0, tolerance, "gradient");
  CHECK_NEAR(sums[0], sums[1], tolerance * fabs(sums[0]) * 10, "energy");
  for (int i = 0; i < 2; i++) {
    CHECK_OK(CeedOperatorDestroy(&residual[i]));
    CHECK_OK(mixed_close(&m[i]));
  }
}

// Of 9 x 9 derivatives the product stores 45, of the residual by hand 81.
TEST_EACH_BACKEND(Hessians_store_one_half) {
  NEEDS_CXX(ceed);
  const RitzDerivativeOptions options = {.storage = RITZ_STORED_MATRIX};
  Kit k;
  CHECK_OK(kit_open(ceed, HYPERELASTIC, &k));
  for (int i = 0; i < 2; i++) {
    CeedOperator op = NULL;
    CeedOperatorField field;
    CeedVector stored = NULL;
    CeedSize length = 0;
    CHECK_OK(
        RitzOperatorCreateDerivativeStored(i ? k.by_hand[RESIDUAL] : k.residual, k.state, &options, &op));
    CHECK_OK(CeedOperatorGetFieldByName(op, "derivatives at points", &field));
    CHECK_OK(CeedOperatorFieldGetVector(field, &stored));
    CHECK_OK(CeedVectorGetLength(stored, &length));
    CHECK(length == (CeedSize)CELLS * POINTS * (i ? 81 : 45), "%lld numbers", (long long)length);
    CHECK_OK(apply(op, k.w, k.x));
    CHECK_OK(apply(k.hessian, k.w, k.y));
    CHECK_NEAR(difference(k.x, k.y), 0.0, tolerance, "%s", i ? "of the residual by hand" : "of the energy");
    CHECK_OK(CeedVectorDestroy(&stored));
    CHECK_OK(CeedOperatorDestroy(&op));
  }
  CHECK_OK(kit_close(&k));
}

// Two fields: all blocks between them.
TEST_EACH_BACKEND(Hessians_of_several_fields_are_stored) {
  NEEDS_CXX(ceed);
  const RitzDerivativeOptions options = {.storage = RITZ_STORED_MATRIX};
  Mixed m;
  CeedOperator residual = NULL, hessian = NULL, stored = NULL;
  CHECK_OK(mixed_open(ceed, true, &m));
  CHECK_OK(RitzOperatorCreateGradient(m.energy, &residual));
  CHECK_OK(RitzOperatorCreateDerivative(residual, m.state, &hessian));
  CHECK_OK(RitzOperatorCreateDerivativeStored(residual, m.state, &options, &stored));
  CHECK_OK(apply(hessian, m.w, m.x));
  CHECK_OK(apply(stored, m.w, m.y));
  CHECK_NEAR(difference(m.y, m.x), 0.0, tolerance, "13 x 13 derivatives");
  CHECK_OK(CeedOperatorDestroy(&residual));
  CHECK_OK(CeedOperatorDestroy(&hessian));
  CHECK_OK(CeedOperatorDestroy(&stored));
  CHECK_OK(mixed_close(&m));
}

// ---- Like any other operator ----

TEST_EACH_BACKEND(Hessians_have_diagonals_and_compute_in_float) {
  NEEDS_CXX(ceed);
  Kit k;
  CeedOperator copy = NULL;
  CeedVector in = NULL, out = NULL;
  CHECK_OK(kit_open(ceed, HYPERELASTIC, &k));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(k.hessian, k.x, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(k.by_hand[HESSIAN], k.y, CEED_REQUEST_IMMEDIATE));
  CHECK_NEAR(difference(k.x, k.y), 0.0, tolerance, "diagonal");
  CHECK_OK(RitzVectorCreate(ceed, k.size, CEED_SCALAR_FP32, &in));
  CHECK_OK(RitzVectorCreate(ceed, k.size, CEED_SCALAR_FP32, &out));
  for (int i = 0; i < 2; i++) {
    CHECK_OK(RitzOperatorCopyInPrecision(i ? k.hessian : k.residual, CEED_SCALAR_FP32, &copy));
    CHECK_OK(RitzVectorConvert(i ? k.w : k.state, in));
    CHECK_OK(apply(copy, in, out));
    CHECK_OK(RitzVectorConvert(out, k.x));
    CHECK_OK(apply(i ? k.hessian : k.residual, i ? k.w : k.state, k.y));
    CHECK_NEAR(difference(k.x, k.y), 0.0, 500 * 1.2e-7, "float, %s", i ? "Hessian" : "residual");
    CHECK_OK(CeedOperatorDestroy(&copy));
  }
  CHECK_OK(CeedVectorDestroy(&in));
  CHECK_OK(CeedVectorDestroy(&out));
  CHECK_OK(kit_close(&k));
}

// Twice the same energy and another one; all of it shares its context, whose numbers change.
TEST_EACH_BACKEND(gradients_of_composites_are_composites) {
  NEEDS_CXX(ceed);
  const Material material = {1, {4, 0.5}, 1.1, {2, 3}};
  Kit k;
  CeedOperator energy = NULL, residual = NULL, hessian = NULL, other = NULL;
  CHECK_OK(kit_open_without(ceed, ELASTIC, &k));
  CHECK_OK(make_operator(&k, ENERGY, &other));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &energy));
  for (int i = 0; i < 3; i++)
    CHECK_OK(CeedOperatorCompositeAddSub(energy, i == 1 ? other : k.by_hand[ENERGY]));
  CHECK_OK(CeedOperatorDestroy(&other));
  CHECK_OK(RitzOperatorCreateGradient(energy, &residual));
  CHECK_OK(CeedOperatorDestroy(&energy));
  CHECK_OK(RitzOperatorCreateDerivative(residual, k.state, &hessian));
  CHECK_OK(CeedQFunctionContextSetData(k.ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(material),
                                       (void *)&material));
  for (int i = 0; i < 2; i++) {
    CHECK_OK(apply(i ? hessian : residual, k.state, k.x));
    CHECK_OK(apply(k.by_hand[RESIDUAL], k.state, k.y)); // linear
    CHECK_OK(CeedVectorScale(k.y, 3));
    CHECK_NEAR(difference(k.x, k.y), 0.0, tolerance, "%s", i ? "Hessian" : "residual");
  }
  CHECK_OK(CeedOperatorDestroy(&residual));
  CHECK_OK(CeedOperatorDestroy(&hessian));
  CHECK_OK(kit_close(&k));
}

// ---- Forms: mu/2 |grad u|^2 + mu/4 |grad u|^4 + u^4/4 in physical gradients ----

static const char form_text[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void density(const void *ctx, const CeedScalar x[2],
                                                 const CeedScalar w[1], const CeedScalar u[1],
                                                 const CeedScalar grad_u[1][2], CeedScalar e[1]) {
      const CeedScalar square = grad_u[0][0] * grad_u[0][0] + grad_u[0][1] * grad_u[0][1];
      e[0] = w[0] * ((1 + x[0]) * (square / 2 + square * square / 4) + pow(u[0], 4) / 4);
    });

// The residual that belongs to it.
static const char form_residual_text[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void residual(const void *ctx, const CeedScalar x[2],
                                                  const CeedScalar u[1], const CeedScalar grad_u[1][2],
                                                  CeedScalar v[1], CeedScalar grad_v[1][2]) {
      const CeedScalar square = grad_u[0][0] * grad_u[0][0] + grad_u[0][1] * grad_u[0][1];
      v[0] = u[0] * u[0] * u[0];
      for (int d = 0; d < 2; d++) grad_v[0][d] = (1 + x[0]) * (1 + square) * grad_u[0][d];
    });

// Stored factors and computed ones.
TEST_EACH_BACKEND(energies_of_forms_have_gradients) {
  NEEDS_CXX(ceed);
  const CeedInt n[2] = {3, 2};
  const int what = RITZ_FORM_VALUE | RITZ_FORM_GRADIENT;
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;
  RitzGeometry geometry = NULL;
  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &space));
  CHECK_OK(RitzGeometryCreate(mesh, 0, &geometry));
  for (int i = 0; i < 2; i++) {
    const RitzOperatorOptions options = {.space = space,
                                         .policy = i ? RITZ_POLICY_ISOPARAMETRIC : RITZ_POLICY_STORED};
    CeedVector numbers = NULL, u = NULL, x = NULL, y = NULL;
    CeedOperator energy = NULL, residual = NULL, by_hand = NULL, hessian = NULL;
    CeedSize size;
    RitzDerivativeCheck check;
    CHECK_OK(RitzGeometryCreatePointNumbers(geometry, ceed, &options, 1, &numbers));
    const RitzFormField in = {.name = "u", .what = what, .space = space};
    const RitzFormField e = {.name = "e", .what = RITZ_FORM_NUMBERS, .num_numbers = 1, .vector = numbers},
                        v = {.name = "v", .what = what, .space = space};
    const RitzForm form = {form_text, "density", RITZ_FORM_POSITION | RITZ_FORM_WEIGHT, 1, &in, 1, &e};
    const RitzForm other = {form_residual_text, "residual", RITZ_FORM_POSITION, 1, &in, 1, &v};
    CHECK_OK(RitzGeometryCreateFormOperator(geometry, ceed, &options, &form, NULL, &energy));
    CHECK_OK(RitzGeometryCreateFormOperator(geometry, ceed, &options, &other, NULL, &by_hand));
    CHECK_OK(RitzOperatorCreateGradient(energy, &residual));
    CHECK_OK(CeedOperatorGetActiveVectorLengths(by_hand, &size, NULL));
    CeedVector *const vectors[] = {&u, &x, &y};
    for (int k = 0; k < 3; k++) CHECK_OK(CeedVectorCreate(ceed, size, vectors[k]));
    CHECK_OK(fill(u, -1, 2));
    CHECK_OK(apply(residual, u, x));
    CHECK_OK(apply(by_hand, u, y));
    CHECK_NEAR(difference(x, y), 0.0, tolerance, "policy %d", i);
    CHECK_OK(RitzOperatorCreateDerivative(residual, u, &hessian));
    CHECK_OK(RitzOperatorCheckDerivative(by_hand, u, hessian, 0.1, &check));
    CHECK_NEAR(check.order, 2.0, sizeof(CeedScalar) == 8 ? 0.1 : 0.4, "policy %d", i);
    for (int k = 0; k < 3; k++) CHECK_OK(CeedVectorDestroy(vectors[k]));
    CHECK_OK(CeedVectorDestroy(&numbers));
    CeedOperator *const ops[] = {&energy, &residual, &by_hand, &hessian};
    for (int k = 0; k < 4; k++) CHECK_OK(CeedOperatorDestroy(ops[k]));
  }
  CHECK_OK(RitzGeometryDestroy(&geometry));
  CHECK_OK(RitzSpaceDestroy(&space));
  CHECK_OK(RitzMeshDestroy(&mesh));
}

// ---- CUDA, without a device ----

TEST(gradients_compile_for_CUDA) {
  const RitzBackend *const backends[] = {&ritz_cuda_gen_backend, &ritz_cuda_shared_backend};
  NEEDS_NVRTC();
  setenv("RITZ_CACHE", "off", 1); // what comes from the cache has no log
  for (int b = 0; b < 2; b++) {
    Ceed ceed;
    CHECK_OK(open_context(backends[b], &devices[0], &ceed));
    for (Kind kind = 0; kind < NUM_KINDS; kind++) {
      Kit k;
      totals = (Totals){.wants_registers = true};
      snprintf(running, sizeof(running), "gradient of %s", kinds[kind].name);
      CHECK_OK(kit_open(ceed, kind, &k));
      CHECK_OK(apply(k.residual, k.state, k.x));
      CHECK_OK(apply(k.hessian, k.w, k.x));
      CHECK(totals.num_programs > 1, "%d programs were compiled", totals.num_programs);
      CHECK_OK(kit_close(&k));
    }
    CHECK_OK(CeedDestroy(&ceed));
  }
  unsetenv("RITZ_CACHE");
}

// ---- What is refused ----

TEST_EACH_BACKEND(misuse_ends_with_its_reason) {
  Kit k;
  CeedOperator none = NULL, made = NULL;
  CHECK_OK(kit_open_without(ceed, POWER, &k));
  if (tap_compiles_c_alone(ceed))
    CHECK_ERROR(ceed, RitzOperatorCreateGradient(k.by_hand[ENERGY], &made), CEED_ERROR_UNSUPPORTED,
                "OpenCL C");
  else
    CHECK_ERROR(ceed, RitzOperatorCreateGradient(k.by_hand[RESIDUAL], &made), CEED_ERROR_INCOMPATIBLE,
                "3 numbers a point");
  CHECK_ERROR(ceed, RitzOperatorCreateGradient(k.by_hand[ENERGY], NULL), CEED_ERROR_INCOMPATIBLE, "residual");
  CHECK_ERROR(NULL, RitzOperatorCreateGradient(none, &made), CEED_ERROR_INCOMPATIBLE, "NULL");
  CHECK(!made, "a result in spite of an error");
  CHECK_OK(kit_close(&k));
}

// Of a text: u, with `size` numbers of mode at a point, and num_out outputs.
static int make_of_text(Kit *k, const char *text, CeedVector u, CeedEvalMode mode, CeedInt num_out,
                        CeedOperator *op) {
  CeedQFunction qf = NULL;
  CeedCall(RitzQFunctionCreateFromText(k->ceed, 1, text, "f", &qf));
  CeedCall(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddOutput(qf, "e", mode == CEED_EVAL_GRAD ? 3 : 1, mode));
  if (num_out == 2) CeedCall(CeedQFunctionAddOutput(qf, "e2", 1, CEED_EVAL_INTERP));
  CeedCall(CeedOperatorCreate(k->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  CeedCall(CeedOperatorSetField(*op, "u", k->rstr, k->basis, u));
  CeedCall(CeedOperatorSetField(*op, "e", k->rstr, k->basis, CEED_VECTOR_ACTIVE));
  if (num_out == 2) CeedCall(CeedOperatorSetField(*op, "e2", k->rstr, k->basis, CEED_VECTOR_ACTIVE));
  return CeedQFunctionDestroy(&qf);
}

#define BODY(lines)                                                                                          \
  "CEED_QFUNCTION(f)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {\n"   \
  "  for (CeedInt i = 0; i < Q; i++) {\n" lines "  }\n  return 0;\n}\n"

TEST(operators_that_are_no_energies_are_refused) {
  static const char square[] = BODY("out[0][i] = in[0][i] * in[0][i];\n");
  Ceed ceed = tap_ceed("/cpu/self");
  Kit k;
  CHECK_OK(kit_open_without(ceed, POWER, &k));
  const struct {
    const char *text;
    CeedVector u;
    CeedEvalMode mode;
    CeedInt num_out;
    int code;
    const char *words;
  } cases[] = {
      {square, CEED_VECTOR_ACTIVE, CEED_EVAL_INTERP, 2, CEED_ERROR_INCOMPATIBLE, "2 outputs"},
      {square, CEED_VECTOR_ACTIVE, CEED_EVAL_GRAD, 1, CEED_ERROR_INCOMPATIBLE, "3 numbers a point"},
      {square, k.state, CEED_EVAL_INTERP, 1, CEED_ERROR_INCOMPATIBLE, "no active input"},
      {BODY("double u = in[0][i]; out[0][i] = u * u;\n"), CEED_VECTOR_ACTIVE, CEED_EVAL_INTERP, 1,
       CEED_ERROR_UNSUPPORTED, "which is done in C++"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    CeedOperator op = NULL, made = NULL;
    CHECK_OK(make_of_text(&k, cases[i].text, cases[i].u, cases[i].mode, cases[i].num_out, &op));
    CHECK_ERROR(ceed, RitzOperatorCreateGradient(op, &made), cases[i].code, cases[i].words);
    CHECK(!made, "case %zu", i);
    CHECK_OK(CeedOperatorDestroy(&op));
  }
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

// Of a derivative there is no further one.
TEST(third_derivatives_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self");
  Kit k;
  CeedOperator made = NULL;
  CHECK_OK(kit_open(ceed, POWER, &k));
  CHECK_ERROR(ceed, RitzOperatorCreateDerivative(k.hessian, k.state, &made), CEED_ERROR_UNSUPPORTED,
              "differentiation itself");
  CHECK(!made, "a result in spite of an error");
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(energies_without_a_text_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self");
  Kit k;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL, made = NULL;
  CHECK_OK(kit_open_without(ceed, POWER, &k));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, PowerEnergy, "", &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "du", 3, CEED_EVAL_GRAD));
  CHECK_OK(CeedQFunctionAddOutput(qf, "e", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  CHECK_OK(CeedOperatorSetField(op, "du", k.rstr, k.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "e", k.rstr_e, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CHECK_ERROR(ceed, RitzOperatorCreateGradient(op, &made), CEED_ERROR_INCOMPLETE, "no text");
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(gradients_are_the_residuals_by_hand,
                        their_derivatives_are_the_Hessians_by_hand_at_every_state, Hessians_are_symmetric,
                        remainders_of_energies_and_residuals_are_of_second_order,
                        first_and_second_derivatives_of_all_functions_are_limits_of_differences,
                        energies_of_several_fields_have_gradients, where_the_energy_goes_does_not_matter,
                        Hessians_store_one_half, Hessians_of_several_fields_are_stored,
                        Hessians_have_diagonals_and_compute_in_float, gradients_of_composites_are_composites,
                        energies_of_forms_have_gradients, gradients_compile_for_CUDA,
                        misuse_ends_with_its_reason, operators_that_are_no_energies_are_refused,
                        third_derivatives_are_refused, energies_without_a_text_are_refused));
}
