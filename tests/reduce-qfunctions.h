// SPDX-License-Identifier: BSD-2-Clause
// The QFunction of test-operator-reduce.c: integrands of a function's powers. A source that devices compile
// at run time, so it is C and C++ and needs no system header.
#ifndef RITZ_TESTS_REDUCE_QFUNCTIONS_H
#define RITZ_TESTS_REDUCE_QFUNCTIONS_H

#include <ceed/types.h>

typedef struct {
  CeedInt dim;
  double scale; // of u
} IntegrandContext;

// in: [0] u [Q]   [1] dx [dim][dim][Q]   [2] w [Q]
// out, with weight w |det dx| and s = scale u: [0] weight, weight s [2][Q]   [1] weight s^2 [Q]
CEED_QFUNCTION(Integrands)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const IntegrandContext *const c = (const IntegrandContext *)ctx;
  const CeedScalar *const J = in[1];

  for (CeedInt q = 0; q < Q; q++) {
    CeedScalar det = J[q];
    if (c->dim == 2) det = J[q] * J[3 * Q + q] - J[Q + q] * J[2 * Q + q];
    if (c->dim == 3)
      det = J[q] * (J[4 * Q + q] * J[8 * Q + q] - J[5 * Q + q] * J[7 * Q + q]) -
            J[3 * Q + q] * (J[Q + q] * J[8 * Q + q] - J[2 * Q + q] * J[7 * Q + q]) +
            J[6 * Q + q] * (J[Q + q] * J[5 * Q + q] - J[2 * Q + q] * J[4 * Q + q]);
    const CeedScalar weight = in[2][q] * (det < 0 ? -det : det), s = (CeedScalar)c->scale * in[0][q];

    out[0][q] = weight;
    out[0][Q + q] = weight * s;
    out[1][q] = weight * s * s;
  }
  return CEED_ERROR_SUCCESS;
}

#endif
