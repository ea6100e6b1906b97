// SPDX-License-Identifier: BSD-2-Clause
// Products of parts of matrices: a warp, or 32 threads, has a tile of 32 x 32 entries of the result in
// registers, RITZ_TILE_ENTRIES a thread; operands are in shared memory, k before rows and columns. Doubles
// are multiplied by tensor cores where they are there (RITZ_MMA), else one by one. Entries are independent of
// each other: what is in rows and columns outside of a matrix does no harm. The sums of an entry go in the
// order of k.
#ifndef RITZ_KERNELS_GPU_BATCHED_TILES_H
#define RITZ_KERNELS_GPU_BATCHED_TILES_H

#include "kernels/gpu/batched.h"

#define RITZ_TILE         32
#define RITZ_TILE_ENTRIES 32
#define RITZ_LANE         (RITZ_THREAD % 32)
#define RITZ_WARP         (RITZ_THREAD / 32)
#define RITZ_WARPS        (RITZ_THREADS / 32)

#if !defined(__OPENCL_VERSION__) && !defined(RITZ_ENTRY_F32) && __CUDA_ARCH__ >= 800
#define RITZ_MMA
#endif

// Entry e of the thread.
#ifdef RITZ_MMA
#define RITZ_TILE_ROW(e) ((e) / 16 * 16 + (e) / 2 % 2 * 8 + RITZ_LANE / 4)
#define RITZ_TILE_COL(e) ((e) / 4 % 4 * 8 + RITZ_LANE % 4 * 2 + (e) % 2)
#else
#define RITZ_TILE_ROW(e) ((e) % 4 * 8 + RITZ_LANE % 8)
#define RITZ_TILE_COL(e) ((e) / 4 * 4 + RITZ_LANE / 8)
#endif
#define RITZ_TILE_EACH(e)                                                                                    \
  RITZ_UNROLL                                                                                                \
  for (int e = 0; e < RITZ_TILE_ENTRIES; e++)

#ifdef RITZ_MMA
#include "kernels/gpu/mma-f64.h"

// sum += A B: A (row, k) at a[k ak + row ar], B (k, col) at b[k bk + col bc]; num is a multiple of 8.
RITZ_INLINE void ritz_tile_multiply(const double *a, int ak, int ar, const double *b, int bk, int bc, int num,
                                    double *sum) {
  const int g = RITZ_LANE / 4, t = RITZ_LANE % 4;
  a += t * ak + g * ar;
  b += t * bk + g * bc;
  RITZ_UNROLL
  for (int k = 0; k < num; k += 8) {
    double parts[2][4];
    RITZ_UNROLL
    for (int i = 0; i < 8; i++)
      parts[i / 4][i % 4] = a[(k + i / 2 % 2 * 4) * ak + (i / 4 * 16 + i % 2 * 8) * ar];
    RITZ_UNROLL
    for (int j = 0; j < 4; j++) {
      const double column[2] = {b[k * bk + 8 * j * bc], b[(k + 4) * bk + 8 * j * bc]};
      ritz_mma_f64(parts[0], column[0], column[1], sum + 4 * j);
      ritz_mma_f64(parts[1], column[0], column[1], sum + 16 + 4 * j);
    }
  }
}

#else

RITZ_INLINE void ritz_tile_multiply(RITZ_SHARED const RitzEntry *a, int ak, int ar,
                                    RITZ_SHARED const RitzEntry *b, int bk, int bc, int num, RitzEntry *sum) {
  a += RITZ_LANE % 8 * ar;
  b += RITZ_LANE / 8 * bc;
  RITZ_ROLL
  for (int k = 0; k < num; k++) {
    RitzEntry row[4];
    RITZ_UNROLL
    for (int i = 0; i < 4; i++) row[i] = a[k * ak + 8 * i * ar];
    RITZ_UNROLL
    for (int j = 0; j < 8; j++) {
      const RitzEntry value = b[k * bk + 4 * j * bc];
      RITZ_UNROLL
      for (int i = 0; i < 4; i++) sum[4 * j + i] += row[i] * value;
    }
  }
}

#endif

// ---- Into shared memory behind the thread's back ----

// RITZ_BRING copies an entry; RITZ_BROUGHT() ends a group of copies, and RITZ_WAIT(num) waits for all but the
// last `num` groups of the thread.
#if !defined(__OPENCL_VERSION__) && __CUDA_ARCH__ >= 800
#define RITZ_BRING(to, from)                                                                                 \
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),    \
               "l"(from), "n"(sizeof(RitzEntry))                                                             \
               : "memory")
#define RITZ_BROUGHT() asm volatile("cp.async.commit_group;" ::: "memory")
#define RITZ_WAIT(num) asm volatile("cp.async.wait_group %0;" ::"n"(num) : "memory")
#else
#define RITZ_BRING(to, from) (*(to) = *(from))
#define RITZ_BROUGHT()       ((void)0)
#define RITZ_WAIT(num)       ((void)0)
#endif

#endif
