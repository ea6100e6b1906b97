// SPDX-License-Identifier: BSD-2-Clause
// A tensor basis prepared for evaluation at arbitrary points, element after element.
#ifndef RITZ_BACKENDS_REF_POINTS_H
#define RITZ_BACKENDS_REF_POINTS_H

#include "core/core.h"

typedef struct {
  CeedBasis basis;          // borrowed
  CeedScalar *to_chebyshev; // owned, [Q_1d][P_1d]
  double *values;           // owned, [dim][Q_1d] Chebyshev polynomials at one point ...
  double *derivatives;      // ... and their derivatives, in the same memory
  CeedScalar *coefficients; // owned, [num_comp][Q]; `weights` and `work` are in the same memory
  CeedScalar *weights;      // [Q]
  CeedScalar *work;
} RitzRefPoints;

// Close also after a failed open.
int ritz_ref_points_open(CeedBasis basis, RitzRefPoints *p);
void ritz_ref_points_close(RitzRefPoints *p);

// One element with n points: x [dim][n], nodal array [num_comp][P], values [num_comp][n] or gradients
// [dim][num_comp][n]. Transposed: adds into the nodal array.
void ritz_ref_points_element(RitzRefPoints *p, CeedTransposeMode t_mode, CeedEvalMode mode, CeedInt n,
                             const CeedScalar *x, const CeedScalar *u, CeedScalar *v);

#endif
