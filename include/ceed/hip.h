// SPDX-License-Identifier: BSD-2-Clause
// What the Ceed API offers to programs that use HIP themselves. HIP's header is for programs that have chosen
// a platform (hipcc, -D__HIP_PLATFORM_AMD__ or -D__HIP_PLATFORM_NVIDIA__). Without that choice, without ROCm,
// or where RITZ_NO_TOOLKIT_HEADERS is defined the handle type is declared here, as HIP declares it for AMD.
#ifndef CEED_HIP_H
#define CEED_HIP_H

#include <ceed.h>

#if defined(__HIP__) || defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__) ||                    \
    defined(__HIP_PLATFORM_NVIDIA__) || defined(__HIP_PLATFORM_NVCC__)
#define CEED_HIP_PLATFORM_CHOSEN
#endif
#if defined(CEED_HIP_PLATFORM_CHOSEN) && defined(__has_include) && !defined(RITZ_NO_TOOLKIT_HEADERS)
#if __has_include(<hip/hip_runtime.h>)
#include <hip/hip_runtime.h>
#define CEED_HIP_HEADER_FOUND
#endif
#endif
#ifndef CEED_HIP_HEADER_FOUND
typedef struct ihipModuleSymbol_t *hipFunction_t;
#endif
#undef CEED_HIP_PLATFORM_CHOSEN
#undef CEED_HIP_HEADER_FOUND

// Gives the QFunction a kernel that the caller compiled, used instead of compiling its source by resources
// that support this, and ignored by all others. f is borrowed: its module stays loaded as long as qf lives.
CEED_EXTERN int CeedQFunctionSetHIPUserFunction(CeedQFunction qf, hipFunction_t f);

#endif
