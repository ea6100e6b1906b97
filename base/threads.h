// SPDX-License-Identifier: BSD-2-Clause
// All that the library knows of threads: locks around its process-wide lists, and teams that run one function
// on several threads. Objects have no locks: one context and what belongs to it is used by one thread of the
// program at a time.
#ifndef RITZ_BASE_THREADS_H
#define RITZ_BASE_THREADS_H

#include <ceed.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
  RITZ_LOCK_GALLERY,  // QFunctions added to the gallery (core/gallery.c)
  RITZ_LOCK_JIT,      // loaded modules and counters (jit/)
  RITZ_LOCK_PROGRAMS, // programs that are loaded on devices (backends/gpu/program.c)
  RITZ_LOCK_DEVICES,  // libraries of drivers and devices that are open (devices/)
  RITZ_LOCK_PROFILE,  // timing table (core/profile.c)
  RITZ_LOCK_TUNING,   // measured choices (backends/gpu/tune-store.c)
  RITZ_LOCK_WARNINGS, // warnings on stderr (core/ceed-error.c)
  RITZ_LOCK_DIRECT,   // libraries for coarse problems and dense systems that are open (solver/direct-*.c,
                      // backends/ref/dense-lapack.c)
  RITZ_LOCK_METIS,    // calls of METIS, which draws random numbers from one sequence for all threads; held
                      // while it works
  RITZ_LOCK_STOPS,    // what stops other parts (distributed/parts.c); held while it does
  RITZ_LOCK_BUILDS,   // compilers of OpenCL (devices/opencl-code.c); held while they work
  RITZ_LOCK_MEMORY,   // large blocks (base/memory.c); taken last
  RITZ_NUM_LOCKS
} RitzLock;

// Not recursive; held for a few instructions, never across calls of a user's function.
void ritz_lock(RitzLock lock);
void ritz_unlock(RitzLock lock);

// ---- Teams ----
// Threads that wait between the runs, awake for a millisecond, so that a run costs a few microseconds. A team
// belongs to one context; it survives fork(): a child starts threads of its own.
typedef struct RitzTeam_private *RitzTeam;

// num_threads >= 1; threads start with the first run.
int ritz_team_create(Ceed ceed, int num_threads, RitzTeam *team);
void ritz_team_destroy(RitzTeam *team);
int ritz_team_size(RitzTeam team);
// Calls run(data, thread) for thread = 0 .. size - 1, each on its own thread, the last one on the caller's,
// and returns when all are done: the nonzero code of the lowest thread, else 0. What no thread has begun by
// then the caller's does, in descending order of `thread` (a run may wait for higher threads, never for lower
// ones); all of it when threads cannot be had.
int ritz_team_run(RitzTeam team, int (*run)(void *data, int thread), void *data);

// The same with `thread` = 0 .. count - 1 alone, 1 <= count <= size: for work that is not worth all threads.
int ritz_team_run_some(RitzTeam team, int count, int (*run)(void *data, int thread), void *data);

// The same where runs wait for each other: all at the same time, each on its own thread, 0 on the caller's;
// or *is_done false and nothing has run, because threads cannot be had.
int ritz_team_run_together(RitzTeam team, int (*run)(void *data, int thread), void *data, bool *is_done);

// A flag that one thread raises and others wait for. Waiting spins for a short time, then yields.
typedef struct {
  _Atomic int32_t epoch;
} RitzFlag;
void ritz_flag_raise(RitzFlag *flag, int32_t epoch);     // everything written before is seen by who waited
bool ritz_flag_is_raised(RitzFlag *flag, int32_t epoch); // and what was written before is seen
// From one value to another, if it has the first: false when it has not. Of several threads one succeeds.
bool ritz_flag_change(RitzFlag *flag, int32_t from, int32_t to);
void ritz_flag_wait(RitzFlag *flag, int32_t epoch); // until raised with this epoch
// The same; false: one of these was raised (to anything but 0), and the flag was not.
bool ritz_flag_wait_unless(RitzFlag *flag, int32_t epoch, RitzFlag *stop, RitzFlag *other_stop);
// Moments of a loop that waits for another thread: the second lets others run.
void ritz_pause_processor(void);
void ritz_yield_processor(void);

// ---- Tasks ----
// A function that runs once, on a thread of its own beside its caller. It reports to no context: contexts
// belong to the caller's thread.
typedef struct RitzTask_private *RitzTask;

// Where no thread can be had, run(data) has ended when this returns.
int ritz_task_start(Ceed ceed, void (*run)(void *data), void *data, RitzTask *task);
// Waits for the function to end and frees the task; NULL: does nothing. False in a child that was forked
// after the start: the function did not end in this process, and what it was working on is in an unknown
// state.
bool ritz_task_end(RitzTask *task);
// For tests: waits for the functions of all tasks of this process to end. What they do late (allocations,
// counts of compiled programs) is done then.
void ritz_tasks_wait(void);

// For base/environment.c: the value of a variable of the environment, NULL where it is not set: of a task the
// one it had when the task was started, valid until the task's end. Tasks run beside the program, which may
// call setenv meanwhile.
const char *ritz_getenv(const char *name);
// All variables, "NAME=value", NULL behind the last one; the same holds. May be NULL: none.
char *const *ritz_environment_all(void);

// Processors that this process may use, at least 1: those of its affinity mask, at most as many as the quota
// of its control groups keeps busy, a broken one included.
int ritz_num_processors(void);
// That quota, INFINITY: none; of the files below `root`, which tests play ("": those of the system).
double ritz_processor_quota(const char *root);
// What OMP_NUM_THREADS asks for, at most RITZ_MAX_THREADS; 0 when it is not set or no positive number: the
// variable is shared with other programs, so that is no error.
enum { RITZ_MAX_THREADS = 1 << 20 };
int ritz_threads_from_environment(void);

#endif
