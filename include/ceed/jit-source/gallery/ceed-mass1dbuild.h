// SPDX-License-Identifier: BSD-2-Clause
// Gallery QFunction "Mass1DBuild": quadrature data of the mass matrix on lines.
// Built into the library for the host; its text is compiled at run time for devices, so it is C and C++.
#ifndef CEED_GALLERY_MASS_1D_BUILD_H
#define CEED_GALLERY_MASS_1D_BUILD_H

#include <ceed/types.h>

// qdata = w J, the weight of the point on the physical element. The sign of J is kept.
// in:  [0] dx [Q], J = dx / dX   [1] weights [Q], of the reference element
// out: [0] qdata [Q]
CEED_QFUNCTION(Mass1DBuild)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *const dx = in[0];
  const CeedScalar *const weights = in[1];
  CeedScalar *const qdata = out[0];

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) qdata[i] = weights[i] * dx[i];
  return CEED_ERROR_SUCCESS;
}

#endif
