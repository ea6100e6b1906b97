// SPDX-License-Identifier: BSD-2-Clause
// Included by helper.h.
#ifndef GEN_DEEPEST_H
#define GEN_DEEPEST_H

CEED_QFUNCTION_HELPER CeedScalar gen_deepest(CeedScalar s) { return 3 * s; }

#endif
