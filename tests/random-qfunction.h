// SPDX-License-Identifier: BSD-2-Clause
// The QFunction of random operators (tests/random-operator.h). A source that devices compile at run time, so
// it is C and C++ and needs no system header.
#ifndef RITZ_TESTS_RANDOM_QFUNCTION_H
#define RITZ_TESTS_RANDOM_QFUNCTION_H

#include "random-context.h" // beside this file: a run-time compiler finds it there

// Affine in the active inputs, with another matrix at each point:
//   out_o = g sum_{active i} matrix[o][i] in_i + sum_{passive i} matrix[o][i] in_i,  g = 1 + sum_i mix_i in_i
CEED_QFUNCTION(RandomAffine)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const RandomContext *const c = (const RandomContext *)ctx;

  for (CeedInt q = 0; q < Q; q++) {
    CeedScalar g = 1;

    for (CeedInt f = 0, i = 0; f < c->num_in; f++) {
      for (CeedInt s = 0; s < c->in_size[f]; s++, i++) g += c->mix[i] * in[f][s * Q + q];
    }
    for (CeedInt h = 0, o = 0; h < c->num_out; h++) {
      for (CeedInt t = 0; t < c->out_size[h]; t++, o++) {
        CeedScalar sum = 0;

        for (CeedInt f = 0, i = 0; f < c->num_in; f++) {
          const CeedScalar factor = c->is_active[f] ? g : 1;

          for (CeedInt s = 0; s < c->in_size[f]; s++, i++) sum += factor * c->matrix[o][i] * in[f][s * Q + q];
        }
        out[h][t * Q + q] = sum;
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

#endif
