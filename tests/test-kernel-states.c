// SPDX-License-Identifier: BSD-2-Clause
// What becomes of kernels with every kind of compiler: none, one that refuses all texts or one of them, that
// breaks down, hangs, or is slow. A small multigrid solve, whose operators wait for their kernels or do not,
// with cycles in either precision, has the same solution throughout, before and after kernels come.
#include "tests/gen-kit.h"
#include "tests/jit-kit.h"
#include "tests/multigrid-kit.h"

#include <ritz/operator.h>

static const MultigridCase cases[] = {
    {.dim = 2, .n = 4, .degree = 3, .amplitude = 0.1},
    {.dim = 2,
     .n = 4,
     .degree = 3,
     .amplitude = 0.1,
     .options = {.use_precision = true, .precision = CEED_SCALAR_FP32}},
};

static const double rtol = 1e4 * CEED_EPSILON;

// ---- Solves ----

static int create_unhurried(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  CeedCall(kit_operator(ctx, level, space, op));
  return RitzOperatorSetUse(*op, RITZ_USE_NO_WAIT);
}

static int open_problem(Ceed ceed, const MultigridCase *c, RitzOperatorUse use, MultigridKit *k) {
  const RitzFixedPart all = {.part = "all"};
  CeedCall(kit_create_spaces(ceed, c, k));
  CeedCall(RitzOperatorSetUse(k->op, use));
  return RitzPreconditionerCreateMultigridOfHierarchy(
      ceed, k->hierarchy, use == RITZ_USE_NO_WAIT ? create_unhurried : kit_operator, NULL, k, 1, &all,
      &c->options, &k->pc);
}

// values [n]: the solution for f = 1, owned by the caller.
static int solve(const MultigridKit *k, double **values) {
  CeedVector b = kit_vector(k), x = kit_vector(k);
  MultigridResult result = {0};
  const CeedScalar *found;
  int ierr = kit_right_hand_side(k, NULL, b);

  if (!ierr) ierr = kit_solve(k, rtol, b, x, &result);
  if (!ierr && result.reason <= 0) ierr = CEED_ERROR_MINOR;
  *values = calloc((size_t)k->n, sizeof(**values));
  if (!ierr) ierr = CeedVectorGetArrayRead(x, CEED_MEM_HOST, &found);
  for (CeedSize i = 0; !ierr && i < k->n; i++) (*values)[i] = (double)found[i];
  if (!ierr) ierr = CeedVectorRestoreArrayRead(x, &found);
  return ierr | CeedVectorDestroy(&b) | CeedVectorDestroy(&x);
}

static double *solve_by_reference(const MultigridCase *c) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  double *values = NULL;
  MultigridKit k;

  if (open_problem(ceed, c, RITZ_USE_MANY, &k) || solve(&k, &values)) abort();
  kit_close(&k);
  CeedDestroy(&ceed);
  return values;
}

// Errors of the solution: the condition of the matrix times the relative residual.
static void check_solution(const MultigridKit *k, const double *wanted) {
  double *found = NULL, size = 0, error = 0;
  CHECK_OK(solve(k, &found));
  for (CeedSize i = 0; i < k->n; i++) {
    size = fmax(size, fabs(wanted[i]));
    error = fmax(error, fabs(wanted[i] - found[i]));
  }
  free(found);
  CHECK(size > 0 && error <= 1000 * rtol * size, "off by %g of %g", error, size);
}

// Solves while kernels come, or do not, and once more: what became of one is noticed by the next apply.
enum { NUM_SOLVES = 3 };

static void check_case(const MultigridCase *c, RitzOperatorUse use) {
  double *wanted = solve_by_reference(c);
  Ceed ceed = tap_ceed("/cpu/self/gen");
  MultigridKit k;

  CHECK_OK(open_problem(ceed, c, use, &k));
  for (int i = 0; i < NUM_SOLVES && !tap_failed(); i++) {
    check_solution(&k, wanted);
    if (i > 0) CHECK_OK(RitzOperatorsPrepare(1, &k.op, NULL, false));
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  }
  CHECK_OK(kit_close(&k));
  free(wanted);
  CeedDestroy(&ceed);
}

// ---- Compilers ----

// Every solve has caches of its own that are empty.
static void check_cold(const MultigridCase *c, RitzOperatorUse use, const char *compiler) {
  GenErrors errors;

  setenv("RITZ_CACHE_DIR", tap_temp_file("empty", NULL, 0), 1);
  setenv("RITZ_CC", compiler, 1);
  gen_errors_begin(&errors);
  check_case(c, use);
  gen_errors_end(&errors);
  if (tap_failed()) tap_note("use %d, %s: %s", (int)use, compiler, errors.text);
}

static void check_compiler(const char *compiler) {
  for (int i = 0; i < 2; i++) {
    check_cold(&cases[i], RITZ_USE_MANY, compiler);
    if (!tap_failed()) check_cold(&cases[i], RITZ_USE_NO_WAIT, compiler);
    if (tap_failed()) return;
  }
}

// A compiler that answers what it is asked, and for each text runs a line first.
#define WITH_COMPILER(line)                                                                                  \
  do {                                                                                                       \
    gen_begin();                                                                                             \
    if (!gen_has_compiler()) SKIP("no C compiler in PATH");                                                  \
    check_compiler(jit_wrapped_compiler(line));                                                              \
  } while (0)

TEST(solves_without_a_compiler) {
  gen_begin();
  check_compiler("/no/such/compiler");
}
TEST(solves_with_a_compiler_that_is_killed_inside) {
  WITH_COMPILER("echo 'gcc: fatal error: Killed signal terminated program cc1' >&2; exit 1");
}
TEST(solves_with_a_compiler_that_refuses_every_text) {
  WITH_COMPILER("echo \"kernel.c:1:1: error: bad value for '-march='\" >&2; exit 1");
}
TEST(solves_with_a_compiler_that_crashes) { WITH_COMPILER("kill -SEGV $$"); }

// RITZ_JIT_TIMEOUT ends it.
TEST(solves_with_a_compiler_that_hangs) {
  gen_begin();
  if (!gen_has_compiler()) SKIP("no C compiler in PATH");
  setenv("RITZ_JIT_TIMEOUT", "1", 1);
  check_cold(&cases[1], RITZ_USE_NO_WAIT, jit_wrapped_compiler("exec sleep 60"));
}

TEST(solves_with_a_compiler_that_refuses_one_text) {
  char line[4096];
  gen_begin();
  if (!gen_has_compiler()) SKIP("no C compiler in PATH");
  for (int n = 1; n <= 3 && !tap_failed(); n++) {
    const char *count = tap_temp_text("count", "");
    snprintf(
        line, sizeof(line),
        "echo >> '%s'; if [ $(wc -l < '%s') -eq %d ]; then echo 'kernel.c:1:1: error: no' >&2; exit 1; fi",
        count, count, n);
    check_cold(&cases[1], RITZ_USE_NO_WAIT, jit_wrapped_compiler(line));
  }
}

TEST(solves_with_a_compiler_that_is_slow) {
  gen_begin();
  if (!gen_has_compiler()) SKIP("no C compiler in PATH");
  check_cold(&cases[1], RITZ_USE_NO_WAIT, jit_wrapped_compiler("sleep 0.1"));
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(solves_without_a_compiler, solves_with_a_compiler_that_is_killed_inside,
                        solves_with_a_compiler_that_refuses_every_text, solves_with_a_compiler_that_crashes,
                        solves_with_a_compiler_that_hangs, solves_with_a_compiler_that_refuses_one_text,
                        solves_with_a_compiler_that_is_slow));
}
