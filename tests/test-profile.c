// SPDX-License-Identifier: BSD-2-Clause
// The timing table of RITZ_PROFILE: programs run in processes of their own, started from this file, and what
// they print at exit is read: which rows there are, what is counted in them, that the numbers of a row fit
// together.
#include "tests/tap.h"

#include "base/memory.h"
#include "machine/machine.h"
#include "tests/gen-kit.h"
#include "tests/random-points.h"
#include "tests/small-operator.h"
#include <math.h>
#include <pthread.h>
#include <ritz/precision.h>
#include <ritz/vector.h>
#include <time.h>

// ---- Children: `test-profile --child NAME RESOURCE`. A call that fails aborts ----

enum {
  NUM_ACTIVE = 3,
  NUM_MANY = 200,
  NUM_THREADS = 4,
  NUM_PER_THREAD = 100,
  NUM_LINE = 60000,
  NUM_SLEEPS = 6,
  NUM_PASSES = 5
};

static CeedOperator named_operator(Ceed ceed, const Small *small, const char *name) {
  CeedOperator op = NULL;

  CeedOperatorCreate(ceed, small->qf, NULL, NULL, &op);
  small_set_fields(op, small);
  if (name) CeedOperatorSetName(op, name);
  return op;
}

static void apply(const Small *small, CeedOperator op, int num) {
  for (int i = 0; i < num; i++) CeedOperatorApply(op, small->u, small->v, CEED_REQUEST_IMMEDIATE);
}

// "one": each kind of apply. "twin": two operators. Without a name: the QFunction's.
static void apply_all(Ceed ceed, const Small *small) {
  CeedOperator one = named_operator(ceed, small, "one"), none = named_operator(ceed, small, NULL);

  CeedOperatorApply(one, small->u, small->v, CEED_REQUEST_IMMEDIATE);
  CeedOperatorApplyAdd(one, small->u, small->v, CEED_REQUEST_IMMEDIATE);
  CeedOperatorApplyAddActive(one, small->u, small->v, CEED_REQUEST_IMMEDIATE);
  apply(small, none, 2);
  for (int i = 0; i < 2; i++) {
    CeedOperator twin = named_operator(ceed, small, "twin");

    apply(small, twin, 5);
    CeedOperatorDestroy(&twin);
  }
  CeedOperatorDestroy(&one);
  CeedOperatorDestroy(&none);
}

static void apply_composite(Ceed ceed, const Small *small) {
  CeedOperator composite = NULL, left = named_operator(ceed, small, "left"),
               right = named_operator(ceed, small, "right");

  CeedOperatorCreateComposite(ceed, &composite);
  CeedOperatorSetName(composite, "both");
  CeedOperatorCompositeAddSub(composite, left);
  CeedOperatorCompositeAddSub(composite, right);
  apply(small, composite, 4);
  CeedOperatorLinearAssembleDiagonal(composite, small->v, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&composite);
  CeedOperatorDestroy(&left);
  CeedOperatorDestroy(&right);
}

static void assemble(Ceed ceed, const Small *small) {
  CeedOperator op = named_operator(ceed, small, "assembled");

  for (int i = 0; i < 3; i++) CeedOperatorLinearAssembleDiagonal(op, small->v, CEED_REQUEST_IMMEDIATE);
  CeedOperatorLinearAssembleAddDiagonal(op, small->v, CEED_REQUEST_IMMEDIATE);
  CeedOperatorLinearAssemblePointBlockDiagonal(op, small->v, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&op);
}

static void run_all(Ceed ceed) {
  Small small;

  small_open(ceed, &small);
  apply_all(ceed, &small);
  apply_composite(ceed, &small);
  assemble(ceed, &small);
  small_close(&small);
}

static void run_nothing(Ceed ceed) { (void)ceed; }

static void run_points(Ceed ceed) {
  PointsOperator r;

  for (uint64_t seed = 1, state = 1;; state = ++seed) {
    if (points_operator_create(ceed, &(PointsOptions){.num_active_in = 1, .num_active_out = 1}, &state, &r))
      abort();
    if (r.num_elem > 0 && r.num_points > 0) break;
    points_operator_destroy(&r);
  }
  CeedVector u = vector_of(ceed, r.input_size, NULL), v = vector_of(ceed, r.output_size, NULL);
  CeedVectorSetValue(u, 1);
  CeedOperatorSetName(r.op, "points");
  for (int i = 0; i < 3; i++) CeedOperatorApply(r.op, u, v, CEED_REQUEST_IMMEDIATE);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  points_operator_destroy(&r);
}

// Exits with everything alive, and within reach: what is still pointed to is no leak. (Volatile: a variable
// that nobody reads is dropped otherwise.)
static void run_and_leave(Ceed ceed) {
  static Small small;
  static CeedOperator volatile op;

  small_open(ceed, &small);
  op = named_operator(ceed, &small, "left");
  apply(&small, op, NUM_MANY);
  exit(0);
}

// A line of many elements: v_i = sum of u qd w at the points.
static void run_line(Ceed ceed) {
  CeedInt *offsets = malloc(2 * NUM_LINE * sizeof(*offsets));
  Small s;

  for (CeedInt i = 0; i < 2 * NUM_LINE; i++) offsets[i] = i / 2 + i % 2;
  small_open(ceed, &s);
  CeedBasisDestroy(&s.basis);
  CeedElemRestrictionDestroy(&s.rstr_u);
  CeedElemRestrictionDestroy(&s.rstr_q);
  CeedVectorDestroy(&s.u);
  CeedVectorDestroy(&s.v);
  CeedVectorDestroy(&s.qd);
  CeedElemRestrictionCreate(ceed, NUM_LINE, 2, 1, 1, NUM_LINE + 1, CEED_MEM_HOST, CEED_COPY_VALUES, offsets,
                            &s.rstr_u);
  CeedElemRestrictionCreateStrided(ceed, NUM_LINE, 2, 1, 2 * NUM_LINE, CEED_STRIDES_BACKEND, &s.rstr_q);
  CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 2, CEED_GAUSS, &s.basis);
  s.u = vector_of(ceed, NUM_LINE + 1, NULL);
  s.v = vector_of(ceed, NUM_LINE + 1, NULL);
  s.qd = vector_of(ceed, 2 * NUM_LINE, NULL);
  CeedVectorSetValue(s.u, 1);
  CeedVectorSetValue(s.qd, 1);
  CeedOperator op = named_operator(ceed, &s, "line");
  apply(&s, op, 21);
  CeedOperatorDestroy(&op);
  small_close(&s);
  free(offsets);
}

static void run_line_with_limits(Ceed ceed) {
  const RitzMachineEffort effort = {.seconds = 0.001, .max_bytes = 8 << 20};
  RitzMachine machine;

  if (ritz_machine_get(false, effort, &machine)) abort();
  run_line(ceed);
}

// A function that takes 60 ms when it is first called, then 2 ms, and fails the last time.
static int num_sleeps;
static int sleeper(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const long ms = num_sleeps < SMALL_ELEM ? 30 : 1;

  (void)ctx;
  nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[0][i];
  return num_sleeps++ == SMALL_ELEM * NUM_SLEEPS;
}

static void run_sleeper(Ceed ceed) {
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  Small small;

  small_open(ceed, &small);
  CeedQFunctionCreateInterior(ceed, 1, sleeper, "", &qf);
  CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  CeedOperatorCreate(ceed, qf, NULL, NULL, &op);
  CeedOperatorSetName(op, "sleeper");
  CeedOperatorSetField(op, "u", small.rstr_u, small.basis, CEED_VECTOR_ACTIVE);
  CeedOperatorSetField(op, "v", small.rstr_u, small.basis, CEED_VECTOR_ACTIVE);
  apply(&small, op, NUM_SLEEPS);
  CeedSetErrorHandler(ceed, CeedErrorReturn);
  if (!CeedOperatorApply(op, small.u, small.v, CEED_REQUEST_IMMEDIATE)) abort(); // is not counted
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  small_close(&small);
}

static void *run_thread(void *resource) {
  Ceed ceed = NULL;
  Small small;

  if (CeedInit(resource, &ceed)) abort();
  small_open(ceed, &small);
  CeedOperator op = named_operator(ceed, &small, "threads");
  apply(&small, op, NUM_PER_THREAD);
  CeedOperatorDestroy(&op);
  small_close(&small);
  CeedDestroy(&ceed);
  return NULL;
}

static void run_threads(Ceed ceed) {
  pthread_t threads[NUM_THREADS];
  const char *resource = NULL;

  CeedGetResource(ceed, &resource);
  for (int i = 0; i < NUM_THREADS; i++)
    if (pthread_create(&threads[i], NULL, run_thread, (void *)resource)) abort();
  for (int i = 0; i < NUM_THREADS; i++) pthread_join(threads[i], NULL);
}

// A child that leaves by exit() says nothing of what its parent has counted.
static void run_fork(Ceed ceed) {
  Small small;
  int status;

  small_open(ceed, &small);
  apply(&small, small.op, 2);
  const pid_t child = fork();
  if (child == 0) exit(0);
  if (waitpid(child, &status, 0) != child || status) abort();
  small_close(&small);
}

static CeedVector ones(Ceed ceed, CeedScalarType precision) {
  CeedVector v = NULL;

  if (RitzVectorCreate(ceed, NUM_LINE, precision, &v) || CeedVectorSetValue(v, 1)) abort();
  return v;
}

// Products and sums in each precision, with numbers of the host and of the device; one of no entries, one
// that fails.
static void run_passes(Ceed ceed) {
  const CeedScalarType types[] = {CEED_SCALAR_FP32, CEED_SCALAR_FP64};
  const int num_types = CEED_SCALAR_TYPE == CEED_SCALAR_FP32 ? 1 : 2;
  RitzScalars scalars = NULL;
  double product = 0;

  if (RitzScalarsCreate(ceed, 1, &scalars)) abort();
  for (int t = 0; t < num_types; t++) {
    CeedVector x = ones(ceed, types[t]), y = ones(ceed, types[t]);

    for (int i = 0; i < NUM_PASSES; i++) {
      if (RitzVectorSum(y, 2, x, 1, y) || RitzVectorDotTo(x, y, scalars, 0)) abort();
      if (RitzVectorDot(x, y, &product) || product != (2 * i + 3) * (double)NUM_LINE) abort();
    }
    if (RitzVectorDotRange(x, y, 1, 0, &product)) abort();
    CeedSetErrorHandler(ceed, CeedErrorReturn);
    if (!RitzVectorDotTo(x, y, scalars, 1)) abort();
    CeedVectorDestroy(&x);
    CeedVectorDestroy(&y);
  }
  RitzScalarsDestroy(&scalars);
}

static const struct {
  const char *name;
  void (*run)(Ceed ceed);
} programs[] = {
    {"all", run_all},   {"nothing", run_nothing},         {"points", run_points},   {"leave", run_and_leave},
    {"line", run_line}, {"limits", run_line_with_limits}, {"sleeper", run_sleeper}, {"threads", run_threads},
    {"fork", run_fork}, {"passes", run_passes},
};

static int run_program(const char *name, const char *resource) {
  Ceed ceed = NULL;
  size_t i = 0;

  while (strcmp(programs[i].name, name)) i++;
  if (CeedInit(resource, &ceed)) return 3;
  programs[i].run(ceed);
  CeedDestroy(&ceed);
  return ritz_memory_live() == 0 ? 0 : 4; // rows are none of the library's memory
}

// ---- Running children ----

static const char *own_path;
static char table[16384]; // what the child has printed

static void read_table(FILE *file) {
  rewind(file);
  table[fread(table, 1, sizeof(table) - 1, file)] = '\0';
}

// Leaves the child's stderr in `table`.
static void run(const char *program, const char *resource, const char *profile) {
  FILE *errors = tmpfile();
  int status = -1;

  CHECK(errors, "no temporary file");
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    unsetenv("CEED_ERROR_HANDLER");
    unsetenv("RITZ_PROFILE");
    if (profile) setenv("RITZ_PROFILE", profile, 1);
    if (dup2(fileno(errors), STDERR_FILENO) < 0) _exit(99);
    execl(own_path, own_path, "--child", program, resource, (char *)NULL);
    _exit(98);
  }
  if (child > 0 && waitpid(child, &status, 0) != child) status = -1;
  read_table(errors);
  fclose(errors);
  CHECK(status == 0, "%s on %s: status %d, printed:\n%s", program, resource, status, table);
}

#define RUN(program, resource, profile)                                                                      \
  do {                                                                                                       \
    run((program), (resource), (profile));                                                                   \
    if (tap_failed()) return;                                                                                \
  } while (0)

// ---- Reading tables ----

// A row; numbers that are not known are NaN.
typedef struct {
  char resource[64];
  double elements, size, calls, total, first, mean, gbytes, gflops, limit;
  char bound[16];
} Row;

static bool read_number(const char **text, double *value) {
  char word[32];
  int length;

  if (sscanf(*text, "%31s%n", word, &length) != 1) return false;
  *text += length;
  *value = strcmp(word, "-") ? strtod(word, NULL) : NAN;
  return true;
}

// The text behind a name at the start of a line and its blanks; NULL: there is none.
static const char *behind(const char *line, const char *name) {
  const size_t length = strlen(name);

  if (strncmp(line, name, length) || line[length] != ' ') return NULL;
  return line + length + strspn(line + length, " ");
}

static bool read_row(const char *line, const char *name, const char *action, Row *row) {
  double *const numbers[] = {&row->elements, &row->size,   &row->calls,  &row->total, &row->first,
                             &row->mean,     &row->gbytes, &row->gflops, &row->limit};
  int length;

  line = behind(line, name);
  if (!line || sscanf(line, "%63s %n", row->resource, &length) != 1) return false;
  line = behind(line + length, action);
  for (size_t i = 0; line && i < sizeof(numbers) / sizeof(numbers[0]); i++)
    if (!read_number(&line, numbers[i])) return false;
  return line && sscanf(line, "%15s", row->bound) == 1;
}

// Number of rows of this name; the last one is kept.
static int find_rows(const char *name, const char *action, Row *row) {
  int num = 0;

  for (const char *line = table; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    num += read_row(line, name, action, row);
  }
  return num;
}

// One row with so many calls of so many operators: what it says of times agrees, as far as its digits go.
static void check_row(const char *name, const char *action, double calls, double num_first) {
  Row r;
  const int num = find_rows(name, action, &r);

  CHECK(num == 1, "%d rows for '%s', %s, in\n%s", num, name, action, table);
  CHECK(r.calls == calls, "%s, %s: %g calls, not %g", name, action, r.calls, calls);
  CHECK(r.first >= 0 && r.first <= r.total, "%s, %s: %g s of %g s in first calls", name, action, r.first,
        r.total);
  CHECK(isnan(r.mean) == (calls == num_first), "%s, %s: mean %g", name, action, r.mean);
  if (calls == num_first) return;
  // half a unit of the last digit, of both times and of the mean
  CHECK_NEAR(r.total - r.first, 1e-6 * r.mean * (calls - num_first), 1.01e-4 + 0.5e-8 * calls, "%s, %s", name,
             action);
}

// ---- Tests ----

TEST_EACH_BACKEND(every_apply_and_diagonal_is_counted_in_the_row_of_its_operator) {
  const char *resource = NULL;

  gen_begin();
  CHECK_OK(CeedGetResource(ceed, &resource));
  RUN("all", resource, "1");
  check_row("one", "apply", NUM_ACTIVE, 1);
  check_row("twin", "apply", 10, 2);
  check_row("SmallScale", "apply", 2, 1);
  check_row("left", "apply", 4, 1);
  check_row("right", "apply", 4, 1);
  check_row("left", "diagonal", 1, 1);
  check_row("assembled", "diagonal", 4, 1);
  check_row("assembled", "point blocks", 1, 1);
  Row row;
  CHECK(find_rows("both", "apply", &row) == 0, "a composite has a row beside its parts");
  CHECK(find_rows("one", "apply", &row) == 1 && !strcmp(row.resource, resource), "on '%s'", row.resource);
  CHECK(row.elements == SMALL_ELEM && row.size == SMALL_NODES, "%g elements, size %g", row.elements,
        row.size);
}

TEST_EACH_BACKEND(operators_at_points_are_counted) {
  const char *resource = NULL;

  gen_begin();
  CHECK_OK(CeedGetResource(ceed, &resource));
  RUN("points", resource, "1");
  check_row("points", "apply", 3, 1);
}

TEST_EACH_BACKEND(a_program_that_leaves_with_a_context_has_its_table) {
  const char *resource = NULL;

  gen_begin();
  CHECK_OK(CeedGetResource(ceed, &resource));
  RUN("leave", resource, "1");
  check_row("left", "apply", NUM_MANY, 1);
}

TEST(the_first_call_is_apart_and_calls_that_fail_are_not_counted) {
  Row row;

  RUN("sleeper", "/cpu/self/ref", "1");
  check_row("sleeper", "apply", NUM_SLEEPS, 1);
  CHECK(find_rows("sleeper", "apply", &row) == 1, "no row");
  CHECK(row.first >= 0.06, "slept 60 ms, took %g s", row.first);
  CHECK(row.mean >= 2000, "slept 2 ms, took %g us", row.mean);
  CHECK(row.mean < 1e6 * row.first, "the first call, of %g s, is in the mean of %g us", row.first, row.mean);
  CHECK(isnan(row.gbytes) && isnan(row.gflops) && isnan(row.limit), "rates without a plan");
}

// 8 flops of each evaluation, forwards and backwards, 4 of the function; 8 bytes of 2 stored values, 1 entry
// read and 1 updated, at most 2 offsets of 4 bytes (one, when they are known to be neighbours).
TEST(rates_are_the_least_work_by_the_mean_time) {
  const double E = NUM_LINE, s = sizeof(CeedScalar), rounding = 0.01;
  Row r;

  GEN_NEEDS_COMPILER();
  RUN("line", "/cpu/self/gen", "1");
  check_row("line", "apply", 21, 1);
  CHECK(find_rows("line", "apply", &r) == 1, "no row");
  const double bytes = 1e3 * r.gbytes * r.mean / E, flops = 1e3 * r.gflops * r.mean / E;
  const double bytes_off = 1e3 * rounding * r.mean / E + 1e-4 * bytes,
               flops_off = 1e3 * rounding * r.mean / E + 1e-4 * flops;
  CHECK_NEAR(flops, 20, flops_off, "flops of an element, in\n%s", table);
  CHECK(bytes >= 5 * s + 4 - bytes_off && bytes <= 5 * s + 8 + bytes_off, "%g bytes of an element, in\n%s",
        bytes, table);
}

// Rates of a row times its mean, for an entry.
static void check_pass(const char *name, double calls, double bytes, double flops) {
  const double N = NUM_LINE, rounding = 0.006;
  Row r;

  check_row(name, "pass", calls, 1);
  if (tap_failed()) return;
  CHECK(find_rows(name, "pass", &r) == 1 && r.size == N, "size %g", r.size);
  const double nanoseconds = 1e3 * r.mean / N; // of an entry; the mean has two digits
  CHECK_NEAR(r.gbytes * nanoseconds, bytes, rounding * nanoseconds + 0.006 / r.mean * bytes, "%s: bytes",
             name);
  CHECK_NEAR(r.gflops * nanoseconds, flops, rounding * nanoseconds + 0.006 / r.mean * flops, "%s: flops",
             name);
}

TEST_EACH_BACKEND(passes_over_vectors_have_rows) {
  const bool is_single = CEED_SCALAR_TYPE == CEED_SCALAR_FP32;
  const char *resource = NULL;
  Row row;

  gen_begin();
  CHECK_OK(CeedGetResource(ceed, &resource));
  RUN("passes", resource, "1");
  check_pass(is_single ? "dot" : "dot (FP32)", 2 * NUM_PASSES, 8, 2);
  check_pass(is_single ? "update" : "update (FP32)", NUM_PASSES, 12, 3);
  if (!is_single) check_pass("dot", 2 * NUM_PASSES, 16, 2);
  if (!is_single) check_pass("update", NUM_PASSES, 24, 3);
  CHECK(find_rows("square", "pass", &row) == 0, "a row of what was not done");
}

TEST(the_share_of_the_limit_needs_a_machine_that_was_measured) {
  const char *const kept = tap_temp_file("measured", NULL, 0);
  Row r;

  GEN_NEEDS_COMPILER();
  char *cache = strdup(getenv("RITZ_CACHE_DIR"));
  setenv("RITZ_CACHE_DIR", kept, 1);
  run("line", "/cpu/self/gen", "1");
  const bool was_known = find_rows("line", "apply", &r) != 1 || !isnan(r.limit);
  const bool says_so = strstr(table, "\nLimits of /cpu/self/gen: not known");
  if (!tap_failed()) run("limits", "/cpu/self/gen", "1");
  setenv("RITZ_CACHE_DIR", cache, 1);
  free(cache);
  if (tap_failed()) return;
  double bandwidth, peak;
  CHECK(!was_known && says_so, "before anything was measured");
  CHECK(find_rows("line", "apply", &r) == 1 && r.limit > 0, "no share in\n%s", table);
  const char *limits = strstr(table, "\nLimits of /cpu/self/gen: ");
  CHECK(limits && sscanf(limits, "\nLimits of /cpu/self/gen: %lf GB/s, %lf GFLOP/s", &bandwidth, &peak) == 2,
        "no limits in\n%s", table);
  const double memory = r.gbytes / bandwidth, compute = r.gflops / peak;
  // all are rounded to a tenth or less of their units
  const double off = 0.05 + 100 * (0.06 * (1 + memory) / bandwidth + 0.06 * (1 + compute) / peak);
  CHECK_NEAR(r.limit, 100 * fmax(memory, compute), off, "in\n%s", table);
  CHECK(!strcmp(r.bound, "flops") == (compute > memory), "bound by %s, in\n%s", r.bound, table);
}

TEST(contexts_of_several_threads_share_rows) {
  RUN("threads", "/cpu/self/ref", "1");
  check_row("threads", "apply", NUM_THREADS * NUM_PER_THREAD, NUM_THREADS);
}

TEST(options_of_resources_are_different_places) {
  Row row;

  gen_begin();
  RUN("leave", "/cpu/self/gen:threads=1", "1");
  CHECK(find_rows("left", "apply", &row) == 1, "no row in\n%s", table);
  CHECK(!strcmp(row.resource, "/cpu/self/gen:threads=1"), "%s", row.resource);
}

TEST(nothing_is_printed_unless_it_is_asked_for) {
  RUN("threads", "/cpu/self/ref", NULL);
  CHECK(!*table, "printed without RITZ_PROFILE:\n%s", table);
  RUN("threads", "/cpu/self/ref", "");
  CHECK(!*table, "printed with an empty RITZ_PROFILE:\n%s", table);
  RUN("threads", "/cpu/self/ref", "0");
  CHECK(!*table, "printed with RITZ_PROFILE=0:\n%s", table);
  RUN("nothing", "/cpu/self/ref", "1");
  CHECK(!*table, "printed without an operator:\n%s", table);
}

TEST(the_table_goes_to_a_file_when_one_is_named) {
  const char *path = tap_temp_text("table", "what was there before\n");

  RUN("threads", "/cpu/self/ref", path);
  CHECK(!*table, "printed to stderr, too:\n%s", table);
  FILE *file = fopen(path, "r");
  CHECK(file, "no file");
  read_table(file);
  fclose(file);
  check_row("threads", "apply", NUM_THREADS * NUM_PER_THREAD, NUM_THREADS);
  CHECK(!strstr(table, "before"), "appended");
  RUN("threads", "/cpu/self/ref", "/no/such/folder/table");
  CHECK(strstr(table, "RITZ_PROFILE: cannot write '/no/such/folder/table'"), "printed:\n%s", table);
}

TEST(a_forked_process_leaves_the_table_to_its_parent) {
  RUN("fork", "/cpu/self/ref", "1");
  CHECK(gen_count(table, "SmallScale") == 1, "in\n%s", table);
}

// All operators step down: there is no compiler. One line for all of them, whatever is warned of.
TEST(what_steps_down_is_told_below_the_table_even_without_warnings) {
  static const char *const values[] = {"off", "once", "all"};

  setenv("RITZ_CC", "/nonexistent/of/profiles", 1);
  setenv("RITZ_WARNINGS", "off", 1);
  RUN("leave", "/cpu/self/gen", NULL);
  CHECK(!table[0], "%s", table);
  for (int i = 0; i < 3; i++) {
    setenv("RITZ_WARNINGS", values[i], 1);
    RUN("all", "/cpu/self/gen", "1");
    const char *told = strstr(table, "Not as asked for:\n  /cpu/self/gen: operators: ");
    CHECK(told && strstr(told, "/nonexistent/of/profiles") &&
              strstr(told, "; the ahead-of-time kernel runs them\n"),
          "%s", table);
    CHECK(gen_count(told, "; the ahead-of-time kernel") == 1, "%s", table);
  }
  unsetenv("RITZ_CC");
  unsetenv("RITZ_WARNINGS");
}

int main(int argc, char **argv) {
  own_path = argv[0];
  if (argc == 4 && !strcmp(argv[1], "--child")) return run_program(argv[2], argv[3]);
  return tap_main(argc, argv,
                  TESTS(every_apply_and_diagonal_is_counted_in_the_row_of_its_operator,
                        operators_at_points_are_counted, a_program_that_leaves_with_a_context_has_its_table,
                        the_first_call_is_apart_and_calls_that_fail_are_not_counted,
                        rates_are_the_least_work_by_the_mean_time, passes_over_vectors_have_rows,
                        the_share_of_the_limit_needs_a_machine_that_was_measured,
                        contexts_of_several_threads_share_rows, options_of_resources_are_different_places,
                        nothing_is_printed_unless_it_is_asked_for, the_table_goes_to_a_file_when_one_is_named,
                        a_forked_process_leaves_the_table_to_its_parent,
                        what_steps_down_is_told_below_the_table_even_without_warnings));
}
