// SPDX-License-Identifier: BSD-2-Clause
// Contexts of /cpu/self/gen with as many threads as wanted, whatever the number of processors. Included by
// tests of what threads share.
#ifndef RITZ_TESTS_THREAD_CONTEXT_H
#define RITZ_TESTS_THREAD_CONTEXT_H

#include "backends/cpu/cpu.h"
#include "tests/tap.h"

#include <stdlib.h>

// Before any operator is used. Ends the program when it fails.
static inline Ceed thread_context(bool is_deterministic, int num_threads) {
  Ceed ceed =
      tap_ceed(is_deterministic ? "/cpu/self/gen:deterministic:threads=1" : "/cpu/self/gen:threads=1");
  RitzCpu *cpu = ceed->data;

  ritz_team_destroy(&cpu->team);
  RITZ_FREE(&cpu->work);
  cpu->num_threads = num_threads;
  if (ritz_team_create(ceed, num_threads, &cpu->team)) abort();
  if (RITZ_CALLOC(ceed, (size_t)num_threads, &cpu->work)) abort();
  return ceed;
}

#endif
