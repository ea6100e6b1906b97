// SPDX-License-Identifier: BSD-2-Clause
// Sums of derivatives: lines along the last direction whose products come with a sign, for divergences and
// curls of bases that have a table for each component and direction. Comes after kernels/gpu/lines.h, with
// the same matrices and arrays. Signs, 1 or -1, are constants of the text, so that they cost nothing.
#ifndef RITZ_KERNELS_GPU_TERMS_H
#define RITZ_KERNELS_GPU_TERMS_H

// Arrays to registers: values = or += sign M from.
RITZ_INLINE void ritz_get_term(int rows, int cols, int parity, RITZ_IN_CONSTANT const RitzReal *M, int sign,
                               int adds, int num_comp, RITZ_SHARED const RitzReal *from, int stride,
                               RitzReal *values) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RitzReal x[RITZ_MAX_1D], y[RITZ_MAX_1D];
    ritz_read(cols, from + c * RITZ_ARRAY, stride, x);
    ritz_multiply(rows, cols, parity, M, x, y);
    RITZ_UNROLL
    for (int k = 0; k < rows; k++) {
      const RitzReal start = adds ? values[c * rows + k] : 0;
      values[c * rows + k] = sign > 0 ? start + y[k] : start - y[k];
    }
  }
}

// Registers to arrays: to = sign M lines.
RITZ_INLINE void ritz_put_term(int rows, int cols, int parity, RITZ_IN_CONSTANT const RitzReal *M, int sign,
                               int num_comp, const RitzReal *lines, RITZ_SHARED RitzReal *to, int stride) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RitzReal y[RITZ_MAX_1D];
    ritz_multiply(rows, cols, parity, M, lines + c * cols, y);
    RITZ_UNROLL
    for (int k = 0; k < rows; k++) to[c * RITZ_ARRAY + k * stride] = sign > 0 ? y[k] : -y[k];
  }
}

// Registers to arrays: to = M lines + sign N others.
RITZ_INLINE void ritz_put_terms(int rows, int cols, int M_parity, RITZ_IN_CONSTANT const RitzReal *M,
                                int N_rows, int N_cols, int N_parity, RITZ_IN_CONSTANT const RitzReal *N,
                                int sign, int num_comp, const RitzReal *lines, const RitzReal *others,
                                RITZ_SHARED RitzReal *to, int stride) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RitzReal z[RITZ_MAX_1D], y[RITZ_MAX_1D];
    RITZ_UNROLL
    for (int k = 0; k < N_cols; k++) z[k] = sign > 0 ? others[c * N_cols + k] : -others[c * N_cols + k];
    ritz_multiply_two(rows, cols, M_parity, M, N_parity, N, lines + c * cols, z, y);
    ritz_write(rows, y, to + c * RITZ_ARRAY, stride);
  }
}

#endif
