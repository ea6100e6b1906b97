// SPDX-License-Identifier: BSD-2-Clause
// The integrand of examples/petsc/bratu.c, compiled with it and at run time: grad u . grad v - exp(u) v.
#ifndef RITZ_EXAMPLES_PETSC_BRATU_H
#define RITZ_EXAMPLES_PETSC_BRATU_H

#include <ritz/point-function.h>

CEED_QFUNCTION_HELPER void bratu_integrand(const void *ctx, const CeedScalar u[1],
                                           const CeedScalar grad_u[1][2], CeedScalar v[1],
                                           CeedScalar grad_v[1][2]) {
  (void)ctx;
  v[0] = -exp(u[0]);
  for (int d = 0; d < 2; d++) grad_v[0][d] = grad_u[0][d];
}
RITZ_POINT_FUNCTION(bratu, 2, 1, bratu_integrand)

#endif
