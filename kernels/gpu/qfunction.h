// SPDX-License-Identifier: BSD-2-Clause
// What surrounds a user's QFunction on a device: names that sources rely on besides those of ceed/types.h,
// and the way of a point's data between Q-vectors and the arrays of a thread. A text is this header, the
// user's source and a kernel of a few lines that backends/gpu/qfunction.c writes; each thread calls the
// function for one point.
#ifndef RITZ_KERNELS_GPU_QFUNCTION_H
#define RITZ_KERNELS_GPU_QFUNCTION_H

#ifndef __OPENCL_VERSION__
#ifndef NULL
#define NULL 0
#endif
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
// The mathematics of texts that are C++.
#ifdef __cplusplus
namespace std {
using ::acos;
using ::asin;
using ::atan;
using ::atan2;
using ::cbrt;
using ::ceil;
using ::copysign;
using ::cos;
using ::cosh;
using ::erf;
using ::exp;
using ::fabs;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::hypot;
using ::log;
using ::log10;
using ::pow;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
RITZ_INLINE double abs(double x) { return ::fabs(x); }
RITZ_INLINE float abs(float x) { return ::fabsf(x); }
RITZ_INLINE int abs(int x) { return x < 0 ? -x : x; }
RITZ_INLINE double max(double a, double b) { return a < b ? b : a; }
RITZ_INLINE float max(float a, float b) { return a < b ? b : a; }
RITZ_INLINE int max(int a, int b) { return a < b ? b : a; }
RITZ_INLINE double min(double a, double b) { return b < a ? b : a; }
RITZ_INLINE float min(float a, float b) { return b < a ? b : a; }
RITZ_INLINE int min(int a, int b) { return b < a ? b : a; }
} // namespace std
#endif
#else
typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
// OpenCL's functions take any floating-point type under one name.
#define fabsf  fabs
#define sqrtf  sqrt
#define powf   pow
#define expf   exp
#define logf   log
#define log10f log10
#define sinf   sin
#define cosf   cos
#define tanf   tan
#define asinf  asin
#define acosf  acos
#define atanf  atan
#define atan2f atan2
#define sinhf  sinh
#define coshf  cosh
#define tanhf  tanh
#define floorf floor
#define ceilf  ceil
#define fmaxf  fmax
#define fminf  fmin
#define fmodf  fmod
#define cbrtf  cbrt
#endif

// a / b to 2 units in the last place where b and 1 / b are far from the ends of the range of doubles: an
// approximation to 20 bits and a cubic step, a third of the operations of a division. Texts that can do with
// it say RITZ_QUOTIENT, which is a / b elsewhere.
#if !defined(__OPENCL_VERSION__) && defined(CEED_SCALAR_IS_FP64)
RITZ_INLINE double ritz_quotient(double a, double b) {
  double y, e;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(b));
  e = fma(-b, y, 1.);
  return a * fma(fma(e, e, e), y, y);
}
#define RITZ_QUOTIENT(a, b) ritz_quotient(a, b)
#endif

// Arguments of functions that compute in another precision than the text around them, in and out.
RITZ_INLINE void ritz_widen(int size, const RitzReal *from, CeedScalar *to) {
  RITZ_UNROLL
  for (int i = 0; i < size; i++) to[i] = from[i];
}

RITZ_INLINE void ritz_narrow(int size, const CeedScalar *from, RitzReal *to) {
  RITZ_UNROLL
  for (int i = 0; i < size; i++) to[i] = (RitzReal)from[i];
}

// Component c of a point is at array[place + c * stride].
RITZ_INLINE void ritz_point_load(int size, const RITZ_GLOBAL RitzReal *array, RitzLong place, RitzLong stride,
                                 RitzReal *point) {
  RITZ_UNROLL
  for (int c = 0; c < size; c++) point[c] = array[place + c * stride];
}

RITZ_INLINE void ritz_point_store(int size, RITZ_GLOBAL RitzReal *array, RitzLong place, RitzLong stride,
                                  const RitzReal *point) {
  RITZ_UNROLL
  for (int c = 0; c < size; c++) array[place + c * stride] = point[c];
}

// The context. CUDA passes its address. In OpenCL C 1.2 a pointer without address space is one into the
// thread's memory: there the function gets a copy of RITZ_CONTEXT_BYTES. Of a context that may be written to,
// a thread writes back the words of eight bytes that it has changed, and leaves alone what others have.
#ifdef __OPENCL_VERSION__
#define RITZ_CONTEXT_OPEN(bytes)                                                                             \
  ulong ritz_context[(RITZ_CONTEXT_BYTES + 7) / 8];                                                          \
  ritz_context_load(bytes, (char *)ritz_context);
#define RITZ_CONTEXT_OPEN_WRITABLE(bytes)                                                                    \
  RITZ_CONTEXT_OPEN(bytes)                                                                                   \
  ulong ritz_context_before[(RITZ_CONTEXT_BYTES + 7) / 8];                                                   \
  ritz_context_keep((const char *)ritz_context, (char *)ritz_context_before);
#define RITZ_CONTEXT ((void *)ritz_context)
#define RITZ_CONTEXT_CLOSE(bytes)                                                                            \
  ritz_context_store((const char *)ritz_context_before, (const char *)ritz_context, bytes);
#ifdef RITZ_CONTEXT_BYTES
RITZ_INLINE void ritz_context_load(const RITZ_GLOBAL char *from, char *to) {
  for (int i = 0; i < RITZ_CONTEXT_BYTES; i++) to[i] = from[i];
}
RITZ_INLINE void ritz_context_keep(const char *from, char *to) {
  for (int i = 0; i < RITZ_CONTEXT_BYTES; i++) to[i] = from[i];
}
RITZ_INLINE void ritz_context_store(const char *before, const char *after, RITZ_GLOBAL char *to) {
  const int num_words = RITZ_CONTEXT_BYTES / 8;
  for (int i = 0; i < num_words; i++) {
    char8 word = vload8(i, after);
    if (any(word != vload8(i, before))) ((RITZ_GLOBAL char8 *)to)[i] = word;
  }
  for (int i = 8 * num_words; i < RITZ_CONTEXT_BYTES; i++) {
    if (after[i] != before[i]) to[i] = after[i];
  }
}
#endif
#else
#define RITZ_CONTEXT_OPEN(bytes)
#define RITZ_CONTEXT_OPEN_WRITABLE(bytes)
#define RITZ_CONTEXT ((void *)context)
#define RITZ_CONTEXT_CLOSE(bytes)
#endif

#endif
