// SPDX-License-Identifier: BSD-2-Clause
// The QFunction of tests/test-preconditioner-update.c: compiled into the program, and read as a text at run
// time.
#ifndef RITZ_TESTS_UPDATE_QFUNCTIONS_H
#define RITZ_TESTS_UPDATE_QFUNCTIONS_H

#include <ceed/types.h>

typedef struct {
  CeedScalar factor, reaction, coupling;
  CeedInt num_comp;
} UpdateContext;

// In the plane, k = factor (1 + s^2) with the state s: v = reaction k u, dv = k (du + coupling div u), times
// w. in: [0] u [num_comp][Q]   [1] du [2][num_comp][Q]   [2] s [num_comp][Q]   [3] w [Q] out: [0] v
// [num_comp][Q]  [1] dv [2][num_comp][Q]
CEED_QFUNCTION(UpdateDiffusion)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const UpdateContext *c = (const UpdateContext *)ctx;
  const CeedInt n = c->num_comp;

  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar k = c->factor * (1 + in[2][i] * in[2][i]) * in[3][i];
    const CeedScalar div = n == 2 ? in[1][i] + in[1][3 * Q + i] : 0;
    for (CeedInt a = 0; a < n; a++) {
      out[0][a * Q + i] = c->reaction * k * in[0][a * Q + i];
      for (CeedInt d = 0; d < 2; d++)
        out[1][(d * n + a) * Q + i] =
            k * (in[1][(d * n + a) * Q + i] + (a == d && n == 2 ? c->coupling * div : 0));
    }
  }
  return CEED_ERROR_SUCCESS;
}

#endif
