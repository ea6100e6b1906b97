// SPDX-License-Identifier: BSD-2-Clause
// Programs that run beside this one: started with a list of arguments and never through a shell, what they
// say in a file, of which beginning and end are kept when it is long, stopped when they take too long. Called
// by jit/compiler.c and jit/build.c.
#ifndef RITZ_JIT_PROCESS_H
#define RITZ_JIT_PROCESS_H

#include <ceed.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct {
  pid_t pid; // 0: not started, or ended
  double start, seconds;
  double limit;     // seconds that it may take; RITZ_JIT_TIMEOUT's after the start
  int log;          // a descriptor of what it says, while it runs
  int64_t hole_end; // of that: what was dropped between its ends while it grew
  bool is_good;     // ended with status 0
  bool is_violent;  // was killed, by itself or by us
  char outcome[80]; // how it ended, for people: "was killed by signal 11"
} RitzProcess;

// Seconds that a program may take.
double ritz_process_limit(void);
// Its words go into folder/log, its temporary files into `folder`. pid is 0 and `outcome` says why when it
// cannot be run.
int ritz_process_start(Ceed ceed, char *const *arguments, const char *folder, const char *log,
                       RitzProcess *process);
bool ritz_process_has_ended(RitzProcess *process);
void ritz_process_wait(RitzProcess *process);
void ritz_process_kill(RitzProcess *process); // with its children; nothing when it does not run

// Sleeps for a moment that grows from call to call; *moment begins as 0.
void ritz_pause(double *moment);

#endif
