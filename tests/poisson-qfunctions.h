// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of -div grad u = f with a known solution, for tests/poisson.c. A source that devices compile at
// run time, so it is C and C++.
#ifndef RITZ_TESTS_POISSON_QFUNCTIONS_H
#define RITZ_TESTS_POISSON_QFUNCTIONS_H

#include <ceed/types.h>

#ifndef CEED_RUNNING_JIT_PASS
#include <math.h>
#endif

// Context: u(x) = prod_d sin(wave x_d + shift_d) in dim dimensions, or with power >= 1 the polynomial
// (wave sum_d shift_d x_d)^power.
typedef struct {
  CeedInt dim, power;
  double wave, shift[3];
} Solution;

CEED_QFUNCTION_HELPER double power_of(double base, CeedInt exponent) {
  double result = 1.0;

  for (CeedInt i = 0; i < exponent; i++) result *= base;
  return result;
}

// wave sum_d shift_d x_d
CEED_QFUNCTION_HELPER double plane_at(const Solution *s, const double x[3]) {
  double sum = 0.0;

  for (CeedInt d = 0; d < s->dim; d++) sum += s->wave * s->shift[d] * x[d];
  return sum;
}

CEED_QFUNCTION_HELPER double polynomial_at(const Solution *s, const double x[3], double gradient[3]) {
  const double plane = plane_at(s, x), slope = s->power * power_of(plane, s->power - 1);

  for (CeedInt d = 0; d < s->dim; d++) gradient[d] = slope * s->wave * s->shift[d];
  return power_of(plane, s->power);
}

CEED_QFUNCTION_HELPER double wave_at(const Solution *s, const double x[3], double gradient[3]) {
  double u = 1.0;

  for (CeedInt d = 0; d < s->dim; d++) {
    double slope = 1.0;

    for (CeedInt k = 0; k < s->dim; k++) {
      slope *= k == d ? s->wave * cos(s->wave * x[k] + s->shift[k]) : sin(s->wave * x[k] + s->shift[k]);
    }
    gradient[d] = slope;
    u *= sin(s->wave * x[d] + s->shift[d]);
  }
  return u;
}

// u at x, and its derivatives.
CEED_QFUNCTION_HELPER double solution_at(const Solution *s, const double x[3], double gradient[3]) {
  return s->power > 0 ? polynomial_at(s, x, gradient) : wave_at(s, x, gradient);
}

// f = -div grad u at x
CEED_QFUNCTION_HELPER double source_at(const Solution *s, const double x[3]) {
  double gradient[3], square = 0.0;

  if (s->power <= 0) return s->dim * s->wave * s->wave * wave_at(s, x, gradient);
  for (CeedInt d = 0; d < s->dim; d++) square += s->wave * s->wave * s->shift[d] * s->shift[d];
  return -s->power * (s->power - 1) * square * power_of(plane_at(s, x), s->power - 2);
}

// Point i of dx, J[c][g] = dx_c / dX_g from the number g*dim + c; K = adj(J) = det(J) J^-1. Returns det J.
CEED_QFUNCTION_HELPER CeedScalar adjugate(CeedInt dim, CeedInt Q, CeedInt i, const CeedScalar *dx,
                                          CeedScalar K[3][3]) {
  CeedScalar J[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

  for (CeedInt g = 0; g < dim; g++) {
    for (CeedInt c = 0; c < dim; c++) J[c][g] = dx[(g * dim + c) * Q + i];
  }
  for (CeedInt g = 0; g < 3; g++) {
    const CeedInt g1 = (g + 1) % 3, g2 = (g + 2) % 3;

    for (CeedInt c = 0; c < 3; c++) {
      const CeedInt c1 = (c + 1) % 3, c2 = (c + 2) % 3;

      K[g][c] = J[c1][g1] * J[c2][g2] - J[c2][g1] * J[c1][g2];
    }
  }
  return J[0][0] * K[0][0] + J[1][0] * K[0][1] + J[2][0] * K[0][2];
}

// in: [0] dx [dim][dim][Q]   [1] weights [Q]
// out: [0] metric [dim][dim][Q], w det(J) J^-1 J^-T
CEED_QFUNCTION(KnownMetric)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedInt dim = ((const Solution *)ctx)->dim;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar K[3][3];
    const CeedScalar scale = in[1][i] / adjugate(dim, Q, i, in[0], K);

    for (CeedInt g = 0; g < dim; g++) {
      for (CeedInt h = 0; h < dim; h++) {
        CeedScalar sum = 0;

        for (CeedInt c = 0; c < dim; c++) sum += K[g][c] * K[h][c];
        out[0][(g * dim + h) * Q + i] = scale * sum;
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

// in: [0] du [dim][Q]   [1] metric [dim][dim][Q]
// out: [0] dv [dim][Q]
CEED_QFUNCTION(KnownLaplacian)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedInt dim = ((const Solution *)ctx)->dim;

  for (CeedInt g = 0; g < dim; g++) {
    for (CeedInt i = 0; i < Q; i++) {
      CeedScalar sum = 0;

      for (CeedInt h = 0; h < dim; h++) sum += in[1][(g * dim + h) * Q + i] * in[0][h * Q + i];
      out[0][g * Q + i] = sum;
    }
  }
  return CEED_ERROR_SUCCESS;
}

// in: [0] x [dim][Q]   [1] dx [dim][dim][Q]   [2] weights [Q]
// out: [0] v [Q], w det(J) f(x)
CEED_QFUNCTION(KnownSource)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const Solution *const s = (const Solution *)ctx;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar K[3][3];
    const CeedScalar det = adjugate(s->dim, Q, i, in[1], K);
    double x[3];

    for (CeedInt d = 0; d < s->dim; d++) x[d] = in[0][d * Q + i];
    out[0][i] = in[2][i] * det * (CeedScalar)source_at(s, x);
  }
  return CEED_ERROR_SUCCESS;
}

// in: [0] x [dim][Q]   [1] dx [dim][dim][Q]   [2] weights [Q]   [3] u_h [Q]   [4] du_h [dim][Q]
// out: [0] error [3][Q], w det(J) times (u_h - u)^2, |grad(u_h - u)|^2 and u^2
CEED_QFUNCTION(KnownError)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const Solution *const s = (const Solution *)ctx;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar K[3][3];
    const CeedScalar det = adjugate(s->dim, Q, i, in[1], K), measure = in[2][i] * det;
    double x[3], gradient[3], sum = 0.0;

    for (CeedInt d = 0; d < s->dim; d++) x[d] = in[0][d * Q + i];
    const double u = solution_at(s, x, gradient), difference = in[3][i] - u;

    for (CeedInt c = 0; c < s->dim; c++) {
      double slope = -gradient[c];

      for (CeedInt g = 0; g < s->dim; g++) slope += K[g][c] * in[4][g * Q + i] / det;
      sum += slope * slope;
    }
    out[0][i] = measure * (CeedScalar)(difference * difference);
    out[0][Q + i] = measure * (CeedScalar)sum;
    out[0][2 * Q + i] = measure * (CeedScalar)(u * u);
  }
  return CEED_ERROR_SUCCESS;
}

#endif
