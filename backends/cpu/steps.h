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
  const RitzReal **tables;    // [num_steps]: of contractions, in the precision of the arithmetic; else NULL
  CeedScalar **call;          // for POINT: room for the arguments of the function
  CeedScalar *converted;      // what they point to, where the arithmetic is not in CeedScalar
} RitzCpuRun;

#define ritz_cpu_run_bytes RITZ_STEPS_NAME(ritz_cpu_run_bytes)
#define ritz_cpu_begin_run RITZ_STEPS_NAME(ritz_cpu_begin_run)
#define ritz_cpu_run_steps RITZ_STEPS_NAME(ritz_cpu_run_steps)

// Lays all arrays of a run, whose list, `how` and arguments are set, out in that much memory, which begins
// where vectors do, and fills weights and tables.
int64_t ritz_cpu_run_bytes(const RitzSteps *list);
void ritz_cpu_begin_run(void *memory, RitzCpuRun *run);
// All steps. The code of the QFunction.
int ritz_cpu_run_steps(const RitzCpuRun *run, const RitzBatch *b);

#endif
