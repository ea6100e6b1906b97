// SPDX-License-Identifier: BSD-2-Clause
// The vector type of all CPU kernels: one scalar of RITZ_LANES elements. GNU vector extensions alone, so that
// the same text serves every width and machine. Whoever includes this defines RITZ_LANES before.
#ifndef RITZ_KERNELS_CPU_VECTOR_H
#define RITZ_KERNELS_CPU_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/cpu/abi.h"

// A hasty compilation, of a kernel that runs a few times (RITZ_CFLAGS="-O0 -DRITZ_HASTY"), copies no function
// to where it is called: that takes a third of the time.
#ifdef RITZ_HASTY
#define RITZ_COPIED  unused
#define RITZ_COPYING unused
#else
#define RITZ_COPIED  always_inline, unused
#define RITZ_COPYING flatten
#endif
#define RITZ_INLINE static inline __attribute__((RITZ_COPIED))

// Loops over lines of a contraction stay loops; a line itself is unrolled, and its values live in registers.
// Lines longer than 16 would not fit there: they stay loops, too.
#ifndef RITZ_MAX_1D
#define RITZ_MAX_1D 16
#endif
#if defined(__clang__)
#define RITZ_ROLLED _Pragma("clang loop unroll(disable)")
#else
#define RITZ_ROLLED _Pragma("GCC unroll 1")
#endif
#if RITZ_MAX_1D > 16
#define RITZ_UNROLL RITZ_ROLLED
#elif defined(__clang__)
#define RITZ_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RITZ_UNROLL _Pragma("GCC unroll 64")
#endif

// The arithmetic of a kernel is that of CeedScalar, which a kernel in single precision takes to be float;
// with RITZ_REAL_IS_FP32 the QFunction alone stays in CeedScalar. Kernels without CeedScalar name it.
#if defined(RITZ_REAL_IS_FP32)
typedef float RitzReal;
#elif defined(RITZ_REAL_IS_FP64)
typedef double RitzReal;
#else
typedef CeedScalar RitzReal;
#endif
#if !defined(RITZ_REAL_IS_FP64) &&                                                                           \
    (defined(RITZ_REAL_IS_FP32) || defined(CEED_SCALAR_IS_FP32) || defined(RITZ_SCALAR_F32))
#define RITZ_REAL_BYTES 4
typedef double RitzOther; // the precision that L-vectors may have instead
#else
#define RITZ_REAL_BYTES 8
typedef float RitzOther;
#endif
typedef RitzReal RitzVec __attribute__((vector_size(RITZ_LANES * sizeof(RitzReal))));
typedef RitzOther RitzOtherVec
    __attribute__((vector_size(RITZ_LANES * sizeof(RitzOther)), aligned(sizeof(RitzOther))));

#define RITZ_SHUFFLE __builtin_shufflevector
#define RITZ_CONVERT __builtin_convertvector

RITZ_INLINE RitzVec ritz_splat(RitzReal a) { return a - (RitzVec){0}; }

// A batch of elements: its number, the elements of its lanes, and how many lanes are elements of their own.
typedef struct {
  int64_t number, next; // next: the batch after this one in the schedule, for prefetching
  int32_t elem[RITZ_LANES];
  int num;
} RitzBatch;

RITZ_INLINE RitzBatch ritz_batch(const RitzKernelArgs *args, int64_t position, int64_t end) {
  RitzBatch b = {.number = args->order[position]};
  b.next = position + 1 < end ? args->order[position + 1] : b.number;
  const int64_t first = b.number * RITZ_LANES, left = args->num_elem - first;
  b.num = left < RITZ_LANES ? (int)left : RITZ_LANES;
  for (int l = 0; l < RITZ_LANES; l++) b.elem[l] = (int32_t)(first + (l < b.num ? l : b.num - 1));
  return b;
}

RITZ_INLINE void ritz_run_hook(const RitzKernelHook *hook, int64_t position) {
  if (!hook) return;
  for (int64_t i = hook->begin[position]; i < hook->begin[position + 1]; i++) {
    hook->call(hook->data, hook->ranges[i].space, hook->ranges[i].first, hook->ranges[i].count);
  }
}

#endif
