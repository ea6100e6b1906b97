// SPDX-License-Identifier: BSD-2-Clause
// Operators with vectors in single precision, for tests of two precisions: passive vectors are exchanged for
// copies in another precision, active ones made and read. Included by tests of devices.
#ifndef RITZ_TESTS_PRECISION_FIELDS_H
#define RITZ_TESTS_PRECISION_FIELDS_H

#include "core/core.h"
#include <ritz/precision.h>

// A vector of this precision with the values, rounded.
static inline int precision_copy(CeedVector from, CeedScalarType precision, CeedVector *copy) {
  CeedCall(RitzVectorCreate(CeedVectorReturnCeed(from), from->length, precision, copy));
  return RitzVectorConvert(from, *copy);
}

// All fields that have the vector `from` get `to`.
static inline int precision_exchange(CeedOperator op, CeedVector from, CeedVector to) {
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    CeedOperatorField field = ritz_operator_field(op, i);

    if (field->vec == from) CeedCall(CeedVectorReferenceCopy(to, &field->vec));
  }
  return CEED_ERROR_SUCCESS;
}

// The vector of an operator's passive fields becomes one of another precision.
static inline int precision_change(CeedOperator op, CeedVector *vec, CeedScalarType precision) {
  CeedVector copy = NULL;
  if ((*vec)->precision == precision) return CEED_ERROR_SUCCESS;
  int ierr = precision_copy(*vec, precision, &copy);

  if (!ierr) ierr = precision_exchange(op, *vec, copy);
  if (!ierr) ierr = CeedVectorReferenceCopy(copy, vec);
  CeedVectorDestroy(&copy);
  return ierr;
}

#endif
