// SPDX-License-Identifier: BSD-2-Clause
// The interpreter of steps (plan/steps.h): runs a list on one batch of elements, at sizes that are known at
// run time only, every buffer in memory. It says what each step means; used by the ahead-of-time kernel
// (unfused.c) and by CeedBasisApply of the backend (basis.c).
//
// Compiled twice where CeedScalar is double: with RITZ_REAL_IS_FP32 arithmetic is in float, and the names end
// in _single.
#ifndef RITZ_BACKENDS_CPU_STEPS_H
#define RITZ_BACKENDS_CPU_STEPS_H

// Vectors of 64 bytes, also where registers are shorter: all functions that pass them are inlined, so that
// the calling convention of the compiler's warning is never used.
#pragma GCC diagnostic ignored "-Wpsabi"
#include <ceed/types.h>
#if defined(RITZ_REAL_IS_FP32) || defined(CEED_SCALAR_IS_FP32)
#define RITZ_LANES 16
#else
#define RITZ_LANES 8
#endif
#ifdef RITZ_REAL_IS_FP32
#define RITZ_STEPS_NAME(name) name##_single
#else
#define RITZ_STEPS_NAME(name) name
#endif
#include "kernels/cpu/vector.h"
#include "plan/cpu.h"
#include "plan/steps.h"

// A list at work on one thread.
typedef struct {
  const RitzSteps *list;
  const RitzCpuSpace *how;    // of the plan's spaces, for gathers and scatters
  const RitzKernelArgs *args; // spaces, matrices, function, context
  RitzVec **buffers;          // [num_buffers]: [component][last direction] .. [first direction]
  const RitzReal **tables;    // [num_steps]: of contractions, row by row as the step has them
  CeedScalar **call;          // for POINT: room for the arguments of the function
  CeedScalar *converted;      // what they point to, where the arithmetic is not in CeedScalar
  RitzVec *polynomials;       // at points: room for those of a block (steps-points.h)
} RitzCpuRun;

// A block of points of a list at points. Buffers at points are [component][num].
typedef struct {
  int num;                        // vectors
  int owner[RITZ_POINTS_AT_ONCE]; // the lane whose element all points of the vector are of; -1: each its own
  bool has_idle[RITZ_POINTS_AT_ONCE], is_idle[RITZ_POINTS_AT_ONCE][RITZ_LANES];
  int32_t point[RITZ_POINTS_AT_ONCE][RITZ_LANES]; // numbers of points; idle lanes repeat some
} RitzCpuPoints;

#define ritz_cpu_run_bytes       RITZ_STEPS_NAME(ritz_cpu_run_bytes)
#define ritz_cpu_begin_run       RITZ_STEPS_NAME(ritz_cpu_begin_run)
#define ritz_cpu_run_steps       RITZ_STEPS_NAME(ritz_cpu_run_steps)
#define ritz_cpu_run_step        RITZ_STEPS_NAME(ritz_cpu_run_step)
#define ritz_cpu_call_function   RITZ_STEPS_NAME(ritz_cpu_call_function)
#define ritz_cpu_points_per_call RITZ_STEPS_NAME(ritz_cpu_points_per_call)
#define ritz_cpu_argument_size   RITZ_STEPS_NAME(ritz_cpu_argument_size)
#define ritz_cpu_place_arguments RITZ_STEPS_NAME(ritz_cpu_place_arguments)
#define ritz_cpu_copy_in         RITZ_STEPS_NAME(ritz_cpu_copy_in)
#define ritz_cpu_scatter_nodes   RITZ_STEPS_NAME(ritz_cpu_scatter_nodes)
#define ritz_cpu_contract        RITZ_STEPS_NAME(ritz_cpu_contract)

// Lays all arrays of a run, whose list, `how` and arguments are set, out in that much memory, which begins
// where vectors do, and fills weights and tables.
int64_t ritz_cpu_run_bytes(const RitzSteps *list);
void ritz_cpu_begin_run(void *memory, RitzCpuRun *run);
// All steps. The code of the QFunction.
int ritz_cpu_run_steps(const RitzCpuRun *run, const RitzBatch *b);
// One step; the QFunction alone, at `num` vectors of points that the buffers hold.
int ritz_cpu_run_step(const RitzCpuRun *run, const RitzStep *step, const RitzBatch *b);
int ritz_cpu_call_function(const RitzCpuRun *run, CeedInt num);

// ---- Parts, for the diagonal (unfused-diagonal.c) ----

// A vector of the application's function.
typedef CeedScalar RitzCallVec __attribute__((vector_size(RITZ_LANES * sizeof(CeedScalar)), aligned(64)));
static const bool ritz_cpu_converts = sizeof(RitzReal) != sizeof(CeedScalar);

// Points of a call where arguments are copied: rows that make up several vectors, so that they stay in the
// first cache. Scalars of an argument, 0: it is NULL.
CeedInt ritz_cpu_points_per_call(const RitzPlan *plan);
CeedInt ritz_cpu_argument_size(const RitzPlan *plan, bool is_input, int k);
// Places the arguments of a call of `num` points, inputs first, in `memory`: its size in scalars.
int64_t ritz_cpu_place_arguments(const RitzPlan *plan, CeedInt num, CeedScalar *memory, CeedScalar **call);
// to [size][num] = from [size][Q]
void ritz_cpu_copy_in(CeedInt size, CeedInt Q, CeedInt num, const RitzVec *from, RitzCallVec *to);
// Adds y, which is spent, into the L-vector of an output of the plan.
void ritz_cpu_scatter_nodes(const RitzPlan *plan, const RitzPlanSpace *space, const RitzCpuSpace *how,
                            const RitzKernelSpace *to, const RitzBatch *b, RitzVec *y);
// y [slow][rows][fast] (+)= table x [slow][cols][fast], table [rows][cols]
void ritz_cpu_contract(const RitzReal *table, CeedInt rows, CeedInt cols, int64_t slow, int64_t fast,
                       const RitzVec *x, RitzVec *y, bool add);

#endif
