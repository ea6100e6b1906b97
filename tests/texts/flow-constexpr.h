// SPDX-License-Identifier: BSD-2-Clause
// The function of flow-c.h with constants and functions of the compiler's, references, `auto`, `static_cast`,
// `using`, `nullptr`, lambdas and checks at compile time.
#pragma once

#include <ceed/types.h>

constexpr CeedScalar flow_low = 0.1, flow_high = 0.75;
constexpr int flow_dim = 2;
using FlowScalar = CeedScalar;

struct FlowParameters {
  FlowScalar reaction, offset, wind[flow_dim];
};
static_assert(sizeof(FlowParameters) == 4 * sizeof(FlowScalar), "four numbers without gaps");

CEED_QFUNCTION_HELPER constexpr int flow_place(int row, int column) { return row * flow_dim + column; }

CEED_QFUNCTION_HELPER void flow_clip(FlowScalar &x) {
  x = x < flow_low ? flow_low : x > flow_high ? flow_high : x;
}

CEED_QFUNCTION(FlowConstexpr)(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const auto &c = *static_cast<const FlowParameters *>(ctx);
  const auto *u = in[0], *q = in[2], *w = in[3];
  auto *v = out[0];

  if (ctx == nullptr) return 1;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    const FlowScalar gradient[flow_dim]{in[1][i], in[1][i + Q]};
    FlowScalar k[flow_dim * flow_dim]{}, yy{q[i]};
    flow_clip(yy);
    k[flow_place(0, 0)] = sqrt(q[i] * q[i] + c.offset * c.offset);
    k[flow_place(0, 1)] = k[flow_place(1, 0)] = exp(-q[i] * q[i]) / 4;
    k[flow_place(1, 1)] = yy;
    const auto flux = [&](int a) {
      return k[flow_place(a, 0)] * gradient[0] + k[flow_place(a, 1)] * gradient[1];
    };
    v[i] = w[i] * (c.reaction * pow(fabs(q[i]) + FlowScalar(0.5), FlowScalar(1.5)) * u[i]);
    for (int a = 0; a < flow_dim; a++) {
      v[i] += w[i] * c.wind[a] * gradient[a];
      out[1][i + Q * a] = w[i] * (flux(a) + c.wind[a] * u[i]);
    }
  }
  return 0;
}
