// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra (contract in core/batched.h) by generated kernels (emit/batched.c,
// kernels/cpu/batched.h): their code and arguments, threads. Called through the table of the backend. The
// reference backend serves operations and sizes beyond those of kernels and, with a warning, all where there
// is no compiler.
//
// Groups of RITZ_LANES matrices are computed alike, lane by lane, and a thread has groups that follow each
// other: results do not depend on place, count and number of threads.
#include "core/batched.h"

#include <string.h>

#include "backends/cpu/cpu.h"
#include "backends/ref/ref.h"
#include "emit/emit.h"
#include "kernels/cpu/batched-abi.h"

// Fewer entries than this are not worth waking threads for.
enum { LEAST_ENTRIES = 1 << 14 };

// b->data
typedef struct {
  CeedInt lanes;
  char *text; // owned; NULL: the operation or its sizes have no kernels
  RitzCpuCode code;
  bool is_delegated;        // there is no code
  RitzBatchedKernel kernel; // NULL: not taken from the code yet
  RitzBatchedArgs args;     // what all calls have in common
} RitzCpuBatched;

int ritz_cpu_batched_destroy(RitzBatched b) {
  RitzCpuBatched *data = b->data;

  if (!data) return CEED_ERROR_SUCCESS;
  ritz_cpu_release_code(&data->code);
  RITZ_FREE(&data->text);
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
  case RITZ_BATCHED_GETRS:
    args->triangle[0] = ta ? U : L;
    args->triangle[1] = ta ? L : U;
    args->permutes_after = ta;
    break;
  case RITZ_BATCHED_POTRS:
    args->triangle[0] = (RitzBatchedTriangle){is_lower, !is_lower, false};
    args->triangle[1] = (RitzBatchedTriangle){is_lower, is_lower, false};
    break;
  default: // of X op(A) = B the transposed system
    args->num_triangles = 1;
    args->is_right = !is_left;
    args->triangle[0] = (RitzBatchedTriangle){is_lower, ta == is_left, o->diag == RITZ_DIAGONAL_UNIT};
  }
}

static void set_arguments(const RitzBatched b, RitzBatchedArgs *args) {
  const bool is_factorization = b->operation == RITZ_BATCHED_GETRF;

  args->trans_a = b->options.trans_a == CEED_TRANSPOSE;
  args->trans_b = b->options.trans_b == CEED_TRANSPOSE;
  args->is_upper = b->options.uplo == RITZ_TRIANGLE_UPPER;
  args->has_pivots = b->form.has_pivots || b->operation == RITZ_BATCHED_INV;
  args->is_factored = b->operation == RITZ_BATCHED_GETRI;
  args->ipiv_stride = b->ipiv_stride;
  if (!is_factorization) set_triangles(b, args);
  for (int d = 0; d < RITZ_NUM_DIMS; d++) args->bounds[d] = b->size[d];
}

// Whether entries are used more often than they are read.
static bool is_cubic(const RitzBatched b) {
  const CeedInt columns = b->options.side == RITZ_SIDE_LEFT ? b->size[RITZ_DIM_N] : b->size[RITZ_DIM_M];

  switch (b->operation) {
  case RITZ_BATCHED_GEMV:
  case RITZ_BATCHED_TRSV: return false;
  case RITZ_BATCHED_POTRS:
  case RITZ_BATCHED_GETRS: return b->size[RITZ_DIM_K] > 4;
  case RITZ_BATCHED_TRSM: return columns > 4;
  default: return true;
  }
}

// Interleaved data of the vectors' width are used where they are, unless vectors cross lines of the cache or
// columns share few of its sets: then groups are copied, where that pays.
static bool is_in_place(const RitzBatched b, const RitzBatchOperand *o, CeedInt lanes) {
  const size_t bytes = (size_t)lanes * ritz_scalar_bytes(b->precision);
  const bool is_fast = (uintptr_t)o->base % bytes == 0 && (o->ld <= 16 || o->ld % 16 != 0);

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
                                           .is_in_place = is_in_place(b, o, data->lanes)};
  }
}

// ---- Code ----

static RitzJitSource describe(const RitzCpuBatched *data) {
  return (RitzJitSource){.name = "batched", .text = data->text, .language = RITZ_JIT_C};
}

static bool has_kernel(RitzBatchedOperation operation) { return operation <= RITZ_BATCHED_TRSV; }

static int begin_code(RitzBatched b) {
  RitzCpuBatched *data = b->data;
  RitzCpuMachine machine;
  RitzPlanOptions options;

  ritz_cpu_environment(b->precision, &machine, &options);
  data->lanes = machine.lanes;
  if (!has_kernel(b->operation)) return CEED_ERROR_SUCCESS;
  set_arguments(b, &data->args);
  RITZ_TRY(ritz_emit_cpu_batched(b, machine.lanes, &data->text));
  if (!data->text) return CEED_ERROR_SUCCESS;
  const RitzJitSource source = describe(data);
  return ritz_jit_begin(b->ceed, 1, &source, &data->code.batch);
}

int ritz_cpu_batched_prepare(RitzBatched b) {
  RitzCpuBatched *data = NULL;

  RITZ_TRY(RITZ_CALLOC(b->ceed, 1, &data));
  b->data = data;
  return begin_code(b);
}

// The kernel of the module; NULL: none of our kind.
static RitzBatchedKernel find_kernel(const RitzCpuBatched *data, int64_t *work_bytes) {
  const RitzBatchedInfo *info = ritz_jit_symbol(data->code.module, RITZ_BATCHED_INFO_SYMBOL);
  void *symbol = ritz_jit_symbol(data->code.module, RITZ_BATCHED_SYMBOL);
  RitzBatchedKernel kernel = NULL;

  if (!info || info->abi != RITZ_BATCHED_ABI || info->lanes != data->lanes) return NULL;
  memcpy(&kernel, &symbol, sizeof(symbol)); // C converts no object pointer into a function pointer
  *work_bytes = info->work_bytes;
  return kernel;
}

static int finish_code(RitzBatched b) {
  RitzCpuBatched *data = b->data;
  int64_t work_bytes = 0;

  if (data->kernel || data->is_delegated) return CEED_ERROR_SUCCESS;
  if (data->code.batch) data->code.module = ritz_jit_take(data->code.batch, data->code.number);
  ritz_jit_batch_release(&data->code.batch);
  if (!data->code.module) {
    const RitzJitSource source = describe(data);
    RITZ_TRY(ritz_jit_load(b->ceed, 1, &source, &data->code.module));
  }
  const RitzBatchedKernel kernel = find_kernel(data, &work_bytes);
  if (kernel) RITZ_TRY(ritz_cpu_reserve_work(b->ceed, work_bytes));
  if (!kernel)
    RITZ_TRY(ritz_cpu_delegate(b->ceed, "batched dense algebra", ritz_jit_reason(data->code.module)));
  data->kernel = kernel;
  data->is_delegated = !kernel;
  return CEED_ERROR_SUCCESS;
}

// ---- Calls ----

typedef struct {
  const RitzCpu *cpu;
  RitzBatchedKernel kernel;
  RitzBatchedArgs args;
  int64_t num_groups;
  int num_threads; // that have groups
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

int ritz_cpu_batched_run(RitzBatched b, const RitzBatchedCall *call) {
  RitzCpuBatched *data = b->data;

  if (!data->text) return ritz_ref_batched_run(b, call);
  RITZ_TRY(finish_code(b));
  if (data->is_delegated) return ritz_ref_batched_run(b, call);
  Run run = {.cpu = b->ceed->data, .kernel = data->kernel, .args = data->args, .num_threads = 1};
  run.num_groups = call->count / data->lanes + (call->count % data->lanes > 0);
  if (count_entries(b, call->count) >= LEAST_ENTRIES)
    run.num_threads = run.num_groups < run.cpu->num_threads ? (int)run.num_groups : run.cpu->num_threads;
  set_call(b, call, &run.args);
  if (run.num_threads > 1) return ritz_team_run(run.cpu->team, run_thread, &run);
  return run_thread(&run, 0);
}

int ritz_cpu_batched_explain(RitzBatched b, FILE *stream) {
  const RitzCpuBatched *data = b->data;

  if (!data->text) {
    if (has_kernel(b->operation))
      fprintf(stream, "  no kernel: sizes are not 1 to %d\n", (int)RITZ_EMIT_BATCHED_MAX);
    else
      fprintf(stream, "  no kernels of this operation\n");
    return ritz_ref_batched_explain(b, stream);
  }
  RITZ_TRY(finish_code(b));
  if (data->is_delegated) {
    fprintf(stream, "  no kernel: %s\n", ritz_jit_reason(data->code.module));
    return ritz_ref_batched_explain(b, stream);
  }
  fprintf(stream, "  a kernel generated for these sizes, %d matrices at a time\n", (int)data->lanes);
  for (CeedInt i = 0; i < b->form.num_operands; i++) {
    const CeedInt width = ritz_batched_layout(&b->options, i)->width;
    fprintf(stream, "  %c: %s\n", (char)('A' + i),
            width == data->lanes ? "interleaved as vectors" : "packed");
  }
  return CEED_ERROR_SUCCESS;
}
