// SPDX-License-Identifier: BSD-2-Clause
// Numbers that derivatives store at quadrature points (contract in core/derivative.h), and those that are an
// input at the state. Made for core/derivative.c and derivative-matrix.c; when they are computed is
// core/vector-source.c's.
#include <limits.h>
#include <ritz/precision.h>

#include "core/derivative.h"
#include "core/vector-source.h"

int ritz_point_numbers_create(const char *call, CeedOperator op, CeedSize num, RitzPointNumbers *numbers) {
  const Ceed ceed = op->obj.ceed;
  const CeedInt Q = op->num_qpts;

  *numbers = (RitzPointNumbers){0};
  RITZ_REQUIRE(num <= INT_MAX / (Q > 0 ? Q : 1), ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %" CeedSize_FMT " numbers at each of %" CeedInt_FMT
               " points exceed the 32-bit layout of an element",
               call, num, Q);
  const CeedInt strides[3] = {1, Q, (CeedInt)num * Q};
  const CeedSize length = (CeedSize)op->num_elem * Q * num;
  int ierr =
      CeedElemRestrictionCreateStrided(ceed, op->num_elem, Q, (CeedInt)num, length, strides, &numbers->rstr);
  if (!ierr) ierr = RitzVectorCreate(ceed, length, op->precision, &numbers->vec);
  if (ierr) ritz_point_numbers_destroy(numbers);
  return ierr;
}

void ritz_point_numbers_destroy(RitzPointNumbers *numbers) {
  (void)CeedElemRestrictionDestroy(&numbers->rstr);
  (void)CeedVectorDestroy(&numbers->vec);
}

// input: a field of op, at the state
static int set_identity(const RitzDerivativeRequest *r, CeedOperator op, CeedOperatorField input,
                        const RitzPointNumbers *numbers, CeedOperator set_up) {
  RITZ_TRY(CeedOperatorSetField(set_up, "input", input->rstr, input->basis, r->state));
  RITZ_TRY(CeedOperatorSetField(set_up, "output", numbers->rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  RITZ_TRY(CeedOperatorSetName(set_up, "state at points"));
  RITZ_TRY(ritz_derivative_finish(op, set_up));
  return ritz_vector_set_source(numbers->vec, set_up);
}

int ritz_point_numbers_of_input(const RitzDerivativeRequest *r, CeedOperator op, CeedInt i,
                                RitzPointNumbers *numbers) {
  const CeedOperatorField f = op->in[i];
  CeedQFunction qf = NULL;
  CeedOperator set_up = NULL;

  RITZ_TRY(ritz_point_numbers_create(r->call, op, f->qf_field->size, numbers));
  int ierr = CeedQFunctionCreateIdentity(op->obj.ceed, f->qf_field->size, f->qf_field->eval_mode,
                                         CEED_EVAL_NONE, &qf);
  if (!ierr) ierr = CeedOperatorCreate(op->obj.ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &set_up);
  if (!ierr) ierr = set_identity(r, op, f, numbers, set_up);
  (void)CeedQFunctionDestroy(&qf);
  (void)CeedOperatorDestroy(&set_up);
  if (ierr) ritz_point_numbers_destroy(numbers);
  return ierr;
}
