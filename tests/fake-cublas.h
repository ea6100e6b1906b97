// SPDX-License-Identifier: BSD-2-Clause
// The state of a fake cuBLAS: what tests tell it to be and what it has seen. It is got from the loaded
// library by the name fake_cublas.
#ifndef RITZ_TESTS_FAKE_CUBLAS_H
#define RITZ_TESTS_FAKE_CUBLAS_H

typedef struct {
  // To be set.
  const char *failing; // the call of this name ends with `failure`
  int failure;
  // Seen.
  int num_handles;               // that are left
  int num_products, num_batches; // calls of GEMM, of strided batches
  int num_outside;               // calls while no context of the fake driver was current
  void *stream;                  // of the last product
} FakeCublas;

typedef FakeCublas *(*FakeCublasState)(void); // fake_cublas

#endif
