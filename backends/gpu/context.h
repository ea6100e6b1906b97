// SPDX-License-Identifier: BSD-2-Clause
// What a context of a device backend has (ceed->data), and what all files of the folder ask of it.
#ifndef RITZ_BACKENDS_GPU_CONTEXT_H
#define RITZ_BACKENDS_GPU_CONTEXT_H

#include "backends/gpu/kernel.h"

// Work memory is lent by number; a slot keeps its memory, which grows to the largest that was asked for and
// is shared by all operators and bases of the context. All work of a context is in one stream's order, so the
// next user may overwrite what queued kernels of the last one still read.
typedef enum {
  RITZ_WORK_REDUCTION, // partial sums of norms
  RITZ_WORK_BASIS_0,   // intermediate results of bases on `ref` kernels
  RITZ_WORK_BASIS_1,
  RITZ_WORK_ENERGY,   // shares of u . A u
  RITZ_WORK_PATCHES,  // arrays of blocks of sweeps over patches
  RITZ_WORK_OPERATOR, // E- and Q-vectors of the operator that runs
  RITZ_WORK_ASSEMBLY, // E-vectors of all elements for a diagonal in a fixed order
  RITZ_NUM_WORK
} RitzGpuWork;

typedef struct RitzGpuTimer RitzGpuTimer;   // timer.c
typedef struct RitzGpuPasses RitzGpuPasses; // pass.c
typedef struct RitzGpuAhead RitzGpuAhead;   // ahead.c
typedef struct RitzGpuGemms RitzGpuGemms;   // gemm.c

typedef struct {
  const RitzDriver *driver;
  RitzDevice device;
  const RitzDeviceInfo *info;
  RitzDeviceStream stream;
  bool has_basis_kernels;            // this is `shared` or `gen`, not `ref`
  bool has_fused_kernels;            // this is `gen`
  bool is_deterministic;             // restrictions are transposed by their maps, not by atomic additions
  int64_t work_bytes;                // what the E- and Q-vectors of an operator may take
  RitzGpuKernel base[RITZ_NUM_BASE]; // owned
  struct {
    void *memory; // owned
    size_t num_bytes;
  } work[RITZ_NUM_WORK];
  RitzGpuTimer *timer;            // owned; NULL: nothing is timed
  RitzGpuPasses *passes;          // owned; NULL: there were none
  RitzGpuGemms *gemms;            // owned; NULL: there were none
  RitzTeam hosts;                 // owned: threads that set up on the host
  RitzGpuAhead *ahead;            // owned; NULL: nothing was made ahead of its use
  int64_t num_unasked;            // programs whose first use had to make them: nobody had begun them before
  int64_t bytes_in, bytes_out;    // copied to and from the device
  int64_t num_reads;              // copies from the device
  int64_t bytes_live, bytes_peak; // device memory of this context
} RitzGpu;

static inline RitzGpu *ritz_gpu(Ceed ceed) { return (RitzGpu *)ceed->data; }

// Loops on the host (base/ranges.h), by OMP_NUM_THREADS threads, else as many as there are processors,
// at most 16.
int ritz_gpu_run_ranges_slots(Ceed ceed, int *num_slots);
int ritz_gpu_run_ranges(Ceed ceed, int64_t n, RitzRangeFunction run, void *data);
// Whether the device has tensor cores that multiply doubles.
bool ritz_gpu_has_mma(const RitzDeviceInfo *info);
// Announces delegation to the reference backend: an error under RITZ_STRICT, else a warning, once a process
// for each text, unless RITZ_WARNINGS says otherwise.
int ritz_gpu_delegate(Ceed ceed, const char *what, const char *reason);
bool ritz_gpu_compiles_beside(Ceed ceed); // whether several threads may compile at once
// A copy for another thread: it takes the messages, which are dropped; the rest is only read.
struct Ceed_private ritz_gpu_silent_copy(Ceed ceed);

// timer.c: slots of the timing table, limits of the device.
int ritz_gpu_timer_begin(Ceed ceed);
int ritz_gpu_timer_end(Ceed ceed, const RitzProfileCall *call);
int ritz_gpu_timer_flush(Ceed ceed);
int ritz_gpu_limits(Ceed ceed, RitzLimits *limits);

#endif
