// SPDX-License-Identifier: BSD-2-Clause
// Mass and diffusion in three dimensions, factors from the gradient of the coordinates or from numbers of the
// element: what tests/geometry-problem.h makes operators of. C, C++ and OpenCL C.
#ifndef RITZ_TESTS_GEOMETRY_QFUNCTIONS_H
#define RITZ_TESTS_GEOMETRY_QFUNCTIONS_H

#include <ceed/types.h>

CEED_QFUNCTION_HELPER CeedScalar geometry_dot(const CeedScalar a[3], const CeedScalar b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

CEED_QFUNCTION_HELPER void geometry_cross(const CeedScalar a[3], const CeedScalar b[3], CeedScalar c[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

// Rows of the adjugate of the gradient dx[3][3] at point i; the determinant.
CEED_QFUNCTION_HELPER CeedScalar geometry_adjugate(const CeedInt Q, const CeedInt i, const CeedScalar *dx,
                                                   CeedScalar K[3][3]) {
  CeedScalar J[3][3];

  for (int d = 0; d < 3; d++)
    for (int c = 0; c < 3; c++) J[d][c] = dx[(d * 3 + c) * Q + i];
  for (int d = 0; d < 3; d++) geometry_cross(J[(d + 1) % 3], J[(d + 2) % 3], K[d]);
  return geometry_dot(J[0], K[0]);
}

// in: u, dx, weight
CEED_QFUNCTION(GeometryMassTrilinear)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar K[3][3];
    const CeedScalar det = geometry_adjugate(Q, i, in[1], K);
    out[0][i] = in[2][i] * det * in[0][i];
  }
  return CEED_ERROR_SUCCESS;
}

// in: du, dx, weight
CEED_QFUNCTION(GeometryDiffusionTrilinear)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar K[3][3], flux[3];
    const CeedScalar factor = in[2][i] * (1 / geometry_adjugate(Q, i, in[1], K));
    for (int c = 0; c < 3; c++)
      flux[c] = factor * (K[0][c] * in[0][i] + K[1][c] * in[0][Q + i] + K[2][c] * in[0][2 * Q + i]);
    for (int d = 0; d < 3; d++) out[0][d * Q + i] = geometry_dot(K[d], flux);
  }
  return CEED_ERROR_SUCCESS;
}

// in: u, det, weight
CEED_QFUNCTION(GeometryMassAffine)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[2][i] * in[1][i] * in[0][i];
  return CEED_ERROR_SUCCESS;
}

// in: du, the symmetric matrix {00, 01, 02, 11, 12, 22}, weight
CEED_QFUNCTION(GeometryDiffusionAffine)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *du = in[0], *G = in[1];
  CeedScalar *dv = out[0];

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar a = in[2][i] * du[i], b = in[2][i] * du[Q + i], c = in[2][i] * du[2 * Q + i];
    dv[i] = G[i] * a + G[Q + i] * b + G[2 * Q + i] * c;
    dv[Q + i] = G[Q + i] * a + G[3 * Q + i] * b + G[4 * Q + i] * c;
    dv[2 * Q + i] = G[2 * Q + i] * a + G[4 * Q + i] * b + G[5 * Q + i] * c;
  }
  return CEED_ERROR_SUCCESS;
}

#endif
