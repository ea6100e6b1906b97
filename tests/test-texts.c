// SPDX-License-Identifier: BSD-2-Clause
// Texts of QFunctions in the habits of real codes (tests/texts-kit.h): what the C compiler refuses is
// compiled as C++, headers of applications are found, refusals are told once and remembered.
#include <math.h>
#include <ritz/jit.h>
#include <ritz/operator.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/gen-kit.h"
#include "tests/texts-kit.h"

static const char app[] = "tests/texts/app/"; // headers of an application

// ---- Surroundings ----

static void begin(void) {
  static const char *const names[] = {"RITZ_CXX", "RITZ_CXXFLAGS", "RITZ_INCLUDE_PATH", "RITZ_WARNINGS"};

  gen_begin();
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) unsetenv(names[i]);
}

static bool has_cxx(void) {
  return !system("g++ --version >/dev/null 2>&1") || !system("clang++ --version >/dev/null 2>&1");
}

#define NEEDS_COMPILERS()                                                                                    \
  do {                                                                                                       \
    begin();                                                                                                 \
    if (!gen_has_compiler()) SKIP("no C compiler in PATH");                                                  \
    if (!has_cxx()) SKIP("no C++ compiler in PATH");                                                         \
  } while (0)

static bool is_on(Ceed ceed, const char *start) {
  const char *resource = "";

  CeedGetResource(ceed, &resource);
  return !strncmp(resource, start, strlen(start));
}

// OpenCL C is no C++, CUDA no C; processors compile both where there is a compiler, or call the function.
static bool is_compiled(Ceed ceed, const Text *text) {
  if (is_on(ceed, "/gpu/opencl")) return text->language != TEXT_CXX;
  return !is_on(ceed, "/gpu/cuda") || text->language != TEXT_C;
}

static const char *refusal_of(Ceed ceed) {
  return is_on(ceed, "/gpu/opencl") ? "does not compile as OpenCL C, which is no C++" : "does not compile";
}

// ---- Results ----

// What the reference backend makes of the function that the program has; owned by the caller (free), NULL on
// failure.
static double *reference_result(const Text *text, bool is_diagonal) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  TextRun r = {.op = NULL};
  const int ierr = texts_open(ceed, text, &r), code = ierr ? ierr : texts_apply(&r, is_diagonal);
  double *values = code ? NULL : reference_new_values(r.v);

  texts_close(&r);
  CeedDestroy(&ceed);
  return values;
}

// Sums of some dozens of products in another order; powers and exponentials of differently compiled code.
static void check_result(const TextRun *r, const Text *text, bool is_diagonal) {
  CeedSize n = 0;
  double *wanted = reference_result(text, is_diagonal), *found = reference_new_values(r->v), size = 0;

  CHECK_OK(CeedVectorGetLength(r->v, &n));
  CHECK(wanted && found, "no values");
  for (CeedSize i = 0; i < n; i++) size = fmax(size, fabs(wanted[i]));
  for (CeedSize i = 0; i < n && !tap_failed(); i++)
    CHECK(fabs(found[i] - wanted[i]) <= 500 * CEED_EPSILON * size, "%s, %s, entry %d: %.17g, wanted %.17g",
          text->name, is_diagonal ? "diagonal" : "apply", (int)i, found[i], wanted[i]);
  CHECK(size > 0, "nothing but zeros");
  free(wanted);
  free(found);
}

static void check_text(Ceed ceed, const Text *text) {
  TextRun r = {.op = NULL};

  CHECK_OK(texts_open(ceed, text, &r));
  for (int is_diagonal = 0; is_diagonal < 2 && !tap_failed(); is_diagonal++) {
    if (!is_compiled(ceed, text)) {
      if (!is_diagonal) CHECK_ERROR(ceed, texts_apply(&r, is_diagonal), CEED_ERROR_BACKEND, refusal_of(ceed));
      continue;
    }
    CHECK_OK(texts_apply(&r, is_diagonal));
    check_result(&r, text, is_diagonal);
  }
  texts_close(&r);
}

TEST_EACH_BACKEND(texts_of_all_habits_compute_what_the_function_computes) {
  begin();
  CHECK_OK(CeedAddJitSourceRoot(ceed, app));
  for (int i = 0; i < NUM_TEXTS && !tap_failed(); i++) check_text(ceed, &texts[i]);
}

// ---- Which language ----

static void explain(CeedOperator op, char *text, size_t size) {
  FILE *file = tmpfile();

  CHECK_OK(RitzOperatorExplain(op, file));
  rewind(file);
  text[fread(text, 1, size - 1, file)] = '\0';
  fclose(file);
}

// No step down, no word on stderr, an explanation that has `part`.
static void check_language(Ceed ceed, const Text *text, const char *part) {
  TextRun r = {.op = NULL};
  GenErrors errors;
  char words[16384];

  CHECK_OK(texts_open(ceed, text, &r));
  gen_errors_begin(&errors);
  const int ierr = texts_apply(&r, false), code = ierr ? ierr : texts_apply(&r, true);
  gen_errors_end(&errors);
  CHECK_OK(code);
  CHECK(!errors.text[0], "%s: %s", text->name, errors.text);
  explain(r.op, words, sizeof(words));
  CHECK(strstr(words, "the text of the QFunction inside") && strstr(words, part), "%s: wanted '%s' in\n%s",
        text->name, part, words);
  CHECK(strstr(words, "diagonal: one generated kernel") && !strstr(words, "not compiled yet"), "%s:\n%s",
        text->name, words);
  texts_close(&r);
}

TEST(what_is_not_c_runs_as_cxx_with_its_text_in_the_kernel_and_without_a_word) {
  NEEDS_COMPILERS();
  Ceed ceed = tap_ceed("/cpu/self");
  CHECK_OK(CeedAddJitSourceRoot(ceed, app));
  for (int i = 0; i < NUM_TEXTS && !tap_failed(); i++)
    check_language(ceed, &texts[i],
                   texts[i].language == TEXT_CXX ? "compiled as: C++17" : "compiled as: C11");
  CeedDestroy(&ceed);
}

// Compilers of another family.
TEST(texts_are_compiled_by_clang_as_well) {
  NEEDS_COMPILERS();
  if (system("clang++ --version >/dev/null 2>&1")) SKIP("no clang++ in PATH");
  setenv("RITZ_CC", "clang", 1);
  Ceed ceed = tap_ceed("/cpu/self");
  CHECK_OK(CeedAddJitSourceRoot(ceed, app));
  for (int i = 1; i < NUM_TEXTS && !tap_failed(); i += 4)
    check_language(ceed, &texts[i],
                   texts[i].language == TEXT_CXX ? "compiled as: C++17" : "compiled as: C11");
  for (int i = 5; i < NUM_TEXTS && !tap_failed(); i++) check_text(ceed, &texts[i]);
  CeedDestroy(&ceed);
  unsetenv("RITZ_CC");
}

// One apply in a context of its own; what is said on stderr is kept.
static void apply_alone(const Text *text, const char *root, GenErrors *errors, char *words, size_t size) {
  Ceed ceed = tap_ceed("/cpu/self");
  TextRun r = {.op = NULL};

  if (root) CHECK_OK(CeedAddJitSourceRoot(ceed, root));
  CHECK_OK(texts_open(ceed, text, &r));
  gen_errors_begin(errors);
  const int ierr = texts_apply(&r, false);
  gen_errors_end(errors);
  CHECK_OK(ierr);
  if (!ierr) check_result(&r, text, false);
  if (words) explain(r.op, words, size);
  texts_close(&r);
  CeedDestroy(&ceed);
}

TEST(without_a_cxx_compiler_the_function_pointer_is_called) {
  GenErrors errors;
  char words[16384];

  NEEDS_COMPILERS();
  setenv("RITZ_CACHE_DIR", tap_temp_file("cache", NULL, 0), 1);
  setenv("RITZ_CXX", "/no/such/compiler", 1);
  apply_alone(&texts[2], app, &errors, words, sizeof(words));
  CHECK(gen_count(errors.text, "Ritz: ") == 1 && strstr(errors.text, "flow-struct.h") &&
            !strstr(errors.text, "C++"),
        "%s", errors.text);
  CHECK(strstr(words, "calls the application's function"), "%s", words);
  unsetenv("RITZ_CXX");
  apply_alone(&texts[2], app, &errors, words, sizeof(words));
  CHECK(!errors.text[0] && strstr(words, "compiled as: C++17"), "%s%s", errors.text, words);
}

// Of a file that is C++ the first kernel is refused as C, the next one, of other lanes, no more.
TEST(the_language_of_a_file_is_found_once) {
  static const char *const lanes[] = {"2", "4", "8"};
  RitzJitCounters before, after;
  GenErrors errors;

  NEEDS_COMPILERS();
  setenv("RITZ_CACHE_DIR", tap_temp_file("cache", NULL, 0), 1);
  setenv("RITZ_CXXFLAGS", "-Og", 1);
  for (int i = 0; i < 3; i++) {
    CHECK_OK(RitzJitGetCounters(&before));
    setenv("RITZ_LANES", lanes[i], 1);
    apply_alone(&texts[2], app, &errors, NULL, 0);
    CHECK_OK(RitzJitGetCounters(&after));
    const int num = (int)(after.compilations - before.compilations);
    CHECK(i == 0 ? num >= 1 : num == 1, "%d compilers for kernel %d", num, i);
  }
  unsetenv("RITZ_CXXFLAGS");
  unsetenv("RITZ_LANES");
}

// ---- What neither compiler takes ----

enum { LONG = 8300 };

// A source file with `text` before the function of flow-both.h; "file:FlowBoth". *t is a text of it.
static void write_text(const char *name, const char *text, char source[LONG], Text *t) {
  char folder[4096], whole[LONG];
  const char *path;

  if (!getcwd(folder, sizeof(folder))) abort();
  snprintf(whole, sizeof(whole), "%s\n#include \"%s/tests/texts/flow-both.h\"\n", text, folder);
  path = tap_temp_file(name, whole, strlen(whole));
  snprintf(source, LONG, "%s:FlowBoth", path);
  *t = (Text){name, source, FlowBoth, TEXT_BOTH};
}

TEST(what_both_refuse_is_warned_of_once_a_file_however_many_operators_and_contexts) {
  char source[LONG], words[16384];
  GenErrors errors;
  Text text;

  NEEDS_COMPILERS();
  write_text("refused.h", "static int wrong = ;", source, &text);
  apply_alone(&text, NULL, &errors, words, sizeof(words));
  CHECK(gen_count(errors.text, "Ritz: ") == 1 && gen_count(errors.text, "refused.h:1:") >= 2 &&
            strstr(errors.text, "nor as C++"),
        "%s", errors.text);
  for (int i = 0; i < 2; i++) {
    text.name = i ? "another" : "the same";
    apply_alone(&text, NULL, &errors, words, sizeof(words));
    CHECK(!errors.text[0], "%s", errors.text);
    CHECK(strstr(words, "because: ") && strstr(words, "refused.h:1:"), "%s", words);
  }
  setenv("RITZ_STRICT", "1", 1);
  Ceed ceed = tap_ceed("/cpu/self");
  TextRun r = {.op = NULL};
  CHECK_OK(texts_open(ceed, &text, &r));
  CHECK_ERROR(ceed, texts_apply(&r, false), CEED_ERROR_BACKEND, "refused.h:1:");
  texts_close(&r);
  CeedDestroy(&ceed);
  unsetenv("RITZ_STRICT");
}

// ---- Headers of applications ----

TEST(a_header_is_found_in_the_folders_of_program_and_environment_and_the_message_names_both_ways) {
  const Text *text = &texts[5];
  GenErrors errors;
  char words[16384], folders[LONG];

  NEEDS_COMPILERS();
  setenv("RITZ_CACHE_DIR", tap_temp_file("cache", NULL, 0), 1);
  apply_alone(text, NULL, &errors, words, sizeof(words));
  CHECK(gen_count(errors.text, "Ritz: ") == 1 && strstr(errors.text, "flow/tensor.h") &&
            strstr(errors.text, "CeedAddJitSourceRoot") && strstr(errors.text, "RITZ_INCLUDE_PATH"),
        "%s", errors.text);
  CHECK(strstr(words, "calls the application's function"), "%s", words);
  apply_alone(text, app, &errors, words, sizeof(words));
  CHECK(!errors.text[0] && strstr(words, "compiled as: C++17"), "%s%s", errors.text, words);
  snprintf(folders, sizeof(folders), "/no/such/folder::%s", app);
  setenv("RITZ_INCLUDE_PATH", folders, 1);
  apply_alone(text, NULL, &errors, words, sizeof(words));
  CHECK(!errors.text[0] && strstr(words, "compiled as: C++17"), "%s%s", errors.text, words);
  unsetenv("RITZ_INCLUDE_PATH");
}

TEST_EACH_BACKEND(headers_below_RITZ_INCLUDE_PATH_are_found) {
  char source[LONG], folder[4096], header[8192];
  Text text;
  TextRun r = {.op = NULL};

  begin();
  snprintf(folder, sizeof(folder), "%s", tap_temp_file("include", NULL, 0));
  mkdir(folder, 0700);
  snprintf(header, sizeof(header), "%s/below.h", folder);
  FILE *file = fopen(header, "w");
  fputs("#define FLOW_BELOW 1\n", file);
  fclose(file);
  write_text("above.h", "#include <below.h>\n#if !FLOW_BELOW\nnot found\n#endif", source, &text);
  setenv("RITZ_INCLUDE_PATH", folder, 1);
  CHECK_OK(texts_open(ceed, &text, &r));
  CHECK_OK(texts_apply(&r, false));
  check_result(&r, &text, false);
  texts_close(&r);
  unsetenv("RITZ_INCLUDE_PATH");
}

// ---- Later processes ----

// Files are trusted when they are older than the compilation; clocks of file systems tick every few ms.
static void let_clock_tick(void) { nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); }

// An apply in a process of its own: exit status 0: the text runs, 1: its function; 2 more when a compiler has
// run, 4 when there are words on stderr.
static int apply_in_child(const Text *text) {
  const pid_t child = fork();
  int status = 0;

  if (child) return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  GenErrors errors;
  char words[16384];
  RitzJitCounters before, after;

  RitzJitGetCounters(&before);
  apply_alone(text, NULL, &errors, words, sizeof(words));
  RitzJitGetCounters(&after);
  const bool has_compiled = after.compilations > before.compilations;
  _exit(tap_failed() ? 100 : !strstr(words, "compiled as:") + 2 * has_compiled + 4 * !!errors.text[0]);
}

// The C compiler's refusal is an entry of its own. Of a compiler by another name nothing is known about
// files.
TEST(the_language_is_part_of_the_key_and_of_lists) {
  RitzJitEntry *entries = NULL;
  const char *compiler = NULL;
  GenErrors errors;
  size_t num = 0;

  NEEDS_COMPILERS();
  setenv("RITZ_CACHE_DIR", tap_temp_file("cache", NULL, 0), 1);
  CHECK_OK(RitzJitGetCompiler(&compiler, NULL));
  setenv("RITZ_CC", compiler, 1);
  CHECK(apply_in_child(&texts[3]) == 2, "the first process");
  CHECK_OK(RitzJitList(NULL, &num, &entries));
  CHECK(num == 2 && !entries[0].is_refused && !strcmp(entries[0].name, "FlowConstexpr") &&
            entries[1].is_refused && !strcmp(entries[1].name, "FlowConstexpr as C") &&
            strcmp(entries[0].key, entries[1].key) != 0,
        "%zu entries", num);
  free(entries);
  CHECK(apply_in_child(&texts[3]) == 0, "a compiler has run again");
  apply_alone(&texts[3], NULL, &errors, NULL, 0);
  CHECK(!errors.text[0], "%s", errors.text);
  unsetenv("RITZ_CC");
}

TEST(a_later_process_runs_no_compiler_for_a_refused_text_until_its_header_appears) {
  char source[LONG], folder[4096], header[8192];
  Text text;

  NEEDS_COMPILERS();
  setenv("RITZ_CACHE_DIR", tap_temp_file("cache", NULL, 0), 1);
  snprintf(folder, sizeof(folder), "%s", tap_temp_file("later", NULL, 0));
  mkdir(folder, 0700);
  snprintf(header, sizeof(header), "%s/later.h", folder);
  write_text("waits.h", "#include <later.h>", source, &text);
  setenv("RITZ_INCLUDE_PATH", folder, 1);
  let_clock_tick();
  CHECK(apply_in_child(&text) == 1 + 2 + 4, "the first process");
  CHECK(apply_in_child(&text) == 1, "the second one");
  setenv("RITZ_WARNINGS", "all", 1);
  CHECK(apply_in_child(&text) == 1 + 4, "where all warnings are wanted");
  unsetenv("RITZ_WARNINGS");
  FILE *file = fopen(header, "w");
  fputs("#define LATER 1\n", file);
  fclose(file);
  let_clock_tick();
  CHECK(apply_in_child(&text) == 0 + 2, "with the header");
  CHECK(apply_in_child(&text) == 0, "from the cache");
  unsetenv("RITZ_INCLUDE_PATH");
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(texts_of_all_habits_compute_what_the_function_computes,
            what_is_not_c_runs_as_cxx_with_its_text_in_the_kernel_and_without_a_word,
            texts_are_compiled_by_clang_as_well, without_a_cxx_compiler_the_function_pointer_is_called,
            the_language_of_a_file_is_found_once,
            what_both_refuse_is_warned_of_once_a_file_however_many_operators_and_contexts,
            a_header_is_found_in_the_folders_of_program_and_environment_and_the_message_names_both_ways,
            headers_below_RITZ_INCLUDE_PATH_are_found, the_language_is_part_of_the_key_and_of_lists,
            a_later_process_runs_no_compiler_for_a_refused_text_until_its_header_appears));
}
