// SPDX-License-Identifier: BSD-2-Clause
// Products of matrices on devices (contract in gemm.h).
#include "backends/gpu/gemm.h"
#include "backends/gpu/algebra.h"
#include "backends/gpu/batched-kernels.h"
#include "backends/gpu/context.h"
#include "core/batched.h"
#include "devices/cublas.h"
#include "emit/gpu-batched.h"

// A kernel whose sizes are arguments, of matrices that are turned in this way.
typedef struct {
  RitzGpuBatched plan;
  RitzGpuKernel kernel; // owned
} Kernel;

struct RitzGpuGemms {
  RitzCublas blas; // owned; NULL: not yet
  size_t num;
  Kernel *kernels; // owned
};

enum { MOST_BLOCKS = 1 << 30 };

// ---- Life ----

static int open_gemms(Ceed ceed, RitzGpuGemms **gemms) {
  RitzGpu *gpu = ritz_gpu(ceed);
  if (!gpu->gemms) RITZ_TRY(RITZ_CALLOC(ceed, 1, &gpu->gemms));
  *gemms = gpu->gemms;
  return CEED_ERROR_SUCCESS;
}

void ritz_gpu_gemms_destroy(Ceed ceed) {
  RitzGpuGemms *gemms = ritz_gpu(ceed)->gemms;
  if (!gemms) return;
  ritz_cublas_destroy(ceed, &gemms->blas);
  for (size_t i = 0; i < gemms->num; i++) ritz_gpu_kernel_release(ceed, &gemms->kernels[i].kernel);
  RITZ_FREE(&gemms->kernels);
  RITZ_FREE(&ritz_gpu(ceed)->gemms);
}

// ---- Own kernels, sizes as arguments ----

static bool has_same_kernel(const RitzGpuBatched *a, const RitzGpuBatched *b) {
  if (a->has_blocks != b->has_blocks) return false;
  if (!a->has_blocks) return a->num_threads == b->num_threads;
  return a->form[0] == b->form[0] && a->form[1] == b->form[1] && a->warp_rows == b->warp_rows &&
         a->warp_cols == b->warp_cols && a->tile_rows == b->tile_rows && a->tile_cols == b->tile_cols &&
         a->num_stages == b->num_stages && a->num_resident == b->num_resident;
}

static int describe_kernel(Ceed ceed, const RitzGpuBatched *plan, Kernel *kernel) {
  char *emitted = NULL;
  RITZ_TRY(ritz_emit_gpu_batched(ceed, plan, &emitted));
  const RitzGpuText text = {.name = "gemm", .entry = "ritz_batched", .num = 1, .texts = {emitted}};
  *kernel = (Kernel){.plan = *plan};
  const int ierr = ritz_gpu_kernel_describe(ceed, &text, &kernel->kernel);
  RITZ_FREE(&emitted);
  return ierr;
}

// *kernel stays until another one is asked for.
static int find_kernel(Ceed ceed, const RitzGpuBatched *plan, RitzGpuKernel **kernel) {
  RitzGpuGemms *gemms;
  RITZ_TRY(open_gemms(ceed, &gemms));
  for (size_t i = 0; i < gemms->num; i++) {
    *kernel = &gemms->kernels[i].kernel;
    if (has_same_kernel(&gemms->kernels[i].plan, plan)) return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(RITZ_REALLOC(ceed, gemms->num + 1, &gemms->kernels));
  RITZ_TRY(describe_kernel(ceed, plan, &gemms->kernels[gemms->num]));
  *kernel = &gemms->kernels[gemms->num++].kernel;
  return CEED_ERROR_SUCCESS;
}

static int check_size(Ceed ceed, const char *what, int64_t size) {
  RITZ_REQUIRE(size <= INT32_MAX, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %s of a matrix product is %lld, needed at most %d", ceed->resource, what, (long long)size,
               INT32_MAX);
  return CEED_ERROR_SUCCESS;
}

// A product with a vector has a kernel of its own, of its size: here it has two columns.
static RitzGpuBatched plan_kernel(Ceed ceed, const RitzGpuGemm *g) {
  const RitzDeviceInfo *info = ritz_gpu(ceed)->info;
  const CeedInt size[RITZ_NUM_DIMS] = {g->m, g->n < 2 ? 2 : (CeedInt)g->n, g->k};
  RitzBatchHolding holding;
  RitzGpuBatched plan =
      ritz_plan_gpu_batched_large(size, g->is_transposed, CEED_SCALAR_TYPE, info->max_threads);
  if (ritz_gpu_batched_has_blocks(info, &holding))
    ritz_plan_gpu_batched_blocks(&plan, info->max_threads, info->dynamic_shared_bytes, holding);
  return plan;
}

static RitzBatchOperand batch_operand(const RitzGpuGemmOperand *o) {
  return (RitzBatchOperand){
      .base = (void *)o->memory, .row0 = o->first, .ld = o->ld, .stride = o->stride, .width = 1};
}

static int run_kernel(Ceed ceed, const RitzGpuGemm *g) {
  const RitzGpuBatched plan = plan_kernel(ceed, g);
  RitzDeviceArg args[RITZ_GPU_BATCH_ARGS];
  RitzBatchedCall call = {.count = g->count, .alpha = 1, .beta = g->adds};
  RitzGpuKernel *kernel;
  const CeedInt size[RITZ_NUM_DIMS] = {g->m, (CeedInt)g->n, g->k};
  for (int i = 0; i < 3; i++) call.operand[i] = batch_operand(&g->operand[i]);
  RITZ_TRY(find_kernel(ceed, &plan, &kernel));
  ritz_gpu_batched_product_args(&call, size, plan.form, args);
  const int64_t resident = (int64_t)plan.num_resident * ritz_gpu(ceed)->info->num_units;
  const int64_t num_blocks = ritz_gpu_batched_blocks(&plan, g->count),
                most = plan.has_blocks ? resident : MOST_BLOCKS;
  return ritz_gpu_launch(ceed, kernel, NULL, num_blocks < most ? num_blocks : most, plan.num_threads,
                         plan.shared_bytes, RITZ_GPU_BATCH_ARGS, args);
}

// A block takes a matrix where kernels have no parts: many columns of one are as many matrices of few.
static int run_columns(Ceed ceed, const RitzGpuGemm *g) {
  enum { COLUMNS = 64 };
  RitzGpuGemm most = *g, rest = *g;
  most.count = g->n / COLUMNS;
  most.n = COLUMNS;
  rest.n = g->n % COLUMNS;
  for (int i = 1; i < 3; i++) {
    most.operand[i].stride = (int64_t)COLUMNS * g->operand[i].ld;
    rest.operand[i].first += most.count * most.operand[i].stride;
  }
  most.operand[0].stride = 0;
  if (most.count > 0) RITZ_TRY(run_kernel(ceed, &most));
  return rest.n > 0 ? run_kernel(ceed, &rest) : CEED_ERROR_SUCCESS;
}

int ritz_gpu_gemm_large(Ceed ceed, const RitzGpuGemm *g) {
  RITZ_TRY(check_size(ceed, "a dimension", g->n));
  const bool has_parts = plan_kernel(ceed, g).has_blocks;
  return has_parts || g->count > 1 || g->is_transposed[1] ? run_kernel(ceed, g) : run_columns(ceed, g);
}

// ---- Own kernels of a size ----

static int create_batched(Ceed ceed, const RitzGpuGemm *g, RitzBatched *batched) {
  const CeedInt rows[3] = {g->m, g->k, g->m}, cols[3] = {g->k, (CeedInt)g->n, (CeedInt)g->n};
  RitzBatchLayout layouts[3];
  for (int i = 0; i < 3; i++) {
    const bool turns = i < 2 && g->is_transposed[i];
    layouts[i] = (RitzBatchLayout){.precision = CEED_SCALAR_TYPE,
                                   .m = turns ? cols[i] : rows[i],
                                   .n = turns ? rows[i] : cols[i],
                                   .ld = g->operand[i].ld};
  }
  const RitzBatchedOptions options = {.trans_a = g->is_transposed[0] ? CEED_TRANSPOSE : CEED_NOTRANSPOSE,
                                      .trans_b = g->is_transposed[1] ? CEED_TRANSPOSE : CEED_NOTRANSPOSE,
                                      .A = layouts[0],
                                      .B = layouts[1],
                                      .C = layouts[2]};
  return RitzBatchedCreate(ceed, RITZ_BATCHED_GEMM, &options, batched);
}

int ritz_gpu_gemm_small(Ceed ceed, const RitzGpuGemm *g, RitzBatched *batched) {
  RitzBatchedCall call = {.count = g->count, .alpha = 1, .beta = g->adds, .is_uniform = true};
  RITZ_TRY(check_size(ceed, "a dimension", g->n));
  if (!*batched) RITZ_TRY(create_batched(ceed, g, batched));
  for (int i = 0; i < 3; i++) call.operand[i] = batch_operand(&g->operand[i]);
  return ritz_gpu_batched_run(*batched, &call);
}

// ---- The vendor's library ----

const char *ritz_gpu_gemm_vendor_find(Ceed ceed, const char **why) {
  if (ritz_gpu(ceed)->driver == &ritz_cuda) return ritz_cublas_find(why);
  *why = "it is for CUDA devices, and this one is another driver's";
  return NULL;
}

static const void *place_of(const RitzGpuGemmOperand *o) {
  return (const char *)o->memory + o->first * (int64_t)sizeof(CeedScalar);
}

int ritz_gpu_gemm_vendor(Ceed ceed, const RitzGpuGemm *g) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  RitzGpuGemms *gemms;
  RITZ_TRY(check_size(ceed, "a dimension", g->n));
  RITZ_TRY(check_size(ceed, "the number of matrices", g->count));
  RITZ_TRY(open_gemms(ceed, &gemms));
  if (!gemms->blas) RITZ_TRY(ritz_cublas_create(ceed, gpu->device, &gemms->blas));
  RitzCublasProduct p = {.is_double = sizeof(CeedScalar) == sizeof(double),
                         .adds = g->adds,
                         .is_transposed = {g->is_transposed[0], g->is_transposed[1]},
                         .m = g->m,
                         .n = (int)g->n,
                         .k = g->k,
                         .count = (int)g->count,
                         .A = place_of(&g->operand[0]),
                         .B = place_of(&g->operand[1]),
                         .C = (void *)place_of(&g->operand[2])};
  for (int i = 0; i < 3; i++) p.ld[i] = g->operand[i].ld, p.stride[i] = g->operand[i].stride;
  return ritz_cublas_multiply(ceed, gemms->blas, gpu->stream, &p);
}
