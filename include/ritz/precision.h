// SPDX-License-Identifier: BSD-2-Clause
// Two precisions in one library. Vectors and operators are in the library's own precision (CeedGetScalarType:
// double, or float in a float build) unless they are made otherwise here. In a double build a program may
// hold some vectors in float (CEED_SCALAR_FP32: half the memory, half the traffic) and let some operators
// compute in float, a preconditioner's for example. A float build has float alone: CEED_SCALAR_FP64 is
// refused with CEED_ERROR_UNSUPPORTED, CEED_SCALAR_FP32 is its own precision.
//
// Standard functions work on vectors of both precisions (CeedVectorSetValue, SetValueStrided, Copy,
// CopyStrided, Norm, Scale, Filter, AXPY, AXPBY, PointwiseMult, Reciprocal, View, ViewRange, SyncArray); all
// vectors of a call have one precision, else CEED_ERROR_INCOMPATIBLE. Norms are summed up in double. What
// takes or hands out arrays of CeedScalar refuses vectors of another precision with CEED_ERROR_INCOMPATIBLE,
// and so do functions of restrictions, bases and QFunctions and solvers.
//
// Vectors of operators (active input and output, passive vectors) may have any precision, each its own: what
// operators read and write is converted on the way.
#ifndef RITZ_PRECISION_H
#define RITZ_PRECISION_H

#include <ceed.h>

// ---- Vectors ----

// A vector of `length` entries, to be destroyed with CeedVectorDestroy; with the library's own precision the
// same as CeedVectorCreate. Errors: those of CeedVectorCreate; CEED_ERROR_INCOMPATIBLE (no precision);
// CEED_ERROR_UNSUPPORTED (FP64 in a float build).
CEED_EXTERN int RitzVectorCreate(Ceed ceed, CeedSize length, CeedScalarType precision, CeedVector *vec);
// Precision of the entries of a vector.
CEED_EXTERN int RitzVectorGetPrecision(CeedVector vec, CeedScalarType *precision);

// to = from, rounded to nearest where `to` is the narrower one; beyond its range infinities. Vectors of any
// precisions; contexts may differ. Within the memory of a device the host sees nothing of it. Errors:
// CEED_ERROR_INCOMPATIBLE (lengths differ), those of the accesses.
CEED_EXTERN int RitzVectorConvert(CeedVector from, CeedVector to);

// The arrays of a float vector: the standard's functions of these names with float for CeedScalar, the same
// rules of access and ownership, the same errors. A vector of another precision: CEED_ERROR_INCOMPATIBLE. In
// a float build they are the standard's.
CEED_EXTERN int RitzVectorSetArrayF32(CeedVector vec, CeedMemType mem_type, CeedCopyMode copy_mode,
                                      float *array);
CEED_EXTERN int RitzVectorTakeArrayF32(CeedVector vec, CeedMemType mem_type, float **array);
CEED_EXTERN int RitzVectorGetArrayF32(CeedVector vec, CeedMemType mem_type, float **array);
CEED_EXTERN int RitzVectorGetArrayReadF32(CeedVector vec, CeedMemType mem_type, const float **array);
CEED_EXTERN int RitzVectorGetArrayWriteF32(CeedVector vec, CeedMemType mem_type, float **array);
CEED_EXTERN int RitzVectorRestoreArrayF32(CeedVector vec, float **array);
CEED_EXTERN int RitzVectorRestoreArrayReadF32(CeedVector vec, const float **array);

// ---- Operators ----

// The precision an operator computes in, whatever its vectors have: bases and QFunction. Of a composite: that
// of all its present sub-operators. CEED_ERROR_UNSUPPORTED: FP64 in a float build; CEED_ERROR_MAJOR: the
// operator is in use and cannot be changed (the precision that it has is accepted); nothing is changed then.
//
// Backends compute in float where they have a kernel for it; the others compute in the library's own
// precision between conversions, which is no error and as accurate: RitzOperatorExplain says what runs, and a
// generating backend tells it once (RITZ_WARNINGS; an error under RITZ_STRICT). The reference and checking
// backends, and /gpu/*/shared and ref, never compute in float. Between conversions an operator keeps a copy
// of each passive float vector, 8 bytes an entry, and takes work vectors for active ones while it is applied.
CEED_EXTERN int RitzOperatorSetPrecision(CeedOperator op, CeedScalarType precision);
// Of a composite that of its sub-operators, CEED_ERROR_INCOMPATIBLE when they differ; of an empty one the
// library's own.
CEED_EXTERN int RitzOperatorGetPrecision(CeedOperator op, CeedScalarType *precision);

// A new operator that does what op does with this precision of its arithmetic: restrictions, bases,
// QFunctions with their contexts and the assembled QFunction are shared; passive inputs are converted where
// they are, each once, however many fields and sub-operators it serves; those of this precision, and passive
// outputs, are shared. Of a composite: all sub-operators. What a float preconditioner of a double operator is
// made of. Later changes of passive vectors of op are not seen where they were converted. Owned by the
// caller. op counts as used from then on. CEED_ERROR_UNSUPPORTED: an operator at points, a precision that the
// build lacks; CEED_ERROR_BACKEND: a passive input without values; those of CeedOperatorCheckReady.
CEED_EXTERN int RitzOperatorCopyInPrecision(CeedOperator op, CeedScalarType precision, CeedOperator *copy);

#endif
