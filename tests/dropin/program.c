// SPDX-License-Identifier: BSD-2-Clause
// A program as others wrote it for a libceed.so: it uses every exported constant, every table of texts,
// requests, error handlers, and a mass operator of its own. tests/test-dropin.sh builds it against mock.c and
// runs it with Ritz. Prints the length of the line [0, 2]; exits with 0 when that and everything else is
// right.
#include <ceed.h>
#include <ceed/backend.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUM_ELEM = 5, P = 3, Q = 4, NUM_NODES = NUM_ELEM * (P - 1) + 1 };

static int num_wrong = 0;

static void expect(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "wrong: %s\n", what);
  num_wrong++;
}

static int equal(const char *a, const char *b) { return a && !strcmp(a, b); }

// ---- Tables and constants ----

// Through pointers, as a table of a program keeps them: their addresses are known when it is linked.
static const char *const *const tables[] = {CeedMemTypes,          CeedCopyModes, CeedTransposeModes,
                                            CeedEvalModes,         CeedQuadModes, CeedElemTopologies,
                                            CeedContextFieldTypes, CeedFESpaces};

static void check_tables(void) {
  static const struct {
    int table, index;
    const char *text;
  } rows[] = {
      {0, CEED_MEM_HOST, "host"},
      {0, CEED_MEM_DEVICE, "device"},
      {1, CEED_COPY_VALUES, "copy values"},
      {1, CEED_OWN_POINTER, "own pointer"},
      {2, CEED_NOTRANSPOSE, "no transpose"},
      {2, CEED_TRANSPOSE, "transpose"},
      {3, CEED_EVAL_NONE, "none"},
      {3, CEED_EVAL_GRAD, "gradient"},
      {3, CEED_EVAL_WEIGHT, "quadrature weights"},
      {4, CEED_GAUSS_LOBATTO, "Gauss Lobatto"},
      {5, CEED_TOPOLOGY_LINE, "line"},
      {5, CEED_TOPOLOGY_HEX, "hexahedron"},
      {6, CEED_CONTEXT_FIELD_DOUBLE, "double"},
      {6, CEED_CONTEXT_FIELD_BOOL, "bool"},
      {7, CEED_FE_SPACE_H1, "H^1 space"},
      {7, CEED_FE_SPACE_HCURL, "H(curl) space"},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    expect(equal(tables[rows[i].table][rows[i].index], rows[i].text), rows[i].text);
  }
  expect(!CeedEvalModes[3] && !CeedElemTopologies[0], "gaps of the tables");
  expect(equal(CeedErrorTypes[CEED_ERROR_UNSUPPORTED], "operation unsupported by backend"),
         "negative error type");
  expect(equal(CeedErrorTypes[CEED_ERROR_ACCESS], "access lock in use"), "positive error type");
}

static void check_constants(void) {
  CeedSize length = -1;
  CeedRequest request = NULL;
  CeedVector none = CEED_VECTOR_NONE;

  expect(!CEED_STRIDES_BACKEND[0] && !CEED_STRIDES_BACKEND[1] && !CEED_STRIDES_BACKEND[2], "strides");
  expect(CEED_REQUEST_IMMEDIATE && CEED_REQUEST_ORDERED && CEED_REQUEST_IMMEDIATE != CEED_REQUEST_ORDERED,
         "requests");
  expect(CEED_VECTOR_ACTIVE && CEED_VECTOR_NONE && CEED_VECTOR_ACTIVE != CEED_VECTOR_NONE, "vectors");
  expect(CEED_BASIS_NONE && CEED_ELEMRESTRICTION_NONE && CEED_QFUNCTION_NONE, "other sentinels");
  expect(!CeedVectorGetLength(CEED_VECTOR_NONE, &length) && length == 0, "length of no vector");
  expect(!CeedVectorDestroy(&none) && !none && CEED_VECTOR_NONE, "destroying no vector");
  expect(!CeedRequestWait(&request), "waiting for nothing");
}

// ---- Errors ----

static int handler_calls = 0;

static int count_error(Ceed ceed, const char *file, int line, const char *func, int code, const char *format,
                       va_list *args) {
  (void)ceed, (void)file, (void)line, (void)func, (void)format, (void)args;
  handler_calls++;
  return code;
}

// The library calls a function of the program, and one of its own that the program passes by address.
static void check_errors(Ceed ceed) {
  const char *message = NULL;
  CeedVector vec = NULL;

  CeedSetErrorHandler(ceed, count_error);
  expect(CeedError(ceed, CEED_ERROR_MINOR, "text %d", 1) == CEED_ERROR_MINOR && handler_calls == 1,
         "own handler");
  expect(CeedVectorCreate(ceed, -1, &vec) && handler_calls == 2, "error inside the library");
  CeedSetErrorHandler(ceed, CeedErrorReturn);
  expect(CeedError(ceed, CEED_ERROR_MAJOR, "silent") == CEED_ERROR_MAJOR, "CeedErrorReturn");
  CeedSetErrorHandler(ceed, CeedErrorStore);
  expect(CeedError(ceed, CEED_ERROR_MINOR, "text %d", 2) == CEED_ERROR_MINOR, "CeedErrorStore");
  CeedGetErrorMessage(ceed, &message);
  expect(message && strstr(message, "text 2"), "stored message");
}

// ---- A mass operator ----

// in: [0] dx [Q]   [1] weights [Q]
// out: [0] qdata [Q]
CEED_QFUNCTION(build)
(void *ctx, const CeedInt num_points, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < num_points; i++) out[0][i] = in[0][i] * in[1][i];
  return 0;
}

// in: [0] u [Q]   [1] qdata [Q]
// out: [0] v [Q]
CEED_QFUNCTION(mass)
(void *ctx, const CeedInt num_points, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < num_points; i++) out[0][i] = in[0][i] * in[1][i];
  return 0;
}

typedef struct {
  CeedElemRestriction rstr_x, rstr_u, rstr_q;
  CeedBasis basis_x, basis_u;
  CeedVector x, qdata, u, v;
} Problem;

static void create_problem(Ceed ceed, Problem *p) {
  CeedInt offsets_x[NUM_ELEM * 2], offsets_u[NUM_ELEM * P];
  CeedScalar x[NUM_ELEM + 1];

  for (int i = 0; i < NUM_ELEM * 2; i++) offsets_x[i] = i / 2 + i % 2;
  for (int i = 0; i < NUM_ELEM * P; i++) offsets_u[i] = i / P * (P - 1) + i % P;
  for (int i = 0; i <= NUM_ELEM; i++) x[i] = 2.0 * i / NUM_ELEM;
  CeedElemRestrictionCreate(ceed, NUM_ELEM, 2, 1, 1, NUM_ELEM + 1, CEED_MEM_HOST, CEED_COPY_VALUES, offsets_x,
                            &p->rstr_x);
  CeedElemRestrictionCreate(ceed, NUM_ELEM, P, 1, 1, NUM_NODES, CEED_MEM_HOST, CEED_COPY_VALUES, offsets_u,
                            &p->rstr_u);
  CeedElemRestrictionCreateStrided(ceed, NUM_ELEM, Q, 1, NUM_ELEM * Q, CEED_STRIDES_BACKEND, &p->rstr_q);
  CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, Q, CEED_GAUSS, &p->basis_x);
  CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, P, Q, CEED_GAUSS, &p->basis_u);
  CeedVectorCreate(ceed, NUM_ELEM + 1, &p->x);
  CeedVectorSetArray(p->x, CEED_MEM_HOST, CEED_COPY_VALUES, x);
  CeedVectorCreate(ceed, NUM_ELEM * Q, &p->qdata);
  CeedVectorCreate(ceed, NUM_NODES, &p->u);
  CeedVectorCreate(ceed, NUM_NODES, &p->v);
}

static void destroy_problem(Problem *p) {
  CeedVectorDestroy(&p->x);
  CeedVectorDestroy(&p->qdata);
  CeedVectorDestroy(&p->u);
  CeedVectorDestroy(&p->v);
  CeedElemRestrictionDestroy(&p->rstr_x);
  CeedElemRestrictionDestroy(&p->rstr_u);
  CeedElemRestrictionDestroy(&p->rstr_q);
  CeedBasisDestroy(&p->basis_x);
  CeedBasisDestroy(&p->basis_u);
}

static void apply_build(Ceed ceed, Problem *p) {
  CeedQFunction qf;
  CeedOperator op;

  CeedQFunctionCreateInterior(ceed, 1, build, build_loc, &qf);
  CeedQFunctionAddInput(qf, "dx", 1, CEED_EVAL_GRAD);
  CeedQFunctionAddInput(qf, "weights", 1, CEED_EVAL_WEIGHT);
  CeedQFunctionAddOutput(qf, "qdata", 1, CEED_EVAL_NONE);
  CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op);
  CeedOperatorSetField(op, "dx", p->rstr_x, p->basis_x, CEED_VECTOR_ACTIVE);
  CeedOperatorSetField(op, "weights", CEED_ELEMRESTRICTION_NONE, p->basis_x, CEED_VECTOR_NONE);
  CeedOperatorSetField(op, "qdata", p->rstr_q, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE);
  expect(!CeedOperatorApply(op, p->x, p->qdata, CEED_REQUEST_IMMEDIATE), "first apply");
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
}

static void apply_mass(Ceed ceed, Problem *p) {
  CeedQFunction qf;
  CeedOperator op;

  CeedQFunctionCreateInterior(ceed, 1, mass, mass_loc, &qf);
  CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  CeedQFunctionAddInput(qf, "qdata", 1, CEED_EVAL_NONE);
  CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op);
  CeedOperatorSetField(op, "u", p->rstr_u, p->basis_u, CEED_VECTOR_ACTIVE);
  CeedOperatorSetField(op, "qdata", p->rstr_q, CEED_BASIS_NONE, p->qdata);
  CeedOperatorSetField(op, "v", p->rstr_u, p->basis_u, CEED_VECTOR_ACTIVE);
  expect(!CeedOperatorApply(op, p->u, p->v, CEED_REQUEST_IMMEDIATE), "second apply");
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
}

static double sum(CeedVector vec) {
  const CeedScalar *values = NULL;
  double total = 0;

  CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &values);
  for (int i = 0; i < NUM_NODES; i++) total += values[i];
  CeedVectorRestoreArrayRead(vec, &values);
  return total;
}

int main(void) {
  Ceed ceed;
  Problem p;

  check_tables();
  check_constants();
  CeedInit("/cpu/self", &ceed);
  check_errors(ceed);
  create_problem(ceed, &p);
  apply_build(ceed, &p);
  CeedVectorSetValue(p.u, 1.0);
  apply_mass(ceed, &p);

  double length = sum(p.v);
  printf("length %.15g\n", length);
  expect(fabs(length - 2.0) < 100 * 2.3e-16, "length"); // about 100 additions of terms that sum to 2
  destroy_problem(&p);
  CeedDestroy(&ceed);
  return num_wrong > 0;
}
