// SPDX-License-Identifier: BSD-2-Clause
// Residuals and their derivatives by hand, for tests/test-derivative.c. C and C++, and what devices compile.
#ifndef RITZ_TESTS_DERIVATIVE_QFUNCTIONS_H
#define RITZ_TESTS_DERIVATIVE_QFUNCTIONS_H

#include <ceed/types.h>

#ifndef CEED_RUNNING_JIT_PASS
#include <math.h>
#endif

#include "hyperelastic-qfunctions.h" // beside this file

// ---- -div (1 + u^2) grad u: u, its reference gradient, [w det, inverse Jacobian] ----

CEED_QFUNCTION(PoissonResidual)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *u = in[0], *du = in[1], *q = in[2];
  CeedScalar *dv = out[0];
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar g[3];
    for (CeedInt a = 0; a < 3; a++) {
      g[a] = 0;
      for (CeedInt d = 0; d < 3; d++) g[a] += du[i + Q * d] * q[i + Q * (1 + 3 * d + a)];
      g[a] *= q[i] * (1 + u[i] * u[i]);
    }
    for (CeedInt d = 0; d < 3; d++) {
      dv[i + Q * d] = 0;
      for (CeedInt a = 0; a < 3; a++) dv[i + Q * d] += g[a] * q[i + Q * (1 + 3 * d + a)];
    }
  }
  return 0;
}

// Two more inputs: w and its gradient.
CEED_QFUNCTION(PoissonJacobian)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *u = in[0], *du = in[1], *q = in[2], *w = in[3], *dw = in[4];
  CeedScalar *dv = out[0];
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar g[3];
    for (CeedInt a = 0; a < 3; a++) {
      CeedScalar old = 0, change = 0;
      for (CeedInt d = 0; d < 3; d++) old += du[i + Q * d] * q[i + Q * (1 + 3 * d + a)];
      for (CeedInt d = 0; d < 3; d++) change += dw[i + Q * d] * q[i + Q * (1 + 3 * d + a)];
      g[a] = q[i] * ((1 + u[i] * u[i]) * change + 2 * u[i] * w[i] * old);
    }
    for (CeedInt d = 0; d < 3; d++) {
      dv[i + Q * d] = 0;
      for (CeedInt a = 0; a < 3; a++) dv[i + Q * d] += g[a] * q[i + Q * (1 + 3 * d + a)];
    }
  }
  return 0;
}

// ---- All functions: u (near 0.1 .. 0.9) ----

CEED_QFUNCTION_HELPER CeedScalar branches(const CeedScalar x) {
  CeedScalar y = x > 0.5 ? x * x : 0.25 + (x - 0.5) * (x - 0.5) * (x - 0.5);
  if (x < 0.3 && !(x == 0.25)) y += 2 * x;
  if (isnan(y) || !isfinite(y)) y = 0;
  CeedInt whole = (CeedInt)(3 * x);
  y -= whole * x;
  y *= 0.5, y /= 1 + x, y += 1, ++y, y--;
  return -y + (+x);
}

CEED_QFUNCTION(AllFunctions)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *coefficient = (const CeedScalar *)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar x = in[0][i], y = 0.4 + x * x;
    CeedScalar sum = 0, terms[4] = {0};
    terms[0] = exp(x) + exp2(x) + expm1(x) + log(x) + log2(x) + log10(x) + log1p(x);
    terms[1] = sqrt(x) + cbrt(x) + fabs(-x) + fabs(x) + hypot(x, y) + hypot(x, 2.0) + pow(x, 2.5) +
               pow(2.0, x) + pow(x, y) + pow(x, 3);
    terms[2] = sin(x) + cos(x) + tan(x) + asin(x) + acos(x) + atan(x) + atan2(x, y) + atan2(1.0, x);
    terms[3] = sinh(x) + cosh(x) + tanh(x) + asinh(x) + acosh(1 + x) + atanh(x);
    for (CeedInt k = 0; k < 4; k++) sum += coefficient[k] * terms[k];
    sum += erf(x) + erfc(2 * x) + lgamma(x) + tgamma(x) + lgamma(-x);
    sum += floor(x) + ceil(x) + trunc(3 * x) * x + round(2 * x) * x + rint(2 * x);
    sum += fmin(x, y) * x + fmax(x, 0.5) * x + fdim(x, 0.4) * x + fmod(y, x) * 0.01 + remainder(y, x) * 0.01;
    sum += copysign(x, -1.0) + fma(x, y, x) + ldexp(x, 2) + branches(x);
    out[0][i] = in[1][i] * sum;
  }
  return 0;
}
#include <ritz/point-function.h>

// ---- A point function: mu u^3 and mu (1 + |grad u|^2) grad u ----

CEED_QFUNCTION_HELPER void gradient_dependent(const void *ctx, const CeedScalar u[1],
                                              const CeedScalar grad_u[1][3], CeedScalar v[1],
                                              CeedScalar grad_v[1][3]) {
  const Moduli *m = (const Moduli *)ctx;
  CeedScalar square = 1;
  for (int d = 0; d < 3; d++) square += grad_u[0][d] * grad_u[0][d];
  v[0] = m->mu * pow(u[0], 3);
  for (int d = 0; d < 3; d++) grad_v[0][d] = m->mu * square * grad_u[0][d];
}
RITZ_POINT_FUNCTION(GradientDependent, 3, 1, gradient_dependent)

#endif
