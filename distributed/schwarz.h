// SPDX-License-Identifier: BSD-2-Clause
// Smoothers of problems in parts beside Jacobi and point blocks. Used by distributed/multigrid.c.
#ifndef RITZ_DISTRIBUTED_SCHWARZ_H
#define RITZ_DISTRIBUTED_SCHWARZ_H

#include <ritz/exchange.h>
#include <ritz/preconditioner.h>
#include <stdbool.h>

#include "solver/smoother-model.h"

// The element-wise Schwarz method for the operator of the whole problem (distributed/schwarz.c): z is zero on
// constraints (of the boundary) and ghosts, whatever r has there. All parts call it together, and all fail
// with one code where one does. An application takes an exchange to ghosts, hidden behind elements without
// ghosts, and one to owners. Keeps references to the operator's exchange; the operator, which updates read,
// lives as long.
int ritz_part_schwarz_create(const char *call, RitzPartOperator op, RitzIndices constraints,
                             CeedScalarType precision, RitzPreconditioner *pc);

// All parts fail where one does, with one code, before any of them waits for a message.
int ritz_part_agree(const char *call, const char *method, RitzExchange e, int ierr);

// Sweeps over vertex patches of slabs (distributed/patches.c): what a sweep of one part gives, with one
// exchange before it. kept: constraints and ghosts. Where x starts from zero as a smoother, ghosts of it are
// written, too. CEED_ERROR_UNSUPPORTED in all parts: no slabs of a rectangular box, too few layers in one,
// another operator than a separable one. References and agreement as above.
int ritz_part_patches_create(const char *call, RitzPartOperator op, RitzIndices constraints, RitzIndices kept,
                             CeedScalarType precision, bool is_symmetric, RitzPreconditioner *pc);

// What AUTO stands for where there are several components: whether all parts have quadrilaterals or hexahedra
// alone.
int ritz_part_have_directions(RitzSpace space, const RitzTransport *transport, bool *have_directions);

// The smoother that RITZ_SMOOTHER_MEASURED stands for on the finest space (distributed/smoother-choice.c):
// the same in all parts, which call it together. choice->num 0: AUTO's, for several components and meshes
// with simplices, prisms or pyramids.
int ritz_part_choose_smoother(Ceed ceed, RitzSpace space, const RitzTransport *transport,
                              RitzSmootherChoice *choice);
// Leaves the chosen one out, which does not serve; at least two.
void ritz_part_drop_chosen(RitzSmootherChoice *choice);

#endif
