// SPDX-License-Identifier: BSD-2-Clause
// One apply: arrays of all spaces, the kernel over the schedule, everything given back.
#include <string.h>

#include "backends/cpu/cpu.h"
#include "backends/ref/ref.h"
#include "core/operator.h"
#include "core/profile.h"
#include <ritz/precision.h>

// ---- Arrays ----

CeedElemRestriction ritz_cpu_restriction_of(CeedOperator op, const RitzPlanSpace *space) {
  return space->field < 0 ? op->rstr_points : ritz_operator_field(op, space->field)->rstr;
}

CeedVector ritz_cpu_vector_of(CeedOperator op, const RitzPlanSpace *space) {
  return space->field < 0 ? op->point_coords : ritz_operator_field(op, space->field)->vec;
}

static CeedVector apply_vector_of(CeedOperator op, int s, CeedVector in, CeedVector out) {
  const RitzPlanSpace *space = &ritz_cpu_tier(op)->plan->spaces[s];
  return !space->is_active ? ritz_cpu_vector_of(op, space) : space->is_input ? in : out;
}

// The output space before s that holds the same array, or -1.
static int earlier_cpu_output(const RitzPlan *plan, int s) {
  for (int t = 0; t < s; t++) {
    if (!plan->spaces[t].is_input && plan->spaces[t].array == plan->spaces[s].array) return t;
  }
  return -1;
}

static bool is_zeroed(const RitzPlanSpace *space, RitzApplyMode mode) {
  return mode == RITZ_APPLY_OVERWRITE || (mode == RITZ_APPLY_ADD_ACTIVE && !space->is_active);
}

static RitzPacking packing_of(const RitzPlan *plan, const RitzCpuTarget *target, int s,
                              const RitzKernelSpace *kernel) {
  const RitzPlanSpace *space = &plan->spaces[s];
  RitzPacking packing = {.num_elem = plan->num_elem,
                         .num_nodes = space->num_nodes,
                         .num_comp = space->num_comp,
                         .lanes = target->lanes};
  memcpy(packing.strides, kernel->strides, sizeof(packing.strides));
  return packing;
}

int ritz_cpu_get_input(const RitzPlan *plan, const RitzCpuTarget *target, int s, CeedVector vec,
                       RitzKernelSpace *kernel) {
  if (target->spaces[s].gather == RITZ_GATHER_PACKED) {
    const RitzPacking packing = packing_of(plan, target, s, kernel);
    const void *packed;
    RITZ_TRY_BACKEND(ritz_vector_get_packed(vec, &packing, &packed));
    kernel->array = (void *)packed; // kernels do not write inputs
  } else {
    RITZ_TRY_BACKEND(ritz_vector_lock(vec, RITZ_ACCESS_READ, CEED_MEM_HOST, &kernel->array));
  }
  return CEED_ERROR_SUCCESS;
}

static size_t entry_bytes(const RitzPlan *plan, int s) {
  return ritz_scalar_bytes(plan->spaces[s].precision);
}

// Whether an output may be written in the order in which kernels of this machine read data at points: its
// layout was left to the backend, and nothing else writes to its vector. The ahead-of-time kernel may have
// other lanes.
static bool may_be_packed(CeedOperator op, int s) {
  const RitzCpuTier *tier = ritz_cpu_tier(op);
  const RitzPlanSpace *space = &tier->plan->spaces[s];
  CeedElemRestriction rstr = ritz_operator_field(op, space->field)->rstr;
  RitzCpuMachine machine;
  RitzPlanOptions options;

  if (space->basis >= 0 || rstr->type != CEED_RESTRICTION_STRIDED ||
      !ritz_restriction_has_backend_strides(rstr) || space->precision != tier->plan->precision)
    return false;
  for (int t = 0; t < tier->plan->num_spaces; t++) {
    if (t != s && tier->plan->spaces[t].array == space->array) return false;
  }
  ritz_cpu_environment(space->precision, &machine, &options);
  return tier->target->lanes == machine.lanes;
}

static int get_packed_output(CeedOperator op, int s, CeedVector vec) {
  const RitzCpuTier *tier = ritz_cpu_tier(op);
  RitzKernelSpace *kernel = &tier->spaces[s];
  const RitzPacking packing = packing_of(tier->plan, tier->target, s, kernel);

  RITZ_TRY_BACKEND(ritz_vector_begin_packed(vec, &packing, &kernel->array));
  kernel->is_packed = kernel->array != NULL;
  return CEED_ERROR_SUCCESS;
}

// An output that is zeroed needs no old values. Entries beyond what the schedule covers are zeroed here.
static int get_output(CeedOperator op, int s, CeedVector vec, RitzApplyMode mode) {
  RitzCpuTier *tier = ritz_cpu_tier(op);
  const RitzPlan *plan = tier->plan;
  RitzKernelSpace *kernel = &tier->spaces[s];
  const int holder = earlier_cpu_output(plan, s);

  if (holder >= 0) {
    kernel->array = tier->spaces[holder].array;
    return CEED_ERROR_SUCCESS;
  }
  if (!is_zeroed(&plan->spaces[s], mode)) {
    RITZ_TRY_BACKEND(ritz_vector_lock(vec, RITZ_ACCESS_READ_WRITE, CEED_MEM_HOST, &kernel->array));
    return CEED_ERROR_SUCCESS;
  }
  if (may_be_packed(op, s)) RITZ_TRY(get_packed_output(op, s, vec));
  if (kernel->is_packed) return CEED_ERROR_SUCCESS;
  RITZ_TRY_BACKEND(ritz_vector_lock(vec, RITZ_ACCESS_WRITE, CEED_MEM_HOST, &kernel->array));
  tier->zeroed[s] = kernel->array;
  CeedSize covered = 0;
  for (int t = s; t < plan->num_spaces; t++) {
    const RitzPlanSpace *space = &plan->spaces[t];
    if (space->array == plan->spaces[s].array && space->restriction.l_size > covered)
      covered = space->restriction.l_size;
  }
  if (vec->length > covered)
    memset((char *)kernel->array + (size_t)covered * entry_bytes(plan, s), 0,
           (size_t)(vec->length - covered) * entry_bytes(plan, s));
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_get_arrays(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode, int *num_held) {
  RitzCpuTier *tier = ritz_cpu_tier(op);
  *num_held = 0;
  for (int s = 0; s < tier->plan->num_spaces; s++) {
    const RitzPlanSpace *space = &tier->plan->spaces[s];
    CeedVector vec = apply_vector_of(op, s, in, out);
    tier->zeroed[s] = NULL;
    RITZ_TRY(space->is_input ? ritz_cpu_get_input(tier->plan, tier->target, s, vec, &tier->spaces[s])
                             : get_output(op, s, vec, mode));
    *num_held = s + 1;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_restore_input(const RitzCpuTarget *target, int s, CeedVector vec, RitzKernelSpace *kernel) {
  void *array = kernel->array;
  const void *packed = array;

  kernel->array = NULL;
  if (target->spaces[s].gather == RITZ_GATHER_PACKED) return ritz_vector_restore_packed(vec, &packed);
  return ritz_vector_unlock(vec, RITZ_ACCESS_READ, &array, CEED_ERROR_SUCCESS);
}

static int restore_array(RitzCpuTier *tier, int s, CeedVector vec) {
  void *array = tier->spaces[s].array;

  if (tier->plan->spaces[s].is_input) return ritz_cpu_restore_input(tier->target, s, vec, &tier->spaces[s]);
  tier->spaces[s].array = NULL;
  if (earlier_cpu_output(tier->plan, s) >= 0) return CEED_ERROR_SUCCESS;
  if (tier->spaces[s].is_packed) {
    tier->spaces[s].is_packed = false;
    return ritz_vector_end_packed(vec, &array, CEED_ERROR_SUCCESS);
  }
  return ritz_vector_unlock(vec, RITZ_ACCESS_READ_WRITE, &array, CEED_ERROR_SUCCESS);
}

int ritz_cpu_restore_arrays(CeedOperator op, CeedVector in, CeedVector out, int num_held) {
  int ierr = CEED_ERROR_SUCCESS;
  for (int s = 0; s < num_held; s++) {
    const int restored = restore_array(ritz_cpu_tier(op), s, apply_vector_of(op, s, in, out));
    if (!ierr) ierr = restored;
  }
  return ierr;
}

// ---- Running ----

void ritz_cpu_zero_range(void *data, int32_t space, int64_t first, int64_t count) {
  const RitzCpuZeroing *zeroing = data;
  const size_t bytes = entry_bytes(zeroing->plan, space);
  char *array = zeroing->arrays[space];
  if (array) memset(array + (size_t)first * bytes, 0, (size_t)count * bytes);
}

static int run_apply(CeedOperator op, void *context, RitzApplyMode mode) {
  RitzCpuTier *tier = ritz_cpu_tier(op);
  const RitzCpu *ceed = op->obj.ceed->data;
  RitzCpuZeroing zeroing = {tier->plan, tier->zeroed};
  const RitzKernelHook zero = {.begin = tier->schedule->before_begin,
                               .ranges = tier->schedule->before,
                               .call = ritz_cpu_zero_range,
                               .data = &zeroing};

  for (int t = 0; t < ceed->num_threads; t++) {
    RitzKernelArgs *args = &tier->args[t];
    args->context = context;
    args->before = mode == RITZ_APPLY_ADD ? NULL : &zero;
    args->work = ceed->work[t];
  }
  ((RitzCpuOperator *)op->data)->applies_left--;
  const int code = ritz_schedule_run(tier->schedule, ceed->team, tier->kernel, tier->args);
  RITZ_TRY_BACKEND(code);
  return CEED_ERROR_SUCCESS;
}

static int run_with_context(CeedOperator op, RitzApplyMode mode) {
  void *context;
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(op->qf, CEED_MEM_HOST, &context));
  const int ierr = run_apply(op, context, mode);
  const int restored = ritz_qfunction_restore_context_data(op->qf, &context);
  return ierr ? ierr : restored;
}

// The active output of this call is a passive output of the operator, too: the schedule takes them for two.
static bool is_output_twice(CeedOperator op, CeedVector out) {
  const RitzPlan *plan = ritz_cpu_tier(op)->plan;
  bool has_active = false, has_passive = false;
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    if (space->is_input) continue;
    has_active = has_active || space->is_active;
    has_passive = has_passive || (!space->is_active && apply_vector_of(op, s, NULL, NULL) == out);
  }
  return has_active && has_passive;
}

static int apply_prepared(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);

// The active output apart from the passive one that it is, too; added to that in the end.
static int apply_apart(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  CeedVector apart = NULL;

  RITZ_TRY(RitzVectorCreate(op->obj.ceed, out->length, out->precision, &apart));
  int ierr = CeedVectorSetValue(apart, 0);
  if (!ierr) ierr = apply_prepared(op, in, apart, mode);
  if (!ierr) ierr = CeedVectorAXPY(out, 1, apart);
  CeedVectorDestroy(&apart);
  return ierr;
}

static int apply_prepared(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  RitzCpuTier *tier = ritz_cpu_tier(op);
  int num_held = 0;

  if (tier->path == RITZ_PATH_DELEGATED) return ritz_ref_operator_apply(op, in, out, mode);
  if (is_output_twice(op, out) && ritz_cpu_is_mixed(op)) return apply_apart(op, in, out, mode);
  if (is_output_twice(op, out)) {
    RITZ_TRY(ritz_cpu_warn(op, "CeedOperatorApply", "its active output is one of its passive outputs, too",
                           "the reference backend runs it"));
    return ritz_ref_operator_apply(op, in, out, mode);
  }
  int ierr = ritz_cpu_get_arrays(op, in, out, mode, &num_held);
  if (!ierr) ierr = run_with_context(op, mode);
  const int restored = ritz_cpu_restore_arrays(op, in, out, num_held);
  return ierr ? ierr : restored;
}

int ritz_cpu_operator_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  RITZ_TRY(ritz_cpu_prepare(1, &op, in));
  return apply_prepared(op, in, out, mode);
}

int ritz_cpu_prepare_composite(CeedOperator op, CeedVector in, CeedVector out) {
  const double begin = op->obj.ceed->profile ? ritz_profile_seconds() : 0;
  CeedOperator *ours = NULL;
  CeedInt num = 0;
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; i < op->num_sub; i++) {
    CeedOperator sub = op->sub[i];
    if (sub->obj.ceed != op->obj.ceed || sub->num_elem == 0) continue;
    RITZ_TRY_CLEANUP(ritz_operator_variant_for(sub, in, out, &sub));
    if (ritz_cpu_is_ready(sub)) continue;
    if (!ours)
      RITZ_TRY_CLEANUP(RITZ_CALLOC(op->obj.ceed, (size_t)op->num_sub, &ours)); // the first time alone
    ours[num++] = sub;
  }
  if (num > 0) ierr = ritz_cpu_prepare(num, ours, in);
  if (!ierr && op->obj.ceed->profile) ritz_profile_prepared(num, ours, begin);
cleanup:
  RITZ_FREE(&ours);
  return ierr;
}

// The outputs are zeroed once, then all sub-operators add. Zeroed first: the passive output of one may be the
// input of another, whose function is looked at before anything has run.
int ritz_cpu_composite_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  RITZ_TRY(ritz_operator_zero_outputs(op, out, mode));
  RITZ_TRY(ritz_cpu_prepare_composite(op, in, out));
  for (CeedInt i = 0; i < op->num_sub; i++) {
    if (op->sub[i]->num_elem > 0) RITZ_TRY(ritz_operator_run(op->sub[i], in, out, RITZ_APPLY_ADD));
  }
  return CEED_ERROR_SUCCESS;
}
