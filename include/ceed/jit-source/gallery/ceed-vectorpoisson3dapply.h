// SPDX-License-Identifier: BSD-2-Clause
// Gallery QFunction "Vector3Poisson3DApply": the Laplacian for three components on cells.
// Built into the library for the host; its text is compiled at run time for devices, so it is C and C++.
#ifndef CEED_GALLERY_VECTOR_POISSON_3D_APPLY_H
#define CEED_GALLERY_VECTOR_POISSON_3D_APPLY_H

#include <ceed/types.h>

// dv[j][c] = sum_k G_jk du[k][c] for each component c. No context.
// in:  [0] du [3: k][3: c][Q], derivatives along the reference axes
//      [1] qdata [6][Q]: G00, G11, G22, G12, G02, G01, from Poisson3DBuild
// out: [0] dv [3: j][3: c][Q], paired with the derivatives of the test function
CEED_QFUNCTION(Vector3Poisson3DApply)
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
      const CeedScalar G[3][3] = {
          {qdata[i], qdata[5 * n + i], qdata[4 * n + i]},
          {qdata[5 * n + i], qdata[n + i], qdata[3 * n + i]},
          {qdata[4 * n + i], qdata[3 * n + i], qdata[2 * n + i]},
      };

      for (CeedInt j = 0; j < 3; j++) {
        dv[(j * 3 + c) * n + i] =
            G[j][0] * du[c * n + i] + G[j][1] * du[(3 + c) * n + i] + G[j][2] * du[(6 + c) * n + i];
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

#endif
