// SPDX-License-Identifier: BSD-2-Clause
// Kernels that take several vectors at once (contract in plan/gpu.h): an element with a vector is what an
// element is to the kernel of one.
#include <string.h>

#include "plan/gpu.h"

// Pairs of an element and a vector come element by element: where blocks hold a divisor of RITZ_GPU_MANY of
// them, no block has two elements, whose data at points would come through L2 more often.
CeedInt ritz_plan_gpu_many_pairs(const RitzGpuTarget *apply) {
  enum { MOST_THREADS = 256 };
  if (apply->evaluation != RITZ_GPU_LINES || apply->is_flat) return 0;
  for (CeedInt num = RITZ_GPU_MANY; num > apply->num_elem; num /= 2) {
    if (num * apply->num_lines <= MOST_THREADS) return num;
  }
  return 0;
}

bool ritz_plan_gpu_fits_many(const RitzGpuTarget *apply, const RitzGpuTarget *many) {
  return !many->reason &&
         5 * many->num_blocks * many->num_threads >= 4 * apply->num_blocks * apply->num_threads;
}

static bool is_of_each(const RitzPlan *plan, const RitzGpuArg *arg) {
  return arg->kind == RITZ_GPU_ARG_ARRAY && plan->spaces[arg->number].is_active;
}

int ritz_plan_gpu_add_vectors(Ceed ceed, const RitzPlan *plan, const RitzGpuTarget *from,
                              RitzGpuTarget *target, RitzGpuArg **args, RitzGpuSpace **spaces) {
  const size_t num_spaces = (size_t)plan->num_spaces;
  int num = 0;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)from->num_args * RITZ_GPU_MANY + 1, args));
  RITZ_TRY(RITZ_CALLOC(ceed, num_spaces, spaces));
  memcpy(*spaces, from->spaces, num_spaces * sizeof(**spaces));
  for (size_t s = 0; s < num_spaces; s++)
    (*spaces)[s].is_staged = (*spaces)[s].is_copied = (*spaces)[s].is_joined = false;
  (*args)[num++].kind = RITZ_GPU_ARG_VECTORS;
  for (int i = 0; i < from->num_args; i++) {
    const int copies = is_of_each(plan, &from->args[i]) ? RITZ_GPU_MANY : 1;
    for (int k = 0; k < copies; k++) {
      (*args)[num] = from->args[i];
      (*args)[num++].vector = k;
    }
  }
  *target = *from;
  target->takes_many = true;
  target->spaces = *spaces;
  target->args = *args;
  target->num_args = num;
  return CEED_ERROR_SUCCESS;
}
