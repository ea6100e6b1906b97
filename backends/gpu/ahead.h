// SPDX-License-Identifier: BSD-2-Clause
// What program.c (texts to loaded programs) and ahead.c (programs made by threads of their own) share.
#ifndef RITZ_BACKENDS_GPU_AHEAD_H
#define RITZ_BACKENDS_GPU_AHEAD_H

#include "backends/gpu/context.h"
#include "backends/gpu/program.h"
#include "jit/hash.h"

// A text on its way to a program.
typedef struct {
  const char *name, *what; // as for ritz_gpu_program
  const char *text;        // of all parts
  bool is_hasty;           // compiled quickly, for code that runs once
  RitzHash key;            // of text and is_hasty
} RitzGpuSource;

// program.c: the code of a text for the context's device, from the cache or the compiler; *bytes is the
// caller's.
int ritz_gpu_program_compile(Ceed ceed, const RitzGpuSource *source, size_t *num_bytes, char **bytes);
RitzGpuProgram ritz_gpu_program_find(RitzDevice device, const RitzHash *key); // counted; NULL: not loaded

// ahead.c: the source, which is copied, is compiled by another thread; on devices whose drivers are not up to
// that, at once. Nothing is loaded but by who uses it: drivers refuse that to other threads while the program
// captures a stream. Faults are left to the first use. A source that was added before is
// compiled once.
int ritz_gpu_ahead_add(Ceed ceed, const RitzGpuSource *source);
// Whether the key was asked for ahead, once for each time that it was. What was made for it is the caller's,
// waiting for a thread that is at it: the code, or the program, counted, where that was loaded already. Both
// NULL: none has begun, which then leaves it to the caller, another caller has it, or it has failed.
bool ritz_gpu_ahead_take(Ceed ceed, const RitzHash *key, size_t *num_bytes, char **bytes,
                         RitzGpuProgram *program);

#endif
