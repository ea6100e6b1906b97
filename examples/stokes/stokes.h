// SPDX-License-Identifier: BSD-2-Clause
// The Stokes equations in the plane, viscosity 1, at the points of elements: velocity u and pressure p, the
// symmetric indefinite form of grad u : grad v - p div v - q div u. Compiled with examples/stokes/cavity.c
// and at run time.
#ifndef RITZ_EXAMPLES_STOKES_H
#define RITZ_EXAMPLES_STOKES_H

#include <ritz/point-function.h>

// in: gradient of u, p, gradient of the coordinates, weights; out: for the gradient of v, for q
CEED_QFUNCTION(stokes)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *du = in[0], *p = in[1], *dx = in[2], *w = in[3];
  CeedScalar *dv = out[0], *q = out[1];

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar inverse[4], stress[4]; // inverse Jacobian; gradient of u, then less the pressure
    const CeedScalar weight = w[i] * ritz_point_invert(2, dx, Q, i, inverse);

    ritz_point_gradients(2, 2, inverse, du, Q, i, stress);
    q[i] = -weight * (stress[0] + stress[3]);
    stress[0] -= p[i];
    stress[3] -= p[i];
    RITZ_POINT_UNROLL
    for (int c = 0; c < 2; c++) {
      RITZ_POINT_UNROLL
      for (int d = 0; d < 2; d++) {
        const CeedScalar flux = inverse[d * 2] * stress[c * 2] + inverse[d * 2 + 1] * stress[c * 2 + 1];
        dv[(d * 2 + c) * Q + i] = weight * flux;
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

#endif
