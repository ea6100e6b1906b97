// SPDX-License-Identifier: BSD-2-Clause
// The flux of a known field through facets, as a facet function, for test-facets.c and
// test-interior-facets.c.
#ifndef RITZ_TESTS_FACET_FLUX_H
#define RITZ_TESTS_FACET_FLUX_H

#include <ritz/point-function.h>

// F = (x + y^2, 2 y - z x, 3 z + x y): its divergence is 1, 3 or 6 in dimensions 1, 2, 3.
CEED_QFUNCTION_HELPER CeedScalar facet_flux(const int dim, const CeedScalar *x, const CeedScalar *n) {
  const CeedScalar y = dim > 1 ? x[1] : 0, z = dim > 2 ? x[2] : 0;
  const CeedScalar F[3] = {x[0] + y * y, 2 * y - z * x[0], 3 * z + x[0] * y};
  CeedScalar sum = 0;

  for (int d = 0; d < dim; d++) sum += F[d] * n[d];
  return sum;
}

#define FACET_FLUX(D)                                                                                        \
  CEED_QFUNCTION_HELPER void flux_at_##D(const void *ctx, const CeedScalar *x, const CeedScalar *n,          \
                                         const CeedScalar *u, CeedScalar *v) {                               \
    (void)ctx;                                                                                               \
    (void)u;                                                                                                 \
    v[0] = facet_flux(D, x, n);                                                                              \
  }                                                                                                          \
  RITZ_FACET_FUNCTION(flux_on_facets_##D, D, 1, flux_at_##D)

FACET_FLUX(1)
FACET_FLUX(2)
FACET_FLUX(3)

#endif
