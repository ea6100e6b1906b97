// SPDX-License-Identifier: BSD-2-Clause
// What fakes of NVIDIA's libraries share: exported calls that see whether a context of the fake driver is
// current, and fail where a test wants it. Included by fake-cublas.c and fake-cusolver.c.
#ifndef RITZ_TESTS_FAKE_LIBRARY_H
#define RITZ_TESTS_FAKE_LIBRARY_H

#include <string.h>

#include "devices/cuda-api.h"

#define EXPORTED __attribute__((visibility("default")))

// `fake` has failing, failure and num_outside.
#define DEFINE(name, args)                                                                                   \
  EXPORTED int name args;                                                                                    \
  int name args
#define BEGIN()                                                                                              \
  do {                                                                                                       \
    fake.num_outside += !fake_has_context();                                                                 \
    if (fake.failing && !strcmp(fake.failing, __func__)) return fake.failure;                                \
  } while (0)

static int fake_has_context(void) {
  CUresult (*get_device)(CUdevice *) = NULL;
  CUdevice device;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD); // the fake one is there by this name
  if (driver) ritz_find_symbol(driver, "cuCtxGetDevice", &get_device);
  return get_device && !get_device(&device);
}

#endif
