// SPDX-License-Identifier: BSD-2-Clause
// Who runs which batch of elements when, so that threads add into shared degrees of freedom without locks,
// atomics or private copies, and every degree of freedom is set to zero right before its first touch.
//
// The batches are cut into contiguous sections. Where sections share a chunk of RITZ_CHUNK entries of an
// output, the batches of the higher section that touch it come at the beginning of their section (heads) and
// those of the lower section at its end (tails), after a flag that the higher section has raised long before.
// So the additions into an entry happen in an order that depends on the sections alone, not on the threads or
// on their speed: results repeat bit for bit. There are at most as many sections as threads; with `is_fixed`
// a number that depends on the mesh alone, so that results do not depend on the number of threads either.
// Where sections are so thin that they would wait for each other in a long row, fewer and thicker ones are
// made.
#ifndef RITZ_BACKENDS_CPU_SCHEDULE_H
#define RITZ_BACKENDS_CPU_SCHEDULE_H

#include "base/threads.h"
#include "core/core.h"
#include "kernels/cpu/abi.h"

enum { RITZ_CHUNK = 64, RITZ_FIXED_PARTS = 64 };

// An output: the entries that element e adds to are the images of its restriction (any but blocked
// ones). Outputs that add into the same array have the same `array` number; their ranges are
// reported under the first of them.
typedef struct {
  CeedElemRestriction rstr;
  CeedSize length; // of the vector; at least the restriction's
  int32_t space;   // number of the space in the kernel's arguments
  int32_t array;
} RitzScheduleOutput;

// Positions begin .. end - 1 of one section: first waits for the flags of `num_waits` sections, and raises
// its own section's flag at the end if told so.
typedef struct {
  int64_t begin, end;
  int32_t section;
  int32_t first_wait, num_waits; // in RitzSchedule.waits
  bool raises;
} RitzScheduleStep;

typedef struct {
  CeedInt num_batches;
  int num_threads, num_sections;
  int32_t *order;        // [num_batches]: batch of each position
  int64_t *before_begin; // [num_batches + 1]
  RitzRange *before;    // every entry of every output array exactly once, also those that no element touches;
                        // of an operator without batches none
  int64_t *after_begin; // [num_batches + 1]
  RitzRange *after;     // the same by last touch
  int32_t *thread_begin; // [num_threads + 1]: steps of each thread
  RitzScheduleStep *steps;
  int32_t *waits;  // numbers of sections
  RitzFlag *flags; // [num_sections]
  int32_t epoch;   // of the flags: raised by one with every run
} RitzSchedule;

int ritz_schedule_create(Ceed ceed, CeedInt num_elem, CeedInt lanes, CeedInt num_outputs,
                         const RitzScheduleOutput *outputs, int num_threads, bool is_fixed,
                         RitzSchedule **schedule);
void ritz_schedule_destroy(RitzSchedule **schedule);

// Runs a kernel over all batches on the threads of the team: args[thread] differ in `work` (and what else the
// caller wants); `order` is set here. The code of a failing user's function stops its thread's further
// positions, but never the raising of flags. The size of the team is the schedule's num_threads.
int ritz_schedule_run(RitzSchedule *schedule, RitzTeam team, RitzKernel kernel, const RitzKernelArgs *args);
// The same with hooks of each section, before[section] and after[section], in place of those of the
// arguments. A section is run by one thread, from its first position to its last.
int ritz_schedule_run_hooked(RitzSchedule *schedule, RitzTeam team, RitzKernel kernel,
                             const RitzKernelArgs *args, const RitzKernelHook *before,
                             const RitzKernelHook *after);

// One of several vectors that a kernel is applied to: what of the arguments is its own.
typedef struct {
  const RitzKernelSpace *spaces;
  const RitzKernelHook *before; // NULL: none
} RitzScheduleVector;
// The same for num vectors: each goes through `group` positions, then all go on to the next ones. Each result
// has the same bits as from a run of its own.
int ritz_schedule_run_many(RitzSchedule *schedule, RitzTeam team, RitzKernel kernel,
                           const RitzKernelArgs *args, CeedInt num, const RitzScheduleVector *vectors,
                           int64_t group);

#endif
