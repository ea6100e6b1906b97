// SPDX-License-Identifier: BSD-2-Clause
// Dense factorizations by NVIDIA's cuSOLVER, looked up with dlopen once in a process. Called by
// backends/gpu/dense-vendor.c. Errors as devices/device.h says.
#ifndef RITZ_DEVICES_CUSOLVER_H
#define RITZ_DEVICES_CUSOLVER_H

#include "devices/device.h"

typedef struct RitzCusolver_private *RitzCusolver; // a handle of one device

// A matrix in device memory, column-major, that its factors replace: LU with pivots, or Cholesky of the lower
// triangle.
typedef struct {
  bool is_symmetric, is_double;
  int64_t n, ld;
  void *F;
  int64_t *pivots; // [n], from 1; NULL where it is symmetric
  int *info;       // 0, or the number of a zero pivot, of a leading minor that is not positive
} RitzCusolverMatrix;

enum { RITZ_CUSOLVER_DEVICE, RITZ_CUSOLVER_HOST, RITZ_CUSOLVER_NUM_WORK };

// File of the library, static; NULL: there is none that can be used, and *why says so (static). The file that
// RITZ_CUSOLVER names, else where the toolkit is (devices/toolkit.h).
const char *ritz_cusolver_find(const char **why);
// The library was found, the device is of ritz_cuda.
int ritz_cusolver_create(Ceed ceed, RitzDevice device, RitzCusolver *solver);
void ritz_cusolver_destroy(Ceed ceed, RitzCusolver *solver); // *solver becomes NULL; NULL is fine
// Bytes that a factorization needs to work in, on the device and on the host.
int ritz_cusolver_bytes(Ceed ceed, RitzCusolver solver, const RitzCusolverMatrix *matrix,
                        size_t num_bytes[RITZ_CUSOLVER_NUM_WORK]);
// Queues it on the stream. Memory to work in stays the caller's, until the stream's work is done.
int ritz_cusolver_factor(Ceed ceed, RitzCusolver solver, RitzDeviceStream stream,
                         const RitzCusolverMatrix *matrix, const size_t num_bytes[RITZ_CUSOLVER_NUM_WORK],
                         void *const work[RITZ_CUSOLVER_NUM_WORK]);

#endif
