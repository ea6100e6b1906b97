// SPDX-License-Identifier: BSD-2-Clause
// Derivatives of a QFunction at a point, one unit vector after the other: its arguments in the registers of a
// thread. Part of the texts of diagonals and of assembly.
#ifndef RITZ_KERNELS_GPU_UNITS_H
#define RITZ_KERNELS_GPU_UNITS_H

// All places of x are constants: that keeps the vector in registers.
RITZ_INLINE void ritz_set_unit(int n, int place, CeedScalar *x) {
  RITZ_UNROLL
  for (int i = 0; i < n; i++) x[i] = i == place;
}

// x[place], likewise
RITZ_INLINE RitzReal ritz_pick(int n, const CeedScalar *x, int place) {
  CeedScalar found = x[0];
  RITZ_UNROLL
  for (int i = 1; i < n; i++) found = i == place ? x[i] : found;
  return (RitzReal)found;
}

// Where the n scalars x of an output belong to component c: each to the place of its mode. modes and comps of
// these scalars.
#define RITZ_KEEP(n, x, modes, comps, c, stride, D)                                                          \
  RITZ_UNROLL                                                                                                \
  for (int i = 0; i < (n); i++) {                                                                            \
    if ((comps)[i] == (c)) (D)[(modes)[i] * (stride)] = (x)[i];                                              \
  }

// Copies all outputs from an assembled QFunction: derivative of output o by input i at (i * N + o) *
// from_stride.
#define RITZ_COPY_KEPT(from, from_stride, c_in, c_out, stride, D)                                            \
  for (int m = 0; m < RITZ_MODES_IN; m++) {                                                                  \
    const RitzLong i = ritz_units[m] + (c_in);                                                               \
    for (int o = 0; o < RITZ_SCALARS_OUT; o++) {                                                             \
      if (ritz_output_comps[o] == (c_out))                                                                   \
        (D)[(m * RITZ_MODES_OUT + ritz_output_modes[o]) * (stride)] =                                        \
            (from)[(i * RITZ_SCALARS_OUT + o) * (from_stride)];                                              \
    }                                                                                                        \
  }

#endif
