// SPDX-License-Identifier: BSD-2-Clause
// Classes of non-uniform batches: two kernels count and list the members.
#include "backends/gpu/batched-classes.h"
#include "backends/gpu/context.h"
#include "backends/gpu/memory.h"

enum { SORTERS = 256, MOST_BLOCKS = 1024, LEAST_RUN = 8, NUM_CLASSES = 16 };

static int reserve(Ceed ceed, int64_t count, RitzGpuClasses *classes) {
  if (!classes->ranges) RITZ_TRY(ritz_gpu_alloc(ceed, 2 * NUM_CLASSES * sizeof(int32_t), &classes->ranges));
  if (!classes->counts)
    RITZ_TRY(ritz_gpu_alloc(ceed, MOST_BLOCKS * NUM_CLASSES * sizeof(int32_t), &classes->counts));
  return ritz_gpu_list_reserve(ceed, count, &classes->members);
}

int ritz_gpu_classes_sort(Ceed ceed, const RitzGpuClassSizes *s, RitzGpuClasses *classes) {
  const int64_t most = (int64_t)SORTERS * MOST_BLOCKS, runs = (s->count + most - 1) / most;
  const int64_t run = runs > LEAST_RUN ? runs : LEAST_RUN;
  const int64_t num_blocks = (s->count + SORTERS * run - 1) / (SORTERS * run);
  const RitzGpuText text = {
      .name = "batched-classes", .num = 1, .texts = {ritz_gpu_template("kernels/gpu/batched-classes.h")}};
  RITZ_TRY(ritz_gpu_kernel_describe(ceed, &text, &classes->kernel));
  RITZ_TRY(reserve(ceed, s->count, classes));
  const RitzDeviceArg args[] = {RITZ_LONG(s->count),           RITZ_INT((int32_t)run),
                                RITZ_INT(s->num_classes),      RITZ_INT(s->least),
                                RITZ_INT(s->bounds[0]),        RITZ_INT(s->bounds[1]),
                                RITZ_POINTER(s->sizes[0]),     RITZ_POINTER(s->sizes[1]),
                                RITZ_POINTER(classes->counts), RITZ_POINTER(classes->members.numbers),
                                RITZ_POINTER(classes->ranges)};
  const int num_args = sizeof(args) / sizeof(args[0]);
  RITZ_TRY(ritz_gpu_launch(ceed, &classes->kernel, "ritz_count_classes", num_blocks, SORTERS, 0, num_args - 2,
                           args));
  return ritz_gpu_launch(ceed, &classes->kernel, "ritz_list_classes", num_blocks, SORTERS, 0, num_args, args);
}

void ritz_gpu_classes_free(Ceed ceed, RitzGpuClasses *classes) {
  ritz_gpu_kernel_release(ceed, &classes->kernel);
  ritz_gpu_list_free(ceed, &classes->members);
  ritz_gpu_free(ceed, &classes->ranges);
  ritz_gpu_free(ceed, &classes->counts);
}
