// SPDX-License-Identifier: BSD-2-Clause
// What devices/cuda.c and devices/nvrtc.c find, on a driver and a compiler that are made for tests
// (fake-cuda.c): devices, or the reason why there are none.
#include <ritz/device.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devices/cuda-api.h"
#include "devices/device.h"
#include "tests/load-fakes.h"
#include "tests/tap.h"

// ---- What is found: once in a process, hence each in a child ----

typedef struct {
  int count, found_compiler;
  char why[512], compiler[512];
} Found;

// The compiler: the fake one, loaded before; or the file that RITZ_NVRTC names; or none.
static Found look_with(const FakeCuda *driver, int with_compiler, const char *file) {
  Found found = {.count = -1};
  RitzDriverFacts facts;
  int ends[2];

  if (pipe(ends)) return found;
  const pid_t child = fork();
  if (child == 0) {
    const char *why;
    fakes_forget_toolkits();
    if (file) setenv("RITZ_NVRTC", file, 1);
    FakeCuda *fake = with_compiler ? fakes_load() : fakes_load_driver();
    *fake = *driver;
    found.found_compiler = ritz_nvrtc_version(&why) != NULL;
    found.count = ritz_cuda.count(&why);
    if (RitzDeviceGetDriver(0, &facts) || !facts.compiler) facts.compiler = "";
    snprintf(found.compiler, sizeof(found.compiler), "%s", facts.compiler);
    snprintf(found.why, sizeof(found.why), "%s", why ? why : "");
    _exit(write(ends[1], &found, sizeof(found)) == sizeof(found) ? 0 : 1);
  }
  close(ends[1]);
  if (read(ends[0], &found, sizeof(found)) != sizeof(found)) found.count = -1;
  close(ends[0]);
  waitpid(child, NULL, 0);
  return found;
}

static Found look(const FakeCuda *driver, int with_compiler) {
  return look_with(driver, with_compiler, NULL);
}

TEST(devices_are_counted_without_a_reason) {
  Found found = look(&(FakeCuda){.num_devices = 2}, 1);

  CHECK(found.count == 2 && !*found.why, "%d devices: %s", found.count, found.why);
}

TEST(a_driver_that_is_too_old_is_told_with_its_version) {
  Found found = look(&(FakeCuda){.version = 11010}, 1);

  CHECK(found.count == 0 && strstr(found.why, "too old") && strstr(found.why, "11.1"), "%s", found.why);
  CHECK(!strchr(found.why, '\n'), "not one line: %s", found.why);
  found = look(&(FakeCuda){.version = 11020}, 1);
  CHECK(found.count == 2, "%d devices: %s", found.count, found.why);
}

TEST(a_machine_without_devices_is_told_in_the_words_of_the_driver) {
  Found found = look(&(FakeCuda){.failing = "cuInit", .failure = CUDA_ERROR_NO_DEVICE}, 1);

  CHECK(found.count == 0 && !strcmp(found.why, "cuInit: no CUDA-capable device is detected"), "%s",
        found.why);
}

TEST(a_device_without_a_compiler_is_none) {
  Found found = look(&(FakeCuda){.num_devices = 1}, 0);

  if (found.found_compiler) NOT_HERE("the loader finds a compiler without being told");
  CHECK(found.count == 0 && strstr(found.why, "libnvrtc.so") && strstr(found.why, "CUDA_HOME"), "%s",
        found.why);
}

TEST(a_file_that_is_named_is_the_compiler) {
  const FakeCuda driver = {.num_devices = 1};
  Found found = look_with(&driver, 0, FAKE_NVRTC);

  CHECK(found.count == 1 && found.found_compiler, "%s", found.why);
  CHECK(!strcmp(found.compiler, FAKE_NVRTC), "%s", found.compiler);
  found = look_with(&driver, 1, "/nowhere/libnvrtc.so"); // although the loader finds one
  CHECK(found.count == 0 && strstr(found.why, "/nowhere/libnvrtc.so: cannot open"), "%s", found.why);
  CHECK(!*found.compiler, "%s", found.compiler);
  found = look_with(&driver, 1, "libdl.so.2");
  CHECK(found.count == 0 && strstr(found.why, "libdl.so.2 has no function nvrtc"), "%s", found.why);
}

int main(int argc, char **argv) {
  setenv("RITZ_TEST_BACKENDS", "/cpu", 1); // looking for others would find a real driver before ours
  unsetenv("RITZ_TEST_REQUIRE");
  return tap_main(argc, argv,
                  TESTS(devices_are_counted_without_a_reason,
                        a_driver_that_is_too_old_is_told_with_its_version,
                        a_machine_without_devices_is_told_in_the_words_of_the_driver,
                        a_device_without_a_compiler_is_none, a_file_that_is_named_is_the_compiler));
}
