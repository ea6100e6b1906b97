// SPDX-License-Identifier: BSD-2-Clause
// Targets in which a thread takes a whole element (RITZ_GPU_ELEMENTS): small tensor elements, whose nodes and
// sums fit the registers of a thread. Called by plan/gpu.c and plan/choice.c.
#ifndef RITZ_PLAN_GPU_ELEMENT_H
#define RITZ_PLAN_GPU_ELEMENT_H

#include "plan/gpu.h"

// Whether a thread takes a whole element: as chosen, if possible, else by the model. The target's spaces are
// described.
bool ritz_plan_gpu_takes_elements(const RitzPlan *plan, const RitzGpuMachine *machine,
                                  const RitzGpuTarget *t);
// Shape of the block, what it holds in its memory, and which spaces are joined.
void ritz_plan_gpu_place_elements(const RitzPlan *plan, const RitzGpuMachine *machine, RitzGpuTarget *t);
// 32-bit registers that a thread is to have: what it wants, or less where more threads are worth more.
CeedInt ritz_plan_gpu_element_budget(const RitzPlan *plan);
// Whether neighbours may add the nodes of this space together.
bool ritz_plan_gpu_can_join(const RitzPlan *plan, const RitzGpuTarget *t, int s);

#endif
