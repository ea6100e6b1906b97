// SPDX-License-Identifier: BSD-2-Clause
// Devices of all OpenCL drivers (contract in devices/device.h), through the loader that finds them. A device
// has one context and one queue, which works in order, from its first use until the process ends. The table
// ritz_opencl is used by backends/gpu, public.c and tests.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS, MAP_NORESERVE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"
#include "devices/device.h"
#include "devices/opencl-api.h"

// Memory, and the range of the process's addresses that stands for it.
typedef struct {
  uintptr_t start;
  size_t num_bytes;
  cl_mem buffer;
} Allocation;

struct RitzDevice_private {
  RitzDeviceInfo info;
  pid_t process; // that opened it
  cl_platform_id platform;
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
  size_t alignment; // of what kernels are given
  int64_t max_alloc;
  Allocation *allocations; // owned, in ascending order; this and the next ones under RITZ_LOCK_DEVICES
  size_t num_allocations, capacity;
  int64_t num_allocated; // bytes
  RitzDevice next;
};

// Handle of a kernel that one thread at a time has: arguments belong to the handle.
typedef struct Instance {
  cl_kernel handle;
  struct Instance *next;
} Instance;

struct RitzDeviceKernel_private {
  RitzDeviceProgram program; // borrowed
  char *name;                // owned
  cl_uint num_args;
  size_t block_size; // that it is compiled for; 0: any
  Instance *idle;    // owned; under RITZ_LOCK_DEVICES
  RitzDeviceKernel next;
};

struct RitzDeviceProgram_private {
  RitzDevice device; // borrowed
  cl_program handle;
  _Atomic(RitzDeviceKernel) kernels; // owned; grows at the front
};

struct RitzDeviceEvent_private {
  cl_event handle; // NULL: not recorded
};

// ---- The library ----

static struct {
  _Atomic bool is_known; // the others are final, save the list
  int num_devices;
  const char *why; // NULL: there are devices
  RitzOpenclApi api;
  RitzDevice devices; // open ones, under RITZ_LOCK_DEVICES
} cl;

static bool take_functions(void *library) {
  bool has_all = true;

#define FIND(type, name, symbol, args)                                                                       \
  *(void **)&cl.api.name = dlsym(library, #symbol);                                                          \
  has_all = has_all && cl.api.name;
  RITZ_OPENCL_FUNCTIONS(FIND)
#undef FIND
  return has_all;
}

// ---- What there is ----

// Devices that can be used, in the order of their numbers; `index` is the one that is wanted.
typedef struct {
  int index, num;
  cl_platform_id platform;
  cl_device_id id;
  bool has_platform, has_device; // usable or not
} Search;

static cl_ulong device_number(cl_device_id id, cl_uint what) {
  union {
    cl_ulong l;
    cl_uint i;
  } value = {0};
  size_t num_bytes = 0;

  if (cl.api.device_info(id, what, sizeof(value), &value, &num_bytes)) return 0;
  return num_bytes == sizeof(value.i) ? value.i : value.l;
}

// "OpenCL 1.2 and more words" or a later version.
static bool is_new_enough(const char *version) {
  int major = 0, minor = 0;

  return sscanf(version, "OpenCL %d.%d", &major, &minor) == 2 && (major > 1 || minor >= 2);
}

// Without blanks at the ends; what is too long is cut.
static void copy_words(char *to, size_t size, const char *from) {
  from += strspn(from, " ");
  snprintf(to, size, "%s", from);
  for (size_t n = strlen(to); n > 0 && to[n - 1] == ' '; n--) to[n - 1] = 0;
}

static void platform_version(cl_platform_id platform, size_t size, char *version) {
  size_t num_bytes = 0;

  *version = 0;
  if (cl.api.platform_info(platform, CL_PLATFORM_VERSION, 0, NULL, &num_bytes)) return;
  char text[num_bytes + 1];
  memset(text, 0, num_bytes + 1);
  cl.api.platform_info(platform, CL_PLATFORM_VERSION, num_bytes, text, NULL);
  copy_words(version, size, text);
}

static void device_words(cl_device_id id, cl_uint what, size_t size, char *words) {
  size_t num_bytes = 0;

  *words = 0;
  if (cl.api.device_info(id, what, 0, NULL, &num_bytes)) return;
  char text[num_bytes + 1];
  memset(text, 0, num_bytes + 1);
  cl.api.device_info(id, what, num_bytes, text, NULL);
  copy_words(words, size, text);
}

static bool has_extension(cl_device_id id, const char *name) {
  size_t num_bytes = 0;

  if (cl.api.device_info(id, CL_DEVICE_EXTENSIONS, 0, NULL, &num_bytes)) return false;
  char text[num_bytes + 1];
  memset(text, 0, num_bytes + 1);
  cl.api.device_info(id, CL_DEVICE_EXTENSIONS, num_bytes, text, NULL);
  return strstr(text, name) != NULL;
}

static void meet_device(Search *s, cl_platform_id platform, cl_device_id id) {
  char version[64];

  device_words(id, CL_DEVICE_VERSION, sizeof(version), version);
  s->has_device = true;
  if (!is_new_enough(version) || !device_number(id, CL_DEVICE_AVAILABLE) ||
      !device_number(id, CL_DEVICE_COMPILER_AVAILABLE) || !device_number(id, CL_DEVICE_DOUBLE_FP_CONFIG))
    return;
  if (s->num++ != s->index) return;
  s->platform = platform;
  s->id = id;
}

static void search_platform(Search *s, cl_platform_id platform, cl_bitfield type) {
  char version[64];
  cl_uint num = 0;

  platform_version(platform, sizeof(version), version);
  if (!is_new_enough(version)) return;
  if (cl.api.devices(platform, type, 0, NULL, &num) || !num) return;
  cl_device_id ids[num];
  if (cl.api.devices(platform, type, num, ids, NULL)) return;
  for (cl_uint i = 0; i < num; i++) meet_device(s, platform, ids[i]);
}

static void search(Search *s) {
  static const cl_bitfield types[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU};
  cl_uint num = 0;

  if (cl.api.platforms(0, NULL, &num) || !num) return;
  cl_platform_id platforms[num];
  if (cl.api.platforms(num, platforms, NULL)) return;
  s->has_platform = true;
  for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
    for (cl_uint i = 0; i < num; i++) search_platform(s, platforms[i], types[t]);
  }
}

// The library stays loaded: its threads do.
static void look_for_devices(void) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  Search s = {.index = -1};

  cl.why = "no OpenCL: the loader of its drivers, libOpenCL.so.1, is not found";
  if (!library) return;
  cl.why = "libOpenCL.so.1 lacks functions of OpenCL 1.2";
  if (!take_functions(library)) return;
  search(&s);
  cl.num_devices = s.num;
  cl.why = s.num ? NULL
           : s.has_device
               ? "no OpenCL device has a compiler for OpenCL C 1.2 and computes in double precision"
           : s.has_platform ? "the OpenCL drivers have no device of OpenCL 1.2 or newer"
                            : "no OpenCL driver is installed: libOpenCL.so.1 knows none";
}

static void look(void) {
  if (atomic_load(&cl.is_known)) return;
  ritz_lock(RITZ_LOCK_DEVICES);
  if (!atomic_load(&cl.is_known)) {
    look_for_devices();
    atomic_store(&cl.is_known, true);
  }
  ritz_unlock(RITZ_LOCK_DEVICES);
}

static int count(const char **why) {
  look();
  *why = cl.why;
  return cl.num_devices;
}

// ---- Calls ----

static const char *error_word(cl_int code) {
#define WORD(name) #name,
  static const char *const runtime[] = {"CL_SUCCESS", RITZ_OPENCL_RUNTIME_ERRORS(WORD)};
  static const char *const call[] = {RITZ_OPENCL_CALL_ERRORS(WORD)};
#undef WORD
  const int num_runtime = sizeof(runtime) / sizeof(runtime[0]), num_call = sizeof(call) / sizeof(call[0]);

  if (code <= 0 && -code < num_runtime) return runtime[-code];
  if (code <= -30 && -code - 30 < num_call) return call[-code - 30];
  return "unknown error";
}

// A failed call says its name, what it was asked for, and the error's name.
static int check(Ceed ceed, cl_int result, const char *format, ...) {
  const bool is_memory = result == CL_MEM_OBJECT_ALLOCATION_FAILURE || result == CL_OUT_OF_HOST_MEMORY;
  char what[512];
  va_list args;

  if (!result) return CEED_ERROR_SUCCESS;
  va_start(args, format);
  vsnprintf(what, sizeof(what), format, args);
  va_end(args);
  return CeedError(ceed, is_memory ? CEED_ERROR_MAJOR : CEED_ERROR_BACKEND, "%s: %s (%d)", what,
                   error_word(result), (int)result);
}

// ---- Devices ----

static int choose(Ceed ceed, int *index) {
  look();
  *index = 0;
  RITZ_REQUIRE(cl.num_devices, ceed, CEED_ERROR_BACKEND, "%s", cl.why);
  return CEED_ERROR_SUCCESS;
}

// Threads that run together; drivers of GPUs tell it by extensions of their own.
static int warp_size(cl_device_id id) {
  static const cl_uint extensions[] = {CL_DEVICE_WARP_SIZE_NV, CL_DEVICE_WAVEFRONT_WIDTH_AMD};
  cl_ulong size = 0;

  if (device_number(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) return 1;
  for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]) && !size; i++) {
    size = device_number(id, extensions[i]);
  }
  return size ? (int)size : 1;
}

static void describe(RitzDevice device, int index) {
  RitzDeviceInfo *info = &device->info;
  char platform[128], driver[32], version[92];

  platform_version(device->platform, sizeof(platform), platform);
  device_words(device->id, CL_DRIVER_VERSION, sizeof(driver), driver);
  device_words(device->id, CL_DEVICE_VERSION, sizeof(version), version);
  snprintf(info->version, sizeof(info->version), "%s; %s; %s", platform, driver, version);
  device_words(device->id, CL_DEVICE_NAME, sizeof(info->name), info->name);
  device_words(device->id, CL_DEVICE_VERSION, sizeof(info->arch), info->arch);
  info->driver = &ritz_opencl;
  info->index = index;
  info->num_bytes = (int64_t)device_number(device->id, CL_DEVICE_GLOBAL_MEM_SIZE);
  info->num_units = (int)device_number(device->id, CL_DEVICE_MAX_COMPUTE_UNITS);
  info->warp_size = warp_size(device->id);
  info->max_threads = (int)device_number(device->id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  info->local_bytes = (int64_t)device_number(device->id, CL_DEVICE_LOCAL_MEM_SIZE);
  info->adds_atomically =
      sizeof(CeedScalar) == sizeof(float) || has_extension(device->id, "cl_khr_int64_base_atomics");
  device->max_alloc = (int64_t)device_number(device->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  device->alignment = (size_t)device_number(device->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  if (!device->alignment) device->alignment = 1;
}

static int make_device(Ceed ceed, RitzDevice device, int index) {
  Search s = {.index = index};
  cl_int result;

  search(&s);
  RITZ_REQUIRE(s.id, ceed, CEED_ERROR_BACKEND, "clGetDeviceIDs: device %d: there are %d now", index, s.num);
  device->process = getpid();
  device->platform = s.platform;
  device->id = s.id;
  describe(device, index);
  const intptr_t properties[] = {CL_CONTEXT_PLATFORM, (intptr_t)device->platform, 0};
  device->context = cl.api.create_context(properties, 1, &device->id, NULL, NULL, &result);
  RITZ_TRY(check(ceed, result, "clCreateContext: device %d, %s", index, device->info.name));
  device->queue = cl.api.create_queue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, &result);
  if (result) cl.api.release_context(device->context);
  return check(ceed, result, "clCreateCommandQueue: device %d, %s", index, device->info.name);
}

// The open device, or NULL; `added` joins the list when there is none.
static RitzDevice find_device(int index, RitzDevice added) {
  ritz_lock(RITZ_LOCK_DEVICES);
  RitzDevice device = cl.devices;
  while (device && device->info.index != index) device = device->next;
  if (!device && added) {
    added->next = cl.devices;
    device = cl.devices = added;
    ritz_memory_give(added); // it stays to the end of the process
  }
  ritz_unlock(RITZ_LOCK_DEVICES);
  return device;
}

static int open_device(Ceed ceed, int index, RitzDevice *device) {
  RitzDevice added = NULL;

  look();
  RITZ_ASSERT(0 <= index && index < cl.num_devices);
  *device = find_device(index, NULL);
  if (*device) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &added));
  int ierr = make_device(ceed, added, index);
  if (!ierr) *device = find_device(index, added);
  if (*device == added) return CEED_ERROR_SUCCESS;
  if (!ierr) { // another thread was faster
    cl.api.release_queue(added->queue);
    cl.api.release_context(added->context);
  }
  RITZ_FREE(&added);
  return ierr;
}

static const RitzDeviceInfo *info(RitzDevice device) { return &device->info; }

// A forked child has none of the driver's threads: it would wait for ever.
static int require_process(Ceed ceed, RitzDevice device, const char *call) {
  RITZ_REQUIRE(device->process == getpid(), ceed, CEED_ERROR_BACKEND,
               "%s: %s belongs to process %ld; a child that was forked from it cannot use the device", call,
               device->info.name, (long)device->process);
  return CEED_ERROR_SUCCESS;
}

static int memory(Ceed ceed, RitzDevice device, int64_t *free_bytes) {
  (void)ceed, (void)device;
  *free_bytes = -1;
  return CEED_ERROR_SUCCESS;
}

// ---- Addresses ----

// Number of allocations that start at p or before.
static size_t num_before(RitzDevice device, uintptr_t p) {
  size_t low = 0, high = device->num_allocations;

  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (device->allocations[middle].start <= p)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The allocation that p points into; its buffer is NULL when there is none.
static Allocation find_allocation(RitzDevice device, const void *p) {
  Allocation found = {0};

  ritz_lock(RITZ_LOCK_DEVICES);
  const size_t n = num_before(device, (uintptr_t)p);
  if (n && (uintptr_t)p - device->allocations[n - 1].start < device->allocations[n - 1].num_bytes)
    found = device->allocations[n - 1];
  ritz_unlock(RITZ_LOCK_DEVICES);
  return found;
}

// False: the list is full.
static bool insert(RitzDevice device, const Allocation *added, size_t *capacity) {
  ritz_lock(RITZ_LOCK_DEVICES);
  const bool has_room = device->num_allocations < device->capacity;
  if (has_room) {
    const size_t n = num_before(device, added->start);
    memmove(&device->allocations[n + 1], &device->allocations[n],
            (device->num_allocations - n) * sizeof(Allocation));
    device->allocations[n] = *added;
    device->num_allocations++;
    device->num_allocated += (int64_t)added->num_bytes;
  }
  *capacity = device->capacity;
  ritz_unlock(RITZ_LOCK_DEVICES);
  return has_room;
}

// The new list is made without the lock, since a failure calls the user's function.
static int grow(Ceed ceed, RitzDevice device, size_t capacity) {
  Allocation *list = NULL;

  RITZ_TRY(RITZ_MALLOC(ceed, capacity, &list));
  ritz_lock(RITZ_LOCK_DEVICES);
  if (device->capacity < capacity) {
    Allocation *old = device->allocations;
    if (old) memcpy(list, old, device->num_allocations * sizeof(Allocation));
    device->allocations = list;
    device->capacity = capacity;
    list = old;
  }
  ritz_unlock(RITZ_LOCK_DEVICES);
  RITZ_FREE(&list);
  return CEED_ERROR_SUCCESS;
}

static int add_allocation(Ceed ceed, RitzDevice device, const Allocation *added) {
  size_t capacity;

  while (!insert(device, added, &capacity)) RITZ_TRY(grow(ceed, device, 2 * capacity + 16));
  return CEED_ERROR_SUCCESS;
}

// The allocation that starts at p, which is no longer in the list; the last one takes the list along.
static Allocation remove_allocation(RitzDevice device, const void *p) {
  Allocation removed = {0}, *unused = NULL;

  ritz_lock(RITZ_LOCK_DEVICES);
  const size_t n = num_before(device, (uintptr_t)p);
  if (n && device->allocations[n - 1].start == (uintptr_t)p) {
    removed = device->allocations[n - 1];
    memmove(&device->allocations[n - 1], &device->allocations[n],
            (device->num_allocations - n) * sizeof(Allocation));
    device->num_allocated -= (int64_t)removed.num_bytes;
    if (!--device->num_allocations) {
      unused = device->allocations;
      device->allocations = NULL;
      device->capacity = 0;
    }
  }
  ritz_unlock(RITZ_LOCK_DEVICES);
  RITZ_FREE(&unused);
  return removed;
}

// One byte more, so that the end of one range is not the start of another.
static size_t range_size(size_t num_bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);

  return (num_bytes + page) / page * page;
}

// ---- Memory ----

// Many drivers give memory that they do not have, and fail when it is used.
static int check_size(Ceed ceed, RitzDevice device, size_t num_bytes) {
  ritz_lock(RITZ_LOCK_DEVICES);
  const int64_t num_free = device->info.num_bytes - device->num_allocated;
  ritz_unlock(RITZ_LOCK_DEVICES);
  RITZ_REQUIRE(num_free >= 0 && num_bytes <= (size_t)num_free, ceed, CEED_ERROR_MAJOR,
               "clCreateBuffer: out of memory: %zu bytes wanted, %" CeedSize_FMT " of %" CeedSize_FMT
               " available",
               num_bytes, (CeedSize)num_free, (CeedSize)device->info.num_bytes);
  RITZ_REQUIRE(num_bytes <= (size_t)device->max_alloc, ceed, CEED_ERROR_MAJOR,
               "clCreateBuffer: out of memory: %zu bytes wanted, at most %" CeedSize_FMT
               " available in one piece",
               num_bytes, (CeedSize)device->max_alloc);
  return CEED_ERROR_SUCCESS;
}

static int alloc_memory(Ceed ceed, RitzDevice device, size_t num_bytes, void **p) {
  cl_int result;

  *p = NULL;
  RITZ_TRY(require_process(ceed, device, "clCreateBuffer"));
  RITZ_TRY(check_size(ceed, device, num_bytes));
  void *range =
      mmap(NULL, range_size(num_bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  RITZ_REQUIRE(range != MAP_FAILED, ceed, CEED_ERROR_MAJOR,
               "mmap: out of addresses: %zu bytes wanted for memory of a device", num_bytes);
  cl_mem buffer = cl.api.create_buffer(device->context, CL_MEM_READ_WRITE, num_bytes, NULL, &result);
  int ierr = check(ceed, result, "clCreateBuffer: %zu bytes", num_bytes);
  if (!ierr) ierr = add_allocation(ceed, device, &(Allocation){(uintptr_t)range, num_bytes, buffer});
  if (ierr) {
    if (!result) cl.api.release_mem(buffer);
    munmap(range, range_size(num_bytes));
    return ierr;
  }
  *p = range;
  return CEED_ERROR_SUCCESS;
}

// Commands that are queued keep the buffer until they have run.
static int free_memory(Ceed ceed, RitzDevice device, void *p) {
  const Allocation a = remove_allocation(device, p);

  RITZ_REQUIRE(a.buffer, ceed, CEED_ERROR_BACKEND, "clReleaseMemObject: %p is not the start of an allocation",
               p);
  munmap(p, range_size(a.num_bytes));
  return check(ceed, cl.api.release_mem(a.buffer), "clReleaseMemObject: %p", p);
}

static void find_memory(RitzDevice device, const void *p, void **start, size_t *num_bytes) {
  const Allocation a = find_allocation(device, p);

  *start = (void *)a.start;
  *num_bytes = a.num_bytes;
}

// Memory of `num_bytes` at an address, as OpenCL names it.
static int resolve(Ceed ceed, RitzDevice device, const char *call, const void *p, size_t num_bytes,
                   cl_mem *buffer, size_t *offset) {
  const Allocation a = find_allocation(device, p);

  RITZ_TRY(require_process(ceed, device, call));
  RITZ_REQUIRE(a.buffer, ceed, CEED_ERROR_BACKEND, "%s: %p is no memory of this device", call, p);
  *buffer = a.buffer;
  *offset = (uintptr_t)p - a.start;
  RITZ_REQUIRE(num_bytes <= a.num_bytes - *offset, ceed, CEED_ERROR_BACKEND,
               "%s: %zu bytes at byte %zu of an allocation of %zu bytes", call, num_bytes, *offset,
               a.num_bytes);
  return CEED_ERROR_SUCCESS;
}

static int copy_in(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *to,
                   const void *from) {
  cl_mem buffer;
  size_t offset;

  (void)stream;
  if (!num_bytes) return CEED_ERROR_SUCCESS;
  RITZ_TRY(resolve(ceed, device, "clEnqueueWriteBuffer", to, num_bytes, &buffer, &offset));
  return check(ceed, cl.api.write(device->queue, buffer, CL_TRUE, offset, num_bytes, from, 0, NULL, NULL),
               "clEnqueueWriteBuffer: %zu bytes", num_bytes);
}

static int copy_out(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *to,
                    const void *from) {
  cl_mem buffer;
  size_t offset;

  (void)stream;
  if (!num_bytes) return CEED_ERROR_SUCCESS;
  RITZ_TRY(resolve(ceed, device, "clEnqueueReadBuffer", from, num_bytes, &buffer, &offset));
  return check(ceed, cl.api.read(device->queue, buffer, CL_TRUE, offset, num_bytes, to, 0, NULL, NULL),
               "clEnqueueReadBuffer: %zu bytes", num_bytes);
}

static int copy_within(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *to,
                       const void *from) {
  cl_mem to_buffer, from_buffer;
  size_t to_offset, from_offset;

  (void)stream;
  if (!num_bytes) return CEED_ERROR_SUCCESS;
  RITZ_TRY(resolve(ceed, device, "clEnqueueCopyBuffer", to, num_bytes, &to_buffer, &to_offset));
  RITZ_TRY(resolve(ceed, device, "clEnqueueCopyBuffer", from, num_bytes, &from_buffer, &from_offset));
  return check(ceed,
               cl.api.copy(device->queue, from_buffer, to_buffer, from_offset, to_offset, num_bytes, 0, NULL,
                           NULL),
               "clEnqueueCopyBuffer: %zu bytes", num_bytes);
}

// Words of eight bytes where they fit, which drivers fill faster.
static int clear_memory(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *p) {
  static const cl_ulong zero = 0;
  cl_mem buffer;
  size_t offset;

  (void)stream;
  if (!num_bytes) return CEED_ERROR_SUCCESS;
  RITZ_TRY(resolve(ceed, device, "clEnqueueFillBuffer", p, num_bytes, &buffer, &offset));
  const size_t size = offset % sizeof(zero) || num_bytes % sizeof(zero) ? 1 : sizeof(zero);
  return check(ceed, cl.api.fill(device->queue, buffer, &zero, size, offset, num_bytes, 0, NULL, NULL),
               "clEnqueueFillBuffer: %zu bytes", num_bytes);
}

// ---- Order ----

static int stream_create(Ceed ceed, RitzDevice device, RitzDeviceStream *stream) {
  (void)ceed, (void)device;
  *stream = NULL;
  return CEED_ERROR_SUCCESS;
}

static int stream_destroy(Ceed ceed, RitzDevice device, RitzDeviceStream stream) {
  (void)ceed, (void)device, (void)stream;
  return CEED_ERROR_SUCCESS;
}

static int synchronize(Ceed ceed, RitzDevice device, RitzDeviceStream stream) {
  (void)stream;
  RITZ_TRY(require_process(ceed, device, "clFinish"));
  return check(ceed, cl.api.finish(device->queue), "clFinish");
}

static int event_create(Ceed ceed, RitzDevice device, RitzDeviceEvent *event) {
  (void)device;
  return RITZ_CALLOC(ceed, 1, event);
}

static int event_destroy(Ceed ceed, RitzDevice device, RitzDeviceEvent *event) {
  (void)device;
  if (!*event) return CEED_ERROR_SUCCESS;
  cl_event handle = (*event)->handle;
  RITZ_FREE(event);
  return handle ? check(ceed, cl.api.release_event(handle), "clReleaseEvent") : CEED_ERROR_SUCCESS;
}

static int event_record(Ceed ceed, RitzDevice device, RitzDeviceStream stream, RitzDeviceEvent event) {
  cl_event recorded = NULL, old = event->handle;

  (void)stream;
  RITZ_TRY(check(ceed, cl.api.marker(device->queue, 0, NULL, &recorded), "clEnqueueMarkerWithWaitList"));
  event->handle = recorded;
  return old ? check(ceed, cl.api.release_event(old), "clReleaseEvent") : CEED_ERROR_SUCCESS;
}

// What is queued later runs later.
static int event_wait(Ceed ceed, RitzDevice device, RitzDeviceStream stream, RitzDeviceEvent event) {
  (void)ceed, (void)device, (void)stream, (void)event;
  return CEED_ERROR_SUCCESS;
}

static int event_time(Ceed ceed, RitzDeviceEvent event, cl_ulong *nanoseconds) {
  RITZ_REQUIRE(event->handle, ceed, CEED_ERROR_BACKEND, "clWaitForEvents: the event was never recorded");
  RITZ_TRY(check(ceed, cl.api.wait(1, &event->handle), "clWaitForEvents"));
  return check(ceed,
               cl.api.profiling(event->handle, CL_PROFILING_COMMAND_END, sizeof(*nanoseconds), nanoseconds,
                                NULL),
               "clGetEventProfilingInfo");
}

static int event_elapsed(Ceed ceed, RitzDevice device, RitzDeviceEvent begin, RitzDeviceEvent end,
                         double *seconds) {
  cl_ulong t0 = 0, t1 = 0;

  (void)device;
  RITZ_TRY(event_time(ceed, begin, &t0));
  RITZ_TRY(event_time(ceed, end, &t1));
  *seconds = 1e-9 * ((double)t1 - (double)t0);
  return CEED_ERROR_SUCCESS;
}

// ---- Code ----

static const char options[] = "-cl-std=CL1.2";

static int get_log(Ceed ceed, RitzDevice device, cl_program program, const char *name, char **log) {
  size_t num_bytes = 0;

  RITZ_TRY(check(ceed, cl.api.build_info(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &num_bytes),
                 "clGetProgramBuildInfo: %s", name));
  RITZ_TRY(RITZ_CALLOC(ceed, num_bytes + 1, log));
  return check(ceed, cl.api.build_info(program, device->id, CL_PROGRAM_BUILD_LOG, num_bytes, *log, NULL),
               "clGetProgramBuildInfo: %s", name);
}

static int get_binary(Ceed ceed, cl_program program, const char *name, RitzDeviceCode *code) {
  size_t num_bytes = 0;

  RITZ_TRY(check(ceed,
                 cl.api.program_info(program, CL_PROGRAM_BINARY_SIZES, sizeof(num_bytes), &num_bytes, NULL),
                 "clGetProgramInfo: binary of %s", name));
  RITZ_REQUIRE(num_bytes, ceed, CEED_ERROR_BACKEND, "clGetProgramInfo: binary of %s: the driver has none",
               name);
  RITZ_TRY(RITZ_MALLOC(ceed, num_bytes, &code->bytes));
  code->num_bytes = num_bytes;
  return check(ceed,
               cl.api.program_info(program, CL_PROGRAM_BINARIES, sizeof(code->bytes), &code->bytes, NULL),
               "clGetProgramInfo: binary of %s", name);
}

static int build(Ceed ceed, RitzDevice device, cl_program program, const char *name, RitzDeviceCode *code) {
  const cl_int result = cl.api.build(program, 1, &device->id, options, NULL, NULL);

  if (result != CL_BUILD_PROGRAM_FAILURE) RITZ_TRY(check(ceed, result, "clBuildProgram: %s", name));
  RITZ_TRY(get_log(ceed, device, program, name, &code->log));
  return result ? CEED_ERROR_SUCCESS : get_binary(ceed, program, name, code);
}

static int compile(Ceed ceed, RitzDevice device, const char *name, const char *text, RitzDeviceCode *code) {
  char first[256]; // messages name files by it
  const char *texts[] = {first, text};
  cl_int result;

  *code = (RitzDeviceCode){.bytes = NULL};
  RITZ_TRY(require_process(ceed, device, "clBuildProgram"));
  snprintf(first, sizeof(first), "#line 1 \"%s\"\n", name);
  cl_program program = cl.api.create_program(device->context, 2, texts, NULL, &result);
  RITZ_TRY(check(ceed, result, "clCreateProgramWithSource: %s", name));
  int ierr = build(ceed, device, program, name, code);
  cl.api.release_program(program);
  if (ierr) ritz_device_code_free(code);
  return ierr;
}

static int make_program(Ceed ceed, RitzDevice device, size_t num_bytes, const char *bytes,
                        cl_program *program) {
  const unsigned char *binary = (const unsigned char *)bytes;
  cl_int status = CL_SUCCESS, result;

  *program =
      cl.api.create_program_of_binary(device->context, 1, &device->id, &num_bytes, &binary, &status, &result);
  RITZ_TRY(check(ceed, result ? result : status, "clCreateProgramWithBinary: %zu bytes", num_bytes));
  result = cl.api.build(*program, 1, &device->id, options, NULL, NULL);
  return check(ceed, result, "clBuildProgram: binary of %zu bytes", num_bytes);
}

// Programs and their kernels outlive contexts: they are no memory of the library's count.
static void free_uncounted(void **p) {
  ritz_memory_adopt(*p);
  ritz_free(p);
}

static int load(Ceed ceed, RitzDevice device, size_t num_bytes, const char *bytes,
                RitzDeviceProgram *program) {
  RitzDeviceProgram made = NULL;

  *program = NULL;
  RITZ_TRY(require_process(ceed, device, "clCreateProgramWithBinary"));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &made));
  made->device = device;
  int ierr = make_program(ceed, device, num_bytes, bytes, &made->handle);
  if (!ierr) {
    ritz_memory_give(made);
    *program = made;
    return CEED_ERROR_SUCCESS;
  }
  if (made->handle) cl.api.release_program(made->handle);
  RITZ_FREE(&made);
  return ierr;
}

static void free_kernel(RitzDeviceKernel *kernel) {
  for (Instance *next, *instance = (*kernel)->idle; instance; instance = next) {
    next = instance->next;
    cl.api.release_kernel(instance->handle);
    free_uncounted((void **)&instance);
  }
  free_uncounted((void **)&(*kernel)->name);
  free_uncounted((void **)kernel);
}

static int unload(Ceed ceed, RitzDevice device, RitzDeviceProgram *program) {
  (void)device;
  if (!*program) return CEED_ERROR_SUCCESS;
  cl_program handle = (*program)->handle;
  for (RitzDeviceKernel next, kernel = atomic_load(&(*program)->kernels); kernel; kernel = next) {
    next = kernel->next;
    free_kernel(&kernel);
  }
  free_uncounted((void **)program);
  return check(ceed, cl.api.release_program(handle), "clReleaseProgram");
}

// ---- Kernels ----

static int make_instance(Ceed ceed, RitzDeviceKernel kernel, Instance **instance) {
  cl_int result;

  RITZ_TRY(RITZ_CALLOC(ceed, 1, instance));
  (*instance)->handle = cl.api.create_kernel(kernel->program->handle, kernel->name, &result);
  if (result) RITZ_FREE(instance);
  ritz_memory_give(*instance);
  return check(ceed, result, "clCreateKernel: kernel '%s'", kernel->name);
}

static int take_instance(Ceed ceed, RitzDeviceKernel kernel, Instance **instance) {
  ritz_lock(RITZ_LOCK_DEVICES);
  *instance = kernel->idle;
  if (*instance) kernel->idle = (*instance)->next;
  ritz_unlock(RITZ_LOCK_DEVICES);
  return *instance ? CEED_ERROR_SUCCESS : make_instance(ceed, kernel, instance);
}

static void give_instance(RitzDeviceKernel kernel, Instance *instance) {
  ritz_lock(RITZ_LOCK_DEVICES);
  instance->next = kernel->idle;
  kernel->idle = instance;
  ritz_unlock(RITZ_LOCK_DEVICES);
}

static int group_info(Ceed ceed, RitzDeviceKernel kernel, cl_kernel handle, cl_uint what, size_t size,
                      void *value) {
  return check(ceed, cl.api.kernel_group_info(handle, kernel->program->device->id, what, size, value, NULL),
               "clGetKernelWorkGroupInfo: kernel '%s'", kernel->name);
}

static int describe_kernel(Ceed ceed, RitzDeviceKernel kernel) {
  cl_kernel handle = kernel->idle->handle;
  size_t block[3] = {0};

  RITZ_TRY(check(
      ceed, cl.api.kernel_info(handle, CL_KERNEL_NUM_ARGS, sizeof(kernel->num_args), &kernel->num_args, NULL),
      "clGetKernelInfo: kernel '%s'", kernel->name));
  RITZ_TRY(group_info(ceed, kernel, handle, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(block), block));
  kernel->block_size = block[0];
  return CEED_ERROR_SUCCESS;
}

static int make_kernel(Ceed ceed, RitzDeviceProgram program, const char *name, RitzDeviceKernel *kernel) {
  RITZ_TRY(RITZ_CALLOC(ceed, 1, kernel));
  ritz_memory_give(*kernel);
  (*kernel)->program = program;
  int ierr = ritz_strdup(ceed, name, &(*kernel)->name);
  ritz_memory_give((*kernel)->name);
  if (!ierr) ierr = make_instance(ceed, *kernel, &(*kernel)->idle);
  if (!ierr) ierr = describe_kernel(ceed, *kernel);
  if (ierr) free_kernel(kernel);
  return ierr;
}

// Two threads that ask for a kernel for the first time may get one each; both are right.
static int get_kernel(Ceed ceed, RitzDeviceProgram program, const char *name, RitzDeviceKernel *kernel) {
  *kernel = atomic_load(&program->kernels);
  while (*kernel && strcmp((*kernel)->name, name)) *kernel = (*kernel)->next;
  if (*kernel) return CEED_ERROR_SUCCESS;
  RITZ_TRY(make_kernel(ceed, program, name, kernel));
  (*kernel)->next = atomic_load(&program->kernels);
  while (!atomic_compare_exchange_weak(&program->kernels, &(*kernel)->next, *kernel)) continue;
  return CEED_ERROR_SUCCESS;
}

static int kernel_info(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceKernelInfo *result) {
  Instance *instance;
  size_t max_threads = 0;
  cl_ulong local_bytes = 0;

  RITZ_TRY(take_instance(ceed, kernel, &instance));
  int ierr = group_info(ceed, kernel, instance->handle, CL_KERNEL_WORK_GROUP_SIZE, sizeof(max_threads),
                        &max_threads);
  if (!ierr) {
    ierr = group_info(ceed, kernel, instance->handle, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(local_bytes),
                      &local_bytes);
  }
  give_instance(kernel, instance);
  *result = (RitzDeviceKernelInfo){.max_threads = (int)max_threads,
                                   .registers = -1,
                                   .local_bytes = (int64_t)local_bytes,
                                   .spill_bytes = -1};
  return ierr;
}

// ---- Launches ----

// Where a pointer argument is; buffer NULL: nowhere.
typedef struct {
  Allocation a;
  size_t offset;
} Place;

static int find_place(Ceed ceed, RitzDeviceKernel kernel, cl_uint index, const void *p, Place *place) {
  *place = (Place){.offset = 0};
  if (!p) return CEED_ERROR_SUCCESS;
  place->a = find_allocation(kernel->program->device, p);
  RITZ_REQUIRE(place->a.buffer, ceed, CEED_ERROR_BACKEND,
               "clSetKernelArg: kernel '%s', argument %d: %p is no memory of this device", kernel->name,
               (int)index, p);
  place->offset = (uintptr_t)p - place->a.start;
  return CEED_ERROR_SUCCESS;
}

// Where the memory of argument i ends: at the next argument in the same allocation. Sub-buffers must not
// overlap.
static size_t end_of(cl_uint num, const Place *places, cl_uint i) {
  size_t end = places[i].a.num_bytes;
  for (cl_uint k = 0; k < num; k++) {
    const bool is_next = places[k].a.buffer == places[i].a.buffer && places[k].offset > places[i].offset;
    if (is_next && places[k].offset < end) end = places[k].offset;
  }
  return end;
}

// *part (owned by the caller): what kernels are given instead of a part of an allocation.
static int make_part(Ceed ceed, RitzDeviceKernel kernel, const Place *place, size_t end, cl_mem *part) {
  const cl_buffer_region region = {place->offset, end - place->offset};
  const size_t alignment = kernel->program->device->alignment;
  cl_int result;

  RITZ_REQUIRE(place->offset % alignment == 0, ceed, CEED_ERROR_BACKEND,
               "clCreateSubBuffer: kernel '%s': an address at byte %zu of an allocation; this device needs a "
               "multiple of %zu",
               kernel->name, place->offset, alignment);
  *part = cl.api.create_sub_buffer(place->a.buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region,
                                   &result);
  return check(ceed, result, "clCreateSubBuffer: kernel '%s', %zu bytes at byte %zu", kernel->name,
               region.size, place->offset);
}

// The buffer of pointer argument i, or the part of it that is made in *part.
static int choose_buffer(Ceed ceed, RitzDeviceKernel kernel, const Place *places, cl_uint i, cl_mem *buffer,
                         cl_mem *part) {
  const size_t end = end_of(kernel->num_args, places, i);

  *buffer = places[i].a.buffer;
  if (!*buffer || (places[i].offset == 0 && end == places[i].a.num_bytes)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(make_part(ceed, kernel, &places[i], end, part));
  *buffer = *part;
  return CEED_ERROR_SUCCESS;
}

static int set_arg(Ceed ceed, RitzDeviceKernel kernel, cl_kernel handle, cl_uint index,
                   const RitzDeviceArg *arg, const Place *places, cl_mem *part) {
  static const size_t sizes[] = {[RITZ_ARG_POINTER] = sizeof(cl_mem),
                                 [RITZ_ARG_INT] = sizeof(int32_t),
                                 [RITZ_ARG_LONG] = sizeof(int64_t),
                                 [RITZ_ARG_SCALAR] = sizeof(CeedScalar)};
  cl_mem buffer = NULL;
  const void *value = &arg->value;

  if (arg->kind == RITZ_ARG_POINTER) {
    RITZ_TRY(choose_buffer(ceed, kernel, places, index, &buffer, part));
    value = &buffer;
  }
  return check(ceed, cl.api.set_arg(handle, index, sizes[arg->kind], value),
               "clSetKernelArg: kernel '%s', argument %d", kernel->name, (int)index);
}

static int set_args(Ceed ceed, RitzDeviceKernel kernel, cl_kernel handle, const RitzDeviceArg *args,
                    cl_mem *parts) {
  const cl_uint num_args = kernel->num_args;
  Place places[num_args + 1];

  memset(places, 0, sizeof(places));
  for (cl_uint i = 0; i < num_args; i++) {
    if (args[i].kind == RITZ_ARG_POINTER) RITZ_TRY(find_place(ceed, kernel, i, args[i].value.p, &places[i]));
  }
  for (cl_uint i = 0; i < num_args; i++)
    RITZ_TRY(set_arg(ceed, kernel, handle, i, &args[i], places, &parts[i]));
  return CEED_ERROR_SUCCESS;
}

// Parts stay until the kernel has run; its handle does not, and must not refer to them any more.
static void drop_parts(RitzDeviceKernel kernel, cl_kernel handle, cl_mem *parts) {
  static const cl_mem none = NULL;

  for (cl_uint i = 0; i < kernel->num_args; i++) {
    if (!parts[i]) continue;
    (void)cl.api.set_arg(handle, i, sizeof(none), &none);
    cl.api.release_mem(parts[i]);
  }
}

static int set_and_launch(Ceed ceed, RitzDeviceKernel kernel, cl_kernel handle, const size_t *num_items,
                          const size_t *block, const RitzDeviceArg *args) {
  cl_mem parts[kernel->num_args + 1];

  memset(parts, 0, sizeof(parts));
  int ierr = set_args(ceed, kernel, handle, args, parts);
  if (!ierr) {
    ierr =
        check(ceed,
              cl.api.launch(kernel->program->device->queue, handle, 1, NULL, num_items, block, 0, NULL, NULL),
              "clEnqueueNDRangeKernel: kernel '%s', %zu blocks of %zu threads", kernel->name,
              *num_items / *block, *block);
  }
  drop_parts(kernel, handle, parts);
  return ierr;
}

static int launch(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceStream stream, int64_t num_blocks,
                  int block_size, int num_args, const RitzDeviceArg *args) {
  const size_t block = (size_t)block_size, num_items = (size_t)num_blocks * block;
  Instance *instance;

  (void)stream;
  RITZ_TRY(require_process(ceed, kernel->program->device, "clEnqueueNDRangeKernel"));
  RITZ_REQUIRE((cl_uint)num_args == kernel->num_args, ceed, CEED_ERROR_BACKEND,
               "clEnqueueNDRangeKernel: kernel '%s' has %d arguments, given are %d", kernel->name,
               (int)kernel->num_args, num_args);
  RITZ_REQUIRE(!kernel->block_size || block == kernel->block_size, ceed, CEED_ERROR_BACKEND,
               "clEnqueueNDRangeKernel: kernel '%s' is compiled for blocks of %zu threads, given are %zu",
               kernel->name, kernel->block_size, block);
  RITZ_TRY(take_instance(ceed, kernel, &instance));
  int ierr = set_and_launch(ceed, kernel, instance->handle, &num_items, &block, args);
  give_instance(kernel, instance);
  return ierr;
}

const RitzDriver ritz_opencl = {
    .name = "opencl",
    .options = options,
    .count = count,
    .choose = choose,
    .open = open_device,
    .info = info,
    .memory = memory,
    .alloc = alloc_memory,
    .free = free_memory,
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
    .event_wait = event_wait,
    .event_elapsed = event_elapsed,
    .compile = compile,
    .load = load,
    .unload = unload,
    .kernel = get_kernel,
    .kernel_info = kernel_info,
    .launch = launch,
};
