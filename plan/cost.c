// SPDX-License-Identifier: BSD-2-Clause
// What an element costs by a plan: flops and bytes, counted as in bench/bp.h (contract in plan/plan.h).
#include "plan/blocks.h"
#include "plan/parts.h"

static double power(double base, CeedInt exponent) {
  double result = 1;
  for (CeedInt i = 0; i < exponent; i++) result *= base;
  return result;
}

// ---- Flops ----

// All directions of a tensor basis, one after the other.
static double sweep_flops(const RitzPlanBasis *b) {
  double flops = 0;
  for (CeedInt d = 0; d < b->dim; d++) flops += 2 * power(b->P_1d, b->dim - d) * power(b->Q_1d, d + 1);
  return flops;
}

static double blocks_flops(const RitzPlanBasis *b, unsigned modes) {
  double flops = 0;
  for (CeedInt c = 0; c < b->dim; c++) {
    const RitzBlockSweep sweep = ritz_plan_block_sweep(b, c, modes);
    flops += ritz_plan_block_flops(&sweep);
  }
  return flops;
}

// What an input that is not contracted costs: along a row values and derivatives in all directions but the
// first are a multiply-add each.
static double form_flops(const RitzPlan *plan, const RitzPlanSpace *s) {
  bool has_values = s->modes & CEED_EVAL_INTERP, has_derivatives = s->modes & ~(unsigned)CEED_EVAL_INTERP;
  if (s->form == RITZ_FORM_CONSTANT) return 0;
  return 2.0 * plan->Q * s->num_comp * (has_values + (has_derivatives ? plan->dim - 1 : 0));
}

// One component, forwards or backwards.
static double evaluation_flops(const RitzPlanBasis *b, unsigned modes) {
  bool has_values = modes & CEED_EVAL_INTERP, has_derivatives = modes & ~(unsigned)CEED_EVAL_INTERP;
  double at_points = has_derivatives ? 2 * b->dim * power(b->Q_1d, b->dim + 1) : 0;
  switch (b->route) {
  case RITZ_ROUTE_IDENTITY: return at_points;
  case RITZ_ROUTE_COLLOCATED: return sweep_flops(b) + at_points;
  case RITZ_ROUTE_DIRECT: return sweep_flops(b) * (has_values + (has_derivatives ? b->dim : 0));
  case RITZ_ROUTE_BLOCKS: return blocks_flops(b, modes);
  case RITZ_ROUTE_DENSE: break;
  }
  int rows = (has_values ? b->q_comp_interp : 0) + (has_derivatives ? b->q_comp_deriv : 0);
  return 2.0 * b->P * b->Q * rows;
}

static double count_flops(const RitzPlan *plan) {
  double flops = plan->user_flops * plan->Q;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    if (s->form != RITZ_FORM_LINES)
      flops += form_flops(plan, s);
    else if (s->basis >= 0)
      flops += s->num_comp * evaluation_flops(&plan->bases[s->basis], s->modes);
  }
  return flops;
}

// ---- Bytes ----

static double count_stored(const RitzPlan *plan) {
  double bytes = 0;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    if (ritz_plan_is_stored(s)) bytes += (double)ritz_scalar_bytes(s->precision) * s->num_nodes * s->num_comp;
  }
  return bytes;
}

static double offset_bytes(const RitzPlanSpace *s, const RitzPlanAccess *access) {
  if (!access->has_offsets) return 0;
  if (access->row_length) return (double)sizeof(int32_t) * s->num_nodes / access->row_length;
  size_t node = sizeof(int32_t) + (s->is_oriented ? sizeof(bool) : 0);
  return (double)s->num_nodes * (double)(node + (s->is_curl_oriented ? 3 * sizeof(CeedInt8) : 0));
}

// Offsets that two spaces share come from memory once.
static double count_offsets(const RitzPlan *plan, const RitzPlanAccess *access) {
  double bytes = 0;
  for (int i = 0; i < plan->num_spaces; i++) {
    bool is_new = true;
    for (int k = 0; k < i; k++) {
      if (plan->spaces[k].restriction.number == plan->spaces[i].restriction.number &&
          access[k].row_length == access[i].row_length)
        is_new = false;
    }
    if (is_new) bytes += offset_bytes(&plan->spaces[i], &access[i]);
  }
  return bytes;
}

// Entries of an array that its spaces reach, and how often each of them is moved.
static double array_bytes(const RitzPlan *plan, int32_t array) {
  CeedSize length = 0;
  size_t entry_bytes = 0;
  int num_moves = 1;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    if (s->array != array || ritz_plan_is_stored(s)) continue;
    if (s->restriction.l_size > length) length = s->restriction.l_size;
    entry_bytes = ritz_scalar_bytes(s->precision);
    if (!s->is_input) num_moves = 2;
  }
  return (double)entry_bytes * num_moves * (double)length;
}

static double count_vectors(const RitzPlan *plan) {
  double bytes = 0;
  for (int32_t a = 0; a < plan->num_arrays; a++) bytes += array_bytes(plan, a);
  return plan->num_elem > 0 ? bytes / plan->num_elem : 0;
}

RitzPlanCost ritz_plan_cost(const RitzPlan *plan, const RitzPlanAccess *access) {
  return (RitzPlanCost){.flops = count_flops(plan),
                        .bytes_stored = count_stored(plan),
                        .bytes_offsets = count_offsets(plan, access),
                        .bytes_vectors = count_vectors(plan)};
}
