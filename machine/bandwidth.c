// SPDX-License-Identifier: BSD-2-Clause
// Memory bandwidth: the team runs over arrays that are much larger than the caches. Plain loops: wider
// registers than the compiler's default change nothing, and pages are those that any array of the library
// gets.
#include "base/error.h"
#include "base/memory.h"
#include "machine/machine.h"

enum { NUM_STREAMS = 8, LINE = 8, PAD = 17 * LINE }; // entries; the pad keeps streams off each other's sets

typedef struct {
  double *stream[NUM_STREAMS]; // borrowed, [num_entries] each; the last one is written
  size_t num_entries;          // a multiple of LINE
  size_t num_threads;
} Streams;

// Entries of a thread: whole cache lines.
static void find_range(const Streams *s, int thread, size_t *begin, size_t *end) {
  size_t num_lines = s->num_entries / LINE, k = (size_t)thread;

  *begin = num_lines * k / s->num_threads * LINE;
  *end = num_lines * (k + 1) / s->num_threads * LINE;
}

// Every thread touches its own entries first, so that their pages lie close to it.
static int fill_streams(void *data, int thread) {
  const Streams *s = data;
  size_t begin, end;

  find_range(s, thread, &begin, &end);
  for (int k = 0; k < NUM_STREAMS; k++) {
    for (size_t i = begin; i < end; i++) s->stream[k][i] = 1e-3 * (k + 1);
  }
  return CEED_ERROR_SUCCESS;
}

static int triad(void *data, int thread) {
  const Streams *s = data;
  const double *x0 = s->stream[0], *x1 = s->stream[1], factor = x0[0];
  double *restrict y = s->stream[NUM_STREAMS - 1];
  size_t begin, end;

  find_range(s, thread, &begin, &end);
  for (size_t i = begin; i < end; i++) y[i] = x0[i] + factor * x1[i];
  return CEED_ERROR_SUCCESS;
}

static int update(void *data, int thread) {
  const Streams *s = data;
  const double *x0 = s->stream[0], *x1 = s->stream[1], *x2 = s->stream[2], *x3 = s->stream[3],
               *x4 = s->stream[4], *x5 = s->stream[5], *x6 = s->stream[6];
  double *restrict y = s->stream[NUM_STREAMS - 1];
  size_t begin, end;

  find_range(s, thread, &begin, &end);
  for (size_t i = begin; i < end; i++)
    y[i] += ((x0[i] + x1[i]) + (x2[i] + x3[i])) + ((x4[i] + x5[i]) + x6[i]);
  return CEED_ERROR_SUCCESS;
}

int ritz_machine_bandwidth(RitzTeam team, size_t num_bytes, double seconds, RitzMachineRates *rates) {
  Streams s = {.num_threads = (size_t)ritz_team_size(team)};
  double *memory = NULL, best;
  int ierr;

  s.num_entries = (num_bytes / NUM_STREAMS / sizeof(double) / LINE + s.num_threads) * LINE; // a line a thread
  RITZ_TRY(RITZ_MALLOC(NULL, NUM_STREAMS * (s.num_entries + PAD), &memory));
  for (int k = 0; k < NUM_STREAMS; k++) s.stream[k] = memory + (size_t)k * (s.num_entries + PAD);
  RITZ_TRY_CLEANUP(ritz_team_run(team, fill_streams, &s));

  double entry_bytes = (double)s.num_entries * sizeof(double);
  RITZ_TRY_CLEANUP(ritz_machine_time(team, triad, &s, seconds, &best));
  rates->triad_bandwidth = (int64_t)(3 * entry_bytes / best);
  RITZ_TRY_CLEANUP(ritz_machine_time(team, update, &s, seconds, &best));
  rates->update_bandwidth = (int64_t)((NUM_STREAMS + 1) * entry_bytes / best); // the last one is read, too
cleanup:
  RITZ_FREE(&memory);
  return ierr;
}
