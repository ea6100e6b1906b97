// SPDX-License-Identifier: BSD-2-Clause
// Point functions of RITZ_OPERATOR_HELMHOLTZ, dv = mu w / det K K^T du and v = lambda w det u, for each way
// to the factors. Included by geometry/functions.c and by run-time compilers. The last two numbers in a name:
// dim, num_comp. Where two fields of weights are, each has its coefficient in it or is the plain weight.
#ifndef RITZ_GEOMETRY_HELMHOLTZ_H
#define RITZ_GEOMETRY_HELMHOLTZ_H

#include "points.h"

// in: du, u, [lambda w det, mu w / det K K^T]
CEED_QFUNCTION_HELPER int ritz_helmholtz_stored(const int dim, const int num_comp, const CeedInt Q,
                                                const CeedScalar *const *in, CeedScalar *const *out) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    ritz_geometry_diffuse_stored(dim, num_comp, 1, in[2] + Q, in[0], out[0], Q, i);
    ritz_geometry_scale(num_comp, in[2][i], in[1], out[1], Q, i);
  }
  return CEED_ERROR_SUCCESS;
}

// in: du, u, [lambda det, mu / det K K^T] of the element, weights for mu, weights for lambda
CEED_QFUNCTION_HELPER int ritz_helmholtz_affine(const int dim, const int num_comp, const CeedInt Q,
                                                const CeedScalar *const *in, CeedScalar *const *out) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    ritz_geometry_diffuse_stored(dim, num_comp, in[3][i], in[2] + Q, in[0], out[0], Q, i);
    ritz_geometry_scale(num_comp, in[2][i] * in[4][i], in[1], out[1], Q, i);
  }
  return CEED_ERROR_SUCCESS;
}

// in: du, u, gradient of the coordinates, weights for mu, weights for lambda
CEED_QFUNCTION_HELPER int ritz_helmholtz_computed(const int dim, const int space_dim, const int num_comp,
                                                  const RitzGeometryContext *s, const CeedInt Q,
                                                  const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar lambda = s->lambda, mu = s->mu;

  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3];
    const CeedScalar det = ritz_geometry_jacobian(dim, space_dim, in[2], Q, i, k);
    ritz_geometry_diffuse(dim, space_dim, num_comp, RITZ_QUOTIENT(mu * in[3][i], det), k, in[0], out[0], Q,
                          i);
    ritz_geometry_scale(num_comp, lambda * in[4][i] * det, in[1], out[1], Q, i);
  }
  return CEED_ERROR_SUCCESS;
}

// in: du, u, gradient of the coordinates, [w / det]
CEED_QFUNCTION_HELPER int ritz_helmholtz_partial(const int dim, const int space_dim, const int num_comp,
                                                 const RitzGeometryContext *s, const CeedInt Q,
                                                 const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar lambda = s->lambda, mu = s->mu;

  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3];
    const CeedScalar det = ritz_geometry_jacobian(dim, space_dim, in[2], Q, i, k);
    ritz_geometry_diffuse(dim, space_dim, num_comp, mu * in[3][i], k, in[0], out[0], Q, i);
    ritz_geometry_scale(num_comp, lambda * in[3][i] * det * det, in[1], out[1], Q, i);
  }
  return CEED_ERROR_SUCCESS;
}

// in: du, u, gradient of the coordinates, [lambda w det, mu w / det]
CEED_QFUNCTION_HELPER int ritz_helmholtz_merged(const int dim, const int space_dim, const int num_comp,
                                                const CeedInt Q, const CeedScalar *const *in,
                                                CeedScalar *const *out) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3];
    ritz_geometry_jacobian(dim, space_dim, in[2], Q, i, k);
    ritz_geometry_diffuse(dim, space_dim, num_comp, in[3][Q + i], k, in[0], out[0], Q, i);
    ritz_geometry_scale(num_comp, in[3][i], in[1], out[1], Q, i);
  }
  return CEED_ERROR_SUCCESS;
}

#define RITZ_HELMHOLTZ(suffix, dim, space_dim, num_comp)                                                     \
  RITZ_GEOMETRY_FUNCTION(ritz_helmholtz_stored_##suffix) {                                                   \
    (void)ctx;                                                                                               \
    return ritz_helmholtz_stored(dim, num_comp, Q, in, out);                                                 \
  }                                                                                                          \
  RITZ_GEOMETRY_FUNCTION(ritz_helmholtz_affine_##suffix) {                                                   \
    (void)ctx;                                                                                               \
    return ritz_helmholtz_affine(dim, num_comp, Q, in, out);                                                 \
  }                                                                                                          \
  RITZ_GEOMETRY_FUNCTION(ritz_helmholtz_computed_##suffix) {                                                 \
    return ritz_helmholtz_computed(dim, space_dim, num_comp, RITZ_GEOMETRY_CONTEXT, Q, in, out);             \
  }                                                                                                          \
  RITZ_GEOMETRY_FUNCTION(ritz_helmholtz_partial_##suffix) {                                                  \
    return ritz_helmholtz_partial(dim, space_dim, num_comp, RITZ_GEOMETRY_CONTEXT, Q, in, out);              \
  }                                                                                                          \
  RITZ_GEOMETRY_FUNCTION(ritz_helmholtz_merged_##suffix) {                                                   \
    (void)ctx;                                                                                               \
    return ritz_helmholtz_merged(dim, space_dim, num_comp, Q, in, out);                                      \
  }

RITZ_HELMHOLTZ(1_1, 1, 1, 1)
RITZ_HELMHOLTZ(1_3, 1, 1, 3)
RITZ_HELMHOLTZ(2_1, 2, 2, 1)
RITZ_HELMHOLTZ(2_3, 2, 2, 3)
RITZ_HELMHOLTZ(3_1, 3, 3, 1)
RITZ_HELMHOLTZ(3_3, 3, 3, 3)
RITZ_HELMHOLTZ(any, RITZ_GEOMETRY_CONTEXT->dim, RITZ_GEOMETRY_CONTEXT->space_dim,
               RITZ_GEOMETRY_CONTEXT->num_comp)

#undef RITZ_HELMHOLTZ

#endif
