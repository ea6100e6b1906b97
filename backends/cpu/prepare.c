// SPDX-License-Identifier: BSD-2-Clause
// From an operator to something that runs: plan, text, kernel, schedule. What does not work falls back one
// step at a time, and says so: text of the QFunction -> its pointer -> ahead-of-time kernel -> reference
// backend. An operator that need not wait for a compiler begins on the ahead-of-time kernel; when its applies
// have cost as much as a compilation, a second set of data is planned, and takes the place of the first one
// when its kernel is there.
#include <math.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/unfused.h"
#include "emit/emit.h"
#include "jit/strings.h"

// *title: what messages call an operator, owned by the caller.
static int make_title(CeedOperator op, char **title) {
  const char *name = op->name ? op->name : "", *function = op->qf->kernel_name;

  if (name[0] && function[0])
    return ritz_format(op->obj.ceed, title, "operator '%s' with the function '%s'", name, function);
  return ritz_format(op->obj.ceed, title, "operator '%s'",
                     name[0]       ? name
                     : function[0] ? function
                                   : "without a name");
}

// `outcome` NULL: there is nothing to fall back to.
static int warn(CeedOperator op, const char *call, const char *title, const char *reason,
                const char *outcome) {
  RITZ_REQUIRE(outcome, op->obj.ceed, CEED_ERROR_BACKEND,
               "%s: %s: %s, and there is no function pointer for the host", call, title, reason);
  return ritz_warn_once(op->obj.ceed, call, title, reason, outcome);
}

int ritz_cpu_warn(CeedOperator op, const char *call, const char *reason, const char *outcome) {
  char *title = NULL;

  RITZ_TRY(make_title(op, &title));
  const int ierr = warn(op, call, title, reason, op->qf->f ? outcome : NULL);
  RITZ_FREE(&title);
  return ierr;
}

static void free_plan(RitzCpuOperator *cpu) {
  ritz_plan_cpu_free(&cpu->target);
  ritz_plan_free(&cpu->plan);
}

// A generated kernel calls a function in CeedScalar with what it has.
static bool can_call_pointer(CeedOperator op) {
  return op->precision == CEED_SCALAR_TYPE || !ritz_cpu_is_mixed(op);
}

// The nearest step from `path` down that can be taken. Nothing is delegated while the ahead-of-time kernel
// serves: with vectors of another precision the reference backend cannot take over.
static RitzCpuPath nearest_path(CeedOperator op, RitzCpuPath path) {
  const RitzCpuOperator *cpu = op->data;
  if (path == RITZ_PATH_POINTER && !can_call_pointer(op))
    return op->qf->f ? RITZ_PATH_UNFUSED : RITZ_PATH_DELEGATED;
  return path == RITZ_PATH_DELEGATED && cpu->is_later ? RITZ_PATH_UNFUSED : path;
}

// Once for all operators with functions of one file, in all contexts.
static int warn_of_file(CeedOperator op, const char *path, const char *reason) {
  const Ceed ceed = op->obj.ceed;
  bool is_first = true;
  char *what = NULL;

  if (!op->qf->f) return CEED_ERROR_SUCCESS; // an error follows, or core/ tells
  if (!ceed->is_strict) RITZ_TRY(ritz_jit_is_first_warning(ceed, path, &is_first));
  if (!is_first) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_format(ceed, &what, "QFunctions of '%s'", path));
  const int ierr =
      ritz_warn_once(ceed, "CeedOperatorApply", what, reason, "their function pointers are called");
  RITZ_FREE(&what);
  return ierr;
}

// Frees the module and the text, which the ahead-of-time and the reference path do not use.
static void drop_unused(RitzCpuOperator *cpu) {
  if (cpu->path >= RITZ_PATH_UNFUSED) {
    ritz_jit_kernel_release(&cpu->code);
    RITZ_FREE(&cpu->text);
  }
  if (cpu->path == RITZ_PATH_DELEGATED) free_plan(cpu);
}

static const char *const served_by[] = {
    [RITZ_PATH_TEXT] = "",
    [RITZ_PATH_POINTER] = "its function pointer is called",
    [RITZ_PATH_UNFUSED] = "the ahead-of-time kernel runs it",
    [RITZ_PATH_DELEGATED] = "the reference backend runs it",
};

// Takes a step down. The reason is kept for the view; `warns`: with a warning, as RITZ_WARNINGS says. What is
// delegated where vectors or arithmetic are not CeedScalar is left to core/, which tells why, and applies
// another operator.
static int step_down(CeedOperator op, RitzCpuPath path, bool warns, const char *reason) {
  RitzCpuOperator *cpu = op->data;

  cpu->path = nearest_path(op, path);
  ritz_cpu_diagonal_destroy(&cpu->diagonal); // planned for the step above
  ritz_cpu_diagonal_destroy(&cpu->point_blocks);
  RITZ_FREE(&cpu->reason);
  RITZ_TRY(ritz_strdup(op->obj.ceed, reason, &cpu->reason));
  const bool is_left = cpu->path == RITZ_PATH_DELEGATED && ritz_cpu_is_mixed(op);
  const int ierr = (warns || !op->qf->f) && !is_left
                       ? ritz_cpu_warn(op, "CeedOperatorApply", reason, served_by[cpu->path])
                       : CEED_ERROR_SUCCESS;
  drop_unused(cpu);
  return ierr;
}

// ---- Plan ----

static int rows_known(CeedElemRestriction rstr, CeedInt row_length, CeedInt lanes, bool *has_rows) {
  const RitzRows *rows;
  RITZ_TRY(ritz_rows_get(rstr, row_length, lanes, &rows));
  *has_rows = rows->has_rows;
  return CEED_ERROR_SUCCESS;
}

static int make_apply_plan(CeedOperator op, const RitzPlanOptions *options, const RitzCpuMachine *machine,
                           RitzCpuRows rows) {
  RitzCpuOperator *cpu = op->data;
  const char *reason = NULL;

  free_plan(cpu);
  RITZ_TRY(ritz_plan_operator(op, options, &cpu->plan, &reason));
  return cpu->plan ? ritz_plan_cpu(op, cpu->plan, machine, rows, &cpu->target)
                   : step_down(op, RITZ_PATH_DELEGATED, true, reason);
}

// The ahead-of-time kernel has lanes of its own; rows are kept where generated kernels read the same ones.
static int use_unfused(CeedOperator op) {
  RitzCpuOperator *cpu = op->data;
  const RitzPlanOptions options = {.allows_simple_inputs = true,
                                   .only_constant_inputs = true,
                                   .allows_blocks = true,
                                   .allows_points = true};
  const RitzCpuMachine machine = {.lanes = ritz_unfused_lanes(op->precision), .allows_text = false};
  RitzPlanOptions unused;
  RitzCpuMachine here;

  ritz_cpu_environment(op->precision, &here, &unused);
  RITZ_TRY(make_apply_plan(op, &options, &machine, here.lanes == machine.lanes ? rows_known : NULL));
  cpu->kernel = ritz_unfused_find(op->precision);
  return CEED_ERROR_SUCCESS;
}

// ---- Kernel ----

// An apply takes the ahead-of-time kernel less time than a compiler: that is slower by 0.2 ns an operation,
// and a compilation takes more than half a second. It calls the application's function.
static bool is_shorter_than_compilation(CeedOperator op) {
  const double worth_compiling = 3e9; // operations of one thread
  const RitzCpu *context = op->obj.ceed->data;
  RitzOperatorCost cost = {0};
  if (!op->qf->f || ritz_cpu_operator_cost(op, &cost)) return false;
  return cost.flops <= worth_compiling * context->num_threads;
}

static bool is_optional(CeedOperator op) {
  return op->use == RITZ_USE_ONCE && is_shorter_than_compilation(op);
}

static int emit(CeedOperator op) {
  RitzCpuOperator *cpu = op->data;
  RITZ_FREE(&cpu->text);
  return ritz_emit_cpu(op->obj.ceed, cpu->plan, cpu->target, &cpu->text);
}

static bool has_generated_kernel(CeedOperator op) {
  return ((const RitzCpuOperator *)op->data)->path <= RITZ_PATH_POINTER;
}

// Begins on the ahead-of-time kernel unless an apply is dear. RITZ_STRICT wants to know at once what is
// refused.
static bool is_tiered(CeedOperator op) {
  const RitzCpu *context = op->obj.ceed->data;
  return op->use == RITZ_USE_MANY && op->qf->f && !op->is_at_points && !context->waits &&
         !context->is_deterministic && !op->obj.ceed->is_strict;
}

// When the kernel is there depends on time, so do roundings.
bool ritz_cpu_may_serve_first(CeedOperator op) {
  const RitzCpu *context = op->obj.ceed->data;
  if (op->use == RITZ_USE_NO_WAIT) return op->qf->f && !context->is_deterministic;
  return is_tiered(op) && is_shorter_than_compilation(op);
}

// The work of an apply: those that take longest are compiled first, those that are waited for before them.
static double urgency_of(CeedOperator op) {
  RitzOperatorCost cost = {0};
  if (!ritz_cpu_may_serve_first(op)) return INFINITY;
  return ritz_cpu_operator_cost(op, &cost) ? 0 : cost.flops + cost.bytes;
}

static RitzJitOrder order_of(CeedOperator op) {
  RitzCpuOperator *cpu = op->data;
  RitzJitOrder order = {ritz_cpu_source(op, cpu->text), &cpu->code, !ritz_cpu_may_serve_first(op)};
  order.source.is_optional = is_optional(op);
  order.source.urgency = urgency_of(op);
  return order;
}

// Those of operators that have one, together: where nobody waits they may not be there afterwards.
static int make_apply_kernels(Ceed ceed, CeedInt num, CeedOperator *ops) {
  RitzJitOrder *orders = NULL;
  size_t n = 0;

  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, &orders));
  for (CeedInt i = 0; i < num; i++) {
    if (has_generated_kernel(ops[i])) orders[n++] = order_of(ops[i]);
  }
  const int ierr = ritz_jit_kernels_make(ceed, n, orders);
  RITZ_FREE(&orders);
  return ierr;
}

// C converts no object pointer into a function pointer; dlsym hands out both as void *.
static void find_function(RitzJitModule module, const char *name, void *function) {
  void *symbol = ritz_jit_symbol(module, name);
  memcpy(function, &symbol, sizeof(symbol));
}

// Asked for, so nobody is told.
static int go_unfused_once(CeedOperator op) {
  const RitzCpuOperator *cpu = op->data;
  RITZ_TRY(step_down(op, RITZ_PATH_UNFUSED, false,
                     "it is applied once (RITZ_USE_ONCE), and there is no kernel for it in the cache"));
  return cpu->path == RITZ_PATH_DELEGATED ? CEED_ERROR_SUCCESS : use_unfused(op);
}

// No generated kernel. When that is because of the machine, it is said of all operators at once.
static int go_unfused(CeedOperator op, bool is_machine, const char *reason) {
  const RitzCpuOperator *cpu = op->data;
  RITZ_TRY(step_down(op, RITZ_PATH_UNFUSED, !is_machine, reason));
  if (cpu->path == RITZ_PATH_DELEGATED) return CEED_ERROR_SUCCESS;
  if (is_machine)
    RITZ_TRY(ritz_warn_once(op->obj.ceed, "CeedOperatorApply", "operators", cpu->reason,
                            "the ahead-of-time kernel runs them"));
  return use_unfused(op);
}

// Builds the kernel once more, with the application's function instead of its text; without code where nobody
// waits for it.
static int go_pointer(CeedOperator op, bool warns, const char *reason) {
  RitzCpuOperator *cpu = op->data;

  RITZ_TRY(step_down(op, RITZ_PATH_POINTER, warns, reason));
  if (cpu->path == RITZ_PATH_UNFUSED) return use_unfused(op);
  if (cpu->path == RITZ_PATH_DELEGATED) return CEED_ERROR_SUCCESS;
  ritz_jit_kernel_release(&cpu->code);
  ritz_plan_cpu_use_pointer(cpu->plan, cpu->target);
  if (cpu->target->evaluation == RITZ_EVALUATE_NONE)
    return go_unfused(op, false, "the application's function cannot be called row by row");
  RITZ_TRY(emit(op));
  return make_apply_kernels(op->obj.ceed, 1, &op);
}

static int judge_module(CeedOperator op) {
  RitzCpuOperator *cpu = op->data;
  const RitzJitStatus status = ritz_jit_status(cpu->code.module);

  if (status == RITZ_JIT_READY && ritz_cpu_find_kernel(cpu->code.module, cpu->target->lanes))
    return CEED_ERROR_SUCCESS;
  if (status == RITZ_JIT_REFUSED && cpu->target->call == RITZ_CALL_TEXT) {
    RITZ_TRY(warn_of_file(op, cpu->plan->source_path, ritz_jit_reason(cpu->code.module)));
    RITZ_TRY(go_pointer(op, false, ritz_jit_reason(cpu->code.module)));
    return cpu->path == RITZ_PATH_POINTER && cpu->code.module ? judge_module(op) : CEED_ERROR_SUCCESS;
  }
  if (is_optional(op) && status != RITZ_JIT_REFUSED) return go_unfused_once(op);
  return go_unfused(op, status == RITZ_JIT_NO_COMPILER || status == RITZ_JIT_NOT_LOADED,
                    ritz_jit_reason(cpu->code.module));
}

// The text must say what the function does; one that writes its context needs each point called exactly once.
static int judge_function(CeedOperator op, CeedVector in) {
  RitzCpuOperator *cpu = op->data;
  const bool is_text = cpu->path == RITZ_PATH_TEXT;
  const bool is_single = cpu->plan->precision != CEED_SCALAR_TYPE && !cpu->plan->has_context;
  RitzQFunction text = NULL;
  const CeedInt vec_length = cpu->plan->vec_length;
  const CeedInt points = is_text ? cpu->target->lanes * cpu->target->call_points : vec_length;
  RitzCpuFunctionCheck found;

  if (!op->qf->f) return CEED_ERROR_SUCCESS;
  if (is_text) find_function(cpu->code.module, RITZ_QFUNCTION_SYMBOL, &text);
  RITZ_TRY(ritz_cpu_check_function(op, in, text, is_single, points, &found));
  if (found.writes_context) {
    RITZ_TRY(step_down(op, RITZ_PATH_DELEGATED, true, "its QFunction writes to its context"));
    return cpu->path == RITZ_PATH_UNFUSED ? use_unfused(op) : CEED_ERROR_SUCCESS;
  }
  cpu->is_unchecked = is_text && found.agrees && op->qf->num_out > 0 && !found.has_compared;
  if (found.agrees) return CEED_ERROR_SUCCESS;
  RITZ_TRY(
      go_pointer(op, true,
                 found.has_unusual
                     ? "the text of its QFunction does not compute what the function in the program does, or "
                       "rounds otherwise: some of the values are not finite"
                     : "the text of its QFunction does not compute what the function in the program does"));
  return cpu->path == RITZ_PATH_POINTER && cpu->code.module ? judge_module(op) : CEED_ERROR_SUCCESS;
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

static int make_schedule(CeedOperator op) {
  RitzCpuOperator *cpu = op->data;
  const RitzCpu *context = op->obj.ceed->data;
  const RitzPlan *plan = cpu->plan;
  RitzScheduleOutput *outputs = NULL;
  CeedInt num = 0;

  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)plan->num_spaces, &outputs));
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    if (space->is_input) continue;
    outputs[num++] = (RitzScheduleOutput){.rstr = ritz_cpu_restriction_of(op, space),
                                          .space = s,
                                          .array = space->array,
                                          .length = output_length(plan, space->array)};
  }
  int ierr = ritz_schedule_create(op->obj.ceed, op->num_elem, cpu->target->lanes, num, outputs,
                                  context->num_threads, context->is_deterministic, &cpu->schedule);
  RITZ_FREE(&outputs);
  return ierr;
}

static int make_arguments(CeedOperator op) {
  RitzCpuOperator *cpu = op->data;
  const RitzCpu *context = op->obj.ceed->data;
  const RitzPlan *plan = cpu->plan;
  Ceed ceed = op->obj.ceed;

  cpu->unfused = (RitzUnfused){.plan = plan, .target = cpu->target};
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)plan->num_spaces, &cpu->spaces));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)plan->num_spaces, &cpu->zeroed));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)context->num_threads, &cpu->args));
  for (int s = 0; s < plan->num_spaces; s++)
    RITZ_TRY(fill_space(cpu->target, s, ritz_cpu_restriction_of(op, &plan->spaces[s]), &cpu->spaces[s]));
  RITZ_TRY(ritz_cpu_fill_matrices(op));
  for (int t = 0; t < context->num_threads; t++) {
    cpu->args[t] = (RitzKernelArgs){.abi = RITZ_KERNEL_ABI,
                                    .num_elem = op->num_elem,
                                    .spaces = cpu->spaces,
                                    .matrices = cpu->matrices,
                                    .function = op->qf->f,
                                    .plan = &cpu->unfused};
  }
  return make_schedule(op);
}

static int64_t work_bytes(const RitzCpuOperator *cpu) {
  if (cpu->path == RITZ_PATH_UNFUSED) return ritz_unfused_work_bytes(&cpu->unfused);
  return ((const RitzKernelInfo *)ritz_jit_symbol(cpu->code.module, RITZ_INFO_SYMBOL))->work_bytes;
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

// ---- All of it ----

// *reason (owned by the caller): why a QFunction that has a source is not taken from there.
static int describe_source(CeedOperator op, char **reason) {
  const CeedQFunction qf = op->qf;
  Ceed ceed = op->obj.ceed;
  RitzFileFault fault = {"cannot be named in an #include"};

  if (!ritz_is_identifier(qf->kernel_name))
    return ritz_format(ceed, reason, "'%s' in the source '%s' of its QFunction is no name of a function",
                       qf->kernel_name, qf->source_path);
  if (!qf->resolved_path) {
    char *found = NULL;
    RITZ_TRY(ritz_jit_find_source(ceed, qf->f, qf->source_path, &found, &fault));
    RITZ_FREE(&found);
  }
  return ritz_format(ceed, reason, "the source '%s' of its QFunction %s", qf->source_path, fault.text);
}

// There is no text, or it is not wanted.
static int begin_with_pointer(CeedOperator op, bool allows_text) {
  const RitzCpuPath path = can_call_pointer(op) ? RITZ_PATH_POINTER : RITZ_PATH_DELEGATED;
  char *reason = NULL;

  if (!allows_text || !op->qf->source_path)
    return step_down(op, path, false,
                     op->qf->source_path ? "RITZ_QFUNCTION is 'pointer'" : "its QFunction has no text");
  RITZ_TRY(describe_source(op, &reason));
  int ierr = path == RITZ_PATH_POINTER ? warn_of_file(op, op->qf->source_path, reason) : CEED_ERROR_SUCCESS;
  if (!ierr) ierr = step_down(op, path, false, reason);
  RITZ_FREE(&reason);
  return ierr;
}

// The ahead-of-time kernel is the only one at points.
static int begin_at_points(CeedOperator op) {
  RITZ_TRY_BACKEND(ritz_operator_check_points(op));
  RITZ_TRY(step_down(op, RITZ_PATH_UNFUSED, false, "kernels at points are not generated"));
  return use_unfused(op);
}

static int begin(CeedOperator op) {
  RitzCpuOperator *cpu = NULL;
  RitzPlanOptions options;
  RitzCpuMachine machine;

  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &cpu));
  op->data = cpu;
  if (op->is_at_points) return begin_at_points(op);
  ritz_cpu_environment(op->precision, &machine, &options);
  RITZ_TRY(make_apply_plan(op, &options, &machine, rows_known));
  if (cpu->path == RITZ_PATH_DELEGATED) return CEED_ERROR_SUCCESS;
  if (cpu->target->evaluation == RITZ_EVALUATE_NONE)
    return go_unfused(op, false, "its bases do not share one grid of points");
  if (cpu->target->call == RITZ_CALL_POINTER) RITZ_TRY(begin_with_pointer(op, machine.allows_text));
  return cpu->path == RITZ_PATH_DELEGATED ? CEED_ERROR_SUCCESS : emit(op);
}

static bool lacks_code(CeedOperator op) {
  return has_generated_kernel(op) && !((const RitzCpuOperator *)op->data)->code.module;
}

// Not ready afterwards when another kernel is wanted and nobody waits for it.
static int finish_preparation(CeedOperator op, CeedVector in) {
  RitzCpuOperator *cpu = op->data;
  RitzCpu *context = op->obj.ceed->data;

  if (cpu->code.module) RITZ_TRY(judge_module(op));
  if (lacks_code(op)) return CEED_ERROR_SUCCESS;
  if (cpu->path != RITZ_PATH_DELEGATED) RITZ_TRY(judge_function(op, in));
  if (lacks_code(op)) return CEED_ERROR_SUCCESS;
  if (cpu->path != RITZ_PATH_DELEGATED) {
    if (has_generated_kernel(op)) cpu->kernel = ritz_cpu_find_kernel(cpu->code.module, cpu->target->lanes);
    RITZ_TRY(make_arguments(op));
    RITZ_TRY(ritz_cpu_reserve_work(op->obj.ceed, work_bytes(cpu)));
  }
  cpu->number = ++context->num_prepared;
  cpu->is_ready = true;
  return CEED_ERROR_SUCCESS;
}

static int make_unfused(CeedOperator op) {
  RitzCpuOperator *cpu = op->data;
  cpu->path = RITZ_PATH_UNFUSED;
  RITZ_TRY(use_unfused(op));
  RITZ_TRY(make_arguments(op));
  RITZ_TRY(ritz_cpu_reserve_work(op->obj.ceed, work_bytes(cpu)));
  cpu->is_ready = true;
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_make_unfused(CeedOperator op, RitzCpuOperator **unfused) {
  RitzCpuOperator *own = op->data;

  *unfused = NULL;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, unfused));
  op->data = *unfused;
  const int ierr = make_unfused(op);
  op->data = own;
  if (ierr) ritz_cpu_free_data(unfused);
  return ierr;
}

// ---- Service before the kernel is there ----

// Ready, or with a kernel that a compiler works at.
static int finish_unless_compiling(CeedOperator op, CeedVector in) {
  const RitzCpuOperator *cpu = op->data;

  while (!cpu->is_ready) {
    if (lacks_code(op)) RITZ_TRY(make_apply_kernels(op->obj.ceed, 1, &op));
    if (lacks_code(op)) return CEED_ERROR_SUCCESS;
    RITZ_TRY(finish_preparation(op, in));
  }
  return CEED_ERROR_SUCCESS;
}

static int make_first(CeedOperator op, CeedVector in) {
  RitzCpuOperator *cpu = op->data;

  cpu->path = RITZ_PATH_UNFUSED;
  RITZ_TRY(ritz_strdup(op->obj.ceed, "its kernel is being compiled", &cpu->reason));
  RITZ_TRY(use_unfused(op));
  return finish_preparation(op, in);
}

// The operator, which is not ready, gets data that are, for the time being.
static int serve_first(CeedOperator op, CeedVector in) {
  RitzCpuOperator *coming = op->data, *first = NULL;

  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &first));
  op->data = first;
  const int ierr = make_first(op, in);
  if (ierr) {
    ritz_cpu_free_data(&first);
    op->data = coming;
    return ierr;
  }
  coming->is_later = true;
  if (first->path == RITZ_PATH_UNFUSED)
    first->coming = coming;
  else
    ritz_cpu_free_data(&coming); // no kernel will do: its function writes to the context
  return CEED_ERROR_SUCCESS;
}

// `first` has served until now; op->data are ready. In the timing table other rows begin.
static void take_over(CeedOperator op, RitzCpuOperator *first) {
  RitzCpuOperator *cpu = op->data;

  if (cpu->path == RITZ_PATH_UNFUSED) { // nothing came of the kernel: all stays as it is, but for the reason
    RITZ_FREE(&first->reason);
    first->reason = cpu->reason;
    cpu->reason = NULL;
    ritz_cpu_diagonal_destroy(&first->diagonal); // names the reason
    ritz_cpu_diagonal_destroy(&first->point_blocks);
    op->data = first;
    first = cpu;
  }
  ritz_cpu_free_data(&first);
  for (int action = 0; action < RITZ_NUM_PROFILE_ACTIONS; action++) op->profile[action] = NULL;
}

// What is ready is so because the ahead-of-time kernel has served until now.
static int advance(CeedOperator op, CeedVector in) {
  RitzCpuOperator *cpu = op->data, *first = NULL;

  if (cpu->is_ready) {
    first = cpu;
    op->data = cpu = first->coming;
    first->coming = NULL;
  }
  const int ierr = finish_unless_compiling(op, in);
  if (ierr) {
    ritz_cpu_free_data(&first);
    return ierr;
  }
  if (!first) return cpu->is_ready ? CEED_ERROR_SUCCESS : serve_first(op, in);
  if (cpu->is_ready) {
    take_over(op, first);
    return CEED_ERROR_SUCCESS;
  }
  first->coming = cpu;
  op->data = first;
  return CEED_ERROR_SUCCESS;
}

// Another kernel is to be begun, or there.
static bool is_due(const RitzCpuOperator *cpu) {
  if (cpu->applies_left > 0) return false;
  return cpu->coming ? ritz_jit_kernel_state(&cpu->coming->code) != RITZ_JIT_KERNEL_COMPILING : cpu->is_cold;
}

bool ritz_cpu_is_ready(CeedOperator op) {
  const RitzCpuOperator *cpu = op->data;
  return cpu && cpu->is_ready && !is_due(cpu);
}

// ---- Cold operators ----

// Applies of a planned operator that cost about as much as looking for its kernel, and a part of what a
// compilation does: tens of milliseconds. 0: one costs as much.
static int64_t num_cold_applies(CeedOperator op) {
  const double worth_a_look = 5e7; // operations and bytes of one thread
  const RitzCpu *context = op->obj.ceed->data;
  RitzOperatorCost cost = {0};
  if (ritz_cpu_operator_cost(op, &cost)) return 0;
  return (int64_t)(worth_a_look * context->num_threads / (1 + cost.flops + cost.bytes));
}

static int make_cold(CeedOperator op, CeedVector in) {
  RitzCpuOperator *cpu = op->data;

  cpu->path = RITZ_PATH_UNFUSED;
  RITZ_TRY(use_unfused(op));
  cpu->applies_left = cpu->plan ? num_cold_applies(op) : 0;
  if (cpu->applies_left == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(
      ritz_strdup(op->obj.ceed, "its applies have not cost as much as a compilation so far", &cpu->reason));
  RITZ_TRY(finish_preparation(op, in));
  cpu->is_cold = cpu->path == RITZ_PATH_UNFUSED;
  return CEED_ERROR_SUCCESS;
}

// Data that run on the ahead-of-time kernel; none where applies are dear, or it will not do.
static int begin_cold(CeedOperator op, CeedVector in) {
  RitzCpuOperator *cpu = NULL;

  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &cpu));
  op->data = cpu;
  const int ierr = make_cold(op, in);
  if (ierr || !cpu->is_ready) ritz_cpu_operator_destroy(op);
  return ierr;
}

int ritz_cpu_plan_kernel(CeedOperator op) {
  RitzCpuOperator *first = op->data, *coming;

  if (!first->is_cold) return CEED_ERROR_SUCCESS;
  op->data = NULL;
  const int ierr = begin(op);
  coming = op->data;
  op->data = first;
  if (!ierr && coming->path <= RITZ_PATH_POINTER) {
    coming->is_later = true;
    first->coming = coming;
  } else {
    ritz_cpu_free_data(&coming);
  }
  first->is_cold = ierr;
  return ierr;
}

// ---- All that are asked for ----

static int begin_one(CeedOperator op, CeedVector in) {
  if (!op->data && in && is_tiered(op)) {
    RITZ_TRY(begin_cold(op, in));
    if (op->data) return CEED_ERROR_SUCCESS;
  }
  return op->data ? ritz_cpu_plan_kernel(op) : begin(op);
}

// *fresh (owned by the caller): those that are not ready; planned. On failure those that have no plan
// are without data. in NULL: kernels are wanted whatever applies have cost.
static int begin_all(CeedInt num, CeedOperator *ops, CeedVector in, CeedInt *num_fresh,
                     CeedOperator **fresh) {
  *num_fresh = 0;
  RITZ_TRY(RITZ_CALLOC(ops[0]->obj.ceed, (size_t)num, fresh));
  for (CeedInt i = 0; i < num; i++) {
    RitzCpuOperator *cpu = ops[i]->data;
    if (cpu && !in) cpu->applies_left = 0;
    if (ritz_cpu_is_ready(ops[i])) continue;
    (*fresh)[(*num_fresh)++] = ops[i];
    const int ierr = begin_one(ops[i], in);
    if (ierr) ritz_cpu_operator_destroy(ops[i]);
    RITZ_TRY(ierr);
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_prepare(CeedInt num, CeedOperator *ops, CeedVector in) {
  CeedOperator *fresh = NULL;
  CeedInt n = 0;

  for (CeedInt i = 0; i < num; i++) n += !ritz_cpu_is_ready(ops[i]);
  if (n == 0) return CEED_ERROR_SUCCESS;
  int ierr = begin_all(num, ops, in, &n, &fresh);
  if (!ierr) ierr = make_apply_kernels(ops[0]->obj.ceed, n, fresh);
  for (CeedInt i = 0; i < n && !ierr; i++) {
    if (!ritz_cpu_is_ready(fresh[i])) ierr = advance(fresh[i], in);
  }
  for (CeedInt i = 0; i < n && ierr; i++) ritz_cpu_operator_destroy(fresh[i]); // the next apply tries again
  RITZ_FREE(&fresh);
  return ierr;
}

int ritz_cpu_prepare_kernel(CeedOperator op, CeedVector in) {
  if (op->use == RITZ_USE_MANY) {
    RITZ_TRY(ritz_cpu_operators_prepare(1, &op, &(int){RITZ_PREPARE_APPLY}, false));
  }
  return ritz_cpu_prepare(1, &op, in);
}

// ---- Ahead of the first use ----

// What is wanted of all operators.
typedef struct {
  size_t num;
  RitzJitOrder *orders; // owned [3 num operators]
  char **texts;         // owned [2 num operators], and theirs: of diagonals and point blocks
} Orders;

static void free_orders(CeedInt num, Orders *o) {
  for (CeedInt i = 0; i < 2 * num && o->texts; i++) RITZ_FREE(&o->texts[i]);
  ritz_free((void **)&o->texts);
  RITZ_FREE(&o->orders);
}

// Diagonals are assembled once: applies come first.
static int add_orders(CeedOperator op, int wanted, char **texts, Orders *o) {
  if (!has_generated_kernel(op)) return CEED_ERROR_SUCCESS;
  RitzJitOrder order = order_of(op);
  o->orders[o->num++] = order; // a diagonal's way goes through it
  order.source.is_optional = false;
  if (!order.waits) order.source.urgency = 0;
  for (int is_block = 0; is_block < 2; is_block++) {
    if (!(wanted & (is_block ? RITZ_PREPARE_POINT_BLOCKS : RITZ_PREPARE_DIAGONAL))) continue;
    RITZ_TRY(ritz_cpu_diagonal_text(op, is_block, &texts[is_block], &order.kernel));
    order.source.text = texts[is_block];
    if (order.kernel) o->orders[o->num++] = order;
  }
  return CEED_ERROR_SUCCESS;
}

// Of an operator that is served first, those of the data that are coming.
static int list_orders(CeedInt num, CeedOperator *ops, const int *wanted, bool waits, Orders *o) {
  int ierr = RITZ_CALLOC(ops[0]->obj.ceed, 3 * (size_t)num, &o->orders);

  if (!ierr) ierr = RITZ_CALLOC(ops[0]->obj.ceed, 2 * (size_t)num, &o->texts);
  for (CeedInt i = 0; i < num && !ierr; i++) {
    RitzCpuOperator *cpu = ops[i]->data;

    if (cpu->coming) ops[i]->data = cpu->coming;
    ierr = add_orders(ops[i], wanted[i], &o->texts[2 * i], o);
    ops[i]->data = cpu;
  }
  for (size_t i = 0; i < o->num; i++) o->orders[i].waits = waits;
  return ierr;
}

int ritz_cpu_operators_prepare(CeedInt num, CeedOperator *ops, const int *wanted, bool in_background) {
  const Ceed ceed = ops[0]->obj.ceed;
  CeedInt num_fresh = 0;
  CeedOperator *fresh = NULL;
  Orders o = {0};

  int ierr = begin_all(num, ops, NULL, &num_fresh, &fresh);
  if (!ierr) ierr = list_orders(num, ops, wanted, !in_background, &o);
  if (!ierr) ierr = (in_background ? ritz_jit_kernels_begin : ritz_jit_kernels_make)(ceed, o.num, o.orders);
  free_orders(num, &o);
  RITZ_FREE(&fresh);
  return ierr;
}

void ritz_cpu_free_data(RitzCpuOperator **data) {
  RitzCpuOperator *cpu = *data;
  if (!cpu) return;
  ritz_cpu_free_data(&cpu->coming);
  ritz_cpu_diagonal_destroy(&cpu->diagonal);
  ritz_cpu_diagonal_destroy(&cpu->point_blocks);
  ritz_cpu_matrices_destroy(&cpu->matrices_of_groups);
  ritz_cpu_apply_hooks_destroy(&cpu->hooks);
  ritz_schedule_destroy(&cpu->schedule);
  ritz_jit_kernel_release(&cpu->code);
  ritz_cpu_free_matrices(cpu);
  free_plan(cpu);
  RITZ_FREE(&cpu->reason);
  RITZ_FREE(&cpu->text);
  RITZ_FREE(&cpu->spaces);
  RITZ_FREE(&cpu->args);
  RITZ_FREE((void **)&cpu->zeroed);
  RITZ_FREE(data);
}

int ritz_cpu_operator_destroy(CeedOperator op) {
  RitzCpuOperator *cpu = op->data;
  if (!cpu) return CEED_ERROR_SUCCESS;
  if (op->is_composite) {
    RitzCpuApplyHooks *hooks = op->data;
    ritz_cpu_apply_hooks_destroy(&hooks);
    op->data = NULL;
    return CEED_ERROR_SUCCESS;
  }
  ritz_cpu_free_data(&cpu);
  op->data = NULL;
  return CEED_ERROR_SUCCESS;
}
