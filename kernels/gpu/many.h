// SPDX-License-Identifier: BSD-2-Clause
// Kernels that take several vectors at once: what the text calls an element is one with a set of
// RITZ_TOGETHER of the vectors, number e * RITZ_SETS + s. So the threads of a block have an element with some
// sets, or neighbours, and read what these have in common at the same time; a thread reads it once for its
// set. Included ahead of the kernel.
#ifndef RITZ_KERNELS_GPU_MANY_H
#define RITZ_KERNELS_GPU_MANY_H

// The element itself; the number of vector k of its set, which there may be no vector of, and the L-vector
// `a` (of a_0 .. a_7) of that. The host sees to it that 32 bits do.
#define RITZ_SETS             (((unsigned)num_vectors + RITZ_TOGETHER - 1) / RITZ_TOGETHER)
#define RITZ_OWN(e)           ((RitzLong)((unsigned)(e) / RITZ_SETS))
#define RITZ_WHICH(e, k)      ((unsigned)(e) % RITZ_SETS * RITZ_TOGETHER + (k))
#define RITZ_HAS_VECTOR(e, k) (RITZ_WHICH(e, k) < (unsigned)num_vectors)
#define RITZ_VECTOR(a, e, k)  RITZ_CHOOSE(a, RITZ_WHICH(e, k))
#define RITZ_CHOOSE(a, v)                                                                                    \
  ((v)&4 ? ((v)&2 ? ((v)&1 ? a##_7 : a##_6) : ((v)&1 ? a##_5 : a##_4))                                       \
         : ((v)&2 ? ((v)&1 ? a##_3 : a##_2) : ((v)&1 ? a##_1 : a##_0)))

#endif
