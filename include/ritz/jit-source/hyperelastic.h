// SPDX-License-Identifier: BSD-2-Clause
// First Piola-Kirchhoff stresses of hyperelastic bodies as point functions (ritz/point-function.h), for
// space, for the plane, which has no strain across it, and for bodies of revolution, and pressures that
// follow them. Of `ritz solve`; their Jacobians are derivatives of this text (RitzOperatorCreateDerivative).
// The context is a RitzHyperelasticContext.
//
// F = 1 + H, H = grad u by the undeformed position, J = det F:
//
//     neo-Hookean             P = mu (F - F^-T) + lambda log(J) F^-T
//                             of W = mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2
//     Saint Venant-Kirchhoff  P = F S, S = lambda tr(E) 1 + 2 mu E, E = (F^T F - 1) / 2
//
// (G. Holzapfel, Nonlinear Solid Mechanics, 2000, ch. 6.5). Both are linear elasticity with Lame's constants
// where H is small. Formulas are in H: its digits are not lost in those of 1. A body that is turned inside
// out, J <= 0, has a neo-Hookean stress that is not finite, which Newton's line search avoids.
#ifndef RITZ_HYPERELASTIC_H
#define RITZ_HYPERELASTIC_H

#include <ritz/point-function.h>

typedef struct {
  CeedScalar lambda, mu; // Lame's constants
} RitzHyperelasticContext;

// c = cof(a): the derivative of det(a).
CEED_QFUNCTION_HELPER void ritz_hyperelastic_cofactor(const CeedScalar a[3][3], CeedScalar c[3][3]) {
  RITZ_POINT_UNROLL
  for (int i = 0; i < 3; i++) {
    const int k = (i + 1) % 3, l = (i + 2) % 3;
    RITZ_POINT_UNROLL
    for (int j = 0; j < 3; j++) {
      const int m = (j + 1) % 3, n = (j + 2) % 3;
      c[i][j] = a[k][m] * a[l][n] - a[k][n] * a[l][m];
    }
  }
}

// With c = cof(H), t = tr(H): cof(F) = 1 + t 1 - H^T + c, J - 1 = t + tr(c) + det(H), and
// J F - cof(F) = (J - 1) F + H + H^T - t 1 - c.
CEED_QFUNCTION_HELPER void ritz_neo_hookean(const RitzHyperelasticContext *body, const CeedScalar H[3][3],
                                            CeedScalar P[3][3]) {
  CeedScalar c[3][3];
  ritz_hyperelastic_cofactor(H, c);
  const CeedScalar trace = H[0][0] + H[1][1] + H[2][2];
  const CeedScalar det = H[0][0] * c[0][0] + H[0][1] * c[0][1] + H[0][2] * c[0][2];
  const CeedScalar growth = trace + (c[0][0] + c[1][1] + c[2][2]) + det, J = 1 + growth;
  const CeedScalar shear = body->mu / J, pressure = body->lambda * log1p(growth) / J;

  RITZ_POINT_UNROLL
  for (int i = 0; i < 3; i++) {
    RITZ_POINT_UNROLL
    for (int j = 0; j < 3; j++) {
      const CeedScalar one = (CeedScalar)(i == j), cofactor = one * (1 + trace) - H[j][i] + c[i][j];
      P[i][j] = shear * (growth * (one + H[i][j]) + H[i][j] + H[j][i] - one * trace - c[i][j]) +
                pressure * cofactor;
    }
  }
}

CEED_QFUNCTION_HELPER void ritz_saint_venant_kirchhoff(const RitzHyperelasticContext *body,
                                                       const CeedScalar H[3][3], CeedScalar P[3][3]) {
  CeedScalar S[3][3], trace = 0; // of E
  RITZ_POINT_UNROLL
  for (int i = 0; i < 3; i++) {
    RITZ_POINT_UNROLL
    for (int j = 0; j < 3; j++)
      S[i][j] = (H[i][j] + H[j][i] + H[0][i] * H[0][j] + H[1][i] * H[1][j] + H[2][i] * H[2][j]) / 2;
    trace += S[i][i];
  }
  RITZ_POINT_UNROLL
  for (int i = 0; i < 3; i++) {
    RITZ_POINT_UNROLL
    for (int j = 0; j < 3; j++)
      S[i][j] = 2 * body->mu * S[i][j] + (CeedScalar)(i == j) * body->lambda * trace;
  }
  RITZ_POINT_UNROLL
  for (int i = 0; i < 3; i++) {
    RITZ_POINT_UNROLL
    for (int j = 0; j < 3; j++) P[i][j] = S[i][j] + H[i][0] * S[0][j] + H[i][1] * S[1][j] + H[i][2] * S[2][j];
  }
}

// The point functions NAME_2 and NAME_3 of a stress; there is no term with u itself.
#define RITZ_HYPERELASTIC(name, dim, stress)                                                                 \
  CEED_QFUNCTION_HELPER void name##_at_##dim(const void *ctx, const CeedScalar *u,                           \
                                             const CeedScalar grad_u[dim][dim], CeedScalar *v,               \
                                             CeedScalar grad_v[dim][dim]) {                                  \
    CeedScalar H[3][3], P[3][3];                                                                             \
    (void)u;                                                                                                 \
    RITZ_POINT_UNROLL                                                                                        \
    for (int i = 0; i < 3; i++) {                                                                            \
      RITZ_POINT_UNROLL                                                                                      \
      for (int j = 0; j < 3; j++) H[i][j] = 0;                                                               \
    }                                                                                                        \
    RITZ_POINT_UNROLL                                                                                        \
    for (int i = 0; i < dim; i++) {                                                                          \
      RITZ_POINT_UNROLL                                                                                      \
      for (int j = 0; j < dim; j++) H[i][j] = grad_u[i][j];                                                  \
    }                                                                                                        \
    stress((const RitzHyperelasticContext *)ctx, (const CeedScalar(*)[3])H, P);                              \
    RITZ_POINT_UNROLL                                                                                        \
    for (int i = 0; i < dim; i++) {                                                                          \
      v[i] = 0;                                                                                              \
      RITZ_POINT_UNROLL                                                                                      \
      for (int j = 0; j < dim; j++) grad_v[i][j] = P[i][j];                                                  \
    }                                                                                                        \
  }                                                                                                          \
  RITZ_POINT_FUNCTION(name##_##dim, dim, dim, name##_at_##dim)

RITZ_HYPERELASTIC(ritz_neo_hookean, 2, ritz_neo_hookean)
RITZ_HYPERELASTIC(ritz_neo_hookean, 3, ritz_neo_hookean)
RITZ_HYPERELASTIC(ritz_saint_venant_kirchhoff, 2, ritz_saint_venant_kirchhoff)
RITZ_HYPERELASTIC(ritz_saint_venant_kirchhoff, 3, ritz_saint_venant_kirchhoff)

// Bodies of revolution about x = 0 (is_axisymmetric of RitzOperatorOptions): beside the gradient in the plane
// circles have the strain u_x / x, whose stress acts against u_x.
#define RITZ_HYPERELASTIC_AXISYMMETRIC(name, stress)                                                         \
  CEED_QFUNCTION_HELPER void name##_at(const void *ctx, const CeedScalar x[2], const CeedScalar u[2],        \
                                       const CeedScalar grad_u[2][2], CeedScalar v[2],                       \
                                       CeedScalar grad_v[2][2]) {                                            \
    const CeedScalar curvature = RITZ_QUOTIENT(1, x[0]);                                                     \
    CeedScalar H[3][3], P[3][3];                                                                             \
    RITZ_POINT_UNROLL                                                                                        \
    for (int i = 0; i < 3; i++) {                                                                            \
      RITZ_POINT_UNROLL                                                                                      \
      for (int j = 0; j < 3; j++) H[i][j] = 0;                                                               \
    }                                                                                                        \
    RITZ_POINT_UNROLL                                                                                        \
    for (int i = 0; i < 2; i++) {                                                                            \
      RITZ_POINT_UNROLL                                                                                      \
      for (int j = 0; j < 2; j++) H[i][j] = grad_u[i][j];                                                    \
    }                                                                                                        \
    H[2][2] = curvature * u[0];                                                                              \
    stress((const RitzHyperelasticContext *)ctx, (const CeedScalar(*)[3])H, P);                              \
    v[0] = curvature * P[2][2];                                                                              \
    v[1] = 0;                                                                                                \
    RITZ_POINT_UNROLL                                                                                        \
    for (int i = 0; i < 2; i++) {                                                                            \
      RITZ_POINT_UNROLL                                                                                      \
      for (int j = 0; j < 2; j++) grad_v[i][j] = P[i][j];                                                    \
    }                                                                                                        \
  }                                                                                                          \
  RITZ_POSITION_FUNCTION(name, 2, 2, name##_at)

RITZ_HYPERELASTIC_AXISYMMETRIC(ritz_neo_hookean_axisymmetric, ritz_neo_hookean)
RITZ_HYPERELASTIC_AXISYMMETRIC(ritz_saint_venant_kirchhoff_axisymmetric, ritz_saint_venant_kirchhoff)

// ---- Pressure that stays normal to a facet and grows with its area: p cof(F) n beside a stress in F(u) ----

typedef struct {
  CeedScalar pressure;
} RitzFollowerContext;

// across: by how much the plane stretches what is normal to it.
#define RITZ_FOLLOWER(name, dim, across)                                                                     \
  CEED_QFUNCTION_HELPER void name##_at_##dim(const void *ctx, const CeedScalar *x, const CeedScalar *n,      \
                                             const CeedScalar *u, const CeedScalar grad_u[dim][dim],         \
                                             CeedScalar *v, CeedScalar grad_v[dim][dim]) {                   \
    const RitzFollowerContext *follower = (const RitzFollowerContext *)ctx;                                  \
    CeedScalar F[3][3], c[3][3];                                                                             \
    (void)x, (void)u;                                                                                        \
    RITZ_POINT_UNROLL                                                                                        \
    for (int i = 0; i < 3; i++) {                                                                            \
      RITZ_POINT_UNROLL                                                                                      \
      for (int j = 0; j < 3; j++) F[i][j] = (CeedScalar)(i == j);                                            \
    }                                                                                                        \
    F[2][2] = across;                                                                                        \
    RITZ_POINT_UNROLL                                                                                        \
    for (int i = 0; i < dim; i++) {                                                                          \
      RITZ_POINT_UNROLL                                                                                      \
      for (int j = 0; j < dim; j++) F[i][j] = F[i][j] + grad_u[i][j];                                        \
    }                                                                                                        \
    ritz_hyperelastic_cofactor((const CeedScalar(*)[3])F, c);                                                \
    RITZ_POINT_UNROLL                                                                                        \
    for (int i = 0; i < dim; i++) {                                                                          \
      v[i] = 0;                                                                                              \
      RITZ_POINT_UNROLL                                                                                      \
      for (int j = 0; j < dim; j++) {                                                                        \
        v[i] = v[i] + follower->pressure * c[i][j] * n[j];                                                   \
        grad_v[i][j] = 0;                                                                                    \
      }                                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
  RITZ_FACET_GRADIENT_FUNCTION(name##_##dim, dim, dim, name##_at_##dim)

RITZ_FOLLOWER(ritz_follower_pressure, 2, 1)
RITZ_FOLLOWER(ritz_follower_pressure, 3, 1)
// Bodies of revolution: by 2 pi (x + u_x), the circumference that has become of what weights are times 2 pi x
// for. So this is no matter of is_axisymmetric, and facets on the axis have no quotient 0 / 0.
RITZ_FOLLOWER(ritz_follower_pressure_axisymmetric, 2, (CeedScalar)6.283185307179586477 * (x[0] + u[0]))

#endif
