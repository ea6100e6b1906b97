// SPDX-License-Identifier: BSD-2-Clause
// The steps in which plan/operator.c makes a plan, one file each. Called by plan/ alone.
#ifndef RITZ_PLAN_INTERNAL_H
#define RITZ_PLAN_INTERNAL_H

#include "plan/cpu.h"

// A table T that is nearly symmetric is split into an even and an odd part, at half the products, if what
// that leaves out, R = half the difference of T and its mirror image, is small in both operator norms: |R| <=
// this many round-offs of |T|, for values at the points (rows) and for the transposed (columns). Sums of as
// many products as bases have nodes lose as much anyway. Tables of fe/ are symmetric bit for bit; of others
// that are so only up to their own errors, whose R may be hundreds of round-offs, every entry is used as it
// was given: to apply R, too, would cost what the split saves.
enum { RITZ_EVEN_ODD_ROUNDOFFS = 4 };

// plan/basis.c: matrices, route and weights of a basis for fields that ask for `modes`. What was made until a
// failure is freed with the plan.
int ritz_plan_make_basis(CeedBasis basis, unsigned modes, bool allows_blocks, RitzPlanBasis *made);
// Makes a plan's basis for points of each element's own.
int ritz_plan_make_basis_at_points(CeedBasis basis, unsigned modes, RitzPlanBasis *made);
void ritz_plan_free_basis(RitzPlanBasis *basis);

// plan/simple-inputs.c: points and constant rows of a basis whose matrices are there; how a space may come to
// the points.
int ritz_plan_find_simple_rows(CeedBasis basis, RitzPlanBasis *made);
RitzInputKind ritz_plan_input_kind(const RitzPlan *plan, const RitzPlanSpace *space);

// plan/exchange-symmetry.c: pairs and even-odd matrices of a dense basis, if it is symmetric to
// RITZ_EVEN_ODD_ROUNDOFFS, or with `near` to 500, and that pays.
int ritz_plan_find_even_odd(CeedBasis basis, bool near, RitzPlanBasis *made);

// plan/operator.c: all tensor bases have the plan's grid of points, in at most three dimensions.
bool ritz_plan_has_one_grid(const RitzPlan *plan);

// plan/cpu-steps.c: the memory for arrays and calls of a target; fills them for an evaluation and gathers
// that are chosen.
int ritz_cpu_allocate_calls(Ceed ceed, const RitzSteps *list, RitzCpuTarget *target);
void ritz_cpu_lower(const RitzPlan *plan, RitzCpuTarget *target);

// plan/cpu.c: how the kernel of a target reads each space.
void ritz_cpu_find_access(const RitzPlan *plan, const RitzCpuTarget *target, RitzPlanAccess *access);

#endif
