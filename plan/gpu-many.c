// SPDX-License-Identifier: BSD-2-Clause
// Kernels that take several vectors at once (contract in plan/gpu.h): an element with a few vectors is what
// an element is to the kernel of one.
#include "plan/gpu.h"

// Whether a thread takes twice as many vectors as in `from`: what the threads of a multiprocessor have
// together says how much is on the way at the same time.
static bool is_worth(const RitzGpuTarget *from, const RitzGpuTarget *to) {
  const CeedSize of_from = (CeedSize)from->num_blocks * from->num_threads * from->vectors_per_thread;
  const CeedSize of_to = (CeedSize)to->num_blocks * to->num_threads * to->vectors_per_thread;
  const CeedSize eighths = from->vectors_per_thread == 1 ? RITZ_GPU_TWO_EIGHTHS : RITZ_GPU_FOUR_EIGHTHS;
  return !to->reason && to->vectors_per_thread > from->vectors_per_thread && to->unrolls == from->unrolls &&
         8 * of_to >= eighths * of_from;
}

// *many: replaced by `other` where that is better, which is told; the worse one is freed.
static bool take_better(RitzGpuTarget *other, RitzGpuTarget **many) {
  const bool is_better = is_worth(*many, other);
  RitzGpuTarget *worse = is_better ? *many : other;
  *many = is_better ? other : *many;
  ritz_plan_gpu_free(&worse);
  return is_better;
}

// As many vectors as were asked for, or fewer where these do not fit.
static int plan_asked(CeedOperator op, const RitzPlan *plan, const RitzGpuMachine *machine,
                      RitzGpuChoice choice, bool is_deterministic, RitzGpuTarget **many) {
  RITZ_TRY(ritz_plan_gpu(op, plan, machine, &choice, is_deterministic, many));
  for (choice.vectors /= 2; choice.vectors > 0 && (*many)->reason; choice.vectors /= 2) {
    ritz_plan_gpu_free(many);
    RITZ_TRY(ritz_plan_gpu(op, plan, machine, &choice, is_deterministic, many));
  }
  return CEED_ERROR_SUCCESS;
}

// Loops as they are for one vector, whose measured numbers of elements and blocks are of no use here.
int ritz_plan_gpu_many(CeedOperator op, const RitzPlan *plan, const RitzGpuMachine *machine,
                       const RitzGpuTarget *apply, bool is_deterministic, CeedInt most,
                       RitzGpuTarget **many) {
  RitzGpuChoice choice = apply->choice;
  RitzGpuTarget *other = NULL;
  choice.num_elem = choice.num_blocks = 0;
  choice.vectors = machine->vectors ? machine->vectors : 1;
  RITZ_TRY(plan_asked(op, plan, machine, choice, is_deterministic, many));
  if (machine->vectors) return CEED_ERROR_SUCCESS;
  for (choice.vectors = 2; choice.vectors <= CeedIntMin(most, RITZ_GPU_TOGETHER); choice.vectors *= 2) {
    RITZ_TRY(ritz_plan_gpu(op, plan, machine, &choice, is_deterministic, &other));
    if (!take_better(other, many)) break;
  }
  return CEED_ERROR_SUCCESS;
}
