// SPDX-License-Identifier: BSD-2-Clause
// E^T B^T D B E on a device as separate kernels. The elements go through in batches whose E- and Q-vectors
// fit into the work memory of the context, so that what an operator needs besides its vectors does not grow
// with the mesh.
#include <stdlib.h>

#include "backends/gpu/run.h"
#include "backends/ref/ref.h"

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
    if (other->has_nodes && other->vec == f->vec && other->field->rstr == f->field->rstr) return k;
  }
  return i;
}

static void describe_field(RitzGpuRun *run, CeedInt i, CeedVector in, CeedVector out) {
  CeedOperator op = run->op;
  RitzGpuRunField *f = &run->fields[i];
  f->is_input = i < op->num_in;
  f->field = f->is_input ? op->in[i] : op->out[i - op->num_in];
  f->is_unused =
      ritz_field_is_unused(f->field) || (run->is_of_passive && f->field->vec == CEED_VECTOR_ACTIVE);
  f->mode = f->is_unused ? CEED_EVAL_NONE : f->field->qf_field->eval_mode;
  f->vec = f->field->vec != CEED_VECTOR_ACTIVE ? f->field->vec : f->is_input ? in : out;
  f->has_nodes = f->mode != CEED_EVAL_NONE && f->mode != CEED_EVAL_WEIGHT;
  f->is_direct =
      f->is_input && f->mode == CEED_EVAL_NONE && !f->is_unused && is_laid_out_like_points(f->field->rstr);
  f->gathered_by = f->has_nodes ? first_with_e_vec(run, i) : i;
  if (f->has_nodes && f->gathered_by == i)
    f->e_length = (CeedSize)f->field->rstr->elem_size * f->field->rstr->num_comp;
  if (!f->is_direct && !f->is_unused) f->q_length = (CeedSize)f->field->qf_field->size * op->num_qpts;
}

// ---- Work memory ----

// Scalars for the fields of a batch; with `memory` the places are taken there.
static CeedSize place_fields(RitzGpuRun *run, CeedInt batch, CeedScalar *memory) {
  CeedSize next = 0;
  for (CeedInt i = 0; i < run->num_fields; i++) {
    RitzGpuRunField *f = &run->fields[i];
    if (memory) f->e_vec = f->gathered_by == i ? memory + next : run->fields[f->gathered_by].e_vec;
    next += ritz_gpu_aligned(f->e_length * batch);
    if (memory) f->q_vec = memory + next;
    next += ritz_gpu_aligned(f->q_length * batch);
  }
  if (memory) run->extra = memory + next;
  return next + ritz_gpu_aligned(run->extra_length * batch);
}

// Transposing by maps is for all elements at once.
static bool may_split(const RitzGpuRun *run) {
  for (CeedInt i = run->op->num_in; i < run->num_fields; i++) {
    if (run->fields[i].is_unused) continue;
    if (ritz_gpu_restriction_needs_map(run->fields[i].field->rstr)) return false;
  }
  return true;
}

// Chooses the elements of a batch: the most that fit the work memory, in batches of nearly equal size.
static void choose_batch(RitzGpuRun *run) {
  const RitzGpu *gpu = ritz_gpu(run->op->obj.ceed);
  const CeedInt num_elem = run->op->num_elem;
  CeedSize length = run->extra_length;
  for (CeedInt i = 0; i < run->num_fields; i++) length += run->fields[i].e_length + run->fields[i].q_length;
  const CeedSize budget = gpu->work_bytes / (CeedSize)sizeof(CeedScalar);
  run->batch = num_elem;
  if (length * num_elem <= budget || !may_split(run)) return;
  const CeedSize most = length > 0 && budget / length > 1 ? budget / length : 1;
  const CeedSize num_batches = (num_elem + most - 1) / most;
  run->batch = (CeedInt)((num_elem + num_batches - 1) / num_batches);
}

// op, num_fields, is_of_passive and extra_length are set.
static int describe_fields(RitzGpuRun *run, CeedVector in, CeedVector out) {
  RITZ_TRY(RITZ_CALLOC(run->op->obj.ceed, (size_t)run->num_fields, &run->fields));
  for (CeedInt i = 0; i < run->num_fields; i++) describe_field(run, i, in, out);
  choose_batch(run);
  return CEED_ERROR_SUCCESS;
}

static int describe_run(RitzGpuRun *run, CeedOperator op, CeedVector in, CeedVector out) {
  *run = (RitzGpuRun){.op = op, .num_fields = op->num_in + op->num_out};
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
  CeedOperator op = run->op;
  void *memory = NULL;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)run->num_fields, &run->q_fields));
  const size_t num_bytes = (size_t)place_fields(run, run->batch, NULL) * sizeof(CeedScalar);
  RITZ_TRY(ritz_gpu_work(op->obj.ceed, RITZ_WORK_OPERATOR, num_bytes, &memory));
  if (memory) (void)place_fields(run, run->batch, memory);
  for (CeedInt i = 0; i < run->num_fields; i++) RITZ_TRY(get_array(run, &run->fields[i]));
  return CEED_ERROR_SUCCESS;
}

static int open_run(CeedOperator op, CeedVector in, CeedVector out, RitzGpuRun *run) {
  RITZ_TRY(describe_run(run, op, in, out));
  return open_described(run);
}

int ritz_gpu_run_open_passive(CeedOperator op, bool has_fields, CeedSize extra_length, RitzGpuRun *run) {
  *run = (RitzGpuRun){.op = op,
                      .is_of_passive = true,
                      .num_fields = has_fields ? op->num_in : 0,
                      .extra_length = extra_length};
  RITZ_TRY(describe_fields(run, CEED_VECTOR_NONE, CEED_VECTOR_NONE));
  return open_described(run);
}

int ritz_gpu_run_close(RitzGpuRun *run, int ierr) {
  for (CeedInt i = 0; run->fields && i < run->num_fields; i++) {
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
  return ritz_gpu_restriction_apply(r, &action, u, v);
}

static int evaluate_input(const RitzGpuRun *run, CeedInt i, CeedInt first, CeedInt num) {
  const RitzGpuRunField *f = &run->fields[i];
  const RitzBasisAction action = {num, CEED_NOTRANSPOSE, f->mode, false};
  if (f->is_direct) return CEED_ERROR_SUCCESS;
  if (f->mode == CEED_EVAL_WEIGHT && first > run->first_elem && num == run->batch)
    return CEED_ERROR_SUCCESS; // still there
  if (f->vec != CEED_VECTOR_NONE && f->gathered_by == i)
    RITZ_TRY(run_restriction(f->field->rstr, CEED_NOTRANSPOSE, first, num, f->l_array,
                             f->has_nodes ? f->e_vec : f->q_vec));
  if (f->mode == CEED_EVAL_NONE) return CEED_ERROR_SUCCESS;
  return ritz_gpu_basis_apply(f->field->basis, &action, f->e_vec, f->q_vec);
}

static int add_output(const RitzGpuRun *run, CeedInt i, CeedInt first, CeedInt num) {
  const RitzGpuRunField *f = &run->fields[i];
  const RitzBasisAction action = {num, CEED_TRANSPOSE, f->mode, false};
  if (f->is_unused) return CEED_ERROR_SUCCESS;
  if (f->has_nodes) RITZ_TRY(ritz_gpu_basis_apply(f->field->basis, &action, f->q_vec, f->e_vec));
  return run_restriction(f->field->rstr, CEED_TRANSPOSE, first, num, f->has_nodes ? f->e_vec : f->q_vec,
                         f->l_array);
}

static RitzGpuField q_field_of(const RitzGpuRun *run, const RitzGpuRunField *f, CeedInt first, CeedInt num) {
  const CeedInt num_points = run->op->num_qpts;
  CeedInt strides[3];
  if (!f->is_direct) return (RitzGpuField){f->q_vec, 0, (int64_t)num * num_points};
  ritz_restriction_l_strides(f->field->rstr, strides);
  return (RitzGpuField){f->l_array, (int64_t)first * num_points, strides[1]};
}

int ritz_gpu_run_evaluate(const RitzGpuRun *run, CeedInt first, CeedInt num) {
  for (CeedInt i = 0; i < run->num_fields; i++) {
    if (run->fields[i].is_input) RITZ_TRY(evaluate_input(run, i, first, num));
    run->q_fields[i] = q_field_of(run, &run->fields[i], first, num);
  }
  return CEED_ERROR_SUCCESS;
}

static int run_batch(const RitzGpuRun *run, CeedInt first, CeedInt num) {
  CeedOperator op = run->op;
  RITZ_TRY(ritz_gpu_run_evaluate(run, first, num));
  RITZ_TRY(ritz_gpu_qfunction_run(op->qf, (int64_t)num * op->num_qpts, run->q_fields));
  for (CeedInt i = op->num_in; i < run->num_fields; i++) RITZ_TRY(add_output(run, i, first, num));
  return CEED_ERROR_SUCCESS;
}

static int run_batches(const RitzGpuRun *run) {
  const CeedInt num_elem = run->op->num_elem;
  for (CeedSize first = 0; first < num_elem; first += run->batch)
    RITZ_TRY(run_batch(run, (CeedInt)first, CeedIntMin(run->batch, num_elem - (CeedInt)first)));
  return CEED_ERROR_SUCCESS;
}

static int apply_at_points(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  RITZ_TRY(ritz_gpu_delegate(op->obj.ceed, "operators at points", "they have no kernels on devices yet"));
  return ritz_ref_operator_apply(op, in, out, mode);
}

int ritz_gpu_operator_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  RitzGpuRun run;
  if (op->is_at_points) return apply_at_points(op, in, out, mode);
  RITZ_TRY(ritz_operator_zero_outputs(op, out, mode));
  int ierr = open_run(op, in, out, &run);
  if (!ierr) ierr = run_batches(&run);
  return ritz_gpu_run_close(&run, ierr);
}

// ---- For people ----

static void explain_field(const RitzGpuRunField *f, FILE *stream) {
  fprintf(stream, "  %s %-12s ", f->is_input ? "input " : "output", f->field->qf_field->name);
  if (f->is_unused)
    fprintf(stream, "of size 0\n");
  else if (f->is_direct)
    fprintf(stream, "read where it is\n");
  else if (f->mode == CEED_EVAL_NONE)
    fprintf(stream, "%s\n", f->is_input ? "gathered" : "scattered");
  else
    ritz_gpu_basis_explain(f->field->basis, stream);
}

int ritz_gpu_operator_explain(CeedOperator op, FILE *stream) {
  const RitzGpu *gpu = ritz_gpu(op->obj.ceed);
  RitzGpuRun run;
  if (op->is_at_points) {
    fprintf(stream, "  runs as: the reference backend, element by element (operators at points)\n");
    return CEED_ERROR_SUCCESS;
  }
  int ierr = describe_run(&run, op, CEED_VECTOR_NONE, CEED_VECTOR_NONE);
  if (!ierr) {
    fprintf(stream, "  runs as: separate kernels on %s, in batches of %" CeedInt_FMT " elements\n",
            gpu->info->name, run.batch);
    fprintf(stream, "  work memory: %.1f MB, shared by all operators of the context\n",
            1e-6 * (double)sizeof(CeedScalar) * (double)place_fields(&run, run.batch, NULL));
    fprintf(stream, "  outputs are added %s\n",
            gpu->is_deterministic ? "in the order of the elements" : "by atomic additions, in any order");
    for (CeedInt i = 0; i < run.num_fields; i++) explain_field(&run.fields[i], stream);
    fprintf(stream, "  assembly: derivatives at the points, tables of the bases; evaluation at points: the "
                    "reference backend\n");
  }
  return ritz_gpu_run_close(&run, ierr);
}

int ritz_gpu_operator_source(CeedOperator op, const char **source) {
  return ritz_gpu_qfunction_source(op->qf, source);
}
