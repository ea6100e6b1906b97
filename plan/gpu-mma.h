// SPDX-License-Identifier: BSD-2-Clause
// Products of lines and 1D matrices by tensor cores, mma of 16 x 8 by 8 x 8 doubles (kernels/gpu/mma.h): in
// the passes from shared memory into it, where lines are no longer than 8. A warp takes 16 lines at a
// time, four threads a line. And of dense bases (plan/gpu-tiles.h). Called by plan/gpu.c.
#ifndef RITZ_PLAN_GPU_MMA_H
#define RITZ_PLAN_GPU_MMA_H

#include "plan/gpu.h"

// Some pass could do so, or the dense bases of a non-tensor plan.
bool ritz_plan_gpu_can_mma(const RitzPlan *plan, const RitzGpuTarget *target);
// Whether passes do so that can: as is chosen, or RITZ_GPU_MMA says; by itself none does.
bool ritz_plan_gpu_chooses_mma(const RitzPlan *plan, const RitzGpuMachine *machine,
                               const RitzGpuTarget *target);
// Rewrites a pass for tensor cores, if the target uses them.
void ritz_plan_gpu_use_mma(const RitzGpuTarget *target, RitzGpuPass *pass);
// Scalars of shared memory for products that are computed without tensor cores; 0 where the device has them.
CeedInt ritz_plan_gpu_count_exchange(const RitzGpuMachine *machine, const RitzGpuTarget *target);

#endif
