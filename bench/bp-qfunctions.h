// SPDX-License-Identifier: BSD-2-Clause
// Point functions of the bake-off problems: geometric factors and their application. Included by bp.c and by
// run-time compilers.
//
// Layouts, at point i of Q: derivative of component c along reference direction d of a field with nc
// components at [(d*nc + c)*Q + i]; symmetric factors G in the order 00 11 22 12 02 01 at [s*Q + i].
#ifndef RITZ_BENCH_BP_QFUNCTIONS_H
#define RITZ_BENCH_BP_QFUNCTIONS_H

#include <ceed.h>

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

#endif
