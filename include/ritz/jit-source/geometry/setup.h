// SPDX-License-Identifier: BSD-2-Clause
// QFunctions that make what operators of ritz/geometry.h keep: factors at points, coefficients times
// weights, inverse Jacobians, which run once; what is asked of solutions. Included by geometry/functions.c
// and by run-time compilers.
#ifndef RITZ_GEOMETRY_SETUP_H
#define RITZ_GEOMETRY_SETUP_H

#include "points.h"

// Point i: lambda and mu at the point, times w.
CEED_QFUNCTION_HELPER void ritz_setup_point(const RitzGeometrySetup *s, const CeedScalar lambda,
                                            const CeedScalar mu, const CeedScalar *dx, const CeedInt Q,
                                            const CeedInt i, CeedScalar *out) {
  CeedScalar k[3][3], G[6];
  const CeedScalar det = ritz_geometry_jacobian(s->dim, s->space_dim, dx, Q, i, k);
  CeedInt n = i;

  if (s->wanted & RITZ_SETUP_MASS) {
    out[n] = lambda * det;
    n += Q;
  }
  if (s->wanted & RITZ_SETUP_METRIC) {
    ritz_geometry_metric(s->dim, s->space_dim, mu / det, k, G);
    for (int e = 0; e < s->dim * (s->dim + 1) / 2; e++, n += Q) out[n] = G[e];
  }
  if (s->wanted & RITZ_SETUP_INVERSE) {
    out[n] = mu / det;
    n += Q;
  }
  if (s->wanted & RITZ_SETUP_MASS_WEIGHT) {
    out[n] = lambda;
    n += Q;
  }
  if (s->wanted & RITZ_SETUP_DIFFUSION_WEIGHT) {
    out[n] = mu;
    n += Q;
  }
  if (s->wanted & RITZ_SETUP_GRADIENTS) {
    for (int d = 0; d < s->dim; d++) {
      for (int c = 0; c < s->space_dim; c++, n += Q) out[n] = k[d][c] / det;
    }
  }
}

// in: gradient of the coordinates, weights
RITZ_GEOMETRY_FUNCTION(ritz_setup) {
  const RitzGeometrySetup *s = (const RitzGeometrySetup *)ctx;

  for (CeedInt i = 0; i < Q; i++)
    ritz_setup_point(s, s->lambda * in[1][i], s->mu * in[1][i], in[0], Q, i, out[0]);
  return CEED_ERROR_SUCCESS;
}

// in: gradient of the coordinates, weights, [lambda, mu] at the points
RITZ_GEOMETRY_FUNCTION(ritz_setup_with_coefficients) {
  const RitzGeometrySetup *s = (const RitzGeometrySetup *)ctx;

  for (CeedInt i = 0; i < Q; i++)
    ritz_setup_point(s, s->lambda * in[1][i] * in[2][i], s->mu * in[1][i] * in[2][Q + i], in[0], Q, i,
                     out[0]);
  return CEED_ERROR_SUCCESS;
}

// Weights of a body of revolution about x = 0: w 2 pi x, nothing on the other side of the axis, where
// rounding alone brings points. in: position in the plane, weights
RITZ_GEOMETRY_FUNCTION(ritz_ring_weights) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar radius = in[0][i] > 0 ? in[0][i] : 0;
    out[0][i] = (CeedScalar)6.283185307179586477 * radius * in[1][i];
  }
  return CEED_ERROR_SUCCESS;
}

// What errors are taken of: w det, position, values, gradients in space [component][direction]. in: values,
// derivatives, position, gradient of the coordinates, weights
RITZ_GEOMETRY_FUNCTION(ritz_sample) {
  const RitzGeometryContext *s = RITZ_GEOMETRY_CONTEXT;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3], *to = out[0] + i;
    const CeedScalar det = ritz_geometry_jacobian(s->dim, s->space_dim, in[3], Q, i, k);

    *to = in[4][i] * det;
    for (int x = 0; x < s->space_dim; x++) *(to += Q) = in[2][x * Q + i];
    for (int c = 0; c < s->num_comp; c++) *(to += Q) = in[0][c * Q + i];
    for (int c = 0; c < s->num_comp; c++) {
      for (int x = 0; x < s->space_dim; x++) {
        CeedScalar sum = 0;
        for (int d = 0; d < s->dim; d++) sum += k[d][x] * in[1][(d * s->num_comp + c) * Q + i];
        *(to += Q) = sum / det;
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

// Gradients in space [component][direction], times numbers of the same layout. in: derivatives, gradient of
// the coordinates, numbers
RITZ_GEOMETRY_FUNCTION(ritz_gradients) {
  const RitzGeometryContext *s = RITZ_GEOMETRY_CONTEXT;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3];
    const CeedScalar det = ritz_geometry_jacobian(s->dim, s->space_dim, in[1], Q, i, k);

    for (int c = 0; c < s->num_comp; c++) {
      for (int x = 0; x < s->space_dim; x++) {
        const CeedInt at = (c * s->space_dim + x) * Q + i;
        CeedScalar sum = 0;
        for (int d = 0; d < s->dim; d++) sum += k[d][x] * in[0][(d * s->num_comp + c) * Q + i];
        out[0][at] = in[2][at] * sum / det;
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

#endif
