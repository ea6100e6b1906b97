// SPDX-License-Identifier: BSD-2-Clause
// Between the arrays of a batch and the arguments of the QFunction. An argument holds, per component,
// `points` vectors; the function sees it as [component][points * lanes].
#ifndef RITZ_KERNELS_CPU_POINTS_H
#define RITZ_KERNELS_CPU_POINTS_H

#include "kernels/cpu/vector.h"

// The grid of points as the loop runs over it: planes k, rows j, points i of a row.
#ifdef RITZ_DIM
enum { RITZ_PLANES = RITZ_DIM == 3 ? RITZ_Q : 1, RITZ_ROWS = RITZ_DIM >= 2 ? RITZ_Q : 1 };
#define RITZ_POINT(k, j, i) (((k)*RITZ_ROWS + (j)) * RITZ_Q + (i))
#endif

// arg [num][points] = from[c*stride + at + n]
RITZ_INLINE void ritz_take(int num, int points, const RitzVec *from, int stride, int at, RitzVec *arg) {
  RITZ_UNROLL for (int c = 0; c < num; c++) {
    RITZ_UNROLL for (int n = 0; n < points; n++) arg[c * points + n] = from[c * stride + at + n];
  }
}

RITZ_INLINE void ritz_give(int num, int points, const RitzVec *arg, RitzVec *to, int stride, int at,
                           bool add) {
  RITZ_UNROLL for (int c = 0; c < num; c++) {
    RITZ_UNROLL for (int n = 0; n < points; n++) {
      RitzVec *y = to + c * stride + at + n;
      *y = add ? *y + arg[c * points + n] : arg[c * points + n];
    }
  }
}

// Packed data of the batch: [component][Q][lane].
RITZ_INLINE void ritz_take_packed(int num, int points, const RitzKernelSpace *space, int64_t batch, int Q,
                                  int q, RitzVec *arg) {
  const RitzVec *data = (const RitzVec *)space->array + batch * num * Q;
  ritz_take(num, points, data, Q, q, arg);
}

// The same of data in the other precision.
RITZ_INLINE void ritz_take_packed_other(int num, int points, const RitzKernelSpace *space, int64_t batch,
                                        int Q, int q, RitzVec *arg) {
  const RitzOtherVec *data = (const RitzOtherVec *)space->array + batch * num * Q;
  RITZ_UNROLL for (int c = 0; c < num; c++) {
    RITZ_UNROLL for (int n = 0; n < points; n++) arg[c * points + n] =
        RITZ_CONVERT(data[c * Q + q + n], RitzVec);
  }
}

// Products of 1D weights at points i .. i + points - 1 of a row; `row` is the product of the others.
RITZ_INLINE void ritz_take_weights(int points, const RitzReal *weights, RitzReal row, int i, RitzVec *arg) {
  RITZ_UNROLL for (int n = 0; n < points; n++) arg[n] = ritz_splat(row * weights[i + n]);
}

#endif
