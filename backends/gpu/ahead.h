// SPDX-License-Identifier: BSD-2-Clause
// Code that is made ahead of its first use, by threads of their own (ahead.c).
#ifndef RITZ_BACKENDS_GPU_AHEAD_H
#define RITZ_BACKENDS_GPU_AHEAD_H

#include "backends/gpu/program.h"

// Has the source, which is shared, compiled by another thread; at once by drivers that compile on one thread
// alone. Code is loaded by the thread that uses it: drivers refuse that to others while the program captures
// a stream. Errors come with the first use. A source that was added before is compiled once.
int ritz_gpu_ahead_add(Ceed ceed, RitzGpuSource *source);
// Whether the key was asked for ahead, once for each time that it was. What was made for it is the caller's,
// waiting for a thread that is at it: the code, or the program, counted, where that was loaded already. Both
// NULL: none has begun, which then leaves it to the caller, another caller has it, or it has failed.
bool ritz_gpu_ahead_take(Ceed ceed, const RitzHash *key, size_t *num_bytes, char **bytes,
                         RitzGpuProgram *program);
void ritz_gpu_ahead_destroy(Ceed ceed); // with the context

#endif
