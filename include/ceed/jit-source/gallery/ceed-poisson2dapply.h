// SPDX-License-Identifier: BSD-2-Clause
// Gallery QFunction "Poisson2DApply": the Laplacian for one component on faces.
// Built into the library for the host; its text is compiled at run time for devices, so it is C and C++.
#ifndef CEED_GALLERY_POISSON_2D_APPLY_H
#define CEED_GALLERY_POISSON_2D_APPLY_H

#include <ceed/types.h>

// dv_j = sum_k G_jk du_k. No context.
// in:  [0] du [2: k][Q], derivatives along the reference axes
//      [1] qdata [3][Q]: G00, G11, G01, from Poisson2DBuild
// out: [0] dv [2: j][Q], paired with the derivatives of the test function
CEED_QFUNCTION(Poisson2DApply)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *const du = in[0];
  const CeedScalar *const qdata = in[1];
  CeedScalar *const dv = out[0];
  const CeedSize n = Q; // stride between the scalars of a point; products with it may exceed 32 bits

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    // The symmetric matrix, unpacked.
    const CeedScalar G[2][2] = {
        {qdata[i], qdata[2 * n + i]},
        {qdata[2 * n + i], qdata[n + i]},
    };

    for (CeedInt j = 0; j < 2; j++) {
      dv[j * n + i] = G[j][0] * du[i] + G[j][1] * du[n + i];
    }
  }
  return CEED_ERROR_SUCCESS;
}

#endif
