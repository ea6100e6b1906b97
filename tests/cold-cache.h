// SPDX-License-Identifier: BSD-2-Clause
// An empty cache of kernels for a part of a test, in which no step down may be told (RITZ_STRICT), and the
// count of compilations.
#ifndef RITZ_TESTS_COLD_CACHE_H
#define RITZ_TESTS_COLD_CACHE_H

#include <ritz/jit.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/threads.h"
#include "tests/tap.h"

typedef struct {
  char folder[4096]; // of the cache before; "" none
  int compilations;
} ColdCache;

static inline int cold_num_compiled(void) {
  RitzJitCounters counters;
  ritz_tasks_wait(); // threads beside count late
  return RitzJitGetCounters(&counters) ? -1 : (int)counters.compilations;
}

static inline void cold_begin(ColdCache *c) {
  const char *folder = getenv("RITZ_CACHE_DIR");
  snprintf(c->folder, sizeof(c->folder), "%s", folder ? folder : "");
  setenv("RITZ_CACHE_DIR", tap_temp_file("cold", NULL, 0), 1);
  setenv("RITZ_STRICT", "1", 1);
  c->compilations = cold_num_compiled();
}

// Compilations since.
static inline int cold_end(const ColdCache *c) {
  unsetenv("RITZ_STRICT");
  unsetenv("RITZ_CACHE_DIR");
  if (c->folder[0]) setenv("RITZ_CACHE_DIR", c->folder, 1);
  return cold_num_compiled() - c->compilations;
}

#endif
