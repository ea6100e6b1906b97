// SPDX-License-Identifier: BSD-2-Clause
// Diagonals of operators, and columns of their point blocks, by kernels of their own (plan/diagonal.h,
// plan/point-blocks.h), with schedule and threads of the apply. Called through the table of the backend. What
// has no such kernel is walked through ahead of time (unfused-diagonal.c), or left to the reference backend.
#include "backends/cpu/cpu.h"
#include "backends/ref/ref.h"
#include "emit/emit.h"
#include "plan/point-blocks.h"

struct RitzCpuDiagonal {
  bool is_column;         // of point blocks; else the diagonal
  RitzBlockNodes nodes;   // of columns
  RitzDiagonalPlan *plan; // owned; NULL: the reference backend does it
  RitzCpuTarget *target;  // owned, with the plan
  char *reason;           // owned: why no generated kernel does it; else NULL
  bool is_walked;         // by the ahead-of-time kernel
  RitzUnfusedDiagonal unfused;
  RitzCpuTier *tier; // whose plan, spaces and schedule it has: of a walk that ahead of time
  RitzKernel kernel;
  RitzKernelSpace *spaces; // owned: those of the plan, then the diagonal
  RitzKernelArgs *args;    // owned, one a thread
};

static void free_plan(RitzCpuDiagonal *d) {
  ritz_plan_cpu_free(&d->target);
  ritz_plan_free_diagonal(&d->plan);
}

void ritz_cpu_diagonal_destroy(RitzCpuDiagonal **diagonal) {
  RitzCpuDiagonal *d = *diagonal;
  if (!d) return;
  free_plan(d);
  RITZ_FREE(&d->reason);
  RITZ_FREE(&d->spaces);
  RITZ_FREE(&d->args);
  RITZ_FREE(diagonal);
}

// ---- Plan ----

// The code of the operator's diagonal, or column of point blocks.
static RitzJitKernel *kernel_of(RitzCpuTier *tier, bool is_column) {
  return &tier->kernels[is_column ? RITZ_CPU_POINT_BLOCKS : RITZ_CPU_DIAGONAL];
}

// Blocks of one component are the diagonal.
static int has_columns(CeedOperator op, bool is_point_block, bool *is_column) {
  CeedInt num_comp = 0;
  if (is_point_block) RITZ_TRY(ritz_plan_block_components(op, &num_comp));
  *is_column = num_comp > 1;
  return CEED_ERROR_SUCCESS;
}

static int why_no_diagonal(CeedOperator op, const RitzCpuTier *tier, bool is_column, const char **reason) {
  RITZ_TRY((is_column ? ritz_plan_refuse_point_blocks : ritz_plan_refuse_diagonal)(op, reason));
  if (!*reason && tier->path != RITZ_PATH_TEXT)
    *reason = "the operator's kernel does not hold the text of its QFunction";
  return CEED_ERROR_SUCCESS;
}

// Reasons against a kernel, and against a walk, that are known before the operator is prepared; NULL: there
// may be one.
static int refuse_diagonal(CeedOperator op, bool is_column, const char **reason) {
  *reason = NULL;
  if (op->qf_data->reuse)
    *reason = "the assembled QFunction is kept";
  else
    RITZ_TRY(ritz_plan_refuse_walk(op, reason));
  return !*reason && is_column ? ritz_plan_refuse_block_nodes(op, reason) : CEED_ERROR_SUCCESS;
}

static int plan_of(CeedOperator op, const RitzPlan *plan, RitzCpuDiagonal *d) {
  return d->is_column ? ritz_plan_point_blocks(op, plan, &d->plan, &d->nodes)
                      : ritz_plan_diagonal(op, plan, &d->plan);
}

static int copy_target(Ceed ceed, const RitzCpuTarget *apply, RitzCpuDiagonal *d) {
  const int num_spaces = d->plan->plan.num_spaces + 1;

  RITZ_TRY(RITZ_CALLOC(ceed, 1, &d->target));
  d->target->lanes = apply->lanes;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_spaces, &d->target->spaces));
  for (int s = 0; s < num_spaces; s++) d->target->spaces[s] = apply->spaces[d->plan->origins[s]];
  return CEED_ERROR_SUCCESS;
}

// Without a plan afterwards where there is nothing to walk with.
static int plan_walk(CeedOperator op, RitzCpuDiagonal *d) {
  const RitzCpuPath path = ritz_cpu_tier(op)->path;
  const char *reason;

  RITZ_TRY(refuse_diagonal(op, d->is_column, &reason));
  if (reason || path == RITZ_PATH_DELEGATED || op->is_at_points || !op->qf->f) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_cpu_make_ahead(op, &d->tier));
  if (!d->tier->plan) return CEED_ERROR_SUCCESS;
  RITZ_TRY(plan_of(op, d->tier->plan, d));
  RITZ_TRY(copy_target(op->obj.ceed, d->tier->target, d));
  d->is_walked = true;
  d->unfused = (RitzUnfusedDiagonal){.plan = d->plan, .target = d->target};
  d->kernel = ritz_unfused_find_diagonal(op->precision);
  return CEED_ERROR_SUCCESS;
}

static int make_diagonal_plan(CeedOperator op, RitzCpuTier *tier, RitzCpuDiagonal *d) {
  const char *reason;

  d->tier = tier;
  RITZ_TRY(why_no_diagonal(op, tier, d->is_column, &reason));
  if (reason) {
    RITZ_TRY(ritz_strdup(op->obj.ceed, reason, &d->reason));
    return plan_walk(op, d);
  }
  RITZ_TRY(plan_of(op, tier->plan, d));
  return ritz_plan_cpu_diagonal(op->obj.ceed, d->plan, tier->target, &d->target);
}

// The tier is planned.
static int plan_diagonal(CeedOperator op, RitzCpuTier *tier, bool is_column) {
  RitzCpuDiagonal **place = &tier->diagonals[is_column];

  if (*place) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, place));
  (*place)->is_column = is_column;
  const int ierr = make_diagonal_plan(op, tier, *place);
  if (ierr) ritz_cpu_diagonal_destroy(place);
  return ierr;
}

// ---- Kernel ----

// Used once: not compiled, but walked through.
static bool is_optional(CeedOperator op) { return op->use == RITZ_USE_ONCE && op->qf->f; }

// The text was good for an apply, so this is the machine's fault or ours.
static int give_up(CeedOperator op, RitzCpuDiagonal *d) {
  RitzJitKernel *code = kernel_of(d->tier, d->is_column);
  const bool is_asked_for = is_optional(op) && ritz_jit_status(code->module) != RITZ_JIT_REFUSED;
  const char *reason = is_asked_for
                           ? "it is used once (RITZ_USE_ONCE), and there is no kernel for it in the cache"
                           : ritz_jit_reason(code->module);

  RITZ_TRY(ritz_strdup(op->obj.ceed, reason, &d->reason));
  ritz_jit_kernel_release(code);
  free_plan(d);
  RITZ_TRY(plan_walk(op, d));
  return d->plan && !is_asked_for
             ? ritz_warn_once(op->obj.ceed, "CeedOperatorLinearAssembleDiagonal", "assembly of a diagonal",
                              d->reason, "the ahead-of-time kernel runs it")
             : CEED_ERROR_SUCCESS;
}

// Leaves what a compiler works at where nobody waits for it.
static int load_code(CeedOperator op, RitzCpuDiagonal *d) {
  RitzJitOrder order = {.kernel = kernel_of(d->tier, d->is_column), .waits = !ritz_cpu_may_serve_first(op)};
  char *text = NULL;

  RITZ_TRY(ritz_emit_cpu_diagonal(op->obj.ceed, d->plan, d->target, &text));
  order.source = ritz_cpu_source(op, d->tier, text);
  order.source.is_optional = is_optional(op);
  const int ierr = ritz_jit_kernels_make(op->obj.ceed, 1, &order);
  RITZ_FREE(&text);
  return ierr;
}

static int walk_first(CeedOperator op, RitzCpuDiagonal *d) {
  RITZ_TRY(ritz_strdup(op->obj.ceed, "its kernel is being compiled", &d->reason));
  free_plan(d);
  return plan_walk(op, d);
}

static bool is_walking(const RitzCpuTier *tier, bool is_column) {
  return tier->diagonals[is_column] && tier->diagonals[is_column]->is_walked;
}

// A walk ends when the kernel is there; with the last one the tier ahead of time that nothing else needs.
static int end_first_walk(CeedOperator op, bool is_column) {
  RitzCpuOperator *cpu = op->data;
  RitzCpuTier *tier = ritz_cpu_tier(op);
  const RitzCpuDiagonal *d = tier->diagonals[is_column];

  if ((d->plan && !d->is_walked) || ritz_jit_kernel_state(kernel_of(tier, is_column)) != RITZ_JIT_KERNEL_COME)
    return CEED_ERROR_SUCCESS;
  ritz_cpu_diagonal_destroy(&tier->diagonals[is_column]);
  if (!cpu->is_served_ahead && !is_walking(tier, !is_column)) ritz_cpu_tier_destroy(&cpu->ahead);
  return plan_diagonal(op, tier, is_column);
}

static int load_diagonal_kernel(CeedOperator op, RitzCpuDiagonal *d) {
  RITZ_TRY(load_code(op, d));
  const RitzJitModule module = kernel_of(d->tier, d->is_column)->module;
  if (!module) return walk_first(op, d);
  d->kernel = ritz_cpu_find_kernel(module, d->target->lanes);
  return d->kernel ? CEED_ERROR_SUCCESS : give_up(op, d);
}

static int64_t work_bytes(const RitzCpuDiagonal *d) {
  const RitzJitModule module = kernel_of(d->tier, d->is_column)->module;
  if (d->is_walked) return ritz_unfused_diagonal_work_bytes(&d->unfused);
  return ((const RitzKernelInfo *)ritz_jit_symbol(module, RITZ_INFO_SYMBOL))->work_bytes;
}

static int make_arguments(CeedOperator op, RitzCpuDiagonal *d) {
  const RitzCpu *context = op->obj.ceed->data;
  const int num_spaces = d->plan->plan.num_spaces + 1;

  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)num_spaces, &d->spaces));
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)context->num_threads, &d->args));
  for (int s = 0; s < num_spaces; s++) d->spaces[s] = d->tier->spaces[d->plan->origins[s]];
  for (int t = 0; t < context->num_threads; t++) {
    d->args[t] = d->tier->args[t];
    d->args[t].spaces = d->spaces;
    d->args[t].plan = &d->unfused;
    d->args[t].before = d->args[t].after = NULL;
  }
  return ritz_cpu_reserve_work(op->obj.ceed, work_bytes(d));
}

static int make_diagonal_kernel(CeedOperator op, bool is_column) {
  RITZ_TRY(end_first_walk(op, is_column));
  RitzCpuDiagonal **place = &ritz_cpu_tier(op)->diagonals[is_column], *d = *place;

  if (!d->plan || d->args) return CEED_ERROR_SUCCESS;
  int ierr = d->kernel ? CEED_ERROR_SUCCESS : load_diagonal_kernel(op, d);
  if (!ierr && d->plan) ierr = make_arguments(op, d);
  if (ierr) ritz_cpu_diagonal_destroy(place); // the next call tries again
  return ierr;
}

int ritz_cpu_diagonal_text(CeedOperator op, bool is_point_block, char **text, RitzJitKernel **code) {
  RitzCpuTier *tier = &((RitzCpuOperator *)op->data)->generated;
  const char *reason;
  bool is_column;

  RITZ_TRY(has_columns(op, is_point_block, &is_column));
  RITZ_TRY(refuse_diagonal(op, is_column, &reason));
  if (!reason) RITZ_TRY(why_no_diagonal(op, tier, is_column, &reason));
  if (reason) return CEED_ERROR_SUCCESS;
  RITZ_TRY(plan_diagonal(op, tier, is_column));
  RitzCpuDiagonal *d = tier->diagonals[is_column];
  if (d->is_walked) return CEED_ERROR_SUCCESS;
  *code = kernel_of(tier, is_column);
  return ritz_emit_cpu_diagonal(op->obj.ceed, d->plan, d->target, text);
}

// ---- Running ----

// For each input it costs about an apply.
static int run_diagonal(CeedOperator op, RitzCpuDiagonal *d) {
  const RitzCpu *ceed = op->obj.ceed->data;
  RitzCpuOperator *cpu = op->data;
  void *context;

  cpu->applies_left -= d->plan->num_in;
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(op->qf, CEED_MEM_HOST, &context));
  for (int t = 0; t < ceed->num_threads; t++) {
    d->args[t].context = context;
    d->args[t].work = ceed->work[t];
  }
  const int code = ritz_schedule_run_in_place(d->tier->schedule, ceed->team, d->kernel, d->args);
  const int restored = ritz_qfunction_restore_context_data(op->qf, &context);
  RITZ_TRY_BACKEND(code);
  return restored;
}

// All but the last are passive.
static CeedVector diagonal_vector_of(CeedOperator op, const RitzCpuDiagonal *d, int s) {
  return ritz_operator_field(op, d->plan->plan.spaces[s].field)->vec;
}

static int run_with_inputs(CeedOperator op, RitzCpuDiagonal *d, void *diagonal) {
  const RitzPlan *plan = &d->plan->plan;
  int num_held = 0, ierr = CEED_ERROR_SUCCESS;

  d->spaces[plan->num_spaces].array = diagonal;
  for (int s = 0; s < plan->num_spaces && !ierr; s++) {
    ierr = ritz_cpu_get_input(plan, d->target, s, diagonal_vector_of(op, d, s), &d->spaces[s]);
    num_held += !ierr;
  }
  if (!ierr) ierr = run_diagonal(op, d);
  d->spaces[plan->num_spaces].array = NULL;
  for (int s = 0; s < num_held; s++) {
    const int restored = ritz_cpu_restore_input(d->target, s, diagonal_vector_of(op, d, s), &d->spaces[s]);
    if (!ierr) ierr = restored;
  }
  return ierr;
}

// Blocks by way of an L-vector: column after column.
static int run_columns(CeedOperator op, RitzCpuDiagonal *d, void *blocks) {
  const Ceed ceed = op->obj.ceed;
  const RitzCpu *context = ceed->data;
  const CeedScalarType precision = d->plan->output.precision;
  char *column = NULL;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)op->output_size * ritz_scalar_bytes(precision), &column));
  int ierr = CEED_ERROR_SUCCESS;
  for (CeedInt c = 0; c < d->nodes.num_comp && !ierr; c++) {
    for (int t = 0; t < context->num_threads; t++) d->args[t].column = c;
    ierr = ritz_cpu_vector_set_value(ceed, precision, op->output_size, 0, column);
    if (!ierr) ierr = run_with_inputs(op, d, column);
    if (!ierr) ierr = ritz_cpu_add_column(ceed, &d->nodes, c, precision, column, blocks);
  }
  RITZ_FREE(&column);
  return ierr;
}

// Plans, prepares and loads; the plan is NULL where there is no kernel.
static int make_diagonal(CeedOperator op, bool is_column) {
  RITZ_TRY(ritz_cpu_prepare(1, &op, CEED_VECTOR_NONE));
  RITZ_TRY(plan_diagonal(op, ritz_cpu_tier(op), is_column));
  return make_diagonal_kernel(op, is_column);
}

int ritz_cpu_diagonal_supports_precision(CeedOperator op, bool is_point_block, bool *is_supported) {
  const char *reason;
  bool is_column;

  *is_supported = false;
  RITZ_TRY(has_columns(op, is_point_block, &is_column));
  RITZ_TRY(refuse_diagonal(op, is_column, &reason));
  if (reason) return CEED_ERROR_SUCCESS;
  RITZ_TRY(make_diagonal(op, is_column));
  *is_supported = ritz_cpu_tier(op)->diagonals[is_column]->plan;
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_operator_assemble_add_diagonal(CeedOperator op, bool is_point_block, void *diagonal) {
  const char *reason;
  bool is_column;

  RITZ_TRY(has_columns(op, is_point_block, &is_column));
  RITZ_TRY(refuse_diagonal(op, is_column, &reason));
  if (!reason) RITZ_TRY(make_diagonal(op, is_column));
  RitzCpuDiagonal *d = reason ? NULL : ritz_cpu_tier(op)->diagonals[is_column];
  if (d && d->plan) return (is_column ? run_columns : run_with_inputs)(op, d, diagonal);
  return ritz_ref_operator_assemble_add_diagonal(op, is_point_block, diagonal); // on the context's threads
}

// ---- For people ----

static int explain(CeedOperator op, bool is_column, FILE *stream) {
  RITZ_TRY(plan_diagonal(op, ritz_cpu_tier(op), is_column));
  const RitzCpuDiagonal *d = ritz_cpu_tier(op)->diagonals[is_column];
  const CeedInt nc = d->plan ? d->plan->output.num_comp : 0;

  fprintf(stream, is_column ? "  point blocks: " : "  diagonal: ");
  if (!d->plan)
    fprintf(stream, "%s: %s\n",
            ritz_cpu_is_mixed(op) ? "in the library's own precision" : "loops ahead of time", d->reason);
  else if (op->qf_data->reuse)
    fprintf(stream, "loops ahead of time: the assembled QFunction is reused\n");
  else
    fprintf(stream, "%s%s, %" CeedInt_FMT " calls and %d sums at each point%s%s\n",
            d->is_walked ? "the ahead-of-time kernel" : "one generated kernel",
            is_column ? " for each column" : "", is_column ? d->plan->num_in : d->plan->num_in * nc,
            d->plan->num_terms * (int)nc,
            d->is_walked                            ? ", because: "
            : kernel_of(d->tier, is_column)->module ? ""
                                                    : " (not compiled yet)",
            d->is_walked ? d->reason : "");
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_diagonal_explain(CeedOperator op, FILE *stream) {
  bool has_blocks;
  RITZ_TRY(explain(op, false, stream));
  RITZ_TRY(has_columns(op, true, &has_blocks));
  return has_blocks ? explain(op, true, stream) : CEED_ERROR_SUCCESS;
}
