// SPDX-License-Identifier: BSD-2-Clause
// What ritz/device.h tells: drivers and devices, rates, the counters of a context.
#include <ritz/device.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

TEST(a_driver_has_devices_or_a_reason) {
  CeedInt num = 0;
  CHECK_OK(RitzDeviceGetNumDrivers(&num));
  CHECK(num >= 2, "%d drivers", (int)num);
  for (CeedInt i = 0; i < num; i++) {
    RitzDriverFacts driver;
    CHECK_OK(RitzDeviceGetDriver(i, &driver));
    tap_note("%s: %d devices%s%s", driver.name, (int)driver.num_devices, driver.reason ? ": " : "",
             driver.reason ? driver.reason : "");
    CHECK((driver.num_devices > 0) == !driver.reason, "%s", driver.name);
    CHECK(driver.num_devices > 0 || (driver.reason[0] && !strchr(driver.reason, '\n')), "%s", driver.name);
  }
}

// The thread that starts it and who asks meanwhile see one driver.
TEST(a_driver_that_is_being_started_answers_when_it_has_started) {
  static const char *const names[] = {"/gpu/opencl/gen:device_id=0", "opencl", "/gpu/cuda", "/cpu/self", ""};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) CHECK_OK(RitzDeviceStart(names[i]));
  CHECK_ERROR(NULL, RitzDeviceStart(NULL), CEED_ERROR_INCOMPATIBLE, "no name");
  a_driver_has_devices_or_a_reason_body();
}

TEST(every_device_can_be_opened_and_has_a_name_and_memory) {
  CeedInt num = 0, num_devices = 0;
  CHECK_OK(RitzDeviceGetNumDrivers(&num));
  for (CeedInt i = 0; i < num; i++) {
    RitzDriverFacts driver;
    CHECK_OK(RitzDeviceGetDriver(i, &driver));
    num_devices += driver.num_devices;
    for (CeedInt k = 0; k < driver.num_devices; k++) {
      RitzDeviceFacts facts;
      CHECK_OK(RitzDeviceGetInfo(driver.name, k, &facts));
      CHECK(facts.name[0] && facts.arch[0] && facts.version[0], "%s %d", driver.name, (int)k);
      CHECK(facts.num_bytes > 0 && facts.free_bytes <= facts.num_bytes, "%s", facts.name);
      CHECK(facts.num_units > 0 && facts.shared_bytes >= 16 << 10, "%s", facts.name);
    }
  }
  if (!num_devices) SKIP("there is no device");
}

TEST(what_does_not_exist_is_refused) {
  RitzDriverFacts driver;
  RitzDeviceFacts facts;
  RitzDeviceRates rates;
  CeedInt num = 0;
  CHECK_OK(RitzDeviceGetNumDrivers(&num));
  CHECK_ERROR(NULL, RitzDeviceGetDriver(num, &driver), CEED_ERROR_DIMENSION, "past the end");
  CHECK_ERROR(NULL, RitzDeviceGetDriver(-1, &driver), CEED_ERROR_DIMENSION, "before the start");
  CHECK_ERROR(NULL, RitzDeviceGetInfo("abacus", 0, &facts), CEED_ERROR_DIMENSION, "no such driver");
  CHECK_ERROR(NULL, RitzDeviceGetInfo("cuda", 9999, &facts), CEED_ERROR_DIMENSION, "no such device");
  CHECK_ERROR(NULL, RitzDeviceMeasure("opencl", 9999, &rates), CEED_ERROR_DIMENSION, "no such device");
}

// Limits that any device made in this century keeps, and none that exists exceeds.
TEST(rates_of_devices_are_those_of_devices) {
  CeedInt num = 0, num_measured = 0;
  CHECK_OK(RitzDeviceGetNumDrivers(&num));
  for (CeedInt i = 0; i < num; i++) {
    RitzDriverFacts driver;
    RitzDeviceRates rates;
    CHECK_OK(RitzDeviceGetDriver(i, &driver));
    if (!driver.num_devices) continue;
    num_measured++;
    CHECK_OK(RitzDeviceMeasure(driver.name, 0, &rates));
    const double stream = (double)rates.stream_bandwidth, copy = (double)rates.copy_bandwidth;
    tap_note("%s: stream %.1f GB/s, copy %.1f GB/s, %.1f GFLOP/s", driver.name, 1e-9 * stream, 1e-9 * copy,
             1e-9 * (double)rates.flops);
    CHECK(stream > 1e8 && stream < 1e14, "%s", driver.name);
    CHECK(copy > 1e8 && copy < 1e14, "%s", driver.name);
    CHECK(rates.flops > 1e7 && (double)rates.flops < 1e16, "%s", driver.name);
  }
  if (!num_measured) SKIP("there is no device");
}

enum { LENGTH = 1000, BYTES = LENGTH * sizeof(CeedScalar) };

// Moves a vector to the device and back; differences of the counters.
static void move_and_return(Ceed ceed, RitzDeviceCounters *before, RitzDeviceCounters *between,
                            RitzDeviceCounters *after) {
  CeedScalar values[LENGTH] = {0};
  const CeedScalar *array = NULL;
  CeedVector x = NULL;
  CHECK_OK(RitzDeviceGetCounters(ceed, before));
  CHECK_OK(CeedVectorCreate(ceed, LENGTH, &x));
  CHECK_OK(CeedVectorSetArray(x, CEED_MEM_HOST, CEED_COPY_VALUES, values));
  CHECK_OK(CeedVectorScale(x, 2));
  CHECK_OK(RitzDeviceGetCounters(ceed, between));
  CHECK_OK(CeedVectorGetArrayRead(x, CEED_MEM_HOST, &array));
  CHECK_OK(CeedVectorRestoreArrayRead(x, &array));
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(RitzDeviceGetCounters(ceed, after));
}

TEST_EACH_BACKEND(counters_count_what_a_vector_moves) {
  RitzDeviceCounters before, between, after;
  move_and_return(ceed, &before, &between, &after);
  if (tap_failed()) return;
  if (!before.driver) {
    CHECK(!after.device && !between.bytes_in && !after.bytes_out && !after.bytes_peak, "zeros off devices");
    return;
  }
  CHECK(before.device[0], "the device has a name");
  CHECK(between.bytes_in - before.bytes_in == BYTES, "%lld bytes",
        (long long)(between.bytes_in - before.bytes_in));
  CHECK(between.bytes_out == before.bytes_out, "nothing comes back before it is asked for");
  CHECK(between.bytes_live - before.bytes_live >= BYTES, "memory for the vector");
  CHECK(after.bytes_out - before.bytes_out == BYTES, "%lld bytes",
        (long long)(after.bytes_out - before.bytes_out));
  CHECK(after.bytes_live == before.bytes_live, "the vector's memory is given back");
  CHECK(after.bytes_peak >= between.bytes_live, "the peak stays");
}

TEST_EACH_BACKEND(the_view_of_a_context_names_its_device) {
  RitzDeviceCounters counters;
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  CHECK(stream != NULL, "a stream into memory");
  int code = CeedView(ceed, stream);
  fclose(stream);
  CHECK_OK(code);
  CHECK_OK(RitzDeviceGetCounters(ceed, &counters));
  const bool is_named = counters.driver && strstr(text, counters.device) && strstr(text, "  Device Bytes: ");
  const bool is_silent = !strstr(text, "Device:");
  free(text);
  CHECK(counters.driver ? is_named : is_silent, "device %s", counters.driver ? counters.driver : "none");
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(a_driver_that_is_being_started_answers_when_it_has_started,
                        a_driver_has_devices_or_a_reason,
                        every_device_can_be_opened_and_has_a_name_and_memory, what_does_not_exist_is_refused,
                        rates_of_devices_are_those_of_devices, counters_count_what_a_vector_moves,
                        the_view_of_a_context_names_its_device));
}
