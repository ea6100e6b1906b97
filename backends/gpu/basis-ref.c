// SPDX-License-Identifier: BSD-2-Clause
// Bases by the kernels for any size, kernels/gpu/basis-ref.h: tensor bases one direction after the other,
// dense bases by rows of their table. Called by basis.c.
#include "backends/gpu/basis.h"
#include "fe/fe.h"

// ---- Tensor bases ----

// A product of 1D tables, and where it is applied.
typedef struct {
  CeedBasis basis;
  bool transposes;
  int64_t num_items;
  const void *interp, *grad; // 1D tables on the device
  CeedInt differentiated;    // the direction with the gradient table, -1: none
} Tensor;

static int work_memory(const Tensor *t, void *work[2]) {
  CeedBasis b = t->basis;
  const int64_t largest = t->num_items * ritz_power(CeedIntMax(b->P_1d, b->Q_1d), b->dim);
  const size_t num_bytes = (size_t)largest * sizeof(CeedScalar);
  work[0] = work[1] = NULL;
  if (b->dim > 1) RITZ_TRY(ritz_gpu_work(b->obj.ceed, RITZ_WORK_BASIS_0, num_bytes, &work[0]));
  if (b->dim > 2) RITZ_TRY(ritz_gpu_work(b->obj.ceed, RITZ_WORK_BASIS_1, num_bytes, &work[1]));
  return CEED_ERROR_SUCCESS;
}

// An array on the device; kernels take where it begins as a number, since OpenCL wants addresses aligned.
typedef struct {
  const void *memory;
  int64_t first;
} Place;

static int launch_contraction(const Tensor *t, CeedInt direction, bool add, Place from, Place to) {
  CeedBasis b = t->basis;
  Ceed ceed = b->obj.ceed;
  const CeedInt n_in = t->transposes ? b->Q_1d : b->P_1d, n_out = t->transposes ? b->P_1d : b->Q_1d;
  const int64_t after = ritz_power(n_out, direction);
  const int64_t n = t->num_items * ritz_power(n_in, b->dim - 1 - direction) * n_out * after;
  const void *table = direction == t->differentiated ? t->grad : t->interp;
  RitzGpuProgram program;
  RITZ_TRY(ritz_gpu_base(ceed, RITZ_BASE_BASES, &program));
  return RITZ_GPU_RUN(ceed, program, "basis_contract", RITZ_GPU_BLOCKS(n), RITZ_GPU_BLOCK, RITZ_LONG(n),
                      RITZ_INT(n_in), RITZ_INT(n_out), RITZ_INT((CeedInt)after),
                      RITZ_INT(t->transposes ? 1 : b->P_1d), RITZ_INT(t->transposes ? b->P_1d : 1),
                      RITZ_INT(add), RITZ_POINTER(table), RITZ_LONG(from.first), RITZ_POINTER(from.memory),
                      RITZ_LONG(to.first), RITZ_POINTER(to.memory));
}

static int apply_product(const Tensor *t, bool add, Place u, Place v) {
  void *work[2];
  RITZ_TRY(work_memory(t, work));
  for (CeedInt d = 0; d < t->basis->dim; d++) {
    const bool is_last = d == t->basis->dim - 1;
    const Place to = is_last ? v : (Place){work[d % 2], 0};
    RITZ_TRY(launch_contraction(t, d, add && is_last, u, to));
    u = to;
  }
  return CEED_ERROR_SUCCESS;
}

static int apply_tensor(CeedBasis b, const RitzBasisAction *action, const CeedScalar *u, CeedScalar *v) {
  Tensor t = {b, action->t_mode == CEED_TRANSPOSE, ritz_gpu_basis_num_items(b, action->num_elem), NULL, NULL,
              -1};
  Place from = {u, 0}, to = {v, 0};
  RITZ_TRY(ritz_gpu_basis_table(b, CEED_EVAL_INTERP, false, &t.interp));
  if (action->eval_mode == CEED_EVAL_INTERP) return apply_product(&t, action->add, from, to);
  RITZ_TRY(ritz_gpu_basis_table(b, CEED_EVAL_GRAD, false, &t.grad));
  for (CeedInt d = 0; d < b->dim; d++) {
    *(t.transposes ? &from.first : &to.first) = d * t.num_items * b->Q;
    t.differentiated = d;
    RITZ_TRY(apply_product(&t, action->add || (t.transposes && d > 0), from, to));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Dense bases, weights ----

static int apply_dense(CeedBasis b, const RitzBasisAction *action, const CeedScalar *u, CeedScalar *v) {
  Ceed ceed = b->obj.ceed;
  RitzGpuProgram base;
  const int64_t num_items = ritz_gpu_basis_num_items(b, action->num_elem);
  const CeedInt q_comp = ritz_basis_num_q_comp(b, action->eval_mode);
  const void *table;
  RITZ_TRY(ritz_gpu_base(ceed, RITZ_BASE_BASES, &base));
  RITZ_TRY(ritz_gpu_basis_table(b, action->eval_mode, false, &table));
  if (action->t_mode == CEED_TRANSPOSE)
    return RITZ_GPU_RUN(ceed, base, "basis_dense_transposed", RITZ_GPU_BLOCKS(num_items * b->P),
                        RITZ_GPU_BLOCK, RITZ_LONG(num_items), RITZ_INT(b->P), RITZ_INT(b->Q),
                        RITZ_INT(q_comp), RITZ_INT(action->add), RITZ_POINTER(table), RITZ_POINTER(u),
                        RITZ_POINTER(v));
  return RITZ_GPU_RUN(ceed, base, "basis_dense", RITZ_GPU_BLOCKS(q_comp * num_items * b->Q), RITZ_GPU_BLOCK,
                      RITZ_LONG(num_items), RITZ_INT(b->P), RITZ_INT(b->Q), RITZ_INT(q_comp),
                      RITZ_POINTER(table), RITZ_POINTER(u), RITZ_POINTER(v));
}

static int apply_weight(CeedBasis b, CeedInt num_elem, CeedScalar *v) {
  Ceed ceed = b->obj.ceed;
  const void *weight;
  RitzGpuProgram program;
  RITZ_TRY(ritz_gpu_base(ceed, RITZ_BASE_BASES, &program));
  RITZ_TRY(ritz_gpu_basis_weight(b, &weight));
  return RITZ_GPU_RUN(ceed, program, "basis_weight", RITZ_GPU_BLOCKS((int64_t)num_elem * b->Q),
                      RITZ_GPU_BLOCK, RITZ_LONG(num_elem), RITZ_INT(b->is_tensor ? b->dim : 1),
                      RITZ_INT(b->is_tensor ? b->Q_1d : b->Q), RITZ_INT(b->Q), RITZ_POINTER(weight),
                      RITZ_POINTER(v));
}

int ritz_gpu_basis_apply_ref(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u,
                             CeedScalar *v) {
  if (action->eval_mode == CEED_EVAL_WEIGHT) return apply_weight(basis, action->num_elem, v);
  return basis->is_tensor ? apply_tensor(basis, action, u, v) : apply_dense(basis, action, u, v);
}
