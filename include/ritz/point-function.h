// SPDX-License-Identifier: BSD-2-Clause
// A function of values and physical gradients at a point as QFunctions on the geometry of a mesh, and
// functions of normals and values on facets (below). The user writes, in a header of his own that includes
// this one and nothing that a run-time compiler has not,
//
//     CEED_QFUNCTION_HELPER void f(const void *ctx, const CeedScalar u[NC], const CeedScalar grad_u[NC][DIM],
//                                  CeedScalar v[NC], CeedScalar grad_v[NC][DIM]) {...}
//     RITZ_POINT_FUNCTION(name, DIM, NC, f)
//
// f gets the value and the physical gradient of each component and sets all of v and grad_v, so that the
// operator is the integral of
//
//     sum_c  v_c phi_c + grad_v_c . grad phi_c        for all test functions phi.
//
// ctx is the data of the context given to RitzGeometryCreatePointOperator, or NULL. DIM and NC are literal
// numbers, DIM = 1, 2, 3 the dimension of elements and of space. f is called for single points of many
// elements at once: without branches on data it becomes vector instructions. In the program
//
//     static const RitzPointFunction function = RITZ_POINT_FUNCTION_TABLE(name, DIM, NC);
//
// is what RitzGeometryCreatePointOperator wants (ritz/geometry.h). The user's header needs include guards.
#ifndef RITZ_POINT_FUNCTION_H
#define RITZ_POINT_FUNCTION_H

#include <ritz/jit-source/geometry/points.h>

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

// v and dv = weight v and weight inverse grad_v
CEED_QFUNCTION_HELPER void ritz_point_results(const int dim, const int num_comp, const CeedScalar *inverse,
                                              const CeedScalar weight, const CeedScalar *value,
                                              const CeedScalar *grad, const CeedInt Q, const CeedInt i,
                                              CeedScalar *v, CeedScalar *dv) {
  RITZ_POINT_UNROLL
  for (int c = 0; c < num_comp; c++) {
    v[c * Q + i] = weight * value[c];
    RITZ_POINT_UNROLL
    for (int d = 0; d < dim; d++) {
      CeedScalar sum = inverse[d * dim] * grad[c * dim];
      RITZ_POINT_UNROLL
      for (int x = 1; x < dim; x++) sum += inverse[d * dim + x] * grad[c * dim + x];
      dv[(d * num_comp + c) * Q + i] = weight * sum;
    }
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

// in: u, du, [w det, inverse Jacobian]; out: v, dv
#define RITZ_POINT_FUNCTION_STORED(name, dim, num_comp, f)                                                   \
  CEED_QFUNCTION(name)                                                                                       \
  (void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {                        \
    CeedPragmaSIMD                                                                                           \
    for (CeedInt i = 0; i < Q; i++) {                                                                        \
      CeedScalar inverse[(dim) * (dim)];                                                                     \
      RITZ_POINT_UNROLL                                                                                      \
      for (int n = 0; n < (dim) * (dim); n++) inverse[n] = in[2][(n + 1) * Q + i];                           \
      RITZ_POINT_FUNCTION_BODY(dim, num_comp, f, in[2][i])                                                   \
    }                                                                                                        \
    return CEED_ERROR_SUCCESS;                                                                               \
  }

// in: u, du, gradient of the coordinates, weights; out: v, dv
#define RITZ_POINT_FUNCTION_COMPUTED(name, dim, num_comp, f)                                                 \
  CEED_QFUNCTION(name)                                                                                       \
  (void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {                        \
    CeedPragmaSIMD                                                                                           \
    for (CeedInt i = 0; i < Q; i++) {                                                                        \
      CeedScalar inverse[(dim) * (dim)];                                                                     \
      const CeedScalar det = ritz_point_invert(dim, in[2], Q, i, inverse);                                   \
      RITZ_POINT_FUNCTION_BODY(dim, num_comp, f, in[3][i] * det)                                             \
    }                                                                                                        \
    return CEED_ERROR_SUCCESS;                                                                               \
  }

#define RITZ_POINT_FUNCTION_BODY(dim, num_comp, f, weight)                                                   \
  CeedScalar u[num_comp], grad_u[(num_comp) * (dim)], v[num_comp], grad_v[(num_comp) * (dim)];               \
  RITZ_POINT_UNROLL                                                                                          \
  for (int c = 0; c < (num_comp); c++) u[c] = in[0][c * Q + i];                                              \
  ritz_point_gradients(dim, num_comp, inverse, in[1], Q, i, grad_u);                                         \
  f(ctx, u, (const CeedScalar(*)[dim])grad_u, v, (CeedScalar(*)[dim])grad_v);                                \
  ritz_point_results(dim, num_comp, inverse, weight, v, grad_v, Q, i, out[0], out[1]);

#define RITZ_POINT_FUNCTION(name, dim, num_comp, f)                                                          \
  RITZ_POINT_FUNCTION_STORED(name##_stored, dim, num_comp, f)                                                \
  RITZ_POINT_FUNCTION_COMPUTED(name##_computed, dim, num_comp, f)

// ---- The same on facets (RitzGeometryCreateBoundaryOperator) ----
//
//     f(ctx, x[DIM], n[DIM], u[NC], v[NC])
//     RITZ_FACET_FUNCTION(name, DIM, NC, f)
//     f(ctx, x[DIM], n[DIM], u[NC], grad_u[NC][DIM], v[NC], grad_v[NC][DIM])
//     RITZ_FACET_GRADIENT_FUNCTION(name, DIM, NC, f)
//
// f gets the position, the outward unit normal, and the value, or value and physical gradient, of each
// component, and sets v, or v and grad_v: the integral over the facets of sum_c v_c phi_c (+ grad_v_c . grad
// phi_c) for all test functions phi. The first form reads the nodes of the facets alone.

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

// in: u, x, derivatives of x along the facet, weights; out: v
#define RITZ_FACET_FUNCTION(name, dim, num_comp, f)                                                          \
  CEED_QFUNCTION(name)                                                                                       \
  (void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {                        \
    CeedPragmaSIMD                                                                                           \
    for (CeedInt i = 0; i < Q; i++) {                                                                        \
      CeedScalar x[dim], n[dim], u[num_comp], v[num_comp];                                                   \
      const CeedScalar weight = in[3][i] * ritz_facet_normal(dim, in[2], Q, i, n);                           \
      RITZ_POINT_UNROLL                                                                                      \
      for (int d = 0; d < (dim); d++) x[d] = in[1][d * Q + i];                                               \
      RITZ_POINT_UNROLL                                                                                      \
      for (int c = 0; c < (num_comp); c++) u[c] = in[0][c * Q + i];                                          \
      f(ctx, x, n, u, v);                                                                                    \
      RITZ_POINT_UNROLL                                                                                      \
      for (int c = 0; c < (num_comp); c++) out[0][c * Q + i] = weight * v[c];                                \
    }                                                                                                        \
    return CEED_ERROR_SUCCESS;                                                                               \
  }

// in: u, du, x, gradient of x, weights; out: v, dv
#define RITZ_FACET_GRADIENT_FUNCTION(name, dim, num_comp, f)                                                 \
  CEED_QFUNCTION(name)                                                                                       \
  (void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {                        \
    CeedPragmaSIMD                                                                                           \
    for (CeedInt i = 0; i < Q; i++) {                                                                        \
      CeedScalar inverse[(dim) * (dim)], x[dim], n[dim];                                                     \
      CeedScalar u[num_comp], grad_u[(num_comp) * (dim)], v[num_comp], grad_v[(num_comp) * (dim)];           \
      const CeedScalar det = ritz_point_invert(dim, in[3], Q, i, inverse);                                   \
      const CeedScalar weight = in[4][i] * ritz_facet_normal_of_element(dim, inverse, det, n);               \
      RITZ_POINT_UNROLL                                                                                      \
      for (int d = 0; d < (dim); d++) x[d] = in[2][d * Q + i];                                               \
      RITZ_POINT_UNROLL                                                                                      \
      for (int c = 0; c < (num_comp); c++) u[c] = in[0][c * Q + i];                                          \
      ritz_point_gradients(dim, num_comp, inverse, in[1], Q, i, grad_u);                                     \
      f(ctx, x, n, u, (const CeedScalar(*)[dim])grad_u, v, (CeedScalar(*)[dim])grad_v);                      \
      ritz_point_results(dim, num_comp, inverse, weight, v, grad_v, Q, i, out[0], out[1]);                   \
    }                                                                                                        \
    return CEED_ERROR_SUCCESS;                                                                               \
  }

// Initializers of a RitzFacetFunction.
#define RITZ_FACET_FUNCTION_TABLE(name, dim, num_comp)                                                       \
  { (dim), (num_comp), 0, name, name##_loc }
#define RITZ_FACET_GRADIENT_FUNCTION_TABLE(name, dim, num_comp)                                              \
  { (dim), (num_comp), 1, name, name##_loc }

// Initializer of a RitzPointFunction.
#define RITZ_POINT_FUNCTION_TABLE(name, dim, num_comp)                                                       \
  { (dim), (num_comp), name##_stored, name##_computed, name##_stored_loc, name##_computed_loc }

#endif
