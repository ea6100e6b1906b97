// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra (core/batched.h) on devices: a kernel an object, compiled for its sizes where they
// are small (kernels/gpu/batched-rows.h and its relatives), else for any (batched-any.h). A call is one
// launch. Operands are turned, so that a kernel knows one form of an operation:
//
//     A^T                       rows for columns
//     upper triangle, forward   lower one of the matrix with rows and columns in reverse order
//     X op(A) = B               op(A)^T X^T = B^T
#include <string.h>

#include "backends/gpu/gpu.h"
#include "core/batched.h"
#include "emit/gpu-batched.h"
#include "jit/files.h"

enum { MOST_BLOCKS = 1 << 30 };

// Bits of kernels/gpu/batched.h.
enum {
  HAS_POINTERS = 8,
  IS_TRANSPOSED = 16,
  REVERSES_ROWS = 32,
  REVERSES_COLS = 64,

  UNIT_FIRST = 1,
  SOLVES_TWICE = 2,
  UNIT_SECOND = 4,
  SYMMETRIC = 8,
  SWAPS_FIRST = 16,
  SWAPS_LAST = 32
};

typedef struct {
  RitzGpuBatched plan;
  bool is_begun;
  char *text;             // owned; NULL: not yet, or there is a program
  RitzGpuProgram program; // counted; NULL: not yet
  RitzDeviceKernel kernel;
} Kernel;

typedef struct {
  Kernel uniform, ragged;              // ragged: of all calls, where no kernel has rows
  int form[RITZ_BATCHED_MAX_OPERANDS]; // how operands are turned
  int options;
} Batch;

// ---- Forms ----

static int log2_of(CeedInt width) {
  int log = 0;
  while (1 << log < width) log++;
  return log;
}

// The solve with the lower triangle of A as the kernel sees it, forward.
static void describe_triangle(const RitzBatched b, Batch *data) {
  const RitzBatchedOptions *o = &b->options;
  const bool is_right = b->operation == RITZ_BATCHED_TRSM && o->side == RITZ_SIDE_RIGHT;
  const bool is_transposed = (o->trans_a == CEED_TRANSPOSE) != is_right;
  const bool is_lower = (o->uplo == RITZ_TRIANGLE_LOWER) != is_transposed;
  data->form[0] = (is_transposed ? IS_TRANSPOSED : 0) | (is_lower ? 0 : REVERSES_ROWS | REVERSES_COLS);
  data->form[1] = (is_right ? IS_TRANSPOSED : 0) | (is_lower ? 0 : REVERSES_ROWS);
  data->options = o->diag == RITZ_DIAGONAL_UNIT ? UNIT_FIRST : 0;
}

static void describe_factors(const RitzBatched b, Batch *data) {
  const RitzBatchedOptions *o = &b->options;
  const bool is_transposed = o->trans_a == CEED_TRANSPOSE;
  data->options = SOLVES_TWICE | (is_transposed ? UNIT_SECOND : UNIT_FIRST);
  data->form[0] = is_transposed ? IS_TRANSPOSED : 0;
  if (o->pivot == RITZ_PIVOT_ROWS) data->options |= is_transposed ? SWAPS_LAST : SWAPS_FIRST;
}

static void describe(const RitzBatched b, Batch *data) {
  const RitzBatchedOptions *o = &b->options;
  switch (b->operation) {
  case RITZ_BATCHED_GEMM:
  case RITZ_BATCHED_GEMV:
    data->form[0] = o->trans_a == CEED_TRANSPOSE ? IS_TRANSPOSED : 0;
    data->form[1] = o->trans_b == CEED_TRANSPOSE ? IS_TRANSPOSED : 0;
    break;
  case RITZ_BATCHED_POTRS:
    data->options = SOLVES_TWICE | SYMMETRIC; // and the triangle
  // fallthrough
  case RITZ_BATCHED_POTRF: data->form[0] = o->uplo == RITZ_TRIANGLE_UPPER ? IS_TRANSPOSED : 0; break;
  case RITZ_BATCHED_GETRS:
  case RITZ_BATCHED_GETRI: describe_factors(b, data); break;
  case RITZ_BATCHED_TRSM:
  case RITZ_BATCHED_TRSV: describe_triangle(b, data); break;
  default: break;
  }
}

// ---- Life ----

static void free_kernel(Ceed ceed, Kernel *kernel) {
  ritz_gpu_program_release(ceed, &kernel->program);
  RITZ_FREE(&kernel->text);
}

int ritz_gpu_batched_destroy(RitzBatched b) {
  const RitzGpu *gpu = ritz_gpu(b->ceed);
  Batch *data = b->data;
  // Kernels that run stay loaded until they are done.
  const int ierr = gpu->driver->synchronize(b->ceed, gpu->device, gpu->stream);
  free_kernel(b->ceed, &data->uniform);
  free_kernel(b->ceed, &data->ragged);
  RITZ_FREE(&data);
  b->data = NULL;
  return ierr;
}

static const char own_kernels[] = "the library's own kernels";
static const char program_name[] = "batched";

static int begin(RitzBatched b, Kernel *kernel) {
  if (kernel->is_begun) return CEED_ERROR_SUCCESS;
  kernel->is_begun = true;
  RITZ_TRY(ritz_emit_gpu_batched(b->ceed, &kernel->plan, &kernel->text));
  return ritz_gpu_program_ahead(b->ceed, RITZ_TEXT_SCALARS, program_name, own_kernels, 1,
                                (const char *const *)&kernel->text);
}

static int load(RitzBatched b, Kernel *kernel) {
  if (kernel->kernel) return CEED_ERROR_SUCCESS;
  RITZ_TRY(begin(b, kernel));
  if (!kernel->program)
    RITZ_TRY(ritz_gpu_program_of(b->ceed, RITZ_TEXT_SCALARS, program_name, own_kernels, 1,
                                 (const char *const *)&kernel->text, &kernel->program));
  RITZ_TRY(ritz_gpu_kernel(b->ceed, kernel->program, "ritz_batched", &kernel->kernel));
  RITZ_FREE(&kernel->text);
  return CEED_ERROR_SUCCESS;
}

static int check_operation(RitzBatched b) {
  const CeedInt n = b->size[RITZ_DIM_N];
  const bool is_inverse = b->operation == RITZ_BATCHED_GETRI || b->operation == RITZ_BATCHED_INV;
  RITZ_REQUIRE(b->operation <= RITZ_BATCHED_TRSV, b->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzBatchedCreate: %s: devices have no kernels for it, hosts (/cpu) serve it",
               ritz_batched_root(b->operation));
  RITZ_REQUIRE(!is_inverse || n <= RITZ_BATCH_MAX_INVERSE, b->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzBatchedCreate: %s of order %" CeedInt_FMT
               ": devices have kernels for orders up to %d (of GETRF and GETRS: for any)",
               ritz_batched_root(b->operation), n, (int)RITZ_BATCH_MAX_INVERSE);
  return CEED_ERROR_SUCCESS;
}

// RITZ_BATCHED_KERNEL=rows (without tensor cores), blocks, held or any. Processors that play a device gain
// little by rows in registers, for which they compile long and each size again.
static RitzGpuBatchMachine describe_machine(const RitzDeviceInfo *info) {
  const char *value = ritz_environment("RITZ_BATCHED_KERNEL");
  const bool is_rows = value && !strcmp(value, "rows"), is_any = value && !strcmp(value, "any");
  return (RitzGpuBatchMachine){.max_threads = info->max_threads,
                               .can_have_rows = is_rows || (!is_any && info->warp_size != 1),
                               .has_mma = !is_rows && ritz_gpu_has_mma(info)};
}

// blocks, held: the latter with all matrices in shared memory that fit there.
static bool can_have_blocks(const RitzDeviceInfo *info, RitzBatchHolding *holding) {
  const char *value = ritz_environment("RITZ_BATCHED_KERNEL");
  const bool is_held = value && !strcmp(value, "held"), has_blocks = value && !strcmp(value, "blocks");
  *holding = is_held ? RITZ_BATCH_HOLDS_ALL : has_blocks ? RITZ_BATCH_HOLDS_NONE : RITZ_BATCH_HOLDS_SOME;
  if (value && !strcmp(value, "any")) return false;
  return is_held || has_blocks || info->warp_size != 1;
}

static bool knows_sizes(const Kernel *kernel) { return kernel->plan.has_rows || kernel->plan.has_blocks; }

int ritz_gpu_batched_prepare(RitzBatched b) {
  const RitzDeviceInfo *info = ritz_gpu(b->ceed)->info;
  Batch *data = NULL;
  RITZ_TRY(check_operation(b));
  RITZ_TRY(RITZ_CALLOC(b->ceed, 1, &data));
  b->data = data;
  describe(b, data);
  for (CeedInt i = 0; i < b->form.num_operands; i++)
    data->form[i] |= log2_of(ritz_batched_layout(&b->options, i)->width);
  const RitzGpuBatchMachine machine = describe_machine(info);
  data->uniform.plan = ritz_plan_gpu_batched(b, &machine, true);
  data->ragged.plan = ritz_plan_gpu_batched(b, &machine, false);
  memcpy(data->uniform.plan.form, data->form, sizeof(data->form));
  memcpy(data->ragged.plan.form, data->form, sizeof(data->form));
  RitzBatchHolding holding;
  if (can_have_blocks(info, &holding)) {
    ritz_plan_gpu_batched_blocks(&data->uniform.plan, info->max_threads, info->dynamic_shared_bytes, holding);
    ritz_plan_gpu_batched_blocks(&data->ragged.plan, info->max_threads, info->dynamic_shared_bytes, holding);
  }
  return begin(b, knows_sizes(&data->uniform) ? &data->uniform : &data->ragged);
}

// ---- Calls ----

enum { COMMON_ARGS = 13, OPERAND_ARGS = 10 };

static void list_operand(const RitzBatchOperand *o, int form, RitzDeviceArg *args) {
  const void *places = o->pointers ? (const void *)o->pointers : o->offsets;
  const RitzDeviceArg operand[OPERAND_ARGS] = {RITZ_POINTER(o->base),
                                               RITZ_POINTER(places),
                                               RITZ_POINTER(o->lds),
                                               RITZ_POINTER(o->first_rows),
                                               RITZ_POINTER(o->first_cols),
                                               RITZ_LONG(o->row0),
                                               RITZ_LONG(o->col0),
                                               RITZ_LONG(o->stride),
                                               RITZ_LONG(o->ld),
                                               RITZ_INT(form | (o->pointers ? HAS_POINTERS : 0) |
                                                        log2_of(o->width ? o->width : 1))};
  memcpy(args, operand, sizeof(operand));
}

static int64_t bits_of(double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// Sizes of the operation -> those of its kernel, as in plan/gpu-batched.c.
static void list_sizes(const RitzBatched b, const RitzBatchedCall *call,
                       const int32_t *sizes[RITZ_NUM_DIMS]) {
  const RitzBatchedOptions *o = &b->options;
  const int32_t *m = call->sizes[RITZ_DIM_M], *n = call->sizes[RITZ_DIM_N], *k = call->sizes[RITZ_DIM_K];
  const bool is_vector = b->operation == RITZ_BATCHED_GEMV, is_trsm = b->operation == RITZ_BATCHED_TRSM;
  const bool is_transposed = o->trans_a == CEED_TRANSPOSE, is_left = o->side == RITZ_SIDE_LEFT;
  sizes[RITZ_DIM_M] = is_vector && is_transposed ? n : is_trsm ? NULL : m;
  sizes[RITZ_DIM_N] = is_vector ? NULL : is_trsm && is_left ? m : n;
  sizes[RITZ_DIM_K] = b->operation == RITZ_BATCHED_GETRI ? n
                      : is_vector                        ? (is_transposed ? m : n)
                      : is_trsm                          ? (is_left ? n : m)
                                                         : k;
}

// Kernels of OpenCL C know no addresses.
static int check_pointers(RitzBatched b, const RitzBatchedCall *call) {
  const bool has_addresses = strcmp(ritz_gpu(b->ceed)->driver->name, "opencl") != 0;
  for (CeedInt i = 0; i < b->form.num_operands && !has_addresses; i++)
    RITZ_REQUIRE(!call->operand[i].pointers, b->ceed, CEED_ERROR_UNSUPPORTED,
                 "Ritz%sBatched: %c has pointers, needed a base, with offsets or a stride: OpenCL has no "
                 "addresses",
                 ritz_batched_root(b->operation), (char)('A' + i));
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_batched_run(RitzBatched b, const RitzBatchedCall *call) {
  Batch *data = b->data;
  Kernel *kernel = knows_sizes(&data->uniform) && call->is_uniform ? &data->uniform : &data->ragged;
  const RitzGpuBatched *plan = &kernel->plan;
  const int64_t blocks = ritz_gpu_batched_blocks(plan, call->count);
  const int32_t *sizes[RITZ_NUM_DIMS];
  RITZ_TRY(check_pointers(b, call));
  list_sizes(b, call, sizes);
  RitzDeviceArg args[COMMON_ARGS + RITZ_BATCHED_MAX_OPERANDS * OPERAND_ARGS] = {
      RITZ_LONG(call->count),           RITZ_LONG(bits_of(call->alpha)),  RITZ_LONG(bits_of(call->beta)),
      RITZ_INT(plan->size[RITZ_DIM_M]), RITZ_INT(plan->size[RITZ_DIM_N]), RITZ_INT(plan->size[RITZ_DIM_K]),
      RITZ_POINTER(sizes[RITZ_DIM_M]),  RITZ_POINTER(sizes[RITZ_DIM_N]),  RITZ_POINTER(sizes[RITZ_DIM_K]),
      RITZ_POINTER(call->ipiv),         RITZ_INT(b->ipiv_stride),         RITZ_POINTER(call->info),
      RITZ_INT(data->options)};
  for (int i = 0; i < RITZ_BATCHED_MAX_OPERANDS; i++)
    list_operand(&call->operand[i], data->form[i], &args[COMMON_ARGS + i * OPERAND_ARGS]);
  RITZ_TRY(load(b, kernel));
  return ritz_gpu_launch(b->ceed, kernel->kernel, blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS,
                         plan->num_threads, plan->shared_bytes, sizeof(args) / sizeof(args[0]), args);
}

// ---- For people ----

static void explain_blocks(const char *calls, const RitzGpuBatched *p, FILE *stream) {
  if (p->kind == RITZ_BATCH_PRODUCT)
    fprintf(stream, "  %s: parts of %d x %d entries, blocks of %d threads\n", calls, 32 * p->tile_rows,
            32 * p->tile_cols, p->num_threads);
  else if (p->kind == RITZ_BATCH_SOLVE)
    fprintf(stream, "  %s: up to 32 right-hand sides in shared memory, blocks of %d threads\n", calls,
            p->num_threads);
  else
    fprintf(stream, "  %s: panels of 16 columns, a block of %d threads a matrix, %s\n", calls, p->num_threads,
            p->holds ? "in shared memory" : "in global memory");
}

static void explain_kernel(const char *calls, const RitzGpuBatched *p, FILE *stream) {
  static const char *const designs[] = {"in global memory", "a row a thread",
                                        "a row a thread, steps in stages", "by tensor cores"};
  if (p->has_rows)
    fprintf(stream, "  %s: %s, %d threads a matrix, blocks of %d, %d or more on a multiprocessor\n", calls,
            designs[p->design], p->group, p->num_threads, p->num_resident);
  else if (!p->has_blocks)
    fprintf(stream, "  %s: a block of %d threads a matrix, %s\n", calls, p->num_threads, designs[p->design]);
  else
    explain_blocks(calls, p, stream);
}

int ritz_gpu_batched_explain(RitzBatched b, FILE *stream) {
  const Batch *data = b->data;
  const bool has_sizes = knows_sizes(&data->uniform);
  if (has_sizes) explain_kernel("uniform", &data->uniform.plan, stream);
  explain_kernel(has_sizes ? "non-uniform" : "all", &data->ragged.plan, stream);
  return CEED_ERROR_SUCCESS;
}
