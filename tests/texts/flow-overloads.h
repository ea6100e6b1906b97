// SPDX-License-Identifier: BSD-2-Clause
// The function of flow-c.h with overloads, default arguments, a namespace of helpers, and the mathematics of
// std.
#ifndef RITZ_TESTS_TEXTS_FLOW_OVERLOADS_H
#define RITZ_TESTS_TEXTS_FLOW_OVERLOADS_H

#include <algorithm>
#include <ceed.h>
#include <cmath>

namespace flow {

struct Wind {
  CeedScalar x, y;
};

class Context {
public:
  CeedScalar reaction, offset;
  Wind wind;
};

CEED_QFUNCTION_HELPER CeedScalar dot(const Wind &a, CeedScalar x, CeedScalar y) { return a.x * x + a.y * y; }
CEED_QFUNCTION_HELPER CeedScalar dot(CeedScalar a, CeedScalar b, CeedScalar x, CeedScalar y) {
  return dot(Wind{a, b}, x, y);
}
CEED_QFUNCTION_HELPER CeedScalar clip(CeedScalar x, CeedScalar low = CeedScalar(0.1),
                                      CeedScalar high = CeedScalar(0.75)) {
  return std::min(std::max(x, low), high);
}
CEED_QFUNCTION_HELPER CeedScalar square(CeedScalar x) { return x * x; }
CEED_QFUNCTION_HELPER int square(int x) { return x * x; }

} // namespace flow

CEED_QFUNCTION(FlowOverloads)(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  using namespace flow;
  const Context *c = reinterpret_cast<const Context *>(ctx);
  const CeedScalar *u = in[0], *ux = in[1], *uy = in[1] + Q, *q = in[2], *w = in[3];

  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar s = std::sqrt(square(q[i]) + square(c->offset)), t = std::exp(-square(q[i])) / square(2);
    const CeedScalar p = std::pow(std::fabs(q[i]) + CeedScalar(0.5), CeedScalar(1.5));

    out[0][i] = w[i] * (c->reaction * p * u[i] + dot(c->wind, ux[i], uy[i]));
    out[1][i] = w[i] * (dot(s, t, ux[i], uy[i]) + c->wind.x * u[i]);
    out[1][i + Q] = w[i] * (dot(t, clip(q[i]), ux[i], uy[i]) + c->wind.y * u[i]);
  }
  return 0;
}

#endif
