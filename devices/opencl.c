// SPDX-License-Identifier: BSD-2-Clause
// Devices of all OpenCL drivers (contract in devices/device.h), through the loader that finds them. A device
// has one context and one queue, which works in order, from its first use until the process ends. The table
// ritz_opencl is used by backends/gpu, public.c and tests.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS, MAP_NORESERVE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "devices/opencl.h"

// ---- The library ----

RitzOpencl ritz_cl;

static bool take_opencl_functions(void *library) {
  bool has_all = true;

#define FIND(type, name, symbol, args)                                                                       \
  *(void **)&ritz_cl.api.name = dlsym(library, #symbol);                                                     \
  has_all = has_all && ritz_cl.api.name;
  RITZ_OPENCL_FUNCTIONS(FIND)
#undef FIND
  return has_all;
}

// ---- Platforms and devices ----

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

  if (ritz_cl.api.device_info(id, what, sizeof(value), &value, &num_bytes)) return 0;
  return num_bytes == sizeof(value.i) ? value.i : value.l;
}

// "OpenCL 1.2 and more words" or a later version.
static bool is_new_enough(const char *version) {
  int major = 0, minor = 0;

  return sscanf(version, "OpenCL %d.%d", &major, &minor) == 2 && (major > 1 || minor >= 2);
}

// Copies a text without blanks at its ends; long ones are cut.
static void copy_words(char *to, size_t size, const char *from) {
  from += strspn(from, " ");
  snprintf(to, size, "%s", from);
  for (size_t n = strlen(to); n > 0 && to[n - 1] == ' '; n--) to[n - 1] = 0;
}

static void platform_version(cl_platform_id platform, size_t size, char *version) {
  size_t num_bytes = 0;

  *version = 0;
  if (ritz_cl.api.platform_info(platform, CL_PLATFORM_VERSION, 0, NULL, &num_bytes)) return;
  char text[num_bytes + 1];
  memset(text, 0, num_bytes + 1);
  ritz_cl.api.platform_info(platform, CL_PLATFORM_VERSION, num_bytes, text, NULL);
  copy_words(version, size, text);
}

static void device_words(cl_device_id id, cl_uint what, size_t size, char *words) {
  size_t num_bytes = 0;

  *words = 0;
  if (ritz_cl.api.device_info(id, what, 0, NULL, &num_bytes)) return;
  char text[num_bytes + 1];
  memset(text, 0, num_bytes + 1);
  ritz_cl.api.device_info(id, what, num_bytes, text, NULL);
  copy_words(words, size, text);
}

static bool has_extension(cl_device_id id, const char *name) {
  size_t num_bytes = 0;

  if (ritz_cl.api.device_info(id, CL_DEVICE_EXTENSIONS, 0, NULL, &num_bytes)) return false;
  char text[num_bytes + 1];
  memset(text, 0, num_bytes + 1);
  ritz_cl.api.device_info(id, CL_DEVICE_EXTENSIONS, num_bytes, text, NULL);
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
  if (ritz_cl.api.devices(platform, type, 0, NULL, &num) || !num) return;
  cl_device_id ids[num];
  if (ritz_cl.api.devices(platform, type, num, ids, NULL)) return;
  for (cl_uint i = 0; i < num; i++) meet_device(s, platform, ids[i]);
}

static void search(Search *s) {
  static const cl_bitfield types[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU};
  cl_uint num = 0;

  if (ritz_cl.api.platforms(0, NULL, &num) || !num) return;
  cl_platform_id platforms[num];
  if (ritz_cl.api.platforms(num, platforms, NULL)) return;
  s->has_platform = true;
  for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
    for (cl_uint i = 0; i < num; i++) search_platform(s, platforms[i], types[t]);
  }
}

// The library stays loaded: its threads do.
static void look_for_devices(void) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  Search s = {.index = -1};

  ritz_cl.why = "no OpenCL: the loader of its drivers, libOpenCL.so.1, is not found";
  if (!library) return;
  ritz_cl.why = "libOpenCL.so.1 lacks functions of OpenCL 1.2";
  if (!take_opencl_functions(library)) return;
  search(&s);
  ritz_cl.num_devices = s.num;
  ritz_cl.why = s.num ? NULL
                : s.has_device
                    ? "no OpenCL device has a compiler for OpenCL C 1.2 and computes in double precision"
                : s.has_platform ? "the OpenCL drivers have no device of OpenCL 1.2 or newer"
                                 : "no OpenCL driver is installed: libOpenCL.so.1 knows none";
}

static void find_library_once(void) {
  if (atomic_load(&ritz_cl.is_known)) return;
  ritz_lock(RITZ_LOCK_DEVICES);
  if (!atomic_load(&ritz_cl.is_known)) {
    look_for_devices();
    atomic_store(&ritz_cl.is_known, true);
  }
  ritz_unlock(RITZ_LOCK_DEVICES);
}

static int count_opencl_devices(const char **why) {
  find_library_once();
  *why = ritz_cl.why;
  return ritz_cl.num_devices;
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
int ritz_cl_check(Ceed ceed, cl_int result, const char *format, ...) {
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

static int choose_opencl_device(Ceed ceed, int *index) {
  find_library_once();
  *index = 0;
  RITZ_REQUIRE(ritz_cl.num_devices, ceed, CEED_ERROR_BACKEND, "%s", ritz_cl.why);
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

static void read_opencl_properties(RitzDevice device, int index) {
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
  info->shared_bytes = (int64_t)device_number(device->id, CL_DEVICE_LOCAL_MEM_SIZE);
  info->dynamic_shared_bytes = info->shared_bytes;
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
  read_opencl_properties(device, index);
  const intptr_t properties[] = {CL_CONTEXT_PLATFORM, (intptr_t)device->platform, 0};
  device->context = ritz_cl.api.create_context(properties, 1, &device->id, NULL, NULL, &result);
  RITZ_TRY(ritz_cl_check(ceed, result, "clCreateContext: device %d, %s", index, device->info.name));
  device->queue = ritz_cl.api.create_queue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, &result);
  if (result) ritz_cl.api.release_context(device->context);
  return ritz_cl_check(ceed, result, "clCreateCommandQueue: device %d, %s", index, device->info.name);
}

// The open device, or NULL; `added` joins the list when there is none.
static RitzDevice find_device(int index, RitzDevice added) {
  ritz_lock(RITZ_LOCK_DEVICES);
  RitzDevice device = ritz_cl.devices;
  while (device && device->info.index != index) device = device->next;
  if (!device && added) {
    added->next = ritz_cl.devices;
    device = ritz_cl.devices = added;
    ritz_memory_give(added); // it stays to the end of the process
  }
  ritz_unlock(RITZ_LOCK_DEVICES);
  return device;
}

static int open_opencl_device(Ceed ceed, int index, RitzDevice *device) {
  RitzDevice added = NULL;

  find_library_once();
  RITZ_ASSERT(0 <= index && index < ritz_cl.num_devices);
  *device = find_device(index, NULL);
  if (*device) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &added));
  int ierr = make_device(ceed, added, index);
  if (!ierr) *device = find_device(index, added);
  if (*device == added) return CEED_ERROR_SUCCESS;
  if (!ierr) { // another thread was faster
    ritz_cl.api.release_queue(added->queue);
    ritz_cl.api.release_context(added->context);
  }
  RITZ_FREE(&added);
  return ierr;
}

static const RitzDeviceInfo *info(RitzDevice device) { return &device->info; }

// A forked child has none of the driver's threads: it would wait for ever.
int ritz_cl_require_process(Ceed ceed, RitzDevice device, const char *call) {
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
Allocation ritz_cl_find(RitzDevice device, const void *p) {
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
  RITZ_TRY(ritz_cl_require_process(ceed, device, "clCreateBuffer"));
  RITZ_TRY(check_size(ceed, device, num_bytes));
  void *range =
      mmap(NULL, range_size(num_bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  RITZ_REQUIRE(range != MAP_FAILED, ceed, CEED_ERROR_MAJOR,
               "mmap: out of addresses: %zu bytes wanted for memory of a device", num_bytes);
  cl_mem buffer = ritz_cl.api.create_buffer(device->context, CL_MEM_READ_WRITE, num_bytes, NULL, &result);
  int ierr = ritz_cl_check(ceed, result, "clCreateBuffer: %zu bytes", num_bytes);
  if (!ierr) ierr = add_allocation(ceed, device, &(Allocation){(uintptr_t)range, num_bytes, buffer});
  if (ierr) {
    if (!result) ritz_cl.api.release_mem(buffer);
    munmap(range, range_size(num_bytes));
    return ierr;
  }
  *p = range;
  return CEED_ERROR_SUCCESS;
}

// Commands that are queued keep the buffer until they have run.
static int free_opencl_memory(Ceed ceed, RitzDevice device, void *p) {
  const Allocation a = remove_allocation(device, p);

  RITZ_REQUIRE(a.buffer, ceed, CEED_ERROR_BACKEND, "clReleaseMemObject: %p is not the start of an allocation",
               p);
  munmap(p, range_size(a.num_bytes));
  return ritz_cl_check(ceed, ritz_cl.api.release_mem(a.buffer), "clReleaseMemObject: %p", p);
}

static void find_memory(RitzDevice device, const void *p, void **start, size_t *num_bytes) {
  const Allocation a = ritz_cl_find(device, p);

  *start = (void *)a.start;
  *num_bytes = a.num_bytes;
}

// Memory of `num_bytes` at an address, as OpenCL names it.
static int resolve(Ceed ceed, RitzDevice device, const char *call, const void *p, size_t num_bytes,
                   cl_mem *buffer, size_t *offset) {
  const Allocation a = ritz_cl_find(device, p);

  RITZ_TRY(ritz_cl_require_process(ceed, device, call));
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
  return ritz_cl_check(
      ceed, ritz_cl.api.write(device->queue, buffer, CL_TRUE, offset, num_bytes, from, 0, NULL, NULL),
      "clEnqueueWriteBuffer: %zu bytes", num_bytes);
}

static int copy_out(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *to,
                    const void *from) {
  cl_mem buffer;
  size_t offset;

  (void)stream;
  if (!num_bytes) return CEED_ERROR_SUCCESS;
  RITZ_TRY(resolve(ceed, device, "clEnqueueReadBuffer", from, num_bytes, &buffer, &offset));
  return ritz_cl_check(ceed,
                       ritz_cl.api.read(device->queue, buffer, CL_TRUE, offset, num_bytes, to, 0, NULL, NULL),
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
  return ritz_cl_check(ceed,
                       ritz_cl.api.copy(device->queue, from_buffer, to_buffer, from_offset, to_offset,
                                        num_bytes, 0, NULL, NULL),
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
  return ritz_cl_check(ceed,
                       ritz_cl.api.fill(device->queue, buffer, &zero, size, offset, num_bytes, 0, NULL, NULL),
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
  RITZ_TRY(ritz_cl_require_process(ceed, device, "clFinish"));
  return ritz_cl_check(ceed, ritz_cl.api.finish(device->queue), "clFinish");
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
  return handle ? ritz_cl_check(ceed, ritz_cl.api.release_event(handle), "clReleaseEvent")
                : CEED_ERROR_SUCCESS;
}

static int event_record(Ceed ceed, RitzDevice device, RitzDeviceStream stream, RitzDeviceEvent event) {
  cl_event recorded = NULL, old = event->handle;

  (void)stream;
  RITZ_TRY(ritz_cl_check(ceed, ritz_cl.api.marker(device->queue, 0, NULL, &recorded),
                         "clEnqueueMarkerWithWaitList"));
  event->handle = recorded;
  return old ? ritz_cl_check(ceed, ritz_cl.api.release_event(old), "clReleaseEvent") : CEED_ERROR_SUCCESS;
}

// Nothing to do: the queue runs work in order.
static int opencl_event_wait(Ceed ceed, RitzDevice device, RitzDeviceStream stream, RitzDeviceEvent event) {
  (void)ceed, (void)device, (void)stream, (void)event;
  return CEED_ERROR_SUCCESS;
}

static int event_time(Ceed ceed, RitzDeviceEvent event, cl_ulong *nanoseconds) {
  RITZ_REQUIRE(event->handle, ceed, CEED_ERROR_BACKEND, "clWaitForEvents: the event was never recorded");
  RITZ_TRY(ritz_cl_check(ceed, ritz_cl.api.wait(1, &event->handle), "clWaitForEvents"));
  return ritz_cl_check(ceed,
                       ritz_cl.api.profiling(event->handle, CL_PROFILING_COMMAND_END, sizeof(*nanoseconds),
                                             nanoseconds, NULL),
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

// ---- Launches that are repeated: as the first ----

static int launch_cleared(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceStream stream, size_t num_bytes,
                          void *p, int64_t num_blocks, int block_size, int64_t shared_bytes, int num_args,
                          const RitzDeviceArg *args, RitzDeviceReplay *replay) {
  (void)replay;
  RITZ_TRY(clear_memory(ceed, kernel->program->device, stream, num_bytes, p));
  return ritz_cl_launch(ceed, kernel, stream, num_blocks, block_size, shared_bytes, num_args, args);
}

static int replay_destroy(Ceed ceed, RitzDevice device, RitzDeviceReplay *replay) {
  (void)ceed, (void)device;
  *replay = NULL;
  return CEED_ERROR_SUCCESS;
}

const RitzDriver ritz_opencl = {
    .name = "opencl",
    .options = RITZ_CL_OPTIONS,
    .count = count_opencl_devices,
    .choose = choose_opencl_device,
    .open = open_opencl_device,
    .info = info,
    .memory = memory,
    .alloc = alloc_memory,
    .free = free_opencl_memory,
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
    .event_wait = opencl_event_wait,
    .event_elapsed = event_elapsed,
    .compile = ritz_cl_compile,
    .load = ritz_cl_load,
    .unload = ritz_cl_unload,
    .kernel = ritz_cl_get_kernel,
    .kernel_info = ritz_cl_kernel_info,
    .launch = ritz_cl_launch,
    .launch_cleared = launch_cleared,
    .replay_destroy = replay_destroy,
};
