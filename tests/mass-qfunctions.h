// SPDX-License-Identifier: BSD-2-Clause
// The QFunction of test-points.c that works in any dimension. A source that devices compile at run time, so
// it is C and C++ and needs no system header.
#ifndef RITZ_TESTS_MASS_QFUNCTIONS_H
#define RITZ_TESTS_MASS_QFUNCTIONS_H

#include <ceed/types.h>

// Context: scalars of u and of du.
typedef struct {
  CeedInt size[2];
} MassContext;

// v = size[0] w u, dv = 3 w du.
// in: [0] u [size[0]][Q]   [1] du [size[1]][Q]   [2] w [Q]      out: [0] v   [1] dv, like u and du
CEED_QFUNCTION(MassAndDiffusion)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const MassContext *const c = (const MassContext *)ctx;

  for (int f = 0; f < 2; f++) {
    const CeedScalar factor = (CeedScalar)(f ? 3 : c->size[0]);

    for (CeedInt s = 0; s < c->size[f]; s++)
      for (CeedInt q = 0; q < Q; q++) out[f][s * Q + q] = factor * in[2][q] * in[f][s * Q + q];
  }
  return CEED_ERROR_SUCCESS;
}

#endif
