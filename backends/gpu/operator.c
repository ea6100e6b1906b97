// SPDX-License-Identifier: BSD-2-Clause
// E^T B^T D B E on a device as separate kernels. The elements go through in batches whose E- and Q-vectors
// fit into the work memory of the context, so that what an operator needs besides its vectors does not grow
// with the mesh.
#include <stdlib.h>

#include "backends/gpu/gpu.h"
#include "backends/ref/ref.h"

typedef struct {
  CeedOperatorField field;
  CeedEvalMode mode;
  bool is_input, is_unused;    // is_unused: of size 0
  bool has_nodes;              // a basis takes E-vectors
  CeedVector vec;              // CEED_VECTOR_NONE: weights, unused
  CeedScalar *l_array;         // device array of vec; shared by outputs to one vector
  bool holds;                  // this field got the array and restores it
  bool is_direct;              // an input whose L-vector is laid out like a Q-vector: read where it is
  CeedInt gathered_by;         // the first input with this vector and restriction, which has its E-vector
  CeedSize e_length, q_length; // of an element; 0: nothing to keep
  CeedScalar *e_vec, *q_vec;   // in work memory, for a batch
} Field;

typedef struct {
  CeedOperator op;
  RitzOperatorRoute route;   // of its bases
  CeedInt num_fields, batch; // batch: elements at a time
  Field *fields;             // owned: inputs, then outputs
  RitzGpuField *q_fields;    // owned: what the QFunction gets
} Run;

// ---- Shapes ----

// Entry (i, c, e) of the L-vector at c * stride + e * num_points + i: the order of Q-vectors.
static bool is_laid_out_like_points(CeedElemRestriction r) {
  CeedInt strides[3];
  if (r->type != CEED_RESTRICTION_STRIDED) return false;
  ritz_restriction_l_strides(r, strides);
  return (strides[0] == 1 || r->elem_size == 1) && (strides[2] == r->elem_size || r->num_elem == 1);
}

static CeedInt first_with_e_vec(const Run *run, CeedInt i) {
  const Field *f = &run->fields[i];
  for (CeedInt k = 0; f->is_input && k < i; k++) {
    const Field *other = &run->fields[k];
    if (other->has_nodes && other->vec == f->vec && other->field->rstr == f->field->rstr) return k;
  }
  return i;
}

static void describe_field(Run *run, CeedInt i, CeedVector in, CeedVector out) {
  CeedOperator op = run->op;
  Field *f = &run->fields[i];
  f->is_input = i < op->num_in;
  f->field = f->is_input ? op->in[i] : op->out[i - op->num_in];
  f->is_unused = ritz_field_is_unused(f->field);
  f->mode = f->is_unused ? CEED_EVAL_NONE : f->field->qf_field->eval_mode;
  f->vec = f->field->vec != CEED_VECTOR_ACTIVE ? f->field->vec : f->is_input ? in : out;
  f->has_nodes = f->mode != CEED_EVAL_NONE && f->mode != CEED_EVAL_WEIGHT;
  f->is_direct =
      f->is_input && f->mode == CEED_EVAL_NONE && !f->is_unused && is_laid_out_like_points(f->field->rstr);
  f->gathered_by = f->has_nodes ? first_with_e_vec(run, i) : i;
  if (f->has_nodes && f->gathered_by == i)
    f->e_length = (CeedSize)f->field->rstr->elem_size * f->field->rstr->num_comp;
  if (!f->is_direct) f->q_length = (CeedSize)f->field->qf_field->size * op->num_qpts;
}

// ---- Work memory ----

// Scalars for the fields of a batch; with `memory` the places are taken there.
static CeedSize place_fields(Run *run, CeedInt batch, CeedScalar *memory) {
  CeedSize next = 0;
  for (CeedInt i = 0; i < run->num_fields; i++) {
    Field *f = &run->fields[i];
    if (memory) f->e_vec = f->gathered_by == i ? memory + next : run->fields[f->gathered_by].e_vec;
    next += ritz_gpu_aligned(f->e_length * batch);
    if (memory) f->q_vec = memory + next;
    next += ritz_gpu_aligned(f->q_length * batch);
  }
  return next;
}

// Transposing by maps is for all elements at once.
static bool may_split(const Run *run) {
  for (CeedInt i = run->op->num_in; i < run->num_fields; i++) {
    if (run->fields[i].is_unused) continue;
    if (ritz_gpu_restriction_needs_map(run->fields[i].field->rstr)) return false;
  }
  return true;
}

// Chooses the elements of a batch: the most that fit the work memory, in batches of nearly equal size.
static void choose_batch(Run *run) {
  const RitzGpu *gpu = ritz_gpu(run->op->obj.ceed);
  const CeedInt num_elem = run->op->num_elem;
  CeedSize length = 0;
  for (CeedInt i = 0; i < run->num_fields; i++) length += run->fields[i].e_length + run->fields[i].q_length;
  const CeedSize budget = gpu->work_bytes / (CeedSize)sizeof(CeedScalar);
  run->batch = num_elem;
  if (length * num_elem <= budget || !may_split(run)) return;
  const CeedSize most = length > 0 && budget / length > 1 ? budget / length : 1;
  const CeedSize num_batches = (num_elem + most - 1) / most;
  run->batch = (CeedInt)((num_elem + num_batches - 1) / num_batches);
}

static int describe_run(Run *run, CeedOperator op, RitzOperatorRoute route, CeedVector in, CeedVector out) {
  *run = (Run){.op = op, .route = route, .num_fields = op->num_in + op->num_out};
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)run->num_fields, &run->fields));
  for (CeedInt i = 0; i < run->num_fields; i++) describe_field(run, i, in, out);
  choose_batch(run);
  return CEED_ERROR_SUCCESS;
}

// ---- Arrays ----

// The output that holds the array of this vector, or NULL.
static const Field *earlier_separate_output(const Run *run, CeedVector output) {
  for (CeedInt k = run->op->num_in; k < run->num_fields; k++) {
    if (run->fields[k].vec == output && run->fields[k].holds) return &run->fields[k];
  }
  return NULL;
}

static int get_array(const Run *run, Field *f) {
  if (f->vec == CEED_VECTOR_NONE) return CEED_ERROR_SUCCESS;
  if (f->is_input) {
    RITZ_TRY_BACKEND(CeedVectorGetArrayRead(f->vec, CEED_MEM_DEVICE, (const CeedScalar **)&f->l_array));
  } else {
    const Field *holder = earlier_separate_output(run, f->vec);
    if (holder) f->l_array = holder->l_array;
    if (holder) return CEED_ERROR_SUCCESS;
    RITZ_TRY_BACKEND(CeedVectorGetArray(f->vec, CEED_MEM_DEVICE, &f->l_array));
  }
  f->holds = true;
  return CEED_ERROR_SUCCESS;
}

static int open_run(CeedOperator op, RitzOperatorRoute route, CeedVector in, CeedVector out, Run *run) {
  void *memory = NULL;
  RITZ_TRY(describe_run(run, op, route, in, out));
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)run->num_fields, &run->q_fields));
  const size_t num_bytes = (size_t)place_fields(run, run->batch, NULL) * sizeof(CeedScalar);
  RITZ_TRY(ritz_gpu_work(op->obj.ceed, RITZ_WORK_OPERATOR, num_bytes, &memory));
  if (memory) (void)place_fields(run, run->batch, memory);
  for (CeedInt i = 0; i < run->num_fields; i++) RITZ_TRY(get_array(run, &run->fields[i]));
  return CEED_ERROR_SUCCESS;
}

static int close_run(Run *run, int ierr) {
  for (CeedInt i = 0; run->fields && i < run->num_fields; i++) {
    Field *f = &run->fields[i];
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

static int evaluate_input(const Run *run, CeedInt i, CeedInt first, CeedInt num) {
  const Field *f = &run->fields[i];
  const RitzBasisAction action = {num, CEED_NOTRANSPOSE, f->mode, false};
  if (f->is_direct) return CEED_ERROR_SUCCESS;
  if (f->mode == CEED_EVAL_WEIGHT && first > 0 && num == run->batch) return CEED_ERROR_SUCCESS; // still there
  if (f->vec != CEED_VECTOR_NONE && f->gathered_by == i)
    RITZ_TRY(run_restriction(f->field->rstr, CEED_NOTRANSPOSE, first, num, f->l_array,
                             f->has_nodes ? f->e_vec : f->q_vec));
  if (f->mode == CEED_EVAL_NONE) return CEED_ERROR_SUCCESS;
  return ritz_gpu_basis_apply_by(f->field->basis, run->route, &action, f->e_vec, f->q_vec);
}

static int add_output(const Run *run, CeedInt i, CeedInt first, CeedInt num) {
  const Field *f = &run->fields[i];
  const RitzBasisAction action = {num, CEED_TRANSPOSE, f->mode, false};
  if (f->is_unused) return CEED_ERROR_SUCCESS;
  if (f->has_nodes)
    RITZ_TRY(ritz_gpu_basis_apply_by(f->field->basis, run->route, &action, f->q_vec, f->e_vec));
  return run_restriction(f->field->rstr, CEED_TRANSPOSE, first, num, f->has_nodes ? f->e_vec : f->q_vec,
                         f->l_array);
}

static RitzGpuField q_field_of(const Run *run, const Field *f, CeedInt first, CeedInt num) {
  const CeedInt num_points = run->op->num_qpts;
  CeedInt strides[3];
  if (!f->is_direct) return (RitzGpuField){f->q_vec, 0, (int64_t)num * num_points};
  ritz_restriction_l_strides(f->field->rstr, strides);
  return (RitzGpuField){f->l_array, (int64_t)first * num_points, strides[1]};
}

static int run_batch(const Run *run, CeedInt first, CeedInt num) {
  CeedOperator op = run->op;
  for (CeedInt i = 0; i < op->num_in; i++) RITZ_TRY(evaluate_input(run, i, first, num));
  for (CeedInt i = 0; i < run->num_fields; i++)
    run->q_fields[i] = q_field_of(run, &run->fields[i], first, num);
  RITZ_TRY(ritz_gpu_qfunction_run(op->qf, (int64_t)num * op->num_qpts, run->q_fields));
  for (CeedInt i = op->num_in; i < run->num_fields; i++) RITZ_TRY(add_output(run, i, first, num));
  return CEED_ERROR_SUCCESS;
}

static int run_batches(const Run *run) {
  const CeedInt num_elem = run->op->num_elem;
  for (CeedSize first = 0; first < num_elem; first += run->batch)
    RITZ_TRY(run_batch(run, (CeedInt)first, CeedIntMin(run->batch, num_elem - (CeedInt)first)));
  return CEED_ERROR_SUCCESS;
}

static int apply_at_points(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  RITZ_TRY(ritz_gpu_delegate(op->obj.ceed, "operators at points", "they have no kernels on devices yet"));
  return ritz_ref_operator_apply(op, in, out, mode);
}

int ritz_gpu_operator_apply_by(CeedOperator op, RitzOperatorRoute route, CeedVector in, CeedVector out,
                               RitzApplyMode mode) {
  Run run;
  RITZ_TRY(ritz_gpu_require_route(op, route, ritz_gpu_operator_refuses_route(op, route)));
  if (op->is_at_points) return apply_at_points(op, in, out, mode);
  RITZ_TRY(ritz_operator_zero_outputs(op, out, mode));
  int ierr = open_run(op, route, in, out, &run);
  if (!ierr) ierr = run_batches(&run);
  return close_run(&run, ierr);
}

// Of contexts whose name says that kernels are separate.
static RitzOperatorRoute route_of(CeedOperator op) {
  return op->route == RITZ_OPERATOR_ROUTE_AUTO ? RITZ_OPERATOR_ROUTE_SEPARATE : op->route;
}

int ritz_gpu_operator_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  return ritz_gpu_operator_apply_by(op, route_of(op), in, out, mode);
}

// ---- For people ----

static void explain_field(const Run *run, const Field *f, FILE *stream) {
  fprintf(stream, "  %s %-12s ", f->is_input ? "input " : "output", f->field->qf_field->name);
  if (f->is_unused)
    fprintf(stream, "of size 0\n");
  else if (f->is_direct)
    fprintf(stream, "read where it is\n");
  else if (f->mode == CEED_EVAL_NONE)
    fprintf(stream, "%s\n", f->is_input ? "gathered" : "scattered");
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
  Run run;
  if (op->is_at_points) {
    fprintf(stream, "  runs as: the reference backend, element by element (operators at points)\n");
    return CEED_ERROR_SUCCESS;
  }
  int ierr = describe_run(&run, op, route, CEED_VECTOR_NONE, CEED_VECTOR_NONE);
  if (!ierr) {
    fprintf(stream, "  runs as: separate kernels on %s, in batches of %" CeedInt_FMT " elements\n",
            gpu->info->name, run.batch);
    if (route != RITZ_OPERATOR_ROUTE_SEPARATE) explain_products(op->obj.ceed, route, stream);
    fprintf(stream, "  work memory: %.1f MB, shared by all operators of the context\n",
            1e-6 * (double)sizeof(CeedScalar) * (double)place_fields(&run, run.batch, NULL));
    fprintf(stream, "  outputs are added %s\n",
            gpu->is_deterministic ? "in the order of the elements" : "by atomic additions, in any order");
    for (CeedInt i = 0; i < run.num_fields; i++) explain_field(&run, &run.fields[i], stream);
    fprintf(stream, "  several vectors at once: one after the other\n");
    fprintf(stream, "  assembly, and evaluation at points: the reference backend\n");
  }
  return close_run(&run, ierr);
}

int ritz_gpu_operator_explain(CeedOperator op, FILE *stream) {
  return ritz_gpu_operator_explain_by(op, route_of(op), stream);
}

int ritz_gpu_operator_source(CeedOperator op, const char **source) {
  return ritz_gpu_qfunction_source(op->qf, source);
}
