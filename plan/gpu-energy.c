// SPDX-License-Identifier: BSD-2-Clause
// Kernels that also give u . A u = sum of (B u) . (D B u) over points, for conjugate gradients (contract in
// plan/gpu.h).
#include <string.h>

#include "plan/gpu.h"

bool ritz_plan_gpu_can_have_energy(const RitzPlan *plan) {
  for (int i = plan->num_in; i < plan->num_in + plan->num_out; i++) {
    if (plan->spaces[plan->fields[i].space].is_active && ritz_plan_partner(plan, i) < 0) return false;
  }
  return true;
}

int ritz_plan_gpu_add_energy(Ceed ceed, const RitzGpuTarget *from, RitzGpuTarget **target) {
  RitzGpuArg *args = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)from->num_args + 1, &args));
  if (from->num_args) memcpy(args, from->args, (size_t)from->num_args * sizeof(*args));
  args[from->num_args].kind = RITZ_GPU_ARG_ENERGIES;
  const int ierr = RITZ_MALLOC(ceed, 1, target);
  if (ierr) RITZ_FREE(&args);
  RITZ_TRY(ierr);
  **target = *from;
  (*target)->args = args;
  (*target)->num_args++;
  (*target)->has_energy = true;
  return CEED_ERROR_SUCCESS;
}

void ritz_plan_gpu_free_energy(RitzGpuTarget **target) {
  if (*target) RITZ_FREE(&(*target)->args);
  RITZ_FREE(target);
}
