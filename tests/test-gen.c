// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of /cpu/self/gen: text, pointer and what happens when one of them is not what it should be.
// Results are those of the reference backend, whatever runs; warnings, RitzOperatorExplain and
// RitzOperatorGetSource tell what does. Random operators: test-gen-random.c.
#define GEN_PROGRAM_FLAG
#define GEN_DEFINED 42

#include "tests/gen-kit.h"
#include "tests/gen-qfunctions.h"
#include "tests/gen-run.h"
#include "tests/gen-sources/includes.h"
#include <ceed/backend.h>
#include <stdbool.h>
#include <sys/stat.h>

// Defined at the end of this file, after a header that is to be included last.
static CeedQFunctionUser function_with_macros(const char **source);

// ---- Texts ----

TEST(the_text_of_a_function_is_part_of_the_kernel) {
  GEN_NEEDS_COMPILER();
  check_function(&mass, BY_TEXT, 0, NULL);
}

TEST(texts_may_branch_loop_until_they_converge_use_local_arrays_and_the_functions_of_math_h) {
  const Function f = {.f = GenHard, .source = GenHard_loc, .dim = 2};

  GEN_NEEDS_COMPILER();
  check_function(&f, BY_TEXT, 0, NULL);
}

// Folder of the sources, with a final '/'.
static const char *sources(void) {
  static char path[4096];

  snprintf(path, sizeof(path), "%s", GenIncludes_loc);
  *(strrchr(path, '/') + 1) = '\0';
  return path;
}

static const char *root(const char *end) {
  static char path[5000];

  snprintf(path, sizeof(path), "%sroot%s", sources(), end);
  return path;
}

TEST(texts_include_files_beside_them_and_below_source_roots_and_see_the_defines_of_the_program) {
  Function f = {.f = GenIncludes, .source = GenIncludes_loc, .define = "GEN_DEFINED=42"};

  GEN_NEEDS_COMPILER();
  f.root = root("/");
  check_function(&f, BY_TEXT, 0, NULL);
  f.root = root("");
  if (!tap_failed()) check_function(&f, BY_TEXT, 0, NULL);
}

TEST(without_the_source_root_the_function_pointer_is_called) {
  const Function f = {.f = GenIncludes, .source = GenIncludes_loc, .define = "GEN_DEFINED=42"};

  GEN_NEEDS_COMPILER();
  char *cache = strdup(getenv("RITZ_CACHE_DIR"));
  setenv("RITZ_CACHE_DIR", tap_temp_file("cache", NULL, 0), 1); // where nobody was told of the file
  check_function(&f, BY_POINTER, 1, "gen-root.h");
  setenv("RITZ_CACHE_DIR", cache, 1);
  free(cache);
}

TEST(with_another_define_than_that_of_the_program_the_function_pointer_is_called) {
  Function f = {.f = GenIncludes, .source = GenIncludes_loc, .define = "GEN_DEFINED=43"};

  GEN_NEEDS_COMPILER();
  f.root = root("/");
  check_function(&f, BY_POINTER, 1, "GenIncludes");
}

// A source that is found below a root by its relative path.
TEST(sources_are_found_below_source_roots) {
  Function f = {.f = GenMass, .source = "gen-qfunctions.h:GenMass"};
  char tests[5000];

  GEN_NEEDS_COMPILER();
  snprintf(tests, sizeof(tests), "%s../", sources());
  f.root = tests;
  check_function(&f, BY_TEXT, 0, NULL);
}

TEST(macros_and_names_of_a_text_may_be_those_of_kernels) {
  Function f = {0};

  GEN_NEEDS_COMPILER();
  f.f = function_with_macros(&f.source);
  check_function(&f, BY_TEXT, 0, NULL);
}

TEST(defines_of_the_program_may_be_names_of_kernels) {
  static const char *const defines[] = {"P=3", "N", "line=7", "x=2", "batch(a)=(a)+1", "RITZ=ritz ritz"};

  GEN_NEEDS_COMPILER();
  Run r = open_on("/cpu/self/gen", &mass);
  for (size_t i = 0; i < sizeof(defines) / sizeof(defines[0]); i++)
    CHECK_OK(CeedAddJitDefine(r.ceed, defines[i]));
  check_applies(&r, &mass, BY_TEXT, 0, NULL);
  close_run(&r);
}

// ---- Contexts ----

static void check_changing_context(bool keeps_context) {
  GenNumbers numbers = {2.5, 0};
  const Function f = {.f = GenScaled,
                      .source = GenScaled_loc,
                      .context = &numbers,
                      .context_size = sizeof(numbers),
                      .keeps_context = keeps_context};
  Run r = open_on("/cpu/self/gen", &f);
  GenNumbers *data = NULL;

  check_applies(&r, &f, BY_TEXT, 0, NULL);
  for (int i = 0; i < 3 && !tap_failed(); i++) {
    CHECK_OK(CeedQFunctionContextGetData(r.context, CEED_MEM_HOST, &data));
    data->factor -= 1.125;
    CHECK_OK(CeedQFunctionContextRestoreData(r.context, &data));
    check_applies(&r, &f, BY_TEXT, 0, NULL);
  }
  close_run(&r);
}

TEST(contexts_that_change_between_applies_take_effect) {
  GEN_NEEDS_COMPILER();
  check_changing_context(false);
  if (!tap_failed()) check_changing_context(true);
}

TEST(fields_of_contexts_that_are_set_through_the_operator_take_effect) {
  const GenNumbers numbers = {2.5, 0};
  const Function f = {
      .f = GenScaled, .source = GenScaled_loc, .context = &numbers, .context_size = sizeof(numbers)};
  CeedContextFieldLabel label = NULL;
  double factor = -7;

  GEN_NEEDS_COMPILER();
  Run r = open_on("/cpu/self/gen", &f);
  CHECK_OK(CeedQFunctionContextRegisterDouble(r.context, "factor", 0, 1, NULL));
  CHECK_OK(CeedOperatorGetContextFieldLabel(r.op, "factor", &label));
  check_applies(&r, &f, BY_TEXT, 0, NULL);
  CHECK_OK(CeedOperatorSetContextDouble(r.op, label, &factor));
  if (!tap_failed()) check_applies(&r, &f, BY_TEXT, 0, NULL);
  close_run(&r);
}

// Every point is counted once in each apply, as on the reference backend: idle lanes and looks do not count.
TEST(functions_that_write_their_context_run_on_the_reference_backend) {
  const CeedInt zero = 0;
  const Function f = {
      .f = GenCounting, .source = GenCounting_loc, .context = &zero, .context_size = sizeof(zero)};
  const CeedInt *count = NULL;

  GEN_NEEDS_COMPILER();
  Run r = open_on("/cpu/self/gen", &f);
  check_applies(&r, &f, BY_REF, 1, "GenCounting");
  CHECK_OK(CeedQFunctionContextGetDataRead(r.context, CEED_MEM_HOST, &count));
  const CeedInt found = *count;
  CHECK_OK(CeedQFunctionContextRestoreDataRead(r.context, &count));
  CHECK(found == 2 * r.num_points, "%d points counted in two applies of %d", (int)found, (int)r.num_points);
  close_run(&r);
}

TEST(functions_without_text_that_write_their_context_run_on_the_reference_backend) {
  const CeedInt zero = 0;
  const Function f = {
      .f = GenCounting, .source = "", .name = "count", .context = &zero, .context_size = sizeof(zero)};

  gen_begin();
  check_function(&f, BY_REF, 1, "count");
}

// ---- Failures of the function ----

static void check_failing(const char *resource) {
  const GenNumbers numbers = {2.5, 0};
  const Function f = {
      .f = GenScaled, .source = GenScaled_loc, .context = &numbers, .context_size = sizeof(numbers)};
  Run r = open_on(resource, &f);
  GenNumbers *data = NULL;
  CeedScalar *array = NULL;
  GenErrors errors;

  gen_errors_begin(&errors); // perhaps without a compiler
  const int ierr = apply(&r);
  gen_errors_end(&errors);
  CHECK_OK(ierr);
  for (CeedInt code = -2; code <= 2; code++) {
    CHECK_OK(CeedQFunctionContextGetData(r.context, CEED_MEM_HOST, &data));
    data->code = code;
    CHECK_OK(CeedQFunctionContextRestoreData(r.context, &data));
    const int wanted = code > 0 ? CEED_ERROR_BACKEND : code;
    CHECK(apply(&r) == wanted, "code %d", (int)code);
    CHECK_OK(CeedVectorGetArray(r.u, CEED_MEM_HOST, &array)); // nothing is locked
    CHECK_OK(CeedVectorRestoreArray(r.u, &array));
    if (code)
      CHECK_ERROR(r.ceed, CeedVectorGetArray(r.v, CEED_MEM_HOST, &array), CEED_ERROR_BACKEND, "failed");
    CHECK_OK(CeedVectorGetArrayWrite(r.v, CEED_MEM_HOST, &array));
    CHECK_OK(CeedVectorRestoreArray(r.v, &array));
    CHECK(apply(&r) == wanted, "code %d", (int)code);
    if (code == 0) CHECK(is_right(&r, &f), "after a failure");
  }
  close_run(&r);
}

TEST(a_failing_function_fails_the_apply_and_leaves_operator_and_vectors_usable) {
  GEN_NEEDS_COMPILER();
  check_failing("/cpu/self/gen");
  if (!tap_failed()) check_failing("/cpu/self/gen:threads=2");
  setenv("RITZ_QFUNCTION", "pointer", 1);
  if (!tap_failed()) check_failing("/cpu/self/gen");
  setenv("RITZ_CC", "/nonexistent", 1);
  if (!tap_failed()) check_failing("/cpu/self/gen");
}

// The first apply fails already.
TEST(a_function_that_fails_from_the_beginning_can_be_mended) {
  const GenNumbers numbers = {2.5, 3};
  const Function f = {
      .f = GenScaled, .source = GenScaled_loc, .context = &numbers, .context_size = sizeof(numbers)};
  GenNumbers *data = NULL;

  GEN_NEEDS_COMPILER();
  Run r = open_on("/cpu/self/gen", &f);
  CHECK(apply(&r) == CEED_ERROR_BACKEND, "the function returns 3");
  CHECK_OK(CeedQFunctionContextGetData(r.context, CEED_MEM_HOST, &data));
  data->code = 0;
  CHECK_OK(CeedQFunctionContextRestoreData(r.context, &data));
  check_applies(&r, &f, BY_TEXT, 0, NULL);
  close_run(&r);
}

// ---- Numbers of points ----

static void check_vec_length(CeedInt dim, CeedInt n, const char *path, int num_warnings) {
  const Function f = {.f = GenBlocks,
                      .source = GenBlocks_loc,
                      .dim = dim,
                      .vec_length = n,
                      .context = &n,
                      .context_size = sizeof(n)};

  if (tap_failed()) return;
  check_function(&f, path, num_warnings, NULL);
  if (tap_failed()) tap_note("vector length %d in %dD", (int)n, (int)dim);
}

// Lanes of a point, points of a row, all points of an element: the first that the length divides.
TEST(the_number_of_points_in_a_call_is_a_multiple_of_the_vector_length) {
  GEN_NEEDS_COMPILER();
  check_vec_length(1, 2, BY_TEXT, 0);
  check_vec_length(1, 3, BY_TEXT, 0);
  check_vec_length(1, 6, BY_TEXT, 0);
  check_vec_length(2, 9, UNFUSED, 1);
  setenv("RITZ_QFUNCTION", "pointer", 1);
  check_vec_length(1, 3, BY_POINTER, 0);
  check_vec_length(2, 9, UNFUSED, 1);
  setenv("RITZ_CC", "/nonexistent", 1);
  check_vec_length(1, 2, UNFUSED, 1);
  check_vec_length(2, 9, UNFUSED, 1);
}

// ---- Texts that cannot be used ----

TEST(a_flag_that_only_the_program_has_makes_the_function_pointer_win) {
  const Function f = {.f = GenByFlag, .source = GenByFlag_loc};
  const Function named = {.f = GenByFlag, .source = GenByFlag_loc, .name = "some operator"};

  GEN_NEEDS_COMPILER();
  check_function(&f, BY_POINTER, 1, "GenByFlag");
  if (!tap_failed()) check_function(&named, BY_POINTER, 1, "some operator");
  if (!tap_failed()) check_function(&named, BY_POINTER, 1, "GenByFlag");
}

// What is left of nearly equal numbers is rounding: the text may add in another order, or the program's
// compiler see that nothing is left. Sizes of the input do not matter.
TEST(a_text_that_rounds_otherwise_is_that_of_the_function) {
  const Function functions[] = {{.f = GenNearly, .source = GenNearly_loc},
                                {.f = GenCancelled, .source = GenCancelled_loc}};
  const double factors[] = {1, 1e-6, 1e6};

  GEN_NEEDS_COMPILER();
  setenv("RITZ_STRICT", "1", 1);
  for (int k = 0; k < 6; k++) {
    Run r = open_on("/cpu/self/gen", &functions[k % 2]);
    CHECK_OK(CeedVectorScale(r.u, (CeedScalar)factors[k / 2]));
    CHECK_OK(apply(&r));
    check_path(r.op, BY_TEXT);
    close_run(&r);
  }
}

TEST(a_text_that_differs_by_a_millionth_makes_the_function_pointer_win) {
  const Function slightly = {.f = GenSlightly, .source = GenSlightly_loc};

  GEN_NEEDS_COMPILER();
  if (sizeof(CeedScalar) == 4) SKIP("a millionth is rounding in float");
  check_function(&slightly, BY_POINTER, 1, "GenSlightly");
}

// Active inputs of zeros, and data of zeros, hide nothing.
TEST(zeros_do_not_hide_that_text_and_function_differ) {
  const Function f = {.f = GenByFlag, .source = GenByFlag_loc};
  GenErrors errors;

  GEN_NEEDS_COMPILER();
  Run r = open_on("/cpu/self/gen", &f);
  CHECK_OK(CeedVectorSetValue(r.u, 0));
  CHECK_OK(CeedVectorSetValue(r.q, 0));
  gen_errors_begin(&errors);
  int ierr = apply(&r);
  gen_errors_end(&errors);
  CHECK_OK(ierr);
  CHECK(gen_count(errors.text, "Ritz: ") == 1, "%s", errors.text);
  check_path(r.op, BY_POINTER);
  close_run(&r);
}

// C has no way to write a path with both kinds of delimiters of an #include.
TEST(paths_of_sources_may_hold_blanks_quotes_and_other_characters_of_shells_and_of_c) {
  GEN_NEEDS_COMPILER();
  check_folder("it's  two blanks, 50%d, $HOME, a\\nb, a:b, caf\xc3\xa9, <x>y, #&|*?(){}; ", BY_TEXT, 0);
  if (!tap_failed()) check_folder("say \"hello\", it's  two blanks, 50%d, $HOME, a\\nb, a:b #;", BY_TEXT, 0);
  if (!tap_failed()) check_folder("say \"hello\" <x>", BY_POINTER, 1);
}

TEST(a_syntax_error_is_reported_with_file_and_line_and_the_function_pointer_is_called) {
  char text[2048], place[8300];
  Function f = {.f = GenMass, .name = "mass of the bell"};

  GEN_NEEDS_COMPILER();
  snprintf(text, sizeof(text), "%sstatic int wrong = ;\n", mass_text); // line 7
  f.source = write_source("wrong", text, "GenMass");
  snprintf(place, sizeof(place), "%.*s:7:", (int)(strrchr(f.source, ':') - f.source), f.source);
  check_function(&f, BY_POINTER, 1, place);
  f.name = "told of already";
  setenv("RITZ_WARNINGS", "once", 1);
  if (!tap_failed()) check_function(&f, BY_POINTER, 1, place);
  if (!tap_failed()) check_function(&f, BY_POINTER, 0, NULL);
  setenv("RITZ_WARNINGS", "all", 1);
}

TEST(a_text_without_the_function_makes_the_function_pointer_win) {
  Function f = {.f = GenMass};

  GEN_NEEDS_COMPILER();
  f.source = write_source("other", mass_text, "GenOther");
  check_function(&f, BY_POINTER, 1, "GenOther");
}

TEST(a_source_that_is_not_there_makes_the_function_pointer_win) {
  char source[8300];
  const Function f = {.f = GenMass, .source = source};

  GEN_NEEDS_COMPILER();
  snprintf(source, sizeof(source), "%s:GenMass", tap_temp_file("nowhere.h", NULL, 0));
  check_function(&f, BY_POINTER, 1, "nowhere.h");
}

TEST(a_function_without_source_is_called_without_a_warning) {
  const Function f = {.f = GenMass, .source = ""};

  GEN_NEEDS_COMPILER();
  check_function(&f, BY_POINTER, 0, NULL);
}

TEST(the_user_may_want_the_function_pointer) {
  GEN_NEEDS_COMPILER();
  setenv("RITZ_QFUNCTION", "pointer", 1);
  check_function(&mass, BY_POINTER, 0, NULL);
}

// A text that the kernel can be made of runs without a function; else there is nothing to call.
TEST(a_function_that_is_text_alone_runs_and_is_an_error_when_it_cannot) {
  Function f = {.f = NULL, .source = GenMass_loc};

  GEN_NEEDS_COMPILER();
  Run r = open_on("/cpu/self/gen", &f);
  CHECK_OK(apply(&r));
  CHECK(is_right(&r, &mass), "by its text");
  close_run(&r);

  const char *const wrong[] = {write_source("no function", "int x;\n", "GenMass"), "no/such/file.h:GenMass",
                               ""};
  for (int i = 0; i < 3 && !tap_failed(); i++) {
    GenErrors errors;
    f.source = wrong[i];
    r = open_on("/cpu/self/gen", &f);
    gen_errors_begin(&errors);
    const int code = apply(&r);
    gen_errors_end(&errors);
    CHECK(code == CEED_ERROR_BACKEND, "source '%s': code %d", f.source, code);
    close_run(&r);
  }
}

// ---- RITZ_STRICT ----

TEST(strictly_a_step_down_is_an_error) {
  const CeedInt zero = 0;
  const Function by_flag = {.f = GenByFlag, .source = GenByFlag_loc};
  const Function missing = {.f = GenMass, .source = "no/such/file.h:GenMass"};
  const Function counting = {
      .f = GenCounting, .source = GenCounting_loc, .context = &zero, .context_size = sizeof(zero)};
  Function wrong = {.f = GenMass};

  GEN_NEEDS_COMPILER();
  wrong.source = write_source("wrong", "int x = ;\n", "GenMass");
  setenv("RITZ_STRICT", "1", 1);
  check_refused(&by_flag, "GenByFlag");
  if (!tap_failed()) check_refused(&missing, "no/such/file.h");
  if (!tap_failed()) check_refused(&counting, "GenCounting");
  if (!tap_failed()) check_refused(&wrong, "function.h:1:");
  setenv("RITZ_CC", "/nonexistent", 1);
  if (!tap_failed()) check_refused(&mass, "/nonexistent");
}

TEST(strictly_what_was_asked_for_is_no_error) {
  const Function without = {.f = GenMass, .source = ""};

  GEN_NEEDS_COMPILER();
  setenv("RITZ_STRICT", "1", 1);
  check_function(&mass, BY_TEXT, 0, NULL);
  if (!tap_failed()) check_function(&without, BY_POINTER, 0, NULL);
  setenv("RITZ_QFUNCTION", "pointer", 1);
  if (!tap_failed()) check_function(&mass, BY_POINTER, 0, NULL);
  setenv("RITZ_STRICT", "0", 1);
  unsetenv("RITZ_QFUNCTION");
  const Function by_flag = {.f = GenByFlag, .source = GenByFlag_loc};
  if (!tap_failed()) check_function(&by_flag, BY_POINTER, 1, NULL);
}

// ---- No compiler ----

TEST(without_a_compiler_the_ahead_of_time_kernel_runs_with_one_warning_a_process) {
  const GenNumbers numbers = {2.5, 0};
  const Function scaled = {
      .f = GenScaled, .source = GenScaled_loc, .context = &numbers, .context_size = sizeof(numbers)};

  gen_begin();
  setenv("RITZ_CC", "/nonexistent/of/this/test", 1);
  setenv("RITZ_WARNINGS", "once", 1);
  for (int i = 0; i < 2 && !tap_failed(); i++) {
    Run first = open_on("/cpu/self/gen", &mass), second = open_beside(first.ceed, &scaled);

    check_applies(&first, &mass, UNFUSED, i == 0, i == 0 ? "/nonexistent/of/this/test" : NULL);
    if (!tap_failed()) check_applies(&second, &scaled, UNFUSED, 0, NULL);
    if (tap_failed()) return;
    close_beside(&second);
    close_run(&first);
  }
}

TEST(a_compiler_that_crashes_or_refuses_everything_leaves_the_ahead_of_time_kernel) {
  static const char *const scripts[] = {
      "#!/bin/sh\n[ \"$1\" != --version ] || { echo crash; exit; }\nkill -SEGV $$\n",
      "#!/bin/sh\n[ \"$1\" != --version ] || { echo no; exit; }\nexit 1\n"};

  gen_begin();
  for (int i = 0; i < 2 && !tap_failed(); i++) {
    const char *path = tap_temp_text("cc", scripts[i]);

    chmod(path, 0755);
    setenv("RITZ_CC", path, 1);
    Run r = open_on("/cpu/self/gen", &mass);
    GenErrors errors;
    gen_errors_begin(&errors);
    const int ierr = apply(&r);
    gen_errors_end(&errors);
    CHECK_OK(ierr);
    CHECK(is_right(&r, &mass), "result");
    check_path(r.op, UNFUSED);
    CHECK(gen_count(errors.text, "\n") <= 2, "a warning a step: %s", errors.text);
    close_run(&r);
  }
}

// ---- Texts that change ----

static CeedScalar factor_now;

static int by_factor(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = factor_now * in[3][i] * in[2][i] * in[0][i];
  return CEED_ERROR_SUCCESS;
}

static void write_file(const char *path, const char *format, int number) {
  FILE *file = fopen(path, "w");

  if (!file || fprintf(file, format, number) < 0 || fclose(file)) abort();
}

#define BY_FACTOR(factor)                                                                                    \
  "CEED_QFUNCTION(ByFactor)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const "     \
  "*out) {\n"                                                                                                \
  "  for (CeedInt i = 0; i < Q; i++) out[0][i] = " factor                                                    \
  " * in[3][i] * in[2][i] * in[0][i];\n  return 0;\n}\n"

// The file at `path` is written with the format and one number after the other; the text is compiled each
// time.
static void check_edits(const char *source, const char *path, const char *format) {
  const Function f = {.f = by_factor, .source = source};
  RitzJitCounters before, after;

  for (int i = 2; i <= 3 && !tap_failed(); i++) {
    write_file(path, format, i); // files of equal length
    factor_now = (CeedScalar)i;
    RitzJitGetCounters(&before);
    Run r = open_on("/cpu/self/gen", &f);
    GenErrors errors;
    gen_errors_begin(&errors);
    const int ierr = apply(&r);
    gen_errors_end(&errors);
    CHECK_OK(ierr);
    check_path(r.op, BY_TEXT);
    RitzJitGetCounters(&after);
    CHECK(after.compilations == before.compilations + 1, "version %d was not compiled", i);
    CHECK(!errors.text[0], "%s", errors.text);
    close_run(&r);
  }
}

TEST(a_text_that_is_edited_is_compiled_again_in_the_next_context) {
  char path[8192], source[8300];

  GEN_NEEDS_COMPILER();
  setenv("RITZ_CACHE_DIR", tap_temp_file("cache", NULL, 0), 1);
  snprintf(path, sizeof(path), "%s", tap_temp_file("edited.h", NULL, 0));
  snprintf(source, sizeof(source), "%s:ByFactor", path);
  check_edits(source, path, BY_FACTOR("%d"));
}

TEST(a_text_whose_helper_is_edited_is_compiled_again_in_the_next_context) {
  char helper[8192], source[8300], text[16384];

  GEN_NEEDS_COMPILER();
  setenv("RITZ_CACHE_DIR", tap_temp_file("cache", NULL, 0), 1);
  snprintf(helper, sizeof(helper), "%s", tap_temp_file("helper.h", NULL, 0));
  snprintf(text, sizeof(text), "#include \"./%s\"\n%s", strrchr(helper, '/') + 1, BY_FACTOR("FACTOR"));
  snprintf(source, sizeof(source), "%s:ByFactor", tap_temp_text("fixed.h", text));
  check_edits(source, helper, "#define FACTOR %d\n");
}

// ---- Several operators ----

// One part by its text, one by its pointer, one on the reference backend.
TEST(composites_of_parts_that_run_in_different_ways_are_sums) {
  const CeedInt zero = 0;
  const Function parts[] = {
      mass,
      {.f = GenMass, .source = ""},
      {.f = GenCounting, .source = GenCounting_loc, .context = &zero, .context_size = sizeof(zero)},
      {.f = GenByFlag, .source = GenByFlag_loc}};
  static const char *const paths[] = {BY_TEXT, BY_POINTER, BY_REF, BY_POINTER};
  GenErrors errors;
  CeedOperator sum = NULL;
  Run r[4];

  GEN_NEEDS_COMPILER();
  for (int i = 0; i < 4; i++)
    r[i] = i ? open_beside(r[0].ceed, &parts[i]) : open_on("/cpu/self/gen", &parts[0]);
  CHECK_OK(CeedOperatorCreateComposite(r[0].ceed, &sum));
  for (int i = 0; i < 4; i++) CHECK_OK(CeedOperatorCompositeAddSub(sum, r[i].op));
  gen_errors_begin(&errors);
  const int ierr = CeedOperatorApply(sum, r[0].u, r[0].v, CEED_REQUEST_IMMEDIATE);
  gen_errors_end(&errors);
  CHECK_OK(ierr);
  CHECK(gen_count(errors.text, "Ritz: ") == 2, "%s", errors.text);
  const CeedInt n = r[0].num_nodes;
  double *total = reference_new_values(r[0].v), *part;
  for (int i = 0; i < 4; i++) {
    check_path(r[i].op, paths[i]);
    CHECK_OK(apply(&r[i]));
    part = reference_new_values(r[i].v);
    for (CeedInt k = 0; k < n; k++) total[k] -= part[k];
    free(part);
  }
  CHECK_NEAR(reference_largest(n, total), 0.0, 100 * eps, "sum of the parts");
  free(total);
  CeedOperatorDestroy(&sum);
  for (int i = 3; i > 0; i--) close_beside(&r[i]);
  close_run(&r[0]);
}

// The first part writes the data of the second one, which nobody else has set.
static void check_handing_on(const char *resource, double *result) {
  const Function f = {.f = GenMass, .source = GenMass_loc, .lacks_data = true};
  Run r = open_on(resource, &f);
  CeedElemRestriction rstr = NULL, rstr_q = NULL;
  CeedBasis basis = NULL;
  CeedQFunction identity = NULL;
  CeedOperatorField *fields = NULL;
  CeedOperator first = NULL, both = NULL;

  CHECK_OK(CeedOperatorGetFields(r.op, NULL, &fields, NULL, NULL));
  CHECK_OK(CeedOperatorFieldGetElemRestriction(fields[0], &rstr));
  CHECK_OK(CeedOperatorFieldGetBasis(fields[0], &basis));
  CHECK_OK(CeedOperatorFieldGetElemRestriction(fields[2], &rstr_q));
  CHECK_OK(CeedQFunctionCreateIdentity(r.ceed, 1, CEED_EVAL_INTERP, CEED_EVAL_NONE, &identity));
  CHECK_OK(CeedOperatorCreate(r.ceed, identity, NULL, NULL, &first));
  CHECK_OK(CeedOperatorSetField(first, "input", rstr, basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(first, "output", rstr_q, CEED_BASIS_NONE, r.q));
  CHECK_OK(CeedOperatorCreateComposite(r.ceed, &both));
  CHECK_OK(CeedOperatorCompositeAddSub(both, first));
  CHECK_OK(CeedOperatorCompositeAddSub(both, r.op));
  for (int i = 0; i < 2; i++) CHECK_OK(CeedOperatorApply(both, r.u, r.v, CEED_REQUEST_IMMEDIATE));
  reference_values(r.v, result);
  CeedOperatorDestroy(&both);
  CeedOperatorDestroy(&first);
  CeedQFunctionDestroy(&identity);
  CeedElemRestrictionDestroy(&rstr);
  CeedElemRestrictionDestroy(&rstr_q);
  CeedBasisDestroy(&basis);
  close_run(&r);
}

TEST(a_part_of_a_composite_may_read_what_the_part_before_has_written) {
  double wanted[100], found[100];
  const CeedInt n = grid_num_nodes(1, NUM_ELEM, DEGREE);

  GEN_NEEDS_COMPILER();
  check_handing_on("/cpu/self/ref", wanted);
  if (!tap_failed()) check_handing_on("/cpu/self/gen", found);
  if (tap_failed()) return;
  CHECK_NEAR(reference_distance(n, wanted, found), 0.0, 100 * eps, "gen and ref");
  CHECK(reference_largest(n, wanted) > 0.01, "zero");
}

TEST(an_operator_can_be_explained_before_it_is_applied) {
  GEN_NEEDS_COMPILER();
  Run r = open_on("/cpu/self/gen", &mass);
  check_path(r.op, BY_TEXT);
  if (!tap_failed()) check_applies(&r, &mass, BY_TEXT, 0, NULL);
  close_run(&r);
}

// Its function cannot be looked at yet: an error, which does no harm.
TEST(an_operator_without_data_cannot_be_explained_yet) {
  const Function f = {.f = GenMass, .source = GenMass_loc, .lacks_data = true};

  GEN_NEEDS_COMPILER();
  Run r = open_on("/cpu/self/gen", &f);
  CHECK(!explain(r.op)[0], "explained");
  CHECK_OK(CeedVectorSetValue(r.q, 1));
  check_path(r.op, BY_TEXT);
  CHECK_OK(apply(&r));
  close_run(&r);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(the_text_of_a_function_is_part_of_the_kernel,
            texts_may_branch_loop_until_they_converge_use_local_arrays_and_the_functions_of_math_h,
            texts_include_files_beside_them_and_below_source_roots_and_see_the_defines_of_the_program,
            without_the_source_root_the_function_pointer_is_called,
            with_another_define_than_that_of_the_program_the_function_pointer_is_called,
            sources_are_found_below_source_roots, macros_and_names_of_a_text_may_be_those_of_kernels,
            defines_of_the_program_may_be_names_of_kernels, contexts_that_change_between_applies_take_effect,
            fields_of_contexts_that_are_set_through_the_operator_take_effect,
            functions_that_write_their_context_run_on_the_reference_backend,
            functions_without_text_that_write_their_context_run_on_the_reference_backend,
            a_failing_function_fails_the_apply_and_leaves_operator_and_vectors_usable,
            a_function_that_fails_from_the_beginning_can_be_mended,
            the_number_of_points_in_a_call_is_a_multiple_of_the_vector_length,
            a_flag_that_only_the_program_has_makes_the_function_pointer_win,
            zeros_do_not_hide_that_text_and_function_differ,
            a_text_that_rounds_otherwise_is_that_of_the_function,
            a_text_that_differs_by_a_millionth_makes_the_function_pointer_win,
            paths_of_sources_may_hold_blanks_quotes_and_other_characters_of_shells_and_of_c,
            a_syntax_error_is_reported_with_file_and_line_and_the_function_pointer_is_called,
            a_text_without_the_function_makes_the_function_pointer_win,
            a_source_that_is_not_there_makes_the_function_pointer_win,
            a_function_without_source_is_called_without_a_warning, the_user_may_want_the_function_pointer,
            a_function_that_is_text_alone_runs_and_is_an_error_when_it_cannot,
            strictly_a_step_down_is_an_error, strictly_what_was_asked_for_is_no_error,
            without_a_compiler_the_ahead_of_time_kernel_runs_with_one_warning_a_process,
            a_compiler_that_crashes_or_refuses_everything_leaves_the_ahead_of_time_kernel,
            a_text_that_is_edited_is_compiled_again_in_the_next_context,
            a_text_whose_helper_is_edited_is_compiled_again_in_the_next_context,
            composites_of_parts_that_run_in_different_ways_are_sums,
            a_part_of_a_composite_may_read_what_the_part_before_has_written,
            an_operator_can_be_explained_before_it_is_applied,
            an_operator_without_data_cannot_be_explained_yet));
}

#include "tests/gen-sources/macros.h"

static CeedQFunctionUser function_with_macros(const char **source) {
  *source = GenMacros_loc;
  return GenMacros;
}
