// SPDX-License-Identifier: BSD-2-Clause
// Kernels that take several vectors at once (contract in plan/gpu.h): an element with a few vectors is what
// an element is to the kernel of one.
#include "plan/gpu.h"

// Whether a thread takes more vectors than in `from`: what the threads of a multiprocessor have together says
// how much is on the way at the same time.
static bool is_worth(const RitzGpuTarget *from, const RitzGpuTarget *to) {
  const CeedSize of_from = (CeedSize)from->num_blocks * from->num_threads * from->num_together;
  const CeedSize of_to = (CeedSize)to->num_blocks * to->num_threads * to->num_together;
  return !to->reason && to->num_together > from->num_together && to->unrolls == from->unrolls &&
         RITZ_GPU_TOGETHER_DENOMINATOR * of_to >= RITZ_GPU_TOGETHER_NUMERATOR * of_from;
}

// *many: replaced by the better one of it and `other`, which is freed.
static void take_better(RitzGpuTarget *other, RitzGpuTarget **many) {
  const bool is_better = is_worth(*many, other);
  RitzGpuTarget *worse = is_better ? *many : other;
  *many = is_better ? other : *many;
  ritz_plan_gpu_free(&worse);
}

// Loops as they are for one vector, whose measured numbers of elements and blocks are of no use here.
int ritz_plan_gpu_many(CeedOperator op, const RitzPlan *plan, const RitzGpuMachine *machine,
                       const RitzGpuTarget *apply, bool is_deterministic, RitzGpuTarget **many) {
  RitzGpuChoice choice = apply->choice;
  RitzGpuTarget *other = NULL;
  choice.num_elem = choice.num_blocks = 0;
  choice.vectors = machine->vectors ? machine->vectors : 1;
  RITZ_TRY(ritz_plan_gpu(op, plan, machine, &choice, is_deterministic, many));
  for (choice.vectors /= 2; choice.vectors > 0 && (*many)->reason; choice.vectors /= 2) {
    ritz_plan_gpu_free(many);
    RITZ_TRY(ritz_plan_gpu(op, plan, machine, &choice, is_deterministic, many));
  }
  if (machine->vectors) return CEED_ERROR_SUCCESS;
  choice.vectors = RITZ_GPU_TOGETHER;
  RITZ_TRY(ritz_plan_gpu(op, plan, machine, &choice, is_deterministic, &other));
  take_better(other, many);
  return CEED_ERROR_SUCCESS;
}
