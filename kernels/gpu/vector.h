// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic on vectors of any length; run by backends/gpu/vector.c. A kernel may have fewer threads than
// entries: each takes every RITZ_NUM_ITEMS-th.
//
// Stands in a text once for each precision (backends/gpu/gpu.c), which defines RITZ_ENTRY, the type of
// entries, and RITZ_NAME(name), the name of a kernel for it. Numbers are CeedScalars.

RITZ_KERNEL(256)
RITZ_NAME(vector_set_value)
(RitzLong n, RitzLong start, RitzLong step, CeedScalar value, RITZ_GLOBAL RITZ_ENTRY *x) {
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) x[start + i * step] = (RITZ_ENTRY)value;
}

RITZ_KERNEL(256)
RITZ_NAME(vector_copy)
(RitzLong n, RitzLong start, RitzLong step, RITZ_GLOBAL const RITZ_ENTRY *x, RITZ_GLOBAL RITZ_ENTRY *y) {
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) y[start + i * step] = x[start + i * step];
}

RITZ_KERNEL(256) RITZ_NAME(vector_scale)(RitzLong n, CeedScalar alpha, RITZ_GLOBAL RITZ_ENTRY *x) {
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) x[i] *= (RITZ_ENTRY)alpha;
}

RITZ_KERNEL(256) RITZ_NAME(vector_filter)(RitzLong n, CeedScalar threshold, RITZ_GLOBAL RITZ_ENTRY *x) {
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) {
    if (fabs((double)x[i]) <= (double)threshold) x[i] = 0;
  }
}

RITZ_KERNEL(256)
RITZ_NAME(vector_axpby)
(RitzLong n, CeedScalar alpha, CeedScalar beta, RITZ_GLOBAL const RITZ_ENTRY *x, RITZ_GLOBAL RITZ_ENTRY *y) {
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS)
    y[i] = (RITZ_ENTRY)alpha * x[i] + (RITZ_ENTRY)beta * y[i];
}

RITZ_KERNEL(256)
RITZ_NAME(vector_pointwise_mult)
(RitzLong n, RITZ_GLOBAL const RITZ_ENTRY *x, RITZ_GLOBAL const RITZ_ENTRY *y, RITZ_GLOBAL RITZ_ENTRY *w) {
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) w[i] = x[i] * y[i];
}

RITZ_KERNEL(256) RITZ_NAME(vector_reciprocal)(RitzLong n, RITZ_GLOBAL RITZ_ENTRY *x) {
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) {
    if (fabs((double)x[i]) > CEED_EPSILON) x[i] = 1 / x[i];
  }
}

// partial[block]: sum of |x|, largest |x|, sum of (factor x)^2 over the entries of a block. The order of the
// additions depends on n and the number of blocks alone.
RITZ_KERNEL(256)
RITZ_NAME(vector_norm)
(RitzLong n, CeedScalar factor, RITZ_GLOBAL const RITZ_ENTRY *x, RITZ_GLOBAL double *partial) {
  RITZ_SHARED_ARRAY double sum[256];
  RITZ_SHARED_ARRAY double largest[256];
  RITZ_SHARED_ARRAY double squares[256];
  int t = RITZ_THREAD;
  double my_sum = 0, my_largest = 0, my_squares = 0;
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) {
    double size = fabs((double)x[i]), scaled = (double)factor * size;
    my_sum += size;
    if (size > my_largest) my_largest = size;
    my_squares += scaled * scaled;
  }
  sum[t] = my_sum;
  largest[t] = my_largest;
  squares[t] = my_squares;
  for (int width = 128; width > 0; width /= 2) {
    RITZ_BARRIER();
    if (t < width) {
      sum[t] += sum[t + width];
      if (largest[t + width] > largest[t]) largest[t] = largest[t + width];
      squares[t] += squares[t + width];
    }
  }
  if (t == 0) {
    partial[3 * RITZ_BLOCK] = sum[0];
    partial[3 * RITZ_BLOCK + 1] = largest[0];
    partial[3 * RITZ_BLOCK + 2] = squares[0];
  }
}
