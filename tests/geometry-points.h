// SPDX-License-Identifier: BSD-2-Clause
// Functions at a point as a user writes them, for test-geometry-policies.c.
#ifndef RITZ_TESTS_GEOMETRY_POINTS_H
#define RITZ_TESTS_GEOMETRY_POINTS_H

#include <ritz/point-function.h>

typedef struct {
  CeedScalar lambda, mu;
} PointParameters;

// lambda u v + mu grad u . grad v
CEED_QFUNCTION_HELPER void helmholtz_1(const void *ctx, const CeedScalar u[1], const CeedScalar grad_u[1][1],
                                       CeedScalar v[1], CeedScalar grad_v[1][1]) {
  const PointParameters *p = (const PointParameters *)ctx;

  v[0] = p->lambda * u[0];
  grad_v[0][0] = p->mu * grad_u[0][0];
}
RITZ_POINT_FUNCTION(helmholtz_at_point_1, 1, 1, helmholtz_1)

CEED_QFUNCTION_HELPER void helmholtz_2(const void *ctx, const CeedScalar u[3], const CeedScalar grad_u[3][2],
                                       CeedScalar v[3], CeedScalar grad_v[3][2]) {
  const PointParameters *p = (const PointParameters *)ctx;

  for (int c = 0; c < 3; c++) {
    v[c] = p->lambda * u[c];
    for (int d = 0; d < 2; d++) grad_v[c][d] = p->mu * grad_u[c][d];
  }
}
RITZ_POINT_FUNCTION(helmholtz_at_point_2, 2, 3, helmholtz_2)

CEED_QFUNCTION_HELPER void helmholtz_3(const void *ctx, const CeedScalar u[2], const CeedScalar grad_u[2][3],
                                       CeedScalar v[2], CeedScalar grad_v[2][3]) {
  const PointParameters *p = (const PointParameters *)ctx;

  for (int c = 0; c < 2; c++) {
    v[c] = p->lambda * u[c];
    for (int d = 0; d < 3; d++) grad_v[c][d] = p->mu * grad_u[c][d];
  }
}
RITZ_POINT_FUNCTION(helmholtz_at_point_3, 3, 2, helmholtz_3)

// Nonlinear, components and directions coupled: (1 + |grad u|^2) sym(grad u) and u . u u
CEED_QFUNCTION_HELPER void nonlinear(const void *ctx, const CeedScalar u[3], const CeedScalar grad_u[3][3],
                                     CeedScalar v[3], CeedScalar grad_v[3][3]) {
  CeedScalar square = 1, norm = 0;

  (void)ctx;
  for (int c = 0; c < 3; c++) {
    norm += u[c] * u[c];
    for (int d = 0; d < 3; d++) square += grad_u[c][d] * grad_u[c][d];
  }
  for (int c = 0; c < 3; c++) {
    v[c] = norm * u[c];
    for (int d = 0; d < 3; d++) grad_v[c][d] = square * (grad_u[c][d] + grad_u[d][c]);
  }
}
RITZ_POINT_FUNCTION(nonlinear_at_point, 3, 3, nonlinear)

#endif
