// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of `ritz solve`: geometric factors, mass, diffusion, Helmholtz, sources, errors, on
// elements of any shape in spaces of the same or a larger dimension. Included by problem.c and by run-time
// compilers.
//
// Layouts, at point i of Q: derivative of component c along reference direction d of a field with nc
// components at [(d*nc + c)*Q + i]. Symmetric factors G of dimension dim: the diagonal first, entry (a,b)
// beside it at dim(dim+1)/2 - (a+b): 2D 00 11 01, 3D 00 11 22 12 02 01.
#ifndef RITZ_CLI_QFUNCTIONS_H
#define RITZ_CLI_QFUNCTIONS_H

#include <ceed.h>
#ifndef CEED_RUNNING_JIT_PASS
#include <math.h>
#endif

typedef struct {
  CeedInt dim, space_dim;
  CeedInt has_mass, has_diffusion; // what solve_setup stores
  CeedScalar lambda;               // coefficient of the mass part
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

// in: gradient of the coordinates, weights; out: [lambda w det] and [G_ab = w / det k_a . k_b], as the
// context asks for
CEED_QFUNCTION(solve_setup)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;
  const CeedScalar *dx = in[0], *w = in[1];

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3], *qdata = out[0] + i;
    const CeedScalar det = solve_geometry(s, dx, Q, i, k);

    if (s->has_mass) {
      *qdata = s->lambda * w[i] * det;
      qdata += Q;
    }
    if (!s->has_diffusion) continue;
    for (CeedInt a = 0; a < s->dim; a++) {
      qdata[a * Q] = w[i] / det * solve_dot(k[a], k[a]);
      for (CeedInt b = 0; b < a; b++)
        qdata[(s->dim * (s->dim + 1) / 2 - (a + b)) * Q] = w[i] / det * solve_dot(k[a], k[b]);
    }
  }
  return 0;
}

// dv = G du
CEED_QFUNCTION_HELPER void solve_diffuse(const int dim, const CeedInt Q, const CeedScalar *du,
                                         const CeedScalar *G, CeedScalar *dv) {
  for (int a = 0; a < dim; a++) {
    CeedPragmaSIMD
    for (CeedInt i = 0; i < Q; i++) dv[a * Q + i] = G[a * Q + i] * du[a * Q + i];
    for (int b = 0; b < dim; b++) {
      const CeedScalar *G_ab = G + (dim * (dim + 1) / 2 - (a + b)) * Q;
      if (a == b) continue;
      CeedPragmaSIMD
      for (CeedInt i = 0; i < Q; i++) dv[a * Q + i] += G_ab[i] * du[b * Q + i];
    }
  }
}

// v = qdata u
CEED_QFUNCTION(solve_mass)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[1][i] * in[0][i];
  return 0;
}

CEED_QFUNCTION(solve_diffusion_1)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  solve_diffuse(1, Q, in[0], in[1], out[0]);
  return 0;
}

CEED_QFUNCTION(solve_diffusion_2)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  solve_diffuse(2, Q, in[0], in[1], out[0]);
  return 0;
}

CEED_QFUNCTION(solve_diffusion_3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  solve_diffuse(3, Q, in[0], in[1], out[0]);
  return 0;
}

// in: du, qdata, u; out: dv = G du, v = lambda w det u
CEED_QFUNCTION_HELPER int solve_helmholtz(const int dim, const CeedInt Q, const CeedScalar *const *in,
                                          CeedScalar *const *out) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) out[1][i] = in[1][i] * in[2][i];
  solve_diffuse(dim, Q, in[0], in[1] + Q, out[0]);
  return 0;
}

CEED_QFUNCTION(solve_helmholtz_1)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return solve_helmholtz(1, Q, in, out);
}

CEED_QFUNCTION(solve_helmholtz_2)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return solve_helmholtz(2, Q, in, out);
}

CEED_QFUNCTION(solve_helmholtz_3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return solve_helmholtz(3, Q, in, out);
}

// in: source at the points, gradient of the coordinates, weights; out: v = w det f
CEED_QFUNCTION(solve_source)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3];
    out[0][i] = in[2][i] * solve_geometry(s, in[1], Q, i, k) * in[0][i];
  }
  return 0;
}

// Squared errors against u = product of sin(pi x_c), times w det.
// in: coordinates, their gradient, weights, u, du; out: [(u - u_exact)^2, |grad u - grad u_exact|^2] w det
CEED_QFUNCTION(solve_sine_errors)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;
  const CeedScalar *x = in[0], *dx = in[1], *w = in[2], *u = in[3], *du = in[4], pi = 3.14159265358979323846;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3], sine[3] = {1, 1, 1}, cosine[3] = {0, 0, 0}, sum = 0;
    const CeedScalar det = solve_geometry(s, dx, Q, i, k);

    for (CeedInt c = 0; c < s->space_dim; c++) {
      sine[c] = sin(pi * x[c * Q + i]);
      cosine[c] = pi * cos(pi * x[c * Q + i]);
    }
    const CeedScalar exact_gradient[3] = {cosine[0] * sine[1] * sine[2], sine[0] * cosine[1] * sine[2],
                                          sine[0] * sine[1] * cosine[2]};
    for (CeedInt c = 0; c < s->space_dim; c++) {
      CeedScalar slope = 0;
      for (CeedInt d = 0; d < s->dim; d++) slope += k[d][c] * du[d * Q + i];
      slope = slope / det - exact_gradient[c];
      sum += slope * slope;
    }
    const CeedScalar difference = u[i] - sine[0] * sine[1] * sine[2];
    out[0][i] = w[i] * det * difference * difference;
    out[0][Q + i] = w[i] * det * sum;
  }
  return 0;
}

#endif
