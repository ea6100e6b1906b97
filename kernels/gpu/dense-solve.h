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

// Zero says that a number is not there yet: those that are zero have a minus.
RITZ_INLINE double ritz_wait(volatile RITZ_GLOBAL const double *p) {
  double value = *p;
  while (RITZ_BITS_LONG(value) == 0) value = *p;
  return value;
}

RITZ_INLINE void ritz_read_share(RITZ_GLOBAL const RitzEntry *from, RitzLong step, RitzEntry *share) {
  RITZ_UNROLL
  for (int q = 0; q < RITZ_SHARE; q++) share[q] = from[q * step];
}

RITZ_INLINE double ritz_multiply_share(const RitzEntry *share, RITZ_SHARED const double *x) {
  double sum[2] = {0, 0};
  RITZ_UNROLL
  for (int q = 0; q < RITZ_SHARE; q++) sum[q % 2] += (double)share[q] * x[q];
  return sum[0] + sum[1];
}

// x = T^-1 b or T^-T b, by blocks of RITZ_ROWS unknowns, which the blocks of threads take in the order in
// which they are solved: who waits, waits for one that was taken before and is being solved. Lower triangles
// forward, upper ones backward, transposed the other way round. x, taken [1]: zeros before. b and x have
// whole blocks, b zeros beyond n. inverse: of the diagonal blocks, 2 RITZ_ROWS^2 apart, of lower and upper
// triangles.
RITZ_KERNEL(RITZ_PARTS *RITZ_ROWS)
ritz_triangle(int n, RitzLong ld, RITZ_GLOBAL const RitzEntry *F, RITZ_GLOBAL const RitzEntry *inverse,
              int is_upper, int is_transposed, RITZ_GLOBAL int *taken, RITZ_GLOBAL const double *b,
              volatile RITZ_GLOBAL double *x) {
  RITZ_SHARED_ARRAY double part[RITZ_PARTS * RITZ_ROWS], right[RITZ_ROWS], solved[2 * RITZ_ROWS];
  RITZ_SHARED_ARRAY int mine_at[1];
  const int r = RITZ_THREAD % RITZ_ROWS, g = RITZ_THREAD / RITZ_ROWS;
  const int num = (n + RITZ_ROWS - 1) / RITZ_ROWS, is_back = is_upper != is_transposed;
  const RitzLong step_row = is_transposed ? ld : 1, step_col = is_transposed ? 1 : ld;
  const int inverse_row = is_transposed ? RITZ_ROWS : 1, inverse_col = is_transposed ? 1 : RITZ_ROWS;
  if (RITZ_THREAD == 0) mine_at[0] = RITZ_TAKE(taken);
  RITZ_STEP();
  for (int mine = mine_at[0]; mine < num; mine = mine_at[0]) {
    const int block = is_back ? num - 1 - mine : mine, row = block * RITZ_ROWS + r;
    RITZ_GLOBAL const RitzEntry *X = inverse + (RitzLong)(2 * block + is_upper) * RITZ_ROWS * RITZ_ROWS +
                                     r * inverse_row + g * RITZ_SHARE * inverse_col;
    const double given = g == 0 ? b[row] : 0;
    RitzEntry t[RITZ_SHARE], share[RITZ_SHARE];
    double sum = 0;
#ifdef RITZ_ENTRY_F32 // ahead of time; doubles would not fit the registers
    ritz_read_share(X, inverse_col, share);
#endif
    for (int step = 0; step < mine; step++) {
      const int other = (is_back ? num - 1 - step : step) * RITZ_ROWS, turn = step % 2 * RITZ_ROWS;
      ritz_read_share(F + row * step_row + (other + g * RITZ_SHARE) * step_col, step_col,
                      t); // zeros beyond n
      if (g == 0) solved[turn + r] = other + r < n ? ritz_wait(x + other + r) : 0;
      RITZ_BARRIER();
      sum += ritz_multiply_share(t, solved + turn + g * RITZ_SHARE);
    }
    part[RITZ_THREAD] = sum;
    RITZ_BARRIER();
    if (g == 0) {
      sum = given;
      for (int p = 0; p < RITZ_PARTS; p++) sum -= part[p * RITZ_ROWS + r];
      right[r] = sum;
    }
    RITZ_BARRIER();
#ifndef RITZ_ENTRY_F32
    ritz_read_share(X, inverse_col, share);
#endif
    part[RITZ_THREAD] = ritz_multiply_share(share, right + g * RITZ_SHARE);
    if (RITZ_THREAD == 0) mine_at[0] = RITZ_TAKE(taken);
    RITZ_BARRIER();
    if (g == 0 && row < n) {
      sum = part[r];
      for (int p = 1; p < RITZ_PARTS; p++) sum += part[p * RITZ_ROWS + r];
      x[row] = sum == 0 ? -0.0 : sum;
    }
    RITZ_STEP();
  }
}

#endif
