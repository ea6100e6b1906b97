// SPDX-License-Identifier: BSD-2-Clause
// Functions of <math.h> that glibc has for vectors, too (libmvec: at most 4 units in the last place off,
// special values as those of single numbers). <math.h> tells compilers so under -ffast-math alone; told here,
// a loop over points that calls them becomes vector instructions. Included by kernel.h before the user's
// text, for gcc; clang is told by a flag (jit/compiler.c). RITZ_SCALAR_MATH (RITZ_VECTOR_MATH=off), or
// another C library: nothing.
#ifndef RITZ_KERNELS_CPU_VECTOR_MATH_H
#define RITZ_KERNELS_CPU_VECTOR_MATH_H

#include <math.h>

#if defined(__GLIBC__) && defined(__has_attribute) && !defined(RITZ_SCALAR_MATH)
#if __has_attribute(simd)

// Which of the functions below glibc has, and whether all of them keep the sign of -0. Those for SVE (gcc 15)
// are left out: under QEMU some of glibc 2.41 had wrong values.
#if defined(__x86_64__)
#define RITZ_MATH_HAS_FIRST   __GLIBC_PREREQ(2, 22)
#define RITZ_MATH_HAS_OTHERS  __GLIBC_PREREQ(2, 35)
#define RITZ_MATH_KEEPS_ZEROS 1
#elif defined(__aarch64__) && !defined(__ARM_FEATURE_SVE)
#define RITZ_MATH_HAS_FIRST   __GLIBC_PREREQ(2, 40)
#define RITZ_MATH_HAS_OTHERS  __GLIBC_PREREQ(2, 40)
#define RITZ_MATH_KEEPS_ZEROS 0
#else
#define RITZ_MATH_HAS_FIRST   0
#define RITZ_MATH_HAS_OTHERS  0
#define RITZ_MATH_KEEPS_ZEROS 0
#endif

#define RITZ_MATH_FOR_VECTORS __THROW __attribute__((simd("notinbranch")))
#define RITZ_MATH_OF_ONE(name)                                                                               \
  extern double name(double) RITZ_MATH_FOR_VECTORS;                                                          \
  extern float name##f(float) RITZ_MATH_FOR_VECTORS;
#define RITZ_MATH_OF_TWO(name)                                                                               \
  extern double name(double, double) RITZ_MATH_FOR_VECTORS;                                                  \
  extern float name##f(float, float) RITZ_MATH_FOR_VECTORS;

#ifdef __cplusplus
extern "C" {
#endif
#if RITZ_MATH_HAS_FIRST
RITZ_MATH_OF_ONE(exp)
RITZ_MATH_OF_ONE(log)
RITZ_MATH_OF_TWO(pow)
#endif
#if RITZ_MATH_HAS_OTHERS
RITZ_MATH_OF_ONE(acos)
RITZ_MATH_OF_ONE(acosh)
RITZ_MATH_OF_ONE(asin)
RITZ_MATH_OF_ONE(asinh)
RITZ_MATH_OF_ONE(atanh)
RITZ_MATH_OF_ONE(cbrt)
RITZ_MATH_OF_ONE(cosh)
RITZ_MATH_OF_ONE(erf)
RITZ_MATH_OF_ONE(erfc)
RITZ_MATH_OF_ONE(exp2)
RITZ_MATH_OF_ONE(log10)
RITZ_MATH_OF_ONE(log2)
RITZ_MATH_OF_ONE(sinh)
RITZ_MATH_OF_TWO(atan2)
RITZ_MATH_OF_TWO(hypot)
#ifdef __USE_GNU // else <math.h> leaves the name to programs
RITZ_MATH_OF_ONE(exp10)
#endif
#endif
#if RITZ_MATH_HAS_FIRST && !RITZ_MATH_KEEPS_ZEROS
RITZ_MATH_OF_ONE(cos)
#elif RITZ_MATH_HAS_FIRST
RITZ_MATH_OF_ONE(sin)
// Of sin and cos of the same number gcc makes one call, which has no form for vectors. It knows nothing of
// this cos, but folds those of constants before it comes here.
extern double __NTH(ritz_cos(double)) __asm__("cos") __attribute__((simd("notinbranch"), const));
extern float __NTH(ritz_cosf(float)) __asm__("cosf") __attribute__((simd("notinbranch"), const));
extern inline __attribute__((gnu_inline)) double __NTH(cos(double x)) { return ritz_cos(x); }
extern inline __attribute__((gnu_inline)) float __NTH(cosf(float x)) { return ritz_cosf(x); }
#endif
#if RITZ_MATH_HAS_OTHERS && RITZ_MATH_KEEPS_ZEROS
RITZ_MATH_OF_ONE(atan)
RITZ_MATH_OF_ONE(expm1)
RITZ_MATH_OF_ONE(log1p)
RITZ_MATH_OF_ONE(tan)
RITZ_MATH_OF_ONE(tanh)
#endif
#ifdef __cplusplus
}
#endif

#undef RITZ_MATH_OF_ONE
#undef RITZ_MATH_OF_TWO
#undef RITZ_MATH_FOR_VECTORS
#undef RITZ_MATH_HAS_FIRST
#undef RITZ_MATH_HAS_OTHERS
#undef RITZ_MATH_KEEPS_ZEROS

#endif
#endif

#endif
