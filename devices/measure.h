// SPDX-License-Identifier: BSD-2-Clause
// What a device can do at best: measure.c, for devices/public.c.
#ifndef RITZ_DEVICES_MEASURE_H
#define RITZ_DEVICES_MEASURE_H

#include <ritz/device.h>

#include "devices/device.h"

int ritz_device_measure(const RitzDriver *driver, RitzDevice device, RitzDeviceRates *rates);

#endif
