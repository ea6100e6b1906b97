// SPDX-License-Identifier: BSD-2-Clause
// A kernel of the host: described by a text, begun beside the caller or made while it waits, then code or the
// reason why there is none. One object for operators, diagonals, matrices, patches and batches. Called by
// backends/cpu.
#ifndef RITZ_JIT_KERNEL_H
#define RITZ_JIT_KERNEL_H

#include "jit/jit.h"

// Zeros at first; at most one of module and batch.
typedef struct {
  RitzJitModule module;       // counted: its status says whether it is ready or refused
  struct RitzJitBatch *batch; // counted: texts that were begun together
  size_t number;              // in the batch
} RitzJitKernel;

typedef enum {
  RITZ_JIT_KERNEL_NEW,       // nobody is at it
  RITZ_JIT_KERNEL_COMPILING, // it was begun, and is in no cache
  RITZ_JIT_KERNEL_COME,      // it was begun, and can be taken without waiting
  RITZ_JIT_KERNEL_MADE       // ready or refused
} RitzJitKernelState;

// A kernel that is wanted. Borrowed for the call.
typedef struct {
  RitzJitSource source;
  RitzJitKernel *kernel; // several orders may name the same one
  bool waits;            // for a compiler
} RitzJitOrder;

// Begins those that are new beside the caller, together: they come one by one, by their urgency.
int ritz_jit_kernels_begin(Ceed ceed, size_t num, const RitzJitOrder *orders);
// Those that wait are made afterwards, the others begun, and made where they are in a cache or have come.
int ritz_jit_kernels_make(Ceed ceed, size_t num, const RitzJitOrder *orders);
// Waits until the caches have been looked at, but not for a compiler.
RitzJitKernelState ritz_jit_kernel_state(const RitzJitKernel *kernel);
// New again. The last one of those that were begun together tells the compilers that still run to stop; with
// RITZ_DUMP it waits for them.
void ritz_jit_kernel_release(RitzJitKernel *kernel);
// Waits until all those that were told so have stopped: what they do then they do side by side. Called when a
// context ends.
void ritz_jit_kernels_end(void);

#endif
