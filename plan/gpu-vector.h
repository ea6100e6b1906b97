// SPDX-License-Identifier: BSD-2-Clause
// Vector bases of tensor products (RITZ_ROUTE_BLOCKS) in targets of devices. Lines of each component are
// passed like those of a scalar basis, in passes for its numbers of nodes. Each derivative that a divergence
// or curl takes has a sweep of its own from the nodes; their sums are formed in the registers of a line of
// points. Called by plan/gpu*.c and emit/gpu-vector.c.
#ifndef RITZ_PLAN_GPU_VECTOR_H
#define RITZ_PLAN_GPU_VECTOR_H

#include "plan/gpu.h"

// Whether fields of a space ask for values, and for the derivative of component c along d.
static inline bool ritz_gpu_wants_values(const RitzPlanSpace *s) { return s->modes & CEED_EVAL_INTERP; }
static inline bool ritz_gpu_wants_derivative(const RitzPlan *plan, const RitzPlanSpace *s, CeedInt c,
                                             CeedInt d) {
  return s->modes & (CEED_EVAL_DIV | CEED_EVAL_CURL) && plan->bases[s->basis].blocks[c].row[d] >= 0;
}

// Arrays of shared memory for the components of a space, each of num_comp scalar arrays: one for each
// derivative, but that along the last direction comes from the array of values. They are numbered through all
// components.
CeedInt ritz_gpu_count_vector_arrays(const RitzPlan *plan, const RitzPlanSpace *space);
// Number of the array for the derivative along d, or for values where d is the last direction; -1: none.
int ritz_gpu_vector_array(const RitzPlan *plan, const RitzPlanSpace *space, CeedInt c, CeedInt d);

// Whether lines of some input (else output) are multiplied by this 1D matrix.
bool ritz_gpu_uses_line(const RitzPlan *plan, int basis, bool is_input, int line);
// Scalars of all that are used, of inputs and of outputs.
CeedSize ritz_gpu_count_vector_constants(const RitzPlan *plan, int basis);

#endif
