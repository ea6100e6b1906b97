// SPDX-License-Identifier: BSD-2-Clause
// Kernels that take several vectors at once (contract in plan/gpu.h): an element with a few vectors is what
// an element is to the kernel of one.
#include "plan/gpu.h"

// Threads that fit a multiprocessor, each with so many vectors, against those of an apply to one: the loads
// that are on the way. Where nothing is known of registers, memory decides.
static bool is_worth(const RitzGpuTarget *apply, const RitzGpuTarget *many) {
  const CeedSize of_one = (CeedSize)apply->num_blocks * apply->num_threads;
  const CeedSize of_many = (CeedSize)many->num_blocks * many->num_threads * many->num_together;
  return !many->reason && many->num_together > 1 && many->unrolls == apply->unrolls &&
         RITZ_GPU_TOGETHER_DENOMINATOR * of_many >= RITZ_GPU_TOGETHER_NUMERATOR * of_one;
}

// Loops as they are for one vector, whose measured numbers of elements and blocks are of no use here.
int ritz_plan_gpu_many(CeedOperator op, const RitzPlan *plan, const RitzGpuMachine *machine,
                       const RitzGpuTarget *apply, bool is_deterministic, RitzGpuTarget **many) {
  RitzGpuChoice choice = apply->choice;
  choice.num_elem = choice.num_blocks = 0;
  choice.vectors = machine->vectors ? machine->vectors : RITZ_GPU_TOGETHER;
  for (;; choice.vectors /= 2) {
    RITZ_TRY(ritz_plan_gpu(op, plan, machine, &choice, is_deterministic, many));
    if (choice.vectors == 1 || (machine->vectors ? !(*many)->reason : is_worth(apply, *many))) break;
    ritz_plan_gpu_free(many);
  }
  return CEED_ERROR_SUCCESS;
}
