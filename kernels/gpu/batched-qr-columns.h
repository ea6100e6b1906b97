// SPDX-License-Identifier: BSD-2-Clause
// QR factors of up to 32 columns and rows: a thread holds a column in registers, a power of 2 of threads of a
// warp takes a matrix. The thread of a step makes its reflector and gives it to the others through shared
// memory: no sums over threads. Matrices come and go through shared memory, in the order of global memory.
// One text for uniform and other calls; sizes are bounds. The text in front defines:
//
//   RITZ_THREADS  of a block
//   RITZ_GROUP    threads of a matrix: at least its columns
//   RITZ_ROWS     at least its rows
//   RITZ_RESIDENT blocks of a multiprocessor
#ifndef RITZ_KERNELS_GPU_BATCHED_QR_COLUMNS_H
#define RITZ_KERNELS_GPU_BATCHED_QR_COLUMNS_H

#include "kernels/gpu/batched.h"

#define RITZ_GROUPS (RITZ_THREADS / RITZ_GROUP)
#define RITZ_FAR    (RITZ_ROWS | 1) // columns of a matrix in shared memory

#ifdef __OPENCL_VERSION__
#define RITZ_MEET_GROUP() RITZ_STEP()
#else
#define RITZ_MEET_GROUP() __syncwarp()
#endif

// Squares of numbers between these can be summed up: neither they nor the sum leave the range.
#ifdef RITZ_ENTRY_F32
#define RITZ_LEAST_SQUARES 1e-25f
#define RITZ_MOST_SQUARES  1e35f
#else
#define RITZ_LEAST_SQUARES 1e-250
#define RITZ_MOST_SQUARES  1e300
#endif

// Two sums, of even and of odd places.
RITZ_INLINE RitzEntry ritz_multiply_below(int j, const RitzEntry *x, const RitzEntry *y) {
  RitzEntry sum[2] = {0, 0};
  RITZ_UNROLL
  for (int i = 0; i < RITZ_ROWS; i++) sum[i % 2] = i > j ? RITZ_FMA(x[i], y[i], sum[i % 2]) : sum[i % 2];
  return sum[0] + sum[1];
}

// A column whose squares leave the range: what is below entry j is divided by the largest entry, which is
// returned, or 0 where there is nothing; through the thread's own column of shared memory, in few
// instructions.
RITZ_INLINE RitzEntry ritz_scale_below(int j, RitzEntry *a, RITZ_SHARED RitzEntry *column) {
  RitzEntry below = 0;
  RITZ_UNROLL
  for (int i = 0; i < RITZ_ROWS; i++) column[i] = a[i];
  const RitzEntry first = RITZ_ABS(column[j]);
  RITZ_ROLL
  for (int i = j + 1; i < RITZ_ROWS; i++) below = RITZ_ABS(column[i]) > below ? RITZ_ABS(column[i]) : below;
  const RitzEntry unit = below > first ? below : first;
  RITZ_ROLL
  for (int i = j + 1; i < RITZ_ROWS; i++) column[i] = below > 0 ? column[i] / unit : column[i];
  RITZ_UNROLL
  for (int i = 0; i < RITZ_ROWS; i++) a[i] = column[i];
  return below > 0 ? unit : 0;
}

// H = I - tau v v^T that makes column a zero below entry j; v below it in place of the zeros. Returns tau.
RITZ_INLINE RitzEntry ritz_make_reflector(int j, RitzEntry *a, RITZ_SHARED RitzEntry *column) {
  RitzEntry unit = 1, squares = ritz_multiply_below(j, a, a);
  if (!(squares >= RITZ_LEAST_SQUARES && squares + a[j] * a[j] <= RITZ_MOST_SQUARES)) {
    unit = ritz_scale_below(j, a, column);
    squares = ritz_multiply_below(j, a, a);
  }
  if (unit == 0) return 0;
  const RitzEntry alpha = a[j] / unit, length = RITZ_SQRT(alpha * alpha + squares);
  const RitzEntry beta = alpha < 0 ? length : -length, factor = 1 / (alpha - beta);
  RITZ_UNROLL
  for (int i = 0; i < RITZ_ROWS; i++) a[i] = i > j ? a[i] * factor : a[i];
  a[j] = beta * unit;
  return (beta - alpha) / beta;
}

// Step j of a matrix that has one: thread j makes the reflector, the ones behind apply it. line: tau, and v
// below entry j.
RITZ_INLINE void ritz_take_step(int j, int col, int has_step, RitzEntry *a, RitzEntry *tau,
                                RITZ_SHARED RitzEntry *line, RITZ_SHARED RitzEntry *column) {
  RitzEntry v[RITZ_ROWS];
  if (has_step && col == j) {
    *tau = ritz_make_reflector(j, a, column);
    RITZ_UNROLL
    for (int i = 0; i < RITZ_ROWS; i++) line[i] = i > j ? a[i] : *tau;
  }
  RITZ_MEET_GROUP();
  if (!has_step) return;
  RITZ_UNROLL
  for (int i = 0; i < RITZ_ROWS; i++) v[i] = i >= j ? line[i] : 0;
  const RitzEntry sum = col > j && v[j] != 0 ? v[j] * (a[j] + ritz_multiply_below(j, v, a)) : 0;
  a[j] -= sum;
  RITZ_UNROLL
  for (int i = 0; i < RITZ_ROWS; i++) a[i] = i > j ? RITZ_FMA(-sum, v[i], a[i]) : a[i];
}

// All steps; threads of columns that are not there hold zeros.
RITZ_INLINE RitzEntry ritz_factorize(int num_steps, int col, RitzEntry *a, RITZ_SHARED RitzEntry *lines,
                                     RITZ_SHARED RitzEntry *column) {
  RitzEntry tau = 0;
  RITZ_UNROLL
  for (int j = 0; j < (RITZ_ROWS < RITZ_GROUP ? RITZ_ROWS : RITZ_GROUP); j++)
    ritz_take_step(j, col, j < num_steps, a, &tau, lines + j % 2 * RITZ_ROWS, column);
  return tau;
}

RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_SHARED_ARRAY RitzEntry matrices[RITZ_GROUPS * RITZ_GROUP * RITZ_FAR];
  RITZ_SHARED_ARRAY RitzEntry lines[RITZ_GROUPS * 2 * RITZ_ROWS];
  const int col = RITZ_THREAD % RITZ_GROUP, place = RITZ_THREAD / RITZ_GROUP;
  RITZ_SHARED RitzEntry *held = matrices + place * RITZ_GROUP * RITZ_FAR, *column = held + col * RITZ_FAR;
  for (RitzLong first = RITZ_BLOCK * RITZ_GROUPS; first < count; first += RITZ_NUM_BLOCKS * RITZ_GROUPS) {
    const int is_there = first + place < count;
    const RitzLong i = is_there ? first + place : count - 1;
    int m, n, k;
    const int bad = RITZ_SIZES(i, m, n, k), num = is_there ? m * n : 0, least = m < n ? m : n;
    const RitzMatrix matrix = RITZ_MATRIX(A, i, m, n), factors = RITZ_MATRIX(B, i, least, 1);
    RitzEntry a[RITZ_ROWS];
    for (int e = col; e < num; e += RITZ_GROUP)
      held[e / m * RITZ_FAR + e % m] = RITZ_AT(matrix, e % m, e / m);
    RITZ_MEET_GROUP();
    RITZ_UNROLL
    for (int r = 0; r < RITZ_ROWS; r++) a[r] = is_there && r < m && col < n ? column[r] : 0;
    const RitzEntry tau = ritz_factorize(is_there ? least : 0, col, a, lines + place * 2 * RITZ_ROWS, column);
    RITZ_UNROLL
    for (int r = 0; r < RITZ_ROWS; r++) column[r] = a[r];
    RITZ_MEET_GROUP();
    for (int e = col; e < num; e += RITZ_GROUP)
      RITZ_AT(matrix, e % m, e / m) = held[e / m * RITZ_FAR + e % m];
    if (is_there && col < least) RITZ_AT(factors, col, 0) = tau;
    if (is_there && info && col == 0) info[i] = bad;
    RITZ_MEET_GROUP();
  }
}

#endif
