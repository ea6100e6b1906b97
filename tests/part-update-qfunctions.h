// SPDX-License-Identifier: BSD-2-Clause
// f (u - div (1 + |grad u|^2) grad u) in the plane, of one and two components, as point functions: the
// derivative of a convex energy where f is positive. For test-part-update.c.
#ifndef RITZ_TESTS_PART_UPDATE_QFUNCTIONS_H
#define RITZ_TESTS_PART_UPDATE_QFUNCTIONS_H

#include <ritz/point-function.h>

typedef struct {
  CeedScalar factor;
} PartUpdateContext;

#define PART_UPDATE_FLUX(name, num_comp)                                                                     \
  CEED_QFUNCTION_HELPER void name(const void *ctx, const CeedScalar u[num_comp],                             \
                                  const CeedScalar grad_u[num_comp][2], CeedScalar v[num_comp],              \
                                  CeedScalar grad_v[num_comp][2]) {                                          \
    const CeedScalar f = ((const PartUpdateContext *)ctx)->factor;                                           \
    CeedScalar k = f;                                                                                        \
    for (int c = 0; c < num_comp; c++) k += f * (grad_u[c][0] * grad_u[c][0] + grad_u[c][1] * grad_u[c][1]); \
    for (int c = 0; c < num_comp; c++) {                                                                     \
      v[c] = f * u[c];                                                                                       \
      for (int d = 0; d < 2; d++) grad_v[c][d] = k * grad_u[c][d];                                           \
    }                                                                                                        \
  }
PART_UPDATE_FLUX(part_update_flux_1, 1)
PART_UPDATE_FLUX(part_update_flux_2, 2)
RITZ_POINT_FUNCTION(part_update_1, 2, 1, part_update_flux_1)
RITZ_POINT_FUNCTION(part_update_2, 2, 2, part_update_flux_2)

#endif
