// SPDX-License-Identifier: BSD-2-Clause
// Batches of fronts of multifrontal Cholesky factorizations, of different sizes in one call.
//
// A front is a symmetric matrix of order d1 + d2, of which the lower triangle counts:
//
//     F11 .        F11: d1 x d1, its columns are eliminated
//     F21 F22      F21: d2 x d1, F22: d2 x d2
//
// RitzFrontBatched makes F11 = L11 L11^T, F21 := F21 L11^-T = L21, F22 := F22 - L21 L21^T, in place; the
// solves are those with [L11; L21] and its transpose. Adding F22 to the parent's front is the caller's.
//
//     RitzFrontCreate(ceed, CEED_SCALAR_FP64, 64, 64, &front);       // for fronts up to 64 + 64
//     RitzFrontBatched(front, count, &(RitzFrontArrays){.d1 = d1, .d2 = d2, ...}, info);
//
// Memory, order, repetition and infos are those of ritz/batched.h: arrays lie where the context computes,
// work is queued in the context's stream, a front's result has the same bits in every batch.
#ifndef RITZ_FRONT_H
#define RITZ_FRONT_H

#include <ceed.h>
#include <ritz/batched.h>
#include <stdint.h>

typedef struct RitzFront_private *RitzFront;

// All in the context's memory, none NULL. F11 of front i begins at entry panel_offsets[i] of `panels`, F21 is
// d1[i] rows below, with the same leading dimension; F22 begins at entry update_offsets[i] of `updates`,
// which may be the same array.
typedef struct {
  const int32_t *d1, *d2; // [count] 0 .. bounds of the object
  void *panels;
  const int64_t *panel_offsets; // [count]
  const int32_t *panel_lds;     // [count] at least d1 + d2
  void *updates;                // of solves not looked at
  const int64_t *update_offsets;
  const int32_t *update_lds; // at least d2
} RitzFrontArrays;

// Fronts up to d1 + d2. Errors: CEED_ERROR_DIMENSION (a negative bound, or a sum beyond 2^31 - 1),
// CEED_ERROR_UNSUPPORTED (another precision than CEED_SCALAR_FP64 and CEED_SCALAR_FP32, contexts without
// batched algebra).
CEED_EXTERN int RitzFrontCreate(Ceed ceed, CeedScalarType precision, CeedInt d1, CeedInt d2,
                                RitzFront *front);
CEED_EXTERN int RitzFrontDestroy(RitzFront *front);

// info [count], may be NULL: 0, or k > 0: the leading minor k of F11 is not positive (or NaN), and the front
// is unspecified; below 0: d1 is negative or too large, and the front is left alone. A d2 that is negative or
// too large leaves F21 and F22 alone; info may be below 0 then. Entries above the diagonals are unspecified
// afterwards.
CEED_EXTERN int RitzFrontBatched(RitzFront front, int64_t count, const RitzFrontArrays *fronts,
                                 int32_t *info);
// x of front i: d1 + d2 entries from x_offsets[i] on, x1 and x2.
// Forward: x1 := L11^-1 x1, x2 := x2 - L21 x1. Backward: x1 := L11^-T (x1 - L21^T x2), x2 is read alone.
CEED_EXTERN int RitzFrontForwardBatched(RitzFront front, int64_t count, const RitzFrontArrays *fronts,
                                        void *x, const int64_t *x_offsets);
CEED_EXTERN int RitzFrontBackwardBatched(RitzFront front, int64_t count, const RitzFrontArrays *fronts,
                                         void *x, const int64_t *x_offsets);

#endif
