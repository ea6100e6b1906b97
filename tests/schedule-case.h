// SPDX-License-Identifier: BSD-2-Clause
// What schedules are made for, at random: meshes in any order, numberings, outputs. Used by test-schedule.c.
#ifndef RITZ_TESTS_SCHEDULE_CASE_H
#define RITZ_TESTS_SCHEDULE_CASE_H

#include "backends/cpu/schedule.h"

// The outputs are spaces SCHEDULE_FIRST_SPACE and those behind it.
enum { SCHEDULE_MAX_OUTPUTS = 4, SCHEDULE_FIRST_SPACE = 3, SCHEDULE_NUM_SPACES = 7 };

typedef struct {
  Ceed ceed;
  CeedInt num_elem, lanes, num_outputs;
  RitzScheduleOutput outputs[SCHEDULE_MAX_OUTPUTS];
  int first_of[SCHEDULE_MAX_OUTPUTS]; // first output on the same array
} ScheduleCase;

// These end the program when they fail.
CeedInt schedule_draw(CeedInt low, CeedInt high); // an integer of this range, at random
void *schedule_allocate(size_t n, size_t size);   // zeros; freed with free()
// 1 to 100 batches on a box, one to SCHEDULE_MAX_OUTPUTS outputs of several kinds, some on the same array.
ScheduleCase schedule_case_draw(Ceed ceed);
// One field on a box, numbered lexicographically.
ScheduleCase schedule_case_box(Ceed ceed, CeedInt nx, CeedInt ny, CeedInt nz, CeedInt degree, CeedInt lanes);
// Vectors as long as their longest restriction wants, or, at random, longer.
void schedule_case_set_lengths(ScheduleCase *c);
void schedule_case_destroy(ScheduleCase *c);

int schedule_case_create(const ScheduleCase *c, int num_threads, bool is_fixed, RitzSchedule **s);
// The same where sections may have copies of the outputs.
int schedule_case_create_copies(const ScheduleCase *c, int num_threads, RitzSchedule **s);
// Calls visit(data, first output on the array, entry) for every contribution of a batch.
void schedule_case_visit(const ScheduleCase *c, int32_t batch,
                         void (*visit)(void *data, int output, CeedSize entry), void *data);

#endif
