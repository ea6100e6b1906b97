// SPDX-License-Identifier: BSD-2-Clause
// What people see while a call waits for compilers: under RITZ_PROGRESS=1, which the program `ritz` sets
// where stderr is a terminal, one line there after the first second, rewritten and in the end removed. Called
// by jit/load.c, build.c and batch.c.
#ifndef RITZ_JIT_PROGRESS_H
#define RITZ_JIT_PROGRESS_H

#include <stdbool.h>

// A wait begins as {0}.
typedef struct {
  double start, last_shown; // seconds; 0: none
  bool shows;               // of several that wait at the same time one shows
} RitzWait;

// More texts that have to be compiled, more of them that are done.
void ritz_progress_count(int num, int num_done);
void ritz_wait_show(RitzWait *wait); // each time round the loop
void ritz_wait_end(RitzWait *wait);

#endif
