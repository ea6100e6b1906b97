// SPDX-License-Identifier: BSD-2-Clause
// What bindings of other languages need (ritz/context.h): contexts made under a handler, errors without a
// context, the last error of a thread, the count of allocations.
#include "tests/api.h"
#include "tests/tap.h"

#include <ceed/backend.h>
#include <pthread.h>
#include <ritz/context.h>
#include <signal.h>

static int num_handled;

static int count_error(Ceed ceed, const char *file, int line, const char *func, int code, const char *format,
                       va_list *args) {
  (void)ceed, (void)file, (void)line, (void)func, (void)format, (void)args;
  num_handled++;
  return code;
}

static const char *last_error(int *code) {
  const char *message = NULL;
  RitzGetLastError(code, &message);
  return message;
}

// A child tells on stderr what does not hold.
#define MUST(cond)                                                                                           \
  do {                                                                                                       \
    if (!(cond)) {                                                                                           \
      fprintf(stderr, "does not hold: %s\n", #cond);                                                         \
      _exit(1);                                                                                              \
    }                                                                                                        \
  } while (0)

// Where errors without a context would end the program.
static void init_under_handler(void) {
  int code = 0;
  Ceed ceed = NULL;

  unsetenv("CEED_ERROR_HANDLER");
  MUST(RitzInit("/no/such", count_error, &ceed) == CEED_ERROR_MAJOR && !ceed && num_handled == 1);
  MUST(strstr(last_error(&code), "No suitable backend: /no/such") && code == CEED_ERROR_MAJOR);
  MUST(RitzInit(NULL, count_error, &ceed) == CEED_ERROR_MAJOR && num_handled == 2);
  MUST(RitzInit("/cpu/self/gen:threads=many", count_error, &ceed) == CEED_ERROR_INCOMPATIBLE && !ceed);
  MUST(num_handled == 3 && strstr(last_error(&code), "threads=many"));
  MUST(RitzInit("/cpu/self/ref", count_error, NULL) == CEED_ERROR_INCOMPATIBLE && num_handled == 4);
  MUST(!RitzInit("/cpu/self/ref", count_error, &ceed));
  MUST(CeedSetNumViewTabs(ceed, -1) == CEED_ERROR_MINOR && num_handled == 5);
  CeedDestroy(&ceed);
}

TEST(a_context_is_made_under_the_handler_that_it_gets) {
  char text[1024];
  int status = run_child(init_under_handler, text, sizeof(text));

  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d: %s", status, text);
}

static void fail_without_context_under_handler(void) {
  CeedScalar x[1];
  Ceed ceed = NULL;

  unsetenv("CEED_ERROR_HANDLER");
  RitzSetErrorHandler(count_error);
  MUST(CeedGaussQuadrature(-1, x, x) == CEED_ERROR_DIMENSION && num_handled == 1);
  MUST(CeedInit("/no/such", &ceed) == CEED_ERROR_MAJOR && num_handled == 2);
  MUST(RitzInit("/no/such", CeedErrorReturn, &ceed) == CEED_ERROR_MAJOR && num_handled == 2);
  RitzSetErrorHandler(NULL);
  CeedGaussQuadrature(-1, x, x);
}

TEST(errors_without_a_context_have_a_handler_of_the_program) {
  char text[1024];
  int status = run_child(fail_without_context_under_handler, text, sizeof(text));

  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %d: %s", status, text);
  CHECK(strstr(text, "CeedGaussQuadrature"), "'%s'", text);
}

static void *fail_elsewhere(void *data) {
  int *code = data;
  const bool is_new = !*last_error(code) && *code == 0;

  CeedErrorImpl(NULL, "file.c", 3, "func", CEED_ERROR_MINOR, "%s", "elsewhere");
  return is_new && !strcmp(last_error(code), "elsewhere") ? data : NULL;
}

TEST(the_last_error_belongs_to_a_thread) {
  int code = 0, code_elsewhere = -1;
  void *is_right = NULL;
  pthread_t thread;
  Ceed ceed = tap_ceed("/cpu/self/ref");

  CeedSetErrorHandler(ceed, CeedErrorReturn);
  CHECK(CeedSetNumViewTabs(ceed, -1) == CEED_ERROR_MINOR, "no error");
  CHECK(!pthread_create(&thread, NULL, fail_elsewhere, &code_elsewhere), "no thread");
  pthread_join(thread, &is_right);
  CHECK(is_right && code_elsewhere == CEED_ERROR_MINOR, "code %d in the other thread", code_elsewhere);
  CHECK_OK(CeedSetNumViewTabs(ceed, 1)); // which changes nothing
  CHECK(strstr(last_error(&code), "view tabs must be >= 0, found -1") && code == CEED_ERROR_MINOR, "%d, '%s'",
        code, last_error(NULL));
  CHECK(!strstr(last_error(NULL), ".c:"), "a place: '%s'", last_error(NULL));
  CeedErrorImpl(ceed, "file.c", 3, "func", CEED_ERROR_ACCESS, "%2000d", 5);
  CHECK(strlen(last_error(&code)) == 1023 && code == CEED_ERROR_ACCESS, "%zu characters",
        strlen(last_error(NULL)));
  CeedErrorImpl(ceed, "file.c", 3, "func", CEED_ERROR_MINOR, "again:%s", last_error(NULL) + 1020);
  CHECK(!strcmp(last_error(NULL), "again:   "), "'%s'", last_error(NULL));
  CeedDestroy(&ceed);
}

TEST(allocations_are_counted) {
  int64_t before = -1, within = -1, after = -1;
  Ceed ceed = NULL;
  CeedVector vec = NULL;

  CHECK_OK(RitzGetNumAllocations(&before));
  ceed = tap_ceed("/cpu/self/ref");
  CHECK_OK(CeedVectorCreate(ceed, 10, &vec));
  CHECK_OK(CeedVectorSetValue(vec, 1));
  CHECK_OK(RitzGetNumAllocations(&within));
  CHECK(before >= 0 && within >= before + 3, "%d before, %d after a context, a vector and its array",
        (int)before, (int)within);
  CHECK_OK(CeedDestroy(&ceed)); // the vector is what was forgotten
  CHECK_OK(RitzGetNumAllocations(&after));
  CHECK(after > before, "%d before, %d after", (int)before, (int)after);
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(RitzGetNumAllocations(&after));
  CHECK(after == before, "%d before, %d after", (int)before, (int)after);
  CHECK(RitzGetNumAllocations(NULL) == CEED_ERROR_INCOMPATIBLE, "NULL");
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(a_context_is_made_under_the_handler_that_it_gets,
                        errors_without_a_context_have_a_handler_of_the_program,
                        the_last_error_belongs_to_a_thread, allocations_are_counted));
}
