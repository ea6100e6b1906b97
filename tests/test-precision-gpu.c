// SPDX-License-Identifier: BSD-2-Clause
// Fused kernels of /gpu/*/gen in single precision, and such that convert vectors, against /cpu/self/ref in
// double precision on the same numbers: all of them are floats. Also which operators have such kernels, and
// what users are told. Precision of vectors on all backends: test-precision.c.
#include <ritz/operator.h>

#include "backends/gpu/gpu.h"
#include "tests/gpu-kit.h"

#include "tests/geometry-problem.h"
#include "tests/played-cuda.h"
#include "tests/precision-fields.h"
#include "tests/precision-qfunctions.h"
#include "tests/random-operator.h"

#define NOTE_OK(expr) tap_check_ok((expr), __FILE__, __LINE__, #expr)
#define NEEDS_DOUBLES()                                                                                      \
  do {                                                                                                       \
    if (sizeof(CeedScalar) != sizeof(double)) SKIP("a library of float has one precision");                  \
  } while (0)

// ---- Precisions ----

// Whether the arithmetic is in single precision, and the active input, the active output, passive vectors.
typedef struct {
  bool is_single, in, out, passive;
} Precisions;

static const Precisions all_double, all_single = {true, true, true, true},
                                    arithmetic = {true, false, false, false},
                                    vectors = {false, true, true, true}, data = {true, false, false, true},
                                    input = {true, true, false, false}, output = {true, false, true, true},
                                    passive = {false, false, false, true}, active = {true, true, true, false};

static CeedScalarType type_of(bool is_single) { return is_single ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64; }

static void describe(const Precisions *p, char text[64]) {
  snprintf(text, 64, "%s, in %s, out %s, passive %s", p->is_single ? "float" : "double",
           p->in ? "float" : "double", p->out ? "float" : "double", p->passive ? "float" : "double");
}

// Distance from 1 to the next number that the kernel computes with, or stores: what it reads are floats.
static double round_off(const Precisions *p) { return p->is_single || p->out ? (double)FLT_EPSILON : eps; }

// ---- Numbers ----

// Random ones that are floats.
static double *new_floats(CeedSize n, uint64_t *seed) {
  double *values = reference_new_random(n, seed);

  for (CeedSize i = 0; i < n; i++) values[i] = (double)(float)values[i];
  return values;
}

static int set_floats(CeedVector vec, uint64_t seed) {
  double *values = new_floats(vec->length, &seed);
  CeedScalar *array = NULL;
  int ierr = CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array);

  for (CeedSize i = 0; !ierr && i < vec->length; i++) array[i] = (CeedScalar)values[i];
  free(values);
  return ierr ? ierr : CeedVectorRestoreArray(vec, &array);
}

static int create_vector(Ceed ceed, CeedSize n, const double *values, bool is_single, CeedVector *vec) {
  CeedVector doubles = reference_vector(ceed, n, values);

  if (!doubles) return CEED_ERROR_MAJOR;
  if (!is_single) {
    *vec = doubles;
    return CEED_ERROR_SUCCESS;
  }
  const int ierr = precision_copy(doubles, CEED_SCALAR_FP32, vec);
  CeedVectorDestroy(&doubles);
  return ierr;
}

static int read_vector(CeedVector vec, double *values) {
  CeedVector doubles = NULL;
  int ierr = vec->precision == CEED_SCALAR_FP64 ? CeedVectorReferenceCopy(vec, &doubles)
                                                : precision_copy(vec, CEED_SCALAR_FP64, &doubles);

  if (!ierr) reference_values(doubles, values);
  CeedVectorDestroy(&doubles);
  return ierr;
}

// ---- Operators ----

// y = A x, with `adds` y + A x.
static int apply(CeedOperator op, const Precisions *p, bool adds, CeedSize n, const double *x, double *y) {
  Ceed ceed = CeedOperatorReturnCeed(op);
  CeedVector in = NULL, out = NULL;
  int ierr = create_vector(ceed, n, x, p->in, &in);

  if (!ierr) ierr = create_vector(ceed, n, y, p->out, &out);
  if (!ierr && !adds) ierr = CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE);
  if (!ierr && adds) ierr = CeedOperatorApplyAdd(op, in, out, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = read_vector(out, y);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  return ierr;
}

static int diagonal(CeedOperator op, bool is_single, CeedSize n, double *y) {
  CeedVector out = NULL;
  int ierr = RitzVectorCreate(CeedOperatorReturnCeed(op), n, type_of(is_single), &out);

  if (!ierr) ierr = CeedOperatorLinearAssembleDiagonal(op, out, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = read_vector(out, y);
  CeedVectorDestroy(&out);
  return ierr;
}

static char *explain(CeedOperator op) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);

  NOTE_OK(RitzOperatorExplain(op, stream));
  fclose(stream);
  return text;
}

static bool says(CeedOperator op, const char *words) {
  char *text = explain(op);
  const bool is_there = strstr(text, words);

  free(text);
  return is_there;
}

// ---- Chains of tensor elements with stored factors ----

typedef struct {
  ChainShape shape;
  const Precisions *precisions;
  bool is_deterministic, has_diagonal;
} ChainCase;

#define CHAIN(d, P, Q, diffuses, nc)                                                                         \
  {                                                                                                          \
    .dim = (d), .num_elem = 7, .P_1d = (P), .Q_1d = (Q), .is_diffusion = (diffuses), .num_comp = (nc),       \
    .quad_mode = (P) == (Q) ? CEED_GAUSS_LOBATTO : CEED_GAUSS                                                \
  }

// Degrees 1 to 4; threads take whole elements of mass of degree 1, else lines.
static const ChainCase chains[] = {
    {CHAIN(3, 2, 3, false, 0), &all_single, false, true}, {CHAIN(3, 2, 3, false, 0), &output, false, false},
    {CHAIN(3, 2, 3, false, 3), &data, false, false},      {CHAIN(3, 2, 3, false, 3), &active, true, false},
    {CHAIN(3, 2, 3, true, 0), &vectors, false, false},    {CHAIN(3, 3, 4, true, 0), &input, false, true},
    {CHAIN(2, 3, 4, true, 0), &arithmetic, true, false},  {CHAIN(3, 3, 4, true, 3), &all_single, false, true},
    {CHAIN(3, 4, 5, false, 0), &arithmetic, false, true}, {CHAIN(3, 4, 4, true, 0), &output, false, false},
    {CHAIN(3, 4, 5, true, 0), &all_single, true, true},   {CHAIN(3, 5, 6, true, 0), &data, false, false},
    {CHAIN(3, 5, 5, true, 0), &all_single, false, false}, {CHAIN(3, 5, 6, false, 0), &passive, false, true},
    {CHAIN(2, 5, 5, true, 3), &active, false, false},     {CHAIN(1, 5, 6, true, 0), &data, false, true},
};

// The factors are floats; `precisions` NULL: all is in double.
static int open_chain(Ceed ceed, const ChainShape *s, const Precisions *p, Chain *c) {
  CeedCall(chain_create(ceed, s, c));
  CeedCall(set_floats(c->qdata, 5));
  if (!p) return CEED_ERROR_SUCCESS;
  CeedCall(RitzOperatorSetPrecision(c->op, type_of(p->is_single)));
  return precision_change(c->op, &c->qdata, type_of(p->passive));
}

static int run_chain(Ceed ceed, const ChainCase *k, const Precisions *p, const double *x, double *y,
                     double *of_diagonal) {
  const Precisions *of_vectors = p ? p : &all_double;
  Chain c;
  int ierr = open_chain(ceed, &k->shape, p, &c);

  if (!ierr) ierr = apply(c.op, of_vectors, false, c.size, x, y);
  if (!ierr) ierr = apply(c.op, of_vectors, true, c.size, x, y);
  if (!ierr && k->has_diagonal) ierr = diagonal(c.op, of_vectors->out, c.size, of_diagonal);
  chain_destroy(&c);
  return ierr;
}

// A context in which what has no kernel of its own is an error.
static Ceed open_strict(const char *resource) {
  Ceed ceed = tap_ceed(resource);

  ceed->is_strict = true;
  return ceed;
}

// The bound of chains (tests/gpu-kit.h) with the kernel's round-off, twice for two applies. Arithmetic in
// single precision is off by more than double precision would be.
static void check_chain(Ceed ceed, const ChainCase *k) {
  const double ratio = round_off(k->precisions) / eps, least = k->precisions->is_single ? 1e-5 : 0;
  const CeedSize size = chain_size(&k->shape);
  uint64_t seed = 3;
  Ceed reference = tap_ceed("/cpu/self/ref");
  double *x = new_floats(size, &seed), *y[2], *d[2], error[2], tolerance[2];
  char precisions[64];

  for (int i = 0; i < 2; i++) y[i] = reference_new(size), d[i] = reference_new(size);
  NOTE_OK(run_chain(ceed, k, k->precisions, x, y[0], d[0]));
  NOTE_OK(run_chain(reference, k, NULL, x, y[1], d[1]));
  error[0] = reference_distance(size, y[0], y[1]), error[1] = reference_distance(size, d[0], d[1]);
  tolerance[0] = 2 * ratio * chain_tolerance(&k->shape, y[1]);
  tolerance[1] = ratio * chain_tolerance(&k->shape, d[1]);
  free(x);
  for (int i = 0; i < 2; i++) free(y[i]), free(d[i]);
  CeedDestroy(&reference);
  describe(k->precisions, precisions);
  CHECK(error[0] <= tolerance[0], "%s: off by %g, allowed %g", precisions, error[0], tolerance[0]);
  CHECK(error[0] >= least * tolerance[0], "%s: off by %g, which is too little", precisions, error[0]);
  CHECK(error[1] <= tolerance[1], "%s: the diagonal is off by %g, allowed %g", precisions, error[1],
        tolerance[1]);
}

enum { NUM_CHAINS = sizeof(chains) / sizeof(chains[0]) };

TEST_EACH_GEN(mass_and_diffusion_in_single_precision_equal_the_reference) {
  char resource[CEED_MAX_RESOURCE_LEN];

  NEEDS_DOUBLES();
  snprintf(resource, sizeof(resource), "%s:deterministic", resource_of(ceed));
  Ceed ceeds[2] = {open_strict(resource_of(ceed)), open_strict(resource)};
  const int step = tap_compiles_slowly(ceed) && tap_level() == TAP_QUICK ? 2 : 1;

  for (int i = 0; i < NUM_CHAINS && !tap_failed(); i += step) {
    check_chain(ceeds[chains[i].is_deterministic], &chains[i]);
    if (tap_failed()) tap_note("chain %d", i);
  }
  CeedDestroy(&ceeds[0]);
  CeedDestroy(&ceeds[1]);
}

// What CUDA's texts have alone, on the processor: copies behind the threads' backs, sums of neighbours.
TEST(texts_for_cuda_in_single_precision_equal_the_reference) {
  NEEDS_DOUBLES();
  NEEDS_COROUTINES();
  setenv("RITZ_CACHE", "off", 1); // what is compiled is a path in this process's folder
  Ceed ceed = played_open(&ritz_cuda_gen_backend, SM_90);
  ceed->is_strict = true;
  for (int i = 0; i < NUM_CHAINS && !tap_failed(); i++) {
    if (chains[i].is_deterministic || (i > 3 && i % 3 && tap_level() == TAP_QUICK)) continue;
    check_chain(ceed, &chains[i]);
    if (tap_failed()) tap_note("chain %d", i);
  }
  CeedDestroy(&ceed);
  unsetenv("RITZ_CACHE");
}

// ---- Random operators: all kinds of spaces, dense bases, contexts in double ----

static int make_single(RandomOperator *r, const Precisions *p) {
  CeedCall(RitzOperatorSetPrecision(r->op, type_of(p->is_single)));
  for (int i = 0; i < r->num_vectors; i++) {
    if (!r->vectors[i].values) CeedCall(CeedVectorSetValue(r->vectors[i].vector, 0));
    CeedCall(precision_change(r->op, &r->vectors[i].vector, type_of(p->passive)));
  }
  return CEED_ERROR_SUCCESS;
}

static int create_active(Ceed ceed, CeedSize n, const double *values, bool is_single, CeedVector *vec) {
  *vec = CEED_VECTOR_NONE;
  return n ? create_vector(ceed, n, values, is_single, vec) : CEED_ERROR_SUCCESS;
}

static void check_target(const RandomOperator *r, int i, const Precisions *p, const double *x,
                         CeedVector out) {
  const RandomTarget *t = &r->targets[i];
  double *y = reference_new(t->length), *found = reference_new(t->length);
  const double unit = p->passive ? (double)FLT_EPSILON : round_off(p); // passive vectors are rounded
  const double tolerance = unit / eps * random_target_apply(r, t, x, y);

  NOTE_OK(read_vector(t->vector ? t->vector->vector : out, found));
  const double error = reference_distance(t->length, found, y);
  free(y);
  free(found);
  CHECK(error <= tolerance, "target %d is off by %g, allowed %g", i, error, tolerance);
}

static void check_random(RandomOperator *r, const Precisions *p, uint64_t *seed) {
  double *x = new_floats(r->input_size, seed), *zeros = reference_new(r->output_size);
  CeedVector in = NULL, out = NULL;

  NOTE_OK(make_single(r, p));
  NOTE_OK(create_active(r->ceed, r->input_size, x, p->in, &in));
  NOTE_OK(create_active(r->ceed, r->output_size, zeros, p->out, &out));
  if (!tap_failed()) NOTE_OK(CeedOperatorApply(r->op, in, out, CEED_REQUEST_IMMEDIATE));
  for (int i = 0; i < r->num_targets && !tap_failed(); i++) check_target(r, i, p, x, out);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  free(x);
  free(zeros);
}

// The bound of random operators (tests/random-operator.h) with the kernel's round-off.
static void run_random(Ceed ceed, uint64_t number) {
  static RandomOperator r;
  const unsigned bits = 1 + (unsigned)(number * 4 % 15);
  const Precisions p = {bits & 1, bits & 2, bits & 4, bits & 8};
  const RandomOptions options = {.in_batches = true, .is_tensor = number % 3 != 2, .mesh = number};
  uint64_t seed = 40 + number;
  char precisions[64];

  describe(&p, precisions);
  NOTE_OK(random_operator_create(ceed, &options, &seed, &r));
  if (!tap_failed()) check_random(&r, &p, &seed);
  if (tap_failed()) tap_note("operator %d, %s: %s", (int)number, precisions, random_operator_describe(&r));
  random_operator_destroy(&r);
}

TEST_EACH_GEN(random_operators_in_single_precision_are_their_dense_matrices) {
  static const uint64_t num[] = {12, 120, 600};
  char resource[CEED_MAX_RESOURCE_LEN];

  NEEDS_DOUBLES();
  snprintf(resource, sizeof(resource), "%s:deterministic", resource_of(ceed));
  Ceed ceeds[2] = {ceed, tap_ceed(resource)};
  const bool is_brief = tap_level() == TAP_FULL && tap_compiles_slowly(ceed); // a kernel for each
  for (uint64_t i = 0; i < num[tap_level()] / (is_brief ? 4 : 1) && !tap_failed(); i++)
    run_random(ceeds[i % 2], i);
  CeedDestroy(&ceeds[1]);
}

// ---- Geometry that is computed ----

// Eight boxes whose corners are moved a little; factors of affine elements around those of the identity.
static int set_geometry(const GeometryShape *s, GeometryProblem *p) {
  uint64_t seed = 9;
  double *random = new_floats(p->x->length, &seed);
  CeedScalar *x = NULL;
  int ierr = CeedVectorGetArrayWrite(p->x, CEED_MEM_HOST, &x);

  for (CeedSize i = 0; !ierr && i < p->x->length; i++) {
    const CeedInt node = (CeedInt)(i / 3), c = (CeedInt)(i % 3);
    const CeedInt corner = c == 0 ? node % 3 : c == 1 ? node / 3 % 3 : node / 9;
    const double place = s->is_affine ? (i % 6 < 3 ? 1 : 0) : (double)corner / 2;
    x[i] = (CeedScalar)(float)(place + 0.1 * random[i]);
  }
  free(random);
  return ierr ? ierr : CeedVectorRestoreArray(p->x, &x);
}

static int run_geometry(Ceed ceed, const GeometryShape *s, const Precisions *precisions, const double *x,
                        double *y) {
  const Precisions *of_vectors = precisions ? precisions : &all_double;
  GeometryProblem p;
  int ierr = geometry_create(ceed, s, &p);

  if (!ierr) ierr = set_geometry(s, &p);
  if (!ierr && precisions) ierr = RitzOperatorSetPrecision(p.op, type_of(precisions->is_single));
  if (!ierr && precisions) ierr = precision_change(p.op, &p.x, type_of(precisions->passive));
  if (!ierr) ierr = apply(p.op, of_vectors, false, p.u->length, x, y);
  geometry_destroy(&p);
  return ierr;
}

// Sums as in chains; the determinant of differences of coordinates costs a few round-offs more, the reference
// of whose factor is the size of an element.
static void check_geometry(Ceed ceed, const GeometryShape *s, const Precisions *p) {
  const CeedInt n = 2 * s->order + 1;
  const CeedSize size = (CeedSize)n * n * n;
  uint64_t seed = 3;
  Ceed reference = tap_ceed("/cpu/self/ref");
  double *x = new_floats(size, &seed), *y[2] = {reference_new(size), reference_new(size)};

  NOTE_OK(run_geometry(ceed, s, p, x, y[0]));
  NOTE_OK(run_geometry(reference, s, NULL, x, y[1]));
  const double error = reference_distance(size, y[0], y[1]);
  const double tolerance = 200 * round_off(p) * 3 * (2 * s->order + 3) * reference_largest(size, y[1]);
  free(x);
  free(y[0]);
  free(y[1]);
  CeedDestroy(&reference);
  CHECK(error <= tolerance, "BP%d of degree %d, %s: off by %g, allowed %g", s->bp, (int)s->order,
        s->is_affine ? "affine" : "trilinear", error, tolerance);
}

TEST_EACH_GEN(geometry_in_single_precision_equals_the_reference) {
  NEEDS_DOUBLES();
  ceed->is_strict = true;
  check_geometry(ceed, &(GeometryShape){1, 1, false}, &all_single);
  check_geometry(ceed, &(GeometryShape){3, 1, false}, &data);
  check_geometry(ceed, &(GeometryShape){3, 3, false}, &arithmetic);
  check_geometry(ceed, &(GeometryShape){5, 2, true}, &all_single);
  check_geometry(ceed, &(GeometryShape){1, 4, true}, &vectors);
}

// ---- Point blocks, and what has no kernel ----

static int point_blocks(Ceed ceed, const ChainShape *s, const Precisions *p, CeedSize n, double *y) {
  CeedVector out = NULL;
  Chain c;
  int ierr = open_chain(ceed, s, p, &c);

  if (!ierr) ierr = RitzVectorCreate(ceed, n, type_of(p && p->out), &out);
  if (!ierr) ierr = CeedOperatorLinearAssemblePointBlockDiagonal(c.op, out, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = read_vector(out, y);
  CeedVectorDestroy(&out);
  chain_destroy(&c);
  return ierr;
}

// On a strict context: nothing is left to double precision.
TEST_EACH_GEN(point_blocks_are_those_of_the_reference) {
  const ChainShape shape = CHAIN(2, 3, 4, true, 3);
  const CeedSize size = 3 * chain_size(&shape);

  NEEDS_DOUBLES();
  double *y[2] = {reference_new(size), reference_new(size)};
  Ceed reference = tap_ceed("/cpu/self/ref"), strict = open_strict(resource_of(ceed));
  NOTE_OK(point_blocks(strict, &shape, &all_single, size, y[0]));
  NOTE_OK(point_blocks(reference, &shape, NULL, size, y[1]));
  // as that of chains
  const double error = reference_distance(size, y[0], y[1]), largest = reference_largest(size, y[1]);
  const double tolerance = 100 * FLT_EPSILON * 2 * (3 + 4) * largest;
  free(y[0]);
  free(y[1]);
  CeedDestroy(&reference);
  CeedDestroy(&strict);
  CHECK(error <= tolerance, "off by %g, allowed %g", error, tolerance);
}

// A function of this test: with a context, or clipping.
static int create_function(Ceed ceed, bool has_context, CeedQFunction *qf) {
  const PrecisionContext data = {.power = 2, .factor = 0.5};
  CeedQFunctionContext ctx = NULL;

  if (!has_context) return CeedQFunctionCreateInterior(ceed, 1, PrecisionClip, PrecisionClip_loc, qf);
  CeedCall(CeedQFunctionCreateInterior(ceed, 1, PrecisionScale, PrecisionScale_loc, qf));
  CeedCall(CeedQFunctionContextCreate(ceed, &ctx));
  int ierr = CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), (void *)&data);
  if (!ierr) ierr = CeedQFunctionSetContext(*qf, ctx);
  CeedQFunctionContextDestroy(&ctx);
  return ierr;
}

static int create_own(Ceed ceed, const ChainShape *s, bool has_context, Chain *c) {
  CeedQFunction qf = NULL;

  *c = (Chain){0};
  CeedCall(chain_create_restrictions(ceed, s, 1, c));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, s->dim, 1, s->P_1d, s->Q_1d, s->quad_mode, &c->basis));
  CeedCall(chain_create_qdata(ceed, s, 1, c));
  CeedCall(create_function(ceed, has_context, &qf));
  CeedCall(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddInput(qf, "qdata", 1, CEED_EVAL_NONE));
  CeedCall(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  int ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &c->op);
  CeedQFunctionDestroy(&qf);
  if (!ierr) ierr = CeedOperatorSetField(c->op, "u", c->rstr, c->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(c->op, "qdata", c->rstr_q, CEED_BASIS_NONE, c->qdata);
  return ierr ? ierr : CeedOperatorSetField(c->op, "v", c->rstr, c->basis, CEED_VECTOR_ACTIVE);
}

static int run_clip(Ceed ceed, const ChainShape *s, const Precisions *p, const double *x, double *y,
                    bool *is_told) {
  Chain c;
  int ierr = create_own(ceed, s, false, &c);

  if (!ierr) ierr = set_floats(c.qdata, 5);
  if (!ierr) ierr = RitzOperatorSetPrecision(c.op, type_of(p->is_single));
  if (!ierr) ierr = apply(c.op, p, false, c.size, x, y);
  *is_told = !ierr && says(c.op, "does not compile in single precision");
  chain_destroy(&c);
  return ierr;
}

// OpenCL C finds fmax(float, double) ambiguous, and so does NVRTC 13; whatever a compiler of CUDA says, the
// operator works.
TEST_EACH_GEN(a_function_that_does_not_compile_in_single_precision_runs_in_double) {
  const ChainShape shape = CHAIN(2, 3, 4, false, 0);
  const CeedSize size = chain_size(&shape);
  uint64_t seed = 8;
  bool is_told[2] = {false, false};

  NEEDS_DOUBLES();
  double *x = new_floats(size, &seed), *y[2] = {reference_new(size), reference_new(size)};
  NOTE_OK(run_clip(ceed, &shape, &arithmetic, x, y[0], &is_told[0]));
  NOTE_OK(run_clip(ceed, &shape, &all_double, x, y[1], &is_told[1]));
  const double error = reference_distance(size, y[0], y[1]);
  const double tolerance = FLT_EPSILON / eps * chain_tolerance(&shape, y[1]);
  free(x);
  free(y[0]);
  free(y[1]);
  CHECK(error <= tolerance, "off by %g, allowed %g", error, tolerance);
  CHECK((is_told[0] || is_cuda(ceed)) && !is_told[1], "told: %d, in double %d", is_told[0], is_told[1]);
}

// ---- Contexts ----

static int run_context(Ceed ceed, const ChainShape *s, const Precisions *p, const double *x, double *y,
                       double *of_diagonal) {
  Chain c;
  int ierr = create_own(ceed, s, true, &c);

  if (!ierr) ierr = set_floats(c.qdata, 5);
  if (!ierr) ierr = RitzOperatorSetPrecision(c.op, type_of(p->is_single));
  if (!ierr) ierr = precision_change(c.op, &c.qdata, type_of(p->passive));
  if (!ierr) ierr = apply(c.op, p, false, c.size, x, y);
  if (!ierr) ierr = diagonal(c.op, p->out, c.size, of_diagonal);
  if (!ierr && p->is_single)
    tap_check(says(c.op, "the QFunction computes in FP64"), __FILE__, __LINE__, "told", "it is not");
  chain_destroy(&c);
  return ierr;
}

// Its members are laid out in double precision: the function computes so, with converted arguments.
TEST_EACH_GEN(contexts_keep_their_precision) {
  static const CeedInt nodes[] = {2, 4}; // whole elements, lines
  NEEDS_DOUBLES();
  ceed->is_strict = true;
  for (int i = 0; i < 2; i++) {
    const ChainShape shape = CHAIN(3, nodes[i], nodes[i] + 1, false, 0);
    const CeedSize size = chain_size(&shape);
    uint64_t seed = 8;
    double *x = new_floats(size, &seed), *y[4];

    for (int k = 0; k < 4; k++) y[k] = reference_new(size);
    NOTE_OK(run_context(ceed, &shape, &all_single, x, y[0], y[1]));
    NOTE_OK(run_context(ceed, &shape, &all_double, x, y[2], y[3]));
    const double error = reference_distance(size, y[0], y[2]),
                 of_diagonal = reference_distance(size, y[1], y[3]);
    const double unit = FLT_EPSILON / eps, tolerance = unit * chain_tolerance(&shape, y[2]);
    const double for_diagonal = unit * chain_tolerance(&shape, y[3]);
    free(x);
    for (int k = 0; k < 4; k++) free(y[k]);
    CHECK(error <= tolerance, "off by %g, allowed %g", error, tolerance);
    CHECK(of_diagonal <= for_diagonal, "the diagonal is off by %g, allowed %g", of_diagonal, for_diagonal);
  }
}

// ---- What users see ----

TEST_EACH_GEN(explanations_tell_the_precision_of_a_kernel) {
  const ChainShape shape = CHAIN(2, 3, 4, false, 0);
  const char *source = "";
  Chain c;

  NEEDS_DOUBLES();
  CHECK_OK(open_chain(ceed, &shape, &data, &c));
  CHECK_OK(RitzOperatorGetSource(c.op, &source));
  CHECK(says(c.op, "precision FP32"), "no precision");
  CHECK(says(c.op, "one generated kernel"), "no kernel");
  CHECK(strstr(source, "RITZ_GLOBAL const RitzReal *x1"), "factors in another precision");
  CHECK(!strstr(source, "RITZ_GLOBAL const double"), "vectors in another precision");
  chain_destroy(&c);
}

static int tune(Ceed ceed, const ChainShape *s, const Precisions *p, const double *x, double *y,
                RitzTuning *tuning) {
  CeedVector in = NULL, out = NULL;
  Chain c;
  int ierr = open_chain(ceed, s, p, &c);

  if (!ierr) ierr = create_vector(ceed, c.size, x, p->in, &in);
  if (!ierr) ierr = RitzVectorCreate(ceed, c.size, type_of(p->out), &out);
  if (!ierr) ierr = RitzOperatorTune(c.op, in, out, tuning);
  if (!ierr) ierr = apply(c.op, p, false, c.size, x, y);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  chain_destroy(&c);
  return ierr;
}

// What was measured for one precision is not taken for the other.
TEST_EACH_GEN(operators_are_tuned_in_their_precision) {
  const ChainShape shape = CHAIN(2, 3, 4, true, 0);
  const CeedSize size = chain_size(&shape);
  RitzTuning tuning[2] = {{0}};
  uint64_t seed = 2;

  NEEDS_DOUBLES();
  double *x = new_floats(size, &seed), *y[2] = {reference_new(size), reference_new(size)};
  setenv("RITZ_TUNE", "3", 1);
  NOTE_OK(tune(ceed, &shape, &all_double, x, y[0], &tuning[0]));
  NOTE_OK(tune(ceed, &shape, &all_single, x, y[1], &tuning[1]));
  unsetenv("RITZ_TUNE");
  const double error = reference_distance(size, y[0], y[1]);
  const double tolerance = FLT_EPSILON / eps * chain_tolerance(&shape, y[0]);
  free(x);
  free(y[0]);
  free(y[1]);
  for (int i = 0; i < 2; i++)
    CHECK(tuning[i].num_tried > 1, "%s: %d tried, %s", i ? "float" : "double", tuning[i].num_tried,
          tuning[i].reason ? tuning[i].reason : "");
  CHECK(error <= tolerance, "off by %g, allowed %g", error, tolerance);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(mass_and_diffusion_in_single_precision_equal_the_reference,
                        texts_for_cuda_in_single_precision_equal_the_reference,
                        random_operators_in_single_precision_are_their_dense_matrices,
                        geometry_in_single_precision_equals_the_reference,
                        point_blocks_are_those_of_the_reference,
                        a_function_that_does_not_compile_in_single_precision_runs_in_double,
                        contexts_keep_their_precision, explanations_tell_the_precision_of_a_kernel,
                        operators_are_tuned_in_their_precision));
}
