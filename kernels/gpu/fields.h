// SPDX-License-Identifier: BSD-2-Clause
// L-vectors of fused kernels: lines of nodes between them and registers, and the arguments of the point
// function. The text in front (emit/gpu.c) defines RITZ_ELEMENTS, RITZ_THREADS, RITZ_ROW, RITZ_PLANE,
// RITZ_ELEM and RITZ_ARRAY, the distances in arrays (plan/lines.h).
//
// Arrays, offsets and orientations begin at the first node of the thread's line; `step` is from node to node.
// Strides are those of the L-vector. Registers hold [component][node].
#ifndef RITZ_KERNELS_GPU_FIELDS_H
#define RITZ_KERNELS_GPU_FIELDS_H

// ---- Into the memory of the block ----

// RITZ_COPY copies a scalar into the memory of the block behind the thread's back; after RITZ_COPIED() it is
// there.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define RITZ_COPY(to, from)                                                                                  \
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),    \
               "l"(from), "n"(sizeof(CeedScalar))                                                            \
               : "memory")
#define RITZ_COPIED() asm volatile("cp.async.wait_all;" ::: "memory")
#else
#define RITZ_COPY(to, from) (*(to) = RITZ_LOAD_ONCE(from))
#define RITZ_COPIED()       ((void)0)
#endif

// ---- Nodes into registers ----

RITZ_INLINE void ritz_gather(int num_comp, int n, int step, RITZ_GLOBAL const CeedScalar *x,
                             RITZ_GLOBAL const CeedInt *offsets, RitzLong comp_stride, CeedScalar *nodes) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_GLOBAL const CeedScalar *node = x + RITZ_LOAD(offsets + k * step);
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) nodes[c * n + k] = RITZ_LOAD(node + c * comp_stride);
  }
}

RITZ_INLINE void ritz_gather_oriented(int num_comp, int n, int step, RITZ_GLOBAL const CeedScalar *x,
                                      RITZ_GLOBAL const CeedInt *offsets, RITZ_GLOBAL const CeedInt8 *orients,
                                      RitzLong comp_stride, CeedScalar *nodes) {
  ritz_gather(num_comp, n, step, x, offsets, comp_stride, nodes);
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++)
      nodes[c * n + k] = orients[k * step] ? -nodes[c * n + k] : nodes[c * n + k];
  }
}

// Rows of the tridiagonal matrix of an element with `size` nodes; the line begins at node `first`.
RITZ_INLINE void ritz_gather_curl_oriented(int num_comp, int n, int step, int first, int size,
                                           RITZ_GLOBAL const CeedScalar *x,
                                           RITZ_GLOBAL const CeedInt *offsets,
                                           RITZ_GLOBAL const CeedInt8 *rows, RitzLong comp_stride,
                                           CeedScalar *nodes) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_GLOBAL const CeedInt *offset = offsets + k * step;
    RITZ_GLOBAL const CeedInt8 *row = rows + 3 * k * step;
    const int i = first + k * step;
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) {
      CeedScalar sum = row[1] * x[offset[0] + c * comp_stride];
      if (i > 0) sum += row[0] * x[offset[-1] + c * comp_stride];
      if (i < size - 1) sum += row[2] * x[offset[1] + c * comp_stride];
      nodes[c * n + k] = sum;
    }
  }
}

RITZ_INLINE void ritz_gather_strided(int num_comp, int n, RitzLong step, RITZ_GLOBAL const CeedScalar *x,
                                     RitzLong comp_stride, CeedScalar *nodes) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) nodes[c * n + k] = RITZ_LOAD(x + k * step + c * comp_stride);
  }
}

// ---- Registers added to nodes ----

RITZ_INLINE void ritz_scatter(int num_comp, int n, int step, const CeedScalar *nodes,
                              RITZ_GLOBAL const CeedInt *offsets, RitzLong comp_stride,
                              RITZ_GLOBAL CeedScalar *y) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_GLOBAL CeedScalar *node = y + RITZ_LOAD(offsets + k * step);
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) ritz_atomic_add(node + c * comp_stride, nodes[c * n + k]);
  }
}

RITZ_INLINE void ritz_scatter_oriented(int num_comp, int n, int step, const CeedScalar *nodes,
                                       RITZ_GLOBAL const CeedInt *offsets,
                                       RITZ_GLOBAL const CeedInt8 *orients, RitzLong comp_stride,
                                       RITZ_GLOBAL CeedScalar *y) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_GLOBAL CeedScalar *node = y + RITZ_LOAD(offsets + k * step);
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++)
      ritz_atomic_add(node + c * comp_stride, orients[k * step] ? -nodes[c * n + k] : nodes[c * n + k]);
  }
}

RITZ_INLINE void ritz_scatter_curl_oriented(int num_comp, int n, int step, int first, int size,
                                            const CeedScalar *nodes, RITZ_GLOBAL const CeedInt *offsets,
                                            RITZ_GLOBAL const CeedInt8 *rows, RitzLong comp_stride,
                                            RITZ_GLOBAL CeedScalar *y) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_GLOBAL const CeedInt *offset = offsets + k * step;
    RITZ_GLOBAL const CeedInt8 *row = rows + 3 * k * step;
    const int i = first + k * step;
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) {
      const CeedScalar value = nodes[c * n + k];
      ritz_atomic_add(y + offset[0] + c * comp_stride, row[1] * value);
      if (i > 0 && row[0]) ritz_atomic_add(y + offset[-1] + c * comp_stride, row[0] * value);
      if (i < size - 1 && row[2]) ritz_atomic_add(y + offset[1] + c * comp_stride, row[2] * value);
    }
  }
}

RITZ_INLINE void ritz_scatter_strided(int num_comp, int n, RitzLong step, const CeedScalar *nodes,
                                      RitzLong comp_stride, RITZ_GLOBAL CeedScalar *y) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) ritz_atomic_add(y + k * step + c * comp_stride, nodes[c * n + k]);
  }
}

// All nodes of the block's elements, of which `rest` are left in the mesh: those of an element have `size`
// nodes a direction, component by component in arrays of the block. Offsets are of rows of `row` nodes,
// `step` apart (1, 0: of nodes). Threads side by side add to entries side by side.
RITZ_INLINE void ritz_scatter_staged(int num_comp, int dim, int size, RitzLong rest,
                                     RITZ_LOCAL const CeedScalar *m, int row, int step,
                                     RITZ_GLOBAL const CeedInt *offsets, RITZ_GLOBAL CeedScalar *y) {
  const int num_nodes = dim == 3 ? size * size * size : size * size;
  const int num_elem = rest < RITZ_ELEMENTS ? (int)rest : RITZ_ELEMENTS;
  for (int i = RITZ_THREAD; i < num_elem * num_nodes * num_comp; i += RITZ_THREADS) {
    const int node = i / num_comp, c = i - node * num_comp, e = node / num_nodes, line = node / size;
    const int place =
        node - line * size + line % size * RITZ_ROW + line / size % size * RITZ_PLANE * (dim == 3);
    ritz_atomic_add(y + RITZ_LOAD(offsets + node / row) + node % row * step + c,
                    m[c * RITZ_ARRAY + e * RITZ_ELEM + place]);
  }
}

// Into an E-vector, or an L-vector in which every node has an entry of its own: adds 0 or 1.
RITZ_INLINE void ritz_store(int num_comp, int n, RitzLong step, const CeedScalar *nodes, RitzLong comp_stride,
                            int adds, RITZ_GLOBAL CeedScalar *y) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) {
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) {
      RITZ_GLOBAL CeedScalar *entry = y + k * step + c * comp_stride;
      *entry = adds ? *entry + nodes[c * n + k] : nodes[c * n + k];
    }
  }
}

// ---- Arguments of the point function ----

// Point k of lines in registers.
RITZ_INLINE void ritz_take_lines(int num_comp, int n, const CeedScalar *lines, int k, CeedScalar *arg) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) arg[c] = lines[c * n + k];
}

RITZ_INLINE void ritz_give_lines(int num_comp, int n, const CeedScalar *arg, int adds, int k,
                                 CeedScalar *lines) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) lines[c * n + k] = adds ? lines[c * n + k] + arg[c] : arg[c];
}

// A point of arrays in the memory of the block.
RITZ_INLINE void ritz_take_arrays(int num_comp, RITZ_LOCAL const CeedScalar *arrays, CeedScalar *arg) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) arg[c] = arrays[c * RITZ_ARRAY];
}

RITZ_INLINE void ritz_give_arrays(int num_comp, const CeedScalar *arg, int adds,
                                  RITZ_LOCAL CeedScalar *arrays) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) arrays[c * RITZ_ARRAY] = adds ? arrays[c * RITZ_ARRAY] + arg[c] : arg[c];
}

#endif
