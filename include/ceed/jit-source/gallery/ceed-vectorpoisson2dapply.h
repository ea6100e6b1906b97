// SPDX-License-Identifier: BSD-2-Clause
// Gallery QFunction "Vector3Poisson2DApply": the Laplacian for three components on faces.
// Built into the library for the host; its text is compiled at run time for devices, so it is C and C++.
#ifndef CEED_GALLERY_VECTOR_POISSON_2D_APPLY_H
#define CEED_GALLERY_VECTOR_POISSON_2D_APPLY_H

#include <ceed/types.h>

// dv[j][c] = sum_k G_jk du[k][c] for each component c. No context.
// in:  [0] du [2: k][3: c][Q], derivatives along the reference axes
//      [1] qdata [3][Q]: G00, G11, G01, from Poisson2DBuild
// out: [0] dv [2: j][3: c][Q], paired with the derivatives of the test function
CEED_QFUNCTION(Vector3Poisson2DApply)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *const du = in[0];
  const CeedScalar *const qdata = in[1];
  CeedScalar *const dv = out[0];
  const CeedSize n = Q; // stride between the scalars of a point; products with it may exceed 32 bits

  (void)ctx;
  for (CeedInt c = 0; c < 3; c++) {
    CeedPragmaSIMD
    for (CeedInt i = 0; i < Q; i++) {
      // The symmetric matrix, unpacked.
      const CeedScalar G[2][2] = {
          {qdata[i], qdata[2 * n + i]},
          {qdata[2 * n + i], qdata[n + i]},
      };

      for (CeedInt j = 0; j < 2; j++) {
        dv[(j * 3 + c) * n + i] = G[j][0] * du[c * n + i] + G[j][1] * du[(3 + c) * n + i];
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

#endif
