// SPDX-License-Identifier: BSD-2-Clause
// The clock and the samples of all benchmarks: how often something is measured, and which measurement counts.
// Included by programs that define _POSIX_C_SOURCE.
#ifndef RITZ_BP_TIMES_H
#define RITZ_BP_TIMES_H

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

// Seconds of a clock that never goes back.
static inline double times_now(void) {
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { TIMES_MAX = 1000 };

// Seconds, or ratios, of repeated runs of one thing.
typedef struct {
  int num;
  double total; // seconds that all of it took
  double values[TIMES_MAX];
} Times;

static inline void times_add(Times *times, double value, double seconds) {
  times->values[times->num++] = value;
  times->total += seconds;
}

// Whether to measure once more: `repetitions` times, or, where that is 0, `least` times and so many seconds.
static inline bool times_want_more(const Times *times, int repetitions, int least, double seconds) {
  if (times->num == TIMES_MAX) return false;
  return repetitions > 0 ? times->num < repetitions : times->num < least || times->total < seconds;
}

static inline int times_compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline void times_sort(Times *times) {
  qsort(times->values, (size_t)times->num, sizeof(double), times_compare);
}

static inline double times_least(Times *times) {
  times_sort(times);
  return times->num ? times->values[0] : 0;
}

static inline double times_median(Times *times) {
  times_sort(times);
  return times->num ? times->values[times->num / 2] : 0;
}

#endif
