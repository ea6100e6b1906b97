// SPDX-License-Identifier: BSD-2-Clause
// Facet functions as a user writes them, for test-facets.c.
#ifndef RITZ_TESTS_FACET_FUNCTIONS_H
#define RITZ_TESTS_FACET_FUNCTIONS_H

#include "facet-flux.h"

#define FACET_FUNCTIONS(D)                                                                                   \
  CEED_QFUNCTION_HELPER void element_flux_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n,  \
                                                 const CeedScalar *u, const CeedScalar(*grad_u)[D],          \
                                                 CeedScalar *v, CeedScalar(*grad_v)[D]) {                    \
    (void)ctx;                                                                                               \
    (void)u;                                                                                                 \
    (void)grad_u;                                                                                            \
    v[0] = facet_flux(D, x, n);                                                                              \
    for (int d = 0; d < D; d++) grad_v[0][d] = 0;                                                            \
  }                                                                                                          \
  RITZ_FACET_GRADIENT_FUNCTION(element_flux_on_facets_##D, D, 1, element_flux_at_##D)                        \
                                                                                                             \
  /* the normal derivative */                                                                                \
  CEED_QFUNCTION_HELPER void derivative_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n,    \
                                               const CeedScalar *u, const CeedScalar(*grad_u)[D],            \
                                               CeedScalar *v, CeedScalar(*grad_v)[D]) {                      \
    (void)ctx;                                                                                               \
    (void)x;                                                                                                 \
    (void)u;                                                                                                 \
    v[0] = 0;                                                                                                \
    for (int d = 0; d < D; d++) {                                                                            \
      v[0] += grad_u[0][d] * n[d];                                                                           \
      grad_v[0][d] = 0;                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
  RITZ_FACET_GRADIENT_FUNCTION(derivative_on_facets_##D, D, 1, derivative_at_##D)                            \
                                                                                                             \
  /* Nitsche's method: u (gamma v - dv/dn) - du/dn v for each component */                                   \
  CEED_QFUNCTION_HELPER void nitsche_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n,       \
                                            const CeedScalar *u, const CeedScalar(*grad_u)[D],               \
                                            CeedScalar *v, CeedScalar(*grad_v)[D]) {                         \
    const CeedScalar gamma = *(const CeedScalar *)ctx;                                                       \
    (void)x;                                                                                                 \
    for (int c = 0; c < 2; c++) {                                                                            \
      v[c] = gamma * u[c];                                                                                   \
      for (int d = 0; d < D; d++) {                                                                          \
        v[c] -= grad_u[c][d] * n[d];                                                                         \
        grad_v[c][d] = -u[c] * n[d];                                                                         \
      }                                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
  RITZ_FACET_GRADIENT_FUNCTION(nitsche_on_facets_##D, D, 2, nitsche_at_##D)                                  \
                                                                                                             \
  /* Robin's condition */                                                                                    \
  CEED_QFUNCTION_HELPER void robin_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n,         \
                                          const CeedScalar *u, CeedScalar *v) {                              \
    const CeedScalar gamma = *(const CeedScalar *)ctx;                                                       \
    (void)n;                                                                                                 \
    for (int c = 0; c < 2; c++) v[c] = gamma * (1 + x[0] * x[0]) * u[c];                                     \
  }                                                                                                          \
  RITZ_FACET_FUNCTION(robin_on_facets_##D, D, 2, robin_at_##D)

// A load that follows the deformation: a pressure u |u|^2 along the normal of the deformed facet, to first
// order.
CEED_QFUNCTION_HELPER void follower_at_3(const void *ctx, const CeedScalar *x, const CeedScalar *n,
                                         const CeedScalar *u, const CeedScalar (*grad_u)[3], CeedScalar *v,
                                         CeedScalar (*grad_v)[3]) {
  const CeedScalar square = u[0] * u[0] + u[1] * u[1];

  (void)ctx;
  for (int c = 0; c < 2; c++) {
    v[c] = square * u[c] * (1 + x[0]);
    for (int d = 0; d < 3; d++) {
      v[c] += grad_u[c][d] * n[d] * u[1 - c];
      grad_v[c][d] = sin(u[c]) * n[d];
    }
  }
}
RITZ_FACET_GRADIENT_FUNCTION(follower_on_facets_3, 3, 2, follower_at_3)

CEED_QFUNCTION_HELPER void radiation_at_3(const void *ctx, const CeedScalar *x, const CeedScalar *n,
                                          const CeedScalar *u, CeedScalar *v) {
  (void)ctx;
  for (int c = 0; c < 2; c++) v[c] = (x[1] + n[0]) * u[c] * u[c] * u[c] * u[c];
}
RITZ_FACET_FUNCTION(radiation_on_facets_3, 3, 2, radiation_at_3)

FACET_FUNCTIONS(1)
FACET_FUNCTIONS(2)
FACET_FUNCTIONS(3)

#endif
