// SPDX-License-Identifier: BSD-2-Clause
// Applies with hooks and passes over ranges (contract in core/apply-hooks.h): checks, then the slot of the
// backend.
#include "core/apply-hooks.h"

#include "core/vector-pass.h"

// ---- Applies with hooks ----

// The checks of the slots: both vectors fit the operator.
static int check_length(CeedOperator op, const char *call, const char *name, CeedVector vec) {
  RITZ_REQUIRE(vec->length == op->input_size, op->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: the %s has %" CeedSize_FMT " entries, the operator needs %" CeedSize_FMT, call, name,
               vec->length, op->input_size);
  return CEED_ERROR_SUCCESS;
}

int ritz_operator_apply_hooked_prepare(CeedOperator op, CeedVector in, int *num_slots, const char **reason) {
  const RitzBackend *backend = &op->obj.ceed->backend;

  *num_slots = 1;
  *reason = NULL;
  RITZ_TRY(CeedOperatorCheckReady(op));
  if (!backend->operator_apply_hooked_prepare) {
    *reason = "the backend has no applies with hooks";
  } else if (op->input_size < 0 || op->input_size != op->output_size) {
    *reason = "input and output of the operator are not of the same length";
  } else if (!ritz_operator_is_in_scalars(op, in, in)) {
    *reason = "the operator or its vectors are not in the library's own precision";
  }
  if (*reason) return CEED_ERROR_SUCCESS;
  RITZ_TRY(check_length(op, __func__, "input", in));
  return backend->operator_apply_hooked_prepare(op, in, num_slots, reason);
}

int ritz_operator_apply_hooked(CeedOperator op, CeedVector in, CeedVector out, const RitzApplyHooks *hooks) {
  RITZ_TRY(check_length(op, __func__, "input", in));
  RITZ_TRY(check_length(op, __func__, "output", out));
  RITZ_TRY(ritz_operator_refresh(op));
  return op->obj.ceed->backend.operator_apply_hooked(op, in, out, hooks);
}

// ---- Applies that give the energy ----

int ritz_operator_apply_energy_kernel(CeedOperator op, CeedVector in, CeedVector out, RitzIndices zeros,
                                      RitzScalars scalars, CeedInt k, bool adds, bool *is_done) {
  const RitzBackend *backend = &op->obj.ceed->backend;
  const int64_t *entries = NULL;

  *is_done = false;
  RITZ_TRY(check_length(op, __func__, "input", in));
  RITZ_TRY(check_length(op, __func__, "output", out));
  RITZ_TRY(ritz_scalars_require(scalars, __func__, k, 1));
  if (!backend->operator_apply_energy || scalars->ceed != op->obj.ceed) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_operator_refresh(op));
  if (zeros) RITZ_TRY(ritz_indices_for(zeros, __func__, out, &entries));
  return backend->operator_apply_energy(op, in, out, zeros ? zeros->num : 0, entries, scalars->values, k,
                                        adds, is_done);
}

int ritz_operator_apply_energy(CeedOperator op, CeedVector in, CeedVector out, RitzIndices zeros,
                               RitzScalars scalars, CeedInt k) {
  bool is_done;

  RITZ_TRY(ritz_operator_apply_energy_kernel(op, in, out, zeros, scalars, k, false, &is_done));
  if (is_done) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedOperatorApplyAddActive(op, in, out, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY(RitzVectorSetEntries(out, zeros, 0));
  return RitzVectorDotTo(in, out, scalars, k);
}

bool ritz_operator_has_other_output(CeedOperator op) {
  for (CeedInt i = 0; i < op->num_sub; i++) {
    if (ritz_operator_has_other_output(op->sub[i])) return true;
  }
  if (!op->is_composite && op->qf->ctx && op->qf->is_context_writable) return true;
  for (CeedInt i = 0; i < op->num_out; i++) {
    if (op->out[i]->vec != CEED_VECTOR_ACTIVE && !ritz_field_is_unused(op->out[i])) return true;
  }
  return false;
}
