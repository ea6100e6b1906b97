// SPDX-License-Identifier: BSD-2-Clause
// Matrices of a non-uniform batch by classes of sizes (plan/gpu-batched.h), in device memory: the host does
// not know them, nothing is read back.
#include "backends/gpu/memory.h"
#ifndef RITZ_BACKENDS_GPU_BATCHED_CLASSES_H
#define RITZ_BACKENDS_GPU_BATCHED_CLASSES_H

// Matrices to sort into classes, by the largest of `least` and the sizes, either of which may be NULL.
typedef struct {
  int64_t count; // at most INT32_MAX
  int num_classes;
  CeedInt least;
  const int32_t *sizes[2];
  CeedInt bounds[2];
} RitzGpuClassSizes;

// Zeros at first. Device memory, owned.
typedef struct {
  int first;             // the first class that has members; the last one: there is no list
  RitzGpuList members;   // kernels/gpu/batched-classes.h
  void *ranges, *counts; // the same
  RitzGpuKernel kernel;  // owned
} RitzGpuClasses;

// Queues the sorting.
int ritz_gpu_classes_sort(Ceed ceed, const RitzGpuClassSizes *sizes, RitzGpuClasses *classes);
void ritz_gpu_classes_free(Ceed ceed, RitzGpuClasses *classes);

#endif
