// SPDX-License-Identifier: BSD-2-Clause
// Fused kernels of operators: plan, text, kernel, arguments and launches, of all actions (contracts in
// gen.h).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/basis.h"
#include "backends/gpu/gen.h"
#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"
#include "base/environment.h"
#include "emit/emit.h"
#include "jit/strings.h"

// ---- Life ----

// Frees what an action owns besides its kernel.
static void free_plan(RitzGpuOperator *g) {
  switch (g->action) {
  case RITZ_ACTION_APPLY: ritz_plan_free(&g->plan); // fallthrough
  case RITZ_ACTION_TWO:
  case RITZ_ACTION_MANY: ritz_plan_gpu_free(&g->target); break;
  case RITZ_ACTION_ENERGY: ritz_plan_gpu_free_energy(&g->target); break;
  default:
    ritz_plan_gpu_diagonal_free(&g->device);
    ritz_plan_free_diagonal(&g->diagonal);
    ritz_plan_gpu_at_points_free(&g->points);
  }
}

static void release(Ceed ceed, RitzGpuOperator *g) {
  ritz_gpu_replay_destroy(ceed, &g->replay);
  ritz_gpu_kernel_release(ceed, &g->kernel);
  RITZ_FREE(&g->text);
  RITZ_FREE(&g->args);
  RITZ_FREE(&g->arrays);
}

void ritz_gpu_gen_free(Ceed ceed, RitzGpuOperator **made) {
  RitzGpuOperator *g = *made;
  if (!g) return;
  for (int i = 0; i < RITZ_NUM_ACTIONS; i++) ritz_gpu_gen_free(ceed, &g->actions[i]);
  release(ceed, g);
  free_plan(g);
  RITZ_FREE(made);
}

int ritz_gpu_operator_destroy(CeedOperator op) {
  RitzGpuOperator *g = op->data;
  ritz_gpu_gen_free(op->obj.ceed, &g);
  op->data = NULL;
  return CEED_ERROR_SUCCESS;
}

// ---- Plan ----

static int make_target(CeedOperator op, const RitzGpuChoice *choice, RitzGpuOperator *g) {
  const RitzGpu *gpu = ritz_gpu(op->obj.ceed);
  const RitzGpuMachine device = ritz_gpu_gen_machine(op);
  ritz_plan_gpu_free(&g->target);
  RITZ_TRY(ritz_plan_gpu(op, g->plan, &device, choice, gpu->is_deterministic, &g->target));
  g->reason = g->target->reason;
  return CEED_ERROR_SUCCESS;
}

static int try_plan(CeedOperator op, const RitzGpuChoice *choice, bool allows_blocks, RitzGpuOperator *g) {
  const char *simple = ritz_environment(ENV_RITZ_SIMPLE_INPUTS);
  const RitzPlanOptions options = {.allows_simple_inputs = !simple || strcmp(simple, "off") != 0,
                                   .allows_blocks = allows_blocks};
  ritz_plan_free(&g->plan);
  RITZ_TRY(ritz_plan_operator(op, &options, &g->plan, &g->reason));
  return g->plan ? make_target(op, choice, g) : CEED_ERROR_SUCCESS;
}

static bool has_blocks(const RitzPlan *plan) {
  for (int b = 0; plan && b < plan->num_bases; b++) {
    if (plan->bases[b].route == RITZ_ROUTE_BLOCKS) return true;
  }
  return false;
}

// Vector bases of tensor products that cannot go by lines are dense ones.
static int make_fused_plan(CeedOperator op, const RitzGpuChoice *choice, RitzGpuOperator *g) {
  RITZ_TRY(try_plan(op, choice, true, g));
  if (!g->reason || !has_blocks(g->plan)) return CEED_ERROR_SUCCESS;
  g->dense_reason = g->reason;
  return try_plan(op, choice, false, g);
}

// Makes the target that was measured as the fastest; the model's stays where that cannot be made here.
static int use_measured(CeedOperator op, const char *source, RitzGpuOperator *g) {
  const RitzGpuChoice model = {0};
  RITZ_TRY(ritz_gpu_tune_find(op, g->plan, g->target, source, &g->tuning));
  if (!g->tuning.is_measured || g->reason) return CEED_ERROR_SUCCESS;
  RITZ_TRY(make_target(op, &g->tuning.choice, g));
  if (!g->reason) return CEED_ERROR_SUCCESS;
  g->tuning.is_measured = false;
  return make_target(op, &model, g);
}

// ---- Arguments ----

static CeedElemRestriction restriction_of(const RitzGpuOperator *g, int s) {
  return ritz_operator_field(g->op, g->plan->spaces[s].field)->rstr;
}

static int offsets_of(CeedElemRestriction rstr, CeedInt row_length, void **offsets) {
  const CeedInt *found;
  if (row_length) return ritz_gpu_restriction_rows(rstr, row_length, (const void **)offsets);
  RITZ_TRY_BACKEND(CeedElemRestrictionGetOffsets(rstr, CEED_MEM_DEVICE, &found));
  *offsets = (void *)found; // stays as long as the restriction, which the operator holds
  return CeedElemRestrictionRestoreOffsets(rstr, &found);
}

static int64_t stride_of(const RitzGpuOperator *g, int s, int d) {
  const RitzPlanSpace *space = &g->plan->spaces[s];
  const CeedInt strides[3] = {1, space->restriction.comp_stride, 0};
  if (g->target->spaces[s].scatter == RITZ_SCATTER_E_VECTOR)
    return (int64_t)space->num_nodes * g->plan->num_elem; // of components, the only one that is asked for
  return space->restriction.type == CEED_RESTRICTION_STRIDED ? space->restriction.strides[d] : strides[d];
}

// A matrix of a dense basis, which the basis keeps for all operators.
static int matrix_of(const RitzGpuOperator *g, const RitzGpuArg *what, void **matrix) {
  const RitzPlanBasis *b = &g->plan->bases[what->number];
  const bool is_values = what->kind == RITZ_GPU_ARG_INTERP || what->kind == RITZ_GPU_ARG_INTERP_T;
  const bool exchanges = what->kind == RITZ_GPU_ARG_INTERP || what->kind == RITZ_GPU_ARG_DERIV;
  const void *found;
  RITZ_TRY(ritz_gpu_basis_table_of(ritz_operator_field(g->op, b->field)->basis,
                                   is_values ? CEED_EVAL_INTERP : b->deriv_mode, exchanges,
                                   g->plan->precision, &found));
  *matrix = (void *)found;
  return CEED_ERROR_SUCCESS;
}

static int tiles_of(const RitzGpuOperator *g, const RitzGpuArg *what, void **tiles) {
  const RitzPlanBasis *b = &g->plan->bases[what->number];
  const void *found;
  RITZ_TRY(ritz_gpu_basis_tiles(ritz_operator_field(g->op, b->field)->basis,
                                what->kind == RITZ_GPU_ARG_INTERP_TILES ? CEED_EVAL_INTERP : b->deriv_mode,
                                &found));
  *tiles = (void *)found;
  return CEED_ERROR_SUCCESS;
}

static int make_arg(const RitzGpuOperator *g, const RitzGpuArg *what, RitzDeviceArg *arg) {
  void *p = NULL;
  switch (what->kind) {
  case RITZ_GPU_ARG_OFFSETS:
    RITZ_TRY(offsets_of(restriction_of(g, what->number), g->target->spaces[what->number].row_length, &p));
    break;
  case RITZ_GPU_ARG_ORIENTS:
    RITZ_TRY(ritz_gpu_restriction_orients(restriction_of(g, what->number), (const void **)&p));
    break;
  case RITZ_GPU_ARG_NODE_STRIDE:
  case RITZ_GPU_ARG_COMP_STRIDE:
  case RITZ_GPU_ARG_ELEM_STRIDE:
    *arg = (RitzDeviceArg)RITZ_LONG(stride_of(g, what->number, (int)(what->kind - RITZ_GPU_ARG_NODE_STRIDE)));
    return CEED_ERROR_SUCCESS;
  case RITZ_GPU_ARG_ARRAY:
  case RITZ_GPU_ARG_ENERGIES: break; // for each launch
  case RITZ_GPU_ARG_VECTORS:
  case RITZ_GPU_ARG_COLUMN: *arg = (RitzDeviceArg)RITZ_INT(0); return CEED_ERROR_SUCCESS; // likewise
  case RITZ_GPU_ARG_INTERP_TILES:
  case RITZ_GPU_ARG_DERIV_TILES: RITZ_TRY(tiles_of(g, what, &p)); break;
  default: RITZ_TRY(matrix_of(g, what, &p));
  }
  *arg = (RitzDeviceArg)RITZ_POINTER(p);
  return CEED_ERROR_SUCCESS;
}

size_t ritz_gpu_gen_e_vector_bytes(const RitzGpuOperator *g, int s) {
  const RitzPlanSpace *space = &g->plan->spaces[s];
  if (g->target->spaces[s].scatter != RITZ_SCATTER_E_VECTOR) return 0;
  return ritz_gpu_aligned_bytes((size_t)space->restriction.e_size * ritz_scalar_bytes(space->precision));
}

static int fill_args(RitzGpuOperator *g) {
  g->args[0] = (RitzDeviceArg)RITZ_LONG(g->plan->num_elem);
  for (int i = 0; i < g->target->num_args; i++) RITZ_TRY(make_arg(g, &g->target->args[i], &g->args[2 + i]));
  g->e_bytes = 0;
  for (int s = 0; s < g->plan->num_spaces; s++) g->e_bytes += ritz_gpu_gen_e_vector_bytes(g, s);
  return CEED_ERROR_SUCCESS;
}

// Kernels of several vectors have arrays of each behind those of one.
static int make_args(CeedOperator op, RitzGpuOperator *g) {
  const size_t num_vectors = g->target->takes_many ? 1 + RITZ_GPU_MANY : 1;
  if (!g->arrays) RITZ_TRY(RITZ_CALLOC(op->obj.ceed, num_vectors * (size_t)g->plan->num_spaces, &g->arrays));
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 2 + (size_t)g->target->num_args, &g->args));
  const int ierr = fill_args(g);
  if (ierr) RITZ_FREE(&g->args);
  return ierr;
}

// ---- Kernel ----

static RitzGpuTextKind kind_of(const RitzGpuOperator *g) {
  const RitzPlan *plan = g->plan;
  if (g->points || plan->precision == CEED_SCALAR_TYPE) return RITZ_TEXT_SCALARS;
  return ritz_gpu_converts_arguments(plan) ? RITZ_TEXT_MIXED : RITZ_TEXT_FLOATS;
}

// Whether an apply that runs once takes less time than to compile it well. Hasty code keeps arrays of threads
// in memory: some hundred GFLOP/s.
static bool is_for_once(CeedOperator op, const RitzGpuOperator *g) {
  const double most = 1e10; // flops
  if (op->use != RITZ_USE_ONCE || op->data != g) return false;
  return (double)ritz_plan_gpu_cost(g->plan, g->target).flops * g->plan->num_elem <= most;
}

static int describe_kernel(CeedOperator op, RitzGpuOperator *g) {
  Ceed ceed = op->obj.ceed;
  const CeedQFunction qf = op->qf;
  const bool is_diagonal = g->action == RITZ_ACTION_DIAGONAL || g->action == RITZ_ACTION_POINT_BLOCKS;
  char *what = NULL, *define = NULL;
  if (g->kernel.state != RITZ_KERNEL_NONE) return CEED_ERROR_SUCCESS;
  int ierr = g->points ? ritz_format(ceed, &what, "operator at points with QFunction '%s' of %s",
                                     qf->kernel_name, qf->source_path)
                       : ritz_format(ceed, &what, "operator '%s' with QFunction '%s' of %s", g->plan->name,
                                     qf->kernel_name, qf->source_path);
  if (!ierr) ierr = ritz_gpu_context_define(qf, g->context_bytes, &define);
  if (!ierr) {
    const RitzGpuText text = {.name = qf->kernel_name,
                              .what = what,
                              .entry = is_diagonal ? "ritz_diagonal" : "ritz_operator",
                              .kind = kind_of(g) | (is_for_once(op, g) ? RITZ_TEXT_ONCE : 0),
                              .num = 2,
                              .texts = {define, g->text}};
    ierr = ritz_gpu_kernel_describe(ceed, &text, &g->kernel);
  }
  RITZ_FREE(&what);
  RITZ_FREE(&define);
  return ierr;
}

int ritz_gpu_gen_begin(CeedOperator op, RitzGpuOperator *g) {
  RITZ_TRY(describe_kernel(op, g));
  return ritz_gpu_kernel_begin(op->obj.ceed, &g->kernel);
}

// A refusal is no error but the kernel's state.
static int try_kernel(CeedOperator op, RitzGpuOperator *g) {
  RITZ_TRY(describe_kernel(op, g));
  return ritz_gpu_kernel_try(op->obj.ceed, &g->kernel);
}

bool ritz_gpu_gen_is_pending(const RitzGpuOperator *g) {
  return g && !g->reason && !g->args && g->route == RITZ_OPERATOR_ROUTE_FUSED;
}

int ritz_gpu_gen_load(CeedOperator op, RitzGpuOperator *g) {
  RITZ_TRY(describe_kernel(op, g));
  RITZ_TRY(ritz_gpu_kernel_load(op->obj.ceed, &g->kernel));
  return g->points || g->args ? CEED_ERROR_SUCCESS : make_args(op, g);
}

// ---- Texts ----

static int emit(CeedOperator op, const char *source, RitzGpuOperator *g) {
  if (g->points) return ritz_emit_gpu_at_points(op, g->points, source, &g->text);
  return g->device ? ritz_emit_gpu_diagonal(op->obj.ceed, g->device, source, &g->text)
                   : ritz_emit_gpu(op->obj.ceed, g->plan, g->target, source, &g->text);
}

int ritz_gpu_gen_emit(CeedOperator op, RitzGpuOperator *g) {
  char *source = NULL;
  RITZ_TRY(ritz_gpu_qfunction_load(op->qf, &source));
  const int ierr = emit(op, source, g);
  RITZ_FREE(&source);
  return ierr;
}

// Makes g->text, by the measured choice unless the choice is given.
static int make_text(CeedOperator op, bool is_chosen, RitzGpuOperator *g) {
  char *source = NULL;
  RITZ_TRY(ritz_gpu_qfunction_load(op->qf, &source));
  int ierr = is_chosen ? CEED_ERROR_SUCCESS : use_measured(op, source, g);
  if (!ierr && !g->reason) ierr = emit(op, source, g);
  RITZ_FREE(&source);
  return ierr;
}

int ritz_gpu_gen_describe(CeedOperator op, const RitzGpuChoice *choice, RitzGpuOperator **made) {
  const RitzGpuChoice model = {0};
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, made));
  RitzGpuOperator *g = *made;
  g->op = op;
  g->context_bytes = op->qf->ctx ? op->qf->ctx->storage.num_bytes : 0;
  g->is_writable = op->qf->is_context_writable;
  int ierr = make_fused_plan(op, choice ? choice : &model, g);
  if (!ierr && g->plan && g->plan->source_path && !(g->reason && choice)) ierr = make_text(op, choice, g);
  g->route = RITZ_OPERATOR_ROUTE_FUSED;
  if (!ierr && !choice) ritz_gpu_gen_choose_route(op, g);
  if (ierr) ritz_gpu_gen_free(op->obj.ceed, made);
  return ierr;
}

int ritz_gpu_gen_action(CeedOperator op, RitzGpuOperator *apply, RitzGpuAction action,
                        RitzGpuDescribe describe, RitzGpuOperator **made) {
  RitzGpuOperator **kept = &apply->actions[action];
  *made = *kept;
  if (*kept) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, kept));
  **kept = (RitzGpuOperator){.action = action,
                             .op = op,
                             .route = RITZ_OPERATOR_ROUTE_FUSED,
                             .context_bytes = apply->context_bytes,
                             .is_writable = apply->is_writable};
  const int ierr = describe(op, apply, *kept);
  if (ierr) ritz_gpu_gen_free(op->obj.ceed, kept);
  *made = *kept;
  return ierr;
}

int ritz_gpu_gen_load_action(CeedOperator op, RitzGpuOperator *apply, RitzGpuAction action) {
  const int ierr = ritz_gpu_gen_load(op, apply->actions[action]);
  if (ierr) ritz_gpu_gen_free(op->obj.ceed, &apply->actions[action]);
  return ierr;
}

// A text that compiles with the library's CeedScalar may not do so with float: OpenCL finds some calls of
// functions with constants of double ambiguous. Core/ then applies the operator otherwise, and meets the
// message of a text that never compiles.
static int load_operator(CeedOperator op, RitzGpuOperator *g) {
  if (kind_of(g) == RITZ_TEXT_FLOATS) RITZ_TRY(try_kernel(op, g));
  if (kind_of(g) != RITZ_TEXT_FLOATS || g->kernel.state == RITZ_KERNEL_READY) return ritz_gpu_gen_load(op, g);
  release(op->obj.ceed, g);
  g->reason = "a QFunction that does not compile in single precision";
  return CEED_ERROR_SUCCESS;
}

static bool is_current(CeedOperator op) {
  const RitzGpuOperator *g = op->data;
  const size_t context_bytes = op->qf->ctx ? op->qf->ctx->storage.num_bytes : 0;
  return g && g->context_bytes == context_bytes && g->is_writable == op->qf->is_context_writable &&
         g->asked == op->route;
}

int ritz_gpu_gen_begin_operator(CeedOperator op, RitzGpuOperator **made) {
  RitzGpuOperator *g = NULL;
  if (!is_current(op)) {
    RITZ_TRY(ritz_gpu_operator_destroy(op));
    RITZ_TRY(ritz_gpu_gen_describe(op, NULL, &g));
    op->data = g;
  }
  *made = op->data;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_gen_prepare(CeedOperator op, RitzGpuOperator **made) {
  RITZ_TRY(ritz_gpu_gen_begin_operator(op, made));
  const int ierr = ritz_gpu_gen_is_pending(*made) ? load_operator(op, *made) : CEED_ERROR_SUCCESS;
  if (ierr) (void)ritz_gpu_operator_destroy(op); // the next call tries again
  *made = op->data;
  return ierr;
}

// ---- Vectors ----

static CeedVector space_vector_of(const RitzGpuOperator *g, int s, CeedVector in, CeedVector out) {
  const RitzPlanSpace *space = &g->plan->spaces[s];
  return !space->is_active ? ritz_operator_field(g->op, space->field)->vec : space->is_input ? in : out;
}

// The output space before s that holds the array of this vector, or -1.
static int earlier_fused_output(const RitzGpuOperator *g, int s, CeedVector vec, CeedVector out) {
  for (int t = 0; t < s; t++) {
    if (!g->plan->spaces[t].is_input && space_vector_of(g, t, NULL, out) == vec) return t;
  }
  return -1;
}

// Whether one of the outputs to this vector wants it zeroed.
static bool is_zeroed(const RitzGpuOperator *g, CeedVector vec, CeedVector out, RitzApplyMode mode) {
  for (int s = 0; s < g->plan->num_spaces; s++) {
    const RitzPlanSpace *space = &g->plan->spaces[s];
    if (space->is_input || space_vector_of(g, s, NULL, out) != vec) continue;
    if (mode == RITZ_APPLY_OVERWRITE || (mode == RITZ_APPLY_ADD_ACTIVE && !space->is_active)) return true;
  }
  return false;
}

static int get_output(RitzGpuOperator *g, int s, CeedVector vec, CeedVector out, RitzApplyMode mode) {
  const int holder = earlier_fused_output(g, s, vec, out);
  if (holder >= 0)
    g->arrays[s] = g->arrays[holder];
  else if (is_zeroed(g, vec, out, mode))
    RITZ_TRY_BACKEND(ritz_vector_lock(vec, RITZ_ACCESS_WRITE, CEED_MEM_DEVICE, &g->arrays[s]));
  else
    RITZ_TRY_BACKEND(ritz_vector_lock(vec, RITZ_ACCESS_READ_WRITE, CEED_MEM_DEVICE, &g->arrays[s]));
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_gen_get_array(RitzGpuOperator *g, int s, CeedVector in, CeedVector out, RitzApplyMode mode) {
  const RitzPlanSpace *space = &g->plan->spaces[s];
  CeedVector vec = space_vector_of(g, s, in, out);
  if (!space->is_input) return get_output(g, s, vec, out, mode);
  RITZ_TRY_BACKEND(ritz_vector_lock(vec, RITZ_ACCESS_READ, CEED_MEM_DEVICE, &g->arrays[s]));
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_gen_restore_array(RitzGpuOperator *g, int s, CeedVector in, CeedVector out) {
  const RitzPlanSpace *space = &g->plan->spaces[s];
  CeedVector vec = space_vector_of(g, s, in, out);
  const RitzAccess access = space->is_input ? RITZ_ACCESS_READ : RITZ_ACCESS_READ_WRITE;
  if (!space->is_input && earlier_fused_output(g, s, vec, out) >= 0) return CEED_ERROR_SUCCESS;
  return ritz_vector_unlock(vec, access, &g->arrays[s], CEED_ERROR_SUCCESS);
}

// ---- Running ----

// Places of the E-vectors of outputs in work memory; else the L-vectors themselves.
static int place_outputs(CeedOperator op, RitzGpuOperator *g) {
  char *e_vec = NULL;
  if (g->e_bytes > 0) RITZ_TRY(ritz_gpu_work(op->obj.ceed, RITZ_WORK_OPERATOR, g->e_bytes, (void **)&e_vec));
  for (int i = 0; i < g->target->num_args; i++) {
    const int s = g->target->args[i].number;
    if (g->target->args[i].kind != RITZ_GPU_ARG_ARRAY) continue;
    const bool has_e_vec = g->target->spaces[s].scatter == RITZ_SCATTER_E_VECTOR;
    g->args[2 + i].value.p = has_e_vec ? (void *)e_vec : g->arrays[s];
    if (has_e_vec) e_vec += ritz_gpu_gen_e_vector_bytes(g, s);
  }
  return CEED_ERROR_SUCCESS;
}

static int clear_output(Ceed ceed, CeedVector vec, void *array) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  if (vec->length == 0) return CEED_ERROR_SUCCESS;
  return gpu->driver->clear(ceed, gpu->device, gpu->stream, vec->storage.num_bytes, array);
}

// Zeroes all outputs that want it but the last, which comes with the launch.
static int clear_outputs(CeedOperator op, RitzGpuOperator *g, CeedVector out, RitzApplyMode mode,
                         CeedVector *last, void **array) {
  *last = NULL;
  for (int s = 0; s < g->plan->num_spaces; s++) {
    const RitzPlanSpace *space = &g->plan->spaces[s];
    CeedVector vec = space_vector_of(g, s, NULL, out);
    if (space->is_input || earlier_fused_output(g, s, vec, out) >= 0 || !is_zeroed(g, vec, out, mode))
      continue;
    if (*last) RITZ_TRY(clear_output(op->obj.ceed, *last, *array));
    *last = vec;
    *array = g->arrays[s];
  }
  return CEED_ERROR_SUCCESS;
}

static int launch_fused(CeedOperator op, RitzGpuOperator *g, CeedVector cleared, void *array) {
  Ceed ceed = op->obj.ceed;
  const RitzGpuTarget *t = g->target;
  const int64_t num_blocks = (g->plan->num_elem + (int64_t)t->num_elem - 1) / t->num_elem;
  const int num_args = 2 + t->num_args;
  if (cleared && (num_blocks == 0 || cleared->length == 0)) RITZ_TRY(clear_output(ceed, cleared, array));
  if (!cleared || num_blocks == 0 || cleared->length == 0)
    return ritz_gpu_launch(ceed, &g->kernel, NULL, num_blocks, t->num_threads, t->shared_bytes, num_args,
                           g->args);
  return ritz_gpu_launch_cleared(ceed, &g->kernel, cleared->storage.num_bytes, array, num_blocks,
                                 t->num_threads, t->shared_bytes, num_args, g->args, &g->replay);
}

int ritz_gpu_gen_sum_output(const RitzGpuOperator *g, int s, const void *e_vec, void *array) {
  const RitzPlanSpace *space = &g->plan->spaces[s];
  const bool has_signs = space->is_oriented || space->is_curl_oriented;
  return ritz_gpu_restriction_sum(restriction_of(g, s), has_signs, space->precision, e_vec, array);
}

// E-vectors of outputs into their L-vectors.
static int add_fused_outputs(RitzGpuOperator *g) {
  for (int i = 0; i < g->target->num_args; i++) {
    const int s = g->target->args[i].number;
    if (g->target->args[i].kind != RITZ_GPU_ARG_ARRAY ||
        g->target->spaces[s].scatter != RITZ_SCATTER_E_VECTOR)
      continue;
    RITZ_TRY(ritz_gpu_gen_sum_output(g, s, g->args[2 + i].value.p, g->arrays[s]));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_gen_run(CeedOperator op, RitzGpuOperator *g, CeedVector cleared, void *array) {
  void *context;
  RITZ_TRY(place_outputs(op, g));
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(op->qf, CEED_MEM_DEVICE, &context));
  g->args[1] = (RitzDeviceArg)RITZ_POINTER(context);
  const int ierr = launch_fused(op, g, cleared, array);
  const int restored = ritz_qfunction_restore_context_data(op->qf, &context);
  RITZ_TRY_BACKEND(ierr ? ierr : restored);
  return add_fused_outputs(g);
}

static int clear_and_run(CeedOperator op, RitzGpuOperator *g, CeedVector out, RitzApplyMode mode) {
  CeedVector cleared;
  void *array = NULL;
  RITZ_TRY(clear_outputs(op, g, out, mode, &cleared, &array));
  return ritz_gpu_gen_run(op, g, cleared, array);
}

int ritz_gpu_gen_apply_kernel(CeedOperator op, RitzGpuOperator *g, CeedVector in, CeedVector out,
                              RitzApplyMode mode) {
  int num_held = 0, ierr = CEED_ERROR_SUCCESS;
  for (; !ierr && num_held < g->plan->num_spaces; num_held += !ierr)
    ierr = ritz_gpu_gen_get_array(g, num_held, in, out, mode);
  if (!ierr) ierr = clear_and_run(op, g, out, mode);
  for (int s = 0; s < num_held; s++) {
    const int restored = ritz_gpu_gen_restore_array(g, s, in, out);
    if (!ierr) ierr = restored;
  }
  return ierr;
}
