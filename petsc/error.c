// SPDX-License-Identifier: BSD-2-Clause
// Errors of Ritz as errors of PETSc, with Ritz's message.
#include "petsc/petsc-objects.h"

static const char *message_of(Ceed ceed) {
  const char *message = NULL;

  if (!ceed || CeedGetErrorMessage(ceed, &message) || !message || !message[0])
    message = "no message was kept: contexts do with CeedSetErrorHandler(ceed, CeedErrorStore)";
  return message;
}

PetscErrorCode RitzPetscError(Ceed ceed, int code, int line, const char *function, const char *file) {
  if (!code) return 0;
  return PetscError(PETSC_COMM_SELF, line, function, file, PETSC_ERR_LIB, PETSC_ERROR_INITIAL,
                    "Ritz, code %d: %s", code, message_of(ceed));
}
