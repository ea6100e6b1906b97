// SPDX-License-Identifier: BSD-2-Clause
// Vectors of numbers, applies and comparisons for tests of derivatives.
#ifndef RITZ_TESTS_DERIVATIVE_KIT_H
#define RITZ_TESTS_DERIVATIVE_KIT_H

#include <ceed/backend.h>
#include <ritz.h>
#include <stdint.h>
#include <string.h>

static inline double random_number(void) { // of a linear congruential generator
  static uint64_t seed = 7;
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(seed >> 11) / 9007199254740992.0;
}

static inline int fill(CeedVector vec, double lowest, double range) {
  CeedScalar *a;
  CeedSize n;
  CeedCall(CeedVectorGetLength(vec, &n));
  CeedCall(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &a));
  for (CeedSize i = 0; i < n; i++) a[i] = (CeedScalar)(lowest + range * random_number());
  return CeedVectorRestoreArray(vec, &a);
}

static inline int apply(CeedOperator op, CeedVector in, CeedVector out) {
  return CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE);
}

// |x - y| over |y|, in the largest entries; x is lost. Negative: an error.
static inline double difference(CeedVector x, CeedVector y) {
  CeedScalar apart, size;
  if (CeedVectorNorm(y, CEED_NORM_MAX, &size) || CeedVectorAXPY(x, -1, y) ||
      CeedVectorNorm(x, CEED_NORM_MAX, &apart))
    return -1;
  return (double)(apart / size);
}

// The sum of products; b NULL: of entries.
static inline int product(CeedVector a, CeedVector b, double *sum) {
  const CeedScalar *x, *y = NULL;
  CeedSize n;
  CeedCall(CeedVectorGetLength(a, &n));
  CeedCall(CeedVectorGetArrayRead(a, CEED_MEM_HOST, &x));
  if (b) CeedCall(CeedVectorGetArrayRead(b, CEED_MEM_HOST, &y));
  *sum = 0;
  for (CeedSize i = 0; i < n; i++) *sum += (double)x[i] * (b ? (double)y[i] : 1);
  CeedCall(CeedVectorRestoreArrayRead(a, &x));
  return b ? CeedVectorRestoreArrayRead(b, &y) : CEED_ERROR_SUCCESS;
}

// Sums of some hundred terms, and inverses of matrices near the unit.
static const double tolerance = 500 * (double)CEED_EPSILON;

#endif
