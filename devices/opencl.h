// SPDX-License-Identifier: BSD-2-Clause
// What the two files of the OpenCL driver share: devices and memory in opencl.c, code and its launches in
// opencl-code.c.
#ifndef RITZ_DEVICES_OPENCL_H
#define RITZ_DEVICES_OPENCL_H

#include <stdatomic.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
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
  size_t alignment; // of buffer arguments, bytes
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

typedef struct {
  _Atomic bool is_known; // the others are final, save the list
  int num_devices;
  const char *why; // NULL: there are devices
  RitzOpenclApi api;
  RitzDevice devices; // open ones, under RITZ_LOCK_DEVICES
} RitzOpencl;

extern RitzOpencl ritz_cl;

// CEED_ERROR_BACKEND, or CEED_ERROR_MAJOR where memory is short, with the driver's word behind the text; 0
// for CL_SUCCESS.
__attribute__((format(printf, 3, 4))) int ritz_cl_check(Ceed ceed, cl_int result, const char *format, ...);
// A forked child has none of the driver's threads: it would wait for ever.
int ritz_cl_require_process(Ceed ceed, RitzDevice device, const char *call);
// The allocation that p points into; its buffer is NULL when there is none.
Allocation ritz_cl_find(RitzDevice device, const void *p);

#define RITZ_CL_OPTIONS "-cl-std=CL1.2" // of the compiler

// ---- opencl-code.c: slots of the driver's table ----
int ritz_cl_compile(Ceed ceed, RitzDevice device, const char *name, const char *text, RitzDeviceCode *code);
int ritz_cl_load(Ceed ceed, RitzDevice device, size_t num_bytes, const char *bytes,
                 RitzDeviceProgram *program);
int ritz_cl_unload(Ceed ceed, RitzDevice device, RitzDeviceProgram *program);
int ritz_cl_get_kernel(Ceed ceed, RitzDeviceProgram program, const char *name, RitzDeviceKernel *kernel);
int ritz_cl_kernel_info(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceKernelInfo *result);
int ritz_cl_launch(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceStream stream, int64_t num_blocks,
                   int block_size, int64_t shared_bytes, int num_args, const RitzDeviceArg *args);

#endif
