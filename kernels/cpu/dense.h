// SPDX-License-Identifier: BSD-2-Clause
// Bases without tensor structure on one batch of elements: products with a matrix that is handed over at run
// time, in blocks of rows (block.h). The same table serves both ways: up reads neighbours one after the
// other, down a block of them at once.
//
// Even-odd: where the nodes and the points of a basis are symmetric (swapping two coordinates permutes both),
// sums and differences of pairs do not mix. Of x and y the pairs come as sums and differences, and the matrix
// as two of a quarter of its size each: half the multiplications.
#ifndef RITZ_KERNELS_CPU_DENSE_H
#define RITZ_KERNELS_CPU_DENSE_H

#include "kernels/cpu/block.h"
#include "kernels/cpu/prefetch.h"

// Blocks of at most `most` rows, and the rows of all of them but the last one.
#define RITZ_BLOCKS(rows, most)     (((rows) + (most)-1) / (most))
#define RITZ_BLOCK_ROWS(rows, most) ((rows) ? RITZ_BLOCKS(rows, RITZ_BLOCKS(rows, most)) : 1)

// ---- Plain ----

RITZ_INLINE void ritz_dense_product(RitzPrefetch *prefetch, int rows, int cols, RitzDense A, const RitzVec *x,
                                    RitzVec *y, bool add) {
  const int n = RITZ_BLOCK_ROWS(rows, RITZ_DENSE_ROWS), whole = rows / n * n;
  RITZ_ROLLED for (int i = 0; i < whole; i += n) {
    ritz_prefetch(prefetch);
    ritz_dense_block(n, cols, ritz_dense_from(A, i, 0), x, 1, y + i, 1, add);
  }
  if (whole == rows) return;
  ritz_prefetch(prefetch);
  ritz_dense_block(rows - whole, cols, ritz_dense_from(A, whole, 0), x, 1, y + whole, 1, add);
}

// x [num_comp][nodes] -> y [num_comp][values]; A [values][nodes].
RITZ_INLINE void ritz_dense_up(RitzPrefetch *prefetch, int num_comp, int nodes, int values,
                               const void *matrix, const RitzVec *x, RitzVec *y) {
  const RitzReal *A = (const RitzReal *)matrix;
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    ritz_dense_product(prefetch, values, nodes, (RitzDense){A, nodes, 1}, x + c * nodes, y + c * values,
                       false);
  }
}

// Transposed: x (+)= A^T y.
RITZ_INLINE void ritz_dense_down(RitzPrefetch *prefetch, int num_comp, int nodes, int values,
                                 const void *matrix, const RitzVec *y, RitzVec *x, bool add) {
  const RitzReal *A = (const RitzReal *)matrix;
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    ritz_dense_product(prefetch, nodes, values, (RitzDense){A, 1, nodes}, y + c * values, x + c * nodes, add);
  }
}

// ---- Even and odd ----

enum { RITZ_EVEN_ODD_ROWS = RITZ_DENSE_ROWS / 2 }; // a pair of rows has two sums

// Pairs of entries, then those that stay where they are; at [2 pairs + alone].
typedef struct {
  int pairs, alone;
  const int *at;
} RitzPairs;

// Halves of a matrix: even [pairs + alone][pairs + alone], odd [pairs][pairs].
typedef struct {
  RitzDense even, odd;
} RitzEvenOdd;

RITZ_INLINE int ritz_pairs_size(const RitzPairs *p) { return 2 * p->pairs + p->alone; }

// x [num_comp][size]: (first, second) of each pair -> (sum, difference).
RITZ_INLINE void ritz_even_odd_split(int num_comp, const RitzPairs *p, RitzVec *x) {
  RITZ_ROLLED for (int c = 0; c < num_comp; c++, x += ritz_pairs_size(p)) {
    RITZ_ROLLED for (int k = 0; k < p->pairs; k++) {
      RitzVec *first = x + p->at[2 * k], *second = x + p->at[2 * k + 1];
      const RitzVec difference = *first - *second;
      *first += *second;
      *second = difference;
    }
  }
}

// Pairs of rows at[2 n], from x as sums and differences.
RITZ_INLINE void ritz_even_odd_pairs(int n, const RitzPairs *from, RitzEvenOdd A, const RitzVec *x,
                                     const int *at, RitzVec *y, bool add) {
  RitzVec even[RITZ_EVEN_ODD_ROWS], odd[RITZ_EVEN_ODD_ROWS];
  const RitzReal *e = A.even.entries, *o = A.odd.entries;
  RITZ_UNROLL for (int i = 0; i < n; i++) even[i] = odd[i] = ritz_splat(0);
  RITZ_ROLLED for (int k = 0; k < from->pairs; k++, e += A.even.col, o += A.odd.col) {
    const RitzVec sum = x[from->at[2 * k]], difference = x[from->at[2 * k + 1]];
    RITZ_UNROLL for (int i = 0; i < n; i++) even[i] += e[i * A.even.row] * sum;
    RITZ_UNROLL for (int i = 0; i < n; i++) odd[i] += o[i * A.odd.row] * difference;
  }
  RITZ_ROLLED for (int k = 0; k < from->alone; k++, e += A.even.col) {
    const RitzVec xk = x[from->at[2 * from->pairs + k]];
    RITZ_UNROLL for (int i = 0; i < n; i++) even[i] += e[i * A.even.row] * xk;
  }
  RITZ_UNROLL for (int i = 0; i < n; i++) {
    ritz_dense_put(y + at[2 * i], even[i] + odd[i], add);
    ritz_dense_put(y + at[2 * i + 1], even[i] - odd[i], add);
  }
}

// Rows at[n] that stay where they are.
RITZ_INLINE void ritz_even_odd_alone(int n, const RitzPairs *from, RitzDense even, const RitzVec *x,
                                     const int *at, RitzVec *y, bool add) {
  RitzVec sum[RITZ_DENSE_ROWS];
  const RitzReal *e = even.entries;
  RITZ_UNROLL for (int i = 0; i < n; i++) sum[i] = ritz_splat(0);
  RITZ_ROLLED for (int k = 0; k < from->pairs + from->alone; k++, e += even.col) {
    const RitzVec xk = x[from->at[k < from->pairs ? 2 * k : from->pairs + k]];
    RITZ_UNROLL for (int i = 0; i < n; i++) sum[i] += e[i * even.row] * xk;
  }
  RITZ_UNROLL for (int i = 0; i < n; i++) ritz_dense_put(y + at[i], sum[i], add);
}

RITZ_INLINE RitzEvenOdd ritz_even_odd_from(RitzEvenOdd A, int row) {
  return (RitzEvenOdd){ritz_dense_from(A.even, row, 0), ritz_dense_from(A.odd, row, 0)};
}

// One component: y (+)= A x, x as sums and differences.
RITZ_INLINE void ritz_even_odd_product(RitzPrefetch *prefetch, const RitzPairs *to, const RitzPairs *from,
                                       RitzEvenOdd A, const RitzVec *x, RitzVec *y, bool add) {
  const int n = RITZ_BLOCK_ROWS(to->pairs, RITZ_EVEN_ODD_ROWS), pairs = to->pairs / n * n;
  const int m = RITZ_BLOCK_ROWS(to->alone, RITZ_DENSE_ROWS), alone = to->alone / m * m;
  const int *at = to->at + 2 * to->pairs;
  const RitzDense even = ritz_dense_from(A.even, to->pairs, 0);
  RITZ_ROLLED for (int i = 0; i < pairs; i += n) {
    ritz_prefetch(prefetch);
    ritz_even_odd_pairs(n, from, ritz_even_odd_from(A, i), x, to->at + 2 * i, y, add);
  }
  if (pairs < to->pairs) {
    ritz_prefetch(prefetch);
    ritz_even_odd_pairs(to->pairs - pairs, from, ritz_even_odd_from(A, pairs), x, to->at + 2 * pairs, y, add);
  }
  RITZ_ROLLED for (int i = 0; i < alone; i += m) {
    ritz_prefetch(prefetch);
    ritz_even_odd_alone(m, from, ritz_dense_from(even, i, 0), x, at + i, y, add);
  }
  if (alone < to->alone) {
    ritz_prefetch(prefetch);
    ritz_even_odd_alone(to->alone - alone, from, ritz_dense_from(even, alone, 0), x, at + alone, y, add);
  }
}

// x [num_comp][nodes] as sums and differences -> y [num_comp][values]; A: even, then odd, [values][nodes]
// each.
RITZ_INLINE void ritz_even_odd_up(RitzPrefetch *prefetch, int num_comp, const RitzPairs *nodes,
                                  const RitzPairs *values, const void *matrix, const RitzVec *x, RitzVec *y) {
  const RitzReal *A = (const RitzReal *)matrix;
  const int cols = nodes->pairs + nodes->alone;
  const RitzEvenOdd even_odd = {{A, cols, 1}, {A + (values->pairs + values->alone) * cols, nodes->pairs, 1}};
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    ritz_even_odd_product(prefetch, values, nodes, even_odd, x + c * ritz_pairs_size(nodes),
                          y + c * ritz_pairs_size(values), false);
  }
}

// Transposed: x (+)= A^T y, y as sums and differences.
RITZ_INLINE void ritz_even_odd_down(RitzPrefetch *prefetch, int num_comp, const RitzPairs *nodes,
                                    const RitzPairs *values, const void *matrix, const RitzVec *y, RitzVec *x,
                                    bool add) {
  const RitzReal *A = (const RitzReal *)matrix;
  const int cols = nodes->pairs + nodes->alone;
  const RitzEvenOdd even_odd = {{A, 1, cols}, {A + (values->pairs + values->alone) * cols, 1, nodes->pairs}};
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    ritz_even_odd_product(prefetch, nodes, values, even_odd, y + c * ritz_pairs_size(values),
                          x + c * ritz_pairs_size(nodes), add);
  }
}

#endif
