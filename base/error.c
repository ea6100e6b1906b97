// SPDX-License-Identifier: BSD-2-Clause
// Reports of errors, and the handlers that need no context. Contexts have theirs (core/ceed-error.c).
#include "base/error.h"

#include <ritz/context.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"

// ---- Without a context ----

static _Atomic(CeedErrorHandler) process_handler;       // NULL: the environment's
static _Thread_local CeedErrorHandler diverted_handler; // NULL: that of the process

int RitzSetErrorHandler(CeedErrorHandler handler) {
  atomic_store(&process_handler, handler);
  return CEED_ERROR_SUCCESS;
}

CeedErrorHandler ritz_error_divert(CeedErrorHandler handler) {
  const CeedErrorHandler before = diverted_handler;
  diverted_handler = handler;
  return before;
}

static CeedErrorHandler handler_without_context(void) {
  const CeedErrorHandler process = atomic_load(&process_handler);
  const char *name = ritz_environment(ENV_CEED_ERROR_HANDLER);
  if (diverted_handler) return diverted_handler;
  if (process) return process;
  return name && !strcmp(name, "return") ? CeedErrorReturn : CeedErrorAbort;
}

// ---- The last error ----

static _Thread_local int last_code;
static _Thread_local char last_message[RITZ_MESSAGE_LENGTH];

// A message may be made of the last one.
static void keep_last(int code, const char *format, va_list *args) {
  char message[RITZ_MESSAGE_LENGTH] = "";
  if (format) vsnprintf(message, sizeof(message), format, *args);
  memcpy(last_message, message, sizeof(message));
  last_code = code;
}

int RitzGetLastError(int *code, const char **message) {
  if (code) *code = last_code;
  if (message) *message = last_message;
  return CEED_ERROR_SUCCESS;
}

// ---- Reports ----

int CeedErrorImpl(Ceed ceed, const char *filename, int lineno, const char *func, int ecode,
                  const char *format, ...) {
  va_list args;
  va_start(args, format);
  keep_last(ecode, format, &args);
  va_end(args);
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
