// SPDX-License-Identifier: BSD-2-Clause
// Code of programs that is made ahead of their first use: a queue of texts for each context, and threads that
// compile them, as many as there are processors (contract in backends/gpu/ahead.h). Who needs a program
// waits for the thread that is at it, and compiles it himself when none has begun. NVIDIA's compiler parses
// one text at a time and does all else side by side.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/gpu/ahead.h"
#include "backends/gpu/context.h"
#include "base/threads.h"
#include "jit/process.h"

enum { MAX_WORKERS = 32 };

typedef enum { QUEUED, RUNNING, DONE } State;

typedef struct Job Job;
struct Job {
  Job *next;
  State state;               // under RITZ_LOCK_PROGRAMS
  int num_wanted;            // how often it was added and not yet taken
  RitzGpuSource *source;     // shared
  size_t length;             // of its text
  struct Ceed_private *ceed; // owned: a copy that takes the messages
  size_t num_bytes;
  char *bytes;            // owned: the code, once DONE; NULL: it has failed
  RitzGpuProgram program; // counted, when it was loaded already; else NULL
};

typedef struct {
  RitzGpuAhead *ahead;
  RitzTask task; // NULL: there was none
  bool is_over;  // it takes no more jobs; under RITZ_LOCK_PROGRAMS
} Worker;

struct RitzGpuAhead {
  Job *jobs; // owned, in the order in which they came; the list is changed by the context's thread alone
  int num_workers;
  Worker workers[MAX_WORKERS];
  pid_t process; // whose threads they are
};

// ---- The end of the process ----
// What a compiler has begun must end before its library is shut down: exit() waits.

static _Atomic int num_running;
static _Atomic bool is_ending;
static pid_t watched_process;

static void wait_at_exit(void) {
  double moment = 0;
  atomic_store(&is_ending, true);
  while (watched_process == getpid() && atomic_load(&num_running) > 0) ritz_pause(&moment);
}

static void watch_exit(void) {
  static _Atomic bool is_watching;
  if (!atomic_exchange(&is_watching, true)) (void)atexit(wait_at_exit);
  if (atomic_load(&num_running) == 0) watched_process = getpid();
}

// ---- Threads ----

// Of those that nobody has begun the one with the longest text, which takes longest to compile; NULL: none.
static Job *find_longest(Job *jobs) {
  Job *longest = NULL;
  for (Job *job = jobs; job; job = job->next) {
    if (job->state == QUEUED && (!longest || job->length > longest->length)) longest = job;
  }
  return longest;
}

// NULL: the worker ends.
static Job *begin_job(Worker *worker) {
  ritz_lock(RITZ_LOCK_PROGRAMS);
  Job *job = atomic_load(&is_ending) ? NULL : find_longest(worker->ahead->jobs);
  if (job) {
    job->state = RUNNING;
    atomic_fetch_add(&num_running, 1);
  }
  worker->is_over = !job;
  ritz_unlock(RITZ_LOCK_PROGRAMS);
  return job;
}

static void run_job(Job *job) {
  size_t num_bytes = 0;
  char *bytes = NULL;
  (void)ritz_gpu_program_compile(job->ceed, job->source, &num_bytes, &bytes);
  ritz_lock(RITZ_LOCK_PROGRAMS);
  job->num_bytes = num_bytes;
  job->bytes = bytes;
  job->state = DONE;
  ritz_unlock(RITZ_LOCK_PROGRAMS);
}

static void run_worker(void *data) {
  Worker *worker = data;
  ritz_memory_spare_thread(true);
  for (Job *job; (job = begin_job(worker));) {
    run_job(job);
    atomic_fetch_sub(&num_running, 1);
  }
  ritz_memory_spare_thread(false); // where no thread could be had, it is the caller's
}

static bool is_over(Worker *worker) {
  ritz_lock(RITZ_LOCK_PROGRAMS);
  const bool result = worker->is_over;
  ritz_unlock(RITZ_LOCK_PROGRAMS);
  return result;
}

// One more thread, unless there are as many as processors. One processor is the caller's, when it waits.
static int start_worker(Ceed ceed, RitzGpuAhead *ahead) {
  const int most = ritz_num_processors() < MAX_WORKERS ? ritz_num_processors() : MAX_WORKERS;
  int i = 0;
  while (i < ahead->num_workers && !is_over(&ahead->workers[i])) i++;
  if (i == most) return CEED_ERROR_SUCCESS;
  Worker *worker = &ahead->workers[i];
  if (i == ahead->num_workers) ahead->num_workers++;
  (void)ritz_task_end(&worker->task); // it has nothing left to do
  *worker = (Worker){.ahead = ahead};
  const int ierr = ritz_task_start(ceed, run_worker, worker, &worker->task);
  if (ierr) worker->is_over = true;
  return ierr;
}

// ---- Jobs ----

static void free_job(Ceed ceed, Job **job) {
  ritz_gpu_program_release(ceed, &(*job)->program);
  RITZ_FREE(&(*job)->bytes);
  ritz_gpu_source_release(&(*job)->source);
  RITZ_FREE(&(*job)->ceed);
  RITZ_FREE(job);
}

static Job **find_job(RitzGpuAhead *ahead, const RitzHash *key) {
  Job **job = &ahead->jobs;
  while (*job && strcmp((*job)->source->key.hex, key->hex) != 0) job = &(*job)->next;
  return job;
}

static int get_ahead(Ceed ceed, RitzGpuAhead **ahead) {
  RitzGpu *gpu = ritz_gpu(ceed);
  if (!gpu->ahead) {
    RITZ_TRY(RITZ_CALLOC(ceed, 1, &gpu->ahead));
    gpu->ahead->process = getpid();
  }
  *ahead = gpu->ahead;
  return CEED_ERROR_SUCCESS;
}

static int create_job(Ceed ceed, RitzGpuSource *source, Job **job) {
  RITZ_TRY(RITZ_CALLOC(ceed, 1, job));
  const int ierr = RITZ_MALLOC(ceed, 1, &(*job)->ceed);
  if (ierr) RITZ_FREE(job);
  RITZ_TRY(ierr);
  *(*job)->ceed = ritz_gpu_silent_copy(ceed);
  (*job)->source = ritz_gpu_source_share(source);
  (*job)->length = strlen(source->text);
  (*job)->program = ritz_gpu_program_find(ritz_gpu(ceed)->device, &source->key);
  (*job)->state = (*job)->program ? DONE : QUEUED;
  (*job)->num_wanted = 1;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_ahead_add(Ceed ceed, RitzGpuSource *source) {
  RitzGpuAhead *ahead;
  Job *job = NULL;
  RITZ_TRY(get_ahead(ceed, &ahead));
  Job **end = find_job(ahead, &source->key);
  if (*end) (*end)->num_wanted++;
  if (*end || ahead->process != getpid()) return CEED_ERROR_SUCCESS;
  RITZ_TRY(create_job(ceed, source, &job));
  ritz_lock(RITZ_LOCK_PROGRAMS);
  *end = job;
  ritz_unlock(RITZ_LOCK_PROGRAMS);
  if (job->program) return CEED_ERROR_SUCCESS;
  if (!ritz_gpu_compiles_beside(ceed)) {
    run_job(job);
    return CEED_ERROR_SUCCESS;
  }
  watch_exit();
  return start_worker(ceed, ahead);
}

// Ends a job, and takes it out of the list. In a child of the process that began it nobody will end it.
static Job *end_job(RitzGpuAhead *ahead, Job **at, bool is_last) {
  double moment = 0;
  Job *job = *at;
  for (;;) {
    ritz_lock(RITZ_LOCK_PROGRAMS);
    const bool is_running = job->state == RUNNING && ahead->process == getpid();
    if (!is_running) job->state = DONE;
    if (!is_running && is_last) *at = job->next;
    ritz_unlock(RITZ_LOCK_PROGRAMS);
    if (!is_running) return job;
    ritz_pause(&moment);
  }
}

bool ritz_gpu_ahead_take(Ceed ceed, const RitzHash *key, size_t *num_bytes, char **bytes,
                         RitzGpuProgram *program) {
  RitzGpuAhead *ahead = ritz_gpu(ceed)->ahead;
  *num_bytes = 0;
  *bytes = NULL;
  *program = NULL;
  if (!ahead) return false;
  Job **at = find_job(ahead, key);
  if (!*at) return false;
  const bool is_last = --(*at)->num_wanted == 0;
  Job *job = end_job(ahead, at, is_last);
  *num_bytes = job->num_bytes;
  *bytes = job->bytes;
  *program = job->program;
  job->bytes = NULL;
  job->program = NULL;
  if (is_last) free_job(ceed, &job);
  return true;
}

// Drops the jobs in the queue, waits for those that run.
void ritz_gpu_ahead_destroy(Ceed ceed) {
  RitzGpuAhead *ahead = ritz_gpu(ceed)->ahead;
  if (!ahead) return;
  ritz_lock(RITZ_LOCK_PROGRAMS);
  for (Job *job = ahead->jobs; job; job = job->next) job->state = job->state == QUEUED ? DONE : job->state;
  ritz_unlock(RITZ_LOCK_PROGRAMS);
  for (int i = 0; i < ahead->num_workers; i++) (void)ritz_task_end(&ahead->workers[i].task);
  while (ahead->jobs) {
    Job *job = end_job(ahead, &ahead->jobs, true);
    free_job(ceed, &job);
  }
  RITZ_FREE(&ritz_gpu(ceed)->ahead);
}
