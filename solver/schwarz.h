// SPDX-License-Identifier: BSD-2-Clause
// Parts of Schwarz methods. Used by solver/schwarz*.c only.
#ifndef RITZ_SOLVER_SCHWARZ_H
#define RITZ_SOLVER_SCHWARZ_H

#include <ritz/operator.h>

#include "solver/separable.h"

// ops [num]: sum_K E_K^T B_K^-1 E_K over the subdomains of each colour, num = num_colours, or 1: over all
// (solver/schwarz-inverse.c). Those that were made belong to the caller, also after a failure.
int ritz_schwarz_create_inverses(Ceed ceed, const char *name, const RitzSeparable *s,
                                 CeedScalarType precision, RitzOperatorUse use, CeedInt num,
                                 CeedOperator *ops);

// *scale: a new vector, s of every entry of the space (solver/schwarz-scale.c; solver/schwarz.c says what it
// is). CEED_ERROR_MAJOR: a free entry of the diagonal of op that is no positive number;
// CEED_ERROR_UNSUPPORTED: a free node in no subdomain.
int ritz_schwarz_create_scale(CeedOperator op, const char *call, RitzSpace space, RitzIndices constraints,
                              const RitzSeparables *separables, CeedScalarType precision, CeedVector *scale);

#endif
