// SPDX-License-Identifier: BSD-2-Clause
// Evaluation of bases, one element at a time: tensor products by sum factorisation, dense bases by their
// matrix.
#include <string.h>

#include "backends/ref/ref.h"

// ---- Tensor bases ----

// v[a][j][c] (+)= sum_b t_jb u[a][b][c] with t_jb = t[j][b] of a table [J][B], or t[b][j] of a table [B][J]
// when transposed.
static void contract_direction(CeedInt A, CeedInt B, CeedInt C, CeedInt J, const CeedScalar *t,
                               bool transposes, bool add, const CeedScalar *restrict u,
                               CeedScalar *restrict v) {
  if (!add) memset(v, 0, (size_t)A * (size_t)J * (size_t)C * sizeof(*v));
  for (CeedInt a = 0; a < A; a++) {
    for (CeedInt j = 0; j < J; j++) {
      CeedScalar *restrict row = v + ((CeedSize)a * J + j) * C;
      for (CeedInt b = 0; b < B; b++) {
        const CeedScalar entry = transposes ? t[(CeedSize)b * J + j] : t[(CeedSize)j * B + b];
        const CeedScalar *from = u + ((CeedSize)a * B + b) * C;
        for (CeedInt c = 0; c < C; c++) row[c] += entry * from[c];
      }
    }
  }
}

void ritz_ref_tensor_evaluate(CeedBasis basis, CeedInt nc, bool transposes, const RitzRefTables *tables,
                              const CeedScalar *u, CeedScalar *v, CeedScalar *work) {
  CeedInt n_in = transposes ? basis->Q_1d : basis->P_1d, n_out = transposes ? basis->P_1d : basis->Q_1d;
  CeedScalar *buffer[2] = {work, work + ritz_ref_basis_work_size(basis) / 2};
  CeedInt before = nc * CeedIntPow(n_in, basis->dim - 1), after = 1;
  for (CeedInt d = 0; d < basis->dim; d++) {
    bool is_special = d == tables->first || d == tables->second, is_last = d == basis->dim - 1;
    const CeedScalar *table = is_special ? tables->special : tables->base;
    const CeedScalar *from = d == 0 ? u : buffer[d % 2];
    contract_direction(before, n_in, after, n_out, table, transposes, is_last && transposes, from,
                       is_last ? v : buffer[(d + 1) % 2]);
    before /= n_in;
    after *= n_out;
  }
}

// Component d of the reference gradient takes the gradient table in direction d.
static void tensor_gradient(CeedBasis b, bool transposes, const CeedScalar *u, CeedScalar *v,
                            CeedScalar *work) {
  CeedSize at_points = (CeedSize)b->num_comp * b->Q;
  for (CeedInt d = 0; d < b->dim; d++) {
    const RitzRefTables tables = {b->interp_1d, b->grad_1d, d, -1};
    ritz_ref_tensor_evaluate(b, b->num_comp, transposes, &tables, transposes ? u + d * at_points : u,
                             transposes ? v : v + d * at_points, work);
  }
}

static void tensor_interpolate(CeedBasis b, bool transposes, const CeedScalar *u, CeedScalar *v,
                               CeedScalar *work) {
  const RitzRefTables tables = {b->interp_1d, NULL, -1, -1};
  ritz_ref_tensor_evaluate(b, b->num_comp, transposes, &tables, u, v, work);
}

// ---- Vector bases of tensor products ----

// Block c of one field component, nodes u -> points v, or transposed; always adds. The table of direction
// `special` is `grad`, with this sign.
static void block_evaluate(CeedBasis b, CeedInt c, bool transposes, CeedInt special, int sign,
                           const CeedScalar *u, CeedScalar *v, CeedScalar *work) {
  const RitzBasisBlock *block = &b->blocks[c];
  CeedScalar *buffer[2] = {work, work + ritz_ref_basis_work_size(b) / 2};
  CeedInt before = transposes ? b->Q : block->num_nodes, after = 1;
  for (CeedInt d = 0; d < b->dim; d++) {
    const CeedInt n_in = transposes ? b->Q_1d : block->P[d], n_out = transposes ? block->P[d] : b->Q_1d;
    const CeedScalar *table = d == special ? block->grad[d] : block->interp[d];
    before /= n_in;
    contract_direction(before, n_in, after, n_out, table, transposes, false, d == 0 ? u : buffer[d % 2],
                       buffer[(d + 1) % 2]);
    after *= n_out;
  }
  const CeedScalar *result = buffer[b->dim % 2];
  for (CeedInt i = 0; i < after; i++) v[i] += (CeedScalar)sign * result[i];
}

// Values, or the derivative that the basis has: rows of it at the points [q_comp][num_comp][Q].
static void blocks_evaluate(CeedBasis b, bool transposes, bool differentiates, const CeedScalar *u,
                            CeedScalar *v, CeedScalar *work) {
  const CeedEvalMode mode = !differentiates                  ? CEED_EVAL_INTERP
                            : b->space == CEED_FE_SPACE_HDIV ? CEED_EVAL_DIV
                                                             : CEED_EVAL_CURL;
  const CeedSize rows = (CeedSize)ritz_basis_num_q_comp(b, mode) * b->num_comp;
  if (!transposes) memset(v, 0, (size_t)(rows * b->Q) * sizeof(*v));
  for (CeedInt i = 0; i < b->dim * b->dim; i++) {
    const CeedInt c = i / b->dim, d = i % b->dim;
    int sign = 1, row = ritz_basis_block_row(b->space, b->dim, c, d, &sign);
    if (!differentiates) row = c == d ? (int)c : -1;
    for (CeedInt k = 0; row >= 0 && k < b->num_comp; k++) {
      const CeedSize nodes = (CeedSize)k * b->P + b->blocks[c].first;
      const CeedSize points = ((CeedSize)row * b->num_comp + k) * b->Q;
      block_evaluate(b, c, transposes, differentiates ? d : -1, differentiates ? sign : 1,
                     u + (transposes ? points : nodes), v + (transposes ? nodes : points), work);
    }
  }
}

// ---- Weights ----

static void tensor_weights(CeedBasis b, CeedScalar *v) {
  for (CeedInt q = 0; q < b->Q; q++) {
    v[q] = 1;
    for (CeedInt d = 0, rest = q; d < b->dim; d++, rest /= b->Q_1d) v[q] *= b->q_weight[rest % b->Q_1d];
  }
}

// ---- Dense bases ----

static const CeedScalar *dense_table(CeedBasis b, CeedEvalMode mode) {
  return mode == CEED_EVAL_INTERP ? b->interp
         : mode == CEED_EVAL_GRAD ? b->grad
         : mode == CEED_EVAL_DIV  ? b->div
                                  : b->curl;
}

// Table M [q_comp][Q][P]: v[(d*C + c)*Q + q] = sum_p M[d][q][p] u[c*P + p], or the transposed sum added to v.
static void dense_evaluate(CeedBasis b, bool transposes, CeedEvalMode mode, const CeedScalar *u,
                           CeedScalar *v) {
  const CeedScalar *table = dense_table(b, mode);
  CeedInt C = b->num_comp, Q = b->Q, P = b->P;
  for (CeedInt d = 0; d < ritz_basis_num_q_comp(b, mode); d++) {
    for (CeedInt c = 0; c < C; c++) {
      for (CeedInt q = 0; q < Q; q++) {
        const CeedScalar *row = table + ((CeedSize)d * Q + q) * P;
        CeedSize point = ((CeedSize)d * C + c) * Q + q;
        CeedScalar sum = 0;
        for (CeedInt p = 0; p < P; p++) {
          if (transposes)
            v[(CeedSize)c * P + p] += row[p] * u[point];
          else
            sum += row[p] * u[(CeedSize)c * P + p];
        }
        if (!transposes) v[point] = sum;
      }
    }
  }
}

// ---- One element ----

// Two buffers, each as long as the largest intermediate result of a tensor evaluation.
CeedSize ritz_ref_basis_work_size(CeedBasis basis) {
  CeedSize largest = 0;
  for (CeedInt c = 0; basis->blocks && c < basis->dim; c++) {
    CeedSize size = 1;
    for (CeedInt d = 0; d < basis->dim; d++) size *= CeedIntMax(basis->blocks[c].P[d], basis->Q_1d);
    if (size > largest) largest = size;
  }
  if (!basis->is_tensor) return 2 * largest;
  return 2 * (CeedSize)basis->num_comp * CeedIntPow(CeedIntMax(basis->P_1d, basis->Q_1d), basis->dim);
}

void ritz_ref_basis_element(CeedBasis basis, CeedTransposeMode t_mode, CeedEvalMode mode, const CeedScalar *u,
                            CeedScalar *v, CeedScalar *work) {
  bool transposes = t_mode == CEED_TRANSPOSE;
  if (mode == CEED_EVAL_WEIGHT) {
    if (basis->is_tensor)
      tensor_weights(basis, v);
    else
      memcpy(v, basis->q_weight, (size_t)basis->Q * sizeof(*v));
  } else if (basis->blocks) {
    blocks_evaluate(basis, transposes, mode != CEED_EVAL_INTERP, u, v, work);
  } else if (!basis->is_tensor) {
    dense_evaluate(basis, transposes, mode, u, v);
  } else if (mode == CEED_EVAL_GRAD) {
    tensor_gradient(basis, transposes, u, v, work);
  } else {
    tensor_interpolate(basis, transposes, u, v, work);
  }
}

// ---- Several elements, index `entry * num_elem + element` ----

int ritz_ref_basis_apply(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u, CeedScalar *v) {
  bool transposes = action->t_mode == CEED_TRANSPOSE, has_u = action->eval_mode != CEED_EVAL_WEIGHT;
  CeedInt num_elem = action->num_elem, q_comp = ritz_basis_num_q_comp(basis, action->eval_mode);
  CeedSize nodes = (CeedSize)basis->num_comp * basis->P;
  CeedSize points = has_u ? (CeedSize)q_comp * basis->num_comp * basis->Q : basis->Q;
  CeedSize n_u = !has_u ? 0 : transposes ? points : nodes, n_v = transposes ? nodes : points;

  CeedScalar *work = NULL;
  RITZ_TRY(RITZ_MALLOC(basis->obj.ceed, (size_t)(n_u + n_v + ritz_ref_basis_work_size(basis)), &work));
  CeedScalar *u_elem = work, *v_elem = work + n_u;
  for (CeedInt e = 0; e < num_elem; e++) {
    for (CeedSize i = 0; i < n_u; i++) u_elem[i] = u[i * num_elem + e];
    memset(v_elem, 0, (size_t)n_v * sizeof(*v_elem));
    ritz_ref_basis_element(basis, action->t_mode, action->eval_mode, u_elem, v_elem, v_elem + n_v);
    for (CeedSize i = 0; i < n_v; i++)
      v[i * num_elem + e] = v_elem[i] + (action->add ? v[i * num_elem + e] : 0);
  }
  RITZ_FREE(&work);
  return CEED_ERROR_SUCCESS;
}
