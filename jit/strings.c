// SPDX-License-Identifier: BSD-2-Clause
// Strings and lists of strings (contract in jit/strings.h).
#include "jit/strings.h"

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

static int reserve_one(RitzStrings *list) {
  if (list->num + 1 < list->capacity) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_REALLOC(list->ceed, 2 * list->capacity + 16, &list->item));
  list->capacity = 2 * list->capacity + 16;
  return CEED_ERROR_SUCCESS;
}

void ritz_strings_add(RitzStrings *list, const char *format, ...) {
  va_list args;

  if (!list->error) list->error = reserve_one(list);
  if (list->error) return;
  va_start(args, format);
  list->error = format_list(list->ceed, &list->item[list->num], format, args);
  va_end(args);
  if (!list->error) list->num++;
  list->item[list->num] = NULL;
}

void ritz_strings_split(RitzStrings *list, const char *text) {
  static const char blanks[] = " \t\n";

  for (text = text ? text : ""; *(text += strspn(text, blanks)); text += strcspn(text, blanks))
    ritz_strings_add(list, "%.*s", (int)strcspn(text, blanks), text);
}

void ritz_strings_free(RitzStrings *list) {
  for (size_t i = 0; i < list->num; i++) RITZ_FREE(&list->item[i]);
  RITZ_FREE(&list->item);
  list->num = list->capacity = 0;
}
