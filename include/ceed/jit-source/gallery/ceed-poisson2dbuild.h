// SPDX-License-Identifier: BSD-2-Clause
// Gallery QFunction "Poisson2DBuild": quadrature data of the Laplacian on faces.
// Built into the library for the host; its text is compiled at run time for devices, so it is C and C++.
#ifndef CEED_GALLERY_POISSON_2D_BUILD_H
#define CEED_GALLERY_POISSON_2D_BUILD_H

#include <ceed/types.h>

// G = (w / det J) A A^T, A[g][c] the cofactors of J: w det J times the inverse metric of the element.
// in:  [0] dx [2: g][2: c][Q], J[g][c] = dx_c / dX_g: coordinate c along reference axis g
//      [1] weights [Q], of the reference element
// out: [0] qdata [3][Q]: G00, G11, G01
CEED_QFUNCTION(Poisson2DBuild)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *const dx = in[0];
  const CeedScalar *const weights = in[1];
  CeedScalar *const qdata = out[0];
  const CeedSize n = Q; // stride between the scalars of a point; products with it may exceed 32 bits

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar J[2][2] = {{dx[i], dx[n + i]}, {dx[2 * n + i], dx[3 * n + i]}};
    const CeedScalar scale = weights[i] / (J[0][0] * J[1][1] - J[0][1] * J[1][0]);

    qdata[i] = scale * (J[1][0] * J[1][0] + J[1][1] * J[1][1]);
    qdata[n + i] = scale * (J[0][0] * J[0][0] + J[0][1] * J[0][1]);
    qdata[2 * n + i] = -scale * (J[0][0] * J[1][0] + J[0][1] * J[1][1]);
  }
  return CEED_ERROR_SUCCESS;
}

#endif
