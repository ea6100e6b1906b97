// SPDX-License-Identifier: BSD-2-Clause
// What the QFunctions of `ritz solve` that run once or a few times share: context, and the geometry of
// elements of any shape in spaces of the same or a larger dimension. (What is applied in every iteration
// comes from ritz/geometry.h and elasticity.h.) Included by source.h, sine.h and von-mises.h, compiled for
// the host and at run time.
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
  CeedInt dim, space_dim, num_comp;
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

#endif
