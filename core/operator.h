// SPDX-License-Identifier: BSD-2-Clause
// What the files of CeedOperator share among themselves.
#ifndef RITZ_CORE_OPERATOR_H
#define RITZ_CORE_OPERATOR_H

#include "core/core.h"

// A single operator without fields; `call` is named in messages.
int ritz_operator_create(Ceed ceed, const char *call, CeedQFunction qf, CeedQFunction dqf, CeedQFunction dqfT,
                         CeedOperator *op);
// CEED_ERROR_MINOR unless the operator is (or is not) a composite.
int ritz_operator_require_composite(CeedOperator op, const char *call, bool is_composite);
// Lengths of a composite's active vectors from its parts; CEED_ERROR_MAJOR when they disagree.
int ritz_operator_update_sizes(CeedOperator op, const char *call);

// The parts of v = E_out^T B_out^T diag(E_factor factor) B_in E_in u, all borrowed. A basis CEED_BASIS_NONE
// is the identity; the factor has one entry for each component at each point.
typedef struct {
  CeedElemRestriction rstr_in, rstr_factor, rstr_out;
  CeedBasis basis_in, basis_out;
  CeedVector factor;
} RitzScale;
// A ready operator without a name. Its fields are "input", "scale" and "output", its QFunction is the
// gallery's "Scale".
int ritz_operator_create_scale(Ceed ceed, const RitzScale *parts, CeedOperator *op);
// The apply family, under the name of the public function that was called.
int ritz_operator_apply(CeedOperator op, const char *call, CeedVector in, CeedVector out, RitzApplyMode mode,
                        CeedRequest *request);
// When the assembled QFunction is to be reused: it exists and is up to date afterwards.
int ritz_operator_update_reused(CeedOperator op, const char *call);

#endif
