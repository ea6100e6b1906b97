// SPDX-License-Identifier: BSD-2-Clause
// CeedBasisApply of the backend: batches of elements with the functions of the ahead-of-time kernel.
// E-vectors of bases are [entry][element], so that the lanes of an entry are consecutive.
#include <string.h>

#include "backends/cpu/steps.h"
#include "backends/cpu/unfused.h"
#include "backends/ref/ref.h"

static const CeedScalar *derivative_of(CeedBasis basis, CeedEvalMode mode) {
  if (basis->is_tensor) return basis->grad_1d;
  return mode == CEED_EVAL_GRAD ? basis->grad : mode == CEED_EVAL_DIV ? basis->div : basis->curl;
}

// A plan of one space with the basis, the tables of which it borrows. Derivatives by a sweep each.
typedef struct {
  RitzPlanMatrix lines[18]; // of blocks: interp and grad of each block and direction
  RitzPlanBasis basis;
  RitzPlanSpace space;
  RitzPlan plan;
  const void *matrices[2];
} Alone;

static RitzPlanMatrix borrow_line(CeedInt Q, CeedInt P, const CeedScalar *values) {
  return (RitzPlanMatrix){.rows = Q, .cols = P, .values = (CeedScalar *)values};
}

static void describe_block(CeedBasis basis, CeedInt c, Alone *a) {
  const RitzBasisBlock *from = &basis->blocks[c];
  RitzPlanBlock *block = &a->basis.blocks[c];
  *block = (RitzPlanBlock){.P = {1, 1, 1}, .num_nodes = from->num_nodes, .first = from->first};
  for (CeedInt d = 0; d < basis->dim; d++) {
    const int line = (int)(2 * (c * basis->dim + d));
    block->P[d] = from->P[d];
    block->interp[d] = line;
    block->grad[d] = from->grad[d] ? line + 1 : -1;
    block->row[d] = ritz_basis_block_row(basis->space, basis->dim, c, d, &block->sign[d]);
    a->lines[line] = borrow_line(basis->Q_1d, from->P[d], from->interp[d]);
    a->lines[line + 1] = borrow_line(basis->Q_1d, from->P[d], from->grad[d]);
  }
}

static RitzRoute route_of(CeedBasis basis) {
  return basis->is_tensor ? RITZ_ROUTE_DIRECT : basis->blocks ? RITZ_ROUTE_BLOCKS : RITZ_ROUTE_DENSE;
}

static void describe_basis(CeedBasis basis, CeedEvalMode mode, Alone *a) {
  CeedScalar *interp = (CeedScalar *)(basis->is_tensor ? basis->interp_1d : basis->interp);
  CeedScalar *derivative = (CeedScalar *)derivative_of(basis, mode);
  a->basis = (RitzPlanBasis){.is_tensor = basis->is_tensor,
                             .dim = basis->dim,
                             .P_1d = basis->P_1d,
                             .Q_1d = basis->Q_1d,
                             .P = basis->P,
                             .Q = basis->Q,
                             .q_comp_interp = ritz_basis_num_q_comp(basis, CEED_EVAL_INTERP),
                             .q_comp_deriv = ritz_basis_num_q_comp(basis, mode),
                             .route = route_of(basis),
                             .lines = a->lines,
                             .interp = {.rows = basis->Q_1d, .cols = basis->P_1d, .values = interp},
                             .grad = {.rows = basis->Q_1d, .cols = basis->P_1d, .values = derivative}};
  for (CeedInt c = 0; basis->blocks && c < basis->dim; c++) describe_block(basis, c, a);
  a->space = (RitzPlanSpace){
      .is_input = true, .num_nodes = basis->P, .num_comp = basis->num_comp, .modes = (unsigned)mode};
  a->plan = (RitzPlan){.precision = CEED_SCALAR_TYPE,
                       .Q = basis->Q,
                       .num_bases = 1,
                       .num_spaces = 1,
                       .bases = &a->basis,
                       .spaces = &a->space};
  a->matrices[0] = interp;
  a->matrices[1] = derivative;
}

// The list from nodes to points, or back.
static int list_steps(CeedBasis basis, const Alone *a, bool transposes, RitzSteps **list) {
  RitzSteps *forward = NULL;
  RITZ_TRY(ritz_steps_input(basis->obj.ceed, &a->plan, 0, false, &forward));
  if (!transposes) {
    *list = forward;
    return CEED_ERROR_SUCCESS;
  }
  const int ierr = ritz_steps_adjoint(basis->obj.ceed, forward, list);
  ritz_steps_free(&forward);
  return ierr;
}

// Elements first .. first + num - 1; idle lanes are zero.
static void load_batch(CeedSize size, CeedInt num_elem, CeedInt first, size_t num, const CeedScalar *u,
                       RitzVec *x) {
  for (CeedSize i = 0; i < size; i++) {
    x[i] = ritz_splat(0);
    memcpy(&x[i], u + i * num_elem + first, num * sizeof(*u));
  }
}

static void store_batch(CeedSize size, CeedInt num_elem, CeedInt first, size_t num, bool add,
                        const RitzVec *y, CeedScalar *v) {
  for (CeedSize i = 0; i < size; i++) {
    CeedScalar *to = v + i * num_elem + first;
    RitzVec sum = ritz_splat(0);
    if (add) memcpy(&sum, to, num * sizeof(*to));
    sum += y[i];
    memcpy(to, &sum, num * sizeof(*to));
  }
}

// Memory at *aligned, where vectors begin; *memory is to be freed.
static int allocate_run(Ceed ceed, const RitzSteps *list, char **memory, char **aligned) {
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)ritz_cpu_run_bytes(list) + sizeof(RitzVec), memory));
  *aligned = *memory + (sizeof(RitzVec) - (uintptr_t)*memory % sizeof(RitzVec));
  return CEED_ERROR_SUCCESS;
}

// The first buffer that is given, or wanted.
static RitzVec *find_end(const RitzCpuRun *run, bool is_given) {
  int b = 0;
  while (!(is_given ? run->list->buffers[b].is_given : run->list->buffers[b].is_wanted)) b++;
  return run->buffers[b];
}

static void run_batches(const RitzBasisAction *action, bool adds, CeedSize num_from, CeedSize num_to,
                        const RitzCpuRun *run, const CeedScalar *u, CeedScalar *v) {
  RitzVec *x = find_end(run, true), *y = find_end(run, false);
  const RitzBatch batch = {.num = RITZ_LANES};
  for (CeedInt e = 0; e < action->num_elem; e += RITZ_LANES) {
    const size_t num = (size_t)CeedIntMin(RITZ_LANES, action->num_elem - e);
    load_batch(num_from, action->num_elem, e, num, u, x);
    (void)ritz_cpu_run_steps(run, &batch); // no function to fail
    store_batch(num_to, action->num_elem, e, num, adds, y, v);
  }
}

// Few elements would leave lanes idle.
int ritz_cpu_basis_apply(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u, CeedScalar *v) {
  const CeedEvalMode mode = action->eval_mode;
  if (mode == CEED_EVAL_WEIGHT || action->num_elem < RITZ_LANES)
    return ritz_ref_basis_apply(basis, action, u, v);

  const bool transposes = action->t_mode == CEED_TRANSPOSE;
  const CeedSize nodes = (CeedSize)basis->num_comp * basis->P;
  const CeedSize points = (CeedSize)ritz_basis_num_q_comp(basis, mode) * basis->num_comp * basis->Q;
  Alone alone;
  RitzSteps *list = NULL;
  char *memory = NULL, *aligned;
  int ierr;
  describe_basis(basis, mode, &alone);
  RITZ_TRY(list_steps(basis, &alone, transposes, &list));
  RITZ_TRY_CLEANUP(allocate_run(basis->obj.ceed, list, &memory, &aligned));
  const RitzKernelArgs args = {.matrices = alone.matrices};
  RitzCpuRun run = {.list = list, .args = &args};
  ritz_cpu_begin_run(aligned, &run);
  run_batches(action, transposes && action->add, transposes ? points : nodes, transposes ? nodes : points,
              &run, u, v);
cleanup:
  RITZ_FREE(&memory);
  ritz_steps_free(&list);
  return ierr;
}
