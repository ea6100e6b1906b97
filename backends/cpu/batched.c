// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra (contract in core/batched.h) by generated kernels (emit/batched.c,
// kernels/cpu/batched.h, batched-large.h): their code and arguments, threads. Called through the table of the
// backend. The loops of the reference backend, over all threads, serve other operations, empty sizes and,
// with a warning, all where there is no compiler.
//
// Groups of RITZ_LANES matrices are computed alike, lane by lane, large matrices one by one, and a thread has
// groups or matrices that follow each other. Matrices of non-uniform batches that are smaller than the bounds
// and small enough have a kernel of their own for all such sizes, in which matrices of one class share a
// group (backends/cpu/batched-order.c); the others have that of uniform batches. So results do not depend on
// place, count, company and number of threads.
#include "core/batched.h"

#include <string.h>

#include "backends/cpu/batched-order.h"
#include "backends/cpu/cpu.h"
#include "backends/ref/ref.h"
#include "emit/emit.h"
#include "kernels/cpu/batched-abi.h"

// Fewer entries than this are not worth waking threads for.
enum { LEAST_ENTRIES = 1 << 14 };

// One kernel.
typedef struct {
  bool is_large; // takes large matrices
  char *text;    // owned; NULL: not made yet
  RitzJitKernel code;
  bool is_delegated;              // there is no code
  RitzBatchedKernel kernel;       // NULL: not taken from the code yet
  RitzBatchedWorkBytes num_bytes; // of large ones
} Part;

// b->data
typedef struct {
  CeedInt lanes;
  bool has_kernels;       // operation and sizes are those of kernels
  Part main, smaller;     // of matrices as large as the bounds or large; of others, when they first come
  RitzBatchedArgs args;   // what all calls have in common
  RitzBatchedOrder order; // of the sizes that were analyzed
} RitzCpuBatched;

static void release(Part *part) {
  ritz_jit_kernel_release(&part->code);
  RITZ_FREE(&part->text);
}

int ritz_cpu_batched_destroy(RitzBatched b) {
  RitzCpuBatched *data = b->data;

  if (!data) return CEED_ERROR_SUCCESS;
  release(&data->main);
  release(&data->smaller);
  ritz_cpu_batched_order_free(&data->order);
  RITZ_FREE(&data);
  b->data = NULL;
  return CEED_ERROR_SUCCESS;
}

// ---- Arguments ----

// Triangles of a solve in the order in which they are solved.
static void set_triangles(const RitzBatched b, RitzBatchedArgs *args) {
  const RitzBatchedOptions *o = &b->options;
  const bool ta = o->trans_a == CEED_TRANSPOSE, is_lower = o->uplo == RITZ_TRIANGLE_LOWER;
  const bool is_left = o->side == RITZ_SIDE_LEFT;
  const RitzBatchedTriangle L = {true, ta, true}, U = {false, ta, false};

  args->num_triangles = 2;
  switch (b->operation) {
  case RITZ_BATCHED_GESV:
  case RITZ_BATCHED_GETRS:
    args->triangle[0] = ta ? U : L;
    args->triangle[1] = ta ? L : U;
    args->permutes_after = ta;
    break;
  case RITZ_BATCHED_POSV:
  case RITZ_BATCHED_POTRS:
    args->triangle[0] = (RitzBatchedTriangle){is_lower, !is_lower, false};
    args->triangle[1] = (RitzBatchedTriangle){is_lower, is_lower, false};
    break;
  default: // of X op(A) = B, or B op(A), the transposed one
    args->num_triangles = 1;
    args->triangle[0] = (RitzBatchedTriangle){is_lower, ta == is_left, o->diag == RITZ_DIAGONAL_UNIT};
  }
}

static void set_arguments(const RitzBatched b, RitzBatchedArgs *args) {
  args->trans_a = b->options.trans_a == CEED_TRANSPOSE;
  args->trans_b = b->options.trans_b == CEED_TRANSPOSE;
  args->is_upper = b->options.uplo == RITZ_TRIANGLE_UPPER;
  args->has_pivots = b->form.has_pivots || b->operation == RITZ_BATCHED_INV;
  args->is_factored = b->operation == RITZ_BATCHED_GETRI;
  args->ipiv_stride = b->ipiv_stride;
  args->is_right = b->options.side == RITZ_SIDE_RIGHT;
  args->is_back = args->is_right == args->trans_a;
  if (args->kind == RITZ_KIND_APPLY_Q) args->trans_a = false; // A is Q, as it is stored
  set_triangles(b, args);
  for (int d = 0; d < RITZ_NUM_DIMS; d++) args->bounds[d] = b->size[d];
}

// Whether entries are used more often than they are read.
static bool is_cubic(const RitzBatched b) {
  const CeedInt columns = b->options.side == RITZ_SIDE_LEFT ? b->size[RITZ_DIM_N] : b->size[RITZ_DIM_M];

  switch (b->operation) {
  case RITZ_BATCHED_GEMV:
  case RITZ_BATCHED_SYMV:
  case RITZ_BATCHED_TRSV: return false;
  case RITZ_BATCHED_POTRS:
  case RITZ_BATCHED_GETRS: return b->size[RITZ_DIM_K] > 4;
  case RITZ_BATCHED_TRMM:
  case RITZ_BATCHED_TRSM: return columns > 4;
  default: return true;
  }
}

// Interleaved data of the vectors' width are used where they are, unless vectors cross lines of the cache or
// columns share few of its sets: then groups are copied, where that pays. Right sides of systems are kept
// where a factorization fails.
static bool is_in_place(const RitzBatched b, const RitzBatchOperand *o, bool is_first, CeedInt lanes) {
  const size_t bytes = (size_t)lanes * ritz_scalar_bytes(b->precision);
  const bool is_fast = (uintptr_t)o->base % bytes == 0 && (o->ld <= 16 || o->ld % 16 != 0);

  if (!is_first && (b->operation == RITZ_BATCHED_GESV || b->operation == RITZ_BATCHED_POSV)) return false;
  return o->width == lanes && (is_fast || !is_cubic(b));
}

static void set_call(const RitzBatched b, const RitzBatchedCall *call, RitzBatchedArgs *args) {
  const RitzCpuBatched *data = b->data;

  args->count = call->count;
  args->alpha = call->alpha;
  args->beta = call->beta;
  args->is_uniform = call->is_uniform;
  args->ipiv = call->ipiv;
  args->info = call->info;
  for (int d = 0; d < RITZ_NUM_DIMS; d++) args->sizes[d] = call->sizes[d];
  for (CeedInt i = 0; i < b->form.num_operands; i++) {
    const RitzBatchOperand *o = &call->operand[i];

    args->operand[i] = (RitzBatchedPlaces){.base = o->base,
                                           .pointers = o->pointers,
                                           .offsets = o->offsets,
                                           .lds = o->lds,
                                           .first_rows = o->first_rows,
                                           .first_cols = o->first_cols,
                                           .row0 = o->row0,
                                           .col0 = o->col0,
                                           .ld = o->ld,
                                           .stride = o->stride,
                                           .width = o->width,
                                           .rows = b->form.operand[i].rows,
                                           .cols = b->form.operand[i].cols,
                                           .is_in_place = is_in_place(b, o, i == 0, data->lanes)};
  }
  for (CeedInt i = b->form.num_operands; i < 3; i++) args->operand[i] = (RitzBatchedPlaces){0};
}

// ---- Code ----

static RitzJitOrder describe_cpu_batched(Part *part) {
  return (
      RitzJitOrder){.source = {.name = "batched", .text = part->text}, .kernel = &part->code, .waits = true};
}

// Whether a group of matrices of the bounds is one of vectors; else they are large.
static bool is_small(const RitzBatched b) {
  for (int d = 0; d < RITZ_NUM_DIMS; d++) {
    if (b->size[d] > RITZ_BATCHED_SMALL) return false;
  }
  return true;
}

// The kind of kernels that compute an operation; false: none do.
static bool find_kind(RitzBatchedOperation operation, RitzBatchedKind *kind) {
  switch (operation) {
  case RITZ_BATCHED_GEMM:
  case RITZ_BATCHED_GEMV: *kind = RITZ_KIND_PRODUCT; return true;
  case RITZ_BATCHED_POTRF: *kind = RITZ_KIND_CHOLESKY; return true;
  case RITZ_BATCHED_GETRF: *kind = RITZ_KIND_LU; return true;
  case RITZ_BATCHED_POTRS:
  case RITZ_BATCHED_GETRS:
  case RITZ_BATCHED_TRSM:
  case RITZ_BATCHED_TRSV: *kind = RITZ_KIND_SOLVE; return true;
  case RITZ_BATCHED_GETRI:
  case RITZ_BATCHED_INV: *kind = RITZ_KIND_INVERSE; return true;
  case RITZ_BATCHED_SYMM:
  case RITZ_BATCHED_SYMV: *kind = RITZ_KIND_SYMMETRIC; return true;
  case RITZ_BATCHED_SYRK: *kind = RITZ_KIND_RANK_UPDATE; return true;
  case RITZ_BATCHED_TRMM: *kind = RITZ_KIND_TRIANGULAR; return true;
  case RITZ_BATCHED_GESV: *kind = RITZ_KIND_LU_SYSTEM; return true;
  case RITZ_BATCHED_POSV: *kind = RITZ_KIND_SPD_SYSTEM; return true;
  case RITZ_BATCHED_GEQRF: *kind = RITZ_KIND_QR; return true;
  case RITZ_BATCHED_ORMQR: *kind = RITZ_KIND_APPLY_Q; return true;
  case RITZ_BATCHED_ORGQR: *kind = RITZ_KIND_FORM_Q; return true;
  case RITZ_BATCHED_GELS: *kind = RITZ_KIND_LEAST_SQUARES; return true;
  default: return false;
  }
}

// Whether there is a kernel for such large matrices.
static bool serves_large(RitzBatchedKind kind) { return kind < RITZ_KIND_QR; }

static int begin_code(RitzBatched b) {
  RitzCpuBatched *data = b->data;
  RitzCpuMachine machine;
  RitzPlanOptions options;

  ritz_cpu_environment(b->precision, &machine, &options);
  data->lanes = machine.lanes;
  data->has_kernels =
      find_kind(b->operation, &data->args.kind) && (is_small(b) || serves_large(data->args.kind));
  for (int d = 0; d < RITZ_NUM_DIMS; d++) data->has_kernels = data->has_kernels && b->size[d] > 0;
  if (!data->has_kernels) return CEED_ERROR_SUCCESS;
  set_arguments(b, &data->args);
  data->main.is_large = !is_small(b);
  RITZ_TRY(ritz_emit_cpu_batched(b, data->main.is_large ? RITZ_BATCHED_OF_LARGE : RITZ_BATCHED_OF_SHAPE,
                                 data->lanes, &data->main.text));
  const RitzJitOrder order = describe_cpu_batched(&data->main);
  return ritz_jit_kernels_begin(b->ceed, 1, &order);
}

int ritz_cpu_batched_prepare(RitzBatched b) {
  RitzCpuBatched *data = NULL;

  RITZ_TRY(RITZ_CALLOC(b->ceed, 1, &data));
  b->data = data;
  return begin_code(b);
}

static int finish_code(RitzBatched b, Part *part) {
  const RitzCpuBatched *data = b->data;
  const RitzCpuSymbols symbols = {"batched dense algebra", RITZ_BATCHED_SYMBOL, RITZ_BATCHED_INFO_SYMBOL,
                                  RITZ_BATCHED_ABI, data->lanes};
  void *symbol, *num_bytes;

  if (part->kernel || part->is_delegated) return CEED_ERROR_SUCCESS;
  if (!part->text) RITZ_TRY(ritz_emit_cpu_batched(b, RITZ_BATCHED_OF_CLASSES, data->lanes, &part->text));
  const RitzJitOrder order = describe_cpu_batched(part);
  RITZ_TRY(ritz_cpu_finish_code(b->ceed, &order, &symbols, &symbol));
  part->is_delegated = !symbol;
  if (!symbol) return CEED_ERROR_SUCCESS;
  if (part->is_large) {
    num_bytes = ritz_jit_symbol(part->code.module, RITZ_BATCHED_WORK_SYMBOL);
    memcpy(&part->num_bytes, &num_bytes, sizeof(num_bytes));
  }
  memcpy(&part->kernel, &symbol, sizeof(symbol)); // C converts no object pointer into a function pointer
  return CEED_ERROR_SUCCESS;
}

// ---- Calls ----

typedef struct {
  const RitzCpu *cpu;
  RitzBatchedKernel kernel;
  RitzBatchedArgs args;
  int64_t num_groups; // or large matrices
  int num_threads;    // that have groups
} Run;

static int run_thread(void *data, int thread) {
  const Run *run = data;
  RitzBatchedArgs args = run->args;

  if (thread >= run->num_threads) return CEED_ERROR_SUCCESS;
  args.work = run->cpu->work[thread];
  run->kernel(&args, run->num_groups * thread / run->num_threads,
              run->num_groups * (thread + 1) / run->num_threads);
  return CEED_ERROR_SUCCESS;
}

static double count_entries(const RitzBatched b, int64_t count) {
  double entries = 0;

  for (CeedInt i = 0; i < b->form.num_operands; i++) {
    const RitzBatchLayout *layout = ritz_batched_layout(&b->options, i);
    entries += (double)layout->m * layout->n * (double)count;
  }
  return entries;
}

static int count_threads(const RitzBatched b, const RitzCpu *cpu, int64_t count, int64_t num_groups) {
  if (count_entries(b, count) < LEAST_ENTRIES) return 1;
  return num_groups < cpu->num_threads ? (int)num_groups : cpu->num_threads;
}

// args->count places, and the order that they have. largest: bounds of large matrices.
static int run_part(RitzBatched b, const Part *part, const RitzBatchedArgs *args, const int32_t *largest) {
  const RitzCpuBatched *data = b->data;
  Run run = {.cpu = b->ceed->data, .kernel = part->kernel, .args = *args, .num_threads = 1};

  if (args->count == 0) return CEED_ERROR_SUCCESS;
  run.num_groups = part->is_large ? args->count : (args->count + data->lanes - 1) / data->lanes;
  if (part->is_large) {
    RitzBatchedArgs bounded = *args;

    for (int d = 0; d < RITZ_NUM_DIMS; d++) bounded.bounds[d] = largest[d];
    RITZ_TRY(ritz_cpu_reserve_work(b->ceed, part->num_bytes(&bounded)));
  }
  run.num_threads = count_threads(b, run.cpu, args->count, run.num_groups);
  if (run.num_threads > 1) return ritz_team_run(run.cpu->team, run_thread, &run);
  return run_thread(&run, 0);
}

// A call in the loops of the reference backend.
typedef struct {
  RitzBatched b;
  const RitzBatchedCall *call;
  int num_threads; // that have matrices
} LoopRun;

static int run_loops_thread(void *data, int thread) {
  const LoopRun *run = data;
  const RitzCpu *cpu = run->b->ceed->data;
  const int64_t count = run->call->count;

  if (thread >= run->num_threads) return CEED_ERROR_SUCCESS;
  ritz_ref_batched_run_part(run->b, run->call, count * thread / run->num_threads,
                            count * (thread + 1) / run->num_threads, cpu->work[thread]);
  return CEED_ERROR_SUCCESS;
}

static int run_loops(RitzBatched b, const RitzBatchedCall *call) {
  const RitzCpu *cpu = b->ceed->data;
  LoopRun run = {b, call, count_threads(b, cpu, call->count, call->count)};

  RITZ_TRY(ritz_cpu_reserve_work(b->ceed, (int64_t)ritz_ref_batched_work_bytes(b)));
  if (run.num_threads > 1) return ritz_team_run(cpu->team, run_loops_thread, &run);
  return run_loops_thread(&run, 0);
}

// Matrices with sizes of their own.
static int run_ordered(RitzBatched b, const RitzBatchedCall *call, const RitzBatchedOrder *order,
                       RitzBatchedArgs *args) {
  RitzCpuBatched *data = b->data;

  if (order->num_smaller > 0) RITZ_TRY(finish_code(b, &data->smaller));
  if (data->smaller.is_delegated) return run_loops(b, call);
  args->is_uniform = false;
  args->order = order->places;
  args->count = order->num_main;
  RITZ_TRY(run_part(b, &data->main, args, order->largest));
  args->order = order->places + order->num_main;
  args->count = order->num_smaller;
  return run_part(b, &data->smaller, args, order->largest);
}

static bool has_sizes(const RitzBatchedCall *call) {
  return call->sizes[RITZ_DIM_M] || call->sizes[RITZ_DIM_N] || call->sizes[RITZ_DIM_K];
}

static int make_order(RitzBatched b, int64_t count, const int32_t *const *sizes, RitzBatchedOrder *order) {
  const RitzCpuBatched *data = b->data;
  return ritz_cpu_batched_order(b, data->lanes, data->main.is_large, count, sizes, order);
}

int ritz_cpu_batched_analyze(RitzBatched b, int64_t count, const int32_t *const sizes[3]) {
  RitzCpuBatched *data = b->data;

  ritz_cpu_batched_order_free(&data->order);
  return data->has_kernels ? make_order(b, count, sizes, &data->order) : CEED_ERROR_SUCCESS;
}

int ritz_cpu_batched_run(RitzBatched b, const RitzBatchedCall *call) {
  RitzCpuBatched *data = b->data;
  RitzBatchedArgs args = data->args;
  RitzBatchedOrder order = {0};

  if (!data->has_kernels) return run_loops(b, call);
  RITZ_TRY(finish_code(b, &data->main));
  if (data->main.is_delegated) return run_loops(b, call);
  set_call(b, call, &args);
  if (!has_sizes(call)) return run_part(b, &data->main, &args, data->args.bounds);
  if (call->is_analyzed) return run_ordered(b, call, &data->order, &args);
  RITZ_TRY(make_order(b, call->count, call->sizes, &order));
  for (int64_t i = 0; i < call->count && order.num_bad > 0 && call->info; i++)
    call->info[i] = ritz_cpu_batched_bad_size(b, call->sizes, i);
  const int ierr = run_ordered(b, call, &order, &args);
  ritz_cpu_batched_order_free(&order);
  return ierr;
}

int ritz_cpu_batched_explain(RitzBatched b, FILE *stream) {
  RitzCpuBatched *data = b->data;

  if (!data->has_kernels) {
    RitzBatchedKind kind;
    const char *reason = "no kernel: sizes are not 1 or more";

    if (!find_kind(b->operation, &kind))
      reason = "no kernels of this operation";
    else if (!is_small(b) && !serves_large(kind))
      reason = "no kernels of this operation for matrices so large";
    fprintf(stream, "  %s\n", reason);
    return ritz_ref_batched_explain(b, stream);
  }
  RITZ_TRY(finish_code(b, &data->main));
  if (data->main.is_delegated) {
    fprintf(stream, "  no kernel: %s\n", ritz_jit_reason(data->main.code.module));
    return ritz_ref_batched_explain(b, stream);
  }
  if (data->main.is_large) {
    fprintf(stream, "  a kernel generated for large matrices, one at a time\n");
    return CEED_ERROR_SUCCESS;
  }
  fprintf(stream, "  a kernel generated for these sizes, %d matrices at a time\n", (int)data->lanes);
  for (CeedInt i = 0; i < b->form.num_operands; i++) {
    const CeedInt width = ritz_batched_layout(&b->options, i)->width;
    fprintf(stream, "  %c: %s\n", (char)('A' + i),
            width == data->lanes ? "interleaved as vectors" : "packed");
  }
  return CEED_ERROR_SUCCESS;
}
