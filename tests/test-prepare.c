// SPDX-License-Identifier: BSD-2-Clause
// Kernels made ahead of their first use, together, beside the caller; operators that are applied once, which
// do without where a compilation takes longer than they do.
#include "tests/gen-run.h"

#include <fcntl.h>
#include <pthread.h>
#include <ritz/assembly.h>
#include <ritz/jit.h>
#include <ritz/precision.h>
#include <ritz/solver.h>
#include <sys/wait.h>
#include <time.h>

#include "backends/cpu/matrix.h"
#include "base/memory.h"

static const GenNumbers two = {2, 0};
static const Function scaled = {.f = GenScaled,
                                .source = GenScaled_loc,
                                .context = &two,
                                .context_size = sizeof(two),
                                .keeps_context = true};

// A cache of its own that is empty.
static const char *begin_cold(void) {
  const char *folder = tap_temp_file("empty", NULL, 0);

  gen_begin();
  setenv("RITZ_CACHE_DIR", folder, 1);
  return folder;
}

static int num_compiled(void) {
  RitzJitCounters counters;

  return RitzJitGetCounters(&counters) ? -1 : (int)counters.compilations;
}

#define NEEDS_COLD_COMPILER(folder)                                                                          \
  const char *folder = begin_cold();                                                                         \
  if (!gen_has_compiler()) SKIP("no C compiler in PATH");                                                    \
  CHECK(folder, "no folder")

static int make_diagonal(const Run *r) {
  CeedVector diagonal = NULL;
  int ierr = CeedVectorCreate(r->ceed, r->num_nodes, &diagonal);

  if (!ierr) ierr = CeedOperatorLinearAssembleDiagonal(r->op, diagonal, CEED_REQUEST_IMMEDIATE);
  CeedVectorDestroy(&diagonal);
  return ierr;
}

// ---- Ahead ----

// Two applies and a diagonal of three texts; one operator is named twice, with different wishes.
static void check_ahead(bool in_background) {
  NEEDS_COLD_COMPILER(folder);
  Run first = open_on("/cpu/self/gen", &mass), second = open_beside(first.ceed, &scaled);
  const CeedOperator ops[] = {first.op, second.op, first.op};
  const int wanted[] = {RITZ_PREPARE_DIAGONAL, RITZ_PREPARE_APPLY, RITZ_PREPARE_APPLY};
  const int before = num_compiled();

  CHECK_OK(RitzOperatorsPrepare(3, ops, wanted, in_background));
  if (!in_background) CHECK(num_compiled() - before == 3, "%d compiled", num_compiled() - before);
  CHECK_OK(apply(&second));
  CHECK_OK(apply(&first));
  CHECK_OK(make_diagonal(&first));
  CHECK_OK(RitzOperatorsPrepare(3, ops, NULL, in_background));
  CHECK(num_compiled() - before == 3, "%d compiled in the end", num_compiled() - before);
  check_path(first.op, BY_TEXT);
  if (!tap_failed()) check_path(second.op, BY_TEXT);
  if (tap_failed()) return;
  CHECK(is_right(&first, &mass) && is_right(&second, &scaled), "wrong results");
  close_beside(&second);
  close_run(&first);
}

TEST(kernels_made_ahead_are_not_made_again) { check_ahead(false); }
TEST(kernels_made_in_the_background_are_not_made_again) { check_ahead(true); }

// Where the text does not do what the function does, the kernels made ahead are of no use.
TEST(kernels_made_ahead_of_another_text_are_dropped) {
  const Function by_flag = {.f = GenMass, .source = GenHard_loc};

  for (int in_background = 0; in_background < 2; in_background++) {
    NEEDS_COLD_COMPILER(folder);
    Run r = open_on("/cpu/self/gen", &by_flag);
    const int wanted = RITZ_PREPARE_DIAGONAL;

    CHECK_OK(RitzOperatorsPrepare(1, &r.op, &wanted, in_background));
    check_applies(&r, &by_flag, BY_POINTER, 1, "does not compute what the function in the program does");
    if (tap_failed()) return;
    CHECK_OK(make_diagonal(&r));
    close_run(&r);
  }
}

// Each compiler waits until two have begun.
TEST(kernels_are_compiled_at_the_same_time) {
  NEEDS_COLD_COMPILER(folder);
  char script[8192];
  const char *met = tap_temp_file("met", NULL, 0), *compiler = NULL;

  CHECK_OK(RitzJitGetCompiler(&compiler, NULL));
  mkdir(met, 0700);
  snprintf(script, sizeof(script),
           "#!/bin/sh\ncase \" $* \" in *\" -MD \"*) touch '%s'/$$\n"
           "i=0; while [ $(ls '%s' | wc -l) -lt 2 ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); done\n"
           "[ $i -lt 200 ] || exit 1 ;; esac\nexec '%s' \"$@\"\n",
           met, met, compiler);
  const char *path = tap_temp_text("waiting-cc", script);
  CHECK(!chmod(path, 0700), "no script");
  setenv("RITZ_CC", path, 1);
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) SKIP("one processor");
  Run r = open_on("/cpu/self/gen", &mass);
  const int wanted = RITZ_PREPARE_DIAGONAL;
  CHECK_OK(RitzOperatorsPrepare(1, &r.op, &wanted, false));
  CHECK_OK(apply(&r));
  check_path(r.op, BY_TEXT);
  close_run(&r);
}

// ---- In the background ----

// Of a compiler that would take a minute nothing is left.
TEST(operators_that_are_destroyed_stop_their_compilers) {
  NEEDS_COLD_COMPILER(folder);
  const char *compiler = NULL;
  char script[8192];

  CHECK_OK(RitzJitGetCompiler(&compiler, NULL));
  snprintf(script, sizeof(script),
           "#!/bin/sh\ncase \" $* \" in *\" -MD \"*) sleep 60 ;; esac\nexec '%s' \"$@\"\n", compiler);
  const char *path = tap_temp_text("slow-cc", script);
  CHECK(!chmod(path, 0700), "no script");
  setenv("RITZ_CC", path, 1);
  Run r = open_on("/cpu/self/gen", &mass);
  const int before = num_compiled();
  CHECK_OK(RitzOperatorsPrepare(1, &r.op, NULL, true));
  close_run(&r);
  CHECK(num_compiled() == before, "it has ended");
  CHECK(waitpid(-1, NULL, WNOHANG) < 0, "a child is left");
}

// The child has no thread that would make the kernel, and makes it itself.
TEST(a_process_that_forks_meanwhile_and_its_child_both_have_kernels) {
  NEEDS_COLD_COMPILER(folder);
  Run r = open_on("/cpu/self/gen", &mass);
  int status = 0;

  CHECK_OK(RitzOperatorsPrepare(1, &r.op, NULL, true));
  const pid_t child = fork();
  if (child == 0)
    _exit(apply(&r) || !is_right(&r, &mass) ||
          strncmp(strstr(explain(r.op), "runs as: ") + 9, BY_TEXT, strlen(BY_TEXT)));
  CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
  CHECK(status == 0, "status %d of the child", status);
  CHECK_OK(apply(&r));
  CHECK(is_right(&r, &mass), "wrong results");
  check_path(r.op, BY_TEXT);
  close_run(&r);
}

// ---- Once ----

TEST(what_is_applied_once_is_not_compiled_and_nobody_is_told) {
  NEEDS_COLD_COMPILER(folder);
  const int before = num_compiled();

  setenv("RITZ_STRICT", "1", 1);
  Run r = open_on("/cpu/self/gen", &mass);
  CHECK_OK(RitzOperatorSetUse(r.op, RITZ_USE_ONCE));
  CHECK_OK(RitzOperatorsPrepare(1, &r.op, NULL, true));
  check_applies(&r, &mass, UNFUSED, 0, NULL);
  if (tap_failed()) return;
  CHECK(num_compiled() == before, "compiled");
  CHECK(strstr(explain(r.op), "because: it is applied once"), "%s", explain(r.op));
  close_run(&r);
  unsetenv("RITZ_STRICT");
}

// Both in memory, of another operator, and on disk.
TEST(what_is_applied_once_runs_on_a_kernel_that_is_there) {
  NEEDS_COLD_COMPILER(folder);
  for (int on_disk = 0; on_disk < 2; on_disk++) {
    Run other = open_on("/cpu/self/gen", &mass), r = open_beside(other.ceed, &mass);

    CHECK_OK(apply(&other));
    if (on_disk) CHECK_OK(CeedOperatorDestroy(&other.op));
    const int before = num_compiled();
    CHECK_OK(RitzOperatorSetUse(r.op, RITZ_USE_ONCE));
    check_applies(&r, &mass, BY_TEXT, 0, NULL);
    if (tap_failed()) return;
    CHECK(num_compiled() == before, "compiled");
    close_beside(&r);
    close_run(&other);
  }
}

// Text alone cannot be called by the ahead-of-time kernel.
TEST(what_is_applied_once_without_a_function_is_compiled) {
  const Function text_only = {.f = NULL, .source = GenMass_loc};
  NEEDS_COLD_COMPILER(folder);
  Run r = open_on("/cpu/self/gen", &text_only);

  CHECK_OK(RitzOperatorSetUse(r.op, RITZ_USE_ONCE));
  CHECK_OK(apply(&r));
  check_path(r.op, BY_TEXT);
  CHECK(is_right(&r, &mass), "wrong results");
  close_run(&r);
}

// ---- Without waiting ----

// A compiler that begins when a file is there, after 20 s anyway, and fails if that one is not empty; returns
// the file's path.
static const char *set_waiting_compiler(void) {
  static char go[4096];
  const char *compiler = NULL;
  char script[16384];

  RitzJitGetCompiler(&compiler, NULL);
  snprintf(go, sizeof(go), "%s", tap_temp_file("go", NULL, 0));
  unlink(go);
  snprintf(script, sizeof(script),
           "#!/bin/sh\ncase \" $* \" in *\" -MD \"*)\n"
           "i=0; while [ ! -e '%s' ] && [ $i -lt 1000 ]; do sleep 0.02; i=$((i+1)); done\n"
           "[ ! -s '%s' ] || exit 1 ;; esac\nexec '%s' \"$@\"\n",
           go, go, compiler);
  const char *path = tap_temp_text("gated-cc", script);
  chmod(path, 0700);
  setenv("RITZ_CC", path, 1);
  return go;
}

static void open_gate(const char *go, const char *text) {
  FILE *file = fopen(go, "w");
  if (!file || fputs(text, file) < 0 || fclose(file)) abort();
}

static int wait_for_kernel(CeedOperator op) { return RitzOperatorsPrepare(1, &op, NULL, false); }

static const char compiling[] = "because: its kernel is being compiled";

TEST(the_ahead_of_time_kernel_serves_until_the_kernel_is_there) {
  NEEDS_COLD_COMPILER(folder);
  const char *go = set_waiting_compiler();

  setenv("RITZ_STRICT", "1", 1);
  for (int ahead = 0; ahead < 2; ahead++) {
    Run r = open_on("/cpu/self/gen:threads=2", ahead ? &scaled : &mass);
    const Function *f = ahead ? &scaled : &mass;

    unlink(go);
    CHECK_OK(RitzOperatorSetUse(r.op, RITZ_USE_NO_WAIT));
    if (ahead) CHECK_OK(RitzOperatorsPrepare(1, &r.op, NULL, true));
    check_applies(&r, f, UNFUSED, 0, NULL);
    if (tap_failed()) return;
    CHECK(strstr(explain(r.op), compiling), "%s", explain(r.op));
    open_gate(go, "");
    CHECK_OK(wait_for_kernel(r.op));
    check_applies(&r, f, BY_TEXT, 0, NULL);
    if (tap_failed()) return;
    CHECK(!strstr(explain(r.op), compiling), "%s", explain(r.op));
    close_run(&r);
  }
  unsetenv("RITZ_STRICT");
}

// Values of a matrix until the kernel of its element matrices serves, or for a minute.
static int assemble_until_made(const Run *r) {
  RitzAssembly assembly = NULL;
  CeedVector values = NULL;
  CeedSize num_rows = 0;
  const int64_t *row_starts = NULL;
  int ierr = RitzAssemblyCreate(r->op, &assembly);

  if (!ierr) ierr = RitzAssemblyGetPattern(assembly, &num_rows, NULL, &row_starts, NULL);
  if (!ierr) ierr = CeedVectorCreate(r->ceed, row_starts[num_rows], &values);
  for (int i = 0; !ierr && i < 1200 && !ritz_cpu_matrix_is_made(r->op, 0, 0); i++) {
    ierr = RitzAssemblyRun(assembly, values);
    if (!ierr) nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  }
  CeedVectorDestroy(&values);
  RitzAssemblyDestroy(&assembly);
  return ierr;
}

TEST(kernels_of_element_matrices_come_later_too) {
  NEEDS_COLD_COMPILER(folder);
  Run r = open_on("/cpu/self/gen", &mass);

  CHECK_OK(RitzOperatorSetUse(r.op, RITZ_USE_NO_WAIT));
  CHECK_OK(assemble_until_made(&r));
  CHECK(ritz_cpu_matrix_is_made(r.op, 0, 0), "no kernel has come");
  close_run(&r);
}

// A second operator waits for its own kernel alone: that of the first one never comes.
TEST(who_waits_for_a_kernel_does_not_wait_for_those_of_others) {
  NEEDS_COLD_COMPILER(folder);
  const char *go = set_waiting_compiler();
  Run first = open_on("/cpu/self/gen", &mass), second = open_beside(first.ceed, &mass);

  CHECK_OK(RitzOperatorSetUse(first.op, RITZ_USE_NO_WAIT));
  CHECK_OK(apply(&first));
  unsetenv("RITZ_CC");
  CHECK_OK(apply(&second));
  check_path(second.op, BY_TEXT);
  CHECK(strstr(explain(first.op), compiling), "%s", explain(first.op));
  CHECK(access(go, F_OK), "nobody has let it go");
  close_beside(&second);
  close_run(&first);
  CHECK(waitpid(-1, NULL, WNOHANG) < 0, "a child is left");
}

// Of the kernel that nobody waited for nothing is left, neither a process nor a file of its own.
TEST(operators_that_are_served_first_stop_their_compilers_when_they_are_destroyed) {
  NEEDS_COLD_COMPILER(folder);
  set_waiting_compiler();
  Run r = open_on("/cpu/self/gen", &mass);
  size_t num = 1;
  RitzJitEntry *entries = NULL;
  Ceed ceed = NULL;

  CHECK_OK(RitzOperatorSetUse(r.op, RITZ_USE_NO_WAIT));
  CHECK_OK(apply(&r));
  close_run(&r);
  CHECK(waitpid(-1, NULL, WNOHANG) < 0, "a child is left");
  ceed = tap_ceed("/cpu/self/ref");
  CHECK_OK(RitzJitList(ceed, &num, &entries));
  CHECK(num == 0, "%zu entries in the cache", num);
  free(entries);
  CeedDestroy(&ceed);
}

TEST(a_kernel_in_the_cache_is_used_at_once) {
  NEEDS_COLD_COMPILER(folder);
  Run r = open_on("/cpu/self/gen", &mass);

  CHECK_OK(apply(&r));
  close_run(&r);
  for (int ahead = 0; ahead < 2; ahead++) {
    const int before = num_compiled();

    r = open_on("/cpu/self/gen", &mass);
    CHECK_OK(RitzOperatorSetUse(r.op, RITZ_USE_NO_WAIT));
    if (ahead) CHECK_OK(RitzOperatorsPrepare(1, &r.op, NULL, true));
    CHECK_OK(apply(&r));
    check_path(r.op, BY_TEXT);
    if (tap_failed()) return;
    CHECK(is_right(&r, &mass) && num_compiled() == before, "%d compiled", num_compiled() - before);
    close_run(&r);
  }
}

// No compiler at all, and one that refuses: told as it always is, when it turns out.
TEST(an_operator_whose_kernel_does_not_compile_stays_on_the_ahead_of_time_kernel) {
  for (int begins = 0; begins < 2; begins++) {
    NEEDS_COLD_COMPILER(folder);
    const char *go = begins ? set_waiting_compiler() : NULL;
    Run r = open_on("/cpu/self/gen", &mass);

    if (!begins) setenv("RITZ_CC", "false", 1);
    CHECK_OK(RitzOperatorSetUse(r.op, RITZ_USE_NO_WAIT));
    if (begins) check_applies(&r, &mass, UNFUSED, 0, NULL);
    if (tap_failed()) return;
    if (begins) {
      open_gate(go, "no");
      // The text, then the pointer: each is a kernel of its own.
      for (int i = 0; i < 3; i++) CHECK_OK(wait_for_kernel(r.op));
      GenErrors errors;
      gen_errors_begin(&errors);
      for (int i = 0; i < 2; i++) CHECK_OK(apply(&r) || wait_for_kernel(r.op));
      gen_errors_end(&errors);
      CHECK(strstr(errors.text, "does not compile"), "%s", errors.text);
    }
    check_applies(&r, &mass, UNFUSED, begins ? 0 : 1, NULL);
    if (tap_failed()) return;
    CHECK(!strstr(explain(r.op), compiling), "%s", explain(r.op));
    close_run(&r);
  }
}

// The kernel with another text would be wrong; the one that calls the function is compiled without waiting,
// too.
TEST(a_text_that_computes_something_else_never_serves) {
  const Function by_flag = {.f = GenMass, .source = GenHard_loc};
  NEEDS_COLD_COMPILER(folder);
  const char *go = set_waiting_compiler();
  Run r = open_on("/cpu/self/gen", &by_flag);
  GenErrors errors;

  CHECK_OK(RitzOperatorSetUse(r.op, RITZ_USE_NO_WAIT));
  check_applies(&r, &by_flag, UNFUSED, 0, NULL);
  if (tap_failed()) return;
  open_gate(go, "");
  CHECK_OK(wait_for_kernel(r.op));
  unlink(go);
  gen_errors_begin(&errors);
  const int ierr = apply(&r); // the text is judged, and the other kernel begun
  gen_errors_end(&errors);
  CHECK_OK(ierr);
  CHECK(strstr(errors.text, "does not compute what the function in the program does"), "%s", errors.text);
  check_applies(&r, &by_flag, UNFUSED, 0, NULL);
  if (tap_failed()) return;
  open_gate(go, "");
  CHECK_OK(wait_for_kernel(r.op));
  check_applies(&r, &by_flag, BY_POINTER, 0, NULL);
  close_run(&r);
}

// Whose results do not depend on threads must not depend on time either; what has no function has no other
// kernel.
TEST(deterministic_operators_and_those_without_a_function_wait) {
  const Function text_only = {.f = NULL, .source = GenMass_loc};

  for (int lacks_function = 0; lacks_function < 2; lacks_function++) {
    NEEDS_COLD_COMPILER(folder);
    Run r =
        lacks_function ? open_on("/cpu/self/gen", &text_only) : open_on("/cpu/self/gen:deterministic", &mass);

    CHECK_OK(RitzOperatorSetUse(r.op, RITZ_USE_NO_WAIT));
    CHECK_OK(apply(&r));
    check_path(r.op, BY_TEXT);
    if (tap_failed()) return;
    CHECK(is_right(&r, &mass), "wrong results");
    close_run(&r);
  }
}

static int set_parts(CeedOperator composite, Run *first, Run *second) {
  CeedCall(CeedOperatorCompositeAddSub(composite, first->op));
  return CeedOperatorCompositeAddSub(composite, second->op);
}

// What a monitor of a solve changes.
typedef struct {
  const char *go;
  CeedOperator ops[2];
  bool serves_first; // ops[0], at the beginning
  int ierr;
} Change;

static int change(void *ctx, CeedInt iteration, double residual, bool *stop) {
  Change *c = ctx;
  (void)residual, (void)stop;
  if (iteration == 1) c->serves_first = strstr(explain(c->ops[0]), compiling) != NULL;
  if (iteration == 1) open_gate(c->go, "");
  if (iteration == 2 || iteration == 4) c->ierr |= wait_for_kernel(c->ops[iteration == 4]);
  return 0;
}

static int solve(CeedOperator op, CeedVector b, CeedVector x, Change *c) {
  RitzSolver solver = NULL;
  Ceed ceed = NULL;
  CeedCall(CeedOperatorGetCeed(op, &ceed));
  CeedCall(RitzSolverCreateCG(ceed, &solver));
  int ierr = RitzSolverSetOperator(solver, op);
  if (!ierr) ierr = RitzSolverSetVariant(solver, RITZ_CG_MERGED);
  if (!ierr) ierr = RitzSolverSetTolerances(solver, 100 * CEED_EPSILON, 0, 100);
  if (!ierr) ierr = RitzSolverSetMonitor(solver, change, c);
  if (!ierr) ierr = CeedVectorSetValue(x, 0);
  if (!ierr) ierr = RitzSolverSolve(solver, b, x);
  RitzSolverDestroy(&solver);
  CeedDestroy(&ceed);
  return ierr;
}

static int create_result(const Run *r, CeedScalarType precision, bool is_diagonal, CeedVector *result) {
  CeedVector ones = NULL;
  CeedCall(RitzVectorCreate(r->ceed, r->num_nodes, precision, result));
  if (is_diagonal) return CeedOperatorLinearAssembleDiagonal(r->op, *result, CEED_REQUEST_IMMEDIATE);
  CeedCall(RitzVectorCreate(r->ceed, r->num_nodes, precision, &ones));
  int ierr = CeedVectorSetValue(ones, 1);
  if (!ierr) ierr = CeedOperatorApply(r->op, ones, *result, CEED_REQUEST_IMMEDIATE);
  CeedVectorDestroy(&ones);
  return ierr;
}

static void check_same(CeedVector *a, CeedVector *b, double eps) {
  CeedScalar error = 1, size = 0;
  CHECK_OK(CeedVectorNorm(*a, CEED_NORM_MAX, &size));
  CHECK_OK(CeedVectorAXPY(*a, -1, *b));
  CHECK_OK(CeedVectorNorm(*a, CEED_NORM_MAX, &error));
  CHECK(size > 0 && error <= tolerance * eps * size, "off by %g of %g", (double)error, (double)size);
  CHECK_OK(CeedVectorDestroy(a));
  CHECK_OK(CeedVectorDestroy(b));
}

TEST(applies_and_diagonals_are_the_same_before_and_after) {
  for (int is_single = 0; is_single < 2; is_single++) {
    NEEDS_COLD_COMPILER(folder);
    const CeedScalarType precision = is_single ? CEED_SCALAR_FP32 : CEED_SCALAR_TYPE;
    const int wanted = RITZ_PREPARE_DIAGONAL;
    const char *go = set_waiting_compiler();
    Run r = open_on("/cpu/self/gen:threads=2", &mass);
    CeedVector results[2][2] = {{NULL}};

    CHECK_OK(RitzOperatorSetPrecision(r.op, precision));
    CHECK_OK(RitzOperatorSetUse(r.op, RITZ_USE_NO_WAIT));
    for (int after = 0; after < 2; after++) {
      if (after) open_gate(go, "");
      CHECK_OK(RitzOperatorsPrepare(1, &r.op, &wanted, !after));
      for (int k = 0; k < 2; k++) CHECK_OK(create_result(&r, precision, k, &results[after][k]));
      if (after) check_path(r.op, BY_TEXT);
      if (!after) check_path(r.op, UNFUSED);
      if (tap_failed()) return;
      CHECK(strstr(explain(r.op),
                   after ? "diagonal: one generated kernel" : "diagonal: the ahead-of-time kernel"),
            "%s", explain(r.op));
    }
    for (int k = 0; k < 2; k++)
      check_same(&results[0][k], &results[1][k], is_single ? 1.2e-7 : (double)CEED_EPSILON);
    close_run(&r);
  }
}

// Merged conjugate gradients keep lists of each operator's schedule. Of one operator, and of a composite
// whose parts change one after the other.
TEST(kernels_that_come_in_the_middle_of_a_solve_take_over) {
  for (int is_composite = 0; is_composite < 2; is_composite++) {
    NEEDS_COLD_COMPILER(folder);
    Function parts[] = {mass, scaled};
    parts[0].dim = parts[1].dim = 2;
    Run first = open_on("/cpu/self/gen:threads=2", &parts[0]), second = open_beside(first.ceed, &parts[1]);
    CeedOperator composite = NULL, op = first.op;
    Change c = {.go = set_waiting_compiler(), .ops = {first.op, is_composite ? second.op : first.op}};
    CeedScalar error = 1, size = 0;

    CHECK_OK(CeedVectorSetValue(first.q, 1));
    CHECK_OK(CeedVectorSetValue(second.q, 1));
    CHECK_OK(CeedOperatorCreateComposite(first.ceed, &composite));
    CHECK_OK(set_parts(composite, &first, &second));
    if (is_composite) op = composite;
    CHECK_OK(RitzOperatorSetUse(composite, RITZ_USE_NO_WAIT));
    CHECK_OK(solve(op, first.u, first.v, &c));
    CHECK(c.serves_first && !c.ierr, "code %d", c.ierr);
    check_path(first.op, BY_TEXT);
    if (is_composite) check_path(second.op, BY_TEXT);
    if (tap_failed()) return;
    CHECK_OK(CeedOperatorApply(op, first.v, second.v, CEED_REQUEST_IMMEDIATE));
    CHECK_OK(CeedVectorAXPY(second.v, -1, first.u));
    CHECK_OK(CeedVectorNorm(second.v, CEED_NORM_2, &error));
    CHECK_OK(CeedVectorNorm(first.u, CEED_NORM_2, &size));
    // The bound of the solve, and rounding in other kernels than those that it began with.
    CHECK(error <= 1000 * CEED_EPSILON * size, "residual %g of %g", (double)error, (double)size);
    CHECK_OK(CeedOperatorDestroy(&composite));
    close_beside(&second);
    close_run(&first);
  }
}

static void *use_without_waiting(void *data) {
  Run *r = data;
  int ierr = RitzOperatorSetUse(r->op, RITZ_USE_NO_WAIT);
  for (int i = 0; !ierr && i < 50; i++) ierr = apply(r);
  if (!ierr) ierr = wait_for_kernel(r->op);
  if (!ierr) ierr = apply(r);
  return ierr ? data : NULL;
}

// Each thread has a context; both want the same kernel.
TEST(contexts_of_two_threads_change_to_one_kernel) {
  NEEDS_COLD_COMPILER(folder);
  Run runs[] = {open_on("/cpu/self/gen:threads=2", &mass), open_on("/cpu/self/gen", &mass)};
  const int before = num_compiled();
  pthread_t threads[2];

  for (int i = 0; i < 2; i++)
    CHECK(!pthread_create(&threads[i], NULL, use_without_waiting, &runs[i]), "no thread");
  for (int i = 0; i < 2; i++) {
    void *failed = NULL;
    pthread_join(threads[i], &failed);
    CHECK(!failed, "thread %d", i);
  }
  CHECK(num_compiled() - before == 1, "%d compiled", num_compiled() - before);
  for (int i = 0; i < 2; i++) {
    CHECK(is_right(&runs[i], &mass), "wrong results");
    check_path(runs[i].op, BY_TEXT);
    close_run(&runs[i]);
  }
}

// ---- On every backend ----

TEST_EACH_BACKEND(composites_are_prepared_with_all_their_parts) {
  gen_begin();
  Run first = open_beside(ceed, &mass), second = open_beside(ceed, &scaled);
  CeedOperator composite = NULL;
  RitzOperatorUse use = RITZ_USE_ONCE;
  const int wanted = RITZ_PREPARE_DIAGONAL;

  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(set_parts(composite, &first, &second));
  CHECK_OK(RitzOperatorsPrepare(0, NULL, NULL, false));
  CHECK_OK(RitzOperatorsPrepare(1, &composite, &wanted, false));
  CHECK_OK(CeedOperatorApply(composite, first.u, second.v, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(apply(&first)); // mass + 2 mass
  CHECK_OK(CeedVectorAXPY(second.v, -3, first.v));
  CeedScalar norm = 1, size = 0;
  CHECK_OK(CeedVectorNorm(second.v, CEED_NORM_MAX, &norm));
  CHECK_OK(CeedVectorNorm(first.v, CEED_NORM_MAX, &size));
  CHECK(size > 0 && norm <= 1000 * CEED_EPSILON * size, "off by %g of %g", (double)norm, (double)size);
  const int before = num_compiled();
  CHECK_OK(make_diagonal(&first));
  CHECK_OK(RitzOperatorsPrepare(1, &composite, &wanted, true));
  if (ceed->backend.operators_prepare) // separate kernels of devices are made by their first use
    CHECK(num_compiled() == before, "%d compiled later", num_compiled() - before);
  CHECK_OK(RitzOperatorGetUse(composite, &use));
  CHECK(use == RITZ_USE_MANY, "%d by default", (int)use);
  CHECK_OK(RitzOperatorSetUse(composite, RITZ_USE_ONCE));
  CHECK_OK(RitzOperatorGetUse(second.op, &use));
  CHECK(use == RITZ_USE_ONCE, "%d of a part", (int)use);
  CHECK_OK(CeedOperatorDestroy(&composite));
  close_beside(&second);
  close_beside(&first);
}

TEST_EACH_BACKEND(mistakes_are_named) {
  gen_begin();
  Run r = open_beside(ceed, &mass);
  CeedOperator empty = NULL;
  CeedQFunction qf = NULL;

  CHECK_ERROR(ceed, RitzOperatorSetUse(r.op, (RitzOperatorUse)7), CEED_ERROR_INCOMPATIBLE,
              "RitzOperatorSetUse: 7 is no use of an operator");
  CHECK_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &empty));
  const CeedOperator ops[] = {r.op, empty};
  CHECK(RitzOperatorsPrepare(2, ops, NULL, false) != CEED_ERROR_SUCCESS, "fields are missing");
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedOperatorDestroy(&empty));
  close_beside(&r);
}

int main(int argc, char **argv) {
  (void)gen_functions;
  return tap_main(argc, argv,
                  TESTS(kernels_of_element_matrices_come_later_too, kernels_made_ahead_are_not_made_again,
                        kernels_made_in_the_background_are_not_made_again,
                        kernels_made_ahead_of_another_text_are_dropped, kernels_are_compiled_at_the_same_time,
                        operators_that_are_destroyed_stop_their_compilers,
                        a_process_that_forks_meanwhile_and_its_child_both_have_kernels,
                        what_is_applied_once_is_not_compiled_and_nobody_is_told,
                        what_is_applied_once_runs_on_a_kernel_that_is_there,
                        what_is_applied_once_without_a_function_is_compiled,
                        the_ahead_of_time_kernel_serves_until_the_kernel_is_there,
                        who_waits_for_a_kernel_does_not_wait_for_those_of_others,
                        operators_that_are_served_first_stop_their_compilers_when_they_are_destroyed,
                        a_kernel_in_the_cache_is_used_at_once,
                        an_operator_whose_kernel_does_not_compile_stays_on_the_ahead_of_time_kernel,
                        a_text_that_computes_something_else_never_serves,
                        deterministic_operators_and_those_without_a_function_wait,
                        applies_and_diagonals_are_the_same_before_and_after,
                        kernels_that_come_in_the_middle_of_a_solve_take_over,
                        contexts_of_two_threads_change_to_one_kernel,
                        composites_are_prepared_with_all_their_parts, mistakes_are_named));
}
