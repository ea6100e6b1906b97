// SPDX-License-Identifier: BSD-2-Clause
// Batches of fronts of multifrontal factorizations, L L^T or L D L^T, of different sizes in one call.
//
// A front is a symmetric matrix of order d1 + d2, of which the lower triangle counts:
//
//     F11 .        F11: d1 x d1, its columns are eliminated
//     F21 F22      F21: d2 x d1, F22: d2 x d2
//
// RitzFrontBatched makes, in place,
//
//     RITZ_FRONT_CHOLESKY: F11 = L11 L11^T,   F21 := F21 L11^-T = L21,        F22 := F22 - L21 L21^T
//     RITZ_FRONT_LDLT:     F11 = L11 D L11^T, F21 := F21 L11^-T D^-1 = L21,   F22 := F22 - L21 D L21^T
//
// where D is diagonal and takes the place of the ones on L11's diagonal. The solves are those with [L11; L21]
// and its transpose. Adding F22 to the parent's front is the caller's.
//
//     RitzFrontCreate(ceed, RITZ_FRONT_CHOLESKY, CEED_SCALAR_FP64, 64, 64, &front); // up to 64 + 64
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

// All in the context's memory, none NULL, but for arrays without entries and those of updates in solves. F11
// of front i begins at entry panel_offsets[i] of `panels`, F21 is d1[i] rows below, with the same leading
// dimension; F22 begins at entry update_offsets[i] of `updates`, which may be the same array.
typedef struct {
  const int32_t *d1, *d2; // [count] 0 .. bounds of the object
  void *panels;
  const int64_t *panel_offsets; // [count]
  const int32_t *panel_lds;     // [count] at least d1 + d2
  void *updates;                // of solves not looked at
  const int64_t *update_offsets;
  const int32_t *update_lds; // at least d2
} RitzFrontArrays;

// CHOLESKY: of positive definite matrices. LDLT: of symmetric ones, with pivots where they stand: nothing is
// exchanged, so that pivots may be zero or tiny where the matrix is regular (static pivoting: Li & Demmel,
// Making sparse Gaussian elimination scalable by static pivoting, 1998).
typedef enum { RITZ_FRONT_CHOLESKY, RITZ_FRONT_LDLT } RitzFrontFactors;

// Fronts up to d1 + d2. Errors: CEED_ERROR_DIMENSION (a negative bound, or a sum beyond 2^31 - 1),
// CEED_ERROR_UNSUPPORTED (factors that there are not, another precision than CEED_SCALAR_FP64 and, of
// CHOLESKY, CEED_SCALAR_FP32, contexts without batched algebra).
CEED_EXTERN int RitzFrontCreate(Ceed ceed, RitzFrontFactors factors, CeedScalarType precision, CeedInt d1,
                                CeedInt d2, RitzFront *front);
// Waits for what the object has queued.
CEED_EXTERN int RitzFrontDestroy(RitzFront *front);

// LDLT: pivots d with |d| < smallest become +-smallest with the sign of d (+ for 0) from now on, and are
// counted. sqrt(eps) |A| of the whole matrix leaves half of the digits, which iterative refinement brings
// back. 0, as after creation: none are. INCOMPATIBLE: a negative number, one that is not finite, CHOLESKY.
CEED_EXTERN int RitzFrontSetSmallestPivot(RitzFront front, double smallest);

// info [count], may be NULL.
//   0      done
//   k > 0  CHOLESKY: the leading minor k of F11 is not positive (or NaN); LDLT: pivot k is zero or not
//          finite. The front is unspecified
//   k < 0  LDLT: -k pivots were replaced
//          CHOLESKY, or INT32_MIN: d1 is negative or too large, and the front is left alone. A d2 that is
//          negative or too large leaves F21 and F22 alone; info may be below 0 then
// Entries above the diagonals are unspecified afterwards. Errors, of the solves, too: CEED_ERROR_DIMENSION
// (count or num_rhs < 0), CEED_ERROR_INCOMPATIBLE (an array is NULL), CEED_ERROR_BACKEND (on devices: memory
// that is not the context's).
CEED_EXTERN int RitzFrontBatched(RitzFront front, int64_t count, const RitzFrontArrays *fronts,
                                 int32_t *info);
// x of front i, right-hand side r < num_rhs: d1 + d2 entries from x_offsets[i] + r x_stride on, x1 and x2.
// Forward: x1 := L11^-1 x1, x2 := x2 - L21 x1. Backward: x1 := L11^-T (x1 - L21^T x2), of LDLT
// x1 := L11^-T (D^-1 x1 - L21^T x2); x2 is read alone.
CEED_EXTERN int RitzFrontForwardBatched(RitzFront front, int64_t count, const RitzFrontArrays *fronts,
                                        CeedInt num_rhs, void *x, const int64_t *x_offsets, int64_t x_stride);
CEED_EXTERN int RitzFrontBackwardBatched(RitzFront front, int64_t count, const RitzFrontArrays *fronts,
                                         CeedInt num_rhs, void *x, const int64_t *x_offsets,
                                         int64_t x_stride);

#endif
