// SPDX-License-Identifier: BSD-2-Clause
// Texts to loaded programs (program.c), those that the library makes for any size, and their launches.
#ifndef RITZ_BACKENDS_GPU_PROGRAM_H
#define RITZ_BACKENDS_GPU_PROGRAM_H

#include "backends/gpu/context.h"

// The loaded program for a text, which is `num_texts` strings after kernels/gpu/language.h; from memory, the
// disk cache or the compiler. name: letters, digits, '-', '_'. A refused text is CEED_ERROR_BACKEND with the
// compiler's first messages after `what` ("QFunction 'f' of f.h").
int ritz_gpu_program(Ceed ceed, const char *name, const char *what, int num_texts, const char *const *texts,
                     RitzGpuProgram *program);
// The same for a text that computes otherwise than in CeedScalar.
typedef enum {
  RITZ_TEXT_SCALARS, // CeedScalar is the library's
  RITZ_TEXT_FLOATS,  // CeedScalar is float
  RITZ_TEXT_MIXED,   // CeedScalar is the library's, all but the user's functions compute in float
  RITZ_TEXT_ONCE = 4 // beside one of these: compiled in less time to slower code
} RitzGpuTextKind;
int ritz_gpu_program_of(Ceed ceed, RitzGpuTextKind kind, const char *name, const char *what, int num_texts,
                        const char *const *texts, RitzGpuProgram *program);
// Begins to make a program that will be asked for; faults are told then.
int ritz_gpu_program_ahead(Ceed ceed, RitzGpuTextKind kind, const char *name, const char *what, int num_texts,
                           const char *const *texts);
void ritz_gpu_ahead_destroy(Ceed ceed); // ahead.c: with the context
void ritz_gpu_program_release(Ceed ceed, RitzGpuProgram *program);
// The text of a template inside the library, "kernels/gpu/vector.h".
const char *ritz_gpu_template(const char *name);
// For kernels that are launched often: looked up once, valid while the caller has its program.
int ritz_gpu_kernel(Ceed ceed, RitzGpuProgram program, const char *name, RitzDeviceKernel *kernel);
// Queues a kernel on the stream of the context: num_blocks blocks of block_size threads with shared_bytes of
// RITZ_SHARED_MEMORY (0: it has none); nothing for num_blocks == 0.
int ritz_gpu_launch(Ceed ceed, RitzDeviceKernel kernel, int64_t num_blocks, int block_size,
                    int64_t shared_bytes, int num_args, const RitzDeviceArg *args);
// Queues num_bytes of zeros at p, then the kernel. *replay makes that cheap where it is repeated: NULL at
// first, the caller's, destroyed before the program is released.
int ritz_gpu_launch_cleared(Ceed ceed, RitzDeviceKernel kernel, size_t num_bytes, void *p, int64_t num_blocks,
                            int block_size, int64_t shared_bytes, int num_args, const RitzDeviceArg *args,
                            RitzDeviceReplay *replay);
void ritz_gpu_replay_destroy(Ceed ceed, RitzDeviceReplay *replay); // *replay becomes NULL; NULL is fine
// Queues a kernel of a program by its name: num_blocks blocks of block_size threads; nothing for num_blocks
// == 0. The arguments must be those that the kernel declares, in order:
//   RITZ_GPU_RUN(ceed, program, "scale", num_blocks, 256, RITZ_LONG(n), RITZ_SCALAR(alpha), RITZ_POINTER(x));
int ritz_gpu_run(Ceed ceed, RitzGpuProgram program, const char *kernel, int64_t num_blocks, int block_size,
                 int num_args, const RitzDeviceArg *args);
#define RITZ_POINTER(x)                                                                                      \
  { .kind = RITZ_ARG_POINTER, .value.p = (x) }
#define RITZ_INT(x)                                                                                          \
  { .kind = RITZ_ARG_INT, .value.i = (x) }
#define RITZ_LONG(x)                                                                                         \
  { .kind = RITZ_ARG_LONG, .value.l = (x) }
#define RITZ_SCALAR(x)                                                                                       \
  { .kind = RITZ_ARG_SCALAR, .value.s = (x) }
#define RITZ_GPU_RUN(ceed, program, kernel, num_blocks, block_size, ...)                                     \
  ritz_gpu_run(ceed, program, kernel, num_blocks, block_size,                                                \
               (int)(sizeof((const RitzDeviceArg[]){__VA_ARGS__}) / sizeof(RitzDeviceArg)),                  \
               (const RitzDeviceArg[]){__VA_ARGS__})
enum { RITZ_GPU_BLOCK = 256 }; // threads of a block of kernels with one item a thread
#define RITZ_GPU_BLOCKS(num_items) (((int64_t)(num_items) + RITZ_GPU_BLOCK - 1) / RITZ_GPU_BLOCK)

// One of the programs for any size, released with the context (base-programs.c).
int ritz_gpu_base(Ceed ceed, RitzGpuBase which, RitzGpuProgram *program);
// Begins those that nearly every program needs, beside what it does first.
int ritz_gpu_begin_base(Ceed ceed);
void ritz_gpu_release_base(Ceed ceed);

#endif
