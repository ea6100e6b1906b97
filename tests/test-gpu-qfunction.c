// SPDX-License-Identifier: BSD-2-Clause
// QFunctions on devices: sources give what the function pointer gives, contexts go where they are needed and
// come back when they are written, and a source that is missing or wrong is a clear error after which all
// goes on.
#include "backends/gpu/context.h"
#include "tests/gpu-kit.h"

#include "tests/gpu-qfunctions.h"
#include <stddef.h>
#include <sys/stat.h>

// ---- An operator at the points: v = f(u), three components ----

enum { NUM_ELEM = 5, POINTS = 7, SIZE = 3 * NUM_ELEM * POINTS };

// All handles are owned; ctx may be NULL.
typedef struct {
  Ceed ceed; // borrowed
  CeedElemRestriction rstr;
  CeedQFunctionContext ctx;
  CeedQFunction qf;
  CeedOperator op;
  CeedVector u, v;
} Pointwise;

// To be closed in any case.
static int open_pointwise(Ceed ceed, CeedQFunctionUser f, const char *source, const GpuContext *context,
                          Pointwise *p) {
  const CeedInt strides[3] = {1, NUM_ELEM * POINTS, POINTS};
  uint64_t seed = 17;
  double *u = reference_new_random(SIZE, &seed);

  *p = (Pointwise){.ceed = ceed, .u = reference_vector(ceed, SIZE, u)};
  free(u);
  CeedCall(CeedVectorCreate(ceed, SIZE, &p->v));
  CeedCall(CeedElemRestrictionCreateStrided(ceed, NUM_ELEM, POINTS, 3, SIZE, strides, &p->rstr));
  CeedCall(CeedQFunctionCreateInterior(ceed, 1, f, source, &p->qf));
  CeedCall(CeedQFunctionAddInput(p->qf, "u", 3, CEED_EVAL_NONE));
  CeedCall(CeedQFunctionAddOutput(p->qf, "v", 3, CEED_EVAL_NONE));
  if (context) {
    CeedCall(CeedQFunctionContextCreate(ceed, &p->ctx));
    CeedCall(CeedQFunctionContextSetData(p->ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(*context),
                                         (void *)context));
    CeedCall(CeedQFunctionContextRegisterDouble(p->ctx, "factor", offsetof(GpuContext, factor), 3, NULL));
    CeedCall(CeedQFunctionSetContext(p->qf, p->ctx));
    CeedCall(CeedQFunctionSetContextWritable(p->qf, false));
  }
  CeedCall(CeedOperatorCreate(ceed, p->qf, NULL, NULL, &p->op));
  CeedCall(CeedOperatorSetField(p->op, "u", p->rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  return CeedOperatorSetField(p->op, "v", p->rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE);
}

static void close_pointwise(Pointwise *p) {
  CeedOperatorDestroy(&p->op);
  CeedQFunctionDestroy(&p->qf);
  CeedQFunctionContextDestroy(&p->ctx);
  CeedElemRestrictionDestroy(&p->rstr);
  CeedVectorDestroy(&p->u);
  CeedVectorDestroy(&p->v);
}

static int apply(const Pointwise *p) { return CeedOperatorApply(p->op, p->u, p->v, CEED_REQUEST_IMMEDIATE); }

// Applies; v = factor u.
static void check_scales(const Pointwise *p, double factor) {
  double u[SIZE], v[SIZE];

  CHECK_OK(apply(p));
  reference_values(p->u, u);
  reference_values(p->v, v);
  for (int i = 0; i < SIZE; i++)
    CHECK_NEAR(v[i], factor * u[i], 2 * eps * (1 + fabs(factor)), "entry %d",
               i); // a product of rounded numbers
}

#define CHECK_SCALES(p, factor)                                                                              \
  do {                                                                                                       \
    check_scales((p), (factor));                                                                             \
    if (tap_failed()) return;                                                                                \
  } while (0)

static const GpuContext a_context = {.num_terms = GPU_NUM_TERMS,
                                     .factor = {1.5, -0.75, 2.25},
                                     .coefficient = {1, (CeedScalar)-0.5, (CeedScalar)0.25, 2, -1},
                                     .limit = {.is_on = true, .floor = (CeedScalar)0.125}};

// ---- What functions compute ----

static int compute(Ceed ceed, const GpuContext *context, double *v) {
  Pointwise p;
  int ierr = open_pointwise(ceed, GpuMathematics, GpuMathematics_loc, context, &p);

  if (!ierr) ierr = apply(&p);
  if (!ierr) reference_values(p.v, v);
  close_pointwise(&p);
  return ierr;
}

TEST_EACH_GPU(helpers_headers_contexts_and_mathematics_give_what_they_give_on_the_host) {
  Ceed reference = tap_ceed("/cpu/self/ref");

  for (int k = 0; k < 4; k++) {
    GpuContext context = a_context;
    double v[SIZE], wanted[SIZE];

    context.num_terms = GPU_NUM_TERMS - k;
    context.limit.is_on = k % 2 == 0;
    CHECK_OK(compute(ceed, &context, v));
    CHECK_OK(compute(reference, &context, wanted));
    // pow of OpenCL is good to 16 units in the last place; sums of a few such terms.
    CHECK_NEAR(reference_distance(SIZE, v, wanted), 0, 40 * eps * (1 + reference_largest(SIZE, wanted)),
               "case %d", k);
  }
  CeedDestroy(&reference);
}

TEST_EACH_GPU(a_qfunction_is_applied_to_vectors_by_itself) {
  Pointwise p;

  CHECK_OK(open_pointwise(ceed, GpuScale, GpuScale_loc, &a_context, &p));
  CHECK_OK(CeedQFunctionApply(p.qf, NUM_ELEM * POINTS, &p.u, &p.v));
  double u[SIZE], v[SIZE];
  reference_values(p.u, u);
  reference_values(p.v, v);
  for (int i = 0; i < SIZE; i++) CHECK_NEAR(v[i], 1.5 * u[i], 4 * eps, "entry %d", i);
  close_pointwise(&p);
}

TEST_EACH_GPU(a_function_without_a_pointer_runs_from_its_source) {
  Pointwise p;

  CHECK_OK(open_pointwise(ceed, NULL, GpuScale_loc, &a_context, &p));
  CHECK_SCALES(&p, 1.5);
  close_pointwise(&p);
}

// ---- Contexts ----

TEST_EACH_GPU(a_writable_context_comes_back_as_the_function_has_left_it) {
  Pointwise p;
  GpuContext *context = NULL;
  const GpuContext *read = NULL;

  CHECK_OK(open_pointwise(ceed, GpuSee, GpuSee_loc, &a_context, &p));
  CHECK_OK(CeedQFunctionSetContextWritable(p.qf, true));
  CHECK_SCALES(&p, 1.5);
  CHECK_OK(CeedQFunctionContextGetDataRead(p.ctx, CEED_MEM_HOST, &read));
  CHECK((double)read->seen == 3, "seen %g", (double)read->seen);
  CHECK(read->num_terms == a_context.num_terms && read->factor[2] == 2.25, "the rest has changed");
  CHECK_OK(CeedQFunctionContextRestoreDataRead(p.ctx, &read));
  CHECK_OK(CeedQFunctionContextGetData(p.ctx, CEED_MEM_HOST, &context));
  context->factor[0] = -4;
  CHECK_OK(CeedQFunctionContextRestoreData(p.ctx, &context));
  CHECK_SCALES(&p, -4);
  CHECK_OK(CeedQFunctionContextGetDataRead(p.ctx, CEED_MEM_HOST, &read));
  CHECK((double)read->seen == -8, "seen %g", (double)read->seen);
  CHECK_OK(CeedQFunctionContextRestoreDataRead(p.ctx, &read));
  close_pointwise(&p);
}

TEST_EACH_GPU(a_context_that_is_only_read_goes_to_the_device_once_and_never_comes_back) {
  Pointwise p;
  const GpuContext *read = NULL;

  CHECK_OK(open_pointwise(ceed, GpuScale, GpuScale_loc, &a_context, &p));
  CHECK_OK(apply(&p));
  const RitzDeviceCounters before = counters_of(ceed);
  for (int i = 0; i < 3; i++) CHECK_OK(apply(&p));
  CHECK_OK(CeedQFunctionContextGetDataRead(p.ctx, CEED_MEM_HOST, &read));
  CHECK(!memcmp(read, &a_context, sizeof(a_context)), "the context has changed");
  CHECK_OK(CeedQFunctionContextRestoreDataRead(p.ctx, &read));
  const RitzDeviceCounters after = counters_of(ceed);
  CHECK(after.bytes_in == before.bytes_in && after.bytes_out == before.bytes_out, "%lld bytes in, %lld out",
        (long long)(after.bytes_in - before.bytes_in), (long long)(after.bytes_out - before.bytes_out));
  close_pointwise(&p);
}

TEST_EACH_GPU(changes_of_a_context_between_applications_are_seen) {
  Pointwise p;
  GpuContext *context = NULL, other = a_context;
  CeedContextFieldLabel label = NULL;
  double factors[3] = {0.25, 1, 1};

  CHECK_OK(open_pointwise(ceed, GpuScale, GpuScale_loc, &a_context, &p));
  CHECK_SCALES(&p, 1.5);
  CHECK_OK(CeedQFunctionContextGetData(p.ctx, CEED_MEM_HOST, &context));
  context->factor[0] = 3;
  CHECK_OK(CeedQFunctionContextRestoreData(p.ctx, &context));
  CHECK_SCALES(&p, 3);
  CHECK_OK(CeedOperatorGetContextFieldLabel(p.op, "factor", &label));
  CHECK_OK(CeedOperatorSetContextDouble(p.op, label, factors));
  CHECK_SCALES(&p, 0.25);
  other.factor[0] = -7;
  CHECK_OK(CeedQFunctionContextSetData(p.ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(other), &other));
  CHECK_SCALES(&p, -7);
  close_pointwise(&p);
}

// ---- Sources that are not there ----

#define THRICE                                                                                               \
  "#include <ceed/types.h>\n"                                                                                \
  "CEED_QFUNCTION(thrice)(void *ctx, const CeedInt Q, const CeedScalar *const *in,\n"                        \
  "                       CeedScalar *const *out) {\n"
#define THRICE_END                                                                                           \
  "  for (CeedInt i = 0; i < 3 * Q; i++) out[0][i] = 3 * in[0][i];\n"                                        \
  "  return 0;\n"                                                                                            \
  "}\n"

static int thrice(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < 3 * Q; i++) out[0][i] = 3 * in[0][i];
  return CEED_ERROR_SUCCESS;
}

static int open_thrice(Ceed ceed, const char *path, Pointwise *p) {
  char source[1024];

  snprintf(source, sizeof(source), "%s:thrice", path);
  return open_pointwise(ceed, thrice, source, NULL, p);
}

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");

  CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0, "cannot write %s", path);
}

// Another operator of the same context.
static void check_others_work(Ceed ceed) {
  Pointwise p;

  CHECK_OK(open_pointwise(ceed, GpuScale, GpuScale_loc, &a_context, &p));
  CHECK_SCALES(&p, 1.5);
  close_pointwise(&p);
}

TEST_EACH_GPU(a_source_that_is_not_there_is_named_and_works_once_it_is) {
  const char *path = tap_temp_file("missing.h", NULL, 0);
  Pointwise p;

  CHECK_OK(open_thrice(ceed, path, &p));
  CHECK_ERROR(ceed, apply(&p), CEED_ERROR_MAJOR, path);
  CHECK_ERROR(ceed, apply(&p), CEED_ERROR_MAJOR, path);
  check_others_work(ceed);
  if (tap_failed()) return;
  write_text(path, THRICE THRICE_END);
  CHECK_SCALES(&p, 3);
  close_pointwise(&p);
}

TEST_EACH_GPU(a_function_without_a_source_is_refused) {
  Pointwise p;

  CHECK_OK(open_pointwise(ceed, thrice, "", NULL, &p));
  CHECK_ERROR(ceed, apply(&p), CEED_ERROR_BACKEND, "source");
  check_others_work(ceed);
  if (tap_failed()) return;
  CHECK_ERROR(ceed, apply(&p), CEED_ERROR_BACKEND, "source");
  close_pointwise(&p);
}

TEST_EACH_GPU(what_is_no_name_of_a_function_is_refused) {
  static const char *const names[] = {"", "3x", "a b", "../x", "thrice()"};
  const char *path = tap_temp_text("thrice.h", THRICE THRICE_END);
  char source[1024];
  Pointwise p;

  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    snprintf(source, sizeof(source), "%s:%s", path, names[i]);
    CHECK_OK(open_pointwise(ceed, thrice, source, NULL, &p));
    CHECK_ERROR(ceed, apply(&p), CEED_ERROR_BACKEND, "needed 'file:function'");
    close_pointwise(&p);
  }
}

TEST_EACH_GPU(a_source_that_is_no_regular_file_is_not_read) {
  const char *pipe = tap_temp_file("pipe.h", NULL, 0);
  Pointwise p;

  CHECK(!mkfifo(pipe, 0600), "no pipe");
  CHECK_OK(open_thrice(ceed, pipe, &p));
  CHECK_ERROR(ceed, apply(&p), CEED_ERROR_MAJOR, "is not a regular file");
  close_pointwise(&p);
  CHECK_OK(open_thrice(ceed, "/dev/zero", &p));
  CHECK_ERROR(ceed, apply(&p), CEED_ERROR_MAJOR, "is not a regular file");
  check_others_work(ceed);
  close_pointwise(&p);
}

TEST_EACH_GPU(a_header_that_is_not_there_is_named) {
  const char *path = tap_temp_text("including.h", "#include \"nowhere-at-all.h\"\n" THRICE THRICE_END);
  Pointwise p;

  CHECK_OK(open_thrice(ceed, path, &p));
  CHECK_ERROR(ceed, apply(&p), CEED_ERROR_MAJOR, "nowhere-at-all.h");
  check_others_work(ceed);
  close_pointwise(&p);
}

// ---- Sources that are unusual ----

static void check_thrice(Ceed ceed, const char *path) {
  Pointwise p;

  CHECK_OK(open_thrice(ceed, path, &p));
  CHECK_SCALES(&p, 3);
  close_pointwise(&p);
}

TEST_EACH_GPU(files_of_any_name_are_read) {
  check_thrice(ceed, tap_temp_text("a \"name\" with\\blanks and quotes.h", THRICE THRICE_END));
  if (!tap_failed()) check_thrice(ceed, tap_temp_text("a\n#error \"name\"\nof lines.h", THRICE THRICE_END));
}

TEST_EACH_GPU(headers_named_like_those_of_the_standard_are_taken_in) {
  const char *path = tap_temp_text("with-std.h", "#include <stdlib.h>\n#include <string.h>\n"
                                                 "#include \"std-factor.h\"\n" THRICE
                                                 "  if (FACTOR != 3) return 1;\n" THRICE_END);
  char header[1024];
  Pointwise p;

  snprintf(header, sizeof(header), "%.*s/std-factor.h", (int)(strrchr(path, '/') - path), path);
  write_text(header, "#define FACTOR 3\n");
  CHECK_OK(open_thrice(ceed, path, &p));
  const int ierr = apply(&p);
  remove(header);
  CHECK_OK(ierr);
  CHECK_SCALES(&p, 3);
  close_pointwise(&p);
}

TEST_EACH_GPU(a_source_can_ask_whether_it_is_compiled_for_a_device) {
  check_thrice(ceed, tap_temp_text("asking.h",
                                   THRICE "#if !CEED_RUNNING_JIT_PASS\n#error host\n#endif\n" THRICE_END));
}

TEST_EACH_GPU(a_function_may_have_the_name_of_our_kernel) {
  const char *path = tap_temp_text("named.h", "#define thrice qfunction\n" THRICE THRICE_END);
  char source[1024];
  Pointwise p;

  snprintf(source, sizeof(source), "%s:qfunction", path);
  CHECK_OK(open_pointwise(ceed, thrice, source, NULL, &p));
  CHECK_SCALES(&p, 3);
  close_pointwise(&p);
}

// ---- Sources that are wrong ----

// OpenCL does not say that compilers must heed #line; NVIDIA's does not.
static int heeds_line(Ceed ceed) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  return gpu->driver == &ritz_cuda || strstr(gpu->info->version, "PoCL");
}

// Compilers write file:line or file(line).
static void check_refused_at(const Pointwise *p, const char *path, int line) {
  char clang[1200], nvidia[1200];
  const char *message = "";

  snprintf(clang, sizeof(clang), "%s:%d", path, line);
  snprintf(nvidia, sizeof(nvidia), "%s(%d)", path, line);
  CHECK_ERROR(p->ceed, apply(p), CEED_ERROR_BACKEND, heeds_line(p->ceed) ? path : "thrice");
  CHECK_OK(CeedGetErrorMessage(p->ceed, &message));
  CHECK(!heeds_line(p->ceed) || strstr(message, clang) || strstr(message, nvidia), "not line %d: '%s'", line,
        message);
  CHECK(strstr(message, "thrice"), "the function is not named: '%s'", message);
}

TEST_EACH_GPU(an_error_in_a_source_is_shown_with_file_and_line_and_can_be_repaired) {
  const char *path = tap_temp_text("wrong.h", THRICE "  CeedScalar x = nothing_of_this_name;\n" THRICE_END);
  Pointwise p;

  CHECK_OK(open_thrice(ceed, path, &p));
  check_refused_at(&p, path, 4);
  if (tap_failed()) return;
  check_others_work(ceed);
  if (tap_failed()) return;
  write_text(path, THRICE "  (void)ctx;\n" THRICE_END);
  CHECK_SCALES(&p, 3);
  close_pointwise(&p);
}

TEST_EACH_GPU(an_error_in_an_included_header_is_shown_with_its_file_and_line) {
  const char *header = tap_temp_text("inner.h", "#pragma once\n\n\nint 3x;\n");
  char text[2048];
  Pointwise p;

  snprintf(text, sizeof(text), "#include \"%s\"\n" THRICE THRICE_END, strrchr(header, '/') + 1);
  const char *path = tap_temp_text("outer.h", text);
  CHECK_OK(open_thrice(ceed, path, &p));
  check_refused_at(&p, header, 4);
  close_pointwise(&p);
}

TEST_EACH_GPU(lines_are_right_after_headers_in_branches_that_are_not_compiled) {
  const char *header = tap_temp_text("hidden.h", "#pragma once\n\n\n\n#if 1\nint unused;\n#endif\n");
  char text[2048];
  Pointwise p;

  snprintf(text, sizeof(text),
           "#ifndef CEED_RUNNING_JIT_PASS\n#include <math.h>\n#include \"%s\"\n"
           "#include \"nowhere-at-all.h\" // for the host\n#else\n#endif\n"
           "CEED_QFUNCTION(thrice)(void *ctx, const CeedInt Q, const CeedScalar *const *in,\n"
           "                       CeedScalar *const *out) {\n"
           "  return nothing_of_this_name;\n}\n",
           strrchr(header, '/') + 1);
  const char *path = tap_temp_text("hiding.h", text);
  CHECK_OK(open_thrice(ceed, path, &p));
  check_refused_at(&p, path, 9);
  close_pointwise(&p);
}

TEST_EACH_GPU(a_source_without_the_function_is_refused) {
  const char *path = tap_temp_text("other.h", "#include <ceed/types.h>\n");
  const CeedScalar *array = NULL;
  Pointwise p;

  CHECK_OK(open_thrice(ceed, path, &p));
  CHECK_OK(CeedVectorSetValue(p.v, 7));
  CHECK_ERROR(ceed, apply(&p), CEED_ERROR_BACKEND, "thrice");
  if (CeedVectorGetArrayRead(p.v, CEED_MEM_HOST, &array)) { // zeros would look like a result
    CHECK_ERROR(ceed, CeedVectorGetArrayRead(p.v, CEED_MEM_HOST, &array), CEED_ERROR_BACKEND,
                "because an action that writes to it failed");
  } else {
    CHECK(array[0] == 7 && array[SIZE - 1] == 7, "neither what was there nor nothing");
    CHECK_OK(CeedVectorRestoreArrayRead(p.v, &array));
  }
  check_others_work(ceed);
  close_pointwise(&p);
}

// ---- Contexts of unusual sources ----

TEST_EACH_GPU(a_context_of_no_bytes_is_none) {
  const char *path = tap_temp_text("no-context.h", THRICE "  if (ctx) return 1;\n" THRICE_END);
  Pointwise p;

  CHECK_OK(open_thrice(ceed, path, &p));
  CHECK_OK(CeedQFunctionContextCreate(ceed, &p.ctx));
  CHECK_OK(CeedQFunctionContextSetData(p.ctx, CEED_MEM_HOST, CEED_COPY_VALUES, 0, NULL));
  CHECK_OK(CeedQFunctionSetContext(p.qf, p.ctx));
  CHECK_SCALES(&p, 3);
  CHECK_OK(CeedQFunctionSetContext(p.qf, NULL));
  CHECK_SCALES(&p, 3);
  close_pointwise(&p);
}

// Points that write nothing take nothing back.
TEST_EACH_GPU(what_one_point_writes_to_a_context_stays) {
  const char *path =
      tap_temp_text("marking.h", THRICE "  if (in[0][0] == 7) ((double *)ctx)[1] = 5;\n" THRICE_END);
  double data[2] = {1, 2}, *read = NULL;
  CeedScalar *u = NULL;
  Pointwise p;

  CHECK_OK(open_thrice(ceed, path, &p));
  CHECK_OK(CeedQFunctionContextCreate(ceed, &p.ctx));
  CHECK_OK(CeedQFunctionContextSetData(p.ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), data));
  CHECK_OK(CeedQFunctionSetContext(p.qf, p.ctx));
  for (int i = 0; i < NUM_ELEM * POINTS; i++) {
    CHECK_OK(CeedVectorSetValue(p.u, 1));
    CHECK_OK(CeedVectorGetArray(p.u, CEED_MEM_HOST, &u));
    u[i] = 7;
    CHECK_OK(CeedVectorRestoreArray(p.u, &u));
    CHECK_OK(CeedQFunctionContextSetData(p.ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), data));
    CHECK_SCALES(&p, 3);
    CHECK_OK(CeedQFunctionContextGetDataRead(p.ctx, CEED_MEM_HOST, &read));
    CHECK(read[0] == 1 && read[1] == 5, "point %d: %g %g", i, read[0], read[1]);
    CHECK_OK(CeedQFunctionContextRestoreDataRead(p.ctx, &read));
  }
  close_pointwise(&p);
}

// ---- Assembly ----

// Components outside of elements: 3 x 3 of them.
static void check_derivatives(CeedOperator op) {
  CeedVector assembled = NULL;
  CeedElemRestriction rstr = NULL;
  const CeedScalar *D = NULL;

  CHECK_OK(CeedOperatorLinearAssembleQFunction(op, &assembled, &rstr, CEED_REQUEST_IMMEDIATE));
  CHECK(vector_length(assembled) == 3 * SIZE, "%td entries", vector_length(assembled));
  CHECK_OK(CeedVectorGetArrayRead(assembled, CEED_MEM_HOST, &D));
  for (int i = 0; i < 3 * SIZE; i++) {
    const int component = i / (NUM_ELEM * POINTS);
    CHECK((double)D[i] == (component % 4 == 0 ? 1.5 : 0), "entry %d is %g", i, (double)D[i]);
  }
  CHECK_OK(CeedVectorRestoreArrayRead(assembled, &D));
  CHECK_OK(CeedVectorDestroy(&assembled));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
}

// Nothing is left to the host, which RITZ_STRICT would refuse.
TEST_EACH_GPU(assembly_runs_from_the_source_and_asks_for_no_pointer) {
  Pointwise p;

  setenv("RITZ_STRICT", "1", 1);
  Ceed strict = tap_ceed(resource_of(ceed));
  unsetenv("RITZ_STRICT");
  for (int has_pointer = 0; has_pointer < 2 && !tap_failed(); has_pointer++) {
    CHECK_OK(open_pointwise(strict, has_pointer ? GpuScale : NULL, GpuScale_loc, &a_context, &p));
    check_derivatives(p.op);
    CHECK_SCALES(&p, 1.5);
    close_pointwise(&p);
  }
  CHECK_OK(CeedDestroy(&strict));
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(helpers_headers_contexts_and_mathematics_give_what_they_give_on_the_host,
            a_qfunction_is_applied_to_vectors_by_itself, a_function_without_a_pointer_runs_from_its_source,
            a_writable_context_comes_back_as_the_function_has_left_it,
            a_context_that_is_only_read_goes_to_the_device_once_and_never_comes_back,
            changes_of_a_context_between_applications_are_seen,
            a_source_that_is_not_there_is_named_and_works_once_it_is, a_function_without_a_source_is_refused,
            what_is_no_name_of_a_function_is_refused, a_header_that_is_not_there_is_named,
            a_source_that_is_no_regular_file_is_not_read,
            an_error_in_a_source_is_shown_with_file_and_line_and_can_be_repaired,
            an_error_in_an_included_header_is_shown_with_its_file_and_line,
            lines_are_right_after_headers_in_branches_that_are_not_compiled, files_of_any_name_are_read,
            headers_named_like_those_of_the_standard_are_taken_in,
            a_source_can_ask_whether_it_is_compiled_for_a_device, a_function_may_have_the_name_of_our_kernel,
            a_context_of_no_bytes_is_none, what_one_point_writes_to_a_context_stays,
            a_source_without_the_function_is_refused, assembly_runs_from_the_source_and_asks_for_no_pointer));
}
