// SPDX-License-Identifier: BSD-2-Clause
// Error handlers, the message buffer and warnings of a context.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/threads.h"
#include "core/core.h"

static const char no_message[] = "No error message stored";

int CeedErrorStore(Ceed ceed, const char *filename, int line, const char *func, int ecode, const char *format,
                   va_list *args) {
  if (!ritz_is_live(ceed, &ritz_ceed_class)) return ecode;
  int length = snprintf(ceed->message, RITZ_MESSAGE_LENGTH, "%s:%d in %s(): ", filename, line, func);
  if (length >= 0 && length < RITZ_MESSAGE_LENGTH && format && args) {
    vsnprintf(ceed->message + length, (size_t)(RITZ_MESSAGE_LENGTH - length), format, *args);
  }
  return ecode;
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
  RITZ_ARGUMENT(ceed, err_msg);
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

int ritz_warnings_from_environment(Ceed ceed, RitzWarnings *warnings) {
  static const char *const names[] = {
      [RITZ_WARNINGS_ONCE] = "once", [RITZ_WARNINGS_OFF] = "off", [RITZ_WARNINGS_ALL] = "all"};
  const char *value = ritz_environment(ENV_RITZ_WARNINGS);
  *warnings = RITZ_WARNINGS_ONCE;
  if (!value) return CEED_ERROR_SUCCESS;
  for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++) {
    if (strcmp(value, names[i])) continue;
    *warnings = (RitzWarnings)i;
    return CEED_ERROR_SUCCESS;
  }
  return CeedError(ceed, CEED_ERROR_INCOMPATIBLE,
                   "CeedInit: RITZ_WARNINGS is '%.40s'; it may be off, once or all", value);
}

static uint64_t hash(uint64_t h, const char *text) { // FNV-1a, the final zero included
  do h = (h ^ (unsigned char)*text) * 0x100000001b3;
  while (*text++);
  return h;
}

// Hashes of the last lines of the process: one that is older may be repeated. Guarded by
// RITZ_LOCK_WARNINGS.
enum { NUM_WARNED = 1024 };
static uint64_t warned[NUM_WARNED];
static size_t num_warned;

static bool is_first_warning(uint64_t line) {
  ritz_lock(RITZ_LOCK_WARNINGS);
  bool is_known = false;
  for (size_t i = 0; i < NUM_WARNED && i < num_warned && !is_known; i++) is_known = warned[i] == line;
  if (!is_known) warned[num_warned++ % NUM_WARNED] = line;
  ritz_unlock(RITZ_LOCK_WARNINGS);
  return !is_known;
}

// Names and paths may hold newlines: a warning is one line.
static int print_line(Ceed ceed, const char *what, const char *reason, const char *outcome) {
  const size_t size = strlen(what) + strlen(reason) + strlen(outcome) + sizeof("Ritz: : ; ");
  char *line = NULL;
  RITZ_TRY(RITZ_MALLOC(ceed, size, &line));
  snprintf(line, size, "Ritz: %s: %s; %s", what, reason, outcome);
  for (char *c = line; *c; c++) {
    if ((unsigned char)*c < ' ') *c = ' ';
  }
  fprintf(stderr, "%s\n", line);
  RITZ_FREE(&line);
  return CEED_ERROR_SUCCESS;
}

int ritz_warn_once(Ceed ceed, const char *call, const char *what, const char *reason, const char *outcome) {
  const uint64_t line = hash(hash(hash(0xcbf29ce484222325, what), reason), outcome);
  RITZ_REQUIRE(!ceed->is_strict, ceed, CEED_ERROR_BACKEND, "%s: %s: %s (RITZ_STRICT is set)", call, what,
               reason);
  if (ceed->note) RITZ_TRY(ceed->note(ceed, what, reason, outcome));
  if (ceed->warnings == RITZ_WARNINGS_OFF) return CEED_ERROR_SUCCESS;
  if (ceed->warnings == RITZ_WARNINGS_ONCE && !is_first_warning(line)) return CEED_ERROR_SUCCESS;
  return print_line(ceed, what, reason, outcome);
}
