// SPDX-License-Identifier: BSD-2-Clause
// What the tests of the API's rules share: text that a call prints, child processes in which a call may end
// the program, vectors of given values. Included by tests/test-*.c.
#ifndef RITZ_TESTS_API_H
#define RITZ_TESTS_API_H

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

// ---- Vectors ----

// NULL when something fails; values may be NULL: a vector without values.
static inline CeedVector vector_of(Ceed ceed, CeedSize n, const CeedScalar *values) {
  CeedVector vec = NULL;

  if (CeedVectorCreate(ceed, n, &vec)) return NULL;
  if (values && CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)values)) return NULL;
  return vec;
}

// Whether the first n entries are exactly these; shows the first that is not.
static inline bool vector_holds(CeedVector vec, CeedSize n, const CeedScalar *wanted) {
  const CeedScalar *array = NULL;
  CeedSize length = -1, i = 0;

  if (CeedVectorGetLength(vec, &length) || length < n) return false;
  if (CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array)) return false;
  while (i < n && array[i] == wanted[i]) i++;
  if (i < n) tap_note("entry %td is %.17g, wanted %.17g", i, (double)array[i], (double)wanted[i]);
  return !CeedVectorRestoreArrayRead(vec, &array) && i == n;
}

// CHECK_HOLDS(vec, 1, 2, 3): the vector begins with these.
#define CHECK_HOLDS(vec, ...)                                                                                \
  do {                                                                                                       \
    const CeedScalar wanted_[] = {__VA_ARGS__};                                                              \
    CHECK(vector_holds((vec), (CeedSize)(sizeof(wanted_) / sizeof(wanted_[0])), wanted_), "%s", #vec);       \
  } while (0)

static inline CeedSize vector_length(CeedVector vec) {
  CeedSize length = -1;
  CeedVectorGetLength(vec, &length);
  return length;
}

// ---- Memory ----

// On a backend without device memory asking for it is refused.
static inline bool has_device_memory(Ceed ceed) {
  CeedMemType mem_type = CEED_MEM_HOST;
  CeedGetPreferredMemType(ceed, &mem_type);
  return mem_type == CEED_MEM_DEVICE;
}

// Whether arrays are lent themselves; a backend that watches its callers lends copies.
static inline bool lends_originals(Ceed ceed) {
  const char *resource = "";
  CeedGetResource(ceed, &resource);
  return !has_device_memory(ceed) && !strstr(resource, "check");
}

// A copy in memory of malloc, as CEED_OWN_POINTER wants it.
static inline void *duplicate(const void *p, size_t size) { return memcpy(malloc(size), p, size); }

#endif
