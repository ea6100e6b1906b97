// SPDX-License-Identifier: BSD-2-Clause
// One way to run an operator (RitzCpuTier): its plan, text and code, arguments of the kernel, schedule,
// scratch, and the end of all that (contracts in backends/cpu/cpu.h). Which one serves: prepare.c.
#include <string.h>

#include "backends/cpu/cpu.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/unfused.h"
#include "base/embedded.h"
#include "emit/emit.h"

// ---- Plan ----

static int rows_known(CeedElemRestriction rstr, CeedInt row_length, CeedInt lanes, bool *has_rows) {
  const RitzRows *rows;
  RITZ_TRY(ritz_rows_get(rstr, row_length, lanes, &rows));
  *has_rows = rows->has_rows;
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_tier_plan(CeedOperator op, RitzCpuTier *tier, const char **reason) {
  RitzPlanOptions options;
  RitzCpuMachine machine;

  ritz_cpu_environment(op->precision, &machine, &options);
  RITZ_TRY(ritz_plan_operator(op, &options, &tier->plan, reason));
  return tier->plan ? ritz_plan_cpu(op, tier->plan, &machine, rows_known, &tier->target) : CEED_ERROR_SUCCESS;
}

// The ahead-of-time kernel has lanes of its own; rows are kept where generated kernels read the same ones.
int ritz_cpu_tier_plan_unfused(CeedOperator op, RitzCpuTier *tier, const char **reason) {
  const RitzPlanOptions options = {.allows_simple_inputs = true,
                                   .only_constant_inputs = true,
                                   .allows_blocks = true,
                                   .allows_points = true};
  const RitzCpuMachine machine = {.lanes = ritz_unfused_lanes(op->precision), .allows_text = false};
  RitzPlanOptions unused;
  RitzCpuMachine here;

  ritz_cpu_environment(op->precision, &here, &unused);
  tier->path = RITZ_PATH_UNFUSED;
  tier->kernel = ritz_unfused_find(op->precision);
  RITZ_TRY(ritz_plan_operator(op, &options, &tier->plan, reason));
  return tier->plan ? ritz_plan_cpu(op, tier->plan, &machine, here.lanes == machine.lanes ? rows_known : NULL,
                                    &tier->target)
                    : CEED_ERROR_SUCCESS;
}

int ritz_cpu_tier_emit(CeedOperator op, RitzCpuTier *tier) {
  RITZ_FREE(&tier->text);
  return ritz_emit_cpu(op->obj.ceed, tier->plan, tier->target, &tier->text);
}

// ---- Code ----

RitzJitSource ritz_cpu_source(CeedOperator op, const RitzCpuTier *tier, const char *text) {
  const RitzJitModule module = tier->kernels[RITZ_CPU_APPLY].module;
  const Ceed ceed = op->obj.ceed;
  const bool is_text = tier->target->call == RITZ_CALL_TEXT;
  const bool is_file = is_text && !tier->plan->source_text &&
                       !ritz_embedded_find(tier->plan->source_path); // else it travels with the text

  const RitzJitLanguage language = module    ? ritz_jit_language(module)
                                   : is_file ? ritz_jit_language_of_file(tier->plan->source_path)
                                   : is_text && tier->plan->is_cxx ? RITZ_JIT_CXX
                                                                   : RITZ_JIT_C;

  return (RitzJitSource){.name = tier->plan->function_name[0] ? tier->plan->function_name : "operator",
                         .text = text,
                         .language = language,
                         .user_file = is_file ? tier->plan->source_path : NULL,
                         .num_roots = is_text ? (size_t)ceed->jit_roots.num : 0,
                         .roots = ceed->jit_roots.item};
}

// The kernel's description; NULL: none of this kind.
static const RitzKernelInfo *find_info(RitzJitModule module, const RitzCpuSymbols *symbols) {
  const RitzKernelInfo *info = ritz_jit_symbol(module, symbols->info);
  return info && info->abi == symbols->abi && info->lanes == symbols->lanes ? info : NULL;
}

RitzKernel ritz_cpu_find_kernel(RitzJitModule module, CeedInt lanes) {
  const RitzCpuSymbols symbols = {NULL, RITZ_KERNEL_SYMBOL, RITZ_INFO_SYMBOL, RITZ_KERNEL_ABI, lanes};
  RitzKernel kernel = NULL;
  void *symbol = ritz_jit_symbol(module, symbols.kernel);

  // C converts no object pointer into a function pointer; dlsym hands out both as void *.
  if (find_info(module, &symbols)) memcpy(&kernel, &symbol, sizeof(symbol));
  return kernel;
}

int ritz_cpu_finish_code(Ceed ceed, const RitzJitOrder *order, const RitzCpuSymbols *symbols, void **kernel) {
  RITZ_TRY(ritz_jit_kernels_make(ceed, 1, order));
  const RitzJitModule module = order->kernel->module;
  const RitzKernelInfo *info = find_info(module, symbols);

  *kernel = info ? ritz_jit_symbol(module, symbols->kernel) : NULL;
  if (!*kernel) return ritz_cpu_delegate(ceed, symbols->what, ritz_jit_reason(module));
  return ritz_cpu_reserve_work(ceed, info->work_bytes);
}

// ---- Arguments and schedule ----

static int fill_space(const RitzCpuTarget *target, int s, CeedElemRestriction rstr, RitzKernelSpace *to) {
  const RitzCpuSpace *how = &target->spaces[s];

  if (how->gather == RITZ_GATHER_ROWS) {
    const RitzRows *rows;
    RITZ_TRY(ritz_rows_get(rstr, how->row_length, target->lanes, &rows));
    to->offsets = rows->offsets;
    to->is_chain = rows->is_chain;
  } else {
    to->offsets = rstr->offsets;
  }
  to->orients = rstr->orients;
  to->curl_orients = rstr->curl_orients;
  if (rstr->type == CEED_RESTRICTION_STRIDED) {
    CeedInt strides[3];
    ritz_restriction_l_strides(rstr, strides);
    for (int i = 0; i < 3; i++) to->strides[i] = strides[i];
  } else {
    to->strides[1] = rstr->comp_stride;
  }
  return CEED_ERROR_SUCCESS;
}

// Entries of the L-vectors of an output: the most that a restriction of its vector needs.
static CeedSize output_length(const RitzPlan *plan, int32_t array) {
  CeedSize length = 0;
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    if (!space->is_input && space->array == array && space->restriction.l_size > length)
      length = space->restriction.l_size;
  }
  return length;
}

static int make_schedule(CeedOperator op, RitzCpuTier *tier) {
  const RitzCpu *context = op->obj.ceed->data;
  const RitzPlan *plan = tier->plan;
  RitzScheduleOutput *outputs = NULL;
  CeedInt num = 0;

  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)plan->num_spaces, &outputs));
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    if (space->is_input) continue;
    outputs[num++] = (RitzScheduleOutput){.rstr = ritz_cpu_restriction_of(op, space),
                                          .space = s,
                                          .array = space->array,
                                          .entry_bytes = (int32_t)ritz_scalar_bytes(space->precision),
                                          .length = output_length(plan, space->array)};
  }
  const RitzScheduleOptions options = {context->num_threads, context->is_deterministic, plan->num_spaces};
  int ierr = ritz_schedule_create(op->obj.ceed, op->num_elem, tier->target->lanes, num, outputs, &options,
                                  &tier->schedule);
  RITZ_FREE(&outputs);
  return ierr;
}

static int make_arguments(CeedOperator op, RitzCpuTier *tier) {
  const RitzCpu *context = op->obj.ceed->data;
  const RitzPlan *plan = tier->plan;
  Ceed ceed = op->obj.ceed;

  tier->unfused = (RitzUnfused){.plan = plan, .target = tier->target};
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)plan->num_spaces, &tier->spaces));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)plan->num_spaces, &tier->zeroed));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)context->num_threads, &tier->args));
  for (int s = 0; s < plan->num_spaces; s++)
    RITZ_TRY(fill_space(tier->target, s, ritz_cpu_restriction_of(op, &plan->spaces[s]), &tier->spaces[s]));
  RITZ_TRY(ritz_cpu_fill_matrices(op, tier));
  for (int t = 0; t < context->num_threads; t++) {
    tier->args[t] = (RitzKernelArgs){.abi = RITZ_KERNEL_ABI,
                                     .num_elem = op->num_elem,
                                     .spaces = tier->spaces,
                                     .matrices = tier->matrices,
                                     .function = op->qf->f,
                                     .plan = &tier->unfused};
  }
  return make_schedule(op, tier);
}

static int64_t work_bytes(const RitzCpuTier *tier) {
  if (tier->path == RITZ_PATH_UNFUSED) return ritz_unfused_work_bytes(&tier->unfused);
  return ((const RitzKernelInfo *)ritz_jit_symbol(tier->kernels[RITZ_CPU_APPLY].module, RITZ_INFO_SYMBOL))
      ->work_bytes;
}

// Enlarges the scratch memory of each thread to `bytes`. On failure the old memory stays, and operators that
// need no more still run.
int ritz_cpu_reserve_work(Ceed ceed, int64_t bytes) {
  RitzCpu *context = ceed->data;
  if (bytes <= context->work_bytes) return CEED_ERROR_SUCCESS;
  for (int t = 0; t < context->num_threads; t++) {
    char *larger = NULL;
    RITZ_TRY(RITZ_MALLOC(ceed, (size_t)bytes, &larger));
    RITZ_FREE(&context->work[t]);
    context->work[t] = larger;
  }
  context->work_bytes = bytes;
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_tier_finish(CeedOperator op, RitzCpuTier *tier) {
  RitzCpu *context = op->obj.ceed->data;

  if (tier->path != RITZ_PATH_DELEGATED) {
    if (tier->path != RITZ_PATH_UNFUSED)
      tier->kernel = ritz_cpu_find_kernel(tier->kernels[RITZ_CPU_APPLY].module, tier->target->lanes);
    RITZ_TRY(make_arguments(op, tier));
    RITZ_TRY(ritz_cpu_reserve_work(op->obj.ceed, work_bytes(tier)));
  }
  tier->number = ++context->num_prepared;
  tier->is_ready = true;
  return CEED_ERROR_SUCCESS;
}

// ---- The end ----

void ritz_cpu_tier_destroy_diagonals(RitzCpuTier *tier) {
  ritz_cpu_diagonal_destroy(&tier->diagonals[0]);
  ritz_cpu_diagonal_destroy(&tier->diagonals[1]);
}

void ritz_cpu_tier_destroy(RitzCpuTier *tier) {
  ritz_cpu_tier_destroy_diagonals(tier);
  ritz_cpu_matrices_destroy(&tier->matrices_of_groups);
  ritz_schedule_destroy(&tier->schedule);
  for (int action = 0; action < RITZ_NUM_CPU_ACTIONS; action++)
    ritz_jit_kernel_release(&tier->kernels[action]);
  ritz_cpu_free_matrices(tier);
  ritz_plan_cpu_free(&tier->target);
  ritz_plan_free(&tier->plan);
  RITZ_FREE(&tier->reason);
  RITZ_FREE(&tier->text);
  RITZ_FREE(&tier->spaces);
  RITZ_FREE(&tier->args);
  RITZ_FREE((void **)&tier->zeroed);
  *tier = (RitzCpuTier){.plan = NULL};
}
