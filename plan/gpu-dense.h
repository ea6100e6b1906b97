// SPDX-License-Identifier: BSD-2-Clause
// Dense bases, and operators without tensor bases, in targets of devices. Called by
// plan/gpu.c.
#ifndef RITZ_PLAN_GPU_DENSE_H
#define RITZ_PLAN_GPU_DENSE_H

#include "plan/gpu.h"

// No basis of the plan has a grid of points.
bool ritz_plan_gpu_is_nontensor(const RitzPlan *plan);
// Chooses points and elements of a thread, and threads and elements of a block, of a non-tensor plan; a
// reason if none will do.
void ritz_plan_gpu_choose_nontensor(const RitzPlan *plan, const RitzGpuMachine *machine,
                                    RitzGpuTarget *target);
// Places of nodes and points of dense spaces behind the arrays, for num_elem elements in a block.
void ritz_plan_gpu_place_dense(const RitzPlan *plan, RitzGpuTarget *target);

#endif
