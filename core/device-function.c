// SPDX-License-Identifier: BSD-2-Clause
// Precompiled device kernels for QFunctions: the standard has backends ignore what they cannot use, and none
// uses them.
#include <ceed/cuda.h>
#include <ceed/hip.h>

#include "core/core.h"

int CeedQFunctionSetCUDAUserFunction(CeedQFunction qf, CUfunction f) {
  RITZ_HANDLE(qf);
  (void)f;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionSetHIPUserFunction(CeedQFunction qf, hipFunction_t f) {
  RITZ_HANDLE(qf);
  (void)f;
  return CEED_ERROR_SUCCESS;
}
