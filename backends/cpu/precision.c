// SPDX-License-Identifier: BSD-2-Clause
// Operators whose arithmetic, or some vector, is not CeedScalar: whether this backend has a kernel for them,
// and what their kernels are handed in another precision (contract in cpu.h).
#include "backends/cpu/cpu.h"

// ---- Which operators ----

static bool is_other(CeedOperatorField field) {
  return field->vec != CEED_VECTOR_ACTIVE && field->vec != CEED_VECTOR_NONE &&
         field->vec->precision != CEED_SCALAR_TYPE;
}

bool ritz_cpu_is_mixed(CeedOperator op) {
  if (op->precision != CEED_SCALAR_TYPE || op->active_precision[0] != CEED_SCALAR_TYPE ||
      op->active_precision[1] != CEED_SCALAR_TYPE)
    return true;
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    if (!ritz_field_is_unused(ritz_operator_field(op, i)) && is_other(ritz_operator_field(op, i)))
      return true;
  }
  return false;
}

int ritz_cpu_operator_supports_precision(CeedOperator op, CeedVector in, bool *is_supported,
                                         const char **reason) {
  RITZ_TRY(ritz_cpu_prepare(1, &op, in));
  const RitzCpuTier *tier = ritz_cpu_tier(op);
  *is_supported = tier->path != RITZ_PATH_DELEGATED;
  *reason = tier->reason;
  return CEED_ERROR_SUCCESS;
}

// ---- Matrices of dense bases ----

static CeedSize num_folded(const RitzPlanPairs *values, const RitzPlanPairs *nodes) {
  return (CeedSize)(values->pairs + values->alone) * (nodes->pairs + nodes->alone) +
         (CeedSize)values->pairs * nodes->pairs;
}

// Entries of the matrix of values (0) or derivatives (1).
static CeedSize num_entries(const RitzPlanBasis *b, int which) {
  if (b->is_even_odd) return num_folded(which ? &b->deriv_pairs : &b->interp_pairs, &b->node_pairs);
  return (CeedSize)(which ? b->q_comp_deriv : b->q_comp_interp) * b->Q * b->P;
}

double ritz_cpu_rounded_bytes(const RitzPlan *plan) {
  CeedSize num = 0;
  for (int b = 0; b < plan->num_bases && plan->precision != CEED_SCALAR_TYPE; b++) {
    if (plan->bases[b].first_matrix >= 0)
      num += num_entries(&plan->bases[b], 0) + num_entries(&plan->bases[b], 1);
  }
  return (double)num * sizeof(float);
}

// NULL: no field asks.
static int find_matrix(CeedOperator op, const RitzPlanBasis *b, int which, const CeedScalar **matrix) {
  const CeedBasis basis = ritz_operator_field(op, b->field)->basis;
  const CeedEvalMode mode = which ? b->deriv_mode : CEED_EVAL_INTERP;
  *matrix = b->is_even_odd ? (which ? b->even_odd_deriv : b->even_odd_interp) : NULL;
  return b->is_even_odd || mode == CEED_EVAL_NONE ? CEED_ERROR_SUCCESS
                                                  : ritz_basis_table(basis, mode, matrix);
}

static int fill_matrix(CeedOperator op, RitzCpuTier *tier, const RitzPlanBasis *b, int which) {
  const CeedInt number = b->first_matrix + which;
  const CeedSize num = num_entries(b, which);
  const CeedScalar *matrix;
  RITZ_TRY(find_matrix(op, b, which, &matrix));
  tier->matrices[number] = matrix;
  if (tier->plan->precision == CEED_SCALAR_TYPE || !matrix) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)num, &tier->rounded[number]));
  for (CeedSize i = 0; i < num; i++) tier->rounded[number][i] = (float)matrix[i];
  tier->matrices[number] = tier->rounded[number];
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_fill_matrices(CeedOperator op, RitzCpuTier *tier) {
  const RitzPlan *plan = tier->plan;

  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)plan->num_matrices + 1, &tier->matrices));
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)plan->num_matrices + 1, &tier->rounded));
  for (int b = 0; b < plan->num_bases; b++) {
    if (plan->bases[b].first_matrix < 0) continue;
    for (int which = 0; which < 2; which++) RITZ_TRY(fill_matrix(op, tier, &plan->bases[b], which));
  }
  return CEED_ERROR_SUCCESS;
}

void ritz_cpu_free_matrices(RitzCpuTier *tier) {
  for (int i = 0; tier->rounded && i < tier->plan->num_matrices; i++) RITZ_FREE(&tier->rounded[i]);
  RITZ_FREE((void **)&tier->rounded);
  RITZ_FREE((void **)&tier->matrices);
}
