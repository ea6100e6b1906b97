// SPDX-License-Identifier: BSD-2-Clause
// Which box, and which separable operator on it, an operator is: what sweeps over vertex patches
// (core/patch-sweep.h) need of it. Called by solver/patches.c.
#ifndef RITZ_SOLVER_PATCH_BOX_H
#define RITZ_SOLVER_PATCH_BOX_H

#include <ritz/space.h>

#include "core/patch-sweep.h"
#include "solver/system.h"

// *box: sizes, ends, positions and tables of the space's mesh with these constraints; factors zero. Tables
// are the caller's. CEED_ERROR_UNSUPPORTED: no rectangular box of quadrilaterals or hexahedra, constraints
// that are not all entries of some sides, both with what was found.
int ritz_patch_box_create(Ceed ceed, const char *call, RitzSpace space, RitzIndices constraints,
                          RitzPatchBox *box);
void ritz_patch_box_clear(RitzPatchBox *box);
// The factors, from entries of the operator's matrix on one patch, which one apply gives. Right where the
// operator is separable; what else it may be is for others to find out.
int ritz_patch_box_find_factors(const RitzSystem *system, RitzPatchBox *box);

#endif
