// SPDX-License-Identifier: BSD-2-Clause
// Dense algebra on small matrices inside of QFunctions and of kernels of the program: products, LU with
// pivots, Cholesky, inverses. One text for C, C++, CUDA and OpenCL C; nothing has to be linked. For many
// matrices in memory see ritz/batched.h.
//
//     CEED_QFUNCTION(Newton)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out)
//       CeedPragmaSIMD
//       for (CeedInt i = 0; i < Q; i++) {
//         CeedScalar A[6 * 6], b[6];
//         int ipiv[6];
//         ...                                    // A [6][6], column-major, and b from in[.][c * Q + i]
//         ritz_thread_getrf(6, A, ipiv);
//         ritz_thread_getrs(6, 0, 1, A, ipiv, b); // b := A^-1 b
//
// Names, order of arguments, meaning of pivots (from 1) and infos are LAPACK's, as in ritz/batched.h. All
// matrices are column-major without gaps: entry (r, c) of an m x n matrix at r + c m. Entries are CeedScalar.
//
// *ritz_thread_...*: one thread, matrices are arrays of its own (OpenCL: private; copy what lies elsewhere).
// Sizes and flags are written as numbers: then loops vanish, arrays are registers, and as there is no branch
// on entries (pivots are chosen and rows swapped by selection) loops over points become vector instructions.
// Meant for n <= 8; larger sizes are right but slow.
//
// *ritz_team_...*: `size` threads with numbers `rank` = 0 .. size - 1 do one call together, with the same
// arguments, on matrices that all of them see: RITZ_TEAM_MEMORY (OpenCL: local memory), such as the shared
// memory of a block. Any n that fits there. RITZ_TEAM_BARRIER() waits for all of them: the barrier of the
// block, on hosts nothing, as there a team has one thread (0, 1). Teams of another kind define the macro
// before this header is included; it orders the team's accesses to its memory, too. Operands are complete,
// and seen by the team, before a call; so are results after it.
//
// Entries are reached by reciprocals of pivots, which have to be finite. NaN and Inf stay in the matrices
// where they are; no access leaves an array whatever the entries are.
#ifndef RITZ_BATCHED_DEVICE_H
#define RITZ_BATCHED_DEVICE_H

#include <ceed/types.h>
#if !defined(CEED_RUNNING_JIT_PASS) && !defined(__CUDACC__) && !defined(__OPENCL_VERSION__)
#include <math.h>
#endif

#ifdef RITZ_UNROLL // of the library's kernels
#define RITZ_SMALL_UNROLL RITZ_UNROLL
#elif defined(__CUDACC__) || defined(__OPENCL_VERSION__)
#define RITZ_SMALL_UNROLL _Pragma("unroll")
#elif defined(__clang__)
#define RITZ_SMALL_UNROLL _Pragma("clang loop unroll(enable)")
#elif defined(__GNUC__)
#define RITZ_SMALL_UNROLL _Pragma("GCC unroll 64")
#else
#define RITZ_SMALL_UNROLL
#endif

// ---- One thread ----

CEED_QFUNCTION_HELPER CeedScalar ritz_small_abs(const CeedScalar a) { return a < 0 ? -a : a; }

// Entry (r, c) of op(A), of `ld` rows as it is stored.
#define RITZ_SMALL_AT(A, ld, is_transposed, r, c)                                                            \
  ((is_transposed) ? (A)[(c) + (r) * (ld)] : (A)[(r) + (c) * (ld)])

// C = alpha op(A) op(B) + beta C: C m x n, op(A) m x k, op(B) k x n, A and B transposed if trans_a, trans_b
// are not 0. beta = 0: C is not read.
CEED_QFUNCTION_HELPER void ritz_thread_gemm(const int trans_a, const int trans_b, const int m, const int n,
                                            const int k, const CeedScalar alpha, const CeedScalar *A,
                                            const CeedScalar *B, const CeedScalar beta, CeedScalar *C) {
  RITZ_SMALL_UNROLL
  for (int c = 0; c < n; c++) {
    RITZ_SMALL_UNROLL
    for (int r = 0; r < m; r++) {
      CeedScalar sum = 0;
      RITZ_SMALL_UNROLL
      for (int l = 0; l < k; l++)
        sum += RITZ_SMALL_AT(A, trans_a ? k : m, trans_a, r, l) *
               RITZ_SMALL_AT(B, trans_b ? n : k, trans_b, l, c);
      C[r + c * m] = beta == 0 ? alpha * sum : alpha * sum + beta * C[r + c * m];
    }
  }
}

// y = alpha op(A) x + beta y, A m x n as it is stored. beta = 0: y is not read.
CEED_QFUNCTION_HELPER void ritz_thread_gemv(const int trans_a, const int m, const int n,
                                            const CeedScalar alpha, const CeedScalar *A, const CeedScalar *x,
                                            const CeedScalar beta, CeedScalar *y) {
  ritz_thread_gemm(trans_a, 0, trans_a ? n : m, 1, trans_a ? m : n, alpha, A, x, beta, y);
}

// The row from k on whose entry of column k is largest, among equal ones the first.
CEED_QFUNCTION_HELPER int ritz_thread_find_pivot(const int n, const int k, const CeedScalar *A) {
  CeedScalar best = ritz_small_abs(A[k + k * n]);
  int pivot = k;
  RITZ_SMALL_UNROLL
  for (int r = k + 1; r < n; r++) {
    const CeedScalar size = ritz_small_abs(A[r + k * n]);
    pivot = size > best ? r : pivot;
    best = size > best ? size : best;
  }
  return pivot;
}

// Swaps rows k and pivot >= k of B n x num: places of registers are numbers, so every row is looked at.
CEED_QFUNCTION_HELPER void ritz_thread_swap_rows(const int n, const int num, const int k, const int pivot,
                                                 CeedScalar *B) {
  RITZ_SMALL_UNROLL
  for (int c = 0; c < num; c++) {
    const CeedScalar upper = B[k + c * n];
    CeedScalar lower = upper;
    RITZ_SMALL_UNROLL
    for (int r = k + 1; r < n; r++) {
      const CeedScalar entry = B[r + c * n];
      lower = pivot == r ? entry : lower;
      B[r + c * n] = pivot == r ? upper : entry;
    }
    B[k + c * n] = lower;
  }
}

// P A = L U in place, n x n; ipiv [n]. Returns 0, or the first k, from 1, for which u_kk is zero: the factors
// are complete.
CEED_QFUNCTION_HELPER int ritz_thread_getrf(const int n, CeedScalar *A, int *ipiv) {
  int info = 0;

  RITZ_SMALL_UNROLL
  for (int k = 0; k < n; k++) {
    const int pivot = ritz_thread_find_pivot(n, k, A);
    ipiv[k] = pivot + 1;
    ritz_thread_swap_rows(n, n, k, pivot, A);
    const CeedScalar diagonal = A[k + k * n], reciprocal = 1 / (diagonal == 0 ? 1 : diagonal);
    info = info == 0 && diagonal == 0 ? k + 1 : info;
    RITZ_SMALL_UNROLL
    for (int r = k + 1; r < n; r++) A[r + k * n] *= reciprocal;
    RITZ_SMALL_UNROLL
    for (int c = k + 1; c < n; c++) {
      RITZ_SMALL_UNROLL
      for (int r = k + 1; r < n; r++) A[r + c * n] -= A[r + k * n] * A[k + c * n];
    }
  }
  return info;
}

// L X = B or U^T X = B (is_lower), else U X = B or L^T X = B, X over B n x num; is_unit: ones on the
// diagonal. LU has the triangles of op(L) or op(U), is_transposed: transposed.
CEED_QFUNCTION_HELPER void ritz_thread_solve_triangle(const int n, const int num, const int is_lower,
                                                      const int is_transposed, const int is_unit,
                                                      const CeedScalar *LU, CeedScalar *B) {
  RITZ_SMALL_UNROLL
  for (int step = 0; step < n; step++) {
    const int k = is_lower ? step : n - 1 - step;
    const CeedScalar reciprocal = is_unit ? 1 : 1 / LU[k + k * n];
    RITZ_SMALL_UNROLL
    for (int c = 0; c < num; c++) {
      const CeedScalar x = is_unit ? B[k + c * n] : B[k + c * n] * reciprocal;
      B[k + c * n] = x;
      RITZ_SMALL_UNROLL
      for (int i = step + 1; i < n; i++) {
        const int r = is_lower ? i : n - 1 - i;
        B[r + c * n] -= RITZ_SMALL_AT(LU, n, is_transposed, r, k) * x;
      }
    }
  }
}

// op(A) X = B with the factors of ritz_thread_getrf; X over B, n x num; trans_a not 0: A^T.
CEED_QFUNCTION_HELPER void ritz_thread_getrs(const int n, const int trans_a, const int num,
                                             const CeedScalar *LU, const int *ipiv, CeedScalar *B) {
  if (trans_a) {
    ritz_thread_solve_triangle(n, num, 1, 1, 0, LU, B);
    ritz_thread_solve_triangle(n, num, 0, 1, 1, LU, B);
    RITZ_SMALL_UNROLL
    for (int k = n - 1; k >= 0; k--) ritz_thread_swap_rows(n, num, k, ipiv[k] - 1, B);
  } else {
    RITZ_SMALL_UNROLL
    for (int k = 0; k < n; k++) ritz_thread_swap_rows(n, num, k, ipiv[k] - 1, B);
    ritz_thread_solve_triangle(n, num, 1, 0, 1, LU, B);
    ritz_thread_solve_triangle(n, num, 0, 0, 0, LU, B);
  }
}

// The determinant, from the factors of ritz_thread_getrf.
CEED_QFUNCTION_HELPER CeedScalar ritz_thread_det(const int n, const CeedScalar *LU, const int *ipiv) {
  CeedScalar product = 1;
  RITZ_SMALL_UNROLL
  for (int k = 0; k < n; k++) product *= ipiv[k] == k + 1 ? LU[k + k * n] : -LU[k + k * n];
  return product;
}

// A := inverse of A, n x n, by Gauss-Jordan elimination; ipiv [n]: work. Returns 0, or the first k, from 1,
// whose pivot is zero: A is unspecified.
CEED_QFUNCTION_HELPER int ritz_thread_inv(const int n, CeedScalar *A, int *ipiv) {
  int info = 0;

  RITZ_SMALL_UNROLL
  for (int k = 0; k < n; k++) {
    const int pivot = ritz_thread_find_pivot(n, k, A);
    ipiv[k] = pivot + 1;
    ritz_thread_swap_rows(n, n, k, pivot, A);
    info = info == 0 && A[k + k * n] == 0 ? k + 1 : info;
    const CeedScalar reciprocal = 1 / A[k + k * n];
    A[k + k * n] = 1;
    RITZ_SMALL_UNROLL
    for (int c = 0; c < n; c++) A[k + c * n] *= reciprocal;
    RITZ_SMALL_UNROLL
    for (int r = 0; r < n; r++) {
      const CeedScalar factor = r == k ? 0 : A[r + k * n];
      if (r != k) A[r + k * n] = 0;
      RITZ_SMALL_UNROLL
      for (int c = 0; c < n; c++) A[r + c * n] -= factor * A[k + c * n];
    }
  }
  // That was the inverse of P A: its columns go back, last swap first.
  RITZ_SMALL_UNROLL
  for (int k = n - 1; k >= 0; k--) {
    RITZ_SMALL_UNROLL
    for (int r = 0; r < n; r++) {
      const CeedScalar left = A[r + k * n];
      CeedScalar right = left;
      RITZ_SMALL_UNROLL
      for (int c = k + 1; c < n; c++) {
        const CeedScalar entry = A[r + c * n];
        right = ipiv[k] == c + 1 ? entry : right;
        A[r + c * n] = ipiv[k] == c + 1 ? left : entry;
      }
      A[r + k * n] = right;
    }
  }
  return info;
}

// A = L L^T in place, n x n; what is above the diagonal is neither read nor written. Returns 0, or the first
// k, from 1, whose leading minor is not positive (or not a number): from column k on L is unspecified.
CEED_QFUNCTION_HELPER int ritz_thread_potrf(const int n, CeedScalar *A) {
  int info = 0;

  RITZ_SMALL_UNROLL
  for (int k = 0; k < n; k++) {
    const CeedScalar diagonal = A[k + k * n];
    const int is_positive = diagonal > 0;
    const CeedScalar root = sqrt(is_positive ? diagonal : 1), reciprocal = 1 / root;
    info = info == 0 && !is_positive ? k + 1 : info;
    A[k + k * n] = root;
    RITZ_SMALL_UNROLL
    for (int r = k + 1; r < n; r++) A[r + k * n] *= reciprocal;
    RITZ_SMALL_UNROLL
    for (int c = k + 1; c < n; c++) {
      RITZ_SMALL_UNROLL
      for (int r = c; r < n; r++) A[r + c * n] -= A[r + k * n] * A[c + k * n];
    }
  }
  return info;
}

// A X = B with the factor of ritz_thread_potrf in A; X over B, n x num.
CEED_QFUNCTION_HELPER void ritz_thread_potrs(const int n, const int num, const CeedScalar *A, CeedScalar *B) {
  ritz_thread_solve_triangle(n, num, 1, 0, 0, A, B);
  ritz_thread_solve_triangle(n, num, 0, 1, 0, A, B);
}

// ---- A team of threads ----

#ifdef __OPENCL_VERSION__
#define RITZ_TEAM_MEMORY __local
#else
#define RITZ_TEAM_MEMORY
#endif
#ifndef RITZ_TEAM_BARRIER
#ifdef __OPENCL_VERSION__
#define RITZ_TEAM_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#elif defined(__CUDA_ARCH__)
#define RITZ_TEAM_BARRIER() __syncthreads()
#else
#define RITZ_TEAM_BARRIER()
#endif
#endif

// As ritz_thread_gemm. C is not A or B.
CEED_QFUNCTION_HELPER void ritz_team_gemm(const int rank, const int size, const int trans_a,
                                          const int trans_b, const int m, const int n, const int k,
                                          const CeedScalar alpha, const RITZ_TEAM_MEMORY CeedScalar *A,
                                          const RITZ_TEAM_MEMORY CeedScalar *B, const CeedScalar beta,
                                          RITZ_TEAM_MEMORY CeedScalar *C) {
  for (int i = rank; i < m * n; i += size) {
    const int r = i % m, c = i / m;
    CeedScalar sum = 0;
    for (int l = 0; l < k; l++)
      sum +=
          RITZ_SMALL_AT(A, trans_a ? k : m, trans_a, r, l) * RITZ_SMALL_AT(B, trans_b ? n : k, trans_b, l, c);
    C[i] = beta == 0 ? alpha * sum : alpha * sum + beta * C[i];
  }
  RITZ_TEAM_BARRIER();
}

// As ritz_thread_gemv. y is not x.
CEED_QFUNCTION_HELPER void ritz_team_gemv(const int rank, const int size, const int trans_a, const int m,
                                          const int n, const CeedScalar alpha,
                                          const RITZ_TEAM_MEMORY CeedScalar *A,
                                          const RITZ_TEAM_MEMORY CeedScalar *x, const CeedScalar beta,
                                          RITZ_TEAM_MEMORY CeedScalar *y) {
  ritz_team_gemm(rank, size, trans_a, 0, trans_a ? n : m, 1, trans_a ? m : n, alpha, A, x, beta, y);
}

// Swaps rows k and pivot of B n x num; a thread has columns rank, rank + size, ...
CEED_QFUNCTION_HELPER void ritz_team_swap_rows(const int rank, const int size, const int n, const int num,
                                               const int k, const int pivot, RITZ_TEAM_MEMORY CeedScalar *B) {
  for (int c = rank; c < num; c += size) {
    const CeedScalar entry = B[k + c * n];
    B[k + c * n] = B[pivot + c * n];
    B[pivot + c * n] = entry;
  }
}

// As ritz_thread_getrf; ipiv [n] in the team's memory. All threads look for the pivot, in the same order, so
// that nothing has to be exchanged.
CEED_QFUNCTION_HELPER int ritz_team_getrf(const int rank, const int size, const int n,
                                          RITZ_TEAM_MEMORY CeedScalar *A, RITZ_TEAM_MEMORY int *ipiv) {
  int info = 0;

  for (int k = 0; k < n; k++) {
    CeedScalar best = ritz_small_abs(A[k + k * n]);
    int pivot = k;
    for (int r = k + 1; r < n; r++) {
      const CeedScalar entry = ritz_small_abs(A[r + k * n]);
      if (entry > best) best = entry, pivot = r;
    }
    RITZ_TEAM_BARRIER();
    if (rank == 0) ipiv[k] = pivot + 1;
    ritz_team_swap_rows(rank, size, n, n, k, pivot, A);
    RITZ_TEAM_BARRIER();
    const CeedScalar diagonal = A[k + k * n], reciprocal = 1 / (diagonal == 0 ? 1 : diagonal);
    if (info == 0 && diagonal == 0) info = k + 1;
    for (int r = k + 1 + rank; r < n; r += size) A[r + k * n] *= reciprocal;
    RITZ_TEAM_BARRIER();
    const int num = n - k - 1;
    for (int i = rank; i < num * num; i += size) {
      const int r = k + 1 + i % num, c = k + 1 + i / num;
      A[r + c * n] -= A[r + k * n] * A[k + c * n];
    }
    RITZ_TEAM_BARRIER();
  }
  return info;
}

// As ritz_thread_solve_triangle.
CEED_QFUNCTION_HELPER void ritz_team_solve_triangle(const int rank, const int size, const int n,
                                                    const int num, const int is_lower,
                                                    const int is_transposed, const int is_unit,
                                                    const RITZ_TEAM_MEMORY CeedScalar *LU,
                                                    RITZ_TEAM_MEMORY CeedScalar *B) {
  for (int step = 0; step < n; step++) {
    const int k = is_lower ? step : n - 1 - step, rest = n - 1 - step;
    if (!is_unit) {
      for (int c = rank; c < num; c += size) B[k + c * n] *= 1 / LU[k + k * n];
      RITZ_TEAM_BARRIER();
    }
    for (int i = rank; i < rest * num; i += size) {
      const int r = is_lower ? k + 1 + i % rest : i % rest, c = i / rest;
      B[r + c * n] -= RITZ_SMALL_AT(LU, n, is_transposed, r, k) * B[k + c * n];
    }
    RITZ_TEAM_BARRIER();
  }
}

// As ritz_thread_getrs.
CEED_QFUNCTION_HELPER void ritz_team_getrs(const int rank, const int size, const int n, const int trans_a,
                                           const int num, const RITZ_TEAM_MEMORY CeedScalar *LU,
                                           const RITZ_TEAM_MEMORY int *ipiv, RITZ_TEAM_MEMORY CeedScalar *B) {
  if (trans_a) {
    ritz_team_solve_triangle(rank, size, n, num, 1, 1, 0, LU, B);
    ritz_team_solve_triangle(rank, size, n, num, 0, 1, 1, LU, B);
    for (int k = n - 1; k >= 0; k--) ritz_team_swap_rows(rank, size, n, num, k, ipiv[k] - 1, B);
    RITZ_TEAM_BARRIER();
  } else {
    for (int k = 0; k < n; k++) ritz_team_swap_rows(rank, size, n, num, k, ipiv[k] - 1, B);
    RITZ_TEAM_BARRIER();
    ritz_team_solve_triangle(rank, size, n, num, 1, 0, 1, LU, B);
    ritz_team_solve_triangle(rank, size, n, num, 0, 0, 0, LU, B);
  }
}

// X = inverse of A, both n x n; A keeps its factors, ipiv [n] its pivots. Returns what ritz_team_getrf does.
CEED_QFUNCTION_HELPER int ritz_team_inv(const int rank, const int size, const int n,
                                        RITZ_TEAM_MEMORY CeedScalar *A, RITZ_TEAM_MEMORY int *ipiv,
                                        RITZ_TEAM_MEMORY CeedScalar *X) {
  for (int i = rank; i < n * n; i += size) X[i] = i % n == i / n;
  const int info = ritz_team_getrf(rank, size, n, A, ipiv);
  RITZ_TEAM_BARRIER();
  ritz_team_getrs(rank, size, n, 0, n, A, ipiv, X);
  return info;
}

// As ritz_thread_potrf.
CEED_QFUNCTION_HELPER int ritz_team_potrf(const int rank, const int size, const int n,
                                          RITZ_TEAM_MEMORY CeedScalar *A) {
  int info = 0;

  for (int k = 0; k < n; k++) {
    const CeedScalar diagonal = A[k + k * n];
    const int is_positive = diagonal > 0;
    const CeedScalar root = sqrt(is_positive ? diagonal : 1), reciprocal = 1 / root;
    if (info == 0 && !is_positive) info = k + 1;
    RITZ_TEAM_BARRIER();
    if (rank == 0) A[k + k * n] = root;
    for (int r = k + 1 + rank; r < n; r += size) A[r + k * n] *= reciprocal;
    RITZ_TEAM_BARRIER();
    const int num = n - k - 1;
    for (int i = rank; i < num * num; i += size) {
      const int r = k + 1 + i % num, c = k + 1 + i / num;
      if (r >= c) A[r + c * n] -= A[r + k * n] * A[c + k * n];
    }
    RITZ_TEAM_BARRIER();
  }
  return info;
}

// As ritz_thread_potrs.
CEED_QFUNCTION_HELPER void ritz_team_potrs(const int rank, const int size, const int n, const int num,
                                           const RITZ_TEAM_MEMORY CeedScalar *A,
                                           RITZ_TEAM_MEMORY CeedScalar *B) {
  ritz_team_solve_triangle(rank, size, n, num, 1, 0, 0, A, B);
  ritz_team_solve_triangle(rank, size, n, num, 0, 1, 0, A, B);
}

#endif
