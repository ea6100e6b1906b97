// SPDX-License-Identifier: BSD-2-Clause
// Inputs of degree one or constant, from the few nodes of a batch, in RITZ_DIM dimensions: in registers, row
// by row. What the plan calls RITZ_INPUT_LINEAR and RITZ_INPUT_CONSTANT; the coordinates of trilinear and
// affine elements are the case that matters.
//
// Degree one: u(r,s,t) = c0 + c1 r + c2 s + c3 rs + c4 t + c5 rt + c6 st + c7 rst. Along a row of points (s,
// t fixed) the value and the derivatives by s and t are linear in r, the derivative by r is constant: a row
// has RITZ_LINEAR_ROW coefficients a component: u(0), u_r, u_s(0), u_sr, u_t(0), u_tr.
#ifndef RITZ_KERNELS_CPU_SIMPLE_INPUTS_H
#define RITZ_KERNELS_CPU_SIMPLE_INPUTS_H

#include "kernels/cpu/vector.h"

enum { RITZ_CORNERS = RITZ_DIM == 3 ? 8 : RITZ_DIM == 2 ? 4 : 2, RITZ_LINEAR_ROW = 2 * RITZ_DIM };

// Values at the corners x [component][corner] -> coefficients, in place: sum and difference in every
// direction.
RITZ_INLINE void ritz_linear_coefficients(int num_comp, RitzVec *x) {
  RITZ_ROLLED for (int c = 0; c < num_comp; c++, x += RITZ_CORNERS) {
    RITZ_UNROLL for (int step = 1; step < RITZ_CORNERS; step *= 2) {
      RITZ_UNROLL for (int m = 0; m < RITZ_CORNERS; m++) {
        if (m & step) continue;
        const RitzVec low = x[m], high = x[m + step];
        x[m] = low + high;
        x[m + step] = high - low;
      }
    }
    RITZ_UNROLL for (int m = 0; m < RITZ_CORNERS; m++) x[m] *= (RitzReal)1 / RITZ_CORNERS;
  }
}

// Row (s, t) of coefficients x: l [component][RITZ_LINEAR_ROW].
RITZ_INLINE void ritz_linear_row(int num_comp, const RitzVec *x, RitzReal s, RitzReal t, RitzVec *l) {
  RITZ_UNROLL for (int c = 0; c < num_comp; c++, x += RITZ_CORNERS, l += RITZ_LINEAR_ROW) {
    if (RITZ_DIM == 1) {
      l[0] = x[0];
      l[1] = x[1];
      continue;
    }
    l[2] = x[2];
    l[3] = x[3];
    if (RITZ_DIM == 3) {
      l[2] += t * x[6];
      l[3] += t * x[7];
      l[4] = x[4] + s * x[6];
      l[5] = x[5] + s * x[7];
    }
    l[0] = x[0] + s * l[2];
    l[1] = x[1] + s * l[3];
    if (RITZ_DIM == 3) {
      l[0] += t * x[4];
      l[1] += t * x[5];
    }
  }
}

// Values arg [component][points] at the points r[0 .. points-1] of a row.
RITZ_INLINE void ritz_take_linear(int num_comp, int points, const RitzVec *l, const RitzReal *r,
                                  RitzVec *arg) {
  RITZ_UNROLL for (int c = 0; c < num_comp; c++, l += RITZ_LINEAR_ROW) {
    RITZ_UNROLL for (int n = 0; n < points; n++) arg[c * points + n] = l[0] + r[n] * l[1];
  }
}

// Gradient arg [direction][component][points].
RITZ_INLINE void ritz_take_slopes(int num_comp, int points, const RitzVec *l, const RitzReal *r,
                                  RitzVec *arg) {
  RITZ_UNROLL for (int c = 0; c < num_comp; c++, l += RITZ_LINEAR_ROW) {
    RITZ_UNROLL for (int n = 0; n < points; n++) {
      arg[c * points + n] = l[1];
      RITZ_UNROLL for (int d = 1; d < RITZ_DIM; d++) arg[(d * num_comp + c) * points + n] =
          l[2 * d] + r[n] * l[2 * d + 1];
    }
  }
}

// Constants h [row][component] = sum over the nodes of matrix [row][node] x [component][node].
RITZ_INLINE void ritz_constants(int rows, int num_comp, int nodes, const RitzReal *matrix, const RitzVec *x,
                                RitzVec *h) {
  RITZ_UNROLL for (int k = 0; k < rows; k++) {
    RITZ_UNROLL for (int c = 0; c < num_comp; c++) {
      RitzVec sum = matrix[k * nodes] * x[c * nodes];
      RITZ_UNROLL for (int n = 1; n < nodes; n++) sum += matrix[k * nodes + n] * x[c * nodes + n];
      h[k * num_comp + c] = sum;
    }
  }
}

// arg [num][points]: the same at all points.
RITZ_INLINE void ritz_take_constants(int num, int points, const RitzVec *h, RitzVec *arg) {
  RITZ_UNROLL for (int c = 0; c < num; c++) {
    RITZ_UNROLL for (int n = 0; n < points; n++) arg[c * points + n] = h[c];
  }
}

#endif
