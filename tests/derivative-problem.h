// SPDX-License-Identifier: BSD-2-Clause
// Residuals on a small cube with their derivatives, for test-derivative.c and test-derivative-stored.c.
#ifndef RITZ_TESTS_DERIVATIVE_PROBLEM_H
#define RITZ_TESTS_DERIVATIVE_PROBLEM_H

#include "tests/derivative-kit.h"
#include "tests/derivative-qfunctions.h"

#include <math.h>
#include <stdlib.h>

// ---- Residuals on a cube of 2 x 2 x 1 elements of degree 2, an affine map ----

enum { CELLS = 4, P = 3, Q = 4, NX = 5, NY = 5, NZ = 3, NODES = NX * NY * NZ, POINTS = Q * Q * Q };

typedef enum { POISSON, HYPERELASTIC, FUNCTIONS, NUM_KINDS } Kind;

static const struct {
  const char *name;
  CeedInt num_comp;
  CeedQFunctionUser residual, jacobian;
  const char *residual_loc, *jacobian_loc;
  bool has_energy;
  double lowest, range; // of the state's values
} kinds[NUM_KINDS] = {
    {"nonlinear Poisson", 1, PoissonResidual, PoissonJacobian, PoissonResidual_loc, PoissonJacobian_loc,
     false, -1, 2},
    {"neo-Hookean", 3, HyperelasticResidual, HyperelasticJacobian, HyperelasticResidual_loc,
     HyperelasticJacobian_loc, true, 0, 0.02},
    {"all functions", 1, AllFunctions, NULL, AllFunctions_loc, "", true, 0.52, 0.12},
};

typedef struct {
  Ceed ceed;
  Kind kind;
  CeedSize size;
  CeedElemRestriction rstr, rstr_q;
  CeedBasis basis;
  CeedVector qdata, state, w, x, y;
  CeedQFunctionContext ctx;
  CeedOperator residual, by_hand, jacobian;
} Kit;

static inline int make_restrictions(Kit *k) {
  const CeedInt nc = kinds[k->kind].num_comp, strides[3] = {1, POINTS, 10 * POINTS};
  CeedInt offsets[CELLS * P * P * P];
  for (CeedInt e = 0, n = 0; e < CELLS; e++) {
    for (CeedInt i = 0; i < P * P * P; i++, n++) {
      const CeedInt x = 2 * (e % 2) + i % P, y = 2 * (e / 2) + i / P % P, z = i / (P * P);
      offsets[n] = nc * (x + NX * (y + NY * z));
    }
  }
  CeedCall(CeedElemRestrictionCreate(k->ceed, CELLS, P * P * P, nc, 1, k->size, CEED_MEM_HOST,
                                     CEED_COPY_VALUES, offsets, &k->rstr));
  return CeedElemRestrictionCreateStrided(k->ceed, CELLS, POINTS, 10, (CeedSize)CELLS * POINTS * 10, strides,
                                          &k->rstr_q);
}

// Weights that vary a little, an inverse Jacobian that is full.
static inline int make_data(Kit *k) {
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

static inline int make_context(Kit *k) {
  const Material material = {7, {1.5, 2.5}, 0.9, {3, 0.7}};
  const CeedScalar coefficients[4] = {1, -0.5, 0.7, 0.3};
  const bool is_material = k->kind == HYPERELASTIC;
  if (k->kind == POISSON) return CEED_ERROR_SUCCESS;
  CeedCall(CeedQFunctionContextCreate(k->ceed, &k->ctx));
  return CeedQFunctionContextSetData(k->ctx, CEED_MEM_HOST, CEED_COPY_VALUES,
                                     is_material ? sizeof(material) : sizeof(coefficients),
                                     is_material ? (void *)&material : (void *)coefficients);
}

static inline int set_inputs(const Kit *k, CeedOperator op, bool is_direction, CeedVector vec) {
  if (k->kind != HYPERELASTIC)
    CeedCall(CeedOperatorSetField(op, is_direction ? "w" : "u", k->rstr, k->basis, vec));
  if (k->kind == FUNCTIONS) return CEED_ERROR_SUCCESS;
  return CeedOperatorSetField(op, is_direction ? "dw" : "du", k->rstr, k->basis, vec);
}

static inline int add_inputs(const Kit *k, CeedQFunction qf, bool is_direction) {
  const CeedInt nc = kinds[k->kind].num_comp;
  if (k->kind != HYPERELASTIC)
    CeedCall(CeedQFunctionAddInput(qf, is_direction ? "w" : "u", nc, CEED_EVAL_INTERP));
  if (k->kind == FUNCTIONS) return CEED_ERROR_SUCCESS;
  return CeedQFunctionAddInput(qf, is_direction ? "dw" : "du", 3 * nc, CEED_EVAL_GRAD);
}

static inline int make_operator_of(Kit *k, CeedQFunction qf, bool is_jacobian, CeedOperator *op) {
  const bool is_value = k->kind == FUNCTIONS;
  CeedCall(add_inputs(k, qf, false));
  if (is_value)
    CeedCall(CeedQFunctionAddInput(qf, "weights", 1, CEED_EVAL_WEIGHT));
  else
    CeedCall(CeedQFunctionAddInput(qf, "qdata", 10, CEED_EVAL_NONE));
  if (is_jacobian) CeedCall(add_inputs(k, qf, true));
  CeedCall(CeedQFunctionAddOutput(qf, "v", (is_value ? 1 : 3) * kinds[k->kind].num_comp,
                                  is_value ? CEED_EVAL_INTERP : CEED_EVAL_GRAD));
  CeedCall(CeedQFunctionSetContext(qf, k->ctx));
  CeedCall(CeedQFunctionSetContextWritable(qf, false));
  CeedCall(CeedOperatorCreate(k->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  CeedCall(set_inputs(k, *op, false, is_jacobian ? k->state : CEED_VECTOR_ACTIVE));
  if (is_jacobian) CeedCall(set_inputs(k, *op, true, CEED_VECTOR_ACTIVE));
  if (is_value)
    CeedCall(CeedOperatorSetField(*op, "weights", CEED_ELEMRESTRICTION_NONE, k->basis, CEED_VECTOR_NONE));
  else
    CeedCall(CeedOperatorSetField(*op, "qdata", k->rstr_q, CEED_BASIS_NONE, k->qdata));
  return CeedOperatorSetField(*op, "v", k->rstr, k->basis, CEED_VECTOR_ACTIVE);
}

static inline int make_operator(Kit *k, bool is_jacobian, CeedOperator *op) {
  CeedQFunction qf = NULL;
  CeedCall(CeedQFunctionCreateInterior(
      k->ceed, 1, is_jacobian ? kinds[k->kind].jacobian : kinds[k->kind].residual,
      is_jacobian ? kinds[k->kind].jacobian_loc : kinds[k->kind].residual_loc, &qf));
  CeedCall(make_operator_of(k, qf, is_jacobian, op));
  return CeedQFunctionDestroy(&qf);
}

static inline int kit_open_without(Ceed ceed, Kind kind, Kit *k) {
  *k = (Kit){.ceed = ceed, .kind = kind, .size = (CeedSize)NODES * kinds[kind].num_comp};
  CeedCall(make_restrictions(k));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, 3, kinds[kind].num_comp, P, Q, CEED_GAUSS, &k->basis));
  CeedCall(make_data(k));
  CeedCall(make_context(k));
  CeedVector *const vectors[] = {&k->state, &k->w, &k->x, &k->y};
  for (int i = 0; i < 4; i++) CeedCall(CeedVectorCreate(ceed, k->size, vectors[i]));
  CeedCall(fill(k->state, kinds[kind].lowest, kinds[kind].range));
  CeedCall(fill(k->w, -1, 2));
  CeedCall(make_operator(k, false, &k->residual));
  return kinds[kind].jacobian ? make_operator(k, true, &k->by_hand) : CEED_ERROR_SUCCESS;
}

static inline int kit_open(Ceed ceed, Kind kind, Kit *k) {
  CeedCall(kit_open_without(ceed, kind, k));
  return RitzOperatorCreateDerivative(k->residual, k->state, &k->jacobian);
}

static inline int kit_close(Kit *k) {
  CeedVector *const vectors[] = {&k->state, &k->w, &k->x, &k->y, &k->qdata};
  for (int i = 0; i < 5; i++) CeedCall(CeedVectorDestroy(vectors[i]));
  CeedCall(CeedQFunctionContextDestroy(&k->ctx));
  CeedCall(CeedElemRestrictionDestroy(&k->rstr));
  CeedCall(CeedElemRestrictionDestroy(&k->rstr_q));
  CeedCall(CeedBasisDestroy(&k->basis));
  CeedCall(CeedOperatorDestroy(&k->residual));
  CeedCall(CeedOperatorDestroy(&k->by_hand));
  return CeedOperatorDestroy(&k->jacobian);
}

// Row sums of the assembled matrix times w, and its diagonal.
static inline int multiply(CeedOperator op, CeedVector w, CeedVector y, CeedVector diagonal) {
  CeedSize num;
  CeedInt *rows, *cols;
  CeedVector values = NULL;
  const CeedScalar *a, *x;
  CeedScalar *sum, *d;
  CeedCall(CeedOperatorLinearAssembleSymbolic(op, &num, &rows, &cols));
  CeedCall(CeedVectorCreate(CeedOperatorReturnCeed(op), num, &values));
  CeedCall(CeedOperatorLinearAssemble(op, values));
  CeedCall(CeedVectorSetValue(y, 0));
  CeedCall(CeedVectorSetValue(diagonal, 0));
  CeedCall(CeedVectorGetArrayRead(values, CEED_MEM_HOST, &a));
  CeedCall(CeedVectorGetArrayRead(w, CEED_MEM_HOST, &x));
  CeedCall(CeedVectorGetArray(y, CEED_MEM_HOST, &sum));
  CeedCall(CeedVectorGetArray(diagonal, CEED_MEM_HOST, &d));
  for (CeedSize i = 0; i < num; i++) {
    sum[rows[i]] += a[i] * x[cols[i]];
    if (rows[i] == cols[i]) d[rows[i]] += a[i];
  }
  CeedCall(CeedVectorRestoreArrayRead(values, &a));
  CeedCall(CeedVectorRestoreArrayRead(w, &x));
  CeedCall(CeedVectorRestoreArray(y, &sum));
  CeedCall(CeedVectorRestoreArray(diagonal, &d));
  free(rows);
  free(cols);
  return CeedVectorDestroy(&values);
}

#define NEEDS_CXX(ceed)                                                                                      \
  if (tap_compiles_c_alone(ceed)) NOT_FOR_THIS_BACKEND("OpenCL C")

#endif
