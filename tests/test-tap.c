// SPDX-License-Identifier: BSD-2-Clause
// The harness tested by itself: checks that must fail do fail. Each list of wrong tests runs in a child
// process, whose exit status is what ctest would see.
#include "base/memory.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- Tests for the child: all but the first and last are wrong ----

TEST(right) { CHECK(1 + 1 == 2, "two"); }
TEST(false_condition) { CHECK(1 + 1 == 3, "three"); }
TEST(too_far) { CHECK_NEAR(1.0, 1.1, 0.09, "a tenth"); }
TEST(not_a_number) { CHECK_NEAR(NAN, 1.0, INFINITY, "NaN is near nothing"); }
TEST(failing_call) { CHECK_OK(CEED_ERROR_MINOR); }
TEST_EACH_BACKEND(other_code) {
  CHECK_ERROR(ceed, CeedError(ceed, CEED_ERROR_MINOR, "a reason"), CEED_ERROR_MAJOR, "reason");
}
TEST_EACH_BACKEND(other_message) {
  CHECK_ERROR(ceed, CeedError(ceed, CEED_ERROR_MINOR, "a reason"), CEED_ERROR_MINOR, "excuse");
}
TEST_EACH_BACKEND(old_message) {
  (void)CeedError(ceed, CEED_ERROR_MINOR, "a reason");
  CHECK_ERROR(ceed, CEED_ERROR_MINOR, CEED_ERROR_MINOR, "reason");
}
TEST_EACH_BACKEND(on_the_reference) {
  const char *resource = "";
  CHECK_OK(CeedGetResource(ceed, &resource));
  CHECK(!strcmp(resource, "/cpu/self/ref"), "on %s", resource);
}
TEST(lost_memory) {
  double *lost;
  CHECK_OK(RITZ_MALLOC(NULL, 3, &lost));
}
TEST(skipped) { SKIP("%s", "a reason"); }
TEST(idle) {
  for (int i = 0; i < 0; i++) CHECK(0, "of no device");
}
TEST_EACH_BACKEND(left_out) {
  if (ceed) NOT_FOR_THIS_BACKEND("a reason");
}

// Lists for a child, which cannot use the devices of its parent.
static const char *chosen = "/cpu", *demanded = "";

// Exit status of a child that runs the tests (all, or the one called `name`) and prints nothing.
static int status_of(const char *name, size_t num_tests, const TapTest *tests) {
  char program[] = "child", wanted[64] = "";
  char *argv[] = {program, wanted, NULL};
  int status = -1;

  snprintf(wanted, sizeof(wanted), "%s", name ? name : "");
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    unsetenv("RITZ_TEST_NOSKIP");
    setenv("RITZ_TEST_BACKENDS", chosen, 1);
    setenv("RITZ_TEST_REQUIRE", demanded, 1);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(99);
    _exit(tap_main(name ? 2 : 1, argv, num_tests, tests));
  }
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

// ---- Tests ----

TEST(a_program_without_failures_passes) { CHECK(status_of(NULL, TESTS(right)) == 0, "one right test"); }

TEST(every_wrong_test_fails) {
  const TapTest wrong[] = {false_condition, too_far,       not_a_number, failing_call,
                           other_code,      other_message, old_message,  lost_memory};

  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
    CHECK(status_of(NULL, 1, &wrong[i]) == 1, "the wrong test '%s' passes", wrong[i].name);
    CHECK(status_of(NULL, TESTS(wrong[i], right)) == 1, "'%s' is forgotten after a right one", wrong[i].name);
  }
}

TEST(a_program_whose_tests_are_all_skipped_says_so) {
  CHECK(status_of(NULL, TESTS(skipped, skipped)) == 77, "all skipped");
  CHECK(status_of(NULL, TESTS(skipped, right)) == 0, "one of two skipped");
}

TEST(a_test_that_checks_nothing_is_skipped) {
  CHECK(status_of(NULL, TESTS(idle)) == 77, "one without checks");
  CHECK(status_of(NULL, TESTS(idle, right)) == 0, "and one with a check");
  CHECK(status_of(NULL, TESTS(left_out)) == 0, "one that is about other backends");
}

TEST(one_test_can_be_chosen_by_name) {
  CHECK(status_of("false condition", TESTS(right, false_condition)) == 1, "name with a blank");
  CHECK(status_of("right", TESTS(right, false_condition)) == 0, "the other one");
  CHECK(status_of("no_such_test", TESTS(right)) == 2, "unknown name");
}

static int status_with(const char *names, const char *needs, size_t num_tests, const TapTest *tests) {
  chosen = names, demanded = needs;
  int status = status_of(NULL, num_tests, tests);

  chosen = "/cpu", demanded = "";
  return status;
}

TEST(backends_can_be_chosen_and_demanded) {
  CHECK(status_with("/cpu/self/ref", "", TESTS(on_the_reference)) == 0, "one of them");
  CHECK(status_with("/cpu/self/ref", "/cpu/self/gen", TESTS(on_the_reference)) == 0, "another is demanded");
  CHECK(status_with("/cpu/self/r,", "", TESTS(on_the_reference)) == 0, "a part of a name");
  CHECK(status_with("/cpu/self/ref,/cpu/self/check", "", TESTS(on_the_reference)) == 1, "two of them");
  CHECK(status_with("/cpu", "", TESTS(on_the_reference)) == 1, "all of the CPU");
  CHECK(status_with("/cpu/self/ref,/no/such", "", TESTS(right)) == 1, "one that nobody has");
  CHECK(status_with("/cpu", "/cpu/self/ref,/no/such", TESTS(right)) == 1, "a demand that nobody can meet");
}

// 4000 numbers of variance 1/3: the mean has the standard deviation sqrt(1/3/4000) = 0.0091; five of these
// are allowed.
TEST(random_numbers_fill_their_range_and_repeat) {
  enum { N = 4000 };
  uint64_t state = 1, same = 1;
  double mean = 0.0, lowest = 1.0, highest = -1.0;

  for (int i = 0; i < N; i++) {
    double x = tap_uniform(&state);
    CHECK(x == tap_uniform(&same), "number %d differs in the second run", i);
    mean += x / N, lowest = fmin(lowest, x), highest = fmax(highest, x);
  }
  CHECK_NEAR(mean, 0.0, 5 * 0.0091, "mean");
  CHECK(lowest >= -1.0 && lowest < -0.99 && highest > 0.99 && highest < 1.0, "%g .. %g", lowest, highest);

  int seen[7] = {0};
  for (int i = 0; i < N; i++) seen[tap_integer(&state, 7)]++;
  for (int k = 0; k < 7; k++) CHECK(seen[k] > N / 14, "%d came %d times of %d", k, seen[k], N);
}

TEST(temporary_files_hold_what_was_given) {
  const char *first = tap_temp_text("a.msh", "12\n"), *second = tap_temp_file("a.msh", "x\0y", 3);
  char text[8] = "";

  CHECK(strcmp(first, second), "two files share the path %s", first);
  FILE *file = fopen(second, "rb");
  CHECK(file, "cannot open %s", second);
  size_t size = fread(text, 1, sizeof(text), file);
  fclose(file);
  CHECK(size == 3 && !memcmp(text, "x\0y", 3), "%zu bytes", size);
  CHECK(access(tap_temp_file("b", NULL, 0), F_OK) != 0, "a file without data is made");
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(a_program_without_failures_passes, every_wrong_test_fails,
                        a_program_whose_tests_are_all_skipped_says_so, a_test_that_checks_nothing_is_skipped,
                        one_test_can_be_chosen_by_name, backends_can_be_chosen_and_demanded,
                        random_numbers_fill_their_range_and_repeat, temporary_files_hold_what_was_given));
}
