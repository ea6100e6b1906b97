// SPDX-License-Identifier: BSD-2-Clause
// Stresses of a body that yields, for tests/test-derivative-stored.c and derivative-rates.c: small strains,
// von Mises' criterion with saturating hardening, radial return from an unstrained state (J. Simo, T. Hughes,
// Computational Inelasticity, 1998, section 3.3). A text with a branch and an iteration. C and C++, and what
// devices compile.
#ifndef RITZ_TESTS_PLASTIC_QFUNCTIONS_H
#define RITZ_TESTS_PLASTIC_QFUNCTIONS_H

#include <ceed/types.h>

#ifndef CEED_RUNNING_JIT_PASS
#include <math.h>
#endif

// The plastic multiplier c of a trial stress of this size: size - 2 mu c = sqrt(2/3) K(sqrt(2/3) c), K(a) = 1
// + 2 a + 3 (1 - exp(-20 a)), mu = 80. Newton's method from below converges without a search, K being
// concave; the last step is taken from the solution, so that numbers with derivatives have theirs, too.
CEED_QFUNCTION_HELPER CeedScalar plastic_multiplier(CeedScalar size) {
  const CeedScalar root = 0.81649658092772603, mu = 80;
  CeedScalar c = 0, last = 1;
  for (CeedInt step = 0; step < 30 && last > CEED_EPSILON; step++) {
    const CeedScalar decay = exp(-20 * root * c);
    const CeedScalar g = size - 2 * mu * c - root * (1 + 2 * root * c + 3 * (1 - decay));
    const CeedScalar slope = -2 * mu - root * root * (2 + 60 * decay);
    c = c - g / slope;
    last = fabs(g) / size;
  }
  return c;
}

CEED_QFUNCTION(PlasticResidual)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar(*du)[3][CEED_Q_VLA] = (const CeedScalar(*)[3][CEED_Q_VLA])in[0];
  const CeedScalar(*q)[CEED_Q_VLA] = (const CeedScalar(*)[CEED_Q_VLA])in[1];
  CeedScalar(*dv)[3][CEED_Q_VLA] = (CeedScalar(*)[3][CEED_Q_VLA])out[0];
  const CeedScalar mu = 80, bulk = 160;
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar H[3][3], s[3][3], square = 0;
    for (CeedInt a = 0; a < 3; a++) {
      for (CeedInt b = 0; b < 3; b++) {
        H[a][b] = 0;
        for (CeedInt d = 0; d < 3; d++) H[a][b] += du[d][a][i] * q[1 + 3 * d + b][i];
      }
    }
    const CeedScalar trace = H[0][0] + H[1][1] + H[2][2];
    for (CeedInt a = 0; a < 3; a++) {
      for (CeedInt b = 0; b < 3; b++) {
        s[a][b] = mu * (H[a][b] + H[b][a]) - (a == b ? 2 * mu / 3 * trace : 0);
        square += s[a][b] * s[a][b];
      }
    }
    CeedScalar scale = 1;
    if (square > 0.66666666666666667) { // beyond the yield stress 1 of K(0)
      const CeedScalar size = sqrt(square);
      scale = 1 - 2 * mu * plastic_multiplier(size) / size;
    }
    for (CeedInt d = 0; d < 3; d++) {
      for (CeedInt a = 0; a < 3; a++) {
        CeedScalar sum = 0;
        for (CeedInt b = 0; b < 3; b++)
          sum += (scale * s[a][b] + (a == b ? bulk * trace : 0)) * q[1 + 3 * d + b][i];
        dv[d][a][i] = q[0][i] * sum;
      }
    }
  }
  return 0;
}

#endif
