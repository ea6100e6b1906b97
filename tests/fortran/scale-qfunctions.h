// SPDX-License-Identifier: BSD-2-Clause
// The QFunctions of tests/fortran/checks.f90 as texts: generated kernels and devices compile these.
#include <ceed/types.h>

// v = 3 w u. in: [0] u [Q]   [1] w [Q]      out: [0] v [Q]
CEED_QFUNCTION(thrice)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) out[0][i] = 3 * in[1][i] * in[0][i];
  return CEED_ERROR_SUCCESS;
}

typedef struct {
  CeedScalar factor;
} Factor;

// The same with a factor of the context.
CEED_QFUNCTION(scale_by)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const Factor *const factor = (const Factor *)ctx;

  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) out[0][i] = factor->factor * in[1][i] * in[0][i];
  return CEED_ERROR_SUCCESS;
}
