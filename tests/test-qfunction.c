// SPDX-License-Identifier: BSD-2-Clause
// CeedQFunction: fields, immutability, contexts, application by itself, views, sources and their paths,
// misuse and what is left after it. The gallery's functions are tested in tests/test-gallery.c.
#include "tests/api.h"
#include "tests/plain-qfunctions.h"
#include "tests/tap.h"

#include <ceed/backend.h>
#include <ceed/cuda.h>
#include <ceed/hip.h>
#include <ceed/jit-tools.h>
#include <stdlib.h>

// ---- QFunctions of these tests ----

static int call_code; // what `multiply` returns
static void *seen_ctx;

// PlainMultiply that counts in its context if there is one. Has no text: for backends that call it.
static int multiply(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  PlainMultiply(ctx, Q, in, out);
  seen_ctx = ctx;
  if (ctx) (*(int32_t *)ctx)++;
  return call_code;
}

static CeedQFunction make(Ceed ceed) {
  CeedQFunction qf = NULL;
  CeedQFunctionCreateInterior(ceed, 1, multiply,
                              tap_runs_pointers(ceed) ? "f.h:PlainMultiply" : PlainMultiply_loc, &qf);
  return qf;
}

static CeedQFunction make_with_fields(Ceed ceed) {
  CeedQFunction qf = make(ceed);
  if (CeedQFunctionAddInput(qf, "a", 2, CEED_EVAL_INTERP)) return NULL;
  if (CeedQFunctionAddInput(qf, "q data", 1, CEED_EVAL_WEIGHT)) return NULL;
  return CeedQFunctionAddOutput(qf, "v", 2, CEED_EVAL_GRAD) ? NULL : qf;
}

static bool is_immutable(CeedQFunction qf) {
  bool is = false;
  CeedQFunctionIsImmutable(qf, &is);
  return is;
}

// ---- Creation ----

TEST_EACH_BACKEND(a_new_qfunction_has_nothing_but_its_function) {
  CeedQFunction qf = make(ceed);
  CeedInt num_in = -1, num_out = -1, vec_length = 0;
  CeedSize flops = 0;
  bool is_identity = true, is_writable = false;
  CeedQFunctionUser f = NULL;
  CeedQFunctionContext ctx = (CeedQFunctionContext)&ctx;

  CHECK_OK(CeedQFunctionGetNumArgs(qf, &num_in, &num_out));
  CHECK_OK(CeedQFunctionGetNumArgs(qf, NULL, NULL));
  CHECK_OK(CeedQFunctionGetVectorLength(qf, &vec_length));
  CHECK_OK(CeedQFunctionGetFlopsEstimate(qf, &flops));
  CHECK_OK(CeedQFunctionIsIdentity(qf, &is_identity));
  CHECK_OK(CeedQFunctionIsContextWritable(qf, &is_writable));
  CHECK_OK(CeedQFunctionGetUserFunction(qf, &f));
  CHECK_OK(CeedQFunctionGetContext(qf, &ctx));
  CHECK(num_in == 0 && num_out == 0 && vec_length == 1 && flops == -1, "numbers");
  CHECK(!is_identity && is_writable && !is_immutable(qf) && f == multiply && ctx == NULL, "state");
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

TEST_EACH_BACKEND(the_source_names_file_and_function) {
  const struct {
    const char *source, *kernel;
  } rows[] = {{"path/to/file.h:func", "func"}, {"C:/path/file.h:func", "func"}, {"", ""}, {":f", "f"}};
  CeedQFunction qf = NULL;
  const char *name = NULL;
  char mine[] = "file.h:func";

  for (int i = 0; i < 4; i++) {
    CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, multiply, rows[i].source, &qf));
    CHECK_OK(CeedQFunctionGetKernelName(qf, &name));
    CHECK(!strcmp(name, rows[i].kernel), "'%s': '%s'", rows[i].source, name);
    CHECK_OK(CeedQFunctionGetName(qf, &name));
    CHECK(!strcmp(name, rows[i].kernel), "'%s': '%s'", rows[i].source, name);
    CHECK_OK(CeedQFunctionDestroy(&qf));
  }
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, multiply, mine, &qf));
  memset(mine, 'x', sizeof(mine) - 1); // the string was copied
  CHECK_OK(CeedQFunctionGetKernelName(qf, &name));
  CHECK(!strcmp(name, "func"), "'%s'", name);
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK(strstr(PlainMultiply_loc, "tests/plain-qfunctions.h:PlainMultiply"), "'%s'", PlainMultiply_loc);
  qf = (CeedQFunction)&qf;
  CHECK_ERROR(ceed, CeedQFunctionCreateInterior(ceed, 1, multiply, "file.h", &qf), CEED_ERROR_INCOMPLETE,
              "CeedQFunctionCreateInterior");
  CHECK_ERROR(ceed, CeedQFunctionCreateInterior(ceed, 1, multiply, NULL, &qf), CEED_ERROR_INCOMPLETE,
              "CeedQFunctionCreateInterior");
  CHECK_ERROR(ceed, CeedQFunctionCreateInterior(ceed, 0, multiply, "", &qf), CEED_ERROR_DIMENSION,
              "vector length");
}

TEST_EACH_BACKEND(names_that_are_not_in_the_gallery_are_refused) {
  const char *const names[] = {"", "MassApply ", "massapply", "Mass", "zzz", "Identity to scalars"};
  CeedQFunction qf = NULL;

  for (int i = 0; i < 6; i++) {
    CHECK_ERROR(ceed, CeedQFunctionCreateInteriorByName(ceed, names[i], &qf), CEED_ERROR_UNSUPPORTED,
                "CeedQFunctionCreateInteriorByName");
  }
  CHECK_ERROR(ceed, CeedQFunctionCreateInteriorByName(ceed, NULL, &qf), CEED_ERROR_INCOMPLETE,
              "CeedQFunctionCreateInteriorByName");
  CHECK_OK(CeedQFunctionRegisterAll());
  CHECK_OK(CeedQFunctionRegisterAll());
  CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, "MassApply", &qf));
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

TEST_EACH_BACKEND(an_identity_has_two_fields_and_says_what_it_is) {
  CeedQFunction qf = NULL;
  bool is_identity = false;
  CeedSize flops = -1;
  const char *name = NULL;

  CHECK_OK(CeedQFunctionCreateIdentity(ceed, 3, CEED_EVAL_INTERP, CEED_EVAL_NONE, &qf));
  CHECK_OK(CeedQFunctionIsIdentity(qf, &is_identity));
  CHECK_OK(CeedQFunctionGetFlopsEstimate(qf, &flops));
  CHECK_OK(CeedQFunctionGetName(qf, &name));
  CHECK(is_identity && flops == 0 && !strcmp(name, "Identity"), "'%s', %td flops", name, flops);
  CHECK_PRINTS("Gallery CeedQFunction - Identity\n  1 input field:\n    Input field 0:\n"
               "      Name: \"input\"\n      Size: 3\n      EvalMode: \"interpolation\"\n"
               "  1 output field:\n    Output field 0:\n"
               "      Name: \"output\"\n      Size: 3\n      EvalMode: \"none\"\n",
               CeedQFunctionView(qf, stream));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_ERROR(ceed, CeedQFunctionCreateIdentity(ceed, -1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf),
              CEED_ERROR_DIMENSION, "size");
  CHECK_ERROR(ceed, CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_NONE, CEED_EVAL_WEIGHT, &qf),
              CEED_ERROR_DIMENSION, "weights");
  CHECK(qf == NULL, "a handle is made");
}

// ---- Registration ----

static const char *requested_name;

static int add_two_fields(Ceed ceed, const char *requested, CeedQFunction qf) {
  (void)ceed;
  requested_name = requested;
  int ierr = CeedQFunctionAddInput(qf, "x", 1, CEED_EVAL_INTERP);
  return ierr ? ierr : CeedQFunctionAddOutput(qf, "y", 1, CEED_EVAL_INTERP);
}

static int refuse(Ceed ceed, const char *requested, CeedQFunction qf) {
  (void)requested, (void)qf;
  return CeedError(ceed, CEED_ERROR_MINOR, "no");
}

TEST_EACH_BACKEND(qfunctions_can_be_added_to_the_gallery) {
  static const char source[] = "/some/where/ceed/jit-source/test.h:squares";
  CeedQFunction qf = NULL;
  const char *name = NULL;
  CeedInt num_in = 0;

  CHECK_OK(CeedQFunctionRegister("Test squares", source, 1, PlainSquares, add_two_fields));
  CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, "Test squares", &qf));
  CHECK(!strcmp(requested_name, "Test squares"), "'%s'", requested_name);
  CHECK_OK(CeedQFunctionGetName(qf, &name));
  CHECK(!strcmp(name, "Test squares"), "'%s'", name);
  CHECK_OK(CeedQFunctionGetNumArgs(qf, &num_in, NULL));
  CHECK(num_in == 1, "%d inputs", num_in);
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedQFunctionRegister("Test refusing", source, 1, PlainSquares, refuse));
  CHECK_ERROR(ceed, CeedQFunctionCreateInteriorByName(ceed, "Test refusing", &qf), CEED_ERROR_MINOR, "no");
  CHECK(qf == NULL, "a handle is made");
  CHECK_ERROR(NULL,
              CeedQFunctionRegister("Test astray", "/some/where/test.h:squares", 1, PlainSquares, refuse),
              CEED_ERROR_MAJOR, "ceed/jit-source");
}

// ---- Fields ----

TEST_EACH_BACKEND(fields_keep_their_order_and_data) {
  CeedQFunction qf = make(ceed);
  CeedQFunctionField *in = NULL, *out = NULL;
  CeedInt num_in = 0, num_out = 0, size = 0;
  CeedEvalMode mode = CEED_EVAL_NONE;
  const char *name = NULL;
  char mine[] = "grad u";

  CHECK_OK(CeedQFunctionAddInput(qf, mine, 6, CEED_EVAL_GRAD));
  memset(mine, 'x', sizeof(mine) - 1); // the string was copied
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 2, CEED_EVAL_DIV));
  CHECK_OK(CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_WEIGHT));
  CHECK_OK(CeedQFunctionGetFields(qf, &num_in, &in, &num_out, &out));
  CHECK(num_in == 2 && num_out == 1, "%d inputs, %d outputs", num_in, num_out);
  CHECK_OK(CeedQFunctionFieldGetData(in[0], &name, &size, &mode));
  CHECK(!strcmp(name, "grad u") && size == 6 && mode == CEED_EVAL_GRAD, "'%s', %d", name, size);
  CHECK_OK(CeedQFunctionFieldGetData(in[0], NULL, NULL, NULL));
  CHECK_OK(CeedQFunctionFieldGetName(in[1], &name));
  CHECK_OK(CeedQFunctionFieldGetSize(in[1], &size));
  CHECK_OK(CeedQFunctionFieldGetEvalMode(in[1], &mode));
  CHECK(!strcmp(name, "w") && size == 1 && mode == CEED_EVAL_WEIGHT, "'%s', %d", name, size);
  CHECK_OK(CeedQFunctionFieldGetData(out[0], &name, &size, &mode));
  CHECK(!strcmp(name, "v") && size == 2 && mode == CEED_EVAL_DIV, "'%s', %d", name, size);
  CHECK_OK(CeedQFunctionGetFields(qf, NULL, NULL, NULL, NULL));
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

// The macro CEED_FIELD_MAX is the standard's; this library has no such limit.
TEST_EACH_BACKEND(more_fields_than_the_standard_demands_are_possible) {
  enum { NUM = 2 * CEED_FIELD_MAX };
  CeedQFunction qf = make(ceed);
  CeedInt num_in = 0, num_out = 0;
  char name[16];

  for (int i = 0; i < NUM; i++) {
    snprintf(name, sizeof(name), "in %d", i);
    CHECK_OK(CeedQFunctionAddInput(qf, name, 1, CEED_EVAL_NONE));
    snprintf(name, sizeof(name), "out %d", i);
    CHECK_OK(CeedQFunctionAddOutput(qf, name, 1, CEED_EVAL_NONE));
  }
  CHECK_OK(CeedQFunctionGetNumArgs(qf, &num_in, &num_out));
  CHECK(num_in == NUM && num_out == NUM, "%d inputs, %d outputs", num_in, num_out);
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

TEST_EACH_BACKEND(fields_that_make_no_sense_are_refused) {
  CeedQFunction qf = make(ceed);
  CeedInt num_in = -1, num_out = -1;

#define REFUSED(code, call, function) CHECK_ERROR(ceed, call, code, function)
  REFUSED(CEED_ERROR_DIMENSION, CeedQFunctionAddInput(qf, "w", 2, CEED_EVAL_WEIGHT), "CeedQFunctionAddInput");
  REFUSED(CEED_ERROR_DIMENSION, CeedQFunctionAddOutput(qf, "w", 1, CEED_EVAL_WEIGHT),
          "CeedQFunctionAddOutput");
  REFUSED(CEED_ERROR_DIMENSION, CeedQFunctionAddOutput(qf, "w", 2, CEED_EVAL_WEIGHT),
          "CeedQFunctionAddOutput");
  REFUSED(CEED_ERROR_DIMENSION, CeedQFunctionAddInput(qf, "u", -1, CEED_EVAL_INTERP), "size");
  REFUSED(CEED_ERROR_DIMENSION, CeedQFunctionAddInput(qf, "u", 0, CEED_EVAL_WEIGHT), "size 1");
  REFUSED(CEED_ERROR_DIMENSION, CeedQFunctionAddOutput(qf, "u", -1, CEED_EVAL_INTERP), "size");
  REFUSED(CEED_ERROR_INCOMPATIBLE, CeedQFunctionAddInput(qf, "u", 1, (CeedEvalMode)3), "mode");
  REFUSED(CEED_ERROR_INCOMPATIBLE, CeedQFunctionAddInput(qf, NULL, 1, CEED_EVAL_NONE), "name");
  CHECK_OK(CeedQFunctionGetNumArgs(qf, &num_in, &num_out));
  CHECK(num_in == 0 && num_out == 0, "a refused field is there");
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  REFUSED(CEED_ERROR_MINOR, CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP), "'u'");
  REFUSED(CEED_ERROR_MINOR, CeedQFunctionAddInput(qf, "v", 1, CEED_EVAL_INTERP), "'v'");
  REFUSED(CEED_ERROR_MINOR, CeedQFunctionAddOutput(qf, "u", 2, CEED_EVAL_NONE), "'u'");
  REFUSED(CEED_ERROR_MINOR, CeedQFunctionAddOutput(qf, "v", 2, CEED_EVAL_NONE), "'v'");
  REFUSED(CEED_ERROR_DIMENSION, CeedQFunctionAddInput(qf, "u", 2, CEED_EVAL_WEIGHT),
          "weights"); // comes first
  CHECK_OK(CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_WEIGHT));
  CHECK_OK(CeedQFunctionGetFields(qf, NULL, NULL, NULL, NULL));
  REFUSED(CEED_ERROR_MAJOR, CeedQFunctionAddInput(qf, "u", 2, CEED_EVAL_WEIGHT), "CeedQFunctionAddInput");
  REFUSED(CEED_ERROR_MAJOR, CeedQFunctionAddOutput(qf, "z", 1, CEED_EVAL_NONE), "CeedQFunctionAddOutput");
#undef REFUSED
  CHECK_OK(CeedQFunctionGetNumArgs(qf, &num_in, &num_out));
  CHECK(num_in == 2 && num_out == 1, "%d inputs, %d outputs", num_in, num_out);
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

TEST_EACH_BACKEND(use_ends_the_adding_of_fields_and_nothing_else) {
  CeedQFunction qf = make(ceed), listed = make(ceed), derivative = make(ceed), applied = make(ceed);
  CeedOperator op = NULL;
  CeedQFunctionContext ctx = NULL;

  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  CHECK_PRINTS("User CeedQFunction - PlainMultiply\n  1 input field:\n    Input field 0:\n      Name: \"u\"\n"
               "      Size: 1\n      EvalMode: \"none\"\n  0 output field:\n",
               CeedQFunctionView(qf, stream));
  CHECK(!is_immutable(qf), "viewing");
  CHECK_OK(CeedQFunctionGetFields(listed, NULL, NULL, NULL, NULL));
  CHECK(is_immutable(listed), "listing of fields");
  CHECK_OK(CeedQFunctionAddInput(applied, "a", 2, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionAddInput(applied, "b", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionAddOutput(applied, "v", 2, CEED_EVAL_NONE));
  CeedVector two = vector_of(ceed, 2, (CeedScalar[]){1, 2}), out = vector_of(ceed, 2, NULL);
  CHECK_OK(CeedQFunctionApply(applied, 1, (CeedVector[]){two, two}, &out));
  CHECK(is_immutable(applied), "application");
  CHECK_OK(CeedOperatorCreate(ceed, qf, derivative, CEED_QFUNCTION_NONE, &op));
  CHECK(!is_immutable(qf), "creation of an operator");
  CHECK_ERROR(ceed,
              CeedOperatorSetField(op, "none", CEED_ELEMRESTRICTION_NONE, CEED_BASIS_NONE, CEED_VECTOR_NONE),
              CEED_ERROR_INCOMPLETE, "none");
  CHECK(is_immutable(qf), "a look by an operator");
  CHECK(!is_immutable(derivative), "a derivative, before the operator is ready");
  CHECK_OK(CeedQFunctionContextCreate(ceed, &ctx));
  CHECK_OK(CeedQFunctionSetContext(qf, ctx)); // all this stays possible
  CHECK_OK(CeedQFunctionSetContextWritable(qf, false));
  CHECK_OK(CeedQFunctionSetUserFlopsEstimate(qf, 7));
  CHECK_OK(CeedQFunctionSetNumViewTabs(qf, 1));
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedVectorDestroy(&two));
  CHECK_OK(CeedVectorDestroy(&out));
  CeedQFunction *all[] = {&qf, &listed, &derivative, &applied};
  for (int i = 0; i < 4; i++) CHECK_OK(CeedQFunctionDestroy(all[i]));
}

TEST_EACH_BACKEND(flops_are_not_negative) {
  CeedQFunction qf = make(ceed);
  CeedSize flops = 0;

  CHECK_OK(CeedQFunctionSetUserFlopsEstimate(qf, 0));
  CHECK_OK(CeedQFunctionSetUserFlopsEstimate(qf, 5));
  CHECK_ERROR(ceed, CeedQFunctionSetUserFlopsEstimate(qf, -1), CEED_ERROR_INCOMPATIBLE,
              "CeedQFunctionSetUserFlopsEstimate");
  CHECK_OK(CeedQFunctionGetFlopsEstimate(qf, &flops));
  CHECK(flops == 5, "%td", flops);
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

// ---- Application ----

TEST_EACH_BACKEND(a_qfunction_is_applied_by_itself) {
  CeedQFunction qf = make_with_fields(ceed);
  CeedVector u[CEED_FIELD_MAX] = {NULL}, v[CEED_FIELD_MAX] = {NULL};

  u[0] = vector_of(ceed, 7, (CeedScalar[]){1, 2, 3, 4, 5, 6, 99}); // longer than it need be
  u[1] = vector_of(ceed, 3, (CeedScalar[]){10, 100, 1000});
  v[0] = vector_of(ceed, 6, NULL); // values are not needed
  CHECK_OK(CeedQFunctionApply(qf, 3, u, v));
  CHECK_HOLDS(v[0], 10, 200, 3000, 40, 500, 6000);
  if (tap_runs_pointers(ceed)) CHECK(seen_ctx == NULL, "a context comes from nowhere");
  CHECK_OK(CeedQFunctionApply(qf, 2, u, v)); // another number of points
  CHECK_HOLDS(v[0], 10, 200, 30, 400);
  CHECK_OK(CeedQFunctionApply(qf, 0, u, v));
  CHECK_HOLDS(u[0], 1, 2, 3, 4, 5, 6, 99);
  CHECK_OK(CeedVectorDestroy(&u[0]));
  CHECK_OK(CeedVectorDestroy(&u[1]));
  CHECK_OK(CeedVectorDestroy(&v[0]));
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

TEST_EACH_BACKEND(helpers_of_qfunctions_are_called) {
  CeedQFunction qf = NULL;
  CeedVector u = vector_of(ceed, 3, (CeedScalar[]){1, -2, 3}), v = vector_of(ceed, 3, NULL);

  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, PlainSquares, PlainSquares_loc, &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionApply(qf, 3, &u, &v));
  CHECK_HOLDS(v, 1, 4, 9);
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

TEST_EACH_BACKEND(applications_that_cannot_be_done_leave_vectors_free) {
  CeedQFunction qf = make_with_fields(ceed), by_four = NULL, without = NULL;
  CeedVector a = vector_of(ceed, 4, (CeedScalar[]){1, 2, 3, 4}), b = vector_of(ceed, 2, (CeedScalar[]){5, 6}),
             v = vector_of(ceed, 4, NULL), empty = vector_of(ceed, 4, NULL);
  CeedScalar *array = NULL;

#define APPLY(Q, u0, u1, v0) CeedQFunctionApply(qf, Q, (CeedVector[]){u0, u1}, (CeedVector[]){v0})
  CHECK_ERROR(ceed, APPLY(2, b, b, v), CEED_ERROR_DIMENSION, "'a'");
  CHECK_ERROR(ceed, APPLY(2, a, b, b), CEED_ERROR_DIMENSION, "'v'");
  CHECK_ERROR(ceed, APPLY(2, a, CEED_VECTOR_NONE, v), CEED_ERROR_INCOMPATIBLE,
              "'q data' is CEED_VECTOR_NONE");
  CHECK_ERROR(ceed, APPLY(-1, a, b, v), CEED_ERROR_DIMENSION, "CeedQFunctionApply");
  CHECK_ERROR(ceed, APPLY(2, NULL, b, v), CEED_ERROR_INCOMPATIBLE, "'a'");
  CHECK_ERROR(ceed, APPLY(2, a, b, NULL), CEED_ERROR_INCOMPATIBLE, "'v'");
  CHECK_ERROR(ceed, APPLY(2, empty, b, v), CEED_ERROR_BACKEND, "no valid data");
  CHECK_ERROR(ceed, APPLY(2, a, b, a), CEED_ERROR_BACKEND, "Cannot grant CeedVector array access");
  CHECK_OK(CeedVectorGetArray(a, CEED_MEM_HOST, &array));
  CHECK_ERROR(ceed, APPLY(2, a, b, v), CEED_ERROR_BACKEND, "access lock");
  CHECK_OK(CeedVectorRestoreArray(a, &array));
  CHECK_OK(APPLY(2, a, b, v)); // nobody holds anything
  CHECK_HOLDS(v, 5, 12, 15, 24);
#undef APPLY
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 4, multiply, "f.h:PlainMultiply", &by_four));
  CHECK_ERROR(ceed, CeedQFunctionApply(by_four, 6, NULL, NULL), CEED_ERROR_DIMENSION, "vector length");
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, NULL, "", &without));
  if (!has_device_memory(ceed)) {
    CHECK_ERROR(ceed, CeedQFunctionApply(without, 2, NULL, NULL), CEED_ERROR_BACKEND, "function");
  }
  CeedVector *vectors[] = {&a, &b, &v, &empty};
  for (int i = 0; i < 4; i++) CHECK_OK(CeedVectorDestroy(vectors[i]));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedQFunctionDestroy(&by_four));
  CHECK_OK(CeedQFunctionDestroy(&without));
}

// A positive code becomes that of a failed backend, a negative one comes through; no message is made of it.
TEST_EACH_BACKEND(codes_of_the_callers_function_come_back) {
  const int codes[][2] = {{1, CEED_ERROR_BACKEND},
                          {CEED_ERROR_ACCESS, CEED_ERROR_BACKEND},
                          {77, CEED_ERROR_BACKEND},
                          {CEED_ERROR_MAJOR, CEED_ERROR_MAJOR},
                          {CEED_ERROR_UNSUPPORTED, CEED_ERROR_UNSUPPORTED},
                          {-50, -50}};
  const char *message = NULL;

  if (has_device_memory(ceed)) NOT_FOR_THIS_BACKEND("devices ignore the code");
  CeedQFunction qf = make_with_fields(ceed);
  CeedVector u[] = {vector_of(ceed, 4, (CeedScalar[]){1, 2, 3, 4}), vector_of(ceed, 2, (CeedScalar[]){5, 6})},
             v = vector_of(ceed, 4, NULL);
  for (int i = 0; i < 6; i++) {
    call_code = codes[i][0];
    tap_forget_error(ceed);
    int code = CeedQFunctionApply(qf, 2, u, &v);
    call_code = 0;
    CHECK(code == codes[i][1], "%d gives %d", codes[i][0], code);
    CHECK_OK(CeedGetErrorMessage(ceed, &message));
    CHECK(!strcmp(message, "No error message stored"), "'%s'", message);
  }
  CHECK_OK(CeedQFunctionApply(qf, 2, u, &v));
  CHECK_HOLDS(v, 5, 12, 15, 24);
  CHECK_OK(CeedVectorDestroy(&u[0]));
  CHECK_OK(CeedVectorDestroy(&u[1]));
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

// ---- Contexts ----

// Everything an application of `multiply` needs.
typedef struct {
  CeedQFunction qf;
  CeedVector u[2], v;
  CeedQFunctionContext ctx;
  int32_t count; // borrowed by ctx
} Counting;

static void open_counting(Ceed ceed, Counting *c) {
  *c = (Counting){.qf = make_with_fields(ceed)};
  c->u[0] = vector_of(ceed, 4, (CeedScalar[]){1, 2, 3, 4});
  c->u[1] = vector_of(ceed, 2, (CeedScalar[]){5, 6});
  c->v = vector_of(ceed, 4, NULL);
  CHECK_OK(CeedQFunctionContextCreate(ceed, &c->ctx));
  CHECK_OK(CeedQFunctionContextSetData(c->ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(c->count), &c->count));
  CHECK_OK(CeedQFunctionSetContext(c->qf, c->ctx));
}

static int apply_counting(Counting *c) { return CeedQFunctionApply(c->qf, 2, c->u, &c->v); }

static void close_counting(Counting *c) {
  CHECK_OK(CeedQFunctionDestroy(&c->qf));
  CHECK_OK(CeedQFunctionContextDestroy(&c->ctx));
  CHECK_OK(CeedVectorDestroy(&c->u[0]));
  CHECK_OK(CeedVectorDestroy(&c->u[1]));
  CHECK_OK(CeedVectorDestroy(&c->v));
}

TEST_EACH_BACKEND(what_a_qfunction_writes_to_its_context_is_seen) {
  Counting c;
  const int32_t *count = NULL;

  if (!tap_runs_pointers(ceed)) NOT_FOR_THIS_BACKEND("points of a device are no calls that can be counted");
  open_counting(ceed, &c);
  if (tap_failed()) return;
  CHECK_OK(apply_counting(&c));
  CHECK_OK(apply_counting(&c));
  CHECK_OK(CeedQFunctionContextGetDataRead(c.ctx, CEED_MEM_HOST, &count));
  CHECK(*count == 2, "%d calls", *count);
  CHECK_OK(CeedQFunctionContextRestoreDataRead(c.ctx, &count));
  if (lends_originals(ceed)) CHECK(seen_ctx == &c.count && c.count == 2, "a borrowed context is copied");
  close_counting(&c);
}

// All points write the same: nothing depends on their order.
TEST_EACH_BACKEND(a_mark_that_a_qfunction_leaves_in_its_context_is_seen) {
  CeedInt numbers[3] = {5, 0, 6};
  const CeedInt *read = NULL;
  CeedQFunction qf = NULL;
  CeedQFunctionContext ctx = NULL;
  CeedVector u = vector_of(ceed, 4, (CeedScalar[]){1, 2, 3, 4}), v = vector_of(ceed, 4, NULL);

  CHECK_OK(CeedQFunctionContextCreate(ceed, &ctx));
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(numbers), numbers));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, PlainMark, PlainMark_loc, &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionSetContext(qf, ctx));
  CHECK_OK(CeedQFunctionApply(qf, 4, &u, &v));
  CHECK_HOLDS(v, 5, 10, 15, 20);
  CHECK_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &read));
  CHECK(read[0] == 5 && read[1] == 7 && read[2] == 6, "%d, %d, %d", read[0], read[1], read[2]);
  CHECK_OK(CeedQFunctionContextRestoreDataRead(ctx, &read));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedVectorDestroy(&v));
}

TEST_EACH_BACKEND(a_context_that_is_lent_out_stops_the_application) {
  Counting c;
  int32_t *count = NULL;
  const int32_t *read = NULL;

  open_counting(ceed, &c);
  if (tap_failed()) return;
  CHECK_OK(CeedQFunctionContextGetDataRead(c.ctx, CEED_MEM_HOST, &read));
  CHECK_ERROR(ceed, apply_counting(&c), CEED_ERROR_BACKEND, "a process has read access");
  CHECK_OK(CeedQFunctionContextRestoreDataRead(c.ctx, &read));
  for (int is_writable = 0; is_writable < 2; is_writable++) {
    CHECK_OK(CeedQFunctionSetContextWritable(c.qf, is_writable));
    CHECK_OK(CeedQFunctionContextGetData(c.ctx, CEED_MEM_HOST, &count));
    CHECK_ERROR(ceed, apply_counting(&c), CEED_ERROR_BACKEND, "access lock");
    CHECK_OK(CeedQFunctionContextRestoreData(c.ctx, &count));
  }
  CHECK_OK(apply_counting(&c));
  CHECK_HOLDS(c.v, 5, 12, 15, 24);
  CHECK_OK(CeedQFunctionContextGetDataRead(c.ctx, CEED_MEM_HOST, &read));
  if (tap_runs_pointers(ceed)) CHECK(*read == 1, "%d calls", *read);
  CHECK_OK(CeedQFunctionContextRestoreDataRead(c.ctx, &read));
  close_counting(&c);
}

TEST_EACH_BACKEND(a_context_that_is_only_read_may_have_other_readers) {
  Counting c;
  const int32_t *read = NULL;
  bool is_writable = true;

  open_counting(ceed, &c);
  if (tap_failed()) return;
  CHECK_OK(CeedQFunctionDestroy(&c.qf));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, PlainScale, PlainScale_loc, &c.qf));
  CHECK_OK(CeedQFunctionAddInput(c.qf, "u", 2, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionAddOutput(c.qf, "v", 2, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionSetContext(c.qf, c.ctx));
  CHECK_OK(CeedQFunctionSetContextWritable(c.qf, false));
  CHECK_OK(CeedQFunctionIsContextWritable(c.qf, &is_writable));
  CHECK(!is_writable, "still writable");
  c.count = 3;
  CHECK_OK(CeedQFunctionContextGetDataRead(c.ctx, CEED_MEM_HOST, &read));
  CHECK_OK(apply_counting(&c));
  CHECK_HOLDS(c.v, 3, 6, 9, 12);
  CHECK_OK(CeedQFunctionContextRestoreDataRead(c.ctx, &read));
  close_counting(&c);
}

TEST_EACH_BACKEND(a_context_without_data_stops_the_application) {
  Counting c;

  open_counting(ceed, &c);
  if (tap_failed()) return;
  CHECK_OK(CeedQFunctionContextTakeData(c.ctx, CEED_MEM_HOST, NULL));
  CHECK_ERROR(ceed, apply_counting(&c), CEED_ERROR_BACKEND, "no valid data");
  CHECK_OK(CeedQFunctionSetContext(c.qf, NULL)); // without a context it works
  CHECK_OK(apply_counting(&c));
  if (tap_runs_pointers(ceed)) CHECK(seen_ctx == NULL, "a context remains");
  close_counting(&c);
}

TEST_EACH_BACKEND(contexts_are_counted_and_replaced) {
  CeedQFunction qf = make(ceed);
  CeedQFunctionContext a = NULL, b = NULL, found = NULL;
  int32_t number = 1, *data = NULL;

  CHECK_OK(CeedQFunctionContextCreate(ceed, &a));
  CHECK_OK(CeedQFunctionContextCreate(ceed, &b));
  CeedQFunctionContext first = a;
  CHECK_OK(CeedQFunctionContextSetData(a, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(number), &number));
  CHECK_OK(CeedQFunctionSetContext(qf, a));
  CHECK_OK(CeedQFunctionSetContext(qf, a));  // the same again
  CHECK_OK(CeedQFunctionContextDestroy(&a)); // the QFunction holds it
  CHECK_OK(CeedQFunctionGetContext(qf, &found));
  CHECK(found == first, "another context");
  CHECK_OK(CeedQFunctionContextGetData(found, CEED_MEM_HOST, &data));
  CHECK_OK(CeedQFunctionContextDestroy(&found));
  CHECK_ERROR(ceed, CeedQFunctionSetContext(qf, b), CEED_ERROR_MINOR, "Cannot destroy CeedQFunctionContext");
  CHECK_ERROR(ceed, CeedQFunctionSetContext(qf, NULL), CEED_ERROR_MINOR,
              "Cannot destroy CeedQFunctionContext");
  CHECK_OK(CeedQFunctionContextRestoreData(first, &data));
  CHECK_OK(CeedQFunctionSetContext(qf, b)); // the first one goes
  CHECK_OK(CeedQFunctionGetContext(qf, &found));
  CHECK(found == b, "another context");
  CHECK_OK(CeedQFunctionContextDestroy(&found));
  CHECK_OK(CeedQFunctionSetContext(qf, NULL));
  CHECK_OK(CeedQFunctionGetContext(qf, &found));
  CHECK(found == NULL, "a context remains");
  CHECK_OK(CeedQFunctionContextDestroy(&b));
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

// ---- References and views ----

TEST_EACH_BACKEND(references_are_counted) {
  CeedQFunction a = make(ceed), b = make_with_fields(ceed), first = a;
  Ceed found = NULL;
  CeedInt num_in = -1;

  CHECK_OK(CeedQFunctionReferenceCopy(a, &b)); // over a live handle, which goes
  CHECK_OK(CeedQFunctionReferenceCopy(a, &a)); // onto itself
  CHECK(a == first && b == first, "other handles");
  CHECK_OK(CeedQFunctionDestroy(&a));
  CHECK_OK(CeedQFunctionDestroy(&a)); // a second time
  CHECK_OK(CeedQFunctionGetNumArgs(b, &num_in, NULL));
  CHECK(num_in == 0, "%d", num_in);
  CHECK_OK(CeedQFunctionGetCeed(b, &found));
  CHECK(found == ceed && CeedQFunctionReturnCeed(b) == ceed, "another context");
  CHECK_OK(CeedDestroy(&found));
  CHECK_OK(CeedQFunctionDestroy(&b));
}

TEST_EACH_BACKEND(a_view_shows_name_and_fields) {
  CeedQFunction qf = NULL, gallery = NULL, nameless = NULL;

  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, PlainSquares, "some/file.h:heat", &qf));
  CHECK_PRINTS("User CeedQFunction - heat\n  0 input field:\n  0 output field:\n",
               CeedQFunctionView(qf, stream));
  CHECK_OK(CeedQFunctionAddInput(qf, "grad T", 3, CEED_EVAL_GRAD));
  CHECK_OK(CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_WEIGHT));
  CHECK_OK(CeedQFunctionAddOutput(qf, "flux", 3, CEED_EVAL_GRAD));
#define VIEW(tab)                                                                                            \
  tab "User CeedQFunction - heat\n" tab "  2 input fields:\n" tab "    Input field 0:\n" tab                 \
      "      Name: \"grad T\"\n" tab "      Size: 3\n" tab "      EvalMode: \"gradient\"\n" tab              \
      "    Input field 1:\n" tab "      Name: \"w\"\n" tab "      Size: 1\n" tab                             \
      "      EvalMode: \"quadrature weights\"\n" tab "  1 output field:\n" tab "    Output field 0:\n" tab   \
      "      Name: \"flux\"\n" tab "      Size: 3\n" tab "      EvalMode: \"gradient\"\n"
  CHECK_PRINTS(VIEW(""), CeedQFunctionView(qf, stream));
  CHECK_OK(CeedQFunctionSetNumViewTabs(qf, 2));
  CHECK_PRINTS(VIEW("    "), CeedObjectView((CeedObject)qf, stream));
#undef VIEW
  CHECK_ERROR(ceed, CeedQFunctionSetNumViewTabs(qf, -1), CEED_ERROR_MINOR, "view tabs");
  CeedInt tabs = 0;
  CHECK_OK(CeedQFunctionGetNumViewTabs(qf, &tabs));
  CHECK(tabs == 2, "%d", tabs);
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, PlainSquares, "", &nameless));
  CHECK_PRINTS("User CeedQFunction - \n  0 input field:\n  0 output field:\n",
               CeedQFunctionView(nameless, stream));
  CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, "Scale (scalar)", &gallery));
  CHECK_PRINTS("Gallery CeedQFunction - Scale (scalar)\n  0 input field:\n  0 output field:\n",
               CeedQFunctionView(gallery, stream));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedQFunctionDestroy(&gallery));
  CHECK_OK(CeedQFunctionDestroy(&nameless));
}

// ---- Paths of sources ----

// Folder and name of a temporary file with the text: "folder/" and "name".
static void place_file(const char *text, char *folder, const char **name) {
  const char *path = tap_temp_text("source.h", text), *slash = strrchr(path, '/');

  snprintf(folder, 1024, "%.*s/", (int)(slash - path), path);
  *name = slash + 1;
}

TEST_EACH_BACKEND(a_file_path_is_checked_without_its_function) {
  char folder[1024], path[2048];
  const char *name;
  bool is_valid = false;

  place_file("x", folder, &name);
  snprintf(path, sizeof(path), "%s%s", folder, name);
  CHECK_OK(CeedCheckFilePath(ceed, path, &is_valid));
  CHECK(is_valid, "'%s'", path);
  strcat(path, ":function");
  CHECK_OK(CeedCheckFilePath(ceed, path, &is_valid));
  CHECK(is_valid, "'%s'", path);
  strcat(path, ":again"); // only the last one is cut off
  CHECK_OK(CeedCheckFilePath(ceed, path, &is_valid));
  CHECK(!is_valid, "'%s'", path);
  CHECK_OK(CeedCheckFilePath(ceed, "/no/such/file.h", &is_valid));
  CHECK(!is_valid, "a file that does not exist");
}

TEST(the_relative_path_begins_at_the_jit_sources) {
  static const char path[] = "/usr/include/ceed/jit-source/gallery/ceed-identity.h";
  const char *relative = NULL;

  CHECK_OK(CeedGetJitRelativePath(path, &relative));
  CHECK(relative == path + strlen("/usr/include/"), "'%s'", relative);
  CHECK_ERROR(NULL, CeedGetJitRelativePath("/usr/include/ceed.h", &relative), CEED_ERROR_MAJOR,
              "ceed/jit-source");
}

// Whether a search for the name gives this path, or with path == NULL fails as it should.
static bool finds(Ceed ceed, const char *name, const char *path) {
  const char *found = NULL;
  int code = CeedGetJitAbsolutePath(ceed, name, &found);
  bool is_right = path ? !code && !strcmp(found, path) : code == CEED_ERROR_MAJOR;

  if (!is_right) tap_note("code %d, found '%s'", code, found ? found : "nothing");
  if (!code) free((char *)found);
  return is_right;
}

TEST_EACH_BACKEND(sources_are_looked_up_below_the_roots_in_their_order) {
  char first[1024], second[1024], path[2048], root[1100];
  const char *name, *other;

  place_file("first", first, &name);
  CHECK(finds(ceed, name, NULL), "found without a root");
  CHECK_OK(CeedAddJitSourceRoot(ceed, "/no/such/folder/"));
  snprintf(root, sizeof(root), "%snothing-behind-the-last-slash-counts", first);
  CHECK_OK(CeedAddJitSourceRoot(ceed, root));
  snprintf(path, sizeof(path), "%s%s", first, name);
  CHECK(finds(ceed, name, path), "a root counts up to its last slash");
  place_file("second", second, &other);
  first[strlen(first) - 1] = '\0'; // without the slash
  CHECK_OK(CeedAddJitSourceRoot(ceed, first));
  snprintf(path, sizeof(path), "%s/%s", first, other);
  CHECK(finds(ceed, other, path), "the first root that has the file");
  CHECK(finds(ceed, path, path), "a path as it stands");
  CHECK_ERROR(ceed, CeedGetJitAbsolutePath(ceed, "no/such/file.h", &name), CEED_ERROR_MAJOR,
              "CeedGetJitAbsolutePath");
  CHECK_OK(CeedAddJitSourceRoot(ceed, "include/")); // tests run in the top folder
  CHECK(finds(ceed, "ceed/jit-source/gallery/ceed-identity.h",
              "include/ceed/jit-source/gallery/ceed-identity.h"),
        "a source of the library");
}

TEST_EACH_BACKEND(a_root_without_a_slash_is_taken_whole) {
  char folder[1024], path[2048];
  const char *name;

  place_file("text", folder, &name);
  snprintf(path, sizeof(path), "%s%s", folder, name);
  folder[strlen(folder) - 1] = '\0';
  CHECK_OK(CeedAddJitSourceRoot(ceed, folder));
  CHECK(finds(ceed, name, path), "'%s'", folder);
}

TEST_EACH_BACKEND(a_qfunction_finds_its_source_when_asked) {
  char folder[1024], source[2048], wanted[2048];
  const char *name, *found = NULL;
  CeedQFunction qf = NULL, without = NULL;

  place_file("text", folder, &name);
  snprintf(source, sizeof(source), "%s:func", name);
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, PlainSquares, source, &qf)); // the file is not looked for yet
  CHECK_ERROR(ceed, CeedQFunctionGetSourcePath(qf, &found), CEED_ERROR_MAJOR, name);
  CHECK_OK(CeedAddJitSourceRoot(ceed, folder));
  CHECK_OK(CeedQFunctionGetSourcePath(qf, &found));
  snprintf(wanted, sizeof(wanted), "%s%s", folder, name);
  CHECK(!strcmp(found, wanted), "'%s', not '%s'", found, wanted);
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, PlainSquares, "", &without));
  CHECK_OK(CeedQFunctionGetSourcePath(without, &found));
  CHECK(found == NULL, "'%s'", found);
  CHECK_OK(CeedQFunctionDestroy(&without));
  CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, "MassApply", &without));
  CHECK_OK(CeedAddJitSourceRoot(ceed, "include/")); // tests run in the top folder
  CHECK_OK(CeedQFunctionGetSourcePath(without, &found));
  CHECK(!strcmp(found, "include/ceed/jit-source/gallery/ceed-massapply.h"), "'%s'", found);
  CHECK_OK(CeedQFunctionDestroy(&without));
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

TEST_EACH_BACKEND(device_kernels_are_ignored_by_backends_that_cannot_use_them) {
  CeedQFunction qf = make(ceed);

  CHECK_OK(CeedQFunctionSetCUDAUserFunction(qf, NULL));
  CHECK_OK(CeedQFunctionSetHIPUserFunction(qf, NULL));
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

// ---- NULL ----

TEST(null_qfunctions_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref"), found = NULL;
  CeedQFunction qf = NULL;
  CeedQFunctionContext ctx = NULL;
  CeedInt n;
  CeedSize size;
  CeedEvalMode mode;
  const char *text = NULL;
  bool flag;
  CeedQFunctionUser f;

#define REFUSED(expr) CHECK_ERROR(NULL, expr, CEED_ERROR_INCOMPATIBLE, "NULL")
  REFUSED(CeedQFunctionCreateInterior(NULL, 1, multiply, "", &qf));
  REFUSED(CeedQFunctionCreateInteriorByName(NULL, "MassApply", &qf));
  REFUSED(CeedQFunctionCreateIdentity(NULL, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  REFUSED(CeedQFunctionReferenceCopy(NULL, &qf));
  REFUSED(CeedQFunctionAddInput(NULL, "u", 1, CEED_EVAL_NONE));
  REFUSED(CeedQFunctionAddOutput(NULL, "u", 1, CEED_EVAL_NONE));
  REFUSED(CeedQFunctionGetFields(NULL, &n, NULL, &n, NULL));
  REFUSED(CeedQFunctionFieldGetName(NULL, &text));
  REFUSED(CeedQFunctionFieldGetSize(NULL, &n));
  REFUSED(CeedQFunctionFieldGetEvalMode(NULL, &mode));
  REFUSED(CeedQFunctionFieldGetData(NULL, NULL, NULL, NULL));
  REFUSED(CeedQFunctionSetContext(NULL, NULL));
  REFUSED(CeedQFunctionSetContextWritable(NULL, true));
  REFUSED(CeedQFunctionApply(NULL, 1, NULL, NULL));
  REFUSED(CeedQFunctionSetUserFlopsEstimate(NULL, 1));
  REFUSED(CeedQFunctionSetNumViewTabs(NULL, 1));
  REFUSED(CeedQFunctionGetNumViewTabs(NULL, &n));
  REFUSED(CeedQFunctionView(NULL, stderr));
  REFUSED(CeedQFunctionGetCeed(NULL, &found));
  REFUSED(CeedQFunctionGetNumArgs(NULL, &n, &n));
  REFUSED(CeedQFunctionGetName(NULL, &text));
  REFUSED(CeedQFunctionGetKernelName(NULL, &text));
  REFUSED(CeedQFunctionGetSourcePath(NULL, &text));
  REFUSED(CeedQFunctionGetContext(NULL, &ctx));
  REFUSED(CeedQFunctionIsIdentity(NULL, &flag));
  REFUSED(CeedQFunctionIsContextWritable(NULL, &flag));
  REFUSED(CeedQFunctionIsImmutable(NULL, &flag));
  REFUSED(CeedQFunctionGetVectorLength(NULL, &n));
  REFUSED(CeedQFunctionGetUserFunction(NULL, &f));
  REFUSED(CeedQFunctionGetFlopsEstimate(NULL, &size));
  REFUSED(CeedQFunctionSetCUDAUserFunction(NULL, NULL));
  REFUSED(CeedQFunctionSetHIPUserFunction(NULL, NULL));
  REFUSED(CeedGetJitAbsolutePath(NULL, "file.h", &text));
#undef REFUSED
  CHECK(CeedQFunctionReturnCeed(NULL) == NULL && qf == NULL, "something comes of nothing");
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedDestroy(&ceed));
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(a_new_qfunction_has_nothing_but_its_function, the_source_names_file_and_function,
            names_that_are_not_in_the_gallery_are_refused, an_identity_has_two_fields_and_says_what_it_is,
            qfunctions_can_be_added_to_the_gallery, fields_keep_their_order_and_data,
            more_fields_than_the_standard_demands_are_possible, fields_that_make_no_sense_are_refused,
            use_ends_the_adding_of_fields_and_nothing_else, flops_are_not_negative,
            a_qfunction_is_applied_by_itself, helpers_of_qfunctions_are_called,
            applications_that_cannot_be_done_leave_vectors_free, codes_of_the_callers_function_come_back,
            what_a_qfunction_writes_to_its_context_is_seen,
            a_mark_that_a_qfunction_leaves_in_its_context_is_seen,
            a_context_that_is_lent_out_stops_the_application,
            a_context_that_is_only_read_may_have_other_readers, a_context_without_data_stops_the_application,
            contexts_are_counted_and_replaced, references_are_counted, a_view_shows_name_and_fields,
            a_file_path_is_checked_without_its_function, the_relative_path_begins_at_the_jit_sources,
            sources_are_looked_up_below_the_roots_in_their_order, a_root_without_a_slash_is_taken_whole,
            a_qfunction_finds_its_source_when_asked,
            device_kernels_are_ignored_by_backends_that_cannot_use_them, null_qfunctions_are_refused));
}
