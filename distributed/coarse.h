// SPDX-License-Identifier: BSD-2-Clause
// Coarsest problems that every part has whole: gathered at creation, solved by all alike. Used by
// distributed/multigrid.c only.
#ifndef RITZ_DISTRIBUTED_COARSE_H
#define RITZ_DISTRIBUTED_COARSE_H

#include <ritz/exchange.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct RitzGathered RitzGathered;

enum { RITZ_GATHERED_WHY = 1200 };

// All parts call it together. *gathered stays NULL in all of them where the problem has more than
// max_unknowns, or factors are more work than one part should do; `why` says so. constraints: those of the
// boundary, ghosts included; null [num_null]: vectors of the parts, of which owned entries count.
int ritz_gathered_create(const char *call, RitzPartOperator op, RitzIndices constraints, CeedInt num_null,
                         const CeedVector null[], const RitzDirectOptions *options, int64_t max_unknowns,
                         char why[RITZ_GATHERED_WHY], RitzGathered **gathered);
// For new values of the same operator, in all parts together; they fail together where it cannot be
// factorized.
int ritz_gathered_update(RitzGathered *gathered, RitzPartOperator op);
int ritz_gathered_destroy(RitzGathered **gathered);
// x := the solution at owned entries and at ghosts, zero at constrained ones. b: owned entries of the whole
// right-hand side, or, with_ghosts, what is to be added to their owners' in ghosts, too. Vectors of either
// precision. One reduction.
int ritz_gathered_solve(const RitzGathered *gathered, CeedVector b, bool with_ghosts, CeedVector x);
bool ritz_gathered_is_symmetric(const RitzGathered *gathered);
int64_t ritz_gathered_num_unknowns(const RitzGathered *gathered);
int64_t ritz_gathered_bytes(const RitzGathered *gathered); // of this part
int ritz_gathered_view(const RitzGathered *gathered, FILE *stream, int indent);

#endif
