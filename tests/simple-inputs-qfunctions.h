// SPDX-License-Identifier: BSD-2-Clause
// The QFunction of tests/test-simple-inputs.c: v = w u times a sum of all passive numbers, each with a factor
// of its own. Included by the test and by run-time compilers.
#ifndef RITZ_TESTS_SIMPLE_INPUTS_QFUNCTIONS_H
#define RITZ_TESTS_SIMPLE_INPUTS_QFUNCTIONS_H

#include <ceed/types.h>

typedef struct {
  CeedInt num[5]; // of the passive inputs: their numbers at a point
} SimpleInputsContext;

// in: u, weights, five passive inputs; out: v
CEED_QFUNCTION(SimpleInputs)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SimpleInputsContext *simple = (const SimpleInputsContext *)ctx;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar sum = 1, factor = 1;

    for (int f = 0; f < 5; f++) {
      for (CeedInt k = 0; k < simple->num[f]; k++) {
        factor = factor < 2 ? factor + (CeedScalar)0.17 : factor - (CeedScalar)1.23;
        sum += factor * in[2 + f][k * Q + i];
      }
    }
    out[0][i] = in[1][i] * sum * in[0][i];
  }
  return 0;
}

#endif
