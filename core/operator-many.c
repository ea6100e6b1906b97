// SPDX-License-Identifier: BSD-2-Clause
// An operator applied to several vectors at once (ritz/operator.h): checks of all of them, and who serves
// them together.
#include <ritz/operator.h>
#include <stdio.h>

#include "core/operator.h"
#include "core/profile.h"

// The vectors of a call: num > 0 pairs, checked.
typedef struct {
  CeedInt num;
  const CeedVector *in, *out; // borrowed
  RitzApplyMode mode;
} Many;

// ---- Checks ----

// Two pairs of a call that have a vector in common of which one is written.
static int check_apart(Ceed ceed, const char *call, const Many *m, CeedInt i, CeedInt k) {
  RITZ_REQUIRE(!ritz_vectors_meet(m->out[i], m->out[k]), ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: outputs %" CeedInt_FMT " and %" CeedInt_FMT " %s, each needs one of its own", call, k, i,
               ritz_vectors_meet(m->out[i], m->out[k]));
  for (int turn = 0; turn < 2; turn++) {
    const CeedInt from = turn ? k : i, to = turn ? i : k;
    RITZ_REQUIRE(!ritz_vectors_meet(m->in[from], m->out[to]), ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: input %" CeedInt_FMT " and output %" CeedInt_FMT " %s, inputs may not be written", call,
                 from, to, ritz_vectors_meet(m->in[from], m->out[to]));
  }
  return CEED_ERROR_SUCCESS;
}

static bool is_passive(CeedVector vec) { return vec != CEED_VECTOR_ACTIVE && vec != CEED_VECTOR_NONE; }

// An output that the operator reads as a passive vector would change it for the vectors that follow; so would
// a passive output that is read as an input.
static int check_passive(CeedOperator op, const char *call, CeedVector in, CeedVector out) {
  for (CeedInt k = 0; k < op->num_in + op->num_out; k++) {
    const CeedOperatorField field = ritz_operator_field(op, k);
    const bool is_input = k < op->num_in;
    RITZ_REQUIRE(!is_passive(field->vec) || !ritz_vectors_meet(field->vec, is_input ? out : in), op->obj.ceed,
                 CEED_ERROR_INCOMPATIBLE,
                 "%s: the %s is the vector of the operator's field '%s', too, or lies in its memory", call,
                 is_input ? "output" : "input", field->qf_field->name);
  }
  for (CeedInt k = 0; k < op->num_sub; k++) RITZ_TRY(check_passive(op->sub[k], call, in, out));
  return CEED_ERROR_SUCCESS;
}

static int check_many(CeedOperator op, const char *call, const Many *m) {
  for (CeedInt i = 0; i < m->num; i++) {
    char where[96];
    snprintf(where, sizeof(where), "%s, vectors %" CeedInt_FMT, call, i);
    RITZ_TRY(ritz_operator_check_apply(op, where, m->in[i], m->out[i], m->mode));
    RITZ_TRY(check_passive(op, where, m->in[i], m->out[i]));
    for (CeedInt k = 0; k < i; k++) RITZ_TRY(check_apart(op->obj.ceed, call, m, i, k));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Running ----

// Passive outputs hold what the last apply leaves there, or its sums: applies come one after the other.
static bool has_passive_output(CeedOperator op) {
  for (CeedInt i = 0; i < op->num_out; i++) {
    if (is_passive(op->out[i]->vec)) return true;
  }
  for (CeedInt i = 0; i < op->num_sub; i++) {
    if (has_passive_output(op->sub[i])) return true;
  }
  return false;
}

static int run_in_turn(CeedOperator op, const Many *m) {
  for (CeedInt i = 0; i < m->num; i++) RITZ_TRY(ritz_operator_run_any(op, m->in[i], m->out[i], m->mode));
  return CEED_ERROR_SUCCESS;
}

// The variant of a single operator that computes for all vectors, natively; else *variant is NULL.
static int find_common(CeedOperator op, const Many *m, CeedOperator *variant) {
  CeedOperator first = NULL;
  *variant = NULL;
  for (CeedInt i = 0; i < m->num; i++) {
    CeedOperator found;
    bool is_supported;
    RITZ_TRY(ritz_operator_find(op, m->in[i], m->out[i], &found, &is_supported));
    if (i == 0) first = found;
    if (!is_supported || found != first) return CEED_ERROR_SUCCESS;
  }
  *variant = first;
  return CEED_ERROR_SUCCESS;
}

static int call_slot(CeedOperator op, const Many *m, bool *is_done) {
  return op->obj.ceed->backend.operator_apply_many(op, m->num, m->in, m->out, m->mode, is_done);
}

// Counted in the timing table where something was done.
static int run_slot(CeedOperator op, const Many *m, bool *is_done) {
  Ceed ceed = op->obj.ceed;
  double begin;
  if (!ceed->profile) return call_slot(op, m, is_done);
  RITZ_TRY(ritz_profile_begin(ceed, &begin));
  const int ierr = call_slot(op, m, is_done);
  return *is_done ? ritz_profile_end(op, RITZ_PROFILE_APPLY_MANY, begin, ierr) : ierr;
}

static int run_single(CeedOperator op, const Many *m) {
  CeedOperator variant = NULL;
  bool is_done = false;
  const bool may_join = m->num > 1 && op->num_elem > 0 && op->obj.ceed->backend.operator_apply_many;
  if (may_join) RITZ_TRY(find_common(op, m, &variant));
  if (variant) RITZ_TRY(run_slot(variant, m, &is_done));
  return is_done ? CEED_ERROR_SUCCESS : run_in_turn(op, m);
}

// All outputs are zeroed once, then every part adds to all of them.
static int run_composite(CeedOperator op, const Many *m) {
  const RitzBackend *backend = &op->obj.ceed->backend;
  Many parts = *m;
  parts.mode = RITZ_APPLY_ADD;
  for (CeedInt i = 0; i < m->num; i++) RITZ_TRY(ritz_operator_zero_outputs(op, m->out[i], m->mode));
  if (backend->composite_prepare) RITZ_TRY(backend->composite_prepare(op, m->in[0], m->out[0]));
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(run_single(op->sub[i], &parts));
  return CEED_ERROR_SUCCESS;
}

static int run_many(CeedOperator op, const Many *m) {
  if (has_passive_output(op)) return run_in_turn(op, m);
  return op->is_composite ? run_composite(op, m) : run_single(op, m);
}

static int apply_many(CeedOperator op, const char *call, const Many *m) {
  RITZ_HANDLE_OF(call, op);
  Ceed ceed = op->obj.ceed;
  RITZ_REQUIRE(m->num >= 0, ceed, CEED_ERROR_DIMENSION, "%s: num is %" CeedInt_FMT ", needed at least 0",
               call, m->num);
  RITZ_TRY(CeedOperatorCheckReady(op));
  if (m->num == 0) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(m->in && m->out, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the array of %s is NULL, needed %" CeedInt_FMT " vectors", call,
               m->in ? "outputs" : "inputs", m->num);
  RITZ_TRY(check_many(op, call, m));
  for (CeedInt i = 0; i < m->num; i++) ritz_operator_note_outputs(op, m->out[i]);
  const int ierr = run_many(op, m);
  for (CeedInt i = 0; ierr && i < m->num; i++) ritz_operator_forget_outputs(op, m->out[i]);
  return ierr;
}

int RitzOperatorApplyMany(CeedOperator op, CeedInt num, const CeedVector *in, const CeedVector *out) {
  const Many m = {num, in, out, RITZ_APPLY_OVERWRITE};
  return apply_many(op, __func__, &m);
}

int RitzOperatorApplyAddMany(CeedOperator op, CeedInt num, const CeedVector *in, const CeedVector *out) {
  const Many m = {num, in, out, RITZ_APPLY_ADD};
  return apply_many(op, __func__, &m);
}
