// SPDX-License-Identifier: BSD-2-Clause
// An operator with one number in it, and that number read back from every kind of assembly. For
// test-assembly-rules.c and test-assembly-misuse.c.
#ifndef RITZ_TESTS_SCALE_OPERATOR_H
#define RITZ_TESTS_SCALE_OPERATOR_H

#include "tests/api.h"
#include "tests/reference.h"
#include "tests/scale-qfunctions.h"
#include "tests/triples.h"

#include <ceed/backend.h>
#include <math.h>
#include <ritz/operator.h>

// ---- One operator for most of it ----

// v = factor * qdata * u on NUM_ELEM elements of 3 nodes in a row, 4 points each.
enum { NUM_ELEM = 4, NODES = 3, POINTS = 4, SIZE = NUM_ELEM * (NODES - 1) + 1 };

typedef struct {
  CeedElemRestriction rstr, rstr_q; // owned
  CeedBasis basis;                  // owned
  CeedVector qdata;                 // owned, NUM_ELEM * POINTS
  CeedOperator op;                  // owned
  CeedContextFieldLabel factor;     // of op
} Fixture;

static inline int create_restrictions(Ceed ceed, CeedInt num_elem, Fixture *f) {
  CeedInt offsets[NUM_ELEM * NODES];
  const CeedInt strides[3] = {1, POINTS, POINTS};

  for (int k = 0; k < NUM_ELEM * NODES; k++) offsets[k] = k / NODES * (NODES - 1) + k % NODES;
  CeedCall(CeedElemRestrictionCreate(ceed, num_elem, NODES, 1, 1, SIZE, CEED_MEM_HOST, CEED_COPY_VALUES,
                                     offsets, &f->rstr));
  CeedCall(CeedElemRestrictionCreateStrided(ceed, num_elem, POINTS, 1, (CeedSize)NUM_ELEM * POINTS, strides,
                                            &f->rstr_q));
  return CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, NODES, POINTS, CEED_GAUSS, &f->basis);
}

static inline int create_scale(Ceed ceed, CeedQFunction *qf) {
  CeedQFunctionContext context = NULL;
  ScaleContext c = {1.0};
  int ierr = CeedQFunctionCreateInterior(ceed, 1, ScaleByFactor, ScaleByFactor_loc, qf);

  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "u", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "qdata", 1, CEED_EVAL_NONE);
  if (!ierr) ierr = CeedQFunctionAddOutput(*qf, "v", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionContextCreate(ceed, &context);
  if (!ierr) ierr = CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(c), &c);
  if (!ierr) ierr = CeedQFunctionContextRegisterDouble(context, "factor", 0, 1, NULL);
  if (!ierr) ierr = CeedQFunctionSetContext(*qf, context);
  CeedQFunctionContextDestroy(&context);
  return ierr;
}

static inline int fixture_create_sized(Ceed ceed, CeedInt num_elem, Fixture *f) {
  CeedQFunction qf = NULL;
  *f = (Fixture){0};
  int ierr = create_restrictions(ceed, num_elem, f);

  if (!ierr) ierr = CeedVectorCreate(ceed, (CeedSize)NUM_ELEM * POINTS, &f->qdata);
  if (!ierr) ierr = CeedVectorSetValue(f->qdata, 1);
  if (!ierr) ierr = create_scale(ceed, &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &f->op);
  if (!ierr) ierr = CeedOperatorSetField(f->op, "u", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(f->op, "qdata", f->rstr_q, CEED_BASIS_NONE, f->qdata);
  if (!ierr) ierr = CeedOperatorSetField(f->op, "v", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorGetContextFieldLabel(f->op, "factor", &f->factor);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static inline int fixture_create(Ceed ceed, Fixture *f) { return fixture_create_sized(ceed, NUM_ELEM, f); }

static inline void fixture_destroy(Fixture *f) {
  CeedElemRestrictionDestroy(&f->rstr);
  CeedElemRestrictionDestroy(&f->rstr_q);
  CeedBasisDestroy(&f->basis);
  CeedVectorDestroy(&f->qdata);
  CeedOperatorDestroy(&f->op);
}

// Entry 0 of a vector; NaN when it cannot be read.
static inline double first_entry(CeedVector v) {
  const CeedScalar *array;

  if (CeedVectorGetArrayRead(v, CEED_MEM_HOST, &array)) return NAN;
  double value = (double)array[0];
  CeedVectorRestoreArrayRead(v, &array);
  return value;
}

// The first entry of the matrix for scale 1: squares of the first Lagrange polynomial, added up over the
// points.
static inline double unit_entry(void) {
  double x[POINTS], interp[POINTS * NODES], grad[POINTS * NODES], sum = 0.0;

  reference_quadrature(CEED_GAUSS, POINTS, x, NULL);
  reference_lagrange(NODES, POINTS, x, interp, grad);
  for (int q = 0; q < POINTS; q++) sum += interp[q * NODES] * interp[q * NODES];
  return sum;
}

// What each kind of assembly says is the scale now.
static inline double diagonal_scale(CeedOperator op) {
  CeedVector v = NULL;

  if (CeedVectorCreate(CeedOperatorReturnCeed(op), SIZE, &v)) return NAN;
  int ierr = CeedOperatorLinearAssembleDiagonal(op, v, CEED_REQUEST_IMMEDIATE);
  double value = ierr ? NAN : first_entry(v) / unit_entry();
  CeedVectorDestroy(&v);
  return value;
}

static inline double triples_scale(CeedOperator op) {
  Triples t;
  int ierr = triples_assemble(op, &t);
  double value = ierr ? NAN : t.values[0] / unit_entry();

  triples_free(&t);
  return value;
}

static inline double csr_scale(CeedOperator op) {
  CeedSize num_rows, num_cols;
  int64_t *row_starts = NULL, *cols = NULL;
  CeedVector v = NULL;
  int ierr = RitzOperatorAssembleCSRSymbolic(op, &num_rows, &num_cols, &row_starts, &cols);

  if (!ierr) ierr = CeedVectorCreate(CeedOperatorReturnCeed(op), row_starts[num_rows], &v);
  if (!ierr) ierr = RitzOperatorAssembleCSR(op, row_starts, cols, v);
  double value = ierr ? NAN : first_entry(v) / unit_entry();
  free(row_starts);
  free(cols);
  CeedVectorDestroy(&v);
  return value;
}

static inline double cached_scale(CeedOperator op) {
  CeedVector v = NULL;
  CeedElemRestriction rstr = NULL;
  int ierr = CeedOperatorLinearAssembleQFunctionBuildOrUpdate(op, &v, &rstr, CEED_REQUEST_IMMEDIATE);
  double value = ierr ? NAN : first_entry(v);

  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  return value;
}

static inline double new_scale(CeedOperator op) {
  CeedVector v = NULL;
  CeedElemRestriction rstr = NULL;
  int ierr = CeedOperatorLinearAssembleQFunction(op, &v, &rstr, CEED_REQUEST_IMMEDIATE);
  double value = ierr ? NAN : first_entry(v);

  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  return value;
}

typedef double (*ScaleOf)(CeedOperator op);
static const ScaleOf all_kinds[] = {diagonal_scale, triples_scale, csr_scale, cached_scale};
enum { NUM_KINDS = sizeof(all_kinds) / sizeof(all_kinds[0]) };

// Sums of a few products.
static const double tolerance = 100;

#define CHECK_SCALE(op, kind, wanted)                                                                        \
  CHECK_NEAR(all_kinds[kind](op), (wanted), tolerance *eps *(wanted), "assembly of kind %d", (kind))

#endif
