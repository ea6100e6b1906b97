// SPDX-License-Identifier: BSD-2-Clause
// Values and physical gradients of functions at one quadrature point, and what is tested by them: what
// ritz/point-function.h and the texts of ritz/form.h are made of. Notation and layouts of points.h.
#ifndef RITZ_GEOMETRY_FIELDS_H
#define RITZ_GEOMETRY_FIELDS_H

#include <ritz/jit-source/geometry/points.h>

// value[c] = u of component c
CEED_QFUNCTION_HELPER void ritz_form_values(const int num_comp, const CeedScalar *u, const CeedInt Q,
                                            const CeedInt i, CeedScalar *value) {
  RITZ_POINT_UNROLL
  for (int c = 0; c < num_comp; c++) value[c] = u[c * Q + i];
}

// grad[c*dim + x] = sum_d inverse[d*dim + x] du_d of component c
CEED_QFUNCTION_HELPER void ritz_point_gradients(const int dim, const int num_comp, const CeedScalar *inverse,
                                                const CeedScalar *du, const CeedInt Q, const CeedInt i,
                                                CeedScalar *grad) {
  RITZ_POINT_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_POINT_UNROLL
    for (int x = 0; x < dim; x++) {
      CeedScalar sum = inverse[x] * du[c * Q + i];
      RITZ_POINT_UNROLL
      for (int d = 1; d < dim; d++) sum += inverse[d * dim + x] * du[(d * num_comp + c) * Q + i];
      grad[c * dim + x] = sum;
    }
  }
}

// v = weight value
CEED_QFUNCTION_HELPER void ritz_form_test_values(const int num_comp, const CeedScalar weight,
                                                 const CeedScalar *value, const CeedInt Q, const CeedInt i,
                                                 CeedScalar *v) {
  RITZ_POINT_UNROLL
  for (int c = 0; c < num_comp; c++) v[c * Q + i] = weight * value[c];
}

// dv = weight inverse grad
CEED_QFUNCTION_HELPER void ritz_form_test_gradients(const int dim, const int num_comp,
                                                    const CeedScalar *inverse, const CeedScalar weight,
                                                    const CeedScalar *grad, const CeedInt Q, const CeedInt i,
                                                    CeedScalar *dv) {
  RITZ_POINT_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_POINT_UNROLL
    for (int d = 0; d < dim; d++) {
      CeedScalar sum = inverse[d * dim] * grad[c * dim];
      RITZ_POINT_UNROLL
      for (int x = 1; x < dim; x++) sum += inverse[d * dim + x] * grad[c * dim + x];
      dv[(d * num_comp + c) * Q + i] = weight * sum;
    }
  }
}

// G = weight times the numbers of a metric, stored as in points.h
CEED_QFUNCTION_HELPER void ritz_form_metric(const int num, const CeedScalar weight, const CeedScalar *numbers,
                                            const CeedInt Q, const CeedInt i, CeedScalar *G) {
  RITZ_POINT_UNROLL
  for (int s = 0; s < num; s++) G[s] = weight * numbers[s * Q + i];
}

// Raised gradients: grad[c*dim + a] = sum_b G_ab du_b of component c
CEED_QFUNCTION_HELPER void ritz_form_raised_gradients(const int dim, const int num_comp, const CeedScalar *G,
                                                      const CeedScalar *du, const CeedInt Q, const CeedInt i,
                                                      CeedScalar *grad) {
  RITZ_POINT_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_POINT_UNROLL
    for (int a = 0; a < dim; a++) {
      CeedScalar sum = G[a] * du[(a * num_comp + c) * Q + i];
      RITZ_POINT_UNROLL
      for (int b = 0; b < dim; b++) {
        if (b != a) sum += G[dim * (dim + 1) / 2 - (a + b)] * du[(b * num_comp + c) * Q + i];
      }
      grad[c * dim + a] = sum;
    }
  }
}

// What is tested by raised gradients: dv = grad
CEED_QFUNCTION_HELPER void ritz_form_test_raised(const int dim, const int num_comp, const CeedScalar *grad,
                                                 const CeedInt Q, const CeedInt i, CeedScalar *dv) {
  RITZ_POINT_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_POINT_UNROLL
    for (int d = 0; d < dim; d++) dv[(d * num_comp + c) * Q + i] = grad[c * dim + d];
  }
}

// inverse[d*dim + x]: row d of the inverse Jacobian; returns det.
CEED_QFUNCTION_HELPER CeedScalar ritz_point_invert(const int dim, const CeedScalar *dx, const CeedInt Q,
                                                   const CeedInt i, CeedScalar *inverse) {
  CeedScalar k[3][3];
  const CeedScalar det = ritz_geometry_jacobian(dim, dim, dx, Q, i, k), reciprocal = RITZ_QUOTIENT(1, det);
  RITZ_POINT_UNROLL
  for (int d = 0; d < dim; d++) {
    RITZ_POINT_UNROLL
    for (int x = 0; x < dim; x++) inverse[d * dim + x] = reciprocal * k[d][x];
  }
  return det;
}

// The outward normal of a facet; returns its area by that of the reference facet. dx: derivatives of the
// position along the facet (dim 1: of the element, whose facet is a point).
CEED_QFUNCTION_HELPER CeedScalar ritz_facet_normal(const int dim, const CeedScalar *dx, const CeedInt Q,
                                                   const CeedInt i, CeedScalar *n) {
  CeedScalar normal[3] = {dx[i] < 0 ? (CeedScalar)1 : (CeedScalar)-1, 0, 0};
  if (dim == 2) {
    normal[0] = dx[Q + i];
    normal[1] = -dx[i];
  }
  if (dim == 3) {
    const CeedScalar a[3] = {dx[i], dx[Q + i], dx[2 * Q + i]};
    const CeedScalar b[3] = {dx[3 * Q + i], dx[4 * Q + i], dx[5 * Q + i]};
    ritz_geometry_cross(a, b, normal);
  }
  const CeedScalar area = dim == 1 ? 1 : sqrt(ritz_geometry_dot(dim, normal, normal));
  const CeedScalar reciprocal = RITZ_QUOTIENT(1, area);
  RITZ_POINT_UNROLL
  for (int d = 0; d < dim; d++) n[d] = reciprocal * normal[d];
  return area;
}

// The same from the inverse Jacobian of an element, whose last direction leaves the facet; det: its
// determinant.
CEED_QFUNCTION_HELPER CeedScalar ritz_facet_normal_of_element(const int dim, const CeedScalar *inverse,
                                                              const CeedScalar det, CeedScalar *n) {
  const CeedScalar *across = inverse + (dim - 1) * dim;
  const CeedScalar length = sqrt(ritz_geometry_dot(dim, across, across)),
                   reciprocal = RITZ_QUOTIENT(-1, length);
  RITZ_POINT_UNROLL
  for (int d = 0; d < dim; d++) n[d] = reciprocal * across[d];
  return length * (det < 0 ? -det : det);
}

// The height of an element over the facet, from its inverse Jacobian: the last direction leaves the facet,
// and goes from 0 to 2.
CEED_QFUNCTION_HELPER CeedScalar ritz_facet_height(const int dim, const CeedScalar *inverse) {
  const CeedScalar *across = inverse + (dim - 1) * dim;
  return RITZ_QUOTIENT(2, sqrt(ritz_geometry_dot(dim, across, across)));
}

#endif
