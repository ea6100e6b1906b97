// SPDX-License-Identifier: BSD-2-Clause
// The QFunction of tests/test-preconditioner.c: compiled into the program, and read as a text at run time.
#ifndef RITZ_TESTS_PRECONDITIONER_QFUNCTIONS_H
#define RITZ_TESTS_PRECONDITIONER_QFUNCTIONS_H

#include <ceed/types.h>

// Coupled components on a line: v_a = u_a, dv_a = sum over b of k_ab du_b, times w. Context: the number of
// components, a CeedInt.
// in: [0] u [num_comp][Q]   [1] du [num_comp][Q]   [2] k [num_comp^2][Q]   [3] w [Q]
// out: [0] v [num_comp][Q]  [1] dv [num_comp][Q]
CEED_QFUNCTION(CoupledLine)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedInt num_comp = *(const CeedInt *)ctx;

  for (CeedInt i = 0; i < Q; i++) {
    for (CeedInt a = 0; a < num_comp; a++) {
      CeedScalar sum = 0;
      for (CeedInt b = 0; b < num_comp; b++) sum += in[2][(a * num_comp + b) * Q + i] * in[1][b * Q + i];
      out[0][a * Q + i] = in[3][i] * in[0][a * Q + i];
      out[1][a * Q + i] = in[3][i] * sum;
    }
  }
  return CEED_ERROR_SUCCESS;
}

#endif
