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

// Pragmas for gcc: loops over directions and components are unrolled before the loop over points is
// vectorized; outputs do not overlap inputs. (clang's pragmas fail on a loop that it cannot vectorize, as of
// unknown length.)
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define SOLVE_UNROLL  _Pragma("GCC unroll 3")
#define SOLVE_VECTORS _Pragma("GCC ivdep")
#else
#define SOLVE_UNROLL
#define SOLVE_VECTORS
#endif

typedef struct {
  CeedInt dim, space_dim, num_comp, is_axisymmetric;
  // The known solution is `amplitude` times s = product of sin(pi x_c), in every component; its source in
  // component c is `a` times s plus `b` times the sum over d != c of the derivatives of s along c and d,
  // axisymmetric with what solve_ring_source adds.
  CeedScalar amplitude, a, b, ring;
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
CEED_QFUNCTION_HELPER CeedScalar solve_geometry(const CeedInt dim, const CeedInt space_dim,
                                                const CeedScalar *dx, const CeedInt Q, const CeedInt i,
                                                CeedScalar k[3][3]) {
  CeedScalar J[3][3] = {{0}}, normal[3], det; // J[d]: derivative of the position along direction d

  if (dim == 0) return 1; // a point, the facet of a line
  SOLVE_UNROLL
  for (CeedInt d = 0; d < dim; d++) {
    SOLVE_UNROLL
    for (CeedInt c = 0; c < space_dim; c++) J[d][c] = dx[(d * space_dim + c) * Q + i];
  }
  if (dim == 3) {
    solve_cross(J[1], J[2], k[0]);
    solve_cross(J[2], J[0], k[1]);
    solve_cross(J[0], J[1], k[2]);
    return solve_dot(J[0], k[0]);
  }
  if (dim == 2) {
    solve_cross(J[0], J[1], normal);
    det = space_dim == 2 ? fabs(normal[2]) : sqrt(solve_dot(normal, normal));
    SOLVE_UNROLL
    for (int c = 0; c < 3; c++) normal[c] /= det;
    solve_cross(J[1], normal, k[0]);
    solve_cross(normal, J[0], k[1]);
    return det;
  }
  det = sqrt(solve_dot(J[0], J[0]));
  SOLVE_UNROLL
  for (int c = 0; c < 3; c++) k[0][c] = J[0][c] / det;
  return det;
}

// Weights of a body of revolution. in: position, weights; out: 2 pi x w, nothing beyond the axis, where
// rounding alone brings points
CEED_QFUNCTION(solve_ring)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++)
    out[0][i] = in[0][i] > 0 ? (CeedScalar)6.283185307179586477 * in[0][i] * in[1][i] : 0;
  return 0;
}

// in: source at the points, gradient of the coordinates, weights; out: v = w det f
CEED_QFUNCTION(solve_source)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3];
    const CeedScalar w_det = in[2][i] * solve_geometry(s->dim, s->space_dim, in[1], Q, i, k);
    for (CeedInt c = 0; c < s->num_comp; c++) out[0][c * Q + i] = w_det * in[0][c * Q + i];
  }
  return 0;
}

// x_a x x_b at point i of a facet that is turned so that this points outwards; in the plane x_a turned by -90
// degrees. Lines: of a facet where the line begins -1, else 1.
CEED_QFUNCTION_HELPER void solve_area(const CeedInt space_dim, const CeedScalar *dx, const CeedInt Q,
                                      const CeedInt i, CeedScalar area[3]) {
  area[0] = dx[i] < 0 ? 1 : -1;
  area[1] = area[2] = 0;
  if (space_dim == 2) {
    area[0] = dx[Q + i];
    area[1] = -dx[i];
  }
  if (space_dim == 3) {
    const CeedScalar a[3] = {dx[i], dx[Q + i], dx[2 * Q + i]};
    const CeedScalar b[3] = {dx[3 * Q + i], dx[4 * Q + i], dx[5 * Q + i]};
    solve_cross(a, b, area);
  }
}

// in: derivatives of the position along facets; out: their outward normal
CEED_QFUNCTION(solve_normal)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar area[3];
    solve_area(s->space_dim, in[0], Q, i, area);
    const CeedScalar length = sqrt(solve_dot(area, area));
    for (CeedInt d = 0; d < s->space_dim; d++) out[0][d * Q + i] = area[d] / length;
  }
  return 0;
}

// in: pressure at points of facets, derivatives of the position along them, weights; out: v = -w pressure
// times the normal
CEED_QFUNCTION(solve_pressure)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;

  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar factor = -in[2][i] * in[0][i];
    CeedScalar area[3];
    solve_area(s->space_dim, in[1], Q, i, area);
    for (CeedInt c = 0; c < s->num_comp; c++) out[0][c * Q + i] = factor * area[c];
  }
  return 0;
}

// sin(pi r) for |r| <= 1/2: r times the polynomial of degree 8 in r^2 through the values at Chebyshev points,
// which differs by less than 1e-18.
CEED_QFUNCTION_HELPER CeedScalar solve_half_wave(const CeedScalar r) {
  const CeedScalar t = r * r;
  CeedScalar p = (CeedScalar)7.697826768224191e-07;

  p = p * t - (CeedScalar)2.1903497074626018e-05;
  p = p * t + (CeedScalar)0.0004662998161898394;
  p = p * t - (CeedScalar)0.007370430505916944;
  p = p * t + (CeedScalar)0.0821458865731029;
  p = p * t - (CeedScalar)0.5992645293189447;
  p = p * t + (CeedScalar)2.5501640398773007;
  p = p * t - (CeedScalar)5.167712780049969;
  p = p * t + (CeedScalar)3.141592653589793;
  return r * p;
}

// The nearest integer of |x| <= 2^51, in single precision 2^22: the sum has no digits behind the point.
// (Compilers that heed floating-point exceptions make no vectors of floor.)
CEED_QFUNCTION_HELPER CeedScalar solve_round(const CeedScalar x) {
  const CeedScalar large =
      (CeedScalar)(sizeof(CeedScalar) == 4 ? 12582912.0 : 6755399441055744.0); // 1.5 / eps
  const CeedScalar sum = x + large;

  return sum - large;
}

// sin(pi x) and cos(pi x) without a branch, so that loops over points vectorise: the distance r to the
// nearest integer is exact, and cos(pi r) = sin(pi (1/2 - |r|)).
CEED_QFUNCTION_HELPER void solve_wave(const CeedScalar x, CeedScalar *sine, CeedScalar *cosine) {
  const CeedScalar n = solve_round(x), r = x - n;
  const CeedScalar odd = n / 2 - solve_round(n / 2); // 1/2 or -1/2 for odd n, else 0
  const CeedScalar factor = 1 - 8 * odd * odd;

  *sine = factor * solve_half_wave(r);
  *cosine = factor * solve_half_wave((CeedScalar)0.5 - fabs(r));
}

// Sine and pi times cosine of pi x_c at point i; 1 and 0 beyond the space.
CEED_QFUNCTION_HELPER void solve_waves(const CeedInt space_dim, const CeedScalar *x, const CeedInt Q,
                                       const CeedInt i, CeedScalar sine[3], CeedScalar cosine[3]) {
  SOLVE_UNROLL
  for (CeedInt c = 0; c < 3; c++) {
    sine[c] = 1;
    cosine[c] = 0;
    if (c < space_dim) {
      solve_wave(x[c * Q + i], &sine[c], &cosine[c]);
      cosine[c] *= (CeedScalar)3.14159265358979323846;
    }
  }
}

// What the source of the known solution has in component c of num_comp because circles close, where it has
// the value s, the derivatives dr and dz: see problem-exact.c.
CEED_QFUNCTION_HELPER CeedScalar solve_ring_source(const SolveContext *known, const CeedInt c,
                                                   const CeedScalar r, const CeedScalar s,
                                                   const CeedScalar dr, const CeedScalar dz) {
  if (known->num_comp == 1) return -known->ring * dr / r;
  if (c == 0) return (known->b - known->ring) * (dr - s / r) / r;
  return (known->b * dz - known->ring * dr) / r;
}

// solve_sine_source for dimensions that the compiler may know.
CEED_QFUNCTION_HELPER int solve_sine_source_of(const CeedInt dim, const CeedInt space_dim,
                                               const CeedInt num_comp, const SolveContext *s, const CeedInt Q,
                                               const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *x = in[0], *dx = in[1], *weights = in[2], a = s->a, b = s->b;
  CeedScalar *v = out[0];

  SOLVE_VECTORS
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3] = {{0}}, sine[3], cosine[3];
    const CeedScalar w_det = weights[i] * solve_geometry(dim, space_dim, dx, Q, i, k);

    solve_waves(space_dim, x, Q, i, sine, cosine);
    const CeedScalar mixed[3] = {cosine[1] * cosine[2] * sine[0], cosine[0] * cosine[2] * sine[1],
                                 cosine[0] * cosine[1] * sine[2]}; // without direction 0, 1, 2
    SOLVE_UNROLL
    for (CeedInt c = 0; c < num_comp; c++) {
      CeedScalar sum = 0;
      SOLVE_UNROLL
      for (CeedInt d = 0; d < space_dim; d++) sum += d == c ? 0 : mixed[3 - c - d];
      CeedScalar source = a * sine[0] * sine[1] * sine[2] + b * sum;
      if (space_dim == 2 && s->is_axisymmetric)
        source += solve_ring_source(s, c, x[i], sine[0] * sine[1], cosine[0] * sine[1], sine[0] * cosine[1]);
      v[c * Q + i] = w_det * source;
    }
  }
  return 0;
}

// in: coordinates, their gradient, weights; out: v = w det times the source of the known solution
CEED_QFUNCTION(solve_sine_source)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;

  if (s->dim == 3 && s->num_comp == 1) return solve_sine_source_of(3, 3, 1, s, Q, in, out);
  if (s->dim == 3 && s->num_comp == 3) return solve_sine_source_of(3, 3, 3, s, Q, in, out);
  if (s->dim == 2 && s->space_dim == 2 && s->num_comp == 1)
    return solve_sine_source_of(2, 2, 1, s, Q, in, out);
  return solve_sine_source_of(s->dim, s->space_dim, s->num_comp, s, Q, in, out);
}

// solve_sine_errors for dimensions that the compiler may know.
CEED_QFUNCTION_HELPER int solve_sine_errors_of(const CeedInt dim, const CeedInt space_dim, const CeedInt nc,
                                               const SolveContext *s, const CeedInt Q,
                                               const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *x = in[0], *dx = in[1], *weights = in[2], *u = in[3], *du = in[4];
  const CeedScalar amplitude = s->amplitude;
  CeedScalar *errors = out[0];

  SOLVE_VECTORS
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3] = {{0}}, sine[3], cosine[3], values = 0, slopes = 0;
    const CeedScalar det = solve_geometry(dim, space_dim, dx, Q, i, k), inverse = 1 / det;

    solve_waves(space_dim, x, Q, i, sine, cosine);
    const CeedScalar exact = amplitude * sine[0] * sine[1] * sine[2];
    const CeedScalar gradient[3] = {cosine[0] * sine[1] * sine[2], sine[0] * cosine[1] * sine[2],
                                    sine[0] * sine[1] * cosine[2]};
    SOLVE_UNROLL
    for (CeedInt c = 0; c < nc; c++) {
      values += (u[c * Q + i] - exact) * (u[c * Q + i] - exact);
      SOLVE_UNROLL
      for (CeedInt e = 0; e < space_dim; e++) {
        CeedScalar slope = 0;
        SOLVE_UNROLL
        for (CeedInt d = 0; d < dim; d++) slope += k[d][e] * du[(d * nc + c) * Q + i];
        slope = slope * inverse - amplitude * gradient[e];
        slopes += slope * slope;
      }
      if (space_dim == 2 && s->is_axisymmetric && c == 0 && nc > 1) {
        const CeedScalar strain = (u[i] - exact) / x[i]; // of circles
        slopes += strain * strain;
      }
    }
    errors[i] = weights[i] * det * values;
    errors[Q + i] = weights[i] * det * slopes;
  }
  return 0;
}

// Squared errors against the known solution, times w det, summed over components.
// in: coordinates, their gradient, weights, u, du; out: [(u - exact)^2, |grad u - grad exact|^2] w det
CEED_QFUNCTION(solve_sine_errors)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;

  if (s->dim == 3 && s->num_comp == 1) return solve_sine_errors_of(3, 3, 1, s, Q, in, out);
  if (s->dim == 3 && s->num_comp == 3) return solve_sine_errors_of(3, 3, 3, s, Q, in, out);
  if (s->dim == 2 && s->space_dim == 2 && s->num_comp == 1)
    return solve_sine_errors_of(2, 2, 1, s, Q, in, out);
  return solve_sine_errors_of(s->dim, s->space_dim, s->num_comp, s, Q, in, out);
}

// in: gradient of the coordinates, position, displacement u, du; out: its gradient, that of component c along
// x_e at 3 c + e, zeros across the plane, where axisymmetric bodies have the strain of circles
CEED_QFUNCTION(solve_gradient)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;
  const CeedInt nc = s->num_comp;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3], grad[3][3] = {{0}};
    const CeedScalar det = solve_geometry(s->dim, s->space_dim, in[0], Q, i, k);

    for (CeedInt c = 0; c < nc; c++) {
      for (CeedInt e = 0; e < nc; e++) {
        for (CeedInt d = 0; d < s->dim; d++) grad[c][e] += k[d][e] * in[3][(d * nc + c) * Q + i] / det;
      }
    }
    if (s->is_axisymmetric) grad[2][2] = in[2][i] / in[1][i];
    for (int n = 0; n < 9; n++) out[0][n * Q + i] = grad[n / 3][n % 3];
  }
  return 0;
}

#endif
