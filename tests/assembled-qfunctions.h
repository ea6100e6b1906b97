// SPDX-License-Identifier: BSD-2-Clause
// The QFunction that applies an assembled QFunction, of test-assembly.c and test-points.c. A source that
// devices compile at run time, so it is C and C++ and needs no system header.
#ifndef RITZ_TESTS_ASSEMBLED_QFUNCTIONS_H
#define RITZ_TESTS_ASSEMBLED_QFUNCTIONS_H

#include "random-context.h" // RANDOM_MAX_FIELDS; beside this file

typedef struct {
  CeedInt num_in, num_out; // fields, without A
  CeedInt N_out;           // scalars of all outputs
  CeedInt in_size[RANDOM_MAX_FIELDS], out_size[RANDOM_MAX_FIELDS];
} AssembledContext;

// out_o = sum_i A[i*N_out + o] in_i; A is the last input.
CEED_QFUNCTION(ApplyAssembled)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const AssembledContext *const c = (const AssembledContext *)ctx;
  const CeedScalar *const A = in[c->num_in];

  for (CeedInt h = 0, o = 0; h < c->num_out; h++) {
    for (CeedInt t = 0; t < c->out_size[h]; t++, o++) {
      for (CeedInt q = 0; q < Q; q++) {
        CeedScalar sum = 0;

        for (CeedInt f = 0, i = 0; f < c->num_in; f++) {
          for (CeedInt s = 0; s < c->in_size[f]; s++, i++)
            sum += A[(i * c->N_out + o) * Q + q] * in[f][s * Q + q];
        }
        out[h][t * Q + q] = sum;
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

#endif
