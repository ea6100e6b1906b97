// SPDX-License-Identifier: BSD-2-Clause
// Kernels made ahead of their first use, together, beside the caller; operators that are applied once, which
// do without where a compilation takes longer than they do.
#include "tests/gen-run.h"

#include <fcntl.h>
#include <ritz/jit.h>
#include <sys/wait.h>

#include "core/memory.h"

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
  CHECK(num_compiled() - before == 3, "%d compiled after the first use", num_compiled() - before);
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

// ---- On every backend ----

static int set_parts(CeedOperator composite, Run *first, Run *second) {
  CeedCall(CeedOperatorCompositeAddSub(composite, first->op));
  return CeedOperatorCompositeAddSub(composite, second->op);
}

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
                  TESTS(kernels_made_ahead_are_not_made_again,
                        kernels_made_in_the_background_are_not_made_again,
                        kernels_made_ahead_of_another_text_are_dropped, kernels_are_compiled_at_the_same_time,
                        operators_that_are_destroyed_stop_their_compilers,
                        a_process_that_forks_meanwhile_and_its_child_both_have_kernels,
                        what_is_applied_once_is_not_compiled_and_nobody_is_told,
                        what_is_applied_once_runs_on_a_kernel_that_is_there,
                        what_is_applied_once_without_a_function_is_compiled,
                        composites_are_prepared_with_all_their_parts, mistakes_are_named));
}
