// SPDX-License-Identifier: BSD-2-Clause
// CeedBasisApply of the backend: batches of elements with the functions of the ahead-of-time kernel.
// E-vectors of bases are [entry][element], so that the lanes of an entry are consecutive.
#include <string.h>

#include "backends/cpu/unfused-basis.h"
#include "backends/cpu/unfused.h"
#include "backends/ref/ref.h"

static const CeedScalar *derivative_of(CeedBasis basis, CeedEvalMode mode) {
  if (basis->is_tensor) return basis->grad_1d;
  return mode == CEED_EVAL_GRAD ? basis->grad : mode == CEED_EVAL_DIV ? basis->div : basis->curl;
}

static RitzUnfusedBlock block_of(CeedBasis basis, CeedInt c) {
  const RitzBasisBlock *from = &basis->blocks[c];
  RitzUnfusedBlock block = {.num_nodes = from->num_nodes, .first = from->first};
  for (CeedInt d = 0; d < basis->dim; d++) {
    block.P[d] = from->P[d];
    block.interp[d] = from->interp[d];
    block.grad[d] = from->grad[d];
    block.row[d] = ritz_basis_block_row(basis->space, basis->dim, c, d, &block.sign[d]);
  }
  return block;
}

static RitzUnfusedBasis describe(CeedBasis basis, CeedEvalMode mode) {
  RitzUnfusedBasis b = {.is_tensor = basis->is_tensor,
                        .has_blocks = basis->blocks != NULL,
                        .dim = basis->dim,
                        .P_1d = basis->P_1d,
                        .Q_1d = basis->Q_1d,
                        .P = basis->P,
                        .Q = basis->Q,
                        .q_comp_interp = ritz_basis_num_q_comp(basis, CEED_EVAL_INTERP),
                        .q_comp_deriv = ritz_basis_num_q_comp(basis, mode),
                        .interp = basis->is_tensor ? basis->interp_1d : basis->interp,
                        .grad = derivative_of(basis, mode)};
  for (CeedInt c = 0; b.has_blocks && c < b.dim; c++) b.blocks[c] = block_of(basis, c);
  return b;
}

// Elements first .. first + num - 1; idle lanes are zero.
static void load(CeedSize size, CeedInt num_elem, CeedInt first, size_t num, const CeedScalar *u,
                 RitzVec *x) {
  for (CeedSize i = 0; i < size; i++) {
    x[i] = ritz_splat(0);
    memcpy(&x[i], u + i * num_elem + first, num * sizeof(*u));
  }
}

static void store(CeedSize size, CeedInt num_elem, CeedInt first, size_t num, bool add, const RitzVec *y,
                  CeedScalar *v) {
  for (CeedSize i = 0; i < size; i++) {
    CeedScalar *to = v + i * num_elem + first;
    RitzVec sum = ritz_splat(0);
    if (add) memcpy(&sum, to, num * sizeof(*to));
    sum += y[i];
    memcpy(to, &sum, num * sizeof(*to));
  }
}

// Memory of n vectors at *vectors, where vectors begin; *memory is to be freed.
static int allocate(Ceed ceed, CeedSize n, char **memory, RitzVec **vectors) {
  RITZ_TRY(RITZ_MALLOC(ceed, ((size_t)n + 1) * sizeof(RitzVec), memory));
  *vectors = (RitzVec *)(*memory + (sizeof(RitzVec) - (uintptr_t)*memory % sizeof(RitzVec)));
  return CEED_ERROR_SUCCESS;
}

// Few elements would leave lanes idle.
int ritz_cpu_basis_apply(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u, CeedScalar *v) {
  const CeedEvalMode mode = action->eval_mode;
  if (mode == CEED_EVAL_WEIGHT || action->num_elem < RITZ_LANES)
    return ritz_ref_basis_apply(basis, action, u, v);

  const RitzUnfusedBasis b = describe(basis, mode);
  const bool transposes = action->t_mode == CEED_TRANSPOSE;
  const CeedSize nodes = (CeedSize)basis->num_comp * basis->P;
  const CeedSize points = (CeedSize)ritz_basis_num_q_comp(basis, mode) * basis->num_comp * basis->Q;
  char *memory = NULL;
  RitzVec *x;
  RITZ_TRY(allocate(basis->obj.ceed, nodes + points + ritz_unfused_basis_scratch(&b), &memory, &x));
  RitzVec *y = x + nodes, *scratch = y + points;
  for (CeedInt e = 0; e < action->num_elem; e += RITZ_LANES) {
    const size_t num = (size_t)CeedIntMin(RITZ_LANES, action->num_elem - e);
    if (transposes) {
      load(points, action->num_elem, e, num, u, y);
      ritz_unfused_basis_down(&b, mode, basis->num_comp, y, x, false, scratch);
      store(nodes, action->num_elem, e, num, action->add, x, v);
    } else {
      load(nodes, action->num_elem, e, num, u, x);
      ritz_unfused_basis_up(&b, mode, basis->num_comp, x, y, scratch);
      store(points, action->num_elem, e, num, false, y, v);
    }
  }
  RITZ_FREE(&memory);
  return CEED_ERROR_SUCCESS;
}
