// SPDX-License-Identifier: BSD-2-Clause
// Functions on interior facets as a user writes them, for test-interior-facets.c.
#ifndef RITZ_TESTS_INTERIOR_FUNCTIONS_H
#define RITZ_TESTS_INTERIOR_FUNCTIONS_H

#include "facet-flux.h"

// sum_d a_d n_d
CEED_QFUNCTION_HELPER CeedScalar along_normal(const int dim, const CeedScalar *a, const CeedScalar *n) {
  CeedScalar sum = 0;

  for (int d = 0; d < dim; d++) sum += a[d] * n[d];
  return sum;
}

#define INTERIOR_FUNCTIONS(D)                                                                                \
  CEED_QFUNCTION_HELPER void both_flux_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n,     \
                                              const CeedScalar(*u)[1], CeedScalar(*v)[1]) {                  \
    (void)ctx;                                                                                               \
    (void)u;                                                                                                 \
    v[0][0] = facet_flux(D, x, n);                                                                           \
    v[1][0] = -v[0][0];                                                                                      \
  }                                                                                                          \
  RITZ_INTERIOR_FACET_FUNCTION(both_flux_##D, D, 1, both_flux_at_##D)                                        \
                                                                                                             \
  CEED_QFUNCTION_HELPER void both_element_flux_at_##D(const void *ctx, const CeedScalar *x,                  \
                                                      const CeedScalar *n, const CeedScalar *h,              \
                                                      const CeedScalar(*u)[1],                               \
                                                      const CeedScalar(*grad_u)[1][D], CeedScalar(*v)[1],    \
                                                      CeedScalar(*grad_v)[1][D]) {                           \
    (void)ctx;                                                                                               \
    (void)h;                                                                                                 \
    (void)u;                                                                                                 \
    (void)grad_u;                                                                                            \
    v[0][0] = facet_flux(D, x, n);                                                                           \
    v[1][0] = -v[0][0];                                                                                      \
    for (int d = 0; d < D; d++) grad_v[0][0][d] = grad_v[1][0][d] = 0;                                       \
  }                                                                                                          \
  RITZ_INTERIOR_FACET_GRADIENT_FUNCTION(both_element_flux_##D, D, 1, both_element_flux_at_##D)               \
                                                                                                             \
  CEED_QFUNCTION_HELPER void jump_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n,          \
                                         const CeedScalar(*u)[2], CeedScalar(*v)[2]) {                       \
    (void)ctx;                                                                                               \
    (void)x;                                                                                                 \
    (void)n;                                                                                                 \
    for (int c = 0; c < 2; c++) {                                                                            \
      v[0][c] = (c + 1) * (u[0][c] - u[1][c]);                                                               \
      v[1][c] = u[0][c] - u[1][c];                                                                           \
    }                                                                                                        \
  }                                                                                                          \
  RITZ_INTERIOR_FACET_FUNCTION(jump_##D, D, 2, jump_at_##D)                                                  \
                                                                                                             \
  CEED_QFUNCTION_HELPER void gradient_jump_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n, \
                                                  const CeedScalar *h, const CeedScalar(*u)[1],              \
                                                  const CeedScalar(*grad_u)[1][D], CeedScalar(*v)[1],        \
                                                  CeedScalar(*grad_v)[1][D]) {                               \
    (void)ctx;                                                                                               \
    (void)x;                                                                                                 \
    (void)n;                                                                                                 \
    (void)h;                                                                                                 \
    v[0][0] = v[1][0] = u[0][0] - u[1][0];                                                                   \
    for (int d = 0; d < D; d++) grad_v[0][0][d] = grad_v[1][0][d] = grad_u[0][0][d] - grad_u[1][0][d];       \
  }                                                                                                          \
  RITZ_INTERIOR_FACET_GRADIENT_FUNCTION(gradient_jump_##D, D, 1, gradient_jump_at_##D)                       \
                                                                                                             \
  /* nonlinear: Burgers' flux with a smooth dissipation; diffusion that depends on the mean */               \
  CEED_QFUNCTION_HELPER void burgers_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n,       \
                                            const CeedScalar(*u)[2], CeedScalar(*v)[2]) {                    \
    (void)ctx;                                                                                               \
    for (int c = 0; c < 2; c++) {                                                                            \
      const CeedScalar a = u[0][c], b = u[1][1 - c];                                                         \
      v[0][c] = n[0] * (a * a + b * b) / (CeedScalar)4 + sqrt(1 + a * a + b * b) * (a - b) + x[0] * a * b;   \
      v[1][c] = sin(a) - b * b * n[D - 1];                                                                   \
    }                                                                                                        \
  }                                                                                                          \
  RITZ_INTERIOR_FACET_FUNCTION(burgers_##D, D, 2, burgers_at_##D)                                            \
                                                                                                             \
  CEED_QFUNCTION_HELPER void thermal_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n,       \
                                            const CeedScalar *h, const CeedScalar(*u)[2],                    \
                                            const CeedScalar(*grad_u)[2][D], CeedScalar(*v)[2],              \
                                            CeedScalar(*grad_v)[2][D]) {                                     \
    (void)ctx;                                                                                               \
    (void)x;                                                                                                 \
    for (int c = 0; c < 2; c++) {                                                                            \
      const CeedScalar mean = u[0][c] + u[1][c], jump = u[0][c] - u[1][c];                                   \
      const CeedScalar k = 1 + mean * mean;                                                                  \
      v[0][c] = jump / h[0] - k * along_normal(D, grad_u[0][c], n);                                          \
      v[1][c] = -jump / h[1] + k * along_normal(D, grad_u[1][1 - c], n);                                     \
      for (int d = 0; d < D; d++) {                                                                          \
        grad_v[0][c][d] = -jump * k * n[d];                                                                  \
        grad_v[1][c][d] = sin(jump) * grad_u[0][c][d];                                                       \
      }                                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
  RITZ_INTERIOR_FACET_GRADIENT_FUNCTION(thermal_##D, D, 2, thermal_at_##D)

INTERIOR_FUNCTIONS(1)
INTERIOR_FUNCTIONS(2)
INTERIOR_FUNCTIONS(3)

#endif
