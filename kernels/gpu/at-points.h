// SPDX-License-Identifier: BSD-2-Clause
// Steps of an operator at points in one kernel: nodes between L-vectors and the memory of a block, a round's
// points to nodes, data of a point (kernels/gpu/points.h). Nodes of `num` elements in shared memory:
// [component][RITZ_ELEMS][RITZ_NODES_DISTANCE(nodes)]. Offsets begin at the block's first element. Called by
// texts of emit/gpu-at-points.c.
#ifndef RITZ_KERNELS_GPU_AT_POINTS_H
#define RITZ_KERNELS_GPU_AT_POINTS_H

// Entry i counts the nodes of the block's elements.
#define RITZ_EACH_OF_NODES(i, nodes, num) for (int i = RITZ_THREAD; i < (num) * (nodes); i += RITZ_THREADS)
#define RITZ_NODE_OF(nodes, c, i)                                                                            \
  (((c)*RITZ_ELEMS + (i) / (nodes)) * RITZ_NODES_DISTANCE(nodes) + (i) % (nodes))

// ---- L-vectors and nodes ----

RITZ_INLINE void ritz_nodes_gather(int num_comp, int nodes, int num, RITZ_GLOBAL const RitzReal *x,
                                   RITZ_GLOBAL const CeedInt *offsets, RitzLong comp_stride,
                                   RITZ_SHARED RitzReal *m) {
  RITZ_EACH_OF_NODES(i, nodes, num) {
    RITZ_GLOBAL const RitzReal *node = x + offsets[i];
    for (int c = 0; c < num_comp; c++) m[RITZ_NODE_OF(nodes, c, i)] = node[c * comp_stride];
  }
}

// x: at the block's first element.
RITZ_INLINE void ritz_nodes_gather_strided(int num_comp, int nodes, int num, RITZ_GLOBAL const RitzReal *x,
                                           RitzLong node_stride, RitzLong comp_stride, RitzLong elem_stride,
                                           RITZ_SHARED RitzReal *m) {
  RITZ_EACH_OF_NODES(i, nodes, num) {
    RITZ_GLOBAL const RitzReal *node = x + i % nodes * node_stride + i / nodes * elem_stride;
    for (int c = 0; c < num_comp; c++) m[RITZ_NODE_OF(nodes, c, i)] = node[c * comp_stride];
  }
}

RITZ_INLINE void ritz_nodes_zero(int num_comp, int nodes, int num, RITZ_SHARED RitzReal *m) {
  RITZ_EACH_OF_NODES(i, nodes, num) {
    for (int c = 0; c < num_comp; c++) m[RITZ_NODE_OF(nodes, c, i)] = 0;
  }
}

RITZ_INLINE void ritz_nodes_scatter(int num_comp, int nodes, int num, RITZ_SHARED const RitzReal *m,
                                    RITZ_GLOBAL const CeedInt *offsets, RitzLong comp_stride,
                                    RITZ_GLOBAL RitzReal *y) {
  RITZ_EACH_OF_NODES(i, nodes, num) {
    RITZ_GLOBAL RitzReal *node = y + offsets[i];
    for (int c = 0; c < num_comp; c++) ritz_atomic_add(node + c * comp_stride, m[RITZ_NODE_OF(nodes, c, i)]);
  }
}

RITZ_INLINE void ritz_nodes_scatter_strided(int num_comp, int nodes, int num, RITZ_SHARED const RitzReal *m,
                                            RitzLong node_stride, RitzLong comp_stride, RitzLong elem_stride,
                                            RITZ_GLOBAL RitzReal *y) {
  RITZ_EACH_OF_NODES(i, nodes, num) {
    RITZ_GLOBAL RitzReal *node = y + i % nodes * node_stride + i / nodes * elem_stride;
    for (int c = 0; c < num_comp; c++) ritz_atomic_add(node + c * comp_stride, m[RITZ_NODE_OF(nodes, c, i)]);
  }
}

// Into an E-vector [component][num_elem][node]; y: at the block's first element.
RITZ_INLINE void ritz_nodes_store(int num_comp, int nodes, int num, RITZ_SHARED const RitzReal *m,
                                  RitzLong comp_stride, RITZ_GLOBAL RitzReal *y) {
  RITZ_EACH_OF_NODES(i, nodes, num) {
    for (int c = 0; c < num_comp; c++) y[c * comp_stride + i] = m[RITZ_NODE_OF(nodes, c, i)];
  }
}

// ---- Nodes to a point; m: nodes of its element, w: weights of its slot ----

RITZ_INLINE void ritz_point_values(int dim, int P, int nodes, int num_comp, RITZ_SHARED const RitzReal *w,
                                   RITZ_SHARED const RitzReal *m, RitzReal *values) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++)
    values[c] = ritz_point_value(dim, P, w, m + c * RITZ_ELEMS * RITZ_NODES_DISTANCE(nodes));
}

RITZ_INLINE void ritz_point_gradients(int dim, int P, int nodes, int num_comp, RITZ_SHARED const RitzReal *w,
                                      RITZ_SHARED const RitzReal *m, RitzReal *gradients) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++)
    ritz_point_gradient(dim, P, w, m + c * RITZ_ELEMS * RITZ_NODES_DISTANCE(nodes), num_comp, gradients + c);
}

// ---- The points of a round to nodes ----

// m += the transposed evaluation of values [num_comp][slot], of gradients [dim][num_comp][slot]. RITZ_SUMS:
// the most components that there are.
RITZ_INLINE void ritz_nodes_add(int is_gradient, int dim, int P, int nodes, int num_comp, int num,
                                RITZ_SHARED const int *begins, int at, RITZ_SHARED const RitzReal *w,
                                RITZ_SHARED const RitzReal *values, RITZ_SHARED RitzReal *m) {
  RITZ_EACH_OF_NODES(i, nodes, num) {
    const int e = i / nodes, from = ritz_first_slot(begins[e], at), end = ritz_end_slot(begins[e + 1], at);
    RitzReal sum[RITZ_SUMS];
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) sum[c] = m[RITZ_NODE_OF(nodes, c, i)];
    if (is_gradient)
      ritz_node_add_gradients(dim, P, num_comp, i % nodes, from, end, w, values, sum);
    else
      ritz_node_add_values(dim, P, num_comp, i % nodes, from, end, w, values, sum);
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) m[RITZ_NODE_OF(nodes, c, i)] = sum[c];
  }
}

#endif
