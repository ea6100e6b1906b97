// SPDX-License-Identifier: BSD-2-Clause
// A QFunction in the habits of C alone: a void pointer becomes any other without a cast, names are C++'s
// keywords, initialisers name elements of arrays. Compiled into the program of tests/test-texts.c, too.
#ifndef RITZ_TESTS_TEXTS_FLOW_C_H
#define RITZ_TESTS_TEXTS_FLOW_C_H

#include <ceed/types.h>
#ifndef CEED_RUNNING_JIT_PASS
#include <math.h>
#endif

#define FLOW_MIN(a, b) ((a) < (b) ? (a) : (b))
#define FLOW_MAX(a, b) ((a) > (b) ? (a) : (b))

struct FlowOfC {
  CeedScalar reaction, offset, wind[2];
};

CEED_QFUNCTION_HELPER void flow_c_tensor(const struct FlowOfC *this, const CeedScalar q, CeedScalar *class) {
  const CeedScalar t = (CeedScalar)0.25 * exp(-q * q);
  const CeedScalar new[3] = {[2] = t,
                             [0] = sqrt(q * q + this->offset * this->offset),
                             [1] = FLOW_MIN(FLOW_MAX(q, (CeedScalar)0.1), (CeedScalar)0.75)};
  for (int i = 0; i < 3; i++) class[i] = new[i];
}

CEED_QFUNCTION(FlowC)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const struct FlowOfC *c = ctx;
  const CeedScalar *u = in[0], (*du)[CEED_Q_VLA] = (void *)in[1], *q = in[2], *w = in[3];
  CeedScalar *v = out[0], (*dv)[CEED_Q_VLA] = (void *)out[1];

  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3];
    flow_c_tensor(c, q[i], k);
    v[i] = w[i] * (c->reaction * pow(fabs(q[i]) + (CeedScalar)0.5, (CeedScalar)1.5) * u[i] +
                   c->wind[0] * du[0][i] + c->wind[1] * du[1][i]);
    dv[0][i] = w[i] * (k[0] * du[0][i] + k[2] * du[1][i] + c->wind[0] * u[i]);
    dv[1][i] = w[i] * (k[2] * du[0][i] + k[1] * du[1][i] + c->wind[1] * u[i]);
  }
  return 0;
}

#endif
