// SPDX-License-Identifier: BSD-2-Clause
// Gallery QFunction "Vector3Poisson1DApply": the Laplacian for three components on lines.
// Built into the library for the host; its text is compiled at run time for devices, so it is C and C++.
#ifndef CEED_GALLERY_VECTOR_POISSON_1D_APPLY_H
#define CEED_GALLERY_VECTOR_POISSON_1D_APPLY_H

#include <ceed/types.h>

// dv_c = qdata du_c. No context.
// in:  [0] du [3: c][Q], derivatives along the reference axis   [1] qdata [Q], from Poisson1DBuild
// out: [0] dv [3: c][Q], paired with the derivative of the test function
CEED_QFUNCTION(Vector3Poisson1DApply)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *const du = in[0];
  const CeedScalar *const qdata = in[1];
  CeedScalar *const dv = out[0];
  const CeedSize n = Q; // stride between the scalars of a point; products with it may exceed 32 bits

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    for (CeedInt c = 0; c < 3; c++) dv[c * n + i] = qdata[i] * du[c * n + i];
  }
  return CEED_ERROR_SUCCESS;
}

#endif
