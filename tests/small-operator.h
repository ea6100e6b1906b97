// SPDX-License-Identifier: BSD-2-Clause
// Two line elements with the nodes 0, 1, 2 and two points each, and operators on them whose results can be
// worked out in the head. Included by tests/test-operator-*.c.
//
//     nodes      0 ------- 1 ------- 2       offsets {0, 1, 1, 2}
//     points     a         b c       d       at the nodes: interpolation is the identity, weights 1, 2
//
// scale: v = u qd w at the points. With qd = {1, 2, 3, 4} and u = {1, 10, 100}: v = {1, 40 + 30, 800}.
#ifndef RITZ_TESTS_SMALL_OPERATOR_H
#define RITZ_TESTS_SMALL_OPERATOR_H

#include "tests/api.h"
#include "tests/small-qfunctions.h"

#include <ceed/backend.h>

enum { SMALL_NODES = 3, SMALL_ELEM = 2, SMALL_P = 2, SMALL_Q = 2, SMALL_POINTS = 4 };

static const CeedInt small_offsets[SMALL_ELEM * SMALL_P] = {0, 1, 1, 2};
static const CeedScalar small_interp[SMALL_Q * SMALL_P] = {1, 0, 0, 1},
                                               small_grad[SMALL_Q * SMALL_P] = {-1, 1, -1, 1},
                                               small_weights[SMALL_Q] = {1, 2},
                                               small_u[SMALL_NODES] = {1, 10, 100},
                                               small_qd[SMALL_POINTS] = {1, 2, 3, 4};

// All handles are owned.
typedef struct {
  CeedElemRestriction rstr_u, rstr_q;
  CeedBasis basis;
  CeedQFunction qf;
  CeedVector u, v, qd;
  CeedOperator op; // scale: "u" active, "qd" passive, "w" weights, "v" active
} Small;

static inline CeedElemRestriction small_restriction(Ceed ceed) {
  CeedElemRestriction rstr = NULL;
  CeedElemRestrictionCreate(ceed, SMALL_ELEM, SMALL_P, 1, 1, SMALL_NODES, CEED_MEM_HOST, CEED_COPY_VALUES,
                            small_offsets, &rstr);
  return rstr;
}

static inline CeedBasis small_basis(Ceed ceed, CeedInt num_comp) {
  CeedBasis basis = NULL;
  CeedBasisCreateTensorH1(ceed, 1, num_comp, SMALL_P, SMALL_Q, small_interp, small_grad, NULL, small_weights,
                          &basis);
  return basis;
}

static inline CeedQFunction small_qfunction(Ceed ceed) {
  CeedQFunction qf = NULL;
  if (CeedQFunctionCreateInterior(ceed, 1, SmallScale, SmallScale_loc, &qf)) return NULL;
  CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  CeedQFunctionAddInput(qf, "qd", 1, CEED_EVAL_NONE);
  CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_WEIGHT);
  CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  CeedQFunctionSetUserFlopsEstimate(qf, 2);
  return qf;
}

static inline int small_set_fields(CeedOperator op, const Small *s) {
  int ierr = CeedOperatorSetField(op, "u", s->rstr_u, s->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(op, "qd", s->rstr_q, CEED_BASIS_NONE, s->qd);
  if (!ierr) ierr = CeedOperatorSetField(op, "w", CEED_ELEMRESTRICTION_NONE, s->basis, CEED_VECTOR_NONE);
  return ierr ? ierr : CeedOperatorSetField(op, "v", s->rstr_u, s->basis, CEED_VECTOR_ACTIVE);
}

// Everything but the fields of the operator.
static inline void small_open_without_fields(Ceed ceed, Small *s) {
  *s = (Small){.rstr_u = small_restriction(ceed), .basis = small_basis(ceed, 1), .qf = small_qfunction(ceed)};
  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, SMALL_ELEM, SMALL_Q, 1, SMALL_POINTS, CEED_STRIDES_BACKEND,
                                            &s->rstr_q));
  s->u = vector_of(ceed, SMALL_NODES, small_u);
  s->v = vector_of(ceed, SMALL_NODES, NULL);
  s->qd = vector_of(ceed, SMALL_POINTS, small_qd); // one component: [element][point] on all backends
  CHECK_OK(CeedOperatorCreate(ceed, s->qf, NULL, NULL, &s->op));
}

static inline void small_open(Ceed ceed, Small *s) {
  small_open_without_fields(ceed, s);
  if (tap_failed()) return;
  CHECK_OK(small_set_fields(s->op, s));
}

static inline void small_close(Small *s) {
  CHECK_OK(CeedOperatorDestroy(&s->op));
  CHECK_OK(CeedElemRestrictionDestroy(&s->rstr_u));
  CHECK_OK(CeedElemRestrictionDestroy(&s->rstr_q));
  CHECK_OK(CeedBasisDestroy(&s->basis));
  CHECK_OK(CeedQFunctionDestroy(&s->qf));
  CHECK_OK(CeedVectorDestroy(&s->u));
  CHECK_OK(CeedVectorDestroy(&s->v));
  CHECK_OK(CeedVectorDestroy(&s->qd));
}

// The operator gives what it should: nothing that happened before has spoilt it.
static inline void small_check_works(const Small *s) {
  CHECK_OK(CeedOperatorApply(s->op, s->u, s->v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(s->v, 1, 70, 800);
}

#define SMALL_OPEN(ceed, s)                                                                                  \
  do {                                                                                                       \
    small_open((ceed), (s));                                                                                 \
    if (tap_failed()) return;                                                                                \
  } while (0)

#define SMALL_CHECK_WORKS(s)                                                                                 \
  do {                                                                                                       \
    small_check_works(s);                                                                                    \
    if (tap_failed()) return;                                                                                \
  } while (0)

// ---- twice: v = 2 u at the nodes, and a passive output s = u at the points ----

// Where the backend calls functions of the program, `twice` is one without a text: what it returns is up to
// the test.
static int twice_code;

static inline int twice(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  SmallTwice(ctx, Q, in, out);
  return twice_code;
}

// Input u and output v, with the vectors given (or active); output s to the passive vector.
static inline CeedOperator twice_operator(Ceed ceed, const Small *small, CeedVector u, CeedVector v,
                                          CeedVector s) {
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;

  CeedQFunctionCreateInterior(ceed, 1, twice, tap_runs_pointers(ceed) ? "small.h:twice" : SmallTwice_loc,
                              &qf);
  CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  CeedQFunctionAddOutput(qf, "s", 1, CEED_EVAL_NONE);
  CeedOperatorCreate(ceed, qf, NULL, NULL, &op);
  CeedQFunctionDestroy(&qf);
  if (CeedOperatorSetField(op, "u", small->rstr_u, small->basis, u)) return NULL;
  if (CeedOperatorSetField(op, "v", small->rstr_u, small->basis, v)) return NULL;
  return CeedOperatorSetField(op, "s", small->rstr_q, CEED_BASIS_NONE, s) ? NULL : op;
}

// Operator, passive output and an active output with two entries more than needed, both filled with sevens.
typedef struct {
  Small small;
  CeedVector s, v;
  CeedOperator op;
} Twice;

static inline void open_twice(Ceed ceed, Twice *t) {
  const CeedScalar sevens[SMALL_POINTS + 1] = {7, 7, 7, 7, 7};

  *t = (Twice){0};
  small_open(ceed, &t->small);
  if (tap_failed()) return;
  t->s = vector_of(ceed, SMALL_POINTS + 1, sevens);
  t->v = vector_of(ceed, SMALL_NODES + 2, sevens);
  t->op = twice_operator(ceed, &t->small, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, t->s);
  CHECK(t->op, "no operator");
}

static inline void close_twice(Twice *t) {
  CHECK_OK(CeedOperatorDestroy(&t->op));
  CHECK_OK(CeedVectorDestroy(&t->s));
  CHECK_OK(CeedVectorDestroy(&t->v));
  small_close(&t->small);
}

#define OPEN_TWICE(ceed, t)                                                                                  \
  do {                                                                                                       \
    open_twice((ceed), (t));                                                                                 \
    if (tap_failed()) return;                                                                                \
  } while (0)

// 2 E^T E u: node 1 belongs to two elements.
#define TWICE_V 2, 40, 200
#define TWICE_S 1, 10, 10, 100

#endif
