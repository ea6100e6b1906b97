// SPDX-License-Identifier: BSD-2-Clause
// NVIDIA's devices through the CUDA driver API (contract in devices/device.h). A device's primary context,
// which the CUDA runtime uses as well, is made current by every call and taken away again. The table
// ritz_cuda is used by backends/gpu, public.c and tests.
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "devices/cuda-api.h"
#include "devices/cuda-staging.h"
#include "devices/cuda.h"

struct RitzDevice_private {
  RitzDeviceInfo info;
  CUdevice handle;
  CUcontext context;
  RitzCudaStaging staging;
  RitzDevice next;
};

struct RitzDeviceKernel_private {
  RitzDevice device; // borrowed
  CUfunction function;
  char *name;                   // owned
  _Atomic int64_t shared_limit; // bytes that launches may ask for; grows when one asks for more
  RitzDeviceKernel next;
};

struct RitzDeviceProgram_private {
  RitzDevice device; // borrowed
  CUmodule module;
  _Atomic(RitzDeviceKernel) kernels; // owned; grows at the front
};

// ---- The driver ----

enum { MIN_VERSION = 11020, MIN_ARCH = 60 }; // 11.2: of NVRTC, too; sm_60: adds doubles atomically

static struct {
  _Atomic bool is_known; // the others are final, save the list
  bool has_looked;       // for the driver
  int num_devices;
  int version; // 1000 * major + 10 * minor
  char why[512];
  RitzCudaApi api;
  bool has_graphs;    // all functions for them
  RitzDevice devices; // under RITZ_LOCK_DEVICES
} cuda;

static const char *error_words(CUresult result) {
  const char *words = NULL;

  return cuda.api.error_string(result, &words) || !words ? "unknown error" : words;
}

// Whether a call of the driver succeeded; else keeps the reason in cuda.why.
static bool is_fine(CUresult result, const char *call) {
  if (!result) return true;
  snprintf(cuda.why, sizeof(cuda.why), "%s: %s", call, error_words(result));
  return false;
}

static bool take_cuda_functions(void *library) {
  const char *missing = NULL;

#define FIND(name, symbol, args)                                                                             \
  ritz_find_symbol(library, #symbol, &cuda.api.name);                                                        \
  if (!cuda.api.name) missing = #symbol;
  RITZ_CUDA_GRAPH_FUNCTIONS(FIND)
  cuda.has_graphs = !missing;
  missing = NULL;
  RITZ_CUDA_FUNCTIONS(FIND)
#undef FIND
  if (missing) snprintf(cuda.why, sizeof(cuda.why), "libcuda.so.1 has no function %s", missing);
  return !missing;
}

static bool take_version(void *library) {
  RitzCudaDriverVersion get_version = NULL;

  ritz_find_symbol(library, "cuDriverGetVersion", &get_version);
  if (get_version && !get_version(&cuda.version) && cuda.version >= MIN_VERSION) return true;
  snprintf(cuda.why, sizeof(cuda.why),
           "the CUDA driver is too old: it is of CUDA %d.%d, 11.2 or newer is needed", cuda.version / 1000,
           cuda.version % 1000 / 10);
  return false;
}

// The library stays loaded: its threads do.
static void look_for_devices(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  int num = 0;

  if (!library) snprintf(cuda.why, sizeof(cuda.why), "no CUDA driver: %s", dlerror());
  if (!library || !take_version(library) || !take_cuda_functions(library)) return;
  if (!is_fine(cuda.api.init(0), "cuInit") || !is_fine(cuda.api.device_count(&num), "cuDeviceGetCount"))
    return;
  cuda.num_devices = num;
  if (!num) snprintf(cuda.why, sizeof(cuda.why), "the CUDA driver has no devices");
}

static bool has_devices(void) {
  ritz_lock(RITZ_LOCK_DEVICES);
  if (!cuda.has_looked) look_for_devices();
  cuda.has_looked = true;
  const bool has_some = cuda.num_devices > 0;
  ritz_unlock(RITZ_LOCK_DEVICES);
  return has_some;
}

// The compiler is a hundred megabytes, and is asked for where there is a device alone.
static void find_library_once(void) {
  const char *no_compiler = NULL;

  if (atomic_load(&cuda.is_known)) return;
  if (has_devices()) ritz_nvrtc_version(&no_compiler);
  ritz_lock(RITZ_LOCK_DEVICES);
  if (no_compiler) {
    cuda.num_devices = 0;
    snprintf(cuda.why, sizeof(cuda.why), "%s", no_compiler);
  }
  atomic_store(&cuda.is_known, true);
  ritz_unlock(RITZ_LOCK_DEVICES);
}

static int count_cuda_devices(const char **why) {
  find_library_once();
  *why = cuda.num_devices ? NULL : cuda.why;
  return cuda.num_devices;
}

// ---- Calls ----

// A failed call says its name, what it was asked for, and the driver's words.
static int check_driver(Ceed ceed, CUresult result, const char *format, ...) {
  const bool is_memory = result == CUDA_ERROR_OUT_OF_MEMORY;
  char what[512];
  va_list args;

  if (!result) return CEED_ERROR_SUCCESS;
  va_start(args, format);
  vsnprintf(what, sizeof(what), format, args);
  va_end(args);
  return CeedError(ceed, is_memory ? CEED_ERROR_MAJOR : CEED_ERROR_BACKEND, "%s: %s", what,
                   error_words(result));
}

int ritz_cuda_enter(Ceed ceed, RitzDevice device) {
  return check_driver(ceed, cuda.api.context_push(device->context), "cuCtxPushCurrent: device %d",
                      device->info.index);
}

void ritz_cuda_leave(void) {
  CUcontext context;

  cuda.api.context_pop(&context);
}

// Ends what ritz_cuda_enter began; hands on how the calls between have ended.
static CUresult leave(CUresult result) {
  ritz_cuda_leave();
  return result;
}

// Result of giving something back; it may be gone already: the driver has shut down because the process
// exits, the program has reset the device, or this is a child of the process that had it.
static int check_given_back(Ceed ceed, CUresult result, const char *call) {
  const bool is_gone = result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_NOT_INITIALIZED ||
                       result == CUDA_ERROR_CONTEXT_IS_DESTROYED;

  return is_gone ? CEED_ERROR_SUCCESS : check_driver(ceed, result, "%s", call);
}

static CUdeviceptr address(const void *p) { return (CUdeviceptr)(uintptr_t)p; }

// ---- Devices ----

static int choose_cuda_device(Ceed ceed, int *index) {
  CUdevice current, device;

  find_library_once();
  *index = 0;
  RITZ_REQUIRE(cuda.num_devices, ceed, CEED_ERROR_BACKEND, "%s", cuda.why);
  if (cuda.api.context_device(&current)) return CEED_ERROR_SUCCESS;
  for (int i = 0; i < cuda.num_devices; i++) {
    if (!cuda.api.device_get(&device, i) && device == current) *index = i;
  }
  return CEED_ERROR_SUCCESS;
}

static int get_attribute(Ceed ceed, RitzDevice device, CUdevice_attribute attribute, int *value) {
  return check_driver(ceed, cuda.api.device_attribute(value, attribute, device->handle),
                      "cuDeviceGetAttribute: device %d, attribute %d", device->info.index, (int)attribute);
}

static int get_byte_attribute(Ceed ceed, RitzDevice device, CUdevice_attribute attribute,
                              int64_t *num_bytes) {
  int value = 0;

  RITZ_TRY(get_attribute(ceed, device, attribute, &value));
  *num_bytes = value;
  return CEED_ERROR_SUCCESS;
}

// Reads the limits of a thread block and of a multiprocessor.
static int describe_blocks(Ceed ceed, RitzDevice device) {
  RitzDeviceInfo *info = &device->info;

  RITZ_TRY(
      get_byte_attribute(ceed, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &info->shared_bytes));
  RITZ_TRY(get_byte_attribute(ceed, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                              &info->dynamic_shared_bytes));
  RITZ_TRY(get_byte_attribute(ceed, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
                              &info->shared_bytes_multiprocessor));
  RITZ_TRY(get_byte_attribute(ceed, device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
                              &info->shared_bytes_reserved));
  RITZ_TRY(get_byte_attribute(ceed, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &info->cache_bytes));
  RITZ_TRY(get_attribute(ceed, device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
                         &info->registers_multiprocessor));
  RITZ_TRY(get_attribute(ceed, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
                         &info->threads_multiprocessor));
  return get_attribute(ceed, device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
                       &info->blocks_multiprocessor);
}

static int describe_code(Ceed ceed, RitzDevice device) {
  RitzDeviceInfo *info = &device->info;
  const char *why, *compiler = ritz_nvrtc_version(&why);
  int major, minor;

  RITZ_TRY(get_attribute(ceed, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major));
  RITZ_TRY(get_attribute(ceed, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor));
  RITZ_REQUIRE(10 * major + minor >= MIN_ARCH, ceed, CEED_ERROR_BACKEND,
               "cuda: device %d, %s, has compute capability %d.%d; 6.0 or newer is needed", info->index,
               info->name, major, minor);
  snprintf(info->arch, sizeof(info->arch), "sm_%d%d", major, minor);
  snprintf(info->version, sizeof(info->version), "CUDA driver %d.%d, NVRTC %s", cuda.version / 1000,
           cuda.version % 1000 / 10, compiler);
  info->adds_atomically = true;
  return CEED_ERROR_SUCCESS;
}

static int read_cuda_properties(Ceed ceed, RitzDevice device) {
  RitzDeviceInfo *info = &device->info;
  size_t num_bytes = 0;

  RITZ_TRY(check_driver(ceed, cuda.api.device_name(info->name, (int)sizeof(info->name), device->handle),
                        "cuDeviceGetName: device %d", info->index));
  RITZ_TRY(check_driver(ceed, cuda.api.device_memory(&num_bytes, device->handle),
                        "cuDeviceTotalMem: device %d", info->index));
  info->num_bytes = (int64_t)num_bytes;
  RITZ_TRY(get_attribute(ceed, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &info->num_units));
  RITZ_TRY(get_attribute(ceed, device, CU_DEVICE_ATTRIBUTE_WARP_SIZE, &info->warp_size));
  RITZ_TRY(get_attribute(ceed, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &info->max_threads));
  RITZ_TRY(describe_blocks(ceed, device));
  return describe_code(ceed, device);
}

static int make_device(Ceed ceed, RitzDevice device, int index) {
  device->info.driver = &ritz_cuda;
  device->info.index = index;
  RITZ_TRY(check_driver(ceed, cuda.api.device_get(&device->handle, index), "cuDeviceGet: device %d", index));
  RITZ_TRY(read_cuda_properties(ceed, device));
  return check_driver(ceed, cuda.api.context_retain(&device->context, device->handle),
                      "cuDevicePrimaryCtxRetain: device %d", index);
}

// The open device, or NULL; `added` joins the list when there is none.
static RitzDevice find_device(int index, RitzDevice added) {
  ritz_lock(RITZ_LOCK_DEVICES);
  RitzDevice device = cuda.devices;
  while (device && device->info.index != index) device = device->next;
  if (!device && added) {
    added->next = cuda.devices;
    device = cuda.devices = added;
    ritz_memory_give(added); // it stays to the end of the process
  }
  ritz_unlock(RITZ_LOCK_DEVICES);
  return device;
}

static int open_cuda_device(Ceed ceed, int index, RitzDevice *device) {
  RitzDevice added = NULL;

  find_library_once();
  RITZ_ASSERT(0 <= index && index < cuda.num_devices);
  *device = find_device(index, NULL);
  if (*device) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &added));
  int ierr = make_device(ceed, added, index);
  if (!ierr) *device = find_device(index, added);
  if (*device == added) return CEED_ERROR_SUCCESS;
  if (added->context) cuda.api.context_release(added->handle); // another thread was faster
  RITZ_FREE(&added);
  return ierr;
}

static const RitzDeviceInfo *info(RitzDevice device) { return &device->info; }

static int memory(Ceed ceed, RitzDevice device, int64_t *free_bytes) {
  size_t num_free = 0, num_bytes = 0;

  *free_bytes = -1;
  RITZ_TRY(ritz_cuda_enter(ceed, device));
  RITZ_TRY(check_driver(ceed, leave(cuda.api.memory_info(&num_free, &num_bytes)), "cuMemGetInfo"));
  *free_bytes = (int64_t)num_free;
  return CEED_ERROR_SUCCESS;
}

// ---- Memory ----

static int alloc_memory(Ceed ceed, RitzDevice device, size_t num_bytes, void **p) {
  CUdeviceptr found = 0;
  size_t num_free = 0, num_total = 0;

  *p = NULL;
  RITZ_TRY(ritz_cuda_enter(ceed, device));
  const CUresult result = cuda.api.memory_alloc(&found, num_bytes);
  if (result) cuda.api.memory_info(&num_free, &num_total);
  RITZ_TRY(check_driver(ceed, leave(result), "cuMemAlloc: %zu bytes wanted, %zu of %zu free", num_bytes,
                        num_free, num_total));
  *p = (void *)(uintptr_t)found;
  return CEED_ERROR_SUCCESS;
}

static int free_cuda_memory(Ceed ceed, RitzDevice device, void *p) {
  CUresult result = cuda.api.context_push(device->context);
  if (!result) result = leave(cuda.api.memory_free(address(p)));
  return check_given_back(ceed, result, "cuMemFree");
}

// Whether the address is memory of this device; memory that the driver moves between host and devices is.
static bool is_of_device(RitzDevice device, CUdeviceptr p) {
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  unsigned type = 0, is_managed = 0;
  int index = -1;
  void *values[] = {&type, &is_managed, &index};

  if (cuda.api.memory_attributes(3, attributes, values, p)) return false;
  return is_managed || (type == CU_MEMORYTYPE_DEVICE && index == device->info.index);
}

static void find_memory(RitzDevice device, const void *p, void **start, size_t *num_bytes) {
  CUdeviceptr found = 0;
  size_t num_found = 0;

  *start = NULL;
  *num_bytes = 0;
  if (cuda.api.context_push(device->context)) return;
  const bool is_found =
      is_of_device(device, address(p)) && !cuda.api.memory_range(&found, &num_found, address(p));
  leave(CUDA_SUCCESS);
  if (!is_found) return;
  *start = (void *)(uintptr_t)found;
  *num_bytes = num_found;
}

// The driver reads some arrays of the host after it has returned: those that are pinned, and on some machines
// all others, too.
static int copy_in(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *to,
                   const void *from) {
  const RitzCudaCopy copy = {ceed, (CUstream)stream, num_bytes, to, from};
  CUresult result = CUDA_SUCCESS;
  bool is_done = false;

  RITZ_TRY(ritz_cuda_enter(ceed, device));
  const int ierr = ritz_cuda_stage_in(&cuda.api, &device->staging, &copy, &is_done, &result);
  if (!is_done) result = cuda.api.copy_in(address(to), from, num_bytes, copy.stream);
  if (!is_done && !result) result = cuda.api.stream_synchronize(copy.stream);
  leave(result);
  return ierr ? ierr : check_driver(ceed, result, "cuMemcpyHtoDAsync: %zu bytes", num_bytes);
}

static int copy_out(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *to,
                    const void *from) {
  const RitzCudaCopy copy = {ceed, (CUstream)stream, num_bytes, to, from};
  CUresult result = CUDA_SUCCESS;
  bool is_done = false;

  RITZ_TRY(ritz_cuda_enter(ceed, device));
  const int ierr = ritz_cuda_stage_out(&cuda.api, &device->staging, &copy, &is_done, &result);
  if (!is_done) result = cuda.api.copy_out(to, address(from), num_bytes, copy.stream);
  if (!is_done && !result) result = cuda.api.stream_synchronize(copy.stream);
  leave(result);
  return ierr ? ierr : check_driver(ceed, result, "cuMemcpyDtoHAsync: %zu bytes", num_bytes);
}

static int copy_within(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *to,
                       const void *from) {
  RITZ_TRY(ritz_cuda_enter(ceed, device));
  return check_driver(ceed, leave(cuda.api.copy(address(to), address(from), num_bytes, (CUstream)stream)),
                      "cuMemcpyDtoDAsync: %zu bytes", num_bytes);
}

static int clear_memory(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *p) {
  RITZ_TRY(ritz_cuda_enter(ceed, device));
  return check_driver(ceed, leave(cuda.api.set_bytes(address(p), 0, num_bytes, (CUstream)stream)),
                      "cuMemsetD8Async: %zu bytes", num_bytes);
}

// ---- Order ----

static int stream_create(Ceed ceed, RitzDevice device, RitzDeviceStream *stream) {
  CUstream made = NULL;

  RITZ_TRY(ritz_cuda_enter(ceed, device));
  int ierr =
      check_driver(ceed, leave(cuda.api.stream_create(&made, CU_STREAM_NON_BLOCKING)), "cuStreamCreate");
  *stream = made;
  return ierr;
}

static int stream_destroy(Ceed ceed, RitzDevice device, RitzDeviceStream stream) {
  CUresult result = cuda.api.context_push(device->context);
  if (!result) result = leave(cuda.api.stream_destroy((CUstream)stream));
  return check_given_back(ceed, result, "cuStreamDestroy");
}

static int synchronize(Ceed ceed, RitzDevice device, RitzDeviceStream stream) {
  RITZ_TRY(ritz_cuda_enter(ceed, device));
  return check_driver(ceed, leave(cuda.api.stream_synchronize((CUstream)stream)), "cuStreamSynchronize");
}

static int event_create(Ceed ceed, RitzDevice device, RitzDeviceEvent *event) {
  CUevent made = NULL;

  RITZ_TRY(ritz_cuda_enter(ceed, device));
  int ierr = check_driver(ceed, leave(cuda.api.event_create(&made, CU_EVENT_DEFAULT)), "cuEventCreate");
  *event = (RitzDeviceEvent)made;
  return ierr;
}

static int event_destroy(Ceed ceed, RitzDevice device, RitzDeviceEvent *event) {
  CUevent old = (CUevent)*event;

  *event = NULL;
  if (!old) return CEED_ERROR_SUCCESS;
  CUresult result = cuda.api.context_push(device->context);
  if (!result) result = leave(cuda.api.event_destroy(old));
  return check_given_back(ceed, result, "cuEventDestroy");
}

static int event_record(Ceed ceed, RitzDevice device, RitzDeviceStream stream, RitzDeviceEvent event) {
  RITZ_TRY(ritz_cuda_enter(ceed, device));
  return check_driver(ceed, leave(cuda.api.event_record((CUevent)event, (CUstream)stream)), "cuEventRecord");
}

static int cuda_event_wait(Ceed ceed, RitzDevice device, RitzDeviceStream stream, RitzDeviceEvent event) {
  RITZ_TRY(ritz_cuda_enter(ceed, device));
  return check_driver(ceed, leave(cuda.api.stream_wait((CUstream)stream, (CUevent)event, 0)),
                      "cuStreamWaitEvent");
}

static int event_elapsed(Ceed ceed, RitzDevice device, RitzDeviceEvent begin, RitzDeviceEvent end,
                         double *seconds) {
  float milliseconds = 0;

  RITZ_TRY(ritz_cuda_enter(ceed, device));
  CUresult result = cuda.api.event_synchronize((CUevent)begin);
  if (!result) result = cuda.api.event_synchronize((CUevent)end);
  if (!result) result = cuda.api.event_elapsed(&milliseconds, (CUevent)begin, (CUevent)end);
  *seconds = 1e-3 * (double)milliseconds;
  return check_driver(ceed, leave(result), "cuEventElapsedTime");
}

// ---- Code ----

static int tell_no_compiler(Ceed ceed, int ierr, const char *why) {
  return why ? CeedError(ceed, CEED_ERROR_UNSUPPORTED, "%s", why) : ierr;
}

static int compile_for_cuda(Ceed ceed, RitzDevice device, const char *name, const char *text,
                            RitzDeviceCode *code) {
  const char *why = NULL;
  const int ierr = ritz_nvrtc_compile(ceed, device->info.arch, name, text, code, &why);
  return tell_no_compiler(ceed, ierr, why);
}

static int compile_hastily_for_cuda(Ceed ceed, RitzDevice device, const char *name, const char *text,
                                    RitzDeviceCode *code) {
  const char *why = NULL;
  const int ierr = ritz_nvrtc_compile_hastily(ceed, device->info.arch, name, text, code, &why);
  return tell_no_compiler(ceed, ierr, why);
}

// A driver of an older CUDA than the compiler's does not take all of its code.
static const char *load_hint(CUresult result) {
  const bool is_refused = result == CUDA_ERROR_INVALID_IMAGE || result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
                          result == CUDA_ERROR_INVALID_PTX || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;

  return is_refused
             ? " (where the driver is older than NVRTC: update the driver, or set CUDA_HOME to a toolkit "
               "of the driver's version)"
             : "";
}

// Programs and their kernels outlive contexts: they are no memory of the library's count.
static void free_uncounted(void **p) {
  ritz_memory_adopt(*p);
  ritz_free(p);
}

static int load_module(Ceed ceed, RitzDevice device, size_t num_bytes, const char *bytes,
                       RitzDeviceProgram *program) {
  RitzDeviceProgram made = NULL;

  *program = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &made));
  made->device = device;
  int ierr = ritz_cuda_enter(ceed, device);
  if (!ierr) {
    const CUresult result = cuda.api.module_load(&made->module, bytes);
    ierr = check_driver(ceed, leave(result), "cuModuleLoadData: %zu bytes for %s, %s%s", num_bytes,
                        device->info.arch, device->info.version, load_hint(result));
  }
  if (ierr) RITZ_FREE(&made);
  ritz_memory_give(made);
  *program = made;
  return ierr;
}

static void free_kernel(RitzDeviceKernel *kernel) {
  free_uncounted((void **)&(*kernel)->name);
  free_uncounted((void **)kernel);
}

static int unload(Ceed ceed, RitzDevice device, RitzDeviceProgram *program) {
  if (!*program) return CEED_ERROR_SUCCESS;
  CUmodule module = (*program)->module;
  for (RitzDeviceKernel next, kernel = atomic_load(&(*program)->kernels); kernel; kernel = next) {
    next = kernel->next;
    free_kernel(&kernel);
  }
  free_uncounted((void **)program);
  CUresult result = cuda.api.context_push(device->context);
  if (!result) result = leave(cuda.api.module_unload(module));
  return check_given_back(ceed, result, "cuModuleUnload");
}

// Kernels of more than 8 blocks a cluster ask for it; older drivers know no clusters.
static void allow_cluster(CUfunction function) {
  int num_blocks = 0;
  if (cuda.api.function_attribute(&num_blocks, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, function)) return;
  if (num_blocks > 8)
    (void)cuda.api.function_set_attribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
}

static int make_cuda_kernel(Ceed ceed, RitzDeviceProgram program, const char *name,
                            RitzDeviceKernel *kernel) {
  RITZ_TRY(RITZ_CALLOC(ceed, 1, kernel));
  ritz_memory_give(*kernel);
  (*kernel)->device = program->device;
  int ierr = ritz_strdup(ceed, name, &(*kernel)->name);
  ritz_memory_give((*kernel)->name);
  if (!ierr) ierr = ritz_cuda_enter(ceed, program->device);
  if (!ierr) {
    const CUresult result = cuda.api.module_function(&(*kernel)->function, program->module, name);
    if (!result) allow_cluster((*kernel)->function);
    ierr = check_driver(ceed, leave(result), "cuModuleGetFunction: kernel '%s'", name);
  }
  if (ierr) free_kernel(kernel);
  return ierr;
}

// Two threads that ask for a kernel for the first time may get one each; both are right.
static int get_kernel(Ceed ceed, RitzDeviceProgram program, const char *name, RitzDeviceKernel *kernel) {
  *kernel = atomic_load(&program->kernels);
  while (*kernel && strcmp((*kernel)->name, name)) *kernel = (*kernel)->next;
  if (*kernel) return CEED_ERROR_SUCCESS;
  RITZ_TRY(make_cuda_kernel(ceed, program, name, kernel));
  (*kernel)->next = atomic_load(&program->kernels);
  while (!atomic_compare_exchange_weak(&program->kernels, &(*kernel)->next, *kernel)) continue;
  return CEED_ERROR_SUCCESS;
}

static int kernel_info(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceKernelInfo *result) {
  static const CUfunction_attribute attributes[] = {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                                    CU_FUNC_ATTRIBUTE_NUM_REGS,
                                                    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                                                    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES};
  int values[4] = {0, -1, 0, -1};
  CUresult failure = CUDA_SUCCESS;

  RITZ_TRY(ritz_cuda_enter(ceed, kernel->device));
  for (int i = 0; i < 4 && !failure; i++) {
    failure = cuda.api.function_attribute(&values[i], attributes[i], kernel->function);
  }
  *result = (RitzDeviceKernelInfo){values[0], values[1], values[2], values[3]};
  return check_driver(ceed, leave(failure), "cuFuncGetAttribute: kernel '%s'", kernel->name);
}

// ---- Launches ----

// Work of one launch: memory to clear, then a kernel.
typedef struct {
  RitzDeviceKernel kernel; // borrowed
  size_t num_bytes;        // of zeros at p, before the kernel
  void *p;
  int64_t num_blocks;
  int block_size;
  int64_t shared_bytes;
  int num_args;
  const RitzDeviceArg *args; // borrowed
} Work;

static int check_work(Ceed ceed, CUresult result, const char *call, const Work *work) {
  return check_driver(ceed, result, "%s: kernel '%s', %" CeedSize_FMT " blocks of %d threads", call,
                      work->kernel->name, (CeedSize)work->num_blocks, work->block_size);
}

// The driver is asked, since two handles of a kernel may be about.
static CUresult raise_limit_locked(RitzDeviceKernel kernel, int64_t shared_bytes) {
  const CUfunction_attribute attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  int limit = 0;

  CUresult result = cuda.api.function_attribute(&limit, attribute, kernel->function);
  if (!result && shared_bytes > limit) {
    limit = (int)shared_bytes;
    result = cuda.api.function_set_attribute(kernel->function, attribute, limit);
  }
  if (!result) atomic_store(&kernel->shared_limit, limit);
  return result;
}

// Blocks get more than 48 KiB only if the kernel's limit has been raised before. How much of a
// multiprocessor's cache becomes memory of blocks is left to the driver, which takes no less than its blocks
// need.
static int raise_limit(Ceed ceed, RitzDeviceKernel kernel, int64_t shared_bytes) {
  const int64_t most = kernel->device->info.dynamic_shared_bytes;
  int declared = 0;

  RITZ_TRY(ritz_cuda_enter(ceed, kernel->device));
  CUresult result =
      cuda.api.function_attribute(&declared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel->function);
  const bool fits = shared_bytes <= most - declared;
  ritz_lock(RITZ_LOCK_DEVICES);
  if (!result && fits) result = raise_limit_locked(kernel, shared_bytes);
  ritz_unlock(RITZ_LOCK_DEVICES);
  leave(result);
  RITZ_REQUIRE(fits, ceed, CEED_ERROR_BACKEND,
               "cuLaunchKernel: kernel '%s': %" CeedSize_FMT
               " bytes of memory wanted for a block beside %d declared ones, this device has %" CeedSize_FMT,
               kernel->name, (CeedSize)shared_bytes, declared, (CeedSize)most);
  return check_driver(ceed, result,
                      "cuFuncSetAttribute: kernel '%s', %" CeedSize_FMT " bytes of shared memory",
                      kernel->name, (CeedSize)shared_bytes);
}

static int prepare_launch(Ceed ceed, const Work *work) {
  RITZ_REQUIRE(work->num_blocks <= INT_MAX, ceed, CEED_ERROR_BACKEND,
               "cuLaunchKernel: kernel '%s', %" CeedSize_FMT " blocks: at most %d are possible",
               work->kernel->name, (CeedSize)work->num_blocks, INT_MAX);
  return work->shared_bytes <= atomic_load(&work->kernel->shared_limit)
             ? CEED_ERROR_SUCCESS
             : raise_limit(ceed, work->kernel, work->shared_bytes);
}

static void list_args(const Work *work, void **values) {
  for (int i = 0; i < work->num_args; i++) values[i] = (void *)&work->args[i].value; // read only
}

static CUresult queue_kernel(const Work *work, CUstream stream) {
  void *values[work->num_args + 1];

  list_args(work, values);
  return cuda.api.launch(work->kernel->function, (unsigned)work->num_blocks, 1, 1, (unsigned)work->block_size,
                         1, 1, (unsigned)work->shared_bytes, stream, values, NULL);
}

static int launch_kernel(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceStream stream, int64_t num_blocks,
                         int block_size, int64_t shared_bytes, int num_args, const RitzDeviceArg *args) {
  const Work work = {kernel, 0, NULL, num_blocks, block_size, shared_bytes, num_args, args};

  RITZ_TRY(prepare_launch(ceed, &work));
  RITZ_TRY(ritz_cuda_enter(ceed, kernel->device));
  return check_work(ceed, leave(queue_kernel(&work, (CUstream)stream)), "cuLaunchKernel", &work);
}

// ---- Launches that are repeated: a graph of two nodes, which costs the host less than two calls ----

struct RitzDeviceReplay_private {
  Work last;       // its arguments are `args`
  bool is_refused; // the driver does not take it as a graph
  bool is_current; // the graph does what `last` is
  CUgraph graph;
  CUgraphNode clear, launch;
  CUgraphExec exec;                // NULL: none yet
  CUDA_MEMSET_NODE_PARAMS cleared; // of exec
  RitzDeviceArg args[];
};

static bool is_same_arg(const RitzDeviceArg *a, const RitzDeviceArg *b) {
  static const size_t sizes[] = {[RITZ_ARG_POINTER] = sizeof(void *),
                                 [RITZ_ARG_INT] = sizeof(int32_t),
                                 [RITZ_ARG_LONG] = sizeof(int64_t),
                                 [RITZ_ARG_SCALAR] = sizeof(CeedScalar)};

  return a->kind == b->kind && !memcmp(&a->value, &b->value, sizes[a->kind]);
}

// Whether two works of one kernel are equal, values of arguments included.
static bool is_same_work(const Work *a, const Work *b) {
  bool is_same = a->num_bytes == b->num_bytes && a->p == b->p && a->num_blocks == b->num_blocks &&
                 a->block_size == b->block_size && a->shared_bytes == b->shared_bytes;

  for (int i = 0; is_same && i < a->num_args; i++) is_same = is_same_arg(&a->args[i], &b->args[i]);
  return is_same;
}

static void remember(RitzDeviceReplay replay, const Work *work) {
  replay->last = *work;
  replay->last.args = replay->args;
  memcpy(replay->args, work->args, (size_t)work->num_args * sizeof(RitzDeviceArg));
  replay->is_current = false;
}

static CUresult drop_graph(RitzDeviceReplay replay) {
  CUresult result = CUDA_SUCCESS, last = CUDA_SUCCESS;

  if (replay->exec) result = cuda.api.exec_destroy(replay->exec);
  if (replay->graph) last = cuda.api.graph_destroy(replay->graph);
  replay->exec = NULL;
  replay->graph = NULL;
  return result ? result : last;
}

static int replay_destroy(Ceed ceed, RitzDevice device, RitzDeviceReplay *replay) {
  if (!*replay) return CEED_ERROR_SUCCESS;
  CUresult result = cuda.api.context_push(device->context);
  if (!result) result = leave(drop_graph(*replay));
  RITZ_FREE(replay);
  return check_given_back(ceed, result, "cuGraphDestroy");
}

// *replay becomes one of the work's kernel. *is_repeated: it was asked for the same last time.
static int look_at_replay(Ceed ceed, const Work *work, RitzDeviceReplay *replay, bool *is_repeated) {
  const Work *last = *replay ? &(*replay)->last : NULL;

  *is_repeated = false;
  if (last && (last->kernel != work->kernel || last->num_args != work->num_args))
    RITZ_TRY(replay_destroy(ceed, work->kernel->device, replay));
  if (*replay) {
    *is_repeated = is_same_work(last, work);
  } else {
    RITZ_TRY(ritz_calloc(ceed, 1, sizeof(**replay) + (size_t)work->num_args * sizeof(RitzDeviceArg),
                         (void **)replay));
  }
  if (!*is_repeated) remember(*replay, work);
  return CEED_ERROR_SUCCESS;
}

static CUDA_MEMSET_NODE_PARAMS clear_params(const Work *work) {
  const CUdeviceptr to = address(work->p);
  const unsigned size = to % 4 || work->num_bytes % 4 ? 1 : 4;

  return (
      CUDA_MEMSET_NODE_PARAMS){.to = to, .element_size = size, .width = work->num_bytes / size, .height = 1};
}

static CUDA_KERNEL_NODE_PARAMS launch_params(const Work *work, void **values) {
  list_args(work, values);
  return (CUDA_KERNEL_NODE_PARAMS){.function = work->kernel->function,
                                   .blocks_x = (unsigned)work->num_blocks,
                                   .blocks_y = 1,
                                   .blocks_z = 1,
                                   .threads_x = (unsigned)work->block_size,
                                   .threads_y = 1,
                                   .threads_z = 1,
                                   .shared_bytes = (unsigned)work->shared_bytes,
                                   .args = values};
}

static CUresult make_graph(RitzDeviceReplay replay, const CUDA_KERNEL_NODE_PARAMS *launched) {
  CUcontext context = replay->last.kernel->device->context;

  replay->cleared = clear_params(&replay->last);
  CUresult result = cuda.api.graph_create(&replay->graph, 0);
  if (!result)
    result = cuda.api.graph_add_memset(&replay->clear, replay->graph, NULL, 0, &replay->cleared, context);
  if (!result)
    result = cuda.api.graph_add_kernel(&replay->launch, replay->graph, &replay->clear, 1, launched);
  return result ? result : cuda.api.graph_instantiate(&replay->exec, replay->graph, 0);
}

static CUresult change_graph(RitzDeviceReplay replay, const CUDA_KERNEL_NODE_PARAMS *launched) {
  const CUDA_MEMSET_NODE_PARAMS cleared = clear_params(&replay->last), *old = &replay->cleared;
  const bool is_same =
      cleared.to == old->to && cleared.element_size == old->element_size && cleared.width == old->width;
  CUcontext context = replay->last.kernel->device->context;
  CUresult result = cuda.api.exec_set_kernel(replay->exec, replay->launch, launched);

  if (!result && !is_same) result = cuda.api.exec_set_memset(replay->exec, replay->clear, &cleared, context);
  replay->cleared = cleared;
  return result;
}

// In a stream that is being captured the program gets the two operations themselves.
static bool is_captured(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

  return cuda.api.stream_is_capturing(stream, &status) || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

// Whether there is a graph that does replay->last. One is made at the second of two equal calls; from then on
// it follows the arguments.
static bool has_graph(RitzDeviceReplay replay, bool is_repeated, CUstream stream) {
  void *values[replay->last.num_args + 1];

  if (replay->is_refused || (!replay->exec && !is_repeated) || is_captured(stream)) return false;
  if (replay->is_current) return true;
  const CUDA_KERNEL_NODE_PARAMS launched = launch_params(&replay->last, values);
  const CUresult result = replay->exec ? change_graph(replay, &launched) : make_graph(replay, &launched);
  replay->is_current = !result;
  replay->is_refused = result;
  if (result) (void)drop_graph(replay);
  return replay->is_current;
}

static int launch_cleared(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceStream stream, size_t num_bytes,
                          void *p, int64_t num_blocks, int block_size, int64_t shared_bytes, int num_args,
                          const RitzDeviceArg *args, RitzDeviceReplay *replay) {
  const Work work = {kernel, num_bytes, p, num_blocks, block_size, shared_bytes, num_args, args};
  const char *call = "cuGraphLaunch";
  bool is_repeated = false;
  CUresult result;

  RITZ_TRY(prepare_launch(ceed, &work));
  if (cuda.has_graphs) RITZ_TRY(look_at_replay(ceed, &work, replay, &is_repeated));
  RITZ_TRY(ritz_cuda_enter(ceed, kernel->device));
  if (*replay && has_graph(*replay, is_repeated, (CUstream)stream)) {
    result = cuda.api.exec_launch((*replay)->exec, (CUstream)stream);
  } else {
    call = "cuMemsetD8Async";
    result = cuda.api.set_bytes(address(p), 0, num_bytes, (CUstream)stream);
    if (!result) {
      call = "cuLaunchKernel";
      result = queue_kernel(&work, (CUstream)stream);
    }
  }
  return check_work(ceed, leave(result), call, &work);
}

const RitzDriver ritz_cuda = {
    .name = "cuda",
    .options = RITZ_NVRTC_STANDARD " " RITZ_NVRTC_SPACE,
    .has_warps = true,
    .compiles_beside = true,
    .count = count_cuda_devices,
    .compiler = ritz_nvrtc_file,
    .choose = choose_cuda_device,
    .open = open_cuda_device,
    .info = info,
    .memory = memory,
    .alloc = alloc_memory,
    .free = free_cuda_memory,
    .find = find_memory,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .copy = copy_within,
    .clear = clear_memory,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .synchronize = synchronize,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_wait = cuda_event_wait,
    .event_elapsed = event_elapsed,
    .compile = compile_for_cuda,
    .compile_hastily = compile_hastily_for_cuda,
    .load = load_module,
    .unload = unload,
    .kernel = get_kernel,
    .kernel_info = kernel_info,
    .launch = launch_kernel,
    .launch_cleared = launch_cleared,
    .replay_destroy = replay_destroy,
};
