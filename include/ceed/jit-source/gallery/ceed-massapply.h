// SPDX-License-Identifier: BSD-2-Clause
// Gallery QFunction "MassApply": the mass matrix for one component, any dimension.
// Built into the library for the host; its text is compiled at run time for devices, so it is C and C++.
#ifndef CEED_GALLERY_MASS_APPLY_H
#define CEED_GALLERY_MASS_APPLY_H

#include <ceed/types.h>

// v = qdata u. No context.
// in:  [0] u [Q]   [1] qdata [Q], weights on the physical element
// out: [0] v [Q]
CEED_QFUNCTION(MassApply)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *const u = in[0];
  const CeedScalar *const qdata = in[1];
  CeedScalar *const v = out[0];

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) v[i] = qdata[i] * u[i];
  return CEED_ERROR_SUCCESS;
}

#endif
