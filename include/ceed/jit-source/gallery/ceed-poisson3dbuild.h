// SPDX-License-Identifier: BSD-2-Clause
// Gallery QFunction "Poisson3DBuild": quadrature data of the Laplacian on cells.
// Built into the library for the host; its text is compiled at run time for devices, so it is C and C++.
#ifndef CEED_GALLERY_POISSON_3D_BUILD_H
#define CEED_GALLERY_POISSON_3D_BUILD_H

#include <ceed/types.h>

// G = (w / det J) A A^T, A[g][c] the cofactors of J: w det J times the inverse metric of the element.
// in:  [0] dx [3: g][3: c][Q], J[g][c] = dx_c / dX_g: coordinate c along reference axis g
//      [1] weights [Q], of the reference element
// out: [0] qdata [6][Q]: G00, G11, G22, G12, G02, G01
CEED_QFUNCTION(Poisson3DBuild)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *const dx = in[0];
  const CeedScalar *const weights = in[1];
  CeedScalar *const qdata = out[0];
  const CeedSize n = Q; // stride between the scalars of a point; products with it may exceed 32 bits

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar J[3][3], A[3][3];

    for (CeedInt g = 0; g < 3; g++) {
      for (CeedInt c = 0; c < 3; c++) J[g][c] = dx[(g * 3 + c) * n + i];
    }
    // Row g of the cofactors is the cross product of the two rows of J that follow it cyclically.
    for (CeedInt g = 0; g < 3; g++) {
      const CeedInt g1 = (g + 1) % 3, g2 = (g + 2) % 3;

      for (CeedInt c = 0; c < 3; c++) {
        const CeedInt c1 = (c + 1) % 3, c2 = (c + 2) % 3;

        A[g][c] = J[g1][c1] * J[g2][c2] - J[g1][c2] * J[g2][c1];
      }
    }
    const CeedScalar det = J[0][0] * A[0][0] + J[0][1] * A[0][1] + J[0][2] * A[0][2];
    const CeedScalar scale = weights[i] / det;

    qdata[i] = scale * (A[0][0] * A[0][0] + A[0][1] * A[0][1] + A[0][2] * A[0][2]);
    qdata[n + i] = scale * (A[1][0] * A[1][0] + A[1][1] * A[1][1] + A[1][2] * A[1][2]);
    qdata[2 * n + i] = scale * (A[2][0] * A[2][0] + A[2][1] * A[2][1] + A[2][2] * A[2][2]);
    qdata[3 * n + i] = scale * (A[1][0] * A[2][0] + A[1][1] * A[2][1] + A[1][2] * A[2][2]);
    qdata[4 * n + i] = scale * (A[0][0] * A[2][0] + A[0][1] * A[2][1] + A[0][2] * A[2][2]);
    qdata[5 * n + i] = scale * (A[0][0] * A[1][0] + A[0][1] * A[1][1] + A[0][2] * A[1][2]);
  }
  return CEED_ERROR_SUCCESS;
}

#endif
