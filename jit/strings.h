// SPDX-License-Identifier: BSD-2-Clause
// Strings made by a format, and lists of them: arguments of programs, environments, paths. Called by all of
// jit/.
#ifndef RITZ_JIT_STRINGS_H
#define RITZ_JIT_STRINGS_H

#include <ceed.h>
#include <stddef.h>

#if defined(__GNUC__)
#define RITZ_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define RITZ_PRINTF(text, first)
#endif

// *text: owned by the caller (RITZ_FREE).
int ritz_format(Ceed ceed, char **text, const char *format, ...) RITZ_PRINTF(3, 4);

// Begins as {.ceed = ceed}. The first failed append is kept in `error`, so that callers append string after
// string and look once.
typedef struct {
  Ceed ceed;
  char **item; // owned strings; item[num] is NULL; NULL while nothing was appended
  size_t num, capacity;
  int error;
} RitzStrings;

void ritz_strings_add(RitzStrings *list, const char *format, ...) RITZ_PRINTF(2, 3);
void ritz_strings_split(RitzStrings *list, const char *text); // at blanks; NULL: nothing
void ritz_strings_free(RitzStrings *list);

#endif
