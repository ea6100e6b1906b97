// SPDX-License-Identifier: BSD-2-Clause
// What the timing table (core/profile.h) asks of /cpu/self/gen: costs of operators by their plans, and the
// limits of the processor where they were measured before and kept (ritz/machine.h).
#include <math.h>

#include "backends/cpu/cpu.h"
#include "machine/machine.h"

void ritz_cpu_tier_cost(const RitzCpuTier *tier, RitzOperatorCost *cost) {
  if (!tier->plan) return;
  const RitzPlanCost element = ritz_plan_cpu_cost(tier->plan, tier->target);
  const double num = tier->plan->num_elem;

  cost->flops = element.flops * num;
  cost->is_single = tier->plan->precision == CEED_SCALAR_FP32;
  cost->bytes = (element.bytes_stored + element.bytes_offsets + element.bytes_vectors) * num;
}

int ritz_cpu_operator_cost(CeedOperator op, RitzOperatorCost *cost) {
  const RitzCpuOperator *cpu = op->data;

  if (!cpu) return CEED_ERROR_SUCCESS;
  ritz_cpu_tier_cost(ritz_cpu_tier(op), cost);
  cost->note = ritz_cpu_is_coming(cpu) ? "kernel being compiled" : NULL;
  return CEED_ERROR_SUCCESS;
}

static double flops_of(const RitzMachineRates *rates, bool is_single) {
  return (double)(is_single ? rates->single_flops : rates->double_flops);
}

// Some of the processors: as many times one, at most what all have together.
int ritz_cpu_limits(Ceed ceed, RitzLimits *limits) {
  const RitzCpu *cpu = ceed->data;
  RitzMachine machine;
  bool is_kept;

  RITZ_TRY(ritz_machine_find(&machine, &is_kept));
  if (!is_kept) return CEED_ERROR_SUCCESS;
  const double num = cpu->num_threads;
  limits->bandwidth = fmin(num * (double)machine.one.update_bandwidth, (double)machine.all.update_bandwidth);
  for (int is_single = 0; is_single < 2; is_single++)
    *(is_single ? &limits->single_flops : &limits->flops) =
        fmin(num * flops_of(&machine.one, is_single), flops_of(&machine.all, is_single));
  if (CEED_SCALAR_TYPE == CEED_SCALAR_FP32) limits->flops = limits->single_flops;
  limits->cache_bytes = (double)machine.last_level_bytes;
  return CEED_ERROR_SUCCESS;
}
