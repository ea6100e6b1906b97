// SPDX-License-Identifier: BSD-2-Clause
// The precision of operators (ritz/precision.h), and which internal operator serves which active vectors: the
// operator itself, a variant of it that the backend prepares apart, or a stand-in (core/operator-stand-in.c).
#include <ritz/precision.h>
#include <stdio.h>

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
  RITZ_ARGUMENT(op, precision);
  const CeedScalarType first = op->num_sub > 0 ? op->sub[0]->precision : op->precision;
  for (CeedInt i = 1; i < op->num_sub; i++) {
    RITZ_REQUIRE(op->sub[i]->precision == first, op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: sub-operator 0 has precision %s, sub-operator %" CeedInt_FMT " %s", __func__,
                 ritz_precision_name(first), i, ritz_precision_name(op->sub[i]->precision));
  }
  *precision = first;
  return CEED_ERROR_SUCCESS;
}

static bool is_double(CeedScalarType precision) { return precision == CEED_SCALAR_FP64; }

// ---- Who serves ----

static bool has_other_precision(CeedVector vec) {
  return vec && vec != CEED_VECTOR_ACTIVE && vec != CEED_VECTOR_NONE && vec->precision != CEED_SCALAR_TYPE;
}

bool ritz_operator_has_other_precisions(CeedOperator op) {
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    if (has_other_precision(ritz_operator_field(op, i)->vec)) return true;
  }
  return has_other_precision(op->point_coords);
}

// Precision of an active vector; that of the arithmetic where the operator has no active fields of this
// direction (size -1).
static CeedScalarType precision_of(CeedOperator op, CeedVector vec, CeedSize size) {
  return size < 0 || vec == CEED_VECTOR_NONE ? op->precision : vec->precision;
}

bool ritz_operator_is_in_scalars(CeedOperator op, CeedVector in, CeedVector out) {
  for (CeedInt i = 0; i < op->num_sub; i++) {
    if (!ritz_operator_is_in_scalars(op->sub[i], in, out)) return false;
  }
  if (op->is_composite) return true;
  return op->precision == CEED_SCALAR_TYPE && precision_of(op, in, op->input_size) == CEED_SCALAR_TYPE &&
         precision_of(op, out, op->output_size) == CEED_SCALAR_TYPE &&
         !ritz_operator_has_other_precisions(op);
}

// Members that a variant shares with its operator, copied anew before each use: names, labels and assembly
// data may have come since.
static void copy_shared_members(CeedOperator op, CeedOperator variant) {
  const struct CeedOperator_private own = *variant;
  *variant = *op;
  variant->obj = own.obj;
  for (int i = 0; i < 2; i++) variant->active_precision[i] = own.active_precision[i];
  for (int i = 0; i < RITZ_NUM_PROFILE_ACTIONS; i++) variant->profile[i] = own.profile[i];
  variant->profile_prepared = own.profile_prepared;
  variant->was_asked = own.was_asked;
  variant->is_supported = own.is_supported;
  variant->why_unsupported = own.why_unsupported;
  variant->data = own.data;
}

int ritz_operator_variant(CeedOperator op, CeedScalarType in, CeedScalarType out, CeedOperator *variant) {
  CeedOperator *place = &op->variants[2 * is_double(in) + is_double(out)];
  *variant = op;
  if (in == op->active_precision[0] && out == op->active_precision[1]) return CEED_ERROR_SUCCESS;
  if (!*place) {
    RITZ_TRY(ritz_object_create(op->obj.ceed, &ritz_operator_class, sizeof(**place), place));
    (*place)->active_precision[0] = in;
    (*place)->active_precision[1] = out;
  }
  copy_shared_members(op, *place);
  *variant = *place;
  return CEED_ERROR_SUCCESS;
}

void ritz_operator_free_variants(CeedOperator op) {
  const RitzBackend *backend = &op->obj.ceed->backend;
  for (int i = 0; i < 4; i++) {
    if (!op->variants[i]) continue;
    copy_shared_members(op, op->variants[i]);
    if (backend->operator_destroy) (void)backend->operator_destroy(op->variants[i]);
    ritz_object_free(&op->variants[i]);
  }
}

bool ritz_variant_is_in_scalars(CeedOperator variant) {
  return !ritz_operator_precisions(variant) && !ritz_operator_has_other_precisions(variant);
}

// A backend that computes in either precision cannot for this operator.
static int warn_of_conversions(CeedOperator op) {
  char what[256];
  const char *name = op->name && op->name[0] ? op->name : op->qf->kernel_name;
  snprintf(what, sizeof(what), "operator '%.200s'", name);
  return ritz_warn_once(op->obj.ceed, "CeedOperatorApply", what, op->why_unsupported,
                        "it computes in double between conversions");
}

int ritz_variant_is_supported(CeedOperator variant, CeedVector in, bool *is_supported) {
  const RitzBackend *backend = &variant->obj.ceed->backend;
  *is_supported = ritz_variant_is_in_scalars(variant);
  if (*is_supported || !backend->operator_supports_precision) return CEED_ERROR_SUCCESS;
  if (!variant->was_asked) {
    RITZ_TRY(
        backend->operator_supports_precision(variant, in, &variant->is_supported, &variant->why_unsupported));
    if (!variant->is_supported) RITZ_TRY(warn_of_conversions(variant));
    variant->was_asked = true;
  }
  *is_supported = variant->is_supported;
  return CEED_ERROR_SUCCESS;
}

// ---- Apply ----

int ritz_operator_variant_for(CeedOperator op, CeedVector in, CeedVector out, CeedOperator *variant) {
  return ritz_operator_variant(op, precision_of(op, in, op->input_size),
                               precision_of(op, out, op->output_size), variant);
}

int ritz_operator_find(CeedOperator op, CeedVector in, CeedVector out, CeedOperator *variant,
                       bool *is_supported) {
  *variant = op;
  *is_supported = true;
  if (ritz_operator_is_in_scalars(op, in, out)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_operator_variant_for(op, in, out, variant));
  return ritz_variant_is_supported(*variant, in, is_supported);
}

int ritz_operator_run(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  CeedOperator variant;
  bool is_supported;
  RITZ_TRY(ritz_operator_find(op, in, out, &variant, &is_supported));
  return is_supported ? ritz_operator_run_slot(variant, in, out, mode)
                      : ritz_operator_run_stand_in(op, in, out, mode);
}
