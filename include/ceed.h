// SPDX-License-Identifier: BSD-2-Clause
// The header that every client of the Ceed API includes, as it comes with Ritz (an installation looks for
// that word). A run-time compiler (CEED_RUNNING_JIT_PASS defined) sees only the types and macros that a
// QFunction source needs; it has no system headers.
#ifndef CEED_CLIENT_H
#define CEED_CLIENT_H

#ifdef CEED_RUNNING_JIT_PASS
#include "ceed/types.h"
#else
#include "ceed/ceed.h"
#endif

#endif
