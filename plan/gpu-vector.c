// SPDX-License-Identifier: BSD-2-Clause
// Vector bases of tensor products in targets of devices (contract in plan/gpu-vector.h).
#include "plan/gpu-vector.h"

// ---- Arrays ----

static bool has_array(const RitzPlan *plan, const RitzPlanSpace *s, CeedInt c, CeedInt d) {
  return ritz_gpu_wants_derivative(plan, s, c, d) || (d == plan->dim - 1 && ritz_gpu_wants_values(s));
}

// Arrays before that of component k / dim, direction k % dim.
static CeedInt count_arrays(const RitzPlan *plan, const RitzPlanSpace *s, CeedInt end) {
  CeedInt num = 0;
  for (CeedInt k = 0; k < end; k++) num += has_array(plan, s, k / plan->dim, k % plan->dim);
  return num;
}

CeedInt ritz_gpu_count_vector_arrays(const RitzPlan *plan, const RitzPlanSpace *s) {
  return count_arrays(plan, s, plan->dim * plan->dim);
}

int ritz_gpu_vector_array(const RitzPlan *plan, const RitzPlanSpace *s, CeedInt c, CeedInt d) {
  return has_array(plan, s, c, d) ? (int)count_arrays(plan, s, c * plan->dim + d) : -1;
}

// ---- 1D matrices ----

// Whether values of component c along d are needed: for values, and for derivatives along other directions.
static bool uses_values(const RitzPlan *plan, const RitzPlanSpace *s, CeedInt c, CeedInt d) {
  bool uses = ritz_gpu_wants_values(s);
  for (CeedInt k = 0; k < plan->dim; k++) uses |= k != d && ritz_gpu_wants_derivative(plan, s, c, k);
  return uses;
}

static bool space_uses(const RitzPlan *plan, const RitzPlanSpace *s, int line) {
  for (CeedInt k = 0; k < plan->dim * plan->dim; k++) {
    const CeedInt c = k / plan->dim, d = k % plan->dim;
    const RitzPlanBlock *block = &plan->bases[s->basis].blocks[c];
    if (block->interp[d] == line && uses_values(plan, s, c, d)) return true;
    if (block->grad[d] == line && ritz_gpu_wants_derivative(plan, s, c, d)) return true;
  }
  return false;
}

bool ritz_gpu_uses_line(const RitzPlan *plan, int basis, bool is_input, int line) {
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    if (space->basis == basis && space->is_input == is_input && space_uses(plan, space, line)) return true;
  }
  return false;
}

CeedSize ritz_gpu_count_vector_constants(const RitzPlan *plan, int basis) {
  CeedSize num = 0;
  for (int line = 0; line < plan->bases[basis].num_lines; line++) {
    const RitzPlanMatrix *A = &plan->bases[basis].lines[line];
    const CeedSize size = (CeedSize)A->rows * A->cols / (A->parity ? 2 : 1);
    for (int is_input = 0; is_input < 2; is_input++)
      num += ritz_gpu_uses_line(plan, basis, is_input, line) ? size : 0;
  }
  return num;
}
