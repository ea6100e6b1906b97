// SPDX-License-Identifier: BSD-2-Clause
// Small square matrices for each point: point-block Jacobi (solver/point-blocks.c). Included there and by
// run-time compilers.
#ifndef RITZ_SOLVER_POINT_BLOCK_H
#define RITZ_SOLVER_POINT_BLOCK_H

#include <ceed/types.h>

#define RITZ_POINT_BLOCK_MAX 16 // components

typedef struct {
  CeedInt num_comp;  // of the functions for any number
  CeedInt is_single; // whether entries come from float
} RitzPointBlockContext;

// ---- Products z = B r ----
// in: r [num_comp], B [num_comp][num_comp]; out: z [num_comp].

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

// ---- Inverses ----
// in: B [num_comp][num_comp], is_free [num_comp], 1 or 0; out: the inverse of the symmetric part of B on the
// free components, zeros elsewhere; is_bad, 1 where that is not positive definite.

// Gauss-Jordan steps in place, without pivots, whose pivots are those of the Cholesky factorization. least
// [n]: a pivot has to be larger. No branch on entries. Returns 1 where one is not, or is not finite.
CEED_QFUNCTION_HELPER CeedScalar ritz_point_block_invert_one(const int n, const CeedScalar *least,
                                                             CeedScalar *a) {
  CeedScalar is_bad = 0;

  for (int k = 0; k < n; k++) {
    const CeedScalar pivot = a[k * n + k];
    const int is_good = pivot > least[k] && pivot - pivot == 0;
    const CeedScalar inverse = 1 / (is_good ? pivot : 1);
    is_bad = is_good ? is_bad : 1;
    for (int j = 0; j < n; j++) a[k * n + j] *= inverse;
    a[k * n + k] = inverse;
    for (int i = 0; i < n; i++) {
      const CeedScalar factor = a[i * n + k];
      for (int j = 0; j < n; j++)
        a[i * n + j] = i == k ? a[i * n + j] : (j == k ? 0 : a[i * n + j]) - factor * a[k * n + j];
    }
  }
  return is_bad;
}

// a [num_comp][num_comp], least [num_comp]: memory. Constrained rows are those of the identity meanwhile. A
// pivot that is all rounding is none.
CEED_QFUNCTION_HELPER int ritz_point_block_invert(const int num_comp, const RitzPointBlockContext *context,
                                                  CeedScalar *a, CeedScalar *least, const CeedInt Q,
                                                  const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *block = in[0], *is_free = in[1];
  const CeedScalar rounding =
      (CeedScalar)4 * (CeedScalar)(context->is_single ? 1.1920929e-07 : 2.220446049250313e-16);

  for (CeedInt i = 0; i < Q; i++) {
    for (int r = 0; r < num_comp; r++) {
      const CeedScalar diagonal = block[r * (num_comp + 1) * Q + i];
      least[r] = is_free[r * Q + i] > 0 ? rounding * (diagonal < 0 ? -diagonal : diagonal) : 0;
      for (int c = 0; c < num_comp; c++) {
        const int are_free = is_free[r * Q + i] > 0 && is_free[c * Q + i] > 0;
        const CeedScalar sum = block[(r * num_comp + c) * Q + i] + block[(c * num_comp + r) * Q + i];
        a[r * num_comp + c] = are_free ? sum / 2 : r == c;
      }
    }
    out[1][i] = ritz_point_block_invert_one(num_comp, least, a);
    for (int r = 0; r < num_comp; r++) {
      for (int c = 0; c < num_comp; c++) {
        const int are_free = is_free[r * Q + i] > 0 && is_free[c * Q + i] > 0;
        out[0][(r * num_comp + c) * Q + i] = are_free ? a[r * num_comp + c] : 0;
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

CEED_QFUNCTION(ritz_point_block_invert_2)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  CeedScalar a[2 * 2], least[2];
  return ritz_point_block_invert(2, (const RitzPointBlockContext *)ctx, a, least, Q, in, out);
}

CEED_QFUNCTION(ritz_point_block_invert_3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  CeedScalar a[3 * 3], least[3];
  return ritz_point_block_invert(3, (const RitzPointBlockContext *)ctx, a, least, Q, in, out);
}

CEED_QFUNCTION(ritz_point_block_invert_any)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const RitzPointBlockContext *context = (const RitzPointBlockContext *)ctx;
  CeedScalar a[RITZ_POINT_BLOCK_MAX * RITZ_POINT_BLOCK_MAX], least[RITZ_POINT_BLOCK_MAX];
  return ritz_point_block_invert(context->num_comp, context, a, least, Q, in, out);
}

#endif
