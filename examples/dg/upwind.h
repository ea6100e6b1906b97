// SPDX-License-Identifier: BSD-2-Clause
// The fluxes of examples/dg/upwind.c, compiled with it and at run time: du/dt + div (b u) = 0 with a
// constant wind b. Weakly, on each element: the flux b u against gradients inside, and through the facets the
// flux of the side that the wind comes from.
#ifndef RITZ_EXAMPLES_DG_UPWIND_H
#define RITZ_EXAMPLES_DG_UPWIND_H

#include <ritz/point-function.h>

#define WIND_X ((CeedScalar)1)
#define WIND_Y ((CeedScalar)0.5)

CEED_QFUNCTION_HELPER void flux_inside(const void *ctx, const CeedScalar u[1], const CeedScalar grad_u[1][2],
                                       CeedScalar v[1], CeedScalar grad_v[1][2]) {
  (void)ctx;
  (void)grad_u;
  v[0] = 0;
  grad_v[0][0] = WIND_X * u[0];
  grad_v[0][1] = WIND_Y * u[0];
}
RITZ_POINT_FUNCTION(inside, 2, 1, flux_inside)

// What leaves side 0 enters side 1.
CEED_QFUNCTION_HELPER void flux_across(const void *ctx, const CeedScalar x[2], const CeedScalar n[2],
                                       const CeedScalar u[2][1], CeedScalar v[2][1]) {
  const CeedScalar wind = WIND_X * n[0] + WIND_Y * n[1];

  (void)ctx;
  (void)x;
  v[0][0] = -wind * (wind > 0 ? u[0][0] : u[1][0]);
  v[1][0] = -v[0][0];
}
RITZ_INTERIOR_FACET_FUNCTION(across, 2, 1, flux_across)

// Nothing enters the domain.
CEED_QFUNCTION_HELPER void flux_out(const void *ctx, const CeedScalar x[2], const CeedScalar n[2],
                                    const CeedScalar u[1], CeedScalar v[1]) {
  const CeedScalar wind = WIND_X * n[0] + WIND_Y * n[1];

  (void)ctx;
  (void)x;
  v[0] = wind > 0 ? -wind * u[0] : 0;
}
RITZ_FACET_FUNCTION(outflow, 2, 1, flux_out)

#endif
