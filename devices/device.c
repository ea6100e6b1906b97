// SPDX-License-Identifier: BSD-2-Clause
// What all drivers share (contract in devices/device.h).
#include "devices/device.h"

#include "base/memory.h"

void ritz_device_code_free(RitzDeviceCode *code) {
  RITZ_FREE(&code->bytes);
  RITZ_FREE(&code->log);
  code->num_bytes = 0;
}
