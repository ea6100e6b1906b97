// SPDX-License-Identifier: BSD-2-Clause
// What is used of NVIDIA's driver and run-time compiler, written down from their documentation: both are
// looked up at run time, so that nothing of theirs is needed to build. Each list of functions gives the field
// of a table, the symbol in the library, which carries the version of the call, and the arguments. Used by
// cuda.c, nvrtc.c and the libraries that stand in for NVIDIA's in tests.
#ifndef RITZ_DEVICES_CUDA_API_H
#define RITZ_DEVICES_CUDA_API_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

// ---- Driver: libcuda.so.1, 11.2 and newer ----

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;

typedef enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
} CUresult;

typedef enum {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
  CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
  CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
} CUdevice_attribute;

typedef enum {
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,    // unsigned: one of the values below
  CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,     // unsigned
  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9, // int
} CUpointer_attribute;
enum { CU_MEMORYTYPE_DEVICE = 2 };

typedef enum {
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
  CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
} CUfunction_attribute;

typedef enum {
  CU_STREAM_CAPTURE_STATUS_NONE = 0,
  CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
} CUstreamCaptureStatus;

typedef struct { // of a node that runs a kernel; first version
  CUfunction function;
  unsigned blocks_x, blocks_y, blocks_z;
  unsigned threads_x, threads_y, threads_z;
  unsigned shared_bytes;
  void **args, **extra;
} CUDA_KERNEL_NODE_PARAMS;

typedef struct { // of a node that sets memory
  CUdeviceptr to;
  size_t pitch; // counts for more than one row
  unsigned value, element_size;
  size_t width, height; // elements of a row, rows
} CUDA_MEMSET_NODE_PARAMS;

enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DEFAULT = 0 };

#define RITZ_CUDA_FUNCTIONS(F)                                                                               \
  F(init, cuInit, (unsigned flags))                                                                          \
  F(error_string, cuGetErrorString, (CUresult error, const char **text))                                     \
  F(device_count, cuDeviceGetCount, (int *count))                                                            \
  F(device_get, cuDeviceGet, (CUdevice * device, int ordinal))                                               \
  F(device_name, cuDeviceGetName, (char *name, int length, CUdevice device))                                 \
  F(device_memory, cuDeviceTotalMem_v2, (size_t * num_bytes, CUdevice device))                               \
  F(device_attribute, cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device))     \
  F(context_retain, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                        \
  F(context_release, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                        \
  F(context_push, cuCtxPushCurrent_v2, (CUcontext context))                                                  \
  F(context_pop, cuCtxPopCurrent_v2, (CUcontext * context))                                                  \
  F(context_device, cuCtxGetDevice, (CUdevice * device))                                                     \
  F(memory_info, cuMemGetInfo_v2, (size_t * free_bytes, size_t * num_bytes))                                 \
  F(memory_alloc, cuMemAlloc_v2, (CUdeviceptr * p, size_t num_bytes))                                        \
  F(host_alloc, cuMemHostAlloc, (void **p, size_t num_bytes, unsigned flags))                                \
  F(memory_free, cuMemFree_v2, (CUdeviceptr p))                                                              \
  F(memory_range, cuMemGetAddressRange_v2, (CUdeviceptr * start, size_t * num_bytes, CUdeviceptr p))         \
  F(memory_attributes, cuPointerGetAttributes,                                                               \
    (unsigned num_attributes, CUpointer_attribute *attributes, void **values, CUdeviceptr p))                \
  F(copy_in, cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t num_bytes, CUstream stream))    \
  F(copy_out, cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t num_bytes, CUstream stream))         \
  F(copy, cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t num_bytes, CUstream stream))       \
  F(set_bytes, cuMemsetD8Async, (CUdeviceptr p, unsigned char value, size_t num_bytes, CUstream stream))     \
  F(stream_create, cuStreamCreate, (CUstream * stream, unsigned flags))                                      \
  F(stream_destroy, cuStreamDestroy_v2, (CUstream stream))                                                   \
  F(stream_synchronize, cuStreamSynchronize, (CUstream stream))                                              \
  F(stream_wait, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))                        \
  F(event_create, cuEventCreate, (CUevent * event, unsigned flags))                                          \
  F(event_destroy, cuEventDestroy_v2, (CUevent event))                                                       \
  F(event_record, cuEventRecord, (CUevent event, CUstream stream))                                           \
  F(event_synchronize, cuEventSynchronize, (CUevent event))                                                  \
  F(event_elapsed, cuEventElapsedTime, (float *milliseconds, CUevent begin, CUevent end))                    \
  F(module_load, cuModuleLoadData, (CUmodule * module, const void *bytes))                                   \
  F(module_unload, cuModuleUnload, (CUmodule module))                                                        \
  F(module_function, cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))        \
  F(function_attribute, cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction f))      \
  F(function_set_attribute, cuFuncSetAttribute, (CUfunction f, CUfunction_attribute attribute, int value))   \
  F(launch, cuLaunchKernel,                                                                                  \
    (CUfunction function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z, unsigned threads_x,       \
     unsigned threads_y, unsigned threads_z, unsigned shared_bytes, CUstream stream, void **args,            \
     void **extra))

// Since 11.4; an older driver does without.
#define RITZ_CUDA_GRAPH_FUNCTIONS(F)                                                                         \
  F(stream_is_capturing, cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus * status))             \
  F(graph_create, cuGraphCreate, (CUgraph * graph, unsigned flags))                                          \
  F(graph_destroy, cuGraphDestroy, (CUgraph graph))                                                          \
  F(graph_add_memset, cuGraphAddMemsetNode,                                                                  \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t num_before,                        \
     const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context))                                              \
  F(graph_add_kernel, cuGraphAddKernelNode,                                                                  \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t num_before,                        \
     const CUDA_KERNEL_NODE_PARAMS *params))                                                                 \
  F(graph_instantiate, cuGraphInstantiateWithFlags,                                                          \
    (CUgraphExec * exec, CUgraph graph, unsigned long long flags))                                           \
  F(exec_set_memset, cuGraphExecMemsetNodeSetParams,                                                         \
    (CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context))          \
  F(exec_set_kernel, cuGraphExecKernelNodeSetParams,                                                         \
    (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params))                             \
  F(exec_launch, cuGraphLaunch, (CUgraphExec exec, CUstream stream))                                         \
  F(exec_destroy, cuGraphExecDestroy, (CUgraphExec exec))

// The one that is looked up before the others: 1000 * major + 10 * minor.
typedef CUresult (*RitzCudaDriverVersion)(int *version); // cuDriverGetVersion

// ---- Run-time compiler: libnvrtc.so, 11.2 and newer ----

typedef struct _nvrtcProgram *nvrtcProgram;

typedef enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_OUT_OF_MEMORY = 1, NVRTC_ERROR_COMPILATION = 6 } nvrtcResult;

#define RITZ_NVRTC_FUNCTIONS(F)                                                                              \
  F(version, nvrtcVersion, (int *major, int *minor))                                                         \
  F(num_archs, nvrtcGetNumSupportedArchs, (int *num))                                                        \
  F(archs, nvrtcGetSupportedArchs, (int *archs))                                                             \
  F(create, nvrtcCreateProgram,                                                                              \
    (nvrtcProgram * program, const char *text, const char *name, int num_headers,                            \
     const char *const *headers, const char *const *header_names))                                           \
  F(destroy, nvrtcDestroyProgram, (nvrtcProgram * program))                                                  \
  F(compile, nvrtcCompileProgram, (nvrtcProgram program, int num_options, const char *const *options))       \
  F(binary_size, nvrtcGetCUBINSize, (nvrtcProgram program, size_t * num_bytes))                              \
  F(binary, nvrtcGetCUBIN, (nvrtcProgram program, char *bytes))                                              \
  F(ptx_size, nvrtcGetPTXSize, (nvrtcProgram program, size_t * num_bytes))                                   \
  F(ptx, nvrtcGetPTX, (nvrtcProgram program, char *text))                                                    \
  F(log_size, nvrtcGetProgramLogSize, (nvrtcProgram program, size_t * num_bytes))                            \
  F(log, nvrtcGetProgramLog, (nvrtcProgram program, char *text))

typedef const char *(*RitzNvrtcErrorString)(nvrtcResult result); // nvrtcGetErrorString

// ---- Tables ----

#define RITZ_CUDA_FIELD(name, symbol, args)  CUresult(*name) args;
#define RITZ_NVRTC_FIELD(name, symbol, args) nvrtcResult(*name) args;

typedef struct {
  RITZ_CUDA_FUNCTIONS(RITZ_CUDA_FIELD)
  RITZ_CUDA_GRAPH_FUNCTIONS(RITZ_CUDA_FIELD)
} RitzCudaApi;

typedef struct {
  RITZ_NVRTC_FUNCTIONS(RITZ_NVRTC_FIELD)
  RitzNvrtcErrorString error_string;
} RitzNvrtcApi;

// dlsym gives functions as void *, which C does not convert.
static inline void ritz_find_symbol(void *library, const char *symbol, void *function) {
  *(void **)function = dlsym(library, symbol);
}

#endif
