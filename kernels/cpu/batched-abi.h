// SPDX-License-Identifier: BSD-2-Clause
// What a kernel of batched dense algebra is called with: the contract between generated texts
// (emit/batched.c, kernels/cpu/batched.h) and backends/cpu/batched.c. Sizes, precision and the kind of
// operation are part of the text; transposes, triangles and layouts are arguments, so that many objects share
// a kernel. Members have the meaning of core/batched.h. Changing anything here changes RITZ_BATCHED_ABI.
#ifndef RITZ_KERNELS_CPU_BATCHED_ABI_H
#define RITZ_KERNELS_CPU_BATCHED_ABI_H

#include <stdbool.h>
#include <stdint.h>

#define RITZ_BATCHED_ABI 1

// One operand: where matrix i begins, and which sizes of the operation (m, n, k; 3: one) its rows and columns
// are.
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
  int64_t count;
  double alpha, beta;
  RitzBatchedPlaces operand[3];
  const int32_t *sizes[3]; // [count]; NULL: the bounds
  int32_t bounds[3];
  bool is_uniform;
  bool trans_a, trans_b;           // products
  bool is_upper;                   // Cholesky: the triangle
  bool has_pivots;                 // LU and what uses its factors: ipiv is there
  bool is_right;                   // solves: rows of B are unknowns
  bool permutes_after;             // solves: swaps are undone afterwards, else done before
  bool is_factored;                // inverses: from factors, in place
  int32_t num_triangles;           // solves
  RitzBatchedTriangle triangle[2]; // solves
  int32_t *ipiv;                   // [count][ipiv_stride], or NULL
  int64_t ipiv_stride;
  int32_t *info; // [count], or NULL
  void *work;    // RitzBatchedInfo.work_bytes, 64-byte aligned, one a thread
} RitzBatchedArgs;

// Runs groups begin .. end - 1 of RITZ_LANES matrices that follow each other.
typedef void (*RitzBatchedKernel)(const RitzBatchedArgs *args, int64_t begin, int64_t end);

typedef struct {
  int32_t abi, lanes;
  int64_t work_bytes;
} RitzBatchedInfo;

#define RITZ_BATCHED_SYMBOL      "ritz_batched_kernel" // RitzBatchedKernel
#define RITZ_BATCHED_INFO_SYMBOL "ritz_batched_info"   // const RitzBatchedInfo

#endif
