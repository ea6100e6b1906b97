// SPDX-License-Identifier: BSD-2-Clause
// What the tests of jit/ share: a clean environment with a cache of its own, small texts, compilers made of
// shell scripts, counting. Included by tests/test-jit*.c.
#ifndef RITZ_TESTS_JIT_KIT_H
#define RITZ_TESTS_JIT_KIT_H

#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "jit/kernel.h"
#include "tests/tap.h"

// ---- Surroundings ----

// The environment of a user who has set nothing but the folder of the cache, which is new (and returned).
static inline const char *jit_begin(void) {
  static const char *const names[] = {"RITZ_CC",         "RITZ_CFLAGS",      "RITZ_CACHE",
                                      "RITZ_SITE_CACHE", "RITZ_DUMP",        "RITZ_JIT_TIMEOUT",
                                      "RITZ_CXX",        "RITZ_CXXFLAGS",    "RITZ_INCLUDE_PATH",
                                      "RITZ_WARNINGS",   "RITZ_VECTOR_MATH", "TMPDIR"};
  const char *folder = tap_temp_file("cache", NULL, 0);

  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) unsetenv(names[i]);
  setenv("RITZ_CACHE_DIR", folder, 1);
  return folder;
}

// A new folder that exists.
static inline const char *jit_folder(const char *name) {
  const char *path = tap_temp_file(name, NULL, 0);

  mkdir(path, 0700);
  return path;
}

// Path inside a folder; one of several strings in turn.
static inline const char *jit_path(const char *folder, const char *name) {
  static char text[8][4096];
  static int turn;
  char path[sizeof(text[0])];

  turn = (turn + 1) % 8;
  if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) path[0] = '\0';
  return strcpy(text[turn], path);
}

// Number of names in a folder that end in `suffix`; 0 when there is no folder.
static inline int jit_count_files(const char *folder, const char *suffix) {
  DIR *stream = opendir(folder);
  int num = 0;

  for (struct dirent *entry; stream && (entry = readdir(stream));) {
    size_t n = strlen(entry->d_name), m = strlen(suffix);

    num += entry->d_name[0] != '.' && n >= m && !strcmp(entry->d_name + n - m, suffix);
  }
  if (stream) closedir(stream);
  return num;
}

static inline int jit_count_lines(const char *path) {
  FILE *file = fopen(path, "r");
  int num = 0;

  for (int c; file && (c = fgetc(file)) != EOF;) num += c == '\n';
  if (file) fclose(file);
  return num;
}

// Files are trusted when they are older than the compilation; clocks of file systems tick every few ms.
static inline void jit_let_clock_tick(void) { nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); }

static inline void jit_write(const char *path, const char *text) {
  FILE *file = fopen(path, "w");

  if (file) fputs(text, file);
  if (file) fclose(file);
  jit_let_clock_tick();
}

// ---- Compilers ----

// An executable script; `body` is a format.
static inline const char *jit_script(const char *body, ...) TAP_PRINTF(1, 2);
static inline const char *jit_script(const char *body, ...) {
  const char *path = tap_temp_file("cc", NULL, 0);
  FILE *file = fopen(path, "w");
  va_list args;

  va_start(args, body);
  if (file) fputs("#!/bin/sh\n", file);
  if (file) vfprintf(file, body, args);
  if (file) fclose(file);
  va_end(args);
  chmod(path, 0755);
  return path;
}

// The compiler of the system, whatever RITZ_CC says; NULL: none.
static inline const char *jit_real_compiler(void) {
  const char *path = NULL, *set = getenv("RITZ_CC");
  char *kept = set ? strdup(set) : NULL;

  unsetenv("RITZ_CC");
  RitzJitGetCompiler(&path, NULL);
  if (kept) setenv("RITZ_CC", kept, 1);
  free(kept);
  return path;
}

// The real compiler, which first runs a line of shell for each text.
static inline const char *jit_wrapped_compiler(const char *line) {
  return jit_script("case \"$*\" in *kernel.c*) %s ;; esac\nexec '%s' \"$@\"\n", line, jit_real_compiler());
}

// The real compiler, which appends a line to the file `count` for each text.
static inline const char *jit_counting_compiler(const char *count) {
  char line[2048];

  snprintf(line, sizeof(line), "echo x >>'%s'", count);
  return jit_wrapped_compiler(line);
}

// ---- Texts ----

static inline RitzJitSource jit_source(const char *text) {
  return (RitzJitSource){.name = "test", .text = text};
}

// A text whose answer is `number`; one of several strings in turn.
static inline RitzJitSource jit_number(int number) {
  static char text[128][64];
  static int turn;

  turn = (turn + 1) % 128;
  snprintf(text[turn], sizeof(text[0]), "int answer(void) { return %d; }\n", number);
  return jit_source(text[turn]);
}

// What the function `answer` of a module returns; -1: there is none.
static inline int jit_answer(RitzJitModule module) {
  int (*answer)(void) = NULL;
  void *symbol = module ? ritz_jit_symbol(module, "answer") : NULL;

  memcpy(&answer, &symbol, sizeof(answer));
  return answer ? answer() : -1;
}

// Loads one text and releases it; -1: it is not READY.
static inline int jit_load_answer(Ceed ceed, RitzJitSource source) {
  RitzJitModule module = NULL;
  int ierr = ritz_jit_load(ceed, 1, &source, &module);
  int answer = ierr ? -1 : jit_answer(module);

  if (!ierr && ritz_jit_status(module)) tap_note("%s", ritz_jit_reason(module));
  if (!ierr) ritz_jit_release(&module);
  return answer;
}

// ---- A compiler that costs nothing ----

// A binary whose answer is `number`; NULL: it cannot be made.
static inline const char *jit_binary(int number) {
  const char *path = tap_temp_file("binary", NULL, 0);
  char command[8192];

  snprintf(command, sizeof(command),
           "echo 'int answer(void) { return %d; }' | '%s' -shared -fPIC -o '%s' -x c -", number,
           jit_real_compiler(), path);
  return system(command) ? NULL : path;
}

// Gives every text this binary.
static inline const char *jit_copying_compiler(const char *binary) {
  return jit_script(
      "[ \"$1\" != --version ] || { echo copy; exit; }\n"
      "while [ $# -gt 0 ]; do\n  case $1 in -o) out=$2 ;; -MF) list=$2 ;; esac\n  shift\ndone\n"
      "[ -n \"$out\" ] || exit 0\necho 'kernel: /etc/passwd' >\"$list\"\nexec cp '%s' \"$out\"\n",
      binary);
}

// ---- Counting ----

static RitzJitCounters jit_mark; // counters at the last call

static inline void jit_start_counting(void) { ritz_jit_counters(&jit_mark); }

static inline RitzJitCounters jit_counted(void) {
  RitzJitCounters now;

  ritz_jit_counters(&now);
  return (RitzJitCounters){.memory_hits = now.memory_hits - jit_mark.memory_hits,
                           .disk_hits = now.disk_hits - jit_mark.disk_hits,
                           .compilations = now.compilations - jit_mark.compilations,
                           .failures = now.failures - jit_mark.failures};
}

// Checks what has happened since the last call (or jit_start_counting).
#define CHECK_COUNTED(num_memory, num_disk, num_compiled)                                                    \
  do {                                                                                                       \
    RitzJitCounters c_ = jit_counted();                                                                      \
    jit_start_counting();                                                                                    \
    CHECK(c_.memory_hits == (num_memory) && c_.disk_hits == (num_disk) && c_.compilations == (num_compiled), \
          "memory %d, disk %d, compiled %d", (int)c_.memory_hits, (int)c_.disk_hits, (int)c_.compilations);  \
  } while (0)

#define NEEDS_COMPILER()                                                                                     \
  do {                                                                                                       \
    jit_begin();                                                                                             \
    if (!jit_real_compiler()) SKIP("no C compiler in PATH");                                                 \
  } while (0)

#endif
