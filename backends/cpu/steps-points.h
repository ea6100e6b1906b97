// SPDX-License-Identifier: BSD-2-Clause
// Steps of a list at points (plan/steps.h) on one batch of elements. Nodes and coefficients have an element a
// lane. Points come in blocks of at most RITZ_POINTS_AT_ONCE vectors, an element a lane where that takes
// fewer vectors, else the points of one element side by side: what is idle are lanes of elements with fewer
// points than their neighbours, or the end of an element's last vector.
#ifndef RITZ_BACKENDS_CPU_STEPS_POINTS_H
#define RITZ_BACKENDS_CPU_STEPS_POINTS_H

#include "backends/cpu/steps.h"

#define ritz_cpu_run_at_points    RITZ_STEPS_NAME(ritz_cpu_run_at_points)
#define ritz_cpu_run_point_steps  RITZ_STEPS_NAME(ritz_cpu_run_point_steps)
#define ritz_cpu_run_whole_steps  RITZ_STEPS_NAME(ritz_cpu_run_whole_steps)
#define ritz_cpu_clear_deposits   RITZ_STEPS_NAME(ritz_cpu_clear_deposits)
#define ritz_cpu_polynomials_size RITZ_STEPS_NAME(ritz_cpu_polynomials_size)

// Vectors for the polynomials of a block; 0 of other lists.
int64_t ritz_cpu_polynomials_size(const RitzSteps *list);

// All steps; idle lanes repeat a point and add to nothing. The code of the QFunction.
int ritz_cpu_run_at_points(const RitzCpuRun *run, const RitzBatch *b);

// ---- Its parts, for bases at points ----

// The steps for whole elements before, or after those at points.
void ritz_cpu_run_whole_steps(const RitzCpuRun *run, const RitzBatch *b, bool is_before);
// Zeroes the coefficients that deposits do not add to.
void ritz_cpu_clear_deposits(const RitzCpuRun *run);
// The steps at points for one block.
int ritz_cpu_run_point_steps(const RitzCpuRun *run, const RitzCpuPoints *points);

#endif
