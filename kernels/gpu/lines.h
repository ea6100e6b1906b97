// SPDX-License-Identifier: BSD-2-Clause
// Lines of nodes and points in registers: 1D matrices, and the passes of fused kernels over arrays in shared
// memory. The text in front (emit/gpu.c) defines:
//
//   RITZ_MAX_1D  nodes or points in the longest line
//   RITZ_ARRAY   scalars of an array: of one component of a space, for all elements of the block
//
// A matrix of 1D tables comes as its four parts, RITZ_M(name): rows, columns, parity and entries. Entries of
// a matrix that reversing rows and columns multiplies by its parity, 1 or -1, are split into the even parts
// of its rows, [half the rows][half the columns], then the odd; products take half the operations. Parity 0:
// all entries.
//
// Registers of a space hold [component][place in the line].
#ifndef RITZ_KERNELS_GPU_LINES_H
#define RITZ_KERNELS_GPU_LINES_H

#define RITZ_M(name) name##_rows, name##_cols, name##_parity, name
#define RITZ_HALF(n) (((n) + 1) / 2)

// ---- Products ----

RITZ_INLINE void ritz_even_odd(int n, const RitzReal *x, RitzReal *even, RitzReal *odd) {
  RITZ_UNROLL
  for (int j = 0; j < n / 2; j++) {
    even[j] = x[j] + x[n - 1 - j];
    odd[j] = x[j] - x[n - 1 - j];
  }
  if (n % 2) even[n / 2] = x[n / 2];
}

RITZ_INLINE RitzReal ritz_dot(int n, RITZ_IN_CONSTANT const RitzReal *row, const RitzReal *x, RitzReal sum) {
  RITZ_UNROLL
  for (int j = 0; j < n; j++) sum += row[j] * x[j];
  return sum;
}

// Adds M x to what ritz_join makes of two halves: `same` has equal entries at both ends of the line,
// `opposite` those of opposite sign.
RITZ_INLINE void ritz_add_halves(int rows, int cols, int parity, RITZ_IN_CONSTANT const RitzReal *M,
                                 const RitzReal *x, RitzReal *same, RitzReal *opposite) {
  RITZ_IN_CONSTANT const RitzReal *M_odd = M + RITZ_HALF(rows) * RITZ_HALF(cols);
  RitzReal even[RITZ_HALF(RITZ_MAX_1D)], odd[RITZ_HALF(RITZ_MAX_1D)];
  ritz_even_odd(cols, x, even, odd);
  RITZ_UNROLL
  for (int i = 0; i < RITZ_HALF(rows); i++) {
    if (parity > 0) {
      same[i] = ritz_dot(RITZ_HALF(cols), M + i * RITZ_HALF(cols), even, same[i]);
      if (i < rows / 2) opposite[i] = ritz_dot(cols / 2, M_odd + i * (cols / 2), odd, opposite[i]);
    } else {
      same[i] = ritz_dot(cols / 2, M_odd + i * (cols / 2), odd, same[i]);
      if (i < rows / 2) opposite[i] = ritz_dot(RITZ_HALF(cols), M + i * RITZ_HALF(cols), even, opposite[i]);
    }
  }
}

RITZ_INLINE void ritz_join(int rows, const RitzReal *same, const RitzReal *opposite, RitzReal *y) {
  RITZ_UNROLL
  for (int i = 0; i < rows / 2; i++) {
    y[i] = same[i] + opposite[i];
    y[rows - 1 - i] = same[i] - opposite[i];
  }
  if (rows % 2) y[rows / 2] = same[rows / 2];
}

RITZ_INLINE void ritz_zero(int n, RitzReal *x) {
  RITZ_UNROLL
  for (int i = 0; i < n; i++) x[i] = 0;
}

// y = M x + start, start NULL-like when `adds` is 0.
RITZ_INLINE void ritz_multiply_full(int rows, int cols, RITZ_IN_CONSTANT const RitzReal *M, const RitzReal *x,
                                    int adds, RitzReal *y) {
  RITZ_UNROLL
  for (int i = 0; i < rows; i++) y[i] = ritz_dot(cols, M + i * cols, x, adds ? y[i] : 0);
}

// y = M x
RITZ_INLINE void ritz_multiply(int rows, int cols, int parity, RITZ_IN_CONSTANT const RitzReal *M,
                               const RitzReal *x, RitzReal *y) {
  if (parity == 0) {
    ritz_multiply_full(rows, cols, M, x, 0, y);
  } else {
    RitzReal same[RITZ_HALF(RITZ_MAX_1D)], opposite[RITZ_HALF(RITZ_MAX_1D)];
    ritz_zero(RITZ_HALF(rows), same);
    ritz_zero(RITZ_HALF(rows), opposite);
    ritz_add_halves(rows, cols, parity, M, x, same, opposite);
    ritz_join(rows, same, opposite, y);
  }
}

// y = M x + N z, both matrices of the same size
RITZ_INLINE void ritz_multiply_two(int rows, int cols, int M_parity, RITZ_IN_CONSTANT const RitzReal *M,
                                   int N_parity, RITZ_IN_CONSTANT const RitzReal *N, const RitzReal *x,
                                   const RitzReal *z, RitzReal *y) {
  if (M_parity == 0 || N_parity == 0) {
    RitzReal more[RITZ_MAX_1D];
    ritz_multiply(rows, cols, M_parity, M, x, y);
    ritz_multiply(rows, cols, N_parity, N, z, more);
    RITZ_UNROLL
    for (int i = 0; i < rows; i++) y[i] += more[i];
  } else {
    RitzReal same[RITZ_HALF(RITZ_MAX_1D)], opposite[RITZ_HALF(RITZ_MAX_1D)];
    ritz_zero(RITZ_HALF(rows), same);
    ritz_zero(RITZ_HALF(rows), opposite);
    ritz_add_halves(rows, cols, M_parity, M, x, same, opposite);
    ritz_add_halves(rows, cols, N_parity, N, z, same, opposite);
    ritz_join(rows, same, opposite, y);
  }
}

// ---- Lines in shared memory ----

RITZ_INLINE void ritz_read(int n, RITZ_SHARED const RitzReal *from, int stride, RitzReal *line) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) line[k] = from[k * stride];
}

RITZ_INLINE void ritz_write(int n, const RitzReal *line, RITZ_SHARED RitzReal *to, int stride) {
  RITZ_UNROLL
  for (int k = 0; k < n; k++) to[k * stride] = line[k];
}

// Registers of num_comp components to arrays.
RITZ_INLINE void ritz_keep(int num_comp, int n, const RitzReal *lines, RITZ_SHARED RitzReal *to, int stride) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) ritz_write(n, lines + c * n, to + c * RITZ_ARRAY, stride);
}

// Registers to registers: values = M lines.
RITZ_INLINE void ritz_apply(int rows, int cols, int parity, RITZ_IN_CONSTANT const RitzReal *M, int num_comp,
                            const RitzReal *lines, RitzReal *values) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++)
    ritz_multiply(rows, cols, parity, M, lines + c * cols, values + c * rows);
}

// Registers to arrays: to = M lines.
RITZ_INLINE void ritz_put(int rows, int cols, int parity, RITZ_IN_CONSTANT const RitzReal *M, int num_comp,
                          const RitzReal *lines, RITZ_SHARED RitzReal *to, int stride) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RitzReal y[RITZ_MAX_1D];
    ritz_multiply(rows, cols, parity, M, lines + c * cols, y);
    ritz_write(rows, y, to + c * RITZ_ARRAY, stride);
  }
}

// Registers to arrays: to = M lines + N others.
RITZ_INLINE void ritz_put_two(int rows, int cols, int M_parity, RITZ_IN_CONSTANT const RitzReal *M,
                              int N_rows, int N_cols, int N_parity, RITZ_IN_CONSTANT const RitzReal *N,
                              int num_comp, const RitzReal *lines, const RitzReal *others,
                              RITZ_SHARED RitzReal *to, int stride) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RitzReal y[RITZ_MAX_1D];
    ritz_multiply_two(rows, cols, M_parity, M, N_parity, N, lines + c * cols, others + c * cols, y);
    ritz_write(rows, y, to + c * RITZ_ARRAY, stride);
  }
}

// Arrays to registers: values = M from.
RITZ_INLINE void ritz_get(int rows, int cols, int parity, RITZ_IN_CONSTANT const RitzReal *M, int num_comp,
                          RITZ_SHARED const RitzReal *from, int stride, RitzReal *values) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RitzReal x[RITZ_MAX_1D];
    ritz_read(cols, from + c * RITZ_ARRAY, stride, x);
    ritz_multiply(rows, cols, parity, M, x, values + c * rows);
  }
}

// Arrays to registers: values = M from + N other.
RITZ_INLINE void ritz_get_two(int rows, int cols, int M_parity, RITZ_IN_CONSTANT const RitzReal *M,
                              int N_rows, int N_cols, int N_parity, RITZ_IN_CONSTANT const RitzReal *N,
                              int num_comp, RITZ_SHARED const RitzReal *from,
                              RITZ_SHARED const RitzReal *other, int stride, RitzReal *values) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RitzReal x[RITZ_MAX_1D], z[RITZ_MAX_1D];
    ritz_read(cols, from + c * RITZ_ARRAY, stride, x);
    ritz_read(cols, other + c * RITZ_ARRAY, stride, z);
    ritz_multiply_two(rows, cols, M_parity, M, N_parity, N, x, z, values + c * rows);
  }
}

// Arrays to arrays: to = M from; may be the same.
RITZ_INLINE void ritz_move(int rows, int cols, int parity, RITZ_IN_CONSTANT const RitzReal *M, int num_comp,
                           RITZ_SHARED const RitzReal *from, RITZ_SHARED RitzReal *to, int stride) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RitzReal x[RITZ_MAX_1D], y[RITZ_MAX_1D];
    ritz_read(cols, from + c * RITZ_ARRAY, stride, x);
    ritz_multiply(rows, cols, parity, M, x, y);
    ritz_write(rows, y, to + c * RITZ_ARRAY, stride);
  }
}

// Arrays to arrays: to_M = M from, to_N = N from; `from` may be one of them.
RITZ_INLINE void ritz_move_two(int rows, int cols, int M_parity, RITZ_IN_CONSTANT const RitzReal *M,
                               int N_rows, int N_cols, int N_parity, RITZ_IN_CONSTANT const RitzReal *N,
                               int num_comp, RITZ_SHARED const RitzReal *from, RITZ_SHARED RitzReal *to_M,
                               RITZ_SHARED RitzReal *to_N, int stride) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RitzReal x[RITZ_MAX_1D], y[RITZ_MAX_1D];
    ritz_read(cols, from + c * RITZ_ARRAY, stride, x);
    ritz_multiply(N_rows, N_cols, N_parity, N, x, y);
    ritz_write(N_rows, y, to_N + c * RITZ_ARRAY, stride);
    ritz_multiply(rows, cols, M_parity, M, x, y);
    ritz_write(rows, y, to_M + c * RITZ_ARRAY, stride);
  }
}

// Arrays to arrays: to = M from + N other.
RITZ_INLINE void ritz_move_sum(int rows, int cols, int M_parity, RITZ_IN_CONSTANT const RitzReal *M,
                               int N_rows, int N_cols, int N_parity, RITZ_IN_CONSTANT const RitzReal *N,
                               int num_comp, RITZ_SHARED const RitzReal *from,
                               RITZ_SHARED const RitzReal *other, RITZ_SHARED RitzReal *to, int stride) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RitzReal x[RITZ_MAX_1D], z[RITZ_MAX_1D], y[RITZ_MAX_1D];
    ritz_read(cols, from + c * RITZ_ARRAY, stride, x);
    ritz_read(cols, other + c * RITZ_ARRAY, stride, z);
    ritz_multiply_two(rows, cols, M_parity, M, N_parity, N, x, z, y);
    ritz_write(rows, y, to + c * RITZ_ARRAY, stride);
  }
}

// values += arrays.
RITZ_INLINE void ritz_add_lines(int num_comp, int n, RITZ_SHARED const RitzReal *from, int stride,
                                RitzReal *values) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_UNROLL
    for (int k = 0; k < n; k++) values[c * n + k] += from[c * RITZ_ARRAY + k * stride];
  }
}

// values = or += M lines.
RITZ_INLINE void ritz_apply_add(int rows, int cols, int parity, RITZ_IN_CONSTANT const RitzReal *M,
                                int num_comp, const RitzReal *lines, RitzReal *values) {
  RITZ_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RitzReal y[RITZ_MAX_1D];
    ritz_multiply(rows, cols, parity, M, lines + c * cols, y);
    RITZ_UNROLL
    for (int k = 0; k < rows; k++) values[c * rows + k] += y[k];
  }
}

#endif
