// SPDX-License-Identifier: BSD-2-Clause
// Strings and lists of strings (contract in jit/words.h).
#include "jit/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static int format_list(Ceed ceed, char **text, const char *format, va_list args) {
  va_list copy;

  va_copy(copy, args);
  int length = vsnprintf(NULL, 0, format, copy);
  va_end(copy);
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)length + 1, text));
  vsnprintf(*text, (size_t)length + 1, format, args);
  return CEED_ERROR_SUCCESS;
}

int ritz_format(Ceed ceed, char **text, const char *format, ...) {
  va_list args;

  va_start(args, format);
  int ierr = format_list(ceed, text, format, args);
  va_end(args);
  return ierr;
}

static int reserve_one(RitzWords *words) {
  if (words->num + 1 < words->capacity) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_REALLOC(words->ceed, 2 * words->capacity + 16, &words->item));
  words->capacity = 2 * words->capacity + 16;
  return CEED_ERROR_SUCCESS;
}

void ritz_words_add(RitzWords *words, const char *format, ...) {
  va_list args;

  if (!words->error) words->error = reserve_one(words);
  if (words->error) return;
  va_start(args, format);
  words->error = format_list(words->ceed, &words->item[words->num], format, args);
  va_end(args);
  if (!words->error) words->num++;
  words->item[words->num] = NULL;
}

void ritz_words_split(RitzWords *words, const char *text) {
  static const char blanks[] = " \t\n";

  for (text = text ? text : ""; *(text += strspn(text, blanks)); text += strcspn(text, blanks))
    ritz_words_add(words, "%.*s", (int)strcspn(text, blanks), text);
}

void ritz_words_free(RitzWords *words) {
  for (size_t i = 0; i < words->num; i++) RITZ_FREE(&words->item[i]);
  RITZ_FREE(&words->item);
  words->num = words->capacity = 0;
}
