// SPDX-License-Identifier: BSD-2-Clause
// What the Ceed API offers to programs that use the CUDA driver themselves. Compiles without the CUDA
// toolkit, and without a look at it where RITZ_NO_TOOLKIT_HEADERS is defined: the handle type is then
// declared here as the driver's header declares it.
#ifndef CEED_CUDA_H
#define CEED_CUDA_H

#include <ceed.h>

#if defined(__has_include) && !defined(RITZ_NO_TOOLKIT_HEADERS)
#if __has_include(<cuda.h>)
#include <cuda.h>
#endif
#endif
#ifndef CUDA_VERSION // of the driver's header
typedef struct CUfunc_st *CUfunction;
#endif

// Gives the QFunction a kernel that the caller compiled, used instead of compiling its source by resources
// that support this, and ignored by all others. f is borrowed: its module stays loaded as long as qf lives.
CEED_EXTERN int CeedQFunctionSetCUDAUserFunction(CeedQFunction qf, CUfunction f);

#endif
