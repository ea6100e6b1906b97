// SPDX-License-Identifier: BSD-2-Clause
// What the tests of the emulated device share. Included by tests/test-check-device*.c.
#ifndef RITZ_TESTS_CHECK_DEVICE_H
#define RITZ_TESTS_CHECK_DEVICE_H

#include "backends/check/device.h"
#include "tests/api.h"
#include "tests/tap.h"

static const char *const device_resource = "/cpu/self/check:mem=device";

// Device memory with these values; NULL when that fails.
static inline void *device_copy(Ceed ceed, const void *values, size_t num_bytes) {
  void *p = NULL;
  if (ritz_check_device_alloc(ceed, num_bytes, &p)) return NULL;
  return memcpy(p, values, num_bytes);
}

#endif
