// SPDX-License-Identifier: BSD-2-Clause
// The steps in which plan/operator.c makes a plan, one file each. Called by plan/ alone.
#ifndef RITZ_PLAN_PARTS_H
#define RITZ_PLAN_PARTS_H

#include "plan/plan.h"

// plan/basis.c: matrices, route and weights of a basis for fields that ask for `modes`. What was made until a
// failure is freed with the plan.
int ritz_plan_make_basis(CeedBasis basis, unsigned modes, RitzPlanBasis *made);
void ritz_plan_free_basis(RitzPlanBasis *basis);

// plan/forms.c: points and constant rows of a basis whose matrices are there; how a space may come to the
// points.
int ritz_plan_find_forms(CeedBasis basis, RitzPlanBasis *made);
RitzForm ritz_plan_form_of(const RitzPlan *plan, const RitzPlanSpace *space);

// plan/fold.c: pairs and folded matrices of a dense basis, if it is symmetric and that pays.
int ritz_plan_fold(CeedBasis basis, RitzPlanBasis *made);

// plan/operator.c: all tensor bases have the plan's grid of points, in at most three dimensions.
bool ritz_plan_has_one_grid(const RitzPlan *plan);

#endif
