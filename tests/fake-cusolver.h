// SPDX-License-Identifier: BSD-2-Clause
// The state of a fake cuSOLVER: what tests tell it to be and what it has seen. It is got from the loaded
// library by the name fake_cusolver.
#ifndef RITZ_TESTS_FAKE_CUSOLVER_H
#define RITZ_TESTS_FAKE_CUSOLVER_H

#include <stddef.h>

enum { FAKE_DEVICE_BYTES = 24, FAKE_HOST_BYTES = 40 }; // that a factorization asks for

typedef struct {
  // To be set.
  const char *failing; // the call of this name ends with `failure`
  int failure;
  // Seen.
  int num_handles, num_params; // that are left
  int num_factorizations;
  int num_outside; // calls while no context of the fake driver was current
  void *stream;    // of the last factorization
} FakeCusolver;

typedef FakeCusolver *(*FakeCusolverState)(void); // fake_cusolver

#endif
