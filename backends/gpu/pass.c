// SPDX-License-Identifier: BSD-2-Clause
// Passes over vectors (core/vector-pass.h) on devices: a kernel for each form and its precisions, made on
// first use and kept by the context; sets of entries. Text: emit/gpu-pass.c, kernels/gpu/pass.h.
#include <string.h>

#include "backends/gpu/memory.h"
#include "backends/gpu/vectors.h"
#include "core/vector-pass.h"
#include "emit/emit.h"

// Resident blocks hide the latency of memory; the last one adds up the sums of all others.
// A thread of a processor takes some items more.
enum { BLOCKS_PER_UNIT = 6, MAX_BLOCKS = 1024, ITEMS_OF_PROCESSOR = 16 };

typedef struct {
  const RitzPass *pass; // borrowed: forms are static
  CeedScalarType precision[RITZ_PASS_VECTORS];
  RitzGpuKernel kernel; // owned
} Form;

struct RitzGpuPasses {
  int num;
  Form *forms;      // owned
  bool has_sums[2]; // those of ritz/vector.h in double, in float have been begun
  // Owned, in device memory: sums of blocks, the number of those that have come, sums for the host.
  double *partial, *sums;
  unsigned *arrived;
  RitzDeviceStream reader; // owned; of copies that do not wait for what comes after a mark. NULL: none
  RitzDeviceEvent marked;  // owned
};

// ---- Life ----

static void free_passes(Ceed ceed, RitzGpuPasses **passes) {
  RitzGpuPasses *p = *passes;

  for (int i = 0; i < p->num; i++) ritz_gpu_kernel_release(ceed, &p->forms[i].kernel);
  RITZ_FREE(&p->forms);
  ritz_gpu_free(ceed, (void **)&p->partial);
  ritz_gpu_free(ceed, (void **)&p->sums);
  ritz_gpu_free(ceed, (void **)&p->arrived);
  const RitzGpu *gpu = ritz_gpu(ceed); // a driver that has gone has freed what follows
  if (p->marked) (void)gpu->driver->event_destroy(ceed, gpu->device, &p->marked);
  if (p->reader) (void)gpu->driver->stream_destroy(ceed, gpu->device, p->reader);
  RITZ_FREE(passes);
}

void ritz_gpu_passes_destroy(Ceed ceed) {
  if (ritz_gpu(ceed)->passes) free_passes(ceed, &ritz_gpu(ceed)->passes);
}

static int fill_passes(Ceed ceed, RitzGpuPasses *passes) {
  const unsigned none = 0;
  RITZ_TRY(
      ritz_gpu_alloc(ceed, (size_t)RITZ_PASS_SUMS * MAX_BLOCKS * sizeof(double), (void **)&passes->partial));
  RITZ_TRY(ritz_gpu_alloc(ceed, RITZ_PASS_SUMS * sizeof(double), (void **)&passes->sums));
  return ritz_gpu_upload(ceed, sizeof(none), &none, (void **)&passes->arrived);
}

static int get_passes(Ceed ceed, RitzGpuPasses **passes) {
  RitzGpu *gpu = ritz_gpu(ceed);
  *passes = gpu->passes;
  if (gpu->passes) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, passes));
  const int ierr = fill_passes(ceed, *passes);
  if (ierr)
    free_passes(ceed, passes);
  else
    gpu->passes = *passes;
  return ierr;
}

// ---- Forms ----

static Form *find_known(RitzGpuPasses *passes, const RitzPass *pass, const CeedScalarType *precision) {
  for (int i = 0; i < passes->num; i++) {
    Form *form = &passes->forms[i];
    if (form->pass == pass && !memcmp(form->precision, precision, sizeof(form->precision))) return form;
  }
  return NULL;
}

int ritz_gpu_pass_finish(Ceed ceed, RitzGpuKernel *kernel, int num_sums, int64_t num_blocks,
                         CeedInt first_sum, double *scalars) {
  if (num_sums == 0 || num_blocks == 1 || ritz_gpu(ceed)->driver->has_warps) return CEED_ERROR_SUCCESS;
  return RITZ_GPU_RUN(ceed, kernel, "ritz_pass_finish", 1, RITZ_GPU_BLOCK, RITZ_INT(num_sums),
                      RITZ_INT((int32_t)num_blocks), RITZ_POINTER(ritz_gpu(ceed)->passes->partial),
                      RITZ_INT(first_sum), RITZ_POINTER(scalars));
}

static int describe_form(Ceed ceed, Form *form) {
  char *emitted = NULL;
  RITZ_TRY(ritz_emit_gpu_pass(ceed, form->pass, form->precision, &emitted));
  RitzGpuText text = ritz_gpu_pass_text(ceed, form->pass->name, emitted);
  text.entry = "ritz_pass";
  const int ierr = ritz_gpu_kernel_describe(ceed, &text, &form->kernel);
  RITZ_FREE(&emitted);
  return ierr;
}

// *found stays until another form is asked for.
static int find_form(Ceed ceed, RitzGpuPasses *passes, const RitzPass *pass, const CeedScalarType *precision,
                     Form **found) {
  Form form = {.pass = pass};
  *found = find_known(passes, pass, precision);
  if (*found) return CEED_ERROR_SUCCESS;
  memcpy(form.precision, precision, sizeof(form.precision));
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)passes->num + 1, &passes->forms));
  RITZ_TRY(describe_form(ceed, &form));
  *found = &passes->forms[passes->num++];
  **found = form;
  return CEED_ERROR_SUCCESS;
}

// ---- Ahead of the first use ----

static int begin_form(Ceed ceed, RitzGpuPasses *passes, const RitzPassForm *of) {
  Form *form;
  RITZ_TRY(find_form(ceed, passes, of->pass, of->precision, &form));
  return ritz_gpu_kernel_begin(ceed, &form->kernel);
}

// Whoever runs one pass that nobody has prepared runs others of ritz/vector.h: they are made beside it.
static int begin_sums(Ceed ceed, RitzGpuPasses *passes, const RitzPassArrays *arrays) {
  static const RitzVectorSumKind kinds[] = {RITZ_SUM_DOT, RITZ_SUM_SQUARE, RITZ_SUM_UPDATE, RITZ_SUM_SCALING};
  const bool is_single = ritz_pass_is_single(arrays);
  if (passes->has_sums[is_single] || !ritz_gpu_compiles_beside(ceed)) return CEED_ERROR_SUCCESS;
  passes->has_sums[is_single] = true;
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
    const RitzPassForm form =
        ritz_pass_form(ritz_vector_sum_pass(kinds[i]), is_single ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64);
    RITZ_TRY(begin_form(ceed, passes, &form));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_passes_prepare(Ceed ceed, int num, const RitzPassForm *forms) {
  RitzGpuPasses *passes;
  RITZ_TRY(get_passes(ceed, &passes));
  for (int i = 0; i < num; i++) RITZ_TRY(begin_form(ceed, passes, &forms[i]));
  return CEED_ERROR_SUCCESS;
}

// ---- Launches ----

int64_t ritz_gpu_pass_blocks(Ceed ceed, int64_t num_items) {
  const int64_t most = BLOCKS_PER_UNIT * (int64_t)ritz_gpu(ceed)->info->num_units;
  const bool is_processor = ritz_gpu(ceed)->info->warp_size == 1;
  int64_t num = RITZ_GPU_BLOCKS(is_processor ? num_items / ITEMS_OF_PROCESSOR : num_items);
  num = num > most ? most : num;
  num = num > MAX_BLOCKS ? MAX_BLOCKS : num;
  return num < 1 ? 1 : num;
}

int ritz_gpu_pass_memory(Ceed ceed, double **partial, unsigned **arrived) {
  RitzGpuPasses *passes;
  RITZ_TRY(get_passes(ceed, &passes));
  *partial = passes->partial;
  *arrived = passes->arrived;
  return CEED_ERROR_SUCCESS;
}

static bool are_aligned(const RitzPassArrays *arrays) {
  for (int i = 0; i < arrays->pass->num_vectors; i++) {
    const size_t start = (size_t)arrays->first * ritz_scalar_bytes(arrays->precision[i]);
    if (((uintptr_t)arrays->array[i] + start) % 16 != 0) return false;
  }
  return true;
}

static int pack_width(const RitzPassArrays *arrays) {
  for (int i = 0; i < arrays->pass->num_vectors; i++) {
    if (arrays->precision[i] == CEED_SCALAR_FP32) return 4;
  }
  return 2;
}

static int run_pass(Ceed ceed, RitzGpuPasses *passes, const RitzPassArrays *arrays, const RitzFactor *factors,
                    double *scalars, CeedInt first_sum) {
  const RitzPass *pass = arrays->pass;
  const int num_factors = ritz_pass_num_factors(pass);
  const int64_t end = arrays->first + arrays->n;
  const int64_t num_blocks = ritz_gpu_pass_blocks(ceed, arrays->n / pack_width(arrays));
  Form *form;
  RitzDeviceArg args[7 + 3 * RITZ_PASS_FACTORS + RITZ_PASS_VECTORS] = {
      RITZ_LONG(arrays->first),     RITZ_LONG(end),      RITZ_INT(are_aligned(arrays)),
      RITZ_POINTER(scalars),        RITZ_INT(first_sum), RITZ_POINTER(passes->partial),
      RITZ_POINTER(passes->arrived)};
  int num_args = 7;
  if (!find_known(passes, pass, arrays->precision)) RITZ_TRY(begin_sums(ceed, passes, arrays));
  RITZ_TRY(find_form(ceed, passes, pass, arrays->precision, &form));
  for (int i = 0; i < num_factors; i++) {
    args[num_args++] = (RitzDeviceArg)RITZ_INT(factors[i].a);
    args[num_args++] = (RitzDeviceArg)RITZ_INT(factors[i].b);
    args[num_args++] = (RitzDeviceArg)RITZ_SCALAR((CeedScalar)factors[i].sign);
  }
  for (int i = 0; i < pass->num_vectors; i++)
    args[num_args++] = (RitzDeviceArg)RITZ_POINTER(arrays->array[i]);
  RITZ_TRY(ritz_gpu_launch(ceed, &form->kernel, NULL, num_blocks, RITZ_GPU_BLOCK, 0, num_args, args));
  return ritz_gpu_pass_finish(ceed, &form->kernel, pass->num_sums, num_blocks, first_sum, scalars);
}

int ritz_gpu_vector_pass_by(Ceed ceed, const RitzPassArrays *arrays, const RitzFactor *factors,
                            double *scalars, CeedInt first_sum) {
  RitzGpuPasses *passes;
  RITZ_TRY(get_passes(ceed, &passes));
  return run_pass(ceed, passes, arrays, factors, scalars, first_sum);
}

int ritz_gpu_vector_pass(Ceed ceed, const RitzPassArrays *arrays, const double *factors, double *sums) {
  const int num_factors = ritz_pass_num_factors(arrays->pass);
  RitzFactor fixed[RITZ_PASS_FACTORS];
  RitzGpuPasses *passes;

  for (int i = 0; i < num_factors; i++) fixed[i] = (RitzFactor){.a = -1, .b = -1, .sign = factors[i]};
  RITZ_TRY(get_passes(ceed, &passes));
  RITZ_TRY(run_pass(ceed, passes, arrays, fixed, passes->sums, 0));
  return ritz_gpu_copy_out(ceed, (size_t)arrays->pass->num_sums * sizeof(double), sums, passes->sums);
}

// ---- Moments ----

static int make_reader(Ceed ceed, RitzGpuPasses *passes) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  if (passes->marked) return CEED_ERROR_SUCCESS;
  if (!passes->reader) RITZ_TRY(gpu->driver->stream_create(ceed, gpu->device, &passes->reader));
  return passes->reader ? gpu->driver->event_create(ceed, gpu->device, &passes->marked) : CEED_ERROR_SUCCESS;
}

int ritz_gpu_mark_moment(Ceed ceed, bool *is_marked) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  RitzGpuPasses *passes;
  RITZ_TRY(get_passes(ceed, &passes));
  RITZ_TRY(make_reader(ceed, passes));
  *is_marked = passes->marked != NULL;
  if (!*is_marked) return CEED_ERROR_SUCCESS;
  RITZ_TRY(gpu->driver->event_record(ceed, gpu->device, gpu->stream, passes->marked));
  return gpu->driver->event_wait(ceed, gpu->device, passes->reader, passes->marked);
}

int ritz_gpu_read_marked(Ceed ceed, size_t num_bytes, void *host, const void *device) {
  return ritz_gpu_copy_out_by(ceed, ritz_gpu(ceed)->passes->reader, num_bytes, host, device);
}

// ---- Sets of entries ----

static int64_t entry_blocks(int64_t num) {
  const int64_t most = 1 << 12, blocks = RITZ_GPU_BLOCKS(num);
  return blocks < most ? blocks : most;
}

int ritz_gpu_vector_set_entries(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                                const CeedScalar *values, double value, void *x) {
  const bool is_in_scalars = precision == CEED_SCALAR_TYPE;
  RitzGpuKernel *kernel;
  RITZ_TRY(ritz_gpu_base(ceed, is_in_scalars ? RITZ_BASE_ENTRIES : RITZ_BASE_FLOAT_ENTRIES, &kernel));
  if (values)
    return RITZ_GPU_RUN(ceed, kernel, is_in_scalars ? "vector_put_entries" : "vector_put_entries_f32",
                        entry_blocks(num), RITZ_GPU_BLOCK, RITZ_LONG(num), RITZ_POINTER(entries),
                        RITZ_POINTER(values), RITZ_POINTER(x));
  return RITZ_GPU_RUN(ceed, kernel, is_in_scalars ? "vector_set_entries" : "vector_set_entries_f32",
                      entry_blocks(num), RITZ_GPU_BLOCK, RITZ_LONG(num), RITZ_POINTER(entries),
                      RITZ_SCALAR((CeedScalar)value), RITZ_POINTER(x));
}

int ritz_gpu_vector_copy_entries(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                                 const void *x, void *y) {
  const bool is_in_scalars = precision == CEED_SCALAR_TYPE;
  RitzGpuKernel *kernel;
  RITZ_TRY(ritz_gpu_base(ceed, is_in_scalars ? RITZ_BASE_ENTRIES : RITZ_BASE_FLOAT_ENTRIES, &kernel));
  return RITZ_GPU_RUN(ceed, kernel, is_in_scalars ? "vector_copy_entries" : "vector_copy_entries_f32",
                      entry_blocks(num), RITZ_GPU_BLOCK, RITZ_LONG(num), RITZ_POINTER(entries),
                      RITZ_POINTER(x), RITZ_POINTER(y));
}
