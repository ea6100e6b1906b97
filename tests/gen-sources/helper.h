// SPDX-License-Identifier: BSD-2-Clause
// Included by includes.h in three spellings.
#pragma once
#include "./deep/deepest.h"

CEED_QFUNCTION_HELPER CeedScalar gen_helper(CeedScalar s) { return gen_deepest(s) + 1; }
