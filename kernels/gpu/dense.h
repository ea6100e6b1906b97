// SPDX-License-Identifier: BSD-2-Clause
// Dense bases: a matrix times the values of many items (pairs of component and element). A thread computes
// one row for RITZ_PER_THREAD items at once, so that it loads each entry of the table once for all of them;
// threads side by side load entries side by side. Input values are broadcast from shared memory, a
// few columns after the other. Called by backends/gpu/basis-shared.c, which defines:
//
//   RITZ_THREADS     threads of a block
//   RITZ_PER_THREAD  items of a thread
//   RITZ_STAGED      input values in shared memory; at least one for each item
#ifndef RITZ_KERNELS_GPU_DENSE_H
#define RITZ_KERNELS_GPU_DENSE_H

// Columns first .. first + num - 1 of num_items items: m [group][column][item of the group]; what is missing
// in the last group is zero. Columns are [component][length].
RITZ_INLINE void ritz_stage(int first, int num, int length, int num_groups, int num_items,
                            RitzLong comp_stride, RITZ_GLOBAL const RitzReal *u, RITZ_SHARED RitzReal *m) {
  for (int i = RITZ_THREAD; i < num_groups * RITZ_PER_THREAD * num; i += RITZ_THREADS) {
    int item = i / num, column = i - item * num, d = (first + column) / length;
    RitzLong place = d * comp_stride + (RitzLong)item * length + (first + column - d * length);
    int group = item / RITZ_PER_THREAD;
    m[(group * num + column) * RITZ_PER_THREAD + item % RITZ_PER_THREAD] = item < num_items ? u[place] : 0;
  }
}

// Table [columns][rows]; u [component of columns][item][in_length], v [component of rows][item][out_length].
RITZ_KERNEL(RITZ_THREADS)
basis_dense_rows(RitzLong num_items, int rows, int columns, int out_length, int in_length, int num_groups,
                 int add, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT table,
                 RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RITZ_SHARED_ARRAY RitzReal m[RITZ_STAGED];
  RitzLong first = RITZ_BLOCK * num_groups * RITZ_PER_THREAD;
  int rest = num_items - first < num_groups * RITZ_PER_THREAD ? (int)(num_items - first)
                                                              : num_groups * RITZ_PER_THREAD;
  int most = RITZ_STAGED / (num_groups * RITZ_PER_THREAD);
  for (int begin = 0; begin < num_groups * rows; begin += RITZ_THREADS) {
    int group = (begin + RITZ_THREAD) / rows, row = begin + RITZ_THREAD - group * rows;
    RitzReal sum[RITZ_PER_THREAD];
    RITZ_UNROLL
    for (int j = 0; j < RITZ_PER_THREAD; j++) sum[j] = 0;
    for (int column = 0; column < columns; column += most) {
      int num = columns - column < most ? columns - column : most;
      RITZ_BARRIER();
      ritz_stage(column, num, in_length, num_groups, rest, num_items * in_length, u + first * in_length, m);
      RITZ_BARRIER();
      if (group < num_groups) {
        RITZ_SHARED const RitzReal *values = m + group * num * RITZ_PER_THREAD;
        RITZ_GLOBAL const RitzReal *entries = table + (RitzLong)column * rows + row;
        for (int i = 0; i < num; i++) {
          RitzReal entry = entries[(RitzLong)i * rows];
          RITZ_UNROLL
          for (int j = 0; j < RITZ_PER_THREAD; j++) sum[j] += entry * values[i * RITZ_PER_THREAD + j];
        }
      }
    }
    if (group < num_groups) {
      RitzLong item = first + group * RITZ_PER_THREAD;
      RITZ_GLOBAL RitzReal *to = v + (row / out_length * num_items + item) * out_length + row % out_length;
      RITZ_UNROLL
      for (int j = 0; j < RITZ_PER_THREAD; j++) {
        RitzLong k = (RitzLong)j * out_length;
        if (group * RITZ_PER_THREAD + j < rest) to[k] = add ? to[k] + sum[j] : sum[j];
      }
    }
  }
}

#endif
