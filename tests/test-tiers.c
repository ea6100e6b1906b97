// SPDX-License-Identifier: BSD-2-Clause
// Who serves operators of RITZ_USE_MANY on /cpu/self/gen, and when: the ahead-of-time kernel first, a
// compiled one when applies have cost enough, at once where waiting was asked for. Every test begins with an
// empty cache.
#include "tests/gen-run.h"

#include "backends/cpu/cpu.h"
#include "base/memory.h"
#include "core/core.h"
#include "core/operator.h"

#include <ritz/precision.h>
#include <time.h>

static const GenNumbers two = {2, 0};
static const Function scaled = {.f = GenScaled,
                                .source = GenScaled_loc,
                                .context = &two,
                                .context_size = sizeof(two),
                                .keeps_context = true};

static const char cold[] = "because: its applies have not cost as much as a compilation";

static int num_compiled(void) {
  RitzJitCounters counters;
  return RitzJitGetCounters(&counters) ? -1 : (int)counters.compilations;
}

#define NEEDS_TIERS()                                                                                        \
  gen_begin();                                                                                               \
  setenv("RITZ_CACHE_DIR", tap_temp_file("empty", NULL, 0), 1);                                              \
  setenv("RITZ_WAIT", "0", 1);                                                                               \
  if (!gen_has_compiler()) SKIP("no C compiler in PATH")

// As if its applies had cost that much.
static void make_hot(CeedOperator op) { ((RitzCpuOperator *)op->data)->applies_left = 0; }

// Vectors are in double: an operator in float has a variant for these.
static CeedOperator served_by(const Run *r) { return r->op->variants[3] ? r->op->variants[3] : r->op; }

static bool is_compiled(const Run *r) { return ritz_cpu_tier(served_by(r))->path == RITZ_PATH_TEXT; }

// Applies until a compiled kernel serves, or for a minute.
static int apply_until_compiled(const Run *r) {
  int ierr = apply(r);
  for (int i = 0; !ierr && i < 6000 && !is_compiled(r); i++) {
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    ierr = apply(r);
  }
  return ierr;
}

static double distance(const double *a, const Run *r) {
  double *b = reference_new_values(r->v);
  const double d = reference_distance(r->num_nodes, a, b) / reference_largest(r->num_nodes, b);
  free(b);
  return d;
}

// ---- Cold ----

TEST(many_small_operators_compile_nothing) {
  NEEDS_TIERS();
  const int before = num_compiled();
  const Function blocks = {.f = GenMass, .source = GenMass_loc, .dim = 2};
  const Function *const functions[] = {&mass, &scaled, &blocks};
  GenErrors errors;

  setenv("RITZ_CC", "/no/such/compiler", 1); // nobody hears of it either
  for (int i = 0; i < 3; i++) {
    Run r = open_on("/cpu/self/gen:threads=2", functions[i]);
    gen_errors_begin(&errors);
    int ierr = CEED_ERROR_SUCCESS;
    for (int k = 0; k < 20 && !ierr; k++) ierr = apply(&r);
    gen_errors_end(&errors);
    CHECK_OK(ierr);
    CHECK(!errors.text[0] && is_right(&r, functions[i]), "%s", errors.text);
    CHECK(strstr(explain(r.op), cold), "%s", explain(r.op));
    close_run(&r);
  }
  CHECK(num_compiled() == before, "%d compiled", num_compiled() - before);
  unsetenv("RITZ_CC");
}

TEST(the_source_of_a_cold_operator_is_that_of_its_kernel) {
  NEEDS_TIERS();
  Run r = open_on("/cpu/self/gen", &mass);

  CHECK_OK(apply(&r));
  CHECK(source_of(r.op), "no source");
  check_applies(&r, &mass, BY_TEXT, 0, NULL);
  close_run(&r);
}

// ---- Hot ----

TEST(an_operator_that_has_cost_enough_changes_to_its_kernel) {
  for (int is_single = 0; is_single < 2; is_single++) {
    NEEDS_TIERS();
    const double round_off = is_single ? 1.2e-7 : (double)CEED_EPSILON;
    Run r = open_on("/cpu/self/gen", &scaled);

    if (is_single) CHECK_OK(RitzOperatorSetPrecision(r.op, CEED_SCALAR_FP32));
    CHECK_OK(apply(&r));
    double *before = reference_new_values(r.v);
    make_hot(served_by(&r));
    CHECK_OK(apply_until_compiled(&r));
    CHECK(is_compiled(&r), "no kernel has come");
    CHECK(distance(before, &r) <= tolerance * round_off, "another result");
    free(before);
    close_run(&r);
  }
}

// By applies alone: 5e7 operations and bytes.
TEST(applies_add_up) {
  NEEDS_TIERS();
  Run r = open_on("/cpu/self/gen", &mass);

  CHECK_OK(apply(&r));
  const int64_t left = ((const RitzCpuOperator *)r.op->data)->applies_left;
  CHECK(left > 100 && left < 10000000, "%lld applies", (long long)left);
  for (int i = 0; i < 3; i++) CHECK_OK(apply(&r));
  CHECK(((const RitzCpuOperator *)r.op->data)->applies_left == left - 3, "not counted");
  make_hot(r.op);
  CHECK_OK(apply_until_compiled(&r));
  CHECK(is_right(&r, &mass), "wrong results");
  check_path(r.op, BY_TEXT);
  close_run(&r);
}

TEST(kernels_that_are_made_ahead_serve_at_once) {
  for (int was_applied = 0; was_applied < 2; was_applied++) {
    NEEDS_TIERS();
    Run r = open_on("/cpu/self/gen", &mass);

    if (was_applied) CHECK_OK(apply(&r));
    CHECK_OK(RitzOperatorsPrepare(1, &r.op, NULL, false));
    check_applies(&r, &mass, BY_TEXT, 0, NULL);
    if (tap_failed()) return;
    close_run(&r);
  }
}

TEST(a_hot_operator_without_a_compiler_stays_as_it_is) {
  NEEDS_TIERS();
  GenErrors errors;
  Run r = open_on("/cpu/self/gen", &mass);

  setenv("RITZ_CC", "/no/such/compiler", 1);
  CHECK_OK(apply(&r));
  make_hot(r.op);
  gen_errors_begin(&errors);
  const int ierr = apply(&r) | apply(&r);
  gen_errors_end(&errors);
  CHECK_OK(ierr);
  CHECK(gen_count(errors.text, "no compiler") == 1, "%s", errors.text);
  check_applies(&r, &mass, UNFUSED, 0, NULL);
  unsetenv("RITZ_CC");
  close_run(&r);
}

// ---- Waiting ----

TEST(with_ritz_wait_or_deterministic_or_without_a_function_the_first_apply_waits) {
  const Function text_only = {.f = NULL, .source = GenMass_loc};

  for (int i = 0; i < 3; i++) {
    NEEDS_TIERS();
    if (i == 0) setenv("RITZ_WAIT", "1", 1);
    Run r = open_on(i == 1 ? "/cpu/self/gen:deterministic" : "/cpu/self/gen", i == 2 ? &text_only : &mass);
    const int before = num_compiled();

    CHECK_OK(apply(&r));
    CHECK(num_compiled() - before == 1, "%d compiled", num_compiled() - before);
    check_path(r.op, BY_TEXT);
    if (tap_failed()) return;
    CHECK(is_right(&r, &mass), "wrong results");
    close_run(&r);
  }
}

int main(int argc, char **argv) {
  (void)gen_functions;
  return tap_main(
      argc, argv,
      TESTS(many_small_operators_compile_nothing, the_source_of_a_cold_operator_is_that_of_its_kernel,
            an_operator_that_has_cost_enough_changes_to_its_kernel, applies_add_up,
            kernels_that_are_made_ahead_serve_at_once, a_hot_operator_without_a_compiler_stays_as_it_is,
            with_ritz_wait_or_deterministic_or_without_a_function_the_first_apply_waits));
}
