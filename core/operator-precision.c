// SPDX-License-Identifier: BSD-2-Clause
// The precision of operators (ritz/precision.h).
#include <ritz/precision.h>

#include "core/operator.h"

static void set(CeedOperator op, CeedScalarType precision) {
  op->precision = op->active_precision[0] = op->active_precision[1] = precision;
}

static int check_unused(CeedOperator op, const char *call, CeedScalarType precision) {
  RITZ_REQUIRE(!op->is_ready || op->precision == precision, op->obj.ceed, CEED_ERROR_MAJOR,
               "%s: the operator is in use and cannot be changed; it has precision %s, needed %s", call,
               ritz_precision_name(op->precision), ritz_precision_name(precision));
  return CEED_ERROR_SUCCESS;
}

int RitzOperatorSetPrecision(CeedOperator op, CeedScalarType precision) {
  RITZ_HANDLE(op);
  RITZ_TRY(ritz_check_precision(op->obj.ceed, __func__, precision));
  if (!op->is_composite) RITZ_TRY(check_unused(op, __func__, precision));
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(check_unused(op->sub[i], __func__, precision));
  for (CeedInt i = 0; i < op->num_sub; i++) set(op->sub[i], precision);
  if (!op->is_composite) set(op, precision);
  return CEED_ERROR_SUCCESS;
}

int RitzOperatorGetPrecision(CeedOperator op, CeedScalarType *precision) {
  RITZ_HANDLE(op);
  RITZ_NOT_NULL(precision);
  const CeedScalarType first = op->num_sub > 0 ? op->sub[0]->precision : op->precision;
  for (CeedInt i = 1; i < op->num_sub; i++) {
    RITZ_REQUIRE(op->sub[i]->precision == first, op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: sub-operator 0 has precision %s, sub-operator %" CeedInt_FMT " %s", __func__,
                 ritz_precision_name(first), i, ritz_precision_name(op->sub[i]->precision));
  }
  *precision = first;
  return CEED_ERROR_SUCCESS;
}
