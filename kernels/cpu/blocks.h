// SPDX-License-Identifier: BSD-2-Clause
// Vector bases of tensor products on one batch of elements: one direction of a block at a time, in the order
// that the text says (plan/blocks.h). Arrays are [slow][n][fast], n the entries along the direction. Every
// RITZ_Q lines are a step of `prefetch`.
#ifndef RITZ_KERNELS_CPU_BLOCKS_H
#define RITZ_KERNELS_CPU_BLOCKS_H

#include "kernels/cpu/line.h"
#include "kernels/cpu/prefetch.h"

RITZ_INLINE void ritz_block_prefetch(RitzPrefetch *prefetch, int line) {
  if (line % RITZ_Q == 0) ritz_prefetch(prefetch);
}

// y = A x; add: y += A x.
RITZ_INLINE void ritz_block(RitzPrefetch *prefetch, const RitzMatrix *A, int slow, int fast, const RitzVec *x,
                            RitzVec *y, bool add) {
  RITZ_ROLLED for (int s = 0; s < slow; s++) {
    RITZ_ROLLED for (int f = 0; f < fast; f++) {
      ritz_block_prefetch(prefetch, s * fast + f);
      ritz_line(A, x + s * A->cols * fast + f, fast, y + s * A->rows * fast + f, fast, add);
    }
  }
}

// y = A x and z = D x; add: z += D x.
RITZ_INLINE void ritz_block_both(RitzPrefetch *prefetch, const RitzMatrix *A, const RitzMatrix *D, int slow,
                                 int fast, const RitzVec *x, RitzVec *y, RitzVec *z, bool add) {
  RITZ_ROLLED for (int s = 0; s < slow; s++) {
    RITZ_ROLLED for (int f = 0; f < fast; f++) {
      const RitzVec *from = x + s * A->cols * fast + f;
      const int to = s * A->rows * fast + f;
      ritz_block_prefetch(prefetch, s * fast + f);
      if (add) {
        ritz_line(A, from, fast, y + to, fast, false);
        ritz_line(D, from, fast, z + to, fast, true);
      } else {
        ritz_line_both(A, D, from, fast, y + to, fast, z + to, fast);
      }
    }
  }
}

// x = A y + D z; A and D are transposed matrices.
RITZ_INLINE void ritz_block_sum(RitzPrefetch *prefetch, const RitzMatrix *A, const RitzMatrix *D, int slow,
                                int fast, const RitzVec *y, const RitzVec *z, RitzVec *x) {
  RITZ_ROLLED for (int s = 0; s < slow; s++) {
    RITZ_ROLLED for (int f = 0; f < fast; f++) {
      const int from = s * A->cols * fast + f;
      ritz_block_prefetch(prefetch, s * fast + f);
      ritz_line_sum(A, D, y + from, fast, z + from, fast, x + s * A->rows * fast + f, fast);
    }
  }
}

#endif
