// SPDX-License-Identifier: BSD-2-Clause
// The target of a diagonal on a device (contract in plan/gpu-diagonal.h).
#include <string.h>

#include "plan/gpu-diagonal.h"

// ---- Sums ----

static int find_sum(RitzGpuDiagonal *d, RitzDiagonalTerm term) {
  term.product[d->plan.dim - 1] = 0;
  for (int s = 0; s < d->num_sums; s++) {
    if (!memcmp(&d->sums[s], &term, sizeof(term))) return s;
  }
  d->sums[d->num_sums] = term;
  return d->num_sums++;
}

static int list_sums(Ceed ceed, RitzGpuDiagonal *d) {
  const size_t num = (size_t)d->diagonal->num_terms;
  RITZ_TRY(RITZ_CALLOC(ceed, num, &d->sums));
  RITZ_TRY(RITZ_CALLOC(ceed, num, &d->sum_of));
  for (size_t t = 0; t < num; t++) d->sum_of[t] = find_sum(d, d->diagonal->terms[t]);
  return CEED_ERROR_SUCCESS;
}

// ---- Spaces and bases ----

// Values at the points, whatever the route of the operator's basis.
static RitzPlanBasis describe_products(const RitzDiagonalPlan *diagonal) {
  RitzPlanBasis basis = diagonal->plan.bases[diagonal->output.basis];
  basis.route = RITZ_ROUTE_COLLOCATED;
  basis.interp = diagonal->products[0];
  basis.grad = basis.deriv = (RitzPlanMatrix){0};
  basis.weights = NULL;
  return basis;
}

static int copy_plan(Ceed ceed, RitzGpuDiagonal *d) {
  const RitzPlan *from = &d->diagonal->plan;
  RitzPlan *to = &d->plan;
  *to = *from;
  to->bases = NULL;
  to->spaces = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)from->num_bases + 1, &to->bases));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)from->num_spaces + 1, &to->spaces));
  if (from->num_spaces) memcpy(to->spaces, from->spaces, (size_t)from->num_spaces * sizeof(*to->spaces));
  memcpy(to->bases, from->bases, (size_t)from->num_bases * sizeof(*to->bases));
  to->bases[to->num_bases++] = describe_products(d->diagonal);
  RitzPlanSpace *output = &to->spaces[to->num_spaces++];
  *output = d->diagonal->output;
  output->basis = from->num_bases;
  output->modes = CEED_EVAL_INTERP;
  output->is_interlaced = false; // one component at a time
  return CEED_ERROR_SUCCESS;
}

// ---- The target ----

static CeedInt count_inputs(const RitzGpuDiagonal *d) {
  CeedInt num = 0;
  for (int s = 0; s < d->plan.num_spaces - 1; s++) {
    const RitzGpuSpace *space = &d->target->spaces[s];
    num = CeedIntMax(num, space->first_array + space->num_arrays * d->plan.spaces[s].num_comp);
  }
  return num;
}

static RitzGpuChoice choose_loop(const RitzGpuDiagonal *d) {
  const RitzPlan *plan = &d->plan;
  CeedInt size = 0;
  for (int i = 0; i < plan->num_in + plan->num_out; i++) size += plan->fields[i].size;
  return (RitzGpuChoice){
      .whole = -1, .unroll = size * plan->Q_1d * d->diagonal->num_in <= RITZ_GPU_DIAGONAL_WORK ? 1 : -1};
}

// Products of 1D tables, each of them twice at most, beside the matrices of passive inputs.
static bool has_constants(const RitzGpuDiagonal *d) {
  const RitzPlanMatrix *product = &d->diagonal->products[0];
  const CeedSize size = (CeedSize)product->rows * product->cols * ritz_gpu_real_bytes(&d->plan);
  return d->target->constant_bytes + 2 * RITZ_NUM_PRODUCTS * size <= RITZ_MAX_CONSTANT_BYTES;
}

// The block has an array for each component of an output: the diagonal is given as many as it needs arrays,
// at least two where strides of components matter.
static int choose_target(CeedOperator op, const RitzGpuMachine *machine, bool is_deterministic,
                         CeedInt num_arrays, RitzGpuDiagonal *d) {
  RitzPlanSpace *output = &d->plan.spaces[d->plan.num_spaces - 1];
  const RitzGpuChoice choice = choose_loop(d);
  RitzGpuMachine device = *machine;
  device.mma = -1; // sums are lines of a thread
  output->num_comp = CeedIntMax(num_arrays, d->diagonal->output.num_comp > 1 ? 2 : 1);
  ritz_plan_gpu_free(&d->target);
  const int ierr = ritz_plan_gpu(op, &d->plan, &device, &choice, is_deterministic, &d->target);
  output->num_comp = 1;
  return ierr;
}

// With one component the sums take over the arrays of inputs, as in an apply; with more, inputs are read
// again.
static int make_diagonal_target(CeedOperator op, const RitzGpuMachine *machine, bool is_deterministic,
                                RitzGpuDiagonal *d) {
  RITZ_TRY(copy_plan(op->obj.ceed, d));
  RITZ_TRY(list_sums(op->obj.ceed, d));
  RITZ_TRY(choose_target(op, machine, is_deterministic, d->num_sums, d));
  if (!d->target->reason && !has_constants(d)) d->target->reason = RITZ_TOO_MANY_CONSTANTS;
  if (!d->target->reason && (CeedSize)d->diagonal->num_in * d->diagonal->num_out > RITZ_GPU_DIAGONAL_PAIRS)
    d->target->reason = "more pairs of active fields than a kernel can be compiled for in a short time";
  if (d->target->reason || d->diagonal->output.num_comp == 1) return CEED_ERROR_SUCCESS;
  d->first_array = count_inputs(d);
  if (d->first_array == 0) return CEED_ERROR_SUCCESS;
  return choose_target(op, machine, is_deterministic, d->first_array + d->num_sums, d);
}

int ritz_plan_gpu_diagonal(CeedOperator op, const RitzDiagonalPlan *diagonal, const RitzGpuMachine *machine,
                           bool is_deterministic, RitzGpuDiagonal **made) {
  *made = NULL;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, made));
  (*made)->diagonal = diagonal;
  const int ierr = make_diagonal_target(op, machine, is_deterministic, *made);
  RitzGpuTarget *t = (*made)->target;
  if (!ierr && diagonal->is_column) t->args[t->num_args++].kind = RITZ_GPU_ARG_COLUMN; // spaces leave room
  if (ierr) ritz_plan_gpu_diagonal_free(made);
  return ierr;
}

void ritz_plan_gpu_diagonal_free(RitzGpuDiagonal **diagonal) {
  RitzGpuDiagonal *d = *diagonal;
  if (!d) return;
  ritz_plan_gpu_free(&d->target);
  RITZ_FREE(&d->plan.spaces);
  RITZ_FREE(&d->plan.bases);
  RITZ_FREE(&d->sums);
  RITZ_FREE(&d->sum_of);
  RITZ_FREE(diagonal);
}
