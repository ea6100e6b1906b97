// SPDX-License-Identifier: BSD-2-Clause
// What the tests of /cpu/self/gen share: surroundings in which compilations are cheap and find nothing of the
// user's, and what a call prints on stderr. Included by tests/test-gen*.c and tests/test-emit.c.
#ifndef RITZ_TESTS_GEN_KIT_H
#define RITZ_TESTS_GEN_KIT_H

#include <ritz/jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"

// ---- Surroundings ----

// Nothing is set but a cache of this process, unless ctest gives one to all programs, cheap compilation, and
// that each test is told what others in this process have been told.
static inline void gen_begin(void) {
  static const char *const names[] = {"RITZ_CC",     "RITZ_CACHE",     "RITZ_SITE_CACHE",  "RITZ_DUMP",
                                      "RITZ_STRICT", "RITZ_QFUNCTION", "RITZ_JIT_TIMEOUT", "OMP_NUM_THREADS"};

  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) unsetenv(names[i]);
  setenv("RITZ_CACHE_DIR", tap_temp_file("cache", NULL, 0), 0);
  setenv("RITZ_CFLAGS", "-O0 -DRITZ_HASTY", 1); // the least time to compile
  setenv("RITZ_WARNINGS", "all", 1);
}

static inline int gen_has_compiler(void) {
  const char *path = NULL;

  RitzJitGetCompiler(&path, NULL);
  return path != NULL;
}

#define GEN_NEEDS_COMPILER()                                                                                 \
  do {                                                                                                       \
    gen_begin();                                                                                             \
    if (!gen_has_compiler()) SKIP("no C compiler in PATH");                                                  \
  } while (0)

// ---- What is printed on stderr ----

typedef struct {
  FILE *file; // owned while it lasts
  int saved;
  char text[8192]; // afterwards; cut to this size
} GenErrors;

static inline void gen_errors_begin(GenErrors *e) {
  fflush(stderr);
  e->file = tmpfile();
  e->saved = dup(STDERR_FILENO);
  if (!e->file || e->saved < 0 || dup2(fileno(e->file), STDERR_FILENO) < 0) abort();
}

static inline void gen_errors_end(GenErrors *e) {
  fflush(stderr);
  dup2(e->saved, STDERR_FILENO);
  close(e->saved);
  rewind(e->file);
  e->text[fread(e->text, 1, sizeof(e->text) - 1, e->file)] = '\0';
  fclose(e->file);
}

static inline int gen_count(const char *text, const char *part) {
  int num = 0;

  for (; (text = strstr(text, part)); text += strlen(part)) num++;
  return num;
}

#endif
