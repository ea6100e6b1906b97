// SPDX-License-Identifier: BSD-2-Clause
// Gallery QFunction "Mass2DBuild": quadrature data of the mass matrix on faces.
// Built into the library for the host; its text is compiled at run time for devices, so it is C and C++.
#ifndef CEED_GALLERY_MASS_2D_BUILD_H
#define CEED_GALLERY_MASS_2D_BUILD_H

#include <ceed/types.h>

// qdata = w det J, the weight of the point on the physical element. The sign of det J is kept.
// in:  [0] dx [2: g][2: c][Q], J[g][c] = dx_c / dX_g: coordinate c along reference axis g
//      [1] weights [Q], of the reference element
// out: [0] qdata [Q]
CEED_QFUNCTION(Mass2DBuild)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *const dx = in[0];
  const CeedScalar *const weights = in[1];
  CeedScalar *const qdata = out[0];
  const CeedSize n = Q; // stride between the scalars of a point; products with it may exceed 32 bits

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar J[2][2] = {{dx[i], dx[n + i]}, {dx[2 * n + i], dx[3 * n + i]}};

    qdata[i] = weights[i] * (J[0][0] * J[1][1] - J[0][1] * J[1][0]);
  }
  return CEED_ERROR_SUCCESS;
}

#endif
