// SPDX-License-Identifier: BSD-2-Clause
// A thread takes a whole element (emit/gpu-element.c): nodes and sums in registers, [component][node],
// directions contracted from the last to the first. Comes after kernels/gpu/lines.h and kernels/gpu/fields.h.
// Threads side by side have elements side by side: they gather and add at entries side by side. Data at
// points come in through shared memory (kernels/gpu/element-nodes.h).
#ifndef RITZ_KERNELS_GPU_ELEMENT_H
#define RITZ_KERNELS_GPU_ELEMENT_H

// ---- What CUDA and OpenCL write differently ----

// n offsets that no thread writes, 16 bytes at a time where they lie so.
RITZ_INLINE void ritz_load_offsets(int n, RITZ_GLOBAL const CeedInt *from, CeedInt *offsets) {
#ifndef __OPENCL_VERSION__
  if (n % 4 == 0 && ((uint64_t)from & 15) == 0) {
    RITZ_UNROLL
    for (int i = 0; i < n / 4; i++) {
      const int4 four = __ldg((const int4 *)from + i);
      offsets[4 * i] = four.x;
      offsets[4 * i + 1] = four.y;
      offsets[4 * i + 2] = four.z;
      offsets[4 * i + 3] = four.w;
    }
    return;
  }
#endif
  RITZ_UNROLL
  for (int i = 0; i < n; i++) offsets[i] = RITZ_LOAD(from + i);
}

// Sums of neighbours: thread l of a warp whose `last` equals `first` of thread l + 1 hands its value on.
// Threads without an element have first = -1, last = -2. takes: the previous thread passes its last node to
// this one; gives: this one passes its own. Neither in OpenCL C 1.2, which has no shuffles.
RITZ_INLINE void ritz_join_neighbours(CeedInt first, CeedInt last, int *takes, int *gives) {
#ifdef __OPENCL_VERSION__
  (void)first, (void)last;
  *takes = *gives = 0;
#else
  const unsigned lane = (unsigned)RITZ_THREAD & 31u;
  const CeedInt before = __shfl_up_sync(0xffffffffu, last, 1);
  *takes = lane > 0 && before == first;
  *gives = (int)((__ballot_sync(0xffffffffu, *takes) >> lane) >> 1 & 1u);
#endif
}

RITZ_INLINE RitzReal ritz_of_thread_before(RitzReal x) {
#ifdef __OPENCL_VERSION__
  return x;
#else
  return __shfl_up_sync(0xffffffffu, x, 1);
#endif
}

// ---- Directions ----

// to[c][k] = sum over l of row[l] from[c][l][k], k < size
RITZ_INLINE void ritz_contract(int num_comp, int n, int size, RITZ_IN_CONSTANT const RitzReal *row,
                               const RitzReal *from, RitzReal *to) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_UNROLL
    for (int k = 0; k < size; k++) {
      RitzReal sum = row[0] * from[c * n * size + k];
      RITZ_UNROLL
      for (int l = 1; l < n; l++) sum += row[l] * from[(c * n + l) * size + k];
      to[c * size + k] = sum;
    }
  }
}

// Its transpose, added.
RITZ_INLINE void ritz_expand(int num_comp, int n, int size, RITZ_IN_CONSTANT const RitzReal *row,
                             const RitzReal *from, RitzReal *to) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_UNROLL
    for (int l = 0; l < n; l++) {
      RITZ_UNROLL
      for (int k = 0; k < size; k++) to[(c * n + l) * size + k] += row[l] * from[c * size + k];
    }
  }
}

// Contracts where nodes are points: the row is that of the identity, 1 at `place`.
RITZ_INLINE void ritz_contract_unit(int num_comp, int n, int size, int place, const RitzReal *from,
                                    RitzReal *to) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_UNROLL
    for (int k = 0; k < size; k++) to[c * size + k] = from[(c * n + place) * size + k];
  }
}

RITZ_INLINE void ritz_expand_unit(int num_comp, int n, int size, int place, const RitzReal *from,
                                  RitzReal *to) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_UNROLL
    for (int k = 0; k < size; k++) to[(c * n + place) * size + k] += from[c * size + k];
  }
}

// ---- Nodes ----

// Components side by side in the L-vector: nodes go through shared memory,
// m[node][element][component].
RITZ_INLINE void ritz_stage_element(int num_comp, int size, const RitzReal *nodes, RITZ_SHARED RitzReal *m) {
  RITZ_UNROLL
  for (int k = 0; k < size; k++) {
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++)
      m[(k * RITZ_ELEMENTS + RITZ_THREAD) * num_comp + c] = nodes[c * size + k];
  }
}

// ---- L-vectors of RitzReal ----

#define RITZ_ENTRY           RitzReal
#define RITZ_NAME(name)      name
#define RITZ_BRING(to, from) RITZ_COPY(to, from)
#include "kernels/gpu/element-nodes.h"
#undef RITZ_ENTRY
#undef RITZ_NAME
#undef RITZ_BRING

#endif
