// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of the vector problems: u . A v + (curl or div u) . B (curl or div v) with symmetric
// factors A, B stored at the points, of metric and weights. Included by vector-problem.c and by run-time
// compilers.
//
// in: u, its curl or divergence, factors of A, then of B; out: the same of v. A symmetric matrix has its
// entries in the order 00 11 22 12 02 01, in two dimensions 00 11 01; factor s at [s*Q + i].
#ifndef RITZ_BENCH_VECTOR_QFUNCTIONS_H
#define RITZ_BENCH_VECTOR_QFUNCTIONS_H

#include <ceed.h>

// v = G u
CEED_QFUNCTION_HELPER void vector_multiply_3(const CeedScalar *G, const CeedScalar *u, const CeedInt Q,
                                             const CeedInt i, CeedScalar *v) {
  const CeedScalar u0 = u[i], u1 = u[Q + i], u2 = u[2 * Q + i];
  const CeedScalar G12 = G[3 * Q + i], G02 = G[4 * Q + i], G01 = G[5 * Q + i];

  v[i] = G[i] * u0 + G01 * u1 + G02 * u2;
  v[Q + i] = G01 * u0 + G[Q + i] * u1 + G12 * u2;
  v[2 * Q + i] = G02 * u0 + G12 * u1 + G[2 * Q + i] * u2;
}

// Curls in three dimensions.
CEED_QFUNCTION(vector_curl_3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    vector_multiply_3(in[2], in[0], Q, i, out[0]);
    vector_multiply_3(in[2] + 6 * Q, in[1], Q, i, out[1]);
  }
  return 0;
}

// Divergences in three dimensions.
CEED_QFUNCTION(vector_div_3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    vector_multiply_3(in[2], in[0], Q, i, out[0]);
    out[1][i] = in[2][6 * Q + i] * in[1][i];
  }
  return 0;
}

// Either in two dimensions.
CEED_QFUNCTION(vector_2)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *G = in[2];

  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar u0 = in[0][i], u1 = in[0][Q + i];

    out[0][i] = G[i] * u0 + G[2 * Q + i] * u1;
    out[0][Q + i] = G[2 * Q + i] * u0 + G[Q + i] * u1;
    out[1][i] = G[3 * Q + i] * in[1][i];
  }
  return 0;
}

#endif
