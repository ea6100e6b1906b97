// SPDX-License-Identifier: BSD-2-Clause
// The QFunction of test-gpu-tables.c whose weight is a vector field. Compiled into the test and, at run time,
// for devices; valid as C, CUDA C++ and OpenCL C.
#ifndef RITZ_TESTS_TABLES_QFUNCTIONS_H
#define RITZ_TESTS_TABLES_QFUNCTIONS_H

#include <ceed/types.h>

// v = (b . b + (curl b)_z) u
// in: [0] u [Q]   [1] b [2][Q]   [2] curl b [Q]      out: [0] v [Q]
CEED_QFUNCTION(TablesWeighted)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar b0 = in[1][i], b1 = in[1][Q + i];

    out[0][i] = (b0 * b0 + b1 * b1 + in[2][i]) * in[0][i];
  }
  return CEED_ERROR_SUCCESS;
}

#endif
