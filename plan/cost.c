// SPDX-License-Identifier: BSD-2-Clause
// What a step and an apply cost an element: flops and bytes, counted as in bp/bp.h (contracts in
// plan/steps.h and plan/plan.h).
#include "plan/steps.h"

// ---- Flops ----

static double block_flops(const RitzSteps *list, const RitzStep *step) {
  const RitzPlanMatrix *table = ritz_steps_table(list, step);
  const RitzBlockSweep sweep = ritz_steps_sweep(list, step);
  double num_lines = list->plan->spaces[list->buffers[step->from].space].num_comp;
  for (CeedInt d = 0; d < 3; d++) num_lines *= d == step->direction ? 1 : sweep.size[step->position][d];
  return 2.0 * num_lines * table->rows * table->cols;
}

// A multiply-add for each entry of the table that a number of `to` is made with.
static double contract_flops(const RitzSteps *list, const RitzStep *step) {
  if (step->block >= 0) return block_flops(list, step);
  const CeedInt cols = ritz_steps_extents(list, step->from)[step->direction];
  return 2.0 * cols * (double)ritz_steps_size(list, step->to);
}

static double multiply_flops(const RitzSteps *list, const RitzStep *step) {
  const int points = step->is_transposed ? step->from : step->to;
  return 2.0 * list->plan->bases[step->basis].P * (double)ritz_steps_size(list, points);
}

// Along a row of a form of degree one, values and derivatives in all directions but the first are a
// multiply-add each.
static double simple_flops(const RitzSteps *list, const RitzStep *step) {
  const RitzPlanSpace *space = &list->plan->spaces[list->buffers[step->to].space];
  const bool is_free = step->table == RITZ_TABLE_GRAD && step->direction == 0;
  return space->kind == RITZ_INPUT_CONSTANT || is_free ? 0 : 2.0 * (double)ritz_steps_size(list, step->to);
}

// At a point: nested sums over the directions, after the m-th of which there are a value and m derivatives;
// two multiply-adds a polynomial for the recurrences. A deposit does the same backwards.
static double evaluate_flops(const RitzSteps *list, const RitzStep *step) {
  const RitzPlanBasis *b = &list->plan->bases[step->basis];
  const CeedInt num_comp = list->plan->spaces[list->buffers[step->from].space].num_comp;
  const bool is_derivative = step->table == RITZ_TABLE_GRAD;
  double sums = 0, polynomials = b->Q_1d;
  for (CeedInt m = b->dim; m >= 1; m--) {
    sums += 2 * polynomials * (!is_derivative ? 1 : m < b->dim ? m + 1 : m);
    polynomials *= b->Q_1d;
  }
  return ritz_plan_points(list->plan) * (num_comp * sums + 2.0 * b->dim * b->Q_1d * (is_derivative ? 3 : 1));
}

static double count_flops(const RitzSteps *list, const RitzStep *step) {
  switch (step->kind) {
  case RITZ_STEP_CONTRACT: return contract_flops(list, step);
  case RITZ_STEP_MULTIPLY: return multiply_flops(list, step);
  case RITZ_STEP_FORM: return simple_flops(list, step);
  case RITZ_STEP_EVALUATE: return evaluate_flops(list, step);
  case RITZ_STEP_POINT: return list->plan->user_flops * ritz_plan_points(list->plan);
  default: return 0;
  }
}

// ---- Bytes ----

// The space of a gather or scatter; -1: of another step.
static int transferred(const RitzSteps *list, const RitzStep *step) {
  if (step->kind == RITZ_STEP_GATHER) return list->buffers[step->from].space;
  return step->kind == RITZ_STEP_SCATTER ? list->buffers[step->to].space : -1;
}

// Nodes of an element, or its points.
static double num_nodes(const RitzPlan *plan, const RitzPlanSpace *s) {
  return plan->is_at_points && s->basis < 0 ? ritz_plan_points(plan) : s->num_nodes;
}

static double offset_bytes(const RitzPlan *plan, const RitzPlanSpace *s, const RitzPlanAccess *access) {
  if (!access->has_offsets) return 0;
  if (access->row_length) return (double)sizeof(int32_t) * s->num_nodes / access->row_length;
  size_t node = sizeof(int32_t) + (s->is_oriented ? sizeof(bool) : 0);
  return num_nodes(plan, s) * (double)(node + (s->is_curl_oriented ? 3 * sizeof(CeedInt8) : 0));
}

// Offsets that an earlier step has read, too, come from memory once.
static double count_offsets(const RitzSteps *list, int step, const RitzPlanAccess *access) {
  const RitzPlanSpace *spaces = list->plan->spaces;
  const int s = transferred(list, &list->steps[step]);
  for (int n = 0; n < step; n++) {
    const int k = transferred(list, &list->steps[n]);
    if (k >= 0 && spaces[k].restriction.number == spaces[s].restriction.number &&
        access[k].row_length == access[s].row_length)
      return 0;
  }
  return offset_bytes(list->plan, &spaces[s], &access[s]);
}

// Entries of the L-vector, at most those of all elements, that earlier steps have moved (twice: read and
// written), or with this one.
static CeedSize moved_before(const RitzSteps *list, int end, int32_t array) {
  CeedSize length = 0;
  int num_moves = 1;
  for (int n = 0; n < end; n++) {
    const int k = transferred(list, &list->steps[n]);
    const RitzPlanSpace *s = k < 0 ? NULL : &list->plan->spaces[k];
    if (!s || s->array != array || ritz_plan_is_stored(s)) continue;
    const double all = list->plan->num_elem * num_nodes(list->plan, s) * s->num_comp;
    const CeedSize l_size = s->restriction.l_size, touched = all < (double)l_size ? (CeedSize)all : l_size;
    if (touched > length) length = touched;
    if (list->steps[n].kind == RITZ_STEP_SCATTER) num_moves = 2;
  }
  return num_moves * length;
}

RitzStepCost ritz_steps_cost(const RitzSteps *list, int step, const RitzPlanAccess *access) {
  RitzStepCost cost = {.flops = count_flops(list, &list->steps[step])};
  const int s = transferred(list, &list->steps[step]);
  if (s < 0) return cost;
  const RitzPlanSpace *space = &list->plan->spaces[s];
  const double scalar = (double)ritz_scalar_bytes(space->precision);
  cost.bytes_offsets = count_offsets(list, step, access);
  if (ritz_plan_is_stored(space))
    cost.bytes_stored = scalar * num_nodes(list->plan, space) * space->num_comp;
  else
    cost.bytes_vectors = scalar * (double)(moved_before(list, step + 1, space->array) -
                                           moved_before(list, step, space->array));
  return cost;
}

RitzPlanCost ritz_plan_cost(const RitzPlan *plan, const RitzPlanAccess *access) {
  RitzPlanCost sum = {0};
  for (int n = 0; n < plan->steps->num_steps; n++) {
    const RitzStepCost cost = ritz_steps_cost(plan->steps, n, access);
    sum.flops += cost.flops;
    sum.bytes_stored += cost.bytes_stored;
    sum.bytes_offsets += cost.bytes_offsets;
    sum.bytes_vectors += cost.bytes_vectors;
  }
  if (plan->num_elem > 0) sum.bytes_vectors /= plan->num_elem;
  return sum;
}
