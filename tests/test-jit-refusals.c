// SPDX-License-Identifier: BSD-2-Clause
// Texts that compilers refuse, across processes: what is remembered on disk, for how long, and what is not.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "tests/jit-kit.h"

// ---- Processes ----

// One load in a process of its own, which remembers nothing: 10 times the compilations, plus the status.
static int load_in_child(const RitzJitSource *source) {
  fflush(NULL);
  const pid_t pid = fork();
  int status = 0;

  if (pid) {
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  RitzJitModule module = NULL;
  Ceed ceed = NULL;

  if (CeedInit("/cpu/self/ref", &ceed)) _exit(99);
  jit_start_counting();
  if (ritz_jit_load(ceed, 1, source, &module)) _exit(98);
  const RitzJitStatus found = ritz_jit_status(module);
  ritz_jit_release(&module);
  CeedDestroy(&ceed);
  _exit(10 * (int)jit_counted().compilations + (int)found);
}

#define CHECK_LOAD(source, num_compilations, wanted, what)                                                   \
  do {                                                                                                       \
    const int found_ = load_in_child(source);                                                                \
    CHECK(found_ == 10 * (num_compilations) + (int)(wanted), "%s: %d compilations, status %d", what,         \
          found_ / 10, found_ % 10);                                                                         \
  } while (0)

// A text that includes folder/helper.h; as C alone.
static RitzJitSource helped(const char *folder) {
  static char text[5000];

  snprintf(text, sizeof(text), "#include \"%s/helper.h\"\nint answer(void) { return HELP; }\n", folder);
  return jit_source(text);
}

// ---- Remembered ----

TEST(a_refusal_holds_for_later_processes_until_compiler_flags_or_files_change) {
  NEEDS_COMPILER();
  const char *folder = jit_begin(), *mine = jit_folder("mine"), *helper = jit_path(mine, "helper.h");
  const RitzJitSource source = helped(mine);

  jit_write(helper, "#define HELP undeclared\n");
  CHECK_LOAD(&source, 1, RITZ_JIT_REFUSED, "first");
  CHECK_LOAD(&source, 0, RITZ_JIT_REFUSED, "second");
  CHECK(jit_count_files(folder, ".refused") == 1 && jit_count_files(folder, ".log") == 1 &&
            jit_count_files(folder, ".lock") == 0,
        "files");
  setenv("RITZ_CFLAGS", "-DSOMETHING", 1);
  CHECK_LOAD(&source, 1, RITZ_JIT_REFUSED, "other flags");
  unsetenv("RITZ_CFLAGS");
  setenv("RITZ_CC", jit_wrapped_compiler(":"), 1);
  CHECK_LOAD(&source, 1, RITZ_JIT_REFUSED, "another compiler");
  unsetenv("RITZ_CC");
  CHECK_LOAD(&source, 0, RITZ_JIT_REFUSED, "as at first");
  jit_write(helper, "#define HELP 6\n");
  CHECK_LOAD(&source, 1, RITZ_JIT_READY, "mended");
  CHECK_LOAD(&source, 0, RITZ_JIT_READY, "from the cache");
  jit_write(helper, "#define HELP undeclared\n");
  CHECK_LOAD(&source, 0, RITZ_JIT_REFUSED, "as refused before");
}

TEST(a_header_that_was_nowhere_is_found_when_it_appears) {
  NEEDS_COMPILER();
  jit_begin();
  const char *mine = jit_folder("mine"), *root = jit_folder("root"), *path = jit_folder("path");
  const char *const places[] = {mine, root, path};
  char text[5000], *roots[] = {(char *)root};

  setenv("RITZ_INCLUDE_PATH", path, 1);
  jit_write(jit_path(mine, "helper.h"), "#include \"beside.h\"\n");
  snprintf(text, sizeof(text), "%s", helped(mine).text);
  RitzJitSource source = jit_source(text);
  source.num_roots = 1;
  source.roots = roots;
  source.user_file = jit_path(mine, "helper.h");
  setenv("RITZ_CXX", "/no/such/compiler", 1);
  for (size_t i = 0; i < 3 && !tap_failed(); i++) {
    const char *header = jit_path(places[i], "beside.h");

    unlink(header);
    RitzJitClear(NULL, NULL);
    CHECK_LOAD(&source, 1, RITZ_JIT_REFUSED, "nowhere");
    CHECK_LOAD(&source, 0, RITZ_JIT_REFUSED, "still nowhere");
    jit_write(header, "#define HELP 6\n");
    CHECK_LOAD(&source, 1, RITZ_JIT_READY, places[i]);
    unlink(header);
  }
}

// The same process, too.
TEST(a_refused_text_gets_another_chance_when_its_include_is_mended) {
  NEEDS_COMPILER();
  jit_begin();
  const char *mine = jit_folder("mine"), *helper = jit_path(mine, "helper.h");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const RitzJitSource source = helped(mine);

  jit_write(helper, "#define HELP undeclared\n");
  jit_start_counting();
  for (int i = 0; i < 2; i++) CHECK(jit_load_answer(ceed, source) == -1, "refused");
  CHECK_COUNTED(1, 0, 1);
  jit_write(helper, "#define HELP 7\n");
  CHECK(jit_load_answer(ceed, source) == 7, "mended");
  CHECK_COUNTED(0, 0, 1);
  CeedDestroy(&ceed);
}

// ---- Not remembered ----

TEST(what_is_not_the_texts_fault_is_tried_again) {
  NEEDS_COMPILER();
  static const char *const faults[] = {
      "kill -9 $$",
      "sleep 1000",
      "exit 0",
      "echo 'kernel.c:1:1: fatal error: error writing to /tmp/x.s: No space left on device'; exit 1",
      "echo 'gcc: fatal error: Killed signal terminated program cc1'; exit 1",
      "echo 'kernel.c:1:5: internal compiler error: in f'; exit 4",
      "echo 'no license'; exit 1"};

  for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]) && !tap_failed(); i++) {
    jit_begin();
    const char *ill = tap_temp_file("ill", "", 0);
    const RitzJitSource source = jit_number(80);
    char line[4096];

    snprintf(line, sizeof(line), "if [ -e '%s' ]; then %s; fi", ill, faults[i]);
    setenv("RITZ_CC", jit_wrapped_compiler(line), 1);
    ritz_jit_compiler(); // without the short limit
    setenv("RITZ_JIT_TIMEOUT", "0.3", 1);
    CHECK_LOAD(&source, 1, RITZ_JIT_REFUSED, faults[i]);
    unlink(ill);
    unsetenv("RITZ_JIT_TIMEOUT");
    CHECK_LOAD(&source, 1, RITZ_JIT_READY, faults[i]);
  }
}

TEST(without_a_cache_or_a_compiler_nothing_is_remembered) {
  NEEDS_COMPILER();
  const char *folder = jit_begin();
  const RitzJitSource source = jit_source("int answer(void) { return x; }\n");

  setenv("RITZ_CACHE", "off", 1);
  for (int i = 0; i < 2; i++) CHECK_LOAD(&source, 1, RITZ_JIT_REFUSED, "without a cache");
  unsetenv("RITZ_CACHE");
  setenv("RITZ_CC", "/no/such/compiler", 1);
  CHECK_LOAD(&source, 0, RITZ_JIT_NO_COMPILER, "without a compiler");
  unsetenv("RITZ_CC");
  CHECK(jit_count_files(folder, "") == 0, "files");
  CHECK_LOAD(&source, 1, RITZ_JIT_REFUSED, "with both");
}

// A damaged record, or one of another text, is none.
TEST(records_that_are_not_what_was_written_are_not_believed) {
  NEEDS_COMPILER();
  const char *folder = jit_begin();
  const RitzJitSource source = jit_source("int answer(void) { return x; }\n");
  RitzJitEntry *entries = NULL;
  size_t num = 0;
  char name[64], text[4096];

  CHECK_LOAD(&source, 1, RITZ_JIT_REFUSED, "first");
  CHECK_OK(RitzJitList(NULL, &num, &entries));
  CHECK(num == 1 && entries[0].is_refused, "%zu entries", num);
  snprintf(name, sizeof(name), "%s.refused", entries[0].key);
  free(entries);
  const char *path = jit_path(folder, name);
  FILE *file = fopen(path, "r");
  const size_t length = fread(text, 1, sizeof(text) - 1, file);
  fclose(file);
  text[length] = '\0';
  for (size_t end = 0; end < length && !tap_failed(); end += 1 + length / 7) {
    const char kept = text[end];

    text[end] = '\0'; // shorter
    jit_write(path, text);
    text[end] = kept;
    CHECK_LOAD(&source, 1, RITZ_JIT_REFUSED, "cut");
  }
  char *word = strstr(text, "messages ");
  CHECK(word, "no messages");
  word[strlen("messages ") + 1] ^= 1;
  jit_write(path, text);
  CHECK_LOAD(&source, 1, RITZ_JIT_REFUSED, "another message");
  chmod(path, 0666);
  CHECK_LOAD(&source, 1, RITZ_JIT_REFUSED, "others may write to it");
  CHECK_LOAD(&source, 0, RITZ_JIT_REFUSED, "whole");
}

// ---- Few ----

static void set_age(const char *path, time_t age) {
  const struct timespec times[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};

  utimensat(AT_FDCWD, path, times, 0);
}

TEST(of_refusals_and_their_logs_the_newest_are_kept) {
  NEEDS_COMPILER();
  const char *folder = jit_begin();
  const RitzJitSource source = jit_source("int answer(void) { return x; }\n");
  char name[64];

  mkdir(folder, 0700);
  for (int i = 0; i < 520; i++) {
    snprintf(name, sizeof(name), "%040x.refused", i);
    FILE *file = fopen(jit_path(folder, name), "w");
    if (file) fclose(file);
    set_age(jit_path(folder, name), 1000 + i);
    snprintf(name, sizeof(name), "failed-%08x.log", i);
    file = fopen(jit_path(folder, name), "w");
    if (file) fclose(file);
    set_age(jit_path(folder, name), 1000 + i);
  }
  CHECK_LOAD(&source, 1, RITZ_JIT_REFUSED, "one more");
  const int num_refused = jit_count_files(folder, ".refused"), num_logs = jit_count_files(folder, ".log");
  CHECK(num_refused == 500 && num_logs <= 31, "%d refusals, %d logs", num_refused, num_logs);
  CHECK(!access(jit_path(folder, "failed-00000000.log"), F_OK) &&
            access(jit_path(folder, "failed-00000100.log"), F_OK),
        "the oldest go");
  CHECK_LOAD(&source, 0, RITZ_JIT_REFUSED, "the new one stays");
  snprintf(name, sizeof(name), "%040x.refused", 0);
  set_age(jit_path(folder, name), 31 * 24 * 3600);
  const RitzJitSource any = jit_number(81); // the first load of a process looks for what is old
  CHECK_LOAD(&any, 1, RITZ_JIT_READY, "any");
  CHECK(access(jit_path(folder, name), F_OK), "older than a month");
}

// ---- No memory ----

// Misses a header of every text, and tells what it has read.
static const char *refusing_compiler(const char *file) {
  return jit_script("[ \"$1\" != --version ] || { echo refuse; exit; }\n"
                    "while [ $# -gt 0 ]; do\n"
                    "  case $1 in -o) out=$2 ;; -MF) list=$2 ;; -MG) lists=yes ;; esac\n  shift\ndone\n"
                    "[ -z \"$lists\" ] || { echo 'kernel: %s none.h' >\"$list\"; exit 0; }\n"
                    "[ -n \"$out\" ] || exit 0\n"
                    "echo 'x.h:1:1: fatal error: none.h: No such file or directory'\nexit 1\n",
                    file);
}

// A text that one compiler refuses and the other one copies, or refuses as well, with one allocation failing.
static void fail_at(Ceed ceed, const RitzJitSource *source, int64_t n, bool *has_failed) {
  const int64_t live = ritz_memory_live();
  RitzJitModule module = NULL;

  ritz_memory_fail_at(n);
  *has_failed = ritz_jit_load(ceed, 1, source, &module);
  ritz_memory_fail_at(0);
  CHECK(!*has_failed || !module, "allocation %d: a module is left", (int)n);
  ritz_jit_release(&module);
  CHECK(ritz_memory_live() == live, "allocation %d: %d are left", (int)n, (int)(ritz_memory_live() - live));
}

TEST(an_allocation_that_fails_is_reported_and_nothing_is_left) {
  NEEDS_COMPILER();
  const char *cache = jit_begin(), *mine = jit_folder("mine"), *helper = jit_path(mine, "helper.h");
  const char *binary = jit_binary(82), *refusing = refusing_compiler(helper);
  const int64_t step = tap_level() > TAP_QUICK ? 3 : 23;
  Ceed ceed = tap_ceed("/cpu/self/ref");

  jit_write(helper, "#define HELP 8\n");
  RitzJitSource source = helped(mine);
  source.user_file = helper;
  setenv("RITZ_CC", refusing, 1);
  for (int copies = 0; copies < 2 && !tap_failed(); copies++) {
    bool has_failed = true;
    int64_t n = 1;

    setenv("RITZ_CXX", copies ? jit_copying_compiler(binary) : refusing, 1);
    CHECK(jit_load_answer(ceed, source) == (copies ? 82 : -1), "what is removed");
    for (; has_failed && !tap_failed(); n += step) {
      CHECK_OK(RitzJitClear(ceed, NULL));
      fail_at(ceed, &source, n, &has_failed);
      CHECK(jit_count_files(cache, ".lock") == 0, "allocation %d: a lock is left", (int)n);
    }
    CHECK(jit_count_files(cache, ".refused") == 2 - copies, "%d are kept",
          jit_count_files(cache, ".refused"));
    tap_note("about %d allocations", (int)n);
    CHECK(n > 50, "%d", (int)n);
  }
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(of_refusals_and_their_logs_the_newest_are_kept,
                        a_refusal_holds_for_later_processes_until_compiler_flags_or_files_change,
                        a_header_that_was_nowhere_is_found_when_it_appears,
                        a_refused_text_gets_another_chance_when_its_include_is_mended,
                        what_is_not_the_texts_fault_is_tried_again,
                        without_a_cache_or_a_compiler_nothing_is_remembered,
                        records_that_are_not_what_was_written_are_not_believed,
                        an_allocation_that_fails_is_reported_and_nothing_is_left));
}
