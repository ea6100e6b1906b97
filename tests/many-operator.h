// SPDX-License-Identifier: BSD-2-Clause
// An operator of 200 inputs and 200 outputs. Included by tests of sizes and of device compilers.
#ifndef RITZ_TESTS_MANY_OPERATOR_H
#define RITZ_TESTS_MANY_OPERATOR_H

#include <stdio.h>

#include "tests/many-qfunctions.h"
#include <ceed.h>

enum { NUM_FIELDS = MANY_FIELDS }; // of a direction

// Fields are added under the names of their numbers and set backwards.
static inline int create_many(Ceed ceed, CeedQFunction *qf, CeedOperator *op) {
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  int ierr = CeedElemRestrictionCreateStrided(ceed, 2, 2, 1, 4, CEED_STRIDES_BACKEND, &rstr);

  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 2, CEED_GAUSS_LOBATTO, &basis);
  if (!ierr) ierr = CeedQFunctionCreateInterior(ceed, 1, SizesMany, SizesMany_loc, qf);
  for (int k = 0; !ierr && k < 2 * NUM_FIELDS; k++) {
    char name[32];

    snprintf(name, sizeof(name), "field %d", k);
    ierr = (k < NUM_FIELDS ? CeedQFunctionAddInput : CeedQFunctionAddOutput)(*qf, name, 1, CEED_EVAL_INTERP);
  }
  if (!ierr) ierr = CeedOperatorCreate(ceed, *qf, NULL, NULL, op);
  for (int k = 2 * NUM_FIELDS - 1; !ierr && k >= 0; k--) {
    char name[32];

    snprintf(name, sizeof(name), "field %d", k);
    ierr = CeedOperatorSetField(*op, name, rstr, basis, CEED_VECTOR_ACTIVE);
  }
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  return ierr;
}

#endif
