// SPDX-License-Identifier: BSD-2-Clause
// Parts of Schwarz methods. Used by solver/schwarz*.c and, for methods of problems in parts, by
// distributed/schwarz.c.
#ifndef RITZ_SOLVER_SCHWARZ_H
#define RITZ_SOLVER_SCHWARZ_H

#include <ritz/operator.h>

#include "core/vector-pass.h"
#include "solver/separable.h"

extern const RitzPass ritz_schwarz_scale_into;     // of scale, r and w: w = s r
extern const RitzPass ritz_schwarz_scale_in_place; // of scale and z: z = s z

// ops [num]: sum_K E_K^T B_K^-1 E_K over the subdomains of each colour, num = num_colours, or 1: over all
// (solver/schwarz-inverse.c). Those that were made belong to the caller, also after a failure.
int ritz_schwarz_create_inverses(Ceed ceed, const char *name, const RitzSeparable *s,
                                 CeedScalarType precision, RitzOperatorUse use, CeedInt num,
                                 CeedOperator *ops);

// *share: a new vector [num_nodes] of what the subdomains of a node give to its scale, from sums as
// ritz_separables_sum_diagonals makes them; 0: no subdomain has the node. is_weighted: of a method that is
// divided by their number, as additive ones are.
int ritz_schwarz_create_share(Ceed ceed, CeedScalarType precision, bool is_weighted, CeedSize num_nodes,
                              const double *sum, const int32_t *count, CeedVector *share);

// *scale: a new vector, s of every entry of the space (solver/schwarz-scale.c; solver/schwarz.c says what it
// is), and *share, another one, which it comes of; the caller's also after a failure. CEED_ERROR_MAJOR: a
// free entry of the diagonal of op that is no positive number; CEED_ERROR_UNSUPPORTED: a free node in no
// subdomain.
int ritz_schwarz_create_scale(CeedOperator op, const char *call, RitzSpace space, RitzIndices constraints,
                              const RitzSeparables *separables, CeedScalarType precision, CeedVector *share,
                              CeedVector *scale);
// The same from a share that is known, into that vector: for the diagonal that op has now.
int ritz_schwarz_renew_scale(CeedOperator op, const char *call, RitzIndices constraints, CeedVector share,
                             CeedVector scale);

// Fills the scale from a share and a diagonal that are known, all of one precision, either. Constrained
// entries of the diagonal, which is as long as the scale, are to be positive; the scale is zero there, and
// where no subdomain has the node.
int ritz_schwarz_fill_scale(const char *call, CeedVector share, CeedVector diagonal, RitzIndices constraints,
                            CeedVector scale);

#endif
