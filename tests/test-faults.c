// SPDX-License-Identifier: BSD-2-Clause
// Every allocation fails once: a program that uses the whole library is run with its n-th allocation failing,
// for all n (the quick level takes a part of them). Each time it gets an error code, nothing is lost, all
// objects can be destroyed; and a call that has failed can simply be made again: the program then ends with
// the same numbers. The program itself is in fault-program.c.
#include "tests/api.h"

#include "base/memory.h"
#include "tests/fault-program.h"
#include <glob.h>
#include <stdio.h>
#include <string.h>

// ---- Counting ----

enum { FAR_AWAY = 1000000 }; // more allocations than the program makes

// How many allocations the program makes: how much nearer the far failure has come. What a process makes but
// once (compiled kernels) is made before.
static int64_t count_allocations(const FaultInput *input) {
  FaultResult result;

  if (fault_program_run(input, false, &result)) return -1;
  ritz_memory_fail_at(FAR_AWAY);
  int ierr = fault_program_run(input, false, &result);
  const int64_t left = ritz_memory_fail_at(0);
  return ierr ? -1 : FAR_AWAY - left;
}

// A quick look takes some two hundred of the failures, spread over all; on devices, where the program takes
// longer, a full one three hundred.
static int64_t stride_for(const char *resource, int64_t num) {
  const bool is_device = !strncmp(resource, "/gpu/", 5);
  const int64_t most = tap_level() == TAP_QUICK ? 200 : is_device && tap_level() == TAP_FULL ? 300 : num;
  return num <= most ? 1 : num / most | 1;
}

// ---- One failure ----

// Files that a failed call should have removed.
static int num_leftovers(const FaultInput *input) {
  char pattern[1200];
  glob_t found;

  snprintf(pattern, sizeof(pattern), "%s*.tmp", input->vtu_path);
  int num = glob(pattern, 0, NULL, &found) ? 0 : (int)found.gl_pathc;
  globfree(&found);
  return num;
}

// Where threads compile ahead the number of the caller's allocations is not quite fixed (a thread is started
// where none is idle), so that a run may get by with fewer than n: not counted.
static void check_failure(const FaultInput *input, int64_t n, int *num_failed) {
  FaultResult result;
  int64_t live = ritz_memory_live();

  ritz_memory_fail_at(n);
  int ierr = fault_program_run(input, false, &result);
  const bool has_failed = ritz_memory_fail_at(0) == 0;
  *num_failed += has_failed;
  CHECK(ierr || !has_failed, "the failure of allocation %lld is not reported; after: %s", (long long)n,
        result.last_call);
  CHECK(!result.destroyed, "allocation %lld: an object cannot be destroyed after %s: %d", (long long)n,
        result.last_call, result.destroyed);
  CHECK(ritz_memory_live() == live, "allocation %lld: %lld more are live afterwards; failed: %s",
        (long long)n, (long long)(ritz_memory_live() - live), result.last_call);
  CHECK(num_leftovers(input) == 0, "allocation %lld: a file is left by %s", (long long)n, result.last_call);
}

static void check_retry(const FaultInput *input, int64_t n, const FaultResult *undisturbed, int *num_failed) {
  FaultResult result;
  int64_t live = ritz_memory_live();

  ritz_memory_fail_at(n);
  int ierr = fault_program_run(input, true, &result);
  const bool has_failed = ritz_memory_fail_at(0) == 0;
  *num_failed += has_failed;
  CHECK(!ierr, "allocation %lld: %s fails again with %d", (long long)n, result.last_call, ierr);
  CHECK(result.num_retries == has_failed, "allocation %lld: %d calls were repeated", (long long)n,
        result.num_retries);
  CHECK(fault_numbers_agree(&result, undisturbed), "allocation %lld: other numbers after %s was repeated",
        (long long)n, result.repeated_call);
  CHECK(!result.destroyed, "allocation %lld: an object cannot be destroyed after %s was repeated: %d",
        (long long)n, result.repeated_call, result.destroyed);
  CHECK(ritz_memory_live() == live, "allocation %lld: %lld more are live after %s was repeated", (long long)n,
        (long long)(ritz_memory_live() - live), result.repeated_call);
}

// ---- Tests, for every backend of the table ----

// The harness makes a context; the program makes its own of the same resource, whose options are not in the
// name.
static FaultInput input_for(Ceed ceed) {
  static char resource[200];
  FaultInput input = fault_program_input();
  const char *name;

  CeedGetResource(ceed, &name);
  bool is_played = has_device_memory(ceed) && strstr(name, "check");
  snprintf(resource, sizeof(resource), "%s%s", name, is_played ? ":mem=device" : "");
  input.resource = resource;
  return input;
}

TEST_EACH_BACKEND(a_program_whose_nth_allocation_fails_gets_an_error_and_loses_nothing) {
  FaultInput input = input_for(ceed);
  int64_t num = count_allocations(&input), stride = stride_for(input.resource, num);
  int num_points = 0, num_failed = 0;

  CHECK(num > 1000, "the program fails, or makes only %lld allocations", (long long)num);
  for (int64_t n = 1; n <= num && !tap_failed(); n += stride, num_points++)
    check_failure(&input, n, &num_failed);
  CHECK(tap_failed() || num_failed >= 0.9 * num_points, "only %d of %d", num_failed, num_points);
  tap_note("%d of %lld allocations failed", num_failed, (long long)num);
}

TEST_EACH_BACKEND(a_call_that_has_failed_can_be_repeated) {
  FaultInput input = input_for(ceed);
  FaultResult undisturbed;
  int64_t num = count_allocations(&input), stride = stride_for(input.resource, num);
  int num_points = 0, num_failed = 0;

  CHECK_OK(fault_program_run(&input, false, &undisturbed));
  for (int64_t n = 1 + stride / 2; n <= num && !tap_failed(); n += stride, num_points++)
    check_retry(&input, n, &undisturbed, &num_failed);
  CHECK(tap_failed() || num_failed >= 0.9 * num_points, "only %d of %d", num_failed, num_points);
  tap_note("%d of %lld allocations failed", num_failed, (long long)num);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(a_program_whose_nth_allocation_fails_gets_an_error_and_loses_nothing,
                        a_call_that_has_failed_can_be_repeated));
}
