// SPDX-License-Identifier: BSD-2-Clause
// Code that is made ahead of its first use, by threads of their own (ahead.c).
#ifndef RITZ_BACKENDS_GPU_AHEAD_H
#define RITZ_BACKENDS_GPU_AHEAD_H

#include "backends/gpu/program.h"

// The source, which is shared, is compiled by another thread; on devices whose drivers are not up to that, at
// once. Nothing is loaded but by who uses it: drivers refuse that to other threads while the program captures
// a stream. Faults are left to the first use. A source that was added before is compiled once.
int ritz_gpu_ahead_add(Ceed ceed, RitzGpuSource *source);
// Whether the key was asked for ahead, once for each time that it was. What was made for it is the caller's,
// waiting for a thread that is at it: the code, or the program, counted, where that was loaded already. Both
// NULL: none has begun, which then leaves it to the caller, another caller has it, or it has failed.
bool ritz_gpu_ahead_take(Ceed ceed, const RitzHash *key, size_t *num_bytes, char **bytes,
                         RitzGpuProgram *program);
void ritz_gpu_ahead_destroy(Ceed ceed); // with the context

#endif
