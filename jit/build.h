// SPDX-License-Identifier: BSD-2-Clause
// One text on its way to a module: the disk cache, a lock, the compiler, the loader. A job goes one step
// further whenever it is asked and never waits, so that one thread leads many. Called by jit/load.c.
#ifndef RITZ_JIT_BUILD_H
#define RITZ_JIT_BUILD_H

#include <stdatomic.h>

#include "jit/compiler.h"
#include "jit/process.h"
#include "jit/progress.h"

// Calls back about texts while a load runs, on its thread.
typedef struct {
  const atomic_bool *stop; // set when nobody wants the texts any more
  // Text `number` is in no cache.
  void (*is_absent)(void *data, size_t number);
  // Text `number` has its final module; borrowed. Not called for texts that are compiled in two languages:
  // they are ready at the end.
  void (*is_there)(void *data, size_t number, RitzJitModule module);
  void *data;
} RitzJitWatch;

// State that the jobs of a call share.
typedef struct {
  Ceed ceed;
  const RitzJitWatch *watch; // borrowed; NULL: nobody
  RitzCache cache;
  RitzStrings places; // folders for work folders; the first one is the cache when there is one
  const RitzCompiler *compiler;
  bool has_next; // texts with a user's file are tried in another language when this compiler refuses them
  RitzJitCounters counters; // of this call
  RitzWait wait;            // for jobs, by a caller that has nothing to run meanwhile
} RitzBuild;

typedef enum {
  RITZ_JOB_NEW,
  RITZ_JOB_WAITING, // for a processor or a lock
  RITZ_JOB_COMPILING,
  RITZ_JOB_LISTING, // refused for a header that is nowhere: the compiler lists what it has read and looked
                    // for
  RITZ_JOB_DONE
} RitzJobState;

// Begins as {.source, .key, .user}.
typedef struct RitzJob {
  const RitzJitSource *source;  // borrowed
  RitzHash key, user;           // `user`: of the user's file
  size_t number;                // of the text in the call
  RitzJobState state, told;     // `told`: what the watch has heard last
  bool is_counted;              // among those that are to be compiled
  bool has_turn;                // counts among the compilers beside somebody's work
  struct RitzJob *next_waiting; // of those that wait for a turn
  RitzJitModule module;         // owned: the result when DONE
  RitzCacheLock lock;
  double waiting_since; // 0: has not waited for a lock
  size_t place;         // index of the work folder's parent
  char *work;           // owned; the work folder, or NULL
  int64_t start;        // of the compilation, by the clock of the files
  RitzProcess process, lister;
  char *log;        // owned; of a compilation that failed
  bool is_recorded; // the cache says that the text is refused
} RitzJob;

// ritz_jit_load with callbacks (NULL: none). Ends early, with CEED_ERROR_MINOR that is not reported, when
// *watch->stop is set.
int ritz_jit_load_watched(Ceed ceed, const RitzJitWatch *watch, size_t num, const RitzJitSource *sources,
                          RitzJitModule *modules);

// Callers that wait for a text made beside them, more (1) or fewer (-1): meanwhile all processors are
// compilers'.
void ritz_jobs_note_waiting(int change);

// `may_compile`: another compiler may be started now.
int ritz_job_step(RitzBuild *build, RitzJob *job, bool may_compile);
void ritz_job_close(RitzBuild *build, RitzJob *job); // in any state

// Hash of the user's file, of "" when it cannot be read.
RitzHash ritz_job_user_hash(const RitzJitSource *source);
// Whether the other language follows should this one be refused.
bool ritz_job_has_next(const RitzBuild *build, const RitzJob *job);

#endif
