// SPDX-License-Identifier: BSD-2-Clause
// Bases by matrix products over all elements (contract in basis.h). E-vectors [item][P] and Q-vectors
// [d][item][Q], items being pairs (component, element), are matrices P x items and, for each d, Q x items:
//
//     dense    V_d = T_d U              one product, a batch of as many as the table has parts d
//              U = sum T_d^T V_d        a product for each d, which adds to U
//     tensor   [before][n_in][after] -> [before][n_out][after], a direction after the other:
//              V = T U                  the first one, after = 1: one product with `before` columns
//              V_b = U_b T^T            the others: a batch of `before` products after x n_in by n_in x n_out
//
// Nothing is copied into another order.
#include "backends/gpu/basis.h"
#include "backends/gpu/gemm.h"

// ---- Dense bases ----

static int multiply_by_gemm(Ceed ceed, bool is_vendor, const RitzGpuGemm *g) {
  return is_vendor ? ritz_gpu_gemm_vendor(ceed, g) : ritz_gpu_gemm_large(ceed, g);
}

// The table [q_comp][Q][P] is, column-major, q_comp matrices P x Q.
static int to_points(CeedBasis b, const RitzBasisAction *action, bool is_vendor, const void *table,
                     const CeedScalar *u, CeedScalar *v) {
  const int64_t num_items = ritz_gpu_basis_num_items(b, action->num_elem);
  const RitzGpuGemm g = {.adds = action->add,
                         .is_transposed = {true, false},
                         .m = b->Q,
                         .n = num_items,
                         .k = b->P,
                         .count = ritz_basis_num_q_comp(b, action->eval_mode),
                         .operand = {{.memory = table, .stride = (int64_t)b->Q * b->P, .ld = b->P},
                                     {.memory = u, .ld = b->P},
                                     {.memory = v, .stride = num_items * b->Q, .ld = b->Q}}};
  return multiply_by_gemm(b->obj.ceed, is_vendor, &g);
}

static int to_nodes(CeedBasis b, const RitzBasisAction *action, bool is_vendor, const void *table,
                    const CeedScalar *u, CeedScalar *v) {
  const int64_t num_items = ritz_gpu_basis_num_items(b, action->num_elem);
  RitzGpuGemm g = {
      .adds = action->add,
      .m = b->P,
      .n = num_items,
      .k = b->Q,
      .count = 1,
      .operand = {{.memory = table, .ld = b->P}, {.memory = u, .ld = b->Q}, {.memory = v, .ld = b->P}}};
  for (CeedInt d = 0; d < ritz_basis_num_q_comp(b, action->eval_mode); d++) {
    g.operand[0].first = (int64_t)d * b->Q * b->P;
    g.operand[1].first = d * num_items * b->Q;
    RITZ_TRY(multiply_by_gemm(b->obj.ceed, is_vendor, &g));
    g.adds = true;
  }
  return CEED_ERROR_SUCCESS;
}

static int apply_dense(CeedBasis b, const RitzBasisAction *action, bool is_vendor, const CeedScalar *u,
                       CeedScalar *v) {
  const void *table;
  RITZ_TRY(ritz_gpu_basis_table(b, action->eval_mode, false, &table));
  return (action->t_mode == CEED_TRANSPOSE ? to_nodes : to_points)(b, action, is_vendor, table, u, v);
}

// ---- Tensor bases ----

// The table [Q][P] is, column-major, P x Q.
static RitzGpuGemm first_direction(const RitzGpuContraction *c) {
  return (RitzGpuGemm){.adds = c->adds,
                       .is_transposed = {!c->transposes, false},
                       .m = c->n_out,
                       .n = c->before,
                       .k = c->n_in,
                       .count = 1,
                       .operand = {{.memory = c->table, .ld = c->basis->P_1d},
                                   {.memory = c->from.memory, .first = c->from.first, .ld = c->n_in},
                                   {.memory = c->to.memory, .first = c->to.first, .ld = c->n_out}}};
}

static RitzGpuGemm later_direction(const RitzGpuContraction *c) {
  return (RitzGpuGemm){.adds = c->adds,
                       .is_transposed = {false, c->transposes},
                       .m = c->after,
                       .n = c->n_out,
                       .k = c->n_in,
                       .count = c->before,
                       .operand = {{.memory = c->from.memory,
                                    .first = c->from.first,
                                    .stride = (int64_t)c->after * c->n_in,
                                    .ld = c->after},
                                   {.memory = c->table, .ld = c->basis->P_1d},
                                   {.memory = c->to.memory,
                                    .first = c->to.first,
                                    .stride = (int64_t)c->after * c->n_out,
                                    .ld = c->after}}};
}

static int contract_by_vendor(const RitzGpuContraction *c) {
  const RitzGpuGemm g = c->direction == 0 ? first_direction(c) : later_direction(c);
  return ritz_gpu_gemm_vendor(c->basis->obj.ceed, &g);
}

static int contract_by_own(const RitzGpuContraction *c) {
  RitzGpuBasis *data = c->basis->data;
  const RitzGpuGemm g = c->direction == 0 ? first_direction(c) : later_direction(c);
  if (c->direction == 0 || c->direction >= RITZ_MAX_GEMM_DIM)
    return ritz_gpu_gemm_large(c->basis->obj.ceed, &g);
  return ritz_gpu_gemm_small(c->basis->obj.ceed, &g, &data->products[c->direction][c->transposes]);
}

int ritz_gpu_basis_apply_gemm(CeedBasis b, const RitzBasisAction *action, bool is_vendor, const CeedScalar *u,
                              CeedScalar *v) {
  if (!b->is_tensor) return apply_dense(b, action, is_vendor, u, v);
  return ritz_gpu_basis_apply_tensor(b, action, is_vendor ? contract_by_vendor : contract_by_own, u, v);
}

// ---- For people ----

void ritz_gpu_basis_explain_gemm(CeedBasis b, FILE *stream) {
  if (b->is_tensor)
    fprintf(stream, ": matrix products of %" CeedInt_FMT " x %" CeedInt_FMT ", a direction after the other",
            b->Q_1d, b->P_1d);
  else
    fprintf(stream,
            ": matrix products of %" CeedInt_FMT " x %" CeedInt_FMT ", %" CeedInt_FMT
            " of them for values, %" CeedInt_FMT " for derivatives",
            b->Q, b->P, ritz_basis_num_q_comp(b, CEED_EVAL_INTERP),
            ritz_basis_num_q_comp(b, ritz_gpu_basis_derivative(b)));
}
