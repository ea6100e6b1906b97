// SPDX-License-Identifier: BSD-2-Clause
// Diagonals and columns of point blocks of operators on one batch of elements (plan/diagonal.h): derivatives
// of the QFunction by unit vectors, added up in terms, and the contractions of these with products of 1D
// tables. Included by the texts of emit/diagonal.c, after kernel.h.
//
// Terms are kept for one slab of points, [term][component][point]; of 1D elements for all points.
#ifndef RITZ_KERNELS_CPU_DIAGONAL_H
#define RITZ_KERNELS_CPU_DIAGONAL_H

#include "kernels/cpu/points.h"
#include "kernels/cpu/tensor.h"

// Vectors from one component of a term to the next, and the place of a point among them.
enum { RITZ_TERM_STRIDE = RITZ_DIM == 1 ? RITZ_Q : RITZ_SLAB(RITZ_Q) };
#define RITZ_IN_TERM(j, i) (RITZ_DIM == 3 ? (j)*RITZ_Q + (i) : (i))

// Scalars are those of all active inputs (outputs) at a point; a mode of the active space has num_comp of
// them.
typedef struct {
  int num_comp, num_terms, num_in, num_out; // num_in, num_out: modes
  const int *in, *out;                      // [num_in], [num_out]: first scalars
  const int *term;                          // [num_in][num_out]: where the derivative of `out` by `in` goes
  int size;                                 // scalars of all active inputs
  const RitzReal *unit;                     // [2 size - 1]: a one in the middle of zeros
} RitzDiagonal;

// At RITZ_CALL points from `at` on.
RITZ_INLINE void ritz_clear_terms(const RitzDiagonal *d, RitzVec *terms, int at) {
  RITZ_ROLLED for (int t = 0; t < d->num_terms * d->num_comp; t++) {
    RITZ_UNROLL for (int n = 0; n < RITZ_CALL; n++) terms[t * RITZ_TERM_STRIDE + at + n] = ritz_splat(0);
  }
}

// The unit vector of scalar m of the modes, which are [num_in][num_comp]. Every input is set, at a place that
// is a constant: that keeps them in registers, where a single store would have to be waited for.
RITZ_INLINE void ritz_set_unit(const RitzDiagonal *d, int m, RitzVec *inputs) {
  const RitzReal *unit = d->unit + d->size - 1 - (d->in[m / d->num_comp] + m % d->num_comp);
  RITZ_UNROLL for (int s = 0; s < d->size; s++) {
    RITZ_UNROLL for (int n = 0; n < RITZ_CALL; n++) inputs[s * RITZ_CALL + n] = ritz_splat(unit[s]);
  }
}

// Outputs for the unit vector of scalar m.
RITZ_INLINE void ritz_add_terms(const RitzDiagonal *d, int m, const RitzVec *outputs, RitzVec *terms,
                                int at) {
  const int in = m / d->num_comp, c = m % d->num_comp;
  RITZ_UNROLL for (int o = 0; o < d->num_out; o++) {
    const RitzVec *from = outputs + (d->out[o] + c) * RITZ_CALL;
    RitzVec *to = terms + (d->term[in * d->num_out + o] * d->num_comp + c) * RITZ_TERM_STRIDE + at;
    RITZ_UNROLL for (int n = 0; n < RITZ_CALL; n++) to[n] += from[n];
  }
}

// Outputs of all components for the unit vector of a component of mode `in`.
RITZ_INLINE void ritz_add_column_terms(const RitzDiagonal *d, int in, const RitzVec *outputs, RitzVec *terms,
                                       int at) {
  RITZ_UNROLL for (int o = 0; o < d->num_out; o++) {
    RITZ_UNROLL for (int c = 0; c < d->num_comp; c++) {
      const RitzVec *from = outputs + (d->out[o] + c) * RITZ_CALL;
      RitzVec *to = terms + (d->term[in * d->num_out + o] * d->num_comp + c) * RITZ_TERM_STRIDE + at;
      RITZ_UNROLL for (int n = 0; n < RITZ_CALL; n++) to[n] += from[n];
    }
  }
}

// A term on slab k of the points, contracted in all directions but the last; the tables are transposed.
// add: a (+)= that.
RITZ_INLINE void ritz_term_down(const RitzMatrix *first, const RitzMatrix *middle, int num_comp,
                                const RitzVec *term, int k, RitzVec *a, bool add) {
  const int Q = first->cols, P = first->rows;
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    const RitzVec *from = term + c * RITZ_TERM_STRIDE;
    RitzVec *to = a + c * RITZ_SIZE(Q, P) + k * RITZ_SLAB(P);
    if (RITZ_DIM == 3) {
      RitzVec t[RITZ_LINE * RITZ_LINE];
      RITZ_ROLLED for (int j = 0; j < Q; j++) ritz_line(first, from + j * Q, 1, t + j * P, 1, false);
      RITZ_ROLLED for (int i = 0; i < P; i++) ritz_line(middle, t + i, P, to + i, P, add);
    } else {
      ritz_line(first, from, 1, to, 1, add);
    }
  }
}

#endif
