// SPDX-License-Identifier: BSD-2-Clause
// Bases without tensor structure on one batch of elements: y = A x with a matrix that is handed over at run
// time. Four rows at a time, so that each value of x is loaded once for four multiplications.
#ifndef RITZ_KERNELS_CPU_DENSE_H
#define RITZ_KERNELS_CPU_DENSE_H

#include "kernels/cpu/vector.h"

// y [rows] (+)= A x [cols], values sx and sy vectors apart; A [rows][cols] by strides (row, column).
RITZ_INLINE void ritz_dense_product(int rows, int cols, const RitzReal *A, int row, int col, const RitzVec *x,
                                    int sx, RitzVec *y, int sy, bool add) {
  int i = 0;
  RITZ_ROLLED for (; i + 4 <= rows; i += 4) {
    const RitzReal *a = A + (int64_t)i * row;
    RitzVec s0 = ritz_splat(0), s1 = s0, s2 = s0, s3 = s0, *to = y + i * sy;
    RITZ_ROLLED for (int j = 0; j < cols; j++, a += col) {
      const RitzVec xj = x[j * sx];
      s0 += a[0] * xj;
      s1 += a[row] * xj;
      s2 += a[2 * row] * xj;
      s3 += a[3 * row] * xj;
    }
    to[0] = add ? to[0] + s0 : s0;
    to[sy] = add ? to[sy] + s1 : s1;
    to[2 * sy] = add ? to[2 * sy] + s2 : s2;
    to[3 * sy] = add ? to[3 * sy] + s3 : s3;
  }
  RITZ_ROLLED for (; i < rows; i++) {
    RitzVec s = ritz_splat(0);
    RITZ_ROLLED for (int j = 0; j < cols; j++) s += A[(int64_t)i * row + (int64_t)j * col] * x[j * sx];
    y[i * sy] = add ? y[i * sy] + s : s;
  }
}

// x [num_comp][P] -> y [q_comp][num_comp][Q]; A [q_comp][Q][P].
RITZ_INLINE void ritz_dense_up(int q_comp, int num_comp, int P, int Q, const RitzReal *A, const RitzVec *x,
                               RitzVec *y) {
  RITZ_ROLLED for (int d = 0; d < q_comp; d++) {
    RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
      ritz_dense_product(Q, P, A + (int64_t)d * Q * P, P, 1, x + c * P, 1, y + (d * num_comp + c) * Q, 1,
                         false);
    }
  }
}

// Transposed: x (+)= sum over d of A_d^T y_d.
RITZ_INLINE void ritz_dense_down(int q_comp, int num_comp, int P, int Q, const RitzReal *A, const RitzVec *y,
                                 RitzVec *x, bool add) {
  RITZ_ROLLED for (int d = 0; d < q_comp; d++) {
    RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
      ritz_dense_product(P, Q, A + (int64_t)d * Q * P, 1, P, y + (d * num_comp + c) * Q, 1, x + c * P, 1,
                         add || d > 0);
    }
  }
}

#endif
