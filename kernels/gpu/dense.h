// SPDX-License-Identifier: BSD-2-Clause
// One mode of a dense basis, one way, compiled for its sizes: a matrix times the values of many items (pairs
// of component and element). A thread computes one row for RITZ_PER_THREAD items at once, so that it loads
// each entry of the table once for all of them; threads side by side load entries side by side. Input values
// are broadcast from the memory of the block. Called by backends/gpu/basis-shared.c, which defines:
//
//   RITZ_ROWS, RITZ_COLUMNS      of the matrix; table [RITZ_COLUMNS][RITZ_ROWS]
//   RITZ_OUT_LENGTH, RITZ_IN_LENGTH  nodes or points of an item; rows are [component][RITZ_OUT_LENGTH],
//   columns alike RITZ_PER_THREAD              items of a thread RITZ_GROUPS                  groups of
//   RITZ_ROWS threads in a block, each with items of its own; 1: of all threads RITZ_THREADS threads of a
//   block
#ifndef RITZ_KERNELS_GPU_DENSE_H
#define RITZ_KERNELS_GPU_DENSE_H

#define RITZ_ITEMS (RITZ_GROUPS * RITZ_PER_THREAD)

// m [group][column][item of the group]; items beyond the last are zero.
RITZ_INLINE void ritz_load(int num, RitzLong comp_stride, RITZ_GLOBAL const CeedScalar *u,
                           RITZ_LOCAL CeedScalar *m) {
  for (int i = RITZ_THREAD; i < RITZ_ITEMS * RITZ_COLUMNS; i += RITZ_THREADS) {
    int d = i / (RITZ_ITEMS * RITZ_IN_LENGTH), place = i % (RITZ_ITEMS * RITZ_IN_LENGTH);
    int item = place / RITZ_IN_LENGTH, column = d * RITZ_IN_LENGTH + place % RITZ_IN_LENGTH;
    int group = item / RITZ_PER_THREAD, j = item % RITZ_PER_THREAD;
    m[(group * RITZ_COLUMNS + column) * RITZ_PER_THREAD + j] = item < num ? u[d * comp_stride + place] : 0;
  }
}

// One row for the items of a group, of which `num` exist.
RITZ_INLINE void ritz_compute_row(int num, int row, RITZ_GLOBAL const CeedScalar *table,
                                  RITZ_LOCAL const CeedScalar *m, RitzLong comp_stride, int add,
                                  RITZ_GLOBAL CeedScalar *v) {
  RITZ_GLOBAL CeedScalar *to = v + row / RITZ_OUT_LENGTH * comp_stride + row % RITZ_OUT_LENGTH;
  CeedScalar sum[RITZ_PER_THREAD];
  RITZ_UNROLL
  for (int j = 0; j < RITZ_PER_THREAD; j++) sum[j] = 0;
  for (int column = 0; column < RITZ_COLUMNS; column++) {
    CeedScalar entry = table[column * RITZ_ROWS + row];
    RITZ_UNROLL
    for (int j = 0; j < RITZ_PER_THREAD; j++) sum[j] += entry * m[column * RITZ_PER_THREAD + j];
  }
  RITZ_UNROLL
  for (int j = 0; j < RITZ_PER_THREAD; j++) {
    if (j < num) to[j * RITZ_OUT_LENGTH] = add ? to[j * RITZ_OUT_LENGTH] + sum[j] : sum[j];
  }
}

RITZ_KERNEL(RITZ_THREADS)
basis_dense_rows(RitzLong num_items, int add, RITZ_GLOBAL const CeedScalar *RITZ_RESTRICT table,
                 RITZ_GLOBAL const CeedScalar *RITZ_RESTRICT u, RITZ_GLOBAL CeedScalar *RITZ_RESTRICT v) {
  RITZ_LOCAL_ARRAY CeedScalar m[RITZ_ITEMS * RITZ_COLUMNS];
  RitzLong first = RITZ_BLOCK * RITZ_ITEMS;
  int num = num_items - first < RITZ_ITEMS ? (int)(num_items - first) : RITZ_ITEMS;
  int group = RITZ_GROUPS == 1 ? 0 : RITZ_THREAD / RITZ_ROWS, row = RITZ_THREAD - group * RITZ_ROWS;
  ritz_load(num, num_items * RITZ_IN_LENGTH, u + first * RITZ_IN_LENGTH, m);
  RITZ_BARRIER();
  if (group < RITZ_GROUPS) {
    int first_of_group = group * RITZ_PER_THREAD;
    for (; row < RITZ_ROWS; row += RITZ_THREADS) {
      ritz_compute_row(num - first_of_group, row, table, m + first_of_group * RITZ_COLUMNS,
                       num_items * RITZ_OUT_LENGTH, add, v + (first + first_of_group) * RITZ_OUT_LENGTH);
    }
  }
}

#endif
