// SPDX-License-Identifier: BSD-2-Clause
// Energies, and their gradients and Hessians by hand where tests/hyperelastic-qfunctions.h has none, for
// tests/test-gradient.c. C and C++, and what devices compile.
#ifndef RITZ_TESTS_ENERGY_QFUNCTIONS_H
#define RITZ_TESTS_ENERGY_QFUNCTIONS_H

#include "hyperelastic-qfunctions.h" // beside this file

// Fields: reference gradient of u, [w det, inverse Jacobian], and of Hessians the gradient of a direction.

// grad[c][x] = sum_d inverse[d][x] du[d][c]
CEED_QFUNCTION_HELPER void physical_gradient(const CeedInt num_comp, const CeedScalar *du,
                                             const CeedScalar *q, const CeedInt Q, const CeedInt i,
                                             CeedScalar grad[3][3]) {
  for (CeedInt c = 0; c < num_comp; c++) {
    for (CeedInt x = 0; x < 3; x++) {
      grad[c][x] = 0;
      for (CeedInt d = 0; d < 3; d++)
        grad[c][x] += du[i + Q * (num_comp * d + c)] * q[i + Q * (1 + 3 * d + x)];
    }
  }
}

// dv = w det inverse P
CEED_QFUNCTION_HELPER void reference_stress(const CeedInt num_comp, CeedScalar P[3][3], const CeedScalar *q,
                                            const CeedInt Q, const CeedInt i, CeedScalar *dv) {
  for (CeedInt c = 0; c < num_comp; c++) {
    for (CeedInt d = 0; d < 3; d++) {
      CeedScalar sum = 0;
      for (CeedInt x = 0; x < 3; x++) sum += P[c][x] * q[i + Q * (1 + 3 * d + x)];
      dv[i + Q * (num_comp * d + c)] = q[i] * sum;
    }
  }
}

// ---- Linear elasticity: lambda/2 (div u)^2 + mu |sym grad u|^2 ----

CEED_QFUNCTION(ElasticEnergy)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const Material *m = (const Material *)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar g[3][3], square = 0;
    physical_gradient(3, in[0], in[1], Q, i, g);
    for (CeedInt a = 0; a < 3; a++) {
      for (CeedInt b = 0; b < 3; b++) square += (g[a][b] + g[b][a]) * (g[a][b] + g[b][a]) / 4;
    }
    const CeedScalar trace = g[0][0] + g[1][1] + g[2][2];
    out[0][i] = in[1][i] * (m->moduli.lambda * trace * trace / 2 + m->moduli.mu * square);
  }
  return 0;
}

CEED_QFUNCTION(ElasticResidual)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const Material *m = (const Material *)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar g[3][3], P[3][3];
    physical_gradient(3, in[0], in[1], Q, i, g);
    const CeedScalar trace = g[0][0] + g[1][1] + g[2][2];
    for (CeedInt a = 0; a < 3; a++) {
      for (CeedInt b = 0; b < 3; b++)
        P[a][b] = m->moduli.mu * (g[a][b] + g[b][a]) + (a == b) * m->moduli.lambda * trace;
    }
    reference_stress(3, P, in[1], Q, i, out[0]);
  }
  return 0;
}

// The residual is linear.
CEED_QFUNCTION(ElasticHessian)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *const fields[2] = {in[2], in[1]};
  return ElasticResidual(ctx, Q, fields, out);
}

// ---- p-Laplacian, p = 3.5: (1 + |grad u|^2)^(p/2) / p ----

CEED_QFUNCTION(PowerEnergy)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar g[3][3];
    physical_gradient(1, in[0], in[1], Q, i, g);
    const CeedScalar square = 1 + g[0][0] * g[0][0] + g[0][1] * g[0][1] + g[0][2] * g[0][2];
    out[0][i] = in[1][i] * pow(square, 1.75) / 3.5;
  }
  return 0;
}

CEED_QFUNCTION(PowerResidual)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar g[3][3];
    physical_gradient(1, in[0], in[1], Q, i, g);
    const CeedScalar square = 1 + g[0][0] * g[0][0] + g[0][1] * g[0][1] + g[0][2] * g[0][2];
    for (CeedInt x = 0; x < 3; x++) g[0][x] *= pow(square, 0.75);
    reference_stress(1, g, in[1], Q, i, out[0]);
  }
  return 0;
}

CEED_QFUNCTION(PowerHessian)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar g[3][3], h[3][3], square = 1, product = 0;
    physical_gradient(1, in[0], in[1], Q, i, g);
    physical_gradient(1, in[2], in[1], Q, i, h);
    for (CeedInt x = 0; x < 3; x++) {
      square += g[0][x] * g[0][x];
      product += g[0][x] * h[0][x];
    }
    for (CeedInt x = 0; x < 3; x++)
      h[0][x] = pow(square, 0.75) * h[0][x] + 1.5 * pow(square, -0.25) * product * g[0][x];
    reference_stress(1, h, in[1], Q, i, out[0]);
  }
  return 0;
}

// ---- Neo-Hookean ----

CEED_QFUNCTION(HyperelasticEnergy)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const Material *m = (const Material *)ctx;
  const CeedScalar mu = m->moduli.mu * m->scale, lambda = m->moduli.lambda * m->powers[1];
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar F[3][3], A[3][3], trace = -3;
    physical_gradient(3, in[0], in[1], Q, i, F);
    for (CeedInt a = 0; a < 3; a++) {
      F[a][a] += 1;
      for (CeedInt b = 0; b < 3; b++) trace += F[a][b] * F[a][b];
    }
    const CeedScalar s = log(deformation_inverse(F, A));
    out[0][i] = in[1][i] * (mu * trace / 2 - mu * s + lambda * s * s / 2);
  }
  return 0;
}

// ---- Two fields: u of 3 components, p of one: p div u + (1 + p^2) |u|^2 ----

CEED_QFUNCTION(MixedEnergy)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *u = in[0], *du = in[1], *w = in[2], *p = in[3];
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar divergence = du[i] + du[i + 4 * Q] + du[i + 8 * Q];
    const CeedScalar square = u[i] * u[i] + u[i + Q] * u[i + Q] + u[i + 2 * Q] * u[i + 2 * Q];
    out[0][i] = w[i] * (p[i] * divergence + (1 + p[i] * p[i]) * square);
  }
  return 0;
}

#endif
