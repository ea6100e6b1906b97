// SPDX-License-Identifier: BSD-2-Clause
// Types, enums and QFunction macros of the Ceed API: all that a QFunction source file needs. Included by
// ceed/ceed.h, by QFunction sources and by run-time compilers. The macros below may be predefined by such a
// compiler; each is defined here only if it is not defined yet. Functions are declared in ceed/ceed.h.
//
// Bindings read this header and ceed/ceed.h with parsers that drop all lines with a '#' in front. So a macro
// is one line, no declaration depends on a condition, and inline functions come last (tools/check-cffi).
#ifndef CEED_QFUNCTION_DEFS_H
#define CEED_QFUNCTION_DEFS_H

// A run-time compiler has no system headers.
#ifndef CEED_RUNNING_JIT_PASS
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

// ---- Linkage ----------------------------------------------------------------------------------------------

// Symbol visibility (default, hidden, ...) where the compiler knows it.
#if defined(CEED_SKIP_VISIBILITY) || !defined(__GNUC__)
#define CEED_VISIBILITY(mode)
#else
#define CEED_VISIBILITY(mode) __attribute__((visibility(#mode)))
#endif

// Prefix of every public declaration.
#if defined(__clang_analyzer__)
#define CEED_EXTERN extern
#elif defined(__cplusplus)
#define CEED_EXTERN extern "C" CEED_VISIBILITY(default)
#else
#define CEED_EXTERN extern CEED_VISIBILITY(default)
#endif

// ---- Macros of QFunction sources --------------------------------------------------------------------------

// Attributes that ask the compiler to inline everything a QFunction calls; empty when inlining is off.
#ifndef CEED_QFUNCTION_ATTR
#if defined(__INTEL_COMPILER) || defined(__INTEL_LLVM_COMPILER)
#define CEED_QFUNCTION_ATTR        _Pragma("forceinline")
#define CEED_QFUNCTION_HELPER_ATTR CEED_QFUNCTION_ATTR
#elif (defined(__GNUC__) || defined(__clang__)) && !defined(__NO_INLINE__)
#define CEED_QFUNCTION_ATTR        __attribute__((flatten))
#define CEED_QFUNCTION_HELPER_ATTR CEED_QFUNCTION_ATTR __attribute__((always_inline))
#else
#define CEED_QFUNCTION_ATTR
#define CEED_QFUNCTION_HELPER_ATTR
#endif
#endif

// Starts the definition of a QFunction:
//   CEED_QFUNCTION(f)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {...}
// and defines the string f_loc = "<this file>:f". An application passes f and f_loc to
// CeedQFunctionCreateInterior. There is no f_loc in a JIT pass. A compiler that is given a relative path
// calls this file by it: -DRITZ_SOURCE_DIR='"FOLDER"' names the folder that it runs in.
#ifndef CEED_QFUNCTION
#ifdef CEED_RUNNING_JIT_PASS
#define CEED_QFUNCTION(name) CEED_QFUNCTION_ATTR static int name
#else
// clang-format off
#ifdef RITZ_SOURCE_DIR
#define CEED_QFUNCTION(name) static const char name##_loc[] = RITZ_SOURCE_DIR "//" __FILE__ ":" #name; CEED_QFUNCTION_ATTR static int name
#else
#define CEED_QFUNCTION(name) static const char name##_loc[] = __FILE__ ":" #name; CEED_QFUNCTION_ATTR static int name
#endif
// clang-format on
#endif
#endif

// Prefix of a function called by QFunctions.
#ifndef CEED_QFUNCTION_HELPER
#define CEED_QFUNCTION_HELPER CEED_QFUNCTION_HELPER_ATTR static inline
#endif

// Defines the QFunction `name` (and name_loc) as a call of name_rs, a function with C linkage that is written
// in Rust and linked by the application.
#ifndef CEED_QFUNCTION_RUST
// clang-format off
#define CEED_QFUNCTION_ARGUMENTS void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out
#define CEED_QFUNCTION_RUST(name) CEED_EXTERN int name##_rs(CEED_QFUNCTION_ARGUMENTS); CEED_QFUNCTION(name)(CEED_QFUNCTION_ARGUMENTS) { return name##_rs(ctx, Q, in, out); }
// clang-format on
#endif

// Last bound of the array types to which field pointers are cast: (const CeedScalar(*)[CEED_Q_VLA])in[0].
// The run-time argument Q on the host, the constant 1 on a GPU.
#ifndef CEED_Q_VLA
#define CEED_Q_VLA Q
#endif

// Stands before a loop over points: its iterations are independent of each other.
#ifndef CeedPragmaSIMD
#if defined(__INTEL_COMPILER)
#define CeedPragmaSIMD _Pragma("vector")
#elif defined(__GNUC__) && __GNUC__ >= 5
#define CeedPragmaSIMD _Pragma("GCC ivdep")
#elif defined(__clang__)
#define CeedPragmaSIMD _Pragma("clang loop vectorize(enable)")
#elif defined(_OPENMP) && _OPENMP >= 201307
#define CeedPragmaSIMD _Pragma("omp simd")
#else
#define CeedPragmaSIMD
#endif
#endif

// ---- Integers and scalars ---------------------------------------------------------------------------------

// CeedInt: counts of one kind of thing and offsets into L-vectors. CeedSize: lengths of vectors; products of
// counts are computed in it. CeedInt8: entries of curl orientations. The FMT macros hold the conversion
// letters alone: printf("%" CeedInt_FMT, n). A run-time compiler has not the names of stdint.h and stddef.h.
#ifdef CEED_RUNNING_JIT_PASS
#define int32_t int
#ifdef __PTRDIFF_TYPE__
#define ptrdiff_t __PTRDIFF_TYPE__
#else
#define ptrdiff_t long long
#endif
#endif
typedef int32_t CeedInt;
typedef ptrdiff_t CeedSize;
#ifdef CEED_RUNNING_JIT_PASS
#undef int32_t
#undef ptrdiff_t
#endif
typedef signed char CeedInt8;

#define CeedInt_FMT  "d"
#define CeedSize_FMT "td"
#define CeedInt8_FMT "d"

// Precision of CeedScalar.
typedef enum {
  CEED_SCALAR_FP32 = 0, // float
  CEED_SCALAR_FP64 = 1, // double
} CeedScalarType;

// The one place that chooses the precision, for the library and for its clients: double, unless
// RITZ_SCALAR_F32 is defined. Installing a single precision build turns the next line into a #define.
/* #undef RITZ_SCALAR_F32 */
#if defined(RITZ_SCALAR_F32) || defined(CEED_SCALAR_IS_FP32)
#include "ceed-f32.h"
#else
#include "ceed-f64.h"
#endif

// ---- Enums ------------------------------------------------------------------------------------------------

// What every function returns. Positive: the call was refused and the object is as it was. Negative: the
// object may be unusable. Texts: CeedErrorTypes[code]. The message, which names the call, what was found and
// what was needed, says more than the code: CeedGetErrorMessage, where the handler keeps it (CeedErrorStore).
typedef enum {
  CEED_ERROR_SUCCESS = 0, // done
  // A small mistake without a code of its own. Do: correct the argument that the message names.
  CEED_ERROR_MINOR = 1,
  // Sizes do not match, or are out of range. Do: compare both sizes in the message with those of the objects
  // (views print them); lengths of L-vectors are those that restrictions were created with.
  CEED_ERROR_DIMENSION = 2,
  // The object is not set up yet. Do: make the call that is missing before this one, most often a field
  // (CeedOperatorSetField), an operator or a factorization; CeedOperatorCheckReady names what an operator
  // lacks.
  CEED_ERROR_INCOMPLETE = 3,
  // Arguments do not fit together, are no object of the right type, or NULL where something has to be. Do:
  // look for an object of another context or another basis, a destroyed one, a field name that the QFunction
  // lacks.
  CEED_ERROR_INCOMPATIBLE = 4,
  // The data is lent out. Do: give back what CeedVectorGetArray, CeedVectorGetArrayRead or
  // CeedQFunctionContextGetData have handed out (Restore..) before this call.
  CEED_ERROR_ACCESS = 5,
  // A failure without a code of its own: no memory, a file that cannot be read, a resource that there is not.
  // Do: read the message; of CeedInit, compare the name with `ritz info`.
  CEED_ERROR_MAJOR = -1,
  // A failure inside a backend or a larger action: a compiler, a driver, what a positive code says elsewhere,
  // or, with RITZ_STRICT=1, a slower path. Do: read the message; RITZ_DUMP=FOLDER keeps text and messages of
  // a kernel that does not compile; outputs of the action have no values until they are written again.
  CEED_ERROR_BACKEND = -2,
  // This backend, build or machine cannot do this. Do: take what the message offers instead, or another
  // resource; `ritz info` lists the usable ones and why others are not.
  CEED_ERROR_UNSUPPORTED = -3,
} CeedErrorType;

// Where an array lies. Texts: CeedMemTypes.
typedef enum {
  CEED_MEM_HOST = 0,
  CEED_MEM_DEVICE = 1,
} CeedMemType;

// What becomes of an array that is handed to the library. Texts: CeedCopyModes.
typedef enum {
  CEED_COPY_VALUES = 0, // read during the call; the pointer is not kept
  CEED_USE_POINTER = 1, // borrowed: read and written in place; the caller keeps it alive and frees it
  CEED_OWN_POINTER = 2, // given away: the library frees it (host: free(); device: the device's allocator)
} CeedCopyMode;

typedef enum {
  CEED_NORM_1 = 0,   // sum of absolute values
  CEED_NORM_2 = 1,   // square root of the sum of squares
  CEED_NORM_MAX = 2, // largest absolute value
} CeedNormType;

// Direction in which a linear map is applied. Texts: CeedTransposeModes.
typedef enum {
  CEED_NOTRANSPOSE = 0,
  CEED_TRANSPOSE = 1,
} CeedTransposeMode;

// What a basis evaluates. Texts: CeedEvalModes, an array of length 17 with NULL where there is no mode.
typedef enum {
  CEED_EVAL_NONE = 0,    // the data is passed as it is
  CEED_EVAL_INTERP = 1,  // values
  CEED_EVAL_GRAD = 2,    // derivatives along the reference axes
  CEED_EVAL_DIV = 4,     // divergence on the reference element
  CEED_EVAL_CURL = 8,    // curl on the reference element
  CEED_EVAL_WEIGHT = 16, // quadrature weights of the reference element
} CeedEvalMode;

// Quadrature rule of a Lagrange basis. Texts: CeedQuadModes.
typedef enum {
  CEED_GAUSS = 0,
  CEED_GAUSS_LOBATTO = 1,
} CeedQuadMode;

// Shape of the reference element; the topological dimension is the value >> 16. Texts: CeedElemTopologies,
// indexed by the value itself.
typedef enum {
  CEED_TOPOLOGY_LINE = 1 << 16 | 0,
  CEED_TOPOLOGY_TRIANGLE = 2 << 16 | 1,
  CEED_TOPOLOGY_QUAD = 2 << 16 | 2,
  CEED_TOPOLOGY_TET = 3 << 16 | 3,
  CEED_TOPOLOGY_PYRAMID = 3 << 16 | 4,
  CEED_TOPOLOGY_PRISM = 3 << 16 | 5,
  CEED_TOPOLOGY_HEX = 3 << 16 | 6,
} CeedElemTopology;

// Type of a registered field of a QFunction context. Texts: CeedContextFieldTypes.
typedef enum {
  CEED_CONTEXT_FIELD_DOUBLE = 1, // C double, whatever CeedScalar is
  CEED_CONTEXT_FIELD_INT32 = 2,
  CEED_CONTEXT_FIELD_BOOL = 3,
} CeedContextFieldType;

#endif
