// SPDX-License-Identifier: BSD-2-Clause
// Numbers with a derivative, v + d e where e e = 0: what CeedScalar is in the text of a QFunction whose
// derivative is computed (core/derivative-text.c writes what stands around it). C++, for the compilers of
// hosts and NVRTC; includes nothing that the latter has not. Every operation computes the value as C does,
// and beside it the derivative by the chain rule (forward-mode automatic differentiation; A. Griewank, A.
// Walther, Evaluating Derivatives, 2nd ed., SIAM 2008, section 3.1). Conditions look at values alone.
//
// A pair is made of a real number, with derivative 0, and never becomes one again: that would lose the
// derivative, so compilers refuse it. It becomes an integer by a cast, whose derivative is 0 almost
// everywhere.
#ifndef RITZ_DUAL_H
#define RITZ_DUAL_H

#ifndef __cplusplus
#error "derivatives of QFunctions are made by a C++ compiler"
#endif

#ifdef __CUDACC__
#define RITZ_DUAL_MEMBER     __device__ __forceinline__
#define RITZ_DUAL_FUNCTION   static __device__ __forceinline__
#define RITZ_DUAL_IS_ZERO(d) false // NVRTC does not tell
#define RITZ_DUAL_LOOP
#define RITZ_DUAL_UNROLL _Pragma("unroll")
#else
// What devices have without #include.
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <math.h>
#ifdef RITZ_HASTY
#define RITZ_DUAL_MEMBER inline
#else
#define RITZ_DUAL_MEMBER inline __attribute__((always_inline))
#endif
#define RITZ_DUAL_FUNCTION   static RITZ_DUAL_MEMBER __attribute__((unused))
#define RITZ_DUAL_IS_ZERO(d) (__builtin_constant_p(d) && (d) == 0)
// Points become lanes of vectors when all loops within one of them are unrolled.
#define RITZ_DUAL_LOOP       _Pragma("omp simd reduction(| : code)")
#ifdef __clang__
#define RITZ_DUAL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RITZ_DUAL_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

typedef CeedScalar RitzDualReal;

struct RitzDual {
  RitzDualReal v, d;

  RitzDual() = default;
  constexpr RITZ_DUAL_MEMBER RitzDual(RitzDualReal value) : v(value), d(0) {}
  constexpr RITZ_DUAL_MEMBER RitzDual(RitzDualReal value, RitzDualReal derivative)
      : v(value), d(derivative) {}

  explicit RITZ_DUAL_MEMBER operator bool() const { return v != 0; }
  explicit RITZ_DUAL_MEMBER operator signed char() const { return (signed char)v; }
  explicit RITZ_DUAL_MEMBER operator int() const { return (int)v; }
  explicit RITZ_DUAL_MEMBER operator unsigned() const { return (unsigned)v; }
  explicit RITZ_DUAL_MEMBER operator long() const { return (long)v; }
  explicit RITZ_DUAL_MEMBER operator unsigned long() const { return (unsigned long)v; }
  explicit RITZ_DUAL_MEMBER operator long long() const { return (long long)v; }
  explicit RITZ_DUAL_MEMBER operator unsigned long long() const { return (unsigned long long)v; }
  explicit operator float() const = delete;       // the derivative would be lost
  explicit operator double() const = delete;      // the derivative would be lost
  explicit operator long double() const = delete; // the derivative would be lost
};

// ---- Pointers that are cast ----

template <class T> struct RitzDualIn { static constexpr bool is_pair = false; };
template <> struct RitzDualIn<RitzDual> { static constexpr bool is_pair = true; };
template <class T> struct RitzDualIn<const T> : RitzDualIn<T> {};
template <class T, unsigned long n> struct RitzDualIn<T[n]> : RitzDualIn<T> {};
template <class T, unsigned long n> struct RitzDualIn<const T[n]> : RitzDualIn<T> {};

// What becomes a pointer to pairs, and what becomes one to anything else.
template <class T> RITZ_DUAL_FUNCTION T *ritz_dual_pairs(T *p) {
  static_assert(RitzDualIn<T>::is_pair,
                "a pointer to CeedScalar is made of what are no CeedScalars here, as in a context");
  return p;
}
template <class T> RITZ_DUAL_FUNCTION T *ritz_dual_bytes(T *p) {
  static_assert(!RitzDualIn<T>::is_pair, "a pointer to CeedScalars becomes one to something else");
  return p;
}

// ---- Arithmetic ----

// d v and a + b of derivatives. That of a number that does not move is the constant 0, which compilers know
// when all is in one place: then it costs nothing, though 0 v is not 0 for all v.
RITZ_DUAL_FUNCTION RitzDualReal ritz_dual_times(RitzDualReal d, RitzDualReal v) {
  return RITZ_DUAL_IS_ZERO(d) ? 0 : d * v;
}
RITZ_DUAL_FUNCTION RitzDualReal ritz_dual_plus(RitzDualReal a, RitzDualReal b) {
  return RITZ_DUAL_IS_ZERO(a) ? b : RITZ_DUAL_IS_ZERO(b) ? a : a + b;
}

RITZ_DUAL_FUNCTION RitzDual operator+(RitzDual a) { return a; }
RITZ_DUAL_FUNCTION RitzDual operator-(RitzDual a) { return RitzDual(-a.v, -a.d); }

RITZ_DUAL_FUNCTION RitzDual operator+(RitzDual a, RitzDual b) {
  return RitzDual(a.v + b.v, ritz_dual_plus(a.d, b.d));
}
RITZ_DUAL_FUNCTION RitzDual operator+(RitzDual a, RitzDualReal b) { return RitzDual(a.v + b, a.d); }
RITZ_DUAL_FUNCTION RitzDual operator+(RitzDualReal a, RitzDual b) { return RitzDual(a + b.v, b.d); }
RITZ_DUAL_FUNCTION RitzDual operator-(RitzDual a, RitzDual b) {
  return RitzDual(a.v - b.v, ritz_dual_plus(a.d, -b.d));
}
RITZ_DUAL_FUNCTION RitzDual operator-(RitzDual a, RitzDualReal b) { return RitzDual(a.v - b, a.d); }
RITZ_DUAL_FUNCTION RitzDual operator-(RitzDualReal a, RitzDual b) { return RitzDual(a - b.v, -b.d); }
RITZ_DUAL_FUNCTION RitzDual operator*(RitzDual a, RitzDual b) {
  return RitzDual(a.v * b.v, ritz_dual_plus(ritz_dual_times(a.d, b.v), ritz_dual_times(b.d, a.v)));
}
RITZ_DUAL_FUNCTION RitzDual operator*(RitzDual a, RitzDualReal b) {
  return RitzDual(a.v * b, ritz_dual_times(a.d, b));
}
RITZ_DUAL_FUNCTION RitzDual operator*(RitzDualReal a, RitzDual b) {
  return RitzDual(a * b.v, ritz_dual_times(b.d, a));
}
// One division, which quotients by the same number share.
RITZ_DUAL_FUNCTION RitzDual operator/(RitzDual a, RitzDual b) {
  const RitzDualReal r = 1 / b.v, v = a.v * r;
  return RitzDual(v, ritz_dual_times(ritz_dual_plus(a.d, ritz_dual_times(b.d, -v)), r));
}
RITZ_DUAL_FUNCTION RitzDual operator/(RitzDual a, RitzDualReal b) {
  const RitzDualReal r = 1 / b;
  return RitzDual(a.v * r, ritz_dual_times(a.d, r));
}
RITZ_DUAL_FUNCTION RitzDual operator/(RitzDualReal a, RitzDual b) {
  const RitzDualReal r = 1 / b.v, v = a * r;
  return RitzDual(v, ritz_dual_times(b.d, -v * r));
}

#define RITZ_DUAL_ASSIGNMENT(op)                                                                             \
  RITZ_DUAL_FUNCTION RitzDual &operator op##=(RitzDual &a, RitzDual b) { return a = a op b; }                \
  RITZ_DUAL_FUNCTION RitzDual &operator op##=(RitzDual &a, RitzDualReal b) { return a = a op b; }
RITZ_DUAL_ASSIGNMENT(+)
RITZ_DUAL_ASSIGNMENT(-)
RITZ_DUAL_ASSIGNMENT(*)
RITZ_DUAL_ASSIGNMENT(/)
#undef RITZ_DUAL_ASSIGNMENT
RITZ_DUAL_FUNCTION RitzDual &operator++(RitzDual &a) { return a += 1; }
RITZ_DUAL_FUNCTION RitzDual &operator--(RitzDual &a) { return a -= 1; }
RITZ_DUAL_FUNCTION RitzDual operator++(RitzDual &a, int) {
  const RitzDual before = a;
  a += 1;
  return before;
}
RITZ_DUAL_FUNCTION RitzDual operator--(RitzDual &a, int) {
  const RitzDual before = a;
  a -= 1;
  return before;
}

#define RITZ_DUAL_COMPARISON(op)                                                                             \
  RITZ_DUAL_FUNCTION bool operator op(RitzDual a, RitzDual b) { return a.v op b.v; }                         \
  RITZ_DUAL_FUNCTION bool operator op(RitzDual a, RitzDualReal b) { return a.v op b; }                       \
  RITZ_DUAL_FUNCTION bool operator op(RitzDualReal a, RitzDual b) { return a op b.v; }
RITZ_DUAL_COMPARISON(==)
RITZ_DUAL_COMPARISON(!=)
RITZ_DUAL_COMPARISON(<)
RITZ_DUAL_COMPARISON(<=)
RITZ_DUAL_COMPARISON(>)
RITZ_DUAL_COMPARISON(>=)
#undef RITZ_DUAL_COMPARISON

// The library's own texts ask for a quotient of two units in the last place, which there is for numbers
// alone.
#undef RITZ_QUOTIENT
#define RITZ_QUOTIENT(a, b) ((a) / (b))

// ---- Functions of one number: x its value, y the function's, then the derivative ----

#define RITZ_DUAL_UNARY(name, derivative)                                                                    \
  RITZ_DUAL_FUNCTION RitzDual name(RitzDual a) {                                                             \
    const RitzDualReal x = a.v, y = name(x);                                                                 \
    (void)x;                                                                                                 \
    return RitzDual(y, ritz_dual_times(a.d, derivative));                                                    \
  }
#define RITZ_DUAL_LN_2         ((RitzDualReal)0.6931471805599453094)
#define RITZ_DUAL_LN_10        ((RitzDualReal)2.3025850929940456840)
#define RITZ_DUAL_PI           ((RitzDualReal)3.1415926535897932385)
#define RITZ_DUAL_2_BY_ROOT_PI ((RitzDualReal)1.1283791670955125739)

// The derivative of log(Gamma(x)): reflected to the right half, moved beyond 10 by psi(x + 1) = psi(x) + 1/x,
// there the asymptotic series (NIST Handbook of Mathematical Functions, 5.5.2, 5.5.4, 5.11.2).
RITZ_DUAL_FUNCTION RitzDualReal ritz_dual_digamma(RitzDualReal x) {
  const bool is_left = x < (RitzDualReal)0.5;
  RitzDualReal z = is_left ? 1 - x : x, sum = is_left ? -RITZ_DUAL_PI / tan(RITZ_DUAL_PI * x) : 0;
  for (int i = 0; i < 10; i++) {
    sum -= z < 10 ? 1 / z : 0;
    z += z < 10 ? 1 : 0;
  }
  const RitzDualReal r = 1 / (z * z);
  return sum + log(z) - (RitzDualReal)0.5 / z -
         r * (1 / (RitzDualReal)12 -
              r * (1 / (RitzDualReal)120 -
                   r * (1 / (RitzDualReal)252 -
                        r * (1 / (RitzDualReal)240 -
                             r * (1 / (RitzDualReal)132 - r * (691 / (RitzDualReal)32760 - r / 12))))));
}

RITZ_DUAL_UNARY(exp, y)
RITZ_DUAL_UNARY(exp2, y *RITZ_DUAL_LN_2)
RITZ_DUAL_UNARY(expm1, y + 1)
RITZ_DUAL_UNARY(log, 1 / x)
RITZ_DUAL_UNARY(log2, 1 / (x * RITZ_DUAL_LN_2))
RITZ_DUAL_UNARY(log10, 1 / (x * RITZ_DUAL_LN_10))
RITZ_DUAL_UNARY(log1p, 1 / (1 + x))
RITZ_DUAL_UNARY(sqrt, 1 / (2 * y))
RITZ_DUAL_UNARY(cbrt, 1 / (3 * y * y))
RITZ_DUAL_UNARY(sin, cos(x))
RITZ_DUAL_UNARY(cos, -sin(x))
RITZ_DUAL_UNARY(tan, 1 + y * y)
RITZ_DUAL_UNARY(asin, 1 / sqrt((1 - x) * (1 + x)))
RITZ_DUAL_UNARY(acos, -1 / sqrt((1 - x) * (1 + x)))
RITZ_DUAL_UNARY(atan, 1 / (1 + x * x))
RITZ_DUAL_UNARY(sinh, cosh(x))
RITZ_DUAL_UNARY(cosh, sinh(x))
RITZ_DUAL_UNARY(tanh, (1 - y) * (1 + y))
RITZ_DUAL_UNARY(asinh, 1 / sqrt(x * x + 1))
RITZ_DUAL_UNARY(acosh, 1 / sqrt((x - 1) * (x + 1)))
RITZ_DUAL_UNARY(atanh, 1 / ((1 - x) * (1 + x)))
RITZ_DUAL_UNARY(erf, RITZ_DUAL_2_BY_ROOT_PI *exp(-x *x))
RITZ_DUAL_UNARY(erfc, -RITZ_DUAL_2_BY_ROOT_PI *exp(-x *x))
RITZ_DUAL_UNARY(lgamma, ritz_dual_digamma(x))
RITZ_DUAL_UNARY(tgamma, y *ritz_dual_digamma(x))
RITZ_DUAL_UNARY(fabs, x > 0 ? 1 : x < 0 ? -1 : 0)
#undef RITZ_DUAL_UNARY
RITZ_DUAL_FUNCTION RitzDual abs(RitzDual a) { return fabs(a); }

// Steps: their derivative is 0 almost everywhere.
#define RITZ_DUAL_STEP(name)                                                                                 \
  RITZ_DUAL_FUNCTION RitzDual name(RitzDual a) { return RitzDual(name(a.v)); }
RITZ_DUAL_STEP(floor)
RITZ_DUAL_STEP(ceil)
RITZ_DUAL_STEP(trunc)
RITZ_DUAL_STEP(round)
RITZ_DUAL_STEP(rint)
RITZ_DUAL_STEP(nearbyint)
RITZ_DUAL_STEP(logb)
#undef RITZ_DUAL_STEP
RITZ_DUAL_FUNCTION long lround(RitzDual a) { return lround(a.v); }
RITZ_DUAL_FUNCTION long lrint(RitzDual a) { return lrint(a.v); }
RITZ_DUAL_FUNCTION long long llround(RitzDual a) { return llround(a.v); }
RITZ_DUAL_FUNCTION long long llrint(RitzDual a) { return llrint(a.v); }
RITZ_DUAL_FUNCTION int ilogb(RitzDual a) { return ilogb(a.v); }

#define RITZ_DUAL_QUESTION(name, answer)                                                                     \
  RITZ_DUAL_FUNCTION bool name(RitzDual a) { return answer; }
RITZ_DUAL_QUESTION(isnan, a.v != a.v)
RITZ_DUAL_QUESTION(isinf, a.v == a.v && a.v - a.v != a.v - a.v)
RITZ_DUAL_QUESTION(isfinite, a.v - a.v == a.v - a.v)
#undef RITZ_DUAL_QUESTION
RITZ_DUAL_FUNCTION bool signbit(RitzDual a) { return copysign((RitzDualReal)1, a.v) < 0; }

// ---- Functions of more ----

// Of two numbers, from that of two pairs.
#define RITZ_DUAL_BINARY(name)                                                                               \
  RITZ_DUAL_FUNCTION RitzDual name(RitzDual a, RitzDualReal b) { return name(a, RitzDual(b)); }              \
  RITZ_DUAL_FUNCTION RitzDual name(RitzDualReal a, RitzDual b) { return name(RitzDual(a), b); }

RITZ_DUAL_FUNCTION RitzDual pow(RitzDual a, RitzDualReal b) {
  return RitzDual(pow(a.v, b), b == 0 ? 0 : b * pow(a.v, b - 1) * a.d);
}
RITZ_DUAL_FUNCTION RitzDual pow(RitzDualReal a, RitzDual b) {
  const RitzDualReal y = pow(a, b.v);
  return RitzDual(y, y == 0 ? 0 : y * log(a) * b.d);
}
// An exponent that does not move may have a base that is not positive.
RITZ_DUAL_FUNCTION RitzDual pow(RitzDual a, RitzDual b) {
  const RitzDual x = pow(a, b.v), y = b.d == 0 ? RitzDual(x.v, 0) : pow(a.v, b);
  return RitzDual(x.v, x.d + y.d);
}
RITZ_DUAL_FUNCTION RitzDual atan2(RitzDual a, RitzDual b) {
  return RitzDual(atan2(a.v, b.v), (b.v * a.d - a.v * b.d) / (a.v * a.v + b.v * b.v));
}
RITZ_DUAL_BINARY(atan2)
RITZ_DUAL_FUNCTION RitzDual hypot(RitzDual a, RitzDual b) {
  const RitzDualReal y = hypot(a.v, b.v);
  return RitzDual(y, y == 0 ? 0 : (a.v / y) * a.d + (b.v / y) * b.d);
}
RITZ_DUAL_BINARY(hypot)
RITZ_DUAL_FUNCTION RitzDual fmin(RitzDual a, RitzDual b) { return a.v < b.v || b.v != b.v ? a : b; }
RITZ_DUAL_BINARY(fmin)
RITZ_DUAL_FUNCTION RitzDual fmax(RitzDual a, RitzDual b) { return a.v > b.v || b.v != b.v ? a : b; }
RITZ_DUAL_BINARY(fmax)
RITZ_DUAL_FUNCTION RitzDual fdim(RitzDual a, RitzDual b) { return a.v <= b.v ? RitzDual(0) : a - b; }
RITZ_DUAL_BINARY(fdim)
// a - n b
RITZ_DUAL_FUNCTION RitzDual fmod(RitzDual a, RitzDual b) {
  return RitzDual(fmod(a.v, b.v), a.d - trunc(a.v / b.v) * b.d);
}
RITZ_DUAL_BINARY(fmod)
RITZ_DUAL_FUNCTION RitzDual remainder(RitzDual a, RitzDual b) {
  const RitzDualReal y = remainder(a.v, b.v);
  return RitzDual(y, a.d - rint((a.v - y) / b.v) * b.d);
}
RITZ_DUAL_BINARY(remainder)
RITZ_DUAL_FUNCTION RitzDual copysign(RitzDual a, RitzDual b) {
  const RitzDualReal y = copysign(a.v, b.v);
  return RitzDual(y, y == a.v ? a.d : -a.d);
}
RITZ_DUAL_BINARY(copysign)
RITZ_DUAL_FUNCTION RitzDual nextafter(RitzDual a, RitzDual b) { return RitzDual(nextafter(a.v, b.v), a.d); }
RITZ_DUAL_BINARY(nextafter)
#undef RITZ_DUAL_BINARY

RITZ_DUAL_FUNCTION RitzDual fma(RitzDual a, RitzDual b, RitzDual c) {
  return RitzDual(fma(a.v, b.v, c.v), a.d * b.v + a.v * b.d + c.d);
}
RITZ_DUAL_FUNCTION RitzDual ldexp(RitzDual a, int n) { return RitzDual(ldexp(a.v, n), ldexp(a.d, n)); }
RITZ_DUAL_FUNCTION RitzDual scalbn(RitzDual a, int n) { return ldexp(a, n); }
RITZ_DUAL_FUNCTION RitzDual frexp(RitzDual a, int *n) {
  const RitzDualReal y = frexp(a.v, n);
  return RitzDual(y, ldexp(a.d, -*n));
}
RITZ_DUAL_FUNCTION RitzDual modf(RitzDual a, RitzDual *whole) {
  *whole = trunc(a);
  return a - *whole;
}

#endif
