// SPDX-License-Identifier: BSD-2-Clause
// Sweeps over vertex patches (core/patch-sweep.h) on devices. Boxes whose patches are all alike and the
// lifted form: kernels/gpu/patch.h, others: kernels/gpu/patch-any.h. A launch is a colour. Kernels and tables
// are made once a sweep, all levels of one degree share a program.
#include <stdio.h>

#include "backends/gpu/algebra.h"
#include "backends/gpu/context.h"
#include "backends/gpu/memory.h"
#include "base/environment.h"
#include "core/patch-sweep.h"
#include "emit/gpu-patch.h"

enum {
  BLOCKS_PER_UNIT = 4, // with arrays in global memory
  OTHER_SHARED = 256   // bytes that a block may need beside its array
};

typedef struct {
  bool has_lines;       // kernels/gpu/patch.h
  RitzGpuPatch shape;   // of the kernel
  RitzGpuPatchAny any;  // of the other one
  RitzGpuKernel kernel; // owned
  void *tables[3];      // owned, in device memory; box->is_uniform: the first one's
} Patches;

// ---- Life ----

int ritz_gpu_patch_sweep_destroy(RitzPatchSweep sweep) {
  Patches *p = sweep->data;
  if (!p) return CEED_ERROR_SUCCESS;
  for (int d = 0; d < 3; d++) {
    if (d > 0 && sweep->box.is_uniform) p->tables[d] = NULL;
    ritz_gpu_free(sweep->ceed, &p->tables[d]);
  }
  ritz_gpu_kernel_release(sweep->ceed, &p->kernel);
  RITZ_FREE(&p);
  sweep->data = NULL;
  return CEED_ERROR_SUCCESS;
}

// RITZ_PATCH_BLOCK=patches[,resident]; 0: the library's choice.
static void read_block(int *num_patches, int *num_resident) {
  const char *value = ritz_environment(ENV_RITZ_PATCH_BLOCK);
  *num_patches = *num_resident = 0;
  if (value) (void)sscanf(value, "%d,%d", num_patches, num_resident);
  if (*num_patches < 0 || *num_patches > 256) *num_patches = 0;
  if (*num_resident < 0 || *num_resident > 32) *num_resident = 0;
}

// Strides, offsets in a block but along the last direction, and the number of blocks have 32 bits.
static bool fits_lines(const RitzPatchBox *box) {
  const int64_t row = box->dim == 3 ? box->nodes[0] : 0;
  int64_t num_patches = box->num_comp, outer = box->num_comp;
  for (int d = 0; d < box->dim; d++) num_patches *= (box->count[d] + 1) / 2;
  for (int d = 0; d + 1 < box->dim; d++) outer *= box->nodes[d];
  return num_patches <= INT32_MAX && outer <= INT32_MAX &&
         box->num_comp * (2 * box->degree * row + RITZ_PATCH_NODES + 1) <= INT32_MAX;
}

static int describe_lines(RitzPatchSweep sweep, Patches *p, char **emitted) {
  const RitzPatchBox *box = &sweep->box;
  const RitzDeviceInfo *info = ritz_gpu(sweep->ceed)->info;
  int num_patches, num_resident;
  if (!box->is_uniform || box->form != RITZ_PATCH_LIFTED || !fits_lines(box)) return CEED_ERROR_SUCCESS;
  read_block(&num_patches, &num_resident);
  p->shape =
      ritz_plan_gpu_patch(box->dim, box->degree, box->precision, info->dynamic_shared_bytes - OTHER_SHARED,
                          info->max_threads, num_patches, num_resident);
  p->has_lines = p->shape.num_patches > 0;
  if (!p->has_lines) return CEED_ERROR_SUCCESS;
  return ritz_emit_gpu_patch(sweep->ceed, &p->shape, box->tables[0], emitted);
}

// Tables of a direction in the precision of the vectors.
static int upload_tables(Ceed ceed, CeedScalarType precision, size_t num, const double *tables, void **to) {
  float *floats = NULL;
  if (precision == CEED_SCALAR_FP64) return ritz_gpu_upload(ceed, num * sizeof(double), tables, to);
  RITZ_TRY(RITZ_MALLOC(ceed, num, &floats));
  for (size_t i = 0; i < num; i++) floats[i] = (float)tables[i];
  const int ierr = ritz_gpu_upload(ceed, num * sizeof(float), floats, to);
  RITZ_FREE(&floats);
  return ierr;
}

static size_t work_bytes(Ceed ceed, const RitzPatchBox *box, const RitzGpuPatchAny *any) {
  const size_t blocks = (size_t)(BLOCKS_PER_UNIT * ritz_gpu(ceed)->info->num_units);
  return any->is_in_shared ? 0 : blocks * (size_t)any->num_places * ritz_scalar_bytes(box->precision);
}

static int describe_any(RitzPatchSweep sweep, Patches *p, char **emitted) {
  const RitzPatchBox *box = &sweep->box;
  const RitzDeviceInfo *info = ritz_gpu(sweep->ceed)->info;
  void *work;
  if (p->has_lines) return CEED_ERROR_SUCCESS;
  p->any = ritz_plan_gpu_patch_any(box, info->dynamic_shared_bytes, info->max_threads);
  for (int d = 0; d < box->dim; d++) {
    const size_t num = (box->is_uniform ? 1 : (size_t)box->count[d]) * ritz_fe_patch_line_size(box->degree);
    if (d > 0 && box->is_uniform)
      p->tables[d] = p->tables[0];
    else
      RITZ_TRY(upload_tables(sweep->ceed, box->precision, num, box->tables[d], &p->tables[d]));
  }
  const size_t num_bytes = work_bytes(sweep->ceed, box, &p->any);
  if (num_bytes) RITZ_TRY(ritz_gpu_work(sweep->ceed, RITZ_WORK_PATCHES, num_bytes, &work));
  return ritz_emit_gpu_patch_any(sweep->ceed, &p->any, emitted);
}

static int describe_kernel(RitzPatchSweep sweep, Patches *p) {
  const bool is_in_scalars = sweep->box.precision == CEED_SCALAR_TYPE;
  char *emitted = NULL;
  int ierr = describe_lines(sweep, p, &emitted);
  if (!ierr) ierr = describe_any(sweep, p, &emitted);
  const RitzGpuText text = {.name = "patch_sweep",
                            .entry = p->has_lines ? "ritz_patch" : "ritz_patch_any",
                            .kind = is_in_scalars ? RITZ_TEXT_SCALARS : RITZ_TEXT_MIXED,
                            .num = 1,
                            .texts = {emitted}};
  if (!ierr) ierr = ritz_gpu_kernel_describe(sweep->ceed, &text, &p->kernel);
  RITZ_FREE(&emitted);
  return ierr;
}

static int describe_gpu_patches(RitzPatchSweep sweep, Patches **patches) {
  Patches *p = NULL;
  *patches = sweep->data;
  if (sweep->data) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(sweep->box.precision == CEED_SCALAR_FP32 || CEED_SCALAR_TYPE == CEED_SCALAR_FP64, sweep->ceed,
               CEED_ERROR_UNSUPPORTED, "sweeps over patches in double need a library of double");
  RITZ_TRY(RITZ_CALLOC(sweep->ceed, 1, &p));
  sweep->data = p;
  const int ierr = describe_kernel(sweep, p);
  if (ierr) (void)ritz_gpu_patch_sweep_destroy(sweep);
  *patches = sweep->data;
  return ierr;
}

int ritz_gpu_patch_sweep_prepare(RitzPatchSweep sweep) {
  Patches *p;
  RITZ_TRY(describe_gpu_patches(sweep, &p));
  return ritz_gpu_kernel_begin(sweep->ceed, &p->kernel);
}

// ---- Launches ----

typedef struct {
  RitzPatchSweep sweep;
  Patches *patches;
  const void *b;
  void *x;
  bool is_reversed;
} Run;

// Positions of a launch: vertices first, first + 2, ...
typedef struct {
  int64_t first[3], num[3];
} Colour;

// Reciprocals, by which the kernel divides (ritz_divide).
static RitzDeviceArg inverse(int64_t number) {
  return (RitzDeviceArg)RITZ_INT((int32_t)(UINT32_MAX / number));
}

static int launch_lines(const Run *run, const Colour *colour) {
  const RitzPatchBox *box = &run->sweep->box;
  const RitzGpuPatch *shape = &run->patches->shape;
  const int last = box->dim - 1;
  const int64_t row = box->nodes[0] * box->num_comp, plane = row * box->nodes[1];
  const int64_t num_middle = last == 2 ? colour->num[1] : 1;
  const int64_t blocks = (colour->num[0] + shape->num_patches - 1) / shape->num_patches;
  int64_t start = 0;
  for (int d = last; d >= 0; d--) start = start * box->nodes[d] + (colour->first[d] - 1) * box->degree;
  const RitzDeviceArg args[] = {RITZ_LONG(start * box->num_comp),
                                RITZ_INT((int32_t)(last == 2 ? row : 0)),
                                RITZ_INT((int32_t)(last == 2 ? plane : row)),
                                RITZ_INT((int32_t)colour->num[0]),
                                RITZ_INT((int32_t)blocks),
                                RITZ_INT(box->num_comp),
                                RITZ_INT((int32_t)num_middle),
                                inverse(blocks),
                                inverse(box->num_comp),
                                inverse(num_middle),
                                RITZ_SCALAR((CeedScalar)box->factor[0]),
                                RITZ_SCALAR((CeedScalar)(last == 2 ? box->factor[1] : 0)),
                                RITZ_SCALAR((CeedScalar)box->factor[last]),
                                RITZ_SCALAR((CeedScalar)box->factor[3]),
                                RITZ_POINTER(run->b),
                                RITZ_POINTER(run->x)};
  return ritz_gpu_launch(run->sweep->ceed, &run->patches->kernel, NULL,
                         blocks * box->num_comp * num_middle * colour->num[last], shape->num_threads,
                         shape->shared_bytes, sizeof(args) / sizeof(args[0]), args);
}

static int launch_any(const Run *run, const Colour *colour) {
  const RitzPatchBox *box = &run->sweep->box;
  Patches *p = run->patches;
  Ceed ceed = run->sweep->ceed;
  const int table_step = box->is_uniform ? 0 : (int)ritz_fe_patch_line_size(box->degree);
  const int64_t num = colour->num[0] * colour->num[1] * colour->num[2] * box->num_comp;
  const int64_t most = (int64_t)BLOCKS_PER_UNIT * ritz_gpu(ceed)->info->num_units;
  const size_t num_bytes = work_bytes(ceed, box, &p->any);
  void *work = NULL;
  int fixed = 0;
  for (int i = 0; i < 2 * box->dim; i++) fixed |= (int)box->is_fixed[i / 2][i % 2] << i;
  if (num_bytes) RITZ_TRY(ritz_gpu_work(ceed, RITZ_WORK_PATCHES, num_bytes, &work));
#define THREE(kind, array) kind((int32_t)array[0]), kind((int32_t)array[1]), kind((int32_t)array[2])
  const RitzDeviceArg args[] = {RITZ_LONG(num),
                                RITZ_INT(box->num_comp),
                                THREE(RITZ_INT, colour->first),
                                THREE(RITZ_INT, colour->num),
                                THREE(RITZ_INT, box->first),
                                RITZ_LONG(box->nodes[0]),
                                RITZ_LONG(box->nodes[1]),
                                RITZ_LONG(box->nodes[2]),
                                RITZ_INT(fixed),
                                RITZ_SCALAR((CeedScalar)box->factor[0]),
                                RITZ_SCALAR((CeedScalar)box->factor[1]),
                                RITZ_SCALAR((CeedScalar)box->factor[2]),
                                RITZ_SCALAR((CeedScalar)box->factor[3]),
                                RITZ_INT(table_step),
                                RITZ_POINTER(p->tables[0]),
                                RITZ_POINTER(p->tables[1]),
                                RITZ_POINTER(p->tables[2]),
                                RITZ_POINTER(run->b),
                                RITZ_POINTER(run->x),
                                RITZ_POINTER(work)};
#undef THREE
  return ritz_gpu_launch(ceed, &p->kernel, NULL, p->any.is_in_shared || num < most ? num : most,
                         p->any.num_threads, p->any.shared_bytes, sizeof(args) / sizeof(args[0]), args);
}

static int run_colours(const Run *run) {
  const RitzPatchBox *box = &run->sweep->box;
  const int num_colours = 1 << box->dim;
  for (int i = 0; i < num_colours; i++) {
    const int c = run->is_reversed ? num_colours - 1 - i : i;
    Colour colour = {{box->first[0], box->first[1], box->first[2]}, {1, 1, 1}};
    for (int d = 0; d < box->dim; d++) colour.num[d] = ritz_patch_count(box, d, c >> d & 1, &colour.first[d]);
    if (colour.num[0] == 0 || colour.num[1] == 0 || colour.num[2] == 0) continue;
    RITZ_TRY(run->patches->has_lines ? launch_lines(run, &colour) : launch_any(run, &colour));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_patch_sweep_run(RitzPatchSweep sweep, const void *b, void *x, bool x_is_zero, bool is_reversed) {
  const RitzGpu *gpu = ritz_gpu(sweep->ceed);
  Run run = {.sweep = sweep, .b = b, .x = x, .is_reversed = is_reversed};
  Patches *p;
  RITZ_TRY(describe_gpu_patches(sweep, &p));
  run.patches = p;
  if (x_is_zero)
    RITZ_TRY(gpu->driver->clear(sweep->ceed, gpu->device, gpu->stream,
                                (size_t)sweep->length * ritz_scalar_bytes(sweep->box.precision), x));
  return run_colours(&run);
}
