// SPDX-License-Identifier: BSD-2-Clause
// L-vectors of fused kernels: lines of nodes between them and registers, and the arguments of the QFunction.
// The text in front (emit/gpu.c) defines RITZ_ELEMENTS, RITZ_THREADS, RITZ_ROW, RITZ_PLANE, RITZ_ELEM and
// RITZ_ARRAY, the distances in arrays (plan/lines.h).
#ifndef RITZ_KERNELS_GPU_FIELDS_H
#define RITZ_KERNELS_GPU_FIELDS_H

// ---- Into shared memory ----

// RITZ_COPY copies a scalar into shared memory behind the thread's back; after RITZ_COPIED() it is
// there.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define RITZ_COPY(to, from)                                                                                  \
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),    \
               "l"(from), "n"(sizeof(RitzReal))                                                              \
               : "memory")
#define RITZ_COPIED() asm volatile("cp.async.wait_all;" ::: "memory")
#else
#define RITZ_COPY(to, from) (*(to) = RITZ_LOAD_ONCE(from))
#define RITZ_COPIED()       ((void)0)
#endif

// A scalar of the other precision cannot be copied as it is.
#define RITZ_CONVERT(to, from) (*(to) = (RitzReal)RITZ_LOAD_ONCE(from))

// ---- L-vectors of RitzReal ----

#define RITZ_ENTRY           RitzReal
#define RITZ_NAME(name)      name
#define RITZ_BRING(to, from) RITZ_COPY(to, from)
#include "kernels/gpu/nodes.h"
#undef RITZ_ENTRY
#undef RITZ_NAME
#undef RITZ_BRING

// ---- Arguments of the QFunction ----

// Point k of lines in registers.
RITZ_INLINE void ritz_take_lines(int num_comp, int n, const RitzReal *lines, int k, RitzReal *arg) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) arg[c] = lines[c * n + k];
}

RITZ_INLINE void ritz_give_lines(int num_comp, int n, const RitzReal *arg, int adds, int k, RitzReal *lines) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) lines[c * n + k] = adds ? lines[c * n + k] + arg[c] : arg[c];
}

// A point of arrays in shared memory.
RITZ_INLINE void ritz_take_arrays(int num_comp, RITZ_SHARED const RitzReal *arrays, RitzReal *arg) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) arg[c] = arrays[c * RITZ_ARRAY];
}

RITZ_INLINE void ritz_give_arrays(int num_comp, const RitzReal *arg, int adds, RITZ_SHARED RitzReal *arrays) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) arrays[c * RITZ_ARRAY] = adds ? arrays[c * RITZ_ARRAY] + arg[c] : arg[c];
}

#endif
