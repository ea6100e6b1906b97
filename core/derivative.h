// SPDX-License-Identifier: BSD-2-Clause
// What the files of derivatives share.
#ifndef RITZ_CORE_DERIVATIVE_H
#define RITZ_CORE_DERIVATIVE_H

#include "core/core.h"

// *text (owned by the caller): C++ with the function `name`, whose inputs are those of qf, then the
// derivatives of those that are_active [num_in], and whose outputs are the derivatives of those that
// are_wanted [num_out]. Errors begin with `call`: CEED_ERROR_UNSUPPORTED, CEED_ERROR_INCOMPLETE without a
// text.
int ritz_derivative_text(CeedQFunction qf, const char *call, const char *name, const bool *are_active,
                         const bool *are_wanted, char **text);

#endif
