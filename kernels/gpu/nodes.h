// SPDX-License-Identifier: BSD-2-Clause
// Lines of nodes between L-vectors of one precision and registers. Included for each precision of a kernel's
// L-vectors: by kernels/gpu/fields.h for RitzReal, by the text (emit/gpu-tables.c) for the other. Entries are
// converted on the way. Defined before:
//
//   RITZ_ENTRY            entries of the L-vectors
//   RITZ_NAME(name)         the function's name for such entries
//   RITZ_BRING(to, from)  an entry into shared memory; it is there after RITZ_COPIED()
//
// Arrays, offsets and orientations begin at the first node of the thread's line; `step` is from node to node.
// Strides are those of the L-vector. Registers hold [component][node].

// ---- Nodes into registers ----

RITZ_INLINE void RITZ_NAME(ritz_gather)(int num_comp, int n, int step, RITZ_GLOBAL const RITZ_ENTRY *x,
                                        RITZ_GLOBAL const CeedInt *offsets, RitzLong comp_stride,
                                        RitzReal *nodes) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_GLOBAL const RITZ_ENTRY *node = x + RITZ_LOAD(offsets + k * step);
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) nodes[c * n + k] = (RitzReal)RITZ_LOAD(node + c * comp_stride);
  }
}

RITZ_INLINE void RITZ_NAME(ritz_gather_oriented)(int num_comp, int n, int step,
                                                 RITZ_GLOBAL const RITZ_ENTRY *x,
                                                 RITZ_GLOBAL const CeedInt *offsets,
                                                 RITZ_GLOBAL const CeedInt8 *orients, RitzLong comp_stride,
                                                 RitzReal *nodes) {
  RITZ_NAME(ritz_gather)(num_comp, n, step, x, offsets, comp_stride, nodes);
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++)
      nodes[c * n + k] = orients[k * step] ? -nodes[c * n + k] : nodes[c * n + k];
  }
}

// Rows of the tridiagonal matrix of an element with `size` nodes; the line begins at node `first`.
RITZ_INLINE void RITZ_NAME(ritz_gather_curl_oriented)(int num_comp, int n, int step, int first, int size,
                                                      RITZ_GLOBAL const RITZ_ENTRY *x,
                                                      RITZ_GLOBAL const CeedInt *offsets,
                                                      RITZ_GLOBAL const CeedInt8 *rows, RitzLong comp_stride,
                                                      RitzReal *nodes) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_GLOBAL const CeedInt *offset = offsets + k * step;
    RITZ_GLOBAL const CeedInt8 *row = rows + 3 * k * step;
    const int i = first + k * step;
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) {
      RitzReal sum = row[1] * (RitzReal)x[offset[0] + c * comp_stride];
      if (i > 0) sum += row[0] * (RitzReal)x[offset[-1] + c * comp_stride];
      if (i < size - 1) sum += row[2] * (RitzReal)x[offset[1] + c * comp_stride];
      nodes[c * n + k] = sum;
    }
  }
}

RITZ_INLINE void RITZ_NAME(ritz_gather_strided)(int num_comp, int n, RitzLong step,
                                                RITZ_GLOBAL const RITZ_ENTRY *x, RitzLong comp_stride,
                                                RitzReal *nodes) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) nodes[c * n + k] = (RitzReal)RITZ_LOAD(x + k * step + c * comp_stride);
  }
}

// ---- Registers added to nodes ----

RITZ_INLINE void RITZ_NAME(ritz_scatter)(int num_comp, int n, int step, const RitzReal *nodes,
                                         RITZ_GLOBAL const CeedInt *offsets, RitzLong comp_stride,
                                         RITZ_GLOBAL RITZ_ENTRY *y) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_GLOBAL RITZ_ENTRY *node = y + RITZ_LOAD(offsets + k * step);
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) RITZ_NAME(ritz_atomic_add)(node + c * comp_stride, nodes[c * n + k]);
  }
}

// One node, whose offset is known.
RITZ_INLINE void RITZ_NAME(ritz_scatter_node)(int num_comp, const RitzReal *node, CeedInt offset,
                                              RitzLong comp_stride, RITZ_GLOBAL RITZ_ENTRY *y) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) RITZ_NAME(ritz_atomic_add)(y + offset + c * comp_stride, node[c]);
}

RITZ_INLINE void RITZ_NAME(ritz_scatter_oriented)(int num_comp, int n, int step, const RitzReal *nodes,
                                                  RITZ_GLOBAL const CeedInt *offsets,
                                                  RITZ_GLOBAL const CeedInt8 *orients, RitzLong comp_stride,
                                                  RITZ_GLOBAL RITZ_ENTRY *y) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_GLOBAL RITZ_ENTRY *node = y + RITZ_LOAD(offsets + k * step);
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) RITZ_NAME(ritz_atomic_add)
    (node + c * comp_stride, orients[k * step] ? -nodes[c * n + k] : nodes[c * n + k]);
  }
}

RITZ_INLINE void RITZ_NAME(ritz_scatter_curl_oriented)(int num_comp, int n, int step, int first, int size,
                                                       const RitzReal *nodes,
                                                       RITZ_GLOBAL const CeedInt *offsets,
                                                       RITZ_GLOBAL const CeedInt8 *rows, RitzLong comp_stride,
                                                       RITZ_GLOBAL RITZ_ENTRY *y) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_GLOBAL const CeedInt *offset = offsets + k * step;
    RITZ_GLOBAL const CeedInt8 *row = rows + 3 * k * step;
    const int i = first + k * step;
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) {
      const RitzReal value = nodes[c * n + k];
      RITZ_NAME(ritz_atomic_add)(y + offset[0] + c * comp_stride, row[1] * value);
      if (i > 0 && row[0]) RITZ_NAME(ritz_atomic_add)(y + offset[-1] + c * comp_stride, row[0] * value);
      if (i < size - 1 && row[2]) RITZ_NAME(ritz_atomic_add)(y + offset[1] + c * comp_stride, row[2] * value);
    }
  }
}

RITZ_INLINE void RITZ_NAME(ritz_scatter_strided)(int num_comp, int n, RitzLong step, const RitzReal *nodes,
                                                 RitzLong comp_stride, RITZ_GLOBAL RITZ_ENTRY *y) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++)
      RITZ_NAME(ritz_atomic_add)(y + k * step + c * comp_stride, nodes[c * n + k]);
  }
}

// All nodes of the block's elements, of which `rest` are left in the mesh: those of an element have `size`
// nodes a direction, component by component in arrays of the block. Offsets are of rows of `row` nodes,
// `step` apart (1, 0: of nodes). Threads side by side add to entries side by side.
RITZ_INLINE void RITZ_NAME(ritz_scatter_staged)(int num_comp, int dim, int size, RitzLong rest,
                                                RITZ_SHARED const RitzReal *m, int row, int step,
                                                RITZ_GLOBAL const CeedInt *offsets,
                                                RITZ_GLOBAL RITZ_ENTRY *y) {
  const int num_nodes = dim == 3 ? size * size * size : size * size;
  const int num_elem = rest < RITZ_ELEMENTS ? (int)rest : RITZ_ELEMENTS;
  for (int i = RITZ_THREAD; i < num_elem * num_nodes * num_comp; i += RITZ_THREADS) {
    const int node = i / num_comp, c = i - node * num_comp, e = node / num_nodes, line = node / size;
    const int place =
        node - line * size + line % size * RITZ_ROW + line / size % size * RITZ_PLANE * (dim == 3);
    RITZ_NAME(ritz_atomic_add)
    (y + RITZ_LOAD(offsets + node / row) + node % row * step + c, m[c * RITZ_ARRAY + e * RITZ_ELEM + place]);
  }
}

// Into an E-vector, or an L-vector in which every node has an entry of its own: adds 0 or 1.
RITZ_INLINE void RITZ_NAME(ritz_store)(int num_comp, int n, RitzLong step, const RitzReal *nodes,
                                       RitzLong comp_stride, int adds, RITZ_GLOBAL RITZ_ENTRY *y) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) {
      RITZ_GLOBAL RITZ_ENTRY *entry = y + k * step + c * comp_stride;
      *entry = adds ? *entry + nodes[c * n + k] : nodes[c * n + k];
    }
  }
}
