// SPDX-License-Identifier: BSD-2-Clause
// Products of matrices in device memory that bases are applied by: own kernels, which are those of batched
// products (kernels/gpu/batched-*.h), or the vendor's library, cuBLAS on CUDA. Called by basis-gemm.c.
#include "backends/gpu/context.h"
#ifndef RITZ_BACKENDS_GPU_GEMM_H
#define RITZ_BACKENDS_GPU_GEMM_H

// Matrices of an operand, column-major: entry (0, 0) of the first one at memory[first], columns ld entries
// apart, a matrix `stride` entries behind the one before.
typedef struct {
  const void *memory;
  int64_t first, stride;
  CeedInt ld;
} RitzGpuGemmOperand;

// C [m x n] := op(A) op(B), or C + op(A) op(B), with k products an entry, of `count` matrices in CeedScalar.
typedef struct {
  bool adds, is_transposed[2]; // A, B
  CeedInt m, k;
  int64_t n, count;
  RitzGpuGemmOperand operand[3];
} RitzGpuGemm;

// The product by kernels whose sizes are arguments: for large matrices, or few of them.
int ritz_gpu_gemm_large(Ceed ceed, const RitzGpuGemm *gemm);
// The product by kernels of these sizes: for many small matrices. *batched: the caller's, NULL at first;
// serves all calls that differ in memory, count and `adds` alone.
int ritz_gpu_gemm_small(Ceed ceed, const RitzGpuGemm *gemm, RitzBatched *batched);
// The product by the vendor's library, which ritz_gpu_gemm_vendor_find has found.
int ritz_gpu_gemm_vendor(Ceed ceed, const RitzGpuGemm *gemm);

void ritz_gpu_gemms_destroy(Ceed ceed);
// File of the vendor's library, static; NULL: there is none that can be used, and *why says so (static).
const char *ritz_gpu_gemm_vendor_find(Ceed ceed, const char **why);

#endif
