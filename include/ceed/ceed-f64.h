// SPDX-License-Identifier: BSD-2-Clause
// Scalars of a double precision build. Included by ceed/types.h alone, which chooses the precision.
#ifndef CEED_F64_H
#define CEED_F64_H

#ifndef CEED_SCALAR_IS_FP64
#define CEED_SCALAR_IS_FP64
#endif

typedef double CeedScalar;

// The value of CeedGetScalarType() in such a build: an enumerator, not usable in #if (use the flag above).
#define CEED_SCALAR_TYPE CEED_SCALAR_FP64

// Unit in which tolerances are stated: about the rounding error of one operation.
#define CEED_EPSILON 1e-16

#endif
