// SPDX-License-Identifier: BSD-2-Clause
// Reports of errors, and the handlers that need no context. Contexts have theirs (core/ceed-error.c).
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CeedErrorHandler handler_without_context(void) {
  const char *name = getenv("CEED_ERROR_HANDLER");
  return name && !strcmp(name, "return") ? CeedErrorReturn : CeedErrorAbort;
}

int CeedErrorImpl(Ceed ceed, const char *filename, int lineno, const char *func, int ecode,
                  const char *format, ...) {
  va_list args;
  va_start(args, format);
  const RitzClass *class = ritz_class_of(ceed);
  const bool is_context = class && class->context;
  const CeedErrorHandler handler =
      is_context ? class->context->error_handler(ceed) : handler_without_context();
  const int code = handler(is_context ? ceed : NULL, filename, lineno, func, ecode, format, &args);
  va_end(args);
  return code;
}

int CeedErrorReturn(Ceed ceed, const char *filename, int line, const char *func, int ecode,
                    const char *format, va_list *args) {
  (void)ceed, (void)filename, (void)line, (void)func, (void)format, (void)args;
  return ecode;
}

static void print_error(const char *filename, int line, const char *func, const char *format, va_list *args) {
  fprintf(stderr, "%s:%d in %s(): ", filename, line, func);
  if (format && args) vfprintf(stderr, format, *args);
  fprintf(stderr, "\n");
}

int CeedErrorAbort(Ceed ceed, const char *filename, int line, const char *func, int ecode, const char *format,
                   va_list *args) {
  (void)ceed, (void)ecode;
  print_error(filename, line, func, format, args);
  abort();
}

int CeedErrorExit(Ceed ceed, const char *filename, int line, const char *func, int ecode, const char *format,
                  va_list *args) {
  (void)ceed;
  print_error(filename, line, func, format, args);
  exit(ecode);
}
