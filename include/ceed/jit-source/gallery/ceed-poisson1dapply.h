// SPDX-License-Identifier: BSD-2-Clause
// Gallery QFunction "Poisson1DApply": the Laplacian for one component on lines.
// Built into the library for the host; its text is compiled at run time for devices, so it is C and C++.
#ifndef CEED_GALLERY_POISSON_1D_APPLY_H
#define CEED_GALLERY_POISSON_1D_APPLY_H

#include <ceed/types.h>

// dv = qdata du. No context.
// in:  [0] du [Q], derivative along the reference axis   [1] qdata [Q], from Poisson1DBuild
// out: [0] dv [Q], paired with the derivative of the test function
CEED_QFUNCTION(Poisson1DApply)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *const du = in[0];
  const CeedScalar *const qdata = in[1];
  CeedScalar *const dv = out[0];

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) dv[i] = qdata[i] * du[i];
  return CEED_ERROR_SUCCESS;
}

#endif
