// SPDX-License-Identifier: BSD-2-Clause
// One text on its way to a module: the disk cache, a lock, the compiler, the loader. A job goes one step
// further whenever it is asked and never waits, so that one thread leads many. Called by jit/load.c.
#ifndef RITZ_JIT_BUILD_H
#define RITZ_JIT_BUILD_H

#include <stdatomic.h>

#include "jit/compiler.h"
#include "jit/process.h"

// State that the jobs of a call share.
typedef struct {
  Ceed ceed;
  const atomic_bool *stop; // borrowed: set when the caller no longer wants the texts; NULL: never
  RitzCache cache;
  RitzWords places; // folders for work folders; the first one is the cache when there is one
  const RitzCompiler *compiler;
  bool has_next; // texts with a user's file are tried in another language when this compiler refuses them
  RitzJitCounters counters; // of this call
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
typedef struct {
  const RitzJitSource *source; // borrowed
  RitzHash key, user;          // `user`: of the user's file
  RitzJobState state;
  RitzJitModule module; // owned: the result when DONE
  RitzCacheLock lock;
  double waiting_since; // 0: has not waited for a lock
  size_t place;         // index of the work folder's parent
  char *work;           // owned; the work folder, or NULL
  int64_t start;        // of the compilation, by the clock of the files
  RitzProcess process, lister;
  char *log;        // owned; of a compilation that failed
  bool is_recorded; // the cache says that the text is refused
} RitzJob;

// ritz_jit_load that ends early, with CEED_ERROR_MINOR that is not reported, when *stop is set (NULL: never).
int ritz_jit_load_until(Ceed ceed, const atomic_bool *stop, size_t num, const RitzJitSource *sources,
                        RitzJitModule *modules);

// `may_compile`: another compiler may be started now.
int ritz_job_step(RitzBuild *build, RitzJob *job, bool may_compile);
void ritz_job_close(RitzJob *job); // in any state

// Hash of the user's file, of "" when it cannot be read.
RitzHash ritz_job_user_hash(const RitzJitSource *source);
// Whether the other language follows should this one be refused.
bool ritz_job_has_next(const RitzBuild *build, const RitzJob *job);

#endif
