// SPDX-License-Identifier: BSD-2-Clause
// Dense bases in fused kernels. Threads of a group work on the same RITZ_STACKED elements of the block, which
// lie RITZ_GROUPS apart, so that threads side by side read L-vectors and data at points side by side. The
// text in front (emit/gpu-tables.c) defines:
//
//   RITZ_STACKED      elements of a thread
//   RITZ_PACKED       of these, how many lie side by side in shared memory: 16 bytes, or 1
//   RITZ_GROUPS       RITZ_ELEMENTS / RITZ_STACKED
//   RITZ_DENSE_PACKS  component * pack of the largest dense space
//
// Nodes of a space, and what the QFunction gives, lie in shared memory as
// [group][component][pack][node or point], in packs. Registers hold [component][place][element]: a thread has
// `num` points, RITZ_LINES apart. Matrices come in device memory, such that threads side by side read entries
// side by side.
#ifndef RITZ_KERNELS_GPU_FUSED_DENSE_H
#define RITZ_KERNELS_GPU_FUSED_DENSE_H

// On processors it would take longer to compile and save nothing.
#if defined(__OPENCL_VERSION__) && !defined(cl_nv_pragma_unroll)
#define RITZ_UNROLL_SOME RITZ_ROLL
#else
#define RITZ_UNROLL_SOME _Pragma("unroll 4")
#endif
#define RITZ_PACKS (RITZ_STACKED / RITZ_PACKED)

#if RITZ_PACKED > 1
typedef struct RITZ_ALIGN16 {
  RitzReal x[RITZ_PACKED];
} RitzPack;
#else
typedef struct {
  RitzReal x[1];
} RitzPack;
#endif

// ---- Nodes of element `elem` of the block ----

// Node i of `size` begins here; a component is RITZ_STACKED * size scalars.
RITZ_INLINE int ritz_dense_place(int group_size, int size, int elem, int i) {
  const int group = elem % RITZ_GROUPS, k = elem / RITZ_GROUPS;
  return group * group_size + (k / RITZ_PACKED * size + i) * RITZ_PACKED + k % RITZ_PACKED;
}

RITZ_INLINE void ritz_dense_keep(int num_comp, int size, const RitzReal *nodes, RITZ_SHARED RitzReal *to) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) to[c * RITZ_STACKED * size] = nodes[c];
}

// ---- Sums ----

RITZ_INLINE void ritz_dense_clear(int n, RitzReal *values) {
  RITZ_UNROLL
  for (int i = 0; i < n; i++) values[i] = 0;
}

// One node or point of all components and elements of a group.
RITZ_INLINE void ritz_dense_read(int num_comp, int size, RITZ_SHARED const RitzReal *from, RitzPack *x) {
  RITZ_SHARED const RitzPack *packs = (RITZ_SHARED const RitzPack *)from;
  RITZ_UNROLL
  for (int j = 0; j < num_comp * RITZ_PACKS; j++) x[j] = packs[j * size];
}

// values [component][place][element] += entry of the place * x
RITZ_INLINE void ritz_dense_add(int num_comp, int num, const RitzReal *entries, const RitzPack *x,
                                RitzReal *values) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_UNROLL
    for (int i = 0; i < num; i++) {
      RITZ_UNROLL
      for (int k = 0; k < RITZ_STACKED; k++)
        values[(c * num + i) * RITZ_STACKED + k] +=
            entries[i] * x[c * RITZ_PACKS + k / RITZ_PACKED].x[k % RITZ_PACKED];
    }
  }
}

// Adds the products with q_comp matrices that lie Q entries apart, from the thread's first point.
RITZ_INLINE void ritz_dense_add_all(int q_comp, int num_comp, int Q, int num,
                                    RITZ_GLOBAL const RitzReal *matrix, const RitzPack *x, RitzReal *values) {
  RITZ_UNROLL
  for (int d = 0; d < q_comp; d++) {
    RitzReal entries[RITZ_MAX_1D];
    RITZ_UNROLL
    for (int i = 0; i < num; i++) entries[i] = RITZ_LOAD(matrix + d * Q + i * RITZ_LINES);
    ritz_dense_add(num_comp, num, entries, x, values + d * num_comp * num * RITZ_STACKED);
  }
}

// Values and derivatives at the thread's points, `line` the first, from the nodes of its group. Matrices
// [P][q_comp][Q]; there are none where q_comp is 0.
RITZ_INLINE void ritz_dense_get(int num_comp, int P, int Q, int num, int line, int q_values,
                                RITZ_GLOBAL const RitzReal *interp, int q_derivatives,
                                RITZ_GLOBAL const RitzReal *deriv, RITZ_SHARED const RitzReal *nodes,
                                RitzReal *values, RitzReal *derivatives) {
  ritz_dense_clear(q_values * num_comp * num * RITZ_STACKED, values);
  ritz_dense_clear(q_derivatives * num_comp * num * RITZ_STACKED, derivatives);
  RITZ_UNROLL_SOME
  for (int i = 0; i < P; i++) {
    RitzPack x[RITZ_DENSE_PACKS];
    ritz_dense_read(num_comp, P, nodes + i * RITZ_PACKED, x);
    ritz_dense_add_all(q_values, num_comp, Q, num, interp + i * q_values * Q + line, x, values);
    ritz_dense_add_all(q_derivatives, num_comp, Q, num, deriv + i * q_derivatives * Q + line, x, derivatives);
  }
}

// Registers of the thread's points to the memory of its group.
RITZ_INLINE void ritz_dense_put(int num_comp, int Q, int num, int line, const RitzReal *values,
                                RITZ_SHARED RitzReal *to) {
  RITZ_SHARED RitzPack *packs = (RITZ_SHARED RitzPack *)to;
  RITZ_UNROLL
  for (int j = 0; j < num_comp * RITZ_PACKS; j++) {
    RITZ_UNROLL
    for (int i = 0; i < num; i++) {
      RitzPack pack;
      RITZ_UNROLL
      for (int k = 0; k < RITZ_PACKED; k++)
        pack.x[k] = values[(j / RITZ_PACKS * num + i) * RITZ_STACKED + j % RITZ_PACKS * RITZ_PACKED + k];
      packs[j * Q + line + i * RITZ_LINES] = pack;
    }
  }
}

// nodes += matrix^T points for q_comp components of each of num_comp; `matrix` [q_comp][Q][P] from the
// thread's node.
RITZ_INLINE void ritz_dense_gather_points(int q_comp, int num_comp, int P, int Q,
                                          RITZ_GLOBAL const RitzReal *matrix,
                                          RITZ_SHARED const RitzReal *points, RitzReal *nodes) {
  RITZ_UNROLL_SOME
  for (int q = 0; q < Q; q++) {
    RITZ_UNROLL
    for (int d = 0; d < q_comp; d++) {
      const RitzReal entry = RITZ_LOAD(matrix + (d * Q + q) * P);
      RitzPack x[RITZ_DENSE_PACKS];
      ritz_dense_read(num_comp, Q, points + (d * num_comp * RITZ_STACKED * Q + q * RITZ_PACKED), x);
      ritz_dense_add(num_comp, 1, &entry, x, nodes);
    }
  }
}

// One node [component][element] from the values, then derivatives at all points of its group.
RITZ_INLINE void ritz_dense_sum(int num_comp, int P, int Q, int q_values, RITZ_GLOBAL const RitzReal *interp,
                                int q_derivatives, RITZ_GLOBAL const RitzReal *deriv,
                                RITZ_SHARED const RitzReal *points, RitzReal *nodes) {
  ritz_dense_clear(num_comp * RITZ_STACKED, nodes);
  if (q_values > 0) ritz_dense_gather_points(q_values, num_comp, P, Q, interp, points, nodes);
  if (q_derivatives > 0)
    ritz_dense_gather_points(q_derivatives, num_comp, P, Q, deriv,
                             points + q_values * num_comp * RITZ_STACKED * Q, nodes);
}

#endif
