// SPDX-License-Identifier: BSD-2-Clause
// Stress of isotropic linear elasticity at a point, as point functions for the plane (no strain across it),
// for bodies of revolution about x = 0 and for space. Included by problem-law.c and by run-time compilers.
#ifndef RITZ_CLI_ELASTICITY_H
#define RITZ_CLI_ELASTICITY_H

#include <ritz/point-function.h>

typedef struct {
  CeedScalar lambda, mu; // Lame's constants
} ElasticityContext;

// sigma = lambda div u + mu (grad u + its transpose); there is no term with u itself.
CEED_QFUNCTION_HELPER void elasticity_stress_2(const void *ctx, const CeedScalar *u,
                                               const CeedScalar grad[2][2], CeedScalar *v,
                                               CeedScalar stress[2][2]) {
  const ElasticityContext *e = (const ElasticityContext *)ctx;
  const CeedScalar pressure = e->lambda * (grad[0][0] + grad[1][1]);

  (void)u;
  RITZ_POINT_UNROLL
  for (int c = 0; c < 2; c++) {
    v[c] = 0;
    RITZ_POINT_UNROLL
    for (int d = 0; d < 2; d++)
      stress[c][d] = e->mu * (grad[c][d] + grad[d][c]) + (c == d ? pressure : (CeedScalar)0);
  }
}

CEED_QFUNCTION_HELPER void elasticity_stress_3(const void *ctx, const CeedScalar *u,
                                               const CeedScalar grad[3][3], CeedScalar *v,
                                               CeedScalar stress[3][3]) {
  const ElasticityContext *e = (const ElasticityContext *)ctx;
  const CeedScalar pressure = e->lambda * (grad[0][0] + grad[1][1] + grad[2][2]);

  (void)u;
  RITZ_POINT_UNROLL
  for (int c = 0; c < 3; c++) {
    v[c] = 0;
    RITZ_POINT_UNROLL
    for (int d = 0; d < 3; d++)
      stress[c][d] = e->mu * (grad[c][d] + grad[d][c]) + (c == d ? pressure : (CeedScalar)0);
  }
}

// Circles have the strain u_x / x, whose stress acts against u_x.
CEED_QFUNCTION_HELPER void elasticity_stress_axisymmetric(const void *ctx, const CeedScalar x[2],
                                                          const CeedScalar u[2], const CeedScalar grad[2][2],
                                                          CeedScalar v[2], CeedScalar stress[2][2]) {
  const ElasticityContext *e = (const ElasticityContext *)ctx;
  const CeedScalar curvature = RITZ_QUOTIENT(1, x[0]), hoop = curvature * u[0];
  const CeedScalar pressure = e->lambda * (grad[0][0] + grad[1][1] + hoop);

  v[0] = curvature * (2 * e->mu * hoop + pressure);
  v[1] = 0;
  RITZ_POINT_UNROLL
  for (int c = 0; c < 2; c++) {
    RITZ_POINT_UNROLL
    for (int d = 0; d < 2; d++)
      stress[c][d] = e->mu * (grad[c][d] + grad[d][c]) + (c == d ? pressure : (CeedScalar)0);
  }
}

RITZ_POINT_FUNCTION(elasticity_2, 2, 2, elasticity_stress_2)
RITZ_POINT_FUNCTION(elasticity_3, 3, 3, elasticity_stress_3)
RITZ_POSITION_FUNCTION(elasticity_axisymmetric, 2, 2, elasticity_stress_axisymmetric)

#endif
