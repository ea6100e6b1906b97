// SPDX-License-Identifier: BSD-2-Clause
// Vectors of either precision by their values, and operators on random restrictions in any mixture of
// precisions. Included by tests/test-precision*.c.
#ifndef RITZ_TESTS_PRECISION_KIT_H
#define RITZ_TESTS_PRECISION_KIT_H

#include "tests/api.h"

#include <ceed/backend.h>
#include <math.h>
#include <ritz.h>

// The precisions of this build.
enum { NUM_PRECISIONS = sizeof(CeedScalar) == sizeof(double) ? 2 : 1 };
static const CeedScalarType precisions[] = {CEED_SCALAR_FP32, CEED_SCALAR_FP64};
#define EPS_F32 5.9604644775390625e-08 // 2^-24, what rounding to float changes at most, relatively

// ---- Vectors ----

// Rounded to the precision.
static inline int set_values(CeedVector vec, const double *values) {
  CeedScalarType precision;
  CeedSize n;
  CeedScalar *a;
  float *f;
  CeedCall(RitzVectorGetPrecision(vec, &precision));
  CeedCall(CeedVectorGetLength(vec, &n));
  if (precision != CEED_SCALAR_FP32) {
    CeedCall(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &a));
    for (CeedSize i = 0; i < n; i++) a[i] = (CeedScalar)values[i];
    return CeedVectorRestoreArray(vec, &a);
  }
  CeedCall(RitzVectorGetArrayWriteF32(vec, CEED_MEM_HOST, &f));
  for (CeedSize i = 0; i < n; i++) f[i] = (float)values[i];
  return RitzVectorRestoreArrayF32(vec, &f);
}

static inline int get_values(CeedVector vec, double *values) {
  CeedScalarType precision;
  CeedSize n;
  const CeedScalar *a;
  const float *f;
  CeedCall(RitzVectorGetPrecision(vec, &precision));
  CeedCall(CeedVectorGetLength(vec, &n));
  if (precision != CEED_SCALAR_FP32) {
    CeedCall(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &a));
    for (CeedSize i = 0; i < n; i++) values[i] = (double)a[i];
    return CeedVectorRestoreArrayRead(vec, &a);
  }
  CeedCall(RitzVectorGetArrayReadF32(vec, CEED_MEM_HOST, &f));
  for (CeedSize i = 0; i < n; i++) values[i] = (double)f[i];
  return RitzVectorRestoreArrayReadF32(vec, &f);
}

// NULL when something fails; values may be NULL.
static inline CeedVector precise_vector(Ceed ceed, CeedScalarType precision, CeedSize n,
                                        const double *values) {
  CeedVector vec = NULL;
  if (RitzVectorCreate(ceed, n, precision, &vec)) return NULL;
  if (values && set_values(vec, values)) CeedVectorDestroy(&vec);
  return vec;
}

static inline double largest(CeedSize n, const double *values) {
  double size = 0;
  for (CeedSize i = 0; i < n; i++) size = fmax(size, fabs(values[i]));
  return size;
}

// All entries within tol; shows the first that is not.
static inline bool values_agree(CeedSize n, const double *a, const double *b, double tol) {
  for (CeedSize i = 0; i < n; i++) {
    if (fabs(a[i] - b[i]) <= tol) continue;
    tap_note("entry %td: %.17g and %.17g, %.3g apart, allowed %.3g", i, a[i], b[i], fabs(a[i] - b[i]), tol);
    return false;
  }
  return true;
}

// ---- Operators ----

enum { KIT_ELEM = 7, KIT_NODES = 31, KIT_MAX_COMP = 3, KIT_MAX_SIZE = KIT_NODES * KIT_MAX_COMP };
enum { KIT_MAX_POINTS = 64, KIT_MAX_QDATA = KIT_ELEM * KIT_MAX_POINTS * 3 };

typedef struct {
  const char *function; // of the gallery, in two dimensions
  bool is_simplex, is_diffusion;
  CeedInt num_comp;
} PrecisionCase;

static const PrecisionCase precision_cases[] = {{"MassApply", false, false, 1},
                                                {"Vector3MassApply", true, false, 3},
                                                {"Poisson2DApply", true, true, 1},
                                                {"Vector3Poisson2DApply", false, true, 3}};
enum { NUM_PRECISION_CASES = sizeof(precision_cases) / sizeof(precision_cases[0]) };

// All handles are owned.
typedef struct {
  CeedInt num_comp, P, Q;
  CeedSize size;      // of the active vectors
  CeedSize num_qdata; // entries of the passive input
  CeedElemRestriction rstr, rstr_q;
  CeedBasis basis;
  CeedQFunction qf;
  CeedVector qdata;
  CeedOperator op;
} PrecisionKit;

// The same numbers for all contexts.
static inline int kit_restrictions(Ceed ceed, const PrecisionCase *c, PrecisionKit *k) {
  CeedInt offsets[KIT_ELEM * 64];
  uint64_t seed = 11;
  const CeedInt num_q = c->is_diffusion ? 3 : 1, strides[3] = {1, k->Q, k->Q * num_q};
  for (CeedInt i = 0; i < KIT_ELEM * k->P; i++)
    offsets[i] = k->num_comp * (CeedInt)tap_integer(&seed, KIT_NODES);
  k->size = KIT_NODES * k->num_comp;
  k->num_qdata = (CeedSize)KIT_ELEM * k->Q * num_q;
  CeedCall(CeedElemRestrictionCreate(ceed, KIT_ELEM, k->P, k->num_comp, 1, k->size, CEED_MEM_HOST,
                                     CEED_COPY_VALUES, offsets, &k->rstr));
  return CeedElemRestrictionCreateStrided(ceed, KIT_ELEM, k->Q, num_q, k->num_qdata, strides, &k->rstr_q);
}

static inline int kit_basis(Ceed ceed, const PrecisionCase *c, PrecisionKit *k) {
  if (c->is_simplex)
    CeedCall(RitzBasisCreateLagrange(ceed, CEED_TOPOLOGY_TRIANGLE, c->num_comp, 2, 4, &k->basis));
  else
    CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, 2, c->num_comp, 3, 4, CEED_GAUSS, &k->basis));
  CeedCall(CeedBasisGetNumNodes(k->basis, &k->P));
  return CeedBasisGetNumQuadraturePoints(k->basis, &k->Q);
}

// Coefficients of the size of 1: a number, or a symmetric positive definite matrix.
static inline int kit_qdata(Ceed ceed, CeedScalarType precision, const PrecisionCase *c, PrecisionKit *k) {
  static double values[KIT_MAX_QDATA];
  uint64_t seed = 5;
  for (CeedSize i = 0; i < k->num_qdata; i++) {
    const bool is_off_diagonal = c->is_diffusion && i / k->Q % 3 == 2;
    values[i] = is_off_diagonal ? 0.3 * tap_uniform(&seed) : 1 + 0.5 * tap_uniform(&seed);
  }
  k->qdata = precise_vector(ceed, precision, k->num_qdata, values);
  return !k->qdata;
}

// *k is to be closed in any case.
static inline int kit_open(Ceed ceed, const PrecisionCase *c, CeedScalarType arithmetic, CeedScalarType qdata,
                           PrecisionKit *k) {
  const char *in = c->is_diffusion ? "du" : "u", *out = c->is_diffusion ? "dv" : "v";
  *k = (PrecisionKit){.num_comp = c->num_comp};
  CeedCall(kit_basis(ceed, c, k));
  CeedCall(kit_restrictions(ceed, c, k));
  CeedCall(kit_qdata(ceed, qdata, c, k));
  CeedCall(CeedQFunctionCreateInteriorByName(ceed, c->function, &k->qf));
  CeedCall(CeedOperatorCreate(ceed, k->qf, NULL, NULL, &k->op));
  CeedCall(RitzOperatorSetPrecision(k->op, arithmetic));
  CeedCall(CeedOperatorSetField(k->op, in, k->rstr, k->basis, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(k->op, "qdata", k->rstr_q, CEED_BASIS_NONE, k->qdata));
  return CeedOperatorSetField(k->op, out, k->rstr, k->basis, CEED_VECTOR_ACTIVE);
}

static inline int kit_close(PrecisionKit *k) {
  int ierr = CeedOperatorDestroy(&k->op);
  ierr |= CeedQFunctionDestroy(&k->qf) | CeedVectorDestroy(&k->qdata) | CeedBasisDestroy(&k->basis);
  return ierr | CeedElemRestrictionDestroy(&k->rstr) | CeedElemRestrictionDestroy(&k->rstr_q);
}

static inline void kit_input(double *u) {
  uint64_t seed = 3;
  for (CeedInt i = 0; i < KIT_MAX_SIZE; i++) u[i] = tap_uniform(&seed);
}

// What the double operator on /cpu/self/ref does with u, and how large its terms are: |A| |u|, at most.
typedef struct {
  double v[KIT_MAX_SIZE], diagonal[KIT_MAX_SIZE], size;
} Oracle;

static inline int kit_sizes(PrecisionKit *k, const double *u, Oracle *o) {
  CeedSize num = 0;
  CeedInt *rows = NULL, *cols = NULL;
  CeedVector values = NULL;
  const CeedScalar *a;
  static double sizes[KIT_MAX_SIZE];
  CeedCall(CeedOperatorLinearAssembleSymbolic(k->op, &num, &rows, &cols));
  CeedCall(CeedVectorCreate(CeedOperatorReturnCeed(k->op), num, &values));
  CeedCall(CeedOperatorLinearAssemble(k->op, values));
  CeedCall(CeedVectorGetArrayRead(values, CEED_MEM_HOST, &a));
  for (CeedSize i = 0; i < KIT_MAX_SIZE; i++) sizes[i] = 0;
  for (CeedSize i = 0; i < num; i++) sizes[rows[i]] += fabs((double)a[i] * u[cols[i]]);
  CeedCall(CeedVectorRestoreArrayRead(values, &a));
  o->size = largest(k->size, sizes);
  free(rows);
  free(cols);
  return CeedVectorDestroy(&values);
}

static inline int oracle_of(const PrecisionCase *c, const double *u, Oracle *o) {
  PrecisionKit k;
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedCall(kit_open(ceed, c, CEED_SCALAR_TYPE, CEED_SCALAR_TYPE, &k));
  CeedVector in = precise_vector(ceed, CEED_SCALAR_TYPE, k.size, u);
  CeedVector out = precise_vector(ceed, CEED_SCALAR_TYPE, k.size, NULL);
  CeedCall(CeedOperatorApply(k.op, in, out, CEED_REQUEST_IMMEDIATE));
  CeedCall(get_values(out, o->v));
  CeedCall(CeedOperatorLinearAssembleDiagonal(k.op, out, CEED_REQUEST_IMMEDIATE));
  CeedCall(get_values(out, o->diagonal));
  CeedCall(kit_sizes(&k, u, o));
  CeedCall(CeedVectorDestroy(&in) | CeedVectorDestroy(&out));
  CeedCall(kit_close(&k));
  return CeedDestroy(&ceed);
}

// Rounding of the data and of each of some P + Q + P additions and products of a value on its way, in float:
// 3 * 16 half units in the last place, and as much again because terms of derivatives cancel before they are
// added.
static inline double kit_tolerance(const Oracle *o) { return 100 * EPS_F32 * o->size; }

#endif
