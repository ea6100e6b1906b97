// SPDX-License-Identifier: BSD-2-Clause
// Scalars of a single precision build. Included by ceed/types.h alone, which chooses the precision.
#ifndef CEED_F32_H
#define CEED_F32_H

#ifndef CEED_SCALAR_IS_FP32
#define CEED_SCALAR_IS_FP32
#endif

typedef float CeedScalar;

// The value of CeedGetScalarType() in such a build: an enumerator, not usable in #if (use the flag above).
#define CEED_SCALAR_TYPE CEED_SCALAR_FP32

// Unit in which tolerances are stated: about the rounding error of one operation.
#define CEED_EPSILON 6e-08

#endif
