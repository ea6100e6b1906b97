// SPDX-License-Identifier: BSD-2-Clause
// Diagonals of operators on a block of elements (plan/gpu-diagonal.h): derivatives of the QFunction by
// unit vectors, and contractions with products of 1D tables. Comes after kernels/gpu/lines.h in the texts of
// emit/gpu-diagonal.c.
#ifndef RITZ_KERNELS_GPU_DIAGONAL_H
#define RITZ_KERNELS_GPU_DIAGONAL_H

#include "kernels/gpu/units.h"

// line += value row
RITZ_INLINE void ritz_add_row(int n, RITZ_IN_CONSTANT const RitzReal *row, RitzReal value, RitzReal *line) {
  RITZ_UNROLL
  for (int i = 0; i < n; i++) line[i] += value * row[i];
}

// Array to registers: line += M from
RITZ_INLINE void ritz_get_add(int rows, int cols, int parity, RITZ_IN_CONSTANT const RitzReal *M,
                              RITZ_SHARED const RitzReal *from, int stride, RitzReal *line) {
  RitzReal x[RITZ_MAX_1D], y[RITZ_MAX_1D];
  ritz_read(cols, from, stride, x);
  ritz_multiply(rows, cols, parity, M, x, y);
  RITZ_UNROLL
  for (int i = 0; i < rows; i++) line[i] += y[i];
}

#endif
