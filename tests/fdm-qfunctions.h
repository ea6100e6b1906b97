// SPDX-License-Identifier: BSD-2-Clause
// The QFunction of test-fdm.c. A source that devices compile at run time, so it is C and C++ and needs no
// system header.
#ifndef RITZ_TESTS_FDM_QFUNCTIONS_H
#define RITZ_TESTS_FDM_QFUNCTIONS_H

#include <ceed/types.h>

// Three times the mass plus three times the Laplacian on the reference square.
// in:  [0] u [Q]   [1] du [2][Q]   [2] weights [Q]
// out: [0] v [Q]   [1] dv [2][Q]
CEED_QFUNCTION(MassAndLaplacian2D)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar factor = 3 * in[2][i];

    out[0][i] = factor * in[0][i];
    for (CeedInt d = 0; d < 2; d++) out[1][d * Q + i] = factor * in[1][d * Q + i];
  }
  return CEED_ERROR_SUCCESS;
}

#endif
