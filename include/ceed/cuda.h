// SPDX-License-Identifier: BSD-2-Clause
// What the Ceed API offers to programs that use the CUDA driver themselves. Compiles without the CUDA
// toolkit: the handle type is then declared here as the driver's header declares it.
#ifndef CEED_CUDA_H
#define CEED_CUDA_H

#include <ceed.h>

#ifdef __has_include
#if __has_include(<cuda.h>)
#include <cuda.h>
#define CEED_CUDA_HEADER_FOUND
#endif
#endif
#ifndef CEED_CUDA_HEADER_FOUND
typedef struct CUfunc_st *CUfunction;
#endif
#undef CEED_CUDA_HEADER_FOUND

// Gives the QFunction a kernel that the caller compiled, used instead of compiling its source by resources
// that support this, and ignored by all others. f is borrowed: its module stays loaded as long as qf lives.
CEED_EXTERN int CeedQFunctionSetCUDAUserFunction(CeedQFunction qf, CUfunction f);

#endif
