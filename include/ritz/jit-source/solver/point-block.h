// SPDX-License-Identifier: BSD-2-Clause
// Products z = B r with a small square matrix for each point: point-block Jacobi (solver/point-blocks.c).
// Included there and by run-time compilers. in: r [num_comp], B [num_comp][num_comp]; out: z [num_comp].
#ifndef RITZ_SOLVER_POINT_BLOCK_H
#define RITZ_SOLVER_POINT_BLOCK_H

#include <ceed/types.h>

// Context of ritz_point_block_any.
typedef struct {
  CeedInt num_comp;
} RitzPointBlockContext;

CEED_QFUNCTION_HELPER int ritz_point_block(const int num_comp, const CeedInt Q, const CeedScalar *const *in,
                                           CeedScalar *const *out) {
  const CeedScalar *r = in[0], *block = in[1];
  CeedScalar *z = out[0];

  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    for (int a = 0; a < num_comp; a++) {
      CeedScalar sum = 0;
      for (int b = 0; b < num_comp; b++) sum += block[(a * num_comp + b) * Q + i] * r[b * Q + i];
      z[a * Q + i] = sum;
    }
  }
  return CEED_ERROR_SUCCESS;
}

CEED_QFUNCTION(ritz_point_block_2)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return ritz_point_block(2, Q, in, out);
}

CEED_QFUNCTION(ritz_point_block_3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return ritz_point_block(3, Q, in, out);
}

CEED_QFUNCTION(ritz_point_block_any)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  return ritz_point_block(((const RitzPointBlockContext *)ctx)->num_comp, Q, in, out);
}

#endif
