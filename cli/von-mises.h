// SPDX-License-Identifier: BSD-2-Clause
// QFunction of stresses. Included by problem-elasticity.c and by run-time compilers.
#ifndef RITZ_CLI_VON_MISES_H
#define RITZ_CLI_VON_MISES_H

#include "qfunctions.h" // beside it, also for run-time compilers

// in: gradient of the coordinates, du of a displacement; out: von Mises stress for a shear modulus of 1, in
// the plane with vanishing strain across it
CEED_QFUNCTION(solve_von_mises)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;
  const CeedInt nc = s->num_comp;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3], grad[3][3] = {{0}}, sum = 0;
    const CeedScalar det = solve_geometry(s, in[0], Q, i, k);

    for (CeedInt c = 0; c < nc; c++) {
      for (CeedInt e = 0; e < nc; e++) {
        for (CeedInt d = 0; d < s->dim; d++) grad[c][e] += k[d][e] * in[1][(d * nc + c) * Q + i] / det;
      }
    }
    const CeedScalar mean = (grad[0][0] + grad[1][1] + grad[2][2]) / 3;
    for (int c = 0; c < 3; c++) {
      for (int e = 0; e < 3; e++) {
        const CeedScalar part = grad[c][e] + grad[e][c] - (c == e ? 2 * mean : 0); // twice the deviator
        sum += part * part;
      }
    }
    out[0][i] = sqrt((CeedScalar)1.5 * sum);
  }
  return 0;
}

#endif
