// SPDX-License-Identifier: BSD-2-Clause
// What kernels of QR factors (batched-qr.h) and of Jacobi's rotations (batched-jacobi.h) share: matrices that
// lie in shared memory while a block works on them, and sums over threads, in a fixed tree. The text in front
// defines:
//
//   RITZ_THREADS       of a block, which takes a matrix: 1, or a power of 2; on NVIDIA's devices whole warps
//   RITZ_PARTS         threads that share a column: a power of 2, on NVIDIA's devices up to 32
//   RITZ_WORK          numbers of a matrix beside its entries: more than its order
//   RITZ_HOLD          the matrices lie in shared memory
//   RITZ_SHARED_BYTES  RITZ_HOLD: of them
//
// What options leave out has no entries or no steps, so that all barriers are reached by all threads, and
// none is below a condition (kernels/gpu/batched-any.h says why).
#ifndef RITZ_KERNELS_GPU_BATCHED_SUMS_H
#define RITZ_KERNELS_GPU_BATCHED_SUMS_H

#include "kernels/gpu/batched.h"

// Bits of the options.
#define RITZ_TRANSPOSED_Q 64  // ORMQR: Q^T; GELS: A^T
#define RITZ_RIGHT_Q      128 // ORMQR: from the right
#define RITZ_UPPER        256 // SYEVJ: that triangle is read
#define RITZ_VALUES       512 // SYEVJ, GESVDJ: without vectors

#define RITZ_BLOCK_KERNEL RITZ_KERNEL_RESIDENT(RITZ_THREADS, 512 / RITZ_THREADS) // 128 registers a thread
// Where all threads wait for each other. Processors that play a device have one thread a matrix: compilers
// take half a minute for the barriers of rotations.
#if RITZ_THREADS > 1
#define RITZ_MEET() RITZ_STEP()
#else
#define RITZ_MEET() ((void)0)
#endif
#define RITZ_EACH(i, first, end) for (int i = (first) + RITZ_THREAD; i < (end); i += RITZ_THREADS)
// Entries e of a matrix with so many rows, as `row` and `col`, column after column.
#define RITZ_EACH_ENTRY(e, rows, cols)                                                                       \
  for (RitzLong e = RITZ_THREAD; e < (RitzLong)(rows) * (cols); e += RITZ_THREADS)

// Sizes as RITZ_SIZES; orthonormal columns are not more than rows: else a bad n.
#define RITZ_TALL_SIZES(i, m, n, k) ritz_refuse_wide(RITZ_SIZES(i, m, n, k), &(m), &(n), &(k))
RITZ_INLINE int ritz_refuse_wide(int bad, int *m, int *n, int *k) {
  if (bad || *n <= *m) return bad;
  *m = *n = *k = 0;
  return -1002;
}

// ---- Matrices ----

#ifdef RITZ_HOLD
#define RITZ_PLACE RITZ_SHARED
typedef int RitzStep;
#else
#define RITZ_PLACE RITZ_GLOBAL
typedef RitzLong RitzStep;
#endif

// A matrix where it is worked on: entry (r, c) at p[r rs + c cs].
typedef struct {
  RITZ_PLACE RitzEntry *p;
  RitzStep rs, cs;
} RitzView;

// Columns of m entries in shared memory: in different banks.
#define RITZ_LD_HELD(m) ((m) | 1)

RITZ_INLINE RitzView ritz_view(RITZ_PLACE RitzEntry *p, RitzStep rs, RitzStep cs) {
  RitzView V;
  V.p = p;
  V.rs = rs;
  V.cs = cs;
  return V;
}

RITZ_INLINE RitzView ritz_turn(RitzView V, int is_turned) {
  return is_turned ? ritz_view(V.p, V.cs, V.rs) : V;
}

// M m x n for work: itself, or what `held` holds of it from now on.
#ifdef RITZ_HOLD
#define RITZ_MEMORY                                                                                          \
  RITZ_SHARED_MEMORY(shared_bytes, RITZ_SHARED_BYTES / sizeof(RitzReal));                                    \
  RITZ_SHARED RitzEntry *held = (RITZ_SHARED RitzEntry *)shared_bytes
#define RITZ_TAKE(M, offset, m, n) ritz_take(held + (offset), M, m, n)
RITZ_INLINE RitzView ritz_take(RITZ_SHARED RitzEntry *held, RitzMatrix M, int m, int n) {
  const RitzView V = ritz_view(held, 1, RITZ_LD_HELD(m));
  RITZ_EACH_ENTRY(e, m, n) {
    const int row = (int)(e % m), col = (int)(e / m);
    RITZ_AT(V, row, col) = RITZ_AT(M, row, col);
  }
  RITZ_MEET();
  return V;
}
#else
#define RITZ_MEMORY
#define RITZ_TAKE(M, offset, m, n) ritz_view((M).p, (M).rs, (M).cs)
#endif

// Back to memory, where it is not there.
RITZ_INLINE void ritz_give(RitzMatrix M, RitzView V, int m, int n) {
#ifdef RITZ_HOLD
  RITZ_EACH_ENTRY(e, m, n) {
    const int row = (int)(e % m), col = (int)(e / m);
    RITZ_AT(M, row, col) = RITZ_AT(V, row, col);
  }
  RITZ_MEET();
#endif
}

// ---- Sums and maxima ----

RITZ_INLINE RitzEntry ritz_join(int is_sum, RitzEntry x, RitzEntry y) {
  return is_sum ? x + y : y > x ? y : x;
}

#if RITZ_THREADS == 1

#define ritz_join_all(is_sum, x, parts)   (x)
#define ritz_join_parts(is_sum, x, parts) (x)

#elif defined(__OPENCL_VERSION__)

// Over all threads, of numbers that are not NaN where it is the maximum; same bits in all of them.
RITZ_INLINE RitzEntry ritz_join_all(int is_sum, RitzEntry x, RITZ_SHARED RitzEntry *parts) {
  parts[RITZ_THREAD] = x;
  RITZ_MEET();
  x = parts[0];
  for (int i = 1; i < RITZ_THREADS; i++) x = ritz_join(is_sum, x, parts[i]);
  RITZ_MEET();
  return x;
}

// Over each RITZ_PARTS threads that follow each other.
RITZ_INLINE RitzEntry ritz_join_parts(int is_sum, RitzEntry x, RITZ_SHARED RitzEntry *parts) {
  const int first = RITZ_THREAD / RITZ_PARTS * RITZ_PARTS;
  parts[RITZ_THREAD] = x;
  RITZ_MEET();
  x = parts[first];
  for (int i = 1; i < RITZ_PARTS; i++) x = ritz_join(is_sum, x, parts[first + i]);
  RITZ_MEET();
  return x;
}

#else

RITZ_INLINE RitzEntry ritz_join_parts(int is_sum, RitzEntry x, RITZ_SHARED RitzEntry *parts) {
  (void)parts;
  RITZ_UNROLL
  for (int span = RITZ_PARTS / 2; span > 0; span /= 2)
    x = ritz_join(is_sum, x, __shfl_xor_sync(0xffffffffu, x, span));
  return x;
}

RITZ_INLINE RitzEntry ritz_join_all(int is_sum, RitzEntry x, RITZ_SHARED RitzEntry *parts) {
  RITZ_UNROLL
  for (int span = 16; span > 0; span /= 2) x = ritz_join(is_sum, x, __shfl_xor_sync(0xffffffffu, x, span));
#if RITZ_THREADS > 32
  if (RITZ_THREAD % 32 == 0) parts[RITZ_THREAD / 32] = x;
  RITZ_MEET();
  x = parts[0];
  RITZ_UNROLL
  for (int warp = 1; warp < RITZ_THREADS / 32; warp++) x = ritz_join(is_sum, x, parts[warp]);
  RITZ_MEET();
#else
  (void)parts;
#endif
  return x;
}

#endif

#define RITZ_MAX_ALL(x, parts)   ritz_join_all(0, x, parts)
#define RITZ_SUM_ALL(x, parts)   ritz_join_all(1, x, parts)
#define RITZ_MAX_PARTS(x, parts) ritz_join_parts(0, x, parts)
#define RITZ_SUM_PARTS(x, parts) ritz_join_parts(1, x, parts)

#endif
