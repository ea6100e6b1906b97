// SPDX-License-Identifier: BSD-2-Clause
// The state of a fake CUDA driver: what tests tell it to be and what it has seen. It is got from the loaded
// library by the name fake_cuda.
#ifndef RITZ_TESTS_FAKE_CUDA_H
#define RITZ_TESTS_FAKE_CUDA_H

#include "devices/cuda-api.h"

typedef struct {
  // To be set; zeros: a driver of CUDA 12.4 with two devices sm_90 of 1 MiB.
  int version, num_devices, arch;
  const char *failing; // calls of this name end with `failure`
  CUresult failure;
  int is_capturing; // all streams are
  int is_idle;      // kernels are counted and not run, whatever their arguments are
  // Seen.
  size_t num_queued; // pieces of work that nobody has waited for
  int depth;         // of the stack of contexts
  CUcontext current; // NULL: none
  int num_memories, num_streams, num_events, num_modules, num_graphs, num_execs; // that are left
  int num_instantiations, num_replays, num_updates, num_raised; // calls; raised: limits of shared memory
  int num_kernels, num_copies, num_moments; // queued; copies: to the host; moments: recorded or waited for
  unsigned shared_bytes;                    // of the last kernel
} FakeCuda;

typedef FakeCuda *(*FakeCudaState)(void); // fake_cuda

#endif
