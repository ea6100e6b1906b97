// SPDX-License-Identifier: BSD-2-Clause
// The function of flow-c.h with templates, some of them in a header of the application's, which lies in a
// folder that the program has to name (app/).
#pragma once

#include <flow/tensor.h>

template <typename Scalar, int dim> struct FlowData { Scalar reaction, offset, wind[dim]; };

template <int dim>
CEED_QFUNCTION_HELPER int flow_apply(const FlowData<CeedScalar, dim> &c, CeedInt Q,
                                     const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *u = in[0], *q = in[2], *w = in[3];

  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    flow::Vector<CeedScalar, dim> gradient;
    for (int a = 0; a < dim; a++) gradient(a) = in[1][i + Q * a];
    const auto flux = flow::tensor<CeedScalar>(q[i], c.offset) * gradient;
    out[0][i] = w[i] * c.reaction * pow(fabs(q[i]) + CeedScalar(0.5), CeedScalar(1.5)) * u[i];
    for (int a = 0; a < dim; a++) {
      out[0][i] += w[i] * c.wind[a] * gradient(a);
      out[1][i + Q * a] = w[i] * (flux(a) + c.wind[a] * u[i]);
    }
  }
  return 0;
}

CEED_QFUNCTION(FlowTemplates)(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  return flow_apply<2>(*(const FlowData<CeedScalar, 2> *)ctx, Q, in, out);
}
