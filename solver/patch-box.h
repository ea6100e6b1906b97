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
// The box of num_cells in the last direction that `piece` belongs to, with planes between all of its cells
// and values given at these ends of the last direction. *box is the caller's.
int ritz_patch_box_extend(Ceed ceed, const RitzPatchBox *piece, CeedInt num_cells, double *const planes[3],
                          const bool is_fixed[2], RitzPatchBox *box);
// Cells begin .. end - 1 of the last direction, with all patches that lie in them, in the colours of the box.
// *window is the caller's.
int ritz_patch_box_cut(Ceed ceed, const RitzPatchBox *box, int64_t begin, int64_t end, RitzPatchBox *window);

// What a sweep may change of a solution by rounding, which grows in a patch like its condition, p^3 in
// practice; in entries of order one.
double ritz_patch_box_tolerance(const RitzPatchBox *box);

// Which entries of the box the vectors of a system have, from their first entry on; in one part: all. x, y:
// work vectors of the box's precision, borrowed.
typedef struct {
  CeedSize first, num_owned;
  CeedVector x, y;
} RitzPatchShare;
// The factors, from entries of the operator's matrix on one patch, which one apply gives. Right where the
// operator is separable; what else it may be is for others to find out.
// In parts all make the call together, sums over vectors being those of all of them.
int ritz_patch_box_find_factors(const RitzSystem *system, const RitzPatchShare *share, RitzPatchBox *box);

// A sweep whose kernel begins to be made: that of the patches of a system, which does not depend on its
// factors; sweeps made meanwhile share it. *sweep belongs to the caller, also after a failure.
int ritz_patches_begin(const RitzSystem *system, const char *call, RitzSpace space, RitzPatchForm form,
                       RitzPatchSweep *sweep);

#endif
