// SPDX-License-Identifier: BSD-2-Clause
// Old names of functions, each forwarding unchanged to the new one. Included by ceed/ceed.h; new code does
// not use them.
#ifndef CEED_DEPRECATED_H
#define CEED_DEPRECATED_H

#include "ceed.h"

// Attributes are standard in C23 and in C++14; before that GNU compilers have their own spelling.
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L) ||                                             \
    (defined(__cplusplus) && __cplusplus >= 201402L)
#define CEED_DEPRECATED(text) [[deprecated(text)]]
#elif defined(__GNUC__)
#define CEED_DEPRECATED(text) __attribute__((deprecated(text)))
#else
#define CEED_DEPRECATED(text)
#endif

// The former name of CeedOperatorCreateComposite.
CEED_DEPRECATED("use CeedOperatorCreateComposite")
static inline int CeedCompositeOperatorCreate(Ceed ceed, CeedOperator *op) {
  return CeedOperatorCreateComposite(ceed, op);
}

// The former name of CeedOperatorCompositeAddSub.
CEED_DEPRECATED("use CeedOperatorCompositeAddSub")
static inline int CeedCompositeOperatorAddSub(CeedOperator composite_op, CeedOperator sub_op) {
  return CeedOperatorCompositeAddSub(composite_op, sub_op);
}

// The former name of CeedOperatorCompositeGetNumSub.
CEED_DEPRECATED("use CeedOperatorCompositeGetNumSub")
static inline int CeedCompositeOperatorGetNumSub(CeedOperator op, CeedInt *num_suboperators) {
  return CeedOperatorCompositeGetNumSub(op, num_suboperators);
}

// The former name of CeedOperatorCompositeGetSubList.
CEED_DEPRECATED("use CeedOperatorCompositeGetSubList")
static inline int CeedCompositeOperatorGetSubList(CeedOperator op, CeedOperator **sub_operators) {
  return CeedOperatorCompositeGetSubList(op, sub_operators);
}

// The former name of CeedOperatorCompositeGetSubByName.
CEED_DEPRECATED("use CeedOperatorCompositeGetSubByName")
static inline int CeedCompositeOperatorGetSubByName(CeedOperator op, const char *op_name,
                                                    CeedOperator *sub_op) {
  return CeedOperatorCompositeGetSubByName(op, op_name, sub_op);
}

// The former name of CeedOperatorCompositeGetMultiplicity.
CEED_DEPRECATED("use CeedOperatorCompositeGetMultiplicity")
static inline int CeedCompositeOperatorGetMultiplicity(CeedOperator op, CeedInt num_skip_indices,
                                                       CeedInt *skip_indices, CeedVector mult) {
  return CeedOperatorCompositeGetMultiplicity(op, num_skip_indices, skip_indices, mult);
}

#undef CEED_DEPRECATED

#endif
