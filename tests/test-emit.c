// SPDX-License-Identifier: BSD-2-Clause
// Texts of kernels for processors: pure functions of the plan, compilable by every compiler that is there,
// and for the cases of tests/cpu-cases.h those of tests/golden-kernels, but for rounding errors of their
// numbers. `test-emit --write-golden` writes these files anew. What the kernels compute: test-gen-random.c.
#include "tests/cpu-cases.h"
#include "tests/gen-kit.h"
#include "tests/golden-kit.h"

#include "tests/random-operator.h"
#include <ctype.h>
#include <sys/stat.h>

static const Shape mass = MASS(3, 3, 1);

// *text: of the kernel of k->op, owned by the caller (RITZ_FREE); NULL on failure.
static void emit(Kit *k, const Machine *machine, char **text) {
  *text = NULL;
  make_plan(k, machine, find_rows);
  if (k->plan && !tap_failed()) NOTE_OK(ritz_emit_cpu(k->ceed, k->plan, k->target, text));
  forget_folder(*text);
}

// ---- The same plan, the same text ----

TEST(equal_plans_have_equal_texts) {
  for (int i = 0; i < NUM_CASES && !tap_failed(); i++) {
    char *a = make_cpu_text(&cases[i]), *b = make_cpu_text(&cases[i]);

    CHECK(a && b && !strcmp(a, b), "%s", cases[i].name);
    RITZ_FREE(&a);
    RITZ_FREE(&b);
  }
}

// So one compilation serves all meshes.
TEST(equal_operators_on_different_meshes_have_equal_texts) {
  char *text[2] = {NULL};

  for (int i = 0; i < 2; i++) {
    Kit k = kit_open();
    set_packed_box(&k, &mass, 2 + i);
    emit(&k, &eight_lanes, &text[i]);
    kit_close(&k);
  }
  CHECK(text[0] && text[1] && !strcmp(text[0], text[1]), "%s\n%s", text[0], text[1]);
  RITZ_FREE(&text[0]);
  RITZ_FREE(&text[1]);
}

// ---- Plans stand alone ----

// Owned by the caller (free): the identity of a plan.
static char *write_plan(const RitzPlan *plan) {
  Capture capture;

  ritz_plan_write(plan, capture_begin(&capture));
  fclose(capture.stream);
  return capture.text;
}

// Everything that the operator was made of is gone when its kernel is written again.
TEST(texts_are_made_from_plans_whose_operators_are_gone) {
  for (int i = 0; i < NUM_CASES && !tap_failed(); i++) {
    if (cases[i].action != ACTION_APPLY) continue;
    char *text[2] = {NULL};
    Kit k = kit_open();

    plan_case(&k, &cases[i]);
    if (tap_failed()) return;
    CHECK_OK(ritz_emit_cpu(k.ceed, k.plan, k.target, &text[0]));
    Kit left = {.ceed = tap_ceed("/cpu/self/ref"), .plan = k.plan, .target = k.target};
    k.plan = NULL;
    k.target = NULL;
    kit_close(&k);
    CHECK_OK(ritz_emit_cpu(left.ceed, left.plan, left.target, &text[1]));
    kit_close(&left);
    CHECK(!strcmp(text[0], text[1]), "%s", cases[i].name);
    RITZ_FREE(&text[0]);
    RITZ_FREE(&text[1]);
  }
}

TEST(equal_writings_mean_equal_texts_and_other_tables_or_defines_other_writings) {
  char *writing[4] = {NULL}, *text[4] = {NULL};

  for (int i = 0; i < 4;
       i++) { // the same, on another mesh, with a define, with a table changed by round-offs
    Kit k = kit_open();
    if (i == 2) CHECK_OK(CeedAddJitDefine(k.ceed, "SOME=1"));
    set_packed_box(&k, &mass, i == 1 ? 3 : 2);
    make_plan(&k, &eight_lanes, find_rows);
    if (tap_failed()) return;
    if (i == 3) k.plan->bases[0].interp.values[0] *= 1 + 4 * CEED_EPSILON;
    writing[i] = write_plan(k.plan);
    CHECK_OK(ritz_emit_cpu(k.ceed, k.plan, k.target, &text[i]));
    kit_close(&k);
  }
  CHECK(!strcmp(writing[0], writing[1]) && !strcmp(text[0], text[1]), "another mesh:\n%s\n%s", writing[0],
        writing[1]);
  for (int i = 2; i < 4; i++)
    CHECK(strcmp(writing[0], writing[i]) && strcmp(text[0], text[i]), "case %d:\n%s", i, writing[i]);
  for (int i = 0; i < 4; i++) {
    free(writing[i]);
    RITZ_FREE(&text[i]);
  }
}

static bool stands_before(const char *text, const char *first, const char *second) {
  const char *at = text ? strstr(text, first) : NULL;

  return at && strstr(at, second);
}

TEST(defines_of_the_context_stand_before_the_users_text_and_nowhere_else) {
  static const char wanted[] = "#define SOME 1\n#define OTHER 2 + 2\n#define F(x) x=y\n#include \"tests/";
  Kit k = kit_open();
  const char *const defines[] = {"SOME", "OTHER=2 + 2", "F(x)=x=y"};

  for (int i = 0; i < 3; i++) CHECK_OK(CeedAddJitDefine(k.ceed, defines[i]));
  set_packed(&k, &mass);
  char *text;

  emit(&k, &eight_lanes, &text);
  CHECK(stands_before(text, "kernels/cpu/loop.h", wanted), "%s", text);
  RITZ_FREE(&text);
  const Machine by_pointer = {.lanes = 8, .allows_text = false};
  emit(&k, &by_pointer, &text);
  CHECK(text && !strstr(text, "SOME"), "%s", text);
  RITZ_FREE(&text);
  kit_close(&k);
}

// ---- Kept texts ----

static const char *path_of(const CpuCase *c) {
  static char path[200];

  snprintf(path, sizeof(path), "tests/golden-kernels/%s.txt", c->name);
  return path;
}

static void check_golden(const CpuCase *c) {
  char *text = make_cpu_text(c);

  golden_check(path_of(c), text, "test-emit");
  RITZ_FREE(&text);
}

TEST(typical_operators_have_the_texts_that_are_kept) {
  for (int i = 0; i < NUM_CASES && !tap_failed(); i++) check_golden(&cases[i]);
}

static int write_goldens(void) {
  for (int i = 0; i < NUM_CASES; i++) {
    char *text = make_cpu_text(&cases[i]);
    const bool is_written = golden_write(path_of(&cases[i]), text);

    RITZ_FREE(&text);
    if (!is_written) return 1;
  }
  return 0;
}

// ---- Compilers ----

static bool runs(const char *compiler) {
  char command[200];

  snprintf(command, sizeof(command), "%s --version >/dev/null 2>&1", compiler);
  return !system(command);
}

// A new folder with the texts of all cases.
static const char *write_texts(void) {
  const char *folder = tap_temp_file("kernels", NULL, 0);
  char path[8192];

  mkdir(folder, 0700);
  for (int i = 0; i < NUM_CASES && !tap_failed(); i++) {
    if (cases[i].action == ACTION_STEPS) continue;
    char *text = make_cpu_text(&cases[i]);

    snprintf(path, sizeof(path), "%s/%s.c", folder, cases[i].name);
    FILE *file = fopen(path, "w");
    tap_check(text && file && fputs(text, file) >= 0 && !fclose(file), __FILE__, __LINE__,
              "the text is written", "%s", path);
    RITZ_FREE(&text);
  }
  return folder;
}

// Lines that warn; gcc does so of every loop that is to stay one, when it does not optimise.
static int count_warnings(const char *path) {
  FILE *file = fopen(path, "r");
  char line[4096];
  int num = 0;

  while (file && fgets(line, sizeof(line), file)) {
    if (!strstr(line, "warning:") || strstr(line, "ignoring loop annotation")) continue;
    tap_note("%s", line);
    num++;
  }
  if (file) fclose(file);
  return num;
}

// Texts made for all cases have parts that a case does not use, and vectors longer than registers.
static void check_compiles(const char *compiler, const char *folder) {
  const char *scalar = sizeof(CeedScalar) == sizeof(float) ? "-DRITZ_SCALAR_F32" : "";
  char command[16384], log[8192];

  snprintf(log, sizeof(log), "%s/%s.log", folder, compiler);
  snprintf(command, sizeof(command),
           "top=$PWD; cd '%s' && %s %s -std=gnu11 -O0 -Wall -Wextra -Wno-unused -Wno-unused-parameter "
           "-Wno-psabi -DCEED_RUNNING_JIT_PASS=1 %s -I\"$top\" -I\"$top\"/include *.c >'%s' 2>&1",
           folder, compiler, tap_level() > TAP_QUICK ? "-c" : "-fsyntax-only", scalar, log);
  CHECK(!system(command), "%s", command);
  CHECK(count_warnings(log) == 0, "%s", command);
}

TEST(kernels_compile_without_warnings) {
  static const char *const compilers[] = {"gcc", "clang"};
  const char *folder = write_texts();
  int num = 0;

  for (int i = 0; i < 2 && !tap_failed(); i++) {
    if (!runs(compilers[i])) continue;
    num++;
    check_compiles(compilers[i], folder);
  }
  if (!num) SKIP("neither gcc nor clang is there");
}

// ---- Random operators ----

// Whether one of the words stands in the text as a whole word.
static bool has_word(const char *text, const char *word) {
  const size_t n = strlen(word);

  for (const char *at = text; (at = strstr(at, word)); at += n) {
    const bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '"');
    if (begins && !isalnum((unsigned char)at[n]) && at[n] != '_') return true;
  }
  return false;
}

static void check_random(uint64_t seed) {
  static const RandomOptions options;
  RandomOperator r;
  Kit k = kit_open();
  uint64_t state = seed;
  int ierr = random_operator_create(k.ceed, &options, &state, &r);

  k.op = r.op;
  if (!ierr) make_plan(&k, &eight_lanes, find_rows);
  if (!ierr && !tap_failed() && k.target->evaluation != RITZ_EVALUATE_NONE) {
    char *text = NULL;
    CHECK_OK(ritz_emit_cpu(k.ceed, k.plan, k.target, &text));
    CHECK(!has_word(text, "nan") && !has_word(text, "inf"), "%s", text);
    RITZ_FREE(&text);
  }
  if (tap_failed()) tap_note("seed %llu: %s", (unsigned long long)seed, random_operator_describe(&r));
  k.op = NULL;
  kit_free_plan(&k);
  random_operator_destroy(&r);
  kit_close(&k);
  CHECK_OK(ierr);
}

TEST(texts_hold_finite_numbers_alone) {
  static const int num[] = {200, 2000, 20000};

  for (int i = 0; i < num[tap_level()] && !tap_failed(); i++) check_random(8000000 + (uint64_t)i);
}

// ---- Failures ----

// The n-th allocation fails. Whether the text could be made.
static bool emit_failing(const Kit *k, int64_t n) {
  char *text = NULL;
  const int64_t live = ritz_memory_live();

  ritz_memory_fail_at(n);
  const int ierr = ritz_emit_cpu(k->ceed, k->plan, k->target, &text);
  ritz_memory_fail_at(0);
  const bool is_made = ierr == CEED_ERROR_SUCCESS, is_honest = is_made == (text != NULL);
  RITZ_FREE(&text);
  tap_check(is_honest && ritz_memory_live() == live, __FILE__, __LINE__, "no memory is left",
            "allocation %lld: code %d", (long long)n, ierr);
  return is_made;
}

TEST(failed_allocations_are_reported_and_leave_nothing) {
  for (int i = 0; i < NUM_CASES && !tap_failed(); i++) {
    if (cases[i].action != ACTION_APPLY) continue;
    Kit k = kit_open();
    int64_t n = 1;

    plan_case(&k, &cases[i]);
    if (tap_failed()) return;
    while (!emit_failing(&k, n) && !tap_failed()) n++;
    CHECK(n > 1, "%s: %lld allocations", cases[i].name, (long long)n);
    kit_close(&k);
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--write-golden")) return write_goldens();
  return tap_main(argc, argv,
                  TESTS(equal_plans_have_equal_texts, equal_operators_on_different_meshes_have_equal_texts,
                        texts_are_made_from_plans_whose_operators_are_gone,
                        equal_writings_mean_equal_texts_and_other_tables_or_defines_other_writings,
                        defines_of_the_context_stand_before_the_users_text_and_nowhere_else,
                        typical_operators_have_the_texts_that_are_kept, kernels_compile_without_warnings,
                        texts_hold_finite_numbers_alone, failed_allocations_are_reported_and_leave_nothing));
}
