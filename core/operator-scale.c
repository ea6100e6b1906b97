// SPDX-License-Identifier: BSD-2-Clause
// Operators that multiply by given factors, through the gallery's "Scale": the transfer operators of
// core/multigrid.c and the element inverse of core/fdm.c.
#include <ritz/precision.h>

#include "core/operator.h"

static int set_num_comp(CeedQFunction qf, CeedInt num_comp) {
  CeedQFunctionContext ctx = NULL;
  RITZ_TRY(CeedQFunctionContextCreate(qf->obj.ceed, &ctx));
  int ierr =
      CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(num_comp), (void *)&num_comp);
  if (!ierr) ierr = CeedQFunctionSetContext(qf, ctx);
  CeedQFunctionContextDestroy(&ctx);
  return ierr ? ierr : CeedQFunctionSetContextWritable(qf, false);
}

static CeedEvalMode mode_of(CeedBasis basis) {
  return basis == CEED_BASIS_NONE ? CEED_EVAL_NONE : CEED_EVAL_INTERP;
}

static int create_scale_qfunction(Ceed ceed, const RitzScale *scale, CeedQFunction *qf) {
  CeedInt num_comp = scale->rstr_factor->num_comp;
  RITZ_TRY(CeedQFunctionCreateInteriorByName(ceed, "Scale", qf));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "input", num_comp, mode_of(scale->basis_in)));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "scale", num_comp, CEED_EVAL_NONE));
  RITZ_TRY(CeedQFunctionAddOutput(*qf, "output", num_comp, mode_of(scale->basis_out)));
  RITZ_TRY(CeedQFunctionSetUserFlopsEstimate(*qf, num_comp));
  return set_num_comp(*qf, num_comp);
}

static int set_fields(CeedOperator op, const RitzScale *scale, CeedVector factor) {
  RITZ_TRY(RitzOperatorSetPrecision(op, scale->precision));
  RITZ_TRY(CeedOperatorSetField(op, "input", scale->rstr_in, scale->basis_in, CEED_VECTOR_ACTIVE));
  RITZ_TRY(CeedOperatorSetField(op, "scale", scale->rstr_factor, CEED_BASIS_NONE, factor));
  RITZ_TRY(CeedOperatorSetField(op, "output", scale->rstr_out, scale->basis_out, CEED_VECTOR_ACTIVE));
  return CeedOperatorCheckReady(op);
}

// The factor in the operator's precision.
static int create_factor(Ceed ceed, const RitzScale *scale, CeedVector *factor) {
  if (scale->precision == CEED_SCALAR_TYPE) return CeedVectorReferenceCopy(scale->factor, factor);
  RITZ_TRY(RitzVectorCreate(ceed, scale->factor->length, scale->precision, factor));
  return RitzVectorConvert(scale->factor, *factor);
}

int ritz_operator_create_scale(Ceed ceed, const RitzScale *scale, CeedOperator *op) {
  CeedQFunction qf = NULL;
  CeedOperator created = NULL;
  CeedVector factor = NULL;
  int ierr = create_scale_qfunction(ceed, scale, &qf);
  if (!ierr) ierr = create_factor(ceed, scale, &factor);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &created);
  if (!ierr) ierr = set_fields(created, scale, factor);
  CeedQFunctionDestroy(&qf);
  CeedVectorDestroy(&factor);
  if (ierr) {
    CeedOperatorDestroy(&created);
    return ierr;
  }
  *op = created;
  return CEED_ERROR_SUCCESS;
}
