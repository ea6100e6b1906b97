// SPDX-License-Identifier: BSD-2-Clause
// Point functions of RITZ_OPERATOR_DIFFUSION, dv = mu w / det K K^T du, for each way to the factors. Included
// by geometry/functions.c and by run-time compilers. The last two numbers in a name: dim, num_comp.
#ifndef RITZ_GEOMETRY_DIFFUSION_H
#define RITZ_GEOMETRY_DIFFUSION_H

#include "points.h"

// in: du, [mu w / det K K^T]
CEED_QFUNCTION_HELPER int ritz_diffusion_stored(const int dim, const int num_comp, const CeedInt Q,
                                                const CeedScalar *const *in, CeedScalar *const *out) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) ritz_geometry_diffuse_stored(dim, num_comp, 1, in[1], in[0], out[0], Q, i);
  return CEED_ERROR_SUCCESS;
}

// in: du, [mu / det K K^T] of the element, weights
CEED_QFUNCTION_HELPER int ritz_diffusion_affine(const int dim, const int num_comp, const CeedInt Q,
                                                const CeedScalar *const *in, CeedScalar *const *out) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++)
    ritz_geometry_diffuse_stored(dim, num_comp, in[2][i], in[1], in[0], out[0], Q, i);
  return CEED_ERROR_SUCCESS;
}

// in: du, gradient of the coordinates, weights
CEED_QFUNCTION_HELPER int ritz_diffusion_computed(const int dim, const int space_dim, const int num_comp,
                                                  const CeedScalar mu, const CeedInt Q,
                                                  const CeedScalar *const *in, CeedScalar *const *out) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3];
    const CeedScalar det = ritz_geometry_jacobian(dim, space_dim, in[1], Q, i, k);
    ritz_geometry_diffuse(dim, space_dim, num_comp, RITZ_QUOTIENT(mu * in[2][i], det), k, in[0], out[0], Q,
                          i);
  }
  return CEED_ERROR_SUCCESS;
}

// in: du, gradient of the coordinates, [mu w / det]
CEED_QFUNCTION_HELPER int ritz_diffusion_partial(const int dim, const int space_dim, const int num_comp,
                                                 const CeedInt Q, const CeedScalar *const *in,
                                                 CeedScalar *const *out) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3];
    ritz_geometry_jacobian(dim, space_dim, in[1], Q, i, k);
    ritz_geometry_diffuse(dim, space_dim, num_comp, in[2][i], k, in[0], out[0], Q, i);
  }
  return CEED_ERROR_SUCCESS;
}

#define RITZ_DIFFUSION(suffix, dim, space_dim, num_comp)                                                     \
  RITZ_GEOMETRY_FUNCTION(ritz_diffusion_stored_##suffix) {                                                   \
    (void)ctx;                                                                                               \
    return ritz_diffusion_stored(dim, num_comp, Q, in, out);                                                 \
  }                                                                                                          \
  RITZ_GEOMETRY_FUNCTION(ritz_diffusion_affine_##suffix) {                                                   \
    (void)ctx;                                                                                               \
    return ritz_diffusion_affine(dim, num_comp, Q, in, out);                                                 \
  }                                                                                                          \
  RITZ_GEOMETRY_FUNCTION(ritz_diffusion_computed_##suffix) {                                                 \
    return ritz_diffusion_computed(dim, space_dim, num_comp, RITZ_GEOMETRY_CONTEXT->mu, Q, in, out);         \
  }                                                                                                          \
  RITZ_GEOMETRY_FUNCTION(ritz_diffusion_partial_##suffix) {                                                  \
    (void)ctx;                                                                                               \
    return ritz_diffusion_partial(dim, space_dim, num_comp, Q, in, out);                                     \
  }

RITZ_DIFFUSION(1_1, 1, 1, 1)
RITZ_DIFFUSION(1_3, 1, 1, 3)
RITZ_DIFFUSION(2_1, 2, 2, 1)
RITZ_DIFFUSION(2_3, 2, 2, 3)
RITZ_DIFFUSION(3_1, 3, 3, 1)
RITZ_DIFFUSION(3_3, 3, 3, 3)
RITZ_DIFFUSION(any, RITZ_GEOMETRY_CONTEXT->dim, RITZ_GEOMETRY_CONTEXT->space_dim,
               RITZ_GEOMETRY_CONTEXT->num_comp)

#undef RITZ_DIFFUSION

#endif
