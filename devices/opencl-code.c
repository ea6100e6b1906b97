// SPDX-License-Identifier: BSD-2-Clause
// Code on OpenCL devices: texts and binaries to programs, kernels, launches (contract in devices/device.h).
// Slots of the table in opencl.c.
#include <stdio.h>
#include <string.h>

#include "devices/opencl.h"

// ---- Code ----

static int get_log(Ceed ceed, RitzDevice device, cl_program program, const char *name, char **log) {
  size_t num_bytes = 0;

  RITZ_TRY(ritz_cl_check(
      ceed, ritz_cl.api.build_info(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &num_bytes),
      "clGetProgramBuildInfo: %s", name));
  RITZ_TRY(RITZ_CALLOC(ceed, num_bytes + 1, log));
  return ritz_cl_check(
      ceed, ritz_cl.api.build_info(program, device->id, CL_PROGRAM_BUILD_LOG, num_bytes, *log, NULL),
      "clGetProgramBuildInfo: %s", name);
}

static int get_binary(Ceed ceed, cl_program program, const char *name, RitzDeviceCode *code) {
  size_t num_bytes = 0;

  RITZ_TRY(ritz_cl_check(
      ceed, ritz_cl.api.program_info(program, CL_PROGRAM_BINARY_SIZES, sizeof(num_bytes), &num_bytes, NULL),
      "clGetProgramInfo: binary of %s", name));
  RITZ_REQUIRE(num_bytes, ceed, CEED_ERROR_BACKEND, "clGetProgramInfo: binary of %s: the driver has none",
               name);
  RITZ_TRY(RITZ_MALLOC(ceed, num_bytes, &code->bytes));
  code->num_bytes = num_bytes;
  return ritz_cl_check(
      ceed, ritz_cl.api.program_info(program, CL_PROGRAM_BINARIES, sizeof(code->bytes), &code->bytes, NULL),
      "clGetProgramInfo: binary of %s", name);
}

// Compilers of OpenCL are not all up to several threads at once.
static cl_int build_alone(RitzDevice device, cl_program program) {
  ritz_lock(RITZ_LOCK_BUILDS);
  const cl_int result = ritz_cl.api.build(program, 1, &device->id, RITZ_CL_OPTIONS, NULL, NULL);
  ritz_unlock(RITZ_LOCK_BUILDS);
  return result;
}

static int build(Ceed ceed, RitzDevice device, cl_program program, const char *name, RitzDeviceCode *code) {
  const cl_int result = build_alone(device, program);

  if (result != CL_BUILD_PROGRAM_FAILURE) RITZ_TRY(ritz_cl_check(ceed, result, "clBuildProgram: %s", name));
  RITZ_TRY(get_log(ceed, device, program, name, &code->log));
  return result ? CEED_ERROR_SUCCESS : get_binary(ceed, program, name, code);
}

int ritz_cl_compile(Ceed ceed, RitzDevice device, const char *name, const char *text, RitzDeviceCode *code) {
  char first[256]; // messages name files by it
  const char *texts[] = {first, text};
  cl_int result;

  *code = (RitzDeviceCode){.bytes = NULL};
  RITZ_TRY(ritz_cl_require_process(ceed, device, "clBuildProgram"));
  snprintf(first, sizeof(first), "#line 1 \"%s\"\n", name);
  cl_program program = ritz_cl.api.create_program(device->context, 2, texts, NULL, &result);
  RITZ_TRY(ritz_cl_check(ceed, result, "clCreateProgramWithSource: %s", name));
  int ierr = build(ceed, device, program, name, code);
  ritz_cl.api.release_program(program);
  if (ierr) ritz_device_code_free(code);
  return ierr;
}

static int make_program(Ceed ceed, RitzDevice device, size_t num_bytes, const char *bytes,
                        cl_program *program) {
  const unsigned char *binary = (const unsigned char *)bytes;
  cl_int status = CL_SUCCESS, result;

  *program = ritz_cl.api.create_program_of_binary(device->context, 1, &device->id, &num_bytes, &binary,
                                                  &status, &result);
  RITZ_TRY(ritz_cl_check(ceed, result ? result : status, "clCreateProgramWithBinary: %zu bytes", num_bytes));
  result = build_alone(device, *program);
  return ritz_cl_check(ceed, result, "clBuildProgram: binary of %zu bytes", num_bytes);
}

// Programs and their kernels outlive contexts: they are no memory of the library's count.
static void free_uncounted(void **p) {
  ritz_memory_adopt(*p);
  ritz_free(p);
}

int ritz_cl_load(Ceed ceed, RitzDevice device, size_t num_bytes, const char *bytes,
                 RitzDeviceProgram *program) {
  RitzDeviceProgram made = NULL;

  *program = NULL;
  RITZ_TRY(ritz_cl_require_process(ceed, device, "clCreateProgramWithBinary"));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &made));
  made->device = device;
  int ierr = make_program(ceed, device, num_bytes, bytes, &made->handle);
  if (!ierr) {
    ritz_memory_give(made);
    *program = made;
    return CEED_ERROR_SUCCESS;
  }
  if (made->handle) ritz_cl.api.release_program(made->handle);
  RITZ_FREE(&made);
  return ierr;
}

static void free_kernel(RitzDeviceKernel *kernel) {
  for (Instance *next, *instance = (*kernel)->idle; instance; instance = next) {
    next = instance->next;
    ritz_cl.api.release_kernel(instance->handle);
    free_uncounted((void **)&instance);
  }
  free_uncounted((void **)&(*kernel)->name);
  free_uncounted((void **)kernel);
}

int ritz_cl_unload(Ceed ceed, RitzDevice device, RitzDeviceProgram *program) {
  (void)device;
  if (!*program) return CEED_ERROR_SUCCESS;
  cl_program handle = (*program)->handle;
  for (RitzDeviceKernel next, kernel = atomic_load(&(*program)->kernels); kernel; kernel = next) {
    next = kernel->next;
    free_kernel(&kernel);
  }
  free_uncounted((void **)program);
  return ritz_cl_check(ceed, ritz_cl.api.release_program(handle), "clReleaseProgram");
}

// ---- Kernels ----

static int make_instance(Ceed ceed, RitzDeviceKernel kernel, Instance **instance) {
  cl_int result;

  RITZ_TRY(RITZ_CALLOC(ceed, 1, instance));
  (*instance)->handle = ritz_cl.api.create_kernel(kernel->program->handle, kernel->name, &result);
  if (result) RITZ_FREE(instance);
  ritz_memory_give(*instance);
  return ritz_cl_check(ceed, result, "clCreateKernel: kernel '%s'", kernel->name);
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
  return ritz_cl_check(
      ceed, ritz_cl.api.kernel_group_info(handle, kernel->program->device->id, what, size, value, NULL),
      "clGetKernelWorkGroupInfo: kernel '%s'", kernel->name);
}

static int describe_kernel(Ceed ceed, RitzDeviceKernel kernel) {
  cl_kernel handle = kernel->idle->handle;
  size_t block[3] = {0};

  RITZ_TRY(ritz_cl_check(ceed,
                         ritz_cl.api.kernel_info(handle, CL_KERNEL_NUM_ARGS, sizeof(kernel->num_args),
                                                 &kernel->num_args, NULL),
                         "clGetKernelInfo: kernel '%s'", kernel->name));
  RITZ_TRY(group_info(ceed, kernel, handle, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(block), block));
  kernel->block_size = block[0];
  return CEED_ERROR_SUCCESS;
}

static int make_opencl_kernel(Ceed ceed, RitzDeviceProgram program, const char *name,
                              RitzDeviceKernel *kernel) {
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
int ritz_cl_get_kernel(Ceed ceed, RitzDeviceProgram program, const char *name, RitzDeviceKernel *kernel) {
  *kernel = atomic_load(&program->kernels);
  while (*kernel && strcmp((*kernel)->name, name)) *kernel = (*kernel)->next;
  if (*kernel) return CEED_ERROR_SUCCESS;
  RITZ_TRY(make_opencl_kernel(ceed, program, name, kernel));
  (*kernel)->next = atomic_load(&program->kernels);
  while (!atomic_compare_exchange_weak(&program->kernels, &(*kernel)->next, *kernel)) continue;
  return CEED_ERROR_SUCCESS;
}

int ritz_cl_kernel_info(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceKernelInfo *result) {
  Instance *instance;
  size_t max_threads = 0;
  cl_ulong shared_bytes = 0;

  RITZ_TRY(take_instance(ceed, kernel, &instance));
  int ierr = group_info(ceed, kernel, instance->handle, CL_KERNEL_WORK_GROUP_SIZE, sizeof(max_threads),
                        &max_threads);
  if (!ierr) {
    ierr = group_info(ceed, kernel, instance->handle, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(shared_bytes),
                      &shared_bytes);
  }
  give_instance(kernel, instance);
  *result = (RitzDeviceKernelInfo){.max_threads = (int)max_threads,
                                   .registers = -1,
                                   .shared_bytes = (int64_t)shared_bytes,
                                   .spill_bytes = -1};
  return ierr;
}

// ---- Launches ----

// Where a pointer argument is; buffer NULL: nowhere.
typedef struct {
  Allocation a;
  size_t offset;
} Place;

static int find_allocation(Ceed ceed, RitzDeviceKernel kernel, cl_uint index, const void *p, Place *place) {
  *place = (Place){.offset = 0};
  if (!p) return CEED_ERROR_SUCCESS;
  place->a = ritz_cl_find(kernel->program->device, p);
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

// *sub_buffer (owned by the caller): what kernels are given instead of a part of an allocation.
static int make_sub_buffer(Ceed ceed, RitzDeviceKernel kernel, const Place *place, size_t end,
                           cl_mem *sub_buffer) {
  const cl_buffer_region region = {place->offset, end - place->offset};
  const size_t alignment = kernel->program->device->alignment;
  cl_int result;

  RITZ_REQUIRE(place->offset % alignment == 0, ceed, CEED_ERROR_BACKEND,
               "clCreateSubBuffer: kernel '%s': an address at byte %zu of an allocation; this device needs a "
               "multiple of %zu",
               kernel->name, place->offset, alignment);
  *sub_buffer = ritz_cl.api.create_sub_buffer(place->a.buffer, CL_MEM_READ_WRITE,
                                              CL_BUFFER_CREATE_TYPE_REGION, &region, &result);
  return ritz_cl_check(ceed, result, "clCreateSubBuffer: kernel '%s', %zu bytes at byte %zu", kernel->name,
                       region.size, place->offset);
}

// The buffer of pointer argument i, or the part of it that is made in *sub_buffer.
static int choose_buffer(Ceed ceed, RitzDeviceKernel kernel, const Place *places, cl_uint i, cl_mem *buffer,
                         cl_mem *sub_buffer) {
  const size_t end = end_of(kernel->num_args, places, i);

  *buffer = places[i].a.buffer;
  if (!*buffer || (places[i].offset == 0 && end == places[i].a.num_bytes)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(make_sub_buffer(ceed, kernel, &places[i], end, sub_buffer));
  *buffer = *sub_buffer;
  return CEED_ERROR_SUCCESS;
}

static int set_arg(Ceed ceed, RitzDeviceKernel kernel, cl_kernel handle, cl_uint index,
                   const RitzDeviceArg *arg, const Place *places, cl_mem *sub_buffer) {
  static const size_t sizes[] = {[RITZ_ARG_POINTER] = sizeof(cl_mem),
                                 [RITZ_ARG_INT] = sizeof(int32_t),
                                 [RITZ_ARG_LONG] = sizeof(int64_t),
                                 [RITZ_ARG_SCALAR] = sizeof(CeedScalar)};
  cl_mem buffer = NULL;
  const void *value = &arg->value;

  if (arg->kind == RITZ_ARG_POINTER) {
    RITZ_TRY(choose_buffer(ceed, kernel, places, index, &buffer, sub_buffer));
    value = &buffer;
  }
  return ritz_cl_check(ceed, ritz_cl.api.set_arg(handle, index, sizes[arg->kind], value),
                       "clSetKernelArg: kernel '%s', argument %d", kernel->name, (int)index);
}

static int set_args(Ceed ceed, RitzDeviceKernel kernel, cl_kernel handle, const RitzDeviceArg *args,
                    cl_mem *sub_buffers) {
  const cl_uint num_args = kernel->num_args;
  Place places[num_args + 1];

  memset(places, 0, sizeof(places));
  for (cl_uint i = 0; i < num_args; i++) {
    if (args[i].kind == RITZ_ARG_POINTER)
      RITZ_TRY(find_allocation(ceed, kernel, i, args[i].value.p, &places[i]));
  }
  for (cl_uint i = 0; i < num_args; i++)
    RITZ_TRY(set_arg(ceed, kernel, handle, i, &args[i], places, &sub_buffers[i]));
  return CEED_ERROR_SUCCESS;
}

// Sub-buffers stay until the kernel has run; its handle does not, and must not refer to them any more.
static void drop_sub_buffers(RitzDeviceKernel kernel, cl_kernel handle, cl_mem *sub_buffers) {
  static const cl_mem none = NULL;

  for (cl_uint i = 0; i < kernel->num_args; i++) {
    if (!sub_buffers[i]) continue;
    (void)ritz_cl.api.set_arg(handle, i, sizeof(none), &none);
    ritz_cl.api.release_mem(sub_buffers[i]);
  }
}

static int set_and_launch(Ceed ceed, RitzDeviceKernel kernel, cl_kernel handle, const size_t *num_items,
                          const size_t *block, const RitzDeviceArg *args) {
  cl_mem sub_buffers[kernel->num_args + 1];

  memset(sub_buffers, 0, sizeof(sub_buffers));
  int ierr = set_args(ceed, kernel, handle, args, sub_buffers);
  if (!ierr) {
    ierr = ritz_cl_check(ceed,
                         ritz_cl.api.launch(kernel->program->device->queue, handle, 1, NULL, num_items, block,
                                            0, NULL, NULL),
                         "clEnqueueNDRangeKernel: kernel '%s', %zu blocks of %zu threads", kernel->name,
                         *num_items / *block, *block);
  }
  drop_sub_buffers(kernel, handle, sub_buffers);
  return ierr;
}

int ritz_cl_launch(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceStream stream, int64_t num_blocks,
                   int block_size, int64_t shared_bytes, int num_args, const RitzDeviceArg *args) {
  const RitzDeviceInfo *info = &kernel->program->device->info;
  const size_t block = (size_t)block_size, num_items = (size_t)num_blocks * block;
  Instance *instance;

  (void)stream;
  RITZ_TRY(ritz_cl_require_process(ceed, kernel->program->device, "clEnqueueNDRangeKernel"));
  RITZ_REQUIRE((cl_uint)num_args == kernel->num_args, ceed, CEED_ERROR_BACKEND,
               "clEnqueueNDRangeKernel: kernel '%s' has %d arguments, given are %d", kernel->name,
               (int)kernel->num_args, num_args);
  RITZ_REQUIRE(!kernel->block_size || block == kernel->block_size, ceed, CEED_ERROR_BACKEND,
               "clEnqueueNDRangeKernel: kernel '%s' is compiled for blocks of %zu threads, given are %zu",
               kernel->name, kernel->block_size, block);
  RITZ_REQUIRE(shared_bytes <= info->dynamic_shared_bytes, ceed, CEED_ERROR_BACKEND,
               "clEnqueueNDRangeKernel: kernel '%s': %" CeedSize_FMT
               " bytes of memory wanted for a block, this device has %" CeedSize_FMT,
               kernel->name, (CeedSize)shared_bytes, (CeedSize)info->dynamic_shared_bytes);
  RITZ_TRY(take_instance(ceed, kernel, &instance));
  int ierr = set_and_launch(ceed, kernel, instance->handle, &num_items, &block, args);
  give_instance(kernel, instance);
  return ierr;
}
