// SPDX-License-Identifier: BSD-2-Clause
// The kernels of a device, from text to launch: one object for all of the folder. It is described by a text,
// may be begun ahead of its use, and is loaded when it is first launched. Text, threads and loaded programs:
// kernel.c, kernel-text.c, ahead.c, program.c.
#ifndef RITZ_BACKENDS_GPU_KERNEL_H
#define RITZ_BACKENDS_GPU_KERNEL_H

#include "core/core.h"
#include "devices/device.h"

// The type of CeedScalar in a text, and how well the text is compiled.
typedef enum {
  RITZ_TEXT_SCALARS, // CeedScalar is the library's
  RITZ_TEXT_FLOATS,  // CeedScalar is float
  RITZ_TEXT_MIXED,   // CeedScalar is the library's, all but the user's functions compute in float
  RITZ_TEXT_ONCE = 4 // beside one of these: compiled in less time to slower code
} RitzGpuTextKind;

enum { RITZ_GPU_TEXTS = 4 };
typedef struct {
  const char *name;  // letters, digits, '-', '_': for files of the cache
  const char *what;  // for messages, "QFunction 'f' of f.h"; NULL: the library's own kernels
  const char *entry; // static: the kernel of launches that name none; NULL: all name theirs
  RitzGpuTextKind kind;
  int num;                           // of texts
  const char *texts[RITZ_GPU_TEXTS]; // one after the other behind kernels/gpu/language.h
} RitzGpuText;

typedef enum {
  RITZ_KERNEL_NONE,   // not described yet
  RITZ_KERNEL_NEW,    // there is a text
  RITZ_KERNEL_BEGUN,  // threads are at it, or will be
  RITZ_KERNEL_READY,  // loaded
  RITZ_KERNEL_REFUSED // by the compiler: its use will say why
} RitzKernelState;

typedef struct RitzGpuProgram_private
    *RitzGpuProgram;                        // loaded code, counted; shared by the contexts of a device
typedef struct RitzGpuSource RitzGpuSource; // program.h

// Zeros at first.
typedef struct {
  RitzKernelState state;
  RitzGpuSource *source;   // owned, until it is ready
  char *reason;            // owned: why it is refused
  const char *entry;       // of the text
  RitzGpuProgram program;  // counted, once ready
  RitzDeviceKernel handle; // of the program: `entry`
} RitzGpuKernel;

// Gives a new kernel its texts, which are copied; a kernel that has them stays as it is.
int ritz_gpu_kernel_describe(Ceed ceed, const RitzGpuText *text, RitzGpuKernel *kernel);
// Begins to compile on another thread, or compiles at once by drivers with one thread alone. Errors come with
// the first use.
int ritz_gpu_kernel_begin(Ceed ceed, RitzGpuKernel *kernel);
// Takes what was begun, else makes it: from memory, the disk cache or the compiler. A refused text is
// CEED_ERROR_BACKEND with the compiler's first messages behind `what`; of `try` it is no error, but a state,
// until a load tells it. What has failed is tried again by the next load.
int ritz_gpu_kernel_load(Ceed ceed, RitzGpuKernel *kernel);
int ritz_gpu_kernel_try(Ceed ceed, RitzGpuKernel *kernel);
void ritz_gpu_kernel_release(Ceed ceed, RitzGpuKernel *kernel); // zeros again

// The text of a template inside the library, "kernels/gpu/vector.h"; NULL: there is none.
const char *ritz_gpu_template(const char *name);

// ---- Launches: of a kernel that was described, and is loaded if it is not ---

// Queues a kernel on the stream of the context: num_blocks blocks of block_size threads with shared_bytes of
// RITZ_SHARED_MEMORY (0: it has none); nothing for num_blocks == 0. entry NULL: that of its description. The
// arguments must be those that the kernel declares, in order.
int ritz_gpu_launch(Ceed ceed, RitzGpuKernel *kernel, const char *entry, int64_t num_blocks, int block_size,
                    int64_t shared_bytes, int num_args, const RitzDeviceArg *args);
//   RITZ_GPU_RUN(ceed, kernel, "scale", num_blocks, 256, RITZ_LONG(n), RITZ_SCALAR(alpha), RITZ_POINTER(x));
#define RITZ_GPU_RUN(ceed, kernel, entry, num_blocks, block_size, ...)                                       \
  ritz_gpu_launch(ceed, kernel, entry, num_blocks, block_size, 0,                                            \
                  (int)(sizeof((const RitzDeviceArg[]){__VA_ARGS__}) / sizeof(RitzDeviceArg)),               \
                  (const RitzDeviceArg[]){__VA_ARGS__})
// Queues num_bytes of zeros at p, then the kernel of its description. *replay makes that cheap where it is
// repeated: NULL at first, the caller's, destroyed before the kernel is released.
int ritz_gpu_launch_cleared(Ceed ceed, RitzGpuKernel *kernel, size_t num_bytes, void *p, int64_t num_blocks,
                            int block_size, int64_t shared_bytes, int num_args, const RitzDeviceArg *args,
                            RitzDeviceReplay *replay);
void ritz_gpu_replay_destroy(Ceed ceed, RitzDeviceReplay *replay); // *replay becomes NULL; NULL is fine
#define RITZ_POINTER(x)                                                                                      \
  { .kind = RITZ_ARG_POINTER, .value.p = (x) }
#define RITZ_INT(x)                                                                                          \
  { .kind = RITZ_ARG_INT, .value.i = (x) }
#define RITZ_LONG(x)                                                                                         \
  { .kind = RITZ_ARG_LONG, .value.l = (x) }
#define RITZ_SCALAR(x)                                                                                       \
  { .kind = RITZ_ARG_SCALAR, .value.s = (x) }
enum { RITZ_GPU_BLOCK = 256 }; // threads of a block of kernels with one item a thread
#define RITZ_GPU_BLOCKS(num_items) (((int64_t)(num_items) + RITZ_GPU_BLOCK - 1) / RITZ_GPU_BLOCK)

// ---- base-kernels.c: programs with kernels that are made for any size, one each a context ----

typedef enum {
  RITZ_BASE_ENTRIES,            // kernels/gpu/entries.h
  RITZ_BASE_VECTORS,            // kernels/gpu/vector.h
  RITZ_BASE_FLOAT_ENTRIES,      // those for float, and vector-convert.h; in a library of double
  RITZ_BASE_FLOATS,             // vector.h for float, there, too
  RITZ_BASE_RESTRICTIONS,       // kernels/gpu/restriction.h
  RITZ_BASE_FLOAT_RESTRICTIONS, // the same for float
  RITZ_BASE_BASES,              // kernels/gpu/basis-ref.h
  RITZ_BASE_POINTS,             // kernels/gpu/points-ref.h
  RITZ_BASE_FRONT_TREES,        // kernels/gpu/front-tree.h
  RITZ_BASE_COLLECT,            // kernels/gpu/collect.h
  RITZ_NUM_BASE
} RitzGpuBase;

int ritz_gpu_base(Ceed ceed, RitzGpuBase which, RitzGpuKernel **kernel); // described
int ritz_gpu_begin_base(Ceed ceed); // those that nearly every program needs, beside what it does first
void ritz_gpu_release_base(Ceed ceed);

#endif
