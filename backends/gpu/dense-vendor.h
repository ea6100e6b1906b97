// SPDX-License-Identifier: BSD-2-Clause
// Factorizations of the dense solver by the vendor's library (dense-vendor.c). Called by dense.c.
#ifndef RITZ_BACKENDS_GPU_DENSE_VENDOR_H
#define RITZ_BACKENDS_GPU_DENSE_VENDOR_H

#include "backends/gpu/context.h"

typedef struct RitzGpuDenseVendor RitzGpuDenseVendor; // work memory of the library
typedef struct {
  bool is_symmetric, is_double;
  int64_t n, ld;
  void *F;           // [n][ld]
  int *pivots, *bad; // as own kernels leave them
} RitzGpuDenseFactors;
// File of the library, static; NULL: there is none that can be used, and *why says so (static).
const char *ritz_gpu_dense_vendor_find(Ceed ceed, const char **why);
// The library was found. *vendor: NULL at first, the caller's.
int ritz_gpu_dense_vendor_factor(Ceed ceed, const RitzGpuDenseFactors *factors, RitzGpuDenseVendor **vendor);
size_t ritz_gpu_dense_vendor_bytes(const RitzGpuDenseVendor *vendor); // of device memory; NULL: 0
void ritz_gpu_dense_vendor_destroy(Ceed ceed, RitzGpuDenseVendor **vendor);

#endif
