// SPDX-License-Identifier: BSD-2-Clause
// Messages, facts and the clock of the `ritz` program.
#define _POSIX_C_SOURCE 200809L

#include <ritz/device.h>
#include <ritz/version.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"

// ---- Parts ----

static _Thread_local bool is_quiet;
// Owned: messages that wait; NULL: they are told.
static _Thread_local FILE *held;
static _Thread_local char *held_text;
static _Thread_local size_t held_size;

static void end_holding(bool tells) {
  if (!held) return;
  fclose(held);
  held = NULL;
  if (tells && held_text) fputs(held_text, stderr);
  free(held_text);
  held_text = NULL;
}

void cli_speak(void) { end_holding(false); }
void cli_tell(void) { end_holding(true); }

void cli_be_part(bool is_first) {
  cli_speak();
  is_quiet = !is_first;
  if (is_quiet) held = open_memstream(&held_text, &held_size);
}

bool cli_is_quiet(void) { return is_quiet; }

FILE *cli_stderr(void) { return held ? held : stderr; }

// ---- Errors ----

int cli_report(const char *command, Ceed ceed) {
  const char *message = NULL, *text;

  if (CeedGetErrorMessage(ceed, &message) || !message) message = "the computation failed";
  // "file:line in function(): message" is for developers; users get the message.
  text = strstr(message, "(): ");
  fprintf(cli_stderr(), "%s: %s\n", command, text ? text + 4 : message);
  return CLI_FAILED;
}

int cli_no_memory(const char *command) {
  fprintf(cli_stderr(), "%s: not enough memory\n", command);
  return CLI_FAILED;
}

int cli_allocate(Ceed ceed, size_t n, size_t size, void *p) {
  void *memory = n < (size_t)-1 / size ? calloc(n + 1, size) : NULL;

  if (!memory)
    return CeedError(ceed, CEED_ERROR_MAJOR, "no memory for %.0f MB", 1e-6 * (double)n * (double)size);
  *(void **)p = memory;
  return CEED_ERROR_SUCCESS;
}

// The entry of the library's table that a resource without its options names, or the first one below it.
static bool find_backend(const char *resource, RitzBackendInfo *info) {
  size_t length = strcspn(resource, ":");
  CeedInt num = 0;

  if (RitzGetNumBackends(&num)) return false;
  for (CeedInt i = 0; i < num; i++) {
    if (RitzGetBackendInfo(i, info) || strncmp(info->resource, resource, length) != 0) continue;
    if (info->resource[length] == '\0' || info->resource[length] == '/') return true;
  }
  return false;
}

int cli_open_ceed(const char *command, const char *resource, Ceed *ceed) {
  RitzBackendInfo info;
  char shown[ARG_SHOWN];

  *ceed = NULL;
  CLI_TRY(cli_check_environment(command));
  if (!CeedInit(resource, ceed)) {
    CeedSetErrorHandler(*ceed, CeedErrorStore);
    return CLI_OK;
  }
  const char *reason = "there is no such backend";
  int code = CLI_USAGE;
  if (find_backend(resource, &info)) {
    const char *said = "";
    RitzGetInitMessage(&said);
    reason = info.reason ? info.reason : *said ? said : "the backend does not start";
    code = CLI_FAILED;
  }
  fprintf(cli_stderr(), "%s: --ceed: cannot use '%s': %s\n", command, args_shown(resource, shown), reason);
  fprintf(cli_stderr(), "'ritz info' lists the backends.\n");
  return code;
}

double cli_default_size(Ceed ceed) {
  RitzDeviceCounters counters;

  if (RitzDeviceGetCounters(ceed, &counters) || !counters.driver) return 1e5;
  return strcmp(counters.driver, "cuda") ? 1e5 : 8e6; // other devices may be processors
}

const char *cli_variable(const char *name) {
  RitzVariableInfo info;
  CeedInt num = 0;

  RitzGetNumVariables(&num);
  for (CeedInt i = 0; i < num && !RitzGetVariableInfo(i, &info); i++)
    if (!strcmp(info.name, name)) return info.value;
  return NULL;
}

int cli_print_version(void) {
  int ritz[3] = {0}, ceed[3] = {0};
  bool release = false;

  if (RitzGetVersion(&ritz[0], &ritz[1], &ritz[2])) return CLI_FAILED;
  if (CeedGetVersion(&ceed[0], &ceed[1], &ceed[2], &release)) return CLI_FAILED;
  printf("ritz %d.%d.%d (Ceed API %d.%d.%d%s)\n", ritz[0], ritz[1], ritz[2], ceed[0], ceed[1], ceed[2],
         release ? "" : "+development");
  return CLI_OK;
}

// ---- Facts ----

enum { LABEL_WIDTH = 12, LINE_WIDTH = 100 };

// Where to end a line that begins at text: after the last ", " that fits, else after the first one.
static size_t line_length(const char *text) {
  size_t end = 0;

  if (strlen(text) <= LINE_WIDTH - LABEL_WIDTH) return strlen(text);
  for (const char *comma = strstr(text, ", "); comma; comma = strstr(comma + 1, ", ")) {
    size_t length = (size_t)(comma - text) + 1;
    if (length > LINE_WIDTH - LABEL_WIDTH && end) break;
    end = length;
  }
  return end ? end : strlen(text);
}

void cli_fact(const char *label, const char *format, ...) {
  va_list args, copy;
  int length;
  char *text;

  if (is_quiet) return;
  va_start(args, format);
  va_copy(copy, args);
  length = vsnprintf(NULL, 0, format, args);
  text = length < 0 ? NULL : malloc((size_t)length + 1);
  if (text) vsnprintf(text, (size_t)length + 1, format, copy);
  va_end(copy);
  va_end(args);
  if (!text) return;

  const char *line = text;
  do {
    size_t n = line_length(line);
    printf("%-*s%.*s\n", LABEL_WIDTH, label && line == text ? label : "", (int)n, line);
    line += n + (line[n] == ' ');
  } while (*line);
  fflush(stdout); // in order with the progress on stderr
  free(text);
}

double cli_seconds(void) {
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- Programs ----

int cli_main(const char *program, int (*run)(int argc, char **argv), int argc, char **argv) {
  // Errors without a context, of CeedInit, are to return their code instead of ending the program.
  setenv("CEED_ERROR_HANDLER", "return", 1);
  if (isatty(STDERR_FILENO)) setenv("RITZ_PROGRESS", "1", 0);
  setenv("RITZ_WAIT", "1", 0); // commands say themselves which operators need not (RITZ_USE_NO_WAIT)
  int code = run(argc, argv);
  if (fflush(stdout) || ferror(stdout)) {
    fprintf(stderr, "%s: cannot write to standard output\n", program);
    return CLI_FAILED;
  }
  return code;
}
