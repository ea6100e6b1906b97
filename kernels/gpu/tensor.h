// SPDX-License-Identifier: BSD-2-Clause
// One mode of a tensor basis, one way, compiled for its sizes. A thread contracts whole lines: reads a line,
// multiplies by the 1D table, whose entries stand at constant addresses, and writes it. An item is a pair
// (component, element). Forwards: nodes are loaded in order; then the first (fastest) direction, the middle
// one (3D), both within shared memory; the last, whose lines lie side by side in device memory,
// straight into the Q-vector. Transposed: the same steps in opposite order. Called by
// backends/gpu/basis-shared.c, which defines:
//
//   RITZ_DIM            1, 2, 3
//   RITZ_P, RITZ_Q      nodes, points of a direction
//   RITZ_IS_GRADIENT, RITZ_IS_TRANSPOSED, RITZ_IS_COLLOCATED (values at the points are those at the nodes)
//   RITZ_ITEMS          items of a block
//   RITZ_THREADS        threads of a block
//   RITZ_BLOCKS         blocks that are to fit a multiprocessor: so many registers they may take
//   RITZ_ROW            distance of rows in shared memory: room for nodes and for points, odd
//   RITZ_PLANE          3D: distance of planes of rows; an item has RITZ_P planes
//   RITZ_ITEM_SIZE      distance of items
//   ritz_interp, ritz_grad  RITZ_CONSTANT tables [RITZ_Q][RITZ_P]
#ifndef RITZ_KERNELS_GPU_TENSOR_H
#define RITZ_KERNELS_GPU_TENSOR_H

#define RITZ_POWER(n, dim) ((dim) == 3 ? (n) * (n) * (n) : (dim) == 2 ? (n) * (n) : (dim) == 1 ? (n) : 1)
#define RITZ_NODES         RITZ_POWER(RITZ_P, RITZ_DIM)
#define RITZ_POINTS        RITZ_POWER(RITZ_Q, RITZ_DIM)
#define RITZ_COLUMNS       RITZ_POWER(RITZ_Q, RITZ_DIM - 1) // lines along the last direction, of an item
#define RITZ_LAST_STRIDE   (RITZ_DIM == 3 ? RITZ_PLANE : RITZ_DIM == 2 ? RITZ_ROW : 1)

// Gradients: array 0 of shared memory holds values interpolated in all directions so far, 1 derivatives
// along the first direction, 2 along the middle one.
#define RITZ_Q_COMP              (RITZ_IS_GRADIENT ? RITZ_DIM : 1)
#define RITZ_ARRAY               (RITZ_ITEMS * RITZ_ITEM_SIZE)
#define RITZ_ARRAY_OF(d)         (((d) + 1) % RITZ_Q_COMP) // of component d before the last direction
#define RITZ_IS_LAST_GRADIENT(d) (RITZ_IS_GRADIENT && (d) == RITZ_DIM - 1)

// ---- Lines ----

// All rows, columns of all items of the block, counted through.
RITZ_INLINE int ritz_row(int row) {
#if RITZ_DIM == 3
  return row / RITZ_P * RITZ_PLANE + row % RITZ_P * RITZ_ROW;
#else
  return row * RITZ_ROW;
#endif
}

RITZ_INLINE int ritz_column(int column) {
  int item = column / RITZ_COLUMNS * RITZ_ITEM_SIZE, i = column % RITZ_COLUMNS;
  return item + (RITZ_DIM == 3 ? i / RITZ_Q * RITZ_ROW + i % RITZ_Q : i);
}

RITZ_INLINE int ritz_point_of_column(int column) {
  return column / RITZ_COLUMNS * RITZ_POINTS + column % RITZ_COLUMNS;
}

RITZ_INLINE void ritz_read(int n, RITZ_SHARED const RitzReal *from, int stride, RitzReal *line) {
  RITZ_UNROLL
  for (int i = 0; i < n; i++) line[i] = from[i * stride];
}

#define RITZ_ENTRY(is_gradient, q, p)                                                                        \
  ((is_gradient) ? ritz_grad[(q)*RITZ_P + (p)] : ritz_interp[(q)*RITZ_P + (p)])

// Entry q of table * nodes.
RITZ_INLINE RitzReal ritz_at_point(int is_gradient, int q, const RitzReal *nodes) {
  RitzReal sum = RITZ_ENTRY(is_gradient, q, 0) * nodes[0];
  if (RITZ_IS_COLLOCATED && !is_gradient) return nodes[q];
  RITZ_UNROLL
  for (int p = 1; p < RITZ_P; p++) sum += RITZ_ENTRY(is_gradient, q, p) * nodes[p];
  return sum;
}

// Entry p of the transposed table * points.
RITZ_INLINE RitzReal ritz_at_node(int is_gradient, int p, const RitzReal *points) {
  RitzReal sum = RITZ_ENTRY(is_gradient, 0, p) * points[0];
  if (RITZ_IS_COLLOCATED && !is_gradient) return points[p];
  RITZ_UNROLL
  for (int q = 1; q < RITZ_Q; q++) sum += RITZ_ENTRY(is_gradient, q, p) * points[q];
  return sum;
}

#define RITZ_EACH(i, n) for (int i = RITZ_THREAD; i < (n); i += RITZ_THREADS)
// Lines of a pass. Where there is a thread for each, the compiler must see that this is no loop: out of loops
// it moves the entries of tables, into registers.
#define RITZ_EACH_LINE(i, n)                                                                                 \
  for (int i = RITZ_THREAD; i < (n); i = RITZ_IS_ONE_ROUND ? (n) : i + RITZ_THREADS)
#define RITZ_IS_ONE_ROUND                                                                                    \
  (RITZ_ITEMS * RITZ_POWER(RITZ_P > RITZ_Q ? RITZ_P : RITZ_Q, RITZ_DIM - 1) <= RITZ_THREADS)

#if !RITZ_IS_TRANSPOSED

// ---- Nodes to points ----

RITZ_INLINE void ritz_up(int is_gradient, const RitzReal *nodes, RITZ_SHARED RitzReal *to, int stride) {
  RITZ_UNROLL
  for (int q = 0; q < RITZ_Q; q++) to[q * stride] = ritz_at_point(is_gradient, q, nodes);
}

RITZ_INLINE void ritz_load_nodes(int num, RITZ_GLOBAL const RitzReal *u, RITZ_SHARED RitzReal *m) {
  RITZ_EACH(i, num * RITZ_NODES) m[ritz_row(i / RITZ_P) + i % RITZ_P] = u[i];
}

RITZ_INLINE void ritz_first(int num, RITZ_SHARED RitzReal *m) {
  RITZ_EACH_LINE(i, num * (RITZ_NODES / RITZ_P)) {
    RITZ_SHARED RitzReal *row = m + ritz_row(i);
    RitzReal nodes[RITZ_P];
    ritz_read(RITZ_P, row, 1, nodes);
    if (!RITZ_IS_COLLOCATED) ritz_up(0, nodes, row, 1);
    if (RITZ_IS_GRADIENT) ritz_up(1, nodes, row + RITZ_ARRAY, 1);
  }
}

#if RITZ_DIM == 3
RITZ_INLINE void ritz_middle(int num, RITZ_SHARED RitzReal *m) {
  RITZ_EACH_LINE(i, num * RITZ_P * RITZ_Q) {
    RITZ_SHARED RitzReal *line = m + i / RITZ_Q * RITZ_PLANE + i % RITZ_Q;
    RitzReal nodes[RITZ_P];
    ritz_read(RITZ_P, line, RITZ_ROW, nodes);
    if (!RITZ_IS_COLLOCATED) ritz_up(0, nodes, line, RITZ_ROW);
    if (RITZ_IS_GRADIENT) ritz_up(1, nodes, line + 2 * RITZ_ARRAY, RITZ_ROW);
#if RITZ_IS_GRADIENT && !RITZ_IS_COLLOCATED
    ritz_read(RITZ_P, line + RITZ_ARRAY, RITZ_ROW, nodes);
    ritz_up(0, nodes, line + RITZ_ARRAY, RITZ_ROW);
#endif
  }
}
#endif

RITZ_INLINE void ritz_last(int num, RITZ_SHARED const RitzReal *m, RitzLong comp_stride,
                           RITZ_GLOBAL RitzReal *v) {
  RITZ_EACH_LINE(i, num * RITZ_COLUMNS) {
    RITZ_UNROLL
    for (int d = 0; d < RITZ_Q_COMP; d++) {
      RITZ_GLOBAL RitzReal *to = v + d * comp_stride + ritz_point_of_column(i);
      RitzReal nodes[RITZ_P];
      ritz_read(RITZ_P, m + RITZ_ARRAY_OF(d) * RITZ_ARRAY + ritz_column(i), RITZ_LAST_STRIDE, nodes);
      RITZ_UNROLL
      for (int q = 0; q < RITZ_Q; q++)
        to[q * RITZ_COLUMNS] = ritz_at_point(RITZ_IS_LAST_GRADIENT(d), q, nodes);
    }
  }
}

RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_BLOCKS)
basis_tensor(RitzLong num_items, int add, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u,
             RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RITZ_SHARED_ARRAY RitzReal m[RITZ_Q_COMP * RITZ_ARRAY];
  RitzLong first = RITZ_BLOCK * RITZ_ITEMS;
  int num = num_items - first < RITZ_ITEMS ? (int)(num_items - first) : RITZ_ITEMS;
  ritz_load_nodes(num, u + first * RITZ_NODES, m);
  RITZ_BARRIER();
#if RITZ_DIM > 1
  ritz_first(num, m);
  RITZ_BARRIER();
#endif
#if RITZ_DIM == 3
  ritz_middle(num, m);
  RITZ_BARRIER();
#endif
  ritz_last(num, m, num_items * RITZ_POINTS, v + first * RITZ_POINTS);
}

#else

// ---- Points to nodes ----

RITZ_INLINE void ritz_last(int num, RITZ_GLOBAL const RitzReal *u, RitzLong comp_stride,
                           RITZ_SHARED RitzReal *m) {
  RITZ_EACH_LINE(i, num * RITZ_COLUMNS) {
    RITZ_UNROLL
    for (int d = 0; d < RITZ_Q_COMP; d++) {
      RITZ_GLOBAL const RitzReal *from = u + d * comp_stride + ritz_point_of_column(i);
      RITZ_SHARED RitzReal *to = m + RITZ_ARRAY_OF(d) * RITZ_ARRAY + ritz_column(i);
      RitzReal points[RITZ_Q];
      RITZ_UNROLL
      for (int q = 0; q < RITZ_Q; q++) points[q] = from[q * RITZ_COLUMNS];
      RITZ_UNROLL
      for (int p = 0; p < RITZ_P; p++)
        to[p * RITZ_LAST_STRIDE] = ritz_at_node(RITZ_IS_LAST_GRADIENT(d), p, points);
    }
  }
}

// line = interp^T line, or interp^T line + grad^T slopes.
RITZ_INLINE void ritz_down(RITZ_SHARED RitzReal *line, RITZ_SHARED const RitzReal *slopes, int adds_slopes,
                           int stride) {
  RitzReal points[RITZ_Q], nodes[RITZ_P];
  ritz_read(RITZ_Q, line, stride, points);
  RITZ_UNROLL
  for (int p = 0; p < RITZ_P; p++) nodes[p] = ritz_at_node(0, p, points);
  if (adds_slopes) {
    ritz_read(RITZ_Q, slopes, stride, points);
    RITZ_UNROLL
    for (int p = 0; p < RITZ_P; p++) nodes[p] += ritz_at_node(1, p, points);
  }
  RITZ_UNROLL
  for (int p = 0; p < RITZ_P; p++) line[p * stride] = nodes[p];
}

#if RITZ_DIM == 3
RITZ_INLINE void ritz_middle(int num, RITZ_SHARED RitzReal *m) {
  RITZ_EACH_LINE(i, num * RITZ_P * RITZ_Q) {
    RITZ_SHARED RitzReal *line = m + i / RITZ_Q * RITZ_PLANE + i % RITZ_Q;
#if RITZ_IS_GRADIENT && !RITZ_IS_COLLOCATED
    ritz_down(line + RITZ_ARRAY, line, 0, RITZ_ROW);
#endif
    ritz_down(line, line + 2 * RITZ_ARRAY, RITZ_IS_GRADIENT, RITZ_ROW);
  }
}
#endif

RITZ_INLINE void ritz_first(int num, RITZ_SHARED RitzReal *m) {
  RITZ_EACH_LINE(i, num * (RITZ_NODES / RITZ_P)) {
    ritz_down(m + ritz_row(i), m + ritz_row(i) + RITZ_ARRAY, RITZ_IS_GRADIENT, 1);
  }
}

RITZ_INLINE void ritz_store_nodes(int num, RITZ_SHARED const RitzReal *m, int add, RITZ_GLOBAL RitzReal *v) {
  RITZ_EACH(i, num * RITZ_NODES) {
    RitzReal value = m[ritz_row(i / RITZ_P) + i % RITZ_P];
    v[i] = add ? v[i] + value : value;
  }
}

RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_BLOCKS)
basis_tensor(RitzLong num_items, int add, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u,
             RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RITZ_SHARED_ARRAY RitzReal m[RITZ_Q_COMP * RITZ_ARRAY];
  RitzLong first = RITZ_BLOCK * RITZ_ITEMS;
  int num = num_items - first < RITZ_ITEMS ? (int)(num_items - first) : RITZ_ITEMS;
  ritz_last(num, u + first * RITZ_POINTS, num_items * RITZ_POINTS, m);
  RITZ_BARRIER();
#if RITZ_DIM == 3
  ritz_middle(num, m);
  RITZ_BARRIER();
#endif
#if RITZ_DIM > 1
  ritz_first(num, m);
  RITZ_BARRIER();
#endif
  ritz_store_nodes(num, m, add, v + first * RITZ_NODES);
}

#endif

#endif
