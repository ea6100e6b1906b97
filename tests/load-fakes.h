// SPDX-License-Identifier: BSD-2-Clause
// Loads the fake driver and compiler of CUDA, before anybody looks for others. Included by the tests that
// want them.
#ifndef RITZ_TESTS_LOAD_FAKES_H
#define RITZ_TESTS_LOAD_FAKES_H

#include <dlfcn.h>
#include <stdlib.h>

#include "tests/fake-cuda.h"

static inline void fakes_forget_toolkits(void) {
  unsetenv("CUDA_HOME");
  unsetenv("CUDA_PATH");
  unsetenv("RITZ_NVRTC");
}

// NULL: it is not there.
static inline FakeCuda *fakes_load_driver(void) {
  FakeCudaState get_state = NULL;
  void *driver = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);

  if (driver) ritz_find_symbol(driver, "fake_cuda", &get_state);
  return get_state ? get_state() : NULL;
}

// The compiler, too.
static inline FakeCuda *fakes_load(void) {
  return dlopen(FAKE_NVRTC, RTLD_NOW | RTLD_LOCAL) ? fakes_load_driver() : NULL;
}

// Both, for contexts: nothing that is compiled is kept.
static inline FakeCuda *fakes_load_for_contexts(void) {
  fakes_forget_toolkits();
  setenv("RITZ_CACHE", "off", 1);
  return fakes_load();
}

#endif
