// SPDX-License-Identifier: BSD-2-Clause
// How devices sweep over vertex patches (core/patch-sweep.h): sizes of blocks for kernels/gpu/patch.h. Pure
// functions of numbers. Called by backends/gpu/patch-sweep.c; texts: emit/gpu-patch.c.
#ifndef RITZ_PLAN_GPU_PATCH_H
#define RITZ_PLAN_GPU_PATCH_H

#include "core/patch-sweep.h"

enum { RITZ_PATCH_NODES = 1023 }; // of a block along a row, behind the first one, at most

typedef struct {
  CeedInt dim, degree;
  CeedScalarType precision;
  int num_patches;  // of a block, neighbours in a row; 0: a patch does not fit into shared memory
  int num_threads;  // of a block; fewer than lines: each takes several
  int num_resident; // blocks of a multiprocessor at once: bounds the registers of a thread
  int plane;        // stride of the block's array
  int step;         // from line to line along inner, of modes along middle; has no divisor of their number
  int64_t shared_bytes;
} RitzGpuPatch;

// For a device that gives a block so much shared memory and so many threads. num_patches, num_resident: 0, or
// what is wanted of them.
RitzGpuPatch ritz_plan_gpu_patch(CeedInt dim, CeedInt degree, CeedScalarType precision, int64_t shared_bytes,
                                 int max_threads, int num_patches, int num_resident);

// The kernel for any box and form (kernels/gpu/patch-any.h).
typedef struct {
  CeedInt dim, degree;
  RitzPatchForm form;
  int num_threads;
  bool is_in_shared;    // the arrays of a block; else in global memory
  int64_t num_places;   // of these arrays
  int64_t shared_bytes; // 0: none
} RitzGpuPatchAny;
RitzGpuPatchAny ritz_plan_gpu_patch_any(const RitzPatchBox *box, int64_t shared_bytes, int max_threads);

#endif
