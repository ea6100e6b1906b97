// SPDX-License-Identifier: BSD-2-Clause
// Gallery QFunction "Mass3DBuild": quadrature data of the mass matrix on cells.
// Built into the library for the host; its text is compiled at run time for devices, so it is C and C++.
#ifndef CEED_GALLERY_MASS_3D_BUILD_H
#define CEED_GALLERY_MASS_3D_BUILD_H

#include <ceed/types.h>

// qdata = w det J, the weight of the point on the physical element. The sign of det J is kept.
// in:  [0] dx [3: g][3: c][Q], J[g][c] = dx_c / dX_g: coordinate c along reference axis g
//      [1] weights [Q], of the reference element
// out: [0] qdata [Q]
CEED_QFUNCTION(Mass3DBuild)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *const dx = in[0];
  const CeedScalar *const weights = in[1];
  CeedScalar *const qdata = out[0];
  const CeedSize n = Q; // stride between the scalars of a point; products with it may exceed 32 bits

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar J[3][3];

    for (CeedInt g = 0; g < 3; g++) {
      for (CeedInt c = 0; c < 3; c++) J[g][c] = dx[(g * 3 + c) * n + i];
    }
    // Expansion along the first row.
    const CeedScalar det = J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) +
                           J[0][1] * (J[1][2] * J[2][0] - J[1][0] * J[2][2]) +
                           J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);

    qdata[i] = weights[i] * det;
  }
  return CEED_ERROR_SUCCESS;
}

#endif
