// SPDX-License-Identifier: BSD-2-Clause
// Point functions of RITZ_OPERATOR_MASS, v = lambda w det u, for each way to det. Included by
// geometry/functions.c and by run-time compilers. The last two numbers in a name: dim, num_comp.
#ifndef RITZ_GEOMETRY_MASS_H
#define RITZ_GEOMETRY_MASS_H

#include "points.h"

// in: u, [lambda w det]
CEED_QFUNCTION_HELPER int ritz_mass_stored(const int num_comp, const CeedInt Q, const CeedScalar *const *in,
                                           CeedScalar *const *out) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) ritz_geometry_scale(num_comp, in[1][i], in[0], out[0], Q, i);
  return CEED_ERROR_SUCCESS;
}

// in: u, [lambda det] of the element, weights
CEED_QFUNCTION_HELPER int ritz_mass_affine(const int num_comp, const CeedInt Q, const CeedScalar *const *in,
                                           CeedScalar *const *out) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) ritz_geometry_scale(num_comp, in[1][i] * in[2][i], in[0], out[0], Q, i);
  return CEED_ERROR_SUCCESS;
}

// in: u, gradient of the coordinates, weights
CEED_QFUNCTION_HELPER int ritz_mass_computed(const int dim, const int space_dim, const int num_comp,
                                             const CeedScalar lambda, const CeedInt Q,
                                             const CeedScalar *const *in, CeedScalar *const *out) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3];
    const CeedScalar det = ritz_geometry_jacobian(dim, space_dim, in[1], Q, i, k);
    ritz_geometry_scale(num_comp, lambda * in[2][i] * det, in[0], out[0], Q, i);
  }
  return CEED_ERROR_SUCCESS;
}

#define RITZ_MASS_STORED(suffix, num_comp)                                                                   \
  RITZ_GEOMETRY_FUNCTION(ritz_mass_stored_##suffix) {                                                        \
    (void)ctx;                                                                                               \
    return ritz_mass_stored(num_comp, Q, in, out);                                                           \
  }                                                                                                          \
  RITZ_GEOMETRY_FUNCTION(ritz_mass_affine_##suffix) {                                                        \
    (void)ctx;                                                                                               \
    return ritz_mass_affine(num_comp, Q, in, out);                                                           \
  }
#define RITZ_MASS_COMPUTED(suffix, dim, space_dim, num_comp)                                                 \
  RITZ_GEOMETRY_FUNCTION(ritz_mass_computed_##suffix) {                                                      \
    return ritz_mass_computed(dim, space_dim, num_comp, RITZ_GEOMETRY_CONTEXT->lambda, Q, in, out);          \
  }

RITZ_MASS_STORED(1, 1)
RITZ_MASS_STORED(3, 3)
RITZ_MASS_STORED(any, RITZ_GEOMETRY_CONTEXT->num_comp)
RITZ_MASS_COMPUTED(1_1, 1, 1, 1)
RITZ_MASS_COMPUTED(1_3, 1, 1, 3)
RITZ_MASS_COMPUTED(2_1, 2, 2, 1)
RITZ_MASS_COMPUTED(2_3, 2, 2, 3)
RITZ_MASS_COMPUTED(3_1, 3, 3, 1)
RITZ_MASS_COMPUTED(3_3, 3, 3, 3)
RITZ_MASS_COMPUTED(any, RITZ_GEOMETRY_CONTEXT->dim, RITZ_GEOMETRY_CONTEXT->space_dim,
                   RITZ_GEOMETRY_CONTEXT->num_comp)

#undef RITZ_MASS_STORED
#undef RITZ_MASS_COMPUTED

#endif
