// SPDX-License-Identifier: BSD-2-Clause
// What the Ceed API offers to programs that use HIP themselves. Compiles without ROCm: the handle type is
// then declared here as HIP's header declares it.
#ifndef CEED_HIP_H
#define CEED_HIP_H

#include <ceed.h>

#ifdef __has_include
#if __has_include(<hip/hip_runtime.h>)
#include <hip/hip_runtime.h>
#define CEED_HIP_HEADER_FOUND
#endif
#endif
#ifndef CEED_HIP_HEADER_FOUND
typedef struct ihipModuleSymbol_t *hipFunction_t;
#endif
#undef CEED_HIP_HEADER_FOUND

// Gives the QFunction a kernel that the caller compiled, used instead of compiling its source by resources
// that support this, and ignored by all others. f is borrowed: its module stays loaded as long as qf lives.
CEED_EXTERN int CeedQFunctionSetHIPUserFunction(CeedQFunction qf, hipFunction_t f);

#endif
