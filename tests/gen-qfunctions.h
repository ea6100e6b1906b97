// SPDX-License-Identifier: BSD-2-Clause
// Point functions of tests/test-gen.c and tests/test-emit.c: compiled into the program, and read as a text at run
// time. All take u, its gradient in two dimensions, a factor q and the weights w, and give v.
//     in: [0] u [Q]   [1] du [2][Q]   [2] q [Q]   [3] w [Q]      out: [0] v [Q]
#ifndef RITZ_TESTS_GEN_QFUNCTIONS_H
#define RITZ_TESTS_GEN_QFUNCTIONS_H

#include <ceed/types.h>

#ifndef CEED_RUNNING_JIT_PASS
#include <math.h>
#endif

// ---- Plain ones ----

CEED_QFUNCTION(GenMass)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[3][i] * in[2][i] * in[0][i];
  return CEED_ERROR_SUCCESS;
}

// Context: two numbers.
typedef struct {
  CeedScalar factor;
  CeedInt64Pad pad;
} GenUnused;

#endif
