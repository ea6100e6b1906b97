// SPDX-License-Identifier: BSD-2-Clause
// Lines in shared memory times 1D matrices of at most 8 x 8, by tensor cores (plan/gpu-mma.h).
// Comes behind kernels/gpu/lines.h. Threads are a warp's; all of a block call these functions together.
//
// One product takes 16 lines as the rows of A, 8 places each; B is the transposed matrix. Thread 4 g + q of
// the warp has places q and q + 4 of lines g and g + 8 and, as columns of the product are rows of the matrix
// in the order 0, 4, 1, 5, 2, 6, 3, 7, gets the same places of the same lines: results go where operands
// were, and no other thread has read or writes there. Lines that there are not, and places beyond 8, are
// zeros.
//
// A matrix comes as RITZ_L(name): rows, columns and what each thread has of B. `lines`: RITZ_NO_LINE or where
// lines g, g + 8, g + 16, g + 24 begin, for two products. Arrays are places in the memory m of the block.
#ifndef RITZ_KERNELS_GPU_MMA_H
#define RITZ_KERNELS_GPU_MMA_H

#define RITZ_L(name) name##_rows, name##_cols, name##_lanes + RITZ_THREAD % 32

enum { RITZ_NO_LINE = 65535 };

typedef struct RITZ_ALIGN16 {
  RitzReal of[2];
} RitzLane;

// ---- y += the product with a matrix, of two times 16 lines ----

#ifdef RITZ_EXCHANGE // without mma instructions: offset of the operands of all threads in shared memory

// Clang and PoCL trip over calls of functions with barriers.
#define RITZ_TOGETHER RITZ_INLINE __attribute__((always_inline))
enum { RITZ_NUM_EXCHANGED = 10 }; // of a thread: its parts of both A, then of B

RITZ_TOGETHER void ritz_multiply_parts(RITZ_SHARED RitzReal *m, RITZ_IN_CONSTANT const RitzLane *M,
                                       const RitzReal *x, RitzReal *y) {
  const int lane = RITZ_THREAD % 32, line = lane / 4 * 4, column = lane % 4 * 8;
  RITZ_SHARED RitzReal *own = m + RITZ_EXCHANGE + RITZ_NUM_EXCHANGED * RITZ_THREAD;
  RITZ_SHARED const RitzReal *A = own + RITZ_NUM_EXCHANGED * (line - lane);
  RITZ_SHARED const RitzReal *B = own + RITZ_NUM_EXCHANGED * (column - lane) + 8;
  RITZ_BARRIER();
  for (int i = 0; i < 8; i++) own[i] = x[i];
  for (int i = 0; i < 2; i++) own[8 + i] = M->of[i];
  RITZ_BARRIER();
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 8; k++)
      y[i] += A[k % 4 * RITZ_NUM_EXCHANGED + i / 4 * 4 + k / 4 * 2 + i / 2 % 2] *
              B[(i % 2 * 4 + k % 4) * RITZ_NUM_EXCHANGED + k / 4];
  }
}

#else

#define RITZ_TOGETHER RITZ_INLINE

#include "kernels/gpu/mma-f64.h"

RITZ_INLINE void ritz_multiply_parts(RitzReal *m, const RitzLane *M, const RitzReal *x, RitzReal *y) {
  (void)m;
  ritz_mma_f64(x, M->of[0], M->of[1], y);
  ritz_mma_f64(x + 4, M->of[0], M->of[1], y + 4);
}

#endif

// ---- Parts of lines ----

// The thread's fragment of an array: four numbers for each product.
RITZ_INLINE void ritz_read_parts(int n, RITZ_SHARED const RitzReal *from,
                                 RITZ_IN_CONSTANT const unsigned short *lines, int stride, RitzReal *parts) {
  const int place = RITZ_THREAD % 4;
  RITZ_UNROLL
  for (int i = 0; i < 8; i++) {
    const int line = lines[i / 4 * 2 + i % 2], k = place + i / 2 % 2 * 4;
    parts[i] = line != RITZ_NO_LINE && k < n ? from[line + k * stride] : 0;
  }
}

// The numbers of products have another order.
RITZ_INLINE void ritz_write_parts(int n, const RitzReal *parts, RITZ_SHARED RitzReal *to,
                                  RITZ_IN_CONSTANT const unsigned short *lines, int stride) {
  const int place = RITZ_THREAD % 4;
  RITZ_UNROLL
  for (int i = 0; i < 8; i++) {
    const int line = lines[i / 2], k = place + i % 2 * 4;
    if (line != RITZ_NO_LINE && k < n) to[line + k * stride] = parts[i];
  }
}

// ---- Lines from arrays to arrays, as the functions without _mma ----

RITZ_TOGETHER void ritz_move_mma(int rows, int cols, RITZ_IN_CONSTANT const RitzLane *M, int num_comp,
                                 RITZ_SHARED RitzReal *m, RITZ_IN_CONSTANT const unsigned short *lines,
                                 int from, int to, int stride) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RitzReal x[8], y[8];
    ritz_zero(8, y);
    ritz_read_parts(cols, m + from + c * RITZ_ARRAY, lines, stride, x);
    ritz_multiply_parts(m, M, x, y);
    ritz_write_parts(rows, y, m + to + c * RITZ_ARRAY, lines, stride);
  }
}

RITZ_TOGETHER void ritz_move_two_mma(int rows, int cols, RITZ_IN_CONSTANT const RitzLane *M, int N_rows,
                                     int N_cols, RITZ_IN_CONSTANT const RitzLane *N, int num_comp,
                                     RITZ_SHARED RitzReal *m, RITZ_IN_CONSTANT const unsigned short *lines,
                                     int from, int to_M, int to_N, int stride) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RitzReal x[8], y[8], z[8];
    ritz_zero(8, y);
    ritz_zero(8, z);
    ritz_read_parts(cols, m + from + c * RITZ_ARRAY, lines, stride, x);
    ritz_multiply_parts(m, M, x, y);
    ritz_multiply_parts(m, N, x, z);
    ritz_write_parts(rows, y, m + to_M + c * RITZ_ARRAY, lines, stride);
    ritz_write_parts(N_rows, z, m + to_N + c * RITZ_ARRAY, lines, stride);
  }
}

RITZ_TOGETHER void ritz_move_sum_mma(int rows, int cols, RITZ_IN_CONSTANT const RitzLane *M, int N_rows,
                                     int N_cols, RITZ_IN_CONSTANT const RitzLane *N, int num_comp,
                                     RITZ_SHARED RitzReal *m, RITZ_IN_CONSTANT const unsigned short *lines,
                                     int from, int other, int to, int stride) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RitzReal x[8], z[8], y[8];
    ritz_zero(8, y);
    ritz_read_parts(cols, m + from + c * RITZ_ARRAY, lines, stride, x);
    ritz_read_parts(N_cols, m + other + c * RITZ_ARRAY, lines, stride, z);
    ritz_multiply_parts(m, M, x, y);
    ritz_multiply_parts(m, N, z, y);
    ritz_write_parts(rows, y, m + to + c * RITZ_ARRAY, lines, stride);
  }
}

#endif
