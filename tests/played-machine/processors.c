// SPDX-License-Identifier: BSD-2-Clause
// A library that programs are started with (LD_PRELOAD) to play a machine of RITZ_TEST_PROCESSORS processors,
// all of them this process's. Built and used by tests/test-cli-parts.sh, tools/check-mpi and
// python/tests/test_threads.py.
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>

int sched_getaffinity(pid_t process, size_t size, cpu_set_t *mask) {
  const char *played = getenv("RITZ_TEST_PROCESSORS");

  (void)process;
  memset(mask, 0, size);
  for (int i = 0; i < (played ? atoi(played) : 1); i++) CPU_SET_S((size_t)i, size, mask);
  return 0;
}
