// SPDX-License-Identifier: BSD-2-Clause
// /gpu/*/gen: an operator as one fused kernel, made on first use from its plan. What cannot be fused runs as
// the separate kernels of operator.c, with one warning.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/basis.h"
#include "backends/gpu/gen.h"
#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"
#include "emit/emit.h"
#include "jit/files.h"
#include "jit/words.h"

void ritz_gpu_gen_release(Ceed ceed, RitzGpuOperator *g) {
  ritz_gpu_replay_destroy(ceed, &g->replay);
  ritz_gpu_program_release(ceed, &g->program);
  RITZ_FREE(&g->text);
  RITZ_FREE(&g->args);
  RITZ_FREE(&g->arrays);
  g->kernel = NULL;
}

void ritz_gpu_gen_free(Ceed ceed, RitzGpuOperator **made) {
  RitzGpuOperator *g = *made;
  if (!g) return;
  ritz_gpu_diagonal_destroy(ceed, &g->diagonal);
  ritz_gpu_diagonal_destroy(ceed, &g->point_blocks);
  ritz_gpu_energy_destroy(ceed, &g->energy);
  for (int i = 0; i < 2; i++) ritz_gpu_many_destroy(ceed, &g->many[i]);
  ritz_gpu_at_points_destroy(ceed, &g->at_points);
  ritz_gpu_gen_release(ceed, g);
  ritz_plan_gpu_free(&g->target);
  ritz_plan_free(&g->plan);
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
  const char *simple = ritz_environment("RITZ_SIMPLE_INPUTS");
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

// The target that was measured to be the fastest; what is kept of a measurement may be of no use here.
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

static int make_args(CeedOperator op, RitzGpuOperator *g) {
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 2 + (size_t)g->target->num_args, &g->args));
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)g->plan->num_spaces, &g->arrays));
  g->args[0] = (RitzDeviceArg)RITZ_LONG(g->plan->num_elem);
  for (int i = 0; i < g->target->num_args; i++) RITZ_TRY(make_arg(g, &g->target->args[i], &g->args[2 + i]));
  for (int s = 0; s < g->plan->num_spaces; s++) g->e_bytes += ritz_gpu_gen_e_vector_bytes(g, s);
  return CEED_ERROR_SUCCESS;
}

// ---- Kernel ----

static RitzGpuTextKind kind_of(const RitzPlan *plan) {
  if (plan->precision == CEED_SCALAR_TYPE) return RITZ_TEXT_SCALARS;
  return ritz_gpu_converts_arguments(plan) ? RITZ_TEXT_MIXED : RITZ_TEXT_FLOATS;
}

// Whether an apply that runs once takes less time than to compile it well. Hasty code keeps arrays of threads
// in memory: some hundred GFLOP/s.
static bool is_for_once(CeedOperator op, const RitzGpuOperator *g) {
  const double most = 1e10; // flops
  if (op->use != RITZ_USE_ONCE || op->data != g) return false;
  return (double)ritz_plan_gpu_cost(g->plan, g->target).flops * g->plan->num_elem <= most;
}

// is_ahead: nobody waits for the program, which comes later.
static int compile_text(Ceed ceed, CeedOperator op, RitzGpuOperator *g, bool is_ahead) {
  const RitzGpuTextKind kind = kind_of(g->plan) | (is_for_once(op, g) ? RITZ_TEXT_ONCE : 0);
  char *what = NULL, *define = NULL;
  int ierr = ritz_format(ceed, &what, "operator '%s' with QFunction '%s' of %s", g->plan->name,
                         op->qf->kernel_name, op->qf->source_path);
  if (!ierr) ierr = ritz_gpu_context_define(op->qf, g->context_bytes, &define);
  if (!ierr) {
    const char *const texts[] = {define, g->text}, *name = op->qf->kernel_name;
    ierr = is_ahead ? ritz_gpu_program_ahead(ceed, kind, name, what, 2, texts)
                    : ritz_gpu_program_of(ceed, kind, name, what, 2, texts, &g->program);
  }
  RITZ_FREE(&what);
  RITZ_FREE(&define);
  return ierr;
}

int ritz_gpu_gen_compile(Ceed ceed, CeedOperator op, RitzGpuOperator *g) {
  return compile_text(ceed, op, g, false);
}

int ritz_gpu_gen_begin(CeedOperator op, RitzGpuOperator *g) {
  return compile_text(op->obj.ceed, op, g, true);
}

bool ritz_gpu_gen_is_pending(const RitzGpuOperator *g) {
  return g && !g->reason && !g->kernel && g->route == RITZ_OPERATOR_ROUTE_FUSED;
}

int ritz_gpu_gen_load(CeedOperator op, RitzGpuOperator *g, const char *kernel) {
  RitzDeviceKernel found = NULL;
  if (!g->program) RITZ_TRY(ritz_gpu_gen_compile(op->obj.ceed, op, g));
  RITZ_TRY(ritz_gpu_kernel(op->obj.ceed, g->program, kernel, &found));
  RITZ_TRY(make_args(op, g));
  g->kernel = found; // who has it has all
  return CEED_ERROR_SUCCESS;
}

static int make_text(CeedOperator op, bool is_chosen, RitzGpuOperator *g) {
  char *source = NULL;
  RITZ_TRY(ritz_gpu_qfunction_load(op->qf, &source));
  int ierr = is_chosen ? CEED_ERROR_SUCCESS : use_measured(op, source, g);
  if (!ierr && !g->reason) ierr = ritz_emit_gpu(op->obj.ceed, g->plan, g->target, source, &g->text);
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

// A text that compiles with the library's CeedScalar may not do so with float: OpenCL finds some calls of
// functions with constants of double ambiguous. Core/ then applies the operator otherwise, and meets the
// message of a text that never compiles.
static int load_floats(CeedOperator op, RitzGpuOperator *g) {
  Ceed ceed = op->obj.ceed;
  const CeedErrorHandler handler = ceed->error_handler;
  ceed->error_handler = CeedErrorReturn;
  const int ierr = ritz_gpu_gen_load(op, g, "ritz_operator");
  ceed->error_handler = handler;
  if (ierr != CEED_ERROR_BACKEND) return ierr;
  ritz_gpu_gen_release(ceed, g);
  g->reason = "a QFunction that does not compile in single precision";
  return CEED_ERROR_SUCCESS;
}

bool ritz_gpu_gen_is_current(CeedOperator op) {
  const RitzGpuOperator *g = op->data;
  const size_t context_bytes = op->qf->ctx ? op->qf->ctx->storage.num_bytes : 0;
  return g && g->context_bytes == context_bytes && g->is_writable == op->qf->is_context_writable &&
         g->asked == op->route;
}

static int load_fused_operator(CeedOperator op, RitzGpuOperator *g) {
  return kind_of(g->plan) == RITZ_TEXT_FLOATS ? load_floats(op, g)
                                              : ritz_gpu_gen_load(op, g, "ritz_operator");
}

// Made on first use, and again when the context of the QFunction has another size.
int ritz_gpu_gen_prepare(CeedOperator op, RitzGpuOperator **made) {
  int ierr = CEED_ERROR_SUCCESS;
  if (!ritz_gpu_gen_is_current(op)) {
    RitzGpuOperator *g = NULL;
    RITZ_TRY(ritz_gpu_operator_destroy(op));
    RITZ_TRY(ritz_gpu_gen_describe(op, NULL, &g));
    op->data = g;
  }
  if (ritz_gpu_gen_is_pending(op->data)) ierr = load_fused_operator(op, op->data);
  if (ierr) (void)ritz_gpu_operator_destroy(op);
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
    e_vec += ritz_gpu_gen_e_vector_bytes(g, s);
  }
  return CEED_ERROR_SUCCESS;
}

static int clear(Ceed ceed, CeedVector vec, void *array) {
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
    if (*last) RITZ_TRY(clear(op->obj.ceed, *last, *array));
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
  if (cleared && (num_blocks == 0 || cleared->length == 0)) RITZ_TRY(clear(ceed, cleared, array));
  if (!cleared || num_blocks == 0 || cleared->length == 0)
    return ritz_gpu_launch(ceed, g->kernel, num_blocks, t->num_threads, t->shared_bytes, num_args, g->args);
  return ritz_gpu_launch_cleared(ceed, g->kernel, cleared->storage.num_bytes, array, num_blocks,
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

int ritz_gpu_gen_is_native(CeedOperator op, CeedVector in, bool *is_native, const char **reason) {
  RitzGpuOperator *g;
  (void)in;
  *reason = "an operator at points";
  *is_native = false;
  if (op->is_at_points) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  *reason = g->reason ? g->reason : "the route that was asked for";
  *is_native = !g->reason && g->route == RITZ_OPERATOR_ROUTE_FUSED;
  return CEED_ERROR_SUCCESS;
}

// An operator without a name goes by its function.
static int warn_of_reason(CeedOperator op, const char *reason) {
  Ceed ceed = op->obj.ceed;
  const char *name = op->name && op->name[0] ? op->name : op->qf->kernel_name;
  char *what = NULL;
  RITZ_TRY(ritz_format(ceed, &what, "operator '%s' is not fused", name));
  const int ierr = ritz_warn_once(ceed, ceed->resource, what, reason, "separate kernels run it");
  RITZ_FREE(&what);
  return ierr;
}

static int apply_at_points(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  const char *reason = NULL;
  if (op->route == RITZ_OPERATOR_ROUTE_AUTO || op->route == RITZ_OPERATOR_ROUTE_FUSED) {
    RITZ_TRY(ritz_gpu_at_points_apply(op, in, out, mode, &reason));
    if (!reason) return CEED_ERROR_SUCCESS;
    if (op->route == RITZ_OPERATOR_ROUTE_FUSED) return ritz_gpu_require_route(op, op->route, reason);
    RITZ_TRY(warn_of_reason(op, reason));
  }
  return ritz_gpu_operator_apply(op, in, out, mode);
}

int ritz_gpu_gen_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  RitzGpuOperator *g;
  if (op->is_at_points) return apply_at_points(op, in, out, mode);
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  if (g->route == RITZ_OPERATOR_ROUTE_FUSED) {
    RITZ_TRY(ritz_gpu_require_route(op, g->route, g->reason));
    return ritz_gpu_gen_apply_kernel(op, g, in, out, mode);
  }
  if (g->reason && g->asked == RITZ_OPERATOR_ROUTE_AUTO) RITZ_TRY(warn_of_reason(op, g->reason));
  return ritz_gpu_operator_apply_by(op, g->route, in, out, mode);
}

// ---- Cost ----

int ritz_gpu_gen_cost(CeedOperator op, RitzOperatorCost *cost) {
  const RitzGpuOperator *g = op->data;
  if (!g || !g->plan || g->reason) return CEED_ERROR_SUCCESS;
  const RitzPlanCost element = ritz_plan_gpu_cost(g->plan, g->target);
  cost->flops = element.flops * g->plan->num_elem;
  cost->bytes = (element.bytes_stored + element.bytes_offsets + element.bytes_vectors) * g->plan->num_elem;
  return CEED_ERROR_SUCCESS;
}

// ---- For people ----

static int explain_kernel(CeedOperator op, const RitzGpuOperator *g, FILE *stream) {
  RitzGpu *gpu = ritz_gpu(op->obj.ceed);
  RitzDeviceKernelInfo info;
  RITZ_TRY(gpu->driver->kernel_info(op->obj.ceed, g->kernel, &info));
  fprintf(stream, "  runs as: one generated kernel on %s\n", gpu->info->name);
  if (g->dense_reason) fprintf(stream, "  vector bases: dense matrices (%s)\n", g->dense_reason);
  ritz_plan_gpu_print(g->plan, g->target, stream);
  if (info.registers >= 0) fprintf(stream, "  registers: %d a thread", info.registers);
  if (info.spill_bytes > 0) fprintf(stream, ", %lld bytes spilled", (long long)info.spill_bytes);
  if (info.registers >= 0) fprintf(stream, "\n");
  fprintf(stream, "  several vectors at once: up to %d by a kernel of their own\n", RITZ_GPU_MANY);
  RITZ_TRY(ritz_gpu_diagonal_explain(op, stream));
  fprintf(stream, "  other assembly: derivatives at the points, tables of the bases\n");
  const RitzPlanCost cost = ritz_plan_gpu_cost(g->plan, g->target);
  return ritz_plan_print(g->plan, &cost, stream);
}

static int explain_at_points(CeedOperator op, FILE *stream) {
  const char *reason;
  RITZ_TRY(ritz_gpu_at_points_explain(op, stream, &reason));
  if (!reason) return CEED_ERROR_SUCCESS;
  fprintf(stream, "  not fused: %s\n", reason);
  return ritz_gpu_operator_explain(op, stream);
}

int ritz_gpu_gen_explain(CeedOperator op, FILE *stream) {
  RitzGpuOperator *g;
  if (op->is_at_points) return explain_at_points(op, stream);
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  fprintf(stream, "  route: %s, %s\n", RitzOperatorRouteName(g->route), g->route_reason);
  if (g->reason)
    fprintf(stream, "  not fused: %s\n", g->reason);
  else
    fprintf(stream, "  choices: %s\n", g->tuning.is_measured ? "measured (ritz tune)" : "by the model");
  if (g->route != RITZ_OPERATOR_ROUTE_FUSED) return ritz_gpu_operator_explain_by(op, g->route, stream);
  return g->reason ? CEED_ERROR_SUCCESS : explain_kernel(op, g, stream);
}

int ritz_gpu_gen_steps(CeedOperator op, FILE *stream, bool *has_steps) {
  RitzGpuOperator *g;
  if (op->is_at_points) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  *has_steps = !g->reason;
  return g->reason ? CEED_ERROR_SUCCESS : ritz_plan_gpu_print_steps(g->plan, g->target, stream);
}

int ritz_gpu_gen_source(CeedOperator op, const char **source) {
  RitzGpuOperator *g;
  if (op->is_at_points) return ritz_gpu_at_points_source(op, source);
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  *source = g->route == RITZ_OPERATOR_ROUTE_FUSED ? g->text : NULL;
  return *source ? CEED_ERROR_SUCCESS : ritz_gpu_operator_source(op, source);
}
