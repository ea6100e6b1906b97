// SPDX-License-Identifier: BSD-2-Clause
// Devices and their drivers. A driver is one table of functions; everything above is written against the
// table. Nothing is linked: libraries are looked up with dlopen, the few declarations that are needed are in
// cuda-api.h and opencl-api.h. Called by backends/gpu, by `ritz info` through ritz/device.h, and by tests.
//
// All functions may be called by several threads at once. Each makes the device current for its own duration
// and leaves the caller's state as it was. Where a Ceed is an argument it receives the message, which begins
// with the driver's own function and ends with the driver's words for the error: "cuMemAlloc: 8000 bytes: out
// of memory". Errors are CEED_ERROR_BACKEND, or CEED_ERROR_MAJOR where memory is short.
//
// Device memory is known by its address. On CUDA that is the address itself. OpenCL has handles instead:
// there an allocation reserves a range of the process's own addresses that nothing can be read from or
// written to, so that addresses are unique, can be computed with, and fault when the host uses one.
#ifndef RITZ_DEVICES_DEVICE_H
#define RITZ_DEVICES_DEVICE_H

#include <ceed.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RitzDriver RitzDriver;
// An opened device, one for each index of a driver; stays open until the process ends.
typedef struct RitzDevice_private *RitzDevice;
typedef struct RitzDeviceProgram_private *RitzDeviceProgram; // loaded code
typedef struct RitzDeviceKernel_private *RitzDeviceKernel;   // owned by its program
typedef struct RitzDeviceEvent_private *RitzDeviceEvent;     // a moment in a stream
// State that a driver keeps of a launch that is repeated; used by one thread at a time. NULL at first.
typedef struct RitzDeviceReplay_private *RitzDeviceReplay;

// CUDA: a CUstream; NULL is the legacy default stream. OpenCL: always NULL, the device's one in-order queue.
typedef void *RitzDeviceStream;

typedef struct {
  const RitzDriver *driver;
  int index;
  char name[128];       // "NVIDIA H200"
  char arch[64];        // what code is compiled for: "sm_90"; OpenCL: the version of the device
  char version[256];    // of driver and compiler: binaries are good for equal name, arch and version
  int64_t num_bytes;    // of memory
  int num_units;        // multiprocessors, compute units
  int warp_size;        // threads that run together; 1 on a CPU
  int max_threads;      // of a block
  int64_t shared_bytes; // shared memory that every kernel may use (48 KiB on CUDA: declared arrays)
  bool adds_atomically; // double and float: by an instruction, or by compare-and-swap
  // Shared memory with RITZ_SHARED_MEMORY, whose size is an argument of the launch. OpenCL: as shared_bytes.
  int64_t dynamic_shared_bytes;
  // Limits of a multiprocessor, for all blocks that are resident at once. 0: unknown.
  int64_t shared_bytes_multiprocessor;
  int64_t shared_bytes_reserved; // of these, taken by the driver for each block
  int64_t cache_bytes;           // second cache; 0: unknown
  int registers_multiprocessor, threads_multiprocessor, blocks_multiprocessor;
} RitzDeviceInfo;

typedef enum {
  RITZ_ARG_POINTER, // an address in device memory, or NULL
  RITZ_ARG_INT,     // 32 bits
  RITZ_ARG_LONG,    // 64 bits
  RITZ_ARG_SCALAR,  // CeedScalar
} RitzDeviceArgKind;

typedef struct {
  RitzDeviceArgKind kind;
  union {
    const void *p;
    int32_t i;
    int64_t l;
    CeedScalar s;
  } value;
} RitzDeviceArg;

// Code for a device, and what its compiler said. Owned by the caller: ritz_device_code_free.
typedef struct {
  char *bytes; // NULL: the compiler has refused the text
  size_t num_bytes;
  char *log; // never NULL after a call that has succeeded; "" when nothing was said
} RitzDeviceCode;

// Properties of a kernel as compiler and driver report them.
typedef struct {
  int max_threads;      // of a block, for this kernel
  int registers;        // a thread; -1: unknown
  int64_t shared_bytes; // declared shared memory
  int64_t spill_bytes;  // of a thread's memory that did not fit into registers; -1: unknown
} RitzDeviceKernelInfo;

struct RitzDriver {
  const char *name;     // "cuda", "opencl"
  const char *options;  // for its compiler, the same for all texts
  bool has_warps;       // threads of a warp exchange data: what of kernels/gpu/ is for CUDA alone
  bool compiles_beside; // several threads may compile at once; drivers of OpenCL are not all up to that

  // Number of devices that can be used; when there is none, *why is the reason in one line (static; else
  // NULL). The library and its devices are looked for once in a process. Never prints, never raises.
  int (*count)(const char **why);
  const char *(*compiler)(const char **why); // its file, where there are devices; NULL: the driver's own
  // *index: the device that is meant when none is named. CUDA: the one that is current in the calling thread,
  // else 0.
  int (*choose)(Ceed ceed, int *index);
  // Opens a device, or finds it open; 0 <= index < count.
  int (*open)(Ceed ceed, int index, RitzDevice *device);
  const RitzDeviceInfo *(*info)(RitzDevice device);
  int (*memory)(Ceed ceed, RitzDevice device, int64_t *free_bytes); // -1: unknown

  // ---- Memory ----
  // *p is aligned to 256 bytes; num_bytes > 0; contents are unspecified.
  int (*alloc)(Ceed ceed, RitzDevice device, size_t num_bytes, void **p);
  int (*free)(Ceed ceed, RitzDevice device,
              void *p); // from alloc, or (CUDA) any of the driver's or runtime's
  // *start: of the allocation that p points into, *num_bytes its size; *start == NULL: p is no memory of this
  // device. Never raises.
  void (*find)(RitzDevice device, const void *p, void **start, size_t *num_bytes);
  // To the device: the host's array may be changed as soon as the call returns. From the device: returns when
  // the data are there. Within the device: in the stream's order. Ranges do not overlap.
  int (*copy_in)(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *to,
                 const void *from);
  int (*copy_out)(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *to,
                  const void *from);
  int (*copy)(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *to,
              const void *from);
  int (*clear)(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes,
               void *p); // zero bytes

  // ---- Order ----
  // A further stream that does not wait for the legacy default stream. OpenCL: NULL.
  int (*stream_create)(Ceed ceed, RitzDevice device, RitzDeviceStream *stream);
  int (*stream_destroy)(Ceed ceed, RitzDevice device, RitzDeviceStream stream);
  int (*synchronize)(Ceed ceed, RitzDevice device, RitzDeviceStream stream); // returns when all work is done
  int (*event_create)(Ceed ceed, RitzDevice device, RitzDeviceEvent *event);
  int (*event_destroy)(Ceed ceed, RitzDevice device, RitzDeviceEvent *event);
  int (*event_record)(Ceed ceed, RitzDevice device, RitzDeviceStream stream, RitzDeviceEvent event);
  int (*event_wait)(Ceed ceed, RitzDevice device, RitzDeviceStream stream,
                    RitzDeviceEvent event); // the stream waits
  // Seconds between two recorded events; waits for both.
  int (*event_elapsed)(Ceed ceed, RitzDevice device, RitzDeviceEvent begin, RitzDeviceEvent end,
                       double *seconds);

  // ---- Code ----
  // Text without includes, in the C subset of kernels/gpu/language.h -> code for this device. `name` is for
  // the compiler's messages. A refused text is no error: code->bytes is NULL and code->log says why.
  int (*compile)(Ceed ceed, RitzDevice device, const char *name, const char *text, RitzDeviceCode *code);
  // The same in less time, for slower code that runs once or a few times. NULL: the driver has no such mode.
  int (*compile_hastily)(Ceed ceed, RitzDevice device, const char *name, const char *text,
                         RitzDeviceCode *code);
  // Programs outlive the contexts that load them: they and their kernels are no memory of the library's count
  // (ritz_memory_give when made, ritz_memory_adopt before freed).
  int (*load)(Ceed ceed, RitzDevice device, size_t num_bytes, const char *bytes, RitzDeviceProgram *program);
  int (*unload)(Ceed ceed, RitzDevice device, RitzDeviceProgram *program);
  int (*kernel)(Ceed ceed, RitzDeviceProgram program, const char *name,
                RitzDeviceKernel *kernel); // kept, found again
  int (*kernel_info)(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceKernelInfo *info);
  // num_blocks >= 1 blocks of block_size threads, both one-dimensional; returns when the work is queued.
  // shared_bytes: of the array that the kernel declares with RITZ_SHARED_MEMORY; 0: it has none.
  int (*launch)(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceStream stream, int64_t num_blocks,
                int block_size, int64_t shared_bytes, int num_args, const RitzDeviceArg *args);
  // clear(num_bytes, p), num_bytes > 0, then the launch; queued in less time where the call is repeated.
  // *replay keeps what that takes. It is made when needed and belongs to the caller, who destroys it before
  // the kernel's program is unloaded. Any call may follow any other with one replay. CUDA: a stream that is
  // being captured gets the two operations.
  int (*launch_cleared)(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceStream stream, size_t num_bytes,
                        void *p, int64_t num_blocks, int block_size, int64_t shared_bytes, int num_args,
                        const RitzDeviceArg *args, RitzDeviceReplay *replay);
  int (*replay_destroy)(Ceed ceed, RitzDevice device, RitzDeviceReplay *replay); // *replay becomes NULL
};

extern const RitzDriver ritz_cuda, ritz_opencl;

void ritz_device_code_free(RitzDeviceCode *code);

// ---- Without a device (devices/nvrtc.c) ----
// Options that change what is made of a text. A function of the user's that says nothing of where it runs
// runs on the device.
#define RITZ_NVRTC_STANDARD "--std=c++17"
#define RITZ_NVRTC_SPACE    "--device-as-default-execution-space"
#define RITZ_NVRTC_HASTY    "--Ofast-compile=mid" // where NVRTC knows it: since 13.0
// Compiles for an architecture such as "sm_90" with NVIDIA's run-time compiler. *why: there is no compiler,
// in one line (static), and the result is CEED_ERROR_UNSUPPORTED without a message; else NULL.
int ritz_nvrtc_compile(Ceed ceed, const char *arch, const char *name, const char *text, RitzDeviceCode *code,
                       const char **why);
int ritz_nvrtc_compile_hastily(Ceed ceed, const char *arch, const char *name, const char *text,
                               RitzDeviceCode *code, const char **why);
// "13.0" and the library's file, static; NULL: there is none, and *why says so.
const char *ritz_nvrtc_version(const char **why);
const char *ritz_nvrtc_file(const char **why);

#endif
