// SPDX-License-Identifier: BSD-2-Clause
// Growing texts (contract in base/text.h).
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/locale.h"
#include "base/memory.h"

static int reserve_text(RitzText *text, size_t more) {
  if (text->length + more < text->capacity) return CEED_ERROR_SUCCESS;
  text->capacity = 2 * (text->length + more) + 4096;
  return RITZ_REALLOC(text->ceed, text->capacity, &text->chars);
}

static int append_formatted(RitzText *text, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int length = vsnprintf(NULL, 0, format, args);
  const int ierr = length < 0 ? CeedError(text->ceed, CEED_ERROR_MAJOR, "a line of a text cannot be written")
                              : reserve_text(text, (size_t)length);
  if (!ierr) vsnprintf(text->chars + text->length, (size_t)length + 1, format, again);
  if (!ierr) text->length += (size_t)length;
  va_end(again);
  return ierr;
}

void ritz_text_add(RitzText *text, const char *format, ...) {
  RitzLocale locale;
  va_list args;
  if (!text->error) text->error = ritz_locale_enter(text->ceed, &locale);
  if (text->error) return;
  va_start(args, format);
  text->error = append_formatted(text, format, args);
  va_end(args);
  ritz_locale_leave(&locale);
}

int ritz_text_finish(RitzText *text, char **chars) {
  if (text->error) {
    RITZ_FREE(&text->chars);
    return text->error;
  }
  *chars = text->chars;
  return CEED_ERROR_SUCCESS;
}

// All digits, and the same text whatever the locale: an integer in hexadecimal times a power of two.
static void add_number(RitzText *text, CeedScalar value) {
  const int digits = sizeof(CeedScalar) == 4 ? 24 : 53;
  int exponent;
  const double fraction = frexp(fabs((double)value), &exponent);
  ritz_text_add(text, "%s0x%llxp%d%s", value < 0 ? "-" : "", (unsigned long long)ldexp(fraction, digits),
                exponent - digits, sizeof(CeedScalar) == 4 ? "f" : "");
}

void ritz_text_add_numbers(RitzText *text, CeedInt num, CeedInt columns, const CeedScalar *numbers) {
  for (CeedInt i = 0; i < num; i++) {
    add_number(text, numbers[i]);
    ritz_text_add(text, i % columns == columns - 1 ? ",\n" : ", ");
  }
}

bool ritz_is_identifier(const char *word) {
  static const char letters[] = "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return *word && !strchr("0123456789", *word) && strspn(word, letters) == strlen(word);
}
