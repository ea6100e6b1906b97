// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of test_ceed_qfunctions.py: compiled by it for the host, and by the library from this file.
#include <ceed.h>

#include "ceed-qfunctions-context.h"

// out = factor * in + shift, twice that if doubled
CEED_QFUNCTION(affine)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const Affine *a = (const Affine *)ctx;

  CeedPragmaSIMD for (CeedInt i = 0; i < Q; i++) {
    out[0][i] = (a->doubled ? 2 : 1) * (a->factor * in[0][i] + a->shift[0] + a->shift[1]);
  }
  return 0;
}

CEED_QFUNCTION(square)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  CeedPragmaSIMD for (CeedInt i = 0; i < Q; i++) out[0][i] = in[0][i] * in[0][i];
  return 0;
}
