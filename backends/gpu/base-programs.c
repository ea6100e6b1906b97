// SPDX-License-Identifier: BSD-2-Clause
// Programs with kernels that are made for any size, each loaded when it is first asked for, and kept by the
// context.
#include "backends/gpu/program.h"

// The parts of a program for any size: at most 6. Kernels of vectors are written once for all precisions.
static int base_texts(RitzGpuBase which, const char **texts) {
  static const char own[] = "#define RITZ_ENTRY CeedScalar\n"
                            "#define RITZ_NAME(name) name\n";
  static const char floats[] = "#define RITZ_ENTRY float\n"
                               "#define RITZ_NAME(name) name##_f32\n";
  const bool is_vector = which == RITZ_BASE_VECTORS || which == RITZ_BASE_FLOATS;
  int num = 0;
  if (which == RITZ_BASE_RESTRICTIONS) texts[num++] = ritz_gpu_template("kernels/gpu/restriction.h");
  if (which == RITZ_BASE_BASES) texts[num++] = ritz_gpu_template("kernels/gpu/basis-ref.h");
  if (which == RITZ_BASE_POINTS) texts[num++] = ritz_gpu_template("kernels/gpu/points-ref.h");
  if (which == RITZ_BASE_FRONTS) texts[num++] = ritz_gpu_template("kernels/gpu/fronts.h");
  if (is_vector) texts[num++] = which == RITZ_BASE_VECTORS ? own : floats;
  if (is_vector) texts[num++] = ritz_gpu_template("kernels/gpu/vector.h");
  if (is_vector) texts[num++] = ritz_gpu_template("kernels/gpu/entries.h");
  if (which == RITZ_BASE_FLOATS) texts[num++] = ritz_gpu_template("kernels/gpu/vector-convert.h");
  return num;
}

static const char *const base_names[] = {"vectors", "vectors-float", "restrictions",
                                         "bases",   "points",        "fronts"};
static const char own_kernels[] = "the library's own kernels";

int ritz_gpu_base(Ceed ceed, RitzGpuBase which, RitzGpuProgram *program) {
  RitzGpu *gpu = ritz_gpu(ceed);
  const char *texts[6];
  if (!gpu->base[which]) {
    const int num = base_texts(which, texts);
    RITZ_TRY(ritz_gpu_program(ceed, base_names[which], own_kernels, num, texts, &gpu->base[which]));
  }
  *program = gpu->base[which];
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_begin_base(Ceed ceed) {
  const bool has_floats = sizeof(CeedScalar) > sizeof(float);
  const char *texts[6];
  if (!ritz_gpu_compiles_beside(ceed)) return CEED_ERROR_SUCCESS;
  for (int which = RITZ_BASE_VECTORS; which <= (has_floats ? RITZ_BASE_FLOATS : RITZ_BASE_VECTORS); which++) {
    const int num = base_texts((RitzGpuBase)which, texts);
    RITZ_TRY(ritz_gpu_program_ahead(ceed, RITZ_TEXT_SCALARS, base_names[which], own_kernels, num, texts));
  }
  return CEED_ERROR_SUCCESS;
}

void ritz_gpu_release_base(Ceed ceed) {
  RitzGpu *gpu = ritz_gpu(ceed);
  for (int which = 0; which < RITZ_NUM_BASE; which++) ritz_gpu_program_release(ceed, &gpu->base[which]);
  ritz_gpu_program_release(ceed, &gpu->float_restrictions);
  ritz_gpu_program_release(ceed, &gpu->collect);
}
