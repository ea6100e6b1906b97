// SPDX-License-Identifier: BSD-2-Clause
// A thread takes a whole element (emit/gpu-element.c): nodes and sums in registers, [component][node],
// directions contracted from the last to the first. Comes after kernels/gpu/lines.h and kernels/gpu/fields.h.
// Threads side by side have elements side by side: they gather and add at entries side by side. Data at
// points come in through the memory of the block, in which elements are RITZ_ELEM, an odd number, apart.
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
// Those that are not there have first = -1 and last = -2. OpenCL C 1.2 has no such exchange. takes: the
// thread before hands on to this one; gives: this one hands on.
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

RITZ_INLINE CeedScalar ritz_of_thread_before(CeedScalar x) {
#ifdef __OPENCL_VERSION__
  return x;
#else
  return __shfl_up_sync(0xffffffffu, x, 1);
#endif
}

// ---- Data at points ----

// `rest` elements are left, the block takes RITZ_ELEMENTS of them, n points each, contiguous in every
// component. The last one is repeated in place of those that are not there: the point function is called for
// them, too.
RITZ_INLINE void ritz_copy_points(int num_comp, int n, RitzLong rest, RITZ_GLOBAL const CeedScalar *x,
                                  RitzLong comp_stride, RITZ_LOCAL CeedScalar *m) {
  const int num = rest < RITZ_ELEMENTS ? (int)rest * n : RITZ_ELEMENTS * n;
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    const int i = k * RITZ_THREADS + RITZ_THREAD, from = i < num ? i : num - n + i % n;
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++)
      RITZ_COPY(m + c * RITZ_ARRAY + i + i / n * (RITZ_ELEM - n), x + c * comp_stride + from);
  }
}

// The way back: added to what is there.
RITZ_INLINE void ritz_add_points(int num_comp, int n, RitzLong rest, RITZ_GLOBAL CeedScalar *y,
                                 RitzLong comp_stride, RITZ_LOCAL const CeedScalar *m) {
  const int num = rest < RITZ_ELEMENTS ? (int)rest * n : RITZ_ELEMENTS * n;
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    const int i = k * RITZ_THREADS + RITZ_THREAD;
    if (i < num) {
      RITZ_UNROLL
      for (int c = 0; c < num_comp; c++)
        y[c * comp_stride + i] += m[c * RITZ_ARRAY + i + i / n * (RITZ_ELEM - n)];
    }
  }
}

// ---- Directions ----

// to[c][k] = sum over l of row[l] from[c][l][k], k < size
RITZ_INLINE void ritz_contract(int num_comp, int n, int size, RITZ_IN_CONSTANT const CeedScalar *row,
                               const CeedScalar *from, CeedScalar *to) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_UNROLL
    for (int k = 0; k < size; k++) {
      CeedScalar sum = row[0] * from[c * n * size + k];
      RITZ_UNROLL
      for (int l = 1; l < n; l++) sum += row[l] * from[(c * n + l) * size + k];
      to[c * size + k] = sum;
    }
  }
}

// Its transpose, added.
RITZ_INLINE void ritz_expand(int num_comp, int n, int size, RITZ_IN_CONSTANT const CeedScalar *row,
                             const CeedScalar *from, CeedScalar *to) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_UNROLL
    for (int l = 0; l < n; l++) {
      RITZ_UNROLL
      for (int k = 0; k < size; k++) to[(c * n + l) * size + k] += row[l] * from[c * size + k];
    }
  }
}

// The same where nodes are points: the row is that of the identity, 1 at `place`.
RITZ_INLINE void ritz_contract_unit(int num_comp, int n, int size, int place, const CeedScalar *from,
                                    CeedScalar *to) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_UNROLL
    for (int k = 0; k < size; k++) to[c * size + k] = from[(c * n + place) * size + k];
  }
}

RITZ_INLINE void ritz_expand_unit(int num_comp, int n, int size, int place, const CeedScalar *from,
                                  CeedScalar *to) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_UNROLL
    for (int k = 0; k < size; k++) to[(c * n + place) * size + k] += from[c * size + k];
  }
}

// ---- Nodes ----

// All `size` nodes of an element; offsets of rows of `row` nodes, `step` apart (1, 0: of nodes).
RITZ_INLINE void ritz_gather_element(int num_comp, int size, int row, int step,
                                     RITZ_GLOBAL const CeedScalar *x, const CeedInt *offsets,
                                     RitzLong comp_stride, CeedScalar *nodes) {
  RITZ_UNROLL
  for (int k = 0; k < size; k++) {
    RITZ_GLOBAL const CeedScalar *node = x + offsets[k / row] + k % row * step;
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) nodes[c * size + k] = RITZ_LOAD(node + c * comp_stride);
  }
}

RITZ_INLINE void ritz_scatter_element(int num_comp, int size, int row, int step, const CeedScalar *nodes,
                                      const CeedInt *offsets, RitzLong comp_stride,
                                      RITZ_GLOBAL CeedScalar *y) {
  RITZ_UNROLL
  for (int k = 0; k < size; k++) {
    RITZ_GLOBAL CeedScalar *node = y + offsets[k / row] + k % row * step;
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) ritz_atomic_add(node + c * comp_stride, nodes[c * size + k]);
  }
}

// The same for elements in a row, whose neighbours share the nodes at the ends of lines of `n` nodes: all
// threads of the block call it, of which those with `is_on` add.
RITZ_INLINE void ritz_scatter_joined(int num_comp, int size, int n, int row, int step, int is_on,
                                     const CeedScalar *nodes, const CeedInt *offsets, RitzLong comp_stride,
                                     RITZ_GLOBAL CeedScalar *y) {
  RITZ_UNROLL
  for (int j = 0; j < size; j += n) {
    const CeedInt first = offsets[j / row], last = offsets[(j + n - 1) / row] + (j + n - 1) % row * step;
    int takes, gives;
    ritz_join_neighbours(is_on ? first : -1, is_on ? last : -2, &takes, &gives);
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) {
      const CeedScalar before = ritz_of_thread_before(nodes[c * size + j + n - 1]);
      RITZ_UNROLL
      for (int k = j; k < j + n; k++) {
        const CeedScalar value = nodes[c * size + k] + (k == j && takes ? before : 0);
        if (is_on && !(k == j + n - 1 && gives))
          ritz_atomic_add(y + offsets[k / row] + k % row * step + c * comp_stride, value);
      }
    }
  }
}

// Components side by side in the L-vector: nodes go through the memory of the block,
// m[node][element][component].
RITZ_INLINE void ritz_stage_element(int num_comp, int size, const CeedScalar *nodes,
                                    RITZ_LOCAL CeedScalar *m) {
  RITZ_UNROLL
  for (int k = 0; k < size; k++) {
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++)
      m[(k * RITZ_ELEMENTS + RITZ_THREAD) * num_comp + c] = nodes[c * size + k];
  }
}

// Offsets begin at the block's first element, of `rest` that are left.
RITZ_INLINE void ritz_scatter_elements(int num_comp, int size, int row, int step, RitzLong rest,
                                       RITZ_LOCAL const CeedScalar *m, RITZ_GLOBAL const CeedInt *offsets,
                                       RITZ_GLOBAL CeedScalar *y) {
  RITZ_UNROLL
  for (int j = 0; j < num_comp; j++) {
    const int i = j * RITZ_THREADS + RITZ_THREAD, e = i / num_comp, c = i - e * num_comp;
    if (e < rest) {
      RITZ_UNROLL
      for (int k = 0; k < size; k++) {
        const CeedInt offset = RITZ_LOAD(offsets + (e * size + k) / row) + k % row * step;
        ritz_atomic_add(y + offset + c, m[k * RITZ_ELEMENTS * num_comp + i]);
      }
    }
  }
}

#endif
