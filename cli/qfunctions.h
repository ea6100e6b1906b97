// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of `ritz solve` that run once or a few times: right-hand sides, the known solution, stresses, on
// elements of any shape in spaces of the same or a larger dimension. Included by problem-points.c and by
// run-time compilers. (What is applied in every iteration comes from ritz/geometry.h and elasticity.h.)
//
// Layouts, at point i of Q: derivative of component c along reference direction d of a field with nc
// components at [(d*nc + c)*Q + i].
#ifndef RITZ_CLI_QFUNCTIONS_H
#define RITZ_CLI_QFUNCTIONS_H

#include <ceed.h>
#ifndef CEED_RUNNING_JIT_PASS
#include <math.h>
#endif

typedef struct {
  CeedInt dim, space_dim, num_comp, none; // none: 0, so that every byte has a value
  // The known solution is `amplitude` times s = product of sin(pi x_c), in every component; its source in
  // component c is `a` times s plus `b` times the sum over d != c of the derivatives of s along c and d.
  CeedScalar amplitude, a, b;
} SolveContext;

CEED_QFUNCTION_HELPER void solve_cross(const CeedScalar a[3], const CeedScalar b[3], CeedScalar c[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

CEED_QFUNCTION_HELPER CeedScalar solve_dot(const CeedScalar a[3], const CeedScalar b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Geometry at point i from the gradient of the coordinates: returns the ratio of volumes (areas, lengths)
// det, and rows k_d such that the gradient of u along the element is sum_d k_d du_d / det. In less than three
// dimensions the Jacobian is completed by unit normals.
CEED_QFUNCTION_HELPER CeedScalar solve_geometry(const SolveContext *s, const CeedScalar *dx, const CeedInt Q,
                                                const CeedInt i, CeedScalar k[3][3]) {
  CeedScalar J[3][3] = {{0}}, normal[3], det; // J[d]: derivative of the position along direction d

  for (CeedInt d = 0; d < s->dim; d++) {
    for (CeedInt c = 0; c < s->space_dim; c++) J[d][c] = dx[(d * s->space_dim + c) * Q + i];
  }
  if (s->dim == 3) {
    solve_cross(J[1], J[2], k[0]);
    solve_cross(J[2], J[0], k[1]);
    solve_cross(J[0], J[1], k[2]);
    return solve_dot(J[0], k[0]);
  }
  if (s->dim == 2) {
    solve_cross(J[0], J[1], normal);
    det = sqrt(solve_dot(normal, normal));
    for (int c = 0; c < 3; c++) normal[c] /= det;
    solve_cross(J[1], normal, k[0]);
    solve_cross(normal, J[0], k[1]);
    return det;
  }
  det = sqrt(solve_dot(J[0], J[0]));
  for (int c = 0; c < 3; c++) k[0][c] = J[0][c] / det;
  return det;
}

// in: source at the points, gradient of the coordinates, weights; out: v = w det f
CEED_QFUNCTION(solve_source)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3];
    const CeedScalar w_det = in[2][i] * solve_geometry(s, in[1], Q, i, k);
    for (CeedInt c = 0; c < s->num_comp; c++) out[0][c * Q + i] = w_det * in[0][c * Q + i];
  }
  return 0;
}

// Sine and pi times cosine of pi x_c at point i; 1 and 0 beyond the space.
CEED_QFUNCTION_HELPER void solve_waves(const SolveContext *s, const CeedScalar *x, const CeedInt Q,
                                       const CeedInt i, CeedScalar sine[3], CeedScalar cosine[3]) {
  const CeedScalar pi = 3.14159265358979323846;

  for (CeedInt c = 0; c < 3; c++) {
    sine[c] = c < s->space_dim ? sin(pi * x[c * Q + i]) : 1;
    cosine[c] = c < s->space_dim ? pi * cos(pi * x[c * Q + i]) : 0;
  }
}

// in: coordinates, their gradient, weights; out: v = w det times the source of the known solution
CEED_QFUNCTION(solve_sine_source)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3], sine[3], cosine[3];
    const CeedScalar w_det = in[2][i] * solve_geometry(s, in[1], Q, i, k);

    solve_waves(s, in[0], Q, i, sine, cosine);
    const CeedScalar mixed[3] = {cosine[1] * cosine[2] * sine[0], cosine[0] * cosine[2] * sine[1],
                                 cosine[0] * cosine[1] * sine[2]}; // without direction 0, 1, 2
    for (CeedInt c = 0; c < s->num_comp; c++) {
      CeedScalar sum = 0;
      for (CeedInt d = 0; d < s->space_dim; d++) sum += d == c ? 0 : mixed[3 - c - d];
      out[0][c * Q + i] = w_det * (s->a * sine[0] * sine[1] * sine[2] + s->b * sum);
    }
  }
  return 0;
}

// Squared errors against the known solution, times w det, summed over components.
// in: coordinates, their gradient, weights, u, du; out: [(u - exact)^2, |grad u - grad exact|^2] w det
CEED_QFUNCTION(solve_sine_errors)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;
  const CeedScalar *u = in[3], *du = in[4];
  const CeedInt nc = s->num_comp;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3], sine[3], cosine[3], values = 0, slopes = 0;
    const CeedScalar det = solve_geometry(s, in[1], Q, i, k);

    solve_waves(s, in[0], Q, i, sine, cosine);
    const CeedScalar exact = s->amplitude * sine[0] * sine[1] * sine[2];
    const CeedScalar gradient[3] = {cosine[0] * sine[1] * sine[2], sine[0] * cosine[1] * sine[2],
                                    sine[0] * sine[1] * cosine[2]};
    for (CeedInt c = 0; c < nc; c++) {
      values += (u[c * Q + i] - exact) * (u[c * Q + i] - exact);
      for (CeedInt e = 0; e < s->space_dim; e++) {
        CeedScalar slope = 0;
        for (CeedInt d = 0; d < s->dim; d++) slope += k[d][e] * du[(d * nc + c) * Q + i];
        slope = slope / det - s->amplitude * gradient[e];
        slopes += slope * slope;
      }
    }
    out[0][i] = in[2][i] * det * values;
    out[0][Q + i] = in[2][i] * det * slopes;
  }
  return 0;
}

// in: gradient of the coordinates, du of a displacement; out: von Mises stress for a shear modulus of 1, in
// the plane with vanishing strain across it
CEED_QFUNCTION(solve_von_mises)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;
  const CeedInt nc = s->num_comp;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3], grad[3][3] = {{0}}, sum = 0;
    const CeedScalar det = solve_geometry(s, in[0], Q, i, k);

    for (CeedInt c = 0; c < nc; c++) {
      for (CeedInt e = 0; e < nc; e++) {
        for (CeedInt d = 0; d < s->dim; d++) grad[c][e] += k[d][e] * in[1][(d * nc + c) * Q + i] / det;
      }
    }
    const CeedScalar mean = (grad[0][0] + grad[1][1] + grad[2][2]) / 3;
    for (int c = 0; c < 3; c++) {
      for (int e = 0; e < 3; e++) {
        const CeedScalar part = grad[c][e] + grad[e][c] - (c == e ? 2 * mean : 0); // twice the deviator
        sum += part * part;
      }
    }
    out[0][i] = sqrt((CeedScalar)1.5 * sum);
  }
  return 0;
}

#endif
