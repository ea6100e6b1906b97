// SPDX-License-Identifier: BSD-2-Clause
// Numbers with derivatives, v + d e where e e = 0: what CeedScalar is in the text of a QFunction whose
// derivative is computed (core/derivative-text.c writes what stands around it). C++, for the compilers of
// hosts and NVRTC; includes nothing that the latter has not. Every operation computes the value as C does,
// and beside it the derivative by the chain rule (forward-mode automatic differentiation; A. Griewank, A.
// Walther, Evaluating Derivatives, 2nd ed., SIAM 2008, sections 3.1 and 3.2). Conditions look at values
// alone.
//
//     RitzDualNumber<T, T>                    a value and its derivative along one direction
//     RitzDualNumber<T, RitzPartials<T, n>>   a value and its n partial derivatives
//
// T is RitzDualReal, or such a number itself, for second derivatives. A number is made of a real one, with
// derivative 0, and never becomes one again: that would lose the derivative, so compilers refuse it. It
// becomes an integer by a cast, whose derivative is 0 almost everywhere.
#ifndef RITZ_DUAL_H
#define RITZ_DUAL_H

#ifndef __cplusplus
#error "derivatives of QFunctions are made by a C++ compiler"
#endif

#ifdef __CUDACC__
#define RITZ_DUAL_MEMBER     __device__ __forceinline__
#define RITZ_DUAL_FUNCTION   static __device__ __forceinline__
#define RITZ_DUAL_IS_ZERO(x) false // NVRTC does not tell
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
#define RITZ_DUAL_IS_ZERO(x) (__builtin_constant_p(x) && (x) == 0)
// Points become lanes of vectors when all loops within one of them are unrolled.
#define RITZ_DUAL_LOOP       _Pragma("omp simd reduction(| : code)")
#ifdef __clang__
#define RITZ_DUAL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RITZ_DUAL_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

// The user's function, which has to be a part of the one around it, whatever its size.
#define RITZ_DUAL_QFUNCTION(name) CEED_QFUNCTION_HELPER int name

typedef CeedScalar RitzDualReal;

// ---- Derivatives: what is done to those of real numbers ----

// d v and a + b. The derivative of a number that does not move is the constant 0, which compilers know when
// all is in one place: then it costs nothing, though 0 v is not 0 for all v.
RITZ_DUAL_FUNCTION RitzDualReal ritz_dual_times(RitzDualReal d, RitzDualReal v) {
  return RITZ_DUAL_IS_ZERO(d) || RITZ_DUAL_IS_ZERO(v) ? 0 : d * v;
}
RITZ_DUAL_FUNCTION RitzDualReal ritz_dual_plus(RitzDualReal a, RitzDualReal b) {
  return RITZ_DUAL_IS_ZERO(a) ? b : RITZ_DUAL_IS_ZERO(b) ? a : a + b;
}
RITZ_DUAL_FUNCTION bool ritz_dual_is_zero(RitzDualReal a) { return a == 0; }

// n partial derivatives, each a member of its own: arrays become registers later, if at all.
template <class T, int n> struct RitzPartials : RitzPartials<T, n - 1> {
  typedef RitzPartials<T, n - 1> Others;
  T last;

  RitzPartials() = default;
  constexpr RITZ_DUAL_MEMBER RitzPartials(RitzDualReal value) : Others(value), last(value) {}
  constexpr RITZ_DUAL_MEMBER RitzPartials(Others others, T last_one) : Others(others), last(last_one) {}
  // Those of coordinate k.
  static constexpr RITZ_DUAL_MEMBER RitzPartials of(int k) {
    return RitzPartials(Others::of(k), T(k == n - 1 ? 1 : 0));
  }
  RITZ_DUAL_MEMBER T operator[](int k) const { return k == n - 1 ? last : Others::operator[](k); }

  template <class S> friend RITZ_DUAL_MEMBER RitzPartials ritz_dual_times(RitzPartials d, S v) {
    return RitzPartials(ritz_dual_times(Others(d), v), ritz_dual_times(d.last, v));
  }
  friend RITZ_DUAL_MEMBER RitzPartials ritz_dual_plus(RitzPartials a, RitzPartials b) {
    return RitzPartials(ritz_dual_plus(Others(a), Others(b)), ritz_dual_plus(a.last, b.last));
  }
  friend RITZ_DUAL_MEMBER RitzPartials operator-(RitzPartials a) { return RitzPartials(-Others(a), -a.last); }
  friend RITZ_DUAL_MEMBER RitzPartials ldexp(RitzPartials a, int k) {
    return RitzPartials(ldexp(Others(a), k), ldexp(a.last, k));
  }
  friend RITZ_DUAL_MEMBER bool ritz_dual_is_zero(RitzPartials a) {
    return ritz_dual_is_zero(Others(a)) && ritz_dual_is_zero(a.last);
  }
};
template <class T> struct RitzPartials<T, 0> {
  RitzPartials() = default;
  constexpr RITZ_DUAL_MEMBER RitzPartials(RitzDualReal) {}
  static constexpr RITZ_DUAL_MEMBER RitzPartials of(int) { return RitzPartials(0); }
  RITZ_DUAL_MEMBER T operator[](int) const { return T(0); }

  template <class S> friend RITZ_DUAL_MEMBER RitzPartials ritz_dual_times(RitzPartials d, S) { return d; }
  friend RITZ_DUAL_MEMBER RitzPartials ritz_dual_plus(RitzPartials a, RitzPartials) { return a; }
  friend RITZ_DUAL_MEMBER RitzPartials operator-(RitzPartials a) { return a; }
  friend RITZ_DUAL_MEMBER RitzPartials ldexp(RitzPartials a, int) { return a; }
  friend RITZ_DUAL_MEMBER bool ritz_dual_is_zero(RitzPartials) { return true; }
};

#define RITZ_DUAL_LN_2         ((RitzDualReal)0.6931471805599453094)
#define RITZ_DUAL_LN_10        ((RitzDualReal)2.3025850929940456840)
#define RITZ_DUAL_PI           ((RitzDualReal)3.1415926535897932385)
#define RITZ_DUAL_2_BY_ROOT_PI ((RitzDualReal)1.1283791670955125739)

// The derivative of log(Gamma(x)): reflected to the right half, moved beyond 10 by psi(x + 1) = psi(x) + 1/x,
// there the asymptotic series (NIST Handbook of Mathematical Functions, 5.5.2, 5.5.4, 5.11.2).
template <class T> RITZ_DUAL_FUNCTION T ritz_dual_digamma(T x) {
  const bool is_left = x < (RitzDualReal)0.5;
  T z = is_left ? 1 - x : x, sum = is_left ? -RITZ_DUAL_PI / tan(RITZ_DUAL_PI * x) : T(0);
  for (int i = 0; i < 10; i++) {
    const bool is_small = z < 10;
    sum -= is_small ? 1 / z : T(0);
    z += is_small ? 1 : 0;
  }
  const T r = 1 / (z * z);
  return sum + log(z) - (RitzDualReal)0.5 / z -
         r * (1 / (RitzDualReal)12 -
              r * (1 / (RitzDualReal)120 -
                   r * (1 / (RitzDualReal)252 -
                        r * (1 / (RitzDualReal)240 -
                             r * (1 / (RitzDualReal)132 - r * (691 / (RitzDualReal)32760 - r / 12))))));
}

// ---- Numbers. T: of values; D: of derivatives ----

template <class T, class D> struct RitzDualNumber {
  T v;
  D d;

  RitzDualNumber() = default;
  constexpr RITZ_DUAL_MEMBER RitzDualNumber(RitzDualReal value) : v(value), d(0) {}
  constexpr RITZ_DUAL_MEMBER RitzDualNumber(T value, D derivative) : v(value), d(derivative) {}

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

  // ---- Arithmetic ----

  friend RITZ_DUAL_MEMBER RitzDualNumber operator+(RitzDualNumber a) { return a; }
  friend RITZ_DUAL_MEMBER RitzDualNumber operator-(RitzDualNumber a) { return RitzDualNumber(-a.v, -a.d); }

  friend RITZ_DUAL_MEMBER RitzDualNumber operator+(RitzDualNumber a, RitzDualNumber b) {
    return RitzDualNumber(a.v + b.v, ritz_dual_plus(a.d, b.d));
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber operator+(RitzDualNumber a, RitzDualReal b) {
    return RitzDualNumber(a.v + b, a.d);
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber operator+(RitzDualReal a, RitzDualNumber b) {
    return RitzDualNumber(a + b.v, b.d);
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber operator-(RitzDualNumber a, RitzDualNumber b) {
    return RitzDualNumber(a.v - b.v, ritz_dual_plus(a.d, -b.d));
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber operator-(RitzDualNumber a, RitzDualReal b) {
    return RitzDualNumber(a.v - b, a.d);
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber operator-(RitzDualReal a, RitzDualNumber b) {
    return RitzDualNumber(a - b.v, -b.d);
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber operator*(RitzDualNumber a, RitzDualNumber b) {
    return RitzDualNumber(a.v * b.v, ritz_dual_plus(ritz_dual_times(a.d, b.v), ritz_dual_times(b.d, a.v)));
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber operator*(RitzDualNumber a, RitzDualReal b) {
    return RitzDualNumber(a.v * b, ritz_dual_times(a.d, b));
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber operator*(RitzDualReal a, RitzDualNumber b) {
    return RitzDualNumber(a * b.v, ritz_dual_times(b.d, a));
  }
  // One division, which quotients by the same number share.
  friend RITZ_DUAL_MEMBER RitzDualNumber operator/(RitzDualNumber a, RitzDualNumber b) {
    const T r = 1 / b.v, v = a.v * r;
    return RitzDualNumber(v, ritz_dual_times(ritz_dual_plus(a.d, ritz_dual_times(b.d, -v)), r));
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber operator/(RitzDualNumber a, RitzDualReal b) {
    const RitzDualReal r = 1 / b;
    return RitzDualNumber(a.v * r, ritz_dual_times(a.d, r));
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber operator/(RitzDualReal a, RitzDualNumber b) {
    const T r = 1 / b.v, v = a * r;
    return RitzDualNumber(v, ritz_dual_times(b.d, -v * r));
  }

#define RITZ_DUAL_ASSIGNMENT(op)                                                                             \
  friend RITZ_DUAL_MEMBER RitzDualNumber &operator op##=(RitzDualNumber &a, RitzDualNumber b) {              \
    return a = a op b;                                                                                       \
  }                                                                                                          \
  friend RITZ_DUAL_MEMBER RitzDualNumber &operator op##=(RitzDualNumber &a, RitzDualReal b) {                \
    return a = a op b;                                                                                       \
  }
  RITZ_DUAL_ASSIGNMENT(+)
  RITZ_DUAL_ASSIGNMENT(-)
  RITZ_DUAL_ASSIGNMENT(*)
  RITZ_DUAL_ASSIGNMENT(/)
#undef RITZ_DUAL_ASSIGNMENT
  friend RITZ_DUAL_MEMBER RitzDualNumber &operator++(RitzDualNumber &a) { return a += 1; }
  friend RITZ_DUAL_MEMBER RitzDualNumber &operator--(RitzDualNumber &a) { return a -= 1; }
  friend RITZ_DUAL_MEMBER RitzDualNumber operator++(RitzDualNumber &a, int) {
    const RitzDualNumber before = a;
    a += 1;
    return before;
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber operator--(RitzDualNumber &a, int) {
    const RitzDualNumber before = a;
    a -= 1;
    return before;
  }

#define RITZ_DUAL_COMPARISON(op)                                                                             \
  friend RITZ_DUAL_MEMBER bool operator op(RitzDualNumber a, RitzDualNumber b) { return a.v op b.v; }        \
  friend RITZ_DUAL_MEMBER bool operator op(RitzDualNumber a, RitzDualReal b) { return a.v op b; }            \
  friend RITZ_DUAL_MEMBER bool operator op(RitzDualReal a, RitzDualNumber b) { return a op b.v; }
  RITZ_DUAL_COMPARISON(==)
  RITZ_DUAL_COMPARISON(!=)
  RITZ_DUAL_COMPARISON(<)
  RITZ_DUAL_COMPARISON(<=)
  RITZ_DUAL_COMPARISON(>)
  RITZ_DUAL_COMPARISON(>=)
#undef RITZ_DUAL_COMPARISON

  // ---- As the derivative of another number ----

  friend RITZ_DUAL_MEMBER RitzDualNumber ritz_dual_times(RitzDualNumber d, RitzDualNumber v) {
    return RitzDualNumber(ritz_dual_times(d.v, v.v),
                          ritz_dual_plus(ritz_dual_times(d.d, v.v), ritz_dual_times(v.d, d.v)));
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber ritz_dual_times(RitzDualNumber d, RitzDualReal v) {
    return RitzDualNumber(ritz_dual_times(d.v, v), ritz_dual_times(d.d, v));
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber ritz_dual_plus(RitzDualNumber a, RitzDualNumber b) {
    return RitzDualNumber(ritz_dual_plus(a.v, b.v), ritz_dual_plus(a.d, b.d));
  }
  friend RITZ_DUAL_MEMBER bool ritz_dual_is_zero(RitzDualNumber a) {
    return ritz_dual_is_zero(a.v) && ritz_dual_is_zero(a.d);
  }

  // ---- Functions of one number: x its value, y the function's, then the derivative ----

#define RITZ_DUAL_UNARY(name, derivative)                                                                    \
  friend RITZ_DUAL_MEMBER RitzDualNumber name(RitzDualNumber a) {                                            \
    const T x = a.v, y = name(x);                                                                            \
    (void)x;                                                                                                 \
    return RitzDualNumber(y, ritz_dual_times(a.d, derivative));                                              \
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
  RITZ_DUAL_UNARY(fabs, (RitzDualReal)(x > 0 ? 1 : x < 0 ? -1 : 0))
#undef RITZ_DUAL_UNARY
  friend RITZ_DUAL_MEMBER RitzDualNumber abs(RitzDualNumber a) { return fabs(a); }

// Steps: their derivative is 0 almost everywhere.
#define RITZ_DUAL_STEP(name)                                                                                 \
  friend RITZ_DUAL_MEMBER RitzDualNumber name(RitzDualNumber a) { return RitzDualNumber(name(a.v), D(0)); }
  RITZ_DUAL_STEP(floor)
  RITZ_DUAL_STEP(ceil)
  RITZ_DUAL_STEP(trunc)
  RITZ_DUAL_STEP(round)
  RITZ_DUAL_STEP(rint)
  RITZ_DUAL_STEP(nearbyint)
  RITZ_DUAL_STEP(logb)
#undef RITZ_DUAL_STEP
  friend RITZ_DUAL_MEMBER long lround(RitzDualNumber a) { return lround(a.v); }
  friend RITZ_DUAL_MEMBER long lrint(RitzDualNumber a) { return lrint(a.v); }
  friend RITZ_DUAL_MEMBER long long llround(RitzDualNumber a) { return llround(a.v); }
  friend RITZ_DUAL_MEMBER long long llrint(RitzDualNumber a) { return llrint(a.v); }
  friend RITZ_DUAL_MEMBER int ilogb(RitzDualNumber a) { return ilogb(a.v); }

#define RITZ_DUAL_QUESTION(name, answer)                                                                     \
  friend RITZ_DUAL_MEMBER bool name(RitzDualNumber a) { return answer; }
  RITZ_DUAL_QUESTION(isnan, a.v != a.v)
  RITZ_DUAL_QUESTION(isinf, a.v == a.v && a.v - a.v != a.v - a.v)
  RITZ_DUAL_QUESTION(isfinite, a.v - a.v == a.v - a.v)
#undef RITZ_DUAL_QUESTION
  friend RITZ_DUAL_MEMBER bool signbit(RitzDualNumber a) { return copysign((RitzDualReal)1, a.v) < 0; }

// ---- Functions of more ----

// Of two numbers, from that of two pairs.
#define RITZ_DUAL_BINARY(name)                                                                               \
  friend RITZ_DUAL_MEMBER RitzDualNumber name(RitzDualNumber a, RitzDualReal b) {                            \
    return name(a, RitzDualNumber(b));                                                                       \
  }                                                                                                          \
  friend RITZ_DUAL_MEMBER RitzDualNumber name(RitzDualReal a, RitzDualNumber b) {                            \
    return name(RitzDualNumber(a), b);                                                                       \
  }

  friend RITZ_DUAL_MEMBER RitzDualNumber pow(RitzDualNumber a, RitzDualReal b) {
    return RitzDualNumber(pow(a.v, b), ritz_dual_times(a.d, b == 0 ? T(0) : b * pow(a.v, b - 1)));
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber pow(RitzDualReal a, RitzDualNumber b) {
    const T y = pow(a, b.v);
    return RitzDualNumber(y, ritz_dual_times(b.d, y == 0 ? T(0) : y * log(a)));
  }
  // An exponent that does not move may have a base that is not positive.
  friend RITZ_DUAL_MEMBER RitzDualNumber pow(RitzDualNumber a, RitzDualNumber b) {
    const T y = pow(a.v, b.v);
    const D by_base = ritz_dual_times(a.d, ritz_dual_is_zero(b.v) ? T(0) : b.v * pow(a.v, b.v - 1));
    const D by_exponent = ritz_dual_times(b.d, y == 0 ? T(0) : y * log(a.v));
    return RitzDualNumber(y, ritz_dual_is_zero(b.d) ? by_base : ritz_dual_plus(by_base, by_exponent));
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber atan2(RitzDualNumber a, RitzDualNumber b) {
    const D change = ritz_dual_plus(ritz_dual_times(a.d, b.v), ritz_dual_times(b.d, -a.v));
    return RitzDualNumber(atan2(a.v, b.v), ritz_dual_times(change, 1 / (a.v * a.v + b.v * b.v)));
  }
  RITZ_DUAL_BINARY(atan2)
  friend RITZ_DUAL_MEMBER RitzDualNumber hypot(RitzDualNumber a, RitzDualNumber b) {
    const T y = hypot(a.v, b.v);
    const D change = ritz_dual_plus(ritz_dual_times(a.d, a.v / y), ritz_dual_times(b.d, b.v / y));
    return RitzDualNumber(y, y == 0 ? D(0) : change);
  }
  RITZ_DUAL_BINARY(hypot)
  friend RITZ_DUAL_MEMBER RitzDualNumber fmin(RitzDualNumber a, RitzDualNumber b) {
    return a.v < b.v || b.v != b.v ? a : b;
  }
  RITZ_DUAL_BINARY(fmin)
  friend RITZ_DUAL_MEMBER RitzDualNumber fmax(RitzDualNumber a, RitzDualNumber b) {
    return a.v > b.v || b.v != b.v ? a : b;
  }
  RITZ_DUAL_BINARY(fmax)
  friend RITZ_DUAL_MEMBER RitzDualNumber fdim(RitzDualNumber a, RitzDualNumber b) {
    return a.v <= b.v ? RitzDualNumber(0) : a - b;
  }
  RITZ_DUAL_BINARY(fdim)
  // a - n b
  friend RITZ_DUAL_MEMBER RitzDualNumber fmod(RitzDualNumber a, RitzDualNumber b) {
    return RitzDualNumber(fmod(a.v, b.v), ritz_dual_plus(a.d, ritz_dual_times(b.d, -trunc(a.v / b.v))));
  }
  RITZ_DUAL_BINARY(fmod)
  friend RITZ_DUAL_MEMBER RitzDualNumber remainder(RitzDualNumber a, RitzDualNumber b) {
    const T y = remainder(a.v, b.v);
    return RitzDualNumber(y, ritz_dual_plus(a.d, ritz_dual_times(b.d, -rint((a.v - y) / b.v))));
  }
  RITZ_DUAL_BINARY(remainder)
  friend RITZ_DUAL_MEMBER RitzDualNumber copysign(RitzDualNumber a, RitzDualNumber b) {
    const T y = copysign(a.v, b.v);
    return RitzDualNumber(y, y == a.v ? a.d : -a.d);
  }
  RITZ_DUAL_BINARY(copysign)
  friend RITZ_DUAL_MEMBER RitzDualNumber nextafter(RitzDualNumber a, RitzDualNumber b) {
    return RitzDualNumber(nextafter(a.v, b.v), a.d);
  }
  RITZ_DUAL_BINARY(nextafter)
#undef RITZ_DUAL_BINARY

  friend RITZ_DUAL_MEMBER RitzDualNumber fma(RitzDualNumber a, RitzDualNumber b, RitzDualNumber c) {
    const D product = ritz_dual_plus(ritz_dual_times(a.d, b.v), ritz_dual_times(b.d, a.v));
    return RitzDualNumber(fma(a.v, b.v, c.v), ritz_dual_plus(product, c.d));
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber ldexp(RitzDualNumber a, int n) {
    return RitzDualNumber(ldexp(a.v, n), ldexp(a.d, n));
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber scalbn(RitzDualNumber a, int n) { return ldexp(a, n); }
  friend RITZ_DUAL_MEMBER RitzDualNumber frexp(RitzDualNumber a, int *n) {
    const T y = frexp(a.v, n);
    return RitzDualNumber(y, ldexp(a.d, -*n));
  }
  friend RITZ_DUAL_MEMBER RitzDualNumber modf(RitzDualNumber a, RitzDualNumber *whole) {
    *whole = trunc(a);
    return a - *whole;
  }
};

// ---- Pointers that are cast ----

template <class T> struct RitzDualIn { static constexpr bool is_pair = false; };
template <class T, class D> struct RitzDualIn<RitzDualNumber<T, D>> { static constexpr bool is_pair = true; };
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

// The library's own texts ask for a quotient of two units in the last place, which there is for numbers
// alone.
#undef RITZ_QUOTIENT
#define RITZ_QUOTIENT(a, b) ((a) / (b))

#endif
