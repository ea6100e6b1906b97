// SPDX-License-Identifier: BSD-2-Clause
// The checking backend catches what it is there for: one planted fault a test, each with its code and words,
// after which objects are still usable. And it lets correct programs alone, to the last bit. Only for
// /cpu/self/check: other backends have no duty to notice. The device that it can play is not looked at here.
#include "tests/api.h"
#include "tests/random-operator.h"
#include "tests/reference.h"
#include "tests/triples.h"

#include <ceed/backend.h>
#include <math.h>

static Ceed open_check(void) { return tap_ceed("/cpu/self/check"); }

// ---- Programs and the arrays of vectors ----

enum { LENGTH = 4 };
static const CeedScalar start_values[LENGTH] = {1, 2, 3, 4};

// The three kinds of access to a vector that holds the start values, and their ends.
enum { READ, WRITE, READ_WRITE, NUM_ACCESSES };

static int begin(CeedVector v, int access, CeedScalar **array) {
  if (access == READ) return CeedVectorGetArrayRead(v, CEED_MEM_HOST, (const CeedScalar **)array);
  return (access == WRITE ? CeedVectorGetArrayWrite : CeedVectorGetArray)(v, CEED_MEM_HOST, array);
}

static int end(CeedVector v, int access, CeedScalar **array) {
  return access == READ ? CeedVectorRestoreArrayRead(v, (const CeedScalar **)array)
                        : CeedVectorRestoreArray(v, array);
}

// After a fault the vector can be used, and destroyed.
static void check_usable(CeedVector *v) {
  CHECK_OK(CeedVectorSetValue(*v, 7));
  CHECK_HOLDS(*v, 7, 7, 7, 7);
  CHECK_OK(CeedVectorDestroy(v));
}

TEST(a_write_through_read_access_is_caught) {
  Ceed ceed = open_check();
  CeedVector v = vector_of(ceed, LENGTH, start_values);
  CeedScalar *array;

  for (int i = 0; i < LENGTH; i++) {
    CHECK_OK(begin(v, READ, &array));
    array[i] = 99;
    CHECK_ERROR(ceed, end(v, READ, &array), CEED_ERROR_BACKEND, "changed through read-only access");
    CHECK(!array, "the pointer is taken back all the same");
    CHECK_HOLDS(v, 1, 2, 3, 4);
  }
  check_usable(&v);
  CeedDestroy(&ceed);
}

TEST(writes_beside_the_array_are_caught) {
  static const int places[] = {-1, -16, LENGTH, LENGTH + 15};
  Ceed ceed = open_check();
  CeedVector v = vector_of(ceed, LENGTH, start_values);

  for (int access = 0; access < NUM_ACCESSES; access++) {
    for (int k = 0; k < 4; k++) {
      CeedScalar *array;

      CHECK_OK(begin(v, access, &array));
      for (int i = 0; access != READ && i < LENGTH; i++) array[i] = (CeedScalar)(i + 1);
      array[places[k]] = 0;
      CHECK_ERROR(ceed, end(v, access, &array), CEED_ERROR_BACKEND,
                  "array of 4 entries was written outside its bounds");
      CHECK_HOLDS(v, 1, 2, 3, 4);
    }
  }
  check_usable(&v);
  CeedDestroy(&ceed);
}

TEST(pointers_read_nan_after_their_access_has_ended) {
  Ceed ceed = open_check();
  CeedVector v = vector_of(ceed, LENGTH, start_values);

  for (int access = 0; access < NUM_ACCESSES; access++) {
    CeedScalar *array;

    CHECK_OK(begin(v, access, &array));
    const CeedScalar *stale = array;
    for (int i = 0; access != READ && i < LENGTH; i++) array[i] = (CeedScalar)(i + 1);
    CHECK_OK(end(v, access, &array));
    for (int i = 0; i < LENGTH; i++) CHECK(isnan((double)stale[i]), "entry %d reads %g", i, (double)stale[i]);
    CHECK_HOLDS(v, 1, 2, 3, 4);
  }
  CeedVectorDestroy(&v);
  CeedDestroy(&ceed);
}

TEST(writes_through_stale_pointers_are_lost) {
  Ceed ceed = open_check();
  CeedVector v = vector_of(ceed, LENGTH, start_values);
  CeedScalar *array, *stale;

  CHECK_OK(begin(v, READ_WRITE, &array));
  stale = array;
  CHECK_OK(end(v, READ_WRITE, &array));
  stale[0] = 99;
  CHECK_HOLDS(v, 1, 2, 3, 4);
  check_usable(&v);
  CeedDestroy(&ceed);
}

TEST(an_array_for_writing_reads_nan_until_it_is_written) {
  Ceed ceed = open_check();
  CeedVector v = vector_of(ceed, LENGTH, start_values);
  CeedScalar *array;

  CHECK_OK(begin(v, WRITE, &array));
  for (int i = 0; i < LENGTH; i++) CHECK(isnan((double)array[i]), "entry %d reads %g", i, (double)array[i]);
  array[1] = 5;
  CHECK_OK(end(v, WRITE, &array));
  double *values = reference_new_values(v);
  CHECK(isnan(values[0]) && values[1] == 5.0 && isnan(values[3]), "what was not written is NaN");
  free(values);
  check_usable(&v);
  CeedDestroy(&ceed);
}

// What a program that keeps no pointers restores, with accesses that are nested; faults are found all the
// same.
TEST(null_is_taken_back_for_the_newest_array_that_is_lent) {
  Ceed ceed = open_check();
  CeedVector v = vector_of(ceed, LENGTH, start_values);
  CeedScalar *first, *second, *none = NULL;

  CHECK_OK(begin(v, READ, &first));
  CHECK_OK(begin(v, READ, &second));
  CHECK_OK(end(v, READ, &none));
  CHECK(first[1] == 2 && isnan((double)second[1]), "the inner access has ended, the outer one has not");
  CHECK_OK(end(v, READ, &none));
  CHECK(isnan((double)first[1]), "both have ended");
  CHECK_OK(begin(v, READ, &first));
  first[0] = 99;
  CHECK_ERROR(ceed, end(v, READ, &none), CEED_ERROR_BACKEND, "changed through read-only access");
  CHECK_HOLDS(v, 1, 2, 3, 4);
  check_usable(&v);
  CeedDestroy(&ceed);
}

TEST(foreign_pointers_are_not_taken_back) {
  CeedScalar foreign[LENGTH] = {0};
  Ceed ceed = open_check();
  CeedVector v = vector_of(ceed, LENGTH, start_values), other = vector_of(ceed, LENGTH, start_values);

  for (int access = 0; access < NUM_ACCESSES; access++) {
    CeedScalar *array, *array_of_other, *wrong = foreign;

    CHECK_OK(begin(v, access, &array));
    for (int i = 0; access != READ && i < LENGTH; i++) array[i] = (CeedScalar)(i + 1);
    CHECK_ERROR(ceed, end(v, access, &wrong), CEED_ERROR_BACKEND, "not one that this vector has lent");
    CHECK_HOLDS(v, 1, 2, 3, 4); // the access has ended, and what was written arrived

    CHECK_OK(begin(v, access, &array));
    for (int i = 0; access != READ && i < LENGTH; i++) array[i] = (CeedScalar)(i + 1);
    CHECK_OK(begin(other, READ, &array_of_other));
    wrong = array_of_other;
    CHECK_ERROR(ceed, end(v, access, &wrong), CEED_ERROR_BACKEND, "not one that this vector has lent");
    CHECK_OK(end(other, READ, &array_of_other));

    // A pointer into the array is not the array.
    CHECK_OK(begin(v, access, &array));
    for (int i = 0; access != READ && i < LENGTH; i++) array[i] = (CeedScalar)(i + 1);
    wrong = array + 1;
    CHECK_ERROR(ceed, end(v, access, &wrong), CEED_ERROR_BACKEND, "not one that this vector has lent");
    CHECK_HOLDS(v, 1, 2, 3, 4);
  }
  check_usable(&v);
  check_usable(&other);
  CeedDestroy(&ceed);
}

TEST(readers_do_not_share_an_array) {
  Ceed ceed = open_check();
  CeedVector v = vector_of(ceed, LENGTH, start_values);
  CeedScalar *first, *second;

  CHECK_OK(begin(v, READ, &first));
  CHECK_OK(begin(v, READ, &second));
  CHECK(first != second, "the same array twice");
  first[2] = 99;
  CHECK(second[2] == 3, "one reader's fault is not the other's");
  CHECK_OK(end(v, READ, &second));
  CHECK_ERROR(ceed, end(v, READ, &first), CEED_ERROR_BACKEND, "read-only");
  check_usable(&v);
  CeedDestroy(&ceed);
}

// A program that relies on seeing its own memory change at once would not run on a device.
TEST(borrowed_arrays_change_when_access_ends) {
  Ceed ceed = open_check();
  CeedScalar own[LENGTH] = {1, 2, 3, 4}, *array, *taken;
  CeedVector v = NULL;

  CHECK_OK(CeedVectorCreate(ceed, LENGTH, &v));
  CHECK_OK(CeedVectorSetArray(v, CEED_MEM_HOST, CEED_USE_POINTER, own));
  CHECK_OK(begin(v, READ_WRITE, &array));
  CHECK(array != own, "the program's memory itself is lent");
  array[0] = 9;
  CHECK(own[0] == 1, "seen before the access has ended");
  CHECK_OK(end(v, READ_WRITE, &array));
  CHECK(own[0] == 9, "not seen after the access");
  CHECK_OK(CeedVectorTakeArray(v, CEED_MEM_HOST, &taken));
  CHECK(taken == own, "another array than was given");
  CHECK_OK(CeedVectorDestroy(&v));
  CeedDestroy(&ceed);
}

// ---- QFunctions ----

// What the function does wrong; component 1 of "v" at the last point, or beside the arrays.
typedef enum {
  RIGHT,
  LEAVES_OUTPUT,
  LEAVES_EVERYTHING,
  WRITES_INPUT,
  WRITES_BEFORE,
  WRITES_BEHIND,
  WRITES_BEHIND_INPUT,
  CHANGES_CONTEXT,
  READS_OUTPUT,
} Fault;

typedef struct {
  int fault;
  int num_calls;
} FaultContext;

// w = u, v = (u, 2u).
static int faulty(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  FaultContext *c = ctx;
  CeedScalar *u = (CeedScalar *)(uintptr_t)in[0];

  if (c->fault == LEAVES_EVERYTHING) return CEED_ERROR_SUCCESS;
  for (CeedInt i = 0; i < Q; i++) {
    bool is_last = i == Q - 1;

    out[0][i] = u[i] + (c->fault == READS_OUTPUT ? 0 * out[0][i] : 0);
    out[1][i] = u[i];
    if (c->fault != LEAVES_OUTPUT || !is_last) out[1][Q + i] = 2 * u[i];
  }
  if (c->fault == WRITES_INPUT) u[Q - 1] = 0;
  if (c->fault == WRITES_BEFORE) out[1][-1] = 0;
  if (c->fault == WRITES_BEHIND) out[1][2 * Q] = 0;
  if (c->fault == WRITES_BEHIND_INPUT) u[Q] = 0;
  if (c->fault == CHANGES_CONTEXT) c->num_calls++;
  return CEED_ERROR_SUCCESS;
}

enum { NUM_ELEM = 2, NUM_POINTS = 3, NUM_NODES = 2 };

typedef struct {
  Ceed ceed;
  CeedQFunction qf;
  CeedQFunctionContext context;
  CeedElemRestriction rstr, rstr_v;
  CeedBasis basis, basis_v;
  CeedOperator op;
  CeedVector u, w, v; // v: passive output of op
} Faulty;

static int create_function(Faulty *f) {
  FaultContext c = {0};

  CeedCall(CeedQFunctionCreateInterior(f->ceed, 1, faulty, "faulty.h:faulty", &f->qf));
  CeedCall(CeedQFunctionAddInput(f->qf, "u", 1, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddOutput(f->qf, "w", 1, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddOutput(f->qf, "v", 2, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionContextCreate(f->ceed, &f->context));
  CeedCall(CeedQFunctionContextSetData(f->context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(c), &c));
  CeedCall(CeedQFunctionSetContext(f->qf, f->context));
  return CeedQFunctionSetContextWritable(f->qf, false);
}

static int create_operator(Faulty *f) {
  const CeedInt offsets[NUM_ELEM * NUM_NODES] = {0, 1, 1, 2};

  CeedCall(CeedElemRestrictionCreate(f->ceed, NUM_ELEM, NUM_NODES, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES,
                                     offsets, &f->rstr));
  CeedCall(CeedElemRestrictionCreate(f->ceed, NUM_ELEM, NUM_NODES, 2, 3, 6, CEED_MEM_HOST, CEED_COPY_VALUES,
                                     offsets, &f->rstr_v));
  CeedCall(CeedBasisCreateTensorH1Lagrange(f->ceed, 1, 1, NUM_NODES, NUM_POINTS, CEED_GAUSS, &f->basis));
  CeedCall(CeedBasisCreateTensorH1Lagrange(f->ceed, 1, 2, NUM_NODES, NUM_POINTS, CEED_GAUSS, &f->basis_v));
  CeedCall(CeedVectorCreate(f->ceed, 6, &f->v));
  CeedCall(CeedOperatorCreate(f->ceed, f->qf, NULL, NULL, &f->op));
  CeedCall(CeedOperatorSetField(f->op, "u", f->rstr, f->basis, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(f->op, "w", f->rstr, f->basis, CEED_VECTOR_ACTIVE));
  return CeedOperatorSetField(f->op, "v", f->rstr_v, f->basis_v, f->v);
}

static int faulty_create(Faulty *f) {
  const CeedScalar u[3] = {1, 10, 100};

  *f = (Faulty){.ceed = open_check()};
  CeedCall(create_function(f));
  CeedCall(create_operator(f));
  f->u = vector_of(f->ceed, 3, u);
  f->w = vector_of(f->ceed, 3, NULL);
  return f->u && f->w ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

static void faulty_destroy(Faulty *f) {
  CeedOperatorDestroy(&f->op);
  CeedQFunctionDestroy(&f->qf);
  CeedQFunctionContextDestroy(&f->context);
  CeedElemRestrictionDestroy(&f->rstr);
  CeedElemRestrictionDestroy(&f->rstr_v);
  CeedBasisDestroy(&f->basis);
  CeedBasisDestroy(&f->basis_v);
  CeedVectorDestroy(&f->u);
  CeedVectorDestroy(&f->w);
  CeedVectorDestroy(&f->v);
  CeedDestroy(&f->ceed);
}

static int set_fault(Faulty *f, Fault fault) {
  FaultContext *c;

  CeedCall(CeedQFunctionContextGetData(f->context, CEED_MEM_HOST, &c));
  *c = (FaultContext){.fault = fault};
  return CeedQFunctionContextRestoreData(f->context, &c);
}

// ---- The ways in which a function is called ----

static int by_operator(Faulty *f) { return CeedOperatorApply(f->op, f->u, f->w, CEED_REQUEST_IMMEDIATE); }

// Four points at once.
static int by_itself(Faulty *f) {
  CeedVector in = vector_of(f->ceed, LENGTH, start_values), out[2] = {NULL};
  int ierr = CeedVectorCreate(f->ceed, LENGTH, &out[0]);

  if (!ierr) ierr = CeedVectorCreate(f->ceed, 2 * LENGTH, &out[1]);
  if (!ierr) ierr = CeedQFunctionApply(f->qf, LENGTH, &in, out);
  CeedVectorDestroy(&in);
  for (int k = 0; k < 2; k++) CeedVectorDestroy(&out[k]);
  return ierr;
}

static int by_diagonal(Faulty *f) {
  return CeedOperatorLinearAssembleDiagonal(f->op, f->w, CEED_REQUEST_IMMEDIATE);
}

static int by_matrix(Faulty *f) {
  Triples t;
  int ierr = triples_assemble(f->op, &t);

  triples_free(&t);
  return ierr;
}

static int by_assembly(Faulty *f) {
  CeedVector v = NULL;
  CeedElemRestriction rstr = NULL;
  int ierr = CeedOperatorLinearAssembleQFunction(f->op, &v, &rstr, CEED_REQUEST_IMMEDIATE);

  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

static int (*const ways[])(Faulty *f) = {by_operator, by_itself, by_diagonal, by_matrix, by_assembly};
enum { NUM_WAYS = sizeof(ways) / sizeof(ways[0]) };

// The fault is caught in every way to call the function; without it all works again.
static void check_fault(Fault fault, const char *text) {
  Faulty f;

  CHECK_OK(faulty_create(&f));
  for (int k = 0; k < NUM_WAYS; k++) {
    CHECK_OK(set_fault(&f, fault));
    CHECK_ERROR(f.ceed, ways[k](&f), CEED_ERROR_BACKEND, text);
    CHECK_OK(set_fault(&f, RIGHT));
    CHECK_OK(ways[k](&f));
  }
  faulty_destroy(&f);
}

TEST(an_output_left_unwritten_is_caught) {
  check_fault(LEAVES_OUTPUT, "QFunction 'faulty' has not written component 1 of its output 'v' at point");
}

TEST(a_function_that_writes_nothing_is_caught) {
  check_fault(LEAVES_EVERYTHING,
              "QFunction 'faulty' has not written component 0 of its output 'w' at point 0");
}

TEST(a_written_input_is_caught) { check_fault(WRITES_INPUT, "QFunction 'faulty' has changed its input 'u'"); }

TEST(writes_beside_outputs_are_caught) {
  check_fault(WRITES_BEFORE, "QFunction 'faulty' has written outside the array of field 'v'");
  check_fault(WRITES_BEHIND, "QFunction 'faulty' has written outside the array of field 'v'");
}

TEST(writes_beside_inputs_are_caught) {
  check_fault(WRITES_BEHIND_INPUT, "QFunction 'faulty' has written outside the array of field 'u'");
}

TEST(a_changed_read_only_context_is_caught) {
  check_fault(CHANGES_CONTEXT, "Context data changed while accessed in read-only mode");
}

TEST(a_writable_context_may_change) {
  Faulty f;
  FaultContext *c;

  CHECK_OK(faulty_create(&f));
  CHECK_OK(CeedQFunctionSetContextWritable(f.qf, true));
  CHECK_OK(set_fault(&f, CHANGES_CONTEXT));
  CHECK_OK(by_itself(&f));
  CHECK_OK(CeedQFunctionContextGetDataRead(f.context, CEED_MEM_HOST, &c));
  CHECK(c->num_calls == 1, "%d calls", c->num_calls);
  CHECK_OK(CeedQFunctionContextRestoreDataRead(f.context, &c));
  faulty_destroy(&f);
}

// Whether arithmetic keeps the bits of a NaN is up to the processor: the mark arrives, or another NaN.
TEST(outputs_read_nan_before_they_are_written) {
  Faulty f;
  const char *message = "";

  CHECK_OK(faulty_create(&f));
  CHECK_OK(set_fault(&f, READS_OUTPUT));
  int ierr = by_operator(&f);
  CeedGetErrorMessage(f.ceed, &message);
  if (ierr) {
    CHECK(ierr == CEED_ERROR_BACKEND && strstr(message, "not written"), "%d: %s", ierr, message);
  } else {
    double *w = reference_new_values(f.w);
    bool is_nan = isnan(w[0]) && isnan(w[1]) && isnan(w[2]);

    free(w);
    CHECK(is_nan, "a number is left");
  }
  faulty_destroy(&f);
}

// 0/0 is no unwritten entry: only the mark of the backend is, bit for bit.
static int divide(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[0][i] / in[0][i];
  return CEED_ERROR_SUCCESS;
}

TEST(nan_that_a_function_computes_is_not_its_fault) {
  Ceed ceed = open_check();
  CeedQFunction qf = NULL;
  CeedVector u = NULL, v = NULL, empty = NULL, empty_out = NULL;

  CHECK_OK(CeedVectorCreate(ceed, LENGTH, &u));
  CHECK_OK(CeedVectorCreate(ceed, LENGTH, &v));
  CHECK_OK(CeedVectorSetValue(u, 0));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, divide, "", &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionApply(qf, LENGTH, &u, &v));
  double *values = reference_new_values(v);
  CHECK(isnan(values[0]), "0/0 is %g", values[0]);
  free(values);
  CHECK_OK(CeedQFunctionApply(qf, 0, &u, &v)); // no points: nothing is watched
  CHECK_OK(CeedVectorCreate(ceed, 0, &empty));
  CHECK_OK(CeedVectorCreate(ceed, 0, &empty_out));
  CHECK_OK(CeedQFunctionApply(qf, 0, &empty, &empty_out));
  CeedVectorDestroy(&empty);
  CeedVectorDestroy(&empty_out);
  CeedQFunctionDestroy(&qf);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedDestroy(&ceed);
}

// ---- Correct programs ----

static int num_draws(void) {
  static const int num[] = {60, 600, 6000};

  return num[tap_level()];
}

// What an operator gives: its outputs, or the values of its matrix.
static int results_of(Ceed ceed, const RandomOptions *options, uint64_t seed, bool assembles, CeedSize *n,
                      double **results) {
  RandomOperator r;
  int ierr = random_operator_create(ceed, options, &seed, &r);
  double *x = reference_new_random(r.input_size, &seed);
  CeedVector in = reference_vector(ceed, r.input_size, x), out = NULL;
  Triples t = {0};

  *results = NULL;
  if (!ierr && assembles) {
    ierr = triples_assemble(r.op, &t);
    *n = t.num;
    *results = t.values;
    t.values = NULL;
  } else if (!ierr) {
    ierr = CeedVectorCreate(ceed, r.output_size, &out);
    if (!ierr) ierr = CeedOperatorApply(r.op, in, out, CEED_REQUEST_IMMEDIATE);
    *n = r.output_size;
    if (!ierr) *results = reference_new_values(out);
  }
  free(x);
  triples_free(&t);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  random_operator_destroy(&r);
  return ierr;
}

TEST(watching_changes_no_bit_of_the_results) {
  static const char *const resources[] = {"/cpu/self/ref", "/cpu/self/check"};
  const RandomOptions options = {.num_active_in = 1, .num_active_out = 1, .is_linear = true};

  for (int i = 0; i < num_draws(); i++) {
    CeedSize n[2] = {0};
    double *results[2] = {NULL};
    int ierr = CEED_ERROR_SUCCESS;

    for (int k = 0; k < 2; k++) {
      Ceed ceed = tap_ceed(resources[k]);

      if (!ierr) ierr = results_of(ceed, &options, 1000000 + (uint64_t)i, i % 2, &n[k], &results[k]);
      CeedDestroy(&ceed);
    }
    bool is_same = !ierr && n[0] == n[1] && !memcmp(results[0], results[1], (size_t)n[0] * sizeof(double));
    for (int k = 0; k < 2; k++) free(results[k]);
    CHECK_OK(ierr);
    CHECK(is_same, "operator of seed %d differs", 1000000 + i);
  }
}

// ---- Names and options ----

TEST(other_names_and_options_of_the_backend_work) {
  static const char *const right[] = {"/cpu/self/check:inner=ref", "/cpu/self/check:mem=host",
                                      "/cpu/self/memcheck", "/cpu/self/memcheck/serial"};

  for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
    Ceed ceed = tap_ceed(right[i]);
    CeedVector v = vector_of(ceed, LENGTH, start_values);
    CeedScalar *array;

    CHECK_OK(begin(v, READ, &array));
    array[0] = 99;
    CHECK_ERROR(ceed, end(v, READ, &array), CEED_ERROR_BACKEND, "read-only");
    CeedVectorDestroy(&v);
    CeedDestroy(&ceed);
  }
}

TEST(unknown_options_are_refused) {
  static const char *const wrong[] = {"/cpu/self/check:inner=other",
                                      "/cpu/self/check:inner=", "/cpu/self/check:inner=refs",
                                      "/cpu/self/check:mem=disk"};

  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
    Ceed ceed = NULL;

    CHECK(CeedInit(wrong[i], &ceed) == CEED_ERROR_BACKEND && !ceed, "%s", wrong[i]);
  }
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(a_write_through_read_access_is_caught, writes_beside_the_array_are_caught,
            pointers_read_nan_after_their_access_has_ended, writes_through_stale_pointers_are_lost,
            an_array_for_writing_reads_nan_until_it_is_written,
            null_is_taken_back_for_the_newest_array_that_is_lent, foreign_pointers_are_not_taken_back,
            readers_do_not_share_an_array, borrowed_arrays_change_when_access_ends,
            an_output_left_unwritten_is_caught, a_function_that_writes_nothing_is_caught,
            a_written_input_is_caught, writes_beside_outputs_are_caught, writes_beside_inputs_are_caught,
            a_changed_read_only_context_is_caught, a_writable_context_may_change,
            outputs_read_nan_before_they_are_written, nan_that_a_function_computes_is_not_its_fault,
            watching_changes_no_bit_of_the_results, other_names_and_options_of_the_backend_work,
            unknown_options_are_refused));
}
