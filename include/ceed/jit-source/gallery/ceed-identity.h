// SPDX-License-Identifier: BSD-2-Clause
// Gallery QFunctions "Identity" and "Identity to scalar": copies of a field.
// Built into the library for the host; its text is compiled at run time for devices, so it is C and C++.
#ifndef CEED_GALLERY_IDENTITY_H
#define CEED_GALLERY_IDENTITY_H

#include <ceed/types.h>

// Context of Identity.
typedef struct {
  CeedInt size; // scalars per point of the input and of the output
} IdentityContext;

// Copies all scalars of all points.
// in:  [0] u [size][Q]
// out: [0] v [size][Q]
CEED_QFUNCTION(Identity)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedSize count = (CeedSize)((const IdentityContext *)ctx)->size * Q;
  const CeedScalar *const u = in[0];
  CeedScalar *const v = out[0];

  CeedPragmaSIMD
  for (CeedSize i = 0; i < count; i++) v[i] = u[i];
  return CEED_ERROR_SUCCESS;
}

// Copies the first scalar of each point. No context.
// in:  [0] u [any size][Q]
// out: [0] v [1][Q]
CEED_QFUNCTION(IdentityScalar)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *const u = in[0];
  CeedScalar *const v = out[0];

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) v[i] = u[i];
  return CEED_ERROR_SUCCESS;
}

#endif
