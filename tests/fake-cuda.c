// SPDX-License-Identifier: BSD-2-Clause
// A CUDA driver and run-time compiler that stand in for NVIDIA's in test-cuda-driver.c: devices are memory of
// the host, the code of a program is its text, kernels are functions below. Nothing that a stream is given to
// do is done before somebody waits for it, and a call without a current context fails. Built twice, as
// libcuda.so.1 and libnvrtc.so.13.
#include "tests/fake-cuda.h"

#include <ceed/types.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED                          __attribute__((visibility("default")))
#define DECLARE_CUDA(name, symbol, args)  EXPORTED CUresult symbol args;
#define DECLARE_NVRTC(name, symbol, args) EXPORTED nvrtcResult symbol args;
RITZ_CUDA_FUNCTIONS(DECLARE_CUDA)
RITZ_CUDA_GRAPH_FUNCTIONS(DECLARE_CUDA)
RITZ_NVRTC_FUNCTIONS(DECLARE_NVRTC)
EXPORTED CUresult cuDriverGetVersion(int *version);
EXPORTED const char *nvrtcGetErrorString(nvrtcResult result);
EXPORTED FakeCuda *fake_cuda(void);

static FakeCuda fake;
static pid_t owner; // 0: not initialised

FakeCuda *fake_cuda(void) { return &fake; }

static CUresult begin(const char *call) {
  if (fake.failing && !strcmp(fake.failing, call)) return fake.failure;
  return owner == getpid() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

#define BEGIN()                                                                                              \
  do {                                                                                                       \
    CUresult result_ = begin(__func__);                                                                      \
    if (result_) return result_;                                                                             \
  } while (0)
#define BEGIN_IN_CONTEXT()                                                                                   \
  do {                                                                                                       \
    BEGIN();                                                                                                 \
    if (!fake.current) return CUDA_ERROR_INVALID_CONTEXT;                                                    \
  } while (0)

// ---- Driver and devices ----

CUresult cuDriverGetVersion(int *version) {
  *version = fake.version ? fake.version : 12040;
  return CUDA_SUCCESS;
}

CUresult cuInit(unsigned flags) {
  (void)flags;
  owner = getpid();
  return begin(__func__);
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  *text = error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory"
          : error == CUDA_ERROR_NO_DEVICE   ? "no CUDA-capable device is detected"
                                            : "something else";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  BEGIN();
  *count = fake.num_devices ? fake.num_devices : 2;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  BEGIN();
  *device = ordinal + 100; // a handle is no number of a device
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  BEGIN();
  (void)device;
  strncpy(name, "Fake", (size_t)length);
  return CUDA_SUCCESS;
}

enum { MEMORY = 1 << 25, OPT_IN = 232448 };
static size_t num_used;

CUresult cuDeviceTotalMem_v2(size_t *num_bytes, CUdevice device) {
  BEGIN();
  (void)device;
  *num_bytes = MEMORY;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  int arch = fake.arch ? fake.arch : 90;

  BEGIN();
  (void)device;
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 49152; break;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; break;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 132; break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = OPT_IN; break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: *value = 233472; break;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: *value = 1024; break;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: *value = 65536; break;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = 62914560; break;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: *value = 2048; break;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: *value = 32; break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = arch / 10; break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = arch % 10; break;
  }
  return CUDA_SUCCESS;
}

// ---- Contexts: a stack for the one thread that calls ----

struct CUctx_st {
  CUdevice device;
};
static struct CUctx_st contexts[2] = {{100}, {101}};
static CUcontext stack[16];

static void set_depth(int depth) {
  fake.depth = depth;
  fake.current = depth ? stack[depth - 1] : NULL;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  BEGIN();
  *context = &contexts[device - 100];
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  (void)device;
  return begin(__func__);
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  BEGIN();
  stack[fake.depth] = context;
  set_depth(fake.depth + 1);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  BEGIN_IN_CONTEXT();
  *context = fake.current;
  set_depth(fake.depth - 1);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
  BEGIN_IN_CONTEXT();
  *device = fake.current->device;
  return CUDA_SUCCESS;
}

// ---- Work: all streams are one queue ----

typedef struct {
  void (*run)(int64_t num_threads, int64_t n, int32_t first, CeedScalar step, CeedScalar *x); // NULL: a copy
  char *to;
  const char *from; // NULL: `value`
  size_t num_bytes;
  unsigned char value;
  int64_t num_threads, n;
  int32_t first;
  CeedScalar step;
} Work;

static Work *queue;

static CUresult enqueue(Work work) {
  queue = realloc(queue, (fake.num_queued + 1) * sizeof(Work));
  if (!queue) abort();
  queue[fake.num_queued++] = work;
  return CUDA_SUCCESS;
}

static CUresult run_queue(void) {
  for (size_t i = 0; i < fake.num_queued; i++) {
    const Work *w = &queue[i];
    if (w->run) {
      w->run(w->num_threads, w->n, w->first, w->step, (CeedScalar *)(void *)w->to);
    } else if (w->from) {
      memcpy(w->to, w->from, w->num_bytes);
    } else {
      memset(w->to, w->value, w->num_bytes);
    }
  }
  free(queue);
  queue = NULL;
  fake.num_queued = 0;
  return CUDA_SUCCESS;
}

static char *pointer(CUdeviceptr p) { return (char *)(uintptr_t)p; }

// ---- Memory ----

typedef struct Memory {
  char *start;
  size_t num_bytes;
  CUdevice device;
  struct Memory *next;
} Memory;

static Memory *memories;

static Memory *find(CUdeviceptr p) {
  Memory *m = memories;

  while (m && !(pointer(p) >= m->start && pointer(p) < m->start + m->num_bytes)) m = m->next;
  return m;
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *num_bytes) {
  BEGIN_IN_CONTEXT();
  *free_bytes = MEMORY - num_used;
  *num_bytes = MEMORY;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t num_bytes) {
  BEGIN_IN_CONTEXT();
  if (num_bytes > MEMORY - num_used) return CUDA_ERROR_OUT_OF_MEMORY;
  Memory *m = malloc(sizeof(*m));
  *m = (Memory){aligned_alloc(256, (num_bytes + 255) / 256 * 256), num_bytes, fake.current->device, memories};
  memset(m->start, 0x55, num_bytes);
  memories = m;
  num_used += num_bytes;
  fake.num_memories++;
  *p = (CUdeviceptr)(uintptr_t)m->start;
  return CUDA_SUCCESS;
}

// Pinned memory of the host, which the program keeps.
CUresult cuMemHostAlloc(void **p, size_t num_bytes, unsigned flags) {
  BEGIN_IN_CONTEXT();
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  *p = malloc(num_bytes);
  return *p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree_v2(CUdeviceptr p) {
  BEGIN_IN_CONTEXT();
  Memory **m = &memories;
  run_queue();
  while (*m && (*m)->start != pointer(p)) m = &(*m)->next;
  if (!*m) return CUDA_ERROR_INVALID_VALUE;
  Memory *old = *m;
  *m = old->next;
  num_used -= old->num_bytes;
  fake.num_memories--;
  free(old->start);
  free(old);
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *start, size_t *num_bytes, CUdeviceptr p) {
  BEGIN_IN_CONTEXT();
  Memory *m = find(p);
  if (!m) return CUDA_ERROR_NOT_FOUND;
  *start = (CUdeviceptr)(uintptr_t)m->start;
  *num_bytes = m->num_bytes;
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttributes(unsigned num_attributes, CUpointer_attribute *attributes, void **values,
                                CUdeviceptr p) {
  BEGIN_IN_CONTEXT();
  Memory *m = find(p);
  for (unsigned i = 0; i < num_attributes; i++) {
    int value = 0;
    if (m && attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE) value = CU_MEMORYTYPE_DEVICE;
    if (m && attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) value = m->device - 100;
    memcpy(values[i], &value, sizeof(value));
  }
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t num_bytes, CUstream stream) {
  BEGIN_IN_CONTEXT();
  (void)stream;
  return enqueue((Work){.to = pointer(to), .from = from, .num_bytes = num_bytes});
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t num_bytes, CUstream stream) {
  BEGIN_IN_CONTEXT();
  (void)stream;
  fake.num_copies++;
  return enqueue((Work){.to = to, .from = pointer(from), .num_bytes = num_bytes});
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t num_bytes, CUstream stream) {
  BEGIN_IN_CONTEXT();
  (void)stream;
  return enqueue((Work){.to = pointer(to), .from = pointer(from), .num_bytes = num_bytes});
}

CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, size_t num_bytes, CUstream stream) {
  BEGIN_IN_CONTEXT();
  (void)stream;
  return enqueue((Work){.to = pointer(p), .value = value, .num_bytes = num_bytes});
}

// ---- Streams and events: a moment is the number of events recorded before, in seconds ----

struct CUstream_st {
  unsigned flags;
};
struct CUevent_st {
  int moment; // 0: not recorded
};

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  BEGIN_IN_CONTEXT();
  if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  *stream = calloc(1, sizeof(**stream));
  fake.num_streams++;
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  BEGIN_IN_CONTEXT();
  free(stream);
  fake.num_streams--;
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
  BEGIN_IN_CONTEXT();
  (void)stream;
  return run_queue();
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  BEGIN_IN_CONTEXT();
  (void)stream;
  fake.num_moments++;
  return flags || !event->moment ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  BEGIN_IN_CONTEXT();
  if (flags != CU_EVENT_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
  *event = calloc(1, sizeof(**event));
  fake.num_events++;
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  BEGIN_IN_CONTEXT();
  free(event);
  fake.num_events--;
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  static int num_recorded;

  BEGIN_IN_CONTEXT();
  (void)stream;
  event->moment = ++num_recorded;
  fake.num_moments++;
  return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event) {
  BEGIN_IN_CONTEXT();
  (void)event;
  return run_queue();
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent begin_event, CUevent end_event) {
  BEGIN_IN_CONTEXT();
  if (fake.num_queued) return CUDA_ERROR_INVALID_VALUE; // not ready
  *milliseconds = 1000.f * (float)(end_event->moment - begin_event->moment);
  return CUDA_SUCCESS;
}

// ---- Code ----

static void run_ramp(int64_t num_threads, int64_t n, int32_t first, CeedScalar step, CeedScalar *x) {
  for (int64_t i = 0; i < num_threads && i < n; i++) x[i] = (CeedScalar)first + step * (CeedScalar)i;
}

struct CUfunc_st {
  void (*run)(int64_t num_threads, int64_t n, int32_t first, CeedScalar step, CeedScalar *x);
  int shared_limit;
};

struct CUmod_st {
  char *text;
  struct CUfunc_st ramp;
  CUmodule next;
};
static CUmodule modules;
enum { DECLARED = 2048 }; // shared memory

CUresult cuModuleLoadData(CUmodule *module, const void *bytes) {
  BEGIN_IN_CONTEXT();
  CUmodule made = malloc(sizeof(*made));
  *made = (struct CUmod_st){strdup(bytes), {run_ramp, 49152 - DECLARED}, modules};
  *module = modules = made;
  fake.num_modules++;
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  BEGIN_IN_CONTEXT();
  CUmodule *place = &modules;
  while (*place != module) place = &(*place)->next;
  *place = module->next;
  free(module->text);
  free(module);
  fake.num_modules--;
  return CUDA_SUCCESS;
}

// Macros paste the ends of names of kernels that are there for both precisions.
static bool has_name(const char *text, const char *name) {
  const size_t length = strlen(name);
  char begin[128];

  if (strstr(text, name)) return true;
  if (length < 5 || length >= sizeof(begin) || strcmp(name + length - 4, "_f32") != 0) return false;
  memcpy(begin, name, length - 4);
  begin[length - 4] = '\0';
  return strstr(text, begin) != NULL;
}

// Every word of the text is the name of a kernel; all do the same.
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  BEGIN_IN_CONTEXT();
  *function = &module->ramp;
  return has_name(module->text, name) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  BEGIN_IN_CONTEXT();
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 512; break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = DECLARED; break;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = 24; break;
  case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 40; break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = function->shared_limit; break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = 0; break; // no clusters
  }
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  BEGIN_IN_CONTEXT();
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > OPT_IN - DECLARED)
    return CUDA_ERROR_INVALID_VALUE;
  function->shared_limit = value;
  fake.num_raised++;
  return CUDA_SUCCESS;
}

// The arguments are read now, each as what `ramp` declares.
static CUresult kernel_work(const CUDA_KERNEL_NODE_PARAMS *p, Work *work) {
  if (p->blocks_y != 1 || p->blocks_z != 1 || p->threads_y != 1 || p->threads_z != 1 || p->extra)
    return CUDA_ERROR_INVALID_VALUE;
  if (!p->blocks_x || !p->threads_x || p->threads_x > 512) return CUDA_ERROR_INVALID_VALUE;
  if (p->shared_bytes > (unsigned)p->function->shared_limit) return CUDA_ERROR_INVALID_VALUE;
  *work = (Work){.run = p->function->run, .num_threads = (int64_t)p->blocks_x * p->threads_x};
  memcpy(&work->n, p->args[0], sizeof(work->n));
  memcpy(&work->first, p->args[1], sizeof(work->first));
  memcpy(&work->step, p->args[2], sizeof(work->step));
  memcpy(&work->to, p->args[3], sizeof(work->to));
  fake.shared_bytes = p->shared_bytes;
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                        unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared_bytes,
                        CUstream stream, void **args, void **extra) {
  const CUDA_KERNEL_NODE_PARAMS params = {function,  blocks_x,  blocks_y,     blocks_z, threads_x,
                                          threads_y, threads_z, shared_bytes, args,     extra};
  Work work;

  BEGIN_IN_CONTEXT();
  (void)stream;
  fake.num_kernels++;
  if (fake.is_idle) return CUDA_SUCCESS;
  const CUresult result = kernel_work(&params, &work);
  return result ? result : enqueue(work);
}

// ---- Graphs: their nodes in the order in which they are added, each after the one before ----

struct CUgraphNode_st {
  Work work;
};
struct CUgraph_st {
  struct CUgraphNode_st nodes[4];
  size_t num_nodes;
};
struct CUgraphExec_st {
  CUgraph graph; // whose nodes name those of this one
  struct CUgraph_st copy;
};

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  BEGIN_IN_CONTEXT();
  (void)stream;
  *status = fake.is_capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
  BEGIN_IN_CONTEXT();
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  *graph = calloc(1, sizeof(**graph));
  fake.num_graphs++;
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  BEGIN_IN_CONTEXT();
  free(graph);
  fake.num_graphs--;
  return CUDA_SUCCESS;
}

static CUresult add_node(CUgraph graph, const CUgraphNode *before, size_t num_before, Work work,
                         CUgraphNode *node) {
  const size_t n = graph->num_nodes++;

  if (num_before != (n > 0) || (n && before[0] != &graph->nodes[n - 1])) return CUDA_ERROR_INVALID_VALUE;
  *node = &graph->nodes[n];
  (*node)->work = work;
  return CUDA_SUCCESS;
}

static CUresult memset_work(const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context, Work *work) {
  if (context != fake.current || p->value || p->height != 1 || !p->width || p->to % p->element_size)
    return CUDA_ERROR_INVALID_VALUE;
  *work = (Work){.to = pointer(p->to), .num_bytes = p->width * p->element_size};
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t num_before,
                              const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context) {
  Work work;

  BEGIN_IN_CONTEXT();
  const CUresult result = memset_work(params, context, &work);
  return result ? result : add_node(graph, before, num_before, work, node);
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t num_before,
                              const CUDA_KERNEL_NODE_PARAMS *params) {
  Work work;

  BEGIN_IN_CONTEXT();
  const CUresult result = kernel_work(params, &work);
  return result ? result : add_node(graph, before, num_before, work, node);
}

// What a stream that is captured must not see.
#define BEGIN_OUTSIDE_CAPTURE()                                                                              \
  do {                                                                                                       \
    BEGIN_IN_CONTEXT();                                                                                      \
    if (fake.is_capturing) abort();                                                                          \
  } while (0)

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
  BEGIN_OUTSIDE_CAPTURE();
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  *exec = malloc(sizeof(**exec));
  **exec = (struct CUgraphExec_st){graph, *graph};
  fake.num_execs++;
  fake.num_instantiations++;
  return CUDA_SUCCESS;
}

static CUresult set_work(CUgraphExec exec, CUgraphNode node, CUresult result, Work work) {
  if (result) return result;
  exec->copy.nodes[node - exec->graph->nodes].work = work;
  fake.num_updates++;
  return CUDA_SUCCESS;
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context) {
  Work work = {0};

  BEGIN_OUTSIDE_CAPTURE();
  const CUresult result = memset_work(params, context, &work);
  return set_work(exec, node, result, work);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS *params) {
  Work work = {0};

  BEGIN_OUTSIDE_CAPTURE();
  const CUresult result = kernel_work(params, &work);
  return set_work(exec, node, result, work);
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  BEGIN_OUTSIDE_CAPTURE();
  (void)stream;
  for (size_t i = 0; i < exec->copy.num_nodes; i++) enqueue(exec->copy.nodes[i].work);
  fake.num_replays++;
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  BEGIN_IN_CONTEXT();
  free(exec);
  fake.num_execs--;
  return CUDA_SUCCESS;
}

// ---- Run-time compiler: knows sm_75 and sm_90, refuses a text with the word "wrong" ----

struct _nvrtcProgram {
  char *text;
  bool is_refused;
};

const char *nvrtcGetErrorString(nvrtcResult result) { return result ? "failed" : "fine"; }

nvrtcResult nvrtcVersion(int *major, int *minor) {
  *major = 12;
  *minor = 4;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int *num) {
  *num = 2;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *archs) {
  archs[0] = 75;
  archs[1] = 90;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *text, const char *name, int num_headers,
                               const char *const *headers, const char *const *header_names) {
  (void)name, (void)num_headers, (void)headers, (void)header_names;
  *program = calloc(1, sizeof(**program));
  (*program)->text = strdup(text);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
  free((*program)->text);
  free(*program);
  *program = NULL;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int num_options, const char *const *options) {
  bool is_known = false;

  for (int i = 0; i < num_options; i++) {
    is_known = is_known || !strcmp(options[i], "--gpu-architecture=sm_90") ||
               !strcmp(options[i], "--gpu-architecture=compute_90");
  }
  program->is_refused = !is_known || strstr(program->text, "wrong");
  return program->is_refused ? NVRTC_ERROR_COMPILATION : NVRTC_SUCCESS;
}

static nvrtcResult get_size(nvrtcProgram program, size_t *num_bytes) {
  *num_bytes = strlen(program->text) + 1;
  return NVRTC_SUCCESS;
}

static nvrtcResult get_text(nvrtcProgram program, char *text) {
  strcpy(text, program->text);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *num_bytes) {
  return get_size(program, num_bytes);
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *bytes) { return get_text(program, bytes); }
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *num_bytes) { return get_size(program, num_bytes); }
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *text) { return get_text(program, text); }

static const char *log_of(nvrtcProgram program) { return program->is_refused ? "refused" : ""; }

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *num_bytes) {
  *num_bytes = strlen(log_of(program)) + 1;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *text) {
  strcpy(text, log_of(program));
  return NVRTC_SUCCESS;
}
