// SPDX-License-Identifier: BSD-2-Clause
// Contraction of one index of a three-way array with a matrix (ceed/backend.h). A pure
// computation on host arrays for programs that call it; the backends have their own. The standard's slice has
// no function that makes a CeedTensorContract, so the handle is not looked at and may be NULL.
#include "core/core.h"

int CeedTensorContractApply(CeedTensorContract contract, CeedInt A, CeedInt B, CeedInt C, CeedInt J,
                            const CeedScalar *CEED_RESTRICT t, CeedTransposeMode t_mode, const CeedInt Add,
                            const CeedScalar *CEED_RESTRICT u, CeedScalar *CEED_RESTRICT v) {
  (void)contract;
  RITZ_REQUIRE(A >= 0 && B >= 0 && C >= 0 && J >= 0, NULL, CEED_ERROR_DIMENSION,
               "%s: sizes A %" CeedInt_FMT ", B %" CeedInt_FMT ", C %" CeedInt_FMT ", J %" CeedInt_FMT
               " must not be negative",
               __func__, A, B, C, J);
  RITZ_REQUIRE(t_mode == CEED_NOTRANSPOSE || t_mode == CEED_TRANSPOSE, NULL, CEED_ERROR_INCOMPATIBLE,
               "%s: %d is no transpose mode", __func__, (int)t_mode);
  if (A == 0 || C == 0 || J == 0) return CEED_ERROR_SUCCESS;
  if (B > 0) {
    RITZ_HANDLE(t);
    RITZ_HANDLE(u);
  }
  RITZ_HANDLE(v);
  CeedSize stride_j = t_mode == CEED_TRANSPOSE ? 1 : B, stride_b = t_mode == CEED_TRANSPOSE ? J : 1;
  for (CeedSize a = 0; a < A; a++) {
    for (CeedSize j = 0; j < J; j++) {
      CeedScalar *out = v + (a * J + j) * C;
      for (CeedSize c = 0; c < C && !Add; c++) out[c] = 0;
      for (CeedSize b = 0; b < B; b++) {
        const CeedScalar *in = u + (a * B + b) * C;
        CeedScalar factor = t[j * stride_j + b * stride_b];
        for (CeedSize c = 0; c < C; c++) out[c] += factor * in[c];
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}
