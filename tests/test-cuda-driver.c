// SPDX-License-Identifier: BSD-2-Clause
// devices/cuda.c on a driver that is made for tests (fake-cuda.c; what is found at all: test-cuda-found.c):
// memory, order and kernels keep the contract of devices/device.h; every call leaves the caller's context as
// it was; errors name the call; what is given back after the driver has shut down is no error. The fakes are
// loaded before the library looks for NVIDIA's, whose names they have.
#include "backends/gpu/operators.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <ritz/operator.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "devices/cublas.h"
#include "devices/cusolver.h"
#include "devices/device.h"
#include "tests/fake-cublas.h"
#include "tests/fake-cusolver.h"
#include "tests/gpu-kit.h"
#include "tests/load-fakes.h"

// Both kernels: (RitzLong n, int first, CeedScalar step, CeedScalar *x), x[i] = first + i * step for i < n.
static const char ramp_text[] = "ramp second_ramp";

// ---- The devices of this process ----

typedef struct {
  FakeCuda *fake;
  Ceed ceed;
  RitzDevice device;
} Kit;

// Device 0; false: a check has failed.
static int begin(Kit *kit) {
  const char *why;

  fakes_forget_toolkits();
  kit->fake = fakes_load();
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
  CHECK(!fake->num_graphs && !fake->num_execs, "%d graphs, %d of them to be run, are left", fake->num_graphs,
        fake->num_execs);
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
  CHECK(info->num_bytes == 1 << 25 && info->num_units == 132 && info->warp_size == 32, "sizes");
  CHECK(info->max_threads == 1024 && info->shared_bytes == 49152 && info->adds_atomically, "limits");
  CHECK(info->dynamic_shared_bytes == 232448, "shared memory, told at the launch");
  CHECK(info->shared_bytes_multiprocessor == 233472 && info->shared_bytes_reserved == 1024 &&
            info->registers_multiprocessor == 65536 && info->threads_multiprocessor == 2048 &&
            info->blocks_multiprocessor == 32,
        "limits of a multiprocessor");
  CHECK_OK(ritz_cuda.memory(kit.ceed, kit.device, &num_free));
  CHECK(num_free == 1 << 25, "%lld bytes are free", (long long)num_free);
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

// Long copies go through pinned buffers: two chunks and more, which no chunk's size divides.
TEST(long_arrays_go_to_the_device_and_back_through_pinned_buffers) {
  enum { chunk = 4 << 20 };
  const size_t sizes[] = {2 * chunk, 3 * chunk - 5, 4 * chunk + 13};
  Kit kit;

  if (!begin(&kit)) return;
  for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
    const size_t n = sizes[k];
    unsigned char *in = malloc(n), *out = calloc(n, 1);
    const int copies = kit.fake->num_copies;
    size_t num_wrong = 0;
    void *x;

    for (size_t i = 0; i < n; i++) in[i] = (unsigned char)(i * 2654435761U >> 13);
    CHECK_OK(ritz_cuda.alloc(kit.ceed, kit.device, n, &x));
    CHECK_OK(ritz_cuda.copy_in(kit.ceed, kit.device, NULL, n, x, in));
    CHECK_OK(ritz_cuda.copy_out(kit.ceed, kit.device, NULL, n, out, x));
    for (size_t i = 0; i < n; i++) num_wrong += in[i] != out[i];
    CHECK(num_wrong == 0, "%zu of %zu bytes are wrong", num_wrong, n);
    CHECK(kit.fake->num_copies - copies == (int)((n + chunk - 1) / chunk), "%d copies back",
          kit.fake->num_copies - copies);
    CHECK_OK(ritz_cuda.free(kit.ceed, kit.device, x));
    free(in);
    free(out);
  }
  end(&kit);
}

// The driver's own way serves where there is no pinned memory.
TEST(long_arrays_need_no_pinned_memory) {
  enum { n = 9 << 20 };
  unsigned char *in = malloc(n), *out = calloc(n, 1);
  Kit kit;
  void *x;

  if (!begin(&kit)) return;
  for (size_t i = 0; i < n; i++) in[i] = (unsigned char)(i >> 7);
  CHECK_OK(ritz_cuda.alloc(kit.ceed, kit.device, n, &x));
  kit.fake->failing = "cuMemHostAlloc";
  kit.fake->failure = CUDA_ERROR_OUT_OF_MEMORY;
  CHECK_OK(ritz_cuda.copy_in(kit.ceed, kit.device, NULL, n, x, in));
  CHECK_OK(ritz_cuda.copy_out(kit.ceed, kit.device, NULL, n, out, x));
  CHECK(!memcmp(in, out, n), "the bytes differ");
  kit.fake->failing = NULL;
  CHECK_OK(ritz_cuda.free(kit.ceed, kit.device, x));
  free(in);
  free(out);
  end(&kit);
}

TEST(a_long_copy_that_fails_gives_the_buffers_back) {
  enum { n = 13 << 20 };
  unsigned char *in = calloc(n, 1);
  Kit kit;
  void *x;

  if (!begin(&kit)) return;
  CHECK_OK(ritz_cuda.alloc(kit.ceed, kit.device, n, &x));
  for (int k = 0; k < 2; k++) {
    const int depth = kit.fake->depth;

    kit.fake->failing = k ? "cuMemcpyDtoHAsync_v2" : "cuMemcpyHtoDAsync_v2";
    kit.fake->failure = CUDA_ERROR_INVALID_VALUE;
    if (k)
      CHECK_ERROR(kit.ceed, ritz_cuda.copy_out(kit.ceed, kit.device, NULL, n, in, x), CEED_ERROR_BACKEND,
                  "13631488 bytes");
    else
      CHECK_ERROR(kit.ceed, ritz_cuda.copy_in(kit.ceed, kit.device, NULL, n, x, in), CEED_ERROR_BACKEND,
                  "13631488 bytes");
    kit.fake->failing = NULL;
    CHECK(kit.fake->depth == depth, "a context is left current");
    CHECK_OK(ritz_cuda.copy_in(kit.ceed, kit.device, NULL, n, x, in));
  }
  CHECK_OK(ritz_cuda.free(kit.ceed, kit.device, x));
  free(in);
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
  CHECK_ERROR(kit.ceed, ritz_cuda.alloc(kit.ceed, kit.device, 1 << 26, &p), CEED_ERROR_MAJOR,
              "cuMemAlloc: 67108864 bytes wanted, 33554432 of 33554432 free: out of memory");
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
  CHECK_OK(ritz_cuda.launch(kit.ceed, kernel, NULL, 4, 256, 0, 4, args));
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
  CHECK(info.max_threads == 512 && info.registers == 40 && info.shared_bytes == 2048 &&
            info.spill_bytes == 24,
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
  CHECK_ERROR(kit.ceed, ritz_cuda.launch(kit.ceed, kernel, NULL, 3, 1000, 0, 4, args), CEED_ERROR_BACKEND,
              "cuLaunchKernel: kernel 'ramp', 3 blocks of 1000 threads: something else");
  CHECK_ERROR(kit.ceed, ritz_cuda.launch(kit.ceed, kernel, NULL, INT64_C(1) << 31, 32, 0, 4, args),
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

// ---- Shared memory ----

TEST(a_kernel_may_use_as_much_memory_of_a_block_as_its_launches_ask_for) {
  static const int64_t nums[] = {0, 1000, 47104, 47105, 47105, 200000, 100000, 230400};
  static const int nums_raised[] = {0, 0, 0, 1, 1, 2, 2, 3};
  CeedScalar *x;
  Kit kit;
  RitzDeviceProgram program;
  RitzDeviceKernel kernel;

  if (!begin(&kit)) return;
  CHECK_OK(compile_and_load(&kit, &program));
  CHECK_OK(ritz_cuda.kernel(kit.ceed, program, "ramp", &kernel));
  CHECK_OK(ritz_cuda.alloc(kit.ceed, kit.device, 256 * sizeof(*x), (void **)&x));
  const RitzDeviceArg args[] = {{RITZ_ARG_LONG, {.l = 256}},
                                {RITZ_ARG_INT, {.i = 0}},
                                {RITZ_ARG_SCALAR, {.s = 1}},
                                {RITZ_ARG_POINTER, {.p = x}}};
  const int before = kit.fake->num_raised;
  for (int i = 0; i < 8; i++) {
    CHECK_OK(ritz_cuda.launch(kit.ceed, kernel, NULL, 1, 256, nums[i], 4, args));
    CHECK((int64_t)kit.fake->shared_bytes == nums[i], "%u bytes", kit.fake->shared_bytes);
    CHECK(kit.fake->num_raised - before == nums_raised[i], "raised %d times", kit.fake->num_raised - before);
  }
  CHECK_ERROR(
      kit.ceed, ritz_cuda.launch(kit.ceed, kernel, NULL, 1, 256, 230401, 4, args), CEED_ERROR_BACKEND,
      "kernel 'ramp': 230401 bytes of memory wanted for a block beside 2048 declared ones, this device "
      "has 232448");
  CHECK_OK(ritz_cuda.launch(kit.ceed, kernel, NULL, 1, 256, 230400, 4, args));
  CHECK_OK(ritz_cuda.unload(kit.ceed, kit.device, &program));
  CHECK_OK(ritz_cuda.free(kit.ceed, kit.device, x));
  end(&kit);
}

TEST(two_handles_of_a_kernel_do_not_take_memory_from_each_other) {
  Kit kit;
  RitzDeviceProgram program;
  RitzDeviceKernel kernel, second; // one function in the fake driver
  RitzDeviceArg args[] = {
      {.kind = RITZ_ARG_LONG}, {.kind = RITZ_ARG_INT}, {.kind = RITZ_ARG_SCALAR}, {.kind = RITZ_ARG_POINTER}};

  if (!begin(&kit)) return;
  CHECK_OK(compile_and_load(&kit, &program));
  CHECK_OK(ritz_cuda.kernel(kit.ceed, program, "ramp", &kernel));
  CHECK_OK(ritz_cuda.kernel(kit.ceed, program, "second_ramp", &second));
  CHECK_OK(ritz_cuda.launch(kit.ceed, kernel, NULL, 1, 256, 200000, 4, args));
  CHECK_OK(ritz_cuda.launch(kit.ceed, second, NULL, 1, 256, 100000, 4, args));
  CHECK_OK(ritz_cuda.launch(kit.ceed, kernel, NULL, 1, 256, 200000, 4, args));
  CHECK_OK(ritz_cuda.synchronize(kit.ceed, kit.device, NULL));
  CHECK_OK(ritz_cuda.unload(kit.ceed, kit.device, &program));
  end(&kit);
}

// ---- Launches that are repeated ----

enum { NUM = 100 };

typedef struct {
  Kit kit;
  RitzDeviceProgram program;
  RitzDeviceKernel kernel;
  RitzDeviceReplay replay;
  CeedScalar *x, *y;
} Replayed;

static bool begin_replays(Replayed *r) {
  *r = (Replayed){.replay = NULL};
  if (!begin(&r->kit)) return false;
  FakeCuda *fake = r->kit.fake;
  fake->num_instantiations = fake->num_replays = fake->num_updates = 0;
  return tap_check_ok(compile_and_load(&r->kit, &r->program), __FILE__, __LINE__, "load") &&
         tap_check_ok(ritz_cuda.kernel(r->kit.ceed, r->program, "ramp", &r->kernel), __FILE__, __LINE__,
                      "kernel") &&
         tap_check_ok(ritz_cuda.alloc(r->kit.ceed, r->kit.device, NUM * sizeof(CeedScalar), (void **)&r->x),
                      __FILE__, __LINE__, "alloc") &&
         tap_check_ok(ritz_cuda.alloc(r->kit.ceed, r->kit.device, NUM * sizeof(CeedScalar), (void **)&r->y),
                      __FILE__, __LINE__, "alloc");
}

static void end_replays(Replayed *r) {
  CHECK_OK(ritz_cuda.replay_destroy(r->kit.ceed, r->kit.device, &r->replay));
  CHECK(!r->replay, "a handle of what is gone");
  CHECK_OK(ritz_cuda.replay_destroy(r->kit.ceed, r->kit.device, &r->replay));
  CHECK_OK(ritz_cuda.unload(r->kit.ceed, r->kit.device, &r->program));
  CHECK_OK(ritz_cuda.free(r->kit.ceed, r->kit.device, r->x));
  CHECK_OK(ritz_cuda.free(r->kit.ceed, r->kit.device, r->y));
  end(&r->kit);
}

static int ramp_cleared(Replayed *r, CeedScalar *x, int num_cleared, int n, int first, int64_t shared_bytes) {
  const RitzDeviceArg args[] = {{RITZ_ARG_LONG, {.l = n}},
                                {RITZ_ARG_INT, {.i = first}},
                                {RITZ_ARG_SCALAR, {.s = 2}},
                                {RITZ_ARG_POINTER, {.p = x}}};
  return ritz_cuda.launch_cleared(r->kit.ceed, r->kernel, NULL, (size_t)num_cleared * sizeof(CeedScalar), x,
                                  1, 128, shared_bytes, 4, args, &r->replay);
}

// The array has n entries of a ramp, zeros up to num_cleared, then what was there.
static void check_ramp(Replayed *r, CeedScalar *x, int num_cleared, int n, int first) {
  CeedScalar sent[NUM], found[NUM];
  int num_wrong = 0;

  for (int i = 0; i < NUM; i++) sent[i] = -5;
  tap_check_ok(ritz_cuda.copy_in(r->kit.ceed, r->kit.device, NULL, sizeof(sent), x, sent), __FILE__, __LINE__,
               "copy_in");
  tap_check_ok(ramp_cleared(r, x, num_cleared, n, first, 0), __FILE__, __LINE__, "launch_cleared");
  tap_check_ok(ritz_cuda.copy_out(r->kit.ceed, r->kit.device, NULL, sizeof(found), found, x), __FILE__,
               __LINE__, "copy_out");
  for (int i = 0; i < NUM; i++)
    num_wrong += found[i] != (i < n ? first + 2 * i : i < num_cleared ? 0 : sent[i]);
  tap_check(num_wrong == 0, __FILE__, __LINE__, "values", "%d of %d wrong", num_wrong, NUM);
}

TEST(the_second_equal_launch_makes_a_graph_that_further_ones_run) {
  Replayed r;

  if (!begin_replays(&r)) return;
  const FakeCuda *fake = r.kit.fake;
  for (int k = 0; k < 5; k++) {
    check_ramp(&r, r.x, 90, 50, 7);
    CHECK(fake->num_instantiations == (k >= 1) && fake->num_replays == k,
          "call %d: %d graphs made, %d runs of one", k, fake->num_instantiations, fake->num_replays);
  }
  CHECK(fake->num_updates == 0, "%d changes", fake->num_updates);
  end_replays(&r);
}

TEST(a_graph_follows_the_arguments_of_launches) {
  Replayed r;

  if (!begin_replays(&r)) return;
  const FakeCuda *fake = r.kit.fake;
  for (int k = 0; k < 2; k++) check_ramp(&r, r.x, 90, 50, 7);
  check_ramp(&r, r.x, 90, 50, 8);
  CHECK(fake->num_updates == 1, "%d changes where an argument differs", fake->num_updates);
  check_ramp(&r, r.y, 90, 50, 8);
  CHECK(fake->num_updates == 3, "%d changes where the array differs, too", fake->num_updates);
  check_ramp(&r, r.y, 80, 50, 8);
  check_ramp(&r, r.y, 80, 51, 8);
  check_ramp(&r, r.y, 80, 51, 8);
  CHECK_OK(ramp_cleared(&r, r.x, 10, 10, 0, 100000)); // more shared memory
  CHECK(fake->shared_bytes == 100000, "%u bytes", fake->shared_bytes);
  check_ramp(&r, r.x, 10, 10, 0);
  CHECK(fake->num_instantiations == 1, "%d graphs were made", fake->num_instantiations);
  CHECK(fake->num_replays == 8, "%d runs of it", fake->num_replays);
  end_replays(&r);
}

TEST(a_replay_serves_one_kernel_after_another) {
  Replayed r;

  if (!begin_replays(&r)) return;
  for (int k = 0; k < 3; k++) check_ramp(&r, r.x, 90, 50, 7);
  CHECK_OK(ritz_cuda.kernel(r.kit.ceed, r.program, "second_ramp", &r.kernel));
  for (int k = 0; k < 3; k++) check_ramp(&r, r.x, 90, 50, 7);
  CHECK(r.kit.fake->num_instantiations == 2 && r.kit.fake->num_execs == 1, "%d graphs, %d of them left",
        r.kit.fake->num_instantiations, r.kit.fake->num_execs);
  end_replays(&r);
}

TEST(a_stream_that_is_captured_gets_the_operations_themselves) {
  Replayed r;

  if (!begin_replays(&r)) return;
  r.kit.fake->is_capturing = 1;
  for (int k = 0; k < 3; k++) check_ramp(&r, r.x, 90, 50, 7);
  r.kit.fake->is_capturing = 0;
  for (int k = 0; k < 2; k++) check_ramp(&r, r.x, 90, 50, 7);
  CHECK(r.kit.fake->num_instantiations == 1 && r.kit.fake->num_replays == 2, "no graph afterwards");
  r.kit.fake->is_capturing = 1;
  check_ramp(&r, r.x, 90, 50, 8);
  r.kit.fake->is_capturing = 0;
  check_ramp(&r, r.x, 90, 50, 8);
  CHECK(r.kit.fake->num_updates == 1 && r.kit.fake->num_replays == 3, "the graph is as before the capture");
  end_replays(&r);
}

TEST(where_the_driver_refuses_graphs_launches_are_done_without) {
  static const char *const calls[] = {"cuStreamIsCapturing",           "cuGraphCreate",
                                      "cuGraphAddMemsetNode",          "cuGraphAddKernelNode",
                                      "cuGraphInstantiateWithFlags",   "cuGraphExecMemsetNodeSetParams",
                                      "cuGraphExecKernelNodeSetParams"};

  for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && !tap_failed(); i++) {
    Replayed r;
    if (!begin_replays(&r)) return;
    r.kit.fake->failing = calls[i];
    r.kit.fake->failure = CUDA_ERROR_INVALID_VALUE;
    for (int k = 0; k < 3; k++) check_ramp(&r, r.x, 90, 50, 7);
    for (int k = 0; k < 3; k++) check_ramp(&r, r.y, 80, 50, 7 + k);
    r.kit.fake->failing = NULL;
    CHECK(r.kit.fake->num_replays <= 2, "%s: %d runs of a graph", calls[i], r.kit.fake->num_replays);
    end_replays(&r);
  }
}

TEST(a_repeated_launch_that_fails_names_call_and_kernel) {
  static const char *const calls[] = {"cuMemsetD8Async", "cuLaunchKernel", "cuGraphLaunch"};
  Replayed r;

  if (!begin_replays(&r)) return;
  r.kit.fake->failure = CUDA_ERROR_INVALID_VALUE;
  for (int i = 0; i < 3; i++) {
    char wanted[100];
    snprintf(wanted, sizeof(wanted), "%s: kernel 'ramp', 1 blocks of 128 threads: something else", calls[i]);
    r.kit.fake->failing = calls[i];
    CHECK_ERROR(r.kit.ceed, ramp_cleared(&r, r.x, 90, 50 + (i < 2 ? i : 1), 7, 0), CEED_ERROR_BACKEND,
                wanted);
  }
  r.kit.fake->failing = NULL;
  check_ramp(&r, r.x, 90, 50, 7);
  end_replays(&r);
}

TEST(a_repeated_launch_survives_a_lack_of_memory) {
  Replayed r;
  int ierr = 1, num_failures = 0;

  if (!begin_replays(&r)) return;
  for (; ierr; num_failures++) {
    ritz_memory_fail_at(num_failures + 1);
    ierr = ramp_cleared(&r, r.x, 90, 50, 7, 0);
    ritz_memory_fail_at(0);
    CHECK(!ierr || ierr == CEED_ERROR_MAJOR, "code %d", ierr);
  }
  CHECK(num_failures == 2, "%d allocations", num_failures - 1);
  check_ramp(&r, r.x, 90, 50, 7);
  end_replays(&r);
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

// ---- devices/cusolver.c on a library that is faked, too ----

typedef struct {
  Kit kit;
  FakeCusolver *fake;
  RitzCusolver solver;
} Factored;

static int begin_factors(Factored *f) {
  FakeCusolverState get_state = NULL;
  const char *why = NULL;

  *f = (Factored){.solver = NULL};
  setenv("RITZ_CUSOLVER", FAKE_CUSOLVER, 1);
  if (!begin(&f->kit)) return false;
  const char *file = ritz_cusolver_find(&why);
  unsetenv("RITZ_CUSOLVER");
  if (!tap_check(file && !strcmp(file, FAKE_CUSOLVER), __FILE__, __LINE__, "file", "%s", file ? file : why))
    return false;
  ritz_find_symbol(dlopen(file, RTLD_NOW | RTLD_NOLOAD), "fake_cusolver", &get_state);
  f->fake = get_state ? get_state() : NULL;
  return tap_check(f->fake != NULL, __FILE__, __LINE__, "fake_cusolver", "is not there");
}

static void end_factors(Factored *f) {
  ritz_cusolver_destroy(f->kit.ceed, &f->solver);
  CHECK(!f->solver, "a handle of what is gone");
  ritz_cusolver_destroy(f->kit.ceed, &f->solver);
  CHECK(!f->fake->num_handles && !f->fake->num_params, "%d handles, %d parameters are left",
        f->fake->num_handles, f->fake->num_params);
  CHECK(!f->fake->num_outside, "%d calls without a current context", f->fake->num_outside);
  end(&f->kit);
}

// Factorizes [2][ld = 3] of double or float in device memory; results are copied to the caller's.
static int factor_two(Factored *f, bool is_symmetric, bool is_double, void *entries, int64_t pivots[2],
                      int *info) {
  const size_t size = 6 * (is_double ? sizeof(double) : sizeof(float));
  const Kit *k = &f->kit;
  size_t num_bytes[RITZ_CUSOLVER_NUM_WORK];
  char host[FAKE_HOST_BYTES];
  void *device, *work;
  RITZ_TRY(ritz_cuda.alloc(k->ceed, k->device, 256, &device));
  RitzCusolverMatrix m = {
      is_symmetric, is_double, 2, 3, device, (int64_t *)(void *)((char *)device + 64), (int *)device + 32};
  RITZ_TRY(ritz_cuda.copy_in(k->ceed, k->device, NULL, size, device, entries));
  int ierr = ritz_cusolver_bytes(k->ceed, f->solver, &m, num_bytes);
  if (!ierr) ierr = num_bytes[RITZ_CUSOLVER_HOST] == sizeof(host) ? 0 : CEED_ERROR_MAJOR;
  RITZ_TRY(ritz_cuda.alloc(k->ceed, k->device, FAKE_DEVICE_BYTES, &work));
  if (!ierr)
    ierr = ritz_cusolver_factor(k->ceed, f->solver, device, &m, num_bytes, (void *const[]){work, host});
  RITZ_TRY(ritz_cuda.copy_out(k->ceed, k->device, NULL, size, entries, m.F));
  RITZ_TRY(ritz_cuda.copy_out(k->ceed, k->device, NULL, 2 * sizeof(*pivots), pivots, m.pivots));
  RITZ_TRY(ritz_cuda.copy_out(k->ceed, k->device, NULL, sizeof(*info), info, m.info));
  RITZ_TRY(ritz_cuda.free(k->ceed, k->device, work));
  RITZ_TRY(ritz_cuda.free(k->ceed, k->device, device));
  return ierr ? ierr : f->fake->stream == device ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

TEST(cusolver_factorizes_in_both_precisions_on_the_stream_with_the_context_current) {
  Factored f;
  double lu[] = {1, 4, 7, 3, 2, 7}, symmetric[] = {4, 2, 7, 2, 10, 7};
  float singular[] = {1, 2, 7, 2, 4, 7}, indefinite[] = {4, 2, 7, 2, 1, 7};
  int64_t pivots[2];
  int info;

  if (!begin_factors(&f)) return;
  CHECK_OK(ritz_cusolver_create(f.kit.ceed, f.kit.device, &f.solver));
  CHECK_OK(factor_two(&f, false, true, lu, pivots, &info)); // {4, 2; 1/4, 5/2}
  CHECK(lu[0] == 4 && lu[1] == 0.25 && lu[3] == 2 && lu[4] == 2.5 && lu[2] == 7 && info == 0, "LU");
  CHECK(pivots[0] == 2 && pivots[1] == 2, "pivots %d, %d", (int)pivots[0], (int)pivots[1]);
  CHECK_OK(factor_two(&f, true, true, symmetric, pivots, &info));
  CHECK(symmetric[0] == 2 && symmetric[1] == 1 && symmetric[4] == 3 && info == 0, "Cholesky");
  CHECK_OK(factor_two(&f, false, false, singular, pivots, &info));
  CHECK(info == 2, "pivot 2 is zero: %d", info);
  CHECK_OK(factor_two(&f, true, false, indefinite, pivots, &info));
  CHECK(info == 2, "minor 2 is not positive: %d", info);
  CHECK(f.fake->num_factorizations == 4, "%d", f.fake->num_factorizations);
  end_factors(&f);
}

TEST(what_cusolver_refuses_names_the_call_and_its_status) {
  static const char *const made[] = {"cusolverDnCreate", "cusolverDnCreateParams"};
  static const char *const called[] = {"cusolverDnXgetrf_bufferSize", "cusolverDnXgetrf"};
  Factored f;
  double A[6] = {1, 0, 0, 0, 1, 0};
  int64_t pivots[2];
  int info;

  if (!begin_factors(&f)) return;
  for (int i = 0; i < 2; i++) {
    f.fake->failing = made[i];
    f.fake->failure = 2;
    CHECK_ERROR(f.kit.ceed, ritz_cusolver_create(f.kit.ceed, f.kit.device, &f.solver), CEED_ERROR_MAJOR,
                made[i]);
    CHECK(!f.solver, "nothing is made");
  }
  f.fake->failing = NULL;
  CHECK_OK(ritz_cusolver_create(f.kit.ceed, f.kit.device, &f.solver));
  for (int i = 0; i < 2; i++) {
    f.fake->failing = called[i];
    f.fake->failure = 7;
    CHECK_ERROR(f.kit.ceed, factor_two(&f, false, true, A, pivots, &info), CEED_ERROR_BACKEND,
                "internal error (status 7 of");
  }
  f.fake->failing = NULL;
  CHECK_OK(factor_two(&f, false, true, A, pivots, &info));
  end_factors(&f);
}

// ---- devices/cublas.c on a library that is faked, too ----

typedef struct {
  Kit kit;
  FakeCublas *fake;
  Ceed ceed; // of the fake device
} Products;

static int begin_products(Products *p) {
  FakeCublasState get_state = NULL;
  const char *why = NULL;

  *p = (Products){.ceed = NULL};
  setenv("RITZ_CUBLAS", FAKE_CUBLAS, 1);
  setenv("RITZ_CACHE", "off", 1);
  if (!begin(&p->kit)) return false;
  const char *file = ritz_cublas_find(&why);
  unsetenv("RITZ_CUBLAS");
  if (!tap_check(file && !strcmp(file, FAKE_CUBLAS), __FILE__, __LINE__, "file", "%s", file ? file : why))
    return false;
  ritz_find_symbol(dlopen(file, RTLD_NOW | RTLD_NOLOAD), "fake_cublas", &get_state);
  p->fake = get_state ? get_state() : NULL;
  return tap_check(p->fake != NULL, __FILE__, __LINE__, "fake_cublas", "is not there") &&
         tap_check_ok(CeedInit("/gpu/cuda/shared", &p->ceed), __FILE__, __LINE__, "CeedInit") &&
         tap_check_ok(CeedSetErrorHandler(p->ceed, CeedErrorStore), __FILE__, __LINE__, "handler");
}

static void end_products(Products *p) {
  CHECK_OK(CeedDestroy(&p->ceed));
  unsetenv("RITZ_CACHE");
  CHECK(!p->fake->num_handles && !p->fake->num_outside, "%d handles, %d calls without a current context",
        p->fake->num_handles, p->fake->num_outside);
  end(&p->kit);
}

enum { ITEMS_ELEM = 10, MOST_POINTS = 3 * 64 };

// A tensor basis in 3D, or a dense one of random numbers.
static int create_basis(Ceed ceed, bool is_tensor, CeedBasis *basis) {
  enum { P = 5, Q = 7 };
  uint64_t seed = 3;
  if (is_tensor) return CeedBasisCreateTensorH1Lagrange(ceed, 3, 1, 3, 4, CEED_GAUSS, basis);
  CeedScalar tables[4 * P * Q + 4 * Q];
  for (int i = 0; i < 4 * P * Q + 4 * Q; i++) tables[i] = (CeedScalar)tap_uniform(&seed);
  return CeedBasisCreateH1(ceed, CEED_TOPOLOGY_TET, 1, P, Q, tables, tables + P * Q, tables + 4 * P * Q,
                           tables + 4 * P * Q + 3 * Q, basis);
}

// What an element has of an array [part][element][size], to or from `own` [part][size].
static void exchange(bool is_back, CeedInt num_parts, CeedInt size, CeedInt e, double *all, double *own) {
  for (CeedInt i = 0; i < num_parts * size; i++) {
    double *entry = &all[(i / size * ITEMS_ELEM + e) * size + i % size];
    *(is_back ? entry : &own[i]) = is_back ? own[i] : *entry;
  }
}

// v of the reference backend, element by element. num [2], size [2]: of u and v.
static int apply_reference(bool is_tensor, const RitzBasisAction *action, const CeedInt *num,
                           const CeedInt *size, double *u, double *v) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedBasis basis = NULL;
  int ierr = create_basis(ceed, is_tensor, &basis);

  for (CeedInt e = 0; e < ITEMS_ELEM && !ierr; e++) {
    double own[2][MOST_POINTS];
    exchange(false, num[0], size[0], e, u, own[0]);
    exchange(false, num[1], size[1], e, v, own[1]);
    CeedVector in = reference_vector(ceed, num[0] * size[0], own[0]);
    CeedVector out = reference_vector(ceed, num[1] * size[1], own[1]);
    ierr = (action->add ? CeedBasisApplyAdd : CeedBasisApply)(basis, 1, action->t_mode, action->eval_mode, in,
                                                              out);
    if (!ierr) reference_values(out, own[1]);
    exchange(true, num[1], size[1], e, v, own[1]);
    CeedVectorDestroy(&in);
    CeedVectorDestroy(&out);
  }
  CeedBasisDestroy(&basis);
  CeedDestroy(&ceed);
  return ierr;
}

static int apply_by_products(const Products *p, CeedBasis basis, const RitzBasisAction *action,
                             CeedSize num_u, const double *u, CeedSize num_v, double *v) {
  const Kit *k = &p->kit;
  CeedScalar host[ITEMS_ELEM * MOST_POINTS];
  void *in, *out;

  RITZ_TRY(ritz_cuda.alloc(k->ceed, k->device, sizeof(host), &in));
  RITZ_TRY(ritz_cuda.alloc(k->ceed, k->device, sizeof(host), &out));
  for (CeedSize i = 0; i < num_u; i++) host[i] = (CeedScalar)u[i];
  RITZ_TRY(ritz_cuda.copy_in(k->ceed, k->device, NULL, (size_t)num_u * sizeof(*host), in, host));
  for (CeedSize i = 0; i < num_v; i++) host[i] = (CeedScalar)v[i];
  RITZ_TRY(ritz_cuda.copy_in(k->ceed, k->device, NULL, (size_t)num_v * sizeof(*host), out, host));
  const int ierr = ritz_gpu_basis_apply_by(basis, RITZ_OPERATOR_ROUTE_GEMM_VENDOR, action, in, out);
  RITZ_TRY(ritz_cuda.copy_out(k->ceed, k->device, NULL, (size_t)num_v * sizeof(*host), host, out));
  for (CeedSize i = 0; i < num_v; i++) v[i] = (double)host[i];
  RITZ_TRY(ritz_cuda.free(k->ceed, k->device, in));
  RITZ_TRY(ritz_cuda.free(k->ceed, k->device, out));
  return ierr;
}

// Sums of at most 27 or 64 products of numbers below 1, three times one after the other.
static void check_action(const Products *p, bool is_tensor, CeedBasis basis, const RitzBasisAction *action) {
  CeedInt P, Q, num_q_comp;
  uint64_t seed = 5;

  CHECK_OK(CeedBasisGetNumNodes(basis, &P));
  CHECK_OK(CeedBasisGetNumQuadraturePoints(basis, &Q));
  CHECK_OK(CeedBasisGetNumQuadratureComponents(basis, action->eval_mode, &num_q_comp));
  const bool transposes = action->t_mode == CEED_TRANSPOSE;
  const CeedInt num[2] = {transposes ? num_q_comp : 1, transposes ? 1 : num_q_comp};
  const CeedInt size[2] = {transposes ? Q : P, transposes ? P : Q};
  const CeedSize num_u = ITEMS_ELEM * num[0] * size[0], num_v = ITEMS_ELEM * num[1] * size[1];
  double *u = reference_new_random(num_u, &seed), *v = reference_new_random(num_v, &seed);
  double *wanted = reference_new(num_v);
  memcpy(wanted, v, (size_t)num_v * sizeof(*v));
  CHECK_OK(apply_reference(is_tensor, action, num, size, u, wanted));
  CHECK_OK(apply_by_products(p, basis, action, num_u, u, num_v, v));
  CHECK_NEAR(reference_distance(num_v, v, wanted), 0, 1000 * eps * (1 + reference_largest(num_v, wanted)),
             "%s, mode %d, transposed %d, added %d", is_tensor ? "tensor" : "dense", (int)action->eval_mode,
             transposes, action->add);
  free(u), free(v), free(wanted);
}

TEST(bases_are_products_by_cublas_in_as_few_calls_as_they_have_parts) {
  Products p;

  if (!begin_products(&p)) return;
  for (int is_tensor = 0; is_tensor < 2; is_tensor++) {
    CeedBasis basis = NULL;
    CHECK_OK(create_basis(p.ceed, is_tensor, &basis));
    for (int i = 0; i < 8; i++) {
      const RitzBasisAction action = {ITEMS_ELEM, i % 2 ? CEED_TRANSPOSE : CEED_NOTRANSPOSE,
                                      i / 2 % 2 ? CEED_EVAL_GRAD : CEED_EVAL_INTERP, i / 4 && i % 2};
      p.fake->num_products = p.fake->num_batches = 0;
      check_action(&p, is_tensor, basis, &action);
      if (tap_failed()) return;
      const bool is_grad = action.eval_mode == CEED_EVAL_GRAD, is_back = action.t_mode == CEED_TRANSPOSE;
      const int products = is_tensor ? (is_grad ? 3 : 1) : is_grad ? 3 * is_back : 1;
      const int batches = is_tensor ? (is_grad ? 6 : 2) : is_grad && !is_back;
      CHECK(p.fake->num_products == products && p.fake->num_batches == batches,
            "%d products and %d batches, wanted %d and %d", p.fake->num_products, p.fake->num_batches,
            products, batches);
    }
    CeedBasisDestroy(&basis);
  }
  CHECK(p.fake->num_handles == 1, "%d handles", p.fake->num_handles);
  end_products(&p);
}

TEST(what_cublas_refuses_names_the_call_and_its_status) {
  const bool is_double = CEED_SCALAR_TYPE == CEED_SCALAR_FP64;
  const char *gemm = is_double ? "cublasDgemmStridedBatched" : "cublasSgemmStridedBatched";
  const char *refused = is_double ? "cublasDgemmStridedBatched: memory is short (status 3 of"
                                  : "cublasSgemmStridedBatched: memory is short (status 3 of";
  const char *const called[] = {"cublasCreate_v2", "cublasSetStream_v2", gemm};
  const char *const words[] = {"cublasCreate: memory is short (status 3 of", refused, refused};
  const RitzBasisAction action = {ITEMS_ELEM, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, false};
  double u[ITEMS_ELEM * 5] = {0}, v[ITEMS_ELEM * 21] = {0};
  Products p;
  CeedBasis basis = NULL;

  if (!begin_products(&p)) return;
  CHECK_OK(create_basis(p.ceed, false, &basis));
  p.fake->failure = 3;
  for (int i = 0; i < 3; i++) {
    p.fake->failing = called[i];
    CHECK_ERROR(p.ceed, apply_by_products(&p, basis, &action, 50, u, 210, v), CEED_ERROR_MAJOR, words[i]);
  }
  p.fake->failing = NULL;
  CHECK_OK(apply_by_products(&p, basis, &action, 50, u, 210, v));
  CeedBasisDestroy(&basis);
  end_products(&p);
}

// The library is found: the route can be asked for, and the view names the file.
TEST(the_route_of_the_vendor_is_had_where_its_library_is) {
  const ChainShape shape = {.dim = 1, .num_elem = 3, .P_1d = 2, .Q_1d = 2, .seed = 1};
  char *text = NULL;
  size_t size = 0;
  Products p;
  Chain c;

  if (!begin_products(&p)) return;
  CHECK_OK(chain_create(p.ceed, &shape, &c));
  CHECK_OK(RitzOperatorSetRoute(c.op, RITZ_OPERATOR_ROUTE_GEMM_VENDOR));
  FILE *stream = open_memstream(&text, &size);
  CHECK_OK(RitzOperatorExplain(c.op, stream));
  fclose(stream);
  CHECK(strstr(text, "by cuBLAS, " FAKE_CUBLAS), "%s", text);
  free(text);
  chain_destroy(&c);
  end_products(&p);
}

int main(int argc, char **argv) {
  setenv("RITZ_TEST_BACKENDS", "/cpu", 1); // looking for others would find a real driver before ours
  unsetenv("RITZ_TEST_REQUIRE");
  return tap_main(
      argc, argv,
      TESTS(a_device_is_described_and_stays_open, data_go_to_the_device_within_it_and_back,
            long_arrays_go_to_the_device_and_back_through_pinned_buffers, long_arrays_need_no_pinned_memory,
            a_long_copy_that_fails_gives_the_buffers_back,
            memory_is_found_by_any_address_in_it_on_its_own_device,
            where_memory_is_short_the_message_says_how_much_was_wanted_and_is_free,
            streams_and_events_order_and_time_work, a_kernel_gets_its_arguments_blocks_and_threads,
            a_kernel_is_kept_and_described, a_refused_text_is_no_error_and_a_refused_launch_names_the_kernel,
            code_that_the_driver_does_not_take_is_an_error_with_a_way_out,
            a_kernel_may_use_as_much_memory_of_a_block_as_its_launches_ask_for,
            two_handles_of_a_kernel_do_not_take_memory_from_each_other,
            the_second_equal_launch_makes_a_graph_that_further_ones_run,
            a_graph_follows_the_arguments_of_launches, a_replay_serves_one_kernel_after_another,
            a_stream_that_is_captured_gets_the_operations_themselves,
            where_the_driver_refuses_graphs_launches_are_done_without,
            a_repeated_launch_that_fails_names_call_and_kernel, a_repeated_launch_survives_a_lack_of_memory,
            the_caller_keeps_the_context_that_was_current,
            what_is_given_back_after_the_driver_has_shut_down_is_no_error,
            a_forked_child_gives_back_what_it_has_inherited,
            cusolver_factorizes_in_both_precisions_on_the_stream_with_the_context_current,
            what_cusolver_refuses_names_the_call_and_its_status,
            bases_are_products_by_cublas_in_as_few_calls_as_they_have_parts,
            what_cublas_refuses_names_the_call_and_its_status,
            the_route_of_the_vendor_is_had_where_its_library_is,
            programs_and_kernels_survive_a_lack_of_memory));
}
