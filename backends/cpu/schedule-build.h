// SPDX-License-Identifier: BSD-2-Clause
// A schedule that is being made: filled by schedule.c, read by schedule-copies.c.
#ifndef RITZ_BACKENDS_CPU_SCHEDULE_BUILD_H
#define RITZ_BACKENDS_CPU_SCHEDULE_BUILD_H

#include "backends/cpu/schedule.h"

// The last touch of a chunk. section -1: none so far.
typedef struct {
  int32_t section, position;
  int32_t round;
} RitzScheduleTouch;

// A position that waits for the flag behind another one.
typedef struct {
  int32_t position, raised_at;
} RitzScheduleWait;

// An output array and its chunks among those of all arrays.
typedef struct {
  int32_t number, space, entry_bytes;
  CeedSize length;
  int64_t first_chunk, num_chunks;
} RitzScheduleArray;

typedef struct {
  Ceed ceed; // borrowed
  CeedInt num_elem, lanes, num_outputs;
  const RitzScheduleOutput *outputs; // borrowed
  int32_t num_batches, num_sections;
  int num_arrays;
  RitzScheduleArray *arrays; // [num_outputs], num_arrays of them used
  int *array_of;             // [num_outputs]
  int64_t num_chunks;
  int64_t *list_begin;     // [num_batches + 1]
  int32_t *list;           // chunks of the batches
  int32_t *order;          // [num_batches]: the schedule's
  int32_t *next;           // [num_batches]: the next batch of the section that is not done, -1: none
  int32_t *first;          // [num_chunks]: position of the first touch, -1: none
  RitzScheduleTouch *last; // [num_chunks]
  int64_t num_rounds;
  // [max_sections]: first batch that is not done, -1: none; positions done, and those before this round;
  // position of the last flag, -1: none; last position that the batch at hand shares chunks with, else -1
  int32_t *head, *done, *done_before, *last_flag, *needed;
  int32_t *known; // [section][section]: the last position of the other one that has been waited for, else -1
  int32_t *flag;  // [num_batches]: number of the flag raised behind a position (place_flags), -1: none
  int32_t num_flags; // numbers in use; see place_flags
  int64_t num_waits, max_waits;
  RitzScheduleWait *waits; // owned, in the order in which they were found
} RitzScheduleBuild;

#endif
