// SPDX-License-Identifier: BSD-2-Clause
// Dense solver on devices: triangles of the factors with vectors in double. The text in front defines
// RITZ_ENTRY_F32 where factors are floats, and RITZ_ROWS of a block.
#ifndef RITZ_KERNELS_GPU_DENSE_SOLVE_H
#define RITZ_KERNELS_GPU_DENSE_SOLVE_H

#include "kernels/gpu/dense-solver.h"

enum { RITZ_PARTS = 4, RITZ_SHARE = RITZ_ROWS / RITZ_PARTS };

// y = rows of x in another order
RITZ_KERNEL(256)
ritz_permute(int n, RITZ_GLOBAL const int *from, RITZ_GLOBAL const double *x, RITZ_GLOBAL double *y) {
  const RitzLong i = RITZ_ITEM;
  if (i < n) y[i] = x[from ? from[i] : i];
}

// x := T^-1 x or T^-T x, by blocks of RITZ_ROWS unknowns, which the blocks of threads take in the order in
// which they are solved: who waits, waits for one that was taken before and is being solved. Lower triangles
// forward, upper ones backward, transposed the other way round. flags [1 + number of blocks], zeros: the next
// one to be taken; which are solved. inverse: of the diagonal blocks, 2 RITZ_ROWS^2 apart, of lower and upper
// triangles.
RITZ_KERNEL(RITZ_PARTS *RITZ_ROWS)
ritz_triangle(int n, RitzLong ld, RITZ_GLOBAL const RitzEntry *F, RITZ_GLOBAL const RitzEntry *inverse,
              int is_upper, int is_transposed, volatile RITZ_GLOBAL int *flags,
              volatile RITZ_GLOBAL double *x) {
  RITZ_SHARED_ARRAY double part[RITZ_PARTS * RITZ_ROWS], right[RITZ_ROWS];
  RITZ_SHARED_ARRAY int taken[1];
  const int r = RITZ_THREAD % RITZ_ROWS, g = RITZ_THREAD / RITZ_ROWS;
  const int num = (n + RITZ_ROWS - 1) / RITZ_ROWS, is_back = is_upper != is_transposed;
  const RitzLong step_row = is_transposed ? ld : 1, step_col = is_transposed ? 1 : ld;
  const int inverse_row = is_transposed ? RITZ_ROWS : 1, inverse_col = is_transposed ? 1 : RITZ_ROWS;
  if (RITZ_THREAD == 0) taken[0] = RITZ_TAKE((RITZ_GLOBAL int *)flags);
  RITZ_STEP();
  for (int mine = taken[0]; mine < num; mine = taken[0]) {
    const int block = is_back ? num - 1 - mine : mine, row = block * RITZ_ROWS + r;
    double sum = 0;
    for (int step = 0; step < mine; step++) {
      const int other = is_back ? num - 1 - step : step, col = other * RITZ_ROWS + g * RITZ_SHARE;
      RITZ_GLOBAL const RitzEntry *T = F + row * step_row + col * step_col;
      RitzEntry t[RITZ_SHARE];
      RITZ_UNROLL
      for (int q = 0; q < RITZ_SHARE; q++) t[q] = T[q * step_col]; // of zeros beyond n
      if (RITZ_THREAD == 0) {
        while (flags[1 + other] == 0) {
        }
        RITZ_PUBLISH();
      }
      RITZ_STEP();
      RITZ_UNROLL
      for (int q = 0; q < RITZ_SHARE; q++) sum += (double)t[q] * (col + q < n ? x[col + q] : 0);
    }
    part[RITZ_THREAD] = sum;
    RITZ_STEP();
    if (g == 0) {
      sum = row < n ? x[row] : 0;
      for (int p = 0; p < RITZ_PARTS; p++) sum -= part[p * RITZ_ROWS + r];
      right[r] = sum;
    }
    RITZ_STEP();
    RITZ_GLOBAL const RitzEntry *X =
        inverse + (RitzLong)(2 * block + is_upper) * RITZ_ROWS * RITZ_ROWS + r * inverse_row;
    sum = 0;
    for (int q = g * RITZ_SHARE; q < (g + 1) * RITZ_SHARE; q++) sum += (double)X[q * inverse_col] * right[q];
    part[RITZ_THREAD] = sum;
    RITZ_STEP();
    if (g == 0 && row < n) {
      for (int p = 1; p < RITZ_PARTS; p++) sum += part[p * RITZ_ROWS + r];
      x[row] = sum;
      RITZ_PUBLISH();
    }
    RITZ_STEP();
    if (RITZ_THREAD == 0) {
      flags[1 + block] = 1;
      taken[0] = RITZ_TAKE((RITZ_GLOBAL int *)flags);
    }
    RITZ_STEP();
  }
}

#endif
