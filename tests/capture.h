// SPDX-License-Identifier: BSD-2-Clause
// What the tests of the API share: text that a call prints, and child processes in which a call may end the
// program. Included by tests/test-*.c after tests/tap.h.
#ifndef RITZ_TESTS_CAPTURE_H
#define RITZ_TESTS_CAPTURE_H

#include "tests/tap.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- Text ----

typedef struct {
  FILE *stream; // owned until capture_end
  char *text;   // owned: malloc's
  size_t size;
} Capture;

static inline FILE *capture_begin(Capture *c) {
  c->text = NULL;
  return c->stream = open_memstream(&c->text, &c->size);
}

// Frees the text. Whether the call succeeded and printed `wanted` to the last byte; shows both if not.
static inline bool capture_end(Capture *c, int code, int wanted_code, const char *wanted) {
  fclose(c->stream);
  bool matches = code == wanted_code && c->size == strlen(wanted) && !memcmp(c->text, wanted, c->size);
  if (!matches) tap_note("code %d, wanted %d\nprinted:\n%s\nwanted:\n%s", code, wanted_code, c->text, wanted);
  free(c->text);
  return matches;
}

// The call, in which `stream` is the stream to print to, returns the code and prints exactly this text.
#define CHECK_PRINTS_CODE(wanted_code, wanted, call)                                                         \
  do {                                                                                                       \
    Capture capture_;                                                                                        \
    FILE *stream = capture_begin(&capture_);                                                                 \
    int code_ = (call);                                                                                      \
    CHECK(capture_end(&capture_, code_, (wanted_code), (wanted)), "%s", #call);                              \
  } while (0)
#define CHECK_PRINTS(wanted, call) CHECK_PRINTS_CODE(CEED_ERROR_SUCCESS, wanted, call)

// ---- Children ----

// Runs the function in a child process, whose stdout is lost. Its stderr goes to text (cut to size). Returns
// what waitpid says: ask WIFEXITED, WIFSIGNALED. A child that returns from the function has exit status 0.
static inline int run_child(void (*run)(void), char *text, size_t size) {
  int status = -1;
  FILE *errors = tmpfile();

  if (!errors) return -1;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    if (dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) < 0) _exit(99);
    if (dup2(fileno(errors), STDERR_FILENO) < 0) _exit(99);
    run();
    _exit(0);
  }
  if (child > 0 && waitpid(child, &status, 0) != child) status = -1;
  rewind(errors);
  size_t length = fread(text, 1, size - 1, errors);
  text[length] = '\0';
  fclose(errors);
  return status;
}

// ---- Memory ----

// On a backend without device memory asking for it is refused; others have to have it tested elsewhere.
static inline bool has_device_memory(Ceed ceed) {
  CeedMemType mem_type = CEED_MEM_HOST;
  CeedGetPreferredMemType(ceed, &mem_type);
  return mem_type == CEED_MEM_DEVICE;
}

#endif
