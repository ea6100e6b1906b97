// SPDX-License-Identifier: BSD-2-Clause
// An implicit step of chemical kinetics at a point, six species by mass action, rates that depend on the
// temperature: F(u) = u - u_0 - dt R(u) = 0, dt = 1 / 20. QFunctions of newton.c, which run-time compilers
// read, too.
//
//     A + B -> C      C -> A + B      C + D -> E      2 E -> F      F + B -> D + E      D -> A
#ifndef RITZ_EXAMPLES_BATCHED_NEWTON_FUNCTIONS_H
#define RITZ_EXAMPLES_BATCHED_NEWTON_FUNCTIONS_H

#include <ritz/jit-source/batched-device.h>

enum { NUM_SPECIES = 6, NUM_RECORD = NUM_SPECIES * NUM_SPECIES + NUM_SPECIES };

CEED_QFUNCTION_HELPER void kinetics_rate(const CeedScalar rate, const CeedScalar change[NUM_SPECIES],
                                         const CeedScalar slope[NUM_SPECIES], CeedScalar *J, CeedScalar *F) {
  RITZ_SMALL_UNROLL
  for (int r = 0; r < NUM_SPECIES; r++) {
    F[r] += change[r] * rate;
    RITZ_SMALL_UNROLL
    for (int c = 0; c < NUM_SPECIES; c++) J[r + c * NUM_SPECIES] -= change[r] * slope[c];
  }
}

// J = dF/du [6][6] and -F from u, u_0 and hot = exp(-1 / temperature), which is a field of its own, as loops
// over points with calls of exp do not become vectors.
CEED_QFUNCTION_HELPER void kinetics_system(const CeedScalar u[NUM_SPECIES], const CeedScalar u_0[NUM_SPECIES],
                                           const CeedScalar hot, CeedScalar *J, CeedScalar *F) {
  // dt times the constants of the rates: powers for higher barriers
  const CeedScalar k[6] = {2 * hot, hot * hot / 10, hot / 2, hot * hot * hot, hot / 4, hot * hot / 20};
  const CeedScalar a = u[0], b = u[1], c = u[2], d = u[3], e = u[4], f = u[5];
  const CeedScalar change[6][NUM_SPECIES] = {{-1, -1, 1, 0, 0, 0}, {1, 1, -1, 0, 0, 0},  {0, 0, -1, -1, 1, 0},
                                             {0, 0, 0, 0, -2, 1},  {0, -1, 0, 1, 1, -1}, {1, 0, 0, -1, 0, 0}};
  const CeedScalar rate[6] = {k[0] * a * b, k[1] * c, k[2] * c * d, k[3] * e * e, k[4] * f * b, k[5] * d};
  const CeedScalar slope[6][NUM_SPECIES] = {{k[0] * b, k[0] * a, 0, 0, 0, 0}, {0, 0, k[1], 0, 0, 0},
                                            {0, 0, k[2] * d, k[2] * c, 0, 0}, {0, 0, 0, 0, 2 * k[3] * e, 0},
                                            {0, k[4] * f, 0, 0, 0, k[4] * b}, {0, 0, 0, k[5], 0, 0}};

  RITZ_SMALL_UNROLL
  for (int i = 0; i < NUM_SPECIES * NUM_SPECIES; i++) J[i] = i % (NUM_SPECIES + 1) == 0;
  RITZ_SMALL_UNROLL
  for (int i = 0; i < NUM_SPECIES; i++) F[i] = u_0[i] - u[i];
  RITZ_SMALL_UNROLL
  for (int i = 0; i < 6; i++) kinetics_rate(rate[i], change[i], slope[i], J, F);
}

CEED_QFUNCTION_HELPER void kinetics_load(const CeedScalar *const *in, const CeedInt Q, const CeedInt i,
                                         CeedScalar *J, CeedScalar *F) {
  CeedScalar u[NUM_SPECIES], u_0[NUM_SPECIES];

  RITZ_SMALL_UNROLL
  for (int c = 0; c < NUM_SPECIES; c++) {
    u[c] = in[0][c * Q + i];
    u_0[c] = in[1][c * Q + i];
  }
  kinetics_system(u, u_0, in[2][i], J, F);
}

// One Newton step in the registers of a thread: v = u - J^-1 F.
// in: [0] u [6][Q]   [1] u_0 [6][Q]   [2] hot [Q]      out: [0] v [6][Q]
CEED_QFUNCTION(NewtonStep)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar J[NUM_SPECIES * NUM_SPECIES], F[NUM_SPECIES];
    int ipiv[NUM_SPECIES];

    kinetics_load(in, Q, i, J, F);
    ritz_thread_getrf(NUM_SPECIES, J, ipiv);
    ritz_thread_getrs(NUM_SPECIES, 0, 1, J, ipiv, F);
    RITZ_SMALL_UNROLL
    for (int c = 0; c < NUM_SPECIES; c++) out[0][c * Q + i] = in[0][c * Q + i] + F[c];
  }
  return CEED_ERROR_SUCCESS;
}

// The system for a batch: out: [0] record of J, column-major, and -F [42][Q].
CEED_QFUNCTION(NewtonSystem)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar J[NUM_SPECIES * NUM_SPECIES], F[NUM_SPECIES];

    kinetics_load(in, Q, i, J, F);
    RITZ_SMALL_UNROLL
    for (int c = 0; c < NUM_SPECIES * NUM_SPECIES; c++) out[0][c * Q + i] = J[c];
    RITZ_SMALL_UNROLL
    for (int c = 0; c < NUM_SPECIES; c++) out[0][(NUM_SPECIES * NUM_SPECIES + c) * Q + i] = F[c];
  }
  return CEED_ERROR_SUCCESS;
}

// in: [0] u [6][Q]   [1] record with the solution in the place of -F [42][Q]      out: [0] v [6][Q]
CEED_QFUNCTION(NewtonUpdate)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (int c = 0; c < NUM_SPECIES; c++) {
    CeedPragmaSIMD
    for (CeedInt i = 0; i < Q; i++)
      out[0][c * Q + i] = in[0][c * Q + i] + in[1][(NUM_SPECIES * NUM_SPECIES + c) * Q + i];
  }
  return CEED_ERROR_SUCCESS;
}

#endif
