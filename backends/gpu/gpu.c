// SPDX-License-Identifier: BSD-2-Clause
// The tables of the device backends, and what belongs to a context: device, stream, work memory.
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/ahead.h"
#include "backends/gpu/algebra.h"
#include "backends/gpu/gemm.h"
#include "backends/gpu/gpu.h"
#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"
#include "backends/gpu/vectors.h"
#include "backends/ref/ref.h"
#include "base/environment.h"

enum { WORK_MIB = 1024, WORK_PART = 16 }; // at most, and at most this part of the device's memory
enum { MAX_HOST_THREADS = 16 };           // more gain little: set-up is bound by memory

// ---- Options ----

static int choose_device(Ceed ceed, const RitzDriver *driver, const char *options, int *index) {
  const char *given = ritz_resource_option(options, RITZ_OPTION_DEVICE), *why;
  int64_t number = -1;
  if (!given) return driver->choose(ceed, index);
  RITZ_REQUIRE(ritz_option_number(given, &number), ceed, CEED_ERROR_INCOMPATIBLE,
               "CeedInit: option ':device_id=%.*s' needs the number of a device, from 0",
               (int)strcspn(given, ":"), given);
  const int num = driver->count(&why);
  RITZ_REQUIRE(number < num, ceed, CEED_ERROR_UNSUPPORTED,
               "CeedInit: there is no device %.*s, %s has %d, numbered from 0", (int)strcspn(given, ":"),
               given, driver->name, num);
  *index = (int)number;
  return CEED_ERROR_SUCCESS;
}

// Smaller batches would stay in the cache, but launches and the last blocks of each cost more than that
// gains.
static int64_t work_bytes(const RitzDeviceInfo *info) {
  const char *value = ritz_environment(ENV_RITZ_GPU_WORK);
  const int64_t mib = value ? strtol(value, NULL, 10) : 0, most = (int64_t)WORK_MIB << 20;
  if (mib > 0) return mib << 20;
  return info->num_bytes / WORK_PART < most ? info->num_bytes / WORK_PART : most;
}

// ---- Threads of the host ----

static int create_hosts(Ceed ceed, RitzTeam *hosts) {
  const int wanted = ritz_threads_from_environment(), available = ritz_num_processors();
  const int most = wanted > 0 ? wanted : MAX_HOST_THREADS;
  return ritz_team_create(ceed, most < available ? most : available, hosts);
}

// ---- Life ----

static int gpu_ceed_destroy(Ceed ceed) {
  RitzGpu *gpu = ritz_gpu(ceed);
  ritz_team_destroy(&gpu->hosts);
  for (int slot = 0; slot < RITZ_NUM_WORK; slot++) ritz_gpu_free(ceed, &gpu->work[slot].memory);
  ritz_gpu_ahead_destroy(ceed);
  ritz_gpu_passes_destroy(ceed);
  ritz_gpu_gemms_destroy(ceed);
  ritz_gpu_release_base(ceed);
  RITZ_FREE(&ceed->data);
  return CEED_ERROR_SUCCESS;
}

static int open_ceed_device(Ceed ceed, const RitzDriver *driver, const char *options, RitzGpu *gpu) {
  int index;
  gpu->driver = driver;
  RITZ_TRY(choose_device(ceed, driver, options, &index));
  RITZ_TRY(driver->open(ceed, index, &gpu->device));
  gpu->info = driver->info(gpu->device);
  return CEED_ERROR_SUCCESS;
}

typedef enum { REF, SHARED, GEN } Kind;

static int gpu_ceed_create(Ceed ceed, const char *options, const RitzDriver *driver, Kind kind) {
  RitzGpu *gpu = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &gpu));
  ceed->data = gpu;
  int ierr = open_ceed_device(ceed, driver, options, gpu);
  if (ierr) RITZ_FREE(&ceed->data);
  RITZ_TRY(ierr);
  gpu->has_basis_kernels = kind != REF;
  gpu->has_fused_kernels = kind == GEN;
  gpu->is_deterministic =
      kind == REF || ritz_resource_option(options, RITZ_OPTION_DETERMINISTIC) || !gpu->info->adds_atomically;
  gpu->work_bytes = work_bytes(gpu->info);
  ceed->backend.is_deterministic = gpu->is_deterministic;
  ierr = create_hosts(ceed, &gpu->hosts);
  if (!ierr) ierr = ritz_gpu_begin_base(ceed);
  if (ierr) (void)gpu_ceed_destroy(ceed);
  return ierr;
}

static int create_cuda_ref(Ceed ceed, const char *options) {
  return gpu_ceed_create(ceed, options, &ritz_cuda, REF);
}
static int create_cuda_shared(Ceed ceed, const char *options) {
  return gpu_ceed_create(ceed, options, &ritz_cuda, SHARED);
}
static int create_cuda_gen(Ceed ceed, const char *options) {
  return gpu_ceed_create(ceed, options, &ritz_cuda, GEN);
}
static int create_opencl_ref(Ceed ceed, const char *options) {
  return gpu_ceed_create(ceed, options, &ritz_opencl, REF);
}
static int create_opencl_shared(Ceed ceed, const char *options) {
  return gpu_ceed_create(ceed, options, &ritz_opencl, SHARED);
}
static int create_opencl_gen(Ceed ceed, const char *options) {
  return gpu_ceed_create(ceed, options, &ritz_opencl, GEN);
}

static const char *cuda_unusable(void) {
  const char *why;
  return ritz_cuda.count(&why) > 0 ? NULL : why;
}

static const char *opencl_unusable(void) {
  const char *why;
  return ritz_opencl.count(&why) > 0 ? NULL : why;
}

// Work on the new stream may need results of work on the old one, and waits for it.
static int set_stream(Ceed ceed, void *handle) {
  RitzGpu *gpu = ritz_gpu(ceed);
  RITZ_TRY(gpu->driver->synchronize(ceed, gpu->device, gpu->stream));
  gpu->stream = handle;
  return CEED_ERROR_SUCCESS;
}

static int get_queue(Ceed ceed, void **device, void **stream) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  *device = gpu->device;
  *stream = gpu->stream;
  return CEED_ERROR_SUCCESS;
}

// ---- Tables ----

#define SLOTS                                                                                                \
  .fallback = &ritz_ref_backend, .mem_type = CEED_MEM_DEVICE, .pads_points = true,                           \
  .ceed_destroy = gpu_ceed_destroy, .restriction_layout = ritz_gpu_restriction_layout,                       \
  .restriction_apply = ritz_gpu_restriction_apply, .basis_apply = ritz_gpu_basis_apply,                      \
  .basis_apply_at_points = ritz_gpu_basis_apply_at_points, .qfunction_apply = ritz_gpu_qfunction_apply,      \
  .operator_assemble_qfunction = ritz_gpu_operator_assemble_qfunction,                                       \
  .operator_assemble = ritz_gpu_operator_assemble, .assembly_prepare = ritz_gpu_assembly_prepare,            \
  .assembly_run = ritz_gpu_assembly_run, .assembly_destroy = ritz_gpu_assembly_destroy,                      \
  .vector_set_value = ritz_gpu_vector_set_value,                                                             \
  .vector_set_value_strided = ritz_gpu_vector_set_value_strided,                                             \
  .vector_copy_strided = ritz_gpu_vector_copy_strided, .vector_norm = ritz_gpu_vector_norm,                  \
  .vector_scale = ritz_gpu_vector_scale, .vector_filter = ritz_gpu_vector_filter,                            \
  .vector_axpby = ritz_gpu_vector_axpby, .vector_pointwise_mult = ritz_gpu_vector_pointwise_mult,            \
  .vector_reciprocal = ritz_gpu_vector_reciprocal, .vector_convert = ritz_gpu_vector_convert,                \
  .vector_pass = ritz_gpu_vector_pass, .vector_pass_by = ritz_gpu_vector_pass_by,                            \
  .passes_prepare = ritz_gpu_passes_prepare, .vector_set_entries = ritz_gpu_vector_set_entries,              \
  .vector_copy_entries = ritz_gpu_vector_copy_entries, .rep_alloc = ritz_gpu_rep_alloc,                      \
  .rep_free = ritz_gpu_rep_free, .rep_copy = ritz_gpu_rep_copy, .rep_accept = ritz_gpu_rep_accept,           \
  .restriction_destroy = ritz_gpu_restriction_destroy, .basis_destroy = ritz_gpu_basis_destroy,              \
  .qfunction_destroy = ritz_gpu_qfunction_destroy, .device_counters = ritz_gpu_device_counters,              \
  .timer_begin = ritz_gpu_timer_begin, .timer_end = ritz_gpu_timer_end, .timer_flush = ritz_gpu_timer_flush, \
  .run_ranges_slots = ritz_gpu_run_ranges_slots, .run_ranges = ritz_gpu_run_ranges,                          \
  .limits = ritz_gpu_limits, .operator_refuses_route = ritz_gpu_refuses_route,                               \
  .operator_apply_energy = ritz_gpu_operator_apply_energy, .mark_moment = ritz_gpu_mark_moment,              \
  .read_marked = ritz_gpu_read_marked, .batched_prepare = ritz_gpu_batched_prepare,                          \
  .batched_run = ritz_gpu_batched_run, .batched_workspace = ritz_gpu_batched_workspace,                      \
  .batched_analyze = ritz_gpu_batched_analyze, .batched_explain = ritz_gpu_batched_explain,                  \
  .batched_destroy = ritz_gpu_batched_destroy, .dense = &ritz_gpu_dense,                                     \
  .front_tree_run = ritz_gpu_front_tree_run, .front_prepare = ritz_gpu_front_prepare,                        \
  .front_run = ritz_gpu_front_run, .front_destroy = ritz_gpu_front_destroy

#define SEPARATE_KERNELS                                                                                     \
  .operator_apply = ritz_gpu_operator_apply, .operator_explain = ritz_gpu_operator_explain,                  \
  .operator_source = ritz_gpu_operator_source,                                                               \
  .operator_assemble_add_diagonal = ritz_gpu_operator_assemble_add_diagonal
#define FUSED_KERNELS                                                                                        \
  .operator_apply = ritz_gpu_gen_apply, .operators_prepare = ritz_gpu_operators_prepare,                     \
  .operator_supports_precision = ritz_gpu_gen_supports_precision,                                            \
  .diagonal_supports_precision = ritz_gpu_gen_diagonal_supports_precision,                                   \
  .operator_explain = ritz_gpu_gen_explain, .operator_steps = ritz_gpu_gen_steps,                            \
  .operator_source = ritz_gpu_gen_source, .operator_tune = ritz_gpu_gen_tune,                                \
  .operator_destroy = ritz_gpu_operator_destroy, .operator_cost = ritz_gpu_gen_cost,                         \
  .operator_apply_many = ritz_gpu_gen_apply_many,                                                            \
  .operator_assemble_add_diagonal = ritz_gpu_gen_assemble_add_diagonal,                                      \
  .patch_sweep_prepare = ritz_gpu_patch_sweep_prepare, .patch_sweep_run = ritz_gpu_patch_sweep_run,          \
  .patch_sweep_destroy = ritz_gpu_patch_sweep_destroy

const RitzBackend ritz_cuda_gen_backend = {
    .name = "/gpu/cuda/gen",
    .unusable = cuda_unusable,
    .ceed_create = create_cuda_gen,
    .set_stream = set_stream,
    .get_queue = get_queue,
    FUSED_KERNELS,
    SLOTS,
};
const RitzBackend ritz_opencl_gen_backend = {
    .name = "/gpu/opencl/gen",
    .unusable = opencl_unusable,
    .ceed_create = create_opencl_gen,
    FUSED_KERNELS,
    SLOTS,
};
const RitzBackend ritz_cuda_ref_backend = {
    .name = "/gpu/cuda/ref",
    .is_deterministic = true,
    .unusable = cuda_unusable,
    .ceed_create = create_cuda_ref,
    .set_stream = set_stream,
    .get_queue = get_queue,
    SEPARATE_KERNELS,
    SLOTS,
};
const RitzBackend ritz_cuda_shared_backend = {
    .name = "/gpu/cuda/shared",
    .unusable = cuda_unusable,
    .ceed_create = create_cuda_shared,
    .set_stream = set_stream,
    .get_queue = get_queue,
    SEPARATE_KERNELS,
    SLOTS,
};
const RitzBackend ritz_opencl_ref_backend = {
    .name = "/gpu/opencl/ref",
    .is_deterministic = true,
    .unusable = opencl_unusable,
    .ceed_create = create_opencl_ref,
    SEPARATE_KERNELS,
    SLOTS,
};
const RitzBackend ritz_opencl_shared_backend = {
    .name = "/gpu/opencl/shared",
    .unusable = opencl_unusable,
    .ceed_create = create_opencl_shared,
    SEPARATE_KERNELS,
    SLOTS,
};
