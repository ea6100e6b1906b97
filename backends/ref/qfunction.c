// SPDX-License-Identifier: BSD-2-Clause
// A call of the user's function through its pointer.
#include "backends/ref/ref.h"

int ritz_ref_qfunction_apply(CeedQFunction qf, CeedInt Q, const CeedScalar *const *in,
                             CeedScalar *const *out) {
  void *data;
  RITZ_REQUIRE(qf->f, qf->obj.ceed, CEED_ERROR_BACKEND, "QFunction '%s' has no function pointer for the host",
               qf->kernel_name);
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(qf, CEED_MEM_HOST, &data));
  int ierr = qf->f(data, Q, in, out);
  int restored = ritz_qfunction_restore_context_data(qf, &data);
  RITZ_TRY_BACKEND(ierr ? ierr : restored);
  return CEED_ERROR_SUCCESS;
}
