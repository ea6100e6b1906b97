// SPDX-License-Identifier: BSD-2-Clause
// The steps in which plan/operator.c makes a plan, one file each. Called by plan/ alone.
#ifndef RITZ_PLAN_PARTS_H
#define RITZ_PLAN_PARTS_H

#include "plan/plan.h"

// plan/basis.c: matrices, route and weights of made->basis for fields that ask for `modes`. What was made
// until a failure is freed with the plan.
int ritz_plan_make_basis(Ceed ceed, unsigned modes, RitzPlanBasis *made);
void ritz_plan_free_basis(RitzPlanBasis *basis);

// plan/forms.c: points and constant rows of a basis whose matrices are there; how a space may come to the
// points.
int ritz_plan_find_forms(Ceed ceed, RitzPlanBasis *basis);
RitzForm ritz_plan_form_of(const RitzPlan *plan, const RitzPlanSpace *space);

// plan/fold.c: pairs and folded matrices of a dense basis, if it is symmetric and that pays.
int ritz_plan_fold(Ceed ceed, RitzPlanBasis *basis);

// plan/target.c: the target half.
int ritz_plan_choose_target(RitzPlan *plan, const RitzPlanMachine *machine, RitzPlanRows rows);

// plan/cost.c: plan->cost, from a plan with both halves and the flops of the user's function at a point.
void ritz_plan_count_cost(RitzPlan *plan, double user_flops);

// Data at points that the operator does not change.
static inline bool ritz_plan_is_stored(const RitzPlanSpace *space) {
  return space->is_input && !space->is_active && space->basis < 0;
}

#endif
