// SPDX-License-Identifier: BSD-2-Clause
// Functions in spaces: taken from formulas, evaluated at points; reactions at boundary parts.
#ifndef RITZ_FUNCTION_H
#define RITZ_FUNCTION_H

#include <ritz/locate.h>
#include <ritz/space.h>

// Values [num_comp] of a function at the position x [space_dim]; returns 0, anything else ends the call,
// which returns that code. Values that are not finite are CEED_ERROR_MAJOR. Called on the thread of the
// caller.
typedef int (*RitzFieldFunction)(void *ctx, const double *x, double *values);

// The Lagrange interpolant of f: its values at all nodes, in u, an L-vector of the space (else
// CEED_ERROR_DIMENSION). Exact for polynomials of the space's degree on affine elements.
CEED_EXTERN int RitzSpaceInterpolate(RitzSpace space, RitzFieldFunction f, void *ctx, CeedVector u);
// The same at the nodes of a boundary part alone (RitzSpaceGetBoundaryNodes); other entries keep their
// values. Errors as RitzMeshGetBoundaryPart, too.
CEED_EXTERN int RitzSpaceInterpolateOnBoundary(RitzSpace space, const char *part, RitzFieldFunction f,
                                               void *ctx, CeedVector u);

// What holds, or flows through, a boundary part: sums[c] = the sum of component c of the residual, A u - f
// without constraints (CeedOperatorApply), over the nodes of the part, [num_comp] numbers on the host. Where
// values are given it is the force or flux that keeps them there, k du/dn integrated over the part, exactly
// in balance with sources and all other parts, and more accurate than gradients of u. Nodes that parts share
// count for each of them. In a part of a mesh: the nodes that it owns, of a residual that is complete there.
// Errors: CEED_ERROR_DIMENSION (residual has not the length of an L-vector), those of
// RitzMeshGetBoundaryPart.
CEED_EXTERN int RitzSpaceGetReactions(RitzSpace space, const char *part, CeedVector residual, double sums[]);

// The function with the L-vector u at num_points points x [num_points][space_dim], on all shapes, in curved
// elements, too: values [num_points][num_comp], an array of the caller's on the host. Points in no element
// get NaN; *num_missed (may be NULL) counts them. locator: of the space's mesh (else
// CEED_ERROR_INCOMPATIBLE). Where an element ends, discontinuous geometry aside, neighbours have the same
// values.
CEED_EXTERN int RitzSpaceEvaluate(RitzSpace space, RitzLocator locator, CeedVector u, int64_t num_points,
                                  const double *x, CeedScalar *values, int64_t *num_missed);

#endif
