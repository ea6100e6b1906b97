// SPDX-License-Identifier: BSD-2-Clause
// Error handlers and the message buffer of a context.
#include "core/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

static const char no_message[] = "No error message stored";

int CeedErrorImpl(Ceed ceed, const char *filename, int lineno, const char *func, int ecode,
                  const char *format, ...) {
  va_list args;
  va_start(args, format);
  int code;
  if (ritz_is_live(ceed, &ritz_ceed_class)) {
    code = ceed->error_handler(ceed, filename, lineno, func, ecode, format, &args);
  } else {
    const char *handler = getenv("CEED_ERROR_HANDLER");
    bool returns = handler && !strcmp(handler, "return");
    code = (returns ? CeedErrorReturn : CeedErrorAbort)(NULL, filename, lineno, func, ecode, format, &args);
  }
  va_end(args);
  return code;
}

int CeedErrorReturn(Ceed ceed, const char *filename, int line, const char *func, int ecode,
                    const char *format, va_list *args) {
  (void)ceed, (void)filename, (void)line, (void)func, (void)format, (void)args;
  return ecode;
}

int CeedErrorStore(Ceed ceed, const char *filename, int line, const char *func, int ecode, const char *format,
                   va_list *args) {
  if (!ritz_is_live(ceed, &ritz_ceed_class)) return ecode;
  int length = snprintf(ceed->message, RITZ_MESSAGE_LENGTH, "%s:%d in %s(): ", filename, line, func);
  if (length >= 0 && length < RITZ_MESSAGE_LENGTH) {
    vsnprintf(ceed->message + length, (size_t)(RITZ_MESSAGE_LENGTH - length), format, *args);
  }
  return ecode;
}

static void print_error(const char *filename, int line, const char *func, const char *format, va_list *args) {
  fprintf(stderr, "%s:%d in %s(): ", filename, line, func);
  vfprintf(stderr, format, *args);
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

int CeedSetErrorHandler(Ceed ceed, CeedErrorHandler handler) {
  RITZ_HANDLE(ceed);
  RITZ_REQUIRE(handler != NULL, ceed, CEED_ERROR_INCOMPATIBLE,
               "CeedSetErrorHandler: argument 'handler' is NULL");
  ceed->error_handler = handler;
  return CEED_ERROR_SUCCESS;
}

int CeedGetErrorMessage(Ceed ceed, const char **err_msg) {
  RITZ_HANDLE(ceed);
  *err_msg = ceed->message;
  return CEED_ERROR_SUCCESS;
}

int CeedResetErrorMessage(Ceed ceed, const char **err_msg) {
  RITZ_HANDLE(ceed);
  if (err_msg) *err_msg = NULL;
  strcpy(ceed->message, no_message);
  return CEED_ERROR_SUCCESS;
}

// ---- Warnings ----

static uint64_t hash(uint64_t h, const char *text) { // FNV-1a
  for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3;
  return h;
}

int ritz_warn_once(Ceed ceed, const char *call, const char *what, const char *reason, const char *outcome) {
  const uint64_t told = hash(hash(0xcbf29ce484222325, what), reason);
  RITZ_REQUIRE(!ceed->is_strict, ceed, CEED_ERROR_BACKEND, "%s: %s: %s (RITZ_STRICT is set)", call, what,
               reason);
  for (size_t i = 0; i < ceed->num_told; i++) {
    if (ceed->told[i] == told) return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(RITZ_REALLOC(ceed, ceed->num_told + 1, &ceed->told));
  ceed->told[ceed->num_told++] = told;
  fprintf(stderr, "Ritz: %s: %s; %s\n", what, reason, outcome);
  return CEED_ERROR_SUCCESS;
}
