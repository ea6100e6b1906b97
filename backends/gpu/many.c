// SPDX-License-Identifier: BSD-2-Clause
// /gpu/*/gen: kernels that apply an operator to two and to up to RITZ_GPU_MANY vectors at once, made on first
// use beside that of the apply: the slot operator_apply_many. More vectors are some launches.
#include "backends/gpu/gen.h"
#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"
#include "core/operator.h"
#include "emit/emit.h"

// ---- The kernel ----

static int describe_many(CeedOperator op, const RitzGpuOperator *apply, RitzGpuOperator *g) {
  const RitzGpuMachine device = ritz_gpu_gen_machine(op);
  const CeedInt most = g->action == RITZ_ACTION_TWO ? 2 : RITZ_GPU_MANY;
  g->plan = apply->plan;
  RITZ_TRY(ritz_plan_gpu_many(op, apply->plan, &device, apply->target,
                              ritz_gpu(op->obj.ceed)->is_deterministic, most, &g->target));
  return ritz_gpu_gen_emit(op, g);
}

// *many: of the operator, the kernel for `num` vectors.
static int get_many_kernel(CeedOperator op, RitzGpuOperator *apply, CeedInt num, RitzGpuOperator **many) {
  const RitzGpuAction action = num > 2 ? RITZ_ACTION_MANY : RITZ_ACTION_TWO;
  RITZ_TRY(ritz_gpu_gen_action(op, apply, action, describe_many, many));
  return ritz_gpu_gen_load_action(op, apply, action);
}

// ---- One launch ----

// Vectors of a launch, num <= RITZ_GPU_MANY.
typedef struct {
  CeedOperator op;
  RitzGpuOperator *kernel;
  CeedInt num;
  const CeedVector *in, *out;
  RitzApplyMode mode;
} Launch;

static void **arrays_of(const Launch *l, CeedInt k) {
  return l->kernel->arrays + ((size_t)k + 1) * (size_t)l->kernel->plan->num_spaces;
}

// *num_held: spaces that hold their arrays, also on failure.
static int get_arrays(const Launch *l, CeedInt k, int *num_held) {
  RitzGpuOperator *g = l->kernel;
  for (int s = 0; s < g->plan->num_spaces; s++) {
    RITZ_TRY(ritz_gpu_gen_get_array(g, s, l->in[k], l->out[k], l->mode));
    arrays_of(l, k)[s] = g->arrays[s];
    *num_held = s + 1;
  }
  return CEED_ERROR_SUCCESS;
}

static int restore_arrays(const Launch *l, CeedInt k, int num_held) {
  RitzGpuOperator *g = l->kernel;
  int ierr = CEED_ERROR_SUCCESS;
  for (int s = 0; s < num_held; s++) {
    g->arrays[s] = arrays_of(l, k)[s];
    const int restored = ritz_gpu_gen_restore_array(g, s, l->in[k], l->out[k]);
    if (!ierr) ierr = restored;
  }
  return ierr;
}

// Clears the outputs, all of them active: one array of each vector, none of operators without outputs.
static int clear_many_outputs(const Launch *l) {
  const RitzPlan *plan = l->kernel->plan;
  const RitzGpu *gpu = ritz_gpu(l->op->obj.ceed);
  int s = 0;
  while (s < plan->num_spaces && plan->spaces[s].is_input) s++;
  for (CeedInt k = 0; s < plan->num_spaces && l->mode != RITZ_APPLY_ADD && k < l->num; k++) {
    const CeedVector vec = l->out[k];
    if (vec->length > 0)
      RITZ_TRY(gpu->driver->clear(l->op->obj.ceed, gpu->device, gpu->stream, vec->storage.num_bytes,
                                  arrays_of(l, k)[s]));
  }
  return CEED_ERROR_SUCCESS;
}

// The array of an argument: E-vectors of outputs lie one after the other, for each vector those of all
// spaces. Vectors that are not there stand for the first one, and are not touched.
static void *array_of(const Launch *l, const RitzGpuArg *arg, char *e_vec) {
  const RitzGpuOperator *g = l->kernel;
  const CeedInt k = arg->vector < l->num ? arg->vector : 0;
  size_t place = (size_t)k * g->e_bytes;
  if (g->target->spaces[arg->number].scatter != RITZ_SCATTER_E_VECTOR) return arrays_of(l, k)[arg->number];
  for (int s = 0; s < arg->number; s++) place += ritz_gpu_gen_e_vector_bytes(g, s);
  return e_vec + place;
}

// Elements, each with a set of the vectors that a thread takes together.
static int64_t num_items(const Launch *l) {
  const RitzGpuOperator *g = l->kernel;
  const CeedInt together = g->target->vectors_per_thread;
  return (int64_t)g->plan->num_elem * ((l->num + together - 1) / together);
}

static int place_many(const Launch *l) {
  RitzGpuOperator *g = l->kernel;
  void *e_vec = NULL;
  if (g->e_bytes > 0)
    RITZ_TRY(ritz_gpu_work(l->op->obj.ceed, RITZ_WORK_OPERATOR, g->e_bytes * (size_t)l->num, &e_vec));
  g->args[0] = (RitzDeviceArg)RITZ_LONG(num_items(l));
  for (int i = 0; i < g->target->num_args; i++) {
    const RitzGpuArg *arg = &g->target->args[i];
    if (arg->kind == RITZ_GPU_ARG_VECTORS) g->args[2 + i] = (RitzDeviceArg)RITZ_INT(l->num);
    if (arg->kind == RITZ_GPU_ARG_ARRAY) g->args[2 + i].value.p = array_of(l, arg, e_vec);
  }
  return CEED_ERROR_SUCCESS;
}

static int launch_many(const Launch *l) {
  RitzGpuOperator *g = l->kernel;
  const RitzGpuTarget *t = g->target;
  const int64_t num = num_items(l);
  void *context;
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(l->op->qf, CEED_MEM_DEVICE, &context));
  g->args[1] = (RitzDeviceArg)RITZ_POINTER(context);
  const int ierr = ritz_gpu_launch(l->op->obj.ceed, &g->kernel, NULL, (num + t->num_elem - 1) / t->num_elem,
                                   t->num_threads, t->shared_bytes, 2 + t->num_args, g->args);
  const int restored = ritz_qfunction_restore_context_data(l->op->qf, &context);
  RITZ_TRY_BACKEND(ierr ? ierr : restored);
  return CEED_ERROR_SUCCESS;
}

static int sum_many(const Launch *l) {
  RitzGpuOperator *g = l->kernel;
  for (int i = 0; i < g->target->num_args; i++) {
    const RitzGpuArg *arg = &g->target->args[i];
    if (arg->kind != RITZ_GPU_ARG_ARRAY || arg->vector >= l->num ||
        g->target->spaces[arg->number].scatter != RITZ_SCATTER_E_VECTOR)
      continue;
    RITZ_TRY(ritz_gpu_gen_sum_output(g, arg->number, g->args[2 + i].value.p,
                                     arrays_of(l, arg->vector)[arg->number]));
  }
  return CEED_ERROR_SUCCESS;
}

static int run_launch(const Launch *l) {
  RITZ_TRY(clear_many_outputs(l));
  RITZ_TRY(place_many(l));
  RITZ_TRY(launch_many(l));
  return sum_many(l);
}

static int apply_launch(const Launch *l) {
  int num_held[RITZ_GPU_MANY] = {0}, ierr = CEED_ERROR_SUCCESS;
  for (CeedInt k = 0; !ierr && k < l->num; k++) ierr = get_arrays(l, k, &num_held[k]);
  if (!ierr) ierr = run_launch(l);
  for (CeedInt k = 0; k < l->num; k++) {
    const int restored = restore_arrays(l, k, num_held[k]);
    if (!ierr) ierr = restored;
  }
  return ierr;
}

// ---- All vectors ----

// Launches of nearly equal size, whose elements with sets of vectors are numbers of 32 bits.
static CeedInt count_launches(const RitzPlan *plan, CeedInt num) {
  const int64_t room = (int64_t)UINT32_MAX / (plan->num_elem > 0 ? plan->num_elem : 1);
  const CeedInt most = room < RITZ_GPU_MANY ? (CeedInt)room : RITZ_GPU_MANY;
  return (num + most - 1) / most;
}

int ritz_gpu_gen_apply_many(CeedOperator op, CeedInt num, const CeedVector *in, const CeedVector *out,
                            RitzApplyMode mode, bool *is_done) {
  RitzGpuOperator *g;
  if (op->is_at_points) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  if (g->reason || g->route != RITZ_OPERATOR_ROUTE_FUSED) return CEED_ERROR_SUCCESS;
  const CeedInt num_launches = count_launches(g->plan, num);
  RitzGpuOperator *many;
  RITZ_TRY(get_many_kernel(op, g, (num + num_launches - 1) / num_launches, &many));
  *is_done = true;
  for (CeedInt i = 0; i < num_launches; i++) {
    const CeedInt first = (CeedInt)((int64_t)num * i / num_launches);
    const CeedInt last = (CeedInt)((int64_t)num * (i + 1) / num_launches);
    const Launch launch = {op, many, last - first, in + first, out + first, mode};
    RITZ_TRY(apply_launch(&launch));
  }
  return CEED_ERROR_SUCCESS;
}
