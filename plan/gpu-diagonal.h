// SPDX-License-Identifier: BSD-2-Clause
// The target of a diagonal on a device, from plan/diagonal.h. emit/gpu-diagonal.c turns it into
// the text of a kernel, backends/gpu/diagonal.c runs that.
//
// Passive inputs are evaluated as in an apply. A thread then works on its line of points, for one component
// of the diagonal after the other: it contracts terms along the last direction as their points come, and adds
// up what has the same products of tables in all other directions. These sums are the arrays of the block
// that lines along the first, then along the middle direction contract.
#ifndef RITZ_PLAN_GPU_DIAGONAL_H
#define RITZ_PLAN_GPU_DIAGONAL_H

#include "plan/diagonal.h"
#include "plan/gpu.h"

typedef struct {
  const RitzDiagonalPlan *diagonal; // borrowed
  // The passive inputs; then the diagonal, an output of one component, whose basis is the last and stands for
  // the products of tables. Owns its spaces and the list of bases, not their tables.
  RitzPlan plan;
  RitzGpuTarget *target; // owned
  int num_sums, first_array;
  RitzDiagonalTerm *sums; // owned; nothing in the last direction
  int *sum_of;            // owned, of terms
} RitzGpuDiagonal;

// *made: always; its target has a reason where there is no such kernel.
int ritz_plan_gpu_diagonal(CeedOperator op, const RitzDiagonalPlan *diagonal, const RitzGpuMachine *machine,
                           bool is_deterministic, RitzGpuDiagonal **made);
void ritz_plan_gpu_diagonal_free(RitzGpuDiagonal **diagonal);

#endif
