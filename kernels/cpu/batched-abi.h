// SPDX-License-Identifier: BSD-2-Clause
// What a kernel of batched dense algebra is called with: the contract between generated texts
// (emit/batched.c, kernels/cpu/batched.h, batched-large.h) and backends/cpu/batched.c. Precision is part of
// the text, and so are, but of large matrices, the kind of operation and sizes, or the most that they can be;
// transposes, triangles and layouts are arguments, so that many objects share a kernel. Members have the
// meaning of core/batched.h. Changing anything here changes RITZ_BATCHED_ABI.
#ifndef RITZ_KERNELS_CPU_BATCHED_ABI_H
#define RITZ_KERNELS_CPU_BATCHED_ABI_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cpu/abi.h"

#define RITZ_BATCHED_ABI 3

typedef enum {
  RITZ_KIND_PRODUCT,
  RITZ_KIND_CHOLESKY,
  RITZ_KIND_LU,
  RITZ_KIND_SOLVE,
  RITZ_KIND_INVERSE,
  RITZ_KIND_SYMMETRIC,   // A B of a symmetric A
  RITZ_KIND_RANK_UPDATE, // a triangle of op(A) op(A)^T
  RITZ_KIND_TRIANGULAR,  // op(A) B of a triangular A
  RITZ_KIND_LU_SYSTEM,   // factors and solution
  RITZ_KIND_SPD_SYSTEM,  // the same of a positive definite A
  RITZ_KIND_QR,
  RITZ_KIND_APPLY_Q,
  RITZ_KIND_FORM_Q,
  RITZ_KIND_LEAST_SQUARES,
} RitzBatchedKind;

// Matrices of a size up to RITZ_BATCHED_SMALL that is not known to the text are computed as of this one, at
// least as large, with ones and zeros around them.
enum { RITZ_BATCHED_SMALL = 64 };
static inline int32_t ritz_batched_size_class(int32_t n) {
  return n <= 4 ? 4 : n <= 32 ? (n + 3) / 4 * 4 : (n + 7) / 8 * 8;
}

// One operand: where matrix i begins, and which sizes of the operation (m, n, k; 3: one, 4: the smaller of m
// and n, 5: the larger) its rows and columns are.
typedef struct {
  void *base;
  void *const *pointers;
  const int64_t *offsets;
  const int32_t *lds, *first_rows, *first_cols;
  int64_t row0, col0, ld, stride;
  int32_t width, rows, cols;
  bool is_in_place; // groups that are full are computed where they are; width is the number of lanes
} RitzBatchedPlaces;

// The triangular systems of a solve, one after the other: T X = B of a triangle of A as it is stored, or of
// its transpose.
typedef struct {
  bool is_lower, is_transposed, is_unit;
} RitzBatchedTriangle;

typedef struct {
  RitzBatchedKind kind;
  int64_t count; // places
  // Which matrix is where: groups of RITZ_LANES places, large matrices one after the other. -1: none, behind
  // the others of a group. Matrices of a group have one class in all sizes. NULL: all, as they follow each
  // other.
  const int64_t *order;
  double alpha, beta;
  RitzBatchedPlaces operand[3];
  const int32_t *sizes[3]; // [count]; NULL: the bounds
  int32_t bounds[3];
  bool is_uniform;
  bool trans_a, trans_b; // products; trans_a: least squares
  bool is_upper;         // Cholesky, symmetric matrices: the triangle
  bool has_pivots;       // LU and what uses its factors: ipiv is there
  bool is_right;         // rows of B (of C: Q) are what columns are on the left side
  bool is_back;          // Q, not its transpose, is applied
  bool permutes_after;   // solves: swaps are undone afterwards, else done before
  bool is_factored;      // inverses: from factors, in place
  int32_t num_triangles; // solves, systems, triangular products
  RitzBatchedTriangle triangle[2];
  int32_t *ipiv; // [count][ipiv_stride], or NULL
  int64_t ipiv_stride;
  int32_t *info; // [count], or NULL
  void *work; // RitzKernelInfo.work_bytes, of large matrices RitzBatchedWork; 64-byte aligned, one a thread
} RitzBatchedArgs;

// Runs groups begin .. end - 1 of RITZ_LANES places; of large matrices, places begin .. end - 1.
typedef void (*RitzBatchedKernel)(const RitzBatchedArgs *args, int64_t begin, int64_t end);

// Bytes of scratch for large matrices of sizes within the bounds.
typedef int64_t (*RitzBatchedWorkBytes)(const RitzBatchedArgs *args);

#define RITZ_BATCHED_SYMBOL      "ritz_batched_kernel"     // RitzBatchedKernel
#define RITZ_BATCHED_INFO_SYMBOL "ritz_batched_info"       // const RitzKernelInfo
#define RITZ_BATCHED_WORK_SYMBOL "ritz_batched_work_bytes" // RitzBatchedWorkBytes

#endif
