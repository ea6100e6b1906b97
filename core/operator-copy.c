// SPDX-License-Identifier: BSD-2-Clause
// Copies of operators in another precision (ritz/precision.h): all is shared but the passive inputs, which
// are converted, each once, however many fields and sub-operators it serves.
#include <ritz/operator.h>
#include <ritz/precision.h>

#include "core/operator.h"
#include "core/packing.h"

// A passive input and what it was converted to.
typedef struct {
  CeedVector vec;  // borrowed
  CeedVector copy; // counted
} Pair;

typedef struct {
  CeedScalarType precision;
  CeedInt num;
  Pair *pairs; // owned
} Conversion;

// ---- Passive vectors ----

// A vector that keeps packed data alone does so afterwards, too.
static int convert(CeedVector from, CeedVector to) {
  RitzStorage *storage = &from->storage;
  const bool was_packed = storage->rep[RITZ_REP_PACKED].valid && !storage->rep[RITZ_REP_HOST].valid &&
                          !storage->packed.keeps_host;
  RITZ_TRY_BACKEND(ritz_vector_convert("CeedVectorGetArrayRead", from->length, from, to));
  if (was_packed) {
    storage->packed.keeps_host = false;
    ritz_storage_drop_host(storage);
  }
  return CEED_ERROR_SUCCESS;
}

static int add_pair(Conversion *c, CeedVector vec, CeedVector *copy) {
  Ceed ceed = vec->obj.ceed;
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)c->num + 1, &c->pairs));
  Pair *pair = &c->pairs[c->num];
  *pair = (Pair){.vec = vec};
  RITZ_TRY(RitzVectorCreate(ceed, vec->length, c->precision, &pair->copy));
  c->num++;
  *copy = pair->copy;
  return CEED_ERROR_SUCCESS;
}

// *copy (borrowed): the vector itself where it has the precision or is a sentinel.
static int represent(Conversion *c, CeedVector vec, CeedVector *copy) {
  *copy = vec;
  if (vec == CEED_VECTOR_ACTIVE || vec == CEED_VECTOR_NONE || vec->precision == c->precision)
    return CEED_ERROR_SUCCESS;
  for (CeedInt i = 0; i < c->num; i++) {
    if (c->pairs[i].vec != vec) continue;
    *copy = c->pairs[i].copy;
    return CEED_ERROR_SUCCESS;
  }
  return add_pair(c, vec, copy);
}

// Whether the operator writes the vector. A copy of the operator writes the same one, since the program reads
// it there.
static bool is_written(CeedOperator op, CeedVector vec) {
  for (CeedInt i = 0; i < op->num_out; i++) {
    if (op->out[i]->vec == vec) return true;
  }
  return false;
}

// ---- Operators ----

static int copy_fields(Conversion *c, CeedOperator op, CeedOperator copy) {
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    const CeedOperatorField f = ritz_operator_field(op, i);
    CeedVector vec = f->vec;
    if (ritz_field_is_unused(f)) continue;
    if (!is_written(op, vec)) RITZ_TRY(represent(c, vec, &vec));
    RITZ_TRY(CeedOperatorSetField(copy, f->qf_field->name, f->rstr, f->basis, vec));
  }
  return CEED_ERROR_SUCCESS;
}

static int copy_single(Conversion *c, CeedOperator op, CeedOperator *copy) {
  *copy = NULL;
  RITZ_TRY(CeedOperatorCreate(op->obj.ceed, op->qf, op->dqf, op->dqfT, copy));
  int ierr = copy_fields(c, op, *copy);
  if (!ierr) ierr = CeedOperatorSetName(*copy, op->name);
  if (!ierr) ierr = RitzOperatorSetPrecision(*copy, c->precision);
  if (!ierr) ierr = RitzOperatorSetUse(*copy, op->use);
  if (!ierr) (*copy)->route = op->route;
  if (!ierr) ierr = CeedOperatorCheckReady(*copy);
  if (ierr) {
    (void)CeedOperatorDestroy(copy);
    return ierr;
  }
  ritz_qfunction_data_share(op, *copy);
  return CEED_ERROR_SUCCESS;
}

// A sub-operator that is there twice is so in the copy.
static int copy_sub(Conversion *c, CeedOperator op, CeedInt number, CeedOperator composite) {
  CeedOperator copy = NULL;
  for (CeedInt i = 0; i < number; i++) {
    if (op->sub[i] == op->sub[number]) return CeedOperatorCompositeAddSub(composite, composite->sub[i]);
  }
  RITZ_TRY(copy_single(c, op->sub[number], &copy));
  const int ierr = CeedOperatorCompositeAddSub(composite, copy);
  (void)CeedOperatorDestroy(&copy);
  return ierr;
}

static int copy_composite(Conversion *c, CeedOperator op, CeedOperator *copy) {
  RITZ_TRY(CeedOperatorCreateComposite(op->obj.ceed, copy));
  int ierr = CeedOperatorCompositeSetSequential(*copy, op->is_sequential);
  if (!ierr) ierr = CeedOperatorSetName(*copy, op->name);
  for (CeedInt i = 0; !ierr && i < op->num_sub; i++) ierr = copy_sub(c, op, i, *copy);
  if (!ierr) ierr = CeedOperatorCheckReady(*copy);
  if (ierr) (void)CeedOperatorDestroy(copy);
  return ierr;
}

static int check_not_at_points(CeedOperator op, const char *call) {
  RITZ_REQUIRE(!op->is_at_points, op->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: operator '%s' is at points, needed one at quadrature points", call,
               op->name ? op->name : "");
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(check_not_at_points(op->sub[i], call));
  return CEED_ERROR_SUCCESS;
}

bool ritz_operator_has_precision(CeedOperator op, CeedScalarType precision) {
  for (CeedInt i = 0; i < op->num_sub; i++) {
    if (op->sub[i]->precision != precision) return false;
  }
  return op->is_composite || op->precision == precision;
}

int ritz_operators_copy(const char *call, CeedInt num, const CeedOperator *ops, CeedScalarType precision,
                        CeedOperator *copies) {
  Conversion c = {.precision = precision};
  int ierr = CEED_ERROR_SUCCESS;
  for (CeedInt i = 0; i < num; i++) copies[i] = NULL;
  for (CeedInt i = 0; !ierr && i < num; i++) {
    ierr = check_not_at_points(ops[i], call);
    if (!ierr) ierr = CeedOperatorCheckReady(ops[i]);
    if (!ierr) ierr = (ops[i]->is_composite ? copy_composite : copy_single)(&c, ops[i], &copies[i]);
  }
  for (CeedInt i = 0; i < c.num; i++) (void)CeedVectorDestroy(&c.pairs[i].copy);
  RITZ_FREE(&c.pairs);
  for (CeedInt i = 0; ierr && i < num; i++) (void)CeedOperatorDestroy(&copies[i]);
  return ierr;
}

// ---- New values ----

// Whether the pair is converted already; notes it if not.
static int note_pair(Conversion *c, CeedVector vec, CeedVector copy, bool *is_known) {
  *is_known = false;
  for (CeedInt i = 0; i < c->num; i++) *is_known = *is_known || c->pairs[i].copy == copy;
  if (*is_known) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_REALLOC(vec->obj.ceed, (size_t)c->num + 1, &c->pairs));
  c->pairs[c->num++] = (Pair){.vec = vec, .copy = copy};
  return CEED_ERROR_SUCCESS;
}

static int renew_single(Conversion *c, CeedOperator op, CeedOperator copy) {
  for (CeedInt i = 0; i < op->num_in; i++) {
    const CeedVector from = op->in[i]->vec, to = copy->in[i]->vec;
    bool is_known = false;
    if (from == to) continue;
    RITZ_TRY(note_pair(c, from, to, &is_known));
    if (!is_known) RITZ_TRY(convert(from, to));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_operators_renew_copies(CeedInt num, const CeedOperator *ops, const CeedOperator *copies) {
  Conversion c = {.num = 0};
  int ierr = CEED_ERROR_SUCCESS;
  for (CeedInt i = 0; !ierr && i < num; i++) {
    if (!ops[i]->is_composite) ierr = renew_single(&c, ops[i], copies[i]);
    for (CeedInt k = 0; !ierr && k < ops[i]->num_sub; k++)
      ierr = renew_single(&c, ops[i]->sub[k], copies[i]->sub[k]);
  }
  RITZ_FREE(&c.pairs);
  return ierr;
}

int RitzOperatorCopyInPrecision(CeedOperator op, CeedScalarType precision, CeedOperator *copy) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, copy);
  RITZ_TRY(ritz_check_precision(op->obj.ceed, __func__, precision));
  CeedOperator created;
  RITZ_TRY(ritz_operators_copy(__func__, 1, &op, precision, &created));
  const int ierr = ritz_operators_renew_copies(1, &op, &created);
  if (ierr) (void)CeedOperatorDestroy(&created);
  RITZ_TRY(ierr);
  *copy = created;
  return CEED_ERROR_SUCCESS;
}
