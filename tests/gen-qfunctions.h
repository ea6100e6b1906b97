// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of tests/test-gen.c and tests/test-emit.c: compiled into the program, and read as a text at
// run time. Both ways from this file, so that they are the same.
//     in: [0] u [Q]   [1] du [2][Q]   [2] q [Q]   [3] w [Q]      out: [0] v [Q]
#ifndef RITZ_TESTS_GEN_QFUNCTIONS_H
#define RITZ_TESTS_GEN_QFUNCTIONS_H

#include <ceed/types.h>

#ifndef CEED_RUNNING_JIT_PASS
#include <math.h>
#endif

CEED_QFUNCTION(GenMass)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[3][i] * in[2][i] * in[0][i];
  return CEED_ERROR_SUCCESS;
}

//     in: [0] u [Q]      out: [0] v [Q]   [1] w [Q]
CEED_QFUNCTION(GenTwice)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    out[0][i] = in[0][i];
    out[1][i] = 2 * in[0][i];
  }
  return CEED_ERROR_SUCCESS;
}

// ---- With contexts ----

typedef struct {
  double factor;
  CeedInt code; // what the function returns
} GenNumbers;

CEED_QFUNCTION(GenScaled)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const GenNumbers *const c = (const GenNumbers *)ctx;

  for (CeedInt i = 0; i < Q; i++) out[0][i] = (CeedScalar)c->factor * in[3][i] * in[2][i] * in[0][i];
  return c->code;
}

// Counts the points that it has seen.
CEED_QFUNCTION(GenCounting)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  *(CeedInt *)ctx += Q;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[3][i] * in[2][i] * in[0][i];
  return CEED_ERROR_SUCCESS;
}

// The context is the vector length: fails when it does not divide Q.
CEED_QFUNCTION(GenBlocks)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedInt n = *(const CeedInt *)ctx;

  if (Q % n) return CEED_ERROR_DIMENSION;
  for (CeedInt b = 0; b < Q; b += n) {
    for (CeedInt i = b; i < b + n; i++) out[0][i] = in[3][i] * in[2][i] * in[0][i];
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Text and function differ ----

// The program defines this macro; nobody tells the run-time compiler.
CEED_QFUNCTION(GenByFlag)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
#ifdef GEN_PROGRAM_FLAG
  const CeedScalar factor = 2;
#else
  const CeedScalar factor = 3;
#endif

  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = factor * in[3][i] * in[2][i] * in[0][i];
  return CEED_ERROR_SUCCESS;
}

// The same but for the order of additions, of which nothing but rounding is left: (u + 1)^2 - (u + 1)^2.
CEED_QFUNCTION(GenNearly)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar u = in[0][i], square = (u + 1) * (u + 1);
#ifdef GEN_PROGRAM_FLAG
    const CeedScalar error = ((u * u + 2 * u) + 1) - square;
#else
    const CeedScalar error = ((1 + u * u) + 2 * u) - square;
#endif
    out[0][i] = in[3][i] * error * error;
  }
  return CEED_ERROR_SUCCESS;
}

// u (a b) - (u a) b: an exact zero in the program, rounding in the text.
CEED_QFUNCTION(GenCancelled)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar u = in[0][i], a = in[3][i] / 3, b = in[2][i] + a;
#ifdef GEN_PROGRAM_FLAG
    const CeedScalar ab = (u * a) * b;
#else
    const CeedScalar ab = u * (a * b);
#endif
    out[0][i] = ab - (u * a) * b;
  }
  return CEED_ERROR_SUCCESS;
}

// The mass, by a millionth more in the program.
CEED_QFUNCTION(GenSlightly)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
#ifdef GEN_PROGRAM_FLAG
  const CeedScalar factor = (CeedScalar)1.000001;
#else
  const CeedScalar factor = 1;
#endif

  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = factor * in[3][i] * in[2][i] * in[0][i];
  return CEED_ERROR_SUCCESS;
}

// ---- Everything that C has ----

// y with y + y^5 = s, by Newton's method: as many steps as it takes.
CEED_QFUNCTION_HELPER CeedScalar gen_root(CeedScalar s) {
  CeedScalar y = 0;

  for (int k = 0; k < 100; k++) {
    const CeedScalar step = (y + y * y * y * y * y - s) / (1 + 5 * y * y * y * y);

    y -= step;
    if (fabs((double)step) < 1e-12) break;
  }
  return y;
}

CEED_QFUNCTION(GenHard)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar(*du)[CEED_Q_VLA] = (const CeedScalar(*)[CEED_Q_VLA])in[1];
  CeedScalar(*v)[CEED_Q_VLA] = (CeedScalar(*)[CEED_Q_VLA])out[0];

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar g[2] = {du[0][i], du[1][i]}, u = in[0][i];
    CeedScalar T[2][2], det, sum;

    for (int a = 0; a < 2; a++) {
      for (int b = 0; b < 2; b++) T[a][b] = g[a] * g[b] + (a == b ? 1 : 0);
    }
    det = (CeedScalar)sqrt((double)(T[0][0] * T[1][1] - T[0][1] * T[1][0]));
    if (u < -0.25) {
      sum = (CeedScalar)exp(-(double)det);
    } else if (u < 0.25) {
      sum = gen_root(u);
    } else {
      sum = (CeedScalar)pow((double)det, 1.3);
    }
    v[0][i] = in[3][i] * in[2][i] * sum;
  }
  return CEED_ERROR_SUCCESS;
}

#endif
