// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of the bake-off problems: geometric factors and their application. Included by bp.c and by
// run-time compilers.
//
// Layouts, at point i of Q: derivative of component c along reference direction d of a field with nc
// components at [(d*nc + c)*Q + i]; symmetric factors G in the order 00 11 22 12 02 01 at [s*Q + i].
#ifndef RITZ_BP_QFUNCTIONS_H
#define RITZ_BP_QFUNCTIONS_H

#include <ceed.h>

// Ritz's kernels for CUDA have a faster one.
#ifndef RITZ_QUOTIENT
#define RITZ_QUOTIENT(a, b) ((a) / (b))
#endif

// Row a of the adjugate of the Jacobian at point i: the cross product of columns b and c of J, where (a,b,c)
// is a cyclic permutation of (0,1,2). dx: column d of J has its component k at [(d*3 + k)*Q + i].
CEED_QFUNCTION_HELPER void bp_adjugate_row(const CeedScalar *dx, const CeedInt Q, const CeedInt i,
                                           const int b, const int c, CeedScalar row[3]) {
  const CeedScalar *column_b = dx + 3 * b * Q + i, *column_c = dx + 3 * c * Q + i;

  row[0] = column_b[Q] * column_c[2 * Q] - column_b[2 * Q] * column_c[Q];
  row[1] = column_b[2 * Q] * column_c[0] - column_b[0] * column_c[2 * Q];
  row[2] = column_b[0] * column_c[Q] - column_b[Q] * column_c[0];
}

// in: gradient of the coordinates, weights; out: w det J
CEED_QFUNCTION(bp_mass_build)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *dx = in[0], *w = in[1];
  CeedScalar *qdata = out[0];

  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3];
    bp_adjugate_row(dx, Q, i, 1, 2, k);
    qdata[i] = w[i] * (dx[i] * k[0] + dx[Q + i] * k[1] + dx[2 * Q + i] * k[2]);
  }
  return 0;
}

// in: gradient of the coordinates, weights; out: G = w / det J adj(J) adj(J)^T
CEED_QFUNCTION(bp_diffusion_build)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *dx = in[0], *w = in[1];
  CeedScalar *qdata = out[0];

  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k0[3], k1[3], k2[3];
    bp_adjugate_row(dx, Q, i, 1, 2, k0);
    bp_adjugate_row(dx, Q, i, 2, 0, k1);
    bp_adjugate_row(dx, Q, i, 0, 1, k2);
    const CeedScalar scale = w[i] / (dx[i] * k0[0] + dx[Q + i] * k0[1] + dx[2 * Q + i] * k0[2]);
    qdata[0 * Q + i] = scale * (k0[0] * k0[0] + k0[1] * k0[1] + k0[2] * k0[2]);
    qdata[1 * Q + i] = scale * (k1[0] * k1[0] + k1[1] * k1[1] + k1[2] * k1[2]);
    qdata[2 * Q + i] = scale * (k2[0] * k2[0] + k2[1] * k2[1] + k2[2] * k2[2]);
    qdata[3 * Q + i] = scale * (k1[0] * k2[0] + k1[1] * k2[1] + k1[2] * k2[2]);
    qdata[4 * Q + i] = scale * (k0[0] * k2[0] + k0[1] * k2[1] + k0[2] * k2[2]);
    qdata[5 * Q + i] = scale * (k0[0] * k1[0] + k0[1] * k1[1] + k0[2] * k1[2]);
  }
  return 0;
}

// v_c = qdata u_c
CEED_QFUNCTION_HELPER int bp_mass(const int nc, const CeedInt Q, const CeedScalar *u, const CeedScalar *qdata,
                                  CeedScalar *v) {
  for (int c = 0; c < nc; c++) {
    CeedPragmaSIMD
    for (CeedInt i = 0; i < Q; i++) v[c * Q + i] = qdata[i] * u[c * Q + i];
  }
  return 0;
}

// dv_c = G du_c
CEED_QFUNCTION_HELPER int bp_diffusion(const int nc, const CeedInt Q, const CeedScalar *du,
                                       const CeedScalar *G, CeedScalar *dv) {
  for (int c = 0; c < nc; c++) {
    const CeedScalar *u0 = du + c * Q, *u1 = du + (nc + c) * Q, *u2 = du + (2 * nc + c) * Q;
    CeedScalar *v0 = dv + c * Q, *v1 = dv + (nc + c) * Q, *v2 = dv + (2 * nc + c) * Q;

    CeedPragmaSIMD
    for (CeedInt i = 0; i < Q; i++) {
      v0[i] = G[i] * u0[i] + G[5 * Q + i] * u1[i] + G[4 * Q + i] * u2[i];
      v1[i] = G[5 * Q + i] * u0[i] + G[Q + i] * u1[i] + G[3 * Q + i] * u2[i];
      v2[i] = G[4 * Q + i] * u0[i] + G[3 * Q + i] * u1[i] + G[2 * Q + i] * u2[i];
    }
  }
  return 0;
}

// Determinant of the Jacobian at point i, and its adjugate, row by row.
CEED_QFUNCTION_HELPER CeedScalar bp_adjugate(const CeedScalar *dx, const CeedInt Q, const CeedInt i,
                                             CeedScalar K[9]) {
  bp_adjugate_row(dx, Q, i, 1, 2, K);
  bp_adjugate_row(dx, Q, i, 2, 0, K + 3);
  bp_adjugate_row(dx, Q, i, 0, 1, K + 6);
  return dx[i] * K[0] + dx[Q + i] * K[1] + dx[2 * Q + i] * K[2];
}

// v_c = w det u_c
CEED_QFUNCTION_HELPER int bp_mass_from_gradient(const int nc, const CeedInt Q, const CeedScalar *u,
                                                const CeedScalar *dx, const CeedScalar *w, CeedScalar *v) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3];
    bp_adjugate_row(dx, Q, i, 1, 2, k);
    const CeedScalar factor = w[i] * (dx[i] * k[0] + dx[Q + i] * k[1] + dx[2 * Q + i] * k[2]);
    for (int c = 0; c < nc; c++) v[c * Q + i] = factor * u[c * Q + i];
  }
  return 0;
}

// v_c = w q u_c
CEED_QFUNCTION_HELPER int bp_mass_times_weight(const int nc, const CeedInt Q, const CeedScalar *u,
                                               const CeedScalar *q, const CeedScalar *w, CeedScalar *v) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar factor = w[i] * q[i];
    for (int c = 0; c < nc; c++) v[c * Q + i] = factor * u[c * Q + i];
  }
  return 0;
}

// dv_c = w G du_c
CEED_QFUNCTION_HELPER int bp_diffusion_times_weight(const int nc, const CeedInt Q, const CeedScalar *du,
                                                    const CeedScalar *G, const CeedScalar *w,
                                                    CeedScalar *dv) {
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    for (int c = 0; c < nc; c++) {
      const CeedScalar u0 = du[c * Q + i], u1 = du[(nc + c) * Q + i], u2 = du[(2 * nc + c) * Q + i];
      dv[c * Q + i] = w[i] * (G[i] * u0 + G[5 * Q + i] * u1 + G[4 * Q + i] * u2);
      dv[(nc + c) * Q + i] = w[i] * (G[5 * Q + i] * u0 + G[Q + i] * u1 + G[3 * Q + i] * u2);
      dv[(2 * nc + c) * Q + i] = w[i] * (G[4 * Q + i] * u0 + G[3 * Q + i] * u1 + G[2 * Q + i] * u2);
    }
  }
  return 0;
}

CEED_QFUNCTION(bp_mass_apply)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return bp_mass(1, Q, in[0], in[1], out[0]);
}

CEED_QFUNCTION(bp_mass_apply_3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return bp_mass(3, Q, in[0], in[1], out[0]);
}

CEED_QFUNCTION(bp_diffusion_apply)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return bp_diffusion(1, Q, in[0], in[1], out[0]);
}

CEED_QFUNCTION(bp_diffusion_apply_3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return bp_diffusion(3, Q, in[0], in[1], out[0]);
}

// in: u, gradient of the coordinates, weights
CEED_QFUNCTION(bp_mass_trilinear)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return bp_mass_from_gradient(1, Q, in[0], in[1], in[2], out[0]);
}

CEED_QFUNCTION(bp_mass_trilinear_3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return bp_mass_from_gradient(3, Q, in[0], in[1], in[2], out[0]);
}

// dv = w / det K K^T du without the matrix: a vector in space, then its products with the rows of K.
CEED_QFUNCTION(bp_diffusion_trilinear)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *du = in[0], *dx = in[1], *w = in[2];
  CeedScalar *dv = out[0];

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar K[9];
    const CeedScalar scale = RITZ_QUOTIENT(w[i], bp_adjugate(dx, Q, i, K));
    const CeedScalar u0 = du[i], u1 = du[Q + i], u2 = du[2 * Q + i];
    const CeedScalar f0 = scale * (K[0] * u0 + K[3] * u1 + K[6] * u2);
    const CeedScalar f1 = scale * (K[1] * u0 + K[4] * u1 + K[7] * u2);
    const CeedScalar f2 = scale * (K[2] * u0 + K[5] * u1 + K[8] * u2);
    dv[i] = K[0] * f0 + K[1] * f1 + K[2] * f2;
    dv[Q + i] = K[3] * f0 + K[4] * f1 + K[5] * f2;
    dv[2 * Q + i] = K[6] * f0 + K[7] * f1 + K[8] * f2;
  }
  return 0;
}

// The same with the matrix, which serves three components.
CEED_QFUNCTION(bp_diffusion_trilinear_3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *du = in[0], *dx = in[1], *w = in[2];
  CeedScalar *dv = out[0];

  (void)ctx;
  CeedPragmaSIMD
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar K[9];
    const CeedScalar scale = RITZ_QUOTIENT(w[i], bp_adjugate(dx, Q, i, K));
    const CeedScalar G00 = scale * (K[0] * K[0] + K[1] * K[1] + K[2] * K[2]);
    const CeedScalar G11 = scale * (K[3] * K[3] + K[4] * K[4] + K[5] * K[5]);
    const CeedScalar G22 = scale * (K[6] * K[6] + K[7] * K[7] + K[8] * K[8]);
    const CeedScalar G12 = scale * (K[3] * K[6] + K[4] * K[7] + K[5] * K[8]);
    const CeedScalar G02 = scale * (K[0] * K[6] + K[1] * K[7] + K[2] * K[8]);
    const CeedScalar G01 = scale * (K[0] * K[3] + K[1] * K[4] + K[2] * K[5]);
    for (int c = 0; c < 3; c++) {
      const CeedScalar u0 = du[c * Q + i], u1 = du[(3 + c) * Q + i], u2 = du[(6 + c) * Q + i];
      dv[c * Q + i] = G00 * u0 + G01 * u1 + G02 * u2;
      dv[(3 + c) * Q + i] = G01 * u0 + G11 * u1 + G12 * u2;
      dv[(6 + c) * Q + i] = G02 * u0 + G12 * u1 + G22 * u2;
    }
  }
  return 0;
}

// in: u, factors of the element, weights
CEED_QFUNCTION(bp_mass_affine)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return bp_mass_times_weight(1, Q, in[0], in[1], in[2], out[0]);
}

CEED_QFUNCTION(bp_mass_affine_3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return bp_mass_times_weight(3, Q, in[0], in[1], in[2], out[0]);
}

CEED_QFUNCTION(bp_diffusion_affine)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return bp_diffusion_times_weight(1, Q, in[0], in[1], in[2], out[0]);
}

CEED_QFUNCTION(bp_diffusion_affine_3)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  return bp_diffusion_times_weight(3, Q, in[0], in[1], in[2], out[0]);
}

#endif
