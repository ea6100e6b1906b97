// SPDX-License-Identifier: BSD-2-Clause
// The interpreter of steps (plan/steps.h): runs a list on one batch of elements, at sizes that are known at
// run time only, every buffer in memory. It says what each step means; used by the ahead-of-time kernel
// (unfused.c) and by CeedBasisApply of the backend (basis.c).
#ifndef RITZ_BACKENDS_CPU_STEPS_H
#define RITZ_BACKENDS_CPU_STEPS_H

// Vectors of 64 bytes, also where registers are shorter: all functions that pass them are inlined, so that
// the calling convention of the compiler's warning is never used.
#pragma GCC diagnostic ignored "-Wpsabi"
#include <ceed/types.h>
#ifdef CEED_SCALAR_IS_FP32
#define RITZ_LANES 16
#else
#define RITZ_LANES 8
#endif
#include "kernels/cpu/vector.h"
#include "plan/cpu.h"
#include "plan/steps.h"

typedef struct {
  const RitzSteps *list;
  const RitzCpuSpace *how;    // of the plan's spaces, for gathers and scatters
  const RitzKernelArgs *args; // spaces, matrices, function, context
  RitzVec **buffers;          // [num_buffers]: [component][last direction] .. [first direction]
  CeedScalar **call;          // for POINT: room for the arguments of the function
} RitzCpuRun;

// Lays the buffers out in list->size vectors of memory and fills weights.
void ritz_cpu_place_buffers(const RitzSteps *list, RitzVec *memory, RitzVec **buffers);
// All steps. The code of the QFunction.
int ritz_cpu_run_steps(const RitzCpuRun *run, const RitzBatch *b);

#endif
