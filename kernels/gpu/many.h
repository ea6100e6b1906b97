// SPDX-License-Identifier: BSD-2-Clause
// Kernels that take several vectors at once: what the text calls an element is one with one of the vectors,
// number e * num_vectors + k. So the threads of a block have an element with some vectors, or neighbours, and
// read what these have in common at the same time. Included ahead of the kernel.
#ifndef RITZ_KERNELS_GPU_MANY_H
#define RITZ_KERNELS_GPU_MANY_H

// The element itself; the L-vector `a` (of a_0 .. a_7) of its vector. The host sees to it that 32 bits do.
#define RITZ_OWN(e)   ((RitzLong)((unsigned)(e) / (unsigned)num_vectors))
#define RITZ_WHICH(e) ((unsigned)(e) % (unsigned)num_vectors)
#define RITZ_VECTOR(a, e)                                                                                    \
  (RITZ_WHICH(e) & 4                                                                                         \
       ? (RITZ_WHICH(e) & 2 ? (RITZ_WHICH(e) & 1 ? a##_7 : a##_6) : (RITZ_WHICH(e) & 1 ? a##_5 : a##_4))     \
       : (RITZ_WHICH(e) & 2 ? (RITZ_WHICH(e) & 1 ? a##_3 : a##_2) : (RITZ_WHICH(e) & 1 ? a##_1 : a##_0)))

#endif
