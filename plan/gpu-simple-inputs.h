// SPDX-License-Identifier: BSD-2-Clause
// Inputs of degree one, and constant ones (RitzInputKind), in targets of devices. Called by
// plan/gpu*.c and emit/gpu*.c.
//
// Where threads take lines, the corners or nodes of the block's elements are copied to its memory, behind
// everything else, a few threads turn them into monomials or values, in place, and the thread of a line takes
// from these what its line needs. A thread with a whole element does the same in registers.
#ifndef RITZ_PLAN_GPU_SIMPLE_INPUTS_H
#define RITZ_PLAN_GPU_SIMPLE_INPUTS_H

#include "plan/gpu.h"

static inline bool ritz_gpu_is_simple(const RitzPlanSpace *s) { return s->kind != RITZ_INPUT_CONTRACTED; }

// Components of values and derivatives of a space with constants; scalars of a component in shared
// memory: of nodes, then of monomials or values in their place.
CeedInt ritz_gpu_simple_q_comp(const RitzPlan *plan, const RitzPlanSpace *s);
CeedInt ritz_gpu_simple_slot(const RitzPlan *plan, const RitzPlanSpace *s);
// The nodes are the values.
bool ritz_gpu_simple_is_copy(const RitzPlan *plan, const RitzPlanSpace *s);

// Places behind `first` scalars of shared memory; the number after them.
CeedInt ritz_plan_gpu_place_simple(const RitzPlan *plan, RitzGpuTarget *target, CeedInt first);
// Scalars that a thread holds for its line.
CeedInt ritz_plan_gpu_simple_registers(const RitzPlan *plan, const RitzPlanSpace *s);
// Derivatives of an input of degree one: geometry that the QFunction computes with.
bool ritz_plan_gpu_has_geometry(const RitzPlan *plan);
// Some input is data at points.
bool ritz_plan_gpu_has_data(const RitzPlan *plan);

#endif
