// SPDX-License-Identifier: BSD-2-Clause
// Operators applied to several vectors at once (ritz/operator.h): each output against that of its own apply,
// on every backend; what is refused, before anything is written.
#include "base/threads.h"
#include "tests/no-output-qfunctions.h"
#include "tests/random-operator.h"
#include "tests/reference.h"
#include "tests/small-operator.h"
#include "tests/tap.h"

#include <math.h>
#include <ritz/operator.h>
#include <ritz/precision.h>
#include <ritz/vector.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };
static const CeedInt counts[] = {1, 2, 3, 8};

// ---- Against single applies ----

// Vectors of an operator; CEED_VECTOR_NONE where it has no active ones.
typedef struct {
  CeedInt num;
  CeedVector in[MOST], one[MOST], many[MOST]; // owned; one, many: outputs of both ways, equal at first
} Vectors;

static CeedVector random_vector(Ceed ceed, CeedSize length, CeedScalarType precision, uint64_t *seed) {
  CeedVector vec = CEED_VECTOR_NONE, same = NULL;
  if (length <= 0) return vec;
  double *values = reference_new_random(length, seed);
  CeedVector scalars = reference_vector(ceed, length, values);
  free(values);
  if (precision == CEED_SCALAR_TYPE) return scalars;
  if (RitzVectorCreate(ceed, length, precision, &same)) return NULL;
  RitzVectorConvert(scalars, same);
  CeedVectorDestroy(&scalars);
  return same;
}

static CeedVector copy_of(Ceed ceed, CeedVector vec, CeedSize length, CeedScalarType precision) {
  CeedVector copy = CEED_VECTOR_NONE;
  if (vec == CEED_VECTOR_NONE || RitzVectorCreate(ceed, length, precision, &copy)) return copy;
  RitzVectorConvert(vec, copy);
  return copy;
}

static void make_vectors(CeedOperator op, CeedInt num, CeedScalarType precision, uint64_t *seed, Vectors *v) {
  Ceed ceed = NULL;
  CeedSize in = 0, out = 0;
  CeedOperatorGetCeed(op, &ceed);
  CeedOperatorGetActiveVectorLengths(op, &in, &out);
  v->num = num;
  for (CeedInt k = 0; k < num; k++) {
    v->in[k] = random_vector(ceed, in, precision, seed);
    v->one[k] = random_vector(ceed, out, precision, seed);
    v->many[k] = copy_of(ceed, v->one[k], out, precision);
  }
  CeedDestroy(&ceed);
}

static void free_vectors(Vectors *v) {
  for (CeedInt k = 0; k < v->num; k++) {
    CeedVectorDestroy(&v->in[k]);
    CeedVectorDestroy(&v->one[k]);
    CeedVectorDestroy(&v->many[k]);
  }
}

static double *values_of(Ceed ceed, CeedVector vec, CeedSize length) {
  CeedVector scalars = copy_of(ceed, vec, length, CEED_SCALAR_TYPE);
  double *values = reference_new_values(scalars);
  CeedVectorDestroy(&scalars);
  return values;
}

// Distance of the outputs of both ways, relative to the largest entry of all.
static double distance(Ceed ceed, const Vectors *v) {
  double most = 0, largest = 0;
  for (CeedInt k = 0; k < v->num; k++) {
    CeedSize length = 0;
    if (v->one[k] == CEED_VECTOR_NONE) continue;
    CeedVectorGetLength(v->one[k], &length);
    double *one = values_of(ceed, v->one[k], length), *many = values_of(ceed, v->many[k], length);
    most = fmax(most, reference_distance(length, one, many));
    largest = fmax(largest, reference_largest(length, one));
    free(one);
    free(many);
  }
  return largest > 0 ? most / largest : most;
}

// Both ways, overwriting and then adding to what is there.
static int apply_both(CeedOperator op, const Vectors *v) {
  for (CeedInt k = 0; k < v->num; k++)
    CeedCall(CeedOperatorApply(op, v->in[k], v->one[k], CEED_REQUEST_IMMEDIATE));
  return RitzOperatorApplyMany(op, v->num, v->in, v->many);
}

static int add_both(CeedOperator op, const Vectors *v) {
  for (CeedInt k = 0; k < v->num; k++)
    CeedCall(CeedOperatorApplyAdd(op, v->in[k], v->one[k], CEED_REQUEST_IMMEDIATE));
  return RitzOperatorApplyAddMany(op, v->num, v->in, v->many);
}

// The sum of an entry may be made in another order: some hundred terms, of sums in which much cancels.
static double tolerance_of(Ceed ceed, CeedScalarType precision) {
  const char *resource = "";
  CeedGetResource(ceed, &resource);
  if (strstr(resource, "/cpu") || strstr(resource, "deterministic")) return 0;
  return 2000 * (precision == CEED_SCALAR_FP32 ? (double)FLT_EPSILON : DBL_EPSILON);
}

// Numbers of vectors first .. last of the list.
static void check_operator(Ceed ceed, CeedOperator op, CeedScalarType precision, uint64_t seed, int first,
                           int last) {
  const double tolerance = tolerance_of(ceed, precision);
  for (int i = first; i <= last; i++) {
    Vectors v;
    make_vectors(op, counts[i], precision, &seed, &v);
    CHECK_OK(apply_both(op, &v));
    const double applied = distance(ceed, &v);
    CHECK_OK(add_both(op, &v));
    const double added = distance(ceed, &v);
    free_vectors(&v);
    CHECK(applied <= tolerance, "%d vectors: off by %g, allowed %g", (int)counts[i], applied, tolerance);
    CHECK(added <= tolerance, "%d vectors, added: off by %g, allowed %g", (int)counts[i], added, tolerance);
  }
}

static void check_random(Ceed ceed, const RandomOptions *options, CeedScalarType precision, uint64_t seed) {
  RandomOperator r;
  uint64_t state = seed;
  const int ierr = random_operator_create(ceed, options, &state, &r);
  if (!ierr && precision != CEED_SCALAR_TYPE) CHECK_OK(RitzOperatorSetPrecision(r.op, precision));
  CHECK(!ierr, "operator of seed %llu", (unsigned long long)seed);
  check_operator(ceed, r.op, precision, seed, 0, 3);
  if (tap_failed()) tap_note("seed %llu: %s", (unsigned long long)seed, random_operator_describe(&r));
  random_operator_destroy(&r);
}

// Kinds of operators that take the ways through kernels: tensor and dense bases, any fields.
TEST_EACH_BACKEND(each_output_is_that_of_its_own_apply) {
  const int num = random_num_draws(ceed, 40);
  for (int i = 0; i < num && !tap_failed(); i++) {
    const RandomOptions options = {.num_active_in = 1,
                                   .num_active_out = 1,
                                   .in_batches = i % 2 == 0,
                                   .is_tensor = i % 3 == 0,
                                   .is_symmetric = i % 3 != 2, // no passive outputs
                                   .is_mixed = i % 4 == 3};
    check_random(ceed, &options, CEED_SCALAR_TYPE, 7100 + (uint64_t)i);
  }
}

TEST_EACH_BACKEND(operators_in_float_take_several_vectors) {
  const int num = random_num_draws(ceed, 16);
  for (int i = 0; i < num && !tap_failed(); i++) {
    const RandomOptions options = {.num_active_in = 1, .is_symmetric = true, .is_tensor = true};
    check_random(ceed, &options, CEED_SCALAR_FP32, 7300 + (uint64_t)i);
  }
}

TEST_EACH_BACKEND(composites_take_several_vectors) {
  const RandomOptions options = {
      .num_active_in = 1, .num_active_out = 1, .is_symmetric = true, .input_size = 60, .output_size = 60};
  RandomOperator r[2];
  CeedOperator op = NULL;
  uint64_t seed = 7400;
  CHECK_OK(CeedOperatorCreateComposite(ceed, &op));
  for (int i = 0; i < 2; i++) {
    CHECK_OK(random_operator_create(ceed, &options, &seed, &r[i]));
    CHECK_OK(CeedOperatorCompositeAddSub(op, r[i].op));
  }
  check_operator(ceed, op, CEED_SCALAR_TYPE, seed, 1, 3);
  CHECK_OK(CeedOperatorDestroy(&op));
  for (int i = 0; i < 2; i++) random_operator_destroy(&r[i]);
}

// Inputs in float and CeedScalar in one call, outputs, too.
TEST_EACH_BACKEND(vectors_of_several_precisions) {
  Small s;
  CeedVector in[2] = {NULL, NULL}, out[2] = {NULL, NULL};
  SMALL_OPEN(ceed, &s);
  for (int k = 0; k < 2; k++) {
    CHECK_OK(RitzVectorCreate(ceed, SMALL_NODES, k ? CEED_SCALAR_FP32 : CEED_SCALAR_TYPE, &in[k]));
    CHECK_OK(RitzVectorCreate(ceed, SMALL_NODES, k ? CEED_SCALAR_TYPE : CEED_SCALAR_FP32, &out[k]));
    CHECK_OK(RitzVectorConvert(s.u, in[k]));
  }
  CHECK_OK(RitzOperatorApplyMany(s.op, 2, in, out));
  for (int k = 0; k < 2; k++) {
    CHECK_OK(RitzVectorConvert(out[k], s.v));
    CHECK_HOLDS(s.v, 1, 70, 800);
    CHECK_OK(CeedVectorDestroy(&in[k]));
    CHECK_OK(CeedVectorDestroy(&out[k]));
  }
  small_close(&s);
}

// More vectors than a kernel of a device takes at once, of which two inputs are the same; contributions of
// vectors are not mixed up: A is not the identity, and the vectors are multiples of one.
TEST_EACH_BACKEND(any_number_of_vectors) {
  enum { NUM = 19 };
  Small s;
  CeedVector in[NUM], out[NUM];
  SMALL_OPEN(ceed, &s);
  for (int k = 0; k < NUM; k++) {
    out[k] = vector_of(ceed, SMALL_NODES, NULL);
    in[k] = k == NUM - 1 ? in[0] : vector_of(ceed, SMALL_NODES, NULL);
    if (k < NUM - 1) CHECK_OK(CeedVectorSetValue(in[k], k + 1));
  }
  CHECK_OK(RitzOperatorApplyMany(s.op, NUM, in, out));
  for (int k = 0; k < NUM; k++) {
    const double a = k == NUM - 1 ? 1 : k + 1;
    CHECK_HOLDS(out[k], a, 7 * a, 8 * a);
  }
  CHECK_OK(RitzOperatorApplyMany(s.op, 0, NULL, NULL));
  for (int k = 0; k < NUM; k++) {
    CHECK_OK(CeedVectorDestroy(&out[k]));
    if (k < NUM - 1) CHECK_OK(CeedVectorDestroy(&in[k]));
  }
  small_close(&s);
}

// Nothing is written that could be looked at: the calls succeed.
TEST_EACH_BACKEND(operators_without_outputs_take_several_vectors) {
  Small s;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  const CeedVector none[2] = {CEED_VECTOR_NONE, CEED_VECTOR_NONE};
  SMALL_OPEN(ceed, &s);
  const CeedVector in[2] = {s.u, s.u}, out[2] = {s.v, CEED_VECTOR_NONE};
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, NoOutput, NoOutput_loc, &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "u", s.rstr_u, s.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(RitzOperatorApplyMany(op, 2, in, none));
  CHECK_OK(RitzOperatorApplyMany(op, 2, in, out));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  small_close(&s);
}

// Passive outputs are those of the last apply, or the sum of all.
TEST_EACH_BACKEND(passive_outputs_are_as_of_one_apply_after_the_other) {
  Twice t;
  OPEN_TWICE(ceed, &t);
  CeedVector v[2] = {vector_of(ceed, SMALL_NODES, NULL), vector_of(ceed, SMALL_NODES, NULL)};
  CeedVector u[2] = {vector_of(ceed, SMALL_NODES, (CeedScalar[]){5, 6, 7}), t.small.u};
  CHECK_OK(RitzOperatorApplyMany(t.op, 2, u, v));
  CHECK_HOLDS(v[0], 10, 24, 14);
  CHECK_HOLDS(v[1], TWICE_V);
  CHECK_HOLDS(t.s, TWICE_S, 0);
  CHECK_OK(RitzOperatorApplyAddMany(t.op, 2, u, v));
  CHECK_HOLDS(v[0], 20, 48, 28);
  CHECK_HOLDS(t.s, 1 + 5 + 1, 10 + 6 + 10, 10 + 6 + 10, 100 + 7 + 100, 0);
  CHECK_OK(CeedVectorDestroy(&u[0]));
  for (int k = 0; k < 2; k++) CHECK_OK(CeedVectorDestroy(&v[k]));
  close_twice(&t);
}

// ---- Bit for bit ----

// Results of both ways on a context whose resource ends in these options.
static void check_bits(const char *resource) {
  Ceed ceed = tap_ceed(resource);
  const RandomOptions options = {
      .num_elem = 90, .num_active_in = 1, .is_symmetric = true, .in_batches = true, .is_tensor = true};
  check_random(ceed, &options, CEED_SCALAR_TYPE, 7500);
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(deterministic_contexts_repeat_every_bit) {
  size_t num;
  const char *const *backends = tap_backends(&num);
  for (size_t b = 0; b < num && !tap_failed(); b++) {
    char resource[128];
    const bool is_gen = strstr(backends[b], "/gen"), has_threads = strstr(backends[b], "/cpu");
    for (int threads = 1; is_gen && threads <= (has_threads ? 4 : 1); threads += 3) {
      snprintf(resource, sizeof(resource), "%s:deterministic%s", backends[b],
               !has_threads   ? ""
               : threads == 1 ? ":threads=1"
                              : ":threads=4");
      check_bits(resource);
    }
  }
  CHECK(!tap_failed(), "bits differ");
}

// ---- Vectors of a thread ----

// Tensor bases of any routes, data at points, components; numbers of vectors that the threads have places
// left of; the fixed order of additions.
static void check_vectors_of_a_thread(const char *resource, const char *vectors) {
  Ceed ceed = tap_ceed(resource);
  const int num = tap_level() == TAP_QUICK ? 2 : 12;
  setenv("RITZ_GPU_VECTORS", vectors, 1);
  for (int i = 0; i < num && !tap_failed(); i++) {
    const RandomOptions options = {.num_active_in = 1,
                                   .num_active_out = 1,
                                   .in_batches = i % 2 == 0,
                                   .is_tensor = true,
                                   .is_symmetric = i % 3 != 2};
    check_random(ceed, &options, CEED_SCALAR_TYPE, 7600 + (uint64_t)i);
  }
  ritz_tasks_wait();
  unsetenv("RITZ_GPU_VECTORS");
  if (tap_failed()) tap_note("%s vectors of a thread", vectors);
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(threads_take_several_vectors_of_an_element) {
  size_t num;
  const char *const *backends = tap_backends(&num);
  for (size_t b = 0; b < num && !tap_failed(); b++) {
    char resource[128];
    if (!strstr(backends[b], "/gpu/") || !strstr(backends[b], "/gen")) continue;
    snprintf(resource, sizeof(resource), "%s:deterministic", backends[b]);
    check_vectors_of_a_thread(resource, "2");
    if (!tap_failed()) check_vectors_of_a_thread(backends[b], "4");
  }
  CHECK(!tap_failed(), "off");
}

// ---- Misuse ----

typedef struct {
  const char *message;
  int code;
  CeedInt num;
  const CeedVector *in, *out;
} Misuse;

// The output keeps its values whatever is wrong with the others.
TEST_EACH_BACKEND(misuse_is_refused_before_anything_is_written) {
  Small s;
  SMALL_OPEN(ceed, &s);
  CeedVector good = vector_of(ceed, SMALL_NODES, (CeedScalar[]){7, 7, 7}), other = NULL,
             none = CEED_VECTOR_NONE, shorter = vector_of(ceed, SMALL_NODES - 1, (CeedScalar[]){1, 2}),
             empty = vector_of(ceed, SMALL_NODES, NULL), active = CEED_VECTOR_ACTIVE;
  const CeedVector in[] = {s.u, s.u}, out[] = {good, s.v}, same[] = {good, good}, aliased[] = {s.u, good},
                   null_last[] = {good, NULL}, short_last[] = {good, shorter}, own[] = {good, s.u},
                   none_last[] = {s.u, none}, empty_last[] = {s.u, empty}, active_last[] = {good, active},
                   passive_last[] = {good, s.qd};
  const Misuse table[] = {
      {"num is -1", CEED_ERROR_DIMENSION, -1, in, out},
      {"the array of inputs is NULL", CEED_ERROR_INCOMPATIBLE, 2, NULL, out},
      {"the array of outputs is NULL", CEED_ERROR_INCOMPATIBLE, 2, in, NULL},
      {"vectors 1: the output is NULL", CEED_ERROR_INCOMPATIBLE, 2, in, null_last},
      {"vectors 1: the input is NULL", CEED_ERROR_INCOMPATIBLE, 2, (const CeedVector[]){s.u, NULL}, out},
      {"vectors 1: CEED_VECTOR_ACTIVE", CEED_ERROR_INCOMPATIBLE, 2, in, active_last},
      {"outputs 0 and 1 are the same", CEED_ERROR_INCOMPATIBLE, 2, in, same},
      {"input 1 and output 0 are the same", CEED_ERROR_INCOMPATIBLE, 2, aliased, out},
      {"vectors 1: input and output are the same", CEED_ERROR_INCOMPATIBLE, 2, in, own},
      {"has 2 entries", CEED_ERROR_BACKEND, 2, in, short_last},
      {"needs a vector", CEED_ERROR_INCOMPATIBLE, 2, none_last, out},
      {"no valid data", CEED_ERROR_BACKEND, 2, empty_last, out},
      {"vectors 1: the output is the vector of the operator's field 'qd'", CEED_ERROR_INCOMPATIBLE, 2, in,
       passive_last},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    const Misuse *m = &table[i];
    CHECK_ERROR(ceed, RitzOperatorApplyMany(s.op, m->num, m->in, m->out), m->code, m->message);
    CHECK_HOLDS(good, 7, 7, 7);
  }
  CHECK_ERROR(ceed, RitzOperatorApplyAddMany(s.op, 2, in, (const CeedVector[]){good, empty}),
              CEED_ERROR_BACKEND, "no valid data");
  CHECK_HOLDS(good, 7, 7, 7);
  CHECK_ERROR(NULL, RitzOperatorApplyMany(NULL, 1, in, out), CEED_ERROR_INCOMPATIBLE, "the operator is NULL");
  CHECK_OK(CeedVectorCreate(ceed, SMALL_NODES, &other));
  CHECK_OK(RitzOperatorApplyMany(s.op, 2, in, (const CeedVector[]){good, other}));
  CHECK_HOLDS(good, 1, 70, 800);
  CHECK_HOLDS(other, 1, 70, 800);
  CHECK_OK(CeedVectorDestroy(&good));
  CHECK_OK(CeedVectorDestroy(&other));
  CHECK_OK(CeedVectorDestroy(&shorter));
  CHECK_OK(CeedVectorDestroy(&empty));
  small_close(&s);
}

TEST_EACH_BACKEND(locked_vectors_are_refused) {
  Small s;
  const CeedScalar *read = NULL;
  CeedScalar *write = NULL;
  SMALL_OPEN(ceed, &s);
  CeedVector first = vector_of(ceed, SMALL_NODES, (CeedScalar[]){7, 7, 7}),
             u = vector_of(ceed, SMALL_NODES, small_u);
  const CeedVector in[] = {s.u, u}, out[] = {first, s.v};
  CHECK_OK(CeedVectorSetValue(s.v, 3));
  CHECK_OK(CeedVectorGetArrayRead(s.v, CEED_MEM_HOST, &read));
  CHECK_ERROR(ceed, RitzOperatorApplyMany(s.op, 2, in, out), CEED_ERROR_BACKEND, "");
  CHECK_OK(CeedVectorRestoreArrayRead(s.v, &read));
  CHECK_OK(CeedVectorGetArray(u, CEED_MEM_HOST, &write));
  CHECK_ERROR(ceed, RitzOperatorApplyMany(s.op, 2, in, out), CEED_ERROR_BACKEND, "");
  CHECK_OK(CeedVectorRestoreArray(u, &write));
  CHECK_HOLDS(first, 7, 7, 7);
  CHECK_HOLDS(s.v, 3, 3, 3);
  CHECK_OK(RitzOperatorApplyMany(s.op, 2, in, out));
  CHECK_HOLDS(first, 1, 70, 800);
  CHECK_HOLDS(s.v, 1, 70, 800);
  CHECK_OK(CeedVectorDestroy(&first));
  CHECK_OK(CeedVectorDestroy(&u));
  small_close(&s);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(each_output_is_that_of_its_own_apply, operators_in_float_take_several_vectors,
                        composites_take_several_vectors, vectors_of_several_precisions, any_number_of_vectors,
                        operators_without_outputs_take_several_vectors,
                        passive_outputs_are_as_of_one_apply_after_the_other,
                        deterministic_contexts_repeat_every_bit, threads_take_several_vectors_of_an_element,
                        misuse_is_refused_before_anything_is_written, locked_vectors_are_refused));
}
