// SPDX-License-Identifier: BSD-2-Clause
// Gallery QFunction "Vector3MassApply": the mass matrix for three components, any dimension.
// Built into the library for the host; its text is compiled at run time for devices, so it is C and C++.
#ifndef CEED_GALLERY_VECTOR_MASS_APPLY_H
#define CEED_GALLERY_VECTOR_MASS_APPLY_H

#include <ceed/types.h>

// v_c = qdata u_c. No context.
// in:  [0] u [3: c][Q]   [1] qdata [Q], weights on the physical element
// out: [0] v [3: c][Q]
CEED_QFUNCTION(Vector3MassApply)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *const u = in[0];
  const CeedScalar *const qdata = in[1];
  CeedScalar *const v = out[0];
  const CeedSize n = Q; // stride between the scalars of a point; products with it may exceed 32 bits

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    for (CeedInt c = 0; c < 3; c++) v[c * n + i] = qdata[i] * u[c * n + i];
  }
  return CEED_ERROR_SUCCESS;
}

#endif
