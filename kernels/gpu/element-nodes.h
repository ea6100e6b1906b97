// SPDX-License-Identifier: BSD-2-Clause
// Whole elements between L-vectors of one precision and registers, data at points through the memory of the
// block, in which elements are RITZ_ELEM, an odd number, apart. Included as kernels/gpu/nodes.h, which says
// what is defined before: by kernels/gpu/element.h, and by the text.

// ---- Data at points ----

// `rest` elements are left, the block takes RITZ_ELEMENTS of them, n points each, contiguous in every
// component. The last one is repeated in place of those that are not there: the QFunction is called for
// them, too.
RITZ_INLINE void RITZ_NAME(ritz_copy_points)(int num_comp, int n, RitzLong rest,
                                             RITZ_GLOBAL const RITZ_ENTRY *x, RitzLong comp_stride,
                                             RITZ_SHARED RitzReal *m) {
  const int num = rest < RITZ_ELEMENTS ? (int)rest * n : RITZ_ELEMENTS * n;
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    const int i = k * RITZ_THREADS + RITZ_THREAD, from = i < num ? i : num - n + i % n;
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++)
      RITZ_BRING(m + c * RITZ_ARRAY + i + i / n * (RITZ_ELEM - n), x + c * comp_stride + from);
  }
}

// The way back: added to what is there.
RITZ_INLINE void RITZ_NAME(ritz_add_points)(int num_comp, int n, RitzLong rest, RITZ_GLOBAL RITZ_ENTRY *y,
                                            RitzLong comp_stride, RITZ_SHARED const RitzReal *m) {
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

// ---- Nodes ----

// All `size` nodes of an element; offsets of rows of `row` nodes, `step` apart (1, 0: of nodes).
RITZ_INLINE void RITZ_NAME(ritz_gather_element)(int num_comp, int size, int row, int step,
                                                RITZ_GLOBAL const RITZ_ENTRY *x, const CeedInt *offsets,
                                                RitzLong comp_stride, RitzReal *nodes) {
  RITZ_UNROLL
  for (int k = 0; k < size; k++) {
    RITZ_GLOBAL const RITZ_ENTRY *node = x + offsets[k / row] + k % row * step;
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) nodes[c * size + k] = (RitzReal)RITZ_LOAD(node + c * comp_stride);
  }
}

RITZ_INLINE void RITZ_NAME(ritz_scatter_element)(int num_comp, int size, int row, int step,
                                                 const RitzReal *nodes, const CeedInt *offsets,
                                                 RitzLong comp_stride, RITZ_GLOBAL RITZ_ENTRY *y) {
  RITZ_UNROLL
  for (int k = 0; k < size; k++) {
    RITZ_GLOBAL RITZ_ENTRY *node = y + offsets[k / row] + k % row * step;
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++)
      RITZ_NAME(ritz_atomic_add)(node + c * comp_stride, nodes[c * size + k]);
  }
}

// Scatters elements in a row, whose neighbours share the nodes at the ends of lines of `n` nodes: all threads
// of the block call it, of which those with `is_on` add.
RITZ_INLINE void RITZ_NAME(ritz_scatter_joined)(int num_comp, int size, int n, int row, int step, int is_on,
                                                const RitzReal *nodes, const CeedInt *offsets,
                                                RitzLong comp_stride, RITZ_GLOBAL RITZ_ENTRY *y) {
  RITZ_UNROLL
  for (int j = 0; j < size; j += n) {
    const CeedInt first = offsets[j / row], last = offsets[(j + n - 1) / row] + (j + n - 1) % row * step;
    int takes, gives;
    ritz_join_neighbours(is_on ? first : -1, is_on ? last : -2, &takes, &gives);
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) {
      const RitzReal before = ritz_of_thread_before(nodes[c * size + j + n - 1]);
      RITZ_UNROLL
      for (int k = j; k < j + n; k++) {
        const RitzReal value = nodes[c * size + k] + (k == j && takes ? before : 0);
        if (is_on && !(k == j + n - 1 && gives))
          RITZ_NAME(ritz_atomic_add)(y + offsets[k / row] + k % row * step + c * comp_stride, value);
      }
    }
  }
}

// Offsets begin at the block's first element, of `rest` that are left.
RITZ_INLINE void RITZ_NAME(ritz_scatter_elements)(int num_comp, int size, int row, int step, RitzLong rest,
                                                  RITZ_SHARED const RitzReal *m,
                                                  RITZ_GLOBAL const CeedInt *offsets,
                                                  RITZ_GLOBAL RITZ_ENTRY *y) {
  RITZ_UNROLL
  for (int j = 0; j < num_comp; j++) {
    const int i = j * RITZ_THREADS + RITZ_THREAD, e = i / num_comp, c = i - e * num_comp;
    if (e < rest) {
      RITZ_UNROLL
      for (int k = 0; k < size; k++) {
        const CeedInt offset = RITZ_LOAD(offsets + (e * size + k) / row) + k % row * step;
        RITZ_NAME(ritz_atomic_add)(y + offset + c, m[k * RITZ_ELEMENTS * num_comp + i]);
      }
    }
  }
}
