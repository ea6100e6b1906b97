// SPDX-License-Identifier: BSD-2-Clause
// Teams of threads and flags (base/threads.h): every part runs once, on a thread of its own where there are
// threads, and alone in descending order where there are none. Meant to be run under a thread sanitizer, too.
#define _GNU_SOURCE // sched_setaffinity on Linux
#include "base/threads.h"
#include "tests/tap.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Whether threads can be refused: there is no stack for them without address space. What a sanitizer keeps of
// a thread needs room of its own, and it ends the program.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#if defined(__linux__) && !defined(HAS_SANITIZER) && !defined(__SANITIZE_THREAD__) &&                        \
    !defined(__SANITIZE_ADDRESS__)
enum { CAN_REFUSE_THREADS = 1 };
#else
enum { CAN_REFUSE_THREADS = 0 };
#endif

// ---- What is run ----

enum { MAX_THREADS = 64 };

typedef struct {
  int num_calls[MAX_THREADS]; // of each thread
  pthread_t thread[MAX_THREADS];
  int codes[MAX_THREADS]; // to return
  int order[MAX_THREADS]; // of the calls
  atomic_int num;         // calls in all
} Record;

static int record(void *data, int thread) {
  Record *r = data;

  r->num_calls[thread]++;
  r->thread[thread] = pthread_self();
  r->order[atomic_fetch_add(&r->num, 1) % MAX_THREADS] = thread;
  return r->codes[thread];
}

static bool every_thread_called(const Record *r, int num_threads, int num_calls) {
  for (int i = 0; i < num_threads; i++) {
    if (r->num_calls[i] != num_calls) return false;
  }
  return true;
}

// The number of different threads that called.
static int num_different(const Record *r, int num_threads) {
  int num = 0;

  for (int i = 0; i < num_threads; i++) {
    bool is_new = true;

    for (int j = 0; j < i; j++) is_new = is_new && !pthread_equal(r->thread[i], r->thread[j]);
    num += is_new;
  }
  return num;
}

static double seconds(void) {
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- Runs ----

TEST(every_part_runs_once_on_a_thread_of_its_own) {
  for (int num_threads = 1; num_threads <= 7; num_threads++) {
    RitzTeam team = NULL;
    Record r = {.num = 0};
    bool is_done = false;

    CHECK_OK(ritz_team_create(NULL, num_threads, &team));
    CHECK(ritz_team_size(team) == num_threads, "size %d", ritz_team_size(team));
    for (int run = 1; run <= 20; run++) {
      CHECK_OK(ritz_team_run_together(team, record, &r, &is_done));
      CHECK(is_done && every_thread_called(&r, num_threads, run), "%d threads, run %d", num_threads, run);
      CHECK(num_different(&r, num_threads) == num_threads, "%d threads, run %d", num_threads, run);
      CHECK(pthread_equal(r.thread[0], pthread_self()), "thread 0 is not the caller's");
    }
    ritz_team_destroy(&team);
    CHECK(!team, "the handle is left");
  }
}

// The caller's thread has the part that waits for no other, and is on its way to those that nobody has begun.
TEST(last_part_is_the_callers) {
  RitzTeam team = NULL;
  Record r = {.num = 0};

  CHECK_OK(ritz_team_create(NULL, 5, &team));
  for (int run = 1; run <= 200; run++) {
    CHECK_OK(ritz_team_run(team, record, &r));
    CHECK(every_thread_called(&r, 5, run), "run %d", run);
    CHECK(pthread_equal(r.thread[4], pthread_self()), "run %d: the last part ran elsewhere", run);
  }
  ritz_team_destroy(&team);
}

// Runs on some threads leave the others out, asleep or awake, and runs on all of them have them back.
TEST(parts_on_some_threads_alternate_with_parts_on_all) {
  RitzTeam team = NULL;
  Record r = {.num = 0};

  CHECK_OK(ritz_team_create(NULL, 7, &team));
  for (int run = 1; run <= 100; run++) {
    for (int count = 1; count <= 7; count++) {
      CHECK_OK(ritz_team_run_some(team, count, record, &r));
      CHECK(pthread_equal(r.thread[count - 1], pthread_self()), "%d: the last part ran elsewhere", count);
    }
    // Part i was called by all counts above it.
    for (int i = 0; i < 7; i++) CHECK(r.num_calls[i] == run * (7 - i), "run %d, part %d", run, i);
    if (run % 20 == 0) nanosleep(&(struct timespec){0, 3000000}, NULL);
  }
  ritz_team_destroy(&team);
}

TEST(team_that_never_ran_is_destroyed) {
  RitzTeam team = NULL;

  CHECK_OK(ritz_team_create(NULL, 5, &team));
  ritz_team_destroy(&team);
  ritz_team_destroy(&team);
}

TEST(code_of_the_lowest_failing_thread_is_returned) {
  RitzTeam team = NULL;

  CHECK_OK(ritz_team_create(NULL, 4, &team));
  for (int fails = 0; fails < 16; fails++) {
    Record r = {.num = 0};
    int lowest = 0;

    for (int i = 3; i >= 0; i--) {
      if (!(fails & (1 << i))) continue;
      r.codes[i] = lowest = 100 + i;
    }
    int code = ritz_team_run(team, record, &r);

    CHECK(code == lowest, "code %d, needed %d", code, lowest);
    CHECK(every_thread_called(&r, 4, 1), "threads failing: %x", (unsigned)fails);
  }
  ritz_team_destroy(&team);
}

// What a thread writes is seen by the caller afterwards, and the other way round. Threads sleep before some
// of the runs and are still awake before others.
static int add_one(void *data, int thread) {
  ((int64_t *)data)[8 * thread]++;
  return 0;
}

TEST(a_hundred_thousand_runs_lose_nothing) {
  enum { num_threads = 3, num_runs = 100000 };
  RitzTeam team = NULL;
  int64_t counts[8 * num_threads] = {0}, num_done = 0;
  double end = seconds() + (tap_level() == TAP_QUICK ? 0.7 : 600);

  CHECK_OK(ritz_team_create(NULL, num_threads, &team));
  for (; num_done < num_runs && seconds() < end; num_done++) {
    CHECK_OK(ritz_team_run(team, add_one, counts));
    for (int i = 0; i < num_threads; i++) CHECK(counts[8 * i] == num_done + 1, "thread %d", i);
    if (num_done % 5000 == 0) nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  tap_note("%lld runs", (long long)num_done);
  ritz_team_destroy(&team);
}

// Processor time of all threads while the caller sleeps a tenth of a second.
TEST(threads_without_work_do_not_use_the_processor) {
  RitzTeam team = NULL;
  Record r = {.num = 0};

  CHECK_OK(ritz_team_create(NULL, 4, &team));
  CHECK_OK(ritz_team_run(team, record, &r));
  clock_t before = clock();

  nanosleep(&(struct timespec){0, 100000000}, NULL);
  double used = (double)(clock() - before) / CLOCKS_PER_SEC;

  CHECK(used < 0.03, "%g s", used);
  ritz_team_destroy(&team);
}

// ---- Several teams ----

static int run_inner(void *data, int thread) {
  RitzTeam *teams = data;
  Record r = {.num = 0};

  if (thread > 1) return 0;
  int code = ritz_team_run(teams[thread], record, &r);

  return code ? code : every_thread_called(&r, 3, 1) ? 0 : 7;
}

TEST(teams_run_inside_each_other) {
  RitzTeam outer = NULL, inner[2] = {NULL, NULL};

  CHECK_OK(ritz_team_create(NULL, 2, &outer));
  for (int i = 0; i < 2; i++) CHECK_OK(ritz_team_create(NULL, 3, &inner[i]));
  for (int run = 0; run < 50; run++) CHECK_OK(ritz_team_run(outer, run_inner, inner));
  ritz_team_destroy(&inner[0]);
  CHECK_OK(ritz_team_run(inner[1], add_one, (int64_t[24]){0}));
  ritz_team_destroy(&outer);
  ritz_team_destroy(&inner[1]);
}

// ---- Flags ----

typedef struct {
  RitzFlag flags[4];
  int32_t epoch;
  double values[4];
} Chain;

// Each thread needs the number of the next higher one.
static int pass_down(void *data, int thread) {
  Chain *chain = data;

  if (thread < 3) {
    ritz_flag_wait(&chain->flags[thread + 1], chain->epoch);
    chain->values[thread] = 2 * chain->values[thread + 1];
  } else {
    chain->values[thread] = chain->epoch;
  }
  ritz_flag_raise(&chain->flags[thread], chain->epoch);
  return 0;
}

TEST(what_was_written_before_a_flag_is_seen_after_it) {
  RitzTeam team = NULL;
  Chain chain = {.epoch = 0};

  CHECK_OK(ritz_team_create(NULL, 4, &team));
  for (int run = 0; run < 300; run++) {
    chain.epoch++;
    CHECK_OK(ritz_team_run(team, pass_down, &chain));
    CHECK(chain.values[0] == 8.0 * chain.epoch, "%g in run %d", chain.values[0], run);
  }
  ritz_team_destroy(&team);
}

// ---- Other processes ----

// In the child: the team of the parent runs and goes, a new one, too.
static int run_in_child(RitzTeam team) {
  Record r = {.num = 0};
  RitzTeam second = NULL;
  bool is_done = false;
  bool ok = !ritz_team_run(team, record, &r) && !ritz_team_run_together(team, record, &r, &is_done) &&
            is_done && every_thread_called(&r, 3, 2) && num_different(&r, 3) == 3 &&
            !ritz_team_create(NULL, 2, &second) && !ritz_team_run(second, record, &r);

  ritz_team_destroy(&second);
  ritz_team_destroy(&team);
  return ok ? 0 : 1;
}

// The child is made while threads are awake, asleep, or not there yet.
TEST(a_forked_child_starts_threads_of_its_own) {
  for (int i = 0; i < 6; i++) {
    RitzTeam team = NULL;
    Record r = {.num = 0};
    int status = -1;

    CHECK_OK(ritz_team_create(NULL, 3, &team));
    if (i > 0) CHECK_OK(ritz_team_run(team, record, &r));
    if (i > 3) nanosleep(&(struct timespec){0, 2000000}, NULL);
    pid_t child = fork();

    CHECK(child >= 0, "no child");
    if (child == 0) _exit(run_in_child(team));
    CHECK_OK(ritz_team_run(team, record, &r));
    CHECK(waitpid(child, &status, 0) == child, "attempt %d: no status", i);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "attempt %d: status of the child %d", i, status);
    CHECK(every_thread_called(&r, 3, i > 0 ? 2 : 1), "attempt %d", i);
    ritz_team_destroy(&team);
  }
}

static int destroy_in_child(RitzTeam team) {
  ritz_team_destroy(&team);
  return 0;
}

TEST(a_forked_child_need_not_run_the_team_to_destroy_it) {
  RitzTeam team = NULL;
  Record r = {.num = 0};
  int status = -1;

  CHECK_OK(ritz_team_create(NULL, 3, &team));
  CHECK_OK(ritz_team_run(team, record, &r));
  pid_t child = fork();

  CHECK(child >= 0, "no child");
  if (child == 0) _exit(destroy_in_child(team));
  CHECK(waitpid(child, &status, 0) == child, "no status");
  CHECK(status == 0, "status of the child %d", status);
  ritz_team_destroy(&team);
}

// ---- No threads ----

TEST(without_threads_the_caller_runs_all_parts_in_descending_order) {
  enum { num_threads = MAX_THREADS };
  struct rlimit limit, none = {0, RLIM_INFINITY};
  RitzTeam team = NULL;

  if (!CAN_REFUSE_THREADS) SKIP("threads cannot be refused in this build");
  CHECK(!getrlimit(RLIMIT_AS, &limit), "no limit");
  none.rlim_max = limit.rlim_max;
  CHECK_OK(ritz_team_create(NULL, num_threads, &team));
  for (int run = 0; run < 3; run++) {
    Record r = {.num = 0};

    r.codes[40] = 40;
    r.codes[17] = 17;
    CHECK(!setrlimit(RLIMIT_AS, &none), "limit not set");
    int code = ritz_team_run(team, record, &r), restored = setrlimit(RLIMIT_AS, &limit);

    CHECK(!restored, "limit not restored");
    CHECK(code == 17, "code %d", code);
    CHECK(every_thread_called(&r, num_threads, 1), "run %d", run);
    CHECK(num_different(&r, num_threads) == 1, "%d threads", num_different(&r, num_threads));
    for (int i = 0; i < num_threads; i++)
      CHECK(r.order[i] == num_threads - 1 - i, "call %d was of part %d", i, r.order[i]);
  }
  ritz_team_destroy(&team);
}

// ---- Processors ----

#if defined(__linux__)
// Those of `all` up to the n-th.
static cpu_set_t first_of(const cpu_set_t *all, int n) {
  cpu_set_t set;

  CPU_ZERO(&set);
  for (int i = 0; CPU_COUNT(&set) < n; i++) {
    if (CPU_ISSET(i, all)) CPU_SET(i, &set);
  }
  return set;
}

static void check_processors(void) {
  cpu_set_t all;

  CHECK(!sched_getaffinity(0, sizeof(all), &all), "no affinity");
  for (int n = 1; n <= CPU_COUNT(&all); n++) {
    const cpu_set_t few = first_of(&all, n);

    CHECK(!sched_setaffinity(0, sizeof(few), &few), "affinity not set");
    const int num = ritz_num_processors(), restored = sched_setaffinity(0, sizeof(all), &all);

    CHECK(!restored, "affinity not restored");
    CHECK(num == n, "%d processors, not %d", num, n);
  }
}
#else
static void check_processors(void) {
  CHECK(ritz_num_processors() == sysconf(_SC_NPROCESSORS_ONLN), "%d processors", ritz_num_processors());
}
#endif

TEST(processors_are_those_that_the_process_may_use) { check_processors(); }

// ---- Quotas ----

static void play_file(const char *root, const char *path, const char *text) {
  char command[700];

  snprintf(command, sizeof(command), "mkdir -p \"%s/$(dirname '%s')\" && printf '%%s' '%s' >'%s/%s'", root,
           path, text, root, path);
  CHECK(!system(command), "%s", command);
}

TEST(quotas_of_control_groups_are_the_smallest_of_all_above_the_process) {
  static const struct {
    const char *groups, *path[2], *text[2];
    double quota;
  } rows[] = {
      {"0::/\n", {"sys/fs/cgroup/cpu.max"}, {"150000 100000\n"}, 1.5},
      {"0::/\n", {"sys/fs/cgroup/cpu.max"}, {"max 100000\n"}, INFINITY},
      {"0::/a/b\n",
       {"sys/fs/cgroup/a/b/cpu.max", "sys/fs/cgroup/a/cpu.max"},
       {"800000 100000", "400000 100000"},
       4},
      {"0::/a\n", {"sys/fs/cgroup/cpu.max"}, {"50000 100000"}, 0.5}, // mounted in a container
      {"0::/a\n", {"sys/fs/cgroup/b/cpu.max"}, {"50000 100000"}, INFINITY},
      {"0::/a\n", {"sys/fs/cgroup/a/cpu.max"}, {"a few"}, INFINITY},
      {"5:cpuset:/a\n4:cpuacct,cpu:/a\n0::/\n",
       {"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "sys/fs/cgroup/cpu/a/cpu.cfs_period_us"},
       {"300000\n", "100000\n"},
       3},
      {"4:cpu:/a\n",
       {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "sys/fs/cgroup/cpu/cpu.cfs_period_us"},
       {"-1\n", "100000\n"},
       INFINITY},
      {"no line of a group\n::\n", {NULL}, {NULL}, INFINITY},
      {NULL, {NULL}, {NULL}, INFINITY},
  };

  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    char root[] = "/tmp/ritz-test-quota-XXXXXX", command[100];

    CHECK(mkdtemp(root), "no folder");
    if (rows[i].groups) play_file(root, "proc/self/cgroup", rows[i].groups);
    for (int k = 0; k < 2 && rows[i].path[k]; k++) play_file(root, rows[i].path[k], rows[i].text[k]);
    const double quota = ritz_processor_quota(root);
    snprintf(command, sizeof(command), "rm -rf %s", root);
    CHECK(!system(command), "%s", command);
    CHECK(quota == rows[i].quota, "row %zu: %g, not %g", i, quota, rows[i].quota);
  }
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(every_part_runs_once_on_a_thread_of_its_own, last_part_is_the_callers,
                        parts_on_some_threads_alternate_with_parts_on_all, team_that_never_ran_is_destroyed,
                        code_of_the_lowest_failing_thread_is_returned, a_hundred_thousand_runs_lose_nothing,
                        threads_without_work_do_not_use_the_processor, teams_run_inside_each_other,
                        what_was_written_before_a_flag_is_seen_after_it,
                        a_forked_child_starts_threads_of_its_own,
                        a_forked_child_need_not_run_the_team_to_destroy_it,
                        without_threads_the_caller_runs_all_parts_in_descending_order,
                        processors_are_those_that_the_process_may_use,
                        quotas_of_control_groups_are_the_smallest_of_all_above_the_process));
}
