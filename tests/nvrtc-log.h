// SPDX-License-Identifier: BSD-2-Clause
// Reads the logs of NVIDIA's run-time compiler. Included by tests/nvrtc-kit.h, test-nvrtc.c and
// test-batched-device.c.
#ifndef RITZ_TESTS_NVRTC_LOG_H
#define RITZ_TESTS_NVRTC_LOG_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Bytes that all kernels of a log spill, stores and loads; -1: the log does not say.
static inline int64_t nvrtc_spills(const char *log) {
  static const char *const words[] = {" bytes spill stores", " bytes spill loads"};
  int64_t sum = -1;

  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
    for (const char *p = strstr(log, words[i]); p; p = strstr(p + 1, words[i])) {
      const char *number = p;
      while (number > log && number[-1] >= '0' && number[-1] <= '9') number--;
      sum = (sum < 0 ? 0 : sum) + strtoll(number, NULL, 10);
    }
  }
  return sum;
}

#endif
