// SPDX-License-Identifier: BSD-2-Clause
// From an operator to something that runs: plan, text, kernel, schedule. What does not work falls back one
// step at a time, and says so: text of the QFunction -> its pointer -> ahead-of-time kernel -> reference
// backend. An operator that need not wait for a compiler is served by the ahead-of-time kernel; when its
// applies have cost as much as a compilation, a generated kernel is begun, and serves once it is there.
#include <math.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "base/text.h"
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

// A generated kernel calls a function in CeedScalar with what it has.
static bool can_call_pointer(CeedOperator op) {
  return op->precision == CEED_SCALAR_TYPE || !ritz_cpu_is_mixed(op);
}

// The nearest step from `path` down that can be taken. Nothing is delegated while the ahead-of-time kernel
// serves: with vectors of another precision the reference backend cannot take over.
static RitzCpuPath nearest_path(CeedOperator op, RitzCpuPath path) {
  const RitzCpuOperator *cpu = op->data;
  if (path == RITZ_PATH_POINTER && !can_call_pointer(op))
    path = op->qf->f ? RITZ_PATH_UNFUSED : RITZ_PATH_DELEGATED;
  return path == RITZ_PATH_DELEGATED && cpu->is_served_ahead ? RITZ_PATH_UNFUSED : path;
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

static const char *const served_by[] = {
    [RITZ_PATH_TEXT] = "",
    [RITZ_PATH_POINTER] = "its function pointer is called",
    [RITZ_PATH_UNFUSED] = "the ahead-of-time kernel runs it",
    [RITZ_PATH_DELEGATED] = "the reference backend runs it",
};

// Takes a step down; below kernels that call a pointer the tier keeps nothing but the reason. `warns`: with a
// warning, as RITZ_WARNINGS says. What is delegated where vectors or arithmetic are not CeedScalar is left to
// core/, which tells why, and applies another operator.
static int step_down(CeedOperator op, RitzCpuTier *tier, RitzCpuPath path, bool warns, const char *reason) {
  char *kept = NULL;

  path = nearest_path(op, path);
  RITZ_TRY(ritz_strdup(op->obj.ceed, reason, &kept));
  if (path == RITZ_PATH_POINTER) { // the same plan
    ritz_cpu_tier_destroy_diagonals(tier);
    for (int action = 0; action < RITZ_NUM_CPU_ACTIONS; action++)
      ritz_jit_kernel_release(&tier->kernels[action]);
    RITZ_FREE(&tier->reason);
  } else {
    ritz_cpu_tier_destroy(tier);
  }
  tier->path = path;
  tier->reason = kept;
  const bool is_left = path == RITZ_PATH_DELEGATED && ritz_cpu_is_mixed(op);
  return (warns || !op->qf->f) && !is_left ? ritz_cpu_warn(op, "CeedOperatorApply", kept, served_by[path])
                                           : CEED_ERROR_SUCCESS;
}

// ---- Policy ----

// Of the kernel that is wanted, or that serves; no cost without a plan.
static void cost_of(CeedOperator op, RitzOperatorCost *cost) {
  const RitzCpuOperator *cpu = op->data;
  ritz_cpu_tier_cost(cpu->generated.plan ? &cpu->generated : &cpu->ahead, cost);
}

// An apply takes the ahead-of-time kernel less time than a compiler: that is slower by 0.2 ns an operation,
// and a compilation takes more than half a second. It calls the application's function.
static bool is_shorter_than_compilation(CeedOperator op) {
  const double worth_compiling = 3e9; // operations of one thread
  const RitzCpu *context = op->obj.ceed->data;
  RitzOperatorCost cost = {0};
  cost_of(op, &cost);
  return op->qf->f && cost.flops <= worth_compiling * context->num_threads;
}

static bool is_optional(CeedOperator op) {
  return op->use == RITZ_USE_ONCE && is_shorter_than_compilation(op);
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
  cost_of(op, &cost);
  return cost.flops + cost.bytes;
}

// Applies of the ahead-of-time kernel that cost about as much as looking for the generated one, and a part of
// what a compilation does: tens of milliseconds. 0: one costs as much.
static int64_t num_cold_applies(CeedOperator op) {
  const double worth_a_look = 5e7; // operations and bytes of one thread
  const RitzCpu *context = op->obj.ceed->data;
  RitzOperatorCost cost = {0};
  cost_of(op, &cost);
  return (int64_t)(worth_a_look * context->num_threads / (1 + cost.flops + cost.bytes));
}

// ---- Kernel ----

static bool lacks_code(const RitzCpuTier *tier) {
  return ritz_cpu_has_generated_kernel(tier) && !tier->kernels[RITZ_CPU_APPLY].module;
}

static RitzCpuTier *generated_of(CeedOperator op) { return &((RitzCpuOperator *)op->data)->generated; }

static RitzJitOrder order_of(CeedOperator op) {
  RitzCpuTier *tier = generated_of(op);
  RitzJitOrder order = {ritz_cpu_source(op, tier, tier->text), &tier->kernels[RITZ_CPU_APPLY],
                        !ritz_cpu_may_serve_first(op)};
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
    if (ritz_cpu_has_generated_kernel(generated_of(ops[i]))) orders[n++] = order_of(ops[i]);
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

// No generated kernel. When that is because of the machine, it is said of all operators at once.
static int go_unfused(CeedOperator op, RitzCpuTier *tier, bool is_machine, const char *reason) {
  RITZ_TRY(step_down(op, tier, RITZ_PATH_UNFUSED, !is_machine, reason));
  return is_machine ? ritz_warn_once(op->obj.ceed, "CeedOperatorApply", "operators", tier->reason,
                                     "the ahead-of-time kernel runs them")
                    : CEED_ERROR_SUCCESS;
}

// Builds the kernel once more, with the application's function instead of its text; without code where nobody
// waits for it.
static int go_pointer(CeedOperator op, RitzCpuTier *tier, bool warns, const char *reason) {
  RITZ_TRY(step_down(op, tier, RITZ_PATH_POINTER, warns, reason));
  if (tier->path != RITZ_PATH_POINTER) return CEED_ERROR_SUCCESS;
  ritz_plan_cpu_use_pointer(tier->plan, tier->target);
  if (tier->target->evaluation == RITZ_EVALUATE_NONE)
    return go_unfused(op, tier, false, "the application's function cannot be called row by row");
  RITZ_TRY(ritz_cpu_tier_emit(op, tier));
  return make_apply_kernels(op->obj.ceed, 1, &op);
}

// Asked for, so nobody is told.
static int go_unfused_once(CeedOperator op, RitzCpuTier *tier) {
  return step_down(op, tier, RITZ_PATH_UNFUSED, false,
                   "it is applied once (RITZ_USE_ONCE), and there is no kernel for it in the cache");
}

// A module that is not what was hoped for: what comes next. Borrowed words of the module are copied first.
static int refuse_module(CeedOperator op, RitzCpuTier *tier, const char *reason) {
  const RitzJitStatus status = ritz_jit_status(tier->kernels[RITZ_CPU_APPLY].module);

  if (status == RITZ_JIT_REFUSED && tier->target->call == RITZ_CALL_TEXT) {
    RITZ_TRY(warn_of_file(op, tier->plan->source_path, reason));
    return go_pointer(op, tier, false, reason);
  }
  if (is_optional(op) && status != RITZ_JIT_REFUSED) return go_unfused_once(op, tier);
  return go_unfused(op, tier, status == RITZ_JIT_NO_COMPILER || status == RITZ_JIT_NOT_LOADED, reason);
}

// Ends with a kernel, without code where nobody waits for the next one, or a step below generated kernels.
static int judge_module(CeedOperator op, RitzCpuTier *tier) {
  while (ritz_cpu_has_generated_kernel(tier) && tier->kernels[RITZ_CPU_APPLY].module) {
    const RitzJitModule module = tier->kernels[RITZ_CPU_APPLY].module;
    if (ritz_cpu_find_kernel(module, tier->target->lanes)) return CEED_ERROR_SUCCESS;
    RITZ_TRY(refuse_module(op, tier, ritz_jit_reason(module)));
  }
  return CEED_ERROR_SUCCESS;
}

// The text must say what the function does; one that writes its context needs each point called exactly once.
static int judge_function(CeedOperator op, RitzCpuTier *tier, CeedVector in) {
  const bool is_text = tier->path == RITZ_PATH_TEXT;
  const bool is_single = tier->plan->precision != CEED_SCALAR_TYPE && !tier->plan->has_context;
  RitzQFunction text = NULL;
  const CeedInt vec_length = tier->plan->vec_length;
  const CeedInt points = is_text ? tier->target->lanes * tier->target->call_points : vec_length;
  RitzCpuFunctionCheck found;

  if (!op->qf->f) return CEED_ERROR_SUCCESS;
  if (is_text) find_function(tier->kernels[RITZ_CPU_APPLY].module, RITZ_QFUNCTION_SYMBOL, &text);
  RITZ_TRY(ritz_cpu_check_function(op, in, text, is_single, points, &found));
  if (found.writes_context)
    return step_down(op, tier, RITZ_PATH_DELEGATED, true, "its QFunction writes to its context");
  tier->is_unchecked = is_text && found.agrees && op->qf->num_out > 0 && !found.has_compared;
  if (found.agrees) return CEED_ERROR_SUCCESS;
  RITZ_TRY(
      go_pointer(op, tier, true,
                 found.has_unusual
                     ? "the text of its QFunction does not compute what the function in the program does, or "
                       "rounds otherwise: some of the values are not finite"
                     : "the text of its QFunction does not compute what the function in the program does"));
  return judge_module(op, tier);
}

// ---- Tiers ----

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
static int begin_with_pointer(CeedOperator op, RitzCpuTier *tier) {
  RitzPlanOptions options;
  RitzCpuMachine machine;
  const RitzCpuPath path = can_call_pointer(op) ? RITZ_PATH_POINTER : RITZ_PATH_DELEGATED;
  char *reason = NULL;

  ritz_cpu_environment(op->precision, &machine, &options);
  if (!machine.allows_text || !op->qf->source_path)
    return step_down(op, tier, path, false,
                     op->qf->source_path ? "RITZ_QFUNCTION is 'pointer'" : "its QFunction has no text");
  RITZ_TRY(describe_source(op, &reason));
  int ierr = path == RITZ_PATH_POINTER ? warn_of_file(op, op->qf->source_path, reason) : CEED_ERROR_SUCCESS;
  if (!ierr) ierr = step_down(op, tier, path, false, reason);
  RITZ_FREE(&reason);
  return ierr;
}

// The plan of a generated kernel and its text, or the step below.
static int plan_generated(CeedOperator op) {
  RitzCpuTier *tier = generated_of(op);
  const char *reason = NULL;

  if (op->is_at_points) {
    RITZ_TRY_BACKEND(ritz_operator_check_points(op));
    return step_down(op, tier, RITZ_PATH_UNFUSED, false, "kernels at points are not generated");
  }
  RITZ_TRY(ritz_cpu_tier_plan(op, tier, &reason));
  if (!tier->plan) return step_down(op, tier, RITZ_PATH_DELEGATED, true, reason);
  if (tier->target->evaluation == RITZ_EVALUATE_NONE)
    return go_unfused(op, tier, false, "its bases do not share one grid of points");
  if (tier->target->call == RITZ_CALL_POINTER) RITZ_TRY(begin_with_pointer(op, tier));
  return ritz_cpu_has_generated_kernel(tier) ? ritz_cpu_tier_emit(op, tier) : CEED_ERROR_SUCCESS;
}

// Ready afterwards, or without code where nobody waits for it, or a step below generated kernels.
static int finish_generated(CeedOperator op, CeedVector in) {
  RitzCpuTier *tier = generated_of(op);

  while (ritz_cpu_has_generated_kernel(tier) && !tier->is_ready) {
    if (lacks_code(tier)) RITZ_TRY(make_apply_kernels(op->obj.ceed, 1, &op));
    if (lacks_code(tier)) return CEED_ERROR_SUCCESS;
    RITZ_TRY(judge_module(op, tier));
    if (!ritz_cpu_has_generated_kernel(tier) || lacks_code(tier)) continue;
    RITZ_TRY(judge_function(op, tier, in));
    if (ritz_cpu_has_generated_kernel(tier) && !lacks_code(tier)) RITZ_TRY(ritz_cpu_tier_finish(op, tier));
  }
  return CEED_ERROR_SUCCESS;
}

static int plan_ahead(CeedOperator op) {
  RitzCpuTier *tier = &((RitzCpuOperator *)op->data)->ahead;
  const char *reason = NULL;

  RITZ_TRY(ritz_cpu_tier_plan_unfused(op, tier, &reason));
  return tier->plan ? CEED_ERROR_SUCCESS : step_down(op, tier, RITZ_PATH_DELEGATED, true, reason);
}

// The ahead-of-time kernel, planned, serves; the reference backend where that cannot, for good.
static int serve_ahead(CeedOperator op, CeedVector in, const char *reason) {
  RitzCpuOperator *cpu = op->data;
  RitzCpuTier *tier = &cpu->ahead;

  if (tier->plan) {
    RITZ_TRY(ritz_strdup(op->obj.ceed, reason, &tier->reason));
    RITZ_TRY(judge_function(op, tier, in));
  }
  RITZ_TRY(ritz_cpu_tier_finish(op, tier));
  cpu->is_served_ahead = true;
  if (tier->path != RITZ_PATH_DELEGATED) return CEED_ERROR_SUCCESS;
  ritz_cpu_tier_destroy(&cpu->generated);
  cpu->generated.path = RITZ_PATH_UNFUSED;
  return CEED_ERROR_SUCCESS;
}

// Nothing came of the generated kernel: the ahead-of-time kernel goes on, for this reason.
static void keep_ahead(RitzCpuOperator *cpu) {
  if (ritz_cpu_has_generated_kernel(&cpu->generated) || !cpu->generated.reason) return;
  ritz_cpu_tier_destroy_diagonals(&cpu->ahead); // these name the reason
  RITZ_FREE(&cpu->ahead.reason);
  cpu->ahead.reason = cpu->generated.reason;
  cpu->generated.reason = NULL;
}

// In the timing table other rows begin.
static void end_ahead(CeedOperator op) {
  RitzCpuOperator *cpu = op->data;

  if (!cpu->is_served_ahead) return;
  cpu->is_served_ahead = false;
  ritz_cpu_tier_destroy(&cpu->ahead);
  for (int action = 0; action < RITZ_NUM_PROFILE_ACTIONS; action++) op->profile[action] = NULL;
}

// One of both tiers is ready afterwards.
static int settle(CeedOperator op, CeedVector in) {
  RitzCpuOperator *cpu = op->data;
  RitzCpuTier *tier = &cpu->generated;

  RITZ_TRY(finish_generated(op, in));
  if (tier->path == RITZ_PATH_DELEGATED) return ritz_cpu_tier_finish(op, tier);
  if (tier->is_ready) {
    end_ahead(op);
  } else if (cpu->is_served_ahead) {
    keep_ahead(cpu);
  } else {
    RITZ_TRY(plan_ahead(op));
    return serve_ahead(op, in,
                       ritz_cpu_has_generated_kernel(tier) ? "its kernel is being compiled" : tier->reason);
  }
  return CEED_ERROR_SUCCESS;
}

// The generated kernel is to be begun, or there.
static bool is_due(const RitzCpuOperator *cpu) {
  if (!cpu->is_served_ahead || cpu->applies_left > 0) return false;
  return cpu->is_cold ||
         (ritz_cpu_is_coming(cpu) &&
          ritz_jit_kernel_state(&cpu->generated.kernels[RITZ_CPU_APPLY]) != RITZ_JIT_KERNEL_COMPILING);
}

bool ritz_cpu_is_ready(CeedOperator op) {
  const RitzCpuOperator *cpu = op->data;
  return cpu && ritz_cpu_tier(op)->is_ready && !is_due(cpu);
}

// Serves by the ahead-of-time kernel, without a word with the compiler; not where applies are dear.
static int begin_cold(CeedOperator op, CeedVector in) {
  RitzCpuOperator *cpu = op->data;

  RITZ_TRY(plan_ahead(op));
  cpu->applies_left = cpu->ahead.plan ? num_cold_applies(op) : 0;
  if (cpu->applies_left == 0) {
    ritz_cpu_tier_destroy(&cpu->ahead);
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(serve_ahead(op, in, "its applies have not cost as much as a compilation so far"));
  cpu->is_cold = cpu->ahead.path == RITZ_PATH_UNFUSED;
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_plan_kernel(CeedOperator op) {
  RitzCpuOperator *cpu = op->data;

  if (!cpu->is_cold) return CEED_ERROR_SUCCESS;
  const int ierr = plan_generated(op);
  if (ierr) ritz_cpu_tier_destroy(&cpu->generated);
  RITZ_TRY(ierr);
  cpu->is_cold = false;
  keep_ahead(cpu);
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_make_ahead(CeedOperator op, RitzCpuTier **ahead) {
  RitzCpuTier *tier = &((RitzCpuOperator *)op->data)->ahead;
  int ierr = CEED_ERROR_SUCCESS;

  if (!tier->is_ready) ierr = plan_ahead(op);
  if (!ierr && !tier->is_ready) ierr = ritz_cpu_tier_finish(op, tier);
  if (ierr) ritz_cpu_tier_destroy(tier);
  *ahead = tier;
  return ierr;
}

// ---- All that are asked for ----

static int begin_one(CeedOperator op, CeedVector in) {
  RitzCpuOperator *cpu = NULL;

  if (op->data) return ritz_cpu_plan_kernel(op);
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &cpu));
  op->data = cpu;
  if (in && is_tiered(op)) RITZ_TRY(begin_cold(op, in));
  return cpu->is_served_ahead ? CEED_ERROR_SUCCESS : plan_generated(op);
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
    if (!ritz_cpu_is_ready(fresh[i])) ierr = settle(fresh[i], in);
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

// Of generated kernels. Diagonals are assembled once: applies come first.
static int add_orders(CeedOperator op, int wanted, char **texts, Orders *o) {
  if (!ritz_cpu_has_generated_kernel(generated_of(op))) return CEED_ERROR_SUCCESS;
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

static int list_orders(CeedInt num, CeedOperator *ops, const int *wanted, bool waits, Orders *o) {
  int ierr = RITZ_CALLOC(ops[0]->obj.ceed, 3 * (size_t)num, &o->orders);

  if (!ierr) ierr = RITZ_CALLOC(ops[0]->obj.ceed, 2 * (size_t)num, &o->texts);
  for (CeedInt i = 0; i < num && !ierr; i++) ierr = add_orders(ops[i], wanted[i], &o->texts[2 * i], o);
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

int ritz_cpu_operator_destroy(CeedOperator op) {
  if (!op->data) return CEED_ERROR_SUCCESS;
  RitzCpuOperator *cpu = op->is_composite ? NULL : op->data;
  RitzCpuApplyHooks *hooks = cpu ? cpu->hooks : op->data;

  ritz_cpu_apply_hooks_destroy(&hooks);
  if (cpu) ritz_cpu_tier_destroy(&cpu->generated);
  if (cpu) ritz_cpu_tier_destroy(&cpu->ahead);
  RITZ_FREE(&cpu);
  op->data = NULL;
  return CEED_ERROR_SUCCESS;
}
