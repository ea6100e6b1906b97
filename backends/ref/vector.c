// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic on host arrays.
#include <math.h>

#include "backends/ref/ref.h"

int ritz_ref_vector_set_value(Ceed ceed, CeedSize n, CeedScalar value, CeedScalar *x) {
  return ritz_ref_vector_set_value_strided(ceed, 0, n, 1, value, x);
}

int ritz_ref_vector_set_value_strided(Ceed ceed, CeedSize start, CeedSize stop, CeedSize step,
                                      CeedScalar value, CeedScalar *x) {
  (void)ceed;
  for (CeedSize i = start; i < stop; i += step) x[i] = value;
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_vector_copy_strided(Ceed ceed, CeedSize start, CeedSize stop, CeedSize step, const CeedScalar *x,
                                 CeedScalar *y) {
  (void)ceed;
  for (CeedSize i = start; i < stop; i += step) y[i] = x[i];
  return CEED_ERROR_SUCCESS;
}

// 2-norm in double; entries are scaled by the largest one when their squares would over- or underflow.
static double norm_2(CeedSize n, const CeedScalar *x, double largest) {
  double scale = largest > 1e140 || (largest < 1e-140 && largest > 0) ? largest : 1, sum = 0;
  for (CeedSize i = 0; i < n; i++) sum += ((double)x[i] / scale) * ((double)x[i] / scale);
  return scale * sqrt(sum);
}

int ritz_ref_vector_norm(Ceed ceed, CeedSize n, CeedNormType type, const CeedScalar *x, CeedScalar *norm) {
  (void)ceed;
  double sum = 0, largest = 0;
  for (CeedSize i = 0; i < n; i++) {
    sum += fabs((double)x[i]);
    if (fabs((double)x[i]) > largest) largest = fabs((double)x[i]);
  }
  // A NaN or an infinity makes the sum one, and with it every norm.
  double result = type == CEED_NORM_1 || !isfinite(sum) ? sum
                  : type == CEED_NORM_MAX               ? largest
                                                        : norm_2(n, x, largest);
  *norm = (CeedScalar)result;
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_vector_scale(Ceed ceed, CeedSize n, CeedScalar alpha, CeedScalar *x) {
  (void)ceed;
  for (CeedSize i = 0; i < n; i++) x[i] *= alpha;
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_vector_filter(Ceed ceed, CeedSize n, CeedScalar threshold, CeedScalar *x) {
  (void)ceed;
  for (CeedSize i = 0; i < n; i++) {
    if (fabs((double)x[i]) <= (double)threshold) x[i] = 0;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_vector_axpby(Ceed ceed, CeedSize n, CeedScalar alpha, CeedScalar beta, const CeedScalar *x,
                          CeedScalar *y) {
  (void)ceed;
  for (CeedSize i = 0; i < n; i++) y[i] = alpha * x[i] + beta * y[i];
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_vector_pointwise_mult(Ceed ceed, CeedSize n, const CeedScalar *x, const CeedScalar *y,
                                   CeedScalar *w) {
  (void)ceed;
  for (CeedSize i = 0; i < n; i++) w[i] = x[i] * y[i];
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_vector_reciprocal(Ceed ceed, CeedSize n, CeedScalar *x) {
  (void)ceed;
  for (CeedSize i = 0; i < n; i++) {
    if (fabs((double)x[i]) > CEED_EPSILON) x[i] = 1 / x[i];
  }
  return CEED_ERROR_SUCCESS;
}
