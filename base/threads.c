// SPDX-License-Identifier: BSD-2-Clause
// Locks, teams, flags (contract in base/threads.h). The only file that knows which threads there are.
#define _POSIX_C_SOURCE 200809L
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

static pthread_mutex_t locks[RITZ_NUM_LOCKS] = {
    [RITZ_LOCK_GALLERY] = PTHREAD_MUTEX_INITIALIZER,  [RITZ_LOCK_JIT] = PTHREAD_MUTEX_INITIALIZER,
    [RITZ_LOCK_PROGRAMS] = PTHREAD_MUTEX_INITIALIZER, [RITZ_LOCK_DEVICES] = PTHREAD_MUTEX_INITIALIZER,
    [RITZ_LOCK_PROFILE] = PTHREAD_MUTEX_INITIALIZER,  [RITZ_LOCK_TUNING] = PTHREAD_MUTEX_INITIALIZER,
    [RITZ_LOCK_WARNINGS] = PTHREAD_MUTEX_INITIALIZER, [RITZ_LOCK_DIRECT] = PTHREAD_MUTEX_INITIALIZER,
    [RITZ_LOCK_METIS] = PTHREAD_MUTEX_INITIALIZER,    [RITZ_LOCK_STOPS] = PTHREAD_MUTEX_INITIALIZER,
    [RITZ_LOCK_BUILDS] = PTHREAD_MUTEX_INITIALIZER,   [RITZ_LOCK_MEMORY] = PTHREAD_MUTEX_INITIALIZER,
};

void ritz_lock(RitzLock lock) { pthread_mutex_lock(&locks[lock]); }
void ritz_unlock(RitzLock lock) { pthread_mutex_unlock(&locks[lock]); }

// ---- Waiting ----

void ritz_pause_processor(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

static int64_t nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Where one thread sleeps. It says so before it looks for the last time at what it waits for, and who changes
// that looks for the sleeper afterwards: no one is forgotten.
typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t wakes;
  _Atomic bool is_asleep;
} Bed;

static const Bed bed_initial = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};

static void bed_free(Bed *bed) {
  pthread_cond_destroy(&bed->wakes);
  pthread_mutex_destroy(&bed->mutex);
}

// After what the sleeper waits for has changed.
static void wake(Bed *bed) {
  if (!atomic_load(&bed->is_asleep)) return;
  pthread_mutex_lock(&bed->mutex);
  pthread_mutex_unlock(&bed->mutex);
  pthread_cond_signal(&bed->wakes);
}

typedef bool (*HasCome)(void *what);

// To wake a thread takes the waker microseconds, one thread after the other: so nobody sleeps between the
// parts of an iteration, not even while one thread works alone. yields: others need the processor; after some
// time they may have it in any case.
static bool comes_soon(HasCome has_come, void *what, bool yields) {
  enum { patience = 30000, more_patience = 1000000, num_looks = 16 };
  const int64_t begin = nanoseconds();
  for (int64_t waited = 0; waited < more_patience; waited = nanoseconds() - begin) {
    for (int i = 0; i < num_looks; i++) {
      if (has_come(what)) return true;
      ritz_pause_processor();
    }
    if (yields || waited > patience) sched_yield();
  }
  return false;
}

static void wait_until(HasCome has_come, void *what, Bed *bed, bool yields) {
  if (comes_soon(has_come, what, yields)) return;
  pthread_mutex_lock(&bed->mutex);
  atomic_store(&bed->is_asleep, true);
  while (!has_come(what)) pthread_cond_wait(&bed->wakes, &bed->mutex);
  atomic_store(&bed->is_asleep, false);
  pthread_mutex_unlock(&bed->mutex);
}

// ---- Teams ----

// A round: its number in the upper bits, in the lower ones how many threads it is for. So rounds grow, and a
// worker that reads it once knows whether a round that may be over meanwhile was for it, too.
typedef uint64_t Round;
enum { COUNT_BITS = 21 };
_Static_assert(RITZ_MAX_THREADS < 1 << COUNT_BITS, "the number of threads has room in a round");

static int count_of(Round round) { return (int)(round & ((1 << COUNT_BITS) - 1)); }

// What a worker and the caller change in every round has a line of the cache to itself.
typedef struct {
  _Alignas(64) _Atomic Round taken; // the last round in which somebody has taken this worker's share
  _Atomic Round done;               // the last round whose share has ended
  int code;
  _Alignas(64) RitzTeam team; // borrowed
  int number;
  pthread_t thread;
  Bed bed;
} Worker;

struct RitzTeam_private {
  _Atomic Round round;                // the last one; all workers look at it while they wait
  int (*run)(void *data, int thread); // NULL: threads end
  void *data;
  bool is_together;             // the caller has the first share; else the last one
  _Alignas(64) int num_threads; // the rest is not written in rounds
  bool yields;                  // more threads than processors
  bool is_alone;                // threads could not be had
  pid_t process;                // whose threads they are
  int num_started;              // besides the caller's
  Bed bed;                      // the caller's
  Worker *workers;              // owned, [num_threads]; the first is unused
};

static void make_beds(RitzTeam team) {
  team->bed = bed_initial;
  for (int i = 0; i < team->num_threads; i++) team->workers[i].bed = bed_initial;
}

int ritz_team_create(Ceed ceed, int num_threads, RitzTeam *team) {
  RitzTeam t = NULL;
  *team = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &t));
  int ierr = RITZ_CALLOC(ceed, (size_t)num_threads, &t->workers);
  if (ierr) {
    RITZ_FREE(&t);
    return ierr;
  }
  t->num_threads = num_threads;
  t->yields = num_threads > ritz_num_processors();
  t->process = getpid();
  for (int i = 0; i < num_threads; i++) {
    t->workers[i].team = t;
    t->workers[i].number = i;
  }
  make_beds(t);
  *team = t;
  return CEED_ERROR_SUCCESS;
}

int ritz_team_size(RitzTeam team) { return team->num_threads; }

// Of the threads of a round each wakes four others that sleep, the caller's as number 0 the first four.
static void wake_next(RitzTeam team, int number, int count) {
  enum { arity = 4 };
  for (int i = arity * number + 1; i <= arity * number + arity && i < count; i++) wake(&team->workers[i].bed);
}

static Round begin_round(RitzTeam team, int count) {
  const Round round = (((atomic_load(&team->round) >> COUNT_BITS) + 1) << COUNT_BITS) + (Round)count;
  atomic_store(&team->round, round);
  wake_next(team, 0, count);
  return round;
}

// Every share of a round is taken once, by its worker or by the caller's thread. The caller has the last one,
// which waits for no other, and goes on to those before it: it never waits for a worker that other programs
// keep from the processor.
static bool take_share(Worker *worker, Round round) {
  Round before = atomic_load(&worker->taken);
  return (int64_t)(round - before) > 0 && atomic_compare_exchange_strong(&worker->taken, &before, round);
}

static void do_share(Worker *worker, Round round) {
  const RitzTeam team = worker->team;
  worker->code = team->run(team->data, worker->number - !team->is_together);
  atomic_store(&worker->done, round);
}

// What a worker waits for: a round other than the one it has seen.
typedef struct {
  const RitzTeam team;
  Round seen;
} Next;

static bool has_begun(void *what) {
  const Next *next = what;
  return atomic_load(&next->team->round) != next->seen;
}

static void *work(void *arg) {
  Worker *worker = arg;
  const RitzTeam team = worker->team;
  Next next = {team, atomic_load(&worker->taken)};
  for (;;) {
    wait_until(has_begun, &next, &worker->bed, team->yields);
    next.seen = atomic_load(&team->round);
    if (worker->number >= count_of(next.seen)) continue;
    wake_next(team, worker->number, count_of(next.seen));
    if (!take_share(worker, next.seen)) continue;
    if (!team->run) return NULL;
    do_share(worker, next.seen);
    wake(&team->bed);
  }
}

static void end_threads(RitzTeam team) {
  team->run = NULL;
  begin_round(team, team->num_threads);
  for (int i = 1; i <= team->num_started; i++) pthread_join(team->workers[i].thread, NULL);
  team->num_started = 0;
}

// The threads of a forked child's parent are not there, and what they held is in an unknown state.
static void forget_threads(RitzTeam team) {
  team->process = getpid();
  make_beds(team);
  team->num_started = 0;
  team->is_alone = false;
}

// Signals are the program's threads' affair, save those that a thread raises itself by what it computes.
static void block_signals(sigset_t *before) {
  static const int own[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  sigset_t blocked;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) sigdelset(&blocked, own[i]);
  pthread_sigmask(SIG_SETMASK, &blocked, before);
}

static void start_threads(RitzTeam team) {
  enum { stack_size = 8 << 20 }; // defaults differ widely; users' functions may have large arrays
  pthread_attr_t attributes;
  sigset_t signals;
  team->is_alone = pthread_attr_init(&attributes) != 0;
  if (team->is_alone) return;
  pthread_attr_setstacksize(&attributes, stack_size);
  block_signals(&signals);
  while (!team->is_alone && team->num_started < team->num_threads - 1) {
    Worker *worker = &team->workers[team->num_started + 1];
    atomic_store(&worker->taken, atomic_load(&team->round));
    team->is_alone = pthread_create(&worker->thread, &attributes, work, worker) != 0;
    if (!team->is_alone) team->num_started++;
  }
  pthread_sigmask(SIG_SETMASK, &signals, NULL);
  pthread_attr_destroy(&attributes);
  if (team->is_alone) end_threads(team);
}

static int run_alone(int count, int (*run)(void *data, int thread), void *data) {
  int code = CEED_ERROR_SUCCESS;
  for (int i = count - 1; i >= 0; i--) {
    int code_i = run(data, i);
    if (code_i) code = code_i;
  }
  return code;
}

// Whether the threads of the team are there.
static bool have_threads(RitzTeam team) {
  if (team->process != getpid()) forget_threads(team);
  if (team->num_started == 0 && !team->is_alone) start_threads(team);
  return !team->is_alone;
}

// What the caller waits for: the shares of all workers of a round. Each has a flag of its own: a counter that
// all change would be handed from processor to processor.
typedef struct {
  const RitzTeam team;
  const Round round;
  int num_ended; // of the first ones
} End;

static bool have_ended(void *what) {
  End *end = what;
  const Worker *worker = &end->team->workers[1 + end->num_ended];
  for (; end->num_ended < count_of(end->round) - 1; end->num_ended++) {
    if (atomic_load(&worker++->done) != end->round) return false;
  }
  return true;
}

static int run_on_threads(RitzTeam team, int count, int (*run)(void *data, int thread), void *data,
                          bool is_together) {
  team->run = run;
  team->data = data;
  team->is_together = is_together;
  End end = {.team = team, .round = begin_round(team, count)};
  const int own = run(data, is_together ? 0 : count - 1);
  for (int i = is_together ? 0 : count - 1; i > 0; i--) {
    if (take_share(&team->workers[i], end.round)) do_share(&team->workers[i], end.round);
  }
  wait_until(have_ended, &end, &team->bed, team->yields);
  int code = is_together ? own : 0;
  for (int i = 1; i < count && !code; i++) code = team->workers[i].code;
  return code ? code : own;
}

int ritz_team_run_some(RitzTeam team, int count, int (*run)(void *data, int thread), void *data) {
  if (count == 1) return run(data, 0);
  return have_threads(team) ? run_on_threads(team, count, run, data, false) : run_alone(count, run, data);
}

int ritz_team_run(RitzTeam team, int (*run)(void *data, int thread), void *data) {
  return ritz_team_run_some(team, team->num_threads, run, data);
}

int ritz_team_run_together(RitzTeam team, int (*run)(void *data, int thread), void *data, bool *is_done) {
  *is_done = team->num_threads == 1 || have_threads(team);
  if (!*is_done) return CEED_ERROR_SUCCESS;
  return team->num_threads == 1 ? run(data, 0) : run_on_threads(team, team->num_threads, run, data, true);
}

void ritz_team_destroy(RitzTeam *team) {
  RitzTeam t = *team;
  if (!t) return;
  if (t->process == getpid()) {
    end_threads(t);
    bed_free(&t->bed);
    for (int i = 0; i < t->num_threads; i++) bed_free(&t->workers[i].bed);
  }
  RITZ_FREE(&t->workers);
  RITZ_FREE(team);
}

// ---- Tasks ----

struct RitzTask_private {
  void (*run)(void *data);
  void *data;
  pid_t process; // whose thread it is
  pthread_t thread;
  bool has_thread;
  char
      *environment[]; // "NAME=value", NULL behind the last one, then their text: one allocation, given as one
};

extern char **environ;
static _Thread_local char *const *of_task; // environment of the task that runs in this thread; NULL: none

// A task with the environment of this moment.
static int create_task(Ceed ceed, RitzTask *task) {
  size_t num = 0, num_bytes = 0;

  for (char **e = environ; e && *e; e++) num++, num_bytes += strlen(*e) + 1;
  RITZ_TRY(ritz_calloc(ceed, 1, sizeof(**task) + (num + 1) * sizeof(char *) + num_bytes, (void **)task));
  char *text = (char *)((*task)->environment + num + 1);
  for (size_t i = 0; i < num; i++) {
    (*task)->environment[i] = strcpy(text, environ[i]);
    text += strlen(text) + 1;
  }
  return CEED_ERROR_SUCCESS;
}

char *const *ritz_environment_all(void) { return of_task ? of_task : environ; }

const char *ritz_getenv(const char *name) {
  const size_t length = strlen(name);

  if (!of_task) return getenv(name);
  for (char *const *e = of_task; *e; e++) {
    if (!strncmp(*e, name, length) && (*e)[length] == '=') return *e + length + 1;
  }
  return NULL;
}

static void lock_all(void) {
  for (int i = 0; i < RITZ_NUM_LOCKS; i++) ritz_lock((RitzLock)i);
}

static void unlock_all(void) {
  for (int i = RITZ_NUM_LOCKS - 1; i >= 0; i--) ritz_unlock((RitzLock)i);
}

// A task may hold a lock while its caller forks: the child would wait for ever.
static void watch_forks(void) { (void)pthread_atfork(lock_all, unlock_all, unlock_all); }

static struct {
  _Atomic int num;
  _Atomic pid_t process; // whose threads they are; a child that was forked has none of them
} running;

static void count_task(void) {
  if (atomic_exchange(&running.process, getpid()) != getpid()) atomic_store(&running.num, 0);
  atomic_fetch_add(&running.num, 1);
}

static void *run_task(void *arg) {
  RitzTask task = arg;
  of_task = task->environment;
  task->run(task->data);
  of_task = NULL;
  atomic_fetch_sub(&running.num, 1);
  return NULL;
}

int ritz_task_start(Ceed ceed, void (*run)(void *data), void *data, RitzTask *task) {
  static pthread_once_t is_watching = PTHREAD_ONCE_INIT;
  sigset_t signals;
  RITZ_TRY(create_task(ceed, task));
  (*task)->run = run;
  (*task)->data = data;
  (*task)->process = getpid();
  pthread_once(&is_watching, watch_forks);
  count_task();
  block_signals(&signals);
  (*task)->has_thread = pthread_create(&(*task)->thread, NULL, run_task, *task) == 0;
  pthread_sigmask(SIG_SETMASK, &signals, NULL);
  if (!(*task)->has_thread) (void)run_task(*task);
  return CEED_ERROR_SUCCESS;
}

bool ritz_task_end(RitzTask *task) {
  const RitzTask t = *task;
  if (!t) return true;
  const bool is_ours = !t->has_thread || t->process == getpid();
  if (t->has_thread && is_ours) pthread_join(t->thread, NULL);
  RITZ_FREE(task);
  return is_ours;
}

void ritz_tasks_wait(void) {
  const struct timespec moment = {.tv_nsec = 200000};
  while (atomic_load(&running.process) == getpid() && atomic_load(&running.num) > 0)
    (void)nanosleep(&moment, NULL);
}

// ---- Flags ----

void ritz_flag_raise(RitzFlag *flag, int32_t epoch) {
  atomic_store_explicit(&flag->epoch, epoch, memory_order_release);
}

bool ritz_flag_is_raised(RitzFlag *flag, int32_t epoch) {
  return atomic_load_explicit(&flag->epoch, memory_order_acquire) == epoch;
}

bool ritz_flag_change(RitzFlag *flag, int32_t from, int32_t to) {
  return atomic_compare_exchange_strong(&flag->epoch, &from, to);
}

void ritz_flag_wait(RitzFlag *flag, int32_t epoch) {
  enum { patience = 200 };
  for (int i = 0; i < patience; i++) {
    if (ritz_flag_is_raised(flag, epoch)) return;
    ritz_pause_processor();
  }
  while (!ritz_flag_is_raised(flag, epoch)) sched_yield();
}

void ritz_yield_processor(void) { sched_yield(); }

// Those that are waited for may need the processor, and for long: first awake, then others first, then
// asleep.
bool ritz_flag_wait_unless(RitzFlag *flag, int32_t epoch, RitzFlag *stop, RitzFlag *other_stop) {
  enum { patience = 200, more_patience = 300 };
  const struct timespec moment = {.tv_nsec = 20000};
  for (int i = 0; !ritz_flag_is_raised(flag, epoch); i++) {
    if (!ritz_flag_is_raised(stop, 0) || !ritz_flag_is_raised(other_stop, 0))
      return ritz_flag_is_raised(flag, epoch);
    if (i < patience)
      ritz_pause_processor();
    else if (i < more_patience)
      sched_yield();
    else
      (void)nanosleep(&moment, NULL);
  }
  return true;
}
