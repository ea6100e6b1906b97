// SPDX-License-Identifier: BSD-2-Clause
// A text that grows, for emit/. A failed append is remembered and reported at the end, so that callers write
// line after line without checks.
#ifndef RITZ_EMIT_TEXT_H
#define RITZ_EMIT_TEXT_H

#include <ceed.h>
#include <stddef.h>

typedef struct {
  Ceed ceed;
  char *chars; // owned, NUL-terminated
  size_t length, capacity;
  int error; // of the first append that failed
} RitzText;

__attribute__((format(printf, 2, 3))) void ritz_text_add(RitzText *text, const char *format, ...);
// Lines #define for "NAME" or "NAME=value".
void ritz_text_add_defines(RitzText *text, int num, char *const *defines);
// Numbers of a list, to the last digit whatever the locale, so many in a line.
void ritz_text_add_numbers(RitzText *text, CeedInt num, CeedInt columns, const CeedScalar *numbers);
// A table of a text for devices, RITZ_CONSTANT RitzReal name[], to the last digit whatever the locale.
void ritz_text_add_table(RitzText *text, const char *name, CeedInt rows, CeedInt columns,
                         const CeedScalar *table);
// The text (owned by the caller), or the error of an append.
int ritz_text_finish(RitzText *text, char **chars);

#endif
