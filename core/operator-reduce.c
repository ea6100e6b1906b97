// SPDX-License-Identifier: BSD-2-Clause
// Sums over all points of what an operator's QFunction gives there (ritz/operator.h). An operator keeps one
// that adds up each element's points, the transpose of constant interpolation as any output with a basis, so
// that every backend has it fused; the sums over the elements are products with ones.
#include <ritz/operator.h>
#include <ritz/precision.h>
#include <ritz/vector.h>
#include <string.h>

#include "core/operator.h"

struct RitzReducer {
  CeedOperator op;     // owned: without active outputs
  CeedVector *of_elem; // owned [op->num_out]: sums [component][element]; NULL where there are no components
  CeedVector ones;     // owned; all vectors are as long as the longest needs
};

static const char *name_of(CeedOperator op) {
  return op->name ? op->name : op->qf ? op->qf->kernel_name : "";
}

// ---- The operator that is kept ----

static int make_qfunction(CeedQFunction from, CeedQFunction *qf) {
  RITZ_TRY(ritz_qfunction_copy(from, qf));
  int ierr = CEED_ERROR_SUCCESS;
  for (CeedInt i = 0; i < from->num_in && !ierr; i++)
    ierr = CeedQFunctionAddInput(*qf, from->in[i]->name, from->in[i]->size, from->in[i]->eval_mode);
  for (CeedInt i = 0; i < from->num_out && !ierr; i++)
    ierr = CeedQFunctionAddOutput(*qf, from->out[i]->name, from->out[i]->size, CEED_EVAL_INTERP);
  if (ierr) (void)CeedQFunctionDestroy(qf);
  return ierr;
}

// A basis with the points of the operator's, NULL where none has any; of tensor products if there is one.
static CeedBasis find_basis(CeedOperator op) {
  CeedBasis found = NULL;
  for (CeedInt i = 0; i < op->num_in; i++) {
    CeedBasis basis = op->in[i]->basis;
    if (ritz_field_is_unused(op->in[i]) || basis == CEED_BASIS_NONE) continue;
    if (!found || basis->is_tensor || basis->blocks) found = basis;
  }
  return found;
}

// One node: the constant, in num_comp components.
static int make_basis(CeedOperator op, CeedInt num_comp, CeedBasis *basis) {
  static const CeedScalar middle = 0;
  const Ceed ceed = op->obj.ceed;
  const CeedBasis from = find_basis(op);
  const bool is_tensor = from ? from->is_tensor || from->blocks : op->is_at_points;
  const CeedInt Q = is_tensor ? (from ? from->Q_1d : 1) : op->num_qpts;
  const CeedInt dim = from ? from->dim : op->is_at_points ? op->rstr_points->num_comp : 1;
  const CeedScalar *points = from ? from->q_ref : &middle;
  CeedScalar *ones = NULL, *zeros = NULL;

  int ierr = RITZ_MALLOC(ceed, (size_t)Q, &ones);
  if (!ierr) ierr = RITZ_CALLOC(ceed, (size_t)Q * (size_t)dim, &zeros);
  for (CeedInt q = 0; q < Q && !ierr; q++) ones[q] = 1;
  if (!ierr && is_tensor)
    ierr = CeedBasisCreateTensorH1(ceed, dim, num_comp, 1, Q, ones, zeros, points, ones, basis);
  if (!ierr && !is_tensor)
    ierr = CeedBasisCreateH1(ceed, from ? from->topology : CEED_TOPOLOGY_LINE, num_comp, 1, Q, ones, zeros,
                             zeros, ones, basis);
  RITZ_FREE(&ones);
  RITZ_FREE(&zeros);
  return ierr;
}

static CeedSize longest(CeedOperator op) {
  CeedInt most = 0;
  for (CeedInt i = 0; i < op->num_out; i++)
    most = op->out[i]->qf_field->size > most ? op->out[i]->qf_field->size : most;
  return (CeedSize)op->num_elem * most;
}

static int set_output(RitzReducer *r, CeedOperator op, CeedInt i) {
  const CeedInt num_elem = op->num_elem, num_comp = op->out[i]->qf_field->size;
  const CeedInt strides[3] = {1, num_elem, 1};
  const CeedSize length = (CeedSize)num_elem * num_comp;
  const Ceed ceed = op->obj.ceed;
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;

  int ierr = CeedElemRestrictionCreateStrided(ceed, num_elem, 1, num_comp, length, strides, &rstr);
  if (!ierr) ierr = make_basis(op, num_comp, &basis);
  if (!ierr) ierr = RitzVectorCreate(ceed, longest(op), op->precision, &r->of_elem[i]);
  if (!ierr) ierr = CeedOperatorSetField(r->op, op->out[i]->qf_field->name, rstr, basis, r->of_elem[i]);
  (void)CeedElemRestrictionDestroy(&rstr);
  (void)CeedBasisDestroy(&basis);
  return ierr;
}

static int set_fields(RitzReducer *r, CeedOperator op) {
  for (CeedInt i = 0; i < op->num_in; i++) {
    const CeedOperatorField f = op->in[i];
    if (ritz_field_is_unused(f)) continue;
    RITZ_TRY(CeedOperatorSetField(r->op, f->qf_field->name, f->rstr, f->basis, f->vec));
  }
  for (CeedInt i = 0; i < op->num_out; i++)
    if (!ritz_field_is_unused(op->out[i])) RITZ_TRY(set_output(r, op, i));
  return CEED_ERROR_SUCCESS;
}

static int set_up(RitzReducer *r, CeedOperator op) {
  const Ceed ceed = op->obj.ceed;
  CeedQFunction qf = NULL;

  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)op->num_out + 1, &r->of_elem));
  RITZ_TRY(make_qfunction(op->qf, &qf));
  int ierr =
      (op->is_at_points ? CeedOperatorCreateAtPoints : CeedOperatorCreate)(ceed, qf, NULL, NULL, &r->op);
  (void)CeedQFunctionDestroy(&qf);
  if (!ierr && op->rstr_points)
    ierr = CeedOperatorAtPointsSetPoints(r->op, op->rstr_points, op->point_coords);
  if (!ierr) ierr = set_fields(r, op);
  if (!ierr) ierr = CeedOperatorSetName(r->op, op->name);
  if (!ierr) ierr = RitzOperatorSetPrecision(r->op, op->precision);
  if (!ierr) ierr = CeedOperatorCheckReady(r->op);
  if (!ierr) ierr = RitzVectorCreate(ceed, longest(op), op->precision, &r->ones);
  return ierr ? ierr : CeedVectorSetValue(r->ones, 1);
}

void ritz_operator_free_reducer(CeedOperator op) {
  RitzReducer *r = op->reducer;
  if (!r) return;
  (void)CeedOperatorDestroy(&r->op);
  for (CeedInt i = 0; r->of_elem && i < op->num_out; i++) (void)CeedVectorDestroy(&r->of_elem[i]);
  RITZ_FREE(&r->of_elem);
  (void)CeedVectorDestroy(&r->ones);
  RITZ_FREE(&op->reducer);
}

// What may change between two calls is that of the operator each time.
static int update(CeedOperator op) {
  if (!op->reducer) {
    RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &op->reducer));
    const int ierr = set_up(op->reducer, op);
    if (ierr) ritz_operator_free_reducer(op);
    RITZ_TRY(ierr);
  }
  CeedOperator kept = op->reducer->op;
  kept->use = op->use;
  kept->route = op->route;
  kept->qf->is_context_writable = op->qf->is_context_writable;
  return kept->qf->ctx == op->qf->ctx ? CEED_ERROR_SUCCESS : CeedQFunctionSetContext(kept->qf, op->qf->ctx);
}

// ---- Checks ----

static CeedInt count_components(CeedOperator op) {
  CeedInt num = 0;
  for (CeedInt i = 0; i < op->num_out; i++) num += op->out[i]->qf_field->size;
  return num;
}

static int check_outputs(CeedOperator op, const char *call, CeedInt num_sums) {
  for (CeedInt i = 0; i < op->num_out; i++) {
    const CeedQFunctionField field = op->out[i]->qf_field;
    RITZ_REQUIRE(field->eval_mode == CEED_EVAL_NONE, op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: output '%s' of operator '%s' goes through a basis (%s), needed numbers at points "
                 "(CEED_EVAL_NONE)",
                 call, field->name, name_of(op), CeedEvalModes[field->eval_mode]);
  }
  RITZ_REQUIRE(op->is_composite || count_components(op) == num_sums, op->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: room for %" CeedInt_FMT " sums, the outputs of operator '%s' have %" CeedInt_FMT
               " components",
               call, num_sums, name_of(op), count_components(op));
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(check_outputs(op->sub[i], call, num_sums));
  return CEED_ERROR_SUCCESS;
}

// Prepares an operator with elements, or all such parts of a composite, and checks vectors before anything
// runs.
static int prepare(CeedOperator op, const char *call, CeedVector in) {
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(prepare(op->sub[i], call, in));
  if (op->is_composite || op->num_elem == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(update(op));
  return ritz_operator_check_apply(op->reducer->op, call, in, CEED_VECTOR_NONE, RITZ_APPLY_OVERWRITE);
}

// ---- Sums ----

static int add_sums(CeedOperator op, CeedVector in, double *sums) {
  RitzReducer *r = op->reducer;

  RITZ_TRY(ritz_operator_run(r->op, in, CEED_VECTOR_NONE, RITZ_APPLY_OVERWRITE));
  for (CeedInt i = 0; i < op->num_out; i++) {
    for (CeedInt c = 0; c < op->out[i]->qf_field->size; c++) {
      double sum;
      RITZ_TRY(RitzVectorDotRange(r->of_elem[i], r->ones, (CeedSize)c * op->num_elem, op->num_elem, &sum));
      *sums++ += sum;
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int add_all(CeedOperator op, CeedVector in, double *sums) {
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(add_all(op->sub[i], in, sums));
  return op->is_composite || op->num_elem == 0 ? CEED_ERROR_SUCCESS : add_sums(op, in, sums);
}

int RitzOperatorReduce(CeedOperator op, CeedVector in, CeedInt num_sums, double sums[]) {
  double *totals = NULL;

  RITZ_HANDLE(op, in);
  const Ceed ceed = op->obj.ceed;
  RITZ_REQUIRE(num_sums >= 0, ceed, CEED_ERROR_DIMENSION, "%s: the number of sums is %" CeedInt_FMT, __func__,
               num_sums);
  if (num_sums > 0) RITZ_ARGUMENT(op, sums);
  RITZ_TRY(CeedOperatorCheckReady(op));
  RITZ_TRY(check_outputs(op, __func__, num_sums));
  RITZ_TRY(prepare(op, __func__, in));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_sums + 1, &totals));
  const int ierr = add_all(op, in, totals);
  if (!ierr && num_sums > 0) memcpy(sums, totals, (size_t)num_sums * sizeof(*sums));
  RITZ_FREE(&totals);
  return ierr;
}
