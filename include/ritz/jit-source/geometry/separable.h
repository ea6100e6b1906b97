// SPDX-License-Identifier: BSD-2-Clause
// Point function of element-wise Schwarz methods, v = u / s for every component: u are the coefficients of
// the eigenvectors, s sums of eigenvalues. Included by solver/schwarz.c and by run-time compilers. The number
// in a name: num_comp.
#ifndef RITZ_GEOMETRY_SEPARABLE_H
#define RITZ_GEOMETRY_SEPARABLE_H

#include "points.h"

// in: u, s
CEED_QFUNCTION_HELPER int ritz_separable(const int num_comp, const CeedInt Q, const CeedScalar *const *in,
                                         CeedScalar *const *out) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    ritz_geometry_scale(num_comp, RITZ_QUOTIENT(1, in[1][i]), in[0], out[0], Q, i);
  }
  return CEED_ERROR_SUCCESS;
}

#define RITZ_SEPARABLE(suffix, num_comp)                                                                     \
  RITZ_GEOMETRY_FUNCTION(ritz_separable_##suffix) {                                                          \
    (void)ctx;                                                                                               \
    return ritz_separable(num_comp, Q, in, out);                                                             \
  }

RITZ_SEPARABLE(1, 1)
RITZ_SEPARABLE(3, 3)
RITZ_SEPARABLE(any, RITZ_GEOMETRY_CONTEXT->num_comp)

#undef RITZ_SEPARABLE

#endif
