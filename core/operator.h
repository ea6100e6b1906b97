// SPDX-License-Identifier: BSD-2-Clause
// What the files of CeedOperator share among themselves.
#ifndef RITZ_CORE_OPERATOR_H
#define RITZ_CORE_OPERATOR_H

#include "core/core.h"

// CEED_ERROR_MINOR unless the operator is (or is not) a composite.
int ritz_operator_require_composite(CeedOperator op, const char *call, bool is_composite);
// Lengths of a composite's active vectors from its parts; CEED_ERROR_MAJOR when they disagree.
int ritz_operator_update_sizes(CeedOperator op, const char *call);

#endif
