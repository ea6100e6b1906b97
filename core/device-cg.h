// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients whose vectors stay on a device: the backend does whole iterations, the solver decides
// when to stop. Called by solver/cg-device.c, served by the slots cg_create, cg_iterate, cg_destroy.
#ifndef RITZ_CORE_DEVICE_CG_H
#define RITZ_CORE_DEVICE_CG_H

#include <math.h>

#include "core/core.h"

struct RitzCgSetup {
  CeedOperator op; // single or composite, square
  CeedSize n;
  CeedVector b, x;     // right-hand side; first guess, later the iterate
  CeedVector diagonal; // of the operator, for M = smallest / diagonal; NULL: M is one
  int64_t num_constraints;
  const int64_t *constraints; // entries that x keeps: r, M and A p count as zero there
  bool is_merged;             // false: one pass for each vector operation, the reference
};

// Sums of one iteration: p . A p, and |r|^2 and r . M r of the new residual.
struct RitzCgNumbers {
  double pq, rr, rz;
};

// Results of cg_create, before the first iteration.
struct RitzCgStart {
  double scale;     // r, p and A p are kept divided by it: ritz_cg_scale of the first residual
  double rr, rz;    // |r|^2 and r . M r of the scaled residual
  bool is_positive; // M is a positive number on all free entries; else there can be no iteration
};

// ---- Rules for the size of residuals, on hosts and devices ----

// The power of two next to the largest entry of a residual; one where that is zero or not finite. Squares of
// a residual that is divided by it neither overflow nor vanish.
static inline double ritz_cg_scale(double largest) {
  int exponent = 0;
  if (largest == 0 || !isfinite(largest)) return 1;
  frexp(largest, &exponent);
  return ldexp(1, exponent < -1000 ? -1000 : exponent > 1023 ? 1023 : exponent); // finite, as is its inverse
}

// Squares of the scaled residual that have lost all meaning next to the first one (near 1) count as zero.
static inline double ritz_cg_without_dust(double rr) {
  return rr < (sizeof(CeedScalar) == 4 ? 0x1p-160 : 0x1p-1000) ? 0 : rr;
}

#endif
