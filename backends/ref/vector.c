// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic on host arrays of either precision.
#include <math.h>

#include "backends/ref/ref.h"

#define RITZ_ENTRY      float
#define RITZ_LOOP(name) name##_floats
#include "backends/ref/vector-loops.h"
#undef RITZ_ENTRY
#undef RITZ_LOOP
#define RITZ_ENTRY      double
#define RITZ_LOOP(name) name##_doubles
#include "backends/ref/vector-loops.h"

static bool is_float(CeedScalarType precision) { return precision == CEED_SCALAR_FP32; }

int ritz_ref_vector_set_value(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar value, void *x) {
  return ritz_ref_vector_set_value_strided(ceed, precision, 0, n, 1, value, x);
}

int ritz_ref_vector_set_value_strided(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                      CeedSize step, CeedScalar value, void *x) {
  (void)ceed;
  if (is_float(precision))
    fill_floats(start, stop, step, (float)value, x);
  else
    fill_doubles(start, stop, step, value, x);
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_vector_copy_strided(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                 CeedSize step, const void *x, void *y) {
  (void)ceed;
  if (is_float(precision))
    copy_floats(start, stop, step, x, y);
  else
    copy_doubles(start, stop, step, x, y);
  return CEED_ERROR_SUCCESS;
}

// 2-norm in double; entries are scaled by the largest one when their squares would over- or underflow.
static double norm_2(CeedScalarType precision, CeedSize n, const void *x, double largest) {
  const double scale = largest > 1e140 || (largest < 1e-140 && largest > 0) ? largest : 1;
  return scale *
         sqrt(is_float(precision) ? sum_squares_floats(n, x, scale) : sum_squares_doubles(n, x, scale));
}

int ritz_ref_vector_norm(Ceed ceed, CeedScalarType precision, CeedSize n, CeedNormType type, const void *x,
                         CeedScalar *norm) {
  (void)ceed;
  double sum = 0, largest = 0;
  if (is_float(precision))
    measure_floats(n, x, &sum, &largest);
  else
    measure_doubles(n, x, &sum, &largest);
  // A NaN or an infinity makes the sum one, and with it every norm.
  double result = type == CEED_NORM_1 || !isfinite(sum) ? sum
                  : type == CEED_NORM_MAX               ? largest
                                                        : norm_2(precision, n, x, largest);
  *norm = (CeedScalar)result;
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_vector_scale(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, void *x) {
  (void)ceed;
  if (is_float(precision))
    scale_floats(n, (float)alpha, x);
  else
    scale_doubles(n, alpha, x);
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_vector_filter(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar threshold, void *x) {
  (void)ceed;
  if (is_float(precision))
    filter_floats(n, threshold, x);
  else
    filter_doubles(n, threshold, x);
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_vector_axpby(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, CeedScalar beta,
                          const void *x, void *y) {
  (void)ceed;
  if (is_float(precision))
    axpby_floats(n, (float)alpha, (float)beta, x, y);
  else
    axpby_doubles(n, alpha, beta, x, y);
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_vector_pointwise_mult(Ceed ceed, CeedScalarType precision, CeedSize n, const void *x,
                                   const void *y, void *w) {
  (void)ceed;
  if (is_float(precision))
    multiply_floats(n, x, y, w);
  else
    multiply_doubles(n, x, y, w);
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_vector_reciprocal(Ceed ceed, CeedScalarType precision, CeedSize n, void *x) {
  (void)ceed;
  if (is_float(precision))
    invert_floats(n, x);
  else
    invert_doubles(n, x);
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_vector_convert(Ceed ceed, CeedSize n, CeedScalarType from, const void *x, CeedScalarType to,
                            void *y) {
  (void)ceed;
  ritz_convert(n, from, x, to, y);
  return CEED_ERROR_SUCCESS;
}
