// SPDX-License-Identifier: BSD-2-Clause
// Bases by the kernels for any size, kernels/gpu/basis-ref.h: tensor bases one direction after the other,
// dense bases by rows of their table. Called by basis.c.
#include "backends/gpu/basis.h"
#include "backends/gpu/context.h"
#include "backends/gpu/memory.h"
#include "fe/fe.h"

// ---- Tensor bases ----

// A product of 1D tables, and where it is applied.
typedef struct {
  CeedBasis basis;
  bool transposes;
  int64_t num_items;
  const void *interp, *grad; // 1D tables on the device
  CeedInt differentiated;    // the direction with the gradient table, -1: none
  RitzGpuContract contract;
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

static int launch_contraction(const RitzGpuContraction *c) {
  Ceed ceed = c->basis->obj.ceed;
  const CeedInt P = c->basis->P_1d;
  const int64_t n = c->before * c->n_out * c->after;
  RitzGpuKernel *kernel;
  RITZ_TRY(ritz_gpu_base(ceed, RITZ_BASE_BASES, &kernel));
  return RITZ_GPU_RUN(ceed, kernel, "basis_contract", RITZ_GPU_BLOCKS(n), RITZ_GPU_BLOCK, RITZ_LONG(n),
                      RITZ_INT(c->n_in), RITZ_INT(c->n_out), RITZ_INT(c->after),
                      RITZ_INT(c->transposes ? 1 : P), RITZ_INT(c->transposes ? P : 1), RITZ_INT(c->adds),
                      RITZ_POINTER(c->table), RITZ_LONG(c->from.first), RITZ_POINTER(c->from.memory),
                      RITZ_LONG(c->to.first), RITZ_POINTER(c->to.memory));
}

static int apply_product(const Tensor *t, bool add, RitzGpuPlace u, RitzGpuPlace v) {
  CeedBasis b = t->basis;
  const CeedInt n_in = t->transposes ? b->Q_1d : b->P_1d, n_out = t->transposes ? b->P_1d : b->Q_1d;
  void *work[2];
  RITZ_TRY(work_memory(t, work));
  for (CeedInt d = 0; d < b->dim; d++) {
    const bool is_last = d == b->dim - 1;
    const RitzGpuContraction c = {.basis = b,
                                  .direction = d,
                                  .transposes = t->transposes,
                                  .adds = add && is_last,
                                  .n_in = n_in,
                                  .n_out = n_out,
                                  .before = t->num_items * ritz_power(n_in, b->dim - 1 - d),
                                  .after = (CeedInt)ritz_power(n_out, d),
                                  .table = d == t->differentiated ? t->grad : t->interp,
                                  .from = u,
                                  .to = is_last ? v : (RitzGpuPlace){work[d % 2], 0}};
    RITZ_TRY(t->contract(&c));
    u = c.to;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_basis_apply_tensor(CeedBasis b, const RitzBasisAction *action, RitzGpuContract contract,
                                const CeedScalar *u, CeedScalar *v) {
  Tensor t = {.basis = b,
              .transposes = action->t_mode == CEED_TRANSPOSE,
              .num_items = ritz_gpu_basis_num_items(b, action->num_elem),
              .differentiated = -1,
              .contract = contract};
  RitzGpuPlace from = {u, 0}, to = {v, 0};
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
  RitzGpuKernel *base;
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
  RitzGpuKernel *kernel;
  RITZ_TRY(ritz_gpu_base(ceed, RITZ_BASE_BASES, &kernel));
  RITZ_TRY(ritz_gpu_basis_weight(b, &weight));
  return RITZ_GPU_RUN(ceed, kernel, "basis_weight", RITZ_GPU_BLOCKS((int64_t)num_elem * b->Q), RITZ_GPU_BLOCK,
                      RITZ_LONG(num_elem), RITZ_INT(b->is_tensor ? b->dim : 1),
                      RITZ_INT(b->is_tensor ? b->Q_1d : b->Q), RITZ_INT(b->Q), RITZ_POINTER(weight),
                      RITZ_POINTER(v));
}

int ritz_gpu_basis_apply_ref(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u,
                             CeedScalar *v) {
  if (action->eval_mode == CEED_EVAL_WEIGHT) return apply_weight(basis, action->num_elem, v);
  return basis->is_tensor ? ritz_gpu_basis_apply_tensor(basis, action, launch_contraction, u, v)
                          : apply_dense(basis, action, u, v);
}
