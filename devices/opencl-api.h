// SPDX-License-Identifier: BSD-2-Clause
// What is used of OpenCL 1.2, written down from its specification: the library is looked up at run time, so
// that nothing of OpenCL is needed to build. The list of functions gives type, field of the table, symbol in
// the library and arguments. Used by opencl.c.
#ifndef RITZ_DEVICES_OPENCL_API_H
#define RITZ_DEVICES_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;

typedef struct cl_platform_st *cl_platform_id;
typedef struct cl_device_st *cl_device_id;
typedef struct cl_context_st *cl_context;
typedef struct cl_queue_st *cl_command_queue;
typedef struct cl_mem_st *cl_mem;
typedef struct cl_program_st *cl_program;
typedef struct cl_kernel_st *cl_kernel;
typedef struct cl_event_st *cl_event;

typedef struct {
  size_t origin, size;
} cl_buffer_region;

enum { CL_FALSE = 0, CL_TRUE = 1 };

// Errors, with the numbers -1, -2, ... for the first group, -30, -31, ... for the second.
#define RITZ_OPENCL_RUNTIME_ERRORS(F)                                                                        \
  F(CL_DEVICE_NOT_FOUND)                                                                                     \
  F(CL_DEVICE_NOT_AVAILABLE)                                                                                 \
  F(CL_COMPILER_NOT_AVAILABLE)                                                                               \
  F(CL_MEM_OBJECT_ALLOCATION_FAILURE)                                                                        \
  F(CL_OUT_OF_RESOURCES)                                                                                     \
  F(CL_OUT_OF_HOST_MEMORY)                                                                                   \
  F(CL_PROFILING_INFO_NOT_AVAILABLE)                                                                         \
  F(CL_MEM_COPY_OVERLAP)                                                                                     \
  F(CL_IMAGE_FORMAT_MISMATCH)                                                                                \
  F(CL_IMAGE_FORMAT_NOT_SUPPORTED)                                                                           \
  F(CL_BUILD_PROGRAM_FAILURE)                                                                                \
  F(CL_MAP_FAILURE)                                                                                          \
  F(CL_MISALIGNED_SUB_BUFFER_OFFSET)                                                                         \
  F(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)                                                            \
  F(CL_COMPILE_PROGRAM_FAILURE)                                                                              \
  F(CL_LINKER_NOT_AVAILABLE)                                                                                 \
  F(CL_LINK_PROGRAM_FAILURE)                                                                                 \
  F(CL_DEVICE_PARTITION_FAILED)                                                                              \
  F(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)

#define RITZ_OPENCL_CALL_ERRORS(F)                                                                           \
  F(CL_INVALID_VALUE)                                                                                        \
  F(CL_INVALID_DEVICE_TYPE)                                                                                  \
  F(CL_INVALID_PLATFORM)                                                                                     \
  F(CL_INVALID_DEVICE)                                                                                       \
  F(CL_INVALID_CONTEXT)                                                                                      \
  F(CL_INVALID_QUEUE_PROPERTIES)                                                                             \
  F(CL_INVALID_COMMAND_QUEUE)                                                                                \
  F(CL_INVALID_HOST_PTR)                                                                                     \
  F(CL_INVALID_MEM_OBJECT)                                                                                   \
  F(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)                                                                      \
  F(CL_INVALID_IMAGE_SIZE)                                                                                   \
  F(CL_INVALID_SAMPLER)                                                                                      \
  F(CL_INVALID_BINARY)                                                                                       \
  F(CL_INVALID_BUILD_OPTIONS)                                                                                \
  F(CL_INVALID_PROGRAM)                                                                                      \
  F(CL_INVALID_PROGRAM_EXECUTABLE)                                                                           \
  F(CL_INVALID_KERNEL_NAME)                                                                                  \
  F(CL_INVALID_KERNEL_DEFINITION)                                                                            \
  F(CL_INVALID_KERNEL)                                                                                       \
  F(CL_INVALID_ARG_INDEX)                                                                                    \
  F(CL_INVALID_ARG_VALUE)                                                                                    \
  F(CL_INVALID_ARG_SIZE)                                                                                     \
  F(CL_INVALID_KERNEL_ARGS)                                                                                  \
  F(CL_INVALID_WORK_DIMENSION)                                                                               \
  F(CL_INVALID_WORK_GROUP_SIZE)                                                                              \
  F(CL_INVALID_WORK_ITEM_SIZE)                                                                               \
  F(CL_INVALID_GLOBAL_OFFSET)                                                                                \
  F(CL_INVALID_EVENT_WAIT_LIST)                                                                              \
  F(CL_INVALID_EVENT)                                                                                        \
  F(CL_INVALID_OPERATION)                                                                                    \
  F(CL_INVALID_GL_OBJECT)                                                                                    \
  F(CL_INVALID_BUFFER_SIZE)                                                                                  \
  F(CL_INVALID_MIP_LEVEL)                                                                                    \
  F(CL_INVALID_GLOBAL_WORK_SIZE)

enum {
  CL_SUCCESS = 0,
  CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
  CL_OUT_OF_HOST_MEMORY = -6,
  CL_BUILD_PROGRAM_FAILURE = -11,
};

enum { // what is asked of platforms
  CL_PLATFORM_VERSION = 0x0901,
};

enum { // of devices
  CL_DEVICE_TYPE = 0x1000,
  CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
  CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
  CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
  CL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019, // in bits
  CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
  CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
  CL_DEVICE_AVAILABLE = 0x1027,
  CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
  CL_DEVICE_NAME = 0x102B,
  CL_DRIVER_VERSION = 0x102D,
  CL_DEVICE_VERSION = 0x102F,
  CL_DEVICE_EXTENSIONS = 0x1030,
  CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
  CL_DEVICE_WARP_SIZE_NV = 0x4003,
  CL_DEVICE_WAVEFRONT_WIDTH_AMD = 0x4043,
};

enum { // of programs, kernels and events
  CL_PROGRAM_BINARY_SIZES = 0x1165,
  CL_PROGRAM_BINARIES = 0x1166,
  CL_PROGRAM_BUILD_LOG = 0x1183,
  CL_KERNEL_NUM_ARGS = 0x1191,
  CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
  CL_KERNEL_COMPILE_WORK_GROUP_SIZE = 0x11B1,
  CL_KERNEL_LOCAL_MEM_SIZE = 0x11B2,
  CL_PROFILING_COMMAND_END = 0x1283,
};

enum {
  CL_DEVICE_TYPE_CPU = 1 << 1,
  CL_DEVICE_TYPE_GPU = 1 << 2,
  CL_DEVICE_TYPE_ACCELERATOR = 1 << 3,
  CL_QUEUE_PROFILING_ENABLE = 1 << 1,
  CL_MEM_READ_WRITE = 1 << 0,
  CL_CONTEXT_PLATFORM = 0x1084,
  CL_BUFFER_CREATE_TYPE_REGION = 0x1220,
};

#define RITZ_OPENCL_FUNCTIONS(F)                                                                             \
  F(cl_int, platforms, clGetPlatformIDs, (cl_uint num, cl_platform_id * platforms, cl_uint * num_found))     \
  F(cl_int, platform_info, clGetPlatformInfo,                                                                \
    (cl_platform_id platform, cl_uint what, size_t size, void *value, size_t *num_bytes))                    \
  F(cl_int, devices, clGetDeviceIDs,                                                                         \
    (cl_platform_id platform, cl_bitfield type, cl_uint num, cl_device_id * devices, cl_uint * num_found))   \
  F(cl_int, device_info, clGetDeviceInfo,                                                                    \
    (cl_device_id device, cl_uint what, size_t size, void *value, size_t *num_bytes))                        \
  F(cl_context, create_context, clCreateContext,                                                             \
    (const intptr_t *properties, cl_uint num_devices, const cl_device_id *devices,                           \
     void (*notify)(const char *message, const void *details, size_t num_bytes, void *data), void *data,     \
     cl_int *error))                                                                                         \
  F(cl_int, release_context, clReleaseContext, (cl_context context))                                         \
  F(cl_command_queue, create_queue, clCreateCommandQueue,                                                    \
    (cl_context context, cl_device_id device, cl_bitfield properties, cl_int * error))                       \
  F(cl_int, release_queue, clReleaseCommandQueue, (cl_command_queue queue))                                  \
  F(cl_int, finish, clFinish, (cl_command_queue queue))                                                      \
  F(cl_mem, create_buffer, clCreateBuffer,                                                                   \
    (cl_context context, cl_bitfield flags, size_t num_bytes, void *host, cl_int *error))                    \
  F(cl_mem, create_sub_buffer, clCreateSubBuffer,                                                            \
    (cl_mem buffer, cl_bitfield flags, cl_uint type, const void *region, cl_int *error))                     \
  F(cl_int, release_mem, clReleaseMemObject, (cl_mem mem))                                                   \
  F(cl_int, write, clEnqueueWriteBuffer,                                                                     \
    (cl_command_queue queue, cl_mem to, cl_bool blocks, size_t offset, size_t num_bytes, const void *from,   \
     cl_uint num_events, const cl_event *events, cl_event *event))                                           \
  F(cl_int, read, clEnqueueReadBuffer,                                                                       \
    (cl_command_queue queue, cl_mem from, cl_bool blocks, size_t offset, size_t num_bytes, void *to,         \
     cl_uint num_events, const cl_event *events, cl_event *event))                                           \
  F(cl_int, copy, clEnqueueCopyBuffer,                                                                       \
    (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t num_bytes, \
     cl_uint num_events, const cl_event *events, cl_event *event))                                           \
  F(cl_int, fill, clEnqueueFillBuffer,                                                                       \
    (cl_command_queue queue, cl_mem to, const void *pattern, size_t pattern_size, size_t offset,             \
     size_t num_bytes, cl_uint num_events, const cl_event *events, cl_event *event))                         \
  F(cl_int, marker, clEnqueueMarkerWithWaitList,                                                             \
    (cl_command_queue queue, cl_uint num_events, const cl_event *events, cl_event *event))                   \
  F(cl_int, wait, clWaitForEvents, (cl_uint num_events, const cl_event *events))                             \
  F(cl_int, profiling, clGetEventProfilingInfo,                                                              \
    (cl_event event, cl_uint what, size_t size, void *value, size_t *num_bytes))                             \
  F(cl_int, release_event, clReleaseEvent, (cl_event event))                                                 \
  F(cl_program, create_program, clCreateProgramWithSource,                                                   \
    (cl_context context, cl_uint num, const char **texts, const size_t *lengths, cl_int *error))             \
  F(cl_program, create_program_of_binary, clCreateProgramWithBinary,                                         \
    (cl_context context, cl_uint num_devices, const cl_device_id *devices, const size_t *sizes,              \
     const unsigned char **binaries, cl_int *status, cl_int *error))                                         \
  F(cl_int, build, clBuildProgram,                                                                           \
    (cl_program program, cl_uint num_devices, const cl_device_id *devices, const char *options,              \
     void (*notify)(cl_program program, void *data), void *data))                                            \
  F(cl_int, program_info, clGetProgramInfo,                                                                  \
    (cl_program program, cl_uint what, size_t size, void *value, size_t *num_bytes))                         \
  F(cl_int, build_info, clGetProgramBuildInfo,                                                               \
    (cl_program program, cl_device_id device, cl_uint what, size_t size, void *value, size_t *num_bytes))    \
  F(cl_int, release_program, clReleaseProgram, (cl_program program))                                         \
  F(cl_kernel, create_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *error))         \
  F(cl_int, kernel_info, clGetKernelInfo,                                                                    \
    (cl_kernel kernel, cl_uint what, size_t size, void *value, size_t *num_bytes))                           \
  F(cl_int, kernel_group_info, clGetKernelWorkGroupInfo,                                                     \
    (cl_kernel kernel, cl_device_id device, cl_uint what, size_t size, void *value, size_t *num_bytes))      \
  F(cl_int, set_arg, clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value))      \
  F(cl_int, launch, clEnqueueNDRangeKernel,                                                                  \
    (cl_command_queue queue, cl_kernel kernel, cl_uint dim, const size_t *offset, const size_t *num_items,   \
     const size_t *block, cl_uint num_events, const cl_event *events, cl_event *event))                      \
  F(cl_int, release_kernel, clReleaseKernel, (cl_kernel kernel))

#define RITZ_OPENCL_FIELD(type, name, symbol, args) type(*name) args;

typedef struct {
  RITZ_OPENCL_FUNCTIONS(RITZ_OPENCL_FIELD)
} RitzOpenclApi;

#endif
