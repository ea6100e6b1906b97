// SPDX-License-Identifier: BSD-2-Clause
// Kernels chosen by measurement (ritz/operator.h): which operators are measured, by the slot of their
// backend.
#include "core/operator.h"

static int tune_single(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode,
                       RitzTuning *tuning) {
  const RitzBackend *backend = &op->obj.ceed->backend;
  bool is_supported = true;
  if (op->num_elem > 0) RITZ_TRY(ritz_operator_find(op, in, out, &op, &is_supported));
  if (!is_supported) tuning->reason = "the operator computes in CeedScalar between conversions";
  if (op->num_elem == 0) tuning->reason = "the operator has no elements";
  if (!backend->operator_tune) tuning->reason = "the backend has nothing to choose";
  return tuning->reason ? CEED_ERROR_SUCCESS : backend->operator_tune(op, in, out, mode, tuning);
}

static int tune_composite(CeedOperator op, CeedVector in, CeedVector out, RitzTuning *sum) {
  const char *reason = "the composite is empty";
  for (CeedInt i = 0; i < op->num_sub; i++) {
    RitzTuning part = {.num_tried = 0};
    RITZ_TRY(tune_single(op->sub[i], in, out, RITZ_APPLY_ADD, &part));
    sum->num_tried += part.num_tried;
    sum->model_seconds += part.model_seconds;
    sum->best_seconds += part.best_seconds;
    if (sum->route == RITZ_OPERATOR_ROUTE_AUTO) sum->route = part.route;
    for (int r = 0; r <= RITZ_OPERATOR_ROUTE_GEMM_VENDOR; r++) sum->route_seconds[r] += part.route_seconds[r];
    if (part.reason) reason = part.reason;
  }
  if (!sum->num_tried) sum->reason = reason;
  return CEED_ERROR_SUCCESS;
}

int RitzOperatorTune(CeedOperator op, CeedVector in, CeedVector out, RitzTuning *tuning) {
  RitzTuning found = {.num_tried = 0};
  RITZ_TRY(ritz_operator_apply(op, __func__, in, out, RITZ_APPLY_OVERWRITE, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY(op->is_composite ? tune_composite(op, in, out, &found)
                            : tune_single(op, in, out, RITZ_APPLY_OVERWRITE, &found));
  if (found.num_tried)
    RITZ_TRY(ritz_operator_apply(op, __func__, in, out, RITZ_APPLY_OVERWRITE, CEED_REQUEST_IMMEDIATE));
  if (tuning) *tuning = found;
  return CEED_ERROR_SUCCESS;
}
