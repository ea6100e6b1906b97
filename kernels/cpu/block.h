// SPDX-License-Identifier: BSD-2-Clause
// A block of rows of y = A x on one batch of elements: an entry of A is broadcast and multiplied with the
// values of all lanes, and the sums of the block stay in registers, so that each x is loaded once for all of
// its rows. Included by dense.h and by the ahead-of-time kernel.
#ifndef RITZ_KERNELS_CPU_BLOCK_H
#define RITZ_KERNELS_CPU_BLOCK_H

#include "kernels/cpu/vector.h"

// Sums in registers: 12 hide the latency of two multiply-adds a cycle, and leave some of 16 registers to the
// factors. Vectors that are longer than a register take several.
#if defined(__AVX512F__)
#define RITZ_REGISTER_BYTES 64
#elif defined(__AVX__)
#define RITZ_REGISTER_BYTES 32
#else
#define RITZ_REGISTER_BYTES 16
#endif
enum {
  RITZ_VEC_REGISTERS = (sizeof(RitzVec) + RITZ_REGISTER_BYTES - 1) / RITZ_REGISTER_BYTES,
  RITZ_DENSE_ROWS = RITZ_VEC_REGISTERS < 6 ? 12 / RITZ_VEC_REGISTERS : 2,
  RITZ_BLOCK_SUMS = RITZ_DENSE_ROWS > 8 ? RITZ_DENSE_ROWS : 8 // at most
};

// A matrix by strides.
typedef struct {
  const RitzReal *entries;
  int row, col;
} RitzDense;

RITZ_INLINE RitzDense ritz_dense_from(RitzDense A, int row, int col) {
  return (RitzDense){A.entries + (int64_t)row * A.row + (int64_t)col * A.col, A.row, A.col};
}

RITZ_INLINE void ritz_dense_put(RitzVec *y, RitzVec sum, bool add) { *y = add ? *y + sum : sum; }

// y [n] (+)= A x [cols], values sx and sy vectors apart; n <= RITZ_BLOCK_SUMS is known to the compiler.
RITZ_INLINE void ritz_dense_block(int n, int cols, RitzDense A, const RitzVec *x, int sx, RitzVec *y, int sy,
                                  bool add) {
  RitzVec sum[RITZ_BLOCK_SUMS];
  const RitzReal *a = A.entries;
  RITZ_UNROLL for (int i = 0; i < n; i++) sum[i] = ritz_splat(0);
  RITZ_ROLLED for (int j = 0; j < cols; j++, a += A.col) {
    const RitzVec xj = x[j * sx];
    RITZ_UNROLL for (int i = 0; i < n; i++) sum[i] += a[i * A.row] * xj;
  }
  RITZ_UNROLL for (int i = 0; i < n; i++) ritz_dense_put(y + i * sy, sum[i], add);
}

#endif
