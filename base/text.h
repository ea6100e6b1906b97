// SPDX-License-Identifier: BSD-2-Clause
// A text that grows. A failed append is remembered and reported at the end, so that
// callers write line after line without checks.
#ifndef RITZ_BASE_TEXT_H
#define RITZ_BASE_TEXT_H

#include <ceed.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
  Ceed ceed;
  char *chars; // owned, NUL-terminated
  size_t length, capacity;
  int error; // of the first append that failed
} RitzText;

__attribute__((format(printf, 2, 3))) void ritz_text_add(RitzText *text, const char *format, ...);
// Numbers of a list, to the last digit whatever the locale, so many in a line.
void ritz_text_add_numbers(RitzText *text, CeedInt num, CeedInt columns, const CeedScalar *numbers);
// The text (owned by the caller), or the error of an append.
int ritz_text_finish(RitzText *text, char **chars);

// Whether a word may stand in texts as a name: a letter or '_', then those and digits.
bool ritz_is_identifier(const char *word);

#endif
