// SPDX-License-Identifier: BSD-2-Clause
// QFunction of right-hand sides. Included by problem-points.c and by run-time compilers.
#ifndef RITZ_CLI_SOURCE_H
#define RITZ_CLI_SOURCE_H

#include "qfunctions.h" // beside it, also for run-time compilers

// in: source at the points, gradient of the coordinates, weights; out: v = w det f
CEED_QFUNCTION(solve_source)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3];
    const CeedScalar w_det = in[2][i] * solve_geometry(s, in[1], Q, i, k);
    for (CeedInt c = 0; c < s->num_comp; c++) out[0][c * Q + i] = w_det * in[0][c * Q + i];
  }
  return 0;
}

#endif
