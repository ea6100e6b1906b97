// SPDX-License-Identifier: BSD-2-Clause
// What the tests of device contexts share: one run on each device backend that is usable, counters, chains of
// elements. Included by tests/test-gpu*.c.
#ifndef RITZ_TESTS_GPU_KIT_H
#define RITZ_TESTS_GPU_KIT_H

#include "backends/gpu/context.h"
#include "tests/api.h"
#include "tests/reference.h"

// ---- Backends ----

// Runs on every device backend of this run whose name has this part, in a context of its own; skips where
// there is none.
static inline void each_gpu(const char *part, void (*run)(Ceed ceed)) {
  size_t num, num_gpus = 0;
  const char *const *backends = tap_backends(&num);

  for (size_t i = 0; i < num && !tap_failed(); i++) {
    if (strncmp(backends[i], "/gpu/", 5) || !strstr(backends[i], part)) continue;
    Ceed ceed = tap_ceed(backends[i]);

    num_gpus++;
    run(ceed);
    if (tap_failed()) tap_note("on %s", backends[i]);
    CeedDestroy(&ceed);
  }
  if (num_gpus == 0) SKIP("no device backend '%s' is usable on this machine", part);
}

#define TEST_EACH_GPU(name)                                                                                  \
  static void name##_on(Ceed ceed);                                                                          \
  TEST(name) { each_gpu("/gpu/", name##_on); }                                                               \
  static void name##_on(Ceed ceed)

// On those with fused kernels.
#define TEST_EACH_GEN(name)                                                                                  \
  static void name##_on(Ceed ceed);                                                                          \
  TEST(name) { each_gpu("/gen", name##_on); }                                                                \
  static void name##_on(Ceed ceed)

static inline const char *resource_of(Ceed ceed) {
  const char *resource = "";
  CeedGetResource(ceed, &resource);
  return resource;
}

static inline bool is_cuda(Ceed ceed) { return strstr(resource_of(ceed), "/cuda/"); }

static inline RitzDeviceCounters counters_of(Ceed ceed) {
  RitzDeviceCounters counters = {0};
  RitzDeviceGetCounters(ceed, &counters);
  return counters;
}

// ---- Chains: elements in a row, each shares one node with the next ----

typedef struct {
  CeedInt dim, num_elem, P_1d, Q_1d;
  bool is_diffusion; // else mass
  uint64_t seed;     // of the coefficients
  CeedInt num_comp;  // 3, interlaced; else one
  CeedInt num_nodes; // not 0: all elements share so few nodes, additions meet in every entry
  CeedQuadMode quad_mode;
} ChainShape;

// All handles are owned.
typedef struct {
  CeedSize size; // of the L-vectors
  CeedElemRestriction rstr, rstr_q;
  CeedBasis basis;
  CeedVector qdata;
  CeedOperator op;
} Chain;

static inline CeedInt chain_num_comp(const ChainShape *s) { return s->num_comp ? s->num_comp : 1; }

static inline CeedSize chain_size(const ChainShape *s) {
  const CeedSize chain = (CeedSize)s->num_elem * (CeedIntPow(s->P_1d, s->dim) - 1) + 1;
  return (s->num_nodes ? s->num_nodes : chain) * chain_num_comp(s);
}

static inline CeedInt chain_node(const ChainShape *s, CeedInt P, CeedInt k) {
  return s->num_nodes ? (k * 7 + k / P) % s->num_nodes : k / P * (P - 1) + k % P;
}

static inline int chain_create_restrictions(Ceed ceed, const ChainShape *s, CeedInt num_q, Chain *c) {
  const CeedInt P = CeedIntPow(s->P_1d, s->dim), Q = CeedIntPow(s->Q_1d, s->dim), nc = chain_num_comp(s);
  const CeedInt strides[3] = {1, Q, Q * num_q};
  CeedInt *offsets = calloc((size_t)s->num_elem * (size_t)P, sizeof(*offsets));

  c->size = chain_size(s);
  for (CeedInt k = 0; k < s->num_elem * P; k++) offsets[k] = nc * chain_node(s, P, k);
  int ierr = CeedElemRestrictionCreate(ceed, s->num_elem, P, nc, 1, c->size, CEED_MEM_HOST, CEED_COPY_VALUES,
                                       offsets, &c->rstr);
  free(offsets);
  if (ierr) return ierr;
  return CeedElemRestrictionCreateStrided(ceed, s->num_elem, Q, num_q, (CeedSize)s->num_elem * Q * num_q,
                                          strides, &c->rstr_q);
}

static inline int chain_create_qdata(Ceed ceed, const ChainShape *s, CeedInt num_q, Chain *c) {
  const CeedSize length = (CeedSize)s->num_elem * CeedIntPow(s->Q_1d, s->dim) * num_q;
  uint64_t seed = s->seed;
  double *values = reference_new_random(length, &seed);

  c->qdata = reference_vector(ceed, length, values);
  free(values);
  return c->qdata ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

static inline int chain_create_operator(Ceed ceed, const ChainShape *s, Chain *c) {
  CeedQFunction qf = NULL;
  const char *const vector = chain_num_comp(s) == 3 ? "Vector3" : "";
  char name[32];

  snprintf(name, sizeof(name), "%sMassApply", vector);
  if (s->is_diffusion) snprintf(name, sizeof(name), "%sPoisson%dDApply", vector, (int)s->dim);
  int ierr = CeedQFunctionCreateInteriorByName(ceed, name, &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &c->op);
  CeedQFunctionDestroy(&qf);
  if (ierr) return ierr;
  CeedCall(CeedOperatorSetField(c->op, s->is_diffusion ? "du" : "u", c->rstr, c->basis, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(c->op, "qdata", c->rstr_q, CEED_BASIS_NONE, c->qdata));
  return CeedOperatorSetField(c->op, s->is_diffusion ? "dv" : "v", c->rstr, c->basis, CEED_VECTOR_ACTIVE);
}

// To be destroyed in any case.
static inline int chain_create(Ceed ceed, const ChainShape *s, Chain *c) {
  const CeedInt num_q = s->is_diffusion ? s->dim * (s->dim + 1) / 2 : 1;

  *c = (Chain){0};
  CeedCall(chain_create_restrictions(ceed, s, num_q, c));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, s->dim, chain_num_comp(s), s->P_1d, s->Q_1d, s->quad_mode,
                                           &c->basis));
  CeedCall(chain_create_qdata(ceed, s, num_q, c));
  return chain_create_operator(ceed, s, c);
}

static inline void chain_destroy(Chain *c) {
  CeedOperatorDestroy(&c->op);
  CeedVectorDestroy(&c->qdata);
  CeedBasisDestroy(&c->basis);
  CeedElemRestrictionDestroy(&c->rstr);
  CeedElemRestrictionDestroy(&c->rstr_q);
}

// y = A x; both [size].
static inline int apply_to_values(CeedOperator op, CeedSize size, const double *x, double *y) {
  Ceed ceed = CeedOperatorReturnCeed(op);
  CeedVector in = reference_vector(ceed, size, x), out = NULL;
  int ierr = in ? CeedVectorCreate(ceed, size, &out) : CEED_ERROR_MAJOR;

  if (!ierr) ierr = CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE);
  if (!ierr) reference_values(out, y);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  return ierr;
}

// y = A x for a chain in this context, which may be that of the reference backend.
static inline int chain_apply(Ceed ceed, const ChainShape *s, const double *x, double *y) {
  Chain c;
  int ierr = chain_create(ceed, s, &c);

  if (!ierr) ierr = apply_to_values(c.op, c.size, x, y);
  chain_destroy(&c);
  return ierr;
}

// An entry is a sum over nodes, points and directions, one direction after the other; each sum of n products
// is off by at most n eps times the sum of its terms' sizes. With random numbers that sum is less than a
// hundred times the largest entry of the result.
static inline double chain_tolerance(const ChainShape *s, const double *y) {
  return 100 * eps * s->dim * (s->P_1d + s->Q_1d) * reference_largest(chain_size(s), y);
}

#endif
