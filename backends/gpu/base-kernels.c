// SPDX-License-Identifier: BSD-2-Clause
// Programs with kernels that are made for any size, each loaded when it is first launched, and kept by the
// context.
#include "backends/gpu/context.h"
#include "backends/gpu/vectors.h"

RitzGpuText ritz_gpu_pass_text(Ceed ceed, const char *name, const char *text) {
  const bool has_warps = ritz_gpu(ceed)->driver->has_warps; // then the last block finishes
  return (RitzGpuText){.name = name,
                       .num = has_warps ? 2 : 3,
                       .texts = {ritz_gpu_template("kernels/gpu/pass.h"), text,
                                 ritz_gpu_template("kernels/gpu/pass-finish.h")}};
}

static RitzGpuText text_of(Ceed ceed, RitzGpuBase which) {
  static const char own[] = "#define RITZ_ENTRY CeedScalar\n"
                            "#define RITZ_NAME(name) name\n";
  static const char floats[] = "#define RITZ_ENTRY float\n"
                               "#define RITZ_NAME(name) name##_f32\n";
  const char *vector = ritz_gpu_template("kernels/gpu/vector.h");
  const char *entries = ritz_gpu_template("kernels/gpu/entries.h");
  const char *restrictions = ritz_gpu_template("kernels/gpu/restriction.h");
  switch (which) {
  // Kernels of vectors are written once for all precisions.
  case RITZ_BASE_ENTRIES: return (RitzGpuText){.name = "entries", .num = 2, .texts = {own, entries}};
  case RITZ_BASE_VECTORS: return (RitzGpuText){.name = "vectors", .num = 2, .texts = {own, vector}};
  case RITZ_BASE_FLOAT_ENTRIES:
    return (RitzGpuText){.name = "entries-float",
                         .num = 3,
                         .texts = {floats, entries, ritz_gpu_template("kernels/gpu/vector-convert.h")}};
  case RITZ_BASE_FLOATS: return (RitzGpuText){.name = "vectors-float", .num = 2, .texts = {floats, vector}};
  case RITZ_BASE_RESTRICTIONS:
    return (RitzGpuText){.name = "restrictions", .num = 1, .texts = {restrictions}};
  case RITZ_BASE_FLOAT_RESTRICTIONS:
    return (RitzGpuText){
        .name = "float-restrictions", .kind = RITZ_TEXT_FLOATS, .num = 1, .texts = {restrictions}};
  case RITZ_BASE_BASES:
    return (RitzGpuText){.name = "bases", .num = 1, .texts = {ritz_gpu_template("kernels/gpu/basis-ref.h")}};
  case RITZ_BASE_POINTS:
    return (
        RitzGpuText){.name = "points", .num = 1, .texts = {ritz_gpu_template("kernels/gpu/points-ref.h")}};
  case RITZ_BASE_FRONT_TREES:
    return (RitzGpuText){
        .name = "front-tree", .num = 1, .texts = {ritz_gpu_template("kernels/gpu/front-tree.h")}};
  default: return ritz_gpu_pass_text(ceed, "collect", ritz_gpu_template("kernels/gpu/collect.h"));
  }
}

int ritz_gpu_base(Ceed ceed, RitzGpuBase which, RitzGpuKernel **kernel) {
  *kernel = &ritz_gpu(ceed)->base[which];
  if ((*kernel)->state != RITZ_KERNEL_NONE) return CEED_ERROR_SUCCESS;
  const RitzGpuText text = text_of(ceed, which);
  return ritz_gpu_kernel_describe(ceed, &text, *kernel);
}

int ritz_gpu_begin_base(Ceed ceed) {
  const RitzGpuBase last = sizeof(CeedScalar) > sizeof(float) ? RITZ_BASE_FLOATS : RITZ_BASE_VECTORS;
  RitzGpuKernel *kernel;
  if (!ritz_gpu_compiles_beside(ceed)) return CEED_ERROR_SUCCESS;
  for (int which = RITZ_BASE_ENTRIES; which <= (int)last; which++) {
    RITZ_TRY(ritz_gpu_base(ceed, (RitzGpuBase)which, &kernel));
    RITZ_TRY(ritz_gpu_kernel_begin(ceed, kernel));
  }
  return CEED_ERROR_SUCCESS;
}

void ritz_gpu_release_base(Ceed ceed) {
  for (int which = 0; which < RITZ_NUM_BASE; which++)
    ritz_gpu_kernel_release(ceed, &ritz_gpu(ceed)->base[which]);
}
