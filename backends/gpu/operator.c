// SPDX-License-Identifier: BSD-2-Clause
// E^T B^T D B E on a device as separate kernels. The elements go through in batches whose E- and Q-vectors
// fit into the work memory of the context, so that what an operator needs besides its vectors does not grow
// with the mesh. At points Q-vectors have the points of the elements in their order, without padding; the
// coordinates are one more field, which the QFunction does not get.
#include <stdlib.h>

#include "backends/gpu/basis.h"
#include "backends/gpu/gemm.h"
#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"
#include "backends/gpu/run.h"
#include "backends/gpu/vectors.h"

// ---- Shapes ----

// Entry (i, c, e) of the L-vector is at c * stride + e * num_points + i: the order of Q-vectors.
static bool is_laid_out_like_points(CeedElemRestriction r) {
  CeedInt strides[3];
  if (r->type != CEED_RESTRICTION_STRIDED) return false;
  ritz_restriction_l_strides(r, strides);
  return (strides[0] == 1 || r->elem_size == 1) && (strides[2] == r->elem_size || r->num_elem == 1);
}

static CeedInt first_with_e_vec(const RitzGpuRun *run, CeedInt i) {
  const RitzGpuRunField *f = &run->fields[i];
  for (CeedInt k = 0; f->is_input && k < i; k++) {
    const RitzGpuRunField *other = &run->fields[k];
    if (other->has_nodes && other->vec == f->vec && other->rstr == f->rstr) return k;
  }
  return i;
}

static void describe_field(RitzGpuRun *run, CeedInt i, CeedVector in, CeedVector out) {
  CeedOperator op = run->op;
  RitzGpuRunField *f = &run->fields[i];
  f->is_input = i < op->num_in;
  f->field = f->is_input ? op->in[i] : op->out[i - op->num_in];
  f->rstr = f->field->rstr;
  f->is_unused =
      ritz_field_is_unused(f->field) || (run->is_of_passive && f->field->vec == CEED_VECTOR_ACTIVE);
  f->mode = f->is_unused ? CEED_EVAL_NONE : f->field->qf_field->eval_mode;
  f->vec = f->field->vec != CEED_VECTOR_ACTIVE ? f->field->vec : f->is_input ? in : out;
  if (run->is_of_columns && !f->is_input) f->vec = CEED_VECTOR_NONE;
  f->has_nodes = f->mode != CEED_EVAL_NONE && f->mode != CEED_EVAL_WEIGHT;
  f->is_direct =
      f->is_input && f->mode == CEED_EVAL_NONE && !f->is_unused && is_laid_out_like_points(f->rstr);
  f->gathered_by = f->has_nodes ? first_with_e_vec(run, i) : i;
  if (f->has_nodes && f->gathered_by == i) f->e_length = (CeedSize)f->rstr->elem_size * f->rstr->num_comp;
  if (!f->is_direct && !f->is_unused) f->q_size = f->field->qf_field->size;
}

static void describe_coordinates(RitzGpuRun *run) {
  const CeedElemRestriction r = run->op->rstr_points;
  run->fields[run->num_fields] = (RitzGpuRunField){.rstr = r,
                                                   .mode = CEED_EVAL_NONE,
                                                   .is_input = true,
                                                   .vec = run->op->point_coords,
                                                   .gathered_by = run->num_fields,
                                                   .q_size = r->num_comp};
}

// Points of a range of elements.
static int64_t points_in(const RitzGpuRun *run, CeedInt first, CeedInt num) {
  const CeedOperator op = run->op;
  if (!op->is_at_points) return (int64_t)num * op->num_qpts;
  return (int64_t)op->rstr_points->offsets[first + num] - op->rstr_points->offsets[first];
}

// ---- Work memory ----

// Scalars for the fields of a batch; with `memory` the places are taken there.
static CeedSize place_fields(RitzGpuRun *run, CeedScalar *memory) {
  CeedSize next = 0;
  for (CeedInt i = 0; i < run->num_all; i++) {
    RitzGpuRunField *f = &run->fields[i];
    if (memory) f->e_vec = f->gathered_by == i ? memory + next : run->fields[f->gathered_by].e_vec;
    next += ritz_gpu_aligned(f->e_length * run->batch);
    if (memory) f->q_vec = memory + next;
    next += ritz_gpu_aligned(f->q_size * run->most_points);
  }
  if (memory) run->extra = memory + next;
  return next + ritz_gpu_aligned(run->extra_length * run->batch);
}

// Transposing by maps is for all elements at once.
static int may_split(const RitzGpuRun *run, bool *may) {
  *may = true;
  for (CeedInt i = run->op->num_in; i < run->num_fields && *may; i++) {
    const RitzGpuRunField *f = &run->fields[i];
    bool needs_map = false;
    if (f->is_unused) continue;
    if (f->rstr->type == CEED_RESTRICTION_POINTS)
      RITZ_TRY(ritz_gpu_restriction_list_needs_map(f->rstr, &needs_map));
    else
      needs_map = ritz_gpu_restriction_needs_map(f->rstr);
    *may = !needs_map;
  }
  return CEED_ERROR_SUCCESS;
}

// Chooses the elements of a batch: the most that fit the work memory, in batches of nearly equal size. At
// points they have so many on average; a batch with more takes more memory.
static int choose_batch(RitzGpuRun *run) {
  const RitzGpu *gpu = ritz_gpu(run->op->obj.ceed);
  const CeedInt num_elem = run->op->num_elem;
  const int64_t num_points = points_in(run, 0, num_elem);
  CeedSize e_length = run->extra_length, q_size = 0;
  bool may;
  for (CeedInt i = 0; i < run->num_all; i++) e_length += run->fields[i].e_length;
  for (CeedInt i = 0; i < run->num_all; i++) q_size += run->fields[i].q_size;
  const CeedSize length = e_length * num_elem + q_size * num_points;
  const CeedSize budget = gpu->work_bytes / (CeedSize)sizeof(CeedScalar);
  run->batch = num_elem;
  RITZ_TRY(may_split(run, &may));
  if (length > budget && may) {
    const CeedSize most = CeedIntMax(1, (CeedInt)((double)budget / (double)length * num_elem));
    const CeedSize num_batches = (num_elem + most - 1) / most;
    run->batch = (CeedInt)((num_elem + num_batches - 1) / num_batches);
  }
  for (CeedSize first = 0; first < num_elem; first += run->batch) {
    const CeedInt num = CeedIntMin(run->batch, num_elem - (CeedInt)first);
    const int64_t points = points_in(run, (CeedInt)first, num);
    run->most_points = points > run->most_points ? points : run->most_points;
    if (!run->op->is_at_points) break;
  }
  return CEED_ERROR_SUCCESS;
}

// Fills in run->fields, after the caller has set its own members of the run.
static int describe_fields(RitzGpuRun *run, CeedVector in, CeedVector out) {
  CeedOperator op = run->op;
  if (op->is_at_points) RITZ_TRY_BACKEND(ritz_operator_check_points(op));
  run->num_all = run->num_fields + (op->is_at_points ? 1 : 0);
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)run->num_all, &run->fields));
  for (CeedInt i = 0; i < run->num_fields; i++) describe_field(run, i, in, out);
  if (op->is_at_points) describe_coordinates(run);
  return choose_batch(run);
}

static int describe_run(RitzGpuRun *run, CeedOperator op, RitzOperatorRoute route, CeedVector in,
                        CeedVector out) {
  *run = (RitzGpuRun){.op = op, .route = route, .num_fields = op->num_in + op->num_out};
  return describe_fields(run, in, out);
}

// ---- Arrays ----

// The output that holds the array of this vector, or NULL.
static const RitzGpuRunField *earlier_separate_output(const RitzGpuRun *run, CeedVector output) {
  for (CeedInt k = run->op->num_in; k < run->num_fields; k++) {
    if (run->fields[k].vec == output && run->fields[k].holds) return &run->fields[k];
  }
  return NULL;
}

static int get_array(const RitzGpuRun *run, RitzGpuRunField *f) {
  if (f->vec == CEED_VECTOR_NONE) return CEED_ERROR_SUCCESS;
  if (f->is_input) {
    RITZ_TRY_BACKEND(CeedVectorGetArrayRead(f->vec, CEED_MEM_DEVICE, (const CeedScalar **)&f->l_array));
  } else {
    const RitzGpuRunField *holder = earlier_separate_output(run, f->vec);
    if (holder) f->l_array = holder->l_array;
    if (holder) return CEED_ERROR_SUCCESS;
    RITZ_TRY_BACKEND(CeedVectorGetArray(f->vec, CEED_MEM_DEVICE, &f->l_array));
  }
  f->holds = true;
  return CEED_ERROR_SUCCESS;
}

static int open_described(RitzGpuRun *run) {
  Ceed ceed = run->op->obj.ceed;
  void *memory = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)run->num_fields, &run->q_fields));
  const size_t num_bytes = (size_t)place_fields(run, NULL) * sizeof(CeedScalar);
  RITZ_TRY(ritz_gpu_work(ceed, RITZ_WORK_OPERATOR, num_bytes, &memory));
  if (memory) (void)place_fields(run, memory);
  for (CeedInt i = 0; i < run->num_all; i++) RITZ_TRY(get_array(run, &run->fields[i]));
  return CEED_ERROR_SUCCESS;
}

static int open_run(CeedOperator op, RitzOperatorRoute route, CeedVector in, CeedVector out,
                    RitzGpuRun *run) {
  RITZ_TRY(describe_run(run, op, route, in, out));
  return open_described(run);
}

int ritz_gpu_run_open_passive(CeedOperator op, bool has_fields, CeedSize extra_length, RitzGpuRun *run) {
  *run = (RitzGpuRun){.op = op,
                      .route = RITZ_OPERATOR_ROUTE_SEPARATE,
                      .is_of_passive = true,
                      .num_fields = has_fields ? op->num_in : 0,
                      .extra_length = extra_length};
  RITZ_TRY(describe_fields(run, CEED_VECTOR_NONE, CEED_VECTOR_NONE));
  return open_described(run);
}

int ritz_gpu_run_open_columns(CeedOperator op, CeedSize extra_length, RitzGpuRun *run) {
  *run = (RitzGpuRun){.op = op,
                      .route = RITZ_OPERATOR_ROUTE_SEPARATE,
                      .is_of_columns = true,
                      .num_fields = op->num_in + op->num_out,
                      .extra_length = extra_length};
  RITZ_TRY(describe_fields(run, CEED_VECTOR_NONE, CEED_VECTOR_NONE));
  return open_described(run);
}

int ritz_gpu_run_close(RitzGpuRun *run, int ierr) {
  for (CeedInt i = 0; run->fields && i < run->num_all; i++) {
    RitzGpuRunField *f = &run->fields[i];
    if (!f->holds) continue;
    int restored = f->is_input ? CeedVectorRestoreArrayRead(f->vec, (const CeedScalar **)&f->l_array)
                               : CeedVectorRestoreArray(f->vec, &f->l_array);
    if (!ierr) ierr = restored;
  }
  RITZ_FREE(&run->fields);
  RITZ_FREE(&run->q_fields);
  return ierr;
}

// ---- A batch: elements first .. first + num - 1 ----

static int run_restriction(CeedElemRestriction r, CeedTransposeMode t_mode, CeedInt first, CeedInt num,
                           const CeedScalar *u, CeedScalar *v) {
  const RitzRestrictionAction action = {t_mode, first, num, r->use_signs, r->use_orients};
  return ritz_gpu_restriction_apply(r, &action, CEED_SCALAR_TYPE, u, v);
}

static int gather_points(const RitzGpuRunField *f, CeedInt first, CeedInt num) {
  return ritz_gpu_restriction_apply_list(f->rstr, CEED_NOTRANSPOSE, first, num, f->l_array, f->q_vec);
}

// The basis of a field at the points of a batch.
static int run_basis_at_points(const RitzGpuRun *run, const RitzGpuRunField *f, const RitzBasisAction *action,
                               CeedInt first) {
  const CeedElemRestriction r = run->op->rstr_points;
  const bool transposes = action->t_mode == CEED_TRANSPOSE;
  const int64_t num_points = points_in(run, first, action->num_elem);
  RitzGpuPoints points = {.first_elem = first,
                          .origin = r->offsets[first],
                          .distance = num_points,
                          .num_points = num_points,
                          .is_uniform = r->min_points == r->max_points};
  if (action->eval_mode == CEED_EVAL_WEIGHT)
    return ritz_gpu_vector_set_value(run->op->obj.ceed, CEED_SCALAR_TYPE, num_points, 1, f->q_vec);
  RITZ_TRY(CeedElemRestrictionGetOffsets(r, CEED_MEM_DEVICE, (const CeedInt **)&points.starts));
  int ierr = ritz_gpu_points_run(f->field->basis, action, &points, run->fields[run->num_fields].q_vec,
                                 transposes ? f->q_vec : f->e_vec, transposes ? f->e_vec : f->q_vec);
  int restored = CeedElemRestrictionRestoreOffsets(r, (const CeedInt **)&points.starts);
  return ierr ? ierr : restored;
}

static int evaluate_input(const RitzGpuRun *run, CeedInt i, CeedInt first, CeedInt num) {
  const RitzGpuRunField *f = &run->fields[i];
  const RitzBasisAction action = {num, CEED_NOTRANSPOSE, f->mode, false};
  if (f->is_direct) return CEED_ERROR_SUCCESS;
  if (f->vec != CEED_VECTOR_NONE && f->rstr->type == CEED_RESTRICTION_POINTS)
    return gather_points(f, first, num);
  if (f->mode == CEED_EVAL_WEIGHT && first > run->first_elem && num == run->batch && !run->op->is_at_points)
    return CEED_ERROR_SUCCESS; // still there
  if (f->vec != CEED_VECTOR_NONE && f->gathered_by == i)
    RITZ_TRY(run_restriction(f->rstr, CEED_NOTRANSPOSE, first, num, f->l_array,
                             f->has_nodes ? f->e_vec : f->q_vec));
  if (f->mode == CEED_EVAL_NONE) return CEED_ERROR_SUCCESS;
  if (run->op->is_at_points) return run_basis_at_points(run, f, &action, first);
  return ritz_gpu_basis_apply_by(f->field->basis, run->route, &action, f->e_vec, f->q_vec);
}

static int add_output(const RitzGpuRun *run, CeedInt i, CeedInt first, CeedInt num) {
  const RitzGpuRunField *f = &run->fields[i];
  const RitzBasisAction action = {num, CEED_TRANSPOSE, f->mode, false};
  if (f->is_unused) return CEED_ERROR_SUCCESS;
  if (f->rstr->type == CEED_RESTRICTION_POINTS)
    return ritz_gpu_restriction_apply_list(f->rstr, CEED_TRANSPOSE, first, num, f->q_vec, f->l_array);
  if (f->has_nodes && run->op->is_at_points)
    RITZ_TRY(run_basis_at_points(run, f, &action, first));
  else if (f->has_nodes)
    RITZ_TRY(ritz_gpu_basis_apply_by(f->field->basis, run->route, &action, f->q_vec, f->e_vec));
  return run_restriction(f->rstr, CEED_TRANSPOSE, first, num, f->has_nodes ? f->e_vec : f->q_vec, f->l_array);
}

static RitzGpuField q_field_of(const RitzGpuRun *run, const RitzGpuRunField *f, CeedInt first, CeedInt num) {
  CeedInt strides[3];
  if (!f->is_direct) return (RitzGpuField){f->q_vec, 0, points_in(run, first, num)};
  ritz_restriction_l_strides(f->rstr, strides);
  return (RitzGpuField){f->l_array, (int64_t)first * run->op->num_qpts, strides[1]};
}

int ritz_gpu_run_evaluate(const RitzGpuRun *run, CeedInt first, CeedInt num) {
  if (run->op->is_at_points) RITZ_TRY(gather_points(&run->fields[run->num_fields], first, num));
  for (CeedInt i = 0; i < run->num_fields; i++) {
    const RitzGpuRunField *f = &run->fields[i];
    const bool is_left = !f->is_input || (run->is_of_columns && f->field->vec == CEED_VECTOR_ACTIVE);
    if (!is_left) RITZ_TRY(evaluate_input(run, i, first, num));
    run->q_fields[i] = q_field_of(run, &run->fields[i], first, num);
  }
  return CEED_ERROR_SUCCESS;
}

int64_t ritz_gpu_run_points(const RitzGpuRun *run, CeedInt first, CeedInt num) {
  return points_in(run, first, num);
}

int ritz_gpu_run_basis(const RitzGpuRun *run, CeedInt i, CeedInt first, CeedInt num) {
  const RitzGpuRunField *f = &run->fields[i];
  const RitzBasisAction action = {num, f->is_input ? CEED_NOTRANSPOSE : CEED_TRANSPOSE, f->mode, false};
  return run_basis_at_points(run, f, &action, first);
}

static int run_batch(const RitzGpuRun *run, CeedInt first, CeedInt num) {
  CeedOperator op = run->op;
  const int64_t num_points = points_in(run, first, num);
  if (num_points == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_run_evaluate(run, first, num));
  RITZ_TRY(ritz_gpu_qfunction_run(op->qf, num_points, run->q_fields));
  for (CeedInt i = op->num_in; i < run->num_fields; i++) RITZ_TRY(add_output(run, i, first, num));
  return CEED_ERROR_SUCCESS;
}

static int run_batches(const RitzGpuRun *run) {
  const CeedInt num_elem = run->op->num_elem;
  for (CeedSize first = 0; first < num_elem; first += run->batch)
    RITZ_TRY(run_batch(run, (CeedInt)first, CeedIntMin(run->batch, num_elem - (CeedInt)first)));
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_operator_apply_by(CeedOperator op, RitzOperatorRoute route, CeedVector in, CeedVector out,
                               RitzApplyMode mode) {
  RitzGpuRun run;
  RITZ_TRY(ritz_gpu_require_route(op, route, ritz_gpu_operator_refuses_route(op, route)));
  RITZ_TRY(ritz_operator_zero_outputs(op, out, mode));
  int ierr = open_run(op, route, in, out, &run);
  if (!ierr) ierr = run_batches(&run);
  return ritz_gpu_run_close(&run, ierr);
}

// The route on contexts whose name says that kernels are separate.
static RitzOperatorRoute route_of(CeedOperator op) {
  return op->route == RITZ_OPERATOR_ROUTE_AUTO ? RITZ_OPERATOR_ROUTE_SEPARATE : op->route;
}

int ritz_gpu_operator_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  return ritz_gpu_operator_apply_by(op, route_of(op), in, out, mode);
}

// ---- For people ----

static void explain_field(const RitzGpuRun *run, const RitzGpuRunField *f, FILE *stream) {
  const bool is_at_points = run->op->is_at_points;
  fprintf(stream, "  %s %-12s ", f->is_input ? "input " : "output", f->field->qf_field->name);
  if (f->is_unused)
    fprintf(stream, "of size 0\n");
  else if (f->is_direct)
    fprintf(stream, "read where it is\n");
  else if (f->mode == CEED_EVAL_NONE)
    fprintf(stream, "%s\n", f->is_input ? "gathered" : "scattered");
  else if (f->mode == CEED_EVAL_WEIGHT && is_at_points)
    fprintf(stream, "1 at every point\n");
  else if (is_at_points)
    ritz_gpu_points_explain(f->field->basis, f->mode, !f->is_input, stream);
  else
    ritz_gpu_basis_explain(f->field->basis, run->route, stream);
}

static void explain_products(Ceed ceed, RitzOperatorRoute route, FILE *stream) {
  const char *why,
      *file = route == RITZ_OPERATOR_ROUTE_GEMM_VENDOR ? ritz_gpu_gemm_vendor_find(ceed, &why) : NULL;
  fprintf(stream, "  bases: matrix products over all elements by %s%s\n", file ? "cuBLAS, " : "own kernels",
          file ? file : "");
}

int ritz_gpu_operator_explain_by(CeedOperator op, RitzOperatorRoute route, FILE *stream) {
  const RitzGpu *gpu = ritz_gpu(op->obj.ceed);
  RitzGpuRun run;
  int ierr = describe_run(&run, op, route, CEED_VECTOR_NONE, CEED_VECTOR_NONE);
  if (!ierr) {
    fprintf(stream, "  runs as: separate kernels on %s, in batches of %" CeedInt_FMT " elements\n",
            gpu->info->name, run.batch);
    if (route != RITZ_OPERATOR_ROUTE_SEPARATE) explain_products(op->obj.ceed, route, stream);
    fprintf(stream, "  work memory: %.1f MB, shared by all operators of the context\n",
            1e-6 * (double)sizeof(CeedScalar) * (double)place_fields(&run, NULL));
    fprintf(stream, "  outputs are added %s\n",
            gpu->is_deterministic ? "in the order of the elements" : "by atomic additions, in any order");
    for (CeedInt i = 0; i < run.num_fields; i++) explain_field(&run, &run.fields[i], stream);
    fprintf(stream, "  several vectors at once: one after the other\n");
    fprintf(stream, "  assembly: %s\n",
            op->is_at_points ? "columns by unit vectors at the nodes"
                             : "derivatives at the points, tables of the bases");
  }
  return ritz_gpu_run_close(&run, ierr);
}

int ritz_gpu_operator_explain(CeedOperator op, FILE *stream) {
  return ritz_gpu_operator_explain_by(op, route_of(op), stream);
}

int ritz_gpu_operator_source(CeedOperator op, const char **source) {
  return ritz_gpu_qfunction_source(op->qf, source);
}
