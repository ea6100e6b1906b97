// SPDX-License-Identifier: BSD-2-Clause
// /gpu/*/gen: an operator at points as one kernel, made on first use (plan/gpu-at-points.h). Called by gen.c.
// What has no such kernel runs as the separate kernels of operator.c.
#include <string.h>

#include "backends/gpu/basis.h"
#include "backends/gpu/gen.h"
#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"
#include "emit/emit.h"
#include "jit/strings.h"

// ---- Plan and kernel ----

static int describe_at_points(CeedOperator op, const RitzGpuOperator *apply, RitzGpuOperator *g) {
  const RitzGpuMachine machine = ritz_gpu_gen_machine(op);
  bool are_distinct;
  (void)apply;
  RITZ_TRY(ritz_restriction_is_distinct(op->rstr_points, &are_distinct));
  RITZ_TRY(ritz_plan_gpu_at_points(op, &machine, ritz_gpu(op->obj.ceed)->is_deterministic, are_distinct,
                                   &g->points));
  g->reason = g->points->reason;
  return g->reason ? CEED_ERROR_SUCCESS : ritz_gpu_gen_emit(op, g);
}

// Made on first use, and again when the context of the QFunction has another size.
static int prepare_at_points(CeedOperator op, RitzGpuOperator **made) {
  RitzGpuOperator *apply;
  RITZ_TRY_BACKEND(ritz_operator_check_points(op));
  RITZ_TRY(ritz_gpu_gen_prepare(op, &apply));
  RITZ_TRY(ritz_gpu_gen_action(op, apply, RITZ_ACTION_AT_POINTS, describe_at_points, made));
  return (*made)->reason ? CEED_ERROR_SUCCESS : ritz_gpu_gen_load_action(op, apply, RITZ_ACTION_AT_POINTS);
}

// ---- Arrays ----

typedef struct {
  CeedOperator op;
  RitzGpuOperator *k;
  CeedVector in, out;
  const CeedInt *lists;     // on the device
  const CeedScalar *coords; // on the device
  CeedScalar **arrays;      // owned, of the plan's spaces: L-vectors
  CeedScalar **e_vecs;      // owned, likewise: in work memory, NULL but for RITZ_POINTS_E_VECTOR
  RitzDeviceArg *args;      // owned
  int num_args;
} Launch;

static const RitzPointsSpace *space_of(const Launch *l, int s) { return &l->k->points->spaces[s]; }

static CeedOperatorField field_of(const Launch *l, int s) {
  return ritz_operator_field(l->op, space_of(l, s)->field);
}

static CeedVector vector_of(const Launch *l, int s) {
  const CeedVector vec = field_of(l, s)->vec;
  return vec != CEED_VECTOR_ACTIVE ? vec : space_of(l, s)->field < l->op->num_in ? l->in : l->out;
}

// The first output space to the same vector, which holds its array.
static int holder_of(const Launch *l, int s) {
  for (int t = 0; t < s; t++) {
    if (space_of(l, t)->access != RITZ_POINTS_READ && vector_of(l, t) == vector_of(l, s)) return t;
  }
  return s;
}

static int get_space_array(Launch *l, int s) {
  const CeedVector vec = vector_of(l, s);
  if (space_of(l, s)->access == RITZ_POINTS_READ)
    RITZ_TRY_BACKEND(CeedVectorGetArrayRead(vec, CEED_MEM_DEVICE, (const CeedScalar **)&l->arrays[s]));
  else if (holder_of(l, s) == s)
    RITZ_TRY_BACKEND(CeedVectorGetArray(vec, CEED_MEM_DEVICE, &l->arrays[s]));
  else
    l->arrays[s] = l->arrays[holder_of(l, s)];
  return CEED_ERROR_SUCCESS;
}

static int restore_space_array(Launch *l, int s) {
  const CeedVector vec = vector_of(l, s);
  if (space_of(l, s)->access == RITZ_POINTS_READ)
    return CeedVectorRestoreArrayRead(vec, (const CeedScalar **)&l->arrays[s]);
  return holder_of(l, s) == s ? CeedVectorRestoreArray(vec, &l->arrays[s]) : CEED_ERROR_SUCCESS;
}

static CeedSize e_vector_length(const Launch *l, int s) {
  const RitzPointsSpace *space = space_of(l, s);
  if (space->access != RITZ_POINTS_E_VECTOR) return 0;
  return (CeedSize)l->k->points->bases[space->basis].num_nodes * space->num_comp * l->op->num_elem;
}

static int place_e_vectors(Launch *l) {
  CeedSize length = 0;
  CeedScalar *memory = NULL;
  for (int s = 0; s < l->k->points->num_spaces; s++) length += ritz_gpu_aligned(e_vector_length(l, s));
  if (length == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(
      ritz_gpu_work(l->op->obj.ceed, RITZ_WORK_OPERATOR, (size_t)length * sizeof(*memory), (void **)&memory));
  for (int s = 0; s < l->k->points->num_spaces; s++) {
    if (e_vector_length(l, s) > 0) l->e_vecs[s] = memory;
    memory += ritz_gpu_aligned(e_vector_length(l, s));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Arguments ----

static void add_arg(Launch *l, RitzDeviceArg arg) { l->args[l->num_args++] = arg; }

static int add_space_args(Launch *l, int s) {
  const RitzPointsSpace *space = space_of(l, s);
  const CeedElemRestriction rstr = field_of(l, s)->rstr;
  const CeedInt *offsets;
  CeedInt strides[3];
  add_arg(l, (RitzDeviceArg)RITZ_POINTER(l->e_vecs[s] ? l->e_vecs[s] : l->arrays[s]));
  if (space->basis < 0) return CEED_ERROR_SUCCESS;
  if (l->e_vecs[s]) {
    add_arg(l, (RitzDeviceArg)RITZ_LONG(e_vector_length(l, s) / space->num_comp));
    return CEED_ERROR_SUCCESS;
  }
  if (space->is_strided) {
    ritz_restriction_l_strides(rstr, strides);
    for (int d = 0; d < 3; d++) add_arg(l, (RitzDeviceArg)RITZ_LONG(strides[d]));
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY_BACKEND(CeedElemRestrictionGetOffsets(rstr, CEED_MEM_DEVICE, &offsets));
  add_arg(l, (RitzDeviceArg)RITZ_POINTER(offsets)); // which stay as long as the restriction
  add_arg(l, (RitzDeviceArg)RITZ_LONG(rstr->comp_stride));
  return CeedElemRestrictionRestoreOffsets(rstr, &offsets);
}

static int elements_of_block(const Launch *l) {
  const CeedElemRestriction r = l->op->rstr_points;
  const RitzGpuPointsShape shape = {NULL, l->k->points->num_threads, l->k->points->max_elems};
  return ritz_gpu_points_elements(&shape, r->num_elem, r->num_points, r->min_points == r->max_points);
}

static int launch_kernel(Launch *l, void *context) {
  const RitzGpuAtPoints *plan = l->k->points;
  const int elems = elements_of_block(l);
  add_arg(l, (RitzDeviceArg)RITZ_LONG(l->op->num_elem));
  add_arg(l, (RitzDeviceArg)RITZ_POINTER(context));
  add_arg(l, (RitzDeviceArg)RITZ_INT(elems));
  add_arg(l, (RitzDeviceArg)RITZ_POINTER(l->lists));
  add_arg(l, (RitzDeviceArg)RITZ_POINTER(l->coords));
  for (int s = 0; s < plan->num_spaces; s++) RITZ_TRY(add_space_args(l, s));
  return ritz_gpu_launch(l->op->obj.ceed, &l->k->kernel, NULL, (l->op->num_elem + (int64_t)elems - 1) / elems,
                         plan->num_threads, CeedIntMax(1, plan->num_scalars) * (int64_t)sizeof(CeedScalar),
                         l->num_args, l->args);
}

static int launch_at_points(Launch *l) {
  void *context;
  RITZ_TRY(place_e_vectors(l));
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(l->op->qf, CEED_MEM_DEVICE, &context));
  const int ierr = launch_kernel(l, context);
  const int restored = ritz_qfunction_restore_context_data(l->op->qf, &context);
  RITZ_TRY_BACKEND(ierr ? ierr : restored);
  for (int s = 0; s < l->k->points->num_spaces; s++) {
    if (!l->e_vecs[s]) continue;
    RITZ_TRY(
        ritz_gpu_restriction_sum(field_of(l, s)->rstr, false, CEED_SCALAR_TYPE, l->e_vecs[s], l->arrays[s]));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Apply ----

static int open_launch(Launch *l) {
  Ceed ceed = l->op->obj.ceed;
  const size_t num = (size_t)l->k->points->num_spaces;
  RITZ_TRY(RITZ_CALLOC(ceed, num + 1, &l->arrays));
  RITZ_TRY(RITZ_CALLOC(ceed, num + 1, &l->e_vecs));
  RITZ_TRY(RITZ_CALLOC(ceed, 5 + 4 * num, &l->args));
  RITZ_TRY(CeedElemRestrictionGetOffsets(l->op->rstr_points, CEED_MEM_DEVICE, &l->lists));
  RITZ_TRY_BACKEND(CeedVectorGetArrayRead(l->op->point_coords, CEED_MEM_DEVICE, &l->coords));
  return CEED_ERROR_SUCCESS;
}

static int close_launch(Launch *l, int num_held, int ierr) {
  for (int s = 0; s < num_held; s++) {
    const int restored = restore_space_array(l, s);
    if (!ierr) ierr = restored;
  }
  int restored = l->coords ? CeedVectorRestoreArrayRead(l->op->point_coords, &l->coords) : 0;
  if (!ierr) ierr = restored;
  restored = l->lists ? CeedElemRestrictionRestoreOffsets(l->op->rstr_points, &l->lists) : 0;
  RITZ_FREE(&l->arrays);
  RITZ_FREE(&l->e_vecs);
  RITZ_FREE(&l->args);
  return ierr ? ierr : restored;
}

// The plan counts on active and passive outputs being different vectors.
static bool is_passive_output(CeedOperator op, CeedVector out) {
  for (CeedInt i = 0; i < op->num_out; i++) {
    if (out != CEED_VECTOR_NONE && op->out[i]->vec == out) return true;
  }
  return false;
}

int ritz_gpu_at_points_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode,
                             const char **reason) {
  RitzGpuOperator *k;
  int num_held = 0;
  RITZ_TRY(prepare_at_points(op, &k));
  *reason = k->points->reason;
  if (!*reason && is_passive_output(op, out)) *reason = "an active output that is a passive one, too";
  if (*reason) return CEED_ERROR_SUCCESS;
  Launch l = {.op = op, .k = k, .in = in, .out = out};
  RITZ_TRY(ritz_operator_zero_outputs(op, out, mode));
  if (op->rstr_points->num_points == 0) return CEED_ERROR_SUCCESS;
  int ierr = open_launch(&l);
  for (; !ierr && num_held < k->points->num_spaces; num_held += !ierr) ierr = get_space_array(&l, num_held);
  if (!ierr) ierr = launch_at_points(&l);
  return close_launch(&l, num_held, ierr);
}

// ---- For people ----

int ritz_gpu_at_points_explain(CeedOperator op, FILE *stream, const char **reason) {
  RitzGpu *gpu = ritz_gpu(op->obj.ceed);
  RitzGpuOperator *k;
  RitzDeviceKernelInfo info;
  RITZ_TRY(prepare_at_points(op, &k));
  *reason = k->points->reason;
  if (*reason) return CEED_ERROR_SUCCESS;
  RITZ_TRY(gpu->driver->kernel_info(op->obj.ceed, k->kernel.handle, &info));
  fprintf(stream, "  runs as: one generated kernel on %s\n", gpu->info->name);
  fprintf(stream, "  blocks: %d threads, points of up to %d elements, %.1f KB of shared memory\n",
          k->points->num_threads, k->points->max_elems,
          1e-3 * (double)sizeof(CeedScalar) * (double)k->points->num_scalars);
  if (info.registers >= 0) fprintf(stream, "  registers: %d a thread\n", info.registers);
  for (int b = 0; b < k->points->num_bases; b++)
    fprintf(stream, "  basis %d: %" CeedInt_FMT " nodes, %" CeedInt_FMT " coefficients a direction%s\n", b,
            k->points->bases[b].P, k->points->bases[b].K,
            k->points->bases[b].has_slopes ? ", with slopes" : "");
  fprintf(stream, "  assembly: the reference backend\n");
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_at_points_source(CeedOperator op, const char **source) {
  RitzGpuOperator *k;
  RITZ_TRY(prepare_at_points(op, &k));
  *source = k->text;
  return k->text ? CEED_ERROR_SUCCESS : ritz_gpu_operator_source(op, source);
}
