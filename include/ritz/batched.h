// SPDX-License-Identifier: BSD-2-Clause
// Batched dense linear algebra: the same operation on many small matrices, in double or float, whatever
// CeedScalar is.
//
//     RitzBatchedOptions options = {.A = {.precision = CEED_SCALAR_FP64, .m = 24, .n = 24},
//                                   .B = {.precision = CEED_SCALAR_FP64, .m = 24, .n = 1}};
//     RitzBatchedCreate(ceed, RITZ_BATCHED_GETRF, &options, &lu);      // one operation, one shape
//     RitzBatchedCreate(ceed, RITZ_BATCHED_GETRS, &options, &solve);
//     RitzGetrfBatched(lu, count, &(RitzBatchArray){.base = a}, ipiv, info);
//     RitzGetrsBatched(solve, count, &(RitzBatchArray){.base = a}, ipiv, &(RitzBatchArray){.base = b}, info);
//
// An object is one operation on one shape of batch: kernels are compiled for its sizes and options. It serves
// any number of calls with any data and counts. Operations have LAPACK's and BLAS's meaning and order of
// arguments; matrices are column-major. doc/batched.md has examples.
//
// *Memory.* Matrices, pointers, offsets, sizes, pivots and infos of a call lie in the memory where the
// context computes: the host's with /cpu, the device's with /gpu. Addresses of other memory are refused with
// CEED_ERROR_BACKEND as far as the first one of an array shows it. Nothing is copied between memories.
//
// *Order.* Work is done in the order of the calls, in the context's stream; on devices a call returns when
// its work is queued, reads nothing back and, after a first call of its kind with as many matrices, can be
// captured. The arrays live until the work is done. Graphs of non-uniform calls, and of GESV and POSV without
// info, need the object to live; those that use an analysis, no other one of it since, and those that need a
// workspace, no call with more matrices.
//
// *Repetition.* The result of matrix i has the same bits whatever its place, count, neighbours and number of
// threads are. No atomic operations; reductions in a fixed tree. Different operations, layouts with width >
// 1, and contexts may round differently.
//
// *Errors.* A wrong call returns a code other than 0, with a message, before anything is done:
// CEED_ERROR_DIMENSION (sizes, leading dimensions, strides, counts, lengths of vectors),
// CEED_ERROR_INCOMPATIBLE (another operation's object, arrays that do not fit the layout, vectors of another
// precision or context, NULL, a result that overlaps an operand as far as that is seen without reading
// memory), CEED_ERROR_UNSUPPORTED (what the context cannot do). What happens to single matrices is told in
// info[i], where a call has it; info may be NULL: not wanted. A matrix never touches another one.
//
//     0        done
//     k > 0    GETRF: u_kk is zero, the first such k; factors are complete (with RITZ_PIVOT_NONE they are
//              unspecified from step k on). INV: the same, X is unspecified.
//              GETRI: the same, A is unchanged. POTRF: the leading minor k is not positive (or NaN); columns
//              before k hold the factor, the rest of the triangle is unspecified. GESV, POSV: as GETRF and
//              POTRF; B is left as it is. GELS: entry k of the diagonal of R is zero: A has no full rank; B
//              is unspecified. SYEVJ, GESVDJ: not done after k sweeps, or NaN or Inf in A; results are
//              unspecified.
//     -1001    non-uniform batches: m is negative or larger than in the layout; the matrix is left alone
//     -1002, -1003   the same of n, k; -1002 of ORGQR, GESVDJ: n > m, too. With RITZ_STRICT=1 and on
//              /cpu/self/check the call is refused instead where a size is outside of its bounds.
//
// Solves divide by zero as LAPACK's do after info > 0: Inf and NaN in that matrix's result alone. NaN and Inf
// in a matrix stay there.
#ifndef RITZ_BATCHED_H
#define RITZ_BATCHED_H

#include <ceed.h>
#include <ritz/vector.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- One operation on one shape of batch ----

// op(A) is A or its transpose, by trans_a. Sizes are those of LAPACK: options and layouts A, B, C are of the
// operands in the order of the call.
typedef enum {
  RITZ_BATCHED_GEMM,  // C = alpha op(A) op(B) + beta C: C m x n, op(A) m x k, op(B) k x n. trans_a, trans_b
  RITZ_BATCHED_GEMV,  // y = alpha op(A) x + beta y: A m x n as it is stored; x is B, y is C: one column.
                      // trans_a
  RITZ_BATCHED_POTRF, // A = L L^T or U^T U by uplo, in place; A n x n; the other triangle is not touched.
                      // uplo
  RITZ_BATCHED_POTRS, // A X = B with the factor of POTRF in A; X over B, n x k. uplo
  RITZ_BATCHED_GETRF, // P A = L U in place, A m x n; among equal pivots the first row. pivot
  RITZ_BATCHED_GETRS, // op(A) X = B with the factors of GETRF in A, n x n; X over B, n x k. trans_a, pivot
  RITZ_BATCHED_GETRI, // A := inverse, from the factors of GETRF in A, n x n. pivot
  RITZ_BATCHED_INV,   // X = inverse of A, n x n, with pivots; X is B, and may be A itself (same array, same
                      // layout). Else A is not changed
  RITZ_BATCHED_TRSM,  // op(A) X = alpha B (side left, A m x m) or X op(A) = alpha B (right, A n x n); X over
                      // B, m x n. side, uplo, trans_a, diag
  RITZ_BATCHED_TRSV,  // op(A) x = b, A n x n; x over b, which is B: one column. uplo, trans_a, diag
  RITZ_BATCHED_SYRK,  // C = alpha op(A) op(A)^T + beta C: a triangle of C n x n, which is B; op(A) n x k; the
                      // other triangle is not touched. uplo, trans_a
  RITZ_BATCHED_SYMM,  // C = alpha A B + beta C (left, A m x m) or alpha B A + beta C (right, A n x n), A
                      // symmetric, one triangle is read; B, C m x n. side, uplo
  RITZ_BATCHED_SYMV,  // y = alpha A x + beta y, A n x n symmetric; x is B, y is C: one column. uplo
  RITZ_BATCHED_TRMM,  // B = alpha op(A) B (left, A m x m) or alpha B op(A) (right, A n x n), B m x n. side,
                      // uplo, trans_a, diag
  RITZ_BATCHED_GESV,  // A X = B: A n x n becomes its LU factors, X over B, n x k. pivot
  RITZ_BATCHED_POSV,  // the same for A positive definite, and its Cholesky factor. uplo
  RITZ_BATCHED_LASWP, // swaps of GETRF on the rows of A m x n. num_pivots
  RITZ_BATCHED_GEQRF, // A = Q R, m x n, tall or wide: R above, reflectors below the diagonal; tau, their
                      // factors, is B: one column of min(m, n)
  RITZ_BATCHED_ORMQR, // C = op(Q) C (left) or C op(Q) (right), C m x n; Q of k reflectors of GEQRF in the
                      // columns of A, m x k or n x k; tau is B, of k; k is at most the order of Q. side,
                      // trans_a
  RITZ_BATCHED_ORGQR, // A = the first n columns of Q, m x n, from k reflectors in A; tau is B, of k; k <= n
                      // <= m
  RITZ_BATCHED_GELS,  // op(A) X = B, A m x n of full rank: least squares where op(A) has more rows than
                      // columns, else the X of least norm. B max(m, n) x k: right sides in the first rows,
                      // then X. A becomes its QR factors, LQ for m < n; below X of least squares are entries
                      // whose squares sum up to the residual's. trans_a
  RITZ_BATCHED_COPY,  // B = op(A), A m x n: between layouts, and precisions, which may differ. trans_a
  RITZ_BATCHED_GEAM,  // C = alpha op(A) + beta op(B), C m x n. trans_a, trans_b
  RITZ_BATCHED_LASET, // A = alpha, beta on the diagonal, A m x n
  RITZ_BATCHED_SYEVJ, // A = V diag(w) V^T, n x n symmetric, one triangle is read: V over A, w is B: one
                      // column, ascending. By Jacobi's rotations. uplo, vectors
  RITZ_BATCHED_GESVDJ, // A = U diag(s) V^T, m x n, m >= n: U over A; s is B: one column, descending; V is C,
                       // n x n. By Jacobi's rotations of columns. Of wide matrices: transpose by COPY.
                       // vectors
} RitzBatchedOperation;

typedef enum { RITZ_SIDE_LEFT, RITZ_SIDE_RIGHT } RitzSide;
typedef enum { RITZ_TRIANGLE_LOWER, RITZ_TRIANGLE_UPPER } RitzTriangle;
typedef enum { RITZ_DIAGONAL_STORED, RITZ_DIAGONAL_UNIT } RitzDiagonal; // UNIT: ones, that are not read
typedef enum { RITZ_PIVOT_ROWS, RITZ_PIVOT_NONE } RitzPivot; // NONE: ipiv is not looked at and may be NULL
// NONE: values alone; A is unspecified afterwards, of SYEVJ its triangle. GESVDJ has no C: V may be NULL.
typedef enum { RITZ_VECTORS_ALL, RITZ_VECTORS_NONE } RitzVectors;

// Where the entries of matrix i are, m x n, column-major:
//
//     width 1     entry (r, c) at    i stride + r + c ld
//     width W     entry (r, c) at    (i / W) stride + (r + c ld) W + i % W    (interleaved: W side by side)
//
// counted from the array's base. Interleaved arrays hold whole groups of W matrices; of the places beyond
// count nothing is written. In non-uniform batches m and n are upper bounds.
typedef struct {
  CeedScalarType precision; // of entries; the same in all layouts of an object, but of COPY
  CeedInt m, n;             // as stored, at least 0
  CeedInt ld;               // at least m; 0: m, and where the array has `rows` those of each matrix
  int64_t
      stride;    // entries from matrix to matrix, from group to group; at least what one takes; 0: ld n width
  CeedInt width; // a power of 2 up to 64; 0: 1
} RitzBatchLayout;

// Start from zeros and set what the operation has; the rest is not looked at.
typedef struct {
  CeedTransposeMode trans_a, trans_b;
  RitzSide side;
  RitzTriangle uplo;
  RitzDiagonal diag;
  RitzPivot pivot;
  RitzBatchLayout A, B, C; // of the operands in the order of the call
  RitzVectors vectors;
  CeedInt num_pivots; // places in ipiv for each matrix, at least 0; 0: m
} RitzBatchedOptions;

// The matrices of one operand of a call. Exactly one of base and pointers, unless nothing is there to be
// read. Sub-matrices: entry (0, 0) is meant to be at row row0 + first_rows[i], column col0 + first_cols[i] of
// what base, offsets or pointers say; sizes count from there, ld is the whole matrix's.
//
// Non-uniform batches: each size of the operation is that of the first operand in the order C, B, A whose
// array has it; where no array does, the layout's. Square operands: rows alone, or cols alone, is enough.
// Arrays that say the same size again must say the same; this is checked with RITZ_STRICT=1 and on
// /cpu/self/check. Of tau of GEQRF and B of GELS, whose rows are min(m, n) and max(m, n), they say no size of
// the operation. Arrays of sizes, pointers and offsets need width 1.
typedef struct {
  void *base;                             // all matrices by the layout's stride, or by offsets
  const int64_t *offsets;                 // [count] entries from base, instead of the stride; NULL: none
  void *const *pointers;                  // [count] addresses, instead of base and stride; not with OpenCL
  const int32_t *rows;                    // [count] sizes; NULL: as the layout says
  const int32_t *cols;                    // [count]
  const int32_t *lds;                     // [count] leading dimensions; NULL: as the layout says
  const int32_t *first_rows, *first_cols; // [count] NULL: zeros
  int32_t row0, col0;                     // at least 0
  CeedVector vector;                      // set by RitzBatchArrayFromVector, borrowed; else NULL
  RitzAccess access;                      // of vector
} RitzBatchArray;

typedef struct RitzBatched_private *RitzBatched;

// Checks options and layouts; kernels begin to be made. Errors: those of the head of this page;
// CEED_ERROR_UNSUPPORTED where the context has no kernels for the operation, or not with these options.
CEED_EXTERN int RitzBatchedCreate(Ceed ceed, RitzBatchedOperation operation,
                                  const RitzBatchedOptions *options, RitzBatched *batched);
// Waits for what the object has queued.
CEED_EXTERN int RitzBatchedDestroy(RitzBatched *batched);

// Non-uniform batches whose sizes do not change: sorts the matrices into classes once. m, n, k [count]: the
// sizes of the operation (NULL: the layouts'), the same arrays with the same contents as in the calls that
// follow, in the context's memory. Calls with other arrays or counts sort for themselves. Errors beside those
// above: on hosts CEED_ERROR_DIMENSION for a size that is negative or too large, the first one is named.
CEED_EXTERN int RitzBatchedAnalyze(RitzBatched batched, int64_t count, const int32_t *m, const int32_t *n,
                                   const int32_t *k);

// Bytes of memory that a call of up to `count` matrices needs beside its operands: 0 but for SYEVJ on
// devices, of matrices that do not fit into the shared memory of a block; grows with count. (On devices
// objects keep lists of classes for non-uniform calls, and the infos of GESV and POSV where the call has
// none: 4 bytes a matrix each.) The object makes them unless the caller gives them: memory of the context,
// aligned to 64 bytes, that lives until the work is done (NULL, 0: back to the library's). A call for which
// it is too small is refused: CEED_ERROR_DIMENSION.
CEED_EXTERN int RitzBatchedGetWorkspace(RitzBatched batched, int64_t count, size_t *num_bytes);
CEED_EXTERN int RitzBatchedSetWorkspace(RitzBatched batched, void *memory, size_t num_bytes);

// What it is made of, for people: operation, sizes, layouts, kernels and who chose them.
CEED_EXTERN int RitzBatchedExplain(RitzBatched batched, FILE *stream);

// Number and info of the first of `count` matrices whose info is not 0; *index = -1, *value = 0: there is
// none. info [count] in the context's memory. Waits for the context's work.
CEED_EXTERN int RitzBatchedGetFirstFailure(RitzBatched batched, const int32_t *info, int64_t count,
                                           int64_t *index, int32_t *value);

// ---- Arrays of vectors ----

// *array: zeros but for base, vector and access: the vector's array in the context's memory, locked as by
// CeedVectorGetArray, GetArrayRead or GetArrayWrite. Calls check that the matrices lie inside of the vector,
// where sizes and places are uniform. Given back, base is NULL. Errors: those of these functions.
CEED_EXTERN int RitzBatchArrayFromVector(CeedVector vec, RitzAccess access, RitzBatchArray *array);
CEED_EXTERN int RitzBatchArrayRestoreVector(RitzBatchArray *array);

// ---- Calls ----

// What a call makes of its operands stands with the operation of its name: RitzGemmBatched is
// RITZ_BATCHED_GEMM. count: of matrices, 64 bits.

// beta = 0: C is not read, whatever it holds. alpha = 0: A and B are not read.
CEED_EXTERN int RitzGemmBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A,
                                const RitzBatchArray *B, double beta, const RitzBatchArray *C);
CEED_EXTERN int RitzGemvBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A,
                                const RitzBatchArray *x, double beta, const RitzBatchArray *y);
CEED_EXTERN int RitzPotrfBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, int32_t *info);
CEED_EXTERN int RitzPotrsBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A,
                                 const RitzBatchArray *B, int32_t *info);
// ipiv [count][min(m, n)], of the layout's m and n, also in non-uniform batches: row k was swapped with row
// ipiv[k], counted from 1. The places of steps that a smaller matrix does not have are not written.
CEED_EXTERN int RitzGetrfBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, int32_t *ipiv,
                                 int32_t *info);
// ipiv [count][n] of GETRF; values outside 1..n are the caller's mistake, and read or write nothing outside
// of the matrix.
CEED_EXTERN int RitzGetrsBatched(RitzBatched batched, int64_t count, const RitzBatchArray *LU,
                                 const int32_t *ipiv, const RitzBatchArray *B, int32_t *info);
CEED_EXTERN int RitzGetriBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A,
                                 const int32_t *ipiv, int32_t *info);
CEED_EXTERN int RitzInvBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A,
                               const RitzBatchArray *X, int32_t *info);
// alpha = 0: B is set to zero, and neither A nor B is read.
CEED_EXTERN int RitzTrsmBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A,
                                const RitzBatchArray *B);
CEED_EXTERN int RitzTrsvBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A,
                                const RitzBatchArray *x);

// alpha and beta as of RitzGemmBatched.
CEED_EXTERN int RitzSyrkBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A,
                                double beta, const RitzBatchArray *C);
CEED_EXTERN int RitzSymmBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A,
                                const RitzBatchArray *B, double beta, const RitzBatchArray *C);
CEED_EXTERN int RitzSymvBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A,
                                const RitzBatchArray *x, double beta, const RitzBatchArray *y);
// alpha = 0: as of RitzTrsmBatched.
CEED_EXTERN int RitzTrmmBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A,
                                const RitzBatchArray *B);
// ipiv [count][n], of GESV, written as by RitzGetrfBatched.
CEED_EXTERN int RitzGesvBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, int32_t *ipiv,
                                const RitzBatchArray *B, int32_t *info);
CEED_EXTERN int RitzPosvBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A,
                                const RitzBatchArray *B, int32_t *info);
// Swaps row k with row ipiv[k], counted from 1, for k = k1 .. k2 (increment 1) or k2 .. k1 (increment -1:
// back). 1 <= k1, k2 <= num_pivots and m; k2 < k1: none. ipiv [count][num_pivots]. Steps and rows outside of
// a matrix are left out, as zeros are.
CEED_EXTERN int RitzLaswpBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, int32_t k1,
                                 int32_t k2, const int32_t *ipiv, int32_t increment);

// Q = H_1 ... H_k, H_j = I - tau_j v v^T, v zero above entry j, 1 there, below it as stored in column j of A.
CEED_EXTERN int RitzGeqrfBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A,
                                 const RitzBatchArray *tau, int32_t *info);
// Non-uniform: of more reflectors than Q (ORMQR) or A (ORGQR) has columns the first ones are taken.
CEED_EXTERN int RitzOrmqrBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A,
                                 const RitzBatchArray *tau, const RitzBatchArray *C, int32_t *info);
CEED_EXTERN int RitzOrgqrBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A,
                                 const RitzBatchArray *tau, int32_t *info);
// A without rows or columns: B becomes zero.
CEED_EXTERN int RitzGelsBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A,
                                const RitzBatchArray *B, int32_t *info);

// To a lower precision entries are rounded to nearest; what is too large becomes Inf.
CEED_EXTERN int RitzCopyBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A,
                                const RitzBatchArray *B);
// alpha = 0: A is not read, beta = 0: B is not.
CEED_EXTERN int RitzGeamBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A,
                                double beta, const RitzBatchArray *B, const RitzBatchArray *C);
CEED_EXTERN int RitzLasetBatched(RitzBatched batched, int64_t count, double alpha, double beta,
                                 const RitzBatchArray *A);

// info tells of matrices that were not done after the sweeps of RITZ_BATCHED_SYEVJ.
CEED_EXTERN int RitzSyevjBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A,
                                 const RitzBatchArray *w, int32_t *info);
// U and V have orthonormal columns, also where singular values are zero.
CEED_EXTERN int RitzGesvdjBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A,
                                  const RitzBatchArray *s, const RitzBatchArray *V, int32_t *info);

#endif
