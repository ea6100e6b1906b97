// SPDX-License-Identifier: BSD-2-Clause
// Tensor-product bases on one batch of elements, RITZ_DIM dimensions. Directions: `first` runs fastest, then
// (in 3D) `middle`, then `last`. Arrays are [component][last][middle][first]; planes of 3D arrays lie
// ritz_plane(n) vectors apart, so that they never share cache sets.
//
// Forwards: interpolate all directions but the last; then the last, together with its derivative, for the
// whole element; the other derivatives follow plane by plane (middle) and row by row (first) at the points.
// Backwards: the same steps transposed, in opposite order. Every line along the last direction, every slab
// and every row is a step of `prefetch`.
#ifndef RITZ_KERNELS_CPU_TENSOR_H
#define RITZ_KERNELS_CPU_TENSOR_H

#include "kernels/cpu/line.h"
#include "kernels/cpu/prefetch.h"

// Vectors between the planes of n x n values: never a multiple of 2048 bytes, which would put all planes of a
// column into one cache set.
#define RITZ_PLANE(n) ((n) * (n) + ((n) * (n) % 32 == 0))
// Vectors between successive positions in the last direction, n values a direction; and of a whole array with
// m such positions.
#define RITZ_SLAB(n)    (RITZ_DIM == 3 ? RITZ_PLANE(n) : RITZ_DIM == 2 ? (n) : 1)
#define RITZ_SIZE(m, n) ((m)*RITZ_SLAB(n))
// Values of a slab: the points of all directions but the last.
#define RITZ_IN_SLAB(n) (RITZ_DIM == 3 ? (n) * (n) : RITZ_DIM == 2 ? (n) : 1)
// Index of a point in an array with n points a direction (k, j of 2D and 1D are zero).
#define RITZ_AT(n, k, j, i) (RITZ_DIM == 3 ? (k)*RITZ_PLANE(n) + (j) * (n) + (i) : (j) * (n) + (i))

// All directions but the last of slabs k = 0 .. n-1: x [n slabs of A->cols] -> y [n slabs of A->rows].
RITZ_INLINE void ritz_slab_up(const RitzMatrix *A, const RitzVec *x, RitzVec *y) {
  const int P = A->cols, Q = A->rows;
  if (RITZ_DIM == 3) {
    RitzVec t[RITZ_LINE * RITZ_LINE];
    RITZ_ROLLED for (int j = 0; j < P; j++) ritz_line(A, x + j * P, 1, t + j * Q, 1, false);
    RITZ_ROLLED for (int i = 0; i < Q; i++) ritz_line(A, t + i, Q, y + i, Q, false);
  } else {
    ritz_line(A, x, 1, y, 1, false);
  }
}

RITZ_INLINE void ritz_tensor_up(RitzPrefetch *prefetch, const RitzMatrix *A, int num_comp, const RitzVec *x,
                                RitzVec *y) {
  const int P = A->cols, Q = A->rows;
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    RITZ_ROLLED for (int k = 0; k < P; k++) {
      ritz_prefetch(prefetch);
      ritz_slab_up(A, x + c * RITZ_SIZE(P, P) + k * RITZ_SLAB(P), y + c * RITZ_SIZE(P, Q) + k * RITZ_SLAB(Q));
    }
  }
}

// Transposed: A is the transposed matrix, points -> nodes.
RITZ_INLINE void ritz_slab_down(const RitzMatrix *A, const RitzVec *y, RitzVec *x) {
  const int Q = A->cols, P = A->rows;
  if (RITZ_DIM == 3) {
    RitzVec t[RITZ_LINE * RITZ_LINE];
    RITZ_ROLLED for (int i = 0; i < Q; i++) ritz_line(A, y + i, Q, t + i, Q, false);
    RITZ_ROLLED for (int j = 0; j < P; j++) ritz_line(A, t + j * Q, 1, x + j * P, 1, false);
  } else {
    ritz_line(A, y, 1, x, 1, false);
  }
}

RITZ_INLINE void ritz_tensor_down(RitzPrefetch *prefetch, const RitzMatrix *A, int num_comp, const RitzVec *y,
                                  RitzVec *x) {
  const int Q = A->cols, P = A->rows;
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    RITZ_ROLLED for (int k = 0; k < P; k++) {
      ritz_prefetch(prefetch);
      ritz_slab_down(A, y + c * RITZ_SIZE(P, Q) + k * RITZ_SLAB(Q),
                     x + c * RITZ_SIZE(P, P) + k * RITZ_SLAB(P));
    }
  }
}

// Last direction, whole element; slabs hold the points of a basis with Q points a direction.
// u = A a, positions A->cols -> A->rows; add: u += A a.
RITZ_INLINE void ritz_last(RitzPrefetch *prefetch, const RitzMatrix *A, int Q, int num_comp, const RitzVec *a,
                           RitzVec *u, bool add) {
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    RITZ_ROLLED for (int i = 0; i < RITZ_IN_SLAB(Q); i++) {
      ritz_prefetch(prefetch);
      ritz_line(A, a + c * RITZ_SIZE(A->cols, Q) + i, RITZ_SLAB(Q), u + c * RITZ_SIZE(A->rows, Q) + i,
                RITZ_SLAB(Q), add);
    }
  }
}

// u = A a and g = D a.
RITZ_INLINE void ritz_last_both(RitzPrefetch *prefetch, const RitzMatrix *A, const RitzMatrix *D, int Q,
                                int num_comp, const RitzVec *a, RitzVec *u, RitzVec *g) {
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    RITZ_ROLLED for (int i = 0; i < RITZ_IN_SLAB(Q); i++) {
      ritz_prefetch(prefetch);
      ritz_line_both(A, D, a + c * RITZ_SIZE(A->cols, Q) + i, RITZ_SLAB(Q), u + c * RITZ_SIZE(A->rows, Q) + i,
                     RITZ_SLAB(Q), g + c * RITZ_SIZE(A->rows, Q) + i, RITZ_SLAB(Q));
    }
  }
}

// a = A u + D g; A and D are transposed matrices. a may be u.
RITZ_INLINE void ritz_last_sum(RitzPrefetch *prefetch, const RitzMatrix *A, const RitzMatrix *D, int Q,
                               int num_comp, const RitzVec *u, const RitzVec *g, RitzVec *a) {
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    RITZ_ROLLED for (int i = 0; i < RITZ_IN_SLAB(Q); i++) {
      ritz_prefetch(prefetch);
      ritz_line_sum(A, D, u + c * RITZ_SIZE(A->cols, Q) + i, RITZ_SLAB(Q), g + c * RITZ_SIZE(A->cols, Q) + i,
                    RITZ_SLAB(Q), a + c * RITZ_SIZE(A->rows, Q) + i, RITZ_SLAB(Q));
    }
  }
}

// Middle direction (3D), plane k of u [component]: g [component][Q*Q] = C u, by columns.
RITZ_INLINE void ritz_middle(const RitzMatrix *C, int num_comp, const RitzVec *u, int k, RitzVec *g) {
  const int Q = C->rows;
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    const RitzVec *plane = u + c * RITZ_SIZE(Q, Q) + k * RITZ_SLAB(Q);
    RITZ_ROLLED for (int i = 0; i < Q; i++) ritz_line(C, plane + i, Q, g + c * Q * Q + i, Q, false);
  }
}

RITZ_INLINE void ritz_middle_add(const RitzMatrix *C, int num_comp, const RitzVec *g, int k, RitzVec *v) {
  const int Q = C->rows;
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    RitzVec *plane = v + c * RITZ_SIZE(Q, Q) + k * RITZ_SLAB(Q);
    RITZ_ROLLED for (int i = 0; i < Q; i++) ritz_line(C, g + c * Q * Q + i, Q, plane + i, Q, true);
  }
}

// First direction (2D, 3D), row j of plane k: g [component][Q] = C u.
RITZ_INLINE void ritz_first(const RitzMatrix *C, int num_comp, const RitzVec *u, int k, int j, RitzVec *g) {
  const int Q = C->rows;
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    ritz_line(C, u + c * RITZ_SIZE(Q, Q) + RITZ_AT(Q, k, j, 0), 1, g + c * Q, 1, false);
  }
}

RITZ_INLINE void ritz_first_back(const RitzMatrix *C, int num_comp, const RitzVec *g, int k, int j,
                                 RitzVec *v, bool add) {
  const int Q = C->rows;
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    ritz_line(C, g + c * Q, 1, v + c * RITZ_SIZE(Q, Q) + RITZ_AT(Q, k, j, 0), 1, add);
  }
}

// ---- Values only: all directions but the first for the whole element, the first row by row in registers
// ----

// x [component], nodes as above -> a [component][rows of points][nodes of a row].
RITZ_INLINE void ritz_outer_up(RitzPrefetch *prefetch, const RitzMatrix *A, int num_comp, const RitzVec *x,
                               RitzVec *a) {
  const int P = A->cols, Q = A->rows;
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    RITZ_ROLLED for (int i = 0; i < P; i++) {
      const RitzVec *from = x + c * RITZ_SIZE(P, P) + i;
      RitzVec *to = a + c * RITZ_IN_SLAB(Q) * P + i;
      ritz_prefetch(prefetch);
      if (RITZ_DIM == 3) {
        RitzVec t[RITZ_LINE * RITZ_LINE];
        RITZ_ROLLED for (int k = 0; k < P; k++) ritz_line(A, from + k * RITZ_SLAB(P), P, t + k * Q, 1, false);
        RITZ_ROLLED for (int j = 0; j < Q; j++) ritz_line(A, t + j, Q, to + j * P, Q * P, false);
      } else {
        ritz_line(A, from, RITZ_SLAB(P), to, P, false);
      }
    }
  }
}

// Transposed: A is the transposed matrix, points -> nodes.
RITZ_INLINE void ritz_outer_down(RitzPrefetch *prefetch, const RitzMatrix *A, int num_comp, const RitzVec *a,
                                 RitzVec *x) {
  const int Q = A->cols, P = A->rows;
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    RITZ_ROLLED for (int i = 0; i < P; i++) {
      const RitzVec *from = a + c * RITZ_IN_SLAB(Q) * P + i;
      RitzVec *to = x + c * RITZ_SIZE(P, P) + i;
      ritz_prefetch(prefetch);
      if (RITZ_DIM == 3) {
        RitzVec t[RITZ_LINE * RITZ_LINE];
        RITZ_ROLLED for (int j = 0; j < Q; j++) ritz_line(A, from + j * P, Q * P, t + j, Q, false);
        RITZ_ROLLED for (int k = 0; k < P; k++) ritz_line(A, t + k * Q, 1, to + k * RITZ_SLAB(P), P, false);
      } else {
        ritz_line(A, from, P, to, RITZ_SLAB(P), false);
      }
    }
  }
}

// Row number `row` of the points: values [component][Q] = B a, and back.
RITZ_INLINE void ritz_row_up(const RitzMatrix *B, int num_comp, const RitzVec *a, int row, RitzVec *values) {
  const int P = B->cols, Q = B->rows;
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    ritz_line(B, a + (c * RITZ_IN_SLAB(Q) + row) * P, 1, values + c * Q, 1, false);
  }
}

RITZ_INLINE void ritz_row_down(const RitzMatrix *B, int num_comp, const RitzVec *values, int row,
                               RitzVec *a) {
  const int Q = B->cols, P = B->rows;
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    ritz_line(B, values + c * Q, 1, a + (c * RITZ_IN_SLAB(Q) + row) * P, 1, false);
  }
}

// ---- Direct route: one contraction over all directions with matrices of their own (in 1D, and where values
// at the points do not determine the nodes). x [component], nodes as above -> y [component], points as above.
// work: slabs of one component between the directions; 1D: none.
RITZ_INLINE void ritz_contract_all(const RitzMatrix *first, const RitzMatrix *middle, const RitzMatrix *last,
                                   int num_comp, const RitzVec *x, RitzVec *y, RitzVec *work, bool add) {
  const int P = last->cols, M = last->rows, N = first->rows, K = first->cols;
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    const RitzVec *slabs = RITZ_DIM == 1 ? x + c * P : work;
    RITZ_ROLLED for (int k = 0; RITZ_DIM > 1 && k < P; k++) {
      const RitzVec *from = x + c * RITZ_SIZE(P, K) + k * RITZ_SLAB(K);
      RitzVec *to = work + k * RITZ_SLAB(N);
      if (RITZ_DIM == 3) {
        RitzVec t[RITZ_LINE * RITZ_LINE];
        RITZ_ROLLED for (int j = 0; j < K; j++) ritz_line(first, from + j * K, 1, t + j * N, 1, false);
        RITZ_ROLLED for (int i = 0; i < N; i++) ritz_line(middle, t + i, N, to + i, N, false);
      } else {
        ritz_line(first, from, 1, to, 1, false);
      }
    }
    RITZ_ROLLED for (int i = 0; i < RITZ_IN_SLAB(N); i++) {
      ritz_line(last, slabs + i, RITZ_SLAB(N), y + c * RITZ_SIZE(M, N) + i, RITZ_SLAB(N), add);
    }
  }
}

#endif
