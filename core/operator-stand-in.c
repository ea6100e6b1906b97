// SPDX-License-Identifier: BSD-2-Clause
// What computes for an operator where its backend has nothing for its precisions: an operator in CeedScalar
// on vectors that are converted before and after. Passive vectors have copies that it keeps; active ones pass
// through work vectors of the context.
#include "core/operator.h"

// A passive vector and its copy in CeedScalar.
typedef struct {
  CeedVector vec;  // borrowed: the operator's fields hold it
  CeedVector copy; // counted
  bool is_input, is_output;
  uint64_t state; // of vec, when it was converted; odd: never
} Copy;

struct RitzStandIn {
  CeedOperator op; // counted
  CeedInt num;
  Copy *copies; // owned
};

static Copy *find_copy(RitzStandIn *s, CeedVector vec) {
  for (CeedInt i = 0; s && i < s->num; i++) {
    if (s->copies[i].vec == vec) return &s->copies[i];
  }
  return NULL;
}

// ---- Life ----

// The vector that stands for one of the operator: itself where it holds CeedScalars or is a sentinel, else a
// copy.
static int represent(RitzStandIn *s, Ceed ceed, CeedVector vec, bool is_input, CeedVector *stands) {
  *stands = vec;
  if (vec == CEED_VECTOR_ACTIVE || vec == CEED_VECTOR_NONE || vec->precision == CEED_SCALAR_TYPE)
    return CEED_ERROR_SUCCESS;
  Copy *c = find_copy(s, vec);
  if (!c) {
    c = &s->copies[s->num];
    *c = (Copy){.vec = vec, .state = 1};
    RITZ_TRY(CeedVectorCreate(ceed, vec->length, &c->copy));
    s->num++;
  }
  c->is_input = c->is_input || is_input;
  c->is_output = c->is_output || !is_input;
  *stands = c->copy;
  return CEED_ERROR_SUCCESS;
}

static int set_fields(RitzStandIn *s, CeedOperator op) {
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    const CeedOperatorField f = ritz_operator_field(op, i);
    CeedVector vec;
    if (ritz_field_is_unused(f)) continue;
    RITZ_TRY(represent(s, op->obj.ceed, f->vec, i < op->num_in, &vec));
    RITZ_TRY(CeedOperatorSetField(s->op, f->qf_field->name, f->rstr, f->basis, vec));
  }
  return CEED_ERROR_SUCCESS;
}

static int set_up_stand_in(RitzStandIn *s, CeedOperator op) {
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)op->num_in + (size_t)op->num_out + 1, &s->copies));
  RITZ_TRY((op->is_at_points ? CeedOperatorCreateAtPoints : CeedOperatorCreate)(op->obj.ceed, op->qf, op->dqf,
                                                                                op->dqfT, &s->op));
  s->op->is_stand_in = true;
  s->op->use = op->use;
  if (op->rstr_points) {
    CeedVector coords;
    RITZ_TRY(represent(s, op->obj.ceed, op->point_coords, true, &coords));
    RITZ_TRY(CeedOperatorAtPointsSetPoints(s->op, op->rstr_points, coords));
  }
  RITZ_TRY(set_fields(s, op));
  RITZ_TRY(CeedOperatorSetName(s->op, op->name));
  ritz_qfunction_data_share(op, s->op);
  return CeedOperatorCheckReady(s->op);
}

void ritz_operator_free_stand_in(CeedOperator op) {
  RitzStandIn *s = op->stand_in;
  if (!s) return;
  (void)CeedOperatorDestroy(&s->op);
  for (CeedInt i = 0; i < s->num; i++) (void)CeedVectorDestroy(&s->copies[i].copy);
  RITZ_FREE(&s->copies);
  RITZ_FREE(&op->stand_in);
}

int ritz_operator_strip_stand_in(CeedOperator op) {
  return op->stand_in ? CeedOperatorAssemblyDataStrip(op->stand_in->op) : CEED_ERROR_SUCCESS;
}

static int refresh(Copy *c) {
  RITZ_TRY_BACKEND(ritz_vector_refresh(c->vec));
  if (c->state == c->vec->state) return CEED_ERROR_SUCCESS;
  RITZ_TRY_BACKEND(ritz_vector_convert("CeedVectorGetArrayRead", c->vec->length, c->vec, c->copy));
  c->state = c->vec->state;
  return CEED_ERROR_SUCCESS;
}

int ritz_operator_stand_in(CeedOperator op, CeedOperator *stand_in) {
  *stand_in = op;
  if (op->precision == CEED_SCALAR_TYPE && !ritz_operator_has_other_precisions(op)) return CEED_ERROR_SUCCESS;
  if (!op->stand_in) {
    RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &op->stand_in));
    const int ierr = set_up_stand_in(op->stand_in, op);
    if (ierr) ritz_operator_free_stand_in(op);
    RITZ_TRY(ierr);
  }
  RitzStandIn *s = op->stand_in;
  s->op->route = op->route;
  for (CeedInt i = 0; i < s->num; i++) {
    if (s->copies[i].is_input) RITZ_TRY(refresh(&s->copies[i]));
  }
  *stand_in = s->op;
  return CEED_ERROR_SUCCESS;
}

// ---- Active vectors ----

static bool is_in_scalars(CeedVector vec) {
  return vec == CEED_VECTOR_NONE || vec->precision == CEED_SCALAR_TYPE;
}

int ritz_vector_begin_scalars(CeedOperator op, CeedVector vec, bool reads, CeedVector *scalars) {
  Ceed ceed = op->obj.ceed;
  *scalars = vec;
  if (is_in_scalars(vec)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedGetWorkVector(ceed, vec->length, scalars));
  const int ierr =
      reads ? ritz_vector_convert("CeedVectorGetArrayRead", vec->length, vec, *scalars) : CEED_ERROR_SUCCESS;
  if (ierr) (void)CeedRestoreWorkVector(ceed, scalars);
  return ierr;
}

int ritz_vector_end_scalars(CeedOperator op, CeedVector vec, bool writes, CeedVector *scalars, int ierr) {
  if (is_in_scalars(vec)) return ierr;
  if (!ierr && writes) ierr = ritz_vector_convert("CeedVectorGetArrayWrite", vec->length, *scalars, vec);
  const int restored = CeedRestoreWorkVector(op->obj.ceed, scalars);
  return ierr ? ierr : restored;
}

// An active vector that is a passive one, too, is that one's copy: the backend sees what it would see of
// vectors in CeedScalar.
static int begin_stand_in(CeedOperator op, CeedVector vec, bool reads, CeedVector *scalars) {
  Copy *c = find_copy(op->stand_in, vec);
  if (!c) return ritz_vector_begin_scalars(op, vec, reads, scalars);
  *scalars = c->copy;
  return reads ? refresh(c) : CEED_ERROR_SUCCESS;
}

static int end_stand_in(CeedOperator op, CeedVector vec, bool writes, CeedVector *scalars, int ierr) {
  Copy *c = find_copy(op->stand_in, vec);
  if (!c) return ritz_vector_end_scalars(op, vec, writes, scalars, ierr);
  if (!ierr && writes) ierr = ritz_vector_convert("CeedVectorGetArrayWrite", vec->length, c->copy, vec);
  if (writes) c->state = 1; // the copy has more digits than the vector, or what a failure left
  return ierr;
}

// ---- Apply ----

// Passive outputs have their copies, which are added to in this mode alone.
static int begin_outputs(RitzStandIn *s, RitzApplyMode mode) {
  for (CeedInt i = 0; s && i < s->num && mode == RITZ_APPLY_ADD; i++) {
    if (s->copies[i].is_output) RITZ_TRY(refresh(&s->copies[i]));
  }
  return CEED_ERROR_SUCCESS;
}

static int end_outputs(CeedOperator op, int ierr) {
  RitzStandIn *s = op->stand_in;
  for (CeedInt i = 0; s && i < s->num; i++) {
    CeedVector copy = s->copies[i].copy;
    if (s->copies[i].is_output) ierr = end_stand_in(op, s->copies[i].vec, true, &copy, ierr);
  }
  return ierr;
}

static int run_stand_in(CeedOperator op, CeedOperator stand_in, CeedVector in, CeedVector out,
                        RitzApplyMode mode) {
  CeedVector x, y;
  RITZ_TRY_BACKEND(begin_stand_in(op, in, true, &x));
  int ierr = begin_stand_in(op, out, mode != RITZ_APPLY_OVERWRITE, &y);
  if (!ierr) {
    ierr = begin_outputs(op->stand_in, mode);
    if (!ierr) ierr = ritz_operator_run_slot(stand_in, x, y, mode);
    ierr = end_stand_in(op, out, true, &y, ierr);
    ierr = end_outputs(op, ierr);
  }
  ierr = end_stand_in(op, in, false, &x, ierr);
  RITZ_TRY_BACKEND(ierr);
  return CEED_ERROR_SUCCESS;
}

int ritz_operator_run_stand_in(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  CeedOperator stand_in;
  RITZ_TRY(ritz_operator_stand_in(op, &stand_in));
  return run_stand_in(op, stand_in, in, out, mode);
}
