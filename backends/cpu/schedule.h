// SPDX-License-Identifier: BSD-2-Clause
// Who runs which batch of elements when, so that threads add into shared degrees of freedom without locks,
// atomics or private copies, and every degree of freedom is set to zero right before its first touch.
//
// The batches are cut into contiguous sections, and rounds are played: in a round each section does its next
// batch that shares no chunk of RITZ_CHUNK entries of an output with what other sections do in this round,
// looking a few batches ahead. Two batches that share a chunk are so in different rounds, and the additions
// into an entry happen in the order of the rounds: it depends on the sections alone, not on the threads or on
// their speed, and results repeat bit for bit. Threads do not meet after each round: a batch waits for flags
// that sections have raised behind their last batches before it that share chunks with it.
//
// There are at most as many sections as threads; with `is_fixed` a number that depends on the mesh alone, so
// that results do not depend on the number of threads either. Where most of them would wait in most rounds
// there are fewer.
//
// Where rounds keep threads waiting for long (small meshes: an entry has more batches than a thread), each
// section adds into copies of the outputs of its own, which are summed in the order of the sections
// (schedule-copies.c). This takes more work in all, and results depend on the number of sections: not with
// `is_fixed`.
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
  int32_t entry_bytes; // float or double; used for copies alone
} RitzScheduleOutput;

typedef struct {
  int num_threads;
  bool is_fixed;
  CeedInt num_spaces; // of the kernel's arguments, where sections may have copies; 0: they may not
} RitzScheduleOptions;

// Positions begin .. end - 1 of a section, done when `num_waits` flags are raised; raises one at the end.
typedef struct {
  int64_t begin, end;
  int64_t first_wait; // in RitzSchedule.waits
  int32_t num_waits;
  int32_t flag; // -1: raises none
} RitzScheduleStep;

// How far a section is in a run. One thread at a time has it.
typedef struct {
  RitzFlag claim; // 0: nobody has it
  int32_t code;   // of the user's function, of the first position that failed
  int64_t next;   // step
  char padding[48];
} RitzScheduleProgress;

typedef struct RitzScheduleCopies RitzScheduleCopies;

typedef struct {
  CeedInt num_batches;
  int num_threads, num_sections;
  int64_t num_rounds; // batches one after the other until all are done, were there a thread for each section
  int32_t *order;     // [num_batches]: batch of each position; those of a section lie together
  int64_t *before_begin; // [num_batches + 1]
  RitzRange *before;    // every entry of every output array exactly once, also those that no element touches;
                        // of an operator without batches none
  int64_t *after_begin; // [num_batches + 1]
  RitzRange *after;     // the same by last touch
  int64_t *step_begin;  // [num_sections + 1]: steps of each section, in their order
  RitzScheduleStep *steps;
  int32_t *waits;                 // numbers of flags
  RitzFlag *flags;                // one for each step that raises one, and gaps
  int32_t epoch;                  // of the flags: raised by one with every run
  RitzScheduleProgress *progress; // [num_sections]
  RitzScheduleCopies *copies;     // owned; NULL: batches add into the outputs themselves
} RitzSchedule;

int ritz_schedule_create(Ceed ceed, CeedInt num_elem, CeedInt lanes, CeedInt num_outputs,
                         const RitzScheduleOutput *outputs, const RitzScheduleOptions *options,
                         RitzSchedule **schedule);
void ritz_schedule_destroy(RitzSchedule **schedule);

// Sections of a run: those of the rounds, or those that have copies.
int ritz_schedule_num_sections(const RitzSchedule *schedule);
// Batches one after the other until all are done, what it takes to sum copies counted as batches.
double ritz_schedule_path(const RitzSchedule *schedule);

// Runs a kernel over all batches on the threads of the team: args[thread] differ in `work` (and what else the
// caller wants); `order` is set here. Sections are spread over the threads; one that waits for long does
// steps of others' sections, so that a thread without a processor holds nobody up. The code of a failing
// user's function stops its section's further positions, but never the raising of flags; that of the lowest
// section is returned. The size of the team is the schedule's num_threads.
//
// With copies, all sections run their positions on copies, then each calls the hooks of its own ranges,
// between which it adds to these entries what is in the copies; not after a failure. `before` may change the
// outputs alone.
int ritz_schedule_run(RitzSchedule *schedule, RitzTeam team, RitzKernel kernel, const RitzKernelArgs *args);
// The same with hooks of each section, before[section] and after[section], in place of those of the
// arguments. A section is run by one thread at a time, from its first position to its last. `before` may
// change entries that the kernel reads: with copies all are called ahead of the first position.
int ritz_schedule_run_hooked(RitzSchedule *schedule, RitzTeam team, RitzKernel kernel,
                             const RitzKernelArgs *args, const RitzKernelHook *before,
                             const RitzKernelHook *after);
// By rounds, even where there are copies, without hooks: for kernels with other spaces.
int ritz_schedule_run_in_place(RitzSchedule *schedule, RitzTeam team, RitzKernel kernel,
                               const RitzKernelArgs *args);

// One of several vectors that a kernel is applied to: what of the arguments is its own.
typedef struct {
  const RitzKernelSpace *spaces;
  const RitzKernelHook *before; // NULL: none
} RitzScheduleVector;
// The same for num vectors: each goes through `group` positions, then all go on to the next ones; with copies
// one vector after the other. Each result has the same bits as from a run of its own.
int ritz_schedule_run_many(RitzSchedule *schedule, RitzTeam team, RitzKernel kernel,
                           const RitzKernelArgs *args, CeedInt num, const RitzScheduleVector *vectors,
                           int64_t group);

#endif
