// SPDX-License-Identifier: BSD-2-Clause
// Kernels between vectors of float and of double, in a library of double. Comes after
// kernels/gpu/language.h.

RITZ_KERNEL(256) vector_widen(RitzLong n, RITZ_GLOBAL const float *x, RITZ_GLOBAL double *y) {
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) y[i] = (double)x[i];
}

RITZ_KERNEL(256) vector_narrow(RitzLong n, RITZ_GLOBAL const double *x, RITZ_GLOBAL float *y) {
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) y[i] = (float)x[i];
}
