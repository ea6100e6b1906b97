// SPDX-License-Identifier: BSD-2-Clause
// What threads cost: microseconds of an empty run of a team, until the last thread has ended, right after the
// one before it and after a pause in which its threads fall asleep, and of passes w = 2 u + 3 v over vectors
// of 10 KB to 10 MB each. Run by hand:
//
//     team-rates [threads, ...]      default: 1, 2, 4, ... up to the processors
//
// Medians of many runs, by the clock. A pass runs on as many threads as have 32 KB to move
// (base/ranges.h); the last column is the number of them.
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/ranges.h"

enum { MAX_RUNS = 2001 };

static double microseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void pause_for(long milliseconds) {
  nanosleep(&(struct timespec){.tv_nsec = 1000000 * milliseconds}, NULL);
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

typedef int (*Job)(void *data);

// The median of several runs, between which the caller sleeps; 0: it does not.
static double time_job(Job job, void *data, int num_runs, long milliseconds) {
  static double times[MAX_RUNS];

  for (int i = -num_runs / 10; i < num_runs; i++) {
    if (milliseconds) pause_for(milliseconds);
    const double begin = microseconds();
    if (job(data)) exit(1);
    if (i >= 0) times[i] = microseconds() - begin;
  }
  qsort(times, (size_t)num_runs, sizeof(times[0]), compare);
  return times[num_runs / 2];
}

// ---- Teams ----

static int do_nothing(void *data, int thread) {
  (void)data, (void)thread;
  return 0;
}

// Every thread has its own share, so that the last one counts.
static int run_empty(void *data) {
  bool is_done = false;
  return ritz_team_run_together(data, do_nothing, NULL, &is_done) || !is_done;
}

static int time_team(int num_threads) {
  RitzTeam team = NULL;

  if (ritz_team_create(NULL, num_threads, &team)) return 1;
  printf("%3d threads: empty run %8.2f us, of threads that sleep %8.2f us\n", num_threads,
         time_job(run_empty, team, MAX_RUNS, 0), time_job(run_empty, team, 101, 4));
  ritz_team_destroy(&team);
  return 0;
}

// ---- Passes ----

static int run_pass(void *data) {
  const CeedVector *v = data;
  return RitzVectorSum(v[0], 2, v[1], 3, v[2]);
}

static int time_pass(Ceed ceed, int num_threads, CeedSize num_bytes) {
  const CeedSize n = num_bytes / (CeedSize)sizeof(CeedScalar);
  const CeedSize num_worth = 3 * num_bytes / RITZ_RANGE_BYTES;
  CeedVector v[3] = {NULL, NULL, NULL};
  int ierr = 0;

  for (int i = 0; i < 3 && !ierr; i++) {
    ierr = CeedVectorCreate(ceed, n, &v[i]);
    if (!ierr) ierr = CeedVectorSetValue(v[i], 1);
  }
  if (!ierr) {
    const double us = time_job(run_pass, v, num_bytes > 1000000 ? 201 : MAX_RUNS, 0);
    printf("%3d threads: %6td KB a vector %9.2f us %8.1f GB/s %4td\n", num_threads, num_bytes / 1000, us,
           3e-3 * (double)num_bytes / us,
           num_worth < 1             ? 1
           : num_worth < num_threads ? num_worth
                                     : (CeedSize)num_threads);
  }
  for (int i = 0; i < 3; i++) ierr |= CeedVectorDestroy(&v[i]);
  return ierr;
}

static int time_passes(int num_threads) {
  static const CeedSize sizes[] = {10000, 30000, 100000, 300000, 1000000, 3000000, 10000000};
  Ceed ceed = NULL;
  char resource[40];
  int ierr = 0;

  snprintf(resource, sizeof(resource), "/cpu/self/gen:threads=%d", num_threads);
  if (CeedInit(resource, &ceed)) return 1;
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !ierr; i++)
    ierr = time_pass(ceed, num_threads, sizes[i]);
  return ierr | CeedDestroy(&ceed);
}

static int time_threads(int num_threads) { return time_team(num_threads) || time_passes(num_threads); }

int main(int argc, char **argv) {
  const int most = ritz_num_processors();
  int ierr = 0;

  for (int i = 1; i < argc && !ierr; i++) {
    const long num = strtol(argv[i], NULL, 10);
    if (num < 1 || num > RITZ_MAX_THREADS) {
      fprintf(stderr, "team-rates: '%s': see the head of tests/team-rates.c\n", argv[i]);
      return 2;
    }
    ierr = time_threads((int)num);
  }
  for (int num = 1; argc == 1 && num <= most && !ierr; num = 2 * num <= most || num == most ? 2 * num : most)
    ierr = time_threads(num);
  return ierr;
}
