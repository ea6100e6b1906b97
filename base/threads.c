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

// A number that one thread sets and others wait for: a short time awake, then asleep. A waiter counts itself
// before it looks for the last time, the setter sets before it looks for sleepers: no one is forgotten.
typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t is_set;
  _Atomic uint32_t value;
  _Atomic int num_asleep;
} Event;

static const Event event_initial = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static void event_free(Event *event) {
  pthread_cond_destroy(&event->is_set);
  pthread_mutex_destroy(&event->mutex);
}

static void event_set(Event *event, uint32_t value) {
  atomic_store(&event->value, value);
  if (atomic_load(&event->num_asleep) == 0) return;
  pthread_mutex_lock(&event->mutex);
  pthread_cond_broadcast(&event->is_set);
  pthread_mutex_unlock(&event->mutex);
}

// Numbers grow, and begin anew after the last one.
static bool has_come(const Event *event, uint32_t value) {
  return (int32_t)(atomic_load(&event->value) - value) >= 0;
}

// yields: others need the processor.
static bool event_comes_soon(const Event *event, uint32_t value, bool yields) {
  enum { patience = 30000, num_looks = 16 };
  for (int64_t end = nanoseconds() + patience; nanoseconds() < end;) {
    for (int i = 0; i < num_looks; i++) {
      if (has_come(event, value)) return true;
      ritz_pause_processor();
    }
    if (yields) sched_yield();
  }
  return false;
}

// Until the number is this one or a later one.
static void wait_for_event(Event *event, uint32_t value, bool yields) {
  if (event_comes_soon(event, value, yields)) return;
  pthread_mutex_lock(&event->mutex);
  atomic_fetch_add(&event->num_asleep, 1);
  while (!has_come(event, value)) pthread_cond_wait(&event->is_set, &event->mutex);
  atomic_fetch_sub(&event->num_asleep, 1);
  pthread_mutex_unlock(&event->mutex);
}

// ---- Teams ----

typedef struct {
  RitzTeam team; // borrowed
  pthread_t thread;
  _Atomic uint32_t taken; // the last round in which somebody has taken this worker's share
  int number, code;
} Worker;

struct RitzTeam_private {
  int num_threads;
  bool yields;                        // more threads than processors
  bool is_alone;                      // threads could not be had
  pid_t process;                      // whose threads they are
  int num_started;                    // besides the caller's
  bool is_together;                   // this run: the caller has the first share; else the last one
  int (*run)(void *data, int thread); // NULL: threads end
  void *data;
  uint32_t round;       // runs so far
  Event started, ended; // values: number of the round
  _Atomic int num_busy;
  Worker *workers; // owned, [num_threads]; the first is unused
};

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
  t->started = t->ended = event_initial;
  for (int i = 0; i < num_threads; i++) {
    t->workers[i].team = t;
    t->workers[i].number = i;
  }
  *team = t;
  return CEED_ERROR_SUCCESS;
}

int ritz_team_size(RitzTeam team) { return team->num_threads; }

// Every share of a round is taken once, by its worker or by the caller's thread. The caller has the last one,
// which waits for no other, and goes on to those before it: it never waits for a worker that other programs
// keep from the processor.
static bool take_share(Worker *worker, uint32_t round) {
  uint32_t before = round - 1;
  return atomic_compare_exchange_strong(&worker->taken, &before, round);
}

static int share_of(const Worker *worker) { return worker->number - !worker->team->is_together; }

static void *work(void *arg) {
  Worker *worker = arg;
  RitzTeam team = worker->team;
  for (;;) {
    wait_for_event(&team->started, atomic_load(&worker->taken) + 1, team->yields);
    const uint32_t round = atomic_load(&team->started.value);
    if (!take_share(worker, round)) continue;
    if (!team->run) return NULL;
    worker->code = team->run(team->data, share_of(worker));
    if (atomic_fetch_sub(&team->num_busy, 1) == 1) event_set(&team->ended, round);
  }
}

// Ends the threads; they wait for the round team->round.
static void end_threads(RitzTeam team) {
  team->run = NULL;
  event_set(&team->started, team->round);
  for (int i = 1; i <= team->num_started; i++) pthread_join(team->workers[i].thread, NULL);
  team->num_started = 0;
}

// The threads of a forked child's parent are not there, and what they held is in an unknown state.
static void forget_threads(RitzTeam team) {
  team->process = getpid();
  team->started = team->ended = event_initial;
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

// The threads wait for the round team->round.
static void start_threads(RitzTeam team) {
  enum { stack_size = 8 << 20 }; // defaults differ widely; users' functions may have large arrays
  pthread_attr_t attributes;
  sigset_t signals;
  team->is_alone = pthread_attr_init(&attributes) != 0;
  if (team->is_alone) return;
  pthread_attr_setstacksize(&attributes, stack_size);
  block_signals(&signals);
  atomic_store(&team->started.value, team->round - 1);
  while (!team->is_alone && team->num_started < team->num_threads - 1) {
    Worker *worker = &team->workers[team->num_started + 1];
    atomic_store(&worker->taken, team->round - 1);
    team->is_alone = pthread_create(&worker->thread, &attributes, work, worker) != 0;
    if (!team->is_alone) team->num_started++;
  }
  pthread_sigmask(SIG_SETMASK, &signals, NULL);
  pthread_attr_destroy(&attributes);
  if (team->is_alone) end_threads(team);
}

static int run_alone(RitzTeam team, int (*run)(void *data, int thread), void *data) {
  int code = CEED_ERROR_SUCCESS;
  for (int i = team->num_threads - 1; i >= 0; i--) {
    int code_i = run(data, i);
    if (code_i) code = code_i;
  }
  return code;
}

// Whether the threads of the team are there.
static bool have_threads(RitzTeam team) {
  if (team->process != getpid()) forget_threads(team);
  team->round++;
  if (team->num_started == 0 && !team->is_alone) start_threads(team);
  return !team->is_alone;
}

// Does what no worker has begun; the number of these shares.
static int take_the_rest(RitzTeam team) {
  int num = 0;
  for (int i = team->num_threads - 1; i > 0; i--) {
    Worker *worker = &team->workers[i];
    if (!take_share(worker, team->round)) continue;
    worker->code = team->run(team->data, share_of(worker));
    num++;
  }
  return num;
}

static int run_on_threads(RitzTeam team, int (*run)(void *data, int thread), void *data, bool is_together) {
  team->run = run;
  team->data = data;
  team->is_together = is_together;
  atomic_store(&team->num_busy, team->num_threads - 1);
  event_set(&team->started, team->round);
  const int own = run(data, is_together ? 0 : team->num_threads - 1);
  const int num_taken = is_together ? 0 : take_the_rest(team);
  // Unless the last ones were taken here, a worker is the last one and says so.
  if (num_taken == 0 || atomic_fetch_sub(&team->num_busy, num_taken) != num_taken)
    wait_for_event(&team->ended, team->round, team->yields);
  int code = is_together ? own : 0;
  for (int i = 1; i < team->num_threads && !code; i++) code = team->workers[i].code;
  return code ? code : own;
}

int ritz_team_run(RitzTeam team, int (*run)(void *data, int thread), void *data) {
  if (team->num_threads == 1) return run(data, 0);
  return have_threads(team) ? run_on_threads(team, run, data, false) : run_alone(team, run, data);
}

int ritz_team_run_together(RitzTeam team, int (*run)(void *data, int thread), void *data, bool *is_done) {
  *is_done = team->num_threads == 1 || have_threads(team);
  if (!*is_done) return CEED_ERROR_SUCCESS;
  return team->num_threads == 1 ? run(data, 0) : run_on_threads(team, run, data, true);
}

void ritz_team_destroy(RitzTeam *team) {
  RitzTeam t = *team;
  if (!t) return;
  if (t->process == getpid()) {
    t->round++;
    end_threads(t);
    event_free(&t->started);
    event_free(&t->ended);
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
