// SPDX-License-Identifier: BSD-2-Clause
// CeedOperator: the apply family (doc/ceed-api.md, Operators).
#include "core/operator.h"

#include <stdio.h>

#include "core/profile.h"
#include "core/vector.h"

// ---- Zeroing ----

static int zero_passive_outputs(CeedOperator op) {
  for (CeedInt i = 0; i < op->num_out; i++) {
    CeedVector vec = op->out[i]->vec;
    if (vec != CEED_VECTOR_ACTIVE && vec != CEED_VECTOR_NONE) RITZ_TRY_BACKEND(CeedVectorSetValue(vec, 0));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_operator_zero_outputs(CeedOperator op, CeedVector out, RitzApplyMode mode) {
  if (mode == RITZ_APPLY_ADD) return CEED_ERROR_SUCCESS;
  if (mode == RITZ_APPLY_OVERWRITE && out != CEED_VECTOR_NONE) RITZ_TRY_BACKEND(CeedVectorSetValue(out, 0));
  if (!op->is_composite) return zero_passive_outputs(op);
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(zero_passive_outputs(op->sub[i]));
  return CEED_ERROR_SUCCESS;
}

// ---- Checks ----

// A vector that an operator reads or adds to must cover the L-vector of its restriction.
static int check_field_vector(CeedOperator op, const char *call, CeedOperatorField field, CeedVector active) {
  bool is_active = field->vec == CEED_VECTOR_ACTIVE;
  CeedVector vec = is_active ? active : field->vec;
  if (field->rstr == CEED_ELEMRESTRICTION_NONE) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(vec && vec != CEED_VECTOR_NONE, op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: field '%s' needs a vector, found %s", call, field->qf_field->name,
               vec ? "CEED_VECTOR_NONE" : "NULL");
  int ierr = CEED_ERROR_SUCCESS;
  if (vec->length < field->rstr->l_size) {
    ierr = CeedError(op->obj.ceed, CEED_ERROR_DIMENSION,
                     "%s: the vector of field '%s' has %" CeedSize_FMT
                     " entries, its restriction needs %" CeedSize_FMT,
                     call, field->qf_field->name, vec->length, field->rstr->l_size);
  }
  RITZ_TRY_BACKEND(ierr);
  return CEED_ERROR_SUCCESS;
}

static int check_vectors(CeedOperator op, const char *call, CeedVector in, CeedVector out) {
  for (CeedInt i = 0; i < op->num_in; i++) RITZ_TRY(check_field_vector(op, call, op->in[i], in));
  for (CeedInt i = 0; i < op->num_out; i++) RITZ_TRY(check_field_vector(op, call, op->out[i], out));
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(check_vectors(op->sub[i], call, in, out));
  return CEED_ERROR_SUCCESS;
}

static CeedVector vector_of(const struct CeedOperatorField_private *field, CeedVector active) {
  return field->vec == CEED_VECTOR_ACTIVE ? active : field->vec;
}

// An output and a vector that is read, or another output, need memory of their own: what is in it when it is
// read depends on the backend. The same passive vector is refused, or allowed, by its locks.
static int check_apart(CeedOperator op, const char *call, CeedVector in, CeedVector out) {
  for (CeedInt o = 0; o < op->num_out; o++) {
    CeedVector to = vector_of(op->out[o], out);
    for (CeedInt i = 0; i < op->num_in + o; i++) {
      const CeedOperatorField field = i < op->num_in ? op->in[i] : op->out[i - op->num_in];
      CeedVector vec = vector_of(field, i < op->num_in ? in : out);
      RITZ_REQUIRE(vec == to || !ritz_vectors_meet(vec, to), op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
                   "%s: the vectors of %s '%s' and output '%s' lie in the same memory", call,
                   i < op->num_in ? "input" : "output", field->qf_field->name, op->out[o]->qf_field->name);
    }
  }
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(check_apart(op->sub[i], call, in, out));
  return CEED_ERROR_SUCCESS;
}

static bool is_vector(CeedVector vec) { return vec != CEED_VECTOR_ACTIVE && vec != CEED_VECTOR_NONE; }

// The name of an operator in messages: its own, else that of its QFunction; "" for neither.
static const char *name_of(CeedOperator op) {
  if (op->name) return op->name;
  return !op->qf ? "" : op->qf->gallery_name ? op->qf->gallery_name : op->qf->kernel_name;
}

static bool writes(CeedOperator op, CeedVector vec) {
  for (CeedInt i = 0; i < op->num_out; i++) {
    if (op->out[i]->vec == vec) return true;
  }
  for (CeedInt i = 0; i < op->num_sub; i++) {
    if (writes(op->sub[i], vec)) return true;
  }
  return false;
}

// A vector without values is told with the field that it is of.
static int require_values(CeedOperator op, const char *call, CeedOperatorField field, const char *role,
                          CeedVector vec) {
  char name[240];
  snprintf(name, sizeof(name), "%s%s field '%.80s' of operator '%.80s'",
           field->vec == CEED_VECTOR_ACTIVE ? "active " : "", role, field->qf_field->name, name_of(op));
  return ritz_vector_require_data_of(vec, call, name);
}

static int check_field_access(CeedOperator op, const char *call, CeedOperatorField field, const char *role,
                              CeedVector vec, RitzAccess access) {
  if (!is_vector(vec)) return CEED_ERROR_SUCCESS;
  if (access != RITZ_ACCESS_WRITE && !ritz_storage_has_data(&vec->storage))
    RITZ_TRY_BACKEND(require_values(op, call, field, role, vec));
  RITZ_TRY_BACKEND(ritz_vector_check_access(vec, access));
  return CEED_ERROR_SUCCESS;
}

// In a composite, one sub-operator may write what another one reads.
static int check_part_input(CeedOperator whole, CeedOperator op, const char *call, CeedOperatorField field,
                            CeedVector vec) {
  if (!is_vector(vec) || op->num_elem == 0 || ritz_storage_has_data(&vec->storage) || writes(whole, vec))
    return CEED_ERROR_SUCCESS;
  RITZ_TRY_BACKEND(require_values(op, call, field, "input", vec));
  return CEED_ERROR_SUCCESS;
}

// Refuses vectors that are lent out or have no values before anything is written, rather than half way.
static int check_access(CeedOperator whole, CeedOperator op, const char *call, CeedVector in, CeedVector out,
                        RitzApplyMode mode) {
  for (CeedInt i = 0; i < op->num_in; i++) {
    CeedVector vec = vector_of(op->in[i], in);
    RITZ_TRY(op == whole ? check_field_access(op, call, op->in[i], "input", vec, RITZ_ACCESS_READ)
                         : check_part_input(whole, op, call, op->in[i], vec));
  }
  for (CeedInt i = 0; i < op->num_out; i++) {
    const bool is_active = op->out[i]->vec == CEED_VECTOR_ACTIVE;
    const bool adds = mode == RITZ_APPLY_ADD || (mode == RITZ_APPLY_ADD_ACTIVE && is_active);
    RITZ_TRY(check_field_access(op, call, op->out[i], "output", vector_of(op->out[i], out),
                                adds ? RITZ_ACCESS_READ_WRITE : RITZ_ACCESS_WRITE));
  }
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(check_access(whole, op->sub[i], call, in, out, mode));
  return CEED_ERROR_SUCCESS;
}

int ritz_operator_refresh(CeedOperator op) {
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(ritz_operator_refresh(op->sub[i]));
  for (CeedInt i = 0; i < op->num_in && op->num_elem > 0; i++) {
    if (is_vector(op->in[i]->vec)) RITZ_TRY_BACKEND(ritz_vector_refresh(op->in[i]->vec));
  }
  return CEED_ERROR_SUCCESS;
}

// Refuses an output that is the coordinates of the operator's points.
static int check_coordinates(CeedOperator op, const char *call, CeedVector out, bool is_part) {
  for (CeedInt i = 0; i < op->num_out && op->point_coords; i++) {
    RITZ_REQUIRE(!ritz_vectors_meet(vector_of(op->out[i], out), op->point_coords), op->obj.ceed,
                 CEED_ERROR_INCOMPATIBLE,
                 "%s: output '%s' is the vector of the points' coordinates, or lies in its memory", call,
                 op->out[i]->qf_field->name);
  }
  if (op->point_coords && op->num_elem > 0 && !is_part)
    RITZ_TRY_BACKEND(ritz_vector_check_access(op->point_coords, RITZ_ACCESS_READ));
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(check_coordinates(op->sub[i], call, out, true));
  return CEED_ERROR_SUCCESS;
}

int ritz_operator_check_assembled(CeedOperator op, const char *call, CeedVector values) {
  for (CeedInt i = 0; i < op->num_in; i++) {
    CeedVector vec = vector_of(op->in[i], CEED_VECTOR_NONE);
    RITZ_REQUIRE(!ritz_vectors_meet(vec, values), op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: the result and input '%s' %s", call, op->in[i]->qf_field->name,
                 ritz_vectors_meet(vec, values));
  }
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(ritz_operator_check_assembled(op->sub[i], call, values));
  return CEED_ERROR_SUCCESS;
}

// ---- Apply ----

int ritz_operator_run_slot(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  Ceed ceed = op->obj.ceed;
  double begin;
  if (!ceed->profile) return ceed->backend.operator_apply(op, in, out, mode);
  RITZ_TRY(ritz_profile_begin(ceed, &begin));
  return ritz_profile_end(op, RITZ_PROFILE_APPLY, begin, ceed->backend.operator_apply(op, in, out, mode));
}

static int apply_composite(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  if (op->obj.ceed->backend.composite_apply) return op->obj.ceed->backend.composite_apply(op, in, out, mode);
  RITZ_TRY(ritz_operator_zero_outputs(op, out, mode));
  for (CeedInt i = 0; i < op->num_sub; i++) {
    if (op->sub[i]->num_elem > 0) RITZ_TRY(ritz_operator_run(op->sub[i], in, out, RITZ_APPLY_ADD));
  }
  return CEED_ERROR_SUCCESS;
}

// Calls visit for the vectors of all outputs, the active one included; some may come several times.
static void visit_outputs(CeedOperator op, CeedVector active, void (*visit)(CeedVector vec)) {
  if (active != CEED_VECTOR_NONE) visit(active);
  for (CeedInt i = 0; i < op->num_out; i++) {
    if (is_vector(op->out[i]->vec)) visit(op->out[i]->vec);
  }
  for (CeedInt i = 0; i < op->num_sub; i++) visit_outputs(op->sub[i], CEED_VECTOR_NONE, visit);
}

static void note_state(CeedVector vec) { vec->state_before = vec->state; }

// Zeros and parts of sums are no result: after a failure only an output that was not touched keeps its
// values.
static void forget_partial_result(CeedVector vec) {
  if (vec->state != vec->state_before && !vec->is_locked) ritz_vector_make_stale(vec);
}

int ritz_operator_run_any(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  if (op->is_composite) return apply_composite(op, in, out, mode);
  if (op->num_elem == 0) return ritz_operator_zero_outputs(op, out, mode);
  return ritz_operator_run(op, in, out, mode);
}

int ritz_operator_check_apply(CeedOperator op, const char *call, CeedVector in, CeedVector out,
                              RitzApplyMode mode) {
  Ceed ceed = op->obj.ceed;
  RITZ_REQUIRE(in && out, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %s is NULL; an absent vector is CEED_VECTOR_NONE", call, in ? "the output" : "the input");
  RITZ_REQUIRE(in != CEED_VECTOR_ACTIVE && out != CEED_VECTOR_ACTIVE, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: CEED_VECTOR_ACTIVE stands for the vectors of this call, it is none itself", call);
  RITZ_VECTOR_OR_NONE(ceed, call, in, true);
  RITZ_VECTOR_OR_NONE(ceed, call, out, true);
  RITZ_REQUIRE(!ritz_vectors_meet(in, out), ceed, CEED_ERROR_INCOMPATIBLE, "%s: input and output %s", call,
               ritz_vectors_meet(in, out));
  RITZ_TRY(check_vectors(op, call, in, out));
  RITZ_TRY(check_apart(op, call, in, out));
  RITZ_TRY(check_coordinates(op, call, out, false));
  RITZ_TRY(ritz_operator_refresh(op));
  return check_access(op, op, call, in, out, mode);
}

void ritz_operator_note_outputs(CeedOperator op, CeedVector out) { visit_outputs(op, out, note_state); }

void ritz_operator_forget_outputs(CeedOperator op, CeedVector out) {
  visit_outputs(op, out, forget_partial_result);
}

int ritz_operator_apply(CeedOperator op, const char *call, CeedVector in, CeedVector out, RitzApplyMode mode,
                        CeedRequest *request) {
  RITZ_HANDLE_OF(call, op, in, out);
  RITZ_TRY(CeedOperatorCheckReady(op));
  RITZ_TRY(ritz_operator_check_apply(op, call, in, out, mode));
  ritz_operator_note_outputs(op, out);
  const int ierr = ritz_operator_run_any(op, in, out, mode);
  if (ierr) ritz_operator_forget_outputs(op, out);
  RITZ_TRY(ierr);
  return ritz_request_complete(request);
}

int CeedOperatorApply(CeedOperator op, CeedVector in, CeedVector out, CeedRequest *request) {
  return ritz_operator_apply(op, __func__, in, out, RITZ_APPLY_OVERWRITE, request);
}

int CeedOperatorApplyAdd(CeedOperator op, CeedVector in, CeedVector out, CeedRequest *request) {
  return ritz_operator_apply(op, __func__, in, out, RITZ_APPLY_ADD, request);
}

int CeedOperatorApplyAddActive(CeedOperator op, CeedVector in, CeedVector out, CeedRequest *request) {
  return ritz_operator_apply(op, __func__, in, out, RITZ_APPLY_ADD_ACTIVE, request);
}
