// SPDX-License-Identifier: BSD-2-Clause
// Functions on interior facets, and those of elements and of the boundary beside them, for
// test-interior-penalty.c.
#ifndef RITZ_TESTS_PENALTY_FUNCTIONS_H
#define RITZ_TESTS_PENALTY_FUNCTIONS_H

#include <ritz/point-function.h>

// b . n, for a constant wind b.
CEED_QFUNCTION_HELPER CeedScalar wind_across(const int dim, const CeedScalar *n) {
  const CeedScalar b[3] = {1, -0.5, 0.25};
  CeedScalar sum = 0;

  for (int d = 0; d < dim; d++) sum += b[d] * n[d];
  return sum;
}

// sum_d a_d n_d
CEED_QFUNCTION_HELPER CeedScalar along_normal(const int dim, const CeedScalar *a, const CeedScalar *n) {
  CeedScalar sum = 0;

  for (int d = 0; d < dim; d++) sum += a[d] * n[d];
  return sum;
}

// Interior penalty: c (1/h_0 + 1/h_1) beside jumps, where c stands in the context; on the boundary 2 c / h,
// of which 2/h is the second number.
#define PENALTY_FUNCTIONS(D)                                                                                 \
  CEED_QFUNCTION_HELPER void penalty_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n,       \
                                            const CeedScalar *h, const CeedScalar(*u)[1],                    \
                                            const CeedScalar(*grad_u)[1][D], CeedScalar(*v)[1],              \
                                            CeedScalar(*grad_v)[1][D]) {                                     \
    const CeedScalar c = ((const CeedScalar *)ctx)[0], jump = u[0][0] - u[1][0];                             \
    const CeedScalar mean =                                                                                  \
        (along_normal(D, grad_u[0][0], n) + along_normal(D, grad_u[1][0], n)) / (CeedScalar)2;               \
    (void)x;                                                                                                 \
    v[0][0] = c * (1 / h[0] + 1 / h[1]) * jump - mean;                                                       \
    v[1][0] = -v[0][0];                                                                                      \
    for (int d = 0; d < D; d++) grad_v[0][0][d] = grad_v[1][0][d] = -jump * n[d] / (CeedScalar)2;            \
  }                                                                                                          \
  RITZ_INTERIOR_FACET_GRADIENT_FUNCTION(penalty_##D, D, 1, penalty_at_##D)                                   \
                                                                                                             \
  CEED_QFUNCTION_HELPER void held_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n,          \
                                         const CeedScalar *u, const CeedScalar(*grad_u)[D], CeedScalar *v,   \
                                         CeedScalar(*grad_v)[D]) {                                           \
    const CeedScalar *c = (const CeedScalar *)ctx;                                                           \
    (void)x;                                                                                                 \
    v[0] = c[0] * c[1] * u[0] - along_normal(D, grad_u[0], n);                                               \
    for (int d = 0; d < D; d++) grad_v[0][d] = -u[0] * n[d];                                                 \
  }                                                                                                          \
  RITZ_FACET_GRADIENT_FUNCTION(held_##D, D, 1, held_at_##D)                                                  \
                                                                                                             \
  /* the value upwind is carried across */                                                                   \
  CEED_QFUNCTION_HELPER void upwind_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n,        \
                                           const CeedScalar(*u)[1], CeedScalar(*v)[1]) {                     \
    const CeedScalar wind = wind_across(D, n);                                                               \
    (void)ctx;                                                                                               \
    (void)x;                                                                                                 \
    v[0][0] = (wind * (u[0][0] + u[1][0]) + fabs(wind) * (u[0][0] - u[1][0])) / (CeedScalar)2;               \
    v[1][0] = -v[0][0];                                                                                      \
  }                                                                                                          \
  RITZ_INTERIOR_FACET_FUNCTION(upwind_##D, D, 1, upwind_at_##D)                                              \
                                                                                                             \
  CEED_QFUNCTION_HELPER void outflow_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n,       \
                                            const CeedScalar *u, CeedScalar *v) {                            \
    const CeedScalar wind = wind_across(D, n);                                                               \
    (void)ctx;                                                                                               \
    (void)x;                                                                                                 \
    v[0] = (wind + fabs(wind)) / (CeedScalar)2 * u[0];                                                       \
  }                                                                                                          \
  RITZ_FACET_FUNCTION(outflow_##D, D, 1, outflow_at_##D)                                                     \
                                                                                                             \
  CEED_QFUNCTION_HELPER void carried_at_##D(const void *ctx, const CeedScalar *u,                            \
                                            const CeedScalar(*grad_u)[D], CeedScalar *v,                     \
                                            CeedScalar(*grad_v)[D]) {                                        \
    (void)ctx;                                                                                               \
    (void)grad_u;                                                                                            \
    v[0] = 0;                                                                                                \
    for (int d = 0; d < D; d++) {                                                                            \
      CeedScalar e[3] = {0, 0, 0};                                                                           \
      e[d] = 1;                                                                                              \
      grad_v[0][d] = -wind_across(D, e) * u[0];                                                              \
    }                                                                                                        \
  }                                                                                                          \
  RITZ_POINT_FUNCTION(carried_##D, D, 1, carried_at_##D)                                                     \
                                                                                                             \
  /* the square of the jump of the normal derivative, times the mean height of the elements */               \
  CEED_QFUNCTION_HELPER void kink_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n,          \
                                         const CeedScalar *h, const CeedScalar(*u)[1],                       \
                                         const CeedScalar(*grad_u)[1][D], CeedScalar(*v)[1],                 \
                                         CeedScalar(*grad_v)[1][D]) {                                        \
    const CeedScalar jump = along_normal(D, grad_u[0][0], n) - along_normal(D, grad_u[1][0], n);             \
    (void)ctx;                                                                                               \
    (void)x;                                                                                                 \
    (void)u;                                                                                                 \
    v[0][0] = v[1][0] = (h[0] + h[1]) / (CeedScalar)2 * jump * jump;                                         \
    for (int d = 0; d < D; d++) grad_v[0][0][d] = grad_v[1][0][d] = 0;                                       \
  }                                                                                                          \
  RITZ_INTERIOR_FACET_GRADIENT_FUNCTION(kink_##D, D, 1, kink_at_##D)

PENALTY_FUNCTIONS(1)
PENALTY_FUNCTIONS(2)
PENALTY_FUNCTIONS(3)

#endif
