// SPDX-License-Identifier: BSD-2-Clause
// The ahead-of-time kernel, which needs no compiler: it walks the steps of an apply (steps.h) at run-time
// sizes, one batch of elements after the other, and calls the application's function once for all points of
// a batch. Same arguments, schedule and threads as generated kernels; in the precision of the plan, vectors
// in either. Also serves operators that these cannot fuse (RITZ_EVALUATE_NONE), and, through the same
// functions, CeedBasisApply of the backend.
#ifndef RITZ_BACKENDS_CPU_UNFUSED_H
#define RITZ_BACKENDS_CPU_UNFUSED_H

#include "kernels/cpu/abi.h"
#include "plan/cpu.h"
#include "plan/diagonal.h"

// Lanes of the ahead-of-time kernel: plans for it are made with this number.
enum {
  RITZ_UNFUSED_LANES = 64 / sizeof(CeedScalar),       // arithmetic in CeedScalar
  RITZ_UNFUSED_SINGLE_LANES = 64 / (int)sizeof(float) // in float
};

// Pointed to by args->plan; members are borrowed.
typedef struct {
  const RitzPlan *plan;
  const RitzCpuTarget *target;
} RitzUnfused;

// Kernel, lanes and work memory for plans of a precision. args->function is the application's function: it is
// called in CeedScalar, for all points of a batch at once; from arithmetic in float with converted arguments,
// some points at a time.
RitzKernel ritz_unfused_find(CeedScalarType precision);
CeedInt ritz_unfused_lanes(CeedScalarType precision);
int64_t ritz_unfused_work_bytes(const RitzUnfused *unfused);

// The same for diagonals. The target's spaces are those of the plan, then that of the diagonal; of bases
// without tensor structure, too.
typedef struct {
  const RitzDiagonalPlan *plan;
  const RitzCpuTarget *target;
} RitzUnfusedDiagonal;
RitzKernel ritz_unfused_find_diagonal(CeedScalarType precision);
int64_t ritz_unfused_diagonal_work_bytes(const RitzUnfusedDiagonal *diagonal);

// Slot of the backend (core/backend.h). That of restrictions is the reference backend's: its E-vectors have
// no lanes.
int ritz_cpu_basis_apply(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u, CeedScalar *v);

#endif
