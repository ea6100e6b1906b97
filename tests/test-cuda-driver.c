// SPDX-License-Identifier: BSD-2-Clause
// devices/cuda.c on a driver that is made for tests (fake-cuda.c): devices are found or the reason is told;
// memory, order and kernels keep the contract of devices/device.h; every call leaves the caller's context as
// it was; errors name the call; what is given back after the driver has shut down is no error. The fakes are
// loaded before the library looks for NVIDIA's, whose names they have.
#include "tests/tap.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/memory.h"
#include "devices/device.h"
#include "tests/fake-cuda.h"

// Both kernels: (RitzLong n, int first, CeedScalar step, CeedScalar *x), x[i] = first + i * step for i < n.
static const char ramp_text[] = "ramp second_ramp";

static FakeCuda *load_driver(void) {
  FakeCudaState get_state = NULL;
  void *library = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);

  if (library) ritz_find_symbol(library, "fake_cuda", &get_state);
  return get_state ? get_state() : NULL;
}

static FakeCuda *load_fakes(void) {
  unsetenv("CUDA_HOME");
  unsetenv("CUDA_PATH");
  return dlopen(FAKE_NVRTC, RTLD_NOW | RTLD_LOCAL) ? load_driver() : NULL;
}

// ---- What is found: once in a process, hence each in a child ----

typedef struct {
  int count, found_compiler;
  char why[512];
} Found;

static Found look(const FakeCuda *driver, int with_compiler) {
  Found found = {-1, 0, ""};
  int ends[2];

  if (pipe(ends)) return found;
  const pid_t child = fork();
  if (child == 0) {
    const char *why;
    FakeCuda *fake = with_compiler ? load_fakes() : load_driver();
    *fake = *driver;
    found.found_compiler = ritz_nvrtc_version(&why) != NULL;
    found.count = ritz_cuda.count(&why);
    snprintf(found.why, sizeof(found.why), "%s", why ? why : "");
    _exit(write(ends[1], &found, sizeof(found)) == sizeof(found) ? 0 : 1);
  }
  close(ends[1]);
  if (read(ends[0], &found, sizeof(found)) != sizeof(found)) found.count = -1;
  close(ends[0]);
  waitpid(child, NULL, 0);
  return found;
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

  if (found.found_compiler) {
    tap_note("this machine has a compiler");
    return;
  }
  CHECK(found.count == 0 && strstr(found.why, "libnvrtc.so") && strstr(found.why, "CUDA_HOME"), "%s",
        found.why);
}

// ---- The devices of this process ----

typedef struct {
  FakeCuda *fake;
  Ceed ceed;
  RitzDevice device;
} Kit;

// Device 0; false: a check has failed.
static int begin(Kit *kit) {
  const char *why;

  kit->fake = load_fakes();
  kit->ceed = tap_ceed("/cpu/self/ref");
  kit->device = NULL;
  return tap_check(kit->fake != NULL, __FILE__, __LINE__, "fakes", "cannot be loaded") &&
         tap_check(ritz_cuda.count(&why) == 2, __FILE__, __LINE__, "count", "%s", why ? why : "") &&
         tap_check_ok(ritz_cuda.open(kit->ceed, 0, &kit->device), __FILE__, __LINE__, "open");
}

// Nothing is left on the device, and no context is current.
static void end(Kit *kit) {
  const FakeCuda *fake = kit->fake;

  CHECK(!fake->num_memories && !fake->num_streams && !fake->num_events && !fake->num_modules,
        "%d memories, %d streams, %d events, %d modules are left", fake->num_memories, fake->num_streams,
        fake->num_events, fake->num_modules);
  CHECK(fake->depth == 0, "%d contexts are current", fake->depth);
  CeedDestroy(&kit->ceed);
}

TEST(a_device_is_described_and_stays_open) {
  Kit kit;
  RitzDevice again, other;
  int64_t num_free;

  if (!begin(&kit)) return;
  const RitzDeviceInfo *info = ritz_cuda.info(kit.device);
  CHECK(info->driver == &ritz_cuda && info->index == 0, "driver and index");
  CHECK(!strcmp(info->name, "Fake") && !strcmp(info->arch, "sm_90"), "%s %s", info->name, info->arch);
  CHECK(strstr(info->version, "12.4") && strstr(info->version, "NVRTC 12.4"), "%s", info->version);
  CHECK(info->num_bytes == 1 << 20 && info->num_units == 132 && info->warp_size == 32, "sizes");
  CHECK(info->max_threads == 1024 && info->local_bytes == 49152 && info->adds_atomically, "limits");
  CHECK_OK(ritz_cuda.memory(kit.ceed, kit.device, &num_free));
  CHECK(num_free == 1 << 20, "%lld bytes are free", (long long)num_free);
  CHECK_OK(ritz_cuda.open(kit.ceed, 0, &again));
  CHECK_OK(ritz_cuda.open(kit.ceed, 1, &other));
  CHECK(again == kit.device && other != kit.device && ritz_cuda.info(other)->index == 1, "handles");
  end(&kit);
}

TEST(data_go_to_the_device_within_it_and_back) {
  enum { n = 100 };
  double in[n], out[n], *x, *y;
  Kit kit;

  if (!begin(&kit)) return;
  for (int i = 0; i < n; i++) in[i] = i;
  CHECK_OK(ritz_cuda.alloc(kit.ceed, kit.device, sizeof(in), (void **)&x));
  CHECK_OK(ritz_cuda.alloc(kit.ceed, kit.device, sizeof(in), (void **)&y));
  CHECK((uintptr_t)x % 256 == 0, "alignment");
  CHECK_OK(ritz_cuda.copy_in(kit.ceed, kit.device, NULL, sizeof(in), x, in));
  for (int i = 0; i < n; i++) in[i] = -1; // the caller's again
  CHECK_OK(ritz_cuda.copy(kit.ceed, kit.device, NULL, sizeof(in), y, x));
  CHECK_OK(ritz_cuda.clear(kit.ceed, kit.device, NULL, sizeof(double), y + 7));
  CHECK_OK(ritz_cuda.copy_out(kit.ceed, kit.device, NULL, sizeof(out), out, y));
  for (int i = 0; i < n; i++) CHECK(out[i] == (i == 7 ? 0 : i), "entry %d is %g", i, out[i]);
  CHECK_OK(ritz_cuda.free(kit.ceed, kit.device, x));
  CHECK_OK(ritz_cuda.free(kit.ceed, kit.device, y));
  end(&kit);
}

TEST(memory_is_found_by_any_address_in_it_on_its_own_device) {
  Kit kit;
  RitzDevice other;
  double on_host[4];
  char *x;
  void *start;
  size_t num_bytes;

  if (!begin(&kit)) return;
  CHECK_OK(ritz_cuda.open(kit.ceed, 1, &other));
  CHECK_OK(ritz_cuda.alloc(kit.ceed, kit.device, 1000, (void **)&x));
  ritz_cuda.find(kit.device, x + 999, &start, &num_bytes);
  CHECK(start == x && num_bytes == 1000, "%zu bytes", num_bytes);
  ritz_cuda.find(other, x, &start, &num_bytes);
  CHECK(!start && !num_bytes, "found on another device");
  ritz_cuda.find(kit.device, on_host, &start, &num_bytes);
  CHECK(!start && !num_bytes, "found an array of the host");
  CHECK_OK(ritz_cuda.free(kit.ceed, kit.device, x));
  end(&kit);
}

TEST(where_memory_is_short_the_message_says_how_much_was_wanted_and_is_free) {
  Kit kit;
  void *p;

  if (!begin(&kit)) return;
  CHECK_ERROR(kit.ceed, ritz_cuda.alloc(kit.ceed, kit.device, 2 << 20, &p), CEED_ERROR_MAJOR,
              "cuMemAlloc: 2097152 bytes wanted, 1048576 of 1048576 free: out of memory");
  CHECK(!p, "memory of a failed call");
  end(&kit);
}

TEST(streams_and_events_order_and_time_work) {
  Kit kit;
  RitzDeviceStream stream;
  RitzDeviceEvent first, second;
  double seconds;

  if (!begin(&kit)) return;
  CHECK_OK(ritz_cuda.stream_create(kit.ceed, kit.device, &stream));
  CHECK_OK(ritz_cuda.event_create(kit.ceed, kit.device, &first));
  CHECK_OK(ritz_cuda.event_create(kit.ceed, kit.device, &second));
  CHECK_OK(ritz_cuda.event_record(kit.ceed, kit.device, NULL, first));
  CHECK_OK(ritz_cuda.event_wait(kit.ceed, kit.device, stream, first));
  CHECK_OK(ritz_cuda.event_record(kit.ceed, kit.device, stream, second));
  CHECK_OK(ritz_cuda.synchronize(kit.ceed, kit.device, stream));
  CHECK_OK(ritz_cuda.event_elapsed(kit.ceed, kit.device, first, second, &seconds));
  CHECK_NEAR(seconds, 1.0, 1e-6, "events are a second apart, in milliseconds as float");
  CHECK_OK(ritz_cuda.event_destroy(kit.ceed, kit.device, &first));
  CHECK_OK(ritz_cuda.event_destroy(kit.ceed, kit.device, &second));
  CHECK_OK(ritz_cuda.event_destroy(kit.ceed, kit.device, &second));
  CHECK_OK(ritz_cuda.stream_destroy(kit.ceed, kit.device, stream));
  end(&kit);
}

// ---- Code ----

static int compile_and_load(const Kit *kit, RitzDeviceProgram *program) {
  RitzDeviceCode code;
  int ierr = ritz_cuda.compile(kit->ceed, kit->device, "ramp.cu", ramp_text, &code);

  if (!ierr) ierr = ritz_cuda.load(kit->ceed, kit->device, code.num_bytes, code.bytes, program);
  ritz_device_code_free(&code);
  return ierr;
}

TEST(a_kernel_gets_its_arguments_blocks_and_threads) {
  enum { n = 1000 };
  CeedScalar out[n], *x;
  Kit kit;
  RitzDeviceProgram program;
  RitzDeviceKernel kernel;

  if (!begin(&kit)) return;
  CHECK_OK(compile_and_load(&kit, &program));
  CHECK_OK(ritz_cuda.kernel(kit.ceed, program, "ramp", &kernel));
  CHECK_OK(ritz_cuda.alloc(kit.ceed, kit.device, sizeof(out), (void **)&x));
  CHECK_OK(ritz_cuda.clear(kit.ceed, kit.device, NULL, sizeof(out), x));
  RitzDeviceArg args[] = {{RITZ_ARG_LONG, {.l = n - 1}},
                          {RITZ_ARG_INT, {.i = -3}},
                          {RITZ_ARG_SCALAR, {.s = (CeedScalar)0.5}},
                          {RITZ_ARG_POINTER, {.p = x}}};
  CHECK_OK(ritz_cuda.launch(kit.ceed, kernel, NULL, 4, 256, 4, args));
  memset(args, 0, sizeof(args)); // the caller's again
  CHECK_OK(ritz_cuda.copy_out(kit.ceed, kit.device, NULL, sizeof(out), out, x));
  for (int i = 0; i < n; i++) {
    const CeedScalar wanted = i < n - 1 ? (CeedScalar)(0.5 * i - 3) : 0;
    CHECK(out[i] == wanted, "entry %d is %g", i, (double)out[i]);
  }
  CHECK_OK(ritz_cuda.unload(kit.ceed, kit.device, &program));
  CHECK_OK(ritz_cuda.free(kit.ceed, kit.device, x));
  end(&kit);
}

TEST(a_kernel_is_kept_and_described) {
  Kit kit;
  RitzDeviceProgram program;
  RitzDeviceKernel kernel, second, again, missing;
  RitzDeviceKernelInfo info;

  if (!begin(&kit)) return;
  CHECK_OK(compile_and_load(&kit, &program));
  CHECK_OK(ritz_cuda.kernel(kit.ceed, program, "ramp", &kernel));
  CHECK_OK(ritz_cuda.kernel(kit.ceed, program, "second_ramp", &second));
  CHECK_OK(ritz_cuda.kernel(kit.ceed, program, "ramp", &again));
  CHECK(kernel == again && kernel != second, "two kernels of one name, or one of two");
  CHECK_ERROR(kit.ceed, ritz_cuda.kernel(kit.ceed, program, "slope", &missing), CEED_ERROR_BACKEND,
              "cuModuleGetFunction: kernel 'slope': ");
  CHECK_OK(ritz_cuda.kernel_info(kit.ceed, kernel, &info));
  CHECK(info.max_threads == 512 && info.registers == 40 && info.local_bytes == 2048 && info.spill_bytes == 24,
        "%d threads, %d registers", info.max_threads, info.registers);
  CHECK_OK(ritz_cuda.unload(kit.ceed, kit.device, &program));
  CHECK(!program, "a handle of what is gone");
  CHECK_OK(ritz_cuda.unload(kit.ceed, kit.device, &program));
  end(&kit);
}

TEST(a_refused_text_is_no_error_and_a_refused_launch_names_the_kernel) {
  Kit kit;
  RitzDeviceCode code;
  RitzDeviceProgram program;
  RitzDeviceKernel kernel;
  RitzDeviceArg args[] = {
      {.kind = RITZ_ARG_LONG}, {.kind = RITZ_ARG_INT}, {.kind = RITZ_ARG_SCALAR}, {.kind = RITZ_ARG_POINTER}};

  if (!begin(&kit)) return;
  CHECK_OK(ritz_cuda.compile(kit.ceed, kit.device, "a.cu", "wrong", &code));
  CHECK(!code.bytes && !strcmp(code.log, "refused"), "%s", code.log);
  ritz_device_code_free(&code);
  CHECK_OK(compile_and_load(&kit, &program));
  CHECK_OK(ritz_cuda.kernel(kit.ceed, program, "ramp", &kernel));
  CHECK_ERROR(kit.ceed, ritz_cuda.launch(kit.ceed, kernel, NULL, 3, 1000, 4, args), CEED_ERROR_BACKEND,
              "cuLaunchKernel: kernel 'ramp', 3 blocks of 1000 threads: something else");
  CHECK_ERROR(kit.ceed, ritz_cuda.launch(kit.ceed, kernel, NULL, INT64_C(1) << 31, 32, 4, args),
              CEED_ERROR_BACKEND, "at most 2147483647");
  CHECK_OK(ritz_cuda.unload(kit.ceed, kit.device, &program));
  end(&kit);
}

TEST(code_that_the_driver_does_not_take_is_an_error_with_a_way_out) {
  Kit kit;
  RitzDeviceProgram program;

  if (!begin(&kit)) return;
  kit.fake->failing = "cuModuleLoadData";
  kit.fake->failure = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  CHECK_ERROR(kit.ceed, compile_and_load(&kit, &program), CEED_ERROR_BACKEND, "update the driver");
  CHECK(!program, "a program of a failed call");
  kit.fake->failing = NULL;
  end(&kit);
}

// ---- Surroundings ----

TEST(the_caller_keeps_the_context_that_was_current) {
  Kit kit;
  RitzDevice other;
  CUcontext own;
  double x = 1;
  void *p;
  int index;

  if (!begin(&kit)) return;
  CHECK_OK(ritz_cuda.choose(kit.ceed, &index));
  CHECK(index == 0, "without a context device %d is meant", index);
  CHECK_OK(ritz_cuda.open(kit.ceed, 1, &other));
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  RitzCudaApi api;
  ritz_find_symbol(library, "cuDevicePrimaryCtxRetain", &api.context_retain);
  ritz_find_symbol(library, "cuCtxPushCurrent_v2", &api.context_push);
  ritz_find_symbol(library, "cuCtxPopCurrent_v2", &api.context_pop);
  CHECK(!api.context_retain(&own, 101) && !api.context_push(own), "context of the program");
  CHECK_OK(ritz_cuda.choose(kit.ceed, &index));
  CHECK(index == 1, "device %d is meant", index);
  CHECK_OK(ritz_cuda.alloc(kit.ceed, kit.device, sizeof(x), &p));
  CHECK_OK(ritz_cuda.copy_in(kit.ceed, kit.device, NULL, sizeof(x), p, &x));
  kit.fake->failing = "cuMemcpyHtoDAsync_v2";
  kit.fake->failure = CUDA_ERROR_INVALID_VALUE;
  CHECK_ERROR(kit.ceed, ritz_cuda.copy_in(kit.ceed, kit.device, NULL, sizeof(x), p, &x), CEED_ERROR_BACKEND,
              "cuMemcpyHtoDAsync: 8 bytes");
  kit.fake->failing = NULL;
  CHECK_OK(ritz_cuda.free(kit.ceed, kit.device, p));
  CHECK(kit.fake->current == own && kit.fake->depth == 1, "another context is current");
  api.context_pop(&own);
  end(&kit);
}

TEST(what_is_given_back_after_the_driver_has_shut_down_is_no_error) {
  static const CUresult gone[] = {CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_CONTEXT_IS_DESTROYED};
  Kit kit;
  void *p;

  if (!begin(&kit)) return;
  CHECK_OK(ritz_cuda.alloc(kit.ceed, kit.device, 8, &p));
  for (int i = 0; i < 2; i++) {
    RitzDeviceProgram program;
    CHECK_OK(compile_and_load(&kit, &program));
    kit.fake->num_modules--; // gone with the driver
    kit.fake->failing = "cuCtxPushCurrent_v2";
    kit.fake->failure = gone[i];
    CHECK_OK(ritz_cuda.free(kit.ceed, kit.device, p));
    CHECK_OK(ritz_cuda.unload(kit.ceed, kit.device, &program));
    CHECK_ERROR(kit.ceed, ritz_cuda.synchronize(kit.ceed, kit.device, NULL), CEED_ERROR_BACKEND,
                "cuCtxPushCurrent: device 0");
    kit.fake->failing = NULL;
  }
  CHECK_OK(ritz_cuda.free(kit.ceed, kit.device, p));
  end(&kit);
}

TEST(a_forked_child_gives_back_what_it_has_inherited) {
  Kit kit;
  void *p;
  int status = 1;

  if (!begin(&kit)) return;
  CHECK_OK(ritz_cuda.alloc(kit.ceed, kit.device, 8, &p));
  const pid_t child = fork();
  if (child == 0) _exit(ritz_cuda.free(kit.ceed, kit.device, p) ? 1 : 0);
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "the child ended with %d", status);
  CHECK_OK(ritz_cuda.free(kit.ceed, kit.device, p));
  end(&kit);
}

// Every allocation of the library fails once.
TEST(programs_and_kernels_survive_a_lack_of_memory) {
  Kit kit;
  RitzDeviceProgram program = NULL;
  RitzDeviceKernel kernel;
  int num_failures = 0;

  if (!begin(&kit)) return;
  for (int ierr = 1; ierr; num_failures++) {
    ritz_memory_fail_at(num_failures + 1);
    ierr = compile_and_load(&kit, &program);
    if (!ierr) ierr = ritz_cuda.kernel(kit.ceed, program, "ramp", &kernel);
    ritz_memory_fail_at(0);
    CHECK(!ierr || ierr == CEED_ERROR_MAJOR, "code %d", ierr);
    CHECK_OK(ritz_cuda.unload(kit.ceed, kit.device, &program));
  }
  CHECK(num_failures > 4, "%d allocations", num_failures - 1);
  end(&kit);
}

int main(int argc, char **argv) {
  setenv("RITZ_TEST_BACKENDS", "/cpu", 1); // looking for others would find a real driver before ours
  unsetenv("RITZ_TEST_REQUIRE");
  return tap_main(
      argc, argv,
      TESTS(devices_are_counted_without_a_reason, a_driver_that_is_too_old_is_told_with_its_version,
            a_machine_without_devices_is_told_in_the_words_of_the_driver, a_device_without_a_compiler_is_none,
            a_device_is_described_and_stays_open, data_go_to_the_device_within_it_and_back,
            memory_is_found_by_any_address_in_it_on_its_own_device,
            where_memory_is_short_the_message_says_how_much_was_wanted_and_is_free,
            streams_and_events_order_and_time_work, a_kernel_gets_its_arguments_blocks_and_threads,
            a_kernel_is_kept_and_described, a_refused_text_is_no_error_and_a_refused_launch_names_the_kernel,
            code_that_the_driver_does_not_take_is_an_error_with_a_way_out,
            the_caller_keeps_the_context_that_was_current,
            what_is_given_back_after_the_driver_has_shut_down_is_no_error,
            a_forked_child_gives_back_what_it_has_inherited, programs_and_kernels_survive_a_lack_of_memory));
}
