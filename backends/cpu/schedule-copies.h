// SPDX-License-Identifier: BSD-2-Clause
// Copies of the outputs for the sections of a schedule: each section adds into its own, without waiting, then
// each sums a share of the entries over the copies, in the order of the sections. Called by schedule.c.
#ifndef RITZ_BACKENDS_CPU_SCHEDULE_COPIES_H
#define RITZ_BACKENDS_CPU_SCHEDULE_COPIES_H

#include "backends/cpu/schedule-build.h"

typedef struct {
  int32_t space, entry_bytes; // as in RitzScheduleOutput, of the first output on the array
  size_t offset;              // bytes, of its copy in the memory of a section
} RitzCopiedArray;

// Chunks of an array that follow each other and that a section adds to.
typedef struct {
  int64_t first, count; // entries
  int32_t array;
} RitzCopiedRange;

struct RitzScheduleCopies {
  int num_sections; // section p has the positions num_batches p / num_sections .. of the schedule's order
  int num_arrays;
  CeedInt num_spaces;
  double path;             // ritz_schedule_path
  RitzCopiedArray *arrays; // owned [num_arrays]
  int32_t *array_of;       // owned [num_spaces]; -1: an input
  char **memory; // owned, as what it points to [num_sections]; pages that no batch adds to stay untouched
  RitzKernelSpace *spaces; // owned [num_sections][num_spaces]
  int64_t *range_begin;    // owned [section that adds][section that sums], and the end
  RitzCopiedRange *ranges; // owned
};

// Copies where they take clearly less time than the rounds that have been played; else s->copies stays NULL.
// With them first and last touch of each chunk are the first position of the section that sums it. Outputs
// with a layout of their own (strided, at points) have none.
int ritz_schedule_copies_make(RitzScheduleBuild *b, CeedInt num_spaces, RitzSchedule *s);
void ritz_schedule_copies_destroy(RitzScheduleCopies **copies);

typedef struct {
  const RitzSchedule *schedule;
  RitzKernel kernel;
  const RitzKernelArgs *args;           // [num_threads]
  const RitzKernelHook *before, *after; // [num_sections]; NULL: those of the arguments
  const RitzScheduleVector *vector;     // NULL: that of the arguments
} RitzCopiesRun;

// As ritz_schedule_run_hooked.
int ritz_schedule_copies_run(RitzCopiesRun *run, RitzTeam team);

#endif
