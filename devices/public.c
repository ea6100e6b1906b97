// SPDX-License-Identifier: BSD-2-Clause
// The public functions of ritz/device.h that need no context. Called by programs and by `ritz info`.
#include <ritz/device.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "devices/device.h"
#include "devices/measure.h"

static const RitzDriver *const drivers[] = {&ritz_cuda, &ritz_opencl};
enum { NUM_DRIVERS = sizeof(drivers) / sizeof(drivers[0]) };

int RitzDeviceGetNumDrivers(CeedInt *num) {
  *num = NUM_DRIVERS;
  return CEED_ERROR_SUCCESS;
}

int RitzDeviceGetDriver(CeedInt i, RitzDriverFacts *facts) {
  RITZ_REQUIRE(i >= 0 && i < NUM_DRIVERS, NULL, CEED_ERROR_DIMENSION,
               "%s: driver %" CeedInt_FMT "; there are %d", __func__, i, NUM_DRIVERS);
  *facts = (RitzDriverFacts){.name = drivers[i]->name};
  const char *why;

  facts->num_devices = drivers[i]->count(&facts->reason);
  if (facts->num_devices > 0 && drivers[i]->compiler) facts->compiler = drivers[i]->compiler(&why);
  return CEED_ERROR_SUCCESS;
}

// ---- Starting ----

static RitzTask starting; // owned by the process

static void start_driver(void *data) {
  const RitzDriver *const *driver = data;
  const char *why;
  (void)(*driver)->count(&why); // who uses it is told
}

static void end_start(void) {
  if (starting) ritz_memory_adopt(starting);
  (void)ritz_task_end(&starting);
}

static bool names_driver(const char *name, const RitzDriver *driver) {
  static const char prefix[] = "/gpu/";
  const size_t length = strlen(driver->name);
  if (!strncmp(name, prefix, strlen(prefix))) name += strlen(prefix);
  return !strncmp(name, driver->name, length) && strchr("/:", name[length]);
}

int RitzDeviceStart(const char *name) {
  static atomic_flag has_started = ATOMIC_FLAG_INIT;
  RITZ_REQUIRE(name, NULL, CEED_ERROR_INCOMPATIBLE, "%s: the name is NULL", __func__);
  for (int i = 0; i < NUM_DRIVERS; i++) {
    if (!names_driver(name, drivers[i]) || atomic_flag_test_and_set(&has_started)) continue;
    RITZ_TRY(ritz_task_start(NULL, start_driver, (void *)&drivers[i], &starting));
    ritz_memory_give(starting);
    (void)atexit(end_start);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Facts ----

static int open_public_device(const char *call, const char *name, CeedInt index, const RitzDriver **driver,
                              RitzDevice *device) {
  const char *why = NULL;

  *driver = NULL;
  for (int i = 0; name && i < NUM_DRIVERS; i++) {
    if (!strcmp(drivers[i]->name, name)) *driver = drivers[i];
  }
  RITZ_REQUIRE(*driver, NULL, CEED_ERROR_DIMENSION, "%s: there is no driver '%s'", call,
               name ? name : "(NULL)");
  const int num = (*driver)->count(&why);
  RITZ_REQUIRE(index >= 0 && index < num, NULL, CEED_ERROR_DIMENSION,
               "%s: device %" CeedInt_FMT " of driver '%s', which has %d%s%s", call, index, name, num,
               why ? ": " : "", why ? why : "");
  return (*driver)->open(NULL, index, device);
}

int RitzDeviceGetInfo(const char *driver, CeedInt index, RitzDeviceFacts *facts) {
  const RitzDriver *table;
  RitzDevice device;

  RITZ_TRY(open_public_device(__func__, driver, index, &table, &device));
  const RitzDeviceInfo *info = table->info(device);
  *facts = (RitzDeviceFacts){
      .num_bytes = info->num_bytes, .num_units = info->num_units, .shared_bytes = info->shared_bytes};
  snprintf(facts->name, sizeof(facts->name), "%s", info->name);
  snprintf(facts->arch, sizeof(facts->arch), "%s", info->arch);
  snprintf(facts->version, sizeof(facts->version), "%s", info->version);
  return table->memory(NULL, device, &facts->free_bytes);
}

int RitzDeviceMeasure(const char *driver, CeedInt index, RitzDeviceRates *rates) {
  const RitzDriver *table;
  RitzDevice device;

  RITZ_TRY(open_public_device(__func__, driver, index, &table, &device));
  return ritz_device_measure(table, device, rates);
}
