// SPDX-License-Identifier: BSD-2-Clause
// Matrix products by NVIDIA's cuBLAS, looked up with dlopen once in a process. Called by backends/gpu/gemm.c.
// Errors as devices/device.h says.
#ifndef RITZ_DEVICES_CUBLAS_H
#define RITZ_DEVICES_CUBLAS_H

#include "devices/device.h"

typedef struct RitzCublas_private *RitzCublas; // a handle of one device

// C [m x n] := op(A) op(B), or C + op(A) op(B), of `count` matrices; all column-major in device memory, k
// products for each entry. A matrix is `stride` entries behind the one before.
typedef struct {
  bool is_double, adds;
  bool is_transposed[2]; // A, B
  int m, n, k, count;
  const void *A, *B;
  void *C;
  int ld[3];
  int64_t stride[3];
} RitzCublasProduct;

// File of the library, static; NULL: there is none that can be used, and *why says so (static). The file that
// RITZ_CUBLAS names, else where the toolkit is (devices/toolkit.h).
const char *ritz_cublas_find(const char **why);
// The library was found, the device is of ritz_cuda.
int ritz_cublas_create(Ceed ceed, RitzDevice device, RitzCublas *blas);
void ritz_cublas_destroy(Ceed ceed, RitzCublas *blas); // *blas becomes NULL; NULL is fine
// Queues the product on the stream: one call of GEMM, or of the strided batch where there are several.
int ritz_cublas_multiply(Ceed ceed, RitzCublas blas, RitzDeviceStream stream,
                         const RitzCublasProduct *product);

#endif
