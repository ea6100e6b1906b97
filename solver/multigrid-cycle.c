// SPDX-License-Identifier: BSD-2-Clause
// Multigrid cycles. Called by solver/multigrid.c.
//
// A visit of a level, with b and a first guess x (zero at first), smoother S, prolongation P:
//
//     smooth   x := S(b, x)            num_smooth times
//     residual r := b - A x            constrained entries zero, orthogonal to the nullspace
//     restrict b' := P^T r
//     correct  x' := cycle(b')         from zero; W: and once more; F: and once more as a V-cycle
//     prolong  x := x + P x'           added by the operator itself; constrained entries zero
//     smooth   x := S(b, x)            num_smooth times
//
// The coarsest problem is solved once a visit. A smoother is used in one form before and after: a symmetric
// one makes V- and W-cycles symmetric, because (1 - M A)^T A = A (1 - M A).
//
// Vectors read or written by a V(1,1)-cycle on a level of n entries, in units of n entries, beside those of
// the smoother: residual 2 (apply) + 3 (r := b - r), restriction 1, prolongation 2; of the level below 1 + 1.
// Chebyshev of k steps over Jacobi: 2 k - 1 applies (2 each), and 7 for a step's pass (b, inverse diagonal,
// A x, direction and x read, direction and x written; the first step does not read the direction, the last
// does not write it); from zero the first step saves the apply, and 3. Stored: r, of coarser levels b and x.
//
// Full multigrid restricts b to all levels, solves on the coarsest, and on the others prolongs the solution
// and does one cycle: the error is that of discretization after one application.
#include "core/profile.h"
#include "solver/multigrid.h"

// ---- Times ----

static double begin_level(const RitzMultigrid *mg, CeedInt level) {
  return mg->levels[level].system.ceed->profile ? ritz_profile_seconds() : 0;
}

// Adds the time since `since` where times are counted, and passes the action's code on.
static int end_level(RitzMultigrid *mg, CeedInt level, RitzMultigridWork work, double since, int ierr) {
  RitzCycleLevel *l = &mg->levels[level];
  Ceed ceed = l->system.ceed;
  char name[64];
  double seconds = 0;

  if (ierr || !ceed->profile) return ierr;
  snprintf(name, sizeof(name), "multigrid level %" CeedInt_FMT " %s", level, ritz_multigrid_work_name(work));
  RITZ_TRY(ritz_profile_part(ceed, name, l->n, since, &l->rows[work], &seconds));
  l->seconds[work] += seconds;
  return CEED_ERROR_SUCCESS;
}

// ---- Parts of a visit ----

static int smooth_level(const RitzMultigrid *mg, CeedInt level, CeedVector b, CeedVector x, bool from_zero,
                        bool is_after) {
  const RitzCycleLevel *l = &mg->levels[level];

  for (CeedInt i = 0; i < mg->num_smooth; i++)
    RITZ_TRY(ritz_preconditioner_smooth(l->smoother, &l->system, b, x, from_zero && i == 0, l->r, is_after));
  return CEED_ERROR_SUCCESS;
}

static int smooth(RitzMultigrid *mg, CeedInt level, CeedVector b, CeedVector x, bool from_zero,
                  bool is_after) {
  const double since = begin_level(mg, level);

  return end_level(mg, level, RITZ_MULTIGRID_SMOOTHING, since,
                   smooth_level(mg, level, b, x, from_zero, is_after));
}

static int residual(RitzMultigrid *mg, CeedInt level, CeedVector b, CeedVector x) {
  const RitzCycleLevel *l = &mg->levels[level];
  const double since = begin_level(mg, level);

  return end_level(mg, level, RITZ_MULTIGRID_RESIDUAL, since, ritz_system_residual(&l->system, b, x, l->r));
}

// b of the level below := P^T r
static int restrict_residual(RitzMultigrid *mg, CeedInt level, CeedVector r) {
  const RitzCycleLevel *l = &mg->levels[level];
  const double since = begin_level(mg, level);

  return end_level(mg, level, RITZ_MULTIGRID_TRANSFER, since,
                   CeedOperatorApply(l->restriction, r, l[-1].b, CEED_REQUEST_IMMEDIATE));
}

static int prolong_level(const RitzCycleLevel *l, CeedVector x, bool adds) {
  RITZ_TRY((adds ? CeedOperatorApplyAdd : CeedOperatorApply)(l->prolong, l[-1].x, x, CEED_REQUEST_IMMEDIATE));
  return ritz_system_zero_constrained(&l->system, x);
}

// x := P x' or x + P x', with x' of the level below
static int prolong(RitzMultigrid *mg, CeedInt level, CeedVector x, bool adds) {
  const double since = begin_level(mg, level);

  return end_level(mg, level, RITZ_MULTIGRID_TRANSFER, since, prolong_level(&mg->levels[level], x, adds));
}

// Rounding alone gives b a part in the nullspace, which a factorization would magnify.
static int solve_level(const RitzCycleLevel *l, CeedVector b, CeedVector x, bool is_own) {
  if (is_own) RITZ_TRY(ritz_system_project(&l->system, b));
  return RitzPreconditionerApply(l->smoother, b, x);
}

static int solve(RitzMultigrid *mg, CeedVector b, CeedVector x) {
  const double since = begin_level(mg, 0);

  return end_level(mg, 0, RITZ_MULTIGRID_SOLVE, since,
                   solve_level(&mg->levels[0], b, x, b == mg->levels[0].b));
}

// ---- Cycles ----

static int visit(RitzMultigrid *mg, CeedInt level, RitzCycle cycle, CeedVector b, CeedVector x,
                 bool from_zero);

// x of the level below, which is zero at first
static int correct(RitzMultigrid *mg, CeedInt level, RitzCycle cycle) {
  const RitzCycleLevel *below = &mg->levels[level - 1];

  RITZ_TRY(visit(mg, level - 1, cycle, below->b, below->x, true));
  if (cycle == RITZ_CYCLE_V || level == 1) return CEED_ERROR_SUCCESS;
  return visit(mg, level - 1, cycle == RITZ_CYCLE_F ? RITZ_CYCLE_V : cycle, below->b, below->x, false);
}

static int visit(RitzMultigrid *mg, CeedInt level, RitzCycle cycle, CeedVector b, CeedVector x,
                 bool from_zero) {
  if (level == 0) return solve(mg, b, x);
  RITZ_TRY(smooth(mg, level, b, x, from_zero, false));
  RITZ_TRY(residual(mg, level, b, x));
  RITZ_TRY(restrict_residual(mg, level, mg->levels[level].r));
  RITZ_TRY(correct(mg, level, cycle));
  RITZ_TRY(prolong(mg, level, x, true));
  return smooth(mg, level, b, x, false, true);
}

// ---- Full multigrid ----

// b of all levels. Constrained entries of what is restricted are zero.
static int restrict_all(RitzMultigrid *mg, CeedVector b) {
  const CeedInt finest = mg->num_levels - 1;

  if (finest > 0) RITZ_TRY(CeedVectorCopy(b, mg->levels[finest].r));
  for (CeedInt level = finest; level > 0; level--) {
    const RitzCycleLevel *l = &mg->levels[level];
    CeedVector from = level == finest ? l->r : l->b;

    RITZ_TRY(ritz_system_zero_constrained(&l->system, from));
    RITZ_TRY(ritz_system_project(&l->system, from));
    RITZ_TRY(restrict_residual(mg, level, from));
  }
  return CEED_ERROR_SUCCESS;
}

static int run_full(RitzMultigrid *mg, CeedVector b, CeedVector x) {
  const CeedInt finest = mg->num_levels - 1;
  const RitzCycleLevel *coarsest = &mg->levels[0];

  RITZ_TRY(restrict_all(mg, b));
  RITZ_TRY(solve(mg, finest > 0 ? coarsest->b : b, finest > 0 ? coarsest->x : x));
  for (CeedInt level = 1; level <= finest; level++) {
    CeedVector b_level = level == finest ? b : mg->levels[level].b;
    CeedVector x_level = level == finest ? x : mg->levels[level].x;

    RITZ_TRY(prolong(mg, level, x_level, false));
    RITZ_TRY(visit(mg, level, mg->cycle, b_level, x_level, false));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_multigrid_apply(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  RitzMultigrid *mg = pc->data;

  mg->num_calls++;
  RITZ_TRY(ritz_multigrid_run(mg, r, z));
  mg->is_start = false;
  return CEED_ERROR_SUCCESS;
}

int ritz_multigrid_run(RitzMultigrid *mg, CeedVector r, CeedVector z) {
  const CeedInt finest = mg->num_levels - 1;

  RITZ_TRY(mg->is_full || mg->is_start ? run_full(mg, r, z) : visit(mg, finest, mg->cycle, r, z, true));
  return ritz_system_project(&mg->levels[finest].system, z);
}
