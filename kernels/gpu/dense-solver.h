// SPDX-License-Identifier: BSD-2-Clause
// Dense solver (core/dense-solver.h) on devices: what all of its kernels share. Factors F are column-major
// with leading dimension ld, a multiple of 32; there are 128 rows and columns of zeros behind the last ones,
// so that tiles may be read whole.
#ifndef RITZ_KERNELS_GPU_DENSE_SOLVER_H
#define RITZ_KERNELS_GPU_DENSE_SOLVER_H

#ifdef RITZ_ENTRY_F32
typedef float RitzEntry;
#else
typedef double RitzEntry;
#endif

#ifdef __OPENCL_VERSION__
#define RITZ_STEP()       barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define RITZ_BITS(x)      as_uint(x)
#define RITZ_BITS_LONG(x) as_long(x)
#define RITZ_OF_BITS(x)   as_float(x)
#define RITZ_ROUND(x)     rint(x)
#define RITZ_TAKE(p)      atomic_inc(p)
#define RITZ_PUBLISH()    mem_fence(CLK_GLOBAL_MEM_FENCE)
#else
#define RITZ_STEP()       __syncthreads()
#define RITZ_BITS(x)      __float_as_uint(x)
#define RITZ_BITS_LONG(x) __double_as_longlong(x)
#define RITZ_OF_BITS(x)   __uint_as_float(x)
#define RITZ_ROUND(x)     rintf(x)
#define RITZ_TAKE(p)      atomicAdd(p, 1)
#define RITZ_PUBLISH()    __threadfence()
#endif
#define RITZ_SIZE(x)   ((x) < 0 ? -(x) : (x))
#define RITZ_FINITE(x) ((x) - (x) == 0)

enum { RITZ_PANEL = 32, RITZ_MOVES = 2 * RITZ_PANEL, RITZ_MOVES_STRIDE = 1 + 2 * RITZ_MOVES };
enum { RITZ_SOLVED = 128 }; // rows of a triangle that one kernel solves with

// RitzDensePrecision of operands.
enum { RITZ_TF32X3 = 3, RITZ_TF32, RITZ_BF16, RITZ_F16 };

#endif
