// SPDX-License-Identifier: BSD-2-Clause
// One mode of a tensor basis at arbitrary points, one way (kernels/gpu/points.h); a block takes one component
// of its elements. E-vectors [num_comp][num_elem][node]; vectors of points [q component][num_comp]
// [num_points], where point number i of element e is at place starts[e] - origin + i, or, padded, at e *
// elem_stride + i. Called by backends/gpu/basis-points.c, which defines:
//
//   RITZ_DIM, RITZ_P, RITZ_K   directions, nodes and coefficients of a direction
//   RITZ_NODES                 RITZ_P^RITZ_DIM
//   RITZ_IS_GRADIENT, RITZ_IS_TRANSPOSED
//   RITZ_ELEMS, RITZ_THREADS, RITZ_SLOTS, RITZ_LINE, RITZ_BLOCKS  as kernels/gpu/points.h has them
//   ritz_coefficients          RITZ_CONSTANT table [RITZ_K][RITZ_P]
#ifndef RITZ_KERNELS_GPU_BASIS_POINTS_H
#define RITZ_KERNELS_GPU_BASIS_POINTS_H

#include "kernels/gpu/points.h"

#define RITZ_Q_COMP    (RITZ_IS_GRADIENT ? RITZ_DIM : 1)
#define RITZ_ELEM_SIZE RITZ_NODES_DISTANCE(RITZ_NODES)
#define RITZ_WEIGHTS   (RITZ_DIM * RITZ_P * (RITZ_IS_GRADIENT ? 2 : 1) * RITZ_SLOTS)

typedef struct {
  RitzLong num_points; // distance of components of vectors of points
  int num_comp, comp;  // all, and the one of this block
  int first, num;      // elements of the block
  int origin, elem_stride;
} RitzPointsBlock;

RITZ_INLINE RitzPointsBlock ritz_points_block(int num_elem, int elems, int num_comp, RitzLong num_points,
                                              int origin, int elem_stride) {
  const int num_groups = (num_elem + elems - 1) / elems;
  RitzPointsBlock b;
  b.num_points = num_points;
  b.num_comp = num_comp;
  b.comp = (int)(RITZ_BLOCK / num_groups);
  b.first = (int)(RITZ_BLOCK - (RitzLong)b.comp * num_groups) * elems;
  b.num = num_elem - b.first < elems ? num_elem - b.first : elems;
  b.origin = origin;
  b.elem_stride = elem_stride;
  return b;
}

// Where the point at a position is in vectors of points.
RITZ_INLINE RitzLong ritz_point_place(const RitzPointsBlock *b, int elem, int begin, int point) {
  if (!b->elem_stride) return point - b->origin;
  return (RitzLong)(b->first + elem) * b->elem_stride + (point - begin);
}

RITZ_INLINE void ritz_point_open(const RitzPointsBlock *b, RitzLong place,
                                 RITZ_GLOBAL const RitzReal *RITZ_RESTRICT x, RITZ_SHARED RitzReal *w) {
  RitzReal at[RITZ_DIM];
  RITZ_UNROLL
  for (int d = 0; d < RITZ_DIM; d++) at[d] = x[d * b->num_points + place];
  ritz_point_prepare(RITZ_DIM, RITZ_P, RITZ_K, RITZ_IS_GRADIENT, ritz_coefficients, at, w);
}

// Places of the block's nodes in a vector of nodes, and in shared memory.
#define RITZ_EACH_NODE(b, i)         for (int i = RITZ_THREAD; i < (b)->num * RITZ_NODES; i += RITZ_THREADS)
#define RITZ_FIRST_NODE(b, num_elem) (((RitzLong)(b)->comp * (num_elem) + (b)->first) * RITZ_NODES)
#define RITZ_NODE_PLACE(i)           ((i) / RITZ_NODES * RITZ_ELEM_SIZE + (i) % RITZ_NODES)

#if !RITZ_IS_TRANSPOSED

RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_BLOCKS)
basis_at_points(int num_elem, int elems, int num_comp, RitzLong num_points, int first_elem, int origin,
                int elem_stride, int add, RITZ_GLOBAL const CeedInt *RITZ_RESTRICT starts,
                RITZ_GLOBAL const RitzReal *RITZ_RESTRICT x, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u,
                RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RITZ_SHARED_ARRAY RitzReal nodes[RITZ_ELEMS * RITZ_ELEM_SIZE];
  RITZ_SHARED_ARRAY RitzReal w[RITZ_WEIGHTS];
  RITZ_SHARED_ARRAY int begins[RITZ_ELEMS + 1];
  const RitzPointsBlock b = ritz_points_block(num_elem, elems, num_comp, num_points, origin, elem_stride);
  ritz_points_begin(b.num, starts + first_elem + b.first, begins);
  RITZ_EACH_NODE(&b, i) nodes[RITZ_NODE_PLACE(i)] = u[RITZ_FIRST_NODE(&b, num_elem) + i];
  RITZ_BARRIER();
  for (int point = begins[0] + RITZ_THREAD; point < begins[b.num]; point += RITZ_THREADS) {
    const int e = ritz_element_of_point(b.num, begins, point);
    const RitzLong place = ritz_point_place(&b, e, begins[e], point);
    RITZ_GLOBAL RitzReal *to = v + b.comp * num_points + place;
    RitzReal value[RITZ_Q_COMP];
    ritz_point_open(&b, place, x, w + RITZ_THREAD);
#if RITZ_IS_GRADIENT
    ritz_point_gradient(RITZ_DIM, RITZ_P, w + RITZ_THREAD, nodes + e * RITZ_ELEM_SIZE, 1, value);
#else
    value[0] = ritz_point_value(RITZ_DIM, RITZ_P, w + RITZ_THREAD, nodes + e * RITZ_ELEM_SIZE);
#endif
    RITZ_UNROLL
    for (int d = 0; d < RITZ_Q_COMP; d++) to[(RitzLong)d * num_comp * num_points] = value[d];
  }
}

#else

RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_BLOCKS)
basis_at_points(int num_elem, int elems, int num_comp, RitzLong num_points, int first_elem, int origin,
                int elem_stride, int add, RITZ_GLOBAL const CeedInt *RITZ_RESTRICT starts,
                RITZ_GLOBAL const RitzReal *RITZ_RESTRICT x, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u,
                RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RITZ_SHARED_ARRAY RitzReal sums[RITZ_ELEMS * RITZ_ELEM_SIZE];
  RITZ_SHARED_ARRAY RitzReal w[RITZ_WEIGHTS];
  RITZ_SHARED_ARRAY RitzReal values[RITZ_Q_COMP * RITZ_SLOTS];
  RITZ_SHARED_ARRAY int begins[RITZ_ELEMS + 1];
  const RitzPointsBlock b = ritz_points_block(num_elem, elems, num_comp, num_points, origin, elem_stride);
  ritz_points_begin(b.num, starts + first_elem + b.first, begins);
  RITZ_EACH_NODE(&b, i) sums[RITZ_NODE_PLACE(i)] = 0;
  RITZ_BARRIER();
  const int end = begins[b.num];
  for (int at = begins[0]; at < end; at += RITZ_THREADS) {
    const int point = at + RITZ_THREAD;
    if (point < end) {
      const int e = ritz_element_of_point(b.num, begins, point);
      const RitzLong place = ritz_point_place(&b, e, begins[e], point);
      RITZ_GLOBAL const RitzReal *from = u + b.comp * num_points + place;
      ritz_point_open(&b, place, x, w + RITZ_THREAD);
      RITZ_UNROLL
      for (int d = 0; d < RITZ_Q_COMP; d++)
        values[d * RITZ_SLOTS + RITZ_THREAD] = from[(RitzLong)d * num_comp * num_points];
    }
    RITZ_BARRIER();
    RITZ_EACH_NODE(&b, i) {
      const int e = i / RITZ_NODES, node = i % RITZ_NODES;
      const int slot = ritz_first_slot(begins[e], at), end_slot = ritz_end_slot(begins[e + 1], at);
      RitzReal sum[1];
      sum[0] = 0;
#if RITZ_IS_GRADIENT
      ritz_node_add_gradients(RITZ_DIM, RITZ_P, 1, node, slot, end_slot, w, values, sum);
#else
      ritz_node_add_values(RITZ_DIM, RITZ_P, 1, node, slot, end_slot, w, values, sum);
#endif
      sums[RITZ_NODE_PLACE(i)] += sum[0];
    }
    RITZ_BARRIER();
  }
  RITZ_EACH_NODE(&b, i) {
    RITZ_GLOBAL RitzReal *to = v + RITZ_FIRST_NODE(&b, num_elem) + i;
    *to = (add ? *to : 0) + sums[RITZ_NODE_PLACE(i)];
  }
}

#endif

#endif
