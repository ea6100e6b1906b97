// SPDX-License-Identifier: BSD-2-Clause
// Loads the fake driver and compiler of CUDA, before anybody looks for others, for tests of contexts on them.
// Included by test-nccl.c and test-mpi.c.
#ifndef RITZ_TESTS_LOAD_FAKES_H
#define RITZ_TESTS_LOAD_FAKES_H

#include <dlfcn.h>
#include <stdlib.h>

#include "tests/fake-cuda.h"

// NULL: it is not there. Nothing that is compiled is kept.
static inline FakeCuda *load_driver(void) {
  FakeCudaState get_state = NULL;

  unsetenv("CUDA_HOME");
  unsetenv("CUDA_PATH");
  unsetenv("RITZ_NVRTC");
  setenv("RITZ_CACHE", "off", 1);
  if (!dlopen(FAKE_NVRTC, RTLD_NOW | RTLD_LOCAL)) return NULL;
  void *driver = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  if (driver) ritz_find_symbol(driver, "fake_cuda", &get_state);
  return get_state ? get_state() : NULL;
}

#endif
