// SPDX-License-Identifier: BSD-2-Clause
// A call of the user's function through its pointer.
#include "backends/ref/ref.h"

int ritz_ref_qfunction_call(CeedQFunction qf, void *ctx, CeedInt Q, const CeedScalar *const *in,
                            CeedScalar *const *out) {
  RITZ_TRY_BACKEND(qf->f(ctx, Q, in, out));
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_qfunction_apply(CeedQFunction qf, CeedInt Q, const CeedScalar *const *in,
                             CeedScalar *const *out) {
  void *ctx;
  RITZ_TRY(ritz_qfunction_need_pointer(qf));
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(qf, CEED_MEM_HOST, &ctx));
  int ierr = qf->obj.ceed->backend.qfunction_call(qf, ctx, Q, in, out);
  int restored = ritz_qfunction_restore_context_data(qf, &ctx);
  RITZ_TRY_BACKEND(ierr ? ierr : restored);
  return CEED_ERROR_SUCCESS;
}
