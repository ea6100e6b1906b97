// SPDX-License-Identifier: BSD-2-Clause
// The function of flow-c.h as large C++ codes write it: structs are types without the word, and
// declarations stand in conditions.
#ifndef RITZ_TESTS_TEXTS_FLOW_STRUCT_H
#define RITZ_TESTS_TEXTS_FLOW_STRUCT_H

#include <ceed/types.h>
#ifndef CEED_RUNNING_JIT_PASS
#include <cmath>
#endif

struct FlowContext {
  CeedScalar reaction, offset, wind[2];
};

struct FlowTensor {
  CeedScalar xx, yy, xy;
};

CEED_QFUNCTION_HELPER FlowTensor flow_struct_tensor(const FlowContext *c, CeedScalar q) {
  FlowTensor k;
  k.xx = sqrt(q * q + c->offset * c->offset);
  k.yy = q;
  if (const bool is_low = q < CeedScalar(0.1)) k.yy = is_low * CeedScalar(0.1);
  if (q > CeedScalar(0.75)) k.yy = CeedScalar(0.75);
  k.xy = CeedScalar(0.25) * exp(-q * q);
  return k;
}

CEED_QFUNCTION(FlowStruct)(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  FlowContext *c = (FlowContext *)ctx;
  const CeedScalar *u = in[0], *du = in[1], *q = in[2], *w = in[3];
  CeedScalar *v = out[0], *dv = out[1];

  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    const FlowTensor k = flow_struct_tensor(c, q[i]);
    const CeedScalar p = pow(fabs(q[i]) + CeedScalar(0.5), CeedScalar(1.5));

    v[i] = w[i] * (c->reaction * p * u[i] + c->wind[0] * du[i] + c->wind[1] * du[i + Q]);
    dv[i + Q * 0] = w[i] * (k.xx * du[i] + k.xy * du[i + Q] + c->wind[0] * u[i]);
    dv[i + Q * 1] = w[i] * (k.xy * du[i] + k.yy * du[i + Q] + c->wind[1] * u[i]);
  }
  return 0;
}

#endif
