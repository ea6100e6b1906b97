// SPDX-License-Identifier: BSD-2-Clause
// Texts that are kept in files and compared with those that are made now: tests/golden-*/. Included by the
// tests of plans and of generated kernels; paths are relative to the top folder of the sources, where tests
// run.
#ifndef RITZ_TESTS_GOLDEN_KIT_H
#define RITZ_TESTS_GOLDEN_KIT_H

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

// The content of a file, "" if it cannot be read; the caller's to free().
static inline char *golden_read(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = NULL;
  size_t size = 0, num = 0;

  do {
    size += 1 << 16;
    text = realloc(text, size + 1);
    if (!text) abort();
    num += file ? fread(text + num, 1, size - num, file) : 0;
  } while (num == size);
  text[num] = '\0';
  if (file) fclose(file);
  return text;
}

// text NULL: nothing is written. Whether the file holds it now.
static inline bool golden_write(const char *path, const char *text) {
  FILE *file = text ? fopen(path, "w") : NULL;
  bool is_written = file && fputs(text, file) >= 0;

  if (file && fclose(file)) is_written = false;
  if (!is_written) fprintf(stderr, "cannot write %s: run in the top folder of the sources\n", path);
  return is_written;
}

static inline bool golden_reads_number(const char **text, double *value) {
  char *end;

  *value = strtod(*text, &end);
  if (end == *text || isalpha((unsigned char)**text)) return false;
  *text = end;
  return true;
}

// Where `a` differs from `b`; NULL: nowhere. Numbers may differ by what a compiler rounds in another way, 64
// units of the last place of CeedScalar; everything else may not.
static inline const char *golden_difference(const char *a, const char *b) {
  const double error = 64 * (double)CEED_EPSILON;

  while (*a || *b) {
    double x, y;

    if (*a == *b && !isdigit((unsigned char)*a)) {
      a++, b++;
      continue;
    }
    const char *start = a;
    if (!golden_reads_number(&a, &x) || !golden_reads_number(&b, &y)) return start;
    if (!(fabs(x - y) <= error * fmax(1, fabs(x)))) return start;
  }
  return NULL;
}

// The text is that of the file. program: whose --write-golden accepts it.
static inline void golden_check(const char *path, const char *text, const char *program) {
  char *wanted = golden_read(path);
  const char *where = text ? golden_difference(text, wanted) : "";

  if (where) tap_note("made now, from the difference on:\n%.300s", where);
  free(wanted);
  CHECK(!where, "%s holds another text; `%s --write-golden` accepts all", path, program);
}

#endif
