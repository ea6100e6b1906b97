// SPDX-License-Identifier: BSD-2-Clause
// Passes over vectors (core/vector-pass.h), entry by entry; sets of entries.
#include <float.h>

#include "backends/ref/ref.h"
#include "core/vector-pass.h"

static double load(const RitzPassArrays *arrays, int vector, CeedSize i) {
  const void *array = arrays->array[vector];
  return arrays->precision[vector] == CEED_SCALAR_FP32 ? (double)((const float *)array)[i]
                                                       : ((const double *)array)[i];
}

static void store(const RitzPassArrays *arrays, int vector, CeedSize i, double value) {
  if (arrays->precision[vector] == CEED_SCALAR_FP32)
    ((float *)arrays->array[vector])[i] = (float)value;
  else
    ((double *)arrays->array[vector])[i] = value;
}

// The sum of the terms of a line, each operation rounded to float where `is_single`.
static double line_value(const RitzPassArrays *arrays, const RitzPassLine *line, const double *factors,
                         bool is_single, CeedSize i) {
  double value = 0;

  for (int t = 0; t < line->num_terms; t++) {
    const RitzPassTerm *term = &line->term[t];
    const double factor = term->factor < 0 ? 1 : factors[term->factor];
    if (factor == 0) continue;
    double product = load(arrays, term->x, i);
    if (term->y >= 0) product *= load(arrays, term->y, i);
    if (is_single) product = (float)product;
    product *= is_single ? (double)(float)factor : factor;
    if (is_single) product = (float)product;
    value += product;
    if (is_single) value = (float)value;
  }
  return value;
}

// Knuth's exact sum of two numbers.
static void add(double *value, double *rest, double term) {
  const double old = *value, total = old + term, added = total - old;
  *rest += (old - (total - added)) + (term - added);
  *value = total;
}

static double product(const RitzPassArrays *arrays, const RitzPassSum *sum, CeedSize i) {
  const double xy = load(arrays, sum->x, i) * load(arrays, sum->y, i);
  return sum->w >= 0 ? xy * load(arrays, sum->w, i) : xy;
}

int ritz_ref_vector_pass(Ceed ceed, const RitzPassArrays *arrays, const double *factors, double *sums) {
  const RitzPass *pass = arrays->pass;
  const bool is_single = ritz_pass_is_single(arrays);
  double value[RITZ_PASS_SUMS] = {0}, rest[RITZ_PASS_SUMS] = {0};

  (void)ceed;
  for (CeedSize i = arrays->first; i < arrays->first + arrays->n; i++) {
    for (int k = 0; k < pass->num_lines; k++)
      store(arrays, pass->line[k].to, i, line_value(arrays, &pass->line[k], factors, is_single, i));
    for (int k = 0; k < pass->num_sums; k++) add(&value[k], &rest[k], product(arrays, &pass->sum[k], i));
  }
  for (int k = 0; k < pass->num_sums; k++) sums[k] = value[k] + rest[k];
  return CEED_ERROR_SUCCESS;
}

// A pass on arrays of the host, for backends there.
int ritz_ref_vector_pass_by(Ceed ceed, const RitzPassArrays *arrays, const RitzFactor *factors,
                            double *scalars, CeedInt first_sum) {
  const double largest = ritz_pass_is_single(arrays) ? (double)FLT_MAX : DBL_MAX;
  const int num_factors = ritz_pass_num_factors(arrays->pass);
  double values[RITZ_PASS_FACTORS];

  for (int i = 0; i < num_factors; i++) values[i] = ritz_factor_value(&factors[i], scalars, largest);
  return ceed->backend.vector_pass(ceed, arrays, values, scalars + first_sum);
}

// ---- Sets of entries ----

int ritz_ref_vector_set_entries(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                                const CeedScalar *values, double value, void *x) {
  (void)ceed;
  for (int64_t k = 0; k < num; k++) {
    const double set = values ? (double)values[k] : value;

    if (precision == CEED_SCALAR_FP32)
      ((float *)x)[entries[k]] = (float)set;
    else
      ((double *)x)[entries[k]] = set;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_vector_copy_entries(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                                 const void *x, void *y) {
  (void)ceed;
  for (int64_t k = 0; k < num; k++) {
    if (precision == CEED_SCALAR_FP32)
      ((float *)y)[entries[k]] = ((const float *)x)[entries[k]];
    else
      ((double *)y)[entries[k]] = ((const double *)x)[entries[k]];
  }
  return CEED_ERROR_SUCCESS;
}
