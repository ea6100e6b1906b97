// SPDX-License-Identifier: BSD-2-Clause
// Element matrices of one batch of elements (plan/matrix.h): derivatives D of the QFunction by unit vectors
// at all points, then
//
//     A[(c_out, i)][(c_in, j)] = sum over points q, output modes o, input modes m of
//                                B_o(q, i) D[(o, c_out)][(m, c_in)](q) B_m(q, j)
//
// a pair of components at a time. Dense bases: products with both tables. Tensor bases: B_o B_m is a product
// of 1D tables of pairs (i, j) of a direction, contracted direction by direction, the last one first; terms
// with the same tables are added up at the points. Included by the texts of emit/matrix.c, after kernel.h.
#ifndef RITZ_KERNELS_CPU_MATRIX_H
#define RITZ_KERNELS_CPU_MATRIX_H

#include "kernels/cpu/block.h"
#include "kernels/cpu/diagonal.h"

// Loops that live in registers, whatever the number of points.
#if defined(__clang__)
#define RITZ_REGISTERS _Pragma("clang loop unroll(full)")
#else
#define RITZ_REGISTERS _Pragma("GCC unroll 64")
#endif

// Sums in registers, and a tile of them.
enum {
  RITZ_MATRIX_SUMS = RITZ_DENSE_ROWS > 8 ? (RITZ_REGISTER_BYTES == 64 ? 16 : RITZ_DENSE_ROWS) : 8,
  RITZ_MATRIX_COLS = 4,
  RITZ_MATRIX_ROWS = RITZ_VEC_REGISTERS > 1      ? 1
                     : RITZ_REGISTER_BYTES == 64 ? 4
                                                 : 2
};

// ---- Derivatives ----

// Slots [term][c_in][c_out][point]. At RITZ_CALL points from q on.
RITZ_INLINE void ritz_clear_derivatives(int num, int Q, RitzVec *D, int q) {
  RITZ_ROLLED for (int s = 0; s < num; s++) {
    RITZ_UNROLL for (int n = 0; n < RITZ_CALL; n++) D[s * Q + q + n] = ritz_splat(0);
  }
}

// Outputs for the unit vector of scalar m of the modes, which are [num_in][num_comp].
RITZ_INLINE void ritz_add_derivatives(const RitzDiagonal *d, int comps_out, int m, const RitzVec *outputs,
                                      int Q, RitzVec *D, int q) {
  const int in = m / d->num_comp, c_in = m % d->num_comp;
  RITZ_UNROLL for (int o = 0; o < d->num_out; o++) {
    RITZ_UNROLL for (int c = 0; c < comps_out; c++) {
      const RitzVec *from = outputs + (d->out[o] + c) * RITZ_CALL;
      RitzVec *to = D + ((d->term[in * d->num_out + o] * d->num_comp + c_in) * comps_out + c) * Q + q;
      RITZ_UNROLL for (int n = 0; n < RITZ_CALL; n++) to[n] += from[n];
    }
  }
}

// ---- Dense bases ----

// A[i][j] = sum over k of B[k][i] rows[k][j], for `rows` i and `cols` j, which the compiler knows.
RITZ_INLINE void ritz_matrix_tile(int num_rows, int num_cols, int K, const RitzReal *B, int P,
                                  const RitzVec *rows, int row_stride, RitzVec *A) {
  RitzVec sum[RITZ_MATRIX_ROWS * RITZ_MATRIX_COLS];
  RITZ_REGISTERS for (int s = 0; s < num_rows * num_cols; s++) sum[s] = ritz_splat(0);
  RITZ_ROLLED for (int k = 0; k < K; k++) {
    RITZ_REGISTERS for (int i = 0; i < num_rows; i++) {
      RITZ_REGISTERS for (int j = 0; j < num_cols; j++) sum[i * num_cols + j] +=
          B[k * P + i] * rows[k * RITZ_MATRIX_COLS + j];
    }
  }
  RITZ_REGISTERS for (int i = 0; i < num_rows; i++) {
    RITZ_REGISTERS for (int j = 0; j < num_cols; j++) A[i * row_stride + j] = sum[i * num_cols + j];
  }
}

// rows[(q, o)][j] = sum over modes m of D[o][m](q) B_m(q, j), for num_cols columns from `first` on.
RITZ_INLINE void ritz_matrix_rows(const RitzDiagonal *d, int Q, int P, int num_cols, int first,
                                  const RitzReal *B, const RitzVec *D, int slot, RitzVec *rows) {
  RITZ_ROLLED for (int q = 0; q < Q; q++) {
    RITZ_ROLLED for (int o = 0; o < d->num_out; o++) {
      RitzVec sum[RITZ_MATRIX_COLS];
      RITZ_REGISTERS for (int j = 0; j < num_cols; j++) sum[j] = ritz_splat(0);
      RITZ_ROLLED for (int m = 0; m < d->num_in; m++) {
        const RitzVec derivative = D[d->term[m * d->num_out + o] * slot + q];
        const RitzReal *row = B + (q * d->num_in + m) * P + first;
        RITZ_REGISTERS for (int j = 0; j < num_cols; j++) sum[j] += row[j] * derivative;
      }
      RITZ_REGISTERS for (int j = 0; j < num_cols; j++) rows[(q * d->num_out + o) * RITZ_MATRIX_COLS + j] =
          sum[j];
    }
  }
}

RITZ_INLINE void ritz_matrix_columns(const RitzDiagonal *d, int Q, int P_out, int P_in, int num_cols,
                                     int first, const RitzReal *B_out, const RitzReal *B_in, const RitzVec *D,
                                     int slot, RitzVec *rows, int row_stride, RitzVec *A) {
  const int K = Q * d->num_out, rest = P_out % RITZ_MATRIX_ROWS;
  ritz_matrix_rows(d, Q, P_in, num_cols, first, B_in, D, slot, rows);
  RITZ_ROLLED for (int i = 0; i < P_out - rest; i += RITZ_MATRIX_ROWS)
      ritz_matrix_tile(RITZ_MATRIX_ROWS, num_cols, K, B_out + i, P_out, rows, row_stride, A + i * row_stride);
  if (rest)
    ritz_matrix_tile(rest, num_cols, K, B_out + P_out - rest, P_out, rows, row_stride,
                     A + (P_out - rest) * row_stride);
}

// All pairs of components; B [point][mode][node]; scratch `rows` [points * output modes][RITZ_MATRIX_COLS].
RITZ_INLINE void ritz_matrix_dense(const RitzDiagonal *d, int comps_out, int Q, int P_out, int P_in,
                                   const RitzReal *B_out, const RitzReal *B_in, const RitzVec *D,
                                   RitzVec *rows, RitzVec *A) {
  const int slot = d->num_comp * comps_out * Q, row_stride = d->num_comp * P_in,
            rest = P_in % RITZ_MATRIX_COLS;
  RITZ_ROLLED for (int c = 0; c < d->num_comp * comps_out; c++) {
    const RitzVec *of_pair = D + c * Q;
    RitzVec *to = A + c % comps_out * P_out * row_stride + c / comps_out * P_in;
    RITZ_ROLLED for (int j = 0; j < P_in - rest; j += RITZ_MATRIX_COLS)
        ritz_matrix_columns(d, Q, P_out, P_in, RITZ_MATRIX_COLS, j, B_out, B_in, of_pair, slot, rows,
                            row_stride, to + j);
    if (rest)
      ritz_matrix_columns(d, Q, P_out, P_in, rest, P_in - rest, B_out, B_in, of_pair, slot, rows, row_stride,
                          to + P_in - rest);
  }
}

// ---- Tensor bases ----

// Terms sorted by the kinds of their pairs in direction 0, then 1, then 2: 0 B B, 1 B D, 2 D B, 3 D D
// (output, then input). Those with equal kinds in directions 0 and 1 are a group, groups with an equal kind
// in direction 0 share a head.
typedef struct {
  int comps_in, comps_out, P_out, P_in; // nodes in a direction
  int num_terms, num_groups, num_heads;
  const int *group_begin;                        // [num_groups + 1]: terms; 2D: not used, terms are groups
  const int *head_begin;                         // [num_heads + 1]: groups
  const int *term_kind, *group_kind, *head_kind; // in direction 2, 1, 0
} RitzMatrixTerms;

// to[o][n] = sum over t of list o, and points q, of pairs[kind of t][q][entry] from[t][q][n]: n < inner, in
// rows of RITZ_Q.
RITZ_INLINE void ritz_pair_sums(int num, const int *begin, const int *kind, const RitzReal *pairs, int size,
                                int entry, int inner, const RitzVec *from, int stride, RitzVec *to) {
  RITZ_ROLLED for (int o = 0; o < num; o++) {
    RITZ_ROLLED for (int n = 0; n < inner; n += RITZ_Q) {
      RitzVec sum[RITZ_Q];
      RITZ_UNROLL for (int i = 0; i < RITZ_Q; i++) sum[i] = ritz_splat(0);
      RITZ_ROLLED for (int t = begin[o]; t < begin[o + 1]; t++) {
        const RitzReal *pair = pairs + kind[t] * RITZ_Q * size + entry;
        const RitzVec *x = from + t * stride + n;
        RITZ_UNROLL for (int q = 0; q < RITZ_Q; q++) {
          RITZ_UNROLL for (int i = 0; i < RITZ_Q; i++) sum[i] += pair[q * size] * x[q * inner + i];
        }
      }
      RITZ_UNROLL for (int i = 0; i < RITZ_Q; i++) to[o * inner + n + i] = sum[i];
    }
  }
}

// Rows `first` .. first + num_rows - 1 of the pairs of direction 0.
RITZ_INLINE void ritz_pair_tile(const RitzMatrixTerms *m, int num_rows, int first, const RitzReal *pairs,
                                const RitzVec *x, int row_stride, RitzVec *A) {
  const int size = m->P_out * m->P_in, num = num_rows * m->P_in;
  RitzVec sum[RITZ_MATRIX_SUMS];
  RITZ_REGISTERS for (int s = 0; s < num; s++) sum[s] = ritz_splat(0);
  RITZ_ROLLED for (int h = 0; h < m->num_heads; h++) {
    const RitzReal *pair = pairs + m->head_kind[h] * RITZ_Q * size + first * m->P_in;
    RITZ_UNROLL for (int q = 0; q < RITZ_Q; q++) {
      RITZ_REGISTERS for (int s = 0; s < num; s++) sum[s] += pair[q * size + s] * x[h * RITZ_Q + q];
    }
  }
  RITZ_REGISTERS for (int s = 0; s < num; s++) A[(first + s / m->P_in) * row_stride + s % m->P_in] = sum[s];
}

RITZ_INLINE void ritz_pair_tiles(const RitzMatrixTerms *m, const RitzReal *pairs, const RitzVec *x,
                                 int row_stride, RitzVec *A) {
  const int most = RITZ_MATRIX_SUMS / m->P_in, rows = most < 1 ? 1 : most < m->P_out ? most : m->P_out;
  const int rest = m->P_out % rows;
  RITZ_ROLLED for (int i = 0; i < m->P_out - rest; i += rows)
      ritz_pair_tile(m, rows, i, pairs, x, row_stride, A);
  if (rest) ritz_pair_tile(m, rest, m->P_out - rest, pairs, x, row_stride, A);
}

// Directions 1 and 0. from: [group][RITZ_Q][RITZ_Q], `stride` apart.
RITZ_INLINE void ritz_pair_planes(const RitzMatrixTerms *m, const RitzReal *pairs, const RitzVec *from,
                                  int stride, int row_stride, RitzVec *A) {
  const int size = m->P_out * m->P_in;
  RITZ_ROLLED for (int entry = 0; entry < size; entry++) {
    RitzVec x[4 * RITZ_Q];
    ritz_pair_sums(m->num_heads, m->head_begin, m->group_kind, pairs, size, entry, RITZ_Q, from, stride, x);
    ritz_pair_tiles(m, pairs, x, row_stride,
                    A + entry / m->P_in * m->P_out * row_stride + entry % m->P_in * m->P_in);
  }
}

// All pairs of components; pairs [kind][point][node of output][node of input], of one direction; scratch
// planes [group][RITZ_Q * RITZ_Q] of three directions.
RITZ_INLINE void ritz_matrix_tensor(const RitzMatrixTerms *m, const RitzReal *pairs, const RitzVec *D,
                                    RitzVec *planes, RitzVec *A) {
  const int plane = RITZ_Q * RITZ_Q, Q = RITZ_DIM == 3 ? plane * RITZ_Q : plane;
  const int size = m->P_out * m->P_in, stride = m->comps_in * m->comps_out * Q;
  const int rows = m->P_out * m->P_out * (RITZ_DIM == 3 ? m->P_out : 1);
  const int cols = m->P_in * m->P_in * (RITZ_DIM == 3 ? m->P_in : 1);
  const int row_stride = m->comps_in * cols;
  RITZ_ROLLED for (int c = 0; c < m->comps_in * m->comps_out; c++) {
    RitzVec *to = A + c % m->comps_out * rows * row_stride + c / m->comps_out * cols;
    if (RITZ_DIM == 2) {
      ritz_pair_planes(m, pairs, D + c * Q, stride, row_stride, to);
      continue;
    }
    RITZ_ROLLED for (int entry = 0; entry < size; entry++) {
      ritz_pair_sums(m->num_groups, m->group_begin, m->term_kind, pairs, size, entry, plane, D + c * Q,
                     stride, planes);
      ritz_pair_planes(m, pairs, planes, plane, row_stride,
                       to + entry / m->P_in * m->P_out * m->P_out * row_stride +
                           entry % m->P_in * m->P_in * m->P_in);
    }
  }
}

#endif
