// SPDX-License-Identifier: BSD-2-Clause
// Tensor bases at arbitrary points, which are sorted by element. A block takes a few elements, and their
// points, which follow each other, RITZ_THREADS at a time: a thread has a point, whichever element that
// belongs to, and a slot in shared memory for it. Elements of any numbers of points, none among them, keep
// all threads busy but those of the last round.
//
// The field is the polynomial sum_k c_k T_k1(x_1) T_k2(x_2) T_k3(x_3) whose coefficients are c = (C x C x C)
// u, C [K][P] from nodal values to coefficients of Chebyshev polynomials of the first kind. Here C goes to
// the polynomials of the point, not to the nodes of the element: w_d = C^T (T_0(x_d) .. T_K-1(x_d)), P
// weights a direction. That takes dim K P multiplications a point, where the coefficients of an element take
// dim P^dim K; elements have few points. T_k and the slopes T_k' = k U_k-1 come by their recurrences.
//
// Texts define RITZ_ELEMS (at most so many elements of a block, a power of 2), RITZ_THREADS, RITZ_SLOTS
// (distance of arrays of slots: odd, at least RITZ_THREADS), RITZ_LINE (nodes of a direction, the most of all
// bases), RITZ_BLOCKS (blocks that are to fit a multiprocessor). Weights in shared memory: w[d][p][slot],
// then those of the slopes likewise; values of a point [q component][component][slot]; nodes
// [component][element][node] with RITZ_NODES_DISTANCE(P^dim) from element to element. Sums have a fixed
// order, and there are no atomic additions. Texts that include this: kernels/gpu/basis-points.h,
// emit/gpu-at-points.c.
#ifndef RITZ_KERNELS_GPU_POINTS_H
#define RITZ_KERNELS_GPU_POINTS_H

// Odd: elements side by side lie in different banks.
#define RITZ_NODES_DISTANCE(nodes) ((nodes) | 1)

// ---- Elements and points of a block ----

// begins[e]: position of the first point of element e of the block; num + 1 entries. Ends without a barrier.
RITZ_INLINE void ritz_points_begin(int num, RITZ_GLOBAL const CeedInt *starts, RITZ_SHARED int *begins) {
  for (int e = RITZ_THREAD; e <= num; e += RITZ_THREADS) begins[e] = starts[e];
}

// The element of a point: the last one that begins at it or before.
RITZ_INLINE int ritz_element_of_point(int num, RITZ_SHARED const int *begins, int point) {
  int e = 0;
  RITZ_UNROLL
  for (int step = RITZ_ELEMS / 2; step > 0; step /= 2) {
    if (e + step < num && begins[e + step] <= point) e += step;
  }
  return e;
}

// ---- Weights ----

// Weights of one direction: w[p * RITZ_SLOTS] = sum_k c[k][p] T_k(x).
RITZ_INLINE void ritz_point_weights(int P, int K, RITZ_IN_CONSTANT const RitzReal *c, RitzReal x,
                                    RITZ_SHARED RitzReal *w) {
  RitzReal sum[RITZ_LINE], before = x, now = 1;
  RITZ_UNROLL
  for (int p = 0; p < P; p++) sum[p] = 0;
  RITZ_UNROLL
  for (int k = 0; k < K; k++) {
    RITZ_UNROLL
    for (int p = 0; p < P; p++) sum[p] += c[k * P + p] * now;
    const RitzReal next = 2 * x * now - before;
    before = now;
    now = next;
  }
  RITZ_UNROLL
  for (int p = 0; p < P; p++) w[p * RITZ_SLOTS] = sum[p];
}

// w[p * RITZ_SLOTS] = sum_k c[k][p] k U_k-1(x).
RITZ_INLINE void ritz_point_slopes(int P, int K, RITZ_IN_CONSTANT const RitzReal *c, RitzReal x,
                                   RITZ_SHARED RitzReal *w) {
  RitzReal sum[RITZ_LINE], before = 0, now = 1;
  RITZ_UNROLL
  for (int p = 0; p < P; p++) sum[p] = 0;
  RITZ_UNROLL
  for (int k = 1; k < K; k++) {
    RITZ_UNROLL
    for (int p = 0; p < P; p++) sum[p] += c[k * P + p] * (k * now);
    const RitzReal next = 2 * x * now - before;
    before = now;
    now = next;
  }
  RITZ_UNROLL
  for (int p = 0; p < P; p++) w[p * RITZ_SLOTS] = sum[p];
}

// All weights of a point; w: of its slot.
RITZ_INLINE void ritz_point_prepare(int dim, int P, int K, int has_slopes, RITZ_IN_CONSTANT const RitzReal *c,
                                    const RitzReal *x, RITZ_SHARED RitzReal *w) {
  RITZ_UNROLL
  for (int d = 0; d < dim; d++) {
    ritz_point_weights(P, K, c, x[d], w + d * P * RITZ_SLOTS);
    if (has_slopes) ritz_point_slopes(P, K, c, x[d], w + (dim + d) * P * RITZ_SLOTS);
  }
}

// ---- From the nodes to a point ----

RITZ_INLINE void ritz_point_line(int P, RITZ_SHARED const RitzReal *w, RitzReal *line) {
  RITZ_UNROLL
  for (int p = 0; p < P; p++) line[p] = w[p * RITZ_SLOTS];
}

// One component at the point of a slot; nodes: of its element.
RITZ_INLINE RitzReal ritz_point_value(int dim, int P, RITZ_SHARED const RitzReal *w,
                                      RITZ_SHARED const RitzReal *nodes) {
  RitzReal line[RITZ_LINE], value = 0;
  ritz_point_line(P, w, line);
  for (int k = 0; k < (dim > 2 ? P : 1); k++) {
    RitzReal plane = 0;
    for (int j = 0; j < (dim > 1 ? P : 1); j++) {
      RITZ_SHARED const RitzReal *row = nodes + (k * P + j) * P;
      RitzReal sum = 0;
      RITZ_UNROLL
      for (int i = 0; i < P; i++) sum += line[i] * row[i];
      plane += dim > 1 ? w[(P + j) * RITZ_SLOTS] * sum : sum;
    }
    value += dim > 2 ? w[(2 * P + k) * RITZ_SLOTS] * plane : plane;
  }
  return value;
}

// Its derivatives: gradient[d * stride].
RITZ_INLINE void ritz_point_gradient(int dim, int P, RITZ_SHARED const RitzReal *w,
                                     RITZ_SHARED const RitzReal *nodes, int stride, RitzReal *gradient) {
  RITZ_SHARED const RitzReal *slopes = w + dim * P * RITZ_SLOTS;
  RitzReal line[RITZ_LINE], slope[RITZ_LINE], x = 0, y = 0, z = 0;
  ritz_point_line(P, w, line);
  ritz_point_line(P, slopes, slope);
  for (int k = 0; k < (dim > 2 ? P : 1); k++) {
    RitzReal plane = 0, plane_x = 0, plane_y = 0;
    for (int j = 0; j < (dim > 1 ? P : 1); j++) {
      RITZ_SHARED const RitzReal *row = nodes + (k * P + j) * P;
      RitzReal sum = 0, sum_x = 0;
      RITZ_UNROLL
      for (int i = 0; i < P; i++) {
        sum += line[i] * row[i];
        sum_x += slope[i] * row[i];
      }
      const RitzReal weight = dim > 1 ? w[(P + j) * RITZ_SLOTS] : 1;
      plane += weight * sum;
      plane_x += weight * sum_x;
      if (dim > 1) plane_y += slopes[(P + j) * RITZ_SLOTS] * sum;
    }
    const RitzReal weight = dim > 2 ? w[(2 * P + k) * RITZ_SLOTS] : 1;
    x += weight * plane_x;
    y += weight * plane_y;
    if (dim > 2) z += slopes[(2 * P + k) * RITZ_SLOTS] * plane;
  }
  gradient[0] = x;
  if (dim > 1) gradient[stride] = y;
  if (dim > 2) gradient[2 * stride] = z;
}

// ---- From the points to the nodes ----

// sum[c] += what the points of slots from .. end - 1, all of one element, give to its node number `node`:
// weight times values [num_comp][slot], or slopes times gradients [dim][num_comp][slot].
RITZ_INLINE void ritz_node_add_values(int dim, int P, int num_comp, int node, int from, int end,
                                      RITZ_SHARED const RitzReal *w, RITZ_SHARED const RitzReal *values,
                                      RitzReal *sum) {
  RITZ_SHARED const RitzReal *wx = w + node % P * RITZ_SLOTS;
  RITZ_SHARED const RitzReal *wy = w + (P + node / P % P) * RITZ_SLOTS;
  RITZ_SHARED const RitzReal *wz = w + (2 * P + node / (P * P)) * RITZ_SLOTS;
  for (int s = from; s < end; s++) {
    RitzReal weight = wx[s];
    if (dim > 1) weight *= wy[s];
    if (dim > 2) weight *= wz[s];
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) sum[c] += weight * values[c * RITZ_SLOTS + s];
  }
}

RITZ_INLINE void ritz_node_add_gradients(int dim, int P, int num_comp, int node, int from, int end,
                                         RITZ_SHARED const RitzReal *w, RITZ_SHARED const RitzReal *gradients,
                                         RitzReal *sum) {
  const int to_slopes = dim * P * RITZ_SLOTS, to_next = num_comp * RITZ_SLOTS;
  RITZ_SHARED const RitzReal *wx = w + node % P * RITZ_SLOTS;
  RITZ_SHARED const RitzReal *wy = w + (P + node / P % P) * RITZ_SLOTS;
  RITZ_SHARED const RitzReal *wz = w + (2 * P + node / (P * P)) * RITZ_SLOTS;
  for (int s = from; s < end; s++) {
    const RitzReal x = wx[s], y = dim > 1 ? wy[s] : 1, z = dim > 2 ? wz[s] : 1;
    const RitzReal by_x = wx[to_slopes + s] * y * z;
    const RitzReal by_y = dim > 1 ? x * wy[to_slopes + s] * z : 0;
    const RitzReal by_z = dim > 2 ? x * y * wz[to_slopes + s] : 0;
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) {
      RITZ_SHARED const RitzReal *from_point = gradients + c * RITZ_SLOTS + s;
      sum[c] += by_x * from_point[0];
      if (dim > 1) sum[c] += by_y * from_point[to_next];
      if (dim > 2) sum[c] += by_z * from_point[2 * to_next];
    }
  }
}

// Slots of the points of an element, [begin, end) in positions, in the round that begins at position `at`.
RITZ_INLINE int ritz_first_slot(int begin, int at) { return begin > at ? begin - at : 0; }
RITZ_INLINE int ritz_end_slot(int end, int at) { return end - at < RITZ_THREADS ? end - at : RITZ_THREADS; }

#endif
