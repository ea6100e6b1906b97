// SPDX-License-Identifier: BSD-2-Clause
// A function of values and physical gradients at a point as QFunctions on the geometry of a mesh, and
// functions of normals and values on facets and interior facets (below). The user writes, in a header of his
// own that includes this one and nothing that a run-time compiler has not,
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
//
// With the position as the argument after ctx, f(ctx, x[DIM], u, grad_u, v, grad_v), it is
//
//     RITZ_POSITION_FUNCTION(name, DIM, NC, f)
//
// with RITZ_POSITION_FUNCTION_TABLE.
#ifndef RITZ_POINT_FUNCTION_H
#define RITZ_POINT_FUNCTION_H

#include <ritz/jit-source/geometry/fields.h>

// in: u, du, (x,) [w det, inverse Jacobian], which is in[at]; out: v, dv
#define RITZ_POINT_FUNCTION_STORED(name, dim, num_comp, f, call, at)                                         \
  CEED_QFUNCTION(name)                                                                                       \
  (void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {                        \
    CeedPragmaSIMD                                                                                           \
    for (CeedInt i = 0; i < Q; i++) {                                                                        \
      CeedScalar inverse[(dim) * (dim)];                                                                     \
      ritz_form_values((dim) * (dim), in[at] + Q, Q, i, inverse);                                            \
      RITZ_POINT_FUNCTION_BODY(dim, num_comp, f, call, in[at][i])                                            \
    }                                                                                                        \
    return CEED_ERROR_SUCCESS;                                                                               \
  }

// in: u, du, (x,) gradient of the coordinates, which is in[at], weights; out: v, dv
#define RITZ_POINT_FUNCTION_COMPUTED(name, dim, num_comp, f, call, at)                                       \
  CEED_QFUNCTION(name)                                                                                       \
  (void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {                        \
    CeedPragmaSIMD                                                                                           \
    for (CeedInt i = 0; i < Q; i++) {                                                                        \
      CeedScalar inverse[(dim) * (dim)];                                                                     \
      const CeedScalar det = ritz_point_invert(dim, in[at], Q, i, inverse);                                  \
      RITZ_POINT_FUNCTION_BODY(dim, num_comp, f, call, in[(at) + 1][i] * det)                                \
    }                                                                                                        \
    return CEED_ERROR_SUCCESS;                                                                               \
  }

#define RITZ_POINT_FUNCTION_BODY(dim, num_comp, f, call, weight)                                             \
  CeedScalar u[num_comp], grad_u[(num_comp) * (dim)], v[num_comp], grad_v[(num_comp) * (dim)];               \
  ritz_form_values(num_comp, in[0], Q, i, u);                                                                \
  ritz_point_gradients(dim, num_comp, inverse, in[1], Q, i, grad_u);                                         \
  call(dim, f);                                                                                              \
  const CeedScalar w = weight;                                                                               \
  ritz_form_test_values(num_comp, w, v, Q, i, out[0]);                                                       \
  ritz_form_test_gradients(dim, num_comp, inverse, w, grad_v, Q, i, out[1]);

#define RITZ_POINT_FUNCTION_CALL(dim, f)                                                                     \
  f(ctx, u, (const CeedScalar(*)[dim])grad_u, v, (CeedScalar(*)[dim])grad_v)
#define RITZ_POSITION_FUNCTION_CALL(dim, f)                                                                  \
  CeedScalar x[dim];                                                                                         \
  ritz_form_values(dim, in[2], Q, i, x);                                                                     \
  f(ctx, x, u, (const CeedScalar(*)[dim])grad_u, v, (CeedScalar(*)[dim])grad_v)

#define RITZ_POINT_FUNCTION(name, dim, num_comp, f)                                                          \
  RITZ_POINT_FUNCTION_STORED(name##_stored, dim, num_comp, f, RITZ_POINT_FUNCTION_CALL, 2)                   \
  RITZ_POINT_FUNCTION_COMPUTED(name##_computed, dim, num_comp, f, RITZ_POINT_FUNCTION_CALL, 2)
#define RITZ_POSITION_FUNCTION(name, dim, num_comp, f)                                                       \
  RITZ_POINT_FUNCTION_STORED(name##_stored, dim, num_comp, f, RITZ_POSITION_FUNCTION_CALL, 3)                \
  RITZ_POINT_FUNCTION_COMPUTED(name##_computed, dim, num_comp, f, RITZ_POSITION_FUNCTION_CALL, 3)

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

// in: u, x, derivatives of x along the facet, weights; out: v
#define RITZ_FACET_FUNCTION(name, dim, num_comp, f)                                                          \
  CEED_QFUNCTION(name)                                                                                       \
  (void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {                        \
    CeedPragmaSIMD                                                                                           \
    for (CeedInt i = 0; i < Q; i++) {                                                                        \
      CeedScalar x[dim], n[dim], u[num_comp], v[num_comp];                                                   \
      const CeedScalar weight = in[3][i] * ritz_facet_normal(dim, in[2], Q, i, n);                           \
      ritz_form_values(dim, in[1], Q, i, x);                                                                 \
      ritz_form_values(num_comp, in[0], Q, i, u);                                                            \
      f(ctx, x, n, u, v);                                                                                    \
      ritz_form_test_values(num_comp, weight, v, Q, i, out[0]);                                              \
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
      ritz_form_values(dim, in[2], Q, i, x);                                                                 \
      ritz_form_values(num_comp, in[0], Q, i, u);                                                            \
      ritz_point_gradients(dim, num_comp, inverse, in[1], Q, i, grad_u);                                     \
      f(ctx, x, n, u, (const CeedScalar(*)[dim])grad_u, v, (CeedScalar(*)[dim])grad_v);                      \
      ritz_form_test_values(num_comp, weight, v, Q, i, out[0]);                                              \
      ritz_form_test_gradients(dim, num_comp, inverse, weight, grad_v, Q, i, out[1]);                        \
    }                                                                                                        \
    return CEED_ERROR_SUCCESS;                                                                               \
  }

// ---- The same on interior facets (RitzGeometryCreateInteriorFacetOperator) ----
//
//     f(ctx, x[DIM], n[DIM], u[2][NC], v[2][NC])
//     RITZ_INTERIOR_FACET_FUNCTION(name, DIM, NC, f)
//     f(ctx, x[DIM], n[DIM], h[2], u[2][NC], grad_u[2][NC][DIM], v[2][NC], grad_v[2][NC][DIM])
//     RITZ_INTERIOR_FACET_GRADIENT_FUNCTION(name, DIM, NC, f)
//
// f gets the position, the unit normal out of side 0, and what both sides have there, side 0 first: value, or
// value and physical gradient, of each component, and h, the height of the element over the facet, by the
// geometry at the point (exact for affine elements). It sets v, or v and grad_v, of both sides: the integral
// over the facets of sum_s sum_c v[s][c] phi_s,c (+ grad_v[s][c] . grad phi_s,c), phi_s the test function on
// side s. The first form reads the nodes of the facets alone.

// in: u, u1, x, derivatives of x along the facet, weights; out: v, v1
#define RITZ_INTERIOR_FACET_FUNCTION(name, dim, num_comp, f)                                                 \
  CEED_QFUNCTION(name)                                                                                       \
  (void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {                        \
    CeedPragmaSIMD                                                                                           \
    for (CeedInt i = 0; i < Q; i++) {                                                                        \
      CeedScalar x[dim], n[dim], u[2 * (num_comp)], v[2 * (num_comp)];                                       \
      const CeedScalar weight = in[4][i] * ritz_facet_normal(dim, in[3], Q, i, n);                           \
      ritz_form_values(dim, in[2], Q, i, x);                                                                 \
      ritz_form_values(num_comp, in[0], Q, i, u);                                                            \
      ritz_form_values(num_comp, in[1], Q, i, u + (num_comp));                                               \
      f(ctx, x, n, (const CeedScalar(*)[num_comp])u, (CeedScalar(*)[num_comp])v);                            \
      ritz_form_test_values(num_comp, weight, v, Q, i, out[0]);                                              \
      ritz_form_test_values(num_comp, weight, v + (num_comp), Q, i, out[1]);                                 \
    }                                                                                                        \
    return CEED_ERROR_SUCCESS;                                                                               \
  }

// in: u, du, u1, du1, x, gradient of x on both sides, weights; out: v, dv, v1, dv1
#define RITZ_INTERIOR_FACET_GRADIENT_FUNCTION(name, dim, num_comp, f)                                        \
  CEED_QFUNCTION(name)                                                                                       \
  (void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {                        \
    CeedPragmaSIMD                                                                                           \
    for (CeedInt i = 0; i < Q; i++) {                                                                        \
      CeedScalar inverse[(dim) * (dim)], inverse1[(dim) * (dim)], x[dim], n[dim], h[2];                      \
      CeedScalar u[2 * (num_comp)], grad_u[2 * (num_comp) * (dim)];                                          \
      CeedScalar v[2 * (num_comp)], grad_v[2 * (num_comp) * (dim)];                                          \
      const CeedScalar det = ritz_point_invert(dim, in[5], Q, i, inverse);                                   \
      const CeedScalar weight = in[7][i] * ritz_facet_normal_of_element(dim, inverse, det, n);               \
      ritz_point_invert(dim, in[6], Q, i, inverse1);                                                         \
      h[0] = ritz_facet_height(dim, inverse);                                                                \
      h[1] = ritz_facet_height(dim, inverse1);                                                               \
      ritz_form_values(dim, in[4], Q, i, x);                                                                 \
      ritz_form_values(num_comp, in[0], Q, i, u);                                                            \
      ritz_form_values(num_comp, in[2], Q, i, u + (num_comp));                                               \
      ritz_point_gradients(dim, num_comp, inverse, in[1], Q, i, grad_u);                                     \
      ritz_point_gradients(dim, num_comp, inverse1, in[3], Q, i, grad_u + (num_comp) * (dim));               \
      f(ctx, x, n, h, (const CeedScalar(*)[num_comp])u, (const CeedScalar(*)[num_comp][dim])grad_u,          \
        (CeedScalar(*)[num_comp])v, (CeedScalar(*)[num_comp][dim])grad_v);                                   \
      ritz_form_test_values(num_comp, weight, v, Q, i, out[0]);                                              \
      ritz_form_test_gradients(dim, num_comp, inverse, weight, grad_v, Q, i, out[1]);                        \
      ritz_form_test_values(num_comp, weight, v + (num_comp), Q, i, out[2]);                                 \
      ritz_form_test_gradients(dim, num_comp, inverse1, weight, grad_v + (num_comp) * (dim), Q, i, out[3]);  \
    }                                                                                                        \
    return CEED_ERROR_SUCCESS;                                                                               \
  }

// Initializers of a RitzInteriorFacetFunction.
#define RITZ_INTERIOR_FACET_FUNCTION_TABLE(name, dim, num_comp)                                              \
  { (dim), (num_comp), 0, name, name##_loc, 0 }
#define RITZ_INTERIOR_FACET_GRADIENT_FUNCTION_TABLE(name, dim, num_comp)                                     \
  { (dim), (num_comp), 1, name, name##_loc, 0 }

// Initializers of a RitzFacetFunction.
#define RITZ_FACET_FUNCTION_TABLE(name, dim, num_comp)                                                       \
  { (dim), (num_comp), 0, name, name##_loc }
#define RITZ_FACET_GRADIENT_FUNCTION_TABLE(name, dim, num_comp)                                              \
  { (dim), (num_comp), 1, name, name##_loc }

// Initializers of a RitzPointFunction.
#define RITZ_POINT_FUNCTION_TABLE(name, dim, num_comp)                                                       \
  { (dim), (num_comp), name##_stored, name##_computed, name##_stored_loc, name##_computed_loc, 0 }
#define RITZ_POSITION_FUNCTION_TABLE(name, dim, num_comp)                                                    \
  { (dim), (num_comp), name##_stored, name##_computed, name##_stored_loc, name##_computed_loc, 1 }

#endif
