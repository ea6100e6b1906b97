// SPDX-License-Identifier: BSD-2-Clause
// RitzGpuChoice as numbers with names: what a target has chosen, and its text for files and for people,
// "elements=4 blocks=6 unroll=1 fence=-1". Called by backends/gpu/tune.c and tune-store.c.
#ifndef RITZ_PLAN_CHOICE_H
#define RITZ_PLAN_CHOICE_H

#include "plan/gpu.h"

enum { RITZ_CHOICE_LENGTH = 160 };

void ritz_plan_gpu_write_choice(const RitzGpuChoice *choice, char text[RITZ_CHOICE_LENGTH]);
// False: the text is none of the above. Members that it does not name are 0.
bool ritz_plan_gpu_read_choice(const char *text, RitzGpuChoice *choice);

// Choices behind a target that has no reason against it, the model's or measured; 0 where there was nothing
// to choose. Passing them again gives the same target.
RitzGpuChoice ritz_plan_gpu_chosen(const RitzPlan *plan, const RitzGpuMachine *machine,
                                   const RitzGpuTarget *target);

#endif
