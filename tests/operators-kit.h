// SPDX-License-Identifier: BSD-2-Clause
// Typical operators, of which kernels for processors and devices are made: elements of 2 a direction, data at
// points [comp][element][point] as devices have them. Included by tests/cpu-cases.h and tests/gpu-plan-kit.h.
#ifndef RITZ_TESTS_OPERATORS_KIT_H
#define RITZ_TESTS_OPERATORS_KIT_H

#include "tests/plan-kit.h"

#include <ritz/basis.h>

#include "tests/precision-fields.h"

// Relative to the top folder of the sources, where tests run.
static const char gen_source[] = "tests/gen-qfunctions.h:GenMass";

// ---- Operators ----

// Which operator of its family.
typedef struct {
  CeedInt dim, P, Q, num_comp;
  bool is_gradient;
  CeedQuadMode mode;
  CeedElemTopology topology; // of operators on any shape of elements
} Shape;

static inline CeedInt power(CeedInt base, CeedInt exponent) {
  return exponent > 0 ? base * power(base, exponent - 1) : 1;
}

static inline CeedInt num_elem_of(const Shape *s) { return power(NUM_1D, s->dim); }

// Data at points as devices have them.
static inline CeedElemRestriction at_points(Kit *k, CeedInt num_elem, CeedInt Q, CeedInt num_comp) {
  CeedElemRestriction *rstr = &k->rstr[k->num_rstr++];

  NOTE_OK(CeedElemRestrictionCreateStrided(k->ceed, num_elem, Q, num_comp, (CeedSize)num_elem * Q * num_comp,
                                           (CeedInt[]){1, Q * num_elem, Q}, rstr));
  return *rstr;
}

static inline CeedBasis basis_of(Kit *k, const Shape *s) {
  return lagrange(k, s->dim, s->num_comp, s->P, s->Q, s->mode);
}

static inline Field active(const char *name, const Shape *s, CeedElemRestriction rstr, CeedBasis basis) {
  return (Field){name, s->is_gradient ? CEED_EVAL_GRAD : CEED_EVAL_INTERP, rstr, basis, CEED_VECTOR_ACTIVE};
}

// Factors stored at the points, of diffusion those of a symmetric matrix.
static inline void set_stored(Kit *k, const Shape *s) {
  const CeedInt Q = power(s->Q, s->dim), num_q = s->is_gradient ? s->dim * (s->dim + 1) / 2 : 1;
  CeedElemRestriction rstr = box(k, s->dim, s->P - 1, s->num_comp);
  CeedElemRestriction rstr_q = at_points(k, num_elem_of(s), Q, num_q);
  CeedBasis basis = basis_of(k, s);
  const Field fields[] = {active("u", s, rstr, basis),
                          DATA("qdata", rstr_q, vector(k, (CeedSize)num_elem_of(s) * Q * num_q)),
                          active("v", s, rstr, basis)};

  set_function(k, 1, gen_source, 2, 1, fields);
}

// Geometry from the corners of the elements.
static inline void set_trilinear(Kit *k, const Shape *s) {
  CeedElemRestriction rstr = box(k, s->dim, s->P - 1, s->num_comp), rstr_x = box(k, s->dim, 1, s->dim);
  CeedBasis basis = basis_of(k, s), basis_x = lagrange(k, s->dim, s->dim, 2, s->Q, s->mode);
  const Field fields[] = {active("u", s, rstr, basis),
                          PASSIVE("dx", GRAD, rstr_x, basis_x, vector(k, s->dim * power(3, s->dim))),
                          WEIGHTS(basis), active("v", s, rstr, basis)};

  set_function(k, 1, gen_source, 3, 1, fields);
}

// Six numbers of each element.
static inline void set_affine(Kit *k, const Shape *s) {
  static const CeedScalar ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, zeros[8];
  CeedElemRestriction rstr = box(k, s->dim, s->P - 1, s->num_comp);
  CeedElemRestriction rstr_f = at_points(k, num_elem_of(s), 1, 6);
  CeedBasis basis = basis_of(k, s), *basis_f = &k->basis[k->num_basis++];

  NOTE_OK(CeedBasisCreateTensorH1(k->ceed, s->dim, 6, 1, s->Q, ones, zeros, zeros, ones, basis_f));
  const Field fields[] = {active("u", s, rstr, basis),
                          PASSIVE("f", INTERP, rstr_f, *basis_f, vector(k, 6 * num_elem_of(s))),
                          WEIGHTS(basis), active("v", s, rstr, basis)};
  set_function(k, 1, gen_source, 3, 1, fields);
}

// A coefficient of degree P - 1.
static inline void set_coefficient(Kit *k, const Shape *s) {
  CeedElemRestriction rstr = box(k, s->dim, s->P - 1, s->num_comp), rstr_c = box(k, s->dim, s->P - 1, 1);
  CeedBasis basis = basis_of(k, s), basis_c = lagrange(k, s->dim, 1, s->P, s->Q, s->mode);
  const Field fields[] = {active("u", s, rstr, basis),
                          PASSIVE("c", INTERP, rstr_c, basis_c, vector(k, power(2 * (s->P - 1) + 1, s->dim))),
                          WEIGHTS(basis), active("v", s, rstr, basis)};

  set_function(k, 1, gen_source, 3, 1, fields);
}

// Velocity of degree P - 1 and pressure of one degree less, values and gradients.
static inline void set_mixed(Kit *k, const Shape *s) {
  CeedElemRestriction rstr_u = box(k, s->dim, s->P - 1, s->dim), rstr_p = box(k, s->dim, s->P - 2, 1);
  CeedElemRestriction rstr_x = box(k, s->dim, s->P - 1, s->dim);
  CeedBasis basis_u = lagrange(k, s->dim, s->dim, s->P, s->Q, CEED_GAUSS);
  CeedBasis basis_p = lagrange(k, s->dim, 1, s->P - 1, s->Q, CEED_GAUSS);
  CeedVector p = vector(k, power(2 * (s->P - 2) + 1, s->dim));
  CeedVector x = vector(k, s->dim * power(2 * (s->P - 1) + 1, s->dim));
  const Field fields[] = {ACTIVE("u", INTERP, rstr_u, basis_u),
                          ACTIVE("du", GRAD, rstr_u, basis_u),
                          PASSIVE("p", INTERP, rstr_p, basis_p, p),
                          PASSIVE("dx", GRAD, rstr_x, basis_u, x),
                          WEIGHTS(basis_u),
                          ACTIVE("v", INTERP, rstr_u, basis_u),
                          ACTIVE("dv", GRAD, rstr_u, basis_u),
                          PASSIVE("q", INTERP, rstr_p, basis_p, p)};

  set_function(k, 1, gen_source, 5, 3, fields);
}

// Factors from coordinates: no active output but at the points.
static inline void set_factors(Kit *k, const Shape *s) {
  const CeedInt Q = power(s->Q, s->dim);
  CeedElemRestriction rstr_x = box(k, s->dim, s->P - 1, s->dim), rstr_q = at_points(k, num_elem_of(s), Q, 6);
  CeedBasis basis_x = lagrange(k, s->dim, s->dim, s->P, s->Q, s->mode);
  const Field fields[] = {ACTIVE("dx", GRAD, rstr_x, basis_x), WEIGHTS(basis_x),
                          (Field){"qdata", CEED_EVAL_NONE, rstr_q, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE}};

  set_function(k, 1, gen_source, 2, 1, fields);
}

// Discontinuous: every node has an entry of its own.
static inline void set_strided(Kit *k, const Shape *s) {
  const CeedInt P = power(s->P, s->dim), Q = power(s->Q, s->dim), num_elem = num_elem_of(s);
  CeedElemRestriction rstr = at_points(k, num_elem, P, s->num_comp), rstr_q = at_points(k, num_elem, Q, 1);
  CeedBasis basis = basis_of(k, s);
  const Field fields[] = {active("u", s, rstr, basis),
                          DATA("qdata", rstr_q, vector(k, (CeedSize)num_elem * Q)),
                          active("v", s, rstr, basis)};

  set_function(k, 1, gen_source, 2, 1, fields);
}

static inline CeedInt *box_offsets(const Shape *s) {
  CeedInt *offsets = calloc((size_t)num_elem_of(s) * (size_t)power(s->P, s->dim), sizeof(*offsets));

  grid_element_nodes(s->dim, NUM_1D, s->P - 1, offsets);
  return offsets;
}

// Signs of nodes in front of a tensor basis; with curls a matrix of three diagonals.
static inline CeedElemRestriction signed_box(Kit *k, const Shape *s, bool has_curls) {
  const CeedInt size = power(s->P, s->dim), num = num_elem_of(s) * size;
  const CeedSize l_size = grid_num_nodes(s->dim, NUM_1D, s->P - 1);
  CeedElemRestriction *rstr = &k->rstr[k->num_rstr++];
  CeedInt *offsets = box_offsets(s);
  bool *orients = calloc((size_t)num, sizeof(*orients));
  CeedInt8 *curls = calloc(3 * (size_t)num, sizeof(*curls));

  for (CeedInt i = 0; i < num; i++) orients[i] = i % 3 == 1, curls[3 * i + 1] = 1;
  curls[3 * 1 + 0] = 1;
  if (has_curls)
    NOTE_OK(CeedElemRestrictionCreateCurlOriented(k->ceed, num_elem_of(s), size, 1, 1, l_size, CEED_MEM_HOST,
                                                  CEED_COPY_VALUES, offsets, curls, rstr));
  else
    NOTE_OK(CeedElemRestrictionCreateOriented(k->ceed, num_elem_of(s), size, 1, 1, l_size, CEED_MEM_HOST,
                                              CEED_COPY_VALUES, offsets, orients, rstr));
  free(offsets);
  free(orients);
  free(curls);
  return *rstr;
}

static inline void set_signed(Kit *k, const Shape *s, bool has_curls) {
  const CeedInt Q = power(s->Q, s->dim);
  CeedElemRestriction rstr = signed_box(k, s, has_curls), rstr_q = at_points(k, num_elem_of(s), Q, 1);
  CeedBasis basis = basis_of(k, s);
  const Field fields[] = {active("u", s, rstr, basis),
                          DATA("qdata", rstr_q, vector(k, (CeedSize)num_elem_of(s) * Q)),
                          active("v", s, rstr, basis)};

  set_function(k, 1, gen_source, 2, 1, fields);
}

static inline void set_oriented(Kit *k, const Shape *s) { set_signed(k, s, false); }
static inline void set_curl_oriented(Kit *k, const Shape *s) { set_signed(k, s, true); }

// Simplices of P nodes and Q points.
static inline CeedBasis simplex(Kit *k, const Shape *s) {
  const size_t size = (size_t)s->P * (size_t)s->Q * (size_t)s->dim;
  CeedScalar *table = calloc(size, sizeof(*table));
  CeedBasis *basis = &k->basis[k->num_basis++];

  for (size_t i = 0; i < size; i++) table[i] = 1 / (CeedScalar)(1 + i);
  NOTE_OK(CeedBasisCreateH1(k->ceed, s->dim == 3 ? CEED_TOPOLOGY_TET : CEED_TOPOLOGY_TRIANGLE, s->num_comp,
                            s->P, s->Q, table, table, table, table, basis));
  free(table);
  return *basis;
}

static inline CeedElemRestriction chain_of(Kit *k, CeedInt num_elem, CeedInt size, CeedInt num_comp) {
  CeedElemRestriction *rstr = &k->rstr[k->num_rstr++];
  CeedInt *offsets = calloc((size_t)num_elem * (size_t)size, sizeof(*offsets));

  for (CeedInt i = 0; i < num_elem * size; i++) offsets[i] = num_comp * (i / size * (size - 1) + i % size);
  NOTE_OK(CeedElemRestrictionCreate(k->ceed, num_elem, size, num_comp, 1,
                                    (CeedSize)num_comp * (num_elem * (size - 1) + 1), CEED_MEM_HOST,
                                    CEED_COPY_VALUES, offsets, rstr));
  free(offsets);
  return *rstr;
}

static inline void set_dense(Kit *k, const Shape *s) {
  enum { NUM_ELEM = 8 };
  const CeedInt num_q = s->is_gradient ? s->dim * (s->dim + 1) / 2 : 1;
  CeedElemRestriction rstr = chain_of(k, NUM_ELEM, s->P, s->num_comp);
  CeedElemRestriction rstr_q = at_points(k, NUM_ELEM, s->Q, num_q);
  CeedBasis basis = simplex(k, s);
  const Field fields[] = {active("u", s, rstr, basis), WEIGHTS(basis),
                          DATA("qdata", rstr_q, vector(k, (CeedSize)NUM_ELEM * s->Q * num_q)),
                          active("v", s, rstr, basis)};

  set_function(k, 1, gen_source, 3, 1, fields);
}

// Values and divergence of oriented triangles.
static inline void set_hdiv(Kit *k, const Shape *s) {
  static const CeedInt offsets[] = {0, 1, 2, 2, 3, 4};
  static const bool orients[] = {false, false, false, true, false, false};
  CeedElemRestriction *rstr = &k->rstr[k->num_rstr++];
  CeedBasis basis = dense(k, CeedBasisCreateHdiv, CEED_TOPOLOGY_TRIANGLE, 1);

  (void)s;
  NOTE_OK(CeedElemRestrictionCreateOriented(k->ceed, 2, DENSE_P, 1, 1, 5, CEED_MEM_HOST, CEED_COPY_VALUES,
                                            offsets, orients, rstr));
  const Field fields[] = {ACTIVE("u", INTERP, *rstr, basis), ACTIVE("div u", DIV, *rstr, basis),
                          ACTIVE("v", INTERP, *rstr, basis), ACTIVE("div v", DIV, *rstr, basis)};
  set_function(k, 1, gen_source, 2, 2, fields);
}

// Oriented elements in a row, each of which shares a node with the next.
static inline CeedElemRestriction oriented_chain(Kit *k, CeedInt num_elem, CeedInt size) {
  CeedElemRestriction *rstr = &k->rstr[k->num_rstr++];
  CeedInt *offsets = calloc((size_t)num_elem * (size_t)size, sizeof(*offsets));
  bool *orients = calloc((size_t)num_elem * (size_t)size, sizeof(*orients));

  for (CeedInt i = 0; i < num_elem * size; i++) {
    offsets[i] = i / size * (size - 1) + i % size;
    orients[i] = i % 3 == 0;
  }
  NOTE_OK(CeedElemRestrictionCreateOriented(k->ceed, num_elem, size, 1, 1, num_elem * (size - 1) + 1,
                                            CEED_MEM_HOST, CEED_COPY_VALUES, offsets, orients, rstr));
  free(offsets);
  free(orients);
  return *rstr;
}

// Values and curls of a Nedelec space of order P, or values and divergences of a Raviart-Thomas space.
static inline void set_vector(Kit *k, const Shape *s, CeedEvalMode mode) {
  const CeedInt num_q = s->dim * (s->dim + 1) / 2, Q = power(s->Q, s->dim);
  CeedBasis *basis = &k->basis[k->num_basis++];

  NOTE_OK((mode == CEED_EVAL_CURL ? RitzBasisCreateTensorHcurl : RitzBasisCreateTensorHdiv)(
      k->ceed, s->dim, 1, s->P, s->Q, s->mode, basis));
  if (tap_failed()) return;
  CeedElemRestriction rstr = oriented_chain(k, num_elem_of(s), (*basis)->P);
  CeedElemRestriction rstr_q = at_points(k, num_elem_of(s), Q, num_q);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, *basis),
                          {"du", mode, rstr, *basis, CEED_VECTOR_ACTIVE},
                          DATA("qdata", rstr_q, vector(k, (CeedSize)num_elem_of(s) * Q * num_q)),
                          WEIGHTS(*basis),
                          ACTIVE("v", INTERP, rstr, *basis),
                          {"dv", mode, rstr, *basis, CEED_VECTOR_ACTIVE}};
  set_function(k, 1, gen_source, 4, 2, fields);
}

static inline void set_nedelec(Kit *k, const Shape *s) { set_vector(k, s, CEED_EVAL_CURL); }
static inline void set_raviart_thomas(Kit *k, const Shape *s) { set_vector(k, s, CEED_EVAL_DIV); }

// A tensor basis, and one without on the points of its grid.
static inline void set_both(Kit *k, const Shape *s) {
  const Shape bubble = {.dim = s->dim, .P = 5, .Q = power(s->Q, s->dim), .num_comp = 1};
  CeedElemRestriction rstr = box(k, s->dim, s->P - 1, s->num_comp);
  CeedElemRestriction rstr_b = chain_of(k, num_elem_of(s), 5, 1);
  CeedBasis basis = basis_of(k, s), basis_b = simplex(k, &bubble);
  const Field fields[] = {active("u", s, rstr, basis),
                          PASSIVE("b", INTERP, rstr_b, basis_b, vector(k, 4 * num_elem_of(s) + 1)),
                          WEIGHTS(basis), active("v", s, rstr, basis)};

  set_function(k, 1, gen_source, 3, 1, fields);
}

static inline void add_context(Kit *k, bool is_writable) {
  CeedQFunctionContext ctx = NULL;
  const double data[3] = {1, 2, 3};

  if (tap_failed()) return;
  CHECK_OK(CeedQFunctionContextCreate(k->ceed, &ctx));
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), (void *)data));
  CHECK_OK(CeedQFunctionSetContext(k->op->qf, ctx));
  CHECK_OK(CeedQFunctionSetContextWritable(k->op->qf, is_writable));
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

static inline void set_context(Kit *k, const Shape *s) {
  set_stored(k, s);
  add_context(k, false);
}

static inline void set_writable(Kit *k, const Shape *s) {
  set_stored(k, s);
  add_context(k, true);
}

// ---- Precisions ----

// What is in single precision.
enum {
  FLOAT_ARITHMETIC = 1,
  FLOAT_IN = 2,
  FLOAT_OUT = 4,
  FLOAT_PASSIVE = 8,
  FLOAT_VECTORS = FLOAT_IN | FLOAT_OUT | FLOAT_PASSIVE,
  FLOAT_ALL = FLOAT_ARITHMETIC | FLOAT_VECTORS
};

// As cases say, of an operator that is not used yet.
static inline void set_precision(Kit *k, int floats) {
  if (floats & FLOAT_ARITHMETIC) NOTE_OK(RitzOperatorSetPrecision(k->op, CEED_SCALAR_FP32));
  for (int i = 0; i < 2; i++)
    k->op->active_precision[i] = floats & (i ? FLOAT_OUT : FLOAT_IN) ? CEED_SCALAR_FP32 : CEED_SCALAR_TYPE;
  for (int i = 0; floats & FLOAT_PASSIVE && i < k->num_vec; i++) {
    NOTE_OK(CeedVectorSetValue(k->vec[i], 0));
    NOTE_OK(precision_change(k->op, &k->vec[i], CEED_SCALAR_FP32));
  }
}

#endif
