// SPDX-License-Identifier: BSD-2-Clause
// Tensor bases of any size at arbitrary points, one thread an output. E-vectors [num_comp][num_elem][node];
// vectors of points [q component][num_comp][distance], where point number i of element e is at place
// starts[e] - origin + i, or, padded, at e * elem_stride + i; elements count from first_elem. Weights
// [2][dim][P][distance]: what the nodes of a line have in the value at a place, then in the slope
// (kernels/gpu/points.h). Called by backends/gpu/points-ref.c.
#ifndef RITZ_KERNELS_GPU_POINTS_REF_H
#define RITZ_KERNELS_GPU_POINTS_REF_H

// w = sum_k c_kp T_k(x), slopes sum_k c_kp k U_k-1(x); c [K][P].
RITZ_KERNEL(256)
points_weights(RitzLong n, int P, int K, RitzLong distance, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT c,
               RITZ_GLOBAL const RitzReal *RITZ_RESTRICT x, RITZ_GLOBAL RitzReal *RITZ_RESTRICT w) {
  const RitzLong i = RITZ_ITEM;
  if (i >= n) return;
  const RitzLong row = i / distance, d = row / P;
  const RitzReal at = x[d * distance + (i - row * distance)];
  RitzReal t_before = at, t = 1, u_before = -1, u = 0, value = 0, slope = 0; // T_k and U_k-1
  for (int k = 0; k < K; k++) {
    const RitzReal factor = c[k * P + (row - d * P)], t_next = 2 * at * t - t_before;
    const RitzReal u_next = 2 * at * u - u_before;
    value += factor * t;
    slope += factor * (k * u);
    t_before = t;
    t = t_next;
    u_before = u;
    u = u_next;
  }
  w[i] = value;
  w[n + i] = slope;
}

typedef struct {
  int dim, P, nodes;
  RitzLong distance;
} RitzPointsSizes;

// Weight of a node in the value at a place, or (d >= 0) in derivative d; w: weights of the place.
RITZ_INLINE RitzReal points_weight(const RitzPointsSizes *s, int node, int d, RITZ_GLOBAL const RitzReal *w) {
  const RitzLong to_slopes = (RitzLong)s->dim * s->P * s->distance;
  RitzReal product = 1;
  for (int k = 0; k < s->dim; k++) {
    product *= w[((RitzLong)k * s->P + node % s->P) * s->distance + (k == d ? to_slopes : 0)];
    node /= s->P;
  }
  return product;
}

RITZ_INLINE RitzLong points_place(int elem, int position, int begin, int origin, int elem_stride) {
  return elem_stride ? (RitzLong)elem * elem_stride + (position - begin) : position - origin;
}

// v[d][c][place] of each point; q_comp == 0: values.
RITZ_KERNEL(256)
points_evaluate(RitzLong num_points, int num_elem, int num_comp, int q_comp, int dim, int P, int nodes,
                RitzLong distance, int first_elem, int origin, int elem_stride,
                RITZ_GLOBAL const CeedInt *RITZ_RESTRICT starts, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT w,
                RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  const RitzLong i = RITZ_ITEM, row = i / num_points; // row: d * num_comp + c
  if (row >= (RitzLong)(q_comp ? q_comp : 1) * num_comp) return;
  RitzPointsSizes sizes;
  sizes.dim = dim;
  sizes.P = P;
  sizes.nodes = nodes;
  sizes.distance = distance;
  starts += first_elem;
  const int position = starts[0] + (int)(i - row * num_points);
  int elem = 0;
  for (int end = num_elem; end - elem > 1;) { // the last element that begins there or before
    const int middle = elem + (end - elem) / 2;
    if (starts[middle] <= position)
      elem = middle;
    else
      end = middle;
  }
  const RitzLong place = points_place(elem, position, starts[elem], origin, elem_stride);
  RITZ_GLOBAL const RitzReal *from = u + (row % num_comp * num_elem + elem) * nodes;
  const int d = q_comp ? (int)(row / num_comp) : -1;
  RitzReal sum = 0;
  for (int node = 0; node < nodes; node++) sum += points_weight(&sizes, node, d, w + place) * from[node];
  v[row * distance + place] = sum;
}

// v[c][elem][node] = (add: +=) sum over the element's points.
RITZ_KERNEL(256)
points_collect(RitzLong n, int num_elem, int num_comp, int q_comp, int dim, int P, int nodes,
               RitzLong distance, int first_elem, int origin, int elem_stride, int add,
               RITZ_GLOBAL const CeedInt *RITZ_RESTRICT starts, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT w,
               RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  const RitzLong i = RITZ_ITEM, item = i / nodes; // item: c * num_elem + elem
  if (i >= n) return;
  const int elem = (int)(item % num_elem), node = (int)(i - item * nodes);
  RitzPointsSizes sizes;
  sizes.dim = dim;
  sizes.P = P;
  sizes.nodes = nodes;
  sizes.distance = distance;
  starts += first_elem + elem;
  RitzReal sum = 0;
  for (int position = starts[0]; position < starts[1]; position++) {
    const RitzLong place = points_place(elem, position, starts[0], origin, elem_stride);
    for (int d = 0; d < (q_comp ? q_comp : 1); d++) {
      sum += points_weight(&sizes, node, q_comp ? d : -1, w + place) *
             u[((RitzLong)d * num_comp + item / num_elem) * distance + place];
    }
  }
  v[i] = add ? v[i] + sum : sum;
}

#endif
