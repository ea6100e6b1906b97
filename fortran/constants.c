// SPDX-License-Identifier: BSD-2-Clause
// What the module of Fortran cannot read for itself: compilers of Fortran define variables with bind(c) anew,
// so that those of the library are out of reach. Called by fortran/ritz.f90.in; compiled into
// libritz-fortran, or by the user beside the module.
#include <ceed.h>
#include <stdio.h>

void *ritz_fortran_constant(int index);
FILE *ritz_fortran_standard_output(void);

void *ritz_fortran_constant(int index) {
  void *const constants[] = {
      CEED_REQUEST_IMMEDIATE,    CEED_REQUEST_ORDERED, CEED_VECTOR_ACTIVE,  CEED_VECTOR_NONE,
      CEED_ELEMRESTRICTION_NONE, CEED_BASIS_NONE,      CEED_QFUNCTION_NONE,
  };

  return constants[index];
}

FILE *ritz_fortran_standard_output(void) { return stdout; }
