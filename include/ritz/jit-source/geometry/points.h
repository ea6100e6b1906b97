// SPDX-License-Identifier: BSD-2-Clause
// One quadrature point of the operators of ritz/geometry.h: Jacobian, and the two forms of diffusion.
// Included by the QFunctions beside it and by ritz/point-function.h; compiled for the host and at run
// time.
//
// Notation as in ritz/geometry.h: det, k_d with grad u = (1/det) sum_d k_d du/dr_d, w. Layouts: derivative of
// component c along direction d at point i of Q at [(d*num_comp + c)*Q + i]. Symmetric matrices: the diagonal
// first, entry (a,b) beside it at dim(dim+1)/2 - (a+b): 2D 00 11 01, 3D 00 11 22 12 02 01.
//
// dim, space_dim and num_comp are constants wherever speed matters: loops over them vanish.
#ifndef RITZ_GEOMETRY_POINTS_H
#define RITZ_GEOMETRY_POINTS_H

#include <ceed/types.h>
#ifndef CEED_RUNNING_JIT_PASS
#include <math.h>
#endif

// Loops over directions and components have to vanish before gcc turns the loop over points into vectors.
#if defined(CEED_RUNNING_JIT_PASS) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define RITZ_POINT_UNROLL _Pragma("GCC unroll 16")
#else
#define RITZ_POINT_UNROLL
#endif

// Kernels for CUDA have a faster one (kernels/gpu/qfunction.h).
#ifndef RITZ_QUOTIENT
#define RITZ_QUOTIENT(a, b) ((a) / (b))
#endif

// Context of all operators.
typedef struct {
  CeedInt dim, space_dim, num_comp; // for functions without constants of their own
  CeedInt none;                     // 0: contexts are compared byte by byte, so none may lack a value
  CeedScalar lambda, mu;            // constant parts of the coefficients that are not in stored numbers
} RitzGeometryContext;

// What setup.h can make, in this order of the numbers of a point.
enum {
  RITZ_SETUP_MASS = 1,              // lambda w det
  RITZ_SETUP_METRIC = 2,            // mu w / det K K^T, dim (dim+1)/2 numbers
  RITZ_SETUP_INVERSE = 4,           // mu w / det
  RITZ_SETUP_MASS_WEIGHT = 8,       // lambda w
  RITZ_SETUP_DIFFUSION_WEIGHT = 16, // mu w
  RITZ_SETUP_GRADIENTS = 32,        // k_d / det: component c at d*dim + c
};

// Context of setup.h.
typedef struct {
  CeedInt dim, space_dim;
  CeedInt wanted;        // a set of the above
  CeedInt none;          // 0, as in RitzGeometryContext
  CeedScalar lambda, mu; // times the coefficients at the point, where there are any
} RitzGeometrySetup;

CEED_QFUNCTION_HELPER void ritz_geometry_cross(const CeedScalar a[3], const CeedScalar b[3],
                                               CeedScalar c[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

CEED_QFUNCTION_HELPER CeedScalar ritz_geometry_dot(const int n, const CeedScalar a[3],
                                                   const CeedScalar b[3]) {
  CeedScalar sum = a[0] * b[0];
  RITZ_POINT_UNROLL
  for (int c = 1; c < n; c++) sum += a[c] * b[c];
  return sum;
}

// On surfaces and curves: the Jacobian is completed by unit normals.
CEED_QFUNCTION_HELPER CeedScalar ritz_geometry_embedded(const int dim, CeedScalar J[3][3],
                                                        CeedScalar k[3][3]) {
  if (dim == 1) {
    const CeedScalar det = sqrt(ritz_geometry_dot(3, J[0], J[0]));
    RITZ_POINT_UNROLL
    for (int c = 0; c < 3; c++) k[0][c] = J[0][c] / det;
    return det;
  }
  CeedScalar normal[3];
  ritz_geometry_cross(J[0], J[1], normal);
  const CeedScalar det = sqrt(ritz_geometry_dot(3, normal, normal));
  RITZ_POINT_UNROLL
  for (int c = 0; c < 3; c++) normal[c] /= det;
  ritz_geometry_cross(J[1], normal, k[0]);
  ritz_geometry_cross(normal, J[0], k[1]);
  return det;
}

// det and the vectors k_d at point i, from the gradient of the coordinates.
CEED_QFUNCTION_HELPER CeedScalar ritz_geometry_jacobian(const int dim, const int space_dim,
                                                        const CeedScalar *dx, const CeedInt Q,
                                                        const CeedInt i, CeedScalar k[3][3]) {
  CeedScalar J[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}; // J[d]: derivative along direction d

  RITZ_POINT_UNROLL
  for (int d = 0; d < dim; d++) {
    RITZ_POINT_UNROLL
    for (int c = 0; c < space_dim; c++) J[d][c] = dx[(d * space_dim + c) * Q + i];
  }
  if (dim < space_dim) return ritz_geometry_embedded(dim, J, k);
  if (dim == 3) {
    ritz_geometry_cross(J[1], J[2], k[0]);
    ritz_geometry_cross(J[2], J[0], k[1]);
    ritz_geometry_cross(J[0], J[1], k[2]);
    return ritz_geometry_dot(3, J[0], k[0]);
  }
  if (dim == 2) {
    k[0][0] = J[1][1];
    k[0][1] = -J[1][0];
    k[1][0] = -J[0][1];
    k[1][1] = J[0][0];
    return J[0][0] * J[1][1] - J[0][1] * J[1][0];
  }
  k[0][0] = 1;
  return J[0][0];
}

// G_ab = scale k_a . k_b
CEED_QFUNCTION_HELPER void ritz_geometry_metric(const int dim, const int space_dim, const CeedScalar scale,
                                                CeedScalar k[3][3], CeedScalar G[6]) {
  RITZ_POINT_UNROLL
  for (int a = 0; a < dim; a++) {
    G[a] = scale * ritz_geometry_dot(space_dim, k[a], k[a]);
    RITZ_POINT_UNROLL
    for (int b = 0; b < a; b++)
      G[dim * (dim + 1) / 2 - (a + b)] = scale * ritz_geometry_dot(space_dim, k[a], k[b]);
  }
}

// dv_a = sum_b G_ab du_b for every component
CEED_QFUNCTION_HELPER void ritz_geometry_multiply(const int dim, const int num_comp, const CeedScalar G[6],
                                                  const CeedScalar *du, CeedScalar *dv, const CeedInt Q,
                                                  const CeedInt i) {
  RITZ_POINT_UNROLL
  for (int c = 0; c < num_comp; c++) {
    RITZ_POINT_UNROLL
    for (int a = 0; a < dim; a++) {
      CeedScalar sum = G[a] * du[(a * num_comp + c) * Q + i];
      RITZ_POINT_UNROLL
      for (int b = 0; b < dim; b++) {
        if (b != a) sum += G[dim * (dim + 1) / 2 - (a + b)] * du[(b * num_comp + c) * Q + i];
      }
      dv[(a * num_comp + c) * Q + i] = sum;
    }
  }
}

// The same without the matrix: dv_a = k_a . flux, flux = scale sum_b k_b du_b
CEED_QFUNCTION_HELPER void ritz_geometry_flux(const int dim, const int space_dim, const CeedScalar scale,
                                              CeedScalar k[3][3], const CeedScalar *du, CeedScalar *dv,
                                              const CeedInt Q, const CeedInt i) {
  CeedScalar flux[3] = {0, 0, 0};

  RITZ_POINT_UNROLL
  for (int c = 0; c < space_dim; c++) {
    CeedScalar sum = k[0][c] * du[i];
    RITZ_POINT_UNROLL
    for (int b = 1; b < dim; b++) sum += k[b][c] * du[b * Q + i];
    flux[c] = scale * sum;
  }
  RITZ_POINT_UNROLL
  for (int a = 0; a < dim; a++) dv[a * Q + i] = ritz_geometry_dot(space_dim, k[a], flux);
}

// mu w / det K K^T du; scale = mu w / det. The matrix pays from the second component on.
CEED_QFUNCTION_HELPER void ritz_geometry_diffuse(const int dim, const int space_dim, const int num_comp,
                                                 const CeedScalar scale, CeedScalar k[3][3],
                                                 const CeedScalar *du, CeedScalar *dv, const CeedInt Q,
                                                 const CeedInt i) {
  if (num_comp == 1) {
    ritz_geometry_flux(dim, space_dim, scale, k, du, dv, Q, i);
  } else {
    CeedScalar G[6];
    ritz_geometry_metric(dim, space_dim, scale, k, G);
    ritz_geometry_multiply(dim, num_comp, G, du, dv, Q, i);
  }
}

// The same with the matrix without weights as stored, numbers[s*Q + i]; scale: the weight.
CEED_QFUNCTION_HELPER void ritz_geometry_diffuse_stored(const int dim, const int num_comp,
                                                        const CeedScalar scale, const CeedScalar *numbers,
                                                        const CeedScalar *du, CeedScalar *dv, const CeedInt Q,
                                                        const CeedInt i) {
  CeedScalar G[6];

  RITZ_POINT_UNROLL
  for (int s = 0; s < dim * (dim + 1) / 2; s++) G[s] = scale * numbers[s * Q + i];
  ritz_geometry_multiply(dim, num_comp, G, du, dv, Q, i);
}

// v = scale u for every component
CEED_QFUNCTION_HELPER void ritz_geometry_scale(const int num_comp, const CeedScalar scale,
                                               const CeedScalar *u, CeedScalar *v, const CeedInt Q,
                                               const CeedInt i) {
  RITZ_POINT_UNROLL
  for (int c = 0; c < num_comp; c++) v[c * Q + i] = scale * u[c * Q + i];
}

// Head of a QFunction, and what its context says.
#define RITZ_GEOMETRY_CONTEXT ((const RitzGeometryContext *)ctx)
#define RITZ_GEOMETRY_FUNCTION(name)                                                                         \
  CEED_QFUNCTION(name)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out)

#endif
