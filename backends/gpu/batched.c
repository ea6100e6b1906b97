// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra (core/batched.h) on devices: a kernel an object, compiled for its sizes where they
// are small (kernels/gpu/batched-rows.h and its relatives), else for any (batched-any.h). A call is one
// launch, of non-uniform batches one a class; GESV and POSV are two calls (batched-pair.h). Operands are
// turned, so that a kernel knows one form of an operation:
//
//     A^T                       rows for columns
//     upper triangle, forward   lower one of the matrix with rows and columns in reverse order
//     X op(A) = B               op(A)^T X^T = B^T
#include <string.h>

#include "backends/gpu/algebra.h"
#include "backends/gpu/batched-classes.h"
#include "backends/gpu/batched-kernels.h"
#include "backends/gpu/batched-pair.h"
#include "backends/gpu/context.h"
#include "backends/gpu/memory.h"
#include "base/environment.h"
#include "core/batched.h"
#include "emit/gpu-batched.h"

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
  SWAPS_LAST = 32,
  FOLLOWS = 64,
  // Flags of kernels/gpu/batched-sums.h.
  TRANSPOSED_Q = 64,
  RIGHT_Q = 128,
  READS_UPPER = 256,
  HAS_VALUES_ALONE = 512
};

typedef struct {
  RitzGpuBatched plan;
  RitzGpuKernel kernel; // owned; NONE: not asked for yet
} Kernel;

typedef struct {
  Kernel uniform;
  Kernel ragged[RITZ_BATCH_MAX_CLASSES]; // the last one: of all calls, where no kernel knows sizes
  int num_classes;
  RitzGpuClasses analyzed, own;           // matrices by classes: from batched_analyze; of the last call
  int operand[RITZ_BATCHED_MAX_OPERANDS]; // of the call, that are A, B, C of kernels
  int form[RITZ_BATCHED_MAX_OPERANDS];    // how these are turned
  int options;
  void *room; // owned: that of blocks, plan.room
  size_t room_bytes;
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

static void describe_orthogonal(const RitzBatched b, Batch *data) {
  const RitzBatchedOptions *o = &b->options;
  if (o->trans_a == CEED_TRANSPOSE) data->options |= TRANSPOSED_Q;
  if (o->side == RITZ_SIDE_RIGHT) data->options |= RIGHT_Q;
  if (o->uplo == RITZ_TRIANGLE_UPPER) data->options |= READS_UPPER;
  if (o->vectors == RITZ_VECTORS_NONE) data->options |= HAS_VALUES_ALONE;
}

static void describe_gpu_batched(const RitzBatched b, Batch *data) {
  const RitzBatchedOptions *o = &b->options;
  switch (b->operation) {
  case RITZ_BATCHED_GEMM:
  case RITZ_BATCHED_GEMV:
  case RITZ_BATCHED_GEAM:
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
  case RITZ_BATCHED_SYRK: data->form[o->trans_a == CEED_TRANSPOSE ? 0 : 1] = IS_TRANSPOSED; break;
  case RITZ_BATCHED_TRMM:
    data->form[o->side == RITZ_SIDE_RIGHT] = o->trans_a == CEED_TRANSPOSE ? IS_TRANSPOSED : 0;
    break;
  case RITZ_BATCHED_COPY: data->form[2] = o->trans_a == CEED_TRANSPOSE ? IS_TRANSPOSED : 0; break;
  case RITZ_BATCHED_GEQRF:
  case RITZ_BATCHED_ORMQR:
  case RITZ_BATCHED_ORGQR:
  case RITZ_BATCHED_GELS:
  case RITZ_BATCHED_SYEVJ:
  case RITZ_BATCHED_GESVDJ: describe_orthogonal(b, data); break;
  default: break;
  }
}

// ---- Life ----

int ritz_gpu_batched_destroy(RitzBatched b) {
  const RitzGpu *gpu = ritz_gpu(b->ceed);
  Batch *data = b->data;
  if (ritz_gpu_pair_serves(b->operation)) return ritz_gpu_pair_destroy(b);
  // Kernels that run stay loaded until they are done.
  const int ierr = gpu->driver->synchronize(b->ceed, gpu->device, gpu->stream);
  ritz_gpu_kernel_release(b->ceed, &data->uniform.kernel);
  for (int c = 0; c < data->num_classes; c++) ritz_gpu_kernel_release(b->ceed, &data->ragged[c].kernel);
  ritz_gpu_classes_free(b->ceed, &data->analyzed);
  ritz_gpu_classes_free(b->ceed, &data->own);
  ritz_gpu_free(b->ceed, &data->room);
  RITZ_FREE(&data);
  b->data = NULL;
  return ierr;
}

static int describe_kernel(RitzBatched b, Kernel *kernel) {
  char *emitted = NULL;
  if (kernel->kernel.state != RITZ_KERNEL_NONE) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_emit_gpu_batched(b->ceed, &kernel->plan, &emitted));
  const RitzGpuText text = {.name = "batched", .entry = "ritz_batched", .num = 1, .texts = {emitted}};
  const int ierr = ritz_gpu_kernel_describe(b->ceed, &text, &kernel->kernel);
  RITZ_FREE(&emitted);
  return ierr;
}

static int begin_gpu_batched(RitzBatched b, Kernel *kernel) {
  RITZ_TRY(describe_kernel(b, kernel));
  return ritz_gpu_kernel_begin(b->ceed, &kernel->kernel);
}

static int check_operation(RitzBatched b) {
  const CeedInt n = b->size[RITZ_DIM_N];
  const bool is_inverse = b->operation == RITZ_BATCHED_GETRI || b->operation == RITZ_BATCHED_INV;
  RITZ_REQUIRE(!is_inverse || n <= RITZ_BATCH_MAX_INVERSE, b->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzBatchedCreate: %s of order %" CeedInt_FMT
               ": devices have kernels for orders up to %d (of GETRF and GETRS: for any)",
               ritz_batched_root(b->operation), n, (int)RITZ_BATCH_MAX_INVERSE);
  return CEED_ERROR_SUCCESS;
}

static int check_work(RitzBatched b, const RitzGpuBatched *plan) {
  RITZ_REQUIRE(!ritz_gpu_batched_is_orthogonal(plan->kind) || ritz_gpu_batched_fits_work(plan), b->ceed,
               CEED_ERROR_UNSUPPORTED,
               "RitzBatchedCreate: %s of %" CeedInt_FMT " x %" CeedInt_FMT
               ": devices have kernels where the smaller side is at most %d",
               ritz_batched_root(b->operation), b->options.A.m, b->options.A.n, (int)RITZ_BATCH_MAX_INVERSE);
  return CEED_ERROR_SUCCESS;
}

// RITZ_BATCHED_KERNEL=rows (without tensor cores), blocks, held, sizes (rows and blocks) or any. Processors
// that play a device gain little by rows in registers, for which they compile long and each size again.
static RitzGpuBatchMachine batched_machine(const RitzDeviceInfo *info) {
  const char *value = ritz_environment(ENV_RITZ_BATCHED_KERNEL);
  const bool is_rows = value && !strcmp(value, "rows"), is_any = value && !strcmp(value, "any");
  const bool is_sizes = value && !strcmp(value, "sizes");
  return (RitzGpuBatchMachine){.max_threads = info->max_threads,
                               .can_have_rows = is_rows || is_sizes || (!is_any && info->warp_size != 1),
                               .has_mma = !is_rows && ritz_gpu_has_mma(info)};
}

// Values of RITZ_BATCHED_KERNEL: `blocks` holds no matrix in shared memory, `held` all that fit.
bool ritz_gpu_batched_has_blocks(const RitzDeviceInfo *info, RitzBatchHolding *holding) {
  const char *value = ritz_environment(ENV_RITZ_BATCHED_KERNEL);
  const bool is_held = value && !strcmp(value, "held"), has_blocks = value && !strcmp(value, "blocks");
  const bool is_sizes = value && !strcmp(value, "sizes");
  *holding = is_held ? RITZ_BATCH_HOLDS_ALL : has_blocks ? RITZ_BATCH_HOLDS_NONE : RITZ_BATCH_HOLDS_SOME;
  if (value && !strcmp(value, "any")) return false;
  return is_held || has_blocks || is_sizes || info->warp_size != 1;
}

static bool knows_sizes(const Kernel *kernel) {
  const RitzGpuBatched *plan = &kernel->plan;
  return plan->has_rows || plan->has_blocks || (plan->has_tiles && plan->is_uniform);
}
// Matrices of non-uniform batches are sorted into classes; else the last kernel takes them all.
static bool has_classes(const Batch *data) { return data->num_classes > 1 && data->ragged[0].plan.has_rows; }

static void finish_plan(const RitzBatched b, const RitzDeviceInfo *info, RitzGpuBatched *plan) {
  const Batch *data = b->data;
  RitzBatchHolding holding;
  const bool has_blocks = ritz_gpu_batched_has_blocks(info, &holding);
  const RitzGpuBatchShared shared = {.has_warps = info->warp_size != 1,
                                     .can_hold = has_blocks && holding != RITZ_BATCH_HOLDS_NONE,
                                     .has_columns = batched_machine(info).can_have_rows,
                                     .num_bytes = info->dynamic_shared_bytes};
  memcpy(plan->form, data->form, sizeof(data->form));
  if (ritz_gpu_batched_is_orthogonal(plan->kind)) {
    ritz_plan_gpu_batched_orthogonal(b, &shared, plan);
    return;
  }
  ritz_plan_gpu_batched_move(plan, info->max_threads, !has_blocks);
  if (has_blocks) ritz_plan_gpu_batched_blocks(plan, info->max_threads, info->dynamic_shared_bytes, holding);
}

int ritz_gpu_batched_prepare(RitzBatched b) {
  const RitzDeviceInfo *info = ritz_gpu(b->ceed)->info;
  Batch *data = NULL;
  if (ritz_gpu_pair_serves(b->operation)) return ritz_gpu_pair_prepare(b);
  RITZ_TRY(check_operation(b));
  RITZ_TRY(RITZ_CALLOC(b->ceed, 1, &data));
  b->data = data;
  describe_gpu_batched(b, data);
  ritz_gpu_batched_operands(b, data->operand);
  for (int i = 0; i < RITZ_BATCHED_MAX_OPERANDS; i++)
    data->form[i] |= log2_of(ritz_batched_layout(&b->options, data->operand[i])->width);
  const RitzGpuBatchMachine machine = batched_machine(info);
  data->uniform.plan = ritz_plan_gpu_batched(b, &machine, true);
  if (data->uniform.plan.kind == RITZ_BATCH_PRODUCT)
    data->options = ritz_gpu_batched_product_options(&data->uniform.plan);
  finish_plan(b, info, &data->uniform.plan);
  data->num_classes = ritz_gpu_batched_num_classes(b);
  const int last = data->num_classes - 1;
  for (int c = 0; c <= last; c++) {
    data->ragged[c].plan = ritz_plan_gpu_batched_class(b, &machine, c);
    finish_plan(b, info, &data->ragged[c].plan);
  }
  data->ragged[last].plan.takes_all = !has_classes(data);
  RITZ_TRY(check_work(b, &data->ragged[last].plan));
  return begin_gpu_batched(b, knows_sizes(&data->uniform) ? &data->uniform : &data->ragged[last]);
}

void ritz_gpu_batched_follow(RitzBatched solve) { ((Batch *)solve->data)->options |= FOLLOWS; }

// ---- Classes ----

static CeedInt larger(CeedInt a, CeedInt b) { return a > b ? a : b; }

// Sorts by these sizes of the operation; *first: no matrix is in a class before.
static int sort(RitzBatched b, int64_t count, const int32_t *const sizes[RITZ_NUM_DIMS],
                RitzGpuClasses *classes) {
  Batch *data = b->data;
  RitzBatchDim dims[2];
  RitzGpuClassSizes s = {.count = count, .num_classes = data->num_classes};
  const int num = ritz_gpu_batched_class_dims(b, dims);
  for (int d = 0; d < num; d++) {
    s.sizes[d] = sizes[dims[d]];
    s.bounds[d] = b->size[dims[d]];
    if (!s.sizes[d]) s.least = larger(s.least, s.bounds[d]);
  }
  classes->first = ritz_gpu_batched_class_of(b, s.least);
  // One class: all matrices, by the kernel of any size where sizes are worth nothing.
  if (!s.sizes[0] && !s.sizes[1]) classes->first = data->num_classes - 1;
  if (!has_classes(data) || count > INT32_MAX) classes->first = data->num_classes - 1;
  if (classes->first == data->num_classes - 1) return CEED_ERROR_SUCCESS;
  for (int c = classes->first; c < data->num_classes; c++)
    RITZ_TRY(begin_gpu_batched(b, &((Batch *)b->data)->ragged[c]));
  return ritz_gpu_classes_sort(b->ceed, &s, classes);
}

int ritz_gpu_batched_analyze(RitzBatched b, int64_t count, const int32_t *const sizes[RITZ_NUM_DIMS]) {
  if (ritz_gpu_pair_serves(b->operation)) return ritz_gpu_pair_analyze(b, count, sizes);
  return count ? sort(b, count, sizes, &((Batch *)b->data)->analyzed) : CEED_ERROR_SUCCESS;
}

// ---- Room ----

// Blocks that run at a time, where each needs room.
static int64_t count_rooms(const RitzBatched b, int64_t count) {
  enum { BLOCKS_AT_ONCE = 4 };
  const int64_t most = (int64_t)BLOCKS_AT_ONCE * ritz_gpu(b->ceed)->info->num_units;
  return count < most ? count : most;
}

static const RitzGpuBatched *last_plan(const RitzBatched b) {
  const Batch *data = b->data;
  return &data->ragged[data->num_classes - 1].plan;
}

int ritz_gpu_batched_workspace(RitzBatched b, int64_t count, size_t *num_bytes) {
  *num_bytes = 0;
  if (ritz_gpu_pair_serves(b->operation)) return CEED_ERROR_SUCCESS;
  *num_bytes = (size_t)(count_rooms(b, count) * last_plan(b)->room) * ritz_scalar_bytes(b->precision);
  return CEED_ERROR_SUCCESS;
}

// The caller's, else the object's own. It is operand C of kernels of two operands.
static int find_room(RitzBatched b, int64_t count, RitzBatchOperand *C) {
  Batch *data = b->data;
  size_t num_bytes;
  RITZ_TRY(ritz_gpu_batched_workspace(b, count, &num_bytes));
  if (num_bytes == 0) return CEED_ERROR_SUCCESS;
  if (!b->workspace && data->room_bytes < num_bytes) {
    data->room_bytes = 0;
    ritz_gpu_free(b->ceed, &data->room);
    RITZ_TRY(ritz_gpu_alloc(b->ceed, num_bytes, &data->room));
    data->room_bytes = num_bytes;
  }
  *C = (RitzBatchOperand){
      .base = b->workspace ? b->workspace : data->room, .stride = last_plan(b)->room, .width = 1};
  return CEED_ERROR_SUCCESS;
}

// ---- Calls ----

enum {
  COMMON_ARGS = RITZ_GPU_BATCH_COMMON_ARGS,
  OPERAND_ARGS = RITZ_GPU_BATCH_OPERAND_ARGS,
  MEMBERS_ARG = 13
};

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

// Arguments of kernels in front of their operands. alpha, beta: bits, or the steps of swaps.
typedef struct {
  int64_t alpha, beta;
  const CeedInt *bound;        // [RITZ_NUM_DIMS] m, n, k
  const int32_t *const *sizes; // the same, of each matrix; NULL: there are none
  CeedInt ipiv_stride;
  int options;
} Common;

static void list_common(const RitzBatchedCall *call, const Common *c, RitzDeviceArg *args) {
  const RitzDeviceArg common[COMMON_ARGS] = {RITZ_LONG(call->count),
                                             RITZ_LONG(c->alpha),
                                             RITZ_LONG(c->beta),
                                             RITZ_INT(c->bound[RITZ_DIM_M]),
                                             RITZ_INT(c->bound[RITZ_DIM_N]),
                                             RITZ_INT(c->bound[RITZ_DIM_K]),
                                             RITZ_POINTER(c->sizes ? c->sizes[RITZ_DIM_M] : NULL),
                                             RITZ_POINTER(c->sizes ? c->sizes[RITZ_DIM_N] : NULL),
                                             RITZ_POINTER(c->sizes ? c->sizes[RITZ_DIM_K] : NULL),
                                             RITZ_POINTER(call->ipiv),
                                             RITZ_INT(c->ipiv_stride),
                                             RITZ_POINTER(call->info),
                                             RITZ_INT(c->options),
                                             RITZ_POINTER(NULL),
                                             RITZ_POINTER(NULL),
                                             RITZ_INT(0)};
  memcpy(args, common, sizeof(common));
}

void ritz_gpu_batched_product_args(const RitzBatchedCall *call, const CeedInt size[RITZ_NUM_DIMS],
                                   const int *form, RitzDeviceArg args[RITZ_GPU_BATCH_ARGS]) {
  const Common common = {.alpha = bits_of(call->alpha), .beta = bits_of(call->beta), .bound = size};
  list_common(call, &common, args);
  for (int i = 0; i < RITZ_BATCHED_MAX_OPERANDS; i++)
    list_operand(&call->operand[i], form[i], &args[COMMON_ARGS + i * OPERAND_ARGS]);
}

// Sizes of the operation -> those of its kernel.
static void list_sizes(const RitzBatched b, const RitzBatchedCall *call,
                       const int32_t *sizes[RITZ_NUM_DIMS]) {
  RitzBatchDim dim[RITZ_NUM_DIMS];
  ritz_gpu_batched_dims(b, dim);
  for (int d = 0; d < RITZ_NUM_DIMS; d++) sizes[d] = dim[d] == RITZ_DIM_ONE ? NULL : call->sizes[dim[d]];
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

static int launch(RitzBatched b, Kernel *kernel, int64_t most_blocks, int64_t count, int num_args,
                  const RitzDeviceArg *args) {
  const RitzGpuBatched *plan = &kernel->plan;
  const int64_t blocks = ritz_gpu_batched_blocks(plan, count);
  if (blocks == 0) return CEED_ERROR_SUCCESS; // matrices without entries
  RITZ_TRY(describe_kernel(b, kernel));
  // Blocks that bring their next part meanwhile: as many as the device holds.
  if (plan->has_blocks && plan->warp_rows)
    most_blocks = (int64_t)plan->num_resident * ritz_gpu(b->ceed)->info->num_units;
  return ritz_gpu_launch(b->ceed, &kernel->kernel, NULL, blocks < most_blocks ? blocks : most_blocks,
                         plan->num_threads, plan->shared_bytes, num_args, args);
}

// The largest matrices first. The host does not know how many are in a class: blocks take several turns.
static int launch_classes(RitzBatched b, const RitzBatchedCall *call, int num_args, RitzDeviceArg *args) {
  enum { TURNS = 8 };
  Batch *data = b->data;
  RitzGpuClasses *classes = call->is_analyzed ? &data->analyzed : &data->own;
  const int last = data->num_classes - 1, num_units = ritz_gpu(b->ceed)->info->num_units;
  if (!call->is_analyzed) RITZ_TRY(sort(b, call->count, call->sizes, classes));
  const int64_t most_blocks = last_plan(b)->room ? count_rooms(b, call->count) : MOST_BLOCKS;
  if (classes->first == last) return launch(b, &data->ragged[last], most_blocks, call->count, num_args, args);
  for (int c = last; c >= classes->first; c--) {
    const RitzGpuBatched *plan = &data->ragged[c].plan;
    const int resident = plan->num_resident > 0 ? plan->num_resident : 2;
    args[MEMBERS_ARG] = (RitzDeviceArg)RITZ_POINTER(classes->members.numbers);
    args[MEMBERS_ARG + 1] = (RitzDeviceArg)RITZ_POINTER(classes->ranges);
    args[MEMBERS_ARG + 2] = (RitzDeviceArg)RITZ_INT(c);
    RITZ_TRY(launch(b, &data->ragged[c], (int64_t)TURNS * resident * num_units, call->count, num_args, args));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_batched_run(RitzBatched b, const RitzBatchedCall *call) {
  Batch *data = b->data;
  if (ritz_gpu_pair_serves(b->operation)) return ritz_gpu_pair_run(b, call);
  const bool swaps = b->operation == RITZ_BATCHED_LASWP;
  const int32_t *sizes[RITZ_NUM_DIMS];
  RITZ_TRY(check_pointers(b, call));
  list_sizes(b, call, sizes);
  const Common common = {.alpha = swaps ? call->k1 : bits_of(call->alpha),
                         .beta = swaps ? call->k2 : bits_of(call->beta),
                         .bound = data->uniform.plan.size,
                         .sizes = sizes,
                         .ipiv_stride = b->ipiv_stride,
                         .options = swaps ? call->is_back : data->options};
  RitzDeviceArg args[RITZ_GPU_BATCH_ARGS];
  const int num_args = sizeof(args) / sizeof(args[0]);
  list_common(call, &common, args);
  RitzBatchOperand operands[RITZ_BATCHED_MAX_OPERANDS];
  memcpy(operands, call->operand, sizeof(operands));
  RITZ_TRY(find_room(b, call->count, &operands[2]));
  for (int i = 0; i < RITZ_BATCHED_MAX_OPERANDS; i++)
    list_operand(&operands[data->operand[i]], data->form[i], &args[COMMON_ARGS + i * OPERAND_ARGS]);
  if (knows_sizes(&data->uniform) && call->is_uniform)
    return launch(b, &data->uniform, MOST_BLOCKS, call->count, num_args, args);
  return launch_classes(b, call, num_args, args);
}

// ---- For people ----

static void explain_blocks(const char *calls, const RitzGpuBatched *p, FILE *stream) {
  if (p->kind == RITZ_BATCH_PRODUCT && p->size[RITZ_DIM_N] == 1)
    fprintf(stream, "  %s: a block of %d threads a matrix, the column in shared memory\n", calls,
            p->num_threads);
  else if (p->kind == RITZ_BATCH_PRODUCT)
    fprintf(stream, "  %s: parts of %d x %d entries, blocks of %d threads\n", calls,
            (p->warp_rows ? p->warp_rows : 32) * p->tile_rows,
            (p->warp_cols ? p->warp_cols : 32) * p->tile_cols, p->num_threads);
  else if (p->kind == RITZ_BATCH_SOLVE)
    fprintf(stream, "  %s: up to 32 right-hand sides in shared memory, blocks of %d threads\n", calls,
            p->num_threads);
  else
    fprintf(stream, "  %s: blocks of columns, a block of %d threads a matrix, %s\n", calls, p->num_threads,
            p->holds ? "in shared memory" : "in global memory");
}

static void explain_tiles(const char *calls, const RitzGpuBatched *p, FILE *stream) {
  if (p->size[RITZ_DIM_M] < 1 || p->size[RITZ_DIM_N] < 1)
    fprintf(stream, "  %s: nothing to do\n", calls);
  else if (p->is_in_memory)
    fprintf(stream, "  %s: a column a thread, in global memory, blocks of %d\n", calls, p->num_threads);
  else
    fprintf(stream, "  %s: tiles of %d x %d entries of %d matrices, blocks of %d threads\n", calls,
            p->tile[0], p->tile[1], p->tile[2], p->num_threads);
}

static void explain_kernel(const char *calls, const RitzGpuBatched *p, FILE *stream) {
  static const char *const designs[] = {
      "in global memory", "a row a thread", "a row a thread, steps in stages",
      "by tensor cores",  "by reflectors",  "by rotations",
      "a column a thread"};
  if (p->has_tiles)
    explain_tiles(calls, p, stream);
  else if (p->num_lanes)
    fprintf(stream, "  %s: %s, a block of %d threads a matrix, in %s memory\n", calls, designs[p->design],
            p->num_threads, p->holds ? "shared" : "global");
  else if (p->has_rows || p->design == RITZ_BATCH_COLUMNS)
    fprintf(stream, "  %s: %s, %d threads a matrix, blocks of %d, %d or more on a multiprocessor\n", calls,
            designs[p->design], p->group, p->num_threads, p->num_resident);
  else if (!p->has_blocks)
    fprintf(stream, "  %s: a block of %d threads a matrix, %s\n", calls, p->num_threads, designs[p->design]);
  else
    explain_blocks(calls, p, stream);
}

int ritz_gpu_batched_explain(RitzBatched b, FILE *stream) {
  const Batch *data = b->data;
  if (ritz_gpu_pair_serves(b->operation)) return ritz_gpu_pair_explain(b, stream);
  const bool has_sizes = knows_sizes(&data->uniform);
  const int last = data->num_classes - 1;
  if (has_sizes) explain_kernel("uniform", &data->uniform.plan, stream);
  for (int c = 0; c < last && has_classes(data); c++) {
    char name[64];
    snprintf(name, sizeof(name), "non-uniform, m, n, k up to %d, %d, %d",
             (int)data->ragged[c].plan.size[RITZ_DIM_M], (int)data->ragged[c].plan.size[RITZ_DIM_N],
             (int)data->ragged[c].plan.size[RITZ_DIM_K]);
    explain_kernel(name, &data->ragged[c].plan, stream);
  }
  explain_kernel(has_sizes ? "non-uniform" : "all", &data->ragged[last].plan, stream);
  return CEED_ERROR_SUCCESS;
}
