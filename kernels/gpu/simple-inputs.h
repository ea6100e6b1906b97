// SPDX-License-Identifier: BSD-2-Clause
// Inputs of fused kernels that are simpler than their basis tells (RitzInputKind): of degree one, as the
// coordinates of trilinear elements are, or the same at all points of an element. Comes after
// kernels/gpu/lines.h.
//
// Degree one: an element has 2^dim monomials of each component; entry m is that of the product of the
// directions whose bits m has. On a line of points along one direction everything is linear in its coordinate
// z: registers of a line hold [component][2 * dim], pairs of the constant term and the slope in z, first of
// the value, then of the derivatives along the other directions in their order. The derivative along the line
// is the slope of the value.
#ifndef RITZ_KERNELS_GPU_SIMPLE_INPUTS_H
#define RITZ_KERNELS_GPU_SIMPLE_INPUTS_H

// ---- Degree one ----

// Values at the corners, the first direction fastest, into monomials.
RITZ_INLINE void ritz_monomials(int num_comp, int dim, RitzReal *u) {
  RITZ_UNROLL
  for (int d = 0; d < dim; d++) {
    RITZ_UNROLL
    for (int k = 0; k < num_comp << dim; k++) {
      if (!(k >> d & 1)) {
        const RitzReal before = u[k], after = u[k + (1 << d)];
        u[k] = before + after;
        u[k + (1 << d)] = after - before;
      }
    }
  }
  RITZ_UNROLL
  for (int k = 0; k < num_comp << dim; k++) u[k] *= (RitzReal)1 / (1 << dim);
}

// The line along direction `walk`, the first or the last, through the point with the coordinates y of the
// other directions.
RITZ_INLINE void ritz_linear_line(int num_comp, int dim, int walk, const RitzReal *monomials, RitzReal y0,
                                  RitzReal y1, RitzReal *line) {
  const int a = walk > 0 ? 1 : 2, b = walk > 1 ? 2 : 4;
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_UNROLL
    for (int i = 0; i < 2; i++) {
      const RitzReal *u = monomials + (c << dim) + (i << walk);
      RitzReal *l = line + c * 2 * dim + i;
      if (dim == 1) {
        l[0] = u[0];
      } else if (dim == 2) {
        l[0] = u[0] + y0 * u[a];
        l[2] = u[a];
      } else {
        l[2] = u[a] + y1 * u[a + b];
        l[4] = u[b] + y0 * u[a + b];
        l[0] = u[0] + y0 * u[a] + y1 * l[4];
      }
    }
  }
}

RITZ_INLINE void ritz_linear_values(int num_comp, int dim, const RitzReal *line, RitzReal z, RitzReal *arg) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) arg[c] = line[c * 2 * dim] + z * line[c * 2 * dim + 1];
}

RITZ_INLINE void ritz_linear_gradient(int num_comp, int dim, int walk, const RitzReal *line, RitzReal z,
                                      RitzReal *arg) {
  RITZ_UNROLL
  for (int d = 0; d < dim; d++) {
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) {
      const RitzReal *l = line + c * 2 * dim;
      const int k = d < walk ? 2 * d + 2 : 2 * d;
      arg[d * num_comp + c] = d == walk ? l[1] : l[k] + z * l[k + 1];
    }
  }
}

// ---- Constants: [q_comp][component] ----

RITZ_INLINE void ritz_constants(int num_comp, int q_comp, int P, RITZ_IN_CONSTANT const RitzReal *rows,
                                const RitzReal *nodes, RitzReal *values) {
  RITZ_UNROLL
  for (int d = 0; d < q_comp; d++) {
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) values[d * num_comp + c] = ritz_dot(P, rows + d * P, nodes + c * P, 0);
  }
}

RITZ_INLINE void ritz_take_constants(int size, const RitzReal *values, RitzReal *arg) {
  RITZ_UNROLL
  for (int i = 0; i < size; i++) arg[i] = values[i];
}

// From shared memory, in which a component has `slot` scalars.
RITZ_INLINE void ritz_read_constants(int num_comp, int q_comp, int slot, RITZ_SHARED const RitzReal *m,
                                     RitzReal *values) {
  RITZ_UNROLL
  for (int d = 0; d < q_comp; d++) {
    RITZ_UNROLL
    for (int c = 0; c < num_comp; c++) values[d * num_comp + c] = m[c * slot + d];
  }
}

#endif
