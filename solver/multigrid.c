// SPDX-License-Identifier: BSD-2-Clause
// Multigrid preconditioners from levels given by hand (ritz/multigrid.h): checks, copies in the precision of
// the cycle, smoothers. Cycles are in solver/multigrid-cycle.c, tables in solver/multigrid-view.c, levels of
// a hierarchy in solver/multigrid-hierarchy.c.
#include <ritz/operator.h>

#include "solver/multigrid.h"

typedef RitzMultigridSetup Setup;

// ---- Life ----

static int destroy_level(RitzCycleLevel *l) {
  int ierr = ritz_system_destroy(&l->system);

  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&l->original));
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&l->prolong));
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&l->restriction));
  ierr = ritz_first_error(ierr, RitzPreconditionerDestroy(&l->smoother));
  ierr = ritz_first_error(ierr, ritz_patch_sweep_destroy(&l->sweep));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&l->b));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&l->x));
  return ritz_first_error(ierr, CeedVectorDestroy(&l->r));
}

static int destroy_multigrid(RitzMultigrid **multigrid) {
  RitzMultigrid *mg = *multigrid;
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; mg->levels && i < mg->num_levels; i++)
    ierr = ritz_first_error(ierr, destroy_level(&mg->levels[i]));
  RITZ_FREE(&mg->levels);
  RITZ_FREE(multigrid);
  return ierr;
}

static int destroy_data(RitzPreconditioner pc) {
  RitzMultigrid *mg = pc->data;

  pc->data = NULL;
  return destroy_multigrid(&mg);
}

static int strengthen(RitzPreconditioner pc, bool *is_changed) {
  const RitzMultigrid *mg = pc->data;

  for (CeedInt l = 0; l < mg->num_levels; l++) {
    bool is_level_changed = false;
    RITZ_TRY(ritz_preconditioner_strengthen(mg->levels[l].smoother, &is_level_changed));
    *is_changed = *is_changed || is_level_changed;
  }
  return CEED_ERROR_SUCCESS;
}

static void enter_solve(RitzPreconditioner pc, bool begins) {
  RitzMultigrid *mg = pc->data;

  mg->is_start = mg->starts_full && begins;
}

// ---- New values ----

static const char *why_not_updated(RitzPreconditioner pc) {
  const RitzMultigrid *mg = pc->data;

  for (CeedInt l = 0; l < mg->num_levels; l++) {
    const RitzCycleLevel *level = &mg->levels[l];
    const char *why = ritz_preconditioner_why_not_updated(level->smoother);

    if (level->is_copy && !level->original)
      return "operators were copied to another precision without the option for_updates";
    if (why) return why;
  }
  return NULL;
}

// Values of operators that are copies, each vector once for all levels.
static int renew_operators(Ceed ceed, const RitzMultigrid *mg) {
  CeedOperator *list = NULL;
  CeedInt num = 0;

  RITZ_TRY(RITZ_CALLOC(ceed, 2 * (size_t)mg->num_levels, &list));
  for (CeedInt l = 0; l < mg->num_levels; l++) {
    if (!mg->levels[l].original) continue;
    list[num] = mg->levels[l].original;
    list[mg->num_levels + num++] = mg->levels[l].system.op;
  }
  const int ierr = ritz_operators_renew_copies(num, list, list + mg->num_levels);
  RITZ_FREE((void **)&list);
  return ierr;
}

static int update_level(void *level) {
  const RitzCycleLevel *l = level;
  const bool is_beside = l->has_bounds && l->system.num_null > 0 && l->chebyshev.update != RITZ_BOUNDS_KEEP;

  RITZ_TRY(ritz_preconditioner_update(l->smoother));
  return is_beside ? ritz_chebyshev_estimate_beside(l->smoother, &l->system, &l->chebyshev)
                   : CEED_ERROR_SUCCESS;
}

static int update_multigrid(RitzPreconditioner pc) {
  const RitzMultigrid *mg = pc->data;
  char prefix[32];

  RITZ_TRY(renew_operators(pc->ceed, mg));
  for (CeedInt l = 0; l < mg->num_levels; l++) {
    (void)snprintf(prefix, sizeof(prefix), "level %" CeedInt_FMT, l);
    RITZ_TRY(ritz_run_with_prefix(pc->ceed, prefix, update_level, &mg->levels[l]));
  }
  pc->is_symmetric = pc->is_symmetric && mg->levels[0].smoother->is_symmetric; // factors may be others now
  return CEED_ERROR_SUCCESS;
}

static const RitzPreconditionerMethods multigrid_methods = {
    .name = "multigrid",
    .symmetric_form = "a symmetric cycle (V or W, not full; of patches with is_reversed)",
    .apply = ritz_multigrid_apply,
    .strengthen = strengthen,
    .enter_solve = enter_solve,
    .view = ritz_multigrid_view,
    .bytes = ritz_multigrid_bytes,
    .why_not_updated = why_not_updated,
    .update = update_multigrid,
    .destroy = destroy_data};

// ---- Checks ----

static int check_options(const Setup *s) {
  const RitzMultigridOptions *o = s->options;

  RITZ_REQUIRE(s->num > 0, s->ceed, CEED_ERROR_DIMENSION, "%s: %" CeedInt_FMT " levels, needed at least 1",
               s->call, s->num);
  RITZ_REQUIRE(o->cycle >= RITZ_CYCLE_V && o->cycle <= RITZ_CYCLE_F, s->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %d is no cycle, needed a RitzCycle", s->call, (int)o->cycle);
  RITZ_REQUIRE(o->smoother >= RITZ_SMOOTHER_AUTO && o->smoother <= RITZ_SMOOTHER_DENSE_SCHWARZ, s->ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: %d is no smoother, needed a RitzSmootherKind", s->call,
               (int)o->smoother);
  RITZ_REQUIRE(o->patch_form >= RITZ_PATCH_LIFTED && o->patch_form <= RITZ_PATCH_BOUNDARY, s->ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: %d is no form of a patch's step, needed a RitzPatchForm",
               s->call, (int)o->patch_form);
  RITZ_REQUIRE(o->num_smooth >= 0, s->ceed, CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT " smoothing actions, needed a number that is not negative", s->call,
               o->num_smooth);
  if (o->use_precision) RITZ_TRY(ritz_check_precision(s->ceed, s->call, o->precision));
  if (o->coarse_solver) RITZ_ARGUMENT_OF(s->ceed, s->call, o->coarse_solver);
  return CEED_ERROR_SUCCESS;
}

static int check_operator(const Setup *s, CeedInt level, CeedSize *n) {
  CeedOperator op = s->levels[level].op;
  CeedSize num_in, num_out;

  RITZ_ARGUMENT_OF(s->ceed, s->call, op);
  RITZ_REQUIRE(op->obj.ceed == s->ceed, s->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the operator of level %" CeedInt_FMT " belongs to another context", s->call, level);
  RITZ_TRY(CeedOperatorGetActiveVectorLengths(op, &num_in, &num_out));
  RITZ_REQUIRE(num_in > 0 && num_in == num_out, s->ceed, CEED_ERROR_DIMENSION,
               "%s: the operator of level %" CeedInt_FMT " takes %" CeedSize_FMT " entries to %" CeedSize_FMT
               ", needed as many",
               s->call, level, num_in, num_out);
  *n = num_in;
  return CEED_ERROR_SUCCESS;
}

static int check_transfer(const Setup *s, CeedInt level, const char *name, CeedOperator op, CeedSize from,
                          CeedSize to) {
  CeedSize num_in, num_out;

  RITZ_REQUIRE(op, s->ceed, CEED_ERROR_INCOMPLETE,
               "%s: level %" CeedInt_FMT " has no %s, needed one on all levels but 0", s->call, level, name);
  RITZ_ARGUMENT_OF(s->ceed, s->call, op);
  RITZ_TRY(CeedOperatorGetActiveVectorLengths(op, &num_in, &num_out));
  RITZ_REQUIRE(num_in == from && num_out == to, s->ceed, CEED_ERROR_DIMENSION,
               "%s: the %s of level %" CeedInt_FMT " takes %" CeedSize_FMT " entries to %" CeedSize_FMT
               ", needed %" CeedSize_FMT " to %" CeedSize_FMT,
               s->call, name, level, num_in, num_out, from, to);
  return CEED_ERROR_SUCCESS;
}

static int check_constraints(const Setup *s, CeedInt level, CeedSize n) {
  const int64_t *entries = NULL;
  int64_t num = 0;

  if (!s->levels[level].constraints) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzIndicesGet(s->levels[level].constraints, &num, &entries));
  RITZ_REQUIRE(num == 0 || entries[num - 1] < n, s->ceed, CEED_ERROR_DIMENSION,
               "%s: level %" CeedInt_FMT " has the constrained entry %lld, its vectors have %" CeedSize_FMT,
               s->call, level, (long long)entries[num - 1], n);
  return CEED_ERROR_SUCCESS;
}

static int check_nullspace(const Setup *s, CeedInt level, CeedSize n) {
  const RitzMultigridLevel *l = &s->levels[level];

  RITZ_REQUIRE(l->num_null == s->levels[0].num_null && l->num_null >= 0, s->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: level %" CeedInt_FMT " has a nullspace of %" CeedInt_FMT
               " vectors, level 0 of %" CeedInt_FMT "; needed the same on all levels",
               s->call, level, l->num_null, s->levels[0].num_null);
  for (CeedInt i = 0; i < l->num_null; i++) {
    CeedVector null = l->null ? l->null[i] : NULL;
    CeedSize length;

    RITZ_ARGUMENT_OF(s->ceed, s->call, null);
    RITZ_TRY(CeedVectorGetLength(null, &length));
    RITZ_REQUIRE(length == n, s->ceed, CEED_ERROR_DIMENSION,
                 "%s: vector %" CeedInt_FMT " of the nullspace of level %" CeedInt_FMT " has %" CeedSize_FMT
                 " entries, needed %" CeedSize_FMT,
                 s->call, i, level, length, n);
  }
  return CEED_ERROR_SUCCESS;
}

// The precision of a smoother is looked at when that of the cycle is known.
static int check_preconditioner(const Setup *s, const char *what, CeedInt level, RitzPreconditioner pc,
                                CeedSize n) {
  RITZ_ARGUMENT_OF(s->ceed, s->call, pc);
  RITZ_REQUIRE(pc->n == n, s->ceed, CEED_ERROR_DIMENSION,
               "%s: the %s of level %" CeedInt_FMT " is for vectors of %" CeedSize_FMT
               " entries, needed %" CeedSize_FMT,
               s->call, what, level, pc->n, n);
  return CEED_ERROR_SUCCESS;
}

static int check_smoother(const Setup *s, CeedInt level, CeedSize n) {
  const RitzMultigridLevel *l = &s->levels[level];

  if (level == 0) {
    RITZ_REQUIRE(!l->smoother, s->ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: level 0 has a smoother, needed the option coarse_solver instead", s->call);
    return s->options->coarse_solver
               ? check_preconditioner(s, "coarse solver", 0, s->options->coarse_solver, n)
               : CEED_ERROR_SUCCESS;
  }
  if (l->smoother) return check_preconditioner(s, "smoother", level, l->smoother, n);
  RITZ_REQUIRE(s->options->smoother < RITZ_SMOOTHER_ELEMENT_SCHWARZ || l->space, s->ceed,
               CEED_ERROR_INCOMPLETE, "%s: level %" CeedInt_FMT " has no space, which %s needs", s->call,
               level, ritz_smoother_kind_name(s->options->smoother));
  return CEED_ERROR_SUCCESS;
}

static int check_levels(const Setup *s) {
  CeedSize below = 0;

  for (CeedInt i = 0; i < s->num; i++) {
    const RitzMultigridLevel *l = &s->levels[i];
    CeedSize n;

    RITZ_TRY(check_operator(s, i, &n));
    if (i > 0) {
      RITZ_TRY(check_transfer(s, i, "prolongation", l->prolong, below, n));
      RITZ_TRY(check_transfer(s, i, "restriction", l->restriction, n, below));
    }
    RITZ_REQUIRE(i > 0 || (!l->prolong && !l->restriction), s->ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: level 0 has a transfer, but there is no level below", s->call);
    RITZ_TRY(check_constraints(s, i, n));
    RITZ_TRY(check_nullspace(s, i, n));
    RITZ_TRY(check_smoother(s, i, n));
    s->mg->levels[i].n = below = n;
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Operators in the precision of the cycle ----

static int choose_precision(Setup *s) {
  s->precision = s->options->precision;
  if (s->options->use_precision) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzOperatorGetPrecision(s->levels[s->num - 1].op, &s->precision));
  for (CeedInt i = 0; i < s->num; i++) {
    RITZ_REQUIRE(ritz_operator_has_precision(s->levels[i].op, s->precision), s->ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: the operator of level %" CeedInt_FMT
                 " has not the precision %s of the finest one; needed "
                 "the same, or the option use_precision",
                 s->call, i, ritz_precision_name(s->precision));
  }
  return CEED_ERROR_SUCCESS;
}

static int check_smoother_precisions(const Setup *s) {
  for (CeedInt i = 1; i < s->num; i++) {
    RitzPreconditioner pc = s->levels[i].smoother;

    RITZ_REQUIRE(!pc || pc->precision == s->precision, s->ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: the smoother of level %" CeedInt_FMT " has precision %s, the cycle %s", s->call, i,
                 ritz_precision_name(pc->precision), ritz_precision_name(s->precision));
  }
  return CEED_ERROR_SUCCESS;
}

// The operator, prolongation and restriction of a level: of the caller, and where it is to be kept.
static CeedOperator given_operator(const RitzMultigridLevel *l, int which) {
  return which == 0 ? l->op : which == 1 ? l->prolong : l->restriction;
}

static int note_copy(const Setup *s, CeedInt level) {
  RitzCycleLevel *l = &s->mg->levels[level];

  l->is_copy = true;
  return s->options->for_updates ? CeedOperatorReferenceCopy(s->levels[level].op, &l->original)
                                 : CEED_ERROR_SUCCESS;
}

// *ops [3 num]: all operators as the cycle has them, counted, NULL where there is none. All that have another
// precision are copied together, so that what they share is converted once, by convert_operators.
static int make_operators(const Setup *s, CeedOperator *ops) {
  CeedOperator *from = NULL, *copies = NULL;
  CeedInt num = 0;
  int ierr;

  RITZ_TRY(RITZ_CALLOC(s->ceed, 6 * (size_t)s->num, &from));
  copies = &from[3 * s->num];
  for (CeedInt i = 0; i < 3 * s->num; i++) {
    CeedOperator op = given_operator(&s->levels[i / 3], i % 3);
    if (op && s->options->use_precision && !ritz_operator_has_precision(op, s->precision)) from[num++] = op;
  }
  ierr = ritz_operators_copy(s->call, num, from, s->precision, copies);
  num = 0;
  for (CeedInt i = 0; !ierr && i < 3 * s->num; i++) {
    CeedOperator op = given_operator(&s->levels[i / 3], i % 3);
    if (op && op == from[num]) {
      ops[i] = copies[num++];
      if (i % 3 == 0) ierr = note_copy(s, i / 3);
    } else if (op) {
      ierr = CeedOperatorReferenceCopy(op, &ops[i]);
    }
  }
  RITZ_FREE((void **)&from);
  return ierr;
}

// ---- Smoothers ----

// Whether the flops of the operator can be asked for.
static bool has_flops(CeedOperator op) {
  for (CeedInt i = 0; i < op->num_sub; i++) {
    if (!has_flops(op->sub[i])) return false;
  }
  return op->is_composite || op->num_elem == 0 || op->qf->user_flops >= 0;
}

// Operators of a smoother count as applies by their flops; beside an operator whose flops nobody knows each
// counts as one.
static int find_work(RitzCycleLevel *l) {
  RitzSmoothingWork work;
  CeedSize flops = 0;

  RITZ_TRY(ritz_preconditioner_work(l->smoother, &work));
  l->num_applies = work.num_applies;
  if (work.flops > 0 && has_flops(l->system.op)) RITZ_TRY(CeedOperatorGetFlopsEstimate(l->system.op, &flops));
  l->inverse_applies = flops > 0 ? work.flops / (double)flops : work.flops > 0 ? work.num_applies : 0;
  return CEED_ERROR_SUCCESS;
}

// ---- Levels ----

static CeedOperator first_part(CeedOperator op) { return op->num_sub > 0 ? op->sub[0] : op; }

static CeedOperatorField active_input(CeedOperator op) {
  for (CeedInt i = 0; i < op->num_in; i++) {
    if (op->in[i]->vec == CEED_VECTOR_ACTIVE) return op->in[i];
  }
  return NULL;
}

// Degree of a tensor basis, 0 of another.
static CeedInt degree_of(CeedOperator op) {
  CeedOperatorField field = active_input(first_part(op));

  return field && field->basis != CEED_BASIS_NONE && field->basis->is_tensor ? field->basis->P_1d - 1 : 0;
}

static int64_t count_elements(CeedOperator op) {
  int64_t num = op->num_elem;

  for (CeedInt i = 0; i < op->num_sub; i++) num += op->sub[i]->num_elem;
  return num;
}

static int describe_level(const Setup *s, CeedInt level) {
  RitzCycleLevel *l = &s->mg->levels[level];
  RitzSpace space = s->levels[level].space;
  RitzMesh mesh;

  l->degree = degree_of(l->system.op);
  l->num_elem = count_elements(l->system.op);
  if (!space) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzSpaceGetDegree(space, &l->degree));
  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  return RitzMeshGetNumElements(mesh, &l->num_elem);
}

static int create_vectors(const Setup *s, CeedInt level) {
  RitzCycleLevel *l = &s->mg->levels[level];

  if (level < s->num - 1) {
    RITZ_TRY(RitzVectorCreate(s->ceed, l->n, s->precision, &l->b));
    RITZ_TRY(RitzVectorCreate(s->ceed, l->n, s->precision, &l->x));
  }
  return level > 0 ? RitzVectorCreate(s->ceed, l->n, s->precision, &l->r) : CEED_ERROR_SUCCESS;
}

// ops [3]: counted, become the level's
static int create_level(const Setup *s, CeedInt level, CeedOperator ops[]) {
  const RitzMultigridLevel *given = &s->levels[level];
  RitzCycleLevel *l = &s->mg->levels[level];

  l->prolong = ops[1];
  l->restriction = ops[2];
  ops[1] = ops[2] = NULL;
  RITZ_TRY(ritz_system_create(s->ceed, ops[0], NULL, NULL, given->constraints, &l->system));
  RITZ_TRY(ritz_system_set_nullspace(&l->system, s->call, s->precision, given->num_null, given->null));
  RITZ_TRY(describe_level(s, level));
  return create_vectors(s, level);
}

// The action of a level's operator that our smoothers need besides applies.
static int wanted_by_smoother(const Setup *s, CeedOperator op) {
  switch (ritz_multigrid_smoother_kind(s, op, degree_of(op))) {
  case RITZ_SMOOTHER_POINT_BLOCKS: return RITZ_PREPARE_POINT_BLOCKS;
  case RITZ_SMOOTHER_PATCHES: return 0;
  default: return RITZ_PREPARE_DIAGONAL;
  }
}

// All kernels of the cycle, and of the diagonals and blocks that smoothers need, are made side by side from
// here on, those of the finest level first, which take longest: each operator waits for its own alone, or not
// at all (RITZ_USE_NO_WAIT).
static int prepare_multigrid(const Setup *s, const CeedOperator *ops) {
  const CeedInt max = 3 * s->num;
  CeedOperator *list = NULL;
  int *wanted = NULL;
  CeedInt num = 0;

  RITZ_TRY(RITZ_CALLOC(s->ceed, (size_t)max, &list));
  int ierr = RITZ_CALLOC(s->ceed, (size_t)max, &wanted);
  for (CeedInt i = max - 1; !ierr && i >= 0; i--) {
    const bool smooths = i % 3 == 0 && i > 0 && !s->levels[i / 3].smoother;
    if (!ops[i]) continue;
    wanted[num] = RITZ_PREPARE_APPLY | (smooths ? wanted_by_smoother(s, ops[i]) : 0);
    list[num++] = ops[i];
  }
  if (!ierr) ierr = RitzOperatorsPrepare(num, list, wanted, true);
  RITZ_FREE(&wanted);
  RITZ_FREE((void **)&list);
  return ierr;
}

// After their kernels have begun: no conversion keeps those waiting.
static int convert_operators(const Setup *s, const CeedOperator *ops) {
  const CeedInt max = 3 * s->num;
  CeedOperator *from = NULL;
  CeedInt num = 0;

  RITZ_TRY(RITZ_CALLOC(s->ceed, 2 * (size_t)max, &from));
  for (CeedInt i = 0; i < max; i++) {
    CeedOperator op = given_operator(&s->levels[i / 3], i % 3);

    if (op == ops[i]) continue;
    from[num] = op;
    from[max + num++] = ops[i];
  }
  const int ierr = ritz_operators_renew_copies(num, from, from + max);
  RITZ_FREE((void **)&from);
  return ierr;
}

static int create_levels(const Setup *s) {
  CeedOperator *ops = NULL;

  RITZ_TRY(RITZ_CALLOC(s->ceed, 3 * (size_t)s->num, &ops));
  int ierr = make_operators(s, ops);
  if (!ierr) ierr = prepare_multigrid(s, ops);
  if (!ierr) ierr = convert_operators(s, ops);
  for (CeedInt i = 0; !ierr && i < s->num; i++) ierr = create_level(s, i, &ops[3 * i]);
  for (CeedInt i = 0; i < 3 * s->num; i++) ierr = ritz_first_error(ierr, CeedOperatorDestroy(&ops[i]));
  RITZ_FREE((void **)&ops);
  return ierr;
}

static int create_smoothers(Setup *s) {
  bool is_symmetric;

  RITZ_TRY(ritz_multigrid_begin_smoothers(s));
  RITZ_TRY(ritz_multigrid_choose_smoother(s));
  s->is_symmetric = s->options->cycle != RITZ_CYCLE_F && !s->options->is_full && !s->options->starts_full;
  for (CeedInt i = 0; i < s->num; i++) {
    RITZ_TRY(i == 0 ? ritz_multigrid_create_coarse_solver(s) : ritz_multigrid_create_smoother(s, i));
    if (i > 0) RITZ_TRY(find_work(&s->mg->levels[i]));
    RITZ_TRY(RitzPreconditionerIsSymmetric(s->mg->levels[i].smoother, &is_symmetric));
    s->is_symmetric = s->is_symmetric && is_symmetric;
  }
  return ritz_multigrid_end_smoothers(s);
}

// One cycle of zeros: tables and weights come to where they are needed, memory is touched, before the first
// solve has to wait for it.
static int run_cycle_of_zeros(const Setup *s) {
  const CeedSize n = s->mg->levels[s->num - 1].n;
  CeedVector r = NULL, z = NULL;
  int ierr = RitzVectorCreate(s->ceed, n, s->precision, &r);

  if (!ierr) ierr = RitzVectorCreate(s->ceed, n, s->precision, &z);
  if (!ierr) ierr = CeedVectorSetValue(r, 0);
  if (!ierr) ierr = ritz_multigrid_run(s->mg, r, z);
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&r));
  return ritz_first_error(ierr, CeedVectorDestroy(&z));
}

static int set_up_multigrid(Setup *s) {
  const RitzMultigridOptions *o = s->options;

  RITZ_TRY(RITZ_CALLOC(s->ceed, (size_t)s->num, &s->mg->levels));
  *s->mg = (RitzMultigrid){.num_levels = s->num,
                           .levels = s->mg->levels,
                           .cycle = o->cycle,
                           .is_full = o->is_full,
                           .is_reversed = o->is_reversed,
                           .starts_full = o->starts_full,
                           .num_smooth = o->num_smooth > 0 ? o->num_smooth : 1};
  RITZ_TRY(check_levels(s));
  RITZ_TRY(choose_precision(s));
  RITZ_TRY(check_smoother_precisions(s));
  if (s->kind == RITZ_SMOOTHER_MEASURED) RITZ_TRY(ritz_multigrid_predict_smoother(s));
  if (s->kind == RITZ_SMOOTHER_AUTO) RITZ_TRY(ritz_multigrid_choose_coupled(s));
  RITZ_TRY(create_levels(s));
  RITZ_TRY(create_smoothers(s));
  RITZ_TRY(run_cycle_of_zeros(s));
  return ritz_multigrid_count_stored(s->mg);
}

int ritz_multigrid_create(Ceed ceed, const char *call, CeedInt num_levels, const RitzMultigridLevel levels[],
                          const RitzMultigridOptions *options, RitzPreconditioner *pc) {
  const RitzMultigridOptions zeros = {0};
  Setup s = {
      .ceed = ceed, .call = call, .num = num_levels, .levels = levels, .options = options ? options : &zeros};

  RITZ_TRY(check_options(&s));
  s.kind = s.options->smoother;
  s.steps = s.options->chebyshev.degree;
  s.schwarz_degree = s.options->schwarz_degree;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &s.mg));
  int ierr = set_up_multigrid(&s);
  if (!ierr) {
    ierr = ritz_preconditioner_create(ceed, call, s.mg->levels[num_levels - 1].n, s.precision,
                                      &multigrid_methods, s.mg, s.is_symmetric, pc);
  }
  if (ierr) (void)destroy_multigrid(&s.mg);
  return ierr;
}

int RitzPreconditionerCreateMultigrid(Ceed ceed, CeedInt num_levels, const RitzMultigridLevel levels[],
                                      const RitzMultigridOptions *options, RitzPreconditioner *pc) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, levels);
  RITZ_ARGUMENT(ceed, pc);
  return ritz_multigrid_create(ceed, __func__, num_levels, levels, options, pc);
}

// ---- Queries ----

static int require_multigrid(RitzPreconditioner pc, const char *call) {
  RITZ_REQUIRE(pc->methods == &multigrid_methods, pc->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the preconditioner is %s, needed multigrid", call, pc->methods->name);
  return CEED_ERROR_SUCCESS;
}

int RitzPreconditionerGetMultigridLevel(RitzPreconditioner pc, CeedInt level, CeedOperator *op,
                                        RitzPreconditioner *smoother) {
  RITZ_HANDLE(pc);
  RITZ_TRY(require_multigrid(pc, __func__));
  const RitzMultigrid *mg = pc->data;
  RITZ_REQUIRE(level >= 0 && level < mg->num_levels, pc->ceed, CEED_ERROR_DIMENSION,
               "%s: level %" CeedInt_FMT " of %" CeedInt_FMT, __func__, level, mg->num_levels);
  if (op) *op = mg->levels[level].system.op;
  if (smoother) *smoother = mg->levels[level].smoother;
  return CEED_ERROR_SUCCESS;
}

int RitzPreconditionerViewLevels(RitzPreconditioner pc, FILE *stream) {
  RITZ_HANDLE(pc);
  RITZ_ARGUMENT(pc, stream);
  RITZ_TRY(require_multigrid(pc, __func__));
  return ritz_multigrid_view(pc, stream, 0);
}
