// SPDX-License-Identifier: BSD-2-Clause
// Gallery QFunctions "Scale" and "Scale (scalar)": a field times given factors. Multigrid transfer uses them.
// Built into the library for the host; its text is compiled at run time for devices, so it is C and C++.
#ifndef CEED_GALLERY_SCALE_H
#define CEED_GALLERY_SCALE_H

#include <ceed/types.h>

// Context of Scale and of ScaleScalar.
typedef struct {
  CeedInt num_comp; // scalars per point of the data, input and output
} ScaleContext;

// Every scalar has its own factor.
// in:  [0] u [num_comp][Q]   [1] factor [num_comp][Q]
// out: [0] v [num_comp][Q]
CEED_QFUNCTION(Scale)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedSize count = (CeedSize)((const ScaleContext *)ctx)->num_comp * Q;
  const CeedScalar *const u = in[0];
  const CeedScalar *const factor = in[1];
  CeedScalar *const v = out[0];

  CeedPragmaSIMD
  for (CeedSize i = 0; i < count; i++) v[i] = u[i] * factor[i];
  return CEED_ERROR_SUCCESS;
}

// All scalars of a point share one factor.
// in:  [0] u [num_comp][Q]   [1] factor [1][Q]
// out: [0] v [num_comp][Q]
CEED_QFUNCTION(ScaleScalar)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedInt num_comp = ((const ScaleContext *)ctx)->num_comp;
  const CeedScalar *const u = in[0];
  const CeedScalar *const factor = in[1];
  CeedScalar *const v = out[0];
  const CeedSize n = Q; // stride between the scalars of a point; products with it may exceed 32 bits

  for (CeedInt c = 0; c < num_comp; c++) {
    CeedPragmaSIMD
    for (CeedInt i = 0; i < Q; i++) v[c * n + i] = u[c * n + i] * factor[i];
  }
  return CEED_ERROR_SUCCESS;
}

#endif
