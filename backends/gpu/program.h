// SPDX-License-Identifier: BSD-2-Clause
// What kernels (kernel.c) are made of: sources (kernel-text.c) and loaded programs (program.c).
#ifndef RITZ_BACKENDS_GPU_PROGRAM_H
#define RITZ_BACKENDS_GPU_PROGRAM_H

#include "backends/gpu/kernel.h"
#include "jit/hash.h"

struct RitzGpuSource {
  int num_users;     // of the thread of the context
  char *name, *what; // owned: as in a description
  char *text;        // owned: of all parts
  bool is_hasty;     // compiled quickly, for code that runs once
  RitzHash key;      // of text and is_hasty
};

int ritz_gpu_source_create(Ceed ceed, const RitzGpuText *text, RitzGpuSource **source);
RitzGpuSource *ritz_gpu_source_share(RitzGpuSource *source); // released by each
void ritz_gpu_source_release(RitzGpuSource **source);        // becomes NULL; NULL is fine

// The code of a text for the context's device, from the cache or the compiler; *bytes is the caller's, NULL:
// refused.
int ritz_gpu_program_compile(Ceed ceed, const RitzGpuSource *source, size_t *num_bytes, char **bytes);
RitzGpuProgram ritz_gpu_program_find(RitzDevice device, const RitzHash *key); // counted; NULL: not loaded
// Loads code that was made ahead, which is freed, or is made now (NULL), and makes the program findable.
// *program NULL: the compiler has refused the text, and *reason (owned) is why.
int ritz_gpu_program_make(Ceed ceed, const RitzGpuSource *source, size_t num_bytes, char *bytes,
                          RitzGpuProgram *program, char **reason);
void ritz_gpu_program_release(Ceed ceed, RitzGpuProgram *program); // becomes NULL; NULL is fine
int ritz_gpu_program_kernel(Ceed ceed, RitzGpuProgram program, const char *name, RitzDeviceKernel *kernel);

#endif
