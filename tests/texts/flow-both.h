// SPDX-License-Identifier: BSD-2-Clause
// The function of flow-c.h in what C and C++ share: casts are written out, structs are named by a typedef.
#ifndef RITZ_TESTS_TEXTS_FLOW_BOTH_H
#define RITZ_TESTS_TEXTS_FLOW_BOTH_H

#include <ceed/types.h>
#ifndef CEED_RUNNING_JIT_PASS
#include <math.h>
#endif

#ifndef FLOW_BOTH_CONTEXT
#define FLOW_BOTH_CONTEXT
typedef struct FlowOfBoth_ *FlowOfBoth;
struct FlowOfBoth_ {
  CeedScalar reaction, offset, wind[2];
};
#endif

CEED_QFUNCTION_HELPER CeedScalar FlowBothClip(CeedScalar x, CeedScalar low, CeedScalar high) {
  return fmin(fmax(x, low), high);
}

CEED_QFUNCTION(FlowBoth)(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  FlowOfBoth c = (FlowOfBoth)ctx;
  const CeedScalar(*u) = in[0];
  const CeedScalar(*du)[CEED_Q_VLA] = (const CeedScalar(*)[CEED_Q_VLA])in[1];
  const CeedScalar *q = in[2], *w = in[3];
  CeedScalar(*v) = out[0], (*dv)[CEED_Q_VLA] = (CeedScalar(*)[CEED_Q_VLA])out[1];

  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar s = sqrt(q[i] * q[i] + c->offset * c->offset), t = (CeedScalar)0.25 * exp(-q[i] * q[i]);
    const CeedScalar k[2][2] = {{s, t}, {t, FlowBothClip(q[i], (CeedScalar)0.1, (CeedScalar)0.75)}};
    const CeedScalar p = pow(fabs(q[i]) + (CeedScalar)0.5, (CeedScalar)1.5);

    v[i] = w[i] * (c->reaction * p * u[i] + c->wind[0] * du[0][i] + c->wind[1] * du[1][i]);
    for (int a = 0; a < 2; a++)
      dv[a][i] = w[i] * (k[a][0] * du[0][i] + k[a][1] * du[1][i] + c->wind[a] * u[i]);
  }
  return 0;
}

#endif
