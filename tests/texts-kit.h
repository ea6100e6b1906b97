// SPDX-License-Identifier: BSD-2-Clause
// Operators with the QFunctions of tests/texts/: one function, written in the habits of C, of both
// languages and of C++. In 2D, with a tensor K(q) and numbers of a context,
//     v = w (r p(q) u + b.grad u),   dv = w (K(q) grad u + b u),   p = (|q| + 1/2)^(3/2),
//     K = [s t; t m],  s = (q^2 + o^2)^(1/2),  t = exp(-q^2) / 4,  m = q between 0.1 and 0.75.
// Included by tests/test-texts.c and tests/test-nvrtc-kernels.c.
#ifndef RITZ_TESTS_TEXTS_KIT_H
#define RITZ_TESTS_TEXTS_KIT_H

#include <ceed.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/grid.h"
#include "tests/reference.h"
#include "tests/texts/flow-both.h"
#include "tests/texts/flow-c.h"

typedef enum { TEXT_C, TEXT_BOTH, TEXT_CXX } TextLanguage;

typedef struct {
  const char *name, *source;
  CeedQFunctionUser f; // what the program calls: of C++ texts the same function in C
  TextLanguage language;
} Text;

#define TEXT_FILE(file) "tests/texts/" file
static const Text texts[] = {
    {"C", FlowC_loc, FlowC, TEXT_C},
    {"both", FlowBoth_loc, FlowBoth, TEXT_BOTH},
    {"structs", TEXT_FILE("flow-struct.h:FlowStruct"), FlowC, TEXT_CXX},
    {"constexpr", TEXT_FILE("flow-constexpr.h:FlowConstexpr"), FlowC, TEXT_CXX},
    {"overloads", TEXT_FILE("flow-overloads.h:FlowOverloads"), FlowC, TEXT_CXX},
    {"templates", TEXT_FILE("flow-templates.h:FlowTemplates"), FlowC, TEXT_CXX},
};
enum { NUM_TEXTS = sizeof(texts) / sizeof(texts[0]) };

// 3 x 3 elements: a full batch of eight and a ninth, or several of fewer lanes.
enum { TEXTS_DIM = 2, TEXTS_NUM_1D = 3, TEXTS_DEGREE = 2, TEXTS_Q = 4, TEXTS_NUM_ELEM = 9 };

// All handles are owned.
typedef struct {
  CeedVector u, v, q;
  CeedOperator op;
} TextRun;

static inline CeedVector texts_vector(Ceed ceed, CeedSize n, uint64_t seed) {
  double *values = reference_new_random(n, &seed);
  CeedVector vector = reference_vector(ceed, n, values);

  free(values);
  return vector;
}

static inline int texts_create_function(Ceed ceed, const Text *text, CeedQFunction *qf) {
  const struct FlowOfC numbers = {1.5, 0.25, {0.5, -1.25}};
  CeedQFunctionContext context = NULL;
  int ierr = CeedQFunctionCreateInterior(ceed, 1, text->f, text->source, qf);

  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "u", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "du", TEXTS_DIM, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "q", 1, CEED_EVAL_NONE);
  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "w", 1, CEED_EVAL_WEIGHT);
  if (!ierr) ierr = CeedQFunctionAddOutput(*qf, "v", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddOutput(*qf, "dv", TEXTS_DIM, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionContextCreate(ceed, &context);
  if (!ierr)
    ierr = CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(numbers),
                                       (void *)&numbers);
  if (!ierr) ierr = CeedQFunctionSetContext(*qf, context);
  if (!ierr) ierr = CeedQFunctionSetContextWritable(*qf, false);
  CeedQFunctionContextDestroy(&context);
  return ierr;
}

// Begins as zeros; to be closed in any case.
static inline int texts_open(Ceed ceed, const Text *text, TextRun *r) {
  const CeedInt num_points = TEXTS_NUM_ELEM * TEXTS_Q * TEXTS_Q;
  const CeedInt num_nodes = grid_num_nodes(TEXTS_DIM, TEXTS_NUM_1D, TEXTS_DEGREE);
  CeedElemRestriction rstr = NULL, rstr_q = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  int ierr = texts_create_function(ceed, text, &qf);

  r->u = texts_vector(ceed, num_nodes, 1);
  r->q = texts_vector(ceed, num_points, 2);
  if (!ierr) ierr = CeedVectorCreate(ceed, num_nodes, &r->v);
  if (!ierr) ierr = grid_create_restriction(ceed, TEXTS_DIM, TEXTS_NUM_1D, TEXTS_DEGREE, 1, &rstr);
  if (!ierr)
    ierr = CeedElemRestrictionCreateStrided(ceed, TEXTS_NUM_ELEM, TEXTS_Q * TEXTS_Q, 1, num_points,
                                            CEED_STRIDES_BACKEND, &rstr_q);
  if (!ierr)
    ierr = CeedBasisCreateTensorH1Lagrange(ceed, TEXTS_DIM, 1, TEXTS_DEGREE + 1, TEXTS_Q, CEED_GAUSS, &basis);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &r->op);
  if (!ierr) ierr = CeedOperatorSetName(r->op, text->name);
  if (!ierr) ierr = CeedOperatorSetField(r->op, "u", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(r->op, "du", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(r->op, "q", rstr_q, CEED_BASIS_NONE, r->q);
  if (!ierr) ierr = CeedOperatorSetField(r->op, "w", CEED_ELEMRESTRICTION_NONE, basis, CEED_VECTOR_NONE);
  if (!ierr) ierr = CeedOperatorSetField(r->op, "v", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(r->op, "dv", rstr, basis, CEED_VECTOR_ACTIVE);
  CeedElemRestrictionDestroy(&rstr);
  CeedElemRestrictionDestroy(&rstr_q);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static inline void texts_close(TextRun *r) {
  CeedOperatorDestroy(&r->op);
  CeedVectorDestroy(&r->u);
  CeedVectorDestroy(&r->v);
  CeedVectorDestroy(&r->q);
}

// v = A u, or the diagonal of A.
static inline int texts_apply(const TextRun *r, bool is_diagonal) {
  return is_diagonal ? CeedOperatorLinearAssembleDiagonal(r->op, r->v, CEED_REQUEST_IMMEDIATE)
                     : CeedOperatorApply(r->op, r->u, r->v, CEED_REQUEST_IMMEDIATE);
}

#endif
