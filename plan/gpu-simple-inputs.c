// SPDX-License-Identifier: BSD-2-Clause
// Inputs that need no lines, in plans for devices (contract in plan/gpu-simple-inputs.h).
#include "plan/gpu-simple-inputs.h"

static bool has_values(const RitzPlanSpace *s) { return s->modes & CEED_EVAL_INTERP; }
static bool has_derivatives(const RitzPlanSpace *s) { return s->modes & ~(unsigned)CEED_EVAL_INTERP; }

// ---- Sizes ----

CeedInt ritz_gpu_simple_q_comp(const RitzPlan *plan, const RitzPlanSpace *s) {
  const RitzPlanBasis *b = &plan->bases[s->basis];
  return (has_values(s) ? b->q_comp_interp : 0) + (has_derivatives(s) ? b->q_comp_deriv : 0);
}

CeedInt ritz_gpu_simple_slot(const RitzPlan *plan, const RitzPlanSpace *s) {
  return s->kind == RITZ_INPUT_LINEAR ? s->num_nodes
                                      : CeedIntMax(s->num_nodes, ritz_gpu_simple_q_comp(plan, s));
}

bool ritz_gpu_simple_is_copy(const RitzPlan *plan, const RitzPlanSpace *s) {
  return s->kind == RITZ_INPUT_CONSTANT && s->num_nodes == 1 && ritz_gpu_simple_q_comp(plan, s) == 1 &&
         has_values(s) && plan->bases[s->basis].constant_interp[0] == 1;
}

// ---- Memory of the block ----

// Pairs of scalars can be read at once, and those of elements side by side lie in different banks: elements
// are an odd number of pairs apart.
static CeedInt element_distance(CeedInt size) { return ((size + 1) / 2 | 1) * 2; }

CeedInt ritz_plan_gpu_place_simple(const RitzPlan *plan, RitzGpuTarget *t, CeedInt first) {
  const CeedInt pack = ritz_gpu_real_pack(plan);
  CeedInt next = first;
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    if (!ritz_gpu_is_simple(space)) continue;
    t->spaces[s].simple_first = (next + pack - 1) / pack * pack;
    t->spaces[s].simple_elem = element_distance(space->num_comp * ritz_gpu_simple_slot(plan, space));
    next = t->spaces[s].simple_first + t->num_elem * t->spaces[s].simple_elem;
  }
  return next;
}

// ---- Registers ----

CeedInt ritz_plan_gpu_simple_registers(const RitzPlan *plan, const RitzPlanSpace *s) {
  if (s->kind == RITZ_INPUT_CONSTANT) return s->num_comp * ritz_gpu_simple_q_comp(plan, s);
  const CeedInt of_values = has_values(s) ? 2 : 1, of_gradient = 2 * plan->dim - 2;
  return s->num_comp * (of_values + (has_derivatives(s) ? of_gradient : 0));
}

bool ritz_plan_gpu_has_geometry(const RitzPlan *plan) {
  for (int s = 0; s < plan->num_spaces; s++) {
    if (plan->spaces[s].kind == RITZ_INPUT_LINEAR && has_derivatives(&plan->spaces[s])) return true;
  }
  return false;
}

bool ritz_plan_gpu_has_data(const RitzPlan *plan) {
  for (int s = 0; s < plan->num_spaces; s++) {
    if (plan->spaces[s].is_input && plan->spaces[s].basis < 0) return true;
  }
  return false;
}
