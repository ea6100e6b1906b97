// SPDX-License-Identifier: BSD-2-Clause
// The QFunction of fault-program.c. A source that devices compile at run time, so it is C and C++ and needs
// no system header.
#ifndef RITZ_TESTS_FAULT_QFUNCTIONS_H
#define RITZ_TESTS_FAULT_QFUNCTIONS_H

#include <ceed/types.h>

typedef struct {
  double factor;
  CeedInt number; // scalars of du
  CeedInt8 flag;  // a bool, which devices need not have
} FaultContext;

// v = factor qd u, dv = factor qd du.
// in: [0] u [Q]   [1] du [number][Q]   [2] qd [Q]      out: [0] v   [1] dv, like u and du
CEED_QFUNCTION(FaultMassDiffusion)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const FaultContext *const c = (const FaultContext *)ctx;
  const CeedScalar factor = (CeedScalar)c->factor;

  for (CeedInt i = 0; i < Q; i++) {
    out[0][i] = factor * in[2][i] * in[0][i];
    for (CeedInt d = 0; d < c->number; d++) out[1][d * Q + i] = factor * in[2][i] * in[1][d * Q + i];
  }
  return CEED_ERROR_SUCCESS;
}

#endif
