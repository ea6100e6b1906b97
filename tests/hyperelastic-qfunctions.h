// SPDX-License-Identifier: BSD-2-Clause
// A neo-Hookean residual and its derivative by hand, psi = mu/2 (tr C - 3) - mu log J + lambda/2 (log J)^2,
// for tests/test-derivative.c, test-gradient.c and derivative-rates.c. C and C++, and what devices compile.
#ifndef RITZ_TESTS_HYPERELASTIC_QFUNCTIONS_H
#define RITZ_TESTS_HYPERELASTIC_QFUNCTIONS_H

#include <ceed/types.h>

#ifndef CEED_RUNNING_JIT_PASS
#include <math.h>
#endif

// A context with numbers of other kinds between its scalars, and a struct inside.
typedef struct {
  CeedScalar mu, lambda;
} Moduli;
typedef struct Material_ {
  CeedInt kind;
  Moduli moduli;
  double scale;
  CeedScalar powers[2];
} Material;

CEED_QFUNCTION_HELPER CeedScalar deformation_inverse(CeedScalar F[3][3], CeedScalar A[3][3]) {
  for (CeedInt i = 0; i < 3; i++) {
    for (CeedInt j = 0; j < 3; j++)
      A[j][i] = F[(i + 1) % 3][(j + 1) % 3] * F[(i + 2) % 3][(j + 2) % 3] -
                F[(i + 1) % 3][(j + 2) % 3] * F[(i + 2) % 3][(j + 1) % 3];
  }
  const CeedScalar J = F[0][0] * A[0][0] + F[0][1] * A[1][0] + F[0][2] * A[2][0], r = 1 / J;
  for (CeedInt i = 0; i < 3; i++) {
    for (CeedInt j = 0; j < 3; j++) A[i][j] *= r;
  }
  return J;
}

CEED_QFUNCTION(HyperelasticResidual)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const Material *m = (const Material *)ctx;
  const CeedScalar(*du)[3][CEED_Q_VLA] = (const CeedScalar(*)[3][CEED_Q_VLA])in[0];
  const CeedScalar(*q)[CEED_Q_VLA] = (const CeedScalar(*)[CEED_Q_VLA])in[1];
  CeedScalar(*dv)[3][CEED_Q_VLA] = (CeedScalar(*)[3][CEED_Q_VLA])out[0];
  const CeedScalar mu = m->moduli.mu * m->scale, lambda = m->moduli.lambda * m->powers[1];
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar F[3][3], A[3][3];
    for (CeedInt a = 0; a < 3; a++) {
      for (CeedInt b = 0; b < 3; b++) {
        F[a][b] = a == b;
        for (CeedInt d = 0; d < 3; d++) F[a][b] += du[d][a][i] * q[1 + 3 * d + b][i];
      }
    }
    const CeedScalar p = lambda * log(deformation_inverse(F, A)) - mu;
    for (CeedInt d = 0; d < 3; d++) {
      for (CeedInt a = 0; a < 3; a++) {
        CeedScalar sum = 0;
        for (CeedInt b = 0; b < 3; b++) sum += (mu * F[a][b] + p * A[b][a]) * q[1 + 3 * d + b][i];
        dv[d][a][i] = q[0][i] * sum;
      }
    }
  }
  return 0;
}

CEED_QFUNCTION(HyperelasticJacobian)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const Material *m = (const Material *)ctx;
  const CeedScalar(*du)[3][CEED_Q_VLA] = (const CeedScalar(*)[3][CEED_Q_VLA])in[0];
  const CeedScalar(*q)[CEED_Q_VLA] = (const CeedScalar(*)[CEED_Q_VLA])in[1];
  const CeedScalar(*dw)[3][CEED_Q_VLA] = (const CeedScalar(*)[3][CEED_Q_VLA])in[2];
  CeedScalar(*dv)[3][CEED_Q_VLA] = (CeedScalar(*)[3][CEED_Q_VLA])out[0];
  const CeedScalar mu = m->moduli.mu * m->scale, lambda = m->moduli.lambda * m->powers[1];
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar F[3][3], A[3][3], G[3][3], B[3][3], P[3][3], trace = 0;
    for (CeedInt a = 0; a < 3; a++) {
      for (CeedInt b = 0; b < 3; b++) {
        F[a][b] = a == b;
        G[a][b] = 0;
        for (CeedInt d = 0; d < 3; d++) F[a][b] += du[d][a][i] * q[1 + 3 * d + b][i];
        for (CeedInt d = 0; d < 3; d++) G[a][b] += dw[d][a][i] * q[1 + 3 * d + b][i];
      }
    }
    const CeedScalar p = lambda * log(deformation_inverse(F, A)) - mu;
    for (CeedInt a = 0; a < 3; a++) {
      for (CeedInt b = 0; b < 3; b++) {
        B[a][b] = 0;
        for (CeedInt d = 0; d < 3; d++) B[a][b] += A[a][d] * G[d][b];
      }
      trace += B[a][a];
    }
    for (CeedInt a = 0; a < 3; a++) { // d F^-T = - F^-T G^T F^-T
      for (CeedInt b = 0; b < 3; b++) {
        CeedScalar sum = 0;
        for (CeedInt d = 0; d < 3; d++) sum += B[b][d] * A[d][a];
        P[a][b] = mu * G[a][b] + lambda * trace * A[b][a] - p * sum;
      }
    }
    for (CeedInt d = 0; d < 3; d++) {
      for (CeedInt a = 0; a < 3; a++) {
        CeedScalar sum = 0;
        for (CeedInt b = 0; b < 3; b++) sum += P[a][b] * q[1 + 3 * d + b][i];
        dv[d][a][i] = q[0][i] * sum;
      }
    }
  }
  return 0;
}

#endif
